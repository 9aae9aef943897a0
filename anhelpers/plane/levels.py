"""Accuracy against fluency at every level: within sources, between sources, between systems, over all translations.

The signs may differ (Simpson's paradox): a hard source makes both worse, and among the translations of one source what
is gained on the one may be lost on the other (Lim, Vylomova, Cohn and Kemp 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..bootstrap import cluster_sums, clusters_of, resamples, score_intervals
from ..mqm import KINDS as MARKS
from ..mqm import MqmScores
from ..stats import pearson
from .agreement import (
    BETWEEN,
    KINDS,
    WITHIN,
    bias_row,
    column_means,
    source_correlations,
    source_counts,
)
from .local import correlations
from .rated import RatedMetrics, plane_of_scores, shared_sources

if TYPE_CHECKING:
    import pandas as pd


POOLED, MIXED = "within sources, pooled", "all translations"
COLUMNS = ["level", "r", "r_low", "r_high", "n", "of", "n_docs", "n_effective"]
MARKED = {"penalty": "all errors", "accuracy": "accuracy", "fluency": "fluency"}


def accuracy_levels(
    rated: RatedMetrics, rng: np.random.Generator, n_draws: int = 1000
) -> pd.DataFrame:
    """Pearson's r of human accuracy and human fluency, a row per level, with 95 % intervals.

    "within sources" : the mean over sources of r over their systems; sources on which one of the two does not vary have
    none. "within sources, pooled" : one r of all deviations from the mean of the source, so that no source is left out.
    "between sources" : over the means of sources. "all translations" : over all of them, both mixed. "between systems"
    : over the means of systems, on the sources that have all.

    Parameters
    ----------
    rated : of `rated_metrics`.

    Returns
    -------
    level; r, r_low, r_high : documents resampled, systems held fixed, nan where r is not defined; n and of : what r is
    over; n_docs, n_effective.
    """
    import pandas as pd

    scores, docs = rated.scores, np.asarray(rated.docs)
    a, f = scores["accuracy"], scores["fluency"]
    rows = source_levels(a, f, docs, (rng, n_draws))
    kept, systems = shared_sources((a, f))
    at = np.ix_(kept, systems)
    plane = plane_of_scores(a[at], f[at], docs[kept])
    ends = (
        correlations(plane, rng, [range(int(systems.sum()))], n_draws)[0]
        if kept.sum() > 1
        else np.array([float(pearson(*plane.scores())), np.nan, np.nan])
    )
    rows.append((BETWEEN, ends, kept))
    told = []
    for level, (r, low, high), which in rows:
        count = source_counts(which, docs)
        told.append({"level": level, "r": r, "r_low": low, "r_high": high, "of": "sources"} | count)
    table = pd.DataFrame(told)
    table.loc[table.level == MIXED, ["n", "of"]] = int((~np.isnan(a)).sum()), "translations"
    table.loc[table.level == BETWEEN, ["n", "of"]] = int(systems.sum()), "systems"
    return table[COLUMNS]


def source_levels(
    a: np.ndarray, f: np.ndarray, docs: np.ndarray, draws: tuple[np.random.Generator, int]
) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Level, (3,) r with its interval, and (N,) which sources, for all levels but that of systems."""
    within = source_correlations(a, f)
    there, some = ~np.isnan(within), ~np.isnan(a).all(1)
    inside, between = _moments(a[some], f[some])
    size = (~np.isnan(a[some])).sum(1)[:, None]
    parts = {POOLED: inside, "between sources": between, MIXED: size * between + inside}
    first = (WITHIN, column_means(within[:, None], docs, draws)[0], there)
    return [
        first,
        *((level, _ends(sums, docs[some], draws), some) for level, sums in parts.items()),
    ]


def _moments(a: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, 6) sums that r is made of, 1, x, y, x², y², xy: of the deviations within each source, and of its mean."""
    means = [np.nanmean(v, axis=1) for v in (a, f)]
    x, y = (v - mean[:, None] for v, mean in zip((a, f), means, strict=True))
    none = np.zeros(len(a))
    inside = [none, none, none, *(np.nansum(v, axis=1) for v in (x * x, y * y, x * y))]
    x, y = means
    return np.stack(inside, axis=1), np.stack([none + 1, x, y, x * x, y * y, x * y], axis=1)


def _r(sums: np.ndarray) -> np.ndarray:
    """(...) Pearson's r of (..., 6) sums; nan where one of the two does not vary."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    n = np.where(n > 0, n, 1.0)
    vx, vy, v = xx - x * x / n, yy - y * y / n, xy - x * y / n
    # equal numbers leave rounding behind
    there = (vx > 1e-12 * xx) & (vy > 1e-12 * yy)
    return np.where(there, v / np.sqrt(np.where(there, vx * vy, 1.0)), np.nan)


