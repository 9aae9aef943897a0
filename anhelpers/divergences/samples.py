"""Divergences estimated from samples, with interval, both sample sizes and direction of the bias."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import bootstrap, checks
from ..bootstrap import LEVEL, effective, few_clusters, moves_variance, note_few_draws, student
from ..errors import DataError
from ..estimate import Estimate
from . import pmf

TAIL = (1 - LEVEL) / 2
Visit = Callable[[slice, slice, np.ndarray], None]
# chords, and the share by which they are cut to stay below
_STEPS, _SHORT = 5, 0.02
# in observed differences: the true one may be much larger than the shrunken one
_FARTHEST = 64.0


class _Chance(NamedTuple):
    """The 95 % interval of a distance, and its distribution by chance alone; fields of `Estimate`.

    Parameters
    ----------
    low, high : float
        The interval; low is 0 unless p ≤ 0.025.
    p, chance : float
        Share of the draws for q = r that are at least as large, and their mean.
    """

    low: float
    high: float
    p: float
    chance: float


def _against_chance(
    value: float,
    sizes: Callable[[float], np.ndarray],
    truth: Callable[[float], float],
    *,
    plain: np.ndarray,
    se: float,
    n: float,
) -> _Chance:
    """The interval of an estimated distance ≥ 0 that is biased upward, its p-value for q = r, and its mean there.

    The bias is not subtracted from the upper end: it is the wider of Student's t's and the plain resamples'.

    Parameters
    ----------
    value, se, n : float
        The estimate, its standard error, the effective number of texts.
    sizes : callable
        λ ≥ 0 -> (B,) estimates in draws from two distributions whose distance is truth(λ), equal at λ = 0.
    plain : array
        (B,) estimates in draws from the two samples.
    """
    null = sizes(0.0)
    note_few_draws(len(null))
    p = (1 + int((null >= value * (1 - 1e-12)).sum())) / (1 + len(null))
    low = truth(_crossing(value, sizes)) if p <= TAIL else 0.0
    reach = float(student(value, se, n)[1]) if np.isfinite(se) else value
    high = float(max(value, reach, np.quantile(plain, 1 - TAIL, method="higher")))
    return _Chance(
        min(low, value), np.inf if np.isinf(plain).any() else high, p, float(null.mean())
    )


def _crossing(value: float, sizes: Callable[[float], np.ndarray]) -> float:
    """From below, about the largest λ at which fewer than 2.5 % of the draws reach the value; 0 if none."""

    def upper(size: float) -> float:
        return float(np.quantile(sizes(size), 1 - TAIL, method="higher"))

    low, high = 0.0, 1.0
    below, above = upper(low), upper(high)
    while above < value:
        low, high, below, above = high, 2 * high, above, upper(2 * high)
        if high > _FARTHEST:
            return 0.0
    short = _SHORT
    # by chords, because the quantile grows nearly in a line
    for _ in range(_STEPS):
        part = (1 - short) * (value - below) / (above - below) if below < above < np.inf else 0.5
        at = low + part * (high - low)
        if (reached := upper(at)) < value:
            low, below, short = at, reached, _SHORT
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
) -> tuple[_Chance, float]:
    """Interval and standard error of a distance that is a norm of q - r.

    Parameters
    ----------
    norm : callable
        (..., K) differences -> (...) distances.
    gap, noise : array
        (K,) difference of the two samples, and (B, K) resampled differences minus it.
    n : float
        Effective number of texts on the side with fewer.
    se : float, optional
        Standard error (default: from the resamples).
    draw : array, optional
        (B, K) drawn coordinates, if the K are a sample themselves.
    """
    # without the noise that is in it
    shrunken = np.sign(gap) * np.sqrt(np.maximum(gap * gap - noise.var(0), 0))
    at = slice(None) if draw is None else draw
    value, plain = float(norm(gap)), norm(gap[at] + noise)
    spread = float(plain.std(ddof=1)) if len(plain) > 1 else np.nan
    error = spread if se is None else se
    size = float(norm(shrunken))
    sizes = lambda by: norm(by * shrunken[at] + noise)  # noqa: E731
    return _against_chance(value, sizes, lambda by: by * size, plain=plain, se=error, n=n), error


def _resampled(
    n: int, docs: Sequence | np.ndarray | None, n_draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """(B, n) random changes of the weight 1/n of each text, and the effective number of documents.

    Each document's part in the sample changes sign at random (the wild bootstrap). Drawing documents with replacement
    would add the variation of their counts to the size of the noise: in many dimensions, too much.

    Parameters
    ----------
    n : int
        Number of texts.
    docs : sequence, optional
        (n,) their documents, which change sign as a whole (default: texts are independent).

    References
    ----------
    Davison and Hinkley 1997, ch. 6; Leucht and Neumann 2013, Journal of Multivariate Analysis 117.
    """
    names = np.arange(n) if docs is None else checks._names(docs)
    _, index, sizes = np.unique(names, return_inverse=True, return_counts=True)
    m = len(sizes)
    signs = rng.choice((-1.0, 1.0), size=(checks.whole("n_draws", n_draws), m))
    moved = (signs[:, index] - (signs @ sizes / n)[:, None]) / n
    return moved * np.sqrt(m / (m - 1)), float(effective(sizes))


# texts of either side from which the noise of pairs is estimated
_NOISE_OF = 200
# points on a side of a tile of pairs: 1 MiB of float32 stays in the cache
_BLOCK = 512


@dataclass(frozen=True)
class _PairSums:
    """Sums of a similarity C over the pairs of each of N points of the system and M of the reference.

    Parameters
    ----------
    xx, yy : array
        (N,) and (M,) sums of C from each point to the others of its own sample.
    xy, yx : array
        (N,) and (M,) sums from each point to the other sample.
    noise : tuple
        Result of `_pair_noise`; nan if a sample has fewer than 4 points.
    """

    xx: np.ndarray
    yy: np.ndarray
    xy: np.ndarray
    yx: np.ndarray
    noise: tuple[float, float, float]

    def estimate(self, name: str, signature: str, unit: str = "") -> Estimate:
        """Mean C(x, x') + mean C(y, y') - 2 mean C(x, y), no point with itself (AN eq. 38); N, M ≥ 2.

        Unbiased, so it may be negative. The squared error is the sum of that of the linear term, 4 var(a)/N +
        4 var(b)/M with a_i = mean C(x_i, x) - mean C(x_i, y) and b_j alike, which is 0 if q = r; and of that of the
        pairs, 2 vₓₓ/(N (N - 1)) + 2 vᵧᵧ/(M (M - 1)) + 4 vₓᵧ/(N M) with v of `_pair_noise`, which is not.
        (a and b contain the noise of pairs twice; it is subtracted.) No interval below 4 points.
        """
        xx, yy, xy, yx, n, m = self.xx, self.yy, self.xy, self.yx, len(self.xx), len(self.yy)
        value = float(xx.sum() / (n * (n - 1)) + yy.sum() / (m * (m - 1)) - 2 * xy.sum() / (n * m))
        a, b = xx / (n - 1) - xy / m, yy / (m - 1) - yx / n
        linear = float(4 * (a.var(ddof=1) / n + b.var(ddof=1) / m))
        of_x, of_y, of_both = self.noise
        pairs = 2 * of_x / (n * (n - 1)) + 2 * of_y / (m * (m - 1)) + 4 * of_both / (n * m)
        second = max(0.0, pairs)
        se, (low, high) = math.nan, (math.nan, math.nan)
        if not math.isnan(of_x + of_y):
            se = math.sqrt(max(linear - second, second))
            low, high = _pair_interval(value, linear, second, min(n, m))
        facts: dict = {"unit": unit, "signature": signature, "bias": "unbiased", "chance": 0.0}
        facts |= {"n": n, "n_r": m, "caution": few_clusters(min(n, m), "texts")}
        return Estimate(name, value, se=se, low=low, high=high, **facts)


def _pair_noise(cxx: np.ndarray, cyy: np.ndarray, cxy: np.ndarray) -> tuple[float, float, float]:
    """Mean squares, unbiased, of C(x, x'), C(y, y') and C(x, y) without the effect of either point.

    Parameters
    ----------
    cxx, cyy, cxy : array
        (N, N), (M, M), (N, M) similarities, or those of some `_spread_rows`; diagonals of the first two do not count.

    Returns
    -------
    Three numbers; nan if a side has fewer than 4 points.

    References
    ----------
    Székely and Rizzo 2014, Annals of Statistics 42, for centring without the diagonal.
    """
    if min(cxy.shape) < 4:
        return (math.nan,) * 3
    return _mean_within(cxx), _mean_within(cyy), _mean_between(cxy)


def _spread_rows(n: int) -> np.ndarray:
    """(k,) at most 200 of n rows, evenly spread."""
    return np.linspace(0, n - 1, min(n, _NOISE_OF)).round().astype(int)


def _sums_by_tile(
    n: int, m: int | None, tile: Callable[[slice, slice], np.ndarray], visit: Visit | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(N,), (M,) sums of C over the other side; without M over the other points of one side, each pair once.

    Parameters
    ----------
    tile : callable
        Some rows of x, some of y -> C of their pairs.
    visit : callable, optional
        Reads each tile: its rows of x, of y, and C, on the diagonal of x with itself only above it.
    """
    rows = np.zeros(n)
    columns = rows if m is None else np.zeros(m)
    for i in range(0, n, _BLOCK):
        for j in range(i if m is None else 0, len(columns), _BLOCK):
            a, b = slice(i, i + _BLOCK), slice(j, j + _BLOCK)
            c = tile(a, b)
            c = np.triu(c, 1) if m is None and i == j else c
            rows[a] += c.sum(1, dtype=np.float64)
            columns[b] += c.sum(0, dtype=np.float64)
            if visit is not None:
                visit(a, b, c)
    return rows, columns


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


