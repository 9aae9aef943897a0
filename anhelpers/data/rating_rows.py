r"""The rows of a file of MQM ratings, whatever its vintage, as bytes: what `ratings.read_ratings` is built on.

Two dialects. Tab-separated, where quotes are text and every ``"\n"`` ends a row: most files. And with CSV quoting: the
files whose last column is JSON in quotes (generalMT2022 en-ru, 2023 he-en, 2024 en-es), and .csv.

The header says where the columns lie, whatever they are called, and whether this is such a file at all.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import lzma
import os
import re
import tarfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DataError
from .lines import check_columns, not_text, read_bytes
from .packed import packed_by, unpacked
from .rating_names import category_key, column_key, visible, whole_numbers

__all__ = [
    "COLUMNS",
    "EMPTY",
    "Header",
    "Scan",
    "not_utf8",
    "open_ratings",
    "read_header",
    "scan_rows",
    "shortened",
    "spans_of",
    "split_rows",
]

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
    ): "these are the ratings of a class, which anhelpers.classroom.read_class_ratings reads",
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


_BUFFER = 1 << 18  # bytes; lines of 3 kB come twice as fast as through Python's 8 kB
_BROKEN = (EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, OSError)
_TAG = re.compile("</?v>")
EMPTY = {"na", "n/a", "nan", "none", "null", "-"}
"""What programs write into an empty cell, in lower case."""


@contextlib.contextmanager
def open_ratings(path: str | PathLike) -> Iterator[io.BufferedReader]:
    """The unpacked bytes of a file, or of the one file in a tar archive; a DataError where it is damaged."""
    if not os.path.isfile(path):
        # a pipe's, or says what is there instead
        yield io.BufferedReader(io.BytesIO(unpacked(read_bytes(path), path)))
        return
    with contextlib.ExitStack() as stack:
        try:
            yield stack.enter_context(io.BufferedReader(_raw(path, stack), _BUFFER))
        except _BROKEN as error:
            raise DataError(
                f"cannot be read to its end ({error}); download it again.", path
            ) from None


def _raw(path: str | PathLike, stack: contextlib.ExitStack) -> Any:
    """The unpacked stream."""
    file: Any = stack.enter_context(open(path, "rb", buffering=0))  # noqa: SIM115
    packed = packed_by(file.read(6))
    file.seek(0)
    if packed == "zstd":  # in memory: its stream does not tell where a file is cut off
        file = io.BytesIO(unpacked(file.read(), path))
    inside = Path(str(path).lower())
    if not (packed or inside.suffix in (".tar", ".tgz")):
        return file
    if not (inside.suffix in (".tar", ".tgz", ".txz", ".tzst") or inside.stem.endswith(".tar")):
        unpack = lzma.open if packed == "xz" else gzip.open
        return file if packed == "zstd" else stack.enter_context(unpack(file))
    archive = stack.enter_context(tarfile.open(fileobj=file))  # noqa: SIM115
    files = [member for member in archive.getmembers() if member.isfile()]
    if len(files) != 1:
        names = ", ".join(member.name for member in files[:5])
        raise DataError(
            f"one file is wanted in this archive, it holds {len(files)} ({names}); unpack it.", path
        )
    return archive.extractfile(files[0])


def split_rows(
    lines: Iterable[bytes], header: Header, path: str | PathLike
) -> Iterator[tuple[int, list[bytes]]]:
    """(line, fields) of every row; blank lines are passed over, a row of another length is a DataError.

    Parameters
    ----------
    header : of the file.
    """
    return (_quoted_rows if header.quoted else _plain_rows)(lines, header, path)


def _plain_rows(
    lines: Iterable[bytes], header: Header, path: str | PathLike
) -> Iterator[tuple[int, list[bytes]]]:
    n, last, severity = header.n, header.n - 1, header.key[3][1]
    for number, line in enumerate(lines, 2):
        # the last column, often 3 kB of JSON, is never parsed nor decoded
        fields = line.split(b"\t", last)
        if len(fields) == n:
            tail = fields[last]
            # JSON holds no bare tab
            if (tail.startswith(b"{") and tail.endswith(b"}\n")) or b"\t" not in tail:
                yield number, fields
                continue
        gap = n - len(fields)
        if (
            0 < gap <= header.spare
            and fields[-1].strip()
            and fields[severity].strip()
            and line.endswith(b"\n")
        ):
            # an editor cut off empty cells
            yield number, [*fields[:-1], fields[-1].rstrip(b"\r\n"), *[b""] * gap]
        elif line.strip():
            raise _wrong_count(line.count(b"\t") + 1, header, path, number)


def _quoted_rows(
    lines: Iterable[bytes], header: Header, path: str | PathLike
) -> Iterator[tuple[int, list[bytes]]]:
    text = (line.decode("utf-8") for line in lines)
    rows, number = csv.reader(text, delimiter=header.delimiter, strict=True), 2
    limit = csv.field_size_limit(1 << 30)  # JSON of a long document exceeds csv's 128 kB
    try:
        for row in rows:
            if len(row) != header.n and any(row):
                raise _wrong_count(len(row), header, path, number)
            if len(row) == header.n:
                yield number, [field.encode() for field in row]
            number = rows.line_num + 2
    except csv.Error as error:
        what = f'the CSV quoting is broken ({error}); a quote within quotes is doubled (R: qmethod = "double").'
        raise DataError(what, path, rows.line_num + 1) from None
    except UnicodeDecodeError as error:
        raise not_utf8(error, path, rows.line_num + 2) from None
    finally:
        csv.field_size_limit(limit)


def _wrong_count(seen: int, header: Header, path: str | PathLike, line: int) -> DataError:
    hint = " Is the end of the file missing?" if seen < header.n else ""
    if seen == header.n + 1 and line == 2:
        hint = (
            " Are there row names without a header (R's write.table leaves them out by row.names = "
            "FALSE)?"
        )
    return DataError(f"{seen} fields, and the header has {header.n} columns.{hint}", path, line)


def not_utf8(error: UnicodeDecodeError, path: str | PathLike, line: int) -> DataError:
    """The sentence on a byte that is not UTF-8.

    Parameters
    ----------
    error : of the decoder, with the byte.
    """
    return DataError(
        f"byte 0x{error.object[error.start]:02x} is not UTF-8; re-save the file as UTF-8.",
        path,
        line,
    )


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
    mark : (n,) int64, the same for rows that say the same, however it is spelled: `_marks`.
    pairs : n pairs (source, target) as bytes, marks included.
    texts : n triples (source, target, marked spans) without marks, if wanted.
    unclosed : lines with a mark that is not closed.
    notes : sentences on what was read otherwise than it is written.
    """

    keys: tuple[list[tuple[bytes, ...]], ...]
    code: np.ndarray
    line: np.ndarray
    mark: np.ndarray
    pairs: list[tuple[bytes, bytes]]
    texts: list[tuple[str, str, str]]
    unclosed: list[int]
    notes: tuple[str, ...] = ()

    def first(self, column: int, code: int) -> int:
        """The line where a key comes first."""
        return int(self.line[np.argmax(self.code[column] == code)])


