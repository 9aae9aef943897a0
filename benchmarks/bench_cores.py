"""All processors beside one: segment chrF and BLEU, 997 sources x 1024 candidates, and MMD², 10,000 x 10,000 points.

The clock on the wall. The oracle curve of as many candidates takes 6 ms on one, and the resamples of a bootstrap come
from one stream of random numbers: neither is spread over several.

    ANHELPERS_DATA=... python -m benchmarks cores [--quick]
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import anhelpers as an
from anhelpers._lazy import cores
from anhelpers.provenance import environment

from .bench_surface import candidates, scoring
from .table import Row, beside, interleaved, not_measured

GOAL = ">= 1.8"
ONE = "our own 1 processor"
MMD = """
import json, sys, time
import anhelpers as an
from benchmarks.bench_mmd import _points
x, y, kernel = _points(int(sys.argv[1]))
seconds = []
for _ in range(2):
    start = time.perf_counter()
    value = an.divergences.mmd.mmd2(x, y, kernel).value
    seconds.append(time.perf_counter() - start)
print(json.dumps([seconds[-1], value]))
"""


def _on(n: int, program: Callable[[], np.ndarray]) -> np.ndarray:
    """What a program returns on n processors."""
    with environment(**_using(n)):
        return program()


def _using(n: int) -> dict[str, str]:
    return dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(n))


def _mmd(n: int, points: int) -> tuple[float, float]:
    """Seconds of the second call of a process on n processors, and its value."""
    command = [sys.executable, "-c", MMD, str(points)]
    with environment(**_using(n)):
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return tuple(json.loads(ran.stdout))


def rows(quick: bool) -> Iterator[Row]:
    """chrF, BLEU, MMD²."""
    n = cores()
    if n < 2:
        yield not_measured("all processors", ONE, "there is only one", GOAL)
        return
    sources, k, rounds = (60, 256, 1) if quick else (997, 1024, 3)
    cands, refs = candidates(k, sources, np.random.default_rng(24))
    for name in ("chrf", "bleu"):
        program = scoring(an.accuracy.surface.surface_metric(name, "de"), cands, refs)
        _on(n, program)
        both = [partial(_on, 1, program), partial(_on, n, program)]
        times, (wanted, found) = interleaved(both, rounds)
        same, size = int((wanted == found).sum()), wanted.size
        told = {"agree": f"{same:,} of {size:,} equal to the bit", "agrees": same == size}
        yield beside(f"segment {name}, K={k}, {n} processors", ONE, times, goal=GOAL, **told)
    points = 2_000 if quick else 10_000
    ran = [(_mmd(1, points), _mmd(n, points)) for _ in range(rounds)]
    wanted, found = (np.array([pair[i][1] for pair in ran]) for i in (0, 1))
    times = [(one[0], all_of[0]) for one, all_of in ran]
    apart = float(np.abs(wanted / found - 1).max())
    told = {"agree": f"apart by at most {apart:.0e} of the value", "agrees": apart < 1e-6}
    workload = f"MMD² rbf {points} x {points} x 384 float32, {n} processors"
    yield beside(workload, ONE, times, goal=GOAL, **told)
