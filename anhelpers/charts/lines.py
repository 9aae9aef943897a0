"""Lines of several series, told apart by colour and dashes, each named at its end, with points and rules beside them.

Closed forms against Monte Carlo, one bound against another, several oracle curves on one plane.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from .. import checks
from ..errors import DataError
from ..frontier import OracleCurve
from .frame import (
    ACCURACY_TITLE,
    MOST_ROWS,
    NATURALNESS_TITLE,
    Frame,
    Size,
    frame_of,
    framed,
    thinned,
)
from .labels import Label, bar_ends, free_place, name_lines
from .marks import (
    QUIET,
    Layer,
    checked_columns,
    checked_numbers,
    dots,
    leader_layers,
    on,
    text_layers,
    tip,
    told_apart,
)

__all__ = ["COLOURS", "DASHES", "SHAPES", "compare_curves", "plot_lines"]

# Okabe and Ito 2008: those dark enough for a line on white (3:1), and darker forms of their orange and a violet
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#7A5200", "#6E6E6E", "#5B2A86"]
DASHES = [[1, 0], [9, 4], [2, 3], [10, 3, 2, 3], [5, 3], [14, 4], [2, 6], [10, 3, 2, 3, 2, 3]]
SHAPES = [
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
]
# 4.5:1, for names
INKS = ["#0072B2", "#B34E00", "#007A58", "#A04B78", "#000000", "#7A5200", "#666666", "#5B2A86"]
Rule = tuple[str, float, str]


def plot_lines(
    lines: pd.DataFrame | None,
    points: pd.DataFrame | None = None,
    *,
    x_title: str,
    y_title: str,
    title: str = "",
    series_title: str | None = None,
    log_x: bool = False,
    log_y: bool = False,
    size: Size = (620, 420),
    rules: Sequence[Rule] = (),
    reach: Sequence[float] = (),
) -> alt.LayerChart:
    """A line per series, named at its end, and points with intervals in the same colours.

    Parameters
    ----------
    lines : series, x, y; a row per vertex, joined in the order of the rows. A nan leaves a gap. At most 8 series,
        each with its own colour and dashes.
    points : series, x, y and, where known, low and high of y; each series with its own shape. A nan is not drawn.
    x_title, y_title : with unit and direction. title : what the picture claims.
    series_title : what the names are names of.
    log_x, log_y : a logarithmic axis; then all its values must be positive.
    size : (width, height) of the plane in pixels; names stand to its right.
    rules : reference values, each ("x" or "y", value, label).
    reach : values of y that the axis shows too, such as 0.

    Returns
    -------
    A layered chart without a configuration of its own; its alt text holds the ends of the lines.

    Raises
    ------
    DataError for a missing column, an infinite number or a text in its place, nothing to draw, more than 8 series, more
    gaps than can be drawn.
    """
    lines, points = _checked(lines, "lines"), _checked(points, "points")
    names = list(dict.fromkeys([*lines["series"], *points["series"]]))
    if not 1 <= len(names) <= len(COLOURS):
        raise DataError(
            f"{len(names)} series; between 1 and {len(COLOURS)} can be told apart in one picture."
        )
    rules = [
        (checks.one_of(axis, "xy", "axis of a rule"), float(value), str(label))
        for axis, value, label in rules
    ]
    extent = (
        _extent("x", lines, points, rules),
        np.r_[_extent("y", lines, points, rules), list(reach)],
    )
    plane = frame_of(*extent, (x_title, y_title), log=(log_x, log_y), size=size)
    rows = _thinned(lines, plane)
    paths = [_path(rows, points, name, plane) for name in names]
    across, outlines = rule_layers(rules, paths, plane)
    bars = bar_ends(points, plane, "y", "low", "high") if "low" in points else []
    ends = name_lines(names, paths, size, [*outlines, *bars])
    layers = [*across, *leader_layers(ends, plane, COLOURS), *_line_layers(rows, names, plane)]
    layers += _point_layers(points, names, plane)
    layers += text_layers(ends, INKS, plane, above=series_title)
    said = [
        f"{y_title} by {x_title}",
        *_words(lines, points, names),
        *(f"{a} = {v:.4g}: {t}" for a, v, t in rules),
    ]
    return framed(alt.layer(*layers), title, said, size=size)


def compare_curves(
    curves: Mapping[str, OracleCurve],
    *,
    accuracy_title: str = ACCURACY_TITLE,
    naturalness_title: str = NATURALNESS_TITLE,
    title: str = "",
    size: Size = (520, 320),
) -> alt.LayerChart:
    """One line per curve, named at it, in the order given; titles as in `plot_curve`.

    Parameters
    ----------
    curves : name -> curve, at most 8, all in the same two units.
    """
    parts = [
        pd.DataFrame({"series": name, "x": c.naturalness, "y": c.accuracy})
        for name, c in curves.items()
    ]
    lines = pd.concat(parts) if parts else None
    return plot_lines(
        lines, x_title=naturalness_title, y_title=accuracy_title, title=title, size=size
    )


def _checked(table: pd.DataFrame | None, of: str) -> pd.DataFrame:
    """series, x, y (and low, high) of a table, as text and floats; a DataError names what cannot be drawn."""
    if table is None:
        return pd.DataFrame(
            {"series": np.array([], dtype=str), "x": np.array([]), "y": np.array([])}
        )
    both = [c for c in ("low", "high") if c in table]
    checked_columns(table, ["series", "x", "y", *(["low", "high"] if both else [])], of)
    numbers = ["x", "y", *both]
    frame = table[["series", *numbers]].reset_index(drop=True).astype({"series": str})
    frame = checked_numbers(frame, numbers, of, "series")
    return frame if of == "lines" else frame.dropna(subset=["x", "y"]).reset_index(drop=True)


def _extent(axis: str, lines: pd.DataFrame, points: pd.DataFrame, rules: list[Rule]) -> np.ndarray:
    """(n,) all values that an axis has to show."""
    drawn = lines.dropna(subset=["x", "y"])
    columns = [
        drawn[axis],
        points[axis],
        *(points[c] for c in ("low", "high") if axis == "y" and c in points),
    ]
    values = np.concatenate(
        [*columns, [value for where, value, _ in rules if where == axis]]
    ).astype(float)
    return values[~np.isnan(values)]


def _thinned(lines: pd.DataFrame, plane: Frame) -> pd.DataFrame:
    """The rows to draw: all, or of too many those by which the lines look the same."""
    rows = lines.assign(order=range(len(lines)))
    if len(rows) <= MOST_ROWS:
        return rows
    return rows[thinned(plane.pixels(rows["x"], rows["y"]), pd.factorize(rows["series"])[0])]


def _path(rows: pd.DataFrame, points: pd.DataFrame, name: str, plane: Frame) -> np.ndarray:
    """(V, 2) pixels of a series: of its line, or of its points where it has none."""
    for frame in (rows, points):
        own = frame[frame["series"] == name].dropna(subset=["x", "y"])
        if len(own):
            return plane.pixels(own["x"], own["y"])
    raise DataError(f"series '{name}' has no row with both x and y; leave it out.")


def _line_layers(rows: pd.DataFrame, names: list[str], plane: Frame) -> list[alt.Chart]:
    if rows.empty:
        return []
    chart = Layer(rows, name="lines").mark_line(strokeWidth=3, strokeJoin="round")
    looks = told_apart("series", names, color=COLOURS, strokeDash=DASHES)
    return [chart.encode(**plane.channels, order=alt.Order("order:Q"), **looks)]


def _point_layers(points: pd.DataFrame, names: list[str], plane: Frame) -> list[alt.Chart]:
    """Intervals, and above them the marks."""
    layers = []
    if "low" in points:
        known = points.dropna(subset=["low", "high"])
        bars = Layer(known, name="intervals").mark_rule(strokeWidth=2)
        span = {"x": plane.channels["x"], "y": on(plane.channels["y"], "low"), "y2": "high:Q"}
        layers.append(bars.encode(**span, **told_apart("series", names, color=COLOURS)))
    if len(points):
        tips = ["series:N", *(tip(c, c) for c in points if c != "series")]
        looks = told_apart("series", names, color=COLOURS, shape=SHAPES)
        marks = dots(points, "points", size=130, stroke="#FFFFFF")
        layers.append(marks.encode(**plane.channels, **looks, tooltip=tips))
    return layers


def rule_layers(
    rules: Sequence[Rule], paths: Sequence[np.ndarray], plane: Frame
) -> tuple[list[alt.Chart], list[np.ndarray]]:
    """Dashed lines across the plane, their labels where these hide least, and (V, 2) pixels of both."""
    layers, (wide, high) = [], plane.size
    labels: list[Label] = []
    fields = dict(zip("xy", plane.fields, strict=True))
    at = [
        plane.pixels([v if axis == "x" else 1.0], [v if axis == "y" else 1.0])[0]
        for axis, v, _ in rules
    ]
    drawn = [
        np.array([[x, 0], [x, high]] if axis == "x" else [[0, y], [wide, y]])
        for (x, y), (axis, _, _) in zip(at, rules, strict=True)
    ]
    for k, (axis, value, text) in enumerate(rules):
        at_value = Layer(pd.DataFrame({fields[axis]: [value]}))
        mark = at_value.mark_rule(color=QUIET, strokeWidth=1.5, strokeDash=[4, 4])
        layers.append(mark.encode(**{axis: plane.channels[axis]}))
        others = [*paths, *drawn[:k], *drawn[k + 1 :]]
        labels.append(free_place(text, axis, at[k], plane.size, others))
        drawn.append(labels[-1].outline)
    return [*layers, *text_layers(labels, [QUIET] * len(labels), plane)], drawn


def _words(lines: pd.DataFrame, points: pd.DataFrame, names: list[str]) -> list[str]:
    """Each series in words: the ends of its line, and how many points with which ends."""
    parts = []
    for name in names:
        for kind, frame in (("line", lines), ("points", points)):
            own = frame[frame["series"] == name].dropna(subset=["x", "y"])
            if len(own):
                ends = " to ".join(
                    f"({x:.4g}, {y:.4g})" for x, y in own[["x", "y"]].iloc[[0, -1]].to_numpy()
                )
                count = f"{len(own)} points" + (" with intervals" if "low" in own else "")
                parts.append(f"{name}: {'line' if kind == 'line' else count} from {ends}")
    return parts
