"""Correlations: of the two axes near the frontier and far, of metrics with people."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from .. import checks
from . import frame as fr
from .frame import Size, _checked, _Frame, _framed, _Layer, _tip, _told_apart, axis_ranges, number
from .labels import _label_layers

_WINDOWS = {  # kind: column and title of its x axis
    "nearest": ("n_systems", "Systems kept, nearest first"),
    "sliding": ("distance", "Mean distance (SD)"),
}
_R = ["pearson", "pearson_low", "pearson_high"]
_ALONE = ["selection_pearson", "selection_low", "selection_high"]
_DETAILS = ("distance_from", "distance_to", "spearman", "selection_p")
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
    table : window ("nearest" or "sliding"; "near", "far" are not drawn), n_systems, distance (mean, in SDs), pearson,
        pearson_low, pearson_high, selection_pearson, selection_low, selection_high; for tooltips
        distance_from, distance_to, systems, spearman, selection_p
    size : of a panel in pixels
    """
    needed = ["n_systems", "distance", *_R, *_ALONE]
    for kind in _checked(table, [], needed, name="window")["window"].unique():
        checks.one_of(kind, (*_WINDOWS, "near", "far"), "kind of window")
    rows = _checked(table, ["pearson", "distance"], needed, name="window")
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
        "Bars: 95 % intervals over documents. Band and dashes: 95 % and the mean of "
        "what selection alone would give."
    )
    chart = alt.concat(*panels, columns=2, spacing=24)
    return _framed(chart, title, words, [note], width=len(kinds) * size[0])


