"""What a user waits for: the help, a wrong option, `plane` with a system of one's own, and `score` beside sacreBLEU.

The clock on the wall, from the start of Python to the table, on systems of WMT24 en-de (997 segments). Ours also looks
for shifted lines. The first call of a fresh machine, whose compiled loops are not yet on disk, has its own row.

    ANHELPERS_DATA=... python -m benchmarks commands [--quick]
"""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import sacrebleu

import anhelpers as an

from .table import Row, beside, interleaved, limited, peak_gib, seconds_of

GOALS = {1: "<= 0.8", 12: "<= 0.25"}
FIRST_GOAL = "<= 1.2"
HELP_LIMIT, PLANE_LIMIT, MEMORY_LIMIT = 0.25, 20.0, 1.5  # seconds, GiB


def _called(module: str, *words: str | Path, **variables: str) -> str:
    command = [sys.executable, "-m", module, *map(str, words)]
    environment = os.environ | {"ANHELPERS_STORE": "off"} | variables
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment
    ).stdout


def _refused() -> None:
    command = [sys.executable, "-m", "anhelpers", "score", "--wrong"]
    assert subprocess.run(command, capture_output=True).returncode == 2


def _files(folder: Path) -> tuple[Path, Path, list[Path]]:
    """Source, reference and systems of WMT24 as plain files of lines."""
    test = an.load("wmt24/en-de")
    columns = {"src": test.srcs, "ref": test.one_reference().streams[0], **test.systems}
    paths = []
    for i, lines in enumerate(columns.values()):
        paths.append(folder / f"{i}.txt")
        paths[-1].write_text("".join(f"{line or ''}\n" for line in lines), "utf-8")
    return paths[0], paths[1], paths[2:]


def _ours(src: Path, ref: Path, systems: list[Path], **variables: str) -> dict[str, list[float]]:
    words = ["-s", src, "-r", ref, "-t", *systems, "-m", "bleu", "chrf", "-l", "en-de"]
    found: dict[str, list[float]] = {}
    for row in csv.DictReader(io.StringIO(_called("anhelpers", "score", *words, **variables))):
        found.setdefault(row["metric"], []).append(float(row["value"]))
    return found


def _theirs(ref: Path, systems: list[Path]) -> dict[str, list[float]]:
    words = [ref, "-i", *systems, "-m", "bleu", "chrf", "-f", "json", "-w", "9", "-l", "en-de"]
    said = json.loads(_called("sacrebleu", *words))
    if len(systems) == 1:
        return {name: [row["score"]] for name, row in zip(("bleu", "chrf"), said, strict=True)}
    return {name: [float(row[key]) for row in said] for name, key in _columns(said[0]).items()}


def _columns(row: dict) -> dict[str, str]:
    """The keys of sacreBLEU's table of several systems: their head is the signature."""
    return {name: next(key for key in row if name in key.lower()) for name in ("bleu", "chrf")}


def rows(quick: bool) -> Iterator[Row]:
    """The help; a wrong option; 1 and 12 systems; the first call; a plane."""
    rounds = 1 if quick else 5
    seconds = [seconds_of(partial(_called, "anhelpers", "--help"))[0] for _ in range(2 * rounds)]
    yield limited("anhelpers --help", seconds, HELP_LIMIT, lambda s: f"{s:.2f} s")
    seconds = [seconds_of(_refused)[0] for _ in range(2 * rounds)]
    yield limited("a wrong option", seconds, HELP_LIMIT, lambda s: f"{s:.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        src, ref, systems = _files(Path(folder))
        for n, goal in GOALS.items():
            some = systems[:n]
            programs = [partial(_theirs, ref, some), partial(_ours, src, ref, some)]
            programs[1]()  # writes the compiled loops
            times, (wanted, found) = interleaved(programs, rounds)
            apart = max(
                abs(a - b)
                for name in wanted
                for a, b in zip(wanted[name], found[name], strict=True)
            )
            yield beside(
                f"anhelpers score -m bleu chrf, {n} system{'s' * (n > 1)}",
                f"sacreBLEU {sacrebleu.__version__}, its command",
                times,
                goal=goal,
                agree=f"{2 * n} scores apart by at most {apart:.0e}",
                agrees=apart < 1e-6,
            )
        compiles = partial(_ours, src, ref, systems[:1], NUMBA_CACHE_DIR=str(Path(folder, "numba")))
        yield beside(
            "anhelpers score -m bleu chrf, 1 system, the first call of a machine",
            f"sacreBLEU {sacrebleu.__version__}, its command",
            interleaved([partial(_theirs, ref, systems[:1]), compiles], 1)[0],
            goal=FIRST_GOAL,
        )
        words = ["plane", "--data", "wmt24/en-de", "--mine", systems[0], "-o", f"{folder}/out"]
        store = {"ANHELPERS_STORE": f"{folder}/scores.sqlite"}
        seconds = [seconds_of(partial(_called, "anhelpers", *words, **store))[0]]
        workload = "anhelpers plane --data wmt24/en-de --mine FILE"
        yield limited(workload, seconds, PLANE_LIMIT, lambda s: f"{s:.1f} s")
        gib = peak_gib(
            sys.executable, "-m", "anhelpers", *words, env=os.environ | {"ANHELPERS_STORE": "off"}
        )
        yield limited(f"{workload}, memory", [gib], MEMORY_LIMIT, lambda g: f"{g:.2f} GiB")
