"""Scores that translations were given elsewhere, brought to the segments and systems of a test set: nothing is guessed.

A score finds its place by its number, checked by documents or texts, or by the texts themselves. What finds none is
counted and told, and a translation without a score has nan.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import sha256
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from ..errors import DataError
from ..metrics import Given
from .lines import read_bytes
from .schema import TestSet

__all__ = [
    "averaged",
    "covered",
    "digest_of",
    "need_some",
    "places_by_text",
    "rows_within",
    "same_outputs",
]


def digest_of(paths: Iterable[str | PathLike]) -> str:
    """8 hex digits of the sha256 of some files, whatever their order; of one file, the first 8 of its own."""
    each = sorted(sha256(read_bytes(path)).hexdigest() for path in paths)
    return (each[0] if len(each) == 1 else sha256("".join(each).encode()).hexdigest())[:8]


def averaged(
    test: TestSet,
    places: tuple[ArrayLike, ArrayLike],
    scores: Sequence[float] | np.ndarray,
    label: str,
    *,
    raters: Sequence[str] = (),
) -> Given:
    """The mean of the scores that each translation was given, and sentences that count them.

    Parameters
    ----------
    places : (n,) segments and (n,) systems, the positions of each score. scores : (n,). label : what they are called.
    raters : who gave each; () where that is not known.
    """
    shape = len(test), len(test.systems)
    sums, n = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    at = tuple(np.asarray(place, dtype=np.int64) for place in places)
    np.add.at(sums, at, np.asarray(scores, dtype=np.float64))
    np.add.at(n, at, 1)
    values = np.divide(sums, n, out=np.full(shape, np.nan), where=n > 0)
    notes = [covered(test, values, label)]
    if repeated := int((n > 1).sum()):
        who = f" ({len(set(raters))} raters in all)" if raters else ""
        notes.append(
            f"{label}: {repeated:,} of {(n > 0).sum():,} scored translations have several ratings, whose "
            f"mean counts{who}; the raters are held fixed, intervals are for other documents."
        )
    elif raters:
        notes.append(
            f"{label}: each translation has one rating ({len(set(raters))} rater{'s' * (len(set(raters)) != 1)} in "
            "all); the raters are held fixed, intervals are for other documents."
        )
    return Given(values, tuple(notes))


def covered(test: TestSet, values: np.ndarray, label: str) -> str:
    """How many translations have a score, of the systems that have any.

    Parameters
    ----------
    values : (N, k), nan where there is no score. label : what the scores are called.
    """
    there = ~np.isnan(values)
    rated = there.any(0)
    said = int(there.sum())
    of = len(test) * int(rated.sum())
    each, counts = there[:, rated].all(1).sum(), there.sum(0)
    if said == of:
        return f"{label}: all {of:,} translations of {rated.sum()} systems have a score."
    few = min(np.flatnonzero(rated), key=lambda j: counts[j])
    return (
        f"{label}: {said:,} of {of:,} translations of {rated.sum()} systems have a score, in {each:,} of {len(test):,} "
        f"segments all of them; fewest: {list(test.systems)[few]}, {counts[few]:,}."
    )


def places_by_text(
    test: TestSet, given: Sequence[tuple[str, str, str, str]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where scores belong by their texts: three arrays, position in `given`, segment, system.

    Parameters
    ----------
    given : (system, source, translation, document) of each score, white space aside. A blank system: whoever has this
        very text for this source. A blank source, or blank sources in the test set: the translation alone decides. A
        document decides between equal texts. What has several places by the same system belongs to none of them.
    """
    bare = not any(src.strip() for src in test.srcs)
    index: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for system, hyps in test.systems.items():
        for i, hyp in enumerate(hyps):
            if hyp.strip():
                for src in {"", "" if bare else _plain(test.srcs[i])}:
                    index[system, src, _plain(hyp)].append(i)
    column = {system: j for j, system in enumerate(test.systems)}
    found = []
    for at, (system, src, text, doc) in enumerate(given):
        for name in [system] if system else list(column):
            rows = index.get((name, "" if bare else _plain(src), _plain(text)), [])
            if doc and len(rows) > 1:
                rows = [i for i in rows if test.docs[i] == doc]
            if len(rows) == 1:
                found.append((at, rows[0], column[name]))
    places = np.array(found, dtype=np.int64).reshape(-1, 3)
    return places[:, 0], places[:, 1], places[:, 2]


def rows_within(whole: TestSet, part: TestSet) -> np.ndarray:
    """(N,) the segment of `whole` that each segment of `part` is, by documents, sources and outputs; -1 for none.

    Segments that are equal in all that come in their order.

    Parameters
    ----------
    part : some of these segments, with systems of its own.
    """
    shared = [system for system in part.systems if system in whole.systems]
    free: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, key in reversed(list(enumerate(_keys(whole, shared)))):
        free[key].append(i)
    rows = [free[key].pop() if free.get(key) else -1 for key in _keys(part, shared)]
    return np.array(rows, dtype=np.int64)


def same_outputs(whole: TestSet, part: TestSet, rows: np.ndarray) -> np.ndarray:
    """(N, k) bool: the output is that of the same system in the whole set, white space aside.

    Parameters
    ----------
    part : the set whose outputs are asked after. rows : (N,) of `rows_within`.
    """
    same = np.zeros((len(part), len(part.systems)), dtype=bool)
    texts = {**whole.refs, **whole.systems}
    for j, (system, hyps) in enumerate(part.systems.items()):
        if (theirs := texts.get(system)) is None:
            continue
        for i, row in enumerate(rows.tolist()):
            same[i, j] = row >= 0 and _plain(hyps[i]) == _plain(theirs[row])
    return same


def need_some(found: Given, test: TestSet, label: str, place: str | PathLike) -> Given:
    """What was found; a DataError where not one translation has a score: these are other texts.

    Parameters
    ----------
    found : for this test set. label : what the scores are called. place : where they stand.
    """
    if np.isnan(found.values).all():
        raise DataError(
            f"no {label} score is of a translation of {test.name}; take scores of these very outputs.",
            place,
        )
    return found


def _keys(test: TestSet, systems: Sequence[str]) -> Iterable[tuple[str, ...]]:
    texts = [test.systems[system] for system in systems]
    return zip(
        test.docs, map(_plain, test.srcs), *(map(_plain, hyps) for hyps in texts), strict=True
    )


def _plain(text: str) -> str:
    return " ".join(text.split())
