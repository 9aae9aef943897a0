"""Labels: greedy placement of the names of points, lines and rules, and the layers that draw them."""

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .frame import FONT, INKS, QUIET, Size, _Frame, _Layer

LINE_HEIGHT = 20  # px
_SIDES = ((1, 0), (-1, 0), (1, -1), (-1, 1), (1, 1), (-1, -1), (0, -1), (0, 1))
# px from a mark to its label; the last three for bold labels only
_GAPS = (14, 28, 46, 72, 104, 140)
Rule = tuple[str, float, str]  # "x" or "y", value, label
_ALIGN = {1: "left", 0: "center", -1: "right"}
_NOTHING = np.empty((0, 2))
_HALO = {"stroke": "#FFFFFF", "strokeWidth": 4, "strokeOpacity": 0.85, "strokeJoin": "round"}


@dataclass(frozen=True)
class _Label:
    """Text at a place on the plane, in pixels from its left and top.

    Parameters
    ----------
    x, y : anchor, in the middle of the height
    align : "left", "center" or "right" of the anchor
    led : start of a leader line, or None
    beside : right of the plane
    """

    text: str
    x: float
    y: float
    align: str = "left"
    bold: bool = False
    ink: str = "#000000"
    led: tuple[float, float] | None = None
    beside: bool = False

    @property
    def box(self) -> np.ndarray:
        """(4,) left, top, right and bottom of a text of one line."""
        wide, high = width(self.text, self.bold), 0.6 * FONT
        left = self.x - {"left": 0.0, "center": 0.5, "right": 1.0}[self.align] * wide
        return np.array([left, self.y - high, left + wide, self.y + high])

    @property
    def outline(self) -> np.ndarray:
        """(n, 2) points around a text of one line."""
        x, y = self.box[[0, 2, 2, 0, 0]], self.box[[1, 1, 3, 3, 1]]
        return _densely(np.stack([x, y], axis=1))


def width(text: str, bold: bool = False) -> float:
    """Approximate width of a text in pixels, rather too large."""
    units = sum(1.0 if ord(c) >= 0x2E80 else 0.72 if c.isupper() else 0.57 for c in text)
    return FONT * units * (1.08 if bold else 1)


