"""Results of a plane as files: tables, figure, LaTeX, bibliography, appendix and a page."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import __version__
from ._lazy import pd
from .metrics import LPP_DISTANCE
from .plane.scores import Plane
from .plane.table import cell_text, decimals, readable
from .progress import say
from .provenance import from_template, in_page, made_by, write_made

if TYPE_CHECKING:
    from .estimate import Estimate
    from .frontier import OracleCurve

_TABLES = ("systems", "curve", "pairs", "claim")
FILES = (
    *(f"{name}.csv" for name in _TABLES),
    *("systems.tex", "caption.tex", "appendix.tex", "appendix.txt", "refs.bib"),
    *("plane.pdf", "plane.svg", "plane.png", "plane.html"),
)
_RANKS = re.compile(r"(accuracy|naturalness)_(rank_low|rank_high|cluster)")
_LATEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}\allowbreak{}"}
    | {'"': r"\textquotedbl{}", "–": "--", "−": "$-$", "…": r"\ldots{}", "→": r"$\rightarrow$"}
    | {"≈": r"$\approx$", "β": r"$\beta$", "∞": r"$\infty$", "≥": r"$\geq$", "≤": r"$\leq$"}
    | {"τ": r"$\tau$", "ρ": r"$\rho$", "Δ": r"$\Delta$", "σ": r"$\sigma$", "·": r"$\cdot$"}
    | {"χ": r"$\chi$", "²": r"\textsuperscript{2}", "α": r"$\alpha$", "×": r"$\times$"}
    | {"√": r"$\surd$", "\u00a0": "~"}
)


@dataclass(frozen=True)
class PlaneResult:
    """Tables, verdict and cautions by one accuracy metric, as `anhelpers plane` writes them.

    Parameters
    ----------
    tables : mapping
        "systems", and where they exist "curve", "pairs" and "claim".
    mono : Estimate or None
        Naturalness of R, monolingual text.
    cautions : tuple of str
        Sentences on how to read the intervals and tests.
    """

    plane: Plane
    curve: OracleCurve | None
    tables: Mapping[str, pd.DataFrame]
    verdict: str
    mono: Estimate | None = None
    cautions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The name of the accuracy metric on its axis."""
        return self.plane.accuracy.title.partition(" (")[0]


def write_report(
    folder: str | PathLike,
    results: Sequence[PlaneResult],
    sources: Sequence[str],
    *,
    n_segments: int,
    n_draws: int,
    seed: int,
    named: Sequence[str] = (),
) -> None:
    """Write all files of a plane into a folder; those of an older run are replaced when all are made.

    .made.json is written last, with their digests: `anhelpers check FOLDER` refuses files of two runs.

    Parameters
    ----------
    results : sequence of PlaneResult
        One per accuracy metric, of the same systems.
    sources : sequence of str
        Metrics, data set and models, for the bibliography.
    n_segments : int
        Segments of the test set, before any were left out.
    named : sequence of str
        Systems drawn with thick outlines.
    """
    from .charts.frame import COLUMN_INCHES
    from .charts.offline import interactive, save
    from .charts.systems import Panel, plot_panels
    from .data.io import scratch_folder, write_atomic

    plane = results[0].plane
    plain = plane.naturalness.level == "stored" or plane.naturalness.name == LPP_DISTANCE
    how: dict[str, Any] = {"uncertainty": "cross" if plain else "ellipse", "named": named}
    how["mono"], ruler = results[0].mono, plane.naturalness.name == "lpp"
    panels = [
        Panel(one.tables["systems"], one.plane.accuracy.title, one.curve, **how) for one in results
    ]
    chart, marks, unnamed = plot_panels(panels, plane.naturalness.title, ruler=ruler)
    entries, keys = _bibliography(["an", *sources, *["tests"] * ("pairs" in results[0].tables)])
    facts = _facts(results) | {"n_segments": n_segments, "n_draws": n_draws, "seed": seed}
    facts["marks"] = [*dict.fromkeys(s for own in marks for s in own if "left out" not in s)]
    facts |= {"unnamed": sorted(unnamed), "keys": keys, "made_by": made_by()}
    appendix = from_template("appendix.txt", **facts)
    paragraphs = re.sub(r"^(\w+)\.", r"\\textbf{\1.}", _latex_text(appendix), flags=re.M)
    texts = {f"{name}.csv": one.to_csv(index=False) for name, one in _stacked(results).items()}
    texts |= {"refs.bib": entries, "appendix.txt": appendix}  # BibTeX has no comments
    texts["appendix.tex"] = f"% {made_by()}\n{{\\sloppy\n{paragraphs}}}\n"
    texts["caption.tex"] = from_template("caption.tex", tex=_latex_text, **facts)
    rows = _rows(results)
    texts["systems.tex"] = from_template("systems.tex", tex=_latex_text, rows=rows, **facts)
    with scratch_folder(folder) as fresh:
        for name, text in texts.items():
            write_atomic(fresh / name, text)
        for suffix in (".pdf", ".svg", ".png"):
            save(chart, fresh / f"plane{suffix}", inches=COLUMN_INCHES)
        wide, _, _ = plot_panels(panels, plane.naturalness.title, ruler=ruler, size=(620, 420))
        title = f"{plane.name}: {plane.compared.sum()} systems"
        parts = _parts(results) | {"Appendix": [appendix]}
        page = from_template("plane.html", title=title, chart=interactive(wide), parts=parts)
        write_atomic(fresh / "plane.html", in_page(page))
        _publish(fresh, Path(folder))


