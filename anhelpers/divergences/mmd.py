"""MMD² from samples: the unbiased U-statistic and its permutation test, in tiles, without a full kernel matrix."""

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist

from .. import checks
from .._lazy import compiled, cores
from ..errors import DataError
from ..estimate import Estimate
from .samples import _pair_noise, _PairSums, _spread_rows


@dataclass(frozen=True)
class _Kernel:
    """A similarity of two points of R^d, made by `rbf` or `linear`.

    Parameters
    ----------
    name : str
        "rbf", exp(-|x - y|² / (2 b²)) with the Euclidean norm; "linear", x · y.
    bandwidth : float
        b > 0 in the unit of the points; nan for the linear kernel.
    """

    name: str
    bandwidth: float = float("nan")

    def __post_init__(self) -> None:
        if self.name != "linear" and not 0 < self.bandwidth < np.inf:
            raise DataError(f"got bandwidth {self.bandwidth}, expected a finite number above 0.")

    @property
    def signature(self) -> str:
        """Name and bandwidth, such as "rbf|bandwidth:0.5"."""
        return "linear" if self.name == "linear" else f"{self.name}|bandwidth:{self.bandwidth:.6g}"

    def matrix(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """(n, m) float64 similarities of (n, d) and (m, d) points; sparse rows with the linear kernel only.

        >>> rbf(1.0).matrix([[0.0], [2.0]], [[0.0]]).round(4).ravel().tolist()
        [1.0, 0.1353]
        """
        x, y = _points(x, y, self.name)
        if sparse.issparse(x):
            return (x @ y.T).toarray()
        x, y = x.astype(np.float64, copy=False), y.astype(np.float64, copy=False)
        if self.name == "linear":
            return x @ y.T
        return _rbf(x, y, self.bandwidth)


def _points(
    x: np.ndarray, y: np.ndarray, kernel: str, least: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """(N, d) and (M, d) points, N, M ≥ `least`: both arrays, or for the linear kernel both float64 sparse arrays."""
    thin = [sparse.issparse(v) for v in (x, y)]
    if any(thin) and (not all(thin) or kernel != "linear"):
        raise DataError(f"sparse samples: got one or kernel {kernel}, expected two and linear.")
    x, y = (sparse.csr_array(v, dtype=np.float64) if all(thin) else np.asarray(v) for v in (x, y))
    if not x.ndim == y.ndim == 2 or x.shape[1] != y.shape[1] or min(x.shape[0], y.shape[0]) < least:
        raise DataError(f"samples must be (≥ {least}, d) points, got {x.shape} and {y.shape}.")
    return x, y


def _rbf(x: np.ndarray, y: np.ndarray, bandwidth: float) -> np.ndarray:
    """By one matrix product, shifted first so that little cancels in |x|² + |y|² - 2 x·y."""
    middle = x.mean(0)
    x, y = (x - middle) / bandwidth, (y - middle) / bandwidth
    out = x @ y.T
    out -= 0.5 * np.einsum("id,id->i", x, x)[:, None]
    out -= 0.5 * np.einsum("id,id->i", y, y)
    np.minimum(out, 0, out=out)
    return np.exp(out, out=out)


def rbf(bandwidth: float) -> _Kernel:
    """The Gaussian kernel exp(-|x - y|² / (2 b²)), Euclidean norm."""
    return _Kernel("rbf", float(bandwidth))


def linear() -> _Kernel:
    """The linear kernel x · y: its MMD is the distance of the two mean vectors."""
    return _Kernel("linear")


def median_bandwidth(
    x: np.ndarray, y: np.ndarray, rng: np.random.Generator, n: int = 1000
) -> float:
    """Median Euclidean distance of two points in a random subsample of both samples together.

    A bandwidth that depends on the data is part of the estimate: report n and the seed of rng with it, and use one for
    all compared systems.

    Parameters
    ----------
    x, y : array
        (N, d) and (M, d) points.
    rng, n : Generator, int
        Draws min(n, N + M) of the N + M points without replacement.

    Raises
    ------
    DataError
        The median is 0 (more than half of the points are equal) or not finite.

    >>> median_bandwidth([[0.0], [1.0]], [[3.0]], np.random.default_rng(0))
    2.0
    """
    x, y = _points(x, y, "rbf")
    rows = np.sort(rng.choice(len(x) + len(y), min(n, len(x) + len(y)), replace=False))
    some = np.concatenate([x[rows[rows < len(x)]], y[rows[rows >= len(x)] - len(x)]])
    middle = float(np.median(pdist(some))) if len(some) > 1 else np.nan
    if not 0 < middle < np.inf:
        raise DataError(f"the median distance is {middle}. Give a bandwidth above 0.")
    return middle


# 2^f = Σ (f ln 2)^k / k! for |f| <= 1/2: eight terms are right to 5e-9, below what float32 can hold.
_C0, _C1, _C2, _C3, _C4, _C5, _C6, _C7 = (
    np.float32(math.log(2) ** k / math.factorial(k)) for k in range(8)
)
_HALF, _LEAST, _BIAS, _MANTISSA = np.float32(0.5), np.float32(-126), np.int32(127), np.int32(23)


class _Tile(NamedTuple):
    """Similarities of the points `rows` of x and `cols` of y, overwritten by the next tile.

    matrix : (a, b); if x is y, only the pairs above the diagonal are not 0. row_sums, col_sums : (a,), (b,) float64.
    """

    rows: slice
    cols: slice
    matrix: np.ndarray
    row_sums: np.ndarray
    col_sums: np.ndarray


# rows, columns, and whether it is on the diagonal of x with x
_MakeTile = Callable[[slice, slice, bool], _Tile]


def _scaled_for(kernel: _Kernel, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Float32 points shifted by their mean and scaled, so that rbf(x, y) = 2^(-|x - y|²/2); others as given."""
    if not _is_fast(kernel, x):
        return x, y
    total = x.sum(0, dtype=np.float64) + y.sum(0, dtype=np.float64)
    middle = (total / (len(x) + len(y))).astype(np.float32)
    scale = np.float32(1 / (kernel.bandwidth * math.sqrt(math.log(2))))
    return (x - middle) * scale, (y - middle) * scale


def _tiles(kernel: _Kernel, x: np.ndarray, y: np.ndarray | None, block: int) -> Iterator[_Tile]:
    """Every pair of a point of x and of y in one tile; without y, every pair of two different points of x once.

    rbf in float32 is computed as such, with sums in float64; everything else in float64.
    """
    other = x if y is None else y
    with ThreadPoolExecutor(cores()) as pool:
        make = _rbf32(x, other, block, pool) if _is_fast(kernel, x) else _float64(kernel, x, other)
        for i in range(0, len(x), block):
            for j in range(i if y is None else 0, len(other), block):
                yield make(slice(i, i + block), slice(j, j + block), y is None and i == j)


def _is_fast(kernel: _Kernel, x: np.ndarray) -> bool:
    return kernel.name == "rbf" and x.dtype == np.float32


def _float64(kernel: _Kernel, x: np.ndarray, y: np.ndarray) -> _MakeTile:
    def make(rows: slice, cols: slice, diagonal: bool) -> _Tile:
        matrix = kernel.matrix(x[rows], y[cols])
        matrix = np.triu(matrix, 1) if diagonal else matrix
        return _Tile(rows, cols, matrix, matrix.sum(1), matrix.sum(0))

    return make


def _rbf32(x: np.ndarray, y: np.ndarray, block: int, pool: ThreadPoolExecutor) -> _MakeTile:
    """One matrix product into a buffer that is used again, then 2^ and both sums in one pass over its rows."""
    half_x, half_y = (0.5 * np.einsum("id,id->i", v, v, dtype=np.float64) for v in (x, y))
    half_x, half_y = half_x.astype(np.float32), half_y.astype(np.float32)
    buffer = np.empty(min(block, len(x)) * min(block, len(y)), dtype=np.float32)
    workers = cores()

    def make(rows: slice, cols: slice, diagonal: bool) -> _Tile:
        a, b = x[rows], y[cols]
        out = np.dot(a, b.T, out=buffer[: len(a) * len(b)].reshape(len(a), len(b)))
        row_sums, col_sums = np.zeros(len(a)), np.zeros((workers, len(b)))
        cuts = np.linspace(0, len(a), workers + 1).astype(int)

        def part(w: int) -> None:
            k, first = slice(cuts[w], cuts[w + 1]), cuts[w] + 1 if diagonal else 0
            halves = half_x[rows][k], half_y[cols]
            _powers_of_two(out[k], *halves, row_sums[k], col_sums[w], first, diagonal)

        list(pool.map(part, range(workers)))
        return _Tile(rows, cols, out, row_sums, col_sums.sum(0))

    return make


# adds in vectors
@compiled(error_model="numpy", fastmath={"reassoc", "nsz", "contract"})
def _powers_of_two(
    out: Any, half_x: Any, half_y: Any, row_sums: Any, col_sums: Any, first: int, diagonal: bool
) -> None:
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
            # 2^-126 instead of numbers that are too small
            t = t if t > _LEAST else _LEAST
            n = np.int32(t - _HALF)
            f = t - np.float32(n)
            p = (
                (((((_C7 * f + _C6) * f + _C5) * f + _C4) * f + _C3) * f + _C2) * f + _C1
            ) * f + _C0
            right[j] = p * np.int32((n + _BIAS) << _MANTISSA).view(np.float32)
        total = 0.0
        for j in range(right.shape[0]):
            total += right[j]
            cols[j] += right[j]
        row_sums[i] += total


BLOCK = 1024  # a tile of float32 is 4 MiB and stays in the cache
# up to so many points the permutation test is float64, so that ties stay ties
_EXACT_BELOW = 2048
# columns of sparse rows that are summed for all permutations at once
_FEATURES = 4096


@dataclass(frozen=True)
class _PermutationTest:
    """Test of MMD² against random assignments of the labels "system" and "reference".

    Parameters
    ----------
    statistic : Estimate
        MMD² of the samples, with this p-value.
    p_value : float
        Share of the B + 1 labellings, the given one included, whose MMD² is at least as large.
    null : array
        (B,) MMD² of the random labellings.
    """

    statistic: Estimate
    p_value: float
    null: np.ndarray = field(repr=False)


def mmd2(x: np.ndarray, y: np.ndarray, kernel: _Kernel, *, block: int = BLOCK) -> Estimate:
    """MMD²: similarity within two samples minus twice that between them, no point with itself.

    Parameters
    ----------
    x, y : array
        (N, d) and (M, d) finite points, N, M >= 2: texts of the system and of the reference as vectors. The rbf kernel
        of two float32 arrays is computed in float32 with float64 sums, all else in float64; float32 suffices unless
        points are hundreds of bandwidths from the mean. The linear kernel also takes scipy.sparse rows, in O(N + M).
    kernel : Kernel
        Its bandwidth must be the same for all compared systems.
    block : int
        Rows and columns of a tile; extra memory is a copy of the samples and a few tiles.

    Returns
    -------
    Estimate in the unit of the kernel, unbiased, so it may be negative. Points are taken as independent. If q = r, its
    interval excludes 0 in about 5 % of the samples; `permutation_test` adds an exact p-value.

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
    x, y = _scaled_for(kernel, x, y)
    pairs = ((x, None), (y, None), (x, y))
    (xx, _), (yy, _), (xy, yx) = (_kernel_sums(kernel, a, b, block) for a, b in pairs)
    return _estimate(_PairSums(xx, yy, xy, yx, noise), kernel, x)


def permutation_test(
    x: np.ndarray,
    y: np.ndarray,
    kernel: _Kernel,
    rng: np.random.Generator,
    n_permutations: int = 500,
    *,
    block: int = BLOCK,
) -> _PermutationTest:
    """Permutation test of equal distributions: MMD² among its values under random labels.

    All labellings take one pass over the kernel matrix of the pooled sample, as one product per tile.

    Parameters
    ----------
    x, y, kernel, block : array, array, Kernel, int
        As in `mmd2`.
    rng : Generator
        Assigns the labels.
    n_permutations : int
        B >= 1; the smallest possible p-value is 1 / (B + 1).

    References
    ----------
    Gretton et al. 2012, JMLR 13; Phipson and Smyth 2010 for the 1 in p = (1 + #) / (1 + B).

    >>> from .mmd import rbf
    >>> points = np.arange(12.0)[:, None]
    >>> round(permutation_test(points[:6], points[6:], rbf(2.0), np.random.default_rng(0), 99).p_value, 2)
    0.01
    """
    x, y = _samples(x, y, kernel)
    n_permutations = checks.whole("n_permutations", n_permutations)
    n, m = x.shape[0], y.shape[0]
    if n + m <= _EXACT_BELOW:
        x, y = x.astype(np.float64), y.astype(np.float64)
    labels = _labels(n, m, n_permutations, rng)
    is_linear = kernel.name == "linear"
    sums, forms = (
        _linear_forms(x, y, labels) if is_linear else _tiled_forms(kernel, x, y, labels, block)
    )
    value, size = _from_forms(np.concatenate([sums.xx + sums.xy, sums.yy + sums.yx]), forms, labels)
    # rounding of equal values
    tie = (1e-9 if x.dtype == np.float32 else 1e-12) * size
    p = (1 + int((value[1:] >= value[0] - tie).sum())) / (1 + n_permutations)
    return _PermutationTest(replace(_estimate(sums, kernel, x), p=p), p, value[1:])


def _samples(x: np.ndarray, y: np.ndarray, kernel: _Kernel) -> tuple[np.ndarray, np.ndarray]:
    """Both as (n, d) float arrays of one dtype, or both as float64 rows of scipy.sparse."""
    x, y = _points(x, y, kernel.name, least=2)
    if not sparse.issparse(x):
        small = kernel.name == "rbf" and x.dtype == y.dtype == np.float32
        x, y = (np.ascontiguousarray(v, dtype=np.float32 if small else np.float64) for v in (x, y))
    for name, values in (("x", x), ("y", y)):
        if not np.isfinite(np.asarray(values.data if sparse.issparse(values) else values)).all():
            raise DataError(f"{name} is not finite everywhere. Leave those points out.")
    return x, y


def _estimate(sums: _PairSums, kernel: _Kernel, x: np.ndarray) -> Estimate:
    return sums.estimate("MMD²", f"{kernel.signature}|U-statistic|{x.dtype}")


def _noise(kernel: _Kernel, x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    a, b = x[_spread_rows(x.shape[0])], y[_spread_rows(y.shape[0])]
    return _pair_noise(kernel.matrix(a, a), kernel.matrix(b, b), kernel.matrix(a, b))


def _kernel_sums(
    kernel: _Kernel,
    x: np.ndarray,
    y: np.ndarray | None,
    block: int,
    visit: Callable[[_Tile], None] = lambda tile: None,
) -> tuple[np.ndarray, np.ndarray]:
    """(n,) and (m,) sums over the other sample; without y twice the (n,) sums over all other points of x."""
    rows = np.zeros(len(x))
    cols = rows if y is None else np.zeros(len(y))
    for tile in _tiles(kernel, x, y, block):
        visit(tile)
        rows[tile.rows] += tile.row_sums
        cols[tile.cols] += tile.col_sums
    return rows, cols


def _linear_sums(x: np.ndarray, y: np.ndarray) -> _PairSums:
    """Σ_{j≠i} x_i·x_j = x_i·Σx - |x_i|², and so on."""
    sx, sy = np.asarray(x.sum(0)).ravel(), np.asarray(y.sum(0)).ravel()
    within = x @ sx - _squares(x), y @ sy - _squares(y)
    return _PairSums(*within, x @ sy, y @ sx, _noise(linear(), x, y))


def _squares(x: Any) -> np.ndarray:
    """(n,) |x_i|² of dense or sparse rows."""
    return x.multiply(x).sum(1) if sparse.issparse(x) else np.einsum("id,id->i", x, x)


def _labels(n: int, m: int, n_permutations: int, rng: np.random.Generator) -> np.ndarray:
    """(n + m, 1 + B) labels, +1/2 for the system and -1/2 for the reference; column 0 as given, the others shuffled."""
    labels = np.full((1 + n_permutations, n + m), 0.5, dtype=np.float32)
    labels[:, n:] = -0.5
    rng.permuted(labels[1:], axis=1, out=labels[1:])
    return np.ascontiguousarray(labels.T)


def _tiled_forms(
    kernel: _Kernel, x: np.ndarray, y: np.ndarray, labels: np.ndarray, block: int
) -> tuple[_PairSums, np.ndarray]:
    """The sums of `mmd2`, and (1 + B,) eᵀKe of every label e, with K the kernel matrix without its diagonal."""
    noise = _noise(kernel, x, y)
    x, y = _scaled_for(kernel, x, y)
    of_x, of_y = np.split(labels.astype(x.dtype, copy=False), [len(x)])
    forms = np.zeros(labels.shape[1])

    def add(tile: _Tile, rows: np.ndarray, cols: np.ndarray) -> None:
        product = tile.matrix @ cols[tile.cols]
        forms[:] += 2 * np.einsum("ib,ib->b", product, rows[tile.rows], dtype=np.float64)

    parts = ((x, None, of_x, of_x), (y, None, of_y, of_y), (x, y, of_x, of_y))
    (xx, _), (yy, _), (xy, yx) = (
        _kernel_sums(kernel, a, b, block, partial(add, rows=rows, cols=cols))
        for a, b, rows, cols in parts
    )
    return _PairSums(xx, yy, xy, yx, noise), forms


def _linear_forms(x: np.ndarray, y: np.ndarray, labels: np.ndarray) -> tuple[_PairSums, np.ndarray]:
    """The same for the linear kernel, a few features at a time: eᵀKe = |Σ e_i z_i|² - Σ e_i² |z_i|²."""
    z = sparse.vstack([x, y], format="csc") if sparse.issparse(x) else np.concatenate([x, y])
    labels, squares = labels.astype(np.float64), _squares(z)
    forms = np.full(labels.shape[1], -0.25 * squares.sum())
    for f in range(0, z.shape[1], _FEATURES):
        forms += np.square(z[:, f : f + _FEATURES].T @ labels).sum(0)
    return _linear_sums(x, y), forms


def _from_forms(
    sums: np.ndarray, forms: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, float]:
    """(1 + B,) MMD² of every label from row sums of K and eᵀKe, and the size of the added numbers.

    With e = ±1/2, u all ones and K without its diagonal: the pairs within x add up to (u/2 + e)ᵀK(u/2 + e), those
    within y to (u/2 - e)ᵀK(u/2 - e), those between to (u/2 + e)ᵀK(u/2 - e).
    """
    n = int((labels[:, 0] > 0).sum())
    m = len(labels) - n
    quarter, line = sums.sum() / 4, sums @ labels.astype(np.float64)
    within, between = quarter + forms, quarter - forms
    of_x, of_y = n * (n - 1), m * (m - 1)
    value = (within + line) / of_x + (within - line) / of_y - 2 * between / (n * m)
    size = (abs(quarter) + np.abs(forms).max() + np.abs(line).max()) * (1 / of_x + 1 / of_y)
    return value, float(size)
