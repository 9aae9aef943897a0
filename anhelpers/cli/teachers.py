"""`anhelpers teachers`: slides, a handout and the expected answers, from the executed notebooks."""

from __future__ import annotations

import argparse

HELP = "write ten slides, an A4 handout and the expected answers, from the executed notebooks"
EXAMPLE = "anhelpers teachers --built build --out build/pack"


def options(parser: argparse.ArgumentParser) -> None:
    """The folder of executed notebooks, and that of the pack."""
    parser.add_argument(
        "--built",
        default="build",
        metavar="DIR",
        help="where `anhelpers run` wrote (default: build)",
    )
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
