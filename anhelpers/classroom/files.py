"""Ratings of a class as files, one per rater, and all of them together as one tidy table."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import __version__, checks
from ..data.lines import plain_number
from ..data.writing import write_text
from ..errors import DataError, UnknownName
from .reading import class_files, class_rows
from .sheet import CRITERIA, SCALE, Cell, Sheet

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "COLUMNS",
    "ClassRatings",
    "RatingRow",
    "pooled_ratings",
    "ratings_csv",
    "read_class_ratings",
    "write_ratings",
]

COLUMNS = (
    *("rater", "sheet", "segment", "candidate", "criterion", "rating"),
    *("seconds", "version", "turn"),
)
"""The header of a file of ratings, a row for each; seconds, version and turn may be missing.

The turn says when the page asked for it, from 1: all texts alone for fluency, then with their sources for accuracy.
"""

NEEDED = COLUMNS[:6]
ONE_SHEET = (
    "only ratings of one sheet can be put together: the plane.html that was written with that sheet "
    "reads this file, and the notebook 01_class_raters with the same data, systems, numbers and seed."
)
# hidden, in another folder, or not on every system
NO_FILE_NAME = re.compile(r'\.|.*[\\/:*?"<>|\x00-\x1f]', re.DOTALL)


@dataclass(frozen=True, eq=False, repr=False)
class ClassRatings:
    """The ratings of several people of one sheet.

    Parameters
    ----------
    table : a row per rating with the columns COLUMNS; a missing rating is nan, and so are missing seconds.
    notes : sentences that the user should see, such as how many ratings are missing.
    """

    table: pd.DataFrame
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        n, asked = int(self.table.rating.notna().sum()), len(self.table)
        who = f"{len(self.raters)} rater{'s' * (len(self.raters) != 1)}"
        return f"ClassRatings(sheet {self.sheet}: {n} of {asked} ratings by {who})"

    @property
    def raters(self) -> tuple[str, ...]:
        """The pseudonyms, in the order of the files."""
        return tuple(self.table.rater.unique())

    @property
    def sheet(self) -> str:
        """The id of the sheet that all of them rated."""
        return str(self.table.sheet.iloc[0])

    def matrix(self, criterion: str) -> pd.DataFrame:
        """A row per (segment, candidate), a column per rater: the ratings by one criterion, nan where missing."""
        part = self.table[self.table.criterion == checks.one_of(criterion, CRITERIA, "criterion")]
        wide = part.pivot(index=["segment", "candidate"], columns="rater", values="rating")
        return wide.reindex(columns=self.raters)


def ratings_csv(rater: str, sheet: str, rows: Iterable[tuple], version: str = __version__) -> str:
    """The text of one rater's file: rows of (segment, candidate, criterion, rating, seconds, turn), the last three None
    or nan where missing; the turn may be left out.

    >>> print(ratings_csv("Mo", "4b54", [(0, 12, "accuracy", 4, 2.5, 2), (0, 12, "fluency", None, None)], "0.1"))
    rater,sheet,segment,candidate,criterion,rating,seconds,version,turn
    Mo,4b54,0,12,accuracy,4,2.5,0.1,2
    Mo,4b54,0,12,fluency,,,0.1,
    <BLANKLINE>
    """

    def shown(value: float | None, digits: int) -> str:
        return "" if value is None or np.isnan(value) else f"{value:.{digits}f}"

    lines: list[tuple] = [COLUMNS]
    for segment, candidate, criterion, rating, seconds, *turn in rows:
        cell = (rater, sheet, segment, candidate, criterion)
        asked = shown(turn[0] if turn else None, 0)
        lines.append((*cell, shown(rating, 0), shown(seconds, 1), version, asked))
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def write_ratings(ratings: ClassRatings, folder: str | PathLike) -> list[Path]:
    """Write one file per rater into a folder that is there, as the raters themselves would have; returns the paths.

    Raises
    ------
    DataError : a rater whose name cannot be that of a file in this folder, before anything is written.
    """
    for rater in ratings.raters:
        if NO_FILE_NAME.match(rater):
            raise DataError(
                f"rater '{rater}' cannot be the name of a file here; take a name without dots in "
                "front, "
                'slashes and any of \\:*?"<>|.',
                folder,
            )
    paths = []
    for rater in ratings.raters:
        part = ratings.table[ratings.table.rater == rater]
        rows = part[["segment", "candidate", "criterion", "rating", "seconds", "turn"]].itertuples(
            index=False, name=None
        )
        text = ratings_csv(rater, ratings.sheet, rows, str(part.version.iloc[0]))
        paths.append(write_text(Path(folder, f"{rater}.csv"), text))
    return paths


class RatingRow(NamedTuple):
    """One rating as a file has it.

    Parameters
    ----------
    line : 1-based, in its file. rater, sheet, version : as typed, the sheet's id, of the package.
    cell : (segment, candidate, criterion). rating : on SCALE. seconds : until it was given.
    turn : when the page asked for it, 1 first; nan where the file does not say.
    """

    line: int
    rater: str
    sheet: str
    cell: Cell
    rating: float
    seconds: float
    version: str
    turn: float = np.nan


def read_class_ratings(
    paths: str | PathLike | Iterable[str | PathLike], sheet: Sheet | None = None
) -> ClassRatings:
    """Put the files of several raters together: one file, several, or all *.csv of a folder.

    Separators may be commas, semicolons or tabs; a byte order mark and Excel's line ends do no harm. A copy of a file
    is read once, and told.

    Parameters
    ----------
    sheet : what was to be rated, if it is at hand: then other ratings are refused, and all of it that nobody rated
        counts as missing.

    Raises
    ------
    DataError, with file and line: another sheet, a rating outside 1..5, one rater with different ratings in two files
    or with two ratings of one candidate, an unknown criterion, a missing column, an empty file, HTML instead of CSV.
    """
    first = None if sheet is None else (sheet.id, "the sheet at hand is")
    cells = {} if sheet is None else dict.fromkeys(sheet.rows)
    found: dict[str, tuple[Path, dict[Cell, RatingRow]]] = {}
    notes = []
    for path in class_files(paths, "the raters'"):
        mine: dict[str, dict[Cell, RatingRow]] = {}
        for line, given in class_rows(path, COLUMNS, NEEDED, "ratings"):
            row = _row(given, path, line)
            first = first or (row.sheet, f"in {path} it is")
            _fits(row, path, first, cells if sheet else None, mine.setdefault(row.rater, {}))
            mine[row.rater][row.cell] = row
        for rater, given in mine.items():
            if rater in found:
                notes.append(_copy(rater, given, path, *found[rater]))
            else:
                found[rater] = path, given
    return pooled_ratings({rater: given for rater, (_, given) in found.items()}, notes, cells)


def _fits(
    row: RatingRow,
    path: Path,
    first: tuple[str, str],
    cells: Mapping | None,
    given: Mapping[Cell, RatingRow],
) -> None:
    """A DataError where a rating is of another sheet, of nothing that is on the sheet, or given for a second time."""
    segment, candidate, criterion = row.cell
    if row.sheet != first[0]:
        told = f"this is of sheet '{row.sheet}', and {first[1]} '{first[0]}'"
        raise DataError(f"{told}; {ONE_SHEET}", path, row.line)
    if cells is not None and row.cell not in cells:
        told = f"candidate {candidate} of segment {segment} is not on the sheet"
        raise DataError(f"{told}; leave the file as the page saved it.", path, row.line)
    if row.cell in given:
        told = f"{row.rater} rates the {criterion} of candidate {candidate} a second time"
        raise DataError(
            f"{told}, first in line {given[row.cell].line}; keep one of the two.", path, row.line
        )


def _row(cells: Mapping[str, str], path: Path, line: int) -> RatingRow:
    """One rating, each of its cells checked."""
    for name in ("rater", "sheet"):
        if not cells[name]:
            raise DataError(f"the {name} is blank; every rating needs one.", path, line)
    for name in ("segment", "candidate"):
        if not (cells[name].isascii() and cells[name].isdigit() and len(cells[name]) < 19):
            raise DataError(f"{name} '{cells[name]}' is no whole number from 0 on.", path, line)
    try:
        criterion = checks.one_of(cells["criterion"].lower(), CRITERIA, "criterion")
    except UnknownName as error:
        raise DataError(str(error), path, line) from None
    rating, seconds, turn = (_number(cells.get(name, "")) for name in ("rating", "seconds", "turn"))
    if cells.get("seconds") and not 0 <= seconds < np.inf:
        raise DataError(
            f"seconds '{cells['seconds']}' is no number ≥ 0; leave it blank where it is not known.",
            path,
            line,
        )
    if cells["rating"] and rating not in SCALE:
        raise DataError(
            f"rating '{cells['rating']}' is none of 1, 2, 3, 4, 5; leave it blank where there is "
            "none.",
            path,
            line,
        )
    if cells.get("turn") and not (turn >= 1 and turn == turn // 1):
        raise DataError(
            f"turn '{cells['turn']}' is no whole number from 1 on; leave it blank where it is not "
            "known.",
            path,
            line,
        )
    cell = int(cells["segment"]), int(cells["candidate"]), criterion
    version = cells.get("version", "")
    return RatingRow(line, cells["rater"], cells["sheet"], cell, rating, seconds, version, turn)


def _number(cell: str) -> float:
    """The number of a cell, with a decimal point or comma; nan where there is none."""
    try:
        return plain_number(cell.replace(",", "."))
    except ValueError:
        return np.nan


def _copy(
    rater: str, given: dict[Cell, RatingRow], path: Path, other: Path, known: dict[Cell, RatingRow]
) -> str:
    """A note that this file repeats another; a DataError where it says something else."""
    for cell in {**given, **known}:
        pair = [ratings[cell].rating if cell in ratings else np.nan for ratings in (given, known)]
        if not (pair[0] == pair[1] or np.isnan(pair).all()):
            line = given[cell].line if cell in given else None
            raise DataError(
                f"{rater} has other ratings in {other}: keep the file that counts, or give two "
                "people two pseudonyms.",
                path,
                line,
            )
    return f"{path} repeats the ratings of {rater} in {other}, and is read once."


def pooled_ratings(
    found: Mapping[str, Mapping[Cell, RatingRow]], notes: Sequence[str], asked: Iterable[Cell] = ()
) -> ClassRatings:
    """The table of all raters: a row for every rater and every rating that any of them was asked for.

    Parameters
    ----------
    found : rater -> (segment, candidate, criterion) -> row.
    """
    import pandas as pd

    cells = list(dict.fromkeys([*asked, *(cell for given in found.values() for cell in given)]))
    columns: dict[str, list] = {name: [] for name in COLUMNS}
    missing = {}
    for rater, given in found.items():
        some = next(iter(given.values()))
        for cell in cells:
            row = given.get(cell, some._replace(rating=np.nan, seconds=np.nan, turn=np.nan))
            for name, value in zip(COLUMNS, (rater, row.sheet, *cell, *row[4:]), strict=True):
                columns[name].append(value)
        missing[rater] = sum(cell not in given or np.isnan(given[cell].rating) for cell in cells)
    if any(missing.values()):
        who = ", ".join(f"{rater} {n}" for rater, n in missing.items() if n)
        notes = [
            *notes,
            f"{(lost := sum(missing.values()))} of {len(cells) * len(found)} ratings "
            f"{'is' if lost == 1 else 'are'} missing ({who}).",
        ]
    told = (*_same_work(found), *_same_names(found), *_sources_first(found))
    return ClassRatings(pd.DataFrame(columns), (*notes, *told))


def _same_work(found: Mapping[str, Mapping[Cell, RatingRow]]) -> list[str]:
    """Notes on raters whose ratings, wherever both gave one, have the same seconds: one file under two names."""
    work = {
        rater: {
            cell: (row.rating, row.seconds)
            for cell, row in given.items()
            if row.rating > 0 and row.seconds > 0
        }
        for rater, given in found.items()
    }

    def same(one: str, other: str) -> bool:
        both = work[one].keys() & work[other].keys()
        return len(both) > 2 and all(work[one][cell] == work[other][cell] for cell in both)

    return [
        f"{' and '.join(raters)} gave the same ratings in the same seconds: if this is one "
        "person's file under two names, delete one, for it makes the agreement too high."
        for raters in _alike(found, same)
    ]


def _same_names(found: Iterable[str]) -> list[str]:
    """Notes on raters whose names have the same letters and digits."""

    def bare(name: str) -> str:
        return "".join(filter(str.isalnum, name.lower()))

    return [
        f"{' and '.join(raters)} count as {len(raters)} people: are they one, whose name was typed "
        "in two ways?"
        for raters in _alike(found, lambda one, other: bare(one) == bare(other) != "")
    ]


def _alike(names: Iterable[str], same: Callable[[str, str], bool]) -> list[list[str]]:
    """Groups of two names or more that are like the first of the group."""
    groups: list[list[str]] = []
    for name in names:
        group = next((group for group in groups if same(group[0], name)), None)
        if group is None:
            groups.append([name])
        else:
            group.append(name)
    return [group for group in groups if len(group) > 1]


def _sources_first(found: Mapping[str, Mapping[Cell, RatingRow]]) -> list[str]:
    """Notes on raters whose files say that fluency was rated after a source had been shown."""
    late = []
    for rater, given in found.items():
        turns = {
            name: [row.turn for cell, row in given.items() if cell[2] == name and row.turn >= 1]
            for name in CRITERIA
        }
        if all(turns.values()) and max(turns["fluency"]) > min(turns["accuracy"]):
            late.append(rater)
    return [f"{rater} rated fluency after the sources had been shown." for rater in late]
