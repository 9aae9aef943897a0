"""Data sets by name: where each lies, whether it is here, and how to load it.

The teaching set comes with the package; the others do not, and are looked for in the folder that ANHELPERS_DATA names,
then among the downloads of `anhelpers fetch`. Both have the same layout.
"""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import Any

from .. import checks
from ..errors import DataError, UnknownName, nearest
from ..progress import note
from .candidates import JSONL, PARQUET, from_systems, read_candidate_file, read_candidates
from .identify import check_language
from .languages import short_code
from .lines import read_bytes, read_lines, table_lines
from .manifest import ENVIRONMENT, RemoteFile, cache_folder, missing, read_manifest
from .markup import read_marked, whole_set
from .mme import is_mme, read_mme
from .packed import suffix_of
from .plain import checked
from .schema import CandidateSet, TestSet
from .sets import ENTRIES, FILES, LICENCES, RATINGS, TEACHING, bundled
from .wmt import language_pairs, read_wmt
from .wmt25 import is_wmt25, read_wmt25, wmt25_pairs

__all__ = [
    "available",
    "bundled",
    "find_file",
    "licence_of",
    "load",
    "load_candidates",
    "load_mono",
    "minimal_pairs",
    "mono_for",
    "note_of",
    "own_file",
    "ratings_file",
    "remote_files",
    "shared_data",
    "target_language",
    "teaching_set",
    "whereabouts",
]

CANDIDATES, PAIRS, STANDARD = "candidates.jsonl", "minimal_pairs.tsv", "refB"
"""Of a teaching set: its files, and the reference from which no candidate was made."""
_FOR_RATINGS = (
    "anhelpers mqm {0} gives penalties, anhelpers run an_5_2_mqm --data {0} tests the systems"
)


def shared_data() -> Path | None:
    """The folder that ANHELPERS_DATA names, or None where it is not set; a DataError where it is no data folder."""
    named = os.environ.get(ENVIRONMENT, "").strip()
    if not named:
        return None
    folder = checks.local_path(named)
    if not (folder / "MANIFEST.tsv").is_file():
        what = "holds no MANIFEST.tsv" if folder.is_dir() else "does not exist"
        raise DataError(
            f"this folder, which {ENVIRONMENT} names, {what}; point it at the data folder.", folder
        )
    return folder


NAMED = "a data set is named by a text, such as 'wmt24/en-de', or by the path of its files"


def load(name: str | PathLike, lp: str | None = None, reference: str | None = None) -> TestSet:
    """A test set by name, or from a path: a WMT tree, WMT25's JSON lines, a directory of mt-metrics-eval, or JSONL.

    Parameters
    ----------
    name : "teaching/de-en", "teaching" (or "teaching/en-de"), "wmt24/en-de", "wmt24/ja-zh", "wmt24/en-es",
        "wmt24/en-cs", "wmt23/en-de", "wmt25/cs-de" (without sources and references), or a path.
    lp : language pair of a path; needed where a folder holds several.
    reference : the default reference; None: the standard one of a named set, refB of a folder with candidates.jsonl
        (a teaching set of one's own, whose refA many candidates vary), else the first by name.

    Raises
    ------
    UnknownName : no such data set, language pair or reference. DataError : it is not here, or is broken.
    """
    checks.a_kind(name, checks.PLACE, NAMED)
    entry = ENTRIES.get(str(name))
    if entry is None:
        return _load_path(Path(name), lp, reference)
    checks.one_of(lp or entry.lp, [entry.lp], f"language pair of {name}")
    if entry.year == 2025:
        test = read_wmt25(find_file(str(name)), entry.lp, name=str(name))
        return test.with_reference(reference) if reference else test
    return read_wmt(
        find_file(str(name)), entry.lp, year=entry.year, reference=reference, name=str(name)
    )


def load_candidates(name: str | PathLike, lp: str | None = None) -> CandidateSet:
    """Candidates by name, or from a path: the file of a teaching set, which is candidates.jsonl in a folder of one's
    own; elsewhere each system's output is one."""
    checks.a_kind(name, checks.PLACE, NAMED)
    entry = ENTRIES.get(str(name))
    if entry is not None and entry.candidates:
        return read_candidates(bundled(entry.candidates), srcs=load(name).srcs)
    if entry is None and os.path.lexists(name) and not os.path.isdir(name) and not _is_marked(name):
        return read_candidates(name)
    if entry is None and (own := own_file(name, CANDIDATES)) is not None:
        return read_candidates(own, srcs=load(name, lp).srcs)
    return from_systems(load(name, lp))


