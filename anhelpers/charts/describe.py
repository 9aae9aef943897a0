"""What a picture says to those who do not see it: its claim, how to read it, and every number in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["description", "digits_of", "number", "systems_text"]


def number(value: float, digits: int) -> str:
    """A number as text, with a true minus sign, and none before a zero; `digits` decimals of the `value`.

    >>> number(-2.04, 1), number(-0.01, 1)
    ('−2.0', '0.0')
    """
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def digits_of(values: ArrayLike) -> int:
    """Decimals that show a hundredth of the spread of (n,) values: 1 for chrF, 3 for COMET.

    >>> digits_of([20.5, 61.2]), digits_of([0.71, 0.86])
    (1, 3)
    """
    spread = float(np.ptp(values))
    return min(6, max(0, 2 - math.floor(math.log10(spread)))) if spread else 2


def description(title: str, parts: Sequence[str]) -> str:
    """The alt text of a chart: its title, then its parts.

    >>> description("A claim", ["two systems: A (1, 2), B (3, 4)", "", "Bars: 95 % intervals."])
    'A claim: two systems: A (1, 2), B (3, 4); Bars: 95 % intervals.'
    """
    text = "; ".join(part.removesuffix(".") for part in parts if part)
    return f"{title + ': ' if title else ''}{text}."


def systems_text(
    systems: pd.DataFrame, columns: Sequence[str] = ("accuracy", "naturalness")
) -> str:
    """ "systems: A (52, -3.1), B (50, -3)": every system with its numbers; empty for no system.

    Parameters
    ----------
    columns : the two numbers that stand beside each name.
    """
    numbers = (
        ", ".join(f"{value:.4g}" for value in row)
        for row in systems[list(columns)].itertuples(index=False)
    )
    pairs = (f"{name} ({values})" for name, values in zip(systems["system"], numbers, strict=True))
    return f"systems: {', '.join(pairs)}" if len(systems) else ""
