"""Time against the number of sources N or of candidates K: the exponent of a power law; the memory of a million lines.

The exponent is the slope of a line through the logarithms: 1 is linear, and what a call costs in any case flattens it.
A point is the least processor time of some calls, which go through all sizes in turn.

    ANHELPERS_DATA=... python -m benchmarks growth [--quick]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import anhelpers as an

from . import bench_lm, bench_surface
from .table import POINTS, Row, exponent, limited, peak_gib, seconds_of

LIMIT = 1.05


@dataclass(frozen=True)
class Growing:
    """A workload at a size along one direction: `made(size)` gives the call that is measured."""

    workload: str
    along: str
    most: int
    made: Callable[[int], Callable[[], object]]
    rounds: int = 2


def workloads(quick: bool) -> Iterator[Growing]:
    """Along K with N fixed, and along N with K fixed."""
    n, k, fewer = (60, 64, 20) if quick else (249, 1024, 1)
    cands, refs = bench_surface.candidates(k, n, np.random.default_rng(24))
    chrf = an.accuracy.surface.surface_metric("chrf", "de")
    yield Growing(
        "segment chrF",
        "K",
        k,
        lambda size: bench_surface.scoring(chrf, [own[:size] for own in cands], refs),
        rounds=6,
    )
    lm = an.load_lm(device="cpu")
    yield Growing(f"log-probabilities, {lm.name}", "N", 32 // min(fewer, 4), partial(_lm, lm))
    yield Growing("plane of 8 systems", "N", 16_000 // fewer, _plane)


def _lm(lm, n: int) -> Callable[[], object]:
    texts = list(dict.fromkeys(bench_lm.candidates(n, 8)))
    return partial(an.score_texts, lm, texts)


def _plane(n: int) -> Callable[[], object]:
    """Texts of the teaching set's words, in documents of 20: scores, intervals, gaps and paired tests."""
    rng, some = np.random.default_rng(24), an.load("teaching")
    words = np.array(sorted({word for text in some.streams[0] for word in text.split()}))
    refs = [rng.choice(words, size) for size in rng.integers(8, 33, n)]
    systems = {
        f"s{k}": tuple(
            " ".join(np.where(rng.random(len(ref)) < 0.1 * k, rng.choice(words, len(ref)), ref))
            for ref in refs
        )
        for k in range(1, 9)
    }
    docs = tuple(f"d{i // 20}" for i in range(n))
    streams = {"ref": tuple(map(" ".join, refs))}
    test = an.TestSet("made up", "en-de", streams["ref"], streams, systems, docs=docs)

    def placed() -> object:
        cands = an.from_systems(test)
        study = an.oracle_study(test, cands, "chrf", "critic")
        study.systems(n_draws=200)
        return an.plane.paired_tests(study.plane, np.random.default_rng(0), 200)

    return placed


def rows(quick: bool) -> Iterator[Row]:
    """A row of time per workload; and the memory of a million sentences."""
    for growing in workloads(quick):
        sizes = [growing.most // 2**i for i in (3, 2, 1, 0)]
        growing.made(sizes[0])()  # compiles
        seconds = np.full(len(sizes), np.inf)
        for _ in range(growing.rounds):
            for i, size in enumerate(sizes):
                # a machine that others use as well makes large sizes wait longer
                taken, _ = seconds_of(growing.made(size), time.process_time)
                seconds[i] = min(seconds[i], taken)
        of = {"workload": growing.workload, "along": growing.along}
        for size, taken in zip(sizes, seconds.tolist(), strict=True):
            POINTS.append(of | {"size": size, "seconds": taken})
        slope = exponent(sizes, seconds.tolist())
        workload = f"{growing.workload}, time against {growing.along} = {sizes[0]} to {sizes[-1]}"
        ends = f"{seconds[0]:.3g} s to {seconds[-1]:.3g} s"
        ours, goal = f"exponent {slope:.2f}", f"<= {LIMIT}"
        told = slope, slope, slope, growing.rounds, goal, ends
        yield Row(workload, "linear growth", "exponent 1", ours, *told)
    yield from _million(10_000 if quick else 1_000_000)


def _million(n: int) -> Iterator[Row]:
    """The most memory of three commands on n sentences."""
    rng, some = np.random.default_rng(24), an.load("teaching")
    words = np.array(sorted({word for text in some.streams[0] for word in text.split()}))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lm = -rng.gamma(20.0, 4.0, n)
        for file, scores in {"mt": lm * rng.beta(20.0, 35.0, n), "lm": lm}.items():
            np.savetxt(folder / file, scores, fmt="%.6f", header="logprob_nats", comments="")
        lines = [" ".join(rng.choice(words, 12)) for _ in range(n)]
        texts = {"src": lines, "ref": lines, "one": [f"{line[:40]} {line[-9:]}" for line in lines]}
        for file, own in texts.items():
            (folder / file).write_text("".join(f"{line}\n" for line in own), "utf-8")
        given = ["-s", "src", "-r", "ref", "-t", "one", "-l", "en-de"]
        commands = {
            "score -m chrf": ["score", *given, "-m", "chrf"],
            "plane": ["plane", *given, "-m", "chrf", "--naturalness", "mattr", "-o", "out"],
            "xmi": ["xmi", "--mt", "mt", "--lm", "lm"],
        }
        for what, words_of in commands.items():
            began = time.perf_counter()
            gib = peak_gib(sys.executable, "-m", "anhelpers", *words_of, cwd=folder)
            seconds = time.perf_counter() - began
            workload = f"{what} of {n:,} sentences, memory; {seconds:.0f} s"
            yield limited(workload, [gib], 1.5, lambda g: f"{g:.2f} GiB")
