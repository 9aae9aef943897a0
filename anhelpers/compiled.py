"""Loops compiled to machine code, which is cached on disk where possible, and run on all processors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain, islice
from queue import SimpleQueue
from threading import Event, Lock
from typing import Any

import numba
from numba.core import event

from .progress import note_once

__all__ = ["compiled", "cores", "side_by_side"]


class _Waiting(event.Listener):
    """Tells who waits at a terminal that loops are compiled there, for the first time on a machine."""

    def on_start(self, event: event.Event) -> None:
        if sys.stderr is not None and sys.stderr.isatty():
            note_once("fast loops are compiled for this machine, once; that may take a minute.")

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _Waiting())


def compiled(function: Callable | None = None, **options: Any) -> Callable:
    """Compile with numba, and keep the machine code on disk where some cache folder can be written.

    A cached kernel does not notice that a kernel it calls has changed in another file: kernels that call each other
    live in one file.

    Parameters
    ----------
    function : to be compiled; None: the decorator with these options.
    options : more of numba's, such as `fastmath`.
    """
    if function is None:
        return partial(compiled, **options)
    try:
        return numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:
        # neither this folder nor the user's cache can be written; NUMBA_CACHE_DIR would name another
        return numba.njit(nogil=True, **options)(function)


def cores() -> int:
    """How many processors this process may use: those that it was given, or OMP_NUM_THREADS where that is fewer."""
    given = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    most = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(given or 1, int(most) if most.isdecimal() else given or 1))


def side_by_side(maker: Callable[[], Callable[[Any], Any]], items: Iterable) -> Iterator[Any]:
    """The result for each item, in any order, from as many threads as there are processors; the same as from one.

    Parameters
    ----------
    maker : makes the function for one thread, which spends its time in compiled loops, and may keep what it has seen.
    items : what it is called with; each but the first few is made by the thread that takes it.
    """
    n, rest = cores(), iter(items)
    first = [*islice(rest, n)]
    if n < 2 or len(first) < 2:
        yield from map(maker(), chain(first, rest))
        return
    todo, taking, ended, end = chain(first, rest), Lock(), Event(), object()
    found: SimpleQueue[Any] = SimpleQueue()

    def work() -> None:
        try:
            function = maker()
            while not ended.is_set():
                with taking:
                    item = next(todo, end)
                if item is end:
                    break
                found.put(function(item))
        except BaseException:
            ended.set()
            raise
        finally:
            found.put(end)

    with ThreadPoolExecutor(n) as pool:
        working = [pool.submit(work) for _ in range(n)]
        try:
            for _ in working:
                while (result := found.get()) is not end:
                    yield result
        finally:
            ended.set()
    for one in working:
        one.result()
