"""Systems on the plane before any averaging: both axes as counts per segment and system that add up.

A mean is a sum over a count, and a corpus score is a function of summed counts; so the score of all segments, of a
domain and of a resample are three uses of one definition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..data.schema import TestSet
from ..errors import DataError
from ..metric import Metric
from ..scoring import check_needs, scorable, system_scores
from ..stats import cluster_counts, cluster_sums, clusters_of, resampled_sums

__all__ = ["Axis", "Plane", "mean_axis", "metric_axis", "stored_axis", "system_plane"]

LEVELS = ("segment-mean", "corpus")


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
    """

    name: str
    title: str
    signature: str
    level: str
    counts: np.ndarray
    there: np.ndarray
    score: Callable[[np.ndarray], np.ndarray] = field(repr=False)

    @property
    def values(self) -> np.ndarray:
        """(N, k) the score of each segment by itself; nan where there is none."""
        return np.where(self.there, self.score(self.counts), np.nan)

    def where(self, mask: np.ndarray) -> Axis:
        """The same axis without the scores where the (N, k) mask is False."""
        return replace(self, counts=np.where(mask[:, :, None], self.counts, 0), there=self.there & mask)

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
    systems, categories : k names; k of LLM, MT, online, human, unknown.
    accuracy, naturalness : the two Axis.
    docs, domains : (N,) of each segment; documents are what is resampled.
    lengths : (N,) characters of each source, for slices; all 0 where the sources are not known.
    notes : what was left out and why.
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

    def __len__(self) -> int:
        return len(self.docs)

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
        return self._take(np.arange(len(self)), np.array([self.systems.index(s) for s in systems], dtype=int), ())

    def shared(self) -> Plane:
        """Only the segments on which every system that has any score has both; a note counts those left out.

        Comparing means over different segments compares segments, not systems. A system without one complete segment
        (empty outputs have no log-probability) stays, with nan, and removes nothing.
        """
        rows = self.shared_rows()
        if rows.all():
            return self
        if any(axis.level == "stored" for axis in self.axes):  # which was measured where all systems have text
            return self.subset(rows, f"{(~rows).sum()} of {len(rows)} segments are left out: a compared system, or "
                               "every reference, is blank there.")  # fmt: skip
        nobody = ~self.there.any(1)
        missing = np.where(self.there.any(0), (~self.there[~nobody]).sum(0), 0)
        some = f"some compared system has no score there (most often {self.systems[missing.argmax()]})"
        told = ((nobody, "no compared system has a score there"), (~rows & ~nobody, some))
        notes = (f"{left.sum()} of {len(rows)} segments are left out: {why}." for left, why in told if left.any())
        return self.subset(rows, *notes)

    def own(self) -> Plane:
        """Each system over its own segments, those that have both scores; a system without one stays as it is."""
        mask = self.there | ~self.there.any(0)
        return replace(self, accuracy=self.accuracy.where(mask), naturalness=self.naturalness.where(mask))

    def shared_rows(self) -> np.ndarray:
        """(N,) bool: the segments that `shared` keeps; a DataError where there is none."""
        if not (rows := _complete(self.there)).any():
            raise DataError("no segment has a score from every system; leave the sparse systems out.")
        return rows

    def scores(self) -> np.ndarray:
        """(2, k) accuracy and naturalness of each system over its segments; nan where it has none."""
        return np.stack([axis.score(axis.counts.sum(0)) for axis in self.axes])

    def draws(self, rng: np.random.Generator, n_draws: int = 1000) -> tuple[np.ndarray, np.ndarray]:
        """(B, 2, k) the scores in B resamples of documents, drawn once for all, and (B, N) how often each segment is.

        Where there is one document only, segments are resampled; with one segment there is nothing to resample.
        """
        counts, index = cluster_counts(self.clusters, n_draws, rng)
        if counts.shape[1] < 2:
            raise DataError(f"{self.name} has one segment: an interval needs at least 2.")
        n, shapes = len(self), [(n_draws, *axis.counts.shape[1:]) for axis in self.axes]
        sums = resampled_sums(counts, *(cluster_sums(axis.counts.reshape(n, -1), index) for axis in self.axes))
        scores = [axis.score(s.reshape(shape)) for axis, s, shape in zip(self.axes, sums, shapes, strict=True)]
        by_segment = counts.shape[1] == n and (index == np.arange(n)).all()
        return np.stack(scores, axis=1), counts if by_segment else counts.take(index, axis=1)

    @property
    def clusters(self) -> np.ndarray:
        """(N,) what is resampled together, `stats.clusters_of` the documents."""
        return clusters_of(self.docs)

    def _take(self, rows: np.ndarray, columns: np.ndarray, notes: tuple[str, ...]) -> Plane:
        systems, categories = (tuple(np.array(v, dtype=object)[columns]) for v in (self.systems, self.categories))
        accuracy, naturalness = (axis.take(rows, columns) for axis in self.axes)
        return Plane(
            self.name, systems, categories, accuracy, naturalness,
            self.docs[rows], self.domains[rows], self.lengths[rows], (*self.notes, *notes),
        )  # fmt: skip


