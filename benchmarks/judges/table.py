"""Figures of naturalness metrics: a row per question, metric and item, each with its interval and n."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import anhelpers as an
from anhelpers.data import read_lines
from anhelpers.data.fetch import bundled
from anhelpers.data.human import RATED, _rated_metric, load_ratings, rated_name, ratings_beside
from anhelpers.data.sets import TEACHING, ratings_file
from anhelpers.estimate import Estimate
from anhelpers.naturalness.lm import score_texts
from anhelpers.plane import metric_against, within_sources
from anhelpers.scoring import score_all
from anhelpers.stats import share_interval, spearman

from .known import keep_known

PEOPLE = RATED["naturalness"]
DEFAULT = ("native", "lpp", "critic", PEOPLE)
RHO = "Spearman's ρ"
TAG_PAIRS = (  # the first is written to be the more natural one
    ("idiomatic", "literal-2"),
    ("idiomatic", "literal"),
    ("idiomatic", "calque"),
    ("near-reference", "grammar"),
    ("near-reference", "wrong-order"),
)


@dataclass(frozen=True)
class Judged:
    """A test set, its candidates, and their scores by each naturalness metric (name -> (n,), higher is better)."""

    data: str
    test: Any
    cands: Any
    metrics: dict[str, Any]
    scores: dict[str, np.ndarray]
    seed: int

    @property
    def rng(self) -> np.random.Generator:
        """The same for every figure, so that no metric moves the intervals of another."""
        return np.random.default_rng(self.seed)

    def within(self, x: np.ndarray, y: np.ndarray, segment: np.ndarray | None = None) -> Estimate:
        segment = self.cands.segment if segment is None else segment
        return within_sources(segment, x, y, self.test.docs, rng=self.rng)


def _minimal_pairs(data: str) -> list[tuple[str, ...]]:
    """(phenomenon, correct sentence, the same with one error) of a teaching set; none of any other."""
    if data not in TEACHING:
        return []
    lines = read_lines(bundled(f"{TEACHING[data].path}/minimal_pairs.tsv"))
    return [tuple(line.split("\t")) for line in lines[1:]]


def judged(data: str, names: Sequence[str] = DEFAULT, seed: int = 0) -> Judged:
    """The candidates of a data set, scored by the naturalness metrics."""
    test = an.with_human_points(an.load(data))
    cands = an.load_candidates(data).without_blanks()
    lm = an.load_lm()
    pairs = [text for _, *both in _minimal_pairs(data) or () for text in both]
    outputs = [text for texts in test.systems.values() for text in texts]
    keep_known(lm, [*cands.texts, *pairs, *outputs, *an.load_mono(data)])
    alone, metrics = test.without(test.systems), {}
    for name in names:
        if name != PEOPLE or ratings_beside(data) is not None:
            named = rated_name("naturalness", data) if name == PEOPLE else name
            metrics[name] = an.metric(named, test, lm=lm)
    scores = {k: m.oriented(score_all(alone, m, cands)[0]) for k, m in metrics.items()}
    return Judged(
        data, test, cands, metrics, scores, int(np.random.default_rng(seed).integers(2**32))
    )


def judge_table(of: Judged) -> pd.DataFrame:
    """question, judge, item; value, low, high (95 %), n, n_of, unit.

    tags: shares of sources in which the first candidate scores higher; minimal pairs: shares of pairs in which the
    grammatical sentence does; ratings: Spearman's ρ over the candidates of a source, mean over sources; mqm:
    Spearman's ρ of the systems; model: bits per byte of the originals.
    """
    rows = []
    for question, answers in ANSWERS.items():
        for judge, item, figure in answers(of):
            row = {name: getattr(figure, name) for name in ("value", "low", "high", "n")}
            row |= {"n_of": figure.of, "unit": figure.unit or figure.name}
            rows.append({"question": question, "judge": judge, "item": item, **row})
    return pd.DataFrame(rows)


def win_share(first: np.ndarray, second: np.ndarray, of: str, docs: np.ndarray) -> Estimate:
    """The share of pairs in which the first has the higher score (a tie: half), with Wilson's interval by documents."""
    there = ~(np.isnan(first) | np.isnan(second))
    hits = ((first > second) + (first == second) / 2)[there]
    low, high = share_interval(hits, docs=docs[there])
    return Estimate("share", hits.mean(), low=low, high=high, n=len(hits), of=of)


