"""The plane of a class on the projector: its files are dropped on a page, and the systems appear, without a kernel.

The page reads, checks and counts as `files`, `plane` and `alpha` do. Its intervals are Student's over segments, which
need no draws (`intervals.student`); `class_plane` has those of resampled segments.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import traitlets
from numpy.typing import ArrayLike

from ..charts.marks import CATEGORIES
from ..data.schema import CandidateSet, systems_of
from ..errors import DataError
from ..intervals import FEWEST, student
from ..provenance import from_template
from ..widgets.base import Widget, module, styles, without_kernel
from .files import COLUMNS, NEEDED, ONE_SHEET, ClassRatings, ratings_csv
from .sheet import CRITERIA, SCALE, Sheet

__all__ = ["LEAST", "LivePlane", "live_plane", "page_interval"]

LEAST = 3
"""Segments from which a system has an interval on the page: of two it would be nearly the whole scale."""


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
    LivePlane, a widget; `save(path)` writes a page of its own that needs neither kernel nor network. Its intervals are
    those of `page_interval`.

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
    data |= {
        "columns": list(COLUMNS),
        "needed": len(NEEDED),
        "criteria": list(CRITERIA),
        "oneSheet": ONE_SHEET,
    }
    data |= {
        "cells": [list(cell) for cell in sheet.rows],
        "systems": {str(k): found for k, found in of.items()},
        "categories": {name: (categories or {}).get(name, "unknown") for name in known},
        "marks": {name: list(look) for name, look in CATEGORIES.items()},
    }
    data |= {"least": LEAST, "varied": FEWEST, "t": _quantiles(len(sheet.segments))}
    data["example"] = _files_of(example) if example else {}
    return LivePlane(data=data, **without_kernel())


def page_interval(means: ArrayLike) -> tuple[float, float] | None:
    """The page's 95 % interval of a system's mean rating for other segments, rated by the same people: Student's.

    None where there are fewer than `LEAST` segments, and where all of fewer than eight have the same mean.

    Parameters
    ----------
    means : (n,) mean ratings of the system's segments, 1 to 5; the interval ends there at the latest.

    >>> page_interval([2, 3, 4])
    (1, 5)
    >>> page_interval([3, 3, 3]) is None
    True
    """
    x = np.asarray(means, dtype=np.float64)
    error = float(x.std(ddof=1)) / math.sqrt(len(x)) if len(x) >= LEAST else 0.0
    if len(x) < LEAST or (error < 1e-12 and len(x) < FEWEST):
        return None
    low, high = student(x.mean(), error, len(x))
    return max(SCALE[0], float(low)), min(SCALE[-1], float(high))


def _quantiles(n: int) -> list[float | None]:
    """By how many standard errors an interval reaches beyond the mean of 0 to n segments; None below `LEAST`."""
    ends = [float(student(0.0, 1.0, k)[1]) for k in range(LEAST, n + 1)]
    return [None] * min(LEAST, n + 1) + [*ends]


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

    `results` is empty before the first file; then systems (name → accuracy, fluency, ends, n), alpha (criterion → α),
    raters and problems, a sentence for each file that was refused.
    """

    _esm = module("class_files.js", "class_plane.js")
    _css = styles("class_plane.css")
    noun = "the plane of the class"
    results: Any = traitlets.Dict().tag(sync=True)

    def __repr__(self) -> str:
        return f"LivePlane({self.data['sheet']}: drop the raters' files on it)"

    def static_html(self) -> str:
        return from_template("class_plane.html", data=self.data)
