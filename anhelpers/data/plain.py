"""Plain parallel files: line i of every file belongs to segment i.

The other layouts (`wmt`, `mme`) only find the files, and hand them to `read_parallel` as a ParallelFiles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path

from ..errors import DataError
from .identify import with_languages
from .languages import UNDETERMINED
from .lines import read_lines
from .schema import TestSet

__all__ = ["ParallelFiles", "add_systems", "is_canary", "named_files", "read_documents", "read_parallel", "read_plain"]

Paths = str | PathLike | Iterable[str | PathLike] | Mapping[str, str | PathLike]

CANARY = "CANARY GUID"
"""How WMT24's first line starts: a mark by which a test set is found in training data, and no text of the test."""


_WMT_NAME = re.compile(r".+\.[^.]+-[^.]+\.(?:hyp|ref)\.(?P<name>.+)")


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
    lp: str | None = None,
    *,
    docs: str | PathLike | None = None,
    name: str = "",
) -> TestSet:
    """A test set from one file of sources, files of references and files of system outputs.

    Parameters
    ----------
    src : a text file, one segment per line.
    refs, hyps : a path, several, a dict name -> path, or None. ``"NAME=PATH"`` names a file, else `named_files` does.
    lp : language pair, e.g. "en-de"; by default it is told from the texts.
    docs : a file of ``domain<TAB>document`` lines.
    name : of the set; by default that of the source file.

    Raises
    ------
    DataError : a file that is missing, is not UTF-8 or has another number of lines; two files of one name.
    LanguageConflict : texts that are in another language than `lp` says.
    """
    src = Path(src)
    files = ParallelFiles(src, named_files(refs), named_files(hyps), None if docs is None else Path(docs))
    return read_parallel(name or src.stem, lp or UNDETERMINED, files)


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
    """A test set from its files, its languages checked; a canary is dropped, and must open all of them or none.

    A system that is a copy of a reference (mt-metrics-eval has such) is of category human.

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
    test = TestSet(
        name, lp, texts[files.src],
        refs={ref: texts[path] for ref, path in files.refs.items()},
        systems={system: texts[path] for system, path in files.systems.items()},
        domains=tuple(domain for domain, _ in documents), docs=tuple(doc for _, doc in documents),
        categories=categories or {},
        notes=("The canary, the first line of every file, is left out.",) if start else (),
    )  # fmt: skip
    human = dict.fromkeys(test.copies, "human")
    return with_languages(replace(test, categories=human | dict(categories or {})))


def read_documents(path: str | PathLike, lines: Iterable[str]) -> list[tuple[str, str]]:
    """(domain, document) of each segment, from lines ``domain<TAB>document``; white space may stand for the tab.

    Parameters
    ----------
    lines : of the file at `path`, which errors name.
    """
    pairs = []
    for number, line in enumerate(lines, 1):
        fields = line.split("\t") if "\t" in line else line.split()
        if len(fields) != 2 or not all(fields):
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
    """Name -> path, in the given order; a file without a name of its own is called by what differs.

    That is its name without the last ending, and without the parts between points with which all names begin or end;
    where nothing else differs, the last ending, or the last folder that does. Of WMT's names it is what follows hyp or ref.

    >>> list(named_files(["wmt22.en-zh.hyp.Online-Y.zh", "ref=r.zh"])), list(named_files(["a/out.de", "b/out.de"]))
    (['Online-Y', 'ref'], ['a', 'b'])
    """
    if paths is None:
        return {}
    if isinstance(paths, Mapping):
        return {name: Path(path) for name, path in paths.items()}
    given = [fspath(path) for path in ([paths] if isinstance(paths, (str, PathLike)) else paths)]
    typed = {one: one.partition("=") for one in given if "=" in one and not Path(one).exists()}
    called = iter(_called([Path(one) for one in given if one not in typed]))
    named: dict[str, Path] = {}
    for one in given:
        name, path = (typed[one][0], typed[one][2]) if one in typed else (next(called), one)
        if name in named:
            both = f"{named[name]} and {path} are both called '{name}'"
            raise DataError(f"{both}; give one of them another name, as in {name}2={path}.")
        named[name] = Path(path)
    return named


def _called(paths: Sequence[Path]) -> list[str]:
    """What each file is called, see `named_files`."""
    stems = [path.stem for path in paths]
    if all(map(_WMT_NAME.fullmatch, stems)):
        return [_WMT_NAME.sub(r"\g<name>", stem) for stem in stems]
    if len(paths) < 2:
        return stems
    if len(set(stems)) == 1:
        endings = [path.suffix[1:] for path in paths]
        if "" not in endings and len(set(endings)) == len(paths):
            return endings
        folders = list(zip(*(reversed(path.absolute().parent.parts) for path in paths), strict=False))
        return list(next((names for names in folders if len(set(names)) == len(paths)), stems))
    parts = [stem.split(".") for stem in stems]
    for end in (0, -1):
        while min(map(len, parts)) > 1 and len({part[end] for part in parts}) == 1:
            for part in parts:
                del part[end]
    return [".".join(part) for part in parts]
