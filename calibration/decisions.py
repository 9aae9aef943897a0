"""Correlations, probabilities and verdicts on the plane."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import cache, partial

import numpy as np

from anhelpers.frontier import oracle_curve
from anhelpers.plane import correlation_gap, correlations, pareto, systems_table
from anhelpers.plane.local import _claim_halves, _correlated, _half, _permuted, _two_sided
from anhelpers.plane.scores import Plane
from anhelpers.stats import correlation_interval, correlation_p, pearson

from .paired import DRAWS, systems
from .row import Row
from .scores import plane_from

__all__ = ["rows"]


def rows() -> Iterator[Row]:
    """Every row of the module."""
    wrong, covers = (0.05, 0.0, 0.07), (0.95, 0.92, 0.98)
    for m in (20, 170):
        yield Row(
            "Pareto-optimal in truth, where the share of resamples is 0.6 to 0.9",
            f"3 systems, {m} documents",
            0.76,
            0.70,
            0.82,
            partial(_pareto, m, 0.6, 0.9),
        )
    for m in (20, 170):
        yield Row(
            "Pareto-optimal in truth, where the share of resamples is 0.97 or more",
            f"3 systems, {m} documents",
            0.99,
            0.95,
            1.0,
            partial(_pareto, m, 0.97, 1.0),
        )
    for told, low, high, least in (
        ("below 0.05", 0.0, 0.0499, None),
        ("0.4 to 0.6", 0.4, 0.6, None),
        ("0.95 or more", 0.95, 1.0, 0.65),
    ):
        for k in (12, 24):
            for m in (12, 40):
                yield Row(
                    f"Pareto-optimal in truth along a falling line, where the share of resamples is {told}",
                    f"{k} systems on 8 errors, a quarter of an error off the line, {m} documents",
                    (low + high) / 2,
                    least,
                    least and 1.0,
                    partial(_front, k, m, low, high),
                )
    for m in (10, 20, 40):
        yield Row(
            "interval of what the oracle curve has more",
            f"6 candidates, {m} documents of 4",
            *covers,
            partial(_curve_gap, m),
        )
    for k in (5, 12):
        for m in (20, 60):
            setting = f"{k} systems held fixed, equal sizes, {m} documents"
            yield Row(
                "interval of r of the two axes",
                f"{setting}; systems differ by 6 errors",
                *covers,
                partial(_r, k, m, 6.0),
            )
            yield Row(
                "interval of r of the two axes",
                f"{setting}; systems differ by 2 errors",
                *covers,
                partial(_r, k, m, 2.0),
            )
        yield Row(
            "interval of r of the two axes",
            f"{k} systems held fixed, 40 documents; systems differ by 4 errors, which are correlated by -0.8",
            *covers,
            partial(_r_of_errors, k),
        )
        yield Row(
            "interval of the difference of two r",
            f"{k} systems held fixed, 40 documents",
            *covers,
            partial(_gap, k, 40),
        )
    for n in (8, 30):
        yield Row(
            "interval of r of independent pairs (Fisher's z)",
            f"{n} pairs, r = 0.6",
            *covers,
            partial(_z, n),
        )
        yield Row(
            "p of r of independent pairs at 5 %",
            f"{n} pairs, no relation",
            *wrong,
            partial(_r_p, n),
        )
    for where in ("near", "far from"):
        for k in (16, 30):
            yield Row(
                f"the claim decided {where} the frontier, no relation",
                f"{k} systems, 20 documents",
                *wrong,
                partial(_claim, k, where, 0.0, ("holds", "is false")),
            )
        yield Row(
            f"the claim holds {where} the frontier, where it was built in",
            "16 systems, 20 documents",
            1.0,
            None,
            None,
            partial(_claim, 16, where, None, ("holds",)),
        )
        yield Row(
            f"the claim decided {where} the frontier, equal systems",
            "16 systems, 20 documents, errors of the axes correlated by -0.8",
            *wrong,
            partial(_claim_of_errors, where),
        )
    yield Row(
        "the claim decided far from the frontier, no relation but one broken system",
        "16 systems, 20 documents",
        *wrong,
        partial(_claim, 16, "far from", 0.0, ("holds", "is false"), broken=True),
    )
    yield Row(
        "the claim false far from the frontier, r = 0.8 throughout",
        "16 systems, 20 documents",
        0.0,
        0.0,
        0.05,
        partial(_claim, 16, "far from", 0.8, ("is false",)),
    )


def _pareto(m: int, low: float, high: float, rng: np.random.Generator) -> np.ndarray:
    """Of the systems that are Pareto-optimal in such a share of the resamples: whether they are in truth."""
    return _among(m, rng.normal(0, 4 / np.sqrt(m / 20), (2, 3)), low, high, rng)


def _front(k: int, m: int, low: float, high: float, rng: np.random.Generator) -> np.ndarray:
    """As `_pareto`, of systems along a falling line."""
    along, off = rng.uniform(0, 8, k), 0.25 * rng.normal(size=k)
    true = _error(m) / np.sqrt(2) * np.stack([off + along, off - along])
    return _among(m, true, low, high, rng)


def _among(
    m: int, true: np.ndarray, low: float, high: float, rng: np.random.Generator
) -> np.ndarray:
    """Whether those are Pareto-optimal that are so in this share of the resamples, as `systems_table` has it."""
    share = pareto(systems(rng, m, true, "equal").draws(rng, DRAWS)[0]).mean(0)
    return pareto(true)[(low <= share) & (share <= high)]


def _candidates(rng: np.random.Generator, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(n, 6) accuracy and naturalness of candidates of 4 sources per document, and the document of each source."""
    docs = np.repeat(np.arange(m), 4)
    scores = [
        50 + 4 * rng.normal(size=m)[docs][:, None] + 10 * rng.normal(size=(4 * m, 6))
        for _ in range(2)
    ]
    return scores[0], scores[1], docs


