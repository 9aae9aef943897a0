"""The files of the WMT25 general task: outputs of systems, and stored scores of metrics, JSON with a document a line.

``systems/SYSTEM.jsonl`` has ``doc_id`` (PAIR_#_DOMAIN_#_NAME) and ``hypothesis``, whose paragraphs stand apart by a
blank line; ``automatic_scores/SYSTEM.jsonl`` has ``language_pair``, ``domain``, ``document_id`` and, for each metric in
``metric_scores``, a number per paragraph. Sources and references are in neither.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DataError, UnknownName
from .languages import split_pair
from .lines import json_value, table_lines
from .packed import stem_of
from .schema import TestSet
from .wmt import read_categories

__all__ = ["SCORES", "is_wmt25", "read_wmt25", "read_wmt25_scores", "wmt25_pairs"]

SYSTEMS, SCORES = "systems", "automatic_scores"
"""The folders of outputs and of scores."""

NO_TEXTS = (
    "These files hold neither sources nor references: what reads the translation alone can be measured, and scores "
    "that the organisers stored (stored:{}#METRIC); chrF, BLEU and COMET cannot."
)
_BETWEEN, _VIDEO = "_#_", "_#_vid_"
_LOCALE = re.compile(r"(?P<lp>[a-z]{2,3}-[a-z]{2,3})(_\w+)?")


def is_wmt25(folder: str | PathLike) -> bool:
    """Whether a folder looks like WMT25's: outputs of systems as JSON lines."""
    return any((Path(folder) / SYSTEMS).glob("*.jsonl"))


def wmt25_pairs(folder: str | PathLike) -> dict[str, list[str]]:
    """Language pair -> the locales of it that some system translated into, such as "en-sr" -> two scripts."""
    found: dict[str, set[str]] = {}
    for path in _files(Path(folder) / SYSTEMS):
        for number, record in _records(path):
            locale = _text(record, "doc_id", path, number).split(_BETWEEN)[0]
            found.setdefault(_pair(locale, path, number), set()).add(locale)
    return {lp: sorted(locales) for lp, locales in sorted(found.items())}


def read_wmt25(folder: str | PathLike, lp: str, *, name: str = "") -> TestSet:
    """The paragraphs of one language pair, with all systems that translated into it; sources are blank.

    Parameters
    ----------
    folder : with the folders ``systems`` and ``automatic_scores``. lp : language pair, such as "cs-de".
    name : of the set; by default wmt25/LP.

    Raises
    ------
    UnknownName : no such language pair. DataError : two locales of the pair; a broken line; a document that some
        system lacks, or has with another number of paragraphs than the first system.
    """
    split_pair(lp)
    folder, name = Path(folder), name or f"wmt25/{lp}"
    pairs = wmt25_pairs(folder)
    if lp not in pairs:
        raise UnknownName("language pair", lp, pairs)
    if len(pairs[lp]) > 1:
        raise DataError(
            f"holds {lp} in {len(pairs[lp])} forms ({', '.join(pairs[lp])}), which are not one test "
            "set; keep the files of one of them.",
            folder,
        )
    texts = {stem_of(path.name): _outputs(path, lp) for path in _files(folder / SYSTEMS)}
    texts = {system: found for system, found in texts.items() if found}
    docs = _same_documents(texts, folder)
    found = folder / "systems.tsv"
    given = read_categories(found) if found.is_file() else {}
    return TestSet(
        name,
        lp,
        srcs=("",) * sum(docs.values()),
        systems={s: tuple(p for doc in docs for p in of[doc][1]) for s, of in texts.items()},
        docs=tuple(doc for doc, n in docs.items() for _ in range(n)),
        domains=tuple(doc.split(_BETWEEN)[1] for doc, n in docs.items() for _ in range(n)),
        categories={system: given[system] for system in texts if system in given},
        notes=(NO_TEXTS.format(name if name.startswith("wmt25/") else folder),),
    )


def read_wmt25_scores(folder: str | PathLike, test: TestSet, metric: str) -> np.ndarray:
    """(N, k) the scores that the organisers stored for the paragraphs of a test set of `read_wmt25`, as they stand.

    A system without a file of scores has nan; a document without its paragraphs' number of scores is a DataError.

    Parameters
    ----------
    test : whole, as it was read. metric : as the files call it, such as "XCOMET-XL".
    """
    counts, values = Counter(test.docs), np.full((len(test), len(test.systems)), np.nan)
    start = {doc: test.docs.index(doc) for doc in counts}
    for j, system in enumerate(test.systems):
        path = Path(folder) / SCORES / f"{system}.jsonl"
        if not os.path.lexists(path):
            continue
        for doc, (number, scores) in _scores(path, test.lp, metric).items():
            if doc not in counts:
                raise DataError(f"{doc} is no document of {test.name}.", path, number)
            if len(scores) != counts[doc]:
                raise DataError(
                    f"{metric} has {len(scores)} scores for {doc}, which has {counts[doc]} "
                    "paragraphs; they cannot be told apart.",
                    path,
                    number,
                )
            values[start[doc] : start[doc] + len(scores), j] = scores
    return values


