"""Tables of translation directions as charts and widgets need them: languages, names, the side of English."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..data.languages import NAMES
from ..errors import DataError
from .marks import checked_columns, checked_numbers

__all__ = ["ALL", "checked_directions", "checked_split", "language_label"]

ALL = "all directions"
# bits, and share of H_LM, by which three numbers, each rounded by itself, may miss their sum
ROUNDING = (0.02, 0.01)
# numbers, where known
OPTIONAL = ("bleu", "xmi_low", "xmi_high", "h_lm_low", "h_lm_high", "h_mt_low", "h_mt_high")


def language_label(code: str) -> str:
    """The English name of a language, or its code where it is not among those known here.

    >>> language_label("fi"), language_label("gsw"), language_label("und")
    ('Finnish', 'Swiss German', 'und')
    """
    return NAMES.get(code, code)


def checked_directions(
    table: pd.DataFrame, numbers: Sequence[str], pivot: str | None = None
) -> pd.DataFrame:
    """The directions of a table that have these numbers, with src, trg, other, label, side and reverse.

    Parameters
    ----------
    table : direction ("en-fi"), the columns named in `numbers`, and where names have no or more than one hyphen src
        and trg. A row that misses a number is left out.
    pivot : the language that all directions share, "en"; None: English if they do, else the one that they share.

    Returns
    -------
    The rows with src, trg ("" where unknown), other : the language that is not the pivot; label : "English → Finnish";
    side : "into English", "out of English", or "all directions" without a pivot; reverse : the direction back, or "".

    Raises
    ------
    DataError : a missing column, a direction twice, an infinite number, no row that can be drawn, a pivot that is not
    in every direction.

    >>> frame = pd.DataFrame({"direction": ["en-fi", "fi-en"], "xmi": [98.0, 92.1]})
    >>> checked_directions(frame, ["xmi"])[["label", "side", "reverse"]].iloc[0].tolist()
    ['English → Finnish', 'out of English', 'fi-en']
    """
    checked_columns(table, ["direction", *numbers], "directions")
    rows = table.assign(direction=table["direction"].astype(str))
    known = [column for column in OPTIONAL if column in rows and column not in numbers]
    rows = checked_numbers(rows, [*numbers, *known], "directions", "direction")
    twice = rows["direction"][rows["direction"].duplicated()]
    if len(twice):
        raise DataError(f"direction {twice.iloc[0]} comes twice in the table; keep one row.")
    rows = rows.dropna(subset=list(numbers)).reset_index(drop=True)
    if rows.empty:
        raise DataError(f"no direction has all of {', '.join(numbers)}: there is nothing to draw.")
    return _sided(_named(rows), pivot)


def checked_split(table: pd.DataFrame, pivot: str | None = None) -> pd.DataFrame:
    """`checked_directions` of h_lm, h_mt and xmi, which must be two cross-entropies and their difference.

    Parameters
    ----------
    pivot : code of the language at one end of every direction; None: the one that is.

    Raises
    ------
    DataError also for a negative cross-entropy, and where XMI is further from H_LM − H_MT than rounding explains.
    """
    rows = checked_directions(table, ["h_lm", "h_mt", "xmi"], pivot)
    for row in rows.to_dict("records"):
        for name in ("h_lm", "h_mt"):
            if row[name] < 0:
                raise DataError(
                    f"{name} of {row['direction']} is {row[name]:g}; the bits of a text are never "
                    "negative."
                )
        if abs(row["h_lm"] - row["h_mt"] - row["xmi"]) > ROUNDING[0] + ROUNDING[1] * row["h_lm"]:
            parts = f"{row['h_lm']:g} - {row['h_mt']:g} = {row['h_lm'] - row['h_mt']:g}"
            raise DataError(
                f"{row['direction']}: h_lm - h_mt is {parts}, but xmi is {row['xmi']:g}; they must "
                "agree."
            )
    return rows


def _named(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with src, trg, label and reverse; where no languages are given, they are read from the name."""
    parts = [re.split(r"\s*(?:->|→|-)\s*", name) for name in rows["direction"]]
    given = {"src", "trg"} <= set(rows)
    for k, end in enumerate(("src", "trg")):
        told = pd.Series(
            [part[k] if len(part) == 2 and all(part) else "" for part in parts], rows.index
        )
        rows = rows.assign(**{end: rows[end].fillna(told) if given else told})
    pairs = list(zip(rows["src"].astype(str), rows["trg"].astype(str), strict=True))
    known = {pair: name for pair, name in zip(pairs, rows["direction"], strict=True) if all(pair)}
    texts = [f"{language_label(src)} → {language_label(trg)}" for src, trg in pairs]
    labels = [
        text if all(pair) else name
        for text, pair, name in zip(texts, pairs, rows["direction"], strict=True)
    ]
    labels = [
        name if labels.count(text) > 1 else text
        for text, name in zip(labels, rows["direction"], strict=True)
    ]
    return rows.assign(label=labels, reverse=[known.get((trg, src), "") for src, trg in pairs])


def _sided(rows: pd.DataFrame, pivot: str | None) -> pd.DataFrame:
    """The rows with side and other."""
    given, pivot = pivot, _pivot(rows) if pivot is None else pivot
    into, out = (rows[end] == pivot for end in ("trg", "src"))
    if given and not (into | out).all():
        outside = rows["direction"][~(into | out)].iloc[0]
        raise DataError(
            f"direction {outside} is neither into nor out of '{given}'; leave it out, or give no "
            "pivot."
        )
    if not pivot:
        return rows.assign(side=ALL, other=rows["src"].where(rows["src"] != "", rows["direction"]))
    name = language_label(pivot)
    return rows.assign(
        side=np.where(into, f"into {name}", f"out of {name}"),
        other=np.where(into, rows["src"], rows["trg"]),
    )


def _pivot(rows: pd.DataFrame) -> str:
    """The language of all directions; "" where there is none."""
    shared = set.intersection(
        *({src, trg} for src, trg in zip(rows["src"], rows["trg"], strict=True))
    ) - {""}
    if len(shared) == 1 or "en" in shared:
        return "en" if "en" in shared else shared.pop()
    return rows["src"].iloc[0] if shared else ""
