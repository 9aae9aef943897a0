"""Human ratings on the plane (AN Figure 3), and any metric against human fluency (AN Figures 4 and 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..data.join import Join
from ..data.schema import TestSet
from ..errors import DataError
from ..metrics import Metric
from ..mqm import MqmScores, base_system
from ..stats import correlation_p
from .local import correlations
from .scores import Axis, Plane, mean_axis, stored_axis
from .systems import metric_axis, plane_of
from .table import systems_table

if TYPE_CHECKING:
    import pandas as pd


def fluency_rows(
    planes: Mapping[str, Plane], rng: np.random.Generator, n_draws: int = 1000
) -> pd.DataFrame:
    """Planes of one rating each against a metric -> metric, system, category, score, fluency, intervals, n; r.

    pearson with pearson_low and pearson_high is the correlation over all systems of that metric, documents resampled.

    Parameters
    ----------
    planes : metric -> plane of that metric and of fluency.
    """
    import pandas as pd

    names = {"accuracy": "score", "naturalness": "fluency"}
    frames = []
    for metric, plane in planes.items():
        table = systems_table(plane, rng, n_draws).rename(columns=lambda c: _renamed(c, names))
        ((r, low, high),) = correlations(plane, rng, [range(len(plane.systems))], n_draws)
        frames.append(table.assign(metric=metric, pearson=r, pearson_low=low, pearson_high=high))
    return pd.concat(frames, ignore_index=True)


def fluency_summary(rows: pd.DataFrame) -> pd.DataFrame:
    """How each metric goes together with fluency: a row per metric, its r over all systems with interval, p and n.

    The interval speaks of these systems on other documents, p of other systems: how often so many unrelated ones would
    give an r at least as far from 0.

    Parameters
    ----------
    rows : of `fluency_rows`; systems without score or fluency are not counted.

    Returns
    -------
    DataFrame; its index is the metric. r, low, high : Pearson's r, from -1 to 1, with its 95 % interval. p : in
    [0, 1], Student's. shown : the whole interval is above 0 and p < 0.05. systems, n, n_docs : counts; note : all this
    in a line, for a picture.
    """
    there = rows.dropna(subset=["score", "fluency"]).groupby("metric", sort=False)
    columns = {"pearson": "r", "pearson_low": "low", "pearson_high": "high"}
    table = there[[*columns, "n", "n_docs"]].first().rename(columns=columns)
    table["systems"] = there.size()
    table["p"] = [float(correlation_p(row.r, row.systems)) for row in table.itertuples()]
    table["shown"] = (table.low > 0) & (table.p < 0.05)
    table["note"] = [
        f"r = {row.r:z.2f} ({row.low:z.2f} to {row.high:z.2f}), k = {row.systems}, "
        f"n = {row.n} ({row.n_docs} docs)"
        for row in table.itertuples()
    ]
    return table


def _renamed(column: str, names: Mapping[str, str]) -> str:
    first = column.partition("_")[0]
    return column.replace(first, names.get(first, first), 1)


def rated_plane(
    scores: MqmScores,
    name: str,
    categories: Mapping[str, str] | None = None,
    *,
    shared: bool = True,
) -> Plane:
    """Systems by expert ratings: accuracy and fluency penalties, negated, so that (0, 0) is perfect.

    Its intervals and tests resample documents and hold the raters fixed, as differences of systems want it; for other
    raters see `mqm.system_table`.

    Parameters
    ----------
    categories : system -> category; a rated name that is not listed has that of its `base_system`, or "unknown".
    shared : only segments rated for every system; False: each over its own.
    """
    matrix, known = scores.matrix("penalty"), categories or {}
    kinds = tuple(known.get(s, known.get(base_system(s), "unknown")) for s in matrix.systems)
    accuracy, fluency = (rating_axis(scores, kind) for kind in ("accuracy", "fluency"))
    docs, domains = (np.array(v, dtype=object) for v in (matrix.docs, matrix.domains))
    lengths = np.zeros(len(docs), dtype=np.int64)
    notes = tuple(note for note in scores.notes if not shared or note != scores.coverage)
    people = {
        system: "human"
        for system, kind in zip(matrix.systems, kinds, strict=True)
        if kind == "human"
    }
    plane = Plane(
        name, matrix.systems, kinds, accuracy, fluency, docs, domains, lengths, notes, people
    )
    return plane.shared() if shared else plane.own()


def rating_axis(scores: MqmScores, kind: str) -> Axis:
    """One kind of MQM penalty ("penalty", "accuracy", "fluency") per segment, negated; adjusted ones are named so."""
    adjusted = scores.severity is not None
    title = f"−MQM {kind}{', rater-adjusted' * adjusted} (points per segment, higher is better)"
    name = f"mqm-{kind}{'-adjusted' * adjusted}"
    # less than the severity of a rater may be negative
    bounds = (-np.inf, np.inf if adjusted else 0.0)
    return mean_axis(name, title, scores.signature, -scores.matrix(kind).values, bounds=bounds)


def metric_against(
    test: TestSet, metric: Metric, scores: MqmScores, join: Join, *, kind: str = "fluency"
) -> Plane:
    """Rated systems by a metric (as accuracy) and by human ratings (as naturalness), on the rated segments.

    A human reference that the metric compares with is left out: it would be compared with itself.

    Parameters
    ----------
    join : of the ratings with the test set, from `join_ratings`. kind : "fluency" or "accuracy".
    """
    part, rating, _ = rated_part(
        test, scores, join, kind, without=tuple(test.refs) if "refs" in metric.needs else ()
    )
    axis = metric_axis(part, metric)
    return plane_of(part, axis.where(rating.there), rating)


def stored_against(
    test: TestSet,
    values: Mapping[str, float],
    axis: tuple[str, str, str],
    scores: MqmScores,
    join: Join,
    *,
    kind: str = "fluency",
) -> Plane:
    """The same for a metric of which only a score per system is known, such as an organiser's table.

    Parameters
    ----------
    values : system -> score, higher is better. A rated system without one is left out.
    axis : name, title and signature of the metric. Its own sampling error is unknown, so it gets no interval.
    join, kind : as in `metric_against`.
    """
    without = [rated for rated, name in join.names.items() if name not in values]
    part, rating, _ = rated_part(test, scores, join, kind, without)
    column = [values[join.names[system]] for system in part.systems]
    return plane_of(part, stored_axis(*axis, column, rating.there), rating)


def rated_part(
    test: TestSet, scores: MqmScores, join: Join, kind: str, without: Sequence[str] = ()
) -> tuple[TestSet, Axis, np.ndarray]:
    """The rated segments with rated systems of the same text, their ratings, and (n,) which segments these are.

    Documents are as the raters had them.
    """
    matrix, texts = scores.matrix(kind), {**test.refs, **test.systems}
    columns = [
        j
        for j, s in enumerate(matrix.systems)
        if join.same[:, j].any() and not {s, join.names[s]} & {*without}
    ]
    rated = np.flatnonzero((join.rows >= 0) & join.same[:, columns].any(1))
    if not rated.size:
        raise DataError(
            f"no rated translation is a text of {test.name} that this metric can score."
        )
    part = test.subset(join.rows[rated])
    names = [matrix.systems[j] for j in columns]
    human = dict.fromkeys(test.refs, "human")
    part = replace(
        part,
        docs=tuple(matrix.docs[i] for i in rated),
        domains=tuple(matrix.domains[i] for i in rated),
        systems={s: tuple(texts[join.names[s]][i] for i in join.rows[rated]) for s in names},
        categories={s: {**human, **test.categories}[join.names[s]] for s in names},
        notes=join.report,
    )
    axis = rating_axis(scores, kind).take(rated, np.array(columns))
    return part, axis.where(join.same[rated][:, columns]), join.rows[rated]
