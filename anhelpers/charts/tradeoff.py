"""The exact AN function of a finite world: its line, its vertices, and a point that a widget can move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd

from ..errors import DataError
from .frame import Size, axis_ranges, framed, plane_axes
from .labels import label_layers, named_points
from .marks import LINE, Layer, dots, moving_point, tip

if TYPE_CHECKING:
    from ..exact import ExactCurve

__all__ = ["between_ends", "plot_tradeoff"]

MOST_MARKS = 60  # more vertices than this would run together


def plot_tradeoff(
    curve: ExactCurve,
    *,
    at: Sequence[float] = (),
    point: float | None = None,
    title: str = "",
    accuracy_title: str = "Accuracy A(N) (higher is better)",
    naturalness_title: str | None = None,
    size: Size = (620, 420),
) -> alt.LayerChart:
    """The best accuracy A(N) that naturalness N allows, with the vertices marked and both ends named.

    Several curves on one plane, or a curve and Monte Carlo points: `charts.lines.plot_lines`.

    Parameters
    ----------
    curve : from `exact.solve_curve`.
    at : values of N that are marked and labelled, between the ends of the curve.
    point : an N that gets the large mark named ``bxpoint``, which the tradeoff explorer moves.
    title : what the picture claims. accuracy_title, naturalness_title : with unit and direction; by default the
        second names the divergence.
    size : (width, height) of the plane in pixels.

    Raises
    ------
    DataError for an N beyond the ends of the curve.
    """
    at = [between_ends(n, curve.naturalness) for n in at]
    naturalness_title = naturalness_title or _naturalness_axis(curve)
    plane = plane_axes(axis_ranges([curve]), size, naturalness_title, accuracy_title)
    axes = plane.channels
    line = _rows(curve, curve.naturalness).assign(beta=curve.beta)
    path = Layer(line, name="bxline").mark_line(color=LINE, strokeWidth=3)
    few = curve.exact and len(line) <= MOST_MARKS
    corners = line if few else line.iloc[sorted({0, len(line) - 1})]
    corners = dots(corners, "vertices", size=60, fill=LINE)
    tips = [tip("naturalness"), tip("accuracy"), tip("beta", "β from")]
    layers = [
        path.encode(**axes, order=alt.Order("naturalness:Q")),
        corners.encode(**axes, tooltip=tips),
    ]
    marked = _rows(curve, at).assign(label=[f"N = {n + 0.0:.3g}".replace("-", "−") for n in at])
    if len(marked):
        layers.append(dots(marked, "marked", size=110, fill=LINE).encode(**axes))
    ends = _ends(curve)
    # a place has one label
    ends = ends[~ends["naturalness"].round(9).isin(marked["naturalness"].round(9))]
    named = named_points(marks=pd.concat([marked, ends]))
    leaders, texts, _ = label_layers(named, [plane.at(line)], plane)
    layers = [*leaders, *layers, *texts]
    if point is not None:
        layers.append(moving_point(_rows(curve, [between_ends(point, curve.naturalness)]), axes))
    return framed(alt.layer(*layers), title, _words(curve), size=size)


def _naturalness_axis(curve: ExactCurve) -> str:
    """The title of the axis of N: which divergence, its unit, the direction."""
    return (
        f"Naturalness N = −D(Q, R) ({curve.divergence.label}, {curve.divergence.unit}; higher is "
        "more natural)"
    )


def between_ends(value: float, naturalness: np.ndarray) -> float:
    """N between the ends of a curve, or a DataError; what misses them by rounding is moved there.

    Parameters
    ----------
    value : the N. naturalness : (V,) of the curve's vertices.
    """
    value, low, high = float(value), float(naturalness[0]), float(naturalness[-1])
    room = 1e-9 * max(1.0, high - low)
    if not low - room <= value <= high + room:
        below = "; below, the constraint costs nothing" if value < low else ""
        raise DataError(
            f"naturalness must be in [{low:.6g}, {high:.6g}], the ends of this curve{below}, got "
            f"{value}."
        )
    return min(max(value, low), high)


def _rows(curve: ExactCurve, naturalness: Sequence[float] | np.ndarray) -> pd.DataFrame:
    """naturalness and A(N) there."""
    return pd.DataFrame(
        {"naturalness": naturalness, "accuracy": curve.accuracy_at(naturalness)}, dtype=float
    )


def _ends(curve: ExactCurve) -> pd.DataFrame:
    if len(curve.naturalness) == 1:
        return _rows(curve, curve.naturalness).assign(label="no tradeoff")
    return _rows(curve, curve.naturalness[[0, -1]]).assign(label=["most accurate", "most natural"])


def _words(curve: ExactCurve) -> list[str]:
    """The curve in words: its two ends, how many vertices, and how exact it is."""
    n, a = (values.round(9) + 0.0 for values in (curve.naturalness, curve.accuracy))
    ends = f"A(N) under {curve.divergence.label} from accuracy {a[0]:.4g} at naturalness {n[0]:.4g}"
    kind = (
        f"{len(n)} vertices"
        if curve.exact
        else f"{len(n)} points, at most {curve.gap:.2g} below the true curve"
    )
    return [f"{ends} to {a[-1]:.4g} at {n[-1]:.4g}", kind]
