"""Many p-values against three thresholds: none corrected, Bonferroni's, and Holm's staircase."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from .frame import FONT, Frame, Layer, checked, dots, framed, legend, number, tip, told_apart

# rules that reject, each also together with all later ones: shape and fill (Okabe and Ito)
LEVELS = {
    "Bonferroni, Holm, uncorrected": ("circle", "#0072B2"),
    "Holm, uncorrected": ("diamond", "#009E73"),
    "uncorrected only": ("triangle-up", "#D55E00"),
    "not significant": ("square", "#FFFFFF"),
}
_WIDE, _ROW = 250, 22  # px of a panel's plane, and of a feature
_LEAST, _SMALLEST = 1e-12, 0.001  # left edge of p; least α of the slider


def _decided(table: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Tests of each method by p-value, with Holm's threshold and the rules that reject at alpha.

    Parameters
    ----------
    table : feature, method, r, p, p_holm, as from `xmi.features`; a nan p is no test

    Returns
    -------
    The table with rank (1..m within the method), m, threshold (alpha/(m − rank + 1)), and level:
    0 all three reject, 1 Holm and uncorrected, 2 uncorrected only, 3 none, as in `LEVELS`.
    """
    rows = checked(table, ["method", "p", "p_holm"], ["r"], name="feature")
    order = pd.Categorical(rows.method, list(dict.fromkeys(rows.method)))
    rows = rows.assign(order=order).sort_values(["order", "p"], kind="stable", ignore_index=True)
    tests = rows.groupby("order", observed=True).p
    m, rank = tests.transform("size"), tests.cumcount() + 1
    level = np.select([rows.p < alpha / m, rows.p_holm < alpha, rows.p < alpha], [0, 1, 2], 3)
    rows = rows.drop(columns="order").assign(rank=rank, m=m, level=level)
    return rows.assign(threshold=alpha / (m - rank + 1))


def plot_decisions(
    table: pd.DataFrame,
    alpha: float = 0.05,
    *,
    names: Mapping[str, str] | None = None,
    title: str | None = None,
    slider: bool = False,
) -> alt.ConcatChart:
    """Features of each method by p-value across three thresholds, with a slider for α.

    A mark left of Holm's staircase, with all marks above it also left, is significant by Holm.

    Parameters
    ----------
    table : as in `_decided`
    alpha : probability of a false rejection: of each test, or of any within a method if corrected
    names : feature → label
    title : claim of the chart; None: how many p-values each correction leaves
    slider : move α from 0.001 to 0.2
    """
    rows, names = _decided(table, alpha), names or {}
    rows["name"] = [str(names.get(name, name)) for name in rows.feature]
    low = max(_LEAST, min(rows.p.min(), (_SMALLEST if slider else alpha) / rows.m.max()) / 1.2)
    most, rows["x"] = int(rows.m.max()), rows.p.clip(lower=low)
    axes = ("p (two-sided, log scale)", "")
    plane = Frame.over([low, 1], [1, most], axes, size=(_WIDE, _ROW * most), log=(True, False))
    bind = (
        {"bind": alt.binding_range(min=_SMALLEST, max=0.2, step=0.001, name="α ")} if slider else {}
    )
    param = alt.param("alpha", value=alpha, **bind)
    methods = [own for _, own in rows.groupby("method", sort=False)]
    chart = alt.concat(*(_panel(own, plane) for own in methods), spacing=24)
    below, holm, bonferroni = ((rows.level <= k).sum() for k in (2, 1, 0))
    claim = f"{below} of {len(rows)} p-values are below {alpha:g}: Bonferroni leaves {bonferroni}, Holm {holm}"
    line = " and ".join(f"α/{m} = {alpha / m:.2g}" for m in dict.fromkeys(rows.m))
    notes = [
        f"Solid line: α = {alpha:g}. Dashed: Bonferroni, {line}. Steps: Holm, α/(m − k + 1) "
        "for the k-th smallest of m; the first mark right of its step ends the rejections."
    ]
    gone = dict.fromkeys(str(names.get(f, f)) for f in table.feature[table.p.isna()])
    notes += [f"Without a p-value: {', '.join(gone)}."] if gone else []
    notes += [f"p-values below {low:.2g} are drawn at the left edge."] if rows.p.min() < low else []
    words = [
        f"{method}: "
        + "; ".join(
            f"{t.name_} r = {t.r:.2f}, p = {t.p:.2g} ({[*LEVELS][t.level]})"
            for t in own.itertuples()
        )
        for method, own in rows.rename(columns={"name": "name_"}).groupby("method", sort=False)
    ]
    chart = chart.add_params(param)
    return framed(
        chart, claim if title is None else title, words, notes, width=len(methods) * (_WIDE + 200)
    )


