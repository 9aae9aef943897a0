"""BLEU against XMI, the two sides of English apart (XMI Figure 2): points named by their language, a line per side."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from .. import checks
from ..stats import correlation_interval, pearson
from .directions import checked_directions
from .frame import Frame, Size, frame_of, framed, number
from .labels import label_layers
from .lines import COLOURS, DASHES, INKS, SHAPES
from .marks import Layer, dots, legend, not_drawn, on, tip, told_apart

__all__ = ["plot_xmi_bleu"]

TITLES = (
    "XMI (bits per sentence; higher: the source saves more)",
    "BLEU (points, higher is better)",
)


def plot_xmi_bleu(
    table: pd.DataFrame,
    *,
    lines: bool = True,
    named: Sequence[str] = (),
    pivot: str | None = None,
    title: str = "",
    size: Size = (680, 500),
) -> alt.LayerChart:
    """XMI (x) against BLEU (y): a point per direction, named by its language, with a colour and shape per side.

    The legend has each side's Pearson r with Fisher's 95 % interval and its n, the alt text all points.

    Parameters
    ----------
    table : direction, xmi, bleu; src and trg where the names have another form than "en-fi"; where known xmi_low and
        xmi_high. The subtitle names a direction that lacks xmi or bleu and is not drawn.
    lines : whether to draw the least-squares line of BLEU on XMI of each side with at least 3 directions.
    named : directions whose labels are bold and placed first. pivot : see `directions.checked_directions`.
    title : what the picture claims; size : (width, height) of the plane in pixels.
    """
    rows = checked_directions(table, ["xmi", "bleu"], pivot)
    for name in named:
        checks.one_of(name, rows["direction"], "direction")
    rows = rows.assign(x=rows["xmi"], y=rows["bleu"], bold=rows["direction"].isin(list(named)))
    rows = rows.iloc[np.argsort(~rows["bold"], kind="stable")].reset_index(drop=True)
    sides = sorted(rows["side"].unique())
    told = {side: _told(side, rows[rows["side"] == side]) for side in sides}
    rows["series"] = rows["side"].map(told)
    known = {"xmi_low", "xmi_high"} <= set(rows)
    intervals = rows.dropna(subset=["xmi_low", "xmi_high"]) if known else rows[:0]
    extent = [rows["x"], *(intervals[c] for c in ("xmi_low", "xmi_high") if len(intervals))]
    plane = frame_of(np.concatenate(extent), rows["y"], TITLES, log=(False, False), size=size)
    fits = _fits(rows) if lines else pd.DataFrame({"series": []})
    paths = [plane.pixels(own["x"], own["y"]) for _, own in fits.groupby("series", sort=False)]
    inks = dict(zip(sides, INKS, strict=False))
    labelled = rows.assign(label=rows["other"], ink=rows["side"].map(inks))
    leaders, texts, unnamed = label_layers(labelled, paths, plane)
    series = list(told.values())
    layers = [
        *_lines(fits, intervals, plane, series),
        _points(rows, plane, series),
        *leaders,
        *texts,
    ]
    notes = not_drawn(table, rows, "direction")
    said = [" by ".join(TITLES[::-1]), *_words(rows, told)]
    return framed(alt.layer(*layers), title, said, notes, unnamed=unnamed, size=size)


def _told(side: str, rows: pd.DataFrame) -> str:
    """ "into English: r = 0.96 (0.90 to 0.98), n = 20": what the legend says of a side."""
    n = len(rows)
    r = float(pearson(rows["xmi"], rows["bleu"])) if n > 2 else np.nan
    low, high = map(float, correlation_interval(r, n))
    interval = f" ({number(low, 2)} to {number(high, 2)})" if np.isfinite(low) else ""
    return (
        f"{side}: r = {number(r, 2)}{interval}, n = {n}" if np.isfinite(r) else f"{side}: n = {n}"
    )


def _fits(rows: pd.DataFrame) -> pd.DataFrame:
    """series, x, y: both ends of each side's least-squares line, over the XMI that the side has."""
    parts = []
    for series, own in rows.groupby("series", sort=True):
        if len(own) > 2 and np.ptp(own["x"]) > 0:
            slope, level = np.polyfit(own["x"], own["y"], 1)
            ends = np.array([own["x"].min(), own["x"].max()])
            parts.append(pd.DataFrame({"series": series, "x": ends, "y": level + slope * ends}))
    return pd.concat(parts or [pd.DataFrame({"series": [], "x": [], "y": []})], ignore_index=True)


def _points(rows: pd.DataFrame, plane: Frame, series: list[str]) -> alt.Chart:
    """The marks, with a legend that has each side's r."""
    above = legend(direction="vertical", labelLimit=600, symbolSize=160)
    tips = ["label:N", tip("xmi", "XMI"), tip("bleu", "BLEU")]
    tips += [tip(c) for c in ("h_lm", "h_mt", "n") if c in rows]
    looks = told_apart("series", series, above, fill=COLOURS, shape=SHAPES)
    mark = dots(rows, "points", size=110, stroke="#FFFFFF")
    return mark.encode(**plane.channels, **looks, tooltip=tips)


def _lines(
    fits: pd.DataFrame, intervals: pd.DataFrame, plane: Frame, series: list[str]
) -> list[alt.Chart]:
    """Each side's line, and through each point a thin one, the interval of its XMI; colours of the marks' legend."""
    layers, low = [], on(plane.channels["x"], "xmi_low")
    for k, name in enumerate(series):
        line, rule = (frame[frame["series"] == name] for frame in (fits, intervals))
        if len(line):
            look = {"strokeWidth": 2.5, "color": COLOURS[k], "strokeDash": DASHES[k]}
            mark = Layer(line, name=f"fit_{k}").mark_line(**look)
            layers.append(mark.encode(**plane.channels))
        if len(rule):
            mark = Layer(rule, name=f"intervals_{k}")
            mark = mark.mark_rule(strokeWidth=1.5, color=COLOURS[k])
            layers.append(mark.encode(x=low, x2=alt.X2("xmi_high:Q"), y=plane.channels["y"]))
    return layers


def _words(rows: pd.DataFrame, told: dict[str, str]) -> list[str]:
    """Each side with its r and all its points."""
    parts = []
    for side, text in told.items():
        own = rows[rows["side"] == side]
        points = ", ".join(
            f"{d} ({x:.4g}, {y:.4g})"
            for d, x, y in own[["direction", "x", "y"]].itertuples(index=False)
        )
        parts.append(f"{text}: {points}")
    return parts
