"""chrF and chrF++ (Popović 2015, 2017) from per-segment counts, with sacreBLEU's values to the last bit."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._numba import compiled
from .encode import WHITESPACE, SegmentBatch, code_points
from .ngrams import clipped_matches
from .words import Vocabulary

CHAR_ORDER = 6  # Popović 2015
# recall counts twice as much as precision: Popović 2016, http://aclweb.org/anthology/W16-2341
BETA = 2
MARKS = np.array([chr(c) in string.punctuation for c in range(128)])
NO_WORDS = np.empty(0, dtype=np.uint32)


def counter(word_order: int = 0) -> Callable[[SegmentBatch], np.ndarray]:
    """A function from a batch of n hypotheses to their counts; it keeps the words it has seen.

    The counts are (n, 3 * (6 + word_order)) int64: per order of n-gram how many the hypothesis has, how many its
    reference has, and how many match; first characters, then words. Of several references the one that scores best
    counts, the first of equals; all are 0 where there is none.

    Parameters
    ----------
    word_order : also words, up to this order: 0 for chrF, 2 for chrF++.
    """
    vocabulary = Vocabulary(split_edges, string.punctuation)

    def count(batch: SegmentBatch) -> np.ndarray:
        hyps = code_points(batch.hyps)
        hyp_words = vocabulary.tokens(batch.hyps) if word_order else None
        best: Any = None
        best_score: Any = None
        for stream in batch.refs:
            stats = np.empty((len(batch.hyps), 3 * (CHAR_ORDER + word_order)), dtype=np.int64)
            texts, groups = [text or "" for text in stream], batch.groups
            refs = code_points(texts)
            counts = clipped_matches(hyps, refs, groups, skipped=WHITESPACE, order=CHAR_ORDER)
            _fill(*counts, groups, stats[:, : 3 * CHAR_ORDER])
            if word_order:
                refs = vocabulary.tokens(texts)
                counts = clipped_matches(
                    hyp_words, refs, groups, skipped=NO_WORDS, order=word_order
                )
                _fill(*counts, groups, stats[:, 3 * CHAR_ORDER :])
            if len(batch.refs) == 1:
                return stats
            missing = np.repeat([text is None for text in stream], np.diff(groups))
            score = np.where(missing, -1.0, scores(stats))
            if best is None:
                best, best_score = stats, score
            better = score > best_score
            best[better], best_score[better] = stats[better], score[better]
        return best

    return count


def scores(stats: ArrayLike) -> np.ndarray:
    """The F-score, β = 2, of precision and recall averaged over those orders that both texts have.

    Parameters
    ----------
    stats : (..., S) counts of segments, or sums of them: the score of a corpus or of a bootstrap replicate.

    Returns
    -------
    (...) float64, points, 0 to 100; 0 where no order is in both.

    References
    ----------
    sacreBLEU's CHRF(eps_smoothing=False), in its order of operations.

    >>> scores([3, 3, 3, 2, 2, 2])
    array(100.)
    """
    stats = np.ascontiguousarray(stats, dtype=np.float64)
    return _f_scores(stats.reshape(-1, stats.shape[-1]), float(BETA)).reshape(stats.shape[:-1])


@compiled
def _fill(lengths, ref_lengths, matches, groups, stats):
    """The triples of each order; n-grams of a hypothesis do not count where its reference has none of that order."""
    for g in range(groups.size - 1):
        for i in range(groups[g], groups[g + 1]):
            for n in range(matches.shape[1]):
                n_ref = max(0, ref_lengths[g] - n)
                stats[i, 3 * n] = max(0, lengths[i] - n) if n_ref else 0
                stats[i, 3 * n + 1] = n_ref
                stats[i, 3 * n + 2] = matches[i, n]


@compiled
def _f_scores(stats, beta):
    factor = beta**2
    out = np.zeros(stats.shape[0])
    for i in range(stats.shape[0]):
        avg_prec, avg_rec, effective_order = 0.0, 0.0, 0
        for k in range(0, stats.shape[1], 3):
            n_hyp, n_ref, n_match = stats[i, k], stats[i, k + 1], stats[i, k + 2]
            if n_hyp > 0 and n_ref > 0:
                avg_prec += n_match / n_hyp
                avg_rec += n_match / n_ref
                effective_order += 1
        if avg_prec + avg_rec:
            avg_prec /= effective_order
            avg_rec /= effective_order
            score = (1 + factor) * avg_prec * avg_rec
            out[i] = 100 * (score / ((factor * avg_prec) + avg_rec))
    return out


@compiled
def split_edges(pool, begin, words):
    """Words with a space before the mark at their end, or else after the mark at their start; as sacreBLEU's chrF++."""
    size = words.size
    for word in words:
        size += begin[word + 1] - begin[word]
    codes = np.empty(size, np.uint32)
    starts = np.zeros(words.size + 1, np.int64)
    n = 0
    for i, word in enumerate(words):
        first, last = begin[word], begin[word + 1] - 1
        cut = -1
        if first < last and pool[last] < 128 and MARKS[pool[last]]:
            cut = last
        elif first < last and pool[first] < 128 and MARKS[pool[first]]:
            cut = first + 1
        for k in range(first, last + 1):
            if k == cut:
                codes[n] = 32
                n += 1
            codes[n] = pool[k]
            n += 1
        starts[i + 1] = n
    return codes[:n], starts
