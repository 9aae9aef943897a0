"""p-values against three thresholds, and the directions of XMI."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.charts.correlation import LEVELS, _decided, plot_decisions
from anhelpers.charts.offline import _to_svg
from anhelpers.errors import DataError
from anhelpers.stats import holm
from anhelpers.xmi.features import feature_correlations
from anhelpers.xmi.published import FEATURE_NAMES, published_table, read_features

from .drawn import encoding_of, marks, rows_of


def table_of(*p, names="abcdefghij"):
    columns = {"feature": list(names[: len(p)]), "method": "pearson", "r": 0.5, "p": p}
    return pd.DataFrame(columns | {"p_holm": holm(p)})


@pytest.fixture(scope="module")
def published():
    return feature_correlations(published_table(), read_features())


@pytest.fixture
def by_hand():
    """At 0.05, of four: α/4 = 0.0125 rejects b; Holm, α/3 = 0.0167, d too; α/2 = 0.025 stops at a."""
    return table_of(0.03, 0.01, 0.2, 0.015)


def test_by_hand(by_hand):
    found = _decided(by_hand, 0.05)
    assert found.feature.tolist() == ["b", "d", "a", "c"]
    assert found["rank"].tolist() == [1, 2, 3, 4]
    assert found.level.tolist() == [0, 1, 2, 3]
    assert found.threshold.tolist() == pytest.approx([0.0125, 0.05 / 3, 0.025, 0.05])
    # 0.02 > 0.05/3 stops, though 0.021 < 0.05/2 lies left of its own step
    assert _decided(table_of(0.02, 0.021, 0.9), 0.05).level.tolist() == [2, 2, 3]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10), st.floats(0.001, 0.2))
def test_levels_are_nested_rules_and_never_grow_with_alpha(p, alpha):
    found, more = _decided(table_of(*p), alpha), _decided(table_of(*p), min(0.99, 1.5 * alpha))
    k = int((found.level <= 1).sum())
    assert found.level.is_monotonic_increasing
    inside = found.p.to_numpy() < found.threshold.to_numpy() * (1 - 1e-9)
    first = int(np.argmin(inside)) if not inside.all() else len(p)
    assert first <= k
    assert (found.p.to_numpy()[:k] < found.threshold.to_numpy()[:k] * (1 + 1e-9)).all()
    assert (more.level <= found.level).all()


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_the_rules_are_those_of_the_correlations(published, alpha):
    index = ["method", "feature"]
    theirs = feature_correlations(published_table(), read_features(), alpha).set_index(index)
    ours = _decided(published, alpha).set_index(index)
    for level, rule in enumerate(["bonferroni", "holm", "uncorrected"]):
        assert (ours.level <= level).equals(theirs[rule].reindex(ours.index).rename("level"))


def test_marks_and_thresholds_follow_alpha(by_hand):
    chart = plot_decisions(by_hand, 0.04, names={"a": "first"})
    rows = rows_of(chart, filled=True)
    assert [(r["name"], r["x"], r["rank"]) for r in rows] == [
        ("b", 0.01, 1),
        ("d", 0.015, 2),
        ("first", 0.03, 3),
        ("c", 0.2, 4),
    ]
    found = [*LEVELS]
    levels = [found[k] for k in _decided(by_hand, 0.04).level]
    assert marks(chart, "decision") == levels
    assert [float(v) for v in marks(chart, "threshold")] == pytest.approx(
        [0.04 / k for k in (4, 3, 2, 1)], rel=1e-3
    )
    encoding = encoding_of(chart, filled=True)
    assert encoding["x"]["scale"]["type"] == "log"
    assert len({*encoding["shape"]["scale"]["range"]}) == 4


def test_a_panel_for_each_method_in_its_own_order(published):
    chart = plot_decisions(published, names=FEATURE_NAMES)
    spec = chart.to_dict()
    assert [panel["title"]["text"] for panel in spec["concat"]] == ["Pearson", "Spearman"]
    parts = [published[published.method == m].sort_values("p") for m in ("pearson", "spearman")]
    own = pd.concat(parts)
    drawn = [(r["feature"], r["p"]) for r in rows_of(chart, filled=True)]
    assert drawn == list(zip(own.feature, own.p, strict=True))
    assert spec["title"]["text"] == "14 of 34 p-values are below 0.05: Bonferroni leaves 3, Holm 4"
    first = "pearson: source TTR r = -0.52, p = 0.00059 (Bonferroni, Holm, uncorrected)"
    assert first in spec["description"]


def test_a_p_of_zero_is_drawn_at_the_edge_and_a_missing_one_named():
    table = pd.concat([table_of(0.0, 0.3), table_of(np.nan, names="x")])
    chart = plot_decisions(table)
    first, _ = rows_of(chart, filled=True)
    assert first["x"] >= encoding_of(chart, filled=True)["x"]["scale"]["domain"][0] > 0
    assert first["p"] == 0
    assert "Without a p-value: x" in chart.description
    assert "<svg" in _to_svg(chart)
    for wrong in (table.drop(columns="p_holm"), table.assign(p=np.nan)):
        with pytest.raises(DataError):
            _decided(wrong, 0.05)
