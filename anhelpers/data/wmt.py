"""The text trees of the WMT general tasks: two layouts, told apart by the names of their files.

2024: ``sources/LP.txt  references/LP.REF.txt  system-outputs/LP/SYSTEM.txt  documents/LP.docs``
2023: ``sources/TEST.LP.src.en  references/TEST.LP.ref.REF.de  system-outputs/TEST.LP.hyp.SYSTEM.de``
An optional ``systems.tsv`` (``system<TAB>category``) lies in the tree or beside its folder ``txt``; without it, sets
named wmt24/… and wmt23/… take their categories from the bundled tables (`TABLES`). So does an optional
``glosses.txt``, a line of plain English for each source.

What kind of translator each system is decides its mark in AN's Figure 2; the tables can be edited. AN's caption tells
LLMs, "systems specifically trained for MT", online systems and a human reference apart and points to Kocmi et al. 2024
(2024.wmt-1.1), who had participants' systems, 8 LLMs they collected and online services. So here:

- LLM: a general-purpose large language model as it is, prompted.
- MT: trained or tuned for translation, whatever it is built on: Unbabel-Tower70B and IKUN are MT, not LLM.
- online: an anonymised service, ONLINE-*. human: a reference. unknown: what no table says.

A participant's system of unknown design counts as MT. Where the rule needed a decision, `claim` starts with
"judgement call"; `source` says where the claim is from: ids like 2024.wmt-1.19 are those of aclanthology.org.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from os import PathLike
from pathlib import Path

from .. import checks
from ..errors import DataError, UnknownName
from .fetch import bundled
from .languages import split_pair
from .lines import csv_rows, read_lines, table_lines
from .packed import stem_of, suffix_of
from .plain import ParallelFiles, is_canary, read_parallel
from .schema import CATEGORIES, TestSet

__all__ = [
    "COLUMNS",
    "DEFAULT_REFERENCE",
    "TABLES",
    "categories_of",
    "find_2024",
    "language_pairs",
    "read_categories",
    "read_wmt",
    "system_categories",
    "with_default_reference",
]

COLUMNS = ("system", "category", "lp", "claim", "source")
"""The header of a table; `lp` lists the system's language pairs, separated by spaces."""

TABLES = {
    "wmt24": "wmt24_systems.csv",
    "wmt23": "wmt23_systems.csv",
    "wmt21-ted": "wmt21_ted_systems.csv",
}
"""The tables that come with the package."""


def system_categories(name: str | PathLike) -> dict[str, str]:
    """System -> category, from a bundled table by name, or from a copy of one that you edited.

    Parameters
    ----------
    name : "wmt24", "wmt23", "wmt21-ted" (the TED talks of the WMT21 metrics task), or a path: CSV with COLUMNS.

    Raises
    ------
    UnknownName : neither a bundled table nor a file.
    DataError : another header, another number of cells, an unknown category, a system that is blank or listed twice.

    >>> categories = system_categories("wmt24")
    >>> categories["GPT-4"], categories["Unbabel-Tower70B"], categories["ONLINE-B"], categories["refA"]
    ('LLM', 'MT', 'online', 'human')
    """
    path = _table(name)
    categories: dict[str, str] = {}
    for number, (system, category, *_) in csv_rows(path, COLUMNS):
        if not system:
            raise DataError("the name of the system is blank; give one.", path, number)
        if category not in CATEGORIES:
            raise DataError(
                f"unknown category '{category}'; known: {', '.join(CATEGORIES)}.", path, number
            )
        if system in categories:
            raise DataError(f"system '{system}' is listed twice.", path, number)
        categories[system] = category
    return categories


def _table(name: str | PathLike) -> Path:
    """The file of a table."""
    if str(name) in TABLES:
        return bundled(TABLES[str(name)])
    if not os.path.isfile(name):
        raise UnknownName("table of systems or file", str(name), TABLES)
    return Path(name)


DEFAULT_REFERENCE = {
    "wmt24/en-de": "refB",
    **dict.fromkeys(("teaching", "teaching/en-de", "teaching/de-en"), "refB"),
}
"""The reference that a task calls standard, where it is not the first by name; WMT24 en-de: refA is a second human;
teaching: refA is the text that many candidates vary by a word."""

