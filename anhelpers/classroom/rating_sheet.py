"""The rating sheet: a few segments, each with candidates in blind order, rated for fluency and accuracy by keyboard.

Two passes keep the two apart: first every text alone, for its fluency, in shuffled order; then each source with its
translations, for their accuracy. Once a source has been shown, fluency stays as it is.

It needs no kernel: where there is none the page itself writes the file that Python would write, and until then the
browser keeps the work. A page that is handed out is always empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from string import ascii_uppercase as LETTERS
from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from .. import __version__
from ..data.languages import NAMES
from ..data.schema import CandidateSet, TestSet
from ..data.writing import write_text
from ..errors import DataError
from ..provenance import from_template
from ..widgets.base import Widget, detached, html_lang, module, styles, without_kernel
from ..widgets.handed_in import BAD_NAME, NAME, NO_NAME
from .files import COLUMNS, ClassRatings, ratings_csv, read_class_ratings
from .sheet import CRITERIA, SCALE, Sheet, draw_sheet

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RatingSheet", "rating_sheet"]

HOW = (
    "Two passes: first how fluent each text is, without its source; then how accurate, with it. Once "
    "a source is shown, fluency stays as it is. Keys: 1 to 5 rate and go on, Backspace clears, the "
    "arrows and Tab move, N and P turn the page."
)
ALONE, TEXTS_ON_A_PAGE = "fluency", 5
OURS = "English"
"""The language of the instructions."""


def rating_sheet(
    test_or_segments: TestSet | Sequence[str],
    cands: CandidateSet,
    *,
    n_segments: int = 5,
    n_candidates: int = 3,
    rng: np.random.Generator,
    path: str | PathLike | None = None,
    reference: bool = False,
    title: str = "",
    hand_in: bool = True,
) -> RatingSheet:
    """A sheet on which one person rates the fluency of texts alone, then their accuracy; whose they are is not shown.

    Parameters
    ----------
    test_or_segments : a test set, or its source texts. cands : candidates, tagged with their systems.
    n_segments, n_candidates : how many are drawn, of different systems; the same rng draws the same sheet.
    path : where "Save" writes with a kernel; a file that is there is read, and the rating goes on. None: a download.
    reference : whether each segment has its reference behind a button. title : above it all.
    hand_in : whether there is a pseudonym and a button to save; False for a few texts to try it with.

    Returns
    -------
    RatingSheet; its `ratings` and `rater` follow the page and can be set, and its `sheet` says what was drawn.

    Raises
    ------
    DataError for too few candidates, for a path without a folder, and for a file that is of another sheet or of several
    raters.
    """
    sheet = draw_sheet(test_or_segments, cands, n_segments, n_candidates, rng=rng)
    if n_candidates > len(LETTERS):
        raise DataError(
            f"{n_candidates} candidates per segment, and there are {len(LETTERS)} letters for them."
        )
    data: dict[str, Any] = {
        "title": title,
        "hand_in": hand_in,
        "sheet": sheet.id,
        "version": __version__,
        "columns": list(COLUMNS),
        "how": HOW,
        "languages": _languages(test_or_segments),
        "name": {"pattern": f"^{NAME.pattern}$", "none": NO_NAME, "bad": BAD_NAME},
    }
    data |= {
        "criteria": [[name, *ends] for name, ends in CRITERIA.items()],
        "points": list(SCALE),
    }
    data |= {
        "langs": [
            html_lang(getattr(test_or_segments, name, "und")) for name in ("src_lang", "trg_lang")
        ],
        "segments": _segments(sheet, reference),
        "alone": _alone(sheet, rng),
        "blind": ALONE,
    }
    widget = RatingSheet(**_blank(data), **without_kernel())
    widget.sheet = sheet
    if path is not None:
        widget.resume(path)
    return widget


class RatingSheet(Widget):
    """The widget that `rating_sheet` makes.

    `ratings` has an entry per row of `sheet.rows`, 1 to 5 or None; `seconds` what each took since the one before, or
    None; `rater` is the pseudonym; `place` the page that is shown, from 0: first texts alone, then a page for each
    segment; `sources_shown` whether one of the latter was reached, after which fluency cannot be changed.
    """

    _esm = module("rating_sheet.js")
    _css = styles("rating_sheet.css")
    noun = "rating sheet"
    sheet: Sheet | None = None
    path: Path | None = None
    rater = traitlets.Unicode("").tag(sync=True)
    ratings: Any = traitlets.List().tag(sync=True)
    seconds: Any = traitlets.List().tag(sync=True)
    place = traitlets.Int(0).tag(sync=True)
    sources_shown = traitlets.Bool(False).tag(sync=True)
    # the name of the file that the kernel writes; "": the page writes it
    file = traitlets.Unicode("").tag(sync=True)
    asked = traitlets.Int(0).tag(sync=True)  # how often the page asked to save
    answer: Any = traitlets.List().tag(sync=True)  # to which of these, and what came of it

    @traitlets.validate("ratings")
    def _valid_ratings(self, proposal: Any) -> Any:
        given = list(proposal["value"])
        wrong = [value for value in given if value is not None and value not in SCALE]
        if len(given) != len(_rows(self.data)) or wrong:
            seen = f"one is {wrong[0]!r}" if wrong else f"there are {len(given)}"
            raise DataError(
                f"ratings must be {len(_rows(self.data))}, each 1 to 5, or None where missing; "
                f"{seen}."
            )
        return [None if value is None else int(value) for value in given]

    @traitlets.validate("seconds")
    def _valid_seconds(self, proposal: Any) -> Any:
        given = list(proposal["value"])
        wrong = [
            value
            for value in given
            if value is not None and not (isinstance(value, (int, float)) and value >= 0)
        ]
        if len(given) != len(_rows(self.data)) or wrong:
            seen = f"one is {wrong[0]!r}" if wrong else f"there are {len(given)}"
            raise DataError(
                f"seconds must be {len(_rows(self.data))} numbers, None where missing; {seen}."
            )
        return given

    @traitlets.validate("place")
    def _valid_place(self, proposal: Any) -> Any:
        n = len(self.data["alone"]) + len(self.data["segments"])
        if not 0 <= proposal["value"] < n:
            raise DataError(
                f"place must be a page of the sheet, 0 to {n - 1}, got {proposal['value']}."
            )
        return proposal["value"]

    @traitlets.observe("asked")
    def _save(self, change: Any) -> None:
        if change["new"]:
            try:
                said = (
                    f"Saved {self.n_rated} of {len(self.ratings)} ratings to "
                    f"{self.save_ratings().name}."
                )
            except DataError as error:
                said = f"Not saved: {error}"
            self.answer = [change["new"], said]

    @property
    def n_rated(self) -> int:
        """How many ratings are there."""
        return sum(rating is not None for rating in self.ratings)

    def csv(self) -> str:
        """The text of the file that "Save" writes; a missing rating is blank."""
        if not NAME.fullmatch(self.rater.strip()):
            raise DataError(BAD_NAME if self.rater.strip() else NO_NAME)
        turns = _turns(self.data)
        rows = zip(_rows(self.data), self.ratings, self.seconds, turns, strict=True)
        return ratings_csv(
            self.rater.strip(), self.data["sheet"], ((*cell, *given) for cell, *given in rows)
        )

    def table(self) -> pd.DataFrame:
        """The present ratings, a row for each: segment, candidate, criterion, rating, seconds; nan where missing."""
        import pandas as pd

        frame = pd.DataFrame(_rows(self.data), columns=["segment", "candidate", "criterion"])
        return frame.assign(
            rating=np.array(self.ratings, dtype=float), seconds=np.array(self.seconds, dtype=float)
        )

    def save_ratings(self, path: str | PathLike | None = None) -> Path:
        """Write the file, at once; a DataError where there is one already that is of another rater or another sheet."""
        path = Path(path) if path is not None else self.path
        if path is None:
            raise DataError("no file to save to: give the sheet a path.")
        text = self.csv()
        if path.exists():
            there = self._own(path)
            if there.raters != (self.rater.strip(),):
                raise DataError(
                    f"holds the ratings of {there.raters[0]}, and not of {self.rater.strip()}; "
                    "take another file.",
                    path,
                )
        return write_text(path, text)

    def resume(self, path: str | PathLike) -> None:
        """From now on save to this file, and go on with the ratings in it, if it is there."""
        path = Path(path)
        if not path.parent.is_dir():
            raise DataError(f"there is no folder {path.parent}; make it first.", path)
        if path.exists():
            there = self._own(path)
            found = there.table.set_index(["segment", "candidate", "criterion"])[
                ["rating", "seconds"]
            ]
            found = found.reindex(_rows(self.data)).astype(object).where(lambda x: x.notna(), None)
            self.rater = there.raters[0]
            self.sources_shown = bool(
                (there.table.rating.notna() & (there.table.criterion != ALONE)).any()
            )
            self.ratings = found.rating.tolist()
            self.seconds = found.seconds.tolist()
        self.path, self.file = path, path.name

    def _own(self, path: Path) -> ClassRatings:
        """The ratings in a file, which must be of one rater, and of this sheet."""
        there = read_class_ratings(path)
        if there.sheet != self.data["sheet"]:
            raise DataError(
                f"is of sheet '{there.sheet}', and this is '{self.data['sheet']}'; take another "
                "file.",
                path,
            )
        if len(there.raters) != 1:
            raise DataError(
                f"holds the ratings of {len(there.raters)} raters; a sheet goes on with those of "
                "one.",
                path,
            )
        return there

    def fragment(self) -> str:
        """HTML for a notebook's output, of the empty sheet: a page that is handed out does not tell who rated."""
        return super(RatingSheet, RatingSheet(**_blank(self.data), **detached())).fragment()

    def __repr__(self) -> str:
        return f"RatingSheet({self.data['sheet']}: {self.n_rated} of {len(self.ratings)} ratings)"

    def static_html(self) -> str:
        return from_template("rating_sheet.html", data=self.data, letters=LETTERS)


