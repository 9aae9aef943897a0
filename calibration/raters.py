"""Raters: scores of systems for other raters, severity taken out, agreement, and the plane of a class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from anhelpers import classroom
from anhelpers.mqm import KINDS, MqmScores, adjust_raters, system_table

from .row import FEW, Row
from .worlds import World

__all__ = ["rows"]

DRAWS = 300
"""Resamples behind an interval: fewer than elsewhere, for a world has many ratings."""
BASE = World("MQM-like", "skewed")
FEW_RATERS = 5
"""Below so many, an interval for other raters has no tolerance."""
SPREAD = 0.4
"""Standard deviation of the logarithm of a rater's severity; of WMT23's ten raters it is 0.6, of TED's four 0.4."""


@dataclass(frozen=True)
class Crew:
    """Who rates what.

    Parameters
    ----------
    raters : in all. each : how many see a segment. nested : whether a document is rated by the same ones throughout.
    kind : "multiplicative" (a strict rater gives more points for all), "additive" (marks more anywhere), "equal".
    """

    raters: int
    each: int
    nested: bool
    kind: str

    def __str__(self) -> str:
        every = {1: "one rater", self.raters: "all raters"}.get(self.each, f"{self.each} raters")
        a = "document" if self.nested else "segment"
        return f"{self.kind} severities, {self.raters} raters, {every} a {a}"


KINDS_OF_SEVERITY = {"multiplicative": (10, 40), "additive": (20,), "equal": (20,)}
"""Kind -> numbers of documents."""
CREWS = [
    (3, 3, False),
    (5, 5, False),
    (8, 8, False),
    (5, 3, True),
    (8, 3, True),
    (3, 1, False),
    (5, 1, False),
    (8, 1, False),
    (5, 1, True),
    (8, 1, True),
]

READERS = {
    "alike": ("who agree well", 1.1, 0.6),
    "chance": ("who rate by chance", 0.0, 1.1),
    "narrow": ("who nearly always give the same rating", 0.3, 0.3),
}
"""Who -> words, and standard deviations of the merits they see and of what each adds by chance, in ratings."""


def rows() -> Iterator[Row]:
    """All rows, in the order of the page."""
    for raters, each, nested in CREWS:
        for kind, m in ((kind, m) for kind, many in KINDS_OF_SEVERITY.items() for m in many):
            crew = Crew(raters, each, nested, kind)
            if kind == "equal" and raters != 5:
                continue
            ends = (None, None) if raters < FEW_RATERS or kind == "equal" else (0.9, 0.98)
            yield Row(
                "interval of a system's penalty, for other documents and raters",
                f"{crew}, {m} documents",
                0.95,
                *ends,
                partial(_system, crew, m),
            )
    for n, (kind, many) in product((4, 8), KINDS_OF_SEVERITY.items()):
        for m in many:
            setting = f"{kind} severities, {n} raters, one rater a translation, {m} documents"
            what, whole = "interval of a rater-adjusted penalty, for other documents", (0.9, 0.98)
            yield Row(
                f"{what} and raters",
                setting,
                0.95,
                *((None, None) if n < FEW_RATERS else whole),
                partial(_adjusted, kind, n, m, "all"),
            )
            yield Row(
                f"{what} and the same raters",
                setting,
                0.95,
                *whole,
                partial(_adjusted, kind, n, m, "same"),
            )
            more = (None, None) if kind == "equal" else (0.5, 1.0)
            yield Row(
                "differences of systems are nearer the truth once severity is taken out",
                setting,
                0.5,
                *more,
                partial(_adjusted, kind, n, m, "nearer"),
            )

    for (m, k), n, who in product(((10, 1), (20, 1), (40, 1), (5, 3), (10, 3)), (2, 5), READERS):
        if who == "narrow" and (n > 2 or m not in (10, 20) or k > 1):
            continue
        what = f"{m} segments, {k} translation{'s' * (k > 1)} of each, {n} raters {READERS[who][0]}"
        yield Row(
            "interval of Krippendorff's α, for other segments and the same raters",
            what,
            0.95,
            *((None, None) if m < FEW or who == "narrow" else (0.92, 0.98)),
            partial(_alpha, m, k, n, who),
        )
    for m, n in product((5, 10, 20), (5, 20)):
        for what, ends in (
            ("interval of a system", (0.92, 0.98)),
            ("adjusted interval of a system", (0.92, 0.98)),
        ):
            yield Row(
                f"plane of a class: {what}",
                f"{m} segments, 3 of 5 systems in each, {n} raters",
                0.95,
                *(ends if m >= FEW else (None, None)),
                partial(_class, m, n, what),
            )


