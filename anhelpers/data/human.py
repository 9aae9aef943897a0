"""Ratings of systems by people, 0 to 100 points, as accuracy: ESA and direct assessment in the forms WMT gives out.

An export of Appraise (`appraise`), WMT's JSON with sources and all translations (from 2024 on), or a table with texts
or numbers of segments.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks
from ..errors import DataError
from ..metrics import Asked, Given, Metric, signature_of
from .appraise import dates_of, is_appraise, lines_within, read_appraise
from .given import averaged, digest_of, need_some, places_by_text, rows_within, same_outputs
from .lines import csv_number, json_value, table_lines
from .packed import suffix_of
from .schema import TestSet
from .score_table import read_score_table
from .sets import SETS, find_file, load, whereabouts

__all__ = ["human_metric", "named", "rating_files"]

KINDS = ("esa", "da")
JSONL = (".jsonl", ".json")
POINTS = "points, 0 to 100"


def rating_files(place: str) -> tuple[Path, ...]:
    """The files of ratings behind a name's colon: a data set's, those of a folder, or several with commas between.

    >>> rating_files("no/such.csv")
    Traceback (most recent call last):
    anhelpers.errors.DataError: no/such.csv: no such file of ratings; give a file, a folder of CSV, or a data ...
    """
    of_texts = f"esa/{place.partition('/')[0]}"  # wmt24/en-cs: the ratings of these very texts
    for name in (place, of_texts if place in SETS else ""):
        if name.startswith("esa/") and name in SETS:
            return (find_file(name),)
    paths = [Path(one) for one in ([place] if Path(place).exists() else place.split(","))]
    if len(paths) == 1 and paths[0].is_dir():
        folder, paths = paths[0], sorted(paths[0].glob("*.csv"))
        if not paths:
            raise DataError("this folder holds no CSV of ratings.", folder)
    for path in paths:
        if not os.path.lexists(path):
            known = ", ".join(name for name in SETS if name.startswith("esa/"))
            raise DataError(
                "no such file of ratings; give a file, a folder of CSV, or a data set of ratings "
                f"({known}).",
                path,
            )
    return tuple(paths)


def human_metric(name: str) -> Metric:
    """The metric whose score of a system's segment is the mean of what raters gave it, 0 to 100 points.

    Several ratings of a translation are averaged, one without any scores nan, and notes count both.

    Parameters
    ----------
    name : "esa:FILE" or "da:FILE"; several files with commas between, a folder, or the name of a data set.

    Raises
    ------
    DataError : no such file, or no rating of these texts when it scores; a broken row, with its line.
    """
    kind, _, place = name.partition(":")
    checks.one_of(kind, KINDS, "kind of rating")
    if not place.strip():
        raise DataError(f"'{name}' names no file; write it after the colon, as in {kind}:FILE.")
    paths = rating_files(place)
    files = ",".join(path.name for path in paths)
    said: dict[str, object] = {
        kind: None,
        "mean": "segments-of-raters",
        "files": files,
        "sha256": digest_of(paths),
    }
    form = (
        "json" if suffix_of(paths[0]) in JSONL else "export" if is_appraise(paths[0]) else "table"
    )
    if form != "export" and len(paths) > 1:
        raise DataError(
            f"only exports of Appraise are read together; give {kind}:FILE one file.", paths[1]
        )
    if form == "export" and (dates := dates_of(paths)):
        said["rated"] = dates
    table = read_score_table(paths[0]) if form == "table" else None
    unit = table.points if table else POINTS

    def score_systems(test: TestSet) -> Given:
        label = kind.upper()
        if form == "export":
            found = _from_export(paths, kind, test)
        else:
            found = table.given(test, label) if table else _from_json(paths[0], test, label)
        return need_some(found, test, label, paths[0])

    return Metric(
        name,
        kind.upper(),
        unit,
        True,
        (),
        signature_of(said),
        None,
        bounds=(0.0, 100.0) if unit == POINTS else (-np.inf, np.inf),
        score_systems=score_systems,
    )


def named(asked: Asked) -> Metric:
    """The ratings of a row of the table of metrics."""
    return human_metric(asked.name)


def _from_export(paths: Sequence[Path], kind: str, test: TestSet) -> Given:
    """The ratings of exports at their lines, which are those of the whole set where it has a name."""
    appraisal, label = read_appraise(paths, kind, test.lp), kind.upper()
    here = test.name in SETS and whereabouts(test.name) is not None
    whole = load(test.name) if here else test
    lines, told = lines_within(whole, appraisal)
    own = rows_within(whole, test)
    back = np.full(len(whole), -1, dtype=np.int64)
    back[own[own >= 0]] = np.flatnonzero(own >= 0)
    same = same_outputs(whole, test, own)
    column = {system: j for j, system in enumerate(test.systems)}
    ours = [
        (row, column[one.system], one)
        for row, one in zip(back[lines].tolist(), appraisal.ratings, strict=True)
        if one.system in column
    ]
    kept = [(row, j, one) for row, j, one in ours if row >= 0 and same[row, j]]
    strangers = {one.system for one in appraisal.ratings} - column.keys() - test.refs.keys()
    named_so = ", ".join(sorted(strangers))
    others = [f"rated, but not in {test.name}: {named_so}."] if strangers else []
    if len(kept) < len(ours):
        others.append(
            f"{len(ours) - len(kept):,} ratings of these systems are of segments, or texts, that are not in "
            f"{test.name} as it is here."
        )
    found = averaged(
        test,
        ([row for row, *_ in kept], [j for _, j, _ in kept]),
        [one.points for *_, one in kept],
        label,
        raters=[one.rater for *_, one in kept],
    )
    return Given(found.values, (*appraisal.notes, *told, *found.notes, *others))


def _from_json(path: Path, test: TestSet, label: str) -> Given:
    """The ratings of WMT's JSON, a segment with all its translations a line, joined by texts."""
    given, points, raters, n_segments = [], [], [], 0
    for number, line in enumerate(table_lines(path), 1):
        record = json_value(line, path, number)
        if not isinstance(record, dict) or not isinstance(record.get("scores"), dict):
            raise DataError(
                'holds no "scores", an object of systems; WMT\'s humeval JSON is wanted.',
                path,
                number,
            )
        n_segments += bool(record["scores"])
        doc = "_#_".join(str(record.get("doc_id", "")).replace("_#_vid_", "_#_").split("_#_")[:-1])
        for system, ratings in record["scores"].items():
            texts = record.get("tgt_text")
            text = texts.get(system) if isinstance(texts, Mapping) else None
            if not isinstance(text, str) or not isinstance(record.get("src_text"), str):
                raise DataError(f"there is no source, or no translation by {system}.", path, number)
            for score, rater in _rounds(ratings, path, number):
                given.append((system, record["src_text"], text, doc))
                points.append(score)
                raters.append(rater)
    at, rows, columns = places_by_text(test, given)
    found = averaged(
        test, (rows, columns), [points[i] for i in at], label, raters=[raters[i] for i in at]
    )
    joined = (
        f"{len(at):,} of {len(given):,} ratings of {n_segments:,} segments are of translations of {test.name}, joined "
        "by source and text."
    )
    return Given(found.values, (joined, *found.notes))


def _rounds(ratings: Any, path: Path, number: int) -> Iterator[tuple[float, str]]:
    """(points, rater) of one translation: human1, annotator1, human2 … of one object, or a list of objects."""
    rounds = ratings if isinstance(ratings, list) else [ratings]
    for one in rounds:
        if not isinstance(one, Mapping):
            raise DataError(f"{one!r:.60} is no rating.", path, number)
        keys = [
            key for key in one if key in ("human", "score") or key.rstrip("0123456789") == "human"
        ]
        for key in keys:
            value = one[key]
            if value is None:
                continue
            if isinstance(value, str):
                value = csv_number(value, "rating", path, number)
            if (
                isinstance(value, bool)
                or not isinstance(value, (int, float))
                or not 0 <= value <= 100
            ):
                raise DataError(f"{value!r:.40} is no rating; they go from 0 to 100.", path, number)
            yield (
                float(value),
                str(one.get(f"annotator{key.removeprefix('human').removeprefix('score')}", "")),
            )
