"""How well a critic tells originals from translations: AUC, reliability, a lower bound of total variation (AN E.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from ..estimate import Estimate
from ..intervals import bootstrap_means
from ..stats import mean_ranks

__all__ = ["TVBound", "auc", "reliability", "tv_lower_bound"]


@dataclass(frozen=True)
class TVBound:
    """A lower bound of the total variation TV(Q, R), from decisions of a critic on unseen texts.

    Parameters
    ----------
    bound : 2 · accuracy - 1 and its 95 % interval, clipped to [0, 1]: what is below 0 bounds nothing.
    accuracy : mean of the two classes' shares of right decisions.
    n_r, n_q : texts.
    """

    bound: Estimate
    accuracy: float
    n_r: int
    n_q: int

    def __str__(self) -> str:
        return f"{self.bound.text(3)}; accuracy {self.accuracy:.3f}"


def tv_lower_bound(
    scores_r: ArrayLike,
    scores_q: ArrayLike,
    clusters: tuple[ArrayLike, ArrayLike],
    rng: np.random.Generator,
) -> TVBound:
    """The lower bound 2 · accuracy - 1 of TV(Q, R), R(f > 0) - Q(f > 0), with an interval that resamples clusters.

    A bound of TV only where f has not been fitted on these texts: give cross-fitted scores, or new texts. Q and R weigh
    the same, however many texts they have.

    Parameters
    ----------
    scores_r, scores_q : (N,), (M,) log-odds of originals and of translations in nats; nan is left out.
    clusters : (N,) and (M,) the document of each text; one name in both is one cluster.
    rng : the randomness of 1,000 resamples.

    References
    ----------
    AN §4.1, eq. 7, E.1: TV is the best critic's gap, and every critic's gap lies below it.

    Raises
    ------
    DataError for a class without scores, fewer than 2 clusters, or unequal lengths.
    """
    scores = [np.asarray(side, dtype=np.float64) for side in (scores_r, scores_q)]
    rows, of = [], []
    for side, (values, given) in enumerate(zip(scores, clusters, strict=True)):
        names = np.asarray(given, dtype=str)
        checks.same_length(scores=values, clusters=names)
        there = ~np.isnan(values)
        if not there.any():
            raise DataError(f"the {('originals', 'translations')[side]} have no scores.")
        right = (values[there] > 0) != bool(side)
        block = np.zeros((len(right), 4))
        block[:, 2 * side], block[:, 2 * side + 1] = right, 1
        rows.append(block)
        of += names[there].tolist()
    columns = np.concatenate(rows)
    _, index = np.unique(of, return_inverse=True)
    found = bootstrap_means(columns, index, rng, of=_gap)
    n_r, n_q = map(len, rows)
    gap = found.estimate(0, "TV(Q, R) is at least", of="texts")
    low, high = np.clip(gap.interval, 0, 1).tolist()
    bound = replace(
        gap,
        value=max(0.0, gap.value),
        low=low,
        high=high,
        also=((n_r, "originals"), (n_q, "translations")),
    )
    return TVBound(bound, (1 + gap.value) / 2, n_r, n_q)


def _gap(means: np.ndarray) -> np.ndarray:
    """(..., 4) means of (right, there) of either class -> (..., 1) the sum of the shares of right decisions less 1."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return (means[..., 0] / means[..., 1] + means[..., 2] / means[..., 3] - 1)[..., None]


def auc(scores_r: ArrayLike, scores_q: ArrayLike) -> float:
    """The probability that an original has a higher score than a translation, ties counting half: 0 to 1.

    Parameters
    ----------
    scores_r, scores_q : (N,), (M,) scores; nan is left out.

    References
    ----------
    Mann and Whitney 1947.

    >>> auc([2.0, 1.0], [1.0, 0.0])
    0.875
    """
    r, q = (v[~np.isnan(v)] for v in (np.asarray(scores_r, float), np.asarray(scores_q, float)))
    if not (len(r) and len(q)):
        raise DataError("an AUC needs scores of both classes.")
    return float(
        (mean_ranks(np.concatenate([r, q]))[: len(r)].sum() - len(r) * (len(r) + 1) / 2)
        / (len(r) * len(q))
    )


def reliability(
    scores_r: ArrayLike, scores_q: ArrayLike, bins: int = 8
) -> list[tuple[float, float, int]]:
    """Whether log-odds mean what they say: per bin (probability said, share of originals, texts), at equal priors.

    Bins have about the same number of texts; in each the classes are weighted to equal priors.

    Parameters
    ----------
    scores_r, scores_q : (N,), (M,) log-odds in nats without nan.

    >>> reliability([1.0, 1.0, 1.0, -1.0], [-1.0, -1.0, -1.0, 1.0], bins=2)
    [(0.269, 0.25, 4), (0.731, 0.75, 4)]
    """
    r, q = np.asarray(scores_r, float), np.asarray(scores_q, float)
    score, native = np.concatenate([r, q]), np.arange(len(r) + len(q)) < len(r)
    weight = np.where(native, 0.5 / len(r), 0.5 / len(q))
    rows = []
    for part in np.array_split(np.argsort(score, kind="stable"), bins):
        total = weight[part].sum()
        said = (weight[part] / (1 + np.exp(-score[part]))).sum() / total
        rows.append(
            (
                round(float(said), 3),
                round(float(weight[part][native[part]].sum() / total), 3),
                len(part),
            )
        )
    return rows
