"""Download named data sets into the cache: each file pinned to a commit and verified; what is there already stays."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import quote, urlsplit

from ..errors import DataError
from ..progress import say as _say
from .catalog import find_file, licence_of, note_of, remote_files, shared_data
from .download import Patience, download
from .manifest import (
    ENVIRONMENT,
    MIRROR,
    OFFLINE,
    RemoteFile,
    cache_folder,
    fault,
    megabytes,
    missing,
)

__all__ = ["BASE", "fetch_data"]

BASE = "https://raw.githubusercontent.com"
"""Where files of public repositories are served as REPO/COMMIT/PATH."""


def fetch_data(
    names: str | Sequence[str],
    *,
    base: str | None = None,
    offline: bool | None = None,
    patience: Patience | None = None,
    say: Callable[[str], object] = _say,
) -> dict[str, Path]:
    """Download what is missing of data sets; name -> where each lies then, as `find_file` says.

    Parameters
    ----------
    names : of `anhelpers data`, e.g. "wmt24/en-de" or ["xmi", "mqm/ted-ende"].
    base : another place that serves REPO/COMMIT/PATH; by default what ANHELPERS_MIRROR says, or GitHub. A user and
        password in it (https://NAME:PASSWORD@HOST) are given to that host alone, and never shown.
    offline : never open a connection, only say what is missing; by default what ANHELPERS_OFFLINE says.
    patience : time-outs, attempts and pauses.
    say : is told licences, repeated attempts and what was found, in sentences.

    Raises
    ------
    UnknownName : no such data set (before anything is loaded). DataError : wrong bytes, no room, missing while offline.
    AnhelpersError : no network. Files that were complete before stay; the next call goes on with the rest.
    """
    names = [names] if isinstance(names, str) else list(dict.fromkeys(names))
    for name in names:
        note_of(name)
    if offline is None:
        offline = os.environ.get(OFFLINE, "").strip() not in ("", "0")
    base = (
        _checked(base, "base")
        if base
        else _checked(os.environ.get(MIRROR, "").strip() or BASE, MIRROR)
    )

    def get(row: RemoteFile, what: str) -> None:
        url, target = f"{base}/{row.repo}/{row.commit}/{quote(row.path)}", cache_folder() / row.file
        download(url, target, row, say=say, patience=patience or Patience(), what=what)

    return {name: _fetch_set(name, say, None if offline else get) for name in names}


def _fetch_set(
    name: str, say: Callable[[str], object], get: Callable[[RemoteFile, str], None] | None
) -> Path:
    """Get what is missing of one data set; without `get` only say what that is."""
    rows, root, shared = remote_files(name), cache_folder(), shared_data()
    if not rows or (shared is not None and not missing(shared, rows)):
        place = find_file(name)
        kept = {shared: f"is in {ENVIRONMENT}", root: "is among the downloads"}
        whose = next(
            (told for folder, told in kept.items() if folder in place.parents),
            "comes with the package",
        )
        say(f"{name} {whose}: nothing to download.")
        return place
    wrong = {row: seen for row in rows if (seen := fault(root / row.file, row))}
    for row, seen in wrong.items():
        if (root / row.file).exists():
            say(f"{root / row.file} {seen}: it is replaced once the right one is here.")
    if not wrong:
        say(f"{name}: all {len(rows)} files are here and verified.")
    elif get is None:
        first = next(iter(wrong)).file
        raise DataError(
            f"{len(wrong)} of the {len(rows)} files of {name} are missing or wrong (first: "
            f"{first}) and downloading is switched off (--offline or {OFFLINE}); run `anhelpers "
            f"fetch {name}` with a network.",
            root,
        )
    else:
        _get_all(name, list(wrong), say, get)
    return find_file(name)


def _get_all(
    name: str,
    rows: list[RemoteFile],
    say: Callable[[str], object],
    get: Callable[[RemoteFile, str], None],
) -> None:
    """Say from where and under which terms, then get file after file."""
    files = "1 file" if len(rows) == 1 else f"{len(rows)} files"
    sources = ", ".join(sorted({f"github.com/{row.repo} at {row.commit[:12]}" for row in rows}))
    say(
        f"{name}: {files}, {megabytes(row.size for row in rows)}, from {sources}. Licence: "
        f"{licence_of(name)}."
    )
    try:
        for number, row in enumerate(rows, 1):
            get(row, f"{name}, file {number} of {len(rows)}")
    except KeyboardInterrupt:
        say(f"{name}: stopped; what was received is kept, and the same command goes on from there.")
        raise


def _checked(base: str, what: str) -> str:
    """A base address without its last slash, or a DataError that says what is wrong, without its user and password."""
    shown = re.sub(r"(?s)^(\w*:?/*).*@", r"\1…@", base)
    wrong = DataError(f"{what} is '{shown}'; an address like {BASE} is wanted.")
    try:
        parts = urlsplit(base)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:
        # brackets that are not closed, a port that is none, a host with an empty part
        raise wrong from None
    if (
        parts.scheme not in ("http", "https")
        or not host
        or port == 0
        or parts.query
        or parts.fragment
    ):
        raise wrong
    # a password with a slash ends before its end
    if "@" in parts.path or re.search(r"[\s\x00-\x1f\x7f]", base):
        raise wrong
    return f"{parts.scheme}://{parts.netloc}{quote(parts.path, safe='/%~')}".rstrip("/")
