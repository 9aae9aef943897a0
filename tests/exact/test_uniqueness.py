"""Theorem B.1 and the oracle's optimism on finite worlds."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from anhelpers import exact
from anhelpers.errors import DataError
from anhelpers.frontier import oracle_curve

ZERO_ONE = 1 - np.eye(2)


def own_p_y(problem):
    """The same world with R = P(y)."""
    return replace(problem, reference=problem.p_y)


@pytest.mark.verifies("Conditional entropy H[y|x]", by="hand")
def test_conditional_entropy():
    assert exact.conditional_entropy([[0.5, 0], [0, 0.5]]) == 0
    assert exact.conditional_entropy([[0.25, 0.25], [0.25, 0.25]]) == pytest.approx(np.log(2))


@pytest.mark.verifies(
    "Distribution preserving: the nearest most accurate translator",
    "Stability under a shift of the sources",
    by="hand",
)
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
    assert exact.stability(torn, [0.0, 0.1, 0.4]) == pytest.approx(
        np.array([[0, 0.025, 0.1]] * 2), abs=1e-9
    )


@pytest.mark.erratum("AN Theorem B.1, ties")
@given(st.integers(0, 10_000))
def test_if_some_minimiser_is_enough_a_careless_metric_stays_preserving_under_any_shift(seed):
    """Δ = 0: whoever translates as people do is a minimiser, however sources and words shift."""
    careless = exact.Problem([[0.375, 0.125], [0.125, 0.375]], np.zeros((2, 2)), [0.5, 0.5])
    assert exact.conditional_entropy(careless.joint) > 0
    assert not exact.minimisers(careless).unique
    assert exact.stability(careless, [0.1, 0.4]) == pytest.approx(np.zeros((2, 2)), abs=1e-9)
    shifted = exact.Problem(
        np.random.default_rng(seed).dirichlet(np.ones(4)).reshape(2, 2),
        np.zeros((2, 2)),
        [0.5, 0.5],
    )
    assert exact.minimisers(own_p_y(shifted)).preserving()


def farthest(problem):
    """How far the farthest minimiser's marginal is from P(y): a convex function, so largest at deterministic ones."""
    choices = itertools.product(*(np.flatnonzero(row) for row in exact.minimisers(problem).targets))
    heard = (problem.marginal(np.eye(problem.joint.shape[1])[list(said)]) for said in choices)
    return max(0.5 * np.abs(q - problem.p_y).sum() for q in heard)


@pytest.mark.erratum("AN Theorem B.1, ties")
@pytest.mark.parametrize(
    "distortion", [ZERO_ONE, 0 * ZERO_ONE, [[0, 1], [0, 2]]], ids=["zero-one", "Δ = 0", "one-sided"]
)
def test_if_every_minimiser_must_preserve_theorem_b1_stands_with_ties_too(distortion):
    """All worlds of five pairs, two sources and two targets: where H[y|x] > 0, a shift of a source parts one."""
    for counts in itertools.product(range(6), repeat=4):
        joint = np.reshape(counts, (2, 2)) / 5
        if sum(counts) == 5 and joint.sum(1).all() and exact.conditional_entropy(joint) > 0:
            world_ = exact.Problem(joint, distortion, joint.sum(0))
            near = [exact.perturbed(world_, x, share) for x in (0, 1) for share in (0, 1e-3)]
            assert max(map(farthest, near)) > 1e-5, joint


@pytest.mark.verifies(
    "Distribution preserving: the nearest most accurate translator",
    "Stability under a shift of the sources",
    by="property",
)
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


@pytest.mark.verifies("Stability under a shift of the sources", by="property")
def test_the_perturbation_is_as_small_as_it_says():
    problem = exact.Problem([[0.375, 0.125], [0.125, 0.375]], ZERO_ONE, [0.5, 0.5])
    near = exact.perturbed(problem, 0, 0.2)
    assert 0.5 * np.abs(near.joint - problem.joint).sum() <= 0.2
    assert near.joint / near.p_x[:, None] == pytest.approx(problem.joint / problem.p_x[:, None])
    assert near.reference == pytest.approx(near.p_y)
    with pytest.raises(DataError):
        exact.perturbed(problem, 2, 0.1)
    with pytest.raises(DataError):
        exact.perturbed(problem, 0, 1)


def world(seed, n_x=3, n_y=5):
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.full(n_x * n_y, 0.8)).reshape(n_x, n_y)
    reference = rng.dirichlet(np.full(n_y, 0.8))
    return exact.Problem(joint, 1 - np.eye(n_y), reference), np.log(reference) / 7


