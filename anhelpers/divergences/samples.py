"""Divergences from samples: every estimate leaves with its standard error, both n and the direction of its bias."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import LEAST_TOTAL, ROUNDING, too_low
from ..errors import DataError
from ..stats import Z95
from . import pmf

__all__ = ["Estimate", "PairSums", "kl_from_logprobs", "plug_in", "wasserstein_1d"]

UPWARD = "biased upward, because noise also sets two samples apart"
INFINITE = "infinite: the system has an outcome that the sample of the reference lacks, which more samples may cure"
MOST_OUTCOMES = 2000  # the jackknife takes time in the square of the outcomes


@dataclass(frozen=True)
class Estimate:
    """A number computed from samples of the system q and the reference r, with its standard error.

    Parameters
    ----------
    name : of the quantity.
    value, se : the estimate, as it is (a negative one stays negative), and its standard error; nan where there is none.
    n_q, n_r : how many samples of q and of r were used; 0 where a side is known exactly.
    bias : one plain sentence: "unbiased", or in which direction and why.
    unit : "" for a number without one.
    signature : what was chosen on the way (kernel, bandwidth, resamples), so that the number can be repeated.
    bias_estimate : first-order estimate of the bias, to be subtracted by who wants that; nan where there is none.
    left_out : how many samples were missing (nan) and left out.
    """

    name: str
    value: float
    se: float
    n_q: int
    n_r: int
    bias: str
    unit: str = ""
    signature: str = ""
    bias_estimate: float = float("nan")
    left_out: int = 0

    @property
    def interval(self) -> tuple[float, float]:
        """The normal 95 % interval, value ± 1.96 se; it corrects no bias and may reach below 0."""
        return self.value - Z95 * self.se, self.value + Z95 * self.se

    def __str__(self) -> str:
        low, high = self.interval
        n = " + ".join(str(k) for k in (self.n_q, self.n_r) if k)
        n = f"n = {n}" if n else "exact q and r"
        left_out = f", {self.left_out} missing" if self.left_out else ""
        return (
            f"{self.name} {self.value:.4g}{' ' + self.unit if self.unit else ''}, "
            f"95 % interval {low:.4g} to {high:.4g} ({n}{left_out}; {self.bias})"
        )


def plug_in(
    divergence: str,
    x: ArrayLike,
    y: ArrayLike,
    *,
    rng: np.random.Generator,
    order: float | None = None,
    n_draws: int = 200,
) -> Estimate:
    """A divergence of two samples of categories: that of their relative frequencies.

    Parameters
    ----------
    divergence : a name in `pmf.DIVERGENCES`, or "renyi" with its `order`.
    x, y : (n,) and (m,) outcomes of the system and of the reference, such as labels, words or lengths.
    rng, n_draws : resamples of both, for the standard error.

    Returns
    -------
    Estimate. A divergence that is convex in both distributions together is biased upward (Jensen): O(1/n) times the
    number of outcomes where it is smooth, O(1/√n) for total variation where q and r agree. Above order 1, Rényi's is
    not convex in q. `bias_estimate` is the jackknife's, right to O(1/n²) where the divergence is smooth, and nan for
    more than 2000 outcomes. The value is inf where x has an outcome that y lacks, except for total variation,
    Jensen-Shannon and orders below 1; se or bias_estimate is nan where a resample, or leaving one out, makes it inf.

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
    value = function(counts_x / n, counts_y / m)
    n_draws = checks.draws_that_fit(n_draws, 2 * len(counts_x))
    draws = zip(rng.multinomial(n, counts_x / n, n_draws), rng.multinomial(m, counts_y / m, n_draws), strict=True)
    bias = UPWARD if order is None or order <= 1 else f"{UPWARD} (likely, not certain, above order 1)"
    signature = f"plug-in|{len(counts_x)} outcomes|bootstrap:{n_draws}"
    if value == math.inf:
        return Estimate(name, value, math.nan, n, m, INFINITE, unit, signature)
    se = _spread([function(a / n, b / m) for a, b in draws])
    lean = _jackknife_bias(function, counts_x, counts_y, value) if len(counts_x) <= MOST_OUTCOMES else math.nan
    return Estimate(name, value, se, n, m, bias, unit, signature, bias_estimate=lean)


def _divergence(name: str, order: float | None) -> tuple[Callable[[np.ndarray, np.ndarray], float], str, str]:
    """The function of two distributions, its name and its unit."""
    checks.one_of(name, [*pmf.DIVERGENCES, "renyi"], "divergence")
    if (name == "renyi") != (order is not None):
        raise DataError(f"{name} with order {order}: give an order to renyi, and to no other divergence.")
    if order is not None:
        return partial(pmf.renyi, order=order), f"renyi {order:g}", "nats"
    return pmf.DIVERGENCES[name].value, name, pmf.DIVERGENCES[name].unit


