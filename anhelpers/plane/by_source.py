"""How a score agrees with people within each source: correlations over its systems, and pairs of them in order."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError

__all__ = ["pair_accuracy", "source_correlations", "tie_threshold"]

FEWEST_SYSTEMS = 3
"""Of a source with fewer translations nothing is said: two always correlate perfectly, one way or the other."""
KINDS = ("pearson", "kendall")


def source_correlations(x: ArrayLike, y: ArrayLike, kind: str = "pearson") -> np.ndarray:
    """(N,) the correlation of two scores over the systems of each source: Pearson's r, or Kendall's tau-b for ranks.

    Both are one sum over pairs of systems, of products of differences or of their signs: Σ d e / √(Σ d² Σ e²).

    Parameters
    ----------
    x, y : (N, k) scores of k systems on N sources; nan where one is missing, and that system is left out there.
    kind : "pearson" or "kendall".

    Returns
    -------
    (N,) in [-1, 1]; nan for a source with fewer than FEWEST_SYSTEMS systems, or on which one score does not vary.

    References
    ----------
    Kendall 1945, Biometrika 33 (ties); Deutsch, Foster and Freitag 2023 ("group by item").

    >>> source_correlations([[1, 2, 3], [1, 2, 2]], [[3, 2, 1], [1, 1, 1]]).tolist()
    [-1.0, nan]
    """
    checks.one_of(kind, KINDS, "kind of correlation")
    d, e = _pairs(x, y)
    if kind == "kendall":
        d, e = np.sign(d), np.sign(e)
    known = ~np.isnan(d)
    enough = known.sum(1) >= FEWEST_SYSTEMS * (FEWEST_SYSTEMS - 1) / 2
    d, e = np.where(known, d, 0.0), np.where(known, e, 0.0)
    # each in its own size, so that no square is too small or too large for a number
    d, e = (v / np.maximum(np.abs(v).max(1, initial=0, keepdims=True), 1e-300) for v in (d, e))
    square = (d * d).sum(1) * (e * e).sum(1)
    there = enough & (square > 0)
    r = (d * e).sum(1) / np.sqrt(np.where(there, square, 1.0))
    return np.where(there, np.clip(r, -1.0, 1.0), np.nan)


def pair_accuracy(score: ArrayLike, human: ArrayLike, tie: float = 0.0) -> np.ndarray:
    """(N,) of the pairs of systems of each source, the share that a score orders as people do, ties included.

    A pair counts where both prefer the same system, or where both call it a tie: people by equal points, the score by a
    difference of at most `tie`. So every source has its say, also those on which people see no difference.

    Parameters
    ----------
    score, human : (N, k), higher is better; nan where one is missing, and that system is left out there.
    tie : the largest difference of the score that is none; `tie_threshold` finds the one that agrees best.

    Returns
    -------
    (N,) in [0, 1]; nan for a source with fewer than FEWEST_SYSTEMS systems.

    References
    ----------
    Deutsch, Foster and Freitag 2023, "Ties Matter" (pairwise accuracy with ties).

    >>> pair_accuracy([[1, 2, 9]], [[0, 0, 1]]).round(2).tolist(), pair_accuracy([[1, 2, 9]], [[0, 0, 1]], 1).tolist()
    ([0.67], [1.0])
    """
    d, e = _pairs(score, human)
    d = np.where(np.abs(d) <= checks.non_negative("tie", tie), 0 * d, d)
    known = ~np.isnan(d)
    right = known & (np.sign(d) == np.sign(e))
    n = known.sum(1)
    enough = n >= FEWEST_SYSTEMS * (FEWEST_SYSTEMS - 1) / 2
    return np.where(enough, right.sum(1) / np.maximum(n, 1), np.nan)


def tie_threshold(score: ArrayLike, human: ArrayLike) -> float:
    """The difference of a score up to which two translations count as a tie, so that it agrees best with people.

    It maximises the mean over sources of `pair_accuracy`; of several the smallest. Found on the very data that it is
    used on, it flatters every score a little.

    Parameters
    ----------
    score, human : (N, k), as in `pair_accuracy`.

    Returns
    -------
    float >= 0, in the unit of the score.

    >>> tie_threshold([[1, 2, 9]], [[0, 0, 1]])
    1.0
    """
    d, e = _pairs(score, human)
    known = ~np.isnan(d)
    n = known.sum(1)
    known[n < FEWEST_SYSTEMS * (FEWEST_SYSTEMS - 1) / 2] = False
    weight = np.broadcast_to((1 / np.maximum(n, 1))[:, None], d.shape)[known]
    d, e = d[known], e[known]
    if not d.size:
        raise DataError("no source has three systems with both scores: no pair can be compared.")
    size = np.abs(d)
    # what is won by calling a pair a tie
    gain = weight * ((e == 0).astype(float) - ((np.sign(d) == np.sign(e)) & (d != 0)))
    order = np.argsort(size, kind="stable")
    size, gain = size[order], np.where(size > 0, gain, 0.0)[order].cumsum()
    # of equal differences all are ties, or none
    last = np.flatnonzero(np.append(size[1:] > size[:-1], True))
    best = int(np.argmax(np.round(np.append(0.0, gain[last]), 12)))
    return float(size[last[best - 1]]) if best else 0.0


def _pairs(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(N, P) differences of both scores for all pairs of systems; nan where one of the four numbers is missing."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.ndim != 2 or x.shape != y.shape:
        raise DataError(
            f"two scores of (sources, systems) are wanted, got shapes {x.shape} and {y.shape}."
        )
    if np.isinf(x).any() or np.isinf(y).any():
        raise DataError("a score is infinite; give nan where there is none.")
    pairs = np.array([*combinations(range(x.shape[1]), 2)], dtype=np.int64).reshape(-1, 2)
    d, e = (v[:, pairs[:, 0]] - v[:, pairs[:, 1]] for v in (x, y))
    missing = np.isnan(d) | np.isnan(e)
    return np.where(missing, np.nan, d), np.where(missing, np.nan, e)
