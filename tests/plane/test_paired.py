"""Paired tests that can decide: exact where that is possible, with draws enough where not, each family by itself."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import permutation_test

from anhelpers.data import TestSet
from anhelpers.plane import by_pair, outside_of, paired_tests, systems_table, undecided, with_ranks
from anhelpers.plane.paired import ALPHA


def steps(plane_from, k, m, gap, seed=0):
    """k systems, each ahead of the one before by a gap, in units of the noise of a document; the reverse below."""
    rng = np.random.default_rng(seed)
    scores = 50 + rng.normal(0, 10, (m, 1)) + gap * np.arange(k) + rng.normal(size=(m, k))
    return plane_from(scores, -scores)


@pytest.mark.verifies("Paired randomisation test", by="property")
@pytest.mark.parametrize("m", [2, 5, 9])
def test_few_documents_are_swapped_in_all_ways(plane_from, m):
    plane = steps(plane_from, 2, m, 0.7, seed=m)
    d = plane.accuracy.values[:, 0] - plane.accuracy.values[:, 1]
    every = np.array([abs(np.dot(signs, d)) for signs in product((-1, 1), repeat=m)])
    row = paired_tests(plane, np.random.default_rng(0)).iloc[0]
    assert row.exact
    assert row.n_swaps == 2 ** (m - 1)
    assert row.p == np.mean(every >= abs(d.sum()) - 1e-9)
    assert row.p == paired_tests(plane, np.random.default_rng(1)).p[0]


def test_more_documents_than_a_float_has_ways_to_swap_them(plane_from):
    plane = steps(plane_from, 2, 1100, 1)  # 2 ** 1099 ways
    assert not paired_tests(plane, np.random.default_rng(0)).exact.any()


def test_many_pairs_are_swapped_in_parts_that_fit(plane_from, monkeypatch):
    plane = steps(plane_from, 6, 60, 0.3)
    whole = paired_tests(plane, np.random.default_rng(0))
    monkeypatch.setattr(
        "anhelpers.plane.paired.BLOCK", 4 * 60
    )  # four of the fifteen pairs at a time
    parts = paired_tests(plane, np.random.default_rng(0))
    assert parts["difference"].equals(whole["difference"])
    error = np.sqrt((whole.p * (1 - whole.p)).clip(lower=1e-4) / whole.n_swaps.clip(upper=10_000))
    assert ((parts.p - whole.p).abs() < 6 * error).all()
    assert not parts.p.equals(whole.p)  # other ways, so it was in parts


def test_tests_that_cannot_be_significant_are_named(plane_from):
    def told(plane, against=None):
        return undecided(paired_tests(plane, np.random.default_rng(0), against=against))

    plane = steps(plane_from, 33, 10, 10)
    assert "1,024 swaps of segments and 528 pairs give p ≥ 1 " in told(plane)
    assert (paired_tests(plane, np.random.default_rng(0)).p_holm == 1).all()
    assert "32 pairs give p ≥ 0.062 " in told(plane, "S0")
    assert told(plane.only(["S0", "S1"])) == told(plane.only(["S0"])) == ""
    controls = {f"S{j}": "control" for j in range(3, 9)}
    assert told(replace(plane.only([f"S{j}" for j in range(9)]), outside=controls)) == ""
    assert "1 pairs give p ≥ 0.12 " in told(steps(plane_from, 2, 4, 10))


@pytest.mark.parametrize("m", [12, 40])
def test_what_joins_a_comparison_changes_no_decision_of_the_others(plane_from, m):
    plane = steps(plane_from, 6, m, 0.5)
    alone = paired_tests(plane.only([f"S{j}" for j in range(5)]), np.random.default_rng(0))
    for why in ("added", "control", "human", "copy of S0"):
        joined = paired_tests(replace(plane, outside={"S5": why}), np.random.default_rng(0))
        assert set(joined.family) == {"systems", why.split()[0]}
        old = joined[joined.family == "systems"].reset_index(drop=True)
        pd.testing.assert_frame_equal(old, alone)
    counted = paired_tests(plane, np.random.default_rng(0))
    assert (counted[counted.system_b != "S5"].p_holm.to_numpy() > alone.p_holm.to_numpy()).any()


@pytest.mark.verifies("Ranks from paired tests", by="hand")
def test_ranks_and_clusters_by_hand(plane_from):
    """A and B cannot be told apart, C is far behind both, and D, which is outside, between the two."""
    rng = np.random.default_rng(3)
    scores = np.array([20.0, 20, 5, 12]) + rng.normal(size=(30, 4))
    plane = replace(plane_from(scores, -scores, systems="ABCD"), outside={"D": "added"})
    table = systems_table(plane, rng, 200)
    ranked = with_ranks(table, paired_tests(plane, rng)).set_index("system")
    assert ranked.accuracy_rank_low.tolist() == [1, 1, 3, 3]
    assert ranked.accuracy_rank_high.tolist() == [2, 2, 3, 3]
    assert ranked.accuracy_cluster.tolist() == [1, 1, 2, pd.NA]
    assert ranked.naturalness_rank_low.tolist() == [2, 2, 1, 2]
    assert ranked.naturalness_cluster.tolist() == [2, 2, 1, pd.NA]
    counted = replace(plane, outside={})
    ranked = with_ranks(systems_table(counted, rng, 200), paired_tests(counted, rng))
    assert ranked.accuracy_cluster.tolist() == [1, 1, 3, 2]


@pytest.mark.verifies("Paired randomisation test", by="foreign", of="scipy")
@pytest.mark.verifies("Ranks from paired tests", by="foreign", of="scipy")
def test_p_and_ranks_are_those_of_scipys_permutation_test(plane_from):
    plane = steps(plane_from, 5, 11, 0.6, seed=2)
    tests = paired_tests(plane, np.random.default_rng(0))
    tests = tests[tests.axis == "accuracy"]
    theirs, values = [], plane.accuracy.values
    for a, b in combinations(range(5), 2):
        found = permutation_test(
            (values[:, a], values[:, b]),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=np.inf,
        )
        theirs.append(found.pvalue)
    np.testing.assert_allclose(tests.p, theirs, rtol=1e-12)
    order, better = np.argsort(theirs), np.zeros((5, 5), bool)
    for step, i in enumerate(order):  # Holm, by hand
        if theirs[i] * (len(theirs) - step) >= ALPHA:
            break
        a, b = list(combinations(range(5), 2))[i]
        ahead, behind = (a, b) if tests.difference.iloc[i] > 0 else (b, a)
        better[ahead, behind] = True
    ranked = with_ranks(
        systems_table(plane, np.random.default_rng(0), 200),
        paired_tests(plane, np.random.default_rng(0)),
    )
    assert 0 < better.sum() < 10
    assert ranked.accuracy_rank_low.tolist() == (1 + better.sum(0)).tolist()
    assert ranked.accuracy_rank_high.tolist() == (5 - better.sum(1)).tolist()


@pytest.mark.verifies("Ranks from paired tests", by="property")
def test_every_rank_interval_holds_the_rank_by_score_and_clusters_follow_it(plane_from):
    for seed in range(8):
        plane = steps(plane_from, 7, 14, 0.4, seed)
        ranked = with_ranks(
            systems_table(plane, np.random.default_rng(0), 200),
            paired_tests(plane, np.random.default_rng(0)),
        )
        place = ranked.accuracy.rank(ascending=False)
        assert (ranked.accuracy_rank_low <= place).all()
        assert (place <= ranked.accuracy_rank_high).all()
        in_order = ranked.sort_values("accuracy", ascending=False).accuracy_cluster
        assert in_order.is_monotonic_increasing
        assert in_order.iloc[0] == 1
        for _, group in ranked.groupby("accuracy_cluster"):
            later = ranked[ranked.accuracy_cluster > group.accuracy_cluster.iloc[0]]
            assert not len(later) or group.accuracy_rank_high.max() < later.accuracy_rank_low.min()


def test_who_is_not_compared():
    texts = [f"Satz Nummer {i} steht hier" for i in range(10)]
    other = [f"Dies wäre der {i}. Satz" for i in range(10)]
    systems = {
        "A": texts,
        "near A": [*texts[:8], *other[8:]],
        "half A": [*texts[:5], *other[5:]],
        "mine": other,
        "P": other,
        "copied": [f"source {i}" for i in range(10)],
        "silent": [""] * 10,
        "silent too": [""] * 10,
    }
    categories = {"P": "human", "copied": "control"}
    test = TestSet(
        "t", "en-de", tuple(f"sentence {i}" for i in range(10)), {}, systems, categories=categories
    )
    wanted = {"near A": "copy of A", "P": "human", "copied": "control"}
    assert outside_of(test) == wanted
    assert outside_of(test, ["mine"]) == {**wanted, "mine": "added"}
    assert outside_of(test.without(["A"])) == {"P": "human", "copied": "control"}
    people = test.without([name for name in systems if name not in ("mine", "P")])
    assert outside_of(people, ["mine"]) == {"P": "human"}


def test_who_is_outside_decides_nothing_about_the_frontier(plane_from):
    plane = plane_from([[3.0, 2, 4], [3, 2, 4]], [[1.0, 2, 4], [1, 2, 4]])
    rng = np.random.default_rng(0)
    assert systems_table(plane, rng, 200).pareto.tolist() == [False, False, True]
    for why, shown in (("human", True), ("added", True), ("control", False), ("copy of S0", False)):
        table = systems_table(replace(plane, outside={"S2": why}), rng, 200)
        assert table.pareto.tolist() == [True, True, shown]
        probability = [1, 1, 1 if shown else np.nan]  # no 0: the probability is not asked
        np.testing.assert_array_equal(table.pareto_share, probability)
        assert table.outside.tolist() == ["", "", why]
    assert replace(plane, outside={"S2": "copy of S0"}).only(["S1", "S2"]).outside == {}


def test_a_system_without_a_score_widens_nobodys_ranks(plane_from):
    plane = steps(plane_from, 3, 12, 10)
    silent = np.full((12, 1), np.nan)
    more = plane_from(*(np.hstack([axis.values, silent]) for axis in plane.axes))
    rng = np.random.default_rng(0)
    few, all_of_them = (
        with_ranks(systems_table(p, rng, 200), paired_tests(p, rng)) for p in (plane, more)
    )
    assert (
        few.accuracy_rank_high.tolist() == all_of_them.accuracy_rank_high.tolist()[:3] == [3, 2, 1]
    )
    assert all_of_them.accuracy_rank_high.isna().tolist() == [False] * 3 + [True]


def test_a_p_at_the_edge_is_drawn_more_often_and_named_where_that_does_not_settle_it(plane_from):
    """Of 40 documents, the difference is chosen so that p is 0.05 to three digits: one seed in two says yes."""
    rng = np.random.default_rng(5)
    noise = rng.normal(size=40)
    signs = rng.choice([-1.0, 1.0], (200_000, 40))
    centred = noise - noise.mean()
    low, high = 0.0, 2.0
    for _ in range(30):
        gap = (low + high) / 2
        p = np.mean(np.abs(signs @ (centred + gap)) >= 40 * gap)
        low, high = (gap, high) if p > ALPHA else (low, gap)
    edge = plane_from(
        np.stack([centred + gap, np.zeros(40)], 1), np.stack([centred + 3, np.zeros(40)], 1)
    )
    tests = paired_tests(edge, np.random.default_rng(0))
    assert tests.n_swaps.tolist() == [410_000, 10_000]
    assert tests.p_holm[0] == pytest.approx(ALPHA, abs=0.002)
    assert undecided(tests).endswith(f": S0 and S1 (accuracy, {tests.p_holm[0]:.3f}).")
    assert undecided(tests[1:]) == undecided(tests.assign(exact=True)) == ""


def test_pairs_that_are_ahead_on_one_axis_each_are_opposed(plane_from):
    plane = steps(plane_from, 3, 40, 10)
    table = by_pair(paired_tests(plane, np.random.default_rng(0)))
    assert len(table) == 3
    assert table.opposed.all()
    assert table.surely.all()
    assert np.allclose(table.accuracy, -table.naturalness)
    alike = replace(plane, naturalness=plane.accuracy)
    assert not by_pair(paired_tests(alike, np.random.default_rng(0))).opposed.any()
