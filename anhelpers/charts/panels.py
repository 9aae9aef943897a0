"""Planes of several metrics above each other, for print: one axis of naturalness, no sentence inside the picture."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from ..errors import DataError
from ..estimate import Estimate
from ..frontier import OracleCurve
from .frame import COLUMN, Frame, Size, axis_of, description, plane_axes
from .marks import FONT, QUIET, Layer, Ranges, checked_systems, tip
from .systems import focus_ranges, systems_picture, systems_ranges

__all__ = ["Panel", "plot_panels", "short_title", "zoomed"]

RULER = 40  # pixels that the ruler of N(Q) takes above the plane
SMALLEST = 15  # of a title, in pixels: 7 pt in a column of 3.3 inches
WIDE = 0.53  # of a letter, in units of the font size


@dataclass(frozen=True)
class Panel:
    """One plane of a picture of several.

    Parameters
    ----------
    table : of `plane.systems_table`. title : of its axis of accuracy. curve : if one is drawn.
    """

    table: pd.DataFrame
    title: str
    curve: OracleCurve | None = None


def plot_panels(
    panels: Sequence[Panel],
    naturalness_title: str,
    *,
    uncertainty: str = "ellipse",
    named: Sequence[str] = (),
    mono: Estimate | None = None,
    ruler: bool = False,
    zoom: Sequence[str] = (),
    inner: Sequence[str] = (),
    size: Size = COLUMN,
) -> tuple[alt.VConcatChart, list[list[str]], list[str]]:
    """Planes above each other, by one metric of accuracy each, over one axis of naturalness.

    All that explains them is for the caption and the alt text: no sentence stands in the picture.

    Parameters
    ----------
    uncertainty, named, mono : as for `plot_systems`.
    ruler : whether an upper axis says N(Q), the distance from R; for log-probabilities only.
    zoom : systems around which the picture is cut out; () for all of it.
    inner : systems around which a frame is drawn, which another picture shows larger.
    size : (width, height) of each plane in pixels.

    Returns
    -------
    The chart; of each panel the sentences on how it is read; the systems without a name in one of the panels.
    """
    if not panels:
        raise DataError("there is no plane to draw; give at least one.")
    spans, parts, unnamed = _ranges(panels, zoom, uncertainty, mono), [], []
    kinds = dict.fromkeys(
        kind for panel in panels for kind in checked_systems(panel.table)["category"]
    )
    inside = _ranges(panels, inner, uncertainty, mono) if inner else []
    above = RULER if ruler and mono is not None else 0
    for k, (panel, ranges) in enumerate(zip(panels, spans, strict=True)):
        plane = _axes(ranges, size, naturalness_title if k == len(panels) - 1 else "", panel.title)
        drawn = systems_picture(
            panel.table,
            plane,
            curve=panel.curve,
            uncertainty=uncertainty,
            named=named,
            mono=mono,
            tips=[tip("naturalness", naturalness_title), tip("accuracy", panel.title)],
            legend={"legend_of": kinds, "offset": None if k else 6 + above},
        )
        layers = [*drawn.layers, *([_outline(inside[k], plane)] if inside else [])]
        layers += _ruler(mono, plane) if above and mono is not None and not k else []
        for layer in layers:  # no two planes may have layers of one name
            layer.name = alt.Undefined
        parts.append((alt.layer(*layers).properties(width=size[0], height=size[1]), drawn))
        unnamed += drawn.unnamed
    said = [
        f"{panel.title}: {description('', [*one.said, *one.notes])}"
        for panel, (_, one) in zip(panels, parts, strict=True)
    ]
    chart = alt.vconcat(*(layer for layer, _ in parts), spacing=14, description=" ".join(said))
    chart = chart.resolve_scale(fill="independent", shape="independent", x="independent")
    return chart, [one.notes for _, one in parts], list(dict.fromkeys(unnamed))


def zoomed(table: pd.DataFrame, most: int = 12, named: Sequence[str] = ()) -> list[str]:
    """The systems in the corner of high accuracy and high naturalness, which a second picture shows larger.

    It reaches as far as one's own systems.

    Parameters
    ----------
    table : as for `plot_systems`. most : about so many, half of the systems where they are fewer. named : one's own.
    """
    systems = checked_systems(table)
    n = min(most, max(2, len(systems) // 2))
    (x0, x1), (y0, y1) = focus_ranges(table, n)
    own = systems["system"][systems["system"].isin(named)].tolist()
    if own:
        (left, right), (low, high) = focus_ranges(table, own)
        x0, x1, y0, y1 = min(x0, left), max(x1, right), min(y0, low), max(y1, high)
    near = systems["naturalness"].between(x0, x1) & systems["accuracy"].between(y0, y1)
    return systems["system"][near].tolist()


def short_title(title: str, length: int) -> tuple[str, int]:
    """An axis's title that fits one line, and its font size: an arrow for the direction, which the caption explains.

    Parameters
    ----------
    title : such as `Metric.oriented_title`. length : of the axis, in pixels.

    >>> short_title("chrF (points, 0 to 100, higher is better)", 320)
    ('chrF (points, 0 to 100) →', 18)
    """
    plain, directed, _ = title.rpartition(", higher is ")
    plain, arrow = (f"{plain})", " →") if directed else (title, "")
    bare = plain.partition(" (")[0]
    for text in (plain + arrow, bare + arrow):
        if (font := min(18, int(length / (WIDE * max(1, len(text)))))) >= SMALLEST:
            return text, font
    return textwrap.shorten(bare, int(length / WIDE / SMALLEST), placeholder="…"), SMALLEST


def _ranges(
    panels: Sequence[Panel], zoom: Sequence[str], uncertainty: str, mono: Estimate | None
) -> list[Ranges]:
    """Of each panel, with the same axis of naturalness."""
    found = []
    for panel in panels:
        here = [name for name in zoom if name in set(checked_systems(panel.table)["system"])]
        if here:
            found.append(focus_ranges(panel.table, here))
        else:
            found.append(
                systems_ranges(panel.table, curve=panel.curve, uncertainty=uncertainty, mono=mono)
            )
    wide = min(x[0] for x, _ in found), max(x[1] for x, _ in found)
    return [(wide, y) for _, y in found]


def _axes(ranges: Ranges, size: Size, naturalness_title: str, accuracy_title: str) -> Frame:
    """The plane with titles of one line; without naturalness's, which a panel below has, no numbers either."""
    plane = plane_axes(ranges, size, naturalness_title, accuracy_title)
    # the title below may reach under the numbers on the left
    sides = (("x", naturalness_title, size[0], 40), ("y", accuracy_title, size[1], 0))
    for channel, title, length, more in sides:
        text, font = short_title(title, length + more)
        look = {"titleFontSize": font} if title else {"labels": False}
        axis = axis_of("", length, tickCount=length // 80)
        axis.title = text or None
        for name, value in look.items():
            axis[name] = value
        plane.channels[channel].axis = axis
    return plane


def _outline(ranges: Ranges, plane: Frame) -> alt.Chart:
    """The part of the plane that another picture shows larger, as far as it lies inside."""
    ((x0, x1), (y0, y1)), ((left, right), (low, high)) = ranges, plane.ranges
    corners = {"naturalness": max(x0, left), "to_x": min(x1, right)}
    corners |= {"accuracy": max(y0, low), "to_y": min(y1, high)}
    look = {"filled": False, "stroke": QUIET, "strokeWidth": 1}
    frame = Layer(pd.DataFrame([corners])).mark_rect(**look)
    return frame.encode(**plane.channels, x2=alt.X2("to_x:Q"), y2=alt.Y2("to_y:Q"))


def _ruler(mono: Estimate, plane: Frame) -> list[alt.Chart]:
    """AN's N(Q) above the plane: 0 at R, and the less the farther away on either side."""
    at, (start, end) = mono.value, plane.ranges[0]
    wide = end - start
    steps = [m * 10.0**e for e in range(-4, 4) for m in (1, 2, 5)]
    step = next((one for one in steps if wide / one <= 6), wide)
    away = np.arange(np.ceil((start - at) / step), np.floor((end - at) / step) + 1) * step
    digits = max(0, -int(np.floor(np.log10(step))))
    texts = [
        f"{-abs(one):.{digits}f}".replace("-0." + "0" * digits, "0").replace("-", "−")
        for one in away
    ]
    ticks = pd.DataFrame(
        {
            "naturalness": at + away,
            "label": ["0" if one == 0 else t for one, t in zip(away, texts, strict=True)],
        }
    )
    base = Layer(ticks)
    x = plane.channels["x"]
    rules = base.mark_rule(color=QUIET).encode(x=x, y=alt.value(-5), y2=alt.value(0))
    numbers = base.mark_text(fontSize=FONT, baseline="bottom", color=QUIET)
    title = Layer(pd.DataFrame({"label": ["N(Q) = −|LPP(Q) − LPP(R)|"]}))
    words = title.mark_text(fontSize=FONT, baseline="bottom", color=QUIET)
    return [
        rules,
        numbers.encode(x=x, y=alt.value(-7), text=alt.Text("label:N")),
        words.encode(x=alt.value(plane.size[0] / 2), y=alt.value(-26), text=alt.Text("label:N")),
    ]
