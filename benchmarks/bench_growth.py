"""Time and memory against the number of sources N and of candidates K: the exponent of a power law through the points.

The exponent is the slope of a line through the logarithms: 1 is linear, and what a call costs in any case flattens
it. Memory is the highest resident size during the call less that before it, as Linux counts it. A point of
time is the processor's, the least of some calls, which go through all sizes in turn; one of memory is the first
of them. Whole studies have a process for each point of memory: one that has run before has room that it does not give
back, which the first sizes would take without being counted.

    ANHELPERS_DATA=... python -m benchmarks growth [--quick]
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import anhelpers as an

from . import bench_frontier, bench_lm, bench_mqm, bench_surface
from .table import POINTS, Row, exponent, limited, not_measured, seconds_of

LIMIT = 1.05


@dataclass(frozen=True)
class Growing:
    """A workload at a size along one direction: `made(size)` gives the call that is measured."""

    workload: str
    along: str
    sizes: tuple[int, ...]
    made: Callable[[int], Callable[[], object]]
    rounds: int = 3
    alone: bool = False  # each point of memory has a process of its own; then `made` is picklable


def workloads(quick: bool) -> Iterator[Growing]:
    """Each along N with K fixed, and along K with N fixed."""
    fewer = 4 if quick else 1
    n, k = (60, 64) if quick else (997, 1024)
    cands, refs = bench_surface.candidates(k, n, np.random.default_rng(24))
    sizes_n = tuple(n // 2**i for i in (3, 2, 1, 0))
    sizes_k = tuple(k // 2**i for i in (3, 2, 1, 0))
    score = partial(_surface, an.accuracy.surface.surface_metric("chrf", "de"), cands, refs)
    yield Growing("segment chrF", "N", sizes_n, lambda size: score(size, k // 4))
    yield Growing("segment chrF", "K", sizes_k, lambda size: score(n // 4, size))
    yield Growing(
        "oracle curve",
        "N",
        tuple(4 * size for size in sizes_n),
        lambda size: _curve(size, k // 4),
        7,
    )
    yield Growing(
        "oracle curve",
        "K",
        tuple(4 * size for size in sizes_k),
        lambda size: _curve(n // 4, size),
        7,
    )
    lm = an.load_lm(device="cpu")
    sizes = tuple(size // fewer for size in (4, 8, 16, 32))
    yield Growing(f"log-probabilities, {lm.name}", "N", sizes, lambda size: _lm(lm, size, 8), 2)
    yield from whole_studies(quick)


def whole_studies(quick: bool) -> Iterator[Growing]:
    """What a user waits for, from files or texts to the table, along N: sentences, segments, ratings, texts."""
    fewer = 20 if quick else 1

    def sizes(most: int) -> tuple[int, ...]:
        return tuple(most // fewer // 2**i for i in (3, 2, 1, 0))

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = partial(Growing, along="N", alone=True, rounds=2)
        yield study("xmi of two files", sizes=sizes(400_000), made=partial(_xmi, folder))
        yield study("plane of 8 systems", sizes=sizes(16_000), made=_plane)
        ratings = bench_mqm.unpacked(folder).read_text("utf-8").splitlines(keepends=True)
        rows = sizes(len(ratings))
        mqm = partial(_mqm, folder, ratings)
        yield study("MQM read and scored", sizes=rows, made=mqm, rounds=3)


def _surface(metric, cands, refs, n: int, k: int) -> Callable[[], object]:
    return bench_surface.scoring(metric, [own[:k] for own in cands[:n]], refs[:n])


def _curve(n: int, k: int) -> Callable[[], object]:
    return partial(an.oracle_curve, *bench_frontier.problem("Gaussian", n, k))


def _lm(lm, n: int, k: int) -> Callable[[], object]:
    texts = list(dict.fromkeys(bench_lm.candidates(n, k)))
    return partial(an.score_texts, lm, texts)


def _xmi(folder: Path, n: int) -> Callable[[], object]:
    """Two files of sums are read and compared, with intervals."""
    rng = np.random.default_rng(24)
    lm = -rng.gamma(20.0, 4.0, n)
    paths = {"mt": lm * rng.beta(20.0, 35.0, n), "lm": lm}
    for name, scores in paths.items():
        np.savetxt(folder / name, scores, fmt="%.6f", header="logprob_nats", comments="")

    def compared() -> object:
        mt, lm, _ = an.data.read_score_pair(folder / "mt", folder / "lm")
        return an.xmi.xmi(mt.logprobs, lm.logprobs, rng=np.random.default_rng(0), n_draws=200)

    return compared


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


def _mqm(folder: Path, lines: list[str], n: int) -> Callable[[], object]:
    """n rows from all over the file, for its parts have texts of other lengths."""
    path = folder / "mqm.tsv"
    path.write_text("".join([lines[0], *lines[1 :: len(lines) // n]]), "utf-8")
    return lambda: an.score_ratings(an.data.read_ratings(path))


def measured(growing: Growing) -> tuple[list[float], list[float]]:
    """Seconds and MiB at each size."""
    seconds, mib = np.full((2, len(growing.sizes)), np.inf)
    growing.made(growing.sizes[0])()  # compiles
    for r in range(growing.rounds):
        for i, size in enumerate(growing.sizes):
            program = growing.made(size)
            taken, more = (
                _with_memory(program)
                if r == 0 and not growing.alone
                else (_seconds(program), np.inf)
            )
            seconds[i], mib[i] = min(seconds[i], taken), min(mib[i], more)
    if growing.alone:
        for i, size in enumerate(growing.sizes):
            with multiprocessing.get_context("spawn").Pool(1) as process:
                mib[i] = process.apply(_memory, (growing.made, size))
    return seconds.tolist(), mib.tolist()


def _seconds(program: Callable[[], object]) -> float:
    """Of the processor: a machine that others use as well makes large sizes wait longer."""
    return seconds_of(program, time.process_time)[0]


def _memory(made: Callable[[int], Callable[[], object]], size: int) -> float:
    """MiB of a workload at a size, in a process that has done no more than import what it calls."""
    made(size // 50)()
    return _with_memory(made(size))[1]


def _with_memory(program: Callable[[], object]) -> tuple[float, float]:
    """Seconds of a call, and by how many MiB the resident size rose above that before it; nan off Linux."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts anew
        before = _status("VmRSS")
    except (OSError, AttributeError):
        return _seconds(program), float("nan")
    taken = _seconds(program)
    return taken, (_status("VmHWM") - before) / 1024