def _severity(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(n,) factors with the mean 1 over all raters there could be, and (n,) points that each adds, with ADDED."""
    by = SPREAD if kind == "multiplicative" else 0.0
    return np.exp(rng.normal(-by * by / 2, by, n)), rng.gamma(2.25, _added(kind) / 2.25, n)


def _added(kind: str) -> float:
    """The mean points that raters add to any segment, of which two thirds are their standard deviation."""
    return 0.6 * BASE.truth if kind == "additive" else 0.0


def _scores(
    system: np.ndarray, segment: np.ndarray, rater: np.ndarray, y: np.ndarray, docs: np.ndarray
) -> MqmScores:
    """MqmScores of (U,) penalties, which stand for accuracy and fluency, too."""
    names = tuple(map(str, range(len(docs))))
    systems, raters = (
        tuple(f"{a}{i}" for i in range(int(code.max()) + 1))
        for a, code in (("s", system), ("r", rater))
    )
    return MqmScores(
        systems,
        raters,
        names,
        tuple(map(str, docs)),
        ("all",) * len(docs),
        system,
        segment,
        rater,
        np.stack([y] * len(KINDS), axis=1),
        "simulated",
    )


def _system(crew: Crew, m: int, rng: np.random.Generator) -> bool:
    """Whether the interval of one system holds its penalty over all documents and raters."""
    level, docs = BASE.documents(rng, m)
    many = m if crew.nested else len(docs)
    drawn = rng.permuted(np.tile(np.arange(crew.raters), (many, 1)), axis=1)[:, : crew.each]
    rater = (drawn[docs] if crew.nested else drawn).ravel()
    segment = np.repeat(np.arange(len(docs)), crew.each)
    factor, points = _severity(crew.kind, crew.raters, rng)
    seen = level[segment] * (rng.random(len(segment)) < 0.7) / 0.7  # each overlooks something
    _, rater = np.unique(rater, return_inverse=True)
    y = factor[rater] * seen + rng.poisson(points[rater])
    truth = BASE.truth + _added(crew.kind)
    table = system_table(_scores(np.zeros_like(segment), segment, rater, y, docs), rng, DRAWS)
    return bool(table.penalty_low[0] <= truth <= table.penalty_high[0])


def _adjusted(kind: str, n: int, m: int, of: str, rng: np.random.Generator) -> object:
    """Six systems, each rated more by some raters than by others: whether an interval holds, or an order is nearer."""
    level, docs = BASE.documents(rng, m)
    k, (factor, points) = 6, _severity(kind, n, rng)
    quality, shares = np.exp(rng.normal(0, 0.2, k)), rng.dirichlet(np.full(n, 3.0), k)
    system, segment = np.tile(np.arange(k), len(docs)), np.repeat(np.arange(len(docs)), k)
    rater = (rng.random(len(system))[:, None] > shares.cumsum(1)[system]).sum(1).clip(max=n - 1)
    seen = quality[system] * level[segment] * (rng.random(len(system)) < 0.6) / 0.6
    codes, rater = np.unique(rater, return_inverse=True)
    factor, points = factor[codes], points[codes]
    y = factor[rater] * seen + rng.poisson(points[rater])
    scores = _scores(system, segment, rater, y, docs)
    if of == "nearer":
        raw, mended = (
            one.by("system").penalty.to_numpy() for one in (scores, adjust_raters(scores))
        )
        # of these segments and raters
        here = level.mean() * quality * factor.mean() + points.mean()
        return bool(_apart(mended, here) < _apart(raw, here))
    table = system_table(adjust_raters(scores), rng, DRAWS).sort_values("system")
    if of == "all":
        truth = quality * BASE.truth + _added(kind)
        return ((table.penalty_low <= truth) & (truth <= table.penalty_high)).to_numpy()
    truth = quality * BASE.truth * factor.mean() + points.mean()
    return (
        (table.penalty_low_same_raters <= truth) & (truth <= table.penalty_high_same_raters)
    ).to_numpy()


def _apart(found: np.ndarray, truth: np.ndarray) -> float:
    """How far differences of systems are from those that are true, as shares of their mean."""
    return float(np.std(found / found.mean() - truth / truth.mean()))


def _ratings(
    merit: np.ndarray, lenient: np.ndarray, rng: np.random.Generator, noise: float = 0.6
) -> np.ndarray:
    """(n, R) ratings from 1 to 5 of translations of these merits."""
    chance = rng.normal(0, noise, (len(merit), len(lenient)))
    return np.clip(np.round(merit[:, None] + lenient + chance), 1, 5)


def _together(
    values: np.ndarray, segment: np.ndarray, rng: np.random.Generator
) -> classroom.ClassRatings:
    """The (n, R) accuracies of a class, of which one in thirty is missing."""
    n, r = values.shape
    given = np.where(rng.random(values.shape) < 1 / 30, np.nan, values).T.ravel()
    columns = {
        "rater": np.repeat([f"r{i}" for i in range(r)], n),
        "segment": np.tile(segment, r),
        "candidate": np.tile(np.arange(n), r),
        "criterion": "accuracy",
        "rating": given,
    }
    return classroom.ClassRatings(pd.DataFrame(columns))


def _alpha(m: int, k: int, n: int, who: str, rng: np.random.Generator) -> bool:
    """Whether the interval of α holds that of these raters over all segments."""
    lenient, (_, spread, noise) = rng.normal(0, 0.4, n), READERS[who]

    def merits(many: int) -> np.ndarray:
        return 3.3 + spread * (
            0.5 * np.repeat(rng.normal(size=many), k) + 0.75**0.5 * rng.normal(size=many * k)
        )

    ratings = _together(_ratings(merits(m), lenient, rng, noise), np.repeat(np.arange(m), k), rng)
    found = classroom.agreement(ratings, "accuracy", rng, DRAWS)
    wide = _ratings(merits(3000 // k), lenient, rng, noise)
    rank = np.concatenate([[0.0], np.bincount(wide.ravel().astype(int), minlength=6)[1:].cumsum()])
    # ordinal distances are those of mid-ranks
    place = ((rank[:-1] + rank[1:]) / 2)[wide.astype(int) - 1]
    true = 1 - place.var(1, ddof=1).mean() / place.var(ddof=1)
    return bool(found.low <= true <= found.high)


def _class(m: int, n: int, what: str, rng: np.random.Generator) -> np.ndarray:
    """Whether the intervals of five systems hold their mean ratings by these raters over all segments."""
    lenient, quality = rng.normal(0, 0.5, n), rng.normal(0, 0.4, 5)
    system = np.argsort([(np.arange(5) - 3 * g) % 5 for g in range(m)], axis=1)[:, :3].ravel()
    segment = np.repeat(np.arange(m), 3)
    merit = 3.3 + quality[system] + 0.5 * rng.normal(size=m)[segment] + rng.normal(size=3 * m)
    ratings = _together(_ratings(merit, lenient, rng), segment, rng)
    plane = classroom.class_plane(ratings, [f"s{s}" for s in system], rng, DRAWS)
    plane = plane.sort_values("system")
    many = 3.3 + quality + 1.25**0.5 * rng.normal(size=(2000, 1))
    true = _ratings(many.ravel(), lenient, rng).mean(1).reshape(many.shape).mean(0)
    if what.startswith("adjusted"):
        seen = true - true[system].mean()  # a rater's own mean is over these systems
        return (
            (plane.adjusted_accuracy_low <= seen) & (seen <= plane.adjusted_accuracy_high)
        ).to_numpy()
    return ((plane.accuracy_low <= true) & (true <= plane.accuracy_high)).to_numpy()
