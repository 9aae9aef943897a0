"""Join expert ratings to the texts of a test set: by id where the texts agree, else by the source text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from ..errors import DataError
from .ratings import Ratings, base_system
from .schema import TestSet


@dataclass(frozen=True)
class Join:
    """The segment and the text of a test set of each of M rated segments and K rated systems.

    Parameters
    ----------
    rows : (M,) int array
        Segment of the test set; -1 if none has this source text.
    names : mapping
        Rated system to the system or reference of the test set; systems without one are missing.
    same : (M, K) bool array
        Whether the rated text is the test set's, except for white space; only these are compared.
    report : tuple of str
        Counts of matched and unmatched rows, as sentences.
    """

    rows: np.ndarray
    names: Mapping[str, str]
    same: np.ndarray
    report: tuple[str, ...]


def join_ratings(test: TestSet, ratings: Ratings) -> Join:
    """Join rated segments and systems to those of a test set.

    Parameters
    ----------
    ratings : Ratings
        Read with texts=True. Ids may count from 0 or 1, with or without a canary: the numbering with most equal source
        texts counts. A segment whose text differs is found by its text, in reading order.

    Raises
    ------
    DataError : ratings without texts, or of other texts.
    """
    if not ratings.sources:
        raise DataError("got ratings without texts. Read them by read_ratings(path, texts=True).")
    sources = [_plain(ratings.sources[segment]) for segment in ratings.segments]
    ids = [segment.global_id for segment in ratings.segments]
    rows, by_id = _rows(sources, ids, [_plain(src) for src in test.srcs])
    there = np.flatnonzero(rows >= 0)
    if not there.size:
        raise DataError(f"none of {len(rows)} rated segments has a source of {test.name}.")
    texts = {**test.refs, **test.systems}
    named = {s: s if s in texts else base_system(s) for s in ratings.systems}
    names = {s: name for s, name in named.items() if name in texts}
    same = np.zeros((len(rows), len(ratings.systems)), dtype=bool)
    for j, system in enumerate(ratings.systems):
        for i in there if system in names else ():
            rated = ratings.targets.get((system, ratings.segments[i]))
            same[i, j] = rated is not None and _plain(rated) == _plain(
                texts[names[system]][rows[i]]
            )
    n_rated = sum(system in names for system, _ in ratings.targets)
    report = [
        f"{there.size} of {len(rows)} rated segments are in {test.name} ({by_id} by id, {there.size - by_id} by text); "
        f"{len(test) - len(set(rows[there].tolist()))} of its {len(test)} segments are not rated.",
        f"{int(same.sum())} of {n_rated} rated translations are the texts of {test.name}; the others are left out.",
    ]
    if strangers := [system for system in ratings.systems if system not in names]:
        report.append(f"Rated, but not in {test.name}: {', '.join(strangers)}.")
    return Join(rows, names, same, tuple(report))


def rated_texts(ratings: Ratings, lp: str, reference: str) -> TestSet:
    """A test set from ratings alone: their sources, the rated translations, one rated system as the reference.

    Translations without a rating are blank; segments without a rated reference are left out. Join by text.
    """
    kept = [s for s in ratings.segments if (reference, s) in ratings.targets]
    if not kept:
        known = ", ".join(ratings.systems)
        raise DataError(f"reference: got '{reference}', expected a rated system: {known:.60}.")
    texts = {
        name: tuple(ratings.targets.get((name, s), "") for s in kept) for name in ratings.systems
    }
    refs = {reference: texts.pop(reference)}
    srcs, docs = tuple(ratings.sources[s] for s in kept), tuple(s.doc for s in kept)
    return TestSet(PurePath(ratings.paths[0]).name, lp, srcs, refs, texts, docs=docs)


def _rows(sources: Sequence[str], ids: Sequence[str], own: Sequence[str]) -> tuple[np.ndarray, int]:
    """(M,) row of each rated source, -1 without one; and how many were found by their id."""
    numbers = np.array([int(i) if i.isascii() and i.isdigit() else -(10**6) for i in ids])
    hits = [
        [
            0 <= at < len(own) and own[at] == s
            for s, at in zip(sources, numbers - start, strict=True)
        ]
        for start in (0, 1, 2)  # ids from 0, from 1, and from 1 with a canary as the first
    ]
    start = int(np.argmax([sum(hit) for hit in hits]))
    rows = np.where(hits[start], numbers - start, -1)
    # ids that restart in each document name a row twice: the second is found by its text
    rows[np.setdiff1d(np.arange(len(rows)), np.unique(rows, return_index=True)[1])] = -1
    by_id = int((rows >= 0).sum())
    free: dict[str, list[int]] = {}
    for at in sorted(set(range(len(own))) - set(rows.tolist())):
        free.setdefault(own[at], []).append(at)
    for i in np.flatnonzero(rows < 0):
        if free.get(sources[i]):
            rows[i] = free[sources[i]].pop(0)
    return rows, by_id


def _plain(text: str) -> str:
    return " ".join(text.split())
