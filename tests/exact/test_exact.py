"""A(N) against paper and pencil, against other solvers, and against what Theorem 3.1 says."""

import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anhelpers import exact
from anhelpers.errors import DataError, UnknownName
from anhelpers.exact.solve import _Theorem31
from tests.exact.worlds import world

CONES = importlib.util.find_spec("cvxpy") is not None

LEHRERIN = exact.Problem(
    # two sources: the first is half the time rendered with, half without the gender
    [[0.25, 0.25], [0.5, 0.0]],
    # leaving it out costs 1 where the reference says it; the third target is wrong
    [[0, 0, 1], [1, 0, 1]],
    [0.9, 0.1, 0.0],
)


def every_linear(problem, rng):
    points = rng.random((len(problem.reference), 2))
    return [
        "tv",
        exact.wasserstein_ball(rng.random(len(problem.reference))),
        exact.wasserstein_ball(np.linalg.norm(points[:, None] - points, axis=2)),
        exact.critic_ball(rng.normal(size=(3, len(problem.reference)))),
    ]


@pytest.mark.verifies("A(N) for total variation, Wasserstein-1, critics", by="hand")
def test_two_sources_by_hand():
    # Best: say the gender for source 0 (cost 0 instead of 1/2), either for source 1. R says it 10 % of the time.
    # So source 0, half of all, may say it in 0.1 of all cases for free; each 0.1 more costs 0.1 of TV and gains 0.05.
    curve = exact.solve_curve(LEHRERIN, "tv")
    assert curve.naturalness == pytest.approx([-0.4, 0])
    assert curve.accuracy == pytest.approx([0, -0.2])
    assert curve.beta == pytest.approx([0, 0.5])
    one = exact.solve(LEHRERIN, -0.1)
    assert (one.accuracy, one.naturalness, one.beta) == pytest.approx((-0.15, -0.1, 0.5))
    assert one.marginal == pytest.approx([0.8, 0.2, 0])
    assert curve.translator_at(-0.1)[0] == pytest.approx([0.6, 0.4, 0])


@pytest.mark.verifies("A(N) for total variation, Wasserstein-1, critics", by="property")
@settings(max_examples=8)
@given(st.integers(0, 10_000), st.booleans())
def test_the_parametric_curve_equals_a_grid_of_programs(seed, sources):
    problem, rng = world(seed, sources=sources), np.random.default_rng(seed)
    for divergence in every_linear(problem, rng):
        curve = exact.solve_curve(problem, divergence)
        for n in np.linspace(1.1 * curve.naturalness[0] - 1e-3, 0, 5):
            one = exact.solve(problem, n, divergence)
            assert one.accuracy == pytest.approx(float(curve.accuracy_at(n)), abs=1e-7)
            assert one.naturalness >= n - 1e-8
            mixed = curve.translator_at(n)
            assert problem.accuracy(mixed) == pytest.approx(float(curve.accuracy_at(n)), abs=1e-7)
            d = curve.divergence.value(problem.marginal(mixed), problem.reference)
            assert d <= -max(n, curve.naturalness[0]) + 1e-7


@pytest.mark.verifies("Theorem 3.1: A(N) falls and is concave", by="property")
@settings(max_examples=5)
@given(st.integers(0, 10_000))
def test_theorem_3_1_on_programs_that_know_nothing_of_each_other(seed):
    problem, rng = world(seed), np.random.default_rng(seed)
    for divergence in [
        *every_linear(problem, rng),
        *(["kl", exact.renyi_ball(0.5)] if CONES else []),
    ]:
        low = exact.solve(problem, -np.inf, divergence).naturalness
        if low < -1e-4:
            check = exact.check_theorem(problem, divergence, np.linspace(low, 0, 9))
            assert check.holds(1e-6), (divergence, check)


def test_no_translator_is_more_natural_than_the_language():
    with pytest.raises(DataError):
        exact.solve(LEHRERIN, 0.1)
    with pytest.raises(DataError):
        exact.solve_curve(LEHRERIN).translator_at(np.nan)
    for divergence in [
        "tv",
        *(["kl", "js", "chi2"] if CONES else []),
    ]:  # saying R whatever the source is always possible
        assert exact.solve(LEHRERIN, 0, divergence).marginal == pytest.approx(
            LEHRERIN.reference, abs=1e-6
        )


