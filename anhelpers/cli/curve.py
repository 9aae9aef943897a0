"""`anhelpers curve`: candidates to their exact oracle curve."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataError
from ..progress import say
from ..scoring import lookup
from . import options as shared

if TYPE_CHECKING:
    from ..data import CandidateSet, TestSet

EXAMPLE = "anhelpers curve candidates.jsonl -m chrf --html curve.html -o vertices.csv"


def options(parser: argparse.ArgumentParser) -> None:
    """Candidates, metrics, model, outputs."""
    add = parser.add_argument
    add("candidates", help="JSONL, parquet, text with K lines per source, or a data set's name")
    shared._add_texts(parser, systems=False)
    add("-k", type=int, metavar="K", help="candidates per source, for text files")
    metrics = f"accuracy {lookup.listed('accuracy')} (default: chrf)"
    add("-m", "--metric", default="chrf", metavar="METRIC", help=metrics)
    shared._add_options(parser, "--naturalness", "--lm", "--output")
    add("--html", metavar="FILE", help="the page (default: build/NAME.curve.html)")


def run(args: argparse.Namespace) -> None:
    """Read, trace, write the vertices and the page."""
    from ..plane import oracle_study
    from ..provenance import write_made
    from ..scoring import scorable
    from ..widgets.explorer import explore

    test, cands = _read(args.candidates, shared._Texts.of(args), args.k)
    accuracy = lookup.accuracy_metric(args.metric, test.trg_lang, test.n_refs or 1)
    # missing references before a missing language
    scorable(test, accuracy)
    name = args.naturalness or lookup.default_naturalness(test.trg_lang, args.lm)
    model = shared._language_model(args.lm, [name], test)
    naturalness = lookup.naturalness_metric(name, test.trg_lang, model)
    study = oracle_study(test, cands, accuracy, naturalness)
    shared._print_notes([*study.notes, f"The oracle curve is over {study.cands.summary}."])
    page = Path(args.html or f"build/{Path(args.candidates).stem}.curve.html")
    # without systems the chart's title is empty
    named = "" if study.test.systems else f"The oracle curve over {study.cands.id}"
    shared._write_table(study.vertices(), args.output)
    explore(study, title=named).save(page)
    write_made(page.parent, [page.name])
    say(f"wrote {page}")


def _read(candidates: str, texts: shared._Texts, k: int | None) -> tuple[TestSet, CandidateSet]:
    """Candidates with sources and references: one file, a file beside texts, or a data set."""
    from ..data import load, load_candidates, read_candidate_file, read_candidates, read_plain
    from ..data.schema import systems_of

    beside = {"-r": texts.references, "-k": k}
    if Path(candidates).is_dir() or not Path(candidates).exists():
        of_set = replace(texts, data=candidates)
        lp, exclude = texts.language_pair, texts.exclude
        test = of_set.selected(load(candidates, lp, exclude=exclude))
        shared._refuse_unused("with a data set", {"-s": texts.sources, **beside})
        return test, load_candidates(candidates, lp, exclude=exclude)
    if texts.sources:
        from ..data import check

        test = read_plain(texts.sources, texts.references, {}, texts.language_pair)
        cands = read_candidates(candidates, test.srcs, k)
        first = tuple(cands.frame().drop_duplicates("segment").text)
        shared._print_notes(check(replace(test, systems={"The first candidate": first})))
    else:
        shared._refuse_unused("without -s SRC", beside)
        found, cands = read_candidate_file(candidates, texts.language_pair)
        if found is None:
            raise DataError("no sources and references inside. Give -s SRC -r REF.", candidates)
        test = found
    tags = {name for tag in cands.tags for name in systems_of(tag)}
    return texts.selected(test, tags), cands.without(texts.exclude)
