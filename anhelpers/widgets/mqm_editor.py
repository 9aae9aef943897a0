"""The MQM editor: say what each category counts for and what an error costs, and the systems move on the plane.

A penalty is linear in what the errors cost. Python counts once how many errors of each kind a system has per segment;
mqm_editor.js multiplies by the weights, adds up and tells who changed places, so no kernel is needed later. Here the
same is done in the same words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import traitlets

from .. import checks
from ..charts.frame import number
from ..charts.labels import width
from ..charts.moves import moves_ranges, plot_moves, zoom
from ..errors import DataError
from ..frontier import pareto_mask
from ..mqm import (
    KINDS,
    MqmScores,
    Scheme,
    Weights,
    base_system,
    load_scheme,
    load_weights,
    score_ratings,
)
from ..stats import correlation_interval, pearson
from .base import Widget, drawn, module, plain_table, static_page, styles

if TYPE_CHECKING:
    from ..data.ratings import Ratings

__all__ = [
    "SIDES",
    "MqmEditor",
    "mqm_editor",
    "penalties",
    "ranks",
    "sentences",
]

MOST_MOVES = 8  # rank changes that are told one by one
DIGITS = 9  # decimals of a penalty that count when two are compared
SIDES = ("accuracy", "fluency", "neither")
"""What a category can count for; its errors are in the whole penalty all the same."""
MOST = 25.0  # a weight's slider ends here, or at twice the weight where that is more
NO_ERROR = "No-error"


def mqm_editor(
    ratings: Ratings,
    *,
    scheme: str | Scheme = "wmt",
    weights: str | Weights = "freitag2021",
    unclassified: str = "error",
    kinds: Mapping[str, str] | None = None,
    shared: bool = True,
    title: str = "",
    size: tuple[int, int] = (500, 470),
) -> MqmEditor:
    """An editable scheme and weights beside the systems on the plane of accuracy and fluency, which move at once.

    Parameters
    ----------
    ratings : from `data.read_ratings`.
    scheme, weights, unclassified : as in `mqm.score_ratings`; where the editor starts. Every row of the weights that
        decides some error of the file gets a slider of its own, so that nothing is lost: a Major error, a Minor one,
        minor punctuation, a non-translation.
    kinds : system -> kind of translator, whose mark it gets (`charts.marks.CATEGORIES`); by default "unknown".
    shared : only segments that were rated for every system, as `plane.rated_plane` has it; False: each system over its
        own, as `MqmScores.by` has it.
    title : the claim. size : (width, height) of the plane in pixels.

    Returns
    -------
    MqmEditor; its `weights` and `categories` follow the page and can be set. Where the environment has
    ANX_MODE=static it shows itself as HTML that works without a kernel.

    Raises
    ------
    DataError as `mqm.score_ratings` does, and where no segment was rated for every system.
    """
    scheme, weights = load_scheme(scheme), load_weights(weights)
    scores = score_ratings(ratings, scheme, weights, unclassified=unclassified)
    data = _counted(ratings, weights, _shares(scores, shared))
    data["start"]["categories"] = {
        name: _side(scheme.dimension(name)) for name in data["categories"]
    }
    kinds = kinds or {}
    data |= {
        "title": title,
        "names": [scheme.name, weights.name],
        "size": list(size),
        "kinds": [kinds.get(s, kinds.get(base_system(s), "unknown")) for s in ratings.systems],
        "widths": [width(str(s), False) for s in ratings.systems],
        "rows": [list(row) for row in weights.rows],
    }
    frame = _plane(data, data["start"])
    ranges = moves_ranges(frame)
    data["box"] = [*ranges[0], *ranges[1], *size]
    chart = plot_moves(frame, ranges=ranges, size=(size[0], size[1]), movable=True)
    start = {name: dict(values) for name, values in data["start"].items()}
    return MqmEditor.of(chart, data=data | drawn(chart), **start)


class MqmEditor(Widget):
    """The widget that `mqm_editor` makes; `weights` and `categories` follow the page and can be set.

    weights : what an error costs, in MQM points: a name of `data["severities"]` -> at least 0.
    categories : what a category counts for: a name of `data["categories"]` -> "accuracy", "fluency" or "neither".
    Whatever is not named in a dictionary that is set keeps its value.
    """

    _esm = module("mqm_editor.js")
    _css = styles("mqm_editor.css")
    noun = "MQM editor"
    weights = traitlets.Dict().tag(sync=True)
    categories = traitlets.Dict().tag(sync=True)

    @traitlets.validate("weights")
    def _valid_weights(self, proposal: Any) -> Any:
        known, value = self.data["start"]["weights"], proposal["value"]
        given = {
            checks.one_of(k, known, "error with a weight"): _points(k, v) for k, v in value.items()
        }
        return {
            name: given.get(name, self.weights.get(name, weight)) for name, weight in known.items()
        }

    @traitlets.validate("categories")
    def _valid_categories(self, proposal: Any) -> Any:
        known, value = self.data["start"]["categories"], proposal["value"]
        given = {
            checks.one_of(k, known, "MQM category"): checks.one_of(v, SIDES, "side")
            for k, v in value.items()
        }
        return {
            name: given.get(name, self.categories.get(name, side)) for name, side in known.items()
        }

    @property
    def state(self) -> dict[str, dict]:
        """weights and categories as they stand."""
        return {"weights": self.weights, "categories": self.categories}

    def systems(self) -> pd.DataFrame:
        """system, n_segments, penalty, accuracy, fluency, pareto, at the present weights and categories.

        MQM points per segment, lower is better: what `mqm.score_ratings` gives with `tables()`. pareto : no other
        system is at least as good on accuracy and fluency and better on one of them.
        """
        values = penalties(self.data, self.state)
        table = pd.DataFrame(
            {"system": self.data["systems"], "n_segments": self.data["n_segments"]}
        )
        table[list(KINDS)] = values
        return table.assign(pareto=_on_frontier(values))

    def sentences(self) -> dict[str, str]:
        """What the page says beside the plane: together or not, pairs, ranks that changed, the frontier."""
        return sentences(
            self.data, *(penalties(self.data, state) for state in (self.data["start"], self.state))
        )

    def tables(self) -> tuple[Scheme, Weights]:
        """The present categories and weights as a scheme and weights for `mqm.score_ratings`, and for CSV files."""
        sides = {side: side for side in SIDES} | {"neither": "ignored"}
        rows = [(NO_ERROR, "none", "no error")] if NO_ERROR not in self.categories else []
        rows += [(name, sides[side], "edited") for name, side in self.categories.items()]
        names = dict(zip(self.data["deciding"], self.weights, strict=True))
        weigh = [(severity, category, 0.0, "no error") for category, severity in self.data["free"]]
        weigh += [
            (s, c, self.weights[names[i]] if i in names else w, source)
            for i, (s, c, w, source) in enumerate(self.data["rows"])
        ]
        scheme, weights = (f"{name}-edited" for name in self.data["names"])
        return Scheme(scheme, tuple(rows)), Weights(weights, tuple(weigh))

    def reset(self) -> None:
        """Back to the scheme and the weights of the start."""
        self.weights, self.categories = (
            self.data["start"]["weights"],
            self.data["start"]["categories"],
        )

    def __repr__(self) -> str:
        changed = sum(
            self.state[part][k] != v
            for part, start in self.data["start"].items()
            for k, v in start.items()
        )
        sizes = f"{len(self.data['systems'])} systems, {len(self.data['categories'])} categories"
        return (
            f"MqmEditor({sizes}; {changed} changes of scheme "
            f"{' and weights '.join(self.data['names'])})"
        )

    def static_html(self) -> str:
        start, now = (_plane(self.data, state) for state in (self.data["start"], self.state))
        frame = now.assign(accuracy_start=start["accuracy"], naturalness_start=start["naturalness"])
        ranges = []
        for axis, (low, high) in (
            ("naturalness", self.data["box"][:2]),
            ("accuracy", self.data["box"][2:4]),
        ):
            factor = zoom(-frame[axis].min(), low)
            ranges.append((low * factor, high * factor))
        chart = plot_moves(frame, ranges=(ranges[0], ranges[1]), size=tuple(self.data["size"]))
        return _static_html(self.data, self.state, chart, self.sentences())


def _plane(data: Mapping, state: Mapping) -> pd.DataFrame:
    """The table of `plot_moves`, of systems that have not moved."""
    _, accuracy, fluency = -penalties(data, state).T + 0.0
    frame = pd.DataFrame({"system": data["systems"], "category": data["kinds"]})
    frame = frame.assign(accuracy=accuracy, naturalness=fluency)
    return frame.assign(accuracy_start=accuracy, naturalness_start=fluency)


def _shares(scores: MqmScores, shared: bool) -> np.ndarray:
    """(n, k) what one error in a segment adds to its system's count: 1 / (raters of the translation · segments)."""
    shape = len(scores.segments), len(scores.systems)
    cell = np.ravel_multi_index((scores.segment, scores.system), shape)
    raters = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    there = raters > 0
    there &= there.all(1, keepdims=True) if shared else True
    if not there.any(0).all():
        raise DataError(
            "no segment was rated for every system; with shared=False each has a mean over its own."
        )
    return np.divide(1.0, raters * there.sum(0), out=np.zeros(shape), where=there)


