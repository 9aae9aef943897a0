"""Intervals of means and of corpus scores, and ellipses on the plane."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from anhelpers.bootstrap import Resamples, bootstrap_means, cluster_sums, score_intervals
from anhelpers.charts.systems import _radii
from anhelpers.plane import mean_axis
from anhelpers.plane.scores import Plane
from anhelpers.plane.table import systems_table
from anhelpers.stats import share_interval

from .row import DOCS, DRAWS, FEW, Row
from .worlds import HARD, KINDS, World

__all__ = ["plane_from", "rows"]


def rows() -> Iterator[Row]:
    """All rows, in the order of the page."""
    for kind, sizes, m in product(KINDS, ("equal", "skewed"), DOCS):
        if kind == "tied to length" and sizes == "equal":
            continue
        ends = _tolerance(kind, m)
        yield Row(
            "interval of a mean",
            f"{kind}, {sizes} sizes, {m} documents",
            0.95,
            *ends,
            partial(_mean, World(kind, sizes), m),
        )
    for kind, m in product(HARD, (12, 40)):
        setting = f"{kind}, equal sizes, {m} documents"
        yield Row(
            "interval of a mean", setting, 0.95, None, None, partial(_mean, World(kind, "equal"), m)
        )
    for (kind, sizes), m in product(NOTED, (12, 20, 40)):
        setting, told = (
            f"{kind}, {sizes} sizes, {m} documents",
            partial(_told, World(kind, sizes), m),
        )
        yield Row(NOTE, setting, *NOTED[kind, sizes], told)
    for correlation, share, m in product((0.0, 0.1, 0.3), (0.5, 0.8), (12, 40)):
        setting = f"{m} documents, share {share}, correlation {correlation} within a document"
        yield Row(SHARE, setting, 0.95, 0.92, 0.98, partial(_share, m, share, correlation))
    for sizes, m in product(("equal", "skewed"), DOCS):
        yield Row(
            "interval of a corpus score (F1 of summed counts)",
            f"{sizes} sizes, {m} documents",
            0.95,
            *_tolerance("", m),
            partial(_corpus, sizes, m),
        )
    for sizes, m in product(("equal", "skewed"), DOCS):
        yield Row(
            "ellipse on the plane",
            f"{sizes} sizes, axes correlated, {m} documents",
            0.95,
            *_tolerance("", m),
            partial(_ellipse, sizes, m),
        )


NOTE = "a note is printed beside the interval of a mean"
SHARE = "interval of a share (Wilson's, by documents)"
MAYBE = (0.0, None, None)
NOTED: dict[tuple[str, str], tuple[float, float | None, float | None]] = {
    ("normal", "equal"): (0.0, 0.0, 0.1),
    ("normal", "skewed"): MAYBE,
    ("MQM-like", "equal"): MAYBE,
    ("MQM-like", "skewed"): MAYBE,
    ("tied to length", "skewed"): (1.0, 0.8, 1.0),
    ("lognormal documents", "equal"): (1.0, 0.8, 1.0),
    ("skewed differences", "equal"): (1.0, None, None),
    ("rare catastrophes", "equal"): MAYBE,
    ("heavy tails", "equal"): MAYBE,
}
"""Kind and sizes -> how often a note is wanted, and the least and most that pass."""


def _tolerance(kind: str, m: int) -> tuple[float | None, float | None]:
    if m < FEW or (kind == "tied to length" and m < 20):
        return None, None
    return (0.92 if kind in ("normal", "") else 0.9), 0.98


def _told(world: World, m: int, rng: np.random.Generator) -> bool:
    """Whether a mean has a caution: few documents, or uneven ones."""
    return bool(bootstrap_means(*world.documents(rng, m), rng, 2).estimate().caution)


def _share(m: int, share: float, correlation: float, rng: np.random.Generator) -> bool:
    """Whether the interval holds the share, whose documents differ by a beta distribution."""
    docs = np.repeat(np.arange(m), np.ceil(np.exp(rng.normal(1.2, 0.7, m))).astype(int))
    more = (1 - correlation) / correlation if correlation else np.inf
    level = rng.beta(share * more, (1 - share) * more, m) if correlation else np.full(m, share)
    low, high = share_interval(rng.random(len(docs)) < level[docs], docs=docs)
    return bool(low <= share <= high)


def _mean(world: World, m: int, rng: np.random.Generator) -> bool:
    """Whether the interval of a mean holds the mean of the population."""
    scores, docs = world.documents(rng, m)
    found = bootstrap_means(scores, docs, rng, DRAWS)
    return bool(found.low[0] <= world.truth <= found.high[0])


def _f1(sums: np.ndarray) -> np.ndarray:
    """(..., 3) matches, n-grams of outputs, n-grams of references -> F1 in points."""
    return 200 * sums[..., 0] / (sums[..., 1] + sums[..., 2])


def _counts(sizes: str, rng: np.random.Generator, m: int) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3) matches, n-grams of the output and of the reference of each segment, and its document."""
    level, docs = World("normal", sizes).documents(rng, m)
    reference = rng.poisson(60, len(docs)) + 1
    output = rng.poisson(reference * 0.95) + 1
    matches = rng.binomial(np.minimum(output, reference), np.clip(level / 100, 0.02, 0.98))
    return np.stack([matches, output, reference], axis=1).astype(float), docs


def _corpus(sizes: str, m: int, rng: np.random.Generator) -> bool:
    """Whether the interval of a score of summed counts holds that of the population."""
    counts, docs = _counts(sizes, rng, m)
    drawn = Resamples(docs, DRAWS, rng)
    sums = cluster_sums(counts, drawn.index)[:, None]
    low, high, *_ = score_intervals(_f1, sums, drawn, sizes=np.bincount(drawn.index)[:, None])
    return bool(low[0] <= _f1_truth(sizes) <= high[0])


_F1: dict[str, float] = {}


def _f1_truth(sizes: str) -> float:
    if sizes not in _F1:
        _F1[sizes] = float(
            _f1(_counts(sizes, np.random.default_rng(20_261_122), 100_000)[0].sum(0))
        )
    return _F1[sizes]


def plane_from(values: list[np.ndarray], docs: np.ndarray) -> Plane:
    """Systems with (n, k) scores on each axis."""
    accuracy, naturalness = (
        mean_axis(name, name, name, v) for name, v in zip("an", values, strict=True)
    )
    n, k = values[0].shape
    names = tuple(f"s{j}" for j in range(k))
    return Plane(
        "simulated",
        names,
        ("MT",) * k,
        accuracy,
        naturalness,
        docs,
        np.array(["all"] * n),
        np.full(n, 10),
    )


def _ellipse(sizes: str, m: int, rng: np.random.Generator) -> bool:
    """Whether the ellipse of a system holds its two means in the population, which are 50 and 50."""
    world = World("normal", sizes)
    first, docs = world.documents(rng, m)
    second = 0.6 * first + 0.4 * world.documents_like(rng, docs)
    table = systems_table(plane_from([first[:, None], second[:, None]], docs), rng, DRAWS)
    row = table.iloc[0]
    away = np.array([row.accuracy - 50, row.naturalness - 50])
    away = away / np.array([row.accuracy_se, row.naturalness_se])
    r = row.correlation
    distance = (away[0] ** 2 - 2 * r * away[0] * away[1] + away[1] ** 2) / (1 - r * r)
    return bool(distance <= _radii(table)[0] ** 2)
