"""p-values against three thresholds: what would be drawn."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.charts.decisions import LEVELS, claim, decided, plot_decisions
from anhelpers.charts.offline import to_svg
from anhelpers.errors import DataError
from anhelpers.stats import holm
from anhelpers.xmi.features import feature_correlations
from anhelpers.xmi.published import FEATURE_NAMES, published_table, read_features


def table_of(*p, method="pearson", names="abcdefghij"):
    return pd.DataFrame(
        {"feature": list(names[: len(p)]), "method": method, "r": 0.5, "p": p, "p_holm": holm(p)}
    )


@pytest.fixture(scope="module")
def published():
    return feature_correlations(published_table(), read_features())


@pytest.fixture
def by_hand():
    """At 0.05, of four: α/4 = 0.0125 rejects b; Holm, α/3 = 0.0167, d too; then α/2 = 0.025 stops at a; c is above."""
    return table_of(0.03, 0.01, 0.2, 0.015)


def layers(chart, panel=0):
    """Name → the encoding and the rows of each named layer of a panel."""
    spec = chart.to_dict()
    return {
        a["name"]: (a["encoding"], spec["datasets"][a["data"]["name"]])
        for a in spec["concat"][panel]["layer"]
        if "name" in a
    }


def test_by_hand(by_hand):
    found = decided(by_hand, 0.05)
    assert found.feature.tolist() == ["b", "d", "a", "c"]
    assert found["rank"].tolist() == [1, 2, 3, 4]
    assert found.level.tolist() == [0, 1, 2, 3]
    assert found.threshold.tolist() == pytest.approx([0.0125, 0.05 / 3, 0.025, 0.05])
    assert claim(by_hand) == "3 of 4 p-values are below 0.05: Bonferroni leaves 1, Holm 2"


def test_after_the_first_failure_holm_rejects_no_more():
    """0.02 > 0.05/3 stops, though 0.021 < 0.05/2 stands left of its own step."""
    assert decided(table_of(0.02, 0.021, 0.9), 0.05).level.tolist() == [2, 2, 3]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10), st.floats(0.001, 0.2))
def test_levels_are_nested_rules_and_never_grow_with_alpha(p, alpha):
    found, more = decided(table_of(*p), alpha), decided(table_of(*p), min(0.99, 1.5 * alpha))
    k = int((found.level <= 1).sum())
    assert found.level.is_monotonic_increasing
    inside = found.p.to_numpy() < found.threshold.to_numpy() * (1 - 1e-9)
    first = int(np.argmin(inside)) if not inside.all() else len(p)
    # up to rounding, Holm's number is that of the marks before the first right of its step
    assert first <= k
    assert (found.p.to_numpy()[:k] < found.threshold.to_numpy()[:k] * (1 + 1e-9)).all()
    assert (more.level <= found.level).all()


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1, 0.2])
def test_the_rules_are_those_of_the_correlations(published, alpha):
    theirs = feature_correlations(published_table(), read_features(), alpha).set_index(
        ["method", "feature"]
    )
    ours = decided(published, alpha).set_index(["method", "feature"])
    for level, rule in enumerate(["bonferroni", "holm", "uncorrected"]):
        assert (ours.level <= level).equals(theirs[rule].reindex(ours.index).rename("level"))


def test_marks_stand_where_their_p_is(by_hand):
    chart = plot_decisions(by_hand, names={"a": "first"})
    encoding, rows = layers(chart)["bxp0"]
    assert [(r["name"], r["x"], r["rank"]) for r in rows] == [
        ("b", 0.01, 1),
        ("d", 0.015, 2),
        ("first", 0.03, 3),
        ("c", 0.2, 4),
    ]
    assert [r["decision"] for r in rows] == list(LEVELS)
    assert encoding["x"]["scale"]["type"] == "log"
    assert encoding["y"]["scale"]["reverse"]
    assert encoding["shape"]["scale"] == {
        "domain": list(LEVELS),
        "range": [look[0] for look in LEVELS.values()],
    }
    assert len({look[0] for look in LEVELS.values()}) == 4
    assert "<svg" in to_svg(chart)


def test_the_thresholds_are_drawn(by_hand):
    drawn = layers(plot_decisions(by_hand, 0.04))
    assert [r["x"] for r in drawn["bxalpha0"][1]] == [0.04]
    assert [(r["x"], r["text"]) for r in drawn["bxbonferronilabel0"][1]] == [(0.01, "α/4")]
    steps = [(r["x"], r["rank"]) for r in drawn["bxholm0"][1]]
    assert steps[:3] == [(0.01, 0.5), (0.01, 1.5), (0.04 / 3, 1.5)]
    assert steps[-1] == (0.04, 4.5)
    low, high = drawn["bxp0"][0]["x"]["scale"]["domain"]
    assert low < 0.01
    assert high > 1


def test_a_panel_per_method_each_in_its_own_order(published):
    chart = plot_decisions(published, names=FEATURE_NAMES)
    spec = chart.to_dict()
    assert [panel["title"]["text"] for panel in spec["concat"]] == ["Pearson", "Spearman"]
    for i, method in enumerate(("pearson", "spearman")):
        rows = layers(chart, i)[f"bxp{i}"][1]
        own = published[published.method == method].sort_values("p")
        assert [(r["feature"], r["p"]) for r in rows] == list(zip(own.feature, own.p, strict=True))
    assert spec["title"]["text"] == "14 of 34 p-values are below 0.05: Bonferroni leaves 3, Holm 4"
    assert "α/17 = 0.0029" in " ".join(spec["title"]["subtitle"])
    assert (
        "pearson: source TTR r = -0.52, p = 0.00059 (Bonferroni, Holm, uncorrected)"
        in spec["description"]
    )


def test_room_for_a_smaller_alpha(by_hand):
    low = layers(plot_decisions(by_hand, least=0.001))["bxp0"][0]["x"]["scale"]["domain"][0]
    assert low < 0.001 / 4


def test_a_p_of_zero_is_drawn_at_the_edge_and_one_that_is_missing_is_named():
    table = pd.concat([table_of(0.0, 0.3), table_of(np.nan, names="x")])
    chart = plot_decisions(table)
    encoding, rows = layers(chart)["bxp0"]
    assert rows[0]["x"] >= encoding["x"]["scale"]["domain"][0] > 0
    assert rows[0]["p"] == 0
    said = " ".join(chart.to_dict()["title"]["subtitle"])
    assert "are drawn at the left edge" in said
    assert "Without a p-value: x." in said
    assert "title" not in plot_decisions(table, title="", notes=False).to_dict()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: (t, 0.0), "alpha is 0.0; it must be between 0 and 1"),
        (lambda t: (t.drop(columns="p_holm"), 0.05), "no column p_holm"),
        (lambda t: (t.assign(p=np.nan), 0.05), "no row has a p-value"),
        (lambda t: (t.assign(p=1.5), 0.05), "p of a is 1.5"),
        (lambda t: (t.assign(p_holm=0.0), 0.05), "Holm's are no smaller"),
    ],
)
def test_what_is_refused(by_hand, change, words):
    with pytest.raises(DataError, match=words):
        decided(*change(by_hand))
