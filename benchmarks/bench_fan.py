"""The expected curve for every K beside simulation: shuffle the candidates, take the best of the first K, average.

One shuffle serves all K. Its error is measured, and its time is what it takes to bring the standard error of the worst
K down to a hundredth of a point, at 60 β only. N = 997.
"""

import statistics
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

import anhelpers as an

from .bench_frontier import problem
from .table import Row, beside, seconds_of

WANTED = 1e-2  # standard error, in points of the accuracy
KS = 2 ** np.arange(11)
BETAS = np.geomspace(1e-2, 1e3, 60)


def simulate(scores: tuple, beta: float, n_draws: int) -> np.ndarray:
    """(n_draws, K) mean accuracy over the sources of the best of the first 1, 2, … candidates in random order."""
    segment, accuracy, naturalness = scores
    n = int(segment[-1]) + 1
    a, value = accuracy.reshape(n, -1), (accuracy + beta * naturalness).reshape(n, -1)
    rng, means = np.random.default_rng(2), np.empty((n_draws, a.shape[1]))
    for d in range(n_draws):
        order = rng.random(a.shape).argsort(1)
        shuffled = np.take_along_axis(value, order, 1)
        record = shuffled == np.maximum.accumulate(shuffled, axis=1)
        last = np.maximum.accumulate(np.where(record, np.arange(a.shape[1]), 0), axis=1)
        means[d] = np.take_along_axis(a, np.take_along_axis(order, last, 1), 1).mean(0)
    return means


def _row(
    workload: str,
    seconds: list[float],
    scores: tuple,
    exact: Callable[[float], np.ndarray],
    ks: np.ndarray,
) -> Row:
    """The time of simulating all K at all β as accurately as WANTED, extrapolated from two β."""
    slow, worst, n_draws = [], 0.0, 12
    for beta in (BETAS[20], BETAS[40]):
        spent, means = seconds_of(lambda b=beta: simulate(scores, b, n_draws)[:, ks - 1])
        error = means.std(0, ddof=1)
        noisy = error > 1e-9  # with all candidates nothing is left to chance
        distance = np.abs(means.mean(0) - exact(beta))[noisy] / (error[noisy] / n_draws**0.5)
        worst = max(worst, distance.max())
        slow.append(spent / n_draws * (error.max() / WANTED) ** 2)
    total = statistics.mean(slow) * len(BETAS)
    peer = f"simulation at {len(BETAS)} β to a standard error of {WANTED:g}, extrapolated,"
    agree = f"{2 * len(ks)} simulated means within {worst:.1f} of their standard errors ({n_draws} draws)"
    times = [(total, one) for one in seconds]
    return beside(workload, peer, times, goal=">= 100", agree=agree, agrees=worst < 6)


def _curves_row(n: int, k: int) -> Row:
    scores, ks = problem("Gaussian", n, k), np.arange(1, k + 1)
    fan = an.fan.expected_curves(*scores, ks)  # compiles
    seconds = [seconds_of(lambda: an.fan.expected_curves(*scores, ks))[0] for _ in range(5)]
    ends = np.abs(fan.accuracy[[0, -1], -1] - an.oracle_curve(*scores).accuracy[[0, -1]]).max()
    workload = f"expected curve, all β, K = 1 to {k}, {n} x {k}"
    row = _row(workload, seconds, scores, lambda beta: fan.accuracy[fan.vertex(beta)], ks)
    return replace(
        row,
        agree=f"{row.agree}; K = {k} is the oracle curve to {ends:.0e}",
        agrees=row.agrees and bool(ends < 1e-9),
    )


def _at_row(n: int, k: int) -> Row:
    scores = problem("Gaussian", n, k)
    an.fan.expected_at(*scores, BETAS[:1], KS[:1])  # compiles
    seconds, values = seconds_of(lambda: an.fan.expected_at(*scores, BETAS, KS))
    means = values.mean(1)
    workload = f"expected values of every source at {len(BETAS)} β × {len(KS)} K, {n} x {k}"
    return _row(
        workload, [seconds], scores, lambda beta: means[0, np.searchsorted(BETAS, beta)], KS
    )


def rows(quick: bool) -> Iterator[Row]:
    """All curves of few candidates, and some points of many."""
    n = 100 if quick else 997
    yield _curves_row(n, 26)
    yield _at_row(n, 1024)
