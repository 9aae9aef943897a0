"""What a language model has learnt: does it prefer a sentence to its shuffled copy, a good one to a bad one?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import DataError
from ..stats import Z95
from .lm import LanguageModel, score_texts

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["minimal_pair_table", "prefers_original", "shuffled_words"]


def shuffled_words(text: str, rng: np.random.Generator) -> str:
    """The words of a text in another order; a DataError where there is none.

    >>> shuffled_words("a b", np.random.default_rng(0))
    'b a'
    """
    words = text.split()
    if len(set(words)) < 2:
        raise DataError(f"'{text}' has no other word order.")
    order = list(words)
    while order == words:
        order = [words[i] for i in rng.permutation(len(words))]
    return " ".join(order)


def prefers_original(lm: LanguageModel, texts: Sequence[str], rng: np.random.Generator) -> np.ndarray:
    """(n,) bool: whether the text has a lower log-perplexity (mean per token) than its word-shuffled copy."""
    n = len(texts)
    mean = score_texts(lm, [*texts, *(shuffled_words(text, rng) for text in texts)]).mean
    return mean[:n] > mean[n:]


def minimal_pair_table(lm: LanguageModel, pairs: Sequence[tuple[str, str, str]]) -> pd.DataFrame:
    """A row per phenomenon and one for all: n, hits, hit rate in [0, 1], 95 % Wilson interval.

    `pairs` are (phenomenon, good, bad); a hit is a higher total log-probability of the whole good sentence, end of
    sentence included where the model has such a token.
    """
    import pandas as pd

    names, good, bad = zip(*pairs, strict=True)
    eos = lm.tokenizer.eos_token_id is not None
    total = score_texts(lm, [*good, *bad], eos=eos).total
    hit = pd.Series(total[: len(good)] > total[len(good) :])
    groups = {**dict(iter(hit.groupby(list(names)))), "all": hit}
    rows = [(name, len(h), int(h.sum()), h.mean(), *_wilson(int(h.sum()), len(h))) for name, h in groups.items()]
    return pd.DataFrame(rows, columns=["phenomenon", "n", "hits", "rate", "low", "high"])


def _wilson(hits: int, n: int, z: float = Z95) -> tuple[float, float]:
    """Wilson's score interval of a proportion (Wilson 1927): sensible for small n and rates near 0 or 1."""
    p, scale = hits / n, 1 + z * z / n
    centre, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return float((centre - half) / scale), float((centre + half) / scale)