@pytest.mark.parametrize(
    "change",
    [
        {"joint": [[0.5, 0.4]]},
        {"joint": [0.5, 0.5]},
        {"joint": [[0.5, 0.5], [0, 0]]},
        {"distortion": [[0, 1]]},
        {"distortion": [[0, np.nan], [1, 0]]},
        {"reference": [0.5, -0.5]},
    ],
)
def test_a_world_that_is_none(change):
    good = {"joint": [[0.5, 0.5]], "distortion": [[0, 1], [1, 0]], "reference": [0.9, 0.1]}
    with pytest.raises(DataError):
        exact.Problem(**good | change)


@pytest.mark.parametrize(
    "make",
    [
        lambda: exact.renyi_ball(1),
        lambda: exact.renyi_ball(-1),
        lambda: exact.mmd_ball([[1, 2], [2, 1]]),
        lambda: exact.wasserstein_ball([[1, 0], [0, 0]]),
        lambda: exact.wasserstein_ball([[0, -1], [1, 0]]),
        lambda: exact.solve(LEHRERIN, -0.1, exact.wasserstein_ball([[0, 1], [1, 0]])),
        lambda: exact.solve(LEHRERIN, -0.1, exact.critic_ball([[1, 2]])),
        lambda: exact.solve(LEHRERIN, -0.1, exact.mmd_ball(np.eye(2))),
    ],
)
def test_a_divergence_that_is_none(make):
    with pytest.raises(DataError):
        make()


def test_an_unknown_name_gives_the_nearest():
    with pytest.raises(UnknownName):
        exact.solve(LEHRERIN, -0.1, "kll")


def test_where_nothing_is_to_gain_the_curve_is_one_point():
    same = exact.Problem([[0.3, 0.7]], [[0, 0], [0, 0]], [0.5, 0.5])
    for divergence in ["tv", exact.critic_ball([[0, 1]]), *(["kl"] if CONES else [])]:
        curve = exact.solve_curve(same, divergence)
        assert (curve.naturalness.tolist(), curve.accuracy.tolist()) == ([0.0], [0.0])
        assert curve.vertex(np.inf) == 0


@pytest.mark.parametrize("share", [1e-8, 1e-12])
def test_a_source_that_is_hardly_ever_heard(share):
    base = world(0, n_x=5)
    rare = exact.Problem(
        np.r_[(1 - share) * base.joint, [[share, 0, 0, 0]]], base.distortion, base.reference
    )
    for divergence in [
        "tv",
        exact.wasserstein_ball([0, 1, 2, 3]),
        exact.critic_ball([0, 1, 2, 3]),
        *(["kl", "js"] if CONES else []),
    ]:
        curve, without = (exact.solve_curve(p, divergence) for p in (rare, base))
        assert curve.translators.sum(2) == pytest.approx(1)
        assert curve.accuracy[[0, -1]] == pytest.approx(without.accuracy[[0, -1]], abs=1e-6)


FORBIDDEN = exact.Problem([[0.9, 0.1]], [[0, 1, 1e9], [1, 0, 1e9]], [0.1, 0.9, 0])


@pytest.mark.parametrize(
    "divergence",
    ["tv", exact.wasserstein_ball([0, 1, 2]), exact.critic_ball([0, 1, 5]), "js", "kl"],
    ids=lambda d: getattr(d, "name", d),
)
def test_what_must_never_be_said_may_cost_any_number(divergence):
    """Of 0.1, 0.9 and 10⁹, only the first is best: two targets are not alike because a third is far worse."""
    if divergence in ("js", "kl"):
        pytest.importorskip("cvxpy", reason="pip install -c constraints.txt -e '.[theory]'")
    best = exact.minimisers(FORBIDDEN)
    assert (best.unique, best.distance) == (True, pytest.approx(0.9))
    assert exact.solve(FORBIDDEN, -np.inf, divergence).accuracy == pytest.approx(-0.1, abs=1e-7)
    assert exact.solve(FORBIDDEN, 0, divergence).accuracy == pytest.approx(-0.82, abs=1e-7)
    curve = exact.solve_curve(FORBIDDEN, divergence)
    assert curve.accuracy[[0, -1]] == pytest.approx([-0.1, -0.82], abs=1e-7)
    assert curve.accuracy_at(curve.naturalness[0] / 2) > -0.4601