def _counted(ratings: Ratings, weights: Weights, share: np.ndarray) -> dict[str, Any]:
    """The errors of each kind, category by row of the weights, that a rater marks in a segment, system by system."""
    names, rows, kind = _kinds(ratings, weights)
    each, k, n_kinds = share[ratings.segment, ratings.system], share.shape[1], len(names)
    counts = np.bincount(kind * k + ratings.system, each, minlength=n_kinds * k).reshape(n_kinds, k)
    weight = np.array([weights.rows[row][2] for row in rows])
    free = [NO_ERROR in name and w == 0 for name, w in zip(names, weight, strict=True)]
    kept = [i for i, is_free in enumerate(free) if not is_free]
    seen = {name[0] for name in names if name[0] != NO_ERROR} | {names[i][0] for i in kept}
    points = counts.sum(1) * weight
    cost = {
        c: sum(p for (name, _), p in zip(names, points, strict=True) if name == c) for c in seen
    }
    categories = sorted(seen, key=lambda c: (-cost[c], c))
    deciding = sorted({rows[i] for i in kept})
    marks = (
        np.bincount(ratings.category, each > 0, minlength=len(ratings.categories))
        .astype(int)
        .tolist()
    )
    labels = _labels([weights.rows[row] for row in deciding])
    at = [float(weights.rows[row][2]) for row in deciding]
    return {
        "systems": list(ratings.systems),
        "n_segments": (share > 0).sum(0).tolist(),
        "categories": categories,
        "marks": [marks[ratings.categories.index(c)] for c in categories],
        "severities": labels,
        "deciding": deciding,
        "tops": [max(MOST, 2 * w) for w in at],
        "free": [list(name) for name, is_free in zip(names, free, strict=True) if is_free],
        "pairs": [[categories.index(names[i][0]), deciding.index(rows[i])] for i in kept],
        "counts": counts[kept].T.tolist(),
        "start": {"weights": dict(zip(labels, at, strict=True))},
    }


