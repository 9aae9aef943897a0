"""Random critics of Gaussian process type (Appendix E): f = g, exp(g) or Φ(g) of a Gaussian process g, one per draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from .. import checks
from ..errors import DataError
from ..estimate import Estimate
from ..intervals import student
from .critics import power_mean, power_mean_se
from .normals import folded_norm, probit_second_moment

LINKS = {"identity": lambda g: g, "exp": np.exp, "probit": ndtr}
LARGEST = 700.0  # e to this is a little below the most that float64 holds
DIAGONAL = 64  # texts at a time where only k(x, x) is wanted of a kernel that gives whole matrices


@dataclass(frozen=True)
class CriticProcess:
    """Critics drawn at random: a Gaussian process g with mean m and covariance k, and how a critic f comes from it.

    Parameters
    ----------
    link : "identity" f = g; "exp" f = exp(g) > 0 (log-GP); "probit" f = Φ(g) in (0, 1).
    mean : (Y,) m of each outcome of a finite space, or a function from N texts to (N,).
    cov : (Y, Y) k of all pairs of outcomes, or a function from N and M texts to (N, M). The same text twice has the
        same score, so k(x, x) belongs there, too.

    Raises
    ------
    UnknownName for a link; DataError for arrays that do not fit, are not finite or not symmetric.
    """

    link: str
    mean: Any  # ArrayLike | Callable[[Sequence], np.ndarray]
    cov: Any  # ArrayLike | Callable[[Sequence, Sequence], np.ndarray]

    def __post_init__(self) -> None:
        checks.one_of(self.link, LINKS, "link of a critic process")
        if callable(self.mean) != callable(self.cov):
            raise DataError(
                "mean and cov must both be arrays over the outcomes, or both be functions of texts."
            )
        if self.finite:
            m = checks.finite("mean", self.mean)
            object.__setattr__(self, "mean", m)
            object.__setattr__(self, "cov", checks.symmetric("cov", self.cov, len(m)))

    @property
    def finite(self) -> bool:
        """Whether mean and covariance are given for each outcome of a finite space; texts are then 0..Y-1."""
        return not callable(self.mean)

    def mean_at(self, x: Sequence | np.ndarray) -> np.ndarray:
        """(N,) m(x)."""
        return (
            self.mean[self._seen(x)] if self.finite else np.asarray(self.mean(x), dtype=np.float64)
        )

    def cov_at(self, x: Sequence | np.ndarray, y: Sequence | np.ndarray) -> np.ndarray:
        """(N, M) k(x, y)."""
        if self.finite:
            return self.cov[np.ix_(self._seen(x), self._seen(y))]
        return np.asarray(self.cov(x, y), dtype=np.float64)

    def variance_at(self, x: Sequence | np.ndarray) -> np.ndarray:
        """(N,) k(x, x)."""
        blocks = (x[i : i + DIAGONAL] for i in range(0, len(x), DIAGONAL))
        return np.concatenate(
            [np.empty(0), *(np.diagonal(self.cov_at(block, block)) for block in blocks)]
        )

    def _seen(self, x: Sequence | np.ndarray) -> np.ndarray:
        """(N,) outcomes of the finite space; a DataError for what is none."""
        x, n = np.asarray(x), len(self.mean)
        if x.ndim != 1 or (x.size and x.dtype.kind not in "iu"):
            raise DataError(
                f"outcomes must be whole numbers in a row, got shape {x.shape} of {x.dtype}."
            )
        bad = np.flatnonzero((x < 0) | (x >= n))
        if bad.size:
            raise DataError(
                f"text {bad[0]} is outcome {x[bad[0]]}, but the process has the outcomes 0 to "
                f"{n - 1}."
            )
        return x.astype(np.int64, copy=False)


def first_moment(process: CriticProcess, x: Sequence | None = None) -> np.ndarray:
    """(N,) E f(x), the score that texts get on average over the critics; all outcomes if x is not given.

    References
    ----------
    Flamich et al. 2025, eq. 53 (log-GP); E Φ(g) = Φ(m / √(1 + k)) (probit).
    """
    x = _outcomes(process) if x is None else x
    m, v = process.mean_at(x), process.variance_at(x)
    if process.link == "probit":
        return ndtr(m / np.sqrt(1 + v))
    return np.exp(m + v / 2) if process.link == "exp" else m


def second_moment(
    process: CriticProcess, x: Sequence | None = None, y: Sequence | None = None
) -> np.ndarray:
    """(N, M) C(x, y) = E f(x) f(y), how critics score two texts together; all pairs of outcomes if none are given.

    References
    ----------
    Flamich et al. 2025, eqs. 35, 54 (log-GP), 60 (probit); k + m mᵀ for the Gaussian process itself.

    >>> second_moment(CriticProcess("identity", [1.0, 2.0], [[1.0, 0.5], [0.5, 1.0]]))
    array([[2. , 2.5],
           [2.5, 5. ]])
    """
    x = _outcomes(process) if x is None else x
    y = x if y is None else y
    return pair_moment(
        process,
        (x, process.mean_at(x), process.variance_at(x)),
        (y, process.mean_at(y), process.variance_at(y)),
    )


def pair_moment(process: CriticProcess, x: tuple, y: tuple) -> np.ndarray:
    """(N, M) C from (texts, m, k(x, x)) of either side, so that these are computed once for many blocks of pairs.

    Parameters
    ----------
    x, y : (texts, (N,) m, (N,) k(x, x)) of either side.
    """
    (x, mx, vx), (y, my, vy), k = x, y, process.cov_at(x[0], y[0])
    if process.link == "probit":
        return probit_second_moment(mx, vx, my, vy, k)
    if process.link == "identity":
        return k + mx[:, None] * my
    log = (mx + vx / 2)[:, None] + (my + vy / 2) + k
    if log.max(initial=0) > LARGEST:
        raise DataError(
            f"E f(x) f(y) would be e^{log.max():.4g}: means or variances are too large for exp "
            "critics."
        )
    return np.exp(log)


def draw_critics(process: CriticProcess, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, Y) the scores that n critics, drawn from the process, give to each outcome of a finite space.

    Raises
    ------
    DataError where the covariance is not positive semi-definite, with its most negative eigenvalue.
    """
    return _drawn(process, _root(process), n, rng)


