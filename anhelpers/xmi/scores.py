"""What two models' scores of the same sentences must fulfil before they may be compared."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import LEAST_TOTAL, ROUNDING, too_low
from ..errors import DataError

__all__ = ["UNITS", "in_bits", "same_tokens", "token_counts", "unit_doubt"]

UNITS = {"nats": 1 / math.log(2), "bits": 1.0}  # bits in one of each

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
        raise DataError(f"log-probabilities have shape {logs.shape}: give a flat array, one sum per sentence.", name)
    nats = factor * math.log(2)  # in one of the unit
    bad = np.flatnonzero((logs > ROUNDING) | (logs * nats < LEAST_TOTAL))
    if bad.size and logs[bad[0]] > 0:
        sentence = f"{logs[bad[0]]:g} is a probability above 1; are these negative log-probabilities? Turn their sign."
        raise DataError(sentence, name, int(bad[0]) + 1)
    if bad.size and np.isfinite(logs[bad[0]]):
        raise DataError(f"{logs[bad[0]]:.10g} {too_low(logs[bad[0]] * nats)}", name, int(bad[0]) + 1)
    if bad.size:
        raise DataError("-inf makes the cross-entropy infinite; write nan to leave the sentence out.",
                        name, int(bad[0]) + 1)  # fmt: skip
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
            raise DataError(f"the two models do not score the same token sequence: sentence {i + 1} {seen}; XMI per "
                            "sentence needs one tokenizer; per_character (--per-char) is for two.")  # fmt: skip


def _differ(a: int | Sequence[str], b: int | Sequence[str]) -> str:
    """What differs, or an empty text."""
    n, m = (len(v) if isinstance(v, Sized) else int(v) for v in (a, b))
    if n != m:
        return f"has {n} tokens under mt and {m} under lm"
    if not (isinstance(a, Sized) and isinstance(b, Sized)):
        return ""
    odd = next((k for k in range(n) if a[k] != b[k]), None)
    return "" if odd is None else f"has '{a[odd]}' under mt and '{b[odd]}' under lm as token {odd + 1}"


def unit_doubt(logprobs: ArrayLike, counts: ArrayLike | Sequence[int | None], n_vocab: int, unit: str = "nats") -> str:
    """A warning, as one sentence, if a model needs more bits per token than a uniform guess; else an empty text.

    That is what base-2 scores taken for natural ones may look like, for they come out 1.44 times too large. The
    opposite, natural scores taken for base-2 ones, gives numbers that are too small, and no number tells that: a
    better model would look the same. Nothing is said below the uniform guess, whatever the unit.

    Parameters
    ----------
    logprobs, counts : (n,) summed log-probabilities and the number of tokens; a sentence without one of them (nan,
        None or no token) is left out. n_vocab : size of the vocabulary.

    >>> unit_doubt([-6.0], [2], n_vocab=10)
    '4.33 bits per token are more than a uniform guess over 10 tokens costs (3.32): is the unit really nats?'
    """
    bits, counts = in_bits("logprobs", logprobs, unit), np.asarray(counts, dtype=np.float64)
    checks.same_length(logprobs=bits, counts=counts)
    there = ~np.isnan(bits) & (counts > 0)
    if not there.any():
        return ""
    mean, guess = float(bits[there].sum() / counts[there].sum()), math.log2(n_vocab)
    if mean <= guess:
        return ""
    return (
        f"{mean:.2f} bits per token are more than a uniform guess over {n_vocab} tokens costs ({guess:.2f}): "
        f"is the unit really {unit}?"
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
            told = f"the tokens of sentence {i + 1} are not known, and the published count needs them"
            raise DataError(f"{told}: give scores per token, or take count 'all'.")
        n_tokens[i] = len(known) if isinstance(known, Sized) else int(known)
    return n_tokens
