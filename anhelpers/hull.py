"""The compiled loops of `frontier`: over all candidates once, without a copy."""

from __future__ import annotations

import numpy as np

from .compiled import compiled

__all__ = ["hulls", "is_sorted", "sweep"]


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
            last >= 0 and segment[last] == s and accuracy[last] == accuracy[i] and naturalness[last] == naturalness[i]
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
def hulls(order, starts, acc, nat):
    """Per source: the two ends, the points above their chord, and the monotone chain of those.

    Parameters
    ----------
    order : (n,) candidates by source, or empty where they lie so. starts : (S+1,) where each source begins.
    acc, nat : (n,) scores.
    """
    n_seg = len(starts) - 1
    rows = np.empty(len(acc), np.int64)
    counts = np.empty(n_seg, np.int64)
    work = np.empty(len(acc), np.int64)
    beta = np.empty(len(acc), np.float64)
    used = 0
    finite = True
    for s in range(n_seg):
        lo, hi = starts[s], starts[s + 1]
        top = right = order[lo] if len(order) else lo
        a_top = a_right = acc[top]
        n_top = n_right = nat[top]
        for j in range(lo, hi):
            i = order[j] if len(order) else j
            a, n = acc[i], nat[i]
            finite &= a - a == 0.0 and n - n == 0.0
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
            for j in range(lo, hi):  # strictly above the chord, so between its ends on both axes or beyond them
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
    return rows[:used], counts, finite


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
