"""The command line, one file per command: parses options, calls the package, prints (`anhelpers COMMAND --help`)."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from importlib import import_module
from textwrap import fill
from typing import Any

from .. import __version__
from .stopping import Terminated, mute, open_streams, stoppable

__all__ = ["main"]

COMMANDS = {
    "check": (
        "say what is installed, what is missing for which feature, and what mends it; or what "
        "made a result"
    ),
    "data": "list the data sets with their licence and place, or download some",
    "run": "execute notebooks by papermill; writes executed notebooks and self-contained HTML",
    "site": "one offline folder from the executed notebooks, to open by double click",
    "sheet": "write the rating sheet of a class as one offline page",
    "score": "score system outputs: a row per system and metric, or per segment",
    "generate": (
        "draw candidates: K samples per source from a translation or language model, resumable"
    ),
    "curve": (
        "the exact oracle curve of a candidate set: all vertices as CSV, and a page with the "
        "explorer"
    ),
    "plane": (
        "systems on the plane: the figure of a paper (PDF, SVG, PNG) with its caption, tables "
        "(CSV, LaTeX), references (BibTeX), the appendix, and a page"
    ),
    "mqm": (
        "MQM ratings (WMT, TED): penalties of systems with intervals, or by rater, doc, "
        "domain, segment"
    ),
    "xmi": (
        "cross-mutual information in bits per sentence, from the scores of a translation and "
        "a language model"
    ),
    "train-lm": "train a very small language model from plain text, resumable at any step",
    "train-critic": (
        "train a critic of naturalness: texts written in a language against texts translated "
        "into it"
    ),
    "train-combination": "fit how much a critic and a language model count together (critic+lpp)",
    "store": "the store of slow scores: what is in it, remove some, carry them to another machine",
}
"""Command -> what it does, in the order of --help; each is a module, `module_of`, loaded when it is called."""

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
    if argv is None:  # a process of its own, which loads libraries: they leave no garbage
        gc.set_threshold(200_000, 20, 100)
    there = open_streams()
    words = sys.argv[1:] if argv is None else list(argv)
    args = _parser(next((word for word in words if word in COMMANDS), "")).parse_args(words)
    # not for the help, which is printed by now
    from ..errors import DataError
    from ..progress import note, say
    from ..provenance import making
    from . import options, typed

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
            status = module_of(args.command).run(args) or 0
            sys.stdout.flush()
            return status
    except Exception as error:
        if args.debug and not isinstance(error, BrokenPipeError):
            raise
        return _report(args.command, error)
    except KeyboardInterrupt as stop:
        memo = sys.modules.get("anhelpers.scoring.memo")  # without it nothing was kept
        for place in sorted(memo.kept_in) if memo else ():
            note(f"what was computed is kept in {place}; the same command goes on there.")
        ended = isinstance(stop, Terminated)
        say(f"anhelpers {args.command}: {'terminated' if ended else 'interrupted'}.")
        return 143 if ended else 130


def _report(command: str, error: Exception) -> int:
    """Say in one sentence what went wrong; the exit status."""
    from ..errors import AnhelpersError, one_line
    from ..progress import say

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


def module_of(command: str) -> Any:
    """The module of a command: EXAMPLE, options(parser), and run(args) -> exit status or None."""
    return import_module(f".{command.replace('-', '_')}", __name__)


def _parser(only: str | None = None) -> argparse.ArgumentParser:
    """Of all commands, each with its options, or those of one: no other is loaded, and none for ""."""
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
    for name, told_of in COMMANDS.items():
        purpose = fill(f"{told_of[0].upper()}{told_of[1:]}.")
        one = commands.add_parser(name, help=told_of, description=purpose)
        if only not in (None, name):
            continue
        module = module_of(name)
        module.options(one)
        one.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=told)
        one.epilog = "\n\n".join(
            filter(None, [f"example:\n  {module.EXAMPLE}", one.epilog, STATUS])
        )
        one.formatter_class = argparse.RawDescriptionHelpFormatter
    return parser
