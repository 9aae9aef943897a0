"""Expert ratings joined to the texts of a test set, by id where the texts agree, else by the source text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from ..errors import DataError
from .rating_names import base_system
from .ratings import Ratings
from .schema import TestSet

__all__ = ["Join", "join_ratings", "rated_texts"]


@dataclass(frozen=True)
class Join:
    """Which segment and which text of a test set each rated translation is.

    Parameters
    ----------
    rows : (M,) the test set's segment of each rated one, -1 where none has its source text.
    names : rated system -> the system or reference of the test set that it is; those without one are missing.
    same : (M, K) bool: the rated text is the test set's, white space aside; only those are compared.
    report : sentences with all counts, matched and unmatched.
    """

    rows: np.ndarray
    names: Mapping[str, str]
    same: np.ndarray
    report: tuple[str, ...]


def join_ratings(test: TestSet, ratings: Ratings) -> Join:
    """Join rated segments and systems to those of a test set, by id where the texts agree, else by the source text.

    Parameters
    ----------
    ratings : read with texts=True. Ids may count from 0 or 1, with or without a canary: the numbering under which most
        source texts agree is used, and a segment whose text does not agree is looked up by its text, in reading order.

    Raises
    ------
    DataError where no rated segment is in the test set: these belong to different texts.
    """
    if not ratings.sources:
        raise DataError(
            "the ratings were read without texts; use read_ratings(path, texts=True) to join them."
        )
    sources = [_plain(ratings.sources[segment]) for segment in ratings.segments]
    own = [_plain(src) for src in test.srcs]
    rows, by_id = _rows(sources, [segment.global_id for segment in ratings.segments], own)
    matched = int((rows >= 0).sum())
    if not matched:
        raise DataError(
            f"none of {len(rows)} rated segments has a source of {test.name}; join what belongs "
            "together."
        )
    texts = {**test.refs, **test.systems}
    names = {
        s: name for s in ratings.systems if (name := s if s in texts else base_system(s)) in texts
    }
    same = np.zeros((len(rows), len(ratings.systems)), dtype=bool)
    for j, system in enumerate(ratings.systems):
        hyps = texts.get(names.get(system, ""), ())
        for i in np.flatnonzero(rows >= 0) if hyps else ():
            rated = ratings.targets.get((system, ratings.segments[i]))
            same[i, j] = rated is not None and _plain(rated) == _plain(hyps[rows[i]])
    rated = sum(
        (system, segment) in ratings.targets for system in names for segment in ratings.segments
    )
    strangers = [system for system in ratings.systems if system not in names]
    report = [
        f"{matched} of {len(rows)} rated segments are in {test.name} ({by_id} by id, "
        f"{matched - by_id} by text); {len(test) - len(set(rows[rows >= 0].tolist()))} of its "
        f"{len(test)} segments are not rated.",
        f"{int(same.sum())} of {rated} rated translations are the texts of {test.name}; the others "
        "are left out.",
    ]
    if strangers:
        report.append(f"rated, but not in {test.name}: {', '.join(strangers)}.")
    return Join(rows, names, same, tuple(report))


def rated_texts(ratings: Ratings, lp: str, reference: str) -> TestSet:
    """A test set from a ratings file alone: its sources, its rated translations, one rated system as the reference.

    Translations that nobody rated are blank; segments without a rated reference are left out. Ids of segments are lost:
    join by text.
    """
    kept = [s for s in ratings.segments if (reference, s) in ratings.targets]
    if not kept:
        raise DataError(
            f"no segment has a translation by '{reference}'; systems: {', '.join(ratings.systems)}."
        )
    systems = {
        name: tuple(ratings.targets.get((name, s), "") for s in kept) for name in ratings.systems
    }
    name = PurePath(ratings.paths[0]).name
    srcs = tuple(ratings.sources[s] for s in kept)
    refs = systems.pop(reference)
    return TestSet(name, lp, srcs, {reference: refs}, systems, docs=tuple(s.doc for s in kept))


def _rows(sources: list[str], ids: list[str], own: list[str]) -> tuple[np.ndarray, int]:
    """(M,) row of each rated source, -1 for none; and how many were found by their id."""
    numbers = np.array(
        [int(i) if i.isascii() and i.isdigit() else -(10**6) for i in ids], dtype=np.int64
    )
    hits = [
        np.array(
            [
                0 <= at < len(own) and own[at] == s
                for s, at in zip(sources, numbers - start, strict=True)
            ]
        )
        for start in (0, 1, 2)  # ids from 0, from 1, and from 1 with a canary as the first
    ]
    start = int(np.argmax([h.sum() for h in hits]))
    rows = np.where(hits[start], numbers - start, -1)
    again = np.setdiff1d(np.arange(len(rows)), np.unique(rows, return_index=True)[1])
    # ids that count anew in each document name a row twice: the second one is looked up by its text
    rows[again] = -1
    by_id = int((rows >= 0).sum())
    places: dict[str, list[int]] = {}
    for i, src in enumerate(own):
        places.setdefault(src, []).append(i)
    used = set(rows[rows >= 0].tolist())
    for i in np.flatnonzero(rows < 0):
        free = [at for at in places.get(sources[i], ()) if at not in used]
        if free:
            rows[i] = free[0]
            used.add(free[0])
    return rows, by_id


def _plain(text: str) -> str:
    return " ".join(text.split())
