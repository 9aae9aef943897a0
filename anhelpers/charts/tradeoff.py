"""Exact AN curve of a finite world, systems that move between conventions, words with their parts in a score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..errors import DataError
from ..frontier import oracle_curve, pareto_mask
from .curve import plot_curve
from .frame import (
    FONT,
    LINE,
    QUIET,
    Frame,
    Layer,
    Look,
    Ranges,
    axis_ranges,
    checked,
    checked_systems,
    dots,
    framed,
    not_drawn,
    number,
    system_marks,
    tip,
)
from .labels import label_layers, width

if TYPE_CHECKING:
    from ..exact import ExactCurve

_MOST_MARKS = 60  # vertices; more would run together
_PENALTIES = ["accuracy", "naturalness", "accuracy_start", "naturalness_start"]
_ROOM = (1.1, 0.06)  # beyond the worst penalty and beyond (0, 0), in units of the worst
_BELOW, _ABOVE = "#E69F00", "#56B4E9"  # Okabe and Ito 2008; black on either has a contrast of 9:1
_GAP, _LINE, _HEAD = 4, 50, 34  # px between words, of a line of words, of the name of a text


def plot_tradeoff(
    curve: ExactCurve,
    *,
    point: float | None = None,
    **look: Unpack[Look],
) -> alt.LayerChart:
    """Best accuracy A(N) that naturalness N allows, with vertices marked and both ends named.

    Parameters
    ----------
    curve : ExactCurve
        From `exact.solve_curve`.
    point : an N with the large mark named ``bxpoint``, which the tradeoff explorer moves
    **look : title, axis titles, ranges, size
        As in `frame.Look`; the x axis names the divergence.

    Raises
    ------
    DataError for an N beyond the ends of the curve.
    """
    of = curve.divergence
    default: Any = {
        "accuracy_title": "Accuracy A(N) (higher is better)",
        "naturalness_title": f"Naturalness N = −D(Q, R) ({of.label}, {of.unit}; higher is more natural)",
    }
    plane = Frame.plane(axis_ranges([curve]), **{**default, **look})

    def rows(naturalness: ArrayLike, **more: Any) -> pd.DataFrame:
        n = np.asarray(naturalness, dtype=float)
        columns = {"naturalness": n, "accuracy": curve.accuracy_at(n)}
        return pd.DataFrame(columns, dtype=float).assign(**more)

    line = rows(curve.naturalness, beta=curve.beta)
    few = curve.exact and len(line) <= _MOST_MARKS
    corners = line if few else line.iloc[sorted({0, len(line) - 1})]
    tips = [tip("naturalness"), tip("accuracy"), tip("beta", "β from")]
    path = Layer(line, name="bxline").mark_line(color=LINE, strokeWidth=3)
    layers = [
        path.encode(**plane.channels, order="naturalness:Q"),
        dots(corners, "vertices", size=60, fill=LINE).encode(**plane.channels, tooltip=tips),
    ]
    ends = rows(curve.naturalness[:1], label="no tradeoff")
    if len(line) > 1:
        ends = rows(curve.naturalness[[0, -1]], label=["most accurate", "most natural"])
    leaders, texts, _ = label_layers(ends, plane, [plane.at(line)])
    layers = [*leaders, *layers, *texts]
    if point is not None:
        layers.append(plane.moving_point(rows([between_ends(point, curve.naturalness)])))
    n, a = (values.round(9) + 0.0 for values in (curve.naturalness, curve.accuracy))
    kind = (
        f"{len(n)} vertices"
        if curve.exact
        else f"{len(n)} points, at most {curve.gap:.2g} below the true curve"
    )
    words = (
        f"A(N) under {of.label} from accuracy {a[0]:.4g} at naturalness {n[0]:.4g} "
        f"to {a[-1]:.4g} at {n[-1]:.4g}"
    )
    return framed(alt.layer(*layers), plane.title, [words, kind], size=plane.size)


def between_ends(value: float, naturalness: np.ndarray) -> float:
    """N between the ends of a curve of (V,) vertices; one that misses them by rounding is moved."""
    value, low, high = float(value), float(naturalness[0]), float(naturalness[-1])
    room = 1e-9 * max(1.0, high - low)
    if not low - room <= value <= high + room:
        below = " Below, the constraint costs nothing." * (value < low)
        raise DataError(f"naturalness: got {value}, expected {low:.6g} to {high:.6g}.{below}")
    return min(max(value, low), high)


def plot_one_source(
    accuracy: ArrayLike, naturalness: ArrayLike, **look: Unpack[Look]
) -> alt.LayerChart:
    """Candidates of one source as open circles, under the line through those that win at some β.

    Parameters
    ----------
    accuracy, naturalness : (K,) scores of the candidates, higher is better
    **look : title, axis titles, ranges, size
        As in `frame.Look`.
    """
    table = pd.DataFrame({"accuracy": accuracy, "naturalness": naturalness})
    curve = oracle_curve([0] * len(table), table.accuracy, table.naturalness)
    plane = Frame.plane(axis_ranges([], [table]), **look)
    circles = Layer(table).mark_point(color=QUIET, size=70).encode(**plane.channels)
    shown: Any = {"ranges": plane.ranges, **look}
    return plot_curve(curve, **shown) + circles


def plot_moves(
    table: pd.DataFrame, *, movable: bool = False, **look: Unpack[Look]
) -> alt.LayerChart:
    """Systems by two negated penalties, each with a line from its start; (0, 0) is no errors.

    Parameters
    ----------
    table : system, category, accuracy and naturalness ≤ 0, accuracy_start and naturalness_start ≤ 0
    movable : every system has a ring and a label, in layers whose names begin with bx, a mark for
        each system in the order of the table, for a script to move; else rings mark the Pareto set
    **look : title, axis titles, ranges, size
        As in `frame.Look`.
    """
    checked(table, _PENALTIES, _PENALTIES)
    systems = checked_systems(table)
    default: Any = {
        "accuracy_title": "−MQM accuracy (points per segment, higher is better)",
        "naturalness_title": "−MQM fluency (points per segment, higher is better)",
        "size": (500, 470),
    }
    plane = Frame.plane(moves_ranges(systems), **{**default, **look})
    axes, (now, start) = plane.channels, (systems[_PENALTIES[:2]], systems[_PENALTIES[2:]])
    best = pareto_mask(np.zeros(len(systems), dtype=int), *(now[c].round(9) for c in now))
    moved = systems[(now.to_numpy() != start.to_numpy()).any(axis=1) | movable]
    at = {"x": plane.on("x", "naturalness_start"), "y": plane.on("y", "accuracy_start")}
    to = {"x2": alt.X2("naturalness:Q"), "y2": alt.Y2("accuracy:Q")}
    layers = [plane.plus()]
    if len(moved):
        trace = Layer(moved, name="bxtrace").mark_rule(
            color=QUIET, strokeWidth=2, strokeDash=[5, 3]
        )
        layers += [
            trace.encode(**at, **to),
            plane.rings(moved, "bxstart", stroke=QUIET, size=50).encode(**at),
        ]
    marks = system_marks(systems, axes, [*map(tip, _PENALTIES)], name="bxsystem")
    layers += [plane.rings(systems[best | movable], "bxring"), marks]
    if movable:
        leader = Layer(systems, name="bxleader").mark_rule(color="#444444", strokeWidth=1)
        text = {"align": "left", "dx": 14, "fontSize": FONT, "baseline": "middle"}
        halo = {"stroke": "#FFFFFF", "strokeWidth": 4, "strokeOpacity": 0.85, "strokeJoin": "round"}
        layers.append(leader.encode(**axes, **to))
        for name, more in (("bxhalo", halo), ("bxlabel", {})):
            mark = Layer(systems, name=name).mark_text(**text, color="#000000", **more)
            layers.append(mark.encode(**axes, text="system:N"))
    else:
        leaders, texts, _ = label_layers(systems.assign(bold=best), plane, [])
        layers = [*leaders, *layers, *texts]
    parts = []
    for row in systems.to_dict("records"):
        here, there = (
            [f"{-row[c] + 0.0:.4g}" for c in cs] for cs in (_PENALTIES[:2], _PENALTIES[2:])
        )
        was = f"; at the start {', '.join(there)}" if here != there else ""
        parts.append(f"{row['system']} ({', '.join(here)}{was})")
    words = [
        f"penalties on accuracy and fluency: {', '.join(parts)}",
        "Ring: no other system beats it on both axes",
    ]
    return framed(
        alt.layer(*layers), plane.title, words, not_drawn(table, systems), size=plane.size
    )


def moves_ranges(table: pd.DataFrame) -> Ranges:
    """Ranges of naturalness and accuracy that hold all negated penalties and (0, 0)."""
    worst = [
        float(-table[[axis, f"{axis}_start"]].to_numpy().min()) or 1.0
        for axis in ("naturalness", "accuracy")
    ]
    x, y = ((-_ROOM[0] * one, _ROOM[1] * one) for one in worst)
    return x, y


def zoom(worst: float, low: float) -> float:
    """1, 2, 5, 10 …: factor by which an axis from `low` < 0 to 0 must reach to hold a penalty.

    >>> zoom(3.0, -4.0), zoom(5.0, -4.0), zoom(17.0, -4.0)
    (1.0, 2.0, 5.0)
    """
    reach, step = -low / _ROOM[0] * (1 + 1e-9), 0
    while worst > reach * (factor := (1, 2, 5)[step % 3] * 10.0 ** (step // 3)):
        step += 1
    return float(factor)


def plot_words(words: pd.DataFrame, *, title: str = "", size: int = 760) -> alt.LayerChart:
    """Texts with their scores, and each word on the colour of its part: blue above 0, orange below.

    Parameters
    ----------
    words : text, token, value; a row per token in reading order, as from `naturalness.critic.explain`
        The values of a text sum to its score; the token "" is common to all texts.
    size : width in pixels at which lines end
    """
    rows = checked(words, ["token", "value"], ["value"], name="text").astype({"text": str})
    rows["shown"] = rows["token"].astype(str).replace("", "(every text)")
    rows["number"] = [_signed(value) for value in rows["value"]]
    left, top, before, boxes = 0.0, -float(_LINE + _GAP), None, []
    for row in rows.itertuples():
        wide = max(width(row.shown), width(row.number)) + 16
        if row.text != before:
            left, top, before = 0.0, top + _LINE + _GAP + _HEAD, row.text
        elif left + wide > size and left:
            left, top = 0.0, top + _LINE + _GAP
        boxes.append((left, left + wide, top, top + _LINE - 4, left + wide / 2, top + 12, top + 33))
        left += wide + _GAP
    columns = ["left", "right", "top", "bottom", "middle", "at", "below"]
    rows[columns] = np.array(boxes)
    heads = (
        rows.groupby("text", sort=False)
        .agg(value=("value", "sum"), top=("top", "min"))
        .reset_index()
    )
    heads["label"] = heads["text"] + ": " + heads["value"].map(_signed) + " nats"
    heads = heads.assign(left=0.0, at=heads["top"] - _HEAD / 2)
    across, down = [0, max(float(size), rows["right"].max())], [float(rows["top"].max()) + _LINE, 0]
    scales = [alt.Scale(domain=d, nice=False, zero=False) for d in (across, down)]
    x, middle = (alt.X(f"{c}:Q", axis=None, scale=scales[0]) for c in ("left", "middle"))
    y, at, low = (alt.Y(f"{c}:Q", axis=None, scale=scales[1]) for c in ("top", "at", "below"))
    most = float(rows["value"].abs().max()) or 1.0
    scale = alt.Scale(domain=[-most, 0, most], range=[_BELOW, "#FFFFFF", _ABOVE], interpolate="rgb")
    tips: list[Any] = ["text:N", "token:N", alt.Tooltip("value:Q", format="+.3f")]
    look: dict[str, Any] = {"fontSize": FONT, "baseline": "middle"}
    base, fill = Layer(rows), alt.Fill("value:Q", scale=scale, legend=None)
    box = base.mark_rect(stroke="#BBBBBB", strokeWidth=1)
    head = Layer(heads).mark_text(**look, align="left", fontWeight="bold")
    chart = alt.layer(
        box.encode(x=x, x2="right:Q", y=y, y2="bottom:Q", fill=fill, tooltip=tips),
        base.mark_text(**look).encode(x=middle, y=at, text="shown:N"),
        base.mark_text(**look, color="#333333").encode(x=middle, y=low, text="number:N"),
        head.encode(x=x, y=at, text="label:N"),
    )
    notes = ["Below each word its nats: + and blue raise the score, − and orange lower it."]
    parts = []
    for label, (_, own) in zip(heads["label"], rows.groupby("text", sort=False), strict=True):
        both = zip(own["shown"], own["number"], strict=True)
        parts.append(f"{label}: " + ", ".join(f"{shown} {text}" for shown, text in both))
    return framed(chart, title, parts, notes, size=(across[1], down[0]), view={"stroke": None})


def _signed(value: float) -> str:
    text = number(value, 2)
    return text if text.startswith("−") or text == "0.00" else f"+{text}"
