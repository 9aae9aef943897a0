"""How rich the vocabulary of a corpus is: measures of words that tell machine from human translations.

They are measures of whole corpora, on a sequence of tokens (words, or their numbers from 0), in linear time.
Most of them fall or rise with length alone, so compare systems on the same segments only, and a system with a human
text of about the same length. Richer is not better by itself: natural is what comes close to text of the language.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from ..compiled import compiled
from ..errors import DataError

__all__ = [
    "band_of",
    "codes_of",
    "frequency_profile",
    "mattr",
    "mtld",
    "shannon",
    "simpson",
    "ttr",
    "yules_i",
    "yules_k",
]

WINDOW = 100
"""Tokens of MATTR's window: lexicalrichness' default. Covington and McFall 2010 take 500 for long texts."""

THRESHOLD = 0.72
"""The type-token ratio at which MTLD's factor ends, itself included (see `mtld`): McCarthy and Jarvis 2010."""

BANDS = (1000, 2000)
"""The last rank of each frequency band but the last: Laufer and Nation 1995, as used by Vanmassenhove et al. 2021."""

Tokens = Sequence[Hashable] | np.ndarray


def ttr(tokens: Tokens) -> float:
    """Type-token ratio: distinct words per word, in (0, 1]; it falls with length. nan without a token.

    >>> ttr("the cat and the dog".split())
    0.8
    """
    counts = _counts(tokens)
    return len(counts) / counts.sum() if len(counts) else np.nan


def mattr(tokens: Tokens, window: int = WINDOW) -> float:
    """Moving-average type-token ratio: the mean TTR of all windows of so many tokens, in (0, 1].

    It does not depend on length. nan where there are fewer tokens than a window has.

    References
    ----------
    Covington and McFall 2010, Journal of Quantitative Linguistics 17.

    >>> mattr("a b a a".split(), window=2)
    0.8333333333333334
    """
    if window < 1:
        raise DataError(f"MATTR's window is {window} tokens; it must be at least 1.")
    codes = codes_of(tokens)
    if len(codes) < window:
        return np.nan
    return _types_in_windows(codes, window) / (window * (len(codes) - window + 1))


def mtld(tokens: Tokens, threshold: float = THRESHOLD) -> float:
    """Measure of textual lexical diversity: the mean number of words in a row until their TTR falls to a threshold.

    Such a run is a factor; an unfinished one at the end counts as (1 - its TTR) / (1 - threshold) of a factor. MTLD is
    tokens per factor, the mean of reading forward and backward. It hardly depends on length from about 100 tokens on.

    A run ends where its TTR is at the threshold or below, as in the libraries lexicalrichness and lexical_diversity
    (J. Frens). TAALED ends it below the threshold only, and no run of fewer than 10 words. That is another number, as
    18 words in 25 are 0.72: by "below" alone, the systems of WMT24 en-de have 0.6 % less to 2 % more.

    Parameters
    ----------
    threshold : in (0, 1).

    Returns
    -------
    float >= 1, in tokens; nan where no word is repeated, so that there is not even a part of a factor.

    References
    ----------
    McCarthy and Jarvis 2010, Behavior Research Methods 42.

    >>> round(mtld("a a b c d c".split(), threshold=0.5), 9)  # forward 1.5 factors, backward two thirds of one
    6.5
    """
    if not 0 < threshold < 1:
        raise DataError(f"MTLD's threshold is {threshold}; it must lie between 0 and 1.")
    codes = codes_of(tokens)
    factors = _factors(codes, threshold), _factors(codes[::-1].copy(), threshold)
    return 0.5 * (len(codes) / factors[0] + len(codes) / factors[1]) if min(factors) > 0 else np.nan


def yules_i(tokens: Tokens) -> float:
    """Yule's I as Vanmassenhove et al. compute it: V² / (Σ f² - V) of the frequencies f of V distinct words.

    Higher is more diverse; it falls with length. The code of Vanmassenhove et al. 2021 and the library lexicalrichness
    agree on it. It is no inverse of `yules_k`, though it is called so: that would have the tokens N = Σ f instead of V,
    10⁴ / K = N² / (Σ f² - N). nan where no word is repeated.

    References
    ----------
    Vanmassenhove et al. 2021, EACL 2021.

    >>> yules_i("a a b".split())
    1.3333333333333333
    """
    counts = _counts(tokens)
    types, squares = len(counts), (counts**2).sum()
    return float(types**2 / (squares - types)) if squares > types else np.nan


def yules_k(tokens: Tokens) -> float:
    """Yule's characteristic K: 10⁴ (Σ f² - N) / N², how often two tokens drawn from N are the same word.

    Lower is more diverse; it hardly depends on length. 0 where no word is repeated, nan without a token.

    References
    ----------
    Yule 1944; Tweedie and Baayen 1998, Computers and the Humanities 32.

    >>> round(yules_k("a a b".split()), 1)
    2222.2
    """
    counts = _counts(tokens)
    n = counts.sum()
    return float(1e4 * ((counts**2).sum() - n) / n**2) if n else np.nan


