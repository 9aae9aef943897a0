"""What chance alone gives where q = r, and intervals of distances that are measured against it.

A distance of two samples is no mean: chance sets two samples of one distribution apart, too, so the estimate minus and
plus 1.96 errors leaves out 0 again and again where 0 is the truth. Here the noise of both samples, from resampling
them, is laid on differences of every size between none and the one that was seen; the lower end of the interval is the
least true distance from which an estimate as large as the one at hand still comes in 2.5 % of the draws.
`docs/calibration.md` has how often the intervals cover.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .. import checks
from ..intervals import LEVEL, effective, student, tell_few

TAIL = (1 - LEVEL) / 2
STEPS, SHORT = 5, 0.02
"""Chords, and by how much they are cut so as to stay below, more after one that was too long."""
FARTHEST = 64.0
"""In differences as seen; only where the true one must be much larger than the shrunken one."""


class Chance(NamedTuple):
    """A distance beside what chance alone gives.

    Parameters
    ----------
    low, high : the 95 % interval, low 0 unless p ≤ 0.025. p : share of the draws for q = r that are at least as large.
    mean : of the draws for q = r.
    """

    low: float
    high: float
    p: float
    mean: float


def against_chance(
    value: float,
    sizes: Callable[[float], np.ndarray],
    truth: Callable[[float], float],
    *,
    plain: np.ndarray,
    se: float,
    n: float,
) -> Chance:
    """The interval of an estimated distance ≥ 0 that is biased upward, its p-value for q = r, and its mean there.

    The upper end does not take off the bias: it is the farther one of Student's t and of the plain resamples.

    Parameters
    ----------
    value : the estimate.
    sizes : λ ≥ 0 -> (B,) estimates in draws from two distributions whose distance is truth(λ), the same at 0.
    plain : (B,) estimates in draws from the two samples themselves. se : standard error. n : effective number of texts.
    """
    null = sizes(0.0)
    tell_few(len(null))
    p = (1 + int((null >= value * (1 - 1e-12)).sum())) / (1 + len(null))
    low = truth(_crossing(value, sizes)) if p <= TAIL else 0.0
    reach = float(student(value, se, n)[1]) if np.isfinite(se) else value
    high = float(max(value, reach, np.quantile(plain, 1 - TAIL, method="higher")))
    return Chance(min(low, value), np.inf if np.isinf(plain).any() else high, p, float(null.mean()))


def _crossing(value: float, sizes: Callable[[float], np.ndarray]) -> float:
    """From below, about the largest λ at which fewer than 2.5 % of the draws reach the value; 0 where there is none."""

    def upper(size: float) -> float:
        return float(np.quantile(sizes(size), 1 - TAIL, method="higher"))

    low, high = 0.0, 1.0
    below, above = upper(low), upper(high)
    while above < value:
        low, high, below, above = high, 2 * high, above, upper(2 * high)
        if high > FARTHEST:
            return 0.0
    short = SHORT
    for _ in range(STEPS):  # by chords, because the quantile grows nearly in a line
        part = (1 - short) * (value - below) / (above - below) if below < above < np.inf else 0.5
        at = low + part * (high - low)
        if (reached := upper(at)) < value:
            low, below, short = at, reached, SHORT
        else:
            high, above, short = at, reached, min(0.5, 4 * short)
    return low


def along_a_line(
    norm: Callable[[np.ndarray], np.ndarray],
    gap: np.ndarray,
    noise: np.ndarray,
    *,
    n: float,
    se: float | None = None,
    draw: np.ndarray | None = None,
) -> tuple[Chance, float]:
    """`against_chance` for a distance that is a norm of q - r, and the standard error.

    Parameters
    ----------
    norm : (..., K) differences -> (...) distances.
    gap : (K,) the difference of the two samples. noise : (B, K) resampled differences less it.
    n : effective number of texts on the side that has fewer. se : where it is known; else from the resamples.
    draw : (B, K) which of K coordinates are drawn, where they are a sample themselves.
    """
    # without the noise that is in it
    shrunken = np.sign(gap) * np.sqrt(np.maximum(gap * gap - noise.var(0), 0))
    at = slice(None) if draw is None else draw
    value, plain = float(norm(gap)), norm(gap[at] + noise)
    spread = float(plain.std(ddof=1)) if len(plain) > 1 else np.nan
    error = spread if se is None else se
    size = float(norm(shrunken))
    found = against_chance(
        value,
        lambda by: norm(by * shrunken[at] + noise),
        lambda by: by * size,
        plain=plain,
        se=error,
        n=n,
    )
    return found, error


def resampled(
    n: int, docs: Sequence | np.ndarray | None, n_draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """(B, n) by how much the weight 1/n of each text is moved, and how many documents count.

    Each document's part in the sample is turned to one side or the other (the wild bootstrap). Drawing documents with
    replacement would add the luck of how often each is drawn to the size of the noise: in many dimensions, too much.

    Parameters
    ----------
    n : texts. docs : (n,) their documents, which are turned whole; None: texts are independent.

    References
    ----------
    Davison and Hinkley 1997, ch. 6; Leucht and Neumann 2013, Journal of Multivariate Analysis 117.
    """
    names = np.arange(n) if docs is None else np.asarray(docs)
    _, index, sizes = np.unique(names, return_inverse=True, return_counts=True)
    m = len(sizes)
    signs = rng.choice((-1.0, 1.0), size=(checks.draws_that_fit(n_draws, n), m))
    moved = (signs[:, index] - (signs @ sizes / n)[:, None]) / n
    return moved * np.sqrt(m / (m - 1)), float(effective(sizes))
