"""What is in a score store, whether it is sound, and how to make it smaller."""

from __future__ import annotations

import datetime
import sqlite3
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from ..errors import DataError
from .checksums import DAMAGED, UNVERIFIED, begun
from .opening import STANDING
from .store import KEY_BYTES, Store, today

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["chosen", "faults", "fits", "prune", "sizes"]

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
