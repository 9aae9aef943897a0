"""The origin of results: versions, command, parameters and seed, in .made.json beside the files."""

from __future__ import annotations

import html
import json
import os
import platform
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from . import __version__
from .data.io import parse_json, write_atomic
from .errors import DataError, one_line
from .metrics import signature_of

if TYPE_CHECKING:
    import jinja2

# Environment variable: the running command or notebook, for the kernels and workers it starts.
_MAKING = "ANHELPERS_MAKING"

# File name → origin, of the results in a folder.
MADE = ".made.json"

_LIBRARIES = "altair cvxpy numba numpy pandas sacrebleu scipy torch transformers vl-convert-python"


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Context manager: set environment variables of this process, and restore them."""
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
    """Context manager: `made_by` names these parts (command or notebook, parameters, seed).

    Empty values are left out; of files and folders only the name is kept.
    """
    shown = {
        name: _shown(value)
        for name, value in parts.items()
        if value is not None and value is not False and value not in ("", [], ())
    }
    with environment(**{_MAKING: signature_of(shown)}):
        yield


def made_by(*, installed: bool = False) -> str:
    """One line: anhelpers:VERSION|command with parameters|python:VERSION|versions of loaded libraries.

    It has no date, folder or user: the same command gives the same line anywhere.

    Parameters
    ----------
    installed : bool
        All installed libraries, for results of a different process such as a notebook's kernel.

    >>> made_by().startswith(f"anhelpers:{__version__}|")
    True
    """
    versions, made = {"python": platform.python_version()}, os.environ.get(_MAKING, "")
    for name in _LIBRARIES.split():
        module = name.removesuffix("-python").replace("-", "_")
        if installed or made.startswith("notebook:") or module in sys.modules:
            with suppress(PackageNotFoundError):
                versions[name] = version(name)
    return "|".join(filter(None, [f"anhelpers:{__version__}", made, signature_of(versions)]))


def write_made(folder: Path, names: Collection[str]) -> Path:
    """Record origin and SHA-256 of files of a folder in its .made.json; other files' entries stay."""
    path, known = folder / MADE, {}
    with _alone(folder):
        with suppress(DataError):  # none yet, or a damaged one
            known = parse_json(path.read_bytes() if path.is_file() else b"{}", path)
        here = {one_line(one.name): one for one in folder.iterdir() if one.is_file()}
        known = {name: line for name, line in known.items() if name in here}
        for name, file in here.items():
            if file.name in names:
                known[name] = f"{made_by()}|sha256:{sha256(file.read_bytes()).hexdigest()}"
        text = json.dumps(known, indent=1, sort_keys=True, ensure_ascii=False)
        return write_atomic(path, text + "\n")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Context manager: other processes wait, where the system can lock a folder."""
    with ExitStack() as stack:
        with suppress(ImportError, OSError):  # Windows, some network drives
            import fcntl

            lock = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def in_page(page: str, line: str | None = None) -> str:
    """An HTML page with its origin (default: `made_by()`) in the head and as a footer.

    >>> in_page("<head></head><body>x</body>").count("anhelpers:")
    2
    """
    line = html.escape(made_by() if line is None else line)
    # a browser reads the character set from the first 1,024 bytes
    charset = re.search(r"<meta charset=[^>]*>", page[:1024])
    head = charset[0] if charset else "<head>"
    meta = f'<meta name="generator" content="{line}">'
    body, end = page.replace(head, head + meta, 1).rsplit("</body>", 1)
    return f"{body}{_FOOTER.format(line.replace('|', '<wbr>|'))}</body>{end}"


_FOOTER = (
    '<footer style="font:14px/1.4 system-ui,sans-serif;overflow-wrap:anywhere;margin:32px 0">'
    "<details><summary>How this page was made</summary>{}</details></footer>"
)


def from_template(template: str, **values: object) -> str:
    """Render a file of `anhelpers/templates`; HTML is escaped, a missing value raises.

    Templates of LaTeX write << name >> and <% for … %>.

    >>> "<h1>R &amp; Q</h1>" in from_template("plane.html", title="R & Q", chart="", parts={})
    True
    """
    return _templates(template.endswith(".tex")).get_template(template).render(values)


@cache
def _templates(latex: bool) -> jinja2.Environment:
    import jinja2

    ends = [
        f"{of}_{end}_string" for of in ("block", "variable", "comment") for end in ("start", "end")
    ]
    marks = dict(zip(ends, ("<%", "%>", "<<", ">>", "<#", "#>"), strict=True))
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=jinja2.select_autoescape(),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **(marks if latex else {}),  # type: ignore[arg-type]
    )


def _shown(value: object) -> str:
    """A parameter on one line, without "|" and without folders.

    >>> _shown(["a=/home/me/a.txt", "wmt24/en-de", "x|y"])
    'a=a.txt,wmt24/en-de,x%7Cy'
    """
    if isinstance(value, list | tuple):
        return ",".join(map(_shown, value))
    name, equals, text = one_line(str(value)).rpartition("=")
    # too long, NUL, unknown user
    with suppress(OSError, ValueError, RuntimeError):
        if text and ((path := Path(text).expanduser()).is_absolute() or path.exists()):
            text = re.sub(r":\[\d+\]$", "", path.resolve().name)  # of a pipe
    text = re.sub(r"[\s\x00-\x1f\x7f]+", " ", name + equals + text).replace("|", "%7C")
    return "yes" if value is True else text.encode("utf-8", "backslashreplace").decode()
