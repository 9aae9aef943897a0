"""`anhelpers plane`: systems on the accuracy-naturalness plane, ready to publish."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import checks
from ..metrics import LPP_DISTANCE
from ..scoring import lookup
from . import mono as reference
from . import options as shared
from .entries import about_curve, about_models, about_options, compared_texts
from .plane_files import Found, Run, write_all

if TYPE_CHECKING:
    import pandas as pd

    from ..data import CandidateSet, TestSet
    from ..frontier import OracleCurve
    from ..metrics import Metric
    from ..naturalness.lm import LanguageModel
    from ..naturalness.lpp import Mono
    from ..plane import OracleStudy, Plane

EXAMPLE = "anhelpers plane --data wmt24/en-de -m chrf bleu --mono --mine mine.de:LLM"


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
        "them is a candidate of the oracle curve, so that others draw the same; their kind (LLM, "
        "MT, online, human), as in NAME=FILE:LLM, decides their mark, of files of -t, too",
    )
    parser.add_argument(
        "--mine-in-candidates",
        action="store_true",
        help="puts --mine among the candidates: another curve, with another id",
    )
    parser.add_argument(
        "--docs", metavar="FILE", help="lines domain<TAB>document for -s; documents are resampled"
    )
    shared.axes(parser, f"{lookup.listed('naturalness')}; R is that of --mono", several=True)
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
    shared.loading(parser)
    shared.scheduler(parser)
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
        "--max-blank-share",
        type=float,
        default=1.0,
        metavar="SHARE",
        help="leaves out systems with a larger share of blank outputs; each that stays takes its "
        "blank segments away from all (default: 1, nobody)",
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
    shared.resampling(parser)
    shared.out_folder(parser, "build/plane")


def run(args: argparse.Namespace) -> None:
    """Score, measure, draw, write."""
    with shared.using_scheduler(args.scheduler):
        _run(args)


def _run(args: argparse.Namespace) -> None:
    from .. import plane as planes
    from ..report import readable
    from ..stats import check_draws, clusters_of

    test, cands, mine = compared_texts(args)
    check_draws(clusters_of(test.docs), args.draws)
    translations = list(test.systems)
    if args.sanity:
        # so that none of them moves the draws of all else
        of_controls, *_ = np.random.default_rng(args.seed).spawn(3)
        test = planes.with_sanity_systems(test, of_controls)
    if args.against:
        checks.one_of(args.against, test.systems, "system")
    how = {"device": args.device, "dtype": args.dtype}
    needed = lookup.needs_lm(args.naturalness)
    model = shared.chosen_lm(args.lm, test.trg_lang, **how) if needed else None
    folded = args.naturalness == LPP_DISTANCE
    mono, about = reference.given_mono(args, test, model) if args.mono or folded else (None, [])
    measured, judge = _measured(args, test, cands, model=model, mono=mono)
    about += about_models(args, model)
    refs = list(test.refs)
    whole = Run(args, len(test), cands, mine, translations, model, mono, judge, about, refs)
    every: list[Found] = []
    for plane, study in measured:
        people = {name: "human" for name in plane.systems if name not in test.systems}
        outside = {} if args.count_all else planes.outside_of(test, mine) | people
        plane = replace(plane, outside={s: why for s, why in outside.items() if s in plane.systems})
        study = study and replace(study, plane=plane)
        every.append(_found(whole, plane, study, every[0] if every else None))
    common = [note for note in every[0].notes if all(note in one.notes for one in every)]
    shared.print_notes(common)
    for found in every:
        named = f"{found.label}: " if len(every) > 1 else ""
        shared.print_notes(f"{named}{note}" for note in found.notes if note not in common)
    write_all(Path(args.out), whole, every)
    for found in every:
        table = found.results["systems"].sort_values("accuracy", ascending=False)
        sys.stdout.write(readable(table).to_string(index=False) + "\n")
        print(f"{found.label}: {found.claim}" if len(every) > 1 else found.claim)


def _found(run: Run, plane: Plane, study: OracleStudy | None, before: Found | None) -> Found:
    """Tables, tests, verdict and sentences by one metric of accuracy, from the same draws by each.

    Parameters
    ----------
    before : what was found by the first metric, whose tests of naturalness hold for all.
    """
    from .. import plane as planes
    from ..appendix import appendix_sentences, cautions, few_slices, uncounted

    args, rng = run.args, np.random.default_rng(run.args.seed)
    _, of_pairs, of_slices = rng.spawn(3)
    curve = study.curve if study else None
    table = (
        study.systems(rng, args.draws) if study else planes.systems_table(plane, rng, args.draws)
    )
    table, r, of_r = reference.held_against(
        run.mono, table, plane, run.judge, lm=run.model, curve=curve
    )
    references = "+".join(run.references) if "nrefs:" in plane.accuracy.signature else ""
    table.insert(table.columns.get_loc("accuracy_signature"), "references", references)
    notes = [*about_options(args, study.notes if study else plane.notes, plane), *run.about, *of_r]
    if study:
        notes += about_curve(args, study, run.cands, mine=run.mine, table=table)
    results = {"systems": table}
    if args.by and plane.naturalness.level != "stored" and plane.naturalness.name != LPP_DISTANCE:
        results["slices"] = planes.sliced_table(plane, of_slices, args.by, args.draws)
        notes += filter(None, [few_slices(results["slices"], plane.unit)])
    careful = cautions(plane, table, args.draws)
    if study:
        results["curve"] = planes.curve_rows(study)
    undecided = _tested(args, plane, results, of_pairs, before=before)
    claim, correlations = _claim(run, plane, curve, rng)
    results |= {} if correlations is None else {"claim": correlations}
    who = _candidates(study) if study else []
    told = appendix_sentences(
        replace(plane, notes=(*notes, *who)),
        results["systems"],
        args.draws,
        args.seed,
        tests=results.get("pairs"),
        doubts=undecided,
        claim=claim,
    )
    head = [_counts(run, plane), *filter(None, [uncounted(plane)])]
    notes = [*head, *notes, *_hints(args, careful), *undecided]
    return Found(plane, curve, r, results, claim, [*careful, *undecided], notes, of_r, told)


def _tested(
    args: argparse.Namespace,
    plane: Plane,
    results: dict,
    rng: np.random.Generator,
    *,
    before: Found | None,
) -> list[str]:
    """Paired tests and ranks among the results, where systems can be compared; sentences on what they cannot decide."""
    import pandas as pd

    from .. import plane as planes

    table, swaps = results["systems"], max(10_000, args.draws)
    if len(table) < 2 or args.own_segments or len(plane) < 2:
        return []
    tests = planes.paired_tests(plane, rng, swaps, args.against)
    if before and "pairs" in before.results and _alike(plane, before.plane):
        # one comparison has one p, whatever stands on the other axis
        known = before.results["pairs"]
        tests = pd.concat(
            [tests[tests.axis != "naturalness"], known[known.axis == "naturalness"]],
            ignore_index=True,
        )
    results["pairs"] = tests
    if not args.against:
        results["systems"] = planes.with_ranks(table, results["pairs"])
    told = planes.cannot_decide(plane, swaps, args.against), planes.at_the_edge(results["pairs"])
    return list(filter(None, told))


def _candidates(study: OracleStudy) -> list[str]:
    """Who the candidates are from, by name: of many, the notes have the number alone."""
    from ..data.schema import systems_of

    names = dict.fromkeys(name for tag in study.cands.tags for name in systems_of(tag))
    return [f"The candidates are outputs of {', '.join(names)}."] if len(names) > 3 else []


def _alike(one: Plane, other: Plane) -> bool:
    """Whether two planes have the same naturalness of the same systems on the same segments."""
    return one.systems == other.systems and np.array_equal(
        one.naturalness.values, other.naturalness.values, equal_nan=True
    )


def _counts(run: Run, plane: Plane) -> str:
    """How many segments and systems are compared, and what is resampled."""
    drawn = (
        f"as {len(set(plane.clusters.tolist()))} documents"
        if plane.unit == "documents"
        else "one by one"
    )
    scored = int((plane.compared & plane.there.any(0)).sum())
    systems = f"{scored} system{'s' * (scored != 1)}"
    return f"{len(plane)} of {run.n} segments compared, resampled {drawn}; {systems}."


def _hints(args: argparse.Namespace, careful: list[str]) -> list[str]:
    """The cautions that a user can do something about, or has not typed."""
    return [
        f"{told[:-1]}; name them by --docs."
        if told.startswith("Documents are not known") and args.sources
        else told
        for told in careful
        if not told.startswith(f"{args.draws} ")  # who drew said that
    ]


def _measured(
    args: argparse.Namespace,
    test: TestSet,
    cands: CandidateSet,
    *,
    model: LanguageModel | None,
    mono: Mono | None,
) -> tuple[list[tuple[Plane, OracleStudy | None]], Metric]:
    """For each metric of accuracy the systems' scores; with the study of the curve where both are means of segments'.

    The metric that is returned scores single texts, such as those of R, as the axis of naturalness does.
    """
    from .. import plane as planes
    from ..naturalness.compression import COMPRESSION

    accuracies = [_accuracy(args, name, test) for name in dict.fromkeys(args.metric)]
    naturalness = lookup.naturalness_metric(args.naturalness, test.trg_lang, model, mono=mono)
    judge = (
        lookup.naturalness_metric("lpp", test.trg_lang, model)
        if args.naturalness == LPP_DISTANCE
        else naturalness
    )
    # which says little of a segment
    whole = not naturalness.of_segments or args.naturalness == COMPRESSION
    level = args.naturalness_level or ("corpus" if whole else "segment-mean")
    given = any(metric.score_systems for metric in (*accuracies, naturalness))
    if not given and "corpus" not in (args.level, level) and not args.own_segments:
        studies = planes.oracle_studies(test, cands, accuracies, [naturalness])
        return [(study.plane, study) for study in studies], judge

    def plane_by(accuracy: Metric) -> Plane:
        levels = {"level": args.level, "naturalness_level": level}
        plane = planes.system_plane(test, accuracy, naturalness, **levels, shared=None)
        return plane.own() if args.own_segments else plane.shared()

    return [(plane_by(accuracy), None) for accuracy in accuracies], judge


def _accuracy(args: argparse.Namespace, name: str, test: TestSet) -> Metric:
    """A metric of accuracy; one with a model of its own is told in what numbers it computes, and where."""
    told = {"device": args.device, "dtype": args.dtype}
    usual = {"device": None, "dtype": "float32"}
    learned = lookup.row_of(name, "accuracy").learned
    how = {key: value for key, value in told.items() if learned and value != usual[key]}
    return lookup.accuracy_metric(name, test.trg_lang, test.n_refs or 1, **how)


def _claim(
    run: Run, plane: Plane, curve: OracleCurve | None, rng: np.random.Generator
) -> tuple[str, pd.DataFrame | None]:
    """Whether accuracy and naturalness go against each other near the frontier: in words, and the correlations."""
    from ..plane import FEWEST, distinct_systems, local_correlation, verdict

    here = [name for name in run.translations if name in plane.systems]
    apart = [name for name in here if name in plane.outside]
    plane = plane.only([name for name in here if name not in plane.outside])
    if plane.naturalness.level == "stored":
        return "No test of the claim: the naturalness is known per system only.", None
    scored = len(distinct_systems(plane))
    if scored < FEWEST or len(plane) < 2:
        seen = f"{scored} different system{'s' * (scored != 1)} on {len(plane)} segments"
        return (
            f"No correlation near the frontier: it takes {FEWEST} different systems; here: {seen}.",
            None,
        )
    correlations = local_correlation(plane, rng, curve=curve, n_draws=run.args.draws)
    without = f" This is without {', '.join(apart)}." if apart else ""
    return verdict(correlations) + without, correlations
