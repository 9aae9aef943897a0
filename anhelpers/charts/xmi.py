"""Parts of a sum: XMI and the rest (XMI Figure 3, with BLEU in Figure 2), pieces, words of a text."""

import re
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from .. import checks
from ..data.languages import NAMES
from ..errors import DataError
from ..stats import correlation_interval, pearson
from . import frame as fr
from .frame import COLOURS, FONT, _checked, _framed, _Layer, _of_column, _tip, _told_apart, number
from .labels import _label_layers, width

# Okabe and Ito 2008 and Tol's wine, each with the ink of a text on it
_FILLS = {"#0072B2": "#FFFFFF", "#E69F00": "#000000", "#882255": "#FFFFFF", "#999999": "#000000"}
_SAVED, _LEFT, _WORSE, _ = _FILLS
_PARTS = {
    "saved by the source (XMI)": _SAVED,
    "left over (H_MT)": _LEFT,
    "made worse (XMI below 0)": _WORSE,
}
_ORDERS = ("xmi", "h_lm", "h_mt", "bleu", "name", "given")
_ENDS = ["xmi_low", "xmi_high", "h_lm_low", "h_lm_high"]
# px between words, of a line of words, of the name of a text
_BETWEEN, _LINE, _HEAD = 4, 50, 34
# Okabe and Ito 2008; black on either has a contrast of 9:1
_BELOW, _ABOVE = "#B58BC7", "#6DB58A"
_LINE_END = 380.0  # px, readable on a phone
_ALL = "all directions"
_UNIT = "Bits per sentence"
_WIDE, _ROW = 560, 21  # px of a plane, and of a bar
_SPLIT = ["h_lm", "h_mt", "xmi"]
# bits, and share of H_LM, by which rounded numbers may miss their sum
_ROUNDING = (0.02, 0.01)
_TITLES = ("XMI in bits per sentence →", "BLEU ↑")


def language_label(code: str) -> str:
    """English name of a language, or its code where the name is unknown.

    >>> language_label("fi"), language_label("gsw"), language_label("und")
    ('Finnish', 'Swiss German', 'und')
    """
    return NAMES.get(code, code)


def _directions(table: pd.DataFrame, numbers: Sequence[str]) -> pd.DataFrame:
    """Directions with these numbers, and src, trg, label, reverse, side, other.

    Parameters
    ----------
    table : direction ("en-fi"), numbers; src and trg where names have another form

    Returns
    -------
    label : "English → Finnish"; reverse : direction back, or ""; side : "into English", "out of
    English", or "all directions" where none is shared; other : the language that is not shared.

    >>> frame = pd.DataFrame({"direction": ["en-fi", "fi-en"], "xmi": [98.0, 92.1]})
    >>> _directions(frame, ["xmi"])[["label", "side", "reverse"]].iloc[0].tolist()
    ['English → Finnish', 'out of English', 'fi-en']
    """
    rows = _checked(table, numbers, [*numbers, "bleu", *_ENDS], name="direction")
    rows = rows.astype({"direction": str})
    if (twice := rows["direction"][rows["direction"].duplicated()]).size:
        raise DataError(f"direction {twice.iloc[0]}: got two rows, expected one.")
    parts = [re.split(r"\s*(?:->|→|-)\s*", name) for name in rows["direction"]]
    parsed = [part if len(part) == 2 and all(part) else ["", ""] for part in parts]
    for k, end in enumerate(("src", "trg")):
        told = pd.Series([part[k] for part in parsed], rows.index)
        rows[end] = rows[end].fillna(told) if {"src", "trg"} <= {*table} else told
    pairs = list(zip(rows["src"].astype(str), rows["trg"].astype(str), strict=True))
    known = {pair: name for pair, name in zip(pairs, rows["direction"], strict=True) if all(pair)}
    texts = [f"{language_label(a)} → {language_label(b)}" if a and b else "" for a, b in pairs]
    both = zip(texts, rows["direction"], strict=True)
    rows["label"] = [text if text and texts.count(text) == 1 else name for text, name in both]
    rows["reverse"] = [known.get((trg, src), "") for src, trg in pairs]
    shared = set.intersection(*map(set, pairs)) - {""}
    if not shared:
        return rows.assign(side=_ALL, other=rows["src"].where(rows["src"] != "", rows["direction"]))
    pivot = "en" if "en" in shared else sorted(shared, key=pairs[0].index)[0]
    into, name = rows["trg"] == pivot, language_label(pivot)
    rows["other"] = rows["src"].where(into, rows["trg"])
    return rows.assign(side=np.where(into, f"into {name}", f"out of {name}"))


