"""Theorem E.3: closed forms against critics drawn one by one; what is printed is shown to be wrong where it is."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gamma, ndtr
from scipy.stats import foldnorm, lognorm

from anhelpers.divergences.critics import critic_distance
from anhelpers.divergences.processes import (
    CriticProcess,
    draw_critics,
    estimate_distance,
    folded_norm,
    gp_distance,
    log_gp_white,
    memed_squared,
    second_moment,
)
from anhelpers.errors import DataError, UnknownName
from tests.divergences.conftest import KERNEL, MEANS, N_DRAWS, Q, R, off


@pytest.mark.verifies("D_p of Gaussian-process critics", "D_p of drawn critics", by="property")
@pytest.mark.parametrize("mean", MEANS, ids=["m=0", "m", "m far"])
@pytest.mark.parametrize("power", [0.5, 1, 2, 3, 5])
def test_gp_distance_is_that_of_drawn_critics(mean, power):
    process = CriticProcess("identity", mean, KERNEL)
    found = estimate_distance(
        Q, R, process, np.random.default_rng(1), power=power, n_critics=N_DRAWS
    )
    assert found.se < 0.01 * found.value
    assert off(found, gp_distance(Q, R, process, power=power)) < 4


@pytest.mark.verifies("Mean size of a normal number", by="foreign", of="mpmath, 40 digits")
@pytest.mark.parametrize("power", [0.1, 0.5, 1, 1.5, 2, 3, 7.3, 29.9, 30.1, 100, 333.3, 1e4])
def test_folded_norm_in_40_digits(power):
    """Eq. 51 as printed, in 40 digits, where float64 overflows or cancels, too."""
    mp = pytest.importorskip("mpmath", reason="pip install mpmath")
    for s in (0, 1e-6, 0.1, 1, 4, 29.9, 30.1, 60):
        with mp.workdps(40):
            p, z = mp.mpf(power), mp.mpf(s) ** 2 / 2
            # Kummer: M(-p/2, 1/2, -z)
            series = mp.exp(-z) * mp.hyp1f1((1 + p) / 2, 0.5, z, maxterms=10**6)
            wanted = float(
                mp.sqrt(2) * (mp.gamma((1 + p) / 2) / mp.sqrt(mp.pi) * series) ** (1 / p)
            )
        assert folded_norm(3 * s, 3, power) == pytest.approx(3 * wanted, rel=5e-14)


@pytest.mark.verifies("Mean size of a normal number", by="property")
@given(st.floats(-5, 5), st.floats(0.01, 5), st.floats(0.1, 40))
def test_folded_norm_has_no_seams(mu, sigma, power):
    near = folded_norm(mu, sigma, power)
    assert near == folded_norm(-mu, sigma, power)
    assert near <= folded_norm(mu, sigma, power * 1.01)
    assert near == pytest.approx(sigma * folded_norm(mu / sigma, 1, power), rel=1e-12)
    assert near == pytest.approx(folded_norm(mu, sigma, power * (1 + 1e-9)), rel=1e-8)


def test_folded_norm_at_its_ends():
    assert folded_norm(-3, 0, 7) == 3
    assert folded_norm(0, 0, 1) == 0
    assert folded_norm(3, 1e-300, 40) == 3
    assert folded_norm(1e200, 1, 0.5) == 1e200
    assert folded_norm(1, 1, math.inf) == math.inf
    assert folded_norm(-2, 0, math.inf) == 2
    with pytest.raises(DataError):
        folded_norm(1, 1, 0)


def sizes(mu, sigma, power):
    """|σε + μ|^p of drawn ε: mean and standard error."""
    drawn = np.abs(mu + sigma * np.random.default_rng(5).standard_normal(N_DRAWS)) ** power
    return drawn.mean(), drawn.std() / math.sqrt(N_DRAWS)


@pytest.mark.erratum("AN eq. 46")
@pytest.mark.parametrize(("mu", "sigma"), [(2, 0.5), (0.7, 1), (-0.7, 1), (3, 2)])
def test_errata_eq46(mu, sigma):
    """The last term of D_1 is printed μ (1 - Φ(μ/σ)); the mean of a folded normal has μ (1 - 2Φ(-μ/σ))."""
    mean, se = sizes(mu, sigma, 1)
    bell = math.sqrt(2 / math.pi) * sigma * math.exp(-(mu**2) / (2 * sigma**2))
    printed, right = bell + mu * (1 - ndtr(mu / sigma)), bell + mu * (1 - 2 * ndtr(-mu / sigma))
    assert abs(printed - mean) > 10 * se
    assert abs(right - mean) < 4 * se
    assert folded_norm(mu, sigma) == pytest.approx(right, rel=1e-13)
    if (mu, sigma) == (2, 0.5):
        assert (round(printed, 4), round(right, 4)) == (0.0002, 2.0)


@pytest.mark.erratum("AN eq. 49")
def test_errata_eq49():
    """The variance of E_q f - E_r f is the double integral of k, which is MMD² and not MMD."""
    gaps = draw_critics(
        CriticProcess("identity", MEANS[1], KERNEL), N_DRAWS, np.random.default_rng(6)
    ) @ (Q - R)
    double_integral = (Q - R) @ KERNEL @ (Q - R)
    mmd = gp_distance(Q, R, CriticProcess("identity", MEANS[0], KERNEL), power=2)
    variance, se = gaps.var(), gaps.var() * math.sqrt(2 / N_DRAWS)
    assert abs(variance - double_integral) < 4 * se
    assert abs(variance - mmd) > 10 * se
    assert mmd**2 == pytest.approx(double_integral, rel=1e-13)


@pytest.mark.erratum("AN eq. 52")
@pytest.mark.parametrize(("sigma", "power"), [(1, 3), (1, 1.5), (0.3, 2), (4, 6)])
def test_errata_eq52(sigma, power):
    """Printed σ √(2/π) Γ((1+p)/2)^(1/p): √π stands outside the root. Right: σ √2 (Γ((1+p)/2) / √π)^(1/p)."""
    mean, se = sizes(0, sigma, power)
    printed = sigma * math.sqrt(2 / math.pi) * gamma((1 + power) / 2) ** (1 / power)
    right = sigma * math.sqrt(2) * (gamma((1 + power) / 2) / math.sqrt(math.pi)) ** (1 / power)
    assert abs(printed**power - mean) > 10 * se
    assert abs(right**power - mean) < 4 * se
    assert folded_norm(0, sigma, power) == pytest.approx(right, rel=1e-13)
    if (sigma, power) == (1, 3):
        assert (round(printed, 3), round(right, 3)) == (0.798, 1.169)


@pytest.mark.erratum("AN eq. 52")
@pytest.mark.parametrize("mean", MEANS, ids=["m=0", "m", "m far"])
def test_errata_eq47_holds_for_the_right_eq52_and_for_any_mean(mean):
    """√(e/(p+1)) D_p → MMD; with eq. 52 as printed the limit would be MMD / √π. A mean adds at most |μ| √(e/(p+1))."""
    p, mmd = 1e8, gp_distance(Q, R, CriticProcess("identity", MEANS[0], KERNEL), power=2)
    mu = float(mean @ (Q - R))
    limit = math.sqrt(math.e / (p + 1)) * gp_distance(
        Q, R, CriticProcess("identity", mean, KERNEL), power=p
    )
    assert abs(limit - mmd) <= abs(mu) * math.sqrt(math.e / (p + 1)) + 1e-7 * mmd
    printed = (
        math.sqrt(math.e / (p + 1) * 2 / math.pi) * math.exp(math.lgamma((1 + p) / 2) / p) * mmd
    )
    assert printed == pytest.approx(mmd / math.sqrt(math.pi), rel=1e-6)


@pytest.mark.erratum("AN Theorem E.3, weak convergence")
def test_errata_theorem_e3_the_mean_alone_can_metrize_two_outcomes():
    """ "D_p metrizes weak convergence iff MMD_k does" is about m = 0: here MMD is 0 for all pairs and D_p is not."""
    process = CriticProcess("identity", [0, 1], np.zeros((2, 2)))
    for a, b in [(0.3, 0.8), (0.0, 0.01)]:
        q, r = [1 - a, a], [1 - b, b]
        assert memed_squared(q, r, process.cov) == 0
        assert gp_distance(q, r, process, power=3) == pytest.approx(abs(a - b))
    assert (
        gp_distance([1, 0], [0.6, 0.4], CriticProcess("identity", [0, 0], np.eye(2)), power=2) > 0.5
    )


@pytest.mark.erratum("AN Theorem E.3, weak convergence")
def test_three_outcomes_need_a_covariance_that_sees_all_directions_but_the_means():
    """One mean is one direction: with k = 0 it is blind to (1, -2, 1)/4, which k = v vᵀ sees; and the reverse."""
    q, mean, v = np.array([0.25, 0.5, 0.25]), np.array([0.0, 1, 2]), np.array([1.0, 0, 1])
    unlike, further = q + np.array([1, -2, 1]) / 4, q + np.array([-1, 0, 1]) / 4
    blind, both = (CriticProcess("identity", mean, k) for k in (np.zeros((3, 3)), np.outer(v, v)))
    assert gp_distance(q, unlike, blind, power=3) == 0 < gp_distance(q, further, blind, power=3)
    assert memed_squared(q, further, both.cov) == 0
    rng = np.random.default_rng(7)
    for a, b in [(q, unlike), (q, further), *(rng.dirichlet(np.ones(3), 2) for _ in range(20))]:
        assert gp_distance(a, b, both, power=3) > 1e-3


@pytest.mark.erratum("AN §5.1, on E.1.2")
def test_errata_the_gap_of_log_perplexities_is_d_1_of_one_critic_and_not_that_of_e_1_2():
    """R has 2 nats a token; one system always 3, another 1 or 4.5: by LPP the first is further away, by E.1.2 not."""
    lpp, r = np.array([2, 3, 1, 4.5]), np.array([1.0, 0, 0, 0])
    steady, torn = np.array([0, 1.0, 0, 0]), np.array([0, 0, 0.5, 0.5])
    one, none = lpp[None], np.zeros((4, 4))
    for q, gap in ((steady, 1.0), (torn, 0.75)):
        assert critic_distance(q, r, one) == pytest.approx(gap)  # eq. 4
        for power in (1, 2, 3):
            # eq. 45
            assert gp_distance(
                q, r, CriticProcess("identity", lpp, none), power=power
            ) == pytest.approx(gap)
    assert log_gp_white(steady, r, lpp) < log_gp_white(torn, r, lpp)
    assert abs(np.exp(lpp) @ (steady - r)) < abs(np.exp(lpp) @ (torn - r))


def test_a_covariance_that_is_no_kernel_is_refused():
    process = CriticProcess("identity", [0, 0], [[1, 2], [2, 1]])
    with pytest.raises(DataError):
        draw_critics(process, 3, np.random.default_rng(0))
    with pytest.raises(DataError):
        gp_distance([1, 0], [0, 1], process)


def test_a_process_says_what_is_wrong():
    with pytest.raises(UnknownName):
        CriticProcess("probits", [0], [[1]])
    for call in (
        lambda: CriticProcess("exp", [0, 0], [[1]]),
        lambda: CriticProcess("exp", [0, 0], [[1, 0], [1, 1]]),
        lambda: CriticProcess("exp", [0, np.nan], np.eye(2)),
    ):
        with pytest.raises(DataError):
            call()
    for few in (0, 1):
        with pytest.raises(DataError):
            estimate_distance(
                Q,
                R,
                CriticProcess("probit", MEANS[1], KERNEL),
                np.random.default_rng(3),
                n_critics=few,
            )
    for call in (
        lambda: second_moment(CriticProcess("exp", len, len)),
        lambda: gp_distance([1], [1], CriticProcess("exp", [0], [[1]])),
        lambda: gp_distance([1, 0], [1, 0], CriticProcess("identity", [0], [[1]])),
    ):
        with pytest.raises(DataError):
            call()


def test_equal_seeds_draw_equal_critics_and_equal_distributions_have_no_distance():
    process = CriticProcess("probit", MEANS[1], KERNEL)
    one, two = (draw_critics(process, 5, np.random.default_rng(3)) for _ in range(2))
    assert (one == two).all()
    assert one.shape == (5, 4)
    same = estimate_distance(Q, Q, process, np.random.default_rng(3), n_critics=10)
    assert same.value == 0
    assert math.isnan(same.se)


@pytest.mark.verifies("Mean size of a normal number", "D_p of Gaussian-process critics", by="hand")
def test_by_hand_a_mean_of_3_and_a_spread_of_4_are_5():
    """E(μ + σε)² = μ² + σ² and E(μ + σε)⁴ = μ⁴ + 6μ²σ² + 3σ⁴; the mean size of σε alone is σ√(2/π)."""
    assert folded_norm(3, 4, 2) == pytest.approx(5, rel=1e-14)
    assert folded_norm(1, 1, 4) == pytest.approx(10**0.25, rel=1e-14)
    assert folded_norm(0, 3, 1) == pytest.approx(3 * math.sqrt(2 / math.pi), rel=1e-14)
    process = CriticProcess("identity", [0, 3], [[8, 0], [0, 8]])  # MMD² = 8 + 8 = 4²
    assert gp_distance([1, 0], [0, 1], process, power=2) == pytest.approx(5, rel=1e-14)


@pytest.mark.verifies(
    "Mean size of a normal number", "D_p of Gaussian-process critics", by="foreign", of="scipy"
)
@pytest.mark.parametrize("mean", MEANS, ids=["m=0", "m", "m far"])
def test_gp_distances_are_the_moments_of_scipys_folded_normal(mean):
    mu, sigma = float(mean @ (Q - R)), math.sqrt((Q - R) @ KERNEL @ (Q - R))
    for power in (1, 2, 3, 4):
        theirs = foldnorm(abs(mu) / sigma, scale=sigma).moment(power) ** (1 / power)
        found = gp_distance(Q, R, CriticProcess("identity", mean, KERNEL), power=power)
        assert found == pytest.approx(theirs, rel=1e-10)
        assert folded_norm(mu, sigma, power) == pytest.approx(theirs, rel=1e-10)


@pytest.mark.verifies("D_p of drawn critics", by="hand")
def test_critics_that_all_agree_give_the_difference_of_their_mean_exactly():
    """No spread: each drawn critic is (1, 3), so the distance is |1/4 · 1 − 1/4 · 3| = 1/2, without an error."""
    found = estimate_distance(
        [0.75, 0.25],
        [0.5, 0.5],
        CriticProcess("identity", [1, 3], np.zeros((2, 2))),
        np.random.default_rng(0),
        power=3,
        n_critics=5,
    )
    assert found.value == pytest.approx(0.5, rel=1e-14)


@pytest.mark.verifies("Moments of GP and log-GP critics", by="hand")
@pytest.mark.verifies("Moments of GP and log-GP critics", by="foreign", of="scipy")
def test_moments_of_log_gp_critics_by_hand_and_scipys():
    """m = 0 and k = log 2 on the diagonal, 0 beside it: E f² = 2 · 2 = 4, E f(x) f(y) = √2 · √2 = 2."""
    two = CriticProcess("exp", [0, 0], np.log(2) * np.eye(2))
    np.testing.assert_allclose(second_moment(two), [[4, 2], [2, 4]], rtol=1e-15)
    process = CriticProcess("exp", MEANS[1], KERNEL)
    theirs = lognorm(np.sqrt(np.diag(KERNEL)), scale=np.exp(MEANS[1]))
    np.testing.assert_allclose(np.diag(second_moment(process)), theirs.moment(2), rtol=1e-12)


@pytest.mark.verifies("D_p of drawn critics", by="foreign", of="scipy")
@pytest.mark.parametrize("power", [1, 3])
def test_drawn_critics_have_the_moments_of_scipys_folded_normal(power):
    process = CriticProcess("identity", MEANS[1], KERNEL)
    mu, sigma = float(MEANS[1] @ (Q - R)), math.sqrt((Q - R) @ KERNEL @ (Q - R))
    theirs = foldnorm(abs(mu) / sigma, scale=sigma).moment(power) ** (1 / power)
    assert (
        off(
            estimate_distance(
                Q, R, process, np.random.default_rng(2), power=power, n_critics=50_000
            ),
            theirs,
        )
        < 4
    )