@pytest.mark.verifies("Oracle on drawn candidates of a finite world", by="property")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_more_candidates_tend_to_the_informed_curve_and_not_to_the_true_one(seed):
    problem, scores = world(seed)
    lpp = exact.critic_ball(scores, "nats per token")
    true, informed = exact.solve_curve(problem, lpp), exact.solve_curve(problem.informed(), lpp)
    for n in np.linspace(true.naturalness[0], 0, 6):
        assert informed.accuracy_at(n) >= true.accuracy_at(n) - 1e-8
    rng = np.random.default_rng(seed)
    drawn = exact.sampled_oracle(problem, scores, n_segments=20_000, n_candidates=60, rng=rng)
    # all pairs with all candidates, weighed: the oracle's limit, by frontier alone
    z = problem.informed()
    limit = oracle_curve(
        np.repeat(np.arange(len(z.p_x)), 5),
        -(z.p_x[:, None] * z.cost).ravel() * len(z.p_x),
        np.outer(z.p_x, scores).ravel() * len(z.p_x),
    )
    mean_r = float(problem.reference @ scores)
    for n in informed.naturalness:
        at = mean_r + n if limit.naturalness[0] <= mean_r else mean_r
        if limit.naturalness[0] <= at <= limit.naturalness[-1]:
            assert informed.accuracy_at(n) == pytest.approx(float(limit.accuracy_at(at)), abs=1e-7)
    for at in np.linspace(*np.quantile(limit.naturalness, [0, 1]), 5)[1:-1]:
        assert float(drawn.accuracy_at(at)) == pytest.approx(float(limit.accuracy_at(at)), abs=0.02)


def test_bad_requests_are_refused():
    problem, scores = world(0)
    with pytest.raises(DataError):
        exact.sampled_oracle(
            problem, scores[:2], n_segments=5, n_candidates=2, rng=np.random.default_rng(0)
        )
    with pytest.raises(DataError):
        exact.sampled_oracle(
            problem, scores, n_segments=5, n_candidates=0, rng=np.random.default_rng(0)
        )


@pytest.mark.verifies("Conditional entropy H[y|x]", by="property")
@pytest.mark.verifies("Conditional entropy H[y|x]", by="foreign", of="scipy")
@given(st.integers(0, 10_000))
def test_conditional_entropy_is_the_mean_of_scipys_entropies(seed):
    joint = np.random.default_rng(seed).dirichlet(np.full(6, 0.5)).reshape(2, 3)
    found = exact.conditional_entropy(joint)
    assert found == pytest.approx(stats.entropy(joint, axis=1) @ joint.sum(1), abs=1e-12)
    # knowing the source never adds doubt
    assert -1e-12 <= found <= stats.entropy(joint.sum(0)) + 1e-12


@pytest.mark.verifies(
    "Distribution preserving: the nearest most accurate translator",
    "Stability under a shift of the sources",
    by="foreign",
    of="cvxpy with Clarabel",
)
def test_the_nearest_most_accurate_translator_is_that_of_another_solver():
    """Ties everywhere, so that some choice is left: the least total variation, written down for Clarabel."""
    cp = pytest.importorskip("cvxpy", reason="pip install -c constraints.txt -e '.[theory]'")
    rng = np.random.default_rng(1)
    joint = rng.dirichlet(np.ones(9)).reshape(3, 3)
    tied = rng.integers(0, 2, (3, 3, 3)).astype(float)
    joint[:, 2] = 0
    problem = exact.Problem(joint / joint.sum(), tied, rng.dirichlet(np.ones(3)))
    best = exact.minimisers(problem)
    assert not best.unique

    def theirs(world):
        cost = np.einsum("xz,xzy->xy", world.joint / world.p_x[:, None], tied)
        q = cp.Variable((3, 3), nonneg=True)
        only = [
            q[i, j] == 0 for i in range(3) for j in range(3) if cost[i, j] > cost[i].min() + 1e-12
        ]
        apart = cp.norm1(world.p_x @ q - world.reference) / 2
        return cp.Problem(cp.Minimize(apart), [cp.sum(q, 1) == 1, *only]).solve(cp.CLARABEL)

    assert best.distance == pytest.approx(theirs(problem), abs=1e-7)
    shares = [0.05, 0.3]
    found = exact.stability(problem, shares)
    for x, e in itertools.product(range(3), range(2)):
        p_x = (1 - shares[e]) * problem.p_x + shares[e] * (np.arange(3) == x)
        joint = problem.joint / problem.p_x[:, None] * p_x[:, None]
        moved = exact.Problem(joint, tied, joint.sum(0))
        assert found[x, e] == pytest.approx(theirs(moved), abs=1e-7)


