"""`anhelpers curve`: candidates to their exact oracle curve."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataError
from ..progress import note, say
from ..scoring import lookup
from . import options as shared
from .entries import about_candidates

if TYPE_CHECKING:
    from ..data import CandidateSet, TestSet

EXAMPLE = "anhelpers curve candidates.jsonl -m chrf --html curve.html -o vertices.csv"


def options(parser: argparse.ArgumentParser) -> None:
    """Candidates, metric, model, outputs."""
    parser.add_argument(
        "candidates",
        metavar="CANDIDATES",
        help="JSONL, parquet, text with K lines per source, or a data set's name",
    )
    shared.add_texts(parser, required=False)
    parser.add_argument("-k", type=int, metavar="K", help="candidates per source, for text files")
    shared.axes(parser, f"of segments, {lookup.listed('naturalness', texts=True)}")
    shared.selection(parser)
    shared.lm(parser)
    shared.store(parser)
    shared.scheduler(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="vertices as .csv or .parquet (default: CSV on standard output)",
    )
    parser.add_argument("--html", metavar="FILE", help="the page (default: build/NAME.curve.html)")


def run(args: argparse.Namespace) -> None:
    """Trace, write the page and the vertices."""
    with shared.using_scheduler(args.scheduler):
        _run(args)


def _run(args: argparse.Namespace) -> None:
    from ..charts.drawing import NotDrawn
    from ..plane import curve_rows, oracle_study
    from ..widgets.explorer import explore

    with shared.naming_model(args.lm if lookup.needs_lm(args.naturalness) else None):
        test, cands = _candidates(args)
    accuracy = lookup.accuracy_metric(args.metric, test.trg_lang, test.n_refs or 1)
    model = shared.chosen_lm(args.lm, test.trg_lang) if lookup.needs_lm(args.naturalness) else None
    study = oracle_study(
        test, cands, accuracy, lookup.naturalness_metric(args.naturalness, test.trg_lang, model)
    )
    shared.print_notes(
        [
            *study.notes,
            *about_candidates(study.cands, cands),
            *shared.bleu_tokenizer_notes(args, (m.signature for m in study.metrics)),
        ]
    )
    page = Path(args.html or f"build/{Path(args.candidates).stem}.curve.html")
    # else below the chart's title
    named = "" if study.test.systems else f"The oracle curve over {study.cands.id}"
    shared.write_table(curve_rows(study), args.output)
    try:
        explore(study, title=named).save(page)
    except NotDrawn as error:
        note(f"{page} is not written, the vertices are: {error}")
    else:
        say(f"wrote {page}")


def _candidates(args: argparse.Namespace) -> tuple[TestSet, CandidateSet]:
    """Candidates with their sources and references: one JSONL file, a file beside texts, or a named data set."""
    from ..data import load, load_candidates, read_candidate_file, read_candidates, read_plain

    if not Path(args.candidates).is_file():
        shared.refuse_texts(args, args.candidates)
        test = shared.selected(args, load(args.candidates, args.language_pair), files=False)
        return test, load_candidates(args.candidates, args.language_pair).without(args.exclude)
    if args.sources:
        test = read_plain(args.sources, args.references, {}, args.language_pair)
        return shared.selected(args, test, files=True), read_candidates(
            args.candidates, test.srcs, args.k
        )
    test, cands = read_candidate_file(args.candidates, args.language_pair)
    if test is None:
        raise DataError(
            "holds no sources and references; give them by -s SRC -r REF.", args.candidates
        )
    shared.refuse_texts(args, args.candidates)
    return shared.selected(args, test, files=True), cands
