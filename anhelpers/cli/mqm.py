"""`anhelpers mqm`: expert ratings to penalties."""

import argparse
from pathlib import Path

from . import options as shared

EXAMPLE = "anhelpers mqm ratings.tsv --by system -o penalties.csv"


def options(parser: argparse.ArgumentParser) -> None:
    """Files, level, scheme, weights."""
    add = parser.add_argument
    forms = ".tsv or .csv, also as .gz, .xz, .zst or .tar.gz; or a name of `anhelpers data`"
    add("files", nargs="+", metavar="FILE", help=f"ratings: {forms}")
    add("--scheme", metavar="S", help="wmt, en-es or a CSV file (default: the best match)")
    weights = "freitag2021, mt-metrics-eval, wmt24 or a CSV file (default: freitag2021)"
    add("--weights", default="freitag2021", metavar="W", help=weights)
    levels = ["system", "rater", "doc", "domain", "segment"]
    told = "level: a row per system and rater, doc, ... (default: system, with intervals)"
    add("--by", default="system", choices=levels, help=told)
    shared._add_options(parser, "--seed", "--output")


def run(args: argparse.Namespace) -> None:
    """Print or write the table."""
    import numpy as np

    from ..data import ratings_file, read_ratings
    from ..mqm import choose_scheme, rater_notes, score_ratings, system_table
    from ..plane import few_documents

    files = [path if Path(path).exists() else ratings_file(path) or path for path in args.files]
    ratings = read_ratings(*files)
    scheme = args.scheme or choose_scheme(ratings)
    scores = score_ratings(ratings, scheme, args.weights)
    shared._print_notes(scores.notes)
    if args.scheme is None:
        best = f"scheme {scheme} matches the categories best. Choose a different one with --scheme."
        shared._print_notes([best])
    if args.by == "system":
        table = system_table(scores, np.random.default_rng(args.seed))
        shared._print_notes(filter(None, [few_documents(table), *rater_notes(table)]))
    else:
        table = scores.by(args.by).assign(signature=scores.signature)
    shared._write_table(table, args.output)
