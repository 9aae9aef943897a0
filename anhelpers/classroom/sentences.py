"""Sentences of a class as files: what everybody wrote on a page of `widgets.own_translation`, put into one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ..data.lines import plain_number, unguarded
from ..errors import DataError
from ..widgets.handed_in import SENTENCE_COLUMNS
from .reading import class_files, class_rows

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_sentences"]

NEEDED = SENTENCE_COLUMNS[:4]


def read_sentences(paths: str | PathLike | Iterable[str | PathLike]) -> pd.DataFrame:
    """Put the sentences of several people together: one file, several, or all *.csv of a folder.

    A sentence that one person kept twice, or that stands in two files, counts once. Separators may be commas,
    semicolons or tabs, as spreadsheets write them.

    Returns
    -------
    who, task, segment, text, chrf, critic, version: a row per sentence, for `widgets.own_translation(…, also=…)`, which
    scores them anew; a missing score is nan.

    Raises
    ------
    DataError, with file and line: a missing column, a blank cell where none may be, another task than that of the first
    sentence, an empty file, HTML instead of CSV.
    """
    import pandas as pd

    found: dict[tuple, tuple] = {}
    first: tuple[str, Path] | None = None
    for path in class_files(paths):
        for line, cells in class_rows(path, SENTENCE_COLUMNS, NEEDED, "sentences"):
            row = _row(cells, path, line)
            first = first or (row[1], path)
            if row[1] != first[0]:
                raise DataError(
                    f"this sentence is of task '{row[1]}', and in {first[1]} it is '{first[0]}'; only sentences of one "
                    "task can be put together.",
                    path,
                    line,
                )
            found.setdefault((row[0], *row[2:4]), row)
    return pd.DataFrame(list(found.values()), columns=list(SENTENCE_COLUMNS))


def _row(cells: Mapping[str, str], path: Path, line: int) -> tuple:
    """One sentence, each of its cells checked."""
    for name in ("who", "task", "text"):
        if not cells[name]:
            raise DataError(f"{name} is blank; every sentence needs one.", path, line)
    segment = cells["segment"]
    if not (segment.isascii() and segment.isdigit() and len(segment) < 19):
        raise DataError(f"segment '{segment}' is no whole number from 0 on.", path, line)
    scores = [_score(name, cells.get(name, ""), path, line) for name in ("chrf", "critic")]
    text = " ".join(unguarded(cells["text"]).split())
    return cells["who"], cells["task"], int(segment), text, *scores, cells.get("version", "")


def _score(name: str, cell: str, path: Path, line: int) -> float:
    """A number, with a decimal point or comma; nan where the cell is blank."""
    if not cell:
        return float("nan")
    try:
        return plain_number(cell.replace(",", "."))
    except ValueError:
        raise DataError(
            f"{name} '{cell}' is no number; leave it blank where there is none.", path, line
        ) from None
