"""Human ratings on the plane (AN Figure 3), metrics against them (AN Figures 4, 5), and both side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .. import checks
from .._lazy import pd
from ..data.ratings import Join
from ..data.schema import TestSet
from ..errors import DataError
from ..metrics import Metric
from ..mqm import MqmScores, base_system
from ..stats import correlation_p
from .local import correlations
from .scores import Plane, _Axis, _stored_axis, mean_axis
from .systems import metric_axis, plane_of
from .table import systems_table


@dataclass(frozen=True, eq=False, repr=False)
class _RatedMetrics:
    """Ratings and scores of the same translations, of k systems on N sources; higher is better.

    Parameters
    ----------
    accuracy, fluency : (N, k) arrays
        Of people, such as negated MQM points; nan if unrated.
    metrics : mapping
        Name → (N, k) scores; nan if missing.
    docs : (N,) array
        Document of each source.
    systems : (k,) tuple of str
        Names.
    titles : mapping
        Metric → title with unit and direction.
    notes : tuple of str
        What was joined and left out.
    """

    accuracy: np.ndarray
    fluency: np.ndarray
    metrics: Mapping[str, np.ndarray]
    docs: np.ndarray
    systems: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shape: Sequence[int | None] = (None, None)
        for name, values in self._columns.items():
            shape = checks.finite(name, np.where(np.isnan(values), 0.0, values), shape).shape
        checks.same_length(accuracy=self.accuracy, docs=self.docs)

    def __repr__(self) -> str:
        n, k = np.shape(self.accuracy)
        return f"RatedMetrics({', '.join(self.metrics) or 'no metric'}: {k} systems on {n} sources)"

    @property
    def _columns(self) -> dict[str, np.ndarray]:
        return {"accuracy": self.accuracy, "fluency": self.fluency, **self.metrics}

    @property
    def scores(self) -> dict[str, np.ndarray]:
        """Name → (N, k) ratings and scores of the same translations; nan if any of them is missing."""
        there = ~np.isnan(np.stack([*self._columns.values()])).any(0)
        checks.some(there, "no translation has ratings and a score by every metric.")
        return {name: np.where(there, values, np.nan) for name, values in self._columns.items()}


def rated_metrics(
    test: TestSet, metrics: Sequence[Metric], scores: MqmScores, join: Join
) -> _RatedMetrics:
    """Score the rated translations of a test set by metrics.

    A reference that a metric compares with is left out for all metrics. If a system was rated more than once,
    for example side by side with other systems, its ratings are averaged.

    Parameters
    ----------
    scores : MqmScores
        Of `join.ratings`.
    join : Join
        From `join_ratings`.
    """
    refs = tuple(test.refs) if any("refs" in metric.needs for metric in metrics) else ()
    part, accuracy = _rated_part(test, scores, join, "accuracy", refs)
    fluency = _rated_part(test, scores, join, "fluency", refs)[1]
    of = [join.names[system] for system in part.systems]
    systems = tuple(dict.fromkeys(of))
    columns = [[j for j, name in enumerate(of) if name == system] for system in systems]

    def merged(values: np.ndarray) -> np.ndarray:
        """(N, k) mean over the columns of each system."""
        return np.stack([_nan_mean(values[:, own].T) for own in columns], axis=1)

    axes = {metric.label: metric_axis(part, metric) for metric in metrics}
    twice = [s for s, own in zip(systems, columns, strict=True) if own[1:]]
    notes = [
        *join.report,
        *([f"averaged over repeated ratings: {', '.join(twice)}."] if twice else []),
        *([f"references left out: {', '.join(refs)}."] if refs else []),
    ]
    rated = _RatedMetrics(
        merged(accuracy.values),
        merged(fluency.values),
        {label: merged(axis.values) for label, axis in axes.items()},
        np.array(part.docs, dtype=object),
        systems,
        {label: axis.title for label, axis in axes.items()},
    )
    known = ~np.isnan(rated.accuracy) & ~np.isnan(rated.fluency)
    for label, values in rated.metrics.items():
        if n := int((known & np.isnan(values)).sum()):
            notes.append(f"{label}: no score of {n} of {known.sum()} rated translations.")
    return replace(rated, notes=tuple(notes))


def _nan_mean(values: np.ndarray) -> np.ndarray:
    """Mean over the first axis of the values that are not nan; nan if there are none."""
    n = (~np.isnan(values)).sum(0)
    return np.where(n > 0, np.nansum(values, axis=0) / np.maximum(n, 1), np.nan)


def mixed_systems(
    rated: _RatedMetrics, pair: tuple[str, str], shares: Sequence[float], rng: np.random.Generator
) -> _RatedMetrics:
    """Synthesise systems from two real ones: each has a share of the first one's segments, else the second one's.

    Ratings and metrics take the same segments, chosen at random, and a larger share keeps those of a smaller one. Each
    segment is the first one's with probability `share`, so every mean is linear in the share in expectation, between
    those of the two. Only segments where both have ratings and a score by every metric are kept.

    Parameters
    ----------
    pair : (str, str)
        Two of the systems.
    shares : S numbers in [0, 1]
        0 is the second system, 1 the first; the number of segments is exact up to rounding.

    Returns
    -------
    The ratings and scores of S systems, "NAME, share SHARE".

    References
    ----------
    Shayegh et al. 2025, who synthesise systems to control which systems metrics are judged on.
    """
    wanted = checks.finite("shares", shares)
    if np.any((wanted < 0) | (wanted > 1)):
        raise DataError(f"shares: got {wanted.min():g} to {wanted.max():g}, expected 0 to 1.")
    a, b = (rated.systems.index(checks.one_of(s, rated.systems, "system")) for s in pair)
    there = ~np.isnan([values[:, [a, b]] for values in rated.scores.values()]).any((0, 2))
    rows = checks.some(there, f"{' and '.join(pair)} share no segment with all scores.")
    order = rng.permutation(int(rows.sum())) + rng.random()
    first = order[:, None] < wanted * len(order)
    mixed = {
        name: np.where(first, values[rows, a, None], values[rows, b, None])
        for name, values in rated._columns.items()
    }
    return replace(
        rated,
        accuracy=mixed.pop("accuracy"),
        fluency=mixed.pop("fluency"),
        metrics=mixed,
        docs=np.asarray(rated.docs)[rows],
        systems=tuple(f"{pair[0]}, share {share:g}" for share in wanted),
    )


def fluency_rows(
    planes: Mapping[str, Plane], rng: np.random.Generator, n_draws: int = 1000
) -> pd.DataFrame:
    """Return a row per metric and system: score and fluency with intervals, and r over all systems.

    Parameters
    ----------
    planes : mapping
        Metric → plane of that metric (accuracy) and fluency (naturalness).

    Returns
    -------
    DataFrame with metric, the columns of `systems_table` with accuracy named score and naturalness named fluency, and
    pearson, pearson_low, pearson_high : documents resampled.
    """
    frames = []
    for metric, plane in planes.items():
        table = systems_table(plane, rng, n_draws)
        scored = [c.replace("accuracy", "score", 1) for c in table]
        table.columns = [c.replace("naturalness", "fluency", 1) for c in scored]
        ((r, low, high),) = correlations(plane, rng, [range(len(plane.systems))], n_draws)
        frames.append(table.assign(metric=metric, pearson=r, pearson_low=low, pearson_high=high))
    return pd.concat(frames, ignore_index=True)


def fluency_summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row per metric: r with fluency over all systems.

    The interval is for these systems on other documents, p for other systems.

    Parameters
    ----------
    rows : DataFrame
        From `fluency_rows`; systems without score or fluency do not count.

    Returns
    -------
    DataFrame with index metric. r, low, high : Pearson's r with its 95 % interval; n, n_docs, systems : counts;
    p : Student's; shown : low > 0 and p < 0.05.
    """
    there = rows.dropna(subset=["score", "fluency"]).groupby("metric", sort=False)
    columns = {"pearson": "r", "pearson_low": "low", "pearson_high": "high"}
    table = there[[*columns, "n", "n_docs"]].first().rename(columns=columns)
    table["systems"] = there.size()
    table["p"] = [float(correlation_p(row.r, row.systems)) for row in table.itertuples()]
    table["shown"] = (table.low > 0) & (table.p < 0.05)
    return table


