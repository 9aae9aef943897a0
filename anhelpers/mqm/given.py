"""Expert ratings as a metric: the penalty, accuracy or fluency of the very translations that were rated."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from .. import checks
from ..data.given import covered, digest_of, need_some
from ..data.rating_join import Join, join_ratings
from ..data.ratings import Ratings, read_ratings
from ..data.schema import TestSet
from ..data.sets import SETS, find_file, ratings_file
from ..errors import DataError
from ..metrics import Asked, Given, Metric, signature_of
from .scores import MqmScores, choose_scheme, score_ratings

__all__ = ["mqm_metric", "named"]

KIND_OF = {"mqm": "penalty", "mqm-accuracy": "accuracy", "mqm-fluency": "fluency"}
"""Name of the metric -> what it counts, one of `scores.KINDS`."""


def mqm_metric(name: str) -> Metric:
    """The metric whose score of a system's segment is its mean MQM penalty over its raters, in points, lower is better.

    Scheme and weights are those that `score_ratings` takes by default, the scheme that which covers the ratings best. A
    translation counts where the rated text is the test set's; one that nobody rated has nan, and notes count both.

    Parameters
    ----------
    name : "mqm:FILE", "mqm-accuracy:FILE" or "mqm-fluency:FILE"; FILE is a table of ratings as `read_ratings` takes it,
        or the name of a data set with ratings, such as "mqm/ted-ende" or "wmt23/en-de".

    Raises
    ------
    DataError : no such file; a broken one; when it scores, ratings of other texts.
    """
    called, _, place = name.partition(":")
    kind = KIND_OF[checks.one_of(called, KIND_OF, "kind of MQM score")]
    if not place.strip():
        raise DataError(f"'{name}' names no file; write it after the colon, as in {called}:FILE.")
    path = _file(place)
    ratings, scores = _scored(str(path), path.stat().st_mtime_ns if path.is_file() else 0)

    def score_systems(test: TestSet) -> Given:
        join = join_ratings(test, ratings)
        values, told = _at(test, scores, join, kind)
        raters = _raters(scores)
        notes = (*scores.notes, *join.report, *told, covered(test, values, called), raters)
        found = Given(values, tuple(filter(None, notes)), _docs(test, scores, join))
        return need_some(found, test, called, path)

    return Metric(
        name,
        f"MQM {kind}",
        "points per segment",
        False,
        (),
        signature_of({scores.signature: None, "kind": kind, "sha256": digest_of([path])}),
        None,
        bounds=(0.0, np.inf),
        score_systems=score_systems,
    )


def named(asked: Asked) -> Metric:
    """The ratings of a row of the table of metrics."""
    return mqm_metric(asked.name)


def _file(place: str) -> Path:
    """The file of ratings behind a name's colon."""
    if place.startswith("mqm/") and place in SETS:
        return find_file(place)
    path = ratings_file(place) or Path(place)
    if not os.path.lexists(path):
        raise DataError("no such file of MQM ratings; give one, or the name of a data set.", path)
    return path


@lru_cache(maxsize=2)
def _scored(path: str, changed: int) -> tuple[Ratings, MqmScores]:
    """Ratings with their texts, and their penalties; read once for both axes while the file is the same."""
    ratings = read_ratings(path, texts=True)
    return ratings, score_ratings(ratings, choose_scheme(ratings))


def _at(test: TestSet, scores: MqmScores, join: Join, kind: str) -> tuple[np.ndarray, list[str]]:
    """(N, k) penalties at the segments and systems of the test set, and who stands for whom."""
    matrix = scores.matrix(kind).values
    values = np.full((len(test), len(test.systems)), np.nan)
    told: list[str] = []
    for column, name in enumerate(test.systems):
        rated = [j for j, system in enumerate(scores.systems) if join.names.get(system) == name]
        if not rated:
            continue
        same = join.same[:, rated] & (join.rows >= 0)[:, None] & ~np.isnan(matrix[:, rated])
        n, sums = same.sum(1), np.where(same, matrix[:, rated], 0.0).sum(1)
        values[join.rows[n > 0], column] = sums[n > 0] / n[n > 0]
        names = [scores.systems[j] for j in rated]
        if names != [name]:
            mean = "the mean of the ratings" if names[1:] else "the ratings"
            told.append(f"{name} has {mean} of {' and '.join(names)}, whose texts are its own.")
    return values, told


def _docs(test: TestSet, scores: MqmScores, join: Join) -> tuple[str, ...]:
    """The document of each segment as the raters had it, "" where nothing was rated."""
    docs = [""] * len(test)
    for row, doc in zip(join.rows.tolist(), scores.docs, strict=True):
        if row >= 0:
            docs[row] = doc
    return tuple(docs)


def _raters(scores: MqmScores) -> str:
    """How many raters saw a translation, and what that means for the interval."""
    units = np.bincount(scores.segment * len(scores.systems) + scores.system)
    units = units[units > 0]
    seen = f"{units.min()}" if units.min() == units.max() else f"{units.min()} to {units.max()}"
    mean = "the mean of " if units.max() > 1 else ""
    return (
        f"MQM: each translation has {mean}{seen} rating{'s' * bool(units.max() > 1)} ({len(scores.raters)} raters in "
        "all); the raters are held fixed, intervals are for other documents."
    )
