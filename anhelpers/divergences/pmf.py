"""Divergences between distributions over the same Y outcomes, exact: (q, r) = the system's marginal, the reference."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, logsumexp, rel_entr, xlogy

from .. import checks
from ..errors import DataError

# the least HiGHS takes
TOLERANCE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def total_variation(q: ArrayLike, r: ArrayLike) -> float:
    """Half the L1 distance of two distributions: the best advantage any test has in telling them apart.

    Parameters
    ----------
    q, r : (Y,) probabilities over the same outcomes: the system's marginal, the reference.

    Returns
    -------
    float in [0, 1], no unit; 0 if and only if q == r, 1 if and only if they share no outcome.

    References
    ----------
    Flamich et al. 2025, §3; an IPM (eq. 7) over the critics with values in [0, 1].

    >>> total_variation([.5, .5, 0], [.5, 0, .5])
    0.5
    """
    q, r = checks.pmf_pair(q=q, r=r)
    return min(1.0, 0.5 * float(np.abs(q - r).sum()))


def wasserstein(q: ArrayLike, r: ArrayLike, ground: ArrayLike) -> float:
    """Wasserstein-1: the least cost of transporting the probability of q to that of r.

    Parameters
    ----------
    q, r : (Y,) probabilities over the same outcomes: the system's marginal, the reference.
    ground : (Y,) positions of the outcomes on a line, where a move costs |a - b|; or (Y, Y) the cost of moving
        probability 1 from outcome a to outcome b, finite and not negative. A metric makes the result one.

    Returns
    -------
    float >= 0 in the unit of `ground`. On a line it is exact (the area between the two cumulative functions); with a
    matrix it is the transport linear program of HiGHS, exact to about 1e-9 of the largest cost.

    Raises
    ------
    DataError for a ground of an unexpected shape, or with negative or infinite costs.

    References
    ----------
    Flamich et al. 2025, §3; an IPM (eq. 7) over the critics that change by at most the cost between two outcomes.

    >>> wasserstein([1, 0, 0], [0, .5, .5], [0, 1, 4])
    2.5
    """
    q, r = checks.pmf_pair(q=q, r=r)
    ground = _ground(ground, len(q))
    if ground.ndim == 2:
        return _transport(q, r, ground)
    order = np.argsort(ground, kind="stable")
    return float(np.abs(np.cumsum((q - r)[order])[:-1]) @ np.diff(ground[order]))


def _ground(ground: ArrayLike, n: int) -> np.ndarray:
    ground = np.asarray(ground, dtype=np.float64)
    fits = (ground.shape == (n, n) and (ground >= 0).all()) or ground.shape == (n,)
    if not (fits and np.isfinite(ground).all()):
        raise DataError(f"ground must be ({n},) finite positions or ({n}, {n}) finite costs ≥ 0.")
    return ground


def _transport(q: np.ndarray, r: np.ndarray, cost: np.ndarray) -> float:
    """The least sum of cost · plan over plans with margins q and r; outcomes without probability take no part."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, vstack

    a, b = q > 0, r > 0
    cost, n, m = cost[np.ix_(a, b)], int(a.sum()), int(b.sum())
    of_plan, ones = np.arange(n * m), np.ones(n * m)
    from_q = csr_array((ones, (of_plan // m, of_plan)))
    to_r = csr_array((ones, (of_plan % m, of_plan)))
    # the last one follows
    margins, scale = vstack([from_q, to_r], format="csr")[:-1], float(cost.max()) or 1.0
    found = linprog(
        cost.ravel() / scale,
        A_eq=margins,
        b_eq=np.concatenate([q[a], r[b]])[:-1],
        method="highs",
        options=TOLERANCE,
    )
    if not found.success:
        raise DataError(f"no transport plan found: {found.message:.90} Scale the costs.")
    return max(0.0, found.fun) * scale


def kl(q: ArrayLike, r: ArrayLike) -> float:
    """Kullback-Leibler divergence: how many nats longer texts of q become when they are coded as if r had made them.

    Parameters
    ----------
    q, r : (Y,) probabilities over the same outcomes: the system's marginal, the reference.

    Returns
    -------
    float in [0, inf], nats; inf where q has an outcome that r never has.

    References
    ----------
    Flamich et al. 2025, §3 and eq. 11.

    >>> round(kl([.5, .5], [.25, .75]), 4), kl([.5, .5], [1, 0])
    (0.1438, inf)
    """
    q, r = checks.pmf_pair(q=q, r=r)
    # q - r adds up to 0; with it, every term is >= 0
    return max(0.0, float((rel_entr(q, r) - (q - r)).sum()))


def renyi(q: ArrayLike, r: ArrayLike, order: float) -> float:
    """Rényi divergence: log of the mean of (q/r)^(order - 1) under q, divided by order - 1.

    Parameters
    ----------
    q, r : (Y,) probabilities over the same outcomes: the system's marginal, the reference.
    order : in [0, inf]. Its limits are 0: -log of the probability that r gives to what q can say; 1: `kl`;
        inf: the log of the largest q/r.

    Returns
    -------
    float in [0, inf], nats, not decreasing in `order`; inf where they share no outcome and, from order 1 on, where q
    has an outcome that r never has.

    References
    ----------
    Flamich et al. 2025, §3; van Erven and Harremoës 2014, IEEE Transactions on Information Theory 60.

    >>> round(renyi([.5, .5], [.25, .75], .5), 4), round(renyi([.5, .5], [.25, .75], np.inf), 4)
    (0.0693, 0.6931)
    """
    order = checks.non_negative("order", order)
    q, r = checks.pmf_pair(q=q, r=r)
    if order == 1:
        return kl(q, r)
    both, lost = (q > 0) & (r > 0), float(q[r == 0].sum())
    if (lost and order > 1) or not both.any():
        return math.inf
    if order == 0:
        return max(0.0, -math.log(min(1.0, float(r[both].sum()))))
    ratio = np.log(q[both]) - np.log(r[both])
    if order == math.inf:
        return max(0.0, float(ratio.max()))
    return max(0.0, _log_power_mean(q[both], (order - 1) * ratio, lost) / (order - 1))


def _log_power_mean(q: np.ndarray, exponent: np.ndarray, lost: float) -> float:
    """log Σ q·exp(exponent), where q adds up to 1 - lost: by expm1 near order 1, so that nothing cancels there."""
    if np.abs(exponent).max() < 0.5 and lost < 0.5:
        return math.log1p(float((q * np.expm1(exponent)).sum()) - lost)
    return float(logsumexp(np.log(q) + exponent))


def jensen_shannon(q: ArrayLike, r: ArrayLike) -> float:
    """Jensen-Shannon divergence: information of a text about its author, system or reference (1:1), in nats.

    Parameters
    ----------
    q, r : (Y,) probabilities over the same outcomes: the system's marginal, the reference.

    Returns
    -------
    float in [0, ln 2], nats; ln 2 where they share no outcome.

    References
    ----------
    Lin 1991, IEEE Transactions on Information Theory 37.

    >>> round(jensen_shannon([1, 0], [0, 1]), 4)
    0.6931
    """
    q, r = checks.pmf_pair(q=q, r=r)
    total = q + r  # not halved: the smallest numbers would become 0
    return min(
        math.log(2), max(0.0, 0.25 * float((rel_entr(2 * q, total) + rel_entr(2 * r, total)).sum()))
    )


def chi_squared(q: ArrayLike, r: ArrayLike) -> float:
    """Pearson's χ² divergence: the mean under r of (q/r - 1)².

    Parameters
    ----------
    q, r : (Y,) probabilities over the same outcomes: the system's marginal, the reference.

    Returns
    -------
    float in [0, inf], no unit; inf where q has an outcome that r never has. kl <= log(1 + χ²).

    References
    ----------
    Sriperumbudur et al. 2009, arXiv 0901.2698.

    >>> chi_squared([.5, .5], [.25, .75])
    0.3333333333333333
    """
    q, r = checks.pmf_pair(q=q, r=r)
    if q[r == 0].any():
        return math.inf
    there = r > 0
    difference = (q - r)[there]
    with np.errstate(over="ignore"):
        return float((difference * (difference / r[there])).sum())


def mmd_squared(q: ArrayLike, r: ArrayLike, kernel: ArrayLike) -> float:
    """Squared maximum mean discrepancy: (q - r)ᵀ K (q - r), how alike texts are within and between two distributions.

    Parameters
    ----------
    q, r : (Y,) probabilities over the same outcomes: the system's marginal, the reference.
    kernel : (Y, Y) symmetric similarities of outcomes; the result is >= 0 where it is positive semi-definite.

    Returns
    -------
    float in the unit of the kernel; negative only if the matrix is not a kernel.

    Raises
    ------
    DataError for a kernel of an unexpected shape, not finite or not symmetric.

    References
    ----------
    Gretton et al. 2012, JMLR 13; an IPM (eq. 7), and what the double integral of eq. 49 is.

    >>> mmd_squared([1, 0], [0, 1], [[1, .25], [.25, 1]])
    1.5
    """
    q, r = checks.pmf_pair(q=q, r=r)
    kernel = checks.symmetric("kernel", kernel, len(q))
    return float((q - r) @ kernel @ (q - r))


def entropy(q: ArrayLike) -> float:
    """Shannon entropy in nats, in [0, log Y]: how many nats a text of q takes with the best code for q.

    Parameters
    ----------
    q : (Y,) probabilities.

    >>> round(entropy([.5, .5]), 4)
    0.6931
    """
    return float(entr(checks.pmf("q", q)).sum())


def cross_entropy(q: ArrayLike, f: ArrayLike) -> float:
    """Mean of -log f under q: how many nats a text of q takes with the best code for f; kl(q, f) + entropy(q).

    Parameters
    ----------
    q, f : (Y,) probabilities over the same outcomes: the system's marginal, the language model.

    Returns
    -------
    float in [0, inf], nats. Not a divergence: it is smallest if q has only the likeliest outcome of f.

    References
    ----------
    Flamich et al. 2025, eqs. 8-13.

    >>> round(cross_entropy([.5, .5], [.25, .75]), 4)
    0.837
    """
    q, f = checks.pmf_pair(q, f)
    return float(-xlogy(q, f).sum())


def ipm(q: ArrayLike, r: ArrayLike, critics: ArrayLike) -> float:
    """Integral probability metric over given critics: the largest gap that any of them sees between the two means.

    Parameters
    ----------
    q, r : (Y,) probabilities over the same outcomes: the system's marginal, the reference.
    critics : (K, Y) score of every outcome by K critics.

    Returns
    -------
    float >= 0 in the unit of the critics.

    References
    ----------
    Flamich et al. 2025, eq. 7; Müller 1997.

    >>> ipm([1, 0], [.5, .5], [[0, 1], [4, 0]])
    2.0
    """
    q, r = checks.pmf_pair(q=q, r=r)
    return float(np.abs(checks.finite("critics", critics, (None, len(q))) @ (q - r)).max())


# Name -> (q, r) -> divergence.
DIVERGENCES: dict[str, Callable[[ArrayLike, ArrayLike], float]] = {
    "tv": total_variation,
    "kl": kl,
    "js": jensen_shannon,
    "chi2": chi_squared,
}
