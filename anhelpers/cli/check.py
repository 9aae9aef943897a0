"""`anhelpers check`: what is installed and what is not; of a result, what made it."""

from __future__ import annotations

import argparse

EXAMPLE = "anhelpers check"


def options(parser: argparse.ArgumentParser) -> None:
    """A result, if any."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="RESULT",
        help="a table, picture, page or notebook of anhelpers: print the versions, command, "
        "parameters and seeds that made it, and nothing else",
    )


def run(args: argparse.Namespace) -> None:
    """Print the report, or what made a result."""
    if args.file is None:
        from ..doctor import report

        print(report())
        return
    from ..errors import escaped
    from ..provenance import made_of

    for line in made_of(args.file):
        print(escaped(line))
