"""Tidy tables of scores: a row per system and metric, or per segment, each with unit, n and signature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from .._lazy import pd
from ..data.schema import CandidateSet, TestSet
from ..errors import DataError
from ..metrics import Metric, check_language
from ..progress import note_once

_COLUMNS = ["system", "metric", "level", "value", "unit", "n", "references", "signature"]
_AT_ONCE = 500_000  # texts; more take memory and no less time


def scorable(test: TestSet, metric: Metric) -> np.ndarray:
    """(N,) bool: the segment has the reference, and the source with text, that the metric needs.

    Raises
    ------
    DataError : the metric is for a different language, or no segment has what it needs.
    """
    check_language(test.trg_lang, metric.lang, metric.label)
    if test.stored and test.stored.get(metric.name) is not metric:
        known = ", ".join(test.stored)
        raise DataError(f"{metric.name}: got the stored scores {known} alone. Load the texts.")
    rows = np.ones(len(test), dtype=bool)
    if "refs" in metric.needs:
        rows &= test.referenced
    if "srcs" in metric.needs:
        rows &= [bool(src.strip()) for src in test.srcs]
    if len(test) and not rows.any():
        needs = " and ".join(metric.needs)
        raise DataError(f"{test.name}: {metric.name} needs {needs}, and no segment has that.")
    return rows


def check_systems(test: TestSet) -> TestSet:
    """Return the test set; raise a DataError if it has no system outputs."""
    if not test.systems:
        raise DataError(f"{test.name}: expected outputs of systems, got none.")
    return test


def score_all(
    test: TestSet, metric: Metric, cands: CandidateSet | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Score candidates, (n,), and systems, (N, systems), in the metric's own direction; nan: no score.

    One call scores all, so shared work (equal texts, a reference's n-grams) is done once.
    """
    scorable(test, metric)
    if metric.score_systems is not None and cands is None:
        found = metric.score_systems(test)
        for sentence in found.notes:
            note_once(sentence)
        return np.empty(0), np.broadcast_to(found.values, (len(test), len(test.systems)))
    if metric.score_segments is None:
        kind = "whole corpora" if metric.score_systems is None else "rated systems"
        raise DataError(f"{metric.name}: scores {kind} only, not single texts. Leave it out here.")
    k, n = len(test.systems), len(test)
    texts = [text for hyps in test.systems.values() for text in hyps]
    segment = np.tile(np.arange(n), k)
    if cands is not None:
        texts = [*cands.require(n).texts, *texts]
        segment = np.concatenate([cands.segment, segment])
    scores = metric.score_segments(texts, refs=test.streams, srcs=test.srcs, segment=segment)
    first = len(texts) - n * k
    return scores[:first], scores[first:].reshape(k, n).T


def system_scores(test: TestSet, metric: Metric) -> np.ndarray:
    """(N, systems) segment scores in the metric's own direction; nan where it gives none."""
    return score_all(test, metric)[1]


def system_rows(test: TestSet, metrics: Sequence[Metric], level: str = "corpus") -> pd.DataFrame:
    """A row per system and metric: system, metric, level, value, unit, n, references, signature.

    The corpus score and the mean of the segment scores are different numbers; a metric that has only one of them
    returns that one. n counts the segments with a score: surface metrics score a blank output 0, as sacreBLEU does;
    other metrics skip it, like segments without the reference or source that they need.

    Parameters
    ----------
    level : {"corpus", "segment-mean", "both"}
        Which of the two scores is returned.
    """
    check_systems(test)
    rows = (row for metric in metrics for row in _rows_of(test, metric, level))
    return pd.DataFrame(rows, columns=_COLUMNS)


def _rows_of(test: TestSet, metric: Metric, level: str) -> Iterator[tuple]:
    """The rows of one metric."""
    there = int(scorable(test, metric).sum())
    seen, scale = "+".join(test.refs) if "refs" in metric.needs else "", metric.scale
    if metric.score_corpus is not None and (level != "segment-mean" or not metric.of_segments):
        signature = metric.corpus_signature or metric.signature
        for system, value in zip(test.systems, _corpus_scores(test, metric), strict=True):
            n = len(test) - test.blanks[system] if metric.skips_blank else there
            yield system, metric.name, "corpus", value, scale, n, seen, signature
    if metric.of_segments and (metric.score_corpus is None or level != "corpus"):
        for system, scores in zip(test.systems, system_scores(test, metric).T, strict=True):
            scores = scores[~np.isnan(scores)]
            n, value = len(scores), float(scores.mean()) if len(scores) else np.nan
            yield system, metric.name, "segment-mean", value, scale, n, seen, metric.signature


def _corpus_scores(test: TestSet, metric: Metric) -> list[float]:
    """The corpus score of each system, from one count of many texts where a metric counts."""
    n, k = len(test), len(test.systems)
    if metric.count is None or not n:
        score: Any = metric.score_corpus
        return [score(hyps, refs=test.streams, srcs=test.srcs) for hyps in test.systems.values()]
    outputs, step, sums = [*test.systems.values()], max(1, _AT_ONCE // n), []
    for some in (outputs[i : i + step] for i in range(0, k, step)):
        texts, segment = [*chain(*some)], np.tile(np.arange(n), len(some))
        counts = metric.count(texts, refs=test.streams, segment=segment)
        # cumsum adds in order, as sacreBLEU
        sums += [np.cumsum(part, axis=0)[-1] for part in counts.reshape(len(some), n, -1)]
    return metric.score_count(np.array(sums)).tolist()  # type: ignore[misc]  # what counts, scores its counts


def segment_rows(test: TestSet, metrics: Sequence[Metric]) -> pd.DataFrame:
    """A row per system, segment and metric: value, unit, references, signature, doc, domain.

    Segments count from 0; `references` as in `system_rows`.
    """
    check_systems(test)
    frames = []
    for metric in metrics:
        for system, scores in zip(test.systems, system_scores(test, metric).T, strict=True):
            columns = {"system": system, "segment": np.arange(len(test)), "doc": test.docs}
            columns |= {"domain": test.domains, "metric": metric.name, "value": scores}
            columns |= {"unit": metric.scale, "signature": metric.signature}
            columns["references"] = "+".join(test.refs) if "refs" in metric.needs else ""
            frames.append(pd.DataFrame(columns))
    order = ["system", "segment", "doc", "domain", "metric", "value", "unit", "references"]
    return pd.concat(frames, ignore_index=True)[[*order, "signature"]]
