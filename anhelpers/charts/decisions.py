"""Many p-values against three thresholds: none corrected, Bonferroni's, and Holm's staircase."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ..errors import DataError
from .frame import Frame, frame_of, framed, number
from .marks import FONT, Layer, checked_columns, dots, legend, tip, told_apart

__all__ = ["LEVELS", "claim", "decided", "decision_plane", "plot_decisions"]

# the rules that call a test significant, each also by those that come later: mark and fill (Okabe and Ito)
LEVELS = {
    "Bonferroni, Holm, uncorrected": ("circle", "#0072B2"),
    "Holm, uncorrected": ("diamond", "#009E73"),
    "uncorrected only": ("triangle-up", "#D55E00"),
    "not significant": ("square", "#FFFFFF"),
}
COLUMNS = ["feature", "method", "r", "p", "p_holm"]
ROW = 22  # pixels per feature
# pixels: to the names on the left, of r on the right, and of the words above
NAMES, NUMBERS, ABOVE = 8, 50, -12
LEAST = 1e-12  # smaller p-values are drawn here, at the edge
INK, STEPS, FAINT = "#000000", "#A04B78", "#DDDDDD"


def decided(table: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """The tests of each method by p-value, with Holm's threshold for each and which of three rules reject at alpha.

    Parameters
    ----------
    table : feature, method, r, p, p_holm, as `xmi.features` makes it; a nan p is no test and is left out.
    alpha : in (0, 1), the probability of a false rejection: of each test, or of any within a method if corrected.

    Returns
    -------
    The columns of `table`, and rank (1..m within the method), m, threshold (alpha/(m − rank + 1)), level: 0 all three
    reject, 1 Holm and uncorrected, 2 uncorrected only, 3 none (the order of LEVELS: each rule rejects no less than
    the one before it).

    Raises
    ------
    DataError for a missing column, an alpha outside (0, 1), no p-value, or one outside [0, 1].
    """
    checked_columns(table, COLUMNS, "correlations")
    if not 0 < alpha < 1:
        raise DataError(f"alpha is {alpha}; it must be between 0 and 1.")
    rows = table.dropna(subset=["p"])
    outside = rows[~(rows.p.between(0, 1) & (rows.p_holm >= rows.p))]
    if rows.empty or len(outside):
        seen = (
            f"p of {outside.feature.iloc[0]} is {outside.p.iloc[0]:g}"
            if len(outside)
            else "no row has a p-value"
        )
        raise DataError(f"{seen}; p-values are in [0, 1], and Holm's are no smaller.")
    order = pd.Categorical(rows.method, list(dict.fromkeys(rows.method)))
    rows = rows.assign(order=order).sort_values(["order", "p"], kind="stable", ignore_index=True)
    tests = rows.groupby("order", observed=True).p
    m, rank = tests.transform("size"), tests.cumcount() + 1
    level = np.select([rows.p < alpha / m, rows.p_holm < alpha, rows.p < alpha], [0, 1, 2], 3)
    return rows.drop(columns="order").assign(
        rank=rank, m=m, threshold=alpha / (m - rank + 1), level=level
    )


def claim(table: pd.DataFrame, alpha: float = 0.05) -> str:
    """How many p-values are below alpha, and how many of them each correction leaves, in one sentence."""
    level = decided(table, alpha).level
    below, holm, bonferroni = ((level <= k).sum() for k in (2, 1, 0))
    return (
        f"{below} of {len(level)} p-values are below {alpha:g}: Bonferroni leaves {bonferroni}, "
        f"Holm {holm}"
    )


def plot_decisions(
    table: pd.DataFrame,
    alpha: float = 0.05,
    *,
    names: Mapping[str, str] | None = None,
    title: str | None = None,
    notes: bool = True,
    least: float | None = None,
    width: int = 250,
) -> alt.ConcatChart:
    """A panel per method: its features from the smallest p-value to the largest, and three thresholds across them.

    A mark left of Holm's staircase, with all marks above it also left of it, is significant by Holm.

    Parameters
    ----------
    table, alpha : as in `decided`.
    names : feature → how it is called in the picture.
    title : what the picture claims; None: `claim`. notes : whether it says how to read the thresholds.
    least : the smallest alpha that there must be room for; None: alpha.
    width : of a panel's plane in pixels.
    """
    rows = decided(table, alpha)
    rows["name"] = [str((names or {}).get(name, name)) for name in rows.feature]
    plane = decision_plane(rows, least or alpha, width)
    low = 10.0 ** plane.ranges[0][0]
    rows["x"] = rows.p.clip(lower=low)
    methods = list(dict.fromkeys(rows.method))
    panels = [
        _panel(rows[rows.method == method], alpha, str(i), plane=plane)
        for i, method in enumerate(methods)
    ]
    title = claim(table, alpha) if title is None else title
    said = [_reading(rows, alpha)] if notes else []
    if notes and (rows.p < low).any():
        said.append(f"p-values below {low:.2g} are drawn at the left edge.")
    said += [f"Without a p-value: {gone}." for gone in [_left_out(table, names)] if gone and notes]
    told = [_words(rows[rows.method == method]) for method in methods]
    chart = alt.concat(*panels, columns=len(panels), spacing=24)
    return framed(chart, title, told, said, width=len(panels) * (width + NUMBERS + 150))


def decision_plane(rows: pd.DataFrame, least: float, width: int) -> Frame:
    """The plane of a panel: p on a logarithmic axis, with room for the thresholds of an alpha as small as `least`.

    Parameters
    ----------
    rows : with column p. width : in pixels.
    """
    low = max(LEAST, min(rows.p.min(), least / rows.m.max()) / 1.2)
    size = (width, ROW * int(rows.m.max()))
    return frame_of(
        [low, 1.0],
        [1, rows.m.max()],
        ("p (two-sided, log scale)", ""),
        log=(True, False),
        size=size,
    )


def _panel(rows: pd.DataFrame, alpha: float, key: str, *, plane: Frame) -> alt.LayerChart:
    """The layers whose names begin with bx are those that a script moves or draws anew for another alpha."""
    m = int(rows.m.iloc[0])
    y = alt.Y(
        "rank:Q",
        axis=None,
        scale=alt.Scale(domain=[0.5, plane.size[1] / ROW + 0.5], nice=False, reverse=True),
    )
    x = _every_power(plane)
    rule = Layer(rows).mark_rule(color=FAINT, strokeWidth=1).encode(y=y)
    layers = [
        rule,
        *_thresholds(alpha, m, key, {"x": x, "y": y}),
        _marks(rows, key, {"x": x, "y": y}),
    ]
    column = plane.size[0] + NUMBERS
    r = rows.assign(text=[("+" if round(r, 2) > 0 else "") + number(r, 2) for r in rows.r])
    layers += [_text(rows, "name", -NAMES, y), _text(r, "text", column, y)]
    layers.append(
        _text(pd.DataFrame({"text": ["r"]}), "text", column, alt.value(ABOVE), fontStyle="italic")
    )
    method = alt.TitleParams(
        str(rows.method.iloc[0]).capitalize(), fontSize=18, anchor="middle", frame="group"
    )
    return alt.layer(*layers).properties(width=plane.size[0], height=plane.size[1], title=method)


def _marks(rows: pd.DataFrame, key: str, channels: dict) -> alt.Chart:
    """A mark per test, with a legend of all levels, from which a script reads how they look."""
    above = legend(symbolSize=160, columnPadding=18, labelLimit=400)
    shape, fill = zip(*LEVELS.values(), strict=True)
    looks = told_apart("decision", LEVELS, above, shape=shape, fill=fill)
    tips = ["name:N", *(tip(c, c) for c in ("r", "p", "p_holm", "threshold"))]
    rows = rows.assign(decision=np.array(list(LEVELS))[rows.level])
    return dots(rows, f"bxp{key}").encode(**channels, tooltip=tips, **looks)


def _text(rows: pd.DataFrame, column: str, x: float, y: Any, **look: Any) -> alt.Chart:
    """A column of text that ends at a pixel."""
    marks = Layer(rows).mark_text(fontSize=FONT, baseline="middle", align="right", **look)
    return marks.encode(x=alt.value(x), y=y, text=alt.Text(f"{column}:N"))


def _every_power(plane: Frame) -> alt.X:
    """The horizontal channel with a tick at each power of ten, where there is room for so many."""
    (low, high), x = plane.ranges[0], plane.channels["x"].copy()
    if plane.size[0] / (high - low) >= 3.2 * FONT:  # as wide as "0.0001"
        powers = [10.0**k for k in range(int(np.ceil(low)), 1)]
        # of a log axis, fewer are drawn than counted
        x["axis"]["values"], x["axis"]["tickCount"] = powers, len(powers)
    return x


def _thresholds(alpha: float, m: int, key: str, channels: dict) -> list[alt.Chart]:
    """The staircase, and the two upright lines between which it goes, with their names."""
    rank = np.arange(1, m + 1)
    steps = pd.DataFrame({"x": np.repeat(alpha / (m - rank + 1), 2), "order": range(2 * m)})
    steps["rank"] = np.stack([rank - 0.5, rank + 0.5], axis=1).ravel()
    stairs = Layer(steps, name=f"bxholm{key}").mark_line(
        color=STEPS, strokeWidth=3, strokeJoin="miter"
    )
    foot = pd.DataFrame({"x": [alpha / 1.5], "rank": [float(m)], "text": ["Holm"]})
    label = Layer(foot, name=f"bxholmlabel{key}").mark_text(
        fontSize=FONT, align="right", color=STEPS
    )
    layers = [
        stairs.encode(**channels, order=alt.Order("order:Q")),
        label.encode(**channels, text=alt.Text("text:N")),
    ]
    for name, value, text, align, dashes in (
        ("bxbonferroni", alpha / m, f"α/{m}", "right", [5, 4]),
        ("bxalpha", alpha, "α", "left", [1, 0]),
    ):
        frame, x = pd.DataFrame({"x": [value], "text": [text]}), channels["x"]
        line = Layer(frame, name=f"{name}{key}").mark_rule(
            strokeWidth=2, strokeDash=dashes, color=INK
        )
        label = Layer(frame, name=f"{name}label{key}").mark_text(
            fontSize=FONT, baseline="middle", align=align
        )
        layers += [line.encode(x=x), label.encode(x=x, y=alt.value(ABOVE), text=alt.Text("text:N"))]
    return layers


def _reading(rows: pd.DataFrame, alpha: float) -> str:
    """What the lines mean, with their values."""
    bonferroni = " and ".join(f"α/{m} = {alpha / m:.2g}" for m in dict.fromkeys(rows.m))
    return (
        f"Solid line: α = {alpha:g}. Dashed: Bonferroni, {bonferroni}. Steps: Holm, α/(m − k + 1) "
        "for the k-th smallest of m; the first mark right of its step ends the rejections."
    )


def _left_out(table: pd.DataFrame, names: Mapping[str, str] | None) -> str:
    gone = dict.fromkeys(table.feature[table.p.isna()])
    return ", ".join(str((names or {}).get(name, name)) for name in gone)


def _words(rows: pd.DataFrame) -> str:
    """Every test of a method with its numbers and by which rules it is significant."""
    levels = list(LEVELS)
    tests = zip(rows.name, rows.r, rows.p, rows.level, strict=True)
    texts = (f"{name} r = {r:.2f}, p = {p:.2g} ({levels[level]})" for name, r, p, level in tests)
    return f"{rows.method.iloc[0]}: {'; '.join(texts)}"
