"""The direction explorer: choose a direction and see how its bits split, beside its reverse and the mean of its side.

Python computes every number, sentence and order once; directions.js only shows them, so no kernel is needed later.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import traitlets

from .. import checks
from ..charts.directions import ALL, checked_split, language_label
from ..charts.frame import number
from ..charts.xmi_bars import digits_for, plot_xmi_bars
from .base import Widget, module, plain_table, static_page, styles

__all__ = [
    "ORDERS",
    "DirectionExplorer",
    "DirectionView",
    "direction_explorer",
    "shown_rows",
    "split_data",
    "static_directions",
]

ORDERS = {  # key: (what the list says, whether the largest comes first)
    "xmi": ("XMI, largest first", True),
    "h_lm": ("H_LM, smallest first", False),
    "h_mt": ("left over, smallest first", False),
    "bleu": ("BLEU, largest first", True),
    "name": ("name", False),
}
ENDS = ("xmi_low", "xmi_high", "h_lm_low", "h_lm_high", "h_mt_low", "h_mt_high")


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
    direction = _known(start, data)
    return DirectionExplorer.of(_chart(data, [direction]), data=data, direction=direction)


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


def static_directions(
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


def _known(name: str | None, data: dict) -> str:
    """The direction of that name; by default the one with the largest XMI."""
    names = [row["name"] for row in data["rows"]]
    return (
        names[data["orders"]["xmi"][0]] if name is None else checks.one_of(name, names, "direction")
    )


def _chart(data: dict, at: Sequence[str]) -> Any:
    """The bars of some directions, of their reverses and of the means of their sides."""
    chosen = list({row["label"]: row for name in at for row in shown_rows(data, name)}.values())
    ends = (end for end in data["ends"] if any(row.get(end) is not None for row in chosen))
    numbers = ["h_lm", "h_mt", "xmi", *ends]
    frame = pd.DataFrame([{c: row.get(c) for c in ("label", *numbers)} for row in chosen])
    frame = frame.rename(columns={"label": "direction"}).assign(src="", trg="")
    unit = data["unit"][:1].upper() + data["unit"][1:]
    look = {"title": data["title"], "unit": unit, "size": (420, 24)}
    return plot_xmi_bars(frame, order="given", paired=False, **look)


def _static_html(data: dict, at: Sequence[str]) -> str:
    """Bars and words of some directions and a table of all, of elements that are kept where no script may run."""
    rows = {row["name"]: row for row in data["rows"]}
    words = [(f"{rows[name]['label']}.", " ".join(rows[name]["words"])) for name in at]
    notes = (f"<p>{html.escape(note)}</p>" for note in data["notes"])
    return static_page(_chart(data, at), _table(data), *notes, words=words)


def _table(data: dict) -> str:
    """Every direction and every mean, those with the largest XMI first."""
    rows, foot = (
        [[row["label"], *row["texts"]] for row in some] for some in (data["rows"], data["means"])
    )
    rows = [rows[i] for i in data["orders"]["xmi"]]
    heads = ["direction", *data["heads"]]
    return plain_table(f"{data['unit']}; largest XMI first", heads, rows, "right", foot=foot)


def split_data(
    table: pd.DataFrame, *, title: str = "", pivot: str | None = None, unit: str | None = None
) -> dict:
    """All that the page shows, as JSON values with unescaped texts; arguments as in `directions.direction_explorer`.

    rows : of the directions, means : of the sides; each with label, numbers, texts (the cells of its table), and rows
    with words (sentences), reverse and mean (places in rows and means, or None). orders : key → places in rows.

    Parameters
    ----------
    pivot : as in `checked_split`.
    """
    frame = checked_split(table, pivot)
    frame = frame.assign(bleu=frame["bleu"].astype(float) if "bleu" in frame else math.nan)
    ends = [c for c in ENDS if c in frame]
    if unit is None:
        unit = str(table["unit"].iloc[0]) if "unit" in table else "bits per sentence"
    means, side_of = _means(frame)
    span = _span([*frame.to_dict("records"), *means], ends)
    digits = digits_for(max(map(abs, span)))
    place = {name: i for i, name in enumerate(frame["direction"])}
    rows: list[dict[str, Any]] = [
        {
            "name": row["direction"],
            "label": row["label"],
            "side": row["side"],
            "mean": side_of.get(row["side"]),
            "src": row["src"],
            "trg": row["trg"],
            "reverse": place.get(row["reverse"]),
            **{c: _json(row[c]) for c in ("h_lm", "xmi", "h_mt", "bleu", *ends)},
        }
        for row in frame.to_dict("records")
    ]
    has_bleu = any(row["bleu"] is not None for row in rows)
    orders = _orders(rows, has_bleu)
    for row in [*rows, *means]:
        row["texts"] = _texts(row, digits, has_bleu)
        row["intervals"] = [_interval(row, name, digits) for name in ("xmi", "h_mt", "h_lm")]
    for i, row in enumerate(rows):
        row["words"] = _words(i, rows, means, unit=unit, digits=digits)
    lost = [str(name) for name in table["direction"] if str(name) not in place]
    notes = [f"Left out, for a number is missing: {', '.join(lost)}."] if lost else []
    if any(end in ends for end in ("xmi_low", "h_lm_low")):
        notes.append(
            "Intervals: 95 %. Whether two directions differ, only the interval of their difference "
            "tells."
        )
    if has_bleu:
        notes.append("BLEU can be compared between directions with the same target language only.")
    return {
        "title": title,
        "unit": unit,
        "ends": ends,
        "span": span,
        "orders": orders,
        "order_names": {key: ORDERS[key][0] for key in orders},
        "heads": ["XMI", "H_MT", "H_LM"] + (["BLEU"] if has_bleu else []),
        "rows": rows,
        "means": means,
        "notes": notes,
    }


def shown_rows(data: dict, name: str) -> list[dict]:
    """The direction of that name, its reverse where there is one, and the mean of each of their sides."""
    row = next(row for row in data["rows"] if row["name"] == name)
    rows = [row] if row["reverse"] is None else [row, data["rows"][row["reverse"]]]
    means = list(dict.fromkeys(one["mean"] for one in rows if one["mean"] is not None))
    return rows + [data["means"][i] for i in means]


def _json(value: float) -> float | None:
    """A number, or None for nan."""
    return None if pd.isna(value) else float(value)


def _means(frame: pd.DataFrame) -> tuple[list[dict], dict[str, int]]:
    """The mean of each side with at least two directions, and its place."""
    means: list[dict[str, Any]] = []
    places = {}
    for side, own in frame.groupby("side", sort=True):
        if len(own) > 1:
            places[side] = len(means)
            label = f"mean of {len(own)} directions" + ("" if side == ALL else f" {side}")
            row = {"label": label, "side": side, "n": len(own)} | {
                c: float(own[c].mean()) for c in ("h_lm", "xmi", "h_mt")
            }
            means.append(
                row | {"bleu": _json(own["bleu"].mean() if own["bleu"].notna().all() else math.nan)}
            )
    return means, places


def _span(rows: list[dict], ends: list[str]) -> list[float]:
    """From and to of all bars, in bits; 0 is between."""
    values = [
        row[c]
        for row in rows
        for c in ("h_lm", "xmi", "h_mt", *ends)
        if c in row and not pd.isna(row[c])
    ]
    return [min(0.0, *values), max(0.0, *values) or 1.0]


def _orders(rows: list[dict], has_bleu: bool) -> dict[str, list[int]]:
    """Places of the rows in each order; a row without BLEU comes last."""
    orders = {}
    for key, (_, falls) in ORDERS.items():
        if key == "bleu" and not has_bleu:
            continue
        value = {i: row["label"] if key == "name" else row[key] for i, row in enumerate(rows)}
        there = sorted((i for i in value if value[i] is not None), key=lambda i: value[i])
        orders[key] = (there[::-1] if falls else there) + [i for i in value if value[i] is None]
    return orders


def _texts(row: dict, digits: int, has_bleu: bool) -> list[str]:
    cells = [number(row[name], digits) for name in ("xmi", "h_mt", "h_lm")]
    return cells + (["–" if row["bleu"] is None else f"{row['bleu']:.1f}"] if has_bleu else [])


def _interval(row: dict, name: str, digits: int) -> str:
    """ "110.1 to 114.7", or empty."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    return "" if low is None or high is None else f"{number(low, digits)} to {number(high, digits)}"


