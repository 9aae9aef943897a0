"""Running notebooks, as the README's commands do.

python -m benchmarks notebooks [--quick]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from .table import Row, limited


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
    """The README's commands."""
    first = [_command("00_start_here") for _ in range(1 if quick else 3)]
    yield limited("the first notebook, as `make start` runs it", first, 8.0, "{:.1f} s".format)
    if not quick:
        every = [_command("--jobs", "2")]
        yield limited("all 21 notebooks, as `make run` does", every, 60.0, "{:.1f} s".format)
