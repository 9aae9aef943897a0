"""Candidates drawn into a file, source by source, so that a run that was cut off goes on where it was.

Finished sources are lines of ``FILE.partial``, after a first line that says what is drawn for which sources. Each has a
checksum before it (CRC-32, 8 hex digits); a source whose line is damaged is drawn again, which gives the same. When all
are there, they become FILE in one step, in order and without the checksums: an object per source as `read_candidates`
reads it, with "src", the "signature", and a "count" and "logprob" for each candidate.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import IO, Any

from ..data.schema import CandidateSet
from ..data.writing import lock, still_at, unwritable, write_bytes
from ..errors import DataError
from ..progress import note, progress
from ..provenance import made_by
from .draw import SourceDraws, check_sources, draw_source, drawn_set
from .drawing import Drawing

__all__ = ["draw_to_file"]

Draws = Callable[[Drawing, Sequence[tuple[int, str]]], Iterable[SourceDraws]]


def draw_to_file(
    drawing: Drawing,
    srcs: Sequence[str],
    output: str | PathLike,
    draws: Draws | None = None,
    *,
    path: str | None = None,
) -> tuple[CandidateSet, int]:
    """Draw what is not yet in the file or in its partial one; a killed run ends with the bytes of an unbroken one.

    Parameters
    ----------
    output : a .jsonl file; an older one of that name is replaced at the end.
    draws : (drawing, (number, text) of the sources that are missing) -> their draws, in any order; by default one
        after the other in this process.
    path : file of the sources, for errors.

    Returns
    -------
    The candidates, and how many sources were there already.

    Raises
    ------
    DataError : a source that cannot be drawn for; a partial file of other sources or options, a damaged one, or one
        that another process is writing to.
    """
    output = Path(output)
    if output.suffix.lower() not in (".jsonl", ".ndjson"):
        raise DataError("candidates are written as JSON lines; name a .jsonl file.", output)
    if not output.parent.is_dir():
        raise DataError(f"there is no folder {output.parent}; make it first.", output)
    check_sources(drawing, srcs, path)
    header = {"draw": drawing.signature, "sources": _hash(srcs), "n": len(srcs)}
    partial = output.with_name(f"{output.name}.partial")
    if (finished := _finished(output, header, srcs)) is not None:
        _forget(partial, header)
        return drawn_set(drawing, finished), len(srcs)
    with _opened(partial) as file:
        with _told(partial):
            lines = _resumed(file, header)
        before = len(lines)
        missing = [(i, src) for i, src in enumerate(srcs) if i not in lines]
        with progress(len(missing), f"candidates of {drawing.model.name}", "sources") as step:
            for one in (draws or _one_by_one)(drawing, missing):
                lines[one.segment] = _line(drawing, one, srcs[one.segment])
                _append(file, _checked(lines[one.segment]))
                step(1)
        done = [_read(lines[i]) for i in range(len(srcs))]
        write_bytes(output, b"".join(lines[i] for i in range(len(srcs))))
    with _told(partial):
        partial.unlink(missing_ok=True)  # not before it is closed, which Windows wants
    return drawn_set(drawing, done), before


def _one_by_one(drawing: Drawing, missing: Sequence[tuple[int, str]]) -> Iterator[SourceDraws]:
    return (draw_source(drawing, i, src) for i, src in missing)


def _hash(srcs: Sequence[str]) -> str:
    """12 hex digits of the sha256 of all sources in order."""
    return sha256(json.dumps(list(srcs)).encode()).hexdigest()[:12]


def _line(drawing: Drawing, one: SourceDraws, src: str) -> bytes:
    """A source with its candidates as a line of JSON; a log-probability that is nan is left out."""
    candidates = [
        {"text": text, "tag": drawing.tag, "count": count}
        | ({} if math.isnan(logprob) else {"logprob": logprob})
        for text, count, logprob in zip(one.texts, one.count, one.logprob, strict=True)
    ]
    record = {"segment": one.segment, "src": src, "candidates": candidates, "cut": one.cut}
    record |= {
        "respelt": one.respelt,
        "several": one.several,
        "signature": drawing.signature,
        "made_by": made_by(),
    }
    return (json.dumps(record, ensure_ascii=False) + "\n").encode()


def _read(line: bytes) -> SourceDraws:
    """What `_line` wrote."""
    record = json.loads(line)
    candidates = record["candidates"]
    return SourceDraws(
        segment=record["segment"],
        texts=tuple(c["text"] for c in candidates),
        count=tuple(c["count"] for c in candidates),
        logprob=tuple(c.get("logprob", math.nan) for c in candidates),
        # older files do not count them
        cut=record["cut"],
        respelt=record["respelt"],
        several=record.get("several", 0),
    )


def _finished(output: Path, header: dict, srcs: Sequence[str]) -> list[SourceDraws] | None:
    """The draws of a finished file of the same sources and options; None where there is none."""
    if not output.is_file():
        return None
    try:
        lines = output.read_bytes().splitlines(keepends=True)
        records = [json.loads(line) for line in lines]
        same = [(r["signature"], r["src"]) for r in records] == [
            (header["draw"], src) for src in srcs
        ]
        return [_read(line) for line in lines] if same else None
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror}).", output) from error
    except (ValueError, KeyError, TypeError):
        return None  # another file, which is replaced when all is drawn


def _forget(partial: Path, header: dict) -> None:
    """Remove the partial file of a finished one: a run was killed between its last two steps."""
    if partial.is_file():
        with suppress(DataError), _told(partial):
            with _opened(partial) as file:
                ours = file.readline() == _first(header)
            if ours:
                partial.unlink(missing_ok=True)


def _first(header: dict) -> bytes:
    return json.dumps(header).encode() + b"\n"


def _resumed(file: IO[bytes], header: dict) -> dict[int, bytes]:
    """The finished lines by source, without checksums; damaged ones and a torn last one are dropped.

    A new file gets its header. Lines of an older version have no checksums, and are taken as they are.
    """
    lines = file.read().split(b"\n")
    whole = [line + b"\n" for line in lines[:-1]]  # what follows the last end of a line is torn
    try:
        found = json.loads(whole[0]) if whole else header
        checked = [_unchecked(line) for line in whole[1:]]
        finished = {_read(line).segment: line for line in checked if line is not None}
    except (ValueError, KeyError, TypeError):
        raise DataError(
            "is damaged, so drawing cannot go on from it; delete it to begin anew.", file.name
        ) from None
    if found != header:
        raise DataError(
            f"holds another draw that was cut off, of {_difference(found, header)}; finish that "
            "one, name another output, or delete this file.",
            file.name,
        )
    if damaged := sum(line is None for line in checked):
        note(
            f"{file.name}: {damaged} of {len(checked)} lines are damaged; what they held is drawn "
            "again."
        )
    if old := sum(line.startswith(b"{") for line in whole[1:]):
        note(
            f"{file.name}: {old} of {len(checked)} sources were drawn by an older version, "
            "without checksums; they are taken as they are. Delete the file to draw them again."
        )
    file.seek(sum(map(len, whole)))
    file.truncate()
    if not whole:
        _append(file, _first(header))
    return finished


def _checked(line: bytes) -> bytes:
    """A line with the checksum before it."""
    return b"%08x %b" % (zlib.crc32(line), line)


def _unchecked(line: bytes) -> bytes | None:
    """What `_checked` was given; None where it is damaged, and an older version's line as it is."""
    if line.startswith(b"{"):
        return line
    return line[9:] if _checked(line[9:]) == line else None


