"""Cache of model scores: one SQLite file, keyed by the metric's signature and the texts that were scored."""

import os
import re
import sqlite3
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..data.fetch import cache_folder
from ..errors import DataError
from ..progress import note_once, progress
from .cluster import _computed, _connected

STORE = "ANHELPERS_STORE"
"""The environment variable that names the cache file, or is "off"; unset: `cache.sqlite` in the cache folder."""

IN_MEMORY = "in-memory"
"""The revision of a model that was made in this process: its scores are not cached."""

OFFERS: dict[str, Callable[[str], dict]] = {}
"""Test set -> (signature -> its texts with stored scores), looked up before the cache files."""

COMMIT_EVERY = 5.0  # seconds; a killed run loses at most this much work and the batch in flight
CHUNK = 256  # inputs per call of a scorer without its own batches
SHARED = 16  # or a 64th of all, where a cluster's workers share the calls
TABLES = """
CREATE TABLE IF NOT EXISTS signature (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS score (signature INTEGER, key BLOB, value BLOB, PRIMARY KEY (signature, key)) WITHOUT ROWID;
"""

Input = TypeVar("Input", bound="str | tuple[str, ...]")


def cache_file() -> Path | None:
    """Path of the cache: $ANHELPERS_STORE, by default in the user's cache folder; None if it is "off"."""
    named = os.environ.get(STORE, "").strip()
    if named.lower() == "off":
        return None
    return Path(named).expanduser() if named else cache_folder() / "cache.sqlite"


def _key(text: str | tuple[str, ...]) -> bytes:
    """16 bytes (BLAKE2b) that identify a text or a tuple of texts; each part is hashed with its length.

    >>> _key(("a", "bc")) == _key(("ab", "c")), len(_key(""))
    (False, 16)
    """
    parts = (text,) if isinstance(text, str) else text
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    joined = b"".join([b"%d:%b" % (len(part), part) for part in encoded])
    return blake2b(joined, digest_size=16).digest()


def signatures(path: Path) -> list[str]:
    """The signatures that a cache file has scores of, in alphabetical order."""
    with _opened(path) as db:
        return sorted(text for (text,) in db.execute("SELECT text FROM signature"))


def cached(
    signature: str,
    inputs: Sequence[Input],
    compute: Callable[[list[Input]], ArrayLike],
    *,
    width: int = 1,
    batches: Callable[[list[Input]], Iterable[Sequence[Input]]] | None = None,
    what: str = "",
    bundled: Path | None = None,
) -> np.ndarray:
    """Score inputs through the cache: deduplicate, look up, compute the rest and commit as it is computed.

    New scores are committed every 5 s, at the end and when interrupted, so that a stopped run resumes. Nothing is read
    or written if the cache is off, or if a part ``rev:`` of the signature is not a fixed revision (7 hex digits).
    Inside `cluster.connect` the batches are computed by the cluster's workers.

    Parameters
    ----------
    signature : everything that determines a score except the input.
    inputs : n texts, or tuples of texts: all that the scorer reads.
    compute : m distinct inputs -> (m, width) scores, or (m,) for width 1. It raises for scores that are not to be kept.
    batches : distinct inputs without a score -> the inputs of each call of `compute`; by default 256 at a time.
    what : label of the progress bar, by default the signature.
    bundled : a read-only cache file that is looked up first, such as one beside a bundled model.

    Returns
    -------
    (n, width) float64.

    Raises
    ------
    DataError if `compute` returns a different shape, if `batches` leaves inputs out, and if a named cache file cannot
    be read or written. A default cache file that cannot be used is reported once, and scores are then not cached.

    >>> cached("length", ["a", "bc", "a"], lambda texts: [len(text) for text in texts]).ravel()
    array([1., 2., 1.])
    """
    found: dict[Input, np.ndarray] = {}
    distinct = list(dict.fromkeys(inputs))
    for known in [offered(signature) for offered in OFFERS.values()]:
        found |= {x: known[x] for x in distinct if x in known}
    path = cache_file() if _fixed(signature) else None
    if bundled is not None and cache_file() is not None:
        found |= _looked_up(bundled, signature, [x for x in distinct if x not in found], width)
    if path is not None and path.exists() and path.stat().st_size:
        found |= _looked_up(path, signature, [x for x in distinct if x not in found], width)
    missing = [x for x in distinct if x not in found]
    calls = [list(call) for call in (batches or _chunks)(missing)] if missing else []
    unsaved: dict[Input, np.ndarray] = {}
    last = time.monotonic()
    with progress(len(missing), what or signature, "scores") as step:
        try:
            for call, scores in _computed(compute, calls):
                values = np.asarray(scores, np.float64).reshape(len(call), width)
                unsaved |= zip(call, values, strict=True)
                step(len(call))
                if time.monotonic() - last > COMMIT_EVERY:
                    found |= _saved(path, signature, unsaved)
                    last, unsaved = time.monotonic(), {}
        finally:
            found |= _saved(path, signature, unsaved)
    return np.stack([found[x] for x in inputs]) if inputs else np.empty((0, width))


