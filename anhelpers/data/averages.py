"""Published segment averages of expert ratings, the files NAME.avg_seg_scores.tsv beside NAME.tsv, and how own ones
compare with them.

A row is a system, its mean penalty with the sign turned (higher is better), and a segment; spaces or tabs part them,
``None`` stands where nobody rated. References are not always called as in the ratings: ``ref-A`` may be ``ref``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from ..errors import DataError
from .lines import csv_number, read_lines

__all__ = ["AGREE", "averages_beside", "compare_averages", "read_averages"]

AGREE = 1e-6
"""The published averages have six decimals."""

_COLUMNS = ("system", "mqm_avg_score", "seg_id")
_TABLE = re.compile(r"\.(tsv|csv)(\.tar)?(\.gz|\.xz|\.zst)?$", re.IGNORECASE)


def averages_beside(ratings: str | PathLike) -> Path | None:
    """The published segment averages that lie beside a file of ratings; None where none do.

    Parameters
    ----------
    ratings : the file of ratings, NAME.tsv.
    """
    path = Path(ratings)
    beside = path.with_name(_TABLE.sub("", path.name) + ".avg_seg_scores.tsv")
    return beside if beside.is_file() and beside != path else None


def read_averages(path: str | PathLike) -> dict[tuple[str, str], float]:
    """(system, segment) -> mean penalty per translation, lower is better, of a file of published averages.

    Raises
    ------
    DataError : other columns, a row of another width, a score that is no number, a translation twice.
    """
    head, *rows = read_lines(path) or ("",)
    columns = head.split()
    if sorted(columns) != sorted(_COLUMNS):
        raise DataError(
            f"the columns are '{' '.join(columns)}'; wanted: {' '.join(_COLUMNS)}.", path, 1
        )
    averages: dict[tuple[str, str], float] = {}
    for line, row in enumerate(rows, 2):
        cells = dict(zip(columns, row.split(), strict=False))
        if len(row.split()) != len(columns):
            raise DataError(
                f"{len(row.split())} cells instead of {len(columns)}: '{row[:80]}'.", path, line
            )
        if cells["mqm_avg_score"] == "None":
            continue
        unit = cells["system"], cells["seg_id"]
        if unit in averages:
            raise DataError(
                f"system {unit[0]}, segment {unit[1]} stands here a second time.", path, line
            )
        averages[unit] = -csv_number(cells["mqm_avg_score"], "score", path, line, least=-math.inf)
    return averages


def compare_averages(
    ours: Mapping[tuple[str, str], float], path: str | PathLike
) -> tuple[str, ...]:
    """Sentences that say how own averages and published ones compare: names, how many, and the largest difference.

    Parameters
    ----------
    ours : (system, segment) -> mean penalty per translation, as from `MqmScores.by("segment")`.
    path : the published averages.
    """
    theirs = read_averages(path)
    names = _same_system({system for system, _ in theirs}, {system for system, _ in ours})
    theirs = {
        (names.get(system, system), segment): value for (system, segment), value in theirs.items()
    }
    common = [unit for unit in theirs if unit in ours]
    told = [
        f"published averages: their {name} is {own} here"
        for name, own in names.items()
        if name != own
    ]
    told += _unmatched(
        theirs.keys() - ours.keys(),
        "published averages belong to no translation that is rated here",
    )
    told += _unmatched(
        ours.keys() - theirs.keys(), "translations that are rated here have no published average"
    )
    apart = {unit: abs(theirs[unit] - ours[unit]) for unit in common}
    worst = max(apart, key=lambda unit: apart[unit], default=None)
    if worst is None:
        return (*told, "published averages: none of them can be compared with ours")
    said = (
        f"published averages: {len(common):,} translations, ours differ by at most "
        f"{apart[worst]:.1e}"
    )
    other = sum(value > AGREE for value in apart.values())
    if other:
        said += (
            f"; {other:,} differ by more than rounding, most of all {worst[0]}, segment "
            f"{worst[1]}: "
        )
        said += (
            f"published {theirs[worst]:.6g}, here {ours[worst]:.6g}; were other weights or other "
            "raters behind them?"
        )
    return (*told, said)


def _same_system(theirs: Iterable[str], ours: Iterable[str]) -> dict[str, str]:
    """Published name -> name here: equal but for case and punctuation, or the one reference left, where one is ref."""
    theirs, ours = sorted(theirs), sorted(ours)
    names = {name: name for name in theirs if name in ours}
    for name in theirs:
        alike = [own for own in ours if own not in names.values() and _plain(own) == _plain(name)]
        if name not in names and len(alike) == 1:
            names[name] = alike[0]
    left = [name for name in theirs if name not in names and _plain(name).startswith("ref")]
    free = [own for own in ours if own not in names.values() and _plain(own).startswith("ref")]
    # refB is not refA
    one = len(left) == len(free) == 1 and "ref" in (_plain(left[0]), _plain(free[0]))
    return names | (dict(zip(left, free, strict=True)) if one else {})


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _unmatched(units: Iterable[tuple[str, str]], what: str) -> list[str]:
    """How many translations only one side has, and of which systems."""
    units = sorted(units)
    return (
        [f"{len(units):,} {what} ({', '.join(sorted({system for system, _ in units}))})"]
        if units
        else []
    )
