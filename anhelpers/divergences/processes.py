"""Random critics (AN Appendix E): f = g, exp(g) or Φ(g) of a Gaussian process g."""

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
from .samples import _pair_noise, _PairSums, _spread_rows, _sums_by_tile

# above this p or |μ|/σ the power's kink at 0 has no weight, and sums over a grid are exact
_SADDLE = 30.0
# above this |μ|/σ (times 1 + √p) the randomness changes no digit
_CERTAIN = 1e9
# beyond: Φ is 0 or 1 in float64; within: as good as 0, for the slope is below 0.4
_FAR, _NEAR = 40.0, 1e-300
# pairs at a time, so that intermediate results stay in the processor's cache
_CELLS = 1 << 16
_LINKS = {"identity": lambda g: g, "exp": np.exp, "probit": ndtr}
# texts at a time if only k(x, x) is needed of a kernel that returns whole matrices
_DIAGONAL = 64


def folded_norm(mu: float, sigma: float, power: float = 1) -> float:
    """(E|σε + μ|^p)^(1/p), ε standard normal: the mean size of a normal number for p = 1, √(μ² + σ²) for p = 2.

    Parameters
    ----------
    mu, sigma : float
        Mean and standard deviation, σ ≥ 0. For σ = 0 the result is |μ|.
    power : float
        p in (0, ∞].

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
        raise DataError(f"got μ {mu}, σ {sigma}, p {power}; expected finite μ, σ ≥ 0, p > 0.")
    if sigma and math.isinf(power):
        return math.inf
    if sigma == 0 or sigma * _CERTAIN * (1 + math.sqrt(power)) <= abs(mu):
        return abs(mu)
    s = abs(mu) / sigma
    if power == 1:
        inside = mu * float(erf(mu / sigma / math.sqrt(2)))
        return sigma * math.sqrt(2 / math.pi) * math.exp(-s * s / 2) + inside
    if power == 2:
        return math.hypot(mu, sigma)
    if power > _SADDLE or s > _SADDLE:
        return sigma * _by_grid(s, power)
    log_moment = gammaln((1 + power) / 2) - math.log(math.pi) / 2
    log_moment += math.log(hyp1f1(-power / 2, 0.5, -s * s / 2))
    return sigma * math.sqrt(2) * math.exp(log_moment / power)


def _by_grid(s: float, power: float) -> float:
    """(E|ε + s|^p)^(1/p): sums over fine grids around the peak t = R of t^p φ(t - s), and t = L of t^p φ(t + s).

    R L = p and R - L = s, so that all is relative to the first peak: nothing overflows or cancels.
    """
    spread = math.hypot(s, 2 * math.sqrt(power))
    right, left = (spread + s) / 2, 2 * power / (spread + s)
    total, grid = 0.0, np.arange(-128, 129) / 8
    for peak, other in ((right, left), (left, right)):
        width = 1 / math.hypot(1, math.sqrt(power) / peak)
        t = width * grid[width * grid > -peak]
        log = power * (np.log1p(t / peak) + math.log(peak / right)) - t * (t / 2 + other)
        log -= (other**2 - left**2) / 2
        total += float(np.exp(log).sum()) * width / 8 / math.sqrt(2 * math.pi)
    return right * math.exp(-(left**2) / (2 * power)) * total ** (1 / power)


def bivariate_normal_cdf(h: ArrayLike, k: ArrayLike, rho: ArrayLike) -> np.ndarray:
    """P(X ≤ h, Y ≤ k) of two standard normal numbers with correlation ρ.

    Parameters
    ----------
    h, k : array_like
        (...) any number, infinities too; shapes broadcast.
    rho : array_like
        (...) correlation in [-1, 1].

    Returns
    -------
    (...) float64 in [0, 1] with an absolute error below 1e-15.

    References
    ----------
    Flamich et al. 2025, eq. 59. Owen 1956, Tables for computing bivariate normal probabilities, eq. 2.1.

    >>> round(float(bivariate_normal_cdf(0, 0, 0.5)), 12)  # 1/4 + arcsin(1/2) / 2π = 1/3
    0.333333333333
    """
    # Φ₂ = (Φ(h) + Φ(k)) / 2 - T(h, a) - T(k, b) - [h and k on different sides of 0] / 2, kept in its bounds.
    # A 0 counts as positive: the limit from above.
    h, k, rho = (np.asarray(v, dtype=np.float64) for v in (h, k, rho))
    if not (good := np.abs(rho) <= 1).all():
        raise DataError(f"got correlation {rho[~good].flat[0]}: the kernel is not positive.")
    below_h, below_k = ndtr(h), ndtr(k)
    h, k = (np.where(np.abs(v) < _NEAR, 0.0, np.clip(v, -_FAR, _FAR)) for v in (h, k))
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


@dataclass(frozen=True)
class CriticProcess:
    """Random critics f: a Gaussian process g with mean m and covariance k, and a link from g to f.

    Parameters
    ----------
    link : str
        "identity" f = g; "exp" f = exp(g) > 0 (log-GP); "probit" f = Φ(g) in (0, 1).
    mean : array_like or callable
        (Y,) m of each outcome of a finite space, or a function from N texts to (N,).
    cov : array_like or callable
        (Y, Y) k of all pairs of outcomes, finite and symmetric, or a function from N and M texts to (N, M). Equal
        texts have the same score, so the function must include k(x, x) for them.
    """

    link: str
    mean: Any  # ArrayLike | Callable[[Sequence], np.ndarray]
    cov: Any  # ArrayLike | Callable[[Sequence, Sequence], np.ndarray]

    def __post_init__(self) -> None:
        checks.one_of(self.link, _LINKS, "link of a critic process")
        if self.finite:
            m = checks.finite("mean", self.mean)
            object.__setattr__(self, "mean", m)
            object.__setattr__(self, "cov", checks.symmetric("cov", self.cov, len(m)))

    @property
    def finite(self) -> bool:
        """Whether mean and covariance are arrays over a finite space; texts are then 0..Y-1."""
        return not callable(self.mean)

    def mean_at(self, x: Sequence | np.ndarray) -> np.ndarray:
        """(N,) m(x)."""
        if self.finite:
            return self.mean[self._seen(x)]
        return checks.finite("mean", self.mean(x), (len(x),))

    def cov_at(self, x: Sequence | np.ndarray, y: Sequence | np.ndarray) -> np.ndarray:
        """(N, M) k(x, y)."""
        if self.finite:
            return self.cov[np.ix_(self._seen(x), self._seen(y))]
        return checks.finite("cov", self.cov(x, y), (len(x), len(y)))

    def variance_at(self, x: Sequence | np.ndarray) -> np.ndarray:
        """(N,) k(x, x)."""
        blocks = (x[i : i + _DIAGONAL] for i in range(0, len(x), _DIAGONAL))
        found = np.concatenate([np.diagonal(self.cov_at(block, block)) for block in blocks])
        if (found < 0).any():
            raise DataError(f"got variance {found.min()}: the kernel is not positive.")
        return found

    def _seen(self, x: Sequence | np.ndarray) -> np.ndarray:
        """(N,) outcomes of the finite space."""
        return checks.segment_ids(np.asarray(x), len(self.mean))


def second_moment(
    process: CriticProcess, x: Sequence | None = None, y: Sequence | None = None
) -> np.ndarray:
    """(N, M) C(x, y) = E f(x) f(y); of all pairs of outcomes if no texts are given.

    References
    ----------
    Flamich et al. 2025, eqs. 35, 54 (log-GP), 60 (probit); k + m mᵀ for the Gaussian process itself.

    >>> second_moment(CriticProcess("identity", [1.0, 2.0], [[1.0, 0.5], [0.5, 1.0]]))
    array([[2. , 2.5],
           [2.5, 5. ]])
    """
    x = _outcomes(process) if x is None else x
    return _pair_moment(process, *(_side(process, t) for t in (x, x if y is None else y)))


def _side(process: CriticProcess, x: Sequence | np.ndarray) -> tuple:
    """(texts, (N,) m, (N,) k(x, x)), computed once for many blocks of pairs."""
    return x, process.mean_at(x), process.variance_at(x)


def _pair_moment(process: CriticProcess, x: tuple, y: tuple) -> np.ndarray:
    """(N, M) C of two sides."""
    (x, mx, vx), (y, my, vy), k = x, y, process.cov_at(x[0], y[0])
    if process.link == "identity":
        return k + mx[:, None] * my
    if process.link == "exp":
        with np.errstate(over="ignore"):
            product = np.exp((mx + vx / 2)[:, None] + my + vy / 2 + k)
        return checks.finite("E f(x) f(y)", product, k.shape)
    sx, sy, step = np.sqrt(1 + vx), np.sqrt(1 + vy), max(1, _CELLS // len(my))
    rows = (slice(i, i + step) for i in range(0, len(mx), step))
    h, rho = (mx / sx)[:, None], k / (sx[:, None] * sy)
    return np.concatenate([bivariate_normal_cdf(h[at], my / sy, rho[at]) for at in rows])


def draw_critics(process: CriticProcess, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, Y) scores of each outcome of a finite space by n critics drawn from the process."""
    values, vectors = np.linalg.eigh(process.cov[_outcomes(process)])
    if values[0] < -1e-10 * max(abs(values[0]), abs(values[-1])):
        raise DataError(f"covariance: got eigenvalue {values[0]:.4g}, expected none below 0.")
    root = vectors * np.sqrt(np.maximum(values, 0))
    return _LINKS[process.link](process.mean + rng.standard_normal((n, len(root))) @ root.T)


