"""Bars made of pieces laid end to end: the bits of a sentence that its source saves, and those that are left over.

A bar per direction, with its intervals (XMI Figure 3), and bars of any named pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from .. import checks
from ..errors import DataError
from .directions import ALL, checked_split, language_label
from .frame import AXIS, Size, framed, number
from .labels import width
from .marks import (
    FONT,
    Layer,
    checked_columns,
    checked_numbers,
    legend,
    not_drawn,
    on,
    tip,
    told_apart,
)

__all__ = ["COLOURS", "LEFT", "ORDERS", "SAVED", "WORSE", "plot_pieces", "plot_xmi_bars"]

# Okabe and Ito 2008, and Tol's wine
SAVED, LEFT, WORSE = "#0072B2", "#E69F00", "#882255"
INK, PAPER = "#000000", "#FFFFFF"
COLOURS = {SAVED: PAPER, LEFT: INK, WORSE: PAPER, "#999999": INK}  # and their ink
PARTS = {
    "saved": ("saved by the source (XMI)", SAVED),
    "left": ("left over (H_MT)", LEFT),
    "worse": ("made worse (XMI below 0)", WORSE),
}
ORDERS = ("xmi", "h_lm", "h_mt", "bleu", "name", "given")
GAP = 0.4  # between two languages, in rows


def plot_xmi_bars(
    table: pd.DataFrame,
    *,
    order: str = "xmi",
    paired: bool = True,
    pivot: str | None = None,
    title: str = "",
    unit: str = "Bits per sentence",
    size: Size = (560, 21),
) -> alt.LayerChart:
    """A bar of length H_LM per direction, split into XMI, the bits that the source saves, and H_MT, those left over.

    A negative XMI goes left of 0, and a thick tick marks H_LM, which is then shorter than H_MT.

    Parameters
    ----------
    table : direction, h_lm, h_mt, xmi in bits; src and trg where the names have another form than "en-fi"; where known
        xmi_low, xmi_high, h_lm_low, h_lm_high (intervals) and bleu (tooltip). From `xmi.xmi_table` or
        `xmi.published.published_table`. The subtitle names a direction that lacks one of the
        three and is not drawn.
    order : "xmi", "bleu" (largest first), "h_lm", "h_mt" (smallest first), "name" or "given"; where directions are
        paired, by the mean of the two.
    paired : whether a direction stands beside its reverse. pivot : see `directions.checked_directions`.
    title : what the picture claims. unit : of the bars. size : (width of the longest bar, height of a row) in pixels.

    Raises
    ------
    DataError where a number is infinite or negative, or XMI is not H_LM - H_MT within rounding, or BLEU, by which the
    bars are to be ordered, is not there.
    """
    rows = _ordered(
        checked_split(table, pivot), checks.one_of(order, ORDERS, "order of bars"), paired
    )
    ends = [c for c in ("xmi_low", "xmi_high", "h_lm_low", "h_lm_high") if c in rows]
    least, most = 0.0, 0.0
    for column in ("xmi", "h_lm", "h_mt", *ends):
        least, most = min(least, np.nanmin(rows[column])), max(most, np.nanmax(rows[column]))
    most = most if most - least > 1e-9 else 1.0
    x = _lengths(f"{unit}: XMI + H_MT = H_LM, the whole bar", least, most, size[0])
    rows_high = float(rows["place"].max() + 1)
    down = alt.Scale(domain=[0, rows_high], reverse=True, nice=False)
    y = alt.Y("place:Q", scale=down, axis=None)
    per_bit = size[0] / (most - least)
    digits = digits_for(most)
    layers = [
        *_bars(rows, x, y, [tip("bleu", "BLEU")] if "bleu" in rows else []),
        *_intervals(rows, x, y, ends),
    ]
    layers += _texts(x, y, _written(rows, per_bit, digits, least))
    notes = _notes(rows, table, ends)
    said = [f"{unit}, H_LM = XMI + H_MT", _words(rows, digits)]
    look: dict[str, Any] = {"size": (size[0], rows_high * size[1]), "width": size[0] + 200}
    return framed(alt.layer(*layers), title, said, notes, view={"stroke": None}, **look)


def plot_pieces(
    pieces: pd.DataFrame,
    *,
    parts: Sequence[str] = (),
    title: str = "",
    unit: str = "Bits per sentence",
    size: Size = (560, 30),
) -> alt.LayerChart:
    """A horizontal bar per name, its pieces laid end to end, each with its length where there is room.

    Parameters
    ----------
    pieces : bar, part, value; a row per piece, in the order from top to bottom and from left to right. At most 4
        different parts, each with its colour; values at least 0. Where known, start: where the first piece of a bar
        begins (of its first row; else 0), so that a piece which two bars share can stand under itself.
    parts : those that take the first colours, by default in the order of the rows.
    title : what the picture claims. unit : of the axis. size : (width of the plane, height of a bar) in pixels.

    Raises
    ------
    DataError for a missing column, a number that is negative or not finite, no row, more than 4 parts.
    """
    rows = _laid(pieces)
    names, bars = list(dict.fromkeys([*parts, *rows["part"]])), list(dict.fromkeys(rows["bar"]))
    if not 1 <= len(names) <= len(COLOURS):
        raise DataError(
            f"{len(names)} kinds of pieces; between 1 and {len(COLOURS)} can be told apart."
        )
    most = float(rows["to"].max()) or 1.0
    rows["text"] = [number(value, digits_for(most)) for value in rows["value"]]
    x = _lengths(unit, 0, most, size[0])
    labels = alt.Axis(
        title=None, labelFontSize=FONT, labelLimit=400, ticks=False, domain=False, labelPadding=10
    )
    y = alt.Y("bar:N", sort=bars, axis=labels, scale=alt.Scale(paddingInner=0.2, paddingOuter=0.1))
    fill = _colours("part", dict(zip(names, COLOURS, strict=False)))
    tips = ["bar:N", "part:N", alt.Tooltip("value:Q", format=".4~g")]
    drawn = Layer(rows, name="pieces").mark_bar(stroke=PAPER, strokeWidth=1)
    drawn = drawn.encode(x=x, x2=alt.X2("to:Q"), y=y, tooltip=tips, **fill)
    # the length of each piece in its middle, where it fits, in the ink of its colour
    inks = dict(zip(names, COLOURS.values(), strict=False))
    middle = rows.assign(ink=rows["part"].map(inks), middle=(rows["from"] + rows["to"]) / 2)
    room = [
        _fits(text, value, size[0] / most)
        for text, value in zip(rows["text"], rows["value"], strict=True)
    ]
    said = [
        f"{bar}: " + ", ".join(f"{p} {t}" for p, t in zip(own["part"], own["text"], strict=True))
        for bar, own in rows.groupby("bar", sort=False)
    ]
    return framed(
        alt.layer(drawn, _text(middle[room], "texts", on(x, "middle"), y)),
        title,
        [unit, *said],
        size=(size[0], size[1] * len(bars)),
        width=size[0] + 120,
        view={"stroke": None},
    )


def _lengths(title: str, least: float, most: float, length: int) -> alt.X:
    axis = alt.Axis(title=title, tickCount=length // 90, grid=False, **AXIS)
    return alt.X("from:Q", scale=alt.Scale(domain=[least, most], nice=False), axis=axis)


def _colours(field: str, looks: dict[str, str]) -> dict:
    """The fill of pieces by name, with a legend of squares."""
    square = {"symbolType": "square", "symbolStrokeWidth": 0, "symbolSize": 260}
    above = legend(labelLimit=400, columnPadding=24, **square)
    return told_apart(field, looks, above, fill=looks.values())


def digits_for(largest: float) -> int:
    """Decimals of numbers of bits: tenths of a sentence's, thousandths of a character's.

    >>> digits_for(154.2), digits_for(7.0), digits_for(2.3)
    (1, 2, 3)
    """
    return 1 if largest >= 20 else 2 if largest >= 5 else 3


def _ordered(rows: pd.DataFrame, order: str, paired: bool) -> pd.DataFrame:
    """The rows from top to bottom, with place: where the bar begins, in heights of a row."""
    group = rows["direction"]
    if paired:
        both = zip(rows["direction"], rows["reverse"], strict=True)
        group = pd.Series([min(name, back) if back else name for name, back in both], rows.index)
    if order == "name":
        key = rows["other"].map(language_label) if paired else rows["label"]
    elif order == "given":
        key = pd.Series(np.arange(len(rows)), rows.index)
    else:
        checked_columns(rows, [order], "directions")
        key = rows[order]
    key = key.groupby(group).transform("min" if order in ("given", "name") else "mean")
    frame = rows.assign(key=-key if order in ("xmi", "bleu") else key, group=group)
    frame["into"] = rows["side"].str.startswith("into")
    frame = frame.sort_values(["key", "group", "into"], kind="stable").reset_index(drop=True)
    new = frame["group"].ne(frame["group"].shift()).cumsum() - 1
    gap = GAP if paired and frame["group"].duplicated().any() else 0.0
    return frame.assign(place=np.arange(len(frame)) + gap * new)


def _pieces(rows: pd.DataFrame) -> pd.DataFrame:
    """A row per coloured piece of a bar: part, from, to, with the numbers of its direction."""
    worse = rows["xmi"] < 0
    first = rows.assign(
        **{"part": np.where(worse, "worse", "saved"), "from": rows["xmi"].clip(upper=0)}
    )
    first["to"] = rows["xmi"].clip(lower=0)
    rest = rows.assign(part="left", to=np.where(worse, rows["h_mt"], rows["h_lm"]))
    rest["from"] = rows["xmi"].clip(lower=0)
    pieces = pd.concat([first, rest], ignore_index=True)
    return pieces.assign(top=pieces["place"] + 0.06, end=pieces["place"] + 0.94)


def _bars(rows: pd.DataFrame, x: alt.X, y: alt.Y, tips: list) -> list[alt.Chart]:
    """The pieces with a legend of the parts present, and the tick at H_LM where it is not the bar's end."""
    pieces = _pieces(rows)
    present = [part for part in PARTS if (pieces["part"] == part).any()]
    pieces["meaning"] = pieces["part"].map({part: PARTS[part][0] for part in present})
    names = (("h_lm", "H_LM"), ("xmi", "XMI"), ("h_mt", "H_MT"))
    tips = ["label:N", *(tip(c, t) for c, t in names), *tips]
    fill = _colours("meaning", dict(PARTS[part] for part in present))
    bars = Layer(pieces, name="bars").mark_rect(stroke=PAPER, strokeWidth=1)
    layers = [
        bars.encode(
            x=x, x2=alt.X2("to:Q"), y=on(y, "top"), y2=alt.Y2("end:Q"), tooltip=tips, **fill
        )
    ]
    worse = rows.assign(**{"from": rows["h_lm"], "end": rows["place"] + 1})[rows["xmi"] < 0]
    if len(worse):
        tick = Layer(worse, name="ticks").mark_rule(color=INK, strokeWidth=4)
        layers.append(tick.encode(x=x, y=y, y2=alt.Y2("end:Q")))
    zero = Layer(pd.DataFrame({"from": [0.0]})).mark_rule(color=INK, strokeWidth=1.5)
    return [*layers, zero.encode(x=x)]


