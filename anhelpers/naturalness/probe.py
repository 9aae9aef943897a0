"""What a language model has learnt: does it prefer a sentence to its shuffled copy, a good one to a bad one?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import DataError
from ..stats import share_interval
from .lm import LanguageModel, score_texts

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["minimal_pair_table", "prefers_original", "shuffled_words"]

ALL = "all"
"""The row of all phenomena together."""


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


def prefers_original(
    lm: LanguageModel, texts: Sequence[str], rng: np.random.Generator
) -> np.ndarray:
    """(n,) bool: whether the text has a lower log-perplexity (mean per token) than its word-shuffled copy."""
    n = len(texts)
    mean = score_texts(lm, [*texts, *(shuffled_words(text, rng) for text in texts)]).mean
    return mean[:n] > mean[n:]


def minimal_pair_table(lm: LanguageModel, pairs: Sequence[tuple[str, str, str]]) -> pd.DataFrame:
    """A row per phenomenon and one for all: n, hits, hit rate in [0, 1], 95 % Wilson interval (Wilson 1927).

    `pairs` are (phenomenon, good, bad); a hit is a higher total log-probability of the whole good sentence, end of
    sentence included where the model has such a token. A DataError for a pair with a blank text.
    """
    import pandas as pd

    if not pairs:
        raise DataError("there are no minimal pairs; give some as (phenomenon, good, bad).")
    for name, good, bad in pairs:
        if name == ALL or not (good.strip() and bad.strip()):
            raise DataError(
                f"the minimal pair ({name!r}, {good!r}, {bad!r}) must have two texts, and a "
                f"phenomenon that is not called '{ALL}', as the row of all pairs is."
            )
    names, goods, bads = zip(*pairs, strict=True)
    eos = lm.tokenizer.eos_token_id is not None
    total = score_texts(lm, [*goods, *bads], eos=eos).total
    hit = pd.Series(total[: len(goods)] > total[len(goods) :])
    rows = []
    for name, h in {**dict(iter(hit.groupby(list(names)))), ALL: hit}.items():
        rows.append((name, len(h), int(h.sum()), h.mean(), *share_interval(int(h.sum()), len(h))))
    return pd.DataFrame(rows, columns=["phenomenon", "n", "hits", "rate", "low", "high"])
