"""Exports of Appraise, in which WMT's raters give 0 to 100 points: ESA of 2024 and later, direct assessment before.

CSV without a header. Of ESA 12 cells a rating: annotator, system, line, type, source and target language (three
letters), points, document, whether it rates a document, marked spans as JSON, start and end time; of direct assessment
11, without spans. A type other than TGT, tutorials, and documents that end in #bad, #dup or #incomplete are controls.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import DataError
from .languages import known_code, short_code
from .lines import csv_cells, csv_number, table_lines
from .schema import TestSet

__all__ = [
    "CELLS",
    "Appraisal",
    "Assessment",
    "dates_of",
    "is_appraise",
    "lines_within",
    "pair_of",
    "read_appraise",
]

CELLS = {"esa": 12, "da": 11}
"""How a rating was made -> how many cells its row has."""

CONTROLS = ("bad", "dup", "incomplete")
STARTS = (1, 0, 2)
"""What the line of the first segment may be called: 1 where a canary is line 0, or where lines count from 1."""
MOST_BEYOND = 0.01
"""Of all marks, the share that may end beyond its text: 0 of 3,536 for WMT24 en-cs, 0.26 where lines are one off."""


class Assessment(NamedTuple):
    """One rating: 0 to 100 points of a rater for the line of a system; `ends` are those of its marks, in characters."""

    rater: str
    system: str
    line: int
    points: float
    doc: str
    ends: tuple[int, ...]
    file: int
    number: int


@dataclass(frozen=True)
class Appraisal:
    """The ratings of one language pair in some files, controls aside.

    Parameters
    ----------
    ratings : in the order of the files. paths : the files. notes : what was left out, counted.
    """

    ratings: tuple[Assessment, ...]
    paths: tuple[str, ...]
    notes: tuple[str, ...]


def is_appraise(path: str | PathLike) -> bool:
    """Whether a file begins as an export does: a row without header, of as many cells, the third a number."""
    for _, cells in csv_cells(table_lines(path)[:1], path):
        return len(cells) in CELLS.values() and cells[2].strip().isdigit()
    return False


def dates_of(paths: Sequence[str | PathLike]) -> str:
    """The first and the last day on which somebody rated, such as "2024-08-19..2024-09-23"; "" where none is known."""
    times = [
        _time(cell, path, number)
        for path in paths
        for number, cells in csv_cells(table_lines(path), path)
        for cell in cells[-2:]
    ]
    if not times or min(times) <= 0:
        return ""
    days = (datetime.fromtimestamp(t, UTC).date().isoformat() for t in (min(times), max(times)))
    return "..".join(dict.fromkeys(days))


def read_appraise(paths: Sequence[str | PathLike], kind: str, lp: str) -> Appraisal:
    """The ratings of one language pair in one or several files, such as the waves of WMT24.

    A row that is equal to an earlier one in all its cells is the same rating, and counts once.

    Parameters
    ----------
    kind : one of CELLS. lp : language pair, such as "en-cs".

    Raises
    ------
    DataError : a row of another width, a line or points that are none, broken spans, no rating of the pair.
    """
    left: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    found: list[Assessment] = []
    seen: set[tuple[str, ...]] = set()
    for file, path in enumerate(paths):
        for number, cells in csv_cells(table_lines(path), path):
            if not any(cell.strip() for cell in cells):
                continue
            _check_width(cells, kind, path, number)
            pair = pair_of(cells[4:6], path, number)
            if pair != lp:
                pairs[pair] += 1
            elif tuple(cells) in seen:
                left["the same rating again"] += 1
            elif why := _control(cells):
                left[why] += 1
            else:
                found.append(_assessment(cells, kind, file, (path, number)))
            seen.add(tuple(cells))
    if not found:
        there = ", ".join(f"{pair} ({n:,} rows)" for pair, n in pairs.most_common()) or "none"
        raise DataError(
            f"holds no rating of {lp} that is no control; language pairs: {there}.", paths[0]
        )
    notes = [f"{n:,} rows left out: {why}." for why, n in left.items()]
    if pairs:
        notes.append(
            f"{sum(pairs.values()):,} rows are of other language pairs ({', '.join(pairs)})."
        )
    return Appraisal(tuple(found), tuple(map(str, paths)), tuple(notes))


def lines_within(test: TestSet, appraisal: Appraisal) -> tuple[np.ndarray, tuple[str, ...]]:
    """(n,) the segment of a whole test set that each rating is of, and a sentence on how that was checked.

    The line counts, from the start (0, 1, or a canary) under which every rating is of a segment of its own document.
    Where the system is known, its marks must lie within its text.

    Parameters
    ----------
    appraisal : of `read_appraise`.

    Raises
    ------
    DataError : no start, or several, under which documents and marks fit: these ratings are of other texts, or lines.
    """
    rows, told = np.empty(len(appraisal.ratings), dtype=np.int64), []
    for file, path in enumerate(appraisal.paths):
        here = [i for i, one in enumerate(appraisal.ratings) if one.file == file]
        ratings = [appraisal.ratings[i] for i in here]
        start, why = _start(test, ratings)
        if start is None:
            raise DataError(f"{why}.", path, ratings[0].number if ratings else None)
        rows[here] = [one.line - start for one in ratings]
        if why:
            told.append(f"{Path(path).name}: {why}.")
    return rows, tuple(told)


def pair_of(codes: Sequence[str], path: str | PathLike, line: int) -> str:
    """The language pair of two codes of a row, such as "en-cs" of eng and ces; a DataError for a code that is none.

    Parameters
    ----------
    codes : of source and target language.
    """
    try:
        return "-".join(short_code(known_code(code.strip())) for code in codes)
    except DataError as error:
        raise DataError(str(error), path, line) from None


def _check_width(cells: Sequence[str], kind: str, path: str | PathLike, number: int) -> None:
    if len(cells) == CELLS[kind]:
        return
    other = next((name for name, n in CELLS.items() if n == len(cells)), "")
    hint = f": that is {other.upper()}, read it as {other}:FILE" if other else ""
    raise DataError(
        f"has {len(cells)} cells, and {CELLS[kind]} are wanted for {kind.upper()}{hint}.",
        path,
        number,
    )


def _control(cells: Sequence[str]) -> str:
    """Why a row is no rating of a translation; "" where it is one."""
    doc, mark = cells[7].rsplit("#", 1) if "#" in cells[7] else (cells[7], "")
    if "-tutorial" in doc:
        return "tutorials"
    if mark in CONTROLS:
        return f"controls (#{mark})"
    if cells[3] != "TGT":
        return f"controls (of type {cells[3]})"
    return "ratings of whole documents" if cells[8].strip().lower() == "true" else ""


def _assessment(
    cells: Sequence[str], kind: str, file: int, where: tuple[str | PathLike, int]
) -> Assessment:
    """A row as it is used; a DataError for a cell that is none."""
    path, number = where
    line, points = cells[2].strip(), csv_number(cells[6].strip(), "rating", path, number)
    if not (line.isascii() and line.isdigit() and len(line) < 10):
        raise DataError(f"'{line}' is no line, which is a whole number.", path, number)
    if points > 100:
        raise DataError(f"{points:g} is no rating; they go from 0 to 100.", path, number)
    if not (cells[0].strip() and cells[1].strip() and cells[7].strip()):
        raise DataError("there is no annotator, no system, or no document; give all.", path, number)
    ends = _ends(cells[9], path, number) if kind == "esa" else ()
    return Assessment(cells[0], cells[1], int(line), points, cells[7], ends, file, number)


def _ends(cell: str, path: str | PathLike, number: int) -> tuple[int, ...]:
    """Where the marks of a rating end, in characters; those of what is missing have no place."""
    try:
        marks: Any = json.loads(cell)
        ends = [mark["end_i"] for mark in marks if mark["start_i"] != "missing"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DataError(
            f'\'{cell:.60}\' are no marked spans, such as [{{"start_i": 8, "end_i": 11}}].',
            path,
            number,
        ) from None
    return tuple(end for end in ends if isinstance(end, int))


def _time(cell: str, path: str | PathLike, number: int) -> float:
    """Seconds since 1970."""
    seconds = csv_number(cell.strip(), "time in seconds", path, number)
    if seconds > 1e11:
        raise DataError(f"'{cell}' is no time in seconds since 1970.", path, number)
    return seconds


def _start(test: TestSet, ratings: Sequence[Assessment]) -> tuple[int | None, str]:
    """What the line of the first segment is called, and a sentence; None, and why, where that cannot be told."""
    n, texts = len(test), {**test.refs, **test.systems}
    fits: dict[int, tuple[int, int, int]] = {}
    beyond: dict[int, dict[str, tuple[int, int]]] = {}
    for start in STARTS:
        own = [
            0 <= one.line - start < n and test.docs[one.line - start] == one.doc for one in ratings
        ]
        marks = [
            (one.system, end <= len(texts[one.system][one.line - start]))
            for one, there in zip(ratings, own, strict=True)
            if there and one.system in texts
            for end in one.ends
        ]
        fits[start] = sum(own), sum(inside for _, inside in marks), len(marks)
        of, outside = Counter(s for s, _ in marks), Counter(s for s, inside in marks if not inside)
        beyond[start] = {
            s: (k, of[s]) for s, k in outside.items() if k > max(2, MOST_BEYOND * of[s])
        }
    whole = [start for start in STARTS if fits[start][0] == len(ratings)]
    whole = [s for s in whole if fits[s][1] >= (1 - MOST_BEYOND) * fits[s][2]]
    if len(whole) == 1:
        if beyond[whole[0]]:
            told = ", ".join(f"{s} {k} of {n}" for s, (k, n) in beyond[whole[0]].items())
            return None, (
                f"marks end beyond the texts of some systems in {test.name} ({told}): their ratings are of other "
                "translations, as where the names of two systems are exchanged"
            )
        own, inside, marks = fits[whole[0]]
        checked = f" and {inside:,} of {marks:,} marks lie within their texts" if marks else ""
        return whole[0], (
            f"lines count from {whole[0]}: all {own:,} ratings are of segments of their own documents{checked}"
        )
    if whole:
        told = " and ".join(map(str, sorted(whole)))
        return None, (
            f"whether lines count from {told} cannot be told from documents and marks; give ratings of more documents"
        )
    start = max(STARTS, key=lambda start: fits[start][:2])
    one = next(
        (
            one
            for one in ratings
            if not (0 <= one.line - start < n and test.docs[one.line - start] == one.doc)
        ),
        None,
    )
    if one is None:
        own, inside, marks = fits[start]
        return None, (
            f"{marks - inside:,} of {marks:,} marks end beyond their texts in {test.name}: these ratings are of other "
            "translations, or lines are shifted"
        )
    here = (
        f"segment {one.line - start + 1} of {test.name} is of {test.docs[one.line - start]}"
        if 0 <= one.line - start < n
        else f"{test.name} has {n} segments"
    )
    return None, (
        f"line {one.line} is rated as a part of {one.doc}, and {here} ({len(ratings) - fits[start][0]:,} of "
        f"{len(ratings):,} ratings do not fit): the documents must be those of the ratings, and the set whole"
    )