def shannon(tokens: Tokens) -> float:
    """Entropy of the relative frequencies of the words, -Σ p ln p, in nats per token: at most ln of the types.

    The estimate is too low for a short text, because it lacks the rare words. nan without a token. (Vanmassenhove et
    al. average the entropy of the forms of each lemma; that needs a lemmatiser and is another number.)

    >>> round(shannon("a b".split()), 4)
    0.6931
    """
    counts = _counts(tokens)
    p = counts / counts.sum() if len(counts) else np.array([np.nan])
    return abs(float(-(p * np.log(p)).sum()))  # no -0.0


def simpson(tokens: Tokens) -> float:
    """1 - Σ p² of the relative frequencies of the words: how often two tokens, drawn with replacement, differ.

    In [0, 1); higher is more diverse. Σ p² itself is the index of Simpson 1949. nan without a token.

    >>> simpson("a b".split())
    0.5
    """
    counts = _counts(tokens)
    return float(1 - (counts**2).sum() / counts.sum() ** 2) if len(counts) else np.nan


def band_of(tokens: Tokens, bands: Sequence[int] = BANDS) -> dict[Hashable, int]:
    """Word -> its frequency band, 0 for the most frequent words, in a text that is the yardstick.

    Parameters
    ----------
    tokens : of a large text of the language; words of equal frequency are ranked in alphabetical order.
    bands : last rank of each band but the last, rising: (1000, 2000) are ranks 1 to 1000, 1001 to 2000, and the rest.

    >>> band_of("the the cat sat".split(), (1, 2))
    {'the': 0, 'cat': 1, 'sat': 2}
    """
    if list(bands) != sorted(set(bands)) or min(bands, default=0) < 1:
        raise DataError(f"frequency bands {tuple(bands)} must be rising ranks from 1.")
    ranked = sorted(Counter(tokens).items(), key=lambda pair: (-pair[1], pair[0]))
    ends = np.searchsorted(bands, np.arange(1, len(ranked) + 1))
    return dict(zip((word for word, _ in ranked), ends.tolist(), strict=True))


def frequency_profile(
    tokens: Tokens, reference: dict[Hashable, int] | None = None, bands: Sequence[int] = BANDS
) -> np.ndarray:
    """Lexical frequency profile: the shares of the tokens in each band of frequency, adding up to 1.

    Parameters
    ----------
    tokens : of the text to be described.
    reference : word -> band from `band_of` with the same bands; a word that is not in it belongs to the last band.
        None: the bands of the text itself, as Vanmassenhove et al. have it.
    bands : as in `band_of`.

    Returns
    -------
    (B + 1,) shares in [0, 1], by default of ranks 1 to 1000, 1001 to 2000 and beyond; nan without a token. A large
    first share is a poor vocabulary.

    References
    ----------
    Laufer and Nation 1995, Applied Linguistics 16; Vanmassenhove et al. 2021.

    >>> frequency_profile("the cat saw the dog".split(), {"the": 0, "cat": 1}, bands=(1, 2)).tolist()
    [0.4, 0.2, 0.4]
    """
    reference = band_of(tokens, bands) if reference is None else reference
    rest = len(bands)
    counts = np.bincount([reference.get(token, rest) for token in tokens], minlength=rest + 1)
    return counts / counts.sum() if counts.sum() else np.full(rest + 1, np.nan)


def codes_of(tokens: Tokens) -> np.ndarray:
    """(N,) int64 numbers of the tokens, from 0 in the order of first occurrence; whole numbers stay as they are."""
    if isinstance(tokens, np.ndarray) and np.issubdtype(tokens.dtype, np.integer):
        if tokens.ndim != 1 or (tokens < 0).any():
            raise DataError(
                "tokens as numbers must be a flat array without negative ones, got shape "
                f"{tokens.shape}."
            )
        return tokens.astype(np.int64, copy=False)
    if isinstance(tokens, str):
        raise DataError(
            f"'{tokens[:20]}' is a text; give a list of its words, e.g. from tokens.words."
        )
    number: dict[Hashable, int] = {}
    return np.fromiter(
        (number.setdefault(token, len(number)) for token in tokens), np.int64, len(tokens)
    )


def _counts(tokens: Tokens) -> np.ndarray:
    """(V,) int64 how often each distinct token occurs, rising, so that no sum depends on the names of words."""
    counts = np.sort(np.bincount(codes_of(tokens)))
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
    """How many times the type-token ratio falls to the threshold, with the share of the last, unfinished time."""
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
