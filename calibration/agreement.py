"""A metric between accuracy and fluency: correlations within sources and between them, soft pairwise accuracy."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

import numpy as np

from anhelpers.estimate import Estimate
from anhelpers.plane import soft_pairwise_accuracy, source_correlations, within_sources
from anhelpers.plane.agreement import _column_means
from anhelpers.stats import spearman

from .row import FEW, Row
from .worlds import World

__all__ = ["rows"]

DRAWS = 300
"""Resamples behind an interval: fewer than elsewhere, for a world has many translations."""
MANY = (5, 10, 20, 40)
SYSTEMS = 8
BASE = World("MQM-like", "skewed")
SEED = 20_261_123
TRUTH = "soft pairwise accuracy, for the mean of test sets of as many documents"


def rows() -> Iterator[Row]:
    """All rows, in the order of the page."""
    for kind in ("pearson", "kendall"):
        for m in MANY:
            yield Row(
                f"interval of a mean correlation within sources ({kind})",
                f"MQM-like marks of {SYSTEMS} systems, {m} documents",
                0.95,
                *_ends(m, 0.9, 0.98),
                partial(_within, kind, m),
            )
    for m in MANY:
        yield Row(
            "interval of a mean correlation within sources (Spearman's ρ, candidates)",
            f"MQM-like marks of {SYSTEMS} systems, {m} documents",
            0.95,
            *_ends(m, 0.9, 0.98),
            partial(_ranks, m),
        )
    for m in MANY:
        yield Row(
            f"interval of a {TRUTH}",
            f"MQM-like marks of {SYSTEMS} systems, {m} documents",
            0.95,
            *_ends(m, 0.92, 1.0),
            partial(_soft, m),
        )


def _ends(m: int, least: float, most: float) -> tuple[float | None, float | None]:
    return (None, None) if m < FEW else (least, most)


def _marks(
    m: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(N, k) accuracy, fluency and a metric between them, and (N,) documents: hard sources have more of all errors."""
    level, docs = BASE.documents(rng, m)
    hard = (0.3 + level / BASE.truth)[:, None]
    good = np.linspace(-0.5, 0.5, SYSTEMS)
    accuracy = -rng.poisson(0.5 * hard * np.exp(-good)) * rng.choice([1, 5], (len(docs), SYSTEMS))
    fluency = -1.0 * rng.poisson(0.7 * hard * np.exp(-0.6 * good[::-1] ** 2))
    metric = 0.6 * accuracy + 0.4 * fluency + rng.normal(0, 2, accuracy.shape)
    return accuracy.astype(float), fluency, metric, docs


def _columns(kind: str, m: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(N, 3) r of the metric with both marks on each source and their difference, and (N,) documents."""
    accuracy, fluency, metric, docs = _marks(m, rng)
    both = np.stack([source_correlations(metric, one, kind) for one in (accuracy, fluency)], axis=1)
    both = np.where(np.isnan(both).any(1, keepdims=True), np.nan, both)
    return np.column_stack([both, both[:, 0] - both[:, 1]]), docs


@cache
def _within_truth(kind: str) -> np.ndarray:
    return np.nanmean(_columns(kind, 5000, np.random.default_rng(SEED))[0], axis=0)


def _within(kind: str, m: int, rng: np.random.Generator) -> np.ndarray:
    """Whether the intervals of the metric's r with accuracy, with fluency, and of their difference hold the truth."""
    columns, docs = _columns(kind, m, rng)
    _, low, high = _column_means(columns, docs, (rng, DRAWS)).T
    truth = _within_truth(kind)
    return (low <= truth) & (truth <= high)


def _candidates(
    m: int, rng: np.random.Generator, draws: tuple[np.random.Generator, int]
) -> Estimate:
    """ρ of the metric and accuracy over the outputs of each source, by `within_sources`."""
    accuracy, _, metric, docs = _marks(m, rng)
    segment = np.repeat(np.arange(len(docs)), SYSTEMS)
    return within_sources(
        segment, metric.ravel(), accuracy.ravel(), docs, rng=draws[0], n_draws=draws[1]
    )


@cache
def _ranks_truth() -> float:
    accuracy, _, metric, _ = _marks(2000, np.random.default_rng(SEED))
    return float(np.nanmean(spearman(metric, accuracy)))


def _ranks(m: int, rng: np.random.Generator) -> bool:
    """Whether the interval of the mean ρ within sources holds the truth."""
    found = _candidates(m, rng, (rng, DRAWS))
    return bool(found.low <= _ranks_truth() <= found.high)


@cache
def _soft_truth(m: int) -> float:
    rng = np.random.default_rng(SEED)
    return float(np.mean([_soft_found(m, rng).value for _ in range(300)]))


def _soft_found(m: int, rng: np.random.Generator) -> Estimate:
    accuracy, _, metric, docs = _marks(m, rng)
    return soft_pairwise_accuracy(accuracy, metric, docs, rng, n_swaps=DRAWS)


def _soft(m: int, rng: np.random.Generator) -> bool:
    """Whether the interval holds what the metric gets on average on test sets of so many documents."""
    found = _soft_found(m, rng)
    return bool(found.low <= _soft_truth(m) <= found.high)
