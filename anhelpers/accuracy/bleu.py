"""BLEU (Papineni et al. 2002) from per-segment counts, with sacreBLEU's values to the last bit."""

from __future__ import annotations

import math
import string
import sys
from collections.abc import Callable

import numpy as np
import sacrebleu
from numpy.typing import ArrayLike
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from .._numba import compiled
from ..data.languages import short_code
from ..errors import DataError, MissingExtra
from .encode import SegmentBatch
from .ngrams import clipped_matches
from .words import Vocabulary

ORDER = 4  # Papineni et al. 2002
# 13a leaves a word without any of these in one piece
MARKS_13A = string.punctuation.replace("'", "")
# each of these is always a token
ALONE = np.array([chr(c) in set(MARKS_13A) - set(".,-") for c in range(128)])
BLANK, POINT, COMMA, HYPHEN, ZERO, NINE = (np.uint32(ord(c)) for c in " .,-09")
BEFORE_POINT, AFTER_POINT, AFTER_DIGIT = 0, 1, 2
MISSING = -1  # the length of a reference that is not there
NONE_SKIPPED = np.empty(0, dtype=np.uint32)
# from then on sum(), which sacreBLEU uses, carries its rounding error along
COMPENSATED = sys.version_info >= (3, 12)


def sacrebleu_metric(trg_lang: str = "", *, effective_order: bool = False) -> sacrebleu.BLEU:
    """sacreBLEU's own object for a target language: its tokenizer and its signature.

    Parameters
    ----------
    effective_order : orders without an n-gram in the candidate are left out, as sacreBLEU does for single sentences.

    Raises
    ------
    DataError for the undetermined language ("und"); MissingExtra where the tokenizer of Japanese or Korean is not
    installed.
    """
    if trg_lang == "und":
        raise DataError(
            "BLEU's tokenizer depends on the target language, which the texts are too few to tell; "
            "say the pair by -l, such as en-de (in Python: lp)."
        )
    lang = short_code(trg_lang or "")
    try:
        return sacrebleu.BLEU(trg_lang=lang, effective_order=effective_order)
    except (RuntimeError, ImportError) as error:
        line = f"{sys.executable} -m pip install 'sacrebleu[{lang}]'"
        raise MissingExtra(
            f"BLEU into '{trg_lang}' needs sacreBLEU's tokenizer for it; install it with: {line}"
        ) from error


def counter(trg_lang: str = "") -> Callable[[SegmentBatch], np.ndarray]:
    """A function from a batch of n hypotheses to their counts; it keeps the words it has seen.

    The counts are (n, 10) int64: sys_len, ref_len, correct of orders 1 to 4, total of orders 1 to 4. An n-gram is
    correct at most as often as it stands in one reference; of several references the closest length is taken. All are
    0 where there is no reference.

    Parameters
    ----------
    trg_lang : target language, which chooses the tokenizer as in sacreBLEU: zh, ja and ko have their own, else 13a.
    """
    tokenizer = sacrebleu_metric(trg_lang).tokenizer
    by_word = isinstance(tokenizer, Tokenizer13a)
    vocabulary = Vocabulary(split_13a, MARKS_13A) if by_word else Vocabulary()

    def count(batch: SegmentBatch) -> np.ndarray:
        n = len(batch.hyps)
        given = [text for of_segment in zip(*batch.refs, strict=True) for text in of_segment]
        texts = batch.hyps + [text or "" for text in given]
        if by_word:
            tokens, starts = vocabulary.tokens(*_clean(texts))
        else:
            tokens, starts = vocabulary.tokens([tokenizer(text.rstrip()) for text in texts])
        hyps, refs = (tokens, starts[: n + 1]), (tokens, starts[n:])
        lengths, ref_lengths, matches = clipped_matches(
            hyps, refs, batch.groups, skipped=NONE_SKIPPED, order=ORDER
        )
        ref_lengths[[text is None for text in given]] = MISSING
        stats = np.empty((n, 2 + 2 * ORDER), dtype=np.int64)
        _fill(lengths, ref_lengths, matches, batch.groups, stats)
        return stats

    return count


def _clean(texts: list[str]) -> tuple[list[str], str]:
    """The texts as 13a has them before it looks at words, and all of them joined."""
    joined = "".join(texts)
    if "&" in joined or "<" in joined or "\n" in joined:
        texts = [
            clean_13a(text) if "&" in text or "<" in text or "\n" in text else text
            for text in texts
        ]
        joined = "".join(texts)
    return texts, joined


def clean_13a(line: str) -> str:
    """The part of mteval-v13a that needs the whole line: skipped parts, line ends and entities; as in sacreBLEU."""
    line = line.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    return (
        line.replace("&quot;", '"').replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
    )