def _pair_interval(value: float, linear: float, second: float, n: float) -> tuple[float, float]:
    """The 95 % interval of an unbiased estimate U of a squared distance D ≥ 0: all D with (U - D)² ≤ t² (v + k D).

    The error of U has a part v (`second`) that remains if q = r and a linear part (`linear`) that grows with D as k D,
    as for Wilson's interval of a share. The lower end may be negative: then 0 is inside. n points for Student's t.
    """
    reach = float(student(0.0, 1.0, n)[1]) ** 2
    null = np.sqrt(reach * second)
    slope = linear / (max(value, 0.0) + np.sqrt(second)) if linear else 0.0
    middle = value + reach * slope / 2
    half = np.sqrt(max(0.0, middle * middle - (value * value - reach * second)))
    low = value - null if value <= null else middle - half
    return float(low), float(max(0.0, middle + half))


_UPWARD = "biased upward, because noise also sets two samples apart"
_INFINITE = "infinite: an outcome of the system is missing in the sample of the reference"
_NEAR = "biased upward, by up to O(1/√n) where q and r agree"


def plug_in(
    divergence: str, x: ArrayLike, y: ArrayLike, *, rng: np.random.Generator, n_draws: int = 400
) -> Estimate:
    """A divergence of two samples of categories: that of their relative frequencies.

    Parameters
    ----------
    divergence : str
        A name in `pmf.DIVERGENCES`.
    x, y : array_like
        (n,) and (m,) outcomes of the system and of the reference, such as labels, words or lengths, taken as
        independent (words of one text are not).
    rng, n_draws : Generator, int
        Draws for the standard error, the distribution by chance and the interval.

    Returns
    -------
    Estimate. A divergence that is convex in both distributions is biased upward (Jensen): O(1/n) times the number of
    outcomes if it is smooth, O(1/√n) for total variation if q = r.
    The interval begins at 0 unless p ≤ 0.025. The value is inf, without interval, if y lacks an outcome of x, except
    for total variation and Jensen-Shannon. If a resample makes it inf, se is nan and the upper
    end inf.

    Raises
    ------
    DataError
        Samples that are not flat, have fewer than 2 outcomes or contain nan.

    References
    ----------
    Paninski 2003, Neural Computation 15, for the bias of plug-in estimates.

    >>> plug_in("tv", list("aabb"), list("abbb"), rng=np.random.default_rng(0)).value
    0.25
    """
    function = pmf.DIVERGENCES[checks.one_of(divergence, pmf.DIVERGENCES, "divergence")]
    unit = {"tv": "probability", "chi2": ""}.get(divergence, "nats")
    counts_x, counts_y = _counts(x, y)
    n, m = int(counts_x.sum()), int(counts_y.sum())
    q, r = counts_x / n, counts_y / m
    value = function(q, r)
    n_draws = checks.whole("n_draws", n_draws)
    facts: dict = {"n": n, "n_r": m, "unit": unit}
    facts["signature"] = f"plug-in|{len(counts_x)} outcomes|bootstrap:{n_draws}"
    if value == math.inf:
        return Estimate(divergence, value, bias=_INFINITE, **facts)
    # the same randomness whatever the two distributions
    seed = int(rng.integers(2**63))

    def drawn(q: np.ndarray, r: np.ndarray) -> np.ndarray:
        again = np.random.default_rng(seed)
        of_x, of_y = again.multinomial(n, q, n_draws) / n, again.multinomial(m, r, n_draws) / m
        return np.array([function(a, b) for a, b in zip(of_x, of_y, strict=True)])

    both, plain = _between(q, r, n, m), drawn(q, r)
    # nan if one is infinite, which no number describes
    se = float(plain.std(ddof=1)) if np.isfinite(plain).all() and len(plain) > 1 else math.nan
    sizes, truth = lambda by: drawn(*both(by)), lambda by: function(*both(by))
    found = _against_chance(value, sizes, truth, plain=plain, se=se, n=min(n, m))
    facts["caution"] = few_clusters(min(n, m), "outcomes")
    return Estimate(divergence, value, se=se, bias=_UPWARD, **facts, **found._asdict())


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


