"""Single error marks and what they bring: a row per mark, per category, per rater; one translation to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..data.mqm_tables import Scheme, Weights
from ..data.ratings import Ratings
from ..errors import DataError
from ..intervals import bootstrap_means
from ..stats import clusters_of
from .scores import KINDS, MqmScores

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MarkedTranslation", "category_table", "marked_example", "marks_table", "rater_table"]

SIDES = KINDS[1:]


class MarkedTranslation(NamedTuple):
    """A translation with its source and the marks that raters left in it (rows of `marks_table`)."""

    source: str
    translation: str
    marks: pd.DataFrame


def marks_table(ratings: Ratings, scheme: Scheme, weights: Weights) -> pd.DataFrame:
    """Every mark of every rater, with the axis that its category counts for and what it costs.

    Parameters
    ----------
    scheme : says which categories are accuracy and which fluency. weights : what an error costs.

    Returns
    -------
    system, segment, rater, category, severity, span (the marked words, "" where the ratings were read without texts),
    dimension ("accuracy", "fluency", "ignored"; None for a category that the scheme does not know), points (MQM points
    ≥ 0; nan where no row of the weights fits). A rating without an error is a row, too.
    """
    table = ratings.frame()[["system", "segment", "rater", "category", "severity"]]
    table["span"] = list(ratings.spans) or ""
    table["dimension"] = table.category.map({c: scheme.dimension(c) for c in ratings.categories})
    kinds = list(zip(table.severity, table.category, strict=True))
    cost = {kind: weights.weight(*kind) for kind in set(kinds)}
    table["points"] = [cost[kind] for kind in kinds]
    return table


def category_table(marks: pd.DataFrame) -> pd.DataFrame:
    """A row per category, the most expensive first: how often it was marked, and how many points that brought.

    Parameters
    ----------
    marks : from `marks_table`.

    Returns
    -------
    category (the index); dimension; ratings, how many; points, their sum in MQM points; share, of all points, 0 to 1; a
    column per severity with the number of its marks.
    """
    import pandas as pd

    groups = marks.groupby("category")
    table = groups.agg(
        dimension=("dimension", "first"), ratings=("points", "size"), points=("points", "sum")
    )
    table["share"] = table.points / table.points.sum()
    table = table.join(pd.crosstab(marks.category, marks.severity))
    return table.sort_values("points", ascending=False, kind="stable")


def marked_example(
    ratings: Ratings, marks: pd.DataFrame, n_characters: int = 100
) -> MarkedTranslation:
    """A translation to look at, chosen by rule: of those with most kinds of errors the one nearest to a length.

    Translations with errors on both axes come before those with errors on one; then the nearest to `n_characters`
    decides, and where two are as near, the first by the names of system and segment.

    Parameters
    ----------
    ratings : read with texts=True. marks : from `marks_table`. n_characters : the length wanted, of the translation.

    Raises
    ------
    DataError where the ratings were read without texts.
    """
    if not ratings.targets:
        raise DataError("these ratings were read without texts: call read_ratings(…, texts=True).")
    segment = dict(zip(ratings.segment_names, ratings.segments, strict=True))
    counted = marks.dimension.where(marks.dimension.isin(SIDES))
    kinds = counted.groupby([marks.system, marks.segment]).nunique()
    texts = {unit: ratings.targets[unit[0], segment[unit[1]]] for unit in kinds.index}
    most = kinds.index[kinds == kinds.max()]
    system, name = min(most, key=lambda unit: abs(len(texts[unit]) - n_characters))
    own = marks[(marks.system == system) & (marks.segment == name)].reset_index(drop=True)
    return MarkedTranslation(ratings.sources[segment[name]], texts[system, name], own)


def rater_table(scores: MqmScores, rng: np.random.Generator, n_draws: int = 1000) -> pd.DataFrame:
    """A row per rater: the mean penalty, accuracy and fluency over the translations that this rater saw.

    Raters may have seen other segments: a high mean may belong to hard ones and not to a strict rater.

    Parameters
    ----------
    rng, n_draws : for the intervals, which resample documents (segments, where there is one document).

    Returns
    -------
    rater, n (translations); penalty, penalty_low, penalty_high and so on, MQM points per segment, lower is better.

    Raises
    ------
    DataError where the ratings are of a single segment, which has no interval.
    """
    import pandas as pd

    shape = len(scores.segments) * len(scores.systems), len(scores.raters)
    cell = np.ravel_multi_index(
        (scores.segment, scores.system), (shape[0] // len(scores.systems), len(scores.systems))
    )
    docs = np.repeat(clusters_of(np.array(scores.docs)), len(scores.systems))
    columns = {"rater": scores.raters, "n": np.bincount(scores.rater, minlength=shape[1])}
    for k, kind in enumerate(KINDS):
        values = np.full(shape, np.nan)
        values[cell, scores.rater] = scores.values[:, k]
        found = bootstrap_means(values, docs, rng, n_draws)
        columns |= {kind: found.mean, f"{kind}_low": found.low, f"{kind}_high": found.high}
    return pd.DataFrame(columns)
