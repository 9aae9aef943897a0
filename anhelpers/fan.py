"""The expected oracle curve with fewer candidates: exact over all random subsets of K, for every K at once.

A random subset of K of a source's n candidates contains the one of rank j (1 = largest accuracy + β · naturalness), and
none better, with probability C(n - j, K - 1) / C(n, K). So the expected choice is a weighted sum over ranks. As β
grows, two candidates change ranks only if their scores are equal, and merging these crossings of all sources gives
the whole curve: no grid, no simulation.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from . import checks
from ._lazy import compiled
from .errors import DataError
from .frontier import _held_betas, most_at, vertex_at

_MOST = 2**26  # pairs of candidates × K: up to 1 GiB of results
# crossings nearer than this may be one: each β is rounded three times
_SAME = 4 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class ExpectedCurves:
    """The expected oracle curve over random subsets of K candidates of each source, for M values of K.

    Vertex v is optimal for β in [beta[v], beta[v+1]), the last one up to ∞. Each column is a concave, falling curve. If
    the candidates are n independent draws from a translator, each column is an unbiased estimate of the oracle's curve
    with K draws (a U-statistic).

    Parameters
    ----------
    ks : array
        (M,) subset sizes K.
    beta : array
        (V,) strictly increasing, beta[0] == 0; every β at which some column changes.
    accuracy, naturalness : array
        (V, M) expectations of the means over the sources, in the units of the input.
    n_segments : int
        Number of sources S.
    n_capped : array
        (M,) number of sources with fewer than K candidates, all of which are used.
    """

    ks: np.ndarray
    beta: np.ndarray
    accuracy: np.ndarray
    naturalness: np.ndarray
    n_segments: int
    n_capped: np.ndarray

    def vertex(self, beta: float) -> int:
        """Index of the vertex at this β in [0, ∞]."""
        return vertex_at(self.beta, beta)

    def accuracy_at(self, naturalness: ArrayLike) -> np.ndarray:
        """(M, ...) largest accuracy of any mixture at this naturalness or more; nan beyond the end of a curve."""
        columns = zip(self.naturalness.T, self.accuracy.T, strict=True)
        return np.stack([most_at(naturalness, n, a) for n, a in columns])


def expected_curves(
    segment: ArrayLike,
    accuracy: ArrayLike,
    naturalness: ArrayLike,
    ks: ArrayLike,
    *,
    counts: ArrayLike | None = None,
    cap: bool = False,
) -> ExpectedCurves:
    """Expected oracle curve with K random candidates per source, for all β in [0, ∞] and several K.

    Parameters
    ----------
    segment : array_like
        (n,) source of each candidate, 0..S-1 in any order, each at least once; the counts may differ.
    accuracy, naturalness : array_like
        (n,) higher is better, any unit.
    ks : array_like
        (M,) whole numbers >= 1: sizes of subsets, drawn without replacement.
    counts : array_like, optional
        (n,) number of candidates of each row (default: one).
    cap : bool
        Whether to use all candidates of a source with fewer than K; otherwise it is an error.

    Returns
    -------
    ExpectedCurves, about as large as the number of pairs of candidates times M; `expected_at` is smaller.

    Raises
    ------
    DataError
        Unequal lengths, scores not finite or beyond ±1e302, a β that overflows, K < 1, or a result that is too large.

    References
    ----------
    Flamich et al. 2025, eqs. 5 and 6 with fewer candidates; an expected maximum by order statistics, as pass@k
    (Chen et al. 2021) is for a success instead of a score.

    >>> fan = expected_curves([0, 0, 0], [80, 50, 60], [-4, -1, -2], [1, 2, 3])
    >>> fan.beta, fan.accuracy.round(2)[[0, -1]]
    (array([ 0., 10.]), array([[63.33, 73.33, 80.  ],
           [63.33, 53.33, 50.  ]]))
    """
    ks = _whole("ks", ks)
    segment, a, n = _flat(segment, accuracy, naturalness, counts)
    order = np.lexsort((-n, -a, segment))
    segment, a, n = segment[order], a[order], n[order]
    sizes = np.bincount(segment, minlength=1)
    size = int((sizes * (sizes - 1) // 2).sum()) * len(ks)
    if size > _MOST:
        raise DataError(f"the curve has {size:.1e} numbers, at most {_MOST:.1e}. Use expected_at.")
    table, at, capped = _weight_table(sizes, ks, cap)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    better, worse, beta = _crossings(a, n, starts, size // len(ks))
    order = np.argsort(_held_betas(beta), kind="stable")
    vertex, betas = _vertices(beta[order])
    # rows of the table, by rank
    first = np.repeat(at, sizes) + np.arange(len(a)) - np.repeat(starts[:-1], sizes)
    curves, changed = _merge(better[order], worse[order], vertex, first, a, n, table, len(betas))
    curves /= len(sizes)
    best, natural = curves[:, changed]
    return ExpectedCurves(ks, betas[changed], best, natural, len(sizes), capped)


def expected_at(
    segment: ArrayLike,
    accuracy: ArrayLike,
    naturalness: ArrayLike,
    betas: ArrayLike,
    ks: ArrayLike,
    *,
    counts: ArrayLike | None = None,
    cap: bool = False,
) -> np.ndarray:
    """(2, S, B, M) expected accuracy and naturalness of every source at B values of β, for M values of K.

    The mean over the sources is a point of `expected_curves`, and (draws, S) bootstrap weights times the values are its
    resamples. If two scores are within rounding of each other at β, either side of that vertex may result. Time grows
    as n · log n.

    Parameters
    ----------
    segment, accuracy, naturalness, ks, counts, cap : array_like, bool
        As in `expected_curves`.
    betas : array_like
        (B,) in [0, ∞], in any order.

    >>> expected_at([0, 0, 0], [80, 50, 60], [-4, -1, -2], [0, 20], [1, 3])[0, 0].round(2)
    array([[63.33, 80.  ],
           [63.33, 50.  ]])
    """
    betas = np.array([checks.non_negative("beta", beta) for beta in np.atleast_1d(betas)])
    ks = _whole("ks", ks)
    segment, a, n = _flat(segment, accuracy, naturalness, counts)
    # the order at ∞, which stable sorts keep on ties: the more natural first
    order = np.lexsort((-a, -n, segment))
    sizes = np.bincount(segment, minlength=1)
    table, at, _ = _weight_table(sizes, ks, cap)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return _values(a[order], n[order], starts, betas, table, at)


def rank_weights(n: int, ks: ArrayLike) -> np.ndarray:
    """(n, M) probability that the best of K candidates drawn from n without replacement has rank 1, 2, …, n.

    C(n - j, K - 1) / C(n, K) for rank j, as a running product of factors below 1: exact to rounding for any n. K of
    `ks` (M,) above n count as n.

    >>> rank_weights(4, [1, 2, 4]).round(3).tolist()
    [[0.25, 0.5, 1.0], [0.25, 0.333, 0.0], [0.25, 0.167, 0.0], [0.25, 0.0, 0.0]]
    """
    ks = np.minimum(_whole("ks", ks), n)
    left = n - np.arange(1, n)[:, None]  # candidates below rank j
    factors = np.maximum(left + 1 - ks, 0) / left
    return np.cumprod(np.concatenate([ks[None] / n, factors]), axis=0)


def _whole(name: str, values: ArrayLike) -> np.ndarray:
    x = np.atleast_1d(np.asarray(values))
    if x.ndim != 1 or not x.size or not np.issubdtype(x.dtype, np.integer) or x.min() < 1:
        raise DataError(f"{name}: got {x.ravel()[:9].tolist()}, expected whole numbers ≥ 1.")
    return x.astype(np.int64)


def _flat(segment, accuracy, naturalness, counts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Checked segment ids and scores, a row per candidate."""
    segment = checks.segment_ids(segment)
    a = checks.finite_scores("accuracy", accuracy, segment)
    n = checks.finite_scores("naturalness", naturalness, segment)
    if counts is not None:
        counts = _whole("counts", counts)
        checks.same_length(segment=segment, counts=counts)
        segment, a, n = (np.repeat(v, counts) for v in (segment, a, n))
    return segment, a, n


