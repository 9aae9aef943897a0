"""How many bits of a sentence its source saves and how many are left over, a bar per direction (XMI Figure 3).

Bars made of named pieces, such as a sentence's bits that the source saves and those that it does not.
"""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from .. import checks
from ..errors import DataError
from .directions import ALL, checked_split, language_label
from .frame import AXIS, Size, description, headline, number
from .labels import width
from .marks import FONT, checked_columns, checked_numbers, not_drawn, tip

__all__ = ["COLOURS", "LEFT", "ORDERS", "SAVED", "WORSE", "plot_pieces", "plot_xmi_bars"]

# Okabe and Ito 2008, and Tol's wine; white letters on blue
SAVED, LEFT, WORSE = "#0072B2", "#E69F00", "#882255"
PARTS = {
    "saved": ("saved by the source (XMI)", SAVED),
    "left": ("left over (H_MT)", LEFT),
    "worse": ("made worse (XMI below 0)", WORSE),
}
ORDERS = ("xmi", "h_lm", "h_mt", "bleu", "name", "given")
GAP = 0.4  # between two languages, in rows
INK = "#000000"


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
    x = alt.X(
        "from:Q",
        scale=alt.Scale(domain=[least, most], nice=False),
        axis=alt.Axis(**_axis(unit, size[0])),
    )
    high = float(rows["place"].max() + 1) * size[1]
    y = alt.Y(
        "place:Q", scale=alt.Scale(domain=[0, high / size[1]], reverse=True, nice=False), axis=None
    )
    per_bit = size[0] / (most - least)
    digits = digits_for(most)
    layers = [
        *_bars(rows, x, y, [tip("bleu", "BLEU")] if "bleu" in rows else []),
        *_intervals(rows, x, y, ends),
    ]
    layers += _texts(x, y, _written(rows, per_bit, digits, least))
    notes = _notes(rows, table, ends)
    words = description(title, [f"{unit}, H_LM = XMI + H_MT", _words(rows, digits), *notes])
    chart = alt.layer(*layers).properties(
        width=size[0], height=high, description=words, view={"stroke": None}
    )
    return chart.properties(**headline(title, notes, size[0] + 200))


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


def _axis(unit: str, length: int) -> dict:
    return {
        "title": f"{unit}: XMI + H_MT = H_LM, the whole bar",
        "tickCount": length // 90,
        "grid": False,
    } | AXIS


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
    scale = alt.Scale(domain=[PARTS[p][0] for p in present], range=[PARTS[p][1] for p in present])
    legend = alt.Legend(
        title=None,
        orient="top",
        labelFontSize=FONT,
        labelLimit=400,
        symbolType="square",
        symbolStrokeWidth=0,
        symbolSize=260,
        columnPadding=24,
    )
    top = y.copy()
    top.shorthand = "top:Q"
    tips = [
        "label:N",
        *(tip(c, t) for c, t in (("h_lm", "H_LM"), ("xmi", "XMI"), ("h_mt", "H_MT"))),
        *tips,
    ]
    bars = alt.Chart(pieces, name="bars").mark_rect(stroke="#FFFFFF", strokeWidth=1)
    layers = [
        bars.encode(
            x=x,
            x2="to:Q",
            y=top,
            y2="end:Q",
            tooltip=tips,
            fill=alt.Fill("meaning:N", scale=scale, legend=legend),
        )
    ]
    worse = rows.assign(**{"from": rows["h_lm"], "end": rows["place"] + 1})[rows["xmi"] < 0]
    if len(worse):
        tick = alt.Chart(worse, name="ticks").mark_rule(color=INK, strokeWidth=4)
        layers.append(tick.encode(x=x, y=y, y2="end:Q"))
    zero = alt.Chart(pd.DataFrame({"from": [0.0]})).mark_rule(color=INK, strokeWidth=1.5)
    return [*layers, zero.encode(x=x)]


def _intervals(rows: pd.DataFrame, x: alt.X, y: alt.Y, ends: list[str]) -> list[alt.Chart]:
    """A thin line across each end of a piece: the interval of XMI in the upper half of a bar, of H_LM in the lower."""
    layers = []
    for name, share in (("xmi", 0.25), ("h_lm", 0.75)):
        low, high = f"{name}_low", f"{name}_high"
        if {low, high} <= set(ends):
            frame = rows.dropna(subset=[low, high]).assign(at=rows["place"] + share)
            start, middle = x.copy(), y.copy()
            start.shorthand, middle.shorthand = f"{low}:Q", "at:Q"
            for look in ({"color": "#FFFFFF", "strokeWidth": 4}, {"color": INK, "strokeWidth": 2}):
                rule = alt.Chart(
                    frame, name=f"{name}_{'under' if look['strokeWidth'] == 4 else 'interval'}"
                )
                layers.append(rule.mark_rule(**look).encode(x=start, x2=f"{high}:Q", y=middle))
    return layers


