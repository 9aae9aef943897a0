"""Whether systems differ, and their ranks: paired randomisation over documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from .. import checks
from .._lazy import pd
from ..bootstrap import BLOCK, cluster_sums
from ..errors import DataError
from ..stats import holm
from .scores import AXES, Plane, _Axis

ALPHA = 0.05
# Expected draws beyond a difference whose p is just small enough for Holm's first step.
_BEYOND = 10
# Further draws for a pair whose corrected p is within so many Monte Carlo errors of ALPHA.
_MOST, _NEAR = 400_000, 3
_SYSTEMS = "systems"
# Why a system is outside (`Plane.outside`); the first that fits names the family of a pair.
_FAMILIES = ("control", "copy", "human", "added")
_COLUMNS = [
    *("axis", "family", "system_a", "system_b", "difference", "p", "p_holm", "n_swaps", "exact"),
    *("n", "n_docs", "resampled", "title"),
]
_AT_ONCE = 4_000_000  # numbers in a block of draws


def paired_tests(
    plane: Plane, rng: np.random.Generator, n_draws: int = 10_000, against: str | None = None
) -> pd.DataFrame:
    """Test whether systems differ: paired randomisation over documents, with Holm's correction.

    The two outputs of a document are swapped or not; p is the share of the swaps with at least the observed difference.
    All swaps are enumerated if these are no more than the draws, so that p is exact. Otherwise each pair has at least
    `n_draws` random swaps, and enough for the least p, 1 / (draws + 1), to be significant after Holm's correction. A
    pair far from significance after `n_draws` stops there; one whose corrected p is close to ALPHA has up to 400,000
    more, and `undecided` names those that are still close.

    The null hypothesis: the two outputs of a document are exchangeable. Equal means are not enough. Where a system
    fails in few documents, or gains in long ones, equal means are rejected more often than p says, the more so the
    fewer documents there are (`docs/calibration.md`). The interval of the difference errs less with unequal lengths.

    Holm's families are the pairs of one axis among the compared systems, and those with a system that is outside
    (`Plane.outside`): an added system does not change the decisions about the others.

    Parameters
    ----------
    plane : Plane
        Over segments that all systems share (`Plane.shared`), else DataError.
    against : str, optional
        Test only the pairs with this system.

    Returns
    -------
    DataFrame with a row per axis and pair. axis; family : "systems", or why one of the pair is outside; system_a,
    system_b; difference : a − b, in the unit of the axis; p, p_holm; n_swaps : number of swaps; exact : these are all;
    n (segments), n_docs; resampled : "documents" or "segments" are swapped; title : of the axis. A stored axis has no
    p.

    References
    ----------
    Riezler and Maxwell 2005; Phipson and Smyth 2010. sacreBLEU's paired approximate randomisation swaps segments.
    """
    if not (plane.there.all(0) | ~plane.there.any(0)).all():
        raise DataError("plane: got segments without all scores. Use plane.shared().")
    pairs, families = _pairs(plane, against)
    names, index = np.unique(plane.clusters, return_inverse=True)
    n_draws = checks.whole("n_draws", n_draws)
    names_of = (_SYSTEMS, *_FAMILIES)
    frames, streams = [], dict(zip(names_of, rng.spawn(len(names_of)), strict=True))
    for name, axis in zip(AXES, plane.axes, strict=True):
        sums = cluster_sums(axis.counts.astype(np.float64), index)
        for family in filter(families.__contains__, (_SYSTEMS, *reversed(_FAMILIES))):
            some = [pair for pair, its in zip(pairs, families, strict=True) if its == family]
            # enough to decide a family of so many pairs
            draws = n_draws, max(n_draws, int(np.ceil(_BEYOND * len(some) / ALPHA)))
            found = _randomised(axis, some, sums, streams[family], draws=draws)
            columns = ["system_a", "system_b", "difference", "p", "n_swaps"]
            systems = [[plane.systems[pair[side]] for pair in some] for side in (0, 1)]
            frame = pd.DataFrame(dict(zip(columns, (*systems, *found), strict=True)))
            exact = _all_ways(len(names), draws[1]) and axis.level != "stored"
            same = {"axis": name, "family": family, "exact": exact, "title": axis.title}
            same |= {"n": len(plane), "n_docs": len({*plane.docs.tolist()})}
            same["resampled"] = plane.unit
            frames.append(frame.assign(p_holm=holm(frame.p), **same)[_COLUMNS])
    return pd.concat(frames or [pd.DataFrame(columns=_COLUMNS)], ignore_index=True)


def by_pair(tests: pd.DataFrame) -> pd.DataFrame:
    """Return a row per pair of systems: differences and p on both axes, and whether it is a tradeoff.

    Parameters
    ----------
    tests : DataFrame
        From `paired_tests`.

    Returns
    -------
    DataFrame with system_a, system_b; accuracy, naturalness : a − b, in the unit of the axis; p_accuracy,
    p_naturalness : after Holm's correction; opposed : one is more accurate and the other more natural; surely : both
    differences are significant at ALPHA.
    """
    pair, values = ["system_a", "system_b"], ["difference", "p_holm"]
    wide = tests.pivot(index=pair, columns="axis", values=values)
    table = wide.difference[[*AXES]].join(wide.p_holm[[*AXES]].add_prefix("p_"))
    table["opposed"] = table.accuracy * table.naturalness < 0
    table["surely"] = (wide.p_holm[[*AXES]] < ALPHA).all(axis=1)
    return table.rename_axis(columns=None).reset_index()


def undecided(tests: pd.DataFrame) -> str:
    """Name tests that cannot be significant, and tests that a different seed may decide otherwise; else "".

    Parameters
    ----------
    tests : DataFrame
        From `paired_tests`.
    """
    told = []
    exact = tests[tests.exact.astype(bool) & tests.family.isin((_SYSTEMS, "added"))]
    for family, rows in exact.groupby(exact.family, sort=False):
        n_pairs = int((rows.axis == rows.axis.iloc[0]).sum())
        least, ways = min(1.0, n_pairs / rows.n_swaps.iloc[0]), 2 * int(rows.n_swaps.iloc[0])
        if least >= ALPHA:
            added = " with an added system" * (family == "added")
            told.append(
                f"No difference{added} can be significant: {ways:,} swaps of "
                f"{rows.resampled.iloc[0]} and {n_pairs} pairs give p ≥ {least:.2g} after Holm's "
                f"correction. Compare fewer systems, or more {rows.resampled.iloc[0]}."
            )
    drawn = tests[~tests.exact.astype(bool)]
    numbers = (drawn[c].to_numpy(float) for c in ("p", "p_holm", "n_swaps"))
    close = [
        f"{row.system_a} and {row.system_b} ({row.axis}, {row.p_holm:.3f})"
        for row in drawn[_close(*numbers)].itertuples()
    ]
    if close:
        some = [*close[:3], *[f"{len(close) - 3} more"] * (len(close) > 3)]
        told.append(f"A different seed may decide otherwise, p ≈ {ALPHA}: {', '.join(some)}.")
    return " ".join(told)


def _close(p: np.ndarray, p_holm: np.ndarray, n: np.ndarray) -> np.ndarray:
    """(P,) bool: the corrected p of n draws is within _NEAR Monte Carlo errors of ALPHA."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.abs(p_holm - ALPHA) <= _NEAR * (p_holm / p) * np.sqrt(p * (1 - p) / n)


