"""Divergences along paths of distributions, a small panel for each; and the bars of the two distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from .frame import AXIS, Size, framed
from .marks import FONT, POINT, QUIET, Layer, checked_columns, legend, moving_point, told_apart

__all__ = [
    "COLOURS",
    "DASHES",
    "Height",
    "height_of",
    "plot_bars",
    "plot_divergences",
    "plot_trace",
]

# after Okabe and Ito 2008, dark enough for a line on white
COLOURS = ["#0072B2", "#A04B78", "#009E73", "#000000"]
DASHES = [[1, 0], [9, 4], [3, 4], [10, 3, 3, 3]]
COLUMNS = ["divergence", "path", "t", "value"]
# pixels: of an outcome in the bars, of its name above them, of a bar
OUTCOME, NAME, BAR = 62, 18, 16
NUMBERS = 96  # pixels right of the bars, for their numbers
PANEL_TITLE: dict[str, Any] = {"fontSize": 17, "anchor": "start", "frame": "group", "offset": 6}


def plot_divergences(
    values: pd.DataFrame,
    *,
    title: str = "",
    x_title: str = "t",
    columns: int = 3,
    size: Size = (235, 105),
) -> alt.ConcatChart:
    """A panel per divergence with a line per path, all from 0 on; what is infinite runs along the upper edge.

    The panels have scales of their own, so that not the sizes of two divergences are compared, but the order in which
    each of them puts the paths.

    Parameters
    ----------
    values : divergence (its name, with unit), path, t in [0, 1], value (may be infinite); rows in any order.
    title : what the picture claims. columns : panels in a row. size : of the plane of a panel, in pixels.
    x_title : of the way along the path.

    Raises
    ------
    DataError for a missing column, a nan, no row, more than 4 paths.
    """
    values = _checked(values)
    paths = list(dict.fromkeys(values["path"]))
    panels = [
        _layers(own, paths, size=size, axes=x_title).properties(
            title=alt.TitleParams(str(name), **PANEL_TITLE)
        )
        for name, own in values.groupby("divergence", sort=False)
    ]
    chart = alt.concat(*panels, columns=columns, spacing={"row": 12, "column": 24})
    return framed(chart, title, _words(values), width=columns * (size[0] + 60))


def plot_trace(
    values: pd.DataFrame, *, point: tuple[float, float], size: Size = (230, 36)
) -> alt.LayerChart:
    """One panel of `plot_divergences` without axes; the explorer moves its mark, ``bxpoint``.

    The line of path k is called ``bxpath{k}``. point : (t, value) of the mark. values : as there, of one divergence.
    """
    values = _checked(values)
    chart = _layers(values, list(dict.fromkeys(values["path"])), size=size, point=point)
    # the same for all, so that panels stand in line
    room = {"left": 26, "right": 10, "top": 8, "bottom": 8}
    look: dict[str, Any] = {"view": {"stroke": None}, "padding": room, "autosize": "none"}
    return framed(chart, "", _words(values), **look)


def plot_bars(
    r: ArrayLike, q: ArrayLike, names: Sequence[str], *, top: float = 0.0, width: int = 290
) -> alt.LayerChart:
    """The probability of each outcome: an outlined bar for R, below it a filled one for Q, each with its number.

    The filled bars are called ``bxq``, their numbers ``bxqtext``.

    Parameters
    ----------
    r, q : (Y,) the reference and the system. names : of the outcomes. top : the least upper end of the axis.
    width : of the longest bar in pixels.
    """
    r, q = np.asarray(r, dtype=float), np.asarray(q, dtype=float)
    checks.same_length(r=r, q=q, names=names)
    rows = pd.DataFrame({"name": [str(name) for name in names], "r": r, "q": q})
    rows["at"] = OUTCOME * np.arange(len(rows), dtype=float)
    high = OUTCOME * len(rows)
    x = alt.Scale(domain=[0, max(top, rows[["r", "q"]].to_numpy().max())], nice=False)
    y = alt.Scale(domain=[0, high], nice=False, reverse=True)
    layers = [_text(rows.assign(label=rows["name"], y=rows["at"] + NAME / 2), y, x=0, align="left")]
    for kind, first, look in (
        ("r", NAME + 1, {"fill": "#FFFFFF", "stroke": "#000000", "strokeWidth": 1.5}),
        ("q", NAME + BAR + 3, {"fill": POINT, "stroke": POINT, "strokeWidth": 1.5}),
    ):
        own = rows.assign(y=rows["at"] + first, y2=rows["at"] + first + BAR, x=0.0, x2=rows[kind])
        bars = Layer(own, name=f"bx{kind}").mark_rect(opacity=1, **look)
        across, down = alt.X("x:Q", scale=x, axis=None), alt.Y("y:Q", scale=y, axis=None)
        layers.append(bars.encode(x=across, x2=alt.X2("x2:Q"), y=down, y2=alt.Y2("y2:Q")))
        label = [f"{kind.upper()} {percent(v)}" for v in own[kind]]
        texts = own.assign(label=label, y=own["y"] + BAR / 2)
        layers.append(_text(texts, y, x=width + NUMBERS, align="right", name=f"bx{kind}text"))
    three = zip(rows["name"], rows["r"], rows["q"], strict=True)
    parts = [f"{name} R {percent(in_r)}, Q {percent(in_q)}" for name, in_r, in_q in three]
    said = f"Probabilities of the outcomes: {'; '.join(parts)}"
    return framed(alt.layer(*layers), "", [said], size=(width, high), view={"stroke": None})


@dataclass(frozen=True)
class Height:
    """The vertical span of a panel, and where it draws what is infinite (nan: nothing is).

    Parameters
    ----------
    low, high : of finite values.
    """

    low: float
    high: float
    infinite: float

    def of(self, values: ArrayLike) -> np.ndarray:
        """(n,) values, those that are infinite at their place."""
        values = np.asarray(values, dtype=float)
        return np.where(np.isinf(values), self.infinite, values)


def height_of(values: ArrayLike) -> Height:
    """Room for all finite values and 0, and above them a strip for infinite ones where there are any.

    Parameters
    ----------
    values : (n,) numbers, inf among them.

    >>> height_of([0, 2.0]), height_of([0, 1.0, np.inf])
    (Height(low=0.0, high=2.2, infinite=nan), Height(low=0.0, high=1.6, infinite=1.4))
    """
    values = np.asarray(values, dtype=float)
    finite = np.r_[0.0, values[np.isfinite(values)]]
    low, top = float(finite.min()), float(finite.max()) or 1.0
    if np.isinf(values).any():
        return Height(low, 1.6 * top, 1.4 * top)
    return Height(low, 1.1 * top, math.nan)


def percent(p: float) -> str:
    """ "12.5 %", and "0" only for what never happens.

    >>> percent(0.125), percent(0), percent(0.0001)
    ('12.5 %', '0', '< 0.1 %')
    """
    return "0" if p == 0 else "< 0.1 %" if p < 0.0005 else f"{100 * p:.1f} %"


def _checked(values: pd.DataFrame) -> pd.DataFrame:
    checked_columns(values, COLUMNS, "divergences along paths")
    places = [pd.factorize(values[column])[0] for column in ("path", "divergence")]
    values = values.iloc[np.lexsort((values["t"], *places))].reset_index(drop=True)
    if values.empty or values["value"].isna().any():
        raise DataError(
            "a value of a divergence is nan, or there is none; every row needs a number or "
            "infinity."
        )
    n = values["path"].nunique()
    if n > len(COLOURS):
        raise DataError(f"{n} paths; up to {len(COLOURS)} can be told apart in one picture.")
    return values


def _layers(
    values: pd.DataFrame,
    paths: list[str],
    *,
    size: Size,
    axes: str = "",
    point: tuple[float, float] | None = None,
) -> alt.LayerChart:
    """The lines of a panel, a layer per path; the strip of what is infinite; the mark."""
    height = height_of(values["value"])
    rows = values.assign(
        value=height.of(values["value"]),
        infinite=np.isinf(values["value"]),
        segment=_segments(values),
    )
    rows["single"] = rows.groupby("segment")["t"].transform("size") == 1
    rows["drawn"] = _drawn(rows, height) & ~rows["single"]
    x, y = _channels(height, axes)
    above = legend(labelLimit=500, symbolSize=700, symbolStrokeWidth=3, columnPadding=22)
    look = told_apart("path", paths, above if axes else None, color=COLOURS, strokeDash=DASHES)
    layers = [] if math.isnan(height.infinite) else _strip(height, x, y)
    for k, path in enumerate(paths):
        own = rows[rows["path"] == path]
        named: dict[str, Any] = (
            {} if point is None else {"name": f"bxpath{k}"}
        )  # panels of one picture must not share names
        line = Layer(own[own["drawn"]], **named).mark_line(
            strokeWidth=3, strokeJoin="round", strokeCap="butt"
        )
        layers.append(
            line.encode(x=x, y=y, detail=alt.Detail("segment:N"), order=alt.Order("t:Q"), **look)
        )
        single = own[own["single"]]
        if len(single):
            mark = Layer(single).mark_point(filled=True, size=90, opacity=1, shape="square")
            layers.append(mark.encode(x=x, y=y, color=look["color"]))
    if point is not None:
        at = pd.DataFrame({"t": [point[0]], "value": height.of([point[1]])})
        layers.append(moving_point(at, {"x": x, "y": y}, 150))
    return alt.layer(*layers).properties(width=size[0], height=size[1])


def _segments(values: pd.DataFrame) -> pd.Series:
    """A number per stretch of a path that is finite, or infinite, throughout: lines are not drawn across."""
    infinite = np.isinf(values["value"])
    new = (infinite != infinite.shift()) | (values["path"] != values["path"].shift())
    return new.cumsum()


def _drawn(rows: pd.DataFrame, height: Height) -> np.ndarray:
    """(n,) bool: every fourth vertex of a line, its ends, and its corners."""
    segment = rows["segment"].to_numpy()
    value = rows["value"].to_numpy() / (height.high - height.low)
    end = np.diff(segment, prepend=-1) != 0
    bend = np.abs(np.convolve(np.pad(value, 1, mode="edge"), [1, -2, 1], mode="valid")) > 0.002
    return end | np.roll(end, -1) | bend | (np.arange(len(rows)) % 4 == 0)


def _channels(height: Height, axes: str) -> tuple[alt.X, alt.Y]:
    x_axis = (
        alt.Axis(
            title=axes, values=[0, 0.5, 1], format="~g", grid=False, **(AXIS | {"titlePadding": 2})
        )
        if axes
        else None
    )
    top = height.high if math.isnan(height.infinite) else height.infinite / 1.4
    ticks = _ticks(top)
    y_axis = alt.Axis(title=None, values=ticks, format=".3~g", **AXIS) if axes else None
    x = alt.X("t:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=x_axis)
    return x, alt.Y(
        "value:Q", scale=alt.Scale(domain=[height.low, height.high], nice=False), axis=y_axis
    )


def _ticks(top: float) -> list[float]:
    """0 and the largest round number (1, 2 or 5 times a power of ten) that fits, and its half where that is short."""
    power = 10.0 ** math.floor(math.log10(top))
    most = next(m for m in (5, 2, 1) if m * power <= top * (1 + 1e-9)) * power
    return [
        float(f"{v:.3g}")
        for v in ([0.0, most / 2, most] if most in (2 * power, power) else [0.0, most])
    ]


def _strip(height: Height, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """A thin line at the place of what is infinite, and its sign."""
    at = pd.DataFrame({"t": [0.0], "to": [1.0], "value": [height.infinite], "label": ["∞"]})
    rule = Layer(at).mark_rule(color=QUIET, strokeWidth=1, strokeDash=[2, 4])
    sign = Layer(at).mark_text(fontSize=18, align="right", baseline="middle", dx=-6)
    return [
        rule.encode(x=x, x2=alt.X2("to:Q"), y=y),
        sign.encode(x=x, y=y, text=alt.Text("label:N")),
    ]


def _text(
    rows: pd.DataFrame, y: alt.Scale, *, x: float, align: str, name: str = "names"
) -> alt.Chart:
    marks = Layer(rows, name=name).mark_text(fontSize=FONT, baseline="middle", align=align)
    return marks.encode(
        x=alt.value(x), y=alt.Y("y:Q", scale=y, axis=None), text=alt.Text("label:N")
    )


def _words(values: pd.DataFrame) -> list[str]:
    """Where each path ends under each divergence, and its largest value where that is another one."""
    said = []
    for name, rows in values.groupby("divergence", sort=False):
        parts = []
        for path, own in rows.groupby("path", sort=False)["value"]:
            end, most = (f"{v:.4g}".replace("inf", "∞") for v in (own.iloc[-1], own.max()))
            before = f" (largest {most})" if own.max() > own.iloc[-1] else ""
            parts.append(f"{path} {end}{before}")
        said.append(f"{name}, at the end: {', '.join(parts)}")
    return said
