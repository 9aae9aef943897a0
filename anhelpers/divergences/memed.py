"""The mean-mean discrepancy D_2 (Theorem E.2): from the second moment of random critics, without drawing any."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from ..estimate import Estimate
from .pairs import PairSums, pair_noise, spread_rows
from .processes import CriticProcess, pair_moment, quadratic_form

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
