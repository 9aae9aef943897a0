"""Probit critics (eq. 60) for all pairs of texts, beside SciPy's bivariate normal asked pair by pair.

Ratios are medians of processor time over repetitions, one after the other; SciPy's time is that of some of the pairs,
scaled up to all. The last row has the unbiased estimate of D_2² in blocks beside whole matrices of pairs.

    python -m benchmarks.bench_probit [--quick]
"""

from __future__ import annotations

import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from scipy.stats import multivariate_normal

from anhelpers.divergences.memed import memed_matrices, memed_samples
from anhelpers.divergences.probit import probit_second_moment
from anhelpers.divergences.processes import CriticProcess, second_moment


def _timed(function: Callable) -> tuple[float, object]:
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def _texts(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 4))


def _rbf(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    squares = (x**2).sum(1)[:, None] + (y**2).sum(1) - 2 * (x @ y.T)
    return np.exp(-np.maximum(squares, 0) / 2)


def _by_scipy(m: np.ndarray, n: np.ndarray, k: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Eq. 60 with k(x, x) = 1, one call a pair."""
    out = np.empty(len(pairs))
    for at, (i, j) in enumerate(pairs):
        rho = k[i, j] / 2
        out[at] = multivariate_normal.cdf([m[i] / np.sqrt(2), n[j] / np.sqrt(2)], cov=[[1, rho], [rho, 1]])
    return out


def _second_moment(n: int, n_pairs: int, repeats: int) -> dict:
    x, y = _texts(n, 0), _texts(n, 1)
    k, one = _rbf(x, y), np.ones(n)
    pairs, times = np.random.default_rng(2).integers(0, n, (n_pairs, 2)), []
    for _ in range(repeats + 1):
        theirs, wanted = _timed(lambda: _by_scipy(x[:, 0], y[:, 0], k, pairs))
        ours, found = _timed(lambda: probit_second_moment(x[:, 0], one, y[:, 0], one, k))
        times.append((theirs * n * n / n_pairs, ours))
    apart = np.abs(found[pairs[:, 0], pairs[:, 1]] - wanted).max()
    baseline = f"scipy multivariate_normal.cdf a pair ({n_pairs} of {n * n} timed)"
    return _row(f"E f(x) f(y) of probit critics, {n} x {n} texts", baseline, times[1:], 100, f"to {apart:.0e}")


def _blocks(n: int, repeats: int) -> dict:
    x, y, times = _texts(n, 3), _texts(n, 4) + 0.2, []
    process = CriticProcess("exp", lambda t: t[:, 0], _rbf)

    def whole() -> object:
        return memed_matrices(second_moment(process, x), second_moment(process, x, y), second_moment(process, y))

    for _ in range(repeats + 1):
        (theirs, wanted), (ours, found) = _timed(whole), _timed(lambda: memed_samples(x, y, process))
        times.append((theirs, ours))
    memory = [_peak(function) for function in (whole, lambda: memed_samples(x, y, process))]
    agree = f"to {abs(found.value / wanted.value - 1):.0e}; memory {memory[0]:.0f} and {memory[1]:.0f} MiB"
    return _row(f"D_2² of log-GP critics, {n} + {n} texts", "whole matrices", times[1:], 1, agree)


def _peak(function: Callable) -> float:
    """MiB."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return peak


def _row(workload: str, baseline: str, times: list[tuple[float, float]], goal: object, agree: str) -> dict:
    theirs, ours = (statistics.median(t) for t in zip(*times, strict=True))
    return {
        "workload": workload, "baseline": f"{baseline} {theirs:.2f} s", "ours": f"{ours:.2f} s",
        "ratio": round(statistics.median(a / b for a, b in times), 1), "goal": f">= {goal}", "agree": agree,
    }  # fmt: skip


def rows(quick: bool) -> list[dict]:
    """One row per workload: workload, baseline, ours, ratio, goal, agree."""
    repeats = 1 if quick else 5
    return [
        _second_moment(500 if quick else 2000, 500 if quick else 2000, repeats),
        _blocks(2500 if quick else 8000, repeats),
    ]


if __name__ == "__main__":
    for row in rows("--quick" in sys.argv):
        print(" | ".join(f"{key} {value}" for key, value in row.items()), flush=True)
