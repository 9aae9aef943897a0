"""Names in ratings: when two spellings are one or may be, and what the name of a document or of a system says."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .mqm_tables import RatingMap
    from .rating_rows import Scan
    from .ratings import Ratings, Segment

__all__ = [
    "DOMAINS",
    "SEVERITIES",
    "base_system",
    "category_key",
    "close_category",
    "column_key",
    "domain_of",
    "natural_key",
    "plain_text",
    "renamed",
    "spelled_twice",
    "visible",
    "whole_numbers",
    "without_side",
]

SEVERITIES = ("No-error", "Neutral", "Minor", "Major", "Critical")
"""Severities from harmless to grave; Critical is in files of 2024 and of other corpora alone."""

DOMAINS = (
    "conversation",
    "ecommerce",
    "literary",
    "manuals",
    "mastodon",
    "news",
    "social",
    "speech",
    "talk",
)
"""First words of the document names of WMT, from 2022 on, and of TED."""

_CLOSE = 0.85  # difflib's ratio from which on one name looks like another one, misspelt

# side by side, which of the two an omission is in
_SIDE = re.compile(r" ?\(translation ?\d*\)$", re.IGNORECASE)
_DIGITS = re.compile(r"(\d+)")
_FLUFF = re.compile(r"[\s_!-]")
_PAIR = re.compile(r":[a-z]{2,3}-[a-z]{2,3}$")
_MARK = re.compile(rb"</?v>")
# 1.0, as pandas writes a column of numbers with a gap; 001
_WHOLE = re.compile(rb"0*([0-9]+?)(?:\.0+)?")
_FLOAT = re.compile(rb"([0-9]+)\.0+")
# ids such as 1.2: then 1.0 is no whole number either
_FRACTION = re.compile(rb"[0-9]+\.0*[1-9][0-9]*")
_SOME, _AGAIN = 3, {1: 0.1, 40: 0.01}
"""So many source texts, and that share of those with so many characters, come again by no chance: in TED, WMT23 and
WMT24 no text of 40 characters does, and of all texts 4 in 1,000 ("Thank you.")."""
_EFFECT = {
    "raters": "a penalty is averaged over both names, so give each rater one",
    "systems": "give each system one name",
    "documents": "what is in both counts twice, so give each document one name",
}
# soft hyphens, zero-width and direction marks
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")


@lru_cache(4096)
def category_key(category: str) -> str:
    """What two spellings of one category share.

    >>> category_key("Accuracy/Omission (Translation 2)") == category_key("accuracy/omission")
    True
    >>> category_key("Do not translate"), category_key("do_not_translate"), category_key("No-error")
    ('donottranslate', 'donottranslate', 'noerror')
    """
    return _FLUFF.sub("", without_side(category.lower()))


def without_side(category: str) -> str:
    """A category without the "(Translation 2)" behind it that side by side ratings have."""
    return _SIDE.sub("", category)


def close_category(category: str, known: Iterable[str]) -> str:
    """The known category whose name looks most like another one, as a whole or behind its slash; "" where none does.

    >>> close_category("Accuracy/Non-translation", ["Accuracy/Mistranslation", "Non-translation!"])
    'Non-translation!'
    """
    best, found = _CLOSE, ""
    for name in known:
        one, other = category_key(category), category_key(name)
        for a, b in ((one, other), (one.rpartition("/")[2], other.rpartition("/")[2])):
            if (ratio := difflib.SequenceMatcher(None, a, b).ratio()) >= best:
                best, found = ratio, name
    return found


def column_key(name: str) -> str:
    """What two spellings of a column's name share.

    >>> column_key("Error Category") == column_key("error_category")
    True
    """
    return name.lower().replace("_", "").replace(" ", "")


def visible(text: str) -> str:
    """A text as an eye sees it: one form of each letter (NFC), one space for any white space, nothing invisible.

    >>> visible("rater\\u00a01\\u200b ") == "rater 1"
    True
    """
    if text.isascii():
        return " ".join(text.split())
    return " ".join(_UNSEEN.sub("", unicodedata.normalize("NFC", text)).split())


def domain_of(doc: str) -> str:
    """The domain that a document's name opens with, else "unknown" (as in WMT20 and WMT21, where all is news).

    >>> [domain_of(doc) for doc in ("news_sky.com.32794:en-de", "test-en-literary_b.7", "talk.1", "sky.158")]
    ['news', 'literary', 'talk', 'unknown']
    """
    match = re.match(r"(?:test-[a-z]+-)?([a-z]*)", doc.lower())
    return match[1] if match and match[1] in DOMAINS else "unknown"


def base_system(system: str) -> str:
    """The system whose output was rated side by side with another.

    >>> base_system("GPT4-5shot_with_refA")
    'GPT4-5shot'
    """
    return system.partition("_with_")[0]


@lru_cache(4096)
def natural_key(name: str) -> tuple[str | int, ...]:
    """A sort key by which "rater2" comes before "rater10"."""
    # int takes no more
    return tuple(int(part[:4000]) if part.isdecimal() else part for part in _DIGITS.split(name))


def plain_text(raw: bytes) -> str:
    """A text of a file without its marks, with one space for any white space."""
    return " ".join(_MARK.sub(b"", raw).decode("utf-8", "replace").split())


def whole_numbers(
    keys: Sequence[list[tuple[bytes, ...]]], code: np.ndarray, line: np.ndarray
) -> tuple[tuple[list[tuple[bytes, ...]], ...], np.ndarray, tuple[str, ...]]:
    """The keys of a file with whole numbers in one spelling, their codes, and notes that say so.

    An id is read as 1 where it is 1.0 or 001, the number of a document or of a rater where it is 1.0; but not where the
    same column has fractions, as in ids that count 1.0, 1.1, 1.2.

    Parameters
    ----------
    keys, code, line : of a `Scan`, code (4, n), line (n,); only segments and raters are changed.
    """
    columns, codes, notes = list(keys), code.copy(), []
    for column, forms, what in ((1, (_FLOAT, _WHOLE, _WHOLE), "segment"), (2, (_FLOAT,), "rater")):
        known: dict[tuple[bytes, ...], int] = {}
        parted = [
            any(_FRACTION.fullmatch(key[i].strip()) for key in keys[column])
            for i in range(len(forms))
        ]
        news = []
        for key in keys[column]:
            found = (form.fullmatch(part.strip()) for form, part in zip(forms, key, strict=True))
            parts = zip(found, key, parted, strict=True)
            news.append(
                tuple(match[1] if match and not apart else part for match, part, apart in parts)
            )
        other = [
            i for i, (old, new) in enumerate(zip(keys[column], news, strict=True)) if old != new
        ]
        if not other:
            continue
        rows = np.isin(code[column], other)
        first, n = int(np.argmax(rows)), int(rows.sum())
        both = zip(keys[column][code[column, first]], news[code[column, first]], strict=True)
        old, new = next((old.decode().strip(), new.decode()) for old, new in both if old != new)
        where = f"{n} row{'s' * (n != 1)} (first: line {line[first]})"
        notes.append(
            f"whole numbers that name a {what} are read as such in {where}: '{old}' is '{new}'."
        )
        places = np.array([known.setdefault(new, len(known)) for new in news], np.int32)
        codes[column], columns[column] = places[code[column]], list(known)
    return tuple(columns), codes, tuple(notes)


def spelled_twice(ratings: Ratings) -> dict[str, str]:
    """What seems to stand under two names ("raters", "systems", "documents" or "segments") -> a note on it.

    Names that differ by case, spaces, the zeros of a number or a language pair behind them alone may be one name; and
    many source texts under several segments may be segments that some files, or raters, name otherwise.
    """
    told = {}
    docs = tuple(dict.fromkeys(segment.doc for segment in ratings.segments))
    for what, known in (
        ("raters", ratings.raters),
        ("systems", ratings.systems),
        ("documents", docs),
    ):
        forms: dict[str, list[str]] = {}
        for name in known:
            forms.setdefault(_spelling(name), []).append(name)
        if several := [same for same in forms.values() if len(same) > 1]:
            first = (
                f"'{several[0][0]}' and '{several[0][1]}'"
                + f", and {len(several) - 1} more" * (len(several) > 1)
            )
            told[what] = (
                f"{what} that differ in spelling alone count as two each: {first}; {_EFFECT[what]}."
            )
    places: dict[str, dict[Segment, None]] = {}
    for (_, segment), (src, _) in ratings.raw.items():
        places.setdefault(plain_text(src), {})[segment] = None
    for length, share in _AGAIN.items():
        texts = [text for text in places if len(text) >= length]
        twice = [text for text in texts if len(places[text]) > 1]
        if len(twice) >= max(_SOME, share * len(texts)):
            one, other = (
                f"document {s.doc}, id {s.id} ({s.global_id})" for s in list(places[twice[0]])[:2]
            )
            n = (
                f"{len(twice)} of {len(places)} source texts stand under several segments, such as "
                f"{one}, and {other}"
            )
            told["segments"] = (
                f"{n}: each counts in the mean; give a segment the same document and ids "
                "everywhere."
            )
            break
    return told


def _spelling(name: str) -> str:
    """What is left of a name without case, spaces, a language pair behind it and the zeros of a number."""
    bare = _PAIR.sub("", visible(name).casefold().replace(" ", "")).encode()
    match = _WHOLE.fullmatch(bare)
    return (match[1] if match else bare).decode()


def renamed(scan: Scan, table: RatingMap, columns: Sequence[str]) -> tuple[Scan, tuple[str, ...]]:
    """A scan with a mapping's names of categories and severities, and notes on what it renamed, and what it could not.

    Parameters
    ----------
    scan : of the file. table : the mapping. columns : the names in the header.
    """
    if not table.name:
        return scan, ()
    kinds = ("category", "severity")
    olds = [
        tuple(part.decode("utf-8", "surrogateescape").strip() for part in key)
        for key in scan.keys[3]
    ]
    news = [tuple(map(table.renamed, kinds, key)) for key in olds]
    keys = [tuple(part.encode("utf-8", "surrogateescape") for part in key) for key in news]
    times = np.bincount(scan.code[3], minlength=len(olds)).tolist()
    there = set(map(column_key, columns))
    renames = [
        (old, new) for kind, old, new in table.rows if kind == "column" and column_key(old) in there
    ]
    said = [f"column {old} is read as {new}" for old, new in renames]
    for side, kind in enumerate(kinds):
        counts: Counter[tuple[str, str]] = Counter()
        for old, new, n in zip(olds, news, times, strict=True):
            counts[old[side], new[side]] += n
        pairs = (
            (old, new, n)
            for (old, new), n in counts.items()
            if category_key(old) != category_key(new)
        )
        said += [f"{kind} {old} counts as {new} ({n} row{'s' * (n != 1)})" for old, new, n in pairs]
    notes = [f"mapping {table.name}: {'; '.join(said) or 'nothing is renamed'}."]
    found = {
        "column": columns,
        "category": [old[0] for old in olds],
        "severity": [old[1] for old in olds],
    }
    if idle := [row for kind, names in found.items() for row in table.unused(kind, names)]:
        named = ", ".join(idle[:5]) + (f" and {len(idle) - 5} more" if len(idle) > 5 else "")
        notes.append(f"mapping {table.name}, without effect in this file: {named}.")
    return replace(scan, keys=(*scan.keys[:3], keys)), tuple(notes)
