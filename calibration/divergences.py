"""Distances between a system and a reference, from samples: where both are the same, nearly the same, and apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import product
from math import exp, sqrt

import numpy as np

from anhelpers.divergences import pmf
from anhelpers.divergences.critics import sample_critic_distance
from anhelpers.divergences.mmd import mmd2, permutation_test, rbf
from anhelpers.divergences.processes import (
    CriticProcess,
    estimate_distance,
    folded_norm,
    memed_samples,
    memed_squared,
    second_moment,
)
from anhelpers.divergences.samples import kl_from_logprobs, plug_in, wasserstein_1d
from anhelpers.estimate import Estimate
from anhelpers.naturalness.lpp import lpp_distance

from .row import Row

__all__ = ["rows"]

DRAWS = 200
COVERS, REJECTS = (0.95, 0.92, 0.98), (0.05, 0.0, 0.07)
FROM_BELOW = (0.95, 0.92, 1.0)
"""Of distances that are biased upward: the upper end keeps the bias, so that near q = r the interval is too long."""

OUTCOMES = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.07, 0.05, 0.03])
PROCESS = CriticProcess(
    "exp", np.zeros(8), 0.3 * np.exp(-np.abs(np.subtract.outer(range(8), range(8))))
)


def rows() -> Iterator[Row]:
    """All rows, in the order of the page."""
    for m, alike, kind in product(
        (10, 20, 40),
        (0.1, 0.3),
        ("R of other documents", "R of the same documents", "R of 300 single texts"),
    ):
        setting = f"{m} documents, skewed sizes, correlation {alike} inside, {kind}"
        yield Row("interval of the LPP distance", setting, *COVERS, partial(_lpp, m, alike, kind))
    yield from _wasserstein_rows()
    for name, n in product(("tv", "js"), (30, 100)):
        yield from _each(
            f"plug-in {name}, 8 outcomes",
            f"n = {n} + {n}",
            partial(_plug_in, name, n),
            (0, 0.2, 0.7),
        )
    for n, d in product((10, 20, 60), (2, 10)):
        yield from _each(
            "MMD², rbf kernel",
            f"n = {n} + {n} points of R^{d}",
            partial(_mmd, n, d),
            (0, 0.4, 1.2),
            p=False,
            covers=COVERS,
        )
    yield Row("permutation p of MMD² below 5 %", "q = r, n = 20 + 30 points", *REJECTS, _permuted)
    for n in (20, 60):
        yield from _each(
            "MeMeD D_2², log-GP critics",
            f"n = {n} + {n} texts",
            partial(_memed, n),
            (0, 0.3, 1),
            p=False,
            covers=COVERS,
        )
    for k in (1, 20):
        yield from _each(
            "D_1 of critics",
            f"{k} {'drawn' if k > 1 else 'given'}, n = 50 + 50 texts",
            partial(_critics, k),
            (0, 0.2, 1),
        )
    yield from _each(
        "D_1 of critics",
        "300 drawn, linear in R^50, n = 50 + 300 texts",
        _linear_critics,
        (0, 1.5, 4),
    )
    yield Row(
        "interval of D_1 over drawn critics", "q, r known, 200 log-GP critics", *COVERS, _drawn
    )
    for n in (10, 40, 200):
        yield Row(
            "interval of KL from log-probabilities", f"n = {n} outputs", *COVERS, partial(_kl, n)
        )
    for m in (10, 40):
        setting = f"{m} documents, skewed sizes, correlation 0.3 inside"
        yield Row(
            "interval of KL from log-probabilities", setting, *COVERS, partial(_kl_documents, m)
        )


Sample = Callable[[float, np.random.Generator], tuple[Estimate, float]]
"""How far apart q and r are, and rng -> an estimate and the truth."""


def _each(
    quantity: str,
    where: str,
    sample: Sample,
    aways: Sequence[float],
    *,
    p: bool = True,
    covers: tuple[float, float, float] = FROM_BELOW,
) -> Iterator[Row]:
    """Rows of an estimate at q = r, and of its coverage near it and far from it."""
    same, *others = aways
    yield Row(
        f"{quantity}: interval leaves out 0",
        f"q = r, {where}",
        *REJECTS,
        partial(_leaves_out, sample, same),
    )
    if p:
        yield Row(
            f"{quantity}: p below 5 %", f"q = r, {where}", *REJECTS, partial(_p_below, sample, same)
        )
    for name, away in zip(("near", "apart"), others, strict=True):
        yield Row(
            f"{quantity}: interval",
            f"q and r {name}, {where}",
            *covers,
            partial(_covers, sample, away),
        )


def _leaves_out(sample: Sample, away: float, rng: np.random.Generator) -> bool:
    estimate, _ = sample(away, rng)
    return bool(estimate.low > 0)


def _p_below(sample: Sample, away: float, rng: np.random.Generator) -> bool:
    estimate, _ = sample(away, rng)
    return bool(estimate.p < 0.05)


def _covers(sample: Sample, away: float, rng: np.random.Generator) -> bool:
    estimate, truth = sample(away, rng)
    return bool(estimate.low <= truth <= estimate.high)


def _documents(
    rng: np.random.Generator, alike: float, level: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Log-probabilities of the texts of documents, skewed and alike by their level, whose mean is -3; documents."""
    sizes = np.ceil(np.exp(rng.normal(1.8, 0.7, len(level)))).astype(int)
    docs = np.repeat(np.arange(len(level)), sizes)
    own = (rng.gamma(4, 1, len(docs)) - 4) / 2
    return -(3 + 0.5 * (sqrt(alike) * level[docs] + sqrt(1 - alike) * own)), docs


