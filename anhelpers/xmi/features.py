"""Features of a translation direction that its parallel corpus shows (type-token ratios, shared words, lengths), and
which features go with XMI over directions, with three corrections for many tests.

The definitions are those behind the published columns `src_ttr`, `tgt_ttr`, `distance_ttr`, `word_overlap` and
`rat_token_number`, which Bugliarello et al. 2020 took over from LangRank (Lin et al. 2019): texts are tokenised
already, and a token is what stands between two spaces. All change with the tokeniser, and all but the token ratio with
the size of the corpus: compare only corpora of equal size, tokenised alike. The published ones are of the training
texts, 190,733 sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from ..stats import correlation_interval, correlation_p, holm, pearson, spearman

if TYPE_CHECKING:
    import pandas as pd


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


def feature_correlations(
    table: pd.DataFrame, features: pd.DataFrame, alpha: float = 0.05
) -> pd.DataFrame:
    """How strongly each feature goes with XMI over the directions, and which of them three rules call significant.

    On the published results, Bonferroni's p < 0.05/17 = 0.0029 leaves three: the source's type-token ratio (Pearson
    −0.520, and Spearman) and, in Spearman only, the distance of the ratios. The two Spearman's r are −0.514 and −0.466
    by the authors' files, and −0.512 and −0.463 by the table that comes with the package: it has XMI to two decimals
    instead of four, which makes ties. The paper's results name both features, which holds by Spearman (Pearson of the
    distance: p = 0.0042); its introduction names only the first.

    Holm's method, with the same guarantee, rejects no less: it adds the head-POS entropy of the source in Pearson
    (0.457, p = 0.00306). Corrected for all 34 tests at once (0.0015), only the source's type-token ratio remains. All
    p-values take the directions as independent, which they are not: within the 20 directions into English, or the 20
    out of it, no feature has p < 0.01, and on the validation set only the source's type-token ratio passes Bonferroni.

    Parameters
    ----------
    table : direction, xmi. features : direction and a column per feature (others than numbers are skipped).
    alpha : in (0, 1), the probability of any false rejection within one method's tests.

    Returns
    -------
    A row per feature and method: feature, method ("pearson", "spearman"), r, se (√((1 − r²)/(n − 2))), p (two-sided, t
    with n − 2 degrees of freedom), n, threshold (alpha over the tests of the method), p_holm, and uncorrected,
    bonferroni, holm: whether it is significant. A feature that does not vary has r and p nan and is no test.

    Raises
    ------
    DataError : no feature, fewer than 3 directions, one twice or without features, a value that is not finite, alpha.

    References
    ----------
    Bugliarello et al. 2020, Table 2 and App. D; Holm 1979.
    """
    import pandas as pd

    if not 0 < alpha < 1:
        raise DataError(f"alpha is {alpha}; it must be between 0 and 1.")
    y, columns = _aligned(table, features)
    n = len(y)
    if n < 3:
        raise DataError(f"a correlation needs at least 3 directions, and there are {n}.")
    x = np.array(list(columns.values())).reshape(-1, n)
    parts = []
    for method, correlate in (("pearson", pearson), ("spearman", spearman)):
        r = correlate(x, y)
        rows = {
            "feature": list(columns),
            "method": method,
            "r": r,
            "se": np.sqrt((1 - r) * (1 + r) / (n - 2)),
        }
        parts.append(pd.DataFrame(rows | _decisions(correlation_p(r, n), alpha) | {"n": n}))
    return pd.concat(parts, ignore_index=True)


METRICS = ("bleu", "xmi", "h_lm", "h_mt")
"""What the paper's Table 1 has for each direction, and Figure 2 correlates."""


def metric_correlations(table: pd.DataFrame) -> pd.DataFrame:
    """How BLEU, XMI, H_LM and H_MT go with each other, two at a time, into English and out of it (XMI Figure 2).

    Into English one language model serves all directions, so that H_LM does not vary and its pairs have no correlation;
    and XMI, a constant less H_MT, goes with everything as H_MT does with the sign turned. Of three that add up
    (H_LM = XMI + H_MT) the correlations are bound to each other: six pairs are not six findings.

    Parameters
    ----------
    table : src, trg, bleu, xmi, h_lm and h_mt of each direction, such as `published_table`.

    Returns
    -------
    A row per side ("into", "out of") and pair: side, x, y, n (directions), r (Pearson, nan where one does not vary),
    low, high (Fisher's 95 % interval), spearman, p (two-sided, of r; no correction for several tests).

    Raises
    ------
    DataError for a missing column.

    References
    ----------
    Bugliarello et al. 2020, Figure 2.
    """
    import pandas as pd

    if missing := [c for c in ("src", "trg", *METRICS) if c not in table]:
        raise DataError(f"the table has no column {missing[0]}; it has {', '.join(table)}.")
    rows = []
    for side, part in (("into", table[table.trg == "en"]), ("out of", table[table.src == "en"])):
        for x, y in combinations(METRICS, 2):
            n, r = len(part), float(pearson(part[x], part[y])) if len(part) > 2 else np.nan
            low, high = map(float, correlation_interval(r, n))
            ranks = float(spearman(part[x], part[y])) if n > 2 else np.nan
            p = float(correlation_p(r, n)) if n > 2 else np.nan
            rows.append((side, x, y, n, r, low, high, ranks, p))
    columns = ["side", "x", "y", "n", "r", "low", "high", "spearman", "p"]
    return pd.DataFrame(rows, columns=columns)


def _aligned(
    table: pd.DataFrame, features: pd.DataFrame
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """XMI of each direction, and the numbers of each feature in the same order."""
    for what, frame in (("table", table), ("features", features)):
        twice = frame.direction[frame.direction.duplicated()]
        if len(twice):
            raise DataError(f"direction {twice.iloc[0]} comes twice in the {what}; keep one row.")
    numbers = features.set_index("direction").select_dtypes("number").astype(float)
    if numbers.empty:
        raise DataError(
            "the features have no column of numbers, or no row; give at least one feature."
        )
    unknown = [direction for direction in table.direction if direction not in numbers.index]
    if unknown:
        raise DataError(f"direction {unknown[0]} has no features; leave it out or add them.")
    joined = numbers.loc[list(table.direction)]
    columns = {"xmi": table.xmi.to_numpy(float)} | {
        str(name): joined[name].to_numpy() for name in joined
    }
    for name, values in columns.items():
        if not np.isfinite(values).all():
            bad = table.direction.iloc[int(np.flatnonzero(~np.isfinite(values))[0])]
            raise DataError(
                f"{name} of {bad} is no finite number; leave the direction or the feature out."
            )
    return columns.pop("xmi"), columns


def _decisions(p: np.ndarray, alpha: float) -> dict[str, np.ndarray | float]:
    """p-values with their corrections."""
    threshold, adjusted = alpha / max(1, int(np.isfinite(p).sum())), holm(p)
    return {
        "p": p,
        "threshold": threshold,
        "p_holm": adjusted,
        "uncorrected": p < alpha,
        "bonferroni": p < threshold,
        "holm": adjusted < alpha,
    }
