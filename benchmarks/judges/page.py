"""The table of docs/judges.md: a row per question, a column per metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .table import PEOPLE


def judge_page(table: pd.DataFrame) -> str:
    """A `judge_table` in Markdown, with 95 % intervals in brackets; without the ratings' own figures."""
    rows = table[table.judge != PEOPLE]
    judges = list(dict.fromkeys(rows.judge))
    lines = []
    for (question, item), part in rows.groupby(["question", "item"], sort=False):
        cells = {row["judge"]: _cell(row) for row in part.to_dict("records")}
        name = {"minimal pairs": "minimal pairs", "people": "ρ with the ratings"}.get(
            str(question), item if question == "tags" else f"ρ {item}"
        )
        lines.append([name, *(cells.get(judge, "–") for judge in judges)])
    return markdown_table(["", *judges], lines)


def _cell(row: Any) -> str:
    """A figure with its interval; a share in percent."""
    if np.isnan(row["value"]):
        return "–"
    scale, digits = (100, 0) if row["unit"] == "share" else (1, 2)
    value, low, high = (f"{scale * row[name]:z.{digits}f}" for name in ("value", "low", "high"))
    unit = " %" if scale == 100 else ""
    return f"{value}{unit} ({low} to {high})".replace("-", "−")


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    cells = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in cells)
