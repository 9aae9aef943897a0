"""The exceptions of this package: every message is one sentence that says what to do next."""

from __future__ import annotations

import difflib
import importlib
import json
import re
import shlex
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from os import PathLike
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

__all__ = [
    "AnhelpersError",
    "AnhelpersWarning",
    "DataError",
    "LanguageConflict",
    "MissingExtra",
    "UnknownName",
    "escaped",
    "install_line",
    "nearest",
    "need",
    "one_line",
    "without_password",
]

EXTRA_OF = {
    "torch": "neural",
    "transformers": "neural",
    "comet": "neural",
    "huggingface_hub": "neural",
    "tokenizers": "neural",
    "safetensors": "neural",
    "jupyter_client": "notebooks",
    "papermill": "notebooks",
    "nbconvert": "notebooks",
    "nbformat": "notebooks",
    "nbclient": "notebooks",
    "latex2mathml": "notebooks",
    "dask": "cluster",
    "distributed": "cluster",
    "dask_jobqueue": "cluster",
    "yaml": "cluster",
    "cryptography": "cluster",
    "cvxpy": "theory",
}
"""A library that the core does without -> the extra of this package that installs it, itself or by what it needs."""

LONGEST = 2000
_LINE_END = re.compile(r"[ \t]*\r?\n\s*")
_USER = re.compile(r"(?<=://)[^\s/?#'\"]+@")  # NAME:PASSWORD@ before a host
# or reorders what is seen
_UNSEEN = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class AnhelpersError(Exception):
    """Base of every error this package raises on purpose: its text is a sentence for the user, on one line.

    What a file holds may stand in it, so control characters are shown by their codes, and a long text is cut.
    """

    def __init__(self, message: str = ""):
        super().__init__(one_line(message))


class AnhelpersWarning(UserWarning):
    """A finding about data or scores that does not stop the computation."""


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


MOST_LISTED = 150
"""Names in an error; of a longer list, such as that of all languages, only the first are."""


class UnknownName(AnhelpersError, LookupError):
    """A name that is not in the list; the message gives the nearest one and the list."""

    def __init__(self, kind: str, name: str, known: Iterable[str]):
        known = sorted(known)
        listed = ", ".join(known) or "none"
        if len(known) > MOST_LISTED:
            listed = f"{', '.join(known[:10])}, … ({len(known)} in all)"
        super().__init__(f"unknown {kind} '{name}'{nearest(name, known)}; known: {listed}.")


def one_line(message: str) -> str:
    """A text that cannot steer a terminal: one line of at most LONGEST characters."""
    if len(message) > LONGEST:
        message = f"{message[: LONGEST - 300]} … {message[-290:]}"
    return escaped(_LINE_END.sub(" ", without_password(message)))


def escaped(text: str) -> str:
    r"""A text whose characters that nobody sees are escaped, so that it cannot steer a terminal.

    >>> escaped("a\x1b[2J")
    'a\\x1b[2J'
    """
    return _UNSEEN.sub(
        lambda match: match[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text
    )


def without_password(text: str) -> str:
    """A text with user and password left out of every address in it.

    >>> without_password("no network reaches https://me:secret@example.org/data")
    'no network reaches https://…@example.org/data'
    """
    return _USER.sub("…@", text) if "@" in text else text


def nearest(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` for the closest known name, or an empty string.

    The same parts in another order are closest: of lpp+critic it is critic+lpp.
    """
    known = list(known)
    same = [one for one in known if sorted(one.split("+")) == sorted(name.split("+"))]
    close = same or difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""


def install_line(extra: str = "") -> str:
    """The command that installs the package with an extra into this Python, from where the package itself came.

    A checkout or a wheel that is still there is named by its path, and a repository by its address. Where neither is
    known, as after an installation from an index, the libraries of the extra are named one by one.
    """
    package = Path(__file__).resolve().parent
    if (package.parent / "pyproject.toml").is_file():
        return _pip(
            package.parent / "constraints.txt",
            "-e",
            f"{package.parent}{f'[{extra}]' if extra else ''}",
        )
    return _pip(package / "_bundle" / "constraints.txt", *_wanted(extra))


def _pip(constraints: Path, *wanted: str) -> str:
    """An install command of pip for this Python, with the tested versions where they are known."""
    tested = ["-c", str(constraints)] if constraints.is_file() else []
    return shlex.join([sys.executable, "-m", "pip", "install", *tested, *wanted])


def _wanted(extra: str) -> list[str]:
    """What to name to pip for an extra of the installed package."""
    try:
        installed = distribution("anhelpers")
    except PackageNotFoundError:
        return [f"anhelpers[{extra}]" if extra else "anhelpers"]
    if origin := _origin(installed):
        return [f"anhelpers[{extra}] @ {origin}" if extra else f"anhelpers @ {origin}"]
    mark = re.compile(rf"""extra\s*==\s*['"]{re.escape(extra)}['"]""") if extra else None
    listed = [line.partition(";") for line in installed.requires or []]
    return [
        name.strip()
        for name, _, rule in listed
        if (mark.search(rule) if mark else "extra" not in rule)
    ]


def _origin(installed: Distribution) -> str:
    """The address from which pip installed a package; "" where pip noted none, or nothing is there any more."""
    try:
        told = json.loads(installed.read_text("direct_url.json") or "{}")
        url, vcs = str(told.get("url", "")), told.get("vcs_info", {})
        address = urlsplit(url)
    except (ValueError, AttributeError):
        return ""
    if address.scheme == "file" and not Path(unquote(address.path)).exists():
        return ""
    return f"{vcs['vcs']}+{url}@{vcs['commit_id']}" if {"vcs", "commit_id"} <= set(vcs) else url


def need(module: str, why: str) -> ModuleType:
    """Import an optional library, or raise MissingExtra with the line that installs it.

    Parameters
    ----------
    module : as imported, e.g. "torch". why : what cannot be done without, as the subject of a sentence.
    """
    try:
        return importlib.import_module(module)
    except Exception as error:
        # a library that is half there, or of another version, ends in whatever it likes
        told = (
            f"{why} needs {module}, which cannot be imported ({str(error) or type(error).__name__})"
        )
        extra = EXTRA_OF.get(module.split(".")[0])
        if extra is None:
            raise MissingExtra(f"{told}; install it with: {_pip(Path(), module)}") from error
        raise MissingExtra(
            f"{told}; it comes with the extra '{extra}': {install_line(extra)}"
        ) from error
