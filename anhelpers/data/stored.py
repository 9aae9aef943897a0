"""Tables of system scores that the organisers of a WMT task publish: one number per system and metric.

Two dialects, told apart by their header: WMT24's ``lp system … metricx cometkiwi …`` (a column per metric) and
WMT23's ``pair system … metric score`` (a row per metric).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataError, UnknownName
from .languages import split_pair
from .lines import check_columns, csv_number, table_lines

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_system_scores"]

COLUMNS = {
    # Juraska et al. 2023: a predicted error score
    "metricx": ("MetricX-23-XL", "MQM points, 0 to 25", False),
    "cometkiwi": ("CometKiwi-XL", "0 to 1", True),  # Rei et al. 2023
}
"""Column of the WMT24 table -> its metric, unit, and whether higher is better."""

FAMILIES = {
    "bleu": ("points, 0 to 100", True),
    "chrf": ("points, 0 to 100", True),
    "comet": ("no fixed bounds", True),
}
"""What stands before "-REF" in a metric of the WMT23 table, in lower case -> unit, and whether higher is better."""

MARK = "$\\dagger$"
"""A footnote mark that WMT24's table, made for LaTeX, left behind some names."""


def read_system_scores(path: str | PathLike, lp: str) -> pd.DataFrame:
    """The organisers' scores of the systems of one language pair.

    Parameters
    ----------
    path : a tab-separated table of one of the two dialects.
    lp : language pair, e.g. "en-de".

    Returns
    -------
    Tidy table system, metric, value, unit, higher_is_better, source, in the order of the file: each value in its
    metric's own direction; `source` is the file and what it calls the metric. `table.attrs["notes"]` are sentences that
    the user should see: names that lost a footnote mark or spaces.

    Raises
    ------
    UnknownName : no such language pair. DataError : another header, a line of another width, a metric whose direction
        is not known, a value that is no finite number, a system's second value; each names file and line.
    """
    import pandas as pd

    split_pair(lp)
    path = Path(path)
    rows, marked, pairs = {}, {}, set()
    for number, pair, name, metric, value in _cells(path):
        pairs.add(pair)
        if pair != lp:
            continue
        system = name.replace(MARK, "").strip()
        if not system:
            raise DataError("there is no system's name; give one.", path, number)
        if system != name:
            what = "its footnote mark is" if MARK in name else "spaces around it are"
            marked[name] = f"'{name}' is called {system} here; {what} left out."
        label, unit, higher = _metric(metric, path, number)
        if (system, label) in rows:
            raise DataError(f"system '{system}' has a second {label}.", path, number)
        score = csv_number(value, "value", path, number, least=-math.inf)
        rows[system, label] = (score, unit, higher, f"{path.name}: {metric}")
    if lp not in pairs:
        raise UnknownName("language pair", lp, pairs)
    table = pd.DataFrame(
        [(*key, *row) for key, row in rows.items()],
        columns=["system", "metric", "value", "unit", "higher_is_better", "source"],
    )
    table.attrs["notes"] = tuple(marked.values())
    return table


def _cells(path: Path) -> Iterator[tuple[int, str, str, str, str]]:
    """(line, language pair, system, metric as the file calls it, value) of each value of either dialect."""
    lines = table_lines(path)
    header = lines[0].split("\t") if lines else []
    wide = {"lp", "system", *COLUMNS} <= set(header)
    if not wide and not {"pair", "system", "metric", "score"} <= set(header):
        seen = ", ".join(header) or "nothing"
        wanted = f"lp, system, {', '.join(COLUMNS)}, or pair, system, metric, score"
        raise DataError(
            f"its header has {seen}; the columns {wanted} are wanted, separated by tabs.", path, 1
        )
    check_columns(
        header, ("lp", "system", *COLUMNS) if wide else ("pair", "system", "metric", "score"), path
    )
    for number, line in enumerate(lines[1:], 2):
        fields = line.split("\t")
        if len(fields) != len(header):
            raise DataError(
                f"has {len(fields)} fields, and the header {len(header)}.", path, number
            )
        row = dict(zip(header, fields, strict=True))
        if wide:
            yield from (
                (number, row["lp"], row["system"], column, row[column]) for column in COLUMNS
            )
        else:
            yield number, row["pair"], row["system"], row["metric"], row["score"]


def _metric(name: str, path: Path, line: int) -> tuple[str, str, bool]:
    """Metric, unit and direction of what a file calls `name`."""
    if name in COLUMNS:
        return COLUMNS[name]
    family = name.partition("-")[0].lower()
    if family not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise DataError(
            f"metric '{name}' has no direction here; those of {known} do: remove its lines.",
            path,
            line,
        )
    return name, *FAMILIES[family]
