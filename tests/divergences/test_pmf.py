import math
from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
import ot
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cityblock, jensenshannon
from scipy.special import rel_entr
from scipy.stats import chisquare, energy_distance, power_divergence, wasserstein_distance
from scipy.stats import entropy as scipy_entropy

from anhelpers import checks
from anhelpers.divergences import pmf
from anhelpers.divergences.pmf import cross_entropy, ipm, jensen_shannon, kl, renyi, total_variation
from anhelpers.errors import DataError

WEIGHTS = st.one_of(st.just(0.0), st.floats(1e-6, 1.0))


@st.composite
def pmfs(draw, n=2, largest=7, zeros=True):
    """n distributions over the same outcomes."""
    size = draw(st.integers(2, largest))
    weights = draw(arrays(float, (n, size), elements=WEIGHTS if zeros else st.floats(1e-3, 1.0)))
    assume((weights.sum(1) > 0).all())
    return weights / weights.sum(1, keepdims=True)


def all_divergences(q, r):
    values = {name: d(q, r) for name, d in pmf.DIVERGENCES.items()}
    return values | {f"renyi {a}": renyi(q, r, a) for a in (0.25, 0.5, 2, math.inf)}


# --- by hand -------------------------------------------------------------------------------------------------------


@pytest.mark.verifies(
    "Total variation",
    "Wasserstein-1",
    "Integral probability metric of K critics",
    "Kullback-Leibler divergence",
    "Rényi divergence",
    "Jensen-Shannon divergence",
    "χ² divergence",
    "Entropy",
    "Cross-entropy",
    by="hand",
)
def test_a_small_example_by_hand():
    q, r = [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]
    assert total_variation(q, r) == 0.5
    assert kl(q, r) == pytest.approx(math.log(2), rel=1e-15)
    assert all(
        renyi(q, r, a) == pytest.approx(math.log(2), rel=1e-14) for a in (0, 0.5, 1, 3, math.inf)
    )
    assert pmf.chi_squared(q, r) == 0.0625 / 0.25 * 2 + 0.25 / 0.5
    assert pmf.entropy(q) == pytest.approx(math.log(2), rel=1e-15)
    assert cross_entropy(q, r) == pytest.approx(math.log(4), rel=1e-15)
    # m = (3/8, 3/8, 1/4): half of log 4/3 from q, half of (1/2 log 2/3 + 1/2 log 2) from r
    assert jensen_shannon(q, r) == pytest.approx(
        0.5 * math.log(4 / 3) + 0.25 * math.log(4 / 3), rel=1e-14
    )
    assert pmf.wasserstein(q, r, [0, 1, 2]) == 0.25 + 0.5
    assert ipm(q, r, [[1, 1, 0], [0, 0, -4]]) == 2.0


def test_outcomes_that_one_side_lacks():
    q, r = [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]
    assert (
        kl(q, r)
        == pmf.chi_squared(q, r)
        == cross_entropy(q, r)
        == renyi(q, r, 2)
        == renyi(q, r, math.inf)
        == math.inf
    )
    assert renyi(q, r, 0.5) == pytest.approx(2 * math.log(2))
    assert renyi(q, r, 0) == pytest.approx(math.log(2))
    assert renyi([1, 0], [0, 1], 0.5) == renyi([1, 0], [0, 1], 0) == math.inf
    assert jensen_shannon([1, 0], [0, 1]) == math.log(2)
    assert total_variation([1, 0], [0, 1]) == 1


def test_the_smallest_numbers_do_not_overflow_or_vanish():
    q, r = [5e-324, 1.0], [0.0, 1.0]
    assert 0 <= jensen_shannon(q, r) < 1e-300
    assert kl([1.0, 0.0], [1e-300, 1.0]) == pytest.approx(300 * math.log(10))
    assert renyi([1.0, 0.0], [1e-300, 1.0], 200) == pytest.approx(300 * math.log(10), rel=1e-12)
    assert renyi([0.3, 0.7], [0.7, 0.3], 5000) == pytest.approx(
        renyi([0.3, 0.7], [0.7, 0.3], math.inf), rel=1e-3
    )


# --- properties ----------------------------------------------------------------------------------------------------