def _intervals(rows: pd.DataFrame, x: alt.X, y: alt.Y, ends: list[str]) -> list[alt.Chart]:
    """A thin line across each end of a piece: the interval of XMI in the upper half of a bar, of H_LM in the lower."""
    layers = []
    for name, share in (("xmi", 0.25), ("h_lm", 0.75)):
        low, high = f"{name}_low", f"{name}_high"
        if {low, high} <= set(ends):
            frame = rows.dropna(subset=[low, high]).assign(at=rows["place"] + share)
            span = {"x": on(x, low), "x2": f"{high}:Q", "y": on(y, "at")}
            for kind, ink, wide in (("under", PAPER, 4), ("interval", INK, 2)):
                rule = Layer(frame, name=f"{name}_{kind}")
                layers.append(rule.mark_rule(color=ink, strokeWidth=wide).encode(**span))
    return layers


def _written(rows: pd.DataFrame, per_bit: float, digits: int, least: float) -> pd.DataFrame:
    """text, at, align, ink of what is written on and beside the bars; what does not fit its piece stands at the end."""
    texts = []
    for row in rows.to_dict("records"):
        place, worse = row["place"] + 0.52, row["xmi"] < 0
        end = max(row["h_lm"], row["h_mt"]) if worse else row["h_lm"]
        outside = []
        rest = (max(row["xmi"], 0) + (row["h_mt"] if worse else row["h_lm"])) / 2
        for column, middle, ink in (("xmi", row["xmi"] / 2, PAPER), ("h_mt", rest, INK)):
            text = number(row[column], digits)
            if _fits(text, row[column], per_bit):
                texts.append((text, place, middle, "center", ink))
            else:
                outside.append(f"{column.upper()} {text}")
        beside = number(row["h_lm"], digits) + (f" ({', '.join(outside)})" if outside else "")
        right = max(end, row.get("h_lm_high", end)) + 6 / per_bit
        texts.append((beside, place, right, "left", INK))
        texts.append((row["label"], place, least - 10 / per_bit, "right", INK))
    return pd.DataFrame(texts, columns=["text", "place", "from", "align", "ink"])


