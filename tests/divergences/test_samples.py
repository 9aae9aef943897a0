import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from scipy.stats import wasserstein_distance

from anhelpers.divergences import pmf
from anhelpers.divergences.critics import sample_critic_distance
from anhelpers.divergences.samples import kl_from_logprobs, plug_in, wasserstein_1d
from anhelpers.errors import DataError, UnknownName

SCORES = arrays(float, st.integers(2, 12), elements=st.floats(-50, 50))


def seeded(seed=0):
    return np.random.default_rng(seed)


def mean_critic(x, y):
    return sample_critic_distance(x, y, sampled=False)


# --- plug-in -------------------------------------------------------------------------------------------------------


@pytest.mark.verifies("Plug-in divergence of two samples", by="hand")
@pytest.mark.parametrize("name", pmf.DIVERGENCES)
def test_the_plug_in_is_the_divergence_of_the_relative_frequencies(name):
    x, y = list("abbc"), list("aabbccccdd")
    estimate = plug_in(name, x, y, rng=seeded(), n_draws=20)
    assert estimate.value == pmf.DIVERGENCES[name]([0.25, 0.5, 0.25, 0], [0.2, 0.2, 0.4, 0.2])
    assert (estimate.n_q, estimate.n_r) == (4, 10)
    assert "upward" in estimate.bias


def exact_mean(name, q, r, n):
    """The mean of the plug-in over every pair of samples of size n."""
    plain = 0.0
    for x in product(range(len(q)), repeat=n):
        for y in product(range(len(q)), repeat=n):
            p = np.prod(q[list(x)]) * np.prod(r[list(y)])
            estimate = plug_in(name, x, y, rng=seeded(), n_draws=2)
            plain += p * estimate.value
    return plain


@pytest.mark.verifies("Plug-in divergence of two samples", by="property")
def test_the_bias_is_upward():
    q, r = np.array([0.85, 0.15]), np.array([0.3, 0.7])
    assert exact_mean("js", q, r, 4) > pmf.jensen_shannon(q, r)


def test_an_outcome_that_the_reference_lacks_makes_kl_infinite_and_its_error_nan():
    estimate = plug_in("kl", list("aab"), list("aaa"), rng=seeded())
    assert estimate.value == math.inf
    assert math.isnan(estimate.se)
    assert math.isnan(estimate.low)
    assert math.isfinite(plug_in("tv", list("aab"), list("aaa"), rng=seeded()).se)


@pytest.mark.parametrize(
    ("name", "x", "error"),
    [
        ("kll", list("ab"), UnknownName),
        ("kl", ["a"], DataError),
        ("kl", [[0, 1]], DataError),
        ("kl", [0.5, math.nan], DataError),
    ],
)
def test_bad_samples_of_categories_are_refused(name, x, error):
    with pytest.raises(error):
        plug_in(name, x, x, rng=seeded())


# --- scores --------------------------------------------------------------------------------------------------------


@pytest.mark.verifies("Wasserstein-1 of two samples of scores", by="foreign", of="scipy")
@given(SCORES, SCORES)
def test_wasserstein_is_scipys(x, y):
    assert wasserstein_1d(x, y, rng=seeded(), n_draws=2).value == pytest.approx(
        wasserstein_distance(x, y), abs=1e-12
    )


@pytest.mark.verifies("Wasserstein-1 of two samples of scores", by="hand")
def test_wasserstein_with_ties_and_its_error_where_the_samples_are_apart():
    assert wasserstein_1d([1, 1, 2], [1, 2, 2], rng=seeded()).value == pytest.approx(
        1 / 3, abs=1e-15
    )
    # far apart: the difference of means
    x, y = seeded(3).normal(size=400), seeded(4).normal(9, 2, size=300)
    estimate = wasserstein_1d(x, y, rng=seeded(5), n_draws=2000, unit="nats")
    welch = math.sqrt(x.var(ddof=1) / 400 + y.var(ddof=1) / 300)
    assert estimate.value == pytest.approx(y.mean() - x.mean(), rel=1e-12)
    assert estimate.se == pytest.approx(welch, rel=0.06)
    assert (estimate.unit, estimate.n_q, estimate.n_r) == ("nats", 400, 300)
    assert mean_critic(x, y).se == pytest.approx(welch, rel=1e-12)


@pytest.mark.verifies("Difference of means under one critic", by="hand")
def test_one_critic_sees_the_difference_of_means_without_its_sign():
    x, y = [0.0, 2.0], [5.0, 9.0]
    assert mean_critic(x, y).value == mean_critic(y, x).value == 6
    assert mean_critic(x, y).se == pytest.approx(math.sqrt(2 / 2 + 8 / 2))


@pytest.mark.parametrize("bad", [[1.0], [1.0, math.nan], [[1.0, 2.0]], [1.0, math.inf]])
def test_bad_scores_are_refused(bad):
    with pytest.raises(DataError):
        wasserstein_1d(bad, [0, 1], rng=seeded())


