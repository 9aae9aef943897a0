"""Systems and candidates that are none: copies of a reference, which would be perfect, and texts without a score."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np

from ..data.schema import CandidateSet, TestSet, same_text, systems_of
from ..errors import DataError

__all__ = [
    "FEWEST_COPIES",
    "NEAR_COPY",
    "copied_candidates",
    "copied_systems",
    "unscored_candidates",
]

FEWEST_COPIES = 5
"""Who has a reference's own text for so many sources at least may have copied it."""

NEAR_COPY = 0.8
"""The share of its outputs that a near-copy has in common with another system, or with a reference.

In WMT23 and WMT24, two systems of different makers have at most 17 % in common, and a near-copy 91 % or more.
"""

MANY, MOST, COPIED = 0.15, 0.5, 0.95
"""Who has a reference's own text for this share of the sources has copied it, in these or all through: in WMT23 and
WMT24 a system finds at most 8 % of the references, and all systems of a pair together 13 %."""


def copied_systems(test: TestSet, chosen: Collection[str]) -> list[str]:
    """Which systems are a reference, or nearly so, and in how many segments; white space around a text is ignored.

    Parameters
    ----------
    chosen : names of the references that metrics compare with.

    Raises
    ------
    DataError for two of these that are the same texts.
    """
    for one, other in combinations(chosen, 2):
        if test.refs[one] == test.refs[other]:
            raise DataError(
                f"the references {one} and {other} are the same texts, which is one reference under two names; "
                "give it once."
            )
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
            elif system not in copies and same >= FEWEST_COPIES and share > MANY:
                notes.append(
                    f"{system} has the very text of the reference {ref} in {same} of {len(there)} segments "
                    f"({share:.0%}), where systems of WMT23 and WMT24 have it in at most 8 %: did it see the reference?"
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


def unscored_candidates(
    cands: CandidateSet, scores: Sequence[np.ndarray], rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Which candidates no oracle can choose, as a metric gives them no score; the segments that stay; sentences.

    A source all of whose candidates are such is left out.

    Parameters
    ----------
    scores : (n,) of each metric, nan where there is none. rows : (N,) bool, the segments.
    """
    without = np.isnan(np.stack(scores)).any(0)
    some = np.bincount(cands.segment[~without], minlength=len(rows)) > 0
    dropped = without & (rows & some)[cands.segment]
    notes = []
    if n := int(dropped.sum()):
        notes = [
            f"{n:,} of {len(cands):,} candidates {'has' if n == 1 else 'have'} no score by one of the metrics, and "
            f"{'is' if n == 1 else 'are'} left out (the first is of source {cands.segment[dropped][0] + 1})."
        ]
    if n := int((rows & ~some).sum()):
        notes.append(f"{n} of {len(rows)} segments are left out: no candidate has a score there.")
    return dropped, rows & some, notes
