"""Where a metric stands between accuracy and fluency: how well it agrees with human marks of the one and of the other.

Within each source, over its systems, what is hard about the source has no part in it; between systems, the means over
all sources count. The two may have different signs (Simpson's paradox), for the two kinds of marks as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np

from .. import checks
from ..intervals import bootstrap_means, effective, few_clusters
from ..stats import clusters_of, pearson
from .by_source import FEWEST_SYSTEMS, KINDS, pair_accuracy, source_correlations, tie_threshold
from .local import correlation_gap, correlations
from .rated import RatedMetrics, plane_of_scores, shared_sources
from .soft import jackknife_ends, likeness, swap_p, swap_signs

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "BETWEEN",
    "SOFT",
    "TIES",
    "WITHIN",
    "bias_claim",
    "bias_notes",
    "metric_bias",
    "mixture_arc",
]

WITHIN, BETWEEN = "within sources", "between systems"
TIES, SOFT = "pairs with ties", "soft pairwise"
STATISTICS = {"pearson": "Pearson's r", "kendall": "Kendall's τ", SOFT: "soft pairwise accuracy"}
N_NOISE = 200
"""Metrics of noise that are made, for what chance gives: its middle 95 % rests on five of them beyond each end."""
ENDS = ("", "_low", "_high")


def metric_bias(
    rated: RatedMetrics, rng: np.random.Generator, n_draws: int = 1000, n_noise: int = N_NOISE
) -> pd.DataFrame:
    """How well each metric agrees with human accuracy and with human fluency: a row per metric, level and statistic.

    Only translations with both ratings and a score by every metric count, so that metrics are compared on the same.
    "within sources" is the mean over sources of "pearson" or "kendall" (`source_correlations`; sources on which
    accuracy or fluency does not vary are left out, for both), or of "pairs with ties" (`pair_accuracy`, the tie of each
    metric calibrated on this data; no source is left out). "between systems" is "pearson" over the means of systems, or
    "soft pairwise" (`soft_pairwise_accuracy`), on the sources that have all systems.

    Parameters
    ----------
    rated : of `rated_metrics`. n_noise : metrics of random numbers that are made for what chance gives.

    Returns
    -------
    metric; kind : "metric", or "human" for the two ratings themselves; level; statistic; with_accuracy, with_fluency :
    the agreement, in [-1, 1] or [0, 1]; lean : with_accuracy - with_fluency; each with _low and _high, 95 % with
    documents resampled (between systems these are held fixed); chance_accuracy_low … chance_fluency_high : the middle
    95 % of what metrics of noise get; n (sources), left_out (sources), n_systems, n_docs, n_effective.
    """
    import pandas as pd

    scores = rated.scores
    people = {"human accuracy": scores["accuracy"], "human fluency": scores["fluency"]}
    known = {name: scores[name] for name in rated.metrics} | people
    human = scores["accuracy"], scores["fluency"]
    docs, noise = np.asarray(rated.docs), rng.spawn(1)[0]
    random = _noise(human[0], noise, n_noise)
    tables = [_within(human, known, docs, (rng, n_draws), kind) for kind in (*KINDS, TIES)]
    tables += [_between(human, known, docs, (rng, n_draws)), _soft(human, known, docs, rng)]
    chances = [_chance_within(human, random, kind) for kind in (*KINDS, TIES)]
    chances += _chance_between(human, random, rng)
    for table, chance in zip(tables, chances, strict=True):
        for axis, values in zip(("accuracy", "fluency"), chance, strict=True):
            for end, share in (("low", 0.025), ("high", 0.975)):
                table[f"chance_{axis}_{end}"] = np.quantile(values, share)
    table = pd.concat(tables, ignore_index=True)
    table.insert(1, "kind", np.where(table.metric.isin([*people]), "human", "metric"))
    counts = ["n", "left_out", "n_systems", "n_docs", "n_effective"]
    return table[[c for c in table if c not in counts] + counts]


def varied(human: Sequence[np.ndarray]) -> np.ndarray:
    """(N,) bool: sources on which both ratings vary over enough systems."""
    return ~np.isnan(source_correlations(human[0], human[1]))


def _agreements(human: Sequence[np.ndarray], score: np.ndarray, kind: str) -> np.ndarray:
    """(N, 2) how well a score agrees with both ratings on each source."""
    if kind == TIES:
        pairs = [pair_accuracy(score, one, tie_threshold(score, one)) for one in human]
        return np.stack(pairs, axis=1)
    both = np.stack([source_correlations(score, one, kind) for one in human], axis=1)
    return np.where(varied(human)[:, None], both, np.nan)


def _within(
    human: Sequence[np.ndarray],
    known: Mapping[str, np.ndarray],
    docs: np.ndarray,
    draws: tuple[np.random.Generator, int],
    kind: str,
) -> pd.DataFrame:
    """Rows of one statistic, the mean over sources."""
    import pandas as pd

    every = [_agreements(human, score, kind) for score in known.values()]
    columns = np.stack([np.column_stack([v, v[:, 0] - v[:, 1]]) for v in every], axis=1)
    flat = columns.reshape(len(docs), -1)
    ends = column_means(flat, docs, draws).reshape(len(known), 3, 3)
    enough = (~np.isnan(human[0])).sum(1) >= FEWEST_SYSTEMS
    rows = []
    for i, name in enumerate(known):
        there = ~np.isnan(columns[:, i, 0])
        count = source_counts(there, docs) | {"left_out": int((enough & ~there).sum())}
        rows.append(
            bias_row(name, (WITHIN, kind), ends[i], least=0.0 if kind == TIES else -1.0) | count
        )
    systems = int((~np.isnan(human[0])).any(0).sum())
    return pd.DataFrame(rows).assign(n_systems=systems)


def column_means(
    columns: np.ndarray, docs: np.ndarray, draws: tuple[np.random.Generator, int]
) -> np.ndarray:
    """(C, 3) mean, low and high of (N, C) columns with gaps; nan for one without numbers, or in one document."""
    some = ~np.isnan(columns).all(0)
    out = np.full((columns.shape[1], 3), np.nan)
    rows = ~np.isnan(columns).all(1)
    if not some.any():
        return out
    kept, clusters = columns[rows][:, some], clusters_of(docs[rows])
    if len(set(clusters.tolist())) < 2:
        out[some, 0] = np.nanmean(kept, axis=0)
        return out
    found = bootstrap_means(kept, clusters, *draws)
    out[some] = np.stack([found.mean, found.low, found.high], axis=1)
    return out


def bias_row(
    name: str, what: tuple[str, str], ends: np.ndarray, *, least: float = -1.0
) -> dict[str, object]:
    """A row of (3, 3) numbers with low and high: with accuracy, with fluency, and the difference."""
    bounds = [(least, 1.0), (least, 1.0), (least - 1.0, 1.0 - least)]
    cells = {
        f"{column}{end}": float(np.clip(value, *bound))
        for column, three, bound in zip(
            ("with_accuracy", "with_fluency", "lean"), ends, bounds, strict=True
        )
        for end, value in zip(ENDS, three, strict=True)
    }
    return {"metric": name, "level": what[0], "statistic": what[1], **cells}


def source_counts(there: np.ndarray, docs: np.ndarray) -> dict[str, float]:
    """n, n_docs and n_effective of the sources that count."""
    sizes = np.unique(clusters_of(docs[there]), return_counts=True)[1] if there.any() else []
    counting = float(effective(np.asarray(sizes, dtype=float))) if len(sizes) else 0.0
    return {"n": int(there.sum()), "n_docs": len(sizes), "n_effective": counting}


def _between(
    human: Sequence[np.ndarray],
    known: Mapping[str, np.ndarray],
    docs: np.ndarray,
    draws: tuple[np.random.Generator, int],
) -> pd.DataFrame:
    """Rows of Pearson's r over systems."""
    import pandas as pd

    rows, systems = shared_sources(human)
    at, out = np.ix_(rows, systems), []
    every, draw = [range(int(systems.sum()))], draws[0].spawn(1)[0]
    for name, score in known.items():
        planes = [plane_of_scores(score[at], one[at], docs[rows]) for one in human]
        if rows.sum() > 1:
            # the same resamples for all: r of the two ratings stands in two rows
            ends = [correlations(plane, deepcopy(draw), every, draws[1])[0] for plane in planes]
            ends.append(np.array(correlation_gap(planes[0], planes[1], deepcopy(draw), draws[1])))
        else:
            r = [float(pearson(*plane.scores())) for plane in planes]
            ends = [np.array([value, np.nan, np.nan]) for value in (*r, r[0] - r[1])]
        out.append(bias_row(name, (BETWEEN, "pearson"), np.array(ends)))
    count = source_counts(rows, docs) | {"left_out": int((~rows).sum()), "n_systems": systems.sum()}
    return pd.DataFrame(out).assign(**count)


