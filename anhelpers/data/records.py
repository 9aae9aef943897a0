"""Candidates as records, one dict per candidate or per source, checked field by field before they become a set."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence, Set
from difflib import get_close_matches
from os import PathLike
from typing import Any, NamedTuple

from ..checks import ROUNDING, too_low
from ..errors import DataError
from .fields import blanks, supplied
from .lines import json_value, numbered, table_lines, too_long
from .schema import CandidateSet, TestSet

__all__ = [
    "Row",
    "assemble",
    "build_test_set",
    "candidate_rows",
    "per_source",
    "read_jsonl",
    "source_rows",
    "unread",
]

Fail = Callable[[int, str], DataError]
"""(number of a record from 0, what is wrong) -> the error that says where."""

MOST = 2**62
"""The largest whole number in a set of candidates: sums of a few stay in 64 bits."""

CANDIDATE = frozenset(["segment", "text", "tag", "id", "src", "count", "logprob"])
SOURCE = frozenset(["segment", "src", "refs", "candidates", "doc", "domain", "lp", "id"])
INSIDE = frozenset(["text", "tag", "id", "count", "logprob"])
"""The keys that are read: of a candidate by itself, of a source with candidates, of a candidate of such a source."""
SYNONYMS = {
    "reference": "refs",
    "references": "refs",
    "source": "src",
    "sources": "src",
    "multiplicity": "count",
}

KINDS = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}


class Row(NamedTuple):
    """One candidate, and the number of the record that it comes from."""

    segment: int
    text: str
    tag: str
    id: str | None
    src: str | None
    record: int
    multiplicity: int = 1
    logprob: float = math.nan


def read_jsonl(path: str | PathLike) -> list[dict[str, Any]]:
    """The objects of a file with one JSON object per line."""
    records = []
    for number, line in numbered(table_lines(path), path):
        record = json_value(line, path, number)
        if not isinstance(record, dict):
            raise DataError(f"{line:.60} is no JSON object; one per line is wanted.", path, number)
        records.append(record)
    if not records:
        raise DataError("this file holds no candidates.", path)
    return records


def per_source(records: Sequence[dict[str, Any]], fail: Fail) -> bool:
    """Whether each record is a source with its list of candidates; False: each is one candidate; a mixture fails.

    Parameters
    ----------
    records : objects of the file. fail : (number of a record, message) -> the DataError that names its line.
    """
    sources = "candidates" in records[0]
    for i, record in enumerate(records):
        if ("candidates" in record) != sources:
            kinds = ("one candidate", "a source with its candidates")
            raise fail(
                i,
                f"this object is {kinds[not sources]}, but the first is {kinds[sources]}; do not "
                "mix them.",
            )
    return sources


def unread(
    records: Sequence[dict[str, Any]], fail: Fail, known: Set[str] | None = None
) -> tuple[str, ...]:
    """A note of the keys that nothing here reads; an error for one that looks like a key that is read, and is none.

    Parameters
    ----------
    records : objects of the file, or its columns. fail : as in `per_source`.
    known : the keys that are read; None: those of candidates.
    """
    sources, others = known is None and "candidates" in records[0], dict[str, None]()
    within = enumerate(records if sources else ())
    inner = [
        (i, c)
        for i, record in within
        for c in record.get("candidates") or ()
        if isinstance(c, dict)
    ]
    for read, rows in (
        (known or (SOURCE if sources else CANDIDATE), enumerate(records)),
        (INSIDE, inner),
    ):
        for i, record in rows:
            for key in record.keys() - read:
                meant = SYNONYMS.get(key) or next(
                    iter(get_close_matches(key, read, 1, cutoff=0.85)), None
                )
                if meant in read and meant not in record:
                    raise fail(
                        i,
                        f'"{key}" is not read; did you mean "{meant}"? Rename it, or take it out.',
                    )
                others[key] = None
    return (f"keys that are not read: {', '.join(sorted(others))}.",) if others else ()


def candidate_rows(records: Iterable[dict[str, Any]], fail: Fail) -> list[Row]:
    """Rows of records ``{"segment": 0, "text": "…"}`` with an optional tag, id, src, count and logprob.

    Parameters
    ----------
    fail : as in `per_source`.
    """
    rows = []
    for i, record in enumerate(records):
        if record.get("segment") is None:
            told = (
                'a candidate without a source; give its "segment", the number of its source from 0.'
            )
            raise fail(i, told)
        src = _maybe(record, "src", i, fail)
        rows.append(_row(_get(record, "segment", int, i, fail), record, src, i, fail))
    return rows


def source_rows(records: Iterable[dict[str, Any]], fail: Fail) -> list[Row]:
    """Rows of records ``{"src": "…", "candidates": ["…", {"text": "…", "tag": "…"}]}``; record i is source i.

    Parameters
    ----------
    fail : as in `per_source`.
    """
    rows: list[Row] = []
    named: set[str | None] = set()
    for i, record in enumerate(records):
        if record.get("segment", i) != i:
            raise fail(
                i, f'"segment" is {record["segment"]!r}, but this is source {i}, counted from 0.'
            )
        if (name := _name(record, i, fail)) is not None and name in named:
            raise fail(i, f"id '{name}' is used twice; ids of sources must differ.")
        named.add(name)
        src = _maybe(record, "src", i, fail)
        candidates = _get(record, "candidates", list, i, fail)
        if not candidates:
            raise fail(i, f"source {i} has no candidate; every source needs at least one.")
        for candidate in candidates:
            if not isinstance(candidate, (str, dict)):
                raise fail(
                    i, f"candidate {candidate!r} is neither a text nor an object with a text."
                )
            rows.append(
                _row(
                    i,
                    {"text": candidate} if isinstance(candidate, str) else candidate,
                    src,
                    i,
                    fail,
                )
            )
    return rows


def assemble(
    rows: Sequence[Row], path: str | PathLike, fail: Fail, srcs: Sequence[str] | None = None
) -> CandidateSet:
    """The set of these rows, sorted by source; with `srcs`, each row must belong to one of them and all be covered.

    Parameters
    ----------
    fail : as in `per_source`.
    """
    seen: set[str] = set()
    for row in rows:
        if row.segment < 0 or (srcs is not None and row.segment >= len(srcs)):
            there = (
                f"; there are sources 0 to {len(srcs) - 1}"
                if srcs is not None
                else "; sources count from 0"
            )
            raise fail(row.record, f"segment {row.segment} does not exist{there}.")
        if srcs is not None and row.src is not None and row.src != srcs[row.segment]:
            raise fail(
                row.record,
                f'"src" is {row.src!r}, but source {row.segment} is {srcs[row.segment]!r}.',
            )
        if (row.id is None) != (rows[0].id is None):
            raise fail(
                row.record,
                f'"id" is {row.id!r}, and {rows[0].id!r} at the first candidate; give all an id or none.',
            )
        if row.id is not None and row.id in seen:
            raise fail(row.record, f"id '{row.id}' is used twice; ids must differ.")
        seen.add(row.id or "")
    rows = sorted(rows, key=lambda row: row.segment)
    segments: Any
    multiplicities: Any
    logprobs: Any
    segments, texts, tags, ids, _, _, multiplicities, logprobs = zip(*rows, strict=True)
    texts, ended = _without_ends(texts, "candidates")
    texts, marked = supplied("candidates", texts)
    blank = blanks(texts)
    notes = (
        *ended,
        *marked,
        *([f"{blank} blank candidate{'s' * (blank > 1)} of {len(texts)}."] if blank else []),
    )
    n = segments[-1] + 1 if srcs is None else len(srcs)
    present = sorted(set(segments))
    if len(present) < n:
        gap = next((i for i, segment in enumerate(present) if segment != i), len(present))
        raise DataError(
            f"source {gap} of {n} has no candidate; every source needs at least one.", path
        )
    return CandidateSet(
        segments, texts, tags, None if ids[0] is None else ids, notes, multiplicities, logprobs
    )


def build_test_set(
    name: str, records: Sequence[dict[str, Any]], lp: str, fail: Fail
) -> TestSet | None:
    """The sources, references, documents and domains that per-source records carry; None where they carry no src.

    Parameters
    ----------
    fail : as in `per_source`.
    """
    srcs = _column(records, "src", str, fail)
    if srcs is None:
        i = next((i for i, record in enumerate(records) if record.get("refs") is not None), None)
        if i is not None:
            raise fail(i, 'there are "refs" and no "src"; give both.')
        return None
    docs, domains = (_names(records, key, fail) for key in ("doc", "domain"))
    srcs, notes = _without_ends(srcs, "sources")
    refs = {}
    for ref, texts in _references(records, fail).items():
        refs[ref], told = _without_ends(texts, f"texts of {ref}")
        notes += told
    return TestSet(
        name, lp, srcs, refs, docs=tuple(docs or ()), domains=tuple(domains or ()), notes=notes
    )


def _without_ends(texts: Sequence[str], what: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts without a carriage return at the end, which lines that end in CR LF leave there; a note counts them."""
    ended = [text.endswith(("\r", "\r\n")) for text in texts]
    notes = (
        (f"{sum(ended)} of {len(texts)} {what} end in a carriage return, which is left out.",)
        if any(ended)
        else ()
    )
    return tuple(
        text.rstrip("\r\n") if end else text for text, end in zip(texts, ended, strict=True)
    ), notes


