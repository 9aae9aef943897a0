"""Distances by critics: hand-worked, as norms, from samples with their errors, and Theorem E.1."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from anhelpers.divergences.critics import (
    classification_risk,
    critic_distance,
    power_mean,
    risk_chain,
    sample_critic_distance,
)
from anhelpers.errors import DataError

INF = float("inf")
SCORES = arrays(float, (4, 5), elements=st.floats(-100, 100).map(lambda v: round(v, 3)))
POWERS = st.one_of(st.floats(0.05, 60), st.just(INF))


@st.composite
def pmfs(draw, y=5):
    counts = draw(st.lists(st.integers(0, 20), min_size=y, max_size=y))
    assume(sum(counts))
    return np.array(counts) / sum(counts)


@pytest.mark.verifies("Distance by critics D_p", by="hand")
def test_critics_hand_worked():
    """Gaps of 3 and 4 points: mean 3.5, root mean square 5/√2, at most 4."""
    q, r, critics = [0, 1], [1, 0], [[0, 3], [0, -4]]
    assert critic_distance(q, r, critics) == 3.5
    assert critic_distance(q, r, critics, power=2) == pytest.approx(5 / math.sqrt(2), rel=1e-15)
    assert critic_distance(q, r, critics, power=INF) == 4


@pytest.mark.verifies("Distance by critics D_p", by="property")
@given(pmfs(), pmfs(), SCORES, POWERS, POWERS)
def test_critics_distance_rises_with_p_to_the_largest(q, r, critics, p, other):
    low, high = sorted([p, other])
    top = critic_distance(q, r, critics, power=INF)
    assert critic_distance(q, r, critics, power=low) <= critic_distance(
        q, r, critics, power=high
    ) * (1 + 1e-12)
    assert (
        4 ** (-1 / 1e4) * top
        <= critic_distance(q, r, critics, power=1e4) * (1 + 1e-12)
        <= top * (1 + 2e-12)
    )


@pytest.mark.verifies("Distance by critics D_p", by="property")
@given(pmfs(), pmfs(), pmfs(), SCORES, st.one_of(st.floats(1, 60), st.just(INF)))
def test_critics_distance_is_a_pseudo_metric_from_p_1_on(q, r, s, critics, p):
    def d(a, b):
        return critic_distance(a, b, critics, power=p)

    assert d(q, q) == 0
    assert d(q, r) == d(r, q)
    assert d(q, r) <= d(q, s) + d(s, r) + 1e-12 * np.abs(critics).max()
    assert critic_distance(q, r, -3 * critics + 7, power=p) == pytest.approx(
        3 * d(q, r), rel=1e-9, abs=1e-10
    )


@pytest.mark.erratum("AN Appendix E, range of p")
def test_critics_distance_below_p_1_is_no_metric():
    """By way of s it is 1/4 + 1/4, directly 1."""
    q, s, r, critics = [1, 0, 0], [0, 1, 0], [0, 0, 1], [[1, 0, 0], [0, 0, 1]]
    way = [critic_distance(*pair, critics, power=0.5) for pair in ((q, s), (s, r), (q, r))]
    assert way == [0.25, 0.25, 1.0]


def test_critics_refuse_what_cannot_be():
    for call in (
        lambda: power_mean([1], 0),
        lambda: critic_distance([0.5, 0.5], [1, 0], [1, 2, 3]),
        lambda: critic_distance([0.5, 0.5], [1, 0], [1, np.nan]),
        lambda: sample_critic_distance([[1, 2]], [[1, 2]]),
        lambda: sample_critic_distance([[1]], [[1, 2]]),
        lambda: sample_critic_distance([[1, 2], [0, 1]], [[1, 2], [3, 4]], power=INF),
    ):
        with pytest.raises(DataError):
            call()


@pytest.mark.verifies("Distance by critics, from samples", by="property")
def test_critics_on_all_outcomes_once_are_the_exact_distance():
    rng = np.random.default_rng(0)
    critics = rng.normal(size=(6, 4))
    q = np.array([0.5, 0.25, 0.25, 0])
    r = np.array([0, 0.5, 0.25, 0.25])
    x, y = np.repeat(np.arange(4), [2, 1, 1, 0]), np.repeat(np.arange(4), [0, 2, 1, 1])
    for p in (0.5, 1, 2, 7):
        found = sample_critic_distance(critics[:, x], critics[:, y], power=p)
        assert found.value == pytest.approx(critic_distance(q, r, critics, power=p), rel=1e-14)
        assert (found.n_q, found.n_r) == (4, 4)


@pytest.mark.verifies("Distance by critics, from samples", by="property")
@pytest.mark.parametrize(
    ("power", "sampled"), [(1, True), (2, True), (1, False), (3, False), (INF, False)]
)
def test_critics_standard_error_is_the_spread_of_repetitions(power, sampled):
    rng = np.random.default_rng(3)
    pool = rng.normal(size=(500, 6)) + np.arange(6)
    q = np.full(6, 1 / 6)
    r = np.array([0.4, 0.2, 0.1, 0.1, 0.1, 0.1])
    found = []
    for _ in range(600):
        critics = pool[rng.integers(0, 500, 20)] if sampled else pool[:20]
        x, y = rng.choice(6, 80, p=q), rng.choice(6, 120, p=r)
        found.append(
            sample_critic_distance(critics[:, x], critics[:, y], power=power, sampled=sampled)
        )
    spread, said = np.std([f.value for f in found], ddof=1), np.mean([f.se for f in found])
    assert said == pytest.approx(spread, rel=0.1)  # a spread of 600 has an error of 3 %


@pytest.mark.verifies("Distance by critics, from samples", by="hand")
def test_critics_standard_error_in_small():
    """One critic: √(var x / N + var y / M), whatever the side; no difference at all has no error to give."""
    found = sample_critic_distance([[1, 2, 6]], [[7, 9]], sampled=False)
    assert found.value == 5
    assert found.se == pytest.approx(math.sqrt(7 / 3 + 2 / 2), rel=1e-14)
    assert math.isnan(sample_critic_distance([[1, 3]], [[2, 2]], sampled=False).se)


@pytest.mark.verifies("Distance by critics, from samples", by="property")
@pytest.mark.parametrize(("k", "power"), [(1, 1), (10, 2), (10, INF)])
def test_critics_interval_holds_0_where_q_is_r_and_a_clear_difference(k, power):
    left_out, covered = [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        fx, fy = rng.normal(size=(2, k, 40))
        same, other = (
            sample_critic_distance(f, fy, rng=rng, n_draws=100, power=power, sampled=False)
            for f in (fx, fx + 2)
        )
        left_out.append(same.low > 0)
        covered.append(other.low <= 2 <= other.high)
    assert np.mean(left_out) < 0.07
    assert np.mean(covered) > 0.9
    assert same.chance > 0
    assert sample_critic_distance(fx, fy, power=power, sampled=False).interval == pytest.approx(
        (np.nan,) * 2, nan_ok=True
    )


def losses(eps, label, score):
    return -score / eps if label == 1 else score / (1 - eps)


@pytest.mark.verifies("Classification risk of critics", by="property")
@pytest.mark.parametrize("eps", [0.1, 0.5, 0.8])
def test_critics_risk_is_the_expected_loss_of_a_classifier(eps):
    """Eqs. 32 and 33 outcome by outcome, and as a game of 200,000 rounds; the share of the classes cancels."""
    rng = np.random.default_rng(4)
    critics = rng.normal(size=(3, 4))
    q = np.array([0.1, 0.2, 0.3, 0.4])
    r = np.full(4, 0.25)
    risk = classification_risk(q, r, critics)
    exact = sum(
        eps * r[x] * losses(eps, 1, critics[k, x])
        + (1 - eps) * q[x] * losses(eps, -1, critics[k, x])
        for k in range(3)
        for x in range(4)
    )
    assert risk == pytest.approx(exact / 3, rel=1e-12)
    n = 200_000
    reference, f = rng.random(n) < eps, rng.choice(3, n)
    x = np.where(reference, rng.choice(4, n, p=r), rng.choice(4, n, p=q))
    paid = np.where(reference, losses(eps, 1, critics[f, x]), losses(eps, -1, critics[f, x]))
    assert abs(paid.mean() - risk) < 4 * paid.std() / math.sqrt(n)


@pytest.mark.verifies("Risk chain -D_∞ ≤ … ≤ R", by="property")
@given(pmfs(), pmfs(), SCORES)
def test_critics_risk_chain_is_in_the_order_of_theorem_e1(q, r, critics):
    chain = risk_chain(q, r, critics)
    values = list(chain.values())
    assert list(chain) == ["-D_inf", "-D_2", "-D_1", "R"]
    assert all(a <= b + 1e-12 * abs(a) for a, b in pairwise(values))
    # each critic the way round that classifies better
    turned = np.sign(-(critics @ (q - r)))[:, None] * critics
    assert classification_risk(q, r, turned) == pytest.approx(chain["-D_1"], rel=1e-9, abs=1e-12)


@pytest.mark.erratum("AN Theorem E.1, signs")
def test_errata_theorem_e1_needs_critics_of_both_signs():
    """-D_∞ is the best critic's risk only where each critic's negative is a critic, too, which changes no D_p."""
    q, r, one_sided = np.array([0.5, 0.5]), np.array([1.0, 0.0]), np.array([[0.0, 4.0], [0.0, 1.0]])
    best = min(classification_risk(q, r, f) for f in one_sided)
    assert (best, risk_chain(q, r, one_sided)["-D_inf"]) == (0.5, -2.0)
    both = np.vstack([one_sided, -one_sided])
    assert (
        min(classification_risk(q, r, f) for f in both) == risk_chain(q, r, both)["-D_inf"] == -2.0
    )
    assert critic_distance(q, r, both) == critic_distance(q, r, one_sided)


@pytest.mark.erratum("AN Appendix E, range of p")
def test_eq_34_has_no_p_and_holds_and_below_1_d_p_stands_outside_of_it():
    """For p < 1 -D_p lies above -D_1, and may lie above the risk: the proof's step from D_1 to D_p is for p ≥ 1."""
    q, r, critics = [0.0, 1.0], [1.0, 0.0], [[0, -4], [0, -0.5]]
    chain = risk_chain(q, r, critics)
    assert (chain["-D_inf"], chain["-D_1"], chain["R"]) == (-4, -2.25, -2.25)
    assert -critic_distance(q, r, critics, power=0.5) > classification_risk(q, r, critics) == -2.25


