"""Paired tests of systems, and the ranks that follow from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import product

import numpy as np

from anhelpers.bootstrap import bootstrap_means
from anhelpers.plane import paired_tests, systems_table, with_ranks
from anhelpers.plane.scores import Plane

from .row import Row
from .scores import plane_from
from .worlds import World

__all__ = ["DRAWS", "rows", "systems"]

DRAWS = 400
_SPREAD = {
    "skewed differences": 0.0,
    "one system fails in a tenth": 0.0,
    "difference tied to length, skewed sizes": 0.9,
    "difference tied to length, very unequal sizes": 1.2,
}
"""Systems with equal means whose outputs are not exchangeable, and the spread of the logarithms of the sizes."""


def rows() -> Iterator[Row]:
    """Every row of the module."""
    wrong = (0.05, 0.0, 0.07)
    for m in (10, 20, 40):
        yield Row(
            "paired test at 5 %, no difference",
            f"skewed sizes, {m} documents",
            *wrong,
            partial(_paired, m),
        )
    for m in (12, 20):
        yield Row(
            "any of 15 paired tests significant after Holm's correction, no difference",
            f"6 systems, {m} documents",
            *wrong,
            partial(_family, m),
        )
        yield Row(
            "all rank intervals hold the true rank",
            f"6 systems, {m} documents",
            0.95,
            0.92,
            1.0,
            partial(_ranks, m),
        )
    for kind, m in product(_SPREAD, (12, 20, 40)):
        setting = f"{kind}, {m} documents"
        yield Row(
            "paired test at 5 %, equal means, not exchangeable",
            setting,
            0.05,
            None,
            None,
            partial(_not_exchangeable, kind, m),
        )
        ends = wrong[1:] if m == 40 and not _SPREAD[kind] else (None, None)
        yield Row(
            "interval of a difference leaves out 0, equal means, not exchangeable",
            setting,
            0.05,
            *ends,
            partial(_left_out, kind, m),
        )


def systems(rng: np.random.Generator, m: int, true: np.ndarray, sizes: str = "skewed") -> Plane:
    """(2, k) true scores of systems, measured on m documents: what is hard is hard for all of them."""
    world = World("normal", sizes)
    base, docs = world.documents(rng, m)
    each = [
        np.stack([base + 0.5 * world.documents_like(rng, docs) + t for t in axis], axis=1)
        for axis in true
    ]
    return plane_from(each, docs)


def _paired(m: int, rng: np.random.Generator) -> bool:
    """Whether a test finds a difference between two equal systems."""
    return bool(paired_tests(systems(rng, m, np.zeros((2, 2))), rng, DRAWS).p[0] < 0.05)


def _family(m: int, rng: np.random.Generator) -> bool:
    """Whether tests find a difference between any two of six equal systems."""
    tests = paired_tests(systems(rng, m, np.zeros((2, 6))), rng, DRAWS)
    return bool((tests.p_holm[tests.axis == "accuracy"] < 0.05).any())


def _ranks(m: int, rng: np.random.Generator) -> bool:
    """Whether all rank intervals hold: of two systems that are equal, either may come first."""
    true = np.array([0.0, 0, 1.5, 3, 3, 8])
    plane = systems(rng, m, np.stack([true, true]))
    table = with_ranks(systems_table(plane, rng, 2), paired_tests(plane, rng, DRAWS))
    ahead, level = (true > true[:, None]).sum(1), (true == true[:, None]).sum(1)
    low, high = table.accuracy_rank_low.to_numpy(int), table.accuracy_rank_high.to_numpy(int)
    return bool(((low <= 1 + ahead) & (ahead + level <= high)).all())


def _sizes(rng: np.random.Generator, m: int, spread: float) -> np.ndarray:
    return np.ceil(np.exp(rng.normal(2, spread, m))).astype(int) if spread else np.full(m, 8)


@cache
def _middle(spread: float) -> float:
    """The mean logarithm of the size of a document, over all segments."""
    sizes = _sizes(np.random.default_rng(20_261_127), 1_000_000, spread)
    return float(np.average(np.log(sizes), weights=sizes))


def _differences(kind: str, m: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(n,) differences of two systems, with a mean of 0, and the document of each segment."""
    sizes = _sizes(rng, m, _SPREAD[kind])
    if kind.startswith("skewed"):
        each = rng.lognormal(0, 1, m) - np.exp(0.5)
    elif kind.startswith("one"):
        each = rng.normal(size=m) + 1 - 10 * (rng.random(m) < 0.1)
    else:
        each = 5 * (np.log(sizes) - _middle(_SPREAD[kind])) + 3 * rng.normal(size=m)
    docs = np.repeat(np.arange(m), sizes)
    return each[docs] + rng.normal(size=len(docs)), docs


def _not_exchangeable(kind: str, m: int, rng: np.random.Generator) -> bool:
    """Whether a test finds a difference between equal means, where outputs are not exchangeable."""
    d, docs = _differences(kind, m, rng)
    values = np.stack([d, np.zeros_like(d)], axis=1)
    plane = plane_from([values, values], docs)
    plane = replace(plane, naturalness=replace(plane.naturalness, level="stored"))  # not tested
    return bool(paired_tests(plane, rng, DRAWS).p[0] < 0.05)


def _left_out(kind: str, m: int, rng: np.random.Generator) -> bool:
    """Whether 0 is outside of the interval of their difference."""
    found = bootstrap_means(*_differences(kind, m, rng), rng)
    return not found.low[0] <= 0 <= found.high[0]
