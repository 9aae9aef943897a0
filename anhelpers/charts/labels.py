"""Labels: one engine puts a text where it hides least, and is off the frame, other labels and what must stay legible.

It names points, with a thin line where the text stands away, and leaves names out in a crowd; lines, beside the end of
each where the ends lie apart, else where the line is furthest from the others; and rules, which cross the plane.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .frame import Frame, Size
from .marks import FONT, LINE_HEIGHT, leader_layers, text_layers

__all__ = [
    "Label",
    "best_place",
    "label_layers",
    "name_lines",
    "place_labels",
    "width",
]

GAP = 26  # from the plane to the names beside it
NEAR = 0.15  # a line that ends in this last part of the width is named beside the plane
APART = 6  # pixels to every other line with which an end is an end of its own
# pixels by which a name in the plane is at least nearer to its own line than to any other
NEARER = 6
CLEAR = 20  # pixels to the middle of every other mark from a name that a line leads to
CLOSER = 8  # pixels by which a name without a line is nearer to the middle of its own mark than to that of any other
SAME = 2  # pixels within which two marks are one, which has both names
MARGIN = 40  # more pixels than this to other lines make a name no clearer
FAR = (64, 84, 108, 136, 170, 210, 260)  # how far away a name may stand that must not be missing
SIDES = ((1, 0), (-1, 0), (1, -1), (-1, 1), (1, 1), (-1, -1), (0, -1), (0, 1))
BETWEEN = tuple((x * a, y * b) for a, b in ((1, 0.41), (0.41, 1)) for x in (1, -1) for y in (-1, 1))
ALIGN = {1: "left", 0: "center", -1: "right"}  # of a text on this side of what it names
NOTHING = np.empty((0, 2))


@dataclass(frozen=True)
class Label:
    """Where a text is printed, in pixels from the left and from the upper side of the plane.

    Parameters
    ----------
    text : beside the plane with line ends. x, y : its anchor, in the middle of its height.
    align : "left", "center" or "right" of the anchor. bold : is wider.
    led : from where a thin line leads to it, None: no line. beside : outside the plane, to its right.
    cost : of this place, whatever it hides.
    """

    text: str
    x: float
    y: float
    align: str
    bold: bool = False
    led: tuple[float, float] | None = None
    beside: bool = False
    cost: float = 0.0

    @property
    def box(self) -> np.ndarray:
        """(4,) left, top, right and bottom of a text of one line."""
        wide, high = width(self.text, self.bold), 0.6 * FONT
        left = self.x - {"left": 0.0, "center": 0.5, "right": 1.0}[self.align] * wide
        return np.array([left, self.y - high, left + wide, self.y + high])

    @property
    def outline(self) -> np.ndarray:
        """(5, 2) pixels around a text of one line, from its upper left corner and back."""
        left, top, right, low = self.box
        return np.array([[left, top], [right, top], [right, low], [left, low], [left, top]])


def best_place(
    places: Iterable[Label],
    size: Size,
    *,
    edge: float = 0.0,
    boxes: Sequence[np.ndarray] = (),
    off: Sequence[tuple[np.ndarray, float]] = (),
    hides: tuple[np.ndarray, float] = (NOTHING, 0.0),
    cost: Callable[[Label], float] = lambda place: 0.0,
    wrong: Callable[[Label], bool] = lambda place: False,
) -> Label | None:
    """The cheapest of some places for a label, the first of equal ones; None where it can stand at none of them.

    Parameters
    ----------
    size : (width, height) of the plane, beyond which a label reaches by at most `edge` pixels: to the right and above,
        where no axis has its numbers.
    boxes : (4,) each, of labels over which it must not lie.
    off : ((n, 2) pixels, margin) each, of points that are not within that many pixels of it.
    hides : the same, of points that cost 1 each. cost : what else a place costs; infinite: it is none.
    wrong : whether it is none for another reason; asked last, as it may take its time.
    """
    least, best = math.inf, None
    taken = np.reshape(boxes, (-1, 4))
    for place in places:
        box = place.box
        outside = np.clip([-box[1], box[2] - size[0]], 0, None).sum()
        shared = np.minimum(taken[:, 2:], box[2:]) - np.maximum(taken[:, :2], box[:2])
        if outside > edge or box[0] < 0 or box[3] > size[1] or (shared > 0).all(axis=1).any():
            continue
        if any(_within(box, points, margin).any() for points, margin in off):
            continue
        paid = place.cost + cost(place) + _within(box, *hides).sum()
        if paid < least and not wrong(place):
            least, best = paid, place
    return best


def _within(box: np.ndarray, points: np.ndarray, margin: float) -> np.ndarray:
    """(n,) bool: a point lies in the box or within `margin` pixels of it."""
    return ((points > box[:2] - margin) & (points < box[2:] + margin)).all(axis=1)


def _away(box: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(n,) distance of points from a box, 0 inside."""
    return np.hypot(*np.clip(np.maximum(box[:2] - points, points - box[2:]), 0, None).T)