def rated_plane(
    scores: MqmScores,
    name: str,
    categories: Mapping[str, str] | None = None,
    *,
    shared: bool = True,
) -> Plane:
    """Return systems by expert ratings: negated accuracy and fluency penalties, so (0, 0) is perfect.

    Documents are resampled and raters held fixed, as for differences of systems; for other raters see
    `mqm.system_table`.

    Parameters
    ----------
    categories : mapping, optional
        System → category; a missing rated name has that of its `base_system`, or "unknown".
    shared : bool
        Only segments rated for every system; else each system over its own.
    """
    matrix, known = scores.matrix("penalty"), categories or {}
    kinds = tuple(known.get(s, known.get(base_system(s), "unknown")) for s in matrix.systems)
    plane = Plane(
        name,
        matrix.systems,
        kinds,
        _rating_axis(scores, "accuracy"),
        _rating_axis(scores, "fluency"),
        np.array(matrix.docs, dtype=object),
        np.array(matrix.domains, dtype=object),
        np.zeros(len(matrix.docs), dtype=np.int64),
        tuple(note for note in scores.notes if not shared or note != scores.coverage),
        {s: "human" for s, kind in zip(matrix.systems, kinds, strict=True) if kind == "human"},
    )
    return plane.shared() if shared else plane.own()


