"""The tables of docs/metrics.md: `python -m tests.metrics_page` writes them from `scoring.lookup`."""

from __future__ import annotations

import re
from pathlib import Path

from anhelpers.scoring import lookup

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "metrics.md"
AXES = ("accuracy", "naturalness")
MADE = re.compile(r"(?<=<!-- made: metrics -->\n).*?(?=<!-- end -->)", re.S)
"""The part of a page that is written here."""


def row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def names() -> str:
    """The names of both axes, by what they see."""
    rows = [
        row(axis, seen, ", ".join(f"`{one}`" for one in typed))
        for axis in AXES
        for seen, typed in lookup.grouped(axis).items()
    ]
    return "".join([row("axis", "sees", "metrics"), row(*["---"] * 3), *rows])


def tables() -> str:
    """All names; a table per axis with what each sees and says, and its model; what stands behind the colon."""
    parts = []
    for axis in AXES:
        head = ("as typed", "sees, beside the text", "says", "model on the hub")
        rows = [
            row(f"`{one.typed}`", ", ".join(one.sees), one.says, one.hub)
            for one in lookup.TABLE
            if one.axis == axis
        ]
        parts.append(f"## {axis.capitalize()}\n\n{row(*head)}{row(*['---'] * 4)}{''.join(rows)}")
    behind = "".join(f"- {name}: {what}\n" for name, what in lookup.BEHIND.items())
    return "\n".join(
        [f"## By what they see\n\n{names()}", *parts, f"## Behind the colon\n\n{behind}"]
    )


def written() -> str:
    """The page as it should be."""
    return MADE.sub(lambda _: tables(), PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