def _kinds(
    ratings: Ratings, weights: Weights
) -> tuple[list[tuple[str, str]], list[int], np.ndarray]:
    """(category, severity) of each kind of rating, the row of the weights that decides it, (n,) each rating's kind."""
    numbered = tuple((s, c, float(i), source) for i, (s, c, _, source) in enumerate(weights.rows))
    row = Weights("the numbers of the rows", numbered).weight
    codes, kind = np.unique(
        np.stack([ratings.category, ratings.severity]), axis=1, return_inverse=True
    )
    names = [(ratings.categories[c], ratings.severities[s]) for c, s in codes.T]
    return names, [int(row(severity, category)) for category, severity in names], kind.ravel()


def _labels(rows: list[tuple]) -> list[str]:
    """A name for each row of the weights: "Major", "Minor · Fluency/Punctuation", "Non-translation!", "all others"."""
    plain = [
        " · ".join(filter(None, (s.strip("*"), c.strip("*")))) or "all others" for s, c, *_ in rows
    ]
    full = [f"{s} · {c}" for s, c, *_ in rows]
    return [
        text if plain.count(text) == 1 else other for text, other in zip(plain, full, strict=True)
    ]


def _side(dimension: str | None) -> str:
    return dimension if dimension in SIDES else "neither"


def _points(name: str, value: float) -> float:
    """A weight; a DataError says what is wanted."""
    if not isinstance(value, Real) or not 0 <= value < math.inf:
        raise DataError(
            f"the weight of {name} must be a number of at least 0 (MQM points), got {value!r}."
        )
    return float(value)


