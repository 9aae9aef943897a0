"""`anhelpers score`: texts to scores."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .._lazy import pd
from ..errors import DataError, MissingExtra
from ..metrics import LPP_DISTANCE
from ..scoring import lookup
from . import options as shared

if TYPE_CHECKING:
    from ..data import TestSet
    from ..metrics import Metric

EXAMPLE = "anhelpers score -s src.en -r ref.de -t mine.de -m chrf bleu -o scores.csv"


@dataclass(frozen=True)
class _Texts:
    """The systems to compare with references; and `whole`, with copies of references and all references."""

    compared: TestSet
    whole: TestSet

    def of(self, metric: Metric) -> TestSet:
        """The systems that a metric scores: without copies of references if it compares with them."""
        if "refs" not in metric.needs:
            return self.whole
        if self.whole.systems and not self.compared.systems:
            raise DataError(f"{metric.name}: every system is a copy of a reference. Add another.")
        return self.compared


def options(parser: argparse.ArgumentParser) -> None:
    """Texts, metrics, level."""
    shared._add_texts(parser)
    add = parser.add_argument
    add(
        "-m",
        "--metrics",
        nargs="+",
        metavar="METRIC",
        help=f"accuracy {lookup.listed('accuracy')}; naturalness {lookup.listed('naturalness')} "
        "(default: chrf, and native for de and en, else lpp)",
    )
    shared._add_options(parser, "--lm", "--mono", "--output")
    add(
        "--level",
        choices=["corpus", "segment-mean", "both"],
        default="corpus",
        help="level of a system's score (default: corpus)",
    )
    add("--segments", action="store_true", help="one row per segment instead of per system")
    add("--mme", metavar="FOLDER", help="also write texts and scores for mt-metrics-eval")


def run(args: argparse.Namespace) -> None:
    """Read, score, write the table."""
    from ..data import check
    from ..naturalness.lm import DEFAULT

    unused = args.segments and args.level != "corpus"
    shared._refuse_unused("with --segments", {"--level": unused})
    texts = _read(shared._Texts.of(args))
    compared = texts.compared
    shared._print_notes([*compared.notes, *(() if compared.stored else check(compared))])
    if args.metrics:
        args.metrics = [*dict.fromkeys(args.metrics)]
        table = _score(args, texts)
    else:
        named = lookup.default_naturalness(compared.trg_lang, args.lm)
        args.metrics = ["chrf", named]
        try:
            table = _score(args, texts)
        except MissingExtra as error:
            shared._print_notes([f"{named} is missing: {error}"])
            args.metrics, args.lm = ["chrf"], DEFAULT
            table = _score(args, texts)
    shared._write_table(table, args.output)


def _read(request: shared._Texts) -> _Texts:
    from ..scoring import check_systems

    _, test = request.read()
    compared, copies = request.selected(check_systems(test)), test.copies
    kept = {*compared.systems, *({*copies} - {*request.exclude})}
    systems = {s: hyps for s, hyps in test.systems.items() if s in kept}
    systems |= compared.systems
    kinds = {**dict.fromkeys(copies, "human"), **compared.categories}
    kinds = {s: kinds[s] for s in systems}
    return _Texts(compared, replace(compared, refs=test.refs, systems=systems, categories=kinds))


def _score(args: argparse.Namespace, texts: _Texts) -> pd.DataFrame:
    """A row per system and metric, or per segment."""
    from ..naturalness.lpp import system_distances
    from ..scoring import segment_rows, system_rows

    whole, compared = texts.whole, texts.compared
    model = shared._language_model(args.lm, args.metrics, whole)
    distance = LPP_DISTANCE in args.metrics
    shared._refuse_unused(f"without -m {LPP_DISTANCE}", {"--mono": args.mono and not distance})
    mono = shared._monolingual(args.data, whole, args.mono) if distance else None
    metrics = [lookup.metric(name, compared, lm=model, mono=mono) for name in args.metrics]
    if args.mme:
        metrics = _write_mme(texts, metrics, args.mme)
    if args.segments:
        tables = [segment_rows(texts.of(metric), [metric]) for metric in metrics]
        return pd.concat(tables, ignore_index=True)
    tables = [
        system_rows(texts.of(metric), [metric], args.level)
        for metric in metrics
        if metric.name != LPP_DISTANCE or model is None  # stored: resampling R needs the model
    ]
    if mono is not None and model is not None:
        estimates = system_distances(whole, model, mono)
        shared._print_notes(f"{system}: {estimate}" for system, estimate in estimates.items())
        units = [f"{one.unit} (lower is nearer to R)" for one in estimates.values()]
        of = {"metric": LPP_DISTANCE, "level": "corpus", "unit": units, "references": ""}
        found = pd.DataFrame([one.row() for one in estimates.values()])
        order = ["system", "metric", "level", "value", "unit", "n", "references", "signature"]
        tables.append(found.assign(system=[*estimates], **of)[[*order, "low", "high"]])
    return pd.concat(tables, ignore_index=True)


def _write_mme(texts: _Texts, metrics: list[Metric], folder: str) -> list[Metric]:
    """Write texts and scores for mt-metrics-eval; return the metrics with their scores kept."""
    from ..data import write_mme

    whole = texts.whole
    people = {name: lines for name, lines in whole.refs.items() if name not in whole.systems}
    kinds = {**whole.categories, **dict.fromkeys(people, "human")}
    write_mme(replace(whole, systems={**whole.systems, **people}, categories=kinds), folder)
    return [_write_scores(texts.of(metric), metric, folder) for metric in metrics]


def _write_scores(test: TestSet, metric: Metric, folder: str) -> Metric:
    """Write one metric's scores, higher is better; a reference is not scored against itself."""
    from ..data import write_mme_scores
    from ..scoring import system_rows, system_scores

    if metric.score_segments is not None:  # a language model scores once
        scores = system_scores(test, metric).T.ravel()
        metric = replace(metric, score_segments=lambda *texts, **others: scores)
    seen = list(test.refs) if "refs" in metric.needs else []
    columns = [j for j, system in enumerate(test.systems) if system not in seen]
    systems, ref = [list(test.systems)[j] for j in columns], ".".join(sorted(seen)) or "src"
    corpus = metric.oriented(system_rows(test, [metric]).value.to_numpy())[columns]
    write_mme_scores(folder, test.lp, metric.name, corpus, systems=systems, ref=ref, level="sys")
    if metric.of_segments:
        segments = metric.oriented(system_scores(test, metric))[:, columns]
        write_mme_scores(folder, test.lp, metric.name, segments, systems=systems, ref=ref)
        if missing := int(np.isnan(segments).sum()):
            shared._print_notes([f"{metric.name}: {missing} scores are None in {folder}."])
    return metric