def _panel(rows: pd.DataFrame, plane: Frame) -> alt.LayerChart:
    m, (wide, high) = int(rows.m.iloc[0]), plane.size
    scale = alt.Scale(domain=[0.5, high / _ROW + 0.5], nice=False, reverse=True)
    x, y = plane.channels["x"], alt.Y("rank:Q", axis=None, scale=scale)
    row, above = {"y": y}, {"y": alt.value(-12)}
    steps = pd.DataFrame({"order": range(2 * m), "left": m - np.repeat(range(m), 2)})
    steps["rank"] = np.repeat(range(1, m + 1), 2) + np.tile([-0.5, 0.5], m)
    stairs = Layer(steps).transform_calculate(x="alpha / datum.left")
    foot = Layer(pd.DataFrame({"rank": [float(m)], "text": ["Holm"]})).transform_calculate(
        x="alpha / 1.5"
    )
    purple = "#A04B78"
    layers = [
        Layer(rows).mark_rule(color="#DDDDDD", strokeWidth=1).encode(**row),
        stairs.mark_line(color=purple, strokeWidth=3).encode(x=x, y=y, order="order:Q"),
        _text(foot, x, row, color=purple),
    ]
    for text, over, align, dash in ((f"α/{m}", m, "right", [5, 4]), ("α", 1, "left", [1, 0])):
        line = Layer(pd.DataFrame({"text": [text]})).transform_calculate(x=f"alpha / {over}")
        layers.append(line.mark_rule(strokeWidth=2, strokeDash=dash).encode(x=x))
        layers.append(_text(line, x, above, align=align))
    signed = rows.assign(text=[("+" if round(r, 2) > 0 else "") + number(r, 2) for r in rows.r])
    head = pd.DataFrame({"text": ["r"]})
    for frame, at, where in (
        (signed, wide + 50, row),
        (rows.assign(text=rows.name), -8, row),
        (head, wide + 50, above),
    ):
        layers.append(_text(Layer(frame), alt.value(at), where))
    levels = [f"'{name}'" for name in LEVELS]
    level = (
        f"datum.p < alpha / datum.m ? {levels[0]} : datum.p_holm < alpha ? {levels[1]} : "
        f"datum.p < alpha ? {levels[2]} : {levels[3]}"
    )
    shape, fill = zip(*LEVELS.values(), strict=True)
    key = legend(symbolSize=160, columnPadding=18, labelLimit=400)
    looks = told_apart("decision", LEVELS, key, shape=shape, fill=fill)
    tips: list[Any] = ["name:N", *map(tip, ("r", "p", "p_holm", "threshold"))]
    step = "alpha / (datum.m - datum.rank + 1)"
    marks = dots(rows).transform_calculate(decision=level, threshold=step)
    marks = marks.encode(x=x, y=y, tooltip=tips, **looks)
    head = alt.TitleParams(
        str(rows.method.iloc[0]).capitalize(), fontSize=18, anchor="middle", frame="group"
    )
    return alt.layer(*layers, marks).properties(width=wide, height=high, title=head)


def _text(rows: alt.Chart, x: Any, y: dict[str, Any], **look: Any) -> alt.Chart:
    mark = rows.mark_text(**{"fontSize": FONT, "baseline": "middle", "align": "right"} | look)
    return mark.encode(x=x, **y, text="text:N")
