"""MMD² from samples: the unbiased U-statistic and its permutation test, in tiles, without a full kernel matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist, pdist

from .. import checks
from .._numba import compiled, cores
from ..errors import DataError
from ..estimate import Estimate
from .samples import PairSums, pair_noise, spread_rows

KINDS = ("laplace", "linear", "rbf")


@dataclass(frozen=True)
class Kernel:
    """A similarity of two points of R^d, by name; make one with `rbf`, `laplace` or `linear`.

    Parameters
    ----------
    name : "rbf", exp(-|x - y|² / (2 b²)) with the Euclidean norm; "laplace", exp(-|x - y| / b) with the L1 norm, the
        sum of the absolute differences; or "linear", x · y.
    bandwidth : b > 0, in the unit of the points; nan for the linear kernel.
    """

    name: str
    bandwidth: float = float("nan")

    def __post_init__(self) -> None:
        checks.one_of(self.name, KINDS, "kernel")
        if self.name != "linear" and not 0 < self.bandwidth < np.inf:
            raise DataError(
                f"the bandwidth of {self.name} is {self.bandwidth}: it must be a finite number "
                "above 0."
            )

    @property
    def signature(self) -> str:
        """Name and bandwidth, so that the number can be repeated: "rbf|bandwidth:0.5"."""
        return "linear" if self.name == "linear" else f"{self.name}|bandwidth:{self.bandwidth:.6g}"

    def matrix(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """(n, m) float64 similarities of (n, d) and (m, d) points; sparse rows with the linear kernel only.

        >>> rbf(1.0).matrix([[0.0], [2.0]], [[0.0]]).round(4).ravel().tolist()
        [1.0, 0.1353]
        """
        x, y = points(x, y, self.name)
        if sparse.issparse(x):
            return (x @ y.T).toarray()
        x, y = x.astype(np.float64, copy=False), y.astype(np.float64, copy=False)
        if self.name == "linear":
            return x @ y.T
        if self.name == "laplace":
            return np.exp(cdist(x, y, "cityblock") / -self.bandwidth)
        return _rbf(x, y, self.bandwidth)


def points(
    x: np.ndarray, y: np.ndarray, kernel: str, least: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """(N, d) and (M, d) points in one form: two arrays, or for the linear kernel two float64 scipy.sparse arrays.

    Parameters
    ----------
    x, y : the points. kernel : its name. least : how many points either side must have; else a DataError.
    """
    if sparse.issparse(x) != sparse.issparse(y):
        raise DataError("one sample is sparse and the other is not: give both in the same form.")
    if sparse.issparse(x) and kernel != "linear":
        raise DataError(f"sparse rows have the linear kernel only, not {kernel}: make them dense.")
    x, y = (
        sparse.csr_array(v, dtype=np.float64) if sparse.issparse(v) else np.asarray(v)
        for v in (x, y)
    )
    if (
        x.ndim != 2
        or y.ndim != 2
        or x.shape[1] != y.shape[1]
        or min(x.shape[0], y.shape[0]) < least
    ):
        raise DataError(
            f"samples have shapes {x.shape} and {y.shape}: give (N, d) and (M, d), N and M at "
            f"least {least}."
        )
    return x, y


def _rbf(x: np.ndarray, y: np.ndarray, bandwidth: float) -> np.ndarray:
    """By one matrix product; both are shifted first, so that little cancels in |x|² + |y|² - 2 x·y."""
    middle = x.mean(0)
    x, y = (x - middle) / bandwidth, (y - middle) / bandwidth
    out = x @ y.T
    out -= 0.5 * np.einsum("id,id->i", x, x)[:, None]
    out -= 0.5 * np.einsum("id,id->i", y, y)
    np.minimum(out, 0, out=out)
    return np.exp(out, out=out)


def rbf(bandwidth: float) -> Kernel:
    """The Gaussian kernel exp(-|x - y|² / (2 b²)), Euclidean norm."""
    return Kernel("rbf", float(bandwidth))


def laplace(bandwidth: float) -> Kernel:
    """The Laplace kernel exp(-|x - y| / b), L1 norm: the sum of the absolute differences."""
    return Kernel("laplace", float(bandwidth))


def linear() -> Kernel:
    """The linear kernel x · y: its MMD is the distance of the two mean vectors."""
    return Kernel("linear")


def median_bandwidth(
    x: np.ndarray, y: np.ndarray, rng: np.random.Generator, n: int = 1000
) -> float:
    """The median Euclidean distance of two points in a random subsample of both samples together.

    A bandwidth that depends on the data is part of the estimate: state n and the seed of rng with it, and give all
    systems that are compared the same one.

    Parameters
    ----------
    x, y : (N, d) and (M, d) points.
    rng : draws min(n, N + M) of the N + M points, none twice.

    Raises
    ------
    DataError where the median is 0 (more than half of the points are the same) or not finite.

    >>> median_bandwidth([[0.0], [1.0]], [[3.0]], np.random.default_rng(0))
    2.0
    """
    x, y = points(x, y, "rbf")
    rows = np.sort(rng.choice(len(x) + len(y), min(n, len(x) + len(y)), replace=False))
    some = np.concatenate([x[rows[rows < len(x)]], y[rows[rows >= len(x)] - len(x)]])
    middle = float(np.median(pdist(some))) if len(some) > 1 else np.nan
    if not 0 < middle < np.inf:
        raise DataError(
            f"the median distance of {len(some)} points is {middle}: give a bandwidth above 0."
        )
    return middle


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


BLOCK = 1024  # a tile of float32 is 4 MiB and stays in the cache
# points; up to here the permutation test is float64 throughout, so that ties stay ties
EXACT_BELOW = 2048
FEATURES = 4096  # columns of sparse rows that are summed for all permutations at once


@dataclass(frozen=True)
class PermutationTest:
    """Is MMD² larger than when the labels "system" and "reference" are dealt out at random?

    Parameters
    ----------
    statistic : the estimate of MMD² on the samples as given, with this p-value.
    p_value : share of the labellings whose MMD² is at least as large, the given one included: in [1 / (B + 1), 1].
    n_permutations : B.
    null : (B,) MMD² of the random labellings.
    """

    statistic: Estimate
    p_value: float
    n_permutations: int
    null: np.ndarray = field(repr=False)


def mmd2(x: np.ndarray, y: np.ndarray, kernel: Kernel, *, block: int = BLOCK) -> Estimate:
    """How far apart two samples lie: similarity within each minus twice that between them, no point with itself.

    Parameters
    ----------
    x, y : (N, d) and (M, d) points, N, M >= 2: texts of the system and of the reference as vectors. Two float32 arrays
        and the rbf kernel are computed in float32 with float64 sums, all else in float64; float32 is right where no
        point lies hundreds of bandwidths from the mean. With the linear kernel both may be scipy.sparse rows; it is
        computed from sums of vectors in O(N + M).
    kernel : from `kernels`; its bandwidth must not depend on which system is looked at.
    block : rows and columns of a tile; extra memory is a copy of the samples and a few tiles.

    Returns
    -------
    Estimate in the unit of the kernel, by `PairSums.estimate`. Unbiased, so it may be negative, and stays so. Points
    are taken as independent. Its interval leaves out 0 in about 5 % of the samples where q = r; `permutation_test` adds
    an exact p-value.

    Raises
    ------
    DataError for other shapes, values that are not finite, and sparse rows with another kernel.

    References
    ----------
    Gretton et al. 2012, JMLR 13, lemma 6; Flamich et al. 2025, eq. 38 with C = k.

    >>> from .mmd import linear
    >>> mmd2(np.array([[0.0], [2.0]]), np.array([[3.0], [5.0]]), linear()).value
    7.0
    """
    x, y = _samples(x, y, kernel)
    if kernel.name == "linear":
        return _estimate(_linear_sums(x, y), kernel, x)
    noise = _noise(kernel, x, y)
    x, y = scaled_for(kernel, x, y)
    (xx, _), (yy, _), (xy, yx) = (
        _kernel_sums(kernel, a, b, block) for a, b in ((x, None), (y, None), (x, y))
    )
    return _estimate(PairSums(xx, yy, xy, yx, noise), kernel, x)


def permutation_test(
    x: np.ndarray,
    y: np.ndarray,
    kernel: Kernel,
    rng: np.random.Generator,
    n_permutations: int = 500,
    *,
    block: int = BLOCK,
) -> PermutationTest:
    """Could the two samples come from one distribution? MMD² among its values under random labels.

    All labellings are done in one pass over the kernel matrix of the pooled sample, as one product per tile; the
    results are those of computing MMD² anew for every labelling.

    Parameters
    ----------
    x, y, kernel, block : as in `mmd2`.
    rng : deals out the labels. n_permutations : B >= 1; 1 / (B + 1) is the smallest p-value there can be.

    References
    ----------
    Gretton et al. 2012, JMLR 13; Phipson and Smyth 2010 for the 1 in p = (1 + #) / (1 + B).

    >>> from .mmd import rbf
    >>> points = np.arange(12.0)[:, None]
    >>> round(permutation_test(points[:6], points[6:], rbf(2.0), np.random.default_rng(0), 99).p_value, 2)
    0.01
    """
    x, y = _samples(x, y, kernel)
    if n_permutations < 1:
        raise DataError(
            f"n_permutations is {n_permutations}: at least 1 is needed, and 99 for a p-value of "
            "0.01."
        )
    n, m = x.shape[0], y.shape[0]
    if n + m <= EXACT_BELOW:
        x, y = x.astype(np.float64), y.astype(np.float64)
    labels = _labels(n, m, n_permutations, rng)
    is_linear = kernel.name == "linear"
    sums, forms = (
        _linear_forms(x, y, labels) if is_linear else _tiled_forms(kernel, x, y, labels, block)
    )
    value, size = _from_forms(np.concatenate([sums.xx + sums.xy, sums.yy + sums.yx]), forms, labels)
    tie = (1e-9 if x.dtype == np.float32 else 1e-12) * size  # what rounding may have parted
    p = (1 + int((value[1:] >= value[0] - tie).sum())) / (1 + n_permutations)
    return PermutationTest(replace(_estimate(sums, kernel, x), p=p), p, n_permutations, value[1:])


def _samples(x: np.ndarray, y: np.ndarray, kernel: Kernel) -> tuple[np.ndarray, np.ndarray]:
    """Both as (n, d) float arrays of one dtype, or both as float64 rows of scipy.sparse."""
    x, y = points(x, y, kernel.name, least=2)
    if not sparse.issparse(x):
        small = kernel.name == "rbf" and x.dtype == y.dtype == np.float32
        x, y = (np.ascontiguousarray(v, dtype=np.float32 if small else np.float64) for v in (x, y))
    for name, values in (("x", x), ("y", y)):
        if not np.isfinite(np.asarray(values.data if sparse.issparse(values) else values)).all():
            raise DataError(f"{name} holds values that are not finite: leave those points out.")
    return x, y


def _estimate(sums: PairSums, kernel: Kernel, x: np.ndarray) -> Estimate:
    return sums.estimate("MMD²", f"{kernel.signature}|U-statistic|{x.dtype}")


def _noise(kernel: Kernel, x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    a, b = x[spread_rows(x.shape[0])], y[spread_rows(y.shape[0])]
    return pair_noise(kernel.matrix(a, a), kernel.matrix(b, b), kernel.matrix(a, b))


def _kernel_sums(
    kernel: Kernel,
    x: np.ndarray,
    y: np.ndarray | None,
    block: int,
    visit: Callable[[Tile], None] = lambda tile: None,
) -> tuple[np.ndarray, np.ndarray]:
    """(n,) and (m,) sums over the other sample; without y twice the (n,) sums over all other points of x."""
    rows = np.zeros(len(x))
    cols = rows if y is None else np.zeros(len(y))
    for tile in tiles(kernel, x, y, block):
        visit(tile)
        rows[tile.rows] += tile.row_sums
        cols[tile.cols] += tile.col_sums
    return rows, cols


def _linear_sums(x: np.ndarray, y: np.ndarray) -> PairSums:
    """Σ_{j≠i} x_i·x_j = x_i·Σx - |x_i|², and so on."""
    sx, sy = np.asarray(x.sum(0)).ravel(), np.asarray(y.sum(0)).ravel()
    return PairSums(
        x @ sx - _squares(x), y @ sy - _squares(y), x @ sy, y @ sx, _noise(linear(), x, y)
    )


def _squares(x: Any) -> np.ndarray:
    """(n,) |x_i|² of dense or sparse rows."""
    return x.multiply(x).sum(1) if sparse.issparse(x) else np.einsum("id,id->i", x, x)


def _labels(n: int, m: int, n_permutations: int, rng: np.random.Generator) -> np.ndarray:
    """(n + m, 1 + B) of +1/2 for the system and -1/2 for the reference; column 0 as given, the others shuffled."""
    labels = np.full((1 + n_permutations, n + m), 0.5, dtype=np.float32)
    labels[:, n:] = -0.5
    rng.permuted(labels[1:], axis=1, out=labels[1:])
    return np.ascontiguousarray(labels.T)


def _tiled_forms(
    kernel: Kernel, x: np.ndarray, y: np.ndarray, labels: np.ndarray, block: int
) -> tuple[PairSums, np.ndarray]:
    """The sums of `mmd2`; (1 + B,) eᵀKe of every label e, K being the kernel matrix of all points less its diagonal."""
    noise = _noise(kernel, x, y)
    x, y = scaled_for(kernel, x, y)
    of_x, of_y = np.split(labels.astype(x.dtype, copy=False), [len(x)])
    forms = np.zeros(labels.shape[1])

    def add(tile: Tile, rows: np.ndarray, cols: np.ndarray) -> None:
        forms[:] += 2 * np.einsum(
            "ib,ib->b", tile.matrix @ cols[tile.cols], rows[tile.rows], dtype=np.float64
        )

    parts = ((x, None, of_x, of_x), (y, None, of_y, of_y), (x, y, of_x, of_y))
    (xx, _), (yy, _), (xy, yx) = (
        _kernel_sums(kernel, a, b, block, partial(add, rows=rows, cols=cols))
        for a, b, rows, cols in parts
    )
    return PairSums(xx, yy, xy, yx, noise), forms


def _linear_forms(x: np.ndarray, y: np.ndarray, labels: np.ndarray) -> tuple[PairSums, np.ndarray]:
    """The same for the linear kernel, a few features at a time: eᵀKe = |Σ e_i z_i|² - Σ e_i² |z_i|²."""
    z = sparse.vstack([x, y], format="csc") if sparse.issparse(x) else np.concatenate([x, y])
    labels, squares = labels.astype(np.float64), _squares(z)
    forms = np.full(labels.shape[1], -0.25 * squares.sum())
    for f in range(0, z.shape[1], FEATURES):
        forms += np.square(z[:, f : f + FEATURES].T @ labels).sum(0)
    return _linear_sums(x, y), forms


def _from_forms(
    sums: np.ndarray, forms: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, float]:
    """(1 + B,) MMD² of every label from row sums of K and eᵀKe, and the size of the numbers that were added up for it.

    With e = ±1/2, u all ones and K without its diagonal: the pairs within x add up to (u/2 + e)ᵀK(u/2 + e), those
    within y to (u/2 - e)ᵀK(u/2 - e), those between to (u/2 + e)ᵀK(u/2 - e).
    """
    n = int((labels[:, 0] > 0).sum())
    m = len(labels) - n
    quarter, line = sums.sum() / 4, sums @ labels.astype(np.float64)
    within, between = quarter + forms, quarter - forms
    value = (
        (within + line) / (n * (n - 1)) + (within - line) / (m * (m - 1)) - 2 * between / (n * m)
    )
    size = (abs(quarter) + np.abs(forms).max() + np.abs(line).max()) * (
        1 / (n * (n - 1)) + 1 / (m * (m - 1))
    )
    return value, float(size)
