"""A test set's systems on the plane of two metrics: which are compared, and controls with a known place."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import checks
from ..data.languages import spaced
from ..data.schema import TestSet
from ..errors import DataError
from ..metrics import LPP_DISTANCE, Metric
from ..scoring import scorable, system_scores
from .scores import COPY, OF_REFERENCE, Plane, _Axis, _complete, _stored_axis, mean_axis

_COMPARED = "compared with the reference"
_SPARSE = 0.5
"""Least share of the median number of scores; a system with fewer was scored elsewhere."""
_DIGEST = re.compile(r"sha256:[0-9a-f]+")
_FEWEST_COPIES = 5
"""Least number of a reference's texts in a copy; fewer may be equal by chance."""
NEAR_COPY = 0.8
"""Least share of equal outputs of a near-copy: at least 0.91 in WMT23 and WMT24, at most 0.17 between others."""


def metric_axis(
    test: TestSet, metric: Metric, level: str = "segment-mean", *, rows: np.ndarray | None = None
) -> _Axis:
    """Score the systems of a test set by one metric.

    Parameters
    ----------
    level : str
        "segment-mean", as the oracle curve; or "corpus", for metrics with a corpus score. That excludes segments
        without a reference and counts blank outputs as sacreBLEU does. A corpus score that is not a function of sums
        (compressed lengths, a vocabulary) gives a stored axis over the segments with text from all systems: it has no
        interval.
    rows : (N,) bool array, optional
        Segments of a stored axis.
    """
    checks.one_of(level, ("segment-mean", "corpus"), "level")
    usable = scorable(test, metric)
    if level == "segment-mean":
        return _means(metric, system_scores(test, metric))
    title = metric.oriented_title
    if metric.name != LPP_DISTANCE:  # of a corpus by its name
        title = title.replace(metric.label, f"corpus {metric.label}", 1)
    signature = metric.corpus_signature or metric.signature
    if metric.score_corpus is None:
        raise DataError(f"{metric.name}: no corpus score. Use level segment-mean.")
    if metric.count is None:
        return _stored_axis(metric.name, title, signature, *_whole(test, metric, rows))
    n, k = len(test), len(test.systems)
    hyps = [text for texts in test.systems.values() for text in texts]
    counts = metric.count(hyps, refs=test.streams, segment=np.tile(np.arange(n), k))
    counts = np.ascontiguousarray(counts.reshape(k, n, -1).swapaxes(0, 1))
    there = np.repeat(usable[:, None], k, axis=1)
    if metric.skips_blank:
        there &= _with_text(test)

    def score(sums: np.ndarray) -> np.ndarray:
        return metric.oriented(metric.score_count(sums))  # type: ignore[misc]  # what counts, scores its counts

    return _Axis(metric.name, title, signature, level, counts, there, score, metric.oriented_bounds)


def system_plane(
    test: TestSet,
    accuracy: Metric,
    naturalness: Metric,
    level: str = "segment-mean",
    *,
    shared: bool | None = True,
    naturalness_level: str = "segment-mean",
) -> Plane:
    """Place the systems of a test set on the plane of two metrics.

    With scores given to systems (MQM, ESA, stored ones), systems without any are left out, and a note names them. If no
    metric compares with a reference, rated references are human points.

    Parameters
    ----------
    level, naturalness_level : str
        Of the two axes, as in `metric_axis`.
    shared : bool or None
        True: the segments that all systems share (`Plane.shared`). False: each system over its own (`Plane.own`).
        None: as they are.
    """
    if accuracy.score_systems or naturalness.score_systems:
        return _given_plane(
            test, (accuracy, naturalness), (level, naturalness_level), shared=shared
        )
    across = metric_axis(test, accuracy, level)
    up = metric_axis(test, naturalness, naturalness_level, rows=_complete(across.there))
    if across.level == "stored":
        across = metric_axis(test, accuracy, level, rows=_complete(up.there))
    return plane_of(test, across, up, shared=shared)


