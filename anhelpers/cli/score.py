"""`anhelpers score`: texts to scores."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import DataError
from ..metrics import LPP_DISTANCE
from ..scoring import lookup
from . import mono as reference
from . import options as shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from ..data import TestSet
    from ..metrics import Metric
    from ..naturalness.lm import LanguageModel
    from ..naturalness.lpp import Mono
    from ..provenance import Table

EXAMPLE = "anhelpers score -s src.en -r ref.de -t mine.de -m chrf bleu -o scores.csv"


def options(parser: argparse.ArgumentParser) -> None:
    """Texts, metrics, level."""
    shared.add_texts(parser, required=False)
    shared.translations(parser, required=False)
    parser.add_argument(
        "--data",
        metavar="NAME",
        help="instead of -s, -r and -t: a data set's name, or its folder "
        "(a WMT tree or mt-metrics-eval)",
    )
    shared.selection(parser)
    parser.add_argument(
        "-m",
        "--metrics",
        nargs="+",
        metavar="METRIC",
        help=f"accuracy {lookup.listed('accuracy')}; naturalness {lookup.listed('naturalness')}; R "
        "is that of --mono (default: chrf, or none with --lm)",
    )
    parser.add_argument(
        "--lm",
        metavar="MODEL",
        help=f"the language model of {', '.join(r.name for r in lookup.TABLE if lookup.LM in r.sees)}"
        ", a folder or hub id[@revision]; adds lpp where -m names none of them (default: bundled, "
        "the one of the language: de-small or en-small, where -m needs one)",
    )
    reference.option(parser, "what lpp-distance compares with")
    shared.store(parser)
    shared.scheduler(parser)
    parser.add_argument(
        "--system-logprobs",
        nargs="+",
        default=[],
        metavar="NAME=FILE",
        help="adds kl from that system to the model; per line the summed natural-log probability "
        "of an output under the system itself",
    )
    parser.add_argument(
        "--level",
        choices=["corpus", "segment-mean", "both"],
        default="corpus",
        help="of a system's score; without a corpus score: segment-mean (default: corpus)",
    )
    parser.add_argument(
        "--segments", action="store_true", help="a row per segment instead of per system"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help=".csv or .parquet (default: CSV on standard output)"
    )
    parser.add_argument(
        "--mme",
        metavar="FOLDER",
        help="also writes texts, segment and corpus scores as a test set of "
        "mt-metrics-eval, called like the folder",
    )
    parser.set_defaults(refuse=parser.error)


def run(args: argparse.Namespace) -> None:
    """Print or write the table."""
    with shared.using_scheduler(args.scheduler):
        _run(args)


def _run(args: argparse.Namespace) -> None:
    from ..data import write_mme
    from ..naturalness.lm import BUNDLED
    from ..scoring import segment_rows
    from ..scoring.tables import system_records

    test, whole = _test_set(args)
    logprobs = _logprobs(args, test)
    names = args.metrics if args.metrics is not None else ([] if args.lm else ["chrf"])
    model = shared.chosen_lm(
        args.lm or (BUNDLED if any(map(lookup.needs_lm, names)) else None), test.trg_lang
    )
    if args.mono and LPP_DISTANCE not in names:
        args.refuse(
            f"--mono is what {LPP_DISTANCE} compares with: ask for it by -m, or leave out --mono."
        )
    mono, about_r = (
        reference.given_mono(args, whole, model) if LPP_DISTANCE in names else (None, [])
    )
    metrics = shared.metrics(names, model, test.trg_lang, test.n_refs or 1, mono=mono)
    shared.print_notes(
        [*test.notes, *about_r, *shared.bleu_tokenizer_notes(args, (m.signature for m in metrics))]
    )
    if args.mme:
        write_mme(_with_references(whole), args.mme)
        metrics = [_scored(_seen(metric, test, whole), metric) for metric in metrics]
        told = (_write_scores(_seen(metric, test, whole), metric, args.mme) for metric in metrics)
        shared.print_notes(note for notes in told for note in notes)
    sets = [
        (_seen(metric, test, whole), [metric])
        for metric in metrics
        if metric.name != LPP_DISTANCE or args.segments
    ]
    if args.segments:
        shared.write_table(_together([segment_rows(*one) for one in sets]), args.output)
        return
    rows = [row for one in sets for row in system_records(*one, args.level)]
    more = [_distances(whole, model, mono)] if mono and model else []
    more += [_kl(test, logprobs, model)] if logprobs and model else []
    shared.write_table(_together([rows, *more]) if more else rows, args.output)


def _together(tables: Sequence[Table]) -> pd.DataFrame:
    """The rows of one table after those of another."""
    import pandas as pd

    return pd.concat([pd.DataFrame(one) for one in tables if len(one)], ignore_index=True)


def _logprobs(args: argparse.Namespace, test: TestSet) -> dict[str, np.ndarray]:
    """System -> log-probabilities of its outputs; wrong files are refused before any model is loaded."""
    from .. import checks
    from ..data.numbers import read_logprobs
    from ..data.plain import named_files

    if args.system_logprobs and (args.segments or not args.lm):
        args.refuse(
            "--system-logprobs gives a row per system and compares with a language model: give "
            "--lm MODEL, and leave out --segments."
        )
    files = named_files(args.system_logprobs)
    return {
        checks.one_of(name, test.systems, "system"): read_logprobs(path, len(test))
        for name, path in files.items()
    }


def _kl(test: TestSet, logprobs: dict, model: LanguageModel) -> pd.DataFrame:
    """A row kl per system whose log-probabilities are known; its interval is a note."""
    from ..naturalness.kl import system_kl
    from ..scoring import estimate_rows

    estimates = system_kl(test, logprobs, model)
    shared.print_notes(f"{system}: {estimate}" for system, estimate in estimates.items())
    return estimate_rows("kl", estimates)


def _distances(test: TestSet, model: LanguageModel, mono: Mono) -> pd.DataFrame:
    """A row lpp-distance per system, with its interval; a note gives the signed gap, below 0 for who is beyond R."""
    from ..naturalness.lpp import system_distances
    from ..scoring import estimate_rows

    estimates = system_distances(test, model, mono)
    shared.print_notes(f"{system}: {estimate}" for system, estimate in estimates.items())
    return estimate_rows(LPP_DISTANCE, estimates, "lower is nearer to R", level="corpus")


def _with_references(test: TestSet) -> TestSet:
    """The test set as mt-metrics-eval has it: every reference is there as a system too."""
    people = {name: texts for name, texts in test.refs.items() if name not in test.systems}
    categories = {**test.categories, **dict.fromkeys(people, "human")}
    return replace(test, systems={**test.systems, **people}, categories=categories)


def _seen(metric: Metric, test: TestSet, whole: TestSet) -> TestSet:
    """What a metric scores: without copies of references where it compares with references."""
    if "refs" not in metric.needs:
        return whole
    if whole.systems and not test.systems:
        names = ", ".join(whole.systems)
        raise DataError(
            f"{names}: nothing but a reference, with which {metric.name} compares; give another "
            "system."
        )
    return test


def _test_set(args: argparse.Namespace) -> tuple[TestSet, TestSet]:
    """What is compared with references; and the whole, with copies of references and with all references."""
    from ..data import load, read_plain
    from ..scoring import check_systems

    wanted = "texts are wanted: -s SRC and -t HYP [HYP ...], or --data NAME."
    with shared.naming_model(args.lm):
        if args.data:
            shared.refuse_texts(args, "--data")
            test = load(args.data, args.language_pair)
        elif args.sources and (args.translations or os.path.isfile(args.sources)):
            test = read_plain(args.sources, args.references, args.translations, args.language_pair)
        else:
            args.refuse(wanted)
    if not args.data and not test.systems:  # WMT's XML brings systems with the sources
        args.refuse(wanted)
    compared, copies = shared.selected(args, check_systems(test), files=not args.data), test.copies
    there = {
        s: hyps
        for s, hyps in test.systems.items()
        if s in compared.systems or s in set(copies) - {*args.exclude}
    }
    kinds = {**dict.fromkeys(copies, "human"), **compared.categories}
    systems = {**there, **compared.systems}
    whole = replace(
        compared, refs=test.refs, systems=systems, categories={s: kinds[s] for s in systems}
    )
    return compared, whole


def _scored(test: TestSet, metric: Metric) -> Metric:
    """The metric with its segment scores of this test set's systems made once: a language model takes its time."""
    from ..scoring import system_scores

    if metric.score_segments is None:
        return metric
    scores = system_scores(test, metric).T.ravel()
    return replace(metric, score_segments=lambda *texts, **others: scores)


