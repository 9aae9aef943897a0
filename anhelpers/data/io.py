"""Read text files, tables and JSON Lines; write a file in one step."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
import os
import secrets
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .._lazy import pd
from ..errors import DataError, counted

_LARGEST = 512 * 2**20  # bytes of a file, unpacked: a small file that claims more may be an attack
_MOST_LINES = 20_000_000
_PACKINGS = (".gz", ".xz", ".zst")
_UNREAD = {b"\x1f\x8b": "twice compressed", b"BZh": "bzip2", b"PK\x03\x04": "zip or .xlsx"}
_MISSING = frozenset(["", "nan", "none"])  # cells, in lower case, that mean a missing number


def read_lines(path: str | PathLike, n: int | None = None) -> tuple[str, ...]:
    r"""Return the lines of a UTF-8 text file without their line ends.

    Only ``"\n"`` ends a line; carriage returns before it and a byte order mark are dropped. Other Unicode line
    separators are text. A file compressed by gzip, xz or zstd is unpacked.

    Parameters
    ----------
    n : int, optional
        The expected number of lines.

    Raises
    ------
    DataError : a missing or damaged file; a NUL or a byte that is not UTF-8, with its line; an unexpected number
        of lines.
    """
    lines = _split_lines(_decode(read_bytes(path), path))
    if n is not None and len(lines) != n:
        raise DataError(f"got {counted(len(lines), 'line')}, expected {n}.", path)
    return lines


def _ints(ids: Sequence[str]) -> list[int] | None:
    """Return ids as numbers; None if one is a text or has more than 18 digits."""
    fit = all(one.isdecimal() and len(one) <= 18 for one in ids)
    return [int(one) for one in ids] if fit else None


def _split_lines(text: str) -> tuple[str, ...]:
    """Return the lines of a text as `read_lines` does."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return tuple(line.rstrip("\r") for line in lines) if "\r" in text else tuple(lines)


def read_bytes(path: str | PathLike) -> bytes:
    """Return the bytes of a file; those compressed by gzip, xz or zstd are unpacked.

    Raises
    ------
    DataError : a missing, damaged or truncated file, or one of more than 512 MiB or 20 million lines.
    """
    try:
        with open(path, "rb") as file:
            data = _unpacked(file.read(_LARGEST + 1))
    except (OSError, EOFError, zlib.error, lzma.LZMAError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or str(error) or "too little memory to unpack it"
        raise DataError(f"cannot be read: {reason.lower()}.", path) from error
    if len(data) > _LARGEST or data.count(b"\n") > _MOST_LINES:
        raise DataError(f"got over {_LARGEST:,} bytes or {_MOST_LINES:,} lines. Split it.", path)
    return data


def _unpacked(data: bytes) -> bytes:
    """Unpack at most one byte more than the limit, whatever the file claims."""
    stream: Any = io.BytesIO(data)
    if data.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=stream).read(_LARGEST + 1)
    if data.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMAFile(stream).read(_LARGEST + 1)
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        return _unpacked_zstd(data)
    return data


def _unpacked_zstd(data: bytes) -> bytes:
    """Unpack zstd in small steps, as its stream reader does not report truncation."""
    import zstandard

    found, at, reason = bytearray(), 0, "truncated zstd"
    unpacker = zstandard.ZstdDecompressor(max_window_size=2**31)  # as zstd --long=31 needs
    decoder = unpacker.decompressobj()
    try:
        while at < len(data) and len(found) <= _LARGEST:
            if decoder.eof:
                decoder = unpacker.decompressobj()
            piece = data[at : at + 256]  # unpacks to 8 MB at most
            found += decoder.decompress(piece)
            at += len(piece) - len(decoder.unused_data)
        if decoder.eof or len(found) > _LARGEST:
            return bytes(found)
    except zstandard.ZstdError as error:
        reason = str(error)
    raise EOFError(reason)


def _decode(data: bytes, path: str | PathLike) -> str:
    """Return UTF-8 bytes as text without a byte order mark; a DataError names the line of any other byte.

    Parameters
    ----------
    path : path
        The file, for the error.
    """
    try:
        text, at = data.decode("utf-8-sig"), data.find(b"\0")
    except UnicodeDecodeError as error:
        data, at = error.object, error.start
    if at >= 0:
        line = data.count(b"\n", 0, at) + 1
        told = f"got byte {data[at]:#04x}, expected UTF-8 text. Save the file as UTF-8."
        for kind in (kind for mark, kind in _UNREAD.items() if data.startswith(mark)):
            told, line = f"got a {kind} file, expected text, or gzip, xz or zstd of it.", 1
        raise DataError(told, path, line)
    return text


