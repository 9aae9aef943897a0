"""The two halves of the paper's claim, each true, false or undecided by the correlations of `plane.local`.

Near the frontier accuracy and naturalness go against each other, far from it they go together (AN §5.2).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..errors import DataError
from .local import FEWEST

if TYPE_CHECKING:
    import pandas as pd


RELIABLE = 0.75
"""Below, a verdict is none: with errors that go together, unrelated systems would be called related too often."""
EDGE = 3
"""Monte Carlo errors of p within which another seed may decide otherwise."""
HALVES = {"near": ("Near", "against each other", -1), "far": ("far from", "together", 1)}
"""Half -> where its systems stand, how accuracy and naturalness go there by the claim, and the sign of their r."""
MEANING = (
    "95 % intervals are for these systems on other documents; p: how often shuffling naturalness "
    "among all systems ({ways}) and choosing again gives an r as far out."
)


def claim_halves(table: pd.DataFrame, near: int | None = None) -> pd.DataFrame:
    """The near and the far half of the claim, each with what decides it or why nothing does.

    A half is decided where its systems differ by more than their errors (reliability ≥ RELIABLE: otherwise r is one of
    errors, which may go together), where r is another than selecting alone gives (two-sided p < 0.05: other systems
    might have been sent in) and where its 95 % interval lies on the same side of 0 (other documents might have been
    taken): it holds on the claimed side, and is false on the other. Nothing is said of the systems far from the
    frontier where some of them would be those near it, nor is the near half decided where it has all systems.
    `docs/calibration.md` has how often a half is decided where there is nothing.

    Parameters
    ----------
    table : of `local_correlation`.
    near : how many of the nearest systems count as near the frontier; by default the width of the sliding window.

    Returns
    -------
    A row "near", and a row "far" where there are systems enough: the columns of their windows, with verdict : "holds",
    "is false" or "is undecided"; why : what stands in the way of a decision, or "" ; by_seed : whether p is so near to
    0.05 that another seed may decide otherwise.

    Raises
    ------
    DataError : fewer systems than FEWEST, or more than there are, would be near the frontier.
    """
    sliding, nearest = table[table.window == "sliding"], table[table.window == "nearest"]
    near, k = int(sliding.n_systems.iloc[0]) if near is None else near, int(nearest.n_systems.max())
    if not FEWEST <= near <= k:
        raise DataError(
            f"near is {near}: at least {FEWEST} and at most all {k} systems can be near the "
            "frontier."
        )
    at = {"near": nearest.index[nearest.n_systems == near][0], "far": sliding.index[-1]}
    if near + sliding.n_systems.iloc[-1] > k:
        del at["far"]
    halves = table.loc[[*at.values()]].set_axis([*at])
    judged = [_judged(row, str(half), k) for half, row in halves.iterrows()]
    return halves.assign(
        **dict(zip(("verdict", "why", "by_seed"), zip(*judged, strict=True), strict=True))
    )


def verdict(table: pd.DataFrame, near: int | None = None) -> str:
    """The two halves of the paper's claim in words, as `claim_halves` decides them.

    Parameters
    ----------
    table, near : as there.
    """
    halves = claim_halves(table, near)
    close, far = halves.loc["near"], halves.loc["far"] if "far" in halves.index else None
    k = int(table.n_systems.max())
    other = f"{k} systems are too few to tell near from far" if far is None else _told(far)
    who = f"Near are {close.systems}{'' if far is None else f'. Far are {far.systems}'}."
    n = f"{close.n_shuffles:,}"
    meaning = MEANING.format(ways=f"all {n} ways" if close.all_ways else f"{n} random ways")
    return f"{_told(close)}; {other}. {who} {meaning}"


def _judged(row: pd.Series, half: str, k: int) -> tuple[str, str, bool]:
    """(verdict, why, by_seed) of a half of k systems."""
    if np.isnan(row.selection_p):
        return "is undecided", "these systems do not differ on one axis", False
    side = np.sign(row.pearson - row.selection_pearson)
    reasons = [
        (row.selection_p >= 0.05, f"p = {row.selection_p:.3f}"),
        (
            min(side * row.pearson_low, side * row.pearson_high) <= 0,
            "the interval of r reaches the other side of 0",
        ),
        (
            row.reliability < RELIABLE,
            "these systems differ too little beyond their errors (reliability "
            f"{row.reliability:.2f}, {RELIABLE} wanted)",
        ),
        (half == "near" and row.n_systems == k, "these are all systems, near and far"),
    ]
    held = [told for holds, told in reasons if holds]
    by_seed = _at_the_edge(row) and not any(holds for holds, _ in reasons[1:])
    why = " and ".join(filter(None, [", ".join(held[:-1]), *held[-1:]]))
    claimed = side == HALVES[half][2]
    return "is undecided" if why else "holds" if claimed else "is false", why, bool(by_seed)


def _told(row: pd.Series) -> str:
    """A half of the claim, what `claim_halves` says about it, and the numbers behind that."""
    where, go, _ = HALVES[str(row.name)]
    said = f"{row.verdict}, because {row.why}" if row.why else row.verdict
    begin = f"{where} the frontier the claim that accuracy and naturalness go {go} {said}: "
    begin += f"r = {row.pearson:.2f} (95 %: {row.pearson_low:.2f} to {row.pearson_high:.2f}) "
    begin += f"among {row.n_systems} systems"
    if np.isnan(row.selection_p):
        return begin
    alone = f"{row.selection_low:.2f} to {row.selection_high:.2f}, p = {row.selection_p:.3f}"
    edge = ", so near to 0.05 that another seed may decide otherwise" if row.by_seed else ""
    return f"{begin}, selecting alone gives {alone}{edge}"


def _at_the_edge(row: pd.Series) -> bool:
    """Whether p is within EDGE of its Monte Carlo errors of 0.05; it has none where all ways were counted."""
    one_sided = row.selection_p / 2
    error = 2 * math.sqrt(one_sided * (1 - one_sided) / row.n_shuffles)
    return not row.all_ways and abs(row.selection_p - 0.05) <= EDGE * error