def _difference(found: Any, header: dict) -> str:
    """The first thing in which a partial file differs from what is wanted."""
    if not isinstance(found, dict) or not isinstance(found.get("draw"), str):
        return "something else"
    here, wanted = (
        [part.partition(":") for part in text["draw"].split("|")] for text in (found, header)
    )
    for key, _, value in wanted:
        old = next((v for k, _, v in here if k == key), "none")
        if old != value:
            return f"{key} {old}, not {value}"
    return "other sources" if found["draw"] == header["draw"] else "other options"


@contextmanager
def _opened(partial: Path) -> Iterator[IO[bytes]]:
    """The partial file, at its beginning, and for this process alone where the system can lock files."""
    file = _locked(partial)
    try:
        yield file
    finally:
        # of a line that could not be written, as was told: closing tries once more
        with suppress(OSError):
            file.close()


def _locked(partial: Path) -> IO[bytes]:
    while True:
        with _told(partial):
            file = open(partial, "a+b")  # noqa: SIM115 (closed by the caller)
        if not lock(file.fileno()):
            file.close()
            raise DataError("another process is drawing into it; wait for that one.", partial)
        if still_at(partial, file.fileno()):  # else another run ended between the two lines above
            file.seek(0)
            return file
        file.close()


def _append(file: IO[bytes], line: bytes) -> None:
    """Write a finished line, which is on the disk when this returns, as far as the system says."""
    with _told(file.name):
        file.write(line)
        file.flush()


@contextmanager
def _told(partial: str | PathLike) -> Iterator[None]:
    """Around what touches the partial file alone: an error of the system becomes a sentence about that file."""
    try:
        yield
    except OSError as error:
        raise unwritable(error, partial) from error
