"""The score store: one SQLite file of scores by metric signature and content, that survives a crash at any moment.

One process writes at a time and any number read beside it (SQLite's write-ahead log, WAL). The log needs shared memory,
so every process that uses a store must be on one machine: on a network file system (NFS, Lustre, SMB) a store that two
machines use at once can be damaged. Keep it on a local disk, and carry scores between machines as parquet (`upkeep`).
Of the texts it holds hashes only.
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

__all__ = ["Store", "key", "today"]

VERSION = 1
"""Of the tables below; a file says its own in `user_version`."""

APPLICATION = 0x616E6870
""""anhp": how an SQLite file says (in `application_id`) that it is a score store."""

TABLES = """
CREATE TABLE signature (id INTEGER PRIMARY KEY, signature TEXT NOT NULL UNIQUE, width INTEGER NOT NULL,
                        created INTEGER NOT NULL);
CREATE TABLE score (signature INTEGER NOT NULL REFERENCES signature (id), key BLOB NOT NULL, value BLOB NOT NULL,
                    day INTEGER NOT NULL, PRIMARY KEY (signature, key)) WITHOUT ROWID;
"""

BUSY_SECONDS = 30.0
"""How long a writer waits for another one; a commit takes milliseconds."""

KEYS_PER_QUERY = 1000  # below every SQLite's limit on parameters (32,766 since 2020)

SAID = {  # SQLite's name of an error, or how it begins -> what it means here, and what to do
    "SQLITE_NOTADB": "is no SQLite file, so no score store; name another file (--store FILE) or move it away",
    "SQLITE_CORRUPT": "is damaged, as happens on network file systems or by copying a store in use; move it away",
    "SQLITE_READONLY": "cannot be written; make the file and its folder writable, or name another one (--store FILE)",
    "SQLITE_PERM": "may not be opened; make the file and its folder writable, or name another one (--store FILE)",
    "SQLITE_CANTOPEN": "cannot be opened; make its folder writable, or name another file (--store FILE)",
    "SQLITE_FULL": "does not fit on the disk; free some space (anhelpers store prune) and run again: what was "
    "committed is kept",
    "SQLITE_BUSY": f"has been locked by another program for {BUSY_SECONDS:.0f} s; wait for it, or name another file "
    "(--store FILE)",
    "SQLITE_LOCKED": "is locked by another program; wait for it, or name another file (--store FILE)",
    "SQLITE_PROTOCOL": "cannot be locked; a score store works on a local disk, not on a network file system",
    "SQLITE_IOERR": "could not be read or written; a score store works on a local disk, not on a network file system",
}


INHERITED: list[sqlite3.Connection] = []
"""Connections of the process that this one was forked from: must be neither used nor closed here."""


def key(*parts: str) -> bytes:
    """16 bytes (BLAKE2b) that stand for texts in this order; each goes in with its length, so no two lists share them.

    >>> key("a", "bc") == key("ab", "c"), len(key())
    (False, 16)
    """
    texts = [part.encode("utf-8", "surrogatepass") for part in parts]
    return blake2b(b"".join([b"%d:%b" % (len(text), text) for text in texts]), digest_size=16).digest()


def today() -> int:
    """The day as the store writes it: days since 1970-01-01, UTC."""
    return int(time.time() // 86_400)


@dataclass(frozen=True)
class Store:
    """A file of scores: (signature, key) -> `width` float64, bit for bit; the first value of a key stays.

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
    _mine: threading.local = field(default_factory=threading.local, init=False, repr=False, compare=False)

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
        with told(self.path):
            if getattr(self._mine, "pid", None) != os.getpid():
                if (inherited := getattr(self._mine, "connection", None)) is not None:
                    INHERITED.append(inherited)
                self._mine.connection, self._mine.pid = _opened(self.path), os.getpid()
            connection = self._mine.connection
            if not write:
                yield connection
                return
            with _transaction(connection):
                yield connection

    def get(self, signature: str, keys: Sequence[bytes], width: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """The scores of the keys and which of them are there.

        Returns
        -------
        (n, width) float64, nan where not there; (n,) bool. A score that is there can be nan as well.
        """
        values, there = np.full((len(keys), width), np.nan), np.zeros(len(keys), bool)
        with self.connection() as connection:
            number = _number(connection, signature, width, self.path)
            if number is None:
                return values, there
            for start in range(0, len(keys), KEYS_PER_QUERY):
                asked = keys[start : start + KEYS_PER_QUERY]
                found = dict(connection.execute(_select(len(asked)), [number, *asked]))
                at = [start + i for i, one in enumerate(asked) if one in found]
                there[at] = True
                blobs = b"".join([found[keys[i]] for i in at])
                values[at] = np.frombuffer(blobs, "<f8").reshape(len(at), width)
        return values, there

    def put(self, signature: str, keys: Sequence[bytes], values: np.ndarray) -> None:
        """Keep scores, all in one transaction; a key that has one already keeps it.

        Parameters
        ----------
        values : (n, width), or (n,) for width 1.
        """
        values = np.asarray(values, dtype="<f8")
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or len(values) != len(keys) or values.shape[1] < 1:
            raise DataError(f"{len(keys)} keys and scores of shape {values.shape} do not fit each other.")
        if len(keys) == 0:
            return
        size, buffer, day = 8 * values.shape[1], values.tobytes(), today()
        blobs = [buffer[i : i + size] for i in range(0, len(buffer), size)]
        with self.connection(write=True) as connection:
            number = entered(connection, signature, values.shape[1], self.path)
            rows = sorted(zip(keys, blobs, strict=True), key=itemgetter(0))  # neighbours share a page
            insert = f"INSERT OR IGNORE INTO score VALUES ({number}, ?, ?, {day})"
            connection.executemany(insert, rows)


def _select(n: int) -> str:
    return f"SELECT key, value FROM score WHERE signature = ? AND key IN ({','.join('?' * n)})"


def _number(connection: sqlite3.Connection, signature: str, width: int, path: Path) -> int | None:
    """The number of a signature; None where it has no scores yet."""
    row = connection.execute("SELECT id, width FROM signature WHERE signature = ?", [signature]).fetchone()
    if row is not None and row[1] != width:
        raise DataError(f"a score of {signature} is {row[1]} numbers here, and {width} are meant; remove the old ones "
                        f"(anhelpers store prune --signature '{signature}').", path)  # fmt: skip
    return None if row is None else row[0]


def entered(connection: sqlite3.Connection, signature: str, width: int, path: Path) -> int:
    """The number of a signature, which is entered if new."""
    connection.execute(
        "INSERT OR IGNORE INTO signature (signature, width, created) VALUES (?, ?, ?)",
        [signature, width, int(time.time())],
    )
    return _number(connection, signature, width, path) or 0  # there now: ids count from 1


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _opened(path: Path) -> sqlite3.Connection:
    """A connection to a file that is a score store, made if it is not there."""
    if path.is_dir():
        raise DataError("is a folder; name a file in it (--store FILE).", path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be made ({error.strerror}); name another file (--store FILE).", path) from error
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        deadline = time.monotonic() + BUSY_SECONDS
        while _version(connection, path) == 0:
            try:
                _create(connection, path)
            except sqlite3.OperationalError as error:  # SQLite does not wait for another process that makes the log
                if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        connection.execute("PRAGMA synchronous = NORMAL")  # with the log: a power cut can cost a commit, never the file
    except BaseException:
        connection.close()
        raise
    return connection


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """0 for an empty file, else the version of the store."""
    questions = "PRAGMA user_version", "PRAGMA application_id", "SELECT COUNT(*) FROM sqlite_master"
    connection.execute("SAVEPOINT version")  # all three as of one moment: another process may just be making the file
    (version,), (application,), (tables,) = (connection.execute(question).fetchone() for question in questions)
    connection.execute("RELEASE version")
    if version == application == tables == 0:
        return 0
    if application != APPLICATION:
        raise DataError("is an SQLite file of another program; name another file (--store FILE).", path)
    if version > VERSION:
        raise DataError(f"is a score store of version {version}, and this anhelpers knows up to {VERSION}; update "
                        "anhelpers, or name another file (--store FILE).", path)  # fmt: skip
    return version


def _create(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # so that pruning gives space back without a copy
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise DataError(f"cannot keep a write-ahead log (SQLite says '{mode}'), as on network file systems; name a "
                        "file on a local disk (--store FILE).", path)  # fmt: skip
    with _transaction(connection):
        if _version(connection, path) == 0:
            for statement in TABLES.split(";")[:-1]:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Errors of SQLite as one sentence with the file."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", None) or ""
        said = next((text for begin, text in SAID.items() if name.startswith(begin)), f"cannot be used ({error})")
        raise DataError(f"{said}.", path) from error
