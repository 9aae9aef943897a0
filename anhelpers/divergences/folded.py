"""The mean size of a normal number: what a Gaussian critic sees of a difference, to the power p."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erf, gammaln, hyp1f1

from ..errors import DataError

__all__ = ["folded_norm"]

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