@pytest.mark.verifies(
    "Kullback-Leibler divergence", "Jensen-Shannon divergence", "χ² divergence", by="property"
)
@given(pmfs())
def test_divergences_are_not_negative_and_0_only_for_equal(pair):
    q, r = pair
    for name, value in all_divergences(q, r).items():
        assert value >= 0, name
        assert value > 0 or np.abs(q - r).max() < 1e-6, name
        assert all_divergences(q, q)[name] == pytest.approx(0, abs=1e-15)
    assert total_variation(q, r) <= 1
    assert jensen_shannon(q, r) <= math.log(2)
    assert total_variation(q, r) == total_variation(r, q)
    assert jensen_shannon(q, r) == pytest.approx(jensen_shannon(r, q), abs=1e-15)


@pytest.mark.verifies(
    "Kullback-Leibler divergence", "Jensen-Shannon divergence", "χ² divergence", by="property"
)
@given(pmfs(largest=6), st.data())
def test_merging_outcomes_never_tells_more(pair, data):
    group = data.draw(arrays(int, pair.shape[1], elements=st.integers(0, 2)))
    merge = np.eye(3)[group]
    finer, coarser = all_divergences(*pair), all_divergences(*(pair @ merge))
    for name, value in coarser.items():
        assert value <= finer[name] * (1 + 1e-12) + 1e-12, name


@pytest.mark.verifies("Total variation", "Kullback-Leibler divergence", by="property")
@given(pmfs())
def test_inequalities_between_divergences(pair):
    q, r = pair
    tv, chi = total_variation(q, r), pmf.chi_squared(q, r)
    assert 2 * tv**2 <= kl(q, r) + 1e-14  # Pinsker
    assert kl(q, r) <= math.log1p(chi) + 1e-14
    assert jensen_shannon(q, r) <= math.log(2) * tv + 1e-15
    assert jensen_shannon(q, r) >= tv**2 / 2 - 1e-15


@given(pmfs(zeros=False), st.floats(0.01, 0.99))
def test_divergences_are_jointly_convex_except_renyi_above_order_1(pair, weight):
    q, r = pair
    mixed = weight * q + (1 - weight) * r
    half = {"tv", "kl", "js", "chi2", "renyi 0.25", "renyi 0.5"}
    ends, between = all_divergences(q, r), all_divergences(mixed, r)
    for name in half:
        assert between[name] <= weight * ends[name] + 1e-14, name


def test_renyi_above_order_1_is_not_convex_in_its_first_distribution():
    r, a, b = [0.01, 0.99], np.array([1.0, 0.0]), np.array([0.01, 0.99])
    middle = renyi((a + b) / 2, r, 2)
    assert middle > (renyi(a, r, 2) + renyi(b, r, 2)) / 2 + 0.5


@pytest.mark.verifies("Rényi divergence", by="property")
@given(pmfs())
def test_renyi_does_not_fall_with_its_order(pair):
    orders = [0, 1e-6, 0.1, 0.5, 0.9, 0.999, 1 - 1e-9, 1, 1 + 1e-9, 1.001, 1.5, 2, 5, 50, math.inf]
    values = [renyi(*pair, a) for a in orders]
    for low, high in pairwise(values):
        assert low <= high + 1e-13 * (1 + abs(high)) or high == math.inf


@pytest.mark.verifies("Rényi divergence", by="property")
@given(pmfs(zeros=False))
def test_renyi_tends_to_kl_at_order_1(pair):
    bound = 10 * math.log(pair.max() / pair.min()) ** 2 + 1e-12
    for step in (1e-3, 1e-6, 1e-9, 1e-12):
        for order in (1 - step, 1 + step):
            assert abs(renyi(*pair, order) - kl(*pair)) <= step * bound + 1e-15


@pytest.mark.verifies("Kullback-Leibler divergence", by="foreign", of="scipy")
@pytest.mark.verifies("Entropy", "Cross-entropy", by="property")
@given(pmfs())
def test_kl_is_scipys_relative_entropy_and_cross_entropy_minus_entropy(pair):
    q, r = pair
    assert kl(q, r) == pytest.approx(rel_entr(q, r).sum(), rel=1e-12, abs=1e-15)
    assert cross_entropy(q, r) == pytest.approx(kl(q, r) + pmf.entropy(q), rel=1e-13, abs=1e-15)


