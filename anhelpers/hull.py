"""Upper hulls of each source's candidates, for `frontier`: compiled loops, and the edges of the oracle curve."""

from __future__ import annotations

import numpy as np

from . import checks
from .compiled import compiled
from .errors import DataError

__all__ = ["betas", "edges_of", "held_betas", "hulls", "is_sorted", "line_distances", "sweep"]


@compiled
def sweep(order, segment, accuracy, naturalness, best, mask):
    """Mark what no other candidate of its source beats on both axes; `order` goes from natural to unnatural.

    Parameters
    ----------
    order : (n,) candidates, the most natural first; segment, accuracy, naturalness : (n,) of each candidate.
    best : (S,) -inf, changed here. mask : (n,) False, changed here to True for those that nothing beats.
    """
    last = -1
    for i in order:
        s = segment[i]
        same = (
            last >= 0
            and segment[last] == s
            and accuracy[last] == accuracy[i]
            and naturalness[last] == naturalness[i]
        )
        if accuracy[i] > best[s] or (same and mask[last]):
            mask[i] = True
            best[s] = accuracy[i]
        last = i


@compiled
def is_sorted(a):
    """Whether no number is smaller than the one before it."""
    for i in range(len(a) - 1):  # noqa: SIM110 (numba compiles the loop, not the generator)
        if a[i + 1] < a[i]:
            return False
    return True


@compiled
def hulls(order, starts, acc, nat, largest):
    """Per source: the two ends, the points above their chord, and the monotone chain of those.

    Parameters
    ----------
    order : (n,) candidates by source, or empty where they lie so. starts : (S+1,) where each source begins.
    acc, nat : (n,) scores. largest : what none of them may be beyond, as the third that is returned says.
    """
    n_seg = len(starts) - 1
    rows = np.empty(len(acc), np.int64)
    counts = np.empty(n_seg, np.int64)
    work = np.empty(len(acc), np.int64)
    beta = np.empty(len(acc), np.float64)
    used = 0
    held = True
    for s in range(n_seg):
        lo, hi = starts[s], starts[s + 1]
        top = right = order[lo] if len(order) else lo
        a_top = a_right = acc[top]
        n_top = n_right = nat[top]
        for j in range(lo, hi):
            i = order[j] if len(order) else j
            a, n = acc[i], nat[i]
            held &= abs(a) <= largest and abs(n) <= largest
            if a >= a_top and (a > a_top or n > n_top):
                top, a_top, n_top = i, a, n
            if n >= n_right and (n > n_right or a > a_right):
                right, a_right, n_right = i, a, n
        chain = rows[used:]
        chain[0] = top
        m = 1
        if n_right > n_top:
            da, dn = a_top - a_right, n_right - n_top
            k = 0
            # such products leave float64: the slope, a little flat, keeps no fewer
            if not 1e-140 < da * dn < 1e300:
                da, dn = da / dn * (1 - 1e-15), 1.0
            # strictly above the chord, so between its ends on both axes or beyond them
            for j in range(lo, hi):
                i = order[j] if len(order) else j
                if (acc[i] - a_right) * dn > (n_right - nat[i]) * da:
                    work[k] = i
                    k += 1
            inner = work[:k]
            inner = inner[np.argsort(nat[inner], kind="mergesort")] if k > 1 else inner
            for j in range(k + 1):
                i = inner[j] if j < k else right
                m = _push(chain, beta, m, i, acc, nat)
        counts[s] = m
        used += m
    return rows[:used], counts, held


@compiled
def _push(chain, beta, m, i, acc, nat):
    """Append point i to the chain, dropping those it makes useless; the β of successive edges rises strictly."""
    while True:
        p = chain[m - 1]
        if nat[i] == nat[p]:
            if acc[i] <= acc[p] or m == 1:
                return m
            m -= 1
            continue
        if nat[i] < nat[p]:
            return m
        b = (acc[p] - acc[i]) / (nat[i] - nat[p])
        if m > 1 and b <= beta[m - 1]:
            m -= 1
            continue
        chain[m] = i
        beta[m] = b
        return m + 1


@compiled
def line_distances(points, starts, line, begins, ends, units):
    """(n,) Euclidean distance of each point from the line of its group; a line of one point is that point.

    Parameters
    ----------
    points : (2, n). starts : (G+1,) where each group of them begins. line : (2, V) corners of all lines.
    begins, ends : (G,) which corners are those of a group's line; several groups may have the same.
    units : (G, 2) above 0, of both axes, in which a group's distances are.
    """
    far = np.empty(points.shape[1])
    for g in range(len(starts) - 1):
        first, last = begins[g], max(ends[g] - 1, begins[g] + 1)
        wide, high = units[g]
        for i in range(starts[g], starts[g + 1]):
            least = np.inf
            for v in range(first, last):
                w = min(v + 1, ends[g] - 1)
                dx, dy = (line[0, w] - line[0, v]) / wide, (line[1, w] - line[1, v]) / high
                x, y = (points[0, i] - line[0, v]) / wide, (points[1, i] - line[1, v]) / high
                square = dx * dx + dy * dy
                along = min(max((x * dx + y * dy) / square, 0.0), 1.0) if square > 0 else 0.0
                x, y = x - along * dx, y - along * dy
                least = min(least, x * x + y * y)
            far[i] = np.sqrt(least)
    return far


def edges_of(rows: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(is_edge, here, before): which rows of the chains are not the first, those rows, and the ones before them.

    Parameters
    ----------
    rows, counts : (H,) candidates and (S,) lengths of the chains, as from `hulls`.
    """
    is_edge = np.ones(len(rows), dtype=bool)
    is_edge[np.cumsum(counts) - counts] = False
    return is_edge, rows[is_edge], rows[np.flatnonzero(is_edge) - 1]


def betas(d_acc: np.ndarray, d_nat: np.ndarray) -> np.ndarray:
    """(E,) the β at which one candidate takes over from another, from the steps on both axes; as `held_betas`.

    Parameters
    ----------
    d_acc, d_nat : (E,) accuracy and naturalness of the second less those of the first.
    """
    with np.errstate(over="ignore", under="ignore"):
        return held_betas(-d_acc / d_nat)


def held_betas(beta: np.ndarray) -> np.ndarray:
    """(E,) the same β, all above 0; a DataError where two units are so far apart that one came out as 0 or ∞."""
    if beta.size and not (beta.min() >= checks.LEAST_RANGE and beta.max() < np.inf):
        raise DataError(
            "the units of accuracy and naturalness are so far apart that a β between them does "
            "not fit into a float64; change one of them."
        )
    return beta
