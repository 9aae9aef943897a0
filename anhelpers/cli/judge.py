"""`anhelpers judge`: do judges of naturalness agree with readers, and does a ranking of systems survive another one?"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import numpy as np

from ..errors import DataError
from ..scoring import lookup
from . import options as shared

if TYPE_CHECKING:
    from ..naturalness.lm import LanguageModel

EXAMPLE = "anhelpers judge --data teaching --judge critic lpp -o judges.csv"


def options(parser: argparse.ArgumentParser) -> None:
    """Data, judges, metric of the other axis, outputs."""
    parser.add_argument(
        "--data",
        default="teaching",
        metavar="NAME|PATH",
        help="a data set, a folder or self-contained JSONL; with ratings.tsv beside it, judges are "
        "compared with them (default: teaching)",
    )
    parser.add_argument(
        "-l", "--language-pair", metavar="LP", help="such as en-de, of a folder with several"
    )
    parser.add_argument(
        "--judge",
        nargs="+",
        metavar="MEASURE",
        help=f"of single texts, {lookup.listed('naturalness', texts=True)} (default: lpp, "
        "critic, critic+lpp, as far as they know the language; the set's ratings always)",
    )
    shared.lm(parser)
    told = f"accuracy, the other axis of the tradeoff, {lookup.listed('accuracy')} (default: chrf)"
    parser.add_argument("-m", "--metric", default="chrf", metavar="METRIC", help=told)
    shared.store(parser)
    shared.resampling(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="also a row per figure, as .csv or .parquet"
    )


def run(args: argparse.Namespace) -> None:
    """Judge, and print the tables in Markdown."""
    from .. import judges
    from ..stats import check_draws, clusters_of

    test, cands = judges.load_texts(args.data, args.language_pair)
    check_draws(clusters_of(test.docs), args.draws)
    model = _model(args, test.trg_lang)
    found, left_out = judges.load_judges(args.judge, test.trg_lang, model, args.data)
    judged = judges.judge_texts((test, cands), found, args.data, model)
    accuracy = lookup.accuracy_metric(args.metric, test.trg_lang, judged.test.n_refs or 1)
    table, notes = judges.judge_table(
        judged, accuracy, np.random.default_rng(args.seed), args.draws
    )
    shared.print_notes([*left_out, *judged.cands.notes, *notes])
    sys.stdout.write(judges.judge_page(table))
    if judged.bundled:
        sys.stdout.write(
            "\n## What is wanted of the bundled "
            f"judges\n\n{judges.gate_page(judges.gate_table(table))}"
        )
    if args.output:
        shared.write_table(table, args.output)


def _model(args: argparse.Namespace, lang: str) -> LanguageModel | None:
    """The language model, where a judge needs one; None where none is bundled and nobody asked for one."""
    from .. import judges
    from ..naturalness.load import BUNDLED, bundled_lm

    if not any(map(lookup.needs_lm, args.judge or judges.DEFAULT)):
        return None
    if args.judge is None and args.lm == BUNDLED:
        try:
            bundled_lm(lang)
        except DataError:  # the judges that need one are left out, each with a note
            return None
    return shared.chosen_lm(args.lm, lang)