def _densely(line: np.ndarray) -> np.ndarray:
    """Points at most 8 px apart along a polyline of (n, 2) pixels."""
    at = np.r_[0.0, np.cumsum(np.hypot(*np.diff(line, axis=0).T))]
    where = np.linspace(0, at[-1], int(at[-1] // 8) + 2)
    return np.stack([np.interp(where, at, line[:, i]) for i in (0, 1)], axis=1)


def _best(
    places: Iterable[_Label],
    size: Size,
    cost: Callable[[_Label], float],
    boxes: Sequence[np.ndarray] = (),
    edge: float = FONT / 2,
) -> _Label | None:
    """Cheapest place, inside the plane (but for `edge` px at the top and right) and over no box."""
    least, best, taken = math.inf, None, np.reshape(boxes, (-1, 4))
    for place in places:
        left, top, right, low = place.box
        if left < 0 or low > size[1] or max(-top, right - size[0]) > edge:
            continue
        shared = np.minimum(taken[:, 2:], (right, low)) - np.maximum(taken[:, :2], (left, top))
        if not (shared > 0).all(axis=1).any() and (paid := cost(place)) < least:
            least, best = paid, place
    return best


def _inside(box: np.ndarray, points: np.ndarray, margin: float = 0) -> int:
    return ((points > box[:2] - margin) & (points < box[2:] + margin)).all(axis=1).sum()


def _away(box: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(n,) distances of points from a box, 0 inside."""
    return np.hypot(*np.clip(np.maximum(box[:2] - points, points - box[2:]), 0, None).T)


def _point_cost(place: _Label, mark: Any, others: Any, blocked: Any, boxes: Any) -> float:
    """Cost of a label near its mark, infinite where it is read as the name of another point."""
    if _inside(place.box, others, 4):
        return math.inf
    own = math.hypot(place.x - mark[0], place.y - mark[1])
    leader = _densely(np.array([mark, (place.x, place.y)]))
    wrong = _away(place.box, others).min(initial=99) < _GAPS[0]
    wrong |= np.hypot(*(leader[:, None] - others[None]).T).min(initial=99) < 7
    wrong |= any(_inside(box, leader) for box in boxes)
    if wrong and not place.bold:
        return math.inf
    return 0.05 * own + _inside(place.box, blocked, 5) + 20 * wrong


def _line_cost(place: _Label, own: Any, others: Any, taken: Any, end: float) -> float:
    """Cost of a label at its line, infinite where it covers one or is nearer to another."""
    if _inside(place.box, taken, 3) or _inside(place.box, own, 4):
        return math.inf
    clear = min(40, _away(place.box, others).min(initial=40)) - _away(place.box, own).min()
    return math.inf if clear < 6 else -clear - 12 * (abs(place.x - end) < 10)


def _place_labels(
    points: np.ndarray,
    texts: Sequence[str],
    lines: Sequence[np.ndarray],
    size: Size,
    *,
    bold: Sequence[bool] | None = None,
    inks: Sequence[str] | None = None,
) -> list[_Label | None]:
    """Place each label in turn at one of 8 sides × 3 distances of its point; None if there is no room.

    Parameters
    ----------
    points : (n, 2) pixels, the most important first; a label is never nearest to another point,
        unless it is bold
    lines : (V, 2) pixels of polylines to avoid
    bold : labels that may move farther away, on a leader line
    """
    blocked = np.concatenate([points, *map(_densely, lines)])
    boxes: list[np.ndarray] = []
    placed: list[_Label | None] = []
    for i, (mark, text) in enumerate(zip(points, texts, strict=True)):
        heavy = bool(bold is not None and bold[i])
        others = points[np.hypot(*(points - mark).T) > 2]

        cost = partial(_point_cost, mark=mark, others=others, blocked=blocked, boxes=boxes)
        around = [
            _Label(
                text,
                float(mark[0] + dx * gap / math.hypot(dx, dy)),
                float(mark[1] + dy * (gap / math.hypot(dx, dy) + 0.3 * FONT)),
                _ALIGN[dx],
                heavy,
                inks[i] if inks else "#000000",
                (float(mark[0]), float(mark[1])) if gap > _GAPS[0] else None,
            )
            for gap in _GAPS[: 6 if heavy else 3]
            for dx, dy in _SIDES
        ]
        best = _best(around, size, cost, boxes)
        placed.append(best)
        if best:
            boxes.append(best.box)
            if best.led:
                leader = _densely(np.array([best.led, (best.x, best.y)]))
                blocked = np.concatenate([blocked, leader])
    return placed


def _label_layers(
    rows: pd.DataFrame,
    plane: _Frame,
    lines: Sequence[np.ndarray],
    marks: pd.DataFrame | None = None,
) -> tuple[list[alt.Chart], list[alt.Chart], list[str]]:
    """Leader lines (to draw below the marks), texts, and the labels without room.

    Parameters
    ----------
    rows : label or system, the fields of the plane; optional bold, ink
    lines : (V, 2) pixels of polylines to avoid
    marks : further points with labels, placed after the bold rows and before the others
    """
    rows = rows.assign(label=rows["label" if "label" in rows else "system"])
    bold = rows["bold"].astype(bool) if "bold" in rows else False
    parts = [rows.assign(bold=bold, rank=np.where(bold, 0, 2) + np.zeros(len(rows)))]
    parts += [] if marks is None else [marks.assign(bold=False, rank=1.0)]
    rows = pd.concat([part for part in parts if len(part)] or parts)
    rows = rows.sort_values("rank", kind="stable")
    texts = rows["label"].astype(str).tolist()
    inks = rows["ink"].tolist() if "ink" in rows else None
    look: Any = {"bold": rows["bold"].tolist(), "inks": inks}
    placed = _place_labels(plane.at(rows), texts, lines, plane.size, **look)
    unnamed = [text for text, place in zip(texts, placed, strict=True) if not place]
    return *_drawn_labels([place for place in placed if place], plane), unnamed


def _drawn_labels(
    labels: Sequence[_Label], plane: _Frame, name: str = ""
) -> tuple[list[alt.Chart], list[alt.Chart]]:
    """Layers of leader lines, in grey or named and in the labels' inks, and of texts with a halo."""
    led = [label for label in labels if label.led and label.text]
    leaders = []
    if led:
        ends = np.array([(*(one.led or ()), one.x - 4 * one.beside, one.y) for one in led])
        both = np.stack([*plane.values(ends[:, :2]), *plane.values(ends[:, 2:])], axis=1)
        frame = pd.DataFrame(both, columns=[*plane.fields, "to_x", "to_y"])
        frame["ink"] = [one.ink if name else "#444444" for one in led]
        rule = _Layer(frame, name=name or alt.Undefined)
        mark = rule.mark_rule(strokeWidth=1.5 if name else 1)
        ink = alt.Color("ink:N", scale=None)
        to = {"x2": alt.X2("to_x:Q"), "y2": alt.Y2("to_y:Q")}
        leaders.append(mark.encode(**plane.channels, **to, color=ink))
    layers = _texts([label for label in labels if not label.beside], plane, **_HALO)
    layers += _texts(labels, plane)
    return leaders, layers


def _texts(labels: Sequence[_Label], plane: _Frame, **look: object) -> list[alt.Chart]:
    """Layer for each alignment and weight."""
    layers = []
    for align, bold in sorted({(label.align, label.bold) for label in labels}):
        own = [label for label in labels if (label.align, label.bold) == (align, bold)]
        at = [(o.x, o.y - LINE_HEIGHT * o.text.count("\n") / 2) for o in own]
        frame = pd.DataFrame(dict(zip(plane.fields, plane.values(at), strict=True)))
        frame = frame.assign(label=[o.text for o in own], ink=[o.ink for o in own])
        more: Any = {"align": align, "fontSize": FONT, "baseline": "middle", **look}
        more |= {"fontWeight": "bold"} if bold else {}
        mark = _Layer(frame).mark_text(lineBreak="\n", lineHeight=LINE_HEIGHT, **more)
        text, ink = alt.Text("label:N"), alt.Fill("ink:N", scale=None)
        layers.append(mark.encode(**plane.channels, text=text, fill=ink))
    return layers


def _name_lines(
    names: Sequence[str],
    paths: Sequence[np.ndarray],
    size: Size,
    obstacles: Sequence[np.ndarray] = (),
    inks: Sequence[str] = INKS,
) -> list[_Label]:
    """Name each line in the plane, where it is nearer to it than to others, else beside the plane.

    Parameters
    ----------
    paths : n polylines, (V_i, 2) finite pixels; obstacles : more polylines to avoid
    """
    dense = [_densely(path) for path in paths]
    blocked = np.concatenate([_NOTHING, *map(_densely, obstacles)])
    labels: dict[int, _Label] = {}
    for i, (name, own) in enumerate(zip(names, dense, strict=True)):
        others = np.concatenate([_NOTHING, *dense[:i], *dense[i + 1 :]])
        alone = np.hypot(*(others - own[-1]).T).min(initial=99) >= 6
        if alone and own[-1, 0] >= 0.85 * size[0]:
            continue
        taken = np.concatenate([blocked, *(label.outline for label in labels.values())])

        end = own[-1, 0] if alone else math.nan
        cost = partial(_line_cost, own=own, others=others, taken=taken, end=end)
        along = [
            _Label(name, x + 9 * dx, y + 15 * dy, _ALIGN[dx], ink=inks[i])
            for x, y in own[::-2].tolist()
            for dx, dy in _SIDES
        ]
        if best := _best(along, size, cost, edge=0):
            labels[i] = best
    rest = [i for i in range(len(names)) if i not in labels]
    texts = ["\n".join(textwrap.wrap(names[i], 26)) or names[i] for i in rest]
    before = [paths[i][max(0, len(paths[i]) - 1 - len(paths[i]) // 20), 1] for i in rest]
    order = sorted(range(len(rest)), key=lambda k: (round(paths[rest[k]][-1, 1]), before[k]))
    heights = [LINE_HEIGHT * (texts[k].count("\n") + 1) for k in order]
    levels = _spread([paths[rest[k]][-1, 1] for k in order], heights, size[1])
    for k, level in zip(order, levels.tolist(), strict=True):
        x, y = paths[rest[k]][-1].tolist()
        look: Any = {"ink": inks[rest[k]], "led": (x, y), "beside": True}
        labels[rest[k]] = _Label(texts[k], size[0] + 26.0, level, **look)
    return [labels[i] for i in range(len(names))]


def _spread(at: ArrayLike, heights: ArrayLike, most: float) -> np.ndarray:
    """Centres of boxes in the given order, near (n,) wanted ones, without overlap and within [0, most].

    >>> _spread([10, 10, 90], [20, 20, 20], 100).tolist()
    [10.0, 30.0, 90.0]
    """
    at, heights = np.asarray(at, dtype=float), np.asarray(heights, dtype=float)
    if not at.size:
        return at
    offset = np.r_[0.0, np.cumsum((heights[1:] + heights[:-1]) / 2)]
    level = at - offset
    down, up = np.maximum.accumulate(level), np.minimum.accumulate(level[::-1])[::-1]
    low, high = heights[0] / 2, most - heights[-1] / 2 - offset[-1]
    return np.clip((down + up) / 2, low, max(low, high)) + offset


def _rule_layers(
    rules: Sequence[Rule], paths: Sequence[np.ndarray], plane: _Frame
) -> tuple[list[alt.Chart], list[np.ndarray]]:
    """Dashed lines across the plane with labels, and (V, 2) pixels of both."""
    layers, labels, (wide, high) = [], [], plane.size
    fields = dict(zip("xy", plane.fields, strict=True))
    at = [plane.pixels([v if a == "x" else 1.0], [v if a == "y" else 1.0])[0] for a, v, _ in rules]
    drawn = [
        np.array([[x, 0], [x, high]] if axis == "x" else [[0, y], [wide, y]])
        for (x, y), (axis, _, _) in zip(at, rules, strict=True)
    ]
    outlines: list[np.ndarray] = []
    for k, (axis, value, text) in enumerate(rules):
        rule = _Layer(pd.DataFrame({fields[axis]: [value]}))
        mark = rule.mark_rule(color=QUIET, strokeWidth=1.5, strokeDash=[4, 4])
        layers.append(mark.encode(**{axis: plane.channels[axis]}))
        others = [*paths, *drawn[:k], *drawn[k + 1 :], *outlines]
        labels.append(_rule_label(text, axis, at[k], plane.size, others))
        outlines.append(labels[-1].outline)
    return [*layers, *_drawn_labels(labels, plane)[1]], [*drawn, *outlines]


def _rule_label(
    text: str, axis: str, at: np.ndarray, size: Size, paths: Sequence[np.ndarray]
) -> _Label:
    """Label of a line across the plane, where it covers least.

    Parameters
    ----------
    axis : "x" of an upright line; at : (2,) a pixel on it; paths : (V, 2) polylines to avoid
    """
    (x, y), (wide, high) = at.tolist(), size
    if axis == "y":
        ends = ((wide - 6, "right"), (6, "left"), (wide / 2, "center"))
        found = [(end, y + dy, align) for end, align in ends for dy in (-11, 12)]
    else:
        sides, levels = ((x + 7, "left"), (x - 7, "right")), (12, high - 14, high / 2)
        found = [(side, level, align) for level in levels for side, align in sides]
    places = [_Label(text, left, level, align, ink=QUIET) for left, level, align in found]
    blocked = np.concatenate([_NOTHING, *map(_densely, paths)])
    best = _best(places, size, lambda place: float(_inside(place.box, blocked, 3)), edge=0)
    return best or places[0]
