"""LaTeX of a plane for a paper: tables with labels, the figure with its caption, the appendix, and what to cite."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .appendix import ADVICE, HEADINGS
from .data.fetch import bundled
from .data.lines import read_bytes
from .plane import Plane
from .provenance import made_by
from .report import SHOWN, TOLD, cell, digits_by_column, in_one_cell

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "appendix_latex",
    "bibliography",
    "brief",
    "figure_latex",
    "latex_rows",
    "latex_table",
    "latex_text",
    "scores_table",
]


def __dir__() -> list[str]:
    return __all__


ESCAPES = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}"}
    | {"–": "--", "−": "$-$", "…": r"\ldots{}", "→": r"$\rightarrow$", "×": r"$\times$"}
    | {"β": r"$\beta$", "∞": r"$\infty$", "≥": r"$\geq$", "≤": r"$\leq$", "√": r"$\surd$"}
    | {"τ": r"$\tau$", "ρ": r"$\rho$", "Δ": r"$\Delta$", "σ": r"$\sigma$", "·": r"$\cdot$"}
    | {"χ": r"$\chi$", "²": r"\textsuperscript{2}", "α": r"$\alpha$", "\u00a0": "~"}
)
QUOTED = re.compile(r"\(signature (\S+)\)|\((anhelpers:[^\n]*)\)")
"""Of a sentence, what is set in the letters of a typewriter and may break at each "|"."""
LONG = 250
"""Letters of a sentence that a caption still takes."""
SENTENCE = 3
"""Words before a colon that can stand for the sentence; "wmt24/en-de:" says nothing by itself."""
ASIDE = "*"
"""Behind the name of who is measured, but not counted among the systems."""


def latex_text(text: str) -> str:
    """Text for LaTeX, of the symbols that this package prints; a minus sign is typeset as one.

    >>> latex_text("AIST_AIRC: 5 %, -3.1 < β")
    'AIST\\\\_AIRC: 5 \\\\%, $-$3.1 \\\\textless{} $\\\\beta$'
    """
    out = text.translate(ESCAPES)
    for opening in (" -", "[-", "(-"):
        out = out.replace(opening, f"{opening[0]}$-$")
    return f"$-${out[1:]}" if out.startswith("-") and out[1:2].isdigit() else out


def scores_table(tables: Mapping[str, pd.DataFrame], plane: Plane, told: Sequence[str] = ()) -> str:
    """The systems by several metrics as one LaTeX table: scores with intervals, and the clusters of each axis.

    Parameters
    ----------
    tables : name of the metric -> table of `plane.systems_table` or `plane.with_ranks`, all of the same systems on the
        same segments. plane : the first of the planes. told : sentences of caution for the caption.
    """
    first = next(iter(tables.values())).sort_values("accuracy", ascending=False)
    columns = {"system": _names(first, [*tables.values()]), "kind": first["category"].tolist()}
    axes = [(name, "accuracy", table) for name, table in tables.items()]
    for name, axis, table in [*axes, (plane.naturalness.name, "naturalness", first)]:
        table = table.set_index("system").loc[first["system"]].reset_index()
        rows, digits = table.to_dict("records"), digits_by_column(table)
        columns[name] = [latex_text(cell(row, axis, "[{}, {}]", digits)) for row in rows]
        if f"{axis}_cluster" in table:
            columns[f"cl.\\ {len(columns)}"] = [
                latex_text(cell(row, f"{axis}_cluster", "", {})) for row in rows
            ]
    docs = f" in {_span(first['n_docs'])} documents" if plane.unit == "documents" else ""
    heads = ["cl." if name.startswith("cl.") else latex_text(name) for name in columns]
    said = [
        f"{plane.name}: n = {_span(first['n'])} segments{docs}; "
        f"{'; '.join([*tables, plane.naturalness.name])} with 95 % intervals. All "
        "are higher for the better; the units are in the figure."
    ]
    if any(name.startswith("cl.") for name in columns):
        said.append(
            "cl.: cluster; every system of one is significantly better than all of the next ones "
            "(p < 0.05 after Holm's correction on each axis by itself, none across metrics)."
        )
    said.append(
        "Bold: Pareto-optimal by one of the metrics, as no counted system is better on both axes."
    )
    caption = _caption([*said, *_aside(first), *told])
    return _framed(heads, columns.values(), caption, "tab:plane-scores")


def latex_table(
    table: pd.DataFrame, plane: Plane, told: Sequence[str] = (), label: str = "tab:plane"
) -> str:
    """The systems as a LaTeX table (booktabs), most accurate first, intervals in brackets, Pareto systems bold.

    Parameters
    ----------
    table : of `plane.systems_table` or `plane.with_ranks`. plane : that it is of.
    told : sentences of caution for the caption. label : for \\ref.
    """
    table = table.sort_values("accuracy", ascending=False)
    known = [c for c in SHOWN if c in table]
    beside = [c for c in known if c in BESIDE]
    split = (
        [known] if len(beside) < 2 else [[c for c in known if c not in BESIDE], ["system", *beside]]
    )
    said = (
        f"{plane.name}: {plane.accuracy.title}; {plane.naturalness.title}. 95 % intervals; bold: "
        "Pareto-optimal, as no counted system is better on both axes."
    )
    parts, digits = [], digits_by_column(table)
    for columns in split:
        cells = [
            [latex_text(cell(row, c, "[{}, {}]", digits)) for row in table.to_dict("records")]
            for c in columns
        ]
        cells[0] = _names(table, [table])
        caption = _caption([said, *(TOLD[c] for c in columns if c in TOLD), *_aside(table), *told])
        heads = [latex_text(SHOWN[c]) for c in columns]
        parts.append(_framed(heads, cells, caption, label + "-gaps" * (columns is not split[0])))
    return "\n".join(parts)


BESIDE = {
    "accuracy_gap",
    "naturalness_gap",
    "pareto_probability",
    "lpp_gap",
    "minus_lpp_distance",
}
"""Columns of a second table, so that each fits the width of a page."""


def _names(table: pd.DataFrame, tables: Iterable[pd.DataFrame]) -> list[str]:
    """The systems for LaTeX: bold where one of the tables has them in its Pareto set, a star where not counted."""
    best = {name for one in tables for name in one["system"][one["pareto"].astype(bool)]}
    outside = table["outside"] if "outside" in table else [""] * len(table)
    return [
        (rf"\textbf{{{latex_text(name)}}}" if name in best else latex_text(name))
        + ASIDE * bool(why)
        for name, why in zip(table["system"], outside, strict=True)
    ]


def _aside(table: pd.DataFrame) -> list[str]:
    if "outside" not in table or not (table["outside"] != "").any():
        return []
    return [f"{ASIDE}: measured, but not counted among the systems, as the appendix says."]


NO_LABEL = re.compile(r"[^A-Za-z0-9:]+")  # in a \\label, # and _ stop LaTeX
NO_WIDER = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{"


def _framed(
    heads: Sequence[str], columns: Iterable[Sequence[str]], caption: str, label: str
) -> str:
    """A floating table over both columns of a page; the cells are LaTeX already, the caption is not."""
    rows = [" & ".join(row) + r" \\" for row in zip(*columns, strict=True)]
    heads = [_stacked(head) for head in heads]
    frame = [
        f"% {made_by()}",
        "% needs \\usepackage{booktabs,graphicx}",
        r"\begin{table*}",
        r"\centering\footnotesize\setlength{\tabcolsep}{4pt}",
        NO_WIDER + rf"\begin{{tabular}}{{ll{'r' * (len(heads) - 2)}}}",
        r"\toprule",
        " & ".join(heads) + r" \\",
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}}",
        rf"\caption{{{latex_text(caption)}}}",
        rf"\label{{{NO_LABEL.sub('-', label)}}}",
        r"\end{table*}",
    ]
    return "\n".join(frame) + "\n"


def _caption(told: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(map(brief, told)))


def latex_rows(table: pd.DataFrame, caption: str, label: str) -> str:
    """Any table as LaTeX (booktabs), numbers with their intervals in one cell.

    Parameters
    ----------
    caption : what is shown, with unit and direction. label : for \\ref.
    """
    shown = in_one_cell(table)
    rows = shown.to_dict("records")
    columns = [[latex_text(cell(row, c, "", {})) for row in rows] for c in shown]
    heads = [latex_text(str(c).replace("_", " ")) for c in shown]
    return _framed(heads, columns, caption, label)


def brief(sentence: str) -> str:
    """A sentence of caution for a caption: without advice, and without a list as long as a paragraph.

    >>> brief("These pairs are close: " + "A and B, " * 40)
    'These pairs are close (listed in the appendix).'
    """
    sentence = ADVICE.sub(".", sentence)
    head = sentence.partition(": ")[0]
    if len(sentence) <= LONG or head == sentence or len(head.split()) < SENTENCE:
        return sentence
    return f"{head} (listed in the appendix)."


def _stacked(head: str) -> str:
    """A head of two words on two lines, so that it is no wider than its column."""
    first, space, rest = head.partition(" ")
    long = space and len(head) > 9 and "$" not in rest and first.count("$") % 2 == 0
    return rf"\shortstack[r]{{{first}\\{rest}}}" if long else head


PAGE = r"height=0.74\textheight,keepaspectratio"  # at most, so that panels below each other leave a caption its room


def figure_latex(files: Mapping[str, str], sentences: Sequence[str], cites: Sequence[str]) -> str:
    """The figure of a paper: its pictures beside each other, and a caption that says all that they show.

    Parameters
    ----------
    files : name of a picture, without its folder -> what it shows, "" for one alone. sentences : of the caption.
    cites : keys of `bibliography`, for its last sentence.
    """
    wide = len(files) > 1
    place, size = ("figure*", r"0.49\textwidth") if wide else ("figure", r"\columnwidth")
    letters = dict(zip(files, "abc", strict=False))
    parts = [f"({letters[one]}) {what}." for one, what in files.items() if what]
    cited = rf" See \cite{{{','.join(cites)}}}." if cites else ""
    frame = [
        f"% {made_by()}",
        "% needs \\usepackage{graphicx}, and the entries of refs.bib",
        rf"\begin{{{place}}}",
        r"\centering",
        "\\hfill\n".join(rf"\includegraphics[width={size},{PAGE}]{{{one}}}" for one in files),
        rf"\caption{{{latex_text(' '.join([*parts, *dict.fromkeys(map(brief, sentences))]))}{cited}}}",
        r"\label{fig:plane}",
        rf"\end{{{place}}}",
    ]
    return "\n".join(frame) + "\n"


def appendix_latex(text: str) -> str:
    """The paragraphs of an appendix for LaTeX; signatures in a typewriter's letters, which may break at each bar.

    Parameters
    ----------
    text : of `appendix.appendix_text`.
    """
    parts, at = [], 0
    for found in QUOTED.finditer(text):
        name = "signature " if found[1] else ""
        pieces = latex_text(found[1] or found[2]).split(r"\textbar{}")
        typed = r"\textbar{}\allowbreak ".join(pieces).replace(":", r":\allowbreak ")
        for sign in (",", ".", r"\_"):  # names of files, too, are longer than a line
            typed = typed.replace(sign, rf"{sign}\allowbreak ")
        parts += [latex_text(text[at : found.start()]), rf"({name}\texttt{{{typed}}})"]
        at = found.end()
    parts.append(latex_text(text[at:]))
    latex = re.sub(rf"^({'|'.join(HEADINGS)})\.", r"\\textbf{\1.}", "".join(parts), flags=re.M)
    return f"% {made_by()}\n{{\\sloppy\n{latex}}}\n"


def bibliography(
    asked: Iterable[str], models: Iterable[tuple[str, str]] = ()
) -> tuple[str, list[str]]:
    """The BibTeX entries for the metrics, data sets and methods that a plane used, and their keys.

    Parameters
    ----------
    asked : "an" (the paper), "tests", names of metrics as typed, and names of data sets.
    models : (name, revision) of each language model: a folder has no publication that we could know.
    """
    wanted = {name for one in asked for name in (one.partition(":")[0], one.partition("/")[0])}
    wanted |= {f"{one}=" for one in asked}
    source = read_bytes(bundled("references.bib")).decode("utf-8")
    known = [
        (*re.findall(r"@\w+\{([^,]+), for = \{([^}]*)\},", entry)[0], entry)
        for entry in re.findall(r"@\w+\{[^@]+", source)
    ]
    names = {name for _, whose, _ in known for name in whose.split()}
    wanted |= {_published(stored, names) for one in asked if (stored := one.partition("#")[2])}
    entries: dict[str, str] = {}
    for key, whose, entry in known:
        if wanted & set(whose.split()):
            entries[key] = re.sub(r" for = \{[^}]*\},", "", entry, count=1).strip()
    for name, revision in models:
        key = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()
        link = f"\\url{{https://huggingface.co/{name}}}" if "/" in name else "a local folder"
        called = latex_text(name)
        entries[key] = (
            f"@misc{{{key},\n  key = {{{called}}}, title = {{{{{called}}}}}, howpublished = {{{link}}},\n"
            f"  note = {{language model, revision {latex_text(revision)}}}}}"
        )
    return f"% {made_by()}\n\n" + "\n\n".join(entries.values()) + "\n", [*entries]


def _published(stored: str, names: Iterable[str]) -> str:
    """The name under which a metric is known whose scores somebody stored; "" where none is.

    >>> _published("MetricX-24-Hybrid-XL", ["metricx", "metricx24", "comet"])
    'metricx24'
    """

    def bare(name: str) -> str:
        return re.sub(r"[^a-z0-9]", "", name.lower())

    fitting = [name for name in names if bare(stored).startswith(bare(name))]
    return max(fitting, key=lambda name: (len(bare(name)), name), default="")


def _span(counts: pd.Series) -> str:
    ends = dict.fromkeys((int(np.nanmin(counts)), int(np.nanmax(counts))))
    return " to ".join(f"{n:,}" for n in ends)
