"""Paired tests of systems, and the ranks that follow from them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from anhelpers.plane import paired_tests, systems_table, with_ranks
from anhelpers.plane.scores import Plane

from .row import Row
from .scores import plane_from
from .worlds import World

__all__ = ["DRAWS", "rows", "systems"]

DRAWS = 400


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
    """Whether two systems that do not differ are told to differ."""
    return bool(paired_tests(systems(rng, m, np.zeros((2, 2))), rng, DRAWS).p[0] < 0.05)


def _family(m: int, rng: np.random.Generator) -> bool:
    """Whether some of six systems that do not differ are told to differ."""
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
