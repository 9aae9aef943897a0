"""Score what is not known yet: equal inputs once, known ones from the store, the rest committed as it comes.

Which scorers go through it: those that cost more than a look-up. On one core, with a million scores, one that is found
costs 6 µs, its key included, and one that is kept as well; the bundled language model of 2.6 million parameters takes
1,700 µs for a text, segment chrF and BLEU 2 and 3 µs where a source has many candidates (`python -m
benchmarks store`). So models go through the store, and the surface metrics are computed anew every time.
"""

from __future__ import annotations

import functools
import os
import re
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..data.fetch import cache_folder
from ..errors import AnhelpersError, DataError
from ..progress import note, note_once, progress
from .store import Store, key

if TYPE_CHECKING:
    from .cluster import Cluster
    from .worker import Recipe

__all__ = [
    "IN_MEMORY",
    "STORE",
    "current_store",
    "kept_in",
    "looks_nothing_up",
    "memo",
    "sharing",
]

STORE = "ANHELPERS_STORE"
"""The environment variable that names the store's file, or is "off"; unset: `scores.sqlite` in the cache folder."""

IN_MEMORY = "in-memory"
"""The revision of a model that was made in this process and that nobody can load: its scores are not kept."""

SECONDS_BETWEEN_COMMITS = 5.0
AT_ONCE = 256
"""Inputs per call of a scorer that has no groups of its own."""

Key = str | tuple[str, ...]
Keep = Callable[[np.ndarray, np.ndarray], None]
Plan = Callable[[np.ndarray], Iterable[Sequence[int]]]
Possible = Callable[[np.ndarray], np.ndarray]

_cluster: ContextVar[Cluster | None] = ContextVar("cluster", default=None)

kept_in: set[str] = set()
"""Names of the stores into which this process has put scores: where a stopped command goes on."""


def current_store() -> Store | None:
    """The store that ANHELPERS_STORE names; None for "off", or where the cache folder can have none (which is told)."""
    if looks_nothing_up():
        return None
    named = os.environ.get(STORE, "").strip()
    return _named(Path(named)) if named else _in_cache(cache_folder() / "scores.sqlite")


def looks_nothing_up() -> bool:
    """Whether ANHELPERS_STORE is "off": then every score is computed."""
    return os.environ.get(STORE, "").strip().lower() == "off"


@contextmanager
def sharing(cluster: Cluster | None) -> Iterator[None]:
    """Inside, what `memo` computes with a recipe is computed by the workers of a cluster (`cluster.connect`)."""
    token = _cluster.set(cluster)
    try:
        yield
    finally:
        _cluster.reset(token)


@functools.cache
def _named(path: Path) -> Store:
    return Store(path)


@functools.cache
def _in_cache(path: Path) -> Store | None:
    """A file that nobody asked for must not stop the work."""
    try:
        with (store := Store(path)).connection(write=True):
            return store
    except DataError as error:
        note(f"scores are not kept: {error} To silence this: {STORE}=off.")
        return None


def _put_or_note(store: Store, signature: str, keys: Sequence[bytes], values: np.ndarray) -> None:
    """Keep scores in a store that nobody asked for: where it fails, the work goes on without it."""
    try:
        store.put(signature, keys, values)
    except DataError as error:
        note_once(f"scores are not kept any more: {error}")


