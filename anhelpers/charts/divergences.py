"""Divergences along paths of distributions, a small panel for each, and bars of two distributions."""

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
from .frame import (
    AXIS,
    FONT,
    POINT,
    QUIET,
    Layer,
    Size,
    checked,
    dots,
    framed,
    legend,
    told_apart,
)

COLOURS = ["#0072B2", "#A04B78", "#009E73", "#000000"]  # after Okabe and Ito 2008, 3:1 on white
DASHES = [[1, 0], [9, 4], [3, 4], [10, 3, 3, 3]]
_OUTCOME, _NAME, _BAR, _NUMBERS = 62, 18, 16, 96  # px of plot_bars


def plot_divergences(
    values: pd.DataFrame, *, title: str = "", size: Size = (235, 105)
) -> alt.ConcatChart:
    """Panel of each divergence with a line for each path; infinite values run along the upper edge.

    Each panel has a scale of its own: compare the order of the paths, not the sizes.

    Parameters
    ----------
    values : divergence (name with unit), path (at most 4), t in [0, 1], value (may be infinite)
    size : of a panel's plane in pixels
    """
    rows = _sorted(values)
    paths = list(dict.fromkeys(rows["path"]))
    look: dict[str, Any] = {"fontSize": 17, "anchor": "start", "frame": "group", "offset": 6}
    panels, words = [], []
    for name, own in rows.groupby("divergence", sort=False):
        panel = alt.layer(*_layers(own, paths, axes="t")).properties(width=size[0], height=size[1])
        panels.append(panel.properties(title=alt.TitleParams(str(name), **look)))
        words.append(_words(str(name), own))
    chart = alt.concat(*panels, columns=3, spacing={"row": 12, "column": 24})
    return framed(chart, title, words, width=3 * (size[0] + 60))


def plot_trace(
    values: pd.DataFrame, *, point: tuple[float, float], size: Size = (230, 36)
) -> alt.LayerChart:
    """Panel without axes for the explorer, which moves ``bxpoint``, at (t, value), along ``bxpath{k}``."""
    rows = _sorted(values)
    layers = _layers(rows, list(dict.fromkeys(rows["path"])), named=True)
    at = pd.DataFrame({"t": [point[0]], "value": height_of(rows["value"]).of([point[1]])})
    x, y = _axes(height_of(rows["value"]), "")
    chart = alt.layer(
        *layers, dots(at, "bxpoint", fill=POINT, strokeWidth=2, size=150).encode(x=x, y=y)
    )
    room = {"left": 26, "right": 10, "top": 8, "bottom": 8}
    look: dict[str, Any] = {"view": {"stroke": None}, "padding": room, "autosize": "none"}
    return framed(chart, "", [_words(str(rows["divergence"][0]), rows)], size=size, **look)


def plot_bars(
    r: ArrayLike, q: ArrayLike, names: Sequence[str], *, top: float = 0.0, width: int = 290
) -> alt.LayerChart:
    """Probabilities of each outcome: an outlined bar for R, below it a filled one for Q.

    The filled bars are named ``bxq``, their numbers ``bxqtext``.

    Parameters
    ----------
    r, q : (Y,) the reference and the system; names : of the outcomes
    top : least upper end of the axis; width : of the longest bar in pixels
    """
    r, q = np.asarray(r, dtype=float), np.asarray(q, dtype=float)
    checks.same_length(r=r, q=q, names=names)
    rows = pd.DataFrame({"name": [str(name) for name in names], "r": r, "q": q})
    high, at = _OUTCOME * len(rows), _OUTCOME * np.arange(len(rows), dtype=float)
    scale = alt.Scale(domain=[0, max(top, float(rows[["r", "q"]].to_numpy().max()))], nice=False)
    down = alt.Scale(domain=[0, high], nice=False, reverse=True)
    x, y = alt.X("x:Q", scale=scale, axis=None), alt.Y("y:Q", scale=down, axis=None)
    layers = [_text(rows.assign(label=rows["name"], y=at + _NAME / 2), y, 0, "left", "names")]
    for kind, first, fill, stroke in (
        ("r", _NAME + 1, "#FFFFFF", "#000000"),
        ("q", _NAME + _BAR + 3, POINT, POINT),
    ):
        own = rows.assign(y=at + first, y2=at + first + _BAR, x=0.0, x2=rows[kind])
        bar = Layer(own, name=f"bx{kind}").mark_rect(
            fill=fill, stroke=stroke, strokeWidth=1.5, opacity=1
        )
        layers.append(bar.encode(x=x, x2="x2:Q", y=y, y2="y2:Q"))
        label = [f"{kind.upper()} {percent(v)}" for v in own[kind]]
        texts = own.assign(label=label, y=own["y"] + _BAR / 2)
        layers.append(_text(texts, y, width + _NUMBERS, "right", f"bx{kind}text"))
    three = zip(rows["name"], rows["r"], rows["q"], strict=True)
    parts = [f"{name} R {percent(in_r)}, Q {percent(in_q)}" for name, in_r, in_q in three]
    words = [f"Probabilities of the outcomes: {'; '.join(parts)}"]
    return framed(alt.layer(*layers), "", words, size=(width, high), view={"stroke": None})


