"""Choosing without a reference: how well a candidate agrees with the other candidates of its source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from .. import checks
from ..data.schema import CandidateSet
from ..errors import DataError
from ..metrics import Metric

__all__ = ["mbr_utility"]

PAIRS = 2**20  # pairs of texts for one call of the metric: lists of some 20 MB


def mbr_utility(
    metric: Metric, cands: CandidateSet, srcs: Sequence[str] | None = None
) -> np.ndarray:
    """The mean score of a candidate with each other candidate of its source in the place of the reference.

    What minimum Bayes risk decoding maximises: a chooser that never sees a reference. A text that occurs c times among
    n candidates, in c rows or with multiplicity c, counts c times, less once for itself. The work grows with the square
    of the distinct candidates.

    Parameters
    ----------
    metric : made for one reference per segment, e.g. `surface_metric("chrf", "de")`; either direction.
    cands : at least two candidates for every source.
    srcs : N sources, where the metric needs them.

    Returns
    -------
    (n,) utilities in the unit of the metric, turned to higher is better; nan where the metric gives no score.

    Raises
    ------
    DataError for a source with a single candidate, a metric without references, sources that are missing.

    References
    ----------
    Eikema and Aziz 2020 (the same candidates as hypotheses and as samples, without a candidate's score with
    itself).

    >>> from ..accuracy.surface import surface_metric
    >>> cands = CandidateSet(np.zeros(3, int), ("abc", "abc", "xyz"))
    >>> mbr_utility(surface_metric("chrf"), cands)
    array([50., 50.,  0.])
    """
    if "refs" not in metric.needs:
        raise DataError(f"{metric.name} scores without a reference already; choose by it directly.")
    if metric.score_segments is None:
        raise DataError(
            f"{metric.name} is a measure of whole corpora; MBR needs the score of a segment."
        )
    if "srcs" in metric.needs:
        if srcs is None:
            raise DataError(f"{metric.name} needs the sources; give srcs.")
        checks.same_length(sources=srcs, candidates=cands.n_candidates)
    alone = np.flatnonzero(np.bincount(cands.segment, cands.multiplicity) == 1)
    if alone.size:
        raise DataError(
            f"source {alone[0]} has one candidate ({alone.size} such of {cands.n_segments}), and "
            "MBR compares it with the others; leave such sources out."
        )
    parts = [_of_sources(metric, part, srcs) for part in _parts(cands)]
    return np.concatenate(parts) if parts else np.empty(0)


def _parts(cands: CandidateSet) -> Iterator[dict[int, list[tuple[str, int]]]]:
    """Source → (text, multiplicity) of its candidates, as many sources at a time as have about PAIRS pairs."""
    part: dict[int, list[tuple[str, int]]] = {}
    pairs, begin = 0, 0
    multiplicity = cands.multiplicity.tolist()
    for s, count in enumerate(cands.n_candidates.tolist()):
        if part and pairs + count * count > PAIRS:
            yield part
            part, pairs = {}, 0
        own = slice(begin, begin + count)
        part[s] = list(zip(cands.texts[own], multiplicity[own], strict=True))
        begin, pairs = begin + count, pairs + count * count
    if part:
        yield part


def _of_sources(
    metric: Metric, part: dict[int, list[tuple[str, int]]], srcs: Sequence[str] | None
) -> np.ndarray:
    """The utilities of the candidates of some sources, one after the other, from a single call of the metric."""
    copies: list[Counter[str]] = [Counter() for _ in part]
    for own, rows in zip(copies, part.values(), strict=True):
        for text, times in rows:
            own[text] += times
    distinct = [list(own) for own in copies]
    refs = [text for texts in distinct for text in texts]
    # all of them for each pseudo-reference
    hyps = [text for texts in distinct for text in texts * len(texts)]
    segment = np.repeat(np.arange(len(refs)), [len(texts) for texts in distinct for _ in texts])
    given = (
        None
        if srcs is None
        else [srcs[s] for s, texts in zip(part, distinct, strict=True) for _ in texts]
    )
    scored = metric.score_segments(hyps, refs=[refs], srcs=given, segment=segment)  # type: ignore[misc]  # asked before
    scores = metric.oriented(scored)
    values, at = [], 0
    for rows, names, count in zip(part.values(), distinct, copies, strict=True):
        # (pseudo-reference, hypothesis)
        table = scores[at : at + len(names) ** 2].reshape(len(names), len(names))
        at += table.size
        total = np.array(list(count.values())) @ table - np.diagonal(table)
        utility = dict(zip(names, total / (count.total() - 1), strict=True))
        values += [utility[text] for text, _ in rows]
    return np.array(values)
