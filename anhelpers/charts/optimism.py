"""Both sides of the oracle curve: what it promises, what choosers without the reference reach, and fewer candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from ..fan import ExpectedCurves
from ..frontier import OracleCurve
from .axes import (
    ACCURACY_TITLE,
    NATURALNESS_TITLE,
    Ranges,
    Size,
    axis_ranges,
    headline,
    inside,
    pixels,
    plane_axes,
    points,
    within,
)  # fmt: skip
from .curve import curve_text
from .describe import description, systems_text
from .ends import End, name_lines, outline
from .labels import HALO, densely, hidden, label_layers, named_points
from .lines import COLOURS, DASHES, INKS
from .marks import FONT, checked_systems, clipped, system_marks, tip

__all__ = ["plot_optimism"]

FAN, FAN_INK = "#9A9A9A", "#666666"
FAN_PLACES = [
    ("center", 0, 14),
    ("right", -4, 14),
    ("left", 9, 0),
    ("left", 9, -14),
    ("right", -9, -14),
    ("center", 0, 30),
]
BANDS = "Bands: 95 % intervals of the accuracy at this naturalness, documents resampled."
Bands = Mapping[str, ArrayLike]


def plot_optimism(
    curves: Mapping[str, OracleCurve],
    *,
    fan: ExpectedCurves | None = None,
    bands: Bands | None = None,
    systems: pd.DataFrame | None = None,
    named: Sequence[str] = (),
    accuracy_title: str = ACCURACY_TITLE,
    naturalness_title: str = NATURALNESS_TITLE,
    title: str = "",
    ranges: Ranges | None = None,
    size: Size = (760, 520),
) -> alt.LayerChart:
    """What an oracle promises above what other choosers reach, each named at its line, and the fan of fewer candidates.

    Parameters
    ----------
    curves : name → curve, at most 6. Of a judged chooser or of systems, the upper hull of its points:
        `oracle_curve(np.zeros(k, int), accuracy, naturalness)`.
    fan : expected curves for several K, thin lines with K at their natural end; K = 1 is a point.
    bands : name of a curve → (3, m) naturalness, low and high of the accuracy there; a nan is not drawn.
    systems : one row per system: system, category, accuracy, naturalness; marks by category, people are diamonds.
    named : systems with a label; people have one always.
    ranges : ((from, to) of naturalness, (from, to) of accuracy); by default what holds all curves, the fan and the
        named systems; who lies outside is told.
    """
    if not 1 <= len(curves) <= 6:
        raise DataError(f"{len(curves)} curves; between 1 and 6 can be told apart in one picture.")
    drawn = {checks.one_of(name, curves, "curve of a band"): _band(name, band) for name, band in (bands or {}).items()}
    systems = checked_systems(systems)
    for name in named:
        checks.one_of(name, systems["system"], "system")
    labelled = systems["system"].isin(named) | (systems["category"] == "human")
    ranges = ranges or _ranges(curves, fan, drawn, systems[labelled])
    axes = plane_axes(ranges, size, naturalness_title, accuracy_title)
    plane: dict[str, Any] = {"ranges": ranges, "size": size}
    shown, notes = inside(systems, ranges)
    paths = {name: _path(c.naturalness, c.accuracy, **plane) for name, c in curves.items()}
    fan_paths = {} if fan is None else _fan_paths(fan, **plane)
    named_rows = shown[shown["system"].isin(systems["system"][labelled])].reset_index(drop=True)
    at = np.stack(pixels(shown["naturalness"].astype(float), shown["accuracy"].astype(float), **plane), axis=1)
    fan_ends = _fan_labels(fan_paths, [*paths.values()], at, size)
    taken = [outline(e.text, e.x, e.y, e.align) for e in fan_ends]
    ends = name_lines(list(curves), [*paths.values()], size, [*fan_paths.values(), *taken, *at[:, None]])
    taken += [outline(e.text, e.x, e.y, e.align) for e in ends if not e.beside]
    lines = [*paths.values(), *fan_paths.values(), *taken, *at[:, None]]
    leaders, texts, _ = label_layers(named_points(_no_marks(), named_rows), lines, axes, **plane)
    layers = [*_band_layers(drawn, list(curves), axes, ranges), *_fan_layers(fan_paths, axes, **plane)]
    layers += [*_curve_layers(paths, axes, **plane), *leaders]
    if len(shown):
        tips = [tip("naturalness", naturalness_title), tip("accuracy", accuracy_title)]
        layers.append(system_marks(shown, axes, tips))
    layers += [*_leaders(ends, INKS, axes, **plane), *_texts(fan_ends, [FAN_INK] * len(fan_ends), axes, **plane)]
    layers += [*_texts(ends, INKS, axes, **plane), *texts]
    notes = [*([BANDS] if drawn else []), *_fan_note(fan), *notes]
    words = [f"{name}: {_ends_text(curve)}" for name, curve in curves.items()]
    words = description(title, [*words, *_fan_words(fan), systems_text(systems), *notes])
    chart = alt.layer(*layers).properties(width=size[0], height=size[1], description=words)
    return chart.properties(**headline(title, notes, size[0]))


def _band(name: str, band: ArrayLike) -> np.ndarray:
    band = np.asarray(band, dtype=float)
    if band.ndim != 2 or len(band) != 3:
        raise DataError(f"the band of {name} must be naturalness, low and high, (3, m); got shape {band.shape}.")
    return band[:, np.isfinite(band).all(0)]


def _no_marks() -> pd.DataFrame:
    return pd.DataFrame({"label": [], "naturalness": [], "accuracy": []}, dtype=object)


def _ranges(
    curves: Mapping[str, OracleCurve], fan: Any, bands: Mapping[str, np.ndarray], systems: pd.DataFrame
) -> Ranges:
    """What holds the curves, the fan, the bands and some systems."""
    more = [pd.DataFrame({"naturalness": b[0], "accuracy": b[1], "accuracy_high": b[2]}) for b in bands.values()]
    if fan is not None:
        ends = {"naturalness": fan.naturalness[[0, -1]].ravel(), "accuracy": fan.accuracy[[0, -1]].ravel()}
        more.append(pd.DataFrame(ends))
    frames = [frame.assign(system="", category="unknown") for frame in more if len(frame)]
    return axis_ranges(curves.values(), [*frames, systems[["system", "category", "naturalness", "accuracy"]]])


def _path(naturalness: np.ndarray, accuracy: np.ndarray, *, ranges: Ranges, size: Size) -> np.ndarray:
    """(V, 2) pixels of a line: its first and last vertex, and of the others one in each cell of half a pixel."""
    path = np.stack(pixels(naturalness, accuracy, ranges, size), axis=1)
    new = np.r_[True, np.any(np.diff(np.floor(2 * path), axis=0), axis=1)]
    new[-1] = True
    return path[new]


def _fan_paths(fan: ExpectedCurves, *, ranges: Ranges, size: Size) -> dict[str, np.ndarray]:
    columns = zip(fan.ks.tolist(), fan.naturalness.T, fan.accuracy.T, strict=True)
    return {f"K = {k}": _path(n, a, ranges=ranges, size=size) for k, n, a in columns}


def _fan_labels(
    paths: Mapping[str, np.ndarray], curves: Sequence[np.ndarray], marks: np.ndarray, size: Size
) -> list[End]:
    """K at the natural end of each line, below it if it can be; left out where it would hide a name, curve or mark."""
    ends: list[End] = []
    blocked = np.concatenate([marks, *(densely(c) for c in curves if len(c) > 1)])
    for name, path in paths.items():
        for align, dx, dy in FAN_PLACES:
            x, y = path[-1] + (dx, dy)
            corners = outline(name, x, y, align)
            inside = (corners >= 0).all() and (corners <= size).all()
            if inside and not hidden(corners[[0, 2]].ravel(), blocked, 7).any():
                ends.append(End(name, float(x), float(y), align, np.nan, np.nan, False))
                blocked = np.concatenate([blocked, densely(corners)])
                break
    return ends


def _band_layers(bands: Mapping[str, np.ndarray], names: list[str], axes: dict, ranges: Ranges) -> list[alt.Chart]:
    layers = []
    for name, (x, low, high) in bands.items():
        frame = pd.DataFrame({"naturalness": x, "accuracy": low, "high": high})
        (x0, x1), (y0, y1) = ranges
        cut = bool(((x < x0) | (x > x1) | (low < y0) | (high > y1)).any())
        area = alt.Chart(frame).mark_area(color=COLOURS[names.index(name)], opacity=0.16, **clipped(cut))
        layers.append(area.encode(**axes, y2="high:Q"))
    return layers


def _fan_layers(paths: Mapping[str, np.ndarray], axes: dict, *, ranges: Ranges, size: Size) -> list[alt.Chart]:
    """Thin lines; a point where nothing can be chosen."""
    if not paths:
        return []
    frame = _frame(paths, ranges, size)
    cut = clipped(not within(frame, ranges).all())
    line = alt.Chart(frame, name="fan").mark_line(color=FAN, strokeWidth=1.5, **cut)
    dots = [name for name, path in paths.items() if np.ptp(path, axis=0).max() < 1]
    dot = alt.Chart(frame[frame["series"].isin(dots)].drop_duplicates("series"))
    dot = dot.mark_point(filled=True, color=FAN_INK, size=60, opacity=1)
    layers = [line.encode(**axes, detail="series:N", order="order:Q")]
    return [*layers, dot.encode(**axes)] if dots else layers


def _curve_layers(paths: Mapping[str, np.ndarray], axes: dict, *, ranges: Ranges, size: Size) -> list[alt.Chart]:
    """The curves, and a dot where one is a single point."""
    frame, names = _frame(paths, ranges, size), list(paths)
    cut = clipped(not within(frame, ranges).all())
    colour = alt.Color("series:N", scale=alt.Scale(domain=names, range=COLOURS[: len(names)]), legend=None)
    dash = alt.StrokeDash("series:N", scale=alt.Scale(domain=names, range=DASHES[: len(names)]), legend=None)
    line = alt.Chart(frame, name="curves").mark_line(strokeWidth=3, strokeJoin="round", **cut)
    layers = [line.encode(**axes, color=colour, strokeDash=dash, order="order:Q")]
    single = frame[frame["series"].map({name: len(path) for name, path in paths.items()}) == 1]
    dot = alt.Chart(single).mark_point(filled=True, size=120, opacity=1).encode(**axes, color=colour)
    return [*layers, dot] if len(single) else layers


def _frame(paths: Mapping[str, np.ndarray], ranges: Ranges, size: Size) -> pd.DataFrame:
    parts = [pd.DataFrame({"series": name, "px": p[:, 0], "py": p[:, 1]}) for name, p in paths.items()]
    frame = pd.concat(parts, ignore_index=True)
    frame["naturalness"], frame["accuracy"] = points(frame.pop("px"), frame.pop("py"), ranges, size)
    return frame.assign(order=range(len(frame)))


def _texts(ends: Sequence[End], inks: Sequence[str], axes: dict, *, ranges: Ranges, size: Size) -> list[alt.Chart]:
    """The names, with a halo under them."""
    rows = [
        (line, e.align, ink, e.x, e.y + 20 * (k - e.text.count("\n") / 2))
        for e, ink in zip(ends, inks, strict=False)
        for k, line in enumerate(e.text.split("\n"))
    ]
    layers = []
    for look in (HALO, {}):
        for align in sorted({row[1] for row in rows}):
            frame = pd.DataFrame([row for row in rows if row[1] == align], columns=["label", "align", "ink", "x", "y"])
            frame["naturalness"], frame["accuracy"] = points(frame.pop("x"), frame.pop("y"), ranges, size)
            text = alt.Chart(frame).mark_text(align=align, fontSize=FONT, baseline="middle", **look)
            layers.append(text.encode(x=axes["x"], y=axes["y"], text="label:N", fill=alt.Fill("ink:N", scale=None)))
    return layers


def _leaders(ends: Sequence[End], inks: Sequence[str], axes: dict, *, ranges: Ranges, size: Size) -> list[alt.Chart]:
    """Thin lines to the names that stand beside the plane."""
    rows = [(e.from_x, e.from_y, e.x - 4, e.y, ink) for e, ink in zip(ends, inks, strict=False) if e.from_x == e.from_x]
    if not rows:
        return []
    frame = pd.DataFrame(rows, columns=["x", "y", "x2", "y2", "ink"])
    frame["naturalness"], frame["accuracy"] = points(frame.pop("x"), frame.pop("y"), ranges, size)
    frame["to_x"], frame["to_y"] = points(frame.pop("x2"), frame.pop("y2"), ranges, size)
    rule = alt.Chart(frame).mark_rule(strokeWidth=1.5)
    return [rule.encode(**axes, x2="to_x:Q", y2="to_y:Q", color=alt.Color("ink:N", scale=None))]


def _ends_text(curve: OracleCurve) -> str:
    return curve_text(curve).removeprefix("oracle curve ")


def _fan_note(fan: ExpectedCurves | None) -> list[str]:
    return [] if fan is None else ["Thin lines: the oracle with K random candidates per source, expected."]


def _fan_words(fan: ExpectedCurves | None) -> list[str]:
    if fan is None:
        return []
    tops = ", ".join(f"K = {k}: {a:.4g}" for k, a in zip(fan.ks.tolist(), fan.accuracy[0], strict=True))
    return [f"expected accuracy at β = 0, {tops}"]