def estimate_distance(
    q: ArrayLike,
    r: ArrayLike,
    process: CriticProcess,
    rng: np.random.Generator,
    *,
    power: float = 1,
    n_critics: int = 10_000,
) -> Estimate:
    """D_p between two known distributions, from critics drawn from the process.

    Parameters
    ----------
    q, r : array_like
        (Y,) probabilities of the process's outcomes: the system's marginal, the reference.
    process : CriticProcess
        Over a finite space.
    rng, n_critics : Generator, int
        Randomness and number of drawn critics, at least 2.
    power : float
        p in (0, ∞).

    Returns
    -------
    Estimate with the error and the interval of drawing critics; n and n_r are 0, for q and r are not samples.

    References
    ----------
    Flamich et al. 2025, eqs. 4, 31.
    """
    q, r = checks.pmf_pair(q, r)
    checks.same_length(outcomes=_outcomes(process), q=q)
    gaps = draw_critics(process, checks.whole("n_critics", n_critics, 2), rng) @ (q - r)
    bias = "unbiased" if power == 1 else f"{'downward' if power > 1 else 'upward'} by O(1/K)"
    bias += f" over K = {n_critics} drawn critics"
    signature = f"D_p|p:{power:g}|link:{process.link}|critics:{n_critics} drawn"
    value, se = power_mean(gaps, power), power_mean_se(gaps, power)
    low, high = (float(end) for end in student(value, se, n_critics))
    facts: dict = {"unit": "score", "signature": signature, "bias": bias}
    return Estimate(f"D_{power:g}", value, low=low, high=high, se=se, **facts)