def _lpp(m: int, alike: float, kind: str, rng: np.random.Generator) -> bool:
    """Whether the interval of the gap holds 0, which it is."""
    level = rng.normal(size=m)
    q, docs_q = _documents(rng, alike, level)
    paired = kind == "R of the same documents"
    if kind == "R of 300 single texts":
        found = lpp_distance(q, -(3 + 0.25 * (rng.gamma(4, 1, 300) - 4)), docs_q=docs_q)
    else:
        own = rng.normal(size=m)
        r, docs_r = _documents(rng, alike, 0.8 * level + 0.6 * own if paired else own)
        found = lpp_distance(q, r, docs_q=docs_q, docs_r=docs_r, paired=paired)
    low, high = found.gap.interval
    return low <= 0 <= high


def _wasserstein_rows() -> Iterator[Row]:
    for kind, sample in (("normal scores", _normal), ("skewed scores", _skewed)):
        for n in (20, 60):
            yield from _each(
                "Wasserstein-1", f"{kind}, n = {n} + {n}", partial(sample, n), (0, 0.4, 1.5)
            )
    yield from _each(
        "Wasserstein-1",
        "20 + 20 documents of skewed sizes, correlation 0.3",
        _in_documents,
        (0, 0.2, 0.8),
    )


def _normal(n: int, away: float, rng: np.random.Generator) -> tuple[Estimate, float]:
    x, y = rng.normal(away, 1, n), rng.normal(size=n)
    return wasserstein_1d(x, y, rng=rng, n_draws=DRAWS), away


def _skewed(n: int, away: float, rng: np.random.Generator) -> tuple[Estimate, float]:
    """Gamma scores of another scale, so that they are larger everywhere."""
    x, y = (1 + away / 2) * rng.gamma(2, 1, n), rng.gamma(2, 1, n)
    return wasserstein_1d(x, y, rng=rng, n_draws=DRAWS), away


def _in_documents(away: float, rng: np.random.Generator) -> tuple[Estimate, float]:
    (x, docs_x), (y, docs_y) = (_documents(rng, 0.3, rng.normal(size=20)) for _ in range(2))
    return wasserstein_1d(x + away, y, rng=rng, n_draws=DRAWS, docs_x=docs_x, docs_y=docs_y), away


