"""D_p of eqs. 4 and 31: how far apart critics score two distributions, and what that says about telling them apart."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..bootstrap import few_clusters
from ..errors import DataError
from ..estimate import Estimate
from .samples import TAIL, Chance, along_a_line, resampled


def power_mean(values: ArrayLike, power: float, weights: ArrayLike | None = None) -> float:
    """(Σ w |v|^p)^(1/p): the mean size of K numbers for p = 1, their largest size for p = ∞.

    Parameters
    ----------
    values : (K,) finite numbers.
    power : p in (0, ∞]. From 1 on this is a norm; below 1 it still rises with p, but two can be longer than one path.
    weights : (K,) probabilities; all the same if not given. For p = ∞ those with weight 0 are left out.

    >>> power_mean([3, -4], 1), round(power_mean([3, -4], 2), 4), power_mean([3, -4], float("inf"))
    (3.5, 3.5355, 4.0)
    """
    power = _power(power)
    sizes = np.abs(checks.finite("values", values))
    w = _weights(sizes, weights)
    top = float(sizes[w > 0].max())
    if top == 0 or math.isinf(power):
        return top
    return top * float(w @ (sizes / top) ** power) ** (1 / power)


def power_mean_se(values: ArrayLike, power: float) -> float:
    """The standard error of `power_mean` over K ≥ 2 numbers drawn at random, by the delta method; nan if all are 0.

    Parameters
    ----------
    values : (K,) numbers. power : p > 0 of the mean.

    >>> round(power_mean_se([3, -4], 1), 12)
    0.5
    """
    if math.isinf(_power(power)):
        raise DataError(
            "the largest of a sample has no standard error, and is below the largest of all: give "
            "a p < inf."
        )
    sizes, value = np.abs(np.asarray(values, dtype=np.float64)), power_mean(values, power)
    if value == 0 or len(sizes) < 2:
        return math.nan
    return value * float(np.std((sizes / value) ** power, ddof=1)) / (power * math.sqrt(len(sizes)))


def critic_distance(
    q: ArrayLike,
    r: ArrayLike,
    critics: ArrayLike,
    *,
    power: float = 1,
    weights: ArrayLike | None = None,
) -> float:
    """How differently critics score two distributions, on average over the critics (D_p), or at most (p = ∞).

    Parameters
    ----------
    q, r : (Y,) probabilities over the same outcomes: the system's marginal, the reference.
    critics : (K, Y) the score that each of K critics gives to each outcome, or (Y,) for one critic.
    power : p in (0, ∞]; 1 is eq. 4, ∞ an integral probability metric (eq. 7). Below 1 the triangle inequality fails.
    weights : (K,) the probability of each critic; all the same if not given.

    Returns
    -------
    float ≥ 0 in the unit of the scores; 0 for q = r, and wherever no critic can tell q from r.

    References
    ----------
    Flamich et al. 2025, eqs. 4, 7, 31. With critics ≥ 0 that give the reference 0, D_1 is their plain average under q.

    >>> critic_distance([0.5, 0.5], [1, 0], [[0, 4], [0, -2]])
    1.5
    >>> critic_distance([0.5, 0.5], [1, 0], [[0, 4], [0, -2]], power=float("inf"))
    2.0
    """
    return power_mean(critic_gaps(q, r, critics), power, weights)


def critic_gaps(q: ArrayLike, r: ArrayLike, critics: ArrayLike) -> np.ndarray:
    """(K,) E_q f - E_r f of each critic: k(f) of Theorem E.1.

    Parameters
    ----------
    critics : (K, Y) values f(y), or (Y,) of one critic.
    """
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
    """D_p from the scores that K critics give to texts of the system and of the reference.

    The standard error is the delta method's: over the texts of either side, each scored by all critics, and over the
    critics. Where most critics see no difference, |difference| is not even nearly normal, and no error says enough: the
    interval comes from resampled texts (`chance`), and begins at 0 unless chance alone gives as much with p ≤ 0.025.

    Parameters
    ----------
    fx, fy : (K, N) and (K, M) scores of the same critics, N and M ≥ 2; or (N,) and (M,) of one.
    rng, n_draws : resamples of the texts, taken as independent, and of the critics. None: no interval.
    power : p in (0, ∞]. For ∞ (only of given critics) the error is that of the critic that sees most.
    sampled : the critics were drawn at random, and their number adds to the error; False: these critics are all.

    Raises
    ------
    DataError for shapes that do not fit, numbers that are not finite, or one critic that is said to be a sample.

    References
    ----------
    Flamich et al. 2025, eqs. 4, 31.

    >>> found = sample_critic_distance([[2, 3, 4]], [[1, 2, 3]], sampled=False)
    >>> found.value, round(found.se, 4)  # √(1/3 + 1/3)
    (1.0, 0.8165)
    """
    power, fx, fy = _power(power), *_scores(fx, fy)
    gaps, (k, n), m = fx.mean(1) - fy.mean(1), fx.shape, fy.shape[1]
    if sampled and k < 2:
        raise DataError(
            "one critic does not say how critics differ: give more, or sampled=False if it is the "
            "only one."
        )
    value = power_mean(gaps, power)
    pull = _pull(gaps, value, power)
    variance = (pull @ fx).var(ddof=1) / n + (pull @ fy).var(ddof=1) / m
    # how measured gaps scatter over critics holds the noise of each critic's own texts already
    if sampled and value:
        own = pull**2 @ (fx.var(1, ddof=1) / n + fy.var(1, ddof=1) / m)
        variance += max(0.0, power_mean_se(gaps, power) ** 2 - float(own))
    bias = "upward: a difference is folded at 0, by O(1/√n) where critics see none"
    bias += "; downward by O(1/K) over the critics" if sampled and power > 1 else ""
    kind, se = "drawn" if sampled else "given", math.sqrt(variance) if value else math.nan
    signature = f"D_p|p:{power:g}|critics:{k} {kind}"
    if rng is None:
        return Estimate(
            f"D_{power:g}", value, se=se, n=n, n_r=m, bias=bias, unit=unit, signature=signature
        )
    found = _by_chance(fx, fy, power, rng, n_draws=n_draws, sampled=sampled, se=se)
    fewest, what = min((n, "texts"), (m, "texts"), *[(k, "critics")] * sampled)
    return Estimate(
        f"D_{power:g}",
        value,
        se=se,
        n=n,
        n_r=m,
        bias=bias,
        unit=unit,
        signature=f"{signature}|bootstrap:{n_draws}",
        low=found.low,
        high=found.high,
        chance=found.mean,
        p=found.p,
        caution=few_clusters(fewest, what),
    )


def _by_chance(
    fx: np.ndarray,
    fy: np.ndarray,
    power: float,
    rng: np.random.Generator,
    *,
    n_draws: int,
    sampled: bool,
    se: float,
) -> Chance:
    """What chance alone gives, and the interval; each critic keeps the noise of its own texts."""
    (k, n), m = fx.shape, fy.shape[1]
    (of_x, _), (of_y, _) = (resampled(size, None, n_draws, rng) for size in (n, m))
    draw = rng.integers(0, k, (n_draws, k)) if sampled else None

    def norm(gaps: np.ndarray) -> np.ndarray:
        sizes = np.abs(gaps)
        return sizes.max(-1) if math.isinf(power) else (sizes**power).mean(-1) ** (1 / power)

    gaps = fx.mean(1) - fy.mean(1)
    noise = of_x @ fx.T - of_y @ fy.T
    fewest = min(n, m, k) if sampled else min(n, m)
    found = along_a_line(norm, gaps, noise, n=fewest, se=se, draw=draw)[0]
    # the largest of several is too large wherever the others are as far: the triangle's bound
    if math.isinf(power):
        found = found._replace(
            low=max(0.0, float(norm(gaps) - np.quantile(norm(noise), 1 - TAIL, method="higher")))
        )
    return found


def classification_risk(
    q: ArrayLike, r: ArrayLike, critics: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """The expected loss of a random critic that tells reference (+1) from system (-1) by its score: E_f[E_q f - E_r f].

    The losses are -f/ε for texts of the reference and f/(1 - ε) for those of the system, which come with probability ε
    and 1 - ε; so ε cancels. Negative: the critics know the reference.

    Parameters
    ----------
    q, r : (Y,) probabilities of an outcome given class -1 (the system) and class +1 (the reference).
    critics, weights : (K, Y) scores and (K,) probabilities, as in `critic_distance`.

    References
    ----------
    Flamich et al. 2025, Theorem E.1, eqs. 32 and 33.

    >>> classification_risk([0.5, 0.5], [1, 0], [[0, 4], [0, -2]])
    0.5
    """
    gaps = critic_gaps(q, r, critics)
    return float(_weights(gaps, weights) @ gaps)


def risk_chain(
    q: ArrayLike,
    r: ArrayLike,
    critics: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    powers: Sequence[float] = (1, 2, math.inf),
) -> dict[str, float]:
    """-D_∞ ≤ ... ≤ -D_2 ≤ -D_1 ≤ R: no critic, turned around or not, classifies better than the distances say.

    -D_1 is the risk when each critic may change its sign, -D_∞ that of the best critic that may. Where the critics come
    with their negatives, -D_∞ is the best risk of all; without them the best critic's own risk may be above it.

    Parameters
    ----------
    q, r, weights : as in `classification_risk`. critics : (K, Y) values, or (Y,) of one critic.
    powers : each p in [1, ∞]; below 1 the order of the theorem does not hold.

    Returns
    -------
    dict from "-D_inf", ..., "-D_1", "R" to numbers that do not fall.

    References
    ----------
    Flamich et al. 2025, Theorem E.1.

    >>> risk_chain([0.5, 0.5], [1, 0], [[0, 4], [0, -2]])
    {'-D_inf': -2.0, '-D_2': -1.58..., '-D_1': -1.5, 'R': 0.5}
    """
    low = [p for p in powers if not p >= 1]
    if low:
        raise DataError(
            f"the chain holds for powers of at least 1, got {low[0]}: below 1, -D_p is above -D_1."
        )
    gaps = critic_gaps(q, r, critics)
    chain = {f"-D_{p:g}": -power_mean(gaps, p, weights) for p in sorted(powers, reverse=True)}
    return chain | {"R": classification_risk(q, r, critics, weights=weights)}


def _pull(gaps: np.ndarray, value: float, power: float) -> np.ndarray:
    """(K,) dD_p / dgap of each critic: sign(gap) (|gap|/D_p)^(p-1) / K; for p = ∞ all is with the largest gap."""
    if math.isinf(power):
        return np.where(np.arange(len(gaps)) == np.abs(gaps).argmax(), np.sign(gaps), 0.0)
    seen = gaps != 0  # a gap of exactly 0 has no direction
    pull = np.zeros(len(gaps))
    pull[seen] = np.sign(gaps[seen]) * (np.abs(gaps[seen]) / value) ** (power - 1) / len(gaps)
    return pull


def _weights(gaps: np.ndarray, weights: ArrayLike | None) -> np.ndarray:
    """(K,) the probability of each critic; all the same if not given."""
    w = np.full(len(gaps), 1 / len(gaps)) if weights is None else checks.pmf("weights", weights)
    checks.same_length(critics=gaps, weights=w)
    return w


def _power(power: float) -> float:
    if not power > 0:
        raise DataError(
            f"the power p of D_p must be above 0, got {power}; 1 is the mean, inf the largest."
        )
    return float(power)


def _scores(fx: ArrayLike, fy: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    fx, fy = (np.atleast_2d(np.asarray(f, dtype=np.float64)) for f in (fx, fy))
    if fx.ndim != 2 or fy.ndim != 2 or len(fx) != len(fy) or min(fx.shape[1], fy.shape[1]) < 2:
        raise DataError(
            f"scores must be (K, N) and (K, M) with N and M at least 2, got {fx.shape} and "
            f"{fy.shape}."
        )
    return checks.finite("fx", fx, fx.shape), checks.finite("fy", fy, fy.shape)
