"""Surface metrics: chrF, chrF++, BLEU and TER with sacreBLEU's values and signatures, for many candidates per source.

Each metric is a function of counts that add up over segments. The score of a segment, of a corpus (the score of the
summed counts) and of a bootstrap replicate (the score of the resampled sum) are three uses of one definition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import sacrebleu

from .. import checks
from ..errors import DataError
from ..metric import Metric
from . import bleu, chrf, ter
from .encode import Batch, gather

__all__ = ["METRICS", "Surface", "surface", "surface_metric"]

POINTS = "points, 0 to 100"


@dataclass(frozen=True)
class Surface:
    """A metric as counts per segment and a score of counts.

    Parameters
    ----------
    label, unit, higher_is_better : see Metric.
    counter : () -> a function from an encode.Batch of m hypotheses to their (m, S) counts.
    segment_scores : (..., S) counts of segments -> (...) float64 scores.
    corpus_scores : (..., S) sums of such counts -> (...) float64 scores.
    segment_oracle, corpus_oracle : sacreBLEU's objects with the same options, for the signatures.
    """

    label: str
    unit: str
    higher_is_better: bool
    counter: Callable[[], Callable[[Batch], np.ndarray]]
    segment_scores: Callable[[np.ndarray], np.ndarray]
    corpus_scores: Callable[[np.ndarray], np.ndarray]
    segment_oracle: sacrebleu.metrics.base.Metric
    corpus_oracle: sacrebleu.metrics.base.Metric

    def statistics(self, hyps: Sequence[str], refs: Sequence[Sequence[str]], segment: Any = None) -> np.ndarray:
        """(n, S) counts of n hypotheses: their sum over any choice of segments is what `corpus_scores` takes."""
        return gather(self.counter(), hyps, refs, segment)


def _points(label: str, counter: Callable, scores: Callable, oracle: sacrebleu.metrics.base.Metric) -> Surface:
    return Surface(label, POINTS, True, counter, scores, scores, oracle, oracle)


def _chrf(trg_lang: str) -> Surface:
    return _points("chrF", chrf.counter, chrf.scores, sacrebleu.CHRF())


def _chrf_pp(trg_lang: str) -> Surface:
    return _points("chrF++", partial(chrf.counter, 2), chrf.scores, sacrebleu.CHRF(word_order=2))


def _bleu(trg_lang: str) -> Surface:
    return Surface(
        label="BLEU",
        unit=POINTS,
        higher_is_better=True,
        counter=partial(bleu.counter, trg_lang),
        segment_scores=partial(bleu.scores, effective_order=True),
        corpus_scores=partial(bleu.scores, effective_order=False),
        segment_oracle=bleu.oracle(trg_lang, effective_order=True),
        corpus_oracle=bleu.oracle(trg_lang),
    )


def _ter(trg_lang: str) -> Surface:
    oracle = sacrebleu.TER()
    return Surface("TER", "edits per 100 reference words", False, ter.counter, ter.scores, ter.scores, oracle, oracle)


METRICS: dict[str, Callable[[str], Surface]] = {"chrf": _chrf, "chrf++": _chrf_pp, "bleu": _bleu, "ter": _ter}


def surface(name: str, trg_lang: str = "") -> Surface:
    """The definition of a surface metric by its name, one of METRICS, for texts in the target language.

    Raises
    ------
    UnknownName; MissingExtra where BLEU's tokenizer for this language is not installed.
    """
    return METRICS[checks.one_of(name, METRICS, "surface metric")](trg_lang)


def surface_metric(name: str, trg_lang: str = "", n_refs: int = 1) -> Metric:
    """A surface metric ready to score: one number per hypothesis, and one per corpus.

    Parameters
    ----------
    name : one of METRICS.
    trg_lang : target language, e.g. "de"; it chooses BLEU's tokenizer.
    n_refs : how many references every segment will have; part of the signature.

    Returns
    -------
    Metric; a segment's and a corpus' score differ in BLEU's conventions (effective order), and so do their signatures.

    Raises
    ------
    UnknownName, MissingExtra as in `surface`; the Metric's functions raise DataError where texts do not align.

    >>> chrf = surface_metric("chrf", "de")
    >>> chrf.score_segments(["Das ist gut.", ""], refs=[["Das ist gut.", "Nein."]])
    array([100.,   0.])
    """
    definition = surface(name, trg_lang)
    if n_refs < 1:
        raise DataError(f"{definition.label} needs at least one reference per segment, got n_refs={n_refs}.")
    signature, corpus_signature = (
        _signature(oracle, n_refs) for oracle in (definition.segment_oracle, definition.corpus_oracle)
    )

    def score_segments(hyps: Sequence[str], refs: Any, srcs: Any = None, segment: Any = None) -> np.ndarray:
        _same_refs(refs, n_refs, definition.label)
        count = definition.counter()
        return gather(lambda batch: definition.segment_scores(count(batch)), hyps, refs, segment)

    def score_corpus(hyps: Sequence[str], refs: Any, srcs: Any = None) -> float:
        _same_refs(refs, n_refs, definition.label)
        if not len(hyps):
            raise DataError(f"{definition.label} of a corpus needs at least one segment, got none.")
        # One after the other, as sacreBLEU adds them: with several references, TER's lengths are fractions.
        total = np.cumsum(definition.statistics(hyps, refs), axis=0)[-1]
        return float(definition.corpus_scores(total))

    return Metric(
        name=name,
        label=definition.label,
        unit=definition.unit,
        higher_is_better=definition.higher_is_better,
        needs=("refs",),
        signature=signature,
        score_segments=score_segments,
        score_corpus=score_corpus,
        corpus_signature=None if corpus_signature == signature else corpus_signature,
        count=definition.statistics,
        score_count=definition.corpus_scores,
    )


def _signature(oracle: sacrebleu.metrics.base.Metric, n_refs: int) -> str:
    """What sacreBLEU prints before the score, e.g. chrF2|nrefs:1|case:mixed|...; it knows nrefs once it has scored."""
    name = oracle.corpus_score([""], [[""]] * n_refs).name
    return f"{name}|{oracle.get_signature()}"


def _same_refs(refs: Sequence[Sequence[str]], n_refs: int, label: str) -> None:
    if len(refs) != n_refs:
        raise DataError(
            f"this {label} was made for {n_refs} reference(s) per segment, but refs holds {len(refs)} streams."
        )
