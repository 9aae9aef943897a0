import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from anhelpers.classroom import holds
from anhelpers.errors import DataError
from anhelpers.stats import (
    correlation_interval,
    correlation_p,
    holm,
    mean_ranks,
    p_value,
    pearson,
    share_interval,
    spearman,
)


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
    # the same r says more with more pairs
    assert correlation_p(r, n + 1) <= correlation_p(r, n) + 1e-15


@pytest.mark.verifies("p-value and interval of a correlation", by="foreign", of="scipy")
def test_p_and_interval_of_a_correlation_are_scipys():
    x, y = np.random.default_rng(0).normal(size=(2, 25))
    y += x / 2
    theirs = stats.pearsonr(x, y)
    assert correlation_p(pearson(x, y), 25) == pytest.approx(theirs.pvalue, rel=1e-10)
    np.testing.assert_allclose(
        correlation_interval(pearson(x, y), 25), theirs.confidence_interval(), rtol=1e-10
    )


@pytest.mark.verifies("Spearman's correlation", by="hand")
def test_spearman_by_hand():
    """Ranks 1 2 3 4 5 and 2 1 4 3 5: Σ d² = 4, so ρ = 1 − 6 · 4 / (5 · 24) = 0.8."""
    assert spearman([1, 2, 3, 4, 90], [20, -10, 41, 40, 42]) == pytest.approx(0.8, rel=1e-14)


ODD = st.integers(-2, 2).map(float) | st.sampled_from([-0.0, np.inf, -np.inf, np.nan])


@pytest.mark.verifies("Spearman's correlation", by="foreign", of="scipy's rankdata")
@given(
    arrays(float, st.tuples(st.integers(1, 3), st.integers(0, 3), st.integers(1, 7)), elements=ODD)
)
def test_ranks_are_scipys_ties_and_missing_numbers_included(x):
    np.testing.assert_array_equal(mean_ranks(x), stats.rankdata(x, axis=-1))


@pytest.mark.verifies("Paired randomisation test", by="foreign", of="scipy")
def test_the_randomisation_p_value_is_scipys():
    """All 2⁸ ways to turn the signs of eight differences: the share of means as far from 0."""
    d = np.random.default_rng(1).normal(0.5, 1, 8)
    exact = stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=np.inf
    ).pvalue
    signs = np.array(np.meshgrid(*[[-1, 1]] * 8)).reshape(8, -1)
    every = (d @ signs)[:, None] / 8
    assert p_value([d.mean()], every)[0] == pytest.approx((256 * exact + 1) / 257, rel=1e-12)


@pytest.mark.verifies("Share with Wilson's interval", by="foreign", of="scipy; Newcombe 1998")
@pytest.mark.parametrize(
    ("hits", "n", "newcombe"),
    [
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ],
)
def test_the_interval_of_a_share_is_the_published_one(hits, n, newcombe):
    found = share_interval(hits, n)
    assert tuple(np.round(found, 4)) == newcombe
    theirs = stats.binomtest(hits, n).proportion_ci(method="wilson")
    np.testing.assert_allclose(found, theirs, atol=1e-12)


@pytest.mark.verifies("Share with Wilson's interval", by="hand")
def test_the_interval_of_a_share_by_hand():
    """None of 4: from 0 to z² / (n + z²); 2 of 4: 1/2 ± z · √(1/16 + z²/64) / (1 + z²/4)."""
    z2 = 1.959963984540054**2
    assert share_interval(0, 4) == pytest.approx((0, z2 / (4 + z2)))
    half = (z2 * (1 / 16 + z2 / 64)) ** 0.5 / (1 + z2 / 4)
    assert share_interval(2, 4) == pytest.approx((0.5 - half, 0.5 + half))


@pytest.mark.verifies("Share with Wilson's interval", by="hand")
def test_a_share_of_trials_in_documents():
    """Two documents, each of one mind: one trial, t of 1 degree of freedom. Without a miss: a trial per document."""
    t2 = stats.t.ppf(0.975, 1) ** 2
    half = np.sqrt(t2 * 0.25 + t2 * t2 / 4) / (1 + t2)
    found = share_interval([1, 1, 0, 0], docs=[*"aabb"])
    assert found == pytest.approx((0.5 - half, 0.5 + half))
    z2 = stats.norm.ppf(0.975) ** 2
    assert share_interval(np.ones(12), docs=[*"abc"] * 4) == pytest.approx((3 / (3 + z2), 1))
    even = np.tile([0, 0.5, 1, 1], 50)
    low, high = share_interval(even, docs=np.repeat(range(50), 4))
    assert (low, high) == pytest.approx(share_interval(even.sum(), 200), abs=0.003)
    assert share_interval([1, 0, 0.5], docs=[*"aaa"]) == share_interval(1.5, 3)
    assert np.isnan(share_interval([], docs=[])).all()
    for wrong in ([1, 0], [2, -1, 0], [np.nan, 0, 1]):
        with pytest.raises(DataError):
            share_interval(wrong, docs=[*"aab"])


@pytest.mark.verifies("Share with Wilson's interval", by="property")
@given(st.integers(1, 99).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_hits_and_misses_share_an_interval(of):
    hits, n = of
    low, high = share_interval(hits, n)
    assert 0 <= low <= hits / n <= high <= 1
    assert share_interval(n - hits, n) == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(
    "call",
    [
        lambda: share_interval(5, 3),
        lambda: share_interval(-1, 3),
        lambda: spearman([], []),
        lambda: holds("nan is true", [True, np.nan]),
    ],
)
def test_numbers_without_a_meaning_are_refused(call):
    with pytest.raises(DataError):
        call()
