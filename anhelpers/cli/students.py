"""`anhelpers students`: the collection to hand out, and the teacher's edition."""

from __future__ import annotations

import argparse

HELP = "write the notebooks without their solutions for students, and with them for the teacher"


def options(parser: argparse.ArgumentParser) -> None:
    """Which notebooks, and whither."""
    parser.add_argument(
        "notebooks", nargs="*", metavar="NOTEBOOK", help="names or paths; all of the collection by default"
    )
    parser.add_argument(
        "--out", default="build", metavar="DIR", help="students/ and teachers/ go there (default: build)"
    )


def run(args: argparse.Namespace) -> None:
    """Write both editions and print their paths."""
    from .. import notebooks

    for path in notebooks.write_editions(args.notebooks, args.out):
        print(path)
