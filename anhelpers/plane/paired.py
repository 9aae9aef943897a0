"""Whether systems differ, and what that says of their ranks: paired randomisation over documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from .. import checks
from ..bootstrap import BLOCK, cluster_sums
from ..errors import DataError
from ..stats import holm
from .scores import AXES, Axis, Plane

if TYPE_CHECKING:
    import pandas as pd


ALPHA = 0.05
BEYOND = 10
"""Draws that are expected beyond a difference whose p is just small enough for Holm's first step."""
MOST, NEAR = 400_000, 3
"""More draws for a pair whose p after Holm's correction is within so many Monte Carlo errors of ALPHA."""
SYSTEMS = "systems"
FAMILIES = ("control", "copy", "human", "added")
"""Why a system is outside (`Plane.outside`); a pair with two reasons is of the family of the first."""
COLUMNS = [
    "axis",
    "family",
    "system_a",
    "system_b",
    "difference",
    "p",
    "p_holm",
    "n_swaps",
    "exact",
    "n",
    "n_docs",
    "resampled",
    "title",
]
AT_ONCE = 4_000_000  # numbers in a block of draws


def paired_tests(
    plane: Plane, rng: np.random.Generator, n_draws: int = 10_000, against: str | None = None
) -> pd.DataFrame:
    """Whether systems differ on an axis: paired randomisation tests over documents, with Holm's correction.

    The two outputs of every document are swapped or not; p is the share of the ways to do so with at least the
    observed difference. All ways are tried where there are no more of them than draws, so that p is exact. Otherwise
    the ways are drawn, each pair its own, at least `n_draws` and so many that the least possible p (1 / (draws + 1)) is
    small enough after Holm's correction. A pair that is far from significant after `n_draws` is left at that; one whose
    p after the correction is within NEAR Monte Carlo errors of ALPHA gets MOST more, and `at_the_edge` names who is
    still there.

    Holm's families are the pairs of one axis among the compared systems, and those with a system that is outside
    (`Plane.outside`): what joins a comparison does not change what was decided without it.

    Parameters
    ----------
    against : only the pairs with this system; by default all pairs.

    Returns
    -------
    axis; family : "systems", or why one of the pair is outside; system_a, system_b, difference (a - b, in the unit of
    the axis), p, p_holm; n_swaps : the ways to swap that p rests on; exact : whether these are all; n (segments),
    n_docs; resampled : what is swapped, "documents" or "segments"; title : of the axis, with its unit and direction. A
    stored axis has no p: what is known per system only cannot be swapped by document. `cannot_decide` says
    where no p could be small enough.

    References
    ----------
    Riezler and Maxwell 2005; Phipson and Smyth 2010; sacreBLEU's paired approximate randomisation is the same over
    segments.
    """
    import pandas as pd

    if not (plane.there.all(0) | ~plane.there.any(0)).all():
        raise DataError(
            "a paired test needs the segments that all systems share: take `plane.shared()` first."
        )
    pairs, families = _pairs(plane, against)
    names, index = np.unique(plane.clusters, return_inverse=True)
    n_draws = checks.whole("n_draws", n_draws)
    frames, streams = [], dict(zip((SYSTEMS, *FAMILIES), rng.spawn(1 + len(FAMILIES)), strict=True))
    for name, axis in zip(AXES, plane.axes, strict=True):
        sums = cluster_sums(axis.counts.astype(np.float64), index)
        for family in filter(families.__contains__, (SYSTEMS, *reversed(FAMILIES))):
            some = [pair for pair, its in zip(pairs, families, strict=True) if its == family]
            draws = n_draws, _n_draws(n_draws, len(some))
            found = _randomised(axis, some, sums, streams[family], draws=draws)
            columns = ["system_a", "system_b", "difference", "p", "n_swaps"]
            systems = [[plane.systems[pair[side]] for pair in some] for side in (0, 1)]
            frame = pd.DataFrame(dict(zip(columns, (*systems, *found), strict=True)))
            frame = frame.assign(
                axis=name,
                family=family,
                p_holm=holm(frame.p),
                n=len(plane),
                n_docs=len(set(plane.docs.tolist())),
                resampled=plane.unit,
                title=axis.title,
            )
            frames.append(
                frame.assign(exact=_all_ways(len(names), draws[1]) and axis.level != "stored")[
                    COLUMNS
                ]
            )
    return pd.concat(frames or [pd.DataFrame(columns=COLUMNS)], ignore_index=True)


