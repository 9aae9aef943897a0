"""The list of files that can be downloaded: where each comes from, where it goes, and what proves that it is right."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path, PurePosixPath

from ..checks import local_path
from ..errors import DataError
from .lines import table_lines

__all__ = [
    "CACHE",
    "ENVIRONMENT",
    "MIRROR",
    "OFFLINE",
    "RemoteFile",
    "cache_folder",
    "fault",
    "megabytes",
    "missing",
    "read_manifest",
]

CACHE = "ANHELPERS_CACHE"
"""The environment variable that names the folder of downloaded data sets, where the platform's own will not do."""

ENVIRONMENT = "ANHELPERS_DATA"
"""The environment variable that names the folder of data sets that the package may not carry."""

MIRROR, OFFLINE = "ANHELPERS_MIRROR", "ANHELPERS_OFFLINE"
"""The environment variables that name another server of the files, and that forbid every connection ("0" and "" do
not)."""


@dataclass(frozen=True)
class RemoteFile:
    """One file of a public git repository, pinned to a commit.

    Parameters
    ----------
    dataset : the set to which it belongs, e.g. "wmt24/en-de".
    file : its path below the data folder, with slashes.
    repo, commit, path : owner/name, 40 hex digits, and the path there.
    size : bytes, or None where not known beforehand.
    git_blob_sha1 : sha1 of ``b"blob SIZE\\0"`` and the content: git's own id of it.
    sha256 : of the content; empty where not known beforehand.
    licence : what its owners say, or that they say nothing.
    """

    dataset: str
    file: str
    repo: str
    commit: str
    path: str
    size: int | None
    git_blob_sha1: str
    sha256: str
    licence: str


COLUMNS = [field.name for field in fields(RemoteFile)]
FORMS = {  # column -> the form of its values, and how to call that in a sentence
    "dataset": (r"[\w.-]+(/[\w.-]+)?", "a name like wmt24/en-de"),
    "repo": (r"[\w.-]+/[\w.-]+", "owner/name"),
    "commit": (r"[0-9a-f]{40}", "40 hex digits"),
    "size": (r"\d*", "a number of bytes or empty"),
    "git_blob_sha1": (r"[0-9a-f]{40}", "40 hex digits"),
    "sha256": (r"([0-9a-f]{64})?", "64 hex digits or empty"),
    "licence": (r"\S.*", "the licence, or that none is stated"),
}


def read_manifest(path: str | PathLike) -> tuple[RemoteFile, ...]:
    """The rows of a manifest, a tab-separated file with the columns of RemoteFile.

    Every value has its form, paths stay inside the data folder, and no file is listed twice; a DataError names the
    first line where that is not so.
    """
    lines = table_lines(path)
    if not lines or lines[0].split("\t") != COLUMNS:
        seen = lines[0] if lines else "nothing"
        raise DataError(
            f"the first line must name the columns {' '.join(COLUMNS)}, and is '{seen}'.", path, 1
        )
    rows: dict[str, RemoteFile] = {}
    for number, line in enumerate(lines[1:], 2):
        try:
            row = _row(line)
        except ValueError as error:
            raise DataError(f"{error}.", path, number) from None
        if row.file in rows:
            raise DataError(f"{row.file} is listed twice.", path, number)
        rows[row.file] = row
    return tuple(rows.values())


def _row(line: str) -> RemoteFile:
    """One row, or a ValueError that says what is wrong with it."""
    values = line.split("\t")
    if len(values) != len(COLUMNS):
        raise ValueError(f"{len(values)} columns instead of {len(COLUMNS)}")
    named = dict(zip(COLUMNS, values, strict=True))
    for column, (form, wanted) in FORMS.items():
        if not re.fullmatch(form, named[column], re.ASCII):
            raise ValueError(f"{column} is '{named[column]}' instead of {wanted}")
    for column in ("file", "path"):
        place = PurePosixPath(named[column])
        # a colon or a backslash would be a drive, a stream or a folder on Windows
        if (
            place.is_absolute()
            or str(place) != named[column]
            or {"..", "."} & {*place.parts, str(place)}
        ):
            raise ValueError(f"{column} '{named[column]}' is no plain relative path")
        if re.search(r'[\\:*?"<>|\x00-\x1f]', named[column]):
            raise ValueError(
                f"{column} '{named[column]}' has a character that not every system takes"
            )
    size = named.pop("size")
    return RemoteFile(**named, size=int(size) if size else None)


def fault(path: Path, row: RemoteFile) -> str:
    """What is wrong with a file that should be `row`: "" where it is right, else the bytes seen and wanted.

    Decided by sha256, or by the git blob id where only that is known; the size comes first, because it is free.
    """
    if not path.is_file():
        return "is not there"
    size = path.stat().st_size
    if row.size not in (None, size):
        return f"has {size:,} bytes, {row.size:,} are wanted"
    kind, wanted = ("sha256", row.sha256) if row.sha256 else ("git blob id", row.git_blob_sha1)
    digest = (
        hashlib.sha256() if row.sha256 else hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    )
    with path.open("rb") as file:
        hashlib.file_digest(file, lambda: digest)
    seen = digest.hexdigest()
    return "" if seen == wanted else f"has {kind} {seen}, {wanted} is wanted"


def missing(root: Path, rows: Iterable[RemoteFile]) -> list[RemoteFile]:
    """The rows whose files are not below a folder; contents are not looked at."""
    return [row for row in rows if not (root / row.file).is_file()]


def megabytes(sizes: Iterable[int | None]) -> str:
    """The sum of file sizes in words, e.g. "6.5 MB", and how many files have no known size (None)."""
    sizes = list(sizes)
    known = [size for size in sizes if size is not None]
    total = f"{sum(known) / 1e6:.1f} MB" if sum(known) >= 1e5 else f"{sum(known) / 1e3:.0f} kB"
    if len(known) == len(sizes):
        return total
    return (
        f"{total} and {len(sizes) - len(known)} files of unknown size" if known else "size unknown"
    )


def cache_folder() -> Path:
    """Where downloads are kept: the folder that ANHELPERS_CACHE names, or `anhelpers` in this system's cache folder."""
    if named := os.environ.get(CACHE, "").strip():
        return local_path(named)
    variable, below = {
        "win32": ("LOCALAPPDATA", "AppData/Local"),
        "darwin": ("", "Library/Caches"),
    }.get(sys.platform, ("XDG_CACHE_HOME", ".cache"))
    # the XDG specification passes over a relative one, which would be another folder in each working folder
    if (base := Path(os.environ.get(variable, "").strip())).is_absolute():
        return base / "anhelpers"
    try:
        return Path.home() / below / "anhelpers"
    except RuntimeError:
        raise DataError(
            f"no home folder is known to keep downloads in; set {CACHE} to a folder."
        ) from None
