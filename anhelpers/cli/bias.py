"""`anhelpers bias`: where metrics stand between human accuracy and human fluency."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import DataError
from ..provenance import TOGETHER
from ..scoring import lookup
from . import options as shared

if TYPE_CHECKING:
    import pandas as pd

    from ..data import Ratings, TestSet
    from ..metrics import Metric
    from ..plane import RatedMetrics

EXAMPLE = "anhelpers bias --data wmt23/en-de -m chrf bleu -o build/bias"
TED = "ted/en-de"
RESULTS = (
    TOGETHER,
    "bias.csv",
    "levels.csv",
    "bias.tex",
    "within.svg",
    "within.png",
    "between.svg",
    "between.png",
    "bias.html",
)
"""All that a run may leave in the folder of its results."""


def options(parser: argparse.ArgumentParser) -> None:
    """Ratings, texts, metrics, outputs."""
    parser.add_argument(
        "--ratings",
        metavar="FILE|NAME",
        help="MQM ratings (default: those of the data set); without --data its own texts are "
        "scored, beside --reference",
    )
    parser.add_argument(
        "--data", metavar="NAME|PATH", help="the texts that were rated, such as wmt23/en-de"
    )
    parser.add_argument(
        "-l",
        "--language-pair",
        metavar="LP",
        help="such as en-de (default: what the data set says)",
    )
    shared.selection(parser)
    parser.add_argument(
        "-m",
        "--metrics",
        nargs="+",
        metavar="METRIC",
        help="of accuracy or of naturalness, as in `anhelpers score` (default: chrf bleu, or none "
        "with --scores)",
    )
    parser.add_argument(
        "--scores",
        nargs="+",
        default=[],
        metavar="FILE",
        help="more metrics: CSV with system, segment, metric, value, unit, as `anhelpers score "
        "--segments` writes it",
    )
    shared.lm(parser)
    shared.store(parser)
    shared.mqm_tables(parser)
    shared.resampling(parser)
    shared.out_folder(parser, "build/bias")


def run(args: argparse.Namespace) -> None:
    """Join, score, correlate, write."""
    import pandas as pd

    from ..data import join_ratings
    from ..mqm import choose_scheme, score_ratings
    from ..plane import accuracy_levels, bias_notes, metric_bias, rater_bias
    from ..plane import rated_metrics as joined
    from ..stats import check_draws, clusters_of

    ratings, test = _texts(args)
    check_draws(clusters_of(test.docs), args.draws)
    scores = score_ratings(ratings, args.scheme or choose_scheme(ratings), args.weights)
    join = join_ratings(test, ratings)
    stored, told = _stored(args.scores, test)
    rated = joined(test, _metrics(args, test), scores, join, stored=stored)
    rng = np.random.default_rng(args.seed)
    table = metric_bias(rated, rng, args.draws)
    names = [raw for raw, name in join.names.items() if name in rated.systems]
    table = pd.concat([table, rater_bias(scores, rng, args.draws, names)], ignore_index=True)
    table["signature"] = table.metric.map(rated.signatures).fillna(scores.signature)
    levels = accuracy_levels(rated, rng, args.draws).assign(signature=scores.signature)
    notes = [*test.notes, *scores.notes, *rated.notes, *told, *bias_notes(table)]
    shared.print_notes(dict.fromkeys(notes))
    _write(Path(args.out), rated, table, levels, notes)


def _texts(args: argparse.Namespace) -> tuple[Ratings, TestSet]:
    """The ratings, and the texts that were rated."""
    from ..data import load, rated_texts, ratings_file, read_ratings

    if not (args.data or args.ratings):
        raise DataError(
            "name the ratings: --ratings FILE, or a data set that has some: --data NAME."
        )
    named = args.ratings or args.data
    own = None if Path(named).is_file() else ratings_file(named)
    if own is None and not Path(named).is_file():
        raise DataError("no MQM ratings are known of it; name their file by --ratings FILE.", named)
    ratings = read_ratings(own or named, texts=True)
    if args.data and args.data != TED:
        test = load(args.data, args.language_pair)
        return ratings, shared.selected(args, test, files=False)
    known = TED in (args.data, args.ratings)
    lp, reference = args.language_pair, (args.reference or [None])[0]
    lp, reference = lp or ("en-de" if known else None), reference or ("ref" if known else None)
    if not (lp and reference):
        raise DataError(
            "say in which languages the rated texts are (-l LP), and which rated system metrics "
            "compare with (--reference NAME); or name the texts by --data.",
            named,
        )
    return ratings, rated_texts(ratings, lp, reference).without(args.exclude)


def _metrics(args: argparse.Namespace, test: TestSet) -> list[Metric]:
    """The metrics of -m."""
    names = args.metrics or ([] if args.scores else ["chrf", "bleu"])
    model = shared.chosen_lm(args.lm, test.trg_lang) if any(map(lookup.needs_lm, names)) else None
    return shared.metrics(names, model, test.trg_lang, test.n_refs or 1)


def _stored(paths: list[str], test: TestSet) -> tuple[pd.DataFrame | None, list[str]]:
    """The scores of all files of --scores, and what is to be known of them."""
    import pandas as pd

    from ..data import read_segment_scores

    tables = [read_segment_scores(path, test) for path in paths]
    if not tables:
        return None, []
    table = pd.concat(tables, ignore_index=True)
    if (again := table.duplicated(["metric", "system", "segment"])).any():
        raise DataError(
            f"two files of --scores have {table.metric[again].iloc[0]}; give each metric once."
        )
    return table, [note for one in tables for note in one.attrs["notes"]]


def _write(
    folder: Path, rated: RatedMetrics, table: pd.DataFrame, levels: pd.DataFrame, notes: list[str]
) -> None:
    """All results at once; print the rows of the picture, and the claim."""
    from ..charts.bias import plot_bias
    from ..charts.frame import COLUMN_INCHES
    from ..charts.offline import interactive, save
    from ..data.writing import results_together, write_text
    from ..paper import latex_rows
    from ..plane import BETWEEN, WITHIN, bias_claim, mixture_arc
    from ..report import in_one_cell, write_page, write_tables

    arc, claims, beside = mixture_arc(rated), {}, []
    with results_together(folder, RESULTS) as fresh:
        write_tables(fresh, {"bias": table, "levels": levels})
        for level in (WITHIN, BETWEEN):
            claims[level] = bias_claim(table, level)
            others = table.statistic[(table.level == level) & (table.kind == "metric")].unique()
            beside += [bias_claim(table, level, one) for one in others if one != "pearson"]
            rows = table[(table.level == level) & (table.statistic == "pearson")]
            if rows.with_accuracy.notna().any():
                chart = plot_bias(table, level=level, arc=arc, title=claims[level])
                for suffix in (".svg", ".png"):
                    save(chart, fresh / f"{level.split()[0]}{suffix}", inches=COLUMN_INCHES)
        shown = in_one_cell(_shown(table))
        caption = (
            "Agreement of metrics with human accuracy and human fluency, with 95 % intervals; lean: "
            f"the difference. {'. '.join([*claims.values(), *beside])}."
        )
        write_text(fresh / "bias.tex", latex_rows(_shown(table), caption, "tab:bias"))
        parts = {
            "What metrics agree with": shown,
            "Accuracy against fluency, by level": in_one_cell(levels.drop(columns="signature")),
            "The claims": [f"{claim}." for claim in (*claims.values(), *beside)],
            "Notes": notes,
        }
        chart = interactive(plot_bias(table, arc=arc, title=claims[WITHIN]))
        write_page(fresh / "bias.html", "Metrics between accuracy and fluency", chart, parts)
    rows = shown[shown.statistic.isin(["pearson", "soft pairwise"])]
    sys.stdout.write(rows.to_string(index=False) + "\n")
    print(*(f"{claim}." for claim in (*claims.values(), *beside)), sep="\n")


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    """The columns that a page has room for."""
    numbers = [
        f"{c}{end}"
        for c in ("with_accuracy", "with_fluency", "lean")
        for end in ("", "_low", "_high")
    ]
    return table[["metric", "level", "statistic", *numbers, "n", "n_docs", "n_systems"]]