def _counts(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """How often each outcome of either sample occurs in x and in y."""
    x, y = np.asarray(x), np.asarray(y)
    gaps = any(v.dtype.kind == "f" and np.isnan(v).any() for v in (x, y))
    if x.ndim != 1 or y.ndim != 1 or min(len(x), len(y)) < 2 or gaps:
        raise DataError(f"samples must be (≥ 2,), without nan; got {x.shape} and {y.shape}.")
    outcomes, index = np.unique(np.concatenate([x, y]), return_inverse=True)
    here, there = index[: len(x)], index[len(x) :]
    return np.bincount(here, minlength=len(outcomes)), np.bincount(there, minlength=len(outcomes))


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
    """Wasserstein-1 of two samples of scores: the area between their cumulative functions.

    Parameters
    ----------
    x, y : array_like
        (n,) and (m,) scores of the system and of the reference, finite, at least 2 each.
    rng, n_draws : Generator, int
        Resamples of both, for the standard error, the distribution by chance and the interval.
    unit : str
        Of the scores, and so of the distance.
    docs_x, docs_y : sequence, optional
        (n,) and (m,) document of each score, resampled as a whole (default: scores are independent).

    Returns
    -------
    Estimate, exact for the two samples and biased upward for their distributions: two samples of the same distribution
    are apart by about 1/√n. The interval begins at 0 unless p ≤ 0.025.

    >>> wasserstein_1d([0, 1, 3], [5, 6, 8], rng=np.random.default_rng(0)).value
    5.0
    """
    x, y = checks.finite("x", x), checks.finite("y", y)
    checks.whole("number of scores of a side", min(len(x), len(y)), 2)
    points, n_draws = np.concatenate([x, y]), checks.whole("n_draws", n_draws)
    order = np.argsort(points, kind="stable")
    gaps = np.diff(points[order])

    def lead(of_x: np.ndarray, of_y: np.ndarray) -> np.ndarray:
        """(..., n + m - 1) cumulative function of x minus that of y, between two points."""
        return np.cumsum(np.concatenate([of_x, -of_y], axis=-1)[..., order], axis=-1)[..., :-1]

    sides = [(x, docs_x, "docs_x"), (y, docs_y, "docs_y")]
    (of_x, n), (of_y, m) = (
        _resampled(len(v), _documents(v, docs, name), n_draws, rng) for v, docs, name in sides
    )
    here, there = (np.full(len(v), 1 / len(v)) for v in (x, y))
    seen = lead(here, there)
    found, se = along_a_line(lambda by: np.abs(by) @ gaps, seen, lead(of_x, of_y), n=min(n, m))
    of_x, of_y = (0 if d is None else bootstrap._n_documents(checks._names(d)) for _, d, _ in sides)
    fewest = min((k or len(v), "documents" if k else "scores") for k, v in ((of_x, x), (of_y, y)))
    facts: dict = {"n": len(x), "n_r": len(y), "n_docs": of_x, "docs_r": of_y, "unit": unit}
    facts |= {"bias": _NEAR, "signature": f"exact|bootstrap:{n_draws}"}
    facts["caution"] = few_clusters(*fewest, min(n, m))
    value = float(np.abs(seen) @ gaps)
    return Estimate("wasserstein", value, se=se, **facts, **found._asdict())


def _documents(
    scores: np.ndarray, docs: Sequence | np.ndarray | None, name: str
) -> np.ndarray | None:
    """(n,) documents, at least two different ones."""
    if docs is None:
        return None
    checks.same_length(scores=scores, **{name: docs})
    named = checks._names(docs)
    checks.whole(f"number of documents in {name}", len(np.unique(named)), 2)
    return named


def kl_from_logprobs(
    log_q: ArrayLike, log_f: ArrayLike, docs: Sequence | np.ndarray | None = None
) -> Estimate:
    """KL divergence from a system to a language model: the mean of log q(y) - log f(y) over outputs y.

    Parameters
    ----------
    log_q, log_f : array_like
        (n,) natural-log probability of each output of q under the system (finite) and under the language model (-inf
        if it excludes the output), at most 0. A pair with nan is left out.
    docs : sequence, optional
        (n,) document of each output (default: outputs are independent).

    Returns
    -------
    Estimate in nats per output, >= 0 on average though not in every sample, with Student's interval. It is KL(q || f)
    if log_q is that of the marginal; with log q(y | x) of a translation, the mutual information of source and output
    is added.

    Raises
    ------
    DataError
        An impossible log-probability, with its line, or fewer than 2 pairs.

    References
    ----------
    Flamich et al. 2025, eq. 14.

    >>> kl_from_logprobs([-1.0, -2.0], [-1.5, -3.5]).value
    1.0
    """
    log_q, log_f = checks.logprobs("log_q", log_q), np.asarray(log_f, dtype=np.float64)
    checks.logprobs("log_f", np.where(np.isneginf(log_f), np.nan, log_f))
    checks.same_length(log_q=log_q, log_f=log_f)
    there = ~(np.isnan(log_q) | np.isnan(log_f))
    ratio, missing = (np.minimum(log_q, 0) - np.minimum(log_f, 0))[there], int((~there).sum())
    checks.whole("number of pairs without nan", len(ratio), 2)
    value = float(ratio.mean())
    of = _documents(log_q, docs, "docs")
    of = np.arange(len(ratio)) if of is None else of[there]
    n_docs, se, counting, uneven = bootstrap._n_documents(of), math.nan, math.nan, False
    if math.isfinite(value) and n_docs != 1:
        variance, counting, uneven = moves_variance((ratio - value) / len(ratio), of)
        se = math.sqrt(variance)
    low, high = (float(end) for end in student(value, se, counting))
    facts: dict = {"n": len(ratio), "left_out": missing, "n_docs": n_docs, "n_effective": counting}
    facts |= {"unit": "nats", "bias": "unbiased", "signature": "mean log q - log f"}
    few = n_docs or len(ratio), "documents" if n_docs else "outputs", counting
    facts["caution"] = few_clusters(*few, uneven=uneven)
    return Estimate("kl", value, se=se, low=low, high=high, **facts)
