"""Lines over a grid of places, with a mark on each line that a script moves along it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from .frame import Size, frame_of
from .lines import COLOURS, SHAPES, Rule, plot_lines
from .marks import dots

__all__ = ["plot_grid"]


def plot_grid(
    lines: pd.DataFrame,
    *,
    x_title: str,
    y_title: str,
    title: str = "",
    place: int = 0,
    log_x: bool = False,
    size: Size = (330, 240),
    rules: Sequence[Rule] = (),
    reach: Sequence[float] = (),
) -> tuple[alt.LayerChart, list[float]]:
    """A line per series over one grid, with a large mark on each, ``bxpoint0``, ``bxpoint1`` …, and the plane's box.

    Parameters
    ----------
    lines : series, x, y, as `plot_lines` draws them, each series over the same x. place : where the marks stand, 0 the
        first x. x_title, y_title, title, log_x, size, rules, reach : as there.

    Returns
    -------
    The chart; and [from and to of x, of y, width, height], of log10 x on a logarithmic axis, as a script needs them.
    """
    titles: dict[str, Any] = {"x_title": x_title, "y_title": y_title, "title": title}
    chart = plot_lines(lines, **titles, log_x=log_x, size=size, rules=rules, reach=reach)
    more = {axis: [value for where, value, _ in rules if where == axis] for axis in "xy"}
    more["y"] += reach
    x, y = (np.r_[lines[axis].to_numpy(dtype=float), more[axis]] for axis in "xy")
    plane = frame_of(x, y, (x_title, y_title), log=(log_x, False), size=size)
    for k, (_, own) in enumerate(lines.groupby("series", sort=False)):
        look = {"fill": COLOURS[k], "shape": SHAPES[k], "strokeWidth": 2, "size": 260}
        chart += dots(own.iloc[[place]], f"bxpoint{k}", **look).encode(**plane.channels)
    return chart, [*plane.ranges[0], *plane.ranges[1], *map(float, size)]
