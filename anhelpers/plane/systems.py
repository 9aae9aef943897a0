"""A test set's systems on the plane of two metrics; who of them is compared, and controls whose place is known."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import checks
from ..data.languages import spaced
from ..data.schema import TestSet
from ..errors import DataError
from ..metrics import LPP_DISTANCE, Metric
from ..scoring import check_needs, given_scores, scorable, system_scores
from .scores import COPY, OF_REFERENCE, Axis, Plane, complete, mean_axis, stored_axis

LEVELS = ("segment-mean", "corpus")
COMPARED = "compared with the reference"
SPARSE = 0.5
"""Of the scores that systems usually have: who has a smaller share of them was scored elsewhere, or not at all."""
_DIGEST = re.compile(r"sha256:[0-9a-f]+")
FEWEST_COPIES = 5
"""A system with a reference's own text for fewer sources may have found it by chance."""
NEAR_COPY = 0.8
"""The least share of equal outputs of a near-copy; in WMT23 and WMT24, 0.91 or more, and 0.17 between other systems."""
SAME_RATERS = (
    "Both axes are of the same ratings: that a rater is strict, or a text hard, moves a system on both, so that the "
    "axes go together for that reason, too."
)


def metric_axis(
    test: TestSet, metric: Metric, level: str = "segment-mean", *, rows: np.ndarray | None = None
) -> Axis:
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
        return _means(metric, system_scores(test, metric))
    title = metric.oriented_title.replace(metric.label, f"corpus {metric.label}", 1)
    # which is of a corpus by name
    title = metric.oriented_title if metric.name == LPP_DISTANCE else title
    signature = metric.corpus_signature or metric.signature
    if metric.score_corpus is None:
        raise DataError(
            f"{metric.name} has no corpus score, only the mean of segment scores; use level "
            "segment-mean."
        )
    if metric.count is None:
        return stored_axis(metric.name, title, signature, *_whole(test, metric, rows))
    n, k = len(test), len(test.systems)
    hyps = [text for texts in test.systems.values() for text in texts]
    counts = metric.count(hyps, refs=test.streams, segment=np.tile(np.arange(n), k))
    counts = np.ascontiguousarray(counts.reshape(k, n, -1).swapaxes(0, 1))
    there = np.repeat(scorable(test, metric)[:, None], k, axis=1)
    if metric.skips_blank:
        there &= np.array(
            [[bool(text.strip()) for text in texts] for texts in test.systems.values()], dtype=bool
        ).T

    def score(sums: np.ndarray) -> np.ndarray:
        return metric.oriented(metric.score_count(sums))  # type: ignore[misc]  # what counts, scores its counts

    return Axis(metric.name, title, signature, level, counts, there, score, metric.oriented_bounds)


def system_plane(
    test: TestSet,
    accuracy: Metric,
    naturalness: Metric,
    level: str = "segment-mean",
    *,
    shared: bool | None = True,
    naturalness_level: str = "segment-mean",
) -> Plane:
    """The systems of a test set on the plane of two metrics.

    Parameters
    ----------
    test : its references are those that the metrics see; its systems are those to compare.
    level, naturalness_level : of the two axes, as in `metric_axis`; log-perplexity is a mean over segments.
    shared : only the segments that all systems share (`Plane.shared`); False: each system over its own (`Plane.own`).

    Of scores that were given to systems (MQM, ESA, stored ones) the systems without any are left out, which a note
    tells. Where no metric compares with a reference, rated references are human points.
    """
    if accuracy.score_systems or naturalness.score_systems:
        return _given_plane(
            test, (accuracy, naturalness), (level, naturalness_level), shared=shared
        )
    across = metric_axis(test, accuracy, level)
    up = metric_axis(test, naturalness, naturalness_level, rows=complete(across.there))
    if across.level == "stored":
        across = metric_axis(test, accuracy, level, rows=complete(up.there))
    return plane_of(test, across, up, shared=shared)


