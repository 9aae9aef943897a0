"""The claim by distance from the frontier, on systems whose answer is known."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from anhelpers.errors import DataError
from anhelpers.frontier import oracle_curve
from anhelpers.plane import (
    correlation_gap,
    correlations,
    frontier_distance,
    local,
    local_correlation,
    verdict,
)
from anhelpers.plane.local import _claim_halves
from anhelpers.stats import pearson, spearman


def bent(plane_from, rng, near=8, far=8, noise=0.02, size=150):
    """Systems on a falling line, and others behind it on a rising one; each with its own noise per segment."""
    along = np.linspace(0, 1, near)
    behind = np.linspace(0.2, 1.6, far)
    a = np.r_[10 - 2 * along, 8 - 4 * behind]
    n = np.r_[-3 + along, -4 - 2 * behind]
    noise = rng.normal(0, noise * np.sqrt(size), (2, size, near + far))
    return plane_from(a + noise[0], n + noise[1])


@pytest.mark.verifies("Correlation near the frontier", by="property")
def test_the_claim_holds_where_it_was_built_in(plane_from):
    plane = bent(plane_from, np.random.default_rng(0))
    table, again = (local_correlation(plane, np.random.default_rng(1), n_draws=300) for _ in "12")
    assert table.equals(again)  # also where systems are left out
    nearest = table[table.window == "nearest"]
    assert nearest.n_systems.tolist() == list(range(4, 17))
    assert (nearest[nearest.n_systems <= 8].pearson_high < 0).all()
    assert table[table.window == "sliding"].iloc[-1].pearson_low > 0
    assert _claim_halves(table).verdict.tolist() == ["holds", "holds"]
    assert verdict(table).count(" holds: r = ") == 2
    assert (table.pearson_low <= table.pearson).all()
    assert (table.pearson <= table.pearson_high).all()
    assert table.n.eq(150).all()
    assert table[table.window == "sliding"].distance.is_monotonic_increasing


def test_the_claim_does_not_hold_where_all_go_together(plane_from):
    rng = np.random.default_rng(0)
    quality = np.linspace(0, 3, 12) + rng.normal(0, 0.02, (100, 12))
    table = local_correlation(plane_from(40 + quality, quality - 5), rng, n_draws=200)
    assert _claim_halves(table).verdict.to_dict() == {"near": "is false", "far": "holds"}


@pytest.mark.verifies("Correlation near the frontier", by="hand")
@pytest.mark.parametrize("rises", [False, True])
def test_a_verdict_that_one_terrible_system_makes_is_undecided(plane_from, rises):
    """Far from the frontier are a square and its centre, r = 0, or a rising line, r = 1; and the terrible one."""
    along = np.linspace(0, 1, 10)
    a, n = 10 - 2 * along, -3 + along
    square = [[6.0, 6, 6.2, 6.4, 6.4], [-5, -4.8, -4.9, -5, -4.8]]
    far = [[6, 6.1, 6.2, 6.3, 6.4], [-5, -4.95, -4.9, -4.85, -4.8]] if rises else square
    noise = np.random.default_rng(0).normal(0, 0.01, (2, 40, 16))
    plane = plane_from(np.r_[a, far[0], -40] + noise[0], np.r_[n, far[1], -30] + noise[1])
    table = local_correlation(plane, np.random.default_rng(1), n_draws=400)
    half, others = (_claim_halves(table, lost).loc["far"] for lost in ("", "S15"))
    assert half.systems.split(", ")[-1] == "S15"
    assert (half.pearson, half.greatest) == pytest.approx((1.0, 1.0), abs=0.02)
    assert half.least == pytest.approx(others.pearson)
    assert others.pearson == pytest.approx(float(rises), abs=0.1)
    said = "holds: r = 1.00" if rises else "is undecided (S15 decides it): r = 1.00"
    assert f"far from the frontier the claim that accuracy and naturalness agree {said}" in (
        told := verdict(table)
    )
    assert (
        "S15. Without S15 (over 5 robust standard deviations below the median of an axis): " in told
    )
    # the test without a system is the test on the others
    rest = local_correlation(plane.only(plane.systems[:15]), np.random.default_rng(1), n_draws=400)
    columns = ["systems", "n_systems", "of", "pearson", "spearman", "all_ways"]
    for own in (
        table[(table.left_out == "S15")],
        table[(table.without == "S15") & (table.left_out == "")],
    ):
        wanted = _claim_halves(rest).loc[own.window, columns]
        assert own[columns].to_numpy().tolist() == wanted.to_numpy().tolist()
    assert not rest.without.any()


@pytest.mark.verifies("Correlation near the frontier", by="property")
def test_selecting_near_the_frontier_alone_gives_a_negative_correlation_and_no_evidence(plane_from):
    rng, p = np.random.default_rng(5), []
    for _ in range(12):
        a, n = rng.normal(size=(2, 14))
        table = local_correlation(
            plane_from(np.tile(a, (20, 1)), np.tile(n, (20, 1))), rng, n_draws=150
        )
        row = table[(table.window == "nearest") & (table.n_systems == 6)].iloc[0]
        assert row.selection_pearson < -0.2
        p.append(row.selection_p)
    assert 0.2 < np.mean(p) < 0.8


@pytest.mark.verifies("Distance from the frontier", by="property")
def test_distance_is_the_shortest_way_to_the_line():
    rng = np.random.default_rng(2)
    curve = oracle_curve(np.repeat(np.arange(4), 5), *rng.normal(size=(2, 20)))
    scores = rng.normal(-1, 1, (2, 6))
    fine = np.linspace(curve.naturalness[0], curve.naturalness[-1], 200_001)
    spread = scores.std(1, ddof=1)
    line = np.stack([curve.accuracy_at(fine), fine]) / spread[:, None]
    brute = [
        np.sqrt((((scores[:, j] / spread)[:, None] - line) ** 2).sum(0)).min() for j in range(6)
    ]
    np.testing.assert_allclose(frontier_distance(scores, curve), brute, atol=1e-4)


@pytest.mark.verifies("Distance from the frontier", by="hand")
def test_one_system_best_at_both_is_a_frontier_of_one_point():
    distance = frontier_distance(np.array([[2.0, 0, 1], [2.0, 1, 0]]))
    assert distance.tolist() == [0.0, pytest.approx(np.sqrt(5)), pytest.approx(np.sqrt(5))]


def test_an_output_sent_in_twice_counts_once(plane_from):
    plane = bent(plane_from, np.random.default_rng(0), 4, 4)
    again = plane.only([*plane.systems, plane.systems[0]])
    rng = np.random.default_rng
    assert local_correlation(again, rng(0), n_draws=50).equals(
        local_correlation(plane, rng(0), n_draws=50)
    )


def test_too_few_systems_or_no_spread_are_one_sentence(plane_from):
    plane = bent(plane_from, np.random.default_rng(0), 2, 1)
    with pytest.raises(DataError):
        local_correlation(plane, np.random.default_rng(0))
    with pytest.raises(DataError):
        frontier_distance(np.array([[1.0, 1, 1], [1.0, 2, 3]]))


@pytest.mark.verifies("Spearman's correlation", by="foreign", of="scipy")
def test_correlations_agree_with_scipy():
    from scipy import stats

    x, y = np.random.default_rng(0).integers(0, 5, (2, 20)).astype(float)
    assert float(pearson(x, y)) == pytest.approx(stats.pearsonr(x, y)[0])
    assert float(spearman(x, y)) == pytest.approx(stats.spearmanr(x, y)[0])
    assert np.isnan(pearson([1, 1, 1], [1, 2, 3]))


@pytest.mark.verifies("Distance from the frontier", by="foreign", of="scipy")
def test_distances_are_scipys_minimisations():
    """The hull runs from (4, 0) over (3, 3) to (0, 4); of the four systems (1, 1) alone does not lie on it."""
    from scipy.optimize import minimize_scalar

    scores = np.array([[4.0, 0, 1, 3], [0.0, 4, 1, 3]])
    spread = scores.std(1, ddof=1)
    distance = frontier_distance(scores)
    assert distance[[0, 1, 3]].tolist() == [0, 0, 0]
    corners = np.array([[4.0, 3, 0], [0.0, 3, 4]]) / spread[:, None]
    point = scores[:, 2] / spread
    edges = zip(corners.T[:-1], corners.T[1:], strict=True)
    least = [
        minimize_scalar(
            lambda t, a=a, b=b: np.linalg.norm(a + t * (b - a) - point),
            bounds=(0, 1),
            method="bounded",
        ).fun
        for a, b in edges
    ]
    assert distance[2] == pytest.approx(min(least), abs=1e-6)


@pytest.mark.verifies("Correlation near the frontier", by="hand")
@pytest.mark.verifies("Correlation near the frontier", by="foreign", of="scipy")
def test_the_correlation_of_all_systems_by_hand_and_scipys(plane_from, random_plane):
    """Means (1, 2, 3, 4) and (2, 1, 4, 3): r = 3/5. Among the nearest of all systems it is the plain correlation."""
    from scipy import stats

    four = plane_from([[1.0, 2, 3, 4]] * 3, [[2.0, 1, 4, 3]] * 3)
    table = local_correlation(four, np.random.default_rng(0), n_draws=20)
    # the nearest 4, the window of all and the near half; then without 1, 2, 3 and 4, nearest first
    assert table.pearson[:3].tolist() == pytest.approx([0.6] * 3, rel=1e-12)
    without = {"S0": 4.5 / 21**0.5, "S1": 1.0, "S2": 1.0, "S3": 4.5 / 21**0.5}
    without = {s: pearson(*np.delete(four.scores(), i, 1)) for i, s in enumerate(without)}
    assert dict(zip(table.left_out[3:], table.pearson[3:], strict=True)) == pytest.approx(without)
    plane = random_plane(k=7)
    row = (
        local_correlation(plane, np.random.default_rng(0), n_draws=20)
        .query("window == 'nearest'")
        .iloc[-1]
    )
    a, n = plane.scores()
    assert row.n_systems == 7
    assert (row.pearson, row.spearman) == pytest.approx(
        (stats.pearsonr(a, n)[0], stats.spearmanr(a, n)[0]), rel=1e-10
    )


def test_a_window_without_a_correlation_has_no_p_and_says_nothing_of_selection(plane_from):
    """Five systems at the frontier without any accuracy error, and six behind them."""
    a = np.r_[np.zeros(5), -1 - np.arange(6.0)]
    n = np.r_[-3 + 0.2 * np.arange(5), -4 - np.arange(6.0)]
    table = local_correlation(plane_from([a] * 9, [n] * 9), np.random.default_rng(0), n_draws=50)
    first = table.iloc[0]
    assert first[["pearson", "pearson_low", "pearson_high", "selection_p"]].isna().all()
    assert table.selection_p.min() > 0
    halves = _claim_halves(table)
    assert halves.verdict["near"] == "is undecided"
    assert halves.why["near"] == "these systems do not differ on one axis"
    assert not halves.by_seed["near"]
    assert "selection" not in verdict(table).partition("; ")[0]


@pytest.mark.parametrize(("near", "far", "few"), [(2, 2, True), (4, 4, True), (5, 5, False)])
def test_the_same_systems_are_never_both_near_and_far(plane_from, near, far, few):
    table = local_correlation(
        bent(plane_from, np.random.default_rng(0), near, far), np.random.default_rng(1), n_draws=50
    )
    assert _claim_halves(table).index.tolist() == ["near", "far"][: 2 - few]
    assert ("too few" in verdict(table)) == few


def four(plane_from, n=200, docs=None, scale=1.0, noise=1.0):
    """Four systems with means about (1, 2, 3, 4) and (2, 1, 4, 3), and noise of their own."""
    rng = np.random.default_rng(7)
    values = np.array([[1.0, 2, 3, 4], [2, 1, 4, 3]])[:, None] + noise * rng.normal(size=(2, n, 4))
    return plane_from(scale * values[0] + 1000, scale * values[1], docs)


@pytest.mark.verifies("Interval of a correlation of systems", by="hand")
def test_without_noise_the_interval_of_r_is_a_point_and_a_gap_is_the_difference(plane_from):
    """(1, 2, 3, 4) with (2, 1, 4, 3): 3/5; with itself: 1."""
    plane = four(plane_from, 9, noise=0)
    rng = np.random.default_rng(0)
    np.testing.assert_allclose(
        correlations(plane, rng, [range(4), [0, 2, 3]], 50), [[0.6] * 3, [0.6546537] * 3]
    )
    straight = replace(plane, naturalness=plane.accuracy)
    one = replace(straight, naturalness=plane.naturalness, accuracy=plane.naturalness)
    np.testing.assert_allclose(correlation_gap(one, plane, rng, 50), [0.4] * 3, atol=1e-12)
    assert correlation_gap(plane, plane, rng, 50) == (0, 0, 0)
    with pytest.raises(DataError):
        correlation_gap(plane, plane.only(["S0", "S1"]), rng)


def test_a_gap_is_of_planes_whose_segments_may_be_others(plane_from):
    """As of a metric without a score for some of them: all that counts are the documents, by their names."""
    docs = np.array([f"d{i // 4}" for i in range(40)])
    plane = four(plane_from, 40, docs)
    # fewer, and in another order
    part = plane.subset(np.arange(40) % 4 > 0).subset(np.arange(30)[::-1])
    gap, low, high = correlation_gap(part, plane, np.random.default_rng(0), 300)
    assert gap == pytest.approx(float(pearson(*part.scores()) - pearson(*plane.scores())))
    assert low < gap < high
    back = correlation_gap(plane, part, np.random.default_rng(0), 300)
    np.testing.assert_allclose(back, [-gap, -high, -low], atol=1e-9)
    with pytest.raises(DataError):
        correlation_gap(plane.subset(np.arange(36)), plane, np.random.default_rng(0))


@pytest.mark.verifies("Interval of a correlation of systems", by="foreign", of="scipy")
def test_with_many_segments_the_interval_of_r_is_that_of_scipys_bootstrap(plane_from):
    from scipy.stats import bootstrap

    plane = four(plane_from)
    a, n = plane.accuracy.values, plane.naturalness.values
    rows = np.arange(len(a))
    theirs = bootstrap(
        (rows,),
        lambda some: pearson(a[some].mean(0), n[some].mean(0)),
        vectorized=False,
        n_resamples=2000,
        method="BCa",
        rng=np.random.default_rng(0),
    ).confidence_interval
    ((r, low, high),) = correlations(plane, np.random.default_rng(0), [range(4)], 2000)
    assert r == pytest.approx(pearson(a.mean(0), n.mean(0)))
    assert [low, high] == pytest.approx(
        [theirs.low, theirs.high], abs=0.1 * (theirs.high - theirs.low)
    )


@pytest.mark.verifies("Interval of a correlation of systems", by="property")
def test_the_interval_of_r_knows_no_unit_and_lies_within_its_range(plane_from):
    docs = np.arange(60) // 6
    plane, other = (four(plane_from, 60, docs, scale) for scale in (1.0, 1e-3))
    among = [range(4), [0, 1, 2]]
    found, again = (correlations(p, np.random.default_rng(1), among, 300) for p in (plane, other))
    np.testing.assert_allclose(found, again, rtol=1e-4)
    turned = replace(plane, accuracy=plane.naturalness, naturalness=plane.accuracy)
    np.testing.assert_allclose(
        found, correlations(turned, np.random.default_rng(1), among, 300), rtol=1e-6
    )
    assert (found[:, 1] < found[:, 0]).all()
    assert (found[:, 0] < found[:, 2]).all()
    assert (np.abs(found) <= 1).all()


def test_reliability_by_hand(plane_from):
    """Systems at 0 and 4, variance 8; documents 1 to one side and to the other: of errors 1 and -1, the variance is 2.

    An error that both share does not count.
    """
    turned, means = np.array([[1.0, -1], [-1, 1]]), np.array([0.0, 4])
    plane = plane_from(means + turned, means + turned)
    scores, errors = plane.scores(), local._errors(plane, np.random.default_rng(0), 20_000)
    assert local._reliability(scores, errors) == pytest.approx(1 - 2 / 8, abs=0.02)
    shared = plane_from(means + turned[:, :1], means + turned[:, :1])
    assert (
        local._reliability(shared.scores(), local._errors(shared, np.random.default_rng(0), 200))
        == 1
    )


def test_few_systems_have_the_same_p_by_every_seed_and_all_of_them_decide_nothing(plane_from):
    a, n = np.array([0.58, 0.55, 0.62, 0.59, 0.43]), np.array([-0.79, -0.75, -0.41, -0.65, -1.13])
    noise = np.random.default_rng(0).normal(0, 0.001, (2, 30, 5))
    plane = plane_from(a + noise[0], n + noise[1])
    tables = [local_correlation(plane, np.random.default_rng(s), n_draws=20) for s in (0, 1)]
    ways = [pearson(plane.scores()[0], np.array(w)) for w in permutations(plane.scores()[1])]
    row = _claim_halves(tables[0]).loc["near"]
    assert row.selection_p == pytest.approx(2 * np.mean(np.array(ways) >= row.pearson - 1e-12))
    assert [t.selection_p.tolist() for t in tables] == [tables[0].selection_p.tolist()] * 2
    assert "all systems" in _claim_halves(tables[0]).why["near"]
    assert tables[0].n_shuffles.tolist() == [120] * 4 + [24] * 5
    assert tables[0].all_ways.all()