def _files(folder: Path) -> list[Path]:
    """The JSON lines of a folder, a file per system, by name."""
    if not (files := sorted(folder.glob("*.jsonl"))):
        raise DataError(
            "holds no file SYSTEM.jsonl; WMT25's folder has systems and automatic_scores.", folder
        )
    return files


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, object) of each line."""
    lines = table_lines(path)
    if not lines:
        raise DataError("this file is empty; a document per line is wanted, as JSON.", path)
    for number, line in enumerate(lines, 1):
        record = json_value(line, path, number)
        if not isinstance(record, dict):
            raise DataError(f"{line:.60} is no JSON object; one per line is wanted.", path, number)
        yield number, record


def _text(record: Mapping[str, Any], key: str, path: Path, line: int) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        seen = "missing" if value is None else f"{value!r:.60}"
        raise DataError(f'"{key}" is {seen}, and a text is wanted.', path, line)
    return value


def _pair(locale: str, path: Path, line: int) -> str:
    """The language pair of a locale: "cs-de" of "cs-de_DE"."""
    if not (match := _LOCALE.fullmatch(locale)):
        raise DataError(
            f"'{locale:.60}' names no language pair, such as cs-de_DE; a document is called "
            "PAIR_#_DOMAIN_#_NAME.",
            path,
            line,
        )
    return match["lp"]


def _outputs(path: Path, lp: str) -> dict[str, tuple[int, list[str]]]:
    """Document -> (line, paragraphs) of one system."""
    found: dict[str, tuple[int, list[str]]] = {}
    for number, record in _records(path):
        doc = _text(record, "doc_id", path, number).replace(_VIDEO, _BETWEEN)
        if _pair(doc.split(_BETWEEN)[0], path, number) != lp:
            continue
        if len(doc.split(_BETWEEN)) != 3:
            raise DataError(f"'{doc:.60}' is no PAIR_#_DOMAIN_#_NAME.", path, number)
        if doc in found:
            raise DataError(f"{doc} stands here a second time.", path, number)
        found[doc] = number, _text(record, "hypothesis", path, number).split("\n\n")
    return found


def _same_documents(
    texts: Mapping[str, Mapping[str, tuple[int, list[str]]]], folder: Path
) -> dict[str, int]:
    """Document -> number of its paragraphs, by name; a DataError where systems differ in either."""
    (first, given), *others = texts.items()
    docs = {doc: len(given[doc][1]) for doc in sorted(given)}
    for system, found in others:
        path = folder / SYSTEMS / f"{system}.jsonl"
        if apart := sorted(docs.keys() ^ found.keys()):
            who = system if apart[0] in docs else first
            raise DataError(
                f"{who} has no document {apart[0]} ({len(apart)} such): systems must have the same "
                "ones; take the file away, or complete it.",
                path,
            )
        for doc, n in docs.items():
            if len(found[doc][1]) != n:
                raise DataError(
                    f"{doc} has {len(found[doc][1])} paragraphs here, and {n} by {first}: they "
                    "cannot be compared one by one.",
                    path,
                    found[doc][0],
                )
    return docs


def _scores(path: Path, lp: str, metric: str) -> dict[str, tuple[int, list[float]]]:
    """Document -> (line, scores of its paragraphs) by one metric."""
    found: dict[str, tuple[int, list[float]]] = {}
    for number, record in _records(path):
        parts = [
            _text(record, key, path, number) for key in ("language_pair", "domain", "document_id")
        ]
        if _pair(parts[0], path, number) != lp:
            continue
        stored, doc = record.get("metric_scores"), _BETWEEN.join(parts)
        if not isinstance(stored, dict):
            raise DataError('"metric_scores" is no object of metrics.', path, number)
        if metric not in stored:
            raise UnknownName(f"metric of {path.name}, line {number}", metric, stored)
        if doc in found:
            raise DataError(f"{doc} stands here a second time.", path, number)
        values = stored[metric] if isinstance(stored[metric], list) else [stored[metric]]
        found[doc] = number, [_number(value, metric, path, number) for value in values]
    return found


def _number(value: Any, metric: str, path: Path, line: int) -> float:
    """A finite number, or nan for null."""
    if value is None:
        return np.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
        raise DataError(f"{metric} has {value!r:.40}, and a finite number is wanted.", path, line)
    return float(value)
