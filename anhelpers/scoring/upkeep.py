"""What is in a score store, how to make it smaller, and how to carry scores from one to another as parquet."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Iterator
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..data.writing import fresh_file, make_folder
from ..errors import DataError
from .store import Store, entered, today

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow

__all__ = ["Imported", "export_parquet", "import_parquet", "prune", "sizes"]

KEY_BYTES = 16
ROWS_PER_GROUP = 100_000


class Imported(NamedTuple):
    """How many scores of a file were new, were here with the same bits, and were here with others (ours stay)."""

    new: int
    same: int
    different: int


def sizes(store: Store) -> pd.DataFrame:
    """signature, scores, width, bytes, oldest, newest: a row per signature, the largest first.

    `bytes` counts keys and values; the file is about 1.6 times as large. Days are UTC.
    """
    import pandas as pd

    with store.connection() as connection:
        rows = connection.execute(
            "SELECT s.signature, COUNT(day), s.width, MIN(day), MAX(day) FROM signature s "
            "LEFT JOIN score ON score.signature = s.id GROUP BY s.id"
        ).fetchall()
    table = pd.DataFrame(
        [(name, n, w, n * (KEY_BYTES + 8 * w), _date(first), _date(last)) for name, n, w, first, last in rows],
        columns=["signature", "scores", "width", "bytes", "oldest", "newest"],
    )
    return table.sort_values(["bytes", "signature"], ascending=[False, True], ignore_index=True)


def _date(day: int | None) -> str | None:
    try:
        return None if day is None else str(datetime.date(1970, 1, 1) + datetime.timedelta(days=day))
    except OverflowError:  # by a clock that was wrong
        return f"day {day}"


def prune(store: Store, signature: str | None = None, older_than: float | None = None) -> int:
    """Remove scores and give the space back to the disk; how many were removed.

    Parameters
    ----------
    signature : a name or a pattern with ``*`` and ``?``, e.g. ``"lpp|model:de-tiny|*"``; None: every signature.
    older_than : only scores that were entered more than this many days ago.

    Raises
    ------
    DataError without either of the two (nothing is removed by an oversight), or for an age that is no number ≥ 0.
    """
    if signature is None and older_than is None:
        raise DataError("say what to remove: a signature (with * for any text), an age in days, or both.")
    if older_than is not None and not 0 <= older_than < float("inf"):
        raise DataError(f"an age of {older_than} days; it must be a number from 0.")
    before = None if older_than is None else today() - older_than
    removed = 0
    with store.connection(write=True) as connection:
        for number in _numbers(connection, signature):
            where, told = ("", []) if before is None else (" AND day < ?", [before])
            removed += connection.execute(f"DELETE FROM score WHERE signature = ?{where}", [number, *told]).rowcount
        connection.execute("DELETE FROM signature WHERE id NOT IN (SELECT DISTINCT signature FROM score)")
    with store.connection() as connection:
        connection.executescript("PRAGMA incremental_vacuum")  # execute() would free a single page
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return removed


def _numbers(connection: sqlite3.Connection, pattern: str | None) -> dict[int, str]:
    """Number -> signature of those that a pattern fits."""
    rows = connection.execute("SELECT id, signature FROM signature ORDER BY signature").fetchall()
    return {number: name for number, name in rows if pattern is None or fits(name, pattern)}


def fits(signature: str, pattern: str) -> bool:
    """Whether a signature is the one named, or fits a pattern in which only ``*`` and ``?`` have a meaning.

    >>> fits("chrf|case:mixed", "chrf*"), fits("a[1]", "a[1]")
    (True, True)
    """
    return signature == pattern or fnmatchcase(signature, pattern.replace("[", "[[]"))


def export_parquet(store: Store, path: str | PathLike, signature: str | None = None) -> int:
    """Write scores (all, or those of a signature or pattern) to a parquet file that appears in one step; how many.

    Columns: signature, key (16 bytes), value (list of float64, bit for bit), day (days since 1970-01-01).

    Raises
    ------
    DataError where nothing fits the pattern, or the file cannot be written.
    """
    import pyarrow as pa
    from pyarrow import parquet

    path, n = Path(path), 0
    make_folder(path.parent)
    with fresh_file(path) as fresh, parquet.ParquetWriter(fresh, _schema(pa), compression="zstd") as writer:
        for name, rows in _stored(store, signature):
            writer.write_table(_table(pa, name, rows))
            n += len(rows)
    return n


def _schema(pa: pyarrow) -> pyarrow.Schema:
    """Of the file that carries scores."""
    return pa.schema({
        "signature": pa.string(), "key": pa.binary(KEY_BYTES), "value": pa.list_(pa.float64()), "day": pa.int32()
    })  # fmt: skip


def _stored(store: Store, pattern: str | None) -> Iterator[tuple[str, list[tuple[bytes, bytes, int]]]]:
    """(signature, rows (key, value, day)) in pieces, all as of one moment."""
    with store.connection() as connection:
        connection.execute("BEGIN")
        try:
            chosen = _numbers(connection, pattern)
            if pattern is not None and not chosen:
                raise DataError(f"has no scores of '{pattern}'; anhelpers store lists the signatures.", store.path)
            for number, name in chosen.items():
                found = connection.execute("SELECT key, value, day FROM score WHERE signature = ?", [number])
                while rows := found.fetchmany(ROWS_PER_GROUP):
                    yield name, rows
        finally:
            connection.execute("ROLLBACK")


def _table(pa: pyarrow, name: str, rows: list[tuple[bytes, bytes, int]]) -> pyarrow.Table:
    keys, blobs, days = zip(*rows, strict=True)
    width = len(blobs[0]) // 8
    numbers = pa.Array.from_buffers(pa.float64(), len(rows) * width, [None, pa.py_buffer(b"".join(blobs))])
    ends = pa.array(range(0, len(rows) * width + 1, width), pa.int32())
    values = pa.ListArray.from_arrays(ends, numbers)
    columns = [pa.array([name] * len(rows)), pa.array(keys, pa.binary(KEY_BYTES)), values, pa.array(days, pa.int32())]
    return pa.Table.from_arrays(columns, schema=_schema(pa))


def import_parquet(store: Store, path: str | PathLike) -> Imported:
    """Take over the scores of a file that `export_parquet` wrote; where both have one, ours stays.

    Raises
    ------
    DataError where the file is no such file.
    """
    import pyarrow as pa
    from pyarrow import parquet

    counts = [0, 0, 0]
    if not Path(path).is_file():
        raise DataError("is no file; name one that anhelpers store export wrote.", path)
    try:
        with parquet.ParquetFile(path) as file:
            if not file.schema_arrow.equals(_schema(pa)):
                raise DataError("is no export of a score store; make one by anhelpers store export FILE.", path)
            for batch in file.iter_batches(ROWS_PER_GROUP):
                for i, n in enumerate(_taken(store, batch, path)):
                    counts[i] += n
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error}).", path) from error
    except pa.ArrowInvalid as error:
        raise DataError("is no parquet file, or a damaged one; export it again.", path) from error
    return Imported(*counts)


def _taken(store: Store, batch: pyarrow.RecordBatch, path: str | PathLike) -> tuple[int, int, int]:
    """Enter a batch in one transaction: new, same, different."""
    if any(column.null_count for column in batch.columns):
        raise DataError("has rows without a value; export it again.", path)
    names, keys, days = (batch.column(i).to_pylist() for i in (0, 1, 3))
    starts, flat = batch.column(2).offsets.to_numpy(), batch.column(2).values.to_numpy(zero_copy_only=False)
    numbers: dict[tuple[str, int], int] = {}
    new = same = 0
    with store.connection(write=True) as connection:
        for i, (name, one, day) in enumerate(zip(names, keys, days, strict=True)):
            value = flat[starts[i] : starts[i + 1]].astype("<f8").tobytes()
            told = (name, starts[i + 1] - starts[i])
            if told not in numbers:
                numbers[told] = entered(connection, name, int(told[1]), store.path)
            row = [numbers[told], one, value, day]
            if connection.execute("INSERT OR IGNORE INTO score VALUES (?, ?, ?, ?)", row).rowcount:
                new += 1
            elif connection.execute("SELECT value FROM score WHERE signature = ? AND key = ?", row[:2]).fetchone() == (
                value,
            ):
                same += 1
    return new, same, len(keys) - new - same
