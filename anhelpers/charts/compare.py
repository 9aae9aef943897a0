"""Several curves on one plane, told apart by colour and by dashes."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import pandas as pd

from ..frontier import OracleCurve
from .axes import ACCURACY_TITLE, NATURALNESS_TITLE, Size
from .lines import plot_lines

__all__ = ["compare_curves"]


def compare_curves(
    curves: Mapping[str, OracleCurve],
    *,
    accuracy_title: str = ACCURACY_TITLE,
    naturalness_title: str = NATURALNESS_TITLE,
    title: str = "",
    size: Size = (520, 320),
) -> alt.LayerChart:
    """One line per curve, named at it, in the order given; titles as in `plot_curve`.

    Parameters
    ----------
    curves : name -> curve, at most 8, all in the same two units.
    """
    parts = [
        pd.DataFrame({"series": name, "x": c.naturalness, "y": c.accuracy})
        for name, c in curves.items()
    ]
    lines = pd.concat(parts) if parts else None
    return plot_lines(
        lines, x_title=naturalness_title, y_title=accuracy_title, title=title, size=size
    )
