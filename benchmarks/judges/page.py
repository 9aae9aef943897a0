"""The tables of docs/judges.md: a row per question, a column per metric."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .table import DEFAULT, PEOPLE


def judge_page(table: pd.DataFrame) -> str:
    """A `judge_table` in Markdown, with n and 95 % intervals in brackets; without the ratings."""
    judges, lines = [one for one in DEFAULT if one in {*table.judge} - {PEOPLE}], []
    for item, part in table[table.judge != PEOPLE].groupby("item", sort=False):
        cells = {row["judge"]: _cell(row) for row in part.to_dict("records")}
        n = "/".join(str(one) for one in dict.fromkeys(part.n))
        lines.append([item, n, *(cells.get(judge, "–") for judge in judges)])
    return markdown_table(["", "n", *(f"`{judge}`" for judge in judges)], lines)


def _cell(row: Any) -> str:
    """A figure with its interval; a share in percent."""
    if np.isnan(row["value"]):
        return "–"
    scale, digits = {"share": (100, 0), "rank": (1, 0)}.get(row["unit"], (1, 2))
    value, low, high = (f"{scale * row[name]:z.{digits}f}" for name in ("value", "low", "high"))
    unit = "%" if scale == 100 else ""
    return f"{value}{unit} ({low}…{high})".replace("-", "−")


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    cells = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in cells)


def written(text: str, new: dict[str, str]) -> str:
    """A page with new text between its comments "made: PART" and "end"."""
    made = re.compile(r"(?<=<!-- made: )(\w+)( -->\n).*?(?=<!-- end -->)", re.S)
    return made.sub(lambda m: f"{m[1]}{m[2]}{new[m[1]]}" if m[1] in new else m[0], text)