def _window_panel(rows: pd.DataFrame, kind: str, size: Size, y_axis: bool) -> alt.LayerChart:
    column, x_title = _WINDOWS[kind]
    if kind != "nearest" and rows["n_systems"].nunique() == 1:
        x_title += f", {rows['n_systems'].iloc[0]:g} systems each"
    low, high = float(rows[column].min()), float(rows[column].max())
    margin = 0.06 * (high - low) or 1.0
    ticks: dict[str, Any] = {"tickMinStep": 1, "format": "d"} if kind == "nearest" else {}
    axis = fr._axis_of(x_title, size[0], tickCount=size[0] // 70, grid=False, **ticks)
    domain = alt.Scale(domain=[low - margin, high + margin], nice=False, zero=False)
    x = alt.X(f"{column}:Q", axis=axis, scale=domain)
    scale = alt.Scale(domain=[-1.05, 1.05], nice=False)
    y_title = "Pearson's r of the two axes" if y_axis else None
    left = alt.Axis(title=y_title, values=[-1, -0.5, 0, 0.5, 1], format=".1f", **fr.AXIS)
    y = {c: alt.Y(f"{c}:Q", scale=scale, axis=left) for c in (*_R, *_ALONE)}
    chosen, known = _Layer(rows.dropna(subset=_ALONE[:1])), _Layer(rows.dropna(subset=_R[1:]))
    zero = _Layer(pd.DataFrame({"pearson": [0.0]})).mark_rule(color="#000000", strokeWidth=1.5)
    told = ("n_systems", "distance", *_R, *_ALONE, *_DETAILS)
    tips: list[Any] = [_tip(c) for c in told if c in rows]
    tips += ["systems:N"] if "systems" in rows else []
    band = chosen.mark_area(color=fr.BARS, opacity=0.25)
    bar = known.mark_rule(color=fr.BARS, strokeWidth=2)
    mean = chosen.mark_line(color="#000000", strokeDash=[6, 4])
    layers = [
        band.encode(x=x, y=y["selection_low"], y2="selection_high:Q"),
        zero.encode(y=y["pearson"]),
        bar.encode(x=x, y=y["pearson_low"], y2="pearson_high:Q"),
        mean.encode(x=x, y=y["selection_pearson"]),
        fr._dots(rows, fill=fr.COLOURS[0], size=110).encode(x=x, y=y["pearson"], tooltip=tips),
    ]
    return alt.layer(*layers).properties(width=size[0], height=size[1])


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
    level : of the rows to draw; their statistic is Pearson's r
    arc : from `plane.mixture_arc`
    """
    axes = {"with_accuracy": "accuracy", "with_fluency": "naturalness"}
    names = {f"{old}{end}": f"{new}{end}" for old, new in axes.items() for end in _ENDS}
    _checked(table, ["kind", "level", "statistic", "with_accuracy"], [*names], name="metric")

    def chosen(rows: pd.DataFrame) -> pd.DataFrame:
        own = rows[(rows["level"] == level) & (rows["statistic"] == "pearson")]
        return own.rename(columns=names | {"metric": "system"})

    rows = _checked(chosen(table), [*axes.values()])
    titles = ["r with human fluency →", "r with human accuracy ↑"]
    noise = pd.DataFrame()
    if "chance_accuracy_low" in rows and rows["chance_accuracy_low"].notna().any():
        one = rows.dropna(subset=["chance_accuracy_low"]).iloc[0]
        spans = (("accuracy", "accuracy"), ("fluency", "naturalness"))
        ends = {b: [one[f"chance_{a}_{end}"] for end in ("low", "high")] for a, b in spans}
        noise = pd.DataFrame(ends)
    ranges = axis_ranges([], [rows, noise])
    plane = _Frame.plane(ranges, naturalness_title=titles[0], accuracy_title=titles[1], size=size)
    layers = []
    if not noise.empty:
        (right, top), (left, low) = (
            noise[["naturalness", "accuracy"]].agg(["max", "min"]).to_numpy()
        )
        box = pd.DataFrame([{"naturalness": left, "accuracy": low, "x2": right, "y2": top}])
        field = _Layer(box).mark_rect(color=fr.BARS, opacity=0.25)
        layers.append(field.encode(**plane.channels, x2="x2:Q", y2="y2:Q"))
    ends = np.array([max(span[0] for span in ranges), min(span[1] for span in ranges)])
    diagonal = _Layer(pd.DataFrame({"naturalness": ends, "accuracy": ends}))
    diagonal = diagonal.mark_line(color=fr.QUIET, strokeDash=[6, 4])
    layers.append(diagonal.encode(**plane.channels))
    bars, lines = plane.bars(rows)
    mixed = pd.DataFrame()
    if arc is not None:
        mixed = _checked(chosen(arc), [*axes.values()], name="share", least=0)
    if len(mixed):
        lines.append(plane.at(mixed))
        mark = _Layer(mixed[["share", *axes.values()]]).mark_line(
            color=fr.COLOURS[0], strokeWidth=2.5
        )
        layers.append(mark.encode(**plane.channels, order="share:Q"))
    leaders, texts, lost = _label_layers(rows.assign(bold=rows["kind"] == "metric"), plane, lines)
    kinds = [kind for kind in _LOOKS if kind in set(rows["kind"])]
    shape, fill = zip(*(_LOOKS[kind] for kind in kinds), strict=True)
    looks = _told_apart("kind", kinds, fr._legend(symbolSize=160), shape=shape, fill=fill)
    tips: list[Any] = ["system:N", "kind:N"]
    tips += [_tip(new, old.replace("_", " ")) for old, new in names.items()]
    tips += [_tip(c) for c in ("lean", "lean_low", "lean_high", "n", "n_docs") if c in rows]
    marks = fr._dots(rows).encode(**plane.channels, **looks, tooltip=tips)
    note = "Above the dashed line a metric agrees more with accuracy, below it more with fluency."
    note += " Grey: metrics of noise." * bool(len(noise))
    note += " Blue: exact mixtures of the two human ratings." * bool(len(mixed))
    words = [" by ".join(titles[::-1])] + [
        f"{row.system}: {number(row.accuracy, 2)} with accuracy, {number(row.naturalness, 2)} with fluency"
        for row in rows.itertuples()
    ]
    words.append(fr._unnamed(lost))
    chart = alt.layer(*layers, *bars, *leaders, marks, *texts)
    return _framed(chart, title, words, [note], size=size)
