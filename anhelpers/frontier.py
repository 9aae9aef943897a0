"""The exact oracle curve of AN §5.1: every vertex for every β in [0, ∞], without a grid.

For one source, the score ``accuracy + β · naturalness`` is linear in β, so only candidates on the upper concave hull of
the points (naturalness, accuracy) can ever win, and the winner changes where β is minus the slope of a hull edge.
Merging the edges of all sources by that slope gives the whole curve.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from . import checks
from ._lazy import compiled
from .checks import LARGEST_SCORE as LARGEST
from .errors import DataError


@dataclass(frozen=True)
class OracleCurve:
    """All mean (naturalness, accuracy) points of an oracle that maximises accuracy + β · naturalness.

    Vertex v is optimal for β in [beta[v], beta[v+1]), the last one up to ∞. S sources, n candidates, H hull rows.

    Parameters
    ----------
    beta : array
        (V,) strictly increasing, beta[0] == 0.
    accuracy, naturalness : array
        (V,) means over the S sources, in the units of the input; non-increasing and non-decreasing.
    chain_segment, chain_candidate, chain_beta : array
        (H,) hull of every source, from its most accurate to its most natural candidate: source, flat index of the
        candidate, and the β from which it wins (0 for the first).
    n_candidates : int
        Number of candidates.
    max_edge : array
        (2,) largest step of one source in (naturalness, accuracy), divided by S: no selection of one candidate per
        source is above the curve, and some selection is within this distance of every point on it.
    """

    beta: np.ndarray
    accuracy: np.ndarray
    naturalness: np.ndarray
    chain_segment: np.ndarray
    chain_candidate: np.ndarray
    chain_beta: np.ndarray
    n_candidates: int
    max_edge: np.ndarray
    _first: np.ndarray = field(repr=False)
    _first_point: np.ndarray = field(repr=False)
    _edge_step: np.ndarray = field(repr=False)
    _edge_beta: np.ndarray = field(repr=False)
    _edge_segment: np.ndarray = field(repr=False)
    _edge_candidate: np.ndarray = field(repr=False)
    _edge_before: np.ndarray = field(repr=False)

    def __repr__(self) -> str:
        ends = f"accuracy {self.accuracy[0]:.4g} to {self.accuracy[-1]:.4g}"
        ends += f", naturalness {self.naturalness[0]:.4g} to {self.naturalness[-1]:.4g}"
        return f"OracleCurve({len(self.beta)} vertices over {self.n_segments} sources: {ends})"

    @property
    def n_segments(self) -> int:
        """Number of sources S."""
        return len(self._first)

    @property
    def n_hull(self) -> int:
        """Number of candidates selected by some β."""
        return len(self.chain_candidate)

    @property
    def share_off_hull(self) -> float:
        """Share of all candidates that no β ever selects, in [0, 1]."""
        return 1 - self.n_hull / self.n_candidates

    def select(self, beta: float) -> np.ndarray:
        """(S,) flat index of the chosen candidate of every source: argmax of eq. 5 at this β in [0, ∞].

        On a tie the more accurate wins at β = 0 and the more natural at every other β; of equal points, the first.
        """
        beta = checks.non_negative("beta", beta)
        chosen = self._first.copy()
        k = np.searchsorted(self._edge_beta, beta, side="right") if beta > 0 else 0
        chosen[self._edge_segment[:k]] = self._edge_candidate[:k]
        return chosen

    def vertex(self, beta: float) -> int:
        """Index of the vertex that is optimal at this β in [0, ∞]."""
        return vertex_at(self.beta, beta)

    def accuracy_at(self, naturalness: ArrayLike) -> np.ndarray:
        """Largest accuracy of any mixture of selections at this naturalness or more; nan beyond the last vertex."""
        return most_at(naturalness, self.naturalness, self.accuracy)

    def naturalness_at(self, accuracy: ArrayLike) -> np.ndarray:
        """Largest naturalness of any mixture of selections at this accuracy or more; nan above the first vertex."""
        return most_at(accuracy, self.accuracy[::-1], self.naturalness[::-1])

    def gaps(self, accuracy: ArrayLike, naturalness: ArrayLike) -> np.ndarray:
        """(2, k) accuracy of the curve at the naturalness of k points minus theirs, and vice versa.

        Each in the unit of its axis; negative for a point above the curve, nan beyond its end or without scores.
        """
        checks.same_length(accuracy=np.ravel(accuracy), naturalness=np.ravel(naturalness))
        points = np.asarray([accuracy, naturalness], dtype=np.float64)
        return np.stack([self.accuracy_at(points[1]), self.naturalness_at(points[0])]) - points

    def resampled_gaps(
        self, weights: ArrayLike, accuracy: np.ndarray, naturalness: np.ndarray
    ) -> np.ndarray:
        """(B, 2, k) `gaps` in B resamples, each with its own exact curve.

        A source's hull does not depend on how often the source is drawn: only the sums along the curve do.

        Parameters
        ----------
        weights : array_like
            (B, S) how often each source is drawn, in some resample at least once.
        accuracy, naturalness : array_like
            (B, k) means of k points in the same resamples.
        """
        weights = np.asarray(weights, dtype=np.float64)
        out = np.empty((len(weights), 2, accuracy.shape[1]))
        for b, w in enumerate(weights):
            line = self._line(self._first_point, self._edge_step, w) / w.sum()
            out[b, 0] = most_at(naturalness[b], line[1], line[0]) - accuracy[b]
            out[b, 1] = most_at(accuracy[b], line[0, ::-1], line[1, ::-1]) - naturalness[b]
        return out

    def judge(self, values: ArrayLike) -> np.ndarray:
        """(V,) means of other scores of the selected candidates at every vertex: another reference or metric.

        Such a line need be neither monotone nor concave; for mixtures of its points see `mixtures_at`.

        Parameters
        ----------
        values : array_like
            (n,) scores of the candidates given to `oracle_curve`, finite for those that some β selects.
        """
        values = self._judged(values)
        last = np.searchsorted(self._edge_beta, self.beta[1:], side="right") - 1
        steps = values[self._edge_candidate] - values[self._edge_before]
        sums = values[self._first].sum() + np.concatenate(([0.0], np.cumsum(steps)[last]))
        return sums / self.n_segments

    def resampled_judge(self, weights: ArrayLike, values: ArrayLike) -> np.ndarray:
        """(B, 2, V) `judge` and the naturalness at every vertex in B resamples of the sources.

        Parameters
        ----------
        weights : array_like
            (B, S) how often each source is drawn, in some resample at least once.
        values : array_like
            As for `judge`.
        """
        weights, values = np.asarray(weights, dtype=np.float64), self._judged(values)
        start = np.stack([values[self._first], self._first_point[1]])
        steps = values[self._edge_candidate] - values[self._edge_before]
        step = np.stack([steps, self._edge_step[1]])
        last = np.searchsorted(self._edge_beta, self.beta, side="right")
        last[0] = 0
        out = np.empty((len(weights), 2, len(self.beta)))
        for b, w in enumerate(weights):
            out[b] = self._line(start, step, w)[:, last] / w.sum()
        return out

    def _line(self, start: np.ndarray, step: np.ndarray, w: np.ndarray) -> np.ndarray:
        """(2, E + 1) sums after each edge with (S,) weights of the sources."""
        begin = (start @ w)[:, None]
        steps = np.cumsum(step * w[self._edge_segment], axis=1)
        return np.concatenate([begin, begin + steps], axis=1)

    def _judged(self, values: ArrayLike) -> np.ndarray:
        values = np.asarray(values, dtype=np.float64)
        n, on_hull = self.n_candidates, self.chain_candidate
        if values.shape != (n,) or not (np.abs(values[on_hull]) <= LARGEST).all():
            raise DataError(f"values: got {values.shape}, expected ({n},), finite on the hull.")
        return values


def oracle_curve(segment: ArrayLike, accuracy: ArrayLike, naturalness: ArrayLike) -> OracleCurve:
    """The exact oracle curve: for every β, the candidates of each source with the largest accuracy + β · naturalness.

    Parameters
    ----------
    segment : array_like
        (n,) source of each candidate, 0..S-1 in any order, each at least once; the counts may differ.
    accuracy : array_like
        (n,) higher is better, any unit (-Δ of AN eq. 1).
    naturalness : array_like
        (n,) higher is better, any unit (mean log-probability per token in AN eq. 5).

    Returns
    -------
    OracleCurve; its `select(beta)` returns flat indices into these arrays.

    Raises
    ------
    DataError
        Unequal lengths, a source without candidates, a score that is nan or beyond ±1e302, or a β that overflows.

    References
    ----------
    Flamich et al. 2025, eqs. 5 and 6, in the exact form.

    >>> curve = oracle_curve([0, 0, 1], [80, 50, 60], [-4, -1, -2])
    >>> curve.beta, curve.accuracy, curve.naturalness
    (array([ 0., 10.]), array([70., 55.]), array([-3. , -1.5]))
    >>> curve.select(9.9), curve.select(10)
    (array([0, 2]), array([1, 2]))
    """
    segment = checks.segment_ids(segment, np.size(segment))
    accuracy, naturalness = (np.ravel(v).astype(np.float64) for v in (accuracy, naturalness))
    checks.same_length(segment=segment, accuracy=accuracy, naturalness=naturalness)
    order, starts = _group(segment)
    rows, counts, held = hulls(order, starts, accuracy, naturalness, LARGEST)
    if not held:
        checks.finite_scores("accuracy", accuracy, segment)
        checks.finite_scores("naturalness", naturalness, segment)
    return _merge(rows, counts, accuracy, naturalness, len(segment))


def vertex_at(betas: np.ndarray, beta: float) -> int:
    """Index of the vertex that is best at this β in [0, ∞], given the (V,) rising β from which each is best."""
    return int(np.searchsorted(betas, checks.non_negative("beta", beta), side="right")) - 1


def most_at(at: ArrayLike, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Largest y of a falling line (V,), (V,) at this x or to its right; nan beyond its end, except by rounding."""
    at, end = np.asarray(at, dtype=np.float64), x[-1]
    slack = 1e-9 * max(abs(x[0]), abs(end))  # relative: any unit
    return np.interp(np.where((at > end) & (at <= end + slack), end, at), x, y, right=np.nan)


