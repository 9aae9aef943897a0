"""Divergences from samples: every estimate leaves with its interval, both n and the direction of its bias."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..bootstrap import LEVEL, effective, few_clusters, moves_variance, note_few_draws, student
from ..checks import LEAST_TOTAL, ROUNDING, too_low
from ..errors import DataError
from ..estimate import Estimate
from . import pmf

TAIL = (1 - LEVEL) / 2
STEPS, SHORT = 5, 0.02
"""Chords, and by how much they are cut so as to stay below, more after one that was too long."""
FARTHEST = 64.0
"""In differences as seen; only where the true one must be much larger than the shrunken one."""


class Chance(NamedTuple):
    """A distance beside what chance alone gives.

    Parameters
    ----------
    low, high : the 95 % interval, low 0 unless p ≤ 0.025. p : share of the draws for q = r that are at least as large.
    mean : of the draws for q = r.
    """

    low: float
    high: float
    p: float
    mean: float


def against_chance(
    value: float,
    sizes: Callable[[float], np.ndarray],
    truth: Callable[[float], float],
    *,
    plain: np.ndarray,
    se: float,
    n: float,
) -> Chance:
    """The interval of an estimated distance ≥ 0 that is biased upward, its p-value for q = r, and its mean there.

    The upper end does not take off the bias: it is the farther one of Student's t and of the plain resamples.

    Parameters
    ----------
    value : the estimate.
    sizes : λ ≥ 0 -> (B,) estimates in draws from two distributions whose distance is truth(λ), the same at 0.
    plain : (B,) estimates in draws from the two samples themselves. se : standard error. n : effective number of texts.
    """
    null = sizes(0.0)
    note_few_draws(len(null))
    p = (1 + int((null >= value * (1 - 1e-12)).sum())) / (1 + len(null))
    low = truth(_crossing(value, sizes)) if p <= TAIL else 0.0
    reach = float(student(value, se, n)[1]) if np.isfinite(se) else value
    high = float(max(value, reach, np.quantile(plain, 1 - TAIL, method="higher")))
    return Chance(min(low, value), np.inf if np.isinf(plain).any() else high, p, float(null.mean()))


def _crossing(value: float, sizes: Callable[[float], np.ndarray]) -> float:
    """From below, about the largest λ at which fewer than 2.5 % of the draws reach the value; 0 where there is none."""

    def upper(size: float) -> float:
        return float(np.quantile(sizes(size), 1 - TAIL, method="higher"))

    low, high = 0.0, 1.0
    below, above = upper(low), upper(high)
    while above < value:
        low, high, below, above = high, 2 * high, above, upper(2 * high)
        if high > FARTHEST:
            return 0.0
    short = SHORT
    for _ in range(STEPS):  # by chords, because the quantile grows nearly in a line
        part = (1 - short) * (value - below) / (above - below) if below < above < np.inf else 0.5
        at = low + part * (high - low)
        if (reached := upper(at)) < value:
            low, below, short = at, reached, SHORT
        else:
            high, above, short = at, reached, min(0.5, 4 * short)
    return low


def along_a_line(
    norm: Callable[[np.ndarray], np.ndarray],
    gap: np.ndarray,
    noise: np.ndarray,
    *,
    n: float,
    se: float | None = None,
    draw: np.ndarray | None = None,
) -> tuple[Chance, float]:
    """`against_chance` for a distance that is a norm of q - r, and the standard error.

    Parameters
    ----------
    norm : (..., K) differences -> (...) distances.
    gap : (K,) the difference of the two samples. noise : (B, K) resampled differences less it.
    n : effective number of texts on the side that has fewer. se : where it is known; else from the resamples.
    draw : (B, K) which of K coordinates are drawn, where they are a sample themselves.
    """
    # without the noise that is in it
    shrunken = np.sign(gap) * np.sqrt(np.maximum(gap * gap - noise.var(0), 0))
    at = slice(None) if draw is None else draw
    value, plain = float(norm(gap)), norm(gap[at] + noise)
    spread = float(plain.std(ddof=1)) if len(plain) > 1 else np.nan
    error = spread if se is None else se
    size = float(norm(shrunken))
    found = against_chance(
        value,
        lambda by: norm(by * shrunken[at] + noise),
        lambda by: by * size,
        plain=plain,
        se=error,
        n=n,
    )
    return found, error


def resampled(
    n: int, docs: Sequence | np.ndarray | None, n_draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """(B, n) by how much the weight 1/n of each text is moved, and how many documents count.

    Each document's part in the sample is turned to one side or the other (the wild bootstrap). Drawing documents with
    replacement would add the luck of how often each is drawn to the size of the noise: in many dimensions, too much.

    Parameters
    ----------
    n : texts. docs : (n,) their documents, which are turned whole; None: texts are independent.

    References
    ----------
    Davison and Hinkley 1997, ch. 6; Leucht and Neumann 2013, Journal of Multivariate Analysis 117.
    """
    names = np.arange(n) if docs is None else np.asarray(docs)
    _, index, sizes = np.unique(names, return_inverse=True, return_counts=True)
    m = len(sizes)
    signs = rng.choice((-1.0, 1.0), size=(checks.whole("n_draws", n_draws), m))
    moved = (signs[:, index] - (signs @ sizes / n)[:, None]) / n
    return moved * np.sqrt(m / (m - 1)), float(effective(sizes))


NOISE_OF = 200
"""Texts of either side from which the noise of pairs is estimated: a moment that so many say well enough."""


@dataclass(frozen=True)
class PairSums:
    """Sums of a similarity C over the pairs that each of N points of the system and M of the reference is in.

    Parameters
    ----------
    xx, yy : (N,) and (M,) sums of C from each point to the others of its own sample.
    xy, yx : (N,) and (M,) sums from each point to the other sample.
    noise : of `pair_noise`; nan where a sample has fewer than 4 points.
    """

    xx: np.ndarray
    yy: np.ndarray
    xy: np.ndarray
    yx: np.ndarray
    noise: tuple[float, float, float]

    def estimate(self, name: str, signature: str, unit: str = "") -> Estimate:
        """Mean C(x, x') + mean C(y, y') - 2 mean C(x, y), no point with itself (AN eq. 38); N, M ≥ 2.

        Unbiased, so it may be negative. The squared error is the sum of that of the linear term, 4 var(a)/N +
        4 var(b)/M with a_i = mean C(x_i, x) - mean C(x_i, y) and b_j alike, which is 0 where q = r; and of that of the
        pairs, 2 vₓₓ/(N (N - 1)) + 2 vᵧᵧ/(M (M - 1)) + 4 vₓᵧ/(N M) with v of `pair_noise`, which is not.
        (a and b hold the noise of pairs, too, twice; it is taken off.) No interval below 4 points.
        """
        xx, yy, xy, yx, n, m = self.xx, self.yy, self.xy, self.yx, len(self.xx), len(self.yy)
        value = float(xx.sum() / (n * (n - 1)) + yy.sum() / (m * (m - 1)) - 2 * xy.sum() / (n * m))
        a, b = xx / (n - 1) - xy / m, yy / (m - 1) - yx / n
        linear = float(4 * (a.var(ddof=1) / n + b.var(ddof=1) / m))
        of_x, of_y, of_both = self.noise
        second = max(
            0.0, 2 * of_x / (n * (n - 1)) + 2 * of_y / (m * (m - 1)) + 4 * of_both / (n * m)
        )
        se, (low, high) = math.nan, (math.nan, math.nan)
        if not math.isnan(of_x + of_y):
            se = math.sqrt(max(linear - second, second))
            low, high = pair_interval(value, linear, second, min(n, m))
        return Estimate(
            name,
            value,
            se=se,
            n=n,
            n_r=m,
            bias="unbiased",
            unit=unit,
            signature=signature,
            low=low,
            high=high,
            chance=0.0,
            caution=few_clusters(min(n, m), "texts"),
        )


def pair_noise(cxx: np.ndarray, cyy: np.ndarray, cxy: np.ndarray) -> tuple[float, float, float]:
    """Mean squares, unbiased, of C(x, x'), C(y, y') and C(x, y) less what either point says by itself.

    Parameters
    ----------
    cxx, cyy, cxy : (N, N), (M, M), (N, M) similarities; the diagonals of the first two do not count. nan where a side
        has fewer than 4 points. They may be those of some `spread_rows` of either sample.

    References
    ----------
    Székely and Rizzo 2014, Annals of Statistics 42, for centring without the diagonal.
    """
    return (
        (math.nan,) * 3
        if min(cxy.shape) < 4
        else (_mean_within(cxx), _mean_within(cyy), _mean_between(cxy))
    )


def spread_rows(n: int) -> np.ndarray:
    """(k,) at most 200 of n rows, evenly spread."""
    return np.linspace(0, n - 1, min(n, NOISE_OF)).round().astype(int)


def _mean_within(c: np.ndarray) -> float:
    n = len(c)
    c = np.where(np.eye(n, dtype=bool), 0.0, c)
    rows = c.sum(1)
    centred = c - rows[:, None] / (n - 2) - rows / (n - 2) + rows.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(centred, 0)
    return float((centred * centred).sum()) / (n * (n - 3))


def _mean_between(c: np.ndarray) -> float:
    n, m = c.shape
    centred = c - c.mean(1, keepdims=True) - c.mean(0) + c.mean()
    return float((centred * centred).sum()) / ((n - 1) * (m - 1))


def pair_interval(value: float, linear: float, second: float, n: float) -> tuple[float, float]:
    """The 95 % interval of an unbiased estimate U of a squared distance D ≥ 0: all D with (U - D)² ≤ t² (v + k D).

    The error of U has a part v that stays where q = r and a linear part that grows with D as k D, as for Wilson's
    interval of a share. The lower end may be negative: then 0 is inside.

    Parameters
    ----------
    value : U. linear : the squared error of the linear term, as estimated. second : v.
    n : points on the side that has fewer, for Student's t.
    """
    reach = float(student(0.0, 1.0, n)[1]) ** 2
    null = np.sqrt(reach * second)
    slope = linear / (max(value, 0.0) + np.sqrt(second)) if linear else 0.0
    middle = value + reach * slope / 2
    half = np.sqrt(max(0.0, middle * middle - (value * value - reach * second)))
    low = value - null if value <= null else middle - half
    return float(low), float(max(0.0, middle + half))


UPWARD = "biased upward, because noise also sets two samples apart"
INFINITE = (
    "infinite: the system has an outcome that the sample of the reference lacks, which more "
    "samples may cure"
)
NEAR = "biased upward, by up to O(1/√n) where q and r agree"
MOST_OUTCOMES = 2000  # the jackknife takes time in the square of the outcomes


def plug_in(
    divergence: str,
    x: ArrayLike,
    y: ArrayLike,
    *,
    rng: np.random.Generator,
    order: float | None = None,
    n_draws: int = 400,
) -> Estimate:
    """A divergence of two samples of categories: that of their relative frequencies.

    Parameters
    ----------
    divergence : a name in `pmf.DIVERGENCES`, or "renyi" with its `order`.
    x, y : (n,) and (m,) outcomes of the system and of the reference, such as labels, words or lengths, taken as
        independent (words of one text are not).
    rng, n_draws : draws for the standard error, for what chance alone gives and for the interval (`chance`).

    Returns
    -------
    Estimate. A divergence that is convex in both distributions together is biased upward (Jensen): O(1/n) times the
    number of outcomes where it is smooth, O(1/√n) for total variation where q and r agree. Above order 1, Rényi's is
    not convex in q. `bias_estimate` is the jackknife's, right to O(1/n²) where the divergence is smooth, and nan for
    more than 2000 outcomes. The interval begins at 0 unless chance alone gives as much with p ≤ 0.025. The value is inf
    where x has an outcome that y lacks, except for total variation, Jensen-Shannon and orders below 1, and then there
    is no interval; se or bias_estimate is nan, and the upper end inf, where a resample, or leaving one out, makes it
    inf.

    Raises
    ------
    DataError for samples that are not flat, have fewer than 2 outcomes or hold nan; UnknownName for the divergence.

    References
    ----------
    Paninski 2003, Neural Computation 15, for the bias of plug-in estimates; Efron and Stein 1981 for the jackknife.

    >>> plug_in("tv", list("aabb"), list("abbb"), rng=np.random.default_rng(0)).value
    0.25
    """
    function, name, unit = _divergence(divergence, order)
    counts_x, counts_y = _counts(x, y)
    n, m = int(counts_x.sum()), int(counts_y.sum())
    q, r = counts_x / n, counts_y / m
    value = function(q, r)
    n_draws = checks.whole("n_draws", n_draws)
    bias = (
        UPWARD if order is None or order <= 1 else f"{UPWARD} (likely, not certain, above order 1)"
    )
    signature = f"plug-in|{len(counts_x)} outcomes|bootstrap:{n_draws}"
    if value == math.inf:
        return Estimate(name, value, n=n, n_r=m, bias=INFINITE, unit=unit, signature=signature)
    seed = int(rng.integers(2**63))  # the same randomness whatever the two distributions

    def drawn(q: np.ndarray, r: np.ndarray) -> np.ndarray:
        again = np.random.default_rng(seed)
        return np.array(
            [
                function(a / n, b / m)
                for a, b in zip(
                    again.multinomial(n, q, n_draws), again.multinomial(m, r, n_draws), strict=True
                )
            ]
        )

    both = _between(q, r, n, m)
    plain = drawn(q, r)
    se = _spread(plain)
    found = against_chance(
        value,
        lambda by: drawn(*both(by)),
        lambda by: function(*both(by)),
        plain=plain,
        se=se,
        n=min(n, m),
    )
    lean = (
        _jackknife_bias(function, counts_x, counts_y, value)
        if len(counts_x) <= MOST_OUTCOMES
        else math.nan
    )
    return Estimate(
        name,
        value,
        se=se,
        n=n,
        n_r=m,
        bias=bias,
        unit=unit,
        signature=signature,
        bias_estimate=lean,
        low=found.low,
        high=found.high,
        chance=found.mean,
        p=found.p,
        caution=few_clusters(min(n, m), "outcomes"),
    )


def _between(
    q: np.ndarray, r: np.ndarray, n: int, m: int
) -> Callable[[float], tuple[np.ndarray, np.ndarray]]:
    """λ -> two distributions, the same at 0; at 1 those of the samples, without the noise in their difference."""
    pooled, gap = (n * q + m * r) / (n + m), q - r
    noise = q * (1 - q) / (n - 1) + r * (1 - r) / (m - 1)
    shrunken = np.sign(gap) * np.sqrt(np.maximum(gap * gap - noise, 0))

    def at(by: float) -> tuple[np.ndarray, np.ndarray]:
        parts = (
            np.maximum(0, pooled + by * side * shrunken) for side in (m / (n + m), -n / (n + m))
        )
        one, other = (part / part.sum() for part in parts)
        return one, other

    return at


def _divergence(
    name: str, order: float | None
) -> tuple[Callable[[np.ndarray, np.ndarray], float], str, str]:
    """The function of two distributions, its name and its unit."""
    checks.one_of(name, [*pmf.DIVERGENCES, "renyi"], "divergence")
    if (name == "renyi") != (order is not None):
        raise DataError(
            f"{name} with order {order}: give an order to renyi, and to no other divergence."
        )
    if order is not None:
        return partial(pmf.renyi, order=order), f"renyi {order:g}", "nats"
    return pmf.DIVERGENCES[name].value, name, pmf.DIVERGENCES[name].unit


def _counts(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """How often each outcome of either sample occurs in x and in y."""
    x, y = np.asarray(x), np.asarray(y)
    if x.ndim != 1 or y.ndim != 1 or min(len(x), len(y)) < 2:
        raise DataError(
            f"samples have shapes {x.shape} and {y.shape}: give two flat ones of at least 2 "
            "outcomes."
        )
    if any(v.dtype.kind == "f" and np.isnan(v).any() for v in (x, y)):
        raise DataError("a sample holds nan: leave those outcomes out.")
    outcomes, index = np.unique(np.concatenate([x, y]), return_inverse=True)
    here, there = index[: len(x)], index[len(x) :]
    return np.bincount(here, minlength=len(outcomes)), np.bincount(there, minlength=len(outcomes))


def _jackknife_bias(
    function: Callable, counts_x: np.ndarray, counts_y: np.ndarray, value: float
) -> float:
    """(n - 1)(mean of the value with one outcome left out - value), summed over both samples; nan where one is inf."""
    q, r, bias = counts_x / counts_x.sum(), counts_y / counts_y.sum(), 0.0
    for counts, at in ((counts_x, lambda p: function(p, r)), (counts_y, lambda p: function(q, p))):
        n = int(counts.sum())
        for k in np.flatnonzero(counts):
            less = counts.copy()
            less[k] -= 1
            left_out = at(less / (n - 1))
            if not math.isfinite(left_out - value):
                return math.nan
            bias += (n - 1) * counts[k] / n * (left_out - value)
    return float(bias)


def _spread(draws: np.ndarray) -> float:
    """Standard deviation of resampled values; nan where one is infinite, because no number describes that."""
    return float(np.std(draws, ddof=1)) if np.isfinite(draws).all() and len(draws) > 1 else math.nan


def wasserstein_1d(
    x: ArrayLike,
    y: ArrayLike,
    *,
    rng: np.random.Generator,
    n_draws: int = 400,
    unit: str = "",
    docs_x: Sequence | np.ndarray | None = None,
    docs_y: Sequence | np.ndarray | None = None,
) -> Estimate:
    """Wasserstein-1 of two samples of scores: the area between their cumulative functions, in the unit of the scores.

    Parameters
    ----------
    x, y : (n,) and (m,) scores of the system and of the reference, finite, at least 2 each.
    rng, n_draws : resamples of both, for the standard error, for what chance alone gives and for the interval.
    docs_x, docs_y : (n,) and (m,) document of each score; documents are resampled whole. None: scores are independent.

    Returns
    -------
    Estimate, exact for the two samples; biased upward for the distributions behind them: two samples of the same
    distribution are apart by about 1/√n. So the interval begins at 0 unless chance alone gives as much with p ≤ 0.025.

    >>> wasserstein_1d([0, 1, 3], [5, 6, 8], rng=np.random.default_rng(0)).value
    5.0
    """
    x, y = _scores("x", x), _scores("y", y)
    points, n_draws = np.concatenate([x, y]), checks.whole("n_draws", n_draws)
    order = np.argsort(points, kind="stable")
    gaps = np.diff(points[order])

    def lead(of_x: np.ndarray, of_y: np.ndarray) -> np.ndarray:
        """(..., n + m - 1) by how much the cumulative function of x is above that of y, between two points."""
        return np.cumsum(np.concatenate([of_x, -of_y], axis=-1)[..., order], axis=-1)[..., :-1]

    sides = [(x, docs_x, "docs_x"), (y, docs_y, "docs_y")]
    (of_x, n), (of_y, m) = (
        resampled(len(v), _documents(v, docs, name), n_draws, rng) for v, docs, name in sides
    )
    here, there = (np.full(len(v), 1 / len(v)) for v in (x, y))
    seen = lead(here, there)
    found, se = along_a_line(lambda by: np.abs(by) @ gaps, seen, lead(of_x, of_y), n=min(n, m))
    docs = [
        _n_documents(np.arange(len(v)) if docs is None else np.asarray(docs))
        for v, docs, _ in sides
    ]
    fewest, what = min(
        (k, "documents") if k else (len(v), "scores") for k, v in zip(docs, (x, y), strict=True)
    )
    value, signature = float(np.abs(seen) @ gaps), f"exact|bootstrap:{n_draws}"
    return Estimate(
        "wasserstein",
        value,
        se=se,
        n=len(x),
        n_r=len(y),
        bias=NEAR,
        unit=unit,
        signature=signature,
        low=found.low,
        high=found.high,
        chance=found.mean,
        p=found.p,
        n_docs=docs[0],
        docs_r=docs[1],
        caution=few_clusters(fewest, what, min(n, m)),
    )


def _n_documents(of: np.ndarray) -> int:
    """0 where each text is a document by itself, and so taken as independent."""
    n = len(np.unique(of))
    return 0 if n == len(of) else n


def _documents(
    scores: np.ndarray, docs: Sequence | np.ndarray | None, name: str
) -> np.ndarray | None:
    """(n,) documents; a DataError where they are of another number or only one."""
    if docs is None:
        return None
    checks.same_length(scores=scores, **{name: docs})
    if len(np.unique(np.asarray(docs))) < 2:
        raise DataError(f"{name} names one document, and resampling needs at least 2.")
    return np.asarray(docs)


def _scores(name: str, values: ArrayLike) -> np.ndarray:
    scores = checks.finite(name, values)
    if len(scores) < 2:
        raise DataError(f"{name} has one score; a sample needs at least 2.")
    return scores


def kl_from_logprobs(
    log_q: ArrayLike, log_f: ArrayLike, docs: Sequence | np.ndarray | None = None
) -> Estimate:
    """Kullback-Leibler divergence from a system to a language model: the mean of log q(y) - log f(y) over its outputs.

    Parameters
    ----------
    log_q : (n,) natural-log probability of each output y, drawn from q, under the system; finite, at most 0 (rounding
        above it counts as 0).
    log_f : (n,) the same under the language model; -inf where it excludes the output. A nan on either side leaves the
        pair out.
    docs : (n,) document of each output; None: outputs are taken as independent.

    Returns
    -------
    Estimate in nats per output, >= 0 on average though not in every sample; a mean, so its interval is Student's. It is
    KL(q || f) if log_q is that of the marginal; with log q(y | x) of a translation it is KL plus the mutual information
    of source and output.

    Raises
    ------
    DataError with the line of a positive or hugely negative log-probability (`checks.too_low`) or of an impossible
    output, or for fewer than 2 pairs.

    References
    ----------
    Flamich et al. 2025, eq. 14.

    >>> kl_from_logprobs([-1.0, -2.0], [-1.5, -3.5]).value
    1.0
    """
    log_q, log_f = np.asarray(log_q, dtype=np.float64), np.asarray(log_f, dtype=np.float64)
    if log_q.ndim != 1 or log_f.ndim != 1:
        raise DataError(
            f"log-probabilities have shapes {log_q.shape} and {log_f.shape}: give two flat arrays."
        )
    checks.same_length(log_q=log_q, log_f=log_f)
    for name, values, bad in (
        ("log_q", log_q, (log_q > ROUNDING) | np.isneginf(log_q)),
        ("log_f", log_f, log_f > ROUNDING),
    ):
        if bad.any():
            line = int(np.argmax(bad)) + 1
            raise DataError(
                f"{values[line - 1]} is no log-probability of an output: at most 0, finite.",
                name,
                line,
            )
        if (low := np.flatnonzero((values < LEAST_TOTAL) & np.isfinite(values))).size:
            raise DataError(
                f"{values[low[0]]:.10g} {too_low(values[low[0]])}", name, int(low[0]) + 1
            )
    there = ~(np.isnan(log_q) | np.isnan(log_f))
    ratio, missing = (np.minimum(log_q, 0) - np.minimum(log_f, 0))[there], int((~there).sum())
    if len(ratio) < 2:
        raise DataError(
            f"{len(ratio)} pairs of log-probabilities ({missing} missing): at least 2 are needed."
        )
    value = float(ratio.mean())
    of = _documents(log_q, docs, "docs")
    of = np.arange(len(ratio)) if of is None else of[there]
    n_docs, se, counting = _n_documents(of), math.nan, math.nan
    if math.isfinite(value) and n_docs != 1:
        variance, counting = moves_variance((ratio - value) / len(ratio), of)
        se = math.sqrt(variance)
    low, high = (float(end) for end in student(value, se, counting))
    return Estimate(
        "kl",
        value,
        se=se,
        n=len(ratio),
        bias="unbiased",
        unit="nats",
        signature="mean log q - log f",
        left_out=missing,
        low=low,
        high=high,
        n_docs=n_docs,
        n_effective=counting,
        caution=few_clusters(n_docs or len(ratio), "documents" if n_docs else "outputs", counting),
    )
