"""The exact curve against brute force, an exact rational hull, and its own definition."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.spatial import ConvexHull

from anhelpers.errors import DataError
from anhelpers.frontier import mixtures_at, oracle_curve, pareto_mask

finite = st.floats(-1e6, 1e6, allow_nan=False, width=32)
small = st.integers(-4, 4).map(float)


@st.composite
def problems(draw, score):
    counts = draw(st.lists(st.integers(1, 9), min_size=1, max_size=6))
    n = sum(counts)
    segment = draw(st.permutations(np.repeat(np.arange(len(counts)), counts).tolist()))
    return np.array(segment), *(
        np.array(draw(st.lists(score, min_size=n, max_size=n))) for _ in range(2)
    )


def best(segment, accuracy, naturalness, beta):
    """Brute force: per source, the value of the best candidate at β."""
    value = accuracy + beta * naturalness
    return np.array([value[segment == s].max() for s in range(segment.max() + 1)])


@pytest.mark.verifies("Selection at β", by="property")
@given(problems(finite) | problems(small), st.floats(0, 1e5))
@settings(max_examples=100)
def test_select_is_the_argmax_at_any_beta(problem, beta):
    segment, accuracy, naturalness = problem
    curve = oracle_curve(*problem)
    for b in [beta, 0.5, *curve.beta[:5]]:
        chosen = curve.select(b)
        assert (segment[chosen] == np.arange(curve.n_segments)).all()
        value = accuracy[chosen] + b * naturalness[chosen]
        wanted = best(segment, accuracy, naturalness, b)
        np.testing.assert_allclose(
            value, wanted, rtol=1e-9, atol=1e-9 * (1 + b) * (1 + np.abs(problem[1:]).max())
        )
        v = curve.vertex(b)
        np.testing.assert_allclose(curve.accuracy[v], accuracy[chosen].mean(), atol=1e-6)
        np.testing.assert_allclose(curve.naturalness[v], naturalness[chosen].mean(), atol=1e-6)


def exact_hull(points):
    """Vertices of the upper-right chain in exact arithmetic, as a set of points; collinear points are not vertices."""
    points = sorted({(Fraction(n), Fraction(a)) for n, a in points})
    top = max(points, key=lambda p: (p[1], p[0]))
    chain = []
    for p in (q for q in points if q[0] >= top[0]):
        while chain and chain[-1][1] <= p[1]:
            chain.pop()
        while len(chain) > 1 and (chain[-1][1] - chain[-2][1]) * (p[0] - chain[-2][0]) <= (
            p[1] - chain[-2][1]
        ) * (chain[-1][0] - chain[-2][0]):
            chain.pop()
        chain.append(p)
    return set(chain)


@pytest.mark.verifies("Oracle curve", "Share of candidates off the hull", by="property")
@given(problems(small))
@settings(max_examples=100)
def test_on_integers_the_chain_is_the_exact_rational_hull(problem):
    segment, accuracy, naturalness = problem
    curve = oracle_curve(*problem)
    for s in range(curve.n_segments):
        rows = curve.chain_candidate[curve.chain_segment == s]
        here = segment == s
        got = [(Fraction(naturalness[i]), Fraction(accuracy[i])) for i in rows]
        assert len(got) == len(set(got))
        assert set(got) == exact_hull(zip(naturalness[here], accuracy[here], strict=True))


@pytest.mark.verifies("Selection at β", by="property")
@given(problems(small))
@settings(max_examples=100)
def test_ends_take_the_best_of_the_ties(problem):
    segment, accuracy, naturalness = problem
    curve = oracle_curve(*problem)
    for s, (i, j) in enumerate(zip(curve.select(0), curve.select(np.inf), strict=True)):
        members = np.flatnonzero(segment == s)
        key_0 = [(accuracy[m], naturalness[m]) for m in members]
        key_inf = [(naturalness[m], accuracy[m]) for m in members]
        assert (accuracy[i], naturalness[i]) == max(key_0)
        assert (naturalness[j], accuracy[j]) == max(key_inf)
        assert i == members[key_0.index(max(key_0))]  # of equal points, the first


@pytest.mark.verifies("Oracle curve", by="property")
@given(problems(finite))
@settings(max_examples=100)
def test_the_curve_is_concave_non_increasing_and_above_every_selection(problem):
    segment, accuracy, naturalness = problem
    curve = oracle_curve(*problem)
    scale = 1e-6 * (1 + np.abs(problem[1:]).max())
    assert (np.diff(curve.beta) > 0).all()
    assert curve.beta[0] == 0
    assert (np.diff(curve.accuracy) <= scale).all()
    assert (np.diff(curve.naturalness) >= -scale).all()
    rng = np.random.default_rng(0)
    members = [np.flatnonzero(segment == s) for s in range(curve.n_segments)]
    for _ in range(5):
        pick = np.array([rng.choice(m) for m in members])
        a, n = accuracy[pick].mean(), naturalness[pick].mean()
        for v in range(len(curve.beta)):
            b = curve.beta[v]
            slack = scale * (1 + b)
            assert a + b * n <= curve.accuracy[v] + b * curve.naturalness[v] + slack


@pytest.mark.verifies("Oracle curve", "Share of candidates off the hull", by="hand")
def test_a_two_number_example():
    curve = oracle_curve([0, 0, 0], [80.0, 60, 50], [-4.0, -3.5, -1])
    assert curve.beta.tolist() == [0, 10]  # 60 lies below the line from 80 to 50
    assert curve.n_hull == 2
    assert curve.share_off_hull == pytest.approx(1 / 3)
    assert curve.accuracy_at([-5, -4, -2.5, -1, 0]).tolist()[:4] == [80, 80, 65, 50]
    assert np.isnan(curve.accuracy_at(0))


@pytest.mark.verifies("Certificate: how far a selection is from the curve", by="property")
def test_the_certificate_bounds_the_best_selection():
    rng = np.random.default_rng(1)
    segment = np.repeat(np.arange(4), 5)
    accuracy, naturalness = rng.normal(size=20), rng.normal(size=20)
    curve = oracle_curve(segment, accuracy, naturalness)
    grid = np.stack(np.meshgrid(*[np.arange(5) + 5 * s for s in range(4)]), -1).reshape(-1, 4)
    points = np.stack([naturalness[grid].mean(1), accuracy[grid].mean(1)], 1)
    for n, a in points[points[:, 0] <= curve.naturalness[-1]]:
        assert a <= curve.accuracy_at(n) + 1e-12
    for n in np.linspace(curve.naturalness[0], curve.naturalness[-1], 50):
        near = points[(points[:, 0] >= n - curve.max_edge[0] - 1e-12)]
        assert near[:, 1].max() >= curve.accuracy_at(n) - curve.max_edge[1] - 1e-12


@pytest.mark.verifies("Oracle curve", by="property")
@given(problems(finite) | problems(small))
@settings(max_examples=100)
def test_a_judge_sees_the_mean_of_the_chosen(problem):
    curve, values = oracle_curve(*problem), np.sin(np.arange(len(problem[0])))
    judged = curve.judge(values)
    np.testing.assert_allclose(
        judged, [values[curve.select(b)].mean() for b in curve.beta], atol=1e-12
    )
    scale = 1e-12 * (1 + np.abs(problem[1:]).max())
    np.testing.assert_allclose(curve.judge(problem[1]), curve.accuracy, atol=scale)
    weights = np.random.default_rng(0).integers(0, 3, (4, curve.n_segments)) + 1
    lines = curve.resampled_judge(weights, values)
    for w, line in zip(weights, lines, strict=True):
        for b, point in zip(curve.beta, line.T, strict=True):
            chosen = curve.select(b)
            wanted = [
                np.average(values[chosen], weights=w),
                np.average(problem[2][chosen], weights=w),
            ]
            np.testing.assert_allclose(point, wanted, atol=scale)


@pytest.mark.verifies("Most accuracy of mixtures", by="property")
@given(st.lists(st.tuples(small, small), min_size=1, max_size=6), st.integers(-5, 5))
@settings(max_examples=100)
def test_no_mixture_of_two_points_is_above_mixtures_at(points, at):
    points = np.array(points).T
    most = mixtures_at([points, points + 1], [at, at + 1])
    reached = [
        w * a + (1 - w) * b
        for (a, m), (b, n) in ((p, q) for p in points.T for q in points.T)
        for w in ({0.0, 1.0} | ({(at - n) / (m - n)} if m != n else set()))
        if 0 <= w <= 1 and w * m + (1 - w) * n >= at - 1e-9
    ]
    np.testing.assert_allclose(most[0, 0], max(reached, default=np.nan), atol=1e-9)
    np.testing.assert_allclose(most[1, 1], most[0, 0] + 1, atol=1e-9)


def test_judge_and_mixtures_refuse_what_is_not_finite_or_does_not_fit():
    curve = oracle_curve([0, 0], [1, 2], [2, 1])
    for values in ([1], [1, np.nan], [[1, 2]]):
        with pytest.raises(DataError):
            curve.judge(values)
    for points in ([[1, 2]], [[[1, np.nan], [2, 1]]], [[[1, 2], [2, 1], [0, 0]]]):
        with pytest.raises(DataError):
            mixtures_at(points, [0])


def test_scores_in_a_column_and_bad_candidates_in_any_order_are_named():
    with pytest.raises(DataError):
        oracle_curve([0, 1], [[1.0, 2.0], [2.0, 1.0]], [1, 2])
    with pytest.raises(DataError):
        oracle_curve([0, 1, 0], [1, 2, np.nan], [1, 2, 3])


@pytest.mark.verifies("Pareto set", by="property")
@given(problems(small))
@settings(max_examples=100)
def test_pareto_mask_is_its_definition(problem):
    segment, accuracy, naturalness = problem
    mask = pareto_mask(*problem)
    for i in range(len(segment)):
        others = np.flatnonzero(segment == segment[i])
        beaten = any(
            accuracy[j] >= accuracy[i]
            and naturalness[j] >= naturalness[i]
            and (accuracy[j] > accuracy[i] or naturalness[j] > naturalness[i])
            for j in others
        )
        assert mask[i] == (not beaten)
    assert mask[oracle_curve(*problem).chain_candidate].all()


@pytest.mark.parametrize(
    "arguments",
    [
        ([0, 0, 1], [1, np.nan, 2], [0, 0, 0]),
        ([0, 1, 1], [1, 1, 2], [0, 0, -np.inf]),
        ([0, 2], [1, 2], [1, 2]),
        ([0, 1], [1, 2], [1]),
        ([], [], []),
        ([0, -1], [1, 2], [1, 2]),
        ([0.5, 1], [1, 2], [1, 2]),
        ([0, 0, 1], [1, -1e308, 1e308], [0, 0, 0]),
        ([0], [0], [1.1e302]),
        ([0, 0], [1e300, 0], [0, 1e-300]),
        ([0, 0], [1e-300, 0], [0, 1e300]),
        ([0, 0], [1, 0], [0, 5e-324]),
        ([0, 10**9], [1, 2], [1, 2]),
        (np.array([0, 2**63], "u8"), [1, 2], [1, 2]),
    ],
)
def test_bad_input_is_refused(arguments):
    with pytest.raises(DataError):
        oracle_curve(*arguments)


@pytest.mark.verifies("Oracle curve", by="property")
@given(
    problems(st.integers(-(10**6), 10**6).map(lambda k: k / 64)) | problems(small),
    st.sampled_from([1e-290, 1e-200, 1e-10, 1e200, 1e295]),
    st.sampled_from([1e-290, 1e-10, 1e160, 1e295]),
)
def test_no_unit_is_seen(problem, of_accuracy, of_naturalness):
    """In other units the same candidates win, and the curve ends where it did."""
    segment, accuracy, naturalness = problem
    if not 1e-250 < of_accuracy / of_naturalness < 1e250:
        of_naturalness = of_accuracy
    units = 2.0 ** np.round(np.log2([of_accuracy, of_naturalness]))  # so that no score is rounded
    ours = oracle_curve(*problem)
    theirs = oracle_curve(segment, accuracy * units[0], naturalness * units[1])
    assert ours.chain_candidate.tolist() == theirs.chain_candidate.tolist()
    assert theirs.beta * (units[1] / units[0]) == pytest.approx(ours.beta, rel=1e-12)
    assert theirs.accuracy / units[0] == pytest.approx(ours.accuracy, rel=1e-12, abs=1e-9)
    width = np.ptp(ours.naturalness)
    at = np.append(
        np.linspace(ours.naturalness[0], ours.naturalness[-1], 3),
        ours.naturalness[-1] + max(width, 1),
    )
    assert np.isnan(theirs.accuracy_at(at[-1:] * units[1])).all()
    mixed = mixtures_at([[theirs.accuracy, theirs.naturalness]], at[:1] * units[1])
    assert mixed[0] / units[0] == pytest.approx(ours.accuracy_at(at[:1]), rel=1e-9, abs=1e-9)


def test_points_and_judges_beyond_the_float_are_refused():
    with pytest.raises(DataError):
        mixtures_at([[[-1e308, 1e308], [1, 2]]], [1])
    with pytest.raises(DataError):
        oracle_curve([0], [1], [1]).judge([1e308])


@pytest.mark.parametrize("beta", [-1, np.nan])
def test_beta_must_be_in_range(beta):
    with pytest.raises(DataError):
        oracle_curve([0], [1], [1]).select(beta)


@pytest.mark.verifies(
    "Oracle curve",
    "Selection at β",
    "Certificate: how far a selection is from the curve",
    by="hand",
)
def test_certificate_and_selections_by_hand():
    """Two sources; one step is 10 points for 1 nat, the other 6 for 2: the steps come at β = 3 and β = 10."""
    curve = oracle_curve([0, 0, 1, 1], [50.0, 40, 30, 24], [-3.0, -2, -4, -2])
    assert curve.beta.tolist() == [0, 3, 10]
    assert curve.accuracy.tolist() == [40, 37, 32]
    assert curve.naturalness.tolist() == [-3.5, -2.5, -2]
    assert [curve.select(b).tolist() for b in (0, 2.9, 3, 9.9, 10)] == [
        [0, 2],
        [0, 2],
        [0, 3],
        [0, 3],
        [1, 3],
    ]
    assert curve.max_edge.tolist() == [1, 5]  # 2 nats and 10 points of one source of two
    # 1 point below the corner, 1/10 nat of an edge
    assert curve.gaps([36], [-2.5]).ravel() == pytest.approx([1, 0.1])


@pytest.mark.verifies(
    "Oracle curve",
    "Selection at β",
    "Certificate: how far a selection is from the curve",
    "Most accuracy of mixtures",
    by="foreign",
    of="HiGHS",
)
def test_curve_and_certificate_are_those_of_linear_and_integer_programs():
    """HiGHS: the best random choice with a mean naturalness of N or more, and the best choice of one candidate each."""
    rng = np.random.default_rng(2)
    segment, (a, n) = np.repeat(np.arange(6), 7), rng.normal(size=(2, 42))
    curve = oracle_curve(segment, a, n)
    each, one = (segment == np.arange(6)[:, None]).astype(float), np.ones(6)
    for at in np.linspace(curve.naturalness[0], curve.naturalness[-1], 9):
        mixed = linprog(-a / 6, A_ub=-n[None] / 6, b_ub=[-at + 1e-12], A_eq=each, b_eq=one)
        assert curve.accuracy_at(at) == pytest.approx(-mixed.fun, abs=1e-9)
        points = linprog(-a, A_ub=-n[None], b_ub=[-at], A_eq=np.ones((1, 42)), b_eq=[1])
        assert mixtures_at([[a, n]], [at])[0, 0] == pytest.approx(-points.fun, abs=1e-9)
        near = milp(
            -a / 6,
            integrality=np.ones(42),
            bounds=Bounds(0, 1),
            constraints=[
                LinearConstraint(each, one, one),
                LinearConstraint(n[None] / 6, at - curve.max_edge[0] - 1e-9),
            ],
        )
        assert -near.fun >= curve.accuracy_at(at) - curve.max_edge[1] - 1e-9
    for beta in (0, 0.3, 1, 4):
        best = linprog(-(a + beta * n) / 6, A_eq=each, b_eq=one)
        chosen = curve.select(beta)
        assert (a + beta * n)[chosen].mean() == pytest.approx(-best.fun, abs=1e-10)


@pytest.mark.verifies("Share of candidates off the hull", by="foreign", of="scipy, Qhull")
def test_the_hull_is_scipys():
    """Of all corners of the convex hull those that some β in (0, ∞) prefers: from the highest to the rightmost."""
    rng = np.random.default_rng(3)
    a, n = rng.normal(size=(2, 5, 40))
    curve = oracle_curve(np.repeat(np.arange(5), 40), a.ravel(), n.ravel())
    found = 0
    for s in range(5):
        corners = ConvexHull(np.stack([n[s], a[s]], 1)).vertices  # counter-clockwise
        turned = np.roll(corners, -int(np.flatnonzero(corners == n[s].argmax())[0]))
        upper = turned[: int(np.flatnonzero(turned == a[s].argmax())[0]) + 1]
        assert (
            curve.chain_candidate[curve.chain_segment == s].tolist()
            == (upper[::-1] + 40 * s).tolist()
        )
        found += len(upper)
    assert curve.share_off_hull == pytest.approx(1 - found / 200, rel=1e-14)


@pytest.mark.verifies("Pareto set", by="foreign", of="HiGHS")
def test_the_pareto_set_is_what_integer_programs_do_not_improve():
    """Of the candidates that are at least as good on both axes HiGHS takes the one with the largest gain: is it 0?"""
    a, n = np.random.default_rng(4).integers(0, 6, (2, 25)).astype(float)
    mask = pareto_mask(np.zeros(25, dtype=int), a, n)
    for i in range(25):
        gain = milp(
            -(a + n - a[i] - n[i]),
            integrality=np.ones(25),
            bounds=Bounds(0, 1),
            constraints=[
                LinearConstraint(
                    np.stack([np.ones(25), a, n]), [1, a[i], n[i]], [1, np.inf, np.inf]
                )
            ],
        )
        assert mask[i] == (-gain.fun < 0.5)
    assert 0 < mask.sum() < 25


@pytest.mark.verifies("Most accuracy of mixtures", "Pareto set", by="hand")
def test_pareto_and_mixtures_by_hand():
    """(2, 2) is as good as (1, 2) on one axis and better on the other; halfway between (4, 0) and (0, 4) is (2, 2)."""
    assert pareto_mask([0, 0, 0, 0], [4, 2, 1, 0], [0, 2, 2, 4]).tolist() == [
        True,
        True,
        False,
        True,
    ]
    assert mixtures_at([[[4, 1, 0], [0, 1, 4]]], [2, 3]).tolist() == [[2, 1]]