def _languages(test: TestSet | Sequence[str]) -> str:
    """Which languages the texts have, where they are known and not that of the instructions; "" else."""
    target, source = (NAMES.get(getattr(test, name, "")) for name in ("trg_lang", "src_lang"))
    if target in (None, OURS):
        return ""
    sources = f", their sources in {source}" if source else ""
    return f"The texts to rate are in {target}{sources}; only these words are in {OURS}."


def _segments(sheet: Sheet, reference: bool) -> list[dict]:
    refs = sheet.refs if reference and sheet.refs else [""] * len(sheet.srcs)
    columns = (
        sheet.segments,
        sheet.srcs,
        refs,
        sheet.glosses or [""] * len(sheet.srcs),
        sheet.candidates,
        sheet.texts,
    )
    return [
        {"id": i, "src": src, "ref": ref, "candidates": list(ids), "texts": list(texts)}
        | ({"gloss": gloss} if gloss else {})
        for i, src, ref, gloss, ids, texts in zip(*columns, strict=True)
    ]


def _alone(sheet: Sheet, rng: np.random.Generator) -> list[list[list[int]]]:
    """Pages of [segment, candidate] places: all texts in shuffled order, no page with two of one source."""
    n_segments, n_pages = len(sheet.segments), -(-len(sheet.segments) // TEXTS_ON_A_PAGE)
    rounds = (rng.permutation(n_segments) for _ in sheet.candidates[0])
    return [
        [[segment, k] for segment in page.tolist()]
        for k, order in enumerate(rounds)
        for page in np.array_split(order, n_pages)
    ]


def _turns(data: dict[str, Any]) -> list[int]:
    """When the page asks for each rating, 1 first, in the order of `_rows`."""
    asked = [(s, k, True) for page in data["alone"] for s, k in page]
    asked += [
        (s, k, False) for s, one in enumerate(data["segments"]) for k in range(len(one["texts"]))
    ]
    turn = {one: 1 + i for i, one in enumerate(asked)}
    return [
        turn[s, k, name == data["blind"]]
        for s, one in enumerate(data["segments"])
        for k in range(len(one["texts"]))
        for name, *_ in data["criteria"]
    ]


def _blank(data: dict[str, Any]) -> dict[str, Any]:
    """The traits of a sheet that nobody has touched."""
    return {"data": data} | {name: [None] * len(_rows(data)) for name in ("ratings", "seconds")}


def _rows(data: dict[str, Any]) -> list[tuple[int, int, str]]:
    """(segment, candidate, criterion) of every rating, in the order of the page."""
    criteria = [name for name, *_ in data.get("criteria", [])]
    return [
        (s["id"], i, name)
        for s in data.get("segments", [])
        for i in s["candidates"]
        for name in criteria
    ]
