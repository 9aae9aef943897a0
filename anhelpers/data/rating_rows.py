r"""The rows of a file of MQM ratings, whatever its vintage, as bytes: what `ratings.read_ratings` is built on.

Two dialects. Tab-separated, where quotes are text and every ``"\n"`` ends a row: most files. And with CSV quoting: the
files whose last column is JSON in quotes (generalMT2022 en-ru, 2023 he-en, 2024 en-es), and .csv.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import os
import re
import tarfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DataError
from .lines import not_text, read_bytes

__all__ = [
    "COLUMNS", "Header", "Scan", "not_utf8", "open_ratings", "read_header", "scan_rows", "shortened", "spans_of",
    "split_rows",
]  # fmt: skip

COLUMNS = (("system",), ("doc", "segment id", "global id"), ("rater",), ("category", "severity"))
"""The columns that scores are made of, those together that belong together; a "segment id" counts within its document,
a "global id" through the file."""

_NAMES = {  # what a header may call a column; "_" and case are insignificant, the first name that is there wins
    "segment id": ("docsegid", "docid", "segid", "globalsegid"),
    "global id": ("globalsegid", "segid", "docsegid", "docid"),
}
_BUFFER = 1 << 18  # bytes; lines of 3 kB come twice as fast as through Python's 8 kB
_BROKEN = (EOFError, zlib.error, tarfile.TarError, OSError)
_TAG = re.compile("</?v>")


@dataclass(frozen=True)
class Header:
    """Where the columns of a file lie.

    Parameters
    ----------
    n : fields in a row; cells of the header that open with "#" (a link to the documentation, in 2023) are no columns.
    key : positions of COLUMNS.
    source, target : positions of the texts.
    delimiter : tab or comma.
    quoted : whether the rows have CSV quoting.
    """

    n: int
    key: tuple[tuple[int, ...], ...]
    source: int
    target: int
    delimiter: str
    quoted: bool


@contextlib.contextmanager
def open_ratings(path: str | PathLike) -> Iterator[io.BufferedReader]:
    """The bytes of a plain file, a .gz, or the one file in a tar archive; a DataError where the archive is damaged."""
    if not os.path.isfile(path):
        yield io.BufferedReader(io.BytesIO(read_bytes(path)))  # a pipe's, or says what is there instead
        return
    with contextlib.ExitStack() as stack:
        try:
            yield stack.enter_context(io.BufferedReader(_raw(path, stack), _BUFFER))
        except _BROKEN as error:
            raise DataError(f"cannot be read to its end ({error}); download it again.", path) from None


def _raw(path: str | PathLike, stack: contextlib.ExitStack) -> Any:
    """The unpacked stream."""
    file = stack.enter_context(open(path, "rb", buffering=0))  # noqa: SIM115
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    name = Path(path).name.lower()
    archived = name.endswith((".tar", ".tgz")) or Path(name).stem.endswith(".tar")
    if not (packed or name.endswith((".tar", ".tgz"))):
        return file
    if not archived:
        return stack.enter_context(gzip.GzipFile(fileobj=file))
    archive = stack.enter_context(tarfile.open(path))  # noqa: SIM115
    files = [member for member in archive.getmembers() if member.isfile()]
    if len(files) != 1:
        names = ", ".join(member.name for member in files[:5])
        raise DataError(f"one file is wanted in this archive, it holds {len(files)} ({names}); unpack it.", path)
    return archive.extractfile(files[0])


def read_header(stream: io.BufferedReader, path: str | PathLike) -> tuple[Header, Iterable[bytes]]:
    """The header, read by name, and all lines after it; a DataError where this is no file of ratings.

    Parameters
    ----------
    stream : at its start.
    """
    if told := not_text(stream.peek(1024)):
        raise DataError(f"{told}.", path)
    first, peeked = stream.readline().removeprefix(b"\xef\xbb\xbf"), stream.readline()
    if not first.strip():
        raise DataError("this file is empty, or its first line is; ratings open with a header.", path, 1)
    if first.lstrip().startswith(b"<"):
        raise DataError("this is a web page, not a table of ratings; download the raw file.", path, 1)
    if b"\0" in first:
        raise DataError("there is a NUL, so this is no text, or UTF-16; re-save it as UTF-8.", path, 1)
    delimiter = "," if b"\t" not in first and b"," in first else "\t"
    cells = [cell.strip().strip('"') for cell in first.decode("utf-8", "replace").split(delimiter)]
    cells = [cell for cell in cells if not cell.startswith("#")]
    names = [cell.lower().replace("_", "") for cell in cells]
    found = {
        role: next((names.index(name) for name in _NAMES.get(role, (role,)) if name in names), -1)
        for role in (*chain(*COLUMNS), "source", "target")
    }
    # a global id is missing where a segment id is, because they may have the same names
    missing = [role for role, at in found.items() if at < 0 and role != "global id"]
    if missing:
        seen = " ".join(first.decode("utf-8", "replace").split())[:120]
        raise DataError(f"this header has no column {', '.join(missing)}: it is '{seen}'.", path, 1)
    quoted = delimiter == "," or "misc" in names or b'\t"{""' in peeked
    key = tuple(tuple(found[role] for role in roles) for roles in COLUMNS)
    return Header(len(names), key, found["source"], found["target"], delimiter, quoted), chain((peeked,), stream)


def split_rows(lines: Iterable[bytes], header: Header, path: str | PathLike) -> Iterator[tuple[int, list[bytes]]]:
    """(line, fields) of every row; blank lines are passed over, a row of another length is a DataError.

    Parameters
    ----------
    header : of the file.
    """
    return (_quoted_rows if header.quoted else _plain_rows)(lines, header, path)


def _plain_rows(lines: Iterable[bytes], header: Header, path: str | PathLike) -> Iterator[tuple[int, list[bytes]]]:
    n, last = header.n, header.n - 1
    for number, line in enumerate(lines, 2):
        fields = line.split(b"\t", last)  # the last column, often 3 kB of JSON, is never parsed nor decoded
        if len(fields) == n:
            tail = fields[last]
            if (tail.startswith(b"{") and tail.endswith(b"}\n")) or b"\t" not in tail:  # JSON holds no bare tab
                yield number, fields
                continue
        if line.strip():
            raise _wrong_count(line.count(b"\t") + 1, header, path, number)


def _quoted_rows(lines: Iterable[bytes], header: Header, path: str | PathLike) -> Iterator[tuple[int, list[bytes]]]:
    text = (line.decode("utf-8") for line in lines)
    rows, number = csv.reader(text, delimiter=header.delimiter, strict=True), 2
    limit = csv.field_size_limit(1 << 30)  # JSON of a long document exceeds csv's 128 kB
    try:
        for row in rows:
            if len(row) != header.n and row:
                raise _wrong_count(len(row), header, path, number)
            if row:
                yield number, [field.encode() for field in row]
            number = rows.line_num + 2
    except csv.Error as error:
        raise DataError(f"the CSV quoting is broken ({error}).", path, rows.line_num + 1) from None
    except UnicodeDecodeError as error:
        raise not_utf8(error, path, rows.line_num + 2) from None
    finally:
        csv.field_size_limit(limit)


def _wrong_count(seen: int, header: Header, path: str | PathLike, line: int) -> DataError:
    hint = " Is the end of the file missing?" if seen < header.n else ""
    return DataError(f"{seen} fields, and the header has {header.n} columns.{hint}", path, line)


def not_utf8(error: UnicodeDecodeError, path: str | PathLike, line: int) -> DataError:
    """The sentence on a byte that is not UTF-8.

    Parameters
    ----------
    error : of the decoder, with the byte.
    """
    return DataError(f"byte 0x{error.object[error.start]:02x} is not UTF-8; re-save the file as UTF-8.", path, line)


def spans_of(text: str) -> tuple[str, tuple[str, ...], bool]:
    """A text without its marks ``<v>…</v>``, what they enclose, and whether all are closed.

    One that is not closed runs to the end (so in mqm_ted_ende.tsv, line 6444). Raises ValueError for a mark within a
    mark, or an end without a start.

    >>> spans_of("ein <v>kleines</v> Haus")
    ('ein kleines Haus', ('kleines',), True)
    """
    tags = _TAG.findall(text)
    for i, tag in enumerate(tags):
        if tag != ("<v>", "</v>")[i % 2]:
            raise ValueError("a <v> within another" if tag == "<v>" else "a </v> without its <v>")
    pieces = _TAG.split(text)
    return "".join(pieces), tuple(pieces[1::2]), len(tags) % 2 == 0


@dataclass(frozen=True)
class Scan:
    """The n rows of a file, coded but not interpreted.

    Parameters
    ----------
    keys : the distinct fields of each of COLUMNS.
    code : (4, n) which of them each row has.
    line : (n,) its line, from 1.
    texts : n triples (source, target, marked spans) without marks, if wanted.
    unclosed : lines with a mark that is not closed.
    """

    keys: tuple[list[tuple[bytes, ...]], ...]
    code: np.ndarray
    line: np.ndarray
    texts: list[tuple[str, str, str]]
    unclosed: list[int]

    def first(self, column: int, code: int) -> int:
        """The line where a key comes first."""
        return int(self.line[np.argmax(self.code[column] == code)])


def scan_rows(rows: Iterable[tuple[int, list[bytes]]], header: Header, path: str | PathLike, texts: bool) -> Scan:
    """Read all rows once; this loop decides the speed. Names become codes; source and target are kept if `texts`.

    Parameters
    ----------
    header : of the file. texts : whether to check and keep the texts, too, without the end of their line.
    """
    names: list[dict[Any, int]] = [defaultdict(count().__next__) for _ in COLUMNS]
    systems, segments, raters, kinds = names
    codes: list[int] = []
    lines: list[int] = []
    kept: list[tuple[str, str, str]] = []
    unclosed: list[int] = []
    (system,), (rater,), source, target = header.key[0], header.key[2], header.source, header.target
    segment, kind = itemgetter(*header.key[1]), itemgetter(*header.key[3])
    for line, fields in rows:
        codes += systems[fields[system]], segments[segment(fields)], raters[fields[rater]], kinds[kind(fields)]
        lines.append(line)
        if texts:
            pair = (_plain(fields[i].rstrip(b"\r\n"), path, line, unclosed) for i in (source, target))
            (src, in_src), (trg, in_trg) = pair
            kept.append((src, trg, " … ".join(in_trg + in_src)))
    keys = tuple([key if isinstance(key, tuple) else (key,) for key in column] for column in names)
    return Scan(keys, np.array(codes, np.int32).reshape(-1, 4).T, np.array(lines, np.int32), kept, unclosed)


def _plain(text: bytes, path: str | PathLike, line: int, unclosed: list[int]) -> tuple[str, tuple[str, ...]]:
    """A text of UTF-8 without its marks, which are not nested, and what they enclose; an unclosed one is remembered."""
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(error, path, line) from None
    if "v>" not in decoded:
        return decoded, ()
    try:
        plain, marked, closed = spans_of(decoded)
    except ValueError as error:
        raise DataError(f"{error} in '{shortened(decoded)}'; marks are <v>…</v>, side by side.", path, line) from None
    if not closed:
        unclosed.append(line)
    return plain, marked


def shortened(text: str) -> str:
    """The first 40 characters of a text, for an error."""
    return text if len(text) <= 40 else text[:39] + "…"
