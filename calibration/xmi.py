"""Cross-mutual information: intervals of XMI, of the difference of two directions, and of means over trainings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from anhelpers.xmi import mean_over_trainings, training_spread, xmi, xmi_difference

from .row import Row

__all__ = ["rows"]

DRAWS = 400
TOKENS = 20.0
"""Mean tokens of a sentence, each of which costs the language model 4 bits and the translation model 1.5 on average."""


def rows() -> Iterator[Row]:
    """Every row of the module."""
    for m in (10, 40):
        for count in ("all", "published"):
            yield Row(
                "interval of XMI",
                f"{count} tokens count, {m} documents of 6 sentences",
                0.95,
                0.92,
                0.98,
                partial(_xmi, m, count),
            )
        yield Row(
            "interval of the difference of two directions' XMI",
            f"{m} documents of 6 sentences",
            0.95,
            0.92,
            0.98,
            partial(_difference, m),
        )
    for k in (3, 5, 8):
        for between in (0.2, 2.0):
            yield Row(
                "interval of a mean over trainings and sentences",
                f"{k} trainings, {between:g} times as far apart as one is unsure over sentences",
                0.95,
                0.92,
                1.0,
                partial(_trainings, k, between),
            )
        yield Row(
            "interval of the spread between trainings",
            f"{k} trainings",
            0.95,
            0.92,
            0.98,
            partial(_spread, k),
        )


def _scores(rng: np.random.Generator, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(N,) bits of the translation model and of the language model, and tokens, of the sentences of m documents."""
    hard = np.repeat(np.exp(0.2 * rng.normal(size=m) - 0.02), 6)
    tokens = 1 + rng.poisson(TOKENS - 1, 6 * m)
    mt, lm = (hard * rng.gamma(tokens * bits) for bits in (1.5, 4.0))
    return -mt, -lm, tokens


def _xmi(m: int, count: str, rng: np.random.Generator) -> bool:
    """Whether the interval holds the 2.5 bits a token; by the published count of all tokens but the ends."""
    mt, lm, tokens = _scores(rng, m)
    counted = TOKENS if count == "all" else TOKENS - 1
    lengths = tokens.tolist()
    found = xmi(
        mt,
        lm,
        unit="bits",
        tokens=(lengths, lengths),
        count=count,
        docs=np.arange(6 * m) // 6,
        rng=rng,
        n_draws=DRAWS,
    ).xmi
    return bool(found.low <= 2.5 * counted <= found.high)


def _difference(m: int, rng: np.random.Generator) -> bool:
    """Whether the interval holds 0, for two directions that save the same."""
    first, second = _scores(rng, m), _scores(rng, m)
    found = xmi_difference(
        first[:2], second[:2], unit="bits", docs=np.arange(6 * m) // 6, rng=rng, n_draws=DRAWS
    )
    return bool(found.low <= 0 <= found.high)


def _trainings(k: int, between: float, rng: np.random.Generator) -> bool:
    """Whether the interval holds 0: the difference of two directions that save the same, on 300 sentences."""
    sentences = rng.normal(size=300) + 0.7 * rng.normal(size=(k, 300))
    luck = between * np.sqrt(1.49 / 300)
    each = luck * rng.normal(size=(k, 1)) + sentences
    found = mean_over_trainings(each.mean(1), each.std(1, ddof=1) / np.sqrt(300))
    return bool(found.low <= 0 <= found.high)


def _spread(k: int, rng: np.random.Generator) -> bool:
    """Whether the interval holds the 2 bits that trainings differ by."""
    found = training_spread(2 * rng.normal(size=k))
    return bool(found.low <= 2 <= found.high)
