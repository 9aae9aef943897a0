"""The MMD² U-statistic beside the matrix product alone and whole kernel matrices; its permutations beside re-indexing.

Unit vectors of 384 numbers in float32, the rbf kernel with the median bandwidth. A ratio to the product alone is its
overhead, so less is better there; all others are how many times faster. Wall times, one after the other.

    python -m benchmarks.bench_mmd [--quick]
"""

from __future__ import annotations

import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

from anhelpers.divergences.kernels import Kernel, median_bandwidth, rbf
from anhelpers.divergences.mmd import BLOCK, mmd2, permutation_test

N_FEATURES, N_PERMUTATIONS = 384, 500
MEMORY_GOAL = 0.25  # GiB


def _points(n: int) -> tuple[np.ndarray, np.ndarray, Kernel]:
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((n, N_FEATURES), dtype=np.float32) for _ in range(2))
    y[:, :8] += np.float32(0.12)
    for v in (x, y):
        v /= np.sqrt(np.einsum("id,id->i", v, v))[:, None]
    return x, y, rbf(median_bandwidth(x, y, np.random.default_rng(1)))


def _timed(function: Callable) -> tuple[float, object]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def _products(x: np.ndarray, y: np.ndarray) -> None:
    """Only the matrix products that the estimate needs, in the same tiles."""
    buffer = np.empty(BLOCK * BLOCK, dtype=x.dtype)
    for a, b in ((x, x), (y, y), (x, y)):
        for i in range(0, len(a), BLOCK):
            for j in range(i if a is b else 0, len(b), BLOCK):
                left, right = a[i : i + BLOCK], b[j : j + BLOCK]
                np.dot(left, right.T, out=buffer[: len(left) * len(right)].reshape(len(left), len(right)))


def _naive(x: np.ndarray, y: np.ndarray, kernel: Kernel) -> float:
    """The whole matrices in the dtype of the points, one at a time, and n subtracted for the diagonal."""

    def total(a: np.ndarray, b: np.ndarray) -> float:
        squares = (a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * a @ b.T
        return float(np.exp(squares / (-2 * kernel.bandwidth**2)).sum())

    n, m = len(x), len(y)
    return (total(x, x) - n) / (n * (n - 1)) + (total(y, y) - m) / (m * (m - 1)) - 2 * total(x, y) / (n * m)


def _row(workload: str, baseline: str, times: list[tuple[float, float]], goal: str, agree: str) -> dict:
    """Pairs of (baseline, ours); a goal with "<=" wants ours over the baseline, any other the baseline over ours."""
    theirs, ours = (statistics.median(t) for t in zip(*times, strict=True))
    ratio = statistics.median(b / a if goal.startswith("<=") else a / b for a, b in times)
    return {
        "workload": workload, "baseline": f"{baseline} {theirs:.3g} s", "ours": f"{ours:.3g} s",
        "ratio": round(ratio, 2), "goal": goal, "agree": agree,
    }  # fmt: skip


def _statistic(n: int, repeats: int) -> list[dict]:
    x, y, kernel = _points(n)
    mmd2(x[:100], y[:100], kernel)  # compiles
    exact = mmd2(x.astype(np.float64), y.astype(np.float64), kernel).value
    beside_product, beside_naive = [], []
    for _ in range(repeats):
        product, _ = _timed(lambda: _products(x, y))
        ours, estimate = _timed(lambda: mmd2(x, y, kernel))
        naive, whole = _timed(lambda: _naive(x, y, kernel))
        beside_product.append((product, ours))
        beside_naive.append((naive, ours))
    off, theirs_off = abs(estimate.value / exact - 1), abs(whole / exact - 1)
    theirs = f"theirs relative {theirs_off:.0e}"
    agree = f"relative {off:.0e} to float64, at {exact:.2e}"
    workload = f"MMD² rbf {n} x {n} x {N_FEATURES} float32"
    return [
        _row(workload, "products alone", beside_product, "<= 1.3", agree),
        _row(
            workload,
            "numpy float32, whole matrices",
            beside_naive,
            ">= 4",
            f"{agree}; {theirs}",
        ),
    ]


def _memory(n: int) -> dict:
    """The most that the call allocates beside the points, as numpy reports it."""
    x, y, kernel = _points(n)
    tracemalloc.start()
    mmd2(x, y, kernel)
    extra = tracemalloc.get_traced_memory()[1] / 2**30
    tracemalloc.stop()
    return {
        "workload": f"MMD² rbf {n} x {n} x {N_FEATURES} float32, extra memory",
        "baseline": f"whole matrices {n * n * 4 * 2 / 2**30:.3g} GiB", "ours": f"{extra:.3f} GiB",
        "ratio": round(extra / MEMORY_GOAL, 2), "goal": "<= 1 of 0.25 GiB", "agree": "",
    }  # fmt: skip


def _permutations(n: int, sampled: int) -> dict:
    """Re-indexing is timed on the first labellings and multiplied: all of them take minutes."""
    x, y, kernel = _points(n)
    z = np.concatenate([x, y])
    matrix = kernel.matrix(z, z).astype(np.float32)
    np.fill_diagonal(matrix, 0)
    permutation_test(x[:1100], y[:1100], kernel, np.random.default_rng(0), 2)

    def reindexed(order: np.ndarray) -> float:
        moved = matrix[order][:, order]
        xx, yy, xy = moved[:n, :n], moved[n:, n:], moved[:n, n:]
        return sum(v.sum(dtype=np.float64) for v in (xx, yy)) / (n * (n - 1)) - 2 * xy.mean(dtype=np.float64)

    ours, found = _timed(lambda: permutation_test(x, y, kernel, np.random.default_rng(3), N_PERMUTATIONS))
    labels = np.random.default_rng(3).permuted(np.tile(np.repeat([0, 1], n), (N_PERMUTATIONS, 1)), axis=1)
    orders = [np.argsort(row, kind="stable") for row in labels[:sampled]]
    theirs, values = _timed(lambda: [reindexed(order) for order in orders])
    agree = f"{np.abs(found.null[:sampled] - values).max():.0e}, spread of the null {found.null.std():.0e}"
    workload = f"{N_PERMUTATIONS} permutations of {n} + {n} points"
    theirs *= N_PERMUTATIONS / sampled
    return _row(workload, f"re-indexing ({sampled} timed)", [(theirs, ours)], ">= 300", agree)


def rows(quick: bool) -> list[dict]:
    """One row per workload: workload, baseline, ours, ratio, goal, agree."""
    n = 3000 if quick else 20_000
    table = _statistic(n, 1 if quick else 3)
    return [*table, _memory(n), _permutations(1500 if quick else 4000, 2 if quick else 10)]


if __name__ == "__main__":
    for row in rows("--quick" in sys.argv):
        print(" | ".join(f"{key} {value}" for key, value in row.items()), flush=True)
