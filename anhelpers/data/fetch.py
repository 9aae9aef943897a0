"""Files of data sets: bundled, in the folder ANHELPERS_DATA, or downloaded.

The manifest ``data/manifest.tsv`` pins every downloadable file to a commit and, where known, a checksum.
"""

import csv
import hashlib
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from ..checks import one_of
from ..errors import AnhelpersError, DataError
from ..progress import progress
from .io import make_folder

CACHE, DATA = "ANHELPERS_CACHE", "ANHELPERS_DATA"
"""Environment variables: the folder of downloads, and a folder of data sets that the package may not bundle."""
MIRROR, OFFLINE = "ANHELPERS_MIRROR", "ANHELPERS_OFFLINE"
"""Environment variables: a different server of the files, and "1" to forbid every connection."""
GITHUB = "https://raw.githubusercontent.com"


class _RemoteFile(NamedTuple):
    """One file of a public git repository, a row of the manifest.

    Without sha256 the git blob id is its checksum; without both only the commit is pinned.
    """

    dataset: str
    file: str
    repo: str
    commit: str
    path: str
    size: str
    git_blob_sha1: str
    sha256: str
    licence: str


def bundled(name: str) -> Path:
    """Return the path of a bundled file or folder, such as "teaching/en-de".

    Raises
    ------
    UnknownName : no such file.
    """
    root = _bundle_root()
    path = root / name
    inside = path.is_relative_to(root) and ".." not in path.parts
    beside = path.parent if path.parent.is_dir() else root
    one_of(path.name, [p.name for p in beside.iterdir() if inside], "bundled file")
    return path


@cache
def _bundle_root() -> Path:
    """The data folder of a checkout, or of an installed package."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "_bundle" / "data"
    return installed if installed.is_dir() else package.parent / "data"


def _shared_data() -> Path | None:
    """Return the folder that ANHELPERS_DATA names; None if the variable is not set."""
    named = os.environ.get(DATA, "").strip()
    folder = Path(os.path.expanduser(named))
    if named and not (folder / "MANIFEST.tsv").is_file():
        raise DataError(f"{DATA} names no data folder: MANIFEST.tsv is missing.", named)
    return folder if named else None


def cache_folder() -> Path:
    """Return the folder of downloads: ANHELPERS_CACHE, or the user's cache folder."""
    from platformdirs import user_cache_path

    named = os.environ.get(CACHE, "").strip()
    kept = os.path.expanduser(named) or user_cache_path("anhelpers", appauthor=False)
    return Path(kept)


def _remote_files(name: str) -> list[_RemoteFile]:
    """Return the downloadable files of a data set; empty if there are none."""
    with bundled("manifest.tsv").open(encoding="utf-8", newline="") as file:
        rows = map(_RemoteFile._make, csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        return [row for row in rows if row.dataset == name]


def _download(rows: Iterable[_RemoteFile], what: str) -> None:
    """Download the missing or damaged files in `cache_folder`, and verify those with a checksum.

    Parameters
    ----------
    what : str
        Shown beside the progress bar.

    Raises
    ------
    DataError : a file is missing and ANHELPERS_OFFLINE is set. AnhelpersError : no network
        connection, or a checksum mismatch.
    """
    import pooch  # type: ignore[import-untyped]

    pooch.get_logger().setLevel("WARNING")
    base, root = os.environ.get(MIRROR, "").strip().rstrip("/") or GITHUB, cache_folder()
    wanted = [row for row in rows if not _intact(root / row.file, row)]
    if wanted and os.environ.get(OFFLINE, "").strip() not in ("", "0"):
        raise DataError(f"{len(wanted)} files are missing and {OFFLINE} is set.", what)
    with progress(len(wanted), what, "files") as step:
        for row in wanted:
            make_folder((root / row.file).parent)
            (root / row.file).unlink(missing_ok=True)
            url = f"{base}/{row.repo}/{row.commit}/{quote(row.path)}"
            source = pooch.create(
                root,
                base,
                registry={row.file: row.sha256 or None},
                urls={row.file: url},
                retry_if_failed=3,
            )
            try:
                source.fetch(row.file)
                reason = "" if _intact(root / row.file, row) else "wrong checksum"
            except (OSError, ValueError) as error:
                reason = type(error).__name__
            if reason:
                (root / row.file).unlink(missing_ok=True)
                told = f"download from {urlsplit(base).netloc.rpartition('@')[2]} failed"
                raise AnhelpersError(f"{row.file}: {told} ({reason}). Retry, or set {DATA}.")
            step(1)


def _intact(path: Path, row: _RemoteFile) -> bool:
    """Whether a file exists, is not empty and has the checksum of the manifest, if any."""
    if not path.is_file():
        return False
    data = path.read_bytes()
    if row.sha256:
        return hashlib.sha256(data).hexdigest() == row.sha256
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False)
    return bool(data) and row.git_blob_sha1 in ("", blob.hexdigest())
