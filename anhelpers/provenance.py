"""The origin of a file: one line of versions, parameters and seeds in every table, chart and page.

The line has no date, no folder and no user, so that the same command writes the same bytes anywhere.
"""

from __future__ import annotations

import csv
import html
import io
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from . import __version__
from .data.lines import read_bytes
from .data.writing import as_utf8, fresh_file, turn, write_bytes, write_text
from .errors import DataError, without_password
from .metrics import signature_of

if TYPE_CHECKING:
    import jinja2
    import pandas as pd

    Table: TypeAlias = pd.DataFrame | Sequence[Mapping[str, object]]
    """A data frame, or rows, column -> value, where pandas would take longer to load than all else."""

__all__ = [
    "MAKING",
    "TOGETHER",
    "as_csv",
    "environment",
    "from_template",
    "in_page",
    "line_of",
    "made_by",
    "made_lines",
    "made_of",
    "making",
    "mark_of",
    "version_of",
    "with_made_by",
    "write_result",
]

MAKING = "ANHELPERS_MAKING"
"""The environment variable with the command or notebook that is running, for the kernels and workers it starts."""

TOGETHER = "MADE.txt"
"""The file with the lines of all tables of a folder; a table alone has NAME.csv.made beside it."""

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
    "vl-convert-python": "anhelpers.charts.offline",  # which has it called by another process
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
    installed : of what another process made, such as a notebook's kernel: all libraries of this environment. So it is
        within a notebook that `anhelpers run` runs, whose kernel may have begun with libraries that it does not use.

    >>> made_by().startswith(f"anhelpers:{__version__}|")
    True
    """
    versions, made = {"python": platform.python_version()}, os.environ.get(MAKING, "")
    installed = installed or made.startswith("notebook:")
    for name, module in LIBRARIES.items():
        took_part = installed or (module in sys.modules and (drawn or name not in DRAWING))
        if took_part and (found := version_of(name)):
            versions[name] = found
    return "|".join(filter(None, [f"anhelpers:{__version__}", made, signature_of(versions)]))


def as_csv(table: Table) -> str:
    r"""A table as CSV, the same from rows as from their data frame; None and nan are empty.

    Parameters
    ----------
    table : a data frame, or rows: column -> value. A row may lack columns.

    >>> as_csv([{"name": "a, b", "value": 0.1}, {"name": "c", "value": None, "low": 2}])
    'name,value,low\n"a, b",0.1,\nc,,2\n'
    """
    if not isinstance(table, Sequence):
        return table.to_csv(index=False, lineterminator="\n")
    names = dict.fromkeys(name for row in table for name in row)
    rows = csv.writer(text := io.StringIO(), lineterminator="\n")
    rows.writerow(names)
    for row in table:
        values = (row.get(name) for name in names)
        rows.writerow("" if value is None or value != value else value for value in values)
    return text.getvalue()


def line_of(table: Table) -> str:
    """`made_by` and what it made: |table: and the first 8 hex digits of the SHA-256 of the table as CSV.

    So two tables that one command made of other contents of files of one name do not say the same.
    """
    data = as_csv(table).encode("utf-8", "surrogatepass")
    return f"{made_by()}|table:{sha256(data).hexdigest()[:8]}"


def mark_of(line: str) -> str:
    """The 8 hex digits that stand for a line of `made_by`: the first of the SHA-256 of its UTF-8.

    >>> mark_of("anhelpers:0.1.0|python:3.11.7")
    '972107b5'
    """
    return sha256(line.encode()).hexdigest()[:8]


def with_made_by(table: Table, line: str) -> Table:
    """The table with a last column made_by, the same in every row: package, version and the mark of its line.

    Parameters
    ----------
    line : of `line_of`; as it is long, it stands once beside the table, and not in each row.
    """
    made = {"made_by": f"anhelpers {__version__} {mark_of(line)}"}
    return (
        [{**row, **made} for row in table] if isinstance(table, Sequence) else table.assign(**made)
    )


def made_lines(path: str | PathLike) -> dict[str, str]:
    """Mark -> line of a file NAME.csv.made or MADE.txt: a mark, a tab and a line each; {} where there is none.

    A line that does not fit its mark is left out: somebody has changed it.
    """
    if not Path(path).is_file():
        return {}
    rows = (row.partition("\t") for row in read_bytes(path).decode("utf-8", "replace").splitlines())
    return {mark: line for mark, _, line in rows if mark == mark_of(line)}


def write_result(path: str | PathLike, table: Table) -> Path:
    """A table as .csv or .parquet, with what made it: its mark in each row, its line once. Returns the path.

    The line goes into NAME.csv.made before the table takes its place; of parquet it is `made_by` of the file's
    metadata.

    Raises
    ------
    DataError : no such folder, a full disk, no right to write; a text that is no UTF-8.
    """
    path, line = Path(path), line_of(table)
    table = with_made_by(table, line)
    if path.suffix.lower() == ".parquet":
        return write_bytes(path, _parquet(table, line))
    data = as_utf8(as_csv(table), path)
    with turn(path.parent), fresh_file(path) as fresh:
        fresh.write_bytes(data)
        write_text(f"{path}.made", f"{mark_of(line)}\t{line}\n")
    return path


def _parquet(table: Table, line: str) -> bytes:
    import pandas as pd
    import pyarrow
    from pyarrow import parquet

    whole = pyarrow.Table.from_pandas(pd.DataFrame(table), preserve_index=False)
    told = {**whole.schema.metadata, "made_by": line}
    parquet.write_table(whole.replace_schema_metadata(told), buffer := io.BytesIO())
    return buffer.getvalue()


def made_of(path: str | PathLike) -> list[str]:
    """The lines of `made_by` that a file carries, each once: several where results were put together.

    Of a CSV table they are looked up in NAME.csv.made and MADE.txt beside it; tables of older versions have the whole
    line in each row. Read are also parquet, JSON and JSONL, notebooks, SVG, PNG, PDF, HTML, and texts for a paper.

    Raises
    ------
    DataError : no such file, one that names nobody, a table whose line is not beside it, or a CSV table that is not
        the one that was written.
    """
    path = Path(path)
    suffix, data = path.suffix.lower(), read_bytes(path)
    known: dict[str, str] = {}
    if suffix in (".csv", ".parquet"):
        said, own = _marks(path, data)
        known = made_lines(path.with_name(TOGETHER)) | {mark_of(line): line for line in own}
        said = said or own  # a table without rows
    elif suffix == ".made" or path.name == TOGETHER:
        said = [*made_lines(path).values()]
    else:
        said = [line for line in _told(data, suffix) if line.startswith("anhelpers:")]
    if not said:
        raise DataError("does not say what made it; results of anhelpers do.", path)
    lines = [one if "|" in one else known.get(one.rpartition(" ")[2], "") for one in said]
    if "" in lines:
        raise DataError(
            f"names {said[lines.index('')]}, whose line is neither in {path.name}.made nor in "
            f"{TOGETHER} beside it; bring that file along, or make the table again.",
            path,
        )
    made = re.search(r"\|table:(\w+)$", lines[0])
    if suffix == ".csv" and len(lines) == 1 and made and made[0] != _contents(data):
        raise DataError(
            f"is not as it was written: rows or numbers have changed since. It was made by {lines[0]}.",
            path,
        )
    return lines


def _contents(data: bytes) -> str:
    """What `line_of` says at its end of the table in the bytes of a CSV file."""
    import pandas as pd

    table = pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False)
    return line_of(table.drop(columns="made_by"))[-len("|table:12345678") :]


def _marks(path: Path, data: bytes) -> tuple[list[str], list[str]]:
    """What stands in the column made_by of a table, each once; and the lines in NAME.csv.made, or in its metadata."""
    import pandas as pd

    try:
        if path.suffix.lower() == ".csv":
            column = pd.read_csv(io.BytesIO(data), usecols=["made_by"], dtype=str).made_by
            return column.dropna().unique().tolist(), [*made_lines(f"{path}.made").values()]
        from pyarrow import parquet

        table = parquet.read_table(io.BytesIO(data), columns=["made_by"])
        own = (table.schema.metadata or {}).get(b"made_by", b"").decode()
        return table["made_by"].unique().drop_null().to_pylist(), [own] if own else []
    except (ValueError, KeyError, OSError):  # no such column, or no table at all
        return [], []


def _told(data: bytes, suffix: str) -> list[str]:
    """The lines in a file that is no table, each once."""
    if suffix == ".png":
        at = data.find(b"iTXtSoftware\0") + 4
        chunk = data[at : at + int.from_bytes(data[at - 8 : at - 4], "big")] if at > 7 else b""
        return [chunk.removeprefix(b"Software\0\0\0\0\0").decode("utf-8", "replace")]
    place, read = PLACES.get(suffix, (b"(?!)", str))
    try:
        if suffix == ".ipynb":  # whose pictures have lines of their own
            return [str(json.loads(data)["metadata"]["made_by"])]
        return [read(text.decode()) for text in dict.fromkeys(re.findall(place, data))]
    except (ValueError, KeyError, TypeError):  # not as we write it
        return []


def _from_hex(text: str) -> str:
    return bytes.fromhex(text).decode("utf-16-be")


PLACES: dict[str, tuple[bytes, Callable[[str], str]]] = {
    ".svg": (rb"<metadata>([^<]+)</metadata>", html.unescape),
    ".html": (rb'<meta name="generator" content="([^"]+)">', html.unescape),
    ".pdf": (rb"/Creator <feff(\w+)>", _from_hex),
    **dict.fromkeys((".tex", ".bib"), (rb"\A% (.+)", str)),
    ".txt": (rb"\((anhelpers:.+)\)\.\n?\Z", str),
    **dict.fromkeys(
        (".json", ".jsonl", ".ipynb"), (rb'"made_by": ?("(?:[^"\\]|\\.)*")', json.loads)
    ),
}
"""Suffix -> where the line stands in such a file, and how its text is read."""


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


def from_template(template: str, **values: object) -> str:
    """A page of `anhelpers/templates`, in which these values stand as text: Jinja2 escapes them, but for those that
    the template calls safe.

    Parameters
    ----------
    template : name of the file. values : name -> what stands there; one that the template wants and is not given is
        an error.

    >>> "<h1>R &amp; Q</h1>" in from_template("report.html", title="R & Q", chart="", parts={})
    True
    """
    return _templates().get_template(template).render(values)


@cache
def _templates() -> jinja2.Environment:
    """The templates, which are files, so that whoever wants another page edits one."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


