r"""The one way to read a text file into lines.

A line ends at ``"\n"`` and nowhere else: U+2028, U+0085, vertical tabs and carriage returns within a line are text.
Carriage returns before that end belong to it, so that none reaches a score. A file may be packed (`packed.py`).
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import DataError, nearest
from ..progress import note_once, progress
from .packed import unpacked

__all__ = [
    "check_columns",
    "csv_cells",
    "csv_number",
    "csv_rows",
    "guarded",
    "json_value",
    "lines_of",
    "not_text",
    "numbered",
    "plain_number",
    "read_bytes",
    "read_lines",
    "table_lines",
    "text_lines",
    "text_of",
    "too_long",
    "unguarded",
]

WEB_PAGE = (
    "this is a web page, perhaps one that says why a download failed; download the file itself"
)
MAGIC = {  # how a file begins that is something else -> what it is, and what to do
    b"<!doctype html": WEB_PAGE,
    b"<html": WEB_PAGE,
    b"version https://git-lfs": "this is a pointer of git-lfs, not the file; get the file by git "
    "lfs pull",
    b"\x1f\x8b": "this is packed by gzip; unpack it first (gunzip)",
    **dict.fromkeys(
        (b"bzh%d1ay&sy" % n for n in range(1, 10)),
        "this is packed by bzip2; unpack it first (bunzip2)",
    ),
    b"pk\x03\x04": "this is a zip archive; unpack it first",
    b"\xff\xfe": "this is UTF-16 or UTF-32; re-save the file as UTF-8",
    b"\xfe\xff": "this is UTF-16; re-save the file as UTF-8",
}
MARK = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8."""

MOST_CHARS = 1_000_000
"""Of one text: a novel has fewer, and the time of some measures grows with the square."""

PART = 2**12
"""Lines between two signs of progress."""

PIPE_SECONDS = 5.0
"""How long a pipe may wait for somebody to write into it."""


def read_lines(path: str | PathLike) -> tuple[str, ...]:
    r"""The lines of a UTF-8 text, in order, without their ends; what a user should know of them is printed as a note.

    A last ``"\n"`` ends the last line, ``"\r"`` before a line's end belongs to it, and a byte order mark is dropped.
    Everything else is text. A file packed by gzip, xz or zstd is unpacked.

    Raises
    ------
    DataError : no such file; something else than text, such as a web page or markup; a NUL or a byte that is not UTF-8
        (its line, and its column in characters, from 1).
    """
    lines, notes = text_lines(read_bytes(path), path)
    for sentence in notes:
        note_once(sentence)
    return lines


def table_lines(path: str | PathLike) -> tuple[str, ...]:
    """The lines of a file that is no text to be scored, such as a table or JSON: as `read_lines`, without notes."""
    # in one expression: of a large file, bytes, text and lines are never all in memory
    return _split(text_of(read_bytes(path), path), path)


def numbered(lines: Sequence[str], path: str | PathLike) -> Iterator[tuple[int, str]]:
    """(1, the first line) and so on, with progress where a file is long.

    Parameters
    ----------
    lines : of the file at `path`, which is named.
    """
    with progress(len(lines), f"reading {Path(path).name}", "lines") as step:
        for number, line in enumerate(lines, 1):
            yield number, line
            if number % PART == 0:
                step(PART)


def text_lines(data: bytes, path: str | PathLike) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines of a text, and sentences that say what was taken as no part of it.

    Parameters
    ----------
    data : the whole file.
    """
    data = unpacked(data, path)
    text = _decoded(data, path)
    lines = _split(text, path)
    if (
        long := next((i for i, line in enumerate(lines) if len(line) > MOST_CHARS), None)
    ) is not None:
        raise DataError(too_long(lines[long]), path, long + 1)
    return lines, ()


def too_long(text: str) -> str:
    """What is wrong with a text of more than MOST_CHARS characters; "" for every other.

    >>> too_long("a" * 2_000_000)
    'a text of 2,000,000 characters; one has at most 1,000,000: are line ends missing?'
    """
    if len(text) <= MOST_CHARS:
        return ""
    return f"a text of {len(text):,} characters; one has at most {MOST_CHARS:,}: are line ends missing?"


FORMULA = re.compile(r"'*(?:[=@\t\r]|[+-](?![0-9.,]+\Z))")
"""How a cell begins that a spreadsheet would take for a formula, or that `guarded` has been at."""


def guarded(text: str) -> str:
    """What somebody typed as a cell of a CSV file that a spreadsheet may open: a formula gets an apostrophe before it.

    >>> guarded("=1+1"), guarded("Yes."), unguarded(guarded("- Yes."))
    ("'=1+1", 'Yes.', '- Yes.')
    """
    return f"'{text}" if FORMULA.match(text) else text


def unguarded(cell: str) -> str:
    """The text of a cell that `guarded` made."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell


