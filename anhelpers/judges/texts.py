"""Who judges, and what: the texts of a data set with the scores of every judge of naturalness that fits them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from ..data.rating_join import Join, join_ratings
from ..data.ratings import read_ratings
from ..data.schema import CandidateSet, TestSet
from ..data.sets import TEACHING, load, load_candidates, ratings_file
from ..data.text_ratings import (
    RATED,
    TextRatings,
    load_ratings,
    rated_metric,
    rated_name,
    ratings_beside,
)
from ..errors import DataError
from ..metrics import Metric, fitting_metrics
from ..mqm import MqmScores, choose_scheme, score_ratings
from ..plane import Axis, metric_axis, with_human_points
from ..scoring import score_all
from ..scoring.lookup import naturalness_metric, row_of

if TYPE_CHECKING:
    from ..naturalness.lm import LanguageModel

__all__ = ["DEFAULT", "PEOPLE", "JudgedTexts", "judge_texts", "load_judges", "load_texts"]

PEOPLE = RATED["naturalness"]
"""What ratings are called as a judge, whatever set they are of."""
DEFAULT = ("lpp", "critic", "critic+lpp", PEOPLE)


@dataclass(frozen=True)
class JudgedTexts:
    """The texts of a data set and what each judge of naturalness says of them.

    Parameters
    ----------
    data : the name or path of the set. test : its texts, with the references that an accuracy metric sees.
    cands : n candidates of N sources. everyone : the systems, and all references beside them as people.
    judges : name -> metric; `PEOPLE` is the last where there are ratings.
    scores : name -> (n,) naturalness of the candidates, higher is better. axes : name -> that of `everyone`.
    ratings : of the candidates; None where there are none.
    mqm : what experts marked in the systems' texts, with how these join the test set; None where nothing is known.
    lm : the language model, None where no judge needs one.
    notes : sentences on what was left out.
    """

    data: str
    test: TestSet
    cands: CandidateSet
    everyone: TestSet
    judges: Mapping[str, Metric]
    scores: Mapping[str, np.ndarray] = field(repr=False)
    axes: Mapping[str, Axis] = field(repr=False)
    ratings: TextRatings | None = None
    mqm: tuple[MqmScores, Join] | None = None
    lm: LanguageModel | None = None
    notes: tuple[str, ...] = ()

    @property
    def bundled(self) -> bool:
        """Whether this is a set that the gates are for."""
        return self.data in TEACHING

    @property
    def rated_accuracy(self) -> Metric:
        """The ratings of accuracy as a metric."""
        return rated_metric(rated_name("accuracy", self.data), self.test.trg_lang)


def load_texts(data: str | PathLike, lp: str | None = None) -> tuple[TestSet, CandidateSet]:
    """Texts and candidates of a set: of one's own folder those of its candidates.jsonl, where it has that.

    Parameters
    ----------
    lp : language pair of a folder that holds several.
    """
    return load(data, lp), load_candidates(data, lp)


def load_judges(
    names: Sequence[str] | None,
    trg_lang: str,
    lm: LanguageModel | None,
    data: str | PathLike = "teaching",
) -> tuple[dict[str, Metric], tuple[str, ...]]:
    """Judges by name, people last where the set has ratings; and a sentence for each one that is left out.

    Parameters
    ----------
    names : as in `scoring.lookup.TABLE`, which must all fit; None: those of DEFAULT that do.
    trg_lang : language of the texts. lm : the language model of lpp and the like.

    Raises
    ------
    DataError, UnknownName for a judge that was named and does not fit, or where none is left.
    """
    rated, notes = ratings_beside(data) is not None, ()
    if names is not None:
        judges = {name: _judge(name, trg_lang, lm, data) for name in names}
    else:
        alone = [name for name in DEFAULT if name != PEOPLE]
        judges, notes = fitting_metrics(
            "naturalness", alone, lambda name: _judge(name, trg_lang, lm, data)
        )
        if not rated:
            notes += (f"naturalness by {PEOPLE} is missing: {data} has no ratings of its texts.",)
    if rated:
        judges[PEOPLE] = (
            judges.pop(PEOPLE) if PEOPLE in judges else _judge(PEOPLE, trg_lang, lm, data)
        )
    if not judges:
        raise DataError(f"no judge fits the texts of {data}: {' '.join(notes)}")
    return judges, notes


def _judge(name: str, trg_lang: str, lm: LanguageModel | None, data: str | PathLike) -> Metric:
    row_of(name, "naturalness", "judge of naturalness")
    metric = naturalness_metric(
        rated_name("naturalness", data) if name == PEOPLE else name, trg_lang, lm
    )
    if metric.score_segments is None:
        what = "was given to systems" if metric.score_systems else "measures a whole corpus"
        raise DataError(
            f"{name} {what} and gives no other text a score; name a judge of single texts."
        )
    return metric


def judge_texts(
    texts: tuple[TestSet, CandidateSet],
    judges: Mapping[str, Metric],
    data: str | PathLike = "teaching",
    lm: LanguageModel | None = None,
) -> JudgedTexts:
    """The scores of every judge for every candidate, beside the ratings and expert annotations that the set has.

    Parameters
    ----------
    texts : of `load_texts`. judges : of `load_judges`. data : where both are from, by which ratings are found.
    """
    test = with_human_points(texts[0])
    cands = texts[1].without_blanks()
    everyone = with_human_points(texts[0], [])
    alone = test.without(test.systems)
    scores = {
        name: metric.oriented(score_all(alone, metric, cands)[0]) for name, metric in judges.items()
    }
    axes = {name: metric_axis(everyone, metric) for name, metric in judges.items()}
    ratings = load_ratings(data) if PEOPLE in judges else None
    mqm, notes = _mqm(test, data)
    return JudgedTexts(
        str(data),
        test,
        cands,
        everyone,
        judges,
        scores,
        axes,
        ratings,
        mqm,
        lm,
        (*test.notes, *notes),
    )


def _mqm(
    test: TestSet, data: str | PathLike
) -> tuple[tuple[MqmScores, Join] | None, tuple[str, ...]]:
    """The experts' marks of a named set that are here; else none, and why."""
    try:
        path = ratings_file(data)
    except DataError as error:
        return None, (f"no MQM ratings: {error}",)
    if path is None:
        return None, (f"no MQM ratings are known for {data}, so no ranking is compared with them.",)
    ratings = read_ratings(path, texts=True)
    return (score_ratings(ratings, choose_scheme(ratings)), join_ratings(test, ratings)), ()
