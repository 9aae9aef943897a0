"""Where the files lie that come with the package."""

from __future__ import annotations

from functools import cache
from pathlib import Path, PurePosixPath

from ..errors import DataError, UnknownName

__all__ = ["bundled"]


def bundled(name: str) -> Path:
    """The path of a file or folder that comes with the package, e.g. "teaching" or "teaching/en-de/mono.de.txt".

    In a checkout it lies in ``data/``, in an installed package in ``anhelpers/_bundle/data/``.
    """
    root, wanted = _bundle_root(), PurePosixPath(name)
    if wanted.is_absolute() or ".." in wanted.parts:
        raise DataError(
            f"'{name}' is no name of a bundled file; names are relative, like "
            "teaching/en-de/mono.de.txt."
        )
    path = root / wanted
    if not path.exists():
        beside = path.parent if path.parent.is_dir() else root
        raise UnknownName("bundled file", path.name, (p.name for p in beside.iterdir()))
    return path


@cache
def _bundle_root() -> Path:
    """The package's own data folder."""
    package = Path(__file__).resolve().parents[1]
    for root, mark in (
        (package / "_bundle" / "data", package),
        (package.parent / "data", package.parent / "pyproject.toml"),
    ):
        if root.is_dir() and mark.exists():
            return root
    raise DataError(
        "the package's data folder is missing; install anhelpers again, or work in a full "
        "checkout.",
        package,
    )
