"""Metrics between accuracy and fluency: a mark for each, by how well it agrees with human marks of either."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from ..errors import DataError
from .frame import Size, axis_ranges, framed, number, plane_axes
from .labels import bar_lines, label_layers, named_points
from .marks import (
    BARS,
    LINE,
    QUIET,
    Layer,
    checked_columns,
    dots,
    interval_bars,
    legend,
    tip,
    told_apart,
)

__all__ = ["plot_bias"]

LOOKS = {  # kind of row: mark and fill
    "metric": ("circle", "#D55E00"),
    "rater": ("triangle-up", "#56B4E9"),
    "human": ("diamond", "#000000"),
}
NAMES = {"with_accuracy": "accuracy", "with_fluency": "naturalness"}
WHAT = {
    "pearson": "Pearson's r with human {}",
    "kendall": "Kendall's τ with human {}",
    "pairs with ties": "Share of pairs ordered as by human {}",
    "soft pairwise": "Soft pairwise accuracy with human {}",
}
ENDS = ("", "_low", "_high")


def plot_bias(
    table: pd.DataFrame,
    *,
    level: str = "within sources",
    statistic: str = "pearson",
    arc: pd.DataFrame | None = None,
    title: str = "",
    size: Size = (560, 460),
) -> alt.LayerChart:
    """The plane of metrics: agreement with human fluency rightwards, with human accuracy upwards, and the diagonal.

    Crosses are 95 % intervals. On the dashed diagonal a metric agrees with both alike. The grey field is where metrics
    of noise lie, 95 % of them on each axis; the blue line is where exact mixtures of the two human ratings lie.

    Parameters
    ----------
    table : rows of `plane.metric_bias`, and where there are several raters of `plane.rater_bias`: metric, kind, level,
        statistic, with_accuracy, with_fluency, both with _low and _high, chance_accuracy_low and so on.
    level, statistic : which rows are drawn. arc : of `plane.mixture_arc`; None: no line.
    title : what the picture claims; size : (width, height) of the plane in pixels.
    """
    wanted = [f"{c}{end}" for c in NAMES for end in ENDS]
    checked_columns(table, ["metric", "kind", "level", "statistic", *wanted], "metrics")
    rows = table[(table["level"] == level) & (table["statistic"] == statistic)]
    names = {f"{old}{end}": f"{new}{end}" for old, new in NAMES.items() for end in ENDS}
    rows = rows.rename(columns=names | {"metric": "system"}).assign(category="unknown")
    shown = rows.dropna(subset=[*NAMES.values()]).reset_index(drop=True)
    if shown.empty:
        raise DataError(f"no metric has {statistic} {level}: there is nothing to draw.")
    shown["bold"] = shown["kind"] == "metric"
    line = _arc(arc, level, statistic)
    titles = [f"{WHAT[statistic].format(name)} ({level})" for name in ("fluency", "accuracy")]
    plane = plane_axes(axis_ranges([], [shown, _extent(shown)]), size, titles[0], titles[1])
    paths = [plane.pixels(line["naturalness"], line["accuracy"])] if len(line) else []
    labels = named_points(shown, bold=shown["bold"].to_numpy())
    leaders, texts, unnamed = label_layers(labels, [*bar_lines(shown, plane), *paths], plane)
    layers = [
        *_field(shown, plane.channels),
        _diagonal(plane.ranges, plane.channels),
        *(
            [
                Layer(line)
                .mark_line(color=LINE, strokeWidth=2.5)
                .encode(**plane.channels, order=alt.Order("share:Q"))
            ]
            if len(line)
            else []
        ),
        *interval_bars(shown, plane),
        *leaders,
        _marks(shown, plane.channels),
        *texts,
    ]
    return framed(
        alt.layer(*layers),
        title,
        _words(shown, titles),
        _notes(shown, line),
        unnamed=unnamed,
        size=size,
    )


def _arc(arc: pd.DataFrame | None, level: str, statistic: str) -> pd.DataFrame:
    """The points of the line of mixtures, in the columns of the plane."""
    if arc is None:
        return pd.DataFrame(columns=["share", *NAMES.values()])
    checked_columns(arc, ["level", "statistic", "share", *NAMES], "mixtures")
    rows = arc[(arc["level"] == level) & (arc["statistic"] == statistic)]
    return rows.rename(columns=NAMES)[["share", *NAMES.values()]].dropna()


def _extent(rows: pd.DataFrame) -> pd.DataFrame:
    """What must be inside the picture besides marks and intervals: the field of noise."""
    if not _chance(rows):
        return rows
    one = rows.dropna(subset=["chance_accuracy_low"]).iloc[0]
    ends = {
        axis: [one[f"chance_{name}_low"], one[f"chance_{name}_high"]]
        for name, axis in (("accuracy", "accuracy"), ("fluency", "naturalness"))
    }
    return pd.DataFrame(ends).assign(system="noise", category="unknown")


def _chance(rows: pd.DataFrame) -> bool:
    """Whether the rows say what noise gets."""
    return "chance_accuracy_low" in rows and bool(rows["chance_accuracy_low"].notna().any())


def _field(rows: pd.DataFrame, channels: dict) -> list[alt.Chart]:
    """Where metrics of noise lie."""
    if not _chance(rows):
        return []
    ends = _extent(rows)
    low, high = ends.min(numeric_only=True), ends.max(numeric_only=True)
    box = pd.DataFrame(
        {
            "naturalness": [low.naturalness],
            "accuracy": [low.accuracy],
            "x2": [high.naturalness],
            "y2": [high.accuracy],
        }
    )
    mark = Layer(box).mark_rect(color=BARS, opacity=0.25)
    return [mark.encode(**channels, x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"))]


def _diagonal(ranges: tuple, channels: dict) -> alt.Chart:
    """Agrees with both alike."""
    low, high = max(span[0] for span in ranges), min(span[1] for span in ranges)
    ends = pd.DataFrame({"naturalness": [low, high], "accuracy": [low, high]})
    return Layer(ends).mark_line(color=QUIET, strokeDash=[6, 4]).encode(**channels)


def _marks(rows: pd.DataFrame, channels: dict) -> alt.Chart:
    """A mark for each row, by its kind."""
    kinds = [kind for kind in LOOKS if kind in set(rows["kind"])]
    shape, fill = zip(*(LOOKS[kind] for kind in kinds), strict=True)
    looks = told_apart("kind", kinds, legend(symbolSize=160), shape=shape, fill=fill)
    names = {"accuracy": "with accuracy", "naturalness": "with fluency"}
    tips = [tip(c + end, names[c] + end) for c in names for end in ENDS]
    tips += [tip(c) for c in ("lean", "lean_low", "lean_high", "n", "n_docs") if c in rows]
    return dots(rows).encode(**channels, **looks, tooltip=["system:N", "kind:N", *tips])


def _notes(rows: pd.DataFrame, line: pd.DataFrame) -> list[str]:
    """How to read the picture."""
    told = "Above the dashed line a metric agrees more with accuracy, below it more with fluency."
    told += " Grey: metrics of noise." * _chance(rows)
    told += " Blue: exact mixtures of the two human ratings." * bool(len(line))
    return [told]


def _words(rows: pd.DataFrame, titles: list[str]) -> list[str]:
    """Every mark with its two numbers."""
    said = [
        f"{row.system}: {number(row.accuracy, 2)} with accuracy, {number(row.naturalness, 2)} with fluency"
        for row in rows.itertuples()
    ]
    return [" by ".join(titles[::-1]), *said] if np.size(said) else titles
