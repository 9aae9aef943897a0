"""Segment chrF of many candidates per source, beside sacreBLEU and fastchrf, on WMT24 en-de.

Candidates are the systems' outputs and random span swaps between two of them. Baselines run on a sample that holds
every source equally often (sacreBLEU) or on all candidates of some sources (fastchrf), and count per pair; every
repetition runs them all, one after the other, and the ratios are medians over repetitions. sacreBLEU and we use one
thread and are compared by processor time, which other programs on the machine disturb least; fastchrf uses all cores
and is compared by the clock on the wall.

    ANHELPERS_DATA=... python -m benchmarks surface [--quick]
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import fastchrf
import numpy as np
import sacrebleu

import anhelpers as an

from .table import Row, beside, interleaved

GOALS = {"sacreBLEU": 250, "fastchrf": 75}


def candidates(k: int, n: int, rng: np.random.Generator) -> tuple[list[list[str]], list[str]]:
    """K candidates for each of the first n segments of WMT24 en-de, and the references (refB, the standard one)."""
    texts = Path(os.environ["ANHELPERS_DATA"]) / "wmt24" / "txt"
    files = sorted(
        path for path in (texts / "system-outputs" / "en-de").glob("*.txt") if path.stem != "MSLC"
    )
    systems = [_lines(path)[:n] for path in files]
    cands = []
    for outputs in zip(*systems, strict=True):
        words = [output.split(" ") for output in outputs]
        swaps = rng.integers(0, len(words), size=(max(k - len(words), 0), 2))
        cuts = np.sort(rng.random(swaps.shape), axis=1)
        mixed = [_swap(words[a], words[b], *cut) for (a, b), cut in zip(swaps, cuts, strict=True)]
        cands.append([*outputs, *mixed][:k])
    return cands, _lines(texts / "references" / "en-de.refB.txt")[:n]


def _swap(a: list[str], b: list[str], low: float, high: float) -> str:
    """`a` with the words between two relative positions taken from `b`."""
    head, tail = a[: int(low * len(a))], a[int(high * len(a)) :]
    return " ".join(head + b[int(low * len(b)) : int(high * len(b))] + tail)


def _lines(path: Path) -> list[str]:
    """The lines of a file after its first, the canary."""
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")[1:]


def scoring(metric, cands: list[list[str]], refs: list[str]) -> Callable[[], np.ndarray]:
    flat = [cand for of_source in cands for cand in of_source]
    segment = np.repeat(np.arange(len(cands)), [len(of_source) for of_source in cands])
    return lambda: metric.score_segments(flat, refs=[refs], segment=segment)


def _beside_sacrebleu(cands, refs, repeats: int, rng: np.random.Generator) -> Row:
    """Our time per pair on all pairs beside sacreBLEU's sentence_score on a few candidates of every source."""
    metric, oracle = an.accuracy.surface.surface_metric("chrf", "de"), sacrebleu.CHRF()
    k, ours = len(cands[0]), scoring(metric, cands, refs)
    ours()
    times, equal, sampled = [], 0, 0
    for r in range(repeats):
        pairs = [(i, j) for i in range(len(cands)) for j in rng.integers(0, k, size=2)]
        programs = [
            lambda pairs=pairs: [
                oracle.sentence_score(cands[i][j], [refs[i]]).score for i, j in pairs
            ],
            ours,
        ]
        [seconds], [theirs, scores] = interleaved(programs, 1, time.process_time, first=r)
        times.append((seconds[0] / len(pairs), seconds[1] / len(scores)))
        equal += sum(
            scores[i * k + j] == score for (i, j), score in zip(pairs, theirs, strict=True)
        )
        sampled += len(pairs)
    return _row(f"sacreBLEU {sacrebleu.__version__}", k, times, equal, sampled)


def _beside_fastchrf(cands, refs, repeats: int) -> Row:
    """Our time per pair beside fastchrf.pairwise_chrf, one call per source, both on about 20,000 pairs."""
    step = max(1, len(cands) * len(cands[0]) // 20_000)
    cands, refs = cands[::step], refs[::step]
    ours = scoring(an.accuracy.surface.surface_metric("chrf", "de"), cands, refs)
    ours()
    programs = [
        lambda: [fastchrf.pairwise_chrf([c], [[r]])[0] for c, r in zip(cands, refs, strict=True)],
        ours,
    ]
    times, (theirs, scores) = interleaved(programs, repeats)
    n = len(scores)
    equal = int((scores == np.concatenate([np.ravel(part) for part in theirs])).sum())
    times = [(a / n, b / n) for a, b in times]
    return _row(f"fastchrf {version('fastchrf')}", len(cands[0]), times, equal, n)


def _row(peer: str, k: int, times: list[tuple[float, float]], equal: int, n: int) -> Row:
    return beside(
        f"segment chrF, 997 x {k}",
        peer,
        times,
        goal=f">= {GOALS[peer.split()[0]]}",
        agree=f"{equal:,} of {n:,} equal to the bit",
        agrees=equal == n,
        show=lambda s: f"{s * 1e6:.3g} µs a pair",
    )


def rows(quick: bool) -> Iterator[Row]:
    """A row per peer."""
    rng = np.random.default_rng(24)
    n, repeats = (60, 3) if quick else (997, 5)
    cands, refs = candidates(1024, n, rng)
    yield _beside_sacrebleu(cands, refs, repeats, rng)
    yield _beside_fastchrf(cands, refs, repeats)
