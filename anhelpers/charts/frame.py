"""What every chart shares: axes in known pixels, title, notes, alt text, colours, and the marks of systems."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError

if TYPE_CHECKING:
    from ..exact import ExactCurve
    from ..frontier import OracleCurve

# ((from, to) of naturalness, (from, to) of accuracy)
Ranges = tuple[tuple[float, float], tuple[float, float]]
Size = tuple[int, int]

ACCURACY_TITLE = "Accuracy (higher is better)"
NATURALNESS_TITLE = "Mean log-probability (nats per token, higher is more natural)"
COLUMN_INCHES = 3.3  # width of a column in ACL's style
# size of a plane whose smallest text has 7 pt at that width
COLUMN = (400, 320)
# px of all text but titles
FONT = 14
CATEGORIES = {  # shape and fill (Okabe and Ito 2008)
    "LLM": ("circle", "#009E73"),
    "MT": ("square", "#CC79A7"),
    "online": ("triangle-up", "#56B4E9"),
    "human": ("diamond", "#000000"),
    "control": ("triangle-down", "#F0E442"),
    "unknown": ("cross", "#999999"),
}
# of series: Okabe and Ito 2008, those dark enough for a line on white (3:1), and inks for names (4.5:1)
# fmt: off
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#7A5200", "#6E6E6E", "#5B2A86"]
INKS = ["#0072B2", "#B34E00", "#007A58", "#A04B78", "#000000", "#7A5200", "#666666", "#5B2A86"]
DASHES = [[1, 0], [9, 4], [2, 3], [10, 3, 2, 3], [5, 3], [14, 4], [2, 6], [10, 3, 2, 3, 2, 3]]
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right",
          "triangle-left"]
# fmt: on
LINE, POINT, BARS, QUIET = "#000000", "#D55E00", "#8A8A8A", "#555555"
AXIS: dict[str, Any] = {"labelFontSize": FONT, "titleFontSize": FONT, "titlePadding": 10}
_ROOTS = [0, -0.1, -0.5, -1, -2, -4, -6, -10, -15, -20, -30]  # ticks of a penalty
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_DETAILS = ("n", "n_docs", "pareto", "pareto_share", "accuracy_gap", "naturalness_gap")


class _Layer(alt.Chart):
    """Chart with a shallow deep copy; Altair copies every layer twice and changes none of its parts."""

    def __deepcopy__(self, memo: Any = None) -> _Layer:
        return self.copy(deep=False)


@dataclass(frozen=True)
class _Frame:
    """Two axes of a chart and the mapping between values and pixels.

    Parameters
    ----------
    ranges : (from, to) of x and of y; of their base-10 logarithms on a logarithmic axis
    size : (width, height) in pixels
    titles, fields : of x and y
    log : which axes are logarithmic
    root : which axes have a square-root scale, which spreads negated penalties near 0
    title : of the chart
    """

    ranges: Ranges
    size: Size
    titles: tuple[str, str]
    title: str = ""
    fields: tuple[str, str] = ("naturalness", "accuracy")
    log: tuple[bool, bool] = (False, False)
    root: tuple[bool, bool] = (False, False)

    @classmethod
    def plane(
        cls,
        default: Ranges,
        *,
        title: str = "",
        accuracy_title: str = ACCURACY_TITLE,
        naturalness_title: str = NATURALNESS_TITLE,
        ranges: Ranges | None = None,
        size: Size = (620, 420),
        root: tuple[bool, bool] = (False, False),
    ) -> _Frame:
        """Plane of accuracy (y) and naturalness (x), by default with the ranges of all that is drawn."""
        x, y = ((a, -a / 200) if r else (a, b) for (a, b), r in zip(default, root, strict=True))
        titles = (naturalness_title, accuracy_title)
        return cls(ranges or (x, y), size, titles, title, root=root)

    @classmethod
    def over(
        cls,
        x: ArrayLike,
        y: ArrayLike,
        titles: tuple[str, str],
        *,
        size: Size,
        log: tuple[bool, bool] = (False, False),
        title: str = "",
    ) -> _Frame:
        """Axes over all finite values of (n,) x, with a margin of 2 %, and of (m,) y, with 7 %."""
        ranges = []
        for k, values in enumerate((x, y)):
            values = np.asarray(values, dtype=float)
            values = values[np.isfinite(values)]
            if not values.size or (log[k] and values.min() <= 0):
                what = "only positive values" if values.size else "at least one value"
                raise DataError(f"axis {'xy'[k]}: got {values[:3]}, expected {what}.")
            low, high = np.array(_scaled([values.min(), values.max()], log[k]))
            margin = (0.02, 0.07)[k] * (high - low) or 0.05 * abs(high) or 1.0
            ranges.append((float(low - margin), float(high + margin)))
        return cls((ranges[0], ranges[1]), size, titles, title, ("x", "y"), log)

    @cached_property
    def channels(self) -> dict[str, Any]:
        """{"x", "y"} of encodings; a logarithmic axis of two decades has ticks at powers of ten."""
        made = {}
        for k, (axis, kind) in enumerate((("x", alt.X), ("y", alt.Y))):
            span, length = self.ranges[k], self.size[k]
            look: dict[str, Any] = {"tickCount": length // 80}
            scale: dict[str, Any] = {"domain": [*span], "zero": False}
            if self.log[k]:
                powers = 10.0 ** np.arange(np.ceil(span[0]), np.floor(span[1]) + 1)
                step = -(-len(powers) * 60 // length)
                look["format"] = "~g"
                look |= {"values": [*powers[::step]]} if len(powers) > 2 else {}
                scale = {"domain": [float(10**v) for v in span], "type": "log"}
            if self.root[k]:
                look |= {"format": ".6~g", "values": [v for v in _ROOTS if span[0] <= v]}
                scale["type"] = "sqrt"
            title = self.titles[k]
            if k and len(title) > self.size[0] / 7.5:  # its one line is above the plane
                title = title.partition(" (")[0] + " ↑" * ("higher is" in title)
            drawn = _axis_of(title, self.size[0], **look)
            scaled = alt.Scale(nice=False, **scale)
            made[axis] = kind(f"{self.fields[k]}:Q", scale=scaled, axis=drawn)
        return made

    @property
    def tips(self) -> list[alt.Tooltip]:
        """Tooltips of x and y."""
        return [_tip(field, title) for field, title in zip(self.fields, self.titles, strict=True)]

    def finished(
        self, layers: Iterable[Any], words: Sequence[str], notes: Sequence[str] = ()
    ) -> Any:
        """Chart of these layers, with title, notes and alt text as in `_framed`."""
        return _framed(alt.layer(*layers), self.title, words, notes, size=self.size)

    def on(self, axis: str, column: str) -> Any:
        """Channel "x" or "y" for a different column."""
        return _of_column(self.channels[axis], column)

    def pixels(self, x: ArrayLike, y: ArrayLike) -> np.ndarray:
        """(n, 2) pixels from the left and from the top, of (n,) values."""
        x, y = (_scaled(v, *how) for v, *how in zip((x, y), self.log, self.root, strict=True))
        (x0, x1), (y0, y1), (w, h) = *self._spans, self.size
        return np.stack([(x - x0) / (x1 - x0) * w, h - (y - y0) / (y1 - y0) * h], axis=-1)

    def values(self, at: ArrayLike) -> list[np.ndarray]:
        """(n,) values of x and of y at (n, 2) pixels: the inverse of `pixels`."""
        (x0, x1), (y0, y1), (w, h) = *self._spans, self.size
        x, y = np.asarray(at, dtype=float).reshape(-1, 2).T
        both = x0 + x / w * (x1 - x0), y0 + (h - y) / h * (y1 - y0)
        ways = zip(both, self.log, self.root, strict=True)
        return [10.0**v if log else v * abs(v) if root else v for v, log, root in ways]

    @property
    def _spans(self) -> list[np.ndarray]:
        """Ranges in the units of pixels."""
        return [_scaled(r, False, root) for r, root in zip(self.ranges, self.root, strict=True)]

    def at(self, frame: pd.DataFrame) -> np.ndarray:
        """(n, 2) pixels of the rows of a table."""
        x, y = (frame[field].astype(float) for field in self.fields)
        return self.pixels(x, y)

    def holds(self, frame: pd.DataFrame) -> np.ndarray:
        """(n,) bool: inside the axes."""
        x, y = (frame[f].between(*span) for f, span in zip(self.fields, self.ranges, strict=True))
        return (x & y).to_numpy()

    def cut(self, frame: pd.DataFrame) -> dict[str, bool]:
        """Clipping of a mark, where a row lies outside; unclipped charts share no clip id in a page."""
        return {} if self.holds(frame).all() else {"clip": True}

    def bars(self, rows: pd.DataFrame) -> tuple[list[alt.Chart], list[np.ndarray]]:
        """Interval bars of each axis with _low and _high, and (2, 2) pixels of the ends of each."""
        charts, lines = [], []
        for axis, column, other in zip("xy", self.fields, self.fields[::-1], strict=True):
            low, high = f"{column}_low", f"{column}_high"
            if {low, high} <= {*rows}:
                known = rows.dropna(subset=[low, high, other])
                ends = [known.assign(**{column: known[end]}) for end in (low, high)]
                lines += list(np.stack([self.at(end) for end in ends], axis=1))
                look: Any = {"color": BARS, "strokeWidth": 1.5, **self.cut(pd.concat(ends))}
                mark = _Layer(known).mark_rule(**look)
                end = {"x": alt.X2, "y": alt.Y2}[axis](f"{high}:Q")
                span = {axis: self.on(axis, low), f"{axis}2": end}
                charts.append(mark.encode(**self.channels | span))
        return charts, lines

    def rings(self, systems: pd.DataFrame, name: Any = alt.Undefined, **look: Any) -> Any:
        """Ring around each system."""
        ring: dict[str, Any] = {"shape": "circle", "filled": False, "strokeWidth": 2, "size": 420}
        return _dots(systems, name, **(ring | look)).encode(**self.channels)

    def plus(self) -> alt.Chart:
        """Plus at (0, 0)."""
        zero = _Layer(pd.DataFrame({"naturalness": [0.0], "accuracy": [0.0]}))
        look = {"shape": "M-1,0H1M0,-1V1", "stroke": "#000000", "strokeWidth": 2, "size": 200}
        return zero.mark_point(**look, opacity=1).encode(**self.channels)

    def moving_point(self, at: pd.DataFrame) -> alt.Chart:
        """Large mark named ``bxpoint``, which a widget's script moves."""
        look = {"filled": False, "strokeWidth": 3.5, "size": 320}
        return _dots(at, "bxpoint", **look).encode(**self.channels)

    def thinned(self, path: np.ndarray, series: ArrayLike | None = None, most: int = 4000) -> Any:
        """(n,) bool of (n, 2) pixels: about `most` vertices whose lines look the same as all.

        Kept are the first vertex of each run within a quarter of a pixel (or more, if there are
        too many) and the last one before a gap (nan) or a change of the (n,) series.
        """
        if len(path) <= most:
            return np.ones(len(path), dtype=bool)
        gap = np.isnan(path).any(axis=1)
        stroke = np.stack([gap, np.zeros(len(path)) if series is None else np.asarray(series)])
        last = np.r_[np.any(np.diff(stroke), axis=0), True]
        kept, cells = last, 4.0  # per pixel
        while cells > 0.001:
            place = np.vstack([stroke, np.where(gap, 0, np.floor(path.T * cells))])
            kept = np.r_[True, np.any(np.diff(place), axis=0)] | last
            if kept.sum() <= most:
                break
            cells /= 2
        return kept


