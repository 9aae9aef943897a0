"""All that is measured, in the order of the page."""

from __future__ import annotations

from collections.abc import Iterator

from . import agreement, decisions, divergences, paired, raters, scores, xmi
from .row import Row

__all__ = ["rows"]


def rows() -> Iterator[Row]:
    """Every row of the table, each module's in turn."""
    for module in (scores, paired, decisions, raters, agreement, divergences, xmi):
        yield from module.rows()
