"""Log-probabilities of sentences under two models: their unit, and their tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError

UNITS = {"nats": 1 / math.log(2), "bits": 1.0, "log10": math.log2(10)}  # bits in one of each

Tokens = Sequence[int] | Sequence[Sized | None] | Sequence[int | Sized | None]


def in_bits(name: str, logprobs: ArrayLike, unit: str) -> np.ndarray:
    """(n,) surprisal of each sentence, -log2 q, in bits, at least 0; nan if missing.

    Parameters
    ----------
    logprobs : (n,) log q, at most 0.

    Raises
    ------
    DataError : with its line, a positive or infinite log-probability. UnknownName : the unit.

    >>> in_bits("lm", [-2.0, 0.0], "bits").tolist()
    [2.0, 0.0]
    """
    factor = UNITS[checks.one_of(unit, UNITS, "unit")]
    logs = np.asarray(logprobs, dtype=np.float64)
    if logs.ndim != 1:
        raise DataError(f"got shape {logs.shape}, expected a flat array, one sum each.", name)
    if (bad := np.flatnonzero((logs > checks.ROUNDING) | np.isinf(logs))).size:
        message = f"got {logs[bad[0]]:g}, expected a finite log-probability ≤ 0, or nan."
        raise DataError(message, name, int(bad[0]) + 1)
    return np.maximum(-logs, 0.0) * factor


def same_tokens(mt: Tokens, lm: Tokens, scored: np.ndarray) -> None:
    """Raise a DataError for the first sentence whose tokens differ between two models.

    Parameters
    ----------
    mt, lm : (n,) per sentence the number of tokens, or the tokens; None: unknown, not compared.
    scored : (n,) bool, the sentences to compare.
    """
    checks.same_length(mt_tokens=mt, lm_tokens=lm, logprobs=scored)
    for i in np.flatnonzero(scored):
        a, b = mt[i], lm[i]
        if a is None or b is None:
            continue
        texts = isinstance(a, Sequence) and isinstance(b, Sequence)
        if (list(a) != list(b)) if texts else (_number(a) != _number(b)):
            message = f"sentence {i + 1}: mt has {_number(a)} tokens, lm {_number(b)}, expected "
            raise DataError(message + "the same tokens. Use per_character (--per-char).")


def token_counts(tokens: tuple[Tokens, ...] | None, scored: np.ndarray) -> np.ndarray:
    """(n,) number of tokens of each sentence, from the first model that has it; nan: not scored.

    Parameters
    ----------
    tokens : of each model, as in `same_tokens`.

    Raises
    ------
    DataError : a scored sentence whose tokens are unknown.
    """
    counts = np.full(len(scored), np.nan)
    for i in np.flatnonzero(scored):
        known = next((side[i] for side in tokens or () if side[i] is not None), None)
        if known is None:
            message = f"the published count needs the number of tokens of sentence {i + 1}"
            raise DataError(f"{message}. Give scores per token, or count 'all'.")
        counts[i] = _number(known)
    return counts


def _number(tokens: int | Sized) -> int:
    return len(tokens) if isinstance(tokens, Sized) else int(tokens)
