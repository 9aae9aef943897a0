"""Running notebooks: the two commands of the README, two processes beside one, what one costs beyond its own work.

Six notebooks that only import numpy and print: the start of their kernels is all that counts.

    python -m benchmarks notebooks [--quick]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import nbformat

from anhelpers.notebooks import run

from .table import Row, beside, interleaved, limited

IMPORT = "import sys, time; start = time.perf_counter(); import anhelpers; print(time.perf_counter() - start)"


def _notebooks(folder: Path, n: int) -> list[str]:
    """The paths of n small notebooks, each with its parameters."""
    paths = []
    for i in range(n):
        cells = [
            nbformat.v4.new_code_cell(text)
            for text in (f"number = {i}", "import numpy\nprint(number)")
        ]
        cells[0].metadata["tags"] = ["parameters"]
        paths.append(folder / f"small_{i}.ipynb")
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(
            nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), paths[-1]
        )
    return [str(path) for path in paths]


def _import_seconds() -> float:
    return float(
        subprocess.run(
            [sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True
        ).stdout
    )


def _command(*arguments: str) -> float:
    """Seconds of one call of the command as the Makefile makes it, for somebody whose store of scores is empty."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "anhelpers", "run", *arguments, "--out", folder],
            check=True,
            capture_output=True,
            env=os.environ | {"ANHELPERS_STORE": str(Path(folder, "scores.sqlite"))},
        )
        return time.perf_counter() - began


def rows(quick: bool) -> Iterator[Row]:
    """The README's commands, processes, overhead, import."""
    first = [_command("00_start_here") for _ in range(1 if quick else 3)]
    yield limited("the first notebook, as `make start` runs it", first, 10.0, "{:.1f} s".format)
    if not quick:
        every = [_command("--jobs", "2")]
        yield limited("all 21 notebooks, as `make run` does", every, 80.0, "{:.1f} s".format)
    n, rounds = (2, 1) if quick else (6, 3)
    with tempfile.TemporaryDirectory() as folder:
        paths, out = _notebooks(Path(folder), n), Path(folder, "out")
        run(paths[:1], None, out)  # imports papermill
        alone, results = interleaved(
            [partial(run, [path], None, out) for path in paths[:3]], rounds
        )
        programs = [partial(run, paths, None, out, 1), partial(run, paths, None, out, 2)]
        times, outcomes = interleaved(programs, rounds)
    done = sum(result.error is None for (result,) in results)
    told = {"agree": f"{done} of {len(results)} ran", "agrees": done == len(results)}
    yield limited(
        "one notebook, beyond its own work",
        [s for row in alone for s in row],
        1.0,
        lambda s: f"{s:.2f} s",
        **told,
    )
    done = sum(outcome.error is None for outcomes_of in outcomes for outcome in outcomes_of)
    told = {"agree": f"{done} of {2 * n} ran", "agrees": done == 2 * n}
    yield beside(
        f"{n} small notebooks, 2 processes", "our own 1 process", times, goal=">= 1.9", **told
    )
    seconds = [_import_seconds() for _ in range(3 if quick else 11)]
    yield limited("import anhelpers", seconds, 30e-3, lambda s: f"{s * 1e3:.1f} ms")