def by_pair(tests: pd.DataFrame) -> pd.DataFrame:
    """A row per pair of systems: the differences on both axes, their p, and whether the two are a tradeoff.

    Parameters
    ----------
    tests : from `paired_tests`.

    Returns
    -------
    system_a, system_b; accuracy, naturalness : a - b, in the unit of the axis; p_accuracy, p_naturalness : Holm's;
    opposed : one of the two is more accurate and the other more natural; surely : both differences are significant at
    ALPHA, so that a pair that is opposed, surely, is a tradeoff between two systems.
    """
    wide = tests.pivot(
        index=["system_a", "system_b"], columns="axis", values=["difference", "p_holm"]
    )
    table = wide.difference[[*AXES]].join(wide.p_holm[[*AXES]].add_prefix("p_"))
    table["opposed"] = table.accuracy * table.naturalness < 0
    table["surely"] = (wide.p_holm[[*AXES]] < ALPHA).all(axis=1)
    return table.rename_axis(columns=None).reset_index()


def at_the_edge(tests: pd.DataFrame) -> str:
    """A sentence on the pairs whose decision is one of the drawn ways to swap documents, else an empty text.

    Parameters
    ----------
    tests : of `paired_tests`.
    """
    close = tests[
        ~tests.exact.astype(bool)
        & _close(*(tests[c].to_numpy(float) for c in ("p", "p_holm", "n_swaps")))
    ]
    told = ", ".join(
        f"{row.system_a} and {row.system_b} ({row.axis}, {row.p_holm:.3f})"
        for row in close.itertuples()
    )
    return told and (
        f"Another seed may decide otherwise, for p is within {NEAR} Monte Carlo errors of {ALPHA} "
        f"after Holm's correction: {told}."
    )


def _close(p: np.ndarray, p_holm: np.ndarray, n: np.ndarray) -> np.ndarray:
    """(P,) bool: the corrected p is within NEAR of its Monte Carlo errors of ALPHA, as drawn n times."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.abs(p_holm - ALPHA) <= NEAR * (p_holm / p) * np.sqrt(p * (1 - p) / n)


def cannot_decide(plane: Plane, n_draws: int = 10_000, against: str | None = None) -> str:
    """A sentence where no difference, however large, can be significant after Holm's correction; else an empty text.

    It is of the compared and the added systems, where there are any.

    Parameters
    ----------
    n_draws, against : as for `paired_tests`.
    """
    families, m = _pairs(plane, against)[1], len(set(plane.clusters.tolist()))
    unit, sentences = plane.unit, []
    for family, whose in ((SYSTEMS, ""), ("added", " with an added system")):
        n_pairs = families.count(family)
        least = min(1.0, n_pairs * 2.0 ** (1 - m))
        if not _all_ways(m, _n_draws(n_draws, n_pairs)) or least < ALPHA:
            continue  # drawn ways are as many as it takes
        fewer = (
            "compare fewer systems (against one of them), or more" if n_pairs > 1 else "take more"
        )
        sentences.append(
            f"No difference{whose} can be significant: the outputs of {m} {unit} can be swapped "
            f"in {2**m:,} ways, so that the least possible p is {least:.2g} after Holm's "
            f"correction for {n_pairs} pair{'s' * (n_pairs > 1)}; {fewer} {unit}."
        )
    return " ".join(sentences)


def with_ranks(table: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """`systems_table` with the ranks that a system may have on each axis, and which systems stand together.

    Parameters
    ----------
    table : of `systems_table`. tests : all pairs of `paired_tests` on the same plane.

    Returns
    -------
    With accuracy_rank_low, accuracy_rank_high and so on: from 1 more than the compared systems that are significantly
    better, to all but those that are significantly worse. With p_holm < 0.05 these hold for all systems of a family at
    once with 95 % (Mohamad, Goeman and van Zwet 2019, from pairwise tests); whose interval begins at 1 may be the best.
    accuracy_cluster and so on: every compared system of a cluster is significantly better than all of those after it,
    as WMT prints them. A system that is outside has the ranks that it would have among the compared ones, and no
    cluster; a stored axis has neither.
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
    """(k,) number of each compared system's cluster, from 1, the best first; 0 for others."""
    order = np.flatnonzero(compared)[np.argsort(-scores[compared], kind="stable")]
    out, number = np.zeros(len(scores), dtype=int), 1
    for i, system in enumerate(order):
        if i and better[np.ix_(order[:i], order[i:])].all():
            number += 1
        out[system] = number
    return out


