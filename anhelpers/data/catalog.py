"""Data sets by name: where each lies, whether it is here, and how to load it.

The teaching set comes with the package; WMT's texts do not, and are looked for in the folder that ANHELPERS_DATA names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path, PurePosixPath

from .. import checks
from ..errors import DataError, UnknownName, nearest
from .candidates import JSONL, from_systems, read_candidate_file, read_candidates
from .lines import read_lines
from .mme import is_mme, read_mme
from .schema import CandidateSet, TestSet
from .wmt import language_pairs, read_wmt

__all__ = ["ENVIRONMENT", "available", "bundled", "load", "load_candidates", "load_mono", "shared_data"]

ENVIRONMENT = "ANHELPERS_DATA"
"""The environment variable that names the folder of data sets that the package may not carry."""


@dataclass(frozen=True)
class Entry:
    """One named data set: a WMT text tree, in the package or in the shared folder."""

    lp: str
    tree: str
    note: str
    year: int = 2024
    mono: str = ""
    candidates: str = ""
    in_package: bool = False


ENTRIES: Mapping[str, Entry] = {
    "teaching": Entry(
        "en-de", "teaching", "small, made for this course", mono="teaching/mono.de.txt",
        candidates="teaching/candidates.jsonl", in_package=True,
    ),
    "wmt24/en-de": Entry(
        "en-de", "wmt24/txt", "26 systems, refB (standard) and refA; research use", mono="mono/de.original.txt"
    ),
    "wmt24/ja-zh": Entry("ja-zh", "wmt24/txt", "22 systems, reference refA; research use"),
    "wmt23/en-de": Entry(
        "en-de", "wmt23/txt", "12 systems, paragraphs, reference refA; research use", 2023, mono="mono/de.original.txt"
    ),
}  # fmt: skip


def bundled(name: str) -> Path:
    """The path of a file or folder that comes with the package, e.g. "teaching" or "teaching/mono.de.txt".

    In a checkout it lies in ``data/``, in an installed package in ``anhelpers/_bundle/data/``.
    """
    root, wanted = _bundle_root(), PurePosixPath(name)
    if wanted.is_absolute() or ".." in wanted.parts:
        raise DataError(f"'{name}' is no name of a bundled file; names are relative, like teaching/mono.de.txt.")
    path = root / wanted
    if not path.exists():
        beside = path.parent if path.parent.is_dir() else root
        raise UnknownName("bundled file", path.name, (p.name for p in beside.iterdir()))
    return path


def shared_data() -> Path | None:
    """The folder that ANHELPERS_DATA names, or None where it is not set; a DataError where it is no data folder."""
    named = os.environ.get(ENVIRONMENT, "").strip()
    if not named:
        return None
    folder = Path(named).expanduser()
    if not (folder / "MANIFEST.tsv").is_file():
        what = "holds no MANIFEST.tsv" if folder.is_dir() else "does not exist"
        raise DataError(f"this folder, which {ENVIRONMENT} names, {what}; point it at the data folder.", folder)
    return folder


def load(name: str | PathLike, lp: str | None = None, reference: str | None = None) -> TestSet:
    """A test set by name, or from a path: a WMT tree, a directory of mt-metrics-eval, or self-contained JSONL.

    Parameters
    ----------
    name : "teaching", "wmt24/en-de", "wmt24/ja-zh", "wmt23/en-de", or a path.
    lp : language pair of a path; needed where a folder holds several.
    reference : the default reference.

    Raises
    ------
    UnknownName : no such data set, language pair or reference. DataError : it is not here, or is broken.
    """
    entry = ENTRIES.get(str(name))
    if entry is None:
        return _load_path(Path(name), lp, reference)
    checks.one_of(lp or entry.lp, [entry.lp], f"language pair of {name}")
    tree = _place(str(name), entry.tree)
    return read_wmt(tree, entry.lp, year=entry.year, reference=reference, name=str(name))


def load_candidates(name: str | PathLike, lp: str | None = None) -> CandidateSet:
    """Candidates by name, or from a path: the bundled ones of "teaching"; elsewhere each system's output is one."""
    entry = ENTRIES.get(str(name))
    if entry is not None and entry.candidates:
        return read_candidates(_place(str(name), entry.candidates), srcs=load(name).srcs)
    if entry is None and Path(name).is_file():
        return read_candidates(name)
    return from_systems(load(name, lp))


def load_mono(name: str | PathLike) -> tuple[str, ...]:
    """The monolingual reference R of a data set: texts written in the target language; or the lines of a file."""
    entry = ENTRIES.get(str(name))
    if entry is None:
        if not Path(name).is_file():
            raise UnknownName("data set", str(name), ENTRIES)
        return read_lines(name)
    if not entry.mono:
        raise DataError(
            f"{name} has no monolingual reference here; give a file of texts written in its target language."
        )
    return read_lines(_place(str(name), entry.mono))


def available() -> list[dict[str, object]]:
    """Each named data set: its name, where it lies (a path below the package's or the shared data), present, note."""
    rows = []
    for name, entry in ENTRIES.items():
        where = "package" if entry.in_package else ENVIRONMENT
        try:
            present = entry.lp in language_pairs(_place(name, entry.tree))
        except (DataError, UnknownName):
            present = False
        rows.append({"name": name, "where": f"{where}: {entry.tree}", "present": present, "note": entry.note})
    return rows


def _place(name: str, path: str) -> Path:
    """Where a part of a named data set lies, or a DataError saying what is missing."""
    if ENTRIES[name].in_package:
        return bundled(path)
    root = shared_data()
    if root is None or not (root / path).exists():
        where = f"{ENVIRONMENT} is not set" if root is None else f"there is no {path} in it"
        raise DataError(
            f"{name} is not here; set {ENVIRONMENT} to a folder with MANIFEST.tsv and {path} ({where}).", root
        )
    return root / path


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
        "the package's data folder is missing; install anhelpers again, or work in a full checkout.", package
    )


def _load_path(path: Path, lp: str | None, reference: str | None) -> TestSet:
    """A test set from a path."""
    if path.is_dir():
        pairs = language_pairs(path)
        if lp is None and len(pairs) != 1:
            raise DataError(f"holds {len(pairs)} language pairs ({', '.join(sorted(pairs))}); say which with lp.", path)
        pair = lp or next(iter(pairs))
        return read_mme(path, pair, reference=reference) if is_mme(path) else read_wmt(path, pair, reference=reference)
    if not path.exists():
        hint = nearest(str(path), ENTRIES) or f"; names: {', '.join(ENTRIES)}."
        raise DataError(f"neither a known data set nor a path that exists{hint}", path)
    test, _ = read_candidate_file(path, lp) if path.suffix in JSONL else (None, None)
    if test is None:
        raise DataError('holds no sources; give a folder, or JSONL with "src", "refs" and "candidates" per line.', path)
    return test.with_reference(reference) if reference else test
