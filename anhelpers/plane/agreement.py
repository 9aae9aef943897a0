"""Agreement of scores with human ratings: within each source over its systems, and between systems.

Within sources, the difficulty of a source has no influence; between systems, means over all sources are compared. The
two may have different signs (Simpson's paradox), also for human accuracy and human fluency.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..bootstrap import bootstrap_means, clusters_of, effective, few_clusters, student
from ..errors import DataError
from ..estimate import Estimate
from ..stats import pearson, spearman
from .local import correlation_gap, correlations
from .rated import RatedMetrics, plane_of_scores, shared_sources

if TYPE_CHECKING:
    import pandas as pd

WITHIN, BETWEEN = "within sources", "between systems"
KINDS = ("pearson", "kendall")
_TIES, _SOFT = "pairs with ties", "soft pairwise"
_STATISTICS = {"pearson": "Pearson's r", "kendall": "Kendall's τ", _SOFT: "soft pairwise accuracy"}
_FEWEST_SYSTEMS = (
    3  # of a source: two systems always correlate perfectly, in one direction or the other
)
_FEWEST_PAIRS = _FEWEST_SYSTEMS * (_FEWEST_SYSTEMS - 1) / 2
_N_SWAPS = 1000
_N_NOISE = 200  # the middle 95 % of what chance gives rests on five of them beyond each end

Draws = tuple[np.random.Generator, int]
Human = tuple[np.ndarray, np.ndarray]


def source_correlations(x: ArrayLike, y: ArrayLike, kind: str = "pearson") -> np.ndarray:
    """Correlation of two scores over the systems of each source: Pearson's r or Kendall's tau-b.

    Both are one sum over pairs of systems, of products of differences or of their signs: Σ d e / √(Σ d² Σ e²).

    Parameters
    ----------
    x, y : (N, k) scores of k systems on N sources; nan if missing, and the system is left out on that source.
    kind : "pearson" or "kendall".

    Returns
    -------
    (N,) in [-1, 1]; nan for a source with fewer than 3 systems, or if one of the scores does not vary on it.

    References
    ----------
    Kendall 1945, Biometrika 33 (ties); Deutsch, Foster and Freitag 2023 ("group by item").

    >>> source_correlations([[1, 2, 3], [1, 2, 2]], [[3, 2, 1], [1, 1, 1]]).tolist()
    [-1.0, nan]
    """
    checks.one_of(kind, KINDS, "kind of correlation")
    d, e = _pairs(x, y)
    if kind == "kendall":
        d, e = np.sign(d), np.sign(e)
    known = ~np.isnan(d)
    d, e = np.where(known, d, 0.0), np.where(known, e, 0.0)
    # each divided by its largest, so that no square overflows or vanishes
    d, e = (v / np.maximum(np.abs(v).max(1, initial=0, keepdims=True), 1e-300) for v in (d, e))
    square = (d * d).sum(1) * (e * e).sum(1)
    there = (known.sum(1) >= _FEWEST_PAIRS) & (square > 0)
    r = (d * e).sum(1) / np.sqrt(np.where(there, square, 1.0))
    return np.where(there, np.clip(r, -1.0, 1.0), np.nan)


def pair_accuracy(score: ArrayLike, human: ArrayLike, tie: float = 0.0) -> np.ndarray:
    """Share of the pairs of systems of each source that a score orders as people do, ties included.

    A pair counts if both prefer the same system, or if both call it a tie: people by equal points, the score by a
    difference of at most `tie`.

    Parameters
    ----------
    score, human : (N, k), higher is better; nan if missing, and the system is left out on that source.
    tie : largest difference of the score that is a tie; see `tie_threshold`.

    Returns
    -------
    (N,) in [0, 1]; nan for a source with fewer than 3 systems.

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


