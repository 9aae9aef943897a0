"""Agreement of scores with human ratings: within each source over its systems, and between systems.

Within sources, the difficulty of a source has no influence; between systems, means over all sources are compared. The
two may have different signs (Simpson's paradox), also for human accuracy and human fluency: a hard source worsens both,
and among translations of one source a gain on one may cost the other (Lim, Vylomova, Cohn and Kemp 2024).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import combinations, product

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from .._lazy import pd
from ..bootstrap import bootstrap_means, clusters_of, effective, few_clusters, student
from ..errors import DataError
from ..estimate import Estimate
from ..mqm import KINDS as MARKS
from ..mqm import MqmScores
from ..stats import pearson, spearman
from .local import correlation_gap, correlations
from .ratings import _nan_mean, _RatedMetrics
from .scores import Plane, mean_axis

WITHIN, BETWEEN = "within sources", "between systems"
_KINDS = ("pearson", "kendall")
_TIES, _SOFT = "pairs with ties", "soft pairwise"
_FEWEST_SYSTEMS = 3  # of a source: two systems always correlate perfectly
_FEWEST_PAIRS = _FEWEST_SYSTEMS * (_FEWEST_SYSTEMS - 1) / 2
_N_SWAPS = 1000
_N_NOISE = 200  # 5 random metrics beyond each end of their middle 95 %

_Draws = tuple[np.random.Generator, int]
_Human = tuple[np.ndarray, np.ndarray]


def source_correlations(x: ArrayLike, y: ArrayLike, kind: str = "pearson") -> np.ndarray:
    """Correlate two scores over the systems of each source: Pearson's r or Kendall's tau-b.

    Both are one sum over pairs of systems, of products of differences or of their signs: Σ d e / √(Σ d² Σ e²).

    Parameters
    ----------
    x, y : (N, k) arrays
        Scores of k systems on N sources; a system with nan is left out on that source.
    kind : str
        "pearson" or "kendall".

    Returns
    -------
    (N,) array in [-1, 1]
        nan for a source with fewer than 3 systems, or without variation of a score.

    References
    ----------
    Kendall 1945, Biometrika 33 (ties); Deutsch, Foster and Freitag 2023 ("group by item").

    >>> source_correlations([[1, 2, 3], [1, 2, 2]], [[3, 2, 1], [1, 1, 1]]).tolist()
    [-1.0, nan]
    """
    checks.one_of(kind, _KINDS, "kind of correlation")
    d, e = _pairs(x, y)
    if kind == "kendall":
        d, e = np.sign(d), np.sign(e)
    known, d, e = ~np.isnan(d), np.nan_to_num(d), np.nan_to_num(e)
    # scaled by the largest, so that no square overflows or vanishes
    d, e = (v / np.maximum(np.abs(v).max(1, initial=0, keepdims=True), 1e-300) for v in (d, e))
    square = (d * d).sum(1) * (e * e).sum(1)
    there = (known.sum(1) >= _FEWEST_PAIRS) & (square > 0)
    r = (d * e).sum(1) / np.sqrt(np.where(there, square, 1.0))
    return np.where(there, np.clip(r, -1.0, 1.0), np.nan)


def pair_accuracy(score: ArrayLike, human: ArrayLike, tie: float = 0.0) -> np.ndarray:
    """Return the share of pairs of systems of each source that a score orders as people do, with ties.

    A pair counts if both prefer the same system, or both call it a tie: people by equal points, the score by a
    difference of at most `tie`.

    Parameters
    ----------
    score, human : (N, k) arrays
        Higher is better; a system with nan is left out on that source.
    tie : float
        Largest difference of the score that is a tie; see `_tie_threshold`.

    Returns
    -------
    (N,) array in [0, 1]
        nan for a source with fewer than 3 systems.

    References
    ----------
    Deutsch, Foster and Freitag 2023, "Ties Matter" (pairwise accuracy with ties).

    >>> pair_accuracy([[1, 2, 9]], [[0, 0, 1]]).round(2).tolist(), pair_accuracy([[1, 2, 9]], [[0, 0, 1]], 1).tolist()
    ([0.67], [1.0])
    """
    d, e = _pairs(score, human)
    d = np.where(np.abs(d) <= checks.non_negative("tie", tie), 0 * d, d)
    known = ~np.isnan(d)
    right, n = known & (np.sign(d) == np.sign(e)), known.sum(1)
    return np.where(n >= _FEWEST_PAIRS, right.sum(1) / np.maximum(n, 1), np.nan)


def _tie_threshold(score: ArrayLike, human: ArrayLike) -> float:
    """Return the smallest threshold of ties that maximises the mean of `pair_accuracy`.

    Calibrated on the data that it is used on, it favours each score a little.

    Parameters
    ----------
    score, human : (N, k) arrays
        As in `pair_accuracy`.

    Returns
    -------
    float >= 0, in the unit of the score.

    >>> _tie_threshold([[1, 2, 9]], [[0, 0, 1]])
    1.0
    """
    d, e = _pairs(score, human)
    known = ~np.isnan(d)
    n = known.sum(1)
    known[n < _FEWEST_PAIRS] = False
    weight = np.broadcast_to((1 / np.maximum(n, 1))[:, None], d.shape)[known]
    d, e = d[known], e[known]
    if not d.size:
        return 0.0
    size = np.abs(d)
    # gain of calling a pair a tie
    gain = weight * ((e == 0).astype(float) - ((np.sign(d) == np.sign(e)) & (d != 0)))
    order = np.argsort(size, kind="stable")
    size, gain = size[order], np.where(size > 0, gain, 0.0)[order].cumsum()
    # equal differences are all ties, or none
    last = np.flatnonzero(np.append(size[1:] > size[:-1], True))
    best = int(np.argmax(np.round(np.append(0.0, gain[last]), 12)))
    return float(size[last[best - 1]]) if best else 0.0


def _pairs(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(N, P) differences of both scores for all pairs of systems; nan if one of the four numbers is missing."""
    x, y = _both(x, y)
    one, other = np.triu_indices(x.shape[1], 1)
    d, e = x[:, one] - x[:, other], y[:, one] - y[:, other]
    missing = np.isnan(d) | np.isnan(e)
    return np.where(missing, np.nan, d), np.where(missing, np.nan, e)


