"""The MQM editor: choose what each category counts for and what an error costs.

A penalty is linear in what the errors cost. Python counts the errors of each kind per segment once;
mqm_editor.js multiplies by the weights and sums, so no kernel is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import traitlets

from .. import checks, mqm
from ..charts.frame import number
from ..charts.labels import width
from ..charts.offline import drawn
from ..charts.systems import plot_moves, plot_systems
from ..errors import DataError
from ..frontier import pareto_mask
from ..mqm import KINDS, Scheme, Weights, base_system, load_scheme, load_weights, score_ratings
from .base import Widget, _plain_table, _static_page

if TYPE_CHECKING:
    from ..data.ratings import Ratings
    from ..mqm.raters import _MarkedTranslation

_DIGITS = 9  # decimals of a penalty that count when two are compared
# errors of "neither" are in the whole penalty
_SIDES = ("accuracy", "fluency", "neither")
_MOST = 25.0  # upper end of a weight's slider, or twice the weight
_NO_ERROR = "No-error"


def mqm_editor(
    ratings: Ratings,
    *,
    scheme: str | Scheme = "wmt",
    weights: str | Weights = "freitag2021",
    unclassified: str = "error",
    kinds: Mapping[str, str] | None = None,
    shared: bool = True,
    example: _MarkedTranslation | None = None,
    gloss: str = "",
    title: str = "",
) -> _MqmEditor:
    """Make an editor of scheme and weights beside the plane, where systems move with each change.

    Parameters
    ----------
    ratings : Ratings
        From `data.read_ratings`.
    scheme, weights, unclassified
        Initial values, as in `mqm.score_ratings`. Each row of the weights that applies to some error
        of the file gets a slider.
    kinds : mapping, optional
        System → kind of translator, for its marker.
    shared : bool
        Only segments that were rated for every system.
    example : from `mqm.marked_example`, optional
        A translation to mark by hand, then to compare with the raters' marks; without the plane.
    gloss : str
        Of its source, word for word.
    """
    scheme, weights = load_scheme(scheme), load_weights(weights)
    scores = score_ratings(ratings, scheme, weights, unclassified=unclassified)
    data = _counted(ratings, weights, _shares(scores, shared))
    sides = {name: scheme.dimension(name) for name in data["categories"]}
    data["start"]["categories"] = {n: s if s in _SIDES else "neither" for n, s in sides.items()}
    kinds = kinds or {}
    data |= {
        "title": title,
        "names": [scheme.name, weights.name],
        "kinds": [kinds.get(s, kinds.get(base_system(s), "unknown")) for s in ratings.systems],
        "widths": [width(str(s), False) for s in ratings.systems],
        "example": example and _to_mark(example, weights, data, gloss),
    }
    chart = plot_moves(_plane(data, data["start"]))
    start = {name: dict(values) for name, values in data["start"].items()}
    return _MqmEditor.of(chart, data=data | drawn(chart), **start)


class _MqmEditor(Widget, files="mqm_editor.js mqm_editor.css"):
    """The widget that `mqm_editor` makes; `weights` and `categories` follow the page.

    Attributes
    ----------
    weights : dict
        Error → MQM points, at least 0.
    categories : dict
        Category → "accuracy", "fluency" or "neither". A name that is missing from a dictionary keeps
        its value.
    """

    noun = "MQM editor"
    weights = traitlets.Dict().tag(sync=True)
    categories = traitlets.Dict().tag(sync=True)

    @traitlets.validate("weights", "categories")
    def _valid(self, proposal: Any) -> Any:
        part, given = proposal["trait"].name, proposal["value"]
        for name, value in given.items():
            checks.one_of(name, self.data["start"][part], part)
            if part == "categories":
                checks.one_of(value, _SIDES, "side")
            elif not isinstance(value, Real) or not 0 <= float(value) < math.inf:
                raise DataError(f"weight of {name}: got {value!r}, expected MQM points ≥ 0.")
        return self.data["start"][part] | getattr(self, part) | given

    @property
    def state(self) -> dict[str, dict]:
        """The present weights and categories."""
        return {"weights": self.weights, "categories": self.categories}

    def systems(self) -> pd.DataFrame:
        """system, n_segments, penalty, accuracy, fluency, pareto at the present state.

        MQM points per segment, lower is better; pareto: no other system is at least as good on
        accuracy and fluency and better on one.
        """
        values = _penalties(self.data, self.state)
        columns = {"system": self.data["systems"], "n_segments": self.data["n_segments"]}
        table = pd.DataFrame(columns)
        table[list(KINDS)] = values
        ids = np.zeros(len(values), dtype=int)
        return table.assign(pareto=pareto_mask(ids, *(-values[:, 1:].T).round(_DIGITS)))

    def __repr__(self) -> str:
        parts = self.data["start"].items()
        changed = sum(self.state[part][k] != v for part, start in parts for k, v in start.items())
        sizes = f"{len(self.data['systems'])} systems, {len(self.data['categories'])} categories"
        names = " and weights ".join(self.data["names"])
        return f"MqmEditor({sizes}; {changed} changes of scheme {names})"

    def static_html(self) -> str:
        shown = self.systems()[["system", "accuracy", "fluency", "penalty"]]
        rows = [[name, *(number(v, 3) for v in values)] for name, *values in shown.to_numpy()]
        points = "Penalties in MQM points per segment, lower is better. Ring: on the frontier."
        titles = [f"−MQM {of} (points per segment, higher is better)" for of in KINDS[1:]]
        look: Any = {"accuracy_title": titles[0], "naturalness_title": titles[1]}
        plane = _plane(self.data, self.state)
        return _static_page(
            drawn(plot_systems(plane, uncertainty="none", origin="no errors", **look)),
            _plain_table(points, list(shown), rows, "right"),
            title=self.data["title"],
            words=[("To mark:", " ".join(one["words"])) for one in [self.data["example"]] if one],
        )


def _to_mark(
    one: _MarkedTranslation, weights: Weights, data: Mapping, gloss: str
) -> dict[str, Any]:
    """Source, words, and each rater's marks: category, severity, its weight's name, span, first word and end."""
    words, row = one.translation.split(), _row_of(weights)
    raters: dict[str, list] = {}
    for mark in one.marks.itertuples():
        at, label = one.translation.find(mark.span), int(row(mark.severity, mark.category))
        start = len(one.translation[:at].split()) if at >= 0 and mark.span else -1
        marks = raters.setdefault(str(mark.rater), [])
        if label in data["deciding"]:
            name = data["severities"][data["deciding"].index(label)]
            ends = [start, start + len(mark.span.split())]
            marks.append([mark.category, mark.severity, name, mark.span, *ends])
    return {"source": one.source, "gloss": gloss, "words": words, "raters": raters}


def _plane(data: Mapping, state: Mapping) -> pd.DataFrame:
    """The table of `plot_moves`."""
    _, accuracy, fluency = -_penalties(data, state).T + 0.0
    frame = pd.DataFrame({"system": data["systems"], "category": data["kinds"]})
    return frame.assign(accuracy=accuracy, naturalness=fluency)


def _shares(scores: mqm.MqmScores, shared: bool) -> np.ndarray:
    """(n, k) share of one error in a segment: 1 / (raters of the translation · segments)."""
    shape = len(scores.segments), len(scores.systems)
    cell = np.ravel_multi_index((scores.segment, scores.system), shape)
    raters = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    there = raters > 0
    there &= there.all(1, keepdims=True) if shared else True
    if not there.any(0).all():
        raise DataError("editor: no segment was rated for every system. Use shared=False.")
    return np.divide(1.0, raters * there.sum(0), out=np.zeros(shape), where=there)


def _counted(ratings: Ratings, weights: Weights, share: np.ndarray) -> dict[str, Any]:
    """Errors of each kind (category by row of the weights) per rater and segment, by system."""
    names, rows, kind = _kinds(ratings, weights)
    each, k, n_kinds = share[ratings.segment, ratings.system], share.shape[1], len(names)
    counts = np.bincount(kind * k + ratings.system, each, minlength=n_kinds * k).reshape(n_kinds, k)
    weight = np.array([weights.rows[row][2] for row in rows])
    kept = [i for i, name in enumerate(names) if _NO_ERROR not in name or weight[i] != 0]
    seen = {name[0] for name in names if name[0] != _NO_ERROR} | {names[i][0] for i in kept}
    cost = dict.fromkeys(seen, 0.0)
    for (category, _), points in zip(names, counts.sum(1) * weight, strict=True):
        if category in cost:
            cost[category] += points
    categories = sorted(seen, key=lambda c: (-cost[c], c))
    deciding = sorted({rows[i] for i in kept})
    marks = np.bincount(ratings.category, each > 0, minlength=len(ratings.categories)).astype(int)
    at = [float(weights.rows[row][2]) for row in deciding]
    labels = _labels([weights.rows[row] for row in deciding])
    return {
        "systems": list(ratings.systems),
        "n_segments": (share > 0).sum(0).tolist(),
        "categories": categories,
        "marks": [int(marks[ratings.categories.index(c)]) for c in categories],
        "severities": labels,
        "deciding": deciding,
        "tops": [max(_MOST, 2 * w) for w in at],
        "pairs": [[categories.index(names[i][0]), deciding.index(rows[i])] for i in kept],
        "counts": counts[kept].T.tolist(),
        "start": {"weights": dict(zip(labels, at, strict=True))},
    }


def _kinds(
    ratings: Ratings, weights: Weights
) -> tuple[list[tuple[str, str]], list[int], np.ndarray]:
    """(category, severity) of each kind, its row of the weights, (n,) each rating's kind."""
    row = _row_of(weights)
    pairs = np.stack([ratings.category, ratings.severity])
    codes, kind = np.unique(pairs, axis=1, return_inverse=True)
    names = [(ratings.categories[c], ratings.severities[s]) for c, s in codes.T]
    return names, [int(row(severity, category)) for category, severity in names], kind.ravel()