def test_costs_that_differ_by_rounding_make_a_curve_of_one_natural_point():
    flat = exact.Problem([[1.0]], [[1e6, np.nextafter(1e6, 2e6)]], [0.5, 0.5])
    assert exact.solve_curve(flat).naturalness.tolist() == [0]


def test_theorem_3_1_is_checked_at_finite_naturalness_only():
    with pytest.raises(DataError):
        exact.check_theorem(LEHRERIN, "tv", [-np.inf, -0.5, -0.2, 0])


UNITS = st.sampled_from([1e-9, 1e-7, 1e-5, 1.0, 1e4, 1e9])


def measured_in(problem, unit, offset=0.0):
    return exact.Problem(problem.joint, unit * problem.distortion + offset, problem.reference)


@pytest.mark.verifies("A(N) for total variation, Wasserstein-1, critics", by="property")
@settings(max_examples=6)
@given(
    st.integers(0, 10_000),
    UNITS,
    st.sampled_from([0.0, -3.0, 1e4, 1e8]),
    UNITS,
    st.sampled_from([0.0, 1e6]),
)
def test_linear_curves_know_neither_unit_nor_offset(seed, unit, offset, of_d, shift):
    """A(c Δ + d) = c A(Δ) - d and β c, up to the rounding of c Δ + d itself; D in another unit stretches N."""
    problem, points = world(seed), np.random.default_rng(seed).random((4, 4))
    points = (points + points.T) * (1 - np.eye(4))
    moved = measured_in(problem, unit, offset * unit)
    for same, other, spread in [
        ("tv", "tv", 1.0),
        (exact.wasserstein_ball(points), exact.wasserstein_ball(of_d * points), of_d),
        (exact.critic_ball(points), exact.critic_ball(of_d * (points + shift)), of_d),
    ]:
        curve, there = exact.solve_curve(problem, same), exact.solve_curve(moved, other)
        rounding = 1e-9 + 1e-15 * abs(offset) + 1e-14 * shift
        grid = np.linspace(curve.naturalness[0], 0, 9)
        ours = (there.accuracy_at(grid * spread) / unit + offset) - curve.accuracy_at(grid)
        assert ours == pytest.approx(np.zeros(9), abs=200 * rounding if shift else 10 * rounding)
        n = 0.4 * curve.naturalness[0]
        one, two = exact.solve(problem, n, same), exact.solve(moved, n * spread, other)
        assert two.accuracy / unit + offset == pytest.approx(one.accuracy, abs=200 * rounding)
        assert two.naturalness >= n * spread * (1 + 1e-9)


@pytest.mark.parametrize("unit", [1e-300, 1e-7, 1e300])
def test_a_gap_of_the_theorem_is_large_or_small_beside_the_costs(unit):
    assert not _Theorem31(3, 0.0, 0.1 * unit, True, unit).holds()
    small = measured_in(LEHRERIN, unit)
    check = exact.check_theorem(small, "tv", np.linspace(-0.4, 0, 5))
    assert check.holds()
    assert check.unit == pytest.approx(small.unit)
    assert exact.minimisers(small).distance == pytest.approx(0.4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: measured_in(LEHRERIN, 1e-310),
        lambda: exact.Problem([[1.0]], [[-1e308, 1e308]], [0.5, 0.5]),
        lambda: exact.critic_ball([-1e308, 1e308]),
        lambda: exact.wasserstein_ball([-1e308, 1e308]),
        lambda: exact.mmd_ball([[1e308, -1e308], [-1e308, 1e308]]),
        lambda: exact.solve(
            measured_in(LEHRERIN, 1e200), -1e-201, exact.critic_ball([0, 1e-200, 0])
        ),
    ],
)
def test_a_unit_that_no_float64_holds(make):
    with pytest.raises(DataError):
        make()