def memo(
    signature: str,
    keys: Sequence[Key],
    compute: Callable[[np.ndarray], np.ndarray],
    *,
    width: int = 1,
    groups: Sequence[Hashable] | Plan | None = None,
    what: str = "",
    store: Store | Literal["current"] | None = "current",
    recipe: Recipe | None = None,
    detail: Callable[[np.ndarray], Any] | None = None,
    possible: Possible | None = None,
) -> np.ndarray:
    """The scores of n inputs: known ones from the store, the others computed once per distinct input and then kept.

    What is computed is committed every 5 s, after the first call, at the end, and when interrupted: `kill -9` loses at
    most the last 5 s and the call in flight. Calls of `compute` do not depend on time, and after a crash the rest is
    computed in the same calls, so that an interrupted run ends with the same bits as an unbroken one. (A score that
    another set of inputs left in the store has the bits of the batch in which it was computed then.)

    Parameters
    ----------
    signature : all that decides a score but the input. With a part ``rev:`` that is no fixed revision (at least 7 hex
        digits) nothing is looked up or kept, which is told but for IN_MEMORY.
    keys : n inputs, each a text or a tuple of texts: all that the scorer reads, in one order.
    compute : (m,) indices of distinct inputs -> (m, width) scores, or (m,) for width 1.
    groups : what `compute` gets at once. A group label for each input (such as its source): whole groups, at least 256
        inputs. A function: it gets the indices that are missing and gives the indices of every call; called again
        without those of the first calls, it must give the others as before. None: 256 inputs.
    what : of the scores, in the note of how many came from the store, and beside the progress bar.
    store : by default `current_store()`; None: equal inputs are computed once, and nothing is kept.
    recipe, detail : how a worker of a cluster makes the scorer, and what it is told of a call (of its indices) beside
        the inputs; inside `sharing`, the calls go there.
    possible : (m, width) scores -> (m,) bool, which of them a sound model can have given. Others are an error where
        they are computed, so that they are never kept, and computed again where an older version has kept them.

    Returns
    -------
    (n, width) float64, nan where the scorer says nan.

    Raises
    ------
    AnhelpersError for scores that are not `possible`; DataError for a scorer or groups that do not fit the inputs, and
    where a named store fails.

    >>> memo("length", ["a", "bc", "a"], lambda i: np.array([1.0, 2.0, 1.0])[i], store=None)[:, 0]
    array([1., 2., 1.])
    """
    where: dict[Key, int] = {}
    back = np.array([where.setdefault(one, len(where)) for one in keys], np.int64)
    firsts = np.unique(back, return_index=True)[1]  # distinct inputs are numbered as they appear
    values, there, keep = _looked_up(signature, [*where], width, what, store, possible)
    calls = _calls(firsts[~there], groups, len(keys))
    with (
        progress(int((~there).sum()), what or signature, "scores") as step,
        _committing(keep) as done,
    ):
        named = ((at, firsts[at]) for at in (back[np.asarray(call, np.int64)] for call in calls))
        for at, scores in _computed(signature, compute, _sent(keys, detail), recipe, named):
            values[at] = _fitting(scores, len(at), width)
            if possible is not None and (wrong := int((~possible(values[at])).sum())):
                raise AnhelpersError(
                    f"{what or signature}: {wrong} of {len(at)} scores are nan or infinite, so the "
                    "model is broken; get it again, or name another."
                )
            there[at] = True
            done(at, values[at])
            step(len(at))
    if not there.all():
        raise DataError(
            f"{what or signature}: its groups leave out {int((~there).sum())} inputs to be scored."
        )
    return values[back]


def _sent(
    keys: Sequence[Key], detail: Callable[[np.ndarray], Any] | None
) -> Callable[[np.ndarray], tuple[list, Any]]:
    """Of the indices of a call, what a worker is sent: inputs and detail."""
    return lambda indices: ([keys[i] for i in indices], None if detail is None else detail(indices))


