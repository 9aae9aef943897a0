"""Ratings of single texts, naturalness and accuracy from 0 to 100, and the two metrics whose scores they are.

A table ``segment id pass naturalness accuracy``, separated by tabs: a row per text and pass (a rater, or one going
through). Segments count from 0. An id is that of a candidate, or ends in ``/`` and the name of a reference.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from ..metrics import Asked, Metric, signature_of
from ..progress import note_once
from .candidates import read_candidate_file, read_candidates
from .fetch import bundled
from .io import decode, read_bytes, split_lines
from .schema import CandidateSet, TestSet
from .sets import CANDIDATES, SETS, TEACHING, load, load_candidates, own_file, teaching_set

__all__ = [
    "RATED",
    "TextRatings",
    "load_ratings",
    "named",
    "rated_metric",
    "rated_name",
    "ratings_beside",
]

AXES = ("naturalness", "accuracy")
RATED = {axis: f"rated-{axis}" for axis in AXES}
"""Axis -> the metric whose scores are the ratings."""

FILE, HEADER = "ratings.tsv", ("segment", "id", "pass", *AXES)
WANTED = (
    f"a file {FILE} with the columns {', '.join(HEADER)}, beside a candidates.jsonl whose "
    "candidates have ids"
)


@dataclass(frozen=True, eq=False)
class TextRatings:
    """P ratings of each of n texts: the candidates of a set in their order, then its rated references, each over all N.

    Parameters
    ----------
    name : of the set. passes : P names.
    segment : (n,) int64, from 0. ids, srcs, texts : n each.
    naturalness, accuracy : (n, P), 0 to 100, higher is better.
    n_candidates : how many of the n are candidates. digest : 8 hex digits of the sha256 of the file.
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

    def each(self, axis: str) -> np.ndarray:
        """(n, P) ratings of one axis, "naturalness" or "accuracy"."""
        return {"naturalness": self.naturalness, "accuracy": self.accuracy}[
            checks.one_of(axis, AXES, "axis")
        ]

    def mean(self, axis: str) -> np.ndarray:
        """(n,) means over the passes, 0 to 100, higher is better."""
        return self.each(axis).mean(axis=1)


def load_ratings(name: str | PathLike = "teaching") -> TextRatings:
    """The ratings of a set's candidates and references, text by text.

    Parameters
    ----------
    name : a teaching set; a folder with ratings.tsv, candidates.jsonl and the texts (a WMT tree); or self-contained
        JSONL with ratings.tsv beside it.

    Raises
    ------
    DataError : no ratings, a broken line, a rating that is no number from 0 to 100, a text without its rating in some
        pass, a rating of no text of the set; it names the first, and counts them.
    """
    entry, place, file = SETS.get(str(name)), Path(name), _beside(name)
    if file is None and entry is not None:
        raise DataError(f"{name} has no ratings of its texts; that takes {WANTED}.")
    if file is None:
        raise DataError(f"has no ratings of its texts; that takes {WANTED}.", place)
    test, cands = _own(place) if entry is None else (load(name), load_candidates(name))
    data = read_bytes(file)
    rows, passes = _rows(split_lines(decode(data, file)), file)
    ids, segment, texts = _rated_texts(test, cands, rows, file)
    keys = list(zip(segment, ids, strict=True))
    missing = [(key, one) for key in keys for one in passes if (*key, one) not in rows]
    if missing:
        (where, text), one = missing[0]
        raise DataError(
            f"{text} of segment {where} has no rating in {one} ({len(missing)} such ratings of "
            f"{len(keys) * len(passes)} are missing); rate it, or leave its pass away.",
            file,
        )
    values = np.array([[rows[*key, one] for one in passes] for key in keys])
    srcs = tuple(test.srcs[i] for i in segment)
    return TextRatings(
        str(name) if entry else place.name,
        passes,
        np.array(segment, dtype=np.int64),
        ids,
        srcs,
        texts,
        values[..., 0],
        values[..., 1],
        len(cands),
        sha256(data).hexdigest()[:8],
    )


