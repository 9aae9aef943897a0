"""What a parallel corpus alone says about a translation direction: type-token ratios, shared words, lengths.

The definitions are those behind the published columns `src_ttr`, `tgt_ttr`, `distance_ttr`, `word_overlap` and
`rat_token_number`, which Bugliarello et al. 2020 took over from LangRank (Lin et al. 2019): texts are tokenised
already, and a token is what stands between two spaces. All change with the tokeniser, and all but the token ratio with
the size of the corpus: compare only corpora of equal size, tokenised alike. The published ones are of the training
texts, 190,733 sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError

__all__ = ["CorpusFeatures", "corpus_features", "ttr_distance", "type_token_ratio"]


@dataclass(frozen=True)
class CorpusFeatures:
    """The five corpus features of one direction.

    Parameters
    ----------
    src_ttr, trg_ttr : types per token, in (0, 1].
    ttr_distance : (1 − src_ttr / trg_ttr)², ≥ 0; not symmetric.
    word_overlap : types that both languages have, per type of the one plus type of the other, in [0, 1/2]; symmetric.
    token_ratio : source tokens per target token, > 0.
    n : sentence pairs.
    """

    src_ttr: float
    trg_ttr: float
    ttr_distance: float
    word_overlap: float
    token_ratio: float
    n: int


def corpus_features(src: Sequence[str], trg: Sequence[str]) -> CorpusFeatures:
    """The type-token ratios of two languages, their distance, the words they share and the ratio of their lengths.

    Parameters
    ----------
    src, trg : n tokenised sentences each, the i-th of one translates the i-th of the other.

    Raises
    ------
    DataError : different numbers of sentences, a single text instead of a list, or no token at all.

    References
    ----------
    Lin et al. 2019, Choosing Transfer Languages for Cross-Lingual Learning, ACL.

    >>> corpus_features(["a b a"], ["a c"])
    CorpusFeatures(src_ttr=0.66..., trg_ttr=1.0, ttr_distance=0.11..., word_overlap=0.25, token_ratio=1.5, n=1)
    """
    src_tokens, trg_tokens = _tokens(src, "src"), _tokens(trg, "trg")
    n = checks.same_length(src=src, trg=trg)
    src_types, trg_types = set(src_tokens), set(trg_tokens)
    src_ttr, trg_ttr = len(src_types) / len(src_tokens), len(trg_types) / len(trg_tokens)
    return CorpusFeatures(
        src_ttr=src_ttr,
        trg_ttr=trg_ttr,
        ttr_distance=float(ttr_distance(src_ttr, trg_ttr)),
        word_overlap=len(src_types & trg_types) / (len(src_types) + len(trg_types)),
        token_ratio=len(src_tokens) / len(trg_tokens),
        n=n,
    )


def type_token_ratio(texts: Sequence[str]) -> float:
    """How many different tokens a text has per token: 1 where none comes twice, lower the longer the text.

    Parameters
    ----------
    texts : tokenised sentences.

    Returns
    -------
    float in (0, 1].

    >>> type_token_ratio(["the cat saw the cat"])
    0.6
    """
    tokens = _tokens(texts, "texts")
    return len(set(tokens)) / len(tokens)


def ttr_distance(src_ttr: ArrayLike, trg_ttr: ArrayLike) -> np.ndarray:
    """(1 − source TTR / target TTR)²: 0 where both are equal, at most 1 where the source's is the lower one.

    Not symmetric, and not bounded: from Finnish into English it is 28, from English into Finnish 0.7.

    Parameters
    ----------
    src_ttr, trg_ttr : (n,) type-token ratios in (0, 1], or single ones.

    Raises
    ------
    DataError : a ratio outside (0, 1].

    >>> ttr_distance([0.02, 0.01], [0.01, 0.02]).tolist()
    [1.0, 0.25]
    """
    src, trg = (np.asarray(ttr, dtype=np.float64) for ttr in (src_ttr, trg_ttr))
    for name, ttr in (("src_ttr", src), ("trg_ttr", trg)):
        bad = ttr[~((ttr > 0) & (ttr <= 1))]
        if bad.size:
            raise DataError(
                f"{name} is {bad.flat[0]:g}: a type-token ratio is above 0 and at most 1."
            )
    return (1 - src / trg) ** 2


def _tokens(texts: Sequence[str], name: str) -> list[str]:
    """All tokens, or a DataError where there are none."""
    tokens = [token for text in checks.texts(name, texts) for token in text.split()]
    if not tokens:
        raise DataError(
            f"{name} has no token in {len(texts)} sentences; a ratio needs at least one."
        )
    return tokens
