"""Read expert ratings (MQM): the errors that raters marked in the translations of segments.

One reader for the files of WMT and TED, 2020 to 2024 (google/wmt-mqm-human-evaluation), whose columns, spellings and
quoting differ by year. `anhelpers.mqm` scores them.
"""

from __future__ import annotations

import csv
import io
import re
import tarfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import AnhelpersWarning, DataError, nearest
from ..progress import note
from .io import read_bytes

if TYPE_CHECKING:
    import pandas as pd

SEVERITIES = ("No-error", "Neutral", "Minor", "Major", "Critical")
"""Severities from harmless to grave; Critical occurs in files of 2024 only."""

# column -> its names in a header without case, spaces and "_"; the first that is present counts. An "id" counts within
# its document, a "global_id" through the file; a file may have only one of the two.
_COLUMNS = {
    "system": ("system",),
    "doc": ("doc",),
    "id": ("docsegid", "docid", "segid", "globalsegid"),
    "global_id": ("globalsegid", "segid", "docsegid", "docid"),
    "rater": ("rater",),
    "category": ("category",),
    "severity": ("severity",),
    "source": ("source",),
    "target": ("target",),
}
_NAMES = list(_COLUMNS)[:7]
_SIDE = re.compile(r" ?\(translation ?\d*\)$", re.IGNORECASE)  # of two side by side, which one
_FLUFF = re.compile(r"[\s_!-]")
_DIGITS = re.compile(r"(\d+)")
_MARKED = re.compile(r"<v>(.*?)(?:</v>|\Z)", re.DOTALL)  # one that is not closed runs to the end


class Segment(NamedTuple):
    """A segment with the ids of the file, which count from 0 or from 1.

    Parameters
    ----------
    doc : str
        Document.
    id, global_id : str
        Within the document and within the file; equal if the file has only one of the two.
    """

    doc: str
    id: str
    global_id: str