def _root(process: CriticProcess) -> np.ndarray:
    """(Y, Y) A with k = A Aᵀ."""
    _outcomes(process)
    values, vectors = np.linalg.eigh(process.cov)
    if values[0] < -1e-10 * max(abs(values[0]), abs(values[-1])):
        raise DataError(
            f"the covariance is no kernel: its smallest eigenvalue is {values[0]:.4g}, it must not "
            "be below 0."
        )
    return vectors * np.sqrt(np.maximum(values, 0))


def _drawn(
    process: CriticProcess, root: np.ndarray, n: int, rng: np.random.Generator
) -> np.ndarray:
    return LINKS[process.link](process.mean + rng.standard_normal((n, len(root))) @ root.T)


def estimate_distance(
    q: ArrayLike,
    r: ArrayLike,
    process: CriticProcess,
    rng: np.random.Generator,
    *,
    power: float = 1,
    n_critics: int = 10_000,
) -> Estimate:
    """D_p between two distributions known exactly, from critics drawn from the process; see `draw_critics`.

    Parameters
    ----------
    q, r : (Y,) probabilities of the process's outcomes: the system's marginal, the reference.
    rng, n_critics : the randomness, and how many critics are drawn, at least 2.
    power : p in (0, ∞).

    Returns
    -------
    Estimate; n and n_r are 0, for q and r are no samples: its error and its interval are those of drawing critics.

    References
    ----------
    Flamich et al. 2025, eqs. 4, 31.
    """
    q, r = checks.pmf_pair(q, r)
    _same_outcomes(process, q)
    if n_critics < 2:
        raise DataError(f"n_critics is {n_critics}: at least 2 are needed to say how they differ.")
    root, step = _root(process), max(1, 2**22 // len(q))
    sizes = [min(step, n_critics - i) for i in range(0, n_critics, step)]
    gaps = np.concatenate([_drawn(process, root, size, rng) @ (q - r) for size in sizes])
    bias = "unbiased" if power == 1 else f"{'downward' if power > 1 else 'upward'} by O(1/K)"
    bias += f" over K = {n_critics} drawn critics"
    signature = f"D_p|p:{power:g}|link:{process.link}|critics:{n_critics} drawn"
    value, se = power_mean(gaps, power), power_mean_se(gaps, power)
    low, high = (float(end) for end in student(value, se, n_critics))
    return Estimate(
        f"D_{power:g}",
        value,
        low=low,
        high=high,
        se=se,
        unit="score",
        signature=signature,
        bias=bias,
    )


def gp_distance(q: ArrayLike, r: ArrayLike, process: CriticProcess, *, power: float = 1) -> float:
    """D_p for critics that are a Gaussian process, without drawing any: the size of a normal number N(μ, σ²).

    μ = E_q m - E_r m is what critics see on average, σ = MMD_k(q, r) how much they differ in it.

    Parameters
    ----------
    q, r : (Y,) probabilities of the process's outcomes.
    process : of link "identity".
    power : p in (0, ∞]. D_∞ is infinite where σ > 0: some critic, however rare, sees any difference.

    References
    ----------
    Flamich et al. 2025, Theorem E.3, eq. 45, with eqs. 46 and 52 as in the errata: see `folded_norm`.

    >>> round(gp_distance([1, 0], [0, 1], CriticProcess("identity", [0, 0], [[1, 0], [0, 1]]), power=2), 12)  # √2 = MMD
    1.414213562373
    """
    q, r = checks.pmf_pair(q, r)
    _same_outcomes(process, q)
    if process.link != "identity":
        raise DataError(
            f"only the identity link has a closed D_p, got {process.link}: use memed, or "
            "estimate_distance."
        )
    mmd = math.sqrt(max(0.0, quadratic_form(q - r, process.cov)))
    return folded_norm(float(process.mean @ (q - r)), mmd, power)


def quadratic_form(d: np.ndarray, matrix: np.ndarray) -> float:
    """dᵀ K d; rounding may leave it a little below 0, more than that says that K is no kernel and is refused.

    Parameters
    ----------
    d : (Y,). matrix : (Y, Y) K.
    """
    value, scale = float(d @ matrix @ d), float(np.abs(d) @ np.abs(matrix) @ np.abs(d))
    if not value >= -1e-12 * scale or math.isinf(value):
        raise DataError(
            f"a squared distance is {value:.4g}: the matrix is not a positive kernel, or not "
            "finite."
        )
    return value


def _outcomes(process: CriticProcess) -> np.ndarray:
    if not process.finite:
        raise DataError(
            "this needs a finite space: give mean (Y,) and cov (Y, Y), or the texts at which to "
            "look."
        )
    return np.arange(len(process.mean))


def _same_outcomes(process: CriticProcess, q: np.ndarray) -> None:
    checks.same_length(outcomes=_outcomes(process), q=q)