@pytest.mark.verifies(
    "Jensen-Shannon divergence", "χ² divergence", "Entropy", by="foreign", of="scipy"
)
def test_the_others_are_scipys():
    rng = np.random.default_rng(0)
    for size in (2, 5, 50):
        q, r = rng.dirichlet(np.ones(size), 2)
        assert jensen_shannon(q, r) == pytest.approx(jensenshannon(q, r) ** 2, rel=1e-12)
        assert pmf.chi_squared(q, r) == pytest.approx(chisquare(q, r).statistic, rel=1e-12)
        assert pmf.entropy(q) == pytest.approx(scipy_entropy(q), rel=1e-13)


def decimal_kl(q, r):
    """The definition with 40 digits."""
    with localcontext() as context:
        context.prec = 40
        q, r = ([Decimal(float(v)) for v in p] for p in (q, r))
        return sum(a / sum(q) * (a / sum(q) * sum(r) / b).ln() for a, b in zip(q, r, strict=True))


@pytest.mark.verifies("Kullback-Leibler divergence", by="foreign", of="decimal, 40 digits")
@pytest.mark.parametrize("step", [1e-7, 1e-4, 0.1])
def test_kl_keeps_its_digits_where_q_and_r_nearly_agree(step):
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(50))
    r = q * np.exp(step * rng.normal(size=50))
    r /= r.sum()
    assert kl(q, r) == pytest.approx(float(decimal_kl(q, r)), rel=1e-8, abs=0)


@pytest.mark.verifies("Wasserstein-1", by="foreign", of="scipy")
@given(pmfs(), st.data())
def test_wasserstein_on_a_line_is_scipys_and_the_transport_programs(pair, data):
    q, r = pair
    at = data.draw(arrays(float, len(q), elements=st.floats(-100, 100)))
    cost = np.abs(at[:, None] - at)
    mine = pmf.wasserstein(q, r, at)
    assert mine == pytest.approx(wasserstein_distance(at, at, q, r), abs=1e-12)
    assert pmf.wasserstein(q, r, cost) == pytest.approx(mine, abs=1e-9 * (1 + cost.max()))


@pytest.mark.verifies("Wasserstein-1", by="foreign", of="POT")
@given(pmfs(largest=9), st.integers(0, 10**6))
def test_wasserstein_with_costs_is_pots_and_total_variation_with_the_discrete_metric(pair, seed):
    q, r = pair
    cost = np.random.default_rng(seed).uniform(0, 3, (len(q), len(q)))
    assert pmf.wasserstein(q, r, cost) == pytest.approx(ot.emd2(q, r, cost), abs=1e-9)
    assert pmf.wasserstein(q, r, 1 - np.eye(len(q))) == pytest.approx(
        total_variation(q, r), abs=1e-9
    )


@pytest.mark.verifies("Total variation", "Integral probability metric of K critics", by="property")
@given(pmfs(largest=5))
def test_total_variation_is_the_ipm_of_all_yes_no_critics(pair):
    n = pair.shape[1]
    critics = np.array(np.meshgrid(*[[0, 1]] * n)).reshape(n, -1).T
    assert ipm(*pair, critics) == pytest.approx(total_variation(*pair), abs=1e-15)


@pytest.mark.verifies("Maximum mean discrepancy", by="property")
@given(pmfs(), st.integers(0, 10**6))
def test_mmd_is_the_ipm_of_its_unit_ball_and_euclidean_with_the_identity(pair, seed):
    q, r = pair
    a = np.random.default_rng(seed).normal(size=(len(q), len(q)))
    kernel = a @ a.T
    squared = pmf.mmd_squared(q, r, kernel)
    assert pmf.mmd_squared(q, r, np.eye(len(q))) == pytest.approx(
        ((q - r) ** 2).sum(), rel=1e-12, abs=1e-18
    )
    assert squared == pytest.approx(((a.T @ (q - r)) ** 2).sum(), rel=1e-9, abs=1e-15)
    if squared > 1e-9:  # the best critic K(q - r), scaled to norm 1
        assert ipm(q, r, (kernel @ (q - r) / math.sqrt(squared))[None]) == pytest.approx(
            math.sqrt(squared), rel=1e-9
        )