def _both(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Two (N, k) float64 scores, nan where missing."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.ndim != 2 or x.shape != y.shape or np.isinf(x).any() or np.isinf(y).any():
        raise DataError(f"got scores {x.shape}, {y.shape}, expected finite (sources, systems).")
    return x, y


def soft_pairwise_accuracy(
    human: ArrayLike,
    metric: ArrayLike,
    docs: Sequence | np.ndarray,
    rng: np.random.Generator,
    *,
    n_swaps: int = _N_SWAPS,
) -> Estimate:
    """Mean of 1 − |p − p'| over pairs of systems.

    It measures whether human ratings and the metric separate systems with the same confidence.

    p is the p-value of a paired permutation test, on human ratings, of whether the first system is better; p' is the
    same on metric scores.

    Parameters
    ----------
    human, metric : (N, k) arrays
        Scores of k systems on N sources, higher is better. A source with nan is left out.
    docs : (N,) sequence
        Document of each source.
    n_swaps : int
        Permutations; all of them if there are no more.

    Returns
    -------
    Estimate
        In [0, 1]; n is the number of pairs of systems. Noise scores about 1/2 or more, see `metric_bias`. The interval
        is a jackknife over documents.

    References
    ----------
    Thompson, Mathur, Deutsch and Khayrallah 2024, WMT.

    >>> soft_pairwise_accuracy([[2, 1], [2, 1]], [[1, 3], [1, 1]], ["a", "b"], np.random.default_rng(0)).value
    0.375
    """
    x, y = _both(human, metric)
    checks.same_length(human=x, docs=docs)
    whole = ~(np.isnan(x) | np.isnan(y)).any(1)
    checks.some(
        whole & (x.shape[1] > 1), "no source has both scores of every system, at least 2 of them."
    )
    index = np.unique(clusters_of(checks._names(docs)[whole]), return_inverse=True)[1]
    signs = _swap_signs(int(whole.sum()), rng, n_swaps)
    values = _likeness(_swap_p(x[whole], signs, index), _swap_p(y[whole], signs, index))
    low, high, se, counting = _jackknife(values, index)
    low, high = np.clip([low, high], 0, 1).tolist()
    facts: dict = {"se": se, "n": x.shape[1] * (x.shape[1] - 1) // 2, "of": "pairs of systems"}
    facts |= {"n_docs": len(values) - 1, "n_effective": counting, "left_out": int((~whole).sum())}
    facts["signature"] = f"swaps:{len(signs)}"
    facts["caution"] = few_clusters(len(values) - 1, counting=counting)
    return Estimate("soft pairwise accuracy", float(values[0]), low=low, high=high, **facts)


def _swap_signs(n: int, rng: np.random.Generator, n_swaps: int = _N_SWAPS) -> np.ndarray:
    """(B, n) signs: +1, or -1 to swap the outputs of two systems; all 2^n if at most `n_swaps`."""
    if 2**n <= n_swaps:
        return np.array([*product((1.0, -1.0), repeat=n)]).reshape(2**n, n)
    return 1.0 - 2.0 * rng.integers(0, 2, (n_swaps, n))


def _swap_p(scores: ArrayLike, signs: np.ndarray, index: np.ndarray | None = None) -> np.ndarray:
    """p that the first system of each pair is not better: over all sources, then without each document.

    The share of swaps whose difference of means exceeds the observed one; equal ones count half. So p of a pair and of
    the reversed pair sum to 1, and equal systems have 1/2.

    Parameters
    ----------
    scores : (N, k) array
        Of k systems, complete, higher is better.
    signs : (B, N) array
        From `_swap_signs`.
    index : (N,) int array, optional
        Document 0 … M-1 of each source; without it, over all sources only.

    Returns
    -------
    (M + 1, P) array, for P pairs of systems.

    >>> _swap_p([[3, 1], [1, 1]], _swap_signs(2, np.random.default_rng(0)), np.array([0, 1])).tolist()
    [[0.25], [0.5], [0.25]]
    """
    x = np.asarray(scores, dtype=np.float64)
    pairs = np.array([*combinations(range(x.shape[1]), 2)], dtype=np.int64).reshape(-1, 2)
    d = x[:, pairs[:, 0]] - x[:, pairs[:, 1]]
    seen, null, near = d.sum(0), signs @ d, 1e-12 * np.abs(d).sum(0)

    def share(null: np.ndarray, seen: np.ndarray) -> np.ndarray:
        away = null - seen
        return (away > near).mean(0) + 0.5 * (np.abs(away) <= near).mean(0)

    parts = [index == doc for doc in range(0 if index is None else int(index.max()) + 1)]
    rest = [share(null - signs[:, rows] @ d[rows], seen - d[rows].sum(0)) for rows in parts]
    return np.array([share(null, seen), *rest])


def _likeness(human: np.ndarray, metric: np.ndarray) -> np.ndarray:
    """(M + 1,) soft pairwise accuracy of two (M + 1, P) p."""
    return 1 - np.abs(human - metric).mean(1)


def _jackknife(values: np.ndarray, index: np.ndarray) -> tuple[float, float, float, float]:
    """(low, high, standard error, effective documents) of (M + 1,) values; nan for one document."""
    m, rest = len(values) - 1, values[1:]
    if m < 2:
        return np.nan, np.nan, np.nan, np.nan
    se = float(np.sqrt((m - 1) / m * ((rest - rest.mean()) ** 2).sum()))
    counting = float(effective(np.bincount(index).astype(float)))
    low, high = student(values[0], se, counting)
    return float(low), float(high), se, counting


def within_sources(
    segment: ArrayLike,
    x: ArrayLike,
    y: ArrayLike,
    docs: ArrayLike,
    *,
    rng: np.random.Generator,
    n_draws: int = 1000,
) -> Estimate:
    """Compute Spearman's ρ between two scores over the candidates of each source, and average it over sources.

    Documents are resampled. A candidate with nan is left out, as is a source without variation of a score.

    Parameters
    ----------
    segment : (n,) int array
        Source of each candidate.
    x, y : (n,) arrays
        Scores.
    docs : (S,) array
        Document of each source.

    Returns
    -------
    Estimate
        In [-1, 1]; n is the number of sources.

    >>> within_sources([0, 0, 1, 1], [1, 2, 1, 2], [5, 6, 9, 8], ["a", "b"], rng=np.random.default_rng(0)).value
    0.0
    """
    one, other, names = (
        np.asarray(x, np.float64),
        np.asarray(y, np.float64),
        checks._names(np.asarray(docs)),
    )
    where = checks.segment_ids(segment, len(names))
    checks.same_length(segment=where, x=one, y=other)
    there = ~(np.isnan(one) | np.isnan(other))
    rho = np.full(len(names), np.nan)
    for source in np.unique(where[there]):
        rows = there & (where == source)
        rho[source] = spearman(one[rows], other[rows])
    known = ~np.isnan(rho)
    clusters = clusters_of(names[known])
    if (n_docs := len(set(clusters.tolist()))) < 2:
        mean = float(rho[known].mean()) if n_docs else np.nan
        return Estimate("Spearman's ρ", mean, n=n_docs, n_docs=n_docs, of="sources")
    found = bootstrap_means(rho[known], clusters, rng, n_draws)
    mean = found.estimate(0, "Spearman's ρ", of="sources")
    low, high = np.clip(mean.interval, -1, 1).tolist()
    return replace(mean, low=low, high=high)


def metric_bias(
    rated: _RatedMetrics, rng: np.random.Generator, n_draws: int = 1000, n_noise: int = _N_NOISE
) -> pd.DataFrame:
    """Agreement of each metric with human accuracy and with human fluency, by level and statistic.

    Only translations with both ratings and a score by every metric count. "within sources" is the mean over sources of
    "pearson" or "kendall" (`source_correlations`; sources without a correlation of the two ratings are left out), or of
    "pairs with ties" (`pair_accuracy` with the calibrated tie of each metric). "between systems" is "pearson" over the
    means of systems, or "soft pairwise" (`soft_pairwise_accuracy`), on the sources that have all systems.

    Parameters
    ----------
    n_noise : int
        Random metrics, for agreement by chance.

    Returns
    -------
    DataFrame with metric; kind : "metric", or "human" for the two ratings; level; statistic; with_accuracy,
    with_fluency : the agreement, in [-1, 1] or [0, 1]; lean : with_accuracy - with_fluency; each with _low and _high,
    95 %, documents resampled and systems fixed; chance_accuracy_low … chance_fluency_high : middle 95 % of random
    metrics; n, left_out (sources), n_systems, n_docs, n_effective.
    """
    scores, docs = rated.scores, np.asarray(rated.docs)
    human = scores["accuracy"], scores["fluency"]
    people = {"human accuracy": human[0], "human fluency": human[1]}
    known = {name: scores[name] for name in rated.metrics} | people
    noise, shape = rng.spawn(1)[0], human[0].shape
    random = [
        np.where(np.isnan(human[0]), np.nan, noise.normal(size=shape)) for _ in range(n_noise)
    ]
    tables = [_within(human, known, docs, (rng, n_draws), kind) for kind in (*_KINDS, _TIES)]
    tables += _between(human, known, docs, (rng, n_draws))
    chances = [_chance_within(human, random, kind) for kind in (*_KINDS, _TIES)]
    chances += _chance_between(human, random, rng)
    for table, chance in zip(tables, chances, strict=True):
        for axis, values in zip(("accuracy", "fluency"), chance, strict=True):
            for end, share in (("low", 0.025), ("high", 0.975)):
                table[f"chance_{axis}_{end}"] = np.quantile(values, share)
    table = pd.concat(tables, ignore_index=True)
    table.insert(1, "kind", np.where(table.metric.isin([*people]), "human", "metric"))
    counts = ["n", "left_out", "n_systems", "n_docs", "n_effective"]
    return table[[c for c in table if c not in counts] + counts]


def _varied(human: _Human) -> np.ndarray:
    """(N,) bool: sources on which both ratings vary over enough systems."""
    return ~np.isnan(source_correlations(*human))


def _agreements(human: _Human, score: np.ndarray, kind: str) -> np.ndarray:
    """(N, 2) agreement of a score with both ratings on each source."""
    if kind == _TIES:
        return np.stack([pair_accuracy(score, one, _tie_threshold(score, one)) for one in human], 1)
    both = np.stack([source_correlations(score, one, kind) for one in human], axis=1)
    return np.where(_varied(human)[:, None], both, np.nan)


def _within(
    human: _Human, known: Mapping[str, np.ndarray], docs: np.ndarray, draws: _Draws, kind: str
) -> pd.DataFrame:
    """Rows of one statistic, the mean over sources."""
    every = [_agreements(human, score, kind) for score in known.values()]
    columns = np.stack([np.column_stack([v, v[:, 0] - v[:, 1]]) for v in every], axis=1)
    ends = _column_means(columns.reshape(len(docs), -1), docs, draws).reshape(len(known), 3, 3)
    enough = (~np.isnan(human[0])).sum(1) >= _FEWEST_SYSTEMS
    rows = []
    for i, name in enumerate(known):
        there = ~np.isnan(columns[:, i, 0])
        row = _bias_row(name, (WITHIN, kind), ends[i], least=0.0 if kind == _TIES else -1.0)
        rows.append(row | _source_counts(there, docs) | {"left_out": int((enough & ~there).sum())})
    return pd.DataFrame(rows).assign(n_systems=int((~np.isnan(human[0])).any(0).sum()))


def _column_means(columns: np.ndarray, docs: np.ndarray, draws: _Draws) -> np.ndarray:
    """(C, 3) mean, low and high of (N, C) columns with nan; nan for an empty column."""
    some, rows = ~np.isnan(columns).all(0), ~np.isnan(columns).all(1)
    out = np.full((columns.shape[1], 3), np.nan)
    if not some.any():
        return out
    kept, clusters = columns[rows][:, some], clusters_of(docs[rows])
    if len(set(clusters.tolist())) < 2:
        out[some, 0] = np.nanmean(kept, axis=0)
    else:
        found = bootstrap_means(kept, clusters, *draws)
        out[some] = np.stack([found.mean, found.low, found.high], axis=1)
    return out


def _bias_row(
    name: str, what: tuple[str, str], ends: np.ndarray, *, least: float = -1.0
) -> dict[str, object]:
    """Row of (3, 3) numbers with low and high: with accuracy, with fluency, and their difference."""
    both = (least, 1)
    columns = {"with_accuracy": both, "with_fluency": both, "lean": (least - 1, 1 - least)}
    cells = {
        f"{column}{end}": float(np.clip(value, *bound))
        for (column, bound), three in zip(columns.items(), ends, strict=True)
        for end, value in zip(("", "_low", "_high"), three, strict=True)
    }
    return {"metric": name, "level": what[0], "statistic": what[1], **cells}


def _source_counts(there: np.ndarray, docs: np.ndarray) -> dict[str, float]:
    """n, n_docs and n_effective of these sources."""
    sizes = np.unique(clusters_of(docs[there]), return_counts=True)[1] if there.any() else []
    counting = float(effective(np.asarray(sizes, dtype=float))) if len(sizes) else 0.0
    return {"n": int(there.sum()), "n_docs": len(sizes), "n_effective": counting}


def _between(
    human: _Human, known: Mapping[str, np.ndarray], docs: np.ndarray, draws: _Draws
) -> list[pd.DataFrame]:
    """Rows of Pearson's r over systems, and of soft pairwise accuracy."""
    rows, systems = _shared_sources(human)
    at, every, draw = np.ix_(rows, systems), [range(int(systems.sum()))], draws[0].spawn(1)[0]

    def linear(score: np.ndarray) -> np.ndarray:
        first, second = (_plane_of_scores(score[at], one[at], docs[rows]) for one in human)
        if rows.sum() < 2:
            r = [float(pearson(*plane.scores())) for plane in (first, second)]
            return np.array([[value, np.nan, np.nan] for value in (*r, r[0] - r[1])])
        # the same resamples for all: r of the two ratings is in two rows
        both = [
            correlations(plane, deepcopy(draw), every, draws[1])[0] for plane in (first, second)
        ]
        return np.array([*both, correlation_gap(first, second, deepcopy(draw), draws[1])])

    index = np.unique(clusters_of(docs[rows]), return_inverse=True)[1]
    signs = _swap_signs(int(rows.sum()), draws[0])
    people = [_swap_p(one[at], signs, index) for one in human]

    def soft(score: np.ndarray) -> np.ndarray:
        one, other = (_likeness(p, _swap_p(score[at], signs, index)) for p in people)
        return np.array([(v[0], *_jackknife(v, index)[:2]) for v in (one, other, one - other)])

    count = _source_counts(rows, docs) | {"left_out": int((~rows).sum())}
    count["n_systems"] = systems.sum()
    tables = []
    for kind, ends, least in (("pearson", linear, -1.0), (_SOFT, soft, 0.0)):
        told = [_bias_row(name, (BETWEEN, kind), ends(v), least=least) for name, v in known.items()]
        tables.append(pd.DataFrame(told).assign(**count))
    return tables


def _shared_sources(human: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(N,) sources that have all systems, and (k,) systems that have any source."""
    there = ~np.isnan(human[0])
    systems = there.any(0)
    rows = there[:, systems].all(1)
    checks.some(rows, "no source has ratings and scores of all systems. Leave out sparse ones.")
    return rows, systems


def _plane_of_scores(x: np.ndarray, y: np.ndarray, docs: np.ndarray) -> Plane:
    """Plane of two complete (N, k) scores of the same systems."""
    n, k = x.shape
    names = tuple(map(str, range(k)))
    one, other = (mean_axis(name, name, name, v) for name, v in (("x", x), ("y", y)))
    every = np.array(["all"] * n, dtype=object)
    return Plane("ratings", names, ("unknown",) * k, one, other, docs, every, np.zeros(n, int))


def _chance_within(human: _Human, random: Sequence[np.ndarray], kind: str) -> np.ndarray:
    """(2, B) agreement of random metrics with both ratings."""
    if np.isnan(_agreements(human, human[0], kind)).all():
        return np.full((2, len(random)), np.nan)
    return np.array([np.nanmean(_agreements(human, one, kind), axis=0) for one in random]).T


def _chance_between(
    human: _Human, random: Sequence[np.ndarray], rng: np.random.Generator
) -> list[np.ndarray]:
    """(2, B) of Pearson's r over systems, by Student's t as quantiles, and of soft pairwise accuracy."""
    from scipy.special import stdtrit

    at = np.ix_(*_shared_sources(human))
    signs = _swap_signs(len(human[0][at]), rng)
    p = np.array([_swap_p(one[at], signs)[0] for one in random])
    df = max(human[0][at].shape[1] - 2, 1)
    t = stdtrit(df, np.linspace(1e-9, 1 - 1e-9, len(random)))
    r = np.tile(t / np.sqrt(df + t * t), (2, 1))
    return [r, np.array([_likeness(_swap_p(one[at], signs), p) for one in human])]


def mixture_arc(rated: _RatedMetrics, n: int = 41) -> pd.DataFrame:
    """Agreement of mixtures of the two ratings: the most that a metric between the two can reach.

    A mixture is (1 - share) · accuracy + share · fluency, both standardised, within each source or over the means of
    systems. Between systems no metric is beyond the arc: with ρ the correlation of the two ratings it is a part of the
    ellipse x² - 2 ρ x y + y² = 1 - ρ².

    Parameters
    ----------
    n : int
        Mixtures from share 0 to share 1.

    Returns
    -------
    DataFrame with level, statistic ("pearson"), share, with_accuracy, with_fluency.
    """
    scores = rated.scores
    human = scores["accuracy"], scores["fluency"]
    at = np.ix_(*_shared_sources(human))
    means = [one[at].mean(0)[None] for one in human]
    rows = []
    for level, both in ((WITHIN, [one[_varied(human)] for one in human]), (BETWEEN, means)):
        a, f = (_standard(one) for one in both)
        for share in np.linspace(0, 1, n) if both[0].size else ():
            mixed = (1 - share) * a + share * f
            r = [float(np.nanmean(source_correlations(mixed, one))) for one in both]
            rows.append((level, "pearson", float(share), *r))
    columns = ["level", "statistic", "share", "with_accuracy", "with_fluency"]
    return pd.DataFrame(rows, columns=columns)


def _standard(x: np.ndarray) -> np.ndarray:
    """(n, k) with mean 0 and standard deviation 1 in each row; a constant row becomes 0."""
    x = x - np.nanmean(x, axis=1, keepdims=True)
    spread = np.sqrt(np.nanmean(x * x, axis=1, keepdims=True))
    return x / np.where(spread > 0, spread, 1.0)


def bias_claim(table: pd.DataFrame, level: str = WITHIN, statistic: str = "pearson") -> str:
    """Name the metrics of a `metric_bias` table whose interval of `lean` excludes 0."""
    rows = table[(table.level == level) & (table.statistic == statistic) & (table.kind == "metric")]
    sides = {"accuracy": rows.metric[rows.lean_low > 0], "fluency": rows.metric[rows.lean_high < 0]}
    found = [
        f"{' and '.join(of)} lean{'s' * (len(of) == 1)} to {side}"
        for side, of in sides.items()
        if len(of)
    ]
    return f"{level.capitalize()}, {', '.join(found) or 'no metric leans significantly'}"


def rater_bias(
    scores: MqmScores,
    rng: np.random.Generator,
    n_draws: int = 1000,
    systems: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Agreement of one rater with the mean of the others, within sources: a bound for metrics.

    On each source, each rater is compared with the mean of the others who rated the same translations; the mean over
    raters counts. The others are one fewer than for a metric, so the numbers may be a little low.

    Parameters
    ----------
    systems : sequence of str, optional
        Rated names to include; default: all.

    Returns
    -------
    DataFrame with the columns of `metric_bias` but chance, of kind "rater": rows for all errors, accuracy and fluency,
    by "pearson" and "kendall". Empty if no source has two raters.
    """
    kept = [j for j, s in enumerate(scores.systems) if systems is None or s in systems]
    given = {kind: _by_rater(scores, i)[:, :, kept] for i, kind in enumerate(MARKS)}
    docs, rows = np.array(scores.docs, dtype=object), []
    for kind, statistic in ((kind, statistic) for statistic in _KINDS for kind in MARKS):
        columns = _against_others(given, kind, statistic)
        there = ~np.isnan(columns[:, 0])
        if not there.any():
            continue
        ends = _column_means(columns, docs, (rng, n_draws))
        marked = "all errors" if kind == "penalty" else kind
        row = _bias_row(f"one rater, {marked}", (WITHIN, statistic), ends)
        count = _source_counts(there, docs) | {"left_out": int((~there).sum())}
        rows.append(row | {"kind": "rater"} | count | {"n_systems": len(kept)})
    return pd.DataFrame(rows)


def _by_rater(scores: MqmScores, kind: int) -> np.ndarray:
    """(R, n, S) penalties, negated so that higher is better; nan if unrated."""
    out = np.full((len(scores.raters), len(scores.segments), len(scores.systems)), np.nan)
    out[scores.rater, scores.segment, scores.system] = -scores.values[:, kind]
    return out


def _against_others(given: dict[str, np.ndarray], kind: str, statistic: str) -> np.ndarray:
    """(n, 3) agreement of one rater with the others' accuracy, their fluency, and the difference."""
    found = []
    for rater in range(len(given[kind])):
        both = []
        for axis in ("accuracy", "fluency"):
            others = np.delete(given[axis], rater, axis=0)
            both.append(source_correlations(given[kind][rater], _nan_mean(others), statistic))
        found.append(np.where(np.isnan(both).any(0), np.nan, both))
    mean = _nan_mean(np.array(found))
    return np.column_stack([*mean, mean[0] - mean[1]])
