"""Texts as arrays of code points, in batches of candidates that share their references."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from .._numba import cores
from ..progress import progress
from .references import Reference, streams

# one array of code points of 1 MiB: it stays in a core's second-level cache
BATCH_CHARACTERS = 2**18

# The characters at which str.split() splits; all others are text.
SPACES = (
    range(0x09, 0x0E),
    range(0x1C, 0x21),
    [0x85, 0xA0, 0x1680],
    range(0x2000, 0x200B),
    [0x2028, 0x2029, 0x202F],
)
WHITESPACE = np.array([*chain(*SPACES), 0x205F, 0x3000], dtype=np.uint32)


@dataclass(frozen=True)
class SegmentBatch:
    """Some hypotheses, ordered so that those of one segment are neighbours, with the references of their segments.

    Parameters
    ----------
    rows : where the scores of these hypotheses go: a slice of, or indices into, the caller's n hypotheses.
    hyps : m texts.
    groups : (G+1,) int64; hypotheses groups[g] to groups[g+1] translate the segment g of this batch.
    refs : R streams of G texts, None where a reference is missing.
    """

    rows: slice | np.ndarray
    hyps: list[str]
    groups: np.ndarray
    refs: list[list[Reference]]


def code_points(texts: list[str], joined: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """All characters of all texts as one read-only uint32 array, and the (n+1,) int64 offsets of the texts in it.

    Parameters
    ----------
    texts : n texts.
    joined : "".join(texts), where the caller has it already.
    """
    starts = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=starts[1:])
    joined = "".join(texts) if joined is None else joined
    return np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32), starts


def gather(
    counter: Callable[[], Callable[[SegmentBatch], np.ndarray]],
    hyps: Sequence[str],
    refs: Sequence[Sequence[Reference]],
    segment: ArrayLike | None = None,
    *,
    one_by_one: bool = False,
) -> np.ndarray:
    """(n, ...) results for n hypotheses, in their order, of a function that handles one batch; see `segment_batches`.

    Parameters
    ----------
    counter : makes such a function, a batch of b hypotheses -> (b, ...) results, for each thread.
    one_by_one : all batches, which are smaller, by one function, which spends its time in Python: its progress is told.
    """

    def with_rows() -> Callable[[SegmentBatch], tuple[Any, np.ndarray]]:
        count = counter()
        return lambda batch: (batch.rows, count(batch))

    out: Any = None
    smaller = {"characters": BATCH_CHARACTERS // 16} if one_by_one else {}
    batches = segment_batches(hyps, refs, segment, **smaller)
    unseen: Any = nullcontext(lambda n: None)
    with progress(len(hyps), "counting edits", "texts") if one_by_one else unseen as step:
        found = map(with_rows(), batches) if one_by_one else _threaded(with_rows, batches)
        for rows, part in found:
            if out is None:
                out = np.empty((len(hyps), *part.shape[1:]), dtype=part.dtype)
            out[rows] = part
            step(len(part))
    return out


def _threaded(maker: Callable[[], Callable[[Any], Any]], items: Iterable) -> Iterator[Any]:
    """The result for each item, in order, from a thread per processor, each with a function of its own."""
    local, waiting = threading.local(), deque[Future]()

    def call(item: Any) -> Any:
        if not hasattr(local, "function"):
            local.function = maker()
        return local.function(item)

    with ThreadPoolExecutor(n := cores()) as pool:
        for item in items:
            waiting.append(pool.submit(call, item))
            if len(waiting) > 2 * n:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def segment_batches(
    hyps: Sequence[str],
    refs: Sequence[Sequence[Reference]],
    segment: ArrayLike | None,
    characters: int = BATCH_CHARACTERS,
) -> Iterator[SegmentBatch]:
    """Cut n hypotheses into batches of about `characters` characters, or into one empty batch where n = 0.

    Parameters
    ----------
    hyps : n texts.
    refs : R streams of N texts, None where a reference is missing.
    segment : (n,) which of the N segments each hypothesis translates; None where n = N and they are in order.

    Raises
    ------
    DataError where lengths differ, a text is no string, or a segment is out of range.
    """
    hyps, refs = list(checks.texts("hyps", hyps)), streams(refs)
    if segment is None:
        checks.same_length(hyps=hyps, refs=refs[0])
        segment = np.arange(len(hyps))
    segment = checks.segment_ids(segment, len(refs[0]))
    checks.same_length(hyps=hyps, segment=segment)
    lengths = np.fromiter(map(len, hyps), np.int64, len(hyps))
    order = None
    if (segment[1:] < segment[:-1]).any():
        order = np.argsort(segment, kind="stable")
        hyps, segment, lengths = [hyps[i] for i in order], segment[order], lengths[order]
    # A batch ends where its characters are enough; every hypothesis counts for one more, so that blank ones end too.
    filled = np.cumsum(lengths + 1)
    begin, n = 0, len(hyps)
    while begin < n or begin == n == 0:
        goal = (filled[begin - 1] if begin else 0) + characters
        end = min(n, max(begin + 1, int(np.searchsorted(filled, goal))))
        yield _batch(begin, end, hyps, refs, segment, order)
        begin = max(end, 1)


def _batch(
    begin: int, end: int, hyps: list[str], refs: list, segment: np.ndarray, order: np.ndarray | None
) -> SegmentBatch:
    rows = slice(begin, end) if order is None else order[begin:end]
    here = segment[begin:end]
    first = np.flatnonzero(np.diff(here, prepend=-1))
    groups = np.append(first, end - begin)
    return SegmentBatch(
        rows,
        hyps[begin:end],
        groups,
        [[stream[i] for i in here[first].tolist()] for stream in refs],
    )
