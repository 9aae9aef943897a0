"""Where the mean of a system lies on both axes at once: 95 % ellipses from standard errors and a correlation."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from .axes import Plane
from .marks import CATEGORIES, checked_columns, clipped

__all__ = ["RADIUS", "ellipse_layers", "error_ellipses", "has_ellipse"]

RADIUS = 5.991**0.5  # square root of the 95 % quantile of χ² with 2 degrees of freedom
CROWD = 9  # of more ellipses the washes would add up and hide the outlines
COLUMNS = ["naturalness_se", "accuracy_se", "correlation"]


def has_ellipse(systems: pd.DataFrame) -> pd.Series:
    """(n,) bool: both standard errors are known, and the correlation of the two means where both vary."""
    checked_columns(systems, COLUMNS, "systems")
    sx, sy, r = (systems[c] for c in COLUMNS)
    return sx.notna() & sy.notna() & (r.notna() | (sx == 0) | (sy == 0))


def error_ellipses(systems: pd.DataFrame, n_points: int = 64) -> pd.DataFrame:
    """The outline of the region that holds a system's two means with 95 %, were their bootstrap draws normal.

    Parameters
    ----------
    systems : a row per system: system, category, naturalness, accuracy, naturalness_se, accuracy_se, correlation of
        the two means. A row of which `has_ellipse` is false has none; a standard error of 0 makes a line or a point.
    n_points : of the outline.

    Returns
    -------
    A row per system and point: system, category, naturalness, accuracy, step along the outline.
    """
    known = systems[has_ellipse(systems)]
    sx, sy, r = (known[c].to_numpy(dtype=float)[:, None] for c in COLUMNS)
    r = np.where((sx == 0) | (sy == 0), 0.0, r)  # what does not vary goes with nothing
    angle = np.linspace(0, 2 * np.pi, n_points, endpoint=False)[None]
    # the columns of the Cholesky root [[sx, 0], [r·sy, √(1-r²)·sy]] of the covariance, times the unit circle
    dx = RADIUS * sx * np.cos(angle)
    dy = RADIUS * sy * (r * np.cos(angle) + np.sqrt(np.clip(1 - r**2, 0, None)) * np.sin(angle))
    outline = known.loc[known.index.repeat(n_points), ["system", "category"]].reset_index(drop=True)
    outline["naturalness"] = (known["naturalness"].to_numpy(dtype=float)[:, None] + dx).ravel()
    outline["accuracy"] = (known["accuracy"].to_numpy(dtype=float)[:, None] + dy).ravel()
    return outline.assign(step=np.tile(np.arange(n_points), len(known)))


def ellipse_layers(outlines: pd.DataFrame, plane: Plane) -> list[alt.Chart]:
    """One layer per category: outlines in dark grey, washed with the colour of the category."""
    layers, wash = [], 0.15 if outlines["system"].nunique() <= CROWD else 0.05
    for category, group in outlines.groupby("category", sort=False):
        look = {"fill": CATEGORIES[category][1], "fillOpacity": wash, "stroke": "#555555", "strokeWidth": 1}
        cut = clipped(not plane.holds(group).all())
        mark = alt.Chart(group).mark_line(interpolate="linear-closed", **look, **cut)
        layers.append(mark.encode(**plane.channels, detail="system:N", order="step:Q"))
    return layers
