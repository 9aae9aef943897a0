"""Reading MQM ratings and scoring systems, beside pandas with quoting=3, on WMT23 en-de (30 MB unpacked).

In every repetition pandas reads the columns that the scores need, and both end with the same penalties per system.
Ratios are medians of processor time.

    ANHELPERS_DATA=... python -m benchmarks mqm [--quick]
"""

from __future__ import annotations

import os
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import anhelpers as an

from .table import Row, beside, interleaved, limited, peak_gib

ARCHIVE = "mqm/sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv.tar.gz"
COLUMNS = ["system", "globalSegId", "rater", "category", "severity"]
GOAL = ">= 1"
MEMORY_GOAL = 200e6  # bytes


def unpacked(folder: Path) -> Path:
    """The file of ratings, unpacked into a folder of its own within this one."""
    with tarfile.open(Path(os.environ["ANHELPERS_DATA"]) / ARCHIVE) as archive:
        archive.extractall(folder / "mqm", filter="data")
    return next((folder / "mqm").iterdir())


def _theirs(path: Path) -> dict[str, float]:
    """The penalty of each system by pandas."""
    table = pd.read_csv(
        path, sep="\t", quoting=3, keep_default_na=False, index_col=False, usecols=COLUMNS
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


def _warm(path: Path, repeats: int) -> Row:
    """Both read and score, one after the other."""
    times, (wanted, found) = interleaved(
        [lambda: _theirs(path), lambda: _ours(path)], repeats + 1, time.process_time
    )
    same = sum(abs(wanted[system] - found[system]) < 1e-12 for system in wanted)
    return beside(
        "MQM read and scored",
        f"pandas {pd.__version__} C, the 5 columns it needs",
        times[1:],
        goal=GOAL,
        agree=f"{same} of {len(wanted)} penalties equal to 1e-12",
        agrees=same == len(wanted),
        show=_ms,
    )


def _memory(path: Path) -> Row:
    """The largest resident size of a process that reads the file less that of one that imports what it needs."""
    program = "import sys, pandas, anhelpers.data as d; [d.read_ratings(f) for f in sys.argv[1:]]"
    least, most = (peak_gib(sys.executable, "-c", program, *files) for files in ((), (path,)))
    workload = f"MQM read, memory for a file of {path.stat().st_size / 1e6:.1f} MB"
    return limited(workload, [(most - least) * 2**30], MEMORY_GOAL, lambda b: f"{b / 1e6:.0f} MB")


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms"


def rows(quick: bool) -> Iterator[Row]:
    """Time beside pandas, and memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = unpacked(Path(folder))
        yield _warm(path, 3 if quick else 9)
        yield _memory(path)
