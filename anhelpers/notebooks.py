"""The teaching notebooks: their titles, questions and parameters, in one place."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any

from . import checks
from .data.fetch import bundled
from .data.lines import table_lines
from .data.writing import as_utf8
from .errors import DataError, UnknownName, need

__all__ = [
    "About",
    "about",
    "cells_of",
    "check_parameters",
    "notebook_paths",
    "parameters_of",
    "parse_value",
]


def __dir__() -> list[str]:
    return __all__


@dataclass(frozen=True)
class About:
    """What the first cell of a notebook tells: title, minutes, the notebooks to read before it, and the question."""

    name: str
    title: str
    minutes: int
    before: tuple[str, ...]
    question: str


def notebook_paths(names: Sequence[str] = ()) -> list[Path]:
    """The notebooks of the collection by name (all without names), or any notebook by path; each once.

    Raises
    ------
    UnknownName; DataError for two of one name, whose results would replace each other.
    """
    there = {
        p.stem: p for p in sorted((bundled("teaching").parents[1] / "notebooks").glob("*.ipynb"))
    }
    paths: list[Path] = []
    for name in names or there:
        if Path(name).suffix.lower() == ".ipynb" and Path(name).is_file():
            paths.append(Path(name))
        elif name.removesuffix(".ipynb") in there:
            paths.append(there[name.removesuffix(".ipynb")])
        else:
            raise UnknownName("notebook", name, there)
    named: dict[str, Path] = {}
    for path in paths:
        if named.setdefault(path.stem, path) != path:
            raise DataError(
                f"{named[path.stem]} has the same name, by which results are called; take one at "
                "a time, into folders of their own.",
                path,
            )
    return [*named.values()]


def about(path: Path) -> About:
    """What a notebook says of itself in its first cell, by whose form the collection is listed everywhere.

    The form: "# title", the first line that ends in a question mark, and a line "About N minutes. Before this: " with
    links to notebooks or "nothing".
    """
    text = "".join(cell.source for cell in _book(path).cells[:1])
    parts = (r"^# (.+)$", r"About (\d+) minutes", r"Before this: (.+)$", r"^([^#\s].*\?)$")
    found = [re.search(part, text, re.MULTILINE) for part in parts]
    if not all(found):
        raise DataError(
            "the first cell does not tell title, minutes, what to read before, and the question.",
            path,
        )
    title, minutes, before, question = (match[1] for match in found if match)
    before = tuple(re.findall(r"\((\w+)\.ipynb\)", before))
    return About(path.stem, title, int(minutes), before, re.sub(r"[*`]", "", question))


def cells_of(path: Path) -> dict[str, Any]:
    """Id → cell of a notebook, in order: each has cell_type, source, metadata and, of code, outputs."""
    return {cell.id: cell for cell in _book(path).cells}


def parameters_of(path: Path) -> dict[str, str]:
    """Name -> default (as written) of the cell tagged `parameters`; empty where there is none."""
    papermill = need("papermill", "running notebooks")
    _book(path)
    try:
        return {name: p["default"] for name, p in papermill.inspect_notebook(str(path)).items()}
    except ValueError:  # no kernel or language is named
        raise DataError(
            "this notebook names no kernel; open it in JupyterLab, choose one and save it.", path
        ) from None


def _book(path: Path) -> Any:
    """The notebook of a file, in version 4; a DataError where it is none."""
    nbformat, text = need("nbformat", "reading notebooks"), "\n".join(table_lines(path))
    try:
        book = nbformat.reads(text, 4)
        nbformat.validate(book)
    except Exception as error:  # a damaged notebook ends in whatever its readers raise
        raise DataError(
            "this is no notebook of Jupyter, or a damaged one; save it again, or take a copy.", path
        ) from error
    return book


def parse_value(text: str) -> Any:
    """A Python literal where the text is one (``5``, ``0.1``, ``None``, ``['chrf']``), else the text itself.

    Literals that no parameter can be, such as a set or a complex number, are texts as well: a file may be called so.

    >>> parse_value("5"), parse_value("wmt24/en-de"), parse_value("true"), parse_value("null"), parse_value("{1,2}")
    (5, 'wmt24/en-de', True, None, '{1,2}')
    """
    spelled = {"true": True, "false": False, "null": None}
    if text in spelled:
        return spelled[text]
    try:
        return _plain(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        # the last two: nested too deep
        return text


def _plain(value: Any) -> Any:
    """A value of the kinds that papermill writes into a notebook as they are; TypeError for any other.

    Numbers of numpy become Python's, tuples lists, paths texts: papermill would write their repr as a text.
    """
    if isinstance(value, str) and not value.isascii():
        as_utf8(value, "a notebook's parameter")
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (Integral, Real)):
        return int(value) if isinstance(value, Integral) else float(value)
    if isinstance(value, PathLike):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(one) for key, one in value.items()}
    raise TypeError(
        f"{value!r:.60} ({type(value).__name__}) is no text, number, list or dictionary of these"
    )


def check_parameters(paths: Sequence[Path], given: Mapping[str, Any]) -> dict[Path, dict[str, Any]]:
    """Of the parameters `given`, those that each notebook takes, as values that can be written into it.

    Parameters
    ----------
    given : name -> value, for all the notebooks at once.

    Raises
    ------
    UnknownName : a parameter that no notebook takes. DataError : a value of another kind than a notebook's own, such
        as a text where a number stands; None is for parameters alone whose own value is None or a text.
    """
    takes = {path: parameters_of(path) for path in paths}
    known = {name for names in takes.values() for name in names}
    for name in given:
        if name not in known:
            raise UnknownName(f"parameter of {', '.join(p.stem for p in paths)}", name, known)
    return {
        path: {
            name: _fitting(name, value, takes[path][name])
            for name, value in given.items()
            if name in takes[path]
        }
        for path in paths
    }


def _fitting(name: str, value: Any, default: str) -> Any:
    """A parameter's value, of the kind that its default has, as written in the notebook; else a DataError."""
    try:
        value = _plain(value)
    except TypeError as error:
        raise DataError(f"parameter {name}: {error}; a notebook cannot be given it.") from None
    own = parse_value(default[1:-1] if default[:1] in "'\"" else default)
    if default[:1] in ("'", '"'):
        if not (value is None or isinstance(value, str)):
            raise DataError(
                f"parameter {name} is {value!r:.60}, and a text is wanted, such as {default}; "
                f"put quotes around it: \"'{value}'\"."
            )
    elif isinstance(own, list) and not isinstance(value, list):
        raise DataError(
            f"parameter {name} is {value!r:.60}, and a list is wanted, such as {default}."
        )
    elif isinstance(own, int) and not isinstance(own, bool):
        return checks.whole(
            f"parameter {name}",
            value,
            0,
            checks.LARGEST_SEED if name == "seed" else checks.MOST_DRAWS,
        )
    elif isinstance(own, float) and not (isinstance(value, (int, float)) and math.isfinite(value)):
        raise DataError(
            f"parameter {name} is {value!r:.60}, and a number is wanted, such as {default}."
        )
    return value