def mean_axis(name: str, title: str, signature: str, values: ArrayLike) -> Axis:
    """An axis whose score is the mean of segment scores: (N, k) values, higher is better, nan where there is none."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2:
        raise DataError(f"{name}: values must be (segments, systems), got shape {values.shape}.")
    there = ~np.isnan(values)
    known = checks.finite(name, np.where(there, values, 0.0), values.shape)
    counts = np.stack([known, there.astype(np.float64)], axis=2)
    return Axis(name, title, signature, "segment-mean", counts, there, _mean)


def stored_axis(name: str, title: str, signature: str, values: ArrayLike, there: np.ndarray) -> Axis:
    """An axis of which only a score per system is known: (k,) values, higher is better, for (N, k) segments.

    Every resample gives the same score, because its sampling error is not known: tables give it no interval.

    Parameters
    ----------
    there : (N, k) which segments each system has.
    """
    values = np.asarray(values, dtype=np.float64)
    return replace(mean_axis(name, title, signature, np.where(there, values, np.nan)), level="stored")


def metric_axis(test: TestSet, metric: Metric, level: str = "segment-mean", *, rows: np.ndarray | None = None) -> Axis:
    """The systems of a test set on one metric.

    Parameters
    ----------
    level : "segment-mean", which the oracle curve shares; or "corpus", where the metric has a corpus score: a blank
        output then counts as sacreBLEU counts it, and a segment without a reference not at all. A corpus score that is
        no function of sums (compressed lengths, a vocabulary) is a stored axis, over the segments for which all systems
        have text: it has no interval.
    rows : (N,) bool, the only segments that a stored axis may be over: those of the axis that it stands beside.
    """
    checks.one_of(level, LEVELS, "level")
    check_needs(test, metric)
    if level == "segment-mean":
        values = metric.oriented(system_scores(test, metric))
        return mean_axis(metric.name, metric.oriented_title, metric.signature, values)
    title = metric.oriented_title.replace(metric.label, f"corpus {metric.label}", 1)
    signature = metric.corpus_signature or metric.signature
    if metric.score_corpus is None:
        raise DataError(f"{metric.name} has no corpus score, only the mean of segment scores; use level segment-mean.")
    if metric.count is None:
        return stored_axis(metric.name, title, signature, *_whole(test, metric, rows))
    n, k = len(test), len(test.systems)
    hyps = [text for texts in test.systems.values() for text in texts]
    counts = metric.count(hyps, refs=test.streams, segment=np.tile(np.arange(n), k))
    counts = np.ascontiguousarray(counts.reshape(k, n, -1).swapaxes(0, 1))
    there = np.repeat(scorable(test, metric)[:, None], k, axis=1)

    def score(sums: np.ndarray) -> np.ndarray:
        return metric.oriented(metric.score_count(sums))  # type: ignore[misc]  # what counts, scores its counts

    return Axis(metric.name, title, signature, level, counts, there, score)


def system_plane(
    test: TestSet,
    accuracy: Metric,
    naturalness: Metric,
    level: str = "segment-mean",
    *,
    shared: bool = True,
    naturalness_level: str = "segment-mean",
) -> Plane:
    """The systems of a test set on the plane of two metrics.

    Parameters
    ----------
    test : its references are those that the metrics see; its systems are those to compare.
    level, naturalness_level : of the two axes, as in `metric_axis`; log-perplexity is a mean over segments.
    shared : only the segments that all systems share (`Plane.shared`); False: each system over its own (`Plane.own`).
    """
    across = metric_axis(test, accuracy, level)
    up = metric_axis(test, naturalness, naturalness_level, rows=_complete(across.there))
    if across.level == "stored":
        across = metric_axis(test, accuracy, level, rows=_complete(up.there))
    return plane_of(test, across, up, shared=shared)


def plane_of(test: TestSet, accuracy: Axis, naturalness: Axis, *, shared: bool | None = True) -> Plane:
    """Two axes over the systems of one test set; `shared` as in `system_plane`, None: as they are."""
    for axis in (accuracy, naturalness):
        if axis.there.shape != (len(test), len(test.systems)):
            seen, wanted = axis.there.shape, (len(test), len(test.systems))
            raise DataError(f"{axis.name} is for {seen} segments and systems, but {test.name} has {wanted}.")
    lengths = np.array([len(src) for src in test.srcs], dtype=np.int64)
    plane = Plane(
        test.name, tuple(test.systems), tuple(test.categories[s] for s in test.systems), accuracy, naturalness,
        np.array(test.docs, dtype=object), np.array(test.domains, dtype=object), lengths, test.notes,
    )  # fmt: skip
    if shared is None or not test.systems:
        return plane
    return plane.shared() if shared else plane.own()


def _whole(test: TestSet, metric: Metric, among: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """(k,) corpus scores, higher is better, over the segments (of those `among`) that all have text for; which."""
    said = np.array([[bool(text.strip()) for text in hyps] for hyps in test.systems.values()], dtype=bool).T
    speaks = said.any(0)
    rows = np.flatnonzero(_complete(said) & (True if among is None else among))
    if not rows.size:
        raise DataError(f"no segment has a score from every system for {metric.name}; leave the sparse systems out.")
    refs, srcs = [[texts[i] for i in rows] for texts in test.streams], [test.srcs[i] for i in rows]
    corpus: Any = metric.score_corpus  # as the caller has seen
    scores = [
        metric.oriented(corpus([hyps[i] for i in rows], refs=refs, srcs=srcs)) if spoke else np.nan
        for hyps, spoke in zip(test.systems.values(), speaks, strict=True)
    ]
    there = np.zeros_like(said)
    values = np.array(scores, dtype=np.float64)
    there[rows] = speaks & ~np.isnan(values)
    return values, there


def _complete(there: np.ndarray) -> np.ndarray:
    """(N,) bool of (N, k): what is there for every system for which anything is."""
    return there[:, there.any(0)].all(1)


def _mean(sums: np.ndarray) -> np.ndarray:
    """Sum over count; nan where the count is 0."""
    total, n = sums[..., 0], sums[..., 1]
    return np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)