def mixtures_at(points: ArrayLike, naturalness: ArrayLike) -> np.ndarray:
    """(B, m) largest accuracy of a random mixture of k points at these naturalness or more.

    The points are systems, or an oracle at several β; the mixture draws one of them for every source. This is the
    upper hull of the points, nan beyond the most natural one.

    Parameters
    ----------
    points : array_like
        (B, 2, k) finite means of k points, accuracy and naturalness, in B resamples.
    naturalness : array_like
        (m,) values for all resamples.

    >>> mixtures_at([[[80, 60, 50], [-4, -3.5, -1]]], [-5, -4, -2.5, 0])
    array([[80., 80., 65., nan]])
    """
    points = checks.finite("points", points, (None, 2, None))
    accuracy, nat = (np.ascontiguousarray(points[:, axis]).ravel() for axis in (0, 1))
    starts = np.arange(len(points) + 1) * points.shape[2]
    rows, counts, held = hulls(np.empty(0, dtype=np.int64), starts, accuracy, nat, LARGEST)
    if not held:
        raise DataError(f"got a point at {np.abs(points).max():g}, expected within ±{LARGEST:g}.")
    _, here, before = _edges_of(rows, counts)
    _betas(accuracy[here] - accuracy[before], nat[here] - nat[before])
    chains = np.split(rows, np.cumsum(counts)[:-1])
    return np.stack([most_at(naturalness, nat[c], accuracy[c]) for c in chains])


