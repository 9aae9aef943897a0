"""Several curves on one plane, told apart by colour and by dashes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from ..errors import DataError
from ..frontier import OracleCurve
from .axes import ACCURACY_TITLE, NATURALNESS_TITLE
from .curve import curve_text
from .describe import description

__all__ = ["compare_curves"]

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000"]  # Okabe and Ito 2008, those dark enough for a line
DASHES = [[1, 0], [8, 4], [2, 3], [10, 3, 2, 3], [4, 2]]


def compare_curves(
    curves: Mapping[str, OracleCurve],
    *,
    accuracy_title: str = ACCURACY_TITLE,
    naturalness_title: str = NATURALNESS_TITLE,
    title: str = "",
    size: tuple[int, int] = (520, 320),
) -> alt.Chart:
    """One line per named curve (at most five), in the order given; titles as in `plot_curve`.

    Parameters
    ----------
    curves : name -> curve, all in the same two units.
    """
    if not 1 <= len(curves) <= len(COLOURS):
        raise DataError(f"{len(curves)} curves; between 1 and {len(COLOURS)} can be told apart on one plane.")
    frames = [
        pd.DataFrame({"curve": name, "naturalness": c.naturalness, "accuracy": c.accuracy, "step": range(len(c.beta))})
        for name, c in curves.items()
    ]
    names, k = list(curves), len(curves)
    axis: dict[str, Any] = {"labelFontSize": 15, "titleFontSize": 16}
    words = description(title, [f"{name}: {curve_text(c)}" for name, c in curves.items()])
    chart = alt.Chart(pd.concat(frames), title=title, width=size[0], height=size[1], description=words)
    chart = chart.mark_line(strokeWidth=3)
    return chart.encode(
        x=alt.X("naturalness:Q", title=naturalness_title).scale(zero=False).axis(**axis),
        y=alt.Y("accuracy:Q", title=accuracy_title).scale(zero=False).axis(**axis),
        order="step:Q",
        color=alt.Color("curve:N", title=None).scale(domain=names, range=COLOURS[:k]).legend(labelFontSize=15),
        strokeDash=alt.StrokeDash("curve:N", title=None).scale(domain=names, range=DASHES[:k]),
    )
