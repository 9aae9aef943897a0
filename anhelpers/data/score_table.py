"""Tables of scores of single translations: a header, then a score a row, found by texts or by the number of a segment.

Separated by tabs or commas. Columns: ``score`` (or ``value``, ``raw``); ``src`` and ``text`` (or ``source``, ``mt``,
``target``), or ``segment``, which counts from 0; ``system``; and ``rater``, ``doc``, ``lp``, ``metric``, ``unit``. What
`anhelpers score --segments` writes is such a table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import DataError, UnknownName
from ..metrics import Given
from .appraise import pair_of
from .given import averaged, places_by_text
from .lines import check_columns, csv_cells, csv_number, table_lines
from .schema import TestSet

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ScoreTable", "read_score_table", "read_segment_scores"]

NAMES = {  # what a column may be called -> what it is here
    "raw": "raw",
    **dict.fromkeys(("score", "value", "points"), "score"),
    **dict.fromkeys(("src", "source"), "src"),
    **dict.fromkeys(("mt", "text", "target", "hyp", "translation", "hypothesis"), "text"),
    **dict.fromkeys(("rater", "annotator"), "rater"),
    **dict.fromkeys(("doc", "document"), "doc"),
    **{name: name for name in ("system", "segment", "lp", "metric", "unit")},
}
DIRECTIONS = {"higher is": 1.0, "lower is": -1.0}
"""What a unit says of the better direction -> the sign by which higher is better."""
SAME = 1e-3  # as far apart may be scores of one text by one metric, in batches of other sizes
POINTS, STANDARD = "points, 0 to 100", "standard deviations of a rater"


@dataclass(frozen=True)
class ScoreTable:
    """Scores of translations, a row each.

    Parameters
    ----------
    path : the file. columns : what each known column holds, as text; n rows each.
    scores : (n,) numbers. lines : n, where each stands.
    """

    path: str
    columns: dict[str, tuple[str, ...]]
    scores: np.ndarray
    lines: tuple[int, ...]

    @property
    def points(self) -> str:
        """The unit of direct assessments: points, or where some are below 0, as z-scores are, standard deviations."""
        if (self.scores < 0).any():
            return STANDARD
        if (self.scores > 100).any():
            at = int(np.argmax(self.scores > 100))
            raise DataError(
                f"{self.scores[at]:g} is no rating; they go from 0 to 100.",
                self.path,
                self.lines[at],
            )
        return POINTS

    def of_metric(self, metric: str) -> ScoreTable:
        """The rows of one metric; an UnknownName with those that are there. A table without metrics is all of it."""
        if "metric" not in self.columns:
            return self
        rows = [i for i, name in enumerate(self.columns["metric"]) if name == metric]
        if not rows:
            raise UnknownName(
                f"metric of {Path(self.path).name}", metric, {*self.columns["metric"]}
            )
        return self._rows(rows)

    def given(self, test: TestSet, label: str, *, once: bool = False) -> Given:
        """These scores at the segments and systems of a test set; equal translations of a source share theirs.

        Parameters
        ----------
        label : what the scores are called. once : of a metric, which gives one text one score: without a column of
            raters, a second and other one is a DataError.
        """
        table, notes = self._of_pair(test)
        by_text = "text" in table.columns
        at, rows, columns = table._by_text(test) if by_text else table._by_number(test)
        raters = [table.columns["rater"][i] for i in at] if "rater" in table.columns else ()
        if once and not raters:
            _check_once(table, label, at, rows * len(test.systems) + columns, equal=True)
        found = averaged(test, (rows, columns), table.scores[at], label, raters=raters)
        how = "by their texts" if by_text else "by the number of the segment"
        how += " and the document" if not by_text and "doc" in table.columns else ""
        joined = f"{len({*at.tolist()}):,} of {len(table.scores):,} scores are of {test.name}, found {how}."
        if not by_text and "doc" not in table.columns:
            joined = f"{joined[:-1]}, which nothing else checks."
        return Given(found.values, (*notes, joined, *found.notes))

    def _rows(self, rows: Sequence[int]) -> ScoreTable:
        columns = {name: tuple(cells[i] for i in rows) for name, cells in self.columns.items()}
        return ScoreTable(
            self.path, columns, self.scores[list(rows)], tuple(self.lines[i] for i in rows)
        )

    def _of_pair(self, test: TestSet) -> tuple[ScoreTable, tuple[str, ...]]:
        """The rows of the test set's language pair, where rows say theirs."""
        if "lp" not in self.columns:
            return self, ()
        pairs = [
            pair_of(lp.split("-"), self.path, line)
            for lp, line in zip(self.columns["lp"], self.lines, strict=True)
        ]
        rows = [i for i, lp in enumerate(pairs) if lp == test.lp]
        if not rows:
            raise UnknownName(f"language pair of {Path(self.path).name}", test.lp, {*pairs})
        left = len(pairs) - len(rows)
        return self._rows(rows), ((f"{left:,} rows are of other language pairs.",) if left else ())

    def _by_text(self, test: TestSet) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n = len(self.scores)
        blank = ("",) * n
        return places_by_text(
            test,
            list(
                zip(
                    *(self.columns.get(name, blank) for name in ("system", "src", "text", "doc")),
                    strict=True,
                )
            ),
        )

    def _by_number(self, test: TestSet) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions of those whose system is in the test set, their segments and systems."""
        column = {system: j for j, system in enumerate(test.systems)}
        found = []
        for i, (cell, system) in enumerate(
            zip(self.columns["segment"], self.columns["system"], strict=True)
        ):
            if not (cell.isascii() and cell.isdigit() and int(cell) < len(test)):
                raise DataError(
                    f"segment '{cell}' is none of {test.name}, whose {len(test)} segments count from 0.",
                    self.path,
                    self.lines[i],
                )
            if "doc" in self.columns and self.columns["doc"][i] != test.docs[int(cell)]:
                raise DataError(
                    f"segment {cell} is of document '{self.columns['doc'][i]}' here, and in {test.name} of "
                    f"'{test.docs[int(cell)]}': lines are shifted, or these are other texts.",
                    self.path,
                    self.lines[i],
                )
            if system in column:
                found.append((i, int(cell), column[system]))
        places = np.array(found, dtype=np.int64).reshape(-1, 3)
        return places[:, 0], places[:, 1], places[:, 2]


def read_score_table(path: str | PathLike) -> ScoreTable:
    """A table with a header and a score per row; an empty score, "nan" or "None" is none.

    Raises
    ------
    DataError : columns that say neither texts nor segment and system; a row of another width; a score that is none.
    """
    lines = table_lines(path)
    delimiter = "\t" if lines and "\t" in lines[0] else ","
    rows = [(n, cells) for n, cells in csv_cells(lines, path, delimiter=delimiter) if any(cells)]
    header = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    kinds = [NAMES.get(cell, "") for cell in header]
    check_columns(kinds, [kind for kind in kinds if kind], path)
    has = {*kinds}
    if not has & {"score", "raw"} or not ("text" in has or {"segment", "system"} <= has):
        raise DataError(
            f"its header has {', '.join(header)[:200] or 'nothing'}; score, and src with text or system with segment, "
            "are wanted.",
            path,
            1,
        )
    number = kinds.index("raw" if "raw" in has else "score")
    numbers, kept = [], []
    for line, cells in rows[1:]:
        if len(cells) != len(header):
            raise DataError(f"has {len(cells)} fields, and the header {len(header)}.", path, line)
        if cells[number].strip().lower() in ("", "nan", "none", "null"):
            continue
        numbers.append(csv_number(cells[number].strip(), "score", path, line, least=-math.inf))
        kept.append((line, cells))
    if not kept:
        raise DataError("this table has no score.", path)
    columns = {
        kind: tuple(cells[j].strip() for _, cells in kept)
        for j, kind in enumerate(kinds)
        if kind and j != number
    }
    return ScoreTable(str(path), columns, np.array(numbers), tuple(line for line, _ in kept))


def read_segment_scores(path: str | PathLike, test: TestSet) -> pd.DataFrame:
    """Scores of a test set's segments by all metrics of a table, turned so that higher is better.

    A table of `read_score_table` with the columns system, segment (from 0), metric and unit, which must say the
    direction ("points, higher is better"). A column doc must name the document that the segment has in the test set,
    so that shifted rows are seen.

    Parameters
    ----------
    test : the test set that the scores are of.

    Returns
    -------
    DataFrame system, segment, metric, score, unit. `attrs["notes"]`: sentences that the user should see.

    Raises
    ------
    DataError, with the line : no such column; a segment out of range, or twice; a value that is no number; a unit
        without a direction, or a metric with two; another document; no system of the test set.
    """
    import pandas as pd

    table = read_score_table(path)
    wanted = ("system", "segment", "metric", "unit")
    if missing := [name for name in wanted if name not in table.columns]:
        raise DataError(
            f"its header has no column {', '.join(missing)}; value and {', '.join(wanted)} are "
            "wanted, as `anhelpers score --segments` writes them.",
            path,
            1,
        )
    frames = []
    for metric in dict.fromkeys(table.columns["metric"]):
        own = table.of_metric(metric)
        sign, unit = _direction(own, metric)
        at, rows, columns = own._by_number(test)
        _check_once(own, metric, at, rows * len(test.systems) + columns)
        systems = np.array(list(test.systems), dtype=object)[columns]
        score = sign * own.scores[at] + 0.0
        frames.append(
            pd.DataFrame({"system": systems, "segment": rows, "score": score}).assign(
                metric=metric, unit=unit
            )
        )
    found = pd.concat(frames, ignore_index=True)[["system", "segment", "metric", "score", "unit"]]
    if found.empty:
        raise DataError(f"has scores of no system of {test.name}.", path)
    found.attrs["notes"] = _missing_notes(table, found, test)
    return found


def _direction(table: ScoreTable, metric: str) -> tuple[float, str]:
    """The sign by which higher is better, and the unit then: "edits, negated: higher is better"."""
    unit = table.columns["unit"][0]
    for other, line in zip(table.columns["unit"], table.lines, strict=True):
        if other != unit:
            told = f"{metric} has the unit '{other}' here, and '{unit}' above."
            raise DataError(told, table.path, line)
    if not metric:
        raise DataError("there is no metric's name; give one.", table.path, table.lines[0])
    signs = [sign for told, sign in DIRECTIONS.items() if told in unit]
    if len(signs) != 1:
        raise DataError(
            f"the unit '{unit}' of {metric} does not say the direction; write “…, higher is "
            "better” or “…, lower is better”.",
            table.path,
            table.lines[0],
        )
    return signs[0], unit.replace("lower is", "negated: higher is")


def _check_once(
    table: ScoreTable, metric: str, at: np.ndarray, places: np.ndarray, *, equal: bool = False
) -> None:
    """A DataError where a system has a second score for a segment.

    Parameters
    ----------
    at : (n,) rows of the table. places : (n,) a number for each segment of a system. equal : whether a second score may
        stand there that is the first one again, but for what another batch changes.
    """
    _, first, inverse = np.unique(places, return_index=True, return_inverse=True)
    before = first[inverse]
    again = before != np.arange(len(at))
    if equal:
        again &= ~np.isclose(table.scores[at], table.scores[at][before], rtol=SAME, atol=SAME)
    if again.any():
        i, j = int(at[again][0]), int(at[before[again][0]])
        # a row that is found by its text may name neither
        system, segment = (
            table.columns.get(name, [""] * len(table.scores))[i] for name in ("system", "segment")
        )
        who = f"system '{system}'" if system else "this translation"
        where = f" for segment {segment}" if segment else ""
        raise DataError(
            f"{who} has a second {metric}{where}: {table.scores[i]:g}, and {table.scores[j]:g} on line "
            f"{table.lines[j]}; a metric gives one.",
            table.path,
            table.lines[i],
        )


def _missing_notes(table: ScoreTable, found: pd.DataFrame, test: TestSet) -> tuple[str, ...]:
    told = []
    if "doc" not in table.columns:
        told.append(
            "scores are matched to segments by number alone; with a column doc shifted rows would "
            "be seen."
        )
    if others := sorted({*table.columns["system"]} - {*test.systems, *test.refs}):
        told.append(f"not in {test.name}, and left out: {', '.join(others)}.")
    n = found.groupby(["metric", "system"]).size()
    if (few := n[n < len(test)]).size:
        (metric, system), least = few.idxmin(), int(few.min())
        told.append(
            f"not all segments have a stored score; fewest: {metric} of {system}, {least} of "
            f"{len(test)}."
        )
    return tuple(told)
