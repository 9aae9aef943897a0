"""Systems → tidy tables of scores: a row per system and metric, or per segment, each with unit, n and signature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.languages import short_code
from ..data.schema import CandidateSet, TestSet
from ..errors import DataError
from ..estimate import Estimate
from ..metrics import Given, Metric
from ..progress import note_once

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "check_needs",
    "check_systems",
    "estimate_rows",
    "estimate_table",
    "given_scores",
    "references_of",
    "scorable",
    "score_all",
    "segment_rows",
    "system_records",
    "system_rows",
    "system_scores",
]

COLUMNS = ["system", "metric", "level", "value", "unit", "n", "references", "signature"]


def check_needs(test: TestSet, metric: Metric) -> None:
    """A DataError where the metric needs references or sources and the test set has none, or only blank ones.

    Or where it knows another language only than that of the translations.
    """
    if metric.lang and short_code(test.trg_lang) not in ("und", short_code(metric.lang)):
        what = (
            f"{metric.label} knows only '{metric.lang}', and the translations of {test.name} are in"
        )
        raise DataError(
            f"{what} '{test.trg_lang}'; make {metric.name} for them (an.metric('{metric.name}', "
            "test))."
        )
    if "srcs" in metric.needs and len(test) and not any(map(str.strip, test.srcs)):
        raise DataError(
            f"{metric.name} reads the source, and those of {test.name} are all blank; take a metric that does not."
        )
    if "refs" in metric.needs and not test.referenced.any():
        seen = f"those of {test.name} are all blank" if test.refs else f"{test.name} has none"
        raise DataError(
            f"{metric.name} compares with a reference, and {seen}; give one (-r REF, beside your own -s and -t)."
        )


def scorable(test: TestSet, metric: Metric) -> np.ndarray:
    """(N,) bool: the segment has what the metric needs besides a hypothesis: a reference, a source with text."""
    rows = np.ones(len(test), dtype=bool)
    if "refs" in metric.needs:
        rows &= test.referenced
    if "srcs" in metric.needs:
        rows &= [bool(src.strip()) for src in test.srcs]
    return rows


def check_systems(test: TestSet) -> TestSet:
    """The test set itself; a DataError where it has no system whose outputs could be scored."""
    if not test.systems:
        raise DataError(
            f"{test.name} has no system outputs to score; give some (-t HYP, or --mine HYP)."
        )
    return test


def score_all(
    test: TestSet, metric: Metric, cands: CandidateSet | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(n,) scores of the candidates and (N, systems) of the systems, in its own direction, nan where none.

    All in one call, so that shared work (equal texts, a reference's n-grams) is done once.
    """
    check_needs(test, metric)
    if metric.score_systems is not None:
        if cands is not None:
            raise DataError(
                f"{metric.name} are scores that outputs of systems were given; other candidates have none, so there "
                "is no oracle curve."
            )
        found = given_scores(test, metric)
        for sentence in found.notes:
            note_once(sentence)
        return np.empty(0), found.values
    if metric.score_segments is None:
        raise DataError(
            f"{metric.name} is a measure of a whole corpus and has no score of a segment; leave it "
            "out here."
        )
    k, n = len(test.systems), len(test)
    texts, segment = (
        ((), np.empty(0, np.int64)) if cands is None else (cands.require(n).texts, cands.segment)
    )
    texts = [*texts, *(text for hyps in test.systems.values() for text in hyps)]
    segment = np.concatenate([segment, np.tile(np.arange(n), k)])
    scores = metric.score_segments(texts, refs=test.streams, srcs=test.srcs, segment=segment)
    first = len(texts) - n * k
    return scores[:first], scores[first:].reshape(k, n).T


def given_scores(test: TestSet, metric: Metric) -> Given:
    """What a metric with scores that were given to systems says of a test set; a DataError for those of others."""
    assert metric.score_systems is not None
    return metric.score_systems(test)


def system_scores(test: TestSet, metric: Metric) -> np.ndarray:
    """(N, systems) scores of each segment of each system, in the metric's own direction; nan where it gives none."""
    return score_all(test, metric)[1]


