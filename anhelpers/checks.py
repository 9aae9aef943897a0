"""Validators: each returns the cleaned value, or says in one sentence what was seen and what is wanted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence, Sized
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .errors import DataError, UnknownName

__all__ = [
    "LARGEST_SCORE",
    "LARGEST_SEED",
    "LEAST_RANGE",
    "LEAST_TOKEN",
    "LEAST_TOTAL",
    "MOST_DRAWS",
    "PLACE",
    "ROUNDING",
    "a_kind",
    "draws_that_fit",
    "finite",
    "finite_scores",
    "held_range",
    "local_path",
    "non_negative",
    "one_of",
    "pmf",
    "pmf_pair",
    "same_length",
    "segment_ids",
    "symmetric",
    "texts",
    "too_low",
    "whole",
]


def __dir__() -> list[str]:
    return __all__


LARGEST_SEED = 2**63 - 1  # torch takes no larger one
MOST_DRAWS = 10_000_000  # resamples; an interval's ends move in the fourth digit from 100,000 on
# a sum of log-probabilities in float32 may come out this much above 0 for a certain output
ROUNDING = 1e-5
# nats: ln 2^-1074, the smallest probability above 0 that a float64 holds
LEAST_TOKEN = -744.4400719213812
# nats of a whole text: 100,000 tokens, each guessed among 22,000 equally likely ones (10 nats)
LEAST_TOTAL = -1e6
LEAST_RANGE = float(np.finfo(np.float64).tiny)  # numbers nearer to 0 have fewer than 15 digits
LARGEST_SCORE = 1e302  # the sum of 10^6 of them is still a float64
SUM_TOLERANCE = 1e-9  # how far from 1 the probabilities of a distribution may add up


def same_length(**named: Sized) -> int:
    """The common length of all arguments; a DataError names those that differ."""
    for name, value in named.items():
        if getattr(value, "ndim", 1) == 0:
            raise DataError(f"{name} is a single number; give one for each.")
    lengths = {name: len(value) for name, value in named.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(
            "lengths differ: "
            + ", ".join(f"{n} has {k}" for n, k in lengths.items())
            + "; they must align."
        )
    return next(iter(lengths.values()))


def too_low(nats: float, least: float = LEAST_TOTAL) -> str:
    """The end of a sentence about a natural-log probability that no model gives; an empty text for any other.

    Scorers write such numbers, -1e9 or the lowest of a float, where they mask or pad, and where a score is missing.
    The two limits are generous on purpose: what lies below them is no measurement, what lies above may be one.

    Parameters
    ----------
    nats : of a token or a text. least : LEAST_TOKEN for one token, LEAST_TOTAL for a text.

    >>> too_low(-900.0), too_low(-1e9)[:31]
    ('', 'is lower than any model gives a')
    """
    if not nats < least:
        return ""
    what = "token" if least == LEAST_TOKEN else "text"
    bound = f"the limit is {least:.6g} nats"
    return (
        f"is lower than any model gives a {what} ({bound}): a mask or padding? Write nan where a "
        "score is missing."
    )


def texts(name: str, values: Sequence[str]) -> Sequence[str]:
    """The same list; a DataError for a lone text, or naming the first value that is no text.

    Parameters
    ----------
    name : of the argument, for the error. values : to be checked.
    """
    if isinstance(values, str):
        raise DataError(f"{name} is a single text; give a list of texts.")
    if set(map(type, values)) - {str}:
        for i, value in enumerate(values):
            if not isinstance(value, str):
                raise DataError(f"text {i} of {name} is {value!r}, not a text.")
    return values


def a_kind(value: object, kinds: type | tuple[type, ...], what: str) -> None:
    """A DataError where a value is not of these kinds, before it ends in the depths of a library.

    Parameters
    ----------
    what : the argument and what it is, as the beginning of a sentence: "test is a TestSet, as an.load gives".
    """
    if not isinstance(value, kinds):
        raise DataError(f"{what}, and not {value!r:.60}.")


PLACE = (str, PathLike)


def one_of(value: str, known: Iterable[str], kind: str) -> str:
    """`value` if it is known, else UnknownName with the nearest name.

    Parameters
    ----------
    known : all names. kind : what they name, for the error.
    """
    known = list(known)
    if value not in known:
        raise UnknownName(kind, value, known)
    return value


def segment_ids(segment: ArrayLike, n_segments: int | None = None) -> np.ndarray:
    """(n,) int64 ids of the segment to which each candidate belongs; non-negative and below `n_segments`."""
    ids = np.asarray(segment)
    if ids.ndim != 1 or (ids.size and not np.issubdtype(ids.dtype, np.integer)):
        raise DataError(
            f"segment ids must be a flat array of integers, got shape {ids.shape} of {ids.dtype}."
        )
    if ids.size and (ids.min() < 0 or (n_segments is not None and ids.max() >= n_segments)):
        bad = int(
            np.flatnonzero(
                (ids < 0) | (ids >= (n_segments if n_segments is not None else ids.max() + 1))
            )[0]
        )
        there = (
            "segments count from 0"
            if n_segments is None
            else f"there are segments 0 to {n_segments - 1}"
        )
        raise DataError(f"candidate {bad} names segment {ids[bad]}, but {there}.")
    return ids.astype(np.int64, copy=False)


def finite(name: str, values: ArrayLike, shape: Sequence[int | None] = (None,)) -> np.ndarray:
    """(...) float64 numbers of this shape, all finite; else a DataError naming the shape, or the first bad value.

    Parameters
    ----------
    name : of the argument, for the error. values : (...) to be checked. shape : None stands for any length from 1 on.
    """
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != len(shape) or any(
        n == 0 if want is None else n != want for n, want in zip(x.shape, shape, strict=True)
    ):
        wanted = ", ".join("≥ 1" if want is None else str(want) for want in shape)
        raise DataError(f"{name} must have shape ({wanted}), got {x.shape}.")
    bad = np.argwhere(~np.isfinite(x))
    if len(bad):
        at = tuple(bad[0].tolist())
        raise DataError(
            f"{name}[{', '.join(map(str, at))}] is {x[at]} ({len(bad)} such of {x.size}): leave "
            "it out, numbers must be finite."
        )
    return x


def held_range(name: str, values: np.ndarray) -> np.ndarray:
    """The same finite numbers; a DataError where their range is no float64, or so small that its digits are lost.

    Parameters
    ----------
    name : of the argument, for the error. values : (...) to be checked.
    """
    lowest, highest = float(values.min()), float(values.max())
    if not (lowest == highest or LEAST_RANGE <= highest - lowest < np.inf):
        raise DataError(
            f"the range of {name}, from {lowest:g} to {highest:g}, does not fit into a float64; "
            "change the unit."
        )
    return values


def symmetric(name: str, matrix: ArrayLike, n: int | None = None) -> np.ndarray:
    """(Y, Y) float64, finite, and the same as its transpose within 1e-9 of its largest number; else a DataError.

    Parameters
    ----------
    name : of the argument, for the error. matrix : to be checked. n : Y, where it is known.
    """
    k = finite(name, matrix, (n, n))
    if k.shape[0] != k.shape[1]:
        raise DataError(f"{name} must be square, got shape {k.shape}.")
    apart = np.abs(k - k.T)
    if apart.max() > SUM_TOLERANCE * np.abs(k).max():
        i, j = np.unravel_index(int(apart.argmax()), k.shape)
        raise DataError(
            f"{name} must be symmetric, but [{i}, {j}] is {k[i, j]} and [{j}, {i}] is {k[j, i]}."
        )
    return k


def finite_scores(name: str, scores: ArrayLike, segment: Sequence[int] | np.ndarray) -> np.ndarray:
    """(n,) float64 scores in [-1e302, 1e302]; otherwise a DataError naming the first bad segment and candidate."""
    values = np.ascontiguousarray(scores, dtype=np.float64)
    if values.ndim != 1:
        raise DataError(f"{name} must be a flat array, got shape {values.shape}.")
    same_length(**{name: values, "segment": segment})
    bad = np.flatnonzero(~(np.abs(values) <= LARGEST_SCORE))
    if bad.size:
        i = int(bad[0])
        wanted = "scores must be finite"
        if np.isfinite(values[i]):
            wanted = f"or change the unit, so that none is beyond {LARGEST_SCORE:g}"
        k = int(np.count_nonzero(np.asarray(segment)[:i] == segment[i]))
        raise DataError(
            f"{name} of segment {segment[i]}, its candidate {k} (flat index {i}) is {values[i]}; "
            f"{bad.size} such of {values.size}: drop those candidates, {wanted}."
        )
    return values


def non_negative(name: str, value: float) -> float:
    """A number in [0, ∞]; nan and negative numbers are refused.

    Parameters
    ----------
    name : of the argument, for the error. value : to be checked.
    """
    number = float(value)
    if not number >= 0:
        raise DataError(f"{name} must be in [0, inf], got {value}.")
    return number


def whole(name: str, value: object, least: int = 1, most: int = MOST_DRAWS) -> int:
    """A whole number in [least, most], as an int; 1000.0 is one, True, '7' and 0.5 are none.

    Parameters
    ----------
    name : of the argument, for the error. value : to be checked. least, most : the smallest and the largest allowed.
    """
    number: Any = value if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    if not (least <= number <= most and number == int(number)):
        raise DataError(f"{name} must be a whole number from {least} to {most}, got {value!r:.60}.")
    return int(number)


def local_path(name: str | Path) -> Path:
    """A name as a path, ~ being the user's folder; a DataError where there is no such user."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise DataError("no such user is known here; write the whole path.", name) from None


