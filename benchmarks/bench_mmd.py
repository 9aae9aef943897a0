"""The MMD² U-statistic beside the matrix products alone, and its memory.

Unit vectors of 384 numbers in float32, the rbf kernel with the median bandwidth, wall times.

    python -m benchmarks mmd [--quick]
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import anhelpers as an
from anhelpers.divergences.mmd import _Kernel, median_bandwidth, rbf

from .table import Row, beside, interleaved, limited, peak_bytes

N_FEATURES = 384
MEMORY_GOAL = 0.25  # GiB
BLOCK = 512  # points on a side of a tile


def _points(n: int) -> tuple[np.ndarray, np.ndarray, _Kernel]:
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((n, N_FEATURES), dtype=np.float32) for _ in range(2))
    y[:, :8] += np.float32(0.12)
    for v in (x, y):
        v /= np.sqrt(np.einsum("id,id->i", v, v))[:, None]
    return x, y, rbf(median_bandwidth(x, y, np.random.default_rng(1)))


def _products(x: np.ndarray, y: np.ndarray) -> None:
    """Only the matrix products that the estimate needs, in the same tiles."""
    buffer = np.empty(BLOCK * BLOCK, dtype=x.dtype)
    for a, b in ((x, x), (y, y), (x, y)):
        for i in range(0, len(a), BLOCK):
            for j in range(i if a is b else 0, len(b), BLOCK):
                left, right = (a[i : i + BLOCK], b[j : j + BLOCK])
                np.dot(
                    left,
                    right.T,
                    out=buffer[: len(left) * len(right)].reshape(len(left), len(right)),
                )


def rows(quick: bool) -> Iterator[Row]:
    """The statistic, and the most that the call allocates beside the points."""
    n = 3000 if quick else 20_000
    x, y, kernel = _points(n)
    exact = an.divergences.mmd.mmd2(x.astype(np.float64), y.astype(np.float64), kernel).value
    programs = [lambda: _products(x, y), lambda: an.divergences.mmd.mmd2(x, y, kernel)]
    times, (_, estimate) = interleaved(programs, 1 if quick else 3)
    off = abs(estimate.value / exact - 1)
    workload = f"MMD² rbf {n} x {n} x {N_FEATURES} float32"
    told = {"agree": f"relative {off:.0e} to float64, at {exact:.2e}", "agrees": off <= 1e-6}
    name = f"numpy {np.__version__}, the products alone"
    yield beside(workload, name, times, goal="<= 1.3", **told)
    extra = peak_bytes(programs[1]) / 2**30
    show = "{:.3f} GiB".format
    yield limited(f"{workload}, extra memory", [extra], MEMORY_GOAL, show)
