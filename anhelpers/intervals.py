"""Confidence intervals: a studentised bootstrap over documents (or segments), the same draws for all scores.

A score is a function of counts that add up over documents: a mean is a sum over a size, a corpus score a function of
summed counts. Each draw is measured in its own standard error, because a draw that lacks the long tail of a score also
shows too small an error; plain percentiles forget that and miss too often, on one side (Efron and Tibshirani 1993, ch.
12; Davison and Hinkley 1997, ch. 5). `docs/calibration.md` has how often the intervals cover.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from . import checks
from ._numba import compiled
from .errors import DataError
from .estimate import Estimate
from .progress import note_once
from .stats import Resamples, cluster_sums, resampled_sums, resamples

LEVEL = 0.95
FEWEST, FARTHEST = 8, 2.0
"""Effective documents from which studentised draws suffice; below, an end is 1 to FARTHEST times Student's away."""
FEW_DRAWS = 200  # below, each end of a 95 % interval rests on fewer than 5 draws beyond it
# the share of a sum, and of an error of a score, by which it is tried for a slope
STEP, STEP_OF = 1e-4, 1e-2
# a draw with less than this share of the standard error has none: the rest is rounding
NO_SPREAD = 1e-4

Score = Callable[[np.ndarray], np.ndarray]
"""(..., S) sums -> (...) scores."""


@dataclass(frozen=True)
class MeanInterval:
    """Means of C columns over n segments with 95 % intervals and standard errors, from the same draws.

    Parameters
    ----------
    mean, low, high, se : (C,) in the unit of the column; all but the mean nan where one document holds all numbers.
    n : (C,) segments behind each mean. n_clusters : documents that were resampled.
    level : of the interval, in (0, 1).
    draws : (B, C) the bootstrap means; one row is one draw, so differences between columns are paired.
    n_effective : (C,) `effective` documents behind each mean.
    """

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    se: np.ndarray
    n: np.ndarray
    n_clusters: int
    level: float
    draws: np.ndarray
    n_effective: np.ndarray

    def text(self, unit: str = "", column: int = 0, digits: int = 2) -> str:
        """ "1.50 chrF, 95 % interval 1.20 to 1.80 (n = 52 segments in 12 documents)", for a notebook or a report."""
        return self.estimate(column, unit=unit).text(digits)

    def estimate(
        self,
        column: int = 0,
        name: str = "",
        unit: str = "",
        *,
        of: str = "segments",
        signature: str = "",
    ) -> Estimate:
        """One of the means by itself; of : what its n are, in the plural."""
        # of two or three draws the ends may have changed places
        low, high = sorted((float(self.low[column]), float(self.high[column])))
        return Estimate(
            name,
            float(self.mean[column]),
            low=low,
            high=high,
            se=float(self.se[column]),
            n=int(self.n[column]),
            of=of,
            n_docs=self.n_clusters,
            n_effective=float(self.n_effective[column]),
            unit=unit,
            signature=signature,
            level=self.level,
        )


def few_clusters(
    n: int, what: str = "documents", counting: float | None = None, most: int = 0
) -> str:
    """A sentence where there are few clusters to resample, or few that count, else an empty text.

    Parameters
    ----------
    n : how many; most : where others have more. what : in the plural. counting : for how many n count (`effective`).

    >>> few_clusters(3, "raters", most=4)
    '3 to 4 raters are few: the intervals may be far too short or far too long.'
    """
    counting = n if counting is None else counting
    if not counting < FEWEST:
        return ""
    much = "with so many ratings" if what == "raters" else "so long"
    unequal = f", some {much} that all count like {counting:.2g}," if counting < n - 0.5 else ""
    some = f"{n} to {most} {what}" if most > n else f"{n} {what}"
    return f"{some}{unequal} are few: the intervals may be far too short or far too long."