def read_table(
    path: str | PathLike,
    columns: Mapping[str, type],
    *,
    optional: Sequence[str] = (),
    quoted: bool = True,
    names: Sequence[str] | None = None,
    keys: Sequence[str] = (),
) -> pd.DataFrame:
    """Read a CSV file, or TSV by its ending ``.tsv`` or a tab in the first line, with the given columns.

    A first line with ";" and without "," means cells between ";", whose numbers may have decimal commas.

    Parameters
    ----------
    columns : mapping
        Name to `str`, `int` or `float`. A missing float is nan: a blank cell, "nan" or "None".
        Other columns of the file are kept as text.
    optional : sequence of str
        Columns that the file may lack.
    quoted : bool
        Cells may be quoted as in RFC 4180; False: quotation marks are text.
    names : sequence of str, optional
        The names of the columns of a file without a header.
    keys : sequence of str
        Columns whose combination of values must be unique in each row.

    Returns
    -------
    DataFrame whose index is the line in the file, see `_refuse`.

    Raises
    ------
    DataError : with file and line, for a missing or repeated column, a row with too few or too many cells, a number
        that is malformed or infinite, and repeated keys.
    """
    text = _decode(read_bytes(path), path).replace("\r\n", "\n").replace("\r", " ")
    first = text.partition("\n")[0]
    tabs = _suffix_of(path) == ".tsv" or "\t" in first
    delimiter = "\t" if tabs else ";" if ";" in first and "," not in first else ","
    rows = [*_split_rows(io.StringIO(text), delimiter, path, quoted=quoted)]
    header = list(names or (rows.pop(0)[1] if rows else ()))
    if wrong := [n for n in columns if header.count(n) != 1 and (n in header or n not in optional)]:
        raise DataError(f"expected each column once: {wrong!s:.60}; got {header!s:.60}.", path, 1)
    for line, cells in rows:
        if len(cells) != len(header):
            raise DataError(f"cells: got {len(cells)}, expected {len(header)}.", path, line)
    header = [n if header.index(n) == i else f"{n}.{i}" for i, n in enumerate(header)]
    lines, values = zip(*rows, strict=True) if rows else ((), None)
    table = pd.DataFrame(values, [*lines], header, dtype=object)
    for name, kind in columns.items():
        if kind is str or name not in table:
            continue
        if delimiter == ";" and not table[name].str.contains(".", regex=False).any():
            table[name] = table[name].str.replace(",", ".")  # decimal commas
        blank = table[name].str.strip().str.lower().isin(_MISSING)
        numbers = pd.to_numeric(table[name].where(~blank, "nan"), errors="coerce")
        bad = blank | (numbers % 1 != 0) if kind is int else numbers.isna() & ~blank
        bad |= numbers.abs() >= (2**53 if kind is int else float("inf"))
        said = "a whole number" if kind is int else "a finite number"
        _refuse(bad, f"{name}: expected {said}", path, table[name])
        table[name] = table[name].where(~blank, "nan").astype(float).astype(kind)  # to the last bit
    if keys:
        _refuse(table.duplicated([*keys]), f"a second {', '.join(keys)}", path, table[[*keys]])
    return table


def _split_rows(
    lines: Iterable[str], delimiter: str, path: str | PathLike, *, quoted: bool, first: int = 1
) -> Iterator[tuple[int, list[str]]]:
    """Iterate over (line, cells) of each row that is not blank; `first` is the first line."""
    if not quoted:
        for line, row in enumerate(lines, first):
            if row and not row.isspace():
                yield line, row.rstrip("\r\n").split(delimiter)
        return
    csv.field_size_limit(1 << 30)  # the JSON of a long document exceeds 128 kB
    reader, line = csv.reader(lines, delimiter=delimiter, strict=True), first
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield line, cells
            line = reader.line_num + first
    except csv.Error as error:
        raise DataError(f"malformed CSV ({error}). Double inner quotes.", path, line) from None


def _refuse(
    bad: pd.Series, message: str, path: str | PathLike, seen: pd.Series | pd.DataFrame
) -> None:
    """Raise a DataError with the line, and the cells `seen`, of the first row of a table that is bad."""
    if bad.any():
        at = int(bad.to_numpy().argmax())
        row = seen.iloc[at]
        got = row if seen.ndim == 1 else ", ".join(map(str, row))
        raise DataError(f"{message}, got {got!s:.60}.", path, int(bad.index[at]))


