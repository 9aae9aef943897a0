"""The whole curve A(N) with all its vertices beside a grid of single programs, 20 sources and 200 targets.

A grid answers at its own points only; the last column says how far apart the two are there, and the row how many
vertices lie between the grid's points.

    python -m benchmarks.bench_exact [--quick]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np

from anhelpers import exact

GRID = 101


def _world(n_x: int, n_y: int) -> exact.Problem:
    rng = np.random.default_rng(0)
    joint = rng.dirichlet(np.full(n_x * n_y, 0.7)).reshape(n_x, n_y)
    distortion = rng.random((n_y, n_y))
    np.fill_diagonal(distortion, 0)
    return exact.Problem(joint, distortion, rng.dirichlet(np.full(n_y, 0.7)))


def rows(quick: bool = False) -> Iterator[dict]:
    """A row per divergence: total variation, and a Wasserstein distance between points of a plane."""
    problem = _world(*((6, 40) if quick else (20, 200)))
    points = np.random.default_rng(1).random((len(problem.reference), 2))
    plane = exact.wasserstein(np.linalg.norm(points[:, None] - points, axis=2))
    for divergence, name in (("tv", "total variation"), (plane, "Wasserstein-1 in the plane")):
        start = time.process_time()
        curve = exact.solve_curve(problem, divergence)
        middle = time.process_time()
        grid = np.linspace(curve.naturalness[0], 0, 11 if quick else GRID)
        values = [exact.solve(problem, n, divergence).accuracy for n in grid]
        end = time.process_time()
        apart = np.abs(curve.accuracy_at(grid) - values).max()
        yield {
            "workload": f"A(N), {name}, {' x '.join(map(str, problem.cost.shape))}: all {len(curve.beta)} vertices",
            "baseline": f"{len(grid)} programs by HiGHS, {end - middle:.2f} s",
            "ours": f"{middle - start:.2f} s",
            "ratio": f"{(end - middle) / (middle - start):.2f}",
            "goal": "",
            "agree": f"to {apart:.0e}",
        }


if __name__ == "__main__":
    for row in rows("--quick" in sys.argv):
        print(row)
