"""Named data sets: find, fetch and load them.

To add one, add a row to ``data/sets.csv``.
Files of the package come first, then those of the folder ANHELPERS_DATA, then downloads; all have one layout.
"""

import csv
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from .. import checks
from ..errors import DataError, nearest
from ..progress import note
from .candidates import JSONL, from_systems, read_candidate_file, read_candidates
from .fetch import _download, _remote_files, _shared_data, bundled, cache_folder
from .io import _suffix_of, read_lines
from .languages import short_code
from .plain import _read_marked
from .schema import CandidateSet, TestSet
from .wmt import _language_pairs, _read_mme, _read_wmt, is_mme


@dataclass(frozen=True)
class _DataSet:
    """A named data set.

    Parameters
    ----------
    path : str
        A file or folder below a data folder.
    lp : str
        Language pair of a test set; "" for other data.
    year : str
        Layout of its WMT text tree.
    mono : str
        Its monolingual reference R: another named set, or a path in the package.
    ratings : str
        The named set of its MQM ratings.
    licence, note : str
        What its owners allow, and what it is.
    """

    path: str
    lp: str
    year: str
    mono: str
    ratings: str
    licence: str
    note: str


def _read_sets() -> dict[str, _DataSet]:
    """Name -> data set, from the table of the package."""
    with bundled("sets.csv").open(encoding="utf-8", newline="") as file:
        return {row.pop("name"): _DataSet(**row) for row in csv.DictReader(file)}


SETS: Mapping[str, _DataSet] = _read_sets()
TEACHING = {name: one for name, one in SETS.items() if one.path.startswith("teaching/")}
"""The sets of the package; "teaching" is an alias of "teaching/en-de"."""
_RATINGS = {name: one.ratings for name, one in SETS.items() if one.ratings}
_RATINGS |= {"ted/en-de": "mqm/ted-ende"} | {n: n for n in SETS if n.startswith("mqm/")}
CANDIDATES = "candidates.jsonl"


def whereabouts(name: str) -> Path | None:
    """Return the file or folder of a named data set; None if it is missing."""
    one = SETS[checks.one_of(name, SETS, "data set", "List them: anhelpers data.")]
    if name in TEACHING:
        return bundled(one.path)
    shared, rows, kept = _shared_data(), _remote_files(name), cache_folder()
    if shared is not None and _holds(shared / one.path, one.lp):
        return shared / one.path
    whole = rows and all((kept / row.file).is_file() for row in rows)
    return kept / one.path if whole else None


def _holds(place: Path, lp: str) -> bool:
    """Whether a folder exists, and has the texts of a language pair."""
    if not lp or not place.exists():
        return place.exists()
    return lp in _language_pairs(place)


def find_file(name: str) -> Path:
    """Return the file or folder of a named data set, such as "xmi" or "wmt24/en-de".

    Raises
    ------
    UnknownName : no such data set. DataError : it is not on this machine; the message has the command that fetches it.
    """
    place = whereabouts(name)
    if place is None:
        from ..scoring.stored import score_tables

        get = f"anhelpers data --fetch {name}" if _remote_files(name) else "set ANHELPERS_DATA"
        also = " Its scores need no texts: anhelpers run an_5_2_systems." * (name in score_tables())
        raise DataError(f"not on this machine ({SETS[name].path}): {get}.{also}", name)
    return place


def fetch_data(names: str | Iterable[str]) -> dict[str, Path]:
    """Download what is missing of some data sets, verify it, and return where each is.

    The network is used unless ANHELPERS_OFFLINE is set; ANHELPERS_MIRROR names a different server. Files without a
    known checksum are not verified, and a note says so.

    Raises
    ------
    UnknownName : no such data set. DataError : not downloadable, or missing while offline.
    AnhelpersError : no network connection, or a checksum mismatch.
    """
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        if whereabouts(name) is None and (rows := _remote_files(name)):
            known = all(row.sha256 or row.git_blob_sha1 for row in rows)
            told = SETS[name].licence + ("" if known else "; no known checksum: not verified")
            note(f"{name}: {len(rows)} files from github.com/{rows[0].repo}; {told}.")
            _download(rows, name)
    return {name: find_file(name) for name in names}


def available() -> list[dict[str, Any]]:
    """Return a row per data set: name, note, licence, files, place.

    Files are those that can be downloaded; place is None if the set is missing.
    """
    return [
        {
            "name": name,
            "note": one.note,
            "licence": one.licence,
            "files": len(_remote_files(name)),
            "place": whereabouts(name),
        }
        for name, one in SETS.items()
    ]


def load(
    name: str | PathLike,
    lp: str | None = None,
    reference: str | None = None,
    *,
    exclude: Collection[str] = (),
) -> TestSet:
    """Load a test set by name or path.

    Parameters
    ----------
    name : str or path
        "teaching/de-en", "wmt24/en-de", …; a folder (WMT tree, WMT25's JSON lines, mt-metrics-eval); XML, SGM, JSONL.
    lp : str, optional
        Language pair; needed if a folder holds several.
    reference : str, optional
        The default reference; by default that of the task, or the first by name.
    exclude : collection of str
        Systems of a folder whose files are not read.

    Raises
    ------
    UnknownName : no such data set, language pair or reference. DataError : missing or malformed.
    """
    one = SETS.get(str(name))
    if one is None:
        return _load_path(Path(name), lp, reference, exclude)
    if not one.lp:
        raise DataError(f"got {one.note}, expected the name of a test set.", name)
    checks.one_of(lp or one.lp, [one.lp], f"language pair of {name}")
    folder = find_file(str(name))
    from ..scoring.stored import offer

    called, year = str(name), int(one.year)
    test = _read_wmt(folder, one.lp, year=year, reference=reference, name=called, exclude=exclude)
    known = one.mono in SETS and whereabouts(one.mono)
    return offer(test, partial(load_mono, called) if known else tuple)


