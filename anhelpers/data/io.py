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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ..errors import DataError, nearest
from ..progress import say

if TYPE_CHECKING:
    import pandas as pd

_LARGEST = 512 * 2**20  # bytes of a file, unpacked: a small file that claims more may be an attack
_PACKINGS = (".gz", ".xz", ".zst")
_MISSING = frozenset(["", "nan", "none"])  # cells, in lower case, that stand for a missing number


def read_lines(path: str | PathLike) -> tuple[str, ...]:
    r"""Return the lines of a UTF-8 text file without their line ends.

    Only ``"\n"`` ends a line; carriage returns before it and a byte order mark are dropped. Other Unicode line
    separators are text. A file compressed by gzip, xz or zstd is unpacked.

    Raises
    ------
    DataError : a missing or damaged file; a NUL or a byte that is not UTF-8, with its line.
    """
    return split_lines(decode(read_bytes(path), path))


def split_lines(text: str) -> tuple[str, ...]:
    """Return the lines of a text as `read_lines` does."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return tuple(line.rstrip("\r") for line in lines) if "\r" in text else tuple(lines)


def read_bytes(path: str | PathLike) -> bytes:
    """Return the bytes of a file; those compressed by gzip, xz or zstd are unpacked.

    Raises
    ------
    DataError : a missing, damaged or truncated file, or one of more than 512 MiB.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
        data = _unpacked(data)
    except FileNotFoundError:
        folder = Path(path).parent
        names = sorted(os.listdir(folder)) if folder.is_dir() else []
        raise DataError(f"no such file{nearest(Path(path).name, names)}.", path) from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"cannot be read ({reason}).", path) from error
    if len(data) > _LARGEST:
        raise DataError(f"got more than {_LARGEST // 2**20} MiB of text. Split the file.", path)
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

    found, at = bytearray(), 0
    decoder = zstandard.ZstdDecompressor().decompressobj()
    try:
        while at < len(data) and len(found) <= _LARGEST:
            if decoder.eof:
                decoder = zstandard.ZstdDecompressor().decompressobj()
            piece = data[at : at + 256]  # unpacks to 8 MB at most
            found += decoder.decompress(piece)
            at += len(piece) - len(decoder.unused_data)
    except zstandard.ZstdError as error:
        raise EOFError(str(error)) from error
    if not decoder.eof and len(found) <= _LARGEST:
        raise EOFError("truncated")
    return bytes(found)


def decode(data: bytes, path: str | PathLike) -> str:
    """Return UTF-8 bytes as text without a byte order mark; a DataError names the line of any other byte.

    Parameters
    ----------
    path : path
        The file, for the error.
    """
    try:
        text = data.decode("utf-8-sig")
        at = text.find("\0")
        line = text.count("\n", 0, at) + 1
    except UnicodeDecodeError as error:
        at, line = error.start, data.count(b"\n", 0, error.start) + 1
    if at >= 0:
        raise DataError("got a byte that is not UTF-8 text. Save the file as UTF-8.", path, line)
    return text


