"""Kernels: how alike two points are. A kernel that is positive semi-definite makes MMD² a squared distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist, pdist

from .. import checks
from ..errors import DataError

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
