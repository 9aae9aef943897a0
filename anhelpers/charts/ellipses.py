"""The region of a system's likely places on a plane: an ellipse of its two means, and how it is drawn."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from .frame import Frame
from .marks import CATEGORIES, Layer, checked_columns, clipped

__all__ = ["ellipse_layers", "error_ellipses", "has_ellipse", "radii"]

CROWD = 9  # of more ellipses the washes would add up and hide the outlines
COLUMNS = ["naturalness_se", "accuracy_se", "correlation"]


def ellipse_layers(outlines: pd.DataFrame, plane: Frame) -> list[alt.Chart]:
    """One layer per category: outlines in dark grey, washed with the colour of the category."""
    layers, wash = [], 0.15 if outlines["system"].nunique() <= CROWD else 0.05
    for category, group in outlines.groupby("category", sort=False):
        look = {
            "fill": CATEGORIES[category][1],
            "fillOpacity": wash,
            "stroke": "#555555",
            "strokeWidth": 1,
        }
        cut = clipped(not plane.holds(group).all())
        mark = Layer(group).mark_line(interpolate="linear-closed", **look, **cut)
        layers.append(
            mark.encode(**plane.channels, detail=alt.Detail("system:N"), order=alt.Order("step:Q"))
        )
    return layers


def error_ellipses(systems: pd.DataFrame, n_points: int = 64) -> pd.DataFrame:
    """The outline of the region that holds a system's two means with 95 %, were the means normal.

    Parameters
    ----------
    systems : a row per system: system, category, naturalness, accuracy, naturalness_se, accuracy_se, correlation of
        the two means, and n_effective where it is known. A row of which `has_ellipse` is false has none; a standard
        error of 0 makes a line or a point. `attrs["bounds"]`, where it is there, has the possible range of each axis
        (as `plane.systems_table` gives it): the outline ends there.
    n_points : of the outline.

    Returns
    -------
    A row per system and point: system, category, naturalness, accuracy, step along the outline.
    """
    known = systems[has_ellipse(systems)]
    sx, sy, r = (known[c].to_numpy(dtype=float)[:, None] for c in COLUMNS)
    r = np.where((sx == 0) | (sy == 0), 0.0, r)  # what does not vary goes with nothing
    radius = radii(known)[:, None]
    angle = np.linspace(0, 2 * np.pi, n_points, endpoint=False)[None]
    # the columns of the Cholesky root [[sx, 0], [r·sy, √(1-r²)·sy]] of the covariance, times the unit circle
    dx = radius * sx * np.cos(angle)
    dy = radius * sy * (r * np.cos(angle) + np.sqrt(np.clip(1 - r**2, 0, None)) * np.sin(angle))
    outline = known.loc[known.index.repeat(n_points), ["system", "category"]].reset_index(drop=True)
    for axis, away in (("naturalness", dx), ("accuracy", dy)):
        at = (known[axis].to_numpy(dtype=float)[:, None] + away).ravel()
        outline[axis] = at.clip(*systems.attrs.get("bounds", {}).get(axis, (-np.inf, np.inf)))
    return outline.assign(step=np.tile(np.arange(n_points), len(known)))


def has_ellipse(systems: pd.DataFrame) -> pd.Series:
    """(n,) bool: both standard errors are known, and the correlation of the two means where both vary."""
    checked_columns(systems, COLUMNS, "systems")
    sx, sy, r = (systems[c] for c in COLUMNS)
    return sx.notna() & sy.notna() & (r.notna() | (sx == 0) | (sy == 0)) & ~np.isnan(radii(systems))


def radii(systems: pd.DataFrame) -> np.ndarray:
    """(n,) how many standard errors a 95 % ellipse reaches: Hotelling's √(2 (m - 1) / (m - 2) F), F of 2 and m - 2.

    Parameters
    ----------
    systems : a row per system; m is its n_effective (`intervals.effective`), and √χ² of 2 degrees of freedom is taken
        where that is not known. nan for m ≤ 2: two documents span no ellipse.

    References
    ----------
    Hotelling 1931, Annals of Mathematical Statistics 2.
    """
    from scipy.special import fdtri

    m = np.asarray(
        systems["n_effective"] if "n_effective" in systems else np.full(len(systems), np.inf),
        dtype=float,
    )
    m = np.where(np.isnan(m), np.inf, m)
    some, ends = np.isfinite(m) & (m > 2), np.where(m > 2, 5.991464547107979**0.5, np.nan)
    ends[some] = np.sqrt(2 * (m[some] - 1) / (m[some] - 2) * fdtri(2, m[some] - 2, 0.95))
    return ends