def _soft(
    human: Sequence[np.ndarray],
    known: Mapping[str, np.ndarray],
    docs: np.ndarray,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Rows of soft pairwise accuracy."""
    import pandas as pd

    rows, systems = shared_sources(human)
    at, index = np.ix_(rows, systems), np.unique(clusters_of(docs[rows]), return_inverse=True)[1]
    signs = swap_signs(int(rows.sum()), rng)
    people, out = [swap_p(one[at], signs, index) for one in human], []
    for name, score in known.items():
        own = swap_p(score[at], signs, index)
        values = [likeness(one, own) for one in people]
        values.append(values[0] - values[1])
        ends = np.array([(v[0], *jackknife_ends(v, index)[:2]) for v in values])
        out.append(bias_row(name, (BETWEEN, SOFT), ends, least=0.0))
    count = source_counts(rows, docs) | {"left_out": int((~rows).sum()), "n_systems": systems.sum()}
    return pd.DataFrame(out).assign(**count)


def _noise(there: np.ndarray, rng: np.random.Generator, n: int) -> list[np.ndarray]:
    """Metrics of random numbers, for the same translations."""
    n = checks.whole("n_noise", n, least=2)
    return [np.where(np.isnan(there), np.nan, rng.normal(size=there.shape)) for _ in range(n)]


def _chance_within(
    human: Sequence[np.ndarray], random: Sequence[np.ndarray], kind: str
) -> np.ndarray:
    """(2, B) what metrics of noise get of both ratings."""
    if np.isnan(_agreements(human, human[0], kind)).all():
        return np.full((2, len(random)), np.nan)
    return np.array([np.nanmean(_agreements(human, one, kind), axis=0) for one in random]).T


def _chance_between(
    human: Sequence[np.ndarray], random: Sequence[np.ndarray], rng: np.random.Generator
) -> list[np.ndarray]:
    """(2, B) of Pearson's r over systems, and of soft pairwise accuracy."""
    at = np.ix_(*shared_sources(human))
    signs = swap_signs(len(human[0][at]), rng)
    means = np.array([one[at].mean(0) for one in random])
    p = np.array([swap_p(one[at], signs)[0] for one in random])
    r = [pearson(means, one[at].mean(0)) for one in human]
    soft = [likeness(swap_p(one[at], signs), p) for one in human]
    return [np.array(r), np.array(soft)]


def mixture_arc(rated: RatedMetrics, n: int = 41) -> pd.DataFrame:
    """Where exact mixtures of the two ratings stand: the best that a metric between accuracy and fluency can do.

    A mixture is (1 - share) · accuracy + share · fluency, both standardised, within each source or over the means of
    systems. Between systems no metric stands beyond the arc: with ρ the correlation of the two ratings it is a part of
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
    parts = {WITHIN: [one[varied(human)] for one in human], BETWEEN: means}
    rows = []
    for level, both in parts.items():
        a, f = (_standard(one) for one in both)
        for share in np.linspace(0, 1, checks.whole("n", n, least=2)):
            mixed = (1 - share) * a + share * f
            r = [float(np.nanmean(source_correlations(mixed, one))) for one in both if one.size]
            if len(r) == 2:
                rows.append((level, "pearson", float(share), *r))
    columns = ["level", "statistic", "share", "with_accuracy", "with_fluency"]
    return pd.DataFrame(rows, columns=columns)


def _standard(x: np.ndarray) -> np.ndarray:
    """(n, k) with mean 0 and standard deviation 1 in each row; a row that does not vary stays 0."""
    x = x - np.nanmean(x, axis=1, keepdims=True)
    spread = np.sqrt(np.nanmean(x * x, axis=1, keepdims=True))
    return x / np.where(spread > 0, spread, 1.0)


def bias_claim(table: pd.DataFrame, level: str = WITHIN, statistic: str = "pearson") -> str:
    """What a table of `metric_bias` supports in one sentence: which metrics surely agree more with one rating.

    Sure is a metric whose interval of `lean` does not hold 0; each interval stands by itself.

    Parameters
    ----------
    table : of `metric_bias`. level, statistic : the rows that are read.
    """
    rows = table[(table.level == level) & (table.statistic == statistic) & (table.kind == "metric")]
    more = {
        "accuracy than with fluency": rows.metric[rows.lean_low > 0],
        "fluency than with accuracy": rows.metric[rows.lean_high < 0],
    }
    told = [
        f"{_listed(names)} agree{'s' * (len(names) == 1)} more with {what}"
        for what, names in more.items()
        if len(names)
    ]
    if not told:
        none = "no metric here surely agrees more with accuracy or with fluency"
        told = [none if len(rows) > 1 else f"{_listed(rows.metric)} leans surely to neither side"]
    by = STATISTICS.get(statistic, statistic)
    return f"{level[0].upper()}{level[1:]}, by {by}, {', '.join(told)}"


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else str(last)


def bias_notes(table: pd.DataFrame) -> list[str]:
    """Sentences on what a table of `metric_bias` rests on: sources left out, few documents, what noise gets.

    Parameters
    ----------
    table : of `metric_bias`.
    """
    within = table[
        (table.level == WITHIN) & (table.statistic == "pearson") & (table.kind == "metric")
    ]
    if within.empty:
        return []
    one = within.iloc[within.n.argmin()]
    notes = [
        f"Within sources: {one.n} sources have at least {FEWEST_SYSTEMS} systems that differ in "
        f"accuracy and in fluency; {one.left_out} others have no correlation and are left out "
        f"(not of “{TIES}”)."
    ]
    notes += [few_clusters(int(one.n_docs), counting=float(one.n_effective))]
    constant = within[within.n == 0]
    notes += [f"{_listed(constant.metric)}: never varies within a source."] if len(constant) else []
    return [*filter(None, notes)]
