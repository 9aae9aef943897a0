"""`anhelpers students`: the collection to hand out, and the teacher's edition."""

from __future__ import annotations

import argparse

from . import options as shared

EXAMPLE = "anhelpers students 00_start_here --out build"


def options(parser: argparse.ArgumentParser) -> None:
    """Which notebooks, and where the editions go."""
    shared.notebooks(parser)
    parser.add_argument(
        "--out",
        default="build",
        metavar="DIR",
        help="students/ and teachers/ go there (default: build)",
    )


def run(args: argparse.Namespace) -> None:
    """Write both editions and print their paths."""
    from .. import notebooks

    for path in notebooks.write_editions(args.notebooks, args.out):
        print(path)