FOOTER = (
    '<footer style="font:14px/1.4 ui-monospace,monospace;overflow-wrap:anywhere;max-width:1100px;margin:2em auto;'
    'padding:0 1em">{}</footer>'
)


def _counts(value: object) -> bool:
    """Whether a parameter was given at all: 0 is a value, None, False and what is empty are none."""
    return value is not None and value is not False and value not in ("", [], ())


def _shown(value: object) -> str:
    """A parameter on one line, without the "|" that parts the line, and without folders.

    >>> _shown(["a=/home/me/a.txt", "/home/me/b.txt:LLM", "wmt24/en-de", "x|y", "to German:"])
    'a=a.txt,b.txt:LLM,wmt24/en-de,x%7Cy,to German:'
    """
    if isinstance(value, list | tuple):
        return ",".join(map(_shown, value))
    if value is True:
        return "yes"
    text = _without_folder(plain := without_password(str(value)))
    if text == plain and (match := re.fullmatch(r"(?s)(.*?[=:])(.+)", plain)):
        text = match[1] + _without_folder(match[2])
    text = re.sub(r"[\s\x00-\x1f\x7f]+", " ", text).replace("|", "%7C")
    return text.encode("utf-8", "backslashreplace").decode()


def _without_folder(text: str) -> str:
    """The own name of a file or folder, also of one with the kind of its system behind it; else the text."""
    file, _, kind = text.rpartition(":")
    own = _own_name(file)
    return _own_name(text) or (f"{own}:{kind}" if own else text)


def _own_name(text: str) -> str | None:
    with suppress(OSError, ValueError, RuntimeError):  # too long, with a NUL, of a user not there
        if text and ((path := Path(text).expanduser()).is_absolute() or path.exists()):
            return path.resolve().name
    return None


@cache
def version_of(name: str) -> str | None:
    """The installed version of a distribution; None where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