def _pairs(plane: Plane, against: str | None) -> tuple[list[tuple[int, int]], list[str]]:
    """The pairs to test, and the family of each."""
    scored = np.flatnonzero(plane.there.any(0)).tolist()
    if against is None:
        pairs = list(combinations(scored, 2))
    else:
        one = plane.systems.index(checks.one_of(against, plane.systems, "system"))
        pairs = [(one, j) for j in scored if j != one]
    reasons = [plane.outside.get(system, "") for system in plane.systems]
    families = [
        next((f for f in FAMILIES if any(reasons[i].startswith(f) for i in pair)), SYSTEMS)
        for pair in pairs
    ]
    return pairs, families


def _n_draws(n_draws: int, n_pairs: int) -> int:
    """So many that a family of that many pairs can be decided."""
    return max(n_draws, int(np.ceil(BEYOND * n_pairs / ALPHA)))


def _all_ways(m: int, n_draws: int) -> bool:
    """Whether all ways to swap m documents are tried: half of them, since the other half says the same."""
    return m <= int(n_draws).bit_length()


def _randomised(
    axis: Axis,
    pairs: Sequence[tuple[int, int]],
    sums: np.ndarray,
    rng: np.random.Generator,
    *,
    draws: tuple[int, int],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(P,) observed differences, p, and from how many swaps: these move counts between the two systems of a pair.

    Parameters
    ----------
    sums : (M, k, S) counts of each document. draws : for all pairs, and for those that may be significant.
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
        """(W,) how many ways are at least as far apart as what was observed, of some pairs, in parts that fit."""
        found = np.zeros(len(which), dtype=np.int64)
        fits = max(1, BLOCK // sums[:, 0].size)
        for start in range(0, len(which), fits):
            some = which[start : start + fits]
            turned = (sums[:, a[some]] - sums[:, b[some]]) / 2
            # each pair its own ways: the same ones, turned round for documents of its own
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

    while (more := np.flatnonzero(_close(p := p_now(), holm(p), ways) & (ways < MOST))).size:
        found[more] += exceeding(more, partial(_some_ways, rng, MOST, m))
        ways[more] += MOST
    return observed, p_now(), ways


def _every_way(m: int, width: int) -> Iterator[np.ndarray]:
    """Blocks of (B, M) signs, +1 or -1: all in which the first is +1."""
    step = max(1, AT_ONCE // max(m, width))
    for start in range(0, 2 ** (m - 1), step):
        number = np.arange(start, min(start + step, 2 ** (m - 1)))
        yield 1.0 - 2.0 * ((number[:, None] >> np.arange(m)) & 1)[:, ::-1]


def _some_ways(rng: np.random.Generator, n: int, m: int, width: int) -> Iterator[np.ndarray]:
    """Blocks of (B, M) random signs, n rows in all."""
    step = max(1, AT_ONCE // max(m, width))
    for start in range(0, n, step):
        rows = min(step, n - start)
        bits = np.unpackbits(
            np.frombuffer(rng.bytes((rows * m + 7) // 8), dtype=np.uint8), count=rows * m
        )
        yield 1.0 - 2.0 * bits.reshape(rows, m)
