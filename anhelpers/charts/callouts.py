"""Oracle curves side by side, and what becomes of one sentence along each of them (AN Figure 1)."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd

from .. import checks
from ..errors import DataError
from .curve import beta_label, curve_ends, curve_line, curve_text
from .frame import Size, axis_ranges, framed, plane_axes
from .labels import label_layers, named_points
from .marks import FONT, LINE_HEIGHT, Layer, tip

if TYPE_CHECKING:
    from ..plane import OracleStudy

__all__ = ["plot_callouts"]

MOST_PRICES = 300  # at which the choices are compared
LETTER = 0.52 * FONT  # mean width in a running text, in pixels


def plot_callouts(
    studies: Sequence[OracleStudy],
    segment: int | None = None,
    *,
    title: str = "",
    size: Size = (400, 300),
) -> alt.HConcatChart:
    """A panel per study: its oracle curve with three numbered places, and below it one sentence as translated there.

    The places are β = 0, β = ∞ and, where the oracle ever takes a third translation of the sentence, a β between.

    Parameters
    ----------
    studies : one to three, over the same sources, as `plane.oracle_studies` gives; such as one for each of two measures
        of accuracy.
    segment : which source; by default the shortest one with three translations in every panel, else the shortest of
        those with most.
    title : what the picture claims. size : (width, height) of a panel's plane in pixels.

    Returns
    -------
    Panels side by side, without a configuration of their own; the alt text has the sentences.

    Raises
    ------
    DataError without a study, for more than three, for studies over other sources, and for a segment that is not there.
    """
    if not 1 <= len(studies) <= 3:
        raise DataError(f"{len(studies)} studies; one to three can stand side by side.")
    srcs = studies[0].test.srcs
    if any(study.test.srcs != srcs for study in studies):
        raise DataError(
            "the studies are over different sources, so no sentence can be followed in all; make them together "
            "with plane.oracle_studies."
        )
    moments = [_moments(study) for study in studies]
    chosen = (
        _telling(moments, srcs)
        if segment is None
        else checks.whole("segment", segment, 0, len(srcs) - 1)
    )
    rows = [_places(study, of[chosen]) for study, of in zip(studies, moments, strict=True)]
    wide = max(20, int(size[0] / LETTER))
    high = max(
        sum(len(textwrap.wrap(text, wide)) for _, text in row) + len(row) - 1 for row in rows
    )
    panels = [
        _panel(study, row, size, wide, high) for study, row in zip(studies, rows, strict=True)
    ]
    said = [
        f"{study.metrics[0].label}: {curve_text(study.curve)}; {'; '.join(text for _, text in row)}"
        for study, row in zip(studies, rows, strict=True)
    ]
    note = f"The sentence: “{srcs[chosen]}”"
    chart = alt.hconcat(*panels, spacing=30)
    return framed(chart, title, said, [note], width=len(studies) * (size[0] + 90))


def _moments(study: OracleStudy) -> list[list[tuple[float, int]]]:
    """Of each source, (β, candidate): where along the curve each candidate that it ever takes is in the middle."""
    betas = study.curve.beta
    betas = betas[np.unique(np.linspace(0, len(betas) - 1, MOST_PRICES).astype(int))]
    betas = np.append(betas, math.inf)
    picks = np.array([study.curve.select(beta) for beta in betas])
    found = []
    for own in picks.T:
        runs = [np.flatnonzero(own == taken) for taken in dict.fromkeys(own.tolist())]
        found.append([(float(betas[run[len(run) // 2]]), int(own[run[0]])) for run in runs])
    return found


def _telling(moments: Sequence[list[list[tuple[float, int]]]], srcs: Sequence[str]) -> int:
    """The source with most different translations in the panel where it has fewest, three being enough; a short one."""
    fewest = [min(3, *(len(of[s]) for of in moments)) for s in range(len(srcs))]
    return min(range(len(srcs)), key=lambda s: (-fewest[s], len(srcs[s])))


def _places(study: OracleStudy, own: list[tuple[float, int]]) -> list[tuple[float, str]]:
    """(β, "1  its translation there") at both ends of the curve, and in between where a third one is taken."""
    between = own[1:-1]
    at = [(0.0, own[0][1]), *between[len(between) // 2 :][:1], (math.inf, own[-1][1])]
    texts = study.cands.texts
    return [(beta, f"{k}  {texts[taken]}") for k, (beta, taken) in enumerate(at, 1)]


def _panel(
    study: OracleStudy, row: list[tuple[float, str]], size: Size, wide: int, high: int
) -> alt.VConcatChart:
    """The curve with its numbered places, and `high` lines of text of at most `wide` letters below it."""
    accuracy, naturalness = (metric.oriented_title for metric in study.metrics)
    plane = plane_axes(axis_ranges([study.curve]), size, naturalness, accuracy)
    line, path = curve_line(study.curve, plane)
    line.name = alt.Undefined  # two views of one name would share their data
    tips = [tip("naturalness", naturalness), tip("accuracy", accuracy)]
    ends, marks = curve_ends(study.curve, [beta for beta, _ in row], plane, tips)
    numbered = [f"{k}  ({beta_label(float(f'{beta:.2g}'))})" for k, (beta, _) in enumerate(row, 1)]
    named = named_points(marks=marks.assign(label=numbered))
    leaders, texts, _ = label_layers(named, [path], plane)
    above = alt.layer(line, *leaders, ends, *texts).properties(width=size[0], height=size[1])
    return alt.vconcat(above, _texts([text for _, text in row], size[0], wide, high), spacing=14)


def _texts(texts: Sequence[str], width: int, wide: int, high: int) -> alt.Chart:
    """Paragraphs as lines of text, an empty line between two, in a place for `high` lines."""
    lines = "\n \n".join("\n".join(textwrap.wrap(text, wide)) for text in texts).split("\n")
    table = pd.DataFrame({"line": lines, "at": range(len(lines))})
    scale = alt.Scale(domain=[high, 0], nice=False, zero=False)
    y = alt.Y("at:Q", axis=None, scale=scale)
    mark = Layer(table, view=alt.ViewBackground(strokeOpacity=0)).mark_text(
        align="left", baseline="top", fontSize=FONT, color="#000000"
    )
    return mark.encode(x=alt.value(0), y=y, text=alt.Text("line:N")).properties(
        width=width, height=LINE_HEIGHT * high
    )
