"""The tables of docs/metrics.md: `python -m tests.metrics_page` writes them from `scoring.lookup`."""

from __future__ import annotations

import re
from pathlib import Path

from anhelpers.scoring import lookup

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "metrics.md"
AXES = ("accuracy", "naturalness")
# The generated part of the page.
MADE = re.compile(r"(?<=<!-- made: metrics -->\n).*?(?=<!-- end -->)", re.S)


def row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def tables() -> str:
    """A table per axis with the inputs, meaning and model of each metric; the parts after a colon."""
    parts = []
    for axis in AXES:
        head = ("name", "needs", "score", "model on the hub")
        rows = [
            row(f"`{one.typed}`", ", ".join(one.sees), one.description, one.hub)
            for one in lookup.TABLE
            if one.axis == axis
        ]
        parts.append(f"## {axis.capitalize()}\n\n{row(*head)}{row(*['---'] * 4)}{''.join(rows)}")
    behind = "".join(f"- {name}: {what}\n" for name, what in lookup.BEHIND.items())
    return "\n".join([*parts, f"## Behind the colon\n\n{behind}"])


def written() -> str:
    """The page with current tables."""
    return MADE.sub(lambda _: tables(), PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
