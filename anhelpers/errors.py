"""The few ways in which things go wrong, each told in one sentence with the next move."""

from __future__ import annotations

import difflib
import importlib
import re
import sys
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from types import ModuleType

__all__ = [
    "AnhelpersError", "DataError", "LanguageConflict", "MissingExtra", "UnknownName", "install_line", "nearest", "need",
    "one_line",
]  # fmt: skip

EXTRA_OF = {
    "torch": "neural", "transformers": "neural", "comet": "neural",
    "papermill": "notebooks", "nbconvert": "notebooks", "ipywidgets": "notebooks", "jupyterlab": "notebooks",
    "krippendorff": "notebooks",
    "distributed": "cluster", "dask_jobqueue": "cluster", "cvxpy": "theory",
}  # fmt: skip

LONGEST = 2000
_LINE_END = re.compile(r"[ \t]*\r?\n\s*")
_UNSEEN = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")  # or reorders what is seen


class AnhelpersError(Exception):
    """Base of every error this package raises on purpose: its text is a sentence for the user, on one line.

    What a file holds may stand in it, so control characters are shown by their codes, and a long text is cut.
    """

    def __init__(self, message: str = ""):
        super().__init__(one_line(message))


class DataError(AnhelpersError, ValueError):
    """Something in the user's data is wrong; the message starts with the file and the line where known.

    Parameters
    ----------
    message : what is wrong, the value seen, and what to do.
    path : the file, or the name of an argument where there is no file.
    line : 1-based line in that file.
    """

    def __init__(self, message: str, path: str | PathLike | None = None, line: int | None = None):
        self.path, self.line = path, line
        where = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        super().__init__(where + message)


class LanguageConflict(DataError):
    """Texts are in another language than they are said to be; a command adds which language its model knows."""


class MissingExtra(AnhelpersError, ImportError):
    """An optional library is not installed; the message carries the command that installs it."""


class UnknownName(AnhelpersError, LookupError):
    """A name that is not in the list; the message gives the nearest one and the list."""

    def __init__(self, kind: str, name: str, known: Iterable[str]):
        known = sorted(known)
        super().__init__(f"unknown {kind} '{name}'{nearest(name, known)}; known: {', '.join(known) or 'none'}.")


def one_line(message: str) -> str:
    """A text that cannot steer a terminal: one line of at most LONGEST characters."""
    if len(message) > LONGEST:
        message = f"{message[: LONGEST - 300]} … {message[-290:]}"
    line = _LINE_END.sub(" ", message)
    return _UNSEEN.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode("ascii"), line)


def nearest(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` for the closest known name, or an empty string."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""


def install_line(extra: str = "") -> str:
    """The exact command that installs the package with an extra, into this Python, from wherever it is typed."""
    checkout, wanted = Path(__file__).resolve().parents[1], f"[{extra}]" if extra else ""
    if (checkout / "pyproject.toml").is_file():
        return f"{sys.executable} -m pip install -c {checkout}/constraints.txt -e '{checkout}{wanted}'"
    return f"{sys.executable} -m pip install 'anhelpers{wanted}'"


def need(module: str, why: str) -> ModuleType:
    """Import an optional library, or raise MissingExtra with the line that installs it.

    Parameters
    ----------
    module : as imported, e.g. "torch". why : what cannot be done without, as the subject of a sentence.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        extra = EXTRA_OF.get(module.split(".")[0])
        line = install_line(extra) if extra else f"{sys.executable} -m pip install {module}"
        raise MissingExtra(
            f"{why} needs {module}, which cannot be imported ({error}); install it with: {line}"
        ) from error