def _counts(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """How often each outcome of either sample occurs in x and in y."""
    x, y = np.asarray(x), np.asarray(y)
    if x.ndim != 1 or y.ndim != 1 or min(len(x), len(y)) < 2:
        raise DataError(f"samples have shapes {x.shape} and {y.shape}: give two flat ones of at least 2 outcomes.")
    if any(v.dtype.kind == "f" and np.isnan(v).any() for v in (x, y)):
        raise DataError("a sample holds nan: leave those outcomes out.")
    outcomes, index = np.unique(np.concatenate([x, y]), return_inverse=True)
    here, there = index[: len(x)], index[len(x) :]
    return np.bincount(here, minlength=len(outcomes)), np.bincount(there, minlength=len(outcomes))


def _jackknife_bias(function: Callable, counts_x: np.ndarray, counts_y: np.ndarray, value: float) -> float:
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


def _spread(draws: list[float]) -> float:
    """Standard deviation of resampled values; nan where one is infinite, because no number describes that."""
    return float(np.std(draws, ddof=1)) if np.isfinite(draws).all() and len(draws) > 1 else math.nan


def wasserstein_1d(
    x: ArrayLike, y: ArrayLike, *, rng: np.random.Generator, n_draws: int = 200, unit: str = ""
) -> Estimate:
    """Wasserstein-1 of two samples of scores: the area between their cumulative functions, in the unit of the scores.

    Parameters
    ----------
    x, y : (n,) and (m,) scores of the system and of the reference, finite, at least 2 each.
    rng, n_draws : resamples of both, for the standard error.

    Returns
    -------
    Estimate, exact for the two samples; biased upward for the distributions behind them: two samples of the same
    distribution are apart by about 1/√n.

    >>> wasserstein_1d([0, 1, 3], [5, 6, 8], rng=np.random.default_rng(0)).value
    5.0
    """
    x, y = _scores("x", x), _scores("y", y)
    n, m = len(x), len(y)
    points = np.concatenate([x, y])
    order = np.argsort(points, kind="stable")
    place, gaps = np.argsort(order), np.diff(points[order])

    def area(rows_x: np.ndarray, rows_y: np.ndarray) -> float:
        lead = np.bincount(place[rows_x], minlength=n + m) / n - np.bincount(place[n + rows_y], minlength=n + m) / m
        return float(np.abs(np.cumsum(lead)[:-1]) @ gaps)

    draws = [area(rng.integers(0, n, n), rng.integers(0, m, m)) for _ in range(checks.whole("n_draws", n_draws))]
    bias = "biased upward, by up to O(1/√n) where q and r agree"
    value = area(np.arange(n), np.arange(m))
    return Estimate("wasserstein", value, _spread(draws), n, m, bias, unit, f"exact|bootstrap:{n_draws}")


def _scores(name: str, values: ArrayLike) -> np.ndarray:
    scores = checks.finite(name, values)
    if len(scores) < 2:
        raise DataError(f"{name} has one score; a sample needs at least 2.")
    return scores


@dataclass(frozen=True)
class PairSums:
    """Sums of a similarity C over the pairs that each of N points of the system and M of the reference is in.

    Parameters
    ----------
    xx, yy : (N,) and (M,) sums of C from each point to the others of its own sample.
    xy, yx : (N,) and (M,) sums from each point to the other sample.
    """

    xx: np.ndarray
    yy: np.ndarray
    xy: np.ndarray
    yx: np.ndarray

    def estimate(self, name: str, signature: str, unit: str = "") -> Estimate:
        """Mean C(x, x') + mean C(y, y') - 2 mean C(x, y), no point with itself (AN eq. 38); N, M ≥ 2.

        Unbiased, so it may be negative. The squared error is that of the linear term, 4 var(a)/N + 4 var(b)/M with
        a_i = mean C(x_i, x) - mean C(x_i, y) and b_j alike; where q = r that term is 0.
        """
        xx, yy, xy, yx, n, m = self.xx, self.yy, self.xy, self.yx, len(self.xx), len(self.yy)
        value = xx.sum() / (n * (n - 1)) + yy.sum() / (m * (m - 1)) - 2 * xy.sum() / (n * m)
        a, b = xx / (n - 1) - xy / m, yy / (m - 1) - yx / n
        se = 2 * math.sqrt(a.var(ddof=1) / n + b.var(ddof=1) / m)
        return Estimate(name, float(value), se, n, m, "unbiased", unit, signature)


def kl_from_logprobs(log_q: ArrayLike, log_f: ArrayLike) -> Estimate:
    """Kullback-Leibler divergence from a system to a language model: the mean of log q(y) - log f(y) over its outputs.

    Parameters
    ----------
    log_q : (n,) natural-log probability of each output y, drawn from q, under the system; finite, at most 0 (rounding
        above it counts as 0).
    log_f : (n,) the same under the language model; -inf where it excludes the output. A nan on either side leaves the
        pair out.

    Returns
    -------
    Estimate in nats per output, >= 0 on average though not in every sample. It is KL(q || f) if log_q is that of the
    marginal; with log q(y | x) of a translation it is KL plus the mutual information of source and output.

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
        raise DataError(f"log-probabilities have shapes {log_q.shape} and {log_f.shape}: give two flat arrays.")
    checks.same_length(log_q=log_q, log_f=log_f)
    for name, values, bad in (
        ("log_q", log_q, (log_q > ROUNDING) | np.isneginf(log_q)),
        ("log_f", log_f, log_f > ROUNDING),
    ):
        if bad.any():
            line = int(np.argmax(bad)) + 1
            raise DataError(f"{values[line - 1]} is no log-probability of an output: at most 0, finite.", name, line)
        if (low := np.flatnonzero((values < LEAST_TOTAL) & np.isfinite(values))).size:
            raise DataError(f"{values[low[0]]:.10g} {too_low(values[low[0]])}", name, int(low[0]) + 1)
    there = ~(np.isnan(log_q) | np.isnan(log_f))
    ratio, missing = (np.minimum(log_q, 0) - np.minimum(log_f, 0))[there], int((~there).sum())
    if len(ratio) < 2:
        raise DataError(f"{len(ratio)} pairs of log-probabilities ({missing} missing): at least 2 are needed.")
    value = float(ratio.mean())
    se = float(ratio.std(ddof=1)) / math.sqrt(len(ratio)) if math.isfinite(value) else math.nan
    return Estimate("kl", value, se, len(ratio), 0, "unbiased", "nats", "mean log q - log f", left_out=missing)
