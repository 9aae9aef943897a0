"""The figures of judges in Markdown: a table per question, and one of the gates."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from .table import QUESTIONS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["gate_page", "judge_page", "markdown_table"]

ACROSS = ("tags", "minimal pairs", "systems")
"""Questions with a column per judge; the others have a row per judge and item."""


def judge_page(table: pd.DataFrame) -> str:
    """A heading and a table for each question; 95 % intervals in brackets.

    Parameters
    ----------
    table : of `judge_table`.
    """
    parts = []
    for question, rows in table.groupby("question", sort=False):
        lines = _across(rows) if question in ACROSS else _down(rows)
        parts.append("\n".join([f"## {QUESTIONS[str(question)]}", "", *_told(rows), *lines]))
    return "\n\n".join(parts) + "\n"


def gate_page(gates: pd.DataFrame) -> str:
    """The gates as one table.

    Parameters
    ----------
    gates : of `gate_table`.
    """
    head = [
        "judge",
        "what",
        "wanted",
        "figure (95 % interval)",
        "n",
        "reached",
        "on others like these",
    ]
    rows = []
    for row in gates.to_dict("records"):
        n, known = row["n"], not np.isnan(row["value"])
        wanted = _share(row["wanted"], n) if row["unit"] == "share" else _number(row["wanted"])
        told = (
            f"{'at most' if row['at_most'] else 'at least'} "
            f"{wanted}{', whole interval' * row['clear']}"
        )
        what = row["item"] if row["question"] in ("tags", "language model") else f"ρ {row['item']}"
        figure = [_cell(row), f"{n:.0f} {row['n_of']}"] if known else ["–", ""]
        rows.append([row["judge"], what, told, *figure, row["reached"], row["elsewhere"]])
    return "\n".join(markdown_table(head, rows)) + "\n"


def _told(rows: pd.DataFrame) -> list[str]:
    """What a judge without any sense gets; where that says nothing, the unit of each judge."""
    chance = rows.chance.iloc[0]
    if np.isnan(chance):
        units = rows.drop_duplicates("judge")
        return [
            *(
                f"- {unit if unit.startswith(judge) else f'{judge}: {unit}'}"
                for judge, unit in zip(units.judge, units.unit, strict=True)
            ),
            "",
        ]
    half = chance and rows.n.nunique() == 1
    return [f"By chance: {_share(chance, rows.n.iloc[0]) if half else _number(chance)}.", ""]


def _across(rows: pd.DataFrame) -> list[str]:
    """A row per item, in the order of the last judge where items have places, and a column per judge."""
    ranked = rows.question.iloc[0] == "systems"
    judges = {judge: part.set_index("item") for judge, part in rows.groupby("judge", sort=False)}
    *_, last = judges.values()
    items = (
        list(dict.fromkeys([*last.index, *rows.item])) if ranked else list(dict.fromkeys(rows.item))
    )
    head = [
        f"{judge}, n = {_range(part.n)} {part.n_of.iloc[0]}" if ranked else judge
        for judge, part in judges.items()
    ]
    lines = []
    for item in items:
        there = [
            part.loc[item].to_dict() if item in part.index else None for part in judges.values()
        ]
        place = [
            f"{list(part.index).index(item) + 1}: " if ranked and one else ""
            for part, one in zip(judges.values(), there, strict=True)
        ]
        lines.append(
            [
                item,
                *(f"{p}{_cell(one)}" if one else "–" for p, one in zip(place, there, strict=True)),
            ]
        )
    return markdown_table(["system" if ranked else "pair", *head], lines)


def _down(rows: pd.DataFrame) -> list[str]:
    found = rows.to_dict("records")
    units = dict.fromkeys(row["unit"] for row in found)
    unit = f"{next(iter(units))} (95 % interval)" if len(units) == 1 else "figure (95 % interval)"
    lines = [[row["judge"], row["item"], _cell(row), f"{row['n']} {row['n_of']}"] for row in found]
    return markdown_table(["judge", "", unit, "n"], lines)


def _cell(row: dict[str, Any]) -> str:
    """A figure with its interval, a share as a count."""
    if np.isnan(row["value"]):
        return "–"
    value = _share(row["value"], row["n"]) if row["unit"] == "share" else _number(row["value"])
    return (
        value
        if np.isnan(row["low"])
        else f"{value} ({_number(row['low'])} to {_number(row['high'])})"
    )


def _share(share: float, n: float) -> str:
    return f"{share * n:.1f}".removesuffix(".0") + f" of {n:.0f}"


def _number(value: float) -> str:
    return f"{value:z.2f}".replace("-", "−")


def _range(values: pd.Series) -> str:
    return "–".join(map(str, dict.fromkeys((values.min(), values.max()))))


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table whose columns line up in plain text as well.

    Parameters
    ----------
    head : a cell per column. rows : as many each.
    """
    cells = [[str(cell).replace("|", r"\|") for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip_longest(*cells, fillvalue="")]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]