def _ends(sums: np.ndarray, docs: np.ndarray, draws: tuple[np.random.Generator, int]) -> np.ndarray:
    """(3,) r with its interval, documents resampled."""
    r, clusters = float(_r(sums.sum(0))), clusters_of(docs)
    if np.isnan(r) or len(set(clusters.tolist())) < 2:
        return np.array([r, np.nan, np.nan])
    counts = resamples(clusters, draws[1], draws[0])
    of_doc = cluster_sums(sums, counts.index)[:, None]
    sizes = cluster_sums(np.ones((len(docs), 1)), counts.index)
    low, high, *_ = score_intervals(_r, of_doc, counts, sizes=sizes, farther=True)
    return np.array([r, max(-1.0, min(low[0], r)), min(1.0, max(high[0], r))])


def rater_bias(
    scores: MqmScores,
    rng: np.random.Generator,
    n_draws: int = 1000,
    systems: Sequence[str] | None = None,
) -> pd.DataFrame:
    """One rater as a metric: how well the marks of a rater agree with the mean of the other raters, within sources.

    What a metric can reach at best is told by people: fluency that two readers see differently no metric can follow. On
    each source every rater in turn is held against the mean of the others who rated the same translations, and the
    mean over raters is that of the source. The others are one fewer than those a metric is compared with, so these
    numbers are, if anything, a little low.

    Parameters
    ----------
    systems : rated names that take part; None: all.

    Returns
    -------
    The columns of `metric_bias`, of kind "rater", without what chance gives: a row for all errors of a rater, those of
    accuracy and those of fluency, by "pearson" and "kendall". No rows where no source has two raters.
    """
    import pandas as pd

    kept = [j for j, s in enumerate(scores.systems) if systems is None or s in systems]
    given = {kind: _by_rater(scores, i)[:, :, kept] for i, kind in enumerate(MARKS)}
    docs, rows = np.array(scores.docs, dtype=object), []
    for kind, statistic in ((kind, statistic) for statistic in KINDS for kind in MARKS):
        columns = _against_others(given, kind, statistic)
        there = ~np.isnan(columns[:, 0])
        if not there.any():
            continue
        ends = column_means(columns, docs, (rng, n_draws))
        row = bias_row(f"one rater, {MARKED[kind]}", (WITHIN, statistic), ends)
        count = source_counts(there, docs) | {"left_out": int((~there).sum())}
        rows.append(row | {"kind": "rater"} | count | {"n_systems": len(kept)})
    return pd.DataFrame(rows)


def _by_rater(scores: MqmScores, kind: int) -> np.ndarray:
    """(R, n, S) penalties, negated so that higher is better; nan where a rater did not see a translation."""
    out = np.full((len(scores.raters), len(scores.segments), len(scores.systems)), np.nan)
    out[scores.rater, scores.segment, scores.system] = -scores.values[:, kind]
    return out


def _against_others(given: dict[str, np.ndarray], kind: str, statistic: str) -> np.ndarray:
    """(n, 3) of each source: one rater's marks with the others' accuracy, their fluency, and the difference."""
    found = []
    for rater in range(len(given[kind])):
        both = []
        for axis in ("accuracy", "fluency"):
            others = np.delete(given[axis], rater, axis=0)
            seen = ~np.isnan(others)
            mean = np.where(
                seen.any(0), np.where(seen, others, 0.0).sum(0) / np.maximum(seen.sum(0), 1), np.nan
            )
            both.append(source_correlations(given[kind][rater], mean, statistic))
        found.append(np.where(np.isnan(both).any(0), np.nan, both))
    known = ~np.isnan(found)
    n = known.sum(0)
    mean = np.where(n > 0, np.where(known, found, 0.0).sum(0) / np.maximum(n, 1), np.nan)
    return np.column_stack([*mean, mean[0] - mean[1]])