def gp_distance(q: ArrayLike, r: ArrayLike, process: CriticProcess, *, power: float = 1) -> float:
    """D_p for Gaussian process critics in closed form: the size of a normal number N(μ, σ²).

    μ = E_q m - E_r m is the mean difference over critics, σ = MMD_k(q, r) its standard deviation.

    Parameters
    ----------
    q, r : array_like
        (Y,) probabilities of the process's outcomes.
    process : CriticProcess
        Of link "identity", over a finite space.
    power : float
        p in (0, ∞]. D_∞ is infinite if σ > 0.

    References
    ----------
    Flamich et al. 2025, Theorem E.3, eq. 45, with eqs. 46 and 52 as in the errata: see `folded_norm`.

    >>> round(gp_distance([1, 0], [0, 1], CriticProcess("identity", [0, 0], [[1, 0], [0, 1]]), power=2), 12)  # √2 = MMD
    1.414213562373
    """
    q, r = checks.pmf_pair(q, r)
    checks.same_length(outcomes=_outcomes(process), q=q)
    if process.link != "identity":
        raise DataError(f"got link {process.link}, expected identity. Use estimate_distance.")
    mmd = math.sqrt(max(0.0, _quadratic_form(q - r, process.cov)))
    return folded_norm(float(process.mean @ (q - r)), mmd, power)


