"""Systems on the plane before any averaging: both axes as counts per segment and system that add up.

A mean is a sum over a count, and a corpus score is a function of summed counts. The scores of all segments, of a domain
and of a resample are therefore three uses of one definition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..bootstrap import Resamples, cluster_sums, clusters_of

AXES = ("accuracy", "naturalness")
COPY, OF_REFERENCE = "copy of ", "copy of the reference "


@dataclass(frozen=True)
class _Axis:
    """One axis: what it measures, and counts that give the score of any choice of segments.

    Parameters
    ----------
    name, title, signature : str
        As in Metric; the title has unit and direction, which is always "higher is better".
    level : str
        "segment-mean" (mean of segment scores), "corpus" (score of summed counts) or "stored" (one score per system).
    counts : (N, k, S) array
        Counts of N segments and k systems; 0 without a score.
    there : (N, k) bool array
        Whether there is a score.
    score : callable
        (..., S) sums of counts → (...) scores, higher is better; nan for an empty sum.
    bounds : (float, float)
        Least and largest possible score; intervals and ellipses are clipped to it.
    """

    name: str
    title: str
    signature: str
    level: str
    counts: np.ndarray
    there: np.ndarray
    score: Callable[[np.ndarray], np.ndarray] = field(repr=False)
    bounds: tuple[float, float] = (-np.inf, np.inf)

    @property
    def values(self) -> np.ndarray:
        """(N, k) score of each segment; nan if missing."""
        return np.where(self.there, self.score(self.counts), np.nan)

    def where(self, mask: np.ndarray) -> _Axis:
        """Drop the scores where the (N, k) mask is False."""
        counts = np.where(mask[:, :, None], self.counts, 0)
        return replace(self, counts=counts, there=self.there & mask)

    def take(self, rows: np.ndarray, columns: np.ndarray) -> _Axis:
        """Select segments and systems."""
        at = np.ix_(rows, columns)
        return replace(self, counts=self.counts[at], there=self.there[at])


@dataclass(frozen=True)
class Plane:
    """k systems on N segments, scored on both axes; higher is better on both.

    Parameters
    ----------
    name : str
        Of the data, e.g. "wmt24/en-de".
    systems, categories : (k,) tuples of str
        Names, and their `data.schema.CATEGORIES`.
    accuracy, naturalness : _Axis
        The two axes.
    docs, domains : (N,) arrays
        Document and domain of each segment; documents are resampled.
    lengths : (N,) int array
        Characters of each source, for slices; all 0 if the sources are unknown.
    notes : tuple of str
        What was left out, and why.
    outside : mapping
        System → why it is not compared: "human", "control", "copy of NAME", "copy of the reference NAME" or "added".
        It is tested and drawn, but affects neither the Pareto set nor the corrected p-values of the others.
    """

    name: str
    systems: tuple[str, ...]
    categories: tuple[str, ...]
    accuracy: _Axis
    naturalness: _Axis
    docs: np.ndarray
    domains: np.ndarray
    lengths: np.ndarray
    notes: tuple[str, ...] = ()
    outside: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        axes = f"{self.accuracy.title} against {self.naturalness.title}"
        return f"Plane({self.name}: {len(self.systems)} systems on {len(self)} segments, {axes})"

    def __len__(self) -> int:
        return len(self.docs)

    @property
    def compared(self) -> np.ndarray:
        """(k,) bool: systems that are not `outside`."""
        return np.array([system not in self.outside for system in self.systems], dtype=bool)

    @property
    def axes(self) -> tuple[_Axis, _Axis]:
        """(accuracy, naturalness)."""
        return self.accuracy, self.naturalness

    @property
    def there(self) -> np.ndarray:
        """(N, k) bool: the system has both scores on the segment."""
        return self.accuracy.there & self.naturalness.there

    def subset(self, rows: ArrayLike, *notes: str) -> Plane:
        """Select segments, by position or by a boolean mask."""
        rows = np.arange(len(self))[np.asarray(rows)]
        return self._take(rows, np.arange(len(self.systems)), notes)

    def only(self, systems: Sequence[str]) -> Plane:
        """Select systems, in this order."""
        places = [self.systems.index(checks.one_of(s, self.systems, "system")) for s in systems]
        return self._take(np.arange(len(self)), np.array(places, dtype=int), ())

    def distinct(self) -> list[str]:
        """Systems that have scores; of systems with equal scores on all segments, the first."""
        seen: dict[bytes, str] = {}
        for j, system in enumerate(self.systems):
            if self.there[:, j].any():
                key = b"".join(axis.counts[:, j].tobytes() for axis in self.axes)
                seen.setdefault(key, system)
        return list(seen.values())

    def shared(self) -> Plane:
        """Select the segments on which every system that has any score has both; a note counts the others.

        Means over different segments compare segments, not systems. A system without any complete segment (empty
        outputs have no log-probability) stays, with nan, and removes no segment.
        """
        rows = self.shared_rows()
        if rows.all():
            return self
        missing = (~self.there[self.there.any(1)]).sum(0) * self.there.any(0)
        most = f", most often for {self.systems[missing.argmax()]}" if missing.any() else ""
        told = f"{(~rows).sum()} of {len(rows)} segments are left out: a score is missing{most}."
        return self.subset(rows, told)

    def own(self) -> Plane:
        """Score each system over its own segments, those that have both scores; others stay as they are."""
        mask = self.there | ~self.there.any(0)
        accuracy, naturalness = (axis.where(mask) for axis in self.axes)
        return replace(self, accuracy=accuracy, naturalness=naturalness)

    def shared_rows(self) -> np.ndarray:
        """(N,) bool: the segments that `shared` keeps; DataError if there is none."""
        message = "no segment has a score from every system. Leave out sparse systems."
        return checks.some(_complete(self.there), message)

    def scores(self) -> np.ndarray:
        """(2, k) accuracy and naturalness of each system over its segments; nan if it has none."""
        return np.stack([axis.score(axis.counts.sum(0)) for axis in self.axes])

    def resamples(self, rng: np.random.Generator, n_draws: int) -> Resamples:
        """Resamples of the documents; DataError for a single segment."""
        drawn = Resamples(self.clusters, n_draws, rng)
        checks.whole(f"{self.name}: number of segments", drawn.n_clusters, 2)
        return drawn

    def draws(self, rng: np.random.Generator, n_draws: int = 1000) -> tuple[np.ndarray, Resamples]:
        """(B, 2, k) scores in B resamples of documents, the same for all systems; and the resamples.

        With one document, segments are resampled.
        """
        drawn = self.resamples(rng, n_draws)
        flat = [cluster_sums(axis.counts.reshape(len(self), -1), drawn.index) for axis in self.axes]
        out = np.empty((drawn.n_draws, 2, len(self.systems)))
        for rows, sums in drawn.sums(*flat):
            for i, (axis, one) in enumerate(zip(self.axes, sums, strict=True)):
                out[rows, i] = axis.score(one.reshape(len(one), *axis.counts.shape[1:]))
        return out, drawn

    @property
    def unit(self) -> str:
        """What is resampled: "documents", or "segments" if each is its own cluster."""
        return "documents" if len(set(self.clusters.tolist())) < len(self) else "segments"

    @property
    def clusters(self) -> np.ndarray:
        """(N,) cluster of each segment: `stats.clusters_of` the documents."""
        return clusters_of(self.docs)

    def _take(self, rows: np.ndarray, columns: np.ndarray, notes: tuple[str, ...]) -> Plane:
        systems = tuple(self.systems[j] for j in columns)
        accuracy, naturalness = (axis.take(rows, columns) for axis in self.axes)

        # a copy is compared if its original is not selected
        def stays(why: str) -> bool:
            copied = why.startswith(COPY) and not why.startswith(OF_REFERENCE)
            return not copied or why.removeprefix(COPY) in systems

        return replace(
            self,
            systems=systems,
            categories=tuple(self.categories[j] for j in columns),
            accuracy=accuracy,
            naturalness=naturalness,
            docs=self.docs[rows],
            domains=self.domains[rows],
            lengths=self.lengths[rows],
            notes=(*self.notes, *notes),
            outside={s: why for s, why in self.outside.items() if s in systems and stays(why)},
        )


def mean_axis(
    name: str,
    title: str,
    signature: str,
    values: ArrayLike,
    *,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> _Axis:
    """Return an axis whose score is the mean of segment scores.

    Parameters
    ----------
    values : (N, k) array
        Scores of segments, higher is better; nan if missing.
    bounds : (float, float)
        Least and largest possible score of a segment.
    """
    values = np.asarray(values, dtype=np.float64)
    there = ~np.isnan(values)
    shape = values.shape if values.ndim == 2 else (None, None)
    known = checks.finite(name, np.where(there, values, 0.0), shape)
    counts = np.stack([known, there.astype(np.float64)], axis=2)
    return _Axis(name, title, signature, "segment-mean", counts, there, _mean, bounds)


def _stored_axis(
    name: str, title: str, signature: str, values: ArrayLike, there: np.ndarray
) -> _Axis:
    """Return an axis with one score per system, such as a compressed length.

    Its sampling error is unknown: each resample has the same score, and tables give no interval.

    Parameters
    ----------
    values : (k,) array
        Scores, higher is better.
    there : (N, k) bool array
        Segments of each system.
    """
    values = np.where(there, np.asarray(values, dtype=np.float64), np.nan)
    return replace(mean_axis(name, title, signature, values), level="stored")


def _complete(there: np.ndarray) -> np.ndarray:
    """(N,) bool: rows of (N, k) that are True for every column that is True anywhere."""
    return there[:, there.any(0)].all(1)


def _mean(sums: np.ndarray) -> np.ndarray:
    """Sum over count; nan for a count of 0."""
    total, n = sums[..., 0], sums[..., 1]
    return np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)