@dataclass(frozen=True, eq=False, repr=False)
class Ratings:
    """n ratings in the order of the file; a code is a position in the tuple of names of its column.

    Parameters
    ----------
    systems, segments, raters, categories, severities : tuple
        The distinct names; segments in reading order.
    system, segment, rater, category, severity : (n,) int32 array
        Codes.
    file, line : (n,) int array
        Position in `paths`, and line from 1.
    paths : tuple of str
        The files.
    sources, targets : mapping
        Segment to text, and (system, segment) to text, without marks; empty if read without texts.
    spans : tuple of str
        n marked texts, "" without a mark, several joined by " … "; empty if read without texts.
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
    sources: Mapping[Segment, str] = field(default_factory=dict)
    targets: Mapping[tuple[str, Segment], str] = field(default_factory=dict)
    spans: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.line)

    def __repr__(self) -> str:
        sizes = (
            f"{len(self.systems)} systems, {len(self.segments)} segments, {len(self.raters)} raters"
        )
        return f"Ratings({len(self)} ratings of {sizes}; {', '.join(Path(path).name for path in self.paths)})"

    @property
    def segment_names(self) -> tuple[str, ...]:
        """A name for each segment: its global id if these are distinct, else DOC:ID."""
        ids = tuple(segment.global_id for segment in self.segments)
        return ids if len(set(ids)) == len(ids) else tuple(f"{s.doc}:{s.id}" for s in self.segments)

    def frame(self) -> pd.DataFrame:
        """file, line, system, segment, doc, rater, category, severity: a row per rating, in names."""
        import pandas as pd

        columns: dict[str, tuple[Iterable[str], np.ndarray]] = {
            "file": (self.paths, self.file),
            "system": (self.systems, self.system),
            "segment": (self.segment_names, self.segment),
            "doc": ([segment.doc for segment in self.segments], self.segment),
            "rater": (self.raters, self.rater),
            "category": (self.categories, self.category),
            "severity": (self.severities, self.severity),
        }
        named = {k: np.array([*names], dtype=object)[code] for k, (names, code) in columns.items()}
        table = pd.DataFrame(named)
        table.insert(1, "line", self.line)
        return table


def read_ratings(path: str | PathLike, *more: str | PathLike, texts: bool = False) -> Ratings:
    """Read the ratings of one or more files: .tsv or .csv, plain or compressed, or alone in a tar archive.

    Case, spaces, "_", "-" and a suffix "(Translation 2)" do not distinguish categories or severities. Attention checks
    (HOTW-test), WMT24's canary and rows of metadata without a rater are left out. An empty severity is No-error.

    Parameters
    ----------
    path, *more : path
        The files; raters of the same name are the same rater.
    texts : bool
        Whether to keep sources, targets and marked spans.

    Raises
    ------
    DataError : a missing column, a row of another length, an empty name, an unknown severity, or a rating of a
        translation by a rater in two files; with file and line.
    """
    import pandas as pd

    paths = tuple(map(str, (path, *more)))
    rows = pd.concat([_rows(one).assign(file=i) for i, one in enumerate(paths)], ignore_index=True)
    first = rows.groupby([*_NAMES[:5]]).file.transform("first")
    if (again := rows.file != first).any():
        row = rows.loc[again.idxmax()]
        told = f"the rating of {row.system}, {row.doc}, segment {row.id} by {row.rater} is also in"
        raise DataError(f"{told} {paths[first[row.name]]}.", paths[row.file], row.line)
    shown = {category_key(name): name for name in sorted(set(rows.category), reverse=True)}
    segments = [Segment(*key) for key in zip(rows.doc, rows.id, rows.global_id, strict=True)]
    columns: tuple[tuple[Iterable, Callable[[Any], Any]], ...] = (
        (rows.system, _natural),
        (segments, lambda s: (_natural(s.global_id), _natural(s.doc), _natural(s.id))),
        (rows.rater, _natural),
        (map(shown.__getitem__, map(category_key, rows.category)), _natural),
        (rows.severity, SEVERITIES.index),
    )
    names, codes = zip(*(_coded(list(values), order) for values, order in columns), strict=True)
    found: tuple[Any, ...] = (*names, *codes, rows.file.to_numpy(), rows.line.to_numpy(), paths)
    return Ratings(*found, *(_texts(rows, segments) if texts else ()))


def _coded(values: list, order: Callable[[Any], Any]) -> tuple[tuple, np.ndarray]:
    """The distinct values in order, those that tie by themselves; and the position of each value."""
    names = sorted(sorted(set(values)), key=order)
    place = {name: i for i, name in enumerate(names)}
    return tuple(names), np.array([place[value] for value in values], np.int32)


def _texts(rows: pd.DataFrame, segments: list[Segment]) -> tuple[dict, dict, tuple[str, ...]]:
    """Sources, targets and spans; of several texts of a translation the first, with a note."""
    sources: dict[Segment, str] = {}
    targets: dict[tuple[str, Segment], str] = {}
    spans, other = [], set()
    for system, segment, *pair in zip(rows.system, segments, rows.source, rows.target, strict=True):
        src, trg = (text.replace("<v>", "").replace("</v>", "") for text in pair)
        unit = system, segment
        if (sources.setdefault(segment, src), targets.setdefault(unit, trg)) != (src, trg):
            other.add(unit)
        spans.append(" … ".join(_MARKED.findall(pair[1]) + _MARKED.findall(pair[0])))
    if other:
        note(f"{len(other)} rated translations have several texts; the first is kept.")
    return sources, targets, tuple(spans)


def _rows(path: str) -> pd.DataFrame:
    """A row per rating: line, the columns of `_NAMES` in clean spelling, source and target with their marks."""
    import pandas as pd

    lines = _lines(path)
    first, second = next(lines, ""), next(lines, "")
    delimiter = "\t" if "\t" in first else max(",;", key=first.count)
    cells = [cell.strip().strip('"') for cell in first.split(delimiter)]
    # WMT23 has a link to its documentation in one more cell of the header
    header = [re.sub("[ _]", "", cell.lower()) for cell in cells if not cell.startswith("#")]
    places = {
        name: next((header.index(one) for one in known if one in header), -1)
        for name, known in _COLUMNS.items()
    }
    if missing := [name for name, place in places.items() if place < 0]:
        raise DataError(
            f"missing column {', '.join(missing)}; found: {', '.join(cells):.60}.", path, 1
        )
    if twice := [
        one for one in header if one in sum(_COLUMNS.values(), ()) and header.count(one) > 1
    ]:
        raise DataError(f"got column {twice[0]} twice. Rename one.", path, 1)
    # files whose last column is JSON in quotes (2022 en-ru, 2023 he-en, 2024 en-es), and .csv
    quoted = delimiter != "\t" or "misc" in header or '\t"{""' in second
    pick, needed, found = itemgetter(*places.values()), max(places.values()) + 1, []
    for line, fields in _split(chain((second,), lines), delimiter, path if quoted else ""):
        if not needed <= len(fields) <= len(header):
            raise DataError(f"got {len(fields)} cells, expected {len(header)}.", path, line)
        found.append((line, hash(tuple(fields)), *pick(fields)))
    table = pd.DataFrame(found, columns=["line", "hash", *places])
    for name in _NAMES:
        table[name] = table[name].str.strip()
    table = _kept(table, path)
    _check(table, path)
    return table


def _lines(path: str) -> Iterator[str]:
    """The lines of a file, or of the one file in a tar archive, with their ends."""
    data = read_bytes(path)
    if data[257:262] == b"ustar":
        try:
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                (file,) = (member for member in archive if member.isfile())
                data = archive.extractfile(file).read()  # type: ignore[union-attr]
        except (ValueError, tarfile.TarError) as error:
            raise DataError(f"expected an archive of one file ({error}).", path) from None
    # one by one: a 100 MB file is never in memory as text
    for number, line in enumerate(io.BytesIO(data.removeprefix(b"\xef\xbb\xbf")), 1):
        try:
            yield line.decode()
        except UnicodeDecodeError:
            raise DataError(
                "got a byte that is not UTF-8. Save the file as UTF-8.", path, number
            ) from None


def _split(lines: Iterable[str], delimiter: str, quoted: str) -> Iterator[tuple[int, list[str]]]:
    """(line, fields) of each row that is not blank; with CSV quoting if the path is given, else quotes are text."""
    if not quoted:
        for line, row in enumerate(lines, 2):
            if row and not row.isspace():
                yield line, row.rstrip("\r\n").split(delimiter)
        return
    csv.field_size_limit(1 << 30)  # the JSON of a long document exceeds 128 kB
    reader, line = csv.reader(lines, delimiter=delimiter, strict=True), 2
    try:
        for fields in reader:
            if any(map(str.strip, fields)):
                yield line, fields
            line = reader.line_num + 2
    except csv.Error as error:
        raise DataError(
            f"malformed CSV ({error}). Double quotes within quotes.", quoted, line
        ) from None


def _kept(table: pd.DataFrame, path: str) -> pd.DataFrame:
    """The rows that rate a system, in clean spelling; notes count the others, and errors without a severity."""
    severity = table.severity.map(category_key)
    silent = (table.category == "") & (severity == "")
    left = {
        "attention checks (HOTW-test)": severity == "hotwtest",
        "rows of WMT24's canary": table.doc.str.lower() == "canary",
        "rows of metadata without a rater": (table.rater == "") & silent,
    }
    name, kept = Path(path).name, ~np.logical_or.reduce([*left.values()])
    if not kept.all():
        note(
            f"{name}: left out {', '.join(f'{n.sum()} {what}' for what, n in left.items() if n.any())}."
        )
    known = {category_key(one): one for one in SEVERITIES} | {"": "No-error"}
    clean = severity.map(known)
    if (bad := clean.isna() & kept).any():
        seen = table.severity[bad.idxmax()]
        hint = nearest(seen.capitalize(), SEVERITIES)
        told = f"severity: got '{seen:.30}', expected {', '.join(SEVERITIES)}{hint}."
        raise DataError(told, path, table.line[bad.idxmax()])
    clean_category = (table.category.map(category_key) == "noerror") | (
        (clean == "No-error") & (table.category == "")
    )
    if n := int((kept & (severity == "") & ~clean_category).sum()):
        note(f"{name}: {n} errors without a severity count as No-error.")
    category = table.category.map(lambda one: _SIDE.sub("", one)).mask(clean_category, "No-error")
    return table.assign(severity=clean, category=category)[kept]


def _check(table: pd.DataFrame, path: str) -> None:
    """Refuse a file without ratings or with empty names; warn of duplicate rows, which all count."""
    if table.empty:
        raise DataError("got no ratings.", path)
    blank = (table[_NAMES[:3]] == "").any(axis=1)
    if blank.any():
        raise DataError("got an empty system, doc or segment id.", path, table.line[blank.idxmax()])
    again = table.hash.duplicated()
    if again.any():
        last = table.loc[again.idxmax()]
        first = table.line[(table.hash == last.hash).idxmax()]
        told = f"{path}: {again.sum()} duplicate rows (first: line {last.line} = line {first}) are all counted."
        warnings.warn(told, AnhelpersWarning, stacklevel=4)


@lru_cache(4096)
def category_key(category: str) -> str:
    """What two spellings of a category or a severity have in common.

    >>> category_key("Accuracy/Omission (Translation 2)") == category_key("accuracy/omission")
    True
    >>> category_key("Do not translate"), category_key("do_not_translate"), category_key("No-error")
    ('donottranslate', 'donottranslate', 'noerror')
    """
    return _FLUFF.sub("", _SIDE.sub("", category.lower()))


def base_system(system: str) -> str:
    """The system whose output was rated side by side with another.

    >>> base_system("GPT4-5shot_with_refA")
    'GPT4-5shot'
    """
    return system.partition("_with_")[0]


@lru_cache(4096)
def _natural(name: str) -> tuple[str | int, ...]:
    """A sort key that puts "rater2" before "rater10"."""
    # int accepts no more digits
    return tuple(int(part[:4000]) if part.isdecimal() else part for part in _DIGITS.split(name))
