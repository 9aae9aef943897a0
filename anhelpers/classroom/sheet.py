"""What a class rates: a few segments, each with candidates of different systems whose names are not shown."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import checks
from ..data.schema import CandidateSet, TestSet, systems_of
from ..errors import DataError

__all__ = ["CRITERIA", "SCALE", "Cell", "Sheet", "draw_sheet", "one_of_each"]

CRITERIA = {  # what 1 and what 5 mean
    "accuracy": (
        "says something else than the source",
        "says all that the source says, and nothing more",
    ),
    "fluency": ("hardly readable", "reads as if it had been written in this language"),
}
SCALE = (1, 2, 3, 4, 5)
Cell = tuple[int, int, str]  # segment, candidate, criterion


@dataclass(frozen=True)
class Sheet:
    """What everybody in a class rates: some segments, each with a few candidates, in the order in which they are shown.

    Parameters
    ----------
    segments : N positions in the test set. srcs : N sources. refs : N references, or none. glosses : N plain English
        lines for the sources, or none.
    candidates : N tuples of positions in the candidate set. texts : N tuples of their texts.
    """

    segments: tuple[int, ...]
    srcs: tuple[str, ...]
    candidates: tuple[tuple[int, ...], ...]
    texts: tuple[tuple[str, ...], ...]
    refs: tuple[str, ...] = ()
    glosses: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """12 hex digits of what is rated, in whatever order it is shown: files of one sheet have the same."""
        rated = zip(self.segments, self.srcs, self.candidates, self.texts, strict=True)
        shown = sorted(
            [i, src, *sorted(zip(ids, texts, strict=True))] for i, src, ids, texts in rated
        )
        return hashlib.sha256(json.dumps(shown, ensure_ascii=False).encode()).hexdigest()[:12]

    @property
    def rows(self) -> list[Cell]:
        """(segment, candidate, criterion) of every rating that is asked for, in the order of the sheet.

        >>> Sheet((7,), ("Yes.",), ((3, 1),), (("Ja.", "Doch."),)).rows[1:3]
        [(7, 3, 'fluency'), (7, 1, 'accuracy')]
        """
        shown = zip(self.segments, self.candidates, strict=True)
        return [
            (i, candidate, criterion)
            for i, ids in shown
            for candidate in ids
            for criterion in CRITERIA
        ]


def draw_sheet(
    test: TestSet | Sequence[str],
    cands: CandidateSet,
    n_segments: int,
    n_candidates: int,
    *,
    rng: np.random.Generator,
) -> Sheet:
    """Draw segments, and for each some candidates of different systems with different texts, in random order.

    Systems (tags of the candidates; "A | B" is of both) that were drawn less often so far go first: all are seen about
    equally often.

    Parameters
    ----------
    n_segments : on the sheet. n_candidates : of each segment.

    Raises
    ------
    DataError where too few segments have so many different candidates.
    """
    srcs = checks.texts("sources", test.srcs if isinstance(test, TestSet) else test)
    cands.require(len(srcs), "candidates")
    if n_segments < 1 or n_candidates < 1:
        raise DataError(
            f"{n_segments} segments with {n_candidates} candidates each: both must be at least 1."
        )
    drawn: Counter[str] = Counter()
    chosen: dict[int, tuple[int, ...]] = {}
    for i in rng.permutation(len(srcs)).tolist():
        if len(chosen) == n_segments:
            break
        rows = _different(
            cands, rng.permutation(np.flatnonzero(cands.segment == i)).tolist(), drawn, n_candidates
        )
        if len(rows) == n_candidates:
            chosen[i] = tuple(rng.permutation(rows).tolist())
            drawn.update(system for row in rows for system in _systems(cands, row))
    if len(chosen) < n_segments:
        raise DataError(
            f"{len(chosen)} of {len(srcs)} segments have {n_candidates} different candidates of "
            f"different systems, and {n_segments} are wanted; ask for fewer."
        )
    segments = tuple(sorted(chosen))
    reference = getattr(test, "reference", None)
    refs = (
        tuple(test.refs[reference][i] for i in segments)
        if isinstance(test, TestSet) and reference
        else ()
    )
    glosses = (
        tuple(test.glosses[i] for i in segments)
        if isinstance(test, TestSet) and test.glosses
        else ()
    )
    texts = tuple(tuple(cands.texts[row] for row in chosen[i]) for i in segments)
    return Sheet(
        segments,
        tuple(srcs[i] for i in segments),
        tuple(chosen[i] for i in segments),
        texts,
        refs,
        glosses,
    )


def one_of_each(test: TestSet, n_candidates: int) -> list[str]:
    """The systems that a class rates unless it names others: one of each category, or all where these are too few.

    Parameters
    ----------
    n_candidates : translations of a segment on the sheet, each by another system.
    """
    first = {test.categories[name]: name for name in sorted(test.systems, reverse=True)}
    return sorted(first.values()) if len(first) >= n_candidates else list(test.systems)


def _systems(cands: CandidateSet, row: int) -> tuple[str, ...]:
    """The systems of a candidate; untagged candidates count as one system."""
    return systems_of(cands.tags[row]) or ("",)


def _different(cands: CandidateSet, rows: list[int], drawn: Counter[str], n: int) -> list[int]:
    """At most n of these candidates, those of the systems drawn least often first; no system and no text twice."""
    taken: list[int] = []
    for row in sorted(rows, key=lambda row: max(drawn[system] for system in _systems(cands, row))):
        own = set(systems_of(cands.tags[row]))
        same = any(
            own & set(systems_of(cands.tags[k])) or cands.texts[row] == cands.texts[k]
            for k in taken
        )
        if not same and cands.texts[row].strip() and len(taken) < n:
            taken.append(row)
    return taken
