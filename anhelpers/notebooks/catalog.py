"""The collection: names, titles, questions and parameters of its notebooks."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..checks import one_of
from ..data.fetch import bundled
from ..errors import DataError, need


@dataclass(frozen=True)
class _About:
    """The first cell of a notebook: title, minutes, notebooks to read before, and the question."""

    name: str
    title: str
    minutes: int
    before: tuple[str, ...]
    question: str


def notebook_paths(names: Sequence[str] = ()) -> list[Path]:
    """Paths of notebooks of the collection by name (default: all), or of others by path.

    Raises
    ------
    UnknownName : no such notebook. DataError : two notebooks of one name, whose results would collide.
    """
    folder = bundled("teaching").parents[1] / "notebooks"
    known = {path.stem: path for path in sorted(folder.glob("*.ipynb"))}
    paths: dict[str, Path] = {}
    for name in names or known:
        short = name.removesuffix(".ipynb")
        given = Path(name) if Path(name).is_file() else None
        path = given or known[one_of(short, known, "notebook")]
        if paths.setdefault(path.stem, path) != path:
            raise DataError(f"same name as {paths[path.stem]}. Run them one at a time.", path)
    return [*paths.values()]


def about(path: Path) -> _About:
    """Read title, minutes, prerequisites and question from the first cell of a notebook.

    The form: "# title", the first line that ends in a question mark, and a line "About N minutes. Before this: " with
    links to notebooks or "nothing".
    """
    text = "".join(cell.source for cell in _read(path).cells[:1])
    parts = (r"^# (.+)$", r"About (\d+) minutes", r"Before this: (.+)$", r"^([^#\s].*\?)$")
    found = [match[1] for part in parts if (match := re.search(part, text, re.MULTILINE))]
    title, minutes, before, question = found
    links = tuple(re.findall(r"\((\w+)\.ipynb\)", before))
    return _About(path.stem, title, int(minutes), links, re.sub(r"[*`]", "", question))


def _parameters_of(path: Path) -> dict[str, str]:
    """Name → default (source text) of the cell tagged `parameters`; empty if there is none."""
    papermill = need("papermill", "running notebooks")
    _read(path)
    try:
        return {name: p["default"] for name, p in papermill.inspect_notebook(str(path)).items()}
    except ValueError:  # neither kernel nor language
        raise DataError("no kernel named. Open it in JupyterLab, choose one, save.", path) from None


def _read(path: Path) -> Any:
    """A notebook as nbformat 4; a DataError if the file is none."""
    nbformat = need("nbformat", "reading notebooks")
    try:
        book = nbformat.read(path, 4)
        nbformat.validate(book)
    except Exception as error:  # nbformat raises many kinds for a damaged file
        raise DataError("not a readable Jupyter notebook.", path) from error
    return book


def parse_value(text: str) -> Any:
    """A Python literal if the text is one (``5``, ``None``, ``['chrf']``), else the text itself.

    >>> parse_value("5"), parse_value("wmt24/en-de"), parse_value("true"), parse_value("null")
    (5, 'wmt24/en-de', True, None)
    """
    spelled = {"true": True, "false": False, "null": None}
    if text in spelled:
        return spelled[text]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text
    return text if isinstance(value, set | complex | bytes) else value
