"""BLEU (Papineni et al. 2002) from counts per segment, equal to sacreBLEU's values to the last bit."""

import math
import re
import sys

import numpy as np
import sacrebleu
from numpy.typing import ArrayLike
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from .._lazy import compiled, is_compiling
from ..data.languages import short_code
from ..errors import DataError, MissingExtra
from .chrf import Counter, _characters, _clipped_matches, _words

_ORDER = 4  # Papineni et al. 2002
_ALONE, _POINT, _HYPHEN, _DIGIT = 1, 2, 3, 4
# kinds of ASCII characters in 13a's expressions; the last entry, none, is for all beyond
_KINDS = np.zeros(129, np.uint8)
for _kind, _marks in enumerate((r"[{-~[-` -&(-+:-@/]", "[.,]", "-", "[0-9]"), _ALONE):
    _KINDS[[c for c in range(128) if re.match(_marks, chr(c))]] = _kind
# sum(), which sacreBLEU uses, corrects its rounding error
_COMPENSATED = sys.version_info >= (3, 12)


def _sacrebleu_bleu(trg_lang: str = "", *, effective_order: bool = False) -> sacrebleu.BLEU:
    """Return sacreBLEU's own BLEU with the tokenizer of a target language.

    Parameters
    ----------
    effective_order : bool
        Leave out orders without an n-gram in the candidate, as sacreBLEU does for single sentences.

    Raises
    ------
    DataError : the language is undetermined ("und"). MissingExtra : its tokenizer is not installed.
    """
    if trg_lang == "und":
        raise DataError("BLEU's tokenizer: got language 'und'. Give the language pair.")
    lang = short_code(trg_lang or "")
    try:
        return sacrebleu.BLEU(trg_lang=lang, effective_order=effective_order)
    except (RuntimeError, ImportError) as error:
        line = f"{sys.executable} -m pip install 'sacrebleu[{lang}]'"
        raise MissingExtra(f"BLEU into '{trg_lang}' needs a tokenizer: {line}") from error


def _counter(trg_lang: str = "") -> Counter:
    """Return a function that counts n-grams of words of candidates and references.

    Counts are (n, 10) int64: length, reference length, matches of orders 1 to 4, n-grams of orders 1 to 4. Of several
    references the closest length counts; without any, all are 0.

    Parameters
    ----------
    trg_lang : str
        Target language, which chooses the tokenizer as in sacreBLEU: zh, ja and ko have their own, others 13a.
    """
    tokenizer = _sacrebleu_bleu(trg_lang).tokenizer
    is_13a = isinstance(tokenizer, Tokenizer13a)

    def counts(hyps: list[str], refs: list[list[str | None]], groups: np.ndarray) -> np.ndarray:
        flat, n = [text for of_group in zip(*refs, strict=True) for text in of_group], len(hyps)
        texts = hyps + [text or "" for text in flat]
        texts = [_clean(t) if is_13a else tokenizer(t.rstrip()) for t in texts]
        symbols, at = _words(_characters(texts), _split_13a if is_13a else _split_nothing)
        own, of_refs = (symbols, at[: n + 1]), (symbols, at[n:])
        lengths, ref_lengths, matches = _clipped_matches(own, of_refs, groups, _ORDER)
        missing = np.array([text is None for text in flat], dtype=bool)
        closest = _closest(lengths, np.where(missing, -1, ref_lengths), groups)
        totals = np.maximum(lengths[:, None] - np.arange(_ORDER), 0)
        stats = np.column_stack([lengths, closest, matches, totals])
        return np.where(closest[:, None] < 0, 0, stats)

    return counts


def _clean(text: str) -> str:
    """A text as 13a reads it: without its markup and its entities."""
    if "&" in text or "<" in text or "\n" in text:
        text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
        for entity, mark in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
            text = text.replace(entity, mark)
    return text


@compiled
def _split_nothing(codes, starts):
    return np.zeros(codes.size + 1, np.bool_)


