"""What every reader returns: a test set with its systems, and candidate translations for each of its sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from .languages import split_pair

__all__ = ["CATEGORIES", "CandidateSet", "TestSet"]

CATEGORIES = ("LLM", "MT", "online", "human", "unknown")
"""What kind of translator a system is."""

_BLANK_NOTE = re.compile(r".+: \d+ blank hypothes[ie]s of \d+\.", re.DOTALL)


@dataclass(frozen=True)
class TestSet:
    """N source segments, their references, and what each system made of them.

    Parameters
    ----------
    name : e.g. "wmt24/en-de".
    lp : language pair, e.g. "en-de".
    srcs : N texts.
    refs : reference name -> N texts; the first one is the default reference.
    systems : system name -> N texts, "" where the system gave nothing.
    docs, domains : N names; without them every segment is its own document, and the domain is "all".
    categories : system -> one of CATEGORIES; "unknown" where it is not said.
    notes : sentences that the user should see; one for each system with blank hypotheses is added here.
    """

    __test__ = False  # this is no test, whatever pytest makes of the name

    name: str
    lp: str
    srcs: tuple[str, ...]
    refs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    systems: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    docs: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    categories: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self):
        split_pair(self.lp)
        n = len(self.srcs)
        _put(self, "srcs", _texts("srcs", self.srcs, n))
        for kind in ("refs", "systems"):
            _put(self, kind, {k: _texts(f"{kind} {k}", texts, n) for k, texts in getattr(self, kind).items()})
        _put(self, "docs", _texts("docs", self.docs if len(self.docs) else map(str, range(n)), n))
        _put(self, "domains", _texts("domains", self.domains if len(self.domains) else ["all"] * n, n))
        _put(self, "categories", _categories(self.categories, self.systems))
        kept = [note for note in self.notes if not _BLANK_NOTE.fullmatch(note)]
        blank = [f"{name}: {k} blank hypothes{'i' if k == 1 else 'e'}s of {n}." for name, k in self.blanks.items() if k]
        _put(self, "notes", (*kept, *blank))

    def __len__(self) -> int:
        return len(self.srcs)

    def __repr__(self) -> str:
        sizes = f"{len(self)} segments, {len(self.systems)} systems"
        return f"TestSet({self.name}, {self.lp}: {sizes}, references: {', '.join(self.refs) or 'none'})"

    @property
    def src_lang(self) -> str:
        """The source language, "en" of "en-de"."""
        return split_pair(self.lp)[0]

    @property
    def trg_lang(self) -> str:
        """The target language, "de" of "en-de"."""
        return split_pair(self.lp)[1]

    @property
    def reference(self) -> str | None:
        """The name of the default reference: the first; None where there is no reference."""
        return next(iter(self.refs), None)

    @property
    def blanks(self) -> dict[str, int]:
        """How many hypotheses of each system are empty or only white space."""
        return {name: sum(not hyp.strip() for hyp in hyps) for name, hyps in self.systems.items()}

    def with_reference(self, name: str) -> TestSet:
        """The same set with another default reference; UnknownName where there is no such reference."""
        checks.one_of(name, self.refs, "reference")
        return replace(self, refs={name: self.refs[name], **self.refs})

    def one_reference(self) -> TestSet:
        """The same set with its default reference alone."""
        return replace(self, refs={k: self.refs[k] for k in list(self.refs)[:1]})

    def subset(self, index: ArrayLike | slice) -> TestSet:
        """The segments at these positions (or a boolean mask, or a slice), in that order; blanks are counted anew."""
        rows = _rows(index, len(self))
        cut = {kind: {k: _pick(v, rows) for k, v in getattr(self, kind).items()} for kind in ("refs", "systems")}
        cut |= {kind: _pick(getattr(self, kind), rows) for kind in ("srcs", "docs", "domains")}
        return replace(self, **cut)


@dataclass(frozen=True, eq=False, repr=False)
class CandidateSet:
    """Candidate translations, flat: entry i is a candidate for source `segment[i]`; the number per source may vary.

    Parameters
    ----------
    segment : (n,) int64, ascending; every source from 0 to the last has at least one candidate.
    texts : n candidate translations.
    tags : n labels, such as the system or the sampling method; "" where there is none.
    ids : n distinct names, or None.
    notes : sentences that the user should see.
    """

    segment: np.ndarray
    texts: tuple[str, ...]
    tags: tuple[str, ...] = ()
    ids: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self):
        segment = checks.segment_ids(self.segment).astype(np.int64)
        n = len(segment)
        segment.flags.writeable = False
        _put(self, "segment", segment)
        _put(self, "texts", _texts("texts", self.texts, n))
        _put(self, "tags", _texts("tags", self.tags if len(self.tags) else [""] * n, n))
        _put(self, "notes", tuple(self.notes))
        if (back := np.flatnonzero(np.diff(segment) < 0)).size:
            i = int(back[0]) + 1
            raise DataError(f"candidate {i} is for segment {segment[i]}, after one for {segment[i - 1]}; sort them.")
        if self.ids is not None:
            _put(self, "ids", _texts("ids", self.ids, n))
            if len(set(self.ids)) < n:
                raise DataError(f"candidate id '{_first_repeat(self.ids)}' is used twice; ids must differ.")
        self.require(self.n_segments)

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        k = self.counts
        per = "" if not k.size else f" ({k.min()} each)" if k.min() == k.max() else f" ({k.min()} to {k.max()} each)"
        return f"CandidateSet({len(self)} candidates for {self.n_segments} sources{per})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CandidateSet):
            return NotImplemented
        mine, theirs = ((c.segment.tolist(), c.texts, c.tags, c.ids) for c in (self, other))
        return mine == theirs

    @property
    def n_segments(self) -> int:
        """The number of sources."""
        return int(self.segment[-1]) + 1 if len(self.segment) else 0

    @property
    def counts(self) -> np.ndarray:
        """(n_segments,) the number of candidates of each source."""
        return np.bincount(self.segment, minlength=self.n_segments)

    def require(self, n_segments: int, path: str | PathLike | None = None) -> CandidateSet:
        """This set, if it has candidates for exactly the sources 0 to n_segments - 1; else a DataError naming one."""
        checks.segment_ids(self.segment, n_segments)
        present = np.unique(self.segment)
        if len(present) < n_segments:
            gap = int(np.append(np.flatnonzero(present != np.arange(len(present))), len(present))[0])
            rest = f"({n_segments - len(present)} such of {n_segments}); every source needs at least one."
            raise DataError(f"source {gap} has no candidate {rest}", path)
        return self

    def take(self, rows: Sequence[int] | np.ndarray, *notes: str) -> CandidateSet:
        """The candidates at these flat positions, ascending; every source must keep at least one."""
        rows = np.sort(np.asarray(rows, dtype=np.int64))
        ids = None if self.ids is None else _pick(self.ids, rows)
        texts, tags, notes = _pick(self.texts, rows), _pick(self.tags, rows), (*self.notes, *notes)
        without = np.flatnonzero(np.bincount(self.segment[rows], minlength=self.n_segments) == 0)
        if without.size:
            raise DataError(f"source {without[0]} is left without a candidate ({without.size} such); drop it first.")
        return CandidateSet(self.segment[rows], texts, tags, ids, notes)

    def without_blanks(self) -> CandidateSet:
        """The candidates that are more than white space; a note counts those left out."""
        rows = [i for i, text in enumerate(self.texts) if text.strip()]
        blank = len(self) - len(rows)
        return self.take(rows, f"{blank} blank candidates of {len(self)} left out.") if blank else self

    def merge(self, other: CandidateSet) -> CandidateSet:
        """The candidates of both for the same sources, these first; ids are kept only where both have them."""
        if self.n_segments != other.n_segments:
            raise DataError(f"one set is for {self.n_segments} sources and the other for {other.n_segments}.")
        segment = np.concatenate([self.segment, other.segment])
        order = np.argsort(segment, kind="stable")
        ids = None if self.ids is None or other.ids is None else self.ids + other.ids
        texts, tags = _pick(self.texts + other.texts, order), _pick(self.tags + other.tags, order)
        notes = tuple(dict.fromkeys(self.notes + other.notes))
        return CandidateSet(segment[order], texts, tags, None if ids is None else _pick(ids, order), notes)

    def deduplicated(self) -> CandidateSet:
        """One candidate for each distinct text of a source, the first; the tags of all its copies joined by " | "."""
        groups: dict[tuple[int, str], list[int]] = {}
        for i, key in enumerate(zip(self.segment.tolist(), self.texts, strict=True)):
            groups.setdefault(key, []).append(i)
        if len(groups) == len(self):
            return self
        notes = (f"{len(self) - len(groups)} candidates of {len(self)} repeat another and were merged with it.",)
        kept = self.take([rows[0] for rows in groups.values()], *notes)
        tags = (dict.fromkeys(self.tags[i] for i in rows if self.tags[i]) for rows in groups.values())
        return replace(kept, tags=tuple(" | ".join(t) for t in tags))


def _put(value: object, name: str, content: object) -> None:
    """Set a field of a frozen dataclass while it is being made."""
    object.__setattr__(value, name, content)


def _pick(texts: Sequence[str], rows: np.ndarray) -> tuple[str, ...]:
    """The texts at these positions."""
    return tuple(texts[i] for i in rows)


def _texts(name: str, values: Iterable[str], n: int) -> tuple[str, ...]:
    """A tuple of n strings, or a DataError naming what was seen."""
    if isinstance(values, str):
        raise DataError(f"{name} is one text, and a sequence of {n} is wanted.")
    texts = tuple(values)
    if len(texts) != n:
        raise DataError(f"{name} has {len(texts)} entries, but there are {n}; they must align.")
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError(f"{name}, entry {i} is {text!r} ({type(text).__name__}), and a text is wanted.")
    return texts


def _categories(given: Mapping[str, str], systems: Iterable[str]) -> dict[str, str]:
    """The category of each system, in the order of the systems."""
    systems = list(systems)
    for name, category in given.items():
        checks.one_of(name, systems, "system")
        checks.one_of(category, CATEGORIES, "category")
    return {name: given.get(name, "unknown") for name in systems}


def _rows(index: ArrayLike | slice, n: int) -> np.ndarray:
    """Positions of an index into n segments."""
    if not isinstance(index, slice):
        index = np.asarray(index)
        index = index if index.size else index.astype(np.int64)
    try:
        return np.atleast_1d(np.arange(n)[index])
    except IndexError as error:
        raise DataError(f"no such segments, there are 0 to {n - 1} ({error}).", "index") from None


def _first_repeat(ids: Iterable[str]) -> str:
    """The first id that came before."""
    seen: set[str] = set()
    return next(i for i in ids if i in seen or seen.add(i))