def tie_threshold(score: ArrayLike, human: ArrayLike) -> float:
    """Smallest difference of a score to be called a tie that maximises the mean of `pair_accuracy`.

    Calibrated on the data that it is used on, it flatters every score a little.

    Parameters
    ----------
    score, human : (N, k), as in `pair_accuracy`.

    Returns
    -------
    float >= 0, in the unit of the score.

    >>> tie_threshold([[1, 2, 9]], [[0, 0, 1]])
    1.0
    """
    d, e = _pairs(score, human)
    known = ~np.isnan(d)
    n = known.sum(1)
    known[n < _FEWEST_PAIRS] = False
    weight = np.broadcast_to((1 / np.maximum(n, 1))[:, None], d.shape)[known]
    d, e = d[known], e[known]
    if not d.size:
        raise DataError("no source has three systems with both scores: there are no pairs.")
    size = np.abs(d)
    # what is gained by calling a pair a tie
    gain = weight * ((e == 0).astype(float) - ((np.sign(d) == np.sign(e)) & (d != 0)))
    order = np.argsort(size, kind="stable")
    size, gain = size[order], np.where(size > 0, gain, 0.0)[order].cumsum()
    # of equal differences all are ties, or none
    last = np.flatnonzero(np.append(size[1:] > size[:-1], True))
    best = int(np.argmax(np.round(np.append(0.0, gain[last]), 12)))
    return float(size[last[best - 1]]) if best else 0.0