def _computed(
    signature: str,
    compute: Callable[[np.ndarray], np.ndarray],
    sent: Callable[[np.ndarray], tuple[list, Any]],
    recipe: Recipe | None,
    calls: Iterable[tuple[np.ndarray, np.ndarray]],
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(places, scores) of every call (places, indices): one after the other here, or as workers finish them."""
    cluster = _cluster.get()
    if cluster is not None and recipe is not None:
        yield from cluster.answers(
            recipe, signature, ((at, *sent(indices)) for at, indices in calls)
        )
        return
    if cluster is not None and os.environ.get("ANX_MODE") != "static":  # a notebook keeps its notes
        note_once(f"{signature} is computed in this process: workers cannot load its model.")
    for at, indices in calls:
        yield at, compute(indices)


def _looked_up(
    signature: str,
    keys: Sequence[Key],
    width: int,
    what: str,
    store: Store | str | None,
    possible: Possible | None = None,
) -> tuple[np.ndarray, np.ndarray, Keep]:
    """What the store knows of distinct inputs: scores, which are there; and how to keep scores at some places."""
    kept = current_store() if isinstance(store, str) else store
    if kept is None or not _fixed(signature):
        return (
            np.full((len(keys), width), np.nan),
            np.zeros(len(keys), bool),
            lambda at, values: None,
        )
    digests = [key(one) if isinstance(one, str) else key(*one) for one in keys]
    values, there = kept.get(signature, digests, width)
    if possible is not None and (wrong := there & ~possible(values)).any():
        there &= ~wrong
        note(
            f"{what or signature}: {int(wrong.sum()):,} scores in the store {kept.path.name} are "
            "nan or infinite, as a broken model gives them, and are computed again."
        )
    if known := int(there.sum()):
        note(
            f"{what or signature}: {known:,} of {len(keys):,} distinct scores come from the store "
            f"{kept.path.name}."
        )
    put = (
        kept.put
        if store is kept or os.environ.get(STORE, "").strip()
        else functools.partial(_put_or_note, kept)
    )

    def keep(at: np.ndarray, scores: np.ndarray) -> None:
        put(signature, [digests[i] for i in at], scores)
        kept_in.add(kept.path.name)

    return values, there, keep


def _fixed(signature: str) -> bool:
    """Whether the model of a signature can be no other one tomorrow."""
    for revision in re.findall(r"(?:^|\|)rev:([^|]*)", signature):
        if revision == IN_MEMORY:
            return False
        if not re.fullmatch("[0-9a-f]{7,}", revision):
            note_once(
                f"scores of {signature} are not kept: '{revision}' is no fixed revision (a commit) "
                "of the model."
            )
            return False
    return True


def _calls(
    missing: np.ndarray, groups: Sequence[Hashable] | Plan | None, n: int
) -> Iterator[Sequence[int]]:
    """The indices of every call of the scorer."""
    if callable(groups):
        yield from groups(missing)
        return
    if groups is not None and len(groups) != n:
        raise DataError(f"{len(groups)} groups for {n} inputs; give one for each.")
    members: dict[Hashable, list[int]] = {}
    for i in missing.tolist():
        members.setdefault(i if groups is None else groups[i], []).append(i)
    call: list[int] = []
    for group in members.values():
        call += group
        if len(call) >= AT_ONCE:
            yield call
            call = []
    if call:
        yield call


@contextmanager
def _committing(keep: Keep) -> Iterator[Keep]:
    """Gathers scores and keeps them every few seconds, the first ones at once, the last ones whatever happens."""
    pending: list[tuple[np.ndarray, np.ndarray]] = []
    last = -np.inf

    def commit() -> None:
        nonlocal last
        if pending:
            keep(*(np.concatenate(parts) for parts in zip(*pending, strict=True)))
            pending.clear()
        last = time.monotonic()

    def done(at: np.ndarray, values: np.ndarray) -> None:
        pending.append((at, values))
        if time.monotonic() - last >= SECONDS_BETWEEN_COMMITS:
            commit()

    try:
        yield done
    finally:
        commit()


def _fitting(scores: np.ndarray, n: int, width: int) -> np.ndarray:
    """(n, width) float64, or a DataError: a scorer that returns another shape would shift scores."""
    scores = np.asarray(scores, np.float64)
    if scores.shape not in ((n, width), (n,) if width == 1 else ()):
        raise DataError(
            f"a scorer returned an array of shape {scores.shape} for {n} inputs of {width} numbers "
            "each."
        )
    return scores.reshape(n, width)