def _rating_axis(scores: MqmScores, kind: str) -> _Axis:
    """Axis of one kind of MQM penalty per segment, negated; the title says if it is adjusted for raters."""
    adjusted = scores.severity is not None
    title = f"−MQM {kind}{', rater-adjusted' * adjusted} (points per segment, higher is better)"
    name = f"mqm-{kind}{'-adjusted' * adjusted}"
    # a penalty minus the severity of its rater may be negative
    bounds = (-np.inf, np.inf if adjusted else 0.0)
    return mean_axis(name, title, scores.signature, -scores.matrix(kind).values, bounds=bounds)


def metric_against(test: TestSet, metric: Metric, scores: MqmScores, join: Join) -> Plane:
    """Return rated systems by a metric (accuracy) and by ratings of fluency (naturalness), on the rated segments.

    References that the metric compares with are left out.

    Parameters
    ----------
    scores, join : MqmScores, Join
        From `join_ratings`, and of its ratings.
    """
    refs = tuple(test.refs) if "refs" in metric.needs else ()
    part, rating = _rated_part(test, scores, join, "fluency", refs)
    return plane_of(part, metric_axis(part, metric).where(rating.there), rating)


def stored_against(
    test: TestSet,
    values: Mapping[str, float],
    axis: tuple[str, str, str],
    scores: MqmScores,
    join: Join,
) -> Plane:
    """Return `metric_against` for a metric with one score per system, such as an organiser's table.

    Parameters
    ----------
    values : mapping
        System → score, higher is better; rated systems without one are left out.
    axis : (str, str, str)
        Name, title and signature of the metric, which has no interval.
    """
    without = [rated for rated, name in join.names.items() if name not in values]
    part, rating = _rated_part(test, scores, join, "fluency", without)
    column = [values[join.names[system]] for system in part.systems]
    return plane_of(part, _stored_axis(*axis, column, rating.there), rating)


def _rated_part(
    test: TestSet, scores: MqmScores, join: Join, kind: str, without: Sequence[str] = ()
) -> tuple[TestSet, _Axis]:
    """Rated segments and systems with the same texts, in the raters' documents; and their ratings."""
    matrix, texts = scores.matrix(kind), {**test.refs, **test.systems}
    columns = [
        j
        for j, s in enumerate(matrix.systems)
        if join.same[:, j].any() and not {s, join.names[s]} & {*without}
    ]
    known = (join.rows >= 0) & join.same[:, columns].any(1)
    message = f"{test.name}: no text has both a rating and a score of this metric."
    rated = np.flatnonzero(checks.some(known, message))
    names = [matrix.systems[j] for j in columns]
    kinds = {**dict.fromkeys(test.refs, "human"), **test.categories}
    part = replace(
        test.subset(join.rows[rated]),
        docs=tuple(matrix.docs[i] for i in rated),
        domains=tuple(matrix.domains[i] for i in rated),
        systems={s: tuple(texts[join.names[s]][i] for i in join.rows[rated]) for s in names},
        categories={s: kinds[join.names[s]] for s in names},
        notes=join.report,
    )
    axis = _rating_axis(scores, kind).take(rated, np.array(columns))
    return part, axis.where(join.same[rated][:, columns])
