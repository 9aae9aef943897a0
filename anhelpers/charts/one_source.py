"""The candidates of one source on the plane, and the line of those that the oracle takes."""

from __future__ import annotations

import altair as alt
import pandas as pd
from numpy.typing import ArrayLike

from ..frontier import oracle_curve
from .curve import plot_curve
from .frame import ACCURACY_TITLE, NATURALNESS_TITLE, Size, plane_axes
from .marks import QUIET, Layer, Ranges

__all__ = ["plot_one_source"]


def plot_one_source(
    accuracy: ArrayLike,
    naturalness: ArrayLike,
    ranges: Ranges,
    *,
    accuracy_title: str = ACCURACY_TITLE,
    naturalness_title: str = NATURALNESS_TITLE,
    size: Size = (520, 340),
) -> alt.LayerChart:
    """Every candidate of one source as an open circle, under the line that joins those that win at some β.

    Parameters
    ----------
    accuracy, naturalness : (K,) scores of the candidates, higher is better.
    ranges : ((from, to) of naturalness, (from, to) of accuracy).
    accuracy_title, naturalness_title, size : as in `plot_curve`.
    """
    table = pd.DataFrame({"accuracy": accuracy, "naturalness": naturalness})
    curve = oracle_curve([0] * len(table), table.accuracy, table.naturalness)
    line = plot_curve(
        curve,
        ranges=ranges,
        size=size,
        accuracy_title=accuracy_title,
        naturalness_title=naturalness_title,
    )
    circles = Layer(table).mark_point(color=QUIET, size=70)
    plane = plane_axes(ranges, size, naturalness_title, accuracy_title)
    return line + circles.encode(**plane.channels)
