"""How two quantities go together among systems: the two axes near the frontier and far from it, metrics and fluency.

A panel per kind of window for the first; for metrics against human fluency (AN Figures 4 and 5) a small plane each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from .. import checks
from ..errors import DataError
from .frame import (
    AXIS,
    Size,
    axis_of,
    axis_ranges,
    description,
    framed,
    headline,
    plane_axes,
    systems_text,
)
from .labels import bar_lines, label_layers, named_points
from .marks import (
    BARS,
    FONT,
    LINE,
    Layer,
    checked_columns,
    checked_systems,
    dots,
    interval_bars,
    not_drawn,
    system_marks,
    tip,
)

__all__ = ["plot_against_fluency", "plot_local_correlation"]

WINDOWS = {  # kind: the column of its x axis, the title of that axis
    "nearest": ("n_systems", "Systems nearest to the frontier"),
    "sliding": ("distance", "Mean distance from the frontier (SD)"),
}
COLUMNS = [
    "window",
    "n_systems",
    "distance",
    "pearson",
    "pearson_low",
    "pearson_high",
    "selection_pearson",
    "selection_low",
    "selection_high",
]
DETAILS = ("distance_from", "distance_to", "spearman", "selection_p")
FLUENCY_TITLE = "MQM fluency (points per segment, negated; higher is better)"
# a panel is a plane: the metric upwards, fluency rightwards
AXES = {"score": "accuracy", "fluency": "naturalness"}


def plot_local_correlation(
    table: pd.DataFrame, title: str = "", *, columns: int = 2, size: Size = (340, 300)
) -> alt.ConcatChart:
    """Pearson's r with its interval in each window of systems, a panel per kind of window.

    The band is where r lies in 95 % of the cases, and the dashed line its mean, if systems are selected by distance and
    the two axes are unrelated.

    Parameters
    ----------
    table : one row per window: window ("nearest" or "sliding"), n_systems, distance (mean, in SDs), pearson,
        pearson_low, pearson_high, selection_pearson, selection_low, selection_high, and for tooltips distance_from,
        distance_to, systems, spearman, selection_p. A window without a pearson is not drawn; one without an interval
        has no bar.
    title : what the picture claims; columns : panels side by side, 1 for a narrow column;
        size : (width, height) of a panel in pixels.
    """
    checked_columns(table, COLUMNS, "local correlations")
    for kind in table["window"].unique():
        checks.one_of(kind, WINDOWS, "kind of window")
    rows = table.dropna(subset=["pearson", "distance"])
    if rows.empty:
        raise DataError("no window has a correlation to draw: every pearson is nan.")
    kinds = [kind for kind in WINDOWS if kind in set(rows["window"])]
    panels = [
        _panel(rows[rows["window"] == kind], kind, size, y_axis=i % columns == 0)
        for i, kind in enumerate(kinds)
    ]
    notes = [
        "Bars: 95 % for these systems on other documents. Band and dashes: 95 % and the mean of "
        "what selecting alone gives among unrelated systems."
    ]
    chart = alt.concat(*panels, columns=columns, spacing=24)
    width = min(columns, len(kinds)) * size[0]
    return framed(chart, title, [_windows_text(rows, kinds)], notes, width=width)


def _panel(rows: pd.DataFrame, kind: str, size: Size, y_axis: bool) -> alt.LayerChart:
    column, x_title = WINDOWS[kind]
    margin = 0.06 * (rows[column].max() - rows[column].min()) or 1.0
    domain = (float(rows[column].min() - margin), float(rows[column].max() + margin))
    ticks: dict[str, Any] = {"tickMinStep": 1, "format": "d"} if kind == "nearest" else {}
    axis = axis_of(x_title, size[0], tickCount=size[0] // 70, grid=False, **ticks)
    x = alt.X(f"{column}:Q", axis=axis).scale(domain=list(domain), nice=False, zero=False)
    y_title = ["Pearson's r of", "the two axes"] if y_axis else None
    scale = alt.Scale(domain=[-1.05, 1.25], nice=False)
    y_axis = alt.Axis(title=y_title, values=[-1, -0.5, 0, 0.5, 1], format=".1f", **AXIS)
    r, low, alone, least = (
        alt.Y(f"{c}:Q", scale=scale, axis=y_axis) for c in (*COLUMNS[3:5], *COLUMNS[6:8])
    )
    chosen = Layer(rows.dropna(subset=["selection_pearson"]))
    zero = Layer(pd.DataFrame({"pearson": [0.0]}))
    known = Layer(rows.dropna(subset=["pearson_low", "pearson_high"]))
    band = chosen.mark_area(color=BARS, opacity=0.25)
    tips: list[Any] = [tip(c) for c in (*COLUMNS[1:], *DETAILS) if c in rows]
    tips += ["systems:N"] if "systems" in rows else []
    layers = [
        band.encode(x=x, y=least, y2=alt.Y2("selection_high:Q")),
        zero.mark_rule(color="#000000", strokeWidth=1.5).encode(y=r),
        known.mark_rule(color=BARS, strokeWidth=2).encode(x=x, y=low, y2=alt.Y2("pearson_high:Q")),
        chosen.mark_line(color="#000000", strokeDash=[6, 4]).encode(x=x, y=alone),
        dots(rows, fill=LINE, size=110).encode(x=x, y=r, tooltip=tips),
    ]
    if kind != "nearest":  # whose x axis says how many
        counts = Layer(_counts(rows, column, domain, size[0])).mark_text(fontSize=FONT)
        level = alt.Y("pearson:Q", scale=scale, axis=y_axis)
        layers.append(counts.encode(x=x, y=level, text=alt.Text("label:N")))
    return alt.layer(*layers).properties(width=size[0], height=size[1])


def _counts(
    rows: pd.DataFrame, column: str, domain: tuple[float, float], width: int
) -> pd.DataFrame:
    """How many systems each window has, above the marks: once where all have as many, and only where there is room."""
    sizes = rows["n_systems"].unique()
    if len(sizes) == 1:
        middle = sum(domain) / 2
        label = f"{sizes[0]:g} systems each" if len(rows) > 1 else f"{sizes[0]:g} systems"
        return pd.DataFrame({column: [middle], "pearson": [1.15], "label": [label]})
    kept: list[Any] = []
    last = -np.inf
    for row in rows.sort_values(column)[[column, "n_systems"]].itertuples(index=False):
        x = (row[0] - domain[0]) / (domain[1] - domain[0]) * width
        if x - last >= 2 * FONT:
            kept, last = [*kept, {column: row[0], "pearson": 1.15, "label": f"{row[1]:g}"}], x
    return pd.DataFrame(kept)


def _windows_text(rows: pd.DataFrame, kinds: list[str]) -> str:
    """Every window with its r and interval, kind by kind."""
    texts = [
        f"{n:g} systems at {distance:.3g} SD: r = {r:.2f}"
        + (f" ({low:.2f} to {high:.2f})" if pd.notna(low) else "")
        for n, distance, r, low, high in rows[COLUMNS[1:6]].itertuples(index=False)
    ]
    said = pd.Series(texts, rows.index).groupby(rows["window"])
    return "; ".join(f"{kind} windows: {', '.join(said.get_group(kind))}" for kind in kinds)


def plot_against_fluency(
    table: pd.DataFrame,
    *,
    metric_titles: Mapping[str, str] | None = None,
    notes: Mapping[str, str] | None = None,
    fluency_title: str = FLUENCY_TITLE,
    title: str = "",
    columns: int = 2,
    size: Size = (380, 280),
) -> alt.ConcatChart:
    """A panel per metric, in the order of the table: a mark per system, each panel with scales of its own.

    Parameters
    ----------
    table : one row per metric and system: metric, system, category, score, fluency and, where known, score_low,
        score_high, fluency_low, fluency_high, n. A row without score or fluency is not drawn, and
        named below the title of its panel.
    metric_titles : metric → its name, unit and direction, "MetricX-23 (0 to 25, lower is better)"; else the metric.
    notes : metric → what is printed below the title of its panel, "r = 0.31 (−0.10 to 0.62)".
    fluency_title : of the horizontal axis, with unit and direction; title : what the picture claims.
    columns : panels side by side; size : (width, height) of a panel in pixels.
    """
    checked_columns(table, ["metric", "system", "category", "score", "fluency"], "metrics")
    names = {
        f"{old}{end}": f"{new}{end}" for old, new in AXES.items() for end in ("", "_low", "_high")
    }
    tables = {
        str(metric): rows
        for metric, rows in table.rename(columns=names).groupby("metric", sort=False)
    }
    frames = {metric: checked_systems(rows) for metric, rows in tables.items()}
    if empty := [metric for metric, frame in frames.items() if frame.empty]:
        raise DataError(f"no system has both a score and a fluency for {', '.join(empty)}.")
    everyone = pd.concat(frames.values())["category"].unique()
    panels, words = [], [f"each metric against {fluency_title}"]
    for i, (metric, frame) in enumerate(frames.items()):
        name, note = (metric_titles or {}).get(metric, metric), (notes or {}).get(metric, "")
        said = [*filter(None, [note]), *not_drawn(tables[metric], frame)]
        # below the lowest panel of a column only
        x_title = fluency_title if i + columns >= len(frames) else ""
        panel, unnamed = _small_plane(frame, x_title, everyone, size)
        panels.append(panel.properties(**headline(name, said, size[0], 17)))
        lost = f"without a label for want of space: {', '.join(unnamed)}" if unnamed else ""
        told = [note, systems_text(frame), *said[bool(note) :], lost]
        words.append(description(name, told).removesuffix("."))
    chart = alt.concat(*panels, columns=columns, spacing=24)
    return framed(chart, title, words, width=columns * size[0])


def _small_plane(
    frame: pd.DataFrame, x_title: str, everyone: Iterable[str], size: Size
) -> tuple[alt.LayerChart, list[str]]:
    """The plane of one metric, and the systems without a label."""
    ranges = axis_ranges([], [frame])
    plane = plane_axes(ranges, size, x_title, "")
    bars = bar_lines(frame, plane)
    leaders, texts, unnamed = label_layers(named_points(frame), bars, plane)
    tips = [tip("naturalness", "fluency"), tip("accuracy", "score")]
    marks = system_marks(frame, plane.channels, tips, everyone)
    layers = [*interval_bars(frame, plane), *leaders, marks, *texts]
    return alt.layer(*layers).properties(width=size[0], height=size[1]), unnamed