def _quadratic_form(d: np.ndarray, matrix: np.ndarray) -> float:
    """dᵀ K d, ≥ 0 up to rounding."""
    value, scale = float(d @ matrix @ d), float(np.abs(d) @ np.abs(matrix) @ np.abs(d))
    if not value >= -1e-12 * scale or math.isinf(value):
        raise DataError(f"got D² {value:.4g}: the matrix is not finite and positive semidefinite.")
    return value


def _outcomes(process: CriticProcess) -> np.ndarray:
    if not process.finite:
        raise DataError("expected a finite space: give arrays for mean and cov, or the texts.")
    return np.arange(len(process.mean))


def memed_squared(q: ArrayLike, r: ArrayLike, second: ArrayLike) -> float:
    """D_2², the mean squared difference of random critics' scores: (q - r)ᵀ C (q - r).

    Parameters
    ----------
    q, r : array_like
        (Y,) probabilities over the same outcomes: the system's marginal, the reference.
    second : array_like
        (Y, Y) C(x, y) = E f(x) f(y) of `second_moment`.

    Returns
    -------
    float in the squared unit of the critics, ≥ 0 up to rounding.

    References
    ----------
    Flamich et al. 2025, Theorem E.2, eqs. 36 and 37.

    >>> memed_squared([1, 0], [0, 1], [[2.0, 1.0], [1.0, 2.0]])
    2.0
    """
    return _quadratic_form(*_difference(q, r, second))


def memed(q: ArrayLike, r: ArrayLike, second: ArrayLike) -> float:
    """D_2, the root of `memed_squared`.

    >>> memed([1, 0], [0, 1], [[2.0, 0.0], [0.0, 2.0]])
    2.0
    """
    return math.sqrt(max(0.0, _quadratic_form(*_difference(q, r, second))))


def memed_matrices(cxx: ArrayLike, cxy: ArrayLike, cyy: ArrayLike) -> Estimate:
    """D_2² without bias, from C between all pairs of N texts of the system and M of the reference.

    Parameters
    ----------
    cxx, cxy, cyy : array_like
        (N, N), (N, M), (M, M) with N, M ≥ 2. The diagonals of the first and the last are ignored.

    Returns
    -------
    Estimate, negative if the samples are as close as chance makes them. Texts are taken as independent; if q = r, its
    interval (`samples._pair_interval`) excludes 0 in about 5 % of the samples.

    References
    ----------
    Flamich et al. 2025, eq. 38. It is D_2² that is estimated without bias: its root would not be.

    >>> memed_matrices([[9, 1], [1, 9]], [[2, 2], [2, 2]], [[9, 1], [1, 9]]).value
    -2.0
    """
    n, m = (cxy := checks.finite("cxy", cxy, (None, None))).shape
    cxx, cyy = checks.finite("cxx", cxx, (n, n)), checks.finite("cyy", cyy, (m, m))
    checks.whole("number of texts of a side", min(n, m), 2)
    within_x, within_y = (c.sum(1) - np.diagonal(c) for c in (cxx, cyy))
    i, j = _spread_rows(n), _spread_rows(m)
    noise = _pair_noise(cxx[np.ix_(i, i)], cyy[np.ix_(j, j)], cxy[np.ix_(i, j)])
    sums = _PairSums(within_x, within_y, cxy.sum(1), cxy.sum(0), noise)
    return sums.estimate("D_2²", "D_2²|C given", "score²")


