"""The command line: parse, call, print. `anhelpers COMMAND --help` tells the rest; one file per command beside this."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from .. import __version__
from ..errors import AnhelpersError
from . import check, curve, data, fetch, generate, mqm, options, plane, run, score, site, store, students, train_lm, xmi

__all__ = ["main"]

COMMANDS = {  # in the order of --help; each module has HELP, options(parser) and run(args) -> exit status or None
    "check": check,
    "data": data,
    "fetch": fetch,
    "run": run,
    "site": site,
    "students": students,
    "score": score,
    "generate": generate,
    "curve": curve,
    "plane": plane,
    "mqm": mqm,
    "xmi": xmi,
    "train-lm": train_lm,
    "store": store,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; 0 where all went well, 1 where a notebook failed, 2 for a wrong input, 130 when interrupted."""
    args = _parser().parse_args(argv)
    try:
        with options.using_store(getattr(args, "store", None)):
            return COMMANDS[args.command].run(args) or 0
    except AnhelpersError as error:
        print(f"anhelpers {args.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(f"anhelpers {args.command}: interrupted.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="anhelpers", description="The accuracy-naturalness tradeoff of translations.")
    parser.add_argument("--version", action="version", version=f"anhelpers {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        module.options(commands.add_parser(name, help=module.HELP, description=module.HELP))
    return parser
