"""D_p of eqs. 4 and 31: how far apart critics score two distributions, and how well they classify."""

import math

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..bootstrap import few_clusters
from ..errors import DataError
from ..estimate import Estimate
from .samples import TAIL, _resampled, along_a_line


def power_mean(values: ArrayLike, power: float) -> float:
    """(Σ |v|^p / K)^(1/p): the mean size of K numbers for p = 1, their largest size for p = ∞.

    Parameters
    ----------
    values : array_like
        (K,) finite numbers.
    power : float
        p in (0, ∞]. From 1 on this is a norm; below 1 it still rises with p, but the triangle inequality fails.

    >>> power_mean([3, -4], 1), round(power_mean([3, -4], 2), 4), power_mean([3, -4], float("inf"))
    (3.5, 3.5355, 4.0)
    """
    power = _power(power)
    sizes = np.abs(checks.finite("values", values))
    top = float(sizes.max())
    if top == 0 or math.isinf(power):
        return top
    return top * float(np.mean((sizes / top) ** power)) ** (1 / power)


def power_mean_se(values: ArrayLike, power: float) -> float:
    """Standard error of `power_mean` over K ≥ 2 random numbers (K,), by the delta method; nan if all are 0.

    >>> round(power_mean_se([3, -4], 1), 12)
    0.5
    """
    if math.isinf(_power(power)):
        raise DataError("the largest of a sample (p = inf) has no standard error.")
    sizes, value = np.abs(np.asarray(values, dtype=np.float64)), power_mean(values, power)
    if value == 0 or len(sizes) < 2:
        return math.nan
    return value * float(np.std((sizes / value) ** power, ddof=1)) / (power * math.sqrt(len(sizes)))


def critic_distance(q: ArrayLike, r: ArrayLike, critics: ArrayLike, *, power: float = 1) -> float:
    """D_p: the mean difference between critics' scores of two distributions, or the largest (p = ∞).

    Parameters
    ----------
    q, r : array_like
        (Y,) probabilities over the same outcomes: the system's marginal, the reference.
    critics : array_like
        (K, Y) score of each outcome by K critics, or (Y,) for one critic.
    power : float
        p in (0, ∞]; 1 is eq. 4, ∞ an integral probability metric (eq. 7). Below 1 the triangle inequality fails.

    Returns
    -------
    float ≥ 0 in the unit of the scores; 0 if and only if no critic distinguishes q from r.

    References
    ----------
    Flamich et al. 2025, eqs. 4, 7, 31. With critics ≥ 0 that give the reference 0, D_1 is their plain average under q.

    >>> critic_distance([0.5, 0.5], [1, 0], [[0, 4], [0, -2]])
    1.5
    >>> critic_distance([0.5, 0.5], [1, 0], [[0, 4], [0, -2]], power=float("inf"))
    2.0
    """
    return power_mean(critic_gaps(q, r, critics), power)


def critic_gaps(q: ArrayLike, r: ArrayLike, critics: ArrayLike) -> np.ndarray:
    """(K,) E_q f - E_r f of each critic (K, Y), or of one (Y,): k(f) of Theorem E.1."""
    q, r = checks.pmf_pair(q=q, r=r)
    return checks.finite("critics", np.atleast_2d(critics), (None, len(q))) @ (q - r)