def system_rows(test: TestSet, metrics: Sequence[Metric], level: str = "corpus") -> pd.DataFrame:
    """system, metric, level, value, unit, n, references, signature: a row per system and metric (two for level "both").

    `references` names those that the metric compares with, joined by "+"; it is empty where it reads none. `unit` says
    the direction as well. The corpus score and the mean of the segment scores are two different numbers and never
    mixed: `level` says which. A metric that has only one of the two gives that one. n counts the segments behind
    the value; blank hypotheses count as sacreBLEU counts them in surface metrics (they score 0), and are left out of n
    where the metric gives no score, as are segments without the reference or the source that it needs.
    """
    import pandas as pd

    return pd.DataFrame(system_records(test, metrics, level), columns=COLUMNS)


def system_records(
    test: TestSet, metrics: Sequence[Metric], level: str = "corpus"
) -> list[dict[str, Any]]:
    """The rows of `system_rows`, column -> value: pandas takes longer to load than a system takes to be scored.

    Parameters
    ----------
    test, metrics, level : as in `system_rows`.
    """
    rows = (row for metric in metrics for row in _rows_of(check_systems(test), metric, level))
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def estimate_rows(
    metric: str,
    estimates: Mapping[str, Estimate],
    direction: str = "lower is better",
    *,
    level: str = "segment-mean",
) -> pd.DataFrame:
    """The same columns, with low and high of the 95 % interval, for estimates: system -> Estimate.

    Parameters
    ----------
    direction : which end is better; it stands in `unit`, behind the unit itself.
    level : of the values, as in `system_rows`.
    """
    import pandas as pd

    rows = [
        (
            system,
            metric,
            level,
            e.value,
            f"{e.unit} ({direction})",
            e.n,
            "",
            e.signature,
            e.low,
            e.high,
        )
        for system, e in estimates.items()
    ]
    return pd.DataFrame(rows, columns=[*COLUMNS, "low", "high"])


def estimate_table(estimates: Iterable[Estimate]) -> pd.DataFrame:
    """name, value, low, high, se, n, unit, signature: a row per estimate, whatever it is of (`Estimate.row`)."""
    import pandas as pd

    return pd.DataFrame([one.row() for one in estimates], columns=[*Estimate("", 0.0).row()])


def references_of(test: TestSet, metric: Metric) -> str:
    """The names of the references that a metric compares with, joined by "+"; "" where it reads none."""
    return "+".join(test.refs) if "refs" in metric.needs else ""


def _rows_of(test: TestSet, metric: Metric, level: str) -> Iterator[tuple]:
    check_needs(test, metric)
    seen = references_of(test, metric)
    if metric.score_corpus is not None and (level in ("corpus", "both") or not metric.of_segments):
        signature = metric.corpus_signature or metric.signature
        for system, hyps in test.systems.items():
            value = metric.score_corpus(hyps, refs=test.streams, srcs=test.srcs)
            n = (
                len(test) - test.blanks[system]
                if metric.skips_blank
                else int(scorable(test, metric).sum())
            )
            yield system, metric.name, "corpus", value, metric.scale, n, seen, signature
    if not metric.of_segments:
        return
    if metric.score_corpus is None or level in ("segment-mean", "both"):
        scores = system_scores(test, metric)
        for j, system in enumerate(test.systems):
            there = scores[~np.isnan(scores[:, j]), j]
            value = float(there.mean()) if len(there) else np.nan
            yield (
                system,
                metric.name,
                "segment-mean",
                value,
                metric.scale,
                len(there),
                seen,
                metric.signature,
            )


def segment_rows(test: TestSet, metrics: Sequence[Metric]) -> pd.DataFrame:
    """system, segment, doc, domain, metric, value, unit, references, signature: a row per system, segment and metric.

    Segments count from 0; `references` as in `system_rows`.
    """
    import pandas as pd

    n, frames = len(check_systems(test)), []
    for metric in metrics:
        scores = system_scores(test, metric)
        for j, system in enumerate(test.systems):
            frames.append(
                pd.DataFrame(
                    {
                        "system": system,
                        "segment": np.arange(n),
                        "doc": test.docs,
                        "domain": test.domains,
                        "metric": metric.name,
                        "value": scores[:, j],
                        "unit": metric.scale,
                        "references": references_of(test, metric),
                        "signature": metric.signature,
                    }
                )
            )
    return pd.concat(frames, ignore_index=True)
