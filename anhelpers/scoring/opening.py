"""The SQLite file of a score store: its tables and their version, how it is made, opened and brought up to date.

Version 2 keeps a checksum with every score. A file of version 1 becomes one of version 2 when it is first opened; an
older anhelpers refuses it from then on, by its version.

A CRC-32 of signature, key and value, kept beside a score, tells a damaged one from a sound one: a flipped bit is seen,
a value of another size, and one that has come to another key or signature. Scores that were kept before there were
checksums get one as they are found, with a mark: it guards them from then on, and cannot say what was before.
"""

from __future__ import annotations

import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import DataError
from ..progress import note

__all__ = [
    "APPLICATION",
    "BUSY_SECONDS",
    "DAMAGED",
    "FOUND",
    "STANDING",
    "UNVERIFIED",
    "VERIFIED",
    "VERSION",
    "begun",
    "checksum",
    "one_sentence_errors",
    "opened",
    "standing",
    "transaction",
]

DAMAGED, UNVERIFIED, VERIFIED = range(3)
"""The standing of a stored score: its checksum does not fit; fits what was found without one; fits what was computed.
Of two scores of one key, that of the higher standing is kept."""

FOUND = 1 << 32
"""Added to the checksum of a score that was found without one."""


def begun(signature: str, width: int) -> int:
    """The CRC-32 of a signature and of how many numbers its scores have (`width`), with which theirs begin."""
    return zlib.crc32(b"%d:%b" % (width, signature.encode("utf-8", "surrogatepass")))


def checksum(start: int, key: bytes, value: bytes) -> int:
    """The CRC-32 of a score: of its signature, its key and the bytes of its numbers.

    Parameters
    ----------
    start : of the signature, from `begun`. key : 16 bytes of `store.key`. value : 8 bytes for each number.

    >>> checksum(begun("a", 3), b"b", b"c") == zlib.crc32(b"3:abc")
    True
    """
    return zlib.crc32(key + value, start)


def standing(start: int, key: object, value: object, kept: object) -> int:
    """DAMAGED, UNVERIFIED or VERIFIED: what the checksum that was kept says of a score.

    Parameters
    ----------
    start : of the signature, from `begun`.
    key, value, kept : as they were read, whatever they are: a damaged file may hold any value anywhere.
    """
    if type(key) is not bytes or type(value) is not bytes or not value:
        return DAMAGED
    wanted = checksum(start, key, value)
    return VERIFIED if kept == wanted else UNVERIFIED if kept == wanted | FOUND else DAMAGED


VERSION = 2
"""Of the tables below; a file says its own in `user_version`."""

APPLICATION = 0x616E6870
""""anhp": how an SQLite file says (in `application_id`) that it is a score store."""

TABLES = """
CREATE TABLE signature (id INTEGER PRIMARY KEY, signature TEXT NOT NULL UNIQUE, width INTEGER NOT NULL,
                        created INTEGER NOT NULL);
CREATE TABLE score (signature INTEGER NOT NULL REFERENCES signature (id), key BLOB NOT NULL, value BLOB NOT NULL,
                    day INTEGER NOT NULL, checksum INTEGER, PRIMARY KEY (signature, key)) WITHOUT ROWID;
"""

STANDING = (
    "standing({0}, CAST({1}key AS BLOB), CAST({1}value AS BLOB), CAST({1}checksum AS INTEGER))"
)
"""In SQL, of a row: to be given the start of its signature, and the table's name with a dot, or nothing. A damaged row
may hold text or nothing where numbers should be."""

BUSY_SECONDS = 30.0
"""How long a writer waits for another one; a commit takes milliseconds."""

SAID = {  # SQLite's name of an error, or how it begins -> what it means here, and what to do
    "SQLITE_NOTADB": "is no SQLite file, so no score store; name another file (--store FILE) or "
    "move it away",
    "SQLITE_CORRUPT": "is damaged, as happens on network file systems or by copying a store in "
    "use; move it away",
    "SQLITE_READONLY": "cannot be written; make the file and its folder writable, or name another "
    "one (--store FILE)",
    "SQLITE_PERM": "may not be opened; make the file and its folder writable, or name another one "
    "(--store FILE)",
    "SQLITE_CANTOPEN": "cannot be opened; make its folder writable, or name another file (--store "
    "FILE)",
    "SQLITE_FULL": "does not fit on the disk; free some space (anhelpers store prune) and run "
    "again: what was committed is kept",
    "SQLITE_BUSY": f"has been locked by another program for {BUSY_SECONDS:.0f} s; wait for it, or "
    "name another file (--store FILE)",
    "SQLITE_LOCKED": "is locked by another program; wait for it, or name another file (--store "
    "FILE)",
    "SQLITE_PROTOCOL": "cannot be locked; a score store works on a local disk, not on a network "
    "file system",
    "SQLITE_IOERR": "could not be read or written; a score store works on a local disk, not on a "
    "network file system",
}