def _publish(fresh: Path, folder: Path) -> None:
    """Move new results over the old ones, delete those that were not made again, and record them."""
    for name in FILES:
        if (fresh / name).exists():
            os.replace(fresh / name, folder / name)
            say(f"wrote {folder / name}")
        else:
            (folder / name).unlink(missing_ok=True)
    write_made(folder, [name for name in FILES if (folder / name).exists()])


def _stacked(results: Sequence[PlaneResult]) -> dict[str, pd.DataFrame]:
    """Each table over all metrics, with the accuracy metric in its first column."""
    found = {}
    for name in _TABLES:
        have = [one for one in results if name in one.tables]
        parts = [one.tables[name].assign(metric=one.plane.accuracy.name) for one in have]
        if parts:
            table = pd.concat(parts, ignore_index=True)
            found[name] = table[["metric", *table.columns.drop("metric")]]
    return found


def _facts(results: Sequence[PlaneResult]) -> dict[str, object]:
    """Values of the templates of caption, appendix and table."""
    first = results[0]
    plane, systems = first.plane, first.tables["systems"]
    scored = systems[systems.n > 0]
    sizes = sorted({int(one.tables["systems"].n.max()) for one in results})
    return {
        "plane": plane,
        "results": results,
        "n_systems": int((scored.outside == "").sum()),
        "outside": dict(plane.outside),
        "unscored": systems.system[systems.n == 0].tolist(),
        "n": " and ".join(f"{n:,}" for n in sizes),
        "n_docs": len(set(plane.clusters.tolist())) if plane.unit == "documents" else 0,
        "candidates": systems.candidates.iloc[0] if "candidates" in systems else "",
        "few": float(scored.n_effective.min()) if len(scored) else np.nan,
        "ranked": "accuracy_rank_low" in systems,
        "tested": "pairs" in first.tables,
        "mono": first.mono,
        "cautions": [*dict.fromkeys(text for one in results for text in one.cautions)],
        "notes": [*dict.fromkeys(text for one in results for text in one.notes)],
        "version": __version__,
    }


def _rows(results: Sequence[PlaneResult]) -> list[list[str]]:
    """Rows of the LaTeX table: system, kind, scores with intervals and clusters, by each metric."""
    first = results[0].tables["systems"].sort_values("accuracy", ascending=False)
    axes = [("accuracy", one.tables["systems"]) for one in results] + [("naturalness", first)]
    best = {s for one in results for s in one.tables["systems"].query("pareto").system}
    rows = []
    for system, kind, outside in first[["system", "category", "outside"]].to_numpy():
        name = _latex_text(system) + "*" * bool(outside)
        row = [rf"\textbf{{{name}}}" if system in best else name, _latex_text(kind)]
        for axis, table in axes:
            digits, own = decimals(table), table[table.system == system].to_dict("records")
            cells = [cell_text(one, axis, "[{}, {}]", digits) for one in own] or ["–"]
            cells += [cell_text(one, f"{axis}_cluster", "", {}) for one in own] or ["–"]
            row += map(_latex_text, cells)
        rows.append(row)
    return rows


def _parts(results: Sequence[PlaneResult]) -> dict[str, list]:
    """Sections of the page: heading → paragraphs and tables."""
    parts: dict[str, list] = {}
    for one in results:
        by = f" by {one.label}" if len(results) > 1 else ""
        table = one.tables["systems"].sort_values("accuracy", ascending=False)
        ranks = [c for c in table if _RANKS.fullmatch(str(c))]
        parts[f"Systems{by}"] = [readable(table.drop(columns=ranks))]
        if ranks:
            columns = ["system", "category", *ranks]
            parts[f"Ranks and clusters{by}"] = [readable(table[columns])]
        parts[f"The claim{by}"] = [one.verdict]
        if "pairs" in one.tables:
            null = f"p: the two outputs of a {one.plane.unit[:-1]} are exchangeable."
            parts[f"Paired tests{by}"] = [*one.cautions, null, readable(one.tables["pairs"])]
    return parts


def _latex_text(text: str) -> str:
    """Escape text for LaTeX, with the symbols that this package prints.

    >>> _latex_text("AIST_AIRC: 5 %, -3.1 < β")
    'AIST\\\\_AIRC: 5 \\\\%, $-$3.1 \\\\textless{} $\\\\beta$'
    """
    return re.sub(r"(^|[ \[(])-(?=\d)", r"\1$-$", text.translate(_LATEX))


def _bibliography(wanted: Iterable[str]) -> tuple[str, list[str]]:
    """BibTeX entries for metrics, data sets, models and methods of these names, and their keys."""
    from .data.fetch import bundled

    names = {name for one in wanted for name in (one, *re.split(r"[:/#]", one)[:1], f"{one}=")}
    entries: dict[str, str] = {}
    for entry in re.findall(r"@\w+\{[^@]+", bundled("references.bib").read_text("utf-8")):
        key, whose = re.findall(r"@\w+\{([^,]+), for = \{([^}]*)\},", entry)[0]
        if names & {*whose.split()}:
            entries[key] = re.sub(r" for = \{[^}]*\},", "", entry, count=1).strip()
    return "\n\n".join(entries.values()) + "\n", [*entries]
