"""A slider over a grid of places, for what Python has computed at each of them: lines, rows with bars, a sentence.

The explorers of a shifting world, of false distances and of powers are of this kind; grids.js looks everything up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import traitlets

from .. import checks
from ..charts.frame import number
from ..charts.grids import plot_grid
from ..errors import DataError
from .base import Widget, drawn, module, plain_table, static_page, styles

__all__ = ["GridExplorer", "Quantity", "View", "grid_explorer"]


@dataclass(frozen=True)
class Quantity:
    """A quantity at every place of the grid, printed with its unit, and drawn as a bar.

    Parameters
    ----------
    name, unit : what it is. values : (G,). digits : decimals.
    low, high : (G,) between which 95 % of repetitions lie, or None.
    """

    name: str
    values: Any
    unit: str = ""
    low: Any = None
    high: Any = None
    digits: int = 2


@dataclass(frozen=True)
class View:
    """What one choice shows: lines over the grid, rows, and a sentence for every place.

    Parameters
    ----------
    lines : series → (G,) values. rows : below the slider. said : (G,) sentences. text : of all places.
    rules : as in `charts.plot_lines`.
    """

    lines: Mapping[str, Any]
    rows: Sequence[Quantity]
    said: Sequence[str]
    text: str = ""
    rules: Sequence[tuple[str, float, str]] = ()


def grid_explorer(
    x: Any,
    views: Mapping[str, View],
    *,
    place: int,
    stops: Sequence[int],
    words: Mapping[str, str],
    log_x: bool = False,
    title: str = "",
) -> GridExplorer:
    """A slider over the grid, a choice among the views, and what was computed at that place.

    The pictures of all views have one scale, from 0 on. On the page their lines appear as one drags.

    Parameters
    ----------
    x : (G,) the grid. views : name → View. place : where the slider starts. stops : places that the buttons go to.
    words : sign (printed before a place's value), label (of the slider), choose (of the views), x_title and y_title (of
        the picture). log_x : a logarithmic axis. title : the claim.
    """
    x = checks.finite("x", x)
    names = [str(name) for name in views]
    heights = [np.asarray(y, dtype=float) for view in views.values() for y in view.lines.values()]
    reach = [0.0, float(np.min(heights)), float(np.max(heights))]
    look = {"log_x": log_x, "place": place, "reach": reach}
    pairs = {name: _view(x, view, words, look) for name, view in views.items()}
    data = {
        "title": title,
        "words": {key: words[key] for key in ("label", "choose")},
        "places": [f"{words['sign']} = {value:.4g}" for value in x],
        "x": np.log10(x).tolist() if log_x else x.tolist(),
        "stops": sorted({int(stop) for stop in stops}),
        "views": [view | {"name": str(name)} for name, (view, _) in pairs.items()],
    }
    charts = {str(name): chart for name, (_, chart) in pairs.items()}
    made = GridExplorer.of(charts[names[0]], data=data, place=place, view=names[0])
    made.given = dict(zip(names, views.values(), strict=True))
    return made


class GridExplorer(Widget):
    """A slider over a grid of places, lines with a mark on each, and rows of numbers.

    place : the place on the grid, from 0. view : the name of what is seen. Both follow the page and can be set.
    """

    _esm = module("grids.js")
    _css = styles("grids.css")
    noun = "explorer"
    given: Mapping[str, View] = MappingProxyType({})
    place = traitlets.Int(0).tag(sync=True)
    view = traitlets.Unicode("").tag(sync=True)

    @traitlets.validate("place")
    def _valid_place(self, proposal: Any) -> Any:
        place, n = proposal["value"], len(self.data.get("places", []))
        if n and not 0 <= place < n:
            raise DataError(f"place is {place}; the grid has the places 0 to {n - 1}.")
        return place

    @traitlets.validate("view")
    def _valid_view(self, proposal: Any) -> Any:
        known = [view["name"] for view in self.data.get("views", [])]
        return checks.one_of(proposal["value"], known, "view") if known else proposal["value"]

    def values(self) -> pd.DataFrame:
        """name, value, low, high, unit: the rows of the place and the view (nan: no interval)."""

        def there(values: Any) -> float:
            return math.nan if values is None else float(values[self.place])

        rows = [
            (row.name, there(row.values), there(row.low), there(row.high), row.unit)
            for row in self.given[self.view].rows
        ]
        return pd.DataFrame(rows, columns=["name", "value", "low", "high", "unit"])

    def said(self) -> str:
        """The sentence of the place and the view."""
        return self.given[self.view].said[self.place]

    def __repr__(self) -> str:
        here = self.data["places"][self.place] if self.data else "nothing"
        return f"GridExplorer({self.view}, {here}: {self.said() if self.given else ''})"

    def static_html(self) -> str:
        data = self.data
        words = [(f"{view['name']}.", view["text"]) for view in data["views"]]
        tables = [_static_table(data, view) for view in data["views"]]
        return static_page(data["views"][0], *tables, title=data["title"], words=words)


def _view(
    x: np.ndarray, view: View, words: Mapping[str, str], look: Mapping[str, Any]
) -> tuple[dict[str, Any], Any]:
    """What a page needs of a view, and its chart."""
    parts = [pd.DataFrame({"series": name, "x": x, "y": y}) for name, y in view.lines.items()]
    titles: dict[str, Any] = {"x_title": words["x_title"], "y_title": words["y_title"]}
    lines = pd.concat(parts)
    chart, box = plot_grid(lines, **titles, **look, rules=view.rules)
    shown = {
        "text": view.text,
        "said": list(view.said),
        "box": box,
        "names": [*view.lines],
        "y": [np.asarray(y, dtype=float).tolist() for y in view.lines.values()],
        "rows": _rows(view.rows),
    }
    return shown | drawn(chart), chart


def _rows(rows: Sequence[Quantity]) -> list[dict[str, Any]]:
    """Texts and bars, as shares of a track that rows of one unit have in common."""
    spans: dict[str, list[float]] = {}
    for row in rows:
        ends = [part for part in (row.values, row.low, row.high) if part is not None]
        low, high = spans.get(row.unit, [0.0, 0.0])
        spans[row.unit] = [min(low, *map(np.min, ends)), max(high, *map(np.max, ends))]
    return [_row(row, *map(float, spans[row.unit])) for row in rows]


def _row(row: Quantity, least: float, most: float) -> dict[str, Any]:
    def share(values: Any) -> list[float]:
        width = (most - least) or 1.0
        return (100 * (np.asarray(values, dtype=float) - least) / width).round(2).tolist()

    unit = f" {row.unit}" if row.unit else ""
    texts = [f"{number(float(v), row.digits)}{unit}" for v in row.values]
    bar = {"value": share(row.values), "zero": share([0.0])[0]}
    if row.low is None:
        return {"name": row.name, "texts": texts, "low": None, "high": None} | bar
    ends = zip(row.low, row.high, strict=True)
    spans = [f"{number(float(a), row.digits)} to {number(float(b), row.digits)}" for a, b in ends]
    texts = [f"{text} ({span})" for text, span in zip(texts, spans, strict=True)]
    return {"name": row.name, "texts": texts, "low": share(row.low), "high": share(row.high)} | bar


def _static_table(data: Mapping, view: Mapping) -> str:
    """The rows of a view at the stops."""
    stops = data["stops"]
    heads = ["", *(data["places"][k] for k in stops)]
    rows = [[row["name"], *(row["texts"][k] for k in stops)] for row in view["rows"]]
    return plain_table(view["name"], heads, rows)
