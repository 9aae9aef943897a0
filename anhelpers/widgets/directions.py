"""The direction explorer: choose a direction and see how its bits split, beside its reverse and the mean of its side.

Python computes every number, text and order once; directions.js only shows them, so no kernel is needed later.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import traitlets

from .. import checks
from ..charts.offline import picture
from ..charts.xmi_bars import plot_xmi_bars
from .base import Widget, module, plain_table, styles, without_kernel
from .split import ORDERS, shown_rows, split_data

__all__ = ["DirectionExplorer", "DirectionView", "direction_explorer", "static_view"]


def direction_explorer(
    table: pd.DataFrame, *, start: str | None = None, **options: Any
) -> DirectionExplorer:
    """A list of directions to choose from beside the bars of the chosen one, of its reverse and of its side's mean.

    Parameters
    ----------
    table : direction, h_lm, h_mt, xmi in bits; where known bleu, n and intervals (xmi_low, xmi_high, h_lm_low ...);
        src and trg where the names have another form than "en-fi". From `xmi.xmi_table`,
        `xmi.published.published_table` or one's own. A note names a direction that lacks one of the three and is left
        out.
    start : the direction chosen at first, by default the one with the largest XMI.
    options : title : the claim. pivot : as in `charts.directions.checked_directions`. unit : "bits per sentence".

    Returns
    -------
    DirectionExplorer; its `direction` and `order` follow the page and can be set. Where the environment has
    ANX_MODE=static it shows itself as HTML that works without a kernel.

    Raises
    ------
    DataError as `charts.xmi_bars.plot_xmi_bars`. UnknownName for a start that is not in the table.
    """
    data = split_data(table, **options)
    widget = DirectionExplorer(data=data, direction=_known(start, data), **without_kernel())
    widget.chart = _chart(data, [widget.direction])
    return widget


def static_view(
    table: pd.DataFrame, *, at: Sequence[str] | None = None, **options: Any
) -> DirectionView:
    """The bars of some directions with their reverses and means, and what they say in words, for print.

    Parameters
    ----------
    at : directions, by default those with the largest and the smallest XMI. table, options : as in
        `direction_explorer`.
    """
    data = split_data(table, **options)
    order = data["orders"]["xmi"]
    names = [data["rows"][i]["name"] for i in (order[0], order[-1])] if at is None else at
    return DirectionView(data, tuple(dict.fromkeys(_known(name, data) for name in names)))


@dataclass(frozen=True, repr=False)
class DirectionView:
    """A few directions in a picture with alt text, in sentences, and all in a table.

    Parameters
    ----------
    at : directions.
    """

    data: dict
    at: tuple[str, ...]

    @property
    def chart(self) -> Any:
        """The bars of these directions, of their reverses and of the means of their sides."""
        return _chart(self.data, self.at)

    @property
    def table(self) -> pd.DataFrame:
        """direction, h_lm, xmi, h_mt, bleu, words: a row per direction of `at`."""
        rows = {row["name"]: row for row in self.data["rows"]}
        frame = pd.DataFrame([rows[name] for name in self.at])
        return frame.assign(words=frame["words"].str.join(" "))[
            ["name", "h_lm", "xmi", "h_mt", "bleu", "words"]
        ].rename(columns={"name": "direction"})

    def __repr__(self) -> str:
        return f"DirectionView({', '.join(self.at)}; {len(self.data['rows'])} directions)"

    def _repr_html_(self) -> str:
        return _static_html(self.data, self.at)


class DirectionExplorer(Widget):
    """The widget that `direction_explorer` makes; `direction` and `order` follow the page and can be set.

    order : of the list: "xmi" or "bleu" (largest first), "h_lm" or "h_mt" (smallest first), "name".
    """

    _esm = module("directions.js")
    _css = styles("directions.css")
    noun = "direction explorer"
    direction = traitlets.Unicode("").tag(sync=True)
    order = traitlets.Unicode("xmi").tag(sync=True)

    @traitlets.validate("direction")
    def _valid_direction(self, proposal: Any) -> Any:
        names = [row["name"] for row in self.data.get("rows", [])]
        return checks.one_of(proposal["value"], names, "direction") if names else proposal["value"]

    @traitlets.validate("order")
    def _valid_order(self, proposal: Any) -> Any:
        return checks.one_of(
            proposal["value"], self.data.get("orders", ORDERS), "order of directions"
        )

    def __repr__(self) -> str:
        return f"DirectionExplorer({self.direction}, {len(self.data['rows'])} directions)"

    def static_html(self) -> str:
        return _static_html(self.data, [self.direction])


def _known(name: str | None, data: dict) -> str:
    """The direction of that name; by default the one with the largest XMI."""
    names = [row["name"] for row in data["rows"]]
    return (
        names[data["orders"]["xmi"][0]] if name is None else checks.one_of(name, names, "direction")
    )


def _chart(data: dict, at: Sequence[str]) -> Any:
    """The bars of some directions, of their reverses and of the means of their sides."""
    chosen = list({row["label"]: row for name in at for row in shown_rows(data, name)}.values())
    numbers = [
        "h_lm",
        "h_mt",
        "xmi",
        *(c for c in data["ends"] if any(row.get(c) is not None for row in chosen)),
    ]
    frame = pd.DataFrame(
        [{"direction": row["label"]} | {c: row.get(c) for c in numbers} for row in chosen]
    )
    frame = frame.assign(src="", trg="")
    unit = data["unit"][:1].upper() + data["unit"][1:]
    return plot_xmi_bars(
        frame, order="given", paired=False, title=data["title"], unit=unit, size=(420, 24)
    )


def _static_html(data: dict, at: Sequence[str]) -> str:
    """Bars and words of some directions and a table of all, of elements that are kept where no script may run."""
    rows = {row["name"]: row for row in data["rows"]}
    words = "".join(
        f"<p><b>{html.escape(rows[name]['label'])}.</b> "
        f"{html.escape(' '.join(rows[name]['words']))}</p>"
        for name in at
    )
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in data["notes"])
    return f"<p>{picture(_chart(data, at))}</p>{words}{_table(data)}{notes}"


def _table(data: dict) -> str:
    """Every direction and every mean, those with the largest XMI first."""
    rows, foot = (
        [[row["label"], *row["texts"]] for row in some] for some in (data["rows"], data["means"])
    )
    rows = [rows[i] for i in data["orders"]["xmi"]]
    heads = ["direction", *data["heads"]]
    return plain_table(f"{data['unit']}; largest XMI first", heads, rows, "right", foot=foot)