def _references(records: Sequence[dict[str, Any]], fail: Fail) -> dict[str, list[str]]:
    """Reference name -> texts, of ``"refs": ["…"]`` (called refA, refB, …) or ``"refs": {"name": "…"}``.

    null is a missing reference; so is one that a later line leaves out, and "refs": null means that all are.
    """
    if not any(record.get("refs") is not None for record in records):
        return {}
    refs: dict[str, list[str]] = {}
    for i, record in enumerate(records):
        if "refs" not in record:
            raise fail(
                i,
                '"refs" is missing here, and other lines have it; give it to all, null where there is none.',
            )
        given = [] if record["refs"] is None else _get(record, "refs", (list, dict), i, fail)
        named = (
            {_letter(j): ref for j, ref in enumerate(given)} if isinstance(given, list) else given
        )
        if (
            isinstance(given, dict)
            and refs
            and (new := next((name for name in named if name not in refs), None))
        ):
            there = f"{', '.join(refs)} in the lines before"
            raise fail(
                i, f"reference '{new}', but {there}; name it there too, null where it is missing."
            )
        for name in [*refs, *(name for name in named if name not in refs)]:
            text = "" if named.get(name) is None else _get(named, name, str, i, fail)
            refs.setdefault(name, [""] * i).append(text)
    return refs


