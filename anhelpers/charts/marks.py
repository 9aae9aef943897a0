"""How what is drawn looks: systems by category, with intervals and tooltips, legends, and names with their lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd

from .. import checks
from ..errors import DataError

if TYPE_CHECKING:
    from .frame import Frame
    from .labels import Label

__all__ = ["CATEGORIES"]

CATEGORIES = {  # mark and fill: Okabe and Ito 2008, each with a black outline and its own shape
    "LLM": ("circle", "#009E73"),
    "MT": ("square", "#CC79A7"),
    "online": ("triangle-up", "#56B4E9"),
    "human": ("diamond", "#000000"),
    "control": ("triangle-down", "#F0E442"),
    "unknown": ("cross", "#999999"),
}
FONT = 16  # smallest text, in pixels; titles are 18, legible from the last row of a seminar room
# (from, to) of naturalness and of accuracy
Ranges = tuple[tuple[float, float], tuple[float, float]]
LINE, POINT, BARS = "#0072B2", "#D55E00", "#8A8A8A"
# under a label, so that it is legible across a bar
HALO = {"stroke": "#FFFFFF", "strokeWidth": 4, "strokeOpacity": 0.85, "strokeJoin": "round"}
LINE_HEIGHT = 20  # of a label, in pixels
QUIET = "#555555"  # of what is drawn for comparison
# for the tooltip
DETAILS = ("n", "n_docs", "pareto", "pareto_probability", "accuracy_gap", "naturalness_gap")


class Layer(alt.Chart):
    """A chart whose deep copy shares its parts: Altair copies every layer twice, and changes none of its parts."""

    def __deepcopy__(self, memo: Any = None) -> Layer:
        return self.copy(deep=False)


def checked_systems(systems: pd.DataFrame | None) -> pd.DataFrame:
    """The drawable rows of a table of systems (none for None), or a DataError naming what is missing."""
    columns = ["system", "category", "accuracy", "naturalness"]
    if systems is None:
        return pd.DataFrame(columns=columns)
    checked_columns(systems, columns, "systems")
    for category in systems["category"].unique():
        checks.one_of(category, CATEGORIES, "category of system")
    names = (
        f"{axis}{what}" for axis in columns[2:] for what in ("", "_low", "_high", "_se", "_start")
    )
    systems = checked_numbers(systems, [name for name in names if name in systems], "systems")
    return systems.dropna(subset=["accuracy", "naturalness"]).reset_index(drop=True)


def checked_numbers(
    table: pd.DataFrame, numbers: Sequence[str], of: str, name: str = "system"
) -> pd.DataFrame:
    """The table with these columns as floats, or a DataError: nan is a number that is missing, infinity is none."""
    for column in numbers:
        values = pd.to_numeric(table[column], errors="coerce").astype(float)
        wrong = np.flatnonzero((values.isna() & table[column].notna()) | np.isinf(values))
        if wrong.size:
            seen = f"{column} of '{table[name].iloc[wrong[0]]}' is {table[column].iloc[wrong[0]]}"
            raise DataError(
                f"{seen} in the table of {of}; give a number, or nan where there is none."
            )
        table = table.assign(**{column: values})
    return table


def not_drawn(table: pd.DataFrame | None, drawn: pd.DataFrame, name: str = "system") -> list[str]:
    """The sentence that names the rows without a place in the picture, if there are any."""
    known = set(drawn[name].astype(str))
    lost = [] if table is None else [one for one in table[name].astype(str) if one not in known]
    return [f"Not drawn, for a number is missing: {', '.join(lost)}."] if lost else []


def checked_columns(table: pd.DataFrame, needed: list[str], of: str) -> None:
    """A DataError names the columns that a table lacks, and those that it has."""
    missing = [c for c in needed if c not in table]
    if missing:
        raise DataError(
            f"the table of {of} has no column {', '.join(missing)}; it has "
            f"{', '.join(map(str, table))}."
        )


def tip(column: str, title: str = "") -> alt.Tooltip:
    return alt.Tooltip(f"{column}:Q", title=title or column.replace("_", " "), format=".4~g")


def on(channel: Any, column: str) -> Any:
    """The same channel for another column of numbers."""
    other = channel.copy()
    other.shorthand = f"{column}:Q"
    return other


def legend(**look: Any) -> alt.Legend:
    """A legend above the plane, in the font of the house."""
    return alt.Legend(title=None, orient="top", labelFontSize=FONT, **look)


def told_apart(
    field: str, names: Iterable[str], legend: Any = None, **ranges: Iterable[Any]
) -> dict[str, Any]:
    """Channels (color, fill, shape, strokeDash) by which the names in a field look different, each of its range."""
    names = list(names)
    return {
        channel: getattr(alt, channel[0].upper() + channel[1:])(
            f"{field}:N",
            scale=alt.Scale(domain=names, range=list(values)[: len(names)]),
            legend=legend,
        )
        for channel, values in ranges.items()
    }


def dots(rows: pd.DataFrame, name: Any = alt.Undefined, **look: Any) -> Any:
    """A filled mark with a black outline per row, or what `look` says otherwise."""
    usual = {"filled": True, "size": 160, "stroke": "#000000", "strokeWidth": 1, "opacity": 1}
    return Layer(rows, name=name).mark_point(**(usual | look))


def system_marks(
    systems: pd.DataFrame,
    axes: dict,
    tips: list[alt.Tooltip],
    legend_of: Iterable[str] | None = None,
    offset: float | None = 6,
    own: Sequence[str] = (),
) -> alt.Chart:
    """A mark per system, with a legend of the categories present (or of those given) and a tooltip with all numbers.

    Parameters
    ----------
    own : whose marks lie above the others, large and with a thick outline.
    offset : of the legend, in pixels above the plane; None: there is no legend.
    """
    mine = systems["system"].isin(own).to_numpy()
    heavy: dict[str, Any] = {}
    if mine.any():
        systems = systems.assign(outline=np.where(mine, 3, 1), area=np.where(mine, 260, 160))
        heavy["strokeWidth"] = alt.StrokeWidth("outline:Q", scale=None)
        heavy["size"] = alt.Size("area:Q", scale=None)
    extra = [c for c in systems if c.endswith(("_low", "_high")) or c in DETAILS]
    looks = category_channels(systems["category"] if legend_of is None else legend_of, offset)
    tooltip = [alt.Tooltip("system:N"), alt.Tooltip("category:N"), *tips, *map(tip, extra)]
    # who is not counted, such as a copy, lies below whom it would cover
    apart = systems["outside"].ne("").to_numpy() if "outside" in systems else np.zeros_like(mine)
    systems = systems.iloc[np.lexsort((~apart, mine))]
    return dots(systems).encode(**axes, **looks, **heavy, tooltip=tooltip)


def category_channels(categories: Iterable[str], offset: float | None = 6) -> dict:
    """Shape and fill by category, with one legend of those given, `offset` pixels above the plane (None: without)."""
    given = set(categories)
    looks = {c: look for c, look in CATEGORIES.items() if c in given}
    shape, fill = zip(*looks.values(), strict=True) if looks else ((), ())
    above = None if offset is None else legend(symbolSize=160, columnPadding=18, offset=offset)
    return told_apart("category", looks, above, shape=shape, fill=fill)


def ring_marks(
    systems: pd.DataFrame, axes: dict, name: Any = alt.Undefined, **look: Any
) -> alt.Chart:
    """A ring around each of these systems: those of the Pareto set."""
    ring: dict[str, Any] = {"shape": "circle", "filled": False, "strokeWidth": 2, "size": 420}
    return dots(systems, name, **(ring | look)).encode(x=axes["x"], y=axes["y"])


def plus_mark(axes: dict) -> alt.Chart:
    """A plus at (0, 0): no errors."""
    zero = pd.DataFrame({"naturalness": [0.0], "accuracy": [0.0]})
    plus = {"shape": "M-1,0H1M0,-1V1", "stroke": "#000000", "strokeWidth": 2, "size": 200}
    return Layer(zero).mark_point(**plus, opacity=1).encode(x=axes["x"], y=axes["y"])


def moving_point(at: pd.DataFrame, axes: dict, size: int = 320) -> alt.Chart:
    """The large mark named ``bxpoint``, which a script moves."""
    return dots(at, "bxpoint", fill=POINT, strokeWidth=2, size=size).encode(**axes)


END = {"x": alt.X2, "y": alt.Y2}


def interval_bars(systems: pd.DataFrame, plane: Frame) -> list[alt.Chart]:
    """A thin cross through each system: its interval on each axis that has one, cut off where the picture ends."""
    charts = []
    for channel, column, (start, end) in zip(
        "xy", ("naturalness", "accuracy"), plane.ranges, strict=True
    ):
        low, high = f"{column}_low", f"{column}_high"
        if low in systems and high in systems:
            frame = systems.dropna(subset=[low, high])
            cut = bool((frame[low] < start).any() or (frame[high] > end).any())
            span = {
                channel: on(plane.channels[channel], low),
                f"{channel}2": END[channel](f"{high}:Q"),
            }
            rule = Layer(frame).mark_rule(color=BARS, strokeWidth=1.5, **clipped(cut))
            charts.append(rule.encode(**(plane.channels | span)))
    return charts


def clipped(cut: bool) -> dict:
    """The mark option that cuts off at the frame, only where something is cut: pictures in one page share clip ids."""
    return {"clip": True} if cut else {}


def text_layers(
    labels: Sequence[Label],
    inks: Sequence[str],
    plane: Frame,
    *,
    above: str | None = None,
) -> list[alt.Chart]:
    """The texts in their inks, those in the plane with a halo; a layer for each alignment and weight.

    Parameters
    ----------
    above : what the labels beside the plane are names of, printed above them.
    """
    rows = [
        (replace(label, text=line, y=label.y + LINE_HEIGHT * (k - (len(lines) - 1) / 2)), ink)
        for label, ink in zip(labels, inks, strict=False)
        for lines in [label.text.split("\n") if label.beside else [label.text]]
        for k, line in enumerate(lines)
    ]
    layers = _texts([row for row in rows if not row[0].beside], plane, **HALO) + _texts(rows, plane)
    beside = [label for label, _ in rows if label.beside]
    if above and beside:
        level = min(label.y for label in beside) - 1.2 * LINE_HEIGHT
        head = replace(beside[0], text=above, y=level)
        layers += _texts([(head, QUIET)], plane, fontStyle="italic")
    return layers


def _texts(rows: Sequence[tuple[Label, str]], plane: Frame, **look: Any) -> list[alt.Chart]:
    """A layer for each alignment and weight of labels with inks."""
    layers = []
    for align, bold in sorted({(label.align, label.bold) for label, _ in rows}):
        own = [row for row in rows if (row[0].align, row[0].bold) == (align, bold)]
        frame = _columns([[(label.x, label.y)] for label, _ in own], [plane.fields], plane)
        frame = frame.assign(label=[label.text for label, _ in own], ink=[ink for _, ink in own])
        heavy = {"fontWeight": "bold"} if bold else {}
        mark = Layer(frame).mark_text(
            align=align, fontSize=FONT, baseline="middle", **heavy, **look
        )
        ink = alt.Fill("ink:N", scale=None)
        layers.append(mark.encode(**plane.channels, text=alt.Text("label:N"), fill=ink))
    return layers


def _columns(
    points: Sequence[Sequence[tuple[float, float]]], names: Sequence[tuple[str, str]], plane: Frame
) -> pd.DataFrame:
    """A row for each of n sequences of k pixels: their values, in k pairs of columns with these names."""
    at = np.array(points, dtype=float).reshape(-1, len(names), 2)
    frame = pd.DataFrame(index=range(len(at)))
    for k, (x, y) in enumerate(names):
        frame[x], frame[y] = plane.values(*at[:, k].T)
    return frame


def leader_layers(
    labels: Sequence[Label], plane: Frame, inks: Sequence[str] = ()
) -> list[alt.Chart]:
    """Thin lines to the labels that stand apart: to the names of lines in their inks, to those of points in grey."""
    inked = zip(labels, inks or ["#444444"] * len(labels), strict=False)
    led = [(label, ink) for label, ink in inked if label.led]
    if not led:
        return []
    ends: list[Any] = [(label.led, (label.x - 4 * label.beside, label.y)) for label, _ in led]
    frame = _columns(ends, [plane.fields, ("to_x", "to_y")], plane)
    frame["ink"] = [ink for _, ink in led]
    rule = Layer(frame, name="leaders" if inks else alt.Undefined)
    rule = rule.mark_rule(strokeWidth=1.5 if inks else 1)
    ink = alt.Color("ink:N", scale=None)
    return [rule.encode(**plane.channels, x2=alt.X2("to_x:Q"), y2=alt.Y2("to_y:Q"), color=ink)]