def _of_column(channel: Any, column: str) -> Any:
    """The channel for a different column."""
    other = channel.copy()
    other.shorthand = f"{column}:Q"
    return other


def _axis_of(title: str, length: int, **look: Any) -> alt.Axis:
    """Axis whose title, horizontal on both axes, is wrapped to the length of x in even lines."""
    title = title.replace(" to ", "\u00a0to\u00a0").replace("er is ", "er\u00a0is\u00a0")
    return alt.Axis(title=_even(title, max(12, int(length / 7.5))), **(AXIS | look))


def _even(text: str, width: int) -> list[str]:
    least = textwrap.wrap(text, width)
    narrower = (textwrap.wrap(text, w) for w in range(len(text) // max(1, len(least)) + 1, width))
    return next((lines for lines in narrower if len(lines) == len(least)), least)


def _scaled(values: ArrayLike, log: bool, root: bool = False) -> np.ndarray:
    values = np.asarray(values, dtype=float)
    if root:
        return np.sign(values) * np.sqrt(np.abs(values))
    return np.log10(values) if log else values


def _framed(
    chart: Any,
    title: str,
    words: Sequence[str],
    notes: Sequence[str] = (),
    *,
    size: tuple[float, float] | None = None,
    width: float = 0,
    **look: Any,
) -> Any:
    """Chart with title, notes, alt text and size.

    Parameters
    ----------
    title : claim of the chart
    words : alt text after the title: everything drawn
    notes : how to read the chart and what is missing; subtitle and alt text
    size : (width, height) of the plane in pixels
    width : pixels at which title and notes wrap, by default that of the plane
    """
    if size is not None:
        look |= {"width": size[0], "height": size[1]}
    look |= _headline(title, notes, int(width or (size or (0,))[0]))
    return chart.properties(description=_alt_words(title, [*words, *notes]), **look)


def _alt_words(title: str, parts: Iterable[str]) -> str:
    """Alt text of a title and its non-empty parts.

    >>> _alt_words("A claim", ["two systems: A (1, 2), B (3, 4)", "", "Bars: 95 % intervals."])
    'A claim: two systems: A (1, 2), B (3, 4); Bars: 95 % intervals.'
    """
    text = "; ".join(part.removesuffix(".") for part in parts if part)
    return f"{title + ': ' if title else ''}{text}."


def _headline(title: str, notes: Sequence[str], width: int) -> dict[str, Any]:
    """Property `title` of a chart: title and notes wrapped to the width; empty without both."""
    if not title and not notes:
        return {}
    lines = textwrap.wrap(title.replace(" = ", "\u00a0=\u00a0"), max(20, int((width + 60) / 9.69)))
    wrap = textwrap.TextWrapper(max(24, (width + 60) // 8), break_on_hyphens=False)
    small: dict[str, Any] = {"subtitleFontSize": FONT, "subtitlePadding": 6}
    if notes:
        small["subtitle"] = [line for note in notes for line in wrap.wrap(note)]
    look: dict[str, Any] = {"fontSize": 19, "anchor": "start", "frame": "bounds", "offset": 12}
    # notes need a title above them
    text = lines if len(lines) > 1 else "".join(lines) or "\u00a0"
    return {"title": alt.TitleParams(text, **look, **small)}


def _systems_text(
    systems: pd.DataFrame, columns: Sequence[str] = ("accuracy", "naturalness")
) -> str:
    """ "systems: A (52, -3.1), B (50, -3)"; empty for no system."""
    rows = systems[["system", *columns]].itertuples(index=False)
    pairs = (f"{name} ({', '.join(f'{v:.4g}' for v in row)})" for name, *row in rows)
    return f"systems: {', '.join(pairs)}" if len(systems) else ""


def _unnamed(names: Sequence[str]) -> str:
    return f"without a label for want of space: {', '.join(names)}" if names else ""


def number(value: float, digits: int) -> str:
    """Format a number with a true minus sign (U+2212) and without a negative zero.

    >>> number(-2.04, 1), number(-0.01, 1)
    ('−2.0', '0.0')
    """
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def beta_label(beta: float) -> str:
    """β with 3 significant digits, whole from 100 on.

    >>> [beta_label(b) for b in (0, 2.50, 27234.6, 2.5e9, 0.00002, math.inf)]
    ['β = 0', 'β = 2.5', 'β = 27,235', 'β = 2.5·10⁹', 'β = 2·10⁻⁵', 'β = ∞']
    """
    if math.isinf(beta):
        return "β = ∞"
    if beta >= 1e7 or 0 < beta < 1e-4:
        mantissa, power = f"{beta:.2e}".split("e")
        return f"β = {float(mantissa):g}·10{str(int(power)).translate(_RAISED)}"
    return f"β = {beta:,.0f}" if beta >= 100 else f"β = {beta:.3g}"


def axis_ranges(
    curves: Iterable[OracleCurve | ExactCurve], systems: Iterable[pd.DataFrame | None] = ()
) -> Ranges:
    """Ranges of all these curves and systems with their intervals, and a margin of 7 %."""
    curves, frames = list(curves), [s for s in systems if s is not None and len(s)]
    ranges = []
    for axis in ("naturalness", "accuracy"):
        known = [f[c] for f in frames for c in (axis, f"{axis}_low", f"{axis}_high") if c in f]
        values = np.concatenate([*(getattr(curve, axis) for curve in curves), *known], dtype=float)
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        margin = 0.07 * (high - low) or 0.05 * abs(high) or 1.0
        ranges.append((low - margin, high + margin))
    return ranges[0], ranges[1]


def _checked(
    table: pd.DataFrame,
    columns: Sequence[str],
    numbers: Sequence[str] = (),
    *,
    name: str = "system",
    least: int = 1,
) -> pd.DataFrame:
    """Rows of a table without nan in `columns`, with `numbers`, where present, as floats.

    Parameters
    ----------
    columns : required; numbers : columns, required or not, of numbers (nan: missing)
    name : column that names a row in messages
    least : rows that must be left

    Raises
    ------
    DataError for a missing column, a number that is infinite or a text, and too few rows.
    """
    if missing := [c for c in (name, *columns) if c not in table]:
        raise DataError(f"missing column {', '.join(missing)}: got {', '.join(map(str, table))}.")
    for column in [c for c in numbers if c in table]:
        values = pd.to_numeric(table[column], errors="coerce").astype(float)
        wrong = np.flatnonzero((values.isna() & table[column].notna()) | np.isinf(values))
        if wrong.size:
            seen, of = table[column].iloc[wrong[0]], table[name].iloc[wrong[0]]
            raise DataError(f"{column} of '{of}': got {seen}, expected a finite number or nan.")
        table = table.assign(**{column: values})
    rows = table.dropna(subset=list(columns)).reset_index(drop=True)
    if len(rows) < least:
        raise DataError(f"nothing to draw: no row has all of {', '.join(columns)}.")
    return rows


def _checked_systems(systems: pd.DataFrame | None, least: int = 1) -> pd.DataFrame:
    """Systems that have a place on the plane; none for None."""
    columns = ["category", "accuracy", "naturalness"]
    if systems is None:
        return pd.DataFrame(columns=["system", *columns])
    ends = ("", "_low", "_high", "_se", "_start")
    numbers = [f"{axis}{end}" for axis in columns[1:] for end in ends]
    rows = _checked(systems, columns, numbers, least=least)
    for category in rows["category"].unique():
        checks.one_of(category, CATEGORIES, "category of system")
    return rows


def _not_drawn(
    table: pd.DataFrame | None,
    drawn: pd.DataFrame,
    plane: _Frame | None = None,
    name: str = "system",
) -> list[str]:
    """Notes on the rows of a table that lack a number, and on those outside the plane."""
    known = set(drawn[name].astype(str))
    lost = [] if table is None else [one for one in table[name].astype(str) if one not in known]
    notes = [f"Not drawn, for a number is missing: {', '.join(lost)}."] if lost else []
    out = [] if plane is None else [*drawn[name][~plane.holds(drawn)].astype(str)]
    beyond = f"Outside the picture: {len(out)} of {len(drawn)} systems ({', '.join(out)})."
    return [*([beyond] if out else []), *notes]


def _tip(column: str, title: str = "") -> alt.Tooltip:
    """Tooltip of a number with four digits."""
    return alt.Tooltip(f"{column}:Q", title=title or column.replace("_", " "), format=".4~g")


def _legend(**look: Any) -> alt.Legend:
    """Legend above the plane and the title of y."""
    look = {"offset": 34} | look
    return alt.Legend(title=None, orient="top", labelFontSize=FONT, **look)


def _told_apart(
    field: str, names: Iterable[str], legend: Any = None, **ranges: Iterable[Any]
) -> dict[str, Any]:
    """Channels (color, fill, shape, strokeDash) that tell the names in a field apart."""
    names = list(names)
    channels: dict[str, Any] = {}
    for channel, values in ranges.items():
        if len(values := list(values)) < len(names):
            raise DataError(f"{field}: got {len(names)} names, expected at most {len(values)}.")
        scale = alt.Scale(domain=names, range=values[: len(names)])
        kind = getattr(alt, channel[0].upper() + channel[1:])
        channels[channel] = kind(f"{field}:N", scale=scale, legend=legend)
    return channels


def _dots(rows: pd.DataFrame, name: Any = alt.Undefined, **look: Any) -> Any:
    """Filled mark with a black outline for each row, except as `look` has it."""
    usual = {"filled": True, "size": 160, "stroke": "#000000", "strokeWidth": 1, "opacity": 1}
    return _Layer(rows, name=name).mark_point(**(usual | look))


def _system_marks(
    systems: pd.DataFrame,
    channels: dict[str, Any],
    tips: Sequence[alt.Tooltip],
    *,
    own: Sequence[str] = (),
    kinds: Iterable[str] | None = None,
    offset: float | None = 34,
    name: Any = alt.Undefined,
) -> alt.Chart:
    """Mark for each system, with a legend of categories and all numbers in tooltips.

    Parameters
    ----------
    own : systems with large marks and thick outlines, above the others
    kinds : categories of the legend, by default those present; offset : px above, None: no legend
    """
    mine = systems["system"].isin(own).to_numpy()
    heavy: dict[str, Any] = {}
    if mine.any():
        systems = systems.assign(outline=np.where(mine, 3, 1), area=np.where(mine, 260, 160))
        heavy["strokeWidth"] = alt.StrokeWidth("outline:Q", scale=None)
        heavy["size"] = alt.Size("area:Q", scale=None)
    extra = [c for c in systems if c.endswith(("_low", "_high")) or c in _DETAILS]
    tooltip = ["system:N", "category:N", *tips, *map(_tip, extra)]
    given = set(systems["category"] if kinds is None else kinds)
    names = [c for c in CATEGORIES if c in given]
    shape, fill = ([CATEGORIES[c][k] for c in names] for k in (0, 1))
    above = None if offset is None else _legend(symbolSize=160, columnPadding=18, offset=offset)
    looks = _told_apart("category", names, above, shape=shape, fill=fill)
    aside = systems["outside"].ne("").to_numpy() if "outside" in systems else np.zeros_like(mine)
    depth = np.where(systems["category"] == "human", 2, ~aside)
    if (
        name is alt.Undefined
    ):  # else a script counts on the order: uncounted systems are below, people above
        systems = systems.iloc[np.lexsort((depth, mine))]
    return _dots(systems, name).encode(**channels, **looks, **heavy, tooltip=tooltip)
