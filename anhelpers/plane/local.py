"""The paper's claim: accuracy and naturalness oppose each other near the frontier and agree far from it (AN §5.2).

Selecting systems near a line of negative slope produces a negative correlation by itself. Each row therefore also
reports the correlation due to selection alone: the same selection among systems whose naturalness is permuted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import permutations
from typing import Any, TypeAlias

import numpy as np

from .. import checks
from .._lazy import compiled, pd
from ..bootstrap import Score, cluster_sums, score_intervals
from ..errors import DataError
from ..frontier import OracleCurve, hulls
from ..stats import p_value, pearson, spearman
from .scores import Plane

# Systems in the smallest window: any three points correlate strongly.
FEWEST = 4
# Least reliability for a verdict; below it, shared errors relate unrelated systems too often.
RELIABLE = 0.75
# Up to this many systems, p enumerates all permutations of naturalness, so that it depends on no seed.
_ALL_WAYS = 7
# Monte Carlo errors of p within which a different seed may decide otherwise.
_EDGE = 3
# Robust standard deviations below the median beyond which one of at least _MANY systems is broken: this names none in
# 95 % of simulated worlds of 8 normal systems, and in 99 % of 24.
_BROKEN, _MANY = 5.0, 8
_CLAIMED = {"near": -1, "far": 1}
# without, left_out, positions of the systems compared, window, its part of their order, positions of its systems
_Case: TypeAlias = "tuple[str, str, np.ndarray, str, slice, np.ndarray]"


def frontier_distance(scores: np.ndarray, curve: OracleCurve | None = None) -> np.ndarray:
    """(k,) distance of each system from the frontier, in standard deviations of the systems on each axis.

    Parameters
    ----------
    scores : (2, k) array
        Accuracy and naturalness of k systems.
    curve : OracleCurve, optional
        The frontier. Without one, it is the upper concave hull of the systems, from the most accurate to the most
        natural.

    >>> frontier_distance(np.array([[2.0, 0, 1, 0], [0.0, 2, 1, 0]])).round(2).tolist()
    [0.0, 0.0, 0.0, 1.48]
    """
    if not (scores.std(1, ddof=1) > 0).all():
        raise DataError("got the same score for all systems on one axis: no distance is defined.")
    return _distances(scores[None], curve)[0]


def local_correlation(
    plane: Plane, rng: np.random.Generator, *, curve: OracleCurve | None = None, n_draws: int = 1000
) -> pd.DataFrame:
    """Correlate accuracy and naturalness among the systems nearest to the frontier, and in a sliding window.

    Parameters
    ----------
    plane : Plane
        Of systems with equal scores on every segment, only the first counts.
    curve : OracleCurve, optional
        The frontier; default: the hull of the systems, see `frontier_distance`.

    Returns
    -------
    DataFrame with a row per window, from near to far. window : "nearest" (the m nearest systems, m = 4 to all),
    "sliding" (a third of the systems, at least 5), or
    "near" and "far", the halves of the claim: as many systems as the sliding window, at both ends (no
    "far" if they would share systems). n_systems; of : systems compared; distance_from, distance_to, distance (mean),
    in standard deviations; systems : names; pearson with pearson_low, pearson_high : 95 %, documents resampled, these
    systems held fixed; spearman; reliability : share of the variance of the scores that is not error, of the axis with
    less; near 0, r is one of errors; selection_pearson, selection_low, selection_high : mean and middle 95 % of r by
    selection alone; selection_p : two-sided p of r under selection alone; n_shuffles, all_ways : number of
    permutations, and whether these are all (up to 7 systems); n, n_docs. Without variation on an axis, r and p are nan.

    The halves are there again by the same test without one of their systems (left_out), and without the broken systems,
    if there are any (without): of 8 or more those whose mean on an axis is below the median by more than 5 × 1.4826
    times the median distance from it. Halves have least, greatest : of r without one of the systems; verdict : "holds",
    "is false" or "is undecided"; why : the reason of no decision, or ""; by_seed : a p is so close to 0.05 that another
    seed may decide otherwise.
    """
    plane = plane.only(plane.distinct())
    k = checks.whole("number of systems", len(plane.systems), FEWEST)
    everyone, broken = np.arange(k), _broken(plane.scores())
    order = _ordered(plane.scores(), everyone, curve)
    cases = [("", "", everyone, kind, cut, order[cut]) for kind, cut in _windows(k)]
    sound, lost = np.flatnonzero(~broken), [plane.systems[j] for j in np.flatnonzero(broken)]
    for without, rest in {"": everyone, ", ".join(lost): sound}.items():
        for half in _ends(len(rest)):
            cases += _half(plane, curve, rest, half, without)
    return _correlated(plane, rng, curve, cases, n_draws)


def _correlated(
    plane: Plane,
    rng: np.random.Generator,
    curve: OracleCurve | None,
    cases: list[_Case],
    n_draws: int,
) -> pd.DataFrame:
    """The rows of `local_correlation`."""
    k, names = len(plane.systems), np.array(plane.systems, dtype=object)
    scores, everyone = plane.scores(), np.arange(k)
    distance = frontier_distance(scores, curve)
    ends = correlations(plane, rng, [some for *_, some in cases], n_draws)
    errors = _errors(plane, rng, n_draws)
    nulls = {everyone.tobytes(): _permuted(scores, curve, rng, n_draws)}
    # later draws stay as they are; spawn of a copy has a new seed each time
    own = np.random.default_rng(deepcopy(rng).integers(2**63))
    rows = []
    for (without, left, rest, kind, cut, some), (r, low, high) in zip(cases, ends, strict=True):
        if rest.tobytes() not in nulls:
            nulls[rest.tobytes()] = _permuted(scores[:, rest], curve, own, n_draws)
        null_scores, null_order = nulls[rest.tobytes()]
        null = np.take_along_axis(null_scores, null_order[:, None, cut], axis=2)
        null_r = pearson(null[:, 0], null[:, 1])
        null_r = null_r[~np.isnan(null_r)]
        least, most = np.quantile(null_r, [0.025, 0.975]) if len(null_r) else (np.nan, np.nan)
        row = {"window": kind, "without": without, "left_out": left, "n_systems": len(some)}
        row |= {"of": len(rest), "distance_from": distance[some[0]]}
        row |= {"distance_to": distance[some[-1]], "distance": distance[some].mean()}
        row["systems"] = ", ".join(names[some])
        row |= {"pearson": r, "pearson_low": low, "pearson_high": high}
        row["spearman"] = float(spearman(*scores[:, some]))
        row["selection_pearson"] = float(null_r.mean()) if len(null_r) else np.nan
        row["reliability"] = _reliability(scores[:, some], errors[:, :, some])
        row |= {"selection_low": float(least), "selection_high": float(most)}
        every = len(rest) <= _ALL_WAYS
        row |= {"selection_p": _two_sided(r, null_r), "all_ways": every}
        rows.append(row | {"n_shuffles": len(null_scores) + every})
    table = pd.DataFrame(rows).assign(n=len(plane), n_docs=len(set(plane.clusters.tolist())))
    return table.join(_decided(table[table.window.isin([*_CLAIMED])]))


def _decided(halves: pd.DataFrame) -> pd.DataFrame:
    """least, greatest, verdict, why and by_seed of the halves of `local_correlation`.

    A half is decided if its systems differ by more than their errors (reliability ≥ RELIABLE), r differs from selection
    alone (two-sided p < 0.05: other systems) and its 95 % interval is on the same side of 0 (other documents). It then
    "holds" on the claimed side and "is false" on the other. If the same test without one of its systems finds anything
    else, it "is undecided" (this system decides it). The near half is undecided if it has all systems.
    `docs/calibration.md` has the rates of false decisions.
    """
    found = pd.DataFrame([_judged(row) for _, row in halves.iterrows()], halves.index)
    found.columns = pd.Index(["verdict", "why", "by_seed"])
    found[["least", "greatest"]] = np.nan
    for i, row in halves[halves.left_out == ""].iterrows():
        same = (halves.window == row.window) & (halves.without == row.without)
        rest, parts = halves[same].drop(i), found[same].drop(i)
        found.loc[i, ["least", "greatest"]] = rest.pearson.min(), rest.pearson.max()
        others = parts[parts.verdict != found.verdict[i]]
        if found.verdict[i] == "is undecided":
            continue
        edge = found.by_seed[i] or parts.by_seed.any()
        found.loc[i, "by_seed"] = bool(edge and others.by_seed.all())
        if len(others):
            names = rest.left_out[others.index]
            who = " or ".join(names) if len(names) < 3 else f"each of {len(names)} systems"
            found.loc[i, ["verdict", "why"]] = "is undecided", f"{who} decides it"
    return found


def _claim_halves(table: pd.DataFrame, without: str = "") -> pd.DataFrame:
    """Rows "near" and, with enough systems, "far" of `local_correlation`, of all systems or without the broken ones."""
    whole = table.window.isin([*_CLAIMED]) & (table.without == without) & (table.left_out == "")
    return table[whole].set_index("window")


def verdict(table: pd.DataFrame) -> str:
    """Report in words whether the claim holds near the frontier and far from it, with and without broken systems."""
    halves = _claim_halves(table)
    told = [_told(row) for _, row in halves.iterrows()]
    if len(told) < 2:
        told.append(f"{halves.of.max()} systems are too few to tell near from far")
    text = f"{'; '.join(told)}. "
    text += " ".join(f"{half.capitalize()}: {row.systems}." for half, row in halves.iterrows())
    for broken in table.without[table.without != ""].unique():
        others = _claim_halves(table, broken)
        changed = others[others.verdict != halves.verdict.reindex(others.index)]
        told = [_told(row) for _, row in changed.iterrows()] or ["no verdict changes"]
        why = f"over {_BROKEN:g} robust standard deviations below the median of an axis"
        text += f" Without {broken} ({why}): {'; '.join(told)}."
    return text


def _judged(row: pd.Series) -> tuple[str, str, bool]:
    """(verdict, why, by_seed) of a half by itself."""
    if np.isnan(row.selection_p):
        return "is undecided", "these systems do not differ on one axis", False
    side = np.sign(row.pearson - row.selection_pearson)
    digits = 2 if round(row.reliability, 2) < RELIABLE else 3
    reasons = {
        f"p = {row.selection_p:.3f}": row.selection_p >= 0.05,
        "the interval of r includes 0": min(side * row.pearson_low, side * row.pearson_high) <= 0,
        f"reliability {row.reliability:.{digits}f} < {RELIABLE}": row.reliability < RELIABLE,
        "these are all systems": row.window == "near" and row.n_systems == row.of,
    }
    held = [why for why, holds in reasons.items() if holds]
    by_p = not any([*reasons.values()][1:])  # nothing but p decides
    decided = "holds" if side == _CLAIMED[row.window] else "is false"
    return "is undecided" if held else decided, " and ".join(held), by_p and _at_the_edge(row)


def _told(row: pd.Series) -> str:
    """A half of the claim with its verdict and numbers."""
    halves = {"near": ("Near", "oppose each other"), "far": ("far from", "agree")}
    begin, how = halves[str(row.name)]
    text = f"{begin} the frontier the claim that accuracy and naturalness {how} {row.verdict}"
    text += f" ({row.why})" * bool(row.why)
    text += f": r = {row.pearson:z.2f} ({row.pearson_low:z.2f} to {row.pearson_high:z.2f})"
    text += f" among {row.n_systems} systems, {row.least:z.2f} to {row.greatest:z.2f} without one of them"
    if np.isnan(row.selection_p):
        return text
    edge = ", a different seed may decide otherwise" if row.by_seed else ""
    alone = f"{row.selection_low:z.2f} to {row.selection_high:z.2f}, p = {row.selection_p:.3f}"
    return f"{text}; by selection alone {alone}{edge}"


def _at_the_edge(row: pd.Series) -> bool:
    """Whether p is within _EDGE of its Monte Carlo errors of 0.05; an enumerated p has none."""
    one_sided = row.selection_p / 2
    error = 2 * math.sqrt(one_sided * (1 - one_sided) / row.n_shuffles)
    return bool(not row.all_ways and abs(row.selection_p - 0.05) <= _EDGE * error)


def _broken(scores: np.ndarray) -> np.ndarray:
    """(k,) bool: systems of (2, k) scores that are far below the median on an axis; none of fewer than _MANY."""
    below = np.median(scores, axis=1, keepdims=True) - scores
    spread = 1.4826 * np.median(np.abs(below), axis=1, keepdims=True)
    return ((below > _BROKEN * spread) & (spread > 0)).any(0) & (scores.shape[1] >= _MANY)


def correlations(
    plane: Plane,
    rng: np.random.Generator,
    among: Sequence[Sequence[int] | np.ndarray],
    n_draws: int = 1000,
) -> np.ndarray:
    """(W, 3) Pearson's r of the two axes with its 95 % interval, among W choices of systems, held fixed.

    Documents are resampled (`bootstrap.score_intervals`). Errors of the scores pull each r towards 0, and that of a
    draw twice; each end is therefore the farther of the studentised and Student's.

    Parameters
    ----------
    among : W lists of positions of systems
        At least 2 each.
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
        # equal numbers leave rounding errors
        least = [(1e-20 * side * side).sum(-1, keepdims=True) for side in (a, n)]
        flat = (aa <= least[0]) | (nn <= least[1])
        return np.where(flat, np.nan, an / np.sqrt(np.where(flat, 1, aa * nn)))

    found = _made_of([plane], rng, of, n_draws)
    scores = plane.scores()
    r = np.array([pearson(*scores[:, some]) for some in among])
    low, high = np.clip(found[:, 1:].T, -1, 1)
    return np.stack([r, np.minimum(low, r), np.maximum(high, r)], axis=1)