def plot_xmi_bars(table: pd.DataFrame, *, order: str = "xmi", title: str = "") -> alt.LayerChart:
    """Bar of length H_LM for each direction, split into XMI, saved by the source, and H_MT, left over.

    A negative XMI goes left of 0, and a thick tick marks H_LM, which is then shorter than H_MT.

    Parameters
    ----------
    table : direction, h_lm, h_mt, xmi in bits; src and trg where names have another form than
        "en-fi"; optional xmi_low, xmi_high, h_lm_low, h_lm_high, bleu
        From `xmi.published.published_table`. A direction is beside its reverse.
    order : "xmi", "bleu" (largest first), "h_lm", "h_mt" (smallest first), "name" or "given"; of
        a direction and its reverse, by their mean

    Raises
    ------
    DataError for infinite numbers, and for an XMI that is not H_LM − H_MT within rounding.
    """
    rows = _directions(table, _SPLIT)
    away = (rows["h_lm"] - rows["h_mt"] - rows["xmi"]).abs()
    if (wrong := rows[away > _ROUNDING[0] + _ROUNDING[1] * rows["h_lm"]]).size:
        d, h_lm, h_mt, xmi = wrong[["direction", *_SPLIT]].iloc[0]
        raise DataError(f"{d}: got xmi {xmi:g}, expected h_lm − h_mt = {h_lm - h_mt:g}.")
    rows = _ordered(rows, checks.one_of(order, _ORDERS, "order of bars"))
    layers, digits = _bars(rows)
    pairs = (("xmi_low", "XMI (upper)"), ("h_lm_low", "H_LM (lower)"))
    known = [text for end, text in pairs if end in rows]
    notes = [f"Thin lines: 95 % intervals of {' and of '.join(known)}."] if known else []
    if (rows["xmi"] < 0).any():
        more = "the translation model needs more bits than the language model; the tick marks H_LM."
        notes.append(f"Left of 0: {more}")
    notes += fr._not_drawn(table, rows, name="direction")
    words = [f"{_UNIT}, H_LM = XMI + H_MT"]
    for side, own in rows.groupby("side", sort=True):
        numbers = own[_SPLIT].map(lambda v: number(v, digits)).to_numpy()
        both = zip(own["label"], numbers, strict=True)
        texts = [f"{label} {whole} = {xmi} + {rest}" for label, (whole, rest, xmi) in both]
        words.append(("" if side == _ALL else f"{side}: ") + ", ".join(texts))
    look: dict[str, Any] = {
        "size": (_WIDE, _ROW * float(rows["place"].max() + 1)),
        "width": _WIDE + 200,
    }
    return _framed(alt.layer(*layers), title, words, notes, view={"stroke": None}, **look)