@pytest.mark.verifies("Oracle on drawn candidates of a finite world", by="hand")
def test_the_best_of_k_drawn_targets_by_hand():
    """One source, two references, each half the time; K fair draws miss the right one with probability 2^−K."""
    coin = exact.Problem([[0.5, 0.5]], ZERO_ONE, [0.5, 0.5])
    for k in (1, 3):
        drawn = exact.sampled_oracle(
            coin, [0, 0], n_segments=4000, n_candidates=k, rng=np.random.default_rng(k)
        )
        miss = 0.5**k
        assert abs(drawn.accuracy[0] + miss) < 4 * np.sqrt(miss * (1 - miss) / 4000)


@pytest.mark.erratum("AN Theorem B.1, ties")
def test_errata_theorem_b1_ties_of_the_zero_one_metric_survive_a_shift_of_sources_and_not_one_of_words():
    """Coin flips: the nearest is at distance 0 for every P(x); words shifted by δ/2, it is at 1/2 − δ/2."""
    coins = exact.Problem(np.full((2, 2), 0.25), ZERO_ONE, [0.5, 0.5])
    assert exact.conditional_entropy(coins.joint) > 0
    assert exact.stability(coins, [0.0, 0.1, 0.4]) == pytest.approx(np.zeros((2, 3)), abs=1e-9)
    # δ = 0.2
    shifted = own_p_y(exact.Problem([[0.3, 0.2], [0.3, 0.2]], ZERO_ONE, [0.5, 0.5]))
    assert exact.minimisers(shifted).distance == pytest.approx(0.5 - 0.1, abs=1e-12)


@pytest.mark.erratum("AN Theorem B.1, condition")
def test_the_condition_of_theorem_b1_is_sufficient_and_not_necessary():
    """H[y|x] = 0, and yet a world within δ/2 = 0.05 has a best translator that is δ/2 from P(y)."""
    certain = exact.Problem([[0.5, 0], [0, 0.5]], ZERO_ONE, [0.5, 0.5])
    near = own_p_y(exact.Problem([[0.45, 0.05], [0, 0.5]], ZERO_ONE, [0.5, 0.5]))
    assert (exact.conditional_entropy(certain.joint), exact.minimisers(certain).distance) == (0, 0)
    assert 0.5 * np.abs(near.joint - certain.joint).sum() == pytest.approx(0.05)
    assert exact.minimisers(near).distance == pytest.approx(0.05, abs=1e-12)


@pytest.mark.erratum("AN eq. 3")
def test_errata_eq3_means_the_monolingual_reference():
    """One source, rendered 9:1, and R 1:1. At N = 0 whoever sounds like P(y) errs 0.18, like R 0.5 of the time."""
    joint = [[0.9, 0.1]]
    found = {
        name: exact.solve(exact.Problem(joint, ZERO_ONE, language), 0, "tv").accuracy
        for name, language in {"P": [0.9, 0.1], "R": [0.5, 0.5]}.items()
    }
    assert found == {"P": pytest.approx(-0.18), "R": pytest.approx(-0.5)}


@pytest.mark.erratum("AN Appendix F")
def test_errata_appendix_f_with_few_candidates_the_oracle_is_below_the_best_translator():
    """Who always says the likelier of two targets errs 1 time in 10; an oracle with one fair draw, 1 time in 2."""
    world_ = exact.Problem([[0.9, 0.1]], ZERO_ONE, [0.9, 0.1])
    best = exact.solve_curve(world_).accuracy[0]
    drawn = [
        exact.sampled_oracle(
            world_, [0, 0], n_segments=5000, n_candidates=k, rng=np.random.default_rng(0)
        )
        for k in (1, 8)
    ]
    assert best == pytest.approx(-0.1)
    assert drawn[0].accuracy[0] < -0.4 < best < drawn[1].accuracy[0]


@pytest.mark.verifies("Oracle on drawn candidates of a finite world", by="foreign", of="scipy")
def test_the_best_of_k_drawn_targets_is_scipys_order_statistic():
    """Costs 0, 1 and 3, of which K draws keep the least: the sum of its survival function, by scipy's."""
    priced = exact.Problem([[1.0, 0, 0]], [[0, 1, 3], [0, 0, 0], [0, 0, 0]], [1.0, 0, 0])
    cost = stats.rv_discrete(values=([0, 1, 3], [1 / 3] * 3))
    for k in (1, 2, 5):
        rng = np.random.default_rng(k)
        drawn = exact.sampled_oracle(priced, [0, 0, 0], n_segments=4000, n_candidates=k, rng=rng)
        least, square = (
            sum(w * cost.sf(c) ** k for c, w in enumerate(weights))
            for weights in ((1, 1, 1), (1, 3, 5))
        )
        assert abs(drawn.accuracy[0] + least) < 4 * np.sqrt((square - least**2) / 4000)