def lines_of(data: bytes, path: str | PathLike) -> tuple[str, ...]:
    """The lines of a file whose bytes are at hand, as `table_lines` gives them.

    Parameters
    ----------
    data : the whole file.
    """
    return _split(text_of(data, path), path)


def text_of(data: bytes, path: str | PathLike) -> str:
    """What a file says as one text: unpacked, decoded, without a byte order mark; else a DataError.

    Parameters
    ----------
    data : the whole file.
    """
    return _decoded(unpacked(data, path), path)


def _decoded(data: bytes, path: str | PathLike) -> str:
    """What unpacked bytes say."""
    data = data.removeprefix(MARK)
    if told := not_text(data):
        raise DataError(f"{told}.", path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        start = data.rfind(b"\n", 0, error.start) + 1
        line = data.count(b"\n", 0, start) + 1
        column = len(data[start : error.start].decode("utf-8")) + 1
        seen = f"byte 0x{data[error.start]:02x} at column {column}"
        raise DataError(f"{seen} is not UTF-8; re-save the file as UTF-8.", path, line) from None
    if (at := text.find("\0")) >= 0:
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        raise DataError(
            f"there is a NUL at column {column}, so this is no text, or UTF-16; re-save it as "
            "UTF-8.",
            path,
            line,
        )
    return text


def _split(text: str, path: str | PathLike) -> tuple[str, ...]:
    """The lines of a text; a DataError where only carriage returns could part them."""
    if not text:
        return ()
    if "\n" not in text and "\r" in text.rstrip("\r"):
        raise DataError(
            "has carriage returns and no line feed, as on very old Macs; re-save it with line ends "
            "of today (LF).",
            path,
        )
    lines = text.split("\n")
    if not lines[-1]:  # behind the last line's end
        lines.pop()
    return tuple(line.rstrip("\r") for line in lines) if "\r" in text else tuple(lines)


def not_text(data: bytes) -> str:
    """What a file is instead, by its first bytes, and what to do; "" where nothing tells."""
    start = data[:1024].removeprefix(MARK).lstrip(b" \t\r\n").lower()
    return next((told for magic, told in MAGIC.items() if start.startswith(magic)), "")


def json_value(text: str, path: str | PathLike, line: int) -> Any:
    """What a line of JSON says; a DataError where it is none, is nested too deep, or names a key twice."""
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        told = f"{error.msg[0].lower()}{error.msg[1:]} at column {error.colno}"
    except RecursionError:
        told = "it is nested too deep"
    except ValueError as error:  # a number of thousands of digits, a key twice
        told = str(error).split(";")[0]
    raise DataError(f"bad JSON ({told}); one object per line is wanted.", path, line)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; ValueError for a key that is there twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(
            f'"{next(key for i, key in enumerate(keys) if key in keys[:i])}" is there twice'
        )
    return found


def check_columns(
    header: Sequence[str], wanted: Iterable[str], path: str | PathLike, line: int | None = 1
) -> None:
    """A DataError where a column that is wanted stands in a header twice: which of the two counts, nobody can tell.

    Parameters
    ----------
    header : names of all columns. wanted : those that are read. line : of the header, if it has one.
    """
    for name in wanted:
        if header.count(name) > 1:
            first = header.index(name)
            both = (
                f"columns {first + 1} and {header.index(name, first + 1) + 1} are both called "
                f"'{name}'"
            )
            raise DataError(f"{both}; delete the wrong one, or give it another name.", path, line)


def csv_rows(path: str | PathLike, header: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of each row of a CSV file that must have this header; `line` is the last line of the row.

    Blank rows are passed over, and so are spaces around a cell.
    """
    lines = table_lines(path)
    if not lines:
        raise DataError(f"this file is empty; its header must be {','.join(header)}.", path)
    for row, (line, cells) in enumerate(csv_cells(lines, path)):
        cells = [cell.strip() for cell in cells]
        if not row and tuple(cells) != header:
            raise DataError(f"the header must be {','.join(header)}; it is {lines[0]}.", path, 1)
        if cells and len(cells) != len(header):
            seen = f"{len(cells)} cells, and the header has {len(header)}"
            raise DataError(f"{seen}; quote a cell that holds a comma.", path, line)
        if cells and row:
            yield line, cells


def csv_cells(
    lines: Iterable[str], path: str | PathLike, *, delimiter: str = ",", skip: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of each row of CSV, quoted as RFC 4180 says; `line` is the last line of the row.

    Parameters
    ----------
    lines : of the file. delimiter : between two cells. skip : how many lines of the file come before these.
    """
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            yield skip + reader.line_num, cells
    except csv.Error as error:
        raise DataError(
            f"is no CSV ({error}); check the quotes.", path, skip + reader.line_num
        ) from None


def plain_number(text: str) -> float:
    """A number as files have it, or a ValueError: Python's own 1_000 and digits of other scripts are none."""
    if "_" in text or not text.isascii():
        raise ValueError(f"'{text}' is no number")
    return float(text)


def csv_number(cell: str, what: str, path: str | PathLike, line: int, *, least: float = 0) -> float:
    """A finite number of at least `least` from a cell; a DataError says what it should have been, and where."""
    try:
        value = plain_number(cell)
    except ValueError:
        value = math.nan
    if not (least <= value and math.isfinite(value)):
        bounded = f"'{cell}' is no {what}; it must be a number ≥ {least:g}."
        raise DataError(
            bounded if math.isfinite(least) else f"{what} '{cell}' is no finite number.", path, line
        )
    return value


def read_bytes(path: str | PathLike) -> bytes:
    """The bytes of a file, or a DataError that says what is there instead."""
    path = Path(path)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise DataError("this is a folder, and a file is wanted.", path)
        if stat.S_ISFIFO(mode):
            return _from_pipe(path)
        if not stat.S_ISREG(mode) and str(path) != os.devnull:
            raise DataError("this is a device and no regular file; name a file.", path)
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(_absent(path), path) from None
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror}).", path) from error


