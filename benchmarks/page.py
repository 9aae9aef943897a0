"""What the bench leaves: build/bench/bench.csv, growth.csv, and one page with the table and the growth chart."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

import anhelpers as an
from anhelpers._lazy import cores
from anhelpers.charts.offline import picture
from anhelpers.provenance import from_template

from .table import POINTS, Row, exponent

__all__ = ["write_results"]

FOLDER = Path("build", "bench")
HEADS = {
    "workload": "workload",
    "goal": "goal",
    "met": "met",
    "ratio": "ratio (rounds)",
    "peer": "beside",
    "theirs": "theirs",
    "ours": "ours",
    "agree": "agreement",
}
"""The columns of the page's table, those first that a narrow window should show."""


def write_results(table: Sequence[Row], quick: bool) -> list[Path]:
    """Write the files; those of a part of the benchmarks replace those of all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    frame, points = pd.DataFrame([row.record() for row in table]), pd.DataFrame(POINTS)
    tables = {"bench": frame} | ({"growth": points} if len(points) else {})
    paths = [FOLDER / f"{name}.csv" for name in tables]
    for path, shown in zip(paths, tables.values(), strict=True):
        shown.to_csv(path, index=False)
    charts = [picture(_growth(points))] if len(points) else []
    told = "Ratios are medians, with the ends of the rounds. With a goal of the form ≥ x we are so many times faster; "
    told += "with one of the form ≤ x the ratio is our time or size by the peer's, or by the limit."
    parts = {"What was measured": [f"{told}\n{_machine(quick)}"], "Rows": [_readable(table)]}
    page = FOLDER / "index.html"
    html = from_template(
        "plane.html", title="anhelpers beside its peers", chart="\n".join(charts), parts=parts
    )
    page.write_text(html, encoding="utf-8")
    return [*paths, page]


def _readable(table: Sequence[Row]) -> pd.DataFrame:
    rows = []
    for row in table:
        record = row.record()
        if row.ratio == row.ratio:
            record["ratio"] = f"{row.ratio:.3g} ({row.low:.3g} to {row.high:.3g}, n = {row.rounds})"
        else:
            record["ratio"] = "–"
        record["agree"] += " DISAGREES" if row.agrees is False else ""
        rows.append({head: record[key] for key, head in HEADS.items()})
    return pd.DataFrame(rows)


def _growth(points: pd.DataFrame):
    """The growth chart: a line per workload with its exponent, both axes logarithmic."""
    slopes = {
        key: exponent(own["size"], own["seconds"])
        for key, own in points.groupby(["workload", "along"])
    }
    keys = zip(points.workload, points.along, strict=True)
    series = [f"{name}, {along}^{slopes[name, along]:.2f}" for name, along in keys]
    sizes = points["size"].astype(float)
    lines = pd.DataFrame({"series": series, "x": sizes, "y": points.seconds.clip(lower=1e-4)})
    return an.plot_lines(
        lines,
        lines,
        x_title="number of sources N, or of candidates K",
        y_title="seconds (lower is better)",
        title="Time grows with the number of pairs",
        log="xy",
    )


def _machine(quick: bool) -> str:
    size = " Smaller workloads than those of the goals (--quick)." if quick else ""
    return f"Python {sys.version.split()[0]}, {platform.system()} {platform.machine()}, {cores()} cores.{size}"
