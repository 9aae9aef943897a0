"""Lexical diversity of a corpus, which differs between machine and human translations.

The measures are functions of the sequence of all words. Most change with length, so compare systems on the same
segments. A richer vocabulary is not better by itself: compare it with text written in the language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from .. import __version__, checks
from .._lazy import compiled
from ..data.languages import short_code, spaced
from ..errors import DataError
from ..metrics import Asked, Metric

# Tokens of MATTR's window: lexicalrichness' default. Covington and McFall 2010 take 500 for long texts.
WINDOW = 100
# The type-token ratio, inclusive, at which MTLD's factor ends: McCarthy and Jarvis 2010.
THRESHOLD = 0.72
Tokens = Sequence[Hashable] | np.ndarray
_CJK = "\u3005\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# within words of Persian and of the scripts of India
_JOINERS = "\u200c\u200d"


def _words(text: str) -> list[str]:
    """The lower-case words of a text: runs of letters, digits and marks, with apostrophes inside.

    In NFC, with ’ as '. A Chinese character or a kana is a word. Hyphens, underscores and other signs separate words.

    >>> _words("Wie geht's, Herr O’Neill? 3-mal gut.")
    ['wie', "geht's", 'herr', "o'neill", '3', 'mal', 'gut']
    >>> _words("今日は good")
    ['今', '日', 'は', 'good']
    """
    return _pattern().findall(unicodedata.normalize("NFC", text).lower().replace("’", "'"))


@cache
def _pattern() -> re.Pattern[str]:
    """A CJK letter, or a run of other letters, digits, marks and joiners with apostrophes inside."""
    # `re` counts no marks as letters
    planes = chain(range(0x300, 0x20000), range(0xE0000, 0xE01F0))
    marks = "".join(chr(c) for c in planes if unicodedata.category(chr(c))[0] == "M")
    letter = f"[^\\W_{_CJK}]"
    inside = f"(?:{letter}|[{marks}{_JOINERS}])"
    return re.compile(f"(?=\\w)[{_CJK}]|{letter}{inside}*(?:'{letter}{inside}*)*")


def _ttr(tokens: Tokens) -> float:
    """Type-token ratio: distinct words per word, in (0, 1]; it falls with length. nan without a token.

    >>> _ttr("the cat and the dog".split())
    0.8
    """
    counts = _counts(tokens)
    return len(counts) / counts.sum() if len(counts) else np.nan


def _mattr(tokens: Tokens, window: int = WINDOW) -> float:
    """Moving-average type-token ratio: the mean TTR of all windows of tokens, in (0, 1].

    Independent of length; nan for fewer tokens than a window has.

    References
    ----------
    Covington and McFall 2010, Journal of Quantitative Linguistics 17.

    >>> _mattr("a b a a".split(), window=2)
    0.8333333333333334
    """
    codes, window = _codes(tokens), checks.whole("window", window)
    if len(codes) < window:
        return np.nan
    return _types_in_windows(codes, window) / (window * (len(codes) - window + 1))


def _mtld(tokens: Tokens, threshold: float = THRESHOLD) -> float:
    """Measure of textual lexical diversity: mean length of runs until their TTR falls to a threshold.

    Such a run is a factor; an unfinished one at the end counts as (1 - its TTR) / (1 - threshold) of a factor. MTLD is
    tokens per factor, the mean of reading forward and backward; nan where no word is repeated. A run ends where its TTR
    is at the threshold or below, as in lexicalrichness. TAALED ends it below only, and no run of fewer than 10 words.

    References
    ----------
    McCarthy and Jarvis 2010, Behavior Research Methods 42.

    >>> round(_mtld("a a b c d c".split(), threshold=0.5), 9)  # forward 1.5 factors, backward 2/3
    6.5
    """
    codes = _codes(tokens)
    factors = _factors(codes, threshold), _factors(codes[::-1].copy(), threshold)
    return 0.5 * (len(codes) / factors[0] + len(codes) / factors[1]) if min(factors) > 0 else np.nan


def _yules_i(tokens: Tokens) -> float:
    """Yule's I: V² / (Σ f² - V) of the frequencies f of V distinct words; it falls with length.

    It is not the inverse of `_yules_k`, which would be 10⁴ / K = N² / (Σ f² - N). nan where no word is repeated.

    References
    ----------
    Vanmassenhove et al. 2021, whose code agrees with lexicalrichness.

    >>> _yules_i("a a b".split())
    1.3333333333333333
    """
    counts = _counts(tokens)
    types, squares = len(counts), (counts**2).sum()
    return float(types**2 / (squares - types)) if squares > types else np.nan


def _yules_k(tokens: Tokens) -> float:
    """Yule's characteristic K: 10⁴ (Σ f² - N) / N²; lower is more diverse. nan without a token.

    References
    ----------
    Yule 1944; Tweedie and Baayen 1998, Computers and the Humanities 32.

    >>> round(_yules_k("a a b".split()), 1)
    2222.2
    """
    counts = _counts(tokens)
    n = counts.sum()
    return float(1e4 * ((counts**2).sum() - n) / n**2) if n else np.nan


def _shannon(tokens: Tokens) -> float:
    """Entropy of the relative frequencies of the words, -Σ p ln p, in nats per token.

    Too low for a short text, which lacks rare words. nan without a token.

    >>> round(_shannon("a b".split()), 4)
    0.6931
    """
    counts = _counts(tokens)
    p = counts / counts.sum() if len(counts) else np.array([np.nan])
    return abs(float(-(p * np.log(p)).sum()))  # no -0.0


def _simpson(tokens: Tokens) -> float:
    """1 - Σ p² of the relative frequencies: the probability that two drawn tokens differ.

    In [0, 1); higher is more diverse. Σ p² itself is the index of Simpson 1949. nan without a token.

    >>> _simpson("a b".split())
    0.5
    """
    counts = _counts(tokens)
    return float(1 - (counts**2).sum() / counts.sum() ** 2) if len(counts) else np.nan


def _codes(tokens: Tokens) -> np.ndarray:
    """(N,) int64 numbers of the tokens in order of first occurrence; an int array is unchanged."""
    if isinstance(tokens, np.ndarray) and np.issubdtype(tokens.dtype, np.integer):
        return tokens.astype(np.int64, copy=False)
    number: dict[Hashable, int] = {}
    codes = (number.setdefault(token, len(number)) for token in tokens)
    return np.fromiter(codes, np.int64, len(tokens))


def _counts(tokens: Tokens) -> np.ndarray:
    """(V,) int64 how often each distinct token occurs, ascending, so that sums have one order."""
    counts = np.sort(np.bincount(_codes(tokens)))
    return counts[np.searchsorted(counts, 1) :]


@compiled
def _types_in_windows(codes: np.ndarray, window: int) -> int:
    """Sum over all windows of the number of distinct tokens in each."""
    counts = np.zeros(codes.max() + 1, np.int64)
    types, total = 0, 0
    for i in range(len(codes)):
        types += counts[codes[i]] == 0
        counts[codes[i]] += 1
        if i >= window:
            counts[codes[i - window]] -= 1
            types -= counts[codes[i - window]] == 0
        if i >= window - 1:
            total += types
    return total


@compiled
def _factors(codes: np.ndarray, threshold: float) -> float:
    """How often the type-token ratio falls to the threshold, with the share of an unfinished run."""
    last_seen = np.full(codes.max() + 1 if len(codes) else 0, -1)
    start, types, factors = 0, 0, 0.0
    for i in range(len(codes)):
        types += last_seen[codes[i]] < start
        last_seen[codes[i]] = i
        if types / (i + 1 - start) <= threshold:
            start, types, factors = i + 1, 0, factors + 1.0
    if start < len(codes):
        factors += (1.0 - types / (len(codes) - start)) / (1.0 - threshold)
    return factors


class _Measure(NamedTuple):
    """A function of the tokens of a corpus; label, unit and direction as in `Metric`."""

    label: str
    unit: str
    higher_is_better: bool
    of: Callable[[Tokens], float]
    options: str = ""


MEASURES: dict[str, _Measure] = {
    "ttr": _Measure("type-token ratio", "types per token", True, _ttr),
    "mattr": _Measure(
        "moving-average type-token ratio", "types per token", True, _mattr, f"window:{WINDOW}"
    ),
    "mtld": _Measure("MTLD", "tokens", True, _mtld, f"threshold:≤{THRESHOLD}"),
    "yules_i": _Measure("Yule's I", "no unit", True, _yules_i, "V²/(Σf²-V)"),
    "yules_k": _Measure("Yule's K", "in 10,000", False, _yules_k, "10⁴(Σf²-N)/N²"),
    "shannon": _Measure("Shannon entropy of words", "nats per token", True, _shannon, "plug-in"),
    "simpson": _Measure("Simpson diversity", "probability", True, _simpson, "1-Σp²"),
}


def _signature(name: str, trg_lang: str) -> str:
    if not spaced(trg_lang) and short_code(trg_lang) not in ("ja", "zh"):
        raise DataError(f"'{trg_lang}' has no spaces between words, which lexical measures need.")
    parts = (name, MEASURES[name].options, "tok:nfc-lower-words-cjkchars", f"lang:{trg_lang}")
    return "|".join([*filter(None, parts), f"anhelpers:{__version__}"])


def _lexical_metric(measure: str, trg_lang: str) -> Metric:
    """A measure of `MEASURES` as a metric of whole corpora, without segment scores.

    Parameters
    ----------
    trg_lang : str
        Language of the texts; a DataError if its words are not separated by spaces (Chinese and Japanese are read by
        character).
    """
    m = MEASURES[checks.one_of(measure, MEASURES, "lexical measure")]

    def score_corpus(hyps: Sequence[str], refs: Any = None, srcs: Any = None) -> float:
        return float(m.of([word for text in hyps for word in _words(text)]))

    facts = measure, m.label, m.unit, m.higher_is_better, (), _signature(measure, trg_lang)
    return Metric(*facts, None, score_corpus, skips_blank=True, praise="more diverse")


def _named(asked: Asked) -> Metric:
    """The maker of `_lexical_metric` in the table of metrics."""
    return _lexical_metric(asked.name, asked.lang)
