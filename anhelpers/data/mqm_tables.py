"""The tables in ``data/mqm``: the weight of each error and the axis of each category, as CSV files to copy and edit.

A scheme has the columns ``category,dimension,source``, weights ``severity,category,weight,source``. The first row that
matches counts; ``*`` matches anything; case, spaces, "_" and "-" are insignificant. The name of your own table carries
a digest of its rows, as in "mine@5f2c0a91".
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path

import numpy as np

from .. import checks
from .fetch import bundled
from .io import _refuse, read_table
from .ratings import Ratings, _category_key

# An ignored error still counts in the penalty; "none" is not an error.
_DIMENSIONS = ("accuracy", "fluency", "ignored", "none")


@dataclass(frozen=True)
class Scheme:
    """Which categories are accuracy and which fluency.

    Parameters
    ----------
    name : str
        For signatures.
    rows : tuple
        (category, dimension, source); the first that matches counts.
    """

    name: str
    rows: tuple[tuple[str, str, str], ...]

    def dimension(self, category: str) -> str | None:
        """One of "accuracy", "fluency", "ignored" and "none"; None if no row matches."""
        matching = (dimension for pattern, dimension, _ in self.rows if _fits(pattern, category))
        return next(matching, None)

    def moved(self, category: str, dimension: str) -> Scheme:
        """This scheme with a category counted for another dimension, by a row in front.

        >>> Scheme("mine", (("*", "fluency", "ours"),)).moved("Terminology", "accuracy").dimension("Terminology")
        'accuracy'
        """
        row = category, checks.one_of(dimension, _DIMENSIONS, "dimension"), "moved"
        return Scheme(f"{self.name} with {category} as {dimension}", (row, *self.rows))

    def __str__(self) -> str:
        return _aligned(f"scheme {self.name}", self.rows)


@dataclass(frozen=True)
class Weights:
    """The weight of each error.

    Parameters
    ----------
    name : str
        For signatures.
    rows : tuple
        (severity, category, weight in MQM points, source); the first that matches counts.
    """

    name: str
    rows: tuple[tuple[str, str, float, str], ...]

    def weight(self, severity: str, category: str) -> float:
        """MQM points ≥ 0; nan if no row matches."""
        matching = (w for s, c, w, _ in self.rows if _fits(s, severity) and _fits(c, category))
        return next(matching, math.nan)

    def __str__(self) -> str:
        rows = [(s, c, f"{w:g}", source) for s, c, w, source in self.rows]
        return _aligned(f"weights {self.name}", rows)


def load_scheme(name: str | PathLike | Scheme) -> Scheme:
    """A scheme by name (wmt: en-de and ja-zh; en-es) or from a CSV file; a DataError names a malformed line."""
    if isinstance(name, Scheme):
        return name
    columns = {"category": str, "dimension": str, "source": str}
    called, rows = _table("scheme", name, columns, ["category"])
    return Scheme(called, tuple(rows))


def load_weights(name: str | PathLike | Weights) -> Weights:
    """Weights by name (freitag2021, mt-metrics-eval, wmt24) or from a CSV file; a DataError names a malformed line."""
    if isinstance(name, Weights):
        return name
    columns = {"severity": str, "category": str, "weight": float, "source": str}
    called, rows = _table("weights", name, columns, ["severity", "category"])
    return Weights(called, tuple(rows))


def choose_scheme(ratings: Ratings) -> str:
    """The bundled scheme that covers most of the ratings: en-es if categories have no slash, else wmt."""
    n = np.bincount(ratings.category, minlength=len(ratings.categories))

    def covered(name: str) -> float:
        scheme = load_scheme(name)
        return sum(n[i] for i, one in enumerate(ratings.categories) if scheme.dimension(one))

    return max(("wmt", "en-es"), key=covered)


def _table(
    kind: str, name: str | PathLike, columns: Mapping[str, type], keys: list[str]
) -> tuple[str, list[tuple]]:
    """The name of a table and its rows, whose keys are distinct."""
    path = _place(kind, name)
    table = read_table(path, columns)[list(columns)]
    for column in table.select_dtypes("object"):
        table[column] = table[column].str.strip()
    twice = table[keys].map(_category_key).duplicated()
    _refuse(twice, f"a second row for {' and '.join(keys)}", path, table[keys])
    if "weight" in columns:
        _refuse(~(table.weight >= 0), "weight: expected points of at least 0", path, table.weight)
    else:
        wrong, known = ~table.dimension.isin(_DIMENSIONS), ", ".join(_DIMENSIONS)
        _refuse(wrong, f"dimension: expected one of {known}", path, table.dimension)
    rows = list(table.itertuples(index=False, name=None))
    own = path.resolve().parent != bundled("mqm")
    digest = f"@{hashlib.sha256(repr(rows).encode()).hexdigest()[:8]}" if own else ""
    return f"{path.stem.removeprefix(f'{kind}.')}{digest}", rows


def _place(kind: str, name: str | PathLike) -> Path:
    """The file of a table: a path, or a bundled name."""
    if Path(name).suffix.lower() in (".csv", ".tsv") or os.path.isfile(name):
        return Path(name)
    known = [path.stem.removeprefix(f"{kind}.") for path in bundled("mqm").glob(f"{kind}.*.csv")]
    return bundled(f"mqm/{kind}.{checks.one_of(str(name), known, f'MQM {kind}')}.csv")


@lru_cache(65536)
def _fits(pattern: str, name: str) -> bool:
    """Whether a name matches a pattern with "*"."""
    parts = map(re.escape, _category_key(pattern).split("*"))
    return re.fullmatch(".*".join(parts), _category_key(name)) is not None


def _aligned(title: str, rows: Iterable[tuple[str, ...]]) -> str:
    """A table as text with aligned columns."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join([title, *("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)])
