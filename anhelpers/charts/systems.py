"""Systems on the accuracy-naturalness plane (AN Figures 2 and 3): marks by category, uncertainty, the Pareto set.

Uncertainty is drawn as 95 % ellipses, where the mean of a system lies on both axes at once, from standard errors and a
correlation; or as crosses, an interval on each axis.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from .. import checks
from ..errors import DataError
from ..estimate import Estimate
from ..frontier import OracleCurve, pareto_mask
from ..plane.scores import OF_REFERENCE
from .curve import curve_ends, curve_line, curve_notes, curve_text
from .ellipses import ellipse_layers, error_ellipses, has_ellipse, radii
from .frame import (
    ACCURACY_TITLE,
    NATURALNESS_TITLE,
    Frame,
    Size,
    axis_ranges,
    digits_of,
    framed,
    inside,
    number,
    plane_axes,
    systems_text,
)
from .labels import bar_lines, label_layers, named_points
from .lines import rule_layers
from .marks import (
    QUIET,
    Layer,
    Ranges,
    checked_systems,
    clipped,
    interval_bars,
    not_drawn,
    on,
    plus_mark,
    ring_marks,
    system_marks,
    tip,
)

__all__ = [
    "Picture",
    "focus_ranges",
    "plot_systems",
    "systems_picture",
    "systems_ranges",
]

UNCERTAINTY = ("ellipse", "cross", "none")
PARETO = "Rings: no counted system beats these on both axes."


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
    mono: Estimate | None = None,
    ranges: Ranges | None = None,
    size: Size = (620, 420),
) -> alt.LayerChart:
    """Systems on the accuracy-naturalness plane, higher is better, with 95 % regions; Pareto-optimal ones are marked.

    Labels of the Pareto set are bold and placed first; one that would cover another is left out and in the tooltip.

    Parameters
    ----------
    table : one row per system: system, category (see `CATEGORIES`), accuracy, naturalness; for ellipses accuracy_se,
        naturalness_se, correlation, n_effective; for crosses accuracy_low, accuracy_high, naturalness_low,
        naturalness_high; where known pareto, pareto_probability, n, n_docs, lacks (for tooltips), and outside, which
        says who is a control. A system with a nan is not drawn. The subtitle names it, those outside the picture, and
        those without an interval where others have one; with a curve, its candidates (column candidates) and who lies
        above it (columns above_curve and among_candidates).
    curve : an oracle curve to draw behind the systems, with labels at `betas`.
    uncertainty : "ellipse", "cross" or "none"; pareto : whether to mark the Pareto set (column pareto, else computed).
    origin : what (0, 0) means, "no errors" for negated penalties: is then marked, and within the default ranges.
    mono : of `plane.with_mono`, where R, text that people wrote in the language, stands on the axis of naturalness: a
        rule, with its interval as a band.
    named : one's own systems: their labels are placed before all others, in bold, their marks lie above the others, and
        have a thick outline.
    ranges : ((from, to) of naturalness, (from, to) of accuracy), as from `focus_ranges`.
    size : (width, height) of the plane in pixels; `axes.COLUMN` for a figure 3.3 inches wide.
    """
    ranges = ranges or systems_ranges(
        table, curve=curve, uncertainty=uncertainty, origin=origin, mono=mono
    )
    plane = plane_axes(ranges, size, naturalness_title, accuracy_title)
    drawn = systems_picture(
        table,
        plane,
        curve=curve,
        uncertainty=uncertainty,
        pareto=pareto,
        origin=origin,
        named=named,
        betas=betas,
        mono=mono,
        tips=[tip("naturalness", naturalness_title), tip("accuracy", accuracy_title)],
    )
    layers = alt.layer(*drawn.layers)
    return framed(layers, title, drawn.said, drawn.notes, unnamed=drawn.unnamed, size=size)


class Picture(NamedTuple):
    """Systems as they are drawn on a plane.

    Parameters
    ----------
    layers : what is drawn, from back to front. said : all of it in words, for the alt text.
    notes : sentences on how to read it, and on what is not in it. unnamed : whose names found no room.
    """

    layers: list[alt.Chart]
    said: list[str]
    notes: list[str]
    unnamed: list[str]


def systems_picture(
    table: pd.DataFrame,
    plane: Frame,
    *,
    curve: OracleCurve | None = None,
    uncertainty: str = "ellipse",
    pareto: bool = True,
    origin: str = "",
    named: Sequence[str] = (),
    betas: Sequence[float] = (0, math.inf),
    mono: Estimate | None = None,
    tips: Sequence[alt.Tooltip] = (),
    legend: Mapping[str, Any] | None = None,
) -> Picture:
    """What `plot_systems` draws on a plane, for a picture that has more than one: its layers, and its words.

    Parameters
    ----------
    tips : of the two axes. curve, uncertainty, pareto, origin, named, betas, mono : as for `plot_systems`.
    legend : of `marks.system_marks`: the categories that it is of, and where it stands.
    """
    checks.one_of(uncertainty, UNCERTAINTY, "way to draw uncertainty")
    systems = _ranked(checked_systems(table))
    outlines = error_ellipses(systems) if uncertainty == "ellipse" else None
    shown, notes = inside(systems, plane)
    if shown.empty:
        raise DataError(
            f"no system lies in the picture, {plane.ranges}: give other ranges, or none."
        )
    shown = shown.iloc[np.argsort(~shown["system"].isin(named), kind="stable")].reset_index(
        drop=True
    )
    best = shown["pareto"].to_numpy(dtype=bool) & pareto
    mine = shown["system"].isin(named).to_numpy()
    bold = best | mine
    layers, lines, marks = _behind(curve, betas, plane, list(tips))
    if mono is not None:
        at_r, drawn = _mono_layers(mono, [*lines, plane.at(shown)], plane)
        layers, lines = [*at_r, *layers], [*lines, *drawn]
    if pareto:
        layers, lines = _with_steps(_edge(systems), plane, layers, lines)
    if outlines is not None:
        layers += ellipse_layers(outlines[outlines["system"].isin(shown["system"])], plane)
    if uncertainty == "cross":
        layers += interval_bars(shown, plane)
        lines += bar_lines(shown, plane)
    plus, marks = _origin(origin, marks, plane)
    leaders, texts, unnamed = label_layers(named_points(shown, marks, bold), lines, plane)
    rings = [
        ring_marks(shown[some], plane.channels, size=size)
        for some, size in ((best & ~mine, 420), (best & mine, 900))  # of whose marks are larger
        if some.any()
    ]
    points = system_marks(shown, plane.channels, list(tips), own=named, **(legend or {}))
    layers += [*leaders, *plus, *rings, points, *texts]
    notes = [" ".join([PARETO] * pareto + _uncertain(uncertainty, shown)), *notes]
    notes = [*filter(None, notes), *_mono_words(mono, plane), *not_drawn(table, systems)]
    notes += [*_hidden(curve, plane), *(curve_notes(table) if curve is not None else [])]
    own = ", ".join(shown["system"][mine].astype(str))
    notes += [f"Thick outlines: {own}."] if own else []
    notes += [f"Names left out, as there is no room: {len(unnamed)}."] if unnamed else []
    first = systems["system"][systems["pareto"].astype(bool)].astype(str) if pareto else []
    first = f"on the Pareto frontier: {', '.join(first)}" if len(first) else ""
    said = [systems_text(systems), first, curve_text(curve, table)]
    return Picture(layers, said, notes, unnamed)


def focus_ranges(table: pd.DataFrame, focus: int | Sequence[str] = 12) -> Ranges:
    """The part of the plane where the best systems crowd, so that a few bad ones stretch no axis.

    The best are those nearest to the corner made of the highest accuracy and the highest naturalness of any system, in
    units of each axis's interquartile range. So a system that is Pareto-optimal by one axis alone may lie outside.

    Parameters
    ----------
    table : as for `plot_systems`; focus : how many systems, or their names. The ranges hold their means; a long
        interval is cut off.
    """
    ranked = _ranked(checked_systems(table))
    systems = ranked[["system", "category", "accuracy", "naturalness"]]
    if (focus if isinstance(focus, int) else len(focus)) < 1:
        raise DataError(f"focus is {focus}; give how many systems, at least 1, or their names.")
    if isinstance(focus, int):
        systems = systems[_stretching(ranked)]
        at = systems[["accuracy", "naturalness"]].to_numpy(dtype=float)
        spread = np.subtract(*np.percentile(at, [75, 25], axis=0))
        away = np.hypot(*((at.max(axis=0) - at) / np.where(spread > 0, spread, 1)).T)
        return axis_ranges([], [systems.iloc[np.argsort(away, kind="stable")[:focus]]])
    for name in focus:
        checks.one_of(name, systems["system"], "system")
    return axis_ranges([], [systems[systems["system"].isin(focus)]])


def _stretching(systems: pd.DataFrame) -> np.ndarray:
    """(n,) bool: who decides how far an axis reaches: neither a control nor a copy of a reference, which has all."""
    if "outside" not in systems:
        return np.ones(len(systems), dtype=bool)
    why = systems["outside"].astype(str)
    real = ~(why.eq("control") | why.str.startswith(OF_REFERENCE)).to_numpy()
    return real if real.any() else ~real


def _ranked(systems: pd.DataFrame) -> pd.DataFrame:
    """The table with a column pareto, computed where it is missing."""
    if systems.empty:
        raise DataError("no system to draw: every row lacks accuracy or naturalness.")
    if "pareto" in systems:
        return systems
    one = np.zeros(len(systems), dtype=int)
    return systems.assign(pareto=pareto_mask(one, systems["accuracy"], systems["naturalness"]))


def systems_ranges(
    table: pd.DataFrame,
    *,
    curve: OracleCurve | None = None,
    uncertainty: str = "ellipse",
    origin: str = "",
    mono: Estimate | None = None,
) -> Ranges:
    """What holds the systems with what is drawn of their uncertainty, the curve, R, and (0, 0) if it has a name.

    Controls and copies of a reference stretch no axis, unless there is nothing else.

    Parameters
    ----------
    curve, uncertainty, origin, mono : as for `plot_systems`.
    """
    systems = _ranked(checked_systems(table))
    systems = systems[_stretching(systems)]
    frame = systems[["system", "category", "accuracy", "naturalness"]].copy()
    for axis in ("accuracy", "naturalness"):
        if uncertainty == "ellipse":
            reach = radii(systems) * systems[f"{axis}_se"].where(has_ellipse(systems))
            possible = systems.attrs.get("bounds", {}).get(axis, (-np.inf, np.inf))
            ends = (systems[axis] - reach).clip(*possible), (systems[axis] + reach).clip(*possible)
            frame[f"{axis}_low"], frame[f"{axis}_high"] = ends
        for end in ("low", "high") if uncertainty == "cross" and f"{axis}_low" in systems else ():
            frame[f"{axis}_{end}"] = systems[f"{axis}_{end}"]
    if origin:
        frame = pd.concat(
            [frame, frame.iloc[:1].assign(**dict.fromkeys(frame.columns[2:], 0.0))],
            ignore_index=True,
        )
    if mono is not None:
        ends = np.array([mono.low, mono.value, mono.high])
        at_r = frame.iloc[[0] * 3].assign(naturalness=np.where(np.isnan(ends), mono.value, ends))
        frame = pd.concat([frame, at_r], ignore_index=True)
    return axis_ranges([] if curve is None else [curve], [frame])


def _behind(
    curve: OracleCurve | None, betas: Sequence[float], plane: Frame, tips: list[alt.Tooltip]
) -> tuple[list[alt.Chart], list[np.ndarray], pd.DataFrame]:
    """The curve behind the systems: layers, their pixels, and its labelled vertices."""
    if curve is None:
        return [], [], pd.DataFrame(columns=["label", "naturalness", "accuracy"])
    line, path = curve_line(curve, plane)
    ends, marks = curve_ends(curve, betas, plane, tips)
    return [line, ends], [path], marks


def _edge(systems: pd.DataFrame) -> pd.DataFrame:
    """Whose scores make the edge: of the Pareto set those that are compared, so that it falls from left to right."""
    best = systems[systems["pareto"].astype(bool)]
    return best[best["outside"] == ""] if "outside" in best else best


def _with_steps(
    best: pd.DataFrame, plane: Frame, layers: list[alt.Chart], lines: list[np.ndarray]
) -> tuple[list[alt.Chart], list[np.ndarray]]:
    """The layers and their pixels with the edge of what the Pareto set beats, where there is one."""
    if best.empty:
        return layers, lines
    steps = _staircase(best, plane.ranges)
    cut = clipped(not plane.holds(steps).all())
    line = Layer(steps).mark_line(color="#000000", strokeWidth=1.5, strokeDash=[6, 4], **cut)
    return [*layers, line.encode(**plane.channels, order=alt.Order("step:Q"))], [
        *lines,
        plane.at(steps),
    ]


def _staircase(best: pd.DataFrame, ranges: Ranges) -> pd.DataFrame:
    """The edge of what the best beat, from the left side to the bottom: naturalness, accuracy, step."""
    best = best.sort_values(["naturalness", "accuracy"], ascending=[True, False])
    x, y = best["naturalness"].to_numpy(dtype=float), best["accuracy"].to_numpy(dtype=float)
    left, bottom = min(ranges[0][0], x[0]), min(ranges[1][0], y[-1])
    corners = {
        "naturalness": np.r_[left, np.repeat(x, 2)],
        "accuracy": np.r_[np.repeat(y, 2), bottom],
    }
    return pd.DataFrame(corners | {"step": np.arange(2 * len(x) + 1)})


def _uncertain(uncertainty: str, shown: pd.DataFrame) -> list[str]:
    """What the ellipses, crosses or bars are, and who has none."""
    what, known, said = "bar", np.zeros(len(shown), dtype=bool), ""
    if uncertainty == "ellipse":
        what, known, said = "ellipse", has_ellipse(shown), "Ellipses: 95 % of the means."
    elif uncertainty == "cross":
        spans = {axis: [f"{axis}_low", f"{axis}_high"] for axis in ("accuracy", "naturalness")}
        has = {
            axis: shown[span].notna().all(axis=1)
            for axis, span in spans.items()
            if {*span} <= {*shown} and shown[span].notna().all(axis=1).any()
        }
        known = np.any([*has.values()], axis=0)
        one = f"Bars: 95 % of the mean {''.join(has)}."
        said = "Crosses: 95 % of each mean." if len(has) == 2 else one
    if not np.any(known):
        return []
    without = ", ".join(shown["system"][~known].astype(str))
    return [said, f"No {what}, for an interval is missing: {without}."] if without else [said]


def _mono_layers(
    mono: Estimate, paths: list[np.ndarray], plane: Frame
) -> tuple[list[alt.Chart], list[np.ndarray]]:
    """R: its interval as a band over the whole height and its mean as a rule, as far as the picture holds them."""
    start, end = plane.ranges[0]
    band = {"low": max(mono.low, start), "high": min(mono.high, end)}
    layers = []
    if band["low"] < band["high"]:
        shade = Layer(pd.DataFrame([band]), name="mono").mark_rect(color=QUIET, opacity=0.2)
        layers.append(shade.encode(x=on(plane.channels["x"], "low"), x2=alt.X2("high:Q")))
    rules = [("x", mono.value, "R")] if start <= mono.value <= end else []
    across, drawn = rule_layers(rules, paths, plane)
    return [*layers, *across], drawn


def _mono_words(mono: Estimate | None, plane: Frame) -> list[str]:
    """Where R stands, and behind which number of texts."""
    if mono is None:
        return []
    digits, (start, end) = digits_of(plane.ranges[0]), plane.ranges[0]
    value, low, high = (number(at, digits) for at in (mono.value, mono.low, mono.high))
    around = f"{value} (band: 95 %, {low} to {high})" if mono.low < mono.high else f"{mono.value:g}"
    where = "" if start <= mono.value <= end else ", outside the picture"
    return [f"R (dashed), {mono.n} texts written in the language, stands at {around}{where}."]


def _hidden(curve: OracleCurve | None, plane: Frame) -> list[str]:
    """The sentence that the picture does not show the curve."""
    if curve is None:
        return []
    at = pd.DataFrame({"naturalness": curve.naturalness, "accuracy": curve.accuracy})
    return [] if plane.holds(at).any() else ["The oracle curve lies outside the picture."]


def _origin(origin: str, marks: pd.DataFrame, plane: Frame) -> tuple[list[alt.Chart], pd.DataFrame]:
    """A plus at (0, 0), if it has a name and lies in the picture; and the labelled marks with it among them."""
    zero = pd.DataFrame({"label": [origin], "naturalness": [0.0], "accuracy": [0.0]})
    if not origin or not plane.holds(zero).all():
        return [], marks
    return [plus_mark(plane.channels)], pd.concat([marks, zero]) if len(marks) else zero
