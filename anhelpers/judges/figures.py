"""The numbers that a judge of naturalness is measured by, each with a 95 % interval and its n.

Of pairs of texts, of sources, of systems; and of a language model: does it prefer a sentence to its shuffled copy, a
good one to a bad one?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from ..estimate import Estimate
from ..intervals import bootstrap_means
from ..naturalness.lm import LanguageModel, score_texts
from ..plane import Plane, distinct_systems
from ..stats import clusters_of, share_interval, spearman

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "minimal_pair_table",
    "prefers_original",
    "rank_agreement",
    "shuffled_words",
    "win_share",
    "within_sources",
]

RHO = "Spearman's ρ"
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
    total = score_texts(lm, [*goods, *bads], eos=lm.ends).total
    hit = pd.Series(total[: len(goods)] > total[len(goods) :])
    rows = []
    for name, h in {**dict(iter(hit.groupby(list(names)))), ALL: hit}.items():
        rows.append((name, len(h), int(h.sum()), h.mean(), *share_interval(int(h.sum()), len(h))))
    return pd.DataFrame(rows, columns=["phenomenon", "n", "hits", "rate", "low", "high"])


def win_share(first: ArrayLike, second: ArrayLike, *, of: str = "pairs") -> Estimate:
    """The share of n pairs in which the first text has the higher score, a tie counting half; by chance it is 0.5.

    Wilson's interval, pairs taken as independent. A pair without both scores (nan) is not counted.

    Parameters
    ----------
    first, second : (n,) scores, higher is better. of : what each pair of scores is of, in the plural.

    >>> win_share([1, 2, 3], [0, 2, 4]).value
    0.5
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    checks.same_length(first=a, second=b)
    there = ~(np.isnan(a) | np.isnan(b))
    n, hits = int(there.sum()), float((a > b)[there].sum() + 0.5 * (a == b)[there].sum())
    low, high = share_interval(hits, n)
    return Estimate("share", hits / n if n else np.nan, low=low, high=high, n=n, of=of)


def within_sources(
    segment: ArrayLike,
    x: ArrayLike,
    y: ArrayLike,
    docs: ArrayLike,
    *,
    rng: np.random.Generator,
    n_draws: int = 1000,
) -> Estimate:
    """Spearman's ρ of two scores over the candidates of a source, the mean over n sources, in [-1, 1].

    What differs between sources (some are easy, some long) has no part in it. Documents are resampled. A candidate
    without both scores (nan) is left out, and a source where one score does not vary.

    Parameters
    ----------
    x, y : (n,) scores of candidates. docs : (S,) the document of each source.

    >>> within_sources([0, 0, 1, 1], [1, 2, 1, 2], [5, 6, 9, 8], ["a", "b"], rng=np.random.default_rng(0)).value
    0.0
    """
    where = checks.segment_ids(segment)
    one = np.asarray(x, np.float64)
    other = np.asarray(y, np.float64)
    checks.same_length(segment=where, x=one, y=other)
    there = ~(np.isnan(one) | np.isnan(other))
    names = np.asarray(docs)
    rho = np.full(len(names), np.nan)
    for source in np.unique(where[there]):
        rows = there & (where == source)
        rho[source] = spearman(one[rows], other[rows])
    known = ~np.isnan(rho)
    alone = Estimate(RHO, np.nan, of="sources")
    if not known.any():
        return alone
    clusters = clusters_of(names[known])
    if len(set(clusters.tolist())) < 2:
        return replace(alone, value=float(rho[known].mean()), n=1, n_docs=1)
    mean = bootstrap_means(rho[known], clusters, rng, n_draws).estimate(0, RHO, of=alone.of)
    low, high = np.clip(mean.interval, -1, 1).tolist()
    return replace(mean, low=low, high=high)


def rank_agreement(plane: Plane, rng: np.random.Generator, n_draws: int = 1000) -> Estimate:
    """Spearman's ρ of the places of n systems on the two axes of a plane, in [-1, 1].

    The interval is for these systems on other documents: the middle 95 % of the ρ of the resamples, and ρ itself.
    Ranks jump, so these ends are rougher than those of means. Systems without a score, and those with the very scores
    of an earlier one throughout, take no part.
    """
    plane = plane.only(distinct_systems(plane))
    scores = plane.scores()
    known = np.flatnonzero(~np.isnan(scores).any(0))
    rho = float(spearman(*scores[:, known])) if len(known) > 1 else np.nan
    if np.isnan(rho) or len(plane) < 2:
        return Estimate(RHO, rho, n=len(known), of="systems")
    draws, _ = plane.draws(rng, n_draws)
    drawn = spearman(draws[:, 0, known], draws[:, 1, known])
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return Estimate(
        RHO,
        rho,
        low=min(float(low), rho),
        high=max(float(high), rho),
        n=len(known),
        of="systems",
        n_docs=len(set(plane.clusters.tolist())),
    )