@pytest.mark.verifies("Cross-entropy", by="property")
@pytest.mark.erratum("AN A.1, after eq. 13")
def test_cross_entropy_is_smallest_at_the_likeliest_outcome_not_at_the_model():
    """Of eq. 13's two terms, KL draws towards f and the entropy, being minimised too, away from diversity."""
    f, sure = [0.5, 0.3, 0.2], [1, 0, 0]
    assert cross_entropy(sure, f) < cross_entropy(f, f)
    assert cross_entropy(sure, f) == pytest.approx(kl(sure, f) + pmf.entropy(sure))
    assert (kl(sure, f) > kl(f, f), pmf.entropy(sure) < pmf.entropy(f)) == (True, True)


# --- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "q", [[0.5, 0.6], [1.5, -0.5], [math.nan, 1.0], [[1.0]], [], [0.5, 0.25, 0.25]]
)
def test_what_is_no_distribution_is_refused_in_one_sentence(q):
    with pytest.raises(DataError):
        total_variation(q, [0.5, 0.5])


def test_distributions_are_scaled_to_add_up_to_1():
    assert checks.pmf("q", [0.5, 0.5 + 9e-10]).sum() == pytest.approx(1, abs=2e-16)
    assert checks.pmf("q", np.float32([0.5, 0.5 + 9e-7])).sum() == pytest.approx(1, abs=2e-16)
    with pytest.raises(DataError):
        cross_entropy([0.5, 0.5], [0.5, 0.5 + 2e-9])


@pytest.mark.parametrize(
    "call",
    [
        lambda q: pmf.wasserstein(q, q, [[0, -1], [1, 0]]),
        lambda q: pmf.wasserstein(q, q, [0, math.inf]),
        lambda q: pmf.wasserstein(q, q, [0, 1, 2]),
        lambda q: renyi(q, q, -1),
        lambda q: renyi(q, q, math.nan),
        lambda q: pmf.mmd_squared(q, q, np.eye(3)),
        lambda q: pmf.mmd_squared(q, q, [[1, 0.5], [0, 1]]),
        lambda q: ipm(q, q, [0, 1]),
        lambda q: ipm(q, q, np.empty((0, 2))),
    ],
)
def test_other_bad_arguments_are_refused(call):
    with pytest.raises(DataError):
        call([0.5, 0.5])


# --- other programs -------------------------------------------------------------------------------------------------


@pytest.mark.verifies("Total variation", by="foreign", of="scipy, POT")
@pytest.mark.verifies(
    "Maximum mean discrepancy", "Rényi divergence", "Cross-entropy", by="foreign", of="scipy"
)
@pytest.mark.parametrize("size", [2, 5, 30])
def test_each_divergence_is_another_programs(size):
    """Cressie and Read's statistic of order α − 1 holds Σ q^α r^(1−α); energy distance is an MMD of its own kernel."""
    rng = np.random.default_rng(size)
    (q, r), at = rng.dirichlet(np.ones(size), 2), rng.normal(size=size)
    assert total_variation(q, r) == pytest.approx(cityblock(q, r) / 2, rel=1e-14)
    assert total_variation(q, r) == pytest.approx(ot.emd2(q, r, 1 - np.eye(size)), rel=1e-12)
    for order in (0.25, 0.5, 0.9, 2, 3.5):
        moment = 1 + order * (order - 1) / 2 * power_divergence(q, r, lambda_=order - 1).statistic
        assert renyi(q, r, order) == pytest.approx(math.log(moment) / (order - 1), rel=1e-11)
    kernel = np.abs(at)[:, None] + np.abs(at) - np.abs(at[:, None] - at)
    assert pmf.mmd_squared(q, r, kernel) == pytest.approx(
        energy_distance(at, at, q, r) ** 2, rel=1e-11
    )
    assert cross_entropy(q, r) == pytest.approx(scipy_entropy(q, r) + scipy_entropy(q), rel=1e-13)


@pytest.mark.verifies("Integral probability metric of K critics", by="foreign", of="scipy")
@pytest.mark.verifies("Wasserstein-1", by="property")
def test_the_largest_gap_of_all_critics_of_slope_one_is_scipys_wasserstein():
    rng = np.random.default_rng(5)
    q, r, at = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6)), np.sort(rng.normal(size=6))
    steps = np.diff(at) * np.array(np.meshgrid(*[[-1, 1]] * 5)).reshape(5, -1).T
    critics = np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps, 1)], axis=1)
    assert ipm(q, r, critics) == pytest.approx(wasserstein_distance(at, at, q, r), rel=1e-12)