@dataclass(frozen=True)
class _Height:
    """Vertical span of a panel, and the place of infinite values (nan: none is infinite)."""

    low: float
    high: float
    infinite: float

    def of(self, values: ArrayLike) -> np.ndarray:
        """(n,) values, infinite ones at their place."""
        values = np.asarray(values, dtype=float)
        return np.where(np.isinf(values), self.infinite, values)


def height_of(values: ArrayLike) -> _Height:
    """Span of all finite values and 0, with a strip above for infinite ones.

    >>> height_of([0, 2.0]), height_of([0, 1.0, np.inf])
    (_Height(low=0.0, high=2.2, infinite=nan), _Height(low=0.0, high=1.6, infinite=1.4))
    """
    values = np.asarray(values, dtype=float)
    finite = np.r_[0.0, values[np.isfinite(values)]]
    low, top = float(finite.min()), float(finite.max()) or 1.0
    if np.isinf(values).any():
        return _Height(low, 1.6 * top, 1.4 * top)
    return _Height(low, 1.1 * top, math.nan)


def percent(p: float) -> str:
    """Probability in percent, and "0" only for 0.

    >>> percent(0.125), percent(0), percent(0.0001)
    ('12.5 %', '0', '< 0.1 %')
    """
    return "0" if p == 0 else "< 0.1 %" if p < 0.0005 else f"{100 * p:.1f} %"


def _sorted(values: pd.DataFrame) -> pd.DataFrame:
    rows = checked(values, ["path", "t", "value"], name="divergence")
    places = [pd.factorize(rows[column])[0] for column in ("path", "divergence")]
    return rows.iloc[np.lexsort((rows["t"], *places))].reset_index(drop=True)


def _axes(height: _Height, title: str) -> tuple[alt.X, alt.Y]:
    """Axes without numbers where there is no title."""
    top = height.high if math.isnan(height.infinite) else height.infinite / 1.4
    power = 10.0 ** math.floor(math.log10(top))
    most = next(m for m in (5, 2, 1) if m * power <= top * (1 + 1e-9)) * power
    ticks = [0.0, most] if most == 5 * power else [0.0, most / 2, most]
    under = AXIS | {"titlePadding": 2, "format": "~g", "grid": False, "values": [0, 0.5, 1]}
    left = AXIS | {"format": ".3~g", "values": [float(f"{v:.3g}") for v in ticks]}
    x_axis = alt.Axis(title=title, **under) if title else None
    y_axis = alt.Axis(title=None, **left) if title else None
    span = alt.Scale(domain=[height.low, height.high], nice=False)
    x = alt.X("t:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=x_axis)
    return x, alt.Y("value:Q", scale=span, axis=y_axis)


def _layers(
    values: pd.DataFrame, paths: list[str], *, axes: str = "", named: bool = False
) -> list[alt.Chart]:
    """Strip of infinite values, and a layer for each path: lines, and squares for single values."""
    height, infinite = height_of(values["value"]), np.isinf(values["value"])
    change = (infinite != infinite.shift()) | (values["path"] != values["path"].shift())
    rows = values.assign(value=height.of(values["value"]), segment=change.cumsum())
    single = rows.groupby("segment")["t"].transform("size") == 1
    x, y = _axes(height, axes)
    above = legend(labelLimit=500, symbolSize=700, symbolStrokeWidth=3, columnPadding=22)
    look = told_apart("path", paths, above if axes else None, color=COLOURS, strokeDash=DASHES)
    layers: list[Any] = []
    if infinite.any():
        at = Layer(
            pd.DataFrame({"t": [0.0], "to": [1.0], "value": [height.infinite], "label": ["∞"]})
        )
        rule = at.mark_rule(color=QUIET, strokeWidth=1, strokeDash=[2, 4])
        sign = at.mark_text(fontSize=18, align="right", baseline="middle", dx=-6)
        layers += [rule.encode(x=x, x2="to:Q", y=y), sign.encode(x=x, y=y, text="label:N")]
    for k, path in enumerate(paths):
        own, alone = (rows[(rows["path"] == path) & some] for some in (~single, single))
        line = Layer(own, name=f"bxpath{k}" if named else alt.Undefined)
        mark = line.mark_line(strokeWidth=3, strokeJoin="round", strokeCap="butt")
        layers.append(mark.encode(x=x, y=y, detail="segment:N", order="t:Q", **look))
        if len(alone):
            square = Layer(alone).mark_point(filled=True, size=90, opacity=1, shape="square")
            layers.append(square.encode(x=x, y=y, color=look["color"]))
    return layers


def _text(rows: pd.DataFrame, y: alt.Y, x: float, align: Any, name: str) -> alt.Chart:
    mark = Layer(rows, name=name).mark_text(fontSize=FONT, baseline="middle", align=align)
    return mark.encode(x=alt.value(x), y=y, text="label:N")


def _words(name: str, rows: pd.DataFrame) -> str:
    """Value at the end of each path, and its largest value where that is another."""
    parts = []
    for path, own in rows.groupby("path", sort=False)["value"]:
        end, most = (f"{v:.4g}".replace("inf", "∞") for v in (own.iloc[-1], own.max()))
        parts.append(f"{path} {end}" + (f" (largest {most})" if own.max() > own.iloc[-1] else ""))
    return f"{name}, at the end: {', '.join(parts)}"