def correlation_gap(
    one: Plane, other: Plane, rng: np.random.Generator, n_draws: int = 1000
) -> tuple[float, ...]:
    """(gap, low, high): r of one plane minus r of another, with a 95 % interval as in `correlations`.

    The planes have the same systems and documents, else DataError; their segments may differ.
    """
    if one.systems != other.systems or {*one.clusters.tolist()} != {*other.clusters.tolist()}:
        raise DataError(f"{one.name}, {other.name}: expected the same systems and documents.")

    def of(scores: np.ndarray) -> np.ndarray:
        a, n, b, m = np.split(scores, 4, axis=-1)
        return (pearson(a, n) - pearson(b, m))[..., None]

    return tuple(_made_of([one, other], rng, of, n_draws)[0].tolist())


def _made_of(
    planes: Sequence[Plane], rng: np.random.Generator, of: Score, n_draws: int
) -> np.ndarray:
    """(K, 3) functions of all systems' scores on planes of the same documents, with their intervals."""
    one, k = planes[0], len(planes[0].systems)
    counts = one.resamples(rng, n_draws)
    axes = [(axis, plane.clusters) for plane in planes for axis in plane.axes]
    widths = [axis.counts.shape[2] for axis, _ in axes]
    sums = np.zeros((counts.n_clusters, len(axes) * k, max(widths)))
    for i, (axis, docs) in enumerate(axes):
        of_doc = np.unique(docs, return_inverse=True)[1]
        own = cluster_sums(axis.counts.astype(np.float64), of_doc)
        sums[:, i * k : (i + 1) * k, : widths[i]] = own

    def scores(sums: np.ndarray) -> np.ndarray:
        sides = zip(axes, np.split(sums, len(axes), axis=-2), widths, strict=True)
        return np.concatenate([axis.score(side[..., :w]) for (axis, _), side, w in sides], axis=-1)

    numbers = of(scores(sums.sum(0)))
    sizes = cluster_sums(one.there.any(1).astype(np.float64), counts.index)[:, None]
    sizes = np.repeat(sizes, len(numbers), axis=1)
    low, high, *_ = score_intervals(scores, sums, counts, sizes=sizes, of=of, farther=True)
    return np.stack([numbers, low, high], axis=1)


