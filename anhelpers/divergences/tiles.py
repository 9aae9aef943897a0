"""A kernel matrix one tile at a time, with the sums of each tile: the only place where n × m numbers are touched."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from ..compiled import compiled, cores
from .kernels import Kernel

# 2^f = Σ (f ln 2)^k / k! for |f| <= 1/2: eight terms are right to 5e-9, below what float32 can hold.
C0, C1, C2, C3, C4, C5, C6, C7 = (
    np.float32(math.log(2) ** k / math.factorial(k)) for k in range(8)
)
HALF, LEAST, BIAS, MANTISSA = np.float32(0.5), np.float32(-126), np.int32(127), np.int32(23)
REORDER = {"reassoc", "nsz", "contract"}  # lets the compiler add in vectors


@dataclass(frozen=True)
class Tile:
    """Similarities of the points `rows` of x and `cols` of y, which is overwritten by the next tile.

    Parameters
    ----------
    rows, cols : slices of x and of y.
    matrix : (a, b) similarities; where x is y, those of two different points once only: 0 on the diagonal and below.
    row_sums, col_sums : (a,) and (b,) float64 sums of the matrix.
    """

    rows: slice
    cols: slice
    matrix: np.ndarray
    row_sums: np.ndarray
    col_sums: np.ndarray


# rows, columns, and whether it lies on the diagonal of x with x
MakeTile = Callable[[slice, slice, bool], Tile]


def scaled_for(kernel: Kernel, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Copies of float32 points for `tiles`: shifted by their common mean and scaled, so that k(x, y) = 2^(-|x - y|²/2).

    Only for the rbf kernel in float32; all else passes through as it is.
    """
    if not _is_fast(kernel, x):
        return x, y
    middle = ((x.sum(0, dtype=np.float64) + y.sum(0, dtype=np.float64)) / (len(x) + len(y))).astype(
        np.float32
    )
    x, y = x - middle, y - middle
    scale = np.float32(1 / (kernel.bandwidth * math.sqrt(math.log(2))))
    x *= scale
    y *= scale
    return x, y


def tiles(kernel: Kernel, x: np.ndarray, y: np.ndarray | None, block: int) -> Iterator[Tile]:
    """Every pair of a point of x and a point of y in one tile; without y, every pair of two different points of x once.

    Parameters
    ----------
    kernel : rbf in float32 is computed as such, with sums in float64; everything else in float64.
    x, y : (n, d) and (m, d) points from `scaled_for`.
    block : rows and columns of a tile.
    """
    other = x if y is None else y
    with ThreadPoolExecutor(cores()) as pool:
        make = _rbf32(x, other, block, pool) if _is_fast(kernel, x) else _float64(kernel, x, other)
        for i in range(0, len(x), block):
            for j in range(i if y is None else 0, len(other), block):
                yield make(slice(i, i + block), slice(j, j + block), y is None and i == j)


def _is_fast(kernel: Kernel, x: np.ndarray) -> bool:
    return kernel.name == "rbf" and x.dtype == np.float32


def _float64(kernel: Kernel, x: np.ndarray, y: np.ndarray) -> MakeTile:
    def make(rows: slice, cols: slice, diagonal: bool) -> Tile:
        matrix = kernel.matrix(x[rows], y[cols])
        matrix = np.triu(matrix, 1) if diagonal else matrix
        return Tile(rows, cols, matrix, matrix.sum(1), matrix.sum(0))

    return make


def _rbf32(x: np.ndarray, y: np.ndarray, block: int, pool: ThreadPoolExecutor) -> MakeTile:
    """One matrix product into a buffer that is used again and again, then 2^ and both sums in one go over its rows."""
    half_x, half_y = (0.5 * np.einsum("id,id->i", v, v, dtype=np.float64) for v in (x, y))
    half_x, half_y = half_x.astype(np.float32), half_y.astype(np.float32)
    buffer = np.empty(min(block, len(x)) * min(block, len(y)), dtype=np.float32)
    workers = cores()

    def make(rows: slice, cols: slice, diagonal: bool) -> Tile:
        a, b = x[rows], y[cols]
        out = np.dot(a, b.T, out=buffer[: len(a) * len(b)].reshape(len(a), len(b)))
        row_sums, col_sums = np.zeros(len(a)), np.zeros((workers, len(b)))
        cuts = np.linspace(0, len(a), workers + 1).astype(int)

        def part(w: int) -> None:
            k = slice(cuts[w], cuts[w + 1])
            first = cuts[w] + 1 if diagonal else 0
            _powers_of_two(
                out[k], half_x[rows][k], half_y[cols], row_sums[k], col_sums[w], first, diagonal
            )

        list(pool.map(part, range(workers)))
        return Tile(rows, cols, out, row_sums, col_sums.sum(0))

    return make


@compiled(error_model="numpy", fastmath=REORDER)
def _powers_of_two(out, half_x, half_y, row_sums, col_sums, first, diagonal):
    """In place, out[i, j] = 2^(x·y - |x|²/2 - |y|²/2) from the products x·y, and its sums in float64.

    On a diagonal tile, row i has only its entries from column first + i on; the others become 0.
    """
    for i in range(out.shape[0]):
        row, half = out[i], half_x[i]
        start = min(first + i, row.shape[0]) if diagonal else 0
        for j in range(start):
            row[j] = 0
        right, half_right, cols = row[start:], half_y[start:], col_sums[start:]
        for j in range(right.shape[0]):
            t = right[j] - (half + half_right[j])
            t = t if t > LEAST else LEAST  # 2^-126 instead of numbers that are too small
            n = np.int32(t - HALF)
            f = t - np.float32(n)
            p = ((((((C7 * f + C6) * f + C5) * f + C4) * f + C3) * f + C2) * f + C1) * f + C0
            right[j] = p * np.int32((n + BIAS) << MANTISSA).view(np.float32)
        total = 0.0
        for j in range(right.shape[0]):
            total += right[j]
            cols[j] += right[j]
        row_sums[i] += total
