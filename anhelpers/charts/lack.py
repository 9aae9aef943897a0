"""How much a system lacks to the oracle curve, on each axis with the other held: points with intervals, per system."""

from __future__ import annotations

import textwrap
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ..errors import DataError
from .axes import AXIS, Size, headline
from .describe import description, systems_text
from .marks import BARS, FONT, checked_columns, system_marks, tip

__all__ = ["plot_lack"]

LACKS = ("accuracy_lack", "naturalness_lack")


def plot_lack(
    table: pd.DataFrame,
    *,
    accuracy_title: str = "Accuracy lacking at equal naturalness",
    naturalness_title: str = "Naturalness lacking at equal accuracy",
    title: str = "",
    size: Size = (270, 22),
) -> alt.HConcatChart:
    """Two panels with a row per system, the system that lacks least accuracy on top; 0 is on the curve.

    Parameters
    ----------
    table : system, category, accuracy_lack, naturalness_lack, each where known with _low and _high. A nan has no mark:
        the oracle has no point there.
    accuracy_title, naturalness_title : with the unit of each axis.
    size : (width of a panel, height of a row) in pixels.
    """
    checked_columns(table, ["system", "category", *LACKS], "systems")
    rows = table.sort_values("accuracy_lack", kind="stable").reset_index(drop=True)
    if rows[list(LACKS)].isna().all(axis=None):
        raise DataError("no system has an accuracy_lack or a naturalness_lack to draw.")
    panels = [
        _panel(rows, *one, size)
        for one in zip(LACKS, (accuracy_title, naturalness_title), strict=True)
    ]
    notes = ["Bars: 95 % intervals."] if any(f"{lack}_low" in rows for lack in LACKS) else []
    values = rows[list(LACKS)].to_numpy(dtype=float)
    notes += ["Below 0: above the curve."] if (values < -1e-9).any() else []
    notes += (
        ["A missing mark: there is no score, or no point of the curve to compare with."]
        if np.isnan(values).any()
        else []
    )
    words = description(
        title, [f"{accuracy_title} and {naturalness_title}", systems_text(rows, LACKS), *notes]
    )
    chart = alt.hconcat(*panels, spacing=20, description=words).resolve_scale(y="shared")
    return chart.properties(**headline(title, notes, 2 * size[0] + 120))


def _panel(rows: pd.DataFrame, column: str, title: str, size: Size) -> alt.LayerChart:
    names: dict[str, Any] = {
        "labels": column == LACKS[0],
        "ticks": False,
        "labelFontSize": FONT,
        "labelLimit": 240,
        "labelPadding": 10,
        "grid": True,
    }
    y = alt.Y("system:N", sort=rows["system"].tolist(), title=None, axis=alt.Axis(**names))
    x = alt.X(
        f"{column}:Q", title=textwrap.wrap(title, size[0] // 9), axis=alt.Axis(tickCount=4, **AXIS)
    )
    ends = [f"{column}_low", f"{column}_high"]
    layers = [
        system_marks(
            rows.dropna(subset=[column]), {"x": x, "y": y}, [tip(column, title)], rows["category"]
        )
    ]
    if set(ends) <= set(rows):
        bar = alt.Chart(rows.dropna(subset=ends)).mark_rule(color=BARS, strokeWidth=2)
        layers.insert(0, bar.encode(x=alt.X(f"{ends[0]}:Q"), x2=f"{ends[1]}:Q", y=y))
    return alt.layer(*layers).properties(width=size[0], height=size[1] * len(rows))
