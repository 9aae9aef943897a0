"""What the direction explorer shows: each direction with its reverse, the mean of its side, and the words."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from ..charts.describe import number
from ..charts.directions import ALL, checked_split, language_name
from ..charts.xmi_bars import digits_for

__all__ = ["ORDERS", "shown_rows", "split_data"]

ORDERS = {  # key: (what the list says, whether the largest comes first)
    "xmi": ("XMI, largest first", True),
    "h_lm": ("H_LM, smallest first", False),
    "h_mt": ("left over, smallest first", False),
    "bleu": ("BLEU, largest first", True),
    "name": ("name", False),
}
ENDS = ("xmi_low", "xmi_high", "h_lm_low", "h_lm_high", "h_mt_low", "h_mt_high")


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
    given = str(table["unit"].iloc[0]) if "unit" in table else "bits per sentence"
    data: dict[str, Any] = {"title": title, "unit": given if unit is None else unit, "ends": ends}
    means, side_of = _means(frame)
    data["span"] = _span([*frame.to_dict("records"), *means], ends)
    digits = digits_for(max(map(abs, data["span"])))
    place = {name: i for i, name in enumerate(frame["direction"])}
    rows = []
    for row in frame.to_dict("records"):
        one = {
            "name": row["direction"],
            "label": row["label"],
            "side": row["side"],
            "mean": side_of.get(row["side"]),
        }
        one |= {"src": row["src"], "trg": row["trg"], "reverse": place.get(row["reverse"])}
        rows.append(one | {c: _json(row[c]) for c in ("h_lm", "xmi", "h_mt", "bleu", *ends)})
    has_bleu = any(row["bleu"] is not None for row in rows)
    data["orders"] = _orders(rows, has_bleu)
    data["order_names"] = {key: ORDERS[key][0] for key in data["orders"]}
    data["heads"] = ["XMI", "H_MT", "H_LM"] + (["BLEU"] if has_bleu else [])
    for row in [*rows, *means]:
        row["texts"] = _texts(row, digits, has_bleu)
        row["intervals"] = [_interval(row, name, digits) for name in ("xmi", "h_mt", "h_lm")]
    for i, row in enumerate(rows):
        row["words"] = _words(i, rows, means, unit=data["unit"], digits=digits)
    lost = [str(name) for name in table["direction"] if str(name) not in place]
    notes = [f"Left out, for a number is missing: {', '.join(lost)}."] if lost else []
    if any(end in ends for end in ("xmi_low", "h_lm_low")):
        notes.append(
            "Intervals: 95 %. Whether two directions differ, only the interval of their difference "
            "tells."
        )
    if has_bleu:
        notes.append("BLEU can be compared between directions with the same target language only.")
    return data | {"rows": rows, "means": means, "notes": notes}


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
    text = f"a text in {language_name(row['trg'])}" if row["trg"] else "the target text"
    source = f"its {language_name(row['src'])} source" if row["src"] else "its source"
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
