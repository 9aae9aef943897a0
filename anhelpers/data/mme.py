"""Directories of mt-metrics-eval, read and written: texts of a metrics task, with the scores of people and of
metrics.

``sources/LP.txt  references/LP.REF.txt  system-outputs/LP/SYSTEM.txt  documents/LP.docs`` as in WMT's layout of 2024,
``metric-scores/LP/METRIC-REF.LEVEL.score  human-scores/LP.NAME.LEVEL.score`` with one ``system<TAB>score`` per line;
the n-th line of a system at level "seg" is its score for the n-th line of the sources.
The layout is described in https://github.com/google-research/mt-metrics-eval (README, "File organization"). Higher is
better in all its scores: it ranks metrics by signed correlations with people's scores, and MQM points are negated.
``systems.tsv`` (``system<TAB>category``, optional) is our addition; mt-metrics-eval does not look at it. What is
written here is read back by `read_mme` and by that program alike.
"""

from __future__ import annotations

import math
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError, UnknownName, nearest
from .fields import NO_TRANSLATION
from .languages import split_pair
from .lines import not_text, plain_number, table_lines
from .plain import ParallelFiles, is_canary, read_parallel
from .schema import TestSet
from .wmt import categories_of, find_2024, language_pairs, read_categories, with_default_reference
from .writing import make_folder, write_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "StoredScores",
    "is_mme",
    "mme_files",
    "mme_scores",
    "read_mme",
    "read_mme_scores",
    "score_path",
    "scores_matrix",
    "write_mme",
    "write_mme_scores",
]

# README, "Specification"; of these "seg" and "sys" are read and written here
_LEVELS = ("sys", "domain", "doc", "seg")
_METRIC_FILE = re.compile(rf"(?P<name>.+)-(?P<ref>[^-]+)\.(?P<level>{'|'.join(_LEVELS)})\.score")
_HUMAN_FILE = re.compile(rf"[^.]+\.(?P<name>.+)\.(?P<level>{'|'.join(_LEVELS)})\.score")


@dataclass(frozen=True)
class StoredScores:
    """Scores that a folder holds, by the names with which `read_mme_scores` reads them.

    Parameters
    ----------
    kind : "metric" or "human".
    name : e.g. "chrF", "mqm".
    ref : what the metric saw: "refA", "refA.refB", "all", or "src" for no reference; None for human scores.
    levels : of "sys", "domain", "doc", "seg" (the first and the last can be read here).
    """

    kind: str
    name: str
    ref: str | None
    levels: tuple[str, ...]


def is_mme(folder: str | PathLike) -> bool:
    """Whether a folder looks like a test set of mt-metrics-eval: texts beside folders of scores."""
    folder = Path(folder)
    scores = (folder / "metric-scores").is_dir() or (folder / "human-scores").is_dir()
    return scores and (folder / "sources").is_dir()


def read_mme(folder: str | PathLike, lp: str, *, reference: str | None = None) -> TestSet:
    """The test set of one language pair; categories as `wmt.categories_of` finds them, "human" for a reference's copy.

    The layout does not say which reference is the standard one: name it by `reference`, else DEFAULT_REFERENCE or the
    first by name is taken.
    """
    folder, files = Path(folder), mme_files(folder, lp)
    name = f"{folder.resolve().name}/{lp}"
    return with_default_reference(
        read_parallel(name, lp, files, categories_of(name, folder, files)), reference
    )


def mme_files(folder: str | PathLike, lp: str) -> ParallelFiles:
    """The text files of one language pair; UnknownName lists the pairs that are there."""
    split_pair(lp)
    files = find_2024(Path(folder), lp)
    if not files.src.exists():
        raise UnknownName("language pair", lp, language_pairs(folder))
    return files


def mme_scores(folder: str | PathLike, lp: str) -> list[StoredScores]:
    """What scores are stored for one language pair: those of metrics, then those of people, by name.

    Raises
    ------
    UnknownName : no such language pair. DataError : a file of scores whose name does not tell what it holds.
    """
    mme_files(folder, lp)
    levels: dict[tuple, set[str]] = defaultdict(set)
    for kind, where, pattern, form in (
        ("metric", Path(folder) / "metric-scores" / lp, "*.score", _METRIC_FILE),
        ("human", Path(folder) / "human-scores", f"{lp}.*.score", _HUMAN_FILE),
    ):
        for path in sorted(where.glob(pattern)):
            match = form.fullmatch(path.name)
            if not match:
                wanted = "NAME-REF.LEVEL.score" if kind == "metric" else "LP.NAME.LEVEL.score"
                raise DataError(f"name it {wanted}, with a level of {', '.join(_LEVELS)}.", path)
            levels[kind, match["name"], match.groupdict().get("ref")].add(match["level"])
    return [
        StoredScores(kind, name, ref, tuple(level for level in _LEVELS if level in found))
        for (kind, name, ref), found in levels.items()
    ]


