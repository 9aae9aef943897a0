"""`anhelpers teachers`: slides, a handout and the expected answers, from the executed notebooks."""

from __future__ import annotations

import argparse

from . import options as shared

EXAMPLE = "anhelpers teachers --built build --out build/pack"


def options(parser: argparse.ArgumentParser) -> None:
    """The folder of executed notebooks, and that of the pack."""
    shared.built(parser)
    parser.add_argument(
        "--out",
        default="build/pack",
        metavar="DIR",
        help="slides.html, handout.html and answers.html go there (default: build/pack)",
    )


def run(args: argparse.Namespace) -> None:
    """Write them and print their paths."""
    from ..classroom.pack import write_pack

    for path in write_pack(args.built, args.out):
        print(path)
