"""Appendix E, D_2: second moments against critics drawn one by one, and the estimate of eq. 38 against counting."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.spatial.distance import mahalanobis
from scipy.special import ndtri
from scipy.stats import lognorm

from anhelpers.divergences import samples
from anhelpers.divergences.critics import critic_distance
from anhelpers.divergences.processes import (
    CriticProcess,
    draw_critics,
    estimate_distance,
    log_gp_white,
    memed,
    memed_matrices,
    memed_samples,
    memed_squared,
    second_moment,
)
from anhelpers.errors import DataError
from tests.divergences.conftest import KERNEL, MEANS, N_DRAWS, Q, R, off

LINKS = ["identity", "exp", "probit"]


@pytest.mark.verifies("Moments of GP and log-GP critics", by="property")
@pytest.mark.parametrize("mean", MEANS, ids=["m=0", "m", "m far"])
@pytest.mark.parametrize("link", LINKS)
def test_moments_are_those_of_drawn_critics(link, mean):
    """Eqs. 54 and 60 hold, on the diagonal, too."""
    process = CriticProcess(link, mean, KERNEL)
    f = draw_critics(process, N_DRAWS, np.random.default_rng(7))
    for x, y in product(range(4), repeat=2):
        pairs = f[:, x] * f[:, y]
        assert abs(pairs.mean() - second_moment(process)[x, y]) < 4 * pairs.std() / math.sqrt(
            N_DRAWS
        )


@pytest.mark.verifies("D_p of drawn critics", by="property")
@pytest.mark.parametrize("mean", MEANS, ids=["m=0", "m", "m far"])
@pytest.mark.parametrize("link", LINKS)
def test_memed_is_d2_of_drawn_critics(link, mean):
    process = CriticProcess(link, mean, KERNEL)
    found = estimate_distance(Q, R, process, np.random.default_rng(8), power=2, n_critics=N_DRAWS)
    assert off(found, memed(Q, R, second_moment(process))) < 4
    assert memed(Q, R, second_moment(process)) ** 2 == pytest.approx(
        memed_squared(Q, R, second_moment(process))
    )


@pytest.mark.verifies("MeMeD D_2", by="property")
def test_memed_of_finitely_many_critics_is_d2():
    """C = Fᵀ F / K for K critics, each as probable: Theorem E.2 without any process."""
    critics = np.random.default_rng(9).normal(size=(5, 4))
    assert memed(Q, R, critics.T @ critics / 5) == pytest.approx(
        critic_distance(Q, R, critics, power=2), rel=1e-13
    )


@pytest.mark.erratum("AN Theorem E.5, proof")
def test_errata_theorem_e5_has_the_link_the_wrong_way_round():
    """λ∘f is the Gaussian process, so f = Φ(g) is λ = Φ⁻¹; with λ = Φ as printed eq. 35 asks for Φ⁻¹ of any number."""
    g = draw_critics(CriticProcess("identity", MEANS[1], KERNEL), 1000, np.random.default_rng(10))
    assert np.isnan(ndtri(g)).any(axis=0).all()
    again = draw_critics(CriticProcess("probit", MEANS[1], KERNEL), 1000, np.random.default_rng(10))
    np.testing.assert_allclose(ndtri(again), g, rtol=0, atol=1e-9)


@pytest.mark.verifies("D_2 of log-GP critics with white noise", by="property")
@pytest.mark.erratum("AN eq. 58")
@pytest.mark.parametrize(
    "mean", [np.zeros(4), np.array([0.3, -0.5, 0.2, 0.6]), np.log([50, 20, 90, 40])]
)
def test_errata_eq58(mean):
    """Printed D_2 = e |E_q e^m - E_r e^m|. The factor belongs to D_2², and outcomes with a probability keep a term."""
    process = CriticProcess("exp", mean, np.eye(4))
    found = estimate_distance(Q, R, process, np.random.default_rng(11), power=2, n_critics=N_DRAWS)
    gap = abs(np.exp(mean) @ (Q - R))
    right = log_gp_white(Q, R, mean)
    assert off(found, right) < 4
    assert right == pytest.approx(memed(Q, R, second_moment(process)), rel=1e-12)
    assert off(found, math.e * gap) > 10
    # the factor alone is not enough where there are atoms
    assert off(found, math.sqrt(math.e) * gap) > 10


@pytest.mark.verifies("MeMeD D_2² from samples", by="property")
@pytest.mark.erratum("AN Theorem E.2")
def test_memed_samples_are_unbiased_by_counting_all_samples():
    """All 3³ · 3² samples of 3 + 2 outcomes, each with its probability: the mean is D_2² to rounding."""
    q, r = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    for link in LINKS:
        process = CriticProcess(link, MEANS[1][:3], KERNEL[:3, :3])
        c, mean, root = second_moment(process), 0.0, 0.0
        for x, y in product(product(range(3), repeat=3), product(range(3), repeat=2)):
            weight = q[list(x)].prod() * r[list(y)].prod()
            value = memed_matrices(c[np.ix_(x, x)], c[np.ix_(x, y)], c[np.ix_(y, y)]).value
            mean += weight * value
            root += weight * math.sqrt(max(value, 0))
        assert mean == pytest.approx(memed_squared(q, r, c), rel=1e-12)
        # the text names D_2: its root is not without bias
        assert abs(root - memed(q, r, c)) > 0.05 * root


def rows(n, rng):
    return rng.normal(size=(n, 3))


def rbf(x, y):
    return np.exp(-((x[:, None] - y) ** 2).sum(-1))


@pytest.mark.verifies("MeMeD D_2² from samples", by="property")
@pytest.mark.parametrize("link", LINKS)
def test_memed_samples_in_blocks_are_the_definition(link, monkeypatch):
    rng = np.random.default_rng(12)
    x, y, process = rows(11, rng), rows(7, rng), CriticProcess(link, lambda t: t[:, 0], rbf)
    wanted = memed_matrices(
        second_moment(process, x), second_moment(process, x, y), second_moment(process, y)
    )
    sums = second_moment(process, x).sum() - np.trace(second_moment(process, x))
    sums_y = second_moment(process, y).sum() - np.trace(second_moment(process, y))
    by_hand = sums / 110 + sums_y / 42 - 2 * second_moment(process, x, y).mean()
    assert wanted.value == pytest.approx(by_hand, rel=1e-12)
    for block in (1, 3, 7, 100):
        monkeypatch.setattr(samples, "_BLOCK", block)
        found = memed_samples(x, y, process)
        assert found.value == pytest.approx(wanted.value, rel=1e-10)
        assert found.se == pytest.approx(wanted.se, rel=1e-10)


def test_memed_samples_take_texts_and_equal_texts_share_a_score():
    """Words as texts and white noise: a finite process over the same words gives the same numbers."""
    words, perplexity = ["a", "b", "c"], {"a": 2.0, "b": 3.0, "c": 5.0}
    process = CriticProcess(
        "exp",
        lambda t: np.log([perplexity[w] for w in t]),
        lambda s, t: np.equal.outer(np.array(s), np.array(t)) * 1.0,
    )
    finite = CriticProcess("exp", np.log([2, 3, 5]), np.eye(3))
    x, y = [0, 0, 1, 2], [1, 1, 2, 0, 0]
    found = memed_samples([words[i] for i in x], [words[i] for i in y], process)
    assert found.value == pytest.approx(memed_samples(x, y, finite).value, rel=1e-12)
    assert found.se == pytest.approx(memed_samples(x, y, finite).se, rel=1e-12)


@pytest.mark.verifies("MeMeD D_2² from samples", by="hand")
def test_memed_samples_hand_worked():
    """White noise alone: C = 1[x = y]. One equal pair of three among x, none among y, two equal pairs across."""
    found = memed_samples([0, 0, 1], [1, 2], CriticProcess("identity", np.zeros(3), np.eye(3)))
    assert found.value == pytest.approx(2 / 6 + 0 - 2 * 1 / 6, abs=1e-16)
    below = memed_samples([0, 1], [1, 0], CriticProcess("identity", np.zeros(3), np.eye(3)))
    assert (below.value, below.n_q, below.n_r, below.bias) == (-1.0, 2, 2, "unbiased")


@pytest.mark.parametrize("link", LINKS)
def test_memed_standard_error_is_the_spread_of_repetitions(link):
    rng = np.random.default_rng(13)
    c, found = second_moment(CriticProcess(link, MEANS[1], KERNEL)), []
    for _ in range(300):
        x, y = rng.choice(4, 150, p=Q), rng.choice(4, 100, p=R)
        found.append(memed_matrices(*(c[np.ix_(*pair)] for pair in ((x, x), (x, y), (y, y)))))
    values = np.array([f.value for f in found])
    assert np.mean([f.se for f in found]) == pytest.approx(values.std(ddof=1), rel=0.15)
    assert abs(values.mean() - memed_squared(Q, R, c)) < 4 * values.std() / math.sqrt(300)


def test_memed_refuses_what_cannot_be():
    for call in (
        lambda: memed([1, 0], [0, 1], [[1, 2], [2, 1]]),
        lambda: memed([1, 0], [0, 1], [[1]]),
        lambda: memed_matrices([[1]], [[1, 2]], [[1]]),
        lambda: memed_samples([0], [0, 0], CriticProcess("identity", [0], [[1]])),
        lambda: memed_samples([0, 0], [0, 0], CriticProcess("exp", [400.0], [[1.0]])),
        lambda: memed_samples(
            [1.0, np.nan], [2.0, 3.0], CriticProcess("exp", np.array, np.multiply.outer)
        ),
    ):
        with pytest.raises(DataError):
            call()
    for x in ([], [0, 1, -1], [2, 0], [0.0, 1.0]):
        with pytest.raises(DataError):
            memed_samples(x, [0, 1], CriticProcess("identity", [0, 0], np.eye(2)))


@pytest.mark.verifies("MeMeD D_2", by="foreign", of="scipy")
@pytest.mark.verifies("MeMeD D_2² from samples", by="foreign", of="torchmetrics")
@pytest.mark.parametrize("link", LINKS)
def test_memed_is_scipys_mahalanobis_and_its_estimate_that_of_torchmetrics(link, torchmetrics_mmd):
    process, rng = CriticProcess(link, MEANS[1], KERNEL), np.random.default_rng(15)
    c = second_moment(process)
    assert memed(Q, R, c) == pytest.approx(mahalanobis(Q, R, c), rel=1e-12)
    assert memed_squared(Q, R, c) == pytest.approx(mahalanobis(Q, R, c) ** 2, rel=1e-12)
    x, y = rng.choice(4, 9, p=Q), rng.choice(4, 9, p=R)
    theirs = torchmetrics_mmd(c[np.ix_(x, x)], c[np.ix_(x, y)], c[np.ix_(y, y)])
    assert memed_samples(x, y, process).value == pytest.approx(theirs, rel=1e-10)


@pytest.mark.verifies("D_2 of log-GP critics with white noise", by="foreign", of="scipy")
def test_log_gp_white_is_of_scipys_log_normal_moments():
    """Independent critics: D_2² is the square of the mean gap plus the variances, each by (q − r)²."""
    mean = np.array([0.3, -0.5, 0.2, 0.6])
    theirs = lognorm(1, scale=np.exp(mean))
    wanted = ((Q - R) @ theirs.mean()) ** 2 + (Q - R) ** 2 @ theirs.var()
    assert log_gp_white(Q, R, mean) ** 2 == pytest.approx(wanted, rel=1e-12)
