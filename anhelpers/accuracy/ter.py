"""TER (Snover et al. 2006): sacreBLEU's own edits and lengths, each distinct pair of texts once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sacrebleu
from numpy.typing import ArrayLike

from .encode import SegmentBatch


def counter() -> Callable[[SegmentBatch], np.ndarray]:
    """A function from a batch of n hypotheses to their counts; it keeps the pairs it has seen.

    The counts are (n, 2) float64: how many edits (insert, delete, replace, shift a block) turn the hypothesis into a
    reference, and the words of the reference. With several references the fewest edits, and the mean of the lengths;
    0 and 0 without any.
    """
    metric = sacrebleu.TER()
    known: dict[tuple[str, ...], tuple[float, float]] = {}

    def count(batch: SegmentBatch) -> np.ndarray:
        stats = np.empty((len(batch.hyps), 2))
        sizes = np.diff(batch.groups)
        for i, g in enumerate(np.repeat(np.arange(len(sizes)), sizes).tolist()):
            pair = (
                batch.hyps[i],
                *(text for stream in batch.refs if (text := stream[g]) is not None),
            )
            if pair not in known:
                known[pair] = _edits(metric, pair[0], list(pair[1:]))
            stats[i] = known[pair]
        return stats

    return count


def _edits(metric: sacrebleu.TER, hyp: str, refs: list[str]) -> tuple[float, float]:
    """The fewest edits, and the mean length of the references."""
    if not refs:
        return 0.0, 0.0
    score = metric.sentence_score(hyp, refs)
    return score.num_edits, score.ref_length


def scores(stats: ArrayLike) -> np.ndarray:
    """Edits per 100 words of the reference; 100 where the references are empty and the hypothesis is not.

    Parameters
    ----------
    stats : (..., 2) counts of segments, or sums of them: the score of a corpus or of a bootstrap replicate.

    Returns
    -------
    (...) float64, edits per 100 reference words, 0 or more; lower is better.

    >>> scores([[1, 4], [2, 0], [0, 0]])
    array([ 25., 100.,   0.])
    """
    stats = np.asarray(stats, dtype=np.float64)
    edits, words = stats[..., 0], stats[..., 1]
    return 100 * np.where(words > 0, edits / np.where(words > 0, words, 1), edits > 0)