@compiled
def _split_13a(codes, starts):
    """Cut marks off as 13a's four regular expressions do.

    A point or comma is cut off unless digits are on both sides. In a row of them, a match of expression 2 or 3 uses up
    two characters, and the second cannot begin the next match.
    """
    cuts = np.zeros(codes.size + 1, np.bool_)
    last = np.uint32(_KINDS.size - 1)
    for i in range(starts.size - 1):
        # of the character before: whether it is a digit, and whether expression 2 or 3 matched it
        digit = second = third = False
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            kind = _KINDS[min(codes[k], last)]
            if kind == _POINT:
                next_digit = k + 1 < starts[i + 1] and _KINDS[min(codes[k + 1], last)] == _DIGIT
                used = third and not second
                second = not digit and not second
                third = second or not (next_digit or used)
            else:
                second = third = False
            if kind == _ALONE or (kind == _HYPHEN and digit) or second or third:
                cuts[k] = cuts[k + 1] = True
            digit = kind == _DIGIT
    return cuts


def _closest(lengths: np.ndarray, ref_lengths: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """(n,) length of the closest reference, the shorter of equals; -1 without any."""
    n = len(groups) - 1
    of_refs = ref_lengths.reshape(n, len(ref_lengths) // max(n, 1)).repeat(np.diff(groups), axis=0)
    apart = np.where(of_refs < 0, 2**31, np.abs(of_refs - lengths[:, None]))
    nearest = np.argsort(apart * 2**31 + of_refs, axis=1)[:, :1]
    return np.take_along_axis(of_refs, nearest, axis=1).reshape(len(lengths))


def scores(stats: ArrayLike, *, effective_order: bool) -> np.ndarray:
    """Geometric mean of the n-gram precisions times a brevity penalty, with smoothing 'exp'.

    Parameters
    ----------
    stats : (..., 10) counts of segments, or sums of them for a corpus or a resample.
    effective_order : bool
        True for segments: only orders that the candidate has. False for a corpus.

    Returns
    -------
    (...) float64, points, 0 to 100; 0 if nothing matches.

    References
    ----------
    sacreBLEU's BLEU.compute_bleu; smoothing: method 3 of Chen and Cherry 2014, http://aclweb.org/anthology/W14-3346

    >>> scores([4, 4, 4, 3, 2, 1, 4, 3, 2, 1], effective_order=True).round(9)
    100.0
    """
    stats = np.ascontiguousarray(stats, dtype=np.float64)
    score = _bleu if stats.size > 30_000 or is_compiling() else _bleu.plain
    return score(stats.reshape(-1, stats.shape[-1]), effective_order).reshape(stats.shape[:-1])


@compiled
def _bleu(stats, effective_order):
    out = np.zeros(stats.shape[0])
    for i in range(stats.shape[0]):
        sys_len, ref_len = stats[i, 0], stats[i, 1]
        correct, total = stats[i, 2 : 2 + _ORDER], stats[i, 2 + _ORDER :]
        orders = 0
        while orders < _ORDER and total[orders] > 0:
            orders += 1
        # Nothing matches, or the corpus has no n-grams of some order, whose logarithm sacreBLEU sets to -9999999999.
        if not correct.any() or (orders < _ORDER and not effective_order):
            continue
        brevity = math.exp(1 - ref_len / sys_len) if sys_len < ref_len else 1.0
        smooth, log_sum, lost = 1.0, 0.0, 0.0
        for n in range(orders):
            if correct[n] == 0:
                smooth *= 2  # each next zero counts half
                log = math.log(100.0 / (smooth * total[n]))
            else:
                log = math.log(100.0 * correct[n] / total[n])
            new = log_sum + log
            lost += (log_sum - new) + log if abs(log_sum) >= abs(log) else (log - new) + log_sum
            log_sum = new
        if _COMPENSATED:
            log_sum += lost
        out[i] = brevity * math.exp(log_sum / orders)
    return out