def _letter(j: int) -> str:
    """refA, refB, … as WMT calls references; ref27 after refZ."""
    return f"ref{chr(ord('A') + j)}" if j < 26 else f"ref{j + 1}"


def _column(
    records: Sequence[dict[str, Any]], key: str, kind: type | tuple, fail: Fail
) -> list[Any] | None:
    """A field of all records, or None where no record has it; it must not be missing from some."""
    if not any(has := [record.get(key) is not None for record in records]):
        return None
    if not all(has):
        raise fail(
            has.index(False),
            f'"{key}" is missing here, and line {has.index(True) + 1} has it; give it to all.',
        )
    return [_get(record, key, kind, i, fail) for i, record in enumerate(records)]


def _names(records: Sequence[dict[str, Any]], key: str, fail: Fail) -> list[str] | None:
    """A field that names something in all records, or None where no record has it; no name may be blank."""
    names = _column(records, key, str, fail)
    for i, name in enumerate(names or []):
        if not name.strip():
            raise fail(
                i, f'"{key}" is blank, so that its segments would count as one; give it a name.'
            )
    return names


def _row(segment: int, record: dict[str, Any], src: str | None, i: int, fail: Fail) -> Row:
    """One candidate of source `segment`."""
    tag, name = _maybe(record, "tag", i, fail) or "", _name(record, i, fail)
    text, count = _get(record, "text", str, i, fail), 1
    if record.get("count") is not None and (count := _get(record, "count", int, i, fail)) < 1:
        raise fail(i, f'"count" is {count}; a candidate was drawn at least once.')
    return Row(segment, text, tag, name, src, i, count, _logprob(record.get("logprob"), i, fail))


def _name(record: dict[str, Any], i: int, fail: Fail) -> str | None:
    """The id, or None; a whole number is taken as its digits."""
    name = record.get("id")
    return (
        str(name)
        if isinstance(name, int) and not isinstance(name, bool)
        else _maybe(record, "id", i, fail)
    )


def _logprob(value: Any, i: int, fail: Fail) -> float:
    """A log-probability in nats, at most 0 but for rounding; nan where there is none."""
    if value is None:
        return math.nan
    number = (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and not (value < -sys.float_info.max)
    )
    if not number or not (value != value or value <= ROUNDING):
        raise fail(
            i,
            f'"logprob" is {value!r:.60}; a natural-log probability is a number that is at most 0.',
        )
    if told := too_low(value):
        raise fail(i, f'"logprob" is {value:.10g}, which {told}')
    return float(value)


def _maybe(record: dict[str, Any], key: str, i: int, fail: Fail) -> str | None:
    """A text, or None where it is missing."""
    return None if record.get(key) is None else _get(record, key, str, i, fail)


def _get(
    record: dict[str, Any], key: str, kind: type | tuple[type, ...], i: int, fail: Fail
) -> Any:
    """A field of the wanted type; a text must be one that UTF-8 can write."""
    value = record.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        wanted = " or ".join(KINDS[k] for k in (kind if isinstance(kind, tuple) else (kind,)))
        seen = "missing" if value is None else f"{value!r:.60} ({type(value).__name__})"
        raise fail(i, f'"{key}" is {seen}, and {wanted} is wanted.')
    if isinstance(value, int) and abs(value) > MOST:
        raise fail(i, f'"{key}" is {value!r:.60}; at most {MOST} is possible.')
    if isinstance(value, str) and (told := too_long(value)):
        raise fail(i, f'"{key}" is {told}')
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            bad = f"U+{ord(value[error.start]):04X}"
            raise fail(
                i, f'"{key}" holds {bad}, half of a surrogate pair, which is no character.'
            ) from None
    return value
