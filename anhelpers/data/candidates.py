"""Read and write candidate translations: JSONL, flat text with K lines per source, parquet, a pandas table.

One JSON object per candidate, ``{"segment": 0, "text": "…", "tag": "…", "id": "…", "src": "…", "count": 2, "logprob":
-9.5}`` (all but the first two are optional; how often the candidate was drawn, and its natural-log probability), or per
source, ``{"src": "…", "refs": ["…"], "candidates": ["…", {"text": "…", "tag": "…"}]}``, optionally with "id", "doc",
"domain" and "lp"; null is a missing reference, and lines may have different numbers of them.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from ..errors import DataError, need
from . import fields
from .languages import UNDETERMINED, split_pair
from .lines import check_columns, not_text, read_bytes, text_lines
from .packed import stem_of, suffix_of, unpacked
from .records import (
    Fail,
    assemble,
    build_test_set,
    candidate_rows,
    per_source,
    read_jsonl,
    source_rows,
    unread,
)
from .schema import CandidateSet, TestSet, systems_of, with_languages
from .writing import write_bytes, write_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "from_systems",
    "read_candidate_file",
    "read_candidates",
    "sample_candidates",
    "with_outputs",
    "write_candidates",
]

COLUMNS = ("segment", "text", "tag", "id", "src", "count", "logprob")
JSONL, PARQUET = (".jsonl", ".ndjson", ".json"), (".parquet", ".pq")


def from_systems(
    test: TestSet, systems: Sequence[str] | None = None, *, distinct: bool = False
) -> CandidateSet:
    """The outputs of all systems as candidates, tagged by system; blank outputs are left out and counted in a note.

    Parameters
    ----------
    systems : those to take, in this order; by default all but copies of references, which would be perfect candidates.
    distinct : merge equal texts of a source, with tags such as "Claude-3.5 | GPT-4".
    """
    by_default = [name for name in test.systems if name not in test.copies]
    names = [
        checks.one_of(name, test.systems, "system")
        for name in (by_default if systems is None else systems)
    ]
    if not names:
        seen = (
            f"of the {len(test.systems)} systems of {test.name} none is named"
            if test.systems
            else (f"{test.name} has no systems")
        )
        raise DataError(f"{seen}, so there are no candidates to take from them.")
    n = len(test) * len(names)
    entries = [
        (i, hyp, name)
        for i, hyps in enumerate(zip(*(test.systems[name] for name in names), strict=True))
        for name, hyp in zip(names, hyps, strict=True)
        if hyp.strip()
    ]
    blank = n - len(entries)
    notes = (f"{blank} blank hypotheses of {n} are left out.",) if blank else ()
    segments, texts, tags = zip(*entries, strict=True) if entries else ((), (), ())
    cands = CandidateSet(np.array(segments, dtype=np.int64), texts, tags, notes=notes).require(
        len(test), test.name
    )
    return cands.deduplicated() if distinct else cands


def with_outputs(
    cands: CandidateSet, test: TestSet, systems: Sequence[str] | None = None
) -> CandidateSet:
    """The candidates and the outputs of systems of the test set, each distinct text of a source once.

    Blank outputs, and systems that are copies of references, do not join. The id of the candidates changes.

    Parameters
    ----------
    systems : those to add; by default all that no tag of the candidates names.
    """
    named = {name for tag in cands.tags for name in systems_of(tag)}
    asked = [name for name in test.systems if name not in named] if systems is None else systems
    joining = [
        checks.one_of(name, test.systems, "system") for name in asked if name not in test.copies
    ]
    added = [
        (i, text, name)
        for name in joining
        for i, text in enumerate(test.systems[name])
        if text.strip()
    ]
    if not added:
        return cands.deduplicated()
    segments, texts, tags = zip(*added, strict=True)
    segment = np.concatenate([cands.segment, segments])
    order = np.argsort(segment, kind="stable")
    return CandidateSet(
        segment[order],
        fields.pick(cands.texts + texts, order),
        fields.pick(cands.tags + tags, order),
        notes=cands.notes,
        multiplicity=np.concatenate([cands.multiplicity, np.ones(len(added), np.int64)])[order],
        logprob=np.concatenate([cands.logprob, np.full(len(added), np.nan)])[order],
    ).deduplicated()


def sample_candidates(cands: CandidateSet, k: int, rng: np.random.Generator) -> CandidateSet:
    """At most `k` candidates of each source, drawn without replacement; a note says how many were left out.

    Multiplicities do not weigh: of `cands.repeated()` it is a sample of the draws.
    """
    if k < 1:
        raise DataError(f"k must be at least 1, got {k}.")
    rank = np.lexsort((rng.random(len(cands)), cands.segment))
    place = np.arange(len(cands)) - np.repeat(
        np.cumsum(cands.n_candidates) - cands.n_candidates, cands.n_candidates
    )
    rows = rank[place < k]
    return cands.take(
        rows,
        f"{len(cands) - len(rows)} of {len(cands)} candidates were left out at random: at most {k} "
        "each.",
    )


def read_candidates(
    path: str | PathLike | pd.DataFrame, srcs: Sequence[str] | None = None, k: int | None = None
) -> CandidateSet:
    """The candidates of a file, by its ending: .jsonl, .parquet, anything else is text with `k` lines per source.

    Parameters
    ----------
    path : the file, or a pandas table with the columns segment, text and optionally tag, id, src, count, logprob.
    srcs : the N sources: every candidate must belong to one of them, and every one must have a candidate.
    k : the number of candidates of each source; needed for text, checked elsewhere.
    """
    if hasattr(path, "columns"):
        cands = _from_frame(path, "DataFrame", srcs)
    elif suffix_of(path) in JSONL:
        cands = _from_jsonl(path, srcs)
    elif suffix_of(path) in PARQUET:
        cands = _from_parquet(path, srcs)
    else:
        cands = _from_text(path, srcs, k)
    odd = np.flatnonzero(cands.n_candidates != k) if k is not None else np.array([])
    if odd.size:
        where = "DataFrame" if hasattr(path, "columns") else path
        raise DataError(
            f"source {odd[0]} has {cands.n_candidates[odd[0]]} candidates, expected k = {k}.", where
        )
    return cands


def read_candidate_file(
    path: str | PathLike, lp: str | None = None
) -> tuple[TestSet | None, CandidateSet]:
    """The candidates of a self-contained JSONL file, and the test set that its objects describe (None if they do not).

    Parameters
    ----------
    lp : language pair; by default the "lp" that the objects carry, otherwise it is told from the texts.
    """
    if suffix_of(path) not in JSONL:
        return None, read_candidates(path)
    records, fail = read_jsonl(path), _fail_line(path)
    cands = _assembled(records, path, fail)
    if not per_source(records, fail):
        return None, cands
    said = next((record["lp"] for record in records if "lp" in record), lp or UNDETERMINED)
    for i, record in enumerate(records):
        if record.get("lp", said) != (lp or said):
            raise fail(i, f'"lp" is {record.get("lp", said)!r}, but {lp or said!r} is wanted.')
    try:
        split_pair(said)
    except DataError as error:
        raise fail(0, str(error)) from None
    test = build_test_set(stem_of(path), records, said, fail)
    return None if test is None else with_languages(test), cands


def write_candidates(path: str | PathLike, cands: CandidateSet) -> Path:
    """Write a JSONL file with one object per candidate, or a .parquet file; it appears in one step.

    "count" stands where a candidate was drawn more than once, "logprob" where it is known.
    """
    columns = {"segment": cands.segment.tolist(), "text": cands.texts, "tag": cands.tags}
    columns |= {} if cands.ids is None else {"id": cands.ids}
    columns |= {"count": cands.multiplicity.tolist(), "logprob": cands.logprob.tolist()}
    if Path(path).suffix.lower() in PARQUET:
        return _to_parquet(path, columns)
    lines = []
    for values in zip(*columns.values(), strict=True):
        record = dict(zip(columns, values, strict=True))
        kept = {
            k: v
            for k, v in record.items()
            if not (k == "tag" and not v) and not (k == "count" and v == 1)
        }
        if math.isnan(record["logprob"]):
            del kept["logprob"]
        lines.append(json.dumps(kept, ensure_ascii=False) + "\n")
    return write_text(path, "".join(lines))


def _from_jsonl(path: str | PathLike, srcs: Sequence[str] | None) -> CandidateSet:
    """Candidates of a JSONL file of either kind."""
    return _assembled(read_jsonl(path), path, _fail_line(path), srcs)


def _from_text(path: str | PathLike, srcs: Sequence[str] | None, k: int | None) -> CandidateSet:
    """Candidates of a text file: the first k lines belong to source 0, the next k to source 1."""
    if k is None or k < 1:
        said = (
            "how many lines each source has is not said"
            if k is None
            else f"{k} lines for each source are too few"
        )
        raise DataError(
            f"{said}; say it by -k (in Python: k), or give a .jsonl or .parquet file.", path
        )
    lines, notes = text_lines(read_bytes(path), path)
    n = len(lines) // k if srcs is None else len(srcs)
    blank = len(lines) - n * k
    if blank > 0 and srcs is not None and not any(line.strip() for line in lines[n * k :]):
        lines = lines[: n * k]
        notes = (*notes, f"{Path(path).name}: {blank} blank lines at its end are left out.")
    if len(lines) != n * k or not lines:
        wanted = (
            f"a multiple of k = {k}" if srcs is None else f"{n} sources × k = {k}, {n * k} lines"
        )
        raise DataError(f"has {len(lines)} lines, expected {wanted}.", path)
    records = [{"segment": i // k, "text": line} for i, line in enumerate(lines)]
    fail = _fail_line(path)
    cands = assemble(candidate_rows(records, fail), path, fail, srcs)
    return replace(cands, notes=(*cands.notes, *notes))


def _from_parquet(path: str | PathLike, srcs: Sequence[str] | None) -> CandidateSet:
    """Candidates of a parquet file."""
    need("pyarrow", "reading parquet")
    import pandas as pd

    data = unpacked(read_bytes(path), path)
    if told := not_text(data):
        raise DataError(f"{told}.", path)
    try:
        frame = pd.read_parquet(io.BytesIO(data))
    except Exception as error:  # damaged files end in whatever their readers raise
        why = (
            ""
            if data.startswith(b"PAR1") and data.endswith(b"PAR1")
            else ": its first or last four bytes are wrong"
        )
        raise DataError(
            f"this is no parquet file, or a damaged one{why}; make or download it again.", path
        ) from error
    return _from_frame(frame, path, srcs)


def _to_parquet(path: str | PathLike, columns: dict[str, Sequence]) -> Path:
    """Write a table as parquet: a temporary file beside it, then an atomic rename."""
    need("pyarrow", "writing parquet")
    import pandas as pd

    buffer = io.BytesIO()
    try:
        pd.DataFrame(columns).to_parquet(buffer, index=False)
    except UnicodeEncodeError as error:
        raise DataError(
            f"character U+{ord(error.object[error.start]):04X} cannot be written as UTF-8.", path
        ) from None
    return write_bytes(path, buffer.getvalue())


def _from_frame(
    frame: pd.DataFrame, path: str | PathLike, srcs: Sequence[str] | None
) -> CandidateSet:
    """Candidates of a table; rows are counted from 0 in errors."""
    absent = [column for column in ("segment", "text") if column not in frame.columns]
    if absent or not len(frame):
        what = (
            f"has no column '{absent[0]}'; columns: {', '.join(map(str, frame.columns))}"
            if absent
            else "has no rows"
        )
        raise DataError(f"the table {what}.", path)
    columns = [column for column in COLUMNS if column in frame.columns]
    check_columns(list(map(str, frame.columns)), columns, path, None)
    values = [frame[c].astype(object).where(frame[c].notna(), None).tolist() for c in columns]
    records: list[dict[str, Any]] = [
        dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)
    ]
    fail: Fail = lambda i, message: DataError(f"row {i}: {message}", path)  # noqa: E731
    told = unread([dict.fromkeys(map(str, frame.columns))], fail)
    cands = _assembled(records, path, fail, srcs)
    return replace(cands, notes=(*cands.notes, *told))


def _assembled(
    records: list[dict[str, Any]],
    path: str | PathLike,
    fail: Fail,
    srcs: Sequence[str] | None = None,
) -> CandidateSet:
    """Candidates of records of either kind, which must not be there twice; a note of the keys that nothing reads."""
    sources, n = per_source(records, fail), len(records)
    rows = source_rows(records, fail) if sources else candidate_rows(records, fail)
    # one source may well have the same candidates again, as a model draws them; several sources may not
    several = {row.segment for row in rows[: n // 2 + 1]} if not sources else records
    for part in range(2, n // 2 + 1):
        if len(several) > 1 and n % part == 0 and records[part:] == records[:-part]:
            raise fail(
                part,
                f"the first {part} stand here again, {n // part} times in all; keep each of them "
                "once.",
            )
    cands = assemble(rows, path, fail, srcs)
    again = n - len(set(map(repr, records))) if sources else 0
    notes = (
        (f"{again} of {n} sources stand there again with the same candidates.",) if again else ()
    )
    counts = np.bincount(cands.segment, cands.multiplicity)
    if (fewer := int((counts < counts.max()).sum())) and 2 * counts.min() <= counts.max():
        notes += (
            f"{fewer} of {len(counts)} sources have fewer candidates than the {counts.max():.0f} "
            f"of the others (the fewest: {counts.min():.0f}): the more there are, the better an "
            "oracle's choice.",
        )
    return replace(cands, notes=(*cands.notes, *notes, *unread(records, fail)))


def _fail_line(path: str | PathLike) -> Fail:
    """Errors that name a line of this file."""
    return lambda i, message: DataError(message, path, i + 1)
