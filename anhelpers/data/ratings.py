"""Expert ratings: which errors of which category and severity a rater found in a system's translation of a segment.

One reader for the MQM files of WMT and TED, 2020 to 2024 (google/wmt-mqm-human-evaluation), whose columns, spellings
and quoting changed from year to year. What a rating weighs is said in `anhelpers.mqm`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError, nearest
from .mqm_tables import RatingMap, load_map
from .rating_checks import (
    check_file_texts,
    check_languages,
    check_one_pair,
    check_units,
    without_copies,
)
from .rating_names import SEVERITIES, category_key, natural_key, renamed, visible, without_side
from .rating_rows import (
    EMPTY,
    Scan,
    not_utf8,
    open_ratings,
    read_header,
    scan_rows,
    shortened,
    split_rows,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Ratings", "Segment", "pool_ratings", "read_ratings"]

# hands on the wheel: an error was planted, and was Found or Missed; no rating of the system
_ATTENTION = "hotwtest"
_NO_CATEGORY = {"", "noerrors", "noissue", "noissues", *EMPTY}  # beside the severity No-error
_LEFT_OUT = (
    "attention checks (HOTW-test), which rate no system",
    "WMT24's canary; ids count it, so that segment i is line i of the text files, their canary "
    "being line 1",
    "metadata without a rater",
)
_NAMES = ("systems", "segments", "raters", "categories", "severities")
_CODES = ("system", "segment", "rater", "category", "severity")


@dataclass(frozen=True, order=True)
class Segment:
    """A segment as the file names it: ids are text, from 0 or from 1 as they stand there.

    Parameters
    ----------
    doc : the document.
    id : within the document.
    global_id : within the file; the same as `id` where the file has only one of the two.
    """

    doc: str
    id: str
    global_id: str


@dataclass(frozen=True, eq=False, repr=False)
class Ratings:
    """n ratings, a column each, in the order of the file; a code is the position of a name in the tuple beside it.

    Parameters
    ----------
    systems, segments, raters, categories, severities : the distinct names; segments in reading order.
    system, segment, rater, category, severity : (n,) int32 codes.
    file, line : (n,) int32, where each rating stands: position in `paths`, and line from 1.
    paths : the files.
    notes : sentences that the user should see: what was left out, and what is odd.
    sources, targets : segment -> text, (system, segment) -> text, without marks; empty unless texts were asked for.
    spans : n marked texts, "" where nothing is marked, more than one joined by " … "; empty as above.
    raw : (system, segment) -> source and target as bytes, marks included, of its first rating.
    reading : what decided how the files were read, for signatures, such as "map:mine@5f2c0a91".
    """

    systems: tuple[str, ...]
    segments: tuple[Segment, ...]
    raters: tuple[str, ...]
    categories: tuple[str, ...]
    severities: tuple[str, ...]
    system: np.ndarray
    segment: np.ndarray
    rater: np.ndarray
    category: np.ndarray
    severity: np.ndarray
    file: np.ndarray
    line: np.ndarray
    paths: tuple[str, ...]
    notes: tuple[str, ...] = ()
    sources: Mapping[Segment, str] = field(default_factory=dict)
    targets: Mapping[tuple[str, Segment], str] = field(default_factory=dict)
    spans: tuple[str, ...] = ()
    raw: Mapping[tuple[str, Segment], tuple[bytes, bytes]] = field(default_factory=dict)
    reading: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.line)

    def __repr__(self) -> str:
        sizes = (
            f"{len(self.systems)} systems, {len(self.segments)} segments, {len(self.raters)} raters"
        )
        return f"Ratings({len(self)} ratings of {sizes}; {', '.join(Path(path).name for path in self.paths)})"

    @property
    def segment_names(self) -> tuple[str, ...]:
        """A name for each segment: its global id where these tell all segments apart, else DOC:ID."""
        ids = tuple(segment.global_id for segment in self.segments)
        return ids if len(set(ids)) == len(ids) else tuple(f"{s.doc}:{s.id}" for s in self.segments)

    def units(self) -> np.ndarray:
        """(n,) int64: equal for ratings of one translation by one rater; `np.unravel_index` gives the three codes."""
        shape = len(self.systems), len(self.segments), len(self.raters)
        return np.ravel_multi_index((self.system, self.segment, self.rater), shape)

    def frame(self) -> pd.DataFrame:
        """file, line, system, segment, doc, rater, category, severity: a row per rating, in names."""
        import pandas as pd

        names = {
            "system": self.systems,
            "segment": self.segment_names,
            "rater": self.raters,
            "category": self.categories,
            "severity": self.severities,
        }
        columns = {
            name: np.array(known, dtype=object)[getattr(self, name)]
            for name, known in names.items()
        }
        docs = np.array([segment.doc for segment in self.segments], dtype=object)[self.segment]
        table = pd.DataFrame(
            {"file": np.array(self.paths, dtype=object)[self.file], "line": self.line, **columns}
        )
        table.insert(4, "doc", docs)
        return table


def read_ratings(
    path: str | PathLike,
    *,
    texts: bool = False,
    mapping: str | PathLike | RatingMap | None = None,
    repeated: str = "refuse",
) -> Ratings:
    """The ratings of one file: .tsv or .csv, plain, packed by gzip, xz or zstd, or alone in a tar archive.

    Case, spaces, "_" and "-" tell no two categories or severities apart, nor does "(Translation 2)" behind a category.
    Left out with a note: attention checks (HOTW-test), WMT24's canary, rows of metadata without a rater.

    Parameters
    ----------
    path : the file.
    texts : whether to keep sources, targets and marked spans, too; without, these columns are not decoded.
    mapping : what the file calls columns, severities and categories; a CSV or TSV file, as `load_map` reads it.
    repeated : of a file that holds a part of itself twice, "refuse" it, "count" every row, or read each row "once".

    Raises
    ------
    DataError : another kind of file, a broken row, an unknown severity, bytes that are not UTF-8, nested marks; a part
        of the file that is there twice; texts of two language pairs.
    """
    table = load_map(mapping) if mapping is not None else RatingMap("", ())
    with open_ratings(path) as stream:
        header, lines = read_header(stream, path, table.columns)
        scan = scan_rows(split_rows(lines, header, path), header, path, texts)
    scan, mapped = renamed(scan, table, header.cells)
    labels, left_out = _labels(scan, path), _left_out(scan)
    rows, repeats = without_copies(scan, np.flatnonzero(left_out == 0), path, repeated)
    if not rows.size:
        raise DataError("there is no rating in this file.", path)
    columns = zip(labels, (scan.code[[0, 1, 2, 3, 3], :][:, rows]), strict=True)
    ratings = _assemble(columns, np.zeros(rows.size, np.int32), scan.line[rows], (str(path),))
    check_file_texts(scan, rows, ratings)
    reading = (f"map:{table.name}",) * bool(table.name) + ("repeated:once",) * bool(
        repeats and repeated == "once"
    )
    units = [
        (ratings.systems[i], ratings.segments[k])
        for i, k in zip(ratings.system.tolist(), ratings.segment.tolist(), strict=True)
    ]
    raw: dict[tuple[str, Segment], tuple[bytes, bytes]] = {}
    for unit, row in zip(units, rows.tolist(), strict=True):
        raw.setdefault(unit, scan.pairs[row])
    notes = (*mapped, *scan.notes, *repeats, *_notes(scan, left_out, rows, ratings))
    ratings = replace(ratings, notes=notes, raw=raw, reading=reading)
    check_languages([ratings])
    if not texts:
        return ratings
    srcs, trgs, spans = zip(*(scan.texts[row] for row in rows), strict=True)
    return _with_texts(ratings, zip(units, srcs, trgs, strict=True), spans, "rows")


def _labels(scan: Scan, path: str | PathLike) -> list[list]:
    """What the keys of a scan say: systems, segments, raters, categories, severities; the last two share a code."""
    systems, segments, raters, kinds = (_strings(scan, column, path) for column in range(4))
    known = {category_key(name): name for name in SEVERITIES} | {
        _ATTENTION: "No-error",
        "": "No-error",
    }
    for code, (_, severity) in enumerate(kinds):
        if category_key(severity) not in known:
            hint = nearest(severity.capitalize(), SEVERITIES)
            what = (
                f"unknown severity '{shortened(severity)}'{hint}; known: {', '.join(SEVERITIES)}; "
                "other names are "
            )
            what += "told by a mapping (--map)."
            if severity[:1] == severity[-1:] == '"':
                what = (
                    f"the severity {severity} stands in quotes, which are text in a TSV: save it "
                    "without, or as CSV."
                )
            if category_key(severity) == "severity":
                what = (
                    "the header comes again: two files stand one after the other in this one; give "
                    "them one by one."
                )
            raise DataError(what, path, scan.first(3, code))
    for column, keys in enumerate((systems, segments)):
        for code, key in enumerate(keys):
            if not all(key):
                raise DataError(
                    "the system, the doc or the segment id is empty.",
                    path,
                    scan.first(column, code),
                )
    severities = [known[category_key(severity)] for _, severity in kinds]
    categories = []
    for name, severity in kinds:
        none = not (name or severity) or category_key(name) == "noerror"
        none |= category_key(severity) == "noerror" and category_key(name) in _NO_CATEGORY
        categories.append("No-error" if none else without_side(name))
    names = [key[0] for key in systems]
    ids = ["" if (name := visible(key[0])).lower() in EMPTY else name for key in raters]
    return [names, [Segment(*key) for key in segments], ids, categories, severities]


def _strings(scan: Scan, column: int, path: str | PathLike) -> list[tuple[str, ...]]:
    """The keys of a column as text, without spaces around it."""
    texts = []
    for code, key in enumerate(scan.keys[column]):
        try:
            texts.append(tuple(part.decode("utf-8").strip() for part in key))
        except UnicodeDecodeError as error:
            raise not_utf8(error, path, scan.first(column, code)) from None
    return texts


def _left_out(scan: Scan) -> np.ndarray:
    """(n,) 0 for a rating, else 1 + the position in _LEFT_OUT of why the row is none."""
    canary = np.array([doc.strip().lower() == b"canary" for doc, *_ in scan.keys[1]], dtype=bool)
    attention = np.array(
        [category_key(severity.decode()) == _ATTENTION for _, severity in scan.keys[3]], dtype=bool
    )
    nobody = np.array([not rater.strip() for (rater,) in scan.keys[2]], dtype=bool)
    nothing = np.array(
        [not (category.strip() or severity.strip()) for category, severity in scan.keys[3]],
        dtype=bool,
    )
    _, segment, rater, kind = scan.code
    return np.select(
        [attention[kind], canary[segment], nobody[rater] & nothing[kind]], [1, 2, 3], 0
    )


def _assemble(
    columns: Iterable[tuple[list, np.ndarray]], *where: np.ndarray | tuple[str, ...]
) -> Ratings:
    """The ratings whose names are labels[code], column by column; names sorted, each category in one spelling."""
    names: list[Any] = []
    codes: list[Any] = []
    orders: tuple[Callable[[Any], Any], ...] = (
        natural_key,
        _reading_order,
        natural_key,
        natural_key,
        SEVERITIES.index,
    )
    for (labels, code), order, column in zip(columns, orders, _CODES, strict=True):
        used = np.flatnonzero(np.bincount(code, minlength=len(labels)))
        if column == "category":
            shown = {
                category_key(labels[i]): labels[i]
                for i in sorted(used, key=labels.__getitem__, reverse=True)
            }
            labels = [shown.get(category_key(label), label) for label in labels]
        # those that tie, such as A1 and A01, by text
        known = sorted(sorted({labels[i] for i in used}), key=order)
        position = {name: i for i, name in enumerate(known)}
        places = np.array([position.get(label, -1) for label in labels], np.int32)
        names.append(tuple(known))
        codes.append(places[code])
    return Ratings(*names, *codes, *where)


def _notes(scan: Scan, left_out: np.ndarray, rows: np.ndarray, ratings: Ratings) -> tuple[str, ...]:
    """What was left out of a file, and what is odd in it."""
    counts = np.bincount(left_out, minlength=len(_LEFT_OUT) + 1)[1:].tolist()
    notes = [
        f"{n} row{'s' * (n != 1)} left out: {why}."
        for why, n in zip(_LEFT_OUT, counts, strict=True)
        if n
    ]
    silent = np.array([not severity.strip() for _, severity in scan.keys[3]])[scan.code[3][rows]]
    errors = np.array(ratings.categories)[ratings.category] != "No-error"
    n = int((silent & errors).sum())
    if n:
        notes.append(
            f"{n} error{'s' * (n != 1)} without a severity: counted as No-error, as WMT24 does."
        )
    denied = errors & ~silent & (ratings.severity == _place(ratings.severities, "No-error"))
    if n := int(denied.sum()):
        told = f"{n} row{'s name' if n > 1 else ' names'} an error and the severity No-error"
        notes.append(
            f"{told} (first: line {ratings.line[denied][0]}): counted by that severity; mend what "
            "is wrong."
        )
    nobody = ratings.rater == _place(ratings.raters, "")
    if n := int(nobody.sum()):
        told = (
            f"{n} row{'s have' if n > 1 else ' has'} no rater (first: line "
            f"{ratings.line[nobody][0]})"
        )
        one = "one more rater" if len(ratings.raters) > 1 else "one rater"
        notes.append(f"{told}: they count as those of {one}, without a name; fill in who it was.")
    unit = np.unique(ratings.units(), return_inverse=True)[1]
    both = np.intersect1d(unit[errors], unit[~errors])
    if n := len(both):
        told = (
            f"{n} rating{'s' * (n != 1)} of a translation by one rater say{'s' * (n == 1)} "
            "No-error and name an error"
        )
        line = ratings.line[np.isin(unit, both)][0]
        notes.append(
            f"{told}, too (first: line {line}): the errors count; are several raters under one "
            "name there?"
        )
    if any(segment.global_id == "0" for segment in ratings.segments):
        notes.append("Segment ids count from 0, and stay as in the file.")
    if scan.unclosed:
        lines = ", ".join(map(str, scan.unclosed[:5])) + (", …" if len(scan.unclosed) > 5 else "")
        notes.append(f"line {lines}: <v> is not closed; the mark runs to the end of its text.")
    return tuple(notes)


def _place(names: Sequence[str], name: str) -> int:
    """Where a name stands, or -1."""
    return names.index(name) if name in names else -1


def _reading_order(segment: Segment) -> tuple:
    return natural_key(segment.global_id), natural_key(segment.doc), natural_key(segment.id)


def _with_texts(
    ratings: Ratings, texts: Iterable[tuple], spans: Iterable[str], what: str
) -> Ratings:
    """The ratings with texts ((system, segment), source, target), the first where they differ between `what`."""
    sources: dict[Segment, str] = {}
    targets: dict[tuple[str, Segment], str] = {}
    other, notes = set(), ratings.notes
    for unit, source, target in texts:
        if (sources.setdefault(unit[1], source), targets.setdefault(unit, target)) != (
            source,
            target,
        ):
            other.add(unit)
    if other:
        system, segment = min(other)
        where = f"such as {system}, document {segment.doc}, segment {segment.id}"
        notes += (
            f"translations whose text differs between {what}: {len(other)}, {where}; the first is "
            "kept.",
        )
    return replace(ratings, notes=notes, sources=sources, targets=targets, spans=tuple(spans))


def pool_ratings(parts: Sequence[Ratings]) -> Ratings:
    """The ratings of several files as one; raters of the same name are the same rater.

    Texts stay where every part has them; the first where they differ.

    Raises
    ------
    DataError : a rater's rating of a translation is in two files; files of two language pairs, or test sets whose ids
        name other texts.
    """
    if not parts:
        raise DataError("there are no ratings to put together; give at least one file of them.")
    notes = tuple(f"{part.paths[0]}: {note}" for part in parts for note in part.notes)
    if len(parts) == 1:
        return replace(parts[0], notes=notes)
    columns = []
    for plural, code in zip(_NAMES, _CODES, strict=True):
        starts = np.cumsum([0, *(len(getattr(part, plural)) for part in parts)])[:-1]
        labels = [name for part in parts for name in getattr(part, plural)]
        columns.append(
            (
                labels,
                np.concatenate([getattr(p, code) + s for p, s in zip(parts, starts, strict=True)]),
            )
        )
    starts = np.cumsum([0, *(len(part.paths) for part in parts)], dtype=np.int32)[:-1]
    files = np.concatenate([part.file + start for part, start in zip(parts, starts, strict=True)])
    lines = np.concatenate([part.line for part in parts])
    paths = tuple(path for part in parts for path in part.paths)
    raw = {unit: texts for part in reversed(parts) for unit, texts in part.raw.items()}
    reading = tuple(dict.fromkeys(name for part in parts for name in part.reading))
    pooled = replace(_assemble(columns, files, lines, paths), notes=notes, raw=raw, reading=reading)
    check_units(pooled, np.repeat(np.arange(len(parts)), [len(part) for part in parts]))
    check_one_pair(parts)
    if not all(part.spans for part in parts):
        return pooled
    each = (
        (unit, part.sources[unit[1]], target)
        for part in parts
        for unit, target in part.targets.items()
    )
    return _with_texts(pooled, each, [span for part in parts for span in part.spans], "files")
