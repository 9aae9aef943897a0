"""`anhelpers plane`: systems on the accuracy-naturalness plane, ready to publish."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .. import checks
from .._lazy import pd
from ..errors import DataError
from ..metrics import LPP_DISTANCE
from ..progress import say
from ..scoring import lookup
from . import options as shared

if TYPE_CHECKING:
    from ..data import CandidateSet, TestSet
    from ..frontier import OracleCurve
    from ..metrics import Metric
    from ..plane import OracleStudy, Plane
    from ..report import PlaneResult

EXAMPLE = "anhelpers plane --data wmt24/en-de -m chrf bleu --mono --mine mine.de:LLM"
_DRAWS = 1000
_SWAPS = 10_000


@dataclass(frozen=True)
class _Compared:
    """Systems, candidates of the oracle curve, and the names of the systems of --mine."""

    test: TestSet
    cands: CandidateSet
    mine: tuple[str, ...]


def options(parser: argparse.ArgumentParser) -> None:
    """Texts or a data set, metrics, R, folder."""
    shared._add_texts(parser)
    add = parser.add_argument
    add(
        "--mine",
        nargs="+",
        metavar="[NAME=]FILE[:KIND]",
        help="your systems, which are not used as candidates for the oracle curve; KIND (LLM, MT, "
        "online, human) selects their marker",
    )
    add(
        "-m",
        "--metrics",
        nargs="+",
        default=[],
        metavar="METRIC",
        help=f"accuracy, one panel each: {lookup.listed('accuracy')} (default: chrf; without references the first "
        "stored metric of --data)",
    )
    shared._add_options(parser, "--naturalness", "--lm", "--mono", "--seed")
    add(
        "--like-paper",
        action="store_true",
        help="Figure 2 of the paper: log-perplexity with R, chrf, and CometKiwi where systems have stored scores; "
        "without systems with over 5 %% of blank outputs",
    )
    add("--domain", metavar="NAME", help="only the segments of this domain")
    add("-o", "--out", default="build/plane", metavar="DIR", help="folder (default: build/plane)")


def run(args: argparse.Namespace) -> None:
    """Read, score, report."""
    from ..plane import readable
    from ..report import write_report

    compared = _read(args)
    if args.like_paper:
        args.metrics = args.metrics or ["chrf", *_of_systems(args)]
        args.naturalness = args.naturalness or "lpp"
    args.metrics = [*dict.fromkeys(args.metrics)] or [_default_metric(args.data, compared.test)]
    chosen = args.naturalness or lookup.default_naturalness(compared.test.trg_lang, args.lm)
    results = _score(args, compared, chosen)
    shared._print_notes(note for one in results for note in (*one.notes, *one.cautions))
    names = [*args.metrics, chosen, *filter(None, [args.data])]
    facts: dict = {"n_segments": len(compared.test), "n_draws": _DRAWS, "seed": args.seed}
    write_report(args.out, results, names, **facts, named=compared.mine)
    for one in results:
        table = one.tables["systems"].sort_values("accuracy", ascending=False)
        by = f"{one.label}: " * (len(results) > 1)
        rows = readable(table).to_string(index=False).split("\n")
        say(*rows, by + one.verdict, file=sys.stdout)


def _read(args: argparse.Namespace) -> _Compared:
    """Systems and candidates: those of a data set, or all outputs of -t."""
    from ..data import check, from_systems, load_candidates
    from ..plane import without_sparse
    from ..scoring import check_systems

    texts = shared._Texts.of(args)
    given, joined = texts.read()
    test = check_systems(texts.selected(joined))
    if args.like_paper:
        test = without_sparse(test, 0.05)
    shared._print_notes(() if test.stored else check(test))
    if test.stored:
        cands = from_systems(given).without(texts.exclude)
    elif texts.data:
        cands = load_candidates(texts.data, texts.language_pair, exclude=texts.exclude)
    else:
        names = [
            name for name in given.systems if name in test.systems and name not in given.copies
        ]
        if not names:
            raise DataError("texts: expected a system (-t) that is not a copy of a reference (-r).")
        said = [i for i in range(len(test)) if any(test.systems[s][i].strip() for s in names)]
        test = test.subset(said) if len(said) < len(test) else test
        cands = from_systems(test, names)
    mine = [s for s in joined.systems if s not in given.systems and s in test.systems]
    return _Compared(test, cands, tuple(mine))


def _default_metric(data: str | None, test: TestSet) -> str:
    """chrf; without references the first stored metric of the data set."""
    from ..data import find_file, mme_scores
    from ..data.sets import SETS

    if test.refs:
        return "chrf"
    place = find_file(str(data)) if data in SETS else data
    scores = mme_scores(place, test.lp) if place else []
    stored = [one.called for one in scores if "seg" in one.levels]
    if stored:
        others = f", also stored: {', '.join(stored[1:])}" if stored[1:] else ""
        shared._print_notes([f"no references: -m stored:{data}#{stored[0]}{others}."])
        return f"stored:{data}#{stored[0]}"
    rows = [row for row in lookup.TABLE if row.axis == "accuracy" and row.sees == ("source",)]
    free = ", ".join(row.name for row in rows)
    raise DataError(f"no references: got no -m, expected -r REF or -m with one of {free}.")


def _of_systems(args: argparse.Namespace) -> dict[str, Metric]:
    """CometKiwi where the systems of the data set have stored scores."""
    from ..scoring import load_scores, score_tables

    name = args.data
    stored = load_scores(name).metrics if name in score_tables() else {}
    return {"cometkiwi": stored["cometkiwi"]} if "cometkiwi" in stored else {}


def _score(args: argparse.Namespace, compared: _Compared, chosen: str) -> list[PlaneResult]:
    """One result per accuracy metric, from the same draws."""
    from ..plane import outside_of

    test, folded = compared.test, chosen == LPP_DISTANCE
    for name, axis in ((chosen, "naturalness"), *((one, "accuracy") for one in args.metrics)):
        lookup.row_of(name, axis)
    model = shared._language_model(args.lm, [chosen], test)
    mono = None
    if args.mono or folded:
        mono = shared._monolingual(args.data, test, args.mono)
    elif args.like_paper:
        try:
            mono = shared._monolingual(args.data, test, None)
        except DataError as error:  # the axis is log-perplexity alone
            shared._print_notes([str(error)])
    made = partial(lookup.metric, of=test, lm=model, mono=mono)
    naturalness = made(chosen)
    judge = made("lpp") if folded else naturalness
    given = _of_systems(args) if args.like_paper else {}
    accuracies = [given.get(name) or made(name) for name in args.metrics]
    results: list[PlaneResult] = []
    for plane, study in _planes(compared, accuracies, naturalness):
        people = {name: "human" for name in plane.systems if name not in test.systems}
        outside = outside_of(test, compared.mine) | people
        plane = replace(plane, outside={s: why for s, why in outside.items() if s in plane.systems})
        study = study and replace(study, plane=plane)
        if args.domain:
            study = study and study.domain(args.domain)
            plane = study.plane if study else _of_domain(plane, args.domain)
        found = _result(args, plane, study, results[0] if results else None)
        results.append(_against(found, judge, mono) if mono else found)
    return results


def _of_domain(plane: Plane, name: str) -> Plane:
    checks.one_of(name, {*plane.domains}, "domain")
    return plane.subset(np.flatnonzero(plane.domains == name))


def _planes(
    compared: _Compared, accuracies: Sequence[Metric], naturalness: Metric
) -> list[tuple[Plane, OracleStudy | None]]:
    """The plane of each accuracy metric, with its oracle study if both axes are means over segments."""
    from ..naturalness.compression import COMPRESSION
    from ..plane import oracle_studies, system_plane

    whole = not naturalness.of_segments or naturalness.name == COMPRESSION
    given = whole or naturalness.score_systems
    by_segment = [] if given else [one for one in accuracies if not one.score_systems]
    found: dict[str, tuple[Plane, OracleStudy | None]] = {}
    if by_segment:
        for study in oracle_studies(compared.test, compared.cands, by_segment, [naturalness]):
            found[study.metrics[0].name] = study.plane, study
    level = "corpus" if whole else "segment-mean"
    for one in accuracies:
        if one not in by_segment:
            plane = system_plane(
                compared.test, one, naturalness, shared=None, naturalness_level=level
            )
            found[one.name] = plane.shared(), None
    return [found[one.name] for one in accuracies]


def _result(
    args: argparse.Namespace, plane: Plane, study: OracleStudy | None, before: PlaneResult | None
) -> PlaneResult:
    """Tables, tests and verdict by one accuracy metric; p-values of naturalness are those of `before`."""
    from .. import plane as planes
    from ..report import PlaneResult

    rng = np.random.default_rng(args.seed)
    _, of_pairs, _ = rng.spawn(3)
    curve = study.curve if study else None
    table = study.systems(rng, _DRAWS) if study else planes.systems_table(plane, rng, _DRAWS)
    tables, doubts = {"systems": table}, [planes.few_documents(table)]
    if study:
        tables["curve"] = study.vertices()
    if len(table) > 1 and len(plane) > 1:
        tests = planes.paired_tests(plane, of_pairs, _SWAPS)
        known = before.tables["pairs"] if before and _alike(plane, before.plane) else tests
        parts = [tests[tests.axis != "naturalness"], known[known.axis == "naturalness"]]
        tables["pairs"] = pd.concat(parts, ignore_index=True) if before else tests
        tables["systems"] = planes.with_ranks(table, tables["pairs"])
        doubts.append(planes.undecided(tables["pairs"]))
    verdict, claim = _claim(plane, curve, rng)
    if claim is not None:
        tables["claim"] = claim
    notes = study.notes if study else plane.notes
    notes = (*notes, f"The oracle curve is over {study.cands.summary}.") if study else notes
    doubts = [text for text in doubts if text]
    return PlaneResult(plane, curve, tables, verdict, cautions=tuple(doubts), notes=notes)


def _alike(one: Plane, other: Plane) -> bool:
    """Whether two planes have the same naturalness of the same systems on the same segments."""
    return one.systems == other.systems and np.array_equal(
        one.naturalness.values, other.naturalness.values, equal_nan=True
    )


def _against(found: PlaneResult, metric: Metric, mono: object) -> PlaneResult:
    """The result with R on the axis of naturalness, if the mean score of R's texts is comparable."""
    from ..naturalness.compression import COMPRESSION
    from ..plane import overshoot, with_mono

    plane = found.plane
    comparable = metric.of_segments and not metric.needs and metric.name not in ("zip", COMPRESSION)
    if plane.naturalness.name != LPP_DISTANCE:
        comparable = comparable and plane.naturalness.level == "segment-mean"
    if not comparable:
        told = f"R is not drawn: a mean of {metric.name} over its texts is not comparable."
        return replace(found, notes=(*found.notes, told))
    table, r = with_mono(found.tables["systems"], plane, metric, mono)  # type: ignore[arg-type]
    told = [overshoot(table, found.curve)] if metric.name == "lpp" else []
    tables = {**found.tables, "systems": table}
    return replace(found, tables=tables, mono=r, notes=(*found.notes, *told))


def _claim(
    plane: Plane, curve: OracleCurve | None, rng: np.random.Generator
) -> tuple[str, pd.DataFrame | None]:
    """The paper's claim near the frontier: verdict and correlations."""
    from ..plane import FEWEST, local_correlation, verdict

    plane = plane.only([name for name in plane.systems if name not in plane.outside])
    for axis in plane.axes:
        if axis.level == "stored":
            return f"No test of the claim: {axis.name} has no scores of segments.", None
    scored = len(plane.distinct())
    if scored < FEWEST or len(plane) < 2:
        return f"No test of the claim: got {scored} different systems, expected {FEWEST}.", None
    correlations = local_correlation(plane, rng, curve=curve, n_draws=_DRAWS)
    return verdict(correlations), correlations
