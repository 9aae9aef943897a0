import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from anhelpers.errors import DataError
from anhelpers.stats import (
    bootstrap_means,
    cluster_counts,
    correlation_interval,
    correlation_p,
    holm,
    p_value,
    pearson,
    resampled_sums,
    spearman,
)


def test_each_resample_draws_as_many_clusters_as_there_are():
    counts, index = cluster_counts(["b", "a", "b"], 50, np.random.default_rng(0))
    assert counts.shape == (50, 2)
    assert (counts.sum(1) == 2).all()
    assert index.tolist() == [1, 0, 1]


@pytest.mark.verifies("Bootstrap over documents", by="hand")
def test_draws_are_the_means_of_resampled_documents():
    x = np.array([[1.0, 10], [3, 30], [100, 7]])
    docs = np.array([0, 0, 1])
    m = bootstrap_means(x, docs, np.random.default_rng(1), n_draws=200)
    possible = {tuple(x[rows].mean(0)) for rows in ([0, 1], [2], [0, 1, 2])}
    possible |= {tuple(x[[0, 1, 0, 1]].mean(0)), tuple(x[[2, 2]].mean(0))}
    assert all(any(np.allclose(d, p) for p in possible) for d in m.draws)
    assert (m.n.tolist(), m.n_clusters) == ([3, 3], 2)
    np.testing.assert_allclose(m.mean, x.mean(0))


@pytest.mark.verifies("Bootstrap over documents", by="property")
def test_the_interval_covers_the_mean_about_95_times_in_100():
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(300):
        m = bootstrap_means(rng.normal(5, 2, (60, 1)), range(60), rng, n_draws=300)
        hits += m.low[0] <= 5 <= m.high[0]
    assert 0.90 <= hits / 300 <= 0.98


@pytest.mark.verifies("Bootstrap over documents", by="property")
def test_columns_of_a_draw_are_paired():
    x = np.random.default_rng(3).normal(size=(40, 1))
    m = bootstrap_means(np.hstack([x, x + 1]), range(40), np.random.default_rng(4))
    np.testing.assert_allclose(m.draws[:, 1] - m.draws[:, 0], 1)


@pytest.mark.parametrize(
    ("x", "docs", "words"),
    [
        ([[1.0], [np.inf]], [0, 1], "numbers"),
        ([[1.0], [2.0]], [0, 0], "1 cluster"),
        ([[1.0]], [0, 1], "lengths differ"),
    ],
)
def test_bad_input_is_one_sentence(x, docs, words):
    with pytest.raises(DataError, match=words):
        bootstrap_means(x, docs, np.random.default_rng(0))


def test_a_missing_value_is_left_out_of_its_own_column():
    x = np.array([[1.0, 5.0], [3.0, np.nan], [5.0, 1.0]])
    m = bootstrap_means(x, range(3), np.random.default_rng(0), 400)
    assert m.mean.tolist() == [3.0, 3.0]
    assert m.n.tolist() == [3, 2]
    assert m.text(column=1).endswith("(n = 2 segments)")
    alone = {tuple(v) for v in m.draws.round(9).tolist()}
    assert all(b in (5.0, 1.0) or 1 < b < 5 or np.isnan(b) for _, b in alone)
    assert (m.low <= m.mean).all()
    with pytest.raises(DataError, match="some in each column"):
        bootstrap_means([[np.nan], [np.nan]], range(2), np.random.default_rng(0))


def test_one_cluster_behind_a_column_gives_no_interval():
    x = np.array([[1.0, 1.0], [3.0, 3.0], [5.0, np.nan]])
    m = bootstrap_means(x, ["a", "a", "b"], np.random.default_rng(0))
    assert m.mean.tolist() == [3.0, 2.0]
    assert np.isfinite([m.low[0], m.high[0], m.se[0]]).all()
    assert np.isnan([m.low[1], m.high[1], m.se[1]]).all()


@pytest.mark.parametrize("largest", [9, 2**21])
def test_sums_of_whole_numbers_are_exact_whatever_their_size(largest):
    rng = np.random.default_rng(0)
    counts, sums = rng.integers(0, 4, (5, 40)), rng.integers(0, largest, (40, 3))
    whole, share = resampled_sums(counts, sums, sums / 7)
    assert (whole == counts @ sums).all()
    np.testing.assert_allclose(share, counts @ sums / 7)