def _read_jsonl(path: str | PathLike) -> list[dict[str, Any]]:
    """Return the objects of a file with one JSON object per line.

    Raises
    ------
    DataError : with file and line, for a line that is no JSON object, or names a key twice.
    """
    return [parse_json(line, path, i) for i, line in enumerate(read_lines(path), 1)]


def parse_json(text: str | bytes, path: str | PathLike, line: int | None = None) -> dict[str, Any]:
    """Return a JSON object; a DataError for anything else, a key that is repeated, or half a surrogate pair.

    Parameters
    ----------
    path, line : path, int
        Where the text is from, for the error.
    """
    text = _decode(text, path) if isinstance(text, bytes) else text
    try:
        value = json.loads(text, object_pairs_hook=_distinct)
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode()
        reason = "" if isinstance(value, dict) else "no object"
    except (ValueError, RecursionError) as error:
        reason = str(error)
    if reason:
        each = ", expected one per line (JSON Lines)" * (line is not None)
        raise DataError(f"malformed JSON object ({reason:.60}){each}.", path, line)
    return value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; a ValueError for a repeated key."""
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a key is repeated")
    return found


def _value_of(
    record: Mapping[str, Any], key: str, kind: type, path: str | PathLike, line: int | None = None
) -> Any:
    """Return a value of a JSON object, which must have this type."""
    value = record.get(key)
    nul = isinstance(value, str) and "\0" in value  # at which pandas ends a text
    if not isinstance(value, kind) or isinstance(value, bool) or nul:
        raise DataError(f"{key}: got {value!r:.40}, expected {kind.__name__}.", path, line)
    return value


def write_atomic(path: str | PathLike, data: str | bytes) -> Path:
    """Write a file in one step: a temporary file beside it, then an atomic rename. Return its path.

    Parameters
    ----------
    data : str or bytes
        The content; text is written as UTF-8.

    Raises
    ------
    DataError : the file cannot be written, or the text has half a surrogate pair.
    """
    path = Path(path)
    direct = path.exists() and not path.is_file() and not path.is_dir()  # such as /dev/stdout
    name = f".{path.name[:40]}.{secrets.token_hex(4)}.tmp"
    part = path if direct else path.with_name(name)
    with _writing(path):
        try:
            part.write_bytes(data.encode() if isinstance(data, str) else data)
            if not direct:
                os.replace(part, path)
        finally:
            if not direct:
                with suppress(OSError):
                    part.unlink(missing_ok=True)
    return path


@contextmanager
def _writing(path: str | PathLike) -> Iterator[None]:
    """Context manager: raise a DataError for what prevents writing a file or folder."""
    try:
        yield
    except (OSError, UnicodeEncodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"cannot be written ({reason:.80}).", path) from error


@contextmanager
def scratch_folder(folder: str | PathLike) -> Iterator[Path]:
    """Context manager: a temporary folder in a folder; a new folder is deleted if nothing is in it."""
    new = not Path(folder).exists()
    folder = make_folder(folder)
    try:
        with _writing(folder):
            scratch = TemporaryDirectory(dir=folder, prefix=".", ignore_cleanup_errors=True)
        with scratch:
            yield Path(scratch.name)
    finally:
        with suppress(OSError):
            if new:
                folder.rmdir()  # if it is empty


def make_folder(folder: str | PathLike) -> Path:
    """Create a folder and its parents, unless it exists; a DataError if that fails.

    Temporary folders of killed runs are deleted.
    """
    folder = Path(folder)
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _plain(text: str) -> str:
    """The text with single spaces only."""
    return " ".join(text.split())


def _suffix_of(path: str | PathLike) -> str:
    """Return the ending of a file's name in lower case, without that of its compression.

    >>> _suffix_of("A.JSONL"), _suffix_of("a.jsonl.gz"), _suffix_of("a.gz")
    ('.jsonl', '.jsonl', '')
    """
    return Path(_bare(path)).suffix.lower()


def _stem_of(path: str | PathLike) -> str:
    """Return the name of a file without its last ending and that of its compression.

    >>> _stem_of("wmt/mine.de.gz"), _stem_of("mine.de"), _stem_of("mine.GZ")
    ('mine', 'mine', 'mine')
    """
    return _utf8(Path(_bare(path)).stem)


def _utf8(name: str) -> str:
    """The name of a file or system, with the bytes that are not UTF-8 escaped."""
    return name.encode("utf-8", "backslashreplace").decode()


def _bare(path: str | PathLike) -> str:
    """Return the name of a file without the ending of its compression."""
    path = Path(path)
    return path.stem if path.suffix.lower() in _PACKINGS else path.name
