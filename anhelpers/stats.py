"""Intervals: the bootstrap over documents (or segments), drawn once for all systems and metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from . import checks
from .errors import DataError

__all__ = ["MeanInterval", "bootstrap_means", "cluster_counts"]


@dataclass(frozen=True)
class MeanInterval:
    """Means of C columns over n segments with percentile intervals and the standard error from the same draws.

    Parameters
    ----------
    mean, low, high, se : (C,) in the unit of the column.
    n, n_clusters : segments behind the mean, and documents that were resampled.
    level : of the interval, in (0, 1).
    draws : (B, C) the bootstrap means; one row is one draw, so differences between columns are paired.
    """

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    se: np.ndarray
    n: int
    n_clusters: int
    level: float
    draws: np.ndarray

    def text(self, unit: str = "", column: int = 0, digits: int = 2) -> str:
        """ "1.50 chrF, 95 % interval 1.20 to 1.80 (n = 52 segments in 12 clusters)", for a notebook or a report."""
        mean, low, high = (f"{v[column]:.{digits}f}" for v in (self.mean, self.low, self.high))
        where = f"n = {self.n} segments" + (f" in {self.n_clusters} documents" if self.n_clusters < self.n else "")
        return f"{mean}{' ' + unit if unit else ''}, {100 * self.level:g} % interval {low} to {high} ({where})"


def cluster_counts(
    clusters: Sequence | np.ndarray, n_draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """(B, M) how often each of M clusters is drawn in each of B resamples, and (n,) the cluster of each segment."""
    _, index = np.unique(np.asarray(clusters), return_inverse=True)
    m = int(index.max()) + 1
    drawn = rng.integers(0, m, size=(n_draws, m)) + m * np.arange(n_draws)[:, None]
    return np.bincount(drawn.ravel(), minlength=n_draws * m).reshape(n_draws, m), index


def bootstrap_means(
    columns: ArrayLike,
    clusters: Sequence | np.ndarray,
    rng: np.random.Generator,
    n_draws: int = 1000,
    level: float = 0.95,
) -> MeanInterval:
    """Means over segments with percentile intervals from resampling clusters: documents, or segments by their ids.

    Parameters
    ----------
    columns : (n, C) or (n,) finite numbers, one row per segment; all columns are resampled together.
    clusters : (n,) cluster of each segment; segments of a document are not independent, so documents are drawn.
    rng : the randomness; n_draws resamples; level of the interval in (0, 1).

    Raises
    ------
    DataError for unequal lengths, fewer than 2 clusters, or numbers that are not finite.

    >>> bootstrap_means([0.0, 1.0, 0.0, 1.0], [0, 1, 2, 3], np.random.default_rng(0)).text("points", digits=1)
    '0.5 points, 95 % interval 0.0 to 1.0 (n = 4 segments)'
    """
    x = np.asarray(columns, dtype=np.float64)
    x = x[:, None] if x.ndim == 1 else x
    if x.ndim != 2 or not np.isfinite(x).all():
        raise DataError(
            f"columns must be (segments, columns) of finite numbers, got shape {x.shape}; drop missing rows first."
        )
    checks.same_length(columns=x, clusters=clusters)
    counts, index = cluster_counts(clusters, n_draws, rng)
    m = counts.shape[1]
    if m < 2:
        raise DataError(f"{m} cluster: an interval needs at least 2; resample segments instead of documents.")
    sums = np.zeros((m, x.shape[1]))
    np.add.at(sums, index, x)
    sizes = np.bincount(index, minlength=m)
    draws = (counts @ sums) / (counts @ sizes)[:, None]
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return MeanInterval(x.mean(0), low, high, draws.std(0, ddof=1), len(x), m, level, draws)
