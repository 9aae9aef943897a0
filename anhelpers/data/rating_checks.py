"""What can be wrong between ratings that each read well: rows that come twice, and texts of two language pairs.

A copied row doubles the penalty of an error, and two language pairs under one system's name are averaged into a number
that belongs to neither: both are refused, with files and lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from .. import checks
from ..errors import DataError, LanguageConflict
from .identify import UNKNOWN, check_language, two_languages
from .rating_names import SEVERITIES, plain_text, visible
from .rating_rows import Scan, shortened

if TYPE_CHECKING:
    from .ratings import Ratings, Segment

__all__ = [
    "REPEATED",
    "check_file_texts",
    "check_languages",
    "check_one_pair",
    "check_units",
    "odd_weights",
    "without_clean",
    "without_copies",
]

REPEATED = ("refuse", "count", "once")
"""What to do with rows that are equal to an earlier row: refuse a file that holds a part of itself twice, count every
row, or read each row once."""

# share of sheets that may look copied by chance, two equal errors without marks; WMT23 and TED have 0
_FEW = 0.01
# ratings of translations, of which 10 (WMT23) to 75 in 100 find no error; 4 in 100 in the teaching set
_FEWEST = 30
# Dice of character pairs: two spellings of one text have 0.99 in WMT23, other sentences less than 0.5
_UNLIKE = 0.5
_PAIR = re.compile(r":([a-z]{2,3}-[a-z]{2,3})$")  # WMT23 and later, the end of a document's name


def without_copies(
    scan: Scan, rows: np.ndarray, path: str | PathLike, repeated: str = "refuse"
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The rows that count, and a note where some are equal to an earlier row: spelling, comments and the like aside.

    A file that holds a part of itself twice is told from one in which a rater marked two equal errors: rows come again
    with other segments between them, although the file keeps each translation together; or of more than one in 100
    sheets (what one rater said of one translation), and at least two, every row stands there twice or more.

    Parameters
    ----------
    scan : of the file. rows : (n,) its rows that are ratings. repeated : one of REPEATED.

    Raises
    ------
    DataError : a part of the file is there twice, unless `repeated` says what to do.
    """
    checks.one_of(repeated, REPEATED, "way with repeated rows")
    _, first, kind = np.unique(scan.mark[rows], return_index=True, return_inverse=True)
    again = first[kind] != np.arange(len(rows))
    if not again.any():
        return rows, ()
    line = scan.line[rows]
    second = int(np.argmax(again))
    stretch = second + int(np.argmin(np.append(again[second:], False))) - 1
    n, start = int(again.sum()), line[first[kind[second]]]
    told = f"line {line[second]} repeats line {start}"
    if stretch > second:
        told = f"lines {line[second]} to {line[stretch]} repeat rows from line {start} on"
    if repeated == "refuse" and _copied(scan.code[:3, rows], again, first[kind]):
        told = f"{told} ({n} of {len(rows)} rows are there again, but for spelling or comments)"
        ask = (
            "delete the copy, or say --repeated once (read each row once) or --repeated count "
            "(count all)."
        )
        what = f"a part of this file is there twice: {told}; {ask}"
        raters = {
            visible(scan.keys[2][code][0].decode("utf-8", "replace"))
            for code in np.unique(scan.code[2, rows])
        }
        if len(raters) == 1:
            who = f"has the rater '{one}'" if (one := raters.pop()) else "has no rater"
            what = (
                f"every row {who}, so that rows of several raters look like copies ({told}): write "
                "into the column "
            )
            what += (
                "rater who each row is from; if all are one person's, a part of this file is "
                f"there twice: {ask}"
            )
        raise DataError(what, path, int(line[second]))
    told += ", …" if n > stretch - second + 1 else ""
    seen = f"{n} row{' is' if n == 1 else 's are'} equal to an earlier one ({told})"
    if repeated == "once":
        return rows[~again], (f"{seen}: each is read once, as asked for.",)
    return rows, (f"{seen}: each counts; --repeated once reads it once.",)


def _copied(code: np.ndarray, again: np.ndarray, first: np.ndarray) -> bool:
    """Whether rows that come again are copies; code: (3, n) system, segment, rater; first: (n,) the row they equal."""
    _, unit = np.unique(code, axis=1, return_inverse=True)
    unit, run = unit.ravel(), np.cumsum(np.diff(code[1], prepend=code[1, 0]) != 0)
    places = np.unique(np.stack([unit, run])[:, ~again], axis=1)[0]
    several = np.bincount(unit[~again], minlength=unit.max() + 1) > 1
    scattered = np.bincount(places, minlength=len(several))[several] > 1
    together = scattered.mean() <= 0.5 if several.any() else True
    times = np.bincount(first, minlength=len(first))[first]  # how often each row stands there
    least = np.full(len(several), len(first))
    np.minimum.at(least, unit, times)
    n_whole = int((least > 1).sum())
    apart = again & (run != run[first])
    return bool(together and apart.any()) or n_whole > max(1, _FEW * len(least))