_SOURCE_2023 = re.compile(r"(?P<test>.+)\.(?P<lp>[^.]+)\.src\.[^.]+")


def read_wmt(
    folder: str | PathLike,
    lp: str,
    *,
    year: int | None = None,
    reference: str | None = None,
    name: str = "",
) -> TestSet:
    """The test set of one language pair of a WMT text tree, with all systems.

    Parameters
    ----------
    folder : the tree, or the folder that holds it as ``txt``.
    lp : language pair, e.g. "en-de".
    year : the layout, 2023 or 2024; by default the one that holds `lp`.
    reference : the default reference; otherwise DEFAULT_REFERENCE, otherwise the first by name.
    name : of the set; by default wmt23/LP, wmt24/LP where the tree carries WMT24's canary, or FOLDER/LP.

    Raises
    ------
    UnknownName : no such language pair or reference. DataError : files that do not belong together.
    """
    split_pair(lp)
    root = _root(Path(folder))
    layout = _layout(root, lp, year)
    files = find_2023(root, lp) if layout == 2023 else find_2024(root, lp)
    if not files.systems:
        raise DataError(f"no system outputs for {lp} in {root / 'system-outputs'}.", folder)
    name = name or _name(root, lp, layout, files)
    test = read_parallel(name, lp, files, categories_of(name, root, files))
    return with_default_reference(replace(test, glosses=_glosses(root, test)), reference)


def language_pairs(folder: str | PathLike) -> dict[str, int]:
    """The language pairs of a tree, each with the year of its layout."""
    sources = [path.name for path in _files(_root(Path(folder)) / "sources", "*")]
    pairs = {match["lp"]: 2023 for name in sources if (match := _SOURCE_2023.fullmatch(name))}
    texts = [stem_of(name) for name in sources if suffix_of(name) == ".txt"]
    return pairs | {name: 2024 for name in texts if re.fullmatch(r"[^.]+-[^.]+", name)}


def with_default_reference(test: TestSet, reference: str | None) -> TestSet:
    """The set with the reference that was asked for, or that DEFAULT_REFERENCE names, in front."""
    default = DEFAULT_REFERENCE.get(test.name)
    chosen = reference or (default if default in test.refs else None)
    return test.with_reference(chosen) if chosen else test


def find_2024(root: Path, lp: str) -> ParallelFiles:
    """The files of a language pair in the layout of 2024, which mt-metrics-eval shares."""
    refs = _named(_texts(root / "references", f"{lp}.*"), f"{lp}.")
    systems = _named(_texts(root / "system-outputs" / lp, "*"))
    src = _named(_texts(root / "sources", f"{lp}.*")).get(lp, root / "sources" / f"{lp}.txt")
    return ParallelFiles(src, refs, systems, _docs(root, lp))


def find_2023(root: Path, lp: str) -> ParallelFiles:
    """The files of a language pair in the layout of 2023."""
    sources = _files(root / "sources", f"*.{lp}.src.*")
    if len(sources) != 1:
        names = ", ".join(path.name for path in sources)
        raise DataError(
            f"one source file for {lp} is wanted, there are {len(sources)} ({names}).",
            root / "sources",
        )
    test = sources[0].name.rpartition(f".{lp}.src.")[0]
    found = {}
    for kind, where in (("ref", "references"), ("hyp", "system-outputs")):
        prefix = f"{test}.{lp}.{kind}."
        found[kind] = _named(
            (p for p in _files(root / where, f"{prefix}*") if len(stem_of(p)) > len(prefix)), prefix
        )
    return ParallelFiles(sources[0], found["ref"], found["hyp"], _docs(root, f"{test}.{lp}"))


def _glosses(root: Path, test: TestSet) -> tuple[str, ...]:
    """The lines of glosses.txt, one for each source; () where there is no such file, or several pairs."""
    file = _beside(root, "glosses.txt")
    if file is None or len(language_pairs(root)) > 1:  # of which pair's sources would it be?
        return ()
    lines = read_lines(file)
    if len(lines) != len(test):
        said = (
            f"has {len(lines)} line{'s' * (len(lines) != 1)}, and there are {len(test)} sources; "
            "write one for each."
        )
        raise DataError(said, file)
    if empty := [number for number, line in enumerate(lines, 1) if not line.strip()]:
        what = "there is no gloss; say in plain English what the source says, or delete the file."
        raise DataError(what, file, empty[0])
    return lines