def _write_scores(test: TestSet, metric: Metric, folder: str) -> list[str]:
    """Write a metric's scores of segments and systems, higher is better; returns what the user should know of them.

    A reference that the metric saw is not scored against itself, as the layout wants it.
    """
    from ..data import write_mme_scores
    from ..scoring import system_rows, system_scores

    seen = list(test.refs) if "refs" in metric.needs else []
    columns = [j for j, system in enumerate(test.systems) if system not in seen]
    systems, ref = [list(test.systems)[j] for j in columns], ".".join(sorted(seen)) or "src"
    corpus = metric.oriented(system_rows(test, [metric]).value.to_numpy())[columns]
    write_mme_scores(folder, test.lp, metric.name, corpus, systems=systems, ref=ref, level="sys")
    name, missing = f"{metric.name}-{ref}", 0
    if metric.of_segments:
        segments = metric.oriented(system_scores(test, metric))[:, columns]
        write_mme_scores(folder, test.lp, metric.name, segments, systems=systems, ref=ref)
        missing = int(np.isnan(segments).sum())
    notes = (
        []
        if metric.higher_is_better
        else [f"{name} is negated in {folder}: mt-metrics-eval takes higher as better."]
    )
    if missing:
        notes.append(
            f"{name} is None for {missing} of {segments.size} segments in {folder}; "
            "mt-metrics-eval does not load metrics with None, so move that file away first."
        )
    return notes
