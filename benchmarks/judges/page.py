"""The figures of naturalness metrics in Markdown: a table per question, and one of what is wanted of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd

from .table import PEOPLE, QUESTIONS

ACROSS = (
    "tags",
    "minimal pairs",
    "systems",
)  # with a column per metric; else a row per metric and item
BOTH = "critic+lpp"
GATES = (  # of the bundled metrics on the teaching set: question, judge, item, wanted, kind of bound
    ("tags", "critic", "idiomatic > literal-2", 42 / 52, "at least"),
    ("tags", "critic", "idiomatic > literal", 44 / 52, "at least"),
    ("tags", "critic", "idiomatic > calque", 44 / 52, "at least"),
    ("tags", BOTH, "near-reference > grammar", 38 / 52, "at least"),
    ("tags", BOTH, "near-reference > wrong-order", 47 / 52, "at least"),
    ("tags", BOTH, "idiomatic > literal-2", 38 / 52, "at least"),
    ("people", "critic", "with the ratings", 0.35, "at least"),
    ("people", BOTH, "with the ratings", 0.45, "at least"),
    ("mqm", BOTH, "with MQM fluency", 0.7, "at least"),
    ("tradeoff", PEOPLE, "with rated-accuracy", 0.0, "interval below"),
    ("tradeoff", BOTH, "with chrf", 0.0, "interval below"),
    ("language model", "language model", "bits per byte of originals", 1.6, "at most"),
    ("language model", "language model", "good > bad, whole sentences", 136 / 155, "at least"),
)


def judge_page(table: pd.DataFrame) -> str:
    """A heading and a table for each question of a `judge_table`; 95 % intervals in brackets."""
    parts = []
    for question, rows in table.groupby("question", sort=False):
        lines = _across(rows) if question in ACROSS else _down(rows)
        parts.append("\n".join([f"## {QUESTIONS[str(question)]}", "", *_baseline(rows), *lines]))
    return "\n\n".join(parts) + "\n"


def gate_page(table: pd.DataFrame) -> str:
    """What is wanted of the bundled metrics beside the figures of a `judge_table`."""
    figures = table.set_index(["question", "judge", "item"])
    rows = []
    for question, judge, item, wanted, bound in GATES:
        said = f"{bound} {_number(wanted)}"
        if (question, judge, item) not in figures.index:
            rows.append([judge, item, said, "–", "", "no figure"])
            continue
        row = figures.loc[(question, judge, item)]
        share = row["unit"] == "share"
        reached = {
            "at least": row["value"] >= wanted - 1e-9,
            "at most": row["value"] <= wanted + 1e-9,
            "interval below": row["high"] < wanted,
        }[bound]
        said = f"{bound} {_share(wanted, row['n'])}" if share else said
        what = item if question in ("tags", "language model") else f"ρ {item}"
        n = f"{row['n']:.0f} {row['n_of']}"
        rows.append([judge, what, said, _cell(row), n, "yes" if reached else "no"])
    head = ["metric", "item", "wanted", "figure (95 % interval)", "n", "reached"]
    return "\n".join(markdown_table(head, rows)) + "\n"


def _baseline(rows: pd.DataFrame) -> list[str]:
    """What a metric of noise gets, or the unit of each metric."""
    chance, n = rows.chance.iloc[0], rows.n.iloc[0]
    if np.isnan(chance) and rows.question.iloc[0] == "language model":
        return []
    if np.isnan(chance):
        return [
            *(
                f"- {judge}: {unit}"
                for judge, unit in dict(zip(rows.judge, rows.unit, strict=False)).items()
            ),
            "",
        ]
    return [f"By chance: {_share(chance, n) if chance else _number(chance)}.", ""]


def _across(rows: pd.DataFrame) -> list[str]:
    """A row per item, in the order of the last metric, and a column per metric."""
    ranked = rows.question.iloc[0] == "systems"
    judges = {judge: part.set_index("item") for judge, part in rows.groupby("judge", sort=False)}
    order = list(judges.values())[-1].index if ranked else rows.item
    lines = []
    for item in dict.fromkeys([*order, *rows.item]):
        cells = []
        for part in judges.values():
            place = f"{list(part.index).index(item) + 1}: " if ranked else ""
            cells.append(f"{place}{_cell(part.loc[item])}" if item in part.index else "–")
        lines.append([item, *cells])
    return markdown_table(["system" if ranked else "pair", *judges], lines)


def _down(rows: pd.DataFrame) -> list[str]:
    found = rows.to_dict("records")
    lines = [[row["judge"], row["item"], _cell(row), f"{row['n']} {row['n_of']}"] for row in found]
    return markdown_table(["metric", "", "figure (95 % interval)", "n"], lines)


def _cell(row: Any) -> str:
    """A figure with its interval, a share as a count."""
    if np.isnan(row["value"]):
        return "–"
    value = _share(row["value"], row["n"]) if row["unit"] == "share" else _number(row["value"])
    ends = "" if np.isnan(row["low"]) else f" ({_number(row['low'])} to {_number(row['high'])})"
    return value + ends


def _share(share: float, n: float) -> str:
    return f"{share * n:.1f}".removesuffix(".0") + f" of {n:.0f}"


def _number(value: float) -> str:
    return f"{value:z.2f}".replace("-", "−")


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table whose columns are aligned in plain text."""
    cells = [[str(cell).replace("|", r"\|") for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip_longest(*cells, fillvalue="")]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]
