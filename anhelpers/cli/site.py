"""`anhelpers site`: the executed collection as one folder to open by double click."""

from __future__ import annotations

import argparse

from . import options as shared

EXAMPLE = "anhelpers site --built build --out build/site"


def options(parser: argparse.ArgumentParser) -> None:
    """The folder of pages, and that of the site."""
    shared.built(parser)
    parser.add_argument(
        "--out", default="build/site", metavar="DIR", help="the site (default: build/site)"
    )
    parser.add_argument(
        "--no-solutions",
        action="store_true",
        help="leave out solutions and checks, also from the pages' source, for students",
    )


def run(args: argparse.Namespace) -> None:
    """Write it and print the path of its first page."""
    from ..classroom import site

    print(site.write_site(args.built, args.out, solutions=not args.no_solutions))
