"""Whether outputs and candidates belong to the segments they stand at: a lost line shifts all that follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..data.forms import habits
from ..data.identify import language_votes, strange_texts
from ..data.schema import CandidateSet, TestSet, systems_of
from ..errors import DataError
from ..progress import progress
from .surface import surface_metric

__all__ = ["check_alignment", "check_candidates", "comparable"]

LAGS = (-3, -2, -1, 1, 2, 3)
FEWEST, GAIN = 5, 6.0
"""A run of this many segments that fit their neighbours better by this many points of chrF on average is no accident:
of the 60 systems of WMT23 and WMT24 (en-de, ja-zh), none has one, not even at 4 points."""

TEXTS = 100_000
"""So many texts of systems are compared at once, for their memory."""

SHORTEST = 12
"""Bytes of UTF-8 below which a text is too short to tell where it belongs: "etc." fits any other short line."""

CHANCE = 1.15
"""Texts whose chrF at their own segments is at most this times that at neighbouring ones, and not clearly larger, are
of another test set, where it is 0.98 to 1.03; of the systems of WMT23 and WMT24 the least is 1.38."""

OF_EACH, LOOKED_AT, PAIRS = 4, 200, 200_000
"""At most so many candidates of a source are looked at for a shift; for the order so many in all, and so many pairs of
a candidate and a reference."""

MOST = 0.75
"""Where more of the systems stand otherwise than the reference does, that is likely to be displaced: a system so bad
that nothing can be told of its lines stands nowhere."""

DOUBTFUL = 0.05
"""Lines of a system are in another order where at least this share of them fits a neighbouring segment as well as its
own, and clearly fits quite another one: 0.006 at most for the 86 systems of WMT23 and WMT24, 0.6 or more when shuffled,
also within documents."""

STRANGE = 0.25
"""No accident is such a share of candidates that fit one reference, not their own, better than any other by GAIN: it
is at most 0.035 for a system of WMT23 and WMT24, and 0.64 or more for all of them where they are shuffled."""


def check_alignment(test: TestSet) -> TestSet:
    """The test set, if all systems, and references but the first, have their lines in the order of the first reference.

    Compares chrF with the default reference at its own and at neighbouring segments: a run of lines that fit better a
    few lines further up or down is shifted. Where many lines fit a neighbour as well as their own segment, a sample of
    them is compared with all references, as candidates are: they may stand in quite another order. Without a reference,
    or with few segments, nothing can be told; a missing reference tells nothing of the lines around it.

    Where nearly all systems stand otherwise than the first reference does, that is told to be displaced.

    Raises
    ------
    DataError naming the first such text, its first shifted segment (from 1) and by how much it is shifted, or where a
    line of it fits, and how to go on without all such systems; and where hardly any of several systems fits the
    reference.
    """
    if test.reference is None or len(test) < 2 * FEWEST:
        return test
    first, *others = map(comparable, test.streams)
    found: dict[str, tuple[str, str]] = {}
    names, at_once = [*test.systems], max(1, TEXTS // len(test))
    with progress(len(names), "looking for shifted lines", "systems") as step:
        for some in (names[i : i + at_once] for i in range(0, len(names), at_once)):
            texts = [test.systems[name] for name in some]
            found |= zip(some, _displaced(texts, first), strict=True)
            step(len(some))
    displaced = {name: told for name, (told, _) in found.items() if told}
    foreign = {name: told for name, (_, told) in found.items() if told}
    wrong = len(displaced) > MOST * len(found) or found.keys() == {*displaced, *foreign}
    if wrong and len({*test.systems.values()}) > 1:
        _refuse_reference(test, displaced, foreign)
    for name, texts in zip(list(test.refs)[1:], others, strict=True):
        ((told, unlike),) = _displaced([["" if t is None else t for t in texts]], first)
        if told := told or unlike:
            raise DataError(
                f"reference {name}, compared with {test.reference}, {told}: mend the file, or go "
                f"on without it by --reference {test.reference} --exclude {name}."
            )
    if displaced:
        name, told = next(iter(displaced.items()))
        without = _typed(displaced)
        those = "it" if len(displaced) == 1 else "all such systems"
        rest = f"go on without {those} by --exclude {without} (in Python: test.without)"
        rest = rest if len(found) > 1 else f"that of the reference {test.reference}"
        raise DataError(f"{name}, {told}: mend the file, or {rest}.")
    whose = "it" if len(found) > 1 else f"it, or the reference {test.reference},"
    notes = [f"{name}: {told}; is {whose} of another test set?" for name, told in foreign.items()]
    return replace(test, notes=(*test.notes, *notes)) if notes else test


def _refuse_reference(
    test: TestSet, displaced: Mapping[str, str], foreign: Mapping[str, str]
) -> None:
    """A DataError: hardly any system stands as the first reference does, or fits it."""
    moved = len(displaced) >= len(foreign)
    name, told = next(iter((displaced if moved else foreign).items()))
    those = f"{len({*displaced, *foreign})} of {len(test.systems)} systems"
    how = "stand in the order of" if moved else "fit"
    mend = (
        "mend the reference's file, whose lines seem to be moved (or those of all systems)"
        if moved
        else "the reference seems to be of another test set; give that of these sources"
    )
    others = " ".join(list(test.refs)[1:])
    rest = f", or go on by --reference {others} --exclude {test.reference}" if others else ""
    if sound := len(test.systems) - len({*displaced, *foreign}):
        rest += f"; if it is right, as the other{'s' * (sound > 1)} may tell, go on by --exclude {_typed(displaced)}"
    raise DataError(
        f"{those} do not {how} the reference {test.reference}; {name}"
        f"{', ' if moved else ': '}{told}: {mend}{rest}."
    )


def _typed(names: Iterable[str]) -> str:
    """Names as a command line takes them."""
    return " ".join(f"'{name}'" if " " in name else name for name in names)


def comparable(ref: Sequence[str | None]) -> list[str | None]:
    """References as they are compared here, where capitals do not matter; None for one that is missing or too short.

    Parameters
    ----------
    ref : one text a segment, None where there is none.
    """
    return [text.casefold() if text and len(text.encode()) >= SHORTEST else None for text in ref]


def _displaced(
    systems: Sequence[Sequence[str]], ref: Sequence[str | None]
) -> list[tuple[str, str]]:
    """For the lines of each system, where they stand elsewhere than those of a reference, and how; and that they fit
    none; else "".

    Parameters
    ----------
    ref : `comparable` references.
    """
    every = np.arange(len(ref))
    fits = _fits([(texts, every) for texts in systems], ref, "lines fit")
    return [_told(texts, fit, ref) for texts, fit in zip(systems, fits, strict=True)]


def _told(texts: Sequence[str], fit: _Fit, ref: Sequence[str | None]) -> tuple[str, str]:
    """As `_displaced`, of one system."""
    least = max(FEWEST, DOUBTFUL * len(ref))
    some = fit.doubtful if fit.doubtful.size >= least else fit.doubtful[:0]
    n, rows, found = _elsewhere([texts[i] for i in some], some, ref)
    many = len(rows) / n * fit.doubtful.size >= least
    away = np.append(found - fit.doubtful[rows], 0)
    # else by many numbers
    if fit.shift and not (many and 2 * np.bincount(away - away.min()).max() < len(rows)):
        return f"from segment {fit.shift}; a line is lost or added there", ""
    if not many:
        return "", fit.foreign
    one = len(rows) // 2
    other = f"that of segment {fit.doubtful[rows[one]] + 1} is of segment {found[one] + 1}"
    return (
        f"{len(rows)} of {n} lines looked at clearly fit another segment ({other}, counted from "
        "1); the lines are not in the order of the references"
    ), ""


def check_candidates(test: TestSet, cands: CandidateSet) -> CandidateSet:
    """The candidates, if they fit the reference of their own source better than those of other sources.

    Compares chrF with the default reference. First a shift is looked for, as `check_alignment` does, in the candidates
    of each system that their tags name, and in those of no system together; then, in a sample of all candidates,
    whether they stand in another order. Without a reference, or with few sources, nothing can be told. Notes say
    whether they read as another language, and what their lines have that no reference has (`forms.habits`).

    Raises
    ------
    DataError naming the first source whose candidates belong to another one, and how they seem to be ordered; and
    where they read as another language, and none fit their own reference better than those of other sources.
    """
    if strange := strange_texts("the candidates", cands.texts, test.trg_lang):
        cands = replace(cands, notes=(*cands.notes, strange))
    if test.reference is None or len(test) < 2 * FEWEST:
        return cands
    cands.require(len(test), test.name)
    ref = comparable(test.one_reference().streams[0])
    _check_order(cands, ref)
    origins: dict[str, list[int]] = {}
    foreign: dict[str, str] = {}
    judged = set()  # whose candidates are on enough sources to be told
    for i, tag in enumerate(cands.tags):
        for name in systems_of(tag) or ("",):
            origins.setdefault(name, []).append(i)
    # whose lines `check_alignment` looks at
    for name in (name for name in origins if name not in test.systems):
        rows = _first(np.array(origins[name]), cands.segment)
        texts = [cands.texts[i] for i in rows]
        (fit,) = _fits([(texts, cands.segment[rows])], ref, "sources have candidates that fit")
        whose = f"the candidates of {name}" if name else "the candidates"
        judged |= {whose} if np.unique(cands.segment[rows]).size >= 2 * FEWEST else set()
        if fit.shift:
            raise DataError(
                f"{whose}, from source {fit.shift}; a source or a candidate is lost or added "
                "there, or a reference (sources count from 1 here): mend the file, or take these "
                "candidates out."
            )
        if fit.foreign:
            foreign[whose] = (
                f"{whose}{{}}: {fit.foreign}; are they and the references of one test set?"
            )
    if strange and foreign and judged == set(foreign) and _one_language(cands.texts):
        told = next(iter(foreign.values())).format(" (and of all others)" * (len(foreign) > 1))
        raise DataError(f"{strange.removesuffix('.')}; and {told} Load both from one place.")
    more = f" (and of {len(foreign) - 1} other tags)" if len(foreign) > 1 else ""
    notes = [note.format(more) for note in foreign.values()][:1]
    notes += habits({"the candidates": cands.texts}, test.refs)
    return replace(cands, notes=(*cands.notes, *notes)) if notes else cands


def _one_language(texts: Sequence[str]) -> bool:
    """Whether nine of ten samples read as one language."""
    votes = language_votes(texts)
    return max(votes.values(), default=0) >= 0.9 * votes.total()


def _check_order(cands: CandidateSet, ref: Sequence[str | None]) -> None:
    """A DataError where many candidates, evenly spread over the set, clearly fit the reference of another source."""
    n, rows, found = _elsewhere(cands.texts, cands.segment, ref)
    if len(rows) < max(FEWEST, STRANGE * n):
        return
    score: Any = surface_metric("chrf").score_segments
    own, texts, one = cands.segment[rows], [cands.texts[i] for i in rows], len(rows) // 2
    here, elsewhere = (score(texts, refs=[ref], segment=where).mean() for where in (own, found))
    raise DataError(
        f"the candidates are not in the order of the references: of {n} looked at, {len(rows)} "
        f"clearly fit that of another source (chrF {elsewhere:.0f} there against {here:.0f} at "
        f"their own); one of source {own[one] + 1} fits source {found[one] + 1} (counted from "
        f"1){_order(rows, own, found, cands)}."
    )


def _elsewhere(
    texts: Sequence[str], segment: np.ndarray, ref: Sequence[str | None]
) -> tuple[int, np.ndarray, np.ndarray]:
    """How many texts of segments were looked at, evenly spread; which of them clearly fit another reference, and where.

    Clearly: that reference fits better than any other by GAIN.
    """
    score: Any = surface_metric("chrf").score_segments
    there = np.flatnonzero([text is not None for text in ref])
    texts = [text.casefold() for text in texts]
    told = Counter(texts)  # what stands at many segments belongs to none
    once = [told[text] == 1 and len(text.encode()) >= SHORTEST for text in texts]
    asked = np.flatnonzero(np.isin(segment, there) & np.array(once, dtype=bool))
    known = np.array([ref[i] for i in there], dtype=object)
    if len(there) < 2 * FEWEST or not asked.size:
        return 1, np.empty(0, np.int64), np.empty(0, np.int64)
    n = min(len(asked), LOOKED_AT, max(4 * FEWEST, PAIRS // len(there)))
    strange = []  # (text, the segment that it fits)
    looked_at = asked[np.linspace(0, len(asked) - 1, n).astype(np.int64)]
    at_once = max(1, TEXTS // len(there))
    for some in np.array_split(looked_at, range(at_once, n, at_once)):
        # the texts take the references' place, so that their n-grams are counted once
        where = np.repeat(np.arange(len(some)), len(there))
        found = score([*known] * len(some), refs=[[texts[i] for i in some]], segment=where)
        for i, fits in zip(some, found.reshape(len(some), -1), strict=True):
            best = int(np.argmax(fits))
            others = fits[known != known[best]]
            clearly = others.size and fits[best] - others.max() >= GAIN
            if clearly and known[best] != ref[segment[i]]:
                strange.append((i, there[best]))
    rows, found = np.array(strange, dtype=np.int64).reshape(-1, 2).T
    return n, rows, found


def _order(rows: np.ndarray, own: np.ndarray, found: np.ndarray, cands: CandidateSet) -> str:
    """How candidates seem to be ordered that stand at sources `own` and fit `found`, and what to do."""
    n, by = cands.n_segments, found - own
    if np.mean(rows % n == found) > 0.5 and len(set(cands.n_candidates.tolist())) == 1:
        return (
            f". They seem to stand one candidate after another, {n} lines each; wanted is one "
            f"source after another, the {cands.n_candidates[0]} candidates of each together: "
            "reorder the lines"
        )
    common = int(np.bincount(by - by.min()).argmax() + by.min())
    if np.mean(by == common) > 0.5:
        far = (
            f"{abs(common)} source{'s' * (abs(common) > 1)} {'earlier' if common < 0 else 'later'}"
        )
        return (
            f". Most fit the reference {far}; mend the file with the candidates, or that with the "
            "references"
        )
    return "; put them in one order"


def _first(rows: np.ndarray, segment: np.ndarray) -> np.ndarray:
    """Of these rows, which are in the order of their segments, at most OF_EACH of each segment."""
    start = np.searchsorted(segment[rows], segment[rows])
    return rows[np.arange(len(rows)) - start < OF_EACH]


class _Fit(NamedTuple):
    """How texts fit references: the longest run that fits others, the segments that a neighbour's fits as well, and
    that they fit none; a sentence each, or "".
    """

    shift: str
    doubtful: np.ndarray
    foreign: str


def _fits(
    given: Sequence[tuple[Sequence[str], np.ndarray]], ref: Sequence[str | None], fit: str
) -> list[_Fit]:
    """Texts, each list with their segments, compared with the `comparable` references of these and of neighbours."""
    score: Any = surface_metric("chrf").score_segments
    lags = np.array([[0], *([lag] for lag in LAGS)])
    asked: list[str] = []
    parts = []  # of each list: the segments of its long texts, where these are asked for, and which of that is inside
    for texts, segment in given:
        long = np.flatnonzero([len(text.encode()) >= SHORTEST for text in texts])
        folded, where = [texts[i].casefold() for i in long], segment[long] + lags
        inside = (where >= 0) & (where < len(ref))
        asked += [folded[i] for i in np.nonzero(inside)[1].tolist()]
        parts.append((segment[long], where, inside))
    # all lags of all texts in one call, so that the n-grams of each reference are counted once
    places = np.concatenate([where[inside] for _, where, inside in parts])
    found = score(asked, refs=[ref], segment=places)
    fits, start = [], 0
    for segment, where, inside in parts:
        scores, stop = np.full(where.shape, np.nan), start + np.count_nonzero(inside)
        scores[inside], start = found[start:stop], stop
        fits.append(_fit(scores, segment, len(ref), fit))
    return fits


def _fit(scores: np.ndarray, segment: np.ndarray, n_segments: int, fit: str) -> _Fit:
    """What (1 + lags, n) scores of n texts of these segments, at their own and at others, tell of their order.

    A segment's score is the mean of those of its texts that are long enough.
    """
    runs = []
    count = np.bincount(segment, minlength=n_segments).astype(float)
    count[count == 0] = np.nan
    own, *others = (np.bincount(segment, row, n_segments) / count for row in scores)
    most = np.full(n_segments, -np.inf)
    for lag, there in zip(LAGS, others, strict=True):
        most = np.fmax(most, there)
        rows = np.flatnonzero(~np.isnan(there + own))
        start, stop = _best_run(there[rows] - own[rows] - GAIN)
        n = stop - start
        own_sum = own[rows][start:stop].sum()
        there_sum = there[rows][start:stop].sum()
        if n >= FEWEST:
            runs.append((there_sum - own_sum, n, rows[start], lag, own_sum, there_sum))
    doubtful, known = np.flatnonzero(own <= most), np.flatnonzero(np.isfinite(own + most))
    foreign = _chance(own[known], np.stack(others)[:, known]) if len(known) >= 2 * FEWEST else ""
    # a chance run among lines that fit nowhere
    if not runs or (foreign and max(runs)[1] < 0.1 * len(known)):
        return _Fit("", doubtful, foreign)
    _, n, first, lag, own_sum, there_sum = max(runs)
    where = f"{abs(lag)} segment{'s' * (abs(lag) > 1)} {'earlier' if lag < 0 else 'later'}"
    better = f"(chrF {there_sum / n:.0f} against {own_sum / n:.0f} at their own)"
    return _Fit(f"{first + 1}: {n} {fit} the reference {where} {better}", doubtful, foreign)


def _chance(own: np.ndarray, others: np.ndarray) -> str:
    """That (n,) scores at their own segments are no better than (lags, n) at neighbouring ones; "" where they are."""
    elsewhere = np.nanmean(others, axis=0)
    gain = own - elsewhere
    if own.mean() > CHANCE * elsewhere.mean() or gain.mean() > 3 * gain.std() / np.sqrt(len(gain)):
        return ""
    return (
        "texts fit the references of their own segments no better than those of others (chrF "
        f"{own.mean():.0f} against {elsewhere.mean():.0f})"
    )


def _best_run(gain: np.ndarray) -> tuple[int, int]:
    """(start, stop) of the contiguous run with the largest sum (Kadane); (0, 0) where no sum is positive."""
    total = np.concatenate([[0.0], np.cumsum(gain)])
    low = np.minimum.accumulate(total)
    stop = int(np.argmax(total - low))
    return (int(np.argmax(total[: stop + 1] == low[stop])), stop) if stop else (0, 0)