def _from_pipe(path: Path) -> bytes:
    """What is written into a pipe, such as the shell's <(zcat FILE); a DataError where nobody writes."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as pipe:
        deadline = time.monotonic() + PIPE_SECONDS
        while (start := pipe.read(1)) == b"":  # None: there is a writer, who has not written yet
            if time.monotonic() > deadline:
                raise DataError(
                    f"nobody wrote into this pipe for {PIPE_SECONDS:g} s; name a file.", path
                )
            time.sleep(0.01)
        os.set_blocking(pipe.fileno(), True)
        return (start or b"") + pipe.readall()


def _absent(path: Path) -> str:
    """What to say of a file that is not there: the nearest name in its folder, or the folder that is missing."""
    file, colon, kind = path.name.rpartition(":")
    if colon and path.with_name(file or ".").is_file():
        return f"no such file; {file} is one, but a kind (:{kind}) is known to `anhelpers plane` alone."
    if not path.parent.is_dir():
        return f"no such file, and there is no folder {path.parent} either."
    try:
        here = sorted(entry.name for entry in path.parent.iterdir() if entry.is_file())
    except OSError:  # a folder that may be entered and not listed
        return "no such file; check its name."
    listed = ", ".join(here[:5]) + (", …" if len(here) > 5 else "") if here else "no files"
    return "no such file" + (nearest(path.name, here) or f"; that folder holds {listed}.")
