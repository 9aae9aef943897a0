"""Features of a parallel corpus, and their correlation with XMI over translation directions.

The definitions are those of the published columns `src_ttr`, `tgt_ttr`, `distance_ttr`,
`word_overlap` and `rat_token_number`, which Bugliarello et al. 2020 adopted from LangRank (Lin et
al. 2019). Texts are tokenised, with spaces between tokens. All features depend on the tokeniser,
and all but the token ratio on the size of the corpus. The published ones are of the training texts,
190,733 sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from .._lazy import pd
from ..errors import DataError
from ..stats import correlation_p, holm, pearson, spearman


@dataclass(frozen=True)
class _CorpusFeatures:
    """The five corpus features of one direction.

    Parameters
    ----------
    src_ttr, trg_ttr : float
        Types per token, in (0, 1].
    ttr_distance : float
        (1 − src_ttr / trg_ttr)², ≥ 0; not symmetric.
    word_overlap : float
        Types of both languages, per type of the one plus type of the other, in [0, 1/2].
    token_ratio : float
        Source tokens per target token, > 0.
    n : int
        Sentence pairs.
    """

    src_ttr: float
    trg_ttr: float
    ttr_distance: float
    word_overlap: float
    token_ratio: float
    n: int


def corpus_features(src: Sequence[str], trg: Sequence[str]) -> _CorpusFeatures:
    """Type-token ratios of two languages, their distance, shared words and ratio of lengths.

    Parameters
    ----------
    src, trg : sequence of str
        n tokenised sentences each, aligned.

    Raises
    ------
    DataError : different numbers of sentences, a single text instead of a list, or no token.

    References
    ----------
    Lin et al. 2019, Choosing Transfer Languages for Cross-Lingual Learning, ACL.

    >>> found = corpus_features(["a b a"], ["a c"])
    >>> found.src_ttr, found.trg_ttr, found.word_overlap, found.token_ratio
    (0.66..., 1.0, 0.25, 1.5)
    """
    src_tokens, trg_tokens = _tokens(src, "src"), _tokens(trg, "trg")
    src_types, trg_types = set(src_tokens), set(trg_tokens)
    src_ttr, trg_ttr = len(src_types) / len(src_tokens), len(trg_types) / len(trg_tokens)
    return _CorpusFeatures(
        src_ttr=src_ttr,
        trg_ttr=trg_ttr,
        ttr_distance=float(ttr_distance(src_ttr, trg_ttr)),
        word_overlap=len(src_types & trg_types) / (len(src_types) + len(trg_types)),
        token_ratio=len(src_tokens) / len(trg_tokens),
        n=checks.same_length(src=src, trg=trg),
    )


def type_token_ratio(texts: Sequence[str]) -> float:
    """Number of different tokens per token of tokenised sentences, in (0, 1].

    >>> type_token_ratio(["the cat saw the cat"])
    0.6
    """
    tokens = _tokens(texts, "texts")
    return len(set(tokens)) / len(tokens)


def ttr_distance(src_ttr: ArrayLike, trg_ttr: ArrayLike) -> np.ndarray:
    """(1 − source TTR / target TTR)²: 0 if both are equal, at most 1 if the source's is lower.

    Neither symmetric nor bounded: from Finnish into English it is 28, from English into Finnish 0.7.

    Parameters
    ----------
    src_ttr, trg_ttr : (n,) array or float
        Type-token ratios in (0, 1].

    >>> ttr_distance([0.02, 0.01], [0.01, 0.02]).tolist()
    [1.0, 0.25]
    """
    return (1 - np.asarray(src_ttr, float) / np.asarray(trg_ttr, float)) ** 2


def feature_correlations(
    table: pd.DataFrame, features: pd.DataFrame, alpha: float = 0.05
) -> pd.DataFrame:
    """Correlation of each feature with XMI over directions, with four answers to many tests.

    On the published results, Bonferroni's p < 0.05/17 = 0.0029 leaves three: the source's
    type-token ratio (Pearson −0.520, and Spearman) and, in Spearman only, the distance of the
    ratios. The two Spearman's r are −0.514 and −0.466 by the authors' files, and −0.512 and −0.463
    by the bundled table, where XMI has two decimals instead of four, which makes ties. The paper's
    results name both features, which holds by Spearman (Pearson of the distance: p = 0.0042). Its
    introduction names only the first.

    Holm's method adds the head-POS entropy of the source in Pearson (0.457, p = 0.00306). Corrected
    for all 34 tests at once (0.0015), only the source's type-token ratio remains. Benjamini and
    Hochberg's q is below 0.05 for 5 features in Pearson and 7 in Spearman. All p-values treat the
    directions as independent, which they are not: within the 20 directions into English, or the 20
    out of it, no feature has p < 0.01. On the validation set only the source's type-token ratio
    passes Bonferroni.

    Parameters
    ----------
    table : DataFrame
        direction, xmi.
    features : DataFrame
        direction, and a column per feature; columns of text are skipped.
    alpha : float
        In (0, 1): the probability of any false rejection within one method's tests; for fdr the
        expected share of false rejections among all.

    Returns
    -------
    A row per feature and method: feature, method ("pearson", "spearman"), r, se
    (√((1 − r²)/(n − 2))), p (two-sided, t with n − 2 degrees of freedom), threshold (alpha over the
    tests of the method), p_holm, q (the least fdr at which it is rejected), uncorrected,
    bonferroni, holm, fdr : whether it is significant; n.
    A constant feature has r and p nan and is not a test.

    Raises
    ------
    DataError : fewer than 3 directions, a repeated one, or a value that is missing or not finite.

    References
    ----------
    Bugliarello et al. 2020, Table 2 and App. D; Holm 1979; Benjamini and Hochberg 1995.
    """
    from scipy.stats import false_discovery_control

    n = len(table)
    if n < 3 or table.direction.duplicated().any() or features.direction.duplicated().any():
        raise DataError(f"got {n} directions, expected 3 or more, each once in both tables.")
    numbers = features.set_index("direction").select_dtypes("number").reindex(table.direction)
    x = checks.finite("features", numbers.to_numpy(float).T, (None, n))
    y = checks.finite("xmi", table.xmi)
    parts = []
    for method, correlate in (("pearson", pearson), ("spearman", spearman)):
        r = correlate(x, y)
        p = correlation_p(r, n)
        tests, q = np.isfinite(p), p.copy()
        threshold, adjusted = alpha / max(1, int(tests.sum())), holm(p)
        q[tests] = false_discovery_control(p[tests])
        columns = {"feature": numbers.columns, "method": method, "r": r}
        columns |= {"se": np.sqrt((1 - r) * (1 + r) / (n - 2)), "p": p, "threshold": threshold}
        columns |= {"p_holm": adjusted, "q": q, "uncorrected": p < alpha}
        columns |= {"bonferroni": p < threshold, "holm": adjusted < alpha, "fdr": q < alpha}
        parts.append(pd.DataFrame(columns | {"n": n}))
    return pd.concat(parts, ignore_index=True)


def _tokens(texts: Sequence[str], name: str) -> list[str]:
    """All tokens of some texts, at least one."""
    tokens = [token for text in checks.texts(name, texts) for token in text.split()]
    checks.whole(f"number of tokens of {name}", len(tokens))
    return tokens
