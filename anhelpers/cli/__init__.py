"""The command line, one file per command: parses options, calls the package, prints (`anhelpers COMMAND --help`)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from textwrap import fill

from .. import __version__
from ..errors import AnhelpersError, DataError, one_line
from ..progress import say
from ..provenance import making
from . import (
    bias,
    check,
    curve,
    data,
    fetch,
    generate,
    judge,
    mqm,
    options,
    plane,
    run,
    score,
    sheet,
    site,
    store,
    students,
    teachers,
    teaching_set,
    train_combination,
    train_critic,
    train_lm,
    train_xmi,
    typed,
    xmi,
)
from .stopping import Terminated, mute, open_streams, stoppable

__all__ = ["main"]

# in the order of --help; each has HELP, EXAMPLE, options(parser) and run(args) -> exit status or None
COMMANDS = {
    "check": check,
    "data": data,
    "fetch": fetch,
    "run": run,
    "site": site,
    "students": students,
    "sheet": sheet,
    "teachers": teachers,
    "score": score,
    "generate": generate,
    "curve": curve,
    "plane": plane,
    "judge": judge,
    "bias": bias,
    "mqm": mqm,
    "xmi": xmi,
    "train-lm": train_lm,
    "train-critic": train_critic,
    "train-combination": train_combination,
    "train-xmi": train_xmi,
    "teaching-set": teaching_set,
    "store": store,
}

STATUS = """\
exit status:
  0 all went well; 1 a notebook failed; 2 a wrong input or option;
  70 a defect of anhelpers; 130 or 143 stopped by Ctrl-C or by a signal"""

LESS = (
    "close other programs, or ask for less at a time (fewer --draws, a smaller --batch, fewer "
    "texts)."
)
"""What to do where memory ran out."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; 0 where all went well, 1 where a notebook failed, 2 for a wrong input, 70 for a defect of this
    package, 130 or 143 when stopped."""
    there = open_streams()
    args = _parser().parse_args(argv)
    try:
        typed.check_typed(args)
        options.check_outputs(args)
        if not there and typed.prints(args):
            raise DataError(
                "standard output is closed, and the result would go there; name a file (-o FILE, > "
                "FILE)."
            )
        with (
            stoppable(),
            options.using_store(getattr(args, "store", None)),
            making(options.command_parameters(args)),
        ):
            status = COMMANDS[args.command].run(args) or 0
            sys.stdout.flush()
            return status
    except Exception as error:
        if args.debug and not isinstance(error, BrokenPipeError):
            raise
        return _report(args.command, error)
    except KeyboardInterrupt as stop:
        ended = isinstance(stop, Terminated)
        say(f"anhelpers {args.command}: {'terminated' if ended else 'interrupted'}.")
        return 143 if ended else 130


def _report(command: str, error: Exception) -> int:
    """Say in one sentence what went wrong; the exit status."""
    if isinstance(error, BrokenPipeError):
        mute()
        return 0
    status, said = 2, str(error)
    if isinstance(error, OSError) and not isinstance(error, AnhelpersError):
        if error.filename is None:
            mute()
        said = (
            f"{error.filename or 'standard output'}: cannot be read or written "
            f"({error.strerror or error})."
        )
    elif isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        # the second: torch's, of a GPU
        said = f"memory ran out{f' ({error})' if str(error) else ''}; {LESS}"
    elif not isinstance(error, AnhelpersError):
        status = 70
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        said = (
            f"unexpected {what}; this is a defect of anhelpers, run it again with --debug and "
            "report what it prints."
        )
    say(f"anhelpers {command}: {one_line(said)}")
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="anhelpers",
        description="The accuracy-naturalness tradeoff of translations.",
        epilog="`anhelpers COMMAND --help` tells the options of a command, with an "
        f"example.\n\n{STATUS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"anhelpers {__version__}")
    told = "show where an error comes from, in Python's words"
    parser.add_argument("--debug", action="store_true", help=told)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        purpose = fill(f"{module.HELP[0].upper()}{module.HELP[1:]}.")
        one = commands.add_parser(name, help=module.HELP, description=purpose)
        module.options(one)
        one.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=told)
        one.epilog = "\n\n".join(
            filter(None, [f"example:\n  {module.EXAMPLE}", one.epilog, STATUS])
        )
        one.formatter_class = argparse.RawDescriptionHelpFormatter
    return parser