def penalties(data: Mapping, state: Mapping) -> np.ndarray:
    """(k, 3) penalty, accuracy and fluency of each system: what its errors cost, added up by what they count for."""
    category, row = np.array(data["pairs"], dtype=int).reshape(-1, 2).T
    points = np.array(data["counts"]) * np.array(list(state["weights"].values()), dtype=float)[row]
    side = np.array(list(state["categories"].values()), dtype=str)[category]
    return np.stack(
        [points.sum(1), *(points[:, side == kind].sum(1) for kind in KINDS[1:])], axis=1
    )


def _on_frontier(values: np.ndarray) -> np.ndarray:
    """(k,) bool of (k, 3) penalties: no other system is at least as good on both axes and better on one."""
    return pareto_mask(np.zeros(len(values), dtype=int), *(-values[:, 1:].T).round(DIGITS))


def ranks(values: np.ndarray) -> np.ndarray:
    """(k,) 1 for the least penalty; equal ones share the better rank.

    >>> ranks(np.array([2.0, 1.0, 2.0, 3.0])).tolist()
    [2, 1, 2, 4]
    """
    values = values.round(DIGITS)
    return 1 + (values[:, None] > values).sum(1)


def sentences(data: Mapping, start: np.ndarray, now: np.ndarray) -> dict[str, str]:
    """Heading -> sentence, of (k, 3) penalties at the start and now."""
    names = data["systems"]
    words = {"over all systems": _together(start, now), "pairs of systems": _pairs(now)}
    for i in (1, 2, 0):
        words[f"ranks on {KINDS[i]}"] = _moves(names, ranks(start[:, i]), ranks(now[:, i]))
    before, best = (
        [n for n, on in zip(names, _on_frontier(v), strict=True) if on] for v in (start, now)
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


def _static_html(data: Mapping, state: Mapping, chart: Any, words: Mapping[str, str]) -> str:
    """Picture, sentences and tables, of elements that are kept where no script may run.

    Parameters
    ----------
    chart : of the present state. words : key -> sentence.
    """
    said = [(f"{head}:", text) for head, text in words.items()]
    tables = (_systems(data, state), _weights(data, state), _categories(data, state))
    return static_page(chart, *tables, title=data["title"], words=said)


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
    start, points = data["start"]["categories"], _category_points(data, state)
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


def _category_points(data: Mapping, state: Mapping) -> np.ndarray:
    """(C,) what the errors of each category cost per segment, the mean over the systems."""
    category, row = np.array(data["pairs"], dtype=int).reshape(-1, 2).T
    each = (
        np.array(data["counts"]).mean(0)
        * np.array(list(state["weights"].values()), dtype=float)[row]
    )
    return np.bincount(category, each, minlength=len(data["categories"]))