@pytest.mark.verifies("Wasserstein-1 of two samples of scores", by="property")
def test_wassersteins_interval_holds_0_where_q_is_r_and_the_truth_where_it_is_not():
    """Value ± 1.96 errors leaves 0 out in two thirds of these samples."""
    for away, least in ((0.0, 0.94), (0.5, 0.93), (3.0, 0.9)):
        found = [
            wasserstein_1d(rng.normal(away, 1, 30), rng.normal(size=40), rng=rng, n_draws=100)
            for rng in map(seeded, range(200))
        ]
        assert np.mean([e.low <= away <= e.high for e in found]) >= least
        if not away:
            assert np.mean([e.p < 0.05 for e in found]) < 0.09
            assert np.mean([e.value - 1.96 * e.se > 0 for e in found]) > 0.4
            assert np.mean([e.chance for e in found]) == pytest.approx(
                np.mean([e.value for e in found]), rel=0.1
            )
            assert all((e.low > 0) == (e.p <= 0.025) for e in found)


def test_scores_of_a_document_are_drawn_together():
    rng = seeded(4)
    docs = np.repeat(np.arange(15), 8)
    found = []
    for _ in range(150):
        x, y = (np.repeat(rng.normal(size=15), 8) + 0.5 * rng.normal(size=120) for _ in range(2))
        found.append(
            [
                wasserstein_1d(x, y, rng=rng, n_draws=100, docs_x=d, docs_y=d).p < 0.05
                for d in (docs, None)
            ]
        )
    by_document, by_score = np.mean(found, 0)
    assert by_document < 0.11
    assert by_score > 0.3
    with pytest.raises(DataError):
        wasserstein_1d([1.0, 2.0], [1.0, 2.0], rng=rng, docs_x=["a", "a"])
    with pytest.raises(DataError):
        wasserstein_1d([1.0, 2.0], [1.0, 2.0], rng=rng, docs_y=["a", "b", "c"])


@pytest.mark.verifies("Plug-in divergence of two samples", by="property")
@pytest.mark.parametrize("name", ["tv", "js"])
def test_plug_in_intervals_hold_0_where_q_is_r_and_the_truth_where_it_is_not(name):
    r, covered, left_out = np.array([0.4, 0.3, 0.2, 0.1]), [], []
    for seed in range(80):
        rng = seeded(seed)
        same, other = (
            plug_in(name, rng.choice(4, 50, p=p), rng.choice(4, 50, p=r), rng=rng, n_draws=80)
            for p in (r, r[::-1])
        )
        left_out.append(same.low > 0)
        covered.append(other.low <= pmf.DIVERGENCES[name](r[::-1], r) <= other.high)
        assert 0 <= same.low <= same.value <= same.high
    assert np.mean(left_out) < 0.1
    assert np.mean(covered) > 0.88


def test_a_resample_that_makes_a_divergence_infinite_leaves_no_upper_end():
    found = plug_in("kl", list("aabb"), list("abbb"), rng=seeded())
    assert (found.low, found.high) == (0, math.inf)
    assert math.isnan(found.se)


# --- log-probabilities ---------------------------------------------------------------------------------------------


@pytest.mark.verifies("KL from known log-probabilities", by="property")
def test_kl_from_logprobs_is_unbiased_over_every_sample():
    q, f = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.3, 0.5])
    mean = second = 0.0
    for y in product(range(3), repeat=3):
        estimate = kl_from_logprobs(np.log(q[list(y)]), np.log(f[list(y)]))
        mean += np.prod(q[list(y)]) * estimate.value
        second += np.prod(q[list(y)]) * estimate.se**2
    ratio = np.log(q / f)
    assert mean == pytest.approx(pmf.kl(q, f), rel=1e-14)
    # so is the squared error
    assert second == pytest.approx((q @ ratio**2 - (q @ ratio) ** 2) / 3, rel=1e-13)


@pytest.mark.erratum("AN A.2, eq. 14")
def test_conditional_log_probabilities_give_kl_plus_mutual_information():
    # two sources, equally likely
    given_x, f = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]), np.array([0.2, 0.5, 0.3])
    marginal = given_x.mean(0)
    limit = 0.5 * (given_x * np.log(given_x / f)).sum()  # what eq. 14 tends to with log q(y | x)
    information = pmf.entropy(marginal) - 0.5 * (pmf.entropy(given_x[0]) + pmf.entropy(given_x[1]))
    assert limit == pytest.approx(pmf.kl(marginal, f) + information, rel=1e-14)
    counts = (given_x * 10).round().astype(int)  # a sample in exactly these proportions
    x = np.repeat([0, 0, 0, 1, 1, 1], counts.ravel())
    y = np.repeat([0, 1, 2, 0, 1, 2], counts.ravel())
    assert kl_from_logprobs(np.log(given_x[x, y]), np.log(f[y])).value == pytest.approx(
        limit, rel=1e-13
    )


