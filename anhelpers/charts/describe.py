"""What a picture says to those who do not see it: its claim, how to read it, and every number in it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

__all__ = ["description", "number", "systems_text"]


def number(value: float, digits: int) -> str:
    """A number as text, with a true minus sign, and none before a zero; `digits` decimals of the `value`.

    >>> number(-2.04, 1), number(-0.01, 1)
    ('−2.0', '0.0')
    """
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def description(title: str, parts: Sequence[str]) -> str:
    """The alt text of a chart: its title, then its parts.

    >>> description("A claim", ["two systems: A (1, 2), B (3, 4)", "", "Bars: 95 % intervals."])
    'A claim: two systems: A (1, 2), B (3, 4); Bars: 95 % intervals.'
    """
    text = "; ".join(part.removesuffix(".") for part in parts if part)
    return f"{title + ': ' if title else ''}{text}."


def systems_text(systems: pd.DataFrame, columns: Sequence[str] = ("accuracy", "naturalness")) -> str:
    """ "systems: A (52, -3.1), B (50, -3)": every system with its numbers; empty for no system.

    Parameters
    ----------
    columns : the two numbers that are told.
    """
    numbers = (", ".join(f"{value:.4g}" for value in row) for row in systems[list(columns)].itertuples(index=False))
    pairs = (f"{name} ({values})" for name, values in zip(systems["system"], numbers, strict=True))
    return f"systems: {', '.join(pairs)}" if len(systems) else ""
