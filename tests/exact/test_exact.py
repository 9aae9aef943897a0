"""A(N) against paper and pencil, against other solvers, and against what Theorem 3.1 says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from anhelpers import exact
from anhelpers.divergences import pmf
from anhelpers.errors import DataError, UnknownName

SMOOTH = ["kl", "js", "chi2", exact.renyi(0.5), exact.renyi(0.2)]
LEHRERIN = exact.Problem(
    [[0.25, 0.25], [0.5, 0.0]],  # two sources: the first is half the time rendered with, half without the gender
    [[0, 0, 1], [1, 0, 1]],  # leaving it out costs 1 where the reference says it; the third target is wrong
    [0.9, 0.1, 0.0],
)


def world(seed, n_x=3, n_y=4, sources=False):
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.full(n_x * n_y, 0.7)).reshape(n_x, n_y)
    shape = (n_x, n_y, n_y) if sources else (n_y, n_y)
    distortion = rng.random(shape)
    distortion[..., np.arange(n_y), np.arange(n_y)] = 0
    return exact.Problem(joint, distortion, rng.dirichlet(np.full(n_y, 0.7)))


def every_linear(problem, rng):
    points = rng.random((len(problem.reference), 2))
    return ["tv", exact.wasserstein(rng.random(len(problem.reference))),
            exact.wasserstein(np.linalg.norm(points[:, None] - points, axis=2)),
            exact.critics(rng.normal(size=(3, len(problem.reference))))]  # fmt: skip


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


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_the_parametric_curve_equals_a_grid_of_programs(seed, sources):
    problem, rng = world(seed, sources=sources), np.random.default_rng(seed)
    for divergence in every_linear(problem, rng):
        curve = exact.solve_curve(problem, divergence)
        for n in np.linspace(1.1 * curve.naturalness[0] - 1e-3, 0, 7):
            one = exact.solve(problem, n, divergence)
            assert one.accuracy == pytest.approx(float(curve.accuracy_at(n)), abs=1e-7)
            assert one.naturalness >= n - 1e-8
            mixed = curve.translator_at(n)
            assert problem.accuracy(mixed) == pytest.approx(float(curve.accuracy_at(n)), abs=1e-7)
            d = curve.divergence.value(problem.marginal(mixed), problem.reference)
            assert d <= -max(n, curve.naturalness[0]) + 1e-7


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000))
def test_theorem_3_1_on_programs_that_know_nothing_of_each_other(seed):
    problem, rng = world(seed), np.random.default_rng(seed)
    for divergence in [*every_linear(problem, rng), "kl", exact.renyi(0.5)]:
        low = exact.solve(problem, -np.inf, divergence).naturalness
        if low < -1e-4:
            check = exact.check_theorem(problem, divergence, np.linspace(low, 0, 9))
            assert check.holds(1e-6), (divergence, check)


def test_a_dented_curve_is_seen():
    check = exact.Theorem31(3, 0.0, 0.1, True)
    assert not check.holds()
    assert exact.Theorem31(3, 0.0, 0.1, False).holds()
    assert not exact.Theorem31(3, 0.1, 0.0, False).holds()


@pytest.mark.parametrize("divergence", [*SMOOTH, "mmd2"], ids=lambda d: getattr(d, "name", d))
@pytest.mark.parametrize("seed", [1, 2])
def test_cone_programs_agree_with_a_general_optimiser(divergence, seed):
    problem = world(seed)
    if divergence == "mmd2":
        x = np.random.default_rng(seed).random(4)
        divergence = exact.mmd_squared(np.exp(-((x[:, None] - x) ** 2)))
    low = exact.solve(problem, -np.inf, divergence)
    n = 0.3 * low.naturalness
    one = exact.solve(problem, n, divergence)
    shape, d = problem.cost.shape, one.divergence.value

    def tilted(z):
        e = np.exp(z.reshape(shape) - z.reshape(shape).max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    def slack(z):
        q = problem.marginal(tilted(z))
        return -d(q / q.sum(), problem.reference) - n

    rng, best = np.random.default_rng(0), -np.inf
    for _ in range(6):
        found = minimize(
            lambda z: -problem.accuracy(tilted(z)), rng.normal(size=shape).ravel(), method="SLSQP",
            constraints={"type": "ineq", "fun": slack}, options={"maxiter": 500, "ftol": 1e-12},
        )  # fmt: skip
        if slack(found.x) >= -1e-9:
            best = max(best, -found.fun)
    assert one.naturalness >= n - 1e-9
    assert one.accuracy >= best - 1e-6
    assert one.accuracy == pytest.approx(best, abs=2e-4)


@pytest.mark.parametrize("divergence", SMOOTH, ids=lambda d: getattr(d, "name", d))
def test_the_multiplier_is_the_slope(divergence):
    problem = world(5)
    n, h = 0.4 * exact.solve(problem, -np.inf, divergence).naturalness, 1e-4
    one, more, less = (exact.solve(problem, v, divergence) for v in (n, n + h, n - h))
    assert one.beta == pytest.approx((less.accuracy - more.accuracy) / (2 * h), rel=1e-3)


def test_the_solution_maximises_the_lagrangian_of_eq_5():
    problem, rng = world(7), np.random.default_rng(7)
    one = exact.solve(problem, -0.05, "kl")
    best = one.accuracy + one.beta * one.naturalness
    for _ in range(2000):
        other = rng.dirichlet(np.full(4, 0.5), size=3)
        q = problem.marginal(other)
        assert problem.accuracy(other) - one.beta * pmf.kl(q, problem.reference) <= best + 1e-6


@pytest.mark.parametrize("divergence", SMOOTH[:4], ids=lambda d: getattr(d, "name", d))
def test_a_smooth_curve_lies_within_its_gap(divergence):
    problem = world(11)
    curve = exact.solve_curve(problem, divergence, tolerance=5e-3)
    assert not curve.exact
    assert 0 <= curve.gap <= 5e-3 * (curve.accuracy[0] - curve.accuracy[-1])
    for n in np.linspace(curve.naturalness[0], 0, 12)[1:-1]:
        drawn, true = float(curve.accuracy_at(n)), exact.solve(problem, n, divergence).accuracy
        assert drawn - 1e-6 <= true <= drawn + curve.gap + 1e-6


def test_total_variation_is_wasserstein_of_the_discrete_metric_and_pinsker_orders_the_curves():
    problem = world(3)
    tv = exact.solve_curve(problem, "tv")
    discrete = exact.solve_curve(problem, exact.wasserstein(1 - np.eye(4)))
    assert tv.accuracy == pytest.approx(discrete.accuracy, abs=1e-9)
    for d in (0.02, 0.1, 0.3):  # KL <= 2 d² implies TV <= d: the KL ball is the smaller one
        kl = exact.solve(problem, -2 * d**2, "kl").accuracy
        assert kl <= exact.solve(problem, -d, "tv").accuracy + 1e-7


def test_an_order_above_one_is_solved_but_marked():
    problem, two = world(5), exact.renyi(2)
    low = exact.solve(problem, -np.inf, two).naturalness
    one = exact.solve(problem, 0.5 * low, two)
    assert not one.divergence.convex
    same = exact.solve(problem, -(np.exp(-0.5 * low) - 1), "chi2")  # order 2 is log(1 + χ²)
    assert one.accuracy == pytest.approx(same.accuracy, abs=1e-6)
    with pytest.raises(DataError, match="not convex in Q"):
        exact.solve_curve(problem, two)


def test_targets_that_the_language_never_says():
    problem = exact.Problem([[0.5, 0.5]], [[0, 1, 1], [1, 0, 1]], [0.6, 0.4, 0.0])
    for divergence in ["kl", "chi2", exact.renyi(0.5), exact.renyi(2)]:
        assert exact.solve(problem, -0.01, divergence).marginal[2] == pytest.approx(0, abs=1e-6)


def test_where_the_best_says_what_nobody_says():
    problem = exact.Problem([[0.75, 0.25]], [[0, 0, 1], [1, 1, 0]], [0, 0, 1.0])  # the first two are equally good
    for divergence in ["kl", exact.renyi(0.5)]:
        assert exact.solve(problem, -np.inf, divergence).naturalness == -np.inf
    with pytest.raises(DataError, match="begins at N = -∞"):
        exact.solve_curve(problem, exact.renyi(0.5))
    curve = exact.solve_curve(problem, "kl")  # a finite D leaves the third target only
    assert (curve.naturalness.tolist(), curve.accuracy.tolist()) == ([0], [-0.75])
    assert len(exact.solve_curve(problem, "js").beta) > 2


def test_no_translator_is_more_natural_than_the_language():
    with pytest.raises(DataError, match=r"naturalness 0.1: N = -D\(Q, R\) is at most 0"):
        exact.solve(LEHRERIN, 0.1)
    with pytest.raises(DataError, match="naturalness nan"):
        exact.solve_curve(LEHRERIN).translator_at(np.nan)
    for divergence in ["tv", "kl", "js", "chi2"]:  # saying R whatever the source is always possible
        assert exact.solve(LEHRERIN, 0, divergence).marginal == pytest.approx(LEHRERIN.reference, abs=1e-6)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"joint": [[0.5, 0.4]]}, "sum"),
        ({"joint": [0.5, 0.5]}, r"\(sources, references\), got shape \(2,\)"),
        ({"joint": [[0.5, 0.5], [0, 0]]}, "source 1 has probability 0"),
        ({"distortion": [[0, 1]]}, r"must have shape \(2, 2\)"),
        ({"distortion": [[0, np.nan], [1, 0]]}, "must be finite"),
        ({"reference": [0.5, -0.5]}, "reference"),
    ],
)
def test_a_world_that_is_none(change, said):
    good = {"joint": [[0.5, 0.5]], "distortion": [[0, 1], [1, 0]], "reference": [0.9, 0.1]}
    with pytest.raises(DataError, match=said):
        exact.Problem(**good | change)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: exact.renyi(1), "order 1 is 'kl'"),
        (lambda: exact.renyi(-1), "above 1, got -1"),
        (lambda: exact.mmd_squared([[1, 2], [2, 1]]), "eigenvalue -1"),
        (lambda: exact.wasserstein([[1, 0], [0, 0]]), "diagonal"),
        (lambda: exact.wasserstein([[0, -1], [1, 0]]), "not negative"),
        (lambda: exact.solve(LEHRERIN, -0.1, exact.wasserstein([[0, 1], [1, 0]])), "for 2 targets, the world has 3"),
        (lambda: exact.solve(LEHRERIN, -0.1, exact.critics([[1, 2]])), "score 2 targets, the world has 3"),
        (lambda: exact.solve(LEHRERIN, -0.1, exact.mmd_squared(np.eye(2))), "for 2 targets, the world has 3"),
    ],
)
def test_a_divergence_that_is_none(make, said):
    with pytest.raises(DataError, match=said):
        make()


def test_an_unknown_name_gives_the_nearest():
    with pytest.raises(UnknownName, match="'kll'; did you mean 'kl'"):
        exact.solve(LEHRERIN, -0.1, "kll")


def test_where_nothing_is_to_gain_the_curve_is_one_point():
    same = exact.Problem([[0.3, 0.7]], [[0, 0], [0, 0]], [0.5, 0.5])
    for divergence in ["tv", "kl", exact.critics([[0, 1]])]:
        curve = exact.solve_curve(same, divergence)
        assert (curve.naturalness.tolist(), curve.accuracy.tolist()) == ([0.0], [0.0])
        assert curve.vertex(np.inf) == 0


def test_twenty_by_two_hundred():
    problem = world(0, 20, 200)
    curve = exact.solve_curve(problem, "tv")
    one = exact.solve(problem, curve.naturalness[0] / 2, "tv")
    assert one.accuracy == pytest.approx(float(curve.accuracy_at(one.naturalness)), abs=1e-7)
    kl = exact.solve(problem, -0.1, "kl")
    assert kl.naturalness == pytest.approx(-0.1, abs=1e-6)