def _given_plane(
    test: TestSet, metrics: tuple[Metric, Metric], levels: tuple[str, str], *, shared: bool | None
) -> Plane:
    """The plane if at least one axis has scores given to systems: without systems that lack them."""
    people: dict[str, Any] = {}
    if not any("refs" in metric.needs for metric in metrics):
        people = {name: refs for name, refs in test.refs.items() if name not in test.systems}
        kinds = {**test.categories, **dict.fromkeys(people, "human")}
        # scores compare with no reference, so this note does not apply
        notes = tuple(note for note in test.notes if not note.startswith(_COMPARED))
        test = replace(test, systems={**test.systems, **people}, categories=kinds, notes=notes)
    found = {i: m.score_systems(test) for i, m in enumerate(metrics) if m.score_systems}
    shape = len(test), len(test.systems)
    there = {i: ~np.isnan(np.broadcast_to(given.values, shape)) for i, given in found.items()}
    n = np.logical_and.reduce(list(there.values())).sum(0)
    real = np.array([name not in people for name in test.systems], dtype=bool)
    scored = np.logical_and.reduce([mask.any(0) for mask in there.values()])
    # a reference may have the few scores of systems with the same text
    known = (
        scored & (n >= _SPARSE * np.median(n[scored & real])) if (scored & real).any() else scored
    )
    called = " and ".join(metrics[i].name for i in found)
    checks.some(known, f"{test.name}: no system has scores of {called}.")
    notes = [note for given in found.values() for note in given.notes]
    digests = [_DIGEST.findall(metric.signature) for metric in metrics]
    if len(found) == 2 and digests[0] == digests[1]:
        notes.append("Both axes are of the same ratings: shared errors of raters correlate them.")
    notes.append(f"No oracle curve by {called}: only systems have scores.")
    for name, some, count in zip(test.systems, known, n, strict=True):
        if not some and (count or name not in test.refs):
            notes.append(f"{name}: left out, {count} of {len(test)} outputs have these scores.")
    docs = next((given.docs for given in found.values() if given.docs), ())
    if docs and len({*test.docs}) == len(test):  # documents of the texts are unknown
        test = replace(test, docs=tuple(d or f"segment {i}" for i, d in enumerate(docs)))
        notes.append("Documents are those of the ratings.")
    left_out = [name for name, some in zip(test.systems, known, strict=True) if not some]
    test = replace(test.without(left_out), notes=(*test.notes, *dict.fromkeys(notes)))
    rows = np.logical_and.reduce([_complete(mask[:, known]) for mask in there.values()])
    axes = [
        _given_axis(metric, found[i].values[..., known], len(test))
        if i in found and level == "segment-mean"
        else metric_axis(test, metric, level, rows=rows)
        for i, (metric, level) in enumerate(zip(metrics, levels, strict=True))
    ]
    return plane_of(test, axes[0], axes[1], shared=shared)


def _given_axis(metric: Metric, scores: np.ndarray, n: int) -> _Axis:
    """Axis of (N, k) scores of segments, or of (k,) scores of systems."""
    if scores.ndim > 1:
        return _means(metric, scores)
    there = np.tile(~np.isnan(scores), (n, 1))
    title = metric.oriented_title
    return _stored_axis(metric.name, title, metric.signature, metric.oriented(scores), there)


def _means(metric: Metric, scores: np.ndarray) -> _Axis:
    """Axis of (N, k) segment scores in the metric's own direction."""
    return mean_axis(
        metric.name,
        metric.oriented_title,
        metric.signature,
        metric.oriented(scores),
        bounds=metric.oriented_bounds,
    )


def _training_notes(data: str, naturalness: Iterable[str]) -> list[str]:
    """Notes on naturalness metrics that were fitted or chosen on this data set (docs/judges.md)."""
    how = {"wmt22": "fitted", "wmt23": "chosen"}.get(data.partition("/")[0])
    names = [name for name in naturalness if how and name in ("native", "critic")]
    return [f"{name} was {how} on {data}: its scores separate a little too well." for name in names]


def plane_of(
    test: TestSet, accuracy: _Axis, naturalness: _Axis, *, shared: bool | None = True
) -> Plane:
    """Combine two axes over the systems of a test set; `shared` as in `system_plane`."""
    shape = len(test), len(test.systems)
    for axis in (accuracy, naturalness):
        checks.finite(axis.name, axis.there, shape)
    lengths = np.array([len(src) for src in test.srcs], dtype=np.int64)
    plane = Plane(
        test.name,
        tuple(test.systems),
        tuple(test.categories[s] for s in test.systems),
        accuracy,
        naturalness,
        np.array(test.docs, dtype=object),
        np.array(test.domains, dtype=object),
        lengths,
        (*test.notes, *_training_notes(test.name, [naturalness.name])),
        outside_of(test),
    )
    if shared is None or not test.systems:
        return plane
    return plane.shared() if shared else plane.own()


