"""The fields of the schema's frozen sets: each checked as it is set, or a DataError that says what was seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import LEAST_TOTAL, ROUNDING, too_low
from ..errors import DataError

__all__ = [
    "CATEGORIES", "agreed", "categories", "first_repeat", "frozen", "logprobs", "multiplicities", "pick", "put", "rows",
    "texts",
]  # fmt: skip

CATEGORIES = ("LLM", "MT", "online", "human", "unknown")
"""What kind of translator a system is."""


def put(value: object, name: str, content: object) -> None:
    """Set a field of a frozen dataclass while it is being made.

    Parameters
    ----------
    value : the instance. content : of its field.
    """
    object.__setattr__(value, name, content)


def frozen(values: np.ndarray) -> np.ndarray:
    """The array, which can no longer be written to.

    Parameters
    ----------
    values : (n,) or of any other shape.
    """
    values.flags.writeable = False
    return values


def multiplicities(given: ArrayLike | None, n: int) -> np.ndarray:
    """(n,) whole numbers >= 1, or a DataError.

    Parameters
    ----------
    given : n numbers; None: 1 each.
    """
    if given is None:
        return np.ones(n, np.int64)
    values = np.asarray(given)
    if values.shape != (n,) or (n and not np.issubdtype(values.dtype, np.integer)):
        raise DataError(f"multiplicity must be {n} whole numbers, got shape {values.shape} of {values.dtype}.")
    if (bad := np.flatnonzero(values < 1)).size:
        raise DataError(f"multiplicity of candidate {bad[0]} is {values[bad[0]]}; what was drawn, was at least once.")
    return values.astype(np.int64)


def logprobs(given: ArrayLike | None, n: int) -> np.ndarray:
    """(n,) numbers that are at most 0, but for rounding, and that a model may give, or nan; else a DataError.

    Parameters
    ----------
    given : n numbers; None: nan each.
    """
    if given is None:
        return np.full(n, np.nan)
    values = np.array(given, dtype=np.float64)
    if values.shape != (n,):
        raise DataError(f"logprob must be {n} numbers, got shape {values.shape}.")
    if (bad := np.flatnonzero((values > ROUNDING) | np.isinf(values))).size:
        raise DataError(f"logprob of candidate {bad[0]} is {values[bad[0]]}; a log-probability is at most 0, or nan.")
    if (bad := np.flatnonzero(values < LEAST_TOTAL)).size:
        raise DataError(f"logprob of candidate {bad[0]} is {values[bad[0]]:.10g}, which {too_low(values[bad[0]])}")
    return values


def agreed(values: np.ndarray) -> float:
    """The value that all known entries share; nan where they differ or none is known.

    Parameters
    ----------
    values : (n,) numbers, nan where unknown.
    """
    distinct = np.unique(values[~np.isnan(values)])
    return float(distinct[0]) if len(distinct) == 1 else np.nan


def pick(texts: Sequence[str], rows: np.ndarray) -> tuple[str, ...]:
    """The texts at these positions.

    Parameters
    ----------
    rows : (k,) positions.
    """
    return tuple(texts[i] for i in rows)


def texts(name: str, values: Iterable[str], n: int) -> tuple[str, ...]:
    """A tuple of n strings, or a DataError naming what was seen.

    Parameters
    ----------
    values : to be checked. n : how many are wanted.
    """
    if isinstance(values, str):
        raise DataError(f"{name} is one text, and a sequence of {n} is wanted.")
    texts = tuple(values)
    if len(texts) != n:
        raise DataError(f"{name} has {len(texts)} entries, but there are {n}; they must align.")
    checks.texts(name, texts)
    return texts


def categories(given: Mapping[str, str], systems: Iterable[str]) -> dict[str, str]:
    """The category of each system, in the order of the systems.

    Parameters
    ----------
    given : name -> category; who is not in it is "unknown".
    """
    systems = list(systems)
    for name, category in given.items():
        checks.one_of(name, systems, "system")
        checks.one_of(category, CATEGORIES, "category")
    return {name: given.get(name, "unknown") for name in systems}


def rows(index: ArrayLike | slice, n: int, what: str = "segments") -> np.ndarray:
    """Positions of an index into n segments, or others.

    Parameters
    ----------
    index : (k,) positions, a mask (n,), or a slice. what : is indexed, for the error.
    """
    if not isinstance(index, slice):
        index = np.asarray(index)
        index = index if index.size else index.astype(np.int64)
    try:
        return np.atleast_1d(np.arange(n)[index])
    except IndexError as error:
        raise DataError(f"no such {what}, there are 0 to {n - 1} ({error}).", "index") from None


def first_repeat(ids: Iterable[str]) -> str:
    """The first id that came before."""
    seen: set[str] = set()
    for i in ids:
        if i in seen:
            return i
        seen.add(i)
    raise ValueError("no id comes twice")
