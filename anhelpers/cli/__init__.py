"""The command line, one file per command (`anhelpers COMMAND --help`)."""

import argparse
import os
import re
import signal
import sys
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import __version__

# Command → purpose, in the order of --help; the modules are loaded when needed.
COMMANDS = {
    "check": "report installed features and how to install others, or the origin of a result",
    "data": "list the data sets with their licence and place, or download some",
    "run": "execute notebooks and write an offline page of each",
    "site": "collect the executed notebooks into one offline folder",
    "sheet": "write the rating sheet of a class as one offline page",
    "score": "score system outputs: a row per system and metric, or per segment",
    "generate": "draw candidates: K samples per source from a model, resumable",
    "curve": "the exact oracle curve of candidates: vertices as CSV, and a page",
    "plane": "systems on the plane: page, figure, tables (CSV, LaTeX), references, appendix",
    "mqm": "MQM ratings: penalties of systems with intervals, or by rater, doc, domain, segment",
    "xmi": "cross-mutual information in bits per sentence, from two score files or two models",
}

# Options that are not parameters of a result.
_PLACES = {"command", "debug", "output", "out", "html", "mme", "jobs"}

_STATUS = """exit status:
  0 success; 1 a notebook failed; 2 wrong input; 70 internal error (please report it); 130 interrupted"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    words = sys.argv[1:] if argv is None else list(argv)
    if argv is None and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback of an import
    args = _parser(next((word for word in words if word in COMMANDS), "")).parse_args(words)
    from ..progress import note, say
    from ..provenance import making

    if hasattr(sys.stdout, "reconfigure") and not sys.stdout.isatty():
        # a table is UTF-8 in any locale
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        named = {k: v for k, v in vars(args).items() if k not in _PLACES}
        if argv is None:  # the console script, not a test
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        with making({"command": args.command} | named), _cluster(), warnings.catch_warnings():
            warnings.showwarning = _warn  # type: ignore[assignment]
            _check(args)
            status = _module(args.command).run(args) or 0
            sys.stdout.flush()
            return status
    except KeyboardInterrupt:
        if cache := sys.modules.get("anhelpers.scoring.cache"):
            off = "the cache is off; finished scores were not saved"
            note(f"finished scores are cached in {file}" if (file := cache.cache_file()) else off)
        say(f"anhelpers {args.command}: interrupted")
        return 130
    except Exception as error:
        if args.debug:
            raise
        return _report(args.command, error)


def _check(args: argparse.Namespace) -> None:
    """Raise a DataError for a seed below 0, or an output that is an input, another output or the user's own file."""
    from .. import checks
    from ..errors import DataError

    given = vars(args)
    checks.whole("--seed", given.get("seed", 0), 0, checks.LARGEST_SEED)
    values = [value for name, value in given.items() if name not in _PLACES]
    words = [w for v in values for w in (v if isinstance(v, list) else [v]) if isinstance(w, str)]
    parts = {part for word in words for part in (word, *re.split("[=:#,]", word))}
    folders = {f for word in words if ":" in word for f in word.split(":") if os.path.isdir(f)}
    inside = (os.path.join(f, name) for f in folders for name in os.listdir(f))
    taken = {os.path.realpath(f) for f in (*parts, *inside) if os.path.isfile(f)}
    outputs = [given.get("output"), given.get("html")]
    if args.command == "plane":
        from ..provenance import MADE
        from ..report import FILES

        made, files = Path(args.out, MADE), [os.path.join(args.out, name) for name in FILES]
        known = made.read_bytes() if made.is_file() else b""
        own = [f for f in files if f'"{os.path.basename(f)}":'.encode() not in known]
        taken |= {os.path.realpath(f) for f in own if not args.out or os.path.isfile(f)}
        outputs += files
    for path in filter(None, outputs):
        if (real := os.path.realpath(path)) in taken:
            raise DataError("is an input, another output or your own file. Choose another.", path)
        taken |= set() if os.path.exists(path) and not os.path.isfile(path) else {real}


def _cluster() -> AbstractContextManager:
    """Share the work of models over the Dask scheduler in $ANHELPERS_SCHEDULER, if set."""
    if not (address := os.environ.get("ANHELPERS_SCHEDULER")):
        return nullcontext()
    from ..scoring.cluster import connect

    return connect(address)


def _warn(message: Warning | str, category: type, path: str, line: int, *_: Any) -> None:
    """Print a warning in one line, with its place in the code unless it is ours."""
    from ..errors import AnhelpersWarning
    from ..progress import say

    say(f"{'' if issubclass(category, AnhelpersWarning) else f'{path}:{line}: '}warning: {message}")


def _report(command: str, error: Exception) -> int:
    """Print an error in one line; return the exit status."""
    from ..errors import AnhelpersError, one_line
    from ..progress import say

    say(file=sys.stdout)
    # the reader of stdout has exited
    if isinstance(error, BrokenPipeError):
        return 0
    said, status = str(error), 2
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        said = f"out of memory ({error}). Score fewer texts at a time, or close other programs."
    elif not isinstance(error, AnhelpersError | OSError):
        said = f"unexpected {type(error).__name__}: {error}. Run it with --debug and report it."
        status = 70
    say(f"anhelpers {command}: {one_line(said)}")
    return status


def _module(command: str) -> Any:
    """The module of a command: EXAMPLE, options(parser), and run(args) → exit status or None."""
    return import_module(f".{command}", __name__)


class _Joined(argparse.Action):
    """Store a value; append the values of an option that takes several and is repeated."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        """Called by argparse."""
        before = getattr(namespace, self.dest, self.default)
        joined = isinstance(values, list) and before is not self.default
        setattr(namespace, self.dest, [*before, *values] if joined else values)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and in which a repeated list of values goes on."""

    def __init__(self, *given: Any, **how: Any) -> None:
        super().__init__(*given, **how)
        self.register("action", None, _Joined)

    def error(self, message: str) -> Any:
        """Print the message and exit with status 2."""
        from ..errors import one_line

        super().error(one_line(message))


def _parser(only: str | None = None) -> argparse.ArgumentParser:
    """Parser of all commands, with the options of one (`only`), of none ("") or of all (None)."""
    form: Any = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    told = "The accuracy-naturalness tradeoff of translations."
    parser = _Parser("anhelpers", description=told, epilog=_STATUS, **form)
    parser.add_argument("--version", action="version", version=f"anhelpers {__version__}")
    parser.add_argument("--debug", action="store_true", help="print the traceback of an error")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, purpose in COMMANDS.items():
        full = f"{purpose[0].upper()}{purpose[1:]}."
        one = commands.add_parser(name, help=purpose, description=full, **form)
        if only in (None, name):
            module = _module(name)
            module.options(one)
            example = f"example:\n  {module.EXAMPLE}"
            one.epilog = "\n\n".join(filter(None, [example, one.epilog, _STATUS]))
    return parser
