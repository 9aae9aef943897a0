"""Read the text trees of the WMT general tasks, in three layouts.

2025: ``systems/SYSTEM.jsonl`` with a document a line, and no sources or references
2024: ``sources/LP.txt  references/LP.REF.txt  system-outputs/LP/SYSTEM.txt  documents/LP.docs``
2023: ``sources/TEST.LP.src.en  references/TEST.LP.ref.REF.de  system-outputs/TEST.LP.hyp.SYSTEM.de``
Optional, in the tree or beside its folder ``txt``: ``systems.tsv`` (``system<TAB>category``; by default the bundled
`TABLES` of wmt24/… and wmt23/…) and ``glosses.txt``, each source in plain English.

The categories follow Figure 2 of AN (Flamich et al. 2025), which distinguishes LLMs, systems trained for MT, online
systems and a human reference, and Kocmi et al. 2024 (2024.wmt-1.1):

- LLM: a general-purpose large language model, prompted, as it is.
- MT: trained or tuned for translation, whatever its base: Unbabel-Tower70B and IKUN are MT.
- online: an anonymised service, ONLINE-*. human: a reference. unknown: not in the table.

A participant's system of unknown design counts as MT. A `claim` that starts with "judgement call" needed a decision;
`source` is an id of aclanthology.org.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from .. import checks
from ..errors import DataError, UnknownName
from .fetch import bundled
from .io import read_jsonl, read_lines, read_table, stem_of, suffix_of
from .languages import split_pair
from .plain import ParallelFiles, is_canary, read_parallel
from .schema import CATEGORIES, TestSet

TABLES = {
    "wmt24": "wmt24_systems.csv",
    "wmt23": "wmt23_systems.csv",
    "wmt21-ted": "wmt21_ted_systems.csv",
}
"""The bundled tables of systems: system, category, lp (its language pairs), claim, source."""
_DEFAULT_REFERENCE = dict.fromkeys(
    ("wmt24/en-de", "teaching", "teaching/en-de", "teaching/de-en"), "refB"
)  # the standard reference of the task; refA is a second human, or that of which candidates are variants
_SOURCE_2023 = re.compile(r"(?P<test>.+)\.(?P<lp>[^.]+)\.src\.[^.]+")


def system_categories(name: str | PathLike) -> dict[str, str]:
    """Return system -> category of a bundled table, or of an edited copy of one.

    Parameters
    ----------
    name : str or path
        "wmt24", "wmt23", "wmt21-ted" (TED talks of the WMT21 metrics task), or a CSV file.

    Raises
    ------
    UnknownName : neither a table nor a file. DataError : an unknown category, or a repeated system.

    >>> categories = system_categories("wmt24")
    >>> categories["GPT-4"], categories["Unbabel-Tower70B"], categories["ONLINE-B"], categories["refA"]
    ('LLM', 'MT', 'online', 'human')
    """
    if str(name) not in TABLES and not os.path.isfile(name):
        raise UnknownName("table of systems or file", str(name), TABLES)
    path = bundled(TABLES[str(name)]) if str(name) in TABLES else Path(name)
    table = read_table(path, {"system": str, "category": str})
    return _categories(path, zip(table.system, table.category, strict=True), 2)


def read_categories(path: str | PathLike) -> dict[str, str]:
    """Return system -> category of a file ``system<TAB>category``, with or without a header and more columns."""
    rows = [(*line.split("\t"), "")[:2] for line in read_lines(path)]
    header = rows[:1] == [("system", "category")]
    return _categories(path, rows[header:], 1 + header)


def _categories(
    path: str | PathLike, rows: Iterable[tuple[str, ...]], first: int
) -> dict[str, str]:
    """Return system -> category of rows that start at this line."""
    found: dict[str, str] = {}
    for line, (system, category) in enumerate(rows, first):
        if category not in CATEGORIES or not system or system in found:
            known = ", ".join(CATEGORIES)
            raise DataError(
                f"got {system:.40},{category:.40}; expected distinct systems, {known}.", path, line
            )
        found[system] = category
    return found


def read_wmt(
    folder: str | PathLike,
    lp: str,
    *,
    year: int | None = None,
    reference: str | None = None,
    name: str = "",
) -> TestSet:
    """Read the test set of one language pair from a WMT text tree.

    Parameters
    ----------
    folder : path
        The tree, or the folder that holds it as ``txt``.
    lp : str
        Language pair, for example "en-de".
    year : int, optional
        The layout, 2023 to 2025; by default that in which the tree has `lp`.
    reference : str, optional
        The default reference; by default the standard one of the task, else the first by name.
    name : str
        Of the set; by default wmt23/LP, wmt24/LP for files with WMT24's canary, or FOLDER/LP.

    Raises
    ------
    UnknownName : no such language pair or reference. DataError : files that do not belong together.
    """
    split_pair(lp)
    pairs = {pair: own for pair, own in language_pairs(folder).items() if year in (None, own)}
    layout = pairs[checks.one_of(lp, pairs, "language pair")]
    if layout == 2025:
        test = _read_2025(Path(folder), lp, name or f"{Path(folder).resolve().name}/{lp}")
        return test.with_reference(reference) if reference else test
    root = _root(Path(folder))
    files = _find_2023(root, lp) if layout == 2023 else find_2024(root, lp)
    if not files.systems and year is None:  # mt-metrics-eval may have texts alone
        raise DataError(f"no outputs for {lp} in system-outputs.", folder)
    if not name:
        top = root.resolve().parent if root.name == "txt" else root.resolve()
        canary = layout == 2024 and is_canary(read_lines(files.src))
        name = f"{f'wmt{layout - 2000}' if layout == 2023 or canary else top.name}/{lp}"
    test = read_parallel(name, lp, files, _categories_of(name, root, files))
    test = replace(
        test, glosses=_glosses(root, len(test)) if len(language_pairs(root)) == 1 else ()
    )
    return _with_default_reference(test, reference)


def language_pairs(folder: str | PathLike) -> dict[str, int]:
    """Return the language pairs of a tree, each with the year of its layout."""
    if is_wmt25(folder):
        files = _files(Path(folder, "systems"), "*", ".jsonl")
        docs = {text_of(row, "doc_id", path) for path in files for row in read_jsonl(path)}
        return dict.fromkeys(sorted(map(pair_2025, docs)), 2025)
    sources = [path.name for path in _files(_root(Path(folder)) / "sources", "*")]
    pairs = {match["lp"]: 2023 for name in sources if (match := _SOURCE_2023.fullmatch(name))}
    texts = [stem_of(name) for name in sources if suffix_of(name) == ".txt"]
    return pairs | {name: 2024 for name in texts if re.fullmatch(r"[^.]+-[^.]+", name)}


def _with_default_reference(test: TestSet, reference: str | None) -> TestSet:
    """Return the set with this reference first, by default the standard one of the task."""
    default = _DEFAULT_REFERENCE.get(test.name)
    chosen = reference or (default if default in test.refs else None)
    return test.with_reference(chosen) if chosen else test


def find_2024(root: Path, lp: str) -> ParallelFiles:
    """Return the files of a language pair in the layout of 2024, which mt-metrics-eval shares."""
    sources = _named(_files(root / "sources", f"{lp}.*", ".txt"))
    return ParallelFiles(
        sources.get(lp, root / "sources" / f"{lp}.txt"),
        _named(_files(root / "references", f"{lp}.*", ".txt"), f"{lp}."),
        _named(_files(root / "system-outputs" / lp, "*", ".txt")),
        _named(_files(root / "documents", f"{lp}.*", ".docs")).get(lp),
    )


def _find_2023(root: Path, lp: str) -> ParallelFiles:
    """Return the files of a language pair in the layout of 2023."""
    sources = _files(root / "sources", f"*.{lp}.src.*")
    if len(sources) != 1:
        raise DataError(f"got {len(sources)} files of sources for {lp}, expected 1.", root)
    test = sources[0].name.rpartition(f".{lp}.src.")[0]
    refs, hyps = (
        _named(
            (p for p in _files(root / folder, f"{prefix}*") if len(stem_of(p)) > len(prefix)),
            prefix,
        )
        for folder, prefix in (
            ("references", f"{test}.{lp}.ref."),
            ("system-outputs", f"{test}.{lp}.hyp."),
        )
    )
    docs = _named(_files(root / "documents", f"{test}.{lp}.*", ".docs")).get(f"{test}.{lp}")
    return ParallelFiles(sources[0], refs, hyps, docs)


def _glosses(root: Path, n: int) -> tuple[str, ...]:
    """Return the lines of glosses.txt, one for each source; () without such a file."""
    file = _beside(root, "glosses.txt")
    lines = read_lines(file) if file else ()
    if file and (len(lines) != n or not all(map(str.strip, lines))):
        raise DataError(f"got {len(lines)} lines, expected {n} that are not blank.", file)
    return lines


def _beside(root: Path, name: str) -> Path | None:
    """Return a file in a tree, or in the folder whose txt it is."""
    places = [root, root.parent] if root.name == "txt" else [root]
    return next((folder / name for folder in places if os.path.lexists(folder / name)), None)


def _categories_of(name: str, root: Path, files: ParallelFiles) -> dict[str, str]:
    """Return the categories of the systems of a language pair, by systems.tsv, else by the task's table.

    A system with a reference's name is human.
    """
    task, own = name.split("/")[0], _beside(root, "systems.tsv")
    given = read_categories(own) if own else system_categories(task) if task in TABLES else {}
    human = dict.fromkeys((system for system in files.systems if system in files.refs), "human")
    return human | {system: given[system] for system in files.systems if system in given}


def _root(folder: Path) -> Path:
    """Return the folder that holds ``sources``: this one, or its ``txt``."""
    for root in (folder, folder / "txt"):
        if (root / "sources").is_dir():
            return root
    raise DataError("no sources or txt/sources in it, expected a WMT tree.", folder)


def _named(paths: Iterable[Path], prefix: str = "") -> dict[str, Path]:
    """Return the part of a file's name between a prefix and its endings -> path."""
    named: dict[str, Path] = {}
    for path in paths:
        name = stem_of(path).removeprefix(prefix)
        if name in named:
            raise DataError(f"two files are named {name}. Delete one.", path)
        named[name] = path
    return named


