"""Plain parallel files: line i of every file belongs to segment i; WMT's SGM and XML go to `markup`.

The other layouts (`wmt`, `mme`) only find the files, and hand them to `read_parallel` as a ParallelFiles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path

from ..errors import DataError
from .languages import UNDETERMINED
from .lines import read_bytes, text_lines
from .markup import Lines, Marked, by_document, marked_set, read_marked
from .packed import stem_of, suffix_of
from .schema import TestSet, with_languages

__all__ = [
    "ParallelFiles",
    "add_systems",
    "aligned",
    "checked",
    "is_canary",
    "named_files",
    "read_documents",
    "read_parallel",
    "read_plain",
    "without_blank_end",
]

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
        return (
            self.src,
            *self.refs.values(),
            *self.systems.values(),
            *([self.docs] if self.docs else []),
        )


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

    Files of WMT's SGM or XML are aligned by document and segment; one that holds references and system outputs as well
    as the sources is a whole test set, of which `refs` and `hyps` replace their part.

    Parameters
    ----------
    src : a text file, one segment per line, or SGM or XML; packed by gzip, xz or zstd if you like.
    refs, hyps : a path, several, a folder of such files, a dict name -> path, or None. ``"NAME=PATH"`` names a file,
        else `named_files` does; SGM and XML name their texts themselves.
    lp : language pair, e.g. "en-de"; by default it is told from the texts.
    docs : a file of ``domain<TAB>document`` lines.
    name : of the set; by default that of the source file.

    Raises
    ------
    DataError : a file that is missing, is not UTF-8 or has another number of lines; two files of one name.
    """
    src = _alone(Path(src))
    files = ParallelFiles(
        src, named_files(refs), named_files(hyps), None if docs is None else Path(docs)
    )
    lp = lp or UNDETERMINED
    contents = {path: read_bytes(path) for path in files.paths}
    marked = {path: found for path, data in contents.items() if (found := read_marked(data, path))}
    name = name or stem_of(src)
    if not marked:
        return read_parallel(name, lp, files, contents=contents)
    if src not in marked:
        first = next(iter(marked))
        raise DataError(
            f"has documents and segments with ids, and {src} is a text without; give the sources "
            "as SGM or XML too, or all as text.",
            first,
        )
    if files.docs is not None:
        raise DataError(
            "SGM and XML bring their own documents; leave out the file of documents.", files.docs
        )
    read: dict[Path, Marked | Lines] = {**marked}
    read |= {path: text_lines(data, path) for path, data in contents.items() if path not in marked}
    return checked(marked_set(marked[src], files.refs, files.systems, read=read, name=name, lp=lp))


def add_systems(test: TestSet, hyps: Paths) -> TestSet:
    """The test set with more systems, from files with a line per segment, with or without a canary line first.

    Those of SGM and XML are aligned by document, and within it by the number of the segment.

    Raises
    ------
    DataError : a file with another number of lines, or a name that is taken.
    """
    added: dict[str, tuple[str, ...]] = {}
    notes: list[str] = []
    for name, path in named_files(hyps).items():
        data = read_bytes(path)
        if marked := read_marked(data, path):
            found = by_document(marked, test, name)
        else:
            lines, said = text_lines(data, path)
            if canary := is_canary(lines):
                lines = lines[1:]
                notes.append(f"{name}: the canary, the first line of {path}, is left out.")
            texts, cut = _first(lines, test, path, told=", its canary aside" * canary)
            found, notes = {name: texts}, [*notes, *said, *cut]
        for system, texts in found.items():
            if system in test.systems or system in test.refs or system in added:
                another = f"give this one another name, as in mine={path}."
                raise DataError(f"{test.name} has a '{system}' already; {another}", path)
            added[system] = texts
    if not added:
        return test
    return replace(test, systems={**test.systems, **added}, notes=(*test.notes, *notes))


def _first(
    lines: tuple[str, ...], test: TestSet, path: Path, told: str
) -> tuple[tuple[str, ...], list[str]]:
    """A line per segment where all others are blank, and a note that counts those; else a DataError."""
    found, cut = without_blank_end(lines, len(test), path)
    if len(found) != len(test):
        raise DataError(
            f"has {len(lines)} lines{told}, and {test.name} has {len(test)} segments; they must align.",
            path,
        )
    return found, list(cut)


