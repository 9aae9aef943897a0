"""How a system looks: a shape and a colour for each category, its intervals, and what its tooltip says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd

from .. import checks
from ..errors import DataError

if TYPE_CHECKING:
    from .frame import Frame

__all__ = ["CATEGORIES"]

CATEGORIES = {  # mark and fill: Okabe and Ito 2008, each with a black outline and its own shape
    "LLM": ("circle", "#009E73"),
    "MT": ("square", "#CC79A7"),
    "online": ("triangle-up", "#56B4E9"),
    "human": ("diamond", "#000000"),
    "control": ("triangle-down", "#F0E442"),
    "unknown": ("cross", "#999999"),
}
FONT = 16  # smallest text, in pixels; titles are 18, legible from the last row of a seminar room
# (from, to) of naturalness and of accuracy
Ranges = tuple[tuple[float, float], tuple[float, float]]
LINE, POINT, BARS = "#0072B2", "#D55E00", "#8A8A8A"
# for the tooltip
DETAILS = ("n", "n_docs", "pareto", "pareto_probability", "accuracy_gap", "naturalness_gap")


def checked_systems(systems: pd.DataFrame | None) -> pd.DataFrame:
    """The drawable rows of a table of systems (none for None), or a DataError naming what is missing."""
    columns = ["system", "category", "accuracy", "naturalness"]
    if systems is None:
        return pd.DataFrame(columns=columns)
    checked_columns(systems, columns, "systems")
    for category in systems["category"].unique():
        checks.one_of(category, CATEGORIES, "category of system")
    names = (
        f"{axis}{what}" for axis in columns[2:] for what in ("", "_low", "_high", "_se", "_start")
    )
    systems = checked_numbers(systems, [name for name in names if name in systems], "systems")
    return systems.dropna(subset=["accuracy", "naturalness"]).reset_index(drop=True)


def checked_numbers(
    table: pd.DataFrame, numbers: Sequence[str], of: str, name: str = "system"
) -> pd.DataFrame:
    """The table with these columns as floats, or a DataError: nan is a number that is missing, infinity is none."""
    for column in numbers:
        values = pd.to_numeric(table[column], errors="coerce").astype(float)
        wrong = np.flatnonzero((values.isna() & table[column].notna()) | np.isinf(values))
        if wrong.size:
            seen = f"{column} of '{table[name].iloc[wrong[0]]}' is {table[column].iloc[wrong[0]]}"
            raise DataError(
                f"{seen} in the table of {of}; give a number, or nan where there is none."
            )
        table = table.assign(**{column: values})
    return table


def not_drawn(table: pd.DataFrame | None, drawn: pd.DataFrame, name: str = "system") -> list[str]:
    """The sentence that names the rows without a place in the picture, if there are any."""
    known = set(drawn[name].astype(str))
    lost = [] if table is None else [one for one in table[name].astype(str) if one not in known]
    return [f"Not drawn, for a number is missing: {', '.join(lost)}."] if lost else []


def checked_columns(table: pd.DataFrame, needed: list[str], of: str) -> None:
    """A DataError names the columns that a table lacks, and those that it has."""
    missing = [c for c in needed if c not in table]
    if missing:
        raise DataError(
            f"the table of {of} has no column {', '.join(missing)}; it has "
            f"{', '.join(map(str, table))}."
        )


def tip(column: str, title: str = "") -> alt.Tooltip:
    return alt.Tooltip(f"{column}:Q", title=title or column.replace("_", " "), format=".4~g")


def system_marks(
    systems: pd.DataFrame,
    axes: dict,
    tips: list[alt.Tooltip],
    legend_of: Iterable[str] | None = None,
) -> alt.Chart:
    """A mark per system, with a legend of the categories present (or of those given) and a tooltip with all numbers."""
    extra = [c for c in systems if c.endswith(("_low", "_high")) or c in DETAILS]
    mark = alt.Chart(systems).mark_point(
        filled=True, size=160, stroke="#000000", strokeWidth=1, opacity=1
    )
    tooltip = ["system:N", "category:N", *tips, *map(tip, extra)]
    return mark.encode(
        **axes,
        **category_channels(systems["category"] if legend_of is None else legend_of),
        tooltip=tooltip,
    )


def category_channels(categories: Iterable[str]) -> dict:
    """Shape and fill by category, with one legend of those given."""
    given = set(categories)
    present = [c for c in CATEGORIES if c in given]
    legend = alt.Legend(
        title=None, orient="top", labelFontSize=FONT, symbolSize=160, columnPadding=18, offset=6
    )
    shape, fill = ([CATEGORIES[c][i] for c in present] for i in (0, 1))
    return {
        "shape": alt.Shape(
            "category:N", scale=alt.Scale(domain=present, range=shape), legend=legend
        ),
        "fill": alt.Fill("category:N", scale=alt.Scale(domain=present, range=fill), legend=legend),
    }


def ring_marks(systems: pd.DataFrame, axes: dict, name: Any = alt.Undefined) -> alt.Chart:
    """A ring around each of these systems: those of the Pareto set."""
    ring = {
        "shape": "circle",
        "filled": False,
        "stroke": "#000000",
        "strokeWidth": 2,
        "size": 420,
        "opacity": 1,
    }
    return alt.Chart(systems, name=name).mark_point(**ring).encode(x=axes["x"], y=axes["y"])


def plus_mark(axes: dict) -> alt.Chart:
    """A plus at (0, 0): no errors."""
    zero = pd.DataFrame({"naturalness": [0.0], "accuracy": [0.0]})
    plus = {
        "shape": "M-1,0H1M0,-1V1",
        "stroke": "#000000",
        "strokeWidth": 2,
        "size": 200,
        "opacity": 1,
    }
    return alt.Chart(zero).mark_point(**plus).encode(x=axes["x"], y=axes["y"])


def moving_point(at: pd.DataFrame, axes: dict) -> alt.Chart:
    """The large mark named ``bxpoint``, which a script moves."""
    look = {
        "filled": True,
        "fill": POINT,
        "stroke": "#000000",
        "strokeWidth": 2,
        "size": 320,
        "opacity": 1,
    }
    return alt.Chart(at, name="bxpoint").mark_point(**look).encode(**axes)


def interval_bars(systems: pd.DataFrame, plane: Frame) -> list[alt.Chart]:
    """A thin cross through each system: its interval on each axis that has one, cut off where the picture ends."""
    charts = []
    for channel, column, (start, end) in zip(
        "xy", ("naturalness", "accuracy"), plane.ranges, strict=True
    ):
        low, high = f"{column}_low", f"{column}_high"
        if low in systems and high in systems:
            frame = systems.dropna(subset=[low, high])
            cut = bool((frame[low] < start).any() or (frame[high] > end).any())
            span = {channel: plane.channels[channel].copy(), f"{channel}2": f"{high}:Q"}
            span[channel].shorthand = f"{low}:Q"
            rule = alt.Chart(frame).mark_rule(color=BARS, strokeWidth=1.5, **clipped(cut))
            charts.append(rule.encode(**(plane.channels | span)))
    return charts


def clipped(cut: bool) -> dict:
    """The mark option that cuts off at the frame, only where something is cut: pictures in one page share clip ids."""
    return {"clip": True} if cut else {}