def _pairs(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(N, P) differences of both scores for all pairs of systems; nan if one of the four numbers is missing."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.ndim != 2 or x.shape != y.shape or np.isinf(x).any() or np.isinf(y).any():
        raise DataError(f"got scores {x.shape}, {y.shape}, expected finite (sources, systems).")
    one, other = np.triu_indices(x.shape[1], 1)
    d, e = x[:, one] - x[:, other], y[:, one] - y[:, other]
    missing = np.isnan(d) | np.isnan(e)
    return np.where(missing, np.nan, d), np.where(missing, np.nan, e)


def soft_pairwise_accuracy(
    human: ArrayLike,
    metric: ArrayLike,
    docs: Sequence | np.ndarray,
    rng: np.random.Generator,
    *,
    n_swaps: int = _N_SWAPS,
) -> Estimate:
    """Mean over pairs of systems of 1 − |p − p'|: people and metric distinguish systems equally surely.

    p is that of a paired permutation test of people (p' of the metric) that the first system is better: near 0 or 1 if
    that is sure, 1/2 if nothing is known.

    Parameters
    ----------
    human, metric : (N, k) scores of k systems on N sources, higher is better. A source with a missing score (nan) is
        left out.
    docs : (N,) document of each source. n_swaps : permutations; all of them if there are no more.

    Returns
    -------
    Estimate in [0, 1]; n is the number of pairs of systems. Noise scores about 1/2 or more, see `metric_bias`. The
    interval is a jackknife over documents.

    References
    ----------
    Thompson, Mathur, Deutsch and Khayrallah 2024, WMT.

    >>> soft_pairwise_accuracy([[2, 1], [2, 1]], [[1, 3], [1, 1]], ["a", "b"], np.random.default_rng(0)).value
    0.375
    """
    x, y = (np.asarray(v, dtype=np.float64) for v in (human, metric))
    if x.ndim != 2 or x.shape != y.shape or x.shape[1] < 2:
        raise DataError(f"got shapes {x.shape}, {y.shape}, expected (sources, 2 or more systems).")
    checks.same_length(human=x, docs=docs)
    whole = ~(np.isnan(x) | np.isnan(y)).any(1)
    if not whole.any():
        raise DataError("no source has both scores of every system; leave the sparse systems out.")
    index = np.unique(clusters_of(np.asarray(docs)[whole]), return_inverse=True)[1]
    signs = swap_signs(int(whole.sum()), rng, n_swaps)
    values = _likeness(swap_p(x[whole], signs, index), swap_p(y[whole], signs, index))
    low, high, se, counting = _jackknife(values, index)
    return Estimate(
        "soft pairwise accuracy",
        float(values[0]),
        low=float(np.clip(low, 0, 1)),
        high=float(np.clip(high, 0, 1)),
        se=se,
        n=x.shape[1] * (x.shape[1] - 1) // 2,
        of="pairs of systems",
        n_docs=len(values) - 1,
        n_effective=counting,
        left_out=int((~whole).sum()),
        signature=f"swaps:{len(signs)}",
    )


def swap_signs(n: int, rng: np.random.Generator, n_swaps: int = _N_SWAPS) -> np.ndarray:
    """(B, n) signs: +1, or -1 to swap the outputs of two systems; all 2^n if these are at most `n_swaps`."""
    n_swaps = checks.whole("n_swaps", n_swaps, least=2)
    if 2**n <= n_swaps:
        return np.array([*product((1.0, -1.0), repeat=n)]).reshape(2**n, n)
    return 1.0 - 2.0 * rng.integers(0, 2, (n_swaps, n))


def swap_p(scores: ArrayLike, signs: np.ndarray, index: np.ndarray | None = None) -> np.ndarray:
    """p that the first system of each pair is not the better one: over all sources, then without each document.

    The share of the swaps in which the difference of the means exceeds the observed one; an equal one counts half. So
    the p of a pair and of the reversed pair sum to 1, and two equal systems have 1/2.

    Parameters
    ----------
    scores : (N, k) of k systems, complete, higher is better. signs : of `swap_signs`.
    index : (N,) document 0..M-1 of each source; None: over all sources only.

    Returns
    -------
    (M + 1, P) for P pairs of systems.

    >>> swap_p([[3, 1], [1, 1]], swap_signs(2, np.random.default_rng(0)), np.array([0, 1])).tolist()
    [[0.25], [0.5], [0.25]]
    """
    x = checks.finite("scores", np.asarray(scores, dtype=np.float64), (signs.shape[1], None))
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
    """(M + 1,) soft pairwise accuracy of two (M + 1, P) p: over all documents, then without each."""
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
    """Spearman's ρ of two scores over the candidates of a source, averaged over sources.

    Documents are resampled. A candidate without both scores (nan) is left out, as is a source on which one score does
    not vary.

    Parameters
    ----------
    segment : (n,) source of each candidate. x, y : (n,) scores. docs : (S,) document of each source.

    Returns
    -------
    Estimate in [-1, 1]; n is the number of sources.

    >>> within_sources([0, 0, 1, 1], [1, 2, 1, 2], [5, 6, 9, 8], ["a", "b"], rng=np.random.default_rng(0)).value
    0.0
    """
    where = checks.segment_ids(segment)
    one, other, names = np.asarray(x, np.float64), np.asarray(y, np.float64), np.asarray(docs)
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
    rated: RatedMetrics, rng: np.random.Generator, n_draws: int = 1000, n_noise: int = _N_NOISE
) -> pd.DataFrame:
    """Agreement of each metric with human accuracy and with human fluency, by level and statistic.

    Only translations with both ratings and a score by every metric count. "within sources" is the mean over sources of
    "pearson" or "kendall" (`source_correlations`; sources without a correlation of the two ratings are left out), or of
    "pairs with ties" (`pair_accuracy` with the calibrated tie of each metric). "between systems" is "pearson" over the
    means of systems, or "soft pairwise" (`soft_pairwise_accuracy`), on the sources that have all systems.

    Parameters
    ----------
    rated : of `rated_metrics`. n_noise : number of random metrics, for what chance gives.

    Returns
    -------
    metric; kind : "metric", or "human" for the two ratings themselves; level; statistic; with_accuracy, with_fluency :
    the agreement, in [-1, 1] or [0, 1]; lean : with_accuracy - with_fluency; each with _low and _high, 95 % with
    documents resampled and systems fixed; chance_accuracy_low … chance_fluency_high : the middle 95 % of random
    metrics; n (sources), left_out (sources), n_systems, n_docs, n_effective.
    """
    import pandas as pd

    scores, docs = rated.scores, np.asarray(rated.docs)
    human = scores["accuracy"], scores["fluency"]
    people = {"human accuracy": human[0], "human fluency": human[1]}
    known = {name: scores[name] for name in rated.metrics} | people
    noise, shape = rng.spawn(1)[0], human[0].shape
    n_noise = checks.whole("n_noise", n_noise, least=2)
    random = [
        np.where(np.isnan(human[0]), np.nan, noise.normal(size=shape)) for _ in range(n_noise)
    ]
    tables = [_within(human, known, docs, (rng, n_draws), kind) for kind in (*KINDS, _TIES)]
    tables += [_between(human, known, docs, (rng, n_draws)), _soft(human, known, docs, rng)]
    chances = [_chance_within(human, random, kind) for kind in (*KINDS, _TIES)]
    chances += _chance_between(human, random, rng)
    for table, chance in zip(tables, chances, strict=True):
        for axis, values in zip(("accuracy", "fluency"), chance, strict=True):
            for end, share in (("low", 0.025), ("high", 0.975)):
                table[f"chance_{axis}_{end}"] = np.quantile(values, share)
    table = pd.concat(tables, ignore_index=True)
    table.insert(1, "kind", np.where(table.metric.isin([*people]), "human", "metric"))
    counts = ["n", "left_out", "n_systems", "n_docs", "n_effective"]
    return table[[c for c in table if c not in counts] + counts]


def _varied(human: Human) -> np.ndarray:
    """(N,) bool: sources on which both ratings vary over enough systems."""
    return ~np.isnan(source_correlations(*human))


