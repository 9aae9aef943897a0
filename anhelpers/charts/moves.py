"""Systems on the plane before and after a convention changed: where each stood, where it stands, and a line between."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from ..errors import DataError
from ..frontier import pareto_mask
from .frame import Ranges, Size, framed, plane_axes
from .labels import label_layers, named_points
from .marks import (
    FONT,
    HALO,
    QUIET,
    Layer,
    category_channels,
    checked_columns,
    checked_systems,
    dots,
    not_drawn,
    on,
    plus_mark,
    ring_marks,
    tip,
)

__all__ = ["moves_ranges", "plot_moves", "zoom"]

MARGIN = (1.1, 0.06)  # room beyond the worst penalty, and beyond (0, 0), in units of the worst
COLUMNS = ["accuracy", "naturalness", "accuracy_start", "naturalness_start"]


def plot_moves(
    table: pd.DataFrame,
    *,
    accuracy_title: str = "−MQM accuracy (points per segment, higher is better)",
    naturalness_title: str = "−MQM fluency (points per segment, higher is better)",
    title: str = "",
    ranges: Ranges | None = None,
    size: Size = (500, 470),
    movable: bool = False,
) -> alt.LayerChart:
    """Systems by two negated penalties, each with a line from where it stood to where it stands; (0, 0) is no errors.

    Parameters
    ----------
    table : one row per system: system, category (see `CATEGORIES`), accuracy and naturalness ≤ 0, where it stands,
        accuracy_start and naturalness_start ≤ 0, where it stood.
    ranges : ((from, to) of naturalness, (from, to) of accuracy), by default `moves_ranges` of all four columns.
    size : (width, height) of the plane in pixels.
    movable : every system gets a ring and a label, in layers whose names begin with bx, a mark per system in the order
        of the table: a script moves them and hides those that are not wanted. Otherwise a label that would cover
        another is left out, and rings are for the Pareto set alone.

    Raises
    ------
    DataError : a column is missing, or a penalty has the wrong sign.
    """
    checked_columns(table, COLUMNS, "systems")
    systems = checked_systems(table)
    if systems.empty or (systems[COLUMNS] > 0).any(axis=None):
        raise DataError(
            "the systems must have penalties, negated: values of at most 0, and there must be one."
        )
    ranges = ranges or moves_ranges(systems)
    plane = plane_axes(ranges, size, naturalness_title, accuracy_title)
    axes = plane.channels
    best = pareto_mask(
        np.zeros(len(systems), dtype=int), *(systems[c].round(9) for c in COLUMNS[:2])
    )
    moved = (systems[COLUMNS[:2]].to_numpy() != systems[COLUMNS[2:]].to_numpy()).any(
        axis=1
    ) | movable
    layers = [plus_mark(axes), *_traces(systems[moved], axes)]
    layers += [ring_marks(systems[best | movable], axes, "bxring"), _marks(systems, axes)]
    if movable:
        layers += _loose_labels(systems, axes)
    else:
        leaders, texts, _ = label_layers(named_points(systems, bold=best), [], plane)
        layers = [*leaders, *layers, *texts]
    said = [_words(systems), "Ring: no other system beats it on both axes"]
    return framed(alt.layer(*layers), title, said, not_drawn(table, systems), size=size)


def moves_ranges(table: pd.DataFrame) -> Ranges:
    """((from, to) of naturalness, (from, to) of accuracy) that hold all penalties, negated, and (0, 0)."""
    spans = []
    for axis in ("naturalness", "accuracy"):
        worst = float(-table[[axis, f"{axis}_start"]].to_numpy().min()) or 1.0
        spans.append((-MARGIN[0] * worst, MARGIN[1] * worst))
    return spans[0], spans[1]


def zoom(worst: float, low: float) -> float:
    """1, 2, 5, 10, 20 …: how many times as far an axis from `low` < 0 to 0 must reach to hold the worst penalty.

    >>> zoom(3.0, -4.0), zoom(5.0, -4.0), zoom(17.0, -4.0)
    (1.0, 2.0, 5.0)
    """
    step = 0
    reach = -low / MARGIN[0] * (1 + 1e-9)
    while worst > reach * (factor := (1, 2, 5)[step % 3] * 10.0 ** (step // 3)):
        step += 1
    return float(factor)


def _traces(systems: pd.DataFrame, axes: dict) -> list[alt.Chart]:
    """The lines, and the small rings at their starts."""
    if systems.empty:
        return []
    at = {"x": on(axes["x"], "naturalness_start"), "y": on(axes["y"], "accuracy_start")}
    line = Layer(systems, name="bxtrace")
    line = line.mark_rule(color=QUIET, strokeWidth=2, strokeDash=[5, 3])
    return [
        line.encode(**at, x2=alt.X2("naturalness:Q"), y2=alt.Y2("accuracy:Q")),
        ring_marks(systems, at, "bxstart", stroke=QUIET, size=50),
    ]


def _marks(systems: pd.DataFrame, axes: dict) -> alt.Chart:
    tips = ["system:N", "category:N", *map(tip, COLUMNS)]
    looks = category_channels(systems["category"])
    return dots(systems, "bxsystem").encode(**axes, **looks, tooltip=tips)


def _loose_labels(systems: pd.DataFrame, axes: dict) -> list[alt.Chart]:
    """The names right of their marks, each with a halo under it, and lines for those that must move away."""
    line = Layer(systems, name="bxleader").mark_rule(color="#444444", strokeWidth=1)
    look = {"align": "left", "dx": 14, "fontSize": FONT, "baseline": "middle", "color": "#000000"}
    layers = (("bxhalo", look | HALO), ("bxlabel", look))
    texts = [
        Layer(systems, name=n).mark_text(**m).encode(**axes, text=alt.Text("system:N"))
        for n, m in layers
    ]
    return [line.encode(**axes, x2=alt.X2("naturalness:Q"), y2=alt.Y2("accuracy:Q")), *texts]


def _words(systems: pd.DataFrame) -> str:
    """Every system with its penalties now, and at the start where these were others."""
    parts = []
    for row in systems.to_dict("records"):
        now, start = (
            [f"{-row[c] + 0.0:.4g}" for c in columns] for columns in (COLUMNS[:2], COLUMNS[2:])
        )
        was = f"; at the start {start[0]}, {start[1]}" if now != start else ""
        parts.append(f"{row['system']} ({now[0]}, {now[1]}{was})")
    return f"penalties on accuracy and fluency: {', '.join(parts)}"
