"""What kind of translator each system of a shared task is: the marks of AN's Figure 2, read from editable tables.

AN's caption tells LLMs, "systems specifically trained for MT", online systems and a human reference apart and points
to Kocmi et al. 2024 (2024.wmt-1.1), who had participants' systems, 8 LLMs they collected and online services. So here:

- LLM: a general-purpose large language model as it is, prompted.
- MT: trained or tuned for translation, whatever it is built on: Unbabel-Tower70B and IKUN are MT, not LLM.
- online: an anonymised service, ONLINE-*. human: a reference. unknown: what no table says.

A participant's system of unknown design counts as MT. Where the rule needed a decision, `claim` starts with
"judgement call"; `source` says where the claim is from: ids like 2024.wmt-1.19 are those of aclanthology.org.
"""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path

from ..errors import DataError, UnknownName
from .bundle import bundled
from .lines import csv_rows
from .schema import CATEGORIES

__all__ = ["COLUMNS", "TABLES", "system_categories"]

COLUMNS = ("system", "category", "lp", "claim", "source")
"""The header of a table; `lp` lists the system's language pairs, separated by spaces."""

TABLES = {
    "wmt24": "wmt24_systems.csv",
    "wmt23": "wmt23_systems.csv",
    "wmt21-ted": "wmt21_ted_systems.csv",
}
"""The tables that come with the package."""


def system_categories(name: str | PathLike) -> dict[str, str]:
    """System -> category, from a bundled table by name, or from a copy of one that you edited.

    Parameters
    ----------
    name : "wmt24", "wmt23", "wmt21-ted" (the TED talks of the WMT21 metrics task), or a path: CSV with COLUMNS.

    Raises
    ------
    UnknownName : neither a bundled table nor a file.
    DataError : another header, another number of cells, an unknown category, a system that is blank or listed twice.

    >>> categories = system_categories("wmt24")
    >>> categories["GPT-4"], categories["Unbabel-Tower70B"], categories["ONLINE-B"], categories["refA"]
    ('LLM', 'MT', 'online', 'human')
    """
    path = _table(name)
    categories: dict[str, str] = {}
    for number, (system, category, *_) in csv_rows(path, COLUMNS):
        if not system:
            raise DataError("the name of the system is blank; give one.", path, number)
        if category not in CATEGORIES:
            raise DataError(
                f"unknown category '{category}'; known: {', '.join(CATEGORIES)}.", path, number
            )
        if system in categories:
            raise DataError(f"system '{system}' is listed twice.", path, number)
        categories[system] = category
    return categories


def _table(name: str | PathLike) -> Path:
    """The file of a table."""
    if str(name) in TABLES:
        return bundled(TABLES[str(name)])
    if not os.path.isfile(name):
        raise UnknownName("table of systems or file", str(name), TABLES)
    return Path(name)
