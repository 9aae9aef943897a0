"""The plane that every chart of systems is drawn on: naturalness rightwards, accuracy upwards, in known pixels."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd

from ..frontier import OracleCurve
from .marks import FONT, Ranges, checked_systems

if TYPE_CHECKING:
    from ..exact import ExactCurve

__all__ = ["ACCURACY_TITLE", "COLUMN", "NATURALNESS_TITLE", "Ranges", "Size", "axis_ranges"]

ACCURACY_TITLE = "Accuracy (higher is better)"
NATURALNESS_TITLE = "Mean log-probability (nats per token, higher is more natural)"
COLUMN = (400, 320)  # size of a plane whose smallest text is at least 7 pt when saved 3.3 inches wide (an ACL column)
Size = tuple[int, int]


def axis_ranges(curves: Iterable[OracleCurve | ExactCurve], systems: Iterable[pd.DataFrame | None] = ()) -> Ranges:
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


def plane_axes(ranges: Ranges, size: Size, naturalness_title: str, accuracy_title: str) -> dict:
    """The x and y channels of a plane; long titles are wrapped to its sides."""

    def axis(title: str, length: int) -> alt.Axis:
        return alt.Axis(title=textwrap.wrap(title, max(12, length // 9)), tickCount=length // 80, **AXIS)

    x, y = (alt.Scale(domain=list(r), nice=False, zero=False) for r in ranges)
    return {
        "x": alt.X("naturalness:Q", scale=x, axis=axis(naturalness_title, size[0])),
        "y": alt.Y("accuracy:Q", scale=y, axis=axis(accuracy_title, size[1])),
    }


AXIS: dict[str, Any] = {"labelFontSize": FONT, "titleFontSize": 18, "titlePadding": 10, "gridOpacity": 0.6}


def pixels(naturalness: Any, accuracy: Any, ranges: Ranges, size: Size) -> tuple[np.ndarray, np.ndarray]:
    """Where points of the plane are drawn: pixels from its left and from its upper side."""
    (x0, x1), (y0, y1), (w, h) = *ranges, size
    return (np.asarray(naturalness) - x0) / (x1 - x0) * w, h - (np.asarray(accuracy) - y0) / (y1 - y0) * h


def points(x: Any, y: Any, ranges: Ranges, size: Size) -> tuple[np.ndarray, np.ndarray]:
    """(naturalness, accuracy) of pixels: the inverse of `pixels`."""
    (x0, x1), (y0, y1), (w, h) = *ranges, size
    return x0 + np.asarray(x) / w * (x1 - x0), y0 + (h - np.asarray(y)) / h * (y1 - y0)


def within(frame: pd.DataFrame, ranges: Ranges) -> np.ndarray:
    """(n,) bool: the point of a row lies inside the picture."""
    (x0, x1), (y0, y1) = ranges
    return (frame["naturalness"].between(x0, x1) & frame["accuracy"].between(y0, y1)).to_numpy()


def inside(systems: pd.DataFrame, ranges: Ranges) -> tuple[pd.DataFrame, list[str]]:
    """The systems that lie inside the picture, and the sentence that names the others (none if there are none)."""
    shown = within(systems, ranges)
    names = ", ".join(systems["system"][~shown].astype(str))
    note = f"Outside the picture: {(~shown).sum()} of {len(systems)} systems ({names})."
    return systems[shown].reset_index(drop=True), [] if shown.all() else [note]


def headline(title: str, notes: Sequence[str], width: int, font: int = 20) -> dict:
    """What a picture claims and, smaller, how to read it, wrapped to the width: the property `title`, or nothing."""
    if not title and not notes:
        return {}
    look: dict[str, Any] = {"fontSize": font, "anchor": "start", "frame": "bounds", "offset": 12}
    title = title.replace(" = ", "\u00a0=\u00a0")  # nothing breaks inside "r = 0.5"
    text = textwrap.wrap(title, max(20, 2 * (width + 60) // font))
    lines = [line for note in notes for line in textwrap.wrap(note, max(24, (width + 60) // 8), break_on_hyphens=False)]
    small: dict[str, Any] = {"subtitle": lines, "subtitleFontSize": FONT, "subtitlePadding": 6} if lines else {}
    title = title or "\u00a0"  # below an empty title no note would be drawn
    return {"title": alt.TitleParams(text if len(text) > 1 else title, **look, **small)}
