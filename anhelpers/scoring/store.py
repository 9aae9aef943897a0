"""The score store: one SQLite file of scores by metric signature and content, that survives a crash at any moment.

One process writes at a time and any number read beside it (SQLite's write-ahead log, WAL). The log needs shared memory,
so every process that uses a store must be on one machine: on a network file system (NFS, Lustre, SMB) a store that two
machines use at once can be damaged. Keep it on a local disk, and carry scores between machines as parquet (`upkeep`).
Of the texts it holds hashes only.

Every score has a checksum (`checksums`), which is compared whenever it is read. A damaged one is not used, which a note
says; what is computed in its place replaces it. Scores from before there were checksums are used as they were found,
and a note says how many they are.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from operator import itemgetter
from pathlib import Path

import numpy as np

from .. import checks
from ..errors import DataError
from ..progress import note
from .opening import (
    DAMAGED,
    STANDING,
    UNVERIFIED,
    begun,
    checksum,
    one_sentence_errors,
    opened,
    standing,
    transaction,
)

__all__ = ["Store", "entered", "insert", "key", "today"]

KEY_BYTES = 16
KEYS_PER_QUERY = 1000  # below every SQLite's limit on parameters (32,766 since 2020)

INHERITED: list[sqlite3.Connection] = []
"""Connections of the process that this one was forked from: must be neither used nor closed here."""


def key(*parts: str) -> bytes:
    """16 bytes (BLAKE2b) that stand for texts in this order; each goes in with its length, so no two lists share them.

    >>> key("a", "bc") == key("ab", "c"), len(key())
    (False, 16)
    """
    texts = [part.encode("utf-8", "surrogatepass") for part in parts]
    return blake2b(
        b"".join([b"%d:%b" % (len(text), text) for text in texts]), digest_size=KEY_BYTES
    ).digest()


def today() -> int:
    """The day as the store writes it: days since 1970-01-01, UTC."""
    return int(time.time() // 86_400)


@dataclass(frozen=True)
class Store:
    """A file of scores: (signature, key) -> `width` float64, bit for bit; the first sound value of a key stays.

    Threads and processes may share it, also after a fork: each has its own connection, made when first needed. It can
    be pickled. Used in a ``with`` statement, this thread's connection is closed at the end.

    Parameters
    ----------
    path : the SQLite file; made, with its folder, when first used.

    Raises
    ------
    DataError, here and in all that uses the store: where the file is no store or one of a newer version, damaged,
    locked or not writable, where the disk is full, and where a signature has scores of another width.
    """

    path: Path
    _mine: threading.local = field(
        default_factory=threading.local, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", checks.local_path(self.path))

    def __reduce__(self) -> tuple:
        return Store, (self.path,)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close this thread's connection; the next use makes a new one."""
        if getattr(self._mine, "pid", None) == os.getpid():
            self._mine.connection.close()
            self._mine.connection = self._mine.pid = None

    @contextmanager
    def connection(self, write: bool = False) -> Iterator[sqlite3.Connection]:
        """This process' and thread's connection, in one transaction if `write`; SQLite's errors become sentences."""
        with one_sentence_errors(self.path):
            if getattr(self._mine, "pid", None) != os.getpid():
                if (inherited := getattr(self._mine, "connection", None)) is not None:
                    INHERITED.append(inherited)
                self._mine.connection, self._mine.pid = opened(self.path), os.getpid()
            connection = self._mine.connection
            if not write:
                yield connection
                return
            with transaction(connection):
                yield connection

    def get(
        self, signature: str, keys: Sequence[bytes], width: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """The scores of the keys and which of them are there; damaged ones are not, and a note says how many.

        Returns
        -------
        (n, width) float64, nan where not there; (n,) bool. A score that is there can be nan as well.
        """
        values, there = np.full((len(keys), width), np.nan), np.zeros(len(keys), bool)
        seen = [0, 0, 0]
        with self.connection() as connection:
            number = _number(connection, signature, width, self.path)
            if number is None:
                return values, there
            for start in range(0, len(keys), KEYS_PER_QUERY):
                asked = keys[start : start + KEYS_PER_QUERY]
                found = _sound(connection, (number, begun(signature, width)), asked, seen)
                at = [start + i for i, one in enumerate(asked) if one in found]
                there[at] = True
                blobs = b"".join([found[keys[i]] for i in at])
                values[at] = np.frombuffer(blobs, "<f8").reshape(len(at), width)
        _tell(self.path, signature, seen)
        return values, there

    def put(self, signature: str, keys: Sequence[bytes], values: np.ndarray) -> None:
        """Keep scores, all in one transaction; a key that has one already keeps it, unless that one is damaged.

        One that was found without a checksum gives way as well.

        Parameters
        ----------
        values : (n, width), or (n,) for width 1.
        """
        values = np.asarray(values, dtype="<f8")
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or len(values) != len(keys) or values.shape[1] < 1:
            raise DataError(
                f"{len(keys)} keys and scores of shape {values.shape} do not fit each other."
            )
        if len(keys) == 0:
            return
        size = 8 * values.shape[1]
        buffer = values.tobytes()
        day = today()
        start = begun(signature, values.shape[1])
        blobs = [buffer[i : i + size] for i in range(0, len(buffer), size)]
        with self.connection(write=True) as connection:
            number = entered(connection, signature, values.shape[1], self.path)
            # neighbours share a page
            pairs = sorted(zip(keys, blobs, strict=True), key=itemgetter(0))
            rows = ((number, one, blob, day, checksum(start, one, blob)) for one, blob in pairs)
            connection.executemany(insert(start), rows)


def insert(start: int) -> str:
    """The statement that enters a row of the scores' table, where it has none of that key of the same standing.

    `start` is that of the signature, from `checksums.begun`.
    """
    old, new = (STANDING.format(start, f"{table}.") for table in ("score", "excluded"))
    return (
        "INSERT INTO score (signature, key, value, day, checksum) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (signature, key) DO UPDATE SET value = excluded.value, day = excluded.day, "
        f"checksum = excluded.checksum WHERE {old} < {new}"
    )


def _sound(
    connection: sqlite3.Connection,
    signature: tuple[int, int],
    asked: Sequence[bytes],
    seen: list[int],
) -> dict[bytes, bytes]:
    """Key -> value of those that are there and not damaged; `seen` counts the scores of each standing.

    Of the signature it is given its number and the start of its checksums.
    """
    number, start = signature
    marks = ",".join("?" * len(asked))
    select = "SELECT key, CAST(value AS BLOB), CAST(checksum AS INTEGER) FROM score"
    found = {}
    for one, value, kept in connection.execute(
        f"{select} WHERE signature = ? AND key IN ({marks})", [number, *asked]
    ):
        how = standing(start, one, value, kept)
        seen[how] += 1
        if how != DAMAGED:
            found[one] = value
    return found


def _tell(path: Path, signature: str, seen: Sequence[int]) -> None:
    """Notes on scores that were damaged, and on those that nobody can verify."""
    n = sum(seen)
    if seen[DAMAGED]:
        note(
            f"{path}: {seen[DAMAGED]:,} of {n:,} scores of {signature} are damaged (their "
            "checksums do not fit) and are not used; what is computed in their place replaces "
            "them."
        )
    if seen[UNVERIFIED]:
        note(
            f"{path}: {seen[UNVERIFIED]:,} of {n:,} scores of {signature} are from before "
            "checksums were kept and cannot be verified; anhelpers store prune --unverified "
            "removes such scores."
        )


def _number(connection: sqlite3.Connection, signature: str, width: int, path: Path) -> int | None:
    """The number of a signature; None where it has no scores yet."""
    row = connection.execute(
        "SELECT id, width FROM signature WHERE signature = ?", [signature]
    ).fetchone()
    if row is not None and row[1] != width:
        raise DataError(
            f"a score of {signature} is {row[1]} numbers here, and {width} are meant; remove the "
            f"old ones (anhelpers store prune --signature '{signature}').",
            path,
        )
    return None if row is None else row[0]


def entered(connection: sqlite3.Connection, signature: str, width: int, path: Path) -> int:
    """The number of a signature, which is entered if new.

    Parameters
    ----------
    connection : to the store, in a transaction. width : how many numbers its scores have.
    """
    connection.execute(
        "INSERT OR IGNORE INTO signature (signature, width, created) VALUES (?, ?, ?)",
        [signature, width, int(time.time())],
    )
    return _number(connection, signature, width, path) or 0  # there now: ids count from 1