def pareto_mask(segment: ArrayLike, accuracy: ArrayLike, naturalness: ArrayLike) -> np.ndarray:
    """(n,) bool: no candidate of the same source is at least as good on both axes and better on one.

    Every hull candidate is Pareto-optimal; a Pareto-optimal candidate off the hull is never selected by any β.
    """
    segment = checks.segment_ids(segment)
    accuracy = checks.finite_scores("accuracy", accuracy, segment)
    naturalness = checks.finite_scores("naturalness", naturalness, segment)
    order = np.lexsort((-accuracy, -naturalness, segment))
    mask = np.zeros(len(segment), dtype=bool)
    _sweep(order, segment, accuracy, naturalness, mask)
    return mask


def _group(segment: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(order, starts): source s has the candidates order[starts[s]:starts[s+1]]; order is empty if already sorted."""
    alone = not (segment[1:] < segment[:-1]).any()
    order = np.empty(0, dtype=np.int64) if alone else np.argsort(segment, kind="stable")
    ordered = segment if alone else segment[order]
    starts = np.searchsorted(ordered, np.arange(ordered.max(initial=0) + 2))
    if (empty := np.flatnonzero(np.diff(starts) == 0)).size:
        raise DataError(f"segment {empty[0]} has no candidate ({empty.size} in total).")
    return order, starts


def _merge(
    rows: np.ndarray, counts: np.ndarray, accuracy: np.ndarray, naturalness: np.ndarray, n: int
) -> OracleCurve:
    """All edges of all sources, sorted by their β; running sums are the vertices."""
    n_seg = len(counts)
    chain_segment = np.repeat(np.arange(n_seg), counts)
    is_edge, here, before = _edges_of(rows, counts)
    d_acc, d_nat = accuracy[here] - accuracy[before], naturalness[here] - naturalness[before]
    chain_beta = np.zeros(len(rows))
    chain_beta[is_edge] = _betas(d_acc, d_nat)
    order = np.argsort(chain_beta[is_edge], kind="stable")
    edge_beta = chain_beta[is_edge][order]
    last = np.append(edge_beta[1:] != edge_beta[:-1], True)[: len(edge_beta)]
    first = rows[~is_edge]

    def vertices(scores: np.ndarray, steps: np.ndarray) -> np.ndarray:
        taken = np.concatenate(([0.0], np.cumsum(steps[order])[last]))
        return (scores[first].sum() + taken) / n_seg

    edges = np.array([np.max(np.abs(d), initial=0.0) for d in (d_nat, d_acc)]) / n_seg
    return OracleCurve(
        np.concatenate(([0.0], edge_beta[last])),
        vertices(accuracy, d_acc),
        vertices(naturalness, d_nat),
        chain_segment,
        rows,
        chain_beta,
        n,
        edges,
        first,
        np.stack([accuracy[first], naturalness[first]]),
        np.stack([d_acc[order], d_nat[order]]),
        edge_beta,
        chain_segment[is_edge][order],
        here[order],
        before[order],
    )


@compiled
def _sweep(order, segment, accuracy, naturalness, mask):
    """Set `mask` (n,) for Pareto-optimal candidates; `order` by segment, from the most natural."""
    last, best = -1, -np.inf
    for i in order:
        same = last >= 0 and segment[last] == segment[i]
        best = best if same else -np.inf
        same = same and accuracy[last] == accuracy[i] and naturalness[last] == naturalness[i]
        if accuracy[i] > best or (same and mask[last]):
            mask[i] = True
            best = accuracy[i]
        last = i


@compiled
def hulls(order, starts, acc, nat, largest):
    """Per source: the two ends, the points above their chord, and the monotone chain of those.

    Parameters
    ----------
    order : array
        (n,) candidates by source, or empty if they are in this order.
    starts : array
        (S+1,) begin of each source.
    acc, nat : array
        (n,) scores.
    largest : float
        Bound of their size.

    Returns
    -------
    (H,) rows of the chains, (S,) their lengths, and whether the scores are within the bound.
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
            # such products overflow or underflow; the slope, a little flat, keeps no fewer points
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
    """Append point i to the chain and drop points below it, so that the β of successive edges rises strictly."""
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


def _edges_of(rows: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(is_edge, here, before): rows of the chains but the first of each, and the ones before them."""
    is_edge = np.ones(len(rows), dtype=bool)
    is_edge[np.cumsum(counts) - counts] = False
    return is_edge, rows[is_edge], rows[np.flatnonzero(is_edge) - 1]


def _betas(d_acc: np.ndarray, d_nat: np.ndarray) -> np.ndarray:
    """(E,) β at which one candidate replaces another, from the steps on both axes."""
    with np.errstate(over="ignore", under="ignore"):
        return _held_betas(-d_acc / d_nat)


def _held_betas(beta: np.ndarray) -> np.ndarray:
    """(E,) the same β, all above 0 and finite."""
    if beta.size and not (beta.min() >= checks.LEAST_RANGE and beta.max() < np.inf):
        raise DataError("a β does not fit a float64. Change the unit of accuracy or naturalness.")
    return beta