def _agreements(human: Human, score: np.ndarray, kind: str) -> np.ndarray:
    """(N, 2) agreement of a score with both ratings on each source."""
    if kind == _TIES:
        return np.stack([pair_accuracy(score, one, tie_threshold(score, one)) for one in human], 1)
    both = np.stack([source_correlations(score, one, kind) for one in human], axis=1)
    return np.where(_varied(human)[:, None], both, np.nan)


def _within(
    human: Human, known: Mapping[str, np.ndarray], docs: np.ndarray, draws: Draws, kind: str
) -> pd.DataFrame:
    """Rows of one statistic, the mean over sources."""
    import pandas as pd

    every = [_agreements(human, score, kind) for score in known.values()]
    columns = np.stack([np.column_stack([v, v[:, 0] - v[:, 1]]) for v in every], axis=1)
    ends = column_means(columns.reshape(len(docs), -1), docs, draws).reshape(len(known), 3, 3)
    enough = (~np.isnan(human[0])).sum(1) >= _FEWEST_SYSTEMS
    rows = []
    for i, name in enumerate(known):
        there = ~np.isnan(columns[:, i, 0])
        row = bias_row(name, (WITHIN, kind), ends[i], least=0.0 if kind == _TIES else -1.0)
        rows.append(row | source_counts(there, docs) | {"left_out": int((enough & ~there).sum())})
    return pd.DataFrame(rows).assign(n_systems=int((~np.isnan(human[0])).any(0).sum()))


def column_means(columns: np.ndarray, docs: np.ndarray, draws: Draws) -> np.ndarray:
    """(C, 3) mean, low and high of (N, C) columns with gaps; nan for an empty one, or for one document."""
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


def bias_row(
    name: str, what: tuple[str, str], ends: np.ndarray, *, least: float = -1.0
) -> dict[str, object]:
    """A row of (3, 3) numbers with low and high: with accuracy, with fluency, and their difference."""
    columns = {
        "with_accuracy": (least, 1),
        "with_fluency": (least, 1),
        "lean": (least - 1, 1 - least),
    }
    cells = {
        f"{column}{end}": float(np.clip(value, *bound))
        for (column, bound), three in zip(columns.items(), ends, strict=True)
        for end, value in zip(("", "_low", "_high"), three, strict=True)
    }
    return {"metric": name, "level": what[0], "statistic": what[1], **cells}


def source_counts(there: np.ndarray, docs: np.ndarray) -> dict[str, float]:
    """n, n_docs and n_effective of the sources that count."""
    sizes = np.unique(clusters_of(docs[there]), return_counts=True)[1] if there.any() else []
    counting = float(effective(np.asarray(sizes, dtype=float))) if len(sizes) else 0.0
    return {"n": int(there.sum()), "n_docs": len(sizes), "n_effective": counting}


def _between(
    human: Human, known: Mapping[str, np.ndarray], docs: np.ndarray, draws: Draws
) -> pd.DataFrame:
    """Rows of Pearson's r over systems."""
    rows, systems = shared_sources(human)
    at, every, draw = np.ix_(rows, systems), [range(int(systems.sum()))], draws[0].spawn(1)[0]

    def ends(score: np.ndarray) -> np.ndarray:
        planes = [plane_of_scores(score[at], one[at], docs[rows]) for one in human]
        if rows.sum() < 2:
            r = [float(pearson(*plane.scores())) for plane in planes]
            return np.array([[value, np.nan, np.nan] for value in (*r, r[0] - r[1])])
        # the same resamples for all: r of the two ratings is in two rows
        both = [correlations(plane, deepcopy(draw), every, draws[1])[0] for plane in planes]
        return np.array([*both, correlation_gap(*planes, deepcopy(draw), draws[1])])

    return _over_systems(human, known, docs, "pearson", ends)


def _soft(
    human: Human, known: Mapping[str, np.ndarray], docs: np.ndarray, rng: np.random.Generator
) -> pd.DataFrame:
    """Rows of soft pairwise accuracy."""
    rows, systems = shared_sources(human)
    at, index = np.ix_(rows, systems), np.unique(clusters_of(docs[rows]), return_inverse=True)[1]
    signs = swap_signs(int(rows.sum()), rng)
    people = [swap_p(one[at], signs, index) for one in human]

    def ends(score: np.ndarray) -> np.ndarray:
        one, other = (_likeness(p, swap_p(score[at], signs, index)) for p in people)
        return np.array([(v[0], *_jackknife(v, index)[:2]) for v in (one, other, one - other)])

    return _over_systems(human, known, docs, _SOFT, ends)


