"""Raters and their marks: a row per mark, category or rater."""

from typing import NamedTuple

import pandas as pd

from ..data.mqm_tables import Scheme, Weights
from ..data.ratings import Ratings
from ..errors import DataError
from .scores import KINDS


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
