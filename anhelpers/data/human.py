"""Human ratings from 0 to 100 points: exports of Appraise, tables, and ratings of single texts with their two metrics.

An export is CSV without a header, 12 cells a rating for ESA and 11 (without spans) for direct assessment. A table
``segment id pass naturalness accuracy`` of single texts, separated by tabs, has a row per text and pass (a rater, or
one reading). Segments count from 0. An id is that of a candidate, or ends in ``/`` and the name of a reference.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks
from .._lazy import pd
from ..errors import DataError
from ..metrics import Asked, Metric, signature_of
from ..progress import note_once
from .external import read_scores, within
from .fetch import bundled
from .io import _refuse, read_bytes, read_lines, read_table
from .languages import known_code, short_code
from .schema import TestSet
from .sets import SETS, TEACHING, _own_file, load, load_candidates, teaching_set, whereabouts

KINDS = {"esa": 12, "da": 11}
"""How outputs were rated -> cells of a row of an export."""
_CELLS = "rater system line type src trg value doc whole spans t0 t1"
_CONTROLS = r"-tutorial|#(?:bad|dup|incomplete)$"  # in the name of a document


def is_export(path: str | PathLike) -> bool:
    """Whether a file is an export of Appraise: its third cell is a number."""
    cells = next(iter(read_lines(path)), "").split(",")
    return len(cells) >= min(KINDS.values()) and cells[2].strip().isdigit()


def read_ratings_of(test: TestSet, paths: Sequence[Path], kind: str) -> pd.DataFrame:
    """Read human ratings of a test set: system, segment, value, rater (if known).

    Parameters
    ----------
    paths : sequence of path
        Exports of Appraise, or one table as `external.read_scores` reads it.
    kind : str
        One of KINDS, for exports.

    Raises
    ------
    DataError : with file and line, for a malformed row, points outside 0 to 100, and lines of other documents.
    """
    if not is_export(paths[0]):
        return pd.concat([read_scores(path, test) for path in paths])
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
    kinds: dict[str, Any] = {"line": int, "value": float}
    table = read_table(path, kinds, names=names).drop_duplicates()
    _refuse(~table.value.between(0, 100), "points: expected 0 to 100", path, table.value)
    codes = {code: short_code(known_code(code.strip())) for code in {*table.src, *table.trg}}
    pair = table.src.map(codes) + "-" + table.trg.map(codes)
    checks.one_of(lp, {*pair}, f"language pair of {Path(path).name}")
    rated = (table.type == "TGT") & (table.whole.str.strip().str.lower() != "true")
    return table[(pair == lp) & rated & ~table.doc.str.contains(_CONTROLS)]


def _with_segments(ratings: pd.DataFrame, whole: TestSet, path: Path) -> pd.DataFrame:
    """Add segments to lines that count from 0, 1 or 2; the documents decide."""
    docs = np.array([*whole.docs, None, None], dtype=object)
    fits = {}
    for start in (1, 0, 2):
        segment = (ratings.line - start).where(
            ratings.line.between(start, len(whole) - 1 + start), -1
        )
        fits[start] = (ratings.doc == docs[segment]).to_numpy()
    starts = [start for start, fit in fits.items() if fit.all()]
    if len(starts) != 1:
        best = max(fits.values(), key=np.sum)
        told = f"lines and documents fit {len(starts)} numberings of {whole.name}."
        raise DataError(told, path, int(ratings.index[best.argmin()]))
    return ratings.assign(segment=ratings.line - starts[0])


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
        raise DataError(f"{gaps.sum()} texts lack a rating in some pass, first {said:.60}.", file)
    segment, ids = zip(*texts, strict=True)
    return TextRatings(
        str(name) if str(name) in SETS else Path(name).name,
        passes,
        np.array(segment, dtype=np.int64),
        ids,
        tuple(test.srcs[i] for i in segment),
        tuple(texts.values()),
        wide["naturalness"][[*passes]].to_numpy(),
        wide["accuracy"][[*passes]].to_numpy(),
        len(cands),
        sha256(read_bytes(file)).hexdigest()[:8],
    )


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


def rated_metric(name: str, trg_lang: str = "de") -> Metric:
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
    return Metric(
        name,
        f"rated {axis}, {ratings.name}" if colon else f"rated {axis}",
        "points, 0 to 100",
        True,
        ("srcs",),
        signature_of({called: None, **parts, "sha256": ratings.digest}),
        score_segments,
        bounds=(0.0, 100.0),
    )


_of_package = lru_cache(4)(load_ratings)


def _named(asked: Asked) -> Metric:
    """The maker of `rated_metric` in the table of metrics."""
    return rated_metric(asked.name, asked.lang)