def _errors(plane: Plane, rng: np.random.Generator, n_draws: int) -> np.ndarray:
    """(B, 2, k) errors of the scores in resamples of documents."""
    m = len(set(plane.clusters.tolist()))
    return (plane.draws(rng, n_draws)[0] - plane.scores()) * np.sqrt(m / (m - 1))


def _reliability(scores: np.ndarray, errors: np.ndarray) -> float:
    """1 − error variance / variance of (2, m) scores on the axis with less, at least 0; (B, 2, m) errors.

    An error that all systems share moves them together and does not count.
    """
    apart = (errors - errors.mean(-1, keepdims=True)) ** 2
    noise, seen = apart.sum(-1).mean(0) / (scores.shape[1] - 1), scores.var(1, ddof=1)
    return float(np.max([0.0, np.min(1 - noise / seen)])) if (seen > 0).all() else 0.0


def _two_sided(r: float, null: np.ndarray) -> float:
    """Twice the smaller one-sided p of r among the (B,) of selection alone, at most 1."""
    if np.isnan(r):
        return np.nan
    p = min(float(p_value(side * r, side * null[:, None], "lower")[0]) for side in (1, -1))
    return min(1.0, 2 * p)


def _width(k: int) -> int:
    return min(k, max(5, k // 3))


def _windows(k: int) -> list[tuple[str, slice]]:
    width = _width(k)
    nested = [("nearest", slice(0, m)) for m in range(FEWEST, k + 1)]
    return nested + [("sliding", slice(i, i + width)) for i in range(k - width + 1)]


def _ends(k: int) -> list[str]:
    """The halves of the claim that k systems have."""
    return ["near", "far"][: (k >= FEWEST) * (1 + (2 * _width(k) <= k))]


def _half(
    plane: Plane, curve: OracleCurve | None, rest: np.ndarray, half: str, without: str = ""
) -> Iterator[_Case]:
    """A half of the claim among the systems of `rest`, then again without each system of the half."""
    scores = plane.scores()

    def of(some: np.ndarray, left: str) -> _Case:
        k, m = len(some), _width(len(some))
        cut = slice(0, m) if half == "near" else slice(k - m, k)
        return without, left, some, half, cut, _ordered(scores, some, curve)[cut]

    yield (whole := of(rest, ""))
    yield from (of(rest[rest != j], plane.systems[j]) for j in whole[-1])


def _ordered(scores: np.ndarray, some: np.ndarray, curve: OracleCurve | None) -> np.ndarray:
    """Positions of some systems, from near to far; as they are where these do not differ on an axis."""
    own = scores[:, some]
    flat = not (np.ptp(own, axis=1) > 0).all()
    return some if flat else some[np.argsort(_distances(own[None], curve)[0], kind="stable")]


def _permuted(
    scores: np.ndarray, curve: OracleCurve | None, rng: np.random.Generator, n_draws: int
) -> tuple[np.ndarray, np.ndarray]:
    """(B, 2, k) scores with permuted naturalness, and (B, k) the systems by distance in each.

    Up to _ALL_WAYS systems: all permutations but the identity, which `stats.p_value` adds.
    """
    k, each = scores.shape[1], np.arange(scores.shape[1])
    ways = np.tile(each, (n_draws, 1))
    ways = np.array([*permutations(each)][1:]) if k <= _ALL_WAYS else rng.permuted(ways, axis=1)
    dealt = np.stack([np.broadcast_to(scores[0], ways.shape), scores[1][ways]], axis=1)
    if not (np.ptp(scores, axis=1) > 0).all():
        return np.full_like(dealt, np.nan), ways
    if curve is None:
        return dealt, np.argsort(_distances(dealt), axis=1, kind="stable")
    # k² points are all that permutations make
    pairs = np.stack([np.repeat(scores[0], k), np.tile(scores[1], k)])
    far = _distances(pairs[None], curve, scores.std(1, ddof=1)[None]).reshape(k, k)
    return dealt, np.argsort(far[each, ways], axis=1, kind="stable")


def _distances(
    scores: np.ndarray, curve: OracleCurve | None = None, units: np.ndarray | None = None
) -> np.ndarray:
    """(B, k) `frontier_distance` of each of (B, 2, k) scores, in (B, 2) units."""
    n, _, k = scores.shape
    points, starts = np.concatenate([*scores], axis=1), np.arange(n + 1) * k
    if curve is None:
        rows, counts, _ = hulls(np.empty(0, np.int64), starts, *points, np.inf)
        line, ends = points[:, rows], np.cumsum(counts)
        begins = ends - counts
    else:
        line = np.stack([curve.accuracy, curve.naturalness])
        begins, ends = np.zeros(n, np.int64), np.full(n, line.shape[1])
    units = scores.std(2, ddof=1) if units is None else units
    return _line_distances(points, starts, line, begins, ends, units).reshape(n, k)


@compiled
def _line_distances(
    points: Any, starts: Any, line: Any, begins: Any, ends: Any, units: Any
) -> np.ndarray:
    """(n,) Euclidean distance of each point from the line of its group; a line of one point is that point.

    Parameters
    ----------
    points, line : array
        (2, n) points, and (2, V) corners of all lines.
    starts : array
        (G+1,) begin of each group of points.
    begins, ends : array
        (G,) corners of a group's line; several groups may share them.
    units : array
        (G, 2) > 0, units of both axes for the distances of a group.
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