def sample_critic_distance(
    fx: ArrayLike,
    fy: ArrayLike,
    *,
    rng: np.random.Generator | None = None,
    n_draws: int = 400,
    power: float = 1,
    sampled: bool = True,
    unit: str = "score",
) -> Estimate:
    """D_p from the scores of K critics for texts of the system and of the reference.

    The standard error is the delta method's: over the texts of either side, each scored by all critics, and over the
    critics. Near q = r the distance is far from normal, so the interval comes from resampled texts, and begins at 0
    unless p ≤ 0.025.

    Parameters
    ----------
    fx, fy : array_like
        (K, N) and (K, M) finite scores of the same critics, N and M ≥ 2; or (N,) and (M,) of one.
    rng, n_draws : Generator, int
        Resamples of the texts, taken as independent, and of the critics. Without rng there is no interval.
    power : float
        p in (0, ∞]. For ∞ (only of given critics) the error is that of the critic with the largest difference.
    sampled : bool
        Whether the critics, at least 2, were drawn at random, so that their number adds to the error.
    unit : str
        Of the scores.

    References
    ----------
    Flamich et al. 2025, eqs. 4, 31.

    >>> found = sample_critic_distance([[2, 3, 4]], [[1, 2, 3]], sampled=False)
    >>> found.value, round(found.se, 4)  # √(1/3 + 1/3)
    (1.0, 0.8165)
    """
    power, fx = _power(power), checks.finite("fx", np.atleast_2d(fx), (None, None))
    fy = checks.finite("fy", np.atleast_2d(fy), (len(fx), None))
    gaps, (k, n), m = fx.mean(1) - fy.mean(1), fx.shape, fy.shape[1]
    checks.whole("number of texts of a side", min(n, m), 2)
    checks.whole("number of drawn critics", k, 2 if sampled else 1)
    value = power_mean(gaps, power)
    pull = _pull(gaps, value, power)
    variance = (pull @ fx).var(ddof=1) / n + (pull @ fy).var(ddof=1) / m
    # the variance of measured gaps over critics already contains the noise of each critic's texts
    if sampled and value:
        own = pull**2 @ (fx.var(1, ddof=1) / n + fy.var(1, ddof=1) / m)
        variance += max(0.0, power_mean_se(gaps, power) ** 2 - float(own))
    bias = "upward: a difference is folded at 0, by O(1/√n) where critics see none"
    bias += "; downward by O(1/K) over the critics" if sampled and power > 1 else ""
    kind, se = "drawn" if sampled else "given", math.sqrt(variance) if value else math.nan
    facts: dict = {"se": se, "n": n, "n_r": m, "bias": bias, "unit": unit}
    facts["signature"] = f"D_p|p:{power:g}|critics:{k} {kind}"
    if rng is None:
        return Estimate(f"D_{power:g}", value, **facts)
    facts["signature"] += f"|bootstrap:{n_draws}"
    facts["caution"] = few_clusters(*min((n, "texts"), (m, "texts"), *[(k, "critics")] * sampled))
    # each critic keeps the noise of its own texts
    (of_x, _), (of_y, _) = (_resampled(size, None, n_draws, rng) for size in (n, m))
    draw = rng.integers(0, k, (n_draws, k)) if sampled else None

    def norm(gaps: np.ndarray) -> np.ndarray:
        sizes = np.abs(gaps)
        return sizes.max(-1) if math.isinf(power) else (sizes**power).mean(-1) ** (1 / power)

    noise = of_x @ fx.T - of_y @ fy.T
    fewest = min(n, m, k) if sampled else min(n, m)
    found = along_a_line(norm, gaps, noise, n=fewest, se=se, draw=draw)[0]
    # the largest of several equal gaps is too large: the triangle's bound
    if math.isinf(power):
        low = float(norm(gaps) - np.quantile(norm(noise), 1 - TAIL, method="higher"))
        found = found._replace(low=max(0.0, low))
    return Estimate(f"D_{power:g}", value, **facts, **found._asdict())


def classification_risk(q: ArrayLike, r: ArrayLike, critics: ArrayLike) -> float:
    """Expected loss of a random critic as a classifier: E_f[E_q f - E_r f].

    The losses are -f/ε for texts of the reference (class +1) and f/(1 - ε) for those of the system (-1), which have
    probability ε and 1 - ε; so ε cancels. Negative: the critics recognise the reference.

    Parameters
    ----------
    q, r, critics : array_like
        As in `critic_distance`.

    References
    ----------
    Flamich et al. 2025, Theorem E.1, eqs. 32 and 33.

    >>> classification_risk([0.5, 0.5], [1, 0], [[0, 4], [0, -2]])
    0.5
    """
    return float(critic_gaps(q, r, critics).mean())


def risk_chain(q: ArrayLike, r: ArrayLike, critics: ArrayLike) -> dict[str, float]:
    """-D_∞ ≤ -D_2 ≤ -D_1 ≤ R: bounds of the risk of critics as classifiers.

    -D_1 is the risk if each critic may change its sign, -D_∞ that of the best critic if it may. If the critics include
    their negatives, -D_∞ is the best risk of all.

    Parameters
    ----------
    q, r, critics : array_like
        As in `critic_distance`.

    Returns
    -------
    dict from "-D_inf", "-D_2", "-D_1", "R" to non-decreasing numbers; below p = 1 the order does not hold.

    References
    ----------
    Flamich et al. 2025, Theorem E.1.

    >>> risk_chain([0.5, 0.5], [1, 0], [[0, 4], [0, -2]])
    {'-D_inf': -2.0, '-D_2': -1.58..., '-D_1': -1.5, 'R': 0.5}
    """
    gaps = critic_gaps(q, r, critics)
    chain = {f"-D_{p:g}": -power_mean(gaps, p) for p in (math.inf, 2, 1)}
    return chain | {"R": float(gaps.mean())}


def _pull(gaps: np.ndarray, value: float, power: float) -> np.ndarray:
    """(K,) dD_p / dgap of each critic: sign(gap) (|gap|/D_p)^(p-1) / K; for p = ∞ only the largest gap counts."""
    if math.isinf(power):
        return np.where(np.arange(len(gaps)) == np.abs(gaps).argmax(), np.sign(gaps), 0.0)
    seen = gaps != 0  # a gap of exactly 0 has no direction
    pull = np.zeros(len(gaps))
    pull[seen] = np.sign(gaps[seen]) * (np.abs(gaps[seen]) / value) ** (power - 1) / len(gaps)
    return pull


def _power(power: float) -> float:
    if not power > 0:
        raise DataError(f"got power {power}, expected above 0: 1 is the mean, inf the largest.")
    return float(power)