def _curve_of(scores: tuple[np.ndarray, ...]):
    n = len(scores[0])
    return oracle_curve(np.repeat(np.arange(n), 6), scores[0].ravel(), scores[1].ravel())


@cache
def _true_curve_gap() -> float:
    accuracy, naturalness, _ = _candidates(np.random.default_rng(20_261_122), 50_000)
    curve = _curve_of((accuracy, naturalness))
    return float(curve.gaps(accuracy[:, 0].mean(), naturalness[:, 0].mean())[0])


def _curve_gap(m: int, rng: np.random.Generator) -> bool:
    """Whether the interval of a system's gap holds that of the population."""
    accuracy, naturalness, docs = _candidates(rng, m)
    plane = plane_from([accuracy[:, :2], naturalness[:, :2]], docs)
    row = systems_table(plane, rng, DRAWS, _curve_of((accuracy, naturalness))).iloc[0]
    return bool(row.accuracy_gap_low <= _true_curve_gap() <= row.accuracy_gap_high)


def _related(rng: np.random.Generator, k: int, spread: float) -> np.ndarray:
    """(2, k) true scores with a correlation of about 0.7."""
    one = rng.normal(size=(2, k))
    return spread * np.stack([one[0], 0.7 * one[0] + 0.7 * one[1]])


def _error(m: int) -> float:
    """About the standard error of a system, but for what is shared by all."""
    return 0.5 * np.sqrt((25 + 100 / 8) / m)


def _r(k: int, m: int, spread: float, rng: np.random.Generator) -> bool:
    """Whether the interval of r holds that of the true scores of the same systems."""
    true = _related(rng, k, spread * _error(m))
    ((_, low, high),) = correlations(systems(rng, m, true, "equal"), rng, [range(k)], DRAWS)
    return bool(low <= pearson(*true) <= high)


