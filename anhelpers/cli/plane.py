"""`anhelpers plane`: systems on the accuracy-naturalness plane, ready to publish."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from ..naturalness.mono import LPP_DISTANCE
from ..provenance import TOGETHER
from ..scoring import lookup
from . import mono as reference
from . import options as shared
from .entries import about_curve, about_options, compared_texts

if TYPE_CHECKING:
    import pandas as pd

    from ..data import CandidateSet, TestSet
    from ..frontier import OracleCurve
    from ..metrics import Metric
    from ..naturalness.lm import LanguageModel
    from ..naturalness.mono import Mono
    from ..plane import OracleStudy, Plane

COLUMN_INCHES = 3.3
"""Width of a column in ACL's style."""

RESULTS = (
    TOGETHER,
    "systems.csv",
    "curve.csv",
    "pairs.csv",
    "slices.csv",
    "claim.csv",
    "systems.tex",
    "appendix.txt",
    "plane.svg",
    "plane.png",
    "plane.html",
)
"""All that a run may leave in the folder of its results; those of an older run that it does not make go."""

HELP = (
    "systems on the plane: tables (CSV, LaTeX), figures (SVG, PNG), a page, and the appendix "
    "sentence"
)
EXAMPLE = "anhelpers plane -s src.en -r ref.de -t mine.de theirs.de -o build/plane"


def options(parser: argparse.ArgumentParser) -> None:
    """Texts or a data set, metrics, what to compare, outputs."""
    shared.add_texts(parser, required=False)
    shared.translations(parser, required=False)
    parser.add_argument(
        "--data", metavar="NAME|PATH", help="instead of -s, -r, -t: a data set, such as wmt24/en-de"
    )
    shared.selection(parser)
    parser.add_argument(
        "--mine",
        nargs="+",
        default=[],
        metavar="[NAME=]FILE",
        help="more systems beside those of the data set or of -t, a line per segment; none of "
        "them is a candidate of the oracle curve, so that others draw the same",
    )
    parser.add_argument(
        "--mine-in-candidates",
        action="store_true",
        help="puts --mine among the candidates: another curve, with another id",
    )
    parser.add_argument(
        "--docs", metavar="FILE", help="lines domain<TAB>document for -s; documents are resampled"
    )
    shared.axes(parser, f"{lookup.listed('naturalness')}; R is that of --mono")
    parser.add_argument(
        "--naturalness-level",
        choices=["segment-mean", "corpus"],
        help="of the naturalness; corpus has neither intervals nor a curve (default: segment-mean "
        "where that says something)",
    )
    shared.lm(parser)
    reference.option(
        parser, "drawn on the axis of naturalness, with lpp also AN's N(Q) of each system"
    )
    shared.store(parser)
    parser.add_argument(
        "--level",
        choices=["segment-mean", "corpus"],
        default="segment-mean",
        help="of the accuracy; the curve needs segment-mean (default: segment-mean)",
    )
    parser.add_argument(
        "--own-segments",
        action="store_true",
        help="each system over its own segments, not only those that all share",
    )
    parser.add_argument(
        "--by", choices=["domain", "length"], help="the systems again for each slice"
    )
    parser.add_argument("--against", metavar="SYSTEM", help="test only the pairs with this system")
    parser.add_argument(
        "--sanity", action="store_true", help="adds source copied, references shuffled and the like"
    )
    parser.add_argument(
        "--count-all",
        action="store_true",
        help="people, controls, near-copies and --mine count as systems: in Holm's correction, the "
        "Pareto set, the ranks and the axes' range",
    )
    parser.add_argument(
        "--draws", type=int, default=1000, metavar="B", help="resamples (default: 1000)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the resampling (default: 0)"
    )
    parser.add_argument(
        "-o",
        "--out",
        default="build/plane",
        metavar="DIR",
        help="folder of the results (default: build/plane)",
    )


