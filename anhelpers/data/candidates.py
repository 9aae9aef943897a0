"""Read, write, sample and assemble candidates: JSON Lines, n-best lists, K lines per source, parquet, pandas tables.

A JSON line is a candidate, ``{"segment": 0, "text": "…", "tag": "…", "id": "…", "src": "…", "count": 2, "logprob":
-9.5}`` (the first two are required; `count` is how often it was drawn, `logprob` in nats), or a source, ``{"src": "…",
"refs": ["…"], "candidates": ["…", {"text": "…"}]}``, optionally with "id", "doc", "domain" and "lp"; a null reference
is missing. "mt" and "hypothesis" mean "text", "hypotheses" means "candidates". An n-best list of Moses has lines
``id ||| text ||| features`` in the order of their ranks, with ids from 0; of equal texts of a source the first counts.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks
from .._lazy import pd
from ..errors import DataError, counted, need
from ..progress import note
from .io import (
    _ints,
    _stem_of,
    _suffix_of,
    _value_of,
    parse_json,
    read_bytes,
    read_lines,
    write_atomic,
)
from .languages import _infer_pair
from .schema import CandidateSet, TestSet

_OBJECT = re.compile(r'\s*\{\s*"')  # of JSON
_NBEST = re.compile(r"\s*(\d{1,9}) \|\|\| (.*?)\s*\|\|\|")  # id ||| text ||| features
JSONL, PARQUET = (".jsonl", ".ndjson", ".json"), (".parquet", ".pq")
_KINDS = {"segment": int, "text": str, "tag": str, "id": str, "src": str, "count": int}
_ALIASES = {"mt": "text", "hypothesis": "text", "hypotheses": "candidates"}
_COLUMNS = (*_KINDS, "logprob")
_MOST = 2**53  # whole numbers that float64 holds exactly


def from_systems(test: TestSet, systems: Sequence[str] | None = None) -> CandidateSet:
    """Return the outputs of systems as candidates, tagged by system, without blank outputs.

    Parameters
    ----------
    systems : sequence of str, optional
        Those to take, in this order; by default all but copies of references.
    """
    copies = test.copies
    names = [name for name in test.systems if name not in copies] if systems is None else systems
    texts = [test.systems[checks.one_of(name, test.systems, "system")] for name in names]
    rows = [
        (i, text, name)
        for i, outputs in enumerate(zip(*texts, strict=True))
        for name, text in zip(names, outputs, strict=True)
        if text.strip()
    ]
    segment, candidates, tags = zip(*rows, strict=True) if rows else ((), (), ())
    blank = len(names) * len(test) - len(rows)
    notes = [f"{blank} blank outputs are left out."] if blank else []
    segment_ids = np.array(segment, dtype=np.int64)
    cands = CandidateSet(segment_ids, candidates, tags, notes=tuple(notes))
    return cands.require(len(test), test.name)


def sample_candidates(cands: CandidateSet, k: int, rng: np.random.Generator) -> CandidateSet:
    """Return at most `k` candidates of each source, drawn without replacement and irrespective of multiplicities."""
    checks.whole("k", k)
    rank = np.lexsort((rng.random(len(cands)), cands.segment))
    start = np.cumsum(cands.n_candidates) - cands.n_candidates
    rows = rank[np.arange(len(cands)) - np.repeat(start, cands.n_candidates) < k]
    return cands.take(rows, f"{len(cands) - len(rows)} of {len(cands)} candidates are left out.")


def read_candidates(
    path: str | PathLike | pd.DataFrame, srcs: Sequence[str] | None = None, k: int | None = None
) -> CandidateSet:
    """Read the candidates of a file, by its ending or first line: JSONL, .parquet, n-best list, `k` lines per source.

    Parameters
    ----------
    path : path or DataFrame
        A table has the columns segment, text and optionally tag, id, src, count, logprob.
    srcs : sequence of N str, optional
        Every candidate must belong to one of these sources, and every source must have a candidate.
    k : int, optional
        Number of candidates of each source; required for `k` lines per source.

    Raises
    ------
    DataError : with file and line, for a malformed candidate; a source without, or with other than `k`, candidates.
    """
    if hasattr(path, "columns"):
        cands = _assembled(_rows_of(path, "DataFrame"), "DataFrame", srcs)
    elif _suffix_of(path) in PARQUET:
        cands = _assembled(_rows_of(_read_parquet(path), path), path, srcs)
    else:
        lines, records = _read_records(path)
        cands = _assembled(records, path, srcs) if records else _from_text(lines, path, srcs, k)
    if k is not None and (odd := np.flatnonzero(cands.n_candidates != k)).size:
        n = cands.n_candidates[odd[0]]
        raise DataError(f"source {odd[0]}: got {n} candidates, expected {k}.")
    return cands


def read_candidate_file(
    path: str | PathLike, lp: str | None = None
) -> tuple[TestSet | None, CandidateSet]:
    """Read the candidates of a JSONL file, and the test set that its lines describe (None without sources).

    Parameters
    ----------
    lp : str, optional
        Language pair; by default the "lp" of the lines, else inferred from the texts.
    """
    if _suffix_of(path) in PARQUET:
        return None, read_candidates(path)
    lines, records = _read_records(path)
    if not records:
        return None, _from_text(lines, path, None, None)
    cands = _assembled(records, path, None)
    if "candidates" not in records[0] or "src" not in records[0]:
        return None, cands
    said = {record["lp"] for record in records if "lp" in record} | ({lp} if lp else set())
    if len(said) > 1:
        raise DataError(f"got several language pairs: {', '.join(sorted(map(str, said)))}.", path)
    srcs, docs, domains = (
        tuple(_value_of(record, key, str, path, i) for i, record in enumerate(records, 1))
        if any(key in record for record in records)
        else ()
        for key in ("src", "doc", "domain")
    )
    refs = _references(records, path)
    pair = _infer_pair(next(iter(said), None), srcs, [t for texts in refs.values() for t in texts])
    return TestSet(_stem_of(path), pair, srcs, refs, docs=docs, domains=domains), cands


def write_candidates(path: str | PathLike, cands: CandidateSet) -> Path:
    """Write candidates as a JSONL file, one object each, or as a .parquet file, in one step.

    JSON lines omit unknown log-probabilities.
    """
    checks.one_of(_suffix_of(path), (*JSONL, *PARQUET), "suffix of candidates")
    table = cands.frame()
    if _suffix_of(path) in PARQUET:
        need("pyarrow", "writing parquet")
        return write_atomic(path, table.to_parquet(index=False))
    known = ({k: v for k, v in row.items() if v == v} for row in table.to_dict("records"))
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in known)
    return write_atomic(path, "".join(lines))


def _from_text(
    lines: Sequence[str], path: str | PathLike, srcs: Sequence[str] | None, k: int | None
) -> CandidateSet:
    """Read the lines of a text file; the first k belong to source 0, the next k to source 1."""
    if lines and _NBEST.match(lines[0]):
        return _from_nbest(lines, path, srcs)
    k = checks.whole("k (-k), the number of lines of each source,", k)
    n = len(lines) // k if srcs is None else len(srcs)
    rest = lines[n * k :]
    if len(lines) < n * k or not n or (rest if srcs is None else any(map(str.strip, rest))):
        raise DataError(f"got {counted(len(lines), 'line')}, expected {k} for each source.", path)
    return CandidateSet(np.repeat(np.arange(n), k), tuple(lines[: n * k]))


def _from_nbest(
    lines: Sequence[str], path: str | PathLike, srcs: Sequence[str] | None
) -> CandidateSet:
    """Read the lines of an n-best list."""
    found = [*map(_NBEST.match, lines)]
    if None in found:
        at = found.index(None)
        raise DataError(f"got '{lines[at]:.40}', expected id ||| text ||| …", path, at + 1)
    records = [{"segment": int(match[1]), "text": match[2]} for match in found if match]
    cands = _assembled(records, path, srcs)
    rows = np.flatnonzero(~cands.frame().duplicated(["segment", "text"]))
    left_out = f"{len(cands) - len(rows)} repeated texts of {len(cands)} are left out."
    return cands.take(rows, left_out) if len(rows) < len(cands) else cands


def _read_parquet(path: str | PathLike) -> pd.DataFrame:
    """Read a table from a parquet file, compressed or not."""
    need("pyarrow", "reading parquet")
    data = io.BytesIO(read_bytes(path))
    try:
        return pd.read_parquet(data)
    except Exception as error:  # damaged files raise a variety of errors
        raise DataError(f"malformed parquet file ({type(error).__name__}).", path) from error


def _rows_of(frame: Any, path: str | PathLike) -> list[dict[str, Any]]:
    """Return the rows of a table as records, missing cells left out."""
    names = list(map(str, frame.columns))
    columns = [name for name in _COLUMNS if name in names]
    if "segment" not in columns or "text" not in columns or len(set(names)) < len(names):
        raise DataError(f"expected segment and text, once; found {', '.join(names):.80}.", path)
    table = frame.loc[:, columns].astype(object)
    rows = zip(table.to_dict("records"), table.notna().to_dict("records"), strict=True)
    return [{k: v for k, v in row.items() if known[k]} for row, known in rows]


def _read_records(path: str | PathLike) -> tuple[Sequence[str], list[dict[str, Any]]]:
    """Return the lines of a file, and the objects of JSON Lines by its ending or first line; of other texts none."""
    table = _suffix_of(path) in (".csv", ".tsv", ".xlsx")
    told = "expected JSONL, parquet, an n-best list or text with K lines per source (-k)."
    checks.some(np.array(not table), f"{path}: {told}")
    lines = read_lines(path)
    if _suffix_of(path) not in JSONL and not _OBJECT.match("".join(lines[:1])):
        return lines, []
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    checks.some(np.array(bool(lines)), f"{path}: got no candidates.")
    records = (parse_json(line, path, i) for i, line in enumerate(lines, 1))
    return lines, [_renamed(record, path, i) for i, record in enumerate(records, 1)]


def _by_number(records: Sequence[dict[str, Any]], path: str | PathLike) -> Sequence[int]:
    """Return the order of lines by segment or id, if these are consecutive numbers, else that of the file."""
    ids = [str(record.get("segment", record.get("id"))) for record in records]
    numbers = _ints(ids) or []
    start = min(numbers, default=0)
    if numbers == sorted(numbers) or {*numbers} != {*range(start, start + len(ids))}:
        return range(len(ids))
    note(f"{Path(path).name}: lines are taken in the order of their numbers (segment or id).")
    return sorted(range(len(ids)), key=numbers.__getitem__)


def _renamed(record: dict[str, Any], path: str | PathLike, line: int) -> dict[str, Any]:
    """Return a record with the keys used here; a DataError for two keys of one meaning."""
    named = {_ALIASES.get(key, key): value for key, value in record.items()}
    if len(named) < len(record):
        raise DataError("got two of text, mt, hypothesis, or candidates twice.", path, line)
    return named


def _assembled(
    records: Sequence[dict[str, Any]], path: str | PathLike, srcs: Sequence[str] | None
) -> CandidateSet:
    """Return the candidates of records of either kind, sorted by source."""
    rows: list[dict[str, Any]] = []
    seen: set[str | None] = set()
    for line, row in _flat(records, path):
        number, own_id = row["segment"], row["id"]
        known = number >= 0 and (srcs is None or number < len(srcs))
        if known and srcs is not None:
            known = row["src"] in (None, srcs[number])
        if not known or (own_id is not None and own_id in seen):
            told = f"segment {number}, id {own_id}: expected one of the sources, with its src"
            raise DataError(f"{told:.90}, and an id that is not repeated.", path, line)
        seen.add(own_id)
        rows.append(row)
    rows.sort(key=lambda row: row["segment"])
    columns = {key: [row[key] for row in rows] for key in _COLUMNS}
    ids = columns["id"]
    with_id = sum(one is not None for one in ids)
    if not rows or with_id not in (0, len(ids)):
        raise DataError(f"got {with_id} ids for {len(ids)} candidates, expected all or none.", path)
    try:
        cands = CandidateSet(
            np.array(columns["segment"]),
            tuple(columns["text"]),
            tuple(tag or "" for tag in columns["tag"]),
            tuple(ids) if with_id else None,
            multiplicity=np.array(columns["count"]),
            logprob=np.array(columns["logprob"]),
        )
    except DataError as error:
        raise DataError(str(error), path) from None
    return cands if srcs is None else cands.require(len(srcs), path)


def _flat(
    records: Sequence[dict[str, Any]], path: str | PathLike
) -> Iterable[tuple[int, dict[str, Any]]]:
    """Iterate over (line, the checked fields of a candidate); lines without sources are ordered by their numbers."""
    per_source = bool(records) and "candidates" in records[0]
    ordered = per_source and all(record.get("src") is None for record in records)
    lines = _by_number(records, path) if ordered else range(len(records))
    start = ordered and records[lines[0]].get("segment") == 1
    for number, at in enumerate(lines):
        line, record = at + 1, records[at]
        if not per_source and "candidates" not in record:
            yield line, _fields(record, path, line)
            continue
        own = record.get("candidates") if per_source else None
        said = record.get("segment", number + start)
        if not isinstance(own, list) or not own or said != number + start:
            raise DataError(f"expected source {number} with a list of candidates.", path, line)
        for one in own:
            fields = one if isinstance(one, dict) else {"text": one}
            whole = {**fields, "segment": number, "src": record.get("src")}
            yield line, _fields(whole, path, line)


def _fields(record: dict[str, Any], path: str | PathLike, line: int) -> dict[str, Any]:
    """Return the fields of a candidate."""
    record = _renamed(record, path, line)
    found = {
        key: _value(record, key, kind, path, line, needed=key in ("segment", "text"))
        for key, kind in _KINDS.items()
    }
    found["text"] = found["text"].rstrip("\r\n")
    found["count"] = 1 if found["count"] is None else found["count"]
    number = record.get("logprob")
    number = math.nan if number is None else number
    known = isinstance(number, int | float)
    if not known or number > checks.ROUNDING or number < checks.LEAST_LOGPROB:
        raise DataError(f"logprob: got {number!r:.40}, expected a number ≤ 0.", path, line)
    return {**found, "logprob": float(number)}


def _value(
    record: dict[str, Any],
    key: str,
    kind: type,
    path: str | PathLike,
    line: int,
    *,
    needed: bool = False,
) -> Any:
    """Return a field of a record, None where it is missing; whole numbers are text as ids."""
    value = record.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool) and value % 1 == 0:
        value = str(value) if key == "id" else int(value) if abs(value) < _MOST else value
    return _value_of({key: value}, key, kind, path, line) if needed or value is not None else None


def _references(
    records: Sequence[dict[str, Any]], path: str | PathLike
) -> dict[str, tuple[str, ...]]:
    """Return reference name -> texts, of ``"refs": ["…"]`` (called refA, refB, …) or ``"refs": {"name": "…"}``."""
    refs: dict[str, list[str]] = {}
    for line, record in enumerate(records, 1):
        given = record.get("refs") or {}
        kind = dict if isinstance(given, dict) else list
        given = _value_of({"refs": given}, "refs", kind, path, line)
        if isinstance(given, list):
            given = {f"ref{chr(ord('A') + j)}": text for j, text in enumerate(given)}
        for name in {**refs, **given}:
            text = _value(given, name, str, path, line) or ""
            refs.setdefault(name, [""] * (line - 1)).append(text.rstrip("\r\n"))
    return {name: tuple(texts) for name, texts in refs.items()}
