"""The tables in ``data/mqm`` that say what an error weighs and what it counts for: CSV files that a class can edit.

A scheme: ``category,dimension,source``. Weights: ``severity,category,weight,source``. The first row that fits decides;
``*`` stands for anything; case, spaces, "_" and "-" are insignificant. A table of your own is called by the name of its
file and a mark of its rows, as in "mine@5f2c0a91".
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path

from .. import checks
from ..errors import DataError
from .catalog import bundled
from .lines import csv_number, csv_rows
from .ratings import category_key

__all__ = ["DIMENSIONS", "Scheme", "Weights", "load_scheme", "load_weights"]

DIMENSIONS = ("accuracy", "fluency", "ignored", "none")
"""What a category counts for; an ignored error still has its weight in the penalty, "none" is no error."""


@dataclass(frozen=True)
class Scheme:
    """Which categories are accuracy and which fluency: rows (category, dimension, source), the first that fits wins."""

    name: str
    rows: tuple[tuple[str, str, str], ...]

    def dimension(self, category: str) -> str | None:
        """One of DIMENSIONS, or None where no row fits."""
        return next((dimension for pattern, dimension, _ in self.rows if _fits(pattern, category)), None)

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
        return _aligned(f"weights {self.name}", [(s, c, f"{w:g}", source) for s, c, w, source in self.rows])


def load_scheme(name: str | PathLike | Scheme) -> Scheme:
    """A scheme by name (wmt: en-de and ja-zh; en-es) or from a CSV file; a DataError names the line that is wrong."""
    if isinstance(name, Scheme):
        return name
    rows, path = [], _place("scheme", name)
    for line, (category, dimension, source) in csv_rows(path, ("category", "dimension", "source")):
        if dimension not in DIMENSIONS:
            raise DataError(f"unknown dimension '{dimension}'; known: {', '.join(DIMENSIONS)}.", path, line)
        rows.append((category, dimension, source))
    return Scheme(_name(path, "scheme", rows), tuple(rows))


def load_weights(name: str | PathLike | Weights) -> Weights:
    """Weights by name (freitag2021, mt-metrics-eval, wmt24) or from a CSV file; a DataError names the wrong line."""
    if isinstance(name, Weights):
        return name
    rows, path = [], _place("weights", name)
    for line, (severity, category, weight, source) in csv_rows(path, ("severity", "category", "weight", "source")):
        rows.append((severity, category, csv_number(weight, "weight", path, line), source))
    return Weights(_name(path, "weights", rows), tuple(rows))


def _place(kind: str, name: str | PathLike) -> Path:
    """The file of a table: a path, or a bundled name."""
    if Path(name).suffix.lower() == ".csv" or os.path.isfile(name):
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
    return re.fullmatch(".*".join(map(re.escape, category_key(pattern).split("*"))), category_key(name)) is not None


def _aligned(title: str, rows: Iterable[tuple[str, ...]]) -> str:
    """A table as text, its columns aligned."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join([title, *("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)])
