"""What charts share: the plane, in known pixels, and around it the claim, the notes and the words of the alt text.

A plane is that of systems, naturalness rightwards and accuracy upwards, or that of any two quantities, linear or
logarithmic.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..errors import DataError
from ..frontier import OracleCurve
from .marks import FONT, Ranges, checked_systems

if TYPE_CHECKING:
    from ..exact import ExactCurve

__all__ = [
    "ACCURACY_TITLE",
    "COLUMN",
    "COLUMN_INCHES",
    "NATURALNESS_TITLE",
    "Frame",
    "Ranges",
    "Size",
    "axis_ranges",
    "description",
    "digits_of",
    "framed",
    "legible",
    "number",
    "systems_text",
]

ACCURACY_TITLE = "Accuracy (higher is better)"
NATURALNESS_TITLE = "Mean log-probability (nats per token, higher is more natural)"
COLUMN_INCHES = 3.3  # width of a column in ACL's style
COLUMN = (400, 320)  # size of a plane whose smallest text is at least 7 pt at that width
Size = tuple[int, int]
MOST_WHOLE, LEAST_PLAIN = 1e7, 1e-4  # between them a number is read better without a power of ten
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
WHOLE = re.compile(
    r"\d to \d+|(?:higher|lower) is (?:more )?\w+"
)  # what an axis title says in one line
MOST_ROWS = 4000  # of one table of a chart; Altair draws up to 5000
AXIS: dict[str, Any] = {
    "labelFontSize": FONT,
    "titleFontSize": 18,
    "titlePadding": 10,
    "gridOpacity": 0.6,
}


def framed(
    chart: Any,
    title: str,
    said: Sequence[str],
    notes: Sequence[str] = (),
    *,
    unnamed: Sequence[str] = (),
    size: tuple[float, float] | None = None,
    width: float | None = None,
    **look: Any,
) -> Any:
    """The chart with what every chart has: its claim, how to read it, its alt text, and the size of its plane.

    Parameters
    ----------
    title : what the picture claims. said : the alt text after it: all that is drawn, in words.
    notes : how to read the picture, and what is not in it; below the title, and in the alt text.
    unnamed : whose labels are left out, in the alt text alone.
    size : (width, height) of the plane in pixels, of a chart that has one. width : at which the title is wrapped.
    look : more properties of the chart.
    """
    lost = f"without a label for want of space: {', '.join(unnamed)}" if unnamed else ""
    if size is not None:
        look |= {"width": size[0], "height": size[1]}
    wide = int(size[0] if size is not None and width is None else width or 0)
    return chart.properties(
        description=description(title, [*said, *notes, lost]),
        **look,
        **headline(title, notes, wide),
    )


def headline(title: str, notes: Sequence[str], width: int, font: int = 20) -> dict:
    """What a picture claims and, smaller, how to read it, wrapped to the width: the property `title`, or nothing."""
    if not title and not notes:
        return {}
    look: dict[str, Any] = {"fontSize": font, "anchor": "start", "frame": "bounds", "offset": 12}
    title = title.replace(" = ", "\u00a0=\u00a0")  # nothing breaks inside "r = 0.5"
    text = textwrap.wrap(title, max(20, 2 * (width + 60) // font))
    lines = [
        line
        for note in notes
        for line in textwrap.wrap(note, max(24, (width + 60) // 8), break_on_hyphens=False)
    ]
    small: dict[str, Any] = (
        {"subtitle": lines, "subtitleFontSize": FONT, "subtitlePadding": 6} if lines else {}
    )
    title = title or "\u00a0"  # below an empty title no note would be drawn
    return {"title": alt.TitleParams(text if len(text) > 1 else title, **look, **small)}


def description(title: str, parts: Sequence[str]) -> str:
    """The alt text of a chart: its title, then its parts.

    >>> description("A claim", ["two systems: A (1, 2), B (3, 4)", "", "Bars: 95 % intervals."])
    'A claim: two systems: A (1, 2), B (3, 4); Bars: 95 % intervals.'
    """
    text = "; ".join(part.removesuffix(".") for part in parts if part)
    return f"{title + ': ' if title else ''}{text}."


def systems_text(
    systems: pd.DataFrame, columns: Sequence[str] = ("accuracy", "naturalness")
) -> str:
    """ "systems: A (52, -3.1), B (50, -3)": every system with its numbers; empty for no system.

    Parameters
    ----------
    columns : the two numbers that stand beside each name.
    """
    numbers = (
        ", ".join(f"{value:.4g}" for value in row)
        for row in systems[list(columns)].itertuples(index=False)
    )
    pairs = (f"{name} ({values})" for name, values in zip(systems["system"], numbers, strict=True))
    return f"systems: {', '.join(pairs)}" if len(systems) else ""


def number(value: float, digits: int) -> str:
    """A number as text, with a true minus sign, and none before a zero; `digits` decimals of the `value`.

    >>> number(-2.04, 1), number(-0.01, 1)
    ('−2.0', '0.0')
    """
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def legible(value: float) -> str:
    """A number of any size as text, for reading: 3 significant digits, thousands apart, a power of ten in place of "e".

    Whole where it is 100 or more. Infinity is ∞.

    >>> [legible(v) for v in (0, 2.504, 300.4, 27234.6, 2.5e9, 0.00002, math.inf)]
    ['0', '2.5', '300', '27,235', '2.5·10⁹', '2·10⁻⁵', '∞']
    """
    size = abs(value)
    if math.isinf(value):
        text = "∞"
    elif size >= MOST_WHOLE or 0 < size < LEAST_PLAIN:
        mantissa, power = f"{size:.2e}".split("e")
        text = f"{float(mantissa):g}·10{str(int(power)).translate(RAISED)}"
    else:
        text = f"{size:,.0f}" if size >= 100 else f"{size:.3g}"
    return f"−{text}" if value < 0 else text


def digits_of(values: ArrayLike) -> int:
    """Decimals that show a hundredth of the spread of (n,) values: 1 for chrF, 3 for COMET.

    >>> digits_of([20.5, 61.2]), digits_of([0.71, 0.86])
    (1, 3)
    """
    spread = float(np.ptp(values))
    return min(6, max(0, 2 - math.floor(math.log10(spread)))) if spread else 2


@dataclass(frozen=True)
class Frame:
    """The two axes of a chart: their ranges, and where values are drawn.

    ranges : (from, to) of x and of y, of their logarithms (base 10) on a logarithmic axis. size : in pixels.
    channels : "x" and "y", for encodings. log : which axes are logarithmic.
    """

    ranges: Ranges
    size: Size
    channels: dict
    log: tuple[bool, bool] = (False, False)

    @property
    def fields(self) -> tuple[str, str]:
        """The columns that the two channels show."""
        x, y = (str(self.channels[channel].shorthand).removesuffix(":Q") for channel in "xy")
        return x, y

    def pixels(self, x: ArrayLike, y: ArrayLike) -> np.ndarray:
        """(n, 2) pixels from the left and from the upper side, of (n,) values."""
        x, y = (_scaled(v, log) for v, log in zip((x, y), self.log, strict=True))
        (x0, x1), (y0, y1), (w, h) = *self.ranges, self.size
        return np.stack([(x - x0) / (x1 - x0) * w, h - (y - y0) / (y1 - y0) * h], axis=-1)

    def values(self, x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """(n,) values of x and y that are drawn at (n,) pixels, beyond the plane too: the inverse of `pixels`."""
        (x0, x1), (y0, y1), (w, h) = *self.ranges, self.size
        both = x0 + np.asarray(x) / w * (x1 - x0), y0 + (h - np.asarray(y)) / h * (y1 - y0)
        x, y = (10.0**v if log else v for v, log in zip(both, self.log, strict=True))
        return x, y

    def at(self, frame: pd.DataFrame) -> np.ndarray:
        """(n, 2) pixels of the rows of a table."""
        x, y = (frame[field].astype(float) for field in self.fields)
        return self.pixels(x, y)

    def holds(self, frame: pd.DataFrame) -> np.ndarray:
        """(n,) bool: the point of a row lies inside the picture."""
        shown = [
            frame[field].between(*span)
            for field, span in zip(self.fields, self.ranges, strict=True)
        ]
        return (shown[0] & shown[1]).to_numpy()


def plane_axes(ranges: Ranges, size: Size, naturalness_title: str, accuracy_title: str) -> Frame:
    """The plane of accuracy by naturalness; long titles are wrapped to its sides."""
    channels = {
        "x": _channel(alt.X, "naturalness", ranges[0], naturalness_title, size[0]),
        "y": _channel(alt.Y, "accuracy", ranges[1], accuracy_title, size[1]),
    }
    return Frame(ranges, size, channels)


def frame_of(
    x: ArrayLike, y: ArrayLike, titles: tuple[str, str], *, log: tuple[bool, bool], size: Size
) -> Frame:
    """A plane that holds all these values: x with a margin of 2 %, y of 7 %.

    Parameters
    ----------
    x, y : (n,) and (m,) finite values; all positive where the axis is logarithmic. titles : of the two axes.
    log : which of x and y are logarithmic.
    """
    ranges, channels = [], {}
    for k, (name, values) in enumerate((("x", x), ("y", y))):
        values = np.asarray(values, dtype=float)
        if not values.size:
            raise DataError(
                f"nothing of column {name} can be drawn: every row has a nan, or there is no row."
            )
        if log[k] and values.min() <= 0:
            raise DataError(
                f"{name} has the value {values.min():g}, which a logarithmic axis cannot show."
            )
        low, high = _scaled([values.min(), values.max()], log[k])
        margin = (0.02, 0.07)[k] * (high - low) or 0.05 * abs(high) or 1.0
        ranges.append((float(low - margin), float(high + margin)))
        channels[name] = _channel((alt.X, alt.Y)[k], name, ranges[k], titles[k], size[k], log[k])
    return Frame((ranges[0], ranges[1]), size, channels, log)


def _channel(
    kind: Any, column: str, span: tuple[float, float], title: str, length: int, log: bool = False
) -> Any:
    """The channel of a column; a logarithmic axis over two decades or more is marked at whole powers of ten only."""
    look: dict[str, Any] = {"tickCount": length // 80}
    domain, scale = list(span), {"zero": False}
    if log:
        powers = np.arange(np.ceil(span[0]), np.floor(span[1]) + 1)
        step = -(-len(powers) * 60 // length)
        few = {"values": (10.0 ** powers[::step]).tolist()} if len(powers) >= 3 else {}
        look |= {"format": "~g"} | few
        domain, scale = [float(10**v) for v in span], {"type": "log"}
    scale = alt.Scale(domain=domain, nice=False, **scale)
    return kind(f"{column}:Q", scale=scale, axis=axis_of(title, length, **look))


def axis_of(title: str, length: int, **look: Any) -> alt.Axis:
    """An axis in the fonts of the house, its title wrapped to its length; smaller where it has three lines."""
    lines = _even_lines(title, max(12, length // 9))
    if len(lines) > 2:
        lines = _even_lines(title, max(13, length // 8))
        look |= {"titleFontSize": FONT}
    return alt.Axis(title=lines, **(AXIS | look))


def _even_lines(text: str, width: int) -> list[str]:
    """As few lines of at most so many letters as there must be, of like length, and no range or direction torn."""
    lines = textwrap.wrap(text, width)
    whole = WHOLE.sub(lambda found: found[0].replace(" ", "\u00a0"), text)
    for most in range(max(1, len(text) // max(1, len(lines))), width + 1):
        even = textwrap.wrap(whole, most, break_long_words=False)
        if len(even) == len(lines) and max(map(len, even), default=0) <= width:
            return [line.replace("\u00a0", " ") for line in even]
    return lines


def axis_ranges(
    curves: Iterable[OracleCurve | ExactCurve], systems: Iterable[pd.DataFrame | None] = ()
) -> Ranges:
    """((from, to) of naturalness, (from, to) of accuracy) that hold all these curves and systems, margin 7 %."""
    curves, frames = list(curves), [checked_systems(s) for s in systems]
    ranges = []
    for axis in ("naturalness", "accuracy"):
        columns = (
            frame[c]
            for frame in frames
            for c in (axis, f"{axis}_low", f"{axis}_high")
            if c in frame
        )
        values = np.concatenate([*(getattr(curve, axis) for curve in curves), *columns]).astype(
            float
        )
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        margin = 0.07 * (high - low) or 0.05 * abs(high) or 1.0
        ranges.append((low - margin, high + margin))
    return ranges[0], ranges[1]


def _scaled(values: ArrayLike, log: bool) -> np.ndarray:
    """(n,) values as an axis has them, linear or logarithmic."""
    values = np.asarray(values, dtype=float)
    return np.log10(values) if log else values


def inside(systems: pd.DataFrame, plane: Frame) -> tuple[pd.DataFrame, list[str]]:
    """The systems that lie inside the picture, and the sentence that names the others (none if there are none)."""
    shown = plane.holds(systems)
    names = ", ".join(systems["system"][~shown].astype(str))
    note = f"Outside the picture: {(~shown).sum()} of {len(systems)} systems ({names})."
    return systems[shown].reset_index(drop=True), [] if shown.all() else [note]


def thinned(
    path: np.ndarray, series: np.ndarray | None = None, most: int = MOST_ROWS
) -> np.ndarray:
    """(n,) bool of (n, 2) pixels: at most so many vertices that lines through them look as through all.

    Kept are the first of each run of vertices in one cell of a grid, a quarter of a pixel wide or as wide as it must
    be, and the last before a gap (nan) or before another of the (n,) series.
    """
    gap = np.isnan(path).any(axis=1)
    stroke = np.stack([gap, np.zeros(len(path)) if series is None else series])
    last = np.r_[np.any(np.diff(stroke), axis=0), True]
    cells = 4.0  # per pixel
    while cells * np.nanmax(np.abs(path), initial=1) >= 0.5:
        place = np.vstack([stroke, np.where(gap, 0, np.floor(path.T * cells))])
        kept = np.r_[True, np.any(np.diff(place), axis=0)] | last
        if kept.sum() <= most:
            return kept
        cells /= 2
    raise DataError(
        f"{kept.sum()} vertices are left after thinning, more than {most} can be drawn: there are "
        "too many gaps or lines."
    )
