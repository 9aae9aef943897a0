"""Raters and their marks: a row per mark, category or rater."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from ..bootstrap import bootstrap_means, clusters_of
from ..data.mqm_tables import Scheme, Weights
from ..data.ratings import Ratings
from ..errors import DataError
from .scores import KINDS, MqmScores


class _MarkedTranslation(NamedTuple):
    """A translation with its source and its marks, rows of `marks_table`."""

    source: str
    translation: str
    marks: pd.DataFrame


def marks_table(ratings: Ratings, scheme: Scheme, weights: Weights) -> pd.DataFrame:
    """Every mark of every rater, with its axis and its weight; a rating without an error is a row, too.

    Returns
    -------
    DataFrame of system, segment, rater, category, severity, span (the marked words, "" if read without texts),
    dimension ("accuracy", "fluency", "ignored", "none"; None for a category without a row of the scheme), points (MQM
    points ≥ 0; nan without a row of the weights).
    """
    table = ratings.frame()[["system", "segment", "rater", "category", "severity"]]
    table["span"] = list(ratings.spans) or ""
    table["dimension"] = table.category.map({c: scheme.dimension(c) for c in ratings.categories})
    kinds = zip(table.severity, table.category, strict=True)
    table["points"] = [weights.weight(*kind) for kind in kinds]
    return table


def category_table(marks: pd.DataFrame) -> pd.DataFrame:
    """Number of marks and sum of points of each category, the most expensive first.

    Parameters
    ----------
    marks : DataFrame
        From `marks_table`.

    Returns
    -------
    DataFrame by category: dimension; ratings (their number); points (sum, MQM points); share (of all points, 0 to 1);
    a column per severity with the number of its marks.
    """
    aggregates = {"dimension": ("dimension", "first"), "ratings": ("points", "size")}
    table = marks.groupby("category").agg(**aggregates, points=("points", "sum"))
    table["share"] = table.points / table.points.sum()
    table = table.join(pd.crosstab(marks.category, marks.severity))
    return table.sort_values("points", ascending=False, kind="stable")


def marked_example(
    ratings: Ratings, marks: pd.DataFrame, n_characters: int = 100
) -> _MarkedTranslation:
    """An example by rule: of the translations with errors on most axes, the one nearest to a length.

    Parameters
    ----------
    ratings : Ratings
        Read with texts=True.
    marks : DataFrame
        From `marks_table`.
    n_characters : int
        The length; of two translations that are equally near, the first by system and segment.
    """
    if not ratings.targets:
        raise DataError("got ratings without texts. Read them by read_ratings(path, texts=True).")
    segment = dict(zip(ratings.segment_names, ratings.segments, strict=True))
    counted = marks.dimension.where(marks.dimension.isin(KINDS))
    kinds = counted.groupby([marks.system, marks.segment]).nunique()
    texts = {unit: ratings.targets[unit[0], segment[unit[1]]] for unit in kinds.index}
    most = kinds.index[kinds == kinds.max()]
    system, name = min(most, key=lambda unit: abs(len(texts[unit]) - n_characters))
    own = marks[(marks.system == system) & (marks.segment == name)].reset_index(drop=True)
    return _MarkedTranslation(ratings.sources[segment[name]], texts[system, name], own)


def rater_table(scores: MqmScores, rng: np.random.Generator, n_draws: int = 1000) -> pd.DataFrame:
    """Mean penalty, accuracy and fluency of each rater, over the translations that this rater saw.

    Raters may have seen other segments: a high mean may be due to hard segments and not to a strict rater.

    Parameters
    ----------
    rng, n_draws : Generator, int
        Of the intervals, which resample documents (segments of a single document).

    Returns
    -------
    DataFrame of rater, n (translations); penalty, penalty_low, penalty_high and so on, MQM points per segment, lower
    is better.

    Raises
    ------
    DataError : ratings of a single segment, which has no interval.
    """
    n_segments, n_systems = len(scores.segments), len(scores.systems)
    cell = np.ravel_multi_index((scores.segment, scores.system), (n_segments, n_systems))
    docs = np.repeat(clusters_of(np.array(scores.docs)), n_systems)
    columns = {"rater": scores.raters, "n": np.bincount(scores.rater, minlength=len(scores.raters))}
    for k, kind in enumerate(KINDS):
        values = np.full((n_segments * n_systems, len(scores.raters)), np.nan)
        values[cell, scores.rater] = scores.values[:, k]
        found = bootstrap_means(values, docs, rng, n_draws)
        columns |= {kind: found.mean, f"{kind}_low": found.low, f"{kind}_high": found.high}
    return pd.DataFrame(columns)
