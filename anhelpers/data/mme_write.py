"""Writing mt-metrics-eval's layout: a test set and its scores, such that `read_mme` and that program read them back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from .fields import NO_TRANSLATION
from .lines import not_text, table_lines
from .mme import mme_files, read_mme, score_path
from .plain import ParallelFiles, is_canary
from .schema import TestSet
from .wmt import find_2024, read_categories
from .writing import make_folder, write_text

__all__ = ["write_mme", "write_mme_scores"]

# white space ends a name in files of scores, / in paths, . hides a file
_NAME = re.compile(r"[^\s/\0.][^\s/\0]*")
# README, "Specification": no dots, dashes or reserved words
_REFERENCE = re.compile(r"(?!(?:all|src)$)[^\s/\0.-]+")
# NUL, line ends (\r to mt-metrics-eval), halves of characters
_UNWRITABLE = re.compile("[\0\n\r\ud800-\udfff]")


def write_mme(test: TestSet, folder: str | PathLike) -> Path:
    """Write the texts of a test set as one language pair of a folder; the folder's name is the name of the set.

    `read_mme(folder, test.lp, reference=test.reference)` gives it back, with its categories. Sources are written last:
    a folder without them holds nothing yet. A set that is there already, and equal, is left as it is. A missing
    reference is written as the line by which that program knows one, fields.NO_TRANSLATION.

    Returns
    -------
    The folder.

    Raises
    ------
    DataError : the languages are undetermined; the folder holds another test set of this pair, or the layout cannot
        hold this one: a line end in a text (its segment is named), white space in a name, a reference with "." or "-"
        in its name, a scattered document.
    """
    if "und" in (test.src_lang, test.trg_lang):
        raise DataError(
            f"{test.name} has too little text to tell its languages, and the layout names files "
            "after them; say the pair by -l, such as en-de (in Python: lp)."
        )
    folder, files = Path(folder), find_2024(Path(folder), test.lp)
    if files.src.exists():
        _same(read_mme(folder, test.lp), test, folder)
        return folder
    texts = {folder / name: text for name, text in _texts(test)}
    if stray := [path for path in files.paths[1:] if path not in texts]:
        raise DataError(
            f"this file belongs to no part of {test.name}; write to a new folder, or delete it.",
            stray[0],
        )
    if categories := _categories(folder / "systems.tsv", test):
        texts = {folder / "systems.tsv": categories, **texts}
    for path, text in texts.items():
        _write(path, text)
    return folder


def write_mme_scores(
    folder: str | PathLike,
    lp: str,
    metric: str,
    scores: ArrayLike,
    *,
    systems: Sequence[str],
    ref: str | None = None,
    level: str = "seg",
) -> Path:
    """Write the scores of one metric, or of people, for systems of a test set that is in the folder.

    The numbers are written as they are given, to the last bit, and an older file of this name is replaced. Give them
    such that HIGHER IS BETTER (`Metric.oriented`): mt-metrics-eval ranks metrics by signed correlations, MQM points
    and MetricX are negated there. nan is written as None, which that program accepts in human scores only.

    Parameters
    ----------
    metric : e.g. "chrf"; with ``ref=None`` a human score, e.g. "mqm".
    scores : (N, systems) at level "seg", (systems,) at level "sys".
    ref : what the metric saw: a reference, several joined by ".", "all", or "src" for none; None for human scores.

    Returns
    -------
    The path of the file.

    Raises
    ------
    UnknownName : no such language pair, system, reference or level. DataError : another shape, an infinite score.
    """
    checks.one_of(level, ("seg", "sys"), "level")
    files, values = mme_files(folder, lp), np.asarray(scores, dtype=np.float64)
    _check_names(files, metric, systems, ref)
    lines = table_lines(files.src)
    # a canary has a line, and no score
    above = [np.nan] * is_canary(lines) if level == "seg" else []
    shape = (len(lines) - len(above), len(systems)) if level == "seg" else (len(systems),)
    if values.shape != shape:
        wanted = "(segments, systems)" if level == "seg" else "(systems,)"
        raise DataError(
            f"scores of {metric} have shape {values.shape}, expected {shape}, {wanted} of {lp} in "
            f"{folder}."
        )
    if np.isinf(values).any():
        raise DataError(
            f"scores of {metric} are infinite in places; give nan where there is no score."
        )
    columns = values.T if level == "seg" else values[:, None]
    rows = [
        (s, x)
        for s, column in zip(systems, columns, strict=True)
        for x in [*above, *column.tolist()]
    ]
    text = "".join(f"{system}\t{'None' if np.isnan(x) else repr(x)}\n" for system, x in rows)
    return _write(score_path(folder, lp, metric, ref, level), text)


def _write(path: Path, text: str) -> Path:
    """Write a file, and make its folder where there is none."""
    make_folder(path.parent)
    return write_text(path, text)


def _check_names(
    files: ParallelFiles, metric: str, systems: Sequence[str], ref: str | None
) -> None:
    """A sentence where a name is unknown, given twice, or cannot be a file's."""
    _named("metric", metric)
    for system in systems:
        checks.one_of(system, files.systems, "system")
    if len(set(systems)) != len(systems):
        raise DataError(f"systems names one twice: {', '.join(systems)}.")
    if ref not in (None, "all", "src"):
        for part in ref.split("."):
            checks.one_of(part, files.refs, "reference")


