"""What every reader returns: a test set with its systems, and candidate translations for each of its sources."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from . import fields
from .fields import CATEGORIES
from .languages import guess_language, split_pair

__all__ = ["CATEGORIES", "CandidateSet", "TestSet", "same_text", "systems_of"]

_SEPARATOR = " | "  # between the tags of one text that several systems gave
_BLANK_CANDIDATES = re.compile(r"\d+ blank candidates? of \d+\.")  # the note of `records.assemble`


@dataclass(frozen=True)
class TestSet:
    """A test set: N source segments, their references, and the output of each system.

    Parameters
    ----------
    name : e.g. "wmt24/en-de".
    lp : language pair, e.g. "en-de".
    srcs : N texts.
    refs : reference name -> N texts, "" where a reference is missing (given as None, or blank); the first one is the
        default reference.
    systems : system name -> N texts, "" where the system gave nothing.
    docs, domains : N names; without them every segment is its own document, and the domain is "all".
    categories : system -> one of CATEGORIES; "unknown" where it is not said.
    notes : sentences that the user should see; those on blank hypotheses, references and sources are added here.
    glosses : N lines of plain English, for who does not know the source language; () where there are none.

    A text that only says that there is none, such as fields.NO_TRANSLATION, is taken as "".
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
    glosses: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        split_pair(self.lp)
        n = len(self.srcs)
        srcs, marks = fields.supplied("sources", fields.text_tuple("srcs", self.srcs, n))
        fields.put(self, "srcs", srcs)
        for kind, checked in (("refs", fields.references), ("systems", fields.text_tuple)):
            found = {
                k: fields.supplied(k, checked(f"{kind} {k}", v, n))
                for k, v in getattr(self, kind).items()
            }
            fields.put(self, kind, {name: texts for name, (texts, _) in found.items()})
            marks = (*marks, *(note for _, notes in found.values() for note in notes))
        docs = self.docs if len(self.docs) else map(str, range(n))
        domains = self.domains if len(self.domains) else ["all"] * n
        fields.put(self, "docs", fields.check_names("document", fields.text_tuple("docs", docs, n)))
        fields.put(
            self, "domains", fields.check_names("domain", fields.text_tuple("domains", domains, n))
        )
        fields.put(
            self,
            "glosses",
            fields.text_tuple("glosses", self.glosses, n) if len(self.glosses) else (),
        )
        fields.put(self, "categories", fields.categories(self.categories, self.systems))
        fields.put(
            self,
            "notes",
            fields.with_blank_notes((*self.notes, *marks), self.srcs, self.refs, self.systems),
        )

    def __len__(self) -> int:
        return len(self.srcs)

    def __repr__(self) -> str:
        sizes = f"{len(self)} segments, {len(self.systems)} systems"
        return (
            f"TestSet({self.name}, {self.lp}: {sizes}, references: "
            f"{', '.join(self.refs) or 'none'})"
        )

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
        return {name: fields.blanks(hyps) for name, hyps in self.systems.items()}

    @property
    def streams(self) -> list[list[str | None]]:
        """The references as metrics take them: a list of N texts for each, None where it is missing."""
        return [[text or None for text in texts] for texts in self.refs.values()]

    @property
    def referenced(self) -> np.ndarray:
        """(N,) bool: the segment has at least one reference."""
        return fields.reference_counts(self.refs, len(self)) > 0

    @property
    def n_refs(self) -> int | str:
        """How many references each segment has that has any; "var" where they differ in it, 0 where none has one."""
        counts = set(fields.reference_counts(self.refs, len(self)).tolist()) - {0}
        return "var" if len(counts) > 1 else next(iter(counts), 0)

    def with_reference(self, name: str) -> TestSet:
        """The same set with another default reference; UnknownName where there is no such reference."""
        checks.one_of(name, self.refs, "reference")
        return replace(self, refs={name: self.refs[name], **self.refs})

    def one_reference(self) -> TestSet:
        """The same set with its default reference alone."""
        return replace(self, refs={k: self.refs[k] for k in list(self.refs)[:1]})

    @property
    def copies(self) -> dict[str, str]:
        """The systems that are a reference under a system's name, and which: folders of mt-metrics-eval hold such.

        A system is one where all its texts are the reference's, or where it bears its name and most of its texts are.
        """
        found: dict[str, str] = {}
        for system, hyps in self.systems.items():
            for ref, texts in self.refs.items():
                alike = map(same_text, hyps, texts)
                same = 2 * sum(alike) > len(self) if system == ref else all(alike)
                if any(texts) and same:
                    found.setdefault(system, ref)
        return found

    @property
    def twins(self) -> list[list[str]]:
        """The names of systems that have the same texts throughout, in groups of two or more."""
        groups: dict[tuple[str, ...], list[str]] = {}
        for system, hyps in self.systems.items():
            groups.setdefault(tuple(map(str.strip, hyps)), []).append(system)
        return [names for names in groups.values() if len(names) > 1]

    def without(self, systems: Iterable[str]) -> TestSet:
        """The same set without some of its systems; UnknownName where there is no such system."""
        left_out = [checks.one_of(name, self.systems, "system") for name in systems]
        kept = {name: hyps for name, hyps in self.systems.items() if name not in left_out}
        return replace(
            self, systems=kept, categories={name: self.categories[name] for name in kept}
        )

    def subset(self, index: ArrayLike | slice) -> TestSet:
        """The segments at these positions (or a boolean mask, or a slice), in that order; blanks are counted anew."""
        rows = fields.rows(index, len(self))
        refs, systems = (
            {name: fields.pick(texts, rows) for name, texts in kind.items()}
            for kind in (self.refs, self.systems)
        )
        srcs, docs, domains = (
            fields.pick(column, rows) for column in (self.srcs, self.docs, self.domains)
        )
        glosses = fields.pick(self.glosses, rows) if self.glosses else ()
        return replace(
            self, srcs=srcs, refs=refs, systems=systems, docs=docs, domains=domains, glosses=glosses
        )


