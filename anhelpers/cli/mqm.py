"""`anhelpers mqm`: expert ratings to penalties."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import options as shared

HELP = "MQM ratings (WMT, TED): penalties of systems with intervals, or by rater, doc, domain, segment"
EXAMPLE = "anhelpers mqm ratings.tsv --by system -o penalties.csv"


def options(parser: argparse.ArgumentParser) -> None:
    """Files, scheme, weights, level."""
    parser.add_argument("files", nargs="+", metavar="FILE",
                        help="ratings: .tsv or .csv, plain, .gz or .tar.gz; or a name of `anhelpers data`")  # fmt: skip
    parser.add_argument("--scheme", metavar="S", help="wmt, en-es or a CSV file (default: what fits the categories)")
    parser.add_argument("--weights", default="freitag2021", metavar="W",
                        help="freitag2021, mt-metrics-eval, wmt24 or a CSV file (default: freitag2021)")  # fmt: skip
    parser.add_argument("--by", default="system", choices=["system", "rater", "doc", "domain", "segment"],
                        help="a row per system and what? (default: system, with intervals)")  # fmt: skip
    parser.add_argument("--ignore-unclassified", action="store_true",
                        help="count categories that the scheme lacks in the penalty alone")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the resampling (default: 0)")
    parser.add_argument("-o", "--output", metavar="FILE", help=".csv or .parquet (default: CSV on standard output)")


def run(args: argparse.Namespace) -> None:
    """Print or write the table."""
    import numpy as np

    from ..data import pool_ratings, ratings_file, read_ratings
    from ..mqm import choose_scheme, score_ratings, system_table
    from ..stats import few_clusters

    files = [path if Path(path).exists() else ratings_file(path) or path for path in args.files]
    ratings = pool_ratings([read_ratings(path) for path in files])
    scheme = args.scheme or choose_scheme(ratings)
    waived = "ignore" if args.ignore_unclassified else "error"
    scores = score_ratings(ratings, scheme, args.weights, unclassified=waived)
    shared.print_notes(scores.notes)
    if args.scheme is None:
        shared.print_notes([f"scheme {scheme}, which fits the categories best; another one by --scheme."])
    n_docs = len(set(scores.docs))
    if args.by == "system" and n_docs > 1 and (few := few_clusters(n_docs)):
        shared.print_notes([few])
    table = system_table(scores, np.random.default_rng(args.seed)) if args.by == "system" else scores.by(args.by)
    shared.write_table(table, args.output)