def load_mono(name: str | PathLike) -> tuple[str, ...]:
    """The monolingual reference R of a data set: texts written in the target language; or the lines of a file, or of
    the one mono.LANGUAGE.txt in a folder.

    Blank lines are no texts and are left out, which a note tells.
    """
    checks.a_kind(name, checks.PLACE, NAMED)
    entry = ENTRIES.get(str(name))
    if entry is None:
        if not os.path.lexists(name):
            raise UnknownName("data set", str(name), ENTRIES)
        files = [path for path in Path(name).glob("mono.*.txt") if path.name.count(".") == 2]
        return _written(files[0] if len(files) == 1 else name)
    if not entry.mono:
        raise DataError(
            f"{name} has no monolingual reference here; give a file of texts written in its target "
            "language."
        )
    return _written(bundled(entry.mono) if entry.in_package else find_file(entry.mono))


def _written(path: str | PathLike, lang: str | None = None) -> tuple[str, ...]:
    """The distinct lines of a file that are not blank, in that language; a note on stderr counts the others.

    A text that is there twice says nothing more of how people write, and would make an interval too short.
    """
    lines = read_lines(path)
    there = [line for line in lines if line.strip()]
    if lang is not None:
        check_language(there, lang, f"the texts of {path}")
    texts = tuple(dict.fromkeys(there))
    for what, n in (("blank", len(lines) - len(there)), ("repeated", len(there) - len(texts))):
        if n:
            note(f"{path}: {n} {what} line{'s' * (n > 1)} of {len(lines)} left out.")
    return texts


def minimal_pairs(name: str | PathLike) -> list[tuple[str, str, str]]:
    """(phenomenon, grammatical sentence, ungrammatical one) of a teaching set, in its target language.

    Parameters
    ----------
    name : a teaching set, or a folder of one's own; () of others, and of a folder without minimal_pairs.tsv.

    Raises
    ------
    DataError for another header, or a line that is not three cells, none of them blank.
    """
    path = own_file(bundled(TEACHING[str(name)].tree) if str(name) in TEACHING else name, PAIRS)
    pairs = []
    for number, line in enumerate(read_lines(path)[1:] if path else (), 2):
        cells = line.split("\t")
        if len(cells) != 3 or not all(cell.strip() for cell in cells):
            told = "is no minimal pair; write phenomenon, good and bad sentence, with tabs between."
            raise DataError(f"'{line:.60}' {told}", path, number)
        pairs.append((cells[0], cells[1], cells[2]))
    return pairs


def own_file(folder: str | PathLike, name: str) -> Path | None:
    """A file of a set in a folder; None where there is no such folder, no such file, or only a header in it.

    Parameters
    ----------
    name : of the file, such as "mqm.tsv".
    """
    path = Path(folder) / name
    return (
        path if os.path.isfile(path) and len(table_lines(path)) > (path.suffix == ".tsv") else None
    )


def mono_for(
    data: str | PathLike, lang: str, path: str | PathLike | None = None
) -> tuple[tuple[str, ...], str]:
    """(texts, where they are from): the monolingual reference R for any data set or file of translations.

    The lines of `path` where one is given; else those of the named data set where they are here, or of mono.LANG.txt
    in a folder; else those of the teaching set in this language; else none, and the sentence says what to do.

    Parameters
    ----------
    data : a named data set, or a file of translations. lang : code of the language. path : a file of plain text.
    """
    if path is not None:
        return _written(path, lang), str(path)
    entry = ENTRIES.get(str(data))
    if (
        entry is not None
        and entry.mono
        and (entry.in_package or whereabouts(entry.mono) is not None)
    ):
        # a set that was fetched has its texts here, but not always R
        return load_mono(data), f"of {data}"
    if entry is None and (file := own_file(data, f"mono.{lang}.txt")) is not None:
        return _written(file, lang), f"of {data}"
    if (own := teaching_set(lang)) is not None:
        texts = load_mono(own)
        return (
            texts,
            f"the teaching set's {len(texts)} sentences, as none is here for {data}; another by "
            "its file",
        )
    return (), f"none for {data}; name a file of texts that people wrote in '{lang}'"