def with_ranks(table: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """Add to `systems_table` the possible ranks of each system on each axis, and its cluster.

    Parameters
    ----------
    table : DataFrame
        From `systems_table`.
    tests : DataFrame
        All pairs, from `paired_tests` on the same plane.

    Returns
    -------
    DataFrame with accuracy_rank_low, accuracy_rank_high and so on: 1 + the number of compared systems that are
    significantly better, and their number less those that are significantly worse. With p_holm < 0.05 these hold for
    all systems of a family at once with 95 % (Mohamad, Goeman and van Zwet 2019). accuracy_cluster and so on: each
    compared system of a cluster is significantly better than all of later clusters, as at WMT. A system that is outside
    has its ranks among the compared ones and no cluster; a stored axis has neither.
    """
    table = table.copy()
    inside = (table.outside == "").to_numpy()
    place = {system: i for i, system in enumerate(table.system)}
    for axis in AXES:
        rows = tests[tests.axis == axis]
        # [a, b]: a is significantly better than b
        better = np.zeros((len(table), len(table)), dtype=bool)
        a, b = (rows[name].map(place).to_numpy() for name in ("system_a", "system_b"))
        sure = (rows.p_holm < ALPHA).to_numpy()
        better[a, b], better[b, a] = sure & (rows.difference > 0), sure & (rows.difference < 0)
        tested = np.isin(np.arange(len(table)), np.r_[a, b][np.tile(rows.p.notna(), 2)])
        counted = inside & tested
        low, high = 1 + better[counted].sum(0), counted.sum() + ~inside - better[:, counted].sum(1)
        cluster = _clusters(table[axis].to_numpy(dtype=float), better, counted)
        for name, values in (("rank_low", low), ("rank_high", high), ("cluster", cluster)):
            known = tested & (inside if name == "cluster" else True)
            table[f"{axis}_{name}"] = np.where(known, values, np.nan)
            table[f"{axis}_{name}"] = table[f"{axis}_{name}"].astype("Int64")
    return table


def _clusters(scores: np.ndarray, better: np.ndarray, compared: np.ndarray) -> np.ndarray:
    """(k,) cluster of each compared system, from 1 (best); 0 for others."""
    order = np.flatnonzero(compared)[np.argsort(-scores[compared], kind="stable")]
    out, number = np.zeros(len(scores), dtype=int), 1
    for i, system in enumerate(order):
        if i and better[np.ix_(order[:i], order[i:])].all():
            number += 1
        out[system] = number
    return out


def _pairs(plane: Plane, against: str | None) -> tuple[list[tuple[int, int]], list[str]]:
    """Pairs to test, and the family of each."""
    scored = np.flatnonzero(plane.there.any(0)).tolist()
    if against is None:
        pairs = list(combinations(scored, 2))
    else:
        one = plane.systems.index(checks.one_of(against, plane.systems, "system"))
        pairs = [(one, j) for j in scored if j != one]
    reasons = [plane.outside.get(system, "") for system in plane.systems]
    families = [
        next((f for f in _FAMILIES if any(reasons[i].startswith(f) for i in pair)), _SYSTEMS)
        for pair in pairs
    ]
    return pairs, families


def _all_ways(m: int, n_draws: int) -> bool:
    """Whether all swaps of m documents are enumerated: half of them, the others mirror these."""
    return m <= int(n_draws).bit_length()


def _randomised(
    axis: _Axis,
    pairs: Sequence[tuple[int, int]],
    sums: np.ndarray,
    rng: np.random.Generator,
    *,
    draws: tuple[int, int],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(P,) observed differences, p and numbers of swaps, which exchange the counts of a pair.

    Parameters
    ----------
    sums : (M, k, S) array
        Counts of each document.
    draws : (int, int)
        For all pairs, and for those that may be significant.
    """
    a, b = np.array(pairs).T
    total, m = sums.sum(0), len(sums)
    scores = axis.score(total)
    observed = scores[a] - scores[b]
    if axis.level == "stored":
        return observed, np.full(len(pairs), np.nan), np.zeros(len(pairs), dtype=int)
    middle, rounding = (total[a] + total[b]) / 2, 8 * np.finfo(float).eps * np.abs(scores[a])
    wanted = (1 - 1e-9) * np.abs(observed) - rounding

    def exceeding(which: np.ndarray, ways: Callable[[int], Iterator[np.ndarray]]) -> np.ndarray:
        """(W,) number of swaps with at least the observed difference, in parts that fit."""
        found = np.zeros(len(which), dtype=np.int64)
        fits = max(1, BLOCK // sums[:, 0].size)
        for start in range(0, len(which), fits):
            some = which[start : start + fits]
            turned = (sums[:, a[some]] - sums[:, b[some]]) / 2
            # own random swaps for each pair: the common ones, mirrored on random documents
            if not exact:
                turned = turned * (2.0 * rng.integers(0, 2, size=(m, len(some), 1)) - 1)
            flat, middles = turned.reshape(m, -1), middle[some]
            for block in ways(flat.shape[1]):
                moved = (block @ flat).reshape(len(block), *middles.shape)
                away = np.abs(axis.score(middles + moved) - axis.score(middles - moved))
                found[start : start + fits] += (away >= wanted[some]).sum(0)
        return found

    first, most = draws
    every = np.arange(len(pairs))
    exact = _all_ways(m, most)
    if exact:
        ways = np.full(len(pairs), 2 ** (m - 1))
        return observed, exceeding(every, partial(_every_way, m)) / ways, ways
    found = exceeding(every, partial(_some_ways, rng, first, m))
    ways = np.full(len(pairs), first)
    more = np.flatnonzero(found < ALPHA * first) if most > first else every[:0]
    if more.size:
        found[more] += exceeding(more, partial(_some_ways, rng, most - first, m))
        ways[more] = most

    def p_now() -> np.ndarray:
        return np.where(np.isnan(observed), np.nan, (found + 1) / (ways + 1))

    while (more := np.flatnonzero(_close(p := p_now(), holm(p), ways) & (ways < _MOST))).size:
        found[more] += exceeding(more, partial(_some_ways, rng, _MOST, m))
        ways[more] += _MOST
    return observed, p_now(), ways


def _every_way(m: int, width: int) -> Iterator[np.ndarray]:
    """Blocks of (B, M) signs, +1 or -1: all with +1 first."""
    step = max(1, _AT_ONCE // max(m, width))
    for start in range(0, 2 ** (m - 1), step):
        number = np.arange(start, min(start + step, 2 ** (m - 1)))
        yield 1.0 - 2.0 * ((number[:, None] >> np.arange(m)) & 1)[:, ::-1]


def _some_ways(rng: np.random.Generator, n: int, m: int, width: int) -> Iterator[np.ndarray]:
    """Blocks of (B, M) random signs, n rows in all."""
    step = max(1, _AT_ONCE // max(m, width))
    for start in range(0, n, step):
        rows = min(step, n - start)
        drawn = np.frombuffer(rng.bytes((rows * m + 7) // 8), dtype=np.uint8)
        bits = np.unpackbits(drawn, count=rows * m)
        yield 1.0 - 2.0 * bits.reshape(rows, m)
