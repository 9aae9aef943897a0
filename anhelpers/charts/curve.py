"""The oracle curve on the plane, its two ends, systems with their intervals, and the gap of each to the curve.

A gap is drawn on each axis with the other held: points with intervals, a row per system.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ..checks import a_kind
from ..errors import DataError
from ..frontier import OracleCurve
from .frame import (
    ACCURACY_TITLE,
    NATURALNESS_TITLE,
    Frame,
    Ranges,
    Size,
    axis_of,
    axis_ranges,
    framed,
    inside,
    legible,
    plane_axes,
    systems_text,
    thinned,
)
from .labels import bar_lines, label_layers, named_points
from .marks import (
    BARS,
    CATEGORIES,
    FONT,
    LINE,
    Layer,
    checked_columns,
    checked_systems,
    clipped,
    dots,
    interval_bars,
    moving_point,
    not_drawn,
    system_marks,
    tip,
)

__all__ = ["CATEGORIES", "axis_ranges", "beta_label", "plot_curve", "plot_gap"]


GAPS = ("accuracy_gap", "naturalness_gap")


def plot_curve(
    curve: OracleCurve,
    systems: pd.DataFrame | None = None,
    *,
    accuracy_title: str = ACCURACY_TITLE,
    naturalness_title: str = NATURALNESS_TITLE,
    title: str = "",
    betas: Sequence[float] = (0, math.inf),
    point: float | None = None,
    ranges: Ranges | None = None,
    size: Size = (620, 420),
    max_vertices: int = 5000,
) -> alt.LayerChart:
    """The oracle curve on the plane of naturalness (x) and accuracy (y), with systems where they are given.

    Up to `max_vertices` vertices all are drawn. Of more, those that share a quarter-pixel cell with the vertex
    before them are left out, which moves the line by less than half a pixel; in a picture of more than a thousand
    pixels the cells are larger. The curve is concave by construction.

    Parameters
    ----------
    curve : from `frontier.oracle_curve`.
    systems : one row per system: system, category (see `CATEGORIES`), accuracy, naturalness and, where known,
        accuracy_low, accuracy_high, naturalness_low, naturalness_high, n. A system with a nan is not drawn; the
        subtitle names it, and those outside the picture.
    accuracy_title, naturalness_title : axis titles with unit and direction.
    title : what the picture claims.
    betas : the β whose vertices are marked and labelled.
    point : a β that gets the large mark named ``bxpoint``, which the β explorer moves.
    ranges : ((from, to) of naturalness, (from, to) of accuracy); by default what is drawn, and a margin.
    size : (width, height) of the plane in pixels.

    Returns
    -------
    A layered chart without a configuration of its own, so that more layers can be added with ``+``.
    """
    a_kind(curve, OracleCurve, "curve is an OracleCurve, such as study.curve")
    table, systems = systems, checked_systems(systems)
    ranges = ranges or axis_ranges([curve], [systems])
    plane = plane_axes(ranges, size, naturalness_title, accuracy_title)
    tips = [tip("naturalness", naturalness_title), tip("accuracy", accuracy_title)]
    shown, notes = inside(systems, plane)
    notes += [*not_drawn(table, systems), *curve_notes(table)]
    line, path = curve_line(curve, plane, max_vertices)
    ends, marks = curve_ends(curve, betas, plane, tips)
    lines = [path, *bar_lines(shown, plane)]
    leaders, texts, _ = label_layers(named_points(shown, marks), lines, plane)
    layers = [line, *leaders]
    if len(shown):
        layers += [*interval_bars(shown, plane), system_marks(shown, plane.channels, tips)]
    layers += [ends, *texts]
    if point is not None:
        layers.append(moving_point(_vertices(curve, [curve.vertex(point)]), plane.channels))
    said = [curve_text(curve, table), systems_text(systems)]
    return framed(alt.layer(*layers), title, said, notes, size=size)


def curve_line(
    curve: OracleCurve, plane: Frame, max_vertices: int = 5000
) -> tuple[alt.Chart, np.ndarray]:
    """The oracle curve as the line named ``bxline``, cut off where the picture ends, and (V, 2) its pixels."""
    path = plane.pixels(curve.naturalness, curve.accuracy)
    kept = np.arange(len(path)) if len(path) <= max_vertices else np.flatnonzero(thinned(path))
    line = _vertices(curve, kept)
    cut = clipped(not plane.holds(line).all())
    chart = Layer(line, name="bxline").mark_line(color=LINE, strokeWidth=3, **cut)
    return chart.encode(**plane.channels, order=alt.Order("order:Q")), path[kept]


def curve_ends(
    curve: OracleCurve, betas: Sequence[float], plane: Frame, tips: list[alt.Tooltip]
) -> tuple[alt.Chart, pd.DataFrame]:
    """Marks at the vertices of some β, and their labels: those inside the picture."""
    marks = _vertices(curve, [curve.vertex(b) for b in betas], betas)
    marks = marks[plane.holds(marks)]
    tips = [alt.Tooltip("label:N", title="oracle"), *tips]
    ends = dots(marks, fill=LINE, size=110).encode(**plane.channels, tooltip=tips)
    return ends, marks


def curve_notes(table: pd.DataFrame | None) -> list[str]:
    """Which systems are no candidates and lie above the curve, where the table says so."""
    if table is None:
        return []
    notes = []
    if {"above_curve", "among_candidates"} <= set(table):
        above = table["system"][
            table["above_curve"].astype(bool) & ~table["among_candidates"].astype(bool)
        ].astype(str)
        listed = ", ".join(above[:5]) + ", …" * (len(above) > 5)
        said = f"Above the line or beyond its end, and not among the candidates: {listed}."
        notes += [said] if len(above) else []
    return notes


def beta_label(beta: float) -> str:
    """How a β is printed: "β = 0", "β = 2.5", "β = ∞".

    >>> [beta_label(b) for b in (0, 2.50, 1000, math.inf)]
    ['β = 0', 'β = 2.5', 'β = 1,000', 'β = ∞']
    """
    return f"β = {legible(beta)}"


def _vertices(
    curve: OracleCurve, index: Sequence[int] | np.ndarray, betas: Sequence[float] | None = None
) -> pd.DataFrame:
    """The chosen vertices, in curve order; labelled where the β that they stand for are given."""
    index = np.asarray(index, dtype=int)
    at = {"naturalness": curve.naturalness[index], "accuracy": curve.accuracy[index]}
    labels = {} if betas is None else {"label": [beta_label(b) for b in betas]}
    return pd.DataFrame({"order": index, **at, **labels})


def curve_text(curve: OracleCurve | None, table: pd.DataFrame | None = None) -> str:
    """The two ends of a curve in words, and the id of its candidates where the table has it; empty for no curve."""
    if curve is None:
        return ""
    over = ""
    if table is not None and "candidates" in table and table["candidates"].nunique() == 1:
        over = f", over {table['candidates'].iloc[0]}"
    a, n = curve.accuracy, curve.naturalness
    ends = (
        f"from accuracy {a[0]:.4g}, naturalness {n[0]:.4g} at β = 0 "
        f"to {a[-1]:.4g}, {n[-1]:.4g} at β = ∞"
    )
    return f"oracle curve {ends}{over}"


def plot_gap(
    table: pd.DataFrame,
    *,
    accuracy_title: str = "Accuracy gap at equal naturalness",
    naturalness_title: str = "Naturalness gap at equal accuracy",
    title: str = "",
    size: Size = (270, 22),
) -> alt.HConcatChart:
    """How far each system is below the oracle curve: two panels, the smallest accuracy gap on top; 0 is on the curve.

    Parameters
    ----------
    table : system, category, accuracy_gap, naturalness_gap, each where known with _low and _high. A nan has no mark:
        the oracle has no point there.
    accuracy_title, naturalness_title : with the unit of each axis.
    size : (width of a panel, height of a row) in pixels.
    """
    checked_columns(table, ["system", "category", *GAPS], "systems")
    rows = table.sort_values("accuracy_gap", kind="stable").reset_index(drop=True)
    if rows[list(GAPS)].isna().all(axis=None):
        raise DataError("no system has an accuracy_gap or a naturalness_gap to draw.")
    panels = [
        _panel(rows, *one, size)
        for one in zip(GAPS, (accuracy_title, naturalness_title), strict=True)
    ]
    notes = ["Bars: 95 % intervals."] if any(f"{gap}_low" in rows for gap in GAPS) else []
    values = rows[list(GAPS)].to_numpy(dtype=float)
    notes += ["Below 0: above the curve."] if (values < -1e-9).any() else []
    if np.isnan(values).any():
        notes.append("A missing mark: there is no score, or no point of the curve to compare with.")
    said = [f"{accuracy_title} and {naturalness_title}", systems_text(rows, GAPS)]
    chart = alt.hconcat(*panels, spacing=20).resolve_scale(y="shared")
    return framed(chart, title, said, notes, width=2 * size[0] + 120)


def _panel(rows: pd.DataFrame, column: str, title: str, size: Size) -> alt.LayerChart:
    names: dict[str, Any] = {
        "labels": column == GAPS[0],
        "ticks": False,
        "labelFontSize": FONT,
        "labelLimit": 240,
        "labelPadding": 10,
        "grid": True,
    }
    y = alt.Y("system:N", sort=rows["system"].tolist(), title=None, axis=alt.Axis(**names))
    x = alt.X(f"{column}:Q", axis=axis_of(title, size[0], tickCount=4))
    ends = [f"{column}_low", f"{column}_high"]
    known, tips = rows.dropna(subset=[column]), [tip(column, title)]
    layers = [system_marks(known, {"x": x, "y": y}, tips, rows["category"])]
    if set(ends) <= set(rows):
        bar = Layer(rows.dropna(subset=ends)).mark_rule(color=BARS, strokeWidth=2)
        layers.insert(0, bar.encode(x=alt.X(f"{ends[0]}:Q"), x2=alt.X2(f"{ends[1]}:Q"), y=y))
    return alt.layer(*layers).properties(width=size[0], height=size[1] * len(rows))
