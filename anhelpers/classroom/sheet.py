"""The rating sheet: segments with candidates of different systems, in blind order.

Two passes keep fluency and accuracy apart: first every text alone, in shuffled order, then each source
with its translations. The page needs no kernel; it saves the file that `read_class_ratings` reads.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from string import ascii_uppercase as LETTERS
from typing import Any

import numpy as np
import traitlets

from .. import __version__, checks
from ..data.languages import NAMES
from ..data.schema import CandidateSet, TestSet, systems_of
from ..errors import DataError
from ..provenance import from_template
from ..widgets.base import Widget, html_lang

CRITERIA = {  # what 1 and what 5 mean
    "accuracy": (
        "says something other than the source",
        "says all that the source says, and nothing more",
    ),
    "fluency": ("hardly readable", "reads as if it had been written in this language"),
}
SCALE = (1, 2, 3, 4, 5)
# Header of a file of ratings; the last three may be missing. turn: when the page asked, from 1.
_ASKED = ("rater", "sheet", "segment", "candidate", "criterion", "rating")
COLUMNS = (*_ASKED, "seconds", "version", "turn")
Cell = tuple[int, int, str]  # segment, candidate, criterion
HOW = (
    "Two passes: first how fluent each text is, without its source; then how accurate, with it. Once "
    "a source is shown, fluency stays as it is. Keys: 1 to 5 rate and go on, Backspace clears, the "
    "arrows and Tab move, N and P turn the page."
)
TEXTS_ON_A_PAGE = 5


@dataclass(frozen=True)
class _Sheet:
    """What everybody in a class rates: segments with candidates, in the order shown.

    Parameters
    ----------
    segments : (N,) positions in the test set
    srcs : (N,) sources
    candidates : (N,) tuples of positions in the candidate set
    texts : (N,) tuples of their texts
    glosses : (N,) word-for-word English lines for the sources, or none
    """

    segments: tuple[int, ...]
    srcs: tuple[str, ...]
    candidates: tuple[tuple[int, ...], ...]
    texts: tuple[tuple[str, ...], ...]
    glosses: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """12 hex digits of what is rated, whatever the order of the texts."""
        rated = zip(self.segments, self.srcs, self.candidates, self.texts, strict=True)
        shown = sorted(
            [i, src, *sorted(zip(ids, texts, strict=True))] for i, src, ids, texts in rated
        )
        return hashlib.sha256(json.dumps(shown, ensure_ascii=False).encode()).hexdigest()[:12]

    @property
    def rows(self) -> list[Cell]:
        """(segment, candidate, criterion) of every requested rating, in the order of the sheet.

        >>> _Sheet((7,), ("Yes.",), ((3, 1),), (("Ja.", "Doch."),)).rows[1:3]
        [(7, 3, 'fluency'), (7, 1, 'accuracy')]
        """
        shown = zip(self.segments, self.candidates, strict=True)
        return [(i, k, name) for i, ids in shown for k in ids for name in CRITERIA]


def _draw_sheet(
    test: TestSet,
    cands: CandidateSet,
    n_segments: int,
    n_candidates: int,
    *,
    rng: np.random.Generator,
) -> _Sheet:
    """Draw segments, and for each candidates of different systems with different texts.

    Systems (tags of the candidates; "A | B" counts for both) drawn least often so far go first.
    """
    cands.require(len(test), "candidates")
    checks.whole("segments", n_segments)
    checks.whole("candidates", n_candidates)
    drawn: Counter[str] = Counter()
    chosen: dict[int, tuple[int, ...]] = {}
    for i in rng.permutation(len(test)).tolist():
        if len(chosen) == n_segments:
            break
        rows = rng.permutation(np.flatnonzero(cands.segment == i)).tolist()
        rows = _different(cands, rows, drawn, n_candidates)
        if len(rows) == n_candidates:
            chosen[i] = tuple(rng.permutation(rows).tolist())
            drawn.update(system for row in rows for system in _systems(cands, row))
    if len(chosen) < n_segments:
        got = f"only {len(chosen)} segments have {n_candidates} different candidates"
        hint = "Reduce segments or candidates."
        raise DataError(f"rating sheet: {got}, expected {n_segments}. {hint}")
    segments = tuple(sorted(chosen))
    both = test.srcs, test.glosses
    srcs, glosses = (tuple(some[i] for i in segments) if some else () for some in both)
    texts = tuple(tuple(cands.texts[row] for row in chosen[i]) for i in segments)
    return _Sheet(segments, srcs, tuple(chosen[i] for i in segments), texts, glosses)


def one_of_each(test: TestSet, n_candidates: int) -> list[str]:
    """Return one system of each category, or all systems where these are fewer than needed."""
    first = {test.categories[name]: name for name in sorted(test.systems, reverse=True)}
    return sorted(first.values()) if len(first) >= n_candidates else list(test.systems)


def _systems(cands: CandidateSet, row: int) -> tuple[str, ...]:
    """The systems of a candidate; untagged candidates count as one system."""
    return systems_of(cands.tags[row]) or ("",)


def _different(cands: CandidateSet, rows: list[int], drawn: Counter[str], n: int) -> list[int]:
    """At most n of these candidates, the least drawn first; no system and no text twice."""
    taken: list[int] = []
    for row in sorted(rows, key=lambda row: max(drawn[system] for system in _systems(cands, row))):
        own, text = {*systems_of(cands.tags[row])}, cands.texts[row]
        same = any(own & {*systems_of(cands.tags[k])} or text == cands.texts[k] for k in taken)
        if not same and text.strip() and len(taken) < n:
            taken.append(row)
    return taken


def rating_sheet(
    test: TestSet,
    cands: CandidateSet,
    *,
    n_segments: int = 5,
    n_candidates: int = 3,
    rng: np.random.Generator,
    title: str = "",
    hand_in: bool = True,
) -> _RatingSheet:
    """Make a sheet on which one person rates fluency first, then accuracy, by keyboard or mouse.

    Parameters
    ----------
    cands : CandidateSet
        Tagged with their systems, which are not shown.
    n_segments, n_candidates : int
        How many are drawn; the same rng draws the same sheet.
    hand_in : bool
        Whether the page has a pseudonym and a button to save.
    """
    sheet = _draw_sheet(test, cands, n_segments, n_candidates, rng=rng)
    checks.whole("n_candidates", n_candidates, 1, len(LETTERS))
    target, source = (NAMES.get(code, "") for code in (test.trg_lang, test.src_lang))
    sources = f", their sources in {source}" if source else ""
    only = f"The texts to rate are in {target}{sources}; only these words are in English."
    shown = zip(sheet.segments, sheet.srcs, sheet.candidates, sheet.texts, strict=True)
    segments: list[dict] = [
        {"id": i, "src": src, "candidates": list(ids), "texts": list(texts)}
        for i, src, ids, texts in shown
    ]
    for one, gloss in zip(segments, sheet.glosses, strict=False):
        one["gloss"] = gloss
    data = {
        "title": title,
        "hand_in": hand_in,
        "sheet": sheet.id,
        "version": __version__,
        "columns": list(COLUMNS),
        "how": HOW,
        "languages": only if target not in ("", "English") else "",
        "criteria": [[name, *ends] for name, ends in CRITERIA.items()],
        "points": list(SCALE),
        "langs": [html_lang(test.src_lang), html_lang(test.trg_lang)],
        "segments": segments,
        "alone": _alone(sheet, rng),
        "blind": "fluency",
    }
    widget = _RatingSheet.of(data=data, **_unrated(data))
    widget.sheet = sheet
    return widget


class _RatingSheet(Widget, files="rating_sheet.js rating_sheet.css"):
    """The widget that `rating_sheet` makes.

    Attributes
    ----------
    ratings : list
        1 to 5 or None for every row of `sheet.rows`.
    seconds : list
        Time of each rating since the previous one, or None.
    rater : str
        The pseudonym.
    place : int
        The page shown: first texts alone, then a page for each segment.
    sources_shown : bool
        Whether a page with sources was reached; fluency is closed from then on.
    """

    noun = "rating sheet"
    sheet: _Sheet
    rater = traitlets.Unicode("").tag(sync=True)
    ratings: Any = traitlets.List().tag(sync=True)
    seconds: Any = traitlets.List().tag(sync=True)
    place = traitlets.Int(0).tag(sync=True)
    sources_shown = traitlets.Bool(False).tag(sync=True)

    @traitlets.validate("ratings")
    def _valid_ratings(self, proposal: Any) -> Any:
        given, n = list(proposal["value"]), _asked(self.data)
        if len(given) != n or not {*given} <= {None, *SCALE}:
            raise DataError(f"ratings: got {given!r:.60}, expected {n} of 1 to 5 or None.")
        return given

    def blank(self) -> dict[str, Any]:
        """An exported page does not show who rated."""
        return _unrated(self.data) | {"rater": "", "place": 0, "sources_shown": False}

    def __repr__(self) -> str:
        rated = sum(rating is not None for rating in self.ratings)
        return f"RatingSheet({self.data['sheet']}: {rated} of {len(self.ratings)} ratings)"

    def static_html(self) -> str:
        return from_template("rating_sheet.html", data=self.data, letters=LETTERS)


def _alone(sheet: _Sheet, rng: np.random.Generator) -> list[list[list[int]]]:
    """Pages of [segment, candidate] places in shuffled order, no page with two of one source."""
    n_segments, n_pages = len(sheet.segments), -(-len(sheet.segments) // TEXTS_ON_A_PAGE)
    rounds = (rng.permutation(n_segments) for _ in sheet.candidates[0])
    return [
        [[segment, k] for segment in page.tolist()]
        for k, order in enumerate(rounds)
        for page in np.array_split(order, n_pages)
    ]


def _asked(data: dict[str, Any]) -> int:
    return sum(len(one["texts"]) * len(data["criteria"]) for one in data.get("segments", ()))


def _unrated(data: dict[str, Any]) -> dict[str, Any]:
    """Ratings and seconds before the first rating."""
    return {"ratings": [None] * _asked(data), "seconds": [None] * _asked(data)}
