"""MMD² from samples: the unbiased U-statistic and its permutation test, in tiles, without a full kernel matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import DataError
from ..estimate import Estimate
from .kernels import Kernel, linear, points
from .pairs import PairSums, pair_noise, spread_rows
from .tiles import Tile, scaled_for, tiles

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

    >>> from .kernels import linear
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

    >>> from .kernels import rbf
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