@pytest.mark.parametrize("noise", ["own", "shared"])
def test_the_error_over_drawn_critics_counts_the_noise_of_texts_once(noise):
    rng, k, n, runs = np.random.default_rng(5), 20, 50, 1500
    found = []
    for _ in range(runs):
        ability = rng.normal(2, 0.1, size=(k, 1))  # every critic sees about 2 points
        error = rng.normal(size=(2, k if noise == "own" else 1, n))
        found.append(sample_critic_distance(ability + error[0], np.zeros((k, 1)) + error[1]))
    scatter = np.std([e.value for e in found], ddof=1)
    assert np.mean([e.se for e in found]) == pytest.approx(scatter, rel=0.08)


@pytest.mark.verifies(
    "Distance by critics D_p", "Distance by critics, from samples", by="foreign", of="scipy"
)
@pytest.mark.parametrize("power", [0.5, 1, 2, 7.5])
def test_critics_distances_are_scipys_power_means(power):
    rng = np.random.default_rng(6)
    critics = rng.normal(size=(5, 4))
    (q, r) = rng.dirichlet(np.ones(4), 2)
    wanted = stats.pmean(np.abs(critics @ (q - r)), power)
    assert critic_distance(q, r, critics, power=power) == pytest.approx(wanted, rel=1e-12)
    x, y = rng.integers(0, 4, (2, 30))
    found = sample_critic_distance(critics[:, x], critics[:, y], power=power)
    means = [abs(stats.tmean(f[x]) - stats.tmean(f[y])) for f in critics]
    assert found.value == pytest.approx(stats.pmean(means, power), rel=1e-12)
    one = sample_critic_distance(critics[:1, x], critics[:1, y], power=power, sampled=False)
    welch = abs(stats.ttest_ind(critics[0, x], critics[0, y], equal_var=False).statistic)
    assert one.value / one.se == pytest.approx(welch, rel=1e-12)


@pytest.mark.verifies(
    "Classification risk of critics", "Risk chain -D_∞ ≤ … ≤ R", by="foreign", of="scipy"
)
def test_the_least_risk_of_all_critics_of_slope_one_is_minus_scipys_wasserstein():
    """Theorem E.1 with the critics of Wasserstein-1: every corner of the ball, each with its negative."""
    rng = np.random.default_rng(7)
    q, r, at = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6)), np.sort(rng.normal(size=6))
    steps = np.diff(at) * np.array(np.meshgrid(*[[-1, 1]] * 5)).reshape(5, -1).T
    critics = np.concatenate([np.zeros((32, 1)), np.cumsum(steps, 1)], axis=1)
    least = -stats.wasserstein_distance(at, at, q, r)
    assert min(classification_risk(q, r, f[None]) for f in critics) == pytest.approx(
        least, rel=1e-12
    )
    chain = risk_chain(q, r, critics)
    assert chain["-D_inf"] == pytest.approx(least, rel=1e-12)
    assert chain["-D_2"] == pytest.approx(-stats.pmean(np.abs(critics @ (q - r)), 2), rel=1e-12)
    assert chain["R"] == pytest.approx(0, abs=1e-15)  # a critic and its negative cancel
