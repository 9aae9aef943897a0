"""Systems on the accuracy-naturalness plane (AN Figures 2 and 3): marks by category, uncertainty, the Pareto set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from .. import checks
from ..errors import DataError
from ..frontier import OracleCurve, pareto_mask
from .axes import ACCURACY_TITLE, NATURALNESS_TITLE, Size, axis_ranges, headline, inside, pixels, plane_axes, within
from .curve import curve_ends, curve_line, curve_text
from .describe import description, systems_text
from .ellipses import COLUMNS, RADIUS, ellipse_layers, error_ellipses
from .labels import bar_lines, label_layers, named_points
from .marks import Ranges, checked_systems, clipped, interval_bars, system_marks, tip

__all__ = ["focus_ranges", "plot_systems"]

UNCERTAINTY = {"ellipse": "Ellipses: 95 % of the means.", "cross": "Crosses: 95 % of each mean.", "none": ""}
PARETO = "Rings: no other system beats these on both axes."


def plot_systems(
    table: pd.DataFrame,
    *,
    curve: OracleCurve | None = None,
    accuracy_title: str = ACCURACY_TITLE,
    naturalness_title: str = NATURALNESS_TITLE,
    title: str = "",
    uncertainty: str = "ellipse",
    pareto: bool = True,
    origin: str = "",
    named: Sequence[str] = (),
    betas: Sequence[float] = (0, math.inf),
    ranges: Ranges | None = None,
    size: Size = (620, 420),
) -> alt.LayerChart:
    """Systems on the plane, higher is better on both axes, with how sure their places are and who is Pareto-optimal.

    Labels of the Pareto set are bold and placed first; one that would cover another is left out and in the tooltip.

    Parameters
    ----------
    table : one row per system: system, category (see `CATEGORIES`), accuracy, naturalness; for ellipses accuracy_se,
        naturalness_se, correlation; for crosses accuracy_low, accuracy_high, naturalness_low, naturalness_high; where
        known pareto, pareto_probability, n, n_docs, lacks (for tooltips). A system with a nan is not drawn.
    curve : an oracle curve to draw behind the systems, with labels at `betas`.
    uncertainty : "ellipse", "cross" or "none"; pareto : whether to mark the Pareto set (column pareto, else computed).
    origin : what (0, 0) means, "no errors" for negated penalties: is then marked, and within the default ranges.
    named : systems whose labels are placed before all others, in bold: one's own.
    ranges : ((from, to) of naturalness, (from, to) of accuracy), as from `focus_ranges`; who lies outside is told.
    size : (width, height) of the plane in pixels; `axes.COLUMN` for a figure 3.3 inches wide.
    """
    checks.one_of(uncertainty, UNCERTAINTY, "way to draw uncertainty")
    systems = _ranked(checked_systems(table))
    outlines = error_ellipses(systems) if uncertainty == "ellipse" else None
    ranges = ranges or _ranges(systems, curve, uncertainty, origin)
    axes = plane_axes(ranges, size, naturalness_title, accuracy_title)
    plane: dict[str, Any] = {"ranges": ranges, "size": size}
    tips = [tip("naturalness", naturalness_title), tip("accuracy", accuracy_title)]
    shown, notes = inside(systems, ranges)
    if shown.empty:
        raise DataError(f"no system lies in the picture, {ranges}: give other ranges, or none.")
    shown = shown.iloc[np.argsort(~shown["system"].isin(named), kind="stable")].reset_index(drop=True)
    best = shown["pareto"].to_numpy(dtype=bool) & pareto
    bold = best | shown["system"].isin(named).to_numpy()
    layers, lines, marks = _behind(systems, curve, axes, tips, pareto=pareto, betas=betas, **plane)
    if outlines is not None:
        layers += ellipse_layers(outlines[outlines["system"].isin(shown["system"])], axes, ranges)
    if uncertainty == "cross":
        layers += interval_bars(shown, axes, ranges)
        lines += bar_lines(shown, ranges, size)
    plus, marks = _origin(origin, marks, axes, ranges)
    leaders, texts, unnamed = label_layers(named_points(marks, shown, bold), lines, axes, **plane)
    layers += [*leaders, *plus, *_rings(shown[best], axes), system_marks(shown, axes, tips), *texts]
    notes = [" ".join(filter(None, [PARETO if pareto else "", UNCERTAINTY[uncertainty]])), *notes]
    notes = [*filter(None, notes), *_unseen(table, systems, curve, ranges)]
    best = ", ".join(systems["system"][systems["pareto"].astype(bool)].astype(str)) if pareto else ""
    unnamed = f"without a label for want of space: {', '.join(unnamed)}" if unnamed else ""
    words = description(
        title, [systems_text(systems), best and f"on the Pareto frontier: {best}", curve_text(curve), *notes, unnamed]
    )
    chart = alt.layer(*layers).properties(width=size[0], height=size[1], description=words)
    return chart.properties(**headline(title, notes, size[0]))


def focus_ranges(table: pd.DataFrame, focus: int | Sequence[str] = 12) -> Ranges:
    """The part of the plane where the best systems crowd, so that a few bad ones stretch no axis.

    The best are those nearest to the corner made of the highest accuracy and the highest naturalness of any system, in
    units of each axis's interquartile range. So a system that is Pareto-optimal by one axis alone may lie outside.

    Parameters
    ----------
    table : as for `plot_systems`; focus : how many systems, or their names. The ranges hold their means; a long
        interval is cut off.
    """
    systems = _ranked(checked_systems(table))[["system", "category", "accuracy", "naturalness"]]
    if isinstance(focus, int):
        at = systems[["accuracy", "naturalness"]].to_numpy(dtype=float)
        spread = np.subtract(*np.percentile(at, [75, 25], axis=0))
        away = np.hypot(*((at.max(axis=0) - at) / np.where(spread > 0, spread, 1)).T)
        return axis_ranges([], [systems.iloc[np.argsort(away, kind="stable")[:focus]]])
    for name in focus:
        checks.one_of(name, systems["system"], "system")
    return axis_ranges([], [systems[systems["system"].isin(focus)]])


def _ranked(systems: pd.DataFrame) -> pd.DataFrame:
    """The table with a column pareto, computed where it is missing."""
    if systems.empty:
        raise DataError("no system to draw: every row lacks accuracy or naturalness.")
    if "pareto" in systems:
        return systems
    one = np.zeros(len(systems), dtype=int)
    return systems.assign(pareto=pareto_mask(one, systems["accuracy"], systems["naturalness"]))


def _ranges(systems: pd.DataFrame, curve: OracleCurve | None, uncertainty: str, origin: str) -> Ranges:
    """What holds the systems with what is drawn of their uncertainty, the curve, and (0, 0) if it has a name."""
    frame = systems[["system", "category", "accuracy", "naturalness"]].copy()
    for axis in ("accuracy", "naturalness"):
        if uncertainty == "ellipse":
            reach = RADIUS * systems[f"{axis}_se"].where(systems[COLUMNS].notna().all(axis=1))
            frame[f"{axis}_low"], frame[f"{axis}_high"] = systems[axis] - reach, systems[axis] + reach
        for end in ("low", "high") if uncertainty == "cross" and f"{axis}_low" in systems else ():
            frame[f"{axis}_{end}"] = systems[f"{axis}_{end}"]
    if origin:
        frame = pd.concat([frame, frame.iloc[:1].assign(**dict.fromkeys(frame.columns[2:], 0.0))], ignore_index=True)
    return axis_ranges([] if curve is None else [curve], [frame])


def _behind(
    systems: Any, curve: Any, axes: Any, tips: Any, *, pareto: Any, betas: Any, ranges: Any, size: Any
) -> tuple[list, list, pd.DataFrame]:
    """What lies behind the systems, curve and steps: layers, their pixels, and the labelled vertices of the curve."""
    layers, lines, marks = [], [], pd.DataFrame(columns=["label", "naturalness", "accuracy"])
    if curve is not None:
        line, path = curve_line(curve, axes, ranges=ranges, size=size)
        ends, marks = curve_ends(curve, betas, axes, tips, ranges)
        layers, lines = [line, ends], [path]
    if pareto and systems["pareto"].any():
        steps = staircase(systems[systems["pareto"].astype(bool)], ranges)
        cut = clipped(not within(steps, ranges).all())
        line = alt.Chart(steps).mark_line(color="#000000", strokeWidth=1.5, strokeDash=[6, 4], **cut)
        layers.append(line.encode(x=axes["x"], y=axes["y"], order="step:Q"))
        lines.append(np.stack(pixels(steps["naturalness"], steps["accuracy"], ranges, size), axis=1))
    return layers, lines, marks


def staircase(best: pd.DataFrame, ranges: Ranges) -> pd.DataFrame:
    """The edge of what the Pareto set beats, from the left side to the bottom: naturalness, accuracy, step."""
    best = best.sort_values(["naturalness", "accuracy"], ascending=[True, False])
    x, y = best["naturalness"].to_numpy(dtype=float), best["accuracy"].to_numpy(dtype=float)
    left, bottom = min(ranges[0][0], x[0]), min(ranges[1][0], y[-1])
    corners = {"naturalness": np.r_[left, np.repeat(x, 2)], "accuracy": np.r_[np.repeat(y, 2), bottom]}
    return pd.DataFrame(corners | {"step": np.arange(2 * len(x) + 1)})


def _unseen(table: Any, systems: Any, curve: OracleCurve | None, ranges: Ranges) -> list[str]:
    """Sentences that tell of systems without a place, and of a curve that the picture does not show."""
    lost = [str(name) for name in table["system"] if name not in set(systems["system"])]
    notes = [f"Not drawn, for a score is missing: {', '.join(lost)}."] if lost else []
    at = None if curve is None else pd.DataFrame({"naturalness": curve.naturalness, "accuracy": curve.accuracy})
    hidden = at is not None and not within(at, ranges).any()
    return [*notes, "The oracle curve lies outside the picture."] if hidden else notes


def _rings(best: pd.DataFrame, axes: dict) -> list[alt.Chart]:
    ring = {"shape": "circle", "filled": False, "stroke": "#000000", "strokeWidth": 2, "size": 420, "opacity": 1}
    return [alt.Chart(best).mark_point(**ring).encode(x=axes["x"], y=axes["y"])] if len(best) else []


def _origin(origin: str, marks: pd.DataFrame, axes: dict, ranges: Ranges) -> tuple[list[alt.Chart], pd.DataFrame]:
    """A plus at (0, 0), if it has a name and lies in the picture; and the labelled marks with it among them."""
    zero = pd.DataFrame({"label": [origin], "naturalness": [0.0], "accuracy": [0.0]})
    if not origin or not within(zero, ranges).all():
        return [], marks
    plus = {"shape": "M-1,0H1M0,-1V1", "stroke": "#000000", "strokeWidth": 2, "size": 200, "opacity": 1}
    chart = alt.Chart(zero).mark_point(**plus).encode(x=axes["x"], y=axes["y"])
    return [chart], pd.concat([marks, zero]) if len(marks) else zero
