"""Divergences from samples: every estimate leaves with its interval, both n and the direction of its bias."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import LEAST_TOTAL, ROUNDING, too_low
from ..errors import DataError
from ..estimate import Estimate
from ..intervals import few_clusters, moves_variance, student
from . import pmf
from .chance import against_chance, along_a_line, resampled

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
    n_draws = checks.draws_that_fit(n_draws, 2 * len(counts_x))
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
    points, n_draws = np.concatenate([x, y]), checks.draws_that_fit(n_draws, 4 * (len(x) + len(y)))
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