def rank_agreement(plane: Any, rng: np.random.Generator, n_draws: int = 1000) -> Estimate:
    """Spearman's ρ of the systems on the two axes; low, high: the middle 95 % of resamples of documents, and ρ.

    They describe other documents of the same number, and are no interval of the ρ of all documents.
    """
    plane = plane.only(plane.distinct())
    scores = plane.scores()
    known = np.flatnonzero(~np.isnan(scores).any(0))
    rho = float(spearman(*scores[:, known])) if len(known) > 1 else np.nan
    if np.isnan(rho) or len(plane) < 2:
        return Estimate(RHO, rho, n=len(known), of="systems")
    draws, _ = plane.draws(rng, n_draws)
    low, high = np.nanquantile(spearman(draws[:, 0, known], draws[:, 1, known]), [0.025, 0.975])
    return Estimate(RHO, rho, low=min(low, rho), high=max(high, rho), n=len(known), of="systems")


Answers = Iterator[tuple[str, str, Estimate]]


def _tags(of: Judged) -> Answers:
    tags, segment = np.array(of.cands.tags), of.cands.segment
    for first, second in TAG_PAIRS:
        for judge, scores in of.scores.items() if {first, second} <= set(tags) else ():
            means = pd.Series(scores).groupby([tags, segment]).mean().unstack()
            pair, docs = (
                means.loc[[first, second]].to_numpy(),
                np.array(of.test.docs)[means.columns],
            )
            yield judge, f"{first} > {second}", win_share(*pair, "sources", docs)


def _own_pairs(of: Judged) -> Answers:
    if pairs := _minimal_pairs(of.data):
        _, good, bad = zip(*pairs, strict=True)
        for judge, metric in of.metrics.items():
            if judge != PEOPLE:  # ratings are of candidates only
                scores = metric.oriented(metric.score_segments([*good, *bad]))
                sides = scores.reshape(2, -1)
                yield judge, "minimal pairs", win_share(*sides, "pairs", np.arange(len(good)))


def _ratings(of: Judged) -> Answers:
    if PEOPLE not in of.scores:
        return
    rated = load_ratings(of.data)
    each, where = rated.naturalness[: rated.n_candidates], rated.segment[: rated.n_candidates]
    yield PEOPLE, "ρ with rated naturalness", of.within(each[:, 0], each[:, 1], where)
    alone, lang = of.test.without(of.test.systems), of.test.trg_lang
    metric = _rated_metric(rated_name("accuracy", of.data), lang)
    accuracy = metric.oriented(score_all(alone, metric, of.cands)[0])
    for judge, scores in of.scores.items():
        if judge != PEOPLE:
            yield judge, "ρ with rated naturalness", of.within(scores, of.scores[PEOPLE])
        yield judge, "ρ with rated accuracy", of.within(scores, accuracy)


def _mqm(of: Judged) -> Answers:
    if (path := ratings_file(of.data)) is None:
        return
    ratings = an.read_ratings(path, texts=True)
    join = an.data.join_ratings(of.test, ratings)
    scores = an.score_ratings(join.ratings)
    for judge, metric in of.metrics.items():
        figure = rank_agreement(metric_against(of.test, metric, scores, join), of.rng)
        yield judge, "ρ with MQM fluency of systems", figure


def _model(of: Judged) -> Answers:
    """Bits of the originals over their bytes; the middle 95 % over 1,000 resamples of the texts."""
    texts = an.load_mono(of.data)
    bits = -score_texts(an.load_lm(), texts).total / np.log(2)
    sizes = np.array([len(text.encode()) for text in texts])
    draws = of.rng.integers(len(texts), size=(1000, len(texts)))
    low, high = np.quantile(bits[draws].sum(1) / sizes[draws].sum(1), [0.025, 0.975])
    value = float(bits.sum() / sizes.sum())
    figure = Estimate("bits per byte", value, low=low, high=high, n=len(texts), of="texts")
    yield "lpp", "bits per byte of originals", figure


ANSWERS = {
    "tags": _tags,
    "minimal pairs": _own_pairs,
    "ratings": _ratings,
    "mqm": _mqm,
    "model": _model,
}