def run(args: argparse.Namespace) -> None:
    """Score, measure, draw, write."""
    from .. import plane as planes
    from ..appendix import appendix, cautions, few_slices, uncounted

    rng = np.random.default_rng(args.seed)
    # so that none of them moves the draws of all else
    of_controls, of_pairs, of_slices = rng.spawn(3)
    test, cands, mine = compared_texts(args)
    translations = list(test.systems)
    if args.sanity:
        test = planes.with_sanity_systems(test, of_controls)
    if args.against:
        checks.one_of(args.against, test.systems, "system")
    model = shared.chosen_lm(args.lm, test.trg_lang) if lookup.needs_lm(args.naturalness) else None
    folded = args.naturalness == LPP_DISTANCE
    mono, about_r = reference.given_mono(args, test, model) if args.mono or folded else (None, [])
    plane, study, judge = _measured(args, test, cands, model=model, mono=mono)
    people = {name: "human" for name in plane.systems if name not in test.systems}
    outside = {} if args.count_all else planes.outside_of(test, mine) | people
    plane = replace(plane, outside=outside).only(plane.systems)
    study = study and replace(study, plane=plane)
    curve = study.curve if study else None
    table = (
        study.systems(rng, args.draws) if study else planes.systems_table(plane, rng, args.draws)
    )
    table, r, said_by_r = reference.held_against(mono, table, plane, judge, lm=model, curve=curve)
    references = "+".join(test.refs) if "nrefs:" in plane.accuracy.signature else ""
    table.insert(table.columns.get_loc("accuracy_signature"), "references", references)
    notes = (
        *about_options(args, study.notes if study else plane.notes, plane),
        *about_r,
        *said_by_r,
    )
    if study:
        notes += about_curve(args, study, cands, mine=mine, table=table)
    drawn = (
        f"as {len(set(plane.clusters.tolist()))} documents"
        if plane.unit == "documents"
        else "one by one"
    )
    scored = (plane.compared & plane.there.any(0)).sum()
    counts = f"{len(plane)} of {len(test)} segments compared, resampled {drawn}; {scored} systems."
    tested = len(table) > 1 and not args.own_segments and len(plane) > 1
    swaps = max(10_000, args.draws)
    undecided = planes.cannot_decide(plane, swaps, args.against) if tested else ""
    results = {"systems": table}
    if args.by and plane.naturalness.level != "stored" and not folded:
        results["slices"] = planes.sliced_table(plane, of_slices, args.by, args.draws)
        notes += tuple(filter(None, [few_slices(results["slices"], plane.unit)]))
    careful = cautions(plane, table, args.draws)
    hints = [
        f"{told[:-1]}; name them by --docs."
        if told.startswith("Documents are not known") and args.sources
        else told
        for told in careful
        if not told.startswith(f"{args.draws} ")
    ]  # who drew said that
    shared.print_notes(filter(None, [counts, uncounted(plane), *notes, *hints, undecided]))
    if study:
        results["curve"] = planes.curve_rows(study)
    if tested:
        results["pairs"] = planes.paired_tests(plane, of_pairs, swaps, args.against)
        results["systems"] = table = (
            table if args.against else planes.with_ranks(table, results["pairs"])
        )
        shared.print_notes(filter(None, [edge := planes.at_the_edge(results["pairs"])]))
        undecided = " ".join(filter(None, [undecided, edge]))
    compared = [name for name in translations if name in {*plane.systems} - {*plane.outside}]
    claim, correlations = _claim(plane.only(compared), curve, rng, args.draws)
    if correlations is not None and (
        apart := [name for name in translations if name in plane.outside]
    ):
        claim += f" This is without {', '.join(apart)}."
    if correlations is not None:
        results["claim"] = correlations
    told = appendix(
        replace(plane, notes=notes),
        table,
        args.draws,
        args.seed,
        tests=results.get("pairs"),
        doubts=filter(None, [undecided]),
        claim=claim,
    )
    stored = plane.naturalness.level == "stored"
    look = {
        "named": mine,
        "curve": curve,
        "uncertainty": "cross" if stored or folded else "ellipse",
        "mono": r,
    }
    careful += filter(None, [undecided])
    words = (
        {"Against R, text written in the language": " ".join(said_by_r + about_r)} if mono else {}
    )
    words |= {"The claim": claim, "Caution": " ".join(careful), "For the appendix": told}
    _write(Path(args.out), plane, results, look, words)