def _gap(k: int, m: int, rng: np.random.Generator) -> bool:
    """Whether the interval of the difference of two correlations with one axis in common holds the true one."""
    true = _related(rng, k, 6 * _error(m))
    true = np.stack([*true, 6 * _error(m) * rng.normal(size=k)])
    first, third, common = (
        systems(rng, m, true[[i, i]], "equal").accuracy.values for i in (0, 2, 1)
    )
    docs = np.repeat(np.arange(m), 8)
    one, other = (plane_from([values, common], docs) for values in (first, third))
    _, low, high = correlation_gap(one, other, rng, DRAWS)
    return bool(low <= pearson(true[0], true[1]) - pearson(true[2], true[1]) <= high)


def _z(n: int, rng: np.random.Generator) -> bool:
    x, y = rng.normal(size=(2, n))
    low, high = correlation_interval(pearson(x, 0.6 * x + 0.8 * y), n)
    return bool(low <= 0.6 <= high)


def _r_p(n: int, rng: np.random.Generator) -> bool:
    return bool(correlation_p(pearson(*rng.normal(size=(2, n))), n) < 0.05)


def _claim(
    k: int,
    where: str,
    r: float | None,
    words: tuple[str, ...],
    rng: np.random.Generator,
    broken: bool = False,
) -> bool:
    """Whether the verdict on a half of the claim is one of these words; r : of all systems, None: the claim is true.

    A broken system is 12 standard deviations below the others on both axes.
    """
    if r is None:
        along, behind = rng.uniform(0, 1, k // 2), rng.uniform(0.3, 1.6, k - k // 2)
        true = np.stack(
            [np.r_[10 - 2 * along, 8.2 - 4 * behind], np.r_[-3 + along, -3.9 - 2 * behind]]
        )
        true = 10 * (true + rng.normal(size=true.shape) * [[0.15], [0.08]])
    else:
        shared = rng.normal(size=k)
        true = 10 * (np.sqrt(r) * shared + np.sqrt(1 - r) * rng.normal(size=(2, k)))
        true[:, 0] -= 120 * broken
    return _found(systems(rng, 20, true, "equal"), where.split()[0], words, rng)


def _found(plane: Plane, half: str, words: tuple[str, ...], rng: np.random.Generator) -> bool:
    """Whether the verdict of a half is one of these; costly steps are left out where cheaper ones exclude it."""
    again, cases = deepcopy(rng), [*_half(plane, None, np.arange(len(plane.systems)), half)]
    (*_, cut, some), scores = cases[0], plane.scores()
    null, order = _permuted(scores, None, rng.spawn(1)[0], DRAWS // 2)
    null = np.take_along_axis(null, order[:, None, cut], axis=2)
    if _two_sided(float(pearson(*scores[:, some])), pearson(null[:, 0], null[:, 1])) > 0.15:
        return False
    found = _claim_halves(_correlated(plane, rng, None, cases[:1], DRAWS // 2)).verdict[half]
    if found in words:
        found = _claim_halves(_correlated(plane, again, None, cases, DRAWS // 2)).verdict[half]
    return found in words


def _claim_of_errors(where: str, rng: np.random.Generator) -> bool:
    """Whether a half of the claim is decided among systems that are equal, and whose errors go against each other."""
    noise = rng.normal(size=(2, 20, 16))
    noise[1] = -0.8 * noise[0] + 0.6 * noise[1]
    each = [np.repeat(50 + axis, 8, axis=0) for axis in noise]
    plane = plane_from(each, np.repeat(np.arange(20), 8))
    return _found(plane, where.split()[0], ("holds", "is false"), rng)


def _r_of_errors(k: int, rng: np.random.Generator) -> bool:
    """Whether the interval of r holds the true one where the errors of the two axes go against each other."""
    true, noise = 4 * _related(rng, k, 1 / np.sqrt(40)), rng.normal(size=(2, 40, k))
    noise[1] = -0.8 * noise[0] + 0.6 * noise[1]
    each = [
        np.repeat(50 + axis + errors, 8, axis=0) for axis, errors in zip(true, noise, strict=True)
    ]
    ((_, low, high),) = correlations(
        plane_from(each, np.repeat(np.arange(40), 8)), rng, [range(k)], DRAWS
    )
    return bool(low <= pearson(*true) <= high)
