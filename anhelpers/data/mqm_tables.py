"""The tables in ``data/mqm`` that say what an error weighs and what it counts for: CSV files that a class can edit.

A scheme: ``category,dimension,source``. Weights: ``severity,category,weight,source``. A mapping: ``kind,from,to``, what
another corpus calls a column, a severity or a category. The first row that fits decides; ``*`` stands for anything;
case, spaces, "_" and "-" are insignificant. A table of your own is called by the name of its file and a mark of its
rows, as in "mine@5f2c0a91".
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import checks
from ..errors import DataError
from .fetch import bundled
from .lines import csv_cells, csv_number, csv_rows, read_lines
from .rating_names import SEVERITIES, category_key, close_category, column_key

if TYPE_CHECKING:
    from .ratings import Ratings

__all__ = [
    "DIMENSIONS",
    "RatingMap",
    "Scheme",
    "Weights",
    "choose_scheme",
    "load_map",
    "load_scheme",
    "load_weights",
    "table_notes",
]

DIMENSIONS = ("accuracy", "fluency", "ignored", "none")
"""What a category counts for; an ignored error still has its weight in the penalty, "none" is no error."""

MOST_POINTS = 1e6
"""The highest weight that is read; sums of far higher ones are no numbers any more."""

_HEADER = ("kind", "from", "to")
_COLUMNS = (
    "system",
    "doc",
    "docSegId",
    "doc_id",
    "globalSegId",
    "seg_id",
    "rater",
    "source",
    "target",
    "category",
    "severity",
)


@dataclass(frozen=True)
class Scheme:
    """Which categories are accuracy and which fluency: rows (category, dimension, source), the first that fits wins."""

    name: str
    rows: tuple[tuple[str, str, str], ...]

    def dimension(self, category: str) -> str | None:
        """One of DIMENSIONS, or None where no row fits."""
        return next(
            (dimension for pattern, dimension, _ in self.rows if _fits(pattern, category)), None
        )

    def moved(self, category: str, dimension: str) -> Scheme:
        """This scheme with a category counted for another of DIMENSIONS: a row in front, as the first that fits wins.

        >>> Scheme("mine", (("*", "fluency", "ours"),)).moved("Terminology", "accuracy").dimension("Terminology")
        'accuracy'
        """
        row = category, checks.one_of(dimension, DIMENSIONS, "dimension"), "moved"
        return Scheme(f"{self.name} with {category} as {dimension}", (row, *self.rows))

    def __str__(self) -> str:
        return _aligned(f"scheme {self.name}", self.rows)


@dataclass(frozen=True)
class Weights:
    """What an error weighs: rows (severity, category, weight, source), the first that fits wins."""

    name: str
    rows: tuple[tuple[str, str, float, str], ...]

    def weight(self, severity: str, category: str) -> float:
        """MQM points ≥ 0; nan where no row fits."""
        fitting = (w for s, c, w, _ in self.rows if _fits(s, severity) and _fits(c, category))
        return next(fitting, math.nan)

    def __str__(self) -> str:
        return _aligned(
            f"weights {self.name}", [(s, c, f"{w:g}", source) for s, c, w, source in self.rows]
        )


@dataclass(frozen=True)
class RatingMap:
    """What another corpus calls columns, severities and categories: rows (kind, from, to), the first that fits wins."""

    name: str
    rows: tuple[tuple[str, str, str], ...]

    @property
    def columns(self) -> dict[str, str]:
        """The names of columns, old -> new, both as `column_key` has them."""
        return {
            column_key(old): column_key(new)
            for kind, old, new in reversed(self.rows)
            if kind == "column"
        }

    def renamed(self, kind: str, name: str) -> str:
        """What a "severity" or a "category" is called here; the name itself where no row fits.

        >>> RatingMap("mine", (("severity", "crit*", "Major"),)).renamed("severity", "Critical")
        'Major'
        """
        return next(
            (new for what, old, new in self.rows if what == kind and _fits(old, name)), name
        )

    def unused(self, kind: str, names: Iterable[str]) -> list[str]:
        """The rows of a kind that decide for none of the names, quoted; columns are compared as `column_key`.

        Parameters
        ----------
        kind : one of column, severity, category. names : those of a file.
        """
        fits = _fits if kind != "column" else lambda old, name: column_key(old) == column_key(name)
        olds = [old for what, old, _ in self.rows if what == kind]
        used = {next((old for old in olds if fits(old, name)), None) for name in names}
        return [f"{kind} '{old}'" for old in olds if old not in used]

    def __str__(self) -> str:
        return _aligned(f"mapping {self.name}", self.rows)


def load_map(name: str | PathLike | RatingMap) -> RatingMap:
    """A mapping by name (bio-mqm) or from a CSV or TSV file with the header kind,from,to.

    A column is mapped to one of those of WMT (system, doc, docSegId, globalSegId, rater, source, target, category,
    severity), a severity to No-error, Neutral, Minor, Major or Critical, a category to any name.

    Raises
    ------
    DataError : another header, an empty cell, an unknown kind, column or severity, with its line.
    """
    if isinstance(name, RatingMap):
        return name
    path, rows = _place("map", name), []
    first: dict[tuple[str, ...], int] = {}
    lines = read_lines(path)
    delimiter = "\t" if lines and "\t" in lines[0] else ","
    for line, given in csv_cells(lines, path, delimiter=delimiter):
        cells = [cell.strip() for cell in given]
        if line == 1 and tuple(cells) != _HEADER:
            raise DataError(f"the header must be {','.join(_HEADER)}; it is {lines[0]}.", path, 1)
        if line > 1 and any(cells):
            if len(cells) != len(_HEADER) or not all(cells):
                raise DataError(
                    f"kind, from and to are wanted; it is '{delimiter.join(given)}'.", path, line
                )
            rows.append(row := _map_row(cells, path, line))
            _once(first, f"{row[0]} '{row[1]}'", row[:2], path, line)
    if not rows:
        raise DataError(
            f"there is no row in this mapping; its header is {','.join(_HEADER)}.", path
        )
    return RatingMap(_name(path, "map", rows), tuple(rows))


def _map_row(cells: list[str], path: Path, line: int) -> tuple[str, str, str]:
    """A row of a mapping, its new name spelled as it is known here."""
    kind, old, new = cells
    known = {
        "column": {column_key(name): name for name in _COLUMNS},
        "category": {category_key(new): new},
        "severity": {category_key(name): name for name in SEVERITIES},
    }
    if kind not in known:
        raise DataError(f"unknown kind '{kind}'; known: {', '.join(known)}.", path, line)
    key = (column_key if kind == "column" else category_key)(new)
    if key not in known[kind]:
        raise DataError(
            f"unknown {kind} '{new}' under 'to'; known: {', '.join(known[kind].values())}.",
            path,
            line,
        )
    return kind, old, known[kind][key]


def load_scheme(name: str | PathLike | Scheme) -> Scheme:
    """A scheme by name (wmt: en-de and ja-zh; en-es) or from a CSV file; a DataError names the line that is wrong."""
    if isinstance(name, Scheme):
        return name
    rows, path = [], _place("scheme", name)
    first: dict[tuple[str, ...], int] = {}
    for line, (category, dimension, source) in csv_rows(path, ("category", "dimension", "source")):
        if dimension not in DIMENSIONS:
            raise DataError(
                f"unknown dimension '{dimension}'; known: {', '.join(DIMENSIONS)}.", path, line
            )
        _once(first, f"category '{category}'", (category,), path, line)
        rows.append((category, dimension, source))
    return Scheme(_name(path, "scheme", rows), tuple(rows))


def load_weights(name: str | PathLike | Weights) -> Weights:
    """Weights by name (freitag2021, mt-metrics-eval, wmt24) or from a CSV file; a DataError names the wrong line."""
    if isinstance(name, Weights):
        return name
    rows, path = [], _place("weights", name)
    first: dict[tuple[str, ...], int] = {}
    for line, (severity, category, weight, source) in csv_rows(
        path, ("severity", "category", "weight", "source")
    ):
        points = csv_number(weight, "weight", path, line)
        if points > MOST_POINTS:
            told = (
                f"weight '{weight}' is above {MOST_POINTS:,.0f}, and 25 points are the most of "
                "published weights"
            )
            raise DataError(f"{told}; write MQM points.", path, line)
        _once(
            first, f"severity '{severity}', category '{category}'", (severity, category), path, line
        )
        rows.append((severity, category, points, source))
    return Weights(_name(path, "weights", rows), tuple(rows))


def _once(
    first: dict[tuple[str, ...], int], what: str, names: tuple[str, ...], path: Path, line: int
) -> None:
    """Remember the line of a row; a DataError where one of the same names came before, which would decide alone."""
    start = first.setdefault(tuple(map(category_key, names)), line)
    if start != line:
        raise DataError(
            f"{what} is in line {start}, too, and only the first row counts; delete one.",
            path,
            line,
        )


def choose_scheme(ratings: Ratings) -> str:
    """The bundled scheme that covers most of the ratings: en-es where categories have no slash, else wmt."""
    n = np.bincount(ratings.category, minlength=len(ratings.categories))
    schemes = {name: load_scheme(name) for name in ("wmt", "en-es")}
    covered = {
        name: sum(
            n[i] for i, category in enumerate(ratings.categories) if scheme.dimension(category)
        )
        for name, scheme in schemes.items()
    }
    return max(covered, key=covered.__getitem__)


def table_notes(ratings: Ratings, scheme: Scheme, weights: Weights) -> tuple[str, ...]:
    """Notes on rows that decide nothing, and on categories that seem to be misspelt, in the ratings or in a table.

    Names of categories that are close are told only where the scheme or the weights say other things of them.

    Parameters
    ----------
    scheme, weights : the tables that these ratings are scored by.
    """
    tables = {
        f"scheme {scheme.name}": [("*", row[0]) for row in scheme.rows],
        f"weights {weights.name}": [row[:2] for row in weights.rows],
    }
    names = (row.replace("*", "") for rows in tables.values() for _, row in rows)
    known = {category_key(name): name for name in names if name and not name.endswith("/")}

    def says(category: str) -> list:
        return [
            scheme.dimension(category),
            *(weights.weight(severity, category) for severity in ratings.severities),
        ]

    notes, others = [], []
    for i, category in enumerate(ratings.categories):
        if category_key(category) in known:
            others.append(category)
        elif (near := close_category(category, known.values())) and says(category) != says(near):
            n = int((ratings.category == i).sum())
            told = (
                f"category '{category}' ({n} row{'s' * (n != 1)}) does not count as '{near}', "
                "which is close to it"
            )
            notes.append(
                f"{told}; if it is that, write so, or give --map a file with "
                f"category,{category},{near}."
            )
    for table, rows in tables.items():
        if "@" not in table:
            continue  # those of the package are in order
        if idle := _idle(rows, ratings.severities):
            notes.append(f"{table}, without effect: {', '.join(idle)}.")
        exact = {category_key(category) for _, category in rows}
        rest = [category for category in others if category_key(category) not in exact]
        for severity, category in rows:
            name = category.replace("*", "")
            used = (
                not name
                or name.endswith("/")
                or any(_fits(category, seen) for seen in ratings.categories)
            )
            if not used and (near := close_category(name, rest)) and says(name) != says(near):
                notes.append(
                    f"{table}: {_row(severity, category)} is in none of these ratings; is '{near}' "
                    "meant?"
                )
    return tuple(notes)


def _idle(rows: Sequence[tuple[str, str]], severities: Sequence[str]) -> list[str]:
    """The rows (severity, category) that never decide, and why: earlier ones catch each severity that they fit.

    A row for all categories is there for every known severity, one for some for the severities of the ratings.
    """
    told: list[str] = []
    for i, (severity, category) in enumerate(rows):
        fitting = [name for name in SEVERITIES if _fits(severity, name)]
        there = [name for name in fitting if category == "*" or name in severities]
        row = _row(severity, category)
        if not fitting:
            told.append(f"{row} (no severity is called so)")
        elif there and all(
            any(_fits(s, name) and _fits(c, category) for s, c in rows[:i]) for name in there
        ):
            told.append(f"{row} (an earlier row catches all of it; put it further up)")
    return told


def _row(severity: str, category: str) -> str:
    """A row of a table, for a note."""
    return (
        f"category '{category}'"
        if severity == "*"
        else f"severity '{severity}', category '{category}'"
    )


def _place(kind: str, name: str | PathLike) -> Path:
    """The file of a table: a path, or a bundled name."""
    if Path(name).suffix.lower() in (".csv", ".tsv") or os.path.isfile(name):
        return Path(name)
    known = [path.stem.removeprefix(f"{kind}.") for path in bundled("mqm").glob(f"{kind}.*.csv")]
    return bundled(f"mqm/{kind}.{checks.one_of(str(name), known, f'MQM {kind}')}.csv")


def _name(path: Path, kind: str, rows: list[tuple]) -> str:
    """The name of a table; one of your own is marked by what it says, so that signatures tell edited copies apart."""
    name = path.stem.removeprefix(f"{kind}.")
    own = path.resolve().parent != bundled("mqm")
    return f"{name}@{hashlib.sha256(repr(rows).encode()).hexdigest()[:8]}" if own else name


@lru_cache(65536)
def _fits(pattern: str, name: str) -> bool:
    """Whether a name has a pattern's form."""
    return (
        re.fullmatch(
            ".*".join(map(re.escape, category_key(pattern).split("*"))), category_key(name)
        )
        is not None
    )


def _aligned(title: str, rows: Iterable[tuple[str, ...]]) -> str:
    """A table as text, its columns aligned."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join([title, *("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)])
