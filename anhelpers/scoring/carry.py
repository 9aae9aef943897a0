"""Scores carried from one store to another as a parquet file, each with its checksum."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..data.writing import fresh_file, make_folder
from ..errors import DataError
from ..progress import note
from .checksums import DAMAGED, FOUND, begun, checksum, standing
from .store import KEY_BYTES, Store, entered, insert
from .upkeep import chosen

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Imported", "export_parquet", "import_parquet"]

ROWS_PER_GROUP = 100_000
DAYS = 2**31  # of the file, of 32 bits: a clock may be wrong, and a day damaged

Row = tuple[bytes, bytes, int, int]
"""Key, value, day, checksum."""


class Imported(NamedTuple):
    """How many scores of a file were new, were here with the same bits, and were here with others (ours stay).

    New are also those that took the place of a damaged one, or of one that nobody can verify.
    """

    new: int
    same: int
    different: int


def export_parquet(store: Store, path: str | PathLike, signature: str | None = None) -> int:
    """Write scores (all, or those of a signature or pattern) to a parquet file that appears in one step; how many.

    Columns: signature, key (16 bytes), value (list of float64, bit for bit), day (days since 1970-01-01), checksum
    (`checksums`). Damaged scores are left out, and a note says how many.

    Raises
    ------
    DataError where nothing fits the pattern, or the file cannot be written.
    """
    import pyarrow as pa
    from pyarrow import parquet

    path, n, damaged = Path(path), 0, 0
    make_folder(path.parent)
    with (
        fresh_file(path) as fresh,
        parquet.ParquetWriter(fresh, _schema(pa), compression="zstd") as writer,
    ):
        for name, width, rows in _stored(store, signature):
            start = begun(name, width)
            sound = [row for row in rows if standing(start, row[0], row[1], row[3]) != DAMAGED]
            damaged += len(rows) - len(sound)
            if sound:
                writer.write_table(_table(pa, name, sound))
            n += len(sound)
    if damaged:
        note(
            f"{store.path}: {damaged:,} scores are damaged (their checksums do not fit) and left "
            "out."
        )
    return n


def _schema(pa: pyarrow, checksums: bool = True) -> pyarrow.Schema:
    """Of the file that carries scores, and of those that were written before there were checksums."""
    columns = {
        "signature": pa.string(),
        "key": pa.binary(KEY_BYTES),
        "value": pa.list_(pa.float64()),
        "day": pa.int32(),
    }
    return pa.schema(columns | ({"checksum": pa.int64()} if checksums else {}))


def _stored(store: Store, pattern: str | None) -> Iterator[tuple[str, int, list[Row]]]:
    """(signature, width, rows) in pieces, all as of one moment."""
    select = (
        "SELECT CAST(key AS BLOB), CAST(value AS BLOB), COALESCE(CAST(day AS INTEGER), 0), "
        "CAST(checksum AS INTEGER) FROM score WHERE signature = ?"
    )
    with store.connection() as connection:
        connection.execute("BEGIN")
        try:
            wanted = chosen(connection, pattern)
            if pattern is not None and not wanted:
                raise DataError(
                    f"has no scores of '{pattern}'; anhelpers store lists the signatures.",
                    store.path,
                )
            for number, (name, width) in wanted.items():
                found = connection.execute(select, [number])
                while rows := found.fetchmany(ROWS_PER_GROUP):
                    yield name, width, rows
        finally:
            connection.execute("ROLLBACK")


def _table(pa: pyarrow, name: str, rows: list[Row]) -> pyarrow.Table:
    keys, blobs, days, checksums = zip(*rows, strict=True)
    days = [min(max(day, -DAYS), DAYS - 1) for day in days]
    width = len(blobs[0]) // 8
    numbers = pa.Array.from_buffers(
        pa.float64(), len(rows) * width, [None, pa.py_buffer(b"".join(blobs))]
    )
    ends = pa.array(range(0, len(rows) * width + 1, width), pa.int32())
    values = pa.ListArray.from_arrays(ends, numbers)
    columns = [pa.array([name] * len(rows)), pa.array(keys, pa.binary(KEY_BYTES)), values]
    columns += [pa.array(days, pa.int32()), pa.array(checksums, pa.int64())]
    return pa.Table.from_arrays(columns, schema=_schema(pa))


def import_parquet(store: Store, path: str | PathLike) -> Imported:
    """Take over the scores of a file that `export_parquet` wrote; where both have a sound one, ours stays.

    Those whose checksums do not fit are left out, and a note says how many. A file of an older version has no
    checksums: its scores are taken as they are, and a note says so.

    Raises
    ------
    DataError where the file is no such file.
    """
    import pyarrow as pa
    from pyarrow import parquet

    counts = Counter[str]()
    if not Path(path).is_file():
        raise DataError("is no file; name one that anhelpers store export wrote.", path)
    try:
        with parquet.ParquetFile(path) as file:
            known = [
                file.schema_arrow.equals(_schema(pa, checksums)) for checksums in (True, False)
            ]
            if not any(known):
                raise DataError(
                    "is no export of a score store; make one by anhelpers store export FILE.", path
                )
            for batch in file.iter_batches(ROWS_PER_GROUP):
                counts += _taken(store, batch, path)
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error}).", path) from error
    except pa.ArrowInvalid as error:
        raise DataError("is no parquet file, or a damaged one; export it again.", path) from error
    if damaged := counts["damaged"]:
        note(
            f"{path}: {damaged:,} scores are damaged (their checksums do not fit) and are left out."
        )
    if known[1]:
        note(
            f"{path}: was written before scores had checksums: they are taken as they are, and "
            "cannot be verified."
        )
    return Imported(*(counts[name] for name in Imported._fields))


def _taken(store: Store, batch: pyarrow.RecordBatch, path: str | PathLike) -> Counter[str]:
    """Enter a batch in one transaction; how many are new, same, different, damaged."""
    if any(column.null_count for column in batch.columns):
        raise DataError("has rows without a value; export it again.", path)
    counts = Counter[str]()
    numbers: dict[tuple[str, int], int] = {}
    with store.connection(write=True) as connection:
        for name, row in _rows(batch):
            width = len(row[1]) // 8
            start = begun(name, width)
            if standing(start, row[0], row[1], row[3]) == DAMAGED:
                counts["damaged"] += 1
                continue
            if (name, width) not in numbers:
                numbers[name, width] = entered(connection, name, width, store.path)
            counts[_entered(connection, insert(start), (numbers[name, width], *row))] += 1
    return counts


def _rows(batch: pyarrow.RecordBatch) -> Iterator[tuple[str, Row]]:
    """Signature and row of every score of a file; one without a checksum gets that of what is found, marked."""
    names, keys, days = (batch.column(i).to_pylist() for i in (0, 1, 3))
    kept = batch.column(4).to_pylist() if batch.num_columns > 4 else [None] * len(keys)
    starts = batch.column(2).offsets.to_numpy()
    flat = batch.column(2).values.to_numpy(zero_copy_only=False)
    for i, (name, one, day, checked) in enumerate(zip(names, keys, days, kept, strict=True)):
        value = flat[starts[i] : starts[i + 1]].astype("<f8").tobytes()
        found = (
            checksum(begun(name, len(value) // 8), one, value) + FOUND
            if checked is None
            else checked
        )
        yield name, (one, value, day, found)


def _entered(
    connection: sqlite3.Connection, statement: str, row: tuple[int, bytes, bytes, int, int]
) -> str:
    """Enter a score where there is none as good: whether that was new, the same, or different."""
    if connection.execute(statement, row).rowcount:
        return "new"
    ours = "SELECT CAST(value AS BLOB) FROM score WHERE signature = ? AND key = ?"
    return "same" if connection.execute(ours, row[:2]).fetchone() == (row[2],) else "different"