def plot_pieces(
    pieces: pd.DataFrame, *, parts: Sequence[str] = (), title: str = ""
) -> alt.LayerChart:
    """Horizontal bar of each name, its pieces laid end to end, each with its length where it fits.

    Parameters
    ----------
    pieces : bar, part (at most 4), value ≥ 0, in order; optional start of the first piece of a bar
    parts : pieces that take the first colours
    """
    rows = _checked(pieces, ["part", "value"], ["value", "start"], name="bar")
    start = rows["start"].fillna(0.0) if "start" in rows else pd.Series(0.0, rows.index)
    first = start.groupby(rows["bar"]).transform("first")
    rows["to"] = first + rows.groupby("bar")["value"].cumsum()
    rows["from"] = rows["to"] - rows["value"]
    names, bars = dict.fromkeys([*parts, *rows["part"]]), list(dict.fromkeys(rows["bar"]))
    most = float(rows["to"].max()) or 1.0
    rows["text"] = [number(value, _digits(most)) for value in rows["value"]]
    x = _lengths(_UNIT, 0, most)
    axis = alt.Axis(
        title=None, labelFontSize=FONT, labelLimit=400, ticks=False, domain=False, labelPadding=10
    )
    y = alt.Y("bar:N", sort=bars, axis=axis, scale=alt.Scale(paddingInner=0.2, paddingOuter=0.1))
    tips = ["bar:N", "part:N", _tip("value")]
    mark = _Layer(rows, name="pieces").mark_bar(stroke="#FFFFFF", strokeWidth=1)
    drawn = mark.encode(x=x, x2="to:Q", y=y, tooltip=tips, **_colours("part", names, _FILLS))
    inks = dict(zip(names, _FILLS.values(), strict=False))
    middle = rows.assign(ink=rows["part"].map(inks), middle=(rows["from"] + rows["to"]) / 2)
    room = [_fits(t, v, _WIDE / most) for t, v in zip(rows["text"], rows["value"], strict=True)]
    texts = _text(middle[room], "texts", _of_column(x, "middle"), y)
    words = [
        f"{bar}: " + ", ".join(f"{p} {t}" for p, t in zip(own["part"], own["text"], strict=True))
        for bar, own in rows.groupby("bar", sort=False)
    ]
    look: dict[str, Any] = {"size": (_WIDE, 30 * len(bars)), "width": _WIDE + 120}
    return _framed(alt.layer(drawn, texts), title, [_UNIT, *words], view={"stroke": None}, **look)