def _fixed(signature: str) -> bool:
    """Whether every ``rev:`` of a signature is a commit, so that the same signature always means the same model."""
    return not re.search(r"(?:^|\|)rev:(?![0-9a-f]{7,}(?:\||$))", signature)


def _chunks(inputs: list[Input], size: int = CHUNK) -> Iterator[list[Input]]:
    size = min(size, max(SHARED, len(inputs) // 64)) if _connected() else size
    return (inputs[i : i + size] for i in range(0, len(inputs), size))


def groups(label: Callable[[Input], Hashable]) -> Callable[[list[Input]], Iterator[list[Input]]]:
    """Batches of at least 256 inputs in which all inputs of one label are together, such as those of one source."""

    def batches(inputs: list[Input]) -> Iterator[list[Input]]:
        members: dict[Hashable, list[Input]] = {}
        for one in inputs:
            members.setdefault(label(one), []).append(one)
        batch: list[Input] = []
        for some in members.values():
            batch += some
            if len(batch) >= CHUNK:
                yield batch
                batch = []
        if batch:
            yield batch

    return batches


@contextmanager
def _opened(path: Path, mode: str = "rw") -> Iterator[sqlite3.Connection]:
    """A connection to a cache file; SQLite's errors become a DataError."""
    try:
        if mode == "rwc":
            path.parent.mkdir(parents=True, exist_ok=True)
        uri = f"{path.absolute().as_uri()}?mode={mode}"
        with closing(sqlite3.connect(uri, timeout=60, uri=True)) as db:
            yield db
    except (sqlite3.Error, OSError) as error:
        told = f"the score cache cannot be used: {error}. Set {STORE}=off, or delete it if no run uses it."
        raise DataError(told, path) from error


def _looked_up(
    path: Path, signature: str, inputs: Sequence[Input], width: int
) -> dict[Input, np.ndarray]:
    """The scores of those inputs that a cache file has."""
    query = """SELECT value FROM score WHERE key = ? AND length(value) = ?
               AND signature = (SELECT id FROM signature WHERE text = ?)"""
    found = {}
    with _reported(path), _opened(path) as db:
        for one in inputs:
            if row := db.execute(query, (_key(one), 8 * width, signature)).fetchone():
                found[one] = np.frombuffer(row[0], "<f8")
    return found


def _saved(
    path: Path | None, signature: str, scores: dict[Input, np.ndarray]
) -> dict[Input, np.ndarray]:
    """The scores themselves, written to the cache file in one transaction if there is one."""
    if path is None or not scores:
        return scores
    with _reported(path), _opened(path, "rwc") as db:
        db.executescript(TABLES)
        with db:
            db.execute("INSERT OR IGNORE INTO signature (text) VALUES (?)", (signature,))
            (number,) = db.execute(
                "SELECT id FROM signature WHERE text = ?", (signature,)
            ).fetchone()
            rows = (
                (number, _key(one), value.astype("<f8").tobytes()) for one, value in scores.items()
            )
            db.executemany("INSERT OR REPLACE INTO score VALUES (?, ?, ?)", rows)
    return scores


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Report the failure of a default cache file once instead of raising it."""
    try:
        yield
    except DataError as error:
        if os.environ.get(STORE, "").strip():
            raise
        note_once(f"scores are not cached: {error}")