def scores(stats: ArrayLike, *, effective_order: bool) -> np.ndarray:
    """The geometric mean of the n-gram precisions, times a penalty for brevity; smoothing 'exp' halves each next zero.

    Parameters
    ----------
    stats : (..., 10) counts of segments, or sums of them: the score of a corpus or of a bootstrap replicate.
    effective_order : True for segments: only orders that the hypothesis has. False for a corpus.

    Returns
    -------
    (...) float64, points, 0 to 100; 0 where nothing matches.

    References
    ----------
    sacreBLEU's BLEU.compute_bleu; smoothing: method 3 of Chen and Cherry 2014, http://aclweb.org/anthology/W14-3346

    >>> scores([4, 4, 4, 3, 2, 1, 4, 3, 2, 1], effective_order=True).round(9)
    100.0
    """
    stats = np.ascontiguousarray(stats, dtype=np.float64)
    return _bleu(stats.reshape(-1, stats.shape[-1]), effective_order).reshape(stats.shape[:-1])


@compiled
def _fill(lengths, ref_lengths, matches, groups, stats):
    per_group = ref_lengths.size // max(groups.size - 1, 1)
    for g in range(groups.size - 1):
        for i in range(groups[g], groups[g + 1]):
            closest = np.int64(MISSING)
            for ref_len in ref_lengths[g * per_group : (g + 1) * per_group]:
                nearer = abs(lengths[i] - ref_len) - abs(lengths[i] - closest)
                if ref_len != MISSING and (
                    closest == MISSING or nearer < 0 or (nearer == 0 and ref_len < closest)
                ):
                    closest = ref_len
            if closest == MISSING:
                stats[i] = 0
                continue
            stats[i, 0], stats[i, 1] = lengths[i], closest
            for n in range(ORDER):
                stats[i, 2 + n] = matches[i, n]
                stats[i, 2 + ORDER + n] = max(0, lengths[i] - n)


@compiled
def _bleu(stats, effective_order):
    out = np.zeros(stats.shape[0])
    for i in range(stats.shape[0]):
        sys_len, ref_len = stats[i, 0], stats[i, 1]
        correct, total = stats[i, 2 : 2 + ORDER], stats[i, 2 + ORDER :]
        orders = 0
        while orders < ORDER and total[orders] > 0:
            orders += 1
        # Nothing matches; or the corpus has no n-grams of some order, whose logarithm sacreBLEU sets to -9999999999.
        if not correct.any() or (orders < ORDER and not effective_order):
            continue
        bp = 1.0
        if sys_len < ref_len:
            bp = math.exp(1 - ref_len / sys_len)
        smooth, log_sum, lost = 1.0, 0.0, 0.0
        for n in range(orders):
            if correct[n] == 0:
                smooth *= 2
                log = math.log(100.0 / (smooth * total[n]))
            else:
                log = math.log(100.0 * correct[n] / total[n])
            new = log_sum + log
            lost += (log_sum - new) + log if abs(log_sum) >= abs(log) else (log - new) + log_sum
            log_sum = new
        if COMPENSATED:
            log_sum += lost
        out[i] = bp * math.exp(log_sum / orders)
    return out


@compiled
def split_13a(pool, begin, words):
    """The 13a tokens of words, with spaces between them: sacreBLEU's four expressions, one after the other.

    13a commutes with splitting at white space, once the whole line is clean: its expressions look at a character and
    its neighbour, and all white space is alike to them.
    """
    size = 0
    for word in words:
        size += 5 * (begin[word + 1] - begin[word]) + 2
    codes = np.empty(size, np.uint32)
    other = np.empty(size, np.uint32)
    starts = np.zeros(words.size + 1, np.int64)
    for i, word in enumerate(words):
        other[0] = BLANK
        n = 1
        for k in range(begin[word], begin[word + 1]):
            alone = pool[k] < 128 and ALONE[pool[k]]
            if alone:
                other[n] = BLANK
            n += alone
            other[n] = pool[k]
            n += 1
            if alone:
                other[n] = BLANK
            n += alone
        other[n] = BLANK
        out = codes[starts[i] :]
        n = _split_pairs(BEFORE_POINT, other, n + 1, out)
        n = _split_pairs(AFTER_POINT, out, n, other)
        starts[i + 1] = starts[i] + _split_pairs(AFTER_DIGIT, other, n, out)
    return codes[: starts[-1]], starts


@compiled
def _split_pairs(rule, text, n, out):
    """Put spaces into text[:n] wherever one rule finds two characters that split; as re.sub, each character once."""
    i = k = 0
    while i < n:
        a, b = text[i], text[i + 1] if i + 1 < n else ZERO
        digits = ZERO <= a <= NINE, ZERO <= b <= NINE
        points = a in (POINT, COMMA), b in (POINT, COMMA)
        if rule == AFTER_POINT and points[0] and i + 1 < n and not digits[1]:
            out[k], out[k + 1], out[k + 2], out[k + 3] = BLANK, a, BLANK, b
        elif (rule == BEFORE_POINT and points[1] and not digits[0]) or (
            rule == AFTER_DIGIT and digits[0] and b == HYPHEN
        ):
            out[k], out[k + 1], out[k + 2], out[k + 3] = a, BLANK, b, BLANK
        else:
            out[k] = a
            i, k = i + 1, k + 1
            continue
        i, k = i + 2, k + 4
    return k
