"""Tables of segment scores, a row per system, segment and metric, as `anhelpers score --segments` writes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from ..errors import DataError, UnknownName
from .lines import check_columns, csv_cells, csv_number, table_lines
from .schema import TestSet

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_segment_scores"]

WANTED = ("system", "segment", "metric", "value", "unit")
DIRECTIONS = {"higher is": 1.0, "lower is": -1.0}
"""What a unit says of the better direction -> the sign by which higher is better."""


def read_segment_scores(path: str | PathLike, test: TestSet) -> pd.DataFrame:
    """Scores of the segments of a test set by metrics that were computed elsewhere, turned so that higher is better.

    A CSV file with the columns system, segment (from 0), metric, value and unit, which must say the direction ("points,
    higher is better"); an empty value is missing. Where there is a column doc, it must name the document that the
    segment has in the test set, so that shifted rows are seen. Other columns are passed over.

    Parameters
    ----------
    test : the test set that the scores are of.

    Returns
    -------
    DataFrame system, segment, metric, score, unit. `attrs["notes"]`: sentences that the user should see.

    Raises
    ------
    DataError, with the line : no such column; a system that the test set lacks; a segment out of range, or twice; a
        value that is no number; a unit without a direction, or a metric with two; another document.
    """
    import pandas as pd

    lines = table_lines(path)
    (_, header), *rows = [*csv_cells(lines, path)] or [(1, [])]
    header = [cell.strip() for cell in header]
    check_columns(header, (*WANTED, "doc"), path)
    if missing := [name for name in WANTED if name not in header]:
        raise DataError(
            f"its header has no column {', '.join(missing)}; {', '.join(WANTED)} are wanted, "
            "separated by commas, as `anhelpers score --segments` writes them.",
            path,
            1,
        )
    found: dict[tuple[str, str, int], tuple[float, str]] = {}
    units: dict[str, str] = {}
    for line, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(header):
            raise DataError(
                f"{len(cells)} cells, and the header has {len(header)}; quote a cell that holds a "
                "comma.",
                path,
                line,
            )
        row = dict(zip(header, (cell.strip() for cell in cells), strict=True))
        segment = _segment(row, test, path, line)
        unit = units.setdefault(row["metric"], row["unit"])
        if unit != row["unit"]:
            raise DataError(
                f"{row['metric']} has the unit '{row['unit']}' here, and '{unit}' above.",
                path,
                line,
            )
        key = row["metric"], row["system"], segment
        if key in found:
            raise DataError(
                f"system '{row['system']}' has a second {row['metric']} for segment {segment}.",
                path,
                line,
            )
        found[key] = _score(row, path, line), _turned(row["unit"])
    if not found:
        raise DataError("has no row of scores.", path)
    table = pd.DataFrame(
        [(system, segment, metric, *rest) for (metric, system, segment), rest in found.items()],
        columns=["system", "segment", "metric", "score", "unit"],
    )
    table.attrs["notes"] = _notes(header, table, test)
    return table


def _segment(row: dict[str, str], test: TestSet, path: str | PathLike, line: int) -> int:
    """The number of the segment, once system and document are those of the test set."""
    if row["system"] not in {**test.systems, **test.refs}:
        raise DataError(str(UnknownName("system", row["system"], test.systems)), path, line)
    if not row["metric"]:
        raise DataError("there is no metric's name; give one.", path, line)
    text = row["segment"]
    if not (text.isascii() and text.isdigit() and int(text) < len(test)):
        raise DataError(
            f"segment '{text}' is none of {test.name}, whose segments are 0 to {len(test) - 1}.",
            path,
            line,
        )
    segment = int(text)
    doc = row.get("doc", "")
    if doc and doc != test.docs[segment]:
        raise DataError(
            f"segment {segment} is of document '{doc}' here, and of '{test.docs[segment]}' in "
            f"{test.name}: are the rows shifted?",
            path,
            line,
        )
    return segment


def _score(row: dict[str, str], path: str | PathLike, line: int) -> float:
    """The value, higher is better; nan where there is none."""
    sign = [sign for told, sign in DIRECTIONS.items() if told in row["unit"]]
    if len(sign) != 1:
        raise DataError(
            f"the unit '{row['unit']}' of {row['metric']} does not say the direction; write "
            "“…, higher is better” or “…, lower is better”.",
            path,
            line,
        )
    if not row["value"]:
        return math.nan
    return sign[0] * csv_number(row["value"], "value", path, line, least=-math.inf) + 0.0


def _turned(unit: str) -> str:
    """A unit as the turned score has it: "edits, negated: higher is better"."""
    return unit.replace("lower is", "negated: higher is")


def _notes(header: Sequence[str], table: pd.DataFrame, test: TestSet) -> tuple[str, ...]:
    told = []
    if "doc" not in header:
        told.append(
            "scores are matched to segments by number alone; with a column doc shifted rows would "
            "be seen."
        )
    n = table.dropna(subset=["score"]).groupby(["metric", "system"]).size()
    if (few := n[n < len(test)]).size:
        (metric, system), least = few.idxmin(), int(few.min())
        told.append(
            f"not all segments have a stored score; fewest: {metric} of {system}, {least} of "
            f"{len(test)}."
        )
    return tuple(told)