def _files(folder: Path, pattern: str, suffix: str = "") -> list[Path]:
    """Return the files of a folder that match and have this ending, compressed or not, sorted by name."""
    return sorted(
        path
        for path in folder.glob(pattern)
        if not path.is_dir() and path.name[0] != "." and suffix in ("", suffix_of(path))
    )


# -- the layout of 2025 ------------------------------------------------------------------------------------------------

_BETWEEN = "_#_"


def is_wmt25(folder: str | PathLike) -> bool:
    """Whether a folder has WMT25's system outputs as JSON lines."""
    return any(Path(folder, "systems").glob("*.jsonl"))


def _read_2025(folder: Path, lp: str, name: str) -> TestSet:
    """Read one language pair of WMT25; its paragraphs are the segments."""
    texts: dict[str, dict[str, list[str]]] = {}
    for path in _files(folder / "systems", "*", ".jsonl"):
        rows = [
            (text_of(row, "doc_id", path), text_of(row, "hypothesis", path))
            for row in read_jsonl(path)
        ]
        docs = {
            d.replace("_#_vid_", _BETWEEN): t.split("\n\n") for d, t in rows if pair_2025(d) == lp
        }
        if docs:
            texts[stem_of(path)] = dict(sorted(docs.items()))
    counts = {doc: len(parts) for doc, parts in next(iter(texts.values())).items()}
    for system, found in texts.items():
        if {doc: len(parts) for doc, parts in found.items()} != counts:
            raise DataError(
                f"{system}: its documents or paragraphs differ from the others'.", folder
            )
    categories = folder / "systems.tsv"
    known = read_categories(categories) if categories.is_file() else {}
    return TestSet(
        name,
        lp,
        srcs=("",) * sum(counts.values()),
        systems={
            s: tuple(part for parts in of.values() for part in parts) for s, of in texts.items()
        },
        docs=tuple(doc for doc, n in counts.items() for _ in range(n)),
        domains=tuple(doc.split(_BETWEEN)[1] for doc, n in counts.items() for _ in range(n)),
        categories={system: known[system] for system in texts if system in known},
        notes=(
            "no sources, no references: only metrics of the translation alone can be computed.",
        ),
    )


def text_of(row: dict[str, Any], key: str, path: str | PathLike) -> str:
    """A text of a JSON object."""
    if not isinstance(row.get(key), str):
        raise DataError(f"{key}: got {row.get(key)!r:.40}, expected a text.", path)
    return row[key]


def pair_2025(doc: str) -> str:
    """The language pair of a document of WMT25: "cs-de" of "cs-de_DE_#_news_#_n1"."""
    return doc.partition("_")[0]