def _words(i: int, rows: list[dict], means: list[dict], *, unit: str, digits: int) -> list[str]:
    """What the numbers of a direction mean, a sentence each."""
    row = rows[i]
    said = [*_split_words(row, unit, digits)]
    if row["bleu"] is not None:
        said.append(f"Its BLEU is {row['bleu']:.1f}.")
    if row["reverse"] is not None:
        said.append(_reverse_words(row, rows[row["reverse"]], digits))
    if row["mean"] is not None:
        mean = means[row["mean"]]
        rank = 1 + sum(other["side"] == row["side"] and other["xmi"] > row["xmi"] for other in rows)
        where = "" if row["side"] == ALL else f" {row['side']}"
        said.append(
            f"By XMI it is number {rank} of the {mean['n']} directions{where}; "
            f"{number(mean['xmi'], digits)} is their mean."
        )
    return said


def _split_words(row: dict, unit: str, digits: int) -> list[str]:
    """How the bits split, or that there is nothing to split."""
    h_lm, h_mt, xmi = (number(row[name], digits) for name in ("h_lm", "h_mt", "xmi"))
    text = f"a text in {language_label(row['trg'])}" if row["trg"] else "the target text"
    source = f"its {language_label(row['src'])} source" if row["src"] else "its source"
    first = f"Without a source, {text} costs {h_lm} {unit}; with {source} it costs {h_mt}."
    interval = _interval(row, "xmi", digits)
    interval = f" (95\u00a0% interval {interval})" if interval else ""
    if row["xmi"] < 0:
        return [
            first,
            f"XMI is {xmi}{interval}: the source saves nothing, and the translation model needs "
            "more bits than the language model does without it.",
        ]
    share = f", {100 * row['xmi'] / row['h_lm']:.0f}\u00a0%" if row["h_lm"] > 0 else ""
    return [first, f"The source saves {xmi} of {h_lm} bits{share}{interval}; {h_mt} are left over."]


def _reverse_words(row: dict, back: dict, digits: int) -> str:
    """The other direction, compared."""
    gap = round(row["xmi"] - back["xmi"], digits) + 0.0
    compared = f"{number(abs(gap), digits)} {'fewer' if gap > 0 else 'more'}" if gap else "as many"
    if back["xmi"] < 0:
        return (
            f"In reverse ({back['label']}) XMI is {number(back['xmi'], digits)} bits, {compared}."
        )
    saved = f"{number(back['xmi'], digits)} of {number(back['h_lm'], digits)} bits"
    return f"In reverse ({back['label']}) the source saves {saved}, {compared}."
