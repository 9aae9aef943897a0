"""Copies of a reference, which would be perfect, among systems and among candidates."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..data.schema import CandidateSet, TestSet, same_text, systems_of
from ..errors import DataError

__all__ = ["FEWEST_COPIES", "NEAR_COPY", "copied_candidates", "copied_systems"]

FEWEST_COPIES = 5
"""Who has a reference's own text for so many sources at least may have copied it."""

NEAR_COPY = 0.8
"""The share of its outputs that a near-copy has in common with another system, or with a reference.

In WMT23 and WMT24, two systems of different makers have at most 17 % in common, and a near-copy 91 % or more.
"""

MOST, COPIED = 0.5, 0.95
"""Who has a reference's own text for this share of the sources has copied it, in these or all through: in WMT23 and
WMT24 a system finds at most 8 % of the references, and all systems of a pair together 13 %."""


def copied_systems(test: TestSet, chosen: Collection[str]) -> list[str]:
    """Which systems are a reference, or nearly so, and in how many segments; white space around a text is ignored.

    Parameters
    ----------
    chosen : names of the references that metrics compare with.
    """
    copies, notes = test.copies, []
    for ref, texts in test.refs.items():
        there = [i for i, text in enumerate(texts) if text]
        for system, hyps in test.systems.items():
            same = sum(same_text(hyps[i], texts[i]) for i in there)
            shared = f"{same} of {len(there)} texts are the same, white space around them aside"
            share = same / max(1, len(there))
            if copies.get(system) == ref and (ref in chosen or system != ref):
                done = "not compared with itself" if ref in chosen else "named so"
                notes.append(f"{system} is the reference {ref} ({shared}), and is {done}.")
            elif system not in copies and same >= FEWEST_COPIES and share > MOST:
                notes.append(
                    f"{system} is nearly the reference {ref} ({shared}: {share:.0%}); these texts "
                    "are perfect by it, and its place says little of a system."
                )
    return notes


def copied_candidates(cands: CandidateSet, test: TestSet) -> tuple[np.ndarray, tuple[str, ...]]:
    """Which candidates are references put among them, which would be perfect; notes on those, and on chance equals.

    Systems of category human are references that nothing is compared with: no machine's translations either.
    The candidates of a system, as their tags name it, hold copies of a reference if one of them is equal to it for most
    sources; those without a tag, for nearly all. Of each source the first equal one is the copy; a system with one
    candidate a source that is equal for nearly all of them, or bears the reference's name, is left out whole, edited
    texts too. Others that are equal are translations that came out so, as of short sources, and stay.

    Returns
    -------
    (n,) bool, and sentences.

    Raises
    ------
    DataError for a source that would be left without a candidate.
    """
    copies, equals, notes = np.zeros(len(cands), bool), np.zeros(len(cands), bool), []
    origins = [systems_of(tag) or ("",) for tag in cands.tags]
    segments = cands.segment.tolist()
    human = {name: hyps for name, hyps in test.systems.items() if test.categories[name] == "human"}
    for ref, texts in {**human, **test.refs}.items():
        # by origin, the candidates of each source with this reference
        offered: dict[str, dict[int, list[int]]] = {}
        # of those, the ones with an equal candidate, and the first such
        found: dict[str, dict[int, int]] = {}
        for i, (source, names) in enumerate(zip(segments, origins, strict=True)):
            for name in names if texts[source] else ():
                offered.setdefault(name, {}).setdefault(source, []).append(i)
                if same_text(cands.texts[i], texts[source]):
                    equals[i] |= ref in test.refs
                    found.setdefault(name, {}).setdefault(source, i)
        copying = [
            name
            for name, rows in found.items()
            if len(offered[name]) >= FEWEST_COPIES
            and len(rows) > len(offered[name]) * (MOST if name else COPIED)
        ]
        for name in copying:
            nearly = name and (name == ref or len(found[name]) > COPIED * len(offered[name]))
            whole = nearly and all(len(those) == 1 for those in offered[name].values())
            its = (
                [i for those in offered[name].values() for i in those]
                if whole
                else found[name].values()
            )
            rows = [i for i in its if set(origins[i]) <= set(copying)]  # who else found it keeps it
            copies[rows] = True
            whose = f"candidate of {name}" if name else "candidate"
            where = f"{len(found[name])} of {len(offered[name])} sources"
            which = "such" if len(its) == len(found[name]) else f"candidates of {name}"
            notes.append(
                f"in {where} a {whose} is the reference {ref} itself; {len(rows)} {which} are left "
                "out."
            )
    without = np.flatnonzero(np.bincount(cands.segment[~copies], minlength=cands.n_segments) == 0)
    if without.size:
        raise DataError(
            f"source {without[0]} (counted from 0) has no candidate but its own reference "
            f"({without.size} such of {cands.n_segments}), which is none; give others, or leave "
            "these sources out."
        )
    kept = equals & ~copies
    if kept.any():
        there, asked = len(set(cands.segment[kept].tolist())), int(test.referenced.sum())
        many = 2 * there > asked
        notes.append(
            f"in {there} of {asked} sources a candidate equals a reference word for word "
            f"({kept.sum()} of {len(cands) - copies.sum()} candidates), and stays, as the "
            "translation of a system"
            + (
                "; if references were put among the candidates, take them out, for they are "
                "perfect."
                if many
                else "."
            )
        )
    return copies, tuple(notes)
