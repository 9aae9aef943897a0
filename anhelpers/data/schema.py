"""The data model of every reader: a test set with its systems, and candidate translations of its sources."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from .._lazy import pd
from ..errors import DataError, counted
from .languages import _split_pair

# The kinds of translators.
CATEGORIES = ("LLM", "MT", "online", "human", "control", "unknown")
# The line of mt-metrics-eval for a missing text.
NO_TRANSLATION = "[No translation supplied]"
# the second: wmt-format-tools
_MISSING = frozenset([NO_TRANSLATION, "NO TRANSLATION AVAILABLE"])
# between the tags of one text that several systems gave
_SEPARATOR = " | "


def _texts(name: str, values: Iterable[str | None], n: int) -> tuple[str, ...]:
    """Return n texts, "" for None and for the markers of missing texts."""
    texts: tuple[Any, ...] = tuple(() if isinstance(values, str) else values)
    wrong = [text for text in texts if not (text is None or isinstance(text, str))]
    if len(texts) != n or wrong:
        got = f"{wrong[0]!r:.40}" if wrong else counted(len(texts), "text")
        raise DataError(f"{name}: got {got}, expected {n} texts, one per segment.")
    missing = {text for text in {*texts} if text is None or text.rstrip() in _MISSING}
    return tuple("" if text in missing else text for text in texts) if missing else texts


def _pick(texts: Sequence[str], rows: np.ndarray) -> tuple[str, ...]:
    """Return the texts at these positions."""
    return tuple(texts[i] for i in rows)


def _rows(index: ArrayLike | slice, n: int) -> np.ndarray:
    """Return the positions that a slice, a mask or positions select of n items."""
    if not isinstance(index, slice):
        index = np.asarray(index)
        index = index if index.size else index.astype(np.int64)
    return np.atleast_1d(np.arange(n)[index])


@dataclass(frozen=True)
class TestSet:
    """A test set: N source segments, their references, and the output of each system.

    Parameters
    ----------
    name : str
        For example "wmt24/en-de".
    lp : str
        Language pair, for example "en-de".
    srcs : sequence of N str
    refs : mapping
        Reference name to N texts; None, or a blank text, is a missing reference. The first one is the default.
    systems : mapping
        System name to N texts.
    docs, domains : sequence of N str, optional
        By default every segment is its own document, and the domain is "all".
    categories : mapping, optional
        System name to one of `CATEGORIES`; by default "human" for copies of references, "unknown" for others.
    notes : sequence of str, optional
        Remarks of the reader, for the user.
    glosses : sequence of N str, optional
        Sources in plain English.
    unread : sequence of str, optional
        Excluded systems, whose files were not read.
    stored : mapping, optional
        Metric name to Metric, if labels take the place of texts: only these can score them.

    Raises
    ------
    DataError : an unexpected number of texts, a text that is not a string. UnknownName : a category.
    """

    __test__ = False  # not a test class of pytest

    name: str
    lp: str
    srcs: tuple[str, ...]
    refs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    systems: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    docs: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    categories: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    glosses: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    stored: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        _split_pair(self.lp)
        n = len(self.srcs)
        columns: dict[str, Any] = {"srcs": _texts("srcs", self.srcs, n), "notes": tuple(self.notes)}
        for kind in ("refs", "systems"):
            columns[kind] = {k: _texts(k, v, n) for k, v in getattr(self, kind).items()}
        columns["refs"] = {
            name: tuple(text if text.strip() else "" for text in texts)
            for name, texts in columns["refs"].items()
        }
        columns["docs"] = _texts("docs", self.docs or map(str, range(n)), n)
        columns["domains"] = _texts("domains", self.domains or ["all"] * n, n)
        columns["glosses"] = _texts("glosses", self.glosses, n) if self.glosses else ()
        for system, category in self.categories.items():
            checks.one_of(system, self.systems, "system")
            checks.one_of(category, CATEGORIES, "category")
        for name, value in columns.items():
            object.__setattr__(self, name, value)
        kinds = dict.fromkeys(self.systems, "unknown") | dict.fromkeys(self.copies, "human")
        object.__setattr__(self, "categories", kinds | dict(self.categories))

    def __len__(self) -> int:
        return len(self.srcs)

    def __repr__(self) -> str:
        sizes = f"{counted(len(self), 'segment')}, {counted(len(self.systems), 'system')}"
        return f"TestSet({self.name}, {self.lp}: {sizes}, references: {', '.join(self.refs) or 'none'})"

    @property
    def src_lang(self) -> str:
        """The source language, "en" of "en-de"."""
        return _split_pair(self.lp)[0]

    @property
    def trg_lang(self) -> str:
        """The target language, "de" of "en-de"."""
        return _split_pair(self.lp)[1]

    @property
    def reference(self) -> str | None:
        """The name of the default reference, the first one; None without references."""
        return next(iter(self.refs), None)

    @property
    def blanks(self) -> dict[str, int]:
        """System -> number of hypotheses that are empty or white space."""
        return {s: sum(not text.strip() for text in hyps) for s, hyps in self.systems.items()}

    @property
    def streams(self) -> list[list[str | None]]:
        """A list of N texts for each reference, None where it is missing."""
        return [[text or None for text in texts] for texts in self.refs.values()]

    @property
    def referenced(self) -> np.ndarray:
        """(N,) bool: the segment has at least one reference."""
        return self._counts > 0

    @property
    def _counts(self) -> np.ndarray:
        """(N,) number of references of each segment."""
        there = [list(map(bool, texts)) for texts in self.refs.values()]
        return np.array(there, dtype=np.int64).reshape(len(there), len(self)).sum(0)

    @property
    def n_refs(self) -> int | str:
        """The number of references of the segments that have any; "var" if it varies, 0 without references."""
        counts = set(self._counts.tolist()) - {0}
        return "var" if len(counts) > 1 else next(iter(counts), 0)

    @property
    def copies(self) -> dict[str, str]:
        """Map each system that copies a reference to that reference.

        All texts are equal up to outer white space, or most are and the names are equal.
        """
        found: dict[str, str] = {}
        for system, hyps in self.systems.items():
            for ref, texts in self.refs.items():
                alike = (a == b or a.strip() == b.strip() for a, b in zip(hyps, texts, strict=True))
                same = 2 * sum(alike) > len(self) if system == ref else all(alike)
                if any(texts) and same:
                    found.setdefault(system, ref)
        return found

    def with_reference(self, name: str) -> TestSet:
        """Return the same set with a different default reference; UnknownName for an unknown one."""
        checks.one_of(name, self.refs, "reference")
        return replace(self, refs={name: self.refs[name], **self.refs})

    def one_reference(self) -> TestSet:
        """Return the same set with its default reference alone."""
        return replace(self, refs=dict(list(self.refs.items())[:1]))

    def without(self, systems: Iterable[str]) -> TestSet:
        """Return the same set without some systems; UnknownName for an unknown one."""
        left_out = [checks.one_of(name, self.systems, "system") for name in systems]
        kept = {name: hyps for name, hyps in self.systems.items() if name not in left_out}
        return replace(self, systems=kept, categories={s: self.categories[s] for s in kept})

    def subset(self, index: ArrayLike | slice) -> TestSet:
        """Return the segments at these positions (or of a mask, or a slice), in that order."""
        rows = _rows(index, len(self))
        columns: dict[str, Any] = {
            kind: {name: _pick(texts, rows) for name, texts in getattr(self, kind).items()}
            for kind in ("refs", "systems")
        }
        for kind in ("srcs", "docs", "domains"):
            columns[kind] = _pick(getattr(self, kind), rows)
        return replace(self, **columns, glosses=_pick(self.glosses, rows) if self.glosses else ())


def systems_of(tag: str) -> tuple[str, ...]:
    """Return the systems that a candidate's tag names, several where they gave the same text.

    >>> systems_of("Claude-3.5 | GPT-4"), systems_of("")
    (('Claude-3.5', 'GPT-4'), ())
    """
    return tuple(name for name in tag.split(_SEPARATOR) if name)


@dataclass(frozen=True, eq=False, repr=False)
class CandidateSet:
    """Candidate translations in one flat list: candidate i translates source `segment[i]`.

    Parameters
    ----------
    segment : (n,) int
        Ascending; every source from 0 to the last has at least one candidate.
    texts : sequence of n str
    tags : sequence of n str, optional
        For example the system or the sampling method.
    ids : sequence of n distinct str, optional
    notes : sequence of str, optional
        Remarks of the reader, for the user.
    multiplicity : (n,) int, optional
        How often each candidate was drawn, at least 1.
    logprob : (n,) float, optional
        log q(text | source) in nats under the model that made it, at most 0; nan where unknown.

    Raises
    ------
    DataError : an unexpected number of texts, segments that descend or lack candidates, repeated ids, numbers out of
        range.
    """

    segment: np.ndarray
    texts: tuple[str, ...]
    tags: tuple[str, ...] = ()
    ids: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    multiplicity: np.ndarray = None  # type: ignore[assignment]  # filled in below
    logprob: np.ndarray = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        segment = checks.segment_ids(self.segment, np.size(self.segment)).astype(np.int64)
        n = len(segment)
        given = np.ones(n, np.int64) if self.multiplicity is None else self.multiplicity
        multiplicity = np.array(given)
        logprob = np.array(np.full(n, np.nan) if self.logprob is None else self.logprob, np.float64)
        ids = None if self.ids is None else _texts("ids", self.ids, n)
        whole = n == 0 or np.issubdtype(multiplicity.dtype, np.integer)
        wrong = multiplicity.shape != (n,) or not whole or (multiplicity < 1).any()
        wrong |= logprob.shape != (n,) or (logprob > checks.ROUNDING).any()
        wrong |= np.isinf(logprob).any() or (np.diff(segment) < 0).any()
        if wrong or (ids is not None and len({*ids}) < n):
            told = "ascending segments, whole multiplicities ≥ 1, logprobs ≤ 0 or nan"
            raise DataError(f"candidates: expected {n} {told}, and distinct ids.")
        columns: dict[str, Any] = {"segment": segment, "logprob": logprob}
        columns["multiplicity"] = multiplicity.astype(np.int64)
        for array in columns.values():
            array.flags.writeable = False
        columns["texts"] = _texts("texts", checks.texts("texts", self.texts), n)
        columns["tags"] = _texts("tags", self.tags or [""] * n, n)
        columns["notes"] = tuple(self.notes)
        columns["ids"] = ids
        for name, value in columns.items():
            object.__setattr__(self, name, value)
        self.require(self.n_segments)

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        sizes = f"{counted(len(self), 'candidate')}, {counted(self.n_segments, 'source')}"
        return f"CandidateSet({sizes}, {self._each} each)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CandidateSet) and self.frame().equals(other.frame())

    def frame(self) -> pd.DataFrame:
        """A row per candidate: segment, text, tag, id (if any has one), count, logprob."""
        columns = {"segment": self.segment, "text": self.texts, "tag": self.tags}
        columns |= {} if self.ids is None else {"id": self.ids}
        return pd.DataFrame(columns | {"count": self.multiplicity, "logprob": self.logprob})

    @property
    def n_segments(self) -> int:
        """The number of sources."""
        return int(self.segment[-1]) + 1 if len(self.segment) else 0

    @property
    def n_candidates(self) -> np.ndarray:
        """(n_segments,) number of candidates of each source, whatever their multiplicity."""
        return np.bincount(self.segment, minlength=self.n_segments)

    @property
    def _each(self) -> str:
        """The range of the number of candidates of a source, each counted as often as it was drawn."""
        k = np.bincount(self.segment, self.multiplicity, self.n_segments).astype(np.int64)
        low, high = (k.min(), k.max()) if k.size else (0, 0)
        return f"{low}" if low == high else f"{low} to {high}"

    def by_source(self) -> Iterator[tuple[str, ...]]:
        """Iterate over the texts of each source."""
        ends = np.searchsorted(self.segment, np.arange(self.n_segments + 1)).tolist()
        return (self.texts[start:end] for start, end in pairwise(ends))

    @cached_property
    def id(self) -> str:
        """An identifier of the sets of texts that an oracle can choose from, such as "candidates:3f9a2c1b77e0".

        It depends on the distinct texts of each source, not on their order, tags, ids, log-probabilities or counts.

        >>> CandidateSet([0, 0, 0], ["a", "b", "a"]).id == CandidateSet([0, 0], ["b", "a"]).id
        True
        """
        digest = sha256(b"[")
        for i, own in enumerate(self.by_source()):
            # the count keeps the ids of 1.x
            counted = [[text, 1] for text in sorted(set(own))]
            digest.update(f"{', ' if i else ''}{json.dumps(counted)}".encode())
        digest.update(b"]")
        return f"candidates:{digest.hexdigest()[:12]}"

    @property
    def summary(self) -> str:
        """The id, the systems or methods, and the numbers of candidates, counted as often as they were drawn.

        >>> CandidateSet([0, 0, 1], ["a", "b", "c"], ["GPT-4", "Aya", "Aya"]).summary.partition(" ")[2]
        '(from GPT-4, Aya; 1 to 2 per source, 3 for 2 sources)'
        """
        names = list(dict.fromkeys(name for tag in self.tags for name in systems_of(tag)))
        origin = ", ".join(names) if len(names) < 4 else f"{len(names)} systems or methods"
        total = f"{self.multiplicity.sum():,} for {counted(self.n_segments, 'source')}"
        return f"{self.id} ({f'from {origin}; ' if names else ''}{self._each} per source, {total})"

    def require(self, n_segments: int, path: str | PathLike | None = None) -> CandidateSet:
        """Return this set if it has candidates for exactly the sources 0 to n_segments - 1; else raise DataError."""
        checks.segment_ids(self.segment, n_segments)
        present = np.unique(self.segment)
        if len(present) < n_segments:
            gap = np.append(np.flatnonzero(present != np.arange(len(present))), len(present))[0]
            raise DataError(f"source {gap} of {n_segments} has no candidate.", path)
        return self

    def take(self, rows: ArrayLike, *notes: str) -> CandidateSet:
        """Return the candidates at these positions (or of a mask), ascending; each source must keep one."""
        rows = np.sort(_rows(rows, len(self)))
        return self._at(rows, self.segment[rows], *notes).require(self.n_segments)

    def _at(self, rows: np.ndarray, segment: np.ndarray, *notes: str) -> CandidateSet:
        """The candidates at these positions as those of other segments."""
        texts, tags = _pick(self.texts, rows), _pick(self.tags, rows)
        ids = None if self.ids is None else _pick(self.ids, rows)
        columns = self.multiplicity[rows], self.logprob[rows]
        return CandidateSet(segment, texts, tags, ids, (*self.notes, *notes), *columns)

    def repeated(self) -> CandidateSet:
        """Return each candidate as often as it was drawn, without ids.

        >>> CandidateSet([0, 0], ["a", "b"], multiplicity=[2, 1]).repeated().texts
        ('a', 'a', 'b')
        """
        if (self.multiplicity == 1).all():
            return self
        rows = np.repeat(np.arange(len(self)), self.multiplicity)
        texts, tags = _pick(self.texts, rows), _pick(self.tags, rows)
        more: dict[str, Any] = {"notes": self.notes, "logprob": self.logprob[rows]}
        return CandidateSet(self.segment[rows], texts, tags, **more)

    def without(self, systems: Iterable[str]) -> CandidateSet:
        """Return the candidates except those that only these systems gave, by their tags."""
        left_out = set(systems)
        named = (set(systems_of(tag)) for tag in self.tags)
        rows = [i for i, names in enumerate(named) if not names or names - left_out]
        return self if len(rows) == len(self) else self.take(rows)

    def without_blanks(self) -> CandidateSet:
        """Return the candidates that are more than white space."""
        rows = [i for i, text in enumerate(self.texts) if text.strip()]
        blank = len(self) - len(rows)
        return self.take(rows, f"{blank} blank candidates are left out.") if blank else self