def read_mme_scores(
    folder: str | PathLike, lp: str, metric: str, ref: str | None = None, level: str = "seg"
) -> pd.DataFrame:
    """The scores that one metric, or people, gave to the systems.

    Parameters
    ----------
    metric : e.g. "chrF"; with ``ref=None`` a human score, e.g. "mqm".
    ref : the reference(s) that the metric saw: "refA", "src" for none, "all"; None for human scores.
    level : "seg" (a score per segment) or "sys" (a score per system).

    Returns
    -------
    Tidy table system, segment, score (without `segment` at level "sys"), in the order of the file, as they are stored:
    higher is better, so that MQM points are negative; nan where the file says None. A canary's score is left out.
    """
    import pandas as pd

    checks.one_of(level, ("seg", "sys"), "level")
    folder = Path(folder)
    path, files = _score_file(folder, lp, metric, ref, level), find_2024(folder, lp)
    sources = table_lines(files.src)
    wanted, start = (len(sources), int(is_canary(sources))) if level == "seg" else (1, 0)
    rows = []
    for system, scores in _read_scores(path, list(files.systems)).items():
        if len(scores) != wanted:
            per = f"one per line of {files.src}" if level == "seg" else "one per system"
            raise DataError(
                f"system '{system}' has {len(scores)} scores, expected {wanted}, {per}.", path
            )
        rows += [(system, segment, score) for segment, score in enumerate(scores[start:])]
    table = pd.DataFrame(rows, columns=["system", "segment", "score"]).astype(
        {"segment": "int64", "score": "float64"}
    )
    return table if level == "seg" else table.drop(columns="segment")


def scores_matrix(
    table: pd.DataFrame, systems: Sequence[str], n_segments: int
) -> tuple[np.ndarray, tuple[str, ...], tuple[str, ...]]:
    """Segment scores of a tidy table, side by side.

    Parameters
    ----------
    table : system, segment, score, as `read_mme_scores` returns it; each system and segment at most once.
    systems : the systems that are wanted, in the order of the columns.
    n_segments : N; every segment of the table lies in 0..N-1.

    Returns
    -------
    (N, systems) scores, nan where the table has none; the systems that are wanted and not in the table (their columns
    are nan); the systems that are in the table and not wanted (they are left out).
    """
    column = {system: j for j, system in enumerate(systems)}
    if len(column) != len(systems):
        raise DataError(f"systems names one twice: {', '.join(systems)}.")
    if "segment" not in table:
        raise DataError('the table has a score per system; read it with level="seg".')
    here = dict.fromkeys(table.system)
    rows = table.segment.to_numpy()
    if rows.size and (rows.min() < 0 or rows.max() >= n_segments):
        raise DataError(
            f"the table has segments {rows.min()} to {rows.max()}, and 0 to {n_segments - 1} are "
            "wanted."
        )
    if table.duplicated(["system", "segment"]).any():
        first = table[table.duplicated(["system", "segment"])].iloc[0]
        raise DataError(f"system '{first.system}' has two scores for segment {first.segment}.")
    matrix = np.full((n_segments, len(systems)), np.nan)
    wanted = table.system.isin(systems).to_numpy()
    matrix[rows[wanted], table.system[wanted].map(column).to_numpy(dtype=np.int64)] = (
        table.score.to_numpy()[wanted]
    )
    return (
        matrix,
        tuple(s for s in systems if s not in here),
        tuple(s for s in here if s not in column),
    )


def score_path(
    folder: str | PathLike, lp: str, metric: str, ref: str | None = None, level: str = "seg"
) -> Path:
    """Where these scores lie; a human score (`ref` None) has its language pair in the name of the file.

    Parameters
    ----------
    metric, ref, level : as in `read_mme_scores`.
    """
    if ref is None:
        return Path(folder) / "human-scores" / f"{lp}.{metric}.{level}.score"
    return Path(folder) / "metric-scores" / lp / f"{metric}-{ref}.{level}.score"


def _score_file(folder: Path, lp: str, metric: str, ref: str | None, level: str) -> Path:
    """The file of these scores; UnknownName lists those that are there."""
    split_pair(lp)
    path = score_path(folder, lp, metric, ref, level)
    if not os.path.lexists(path):
        kind = "human" if ref is None else "metric"
        stored = [s for s in mme_scores(folder, lp) if s.kind == kind and level in s.levels]
        known = (s.name if ref is None else f"{s.name}-{s.ref}" for s in stored)
        raise UnknownName(
            f"{kind} score at level {level}", metric if ref is None else f"{metric}-{ref}", known
        )
    return path


def _read_scores(path: Path, systems: list[str]) -> dict[str, list[float]]:
    """System -> its scores, in the order of the file."""
    scores: dict[str, list[float]] = {}
    for number, line in enumerate(table_lines(path), 1):
        system, *value = line.rsplit(None, 1) or [""]
        if len(value) != 1:
            raise DataError(f"'{line}' is no line of the form system<TAB>score.", path, number)
        if system not in systems:
            hint = nearest(system, systems) or f"; known: {', '.join(systems) or 'none'}."
            raise DataError(f"unknown system '{system}'{hint}", path, number)
        scores.setdefault(system, []).append(_score(value[0], path, number))
    if not scores:
        raise DataError(
            "this file is empty; a line system<TAB>score is wanted for each score.", path
        )
    return scores


def _score(text: str, path: Path, line: int) -> float:
    """A finite number, or nan for None."""
    try:
        score = math.nan if text == "None" else plain_number(text)
    except ValueError:
        raise DataError(f"score '{text}' is neither a number nor None.", path, line) from None
    if math.isinf(score):
        raise DataError(
            f"score '{text}' is infinite; write None where there is no score.", path, line
        )
    return score


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
