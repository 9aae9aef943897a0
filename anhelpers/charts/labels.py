"""Names beside points: none is printed over another name or over another point; in a crowd some are left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from .axes import Plane, Size
from .marks import FONT

__all__ = ["densely", "hidden", "label_layers", "place_labels", "width"]

# under a label, so that it is legible across a bar
HALO = {"stroke": "#FFFFFF", "strokeWidth": 4, "strokeOpacity": 0.85, "strokeJoin": "round"}


def label_layers(
    named: pd.DataFrame, lines: Sequence[np.ndarray], plane: Plane
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


def bar_lines(systems: pd.DataFrame, plane: Plane) -> list[np.ndarray]:
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


def hidden(box: np.ndarray, points: np.ndarray, air: float) -> np.ndarray:
    """(n,) bool: a point lies in the box or within `air` pixels of it.

    Parameters
    ----------
    box : (4,) left, top, right, bottom. points : (n, 2) pixels.
    """
    return ((points > box[:2] - air) & (points < box[2:] + air)).all(axis=1)


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
