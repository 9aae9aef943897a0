"""Read expert ratings (MQM): the errors that raters marked in the translations of segments.

One reader for the files of WMT and TED, 2020 to 2024 (google/wmt-mqm-human-evaluation), whose columns, spellings and
quoting differ by year. `anhelpers.mqm` scores them.
"""

from __future__ import annotations

import codecs
import io
import re
import tarfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import chain, compress
from operator import itemgetter
from os import PathLike
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from .._lazy import pd
from ..errors import AnhelpersWarning, DataError, counted
from ..progress import note
from .io import _decode, _plain, _refuse, _split_rows, read_bytes
from .languages import _infer_pair
from .schema import TestSet

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


class _Segment(NamedTuple):
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
        Segment to text, and (system, segment) to text, without marks: of several texts the most frequent, as raters
        may edit a text. Empty if read without texts.
    spans, texts : tuple of str
        n marked texts, "" without a mark, several joined by " … "; and n rated texts without marks. Empty if read
        without texts.
    """

    systems: tuple[str, ...]
    segments: tuple[_Segment, ...]
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
    sources: Mapping[_Segment, str] = field(default_factory=dict)
    targets: Mapping[tuple[str, _Segment], str] = field(default_factory=dict)
    spans: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.line)

    def __repr__(self) -> str:
        names = {"system": self.systems, "segment": self.segments, "rater": self.raters}
        sizes = ", ".join(counted(len(own), noun) for noun, own in names.items())
        sizes = f"{counted(len(self), 'rating')} of {sizes}"
        return f"Ratings({sizes}; {', '.join(Path(path).name for path in self.paths)})"

    def _only(self, kept: np.ndarray) -> Ratings:
        """The ratings of a (n,) mask, with all names and texts."""
        arrays = {name: v[kept] for name, v in vars(self).items() if isinstance(v, np.ndarray)}
        spans, texts = (tuple(compress(part, kept)) for part in (self.spans, self.texts))
        return replace(self, **arrays, spans=spans, texts=texts)

    @property
    def segment_names(self) -> tuple[str, ...]:
        """A name for each segment: its global id if these are distinct, else DOC:ID."""
        ids = tuple(segment.global_id for segment in self.segments)
        return ids if len(set(ids)) == len(ids) else tuple(f"{s.doc}:{s.id}" for s in self.segments)

    def frame(self) -> pd.DataFrame:
        """file, line, system, segment, doc, rater, category, severity: a row per rating, in names."""
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
    DataError : a missing column, a row of unexpected length, an empty name, an unknown severity, or a rating of a
        translation by a rater in two files; with file and line.
    """
    paths = tuple(map(str, (path, *more)))
    parts = [_rows(one, texts).assign(file=i) for i, one in enumerate(paths)]
    rows = pd.concat(parts, ignore_index=True)
    first = rows.groupby([*_NAMES[:5]]).file.transform("first")
    if (again := rows.file != first).any():
        row = rows.loc[again.idxmax()]
        told = f"{row.system}, {row.doc}, segment {row.id}, {row.rater}: rated in another file too."
        raise DataError(told, paths[row.file], row.line)
    shown = {_category_key(name): name for name in sorted(set(rows.category), reverse=True)}
    segments = [_Segment(*key) for key in zip(rows.doc, rows.id, rows.global_id, strict=True)]
    columns: tuple[tuple[Iterable, Callable[[Any], Any]], ...] = (
        (rows.system, _natural),
        (segments, lambda s: (_natural(s.global_id), _natural(s.doc), _natural(s.id))),
        (rows.rater, _natural),
        (map(shown.__getitem__, map(_category_key, rows.category)), _natural),
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


def _texts(rows: pd.DataFrame, segments: list[_Segment]) -> tuple[dict, dict, tuple, tuple]:
    """Sources, targets, spans and texts; of several texts of a translation the most frequent, with a note."""
    pairs = zip(rows.target, rows.source, strict=True)
    spans = tuple(" … ".join(_MARKED.findall(trg) + _MARKED.findall(src)) for trg, src in pairs)
    plain = rows[["source", "target"]].replace("</?v>", "", regex=True)
    sources, _ = _most_frequent(segments, plain.source)
    targets, n = _most_frequent(zip(rows.system, segments, strict=True), plain.target)
    if n:
        note(f"{n} rated translations have several texts; the most frequent is kept.")
    return sources, targets, spans, tuple(plain.target)


def _most_frequent(keys: Iterable, texts: Iterable[str]) -> tuple[dict, int]:
    """Key to its most frequent text, of equals the first in alphabetical order; keys with several texts."""
    counts: dict[Any, Counter] = defaultdict(Counter)
    for key, text in zip(keys, texts, strict=True):
        counts[key][text] += 1
    most = {key: min(n, key=lambda text: (-n[text], text)) for key, n in counts.items()}
    return most, sum(len(n) > 1 for n in counts.values())


def _rows(path: str, texts: bool) -> pd.DataFrame:
    """A row per rating: line, the columns of `_NAMES` in clean spelling; with texts also source and target, marked."""
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
    known: tuple[str, ...] = sum(_COLUMNS.values(), ())
    wrong = [name for name, place in places.items() if place < 0]
    if wrong := wrong or [one for one in header if one in known and header.count(one) > 1]:
        told = f"expected each column once: {', '.join(wrong):.60}; got {', '.join(cells):.60}"
        kind = "averages" * ("avg" in first) or "scores such as pSQM's" * ("score" in header)
        if kind and "severity" in wrong:
            told = f"got {kind}, expected a row per error. Try da:FILE or stored:FILE#METRIC"
        raise DataError(f"{told}.", path, 1)
    # files whose last column is JSON in quotes (2022 en-ru, 2023 he-en, 2024 en-es), and .csv
    quoted = delimiter != "\t" or first[:1] == '"' or "misc" in header or '\t"{""' in second
    kept, needed, found = [*places][: None if texts else len(_NAMES)], max(places.values()) + 1, []
    pick, rest = itemgetter(*(places[name] for name in kept)), chain((second,), lines)
    rest = (f"{line}\n" for line in rest) if quoted else rest
    for line, fields in _split_rows(rest, delimiter, path, quoted=quoted, first=2):
        if not needed <= len(fields) <= len(header):
            raise DataError(f"cells: got {len(fields)}, expected {len(header)}.", path, line)
        found.append((line, hash(tuple(fields)), *pick(fields)))
    table = pd.DataFrame(found, columns=["line", "hash", *kept])
    table.index = pd.Index(table.line.to_numpy())
    for name in _NAMES:
        table[name] = np.array([*map(str.strip, table[name])], object)
    table = _kept(table, path)
    if table.empty:
        raise DataError("got no ratings.", path)
    names = table[_NAMES[:5]]
    _refuse((names == "").any(axis=1), "expected system, doc, segment ids and rater", path, names)
    if (again := table.hash.duplicated()).any():
        last = table.loc[again.idxmax()]
        first_line = table.line[(table.hash == last.hash).idxmax()]
        told = f"row{'s' * int(again.sum() > 1)} (first: line {last.line} = line {first_line}), all counted."
        warnings.warn(f"{path}: {again.sum()} duplicate {told}", AnhelpersWarning, stacklevel=3)
    return table


def _lines(path: str) -> Iterator[str]:
    """The lines of a file, or of the one file in a tar archive, without their ends."""
    data = read_bytes(path)
    if data[257:262] == b"ustar":
        try:
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                (file,) = (member for member in archive if member.isfile())
                data = archive.extractfile(file).read()  # type: ignore[union-attr]
        except (ValueError, tarfile.TarError) as error:
            raise DataError(f"expected an archive of one file ({error!s:.80}).", path) from None
    try:  # most lines alone are ASCII, which is faster and smaller
        lines = [line.decode() for line in data.removeprefix(codecs.BOM_UTF8).split(b"\n")]
    except UnicodeDecodeError:
        lines = []
    if not lines or b"\0" in data:
        _decode(data, path)  # raises
    return iter(lines)


def _kept(table: pd.DataFrame, path: str) -> pd.DataFrame:
    """The rows that rate a system, in clean spelling; notes count the others, and errors without a severity."""
    severity = table.severity.map(_category_key)
    silent = (table.category == "") & (severity == "")
    left = {
        "attention checks (HOTW-test)": severity == "hotwtest",
        "rows of WMT24's canary": table.doc.str.lower() == "canary",
        "rows of metadata without a rater": (table.rater == "") & silent,
    }
    name, kept = Path(path).name, ~np.logical_or.reduce([*left.values()])
    if not kept.all():
        listed = ", ".join(f"{n.sum()} {what}" for what, n in left.items() if n.any())
        note(f"{name}: left out {listed}.")
    known = {_category_key(one): one for one in SEVERITIES} | {"": "No-error"}
    clean = severity.map(known)
    told = f"severity: expected {', '.join(SEVERITIES)}"
    _refuse(clean.isna() & kept, told, path, table.severity)
    clean_category = (table.category.map(_category_key) == "noerror") | (
        (clean == "No-error") & (table.category == "")
    )
    if n := int((kept & (severity == "") & ~clean_category).sum()):
        note(f"{name}: {n} errors without a severity count as No-error.")
    category = table.category.map(_without_side).mask(clean_category, "No-error")
    return table.assign(severity=clean, category=category)[kept]


_without_side = lru_cache(4096)(partial(_SIDE.sub, ""))


@lru_cache(4096)
def _category_key(category: str) -> str:
    """What two spellings of a category or a severity have in common.

    >>> _category_key("Accuracy/Omission (Translation 2)") == _category_key("accuracy/omission")
    True
    >>> _category_key("Do not translate"), _category_key("do_not_translate"), _category_key("No-error")
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


# -- the texts of a test set -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Join:
    """The segment and the text of a test set of each of M rated segments and K rated systems.

    Parameters
    ----------
    rows : (M,) int array
        Segment of the test set; -1 if none has this source text.
    names : mapping
        Rated system to the system or reference of the test set; systems without one are missing.
    same : (M, K) bool array
        Whether a rated text is the test set's, except for white space; only these are compared.
    report : tuple of str
        Counts of matched and unmatched rows, as sentences.
    ratings : Ratings
        Those of the texts of the test set, with all names; the ratings of a text that a rater edited are left out.
    """

    rows: np.ndarray
    names: Mapping[str, str]
    same: np.ndarray
    report: tuple[str, ...]
    ratings: Ratings


def join_ratings(test: TestSet, ratings: Ratings) -> Join:
    """Join rated segments and systems to those of a test set.

    Parameters
    ----------
    ratings : Ratings
        Read with texts=True. Ids may count from 0 or 1, with or without a canary: the numbering with most equal source
        texts counts. A segment whose text differs is found by its text, in reading order.

    Raises
    ------
    DataError : ratings without texts, or of other texts.
    """
    sources = [_plain(ratings.sources.get(segment, "")) for segment in ratings.segments]
    ids = [segment.global_id for segment in ratings.segments]
    rows, by_id = _matched(sources, ids, [_plain(src) for src in test.srcs])
    there = np.flatnonzero(rows >= 0)
    if not there.size or not ratings.sources:
        raise DataError(f"no rating is of {test.name:.40}; use read_ratings(path, texts=True).")
    texts = {**test.refs, **test.systems}
    named = {s: s if s in texts else base_system(s) for s in ratings.systems}
    names = {s: name for s, name in named.items() if name in texts}
    outputs = {
        (j, i): _plain(text)
        for j, s in enumerate(ratings.systems)
        for i, text in enumerate(texts[names[s]] if s in names else ())
    }
    pairs = [*zip(ratings.system.tolist(), rows[ratings.segment].tolist(), strict=True)]
    found = map(outputs.get, pairs)
    used = np.array([own == _plain(t) for own, t in zip(found, ratings.texts, strict=True)])
    same = np.zeros((len(rows), len(ratings.systems)), dtype=bool)
    same[ratings.segment[used], ratings.system[used]] = True
    n_rated = sum(system in names for system, _ in ratings.targets)
    report = [
        f"{there.size} of {len(rows)} rated segments are in {test.name} ({by_id} by id, {there.size - by_id} by text); "
        f"{len(test) - len(set(rows[there].tolist()))} of its {len(test)} segments are not rated.",
        f"{int(same.sum())} of {n_rated} rated translations are the texts of {test.name}; the others are left out.",
    ]
    if other := (n := sum(pair in outputs for pair in pairs)) - int(used.sum()):
        told = "are of another text, perhaps edited by the rater, and are left out."
        report.append(f"{other:,} of {n:,} ratings of {test.name} {told}")
    if strangers := [system for system in ratings.systems if system not in names]:
        report.append(f"Rated, but not in {test.name}: {', '.join(strangers)}.")
    return Join(rows, names, same, tuple(report), ratings._only(used))


def rated_texts(ratings: Ratings, lp: str | None = None, reference: str | None = None) -> TestSet:
    """A test set from ratings alone: their sources, the rated translations, one rated system as the reference.

    Translations without a rating are blank; segments without a rated reference are left out. Join by text.

    Parameters
    ----------
    lp : str, optional
        Language pair; by default that of the texts.
    reference : str, optional
        By default the last rated system whose name begins with "ref".
    """
    last = max((s for s in ratings.systems if s.startswith("ref")), default="ref")
    known = {system for system, _ in ratings.targets}
    reference = checks.one_of(reference or last, known, "rated reference")
    kept = [s for s in ratings.segments if (reference, s) in ratings.targets]
    texts = {
        name: tuple(ratings.targets.get((name, s), "") for s in kept) for name in ratings.systems
    }
    refs = {reference: texts.pop(reference)}
    srcs, docs = tuple(ratings.sources[s] for s in kept), tuple(s.doc for s in kept)
    lp = _infer_pair(lp, srcs, refs[reference])
    return TestSet(PurePath(ratings.paths[0]).name, lp, srcs, refs, texts, docs=docs)


def _matched(
    sources: Sequence[str], ids: Sequence[str], own: Sequence[str]
) -> tuple[np.ndarray, int]:
    """(M,) row of each rated source, -1 without one; and how many were found by their id."""
    numbers = np.array([int(i) if i.isascii() and i.isdigit() else -(10**6) for i in ids])
    hits = [
        [
            0 <= at < len(own) and own[at] == s
            for s, at in zip(sources, numbers - start, strict=True)
        ]
        for start in (0, 1, 2)  # ids from 0, from 1, and from 1 with a canary as the first
    ]
    start = int(np.argmax([sum(hit) for hit in hits]))
    rows = np.where(hits[start], numbers - start, -1)
    # ids that restart in each document name a row twice: the second is found by its text
    rows[np.setdiff1d(np.arange(len(rows)), np.unique(rows, return_index=True)[1])] = -1
    by_id = int((rows >= 0).sum())
    free: dict[str, list[int]] = {}
    for at in sorted(set(range(len(own))) - set(rows.tolist())):
        free.setdefault(own[at], []).append(at)
    for i in np.flatnonzero(rows < 0):
        if free.get(sources[i]):
            rows[i] = free[sources[i]].pop(0)
    return rows, by_id
