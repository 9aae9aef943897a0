"""Names of lines: beside the end of each where the ends lie apart, else where the line is furthest from the others."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .axes import Size
from .labels import densely, hidden, width
from .marks import FONT

__all__ = ["End", "name_lines", "spread"]

LINE_HEIGHT = 20  # of a label, in pixels
GAP = 26  # from the plane to the names beside it
NEAR = 0.15  # a line that ends in this last part of the width is named beside the plane
APART = 6  # pixels to every other line with which an end is an end of its own
PLACES = [(dx, dy) for dy in (-1, 1, 0) for dx in (1, -1, 0) if dx or dy]
# pixels by which a name in the plane is at least nearer to its own line than to any other
NEARER = 6
AIR = 40  # more pixels than this to other lines make a name no clearer


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
                not _fits(corners, size)
                or hidden(box, blocked, 3).any()
                or hidden(box, own, 4).any()
            ):
                continue
            clear = min(AIR, _away(box, others).min(initial=AIR)) - _away(box, own).min()
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
    inside = [p for p in places if _fits(outline(text, *p), size)] or places
    return min(
        inside, key=lambda p: int(hidden(outline(text, *p)[[0, 2]].ravel(), blocked, 3).sum())
    )


def _fits(corners: np.ndarray, size: Size) -> bool:
    return bool((corners >= 0).all() and (corners <= size).all())


def outline(text: str, x: float, y: float, align: str) -> np.ndarray:
    """(5, 2) pixels around one line of text whose middle is at height y, from its upper left corner and back."""
    wide = width(text, False)
    left, top = x - {"left": 0.0, "center": 0.5, "right": 1.0}[align] * wide, y - 0.6 * FONT
    right, low = left + wide, y + 0.6 * FONT
    return np.array([[left, top], [right, top], [right, low], [left, low], [left, top]])