def _given_plane(
    test: TestSet, metrics: tuple[Metric, Metric], levels: tuple[str, str], *, shared: bool | None
) -> Plane:
    """The plane where at least one axis was given to the systems: without those that it does not know."""
    people: dict[str, Any] = {}
    if not any("refs" in metric.needs for metric in metrics):
        people = {name: refs for name, refs in test.refs.items() if name not in test.systems}
        kinds = {**test.categories, **dict.fromkeys(people, "human")}
        # it says which references the scores are compared with, and these are with none
        said = tuple(note for note in test.notes if not note.startswith(COMPARED))
        test = replace(test, systems={**test.systems, **people}, categories=kinds, notes=said)
    found = {i: given_scores(test, m) for i, m in enumerate(metrics) if m.score_systems}
    called = " and ".join(metrics[i].name for i in found)
    there = {i: ~np.isnan(given.values) for i, given in found.items()}
    known = np.logical_and.reduce([mask.any(0) for mask in there.values()])
    names = np.array(list(test.systems), dtype=object)
    if not known.any():
        raise DataError(
            f"no system of {test.name} has scores of {called}; take ratings of these very systems."
        )
    notes = [note for given in found.values() for note in given.notes]
    notes += _without_sparse(test, list(there.values()), known, people)
    digests = [_DIGEST.findall(metric.signature) for metric in metrics]
    if len(found) == 2 and digests[0] == digests[1]:
        notes.append(SAME_RATERS)
    notes.append(
        f"no oracle curve and no gaps to it: {called} {'were' if len(found) > 1 else 'was'} given to outputs of "
        "systems, and no other candidate has such a score."
    )
    if left := [name for name in names[~known] if name not in test.refs]:
        notes.append(f"left out, as they have none of these scores: {', '.join(left)}.")
    docs = next((given.docs for given in found.values() if given.docs), ())
    if docs and len({*test.docs}) == len(test):  # each segment by itself: documents were not known
        test = replace(test, docs=tuple(d or f"segment {i}" for i, d in enumerate(docs)))
        notes.append("Documents are those of the ratings.")
    test = replace(test.without(names[~known]), notes=(*test.notes, *dict.fromkeys(notes)))
    rows = np.logical_and.reduce([complete(mask[:, known]) for mask in there.values()])
    each = np.logical_and.reduce([mask[:, known] for mask in there.values()]).sum(0)
    if rows.sum() < SPARSE * np.median(each):
        raise DataError(
            f"only {rows.sum()} segments of {test.name} have a score of {called} for every system, and "
            f"a system has {np.median(each):.0f} on average: means over so few would say little; "
            "leave out systems that were scored elsewhere (--exclude)."
        )
    axes = [
        _means(metric, found[i].values[:, known])
        if i in found and level == "segment-mean"
        else metric_axis(test, metric, level, rows=rows)
        for i, (metric, level) in enumerate(zip(metrics, levels, strict=True))
    ]
    return plane_of(test, axes[0], axes[1], shared=shared)


def _without_sparse(
    test: TestSet, masks: Sequence[np.ndarray], known: np.ndarray, people: Collection[str]
) -> list[str]:
    """Take references out of `known` that have few of the scores; the note that says so.

    Where scores come by text alone, a reference has those of systems that wrote the same, which are no scores of it:
    over these segments alone all would be compared. A system with so few is refused.

    Parameters
    ----------
    masks : per axis (N, k) bool, who has a score where. known : (k,) bool, changed here. people : added references.
    """
    n, names = np.logical_and.reduce(list(masks)).sum(0), list(test.systems)
    real = np.array([name not in people for name in names], dtype=bool)
    usual = float(np.median(n[known & real])) if (known & real).any() else 0.0
    few = {j for j in np.flatnonzero(known) if n[j] < SPARSE * usual}
    if told := [f"{names[j]} ({n[j]:,})" for j in few if real[j]]:
        raise DataError(
            f"{', '.join(told)}: far fewer segments with a score than the {usual:,.0f} of other systems, "
            "and all would be compared over these alone; give the other scores, or leave the system "
            f"out (--exclude {' '.join(names[j] for j in few if real[j])})."
        )
    known[[*few]] = False
    return [
        f"{names[j]}: no human point, as only {n[j]:,} of its {len(test):,} texts have a score."
        for j in few
    ]


def _means(metric: Metric, scores: np.ndarray) -> Axis:
    """The axis of (N, k) scores of segments, in the metric's own direction."""
    return mean_axis(
        metric.name,
        metric.oriented_title,
        metric.signature,
        metric.oriented(scores),
        bounds=metric.oriented_bounds,
    )


