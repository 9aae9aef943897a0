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
from .charts.describe import digits_of
from .data.writing import write_text
from .errors import DataError
from .intervals import FEWEST, few_clusters
from .plane import Plane
from .provenance import in_page, made_by, with_made_by

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "appendix",
    "few_documents",
    "latex_table",
    "one_document",
    "readable",
    "uncounted",
    "write_page",
    "write_tables",
]

ESCAPES = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"} | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
                                                            "\\": r"\textbackslash{}"})  # fmt: skip
SHOWN = {
    "system": "system", "category": "kind", "accuracy": "accuracy", "naturalness": "naturalness",
    "accuracy_lack": "accuracy lack", "naturalness_lack": "naturalness lack", "pareto_probability": "Pareto prob.",
    "accuracy_rank_low": "accuracy ranks", "accuracy_cluster": "accuracy cluster",
    "naturalness_rank_low": "naturalness ranks", "naturalness_cluster": "naturalness cluster", "n": "n",
}  # fmt: skip
WITH = {"systems": "", "added": " with added ones", "human": " with people", "copy": " with near-copies",
        "control": " with controls"}  # fmt: skip
INTERVALS = ("accuracy", "naturalness", "accuracy_lack", "naturalness_lack")


def appendix(
    plane: Plane,
    table: pd.DataFrame,
    n_draws: int,
    seed: int,
    *,
    tests: pd.DataFrame | None = None,
) -> str:
    """The sentences for a paper's appendix: what was measured, over what, how, with all signatures.

    Parameters
    ----------
    tests : of `paired_tests`; None: none were made.

    Raises
    ------
    DataError where no system has a score.
    """
    accuracy, naturalness = plane.axes
    levels = {"segment-mean": "the mean of segment scores"}
    what, whose = (levels.get(axis.level, "the corpus score") for axis in plane.axes)
    scored, without = table[table.n > 0], ", ".join(table.system[table.n == 0])
    if scored.empty:
        raise DataError(f"{plane.name} has no system with a score on both axes; add one.")
    unit = "documents" if len(set(plane.clusters.tolist())) < len(plane) else "segments"
    among = f" in {_span(scored.n_docs)} documents" if unit == "documents" else ""
    sentences = [
        f"{plane.name}: {(scored.outside == '').sum()} systems, {_span(scored.n)} segments{among}.",
        uncounted(plane),
        f"Without a score: {without}." if without else "",
        f"Accuracy is {accuracy.title}, {what} (signature {accuracy.signature}).",
        f"Naturalness is {naturalness.title}, {whose} (signature {naturalness.signature}).",
    ]
    if len(plane) > 1:
        sentences += [
            f"Intervals are 95 % studentised bootstrap intervals from {n_draws:,} resamples of {unit}, drawn jointly "
            f"for all systems and both axes (seed {seed}).",
            few_documents(scored, unit),
            one_document(plane),
        ]
    if naturalness.level == "stored":
        sentences.append("The naturalness is known per system only and has no interval.")
    if "accuracy_lack" in table:
        over = table.candidates.iloc[0] if "candidates" in table else "the candidates"
        sentences.append(f"Lacks are distances to the exact oracle curve over {over}, redrawn in each resample.")
    if tests is not None and len(tests):
        sentences.append(_of_tests(tests[tests.p.notna()], unit))
    sentences += [*plane.notes, f"Computed with anhelpers {__version__} ({made_by()})."]
    return " ".join(filter(None, sentences)) + "\n"


def _of_tests(tests: pd.DataFrame, unit: str) -> str:
    """How p-values were made: of those that there are."""
    if tests.empty:
        return ""
    axes = list(dict.fromkeys(tests.axis))
    families = tests.family[tests.axis == axes[0]].value_counts().to_dict()
    told = [f"{n} pair{'s' * (n > 1)}{whose}" for f, whose in WITH.items() if (n := families.get(f, 0))]
    pairs = ", ".join(told)
    if "systems" in families and len(told) > 1:
        pairs = f"{told[0]} and, by themselves, {', '.join(told[1:])}"
    drawn = tests.n_swaps[~tests.exact.astype(bool)]
    random = f"{_span(drawn)} random" if len(drawn) else ""
    ways = " or ".join(filter(None, ["all" if tests.exact.any() else "", random]))
    where = "each axis" if len(axes) > 1 else f"{axes[0]} alone"
    return (
        f"p-values are from paired randomisation over {unit} ({ways} ways to swap them), with Holm's correction on "
        f"{where} for {pairs}."
    )


