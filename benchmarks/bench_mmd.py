"""The MMD² U-statistic beside the matrix products alone, whole kernel matrices and alibi-detect; its permutations.

Unit vectors of 384 numbers in float32, the rbf kernel with the median bandwidth, wall times. alibi-detect keeps all
kernels of the pooled points and takes 19 GiB for 2 x 20,000 of them; it is asked once. Permutations are beside
re-indexing the kernel matrix, which is timed on some labellings and multiplied: all of them take minutes.

    python -m benchmarks mmd [--quick]
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import anhelpers as an
from anhelpers.divergences.mmd import _Kernel, median_bandwidth, rbf

from .peers import NEEDS, PeerMissing, ask, peer
from .table import Row, beside, interleaved, limited, not_measured, peak_bytes, seconds_of

N_FEATURES, N_PERMUTATIONS = 384, 500
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


def _naive(x: np.ndarray, y: np.ndarray, kernel: _Kernel) -> float:
    """The whole matrices in the dtype of the points, one at a time, and n subtracted for the diagonal."""

    def total(a: np.ndarray, b: np.ndarray) -> float:
        squares = (a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * a @ b.T
        return float(np.exp(squares / (-2 * kernel.bandwidth**2)).sum())

    n, m = len(x), len(y)
    return (
        (total(x, x) - n) / (n * (n - 1))
        + (total(y, y) - m) / (m * (m - 1))
        - 2 * total(x, y) / (n * m)
    )


def _statistic(n: int, repeats: int) -> Iterator[Row]:
    x, y, kernel = _points(n)
    exact = an.divergences.mmd.mmd2(x.astype(np.float64), y.astype(np.float64), kernel).value
    programs = [
        lambda: _products(x, y),
        lambda: _naive(x, y, kernel),
        lambda: an.divergences.mmd.mmd2(x, y, kernel),
    ]
    times, (_, whole, estimate) = interleaved(programs, repeats)
    off = abs(estimate.value / exact - 1)
    workload = f"MMD² rbf {n} x {n} x {N_FEATURES} float32"
    told = {"agree": f"relative {off:.0e} to float64, at {exact:.2e}", "agrees": off <= 1e-6}
    numpy = f"numpy {np.__version__}"
    yield beside(
        workload,
        f"{numpy}, the products alone",
        [(a, c) for a, _, c in times],
        goal="<= 1.3",
        **told,
    )
    told["agree"] += f"; theirs {abs(whole / exact - 1):.0e}"
    yield beside(
        workload,
        f"{numpy}, whole float32 matrices",
        [(b, c) for _, b, c in times],
        goal=">= 4",
        **told,
    )
    yield _beside_alibi(workload, (x, y, kernel), exact, statistics.median(c for *_, c in times))


def _beside_alibi(
    workload: str, points: tuple[np.ndarray, np.ndarray, _Kernel], exact: float, ours: float
) -> Row:
    name, goal = NEEDS["alibi"][0].replace("==", " "), ">= 6"
    x, y, kernel = points
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{i}.npy") for i in range(2)]
        for file, v in zip(files, (x, y), strict=True):
            np.save(file, v)
        try:
            with peer("alibi", *files, kernel.bandwidth) as process:
                theirs = ask(process)
        except PeerMissing as error:
            return not_measured(workload, name, str(error), goal)
    again, estimate = seconds_of(lambda: an.divergences.mmd.mmd2(x, y, kernel))
    off = abs(estimate.value / exact - 1)
    agree = f"relative {off:.0e} to float64; theirs {abs(theirs['value'] / exact - 1):.0e}, {theirs['gib']:.0f} GiB"
    return beside(
        workload,
        name,
        [(theirs["seconds"], again), (theirs["seconds"], ours)],
        goal=goal,
        agree=agree,
        agrees=off <= 1e-6,
    )


def _memory(n: int) -> Row:
    """The most that the call allocates beside the points, as numpy reports it."""
    x, y, kernel = _points(n)
    extra = peak_bytes(lambda: an.divergences.mmd.mmd2(x, y, kernel)) / 2**30
    workload = f"MMD² rbf {n} x {n} x {N_FEATURES} float32, extra memory"
    return limited(workload, [extra], MEMORY_GOAL, lambda gib: f"{gib:.3f} GiB")


def _permutations(n: int, sampled: int) -> Row:
    x, y, kernel = _points(n)
    z = np.concatenate([x, y])
    matrix = kernel.matrix(z, z).astype(np.float32)
    np.fill_diagonal(matrix, 0)
    an.divergences.permutation_test(x[:1100], y[:1100], kernel, np.random.default_rng(0), 2)

    def reindexed(order: np.ndarray) -> float:
        moved = matrix[order][:, order]
        xx, yy, xy = moved[:n, :n], moved[n:, n:], moved[:n, n:]
        return sum(v.sum(dtype=np.float64) for v in (xx, yy)) / (n * (n - 1)) - 2 * xy.mean(
            dtype=np.float64
        )

    labels = np.random.default_rng(3).permuted(
        np.tile(np.repeat([0, 1], n), (N_PERMUTATIONS, 1)), axis=1
    )
    orders = [np.argsort(row, kind="stable") for row in labels[:sampled]]
    programs = [
        lambda: [reindexed(order) for order in orders],
        lambda: an.divergences.permutation_test(
            x, y, kernel, np.random.default_rng(3), N_PERMUTATIONS
        ),
    ]
    times, (values, found) = interleaved(programs, 2)
    apart, spread = np.abs(found.null[:sampled] - values).max(), found.null.std()
    scaled = [(theirs * N_PERMUTATIONS / sampled, ours) for theirs, ours in times]
    return beside(
        f"{N_PERMUTATIONS} permutations of {n} + {n} points",
        f"numpy {np.__version__}, re-indexing ({sampled} timed)",
        scaled,
        goal=">= 300",
        agree=f"apart by {apart:.0e}, spread of the null {spread:.0e}",
        agrees=apart < 1e-3 * spread,
    )


def rows(quick: bool) -> Iterator[Row]:
    """The statistic beside three peers, its memory, and its permutations."""
    n = 3000 if quick else 20_000
    yield from _statistic(n, 1 if quick else 3)
    yield _memory(n)
    yield _permutations(1500 if quick else 4000, 2 if quick else 10)
