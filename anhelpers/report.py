"""What a paper needs from a plane: tables as CSV and LaTeX, a page, and the sentences for the appendix."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from . import __version__
from .data.writing import write_text
from .plane import Plane
from .provenance import in_page, made_by, with_made_by
from .stats import few_clusters

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["appendix", "latex_table", "readable", "write_page", "write_tables"]

ESCAPES = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"} | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
                                                            "\\": r"\textbackslash{}"})  # fmt: skip
SHOWN = {
    "system": "system", "category": "kind", "accuracy": "accuracy", "naturalness": "naturalness",
    "accuracy_lack": "accuracy lack", "naturalness_lack": "naturalness lack", "pareto_probability": "Pareto prob.",
    "n": "n",
}  # fmt: skip
INTERVALS = {"accuracy": 1, "naturalness": 2, "accuracy_lack": 1, "naturalness_lack": 2}
"""The columns with an interval, and their decimals."""


def appendix(plane: Plane, table: pd.DataFrame, n_draws: int, seed: int, *, tests: pd.DataFrame | None = None) -> str:
    """The sentences for a paper's appendix: what was measured, over what, how, with all signatures.

    Parameters
    ----------
    tests : of `paired_tests`; None: none were made.
    """
    accuracy, naturalness = plane.axes
    levels = {"segment-mean": "the mean of segment scores"}
    what, whose = (levels.get(axis.level, "the corpus score") for axis in plane.axes)
    n, docs = sorted(set(table.n) - {0}), int(table.n_docs.iloc[0])
    over = f"{n[0]} segments" if len(n) == 1 else f"{n[0]} to {n[-1]} segments"
    unit = "documents" if docs < len(plane) else "segments"
    sentences = [
        f"{plane.name}: {len(table)} systems, {over} in {docs} {unit}.",
        f"Accuracy is {accuracy.title}, {what} (signature {accuracy.signature}).",
        f"Naturalness is {naturalness.title}, {whose} (signature {naturalness.signature}).",
        f"Intervals are 95 % percentile intervals of {n_draws:,} bootstrap resamples of {unit}, drawn jointly for all "
        f"systems and both axes (seed {seed}).",
        few_clusters(docs, unit),
    ]
    if naturalness.level == "stored":
        sentences.append("The naturalness is known per system only and has no interval.")
    if "accuracy_lack" in table:
        sentences.append("Lacks are distances to the exact oracle curve over the candidates, redrawn in each resample.")
    if tests is not None and len(tests):
        per_axis = int((tests.axis == "accuracy").sum())
        sentences.append(
            f"p-values are from paired randomisation over {unit}, with Holm's correction for {per_axis} pairs per axis."
        )
    sentences += [*plane.notes, f"Computed with anhelpers {__version__} ({made_by()})."]
    return " ".join(filter(None, sentences)) + "\n"


def latex_table(table: pd.DataFrame, plane: Plane) -> str:
    """The systems as a LaTeX table (booktabs), most accurate first, intervals in brackets, Pareto systems bold."""
    columns = [c for c in SHOWN if c in table]
    head = " & ".join(_latex(SHOWN[c]) for c in columns) + r" \\"
    rows = []
    for row in table.sort_values("accuracy", ascending=False).to_dict("records"):
        cells = [_latex(_cell(row, c, "[{}, {}]")) for c in columns]
        if row["pareto"]:
            cells[0] = rf"\textbf{{{cells[0]}}}"
        rows.append(" & ".join(cells) + r" \\")
    caption = _latex(
        f"{plane.name}: {plane.accuracy.title}; {plane.naturalness.title}. 95 % intervals; bold: Pareto-optimal."
    )
    frame = [
        f"% {made_by()}", "% needs \\usepackage{booktabs}", r"\begin{table*}", r"\centering\small",
        rf"\begin{{tabular}}{{ll{'r' * (len(columns) - 2)}}}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule",
        r"\end{tabular}", rf"\caption{{{caption}}}", r"\end{table*}",
    ]  # fmt: skip
    return "\n".join(frame) + "\n"


def write_tables(folder: str | PathLike, tables: Mapping[str, pd.DataFrame]) -> list[Path]:
    """Each table as FOLDER/NAME.csv, written in one step; returns the paths.

    Parameters
    ----------
    tables : NAME -> table.
    """
    return [
        write_text(Path(folder) / f"{name}.csv", with_made_by(table).to_csv(index=False, lineterminator="\n"))
        for name, table in tables.items()
    ]


def write_page(path: str | PathLike, title: str, chart: str, parts: Mapping[str, pd.DataFrame | str]) -> Path:
    """One self-contained HTML page: the HTML of a chart, then a heading with a table or with paragraphs each.

    Parameters
    ----------
    chart : HTML. parts : heading -> a table, or paragraphs.
    """
    body = [chart]
    for heading, part in parts.items():
        body.append(f"<h2>{html.escape(heading)}</h2>")
        if isinstance(part, str):
            body += [f"<p>{html.escape(line)}</p>" for line in part.splitlines() if line.strip()]
        else:
            body.append(f'<div class="wide">{readable(part).to_html(index=False, border=0, na_rep="–")}</div>')
    filled = {"{title}": html.escape(title), "{body}": "\n".join(body)}
    page = re.sub("{title}|{body}", lambda match: filled[match[0]], _PAGE)  # at once: a title may say "{body}"
    return write_text(path, in_page(page))


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """A table of systems with values and intervals in one cell each; any other table with rounded numbers."""
    import pandas as pd

    if "accuracy_low" not in table:
        return table.round(4)
    columns = [c for c in ("slice", *SHOWN) if c in table]
    rows = [[_cell(row, c, "({} to {})") for c in columns] for row in table.to_dict("records")]
    return pd.DataFrame(rows, columns=[SHOWN.get(c, c) for c in columns])


def _cell(row: Mapping, column: str, interval: str) -> str:
    value = row[column]
    if column in INTERVALS:
        if not np.isfinite(value):
            return "–"
        digits = INTERVALS[column]
        low, high = (row[f"{column}_{end}"] for end in ("low", "high"))
        ends = "" if np.isnan(low) else " " + interval.format(f"{low:.{digits}f}", f"{high:.{digits}f}")
        return f"{value:.{digits}f}{ends}"
    if isinstance(value, float):
        return "–" if np.isnan(value) else f"{value:.2f}"
    return str(value)


def _latex(text: str) -> str:
    """Text for LaTeX; a minus sign is typeset as one.

    >>> _latex("AIST_AIRC: 5 %, -3.1")
    'AIST\\\\_AIRC: 5 \\\\%, $-$3.1'
    """
    out = text.translate(ESCAPES).replace("–", "--").replace("−", "$-$")
    for opening in (" -", "[-"):
        out = out.replace(opening, f"{opening[0]}$-$")
    return f"$-${out[1:]}" if out.startswith("-") and out[1:2].isdigit() else out


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 17px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
table { border-collapse: collapse; font-size: 15px; } .wide { overflow-x: auto; }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid #ccc; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
img { max-width: 100%; }
</style></head><body>
<h1>{title}</h1>
{body}
</body></html>
"""
