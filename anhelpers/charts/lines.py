"""Lines of several series, named at their ends, with points, intervals and rules."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from .. import checks
from .frame import (
    COLOURS,
    DASHES,
    SHAPES,
    Frame,
    Layer,
    Size,
    checked,
    dots,
    framed,
    tip,
    told_apart,
)
from .labels import Rule, drawn_labels, name_lines, rule_layers


def plot_lines(
    lines: pd.DataFrame | None,
    points: pd.DataFrame | None = None,
    *,
    x_title: str,
    y_title: str,
    title: str = "",
    log: str = "",
    rules: Sequence[Rule] = (),
    size: Size = (620, 420),
) -> alt.LayerChart:
    """Line of each series, named at its end, and points with intervals in the same colours.

    Parameters
    ----------
    lines : series, x, y; a row per vertex, joined in the order of the rows
        A nan leaves a gap. At most 8 series.
    points : series, x, y and, where known, low and high of y
        A nan is not drawn.
    x_title, y_title : with unit and direction
    title : claim of the chart
    log : "x", "y" or "xy": logarithmic axes
    rules : reference values, each ("x" or "y", value, label)
    size : (width, height) of the plane in pixels

    Raises
    ------
    DataError for a missing column, a text or infinity for a number, nothing to draw, 9 or more series.
    """
    lines = _series(lines, [])
    points = _series(points, ["x", "y"])
    names = list(dict.fromkeys([*lines["series"], *points["series"]]))
    looks = told_apart("series", names, color=COLOURS, strokeDash=DASHES, shape=SHAPES)
    for axis, _, _ in rules:
        checks.one_of(axis, "xy", "axis of a rule")
    known = lines.dropna(subset=["x", "y"])
    ends = [points[c] for c in ("low", "high") if c in points]
    extent = {
        axis: np.concatenate(
            [known[axis], points[axis], [v for a, v, _ in rules if a == axis], *more], dtype=float
        )
        for axis, more in (("x", []), ("y", ends))
    }
    plane = Frame.over(
        extent["x"], extent["y"], (x_title, y_title), size=size, log=("x" in log, "y" in log)
    )
    rows = lines.assign(order=range(len(lines)))
    rows = rows[plane.thinned(plane.at(rows), pd.factorize(rows["series"])[0])]
    drawn = [frame.dropna(subset=["x", "y"]).groupby("series") for frame in (rows, points)]
    paths = [plane.at(next(g.get_group(name) for g in drawn if name in g.groups)) for name in names]
    across, outlines = rule_layers(rules, paths, plane)
    bars, spans = [], []
    if "low" in points:
        sure = points.dropna(subset=["low", "high"])
        at = [plane.at(sure.assign(y=sure[end])) for end in ("low", "high")]
        spans = list(np.stack(at, axis=1))
        mark = Layer(sure, name="intervals").mark_rule(strokeWidth=2)
        span = {"x": plane.channels["x"], "y": plane.on("y", "low"), "y2": alt.Y2("high:Q")}
        bars = [mark.encode(**span, color=looks["color"])]
    leaders, texts = drawn_labels(
        name_lines(names, paths, size, [*outlines, *spans]), plane, "leaders"
    )
    layers = [*across, *leaders]
    if len(rows):
        mark = Layer(rows, name="lines").mark_line(strokeWidth=3, strokeJoin="round")
        line = {c: looks[c] for c in ("color", "strokeDash")}
        layers.append(mark.encode(**plane.channels, **line, order="order:Q"))
    layers += bars
    if len(points):
        tips = ["series:N", *(tip(c, c) for c in points if c != "series")]
        mark = dots(points, "points", size=130, stroke="#FFFFFF")
        look = {c: looks[c] for c in ("color", "shape")}
        layers.append(mark.encode(**plane.channels, **look, tooltip=tips))
    words = [
        f"{y_title} by {x_title}",
        *_words(lines, points, names),
        *(f"{axis} = {value:.4g}: {text}" for axis, value, text in rules),
    ]
    return framed(alt.layer(*layers, *texts), title, words, size=size)


def _series(table: pd.DataFrame | None, needed: list[str]) -> pd.DataFrame:
    """series, x, y, and low and high where both are known."""
    if table is None:
        table = pd.DataFrame({"series": [], "x": [], "y": []}, dtype=float)
    ends = ["low", "high"] if {"low", "high"} <= {*table} else []
    checked(table, ["x", "y"], name="series", least=0)
    rows = checked(table, needed, ["x", "y", *ends], name="series", least=0)
    return rows[["series", "x", "y", *ends]].astype({"series": str})


def _words(lines: pd.DataFrame, points: pd.DataFrame, names: list[str]) -> list[str]:
    """Each series: the ends of its line, number and ends of its points."""
    parts = []
    for name in names:
        for kind, frame in (("line", lines), ("points", points)):
            own = frame[frame["series"] == name].dropna(subset=["x", "y"])
            if len(own):
                first, last = (
                    f"({x:.4g}, {y:.4g})" for x, y in own[["x", "y"]].iloc[[0, -1]].to_numpy()
                )
                sure = " with intervals" if "low" in own else ""
                count = kind if kind == "line" else f"{len(own)} points{sure}"
                parts.append(f"{name}: {count} from {first} to {last}")
    return parts
