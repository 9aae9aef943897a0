"""What chance alone gives, on numbers whose interval is known in closed form."""

import numpy as np
import pytest
from scipy import stats

from anhelpers.divergences.samples import _resampled, along_a_line


def seeded(seed=0):
    return np.random.default_rng(seed)


def size(gaps):
    return np.abs(gaps).sum(-1)


@pytest.mark.verifies("Wasserstein-1 of two samples of scores", by="hand")
def test_the_lower_end_is_the_least_distance_from_which_the_estimate_still_comes():
    """|N(λ, 1)| reaches 3 in 2.5 % of the draws where λ is 3 - 1.96; for an estimate of 1 that holds from 0 on."""
    noise = stats.norm.ppf((np.arange(4000) + 0.5) / 4000)[:, None]
    far, _ = along_a_line(size, np.array([3.0]), noise, n=1e9, se=1.0)
    assert far.low == pytest.approx(3 - stats.norm.ppf(0.975), abs=0.03)
    assert far.high == pytest.approx(3 + stats.norm.ppf(0.975), abs=0.03)
    assert far.p == pytest.approx(2 * stats.norm.sf(3), abs=5e-4)
    assert far.chance == pytest.approx(np.sqrt(2 / np.pi), abs=1e-3)
    near, _ = along_a_line(size, np.array([1.0]), noise, n=1e9, se=1.0)
    assert near.low == 0
    assert near.p == pytest.approx(2 * stats.norm.sf(1), abs=5e-4)


def test_without_noise_the_interval_is_the_point_and_without_a_difference_it_begins_at_0():
    still = np.zeros((50, 3))
    found, se = along_a_line(size, np.array([1.0, -2.0, 0.0]), still, n=20)
    assert (se, found.high) == (0, 3)
    assert found.low == pytest.approx(3, rel=0.02)
    same, _ = along_a_line(size, np.zeros(3), seeded().normal(size=(400, 3)), n=20)
    assert (same.low, same.p) == (0, 1)
    assert same.high > 0


def test_noise_of_texts_has_the_covariance_of_a_mean_over_documents():
    docs = np.array([0, 0, 0, 1, 1, 2, 3, 3])
    x = seeded(1).normal(size=8)
    moved, counting = _resampled(8, docs, 40_000, seeded(2))
    np.testing.assert_allclose(moved.sum(1), 0, atol=1e-12)
    sums = np.bincount(docs, x - x.mean()) / 8
    assert (moved @ x).std() == pytest.approx(np.sqrt(4 / 3 * sums @ sums), rel=0.02)
    assert counting == pytest.approx(64 / (9 + 4 + 1 + 4))
    alone, n = _resampled(8, None, 40_000, seeded(3))
    assert (alone @ x).std() == pytest.approx(stats.sem(x), rel=0.02)
    assert n == 8
