"""Systems by their penalties, with intervals that hold for other documents and for other raters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..intervals import bootstrap_means, few_clusters, student
from ..stats import clusters_of
from .scores import KINDS, MqmScores

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["rater_notes", "system_table"]

UNIT = "MQM points per segment (lower is better)"


def system_table(scores: MqmScores, rng: np.random.Generator, n_draws: int = 1000) -> pd.DataFrame:
    """A row per system, the best first: its mean penalty, accuracy and fluency, each with two 95 % intervals.

    `penalty_low` to `penalty_high` is for other documents *and other raters*: the interval from resampling documents
    (segments, where there is one document), widened by the variance of raters, with Student's t of the effective number
    of raters. It is about this system's own score. A rater who is strict is so with every system, so for *differences*
    of systems that the same raters rated it is too wide: `penalty_low_same_raters` to `penalty_high_same_raters` holds
    the raters fixed, and so do the paired tests of `plane`.

    Returns
    -------
    system, n_segments, n_raters, n_docs, n_effective (`intervals.effective` documents); then penalty, penalty_low,
    penalty_high and so on, MQM points per segment, lower is better; the same with _same_raters; resampled
    ("documents and raters"; without raters where one rater saw all of a system; "" where there is no interval);
    n_effective_raters; unit; signature. Each system is averaged over the segments that were rated for it
    (`n_segments`; where these differ, the scores have a note, and `scores.shared()` only those of all); where these
    are of one document among several, there is no interval (nan).

    References
    ----------
    Cameron, Gelbach and Miller 2011, JBES 29 (two-way clusters); Zou and Donner 2008 (adding the two halves).
    """
    table = scores.by("system").set_index("system")
    matrices = [scores.matrix(kind) for kind in KINDS]
    docs = np.array(scores.docs)
    table["n_docs"] = [len(set(docs[~np.isnan(column)])) for column in matrices[0].values.T]
    for_all = np.concatenate([matrix.values for matrix in matrices], axis=1)
    if len(docs) > 1:
        found = bootstrap_means(for_all, clusters_of(docs), rng, n_draws)
        low, high, counting = (
            v.reshape(len(KINDS), -1) for v in (found.low, found.high, found.n_effective)
        )
    else:
        # one segment has no interval
        low = high = counting = np.full((len(KINDS), len(scores.systems)), np.nan)
    table["n_effective"] = counting[0]
    mean = table[list(KINDS)].to_numpy().T
    down, up, raters = _with_raters(scores, mean, low, high)
    low = np.maximum(0, low)  # no penalty is below 0
    for i, kind in enumerate(KINDS):
        table[f"{kind}_low"], table[f"{kind}_high"] = down[i], up[i]
        table[f"{kind}_low_same_raters"], table[f"{kind}_high_same_raters"] = low[i], high[i]
    unit = "documents" if len(set(scores.docs)) > 1 else "segments"
    table["resampled"] = np.where(
        np.isnan(low[0]), "", np.where(raters > 1, f"{unit} and raters", unit)
    )
    table["n_effective_raters"], table["signature"] = raters, scores.signature
    bounds = [kind + end for kind in KINDS for end in ("", "_low", "_high")]
    fixed = [f"{kind}{end}_same_raters" for kind in KINDS for end in ("_low", "_high")]
    table["unit"] = UNIT
    last = ["resampled", "n_effective_raters", "unit", "signature"]
    table = table[["n_segments", "n_raters", "n_docs", "n_effective", *bounds, *fixed, *last]]
    return table.sort_values("penalty", kind="stable").reset_index()


def rater_notes(table: pd.DataFrame) -> list[str]:
    """Sentences on the raters behind the intervals of a `system_table`."""
    notes, crossed = [], table[table.resampled.str.endswith("raters")]
    alone = table[(table.resampled != "") & ~table.resampled.str.endswith("raters")]
    if len(crossed):
        least = crossed.loc[crossed.n_effective_raters.idxmin()]
        few = few_clusters(
            int(least.n_raters),
            "raters",
            float(least.n_effective_raters),
            int(crossed.n_raters.max()),
        )
        notes.append(
            "Intervals (_low, _high) are for other documents and other raters. They do not say "
            "which systems differ: for that take the columns _same_raters, or paired tests "
            "(anhelpers run an_5_2_mqm --data FILE)."
        )
        if few:
            notes.append(
                f"{few} Other raters may be much stricter or milder, so such an interval is wide."
            )
    if len(alone):
        who = "each system" if len(alone) == len(table) else ", ".join(alone.system)
        notes.append(
            f"One rater saw all translations of {who}: such an interval holds for that rater alone."
        )
    return notes


def _with_raters(
    scores: MqmScores, mean: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(3, S) lower and upper ends widened by the variance of raters, and (S,) effective raters of each system."""
    n, crowd = len(scores.systems), len(scores.raters)
    error, raters = np.zeros_like(mean), np.ones(n)
    docs = np.unique(clusters_of(np.array(scores.docs)), return_inverse=True)[1]
    shape = len(scores.segments), n
    crew = np.bincount(
        np.ravel_multi_index((scores.segment, scores.system), shape), minlength=shape[0] * n
    )
    weight = 1.0 / crew.reshape(shape)[scores.segment, scores.system]
    for s in range(n):
        here = scores.system == s
        rater, w = scores.rater[here], weight[here] / weight[here].sum()
        of_rater = np.bincount(rater, w)
        if (of_rater > 0).sum() < 2:
            continue
        raters[s] = 1 / (of_rater**2).sum()
        if scores.severity is None:
            error[:, s] = _rater_error(scores.values[here], docs[scores.segment[here]], rater, w)
    if scores.severity_error is not None:
        raters[:] = crowd
        error = mean * scores.severity_error[:, None]
    half = student(np.zeros_like(mean), error, np.broadcast_to(raters, mean.shape))[1]
    return (
        np.maximum(0, mean - np.hypot(mean - low, half)),
        mean + np.hypot(high - mean, half),
        raters,
    )


def _rater_error(
    values: np.ndarray, docs: np.ndarray, rater: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """(3,) standard error of a weighted mean of (U, 3) values that comes from its raters, crossed with documents.

    The variance of the sums of raters, less that of the cells of rater and document once both means are taken out: what
    differs within a document is in the variance of documents already.
    """
    n = len(np.unique(rater))
    left = values - weight @ values
    between = _squares(rater, weight[:, None] * left) * n / (n - 1)
    for code in (rater, docs):
        sums = np.stack([np.bincount(code, weight * column) for column in left.T], axis=1)
        left = left - (sums / np.maximum(np.bincount(code, weight), 1e-300)[:, None])[code]
    cells = _squares(docs * (int(rater.max()) + 1) + rater, weight[:, None] * left)
    return np.sqrt(np.maximum(0.0, between - cells))


def _squares(code: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(3,) sums of squares of the sums of (U, 3) values with one code."""
    return np.stack([(np.bincount(code, column) ** 2).sum() for column in values.T])
