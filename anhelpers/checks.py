"""Validators: each returns the cleaned value, or raises with the value seen."""

from collections.abc import Iterable, Sequence, Sized
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .errors import DataError, UnknownName

LARGEST_SEED = 2**63 - 1  # of torch
_MOST_DRAWS = 10_000_000
ROUNDING = 1e-5  # of a sum of log-probabilities in float32, above 0
LEAST_LOGPROB = -1e100  # the squares of sums of smaller ones may be infinite
# smaller numbers have fewer than 15 digits
LEAST_RANGE = float(np.finfo(np.float64).tiny)
LARGEST_SCORE = 1e302  # the sum of 10^6 of them is still a float64
_TOLERANCE = 1e-9  # of probabilities that add up to 1


def same_length(**named: Sized) -> int:
    """The common length of all arguments."""
    lists = {k: getattr(v, "ndim", not isinstance(v, str)) for k, v in named.items()}
    lengths = {k: len(v) if lists[k] else None for k, v in named.items()}
    n = next(iter(lengths.values()))
    if n is None or len(set(lengths.values())) > 1:
        said = ", ".join(f"{k} has {'no list' if n is None else n}" for k, n in lengths.items())
        raise DataError(f"lengths differ: {said}; they must align.")
    return n


def texts(name: str, values: Sequence[str]) -> Sequence[str]:
    """The same list of texts."""
    single = isinstance(values, str)
    wrong = [values] if single else [value for value in values if not isinstance(value, str)]
    if wrong:
        raise DataError(f"{name}: got {wrong[0]!r:.60}, expected a list of texts.")
    return values


def one_of(value: str, known: Iterable[str], kind: str, hint: str = "") -> str:
    """`value` if it is known, else UnknownName with the nearest name."""
    known = list(known)
    if value not in known:
        raise UnknownName(kind, value, known, hint)
    return value


def some(mask: np.ndarray, message: str) -> np.ndarray:
    """The same bool array; without any True a DataError with this message."""
    if not mask.any():
        raise DataError(message)
    return mask


def _names(values: Sequence | np.ndarray) -> np.ndarray:
    """(n,) names, such as of documents; one of several parts (a tuple, a row) becomes a text.

    >>> _names(["a", "b"]).tolist(), _names([("a", 1), ("a", 2)])[0] == _names([["a", 1]])[0]
    (['a', 'b'], True)
    """
    parts = list | tuple | np.ndarray
    listed = values if isinstance(values, list | tuple) else np.asarray(values)
    if not any(isinstance(one, parts) for one in listed):
        return np.asarray(values)
    return np.array(["\x1f".join(map(str, np.atleast_1d(one))) for one in listed])


def segment_ids(segment: ArrayLike, n_segments: int | None = None) -> np.ndarray:
    """(n,) int64 ids of the segment of each candidate: non-negative, below `n_segments`."""
    ids = np.asarray(segment)
    flat = ids.ndim == 1 and (not ids.size or np.issubdtype(ids.dtype, np.integer))
    end = 2**63 if n_segments is None else n_segments
    bad = np.flatnonzero((ids < 0) | (ids >= end)) if flat else None
    if bad is None or bad.size:
        got = f"{ids.dtype} of shape {ids.shape}" if bad is None else f"{ids[bad[0]]} at {bad[0]}"
        raise DataError(f"segment ids: got {got}, expected flat integers from 0 to {end - 1}.")
    return ids.astype(np.int64, copy=False)


def finite(name: str, values: ArrayLike, shape: Sequence[int | None] = (None,)) -> np.ndarray:
    """(...) finite float64 numbers of this shape; None in `shape` is any length from 1 on."""
    x = np.asarray(values, dtype=np.float64)
    fits = x.ndim == len(shape) and all(
        n > 0 if want is None else n == want for n, want in zip(x.shape, shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("≥ 1" if want is None else str(want) for want in shape)
        raise DataError(f"{name} must have shape ({wanted}), got {x.shape}.")
    if len(bad := np.argwhere(~np.isfinite(x))):
        at = ", ".join(map(str, bad[0].tolist()))
        raise DataError(f"{name}[{at}] is {x[tuple(bad[0])]} ({len(bad)} of {x.size} not finite).")
    return x


def symmetric(name: str, matrix: ArrayLike, n: int | None = None) -> np.ndarray:
    """(Y, Y) finite float64, symmetric within 1e-9 of its largest number."""
    k = finite(name, matrix, (n, n))
    if k.shape[0] != k.shape[1] or np.abs(k - k.T).max() > _TOLERANCE * np.abs(k).max():
        raise DataError(f"{name} must be square and symmetric, got shape {k.shape}.")
    return k


def finite_scores(name: str, scores: ArrayLike, segment: Sequence[int] | np.ndarray) -> np.ndarray:
    """(n,) float64 scores in [-1e302, 1e302], one per entry of `segment`."""
    values = np.ascontiguousarray(scores, dtype=np.float64)
    if values.shape != (len(segment),):
        raise DataError(f"{name}: got shape {values.shape}, expected ({len(segment)},).")
    if (bad := np.flatnonzero(~(np.abs(values) <= LARGEST_SCORE))).size:
        where = f"{name} of segment {segment[bad[0]]} (flat index {bad[0]})"
        raise DataError(f"{where} is {values[bad[0]]} ({bad.size} of {values.size}). Drop them.")
    return values


def logprobs(name: str, values: ArrayLike) -> np.ndarray:
    """(n,) float64 log-probabilities, each nan (missing) or in [-1e100, 0], rounding aside."""
    logs = np.asarray(values, dtype=np.float64)
    bad = np.flatnonzero((logs > ROUNDING) | (logs < LEAST_LOGPROB))[:1].tolist()
    if logs.ndim != 1 or bad:
        got = f"{logs.flat[bad[0]]:g}" if bad else f"shape {logs.shape}"
        message = f"got {got}, expected finite log-probabilities ≤ 0, or nan, one per sentence."
        raise DataError(message, name, bad[0] + 1 if bad else None)
    return logs


def non_negative(name: str, value: float, most: float = np.inf) -> float:
    """A number in [0, `most`]."""
    number = float(value)
    if not 0 <= number <= most:
        raise DataError(f"{name} must be in [0, {most}], got {value}.")
    return number


def whole(name: str, value: object, least: int = 1, most: int = _MOST_DRAWS) -> int:
    """A whole number in [least, most]; 1000.0 is one, True, '7' and 0.5 are none."""
    number: Any = value if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    if not (least <= number <= most and number == int(number)):
        raise DataError(f"{name} must be a whole number from {least} to {most}, got {value!r:.60}.")
    return int(number)


def pmf(name: str, probabilities: ArrayLike) -> np.ndarray:
    """(Y,) float64 probabilities ≥ 0 that add up to 1 within 1e-9 (1e-6 if in float32), divided by their sum."""
    slack = 1e-6 if np.asarray(probabilities).dtype == np.float32 else _TOLERANCE
    p = finite(name, probabilities)
    if p.min() < 0 or abs((total := p.sum()) - 1) > slack:
        got = f"{p.min():g}" if p.min() < 0 else f"a sum of {total:.10g}"
        raise DataError(f"{name}: got {got}, expected probabilities ≥ 0 with sum 1.")
    return p / total


def pmf_pair(q: ArrayLike, r: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Two distributions over the same Y outcomes, each as `pmf` returns it."""
    q, r = pmf("q", q), pmf("r", r)
    same_length(q=q, r=r)
    return q, r
