"""All figures of the judges of a data set as tidy rows: a row per question, judge and item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.sets import load_mono, minimal_pairs, own_file
from ..data.text_ratings import RATED
from ..errors import DataError
from ..estimate import Estimate
from ..intervals import bootstrap_means, few_clusters
from ..metrics import Metric
from ..plane import Plane, metric_against, plane_of, systems_table
from ..scoring import score_all
from ..scoring.lookup import naturalness_metric
from ..stats import clusters_of
from .figures import RHO, minimal_pair_table, rank_agreement, win_share, within_sources
from .texts import PEOPLE, JudgedTexts

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["QUESTIONS", "TAG_PAIRS", "judge_table"]

QUESTIONS = {
    "tags": "Pairs of candidates: in how many sources the first has the higher score",
    "minimal pairs": "Minimal pairs: in how many the grammatical sentence has the higher score",
    "people": "Against the ratings: Spearman's ρ over the candidates of a source, mean over "
    "sources",
    "tradeoff": "Accuracy against naturalness: Spearman's ρ over the candidates of a source, mean "
    "over sources",
    "ranking": "Rankings of systems: Spearman's ρ of two judges",
    "mqm": "Rankings of systems: Spearman's ρ with what annotators marked as errors of fluency "
    "(MQM)",
    "systems": "The systems: place and mean over segments",
    "language model": "The language model itself",
}
"""What is asked of judges, in the order of the answers."""

TAG_PAIRS = (
    ("idiomatic", "literal-2"),
    ("idiomatic", "literal"),
    ("idiomatic", "calque"),
    ("free", "literal-2"),
    ("near-reference", "grammar"),
    ("near-reference", "wrong-order"),
)
"""Tags of candidates of which the first is meant to be the more natural one."""

FEWEST = 3
"""Systems that can be in one order or another."""
CHANCE = {"share": 0.5, RHO: 0.0}


def judge_table(
    judged: JudgedTexts, accuracy: Metric, rng: np.random.Generator, n_draws: int = 1000
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """How well judges of naturalness agree with people and with each other, with what cannot be said as notes.

    Every figure resamples the same documents, so that no judge moves the intervals of another.

    Parameters
    ----------
    judged : of `judge_texts`. accuracy : the metric of the other axis of the tradeoff.

    Returns
    -------
    question (of QUESTIONS), judge, item; value, low, high (95 %); n and n_of, what these are; unit; chance, what a
    judge without any sense gets, nan where that says nothing; signature of the judge.
    """
    import pandas as pd

    few = few_clusters(len(set(clusters_of(judged.test.docs).tolist())))
    notes = [*judged.notes, *filter(None, [few])]
    asked = _Asked(judged.test.docs, accuracy, int(rng.integers(2**32)), n_draws, notes)
    rows: list[dict[str, Any]] = []
    for answers in (
        _tags,
        _minimal_pairs,
        _people,
        _tradeoff,
        _rankings,
        _mqm,
        _systems,
        _language_model,
    ):
        try:
            for row in answers(judged, asked):
                rows.append(row)
        except DataError as error:  # what this set cannot tell; all else it may
            asked.notes.append(f"{answers.__name__[1:].replace('_', ' ')}: {error}")
    if not rows:
        raise DataError(
            f"nothing can be said of the judges of {judged.data}: {' '.join(asked.notes)}"
        )
    return pd.DataFrame(rows), tuple(dict.fromkeys(asked.notes))


@dataclass(frozen=True)
class _Asked:
    """What every question is asked with, and the notes that it leaves."""

    docs: tuple[str, ...]
    accuracy: Metric
    seed: int
    n_draws: int
    notes: list[str]

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    def within(self, segment: np.ndarray, x: np.ndarray, y: np.ndarray) -> Estimate:
        return within_sources(segment, x, y, self.docs, rng=self.rng(), n_draws=self.n_draws)

    def ranks(self, plane: Plane) -> Estimate:
        return rank_agreement(plane, self.rng(), self.n_draws)


def _row(metric: Metric, of: tuple[str, str, str], figure: Estimate) -> dict[str, Any]:
    """A row; of : question, judge, item."""
    return {
        **dict(zip(("question", "judge", "item"), of, strict=True)),
        **{name: getattr(figure, name) for name in ("value", "low", "high", "n")},
        "n_of": figure.of,
        "unit": figure.unit or figure.name,
        "chance": CHANCE.get(figure.name, np.nan),
        "signature": metric.signature,
    }


def _tags(judged: JudgedTexts, asked: _Asked) -> Iterator[dict[str, Any]]:
    """Of several candidates with a tag, a source has the mean score."""
    tags, segment, n = np.array(judged.cands.tags), judged.cands.segment, len(judged.test)
    pairs = [pair for pair in TAG_PAIRS if set(pair) <= set(tags.tolist())]
    if not pairs:
        raise DataError(
            "no candidates have tags such as idiomatic and literal, of which one is meant to be "
            "better."
        )
    for first, second in pairs:
        for judge, scores in judged.scores.items():
            figure = win_share(
                *(
                    _mean_by(segment, np.where(tags == tag, scores, np.nan), n)
                    for tag in (first, second)
                ),
                of="sources",
            )
            yield _row(judged.judges[judge], ("tags", judge, f"{first} > {second}"), figure)


def _mean_by(segment: np.ndarray, scores: np.ndarray, n: int) -> np.ndarray:
    """(n,) the mean score of each source; nan where it has none."""
    there = ~np.isnan(scores)
    count = np.bincount(segment[there], minlength=n)
    return np.divide(
        np.bincount(segment[there], scores[there], n),
        count,
        out=np.full(n, np.nan),
        where=count > 0,
    )


def _minimal_pairs(judged: JudgedTexts, asked: _Asked) -> Iterator[dict[str, Any]]:
    if pairs := minimal_pairs(judged.data):
        _, good, bad = zip(*pairs, strict=True)
        for judge, metric in judged.judges.items():
            if judge != PEOPLE:  # whose ratings are of candidates alone
                scores = metric.oriented(metric.score_segments([*good, *bad]))  # type: ignore[misc]  # a judge of texts
                figure = win_share(scores[: len(good)], scores[len(good) :])
                yield _row(metric, ("minimal pairs", judge, "good > bad"), figure)


def _people(judged: JudgedTexts, asked: _Asked) -> Iterator[dict[str, Any]]:
    rated = judged.ratings
    if rated is None:
        raise DataError(
            f"{judged.data} has no ratings of its texts, so that no judge is compared with readers."
        )
    people = judged.scores[PEOPLE]
    for judge, scores in judged.scores.items():
        if judge != PEOPLE:
            figure = asked.within(judged.cands.segment, scores, people)
            yield _row(judged.judges[judge], ("people", judge, "with the ratings"), figure)
    some = slice(rated.n_candidates)
    segment, each = rated.segment[some], rated.naturalness[some]
    for i, j in combinations(range(len(rated.passes)), 2):
        pair = f"{rated.passes[i]} with {rated.passes[j]}"
        figure = asked.within(segment, each[:, i], each[:, j])
        yield _row(judged.judges[PEOPLE], ("people", PEOPLE, pair), figure)


def _tradeoff(judged: JudgedTexts, asked: _Asked) -> Iterator[dict[str, Any]]:
    pairs = {judge: asked.accuracy for judge in judged.scores if judge != PEOPLE}
    if PEOPLE in judged.scores:
        # first: a set without references has at least this one
        pairs = {PEOPLE: judged.rated_accuracy, **pairs}
    known: dict[str, np.ndarray] = {}
    for judge, metric in pairs.items():
        if metric.name not in known:
            alone = judged.test.without(judged.test.systems)
            known[metric.name] = metric.oriented(score_all(alone, metric, judged.cands)[0])
        figure = asked.within(judged.cands.segment, known[metric.name], judged.scores[judge])
        item = f"with {RATED['accuracy'] if judge == PEOPLE else metric.name}"
        yield _row(judged.judges[judge], ("tradeoff", judge, item), figure)


def _rankings(judged: JudgedTexts, asked: _Asked) -> Iterator[dict[str, Any]]:
    if (n := len(judged.everyone.systems)) < FEWEST:
        raise DataError(f"systems and references of {judged.data}: {n}; a ranking takes {FEWEST}.")
    for (one, first), (other, second) in combinations(judged.axes.items(), 2):
        figure = asked.ranks(plane_of(judged.everyone, first, second))
        yield _row(judged.judges[one], ("ranking", one, f"with {other}"), figure)


def _mqm(judged: JudgedTexts, asked: _Asked) -> Iterator[dict[str, Any]]:
    for judge, metric in judged.judges.items() if judged.mqm else ():
        figure = asked.ranks(metric_against(judged.test, metric, *judged.mqm))  # type: ignore[misc]  # as just seen
        yield _row(metric, ("mqm", judge, "with MQM fluency"), figure)


def _systems(judged: JudgedTexts, asked: _Asked) -> Iterator[dict[str, Any]]:
    for judge, axis in judged.axes.items() if judged.everyone.systems else ():
        plane = plane_of(judged.everyone, axis, axis)
        asked.notes.extend(f"{judge}: {said}" for said in plane.notes[len(judged.everyone.notes) :])
        table = systems_table(plane, asked.rng(), asked.n_draws)
        # stable: systems of equal texts, and so of equal scores, stay in their order
        ranked = table.sort_values("naturalness", ascending=False, kind="stable")
        for row in ranked.to_dict("records"):
            low, high = row["naturalness_low"], row["naturalness_high"]
            at, n = row["naturalness"], row["n"]
            figure = Estimate(axis.title, at, low=low, high=high, n=n, of="segments")
            yield _row(judged.judges[judge], ("systems", judge, row["system"]), figure)


def _language_model(judged: JudgedTexts, asked: _Asked) -> Iterator[dict[str, Any]]:
    if judged.lm is None:
        return
    bpb: Any = naturalness_metric("bpb", judged.test.trg_lang, judged.lm)
    about = ("language model", "language model")
    mono = (
        judged.data if judged.bundled else own_file(judged.data, f"mono.{judged.test.trg_lang}.txt")
    )
    if mono is not None:
        texts = load_mono(mono)
        found = bootstrap_means(
            bpb.count(texts),
            np.arange(len(texts)),
            asked.rng(),
            asked.n_draws,
            of=lambda means: bpb.score_count(means)[..., None],
        )
        figure = found.estimate(0, "bits per byte", f"{bpb.unit}, lower is better", of="texts")
        yield _row(bpb, (*about, "bits per byte of originals"), figure)
    if pairs := minimal_pairs(judged.data):
        every = minimal_pair_table(judged.lm, pairs).iloc[-1]
        low, high, n = every.low, every.high, int(every.n)
        figure = Estimate("share", every.rate, low=low, high=high, n=n, of="pairs")
        yield _row(bpb, (*about, "good > bad, whole sentences"), figure)
