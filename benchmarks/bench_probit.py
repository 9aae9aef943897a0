"""Probit critics (eq. 60) for all pairs of texts, beside SciPy's bivariate normal asked pair by pair.

Ratios are medians of processor time over repetitions, one after the other; SciPy's time is that of some of the pairs,
scaled up to all. The last row has the unbiased estimate of D_2² in blocks beside whole matrices of pairs.

    python -m benchmarks probit [--quick]
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import scipy
from scipy.stats import multivariate_normal

import anhelpers as an
from anhelpers.divergences import CriticProcess, second_moment

from .table import Row, beside, interleaved, peak_bytes


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
        out[at] = multivariate_normal.cdf(
            [m[i] / np.sqrt(2), n[j] / np.sqrt(2)], cov=[[1, rho], [rho, 1]]
        )
    return out


def _second_moment(n: int, n_pairs: int, repeats: int) -> Row:
    x, y = _texts(n, 0), _texts(n, 1)
    k, process = _rbf(x, y), CriticProcess("probit", lambda t: t[:, 0], _rbf)
    pairs = np.random.default_rng(2).integers(0, n, (n_pairs, 2))
    programs = [lambda: _by_scipy(x[:, 0], y[:, 0], k, pairs), lambda: second_moment(process, x, y)]
    times, (wanted, found) = interleaved(programs, repeats + 1, time.process_time)
    apart = np.abs(found[pairs[:, 0], pairs[:, 1]] - wanted).max()
    peer = f"scipy {scipy.__version__} multivariate_normal.cdf a pair ({n_pairs} of {n * n} timed)"
    scaled = [(theirs * n * n / n_pairs, ours) for theirs, ours in times[1:]]
    workload = f"E f(x) f(y) of probit critics, {n} x {n} texts"
    told = {"agree": f"apart by at most {apart:.0e}", "agrees": apart < 1e-12}
    return beside(workload, peer, scaled, goal=">= 100", **told)


def _blocks(n: int, repeats: int) -> Row:
    x, y = _texts(n, 3), _texts(n, 4) + 0.2
    process = an.divergences.CriticProcess("exp", lambda t: t[:, 0], _rbf)

    def whole() -> object:
        return an.divergences.memed_matrices(
            an.divergences.second_moment(process, x),
            an.divergences.second_moment(process, x, y),
            an.divergences.second_moment(process, y),
        )

    programs = [whole, lambda: an.divergences.memed_samples(x, y, process)]
    times, (wanted, found) = interleaved(programs, repeats + 1, time.process_time)
    memory = [peak_bytes(program) / 2**20 for program in programs]
    apart = abs(found.value / wanted.value - 1)
    agree = f"relative {apart:.0e}; memory {memory[0]:.0f} and {memory[1]:.0f} MiB"
    workload = f"D_2² of log-GP critics, {n} + {n} texts"
    return beside(
        workload, "our whole matrices", times[1:], goal=">= 1", agree=agree, agrees=apart < 1e-9
    )


def rows(quick: bool) -> Iterator[Row]:
    """All pairs, and the estimate from blocks of pairs."""
    repeats = 1 if quick else 5
    yield _second_moment(500 if quick else 2000, 500 if quick else 2000, repeats)
    yield _blocks(2500 if quick else 8000, repeats)