def _fits(text: str, length: float, per_bit: float) -> bool:
    """Whether a piece has room for a text."""
    return length * per_bit >= width(text, False) + 8


def _texts(x: alt.X, y: alt.Y, written: pd.DataFrame) -> list[alt.Chart]:
    return [
        _text(frame, f"texts_{align}", x, y, align=align)
        for align, frame in written.groupby("align", sort=True)
    ]


def _text(frame: pd.DataFrame, name: str, x: alt.X, y: alt.Y, **look: Any) -> alt.Chart:
    mark = Layer(frame, name=name).mark_text(fontSize=FONT, baseline="middle", **look)
    return mark.encode(x=x, y=y, text=alt.Text("text:N"), fill=alt.Fill("ink:N", scale=None))


def _notes(rows: pd.DataFrame, table: pd.DataFrame, ends: list[str]) -> list[str]:
    """How to read the picture, and who is not in it."""
    known = [
        text
        for end, text in (("xmi_low", "XMI (upper)"), ("h_lm_low", "H_LM (lower)"))
        if end in ends
    ]
    notes = [f"Thin lines: 95 % intervals of {' and of '.join(known)}."] if known else []
    if (rows["xmi"] < 0).any():
        notes.append(
            "Left of 0: the translation model needs more bits than the language model; the tick "
            "marks H_LM."
        )
    return notes + not_drawn(table, rows, "direction")


