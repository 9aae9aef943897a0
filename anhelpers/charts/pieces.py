"""Bars made of named pieces, such as a sentence's bits that the source saves and those that it does not."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from ..errors import DataError
from .axes import AXIS, Size, headline
from .describe import description, number
from .labels import width
from .marks import FONT, checked_columns, checked_numbers
from .xmi_bars import digits_for

__all__ = ["COLOURS", "plot_pieces"]

# and their ink
COLOURS = {"#0072B2": "#FFFFFF", "#E69F00": "#000000", "#882255": "#FFFFFF", "#999999": "#000000"}


def plot_pieces(
    pieces: pd.DataFrame,
    *,
    parts: Sequence[str] = (),
    title: str = "",
    unit: str = "Bits per sentence",
    size: Size = (560, 30),
) -> alt.LayerChart:
    """A horizontal bar per name, its pieces laid end to end, each with its length where there is room.

    Parameters
    ----------
    pieces : bar, part, value; a row per piece, in the order from top to bottom and from left to right. At most 4
        different parts, each with its colour; values at least 0. Where known, start: where the first piece of a bar
        begins (of its first row; else 0), so that a piece which two bars share can stand under itself.
    parts : those that take the first colours, by default in the order of the rows.
    title : what the picture claims. unit : of the axis. size : (width of the plane, height of a bar) in pixels.

    Raises
    ------
    DataError for a missing column, a number that is negative or not finite, no row, more than 4 parts.
    """
    rows = _laid(pieces)
    names, bars = list(dict.fromkeys([*parts, *rows["part"]])), list(dict.fromkeys(rows["bar"]))
    if not 1 <= len(names) <= len(COLOURS):
        raise DataError(
            f"{len(names)} kinds of pieces; between 1 and {len(COLOURS)} can be told apart."
        )
    most = float(rows["to"].max()) or 1.0
    rows["text"] = [number(value, digits_for(most)) for value in rows["value"]]
    axis = alt.Axis(title=unit, tickCount=size[0] // 90, grid=False, **AXIS)
    x = alt.X("from:Q", scale=alt.Scale(domain=[0, most], nice=False), axis=axis)
    labels = alt.Axis(
        title=None, labelFontSize=FONT, labelLimit=400, ticks=False, domain=False, labelPadding=10
    )
    y = alt.Y("bar:N", sort=bars, axis=labels, scale=alt.Scale(paddingInner=0.2, paddingOuter=0.1))
    legend = alt.Legend(
        title=None,
        orient="top",
        labelFontSize=FONT,
        labelLimit=400,
        symbolType="square",
        symbolStrokeWidth=0,
        symbolSize=260,
        columnPadding=24,
    )
    fill = alt.Fill(
        "part:N", scale=alt.Scale(domain=names, range=list(COLOURS)[: len(names)]), legend=legend
    )
    tips = ["bar:N", "part:N", alt.Tooltip("value:Q", format=".4~g")]
    drawn = alt.Chart(rows, name="pieces").mark_bar(stroke="#FFFFFF", strokeWidth=1)
    drawn = drawn.encode(x=x, x2="to:Q", y=y, fill=fill, tooltip=tips)
    look = {"width": size[0], "height": size[1] * len(bars), "view": {"stroke": None}}
    chart = alt.layer(drawn, _numbers(rows, names, x, y, size[0] / most))
    return chart.properties(
        **look,
        description=description(title, [unit, *_words(rows)]),
        **headline(title, [], size[0] + 120),
    )


def _numbers(
    rows: pd.DataFrame, names: list[str], x: alt.X, y: alt.Y, per_unit: float
) -> alt.Chart:
    """The length of each piece in its middle, where it fits, in the ink of its colour."""
    ink = dict(zip(names, COLOURS.values(), strict=False))
    frame = rows.assign(ink=rows["part"].map(ink), middle=(rows["from"] + rows["to"]) / 2)
    room = [
        v * per_unit >= width(t, False) + 8
        for v, t in zip(frame["value"], frame["text"], strict=True)
    ]
    middle = x.copy()
    middle.shorthand = "middle:Q"
    mark = alt.Chart(frame[room], name="texts").mark_text(fontSize=FONT, baseline="middle")
    return mark.encode(x=middle, y=y, text="text:N", fill=alt.Fill("ink:N", scale=None))


def _words(rows: pd.DataFrame) -> list[str]:
    """Every bar in words."""
    bars = rows.groupby("bar", sort=False)
    return [
        f"{bar}: " + ", ".join(f"{p} {t}" for p, t in zip(own["part"], own["text"], strict=True))
        for bar, own in bars
    ]


def _laid(pieces: pd.DataFrame) -> pd.DataFrame:
    """The pieces with the places where they begin and end."""
    checked_columns(pieces, ["bar", "part", "value"], "pieces")
    rows = pieces.reset_index(drop=True).astype({"bar": str, "part": str})
    rows = checked_numbers(
        rows.assign(start=rows.get("start", 0.0)), ["value", "start"], "pieces", "bar"
    )
    bad = np.flatnonzero(~(rows["value"] >= 0) | (rows["start"] < 0))
    if bad.size:
        row = rows.loc[bad[0]]
        seen = (
            f"{row['value']:g}" if not row["value"] >= 0 else f"said to start at {row['start']:g}"
        )
        raise DataError(
            f"'{row['part']}' of '{row['bar']}' is {seen}: a piece of a bar has a length and a "
            "start of at least 0."
        )
    starts = rows["start"].fillna(0.0)
    rows["to"] = (
        starts.groupby(rows["bar"]).transform("first") + rows.groupby("bar")["value"].cumsum()
    )
    rows["from"] = rows["to"] - rows["value"]
    return rows