def _categories(
    n: int, away: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """n outcomes of q and of r, and q, which turns r round as far as it is away."""
    q = (1 - away) * OUTCOMES + away * OUTCOMES[::-1]
    return rng.choice(8, n, p=q), rng.choice(8, n, p=OUTCOMES), q


def _plug_in(name: str, n: int, away: float, rng: np.random.Generator) -> tuple[Estimate, float]:
    x, y, q = _categories(n, away, rng)
    return plug_in(name, x, y, rng=rng, n_draws=120), pmf.DIVERGENCES[name](q, OUTCOMES)


def _mmd(n: int, d: int, away: float, rng: np.random.Generator) -> tuple[Estimate, float]:
    """Normal points, those of the system moved; the kernel's means are known."""
    wide = sqrt(d / 2)
    x, y = rng.normal(size=(n, d)), rng.normal(size=(n, d))
    x[:, 0] += away
    level = (wide**2 / (wide**2 + 2)) ** (d / 2)
    return mmd2(x, y, rbf(wide)), 2 * level * (1 - exp(-(away**2) / (2 * (wide**2 + 2))))


def _permuted(rng: np.random.Generator) -> bool:
    return (
        permutation_test(
            rng.normal(size=(20, 2)), rng.normal(size=(30, 2)), rbf(1.0), rng, 199
        ).p_value
        < 0.05
    )


SECOND = second_moment(PROCESS)


def _memed(n: int, away: float, rng: np.random.Generator) -> tuple[Estimate, float]:
    x, y, q = _categories(n, away, rng)
    return memed_samples(x.tolist(), y.tolist(), PROCESS), memed_squared(q, OUTCOMES, SECOND)


def _critics(k: int, away: float, rng: np.random.Generator) -> tuple[Estimate, float]:
    """Critics who see normal differences, as far apart as their mean; a single one sees that mean."""
    sees = away + (away / 2 * rng.normal(size=(k, 1)) if k > 1 else 0)
    fx, fy = sees + rng.normal(size=(k, 50)), rng.normal(size=(k, 50))
    return sample_critic_distance(fx, fy, rng=rng, n_draws=DRAWS, sampled=k > 1), (
        folded_norm(away, away / 2) if k > 1 else away
    )


def _linear_critics(away: float, rng: np.random.Generator) -> tuple[Estimate, float]:
    """Critics w · x of normal points, w normal: their mean size of a shift is that of a normal number."""
    critics, x, y = (rng.normal(size=(n, 50)) for n in (300, 50, 300))
    x[:, 0] += away
    return sample_critic_distance(
        critics @ x.T, critics @ y.T, rng=rng, n_draws=DRAWS
    ), folded_norm(0, away)


def _drawn(rng: np.random.Generator) -> bool:
    low, high = estimate_distance(OUTCOMES[::-1], OUTCOMES, PROCESS, rng, n_critics=200).interval
    return low <= _all_critics() <= high


@cache
def _all_critics() -> float:
    rng = np.random.default_rng(20_261_122)
    return estimate_distance(OUTCOMES[::-1], OUTCOMES, PROCESS, rng, n_critics=1_000_000).value


def _kl(n: int, rng: np.random.Generator) -> bool:
    """Log-probabilities of outcomes drawn from q under q and under a language model."""
    q, f = OUTCOMES, OUTCOMES[[1, 0, 3, 2, 5, 4, 7, 6]]
    y = rng.choice(8, n, p=q)
    low, high = kl_from_logprobs(np.log(q[y]), np.log(f[y])).interval
    return low <= pmf.kl(q, f) <= high


def _kl_documents(m: int, rng: np.random.Generator) -> bool:
    """Log-probabilities of documents under q, always 1 nat above those under the language model on average."""
    log_f, docs = _documents(rng, 0.3, rng.normal(size=m))
    low, high = kl_from_logprobs(np.full(len(docs), -2.0), np.minimum(log_f, 0), docs).interval
    return low <= 1 <= high
