"""The accuracy-naturalness plane: the oracle curve, its two ends, and systems with their intervals."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence

import altair as alt
import numpy as np
import pandas as pd

from .. import checks
from ..errors import DataError
from ..frontier import OracleCurve

__all__ = ["CATEGORIES", "axis_ranges", "beta_label", "plot_curve"]

CATEGORIES = {  # mark and fill: Okabe and Ito 2008, each with a black outline and its own shape
    "LLM": ("circle", "#009E73"),
    "MT": ("square", "#CC79A7"),
    "online": ("triangle-up", "#56B4E9"),
    "human": ("diamond", "#000000"),
    "unknown": ("cross", "#999999"),
}
ACCURACY_TITLE = "Accuracy (higher is better)"
NATURALNESS_TITLE = "Mean log-probability (nats per token, higher is more natural)"
LINE, POINT, BARS = "#0072B2", "#D55E00", "#8A8A8A"
FONT = 16  # smallest text, in pixels; titles are 18, legible from the last row of a seminar room
Ranges = tuple[tuple[float, float], tuple[float, float]]  # (from, to) of naturalness and of accuracy
Size = tuple[int, int]


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
    """The plane of naturalness (rightwards) and accuracy (upwards), with the best that an oracle reaches.

    Up to `max_vertices` vertices all are drawn. Of more, those that share a quarter-pixel cell with the vertex
    before them are left out, which moves the line by less than half a pixel. The curve is concave by construction.

    Parameters
    ----------
    curve : from `frontier.oracle_curve`.
    systems : one row per system: system, category (see `CATEGORIES`), accuracy, naturalness and, where known,
        accuracy_low, accuracy_high, naturalness_low, naturalness_high, n. A system with a nan is not drawn.
    accuracy_title, naturalness_title : axis titles with unit and direction.
    title : what the picture claims.
    betas : the β whose vertices are marked and labelled.
    point : a β that gets the large mark named ``bxpoint``, which the β explorer moves.
    ranges : ((from, to) of naturalness, (from, to) of accuracy); by default what is drawn, and some air.
    size : (width, height) of the plane in pixels.

    Returns
    -------
    A layered chart without a configuration of its own, so that more layers can be added with ``+``.
    """
    systems = checked_systems(systems)
    ranges = ranges or axis_ranges([curve], [systems])
    axes = _axes(ranges, size, naturalness_title, accuracy_title)
    tips = [_tip("naturalness", naturalness_title), _tip("accuracy", accuracy_title)]
    marks = _vertices(curve, [curve.vertex(b) for b in betas], betas)
    line = _vertices(curve, _kept(curve, ranges, size, max_vertices))
    layers = [alt.Chart(line, name="bxline").mark_line(color=LINE, strokeWidth=3).encode(**axes, order="order:Q")]
    if len(systems):
        layers += [*_bars(systems, axes), _system_marks(systems, axes, tips)]
    ends = alt.Chart(marks).mark_point(filled=True, fill=LINE, stroke="#000000", strokeWidth=1, size=110, opacity=1)
    layers.append(ends.encode(**axes, tooltip=[alt.Tooltip("label:N", title="oracle"), *tips]))
    layers += _labels(line, marks, systems, axes, ranges, size)
    if point is not None:
        at = _vertices(curve, [curve.vertex(point)])
        look = {"filled": True, "fill": POINT, "stroke": "#000000", "strokeWidth": 2, "size": 320, "opacity": 1}
        layers.append(alt.Chart(at, name="bxpoint").mark_point(**look).encode(**axes))
    chart = alt.layer(*layers).properties(
        width=size[0], height=size[1], description=_description(curve, systems, title)
    )
    return chart.properties(title=alt.TitleParams(title, fontSize=20, anchor="start", offset=12)) if title else chart


def axis_ranges(curves: Iterable[OracleCurve], systems: Iterable[pd.DataFrame | None] = ()) -> Ranges:
    """((from, to) of naturalness, (from, to) of accuracy) that hold all these curves and systems, with 7 % of air."""
    curves, frames = list(curves), [checked_systems(s) for s in systems]
    ranges = []
    for axis in ("naturalness", "accuracy"):
        columns = (frame[c] for frame in frames for c in (axis, f"{axis}_low", f"{axis}_high") if c in frame)
        values = np.concatenate([*(getattr(curve, axis) for curve in curves), *columns]).astype(float)
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        air = 0.07 * (high - low) or 0.05 * abs(high) or 1.0
        ranges.append((low - air, high + air))
    return ranges[0], ranges[1]


def beta_label(beta: float) -> str:
    """How a β is printed: "β = 0", "β = 2.5", "β = ∞".

    >>> [beta_label(b) for b in (0, 2.50, 1000, math.inf)]
    ['β = 0', 'β = 2.5', 'β = 1000', 'β = ∞']
    """
    return "β = ∞" if math.isinf(beta) else f"β = {beta:.4g}"


def checked_systems(systems: pd.DataFrame | None) -> pd.DataFrame:
    """The drawable rows of a table of systems (none for None), or a DataError naming what is missing."""
    needed = ["system", "category", "accuracy", "naturalness"]
    if systems is None:
        return pd.DataFrame(columns=needed)
    missing = [c for c in needed if c not in systems]
    if missing:
        raise DataError(f"the table of systems has no column {', '.join(missing)}; it has {', '.join(systems)}.")
    for category in systems["category"].unique():
        checks.one_of(category, CATEGORIES, "category of system")
    return systems.dropna(subset=["accuracy", "naturalness"]).reset_index(drop=True)


def _axes(ranges: Ranges, size: Size, naturalness_title: str, accuracy_title: str) -> dict:
    def axis(title, length):
        look = {"labelFontSize": FONT, "titleFontSize": 18, "titlePadding": 10, "gridOpacity": 0.6}
        return alt.Axis(title=textwrap.wrap(title, max(12, length // 9)), tickCount=length // 80, **look)

    x, y = (alt.Scale(domain=list(r), nice=False, zero=False) for r in ranges)
    return {
        "x": alt.X("naturalness:Q", scale=x, axis=axis(naturalness_title, size[0])),
        "y": alt.Y("accuracy:Q", scale=y, axis=axis(accuracy_title, size[1])),
    }


def _tip(column: str, title: str) -> alt.Tooltip:
    return alt.Tooltip(f"{column}:Q", title=title, format=".4~g")


def _vertices(curve: OracleCurve, index: Sequence[int], betas: Sequence[float] | None = None) -> pd.DataFrame:
    """The chosen vertices, in curve order; labelled where the β that they stand for are given."""
    index = np.asarray(index, dtype=int)
    frame = {"order": index, "naturalness": curve.naturalness[index], "accuracy": curve.accuracy[index]}
    return pd.DataFrame(frame | ({} if betas is None else {"label": [beta_label(b) for b in betas]}))


def _kept(curve: OracleCurve, ranges: Ranges, size: Size, max_vertices: int) -> np.ndarray:
    """Indices of the vertices to draw: all, or the first of each run within one cell of a quarter of a pixel."""
    if len(curve.beta) <= max_vertices:
        return np.arange(len(curve.beta))
    x, y = _pixels(curve.naturalness, curve.accuracy, ranges, size)
    cell = np.floor(np.stack([x, y]) * 4)
    new = np.r_[True, np.any(np.diff(cell), axis=0)]
    new[-1] = True
    return np.flatnonzero(new)


def _pixels(naturalness, accuracy, ranges: Ranges, size: Size) -> tuple[np.ndarray, np.ndarray]:
    (x0, x1), (y0, y1), (w, h) = *ranges, size
    return (np.asarray(naturalness) - x0) / (x1 - x0) * w, h - (np.asarray(accuracy) - y0) / (y1 - y0) * h


def _bars(systems: pd.DataFrame, axes: dict) -> list[alt.Chart]:
    charts = []
    for channel, column in (("x", "naturalness"), ("y", "accuracy")):
        low, high = f"{column}_low", f"{column}_high"
        if low in systems and high in systems:
            rule = alt.Chart(systems.dropna(subset=[low, high])).mark_rule(color=BARS, strokeWidth=1.5)
            span = {channel: axes[channel].copy(), f"{channel}2": f"{high}:Q"}
            span[channel].shorthand = f"{low}:Q"
            charts.append(rule.encode(**(axes | span)))
    return charts


def _system_marks(systems: pd.DataFrame, axes: dict, tips: list[alt.Tooltip]) -> alt.Chart:
    present = [c for c in CATEGORIES if c in set(systems["category"])]
    legend = alt.Legend(title=None, orient="top", labelFontSize=FONT, symbolSize=160, columnPadding=18, offset=6)
    shape, fill = ([CATEGORIES[c][i] for c in present] for i in (0, 1))
    extra = [c for c in systems if c.endswith(("_low", "_high")) or c == "n"]
    mark = alt.Chart(systems).mark_point(filled=True, size=160, stroke="#000000", strokeWidth=1, opacity=1)
    return mark.encode(
        **axes,
        shape=alt.Shape("category:N", scale=alt.Scale(domain=present, range=shape), legend=legend),
        fill=alt.Fill("category:N", scale=alt.Scale(domain=present, range=fill), legend=legend),
        tooltip=["system:N", "category:N", *tips, *(alt.Tooltip(f"{c}:Q", format=".4~g") for c in extra)],
    )


def _labels(line, marks, systems, axes: dict, ranges, size) -> list[alt.Chart]:
    """One text layer per alignment for the marked β and the systems, and thin lines to labels that had to move away."""
    names = [*marks["label"], *systems["system"].astype(str)]
    if not names:
        return []
    x, y = _pixels(*(np.r_[marks[c], systems[c].astype(float)] for c in ("naturalness", "accuracy")), ranges, size)
    curve = np.stack(_pixels(line["naturalness"], line["accuracy"], ranges, size), axis=1)
    lines = [curve, *_bar_lines(systems, ranges, size)]
    placed = place_labels(np.stack([x, y], axis=1), names, lines, size)
    (x0, x1), (y0, y1), (w, h) = *ranges, size
    kept = [i for i, place in enumerate(placed) if place]
    frame = pd.DataFrame([placed[i] for i in kept], columns=["px", "py", "align", "away"])
    frame["label"], x, y = [names[i] for i in kept], x[kept], y[kept]
    frame["naturalness"] = x0 + frame["px"] / w * (x1 - x0)
    frame["accuracy"] = y0 + (h - frame["py"]) / h * (y1 - y0)
    frame["to_x"], frame["to_y"] = x0 + x / w * (x1 - x0), y0 + (h - y) / h * (y1 - y0)
    halo = {"stroke": "#FFFFFF", "strokeWidth": 4, "strokeOpacity": 0.85}  # keeps a label legible across a bar
    layers = [
        alt.Chart(group)
        .mark_text(align=align, fontSize=FONT, baseline="middle", color="#000000", **under)
        .encode(x=axes["x"], y=axes["y"], text="label:N")
        for under in (halo, {})
        for align, group in frame.groupby("align", sort=True)
    ]
    far = frame[frame["away"]]
    leader = alt.Chart(far).mark_rule(color=BARS, strokeWidth=1)
    leader = leader.encode(x=axes["x"], y=axes["y"], x2="to_x:Q", y2="to_y:Q")
    return [leader, *layers] if len(far) else layers


def _bar_lines(systems: pd.DataFrame, ranges: Ranges, size: Size) -> list[np.ndarray]:
    """(2, 2) pixels of the two ends of every interval bar."""
    ends = []
    for column, other in (("naturalness", "accuracy"), ("accuracy", "naturalness")):
        if f"{column}_low" in systems:
            for row in systems.dropna(subset=[f"{column}_low"]).to_dict("records"):
                span, fixed = [row[f"{column}_low"], row[f"{column}_high"]], [row[other]] * 2
                at = (span, fixed) if column == "naturalness" else (fixed, span)
                ends.append(np.stack(_pixels(*at, ranges, size), axis=1))
    return ends


def place_labels(points: np.ndarray, texts: Sequence[str], lines: Sequence[np.ndarray], size: Size) -> list[tuple]:
    """(x, y, alignment, whether far away) of each label: of 24 places around its point the one that hides least.

    None for a label that would run into another: a crowd stays readable, and tooltips and tables name everybody.

    Parameters
    ----------
    points : (n, 2) pixels; texts : n labels; lines : (V, 2) pixels of polylines to keep clear of; size : of the plane.
    """
    blocked = np.concatenate([points, *map(_densely, lines)])
    boxes, placed = np.empty((0, 4)), []
    for (x, y), text in zip(points, texts, strict=True):
        best = min(_places(x, y, 0.56 * FONT * len(text)), key=lambda p: _cost(p, blocked, boxes, size))
        fits = _overlap(best[4], boxes).sum() <= 0.05 * np.prod(best[4][2:] - best[4][:2])
        boxes = np.vstack([boxes, best[4]]) if fits else boxes
        placed.append(best[:4] if fits else None)
    return placed


def _overlap(box: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """(m,) area in pixels that a box shares with each of m others."""
    sides = np.minimum(boxes[:, 2:], box[2:]) - np.maximum(boxes[:, :2], box[:2])
    return np.clip(sides, 0, None).prod(axis=1)


def _places(x: float, y: float, width: float) -> Iterable[tuple]:
    for ring, gap in enumerate((14, 28, 46)):
        for dx, dy in ((1, 0), (-1, 0), (1, -1), (-1, 1), (1, 1), (-1, -1), (0, -1), (0, 1)):
            reach = 0.7 if dx and dy else 1.0
            lx, ly = x + dx * gap * reach, y + dy * (gap * reach + FONT * 0.3 * abs(dy))
            left = lx - width * (1 - dx) / 2
            align = {1: "left", 0: "center", -1: "right"}[dx]
            yield lx, ly, align, ring > 0, np.array([left, ly - 0.6 * FONT, left + width, ly + 0.6 * FONT]), ring


def _cost(place: tuple, blocked: np.ndarray, boxes: np.ndarray, size: Size) -> float:
    """What a label would hide: marks and curve, other labels, its own text beyond the frame; and how far it lies."""
    x0, y0, x1, y1 = place[4]
    hidden = np.sum((blocked > (x0 - 5, y0 - 5)) & (blocked < (x1 + 5, y1 + 5)), axis=1) == 2
    overlap = _overlap(place[4], boxes)
    outside = max(0, -x0) + max(0, -y0) + max(0, x1 - size[0]) + max(0, y1 - size[1])
    return 10.0 * hidden.sum() + 0.5 * overlap.sum() + 2.0 * outside + 3.0 * place[5]


def _densely(line: np.ndarray) -> np.ndarray:
    """Points at most 8 pixels apart along a polyline."""
    at = np.r_[0.0, np.cumsum(np.hypot(*np.diff(line, axis=0).T))]
    where = np.linspace(0, at[-1], int(at[-1] // 8) + 2)
    return np.stack([np.interp(where, at, line[:, i]) for i in (0, 1)], axis=1)


def _description(curve: OracleCurve, systems: pd.DataFrame, title: str) -> str:
    a, n = curve.accuracy, curve.naturalness
    ends = f"from accuracy {a[0]:.4g}, naturalness {n[0]:.4g} at β = 0 to {a[-1]:.4g}, {n[-1]:.4g} at β = ∞"
    points = ", ".join(f"{r.system} ({r.accuracy:.4g}, {r.naturalness:.4g})" for r in systems.itertuples())
    return f"{title + ': ' if title else ''}oracle curve {ends}" + (f"; systems: {points}." if points else ".")