def _beside(root: Path, name: str) -> Path | None:
    """A file in a tree, or in the folder whose txt it is; None where it is in neither."""
    places = [root, root.parent] if root.name == "txt" else [root]
    return next((folder / name for folder in places if os.path.lexists(folder / name)), None)


def _docs(root: Path, name: str) -> Path | None:
    """The file of documents of this name, if there is one."""
    found = _named(_texts(root / "documents", f"{name}.*", ".docs"))
    return found.get(name)


def read_categories(path: str | PathLike) -> dict[str, str]:
    """System -> category, from lines ``system<TAB>category``; a header of these words and more columns may be there."""
    categories: dict[str, str] = {}
    for number, line in enumerate(table_lines(path), 1):
        fields = line.split("\t")
        if number == 1 and fields[:2] == ["system", "category"]:
            continue
        if len(fields) < 2 or fields[1] not in CATEGORIES:
            known = ", ".join(CATEGORIES)
            raise DataError(
                f"'{line}' is no line of the form system<TAB>category; categories: {known}.",
                path,
                number,
            )
        if fields[0] in categories:
            raise DataError(f"system '{fields[0]}' is listed twice.", path, number)
        categories[fields[0]] = fields[1]
    return categories


def categories_of(name: str, root: Path, files: ParallelFiles) -> dict[str, str]:
    """What systems.tsv says of the systems of this language pair; without that file, what the task's table says.

    In such a tree a system that bears a reference's name is that human translator.

    Parameters
    ----------
    files : of the language pair.
    """
    found = _beside(root, "systems.tsv")
    if found:
        given = read_categories(found)
    else:
        task = name.split("/")[0]
        given = system_categories(task) if task in TABLES else {}
    human = {system: "human" for system in files.systems if system in files.refs}
    return human | {system: given[system] for system in files.systems if system in given}


def _root(folder: Path) -> Path:
    """The folder that holds ``sources``: this one, or its ``txt``."""
    for root in (folder, folder / "txt"):
        if (root / "sources").is_dir():
            return root
    what = "this folder has" if folder.is_dir() else "there is no such folder, so"
    raise DataError(
        f"{what} neither sources nor txt/sources; a WMT tree has sources, references, "
        "system-outputs.",
        folder,
    )


def _layout(root: Path, lp: str, year: int | None) -> int:
    """The layout in which a tree holds a language pair."""
    if year is not None:
        checks.one_of(str(year), ("2023", "2024"), "WMT layout")
    pairs = {
        pair: layout for pair, layout in language_pairs(root).items() if year in (None, layout)
    }
    if not pairs:
        raise DataError(
            "holds no sources, such as en-de.txt; put the texts there.", root / "sources"
        )
    if lp not in pairs:
        raise UnknownName("language pair", lp, pairs)
    return pairs[lp]


def _name(root: Path, lp: str, layout: int, files: ParallelFiles) -> str:
    """What to call a set whose name was not given."""
    if layout == 2023 or is_canary(table_lines(files.src)):
        return f"wmt{layout - 2000}/{lp}"
    folder = root.resolve()
    return f"{folder.parent.name if folder.name == 'txt' else folder.name}/{lp}"


def _texts(folder: Path, pattern: str, suffix: str = ".txt") -> Iterator[Path]:
    """The files of a folder that match and have this ending, in capital letters or packed as well."""
    return (path for path in _files(folder, pattern) if suffix_of(path) == suffix)


def _named(paths: Iterable[Path], prefix: str = "") -> dict[str, Path]:
    """What follows the prefix in a file's name, without endings -> path; a DataError for two files of one name."""
    named: dict[str, Path] = {}
    for path in paths:
        name = stem_of(path).removeprefix(prefix)
        if name in named:
            raise DataError(
                f"{named[name].name} in the same folder has the same name; take one of them away.",
                path,
            )
        named[name] = path
    return named


def _files(folder: Path, pattern: str) -> list[Path]:
    """The files of a folder that match, by name; hidden ones left out."""
    return sorted(
        path for path in folder.glob(pattern) if not path.is_dir() and not path.name.startswith(".")
    )
