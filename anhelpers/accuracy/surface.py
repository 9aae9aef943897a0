"""Surface metrics: chrF, chrF++, BLEU and TER with sacreBLEU's values and signatures, for many candidates per source.

Each metric is a function of counts that add up over segments. The score of a segment, of a corpus (the score of the
summed counts) and of a bootstrap replicate (the score of the resampled sum) are three uses of one definition.

The counts are made in files beside this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import sacrebleu

from .. import checks
from ..data.languages import spaced
from ..errors import DataError
from ..metrics import Asked, Metric
from ..progress import note_once
from . import bleu, chrf, ter
from .encode import SegmentBatch, gather
from .references import VARIABLE, Reference, at_least_one, referenced, streams

POINTS = "points, 0 to 100"


@dataclass(frozen=True)
class Surface:
    """A metric as counts per segment and a score of counts.

    Parameters
    ----------
    label, unit, higher_is_better : see Metric.
    counter : () -> a function from an encode.SegmentBatch of m hypotheses to their (m, S) counts.
    segment_scores : (..., S) counts of segments -> (...) float64 scores.
    corpus_scores : (..., S) sums of such counts -> (...) float64 scores.
    segment_sacrebleu, corpus_sacrebleu : sacreBLEU's objects with the same options, for the signatures.
    one_by_one : whether the counts are made by Python, which threads would not make faster.
    """

    label: str
    unit: str
    higher_is_better: bool
    counter: Callable[[], Callable[[SegmentBatch], np.ndarray]]
    segment_scores: Callable[[np.ndarray], np.ndarray]
    corpus_scores: Callable[[np.ndarray], np.ndarray]
    segment_sacrebleu: sacrebleu.metrics.base.Metric
    corpus_sacrebleu: sacrebleu.metrics.base.Metric
    one_by_one: bool = False

    def statistics(
        self, hyps: Sequence[str], refs: Sequence[Sequence[Reference]], segment: Any = None
    ) -> np.ndarray:
        """(n, S) counts of n hypotheses: their sum over any choice of segments is what `corpus_scores` takes.

        All are 0 where every reference of the segment is missing (None): it adds nothing to a sum, and has no score.

        >>> surface("chrf").statistics(["abc"], [["abd"]])[:, :6]
        array([[3, 3, 2, 2, 2, 1]])
        """
        return gather(self.counter, hyps, refs, segment, one_by_one=self.one_by_one)

    def scorer(self) -> Callable[[SegmentBatch], np.ndarray]:
        """A function from a batch of m hypotheses to their (m,) scores."""
        count = self.counter()
        return lambda batch: self.segment_scores(count(batch))


def _points(
    label: str, counter: Callable, scores: Callable, sacre: sacrebleu.metrics.base.Metric
) -> Surface:
    return Surface(label, POINTS, True, counter, scores, scores, sacre, sacre)


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
        segment_sacrebleu=bleu.sacrebleu_metric(trg_lang, effective_order=True),
        corpus_sacrebleu=bleu.sacrebleu_metric(trg_lang),
    )


def _ter(trg_lang: str) -> Surface:
    if trg_lang and not spaced(trg_lang):
        note_once(
            f"TER counts the edits of words between spaces, and '{trg_lang}' writes none: a "
            "clause counts as one word; chrf and bleu cut such texts."
        )
    sacre = sacrebleu.TER()
    return Surface(
        "TER",
        "edits per 100 reference words",
        False,
        ter.counter,
        ter.scores,
        ter.scores,
        sacre,
        sacre,
        one_by_one=True,
    )


METRICS: dict[str, Callable[[str], Surface]] = {
    "chrf": _chrf,
    "chrf++": _chrf_pp,
    "bleu": _bleu,
    "ter": _ter,
}


def surface(name: str, trg_lang: str = "") -> Surface:
    """The definition of a surface metric by its name, one of METRICS, for texts in the target language.

    Raises
    ------
    UnknownName; MissingExtra where BLEU's tokenizer for this language is not installed.
    """
    return METRICS[checks.one_of(name, METRICS, "surface metric")](trg_lang)


def surface_metric(name: str, trg_lang: str = "", n_refs: int | str = 1) -> Metric:
    """A surface metric ready to score: one number per hypothesis, and one per corpus.

    A reference may be missing (None), as in sacreBLEU. A segment without any has no score (nan), and no part in that of
    a corpus. An empty text ("") is no missing reference, but one without words: a test set's blank lines are None in
    its `streams`.

    Parameters
    ----------
    name : one of METRICS.
    trg_lang : target language, e.g. "de"; it chooses BLEU's tokenizer.
    n_refs : how many references every segment that has any will have, or "var" where they differ in it; part of the
        signature.

    Returns
    -------
    Metric; a segment's and a corpus' score differ in BLEU's conventions (effective order), and so do their signatures.

    Raises
    ------
    UnknownName, MissingExtra as in `surface`; the Metric's functions raise DataError where texts do not align, and for
    a corpus without any reference.

    >>> chrf = surface_metric("chrf", "de")
    >>> chrf.score_segments(["Das ist gut.", "", "Nein."], refs=[["Das ist gut.", "Nein.", None]])
    array([100.,   0.,  nan])
    """
    definition = surface(name, trg_lang)
    at_least_one(definition.label, n_refs)
    signature, corpus_signature = (
        _signature(sacre, n_refs)
        for sacre in (definition.segment_sacrebleu, definition.corpus_sacrebleu)
    )

    def score_segments(
        hyps: Sequence[str], refs: Any, srcs: Any = None, segment: Any = None
    ) -> np.ndarray:
        refs = streams(refs, definition.label, n_refs)
        one_by_one = definition.one_by_one
        scores = gather(definition.scorer, hyps, refs, segment, one_by_one=one_by_one)
        known = referenced(refs)
        return (
            scores
            if known.all()
            else np.where(known if segment is None else known[segment], scores, np.nan)
        )

    def score_corpus(hyps: Sequence[str], refs: Any, srcs: Any = None) -> float:
        refs = streams(refs, definition.label, n_refs)
        if not len(hyps):
            raise DataError(f"{definition.label} of a corpus needs at least one segment, got none.")
        if not referenced(refs).any():
            raise DataError(
                f"{definition.label} of a corpus needs a reference, and all of {len(hyps)} are "
                "missing."
            )
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
        # more edits than words are possible
        bounds=(0.0, 100.0 if definition.higher_is_better else np.inf),
    )


def named(asked: Asked) -> Metric:
    """The surface metric of a row of the table of metrics."""
    return surface_metric(asked.name, asked.lang, asked.n_refs)


def _signature(sacre: sacrebleu.metrics.base.Metric, n_refs: int | str) -> str:
    """What sacreBLEU prints before the score, e.g. chrF2|nrefs:1|case:mixed|...; it knows nrefs once it has scored."""
    refs: Any = [["", ""], ["", None]] if n_refs == VARIABLE else [["", ""]] * int(n_refs)
    name = sacre.corpus_score(["", ""], refs).name
    return f"{name}|{sacre.get_signature()}"
