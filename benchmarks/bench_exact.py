"""The whole curve A(N) with all its vertices beside a grid of single programs, 20 sources and 200 targets.

A grid answers at its own points only; the last column says how far apart the two are there, and the row how many
vertices lie between the grid's points.

    python -m benchmarks exact [--quick]
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import scipy

import anhelpers as an

from .table import Row, beside, seconds_of

GRID = 101


def _world(n_x: int, n_y: int) -> an.exact.Problem:
    rng = np.random.default_rng(0)
    joint = rng.dirichlet(np.full(n_x * n_y, 0.7)).reshape(n_x, n_y)
    distortion = rng.random((n_y, n_y))
    np.fill_diagonal(distortion, 0)
    return an.exact.Problem(joint, distortion, rng.dirichlet(np.full(n_y, 0.7)))


def rows(quick: bool) -> Iterator[Row]:
    """A row per divergence: total variation, and a Wasserstein distance between points of a plane."""
    problem = _world(*((6, 40) if quick else (20, 200)))
    points = np.random.default_rng(1).random((len(problem.reference), 2))
    plane = an.exact.wasserstein_ball(np.linalg.norm(points[:, None] - points, axis=2))
    for divergence, name in (("tv", "total variation"), (plane, "Wasserstein-1 in the plane")):
        ours, curve = seconds_of(
            lambda d=divergence: an.exact.solve_curve(problem, d), time.process_time
        )
        grid = np.linspace(curve.naturalness[0], 0, 11 if quick else GRID)
        theirs, values = seconds_of(
            lambda d=divergence, g=grid: [an.exact.solve(problem, n, d).accuracy for n in g],
            time.process_time,
        )
        apart = np.abs(curve.accuracy_at(grid) - values).max()
        shape = " x ".join(map(str, problem.cost.shape))
        yield beside(
            f"A(N), {name}, {shape}: all {len(curve.beta)} vertices",
            f"HiGHS in scipy {scipy.__version__}, {len(grid)} programs",
            [(theirs, ours)],
            agree=f"apart by at most {apart:.0e}",
            agrees=apart < 1e-7,
        )
