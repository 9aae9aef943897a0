"""Plain parallel files: line i of every file belongs to segment i.

The other layouts (`wmt`, `mme`) only find the files, and hand them to `read_parallel` as a ParallelFiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path

from ..errors import DataError
from .lines import read_lines
from .schema import TestSet

__all__ = ["ParallelFiles", "add_systems", "is_canary", "named_files", "read_documents", "read_parallel", "read_plain"]

Paths = str | PathLike | Iterable[str | PathLike] | Mapping[str, str | PathLike]

CANARY = "CANARY GUID"
"""How WMT24's first line starts: a mark by which a test set is found in training data, and no text of the test."""


@dataclass(frozen=True)
class ParallelFiles:
    """Where the texts of one language pair lie; `docs`, if any, holds ``domain<TAB>document`` lines."""

    src: Path
    refs: Mapping[str, Path]
    systems: Mapping[str, Path]
    docs: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """All of them."""
        return (self.src, *self.refs.values(), *self.systems.values(), *([self.docs] if self.docs else []))


def read_plain(
    src: str | PathLike,
    refs: Paths | None,
    hyps: Paths | None,
    lp: str,
    *,
    docs: str | PathLike | None = None,
    name: str = "",
) -> TestSet:
    """A test set from one file of sources, files of references and files of system outputs.

    Parameters
    ----------
    src : a text file, one segment per line.
    refs, hyps : a path, several, a dict name -> path, or None. A file is called by its name without the last ending;
        ``"NAME=PATH"`` gives it another.
    lp : language pair, e.g. "en-de".
    docs : a file of ``domain<TAB>document`` lines.
    name : of the set; by default that of the source file.

    Raises
    ------
    DataError : a file that is missing, is not UTF-8 or has another number of lines; two files of one name.
    """
    src = Path(src)
    files = ParallelFiles(src, named_files(refs), named_files(hyps), None if docs is None else Path(docs))
    return read_parallel(name or src.stem, lp, files)


def add_systems(test: TestSet, hyps: Paths) -> TestSet:
    """The test set with more systems, from files with a line per segment; a canary before them may be there or not.

    Raises
    ------
    DataError : a file with another number of lines, or a name that is taken.
    """
    added = {}
    for name, path in named_files(hyps).items():
        lines = read_lines(path)
        texts = lines[1:] if is_canary(lines) else lines
        if len(texts) != len(test):
            raise DataError(f"has {len(texts)} lines, and {test.name} has {len(test)} segments; they must align.", path)
        if name in test.systems or name in test.refs:
            raise DataError(f"{test.name} has a '{name}' already; give this one another name, as in mine={path}.", path)
        added[name] = texts
    return replace(test, systems={**test.systems, **added})


def read_parallel(name: str, lp: str, files: ParallelFiles, categories: Mapping[str, str] | None = None) -> TestSet:
    """A test set from its files; a canary is dropped, and must open all of them or none.

    A system that bears a reference's name is that human translator (mt-metrics-eval copies references so).

    Parameters
    ----------
    categories : system -> category.
    """
    lines = {path: read_lines(path) for path in files.paths}
    start = _check_canary(lines, files)
    for path in files.paths:
        if len(lines[path]) != len(lines[files.src]):
            seen = f"has {len(lines[path])} lines, expected {len(lines[files.src])}"
            raise DataError(f"{seen} as in {files.src}; line i of both must belong together.", path)
    documents = read_documents(files.docs, lines[files.docs])[start:] if files.docs else []
    texts = {path: lines[path][start:] for path in files.paths}
    return TestSet(
        name, lp, texts[files.src],
        refs={ref: texts[path] for ref, path in files.refs.items()},
        systems={system: texts[path] for system, path in files.systems.items()},
        domains=tuple(domain for domain, _ in documents), docs=tuple(doc for _, doc in documents),
        categories={s: "human" for s in files.systems if s in files.refs} | dict(categories or {}),
        notes=("The canary, the first line of every file, is left out.",) if start else (),
    )  # fmt: skip


def read_documents(path: str | PathLike, lines: Iterable[str]) -> list[tuple[str, str]]:
    """(domain, document) of each segment, from lines ``domain<TAB>document``; white space may stand for the tab.

    Parameters
    ----------
    lines : of the file at `path`, which errors name.
    """
    pairs = []
    for number, line in enumerate(lines, 1):
        fields = line.split("\t") if "\t" in line else line.split()
        if len(fields) != 2 or not all(field.strip() for field in fields):
            raise DataError(f"'{line}' is no line of the form domain<TAB>document.", path, number)
        pairs.append((fields[0], fields[1]))
    return pairs


def is_canary(lines: tuple[str, ...]) -> bool:
    """Whether the first line of a text file or of a document file is a canary."""
    return bool(lines) and (lines[0].startswith(CANARY) or lines[0].split() == ["canary", "canary"])


def _check_canary(lines: Mapping[Path, tuple[str, ...]], files: ParallelFiles) -> int:
    """1 if every file opens with the canary, 0 if none does; else a DataError naming the file that differs."""
    wanted = is_canary(lines[files.src])
    for path, content in lines.items():
        if is_canary(content) == wanted and (path == files.docs or not wanted or content[0] == lines[files.src][0]):
            continue
        first = content[0] if content else ""
        rule = f"{files.src} starts with the canary '{lines[files.src][0]}'" if wanted else f"{files.src} has no canary"
        raise DataError(f"starts with '{first[:60]}', but {rule}; all files of a tree have it or none.", path, 1)
    return int(wanted)


def named_files(paths: Paths | None) -> dict[str, Path]:
    """Name -> path, in the given order."""
    if paths is None:
        return {}
    if isinstance(paths, Mapping):
        return {name: Path(path) for name, path in paths.items()}
    named: dict[str, Path] = {}
    for given in [paths] if isinstance(paths, (str, PathLike)) else paths:
        name, equals, path = fspath(given).partition("=")
        if not equals or Path(given).exists():
            name, path = Path(given).stem, fspath(given)
        if name in named:
            both = f"{named[name]} and {path} are both called '{name}'"
            raise DataError(f"{both}; give one of them another name, as in {name}2={path}.")
        named[name] = Path(path)
    return named
