"""Checks of the log-probabilities of two models for the same sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import LEAST_TOTAL, ROUNDING, too_low
from ..errors import DataError

UNITS = {"nats": 1 / math.log(2), "bits": 1.0, "log10": math.log2(10)}  # bits in one of each

Tokens = Sequence[int] | Sequence[Sized | None] | Sequence[int | Sized | None]


def in_bits(name: str, logprobs: ArrayLike, unit: str) -> np.ndarray:
    """(n,) the surprisal of each sentence, -log2 q, in bits, at least 0; nan where it is missing.

    Parameters
    ----------
    logprobs : (n,) log q, at most 0.

    Raises
    ------
    DataError with the line of a positive or infinite log-probability, or of one lower than any model gives
    (`checks.too_low`); UnknownName for the unit.

    >>> in_bits("lm", [-2.0, 0.0], "bits").tolist()
    [2.0, 0.0]
    """
    factor = UNITS[checks.one_of(unit, UNITS, "unit")]
    logs = np.asarray(logprobs, dtype=np.float64)
    if logs.ndim != 1:
        raise DataError(
            f"log-probabilities have shape {logs.shape}: give a flat array, one sum per sentence.",
            name,
        )
    nats = factor * math.log(2)  # in one of the unit
    bad = np.flatnonzero((logs > ROUNDING) | (logs * nats < LEAST_TOTAL))
    if bad.size and logs[bad[0]] > 0:
        sentence = (
            f"{logs[bad[0]]:g} is a probability above 1; are these negative log-probabilities? "
            "Turn their sign."
        )
        raise DataError(sentence, name, int(bad[0]) + 1)
    if bad.size and np.isfinite(logs[bad[0]]):
        raise DataError(
            f"{logs[bad[0]]:.10g} {too_low(logs[bad[0]] * nats)}", name, int(bad[0]) + 1
        )
    if bad.size:
        raise DataError(
            "-inf makes the cross-entropy infinite; write nan to leave the sentence out.",
            name,
            int(bad[0]) + 1,
        )
    return np.maximum(-logs, 0.0) * factor


def same_tokens(mt: Tokens, lm: Tokens, there: np.ndarray) -> None:
    """A DataError names the first sentence that the two models cut into different tokens.

    Parameters
    ----------
    mt, lm : (n,) per sentence the number of tokens, or the tokens; None where they are unknown, which is not compared.
    there : (n,) bool, the sentences that both models scored.
    """
    checks.same_length(mt_tokens=mt, lm_tokens=lm, logprobs=there)
    for i in np.flatnonzero(there):
        a, b = mt[i], lm[i]
        if a is None or b is None:
            continue
        seen = _differ(a, b)
        if seen:
            raise DataError(
                f"the two models do not score the same token sequence: sentence {i + 1} {seen}; "
                "XMI per sentence needs one tokenizer; per_character (--per-char) is for two."
            )


def _differ(a: int | Sequence[str], b: int | Sequence[str]) -> str:
    """What differs, or an empty text."""
    n, m = (len(v) if isinstance(v, Sized) else int(v) for v in (a, b))
    if n != m:
        return f"has {n} tokens under mt and {m} under lm"
    if not (isinstance(a, Sized) and isinstance(b, Sized)):
        return ""
    odd = next((k for k in range(n) if a[k] != b[k]), None)
    return (
        "" if odd is None else f"has '{a[odd]}' under mt and '{b[odd]}' under lm as token {odd + 1}"
    )


def token_counts(tokens: tuple[Tokens, ...] | None, there: np.ndarray) -> np.ndarray:
    """(N,) how many tokens each sentence has, its end included, from whichever model tells; nan where not scored.

    Parameters
    ----------
    tokens : of each model, as in `same_tokens`; None: unknown. there : (N,) bool, the sentences that are scored.

    Raises
    ------
    DataError names the first scored sentence whose tokens no model tells.
    """
    n_tokens = np.full(len(there), np.nan)
    for i in np.flatnonzero(there):
        known = next((side[i] for side in tokens or () if side[i] is not None), None)
        if known is None:
            told = (
                f"the tokens of sentence {i + 1} are not known, and the published count needs them"
            )
            raise DataError(f"{told}: give scores per token, or take count 'all'.")
        n_tokens[i] = len(known) if isinstance(known, Sized) else int(known)
    return n_tokens