def check_units(ratings: Ratings, part: np.ndarray) -> None:
    """A DataError where a rater's rating of a translation is in two parts.

    Parameters
    ----------
    part : (n,) the part of each rating, in ascending order.
    """
    n = int(part[-1]) + 1
    pairs, row = np.unique(ratings.units() * n + part, return_index=True)
    twice = np.flatnonzero(np.diff(pairs // n) == 0)
    if twice.size:
        first, again = ratings.frame().iloc[row[twice[0] : twice[0] + 2]].itertuples()
        what = (
            f"{again.rater}'s rating of {again.system}, document {again.doc}, segment "
            f"{again.segment}"
        )
        seen = f"{what} is in {first.file}, line {first.line}, too"
        raise DataError(f"{seen}; give each rating once.", again.file, again.line)


def odd_weights(ratings: Ratings, weight: np.ndarray) -> tuple[str, ...]:
    """Notes on critical errors that weigh nothing, and on rows that say No-error and how grave it is.

    Parameters
    ----------
    weight : (n,) points of each rating.
    """
    severity, told = np.array(ratings.severities)[ratings.severity], []
    if n := int(((severity == "Critical") & (weight == 0)).sum()):
        told.append(
            f"{n} Critical error{'s' * (n != 1)} weigh{'s' * (n == 1)} nothing by these weights."
        )
    odd = np.isin(severity, SEVERITIES[2:]) & (
        np.array(ratings.categories)[ratings.category] == "No-error"
    )
    if n := int(odd.sum()):
        row = int(np.argmax(odd))
        first = f"{ratings.paths[ratings.file[row]]}, line {ratings.line[row]}"
        what = (
            f"{n} row{'s have' if n > 1 else ' has'} the category No-error and the severity of an "
            "error"
        )
        told.append(
            f"{what} (first: {first}): counted with {weight[odd].sum():g} points; mend what is "
            "wrong."
        )
    return tuple(told)


def without_clean(ratings: Ratings) -> tuple[str, ...]:
    """Notes where No-error seems to be left out of a file, or of some systems in it: 30 ratings without a single one.

    A segment is known by its rows alone, so that without its No-error it is missing in the mean.
    """
    clean = np.array([name == "No-error" for name in ratings.categories])[ratings.category]
    told, unit = [], ratings.units()
    shape = len(ratings.systems), len(ratings.segments), len(ratings.raters)
    for file, path in enumerate(ratings.paths):
        some, what = ratings.file == file, ""
        units = np.stack(np.unravel_index(np.unique(unit[some]), shape))
        systems = np.unique(units[0])
        n_rated = {s: int((units[0] == s).sum()) for s in systems}
        n_segments = {s: len(np.unique(units[1, units[0] == s])) for s in systems}
        always = [
            s
            for s in systems
            if not clean[some & (ratings.system == s)].any() and n_rated[s] >= _FEWEST
        ]
        fewer = [
            f"{ratings.systems[s]} on {n_segments[s]}"
            for s in always
            if n_segments[s] < max(n_segments.values())
        ]
        if units.shape[1] >= _FEWEST and not clean[some].any():
            what = f"none of {units.shape[1]:,} ratings of translations says No-error"
        elif fewer:
            listed = ", ".join(fewer[:5]) + ", …" * (len(fewer) > 5)
            what = f"systems without a No-error were rated on fewer segments than others ({listed})"
        if what:
            told.append(
                f"{path}: {what}: were segments without errors left out? Means are then over "
                "segments with errors alone, and rank no systems, nor do they with --shared; "
                "take the whole file, or add a row with category No-error for each translation "
                "without errors."
            )
    return tuple(told)


def check_file_texts(scan: Scan, rows: np.ndarray, ratings: Ratings) -> None:
    """A DataError where a file holds two language pairs: segments, or translations, of the same name and other text.

    One such text is an accident, which the texts' own note tells; more than one in 100, and at least two, are a file
    whose ids do not name its segments.

    Parameters
    ----------
    scan : of the file. rows : (n,) its rows that became `ratings`.
    """
    _check_names([ratings])
    shape = len(ratings.systems), len(ratings.segments)
    keys = ratings.segment, np.ravel_multi_index((ratings.system, ratings.segment), shape)
    for side, (what, key) in enumerate(zip(("source", "translation"), keys, strict=True)):
        firsts, others = _two_texts([pair[side] for pair in scan.pairs], rows, key)
        if len(others) > max(1, _FEW * firsts):
            place, start, row = next(iter(others.values()))
            system = ratings.systems[ratings.system[place]] if side else ""
            told = _told(what, ratings.segments[ratings.segment[place]], system)
            texts = [f"'{_text(scan.pairs[at][side])}'" for at in (start, row)]
            quoted = f"{texts[0]} in line {scan.line[start]}, {texts[1]} here"
            n = f"{len(others)} of {firsts} {what}s have two texts"
            raise DataError(
                f"{told} is {quoted} ({n}): are these two test sets or language pairs? Give each "
                "a file, or documents of other names.",
                ratings.paths[0],
                int(scan.line[row]),
            )


def _two_texts(
    texts: Sequence[bytes], rows: np.ndarray, key: np.ndarray
) -> tuple[int, dict[int, tuple[int, int, int]]]:
    """How many keys there are, and those with two texts: key -> place of the second, row of the first, of the second.

    Parameters
    ----------
    texts : of all rows. rows, key : (n,) rows and what each of them is of.
    """
    first: dict[int, tuple[int, bytes]] = {}
    others: dict[int, tuple[int, int, int]] = {}
    for place, (row, what) in enumerate(zip(rows.tolist(), key.tolist(), strict=True)):
        text = texts[row]
        if (known := first.get(what)) is None:
            first[what] = row, _unmarked(text)
        elif (
            text is not texts[known[0]]
            and (plain := _unmarked(text)) != known[1]
            and what not in others
            and not _alike(known[1], plain)
        ):
            others[what] = place, known[0], row
    return len(first), others


def _unmarked(text: bytes) -> bytes:
    return text.replace(b"<v>", b"").replace(b"</v>", b"") if b"v>" in text else text


def check_one_pair(parts: Sequence[Ratings]) -> None:
    """A DataError where parts are not of one language pair, by their texts and documents.

    Texts tell: a segment or a translation of the same name must have the same text everywhere, and the sources, and the
    translations, of all parts must be in one language each (`identify`).

    Parameters
    ----------
    parts : ratings of at least one file each.
    """
    _check_names(parts)
    seen: dict[tuple, tuple[Ratings, bytes]] = {}
    for part in parts:
        for (system, segment), (src, trg) in part.raw.items():
            for key, text, what in (
                ((segment,), src, "source"),
                ((system, segment), trg, "translation"),
            ):
                first, known = seen.setdefault(key, (part, text))
                if first is not part and known != text and not _alike(known, text):
                    told = _told(what, segment, system if what == "translation" else "")
                    here, there = _where(part, *key), _where(first, *key)
                    texts = (
                        f"'{_text(text)}' here, and '{_text(known)}' in {there[0]}, line {there[1]}"
                    )
                    ask = "are these two language pairs? Give them to two calls."
                    raise DataError(f"{told} is {texts}: {ask}", *here)
    check_languages(parts)


def check_languages(parts: Sequence[Ratings]) -> None:
    """A DataError where the sources, or the translations, of parts or of one part are in two languages.

    Parameters
    ----------
    parts : ratings of at least one file each.
    """
    for side, what in enumerate(("sources", "translations")):
        _one_language(parts, side, what)


def _check_names(parts: Sequence[Ratings]) -> None:
    """A DataError where documents name two language pairs, as in news_x:en-de."""
    first: dict[str, tuple[Ratings, Segment]] = {}
    for part in parts:
        for segment in part.segments:
            if match := _PAIR.search(segment.doc):
                first.setdefault(match[1], (part, segment))
    if len(first) > 1:
        (one, (part, segment)), (two, (other, again)) = list(first.items())[:2]
        (path, line), there = _where(part, segment), _where(other, again)
        raise DataError(
            f"document {segment.doc} is of {one}, and {again.doc} ({there[0]}, line {there[1]}) "
            f"of {two}: the ratings of one language pair are wanted.",
            path,
            line,
        )


def _where(part: Ratings, *key: str | Segment) -> tuple[str, int]:
    """The file and line of the first rating of a segment, or of a system's translation of it."""
    fits = part.segment == part.segments.index(key[-1])
    if len(key) > 1:
        fits &= part.system == part.systems.index(key[0])
    row = int(np.argmax(fits))
    return part.paths[part.file[row]], int(part.line[row])


def _told(what: str, segment: Segment, system: str) -> str:
    of = f"{system}'s translation" if system else f"the {what}"
    return f"{of} of document {segment.doc}, segment {segment.id},"


def _text(raw: bytes) -> str:
    """The beginning of a text without its marks, for an error."""
    return shortened(plain_text(raw))


def _alike(one: bytes, other: bytes) -> bool:
    """Whether two texts are the same one but for details: marks, spaces, a mended typo; blank ones are like any."""
    a, b = plain_text(one), plain_text(other)
    if a == b or not (a and b):
        return True
    pairs = [Counter(zip(f" {text}", f"{text} ", strict=True)) for text in (a, b)]
    return 2 * (pairs[0] & pairs[1]).total() >= _UNLIKE * (pairs[0].total() + pairs[1].total())


def _one_language(parts: Sequence[Ratings], side: int, what: str) -> None:
    first, lang = None, UNKNOWN
    for part in parts:
        texts = list(dict.fromkeys(texts[side] for texts in part.raw.values()))
        path, ask = ", ".join(part.paths), "give two language pairs to two calls"
        if mixed := two_languages(texts, plain_text):
            raise DataError(f"the {what} are in different languages, {mixed}: {ask}.", path)
        try:
            told = check_language(texts, lang, f"the {what}", plain_text)
        except LanguageConflict as error:
            there = ", ".join(first.paths if first else ())
            told = (
                f"{str(error).removesuffix('.')}, as those of {there}: they are in different "
                "languages"
            )
            raise DataError(f"{told}, so {ask}.", path) from None
        if lang == UNKNOWN and told != UNKNOWN:
            first, lang = part, told
