"""Soft pairwise accuracy: does a metric tell systems apart as surely as people do?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from ..estimate import Estimate
from ..intervals import effective, student
from ..stats import clusters_of

__all__ = ["jackknife_ends", "likeness", "soft_pairwise_accuracy", "swap_p", "swap_signs"]

N_SWAPS = 1000


def soft_pairwise_accuracy(
    human: ArrayLike,
    metric: ArrayLike,
    docs: Sequence | np.ndarray,
    rng: np.random.Generator,
    *,
    n_swaps: int = N_SWAPS,
) -> Estimate:
    """How alike people and a metric are in how surely they tell systems apart: 1 − |p − p'|, the mean over all pairs.

    p is that of a paired permutation test, whether the first system of a pair is better: near 0 or 1 where that is
    sure, 1/2 where nothing can be told. So a pair that people cannot tell apart asks nothing of the metric but the same
    doubt. `swap_p` has p, `jackknife_ends` the interval.

    Parameters
    ----------
    human, metric : (N, k) scores of k systems on N sources, higher is better. A source where any is missing (nan) is
        left out.
    docs : (N,) the document of each source. n_swaps : permutations; all of them where there are no more.

    Returns
    -------
    Estimate in [0, 1]; n is the number of pairs of systems. Two metrics that know nothing get about 1/2 or more, and
    the fewer pairs people can tell apart, the more: compare with what noise gets (`metric_bias`).

    References
    ----------
    Thompson, Mathur, Deutsch and Khayrallah 2024, WMT.

    >>> soft_pairwise_accuracy([[2, 1], [2, 1]], [[1, 3], [1, 1]], ["a", "b"], np.random.default_rng(0)).value
    0.375
    """
    x, y = (np.asarray(v, dtype=np.float64) for v in (human, metric))
    if x.ndim != 2 or x.shape != y.shape or x.shape[1] < 2:
        raise DataError(
            "two scores of (sources, systems) with two or more systems are wanted, got shapes "
            f"{x.shape} and {y.shape}."
        )
    checks.same_length(human=x, docs=docs)
    whole = ~(np.isnan(x) | np.isnan(y)).any(1)
    if not whole.any():
        raise DataError("no source has both scores of every system; leave the sparse systems out.")
    index = np.unique(clusters_of(np.asarray(docs)[whole]), return_inverse=True)[1]
    signs = swap_signs(int(whole.sum()), rng, n_swaps)
    values = likeness(swap_p(x[whole], signs, index), swap_p(y[whole], signs, index))
    low, high, se, counting = jackknife_ends(values, index)
    return Estimate(
        "soft pairwise accuracy",
        float(values[0]),
        low=float(np.clip(low, 0, 1)),
        high=float(np.clip(high, 0, 1)),
        se=se,
        n=x.shape[1] * (x.shape[1] - 1) // 2,
        of="pairs of systems",
        n_docs=len(values) - 1,
        n_effective=counting,
        left_out=int((~whole).sum()),
        signature=f"swaps:{len(signs)}",
    )


def swap_signs(n: int, rng: np.random.Generator, n_swaps: int = N_SWAPS) -> np.ndarray:
    """(B, N) +1, or -1 where the outputs of two systems are swapped: all 2^N ways if there are no more, else drawn.

    Parameters
    ----------
    n : N sources. n_swaps : B at most.
    """
    n_swaps = checks.whole("n_swaps", n_swaps, least=2)
    if 2**n <= n_swaps:
        return np.array([*product((1.0, -1.0), repeat=n)]).reshape(2**n, n)
    return 1.0 - 2.0 * rng.integers(0, 2, (n_swaps, n))


def swap_p(scores: ArrayLike, signs: np.ndarray, index: np.ndarray | None = None) -> np.ndarray:
    """(M + 1, P) p that the first system of each pair is not the better one: over all, then without each document.

    The share of the swaps in which the difference of the two means is larger than the one seen, an equal one counting
    half. So p of a pair and of the pair turned round add up to 1, and two equal systems have 1/2. Sources are swapped
    one by one, as in the published definition.

    Parameters
    ----------
    scores : (N, k) of k systems, complete, higher is better. signs : of `swap_signs`.
    index : (N,) the document 0..M-1 of each source; None: over all only.

    >>> swap_p([[3, 1], [1, 1]], swap_signs(2, np.random.default_rng(0)), np.array([0, 1])).tolist()
    [[0.25], [0.5], [0.25]]
    """
    x = checks.finite("scores", np.asarray(scores, dtype=np.float64), (signs.shape[1], None))
    pairs = np.array([*combinations(range(x.shape[1]), 2)], dtype=np.int64).reshape(-1, 2)
    d = x[:, pairs[:, 0]] - x[:, pairs[:, 1]]
    seen, null, near = d.sum(0), signs @ d, 1e-12 * np.abs(d).sum(0)
    out = [_share(null, seen, near)]
    for doc in range(0 if index is None else int(index.max()) + 1):
        rows = index == doc
        out.append(_share(null - signs[:, rows] @ d[rows], seen - d[rows].sum(0), near))
    return np.array(out)


def _share(null: np.ndarray, seen: np.ndarray, near: np.ndarray) -> np.ndarray:
    """(P,) share of (B, P) differences beyond the seen one; those as large as it, up to rounding, count half."""
    away = null - seen
    return (away > near).mean(0) + 0.5 * (np.abs(away) <= near).mean(0)


def likeness(human: np.ndarray, metric: np.ndarray) -> np.ndarray:
    """(M + 1,) soft pairwise accuracy over all documents, then without each, of p that are at hand.

    Parameters
    ----------
    human, metric : (M+1, P) of `swap_p`, with the same swaps.
    """
    return 1 - np.abs(human - metric).mean(1)


def jackknife_ends(values: np.ndarray, index: np.ndarray) -> tuple[float, float, float, float]:
    """(low, high, standard error, effective documents) of a number from what it is without each of M documents.

    The interval is for its mean over test sets of as many documents, with these very systems; `docs/calibration.md` has
    how often it holds that of a soft pairwise accuracy. With one document all are nan.

    Parameters
    ----------
    values : (M + 1,) the number over all documents, then without each. index : (N,) the document of each source.
    """
    m, rest = len(values) - 1, values[1:]
    if m < 2:
        return np.nan, np.nan, np.nan, np.nan
    se = float(np.sqrt((m - 1) / m * ((rest - rest.mean()) ** 2).sum()))
    counting = float(effective(np.bincount(index).astype(float)))
    low, high = student(values[0], se, counting)
    return float(low), float(high), se, counting