def plane_of(
    test: TestSet, accuracy: Axis, naturalness: Axis, *, shared: bool | None = True
) -> Plane:
    """Two axes over the systems of one test set; `shared` as in `system_plane`, None: as they are."""
    for axis in (accuracy, naturalness):
        if axis.there.shape != (len(test), len(test.systems)):
            seen, wanted = axis.there.shape, (len(test), len(test.systems))
            raise DataError(
                f"{axis.name} is for {seen} segments and systems, but {test.name} has {wanted}."
            )
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
        test.notes,
        outside_of(test),
    )
    if shared is None or not test.systems:
        return plane
    return plane.shared() if shared else plane.own()


def outside_of(test: TestSet, added: Iterable[str] = ()) -> dict[str, str]:
    """System -> why it is not one of those to compare: controls, people, near-copies, added ones.

    A near-copy has the very outputs of an earlier system in NEAR_COPY of the segments for which either has text, or a
    reference's text in as many of those for which there is one.

    Parameters
    ----------
    added : systems that joined others, which are compared without them; by themselves they are compared.
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
    return same >= FEWEST_COPIES and _near(texts[ref != ""], ref[ref != ""])


def _near(one: np.ndarray, other: np.ndarray) -> bool:
    said = (one != "") | (other != "")
    return (one == other)[said].sum() >= NEAR_COPY * said.sum() > 0


def _whole(
    test: TestSet, metric: Metric, among: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """(k,) corpus scores, higher is better, over the segments (of those `among`) that all have text for; which."""
    said = np.array(
        [[bool(text.strip()) for text in hyps] for hyps in test.systems.values()], dtype=bool
    ).T
    speaks = said.any(0)
    rows = np.flatnonzero(complete(said) & (True if among is None else among))
    if not rows.size:
        raise DataError(
            f"no segment has a score from every system for {metric.name}; leave the sparse systems "
            "out."
        )
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


def with_sanity_systems(
    test: TestSet, rng: np.random.Generator, shuffle: str | None = None
) -> TestSet:
    """The test set with four more systems, controls, whose place on the plane is known: none of them is a translation.

    A picture that puts them elsewhere is wrong.

    "source copied": the source itself. "references shuffled": every first reference under another source, as natural
    as references are and with hardly any accuracy; no text where there is no reference. "words shuffled (NAME)": the
    words of one system in random order (its characters, where the language writes no spaces), with its accuracy in part
    and no naturalness. "empty": no text, so that a surface metric gives 0 and a language model nothing.

    Parameters
    ----------
    shuffle : the system whose words are shuffled; by default the first.
    """
    if not test.refs or not test.systems:
        raise DataError(
            f"{test.name} has no {'system' if test.refs else 'reference'} to shuffle; give one."
        )
    name = checks.one_of(shuffle or next(iter(test.systems)), test.systems, "system")
    texts = [
        next(filter(None, of_segment), "") for of_segment in zip(*test.refs.values(), strict=True)
    ]
    given = np.flatnonzero([bool(text) for text in texts])
    moved = dict(zip(given.tolist(), given[_derangement(len(given), rng)].tolist(), strict=True))
    shuffled = f"words shuffled ({name})"
    controls = {
        "source copied": test.srcs,
        "references shuffled": tuple(
            texts[moved[i]] if i in moved else "" for i in range(len(test))
        ),
        shuffled: tuple(_shuffled(test.systems[name], test.trg_lang, rng)),
        "empty": ("",) * len(test),
    }
    categories = {**test.categories, **dict.fromkeys(controls, "control")}
    same = controls[shuffled] == test.systems[name]
    note = (
        [
            f"{shuffled} is {name} itself: none of its texts has two different words to change "
            "places."
        ]
        if same
        else []
    )
    return replace(
        test,
        systems={**test.systems, **controls},
        categories=categories,
        notes=(*test.notes, *note),
    )


def _derangement(n: int, rng: np.random.Generator) -> np.ndarray:
    """(n,) a random order in which nothing stays in its place (for n > 1): one random cycle."""
    cycle = rng.permutation(n)
    moved = np.empty(n, dtype=np.int64)
    moved[cycle] = np.roll(cycle, 1)
    return moved


def _shuffled(texts: Iterable[str], lang: str, rng: np.random.Generator) -> Iterable[str]:
    joint = " " if spaced(lang) else ""
    for text in texts:
        words = text.split() if joint else list(text)
        yield joint.join(words[i] for i in rng.permutation(len(words)))
