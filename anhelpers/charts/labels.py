"""Names beside points: none is printed over another name or over another point; in a crowd some are left out.

Names of lines: beside the end of each where the ends lie apart, else where the line is furthest from the others.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .frame import Frame, Size
from .marks import FONT

__all__ = [
    "End",
    "densely",
    "hidden",
    "label_layers",
    "name_lines",
    "place_labels",
    "spread",
    "width",
]

# under a label, so that it is legible across a bar
HALO = {"stroke": "#FFFFFF", "strokeWidth": 4, "strokeOpacity": 0.85, "strokeJoin": "round"}


def label_layers(
    named: pd.DataFrame, lines: Sequence[np.ndarray], plane: Frame
) -> tuple[list[alt.Chart], list[alt.Chart], list[str]]:
    """Thin lines to labels that had to move away (to go under the marks), text layers, the labels left out for space.

    Parameters
    ----------
    named : a row per label, the most important first: label, bold, the fields of the plane, and where it is not black
        ink. lines : (V, 2) pixels of polylines to keep clear of. plane : that the labels stand on.
    """
    if named.empty:
        return [], [], []
    placed = place_labels(
        plane.at(named), named["label"].tolist(), lines, plane.size, bold=named["bold"]
    )
    fits = np.array([place is not None for place in placed])
    frame = pd.DataFrame([p for p in placed if p], columns=["px", "py", "align", "away"])
    own, (x, y) = named[fits].reset_index(drop=True), plane.fields
    frame = frame.assign(
        label=own["label"],
        bold=own["bold"],
        ink=own.get("ink", "#000000"),
        to_x=own[x],
        to_y=own[y],
    )
    frame[x], frame[y] = plane.values(frame["px"], frame["py"])
    texts = []
    for under in (HALO, {}):
        for (align, bold, ink), group in frame.groupby(["align", "bold", "ink"], sort=True):
            look = {"align": align, "color": ink, "fontSize": FONT, "baseline": "middle"} | under
            look |= {"fontWeight": "bold"} if bold else {}
            texts.append(
                alt.Chart(group).mark_text(**look).encode(**plane.channels, text="label:N")
            )
    leader = alt.Chart(frame[frame["away"]]).mark_rule(color="#444444", strokeWidth=1)
    leader = leader.encode(**plane.channels, x2="to_x:Q", y2="to_y:Q")
    return [leader] if frame["away"].any() else [], texts, named["label"][~fits].tolist()


def named_points(
    marks: pd.DataFrame, systems: pd.DataFrame, bold: np.ndarray | None = None
) -> pd.DataFrame:
    """The table of `label_layers`: the systems in bold, the labelled marks of a curve, then the other systems."""
    bold = np.zeros(len(systems), dtype=bool) if bold is None else bold
    systems = systems.assign(label=systems["system"].astype(str), bold=bold)
    parts = [systems[bold], marks.assign(bold=False), systems[~bold]]
    columns = ["label", "naturalness", "accuracy", "bold"]
    named = pd.concat(
        [part[columns] for part in parts if len(part)] or [parts[0][columns]], ignore_index=True
    )
    return named.astype({"naturalness": float, "accuracy": float, "bold": bool})


def bar_lines(systems: pd.DataFrame, plane: Frame) -> list[np.ndarray]:
    """(2, 2) pixels of the two ends of every interval bar."""
    ends = []
    for column, other in (("naturalness", "accuracy"), ("accuracy", "naturalness")):
        if f"{column}_low" in systems and f"{column}_high" in systems:
            for row in systems.dropna(subset=[f"{column}_low", f"{column}_high"]).to_dict(
                "records"
            ):
                span, fixed = [row[f"{column}_low"], row[f"{column}_high"]], [row[other]] * 2
                at = (span, fixed) if column == "naturalness" else (fixed, span)
                ends.append(plane.pixels(*at))
    return ends


def place_labels(
    points: np.ndarray,
    texts: Sequence[str],
    lines: Sequence[np.ndarray],
    size: Size,
    *,
    bold: Sequence[bool] | None = None,
) -> list[tuple | None]:
    """(x, y, alignment, whether far away) of each label: of 24 places around its point the one that hides least.

    None for a label that would run into another, out of the plane, or be nearer to another point: a crowd stays
    readable, and tooltips and tables name everybody.

    Parameters
    ----------
    points : (n, 2) pixels; texts : n labels, the most important first; lines : (V, 2) pixels of polylines to keep
        clear of; size : of the plane; bold : which labels are.
    """
    blocked = np.concatenate([points, *map(densely, lines)])
    bold = [False] * len(texts) if bold is None else bold
    boxes, leaders, placed = np.empty((0, 4)), np.empty((0, 2)), []
    for own, ((x, y), text, heavy) in enumerate(zip(points, texts, bold, strict=True)):
        taken: dict[str, Any] = {"boxes": boxes, "leaders": leaders, "size": size}
        places = (p for p in _places(x, y, width(text, heavy)) if _fits(p, own, points, **taken))
        best = min(
            places, key=lambda p: 10 * hidden(p[4], blocked, 5).sum() + 3 * p[5], default=None
        )
        placed.append(best and best[:4])
        if best:
            boxes = np.vstack([boxes, best[4]])
            leaders = np.vstack([leaders, _leader(points[own], best)])
    return placed


def width(text: str, bold: bool) -> float:
    """About how many pixels a label takes, rather too many: letters of sans-serif fonts in units of the font size.

    Parameters
    ----------
    bold : is wider.
    """
    units = sum(1.0 if ord(c) >= 0x2E80 else 0.7 if c.isupper() else 0.54 for c in text)
    return FONT * units * (1.08 if bold else 1)


def _fits(
    place: tuple, own: int, marks: np.ndarray, *, boxes: np.ndarray, leaders: np.ndarray, size: Size
) -> bool:
    """A label is free of other labels, inside the plane but for half a letter, and not to be read as another mark's."""
    far, box = place[3:5]
    shared = np.minimum(boxes[:, 2:], box[2:]) - np.maximum(boxes[:, :2], box[:2])
    outside = np.clip([-box[0], -box[1], box[2] - size[0], box[3] - size[1]], 0, None).sum()
    if (shared > 0).all(axis=1).any() or outside >= FONT / 2 or hidden(box, leaders, 0).any():
        return False
    # from the box to each mark
    away = np.hypot(*np.clip(np.maximum(box[:2] - marks, marks - box[2:]), 0, None).T)
    # with a line to its mark it only has to be clear of the others
    least = 12 if far else min(12, away[own] - 3)
    if np.delete(away, own).min(initial=99) < least:
        return False
    line = _leader(marks[own], place)
    gaps = np.hypot(*(line[:, None] - np.delete(marks, own, axis=0)[None]).T)
    return not (gaps < 10).any() and not any(hidden(other, line, 0).any() for other in boxes)