def _over_systems(
    human: Human,
    known: Mapping[str, np.ndarray],
    docs: np.ndarray,
    kind: str,
    ends: Callable[[np.ndarray], np.ndarray],
) -> pd.DataFrame:
    """Rows of one statistic between systems."""
    import pandas as pd

    rows, systems = shared_sources(human)
    least = 0.0 if kind == _SOFT else -1.0
    out = [bias_row(name, (BETWEEN, kind), ends(v), least=least) for name, v in known.items()]
    count = source_counts(rows, docs) | {"left_out": int((~rows).sum()), "n_systems": systems.sum()}
    return pd.DataFrame(out).assign(**count)


def _chance_within(human: Human, random: Sequence[np.ndarray], kind: str) -> np.ndarray:
    """(2, B) agreement of random metrics with both ratings."""
    if np.isnan(_agreements(human, human[0], kind)).all():
        return np.full((2, len(random)), np.nan)
    return np.array([np.nanmean(_agreements(human, one, kind), axis=0) for one in random]).T


def _chance_between(
    human: Human, random: Sequence[np.ndarray], rng: np.random.Generator
) -> list[np.ndarray]:
    """(2, B) of Pearson's r over systems, and of soft pairwise accuracy."""
    at = np.ix_(*shared_sources(human))
    signs = swap_signs(len(human[0][at]), rng)
    means = np.array([one[at].mean(0) for one in random])
    p = np.array([swap_p(one[at], signs)[0] for one in random])
    r = [pearson(means, one[at].mean(0)) for one in human]
    return [np.array(r), np.array([_likeness(swap_p(one[at], signs), p) for one in human])]


def mixture_arc(rated: RatedMetrics, n: int = 41) -> pd.DataFrame:
    """Agreement of exact mixtures of the two ratings: the best that a metric between the two can reach.

    A mixture is (1 - share) · accuracy + share · fluency, both standardised, within each source or over the means of
    systems. Between systems no metric lies beyond the arc: with ρ the correlation of the two ratings it is a part of
    the ellipse x² - 2 ρ x y + y² = 1 - ρ².

    Parameters
    ----------
    rated : of `rated_metrics`. n : mixtures from share 0 to share 1.

    Returns
    -------
    level, statistic ("pearson"), share, with_accuracy, with_fluency.
    """
    import pandas as pd

    scores = rated.scores
    human = scores["accuracy"], scores["fluency"]
    at = np.ix_(*shared_sources(human))
    means = [one[at].mean(0)[None] for one in human]
    rows = []
    for level, both in ((WITHIN, [one[_varied(human)] for one in human]), (BETWEEN, means)):
        a, f = (_standard(one) for one in both)
        for share in np.linspace(0, 1, checks.whole("n", n, least=2)) if both[0].size else ():
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
    """The metrics of a `metric_bias` table that agree more with one rating, as one sentence.

    These are the metrics whose interval of `lean` excludes 0, each interval by itself.
    """
    rows = table[(table.level == level) & (table.statistic == statistic) & (table.kind == "metric")]
    sides = {
        "accuracy than with fluency": rows.metric[rows.lean_low > 0],
        "fluency than with accuracy": rows.metric[rows.lean_high < 0],
    }
    found = [
        f"{_listed(names)} agree more with {what}" for what, names in sides.items() if len(names)
    ]
    found = found or ["no metric agrees significantly more with accuracy or with fluency"]
    by = _STATISTICS.get(statistic, statistic)
    return f"{level[0].upper()}{level[1:]}, by {by}, {', '.join(found)}"


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else str(last)


def bias_notes(table: pd.DataFrame) -> list[str]:
    """Sentences on the sources that a `metric_bias` table leaves out, and on few documents."""
    within = table[
        (table.level == WITHIN) & (table.statistic == "pearson") & (table.kind == "metric")
    ]
    if within.empty:
        return []
    one = within.iloc[within.n.argmin()]
    left_out = (
        f"Within sources: {one.n} sources have at least {_FEWEST_SYSTEMS} systems that differ in "
        f"accuracy and in fluency; {one.left_out} others have no correlation and are left out "
        f"(except from “{_TIES}”)."
    )
    return [
        *filter(None, [left_out, few_clusters(int(one.n_docs), counting=float(one.n_effective))])
    ]