def _row_of(weights: Weights) -> Callable[[str, str], float]:
    """(severity, category) -> number of the row of the weights that decides."""
    numbered = tuple((s, c, float(i), source) for i, (s, c, _, source) in enumerate(weights.rows))
    return Weights("the numbers of the rows", numbered).weight


def _labels(rows: list[tuple]) -> list[str]:
    """A name for each row of the weights: "Major", "Minor · Fluency/Punctuation", "all others"."""
    plain = [
        " · ".join(filter(None, (s.strip("*"), c.strip("*")))) or "all others" for s, c, *_ in rows
    ]
    pairs = zip(plain, rows, strict=True)
    return [text if plain.count(text) == 1 else f"{s} · {c}" for text, (s, c, *_) in pairs]


def _penalties(data: Mapping, state: Mapping) -> np.ndarray:
    """(k, 3) penalty, accuracy and fluency of each system."""
    category, row = np.array(data["pairs"], dtype=int).reshape(-1, 2).T
    points = np.array(data["counts"]) * np.array(list(state["weights"].values()), dtype=float)[row]
    side = np.array(list(state["categories"].values()), dtype=str)[category]
    split = [points[:, side == kind].sum(1) for kind in KINDS[1:]]
    return np.stack([points.sum(1), *split], axis=1)
