"""Widgets for any page: precomputed frames on sliders, a question with a guess, points to drag."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import traitlets

from .. import checks
from ..charts.frame import (
    FONT,
    QUIET,
    Ranges,
    _checked,
    _dots,
    _Frame,
    _Layer,
    _systems_text,
    number,
)
from ..charts.labels import _label_layers, width
from ..charts.offline import drawn, picture
from .base import Widget, _static_page

_BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
_FILES = "interactive.css"
_GUESS = "#6b3fa0"  # as in common.css


def flipbook(
    frames: Sequence[Any] | Mapping[tuple[int, ...], Any],
    values: Sequence[Any] | Mapping[str, Sequence[Any]],
    *,
    control: str = "K",
    title: str = "",
    start: int | Sequence[int] = 0,
    button: str = "",
) -> _Flipbook:
    """Make a slider, or several, that selects one of many precomputed frames; few values are buttons.

    Parameters
    ----------
    frames : charts, texts, or (chart, text) pairs
        All charts should have the same axes. Texts may contain **bold** words. Marks with the `ariaRoleDescription`
        "sentence" show their `description` under the pointer.
    values : label of the slider at each frame
        For several sliders, name → values; `frames` then maps a tuple of positions to its frame.
    control : str
        Name of the slider.
    start : initial position, or one for each slider
    button : str
        Text of a button that moves to the next frame.
    """
    named = values if isinstance(values, Mapping) else {control: values}
    controls = [{"name": name, "values": [*map(str, some)]} for name, some in named.items()]
    places = [*product(*(range(len(one["values"])) for one in controls))]
    listed = [frames[p] for p in places] if isinstance(frames, Mapping) else [*frames]
    checks.same_length(frames=listed, places=places)
    charts, texts = zip(*map(_parts, listed), strict=True)
    pictures = {id(c): drawn(c) for c in charts if c is not None}
    pieces: dict[str, int] = {}
    shown = {
        key: {
            "svg": [pieces.setdefault(p, len(pieces)) for p in re.split(r"(?=<[a-z])", one["svg"])],
            "alt": one["alt"],
        }
        for key, one in pictures.items()
    }
    order = {key: k for k, key in enumerate(shown)}
    data = {
        "title": title,
        "controls": controls,
        "button": button,
        "pieces": [*pieces],
        "pictures": [*shown.values()],
        "charts": [order.get(id(chart), -1) for chart in charts],
        "texts": [*texts],
    }
    at = [start] * len(controls) if isinstance(start, int) else [*start]
    for k, (place, one) in enumerate(zip(at, controls, strict=True)):
        at[k] = checks.whole("start", place, 0, len(one["values"]) - 1)
    return _Flipbook.of(data=data, at=at[0] if len(at) == 1 else at)


def _parts(frame: Any) -> tuple[Any, str]:
    """(chart or None, text) of a frame."""
    if isinstance(frame, str):
        return None, frame
    return frame if isinstance(frame, tuple) else (frame, "")


class _Flipbook(Widget, files=f"flipbook.js {_FILES}"):
    """The widget that `flipbook` makes; `at` is the position of the slider, of several a list."""

    noun = "flipbook"
    at = traitlets.Any(0).tag(sync=True)

    def _where(self) -> tuple[int, str]:
        """Number of the frame on the screen, and its values."""
        at, controls = np.atleast_1d(self.at), self.data["controls"]
        k = np.ravel_multi_index(at, [len(one["values"]) for one in controls])
        said = [f"{c['name']} = {c['values'][i]}" for c, i in zip(controls, at, strict=True)]
        return int(k), ", ".join(said)

    def __repr__(self) -> str:
        n = len(self.data["charts"])
        return f"Flipbook({self._where()[1]}, {n} frames)"

    def static_html(self) -> str:
        (k, said), data = self._where(), self.data
        names = [(c["name"], v) for c in data["controls"][:1] for v in c["values"]]
        texts = data["texts"] if len(data["controls"]) == 1 else []
        items = [
            f"<li><b>{html.escape(f'{name} = {value}')}</b> {_bold(text)}</li>"
            for (name, value), text in zip(names, texts, strict=False)
            if text
        ]
        more = f"<ul>{''.join(items)}</ul>" if items else f"<p>{_bold(data['texts'][k])}</p>"
        words = f"<p>{html.escape(said)}</p>{more}"
        if (chart := data["charts"][k]) < 0:
            return (f"<p><b>{html.escape(data['title'])}</b></p>" if data["title"] else "") + words
        one = data["pictures"][chart]
        svg = "".join(data["pieces"][p] for p in one["svg"])
        return _static_page({"svg": svg, "alt": one["alt"]}, words, title=data["title"])


def guess(
    question: str,
    answer: tuple[Any, str],
    *,
    choices: Sequence[str] | None = None,
    range: tuple[float, ...] | None = None,
    unit: str = "",
    after: Any = None,
) -> _Guess:
    """Make a card with a question that shows its answer after a guess.

    Parameters
    ----------
    answer : (value, sentence)
        The value is one of the choices, or a number in the range. Both texts may contain **bold** words.
    choices : texts of the buttons
    range : (low, high) of a slider, or (low, high, step), or (low, high, step, start)
    unit : str
        Unit of the number, such as "points".
    after : chart, optional
        Shown with the answer.
    """
    value, sentence = answer
    data: dict[str, Any] = {"question": question, "sentence": sentence, "unit": unit}
    if choices is not None:
        known = [*checks.texts("choices", choices)]
        data |= {"choices": known, "value": checks.one_of(value, known, "choice")}
    else:
        low, high, *step = checks.finite("range", range or ()).tolist()
        steps = step[:1] or [10.0 ** np.floor(np.log10((high - low) / 20))]
        digits = max(0, -int(np.floor(np.log10(steps[0]) + 1e-9)))
        whole = abs(value - round(value, digits)) < 1e-9
        data |= {"low": low, "high": high, "step": steps[0], "digits": digits, "start": step[1:]}
        data |= {"value": float(value), "shown": number(value, digits + (not whole))}
    return _Guess.of(after, data=data | ({} if after is None else {"after": drawn(after)}))


class _Guess(Widget, files=f"guess.js {_FILES}"):
    """The widget that `guess` makes; `guess` is None, then the number or the choice of the reader."""

    noun = "question"
    guess = traitlets.Any(None, allow_none=True).tag(sync=True)

    def blank(self) -> dict[str, Any]:
        return {"guess": None}

    def __repr__(self) -> str:
        return f"Guess({self.data['question']!r}, guess={self.guess!r})"

    def static_html(self) -> str:
        data = self.data
        choices = "".join(f"<li>{html.escape(one)}</li>" for one in data.get("choices", ()))
        image = data.get("after")
        shown = picture({"description": image["alt"]}, svg=image["svg"]) if image else ""
        told = f"<details><summary>Answer</summary><p>{_bold(_told(data))}</p>{shown}</details>"
        return (
            f"<p><b>{_bold(data['question'])}</b></p>" + (choices and f"<ul>{choices}</ul>") + told
        )


def _told(data: Mapping[str, Any]) -> str:
    """The answer and its sentence."""
    unit = f"\u00a0{data['unit']}" if data["unit"] else ""
    value = f"{data.get('shown', data['value'])}{unit}".removesuffix(".")
    return f"{value}. {data['sentence']}"


def drag_points(
    points: pd.DataFrame,
    *,
    draggable: Iterable[str],
    hollow: Iterable[str] = (),
    readout: str = "pearson",
    title: str = "",
    label: str = "system",
    x: str = "naturalness",
    y: str = "accuracy",
    names: tuple[str, str] | None = None,
    ranges: Ranges | None = None,
    size: tuple[int, int] = (460, 360),
) -> _DragPoints:
    """Make a plane of labelled points, some of which can be dragged.

    Parameters
    ----------
    points : table with the columns `label`, `x` and `y`
    draggable : labels of the points that move
    hollow : labels of rings, which have no part in the correlation
    readout : {"pearson", "spearman", "hidden"}
        The correlation of all points; "hidden": a button reveals the true places.
    names : titles of the axes, by default the columns
    ranges : ((from, to) of x, (from, to) of y)
    """
    checks.one_of(readout, ("pearson", "spearman", "hidden"), "readout")
    table = _checked(points, (x, y), (x, y), name=label)
    table = table.assign(label=table[label].astype(str))
    known = table["label"].tolist()
    moved, rings = (
        [checks.one_of(n, known, "point") for n in some] for some in (draggable, hollow)
    )
    spans = [(float(table[c].min()), float(table[c].max())) for c in (x, y)]
    fits = [(a - 0.15 * (b - a or 1), b + 0.15 * (b - a or 1)) for a, b in spans]
    plane = _Frame(ranges or (fits[0], fits[1]), size, names or (x, y), fields=(x, y))
    free, fixed = table.set_index("label").loc[moved].reset_index(), table[~table.label.isin(moved)]
    named = _Layer(free, name="anxlabels").mark_text(align="left", dx=14, fontSize=FONT)
    leaders, texts, _ = _label_layers(fixed, plane, [], free.assign(label=""))
    solid = fixed[~fixed.label.isin(rings)]
    layers = [
        *leaders,
        _dots(solid, fill=QUIET).encode(**plane.channels),
        *([plane.rings(fixed[fixed.label.isin(rings)])] if rings else []),
        *texts,
        _dots(free, "anxdots", fill=_GUESS).encode(**plane.channels),
        named.encode(**plane.channels, text="label:N"),
    ]
    words = _systems_text(table.assign(system=table["label"]), (x, y))
    chart = plane.finished(layers, [words])
    if readout == "hidden":  # beside the map is where its points start
        wide = max(map(width, moved), default=0) + 50
        chart = chart.properties(padding={"left": 5, "top": 5, "bottom": 5, "right": wide})
    data = {
        "title": title,
        "readout": readout,
        "names": [*plane.titles],
        "moved": moved,
        "places": free[[x, y]].to_numpy().tolist(),
        "others": solid[[x, y]].to_numpy().tolist(),
    }
    return _DragPoints.of(chart, data=data | drawn(chart))


class _DragPoints(Widget, files=f"drag_points.js {_FILES}"):
    """The widget that `drag_points` makes; `places` maps each moved point to its [x, y]."""

    noun = "points to drag"
    places = traitlets.Dict().tag(sync=True)

    def blank(self) -> dict[str, Any]:
        return {"places": {}}

    def __repr__(self) -> str:
        return f"DragPoints({len(self.data['moved'])} to drag, {len(self.data['others'])} fixed)"

    def static_html(self) -> str:
        return _static_page(self.data, title=self.data["title"])


def _bold(text: str) -> str:
    """HTML of a text with **bold** words.

    >>> _bold("**a** < b")
    '<b>a</b> &lt; b'
    """
    return _BOLD.sub(r"<b>\1</b>", html.escape(text))
