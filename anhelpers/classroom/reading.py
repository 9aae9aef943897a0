"""Files that a class hands in: which they are, and their rows, whatever spreadsheet wrote them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path

from ..data.lines import check_columns, csv_cells, lines_of, read_bytes
from ..errors import DataError

__all__ = ["class_files", "class_rows"]


def class_files(
    paths: str | PathLike | Iterable[str | PathLike], whose: str = "everybody's"
) -> list[Path]:
    """The files that are meant: one, several, or all *.csv of a folder; a DataError where there is none.

    Parameters
    ----------
    paths : of a file, of a folder, or of several files. whose : they are, for the error.
    """
    if not isinstance(paths, (str, PathLike)):
        files = [Path(path) for path in paths]
        if not files:
            raise DataError(
                f"there is no file to read: give the paths of {whose} CSV files, or their folder."
            )
        return files
    if not os.path.isdir(paths):
        return [Path(paths)]
    files = sorted(
        p
        for p in Path(paths).iterdir()
        if p.suffix.lower() == ".csv" and not p.name.startswith(".")
    )
    if not files:
        raise DataError(f"this folder holds no .csv file; put {whose} files into it.", paths)
    return files


def class_rows(
    path: Path, columns: Sequence[str], needed: Sequence[str], of: str
) -> Iterator[tuple[int, dict[str, str]]]:
    """(1-based line, column -> cell) of every row of a CSV file with a header; blank rows are left out.

    Parameters
    ----------
    columns : that are known. needed : those that must be there. of : what the rows are, for the errors, in the plural.
    """
    data = read_bytes(path)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        raise DataError(
            "this is a web page and no CSV: press Save on it, and take the file that it writes.",
            path,
            1,
        )
    lines = lines_of(data, path)
    skip = next(
        (i for i, line in enumerate(lines) if line.strip() and not line.lower().startswith("sep=")),
        len(lines),
    )
    if skip == len(lines):
        raise DataError(
            f"this file is empty; a file of {of} begins with {','.join(columns)}.", path
        )
    reader = csv_cells(lines[skip:], path, delimiter=max(",;\t", key=lines[skip].count), skip=skip)
    header = [name.strip().lower() for name in next(reader)[1]]
    if missing := [name for name in needed if name not in header]:
        raise DataError(
            f"there is no column {', '.join(missing)}; it has {', '.join(filter(None, header))}.",
            path,
            skip + 1,
        )
    check_columns(header, columns, path, skip + 1)
    rows = 0
    for line, cells in reader:
        if any(cell.strip() for cell in cells):
            if len(cells) != len(header):
                raise DataError(
                    f"{len(cells)} cells, and the header has {len(header)}.", path, line
                )
            yield line, dict(zip(header, map(str.strip, cells), strict=True))
            rows += 1
    if not rows:
        raise DataError(f"there is a header and no {of[:-1]} below it.", path, skip + 1)