def memed_samples(x: Sequence, y: Sequence, process: CriticProcess) -> Estimate:
    """D_2² without bias, from texts of the system and of the reference and a process of critics.

    Parameters
    ----------
    x, y : sequence
        N and M texts (rows of an array, or a list), arguments of the functions of the process; N, M ≥ 2. For a process
        over a finite space: outcomes 0..Y-1.
    process : CriticProcess
        Mean and covariance are computed in blocks of pairs, so that memory does not grow with N M.

    Returns
    -------
    Estimate, as in `memed_matrices`.

    References
    ----------
    Flamich et al. 2025, eq. 38 with eqs. 54 and 60.
    """
    checks.whole("number of texts of a side", min(len(x), len(y)), 2)
    of_x, of_y = (_side(process, t) for t in (x, y))
    u, v = _spread(of_x), _spread(of_y)
    noise = _pair_noise(*(_pair_moment(process, *pair) for pair in ((u, u), (v, v), (u, v))))
    pairs = ((of_x, None), (of_y, None), (of_x, of_y))
    (xx, _), (yy, _), both = (_sums(process, *pair) for pair in pairs)
    sums = _PairSums(xx, yy, *both, noise)
    return sums.estimate("D_2²", f"D_2²|link:{process.link}", "score²")


def log_gp_white(q: ArrayLike, r: ArrayLike, mean: ArrayLike) -> float:
    """D_2 for critics exp(m + noise) with independent noise: k(x, y) = 1 for x = y, else 0.

    D_2² = e (E_q e^m - E_r e^m)² + e (e - 1) Σ e^{2m} (q - r)². With m = -log Γ(y) / |y| of a language model, e^m is
    the perplexity of y. For distributions without atoms the last sum is 0.

    Parameters
    ----------
    q, r : array_like
        (Y,) probabilities over the same outcomes.
    mean : array_like
        (Y,) m, nats; exp(m) must be finite.

    References
    ----------
    Flamich et al. 2025, eq. 58, corrected: e belongs to D_2², and the diagonal stays.

    >>> round(log_gp_white([1, 0], [0, 1], [0, 0]) ** 2, 6)  # 2 e (e - 1)
    9.341549
    """
    q, r = checks.pmf_pair(q, r)
    d = checks.finite("exp(mean)", np.exp(np.asarray(mean, np.float64)), (len(q),)) * (q - r)
    return math.sqrt(math.e * d.sum() ** 2 + math.e * (math.e - 1) * float(d @ d))


def _spread(side: tuple) -> tuple:
    """Some texts of a side, a list or an array, with their mean and variance."""
    rows = _spread_rows(len(side[0]))
    texts = side[0][rows] if isinstance(side[0], np.ndarray) else [side[0][i] for i in rows]
    return texts, *(each[rows] for each in side[1:])


def _sums(process: CriticProcess, x: tuple, y: tuple | None) -> tuple[np.ndarray, np.ndarray]:
    def tile(a: slice, b: slice) -> np.ndarray:
        sides = ((x, a), (y or x, b))
        return _pair_moment(process, *(tuple(each[at] for each in side) for side, at in sides))

    return _sums_by_tile(len(x[0]), len(y[0]) if y else None, tile)


def _difference(q: ArrayLike, r: ArrayLike, second: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    q, r = checks.pmf_pair(q, r)
    return q - r, checks.finite("second", second, (len(q), len(q)))
