"""Confidence intervals: a studentised bootstrap over documents (or segments), with the same draws for all scores.

A score is a function of counts that add up over documents: a mean is a sum over a size, a corpus score a function of
summed counts. Each draw is measured in its own standard error, because a draw that lacks the long tail of a score also
underestimates its error. Plain percentiles ignore that and miss too often, on one side (Efron and Tibshirani 1993, ch.
12; Davison and Hinkley 1997, ch. 5). `docs/calibration.md` has the measured coverage.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from . import checks
from ._lazy import compiled
from .errors import DataError, counted
from .estimate import Estimate
from .progress import note_once
from .stats import correlation_p, pearson

LEVEL = 0.95
# Effective documents from which studentised draws suffice; below, an end is 1 to FARTHEST times Student's away.
FEWEST, FARTHEST = 8, 2.0
# below, each end of a 95 % interval rests on fewer than 5 draws beyond it
_FEW_DRAWS = 200
# steps of differences: shares of a sum, and of the error of a score
_STEP, _STEP_OF = 1e-4, 1e-2
# a draw with less than this share of the standard error has none but rounding
_NO_SPREAD = 1e-4
# `uneven`: the skewness of M means of documents, at least and over √M, and the p of their correlation with the size
_SKEW, _SKEW_OF, _TIED = 1.0, 0.28, 0.05
# How many numbers of draws × clusters are in memory at a time: 64 MB, and as much of what is made of them.
BLOCK = 2**23

# (..., S) sums -> (...) scores.
Score = Callable[[np.ndarray], np.ndarray]


def clusters_of(docs: Sequence | np.ndarray) -> np.ndarray:
    """(n,) units of resampling: documents, or single segments if there is one document only.

    >>> clusters_of(["a", "a", "b"]).tolist(), clusters_of(["a", "a", "a"]).tolist()
    (['a', 'a', 'b'], [0, 1, 2])
    """
    docs = checks._names(docs)
    return docs if len(set(docs.tolist())) > 1 else np.arange(len(docs))


def _n_documents(of: np.ndarray) -> int:
    """Number of documents; 0 if each text is one by itself, and so taken as independent."""
    n = len(np.unique(of))
    return 0 if n == len(of) else n


class Resamples:
    """B resamples of M clusters, drawn with replacement block by block: memory does not grow with B × M.

    Parameters
    ----------
    clusters : sequence
        (n,) cluster of each segment.
    n_draws : int
        B, at least 1.

    Attributes
    ----------
    n_draws, n_clusters : int
        B and M.
    index : array
        (n,) cluster 0..M-1 of each segment.
    """

    def __init__(self, clusters: Sequence | np.ndarray, n_draws: int, rng: np.random.Generator):
        self.n_draws = checks.whole("n_draws", n_draws)
        self.index = np.unique(checks._names(clusters), return_inverse=True)[1]
        self.n_clusters = m = int(self.index.max()) + 1
        self._kept, self._rng = None, rng
        if self.n_draws * m > BLOCK:
            self._rng = np.random.default_rng(rng.integers(2**63))
        else:
            self._kept = _draw(rng, self.n_draws, m)

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (draws, (b, M) how often each cluster is drawn in them); the same numbers every time."""
        if self._kept is not None:
            yield slice(0, self.n_draws), self._kept
            return
        rng, step = copy.deepcopy(self._rng), max(1, BLOCK // self.n_clusters)
        for start in range(0, self.n_draws, step):
            rows = slice(start, min(start + step, self.n_draws))
            yield rows, _draw(rng, rows.stop - start, self.n_clusters)

    def by_segment(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (draws, (b, n) how often each segment is drawn in them), BLOCK numbers at a time."""
        step = max(1, BLOCK // len(self.index))
        for rows, counts in self.blocks():
            for start in range(rows.start, rows.stop, step):
                some = counts[start - rows.start : start - rows.start + step]
                yield slice(start, start + len(some)), some.take(self.index, axis=1)

    def sums(self, *parts: np.ndarray) -> Iterator[tuple[slice, list[np.ndarray]]]:
        """Yield (draws, (b, C) sums of the drawn clusters for each (M, C) part)."""
        for rows, counts in self.blocks():
            yield rows, _resampled_sums(counts, *parts)


def _draw(rng: np.random.Generator, n_draws: int, m: int) -> np.ndarray:
    drawn = rng.integers(0, m, size=(n_draws, m))
    _count_rows(drawn)
    return drawn


@compiled
def _count_rows(drawn: np.ndarray) -> None:
    """Replace (B, M) numbers 0..M-1 by how often each occurs in its row, in place to save allocations."""
    for row in drawn:
        counts = np.zeros_like(row)
        for cluster in row:
            counts[cluster] += 1
        row[:] = counts


def cluster_sums(x: np.ndarray, index: np.ndarray) -> np.ndarray:
    """(M, ...) sums over the segments of each cluster, from (n, ...) values and (n,) clusters 0..M-1."""
    order, m = np.argsort(index, kind="stable"), int(index.max()) + 1
    ordered = x if (np.diff(order) == 1).all() else x[order]
    if m == len(x):  # each segment by itself
        return ordered
    return np.add.reduceat(ordered, np.searchsorted(index[order], np.arange(m)), axis=0)


def _resampled_sums(counts: np.ndarray, *sums: np.ndarray) -> list[np.ndarray]:
    """(B, C) float64 sums of the drawn clusters, of each (M, C) part, by (B, M) how often each is drawn."""
    times = counts.astype(np.float64)
    return [times @ s.astype(np.float64, copy=False) for s in sums]


@dataclass(frozen=True)
class MeanInterval:
    """Means of C columns over n segments with 95 % intervals and standard errors, from the same draws.

    Parameters
    ----------
    mean, low, high, se : array
        (C,) in the unit of the column; all but the mean are nan if one document has all numbers.
    n : array
        (C,) number of segments of each mean.
    n_clusters : int
        Number of resampled documents.
    draws : array
        (B, C) bootstrap means; a row is one draw, so differences between columns are paired.
    n_effective, uneven : array
        (C,) `effective` documents of each mean, and whether they are uneven (`score_intervals`).
    """

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    se: np.ndarray
    n: np.ndarray
    n_clusters: int
    draws: np.ndarray
    n_effective: np.ndarray
    uneven: np.ndarray

    def text(self, unit: str = "", column: int = 0, digits: int = 2) -> str:
        """One mean as text, such as "1.50 chrF, 95 % interval 1.20 to 1.80 (n = 52 segments in 12 documents)"."""
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
        """One of the means; `of` names what n counts, in the plural."""
        # ends of two or three draws may have changed places
        low, high = sorted((float(self.low[column]), float(self.high[column])))
        facts: dict = {"low": low, "high": high, "se": float(self.se[column]), "of": of}
        facts |= {"n": int(self.n[column]), "n_docs": self.n_clusters, "unit": unit}
        facts |= {"n_effective": float(self.n_effective[column]), "signature": signature}
        what = "documents" if self.n_clusters < facts["n"] else of
        m, uneven = min(self.n_clusters, facts["n"]), bool(self.uneven[column])
        facts["caution"] = few_clusters(m, what, facts["n_effective"], uneven=uneven)
        return Estimate(name, float(self.mean[column]), **facts)


def few_clusters(
    n: int,
    what: str = "documents",
    counting: float | None = None,
    most: int = 0,
    *,
    uneven: bool = False,
) -> str:
    """A caution if few clusters are resampled, few effective ones or `uneven` ones; else "".

    Parameters
    ----------
    n, most : int
        Number of clusters; the largest number, if it varies.
    what : str
        Their name in the plural.
    counting : float, optional
        Their `effective` number.
    uneven : bool
        What `score_intervals` returns.

    >>> few_clusters(3, "raters", most=4)
    'only 3 to 4 raters: the intervals may be far too short or far too long.'
    """
    counting = n if counting is None else counting
    if not counting < FEWEST:
        told = f"the scores of the {what} are skewed or go with their size: the intervals may be too short."
        return f"{told} Look at each score, or use more {what}." if uneven else ""
    unequal = f" ({counting:.2g} effective)" if counting < n - 0.5 else ""
    some = f"{n} to {most} {what}" if most > n else counted(n, what.removesuffix("s"))
    return f"only {some}{unequal}: the intervals may be far too short or far too long."


def effective(sizes: ArrayLike) -> np.ndarray:
    """(...) number of clusters of equal size as informative as (M, ...) clusters of these sizes: 1 / Σ w².

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
) -> MeanInterval:
    """Means over segments with studentised intervals from resampled clusters.

    Parameters
    ----------
    columns : array_like
        (n, C) or (n,) numbers, a row per segment; all columns are resampled together. nan is a missing value: each
        mean is over the values of its column, also in every draw. A column with values in one cluster only has no
        interval.
    clusters : sequence
        (n,) cluster of each segment: its document, since segments of one are not independent, or its own id.
    rng, n_draws : Generator, int
        Randomness and number of resamples.
    of : callable, optional
        (..., C) means -> (..., K) numbers made of them, such as ratios, to be returned instead; then no value may
        be missing.

    Raises
    ------
    DataError
        Unequal lengths, fewer than 2 clusters, infinite numbers, or a column without any number.

    >>> bootstrap_means([0.0, 1.0] * 4, range(8), np.random.default_rng(0)).text("points", digits=1)
    '0.5 points, 95 % interval -0.1 to 1.1 (n = 8 segments)'
    """
    x = np.asarray(columns, dtype=np.float64)
    x = x[:, None] if x.ndim == 1 else x
    there = ~np.isnan(x)
    whole = (there.any(0) if of is None else there).all()
    if x.ndim != 2 or np.isinf(x).any() or not whole:
        raise DataError(f"columns must be (segments, columns), finite, none empty; got {x.shape}.")
    checks.same_length(columns=x, clusters=clusters)
    counts = Resamples(clusters, n_draws, rng)
    if (m := counts.n_clusters) < 2:
        raise DataError(f"got {counted(len(x), 'scored segment')} in {m} cluster, expected 2.")
    sums = cluster_sums(np.stack([np.where(there, x, 0.0), there], axis=2), counts.index)
    sizes, mean = sums[:, :, 1], np.nanmean(x, 0)
    if of is not None:
        mean = of(mean)
        there, sizes = (np.repeat(v[:, :1], len(mean), axis=1) for v in (there, sizes))
    low, high, se, draws, uneven = score_intervals(_ratio, sums, counts, sizes=sizes, of=of)
    return MeanInterval(mean, low, high, se, there.sum(0), m, draws, effective(sizes), uneven)


def _ratio(sums: np.ndarray) -> np.ndarray:
    """A mean: the sum over the size; nan if the size is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(sums[..., 1] > 0, sums[..., 0] / sums[..., 1], np.nan)


def score_intervals(
    score: Score,
    sums: np.ndarray,
    counts: Resamples,
    *,
    sizes: np.ndarray,
    of: Score | None = None,
    farther: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Interval and standard error of scores of summed counts: (C,) low, high, se, the (B, C) draws, (C,) uneven.

    With θ the score, s its standard error by linearisation over clusters, and θ*, s* those of the draws, the interval
    is from θ - q s to θ - q' s, where q and q' are the upper and lower quantiles of (θ* - θ) / s*. With fewer than
    FEWEST effective clusters each end is the wider of this interval's and Student's t's, at most FARTHEST times the
    latter (`student`). Clusters are uneven where an interval may be too short: the skewness of their (linearised)
    means is above 1 and 0.28 √M in size, or the means correlate with the sizes (p < 0.05).

    Parameters
    ----------
    score : callable
        (..., S) sums -> (...) scores.
    sums : array
        (M, C, S) of each cluster.
    counts : Resamples
        Of the M clusters.
    sizes : array
        (M, C) of each cluster, for `effective`; (M, K) with `of`.
    of : callable, optional
        (..., C) scores -> (..., K) numbers made of them, such as correlations, to be returned instead.
    farther : bool
        Take the farther end for any number of clusters, as correlations need it.
    """
    m, flat = len(sums), np.ascontiguousarray(sums, dtype=np.float64)
    whole, one = flat.sum(0)[None], np.ones((1, m), dtype=np.int64)
    estimate, slopes = score(whole)[0], _slopes(score, whole, one, flat)
    error = _spread(one, flat, slopes, np.empty((1, 0, sums.shape[1])))[0]
    step, moves = _STEP_OF * error, (slopes * flat).sum(2)
    if of is not None:
        weights = _gradient(of, estimate[None], step)
        error = _spread(one, flat, slopes, weights)[0]
        estimate, moves = of(estimate), moves @ weights[0].T
    parts = [_drawn(score, flat, block, of, step) for _, block in counts.blocks()]
    draws, errors = (np.concatenate(part) for part in zip(*parts, strict=True))
    there = (sizes > 0).sum(0)  # of M clusters, for a column may lack some
    fewer = np.where(there > 1, np.sqrt(there / np.maximum(1, there - 1) * (m - 1) / m), np.nan)
    error, errors = fewer * error, fewer * errors
    few = (n_effective := effective(sizes)) < FEWEST
    least, most = student(estimate, error, n_effective)
    far = np.where(few, FARTHEST * (most - estimate), np.inf)
    low, high = _studentised(estimate, error, draws, errors)
    both = few | np.bool_(farther)
    low = np.where(np.isinf(low), least, np.where(both, np.clip(low, estimate - far, least), low))
    high = np.where(np.isinf(high), most, np.where(both, np.clip(high, most, estimate + far), high))
    vary = error > _NO_SPREAD**2 * np.abs(estimate)
    uneven = [bool(v) and _uneven(*c) for v, *c in zip(vary, moves.T, sizes.T, strict=True)]
    return low, high, error, draws, np.array(uneven, dtype=bool)


def _uneven(moves: np.ndarray, sizes: np.ndarray) -> bool:
    """Whether clusters are uneven (`score_intervals`), by the (M,) moves of a score by each and their (M,) sizes."""
    mean = moves[sizes > 0] / (size := sizes[sizes > 0])
    away = mean - mean.mean()
    with np.errstate(invalid="ignore"):
        skew = np.abs((away**3).mean()) / (away**2).mean() ** 1.5
    tied = correlation_p(pearson(size, mean), len(size)) < _TIED
    return bool(tied or skew > max(_SKEW, _SKEW_OF * len(size) ** 0.5))


def _drawn(
    score: Score, sums: np.ndarray, counts: np.ndarray, of: Score | None, step: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(b, K) numbers and (b, K) their standard errors in b draws."""
    (m, c, s), b = sums.shape, len(counts)
    drawn = _resampled_sums(counts, sums.reshape(m, -1))[0].reshape(b, c, s)
    draws, slopes = score(drawn), _slopes(score, drawn, counts, sums)
    if of is None:
        return draws, _spread(counts, sums, slopes, np.empty((b, 0, c)))
    return of(draws), _spread(counts, sums, slopes, _gradient(of, draws, step))


def moves_variance(moves: ArrayLike, clusters: Sequence | np.ndarray) -> tuple[float, float, bool]:
    """Variance of a number by linearisation: M / (M - 1) Σ (Σ moves of a cluster)²; effective clusters; uneven ones.

    Parameters
    ----------
    moves : array_like
        (n,) contributions of the segments to the number, such as (x - mean) / n for a mean; they add up to 0.
    clusters : sequence
        (n,) cluster of each segment, at least 2.

    >>> moves_variance([-0.5, 0.5], ["a", "b"])  # of the mean of 0 and 2
    (1.0, 2.0, False)
    """
    _, index, sizes = np.unique(checks._names(clusters), return_inverse=True, return_counts=True)
    sums, m = np.bincount(index, moves), len(sizes)
    return float(m / (m - 1) * sums @ sums), float(effective(sizes)), _uneven(sums, sizes)


def student(estimate: ArrayLike, error: ArrayLike, n: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(low, high), each (...): estimate ± t · error, of Student's t with n - 1 degrees of freedom, at least 1.

    Parameters
    ----------
    estimate, error, n : array_like
        (...) a score, its standard error, its effective clusters.
    """
    from scipy.special import stdtrit

    estimate, error, n = (np.asarray(v, dtype=np.float64) for v in (estimate, error, n))
    half = stdtrit(np.maximum(1.0, np.nan_to_num(n) - 1), (1 + LEVEL) / 2) * error
    return estimate - half, estimate + half


def _studentised(
    estimate: np.ndarray, error: np.ndarray, draws: np.ndarray, errors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of `score_intervals`; a draw without a spread is infinitely far away, on its side."""
    note_few_draws(len(draws))
    away = draws - estimate
    with np.errstate(invalid="ignore", divide="ignore"):
        alone = np.where(away == 0, 0.0, np.copysign(np.inf, away))
        t = np.where(errors > _NO_SPREAD * error, away / errors, alone)
    t[np.isnan(draws)] = np.nan
    ends = np.full((2, *estimate.shape), np.nan)
    if (some := ~np.isnan(t).all(0)).any():
        for i, (sign, method) in enumerate(((1, "lower"), (-1, "higher"))):
            ends[i, some] = np.nanquantile(t[:, some], (1 + sign * LEVEL) / 2, 0, method=method)
    # where nothing varies, however far away a draw may be
    with np.errstate(invalid="ignore"):
        low, high = np.where(error == 0, estimate, estimate - ends * error)
    return low, high


def _slopes(score: Score, totals: np.ndarray, counts: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """(B, C, S) derivatives of a score by its sums, by central differences; 0 if all its counts are 0."""
    sizes = _resampled_sums(counts, np.abs(sums).reshape(len(sums), -1))[0].reshape(totals.shape)
    steps, out = _STEP * sizes, np.zeros_like(totals)
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
    """(B, K, C) derivatives of numbers by (B, C) scores, by central differences; 0 for a score without error."""
    out = np.zeros((len(scores), np.shape(of(scores))[1], scores.shape[1]))
    for c in np.flatnonzero(step > 0):
        up, down = scores.copy(), scores.copy()
        up[:, c] += step[c]
        down[:, c] -= step[c]
        out[:, :, c] = (of(up) - of(down)) / (2 * step[c])
    return out


def note_few_draws(n: int) -> None:
    """Print a note if there are too few draws for the ends of an interval."""
    if 0 < n < _FEW_DRAWS:
        note_once(f"{n} draws are too few for the ends of a 95 % interval. Use 1,000 or more.")