def read_table(
    path: str | PathLike,
    columns: Mapping[str, type],
    *,
    optional: Sequence[str] = (),
    quoted: bool = True,
    names: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Read a CSV file, or TSV by its ending ``.tsv`` or a tab in the first line, with the given columns.

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

    Raises
    ------
    DataError : with file and line, for a missing or repeated column, a row with too few or too many cells, and a
        number that is malformed or infinite.
    """
    import pandas as pd

    text = decode(read_bytes(path), path).replace("\r\n", "\n")
    first = text.partition("\n")[0]
    separator = "\t" if suffix_of(path) == ".tsv" or "\t" in first else ","
    layout: dict[str, Any] = {"quoting": csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE}
    header = list(
        names or next(csv.reader([first.replace("\r", " ")], delimiter=separator, **layout), ())
    )
    if missing := [name for name in columns if name not in header and name not in optional]:
        found = ", ".join(header)
        raise DataError(f"missing column {', '.join(missing)}; found: {found:.80}.", path, 1)
    if twice := [name for name in columns if header.count(name) > 1]:
        raise DataError(f"got column {twice[0]} twice. Rename one.", path, 1)

    header = [n if header.index(n) == i else f"{n}.{i}" for i, n in enumerate(header)]

    def rows() -> Iterator[tuple[int, int]]:
        """(line, number of cells) of each row below the header."""
        plain = io.StringIO(text.replace("\r", " "), newline="\n")
        reader = csv.reader(plain, delimiter=separator, **layout)
        filled = (cells for cells in reader if cells[1:] or any(map(str.strip, cells)))
        return islice(((reader.line_num, len(cells)) for cells in filled), names is None, None)

    def fail(row: int, message: str) -> DataError:
        return DataError(message, path, next(islice(rows(), row, None))[0])

    try:
        table = pd.read_csv(
            io.StringIO(text),
            sep=separator,
            dtype=str,
            names=header,
            header=0 if names is None else None,
            index_col=None,
            keep_default_na=False,
            lineterminator="\n",
            **layout,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        line = str(error).partition(" in line ")[2].partition(",")[0]
        reason = str(error).strip().rpartition("error: ")[2]
        raise DataError(
            f"malformed table: {reason}.", path, int(line) if line.isdigit() else None
        ) from error
    if not isinstance(table.index, pd.RangeIndex):
        raise fail(0, f"got more cells than the {len(header)} columns. Quote separators.")
    if (table.iloc[:, -1] == "").any():  # pandas fills short rows with blank cells
        for line_number, cells in rows():
            if cells < len(header):
                raise DataError(f"got {cells} cells, expected {len(header)}.", path, line_number)
    for name, kind in columns.items():
        if kind is str or name not in table:
            continue
        blank = table[name].str.strip().str.lower().isin(_MISSING)
        numbers = pd.to_numeric(table[name].where(~blank, "nan"), errors="coerce")
        bad = blank | (numbers % 1 != 0) if kind is int else numbers.isna() & ~blank
        bad |= numbers.abs() >= (2**53 if kind is int else float("inf"))
        if bad.any():
            row = int(bad.to_numpy().argmax())
            raise fail(row, f"{name}: got '{table[name][row]:.60}', expected {kind.__name__}.")
        table[name] = numbers.astype(kind)
    return table


def read_jsonl(path: str | PathLike) -> list[dict[str, Any]]:
    """Return the objects of a file with one JSON object per line.

    Raises
    ------
    DataError : with file and line, for a line that is no JSON object, or names a key twice.
    """
    return [parse_json(line, path, i) for i, line in enumerate(read_lines(path), 1)]


def parse_json(text: str, path: str | PathLike, line: int) -> dict[str, Any]:
    """Return a JSON object; a DataError for anything else, a key that is repeated, or half a surrogate pair.

    Parameters
    ----------
    path, line : path, int
        Where the text is from, for the error.
    """
    try:
        value = json.loads(text, object_pairs_hook=_distinct)
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise DataError(f"malformed JSON ({error!s:.80}).", path, line) from None
    if not isinstance(value, dict):
        raise DataError(f"got {text:.40}, expected a JSON object.", path, line)
    return value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; a ValueError for a repeated key."""
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a key is repeated")
    return found


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
    try:
        data = data.encode() if isinstance(data, str) else data
    except UnicodeEncodeError as error:
        raise DataError(f"cannot be written as UTF-8 ({error.reason}).", path) from None
    direct = path.exists() and not path.is_file() and not path.is_dir()  # such as /dev/stdout
    part = path if direct else path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}.tmp")
    try:
        part.write_bytes(data)
        if not direct:
            os.replace(part, path)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error}).", path) from error
    finally:
        if not direct:
            with suppress(OSError):
                part.unlink(missing_ok=True)
    return path


@contextmanager
def results_together(folder: str | PathLike, names: Sequence[str]) -> Iterator[Path]:
    """Yield a temporary folder; at the end its files replace those of these names in `folder`.

    Each is reported on stderr. A file that was not written is deleted, so that results of two runs never mix.

    Parameters
    ----------
    names : sequence of str
        All files that a run may write.
    """
    folder = make_folder(folder)
    try:
        with TemporaryDirectory(dir=folder, prefix=".results.") as scratch:
            yield Path(scratch)
            for name in names:
                if Path(scratch, name).exists():
                    os.replace(Path(scratch, name), folder / name)
                    say(f"wrote {folder / name}")
                else:
                    (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error}).", folder) from error
    finally:
        with suppress(OSError):
            folder.rmdir()  # if it is empty


def make_folder(folder: str | PathLike) -> Path:
    """Create a folder and its parents, unless it exists; a DataError if that fails."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be created ({error.strerror}).", folder) from error
    return Path(folder)


def suffix_of(path: str | PathLike) -> str:
    """Return the ending of a file's name in lower case, without that of its compression.

    >>> suffix_of("A.JSONL"), suffix_of("a.jsonl.gz"), suffix_of("a.gz")
    ('.jsonl', '.jsonl', '')
    """
    return Path(_bare(path)).suffix.lower()


def stem_of(path: str | PathLike) -> str:
    """Return the name of a file without its last ending and that of its compression.

    >>> stem_of("wmt/mine.de.gz"), stem_of("mine.de"), stem_of("mine.GZ")
    ('mine', 'mine', 'mine')
    """
    return Path(_bare(path)).stem


def _bare(path: str | PathLike) -> str:
    """Return the name of a file without the ending of its compression."""
    path = Path(path)
    return path.stem if path.suffix.lower() in _PACKINGS else path.name
