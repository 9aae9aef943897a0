"""What is in a score store, whether it is sound, how to make it smaller, and how to carry scores to another one: as a
parquet file, each with its checksum."""

from __future__ import annotations

import datetime
import sqlite3
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..data.writing import fresh_file, make_folder
from ..errors import DataError
from ..progress import note
from .opening import DAMAGED, FOUND, STANDING, UNVERIFIED, begun, checksum, standing
from .store import KEY_BYTES, Store, entered, insert, today

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow

__all__ = [
    "Imported",
    "chosen",
    "export_parquet",
    "faults",
    "fits",
    "import_parquet",
    "prune",
    "sizes",
]

STANDINGS = {"damaged": DAMAGED, "unverified": UNVERIFIED}

# what a damaged file holds instead is shown as text, or as 0
SIGNATURES = (
    "SELECT id, COALESCE(CAST(signature AS TEXT), ''), COALESCE(CAST(width AS INTEGER), 0) "
    "FROM signature ORDER BY signature"
)
CARRY = "; carry the sound scores into a new store (anhelpers store export, import)"
LOST = "signature NOT IN (SELECT id FROM signature)"


def sizes(store: Store) -> pd.DataFrame:
    """signature, scores, width, bytes, oldest, newest, damaged, unverified: a row per signature, the largest first.

    `bytes` counts keys and values; the file is about 1.6 times as large. Days are UTC. All scores are read, and
    compared with their checksums: of the scores, `damaged` do not fit them, and `unverified` are from before there were
    any.
    """
    import pandas as pd

    with store.connection() as connection:
        rows = [_counted(connection, *row) for row in connection.execute(SIGNATURES).fetchall()]
    table = pd.DataFrame(
        [
            (name, n, w, n * (KEY_BYTES + 8 * w), _date(first), _date(last), damaged, unverified)
            for name, w, n, first, last, damaged, unverified in rows
        ],
        columns=[
            "signature",
            "scores",
            "width",
            "bytes",
            "oldest",
            "newest",
            "damaged",
            "unverified",
        ],
    )
    return table.sort_values(["bytes", "signature"], ascending=[False, True], ignore_index=True)


def _counted(connection: sqlite3.Connection, number: int, name: str, width: int) -> tuple:
    """Signature, width, scores, first and last day, damaged and unverified scores."""
    standings = (
        f"SELECT CAST(day AS INTEGER) AS day, {_standing(name, width)} AS how FROM score WHERE "
        "signature = ?"
    )
    counts = f"COUNT(*), MIN(day), MAX(day), TOTAL(how = {DAMAGED}), TOTAL(how = {UNVERIFIED})"
    n, first, last, damaged, unverified = connection.execute(
        f"SELECT {counts} FROM ({standings})", [number]
    ).fetchone()
    return name, width, n, first, last, int(damaged), int(unverified)


def _standing(name: str, width: int) -> str:
    """In SQL, the standing of a row of a signature."""
    return STANDING.format(begun(name, width), "")


def faults(store: Store) -> list[str]:
    """What is wrong with a store, a sentence for each kind: damaged scores, and what SQLite finds in its own tables."""
    table = sizes(store)
    found = [
        f"{row.damaged:,} of {row.scores:,} scores of {row.signature} are damaged."
        for row in table.itertuples()
        if row.damaged
    ]
    with store.connection() as connection:
        (lost,) = connection.execute(f"SELECT COUNT(*) FROM score WHERE {LOST}").fetchone()
        said = [line for (line,) in connection.execute("PRAGMA integrity_check(5)") if line != "ok"]
    return (
        found
        + [f"{lost:,} scores belong to no signature."] * bool(lost)
        + [f"SQLite finds: {line}{CARRY}." for line in said]
    )


def _date(day: int | None) -> str | None:
    try:
        return (
            None if day is None else str(datetime.date(1970, 1, 1) + datetime.timedelta(days=day))
        )
    except OverflowError:  # by a clock that was wrong
        return f"day {day}"


def prune(
    store: Store,
    signature: str | None = None,
    older_than: float | None = None,
    *,
    only: Literal["damaged", "unverified"] | None = None,
) -> int:
    """Remove scores and give the space back to the disk; how many were removed.

    Parameters
    ----------
    signature : a name or a pattern with ``*`` and ``?``, e.g. ``"lpp|model:de-small|*"``; None: every signature.
    older_than : only scores that were entered more than this many days ago.
    only : those whose checksums do not fit, or those from before there were checksums.

    Raises
    ------
    DataError without any of the three (nothing is removed by an oversight), or for an age that is no number ≥ 0.
    """
    if signature is None and older_than is None and only is None:
        raise DataError(
            "say what to remove: a signature (with * for any text), an age in days, or both; or "
            "those that are damaged or unverified."
        )
    if older_than is not None and not 0 <= older_than < float("inf"):
        raise DataError(f"an age of {older_than} days; it must be a number from 0.")
    removed = 0
    with store.connection(write=True) as connection:
        for number, (name, width) in chosen(connection, signature).items():
            where, told = ["signature = ?"], [number]
            if older_than is not None:
                where, told = [*where, "day < ?"], [*told, today() - older_than]
            if only is not None:
                where.append(f"{_standing(name, width)} = {STANDINGS[only]}")
            removed += connection.execute(
                f"DELETE FROM score WHERE {' AND '.join(where)}", told
            ).rowcount
        if only == "damaged" and signature is None:
            removed += connection.execute(f"DELETE FROM score WHERE {LOST}").rowcount
        connection.execute(
            "DELETE FROM signature WHERE id NOT IN (SELECT DISTINCT signature FROM score)"
        )
    with store.connection() as connection:
        connection.executescript("PRAGMA incremental_vacuum")  # execute() would free a single page
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return removed


def chosen(connection: sqlite3.Connection, pattern: str | None) -> dict[int, tuple[str, int]]:
    """Number -> signature and width of those that a pattern fits.

    Parameters
    ----------
    connection : to a store. pattern : as in `fits`; None: every signature.
    """
    rows = connection.execute(SIGNATURES).fetchall()
    return {
        number: (name, width)
        for number, name, width in rows
        if pattern is None or fits(name, pattern)
    }


def fits(signature: str, pattern: str) -> bool:
    """Whether a signature is the one named, or fits a pattern in which only ``*`` and ``?`` have a meaning.

    >>> fits("chrf|case:mixed", "chrf*"), fits("a[1]", "a[1]")
    (True, True)
    """
    return signature == pattern or fnmatchcase(signature, pattern.replace("[", "[[]"))


ROWS_PER_GROUP = 100_000
DAYS = 2**31  # of the file, of 32 bits: a clock may be wrong, and a day damaged

ScoreRow = tuple[bytes, bytes, int, int]
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


def _stored(store: Store, pattern: str | None) -> Iterator[tuple[str, int, list[ScoreRow]]]:
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


def _table(pa: pyarrow, name: str, rows: list[ScoreRow]) -> pyarrow.Table:
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


def _rows(batch: pyarrow.RecordBatch) -> Iterator[tuple[str, ScoreRow]]:
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
