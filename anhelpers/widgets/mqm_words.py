"""What the MQM editor says: penalties from counts, and who changed places, in the words of mqm_editor.js."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..charts.describe import number
from ..charts.offline import picture
from ..frontier import pareto_mask
from ..mqm import KINDS
from ..stats import correlation_interval, pearson
from .base import plain_table

__all__ = ["on_frontier", "penalties", "ranks", "static_html", "told"]

MOST_MOVES = 8  # rank changes that are told one by one
DIGITS = 9  # decimals of a penalty that count when two are compared


def penalties(data: Mapping, state: Mapping) -> np.ndarray:
    """(k, 3) penalty, accuracy and fluency of each system: what its errors cost, added up by what they count for."""
    category, row = np.array(data["pairs"], dtype=int).reshape(-1, 2).T
    points = np.array(data["counts"]) * np.array(list(state["weights"].values()), dtype=float)[row]
    side = np.array(list(state["categories"].values()), dtype=str)[category]
    return np.stack(
        [points.sum(1), *(points[:, side == kind].sum(1) for kind in KINDS[1:])], axis=1
    )


def on_frontier(values: np.ndarray) -> np.ndarray:
    """(k,) bool of (k, 3) penalties: no other system is at least as good on both axes and better on one."""
    return pareto_mask(np.zeros(len(values), dtype=int), *(-values[:, 1:].T).round(DIGITS))


def ranks(values: np.ndarray) -> np.ndarray:
    """(k,) 1 for the least penalty; equal ones share the better rank.

    >>> ranks(np.array([2.0, 1.0, 2.0, 3.0])).tolist()
    [2, 1, 2, 4]
    """
    values = values.round(DIGITS)
    return 1 + (values[:, None] > values).sum(1)


def told(data: Mapping, start: np.ndarray, now: np.ndarray) -> dict[str, str]:
    """Heading -> sentence, of (k, 3) penalties at the start and now."""
    names = data["systems"]
    words = {"over all systems": _together(start, now), "pairs of systems": _pairs(now)}
    for i in (1, 2, 0):
        words[f"ranks on {KINDS[i]}"] = _moves(names, ranks(start[:, i]), ranks(now[:, i]))
    before, best = (
        [n for n, on in zip(names, on_frontier(v), strict=True) if on] for v in (start, now)
    )
    was = f" (at the start {', '.join(before)})" if best != before else ""
    return words | {"on the frontier": ", ".join(best) + was}


def _together(start: np.ndarray, now: np.ndarray) -> str:
    """ "together, Pearson r = 0.93 (95 % 0.70 to 0.98), n = 9 systems; at the start r = 0.90"."""
    n, (was, r) = len(now), (_pearson(v) for v in (start, now))
    before = "" if number(r, 2) == number(was, 2) else f"; at the start r = {number(was, 2)}"
    if np.isnan(r):
        return f"no correlation, as all {n} systems are equal on one axis{before}"
    low, high = (float(end) for end in correlation_interval(r, n))
    word = "together" if low > 0 else "against each other" if high < 0 else "undecided"
    ends = "" if np.isnan(low) else f" (95\u00a0% {number(low, 2)} to {number(high, 2)})"
    return f"{word}, Pearson r = {number(r, 2)}{ends}, n = {n} systems{before}"


def _pearson(values: np.ndarray) -> float:
    return float(pearson(*values[:, 1:].round(DIGITS).T))


def _pairs(now: np.ndarray) -> str:
    """How many pairs of systems agree on both axes in who is better."""
    accuracy, fluency = (np.sign(v[:, None] - v) for v in now[:, 1:].round(DIGITS).T)
    agree = (accuracy * fluency)[np.triu_indices(len(now), 1)]
    return f"{(agree > 0).sum()} together, {(agree < 0).sum()} against each other, of {len(agree)}"


def _moves(names: list[str], before: np.ndarray, now: np.ndarray) -> str:
    """Who changed ranks, the farthest first: "B 3 → 1, A 1 → 2"."""
    moved = sorted(
        np.flatnonzero(before != now).tolist(), key=lambda i: -abs(int(now[i]) - int(before[i]))
    )
    parts = [f"{names[i]} {before[i]} → {now[i]}" for i in moved[:MOST_MOVES]]
    rest = [f"{len(moved) - MOST_MOVES} more"] if len(moved) > MOST_MOVES else []
    return ", ".join(parts + rest) or "no change"


def static_html(data: Mapping, state: Mapping, chart: Any, words: Mapping[str, str]) -> str:
    """Picture, sentences and tables, of elements that are kept where no script may run.

    Parameters
    ----------
    chart : of the present state. words : key -> sentence.
    """
    title = f"<p><b>{html.escape(data['title'])}</b></p>" if data["title"] else ""
    said = "".join(
        f"<p><b>{html.escape(head)}:</b> {html.escape(text)}</p>" for head, text in words.items()
    )
    tables = (_systems(data, state), _weights(data, state), _categories(data, state))
    return f"{title}<p>{picture(chart)}</p>{said}{''.join(tables)}"


def _systems(data: Mapping, state: Mapping) -> str:
    values = penalties(data, state)[:, [1, 2, 0]]
    places = np.stack([ranks(column) for column in values.T], axis=1)
    rows = [
        [name, *(f"{number(v, 3)} ({p})" for v, p in zip(value, place, strict=True))]
        for name, value, place in zip(data["systems"], values, places, strict=True)
    ]
    heads = ["system", *(f"{kind} (rank)" for kind in ("accuracy", "fluency", "penalty"))]
    n = " to ".join(map(str, sorted({min(data["n_segments"]), max(data["n_segments"])})))
    what = "Penalties in MQM points per segment: 0 is perfect, lower is better."
    return plain_table(
        f"{what} n = {n} segments. In the picture, a ring: on the frontier.", heads, rows, "right"
    )


def _weights(data: Mapping, state: Mapping) -> str:
    start = data["start"]["weights"]
    rows = [[name, f"{value:g}", f"{start[name]:g}"] for name, value in state["weights"].items()]
    return plain_table(
        "What an error costs, in MQM points.", ["error", "weight", data["names"][1]], rows, "right"
    )


def _categories(data: Mapping, state: Mapping) -> str:
    start, points = data["start"]["categories"], category_points(data, state)
    rows = [
        [name, str(marks), number(p, 3), side, start[name]]
        for (name, side), marks, p in zip(
            state["categories"].items(), data["marks"], points, strict=True
        )
    ]
    heads = ["category", "marks", "points per segment", "counts for", data["names"][0]]
    return plain_table(
        "What each category counts for. Points: the mean over the systems.", heads, rows, "right"
    )


def category_points(data: Mapping, state: Mapping) -> np.ndarray:
    """(C,) what the errors of each category cost per segment, the mean over the systems."""
    category, row = np.array(data["pairs"], dtype=int).reshape(-1, 2).T
    each = (
        np.array(data["counts"]).mean(0)
        * np.array(list(state["weights"].values()), dtype=float)[row]
    )
    return np.bincount(category, each, minlength=len(data["categories"]))