def without_blank_end(
    lines: Sequence[str], n: int, path: str | PathLike
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The first n lines where all others are blank, and a note that counts those; else all lines as they are.

    Parameters
    ----------
    lines : of a text file. n : lines of those that belong to it. path : of the file, for the note.
    """
    if len(lines) <= n or any(line.strip() for line in lines[n:]):
        return tuple(lines), ()
    return tuple(lines[:n]), (_cut({Path(path).name: len(lines) - n}),)


def read_parallel(
    name: str,
    lp: str,
    files: ParallelFiles,
    categories: Mapping[str, str] | None = None,
    *,
    contents: Mapping[Path, bytes] | None = None,
) -> TestSet:
    """A test set from its files, its languages checked; a canary is dropped, and must open all of them or none.

    A system that is a copy of a reference (mt-metrics-eval has such) is of category human.

    Parameters
    ----------
    categories : system -> category.
    contents : of the files, where they are at hand.
    """
    read = {
        path: text_lines(contents[path] if contents else read_bytes(path), path)
        for path in files.paths
    }
    whole = {path: lines for path, (lines, _) in read.items()}
    start = _check_canary(whole, files)
    lines, cut = aligned(whole, files.src)
    documents = read_documents(files.docs, lines[files.docs])[start:] if files.docs else []
    texts = {path: found[start:] for path, found in lines.items()}
    canary = ("The canary, the first line of every file, is left out.",) if start else ()
    test = TestSet(
        name,
        lp,
        texts[files.src],
        refs={ref: texts[path] for ref, path in files.refs.items()},
        systems={system: texts[path] for system, path in files.systems.items()},
        domains=tuple(domain for domain, _ in documents),
        docs=tuple(doc for _, doc in documents),
        categories=categories or {},
        notes=(
            *canary,
            *(sentence for _, said in read.values() for sentence in said),
            *cut,
        ),
    )
    return checked(test)


def aligned(
    lines: Mapping[Path, tuple[str, ...]], src: Path
) -> tuple[dict[Path, tuple[str, ...]], tuple[str, ...]]:
    """The lines of files that belong together, the same number of each, and a note for blank ones left out.

    Blank lines at the end of a file are left out where the shortest file ends before them, and nowhere else.

    Parameters
    ----------
    lines : path -> lines. src : the path whose number of lines is expected of the others.
    """
    n = min(map(len, lines.values()))
    if not n or any(line.strip() for found in lines.values() for line in found[n:]):
        for path, found in lines.items():
            if len(found) != len(lines[src]):
                seen = f"has {len(found)} lines, expected {len(lines[src])}"
                raise DataError(f"{seen} as in {src}; line i of both must belong together.", path)
    blank = {path.name: len(found) - n for path, found in lines.items() if len(found) > n}
    return {path: found[:n] for path, found in lines.items()}, (_cut(blank),) if blank else ()


def _cut(blank: Mapping[str, int]) -> str:
    """The note on blank lines at the end of files."""
    counts = ", ".join(f"{name} ({k})" for name, k in blank.items())
    return (
        f"Blank lines at the end are left out, because the other files end before them: {counts}."
    )


def checked(test: TestSet) -> TestSet:
    """Return the test set with undetermined languages inferred, and copies of references marked as human."""
    known = {name: kind for name, kind in test.categories.items() if kind != "unknown"}
    return with_languages(replace(test, categories=dict.fromkeys(test.copies, "human") | known))


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
            raise DataError(
                f"'{line:.60}' is no line of the form domain<TAB>document; write one per segment.",
                path,
                number,
            )
        pairs.append((fields[0], fields[1]))
    if (
        pairs
        and pairs[0][0].casefold() == "domain"
        and pairs[0][1].casefold() in ("doc", "document", "docs")
    ):
        raise DataError(
            "is a header, and line 1 belongs to the first segment; take it out.", path, 1
        )
    return pairs


def is_canary(lines: tuple[str, ...]) -> bool:
    """Whether the first line of a text file or of a document file is a canary."""
    return bool(lines) and (lines[0].startswith(CANARY) or lines[0].split() == ["canary", "canary"])


def _check_canary(lines: Mapping[Path, tuple[str, ...]], files: ParallelFiles) -> int:
    """1 if every file opens with the canary, 0 if none does; else a DataError naming the file that differs."""
    wanted = is_canary(lines[files.src])
    for path, content in lines.items():
        if is_canary(content) == wanted and (
            path == files.docs or not wanted or content[0] == lines[files.src][0]
        ):
            continue
        first = content[0] if content else ""
        rule = (
            f"{files.src} starts with the canary '{lines[files.src][0]}'"
            if wanted
            else f"{files.src} has no canary"
        )
        raise DataError(
            f"starts with '{first[:60]}', but {rule}; all files of a tree have it or none.", path, 1
        )
    return int(wanted)


def named_files(paths: Paths | None) -> dict[str, Path]:
    """Name -> path, in the given order; a file without a name of its own is called by what differs.

    That is its name without the last ending, and without the parts between points with which all names begin or end;
    where nothing else differs, the last ending, or the last folder that does. Of WMT's names it is what follows hyp or
    ref. A folder stands for the files in it.

    >>> list(named_files(["wmt22.en-zh.hyp.Online-Y.zh", "ref=r.zh"])), list(named_files(["a/out.de", "b/out.de"]))
    (['Online-Y', 'ref'], ['a', 'b'])
    """
    if paths is None:
        return {}
    if isinstance(paths, Mapping):
        return {name: Path(path) for name, path in paths.items()}
    listed = [fspath(path) for path in ([paths] if isinstance(paths, (str, PathLike)) else paths)]
    given = [
        fspath(path)
        for one in listed
        for path in (_inside(Path(one)) if Path(one).is_dir() else [one])
    ]
    typed = {one: one.partition("=") for one in given if "=" in one and not Path(one).exists()}
    if unnamed := next(
        (one for one, (name, _, path) in typed.items() if not name.strip() or not path), None
    ):
        raise DataError(
            f"'{unnamed}' is no NAME=FILE: {'the name' if unnamed[0] in ' =' else 'the file'} is "
            "missing."
        )
    called = iter(_called([Path(one) for one in given if one not in typed]))
    named: dict[str, Path] = {}
    for one in given:
        name, path = (typed[one][0], typed[one][2]) if one in typed else (next(called), one)
        if name in named:
            if Path(path) == named[name]:
                raise DataError(f"{path} is given twice; give it once.")
            both = f"{named[name]} and {path} are both called '{name}'"
            raise DataError(f"{both}; give one of them another name, as in {name}2={path}.")
        named[name] = Path(path)
    return named


def _called(paths: Sequence[Path]) -> list[str]:
    """What each file is called, see `named_files`."""
    stems = [stem_of(path) for path in paths]
    if all(map(_WMT_NAME.fullmatch, stems)):
        return [_WMT_NAME.sub(r"\g<name>", stem) for stem in stems]
    if len(paths) < 2 or any(suffix_of(path) in (".sgm", ".xml") for path in paths):
        return stems
    if len(set(stems)) == 1:
        endings = [path.suffix[1:] for path in paths]
        if "" not in endings and len(set(endings)) == len(paths):
            return endings
        folders = list(
            zip(*(reversed(path.absolute().parent.parts) for path in paths), strict=False)
        )
        return list(next((names for names in folders if len(set(names)) == len(paths)), stems))
    parts = [stem.split(".") for stem in stems]
    for end in (0, -1):
        while min(map(len, parts)) > 1 and len({part[end] for part in parts}) == 1:
            for part in parts:
                del part[end]
    return [".".join(part) for part in parts]


def _inside(folder: Path) -> list[Path]:
    """The files of a folder that are not hidden, by name; a DataError where there is none."""
    found = sorted(
        path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")
    )
    if not found:
        raise DataError(
            "this folder holds no file; a file of texts, or a folder of such files is wanted.",
            folder,
        )
    return found


def _alone(path: Path) -> Path:
    """The file itself, or the only one of a folder."""
    if not path.is_dir():
        return path
    found = _inside(path)
    if len(found) > 1:
        names = ", ".join(one.name for one in found[:5])
        raise DataError(
            f"this folder holds {len(found)} files ({names}); name the one with the sources.", path
        )
    return found[0]
