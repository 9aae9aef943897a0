"""Theorem B.1 and the oracle's optimism on finite worlds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anhelpers import exact
from anhelpers.errors import DataError
from anhelpers.frontier import oracle_curve

ZERO_ONE = 1 - np.eye(2)


def test_conditional_entropy():
    assert exact.conditional_entropy([[0.5, 0], [0, 0.5]]) == 0
    assert exact.conditional_entropy([[0.25, 0.25], [0.25, 0.25]]) == pytest.approx(np.log(2))


def test_a_deterministic_world_stays_preserving_and_another_does_not():
    certain = exact.Problem([[0.5, 0], [0, 0.5]], ZERO_ONE, [0.5, 0.5])
    assert exact.minimisers(certain).unique
    assert exact.stability(certain, [0, 0.1, 0.5]) == pytest.approx(np.zeros((2, 3)), abs=1e-12)
    # each source is rendered 3:1 or 1:3; the best translator says the likelier one, so Q = P(y) = (1/2, 1/2) by luck
    torn = exact.Problem([[0.375, 0.125], [0.125, 0.375]], ZERO_ONE, [0.5, 0.5])
    best = exact.minimisers(torn)
    assert best.unique
    assert best.preserving()
    assert exact.conditional_entropy(torn.joint) > 0
    # hearing source 0 more often by ε: Q(0) = (1+ε)/2 but P(0) = 1/2 + ε/4, so the distance is ε/4
    assert exact.stability(torn, [0.0, 0.1, 0.4]) == pytest.approx(np.array([[0, 0.025, 0.1]] * 2), abs=1e-9)


def test_with_ties_some_minimiser_stays_preserving():
    careless = exact.Problem([[0.375, 0.125], [0.125, 0.375]], np.zeros((2, 2)), [0.5, 0.5])
    best = exact.minimisers(careless)
    assert not best.unique
    assert best.preserving()
    assert exact.stability(careless, [0.1, 0.4]) == pytest.approx(np.zeros((2, 2)), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_theorem_b_1(seed):
    """A unique minimiser of a non-deterministic world is not preserving for some small change of P(x)."""
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.ones(9)).reshape(3, 3)
    problem = exact.Problem(joint, rng.random((3, 3)), joint.sum(0))
    best = exact.minimisers(problem)
    assert best.unique
    assert exact.conditional_entropy(joint) > 0
    assert exact.stability(problem, [0.0, 1e-3]).max() > 1e-9


def test_the_perturbation_is_as_small_as_it_says():
    problem = exact.Problem([[0.375, 0.125], [0.125, 0.375]], ZERO_ONE, [0.5, 0.5])
    near = exact.perturbed(problem, 0, 0.2)
    assert 0.5 * np.abs(near.joint - problem.joint).sum() <= 0.2
    assert near.joint / near.p_x[:, None] == pytest.approx(problem.joint / problem.p_x[:, None])
    assert near.reference == pytest.approx(near.p_y)
    assert exact.perturbed(problem, 0, 0.2, own_reference=False).reference == pytest.approx(problem.reference)
    with pytest.raises(DataError, match="no source 2"):
        exact.perturbed(problem, 2, 0.1)
    with pytest.raises(DataError, match=r"in \[0, 1\), got 1"):
        exact.perturbed(problem, 0, 1)


def world(seed, n_x=3, n_y=5):
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.full(n_x * n_y, 0.8)).reshape(n_x, n_y)
    reference = rng.dirichlet(np.full(n_y, 0.8))
    return exact.Problem(joint, 1 - np.eye(n_y), reference), np.log(reference) / 7


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_more_candidates_tend_to_the_informed_curve_and_not_to_the_true_one(seed):
    problem, scores = world(seed)
    lpp = exact.critics(scores, "nats per token")
    true, informed = exact.solve_curve(problem, lpp), exact.solve_curve(problem.informed(), lpp)
    for n in np.linspace(true.naturalness[0], 0, 6):
        assert informed.accuracy_at(n) >= true.accuracy_at(n) - 1e-8
    rng = np.random.default_rng(seed)
    drawn = exact.sampled_oracle(problem, scores, n_segments=40_000, n_candidates=60, rng=rng)
    # all pairs with all candidates, weighed: the oracle's limit, by frontier alone
    z = problem.informed()
    limit = oracle_curve(np.repeat(np.arange(len(z.p_x)), 5), -(z.p_x[:, None] * z.cost).ravel() * len(z.p_x),
                         np.outer(z.p_x, scores).ravel() * len(z.p_x))  # fmt: skip
    mean_r = float(problem.reference @ scores)
    for n in informed.naturalness:
        at = mean_r + n if limit.naturalness[0] <= mean_r else mean_r
        if limit.naturalness[0] <= at <= limit.naturalness[-1]:
            assert informed.accuracy_at(n) == pytest.approx(float(limit.accuracy_at(at)), abs=1e-7)
    for at in np.linspace(*np.quantile(limit.naturalness, [0, 1]), 5)[1:-1]:
        assert float(drawn.accuracy_at(at)) == pytest.approx(float(limit.accuracy_at(at)), abs=0.02)


def test_few_candidates_lie_below_many():
    problem, scores = world(4)
    curves = [exact.sampled_oracle(problem, scores, n_segments=20_000, n_candidates=k, rng=np.random.default_rng(0))
              for k in (1, 4, 64)]  # fmt: skip
    best = [c.accuracy[0] for c in curves]
    assert best[0] < best[1] < best[2]


def test_bad_requests_are_refused():
    problem, scores = world(0)
    with pytest.raises(DataError, match="lengths differ"):
        exact.sampled_oracle(problem, scores[:2], n_segments=5, n_candidates=2, rng=np.random.default_rng(0))
    with pytest.raises(DataError, match="at least one segment"):
        exact.sampled_oracle(problem, scores, n_segments=5, n_candidates=0, rng=np.random.default_rng(0))
    with pytest.raises(DataError, match=r"proposal must be \(3, 5\)"):
        exact.sampled_oracle(
            problem, scores, n_segments=5, n_candidates=2, rng=np.random.default_rng(0), proposal=np.eye(3)
        )
