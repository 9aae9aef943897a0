"""Expectations under normal distributions: the mean size of a normal number to the power p, which is what a Gaussian
critic sees of a difference; the bivariate distribution function by Owen's T; second moments of probit critics."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, gammaln, hyp1f1, ndtr, owens_t

from ..errors import DataError

# above this p or |μ|/σ the power's kink at 0 carries no weight, and sums over a grid are exact
SADDLE = 30.0
CERTAIN = 1e9  # above this |μ|/σ (times 1 + √p) the randomness changes no digit


def folded_norm(mu: float, sigma: float, power: float = 1) -> float:
    """(E|σε + μ|^p)^(1/p), ε standard normal: the mean size of a normal number for p = 1, √(μ² + σ²) for p = 2.

    Parameters
    ----------
    mu, sigma : mean and standard deviation, σ ≥ 0. For σ = 0 this is |μ|.
    power : p in (0, ∞].

    Returns
    -------
    float ≥ 0 in the unit of μ; for p ≥ 0.1 right to a relative 1e-12, also where the p-th moment itself overflows.

    References
    ----------
    Flamich et al. 2025, eqs. 50 and 51; eq. 46 with μ (1 - 2Φ(-μ/σ)) in its last term, and eq. 52 as
    σ √2 (Γ((1 + p)/2) / √π)^(1/p), of which eq. 47 is the limit.

    >>> round(folded_norm(2, 0.5), 4), round(folded_norm(0, 1, 3), 4)
    (2.0, 1.1686)
    """
    if not (math.isfinite(mu) and math.isfinite(sigma) and sigma >= 0 and power > 0):
        raise DataError(
            f"a folded normal needs finite μ, σ ≥ 0 and p > 0, got {mu}, {sigma} and {power}."
        )
    if sigma and math.isinf(power):
        return math.inf
    if sigma == 0 or sigma * CERTAIN * (1 + math.sqrt(power)) <= abs(mu):
        return abs(mu)
    s = abs(mu) / sigma
    if power == 1:
        return sigma * math.sqrt(2 / math.pi) * math.exp(-s * s / 2) + mu * float(
            erf(mu / sigma / math.sqrt(2))
        )
    if power == 2:
        return math.hypot(mu, sigma)
    if power > SADDLE or s > SADDLE:
        return sigma * _by_grid(s, power)
    log_moment = (
        gammaln((1 + power) / 2)
        - math.log(math.pi) / 2
        + math.log(hyp1f1(-power / 2, 0.5, -s * s / 2))
    )
    return sigma * math.sqrt(2) * math.exp(log_moment / power)


def _by_grid(s: float, power: float) -> float:
    """(E|ε + s|^p)^(1/p): sums over fine grids around the peak t = R of t^p φ(t - s), and t = L of t^p φ(t + s).

    R L = p and R - L = s, so that all can be written relative to the first peak: nothing overflows or cancels.
    """
    spread = math.hypot(s, 2 * math.sqrt(power))
    right, left = (spread + s) / 2, 2 * power / (spread + s)
    total, grid = 0.0, np.arange(-128, 129) / 8
    for peak, other in ((right, left), (left, right)):
        width = 1 / math.hypot(1, math.sqrt(power) / peak)
        t = width * grid[width * grid > -peak]
        log = (
            power * (np.log1p(t / peak) + math.log(peak / right))
            - t * (t / 2 + other)
            - (other**2 - left**2) / 2
        )
        total += float(np.exp(log).sum()) * width / 8 / math.sqrt(2 * math.pi)
    return right * math.exp(-(left**2) / (2 * power)) * total ** (1 / power)


# beyond: Φ is 0 or 1 in float64; within: as good as 0, the function's slope is below 0.4
FAR, NEAR = 40.0, 1e-300
# pairs at a time, so that what is computed on the way stays in the processor's cache
BLOCK = 1 << 16


def bivariate_normal_cdf(h: ArrayLike, k: ArrayLike, rho: ArrayLike) -> np.ndarray:
    """The probability that two standard normal numbers with correlation ρ are at most h and at most k.

    Parameters
    ----------
    h, k : (...) any number, infinities too; shapes broadcast.
    rho : (...) the correlation in [-1, 1].

    Returns
    -------
    (...) float64 in [0, 1]. The error is below 1e-15 absolutely; far in the lower tail it is not small relatively.

    Raises
    ------
    DataError for a nan, or a correlation outside [-1, 1].

    References
    ----------
    Flamich et al. 2025, eq. 59. Owen 1956, Tables for computing bivariate normal probabilities, eq. 2.1.

    >>> round(float(bivariate_normal_cdf(0, 0, 0.5)), 12)  # 1/4 + arcsin(1/2) / 2π = 1/3
    0.333333333333
    """
    h, k, rho = (np.asarray(v, dtype=np.float64) for v in (h, k, rho))
    if np.isnan(h).any() or np.isnan(k).any():
        raise DataError("h and k must be numbers, got nan among them: leave those pairs out.")
    _correlations(rho)
    return _owen(h, k, rho, ndtr(h), ndtr(k))


def probit_second_moment(
    mx: ArrayLike, kxx: ArrayLike, my: ArrayLike, kyy: ArrayLike, kxy: ArrayLike
) -> np.ndarray:
    """C(x, y) = E[f(x) f(y)] of critics f = Φ(g) in [0, 1], where g is a Gaussian process, for all pairs of texts.

    Parameters
    ----------
    mx, my : (N,), (M,) the mean of g at x and at y.
    kxx, kyy : (N,), (M,) its variance there, ≥ 0.
    kxy : (N, M) its covariance. Where x and y are the same text this is the variance, and C is E[f(x)²].

    Returns
    -------
    (N, M) float64 in [0, 1].

    Raises
    ------
    DataError for shapes that do not fit, a variance below 0, or a covariance that no variances like these allow.

    References
    ----------
    Flamich et al. 2025, eq. 60.

    >>> probit_second_moment([0.0], [1.0], [0.0], [1.0], [[1.0]])  # E[Φ(g)²] = 1/3: Φ(g) is uniform
    array([[0.33333333]])
    """
    mx, kxx, my, kyy, kxy = (np.asarray(v, dtype=np.float64) for v in (mx, kxx, my, kyy, kxy))
    if (
        mx.shape != kxx.shape
        or my.shape != kyy.shape
        or kxy.shape != mx.shape + my.shape
        or kxy.ndim != 2
    ):
        raise DataError(
            f"shapes do not fit: mx {mx.shape}, kxx {kxx.shape}, my {my.shape}, kyy {kyy.shape}, "
            f"kxy {kxy.shape}; they must be (N,), (N,), (M,), (M,), (N, M)."
        )
    if (
        not all(np.isfinite(v).all() for v in (mx, kxx, my, kyy))
        or (kxx < 0).any()
        or (kyy < 0).any()
    ):
        raise DataError(
            "means must be finite, and variances finite and at least 0: check the kernel's "
            "diagonal."
        )
    sx, sy = np.sqrt(1 + kxx), np.sqrt(1 + kyy)
    h, k, out = mx / sx, my / sy, np.empty(kxy.shape)
    below_h, below_k, step = ndtr(h), ndtr(k), max(1, BLOCK // max(1, len(my)))
    for i in range(0, len(mx), step):
        at = slice(i, i + step)
        rho = kxy[at] / (sx[at, None] * sy)
        _correlations(rho)
        out[at] = _owen(h[at, None], k, rho, below_h[at, None], below_k)
    return out


def _correlations(rho: np.ndarray) -> None:
    good = np.abs(rho) <= 1
    if not good.all():
        raise DataError(
            f"a correlation must be in [-1, 1], got {rho[~good].flat[0]}: the kernel is not "
            "positive."
        )


def _owen(
    h: np.ndarray, k: np.ndarray, rho: np.ndarray, below_h: np.ndarray, below_k: np.ndarray
) -> np.ndarray:
    """Φ₂(h, k; ρ) = (Φ(h) + Φ(k)) / 2 - T(h, a) - T(k, b) - [h and k on different sides of 0] / 2, kept in its bounds.

    A 0 counts as positive: the limit from above. Infinities and numbers next to 0 are replaced by their limits.
    """
    h, k = (np.where(np.abs(v) < NEAR, 0.0, np.clip(v, -FAR, FAR)) for v in (h, k))
    slope = np.sqrt((1 - rho) * (1 + rho))
    tails = owens_t(h, _leg(h, k, rho, slope)) + owens_t(k, _leg(k, h, rho, slope))
    value = 0.5 * (below_h + below_k) - tails - 0.5 * ((h < 0) != (k < 0))
    return np.clip(value, np.maximum(0.0, below_h + below_k - 1), np.minimum(below_h, below_k))


def _leg(h: np.ndarray, k: np.ndarray, rho: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """(k - ρh) / (h √(1 - ρ²)) without cancellation where ρ is near ±1; at h = k = 0 the limit along h = k."""
    sign = np.where(rho < 0, -1.0, 1.0)
    rest = (k - sign * h) + (sign - rho) * h
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where((h == 0) & (k == 0), 1 - rho, rest / h)
        return np.where(ratio == 0, 0.0, ratio / slope)
