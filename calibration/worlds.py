"""Worlds to measure in: documents of equal or very unequal sizes, with scores of several kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

__all__ = ["HARD", "KINDS", "SIZES", "World"]

SIZES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "equal": lambda rng, m: np.full(m, 8),
    "skewed": lambda rng, m: np.ceil(np.exp(rng.normal(2, 0.9, m))).astype(int),
}
"""Segments of a document: 8 each, or lognormal with a median of 7 and one in twenty above 32."""

POINTS = (1, 1, 1, 2, 5, 5, 6, 10, 25)


def _normal(rng: np.random.Generator, level: float, size: int) -> np.ndarray:
    return 50 + 5 * level + 10 * rng.normal(size=size)


def _mqm(rng: np.random.Generator, level: float, size: int) -> np.ndarray:
    """About two thirds are 0, the others errors of 1 to 25 points; some documents are harder than others."""
    wrong = rng.random(size) < 1 / (1 + np.exp(0.8 - 0.8 * level))
    return np.where(wrong, rng.choice(POINTS, size), 0.0)


def _length(rng: np.random.Generator, level: float, size: int) -> np.ndarray:
    return 50 + 8 * np.log(size) + 5 * level + 10 * rng.normal(size=size)


KINDS: dict[str, Callable[[np.random.Generator, float, int], np.ndarray]] = {
    "normal": _normal,
    "MQM-like": _mqm,
    "tied to length": _length,
}
"""Scores of the segments of a document with a level of its own (standard normal): their correlation is 0.2 to 0.4."""

HARD: dict[str, Callable[[np.random.Generator, float, int], np.ndarray]] = {
    "lognormal documents": lambda rng, level, n: 10 * np.exp(1.5 * level) + 3 * rng.normal(size=n),
    "skewed differences": lambda rng, level, n: 10 * np.exp(1.3 * level) + 14 * rng.normal(size=n),
    "rare catastrophes": lambda rng, level, n: 80 - 40 * (level < -1.2816) + 5 * rng.normal(size=n),
    "heavy tails": lambda rng, level, n: 50 + 5 * rng.standard_t(2.1) + 3 * rng.normal(size=n),
}
"""Documents that few others are like: an interval cannot know of those that it has not seen."""


@dataclass(frozen=True)
class World:
    """Documents of one kind, as many as are asked for, and the mean of all that there could ever be.

    Parameters
    ----------
    kind, sizes : of KINDS or HARD, SIZES.
    """

    kind: str
    sizes: str
    n_truth: int = field(default=100_000, repr=False)

    def documents(self, rng: np.random.Generator, m: int) -> tuple[np.ndarray, np.ndarray]:
        """(n,) scores and (n,) documents 0 to m - 1 of the segments of m documents."""
        sizes = SIZES[self.sizes](rng, m)
        scores = [(KINDS | HARD)[self.kind](rng, rng.normal(), int(size)) for size in sizes]
        return np.concatenate(scores), np.repeat(np.arange(m), sizes)

    def documents_like(self, rng: np.random.Generator, docs: np.ndarray) -> np.ndarray:
        """(n,) scores of other texts of the same documents, as sizes have it, with levels of their own."""
        return np.concatenate(
            [KINDS[self.kind](rng, rng.normal(), int(n)) for n in np.bincount(docs)]
        )

    @cached_property
    def truth(self) -> float:
        """The mean over all segments of the population, from n_truth documents with a seed of their own."""
        return float(self.documents(np.random.default_rng(20_261_122), self.n_truth)[0].mean())
