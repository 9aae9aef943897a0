"""Files with one number per line, such as a system's log-probabilities of its outputs; what such numbers look like."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import permutations
from os import PathLike

import numpy as np

from ..checks import LEAST_TOTAL, ROUNDING, too_low
from ..errors import DataError
from ..progress import note_once
from .lines import plain_number, table_lines

__all__ = [
    "columns_doubt",
    "far_out",
    "number_in",
    "read_logprobs",
    "read_numbers",
    "repeated_value",
]

FAR = 100  # times the median of a file's sums: a sentence that costs more is pointed out
WHOLE = 0.1  # how far from a whole number of tokens the ratio of a sum to a rounded mean may lie
FEW = 10  # sentences, below which numbers may be equal or in such a ratio by chance
# of the sentences with one score: more share it than any text has in the test sets of WMT and Europarl
MANY = 0.05


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
    if n is not None and len(lines) != n:
        raise DataError(
            f"has {len(lines)} line{'s' * (len(lines) != 1)}, and {n} are wanted, one per segment.",
            path,
        )
    return np.array([_number(line, path, i) for i, line in enumerate(lines, 1)], dtype=np.float64)


def read_logprobs(path: str | PathLike, n: int | None = None) -> np.ndarray:
    """(n,) summed natural-log probabilities, one per line, in nats, at most 0; "nan" is a missing one.

    A sentence that costs far more than most, and one score in many sentences, are told.

    Raises
    ------
    DataError as in `read_numbers`, and for a positive number or one lower than any model gives (`checks.too_low`), with
    its line.
    """
    values = read_numbers(path, n)
    for sentence in (*far_out(values), *repeated_value(values)):
        note_once(f"{path}: {sentence}")
    positive = np.flatnonzero(values > ROUNDING)
    if positive.size:
        value = values[positive[0]]
        sentence = (
            f"{value:g} is a probability above 1; are these negative log-probabilities? Turn their "
            "sign."
        )
        raise DataError(sentence, path, int(positive[0]) + 1)
    low = np.flatnonzero(values < LEAST_TOTAL)
    if low.size:
        value = values[low[0]]
        raise DataError(f"{value:.10g} {too_low(value)}", path, int(low[0]) + 1)
    return values


def number_in(word: str, path: str | PathLike, line: int) -> float:
    """The number that a word of a file is; a DataError, with what the word looks like, where it is none.

    Parameters
    ----------
    word : of a line, without white space. path, line : where it stands.
    """
    try:
        return plain_number(word)
    except ValueError:
        raise DataError(f"'{word}' is no number{_instead(word, line)}.", path, line) from None


def far_out(nats: np.ndarray) -> tuple[str, ...]:
    """A note where a sentence costs far more than most, as one with a masked or padded token among its scores does.

    Parameters
    ----------
    nats : (N,) sums of log-probabilities; nan: missing.
    """
    known = nats[~np.isnan(nats)]
    if not known.size or not known.min() < FAR * np.median(known) < 0:
        return ()
    i = int(np.nanargmin(nats))
    with np.errstate(over="ignore"):  # of a median of 1e-309, infinitely many
        times = known.min() / np.median(known)
    told = (
        f"sentence {i + 1} has {nats[i]:.6g} nats, {times:.0f} times the median of "
        f"{np.median(known):.4g}"
    )
    return (f"{told}: was a masked or padded token summed?",)


def repeated_value(scores: np.ndarray, texts: Sequence[str] | None = None) -> tuple[str, ...]:
    """A note where 10 sentences or more, and 1 of 20, have one and the same score, such as -99 for a missing one.

    Parameters
    ----------
    scores : (N,) in the unit of their file; nan and 0 are not counted (`score_doubts` tells of 0).
    texts : (N,) of the sentences, of which equal ones count once; None: unknown.
    """
    known = np.flatnonzero(~np.isnan(scores) & (scores != 0))
    least, given = max(FEW, MANY * len(scores)), scores[known]
    values, counts = np.unique(given, return_counts=True)
    if texts and values.size and counts.max() >= least:
        pairs = {(value, texts[k]) for value, k in zip(given.tolist(), known, strict=True)}
        values, counts = np.unique([value for value, _ in pairs], return_counts=True)
    if not values.size or counts.max() < least:
        return ()
    told = (
        f"{counts.max()} of {len(scores)} sentences have the same score, "
        f"{values[counts.argmax()]:.6g}"
    )
    return (f"{told}: does it stand for a missing one? Write nan.",)


def columns_doubt(rows: Sequence[Sequence[float]], path: str | PathLike) -> tuple[str, ...]:
    """A note where all of 10 sentences or more have equally many scores: columns, rather than as many tokens each.

    Parameters
    ----------
    rows : of each sentence its scores, as they stand in the file. path : of the file.

    Raises
    ------
    DataError where a column is another times a whole number that varies: a sum and its mean per token.
    """
    if len(rows) < FEW or len({len(row) for row in rows}) > 1:
        return ()
    table, k = np.asarray(rows, dtype=np.float64), len(rows[0])
    if k == 1:
        return (
            f"each of {len(rows)} sentences has one token: are these sums? A sum stands alone, not "
            "in a list.",
        )
    for i, j in permutations(range(min(k, 5)), 2):
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = table[:, i] / table[:, j]
        tokens = np.round(ratio)
        if len(set(tokens)) >= 3 and tokens.min() >= 1 and (np.abs(ratio - tokens) <= WHOLE).all():
            seen = f"(first {rows[0][i]:g} and {rows[0][j]:g})"
            told = f"a sum and its mean per token {seen} stand in each of {len(rows)} rows"
            raise DataError(
                f"{told}, and would be added as scores of tokens; give the sums alone.", path
            )
    return (
        f"each of {len(rows)} sentences has {k} numbers, which are added as scores of {k} tokens: "
        "are they?",
    )


def _number(text: str, path: str | PathLike, line: int) -> float:
    try:
        value = plain_number(text)
    except ValueError:
        value = math.inf
    if math.isinf(value):
        told = _instead(text, line) or "; write nan where there is none"
        raise DataError(f"'{text}' is no finite number{told}.", path, line)
    return value


def _instead(word: str, line: int) -> str:
    """What a word that is no number looks like, and what to do; "" for any other."""
    if re.fullmatch(r"[+-]?\d+,\d+", word, re.ASCII):
        return ": a decimal comma? Write a decimal point"
    if "," in word or ";" in word or (line == 1 and word.isidentifier()):
        return ": a table, or its header? Give the numbers alone, a line per sentence"
    return ""
