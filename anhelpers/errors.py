"""Exceptions of this package; each message is one sentence with a remedy."""

import difflib
import importlib
import re
import shlex
import sys
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from types import ModuleType

# Extra → the modules that it installs.
_EXTRAS = {
    "neural": "torch transformers comet huggingface_hub tokenizers safetensors",
    "gemma": "gguf",
    "notebooks": "jupyter_client papermill nbconvert nbformat traitlets latex2mathml krippendorff",
    "cluster": "dask distributed",
    "theory": "cvxpy",
}

_LONGEST = 2000
_LINE_END = re.compile(r"[ \t]*\r?\n\s*")
# NAME:PASSWORD@ before a host
_USER = re.compile(r"(?<=://)[^\s/?#'\"]+@")
# characters that control a terminal or reorder text
_UNSEEN = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


class AnhelpersError(Exception):
    """Base of all errors that this package raises on purpose; the message is one line."""

    def __init__(self, message: str = ""):
        super().__init__(one_line(message))


class AnhelpersWarning(UserWarning):
    """A finding about data or scores that does not stop the computation."""


class DataError(AnhelpersError, ValueError):
    """An error in the user's data; the message starts with file and line, if known.

    Parameters
    ----------
    message : str
        What is wrong, the value seen, and a remedy.
    path : path, optional
        The file, or the name of an argument.
    line : int, optional
        Line in that file, from 1.
    """

    def __init__(self, message: str, path: str | PathLike | None = None, line: int | None = None):
        self.path, self.line = path, line
        where = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        super().__init__(where + message)


class MissingExtra(AnhelpersError, ImportError):
    """An optional library is missing; the message has the command that installs it."""

    @staticmethod
    def remedy(extra: str = "") -> str:
        """The command that installs this package with an extra into this Python."""
        root = Path(__file__).resolve().parents[1]
        name = f"[{extra}]" if extra else ""
        here = (root / "pyproject.toml").is_file()
        wanted = ["-e", f"{root}{name}"] if here else [f"anhelpers{name}"]
        return shlex.join([sys.executable, "-m", "pip", "install", *wanted])


class UnknownName(AnhelpersError, LookupError):
    """A name that is not in the list; the message has the nearest one and the start of the list."""

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = ""):
        known = sorted(known)
        told = f"unknown {kind:.60} '{name!s:.40}'{nearest(name, known)}"
        listed, room = ", ".join(known), 125 - len(told) - len(hint)
        if len(listed) > room:
            listed = f"{listed[: max(0, room - 3)].rpartition(', ')[0]}, …"
        super().__init__(f"{told}; known: {listed}. {hint}".rstrip())


def one_line(message: str) -> str:
    r"""A text on one line, shortened, without passwords in addresses, control characters escaped.

    >>> one_line("https://me:secret@example.org/data"), one_line("a\x1b[2J")
    ('https://…@example.org/data', 'a\\x1b[2J')
    """
    if len(message) > _LONGEST:
        message = f"{message[: _LONGEST - 300]} … {message[-290:]}"
    text = _LINE_END.sub(" ", _USER.sub("…@", message))
    return _UNSEEN.sub(
        lambda match: match[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text
    )


def nearest(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` for the closest known name, or an empty string."""
    known = list(known)
    parts = sorted(name.split("+"))
    same = [one for one in known if sorted(one.split("+")) == parts or one.startswith(f"{name}:")]
    close = same or difflib.get_close_matches(name, known, n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def counted(n: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "text"), counted(1000, "text")
    ('1 text', '1,000 texts')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def need(module: str, why: str) -> ModuleType:
    """Import an optional library, or raise MissingExtra with the command that installs it.

    Parameters
    ----------
    module : str
        As imported, e.g. "torch".
    why : str
        What needs it, as the subject of a sentence.
    """
    try:
        return importlib.import_module(module)
    except Exception as error:  # a broken library raises anything
        name = module.split(".")[0]
        extra = next((extra for extra, names in _EXTRAS.items() if name in names.split()), None)
        line = MissingExtra.remedy(extra) if extra else f"pip install {name}"
        told = f"{why} needs {module} ({str(error) or type(error).__name__}). Install it: {line}"
        raise MissingExtra(told) from error