def _words(rows: pd.DataFrame, digits: int) -> str:
    """Every bar in words, side by side where there are sides."""
    texts = [
        f"{label} {' + '.join(parts).replace(' + ', ' = ', 1)}"
        for label, *values in rows[["label", "h_lm", "xmi", "h_mt"]].itertuples(index=False)
        for parts in [[number(value, digits) for value in values]]
    ]
    sides = pd.Series(texts, rows.index).groupby(rows["side"], sort=True)
    return "; ".join(("" if side == ALL else f"{side}: ") + ", ".join(own) for side, own in sides)


def _laid(pieces: pd.DataFrame) -> pd.DataFrame:
    """The pieces with the places where they begin and end."""
    checked_columns(pieces, ["bar", "part", "value"], "pieces")
    rows = pieces.reset_index(drop=True).astype({"bar": str, "part": str})
    rows = checked_numbers(
        rows.assign(start=rows.get("start", 0.0)), ["value", "start"], "pieces", "bar"
    )
    bad = np.flatnonzero(~(rows["value"] >= 0) | (rows["start"] < 0))
    if bad.size:
        row = rows.loc[bad[0]]
        seen = (
            f"{row['value']:g}" if not row["value"] >= 0 else f"said to start at {row['start']:g}"
        )
        raise DataError(
            f"'{row['part']}' of '{row['bar']}' is {seen}: a piece of a bar has a length and a "
            "start of at least 0."
        )
    first = rows["start"].fillna(0.0).groupby(rows["bar"]).transform("first")
    rows["to"] = first + rows.groupby("bar")["value"].cumsum()
    rows["from"] = rows["to"] - rows["value"]
    return rows
