"""p-values, their correction, correlations and shares with intervals."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from . import checks
from ._lazy import pd
from .errors import DataError

# 97.5 % quantile of the standard normal: half the width of a 95 % interval, in errors
Z95 = 1.959963984540054


def p_value(observed: ArrayLike, null: ArrayLike, side: str = "both") -> np.ndarray:
    """(C,) p: the share of (B, C) null draws at least as extreme as the (C,) observed, itself included.

    The smallest p is 1 / (B + 1), never 0 (Phipson and Smyth 2010). nan if a draw or the observed value is missing.

    Parameters
    ----------
    side : "both": at least as far from 0 as the observed; "lower": at most as large.

    >>> float(p_value(3.0, [[0.0], [-3.0], [1.0]])[0])
    0.5
    """
    both = checks.one_of(side, ("both", "lower"), "side of a test") == "both"
    far = np.abs if both else np.negative
    observed, null = np.atleast_1d(far(observed)), far(np.asarray(null))
    p = ((null >= observed - 1e-12 * (1 + np.abs(observed))).sum(0) + 1) / (len(null) + 1)
    return np.where(np.isnan(observed) | np.isnan(null).any(0) | (not len(null)), np.nan, p)


def holm(p: ArrayLike) -> np.ndarray:
    """Holm's step-down correction of m p-values: the probability of any false rejection below α is at most α.

    Monotone, at most 1, in the given order; nan stays nan and is not counted.

    Parameters
    ----------
    p : (m,) in [0, 1].

    References
    ----------
    Holm 1979, Scandinavian Journal of Statistics 6.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p, dtype=np.float64)
    if p.ndim != 1 or (p < 0).any() or (p > 1).any():
        raise DataError(f"p-values are a row of numbers from 0 to 1, got {p.ravel()[:5].tolist()}.")
    out = np.full(p.shape, np.nan)
    rows = np.flatnonzero(~np.isnan(p))
    order = rows[np.argsort(p[rows], kind="stable")]
    out[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return out


def pearson(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """(...) Pearson correlation along the last axis, in [-1, 1]; nan where one of the two does not vary.

    Parameters
    ----------
    x, y : (..., n), broadcast together.

    >>> float(pearson([1, 2, 3], [2, 4, 6]))
    1.0
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if not x.shape[-1:] == y.shape[-1:] > (0,):
        raise DataError(
            f"correlation: got shapes {x.shape}, {y.shape}, expected equal lengths ≥ 1."
        )
    # not by the norm: equal numbers leave rounding behind
    vary = (np.ptp(x, axis=-1) > 0) & (np.ptp(y, axis=-1) > 0)
    x, y = (v - v.mean(-1, keepdims=True) for v in (x, y))
    norm = np.sqrt((x * x).sum(-1) * (y * y).sum(-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip((x * y).sum(-1) / np.where(vary & (norm > 0), norm, np.nan), -1.0, 1.0)


def correlation_p(r: ArrayLike, n: int) -> np.ndarray:
    """(...) two-sided p of Pearson correlations of n independent pairs: Student's t with n - 2 degrees of freedom.

    >>> float(correlation_p(0.5, 4).round(3))
    0.5
    """
    from scipy.special import betainc

    r = np.asarray(r, dtype=np.float64)
    return betainc((n - 2) / 2, 0.5, (1 - r) * (1 + r)) if n > 2 else np.full_like(r, np.nan)


def correlation_interval(r: ArrayLike, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(...) the 95 % interval of Pearson correlations of n independent pairs: Fisher's z = artanh r ± 1.96 / √(n - 3).

    nan for fewer than 4 pairs; for r = ±1, where z is infinite, the interval is that point.

    References
    ----------
    Fisher 1921, Metron 1.

    >>> [round(float(end), 3) for end in correlation_interval(0.5, 28)]
    [0.156, 0.736]
    """
    r = np.asarray(r, dtype=np.float64)
    half = Z95 / np.sqrt(n - 3) if n > 3 else np.nan
    with np.errstate(divide="ignore"):
        z = np.arctanh(r)
    return np.tanh(z - half), np.tanh(z + half)


def spearman(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """(...) Spearman's rank correlation along the last axis, ties sharing their mean rank.

    Parameters
    ----------
    x, y : (..., n), broadcast together.
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if not (x.ndim and y.ndim):
        return pearson(x, y)  # raises for scalars
    return pearson(mean_ranks(x), mean_ranks(y))


def mean_ranks(x: ArrayLike) -> np.ndarray:
    """(..., n) ranks along the last axis, from 1; equal numbers share their mean rank, and beside a nan all are nan.

    Parameters
    ----------
    x : (..., n) numbers.

    >>> mean_ranks([30.0, 10.0, 20.0, 10.0]).tolist()
    [4.0, 1.5, 3.0, 1.5]
    """
    x = np.asarray(x, np.float64)
    columns = x.reshape(math.prod(x.shape[:-1]), x.shape[-1]).T
    ranks = pd.DataFrame(columns).rank().to_numpy().T.reshape(x.shape)
    return np.where(np.isnan(x).any(-1, keepdims=True), np.nan, ranks)


def share_interval(
    hits: ArrayLike, n: int = 0, docs: Sequence | np.ndarray | None = None
) -> tuple[float, float]:
    """(low, high) of a share in [0, 1], 95 %: Wilson's interval, of positive width even for 0 or n hits.

    For trials in documents: if their variance by documents exceeds that of independent trials, n is divided by the
    ratio, and the quantile is Student's. For 0 or n hits, n is the number of `effective` documents.

    Parameters
    ----------
    hits : 0 to n of n independent trials, where a tie may count half; with `docs` the (n,) trials: 0, 0.5 or 1.
    n : trials; 0: none, which gives nan. docs : (n,) document of each trial.

    References
    ----------
    Wilson 1927, JASA 22; Korn and Graubard 1998, Survey Methodology 24 (design effect).

    >>> [round(end, 3) for end in share_interval(1, 1)]
    [0.207, 1.0]
    >>> [round(end, 3) for end in share_interval([1, 1, 0, 0], docs=["a", "a", "b", "b"])]
    [0.002, 0.998]
    """
    z, trials, hits = Z95, checks.whole("n", n, 0, 2**53), np.asarray(hits, dtype=np.float64)
    if docs is not None:
        from scipy.special import stdtrit

        n = checks.same_length(hits=hits, docs=docs)
        _, of, sizes = np.unique(checks._names(docs), return_inverse=True, return_counts=True)
        for end in (hits.min(initial=0), hits.max(initial=0)):
            checks.non_negative("hits", end, 1)
        m, trials, each, hits = len(sizes), float(n), hits, hits.sum()
        if m > 1:  # of one document, trials are independent, as in other intervals
            away, trials = np.bincount(of, each - hits / n), n * n / (sizes @ sizes)
            alone, variance = hits / n * (1 - hits / n), m / (m - 1) * (away @ away) / n**2
            if variance > alone / n:
                z, trials = float(stdtrit(max(1.0, trials - 1), 0.975)), alone / variance
            elif alone:
                trials = n
    if not n:
        return float("nan"), float("nan")
    checks.non_negative("hits", float(hits), n)
    z2, share = z * z, float(hits / n)
    middle = share + z2 / (2 * trials)
    half = z * float(np.sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials)))
    low, high = (middle - half) / (1 + z2 / trials), (middle + half) / (1 + z2 / trials)
    # rounding aside
    return min(max(0.0, low), share), max(min(1.0, high), share)