def _weight_table(
    sizes: np.ndarray, ks: np.ndarray, cap: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The concatenated `rank_weights` of every size; (S,) begin of those of a source; (M,) n_capped."""
    short = sizes[:, None] < ks
    if sizes.min() < (1 if cap else ks.max()):
        s, most = int(sizes.argmin()), ks.max()
        raise DataError(f"segment {s} has {sizes[s]} candidates, K is {most}. Use cap=True.")
    distinct, which = np.unique(sizes, return_inverse=True)
    begin = np.concatenate([[0], np.cumsum(distinct)[:-1]])
    return np.concatenate([rank_weights(int(n), ks) for n in distinct]), begin[which], short.sum(0)


def _vertices(beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The vertex of every sorted crossing and the β of every vertex; crossings within rounding share one.

    If three candidates cross in one point, the order of the three computed β is arbitrary; after the last of them all
    ranks are right.
    """
    beta = np.concatenate([[0.0], beta])
    with np.errstate(over="ignore"):
        new = beta[1:] > beta[:-1] * (1 + _SAME)
    vertex = np.concatenate([[0], np.cumsum(new)])
    return vertex[1:], beta[np.append(new, True)]


@compiled
def _crossings(a, n, starts, pairs):
    """Every pair of a source that changes ranks: the better candidate before, the one after, and the β."""
    better, worse = np.empty(pairs, np.int64), np.empty(pairs, np.int64)
    beta, k = np.empty(pairs, np.float64), 0
    for s in range(len(starts) - 1):
        for i in range(starts[s], starts[s + 1]):
            for j in range(i + 1, starts[s + 1]):
                if a[i] > a[j] and n[j] > n[i]:
                    better[k], worse[k], beta[k] = i, j, (a[i] - a[j]) / (n[j] - n[i])
                    k += 1
    return better[:k], worse[:k], beta[:k]


@compiled
def _merge(better, worse, vertex, row, a, n, table, n_vertices):
    """(2, V, M) sums over the sources at every vertex, and whether it differs from the one before.

    row : of `table`, for each candidate: that of its rank, which every crossing moves by one.
    """
    m = table.shape[1]
    curves, changed = np.empty((2, n_vertices, m)), np.zeros(n_vertices, np.bool_)
    changed[0] = True
    now = np.zeros((2, m))
    for i in range(len(a)):
        now[0] += table[row[i]] * a[i]
        now[1] += table[row[i]] * n[i]
    e = 0
    for v in range(n_vertices):
        while e < len(vertex) and vertex[e] == v:
            i, j = better[e], worse[e]
            for k in range(m):
                falls = table[row[i] + 1, k] - table[row[i], k]
                rises = table[row[j] - 1, k] - table[row[j], k]
                now[0, k] += falls * a[i] + rises * a[j]
                now[1, k] += falls * n[i] + rises * n[j]
                changed[v] |= falls != 0.0 or rises != 0.0
            row[i] += 1
            row[j] -= 1
            e += 1
        curves[:, v] = now
    return curves, changed


@compiled
def _values(a, n, starts, betas, table, at):
    """(2, S, B, M) weighted sums over the ranks of every source at every β."""
    n_seg, m = len(starts) - 1, table.shape[1]
    out = np.zeros((2, n_seg, len(betas), m))
    for s in range(n_seg):
        own_a, own_n = a[starts[s] : starts[s + 1]], n[starts[s] : starts[s + 1]]
        for b in range(len(betas)):
            beta = betas[b]
            if np.isinf(beta):
                order = np.arange(len(own_a))
            else:  # accuracy + β · naturalness, divided by β if that may overflow
                sums = own_a + beta * own_n if beta < 1e5 else own_a / beta + own_n
                order = np.argsort(-sums, kind="mergesort")
            for r in range(len(order)):
                x, y, row = own_a[order[r]], own_n[order[r]], at[s] + r
                for k in range(m):
                    out[0, s, b, k] += table[row, k] * x
                    out[1, s, b, k] += table[row, k] * y
    return out
