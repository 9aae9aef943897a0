"""Texts word by word, each word on the colour of its part in a score, with the number below it."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ..errors import DataError
from .frame import framed, number
from .labels import width
from .marks import FONT, Layer, checked_columns, checked_numbers

__all__ = ["plot_words"]

BELOW, ABOVE = "#E69F00", "#56B4E9"  # of Okabe and Ito; black on either has a contrast of 9:1
# pixels: between words, of a line of words with their numbers, of the name of a text
GAP, LINE, PART = 4, 50, 34
BASE = "(every text)"


def plot_words(
    words: pd.DataFrame, *, title: str = "", unit: str = "nats", size: int = 760
) -> alt.LayerChart:
    """Texts with their scores, and below each word what it adds to the score: on blue above 0, on orange below.

    Parameters
    ----------
    words : text, token, value; a row per token, in reading order, such as the rows of `naturalness.critic.explain`
        with a name of their text. The values of a text add up to its score; the token "" is what every text has.
    title : what the picture claims. unit : of the values. size : width in pixels, at which lines end.

    Raises
    ------
    DataError for a missing column, a value that is not finite, no row, or a text whose rows do not stand together.
    """
    rows = _laid(words, size)
    heads = (
        rows.groupby("text", sort=False)
        .agg(value=("value", "sum"), top=("top", "min"))
        .reset_index()
    )
    heads["label"] = heads["text"] + ": " + heads["value"].map(_signed) + f" {unit}"
    wide, high = max(float(size), rows["right"].max()), float(rows["top"].max()) + LINE
    most = float(rows["value"].abs().max()) or 1.0
    x, middle = (_place(alt.X, f, [0, wide]) for f in ("left", "middle"))
    top, at, below = (_place(alt.Y, f, [high, 0]) for f in ("top", "at", "below"))
    scale = alt.Scale(domain=[-most, 0, most], range=[BELOW, "#FFFFFF", ABOVE], interpolate="rgb")
    fill = alt.Fill("value:Q", scale=scale, legend=None)
    tips = ["text:N", "token:N", alt.Tooltip("value:Q", format="+.3f")]
    look: dict[str, Any] = {"fontSize": FONT, "baseline": "middle"}
    base = Layer(rows.assign(at=rows["top"] + 12, below=rows["top"] + 33))
    named = Layer(heads.assign(left=0.0, at=heads["top"] - PART / 2))
    chart = alt.layer(
        base.mark_rect(stroke="#BBBBBB", strokeWidth=1).encode(
            x=x, x2=alt.X2("right:Q"), y=top, y2=alt.Y2("bottom:Q"), fill=fill, tooltip=tips
        ),
        base.mark_text(**look).encode(x=middle, y=at, text=alt.Text("shown:N")),
        base.mark_text(**look, color="#333333").encode(
            x=middle, y=below, text=alt.Text("number:N")
        ),
        named.mark_text(**look, align="left", fontWeight="bold").encode(
            x=x, y=at, text=alt.Text("label:N")
        ),
    )
    notes = [f"Below each word its {unit}: + and blue raise the score, − and orange lower it."]
    return framed(chart, title, _told(rows, heads), notes, size=(wide, high), view={"stroke": None})


def _place(channel: Any, field: str, domain: list[float]) -> Any:
    return channel(f"{field}:Q", axis=None, scale=alt.Scale(domain=domain, nice=False, zero=False))


def _signed(value: float) -> str:
    """Two decimals with their sign, and none before a zero."""
    text = number(value, 2)
    return text if text.startswith("−") or text == "0.00" else f"+{text}"


def _laid(words: pd.DataFrame, size: int) -> pd.DataFrame:
    """The tokens with what is printed of them and the pixels of their boxes."""
    checked_columns(words, ["text", "token", "value"], "words")
    rows = words.reset_index(drop=True).astype({"text": str, "token": str})
    rows = checked_numbers(rows, ["value"], "words", "token")
    if rows.empty or rows["value"].isna().any():
        raise DataError(
            "no words to draw." if rows.empty else "a word has no value (nan); leave its text out."
        )
    starts = rows["text"][rows["text"] != rows["text"].shift()]
    if twice := starts[starts.duplicated()].tolist():
        raise DataError(
            f"the words of '{twice[0]}' stand in two places; give each text a name of its own."
        )
    rows["shown"] = rows["token"].replace("", BASE)
    rows["number"] = [_signed(value) for value in rows["value"]]
    boxes: list[tuple[float, ...]] = []
    left, top, text = 0.0, 0.0, None
    for row in rows[["text", "shown", "number"]].itertuples(index=False):
        wide = max(width(row.shown, False), width(row.number, False)) + 16
        if row.text != text:
            left, top, text = 0.0, top + (LINE + GAP if boxes else 0) + PART, row.text
        elif left + wide > size and left:
            left, top = 0.0, top + LINE + GAP
        boxes.append((left, left + wide, top, top + LINE - 4))
        left += wide + GAP
    rows[["left", "right", "top", "bottom"]] = np.array(boxes)
    return rows.assign(middle=(rows["left"] + rows["right"]) / 2)


def _told(rows: pd.DataFrame, heads: pd.DataFrame) -> list[str]:
    """Every text in words, each with its number."""
    groups = (own for _, own in rows.groupby("text", sort=False))
    texts = (
        ", ".join(
            f"{shown} {text}" for shown, text in zip(own["shown"], own["number"], strict=True)
        )
        for own in groups
    )
    return [f"{label}: {text}" for label, text in zip(heads["label"], texts, strict=True)]