def ratings_beside(name: str | PathLike) -> Path | None:
    """The file of ratings of a set, by its name or beside its texts; None where there is none, or no row in it yet."""
    file = _beside(name)
    return file and own_file(file.parent, FILE)


def _beside(name: str | PathLike) -> Path | None:
    """The file of ratings, with or without rows."""
    entry, place = SETS.get(str(name)), Path(name)
    if entry is not None and str(name) not in TEACHING:
        return None
    folder = (
        bundled(entry.path)
        if entry is not None
        else place
        if os.path.isdir(place)
        else place.parent
    )
    return folder / FILE if (folder / FILE).is_file() else None


def _own(place: Path) -> tuple[TestSet, CandidateSet]:
    """Texts and candidates of a user's own set."""
    if os.path.isdir(place):
        test = load(place)
        return test, read_candidates(place / CANDIDATES, srcs=test.srcs)
    own, cands = read_candidate_file(place)
    if own is None:
        raise DataError(
            "holds no sources, so its ratings belong to no text; name the folder of all files.",
            place,
        )
    return own, cands


def _rows(
    lines: tuple[str, ...], file: Path
) -> tuple[dict[tuple[int, str, str], tuple[float, float]], tuple]:
    """(segment, id, pass) -> (naturalness, accuracy); and the passes in the order of the file."""
    if not lines or tuple(lines[0].split("\t")) != HEADER:
        raise DataError(f"its header must be {', '.join(HEADER)}, separated by tabs.", file, 1)
    rows: dict[tuple[int, str, str], tuple[float, float]] = {}
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if len(cells) != len(HEADER):
            raise DataError(f"has {len(cells)} fields, and the header {len(HEADER)}.", file, number)
        if not (cells[0].isascii() and cells[0].isdigit() and len(cells[0]) < 10):
            raise DataError(f"'{cells[0]}' is no segment; they count from 0.", file, number)
        if not (cells[1].strip() and cells[2].strip()):
            raise DataError("there is no id, or no pass; give both.", file, number)
        key = int(cells[0]), cells[1], cells[2]
        if key in rows:
            raise DataError(
                f"{key[1]} of segment {key[0]} has a second rating in {key[2]}.", file, number
            )
        try:
            scores = [float(cell) for cell in cells[3:]]
        except ValueError:
            scores = [-1.0]
        if not all(0 <= score <= 100 for score in scores):
            raise DataError(f"got {cells[3:]}, expected ratings from 0 to 100.", file, number)
        rows[key] = scores[0], scores[1]
    if not rows:
        raise DataError("this table has no rows.", file)
    return rows, tuple(dict.fromkeys(one for _, _, one in rows))


def _rated_texts(
    test: TestSet, cands: CandidateSet, rows: dict, file: Path
) -> tuple[tuple[str, ...], list[int], tuple[str, ...]]:
    """Ids, segments and texts of all candidates and of the rated references; a DataError for ids of no text."""
    if cands.ids is None:
        raise DataError(
            f"the candidates have no ids, by which ratings are found; that takes {WANTED}.", file
        )
    segment = cands.segment.tolist()
    texts = dict(zip(zip(segment, cands.ids, strict=True), cands.texts, strict=True))
    others = dict.fromkeys((i, text) for i, text, _ in rows if (i, text) not in texts)
    for ref, stream in test.refs.items():
        of_ref = {i: text for i, text in others if text.rpartition("/")[2] == ref}
        if of_ref:
            texts |= {
                (i, of_ref.get(i, f"…/{ref}")): stream[i] for i in range(len(test)) if stream[i]
            }
    unknown = [key for key in others if key not in texts]
    if unknown:
        where, text = unknown[0]
        raise DataError(
            f"{text} of segment {where} is neither a candidate nor a reference ({len(unknown)} "
            "such); ids are those of the candidates, or end in / and a reference's name.",
            file,
        )
    return tuple(key[1] for key in texts), [key[0] for key in texts], tuple(texts.values())


