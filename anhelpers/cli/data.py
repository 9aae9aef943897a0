"""`anhelpers data`: which data sets there are, where each lies, and how to get it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..data.manifest import RemoteFile

EXAMPLE = "anhelpers data wmt24/en-de"


def options(parser: argparse.ArgumentParser) -> None:
    """One name, or none for all."""
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="also list the files of this set, and verify them"
    )


def run(args: argparse.Namespace) -> None:
    """Print two lines per set, or a line per file of one."""
    from ..data.sets import ENTRIES, FILES

    lines = [
        line
        for name in ([args.name] if args.name else [*ENTRIES, *FILES])
        for line in _set_lines(name)
    ]
    print("\n".join([*lines, *(_file_lines(args.name) if args.name else [])]))


def _set_lines(name: str) -> list[str]:
    """What a set is; then how large, under which licence, and where it is or how to get it."""
    from ..data.catalog import licence_of, note_of, remote_files, whereabouts
    from ..data.manifest import megabytes

    place, files = whereabouts(name), _files(name)
    here = [path for path in files if path.is_file()]
    sizes = [
        path.stat().st_size if path in here else row.size if row else None
        for path, row in files.items()
    ]
    count = "1 file" if len(files) == 1 else f"{len(files)} files"
    facts = f"{count}, {megabytes(sizes)}; " if files else ""
    where = f"{'' if len(here) == len(files) else f'{len(here)} of them '}in {place}"
    get = f"anhelpers fetch {name}" if remote_files(name) else "cannot be downloaded from one place"
    facts += f"licence: {licence_of(name)}; {where if place else f'not here: {get}'}"
    return [f"{name:<20} {note_of(name)}", f"{'':<20} {facts}"]


def _file_lines(name: str) -> list[str]:
    """Each file of a set: whether it is right, its size, its path."""
    from ..data.manifest import fault

    lines = []
    for path, row in _files(name).items():
        here = path.is_file()
        state = (
            "not here" if not here else "here" if row is None else (fault(path, row) or "verified")
        )
        size = path.stat().st_size if here else row.size if row else None
        lines.append(f"{state:<10} {'?' if size is None else format(size, ','):>11}  {path}")
    return lines


def _files(name: str) -> dict[Path, RemoteFile | None]:
    """The files of a set, where they are or would be, each with its row of the manifest, or None where it has none."""
    from ..data.catalog import remote_files, shared_data, whereabouts
    from ..data.manifest import cache_folder

    place, rows, shared = whereabouts(name), remote_files(name), shared_data()
    if rows:
        root = (
            shared
            if shared is not None and place is not None and shared in place.parents
            else cache_folder()
        )
        return {root / row.file: row for row in rows}
    below = (
        sorted(place.rglob("*"))
        if place is not None and place.is_dir()
        else [place]
        if place
        else []
    )
    return {path: None for path in below if path.is_file()}