def outside_of(test: TestSet, added: Iterable[str] = ()) -> dict[str, str]:
    """Return system → why it is not compared: control, human, near-copy or added.

    A near-copy shares NEAR_COPY of its outputs with an earlier system, of the segments with text from either, or of its
    outputs with a reference.

    Parameters
    ----------
    added : iterable of str
        Systems added to others, which are compared without them; alone, they are compared.
    """
    joined, out = set(added), {}
    refs = {name: _texts(hyps) for name, hyps in test.refs.items()}
    kept: dict[str, np.ndarray] = {}
    for system, hyps in test.systems.items():
        texts = _texts(hyps)
        if test.categories[system] in ("control", "human"):
            out[system] = test.categories[system]
        elif ref := next((name for name, theirs in refs.items() if _copied(texts, theirs)), ""):
            out[system] = f"{OF_REFERENCE}{ref}"
        elif system in joined:
            out[system] = "added"
        elif original := next(
            (other for other, theirs in kept.items() if _near(texts, theirs)), ""
        ):
            out[system] = f"{COPY}{original}"
        else:
            kept[system] = texts
    return out if kept else {system: why for system, why in out.items() if why != "added"}


def _texts(hyps: Iterable[str]) -> np.ndarray:
    return np.array([hyp.strip() for hyp in hyps], dtype=object)


def _copied(texts: np.ndarray, ref: np.ndarray) -> bool:
    same = int((texts == ref)[ref != ""].sum())
    return same >= _FEWEST_COPIES and _near(texts[ref != ""], ref[ref != ""])


def _near(one: np.ndarray, other: np.ndarray) -> bool:
    said = (one != "") | (other != "")
    return (one == other)[said].sum() >= NEAR_COPY * said.sum() > 0


def _with_text(test: TestSet) -> np.ndarray:
    """(N, k) bool: the output is not blank."""
    return np.array(
        [[bool(text.strip()) for text in hyps] for hyps in test.systems.values()], bool
    ).T


def _whole(
    test: TestSet, metric: Metric, among: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """(k,) corpus scores, higher is better, over the segments with text from all systems; (N, k) these."""
    said = _with_text(test)
    speaks = said.any(0)
    both = _complete(said) & (True if among is None else among)
    rows = np.flatnonzero(checks.some(both, f"{metric.name}: no segment has all systems' texts."))
    refs, srcs = [[texts[i] for i in rows] for texts in test.streams], [test.srcs[i] for i in rows]
    corpus: Any = metric.score_corpus  # checked by the caller
    scores = [
        metric.oriented(corpus([hyps[i] for i in rows], refs=refs, srcs=srcs)) if spoke else np.nan
        for hyps, spoke in zip(test.systems.values(), speaks, strict=True)
    ]
    there = np.zeros_like(said)
    values = np.array(scores, dtype=np.float64)
    there[rows] = speaks & ~np.isnan(values)
    return values, there


def with_sanity_systems(
    test: TestSet, rng: np.random.Generator, shuffle: str | None = None
) -> TestSet:
    """Add four controls whose place on the plane is known; none of them is a translation.

    "source copied": the source. "references shuffled": each first reference under another source, natural and hardly
    accurate. "words shuffled (NAME)": the words of one system in random order (characters in languages without spaces),
    partly accurate and not natural. "empty": no text.

    Parameters
    ----------
    shuffle : str, optional
        System whose words are shuffled; default: the first.
    """
    if not test.refs or not test.systems:
        raise DataError(f"{test.name}: controls need a system and a reference.")
    name = checks.one_of(shuffle or next(iter(test.systems)), test.systems, "system")
    texts = [next(filter(None, refs), "") for refs in zip(*test.refs.values(), strict=True)]
    given = np.flatnonzero([bool(text) for text in texts])
    moved = [""] * len(test)
    for i, j in zip(given, given[_derangement(len(given), rng)], strict=True):
        moved[i] = texts[j]
    controls = {
        "source copied": test.srcs,
        "references shuffled": tuple(moved),
        f"words shuffled ({name})": tuple(_shuffled(test.systems[name], test.trg_lang, rng)),
        "empty": ("",) * len(test),
    }
    categories = {**test.categories, **dict.fromkeys(controls, "control")}
    return replace(test, systems={**test.systems, **controls}, categories=categories)


def _derangement(n: int, rng: np.random.Generator) -> np.ndarray:
    """(n,) random permutation without fixed points (for n > 1): one cycle."""
    cycle = rng.permutation(n)
    moved = np.empty(n, dtype=np.int64)
    moved[cycle] = np.roll(cycle, 1)
    return moved


def _shuffled(texts: Iterable[str], lang: str, rng: np.random.Generator) -> Iterable[str]:
    joint = " " if spaced(lang) else ""
    for text in texts:
        words = text.split() if joint else list(text)
        yield joint.join(words[i] for i in rng.permutation(len(words)))
