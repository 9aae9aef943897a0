"""The bivariate normal by Owen's T, against integrals in 40 digits, another program, and its own identities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from anhelpers.divergences import processes as probit
from anhelpers.divergences.processes import CriticProcess, bivariate_normal_cdf, second_moment
from anhelpers.errors import DataError

SIDES = st.one_of(
    st.floats(-9, 9),
    st.sampled_from([0.0, -0.0, 1e-12, -1e-12, 1e-305, np.inf, -np.inf, 1.0, 1 + 1e-9]),
)
LINEAR = CriticProcess("probit", lambda t: t[:, 0], lambda s, t: s @ t.T)
RHOS = st.one_of(
    st.floats(-1, 1),
    st.sampled_from([0.0, 1.0, -1.0, 1 - 1e-14, -1 + 1e-14, 0.999999, -0.999999]),
    st.just(0.5),
)


def by_plackett(mp, h, k, rho):
    """Φ(h)Φ(k) + ∫_0^asin(ρ) exp(-(h² + k² - 2hk sin t) / 2cos² t) dt / 2π, the steep end cut into short pieces."""
    h, k, rho = mp.mpf(h), mp.mpf(k), mp.mpf(rho)
    end, turn = mp.asin(rho), mp.sign(rho) * mp.pi / 2
    cuts = [turn * (1 - mp.mpf(4) ** -i) for i in range(1, 24)]
    points = [mp.mpf(0), *(c for c in cuts if abs(c) < abs(end)), end]
    area = mp.quad(
        lambda t: mp.exp(-(h * h + k * k - 2 * h * k * mp.sin(t)) / (2 * mp.cos(t) ** 2)), points
    )
    return mp.ncdf(h) * mp.ncdf(k) + area / (2 * mp.pi)


@pytest.mark.verifies("Second moment of probit critics", by="foreign", of="mpmath, 40 digits")
@pytest.mark.parametrize("rho", [0.3, -0.9, 0.999, -0.999, 1 - 1e-6, 1 - 1e-12, -1 + 1e-12])
def test_agrees_with_an_integral_in_40_digits(rho):
    mp = pytest.importorskip("mpmath", reason="pip install mpmath")
    pairs = [
        (0, 0),
        (0, 1),
        (-1, 0),
        (1e-8, -1e-8),
        (1, 1 + 1e-9),
        (-1, 1),
        (0.3, -0.3),
        (2.5, 6),
        (-6, -2.5),
        (-6, 6),
    ]
    with mp.workdps(40):
        wanted = [float(by_plackett(mp, h, k, rho)) for h, k in pairs]
    h, k = np.array(pairs, dtype=float).T
    np.testing.assert_allclose(bivariate_normal_cdf(h, k, rho), wanted, rtol=0, atol=4e-16)


@pytest.mark.verifies("Second moment of probit critics", by="hand")
def test_a_hand_worked_case():
    """Two fair coins with correlation 1/2 behind them: 1/4 + arcsin(1/2) / 2π = 1/4 + 1/12."""
    assert bivariate_normal_cdf(0, 0, 0.5) == pytest.approx(1 / 3, abs=1e-16)
    assert bivariate_normal_cdf(0, 0, [-1, 0, 1]).tolist() == [0, 0.25, 0.5]


@pytest.mark.verifies("Second moment of probit critics", by="property")
@given(SIDES, SIDES, RHOS)
def test_keeps_the_identities_of_a_distribution(h, k, rho):
    value = bivariate_normal_cdf(h, k, rho)
    assert max(0, ndtr(h) + ndtr(k) - 1 - 3e-16) <= value <= min(ndtr(h), ndtr(k))
    assert value == bivariate_normal_cdf(k, h, rho)
    assert value + bivariate_normal_cdf(h, -k, -rho) == pytest.approx(ndtr(h), abs=1e-15)
    assert bivariate_normal_cdf(-h, -k, rho) == pytest.approx(ndtr(-k) - ndtr(h) + value, abs=1e-15)
    assert bivariate_normal_cdf(h, k, 0) == pytest.approx(ndtr(h) * ndtr(k), abs=1e-15)


def by_sums(mx, my, kxx, kyy, kxy):
    """E[Φ(U) Φ(V)] on a fine grid of two independent normal numbers, straight from eq. 61: no bivariate normal."""
    at = np.arange(-180, 181) / 20
    w = 0.05 * np.exp(-(at**2) / 2) / np.sqrt(2 * np.pi)
    u = mx + np.sqrt(kxx) * at[:, None]
    v = my + kxy / np.sqrt(kxx) * at[:, None] + np.sqrt(max(kyy - kxy**2 / kxx, 0)) * at
    return w @ (ndtr(u) * ndtr(v)) @ w


@pytest.mark.verifies("Second moment of probit critics", by="property")
def test_the_second_moment_is_its_definition():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(4, 2)), rng.normal(size=(3, 2))
    y[0] = x[0]  # the same text on both sides
    mx, my, kxx, kyy, kxy = x[:, 0], y[:, 0], (x**2).sum(1), (y**2).sum(1), x @ y.T
    found = second_moment(LINEAR, x, y)
    wanted = [
        [by_sums(mx[i], my[j], kxx[i], kyy[j], kxy[i, j]) for j in range(3)] for i in range(4)
    ]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-15)
    assert kxy[0, 0] == pytest.approx(kxx[0])


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    whole = second_moment(LINEAR, x, y)
    monkeypatch.setattr(probit, "_CELLS", 11)
    assert (second_moment(LINEAR, x, y) == whole).all()


def test_what_cannot_be_is_refused():
    with pytest.raises(DataError):
        bivariate_normal_cdf(0, 0, [0.1, 1.5])
    for cov in ([[1, 3], [3, 1]], [[-1, 0], [0, 1]]):
        with pytest.raises(DataError):
            second_moment(CriticProcess("probit", [0, 0], cov))
    for mean, cov in ((np.sum, LINEAR.cov), (LINEAR.mean, np.multiply.outer)):
        with pytest.raises(DataError):
            second_moment(CriticProcess("probit", mean, cov), np.ones((2, 2)))
