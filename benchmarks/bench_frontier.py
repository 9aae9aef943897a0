"""The exact curve beside a grid of 1000 β.

The grid is the fastest we know in float64: one product and one sum in place and one argmax per β. N = 997, K = 1024.
"""

import statistics
from collections.abc import Iterator

import numpy as np

import anhelpers as an

from .table import Row, beside, interleaved, seconds_of

GRID = np.geomspace(1e-4, 1e4, 1000)


def problem(n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Segment ids, an accuracy in points and a mean log-probability, Gaussian."""
    rng = np.random.default_rng(1)
    accuracy, naturalness = rng.normal(55, 12, n * k), rng.normal(-4, 0.5, n * k)
    return np.repeat(np.arange(n), k), accuracy, naturalness


def grid_curve(accuracy: np.ndarray, naturalness: np.ndarray, betas: np.ndarray) -> np.ndarray:
    """(betas, N) the value of the best candidate of every source at every β; reuses one buffer."""
    buffer, best = np.empty_like(accuracy), np.empty((len(betas), len(accuracy)))
    rows = np.arange(len(accuracy))
    for b, beta in enumerate(betas):
        np.multiply(naturalness, beta, out=buffer)
        buffer += accuracy
        best[b] = buffer[rows, buffer.argmax(1)]
    return best


def rows(quick: bool) -> Iterator[Row]:
    """The curve for every β."""
    n, k = (200, 1024) if quick else (997, 1024)
    segment, accuracy, naturalness = problem(n, k)
    an.oracle_curve(segment, accuracy, naturalness)  # compiles
    betas = GRID[::20] if quick else GRID
    a, m = accuracy.reshape(n, k), naturalness.reshape(n, k)
    times, worst = [], 0.0
    for _ in range(3):
        fast, _ = interleaved([lambda: an.oracle_curve(segment, accuracy, naturalness)], 5)
        slow, best = seconds_of(lambda: grid_curve(a, m, betas))
        times.append((slow * len(GRID) / len(betas), statistics.median(one for (one,) in fast)))
    curve = an.oracle_curve(segment, accuracy, naturalness)
    for beta, wanted in zip(betas, best, strict=True):
        chosen = curve.select(beta)
        worst = max(
            worst,
            (np.abs(accuracy[chosen] + beta * naturalness[chosen] - wanted) / (1 + beta)).max(),
        )
    agree = f"values at grid β within {worst:.0e} (1 + β)"
    yield beside(
        f"oracle curve, all β, {n} x {k}",
        f"numpy {np.__version__}, grid of 1000 β",
        times,
        goal=">= 100",
        agree=agree,
        agrees=worst < 1e-9,
    )
