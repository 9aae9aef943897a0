"""Correlations among systems: the two axes near the frontier and far, metrics and fluency, metrics between the axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from .. import checks
from .frame import (
    AXIS,
    BARS,
    FONT,
    LINE,
    QUIET,
    Frame,
    Layer,
    Ranges,
    Size,
    alt_words,
    axis_of,
    axis_ranges,
    checked,
    checked_systems,
    dots,
    framed,
    headline,
    legend,
    not_drawn,
    number,
    system_marks,
    systems_text,
    tip,
    told_apart,
)
from .labels import label_layers

_WINDOWS = {  # kind: column and title of its x axis
    "nearest": ("n_systems", "Systems nearest to the frontier"),
    "sliding": ("distance", "Mean distance from the frontier (SD)"),
}
_R = ["pearson", "pearson_low", "pearson_high"]
_ALONE = ["selection_pearson", "selection_low", "selection_high"]
_DETAILS = ("distance_from", "distance_to", "spearman", "selection_p")
_FLUENCY = "MQM fluency (points per segment, negated; higher is better)"
_LOOKS = {  # kind of row: shape and fill
    "metric": ("circle", "#D55E00"),
    "rater": ("triangle-up", "#56B4E9"),
    "human": ("diamond", "#000000"),
}
_ENDS = ("", "_low", "_high")


def plot_local_correlation(
    table: pd.DataFrame, title: str = "", *, size: Size = (340, 300)
) -> alt.ConcatChart:
    """Pearson's r with its interval in each window of systems, a panel for each kind of window.

    The band holds r in 95 % of the cases, around its mean (dashed), if systems are selected by
    distance and the two axes are unrelated.

    Parameters
    ----------
    table : window ("nearest" or "sliding"), n_systems, distance (mean, in SDs), pearson,
        pearson_low, pearson_high, selection_pearson, selection_low, selection_high; for tooltips
        distance_from, distance_to, systems, spearman, selection_p
    size : of a panel in pixels
    """
    needed = ["n_systems", "distance", *_R, *_ALONE]
    for kind in checked(table, [], needed, name="window")["window"].unique():
        checks.one_of(kind, _WINDOWS, "kind of window")
    rows = checked(table, ["pearson", "distance"], needed, name="window")
    kinds = [kind for kind in _WINDOWS if kind in set(rows["window"])]
    panels, words = [], []
    for i, kind in enumerate(kinds):
        own = rows[rows["window"] == kind]
        panels.append(_window_panel(own, kind, size, y_axis=not i))
        texts = [
            f"{w.n_systems:g} systems at {w.distance:.3g} SD: r = {w.pearson:.2f}"
            + (f" ({w.pearson_low:.2f} to {w.pearson_high:.2f})" if pd.notna(w.pearson_low) else "")
            for w in own.itertuples()
        ]
        words.append(f"{kind} windows: {', '.join(texts)}")
    note = (
        "Bars: 95 % for these systems on other documents. Band and dashes: 95 % and the mean of "
        "what selecting alone gives among unrelated systems."
    )
    chart = alt.concat(*panels, columns=2, spacing=24)
    return framed(chart, title, words, [note], width=len(kinds) * size[0])


def _window_panel(rows: pd.DataFrame, kind: str, size: Size, y_axis: bool) -> alt.LayerChart:
    column, x_title = _WINDOWS[kind]
    low, high = float(rows[column].min()), float(rows[column].max())
    margin = 0.06 * (high - low) or 1.0
    ticks: dict[str, Any] = {"tickMinStep": 1, "format": "d"} if kind == "nearest" else {}
    axis = axis_of(x_title, size[0], tickCount=size[0] // 70, grid=False, **ticks)
    domain = alt.Scale(domain=[low - margin, high + margin], nice=False, zero=False)
    x = alt.X(f"{column}:Q", axis=axis, scale=domain)
    scale = alt.Scale(domain=[-1.05, 1.25], nice=False)
    y_title = ["Pearson's r of", "the two axes"] if y_axis else None
    left = alt.Axis(title=y_title, values=[-1, -0.5, 0, 0.5, 1], format=".1f", **AXIS)
    y = {c: alt.Y(f"{c}:Q", scale=scale, axis=left) for c in (*_R, *_ALONE)}
    chosen, known = Layer(rows.dropna(subset=_ALONE[:1])), Layer(rows.dropna(subset=_R[1:]))
    zero = Layer(pd.DataFrame({"pearson": [0.0]})).mark_rule(color="#000000", strokeWidth=1.5)
    tips: list[Any] = [
        tip(c) for c in ("n_systems", "distance", *_R, *_ALONE, *_DETAILS) if c in rows
    ]
    tips += ["systems:N"] if "systems" in rows else []
    band, bar = (
        chosen.mark_area(color=BARS, opacity=0.25),
        known.mark_rule(color=BARS, strokeWidth=2),
    )
    mean = chosen.mark_line(color="#000000", strokeDash=[6, 4])
    layers = [
        band.encode(x=x, y=y["selection_low"], y2="selection_high:Q"),
        zero.encode(y=y["pearson"]),
        bar.encode(x=x, y=y["pearson_low"], y2="pearson_high:Q"),
        mean.encode(x=x, y=y["selection_pearson"]),
        dots(rows, fill=LINE, size=110).encode(x=x, y=y["pearson"], tooltip=tips),
    ]
    if kind != "nearest":
        sizes = rows["n_systems"].unique()
        if len(sizes) == 1:
            label = f"{sizes[0]:g} systems" + " each" * (len(rows) > 1)
            counts = pd.DataFrame({column: [(low + high) / 2], "label": [label]})
        else:  # about as many numbers as there is room for
            step = -(-len(rows) * 3 * FONT // size[0])
            counts = rows.sort_values(column)[::step]
            counts = counts[[column]].assign(label=[f"{n:g}" for n in counts["n_systems"]])
        texts = Layer(counts.assign(pearson=1.15)).mark_text(fontSize=FONT)
        layers.append(texts.encode(x=x, y=y["pearson"], text="label:N"))
    return alt.layer(*layers).properties(width=size[0], height=size[1])


def plot_against_fluency(
    table: pd.DataFrame,
    *,
    metric_titles: Mapping[str, str] | None = None,
    notes: Mapping[str, str] | None = None,
    title: str = "",
    columns: int = 2,
    size: Size = (380, 280),
) -> alt.ConcatChart:
    """Panel of each metric against human fluency (AN Figures 4 and 5), with scales of its own.

    Parameters
    ----------
    table : metric, system, category, score, fluency and, where known, score_low, score_high,
        fluency_low, fluency_high, n
    metric_titles : metric → name, unit and direction, "MetricX-23 (0 to 25, lower is better)"
    notes : metric → text below the title of its panel, "r = 0.31 (−0.10 to 0.62)"
    title : claim of the chart
    columns : panels side by side; size : of a panel in pixels
    """
    checked(table, ["system", "category", "score", "fluency"], name="metric")
    axes = (("score", "accuracy"), ("fluency", "naturalness"))
    renamed = table.rename(columns={f"{a}{e}": f"{b}{e}" for a, b in axes for e in _ENDS})
    kinds, groups = table["category"].unique(), list(renamed.groupby("metric", sort=False))
    panels, words = [], [f"each metric against {_FLUENCY}"]
    for i, (metric, own) in enumerate(groups):
        frame = checked_systems(own)
        x_title = _FLUENCY if i + columns >= len(groups) else ""
        plane = Frame.plane(
            axis_ranges([], [frame]), naturalness_title=x_title, accuracy_title="", size=size
        )
        bars, lines = plane.bars(frame)
        leaders, texts, lost = label_layers(frame, plane, lines)
        tips = [tip("naturalness", "fluency"), tip("accuracy", "score")]
        marks = system_marks(frame, plane.channels, tips, kinds=kinds)
        panel = alt.layer(*bars, *leaders, marks, *texts).properties(width=size[0], height=size[1])
        name = (metric_titles or {}).get(str(metric), str(metric))
        below = [*filter(None, [(notes or {}).get(str(metric), "")]), *not_drawn(own, frame)]
        panels.append(panel.properties(**headline(name, below, size[0], 17)))
        unnamed = f"without a label for want of space: {', '.join(lost)}" if lost else ""
        words.append(alt_words(name, [*below, systems_text(frame), unnamed]).removesuffix("."))
    chart = alt.concat(*panels, columns=columns, spacing=24)
    return framed(chart, title, words, width=columns * size[0])


def plot_bias(
    table: pd.DataFrame,
    *,
    level: str = "within sources",
    arc: pd.DataFrame | None = None,
    title: str = "",
    size: Size = (560, 460),
) -> alt.LayerChart:
    """Metrics by their agreement with human fluency (x) and with human accuracy (y).

    Crosses are 95 % intervals. A metric on the dashed diagonal agrees with both alike; grey is the
    field of 95 % of noise metrics on each axis, blue the line of mixtures of the two human ratings.

    Parameters
    ----------
    table : metric, kind, level, statistic, with_accuracy, with_fluency, both with _low and _high, and
        chance_accuracy_low and so on, from `plane.metric_bias` and `plane.rater_bias`
    level : of the rows drawn, those of Pearson's r
    arc : from `plane.mixture_arc`
    """
    axes = {"with_accuracy": "accuracy", "with_fluency": "naturalness"}
    names = {f"{old}{end}": f"{new}{end}" for old, new in axes.items() for end in _ENDS}
    checked(table, ["kind", "level", "statistic", "with_accuracy"], [*names], name="metric")

    def chosen(rows: pd.DataFrame) -> pd.DataFrame:
        own = rows[(rows["level"] == level) & (rows["statistic"] == "pearson")]
        return own.rename(columns=names | {"metric": "system"})

    rows = checked(chosen(table), [*axes.values()])
    titles = [f"Pearson's r with human {of} ({level})" for of in ("fluency", "accuracy")]
    noise = pd.DataFrame()
    if "chance_accuracy_low" in rows and rows["chance_accuracy_low"].notna().any():
        one = rows.dropna(subset=["chance_accuracy_low"]).iloc[0]
        spans = (("accuracy", "accuracy"), ("fluency", "naturalness"))
        ends = {b: [one[f"chance_{a}_{end}"] for end in ("low", "high")] for a, b in spans}
        noise = pd.DataFrame(ends)
    ranges = axis_ranges([], [rows, noise])
    plane = Frame.plane(ranges, naturalness_title=titles[0], accuracy_title=titles[1], size=size)
    layers = [] if noise.empty else [_field(noise, plane)]
    layers.append(_diagonal(ranges, plane))
    bars, lines = plane.bars(rows)
    mixed = (
        pd.DataFrame()
        if arc is None
        else checked(chosen(arc), [*axes.values()], name="share", least=0)
    )
    if len(mixed):
        lines.append(plane.at(mixed))
        mark = Layer(mixed[["share", *axes.values()]]).mark_line(color=LINE, strokeWidth=2.5)
        layers.append(mark.encode(**plane.channels, order="share:Q"))
    leaders, texts, lost = label_layers(rows.assign(bold=rows["kind"] == "metric"), plane, lines)
    kinds = [kind for kind in _LOOKS if kind in set(rows["kind"])]
    shape, fill = zip(*(_LOOKS[kind] for kind in kinds), strict=True)
    looks = told_apart("kind", kinds, legend(symbolSize=160), shape=shape, fill=fill)
    tips: list[Any] = ["system:N", "kind:N"]
    tips += [
        tip(f"{new}{e}", f"{old} {e[1:]}".replace("_", " ").strip())
        for old, new in axes.items()
        for e in _ENDS
    ]
    tips += [tip(c) for c in ("lean", "lean_low", "lean_high", "n", "n_docs") if c in rows]
    marks = dots(rows).encode(**plane.channels, **looks, tooltip=tips)
    note = "Above the dashed line a metric agrees more with accuracy, below it more with fluency."
    note += " Grey: metrics of noise." * bool(len(noise))
    note += " Blue: exact mixtures of the two human ratings." * bool(len(mixed))
    words = [" by ".join(titles[::-1])] + [
        f"{row.system}: {number(row.accuracy, 2)} with accuracy, {number(row.naturalness, 2)} with fluency"
        for row in rows.itertuples()
    ]
    words += [f"without a label for want of space: {', '.join(lost)}"] if lost else []
    chart = alt.layer(*layers, *bars, *leaders, marks, *texts)
    return framed(chart, title, words, [note], size=size)


def _field(noise: pd.DataFrame, plane: Frame) -> alt.Chart:
    low, high = noise.min(), noise.max()
    box = {"naturalness": low["naturalness"], "accuracy": low["accuracy"]}
    box |= {"x2": high["naturalness"], "y2": high["accuracy"]}
    mark = Layer(pd.DataFrame([box])).mark_rect(color=BARS, opacity=0.25)
    return mark.encode(**plane.channels, x2="x2:Q", y2="y2:Q")


def _diagonal(ranges: Ranges, plane: Frame) -> alt.Chart:
    ends = np.array([max(span[0] for span in ranges), min(span[1] for span in ranges)])
    frame = Layer(pd.DataFrame({"naturalness": ends, "accuracy": ends}))
    return frame.mark_line(color=QUIET, strokeDash=[6, 4]).encode(**plane.channels)