def rated_name(axis: str, data: str | PathLike) -> str:
    """What the ratings of a set are called as a metric.

    Parameters
    ----------
    axis : "naturalness" or "accuracy". data : as in `load_ratings`.

    >>> rated_name("accuracy", "teaching/de-en"), rated_name("accuracy", "my/set")
    ('rated-accuracy', 'rated-accuracy:my/set')
    """
    name = RATED[checks.one_of(axis, AXES, "axis")]
    return name if str(data) in TEACHING else f"{name}:{data}"


def rated_metric(name: str, trg_lang: str = "de") -> Metric:
    """The metric whose score of a text is its mean rating over the passes.

    A text is found by its source and its own words, white space around them aside, so that it is found in any part of
    the set; equal texts of a source share the mean of their ratings. One without a rating, as every blank one, scores
    nan, which a note counts; texts of which not one has a rated source are a DataError.

    Parameters
    ----------
    name : "rated-accuracy" or "rated-naturalness" for the teaching set's; with a colon and what `load_ratings` takes
        for another's, such as "rated-accuracy:my/folder".
    trg_lang : language of the translations, which says which of the teaching sets is meant.
    """
    called, colon, place = name.partition(":")
    checks.one_of(called, RATED.values(), "rating")
    if colon and not place.strip():
        raise DataError(f"'{name}' names no set; write a folder, or a JSONL file, after the colon.")
    axis = called.removeprefix("rated-")
    own = teaching_set(trg_lang) or "teaching"
    ratings = load_ratings(place) if place else _of_package(own)
    found: dict[tuple[str, str], list[float]] = {}
    for src, text, value in zip(
        ratings.srcs, ratings.texts, ratings.mean(axis).tolist(), strict=True
    ):
        found.setdefault((src.strip(), text.strip()), []).append(value)
    known = {key: float(np.mean(values)) for key, values in found.items()}
    sources = {src for src, _ in known}

    def score_segments(
        hyps: Sequence[str],
        *,
        refs: object = None,
        srcs: Sequence[str] = (),
        segment: ArrayLike | None = None,
    ) -> np.ndarray:
        where = range(len(hyps)) if segment is None else np.asarray(segment).tolist()
        keys = [(srcs[i].strip(), hyp.strip()) for i, hyp in zip(where, hyps, strict=True)]
        if keys and not any(src in sources for src, _ in keys):
            raise DataError(
                f"{name} knows the ratings of {ratings.name}, and none of these texts has a "
                f"source of it; {called}:FOLDER takes other ratings: {WANTED}."
            )
        scores = np.array([known.get(key, np.nan) for key in keys])
        unrated = sum(bool(hyp) and key not in known for key in keys for hyp in key[1:])
        if unrated:
            note_once(
                f"{name}: {unrated} of {len(keys)} texts have no rating in {ratings.name}, and no "
                "score."
            )
        return scores

    said = {
        "set": ratings.name,
        "passes": "+".join(ratings.passes),
        "n": len(ratings.ids),
        "sha256": ratings.digest,
    }
    label = f"rated {axis}, {ratings.name}" if colon else f"rated {axis}"
    return Metric(
        name,
        label,
        "points, 0 to 100",
        True,
        ("srcs",),
        signature_of({called: None, **said}),
        score_segments,
        bounds=(0.0, 100.0),
    )


@lru_cache(4)
def _of_package(name: str) -> TextRatings:
    """The ratings of a teaching set, which do not change while a program runs."""
    return load_ratings(name)


def named(asked: Asked) -> Metric:
    """The ratings of a row of the table of metrics."""
    return rated_metric(asked.name, asked.lang)