def with_languages(test: TestSet) -> TestSet:
    """Return the test set with the languages that its pair leaves undetermined ("und") inferred from its texts."""
    source, target = split_pair(test.lp)
    source = guess_language(test.srcs) if source == "und" else source
    if target == "und":
        kind = test.refs or test.systems
        target = guess_language([text for texts in kind.values() for text in texts])
    pair = f"{source}-{target}"
    note = (f"language pair inferred from the texts: {pair}; give another by -l.",)
    return test if pair == test.lp else replace(test, lp=pair, notes=(*test.notes, *note))


def same_text(text: str, other: str) -> bool:
    """Whether two texts are the same, white space around them aside.

    Parameters
    ----------
    text, other : in either order.
    """
    return text == other or text.strip() == other.strip()


def systems_of(tag: str) -> tuple[str, ...]:
    """The systems that a candidate's tag names: several where they gave the same text, none where it has no tag.

    >>> systems_of("Claude-3.5 | GPT-4"), systems_of("")
    (('Claude-3.5', 'GPT-4'), ())
    """
    return tuple(name for name in tag.split(_SEPARATOR) if name)


@dataclass(frozen=True, eq=False, repr=False)
class CandidateSet:
    """Candidate translations in one flat list: entry i translates source `segment[i]`; their number may vary.

    Parameters
    ----------
    segment : (n,) int64, ascending; every source from 0 to the last has at least one candidate.
    texts : n candidate translations.
    tags : n labels, such as the system or the sampling method; "" where there is none.
    ids : n distinct names, or None.
    notes : sentences that the user should see.
    multiplicity : (n,) int64 >= 1, how often each candidate was drawn or found; by default once.
    logprob : (n,) log q(text | source) in nats under the model that made it; nan, the default, where unknown.
    """

    segment: np.ndarray
    texts: tuple[str, ...]
    tags: tuple[str, ...] = ()
    ids: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    multiplicity: np.ndarray = None  # type: ignore[assignment]  # None may come in and is filled in at once
    logprob: np.ndarray = None  # type: ignore[assignment]  # likewise

    def __post_init__(self) -> None:
        segment = checks.segment_ids(self.segment).astype(np.int64)
        n = len(segment)
        fields.put(self, "segment", fields.frozen(segment))
        fields.put(self, "multiplicity", fields.frozen(fields.multiplicities(self.multiplicity, n)))
        fields.put(self, "logprob", fields.frozen(fields.logprobs(self.logprob, n)))
        fields.put(self, "texts", fields.text_tuple("texts", self.texts, n))
        fields.put(
            self, "tags", fields.text_tuple("tags", self.tags if len(self.tags) else [""] * n, n)
        )
        fields.put(self, "notes", tuple(self.notes))
        if (back := np.flatnonzero(np.diff(segment) < 0)).size:
            i = int(back[0]) + 1
            raise DataError(
                f"candidate {i} is for segment {segment[i]}, after one for {segment[i - 1]}; sort "
                "them."
            )
        if self.ids is not None:
            fields.put(self, "ids", fields.text_tuple("ids", self.ids, n))
            if len(set(self.ids)) < n:
                raise DataError(
                    f"candidate id '{fields.first_repeat(self.ids)}' is used twice; ids must "
                    "differ."
                )
        self.require(self.n_segments)

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        k = self.n_candidates
        per = (
            ""
            if not k.size
            else f" ({k.min()} each)"
            if k.min() == k.max()
            else f" ({k.min()} to {k.max()} each)"
        )
        return f"CandidateSet({len(self)} candidates for {self.n_segments} sources{per})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CandidateSet):
            return NotImplemented
        mine, theirs = (
            (c.segment.tolist(), c.texts, c.tags, c.ids, c.multiplicity.tolist())
            for c in (self, other)
        )
        return mine == theirs and np.array_equal(self.logprob, other.logprob, equal_nan=True)

    @property
    def n_segments(self) -> int:
        """The number of sources."""
        return int(self.segment[-1]) + 1 if len(self.segment) else 0

    @property
    def n_candidates(self) -> np.ndarray:
        """(n_segments,) the number of candidates of each source, however often each was drawn."""
        return np.bincount(self.segment, minlength=self.n_segments)

    def by_source(self) -> Iterator[tuple[str, ...]]:
        """The texts of each source, in order."""
        ends = np.searchsorted(self.segment, np.arange(self.n_segments + 1)).tolist()
        return (self.texts[start:end] for start, end in pairwise(ends))

    @cached_property
    def id(self) -> str:
        """What names these candidates in tables, such as "candidates:3f9a2c1b77e0": who has the same id has the same.

        Sources in their order, and of each the distinct texts, to the last space. Neither the order within a source nor
        tags, ids and log-probabilities count, nor how often a text is there: an oracle chooses among the same ones.

        >>> CandidateSet([0, 0, 0], ["a", "b", "a"]).id == CandidateSet([0, 0], ["b", "a"]).id
        True
        """
        said = sha256(b"[")
        for i, own in enumerate(self.by_source()):  # as JSON, in ASCII, whatever the texts
            counted = [[text, 1] for text in sorted(set(own))]  # a count, for ids of old
            said.update(f"{', ' if i else ''}{json.dumps(counted)}".encode())
        said.update(b"]")
        return f"candidates:{said.hexdigest()[:12]}"

    @property
    def summary(self) -> str:
        """The id, who the candidates are from, and how many there are, equal ones as often as they were drawn.

        >>> CandidateSet([0, 0, 1], ["a", "b", "c"], ["GPT-4", "Aya", "Aya"]).summary.partition(" ")[2]
        '(from GPT-4, Aya; 1 to 2 per source, 3 for 2 sources)'
        """
        names = list(dict.fromkeys(name for tag in self.tags for name in systems_of(tag)))
        whose = ", ".join(names) if len(names) < 4 else f"{len(names)} systems or methods"
        k = np.bincount(self.segment, self.multiplicity, self.n_segments).astype(np.int64)
        each = (
            "" if not k.size else f"{k.min()}" if k.min() == k.max() else f"{k.min()} to {k.max()}"
        )
        sizes = (
            f"{each} per source, {k.sum():,} for {len(k):,} source{'s' * (len(k) != 1)}"
            if each
            else "none"
        )
        return f"{self.id} ({f'from {whose}; ' if names else ''}{sizes})"

    def require(self, n_segments: int, path: str | PathLike | None = None) -> CandidateSet:
        """This set, if it has candidates for exactly the sources 0 to n_segments - 1; else a DataError naming one."""
        checks.segment_ids(self.segment, n_segments)
        present = np.unique(self.segment)
        if len(present) < n_segments:
            gap = int(
                np.append(np.flatnonzero(present != np.arange(len(present))), len(present))[0]
            )
            rest = (
                f"({n_segments - len(present)} such of {n_segments}); every source needs at least "
                "one."
            )
            raise DataError(f"source {gap} has no candidate {rest}", path)
        return self

    def take(self, rows: Sequence[int] | np.ndarray, *notes: str) -> CandidateSet:
        """The candidates at these flat positions (or a mask), ascending; every source must keep at least one."""
        rows = np.sort(fields.rows(rows, len(self), "candidates"))
        ids = None if self.ids is None else fields.pick(self.ids, rows)
        texts = fields.pick(self.texts, rows)
        tags = fields.pick(self.tags, rows)
        notes = (*self.notes, *notes)
        without = np.flatnonzero(np.bincount(self.segment[rows], minlength=self.n_segments) == 0)
        if without.size:
            raise DataError(
                f"source {without[0]} is left without a candidate ({without.size} such); drop it "
                "first."
            )
        return CandidateSet(
            self.segment[rows], texts, tags, ids, notes, self.multiplicity[rows], self.logprob[rows]
        )

    def repeated(self) -> CandidateSet:
        """Each candidate as often as it was drawn, one after the other and without ids; `deduplicated` turns it back.

        What a computation over draws wants that takes no multiplicities.

        >>> CandidateSet([0, 0], ["a", "b"], multiplicity=[2, 1]).repeated().texts
        ('a', 'a', 'b')
        """
        if (self.multiplicity == 1).all():
            return self
        rows = np.repeat(np.arange(len(self)), self.multiplicity)
        texts, tags = fields.pick(self.texts, rows), fields.pick(self.tags, rows)
        return CandidateSet(
            self.segment[rows], texts, tags, notes=self.notes, logprob=self.logprob[rows]
        )

    def without(self, systems: Iterable[str]) -> CandidateSet:
        """The candidates but for those that only these systems gave, as their tags say."""
        left_out = set(systems)
        given = (set(systems_of(tag)) for tag in self.tags)
        rows = [i for i, names in enumerate(given) if not names or names - left_out]
        return self if len(rows) == len(self) else self.take(rows)

    def without_blanks(self) -> CandidateSet:
        """The candidates that are more than white space; a note counts those left out, in place of their reader's."""
        rows = [i for i, text in enumerate(self.texts) if text.strip()]
        blank = len(self) - len(rows)
        told = [note for note in self.notes if not _BLANK_CANDIDATES.fullmatch(note)]
        left_out = f"{blank} blank candidate{'s' * (blank > 1)} of {len(self)} left out."
        return replace(self.take(rows), notes=(*told, left_out)) if blank else self

    def merge(self, other: CandidateSet) -> CandidateSet:
        """The candidates of both for the same sources, these first; ids are kept only where both have them."""
        if self.n_segments != other.n_segments:
            raise DataError(
                f"one set is for {self.n_segments} sources and the other for {other.n_segments}."
            )
        segment = np.concatenate([self.segment, other.segment])
        order = np.argsort(segment, kind="stable")
        ids = None if self.ids is None or other.ids is None else self.ids + other.ids
        texts = fields.pick(self.texts + other.texts, order)
        tags = fields.pick(self.tags + other.tags, order)
        notes = tuple(dict.fromkeys(self.notes + other.notes))
        numbers = (
            np.concatenate([mine, theirs])[order]
            for mine, theirs in (
                (self.multiplicity, other.multiplicity),
                (self.logprob, other.logprob),
            )
        )
        return CandidateSet(
            segment[order],
            texts,
            tags,
            None if ids is None else fields.pick(ids, order),
            notes,
            *numbers,
        )

    @property
    def repeats(self) -> tuple[str, ...]:
        """A note of how many candidates have the text of an earlier one of their source; none where all differ."""
        n = len(self) - sum(len(set(own)) for own in self.by_source())
        verb, whose = ("repeats", "its") if n == 1 else ("repeat", "their")
        return (
            (f"{n} of {len(self)} candidates {verb} an earlier one of {whose} source.",)
            if n
            else ()
        )

    def deduplicated(self) -> CandidateSet:
        """One candidate for each distinct text of a source, the first; the tags of all its copies joined by " | ".

        Multiplicities add up; a log-probability stays where all copies that have one agree, else it is nan.
        """
        groups: dict[tuple[int, str], list[int]] = {}
        for i, key in enumerate(zip(self.segment.tolist(), self.texts, strict=True)):
            groups.setdefault(key, []).append(i)
        if len(groups) == len(self):
            return self
        kept = self.take([rows[0] for rows in groups.values()], *self.repeats)
        tags = (
            dict.fromkeys(s for i in rows for s in systems_of(self.tags[i]))
            for rows in groups.values()
        )
        return replace(
            kept,
            tags=tuple(map(_SEPARATOR.join, tags)),
            multiplicity=np.array([self.multiplicity[rows].sum() for rows in groups.values()]),
            logprob=np.array([fields.agreed(self.logprob[rows]) for rows in groups.values()]),
        )