def available() -> list[dict[str, Any]]:
    """Each named test set: its name, where it lies (a path below the package's or a data folder), present, note."""
    rows = []
    for name, entry in ENTRIES.items():
        try:
            place = whereabouts(name)
            kept = (
                place is not None and not entry.in_package and place.is_relative_to(cache_folder())
            )
        except DataError:
            place, kept = None, False
        where = "package" if entry.in_package else "cache" if kept else ENVIRONMENT
        rows.append(
            {
                "name": name,
                "where": f"{where}: {entry.tree}",
                "present": place is not None,
                "note": entry.note,
            }
        )
    return rows


def note_of(name: str) -> str:
    """What a named data set is, in a few words; UnknownName with the nearest name where there is none."""
    checks.one_of(name, [*ENTRIES, *FILES], "data set")
    return ENTRIES[name].note if name in ENTRIES else FILES[name][1]


def licence_of(name: str) -> str:
    """What the owners of a data set allow, or that they state nothing."""
    rows = remote_files(name)
    return "; ".join(dict.fromkeys(row.licence for row in rows)) if rows else LICENCES[name]


def remote_files(name: str) -> list[RemoteFile]:
    """The files of a data set that `anhelpers fetch` can download, from the package's manifest; none for some sets."""
    return [row for row in read_manifest(bundled("manifest.tsv")) if row.dataset == name]


def find_file(name: str) -> Path:
    """Where a named data set lies: its one file, or the folder of its texts; a DataError says how to get it.

    Names are those of `anhelpers data`, e.g. "mqm/wmt23-ende-sxs", "xmi", "wmt24/autoscores", "wmt24/en-de".
    """
    place = whereabouts(name)
    if place is None:
        raise _absent(name)
    return place


def ratings_file(name: str | PathLike) -> Path | None:
    """The MQM ratings of a test set ("wmt23/en-de", "ted/en-de"), by their own name ("mqm/ted-ende"), or mqm.tsv in a
    folder.

    None where none are known, a DataError where they are not here.

    "wmt23/en-de" has a .tar.gz with one table, the others are tables.
    """
    if str(name) in TEACHING:
        return bundled(f"{TEACHING[str(name)].tree}/mqm.tsv")
    own = str(name) if str(name) in RATINGS.values() else RATINGS.get(str(name))
    return find_file(own) if own else own_file(name, "mqm.tsv")


def target_language(name: str | PathLike, lang: str | None = None) -> str:
    """The code of the language of a data set's translations: `lang` where it is given, else that of its name.

    A DataError for a path, as only the user knows the language of its texts.

    Parameters
    ----------
    lang : what the user says; a contradiction to the name is refused.

    >>> target_language("ted/en-de"), target_language("ratings.tsv", "zh")
    ('de', 'zh')
    """
    pairs = {known: known.rpartition("/")[2] for known in RATINGS} | {
        known: e.lp for known, e in ENTRIES.items()
    }
    own = pairs.get(str(name), "").partition("-")[2]
    if not (own or lang):
        what = (
            "which language its translations are in is not said; name it as lang (for a notebook: "
            "-p lang de)."
        )
        raise DataError(what, name)
    if own and lang and short_code(lang) != short_code(own):
        raise DataError(
            f"its translations are in '{own}', and lang says '{lang}'; leave one of them away.",
            name,
        )
    return lang or own


def teaching_set(lang: str) -> str | None:
    """The name of the teaching set whose translations are in a language; None where there is none.

    >>> teaching_set("eng"), teaching_set("de_AT"), teaching_set("cs")
    ('teaching/de-en', 'teaching', None)
    """
    return next(
        (name for name, entry in TEACHING.items() if entry.lp.endswith(f"-{short_code(lang)}")),
        None,
    )


def whereabouts(name: str) -> Path | None:
    """Where a named data set lies, or None where it is not here.

    The first that has all files of it: the package, the folder of ANHELPERS_DATA, the downloads. The user's own
    folder may also hold a part; a part of it among the downloads is an interrupted download, and does not count.
    """
    note_of(name)
    path = _path(name)
    if name in ENTRIES and ENTRIES[name].in_package:
        return bundled(path)
    shared, rows = shared_data(), remote_files(name)
    for root in (shared, cache_folder()):
        if root is not None and (not missing(root, rows) if rows else (root / path).exists()):
            return root / path
    return shared / path if shared is not None and _holds(shared, name) else None