def test_missing_pairs_are_left_out_and_counted_and_negative_values_stay():
    estimate = kl_from_logprobs([-3.0, math.nan, -2.0, -9.0], [-1.0, -1.0, -1.0, math.nan])
    assert (estimate.value, estimate.n_q, estimate.n_r, estimate.left_out) == (-1.5, 2, 0, 2)
    assert estimate.se == pytest.approx(0.5)
    assert (estimate.bias, estimate.unit) == ("unbiased", "nats")


def test_outputs_of_a_document_stand_or_fall_together():
    log_q, docs = np.array([-3.0, -2.0, -5.0, -4.0, -2.0, -1.0]), list("aabbcc")
    found = kl_from_logprobs(log_q, [-6.0] * 6, docs)
    means = np.array([-2.5, -4.5, -1.5])
    assert found.se == pytest.approx(stats.sem(means), rel=1e-12)
    assert found.interval == pytest.approx(
        stats.t.interval(0.95, 2, found.value, found.se), rel=1e-10
    )
    assert "(n = 6 in 3 documents; unbiased)" in str(found)
    assert "only 3 documents" in str(found)
    alone = kl_from_logprobs(log_q, [-6.0] * 6, range(6))
    assert (alone.se, alone.n_docs) == (kl_from_logprobs(log_q, [-6.0] * 6).se, 0)


def test_an_output_that_the_language_model_excludes_makes_it_infinite():
    estimate = kl_from_logprobs([-1.0, -1.0], [-1.0, -math.inf])
    assert estimate.value == math.inf
    assert math.isnan(estimate.se)


@pytest.mark.parametrize(
    ("log_q", "log_f", "place"),
    [
        ([-1.0, 0.25], [-1.0, -1.0], "log_q, line 2:"),
        ([-1.0, -1.0, -1.0], [-1.0, -1.0, 1e-4], "log_f, line 3:"),
        ([-math.inf, -1.0], [-1.0, -1.0], "log_q, line 1:"),
        ([-1.0, -1.0], [-1.0], ""),
        ([-1.0, math.nan], [-1.0, -1.0], ""),
        ([[-1.0]], [[-1.0]], ""),
    ],
)
def test_bad_log_probabilities_are_refused_with_their_line(log_q, log_f, place):
    with pytest.raises(DataError, match=place or None):
        kl_from_logprobs(log_q, log_f)


def test_rounding_above_a_certain_output_is_no_error():
    assert kl_from_logprobs([3e-7, -1.0], [-1.0, -2.0]).value == 1.0
    with pytest.raises(DataError, match="log_q, line 1"):
        kl_from_logprobs([1e-3, -1.0], [-1.0, -2.0])


# --- other programs -------------------------------------------------------------------------------------------------


@pytest.mark.verifies("Plug-in divergence of two samples", by="foreign", of="scipy")
def test_plug_ins_are_scipys_of_the_counts():
    x, y = (seeded(k).integers(0, 4, 60) for k in (1, 2))
    p, r = (np.bincount(v, minlength=4) for v in (x, y))
    assert plug_in("kl", x, y, rng=seeded(), n_draws=2).value == pytest.approx(
        stats.entropy(p, r), rel=1e-12
    )
    chi = stats.chisquare(p / 60, r / 60).statistic
    assert plug_in("chi2", x, y, rng=seeded(), n_draws=2).value == pytest.approx(chi, rel=1e-12)


@pytest.mark.verifies("Difference of means under one critic", by="property")
@pytest.mark.verifies("Difference of means under one critic", by="foreign", of="scipy")
def test_the_error_of_a_difference_of_means_is_that_of_welchs_test():
    x, y = seeded(6).normal(size=30), seeded(7).normal(1, 3, size=19)
    found = mean_critic(x, y)
    assert found.value / found.se == pytest.approx(
        abs(stats.ttest_ind(x, y, equal_var=False).statistic), rel=1e-12
    )
    assert (mean_critic(5 - 3 * x, 5 - 3 * y).value, mean_critic(x, x + 2).value) == pytest.approx(
        (3 * found.value, 2)
    )


@pytest.mark.verifies("KL from known log-probabilities", by="foreign", of="scipy")
def test_kl_from_logprobs_is_scipys_relative_entropy_and_error():
    """A sample of 20 outputs in exactly the system's proportions."""
    q, f, n = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.6, 0.3]), np.array([10, 6, 4])
    y = np.repeat([0, 1, 2], n)
    found = kl_from_logprobs(np.log(q[y]), np.log(f[y]))
    assert found.value == pytest.approx(stats.entropy(q, f), rel=1e-13)
    assert found.se == pytest.approx(stats.sem(np.log(q / f)[y]), rel=1e-12)
    student = stats.t.interval(0.95, len(y) - 1, found.value, found.se)
    assert found.interval == pytest.approx(student, rel=1e-10)
