"""Files with one number per line, such as a system's log-probabilities of its outputs."""

from __future__ import annotations

import math
from os import PathLike

import numpy as np

from ..checks import LEAST_TOTAL, ROUNDING, too_low
from ..errors import DataError
from ..progress import note_once
from .lines import plain_number, table_lines
from .plain import without_blank_end

__all__ = ["read_logprobs", "read_numbers"]


def read_numbers(path: str | PathLike, n: int | None = None) -> np.ndarray:
    """(n,) float64, one number per line; "nan" is a missing one.

    Parameters
    ----------
    n : how many lines there must be, blank ones at the end aside, which a note counts; None: any number.

    Raises
    ------
    DataError with file and line for anything but a finite number or nan; with the file for another number of lines.
    """
    lines = table_lines(path)
    if n is not None:
        lines, notes = without_blank_end(lines, n, path)
        for sentence in notes:
            note_once(sentence)
    if n is not None and len(lines) != n:
        raise DataError(f"has {len(lines)} line{'s' * (len(lines) != 1)}, and {n} are wanted, one per segment.", path)
    return np.array([_number(line, path, i) for i, line in enumerate(lines, 1)], dtype=np.float64)


def read_logprobs(path: str | PathLike, n: int | None = None) -> np.ndarray:
    """(n,) summed natural-log probabilities, one per line, in nats, at most 0; "nan" is a missing one.

    Raises
    ------
    DataError as in `read_numbers`, and for a positive number or one lower than any model gives (`checks.too_low`), with
    its line.
    """
    values = read_numbers(path, n)
    positive = np.flatnonzero(values > ROUNDING)
    if positive.size:
        value = values[positive[0]]
        sentence = f"{value:g} is a probability above 1; are these negative log-probabilities? Turn their sign."
        raise DataError(sentence, path, int(positive[0]) + 1)
    low = np.flatnonzero(values < LEAST_TOTAL)
    if low.size:
        value = values[low[0]]
        raise DataError(f"{value:.10g} {too_low(value)}", path, int(low[0]) + 1)
    return values


def _number(text: str, path: str | PathLike, line: int) -> float:
    try:
        value = plain_number(text)
    except ValueError:
        value = math.inf
    if math.isinf(value):
        raise DataError(f"'{text}' is no finite number; write nan where there is none.", path, line)
    return value
