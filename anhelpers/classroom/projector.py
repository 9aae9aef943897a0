"""The plane of a class on the projector: its files are dropped on a page, and the systems appear, without a kernel.

The page reads, checks and counts as `files`, `plane` and `alpha` do. It shows means without intervals: these come from
random draws, in Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import traitlets

from ..charts.marks import CATEGORIES
from ..data.schema import CandidateSet, systems_of
from ..errors import DataError
from ..provenance import from_template
from ..widgets.base import Widget, module, styles, without_kernel
from .files import COLUMNS, NEEDED, ClassRatings, ratings_csv
from .sheet import CRITERIA, SCALE, Sheet

__all__ = ["LivePlane", "live_plane"]


def live_plane(
    sheet: Sheet,
    systems: CandidateSet | Sequence[str],
    *,
    categories: Mapping[str, str] | None = None,
    title: str = "",
    example: ClassRatings | None = None,
) -> LivePlane:
    """A page to drop the raters' files on: the systems' mean ratings as a plane, and the raters' agreement α.

    Parameters
    ----------
    sheet : what the class rated; files of another one are refused.
    systems : the candidate set of the sheet, whose tags are systems ("A | B" counts for both), or a name per candidate.
    categories : system → category, for the marks; "unknown" where it is not said. title : above it all.
    example : ratings that a button adds, such as `invented_class`, for those who have no files yet.

    Returns
    -------
    LivePlane, a widget; `save(path)` writes a page of its own that needs neither kernel nor network.

    Raises
    ------
    DataError : a candidate of the sheet without a name.
    """
    names = systems.tags if isinstance(systems, CandidateSet) else systems
    shown = [k for ids in sheet.candidates for k in ids]
    of = {k: list(systems_of(str(names[k]))) if k < len(names) else [] for k in shown}
    if unnamed := [k for k, found in of.items() if not found]:
        raise DataError(
            f"candidate {unnamed[0]} has no tag, so its system is not known; give a name per "
            "candidate."
        )
    known = sorted({name for found in of.values() for name in found})
    data: dict[str, Any] = {"title": title, "sheet": sheet.id, "points": list(SCALE)}
    data |= {"columns": list(COLUMNS), "needed": len(NEEDED), "criteria": list(CRITERIA)}
    data |= {
        "cells": [list(cell) for cell in sheet.rows],
        "systems": {str(k): found for k, found in of.items()},
        "categories": {name: (categories or {}).get(name, "unknown") for name in known},
        "marks": {name: list(look) for name, look in CATEGORIES.items()},
    }
    data["example"] = _files_of(example) if example else {}
    return LivePlane(data=data, **without_kernel())


def _files_of(ratings: ClassRatings) -> dict[str, str]:
    """Name of a file → its text, for each rater."""
    wanted = ["segment", "candidate", "criterion", "rating", "seconds", "turn"]
    return {
        f"{rater}.csv": ratings_csv(
            str(rater), ratings.sheet, part[wanted].itertuples(index=False, name=None)
        )
        for rater, part in ratings.table.groupby("rater", sort=False)
    }


class LivePlane(Widget):
    """The widget that `live_plane` makes. What is dropped stays in the page: `results` has what it counted.

    `results` is empty before the first file; then systems (name → accuracy, fluency, n), alpha (criterion → α), raters
    and problems, a sentence for each file that was refused.
    """

    _esm = module("class_files.js", "class_plane.js")
    _css = styles("class_plane.css")
    noun = "the plane of the class"
    results: Any = traitlets.Dict().tag(sync=True)

    def __repr__(self) -> str:
        return f"LivePlane({self.data['sheet']}: drop the raters' files on it)"

    def static_html(self) -> str:
        return from_template("class_plane.html", data=self.data)