def _status(what: str) -> int:
    """KiB."""
    return int(
        re.search(rf"{what}:\s+(\d+)", Path("/proc/self/status").read_text(encoding="ascii")).group(
            1
        )
    )


def rows(quick: bool) -> Iterator[Row]:
    """A row of time per workload and direction, of whole studies also one of memory; and a million sentences."""
    for growing in workloads(quick):
        seconds, mib = measured(growing)
        for size, s, m in zip(growing.sizes, seconds, mib, strict=True):
            POINTS.append(
                {
                    "workload": growing.workload,
                    "along": growing.along,
                    "size": size,
                    "seconds": s,
                    "mib": m,
                }
            )
        span = f"{growing.along} = {growing.sizes[0]} to {growing.sizes[-1]}"
        yield _row(
            f"{growing.workload}, time against {span}", growing, seconds, lambda s: f"{s:.3g} s", 0
        )
        if growing.alone:
            of = f"{growing.workload}, memory against {span}"
            yield _row(of, growing, mib, lambda m: f"{m:.3g} MiB", 8.0)
    yield from _million(10_000 if quick else 1_000_000)


def _million(n: int) -> Iterator[Row]:
    """The most memory of three commands on n sentences."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _xmi(folder, n)
        rng, some = np.random.default_rng(24), an.load("teaching")
        words = np.array(sorted({word for text in some.streams[0] for word in text.split()}))
        for file in ("src", "ref", "one", "two"):
            lines = (" ".join(rng.choice(words, 12)) for _ in range(n))
            (folder / file).write_text("".join(f"{line}\n" for line in lines), "utf-8")
        texts = ["-s", "src", "-r", "ref", "-t", "one", "two", "-l", "en-de"]
        commands = {
            "score -m chrf": ["score", *texts, "-m", "chrf"],
            "plane": ["plane", *texts, "-m", "chrf", "--naturalness", "mattr", "-o", "out"],
            "xmi": ["xmi", "--mt", "mt", "--lm", "lm"],
        }
        for what, words_of in commands.items():
            command = [sys.executable, "-m", "anhelpers", *words_of]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            started = time.perf_counter()
            process = subprocess.Popen(command, cwd=folder, **quiet)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            seconds = time.perf_counter() - started
            told = {"agree": f"exit {process.returncode}", "agrees": process.returncode == 0}
            workload = f"{what} of {n:,} sentences, memory; {seconds:.0f} s"
            yield limited(workload, [used.ru_maxrss / 2**20], 1.5, lambda g: f"{g:.2f} GiB", **told)


def _row(
    workload: str, growing: Growing, values: list[float], show: Callable[[float], str], small: float
) -> Row:
    """The exponent beside 1, or the largest value beside `small`, below which growth is lost in noise."""
    goal = f"<= {LIMIT}"
    if not np.isfinite(values).all():
        return not_measured(
            workload, "linear growth", "memory is read from /proc, which is not here", goal
        )
    if max(values) < small:
        return limited(workload, [max(values)], small, show)
    slope = exponent(growing.sizes, values)
    told = f"exponent {slope:.2f}"
    ends = f"{show(values[0])} to {show(values[-1])}"
    return Row(
        workload,
        "linear growth",
        "exponent 1",
        told,
        slope,
        slope,
        slope,
        growing.rounds,
        goal,
        ends,
    )
