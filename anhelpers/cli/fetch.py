"""`anhelpers fetch`: download data sets that the package may not carry."""

from __future__ import annotations

import argparse

EXAMPLE = "anhelpers fetch wmt24/en-de mqm/ted-ende"


def options(parser: argparse.ArgumentParser) -> None:
    """Names; whether the network may be used."""
    parser.add_argument(
        "names", nargs="+", metavar="NAME", help="such as wmt24/en-de or mqm/ted-ende"
    )
    parser.add_argument(
        "--offline",
        action="store_true",
        help="open no connection, say what is missing (as ANHELPERS_OFFLINE=1)",
    )


def run(args: argparse.Namespace) -> None:
    """Download what is missing; print a line `NAME<TAB>PATH` per set."""
    from ..data.fetch import fetch_data

    for name, place in fetch_data(args.names, offline=args.offline or None).items():
        print(name, place, sep="\t")