def scan_rows(
    rows: Iterable[tuple[int, list[bytes]]], header: Header, path: str | PathLike, texts: bool
) -> Scan:
    """Read all rows once; this loop decides the speed. Names become codes; source and target are kept if `texts`.

    Parameters
    ----------
    header : of the file. texts : whether to check and keep the texts, too, without the end of their line.
    """
    names: list[dict[Any, int]] = [defaultdict(count().__next__) for _ in COLUMNS]
    systems, segments, raters, kinds = names
    codes: list[int] = []
    lines: list[int] = []
    elsewhere: list[int] = []
    pairs: list[tuple[bytes, bytes]] = []
    known: dict[bytes, bytes] = {}  # sources come again and again, and are kept once
    kept: list[tuple[str, str, str]] = []
    unclosed: list[int] = []
    (system,), (rater,), source, target = header.key[0], header.key[2], header.source, header.target
    segment, kind = itemgetter(*header.key[1]), itemgetter(*header.key[3])
    category = header.key[3][0]
    blank: list[int] = []
    for line, fields in rows:
        fields[-1] = fields[-1].rstrip(b"\r\n")
        if not (fields[system].strip() or any(map(bytes.strip, fields))):
            blank.append(line)
            continue
        codes += (
            systems[fields[system]],
            segments[segment(fields)],
            raters[fields[rater]],
            kinds[kind(fields)],
        )
        lines.append(line)
        src, trg = fields[source], fields[target]
        pairs.append((known.setdefault(src, src), trg))
        told_there = b"<v>" in trg or b"<v>" in src or not _is_error(fields[category])
        elsewhere.append(0 if told_there else _elsewhere([fields[i] for i in header.others]))
        if texts:
            pair = (_plain(fields[i], path, line, unclosed) for i in (source, target))
            (plain_src, in_src), (plain_trg, in_trg) = pair
            kept.append((plain_src, plain_trg, " … ".join(in_trg + in_src)))
    written = tuple(
        [key if isinstance(key, tuple) else (key,) for key in column] for column in names
    )
    line_of = np.array(lines, np.int32)
    keys, code, notes = whole_numbers(written, np.array(codes, np.int32).reshape(-1, 4).T, line_of)
    if n := len(blank):
        notes += (
            f"{n} row{'s' * (n != 1)} left out: all cells are empty (first: line {blank[0]}).",
        )
    return Scan(
        keys, code, line_of, _marks(keys, code, pairs, elsewhere), pairs, kept, unclosed, notes
    )


