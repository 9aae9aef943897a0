"""MMD² from samples: the unbiased U-statistic and its permutation test, in tiles, without a full kernel matrix."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist

from .. import checks
from ..errors import DataError
from ..estimate import Estimate
from .samples import Visit, _pair_noise, _PairSums, _spread_rows, _sums_by_tile


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
        """(n, m) similarities of (n, d) and (m, d) points; sparse rows with the linear kernel only.

        float64, but float32 of the rbf kernel of two float32 arrays.

        >>> rbf(1.0).matrix([[0.0], [2.0]], [[0.0]]).round(4).ravel().tolist()
        [1.0, 0.1353]
        """
        x, y = _points(x, y, self.name)
        if sparse.issparse(x):
            return (x @ y.T).toarray()
        small = self.name == "rbf" and x.dtype == y.dtype == np.float32
        kind: Any = np.float32 if small else np.float64
        x, y = (np.asarray(v, dtype=kind) for v in (x, y))
        return x @ y.T if self.name == "linear" else _rbf(x, y, self.bandwidth)


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


def mmd2(x: np.ndarray, y: np.ndarray, kernel: _Kernel) -> Estimate:
    """MMD²: similarity within two samples minus twice that between them, no point with itself.

    Parameters
    ----------
    x, y : array
        (N, d) and (M, d) finite points, N, M >= 2: texts of the system and of the reference as vectors. The rbf kernel
        of two float32 arrays is computed in float32 with float64 sums, all else in float64; float32 suffices unless
        points are hundreds of bandwidths from the mean. The linear kernel also takes scipy.sparse rows, in O(N + M).
    kernel : Kernel
        Its bandwidth must be the same for all compared systems.

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
    pairs = ((x, None), (y, None), (x, y))
    (xx, _), (yy, _), (xy, yx) = (_kernel_sums(kernel, *pair) for pair in pairs)
    return _estimate(_PairSums(xx, yy, xy, yx, _noise(kernel, x, y)), kernel, x)


def permutation_test(
    x: np.ndarray,
    y: np.ndarray,
    kernel: _Kernel,
    rng: np.random.Generator,
    n_permutations: int = 500,
) -> _PermutationTest:
    """Permutation test of equal distributions: MMD² among its values under random labels.

    All labellings take one pass over the kernel matrix of the pooled sample, as one product per tile.

    Parameters
    ----------
    x, y, kernel : array, array, Kernel
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
    of_labels = _linear_forms if kernel.name == "linear" else partial(_tiled_forms, kernel)
    sums, forms = of_labels(x, y, labels)
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
    a, b = (v[_spread_rows(v.shape[0])].astype(np.float64) for v in (x, y))
    return _pair_noise(kernel.matrix(a, a), kernel.matrix(b, b), kernel.matrix(a, b))


def _kernel_sums(
    kernel: _Kernel, x: np.ndarray, y: np.ndarray | None, visit: Visit | None = None
) -> tuple[np.ndarray, np.ndarray]:
    other, m = (x, None) if y is None else (y, len(y))
    return _sums_by_tile(len(x), m, lambda a, b: kernel.matrix(x[a], other[b]), visit)


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
    kernel: _Kernel, x: np.ndarray, y: np.ndarray, labels: np.ndarray
) -> tuple[_PairSums, np.ndarray]:
    """The sums of `mmd2`, and (1 + B,) eᵀKe of every label e, with K the kernel matrix without its diagonal."""
    of_x, of_y = np.split(labels.astype(x.dtype, copy=False), [len(x)])
    forms = np.zeros(labels.shape[1])

    def add(a: slice, b: slice, c: np.ndarray, rows: np.ndarray, cols: np.ndarray) -> None:
        forms[:] += 2 * np.einsum("ib,ib->b", c @ cols[b], rows[a], dtype=np.float64)

    parts = ((x, None, of_x, of_x), (y, None, of_y, of_y), (x, y, of_x, of_y))
    (xx, _), (yy, _), (xy, yx) = (
        _kernel_sums(kernel, a, b, partial(add, rows=rows, cols=cols)) for a, b, rows, cols in parts
    )
    return _PairSums(xx, yy, xy, yx, _noise(kernel, x, y)), forms


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
