"""Human ratings from 0 to 100 points: exports, tables, and ratings of single texts with their two metrics.

- Appraise: CSV without a header, of 11 or 12 cells: rater, system, line, type of item, source and target language,
  points, document, whether the whole document is rated, spans (not for direct assessment), start, end; with
  ``--batch-info`` also batch and item. Lines of WMT25 are ids ``PAIR_#_DOMAIN_#_DOCUMENT_#_PARAGRAPH``; in the layout
  of 15 cells the id is the second cell. JSON Lines: ``target_id source_text target_text score item_type
  is_complete_document``.
- Pearmut: JSON Lines ``user_id item_i item annotation``, or ``{campaign: [records]}`` as downloaded. Each of the items
  has ``src`` and ``tgt`` (system: text), its annotation is ``{system: {score}}``.
- WMT25's humeval: JSON Lines ``doc_id src_text tgt_text scores`` of a paragraph, the last two by system, whose scores
  are a list of ``{score annotator}``.

A table ``segment id pass naturalness accuracy`` of single texts, separated by tabs, has a row per text and pass (a
rater, or one reading). Segments count from 0. An id is that of a candidate, or ends in ``/`` and a reference's name.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks
from .._lazy import pd
from ..errors import DataError, counted
from ..metrics import Asked, Metric, signature_of
from ..progress import note_once
from .candidates import JSONL
from .external import Family, _find_segments, read_scores, within
from .fetch import bundled
from .io import _plain, _read_jsonl, _refuse, _suffix_of, read_bytes, read_lines, read_table
from .languages import known_code, short_code
from .schema import TestSet
from .sets import SETS, TEACHING, _own_file, load, load_candidates, teaching_set, whereabouts
from .wmt import _pair_2025

KINDS = ("esa", "da")
"""How outputs were rated."""
_CELLS = "rater system line type src trg value doc whole spans t0 t1"
_TYPES = ("TGT", "CHK", "BAD", "REF")
_CONTROLS = r"-tutorial|#(?:bad|dup|incomplete)$"  # in the name of a document


def is_export(path: str | PathLike) -> bool:
    """Whether a file is an export of Appraise, which has a type of item in each row, or JSON Lines."""
    return _suffix_of(path) in JSONL or any(cell in _TYPES for cell in _first_row(path)[3:5])


def _first_row(path: str | PathLike) -> list[str]:
    return next(csv.reader(read_lines(path)[:1]), [])


def read_ratings_of(
    test: TestSet, paths: Sequence[Path], kind: str, family: Family
) -> pd.DataFrame:
    """Read human ratings of a test set: system, segment, value, rater (if known).

    Parameters
    ----------
    paths : sequence of path
        Exports of Appraise, JSON Lines, or tables as `external.read_scores` reads them.
    kind : str
        One of KINDS, for exports.
    family : Family
        The unit of tables.

    Raises
    ------
    DataError : with file and line, for a malformed row, points outside 0 to 100, and lines of other documents.
    """
    if not all(map(is_export, paths)):
        return pd.concat([read_scores(path, test, family=family) for path in paths])
    if _suffix_of(paths[0]) in JSONL:
        return pd.concat([_find_segments(test, _read_json(path, test.lp)) for path in paths])
    named = test.name in SETS and whereabouts(test.name) is not None
    whole = load(test.name, exclude=test.unread) if named else test
    ratings = pd.concat(
        [_with_segments(_read_export(path, kind, test.lp), whole, path) for path in paths]
    )
    return within(whole, test, ratings[["system", "segment", "value", "rater"]])


def _read_export(path: str | PathLike, kind: str, lp: str) -> pd.DataFrame:
    """Read the ratings of one language pair from an export of Appraise.

    Controls, tutorials, ratings of whole documents and repeated rows are left out.

    Returns
    -------
    DataFrame rater, system, line, value (points, 0 to 100), doc.
    """
    names = [name for name in _CELLS.split() if kind == "esa" or name != "spans"]
    first = _first_row(path)
    if "".join(first[4:5]) in _TYPES:
        names[1:3] = ["line", "system", "n"]
    names += ["batch", "item"] * (len(first) == len(names) + 2)
    at = names.index("line")
    numbered = "".join(first[at : at + 1]).strip().isdigit()
    kinds: dict[str, Any] = {"line": int if numbered else str, "value": float}
    table = read_table(path, kinds, names=names).drop_duplicates()
    _refuse(~table.value.between(0, 100), "points: expected 0 to 100", path, table.value)
    codes = {code: short_code(known_code(code.strip())) for code in {*table.src, *table.trg}}
    pair = table.src.map(codes) + "-" + table.trg.map(codes)
    checks.one_of(lp, {*pair}, f"language pair of {Path(path).name}")
    rated = (table.type == "TGT") & (table.whole.str.strip().str.lower() != "true")
    return table[(pair == lp) & rated & ~table.doc.str.contains(_CONTROLS)]


def _with_segments(ratings: pd.DataFrame, whole: TestSet, path: Path) -> pd.DataFrame:
    """Add segments to lines that count from 0, 1 or 2, as the documents decide, or that are ids of WMT25."""
    if ratings.line.dtype == object:
        at = {(doc, str(whole.docs[:i].count(doc))): i for i, doc in enumerate(whole.docs)}
        found = ratings.line.map(_of_2025).map(at.get)
        _refuse(found.isna(), f"line: expected a paragraph of {whole.name}", path, ratings.line)
        return ratings.assign(segment=found.astype(int))
    docs = np.array([*whole.docs, None, None], dtype=object)
    fits = {}
    for start in (1, 0, 2):
        segment = (ratings.line - start).where(
            ratings.line.between(start, len(whole) - 1 + start), -1
        )
        fits[start] = (ratings.doc == docs[segment]).to_numpy()
    starts = [start for start, fit in fits.items() if fit.all()]
    if len(starts) != 1:
        told = f"lines and documents fit {len(starts)} numberings of {whole.name}. Name its --docs."
        raise DataError(told, path, int(ratings.index[max(fits.values(), key=np.sum).argmin()]))
    return ratings.assign(segment=ratings.line - starts[0])


def _of_2025(name: str) -> tuple[str, str]:
    """Document and paragraph of an id of WMT25."""
    doc, _, paragraph = name.replace("_#_vid_", "_#_").rpartition("_#_")
    return doc, paragraph


def _read_json(path: str | PathLike, lp: str) -> pd.DataFrame:
    """Read ratings with their texts, of WMT25 those of one language pair: text, src, system, value, doc.

    Of a rater's ratings of an item the last counts. Controls are left out.
    """
    logs: dict[str, Any] = {"": _read_jsonl(path)}
    if len(logs[""]) == 1 and all(isinstance(log, list) for log in logs[""][0].values()):
        logs = logs[""][0]
    last, rows, line = {}, [], 1
    try:
        for name, log in logs.items():
            for line, record in enumerate(log, 1):
                last[name, record.get("user_id"), record.get("item_i", line)] = line, record
        for line, record in last.values():
            rows += [(line, *row) for row in _rows_of(record, lp)]
    except (AttributeError, KeyError, TypeError, ValueError):
        told = "expected tgt_text and scores, or item with tgt, and annotation, all by system"
        raise DataError(f"malformed ratings: {told}.", path, line) from None
    table = pd.DataFrame(rows, columns=["line", "text", "src", "system", "value", "doc"])
    table = table.set_index("line").dropna(subset=["value"])
    _refuse(~table.value.between(0, 100), "points: expected 0 to 100", path, table.value)
    return table if table.src.any() else table.drop(columns="src")


def _rows_of(record: dict[str, Any], lp: str) -> Iterator[tuple[Any, ...]]:
    """Iterate over the ratings of a record."""
    doc, items = record.get("doc_id", ""), []
    if "scores" in record:
        items = [(record["src_text"], record["tgt_text"], record["scores"])]
        items *= _pair_2025(doc) == lp
    elif "target_text" in record:
        system, rated = record["target_id"], not record["is_complete_document"]
        items = [(record["source_text"], {system: record["target_text"]}, {system: record})]
        items *= rated and record["item_type"] == "TGT"
    elif isinstance(record["item_i"], int) and record["annotation"] != "__RESET__":
        pairs = zip(record["item"], record["annotation"], strict=True)
        items = [(i.get("src"), i["tgt"], a or {}) for i, a in pairs if "validation" not in i]
    for src, texts, scores in items:
        for system, given in scores.items():
            for one in given if isinstance(given, list) else [given]:
                value = one.get("score", one.get("human"))
                value = float("nan" if value is None else value)
                yield _plain(texts[system]), _plain(src or ""), system, value, _of_2025(doc)[0]


# -- ratings of single texts -------------------------------------------------------------------------------------------

_AXES = ("naturalness", "accuracy")
RATED = {axis: f"rated-{axis}" for axis in _AXES}
"""Axis -> the metric whose scores are the ratings."""
_RATINGS = "ratings.tsv"
_COLUMNS = {"segment": int, "id": str, "pass": str} | dict.fromkeys(_AXES, float)


@dataclass(frozen=True, eq=False)
class TextRatings:
    """P ratings of each of n texts: the candidates of a set in their order, then its rated references.

    Parameters
    ----------
    name : str
        Of the set.
    passes : tuple of str
        P names.
    segment : (n,) int64, from 0.
    ids, srcs, texts : tuples of n str.
    naturalness, accuracy : (n, P), 0 to 100, higher is better.
    n_candidates : int
        The number of candidates among the texts.
    digest : str
        First 8 hex digits of the sha256 of the file.
    """

    name: str
    passes: tuple[str, ...]
    segment: np.ndarray
    ids: tuple[str, ...]
    srcs: tuple[str, ...] = field(repr=False)
    texts: tuple[str, ...] = field(repr=False)
    naturalness: np.ndarray = field(repr=False)
    accuracy: np.ndarray = field(repr=False)
    n_candidates: int
    digest: str

    def mean(self, axis: str) -> np.ndarray:
        """(n,) means over the passes of "naturalness" or "accuracy", 0 to 100."""
        return getattr(self, checks.one_of(axis, _AXES, "axis")).mean(axis=1)


def load_ratings(name: str | PathLike = "teaching") -> TextRatings:
    """Load the ratings of a set's candidates and references.

    Parameters
    ----------
    name : str or path
        A teaching set; a folder with ratings.tsv, candidates.jsonl and the texts; or self-contained JSONL with
        ratings.tsv beside it.

    Raises
    ------
    DataError : no ratings; a malformed row, a rating outside 0 to 100 or given twice, with its line; a rating of an
        unknown text, or a text without its rating in some pass.
    """
    file = ratings_beside(name)
    if file is None:
        raise DataError(f"no ratings. Expected {_RATINGS} with {', '.join(_COLUMNS)}.", name)
    test, cands = load(name), load_candidates(name)
    table = read_table(file, _COLUMNS, quoted=False, keys=("segment", "id", "pass"))
    for axis in _AXES:
        _refuse(~table[axis].between(0, 100), f"{axis}: expected 0 to 100", file, table[axis])
    keys = zip(cands.segment.tolist(), cands.ids or (), strict=False)
    texts = dict(zip(keys, cands.texts, strict=False))
    rated = dict.fromkeys(zip(table.segment, table.id, strict=True))
    others = {(i, text.rpartition("/")[2]): text for i, text in rated if (i, text) not in texts}
    for ref, stream in test.refs.items():
        texts |= {(i, others[i, ref]): text for i, text in enumerate(stream) if (i, ref) in others}
    keyed = table[["segment", "id"]]
    said = "expected the id of a candidate, or /REFERENCE"
    _refuse(~keyed.apply(tuple, axis=1).isin(texts), said, file, keyed)
    passes = tuple(table["pass"].unique())
    wide = table.pivot(index=["segment", "id"], columns="pass", values=[*_AXES]).reindex([*texts])
    if (gaps := wide.isna().any(axis=1)).any():
        said = "{} of segment {}".format(*reversed(wide.index[gaps][0]))
        told = f"ratings of some pass are missing for {counted(gaps.sum(), 'text')}"
        raise DataError(f"{told}, first {said:.60}.", file)
    segment, ids = zip(*texts, strict=True)
    called = str(name) if str(name) in SETS else Path(name).name
    rated = tuple(test.srcs[i] for i in segment), tuple(texts.values())
    points = (wide[axis][[*passes]].to_numpy() for axis in _AXES)
    facts = *rated, *points, len(cands), sha256(read_bytes(file)).hexdigest()[:8]
    return TextRatings(called, passes, np.array(segment, dtype=np.int64), ids, *facts)


def ratings_beside(name: str | PathLike) -> Path | None:
    """Return the file of ratings of a set, by its name or path; None if it is missing or has no rows."""
    if str(name) in SETS:
        return _own_file(bundled(SETS[str(name)].path), _RATINGS) if str(name) in TEACHING else None
    return _own_file(name if os.path.isdir(name) else Path(name).parent, _RATINGS)


def rated_name(axis: str, data: str | PathLike) -> str:
    """Name the ratings of a set as a metric.

    Parameters
    ----------
    axis : {"naturalness", "accuracy"}
    data : str or path
        As in `load_ratings`.

    >>> rated_name("accuracy", "teaching/de-en"), rated_name("accuracy", "my/set")
    ('rated-accuracy', 'rated-accuracy:my/set')
    """
    name = RATED[checks.one_of(axis, _AXES, "axis")]
    return name if str(data) in TEACHING else f"{name}:{data}"


def _rated_metric(name: str, trg_lang: str = "de") -> Metric:
    """The metric whose score of a text is its mean rating over the passes; nan without a rating.

    A text is found by its source and its words, in any part of the set; equal texts of a source share the mean of
    their ratings. A DataError if no text has a rated source.

    Parameters
    ----------
    name : str
        "rated-accuracy" or "rated-naturalness" of the teaching set; "rated-accuracy:my/folder" of another set.
    trg_lang : str
        Language of the translations, which selects the teaching set.
    """
    called, colon, place = name.partition(":")
    axis = checks.one_of(called, RATED.values(), "rating").removeprefix("rated-")
    ratings = load_ratings(place) if colon else _of_package(teaching_set(trg_lang) or "teaching")
    found: dict[tuple[str, str], list[float]] = {}
    for src, text, value in zip(ratings.srcs, ratings.texts, ratings.mean(axis), strict=True):
        found.setdefault((src.strip(), text.strip()), []).append(value)
    known = {key: float(np.mean(values)) for key, values in found.items()}
    sources = {src for src, _ in known}

    def score_segments(
        hyps: Sequence[str], *, refs: Any = None, srcs: Sequence[str] = (), segment: Any = None
    ) -> np.ndarray:
        where = range(len(hyps)) if segment is None else np.asarray(segment).tolist()
        keys = [(srcs[i].strip(), hyp.strip()) for i, hyp in zip(where, hyps, strict=True)]
        if keys and not any(src in sources for src, _ in keys):
            raise DataError(f"{name}: no source is rated in {ratings.name}. Use {called}:FOLDER.")
        if unrated := sum(bool(key[1]) and key not in known for key in keys):
            note_once(f"{name}: {unrated} of {len(keys)} texts have no rating in {ratings.name}.")
        return np.array([known.get(key, np.nan) for key in keys])

    parts = {"set": ratings.name, "passes": "+".join(ratings.passes), "n": len(ratings.ids)}
    label = f"rated {axis}, {ratings.name}" if colon else f"rated {axis}"
    signature = signature_of({called: None, **parts, "sha256": ratings.digest})
    facts = name, label, "points, 0 to 100", True, ("srcs",), signature, score_segments
    return Metric(*facts, bounds=(0.0, 100.0))


_of_package = lru_cache(4)(load_ratings)


def _named(asked: Asked) -> Metric:
    """The maker of `_rated_metric` in the table of metrics."""
    return _rated_metric(asked.name, asked.lang)