def _written(rows: pd.DataFrame, per_bit: float, digits: int, least: float) -> pd.DataFrame:
    """text, at, align, ink of what is written on and beside the bars; what does not fit its piece stands at the end."""
    texts = []
    for row in rows.to_dict("records"):
        place = row["place"] + 0.52
        saved = number(row["xmi"], digits)
        left = number(row["h_mt"], digits)
        worse, whole = row["xmi"] < 0, number(row["h_lm"], digits)
        end = max(row["h_lm"], row["h_mt"]) if worse else row["h_lm"]
        outside = []
        pieces = [(saved, row["xmi"], row["xmi"] / 2, "#FFFFFF", "XMI")]
        pieces += [
            (
                left,
                row["h_mt"],
                (max(row["xmi"], 0) + (row["h_mt"] if worse else row["h_lm"])) / 2,
                INK,
                "H_MT",
            )
        ]
        for text, length, middle, ink, name in pieces:
            if length * per_bit >= width(text, False) + 8:
                texts.append((text, place, middle, "center", ink))
            else:
                outside.append(f"{name} {text}")
        beside = whole + (f" ({', '.join(outside)})" if outside else "")
        texts.append(
            (beside, place, max(end, row.get("h_lm_high", end)) + 6 / per_bit, "left", INK)
        )
        texts.append((row["label"], place, least - 10 / per_bit, "right", INK))
    return pd.DataFrame(texts, columns=["text", "place", "from", "align", "ink"])


def _texts(x: alt.X, y: alt.Y, written: pd.DataFrame) -> list[alt.Chart]:
    layers = []
    for align, frame in written.groupby("align", sort=True):
        mark = alt.Chart(frame, name=f"texts_{align}").mark_text(
            align=align, fontSize=FONT, baseline="middle"
        )
        layers.append(mark.encode(x=x, y=y, text="text:N", fill=alt.Fill("ink:N", scale=None)))
    return layers


def _notes(rows: pd.DataFrame, table: pd.DataFrame, ends: list[str]) -> list[str]:
    """How to read the picture, and who is not in it."""
    known = [
        text
        for end, text in (("xmi_low", "XMI (upper)"), ("h_lm_low", "H_LM (lower)"))
        if end in ends
    ]
    notes = [f"Thin black lines: 95 % intervals of {' and of '.join(known)}."] if known else []
    if (rows["xmi"] < 0).any():
        notes.append(
            "Left of 0: the translation model needs more bits than the language model; the tick "
            "marks H_LM."
        )
    return notes + not_drawn(table, rows, "direction")


def _words(rows: pd.DataFrame, digits: int) -> str:
    """Every bar in words, side by side where there are sides."""
    texts = rows.assign(
        text=[
            f"{label} {number(h_lm, digits)} = {number(xmi, digits)} + {number(h_mt, digits)}"
            for label, h_lm, xmi, h_mt in rows[["label", "h_lm", "xmi", "h_mt"]].itertuples(
                index=False
            )
        ]
    )
    parts = [
        ("" if side == ALL else f"{side}: ") + ", ".join(own["text"])
        for side, own in texts.groupby("side", sort=True)
    ]
    return "; ".join(parts)


# and their ink
COLOURS = {"#0072B2": "#FFFFFF", "#E69F00": "#000000", "#882255": "#FFFFFF", "#999999": "#000000"}


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
    axis = alt.Axis(title=unit, tickCount=size[0] // 90, grid=False, **AXIS)
    x = alt.X("from:Q", scale=alt.Scale(domain=[0, most], nice=False), axis=axis)
    labels = alt.Axis(
        title=None, labelFontSize=FONT, labelLimit=400, ticks=False, domain=False, labelPadding=10
    )
    y = alt.Y("bar:N", sort=bars, axis=labels, scale=alt.Scale(paddingInner=0.2, paddingOuter=0.1))
    legend = alt.Legend(
        title=None,
        orient="top",
        labelFontSize=FONT,
        labelLimit=400,
        symbolType="square",
        symbolStrokeWidth=0,
        symbolSize=260,
        columnPadding=24,
    )
    fill = alt.Fill(
        "part:N", scale=alt.Scale(domain=names, range=list(COLOURS)[: len(names)]), legend=legend
    )
    tips = ["bar:N", "part:N", alt.Tooltip("value:Q", format=".4~g")]
    drawn = alt.Chart(rows, name="pieces").mark_bar(stroke="#FFFFFF", strokeWidth=1)
    drawn = drawn.encode(x=x, x2="to:Q", y=y, fill=fill, tooltip=tips)
    look = {"width": size[0], "height": size[1] * len(bars), "view": {"stroke": None}}
    chart = alt.layer(drawn, _numbers(rows, names, x, y, size[0] / most))
    return chart.properties(
        **look,
        description=description(title, [unit, *_words_pieces(rows)]),
        **headline(title, [], size[0] + 120),
    )


def _numbers(
    rows: pd.DataFrame, names: list[str], x: alt.X, y: alt.Y, per_unit: float
) -> alt.Chart:
    """The length of each piece in its middle, where it fits, in the ink of its colour."""
    ink = dict(zip(names, COLOURS.values(), strict=False))
    frame = rows.assign(ink=rows["part"].map(ink), middle=(rows["from"] + rows["to"]) / 2)
    room = [
        v * per_unit >= width(t, False) + 8
        for v, t in zip(frame["value"], frame["text"], strict=True)
    ]
    middle = x.copy()
    middle.shorthand = "middle:Q"
    mark = alt.Chart(frame[room], name="texts").mark_text(fontSize=FONT, baseline="middle")
    return mark.encode(x=middle, y=y, text="text:N", fill=alt.Fill("ink:N", scale=None))


def _words_pieces(rows: pd.DataFrame) -> list[str]:
    """Every bar in words."""
    bars = rows.groupby("bar", sort=False)
    return [
        f"{bar}: " + ", ".join(f"{p} {t}" for p, t in zip(own["part"], own["text"], strict=True))
        for bar, own in bars
    ]


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
    starts = rows["start"].fillna(0.0)
    rows["to"] = (
        starts.groupby(rows["bar"]).transform("first") + rows.groupby("bar")["value"].cumsum()
    )
    rows["from"] = rows["to"] - rows["value"]
    return rows
