"""Read parallel files, whose line i belongs to segment i, and WMT's SGM and XML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path

from ..errors import DataError
from .io import decode, read_bytes, split_lines, stem_of, suffix_of
from .languages import infer_pair
from .markup import Marked, by_key, marked_set, read_marked
from .schema import TestSet

Paths = str | PathLike | Iterable[str | PathLike] | Mapping[str, str | PathLike]
_CANARY = "CANARY GUID"  # first line of WMT24's files, by which they are found in training data
_WMT_NAME = re.compile(r".+\.[^.]+-[^.]+\.(?:hyp|ref)\.(?P<name>.+)")


@dataclass(frozen=True)
class ParallelFiles:
    """The files of one language pair; `docs` has lines ``domain<TAB>document``."""

    src: Path
    refs: Mapping[str, Path]
    systems: Mapping[str, Path]
    docs: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """All files."""
        docs = [self.docs] if self.docs else []
        return (self.src, *self.refs.values(), *self.systems.values(), *docs)


def read_plain(
    src: str | PathLike,
    refs: Paths | None,
    hyps: Paths | None,
    lp: str | None = None,
    *,
    docs: str | PathLike | None = None,
    name: str = "",
) -> TestSet:
    """Read a test set from files of sources, references and system outputs.

    Parameters
    ----------
    src : path
        A text file with one segment per line, or WMT's SGM or XML, which may hold references and outputs, too.
        Files may be compressed by gzip, xz or zstd.
    refs, hyps : path, sequence of paths, mapping, or None
        A folder stands for its files; ``"NAME=PATH"`` names a file, as a mapping does, else `named_files`.
    lp : str, optional
        Language pair; by default inferred from the texts.
    docs : path, optional
        Lines of ``domain<TAB>document``.
    name : str
        Of the set; by default that of the source file.

    Raises
    ------
    DataError : a missing or malformed file, another number of lines, two files of one name.
    """
    path, name = Path(src), name or stem_of(src)
    files = ParallelFiles(path, named_files(refs), named_files(hyps), Path(docs) if docs else None)
    sources = _read(path)
    if not isinstance(sources, Marked):
        return read_parallel(name, lp, files)
    if docs is not None:
        raise DataError("SGM and XML name their own documents; omit this file.", docs)
    own, outputs = ({n: _read(p) for n, p in kind.items()} for kind in (files.refs, files.systems))
    return marked_set(sources, own, outputs, name, lp)


def read_parallel(
    name: str, lp: str | None, files: ParallelFiles, categories: Mapping[str, str] | None = None
) -> TestSet:
    """Return a test set from plain files; a canary line, and blank lines beyond the shortest file, are left out.

    Parameters
    ----------
    categories : mapping, optional
        System to category.
    """
    lines = {path: _lines(path) for path in files.paths}
    canary = is_canary(lines[files.src])
    for path, found in lines.items():
        if is_canary(found) != canary:
            raise DataError(f"got {'no' if canary else 'a'} canary line, unlike {files.src}.", path)
    n = min(map(len, lines.values()))
    for path, found in lines.items():
        if any(map(str.strip, found[n:])):
            wrong, expected = path, len(lines[files.src])
            if path == files.src:  # too long for another file: name the shortest
                wrong = min(lines, key=lambda one: len(lines[one]))
            said = f"got {len(lines[wrong])} lines, expected {expected} as in {files.src}."
            raise DataError(said, wrong)
    texts = {path: found[canary:n] for path, found in lines.items()}
    refs, systems = ({k: texts[p] for k, p in kind.items()} for kind in (files.refs, files.systems))
    documents = read_documents(files.docs, texts[files.docs], canary) if files.docs else []
    targets = [text for side in (refs or systems).values() for text in side]
    return TestSet(
        name,
        infer_pair(lp, texts[files.src], targets),
        texts[files.src],
        refs,
        systems,
        docs=tuple(doc for _, doc in documents),
        domains=tuple(domain for domain, _ in documents),
        categories=categories or {},
    )


def add_systems(test: TestSet, hyps: Paths) -> TestSet:
    """Return the test set with more systems, from files with a line per segment, or SGM or XML.

    The segments of SGM and XML are counted within their documents.

    Raises
    ------
    DataError : another number of lines, or a name that is taken.
    """
    keys, seen = [], dict.fromkeys(test.docs, 0)
    for doc in test.docs:
        seen[doc] += 1
        keys.append((doc, str(seen[doc])))
    files = {}
    for name, path in named_files(hyps).items():
        found = _read(path)
        if not isinstance(found, Marked):
            found = found[is_canary(found) :]
            found = found if any(map(str.strip, found[len(test) :])) else found[: len(test)]
            if len(found) != len(test):
                raise DataError(f"got {len(found)} lines, expected {len(test)}.", path)
        files[name] = found
    added = by_key(files, keys, "hyp")
    for name, texts in added.items():
        if name in test.systems or name in test.refs:
            raise DataError(f"{name}: the name is taken. Give another, as in mine=FILE.")
        if missing := [key for key in keys if key not in texts]:
            raise DataError(f"{name}: segment {missing[0]} is missing.")
    outputs = {name: tuple(texts[key] for key in keys) for name, texts in added.items()}
    return replace(test, systems={**test.systems, **outputs})


def _read(path: Path) -> Marked | tuple[str, ...]:
    """Return the texts of SGM and XML, the lines of any other file."""
    text = decode(read_bytes(path), path)
    return read_marked(text, path) or split_lines(text)


def _lines(path: Path) -> tuple[str, ...]:
    """Return the lines of a plain text."""
    lines = _read(path)
    if isinstance(lines, Marked):
        raise DataError("got SGM or XML beside sources in plain text.", path)
    return lines


def read_documents(
    path: str | PathLike, lines: Sequence[str], skipped: int = 0
) -> list[tuple[str, str]]:
    """Return (domain, document) of each segment, from lines ``domain<TAB>document``.

    Parameters
    ----------
    skipped : int
        Lines of the file before these.
    """
    pairs = []
    for number, line in enumerate(lines, skipped + 1):
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) != 2 or not all(map(str.strip, cells)):
            raise DataError(f"got '{line:.40}', expected domain<TAB>document.", path, number)
        pairs.append((cells[0], cells[1]))
    return pairs


def is_canary(lines: Sequence[str]) -> bool:
    """Return whether the first line of a file of texts or documents is a canary."""
    return bool(lines) and (lines[0].startswith(_CANARY) or lines[0].split() == ["canary"] * 2)


def named_files(paths: Paths | None) -> dict[str, Path]:
    """Return name -> path; a file without ``NAME=`` is named by the part of its name that differs from the others.

    That is its name without the last ending and without the dotted parts with which all names begin or end; of equal
    names the folder, or the ending. Of WMT's names it is what follows hyp or ref.

    >>> list(named_files(["wmt22.en-zh.hyp.Online-Y.zh", "ref=r.zh"])), list(named_files(["a/out.de", "b/out.de"]))
    (['Online-Y', 'ref'], ['a', 'b'])
    """
    if isinstance(paths, Mapping):
        return {name: Path(path) for name, path in paths.items()}
    listed = [paths] if isinstance(paths, str | PathLike) else list(paths or ())
    given: list[tuple[str, Path]] = []
    for one in (fspath(path) for path in listed):
        name, equals, path = one.partition("=")
        if equals and not Path(one).exists():
            given.append((name, Path(path)))
        elif Path(one).is_dir():
            files = (p for p in Path(one).iterdir() if p.is_file() and p.name[0] != ".")
            given += [("", path) for path in sorted(files)]
        else:
            given.append(("", Path(one)))
    called = iter(_called([path for name, path in given if not name]))
    named: dict[str, Path] = {}
    for name, path in given:
        name = name or next(called)
        if name in named:
            raise DataError(f"two files are named {name}. Name one, as in {name}2={path}.", path)
        named[name] = path
    return named


def _called(paths: Sequence[Path]) -> list[str]:
    """Return the part of each file's name that differs, see `named_files`."""
    stems = [stem_of(path) for path in paths]
    if all(map(_WMT_NAME.fullmatch, stems)):
        return [_WMT_NAME.sub(r"\g<name>", stem) for stem in stems]
    if len(paths) < 2 or any(suffix_of(path) in (".sgm", ".xml") for path in paths):
        return stems
    if len(set(stems)) == 1:
        endings = [path.suffix[1:] for path in paths]
        folders = zip(*(reversed(path.absolute().parent.parts) for path in paths), strict=False)
        return next((list(n) for n in (endings, *folders) if len(set(n)) == len(paths)), stems)
    parts = [stem.split(".") for stem in stems]
    for end in (0, -1):
        while min(map(len, parts)) > 1 and len({part[end] for part in parts}) == 1:
            for part in parts:
                del part[end]
    return [".".join(part) for part in parts]
