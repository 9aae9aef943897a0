"""The files of `anhelpers plane`: tables, a page, and what a paper takes: figures, caption, appendix, references."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..metrics import LPP_DISTANCE
from ..progress import note
from ..provenance import TOGETHER
from .entries import about_models

if TYPE_CHECKING:
    import pandas as pd

    from ..data import CandidateSet
    from ..estimate import Estimate
    from ..frontier import OracleCurve
    from ..metrics import Metric
    from ..naturalness.lm import LanguageModel
    from ..naturalness.lpp import Mono
    from ..plane import Plane

__all__ = ["RESULTS", "Found", "Run", "write_all"]

PICTURES = (".pdf", ".svg", ".png")
TABLES = ("systems", "curve", "pairs", "slices", "claim")
RESULTS = (
    TOGETHER,
    *(f"{name}.csv" for name in TABLES),
    "systems.tex",
    "appendix.txt",
    "appendix.tex",
    "caption.tex",
    "refs.bib",
    *(f"{name}{suffix}" for name in ("plane", "zoom") for suffix in PICTURES),
    "plane.html",
)
"""All that a run may leave in the folder of its results; those of an older run that it does not make go."""

CROWD = 8
"""From so many systems on a second picture shows those in the best corner, where a name found no room."""


@dataclass(frozen=True)
class Run:
    """What all metrics of accuracy of a run have in common.

    Parameters
    ----------
    args : of the command. n : segments of the test set. cands : the candidates as given.
    mine, translations : systems of --mine; all systems but controls.
    model, mono : language model and R. judge : scores texts as the axis of naturalness does.
    about : notes on R and on models. references : that metrics compare with.
    """

    args: argparse.Namespace
    n: int
    cands: CandidateSet
    mine: list[str]
    translations: list[str]
    model: LanguageModel | None
    mono: Mono | None
    judge: Metric
    about: list[str]
    references: list[str]


@dataclass(frozen=True)
class Found:
    """What a run finds by one metric of accuracy.

    Parameters
    ----------
    plane, curve, r : the systems, the oracle curve and R's place, where there are any.
    results : name of a file -> its table. claim : the verdict. careful : sentences of caution.
    notes : what the user should see. of_r : what R says of the systems. told : the sentences of the appendix by
        heading.
    """

    plane: Plane
    curve: OracleCurve | None
    r: Estimate | None
    results: dict[str, pd.DataFrame]
    claim: str
    careful: list[str]
    notes: list[str]
    of_r: list[str]
    told: dict[str, list[str]]

    @property
    def label(self) -> str:
        """The metric as an axis calls it."""
        return self.plane.accuracy.title.partition(" (")[0]


def write_all(folder: Path, run: Run, every: list[Found]) -> None:
    """All results at once, so that those of two runs never stand side by side.

    Parameters
    ----------
    run : what all have in common. every : what was found, by each metric of accuracy.
    """
    from ..data.writing import results_together

    with results_together(folder, RESULTS) as fresh:
        _write(fresh, run, every)


def _write(folder: Path, run: Run, every: list[Found]) -> None:
    """The files themselves."""
    from ..appendix import appendix_text
    from ..charts.drawing import NotDrawn
    from ..data.writing import write_text
    from ..paper import appendix_latex, bibliography
    from ..report import write_tables

    first = every[0]
    write_tables(folder, _stacked(every))
    models = [(run.model.name, run.model.revision)] if run.model else []
    data = [str(run.args.data)] if run.args.data else []
    tests = ["tests"] if "pairs" in first.results else []
    asked = ["an", *run.args.metric, run.args.naturalness, *data, *tests]
    entries, keys = bibliography(asked, models)
    write_text(folder / "refs.bib", entries)
    write_text(folder / "systems.tex", _tables(every))
    text = appendix_text({found.label: found.told for found in every})
    write_text(folder / "appendix.txt", text)
    write_text(folder / "appendix.tex", appendix_latex(text))
    try:
        chart, notes = _pictures(folder, run, every, keys)
        _page(folder, every, chart, notes, text)
    except NotDrawn as error:
        note(f"figures and page are not written, all tables are: {error}")


def _stacked(every: list[Found]) -> dict[str, pd.DataFrame]:
    """Each table over all metrics, the metric of accuracy in its first column."""
    import pandas as pd

    found = {}
    for name in TABLES:
        parts = [
            (one.plane.accuracy.name, one.results[name]) for one in every if name in one.results
        ]
        if parts:
            named = [table.assign(metric=metric) for metric, table in parts]
            columns = ["metric", *(c for c in named[0] if c != "metric")]
            found[name] = pd.concat(named, ignore_index=True)[columns]
    return found


def _tables(every: list[Found]) -> str:
    """The LaTeX tables: all metrics beside each other where they are over the same segments, then each by itself."""
    from ..paper import latex_table, scores_table

    first = every[0]
    tables = {found.label: found.results["systems"] for found in every}
    same = [
        table[["system", "n"]].equals(next(iter(tables.values()))[["system", "n"]])
        for table in tables.values()
    ]
    joint = (
        [scores_table(tables, first.plane, first.careful)] if all(same) and len(every) > 1 else []
    )
    alone = [
        latex_table(
            found.results["systems"],
            found.plane,
            found.careful,
            f"tab:plane-{found.plane.accuracy.name}" if len(every) > 1 else "tab:plane",
        )
        for found in every
    ]
    return "\n".join([*joint, *alone])


def _pictures(folder: Path, run: Run, every: list[Found], keys: list[str]) -> tuple[Any, list[str]]:
    """Figure, for a crowd the corner of the best once more, and caption; returns one to explore, and its notes."""
    from ..charts.frame import COLUMN, COLUMN_INCHES
    from ..charts.offline import save
    from ..charts.panels import Panel, plot_panels, zoomed
    from ..data.writing import write_text
    from ..paper import figure_latex

    plane = every[0].plane
    panels = [Panel(f.results["systems"], f.plane.accuracy.title, f.curve) for f in every]
    stored = plane.naturalness.level == "stored"
    draw: Callable[..., Any] = partial(
        plot_panels,
        panels,
        plane.naturalness.title,
        uncertainty="cross" if stored or plane.naturalness.name == LPP_DISTANCE else "ellipse",
        named=run.mine,
        mono=every[0].r,
        ruler=plane.naturalness.name == "lpp",
    )
    _, _, unnamed = draw(size=COLUMN)
    crowd = len(plane.systems) >= CROWD and unnamed
    corner = (
        list(dict.fromkeys(s for panel in panels for s in zoomed(panel.table, named=run.mine)))
        if crowd
        else []
    )
    chart, notes, unnamed = draw(size=COLUMN, inner=corner)
    files = {"plane.pdf": "All systems" if corner else ""}
    charts = {"plane": chart}
    if corner:
        charts["zoom"], _, missing = draw(size=COLUMN, zoom=corner, uncertainty="none")
        files["zoom.pdf"] = "The part in the frame, larger and without its uncertainty"
        unnamed = [name for name in unnamed if name in missing or name not in corner]
    for name, one in charts.items():
        for suffix in PICTURES:
            save(one, folder / f"{name}{suffix}", inches=COLUMN_INCHES)
    said = caption_of(every, run.n, notes, unnamed, about_models(run.args, run.model))
    said.append(
        f"Uncertainty is that of {run.args.draws:,} resamples of {plane.unit} (seed {run.args.seed}); "
        "the appendix has all signatures."
    )
    write_text(folder / "caption.tex", figure_latex(files, said, keys))
    return draw(size=(620, 420))[0], said


def caption_of(
    every: list[Found],
    n_segments: int,
    notes: list[list[str]],
    unnamed: list[str],
    about: Sequence[str] = (),
) -> list[str]:
    """The sentences of the caption: what is compared over what, how each mark is read, and with what caution.

    Parameters
    ----------
    n_segments : of the test set, of which those are compared that all systems have. notes : of each panel, from
        `plot_panels`. unnamed : systems without a name in any picture.
    about : sentences on the model and the data set, such as that they are for teaching only.
    """
    from ..appendix import OPTIONS, TRANSLATIONESE

    first = every[0]
    plane, table = first.plane, first.results["systems"]
    labels = [found.label for found in every]
    by = ("; " if any("," in label for label in labels) else " and ").join(labels)
    least = min(len(found.plane) for found in every)
    n = " and ".join(dict.fromkeys(f"{len(found.plane):,}" for found in every))
    n += f" of {n_segments:,}" if least < n_segments else ""
    lacking = " (in the others, some system has no text or score)" if least < n_segments else ""
    docs = f" in {len(set(plane.clusters.tolist()))} documents" if plane.unit == "documents" else ""
    counted = int((table["outside"] == "").sum())
    means = "means" if all(axis.level != "stored" for axis in plane.axes) else "scores"
    told = [
        f"{plane.name}: {counted} system{'s' * (counted != 1)} by {by}, and "
        f"{plane.naturalness.title}: {means} over the same {n} segments{docs}{lacking}."
    ]
    told += [
        "Arrows point to where higher is better; dashed stairs: the edge of what the best systems beat."
    ]
    for found, own in zip(every, notes, strict=True):
        for sentence in own:
            if sentence.startswith("Names left out"):
                continue
            shared = all(sentence in other for other in notes)
            named = sentence if shared else f"{found.label}: {sentence}"
            told += [named] if named not in told else []
    if first.curve:
        told.append(
            "Curve: the oracle, who knows the accuracy of all candidates and takes for each source the "
            "best by accuracy + β · naturalness, from β = 0 to β = ∞; the appendix says whose they are."
        )
    if first.r and plane.naturalness.name == "lpp":
        told.append("Upper axis: N(Q) = −|LPP(Q) − LPP(R)|, 0 at R.")
    told += [OPTIONS.sub(".", sentence) for sentence in about]  # nobody types on paper
    if unnamed:
        names = ", ".join(sorted(unnamed))
        told.append(f"Unnamed: {names} (there is no room in some panel).")
    if plane.naturalness.name == "critic":
        told.append(TRANSLATIONESE)
    aside = table["system"][table["outside"] != ""].tolist()
    if aside:
        told.append(f"Drawn, but not counted among the systems: {', '.join(aside)}.")
    return [*told, *dict.fromkeys(one for found in every for one in found.careful)]


def _page(folder: Path, every: list[Found], chart: Any, notes: list[str], text: str) -> None:
    """The page: a picture with tooltips, what explains it, and all tables."""
    from ..charts.offline import interactive
    from ..report import split_ranks, write_page

    parts: dict[str, Any] = {"How to read the picture": notes}
    for found in every:
        named = f" by {found.label}" if len(every) > 1 else ""
        table = found.results["systems"].sort_values("accuracy", ascending=False)
        own: dict[str, Any] = {**split_ranks(table)}
        if found.of_r:
            own["Against R, text written in the language"] = " ".join(found.of_r)
        own["The claim"] = found.claim
        if "slices" in found.results:
            own["Slices"] = found.results["slices"]
        if "pairs" in found.results:
            told = [" ".join(found.careful), found.results["pairs"]]
            own["Paired tests, with Holm's correction"] = told
        parts |= {f"{heading}{named}": part for heading, part in own.items()}
    parts["For the appendix"] = text
    plane = every[0].plane
    title = f"{plane.name}: {plane.compared.sum()} systems"
    write_page(folder / "plane.html", title, interactive(chart), parts)
