"""The bivariate normal distribution function by Owen's T, and the second moments of probit critics for all pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, owens_t

from ..errors import DataError

__all__ = ["bivariate_normal_cdf", "probit_second_moment"]

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
