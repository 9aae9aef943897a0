"""The references of a metric: streams of texts, one per reference; None where a segment has no such reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import checks
from ..errors import DataError

Reference = str | None
"""A reference text, or None where it is missing; an empty text is a reference without words, as in sacreBLEU."""

VARIABLE = "var"
"""The number of references where segments differ in it, as sacreBLEU's signature has it."""


def at_least_one(label: str, n_refs: int | str) -> None:
    """A DataError where a metric that reads references is made for none.

    Parameters
    ----------
    label : of the metric. n_refs : how many references every segment will have, or VARIABLE.
    """
    if n_refs != VARIABLE and not (isinstance(n_refs, int) and n_refs >= 1):
        raise DataError(f"{label} needs at least one reference per segment, got n_refs={n_refs}.")


def streams(refs: Any, label: str = "", n_refs: int | str | None = None) -> list[list[Reference]]:
    """R lists of N texts, one per reference, None where a reference is missing; a DataError for anything else.

    Parameters
    ----------
    refs : to be checked. label : of the metric, for the error.
    n_refs : how many references it was made for: each segment must have so many, or none at all; VARIABLE or None: any.
    """
    if (
        refs is None
        or isinstance(refs, str)
        or not len(refs)
        or any(isinstance(stream, str) for stream in refs)
    ):
        raise DataError(
            "refs must be a list of streams, one list of N texts per reference, e.g. refs=[texts]."
        )
    named = {f"reference stream {r}": list(stream) for r, stream in enumerate(refs)}
    checks.same_length(**named)
    found = list(named.values())
    complete = not any(None in stream for stream in found)
    for name, stream in named.items():
        checks.texts(
            name, stream if complete else ["" if text is None else text for text in stream]
        )
    if n_refs not in (None, VARIABLE):
        _check_number(
            found, complete, f"this {label} was made for {n_refs} reference(s) per segment", n_refs
        )
    return found


def _check_number(
    found: list[list[Reference]], complete: bool, made: str, n_refs: int | str | None
) -> None:
    """A DataError where a segment with references has another number of them than the metric was made for."""
    if complete and len(found) != n_refs:
        raise DataError(f"{made}, but refs holds {len(found)} streams.")
    counts = np.array([]) if complete else _there(found).sum(0)
    if (odd := np.flatnonzero((counts > 0) & (counts != n_refs))).size:
        seen = f"segment {odd[0]} has {counts[odd[0]]}"
        raise DataError(
            f"{made}, but {seen}; make it with n_refs='{VARIABLE}', as `TestSet.n_refs` says."
        )


def referenced(refs: Sequence[Sequence[Reference]]) -> np.ndarray:
    """(N,) bool: the segment has at least one reference.

    >>> referenced([["a", None, None], ["b", "c", None]]).tolist()
    [True, True, False]
    """
    return _there(refs).any(0)


def _there(refs: Sequence[Sequence[Reference]]) -> np.ndarray:
    """(R, N) bool: the reference is not missing."""
    return np.array([[text is not None for text in stream] for stream in refs], dtype=bool)
