"""Lines of several series; a panel of one divergence along paths; bars of two distributions."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import checks
from . import frame as fr
from .frame import COLOURS, POINT, _checked, _dots, _framed, _Layer, _told_apart
from .labels import Rule, _drawn_labels, _name_lines, _rule_layers

# after Okabe and Ito 2008, 3:1 on white
_PATHS = ["#0072B2", "#A04B78", "#009E73", "#000000"]
_PATH_DASHES = [[1, 0], [9, 4], [3, 4], [10, 3, 3, 3]]
_OUTCOME, _NAME, _BAR, _NUMBERS = 62, 18, 16, 96  # px of plot_bars
_LONGEST = 290  # px of the longest bar


def plot_lines(
    lines: pd.DataFrame | None,
    points: pd.DataFrame | None = None,
    *,
    x_title: str,
    y_title: str,
    title: str = "",
    log: str = "",
    rules: Sequence[Rule] = (),
    size: fr.Size = (620, 420),
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
    looks = _told_apart("series", names, color=COLOURS, strokeDash=fr.DASHES, shape=fr.SHAPES)
    known, ends = lines.dropna(subset=["x", "y"]), [c for c in ("low", "high") if c in points]
    at: dict[str, list] = {axis: [known[axis], points[axis]] for axis in "xy"}
    at["y"] += [points[end] for end in ends]
    for axis, value, _ in rules:
        at[checks.one_of(axis, "xy", "axis of a rule")].append([value])
    look: Any = {"size": size, "log": ("x" in log, "y" in log), "title": title}
    x, y = (np.concatenate(values, dtype=float) for values in at.values())
    plane = fr._Frame.over(x, y, (x_title, y_title), **look)
    rows = lines.assign(order=range(len(lines)))
    rows = rows[plane.thinned(plane.at(rows), pd.factorize(rows["series"])[0])]
    drawn = [frame.dropna(subset=["x", "y"]).groupby("series") for frame in (rows, points)]
    paths = [plane.at(next(g.get_group(name) for g in drawn if name in g.groups)) for name in names]
    across, outlines = _rule_layers(rules, paths, plane)
    bars, spans = [], []
    if "low" in points:
        sure = points.dropna(subset=["low", "high"])
        spans = list(np.stack([plane.at(sure.assign(y=sure[end])) for end in ends], axis=1))
        mark = _Layer(sure, name="intervals").mark_rule(strokeWidth=2)
        span = {"x": plane.channels["x"], "y": plane.on("y", "low"), "y2": alt.Y2("high:Q")}
        bars = [mark.encode(**span, color=looks["color"])]
    named = _name_lines(names, paths, size, [*outlines, *spans])
    leaders, texts = _drawn_labels(named, plane, "leaders")
    layers = [*across, *leaders]
    if len(rows):
        mark = _Layer(rows, name="lines").mark_line(strokeWidth=3, strokeJoin="round")
        line = {c: looks[c] for c in ("color", "strokeDash")}
        layers.append(mark.encode(**plane.channels, **line, order="order:Q"))
    layers += bars
    if len(points):
        tips = ["series:N", *(fr._tip(c, c) for c in points if c != "series")]
        mark = _dots(points, "points", size=130, stroke="#FFFFFF")
        look = {c: looks[c] for c in ("color", "shape")}
        layers.append(mark.encode(**plane.channels, **look, tooltip=tips))
    words = [
        f"{y_title} by {x_title}",
        *_line_words(lines, points, names),
        *(f"{axis} = {value:.4g}: {text}" for axis, value, text in rules),
    ]
    return plane.finished([*layers, *texts], words)


def _series(table: pd.DataFrame | None, needed: list[str]) -> pd.DataFrame:
    """series, x, y, and low and high where both are known."""
    if table is None:
        table = pd.DataFrame({"series": [], "x": [], "y": []}, dtype=float)
    ends = ["low", "high"] if {"low", "high"} <= {*table} else []
    _checked(table, ["x", "y"], name="series", least=0)
    rows = _checked(table, needed, ["x", "y", *ends], name="series", least=0)
    return rows[["series", "x", "y", *ends]].astype({"series": str})


def _line_words(lines: pd.DataFrame, points: pd.DataFrame, names: list[str]) -> list[str]:
    """Each series: the ends of its line, number and ends of its points."""
    parts = []
    for name in names:
        for kind, frame in (("line", lines), ("points", points)):
            own = frame[frame["series"] == name].dropna(subset=["x", "y"])
            if len(own):
                ends = own[["x", "y"]].iloc[[0, -1]].to_numpy()
                first, last = (f"({x:.4g}, {y:.4g})" for x, y in ends)
                sure = " with intervals" if "low" in own else ""
                count = kind if kind == "line" else f"{len(own)} points{sure}"
                parts.append(f"{name}: {count} from {first} to {last}")
    return parts


def plot_trace(values: pd.DataFrame) -> alt.LayerChart:
    """Panel without axes for the explorer, which moves ``bxpoint`` along ``bxpath{k}``.

    The point is at the start of the first path; infinite values are at 7/8 of the height.
    """
    rows = _sorted(values)
    layers = _layers(rows, list(dict.fromkeys(rows["path"])))
    low, top, infinite = _height(rows["value"])
    at = rows[:1].assign(value=rows["value"][:1].replace(np.inf, infinite))
    x, y = _axes(low, top)
    point = _dots(at[["t", "value"]], "bxpoint", fill=POINT, strokeWidth=2, size=150)
    chart = alt.layer(*layers, point.encode(x=x, y=y))
    room = {"left": 26, "right": 10, "top": 8, "bottom": 8}
    look: dict[str, Any] = {"view": {"stroke": None}, "padding": room, "autosize": "none"}
    return _framed(chart, "", [_words(str(rows["divergence"][0]), rows)], size=(230, 36), **look)


def plot_bars(r: ArrayLike, q: ArrayLike, names: Sequence[str], top: float) -> alt.LayerChart:
    """Probabilities of each outcome: an outlined bar for R, below it a filled one for Q.

    The filled bars are named ``bxq``, their numbers ``bxqtext``.

    Parameters
    ----------
    r, q : (Y,) the reference and the system; names : of the outcomes
    top : upper end of the axis, the probability of a bar of 290 pixels
    """
    r, q = np.asarray(r, dtype=float), np.asarray(q, dtype=float)
    checks.same_length(r=r, q=q, names=names)
    rows = pd.DataFrame({"name": [str(name) for name in names], "r": r, "q": q})
    high, at = _OUTCOME * len(rows), _OUTCOME * np.arange(len(rows), dtype=float)
    scale = alt.Scale(domain=[0, top], nice=False)
    down = alt.Scale(domain=[0, high], nice=False, reverse=True)
    x, y = alt.X("x:Q", scale=scale, axis=None), alt.Y("y:Q", scale=down, axis=None)
    layers = [_text(rows.assign(label=rows["name"], y=at + _NAME / 2), y, 0, "left", "names")]
    for kind, first, fill, stroke in (
        ("r", _NAME + 1, "#FFFFFF", "#000000"),
        ("q", _NAME + _BAR + 3, POINT, POINT),
    ):
        own = rows.assign(y=at + first, y2=at + first + _BAR, x=0.0, x2=rows[kind])
        look: Any = {"fill": fill, "stroke": stroke, "strokeWidth": 1.5, "opacity": 1}
        bar = _Layer(own, name=f"bx{kind}").mark_rect(**look)
        layers.append(bar.encode(x=x, x2="x2:Q", y=y, y2="y2:Q"))
        label = [f"{kind.upper()} {_percent(v)}" for v in own[kind]]
        texts = own.assign(label=label, y=own["y"] + _BAR / 2)
        layers.append(_text(texts, y, _LONGEST + _NUMBERS, "right", f"bx{kind}text"))
    three = zip(rows["name"], rows["r"], rows["q"], strict=True)
    parts = [f"{name} R {_percent(in_r)}, Q {_percent(in_q)}" for name, in_r, in_q in three]
    words = [f"Probabilities of the outcomes: {'; '.join(parts)}"]
    return _framed(alt.layer(*layers), "", words, size=(_LONGEST, high), view={"stroke": None})


def _height(values: ArrayLike) -> tuple[float, float, float]:
    """Ends of a panel that holds all finite values and 0, and the place of infinite ones (nan: none).

    >>> _height([0, 2.0]), _height([0, 1.0, np.inf])
    ((0.0, 2.2, nan), (0.0, 1.6, 1.4))
    """
    values = np.asarray(values, dtype=float)
    finite = np.r_[0.0, values[np.isfinite(values)]]
    low, top = float(finite.min()), float(finite.max()) or 1.0
    return (low, 1.6 * top, 1.4 * top) if np.isinf(values).any() else (low, 1.1 * top, math.nan)


def _percent(p: float) -> str:
    """Probability in percent, and "0" only for 0.

    >>> _percent(0.125), _percent(0), _percent(0.0001)
    ('12.5 %', '0', '< 0.1 %')
    """
    return "0" if p == 0 else "< 0.1 %" if p < 0.0005 else f"{100 * p:.1f} %"


def _sorted(values: pd.DataFrame) -> pd.DataFrame:
    rows = _checked(values, ["path", "t", "value"], name="divergence")
    places = [pd.factorize(rows[column])[0] for column in ("path", "divergence")]
    return rows.iloc[np.lexsort((rows["t"], *places))].reset_index(drop=True)


def _axes(low: float, high: float) -> tuple[alt.X, alt.Y]:
    """Axes without titles and numbers."""
    x = alt.X("t:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=None)
    return x, alt.Y("value:Q", scale=alt.Scale(domain=[low, high], nice=False), axis=None)


def _layers(values: pd.DataFrame, paths: list[str]) -> list[alt.Chart]:
    """Strip of infinite values, and a layer for each path: lines, and squares for single values."""
    low, top, above = _height(values["value"])
    infinite = np.isinf(values["value"])
    change = (infinite != infinite.shift()) | (values["path"] != values["path"].shift())
    rows = values.assign(value=values["value"].replace(np.inf, above), segment=change.cumsum())
    single = rows.groupby("segment")["t"].transform("size") == 1
    x, y = _axes(low, top)
    look = _told_apart("path", paths, color=_PATHS, strokeDash=_PATH_DASHES)
    layers: list[Any] = []
    if infinite.any():
        row = {"t": 0.0, "to": 1.0, "value": above, "label": "∞"}
        at = _Layer(pd.DataFrame([row]))
        rule = at.mark_rule(color=fr.QUIET, strokeWidth=1, strokeDash=[2, 4])
        sign = at.mark_text(fontSize=18, align="right", baseline="middle", dx=-6)
        layers += [rule.encode(x=x, x2="to:Q", y=y), sign.encode(x=x, y=y, text="label:N")]
    for k, path in enumerate(paths):
        own, alone = (rows[(rows["path"] == path) & some] for some in (~single, single))
        line = _Layer(own, name=f"bxpath{k}")
        mark = line.mark_line(strokeWidth=3, strokeJoin="round", strokeCap="butt")
        layers.append(mark.encode(x=x, y=y, detail="segment:N", order="t:Q", **look))
        if len(alone):
            square = _Layer(alone).mark_point(filled=True, size=90, opacity=1, shape="square")
            layers.append(square.encode(x=x, y=y, color=look["color"]))
    return layers


def _text(rows: pd.DataFrame, y: alt.Y, x: float, align: Any, name: str) -> alt.Chart:
    mark = _Layer(rows, name=name).mark_text(fontSize=fr.FONT, baseline="middle", align=align)
    return mark.encode(x=alt.value(x), y=y, text="label:N")


def _words(name: str, rows: pd.DataFrame) -> str:
    """Value at the end of each path, and its largest value where that is another."""
    parts = []
    for path, own in rows.groupby("path", sort=False)["value"]:
        end, most = (f"{v:.4g}".replace("inf", "∞") for v in (own.iloc[-1], own.max()))
        parts.append(f"{path} {end}" + (f" (largest {most})" if own.max() > own.iloc[-1] else ""))
    return f"{name}, at the end: {', '.join(parts)}"