def _load_path(
    path: Path, lp: str | None, reference: str | None, exclude: Collection[str]
) -> TestSet:
    """Load a test set from a folder or file."""
    if not path.exists():
        hint = nearest(str(path), SETS) or "."
        raise DataError(f"neither a data set nor a path{hint} List them: anhelpers data.", path)
    if path.is_dir():
        pairs = list(_language_pairs(path))
        if not pairs or (lp is None and len(pairs) > 1):
            raise DataError(f"language pairs: got {', '.join(pairs) or 'none'}. Name one.", path)
        lp = lp or pairs[0]
        if is_mme(path):
            return _read_mme(path, lp, reference=reference, exclude=exclude)
        test = _read_wmt(path, lp, reference=reference, exclude=exclude)
        if reference is None and "refB" in test.refs and _own_file(path, CANDIDATES):
            reference = "refB"  # a copied teaching set: many candidates vary its refA
    else:
        jsonl = _suffix_of(path) in JSONL
        found = read_candidate_file(path, lp)[0] if jsonl else _read_marked(path, lp)
        if found is None:
            raise DataError("no sources found, expected WMT's XML, SGM, or JSONL with src.", path)
        test = found
    return test.with_reference(reference) if reference else test


def load_candidates(
    name: str | PathLike, lp: str | None = None, *, exclude: Collection[str] = ()
) -> CandidateSet:
    """Load candidates by name or path: candidates.jsonl, else the outputs of systems but those to `exclude`."""
    place = bundled(TEACHING[str(name)].path) if str(name) in TEACHING else Path(name)
    if place.is_file() and _suffix_of(place) not in (".xml", ".sgm"):
        return read_candidates(place).without(exclude)
    test = load(name, lp, exclude=exclude)
    folder = str(name) in TEACHING or str(name) not in SETS
    if folder and (own := _own_file(place, CANDIDATES)) is not None:
        return read_candidates(own, srcs=test.srcs).without(exclude)
    return from_systems(test).without(exclude)


def load_mono(name: str | PathLike) -> tuple[str, ...]:
    """Load R, the monolingual reference: distinct texts in the target language.

    Parameters
    ----------
    name : str or path
        A data set, a text file, or a folder with one mono.LANGUAGE.txt.
    """
    one = SETS.get(str(name))
    if one is None:
        files = [path for path in Path(name).glob("mono.*.txt") if path.name.count(".") == 2]
        return _distinct(files[0] if len(files) == 1 else name)
    if not one.mono:
        raise DataError("no monolingual reference. Give a file of texts in its language.", name)
    return _distinct(bundled(one.mono) if str(name) in TEACHING else find_file(one.mono))


def _distinct(path: str | PathLike) -> tuple[str, ...]:
    """Return the distinct, non-blank lines of a file."""
    lines = read_lines(path)
    texts = tuple(dict.fromkeys(line for line in lines if line.strip()))
    if left_out := len(lines) - len(texts):
        note(f"{path}: {left_out} blank or repeated lines of {len(lines)} left out.")
    return texts


def mono_for(
    data: str | PathLike, lang: str, path: str | PathLike | None = None
) -> tuple[tuple[str, ...], str]:
    """Return the monolingual reference R for any data set, and where it is from.

    In this order: the file `path`, the data set's own texts, the teaching set of this language, none.
    """
    one = SETS.get(str(data))
    if path is not None:
        return _distinct(path), str(path)
    if one and one.mono and (str(data) in TEACHING or whereabouts(one.mono)):
        return load_mono(data), f"of {data}"
    if one is None and (file := _own_file(data, f"mono.{lang}.txt")) is not None:
        return _distinct(file), f"of {data}"
    if (own := teaching_set(lang)) is not None:
        texts = load_mono(own)
        return texts, f"the {len(texts)} sentences of the teaching set, as {data} has none"
    return (), f"none for {data}; name a file of texts written in '{lang}'"


def _own_file(folder: str | PathLike, name: str) -> Path | None:
    """Return a file of a folder; None if it is missing or has no rows."""
    path = Path(folder) / name
    filled = os.path.isfile(path) and len(read_lines(path)) > (path.suffix == ".tsv")
    return path if filled else None


def ratings_file(name: str | PathLike) -> Path | None:
    """Return the file of MQM ratings of a data set or folder.

    The name is that of a test set ("wmt23/en-de") or of ratings ("mqm/ted-ende"). None if no ratings
    are known; DataError if they are not on this machine.
    """
    if str(name) in TEACHING:
        return bundled(f"{TEACHING[str(name)].path}/mqm.tsv")
    own = _RATINGS.get(str(name))
    return find_file(own) if own else _own_file(name, "mqm.tsv")


def teaching_set(lang: str) -> str | None:
    """Return the name of the teaching set of a target language, or None.

    >>> teaching_set("eng"), teaching_set("de_AT"), teaching_set("cs")
    ('teaching/de-en', 'teaching', None)
    """
    into = (name for name, one in TEACHING.items() if one.lp.endswith(f"-{short_code(lang)}"))
    return next(into, None)
