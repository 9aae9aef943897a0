"""The header of a file of MQM ratings: where its columns lie, whatever they are called; and what is no such file."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from os import PathLike

from ..errors import DataError
from .lines import check_columns, not_text
from .rating_names import column_key

__all__ = ["COLUMNS", "Header", "read_header"]

COLUMNS = (("system",), ("doc", "segment id", "global id"), ("rater",), ("category", "severity"))
"""The columns that scores are made of, those together that belong together; a "segment id" counts within its document,
a "global id" through the file."""

# what a header may call a column; "_" and case are insignificant, the first name that is there wins
_NAMES = {
    "segment id": ("docsegid", "docid", "segid", "globalsegid"),
    "global id": ("globalsegid", "segid", "docsegid", "docid"),
}
_OTHERS = {  # columns of other tables -> what these are, and what to do
    (
        "mqm_avg_score",
    ): "these are averages of MQM ratings; take the ratings that they were made from",
    (
        "criterion",
        "candidate",
    ): "these are the ratings of a class, which anhelpers.raters.read_ratings reads",
    ("lp", "metricx"): "these are scores of systems by metrics, and no ratings of errors",
}


@dataclass(frozen=True)
class Header:
    """Where the columns of a file lie.

    Parameters
    ----------
    n : fields in a row; cells of the header that open with "#" (a link to the documentation, in 2023) are no columns.
    key : positions of COLUMNS.
    source, target : positions of the texts.
    delimiter : tab, comma or semicolon (as Excel writes a CSV where the comma is in numbers).
    quoted : whether the rows have CSV quoting.
    others : positions of all other columns with a name; those without one number the rows, where a data frame was
        written with its index.
    cells : the names as they stand there.
    """

    n: int
    key: tuple[tuple[int, ...], ...]
    source: int
    target: int
    delimiter: str
    quoted: bool
    others: tuple[int, ...] = ()
    cells: tuple[str, ...] = ()

    @property
    def spare(self) -> int:
        """How many columns at the end are not needed."""
        return self.n - 1 - max(self.source, self.target, *chain(*self.key))


def read_header(
    stream: io.BufferedReader, path: str | PathLike, columns: Mapping[str, str] | None = None
) -> tuple[Header, Iterable[bytes]]:
    """The header, read by name, and all lines after it; a DataError where this is no file of ratings.

    Parameters
    ----------
    stream : at its start. columns : other names of columns -> the names that are known here, both as `column_key`.
    """
    if told := not_text(stream.peek(1024)):
        raise DataError(f"{told}.", path)
    first, peeked = stream.readline().removeprefix(b"\xef\xbb\xbf"), stream.readline()
    if not first.strip():
        raise DataError(
            "this file is empty, or its first line is; ratings open with a header.", path, 1
        )
    if first.lstrip().startswith(b"<"):
        raise DataError(
            "this is a web page, not a table of ratings; download the raw file.", path, 1
        )
    if b"\0" in first:
        raise DataError(
            "there is a NUL, so this is no text, or UTF-16; re-save it as UTF-8.", path, 1
        )
    delimiter = (
        "\t"
        if b"\t" in first
        else max(("\t", ",", ";"), key=lambda mark: first.count(mark.encode()))
    )
    written = [cell.strip() for cell in first.decode("utf-8", "replace").split(delimiter)]
    cells = [cell.strip('"') for cell in written]
    cells = [cell for cell in cells if not cell.startswith("#")]
    names = _names(cells, columns or {}, path)
    found = {
        role: next((names.index(name) for name in _NAMES.get(role, (role,)) if name in names), -1)
        for role in (*chain(*COLUMNS), "source", "target")
    }
    # a global id is missing where a segment id is, because they may have the same names
    missing = [role for role, at in found.items() if at < 0 and role != "global id"]
    if missing:
        raise _no_ratings(first.decode("utf-8", "replace"), names, missing, path)
    check_columns(names, [names[at] for at in found.values() if at >= 0], path)
    in_quotes = len(written) > 1 and all(
        len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in written if cell
    )
    quoted = delimiter != "\t" or in_quotes or "misc" in names or b'\t"{""' in peeked
    key = tuple(tuple(found[role] for role in roles) for roles in COLUMNS)
    read = {found["source"], found["target"], *chain(*key)}
    others = tuple(
        i
        for i, name in enumerate(names)
        if name and not name.startswith("unnamed:") and i not in read
    )
    header = Header(
        len(names), key, found["source"], found["target"], delimiter, quoted, others, tuple(cells)
    )
    return header, chain((peeked,), stream)


def _names(cells: list[str], columns: Mapping[str, str], path: str | PathLike) -> list[str]:
    """The names of the columns, with those of a mapping in the place of the file's own."""
    own = [column_key(cell) for cell in cells]
    given = [columns.get(name, "") for name in own]
    for name in filter(None, given):
        if given.count(name) > 1:
            both = " and ".join(cell for cell, to in zip(cells, given, strict=True) if to == name)
            raise DataError(
                f"the mapping makes {both} one column, '{name}'; keep one of them.", path, 1
            )
    return [
        to or ("replaced" if name and name in given else name)
        for name, to in zip(own, given, strict=True)
    ]


def _no_ratings(
    first: str, names: list[str], missing: list[str], path: str | PathLike
) -> DataError:
    """The sentence on a file whose header is none of ratings: what it is instead, where that can be seen."""
    cells = first.rstrip("\r\n").split(",")
    if len(cells) > 6 and cells[3] in ("TGT", "BAD"):
        told = (
            "these are scores from 0 to 100 of WMT's error span annotation (ESA), without a "
            "header, and no MQM ratings; MQM penalties cannot be made of them."
        )
        return DataError(told, path, 1)
    spaced = [*names, *map(column_key, first.split())]
    for columns, told in _OTHERS.items():
        if all(column_key(column) in spaced for column in columns):
            return DataError(f"{told}.", path, 1)
    if first.lstrip()[:1] in ("{", "["):
        return DataError(
            "this is JSON, and ratings are a table: .tsv or .csv, with a header.", path, 1
        )
    seen = " ".join(first.split())[:120]
    return DataError(
        f"this header has no column {', '.join(missing)}: it is '{seen}'; other names are told by "
        "a mapping (--map).",
        path,
        1,
    )