def _path(name: str) -> str:
    """Where a data set lies below its data folder."""
    return ENTRIES[name].tree if name in ENTRIES else FILES[name][0]


def _holds(root: Path, name: str) -> bool:
    """Whether a data folder has something of a data set: sources of its language pair, or its file."""
    place = root / _path(name)
    if name not in ENTRIES:
        return place.exists()
    if is_wmt25(place):
        return ENTRIES[name].lp in wmt25_pairs(place)
    return (place / "sources").is_dir() and ENTRIES[name].lp in language_pairs(place)


def _absent(name: str) -> DataError:
    """The sentence for a data set that is not here: what was looked for, and the command that gets it."""
    root, path, rows = shared_data(), _path(name), remote_files(name)
    there = root is not None and (root / path).exists()
    where = f"{ENVIRONMENT} is not set" if root is None else f"there is no {path} in it"
    where = f"{path} in it has no {ENTRIES[name].lp}" if there else where
    get = "; it cannot be downloaded, so take a file of your own instead"
    if rows:
        cached = len(rows) - len(missing(cache_folder(), rows))
        part = f"{cached} of its {len(rows)} files are downloaded; " if cached else ""
        get = f", or download it ({part}licence: {licence_of(name)}): anhelpers fetch {name}"
    return DataError(
        f"{name} is not here; set {ENVIRONMENT} to a folder with MANIFEST.tsv and {path} "
        f"({where}){get}.",
        root,
    )


def _load_path(path: Path, lp: str | None, reference: str | None) -> TestSet:
    """A test set from a path."""
    if os.path.isdir(path):
        new = is_wmt25(path)
        pairs = wmt25_pairs(path) if new else language_pairs(path)
        if not pairs:
            raise DataError(
                "holds no test set: a WMT tree has sources, references, system-outputs.", path
            )
        if lp is None and len(pairs) != 1:
            there = ", ".join(sorted(pairs))
            raise DataError(
                f"holds {len(pairs)} language pairs ({there}); say which by -l (in Python: lp).",
                path,
            )
        pair = lp or next(iter(pairs))
        if new:
            return read_wmt25(path, pair, name=f"{path.resolve().name}/{pair}")
        if is_mme(path):
            return read_mme(path, pair, reference=reference)
        test = read_wmt(path, pair, reference=reference)
        own = reference is None and STANDARD in test.refs and own_file(path, CANDIDATES) is not None
        return test.with_reference(STANDARD) if own else test
    if (name := path.as_posix()) in FILES:
        rated = (
            f"; {_FOR_RATINGS.format(name)}"
            if name in RATINGS.values()
            else "; anhelpers data says where it lies"
        )
        raise DataError(f"this is no test set but {FILES[name][1]}{rated}.", path)
    if not os.path.exists(path):
        hint = nearest(str(path), ENTRIES) or f"; names: {', '.join(ENTRIES)}."
        raise DataError(f"neither a known data set nor a path that exists{hint}", path)
    test = _from_file(path, lp)
    if test is None:
        told = 'give a folder, WMT\'s XML, or JSONL with "src", "refs" and "candidates" per line'
        raise DataError(
            f"holds no sources; {told}; if it holds MQM ratings, {_FOR_RATINGS.format('FILE')}.",
            path,
        )
    return test.with_reference(reference) if reference else test


def _from_file(path: Path, lp: str | None) -> TestSet | None:
    """A test set from one file; None where it holds no sources."""
    if suffix_of(path) in JSONL:
        return read_candidate_file(path, lp)[0]
    marked = read_marked(read_bytes(path), path)
    return None if marked is None else checked(whole_set(marked, lp))


def _is_marked(path: str | PathLike) -> bool:
    """Whether a file is WMT's SGM or XML, whose systems are the candidates."""
    return (
        os.path.isfile(path)
        and suffix_of(path) not in (*JSONL, *PARQUET)
        and bool(read_marked(read_bytes(path), path))
    )
