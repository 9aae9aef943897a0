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
from .curve import curve_text
from .frame import (
    ACCURACY_TITLE,
    NATURALNESS_TITLE,
    Frame,
    Ranges,
    Size,
    axis_ranges,
    framed,
    inside,
    plane_axes,
    systems_text,
    thinned,
)
from .labels import (
    Label,
    best_place,
    densely,
    label_layers,
    name_lines,
    named_points,
)
from .lines import COLOURS, DASHES, INKS
from .marks import (
    Layer,
    checked_systems,
    clipped,
    leader_layers,
    not_drawn,
    system_marks,
    text_layers,
    tip,
    told_apart,
)

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
    systems : one row per system: system, category, accuracy, naturalness; marks by category, people are diamonds. The
        subtitle names those with a nan, and those outside the picture.
    named : systems with a label; people have one always.
    ranges : ((from, to) of naturalness, (from, to) of accuracy); by default what holds all curves, the fan and the
        named systems.
    """
    if not 1 <= len(curves) <= 6:
        raise DataError(f"{len(curves)} curves; between 1 and 6 can be told apart in one picture.")
    drawn = {
        checks.one_of(name, curves, "curve of a band"): _band(name, band)
        for name, band in (bands or {}).items()
    }
    table, systems = systems, checked_systems(systems)
    for name in named:
        checks.one_of(name, systems["system"], "system")
    labelled = systems["system"].isin(named) | (systems["category"] == "human")
    ranges = ranges or _ranges(curves, fan, drawn, systems[labelled])
    plane = plane_axes(ranges, size, naturalness_title, accuracy_title)
    shown, notes = inside(systems, plane)
    paths = _paths({name: (c.naturalness, c.accuracy) for name, c in curves.items()}, plane)
    fan_paths = {} if fan is None else _paths(_fan_lines(fan), plane)
    named_rows = shown[shown["system"].isin(systems["system"][labelled])].reset_index(drop=True)
    at = plane.at(shown)
    fan_ends = _fan_labels(fan_paths, [*paths.values()], at, size)
    taken = [label.outline for label in fan_ends]
    around = [*fan_paths.values(), *taken, *at[:, None]]
    ends = name_lines(list(curves), [*paths.values()], size, around)
    lines = [*paths.values(), *around, *(label.outline for label in ends if not label.beside)]
    leaders, texts, _ = label_layers(named_points(named_rows), lines, plane)
    layers = [*_band_layers(drawn, list(curves), plane), *_fan_layers(fan_paths, plane)]
    layers += [*_curve_layers(paths, plane), *leaders]
    if len(shown):
        tips = [tip("naturalness", naturalness_title), tip("accuracy", accuracy_title)]
        layers.append(system_marks(shown, plane.channels, tips))
    layers += leader_layers(ends, plane, COLOURS)
    layers += text_layers(fan_ends, [FAN_INK] * len(fan_ends), plane)
    layers += [*text_layers(ends, INKS, plane), *texts]
    notes = [*([BANDS] if drawn else []), *_fan_note(fan), *notes, *not_drawn(table, systems)]
    said = [
        f"{name}: {curve_text(curve).removeprefix('oracle curve ')}"
        for name, curve in curves.items()
    ]
    said += [*_fan_words(fan), systems_text(systems)]
    return framed(alt.layer(*layers), title, said, notes, size=size)


def _band(name: str, band: ArrayLike) -> np.ndarray:
    band = np.asarray(band, dtype=float)
    if band.ndim != 2 or len(band) != 3:
        raise DataError(
            f"the band of {name} must be naturalness, low and high, (3, m); got shape {band.shape}."
        )
    return band[:, np.isfinite(band).all(0)]


def _ranges(
    curves: Mapping[str, OracleCurve],
    fan: Any,
    bands: Mapping[str, np.ndarray],
    systems: pd.DataFrame,
) -> Ranges:
    """What holds the curves, the fan, the bands and some systems."""
    more = [
        pd.DataFrame({"naturalness": b[0], "accuracy": b[1], "accuracy_high": b[2]})
        for b in bands.values()
    ]
    if fan is not None:
        ends = {
            "naturalness": fan.naturalness[[0, -1]].ravel(),
            "accuracy": fan.accuracy[[0, -1]].ravel(),
        }
        more.append(pd.DataFrame(ends))
    frames = [frame.assign(system="", category="unknown") for frame in more if len(frame)]
    return axis_ranges(
        curves.values(), [*frames, systems[["system", "category", "naturalness", "accuracy"]]]
    )


def _paths(
    lines: Mapping[str, tuple[np.ndarray, np.ndarray]], plane: Frame
) -> dict[str, np.ndarray]:
    """(V, 2) pixels of each line (naturalness, accuracy): of all together not more vertices than one layer can have."""
    path = np.concatenate([plane.pixels(*line) for line in lines.values()])
    series = np.repeat(np.arange(len(lines)), [len(line[0]) for line in lines.values()])
    kept = thinned(path, series)
    return {name: path[kept & (series == k)] for k, name in enumerate(lines)}


def _fan_lines(fan: ExpectedCurves) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    columns = zip(fan.ks.tolist(), fan.naturalness.T, fan.accuracy.T, strict=True)
    return {f"K = {k}": (n, a) for k, n, a in columns}


def _fan_labels(
    paths: Mapping[str, np.ndarray], curves: Sequence[np.ndarray], marks: np.ndarray, size: Size
) -> list[Label]:
    """K at the natural end of each line, below it if it can be; left out where it would hide a name, curve or mark."""
    labels: list[Label] = []
    blocked = np.concatenate([marks, *map(densely, curves)])
    for name, path in paths.items():
        x, y = map(float, path[-1])
        places = [Label(name, x + dx, y + dy, align) for align, dx, dy in FAN_PLACES]
        best = best_place(places, size, off=[(blocked, 7)])
        if best:
            labels.append(best)
            blocked = np.concatenate([blocked, densely(best.outline)])
    return labels


def _band_layers(
    bands: Mapping[str, np.ndarray], names: list[str], plane: Frame
) -> list[alt.Chart]:
    layers, ((x0, x1), (y0, y1)) = [], plane.ranges
    for name, (x, low, high) in bands.items():
        frame = pd.DataFrame({"naturalness": x, "accuracy": low, "high": high})
        cut = bool(((x < x0) | (x > x1) | (low < y0) | (high > y1)).any())
        area = Layer(frame).mark_area(
            color=COLOURS[names.index(name)], opacity=0.16, **clipped(cut)
        )
        layers.append(area.encode(**plane.channels, y2=alt.Y2("high:Q")))
    return layers


def _fan_layers(paths: Mapping[str, np.ndarray], plane: Frame) -> list[alt.Chart]:
    """Thin lines; a point where nothing can be chosen."""
    if not paths:
        return []
    frame = _frame(paths, plane)
    cut = clipped(not plane.holds(frame).all())
    line = Layer(frame, name="fan").mark_line(color=FAN, strokeWidth=1.5, **cut)
    dots = [name for name, path in paths.items() if np.ptp(path, axis=0).max() < 1]
    dot = Layer(frame[frame["series"].isin(dots)].drop_duplicates("series"))
    dot = dot.mark_point(filled=True, color=FAN_INK, size=60, opacity=1)
    layers = [
        line.encode(**plane.channels, detail=alt.Detail("series:N"), order=alt.Order("order:Q"))
    ]
    return [*layers, dot.encode(**plane.channels)] if dots else layers


def _curve_layers(paths: Mapping[str, np.ndarray], plane: Frame) -> list[alt.Chart]:
    """The curves, and a dot where one is a single point."""
    frame, names = _frame(paths, plane), list(paths)
    cut = clipped(not plane.holds(frame).all())
    looks = told_apart("series", names, color=COLOURS, strokeDash=DASHES)
    line = Layer(frame, name="curves").mark_line(strokeWidth=3, strokeJoin="round", **cut)
    layers = [line.encode(**plane.channels, **looks, order=alt.Order("order:Q"))]
    single = frame[frame["series"].map({name: len(path) for name, path in paths.items()}) == 1]
    dot = Layer(single).mark_point(filled=True, size=120, opacity=1)
    dot = dot.encode(**plane.channels, color=looks["color"])
    return [*layers, dot] if len(single) else layers


def _frame(paths: Mapping[str, np.ndarray], plane: Frame) -> pd.DataFrame:
    parts = [
        pd.DataFrame({"series": name, "px": p[:, 0], "py": p[:, 1]}) for name, p in paths.items()
    ]
    frame = pd.concat(parts, ignore_index=True)
    frame["naturalness"], frame["accuracy"] = plane.values(frame.pop("px"), frame.pop("py"))
    return frame.assign(order=range(len(frame)))


def _fan_note(fan: ExpectedCurves | None) -> list[str]:
    said = "Thin lines: the oracle with K random candidates per source, expected."
    return [] if fan is None else [said]


def _fan_words(fan: ExpectedCurves | None) -> list[str]:
    if fan is None:
        return []
    tops = ", ".join(
        f"K = {k}: {a:.4g}" for k, a in zip(fan.ks.tolist(), fan.accuracy[0], strict=True)
    )
    return [f"expected accuracy at β = 0, {tops}"]