def _lengths(title: str, least: float, most: float) -> alt.X:
    axis = alt.Axis(title=title, tickCount=_WIDE // 90, grid=False, **fr.AXIS)
    return alt.X("from:Q", scale=alt.Scale(domain=[least, most], nice=False), axis=axis)


def _colours(field: str, names: Any, fills: Any) -> dict[str, Any]:
    square = {"symbolType": "square", "symbolStrokeWidth": 0, "symbolSize": 260}
    above = fr._legend(labelLimit=400, columnPadding=24, **square)
    return _told_apart(field, names, above, fill=fills)


def _digits(largest: float) -> int:
    """Decimals: tenths of a sentence's bits, thousandths of a character's."""
    return 1 if largest >= 20 else 2 if largest >= 5 else 3


def _fits(text: str, length: float, per_bit: float) -> bool:
    return length * per_bit >= width(text) + 8


def _ordered(rows: pd.DataFrame, order: str) -> pd.DataFrame:
    """Rows from top to bottom, with place, the top of the bar in heights of a row."""
    both = zip(rows["direction"], rows["reverse"], strict=True)
    group = pd.Series([min(name, back) if back else name for name, back in both], rows.index)
    if order == "name":
        key = rows["other"].map(language_label)
    else:
        given = pd.Series(np.arange(len(rows)), rows.index)
        key = given if order == "given" else _checked(rows, [order], name="direction")[order]
    key = key.groupby(group).transform("min" if order in ("given", "name") else "mean")
    key = -key if order in ("xmi", "bleu") else key
    frame = rows.assign(key=key, group=group, into=rows["side"].str.startswith("into"))
    frame = frame.sort_values(["key", "group", "into"], kind="stable").reset_index(drop=True)
    new = frame["group"].ne(frame["group"].shift()).cumsum() - 1
    gap = 0.4 if frame["group"].duplicated().any() else 0.0
    return frame.assign(place=np.arange(len(frame)) + gap * new)


def _bars(rows: pd.DataFrame) -> tuple[list[Any], int]:
    """Layers of bars with intervals and texts; decimals."""
    ends = [c for c in _ENDS if c in rows]
    numbers = rows[[*_SPLIT, *ends]].to_numpy(dtype=float)
    least, most = min(0.0, float(np.nanmin(numbers))), float(np.nanmax(numbers))
    most = most if most - least > 1e-9 else 1.0
    per_bit, digits, down = (
        _WIDE / (most - least),
        _digits(most),
        [0, float(rows["place"].max() + 1)],
    )
    x = _lengths(f"{_UNIT}: XMI + H_MT = H_LM, the whole bar", least, most)
    y = alt.Y("place:Q", scale=alt.Scale(domain=down, reverse=True, nice=False), axis=None)
    worse, saved = rows["xmi"] < 0, [*_PARTS]
    first = rows.assign(meaning=np.where(worse, saved[2], saved[0]))
    first = first.assign(**{"from": rows["xmi"].clip(upper=0), "to": rows["xmi"].clip(lower=0)})
    whole = rows["h_mt"].where(worse, rows["h_lm"])
    rest = rows.assign(meaning=saved[1], to=whole, **{"from": rows["xmi"].clip(lower=0)})
    pieces = pd.concat([first, rest], ignore_index=True)
    pieces = pieces.assign(top=pieces["place"] + 0.06, bottom=pieces["place"] + 0.94)
    present = {part: fill for part, fill in _PARTS.items() if part in set(pieces["meaning"])}
    told = [c for c in ("h_lm", "xmi", "h_mt", "bleu") if c in rows]
    tips: list[Any] = ["label:N", *(_tip(c, c.upper()) for c in told)]
    mark = _Layer(pieces, name="bars").mark_rect(stroke="#FFFFFF", strokeWidth=1)
    fill = _colours("meaning", present, present.values())
    bars = mark.encode(x=x, x2="to:Q", y=_of_column(y, "top"), y2="bottom:Q", tooltip=tips, **fill)
    zero = _Layer(pd.DataFrame({"from": [0.0]})).mark_rule(color="#000000", strokeWidth=1.5)
    layers = [bars, zero.encode(x=x)]
    if worse.any():
        ticks = rows[worse].assign(bottom=rows["place"] + 1)
        tick = _Layer(ticks, name="ticks").mark_rule(color="#000000", strokeWidth=4)
        layers.append(tick.encode(x=_of_column(x, "h_lm"), y=y, y2="bottom:Q"))
    for name, share in (("xmi", 0.25), ("h_lm", 0.75)):
        if {low := f"{name}_low", f"{name}_high"} <= {*ends}:
            frame = rows.dropna(subset=[low]).assign(at=rows["place"] + share)
            span = {"x": _of_column(x, low), "x2": f"{name}_high:Q", "y": _of_column(y, "at")}
            for ink, wide in (("#FFFFFF", 4), ("#000000", 2)):
                layers.append(_Layer(frame).mark_rule(color=ink, strokeWidth=wide).encode(**span))
    texts = []
    for row, end in zip(rows.to_dict("records"), whole, strict=True):
        outside, right = "", max(end, row.get("h_lm_high") or end, end) + 6 / per_bit
        for column, middle, ink in (
            ("xmi", row["xmi"] / 2, "#FFFFFF"),
            ("h_mt", (max(row["xmi"], 0) + end) / 2, "#000000"),
        ):
            text = number(row[column], digits)
            if _fits(text, row[column], per_bit):
                texts.append((text, middle, "center", ink, row))
            else:
                outside += ", " * bool(outside) + f"{column.upper()} {text}"
        beside = number(row["h_lm"], digits) + f" ({outside})" * bool(outside)
        texts += [(beside, right, "left", "#000000", row)]
        texts += [(row["label"], least - 10 / per_bit, "right", "#000000", row)]
    placed = [(*text, row["place"] + 0.52) for *text, row in texts]
    frame = pd.DataFrame(placed, columns=["text", "from", "align", "ink", "place"])
    for align, own in frame.groupby("align"):
        layers.append(_text(own, f"texts_{align}", x, y, align=align))
    return layers, digits


def _text(frame: pd.DataFrame, name: str, x: alt.X, y: alt.Y, **look: Any) -> alt.Chart:
    mark = _Layer(frame, name=name).mark_text(fontSize=FONT, baseline="middle", **look)
    return mark.encode(x=x, y=y, text="text:N", fill=alt.Fill("ink:N", scale=None))


def plot_xmi_bleu(
    table: pd.DataFrame, *, named: Sequence[str] = (), title: str = ""
) -> alt.LayerChart:
    """XMI (x) against BLEU (y): a point for each direction, a colour and shape for each side.

    The legend has each side's Pearson r with Fisher's 95 % interval and n.

    Parameters
    ----------
    table : direction, xmi, bleu; src and trg where names have another form than "en-fi"; optional
        xmi_low, xmi_high
    named : directions in bold, placed first
    """
    rows = _directions(table, ["xmi", "bleu"])
    for name in named:
        checks.one_of(name, rows["direction"], "direction")
    rows = rows.assign(x=rows["xmi"], y=rows["bleu"], bold=rows["direction"].isin(list(named)))
    sides = sorted(rows["side"].unique())
    told = {side: _told(side, rows[rows["side"] == side]) for side in sides}
    rows["series"] = rows["side"].map(told)
    known = {"xmi_low", "xmi_high"} <= {*rows}
    sure = rows.dropna(subset=["xmi_low", "xmi_high"]) if known else rows[:0]
    extent = [rows["x"], *(sure[c] for c in ("xmi_low", "xmi_high") if known)]
    plane = fr._Frame.over(np.concatenate(extent), rows["y"], _TITLES, size=(680, 500), title=title)
    layers, paths = [], []
    for k, name in enumerate(told.values()):
        own, rule = (frame[frame["series"] == name] for frame in (rows, sure))
        if len(own) > 2 and np.ptp(own["x"]) > 0:
            slope, level = np.polyfit(own["x"], own["y"], 1)
            ends = np.array([own["x"].min(), own["x"].max()])
            fit = pd.DataFrame({"x": ends, "y": level + slope * ends})
            look = {"strokeWidth": 2.5, "color": COLOURS[k], "strokeDash": fr.DASHES[k]}
            layers.append(_Layer(fit, name=f"fit_{k}").mark_line(**look).encode(**plane.channels))
            paths.append(plane.at(fit))
        if len(rule):
            mark = _Layer(rule, name=f"intervals_{k}").mark_rule(strokeWidth=1.5, color=COLOURS[k])
            span = {"x": plane.on("x", "xmi_low"), "x2": "xmi_high:Q", "y": plane.channels["y"]}
            layers.append(mark.encode(**span))
    inks = dict(zip(sides, fr.INKS, strict=False))
    labelled = rows.assign(label=rows["other"], ink=rows["side"].map(inks))
    leaders, texts, lost = _label_layers(labelled, plane, paths)
    above = fr._legend(direction="vertical", labelLimit=600, symbolSize=160)
    tips: list[Any] = ["label:N", _tip("xmi", "XMI"), _tip("bleu", "BLEU")]
    tips += [_tip(c) for c in ("h_lm", "h_mt", "n") if c in rows]
    looks = _told_apart("series", told.values(), above, fill=COLOURS, shape=fr.SHAPES)
    mark = fr._dots(rows, "points", size=110, stroke="#FFFFFF")
    points = mark.encode(**plane.channels, **looks, tooltip=tips)
    words = [" by ".join(_TITLES[::-1])]
    for side, text in told.items():
        own = rows[rows["side"] == side][["direction", "x", "y"]].itertuples(index=False)
        words.append(f"{text}: " + ", ".join(f"{d} ({x:.4g}, {y:.4g})" for d, x, y in own))
    words.append(fr._unnamed(lost))
    notes = fr._not_drawn(table, rows, name="direction")
    return plane.finished([*layers, points, *leaders, *texts], words, notes)


def _told(side: str, rows: pd.DataFrame) -> str:
    """Legend of a side: "into English: r = 0.96 (0.90 to 0.98), n = 20"."""
    n = len(rows)
    r = float(pearson(rows["xmi"], rows["bleu"])) if n > 2 else np.nan
    low, high = map(float, correlation_interval(r, n))
    interval = f" ({number(low, 2)} to {number(high, 2)})" if np.isfinite(low) else ""
    return f"{side}: " + f"r = {number(r, 2)}{interval}, " * bool(np.isfinite(r)) + f"n = {n}"


def plot_words(words: pd.DataFrame, *, title: str = "") -> alt.LayerChart:
    """Texts with their scores, and each word on the colour of its part: green above 0, purple below.

    Parameters
    ----------
    words : text, token, value; a row per token in reading order, as from `naturalness.critic.explain`
        The values of a text sum to its score; the token "" is common to all texts.
    """
    rows = _checked(words, ["token", "value"], ["value"], name="text").astype({"text": str})
    rows["shown"] = rows["token"].astype(str).replace("", "(base)")
    rows["number"] = [_with_sign(value) for value in rows["value"]]
    left, top, before, boxes = 0.0, -float(_LINE + _BETWEEN), None, []
    for row in rows.itertuples():
        wide = max(width(row.shown), width(row.number)) + 16
        if row.text != before:
            left, top, before = 0.0, top + _LINE + _BETWEEN + _HEAD, row.text
        elif left + wide > _LINE_END and left:
            left, top = 0.0, top + _LINE + _BETWEEN
        boxes.append((left, left + wide, top, top + _LINE - 4, left + wide / 2, top + 12, top + 33))
        left += wide + _BETWEEN
    columns = ["left", "right", "top", "bottom", "middle", "at", "below"]
    rows[columns] = np.array(boxes)
    heads = rows.groupby("text", sort=False).agg(value=("value", "sum"), top=("top", "min"))
    heads = heads.reset_index()
    heads["label"] = heads["text"] + ": " + heads["value"].map(_with_sign) + " nats"
    heads = heads.assign(left=0.0, at=heads["top"] - _HEAD / 2)
    across, down = [0, max(_LINE_END, rows["right"].max())], [float(rows["top"].max()) + _LINE, 0]
    scales = [alt.Scale(domain=d, nice=False, zero=False) for d in (across, down)]
    x, middle = (alt.X(f"{c}:Q", axis=None, scale=scales[0]) for c in ("left", "middle"))
    y, at, low = (alt.Y(f"{c}:Q", axis=None, scale=scales[1]) for c in ("top", "at", "below"))
    most = float(rows["value"].abs().max()) or 1.0
    scale = alt.Scale(domain=[-most, 0, most], range=[_BELOW, "#FFFFFF", _ABOVE], interpolate="rgb")
    tips: list[Any] = ["text:N", "token:N", alt.Tooltip("number:N", title="value")]
    look: dict[str, Any] = {"fontSize": FONT, "baseline": "middle"}
    base, fill = _Layer(rows), alt.Fill("value:Q", scale=scale, legend=None)
    box = base.mark_rect(stroke="#BBBBBB", strokeWidth=1)
    head = _Layer(heads).mark_text(**look, align="left", fontWeight="bold")
    chart = alt.layer(
        box.encode(x=x, x2="right:Q", y=y, y2="bottom:Q", fill=fill, tooltip=tips),
        base.mark_text(**look, color="#111111").encode(x=middle, y=at, text="shown:N"),
        base.mark_text(**look, color="#111111").encode(x=middle, y=low, text="number:N"),
        head.encode(x=x, y=at, text="label:N"),
    )
    notes = ["Nats per word: green raises the score, purple lowers it. Each text starts at (base)."]
    parts = []
    for label, (_, own) in zip(heads["label"], rows.groupby("text", sort=False), strict=True):
        both = zip(own["shown"], own["number"], strict=True)
        parts.append(f"{label}: " + ", ".join(f"{shown} {text}" for shown, text in both))
    return _framed(chart, title, parts, notes, size=(across[1], down[0]), view={"stroke": None})


def _with_sign(value: float) -> str:
    text = number(value, 2)
    return text if text.startswith("−") or text == "0.00" else f"+{text}"
