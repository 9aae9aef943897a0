"""Reading MQM ratings and scoring systems, beside pandas with quoting=3, on WMT23 en-de (30 MB unpacked).

In every repetition pandas reads the columns that the scores need, or all, and both end with the same penalties per
system. Ours never looks at the texts. Ratios are medians of processor time. The first call is
measured in a fresh process each, imports of numpy excluded, and by the clock on the wall.

    ANHELPERS_DATA=... python -m benchmarks mqm [--quick]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import anhelpers as an

from .table import Row, beside, interleaved, limited, peak_bytes

ARCHIVE = "mqm/sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv.tar.gz"
COLUMNS = ["system", "globalSegId", "rater", "category", "severity"]
GOALS = {"5 columns": ">= 7", "all columns": ">= 12"}
MEMORY_GOAL = 10e6  # bytes
READ = {
    "pandas": "import pandas; pandas.read_csv(path, sep='\\t', quoting=3, keep_default_na=False, index_col=False, "
    "usecols={})",
    "ours": "from anhelpers.data.ratings import read_ratings; read_ratings(path)",
}


def unpacked(folder: Path) -> Path:
    """The file of ratings, unpacked into a folder of its own within this one."""
    with tarfile.open(Path(os.environ["ANHELPERS_DATA"]) / ARCHIVE) as archive:
        archive.extractall(folder / "mqm", filter="data")
    return next((folder / "mqm").iterdir())


def _theirs(path: Path, columns: list[str] | None) -> dict[str, float]:
    """The penalty of each system by pandas."""
    table = pd.read_csv(
        path, sep="\t", quoting=3, keep_default_na=False, index_col=False, usecols=columns
    )
    table = table[table["severity"] != "HOTW-test"]
    weight = table["severity"].map({"Major": 5.0, "Minor": 1.0, "No-error": 0.0})
    weight[(table["severity"] == "Minor") & (table["category"] == "Fluency/Punctuation")] = 0.1
    weight[table["category"] == "Non-translation!"] = 25.0
    sums = weight.groupby([table["system"], table["globalSegId"], table["rater"]]).sum()
    return sums.groupby(level=[0, 1]).mean().groupby(level=0).mean().to_dict()


def _ours(path: Path) -> dict[str, float]:
    scores = an.score_ratings(an.data.read_ratings(path))
    return dict(
        zip(scores.systems, np.nanmean(scores.matrix().values, axis=0).tolist(), strict=True)
    )


def _warm(path: Path, what: str, repeats: int) -> Row:
    """Both read and score, one after the other."""
    columns = COLUMNS if what == "5 columns" else None
    times, (wanted, found) = interleaved(
        [lambda: _theirs(path, columns), lambda: _ours(path)], repeats + 1, time.process_time
    )
    same = sum(abs(wanted[system] - found[system]) < 1e-12 for system in wanted)
    return beside(
        "MQM read and scored",
        f"pandas {pd.__version__} C, {what}",
        times[1:],
        goal=GOALS[what],
        agree=f"{same} of {len(wanted)} penalties equal to 1e-12",
        agrees=same == len(wanted),
        show=_ms,
    )


def _first_call(path: Path, repeats: int) -> Row:
    """A fresh process each, from the import of the reader to its result."""

    def seconds(who: str) -> float:
        code = f"import numpy, sys, time; path = sys.argv[1]; t = time.perf_counter(); {READ[who].format(COLUMNS)}"
        command = [sys.executable, "-c", code + "; print(time.perf_counter() - t)", str(path)]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    times = [(seconds("pandas"), seconds("ours")) for _ in range(repeats)]
    peer = f"pandas {pd.__version__} C, 5 columns"
    return beside(
        "MQM read, import and first call", peer, times, goal=">= 6", agree="as above", show=_ms
    )


def _memory(path: Path) -> Row:
    """The most memory that reading takes at once."""
    peak = peak_bytes(lambda: an.data.read_ratings(path))
    workload = f"MQM read, memory for a file of {path.stat().st_size / 1e6:.1f} MB"
    return limited(workload, [peak], MEMORY_GOAL, lambda b: f"{b / 1e6:.1f} MB")


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms"


def rows(quick: bool) -> Iterator[Row]:
    """Warm beside both ways of pandas, the first call of a process, and memory."""
    repeats = 3 if quick else 9
    with tempfile.TemporaryDirectory() as folder:
        path = unpacked(Path(folder))
        yield from (_warm(path, what, repeats) for what in GOALS)
        yield _first_call(path, repeats)
        yield _memory(path)
