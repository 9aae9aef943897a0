"""What the correction explorer ships, and how it shows itself without a browser."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from anhelpers.charts.decisions import decided
from anhelpers.errors import DataError, UnknownName
from anhelpers.stats import holm
from anhelpers.widgets.decisions import LEAST, MOST, correction_explorer
from anhelpers.xmi.features import feature_correlations
from anhelpers.xmi.published import FEATURE_NAMES, published_table, read_features

NAMES = {"a": "<b>one</b>", "b": "</script>two"}


@pytest.fixture
def table():
    """At 0.05, of three: Bonferroni's 0.0167 rejects b, Holm's 0.025 a too, no correction c as well."""
    p = [0.02, 0.01, 0.045, np.nan]
    return pd.DataFrame(
        {
            "feature": list("abcd"),
            "method": "pearson",
            "r": [0.5, -0.6, 0.4, np.nan],
            "p": p,
            "p_holm": holm(p),
        }
    )


@pytest.fixture
def widget(table):
    return correction_explorer(table, names=NAMES, title="A <claim>")


def test_by_hand(widget):
    assert widget.significant("Bonferroni") == {"Pearson": ["</script>two"]}
    # 0.045 < 0.05/1
    assert widget.significant("Holm") == {"Pearson": ["</script>two", "<b>one</b>", "c"]}
    assert widget.significant("Holm", 0.04) == {"Pearson": ["</script>two"]}  # 0.02 stops at 0.04/2
    assert widget.significant("uncorrected", 0.015) == {"Pearson": ["</script>two"]}
    assert (
        repr(widget)
        == "CorrectionExplorer(α = 0.05: uncorrected 3, Holm 3, Bonferroni 1 of 3 significant)"
    )
    assert widget.data["note"].endswith("as independent. Without a p-value: d.")


def test_every_alpha_decides_as_the_chart_does():
    found = feature_correlations(published_table(), read_features())
    widget = correction_explorer(found, names=FEATURE_NAMES)
    for k in range(1, 201):
        levels = decided(found, k / 1000).groupby("method", sort=False)["level"]
        for rule, level in (("Bonferroni", 0), ("Holm", 1), ("uncorrected", 2)):
            counts = [len(names) for names in widget.significant(rule, k / 1000).values()]
            assert (
                counts == levels.agg(lambda column, level=level: (column <= level).sum()).tolist()
            )


def test_the_drawn_thresholds_have_room_to_slide(widget):
    low, high, width = widget.data["span"]
    assert 10**low < LEAST / 3
    assert 10**high > MOST
    assert width == 230
    domain = widget.chart.to_dict()["concat"][0]["layer"][1]["encoding"]["x"]["scale"]["domain"]
    assert np.log10(domain) == pytest.approx([low, high])


@pytest.mark.parametrize("alpha", [0.0, 0.0009, 0.21, np.nan])
def test_an_alpha_beyond_the_slider_is_refused(table, widget, alpha):
    with pytest.raises(DataError, match=r"alpha must be in \[0.001, 0.2\]"):
        correction_explorer(table, alpha)
    with pytest.raises(DataError, match="the ends of the slider"):
        widget.alpha = alpha
    with pytest.raises(DataError, match="the ends of the slider"):
        widget.significant("Holm", alpha)


def test_a_rule_that_is_not_there_is_refused(widget):
    with pytest.raises(UnknownName, match="rule 'holm'; did you mean 'Holm'"):
        widget.significant("holm")


def test_the_fallback_needs_no_script_and_escapes(widget):
    before, script = widget.fragment().split("<script>")
    assert before.count("<table>") == 3
    assert re.findall(r"<caption>α = ([\d.]+)\.", before) == ["0.01", "0.05", "0.1"]
    assert (
        "False alarms expected without a correction if nothing is related: 0.15 for Pearson."
        in before
    )
    assert "3 of 3: &lt;/script&gt;two, &lt;b&gt;one&lt;/b&gt;, c" in before
    assert "Without a p-value: d." in before
    assert "<svg" not in before
    assert script.count("</script>") == 1


def test_the_page_stands_alone(widget, tmp_path):
    page = widget.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>A &lt;claim&gt;</title>" in page
    assert not re.search(r"""(?:src|href)=["']?https?:|@import|import\(""", page)
    assert "export default" not in page
    state = json.loads(re.search(r"fakeModel\((\{.*\})\), el: box", page).group(1))
    assert state == {"data": widget.data, "alpha": 0.05}


def test_shown_live_and_static(table, widget, monkeypatch):
    monkeypatch.delenv("ANX_MODE", raising=False)
    bundle, _ = widget._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    monkeypatch.setenv("ANX_MODE", "static")
    assert set(correction_explorer(table)._repr_mimebundle_()) == {"text/html", "text/plain"}