def draws_that_fit(n_draws: int, m: int) -> int:
    """The number of resamples itself; a DataError where it is none, or more than this machine's memory takes.

    Parameters
    ----------
    m : numbers of 8 bytes that one resample needs, such as how often each of m documents is drawn.
    """
    n_draws = whole("n_draws", n_draws)
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # a system that does not tell
        return n_draws
    # the draws may take half of it: as much is made of them
    if n_draws > (most := memory // (16 * m)):
        raise DataError(
            f"{n_draws:,} resamples of {m:,} numbers each do not fit into the memory of this "
            f"machine; at most {most:,} do: take fewer draws."
        )
    return n_draws


def pmf(name: str, probabilities: ArrayLike) -> np.ndarray:
    """(Y,) float64 probabilities, each finite and >= 0, that add up to 1 within 1e-9; then divided by their sum."""
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 1 or not p.size:
        raise DataError(f"{name} must be a flat array of probabilities, got shape {p.shape}.")
    bad = np.flatnonzero(~(np.isfinite(p) & (p >= 0)))
    if bad.size:
        raise DataError(
            f"{name}[{bad[0]}] is {p[bad[0]]}: probabilities must be finite and not negative."
        )
    total = p.sum()
    if abs(total - 1) > SUM_TOLERANCE:
        raise DataError(
            f"{name} adds up to {total:.10g}: divide by the sum, probabilities must add up to 1."
        )
    return p / total


def pmf_pair(
    q: ArrayLike, r: ArrayLike, names: tuple[str, str] = ("q", "r")
) -> tuple[np.ndarray, np.ndarray]:
    """Two distributions over the same Y outcomes, each as `pmf` returns it.

    Parameters
    ----------
    q, r : (Y,) probabilities. names : of the two, for errors.
    """
    q, r = pmf(names[0], q), pmf(names[1], r)
    same_length(**{names[0]: q, names[1]: r})
    return q, r
