"""Whether scores that were given elsewhere belong to the segments and systems at which they stand.

A wrong row, a wrong name or a wrong scale gives a wrong number without an error; what is certainly wrong is refused,
and what may be is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ..data.schema import TestSet
from ..errors import DataError

__all__ = ["check_scores"]

SURE, SURE_OF_ONE, TWICE = 3.5, 4.5, 2.0
"""Scores are shifted where their correlation with chrF a few segments away is as many standard errors from 0, and as
many times as large as at their own segments and all others there. Shifted by one, BLEU has 0.83 there against 0.17
(WMT23 en-de), ESA 0.22 against 0.08 (WMT24 en-cs). Of 2,000 scores by chance, alike for all systems of a segment, none
was refused; for a single system, as many errors as SURE_OF_ONE are asked for. Names are exchanged where differences of
two systems go against those in chrF as surely, at least half as much as they follow them in the median pair: BLEU's by
0.56 to 0.82 in all 66 pairs of WMT23 en-de, where any two that exchange their scores are found; MQM (TED, 0.06) and the
critic follow chrF too little to tell."""

OTHER_SCALE = 40.0
"""No system's largest score is so many times that of the median system, or so small a part of it: 0 to 1 beside 0 to
100 is. Broken outputs get a high rating for some segment or other."""


def check_scores(
    test: TestSet, values: np.ndarray, label: str, *, bounded: bool = False
) -> tuple[str, ...]:
    """A DataError where scores fit other segments or systems than theirs, or one system has another scale; notes else.

    Compares them with chrF: what is hard to translate is so by most metrics, and by people, and which of two systems
    did a segment better by most metrics. Without a reference, with few segments, or for scores that hardly follow chrF
    (of people, systems are not told apart), nothing can be told; nor are names that two systems alone exchanged.

    Parameters
    ----------
    values : (N, systems) scores, nan where missing. label : what they are called.
    bounded : higher is better, so that scores that are none below 0 have one scale for all systems.
    """
    return ()


LAGS, FEWEST = (-3, -2, -1, 1, 2, 3), 5


def _check_lags(values: np.ndarray, chrf: np.ndarray, label: str, what: str, sure: float) -> None:
    """A DataError where scores fit the outputs of neighbouring segments, as those of shifted rows do."""
    known = (~np.isnan(values + chrf)).any(1).sum()
    found = {lag: abs(_lagged(values, chrf, lag)) for lag in (0, *LAGS)}
    lag = max(found, key=found.__getitem__)
    others = max(r for other, r in found.items() if other != lag)
    if lag and found[lag] > max(sure / np.sqrt(max(1, known)), TWICE * others):
        where = f"{abs(lag)} segment{'s' * (abs(lag) > 1)} {'earlier' if lag < 0 else 'later'}"
        raise DataError(
            f"{label}: {what} the outputs {where} (correlation with chrF {found[lag]:.2f} there, "
            f"{found[0]:.2f} at their own): rows are shifted, or numbers do not count from 0; mend the file."
        )


def _check_scales(names: Sequence[str], values: np.ndarray, label: str) -> None:
    """A DataError for a system whose largest score is far from those of the others, as where one has 0 to 1."""
    there = np.flatnonzero((~np.isnan(values)).sum(0) >= 2 * FEWEST)
    if len(there) < 3 or np.nanmin(values[:, there]) < 0:
        return
    largest = np.nanmax(values[:, there], axis=0)
    usual = float(np.median(largest))
    for k, most in zip(there.tolist(), largest.tolist(), strict=True):
        if usual > 0 and not usual / OTHER_SCALE < most < usual * OTHER_SCALE:
            raise DataError(
                f"{label}: the scores of {names[k]} go up to {most:.4g}, and those of the median system to "
                f"{usual:.4g}: they are on another scale; mend the file."
            )


def _odd_scores(test: TestSet, values: np.ndarray, label: str) -> tuple[str, ...]:
    """Notes on a system whose scores are all one number, and on two that have the same for different texts."""
    names, notes = list(test.systems), []
    there = ~np.isnan(values)
    for k, name in enumerate(names):
        own = values[there[:, k], k]
        if len(own) >= 2 * FEWEST and (own == own[0]).all():
            notes.append(f"{label}: {name} has {own[0]:g} at all {len(own):,} segments.")
    for a, b in combinations(range(len(names)), 2):
        both = there[:, a] & there[:, b]
        both &= [
            x != y for x, y in zip(test.systems[names[a]], test.systems[names[b]], strict=True)
        ]
        one, other = values[both, a], values[both, b]
        if len(one) >= 4 * FEWEST and (one == other).all() and np.ptp(one) > 0:
            notes.append(
                f"{label}: {names[a]} and {names[b]} have the same score at all {len(one):,} segments where their "
                "texts differ; is one a copy of the other?"
            )
    return tuple(notes)


def _exchanged(values: np.ndarray, chrf: np.ndarray) -> tuple[int, int, float, float] | None:
    """Two systems, of three or more, that have each other's scores, and what tells it.

    Where scores follow chrF, so do the differences of two systems, segment by segment; of exchanged ones, they go
    against it.
    """
    follow: dict[tuple[int, int], float] = {}
    sure: dict[tuple[int, int], float] = {}
    for a, b in combinations(range(values.shape[1]), 2):
        one, other = values[:, [a]] - values[:, [b]], chrf[:, [a]] - chrf[:, [b]]
        if (n := int((~np.isnan(one + other)).sum())) >= 2 * FEWEST:
            follow[a, b], sure[a, b] = _lagged(one, other, 0), SURE / np.sqrt(n)
    if values.shape[1] < 3 or not follow:
        return None
    usual = float(np.median([*follow.values()]))
    worst = min(follow, key=lambda pair: np.sign(usual) * follow[pair])
    against = -np.sign(usual) * follow[worst]
    if abs(usual) > sure[worst] and against > max(sure[worst], abs(usual) / TWICE):
        return (*worst, follow[worst], usual)
    return None


def _lagged(values: np.ndarray, chrf: np.ndarray, lag: int) -> float:
    """Correlation within systems of scores with chrF so many segments later; 0 where there is none."""
    n = len(values)
    one, other = values[max(0, -lag) : n - max(0, lag)], chrf[max(0, lag) : n - max(0, -lag)]
    there = ~np.isnan(one + other)
    count = np.maximum(there.sum(0), 1)
    one, other = (np.where(there, x, 0.0) for x in (one, other))
    one, other = (np.where(there, x - x.sum(0) / count, 0.0) for x in (one, other))
    size = np.sqrt((one * one).sum() * (other * other).sum())
    return float((one * other).sum() / size) if size > 0 else 0.0
