"""Systems on the plane before any averaging: both axes as counts per segment and system that add up.

A mean is a sum over a count, and a corpus score is a function of summed counts; so the score of all segments, of a
domain and of a resample are three uses of one definition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..bootstrap import Resamples, cluster_sums, clusters_of, resampled_sums, resamples
from ..errors import DataError

AXES = ("accuracy", "naturalness")
COPY, OF_REFERENCE = "copy of ", "copy of the reference "


@dataclass(frozen=True)
class Axis:
    """What one axis measures, with the counts from which the score of any choice of segments follows.

    Parameters
    ----------
    name, title, signature : as in Metric; the title has unit and direction, which is always "higher is better".
    level : "segment-mean" (the mean of segment scores), "corpus" (the score of the summed counts) or "stored" (known
        per system only): never mixed.
    counts : (N, k, S) of N segments and k systems, 0 where there is no score.
    there : (N, k) bool, whether there is a score.
    score : (..., S) sums of counts -> (...) scores, higher is better, nan where nothing was summed.
    bounds : the least and the largest possible score: no interval and no ellipse reaches farther (`systems_table`).
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
        """(N, k) the score of each segment by itself; nan where there is none."""
        return np.where(self.there, self.score(self.counts), np.nan)

    def where(self, mask: np.ndarray) -> Axis:
        """The same axis without the scores where the (N, k) mask is False."""
        return replace(
            self, counts=np.where(mask[:, :, None], self.counts, 0), there=self.there & mask
        )

    def take(self, rows: np.ndarray, columns: np.ndarray) -> Axis:
        """The same axis for some segments and systems."""
        at = np.ix_(rows, columns)
        return replace(self, counts=self.counts[at], there=self.there[at])


