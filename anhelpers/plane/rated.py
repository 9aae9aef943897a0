"""What people and metrics say of the same translations: ratings joined to metrics, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from .. import checks
from ..data.schema import TestSet
from ..errors import DataError
from ..metrics import Metric
from ..mqm import MqmScores
from .local import FEWEST
from .ratings import Join, rated_part
from .scores import Plane, mean_axis
from .systems import metric_axis

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False, repr=False)
class RatedMetrics:
    """What people and metrics say of the same translations, by k systems of N sources; higher is better throughout.

    Parameters
    ----------
    accuracy, fluency : (N, k) of people, such as negated MQM points; nan where nobody rated.
    metrics : name -> (N, k) scores; nan where there is none. docs : (N,) the document of each source.
    systems : k names. titles, signatures : metric -> its title with unit and direction, and its signature.
    notes : what was joined and what was left out.
    """

    accuracy: np.ndarray
    fluency: np.ndarray
    metrics: Mapping[str, np.ndarray]
    docs: np.ndarray
    systems: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    signatures: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shape = np.shape(self.accuracy)
        if len(shape) != 2 or shape[1] < FEWEST:
            raise DataError(
                f"ratings of shape {shape}: (sources, systems) with at least {FEWEST} systems are "
                "wanted, to correlate over systems."
            )
        for name, values in {"fluency": self.fluency, **self.metrics}.items():
            if np.shape(values) != shape:
                raise DataError(f"{name} has shape {np.shape(values)}, and accuracy has {shape}.")
        for name, values in {
            "accuracy": self.accuracy,
            "fluency": self.fluency,
            **self.metrics,
        }.items():
            checks.finite(name, np.nan_to_num(values, nan=0.0, posinf=np.inf), shape)
        checks.same_length(accuracy=self.accuracy, docs=self.docs)

    def __repr__(self) -> str:
        n, k = np.shape(self.accuracy)
        return f"RatedMetrics({', '.join(self.metrics) or 'no metric'}: {k} systems on {n} sources)"

    @property
    def scores(self) -> dict[str, np.ndarray]:
        """Name -> (N, k) of people and of every metric, with nan wherever any of them has none: all on the same."""
        every = {"accuracy": self.accuracy, "fluency": self.fluency, **self.metrics}
        there = ~np.isnan(np.stack([*every.values()])).any(0)
        if not there.any():
            raise DataError("no translation has ratings and a score by every metric.")
        return {name: np.where(there, values, np.nan) for name, values in every.items()}


def rated_metrics(
    test: TestSet,
    metrics: Sequence[Metric],
    scores: MqmScores,
    join: Join,
) -> RatedMetrics:
    """Ratings of accuracy and fluency beside the scores of metrics, for the rated translations of a test set.

    A human reference that a metric compares with is left out for all metrics, so that they are compared on the same. A
    system that was rated more than once, as beside another one, is one system, with the mean of its ratings.

    Parameters
    ----------
    metrics : are computed. scores : of the ratings. join : of the ratings with the test set, from `join_ratings`.
    """
    refs = tuple(test.refs) if any("refs" in metric.needs for metric in metrics) else ()
    part, accuracy, _ = rated_part(test, scores, join, "accuracy", refs)
    fluency = rated_part(test, scores, join, "fluency", refs)[1]
    of = [join.names[system] for system in part.systems]
    systems = tuple(dict.fromkeys(of))
    columns = [[j for j, name in enumerate(of) if name == system] for system in systems]
    # a system that was rated twice has its texts, and so its scores, where either was
    values, titles, signatures = {}, {}, {}
    for metric in metrics:
        axis = metric_axis(part, metric)
        values[metric.label] = _together(axis.values, columns)
        titles[metric.label], signatures[metric.label] = axis.title, axis.signature
    twice = [f"{s}, {len(own)} times" for s, own in zip(systems, columns, strict=True) if own[1:]]
    notes = [
        *join.report,
        *([f"rated more than once, and averaged: {'; '.join(twice)}."] if twice else []),
        *([f"left out, as metrics compare with it: {', '.join(refs)}."] if refs else []),
    ]
    rated = RatedMetrics(
        _together(accuracy.values, columns),
        _together(fluency.values, columns),
        values,
        np.array(part.docs, dtype=object),
        systems,
        titles,
        signatures,
        tuple(notes),
    )
    return replace(rated, notes=(*notes, *_missing(rated)))


def _together(values: np.ndarray, columns: Sequence[Sequence[int]]) -> np.ndarray:
    """(N, k) the mean of the columns of each system; nan where it has none."""
    there = ~np.isnan(values)
    filled = np.where(there, values, 0.0)
    n = np.stack([there[:, own].sum(1) for own in columns], axis=1)
    total = np.stack([filled[:, own].sum(1) for own in columns], axis=1)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def _missing(rated: RatedMetrics) -> list[str]:
    """A sentence on the metrics without a score for some rated translations, which are then left out for all."""
    known = ~np.isnan(rated.accuracy) & ~np.isnan(rated.fluency)
    lost = {name: int((known & np.isnan(v)).sum()) for name, v in rated.metrics.items()}
    told = [f"{name} for {n}" for name, n in lost.items() if n]
    if not told:
        return []
    return [
        f"without a score, of {known.sum()} rated translations: {', '.join(told)}; left out for all metrics."
    ]


def shared_sources(human: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(N,) sources that have all systems, and (k,) systems that have any source; a DataError where there is none.

    Parameters
    ----------
    human : (N, k) each, nan where one is missing.
    """
    there = ~np.isnan(human[0])
    systems = there.any(0)
    rows = there[:, systems].all(1)
    if not rows.any():
        raise DataError(
            "no source has every system rated and scored; leave the sparse systems out."
        )
    return rows, systems


def plane_of_scores(x: np.ndarray, y: np.ndarray, docs: np.ndarray) -> Plane:
    """Two (N, k) scores of the same systems as a plane.

    Parameters
    ----------
    x, y : (N, k), complete.
    """
    n, k = x.shape
    names = tuple(map(str, range(k)))
    one, other = (mean_axis(name, name, name, v) for name, v in (("x", x), ("y", y)))
    every = np.array(["all"] * n, dtype=object)
    return Plane(
        "these ratings", names, ("unknown",) * k, one, other, docs, every, np.zeros(n, int)
    )
