"""Squared distances from pairs of texts, no text with itself: unbiased, and with the error that stays where q = r."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..estimate import Estimate
from ..intervals import few_clusters, student

NOISE_OF = 200
"""Texts of either side from which the noise of pairs is estimated: a moment that so many say well enough."""


@dataclass(frozen=True)
class PairSums:
    """Sums of a similarity C over the pairs that each of N points of the system and M of the reference is in.

    Parameters
    ----------
    xx, yy : (N,) and (M,) sums of C from each point to the others of its own sample.
    xy, yx : (N,) and (M,) sums from each point to the other sample.
    noise : of `pair_noise`; nan where a sample has fewer than 4 points.
    """

    xx: np.ndarray
    yy: np.ndarray
    xy: np.ndarray
    yx: np.ndarray
    noise: tuple[float, float, float]

    def estimate(self, name: str, signature: str, unit: str = "") -> Estimate:
        """Mean C(x, x') + mean C(y, y') - 2 mean C(x, y), no point with itself (AN eq. 38); N, M ≥ 2.

        Unbiased, so it may be negative. The squared error is the sum of that of the linear term, 4 var(a)/N +
        4 var(b)/M with a_i = mean C(x_i, x) - mean C(x_i, y) and b_j alike, which is 0 where q = r; and of that of the
        pairs, 2 vₓₓ/(N (N - 1)) + 2 vᵧᵧ/(M (M - 1)) + 4 vₓᵧ/(N M) with v of `pair_noise`, which is not.
        (a and b hold the noise of pairs, too, twice; it is taken off.) No interval below 4 points.
        """
        xx, yy, xy, yx, n, m = self.xx, self.yy, self.xy, self.yx, len(self.xx), len(self.yy)
        value = float(xx.sum() / (n * (n - 1)) + yy.sum() / (m * (m - 1)) - 2 * xy.sum() / (n * m))
        a, b = xx / (n - 1) - xy / m, yy / (m - 1) - yx / n
        linear = float(4 * (a.var(ddof=1) / n + b.var(ddof=1) / m))
        of_x, of_y, of_both = self.noise
        second = max(
            0.0, 2 * of_x / (n * (n - 1)) + 2 * of_y / (m * (m - 1)) + 4 * of_both / (n * m)
        )
        se, (low, high) = math.nan, (math.nan, math.nan)
        if not math.isnan(of_x + of_y):
            se = math.sqrt(max(linear - second, second))
            low, high = pair_interval(value, linear, second, min(n, m))
        return Estimate(
            name,
            value,
            se=se,
            n=n,
            n_r=m,
            bias="unbiased",
            unit=unit,
            signature=signature,
            low=low,
            high=high,
            chance=0.0,
            caution=few_clusters(min(n, m), "texts"),
        )


def pair_noise(cxx: np.ndarray, cyy: np.ndarray, cxy: np.ndarray) -> tuple[float, float, float]:
    """Mean squares, unbiased, of C(x, x'), C(y, y') and C(x, y) less what either point says by itself.

    Parameters
    ----------
    cxx, cyy, cxy : (N, N), (M, M), (N, M) similarities; the diagonals of the first two do not count. nan where a side
        has fewer than 4 points. They may be those of some `spread_rows` of either sample.

    References
    ----------
    Székely and Rizzo 2014, Annals of Statistics 42, for centring without the diagonal.
    """
    return (math.nan,) * 3 if min(cxy.shape) < 4 else (_within(cxx), _within(cyy), _between(cxy))


def spread_rows(n: int) -> np.ndarray:
    """(k,) at most 200 of n rows, evenly spread."""
    return np.linspace(0, n - 1, min(n, NOISE_OF)).round().astype(int)


def _within(c: np.ndarray) -> float:
    n = len(c)
    c = np.where(np.eye(n, dtype=bool), 0.0, c)
    rows = c.sum(1)
    centred = c - rows[:, None] / (n - 2) - rows / (n - 2) + rows.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(centred, 0)
    return float((centred * centred).sum()) / (n * (n - 3))


def _between(c: np.ndarray) -> float:
    n, m = c.shape
    centred = c - c.mean(1, keepdims=True) - c.mean(0) + c.mean()
    return float((centred * centred).sum()) / ((n - 1) * (m - 1))


def pair_interval(value: float, linear: float, second: float, n: float) -> tuple[float, float]:
    """The 95 % interval of an unbiased estimate U of a squared distance D ≥ 0: all D with (U - D)² ≤ t² (v + k D).

    The error of U has a part v that stays where q = r and a linear part that grows with D as k D, as for Wilson's
    interval of a share. The lower end may be negative: then 0 is inside.

    Parameters
    ----------
    value : U. linear : the squared error of the linear term, as estimated. second : v.
    n : points on the side that has fewer, for Student's t.
    """
    reach = float(student(0.0, 1.0, n)[1]) ** 2
    null = np.sqrt(reach * second)
    slope = linear / (max(value, 0.0) + np.sqrt(second)) if linear else 0.0
    middle = value + reach * slope / 2
    half = np.sqrt(max(0.0, middle * middle - (value * value - reach * second)))
    low = value - null if value <= null else middle - half
    return float(low), float(max(0.0, middle + half))