@pytest.mark.verifies("Bootstrap over documents", by="foreign", of="scipy")
def test_the_interval_of_documents_is_scipys():
    """Sums and sizes of 12 documents of 1 to 6 segments, resampled together; the mean is their ratio."""
    rng = np.random.default_rng(5)
    docs = np.repeat(np.arange(12), rng.integers(1, 7, 12))
    x = rng.normal(3, 1, len(docs)) + rng.normal(0, 2, 12)[docs]
    found = bootstrap_means(x, docs, np.random.default_rng(6), 20_000)
    theirs = stats.bootstrap(
        (np.bincount(docs, x), np.bincount(docs)), lambda s, n, axis: s.sum(axis) / n.sum(axis), paired=True,
        method="percentile", n_resamples=20_000, rng=np.random.default_rng(7),
    )  # fmt: skip
    assert found.se[0] == pytest.approx(theirs.standard_error, rel=0.02)
    np.testing.assert_allclose([found.low[0], found.high[0]], theirs.confidence_interval, atol=0.1 * found.se[0])


@pytest.mark.verifies("Holm and Bonferroni", by="foreign", of="statsmodels, recorded")
def test_holm_is_that_of_statsmodels():
    """multipletests(p, method="holm") and "bonferroni" of statsmodels 0.15.0, for seven tests with a tie."""
    p = [0.01, 0.015, 0.03, 0.2, 0.0004, 0.03, 0.6]
    np.testing.assert_allclose(holm(p), [0.06, 0.075, 0.12, 0.4, 0.0028, 0.12, 0.6], rtol=1e-14)
    bonferroni = np.array([0.07, 0.105, 0.21, 1.0, 0.0028, 0.21, 1.0])
    np.testing.assert_allclose(np.minimum(1, 7 * np.array(p)), bonferroni, rtol=1e-14)
    assert (holm(p) <= bonferroni).all()


VARYING = arrays(float, 8, elements=st.integers(-9, 9).map(float)).filter(np.ptp)


@pytest.mark.verifies("Pearson's correlation", "Spearman's correlation", by="property")
@given(VARYING, VARYING, st.sampled_from([-3.0, 0.5]), st.integers(-5, 5))
def test_correlations_do_not_see_the_unit_and_ranks_no_rising_function(x, y, scale, shift):
    r = float(pearson(x, y))
    assert -1 <= r <= 1
    assert r == float(pearson(y, x))
    assert float(pearson(scale * x + shift, y)) == pytest.approx(np.sign(scale) * r, abs=1e-12)
    assert float(spearman(x**3, np.exp(y))) == pytest.approx(float(spearman(x, y)), abs=1e-12)


@pytest.mark.verifies("p-value and interval of a correlation", by="property")
@given(st.floats(-0.999, 0.999), st.integers(4, 300))
def test_p_and_interval_of_a_correlation_agree_and_have_their_symmetries(r, n):
    low, high = correlation_interval(r, n)
    assert low <= r <= high
    np.testing.assert_allclose(correlation_interval(-r, n), (-high, -low), atol=1e-12)
    assert correlation_p(r, n) == correlation_p(-r, n)
    assert correlation_p(r, n + 1) <= correlation_p(r, n) + 1e-15  # the same r says more with more pairs


@pytest.mark.verifies("p-value and interval of a correlation", by="foreign", of="scipy")
def test_p_and_interval_of_a_correlation_are_scipys():
    x, y = np.random.default_rng(0).normal(size=(2, 25))
    y += x / 2
    theirs = stats.pearsonr(x, y)
    assert correlation_p(pearson(x, y), 25) == pytest.approx(theirs.pvalue, rel=1e-10)
    np.testing.assert_allclose(correlation_interval(pearson(x, y), 25), theirs.confidence_interval(), rtol=1e-10)


@pytest.mark.verifies("Spearman's correlation", by="hand")
def test_spearman_by_hand():
    """Ranks 1 2 3 4 5 and 2 1 4 3 5: Σ d² = 4, so ρ = 1 − 6 · 4 / (5 · 24) = 0.8."""
    assert spearman([1, 2, 3, 4, 90], [20, -10, 41, 40, 42]) == pytest.approx(0.8, rel=1e-14)


@pytest.mark.verifies("Paired randomisation test", by="foreign", of="scipy")
def test_the_randomisation_p_value_is_scipys():
    """All 2⁸ ways to turn the signs of eight differences: the share of means as far from 0."""
    d = np.random.default_rng(1).normal(0.5, 1, 8)
    exact = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    signs = np.array(np.meshgrid(*[[-1, 1]] * 8)).reshape(8, -1)
    every = (d @ signs)[:, None] / 8
    assert p_value([d.mean()], every)[0] == pytest.approx((256 * exact + 1) / 257, rel=1e-12)
