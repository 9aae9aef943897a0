"""`anhelpers mqm`: expert ratings to penalties."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import options as shared

EXAMPLE = "anhelpers mqm ratings.tsv --by system -o penalties.csv"


def options(parser: argparse.ArgumentParser) -> None:
    """Files, scheme, weights, level."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="ratings: .tsv or .csv, plain, .gz, .xz, .zst, .tar.gz; or a name of `anhelpers data`",
    )
    shared.mqm_tables(parser)
    parser.add_argument(
        "--map",
        metavar="M",
        help="other names of columns, severities, categories: bio-mqm or a file kind,from,to",
    )
    parser.add_argument(
        "--repeated",
        default="refuse",
        choices=["refuse", "count", "once"],
        help="rows that come again in a file: refuse a copied part, count all, or each once "
        "(default: refuse)",
    )
    parser.add_argument(
        "--shared", action="store_true", help="only segments that were rated for every system"
    )
    parser.add_argument(
        "--adjust-raters",
        action="store_true",
        help="take out the severity of the raters: the penalties that an average rater would have "
        "given",
    )
    parser.add_argument(
        "--by",
        default="system",
        choices=["system", "rater", "doc", "domain", "segment"],
        help="a row per system and what? (default: system, with intervals)",
    )
    parser.add_argument(
        "--ignore-unclassified",
        action="store_true",
        help="count categories that the scheme lacks in the penalty alone",
    )
    shared.resampling(parser, draws=False)
    parser.add_argument(
        "-o", "--output", metavar="FILE", help=".csv or .parquet (default: CSV on standard output)"
    )


def run(args: argparse.Namespace) -> None:
    """Print or write the table."""
    import numpy as np

    from ..data import pool_ratings, ratings_file, read_ratings
    from ..data.mqm_tables import load_map
    from ..mqm import adjust_raters, choose_scheme, rater_notes, score_ratings, system_table
    from ..plane import few_documents

    files = [path if Path(path).exists() else ratings_file(path) or path for path in args.files]
    mapping = load_map(args.map) if args.map else None
    ratings = pool_ratings(
        [read_ratings(path, mapping=mapping, repeated=args.repeated) for path in files]
    )
    scheme = args.scheme or choose_scheme(ratings)
    waived = "ignore" if args.ignore_unclassified else "error"
    scores = score_ratings(ratings, scheme, args.weights, unclassified=waived)
    scores = adjust_raters(scores) if args.adjust_raters else scores
    scores = scores.shared() if args.shared else scores
    shared.print_notes(scores.notes)
    if args.scheme is None:
        shared.print_notes(
            [f"scheme {scheme}, which fits the categories best; another one by --scheme."]
        )
    if args.by == "system":
        table = system_table(scores, np.random.default_rng(args.seed))
        one = (
            "all segments are of one document, and resampled as if they were independent: "
            "intervals may be too short."
        )
        told = one if len(set(scores.docs)) == 1 < len(scores.docs) else few_documents(table)
        shared.print_notes(filter(None, [told, *rater_notes(table)]))
    else:
        table = scores.by(args.by).assign(signature=scores.signature)
    shared.write_table(table, args.output)