def opened(path: Path) -> sqlite3.Connection:
    """A connection to a file that is a score store of this version, made or brought up to it."""
    if path.is_dir():
        raise DataError("is a folder; name a file in it (--store FILE).", path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"cannot be made ({error.strerror}); name another file (--store FILE).", path
        ) from error
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        _prepare(connection)
        deadline = time.monotonic() + BUSY_SECONDS
        while (version := _version(connection, path)) < VERSION:
            try:
                (_create if version == 0 else _add_checksums)(connection, path)
            except sqlite3.OperationalError as error:
                # SQLite does not wait for another process that makes the log
                if (
                    not error.sqlite_errorname.startswith("SQLITE_BUSY")
                    or time.monotonic() > deadline
                ):
                    raise
                time.sleep(0.01)
        # with the log: a power cut can cost a commit, never the file
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    """What statements need of Python: checksums, and a name that is no UTF-8 any more as a name all the same."""
    connection.create_function("crc", 3, checksum, deterministic=True)
    connection.create_function("standing", 4, standing, deterministic=True)
    connection.text_factory = lambda text: text.decode("utf-8", "replace")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """0 for an empty file, else the version of the store."""
    questions = "PRAGMA user_version", "PRAGMA application_id", "SELECT COUNT(*) FROM sqlite_master"
    # all three as of one moment: another process may just be making the file
    connection.execute("SAVEPOINT version")
    (version,), (application,), (tables,) = (
        connection.execute(question).fetchone() for question in questions
    )
    connection.execute("RELEASE version")
    if version == application == tables == 0:
        return 0
    if application != APPLICATION:
        raise DataError(
            "is an SQLite file of another program; name another file (--store FILE).", path
        )
    if not 0 < version <= VERSION:
        raise DataError(
            f"is a score store of version {version}, and this anhelpers knows up to {VERSION}; "
            "update anhelpers, or name another file (--store FILE).",
            path,
        )
    return version


def _create(connection: sqlite3.Connection, path: Path) -> None:
    # so that pruning gives space back without a copy
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise DataError(
            f"cannot keep a write-ahead log (SQLite says '{mode}'), as on network file systems; "
            "name a file on a local disk (--store FILE).",
            path,
        )
    with transaction(connection):
        if _version(connection, path) == 0:
            for statement in TABLES.split(";")[:-1]:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")


def _add_checksums(connection: sqlite3.Connection, path: Path) -> None:
    """From version 1: every score gets the checksum of what is found, marked; one of a wrong size gets none."""
    found = 0
    with transaction(connection):
        if _version(connection, path) != 1:
            return
        connection.execute("ALTER TABLE score ADD COLUMN checksum INTEGER")
        for number, name, width in connection.execute(
            "SELECT id, signature, width FROM signature"
        ).fetchall():
            found += connection.execute(
                f"UPDATE score SET checksum = crc(?, key, value) + {FOUND} WHERE signature = ? "
                "AND typeof(key) = 'blob' AND typeof(value) = 'blob' AND length(value) = 8 * ?",
                [begun(name, width), number, width],
            ).rowcount
        connection.execute(f"PRAGMA user_version = {VERSION}")
    if found:
        note(
            f"{path}: its {found:,} scores were kept without checksums, so nobody can say whether "
            "they are as they were computed. They are used as they are, and guarded from now on; "
            "anhelpers store prune --unverified removes them, and they are computed again."
        )


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Inside, all statements count together or not at all; no other process writes meanwhile."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def one_sentence_errors(path: Path) -> Iterator[None]:
    """Errors of SQLite as one sentence with the file."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", None) or ""
        said = next(
            (text for begin, text in SAID.items() if name.startswith(begin)),
            f"cannot be used ({error})",
        )
        raise DataError(f"{said}.", path) from error