@dataclass(frozen=True)
class Plane:
    """k systems on N segments, scored on both axes; both are turned to higher is better.

    Parameters
    ----------
    name : of the data, e.g. "wmt24/en-de".
    systems, categories : k names; k of `data.fields.CATEGORIES`.
    accuracy, naturalness : the two Axis.
    docs, domains : (N,) of each segment; documents are what is resampled.
    lengths : (N,) characters of each source, for slices; all 0 where the sources are not known.
    notes : what was left out and why.
    outside : system -> why it is not one of those to compare: "human", "control", "copy of NAME", "copy of the
        reference NAME", "added". It is tested and drawn, but decides nothing about the others: neither who is
        Pareto-optimal nor what p-values are corrected.
    """

    name: str
    systems: tuple[str, ...]
    categories: tuple[str, ...]
    accuracy: Axis
    naturalness: Axis
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
        """(k,) bool: who is not `outside`."""
        return np.array([system not in self.outside for system in self.systems], dtype=bool)

    @property
    def axes(self) -> tuple[Axis, Axis]:
        """(accuracy, naturalness)."""
        return self.accuracy, self.naturalness

    @property
    def there(self) -> np.ndarray:
        """(N, k) bool: the system has both scores on the segment."""
        return self.accuracy.there & self.naturalness.there

    def subset(self, rows: ArrayLike, *notes: str) -> Plane:
        """Some segments, by position or by a boolean mask."""
        rows = np.arange(len(self))[np.asarray(rows)]
        return self._take(rows, np.arange(len(self.systems)), notes)

    def only(self, systems: Sequence[str]) -> Plane:
        """Some systems, in this order."""
        for name in systems:
            checks.one_of(name, self.systems, "system")
        return self._take(
            np.arange(len(self)), np.array([self.systems.index(s) for s in systems], dtype=int), ()
        )

    def shared(self) -> Plane:
        """Only the segments on which every system that has any score has both; a note counts those left out.

        Comparing means over different segments compares segments, not systems. A system without one complete segment
        (empty outputs have no log-probability) stays, with nan, and removes nothing.
        """
        rows = self.shared_rows()
        if rows.all():
            return self
        # which was measured where all systems have text
        if any(axis.level == "stored" for axis in self.axes):
            return self.subset(
                rows,
                f"{(~rows).sum()} of {len(rows)} segments are left out: there a system, or "
                "every reference, is blank, or a score is missing.",
            )
        nobody = ~self.there.any(1)
        missing = np.where(self.there.any(0), (~self.there[~nobody]).sum(0), 0)
        some = f"some system has no score there (most often {self.systems[missing.argmax()]})"
        told = ((nobody, "no system has a score there"), (~rows & ~nobody, some))
        notes = (
            f"{left.sum()} of {len(rows)} segments are left out: {why}."
            for left, why in told
            if left.any()
        )
        return self.subset(rows, *notes)

    def own(self) -> Plane:
        """Each system over its own segments, those that have both scores; a system without one stays as it is."""
        mask = self.there | ~self.there.any(0)
        return replace(
            self, accuracy=self.accuracy.where(mask), naturalness=self.naturalness.where(mask)
        )

    def shared_rows(self) -> np.ndarray:
        """(N,) bool: the segments that `shared` keeps; a DataError where there is none."""
        if not (rows := complete(self.there)).any():
            raise DataError(
                "no segment has a score from every system; leave the sparse systems out."
            )
        return rows

    def scores(self) -> np.ndarray:
        """(2, k) accuracy and naturalness of each system over its segments; nan where it has none."""
        return np.stack([axis.score(axis.counts.sum(0)) for axis in self.axes])

    def draws(self, rng: np.random.Generator, n_draws: int = 1000) -> tuple[np.ndarray, Resamples]:
        """(B, 2, k) the scores in B resamples of documents, drawn once for all, and these resamples.

        Where there is one document only, segments are resampled; with one segment there is nothing to resample.
        """
        drawn = resamples(self.clusters, n_draws, rng)
        if drawn.n_clusters < 2:
            raise DataError(f"{self.name} has one segment: an interval needs at least 2.")
        flat = [cluster_sums(axis.counts.reshape(len(self), -1), drawn.index) for axis in self.axes]
        out = np.empty((len(drawn), 2, len(self.systems)))
        for rows, counts in drawn.blocks():
            sums = resampled_sums(counts, *flat)
            for i, (axis, one) in enumerate(zip(self.axes, sums, strict=True)):
                out[rows, i] = axis.score(one.reshape(len(counts), *axis.counts.shape[1:]))
        return out, drawn

    @property
    def unit(self) -> str:
        """What is resampled: "documents", or "segments" where these are not known or each is a segment."""
        return "documents" if len(set(self.clusters.tolist())) < len(self) else "segments"

    @property
    def clusters(self) -> np.ndarray:
        """(N,) what is resampled together, `stats.clusters_of` the documents."""
        return clusters_of(self.docs)

    def _take(self, rows: np.ndarray, columns: np.ndarray, notes: tuple[str, ...]) -> Plane:
        systems, categories = (
            tuple(np.array(v, dtype=object)[columns]) for v in (self.systems, self.categories)
        )
        accuracy, naturalness = (axis.take(rows, columns) for axis in self.axes)
        outside = {
            s: why
            for s, why in self.outside.items()
            if s in systems
            and (
                why.removeprefix(COPY) in systems
                or why.startswith(OF_REFERENCE)
                or not why.startswith(COPY)
            )
        }
        return Plane(
            self.name,
            systems,
            categories,
            accuracy,
            naturalness,
            self.docs[rows],
            self.domains[rows],
            self.lengths[rows],
            (*self.notes, *notes),
            outside,
        )


def mean_axis(
    name: str,
    title: str,
    signature: str,
    values: ArrayLike,
    *,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Axis:
    """An axis whose score is the mean of segment scores: (N, k) values, higher is better, nan where there is none.

    Parameters
    ----------
    bounds : the least and the largest possible score of a segment, and so of the mean.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2:
        raise DataError(f"{name}: values must be (segments, systems), got shape {values.shape}.")
    there = ~np.isnan(values)
    known = checks.finite(name, np.where(there, values, 0.0), values.shape)
    counts = np.stack([known, there.astype(np.float64)], axis=2)
    return Axis(name, title, signature, "segment-mean", counts, there, _mean, bounds)


def stored_axis(
    name: str, title: str, signature: str, values: ArrayLike, there: np.ndarray
) -> Axis:
    """An axis of which only a score per system is known: (k,) values, higher is better, for (N, k) segments.

    Every resample gives the same score, because its sampling error is not known: tables give it no interval.

    Parameters
    ----------
    there : (N, k) which segments each system has.
    """
    values = np.asarray(values, dtype=np.float64)
    return replace(
        mean_axis(name, title, signature, np.where(there, values, np.nan)), level="stored"
    )


def complete(there: np.ndarray) -> np.ndarray:
    """(N,) bool of (N, k): what is there for every system for which anything is."""
    return there[:, there.any(0)].all(1)


def _mean(sums: np.ndarray) -> np.ndarray:
    """Sum over count; nan where the count is 0."""
    total, n = sums[..., 0], sums[..., 1]
    return np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)
