"""`anhelpers run`: execute notebooks."""

import argparse
import sys
from typing import Any

from ..progress import say
from . import options as shared

EXAMPLE = "anhelpers run an_5_1_oracle_curve -p data candidates.jsonl --out build"


def options(parser: argparse.ArgumentParser) -> None:
    """Notebooks, their parameters, and the folder of the results."""
    add = parser.add_argument
    add("notebooks", nargs="*", metavar="NOTEBOOK", help="names or paths (default: all)")
    told = "set a parameter of the notebooks that have it"
    pairs: Any = {"nargs": 2, "metavar": ("NAME", "VALUE"), "action": "append", "default": []}
    add("-p", "--parameter", help=told, **pairs)
    add("--data", metavar="NAME|PATH", help="the data set, short for -p data NAME|PATH")
    add("--out", default="build", metavar="DIR", help="results (default: build)")
    add("--jobs", type=int, default=1, metavar="N", help="notebooks at a time (default: 1)")


def run(args: argparse.Namespace) -> int:
    """Run them; return 1 if one failed."""
    from .. import notebooks

    parameters = {name: notebooks.parse_value(value) for name, value in args.parameter}
    if args.data is not None:
        shared._refuse_unused("with --data", {"-p data": "data" in parameters})
        parameters["data"] = args.data
    outcomes = notebooks.run(args.notebooks, parameters, args.out, args.jobs)
    for outcome in outcomes:
        said = f"{outcome.name}: {outcome.error}" if outcome.error else str(outcome.html)
        say(*said.split("\n"), file=sys.stdout)
    return int(any(outcome.error for outcome in outcomes))