def _marks(
    keys: tuple[list, ...], code: np.ndarray, pairs: list, elsewhere: list[int]
) -> np.ndarray:
    """(n,) int64, the same for rows that say the same: names, texts with their marks, and what is said elsewhere.

    Texts are looked at where another row has the same names, category and severity: they take most of the time.
    """
    mark = np.zeros(code.shape[1], np.int64)
    for column, (known, codes) in enumerate(zip(keys, code, strict=True)):
        forms: dict[Any, int] = {}
        seen = (tuple(map(_seen, key)) for key in known)
        if column == 3:
            seen = (tuple(map(category_key, key)) for key in seen)
        ids = np.array([forms.setdefault(form, len(forms)) for form in seen], np.int64)
        mark = np.unique(mark * max(1, len(forms)) + ids[codes], return_inverse=True)[1]
    several = np.flatnonzero(np.bincount(mark, minlength=1)[mark] > 1)
    texts_of = lru_cache(None)(_seen)
    first: dict[Any, int] = {}
    for i in several.tolist():
        said = int(mark[i]), *map(texts_of, pairs[i]), elsewhere[i]
        mark[i] = first.setdefault(said, len(mark) + len(first))
    return mark


@lru_cache(4096)
def _is_error(category: bytes) -> bool:
    return category_key(_seen(category)) not in ("", "noerror")


def _elsewhere(cells: Sequence[bytes]) -> int:
    """A hash of what the other columns say of an error that no mark places, and that they may tell from another one.

    Of all other rows it is 0: a copy may have lost their comments, or put "NA" where there was none.
    """
    said = map(_seen, cells)
    return hash(tuple("" if cell.lower() in EMPTY else cell for cell in said))


def _seen(cell: bytes) -> str:
    """A cell as an eye sees it, whatever its bytes."""
    return visible(cell.decode("utf-8", "surrogateescape"))


def _plain(
    text: bytes, path: str | PathLike, line: int, unclosed: list[int]
) -> tuple[str, tuple[str, ...]]:
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
        raise DataError(
            f"{error} in '{shortened(decoded)}'; marks are <v>…</v>, side by side.", path, line
        ) from None
    if not closed:
        unclosed.append(line)
    return plain, marked


def shortened(text: str) -> str:
    """The first 40 characters of a text, for an error."""
    return text if len(text) <= 40 else text[:39] + "…"