def effective(sizes: ArrayLike) -> np.ndarray:
    """(...) how many clusters of equal size say as much about a mean as (M, ...) clusters of these sizes: 1 / Σ w².

    >>> float(effective([1.0, 1, 1, 1])), float(effective([97.0, 1, 1, 1]).round(2))
    (4.0, 1.06)
    """
    sizes = np.asarray(sizes, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        return sizes.sum(0) ** 2 / (sizes * sizes).sum(0)


def bootstrap_means(
    columns: ArrayLike,
    clusters: Sequence | np.ndarray,
    rng: np.random.Generator,
    n_draws: int = 1000,
    *,
    of: Score | None = None,
    level: float = LEVEL,
) -> MeanInterval:
    """Means over segments with studentised intervals from resampling clusters: documents, or segments by their ids.

    Parameters
    ----------
    columns : (n, C) or (n,) numbers, one row per segment; all columns are resampled together. A nan is a value that is
        missing there: each mean is over what its column has, in the estimate as in every draw. A column with numbers
        in one cluster only has a mean and no interval: every draw would give the same mean.
    clusters : (n,) cluster of each segment; segments of a document are not independent, so documents are drawn.
    rng : the randomness; n_draws resamples; level of the interval in (0, 1).
    of : (..., C) means -> (..., K) numbers, such as ratios of means, which are wanted in place of the means; then no
        value may be missing.

    Raises
    ------
    DataError for unequal lengths, fewer than 2 clusters, infinite numbers, or a column without any number.

    >>> bootstrap_means([0.0, 1.0, 0.0, 1.0], [0, 1, 2, 3], np.random.default_rng(0)).text("points", digits=1)
    '0.5 points, 95 % interval -0.4 to 1.4 (n = 4 segments)'
    """
    x = np.asarray(columns, dtype=np.float64)
    x = x[:, None] if x.ndim == 1 else x
    there = ~np.isnan(x)
    if x.ndim != 2 or np.isinf(x).any() or not there.any(0).all():
        raise DataError(
            "columns must be (segments, columns) of numbers, some in each column; got shape "
            f"{x.shape}."
        )
    checks.same_length(columns=x, clusters=clusters)
    counts = resamples(clusters, n_draws, rng)
    m, index = counts.n_clusters, counts.index
    if m < 2:
        raise DataError(
            f"{m} cluster: an interval needs at least 2; resample segments instead of documents."
        )
    sums = cluster_sums(np.stack([np.where(there, x, 0.0), there], axis=2), index)
    sizes, mean = sums[:, :, 1], np.nanmean(x, 0)
    if of is not None:
        mean = of(mean)
        there, sizes = (np.repeat(v[:, :1], len(mean), axis=1) for v in (there, sizes))
    low, high, se, draws = score_intervals(_ratio, sums, counts, sizes=sizes, level=level, of=of)
    return MeanInterval(mean, low, high, se, there.sum(0), m, level, draws, effective(sizes))


def _ratio(sums: np.ndarray) -> np.ndarray:
    """A mean: the sum over the size; nan where the size is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(sums[..., 1] > 0, sums[..., 0] / sums[..., 1], np.nan)


def score_intervals(
    score: Score,
    sums: np.ndarray,
    counts: Resamples | np.ndarray,
    *,
    sizes: np.ndarray,
    level: float = LEVEL,
    of: Score | None = None,
    farther: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Interval and standard error of scores of summed counts: (C,) low, high, se, and the (B, C) draws.

    With θ the score, s its standard error by linearisation over clusters, and θ*, s* those of the draws, the interval
    is from θ - q s to θ - q' s, where q and q' are the upper and lower quantiles of (θ* - θ) / s*. With fewer than
    FEWEST effective clusters each end is the farther one of that and of `student`, at most FARTHEST times the latter.

    Parameters
    ----------
    score : (..., S) sums -> (...) scores. sums : (M, C, S) of each cluster. counts : `resamples`, or (B, M) how
        often each cluster is drawn.
    sizes : (M, C) of each cluster, by which some count for more than others (`effective`); with `of` (M, K).
    level : of the interval, in (0, 1).
    of : (..., C) scores -> (..., K) numbers made of them, such as correlations, which are wanted in their place.
    farther : each end is the farther one also where there are more clusters: as correlations need it.
    """
    m, flat = len(sums), np.ascontiguousarray(sums, dtype=np.float64)
    whole, one = flat.sum(0)[None], np.ones((1, m), dtype=np.int64)
    estimate, slopes = score(whole)[0], _slopes(score, whole, one, flat)
    error = _spread(one, flat, slopes, np.empty((1, 0, sums.shape[1])))[0]
    step = STEP_OF * error
    if of is not None:
        error = _spread(one, flat, slopes, _gradient(of, estimate[None], step))[0]
    parts = [_drawn(score, flat, block, of, step) for block in _blocks(counts)]
    draws, errors = (np.concatenate(part) for part in zip(*parts, strict=True))
    estimate = estimate if of is None else of(estimate)
    there = (sizes > 0).sum(0)  # of M clusters, for a column may lack some
    fewer = np.where(there > 1, np.sqrt(there / np.maximum(1, there - 1) * (m - 1) / m), np.nan)
    error, errors = fewer * error, fewer * errors
    few = (n_effective := effective(sizes)) < FEWEST
    least, most = student(estimate, error, n_effective, level)
    far = np.where(few, FARTHEST * (most - estimate), np.inf)
    low, high = _studentised(estimate, error, draws, errors, level)
    both = few | np.bool_(farther)
    low = np.where(np.isinf(low), least, np.where(both, np.clip(low, estimate - far, least), low))
    high = np.where(np.isinf(high), most, np.where(both, np.clip(high, most, estimate + far), high))
    return low, high, error, draws


def _blocks(counts: Resamples | np.ndarray) -> Iterator[np.ndarray]:
    """(b, M) how often each cluster is drawn, of all draws in turn."""
    if isinstance(counts, Resamples):
        yield from (block for _, block in counts.blocks())
    else:
        yield counts


def _drawn(
    score: Score, sums: np.ndarray, counts: np.ndarray, of: Score | None, step: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(b, K) numbers and (b, K) their standard errors in b draws."""
    (m, c, s), b = sums.shape, len(counts)
    drawn = resampled_sums(counts, sums.reshape(m, -1))[0].reshape(b, c, s)
    draws, slopes = score(drawn), _slopes(score, drawn, counts, sums)
    if of is None:
        return draws, _spread(counts, sums, slopes, np.empty((b, 0, c)))
    return of(draws), _spread(counts, sums, slopes, _gradient(of, draws, step))


def moves_variance(moves: ArrayLike, clusters: Sequence | np.ndarray) -> tuple[float, float]:
    """(variance of a number, effective clusters behind it) by linearisation: M / (M - 1) Σ (Σ moves of a cluster)².

    Parameters
    ----------
    moves : (n,) how far each segment moves the number, such as (x - mean) / n for a mean; they add up to 0.
    clusters : (n,) cluster of each segment, at least 2.

    >>> moves_variance([-0.5, 0.5], ["a", "b"])  # of the mean of 0 and 2
    (1.0, 2.0)
    """
    _, index, sizes = np.unique(np.asarray(clusters), return_inverse=True, return_counts=True)
    sums, m = np.bincount(index, moves), len(sizes)
    return float(m / (m - 1) * sums @ sums), float(effective(sizes))


def student(
    estimate: ArrayLike, error: ArrayLike, n: ArrayLike, level: float = LEVEL
) -> tuple[np.ndarray, np.ndarray]:
    """(low, high), each (...): estimate ± t · error, of Student's t with n - 1 degrees of freedom, at least 1.

    Parameters
    ----------
    estimate, error : (...) a score and its standard error. n : (...) effective clusters. level : in (0, 1).
    """
    from scipy.special import stdtrit

    estimate, error = np.asarray(estimate, dtype=np.float64), np.asarray(error, dtype=np.float64)
    half = (
        stdtrit(
            np.maximum(1.0, np.nan_to_num(np.asarray(n, dtype=np.float64)) - 1), (1 + level) / 2
        )
        * error
    )
    return estimate - half, estimate + half


def _studentised(
    estimate: np.ndarray, error: np.ndarray, draws: np.ndarray, errors: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of `score_intervals`; a draw without a spread of its own lies infinitely far out, on its side."""
    tell_few(len(draws))
    away = draws - estimate
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.where(
            errors > NO_SPREAD * error,
            away / errors,
            np.where(away == 0, 0.0, np.copysign(np.inf, away)),
        )
    t[np.isnan(draws)] = np.nan
    ends = np.full((2, *estimate.shape), np.nan)
    if (some := ~np.isnan(t).all(0)).any():
        for i, (tail, method) in enumerate(
            (((1 + level) / 2, "lower"), ((1 - level) / 2, "higher"))
        ):
            ends[i, some] = np.nanquantile(t[:, some], tail, axis=0, method=method)
    with np.errstate(invalid="ignore"):  # where nothing varies, however far out a draw may lie
        low, high = np.where(error == 0, estimate, estimate - ends * error)
    return low, high


def _slopes(score: Score, totals: np.ndarray, counts: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """(B, C, S) how a score changes with each of its sums, by central differences; 0 where all its counts are 0."""
    steps = STEP * resampled_sums(counts, np.abs(sums).reshape(len(sums), -1))[0].reshape(
        totals.shape
    )
    out = np.zeros_like(totals)
    for j in range(totals.shape[2]):
        step = steps[:, :, j]
        up, down = totals.copy(), totals.copy()
        up[:, :, j] += step
        down[:, :, j] -= step
        np.divide(score(up) - score(down), 2 * step, out=out[:, :, j], where=step > 0)
    return out


@compiled
def _spread(
    counts: np.ndarray, sums: np.ndarray, slopes: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """(B, K) standard errors: √(M / (M - 1) Σ (e - ē)²) over the drawn clusters.

    A score's e is slopes · sums, that of a number made of scores (B, K, C) weights · theirs; K = 0: the scores alone.
    """
    (b, m), (c, s), n = counts.shape, sums.shape[1:], weights.shape[1]
    out, e = np.empty((b, n or c)), np.empty(c)
    for i in range(b):
        total, squares = np.zeros(n or c), np.zeros(n or c)
        for g in range(m):
            if counts[i, g]:
                for k in range(c):
                    e[k] = 0.0
                    for j in range(s):
                        e[k] += slopes[i, k, j] * sums[g, k, j]
                for k in range(n or c):
                    one = e[k] if n == 0 else 0.0
                    for j in range(c if n else 0):
                        one += weights[i, k, j] * e[j]
                    total[k] += counts[i, g] * one
                    squares[k] += counts[i, g] * one * one
        for k in range(n or c):
            out[i, k] = np.sqrt(max(0.0, squares[k] - total[k] * total[k] / m) * m / (m - 1))
    return out


def _gradient(of: Score, scores: np.ndarray, step: np.ndarray) -> np.ndarray:
    """(B, K, C) how numbers change with each of (B, C) scores, by central differences; 0 where a score has no error."""
    out = np.zeros((len(scores), np.shape(of(scores))[1], scores.shape[1]))
    for c in np.flatnonzero(step > 0):
        up, down = scores.copy(), scores.copy()
        up[:, c] += step[c]
        down[:, c] -= step[c]
        out[:, :, c] = (of(up) - of(down)) / (2 * step[c])
    return out


def tell_few(n: int) -> None:
    """A note where there are too few draws for the ends of an interval."""
    if 0 < n < FEW_DRAWS:
        note_once(
            f"{n} draws are too few for the ends of a 95 % interval, and for a verdict from them: "
            "take 1,000 or more."
        )