def _texts(test: TestSet) -> Iterator[tuple[str, str]]:
    """(path in the folder, text) of each file of a test set, the sources last; what the layout cannot hold is told."""
    for ref, texts in test.refs.items():
        given = (text or NO_TRANSLATION for text in texts)
        yield (
            f"references/{test.lp}.{_named('reference', ref)}.txt",
            _content(f"reference {ref}", given),
        )
    for system, texts in test.systems.items():
        yield (
            f"system-outputs/{test.lp}/{_named('system', system)}.txt",
            _content(f"system {system}", texts),
        )
    documents = [f"{domain}\t{doc}" for domain, doc in zip(test.domains, test.docs, strict=True)]
    _check_documents(test)
    yield f"documents/{test.lp}.docs", _content("documents", documents)
    yield f"sources/{test.lp}.txt", _content("sources", test.srcs)


def _content(what: str, lines: Iterable[str]) -> str:
    """A text file of these lines; a DataError names the segment that a reader would not give back."""
    lines = tuple(lines)
    for segment, line in enumerate(lines):
        if found := _UNWRITABLE.search(line):
            sign = f"U+{ord(found[0]):04X}"
            raise DataError(
                f"{what}, segment {segment} holds {sign}, which no line of a text file can; "
                "replace it."
            )
    if lines and (is_canary(lines) or lines[0].startswith("\ufeff")):
        start = lines[0][:20]
        raise DataError(
            f"{what}, segment 0 starts with {start!r}, which readers drop as a canary or a byte "
            "order mark."
        )
    content = "".join(f"{line}\n" for line in lines)
    if not_text(content[:1024].encode()):
        raise DataError(
            f"{what}, segment 0 starts with {lines[0][:20]!r}, which readers take for no text; "
            "change it."
        )
    return content


def _named(kind: str, name: str) -> str:
    """The name, if files and scores can bear it."""
    if not (_REFERENCE if kind == "reference" else _NAME).fullmatch(name):
        rule = (
            "without dots, dashes, slashes and white space, and neither 'all' nor 'src'"
            if kind == "reference"
            else "without white space and slashes, and not starting with a dot"
        )
        raise DataError(f"{kind} '{name}' cannot be a name in mt-metrics-eval; give it one {rule}.")
    return name


def _check_documents(test: TestSet) -> None:
    """A DataError where a document's lines do not stand together in one domain, or a name has white space."""
    seen: dict[str, int] = {}
    segment = 0
    for (domain, doc), lines in groupby(zip(test.domains, test.docs, strict=True)):
        if bad := next((name for name in (domain, doc) if name.split() != [name]), None):
            raise DataError(
                f"documents, segment {segment}: '{bad}' is empty or has white space; give it "
                "another name."
            )
        if doc in seen:
            where = f"segments {seen[doc]} and {segment}"
            raise DataError(
                f"document '{doc}' begins at {where}; its segments must stand together, in one "
                "domain."
            )
        seen[doc] = segment
        segment += sum(1 for _ in lines)


def _same(stored: TestSet, test: TestSet, folder: Path) -> None:
    """A DataError where a folder's test set is not this one, saying in what they differ."""
    kinds = {
        "srcs": "sources",
        "refs": "references",
        "systems": "systems",
        "docs": "documents",
        "domains": "domains",
        "categories": "categories",
    }
    if other := [
        word for kind, word in kinds.items() if getattr(stored, kind) != getattr(test, kind)
    ]:
        raise DataError(
            f"this folder holds another {test.lp} (other {', '.join(other)}); write to a new "
            "folder.",
            folder,
        )


def _categories(path: Path, test: TestSet) -> str:
    """What systems.tsv must say so that reading gives this set's categories; "" where it need not change."""
    stored = read_categories(path) if path.exists() else {}
    for system, category in test.categories.items():
        if stored.get(system, category) != category:
            raise DataError(
                f"system '{system}' is {stored[system]} in this file and {category} in "
                f"{test.name}.",
                path,
            )
    told = (
        (s, c)
        for s, c in test.categories.items()
        if c != ("human" if s in test.refs else "unknown")
    )
    fresh = [f"{system}\t{category}" for system, category in told if system not in stored]
    before = table_lines(path) if path.exists() else ("system\tcategory",)
    return "".join(f"{line}\n" for line in (*before, *fresh)) if fresh else ""
