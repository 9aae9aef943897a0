"""The paper's claim, measured: accuracy and naturalness go together far from the frontier, against each other near it.

Choosing systems near a falling line makes what was chosen anti-correlated, whatever the systems are. Each row therefore
carries what selecting alone gives: the same choice among systems whose naturalness was dealt out at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from ..bootstrap import Score, cluster_sums, resamples, score_intervals
from ..errors import DataError
from ..frontier import OracleCurve, hulls, line_distances
from ..stats import p_value, pearson, spearman
from .scores import Plane

if TYPE_CHECKING:
    import pandas as pd


FEWEST = 4
"""Systems in the smallest window: three points on a plane correlate strongly whatever they are."""
ALL_WAYS = 7
"""Up to so many systems, p counts all ways to shuffle naturalness, so that it is the same by every seed."""


def frontier_distance(scores: np.ndarray, curve: OracleCurve | None = None) -> np.ndarray:
    """(k,) distance of each system from the frontier, in standard deviations of the systems on each axis.

    The frontier is the oracle curve, or without one (human ratings have none) the upper concave hull of the systems
    themselves, from the most accurate to the most natural.

    Parameters
    ----------
    scores : (2, k) accuracy and naturalness of k systems.

    >>> frontier_distance(np.array([[2.0, 0, 1, 0], [0.0, 2, 1, 0]])).round(2).tolist()
    [0.0, 0.0, 0.0, 1.48]
    """
    if not (scores.std(1, ddof=1) > 0).all():
        raise DataError(
            "all systems have the same score on one axis; there is no distance to speak of."
        )
    return _distances(scores[None], curve)[0]


def local_correlation(
    plane: Plane,
    rng: np.random.Generator,
    *,
    curve: OracleCurve | None = None,
    width: int | None = None,
    n_draws: int = 1000,
) -> pd.DataFrame:
    """Correlation of accuracy and naturalness among the systems nearest to the frontier, and in a sliding window.

    Systems with the very scores of an earlier one on every segment are left out: the same output sent in twice.

    Parameters
    ----------
    curve : the oracle curve as the frontier; None: the hull of the systems (see `frontier_distance`).
    width : systems in a sliding window; by default a third of them, at least 5.

    Returns
    -------
    A row per window, from near to far. window : "nearest" (the m nearest systems, m = 4 to all) or "sliding";
    n_systems; distance_from, distance_to, distance (their mean), in standard deviations; systems : names;
    pearson with pearson_low, pearson_high : 95 % from resampling documents, these systems held fixed; spearman;
    reliability : the share of the variance of their scores that is not error, of the axis where that is less: near 0
    where these systems can hardly be told apart, and r is one of errors;
    selection_pearson, selection_low, selection_high : the mean and the middle 95 % of what selecting alone gives;
    selection_p : twice the share of those that lie at least as far out, on the side of the measured one: here the
    systems are a sample; n_shuffles, all_ways : how many ways to deal out naturalness that is from, and whether these
    are all there are (up to ALL_WAYS systems) or drawn; n, n_docs. A correlation of systems that do not differ on one
    axis is nan, as is its p.
    """
    import pandas as pd

    plane = plane.only(distinct_systems(plane))
    k = len(plane.systems)
    if k < FEWEST:
        raise DataError(f"{k} systems: a correlation near the frontier needs at least {FEWEST}.")
    scores = plane.scores()
    distance = frontier_distance(scores, curve)
    order, windows = np.argsort(distance, kind="stable"), _windows(k, width)
    ends = correlations(plane, rng, [order[cut] for _, cut in windows], n_draws)
    errors = _errors(plane, rng, n_draws)
    null_scores, null_order = _dealt_out(scores, curve, rng, n_draws)
    rows = []
    for (kind, cut), (r, low, high) in zip(windows, ends, strict=True):
        some = order[cut]
        null = np.take_along_axis(null_scores, null_order[:, None, cut], axis=2)
        null_r = pearson(null[:, 0], null[:, 1])
        null_r = null_r[~np.isnan(null_r)]
        least, most = np.quantile(null_r, [0.025, 0.975]) if len(null_r) else (np.nan, np.nan)
        rows.append(
            {
                "window": kind,
                "n_systems": len(some),
                "distance_from": distance[some[0]],
                "distance_to": distance[some[-1]],
                "distance": distance[some].mean(),
                "systems": ", ".join(plane.systems[j] for j in some),
                "pearson": r,
                "pearson_low": low,
                "pearson_high": high,
                "spearman": float(spearman(*scores[:, some])),
                "selection_pearson": float(null_r.mean()) if len(null_r) else np.nan,
                "reliability": _reliability(scores[:, some], errors[:, :, some]),
                "selection_low": float(least),
                "selection_high": float(most),
                "selection_p": _two_sided(r, null_r),
            }
        )
    return pd.DataFrame(rows).assign(
        n_shuffles=len(null_scores) + (k <= ALL_WAYS),
        all_ways=k <= ALL_WAYS,
        n=len(plane),
        n_docs=len(set(plane.clusters.tolist())),
    )


def correlations(
    plane: Plane,
    rng: np.random.Generator,
    among: Sequence[Sequence[int] | np.ndarray],
    n_draws: int = 1000,
) -> np.ndarray:
    """(W, 3) Pearson's r of the two axes with its 95 % interval, among some systems each, held fixed.

    Documents are resampled (`bootstrap.score_intervals`): the scores' errors pull each r towards 0, and that of a draw
    twice, so that the middle of the draws is not where r is; each end is the farther of the studentised and Student's.

    Parameters
    ----------
    among : W lists of positions of systems, at least 2 each.
    """
    masks = np.zeros((len(plane.systems), len(among)))
    for w, some in enumerate(among):
        masks[some, w] = 1

    def of(scores: np.ndarray) -> np.ndarray:
        a, n = (side - side.mean(-1, keepdims=True) for side in np.split(scores, 2, axis=-1))
        size, sums = masks.sum(0), [part @ masks for part in (a, n, a * a, n * n, a * n)]
        aa = sums[2] - sums[0] ** 2 / size
        nn = sums[3] - sums[1] ** 2 / size
        an = sums[4] - sums[0] * sums[1] / size
        # equal numbers leave rounding behind
        least = ((1e-20 * side * side).sum(-1, keepdims=True) for side in (a, n))
        flat = np.any(
            [found <= floor for found, floor in zip((aa, nn), least, strict=True)], axis=0
        )
        return np.where(flat, np.nan, an / np.sqrt(np.where(flat, 1, aa * nn)))

    found = _made_of([plane], rng, of, n_draws)
    scores = plane.scores()
    r = np.array([pearson(*scores[:, some]) for some in among])
    low, high = np.clip(found[:, 1:].T, -1, 1)
    return np.stack([r, np.minimum(low, r), np.maximum(high, r)], axis=1)


def correlation_gap(
    one: Plane, other: Plane, rng: np.random.Generator, n_draws: int = 1000
) -> tuple[float, ...]:
    """(gap, low, high): r of one plane minus that of another with the same systems and documents, 95 % as above.

    Their segments may be others: a metric may have scores where another one has none.

    Raises
    ------
    DataError for planes of other systems or other documents.
    """
    if one.systems != other.systems or {*one.clusters.tolist()} != {*other.clusters.tolist()}:
        raise DataError(
            f"{one.name} and {other.name}: a gap needs the same systems on the same documents."
        )

    def of(scores: np.ndarray) -> np.ndarray:
        a, n, b, m = np.split(scores, 4, axis=-1)
        return (pearson(a, n) - pearson(b, m))[..., None]

    return tuple(_made_of([one, other], rng, of, n_draws)[0].tolist())


def _made_of(
    planes: Sequence[Plane], rng: np.random.Generator, of: Score, n_draws: int
) -> np.ndarray:
    """(K, 3) numbers made of the scores of all systems on the axes of planes of the same documents, with their ends."""
    one, k = planes[0], len(planes[0].systems)
    counts = resamples(one.clusters, n_draws, rng)
    if counts.n_clusters < 2:
        raise DataError(f"{one.name} has one segment: an interval needs at least 2.")
    axes = [(axis, plane.clusters) for plane in planes for axis in plane.axes]
    widths = [axis.counts.shape[2] for axis, _ in axes]
    sums = np.zeros((counts.n_clusters, len(axes) * k, max(widths)))
    for i, (axis, docs) in enumerate(axes):
        of_doc = np.unique(docs, return_inverse=True)[1]
        sums[:, i * k : (i + 1) * k, : widths[i]] = cluster_sums(
            axis.counts.astype(np.float64), of_doc
        )

    def scores(sums: np.ndarray) -> np.ndarray:
        sides = np.split(sums, len(axes), axis=-2)
        each = [
            axis.score(side[..., :w])
            for (axis, _), side, w in zip(axes, sides, widths, strict=True)
        ]
        return np.concatenate(each, axis=-1)

    numbers = of(scores(sums.sum(0)))
    sizes = np.repeat(
        cluster_sums(one.there.any(1).astype(np.float64), counts.index)[:, None],
        len(numbers),
        axis=1,
    )
    low, high, *_ = score_intervals(scores, sums, counts, sizes=sizes, of=of, farther=True)
    return np.stack([numbers, low, high], axis=1)


def distinct_systems(plane: Plane) -> list[str]:
    """The systems that have scores; of those with the same scores on all segments, the first."""
    seen: dict[bytes, str] = {}
    for j, system in enumerate(plane.systems):
        if plane.there[:, j].any():
            seen.setdefault(b"".join(axis.counts[:, j].tobytes() for axis in plane.axes), system)
    return list(seen.values())


def _errors(plane: Plane, rng: np.random.Generator, n_draws: int) -> np.ndarray:
    """(B, 2, k) by how much the scores are off in resamples of documents, as far as errors go."""
    m = len(set(plane.clusters.tolist()))
    return (plane.draws(rng, n_draws)[0] - plane.scores()) * np.sqrt(m / (m - 1))


def _reliability(scores: np.ndarray, errors: np.ndarray) -> float:
    """1 - error variance / variance of (2, m) scores, of the axis where it is less, at least 0; (B, 2, m) errors.

    An error that all systems share moves them together, and does not count.
    """
    apart = (errors - errors.mean(-1, keepdims=True)) ** 2
    noise, seen = apart.sum(-1).mean(0) / (scores.shape[1] - 1), scores.var(1, ddof=1)
    return float(np.max([0.0, np.min(1 - noise / seen)])) if (seen > 0).all() else 0.0


def _two_sided(r: float, null: np.ndarray) -> float:
    """Twice the smaller p of a correlation among the (B,) that selecting alone gave, at most 1."""
    if np.isnan(r):
        return np.nan
    p = min(float(p_value(side * r, side * null[:, None], "lower")[0]) for side in (1, -1))
    return min(1.0, 2 * p)


def _windows(k: int, width: int | None) -> list[tuple[str, slice]]:
    width = min(k, max(5, k // 3) if width is None else max(FEWEST, width))
    nested = [("nearest", slice(0, m)) for m in range(FEWEST, k + 1)]
    return nested + [("sliding", slice(i, i + width)) for i in range(k - width + 1)]


def _dealt_out(
    scores: np.ndarray, curve: OracleCurve | None, rng: np.random.Generator, n_draws: int
) -> tuple[np.ndarray, np.ndarray]:
    """(B, 2, k) the scores with naturalness dealt out in another way, and (B, k) the systems by distance in each.

    All ways but the measured one, which `stats.p_value` counts itself, up to ALL_WAYS systems; else at random.
    """
    k = scores.shape[1]
    if k <= ALL_WAYS:
        ways = np.array(list(permutations(range(k)))[1:])
        dealt = np.stack([np.broadcast_to(scores[0], ways.shape), scores[1][ways]], axis=1)
    else:
        dealt = np.repeat(scores[None], n_draws, axis=0)
        dealt[:, 1] = rng.permuted(dealt[:, 1], axis=1)
    return dealt, np.argsort(_distances(dealt, curve), axis=1, kind="stable")


def _distances(scores: np.ndarray, curve: OracleCurve | None) -> np.ndarray:
    """(B, k) `frontier_distance` of B worlds' (B, 2, k) scores."""
    n, _, k = scores.shape
    points, starts = np.concatenate([*scores], axis=1), np.arange(n + 1) * k
    if curve is None:
        rows, counts, _ = hulls(np.empty(0, np.int64), starts, *points, np.inf)
        line, ends = points[:, rows], np.cumsum(counts)
        begins = ends - counts
    else:
        line = np.stack([curve.accuracy, curve.naturalness])
        begins, ends = np.zeros(n, np.int64), np.full(n, line.shape[1])
    units = scores.std(2, ddof=1)
    return line_distances(points, starts, line, begins, ends, units).reshape(n, k)
