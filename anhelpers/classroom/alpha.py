"""How far raters agree beyond chance: Krippendorff's α, with an interval, and pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from ..estimate import Estimate
from ..intervals import FEWEST, effective, few_clusters, score_intervals, student
from ..stats import cluster_sums, resamples
from .files import ClassRatings
from .sheet import SCALE

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["agreement", "krippendorff_alpha", "pairwise_agreement"]

LEVELS = ("nominal", "ordinal", "interval")


def agreement(
    ratings: ClassRatings,
    criterion: str,
    rng: np.random.Generator,
    n_draws: int = 1000,
    *,
    level: str = "ordinal",
) -> Estimate:
    """How far raters agree beyond chance: α = 1 − D_o / D_e, observed over expected disagreement.

    Parameters
    ----------
    criterion : "accuracy" or "fluency".
    level : "ordinal" (4 and 5 are nearer than 1 and 5), "nominal" (equal or not), or "interval" (squared difference).

    Returns
    -------
    Estimate of α: 1 where all agree, 0 as if ratings were dealt out at random, below that worse. Its n are translations
    with at least two ratings; the others say nothing about agreement and are left out. Its n_docs are their segments,
    which are resampled: the interval is for other segments, rated by the same raters. α is nan where all ratings are
    equal, for there is no disagreement to expect by chance; where no two raters differ it has no interval.

    References
    ----------
    Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.
    """
    checks.one_of(level, LEVELS, "level of measurement")
    wide = ratings.matrix(criterion)
    wide = wide[wide.notna().sum(axis=1) > 1]
    segment = wide.index.get_level_values("segment").to_numpy()
    counts = _counts(wide.to_numpy())
    alpha, n_segments = _alpha(counts, level), len(set(segment.tolist()))
    low = high = se = np.nan
    if n_segments > 1 and alpha < 1:
        low, high, se, lost = _interval(counts, segment, level, (n_draws, rng))
        note = few_clusters(n_segments, "segments")
        note += (
            " More segments would make the interval narrower; more raters hardly would."
            if note
            else ""
        )
        other = len(set(segment[counts.sum(1) > counts[:, counts.sum(0).argmax()]].tolist()))
        if not note and other < FEWEST:
            note = few_clusters(other, "segments with a rating other than the commonest one")
        note += (
            f" In {lost} of {n_draws} resamples all ratings are equal: left out of the interval."
            if lost
            else ""
        )
    elif np.isnan(alpha):
        note = (
            "All ratings are equal, so there is no disagreement to expect."
            if len(wide)
            else ("No translation has two ratings.")
        )
    elif n_segments < 2:
        note = (
            "All translations are of one segment, which says nothing of others: there is no "
            "interval."
        )
    else:
        note = (
            "No two raters differ on a translation, so nothing says how far they would on others: "
            "there is no interval."
        )
    n_raters = int(wide.notna().any().sum())
    return Estimate(
        f"{criterion}: α ({level})",
        alpha,
        low=low,
        high=high,
        se=se,
        n=len(wide),
        of="translations",
        n_docs=n_segments,
        clusters="segments",
        also=((n_raters, "raters"), (int(counts.sum()), "ratings")),
        caution=note.strip(),
    )


def pairwise_agreement(ratings: ClassRatings, criterion: str) -> pd.DataFrame:
    """Rater by rater, the ordinal α of each pair; nan on the diagonal, and where it is not defined.

    Parameters
    ----------
    criterion : one of CRITERIA.
    """
    import pandas as pd

    wide, names = ratings.matrix(criterion).to_numpy(), ratings.raters
    table = np.full((len(names), len(names)), np.nan)
    for i in range(len(names)):
        for j in range(i):
            table[i, j] = table[j, i] = _alpha(_counts(wide[:, [i, j]]), "ordinal")
    return pd.DataFrame(table, index=names, columns=names)


def krippendorff_alpha(values: ArrayLike, level: str = "ordinal") -> float:
    """Krippendorff's α, the agreement of raters: 1 − D_o / D_e; 1 is perfect, 0 as good as chance, below 0 worse.

    Parameters
    ----------
    values : (units, raters) numbers; nan where a rater gave none. Units with fewer than two ratings are left out.
    level : "nominal" (equal or not), "ordinal" (how many ratings lie between), "interval" (squared difference).

    Returns
    -------
    α; nan where fewer than two different ratings can be compared.

    Raises
    ------
    UnknownName; DataError for values that are no table, or infinite.

    References
    ----------
    Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, §C and §D.

    >>> krippendorff_alpha([[1, 1], [2, 2], [1, 2]], "nominal")
    0.4444444444444444
    """
    checks.one_of(level, LEVELS, "level of measurement")
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or np.isinf(table).any():
        raise DataError(
            "α is of a table of finite ratings, a row per unit and a column per rater; nan is none "
            "given."
        )
    points = np.unique(table[~np.isnan(table)])
    counts = np.zeros((len(table), len(points)), dtype=np.int64)
    unit, rater = np.nonzero(~np.isnan(table))
    np.add.at(counts, (unit, np.searchsorted(points, table[unit, rater])), 1)
    return _alpha(counts, level, points.tolist())


def _counts(values: np.ndarray) -> np.ndarray:
    """(units, 5) how often each rating was given to each of (units, raters) values."""
    return np.stack([(values == point).sum(axis=1) for point in SCALE], axis=1)


def _alpha(counts: np.ndarray, level: str, points: Sequence[float] = SCALE) -> float:
    """α of (units, values) counts of those points, ascending; nan where fewer than two different ones can be compared.

    In a unit of m ratings value c meets value k n_c n_k times, itself n_c (n_c − 1) times, each counted 1/(m − 1).
    """
    n = counts[counts.sum(axis=1) > 1].astype(np.float64)
    if (n.sum(axis=0) > 0).sum() < 2:
        return np.nan
    shares = n / (n.sum(axis=1, keepdims=True) - 1)
    sums = n.T @ shares - np.diag(shares.sum(axis=0))
    return float(_of_coincidences(level, sums.ravel(), points))


def _interval(
    counts: np.ndarray, segment: np.ndarray, level: str, draws: tuple[int, np.random.Generator]
) -> tuple[float, float, float, int]:
    """(low, high, se) of α, and how many of the draws have none: α is a score of coincidences, which add up over units.

    Each end is the farther one of the studentised draws' and Student's, for ratings take few values.
    """
    times = resamples(segment, *draws)
    sums = cluster_sums(_coincidences(counts), times.index)[:, None]
    score = partial(_of_coincidences, level)
    sizes = np.bincount(times.index)[:, None]
    low, high, error, drawn = score_intervals(score, sums, times, sizes=sizes)
    least, most = student(score(sums.sum(0)), error, effective(sizes))
    lowest, highest = float(min(low[0], least[0])), float(max(high[0], most[0]))
    lost = int(np.isnan(drawn).sum())
    return max(-1.0, lowest), min(1.0, highest), float(error[0]), lost


def _coincidences(counts: np.ndarray) -> np.ndarray:
    """(units, 25) how often each rating meets each other one of the same unit, which has at least two ratings."""
    n = counts.astype(np.float64)
    pairs = n[:, :, None] * n[:, None, :] - n[:, :, None] * np.eye(len(SCALE))
    return (pairs / (n.sum(1) - 1)[:, None, None]).reshape(len(n), len(SCALE) ** 2)


def _of_coincidences(level: str, sums: np.ndarray, points: Sequence[float] = SCALE) -> np.ndarray:
    """(...) α of (..., k²) sums of coincidences; nan where all ratings are equal (Krippendorff 2011, §C)."""
    k = len(points)
    pairs = sums.reshape(*sums.shape[:-1], k, k)
    n = pairs.sum(-1)
    if level == "nominal":
        far = 1.0 - np.eye(k)
    else:
        place = n.cumsum(-1) - n / 2 if level == "ordinal" else np.asarray(points, dtype=np.float64)
        far = (place[..., :, None] - place[..., None, :]) ** 2
    observed = (pairs * far).sum((-1, -2))
    expected = (n[..., :, None] * n[..., None, :] * far).sum((-1, -2)) / (n.sum(-1) - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 0, 1 - observed / expected, np.nan)
