"""Tables of a plane as a person reads them: as CSV, on a page, and on a terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .charts.frame import digits_of
from .data.writing import write_text
from .provenance import (
    TOGETHER,
    as_csv,
    from_template,
    in_page,
    line_of,
    made_lines,
    mark_of,
    with_made_by,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "cell",
    "digits_by_column",
    "in_one_cell",
    "readable",
    "split_ranks",
    "terminal_text",
    "write_page",
    "write_tables",
]


def __dir__() -> list[str]:
    return __all__


SHOWN = {
    "system": "system",
    "category": "kind",
    "accuracy": "accuracy",
    "naturalness": "naturalness",
    "accuracy_gap": "accuracy gap",
    "naturalness_gap": "naturalness gap",
    "pareto_probability": "Pareto prob.",
    "lpp_gap": "LPP(Q) − LPP(R)",
    "minus_lpp_distance": "N(Q) = −|LPP(Q) − LPP(R)|",
    "accuracy_rank_low": "accuracy ranks",
    "accuracy_cluster": "accuracy cluster",
    "naturalness_rank_low": "naturalness ranks",
    "naturalness_cluster": "naturalness cluster",
    "n": "n",
}
TOLD = {
    "accuracy_gap": "Gap: how much more of one axis the oracle curve has where the system stands "
    "on the other; without an interval where some resamples have none, as the system is beyond the "
    "curve's end there.",
    "pareto_probability": "Pareto prob.: the share of resamples in which no counted system is at "
    "least as good on both axes and better on one; of controls and near-copies it is not asked. It is "
    "no probability that a system is best in truth: near 0 and 1 it is too sure where systems hardly "
    "differ.",
    "lpp_gap": "LPP(Q) − LPP(R): how much less probable a system is than R, nats per token (mean "
    "negative log-probability; below 0 it is more probable than R). N(Q), AN's own naturalness, "
    "is 0 at best.",
    "accuracy_rank_low": "Ranks: 1–5 says that a system may be the best and may be the fifth, by "
    "the paired tests. Clusters: every system of one is significantly better than all of the next "
    "ones. Who is not counted, such as people, gets the ranks that it would have among the counted "
    "ones, and no cluster; its tests are corrected by themselves, so that equal outputs may differ "
    "in rank.",
}
"""What stands above a table with such a column."""
STANDING = re.compile(r"(accuracy|naturalness)_(rank_low|rank_high|cluster)")
KEPT = ("system", "metric", "level", "value", "n")
"""Columns that a terminal shows though all rows say the same."""
INTERVALS = (
    "accuracy",
    "naturalness",
    "accuracy_gap",
    "naturalness_gap",
    "lpp_gap",
    "minus_lpp_distance",
)


def write_tables(folder: str | PathLike, tables: Mapping[str, pd.DataFrame]) -> list[Path]:
    """Each table as FOLDER/NAME.csv, written in one step; returns the paths. FOLDER/MADE.txt says what made them.

    Parameters
    ----------
    tables : NAME -> table.
    """
    folder, own = Path(folder), {name: line_of(table) for name, table in tables.items()}
    # the lines of other tables stay
    lines = made_lines(folder / TOGETHER) | {mark_of(line): line for line in own.values()}
    write_text(folder / TOGETHER, "".join(f"{mark}\t{one}\n" for mark, one in lines.items()))
    return [
        write_text(folder / f"{name}.csv", as_csv(with_made_by(table, own[name])))
        for name, table in tables.items()
    ]


def split_ranks(table: pd.DataFrame) -> dict[str, list[pd.DataFrame | str]]:
    """A table of systems as two that fit a page, each by its heading and under what explains it: places, and ranks.

    Parameters
    ----------
    table : of `plane.systems_table` or `plane.with_ranks`.
    """
    standing = [column for column in table if STANDING.fullmatch(str(column))]
    split = {"Systems": table.drop(columns=standing)}
    if standing:
        split["Ranks and clusters"] = table[["system", "category", *standing]]
    return {
        heading: [*(told for c, told in TOLD.items() if c in part), part]
        for heading, part in split.items()
    }


def write_page(
    path: str | PathLike,
    title: str,
    chart: str,
    parts: Mapping[str, pd.DataFrame | str | Sequence[pd.DataFrame | str]],
) -> Path:
    """One self-contained HTML page: the HTML of a chart, then a heading with tables and paragraphs each.

    Parameters
    ----------
    chart : HTML. parts : heading -> a table, paragraphs, or several of these.
    """
    shown = {
        heading: [
            piece if isinstance(piece, str) else readable(piece)
            for piece in (part if isinstance(part, list | tuple) else [part])
        ]
        for heading, part in parts.items()
    }
    page = from_template("report.html", title=title, chart=chart, parts=shown)
    return write_text(path, in_page(page))


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """A table of systems with values and intervals in one cell each; any other with 4 significant digits, 2 of a p."""
    import pandas as pd

    if not {"accuracy_low", "accuracy_rank_low", "naturalness_rank_low"} & {*table}:
        floats = table.select_dtypes("float")
        return table.assign(
            **{
                c: [_significant(v, 2 if c in ("p", "p_holm") else 4) for v in floats[c]]
                for c in floats
            }
        )
    columns, digits = [c for c in ("slice", *SHOWN) if c in table], digits_by_column(table)
    columns += ["n_docs"] if "slice" in table else []
    rows = [
        [cell(row, c, "({} to {})", digits) for c in columns] for row in table.to_dict("records")
    ]
    return pd.DataFrame(rows, columns=[SHOWN.get(c, c) for c in columns])


def in_one_cell(table: pd.DataFrame, digits: int = 2) -> pd.DataFrame:
    """A table whose columns X, X_low and X_high are one column of text each: "1.78 (1.25 to 2.40)".

    Parameters
    ----------
    digits : behind the decimal point. A value without an interval stands alone, a missing one is "–".

    >>> import pandas as pd
    >>> in_one_cell(pd.DataFrame({"system": ["A"], "r": [0.5], "r_low": [0.25], "r_high": [0.75]}))["r"][0]
    '0.50 (0.25 to 0.75)'
    """
    whole = [c for c in table if {f"{c}_low", f"{c}_high"} <= {*table}]
    sizes, rows = dict.fromkeys(whole, digits), table.to_dict("records")
    cells = {c: [cell(row, c, "({} to {})", sizes) for row in rows] for c in whole}
    return table.assign(**cells).drop(columns=[c + end for c in whole for end in ("_low", "_high")])


def _significant(value: float, digits: int) -> str:
    return (
        "–"
        if np.isnan(value)
        else f"{value:.0f}"
        if abs(value) >= 10**digits
        else f"{value:.{digits}g}"
    )


def digits_by_column(table: pd.DataFrame) -> dict[str, int]:
    """The decimals of each column with an interval: of a gap, those of its axis."""
    if "accuracy_low" not in table:
        return {}
    spread = {
        axis: table[[axis, f"{axis}_low", f"{axis}_high"]].to_numpy(dtype=float)
        for axis in INTERVALS[:2]
    }
    digits = {
        axis: digits_of(v[np.isfinite(v)]) if np.isfinite(v).any() else 0
        for axis, v in spread.items()
    }
    digits |= dict.fromkeys(("lpp_gap", "minus_lpp_distance"), digits["naturalness"])
    return digits | {f"{axis}_gap": digits[axis] for axis in spread}


def cell(row: Mapping, column: str, interval: str, digits: Mapping[str, int]) -> str:
    """A row's value in a column as it is printed, with its interval where the column has one, "–" where it is missing.

    Parameters
    ----------
    row : column -> value, of a table of systems. interval : how one is written, such as "({} to {})".
    digits : of `digits_by_column`.
    """
    value = row[column]
    if column in digits:
        if not np.isfinite(value):
            return "–"
        value, low, high = (
            f"{row[name]:z.{digits[column]}f}"
            for name in (column, f"{column}_low", f"{column}_high")
        )
        return value if np.isnan(row[f"{column}_low"]) else f"{value} {interval.format(low, high)}"
    if column.endswith("_rank_low"):
        ends = value, row[column.replace("_low", "_high")]
        return "–" if not isinstance(value, int) else "–".join(map(str, dict.fromkeys(ends)))
    if column.endswith("_cluster"):
        return str(value) if isinstance(value, int) else "–"
    if isinstance(value, float):
        return "–" if np.isnan(value) else f"{value:.2f}"
    return str(value)


def terminal_text(table: pd.DataFrame, width: int) -> str:
    """A table as a person reads it on a terminal: values with their intervals, then what is the same in all rows.

    Parameters
    ----------
    table : of a command; columns x, x_low, x_high become one. width : of the terminal, in characters.
    """
    import pandas as pd

    long = [c for c in table if c.endswith(("signature", "unit", "made_by"))]
    long = [c for c in long if "metric" in table or table[c].nunique() == 1]
    cells = _with_intervals(table.drop(columns=long))
    same = [c for c in cells if len(set(cells[c])) == 1 and len(table) > 1 and c not in KEPT]
    lines = [
        pd.DataFrame({c: v for c, v in cells.items() if c not in same}).to_string(
            index=False, line_width=width
        ),
        "",
    ]
    lines += [
        f"{column}: {cells[column][0]}" for column in same if cells[column][0] not in ("", "–")
    ]
    for column in long:
        name = column.replace("_", " ")
        if "metric" not in table or table[column].nunique() == 1:
            lines += [f"{name}: {value}" for value in dict.fromkeys(map(str, table[column]))]
        else:
            rows = dict.fromkeys(zip(table["metric"], map(str, table[column]), strict=True))
            lines += [f"{name} of {metric}: {value}" for metric, value in rows]
    return "\n".join(lines) + "\n"


def _with_intervals(table: pd.DataFrame) -> dict[str, list[str]]:
    """Column -> its cells as text, an interval behind its value; one of no value has a column of its own."""
    texts = {
        c: [_significant(v, 4) if isinstance(v, float) else str(v) for v in table[c]] for c in table
    }
    cells: dict[str, list[str]] = {}
    for column, own in texts.items():
        name, low, rest = column.partition("_low")
        if low and f"{name}_high{rest}" in texts:
            spans = [
                f"{a} to {b}" if a != "–" else ""
                for a, b in zip(own, texts[f"{name}_high{rest}"], strict=True)
            ]
            if not rest and name in texts:
                shown = name.replace("_", " ")
                cells[shown] = [
                    f"{v} ({span})" if span else v
                    for v, span in zip(texts[name], spans, strict=True)
                ]
            else:
                cells[f"{name}{rest}".replace("_", " ")] = spans
        elif "_high" not in column or column.replace("_high", "_low") not in texts:
            cells[column.replace("_", " ")] = own
    return cells