def width(text: str, bold: bool) -> float:
    """About how many pixels a label takes, rather too many: letters of sans-serif fonts in units of the font size.

    Parameters
    ----------
    bold : is wider.
    """
    return FONT * _units(text) * (1.08 if bold else 1)


@lru_cache(4096)
def _units(text: str) -> float:
    return sum(1.0 if ord(c) >= 0x2E80 else 0.7 if c.isupper() else 0.54 for c in text)


def densely(line: np.ndarray) -> np.ndarray:
    """Points at most 8 pixels apart along a polyline.

    Parameters
    ----------
    line : (n, 2) pixels.
    """
    at = np.r_[0.0, np.cumsum(np.hypot(*np.diff(line, axis=0).T))]
    where = np.linspace(0, at[-1], int(at[-1] // 8) + 2)
    return np.stack([np.interp(where, at, line[:, i]) for i in (0, 1)], axis=1)


def _dense(lines: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate([NOTHING, *map(densely, lines)])


def label_layers(
    named: pd.DataFrame, lines: Sequence[np.ndarray], plane: Frame
) -> tuple[list[alt.Chart], list[alt.Chart], list[str]]:
    """Thin lines to labels that had to move away (to go under the marks), text layers, the labels left out for space.

    Parameters
    ----------
    named : a row per label, the most important first: label, bold, the fields of the plane, and where it is not black
        ink. lines : (V, 2) pixels of polylines to keep clear of. plane : that the labels stand on.
    """
    texts = named["label"].tolist()
    at, inks = plane.at(named), named.get("ink", pd.Series("#000000", named.index))
    placed = place_labels(at, texts, lines, plane.size, bold=named["bold"])
    shown = [(place, ink) for place, ink in zip(placed, inks, strict=True) if place]
    labels, inks = [place for place, _ in shown], [ink for _, ink in shown]
    unnamed = [text for text, place in zip(texts, placed, strict=True) if not place]
    return leader_layers(labels, plane), text_layers(labels, inks, plane), unnamed


def named_points(
    systems: pd.DataFrame | None = None,
    marks: pd.DataFrame | None = None,
    bold: np.ndarray | bool = False,
) -> pd.DataFrame:
    """The table of `label_layers`: the systems in bold, the labelled marks of a curve, then the other systems."""
    none = pd.DataFrame(columns=["label", "naturalness", "accuracy", "bold"])
    systems = none if systems is None else systems.assign(label=systems["system"], bold=bold)
    first = systems["bold"].to_numpy(dtype=bool)
    marks = none if marks is None else marks.assign(bold=False)
    parts = [systems[first], marks, systems[~first]]
    known = [part[none.columns] for part in parts if len(part)] or [none]
    kinds = {"label": str, "naturalness": float, "accuracy": float, "bold": bool}
    return pd.concat(known, ignore_index=True).astype(kinds)


def bar_lines(systems: pd.DataFrame, plane: Frame) -> list[np.ndarray]:
    """(2, 2) pixels of the two ends of every interval bar."""
    spans = [(column, f"{column}_low", f"{column}_high") for column in plane.fields]
    return [
        line for span in spans if {*span} <= {*systems} for line in bar_ends(systems, plane, *span)
    ]


def bar_ends(rows: pd.DataFrame, plane: Frame, column: str, *ends: str) -> list[np.ndarray]:
    """(2, 2) pixels of the two ends of each row's bar, across the place that the row has in a column."""
    known = rows.dropna(subset=[*ends])
    at = [plane.at(known.assign(**{column: known[end]})) for end in ends]
    return list(np.stack(at, axis=1))


def place_labels(
    points: np.ndarray,
    texts: Sequence[str],
    lines: Sequence[np.ndarray],
    size: Size,
    *,
    bold: Sequence[bool] | None = None,
) -> list[Label | None]:
    """Each label at that of 24 places around its point which hides least, led to it where that is far away.

    None for a label that would run into another, out of the plane, or be read as another point's: a crowd stays
    readable, and tooltips and tables name everybody. A bold one goes farther away, on a line, before it is left out.

    Parameters
    ----------
    points : (n, 2) pixels; texts : n labels, the most important first; lines : (V, 2) pixels of polylines to keep
        clear of; size : of the plane; bold : which labels are.
    """
    blocked = np.concatenate([points, _dense(lines)])
    bold = [False] * len(texts) if bold is None else bold
    boxes: list[np.ndarray] = []
    leaders, placed = NOTHING, []
    for own, (mark, text, heavy) in enumerate(zip(points, texts, bold, strict=True)):
        mistaken = partial(_misread, mark=mark, others=np.delete(points, own, axis=0), boxes=boxes)
        near: dict[str, Any] = {
            "edge": FONT / 2,
            "boxes": boxes,
            "hides": (blocked, 5),
        }  # half a letter
        off = [(leaders, 0)]
        best = best_place(_around(mark, text, bool(heavy)), size, off=off, wrong=mistaken, **near)
        if heavy and not best:
            far = list(_around(mark, text, True, FAR))
            best = best_place(far, size, off=off, wrong=mistaken, **near)
            # rather across the line of another name than without a name
            best = best or best_place(far, size, wrong=mistaken, **near)
        placed.append(best)
        if best:
            boxes.append(best.box)
            leaders = np.vstack([leaders, _leader(mark, best)])
    return placed


def _around(
    mark: np.ndarray, text: str, bold: bool, gaps: Sequence[float] = (14, 28, 46)
) -> Iterable[Label]:
    """8 places around a point in each distance, 24; 16 in each that is large."""
    for ring, gap in enumerate(gaps):
        for dx, dy in SIDES if gap < FAR[0] else (*SIDES, *BETWEEN):
            reach = gap / math.hypot(dx, dy)
            x, y = mark[0] + dx * reach, mark[1] + dy * (reach + FONT * 0.3)
            led = (float(mark[0]), float(mark[1])) if gap > 14 else None
            align = ALIGN[round(dx)]
            yield Label(text, float(x), float(y), align, bold, led, cost=0.3 * ring)


def _misread(
    place: Label, *, mark: np.ndarray, others: np.ndarray, boxes: Sequence[np.ndarray]
) -> bool:
    """Whether a label would be read as another mark's, or its line pass another mark or a label."""
    elsewhere = others[np.hypot(*(others - mark).T) > SAME]
    least = CLEAR if place.led else _away(place.box, mark[None])[0] + CLOSER
    if _away(place.box, elsewhere).min(initial=99) < least:
        return True
    line = _leader(mark, place)
    gaps = np.hypot(*(line[:, None] - others[None]).T)
    return bool((gaps < 10).any()) or any(_within(box, line, 0).any() for box in boxes)


def _leader(mark: np.ndarray, place: Label) -> np.ndarray:
    """(m, 2) points along the line from a mark to its label: none where the label is near."""
    if not place.led:
        return NOTHING
    line = densely(np.stack([mark, np.array([place.x, place.y])]))
    return line[np.hypot(*(line - mark).T) > 10]


def name_lines(
    names: Sequence[str],
    paths: Sequence[np.ndarray],
    size: Size,
    obstacles: Sequence[np.ndarray] = (),
) -> list[Label]:
    """One name per line, none over another name, each nearer to its own line than to the others or led to it.

    Parameters
    ----------
    names : n texts; those beside the plane are wrapped to at most 26 letters a line.
    paths : n polylines, (V_i, 2) pixels, V_i >= 1, finite.
    size : (width, height) of the plane.
    obstacles : more polylines that a name inside the plane keeps clear of.
    """
    dense = [densely(path) for path in paths]
    blocked = _dense(obstacles)
    labels: dict[int, Label] = {}
    for i, name in enumerate(names):
        others = np.concatenate([NOTHING, *dense[:i], *dense[i + 1 :]])
        own_end = bool(_away(np.tile(dense[i][-1], 2), others).min(initial=np.inf) >= APART)
        if own_end and dense[i][-1, 0] >= (1 - NEAR) * size[0]:
            continue
        full = np.concatenate([blocked, _dense(label.outline for label in labels.values())])
        # it is worth 12 pixels of clearance to stand at the line's end
        places = _along(name, dense[i], 12.0 * own_end)
        best = best_place(
            places,
            size,
            off=[(full, 3), (dense[i], 4)],
            cost=partial(_unclear, own=dense[i], others=others),
        )
        if best:
            labels[i] = best
    rest = [i for i in range(len(names)) if i not in labels]
    beside = _beside([names[i] for i in rest], [paths[i] for i in rest], size)
    labels |= dict(zip(rest, beside, strict=True))
    return [labels[i] for i in range(len(names))]


def _along(text: str, line: np.ndarray, at_end: float) -> Iterable[Label]:
    """Places on all sides of every other point of a line, from its end on."""
    for k in range(len(line) - 1, -1, -2):
        for dy in (-1, 1, 0):
            for dx in (1, -1, 0) if dy else (1, -1):
                x, y = line[k] + np.array([9 * dx, 15 * dy])
                cost = -at_end * (k == len(line) - 1)
                yield Label(text, float(x), float(y), ALIGN[dx], cost=cost)


def _unclear(place: Label, *, own: np.ndarray, others: np.ndarray) -> float:
    """By how many pixels a name is less near to other lines than to its own, negated; infinite where it is mistaken."""
    to_own, to_others = (_away(place.box, points) for points in (own, others))
    clear = min(MARGIN, to_others.min(initial=MARGIN)) - to_own.min()
    return math.inf if clear < NEARER else -clear


def _beside(names: Sequence[str], paths: Sequence[np.ndarray], size: Size) -> list[Label]:
    """Names right of the plane, as near to the heights at which their lines end as their own heights allow."""
    texts = ["\n".join(textwrap.wrap(name, 26)) or name for name in names]
    heights = np.array([LINE_HEIGHT * (text.count("\n") + 1) for text in texts], dtype=float)
    before = [float(path[max(0, len(path) - 1 - len(path) // 20), 1]) for path in paths]
    ends = [(float(path[-1, 0]), float(path[-1, 1])) for path in paths]
    order = sorted(range(len(names)), key=lambda i: (round(ends[i][1]), before[i]))
    where = spread([ends[i][1] for i in order], heights[order], (0.0, float(size[1])))
    centre = dict(zip(order, where.tolist(), strict=True))
    return [
        Label(text, size[0] + GAP, centre[i], "left", led=ends[i], beside=True)
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
) -> Label:
    """The label of a line across the plane: beside it, where it hides least of other lines.

    Parameters
    ----------
    axis : "x" for an upright line. at : (2,) a pixel on it; only its place on that axis counts. paths : (V, 2) each.
    """
    (x, y), (wide, high) = at, size
    if axis == "y":
        ends = ((wide - 6, "right"), (6, "left"), (wide / 2, "center"))
        places = [Label(text, end, y + dy, align) for end, align in ends for dy in (-11, 12)]
    else:
        sides = ((x + 7, "left"), (x - 7, "right"))
        levels = (12, high - 14, high / 2)
        places = [Label(text, side, level, align) for level in levels for side, align in sides]
    hides = (_dense(paths), 3.0)
    best = best_place(places, size, hides=hides)
    return best or best_place(places, size, edge=math.inf, hides=hides) or places[0]