def uncounted(plane: Plane) -> str:
    """A sentence on who is measured and drawn, but not counted among the systems; an empty text without such."""
    told = ", ".join(f"{system} ({why})" for system, why in plane.outside.items())
    return f"Not counted among the systems: {told}." if told else ""


def few_documents(table: pd.DataFrame, what: str = "documents") -> str:
    """A sentence on the systems that are on few documents, or on few that count, else an empty text.

    Parameters
    ----------
    table : columns system, n_docs and, where known, n_effective; a system on one document has no interval. what : is
        resampled, in the plural.
    """
    effective = table["n_effective" if "n_effective" in table else "n_docs"]
    few = table[(table.n_docs > 1) & (effective < FEWEST)]
    if few.empty:
        return ""
    listed = ", ".join(few.system[:5]) + ", …" * (len(few) > 5)
    who = f"{listed}: " if len(few) < len(table) else ""
    return who + few_clusters(int(few.n_docs.min()), what, float(effective[few.index].min()), int(few.n_docs.max()))


def one_document(plane: Plane) -> str:
    """A sentence where all segments are of one document and are resampled one by one, else an empty text."""
    if len(plane) < 2 or len(set(plane.docs.tolist())) > 1:
        return ""
    return "All segments are of one document, and resampled as if they were independent: intervals may be too short."


def _span(counts: pd.Series) -> str:
    """ "52", or "50 to 52"."""
    return " to ".join(f"{n:,}" for n in sorted({int(counts.min()), int(counts.max())}))


def latex_table(table: pd.DataFrame, plane: Plane) -> str:
    """The systems as a LaTeX table (booktabs), most accurate first, intervals in brackets, Pareto systems bold."""
    columns = [c for c in SHOWN if c in table]
    head = " & ".join(_latex(SHOWN[c]) for c in columns) + r" \\"
    rows, digits = [], _digits(table)
    for row in table.sort_values("accuracy", ascending=False).to_dict("records"):
        cells = [_latex(_cell(row, c, "[{}, {}]", digits)) for c in columns]
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
    body = [f'<div class="wide">{chart}</div>']
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
    """A table of systems with values and intervals in one cell each; any other with 4 significant digits, 2 of a p."""
    import pandas as pd

    if "accuracy_low" not in table:
        floats = table.select_dtypes("float")
        return table.assign(
            **{c: [_significant(v, 2 if c in ("p", "p_holm") else 4) for v in floats[c]] for c in floats}
        )
    columns, digits = [c for c in ("slice", *SHOWN) if c in table], _digits(table)
    rows = [[_cell(row, c, "({} to {})", digits) for c in columns] for row in table.to_dict("records")]
    return pd.DataFrame(rows, columns=[SHOWN.get(c, c) for c in columns])


def _significant(value: float, digits: int) -> str:
    return "–" if np.isnan(value) else f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def _digits(table: pd.DataFrame) -> dict[str, int]:
    """The decimals of each column with an interval: of a lack, those of its axis."""
    spread = {axis: table[[axis, f"{axis}_low", f"{axis}_high"]].to_numpy(dtype=float) for axis in INTERVALS[:2]}
    digits = {axis: digits_of(v[np.isfinite(v)]) if np.isfinite(v).any() else 0 for axis, v in spread.items()}
    return {column: digits[column.removesuffix("_lack")] for column in INTERVALS}


def _cell(row: Mapping, column: str, interval: str, digits: Mapping[str, int]) -> str:
    value = row[column]
    if column in digits:
        if not np.isfinite(value):
            return "–"
        value, low, high = (f"{row[name]:.{digits[column]}f}" for name in (column, f"{column}_low", f"{column}_high"))
        return value if np.isnan(row[f"{column}_low"]) else f"{value} {interval.format(low, high)}"
    if column.endswith("_rank_low"):
        ends = value, row[column.replace("_low", "_high")]
        return "–" if not isinstance(value, int) else "–".join(map(str, dict.fromkeys(ends)))
    if column.endswith("_cluster"):
        return str(value) if isinstance(value, int) else "–"
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
th { white-space: normal; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; }
img { max-width: 100%; }
p { overflow-wrap: anywhere; }
</style></head><body>
<h1>{title}</h1>
{body}
</body></html>
"""
