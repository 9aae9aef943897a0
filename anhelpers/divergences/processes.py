"""Random critics of Gaussian process type (Appendix E): f = g, exp(g) or Φ(g) of a Gaussian process g, one per draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, gammaln, hyp1f1, ndtr, owens_t

from .. import checks
from ..bootstrap import student
from ..errors import DataError
from ..estimate import Estimate
from .critics import power_mean, power_mean_se
from .samples import PairSums, pair_noise, spread_rows

# above this p or |μ|/σ the power's kink at 0 carries no weight, and sums over a grid are exact
SADDLE = 30.0
CERTAIN = 1e9  # above this |μ|/σ (times 1 + √p) the randomness changes no digit


def folded_norm(mu: float, sigma: float, power: float = 1) -> float:
    """(E|σε + μ|^p)^(1/p), ε standard normal: the mean size of a normal number for p = 1, √(μ² + σ²) for p = 2.

    Parameters
    ----------
    mu, sigma : mean and standard deviation, σ ≥ 0. For σ = 0 this is |μ|.
    power : p in (0, ∞].

    Returns
    -------
    float ≥ 0 in the unit of μ; for p ≥ 0.1 right to a relative 1e-12, also where the p-th moment itself overflows.

    References
    ----------
    Flamich et al. 2025, eqs. 50 and 51; eq. 46 with μ (1 - 2Φ(-μ/σ)) in its last term, and eq. 52 as
    σ √2 (Γ((1 + p)/2) / √π)^(1/p), of which eq. 47 is the limit.

    >>> round(folded_norm(2, 0.5), 4), round(folded_norm(0, 1, 3), 4)
    (2.0, 1.1686)
    """
    if not (math.isfinite(mu) and math.isfinite(sigma) and sigma >= 0 and power > 0):
        raise DataError(
            f"a folded normal needs finite μ, σ ≥ 0 and p > 0, got {mu}, {sigma} and {power}."
        )
    if sigma and math.isinf(power):
        return math.inf
    if sigma == 0 or sigma * CERTAIN * (1 + math.sqrt(power)) <= abs(mu):
        return abs(mu)
    s = abs(mu) / sigma
    if power == 1:
        return sigma * math.sqrt(2 / math.pi) * math.exp(-s * s / 2) + mu * float(
            erf(mu / sigma / math.sqrt(2))
        )
    if power == 2:
        return math.hypot(mu, sigma)
    if power > SADDLE or s > SADDLE:
        return sigma * _by_grid(s, power)
    log_moment = (
        gammaln((1 + power) / 2)
        - math.log(math.pi) / 2
        + math.log(hyp1f1(-power / 2, 0.5, -s * s / 2))
    )
    return sigma * math.sqrt(2) * math.exp(log_moment / power)


def _by_grid(s: float, power: float) -> float:
    """(E|ε + s|^p)^(1/p): sums over fine grids around the peak t = R of t^p φ(t - s), and t = L of t^p φ(t + s).

    R L = p and R - L = s, so that all can be written relative to the first peak: nothing overflows or cancels.
    """
    spread = math.hypot(s, 2 * math.sqrt(power))
    right, left = (spread + s) / 2, 2 * power / (spread + s)
    total, grid = 0.0, np.arange(-128, 129) / 8
    for peak, other in ((right, left), (left, right)):
        width = 1 / math.hypot(1, math.sqrt(power) / peak)
        t = width * grid[width * grid > -peak]
        log = (
            power * (np.log1p(t / peak) + math.log(peak / right))
            - t * (t / 2 + other)
            - (other**2 - left**2) / 2
        )
        total += float(np.exp(log).sum()) * width / 8 / math.sqrt(2 * math.pi)
    return right * math.exp(-(left**2) / (2 * power)) * total ** (1 / power)


# beyond: Φ is 0 or 1 in float64; within: as good as 0, the function's slope is below 0.4
FAR, NEAR = 40.0, 1e-300
# pairs at a time, so that what is computed on the way stays in the processor's cache
CELLS = 1 << 16


def bivariate_normal_cdf(h: ArrayLike, k: ArrayLike, rho: ArrayLike) -> np.ndarray:
    """The probability that two standard normal numbers with correlation ρ are at most h and at most k.

    Parameters
    ----------
    h, k : (...) any number, infinities too; shapes broadcast.
    rho : (...) the correlation in [-1, 1].

    Returns
    -------
    (...) float64 in [0, 1]. The error is below 1e-15 absolutely; far in the lower tail it is not small relatively.

    Raises
    ------
    DataError for a nan, or a correlation outside [-1, 1].

    References
    ----------
    Flamich et al. 2025, eq. 59. Owen 1956, Tables for computing bivariate normal probabilities, eq. 2.1.

    >>> round(float(bivariate_normal_cdf(0, 0, 0.5)), 12)  # 1/4 + arcsin(1/2) / 2π = 1/3
    0.333333333333
    """
    h, k, rho = (np.asarray(v, dtype=np.float64) for v in (h, k, rho))
    if np.isnan(h).any() or np.isnan(k).any():
        raise DataError("h and k must be numbers, got nan among them: leave those pairs out.")
    _correlations(rho)
    return _owen(h, k, rho, ndtr(h), ndtr(k))


def probit_second_moment(
    mx: ArrayLike, kxx: ArrayLike, my: ArrayLike, kyy: ArrayLike, kxy: ArrayLike
) -> np.ndarray:
    """C(x, y) = E[f(x) f(y)] of critics f = Φ(g) in [0, 1], where g is a Gaussian process, for all pairs of texts.

    Parameters
    ----------
    mx, my : (N,), (M,) the mean of g at x and at y.
    kxx, kyy : (N,), (M,) its variance there, ≥ 0.
    kxy : (N, M) its covariance. Where x and y are the same text this is the variance, and C is E[f(x)²].

    Returns
    -------
    (N, M) float64 in [0, 1].

    Raises
    ------
    DataError for shapes that do not fit, a variance below 0, or a covariance that no variances like these allow.

    References
    ----------
    Flamich et al. 2025, eq. 60.

    >>> probit_second_moment([0.0], [1.0], [0.0], [1.0], [[1.0]])  # E[Φ(g)²] = 1/3: Φ(g) is uniform
    array([[0.33333333]])
    """
    mx, kxx, my, kyy, kxy = (np.asarray(v, dtype=np.float64) for v in (mx, kxx, my, kyy, kxy))
    if (
        mx.shape != kxx.shape
        or my.shape != kyy.shape
        or kxy.shape != mx.shape + my.shape
        or kxy.ndim != 2
    ):
        raise DataError(
            f"shapes do not fit: mx {mx.shape}, kxx {kxx.shape}, my {my.shape}, kyy {kyy.shape}, "
            f"kxy {kxy.shape}; they must be (N,), (N,), (M,), (M,), (N, M)."
        )
    if (
        not all(np.isfinite(v).all() for v in (mx, kxx, my, kyy))
        or (kxx < 0).any()
        or (kyy < 0).any()
    ):
        raise DataError(
            "means must be finite, and variances finite and at least 0: check the kernel's "
            "diagonal."
        )
    sx, sy = np.sqrt(1 + kxx), np.sqrt(1 + kyy)
    h, k, out = mx / sx, my / sy, np.empty(kxy.shape)
    below_h, below_k, step = ndtr(h), ndtr(k), max(1, CELLS // max(1, len(my)))
    for i in range(0, len(mx), step):
        at = slice(i, i + step)
        rho = kxy[at] / (sx[at, None] * sy)
        _correlations(rho)
        out[at] = _owen(h[at, None], k, rho, below_h[at, None], below_k)
    return out


def _correlations(rho: np.ndarray) -> None:
    good = np.abs(rho) <= 1
    if not good.all():
        raise DataError(
            f"a correlation must be in [-1, 1], got {rho[~good].flat[0]}: the kernel is not "
            "positive."
        )


def _owen(
    h: np.ndarray, k: np.ndarray, rho: np.ndarray, below_h: np.ndarray, below_k: np.ndarray
) -> np.ndarray:
    """Φ₂(h, k; ρ) = (Φ(h) + Φ(k)) / 2 - T(h, a) - T(k, b) - [h and k on different sides of 0] / 2, kept in its bounds.

    A 0 counts as positive: the limit from above. Infinities and numbers next to 0 are replaced by their limits.
    """
    h, k = (np.where(np.abs(v) < NEAR, 0.0, np.clip(v, -FAR, FAR)) for v in (h, k))
    slope = np.sqrt((1 - rho) * (1 + rho))
    tails = owens_t(h, _leg(h, k, rho, slope)) + owens_t(k, _leg(k, h, rho, slope))
    value = 0.5 * (below_h + below_k) - tails - 0.5 * ((h < 0) != (k < 0))
    return np.clip(value, np.maximum(0.0, below_h + below_k - 1), np.minimum(below_h, below_k))


def _leg(h: np.ndarray, k: np.ndarray, rho: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """(k - ρh) / (h √(1 - ρ²)) without cancellation where ρ is near ±1; at h = k = 0 the limit along h = k."""
    sign = np.where(rho < 0, -1.0, 1.0)
    rest = (k - sign * h) + (sign - rho) * h
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where((h == 0) & (k == 0), 1 - rho, rest / h)
        return np.where(ratio == 0, 0.0, ratio / slope)


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


# texts on a side of a block of pairs: 8 MiB a matrix of float64, whatever the number of texts
BLOCK = 1024


def memed_squared(q: ArrayLike, r: ArrayLike, second: ArrayLike) -> float:
    """D_2², the mean squared difference that random critics see between two distributions: (q - r)ᵀ C (q - r).

    Parameters
    ----------
    q, r : (Y,) probabilities over the same outcomes: the system's marginal, the reference.
    second : (Y, Y) C(x, y) = E f(x) f(y) of `second_moment`; its diagonal is E f(x)².

    Returns
    -------
    float in the squared unit of the critics, ≥ 0 up to rounding.

    References
    ----------
    Flamich et al. 2025, Theorem E.2, eqs. 36 and 37.

    >>> memed_squared([1, 0], [0, 1], [[2.0, 1.0], [1.0, 2.0]])
    2.0
    """
    return quadratic_form(*_difference(q, r, second))


def memed(q: ArrayLike, r: ArrayLike, second: ArrayLike) -> float:
    """D_2, the root of `memed_squared`; what rounding leaves below 0 counts as 0.

    Parameters
    ----------
    q, r : (Y,) probabilities. second : (Y, Y) C.

    Raises
    ------
    DataError where the square is clearly negative: then C is no second moment.

    >>> memed([1, 0], [0, 1], [[2.0, 0.0], [0.0, 2.0]])
    2.0
    """
    return math.sqrt(max(0.0, quadratic_form(*_difference(q, r, second))))


def memed_matrices(cxx: ArrayLike, cxy: ArrayLike, cyy: ArrayLike) -> Estimate:
    """D_2² without bias, from C between all pairs of N texts of the system and M of the reference.

    Parameters
    ----------
    cxx, cxy, cyy : (N, N), (N, M), (M, M) with N, M ≥ 2. The diagonals of the first and the last are left out.

    Returns
    -------
    Estimate: negative where the samples are as near as chance brings them, and left so. Texts are taken as independent;
    its interval (`pairs.pair_interval`) leaves out 0 in about 5 % of the samples where q = r.

    References
    ----------
    Flamich et al. 2025, eq. 38. It is D_2² that is estimated without bias: its root would not be.

    >>> memed_matrices([[9, 1], [1, 9]], [[2, 2], [2, 2]], [[9, 1], [1, 9]]).value
    -2.0
    """
    cxx, cxy, cyy = (np.asarray(c, dtype=np.float64) for c in (cxx, cxy, cyy))
    n, m = cxy.shape if cxy.ndim == 2 else (0, 0)
    if cxx.shape != (n, n) or cyy.shape != (m, m):
        raise DataError(
            f"C must be (N, N), (N, M), (M, M), got shapes {cxx.shape}, {cxy.shape}, {cyy.shape}."
        )
    _enough(n, m)
    within_x, within_y = (c.sum(1) - np.diagonal(c) for c in (cxx, cyy))
    i, j = spread_rows(n), spread_rows(m)
    noise = pair_noise(cxx[np.ix_(i, i)], cyy[np.ix_(j, j)], cxy[np.ix_(i, j)])
    return _estimate(PairSums(within_x, within_y, cxy.sum(1), cxy.sum(0), noise), "D_2²|C given")


def memed_samples(
    x: Sequence, y: Sequence, process: CriticProcess, *, unit: str = "score²", block: int = BLOCK
) -> Estimate:
    """D_2² without bias, from texts of the system and of the reference and the process that critics are drawn from.

    Parameters
    ----------
    x, y : N and M texts (rows of an array, or a list), as the functions of the process take them; N, M ≥ 2. For a
        process over a finite space: the outcomes that were seen, 0..Y-1.
    process : its mean and covariance are computed in blocks of pairs, so that memory does not grow with N M.
    block : texts on a side of a block.

    Returns
    -------
    Estimate, as in `memed_matrices`.

    References
    ----------
    Flamich et al. 2025, eq. 38 with eqs. 54 and 60.
    """
    n, m, step = len(x), len(y), max(1, int(block))
    _enough(n, m)
    of_x, of_y = ((t, process.mean_at(t), process.variance_at(t)) for t in (x, y))
    rows, columns = np.zeros(n), np.zeros(m)
    for i in range(0, n, step):
        for j in range(0, m, step):
            a, b = slice(i, i + step), slice(j, j + step)
            c = pair_moment(process, _part(of_x, a), _part(of_y, b))
            rows[a] += c.sum(1)
            columns[b] += c.sum(0)
    some_x, some_y = _spread(of_x), _spread(of_y)
    noise = pair_noise(
        *(
            pair_moment(process, a, b)
            for a, b in ((some_x, some_x), (some_y, some_y), (some_x, some_y))
        )
    )
    sums = PairSums(
        _within(process, of_x, step), _within(process, of_y, step), rows, columns, noise
    )
    return _estimate(sums, f"D_2²|link:{process.link}", unit)


def log_gp_white(q: ArrayLike, r: ArrayLike, mean: ArrayLike) -> float:
    """D_2 for critics exp(m + noise), the noise of each outcome by itself: k(x, y) = 1 for x = y, else 0.

    D_2² = e (E_q e^m - E_r e^m)² + e (e - 1) Σ e^{2m} (q - r)². With m = -log Γ(y) / |y| of a language model, e^m is
    the perplexity of y. For distributions without atoms the last sum is 0.

    Parameters
    ----------
    q, r : (Y,) probabilities over the same outcomes.
    mean : (Y,) m, nats.

    References
    ----------
    Flamich et al. 2025, eq. 58, corrected: e belongs to D_2², and the diagonal stays.

    >>> round(log_gp_white([1, 0], [0, 1], [0, 0]) ** 2, 6)  # 2 e (e - 1)
    9.341549
    """
    q, r = checks.pmf_pair(q, r)
    level = np.exp(np.asarray(mean, dtype=np.float64))
    checks.same_length(mean=np.atleast_1d(level), q=q)
    if not np.isfinite(level).all():
        raise DataError(
            "exp(mean) must be finite: leave out the outcomes that the language model could not "
            "score."
        )
    d = level * (q - r)
    return math.sqrt(math.e * d.sum() ** 2 + math.e * (math.e - 1) * float(d @ d))


def _enough(n: int, m: int) -> None:
    if min(n, m) < 2:
        raise DataError(
            f"an unbiased estimate needs at least 2 texts on either side, got {n} and {m}."
        )


def _part(side: tuple, rows: slice) -> tuple:
    return tuple(each[rows] for each in side)


def _spread(side: tuple) -> tuple:
    """Some texts of a side, whether they are a list or an array, and what is known of them."""
    rows = spread_rows(len(side[0]))
    texts = side[0][rows] if isinstance(side[0], np.ndarray) else [side[0][i] for i in rows]
    return texts, *(each[rows] for each in side[1:])


def _within(process: CriticProcess, side: tuple, step: int) -> np.ndarray:
    """(N,) Σ_{j≠i} C(x_i, x_j), of which only the blocks on and above the diagonal are computed."""
    n = len(side[0])
    sums = np.zeros(n)
    for i in range(0, n, step):
        for j in range(i, n, step):
            a, b = slice(i, i + step), slice(j, j + step)
            c = pair_moment(process, _part(side, a), _part(side, b))
            sums[a] += c.sum(1) - (np.diagonal(c) if i == j else 0)
            if i != j:
                sums[b] += c.sum(0)
    return sums


def _estimate(sums: PairSums, signature: str, unit: str = "score²") -> Estimate:
    if not all(np.isfinite(s).all() for s in (sums.xx, sums.yy, sums.xy, sums.yx)):
        raise DataError(
            "C is not finite for some pair: leave out the texts whose mean or covariance is "
            "missing."
        )
    return sums.estimate("D_2²", signature, unit)


def _difference(q: ArrayLike, r: ArrayLike, second: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    q, r = checks.pmf_pair(q, r)
    return q - r, checks.finite("second", second, (len(q), len(q)))
