"""The origin of a file: one line of versions, parameters and seeds in every table, chart and page.

The line has no date, no folder and no user, so that the same command writes the same bytes anywhere.
"""

from __future__ import annotations

import html
import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from . import __version__
from .errors import without_password
from .metrics import signature_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MAKING", "environment", "in_page", "made_by", "making", "version_of", "with_made_by"]

MAKING = "ANHELPERS_MAKING"
"""The environment variable with the command or notebook that is running, for the kernels and workers it starts."""

LIBRARIES = {  # distribution -> the module by whose presence we know that it took part
    "numpy": "numpy",
    "scipy": "scipy",
    "numba": "numba",
    "pandas": "pandas",
    "sacrebleu": "sacrebleu",
    "cvxpy": "cvxpy",
    "torch": "transformers",
    "transformers": "transformers",
    "altair": "altair",
    "vl-convert-python": "vl_convert",
}
DRAWING = ("altair", "vl-convert-python")


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Inside, this process and those that it starts have these environment variables; then all are as before.

    Parameters
    ----------
    variables : name -> value.
    """
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@contextmanager
def making(parts: Mapping[str, object]) -> Iterator[None]:
    """Inside, `made_by` names these parts: command or notebook, parameters, seed.

    Parameters
    ----------
    parts : name -> value; None, False and empty ones are left out, of files and folders only their own names stay.
    """
    with environment(
        **{
            MAKING: signature_of(
                {name: _shown(value) for name, value in parts.items() if _counts(value)}
            )
        }
    ):
        yield


def made_by(*, drawn: bool = False, installed: bool = False) -> str:
    """anhelpers:VERSION|what runs, with parameters|python:VERSION|the libraries that took part, with versions.

    Parameters
    ----------
    drawn : of a picture or a page: the libraries that draw count, too.
    installed : of what another process made, such as a notebook's kernel: all libraries of this environment.

    >>> made_by().startswith(f"anhelpers:{__version__}|")
    True
    """
    versions = {"python": platform.python_version()}
    for name, module in LIBRARIES.items():
        took_part = installed or (module in sys.modules and (drawn or name not in DRAWING))
        if took_part and (found := version_of(name)):
            versions[name] = found
    return "|".join(
        filter(None, [f"anhelpers:{__version__}", os.environ.get(MAKING), signature_of(versions)])
    )


def with_made_by(table: pd.DataFrame) -> pd.DataFrame:
    """The table with a last column made_by, the same in every row, so that any program still reads it as a table."""
    return table.assign(made_by=made_by())


def in_page(page: str, line: str | None = None) -> str:
    """An HTML page that names its maker (`line`, else `made_by`): in its head for programs, at its end for readers.

    >>> in_page("<head></head><body>x</body>").count("anhelpers:")
    2
    """
    line = html.escape(made_by(drawn=True) if line is None else line)
    meta = f'<meta name="generator" content="{line}">'
    # stays first: a browser looks at 1,024 bytes for it
    charset = re.search(r"<meta charset=[^>]*>", page[:1024])
    head = charset[0] if charset else "<head>"
    body, end = page.replace(head, head + meta, 1).rsplit("</body>", 1)
    return f"{body}{FOOTER.format(line.replace('|', '<wbr>|'))}</body>{end}"


FOOTER = (
    '<footer style="font:14px/1.4 ui-monospace,monospace;overflow-wrap:anywhere;max-width:1100px;margin:2em auto;'
    'padding:0 1em">{}</footer>'
)


def _counts(value: object) -> bool:
    """Whether a parameter was given at all: 0 is a value, None, False and what is empty are none."""
    return value is not None and value is not False and value not in ("", [], ())


def _shown(value: object) -> str:
    """A parameter on one line, without the "|" that parts the line, and without folders.

    >>> _shown(["a=/home/me/a.txt", "wmt24/en-de", "x|y", "to German:"])
    'a=a.txt,wmt24/en-de,x%7Cy,to German:'
    """
    if isinstance(value, list | tuple):
        return ",".join(map(_shown, value))
    if value is True:
        return "yes"
    match = re.fullmatch(r"(?s)(?:(.*?)([=:]))?(.*)", without_password(str(value)))
    head, mark, name = match.groups(default="") if match else ("", "", "")  # it fits every text
    text = head + mark + (_own_name(name) if name and _is_place(name) else name)
    text = re.sub(r"[\s\x00-\x1f\x7f]+", " ", text).replace("|", "%7C")
    return text.encode("utf-8", "backslashreplace").decode()


def _is_place(name: str) -> bool:
    """Whether a text is an absolute path, or leads to something that is there."""
    try:
        return Path(name).expanduser().is_absolute() or Path(name).exists()
    except (OSError, ValueError, RuntimeError):
        # too long for a name, with a NUL, or of a user who is not there
        return False


def _own_name(name: str) -> str:
    return Path(name).expanduser().resolve().name


def version_of(name: str) -> str | None:
    """The installed version of a distribution; None where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
