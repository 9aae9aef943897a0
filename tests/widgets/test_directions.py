"""What the direction explorer ships, and how it shows itself without a browser."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from anhelpers.errors import DataError, UnknownName
from anhelpers.widgets.directions import (
    direction_explorer,
    shown_rows,
    split_data,
    static_directions,
)
from anhelpers.xmi import xmi_table
from anhelpers.xmi.published import published_table, sides


@pytest.fixture
def table():
    rows = [
        ("en-fi", 160.0, 60.0, 100.0, 30.0),
        ("fi-en", 150.0, 58.0, 92.0, 38.0),
        ("en-</script>", 40.0, 46.0, -6.0, 1),
    ]
    return pd.DataFrame(rows, columns=["direction", "h_lm", "h_mt", "xmi", "bleu"])


@pytest.fixture
def widget(table):
    return direction_explorer(table, title="A <claim>")


def words(data, name):
    return " ".join(next(row for row in data["rows"] if row["name"] == name)["words"]).replace(
        "\u00a0", " "
    )


def test_what_the_numbers_mean_in_words(table):
    data = split_data(table)
    assert words(data, "en-fi") == (
        "Without a source, a text in Finnish costs 160.0 bits per sentence; with its English source it costs 60.0. The "
        "source saves 100.0 of 160.0 bits, 62 %; 60.0 are left over. Its BLEU is 30.0. In reverse (Finnish → "
        "English) the source saves 92.0 of 150.0 bits, 8.0 fewer. By XMI it is number 1 of the 2 directions out of "
        "English; 47.0 is their mean."
    )
    assert "the source saves 100.0 of 160.0 bits, 8.0 more" in words(data, "fi-en")
    assert "By XMI" not in words(data, "fi-en")  # the only one into English
    assert "XMI is −6.0: the source saves nothing" in words(data, "en-</script>")
    assert "In reverse" not in words(data, "en-</script>")


def test_a_negative_or_equal_reverse_is_told_as_it_is():
    frame = pd.DataFrame(
        {
            "direction": ["en-fi", "fi-en"],
            "h_lm": [9.0, 8.0],
            "h_mt": [5.0, 9.0],
            "xmi": [4.0, -1.0],
        }
    )
    assert "In reverse (Finnish → English) XMI is −1.00 bits, 5.00 fewer." in words(
        split_data(frame), "en-fi"
    )
    assert "of 9.00 bits, 5.00 more." in words(split_data(frame), "fi-en")
    same = split_data(frame.assign(h_mt=[5.0, 4.0], xmi=4.0))
    assert "4.00 of 8.00 bits, as many." in words(same, "en-fi")


def test_means_and_their_places_are_those_of_the_published_sides():
    data = split_data(published_table())
    assert [(m["label"], m["n"]) for m in data["means"]] == [
        ("mean of 20 directions into English", 20),
        ("mean of 20 directions out of English", 20),
    ]
    for mean, row in zip(data["means"], sides(published_table()).to_dict("records"), strict=True):
        assert (mean["xmi"], mean["bleu"]) == pytest.approx((row["xmi"], row["bleu"]))
        assert mean["h_lm"] - mean["h_mt"] == pytest.approx(mean["xmi"], abs=0.01)
    finnish = shown_rows(data, "en-fi")
    assert [row["label"] for row in finnish] == [
        "English → Finnish",
        "Finnish → English",
        *(m["label"] for m in data["means"][::-1]),
    ]


def test_orders_are_those_of_the_numbers():
    data, table = split_data(published_table()), published_table()
    assert set(data["orders"]) == {"xmi", "h_lm", "h_mt", "bleu", "name"}
    for key, places in data["orders"].items():
        assert sorted(places) == list(range(40))
        if key != "name":
            steps = np.diff(table[key].to_numpy()[places])
            assert (steps <= 0).all() if key in ("xmi", "bleu") else (steps >= 0).all()
    labels = [data["rows"][i]["label"] for i in data["orders"]["name"]]
    assert labels == sorted(labels)


def test_a_table_with_intervals_from_scores():
    rng = np.random.default_rng(2)
    lm = -rng.gamma(9, 9, (2, 40))
    scores = {"en-de": (lm[0] * 0.4, lm[0]), "de-en": (lm[1] * 1.1, lm[1])}
    table = xmi_table(scores, unit="bits", rng=rng)
    data = split_data(table)
    row, row_of = data["rows"][0], table.iloc[0]
    assert row["xmi_low"] == row_of.xmi_low
    assert f"(95 % interval {row_of.xmi_low:.1f} to {row_of.xmi_high:.1f})" in words(data, "en-de")
    assert row["intervals"] == [
        f"{row_of[f'{c}_low']:.1f} to {row_of[f'{c}_high']:.1f}" for c in ("xmi", "h_mt", "h_lm")
    ]
    assert data["unit"] == "bits per sentence"
    assert "only the interval of their difference tells" in data["notes"][0]
    assert data["heads"] == ["XMI", "H_MT", "H_LM"]  # no BLEU, no column
    assert "bleu" not in data["orders"]
    assert data["span"][0] == min(table.xmi_low)
    assert data["span"][1] == max(table.h_lm_high.max(), table.h_mt_high.max())


def test_missing_numbers_are_missing(table):
    data = split_data(table.assign(bleu=[30.0, np.nan, 1], xmi=[100.0, 92, np.nan]))
    assert [row["name"] for row in data["rows"]] == ["en-fi", "fi-en"]
    assert data["rows"][1]["bleu"] is None
    assert data["rows"][1]["texts"] == ["92.0", "58.0", "150.0", "–"]
    assert "BLEU" not in words(data, "fi-en")
    assert data["orders"]["bleu"] == [0, 1]
    assert data["notes"][0] == "Left out, for a number is missing: en-</script>."
    json.dumps(data, allow_nan=False)


def test_input_that_does_not_fit_is_told(table):
    with pytest.raises(DataError, match="h_lm - h_mt is"):
        direction_explorer(table.assign(xmi=50.0))
    with pytest.raises(UnknownName, match="direction 'en-fr'"):
        direction_explorer(table, start="en-fr")
    with pytest.raises(UnknownName, match="direction 'en-fr'"):
        static_directions(table, at=["en-fr"])


def test_traits_refuse_what_makes_no_sense(widget):
    assert (widget.direction, widget.order) == ("en-fi", "xmi")
    with pytest.raises(UnknownName, match="direction 'en-fr'"):
        widget.direction = "en-fr"
    with pytest.raises(UnknownName, match="order of directions 'bits'"):
        widget.order = "bits"
    widget.direction = "fi-en"
    assert repr(widget) == "DirectionExplorer(fi-en, 3 directions)"


def test_the_fallback_needs_no_script_and_escapes(widget):
    before, script = widget.fragment().split("<script>")
    assert before.count("<table>") == 1
    assert before.count("<tr>") == 1 + 3 + 1
    assert "<svg" not in before
    assert "English → &lt;/script&gt;" in before
    assert "<b>English → Finnish.</b> Without a source" in before
    alt = re.search(r'alt="([^"]*)"', before).group(1)
    assert alt.startswith(
        "A &lt;claim&gt;: Bits per sentence, H_LM = XMI + H_MT; English → Finnish 160.0 = 100.0 + 60.0"
    )
    assert script.count("</script>") == 1


def test_the_page_stands_alone(widget, tmp_path):
    page = widget.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>A &lt;claim&gt;</title>" in page
    assert not re.search(r"""(?:src|href)=["']?https?:|@import|import\(""", page)
    assert "export default" not in page
    state = json.loads(re.search(r"fakeModel\((\{.*\})\), el: box", page).group(1))
    assert state == {"data": widget.data, "direction": "en-fi", "order": "xmi"}


def test_shown_live_and_static(table, widget, monkeypatch):
    monkeypatch.delenv("ANX_MODE", raising=False)
    bundle, _ = widget._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    monkeypatch.setenv("ANX_MODE", "static")
    assert set(direction_explorer(table)._repr_mimebundle_()) == {"text/html", "text/plain"}


def test_static_view_has_the_bars_and_a_tidy_table(table):
    view = static_directions(table, at=["fi-en", "en-fi"])
    assert view.table[["direction", "h_lm", "xmi", "h_mt", "bleu"]].to_numpy().tolist() == [
        ["fi-en", 150, 92, 58, 38],
        ["en-fi", 160, 100, 60, 30],
    ]
    assert view.table.words[1].startswith("Without a source, a text in Finnish costs 160.0")
    drawn = view.chart.to_dict()["description"]
    assert drawn.count("English → Finnish") == 1
    assert "mean of 2 directions out of English 100.0 = 47.0 + 53.0" in drawn
    assert repr(view) == "DirectionView(fi-en, en-fi; 3 directions)"
    assert view._repr_html_().count("<p><b>") == 2
    assert static_directions(table).at == (
        "en-fi",
        "en-</script>",
    )  # the largest and the smallest XMI