def _leader(mark: np.ndarray, place: tuple) -> np.ndarray:
    """(m, 2) points along the line from a mark to its label: none where the label is near."""
    line = densely(np.stack([mark, np.array(place[:2])]))
    return line[np.hypot(*(line - mark).T) > 10] if place[3] else line[:0]


def hidden(box: np.ndarray, points: np.ndarray, margin: float) -> np.ndarray:
    """(n,) bool: a point lies in the box or within `margin` pixels of it.

    Parameters
    ----------
    box : (4,) left, top, right, bottom. points : (n, 2) pixels.
    """
    return ((points > box[:2] - margin) & (points < box[2:] + margin)).all(axis=1)


def _places(x: float, y: float, width: float) -> Iterable[tuple]:
    """24 places around a point: (x, y, alignment, whether far away, (4,) box, ring)."""
    for ring, gap in enumerate((14, 28, 46)):
        for dx, dy in ((1, 0), (-1, 0), (1, -1), (-1, 1), (1, 1), (-1, -1), (0, -1), (0, 1)):
            reach = 0.7 if dx and dy else 1.0
            lx, ly = x + dx * gap * reach, y + dy * (gap * reach + FONT * 0.3 * abs(dy))
            left = lx - width * (1 - dx) / 2
            align = {1: "left", 0: "center", -1: "right"}[dx]
            yield (
                lx,
                ly,
                align,
                ring > 0,
                np.array([left, ly - 0.6 * FONT, left + width, ly + 0.6 * FONT]),
                ring,
            )