def _measured(
    args: argparse.Namespace,
    test: TestSet,
    cands: CandidateSet,
    *,
    model: LanguageModel | None,
    mono: Mono | None,
) -> tuple[Plane, OracleStudy | None, Metric]:
    """The systems' scores on both axes; with the study of the curve where both are means of segments' scores.

    The metric scores single texts, such as those of R, as the axis of naturalness does.
    """
    from .. import plane as planes
    from ..naturalness.compression import COMPRESSION, human_compression

    accuracy = lookup.accuracy_metric(args.metric, test.trg_lang, test.n_refs or 1)
    naturalness = lookup.naturalness_metric(args.naturalness, test.trg_lang, model, mono=mono)
    judge = (
        lookup.naturalness_metric("lpp", test.trg_lang, model)
        if args.naturalness == LPP_DISTANCE
        else naturalness
    )
    # which says little of a segment
    whole = not naturalness.of_segments or args.naturalness == COMPRESSION
    level = args.naturalness_level or ("corpus" if whole else "segment-mean")
    given = accuracy.score_systems or naturalness.score_systems
    if not given and "corpus" not in (args.level, level) and not args.own_segments:
        study = planes.oracle_study(test, cands, accuracy, naturalness)
        return study.plane, study, judge
    plane = planes.system_plane(
        test,
        accuracy,
        naturalness,
        args.level,
        shared=not args.own_segments,
        naturalness_level=level,
    )
    human = (
        (human_compression(test),) if args.naturalness == COMPRESSION and level == "corpus" else ()
    )
    return replace(plane, notes=(*plane.notes, *human)), None, judge


def _claim(
    plane: Plane, curve: OracleCurve | None, rng: np.random.Generator, draws: int
) -> tuple[str, pd.DataFrame | None]:
    """Whether accuracy and naturalness go against each other near the frontier: in words, and the correlations."""
    from ..plane import FEWEST, distinct_systems, local_correlation, verdict

    if plane.naturalness.level == "stored":
        return "No test of the claim: the naturalness is known per system only.", None
    scored = len(distinct_systems(plane))
    if scored < FEWEST or len(plane) < 2:
        seen = f"{scored} different system{'s' * (scored != 1)} on {len(plane)} segments"
        return (
            f"No correlation near the frontier: it takes {FEWEST} different systems; here: {seen}.",
            None,
        )
    correlations = local_correlation(plane, rng, curve=curve, n_draws=draws)
    return verdict(correlations), correlations


def _write(
    folder: Path, plane: Plane, results: dict, look: dict[str, Any], words: dict[str, str]
) -> None:
    """All results at once, so that those of two runs never stand side by side; print the systems and the claim."""
    from ..data.writing import results_together
    from ..report import readable

    with results_together(folder, RESULTS) as fresh:
        _draw(fresh, plane, results, look, words)
    table = results["systems"].sort_values("accuracy", ascending=False)
    sys.stdout.write(readable(table).to_string(index=False) + "\n")
    print(words["The claim"])


def _draw(
    folder: Path, plane: Plane, results: dict, look: dict[str, Any], words: dict[str, str]
) -> None:
    """The files themselves: tables, figures, page, sentences."""
    from ..charts.frame import COLUMN
    from ..charts.offline import interactive, save
    from ..charts.systems import plot_systems
    from ..data.writing import write_text
    from ..report import latex_table, split_ranks, write_page, write_tables

    table, title = results["systems"], f"{plane.name}: {plane.compared.sum()} systems"
    careful = words.pop("Caution")
    look |= {"accuracy_title": plane.accuracy.title, "naturalness_title": plane.naturalness.title}
    write_tables(folder, results)
    write_text(folder / "systems.tex", latex_table(table, plane, [careful] * bool(careful)))
    write_text(folder / "appendix.txt", words["For the appendix"])
    narrow = plot_systems(table, **look, size=COLUMN)
    for suffix in (".svg", ".png"):
        save(narrow, folder / f"plane{suffix}", inches=COLUMN_INCHES)
    parts: dict[str, Any] = {**split_ranks(table.sort_values("accuracy", ascending=False)), **words}
    parts |= {"Slices": results["slices"]} if "slices" in results else {}
    parts |= (
        {"Paired tests, with Holm's correction": [careful, results["pairs"]]}
        if "pairs" in results
        else {}
    )
    write_page(folder / "plane.html", title, interactive(plot_systems(table, **look)), parts)
