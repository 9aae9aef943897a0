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
AT_ONCE = (
    4  # workloads in one chart, each along N and perhaps along K: eight lines can be told apart
)
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
    workloads = points["workload"].unique() if len(points) else []
    charts = [
        picture(_growth(points[points["workload"].isin(workloads[i : i + AT_ONCE])], what, title))
        for what, title in GROWTH.items()
        for i in range(0, len(workloads), AT_ONCE)
    ]
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


GROWTH = {
    "seconds": "Time grows with the number of pairs",
    "mib": "Memory grows with the number of pairs, or not at all",
}


def _growth(points: pd.DataFrame, what: str, title: str):
    """The growth chart: a line per workload and direction with its exponent, both axes logarithmic."""
    drawn = points.dropna(subset=[what])
    drawn = drawn.assign(y=drawn[what].clip(lower=1e-4 if what == "seconds" else 0.1))
    slopes = {
        key: exponent(own["size"], own["y"]) for key, own in drawn.groupby(["workload", "along"])
    }
    keys = zip(drawn.workload, drawn.along, strict=True)
    series = [f"{name}, {along}^{slopes[name, along]:.2f}" for name, along in keys]
    lines = pd.DataFrame({"series": series, "x": drawn["size"].astype(float), "y": drawn.y})
    unit = "seconds" if what == "seconds" else "MiB above the input"
    return an.plot_lines(
        lines,
        lines,
        x_title="number of sources N, or of candidates K",
        y_title=f"{unit} (lower is better)",
        title=title,
        log="xy",
    )


def _machine(quick: bool) -> str:
    size = " Smaller workloads than those of the goals (--quick)." if quick else ""
    return f"Python {sys.version.split()[0]}, {platform.system()} {platform.machine()}, {cores()} cores.{size}"