def densely(line: np.ndarray) -> np.ndarray:
    """Points at most 8 pixels apart along a polyline.

    Parameters
    ----------
    line : (n, 2) pixels.
    """
    at = np.r_[0.0, np.cumsum(np.hypot(*np.diff(line, axis=0).T))]
    where = np.linspace(0, at[-1], int(at[-1] // 8) + 2)
    return np.stack([np.interp(where, at, line[:, i]) for i in (0, 1)], axis=1)


LINE_HEIGHT = 20  # of a label, in pixels
GAP = 26  # from the plane to the names beside it
NEAR = 0.15  # a line that ends in this last part of the width is named beside the plane
APART = 6  # pixels to every other line with which an end is an end of its own
PLACES = [(dx, dy) for dy in (-1, 1, 0) for dx in (1, -1, 0) if dx or dy]
# pixels by which a name in the plane is at least nearer to its own line than to any other
NEARER = 6
MARGIN = 40  # more pixels than this to other lines make a name no clearer


@dataclass(frozen=True)
class End:
    """Where a line's name is printed, in pixels, and from where a thin line leads to it (nan: none).

    beside : outside the plane, to its right.

    Parameters
    ----------
    text : the name. x, y : its anchor. align : "left", "center" or "right" of it.
    from_x, from_y : where the thin line ends.
    """

    text: str
    x: float
    y: float
    align: str
    from_x: float
    from_y: float
    beside: bool


def name_lines(
    names: Sequence[str],
    paths: Sequence[np.ndarray],
    size: Size,
    obstacles: Sequence[np.ndarray] = (),
) -> list[End]:
    """One name per line, none over another name, each nearer to its own line than to the others or led to it.

    Parameters
    ----------
    names : n texts; those beside the plane are wrapped to at most 26 letters a line.
    paths : n polylines, (V_i, 2) pixels, V_i >= 1, finite.
    size : (width, height) of the plane.
    obstacles : more polylines that a name inside the plane keeps clear of.
    """
    dense = [densely(path) for path in paths]
    blocked = np.concatenate([np.empty((0, 2)), *map(densely, obstacles)])
    ends: dict[int, End] = {}
    for i, name in enumerate(names):
        others = np.concatenate([np.empty((0, 2)), *dense[:i], *dense[i + 1 :]])
        own_end = bool(_away(np.tile(dense[i][-1], 2), others).min(initial=np.inf) >= APART)
        if own_end and dense[i][-1, 0] >= (1 - NEAR) * size[0]:
            continue
        taken = [outline(end.text, end.x, end.y, end.align) for end in ends.values()]
        full = np.concatenate([blocked, *map(densely, taken)])
        place = _near_line(name, dense[i], others, full, size=size, at_end=12.0 * own_end)
        if place:
            ends[i] = End(name, *place, np.nan, np.nan, False)
    rest = [i for i in range(len(names)) if i not in ends]
    ends |= dict(
        zip(rest, _beside([names[i] for i in rest], [paths[i] for i in rest], size), strict=True)
    )
    return [ends[i] for i in range(len(names))]


def _near_line(
    text: str,
    own: np.ndarray,
    others: np.ndarray,
    blocked: np.ndarray,
    *,
    size: Size,
    at_end: float,
) -> tuple[float, float, str] | None:
    """(x, y, alignment) of a name close to its own line and far from the others; None where it would be mistaken.

    at_end : how many pixels of clearance it is worth to stand at the line's end.
    """
    best, place = 0.0, None
    for k in range(len(own) - 1, -1, -2):
        for dx, dy in PLACES:
            x, y = own[k, 0] + 9 * dx, own[k, 1] + 15 * dy
            align = {1: "left", 0: "center", -1: "right"}[dx]
            corners = outline(text, x, y, align)
            box = corners[[0, 2]].ravel()
            if (
                not _fits_ends(corners, size)
                or hidden(box, blocked, 3).any()
                or hidden(box, own, 4).any()
            ):
                continue
            clear = min(MARGIN, _away(box, others).min(initial=MARGIN)) - _away(box, own).min()
            if clear < NEARER:
                continue
            clear += at_end * (k == len(own) - 1)
            if clear > best:
                best, place = clear, (float(x), float(y), align)
    return place


def _away(box: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(n,) distance of points from a box (left, upper, right, lower), 0 inside."""
    return np.hypot(*np.clip(np.maximum(box[:2] - points, points - box[2:]), 0, None).T)


def _beside(names: Sequence[str], paths: Sequence[np.ndarray], size: Size) -> list[End]:
    """Names right of the plane, as near to the heights at which their lines end as their own heights allow."""
    texts = ["\n".join(textwrap.wrap(name, 26)) or name for name in names]
    heights = np.array([LINE_HEIGHT * (text.count("\n") + 1) for text in texts], dtype=float)
    before = [float(path[max(0, len(path) - 1 - len(path) // 20), 1]) for path in paths]
    order = sorted(range(len(names)), key=lambda i: (round(float(paths[i][-1, 1])), before[i]))
    where = spread([float(paths[i][-1, 1]) for i in order], heights[order], (0.0, float(size[1])))
    centre = dict(zip(order, where.tolist(), strict=True))
    return [
        End(
            text,
            size[0] + GAP,
            centre[i],
            "left",
            float(paths[i][-1][0]),
            float(paths[i][-1][1]),
            True,
        )
        for i, text in enumerate(texts)
    ]


def spread(at: ArrayLike, heights: ArrayLike, bounds: tuple[float, float]) -> np.ndarray:
    """Centres of boxes in the given order that do not overlap and move least, in the sum of squares.

    Parameters
    ----------
    at : (n,) wanted centres, non-decreasing. heights : (n,) of the boxes. bounds : they stay within, if all fit.

    >>> spread([10, 10, 90], [20, 20, 20], (0, 100)).tolist()
    [10.0, 30.0, 90.0]
    >>> spread([50, 50, 90], [20, 20, 20], (0, 100)).tolist()
    [40.0, 60.0, 90.0]
    """
    at, heights = np.asarray(at, dtype=float), np.asarray(heights, dtype=float)
    if not at.size:
        return at
    offset = np.r_[0.0, np.cumsum((heights[1:] + heights[:-1]) / 2)]
    pools: list[list[float]] = []  # pool adjacent violators: [sum, count] of centres less offsets
    for value in at - offset:
        pools.append([value, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            total, count = pools.pop()
            pools[-1][0] += total
            pools[-1][1] += count
    level = np.concatenate([np.full(int(count), total / count) for total, count in pools])
    low, high = bounds[0] + heights[0] / 2, bounds[1] - heights[-1] / 2 - offset[-1]
    return np.clip(level, low, max(low, high)) + offset


def free_place(
    text: str, axis: str, at: Sequence[float], size: Size, paths: Sequence[np.ndarray]
) -> tuple[float, float, str]:
    """(x, y, alignment) of the label of a line across the plane: beside it, where it hides least of other lines.

    Parameters
    ----------
    axis : "x" for an upright line. at : (2,) a pixel on it; only its place on that axis counts. paths : (V, 2) each.
    """
    (x, y), (wide, high) = at, size
    if axis == "y":
        up, down, ends = y - 11, y + 12, ((wide - 6, "right"), (6, "left"), (wide / 2, "center"))
        places = [(where, level, align) for where, align in ends for level in (up, down)]
    else:
        sides = ((x + 7, "left"), (x - 7, "right"))
        places = [
            (where, level, align) for level in (12, high - 14, high / 2) for where, align in sides
        ]
    blocked = np.concatenate([densely(path) for path in paths])
    inside = [p for p in places if _fits_ends(outline(text, *p), size)] or places
    return min(
        inside, key=lambda p: int(hidden(outline(text, *p)[[0, 2]].ravel(), blocked, 3).sum())
    )


def _fits_ends(corners: np.ndarray, size: Size) -> bool:
    return bool((corners >= 0).all() and (corners <= size).all())


def outline(text: str, x: float, y: float, align: str) -> np.ndarray:
    """(5, 2) pixels around one line of text whose middle is at height y, from its upper left corner and back."""
    wide = width(text, False)
    left, top = x - {"left": 0.0, "center": 0.5, "right": 1.0}[align] * wide, y - 0.6 * FONT
    right, low = left + wide, y + 0.6 * FONT
    return np.array([[left, top], [right, top], [right, low], [left, low], [left, top]])
