"""The exact curve beside a grid of 1000 β, and what the β explorer asks for at every step of the slider.

The grid is the fastest we know in float64: one product and one sum in place and one argmax per β. N = 997, K = 1024.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np

from anhelpers.frontier import oracle_curve

GRID = np.geomspace(1e-4, 1e4, 1000)


def problem(kind: str, n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Segment ids and two scores: Gaussian, or rounded to two decimals so that ties abound."""
    rng = np.random.default_rng(1)
    accuracy, naturalness = rng.normal(55, 12, n * k), rng.normal(-4, 0.5, n * k)
    if kind == "rounded":
        accuracy, naturalness = accuracy.round(2), naturalness.round(2)
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


def _timed(function: Callable) -> tuple[float, object]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def _curve_row(kind: str, n: int, k: int, quick: bool) -> dict:
    segment, accuracy, naturalness = problem(kind, n, k)
    oracle_curve(segment, accuracy, naturalness)  # compiles
    betas = GRID[::20] if quick else GRID
    a, m = accuracy.reshape(n, k), naturalness.reshape(n, k)
    times, worst = [], 0.0
    for _ in range(3):
        fast = statistics.median(_timed(lambda: oracle_curve(segment, accuracy, naturalness))[0] for _ in range(5))
        slow, best = _timed(lambda: grid_curve(a, m, betas))
        times.append((slow * len(GRID) / len(betas), fast))
    curve = oracle_curve(segment, accuracy, naturalness)
    for beta, wanted in zip(betas, best, strict=True):
        chosen = curve.select(beta)
        worst = max(worst, (np.abs(accuracy[chosen] + beta * naturalness[chosen] - wanted) / (1 + beta)).max())
    return {
        "workload": f"oracle curve, {kind}, {n} x {k}",
        "baseline": f"1000-β grid {statistics.median(t[0] for t in times):.2f} s",
        "ours": f"{statistics.median(t[1] for t in times) * 1e3:.1f} ms, all β",
        "ratio": round(statistics.median(s / f for s, f in times), 1),
        "goal": ">= 100, <= 10 ms",
        "agree": f"value at grid β within {worst:.0e} (1 + β)",
    }


def _query_row(n: int, k: int) -> dict:
    curve = oracle_curve(*problem("Gaussian", n, k))
    betas = np.geomspace(1e-2, 1e3, 500)
    seconds = statistics.median(_timed(lambda b=b: curve.select(b))[0] for b in betas)
    _, accuracy, naturalness = problem("Gaussian", n, k)
    a, m = accuracy.reshape(n, k), naturalness.reshape(n, k)
    brute = statistics.median(_timed(lambda b=b: (a + b * m).argmax(1))[0] for b in betas[::100])
    agree = all((curve.select(b) == (a + b * m).argmax(1) + k * np.arange(n)).all() for b in betas[::50])
    return {
        "workload": f"choice of all {n} sources at a new β", "baseline": f"argmax over all {brute * 1e3:.1f} ms",
        "ours": f"{seconds * 1e6:.0f} µs", "ratio": round(brute / seconds, 1), "goal": "<= 100 µs",
        "agree": f"same choice: {agree}",
    }  # fmt: skip


def _growth_row(n: int, k: int) -> dict:
    times = []
    for factor in (1, 2, 4):
        scores = problem("Gaussian", n * factor, k)
        oracle_curve(*scores)
        times.append(min(_timed(lambda s=scores: oracle_curve(*s))[0] for _ in range(7)))
    exponent = np.polyfit(np.log([1, 2, 4]), np.log(times), 1)[0]
    return {
        "workload": f"growth of the curve in N, from {n} x {k}", "baseline": "linear",
        "ours": f"exponent {exponent:.2f}", "ratio": round(exponent, 2), "goal": "<= 1.05", "agree": "",
    }  # fmt: skip


def rows(quick: bool) -> list[dict]:
    """One row per workload: workload, baseline, ours, ratio, goal, agree."""
    n, k = (200, 1024) if quick else (997, 1024)
    curves = [_curve_row(kind, n, k, quick) for kind in ("Gaussian", "rounded")]
    return [*curves, _query_row(n, k), _growth_row(n, k)]


if __name__ == "__main__":
    for row in rows(False):
        print(row)
