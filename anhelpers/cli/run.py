"""`anhelpers run`: the notebooks, headless."""

from __future__ import annotations

import argparse

from . import options as shared

EXAMPLE = "anhelpers run an_5_1_oracle_curve -p data candidates.jsonl --out build"


def options(parser: argparse.ArgumentParser) -> None:
    """Which notebooks, with which parameters, and where results go."""
    shared.notebooks(parser)
    parser.add_argument(
        "-p",
        "--parameter",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "VALUE"),
        help="set a parameter",
    )
    parser.add_argument(
        "--data", metavar="NAME|PATH", help="the data set, short for -p data NAME|PATH"
    )
    shared.store(parser)
    shared.scheduler(parser)
    parser.add_argument(
        "--out", default="build", metavar="DIR", help="where results go (default: build)"
    )
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="notebooks at a time (default: 1)"
    )


def run(args: argparse.Namespace) -> int:
    """Run them; 1 where one failed."""
    from .. import execution, notebooks

    parameters = {name: notebooks.parse_value(value) for name, value in args.parameter}
    if args.data is not None:
        parameters["data"] = args.data
    with shared.using_scheduler(args.scheduler):  # so that a wrong one is told before any kernel
        outcomes = execution.run(
            args.notebooks, parameters, args.out, args.jobs, scheduler=args.scheduler
        )
    for outcome in outcomes:
        print(f"{outcome.name}: {outcome.error}" if outcome.error else f"{outcome.html}")
    return int(any(o.error for o in outcomes))
