"""Metrics against human fluency (AN Figures 4 and 5): a small plane per metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import altair as alt
import pandas as pd

from ..errors import DataError
from .axes import Size, axis_ranges, headline, plane_axes
from .describe import description, systems_text
from .labels import bar_lines, label_layers, named_points
from .marks import checked_columns, checked_systems, interval_bars, not_drawn, system_marks, tip

__all__ = ["FLUENCY_TITLE", "plot_against_fluency"]

FLUENCY_TITLE = "MQM fluency (points per segment, negated; higher is better)"
# a panel is a plane: the metric upwards, fluency rightwards
COLUMNS = {"score": "accuracy", "fluency": "naturalness"}


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
        f"{old}{end}": f"{new}{end}"
        for old, new in COLUMNS.items()
        for end in ("", "_low", "_high")
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
        panel, unnamed = _panel(frame, x_title, everyone, size)
        panels.append(panel.properties(**headline(name, said, size[0], 17)))
        unnamed = f"without a label for want of space: {', '.join(unnamed)}" if unnamed else ""
        words.append(
            description(
                name, [note, systems_text(frame), *said[bool(note) :], unnamed]
            ).removesuffix(".")
        )
    chart = alt.concat(*panels, columns=columns, spacing=24, description=description(title, words))
    return chart.properties(**headline(title, [], columns * size[0]))


def _panel(
    frame: pd.DataFrame, x_title: str, everyone: Iterable[str], size: Size
) -> tuple[alt.LayerChart, list[str]]:
    """The plane of one metric, and the systems without a label."""
    ranges = axis_ranges([], [frame])
    plane = plane_axes(ranges, size, x_title, "")
    named = named_points(frame.iloc[:0].assign(label=""), frame)
    leaders, texts, unnamed = label_layers(named, bar_lines(frame, plane), plane)
    marks = system_marks(
        frame, plane.channels, [tip("naturalness", "fluency"), tip("accuracy", "score")], everyone
    )
    layers = [*interval_bars(frame, plane), *leaders, marks, *texts]
    return alt.layer(*layers).properties(width=size[0], height=size[1]), unnamed
