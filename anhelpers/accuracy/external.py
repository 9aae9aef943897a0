"""Scores from elsewhere as metrics: stored, ESA, direct assessment, MQM.

Such a metric has scores of a test set's system outputs only. Several ratings of an output count by their mean;
raters are held fixed, so that intervals are for other documents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks
from .._lazy import pd
from ..data.external import POINTS, SQM, Family, read_scores, read_wmt25_scores, within
from ..data.human import KINDS, is_export, read_ratings_of
from ..data.io import read_bytes, read_table
from ..data.ratings import Ratings, join_ratings, read_ratings
from ..data.schema import TestSet
from ..data.sets import SETS, find_file, load, ratings_file
from ..data.wmt import is_mme, mme_scores, read_mme_scores
from ..errors import DataError, counted
from ..metrics import Asked, Given, Metric, signature_of
from ..mqm.scores import MqmScores, choose_scheme, score_ratings

# a name or unit, and its direction, such as "edits (lower is better)" or "x (points, higher is better)"
_WAY = re.compile(r"(?P<name>.*?) \((?:(?P<unit>[^()]*), )?(?P<way>higher|lower) is [^()]*\)$")
_TEXTS = {"text", "mt", "target", "hyp", "translation"}
_FARTHEST = 10  # standard deviations; points may be further from 0
_MQM = {"mqm": "penalty", "mqm-accuracy": "accuracy", "mqm-fluency": "fluency"}


def _external_metric(name: str) -> Metric:
    """Return a metric of stored scores or ratings, such as "esa:esa/wmt24".

    Parameters
    ----------
    name : str
        ``stored:PLACE#METRIC`` (a data set, a folder of WMT25 or mt-metrics-eval, or a table of segments),
        ``esa:PLACE`` and ``da:PLACE`` (exports of Appraise, Pearmut or WMT25, a table, or a data set), ``mqm:PLACE``,
        ``mqm-accuracy:PLACE`` and ``mqm-fluency:PLACE`` (MQM ratings, or a data set that has some).

    Raises
    ------
    UnknownName : no such kind or metric.
    DataError : no such file; an unknown direction; later, if it scores a test set, scores of other texts only.
    """
    kind, _, place = name.partition(":")
    make = {"stored": _stored, **dict.fromkeys(KINDS, _human), **dict.fromkeys(_MQM, _mqm)}
    checks.one_of(kind, make, "kind of stored scores")
    if not place.strip():
        raise DataError(f"got '{name}', expected a file or data set after the colon.")
    return make[kind](name, kind, place)


def _named(asked: Asked) -> Metric:
    """Return the metric of a row of the table of metrics."""
    return _external_metric(asked.name)


def _metric(
    name: str,
    label: str,
    family: Family,
    parts: Mapping[str, object],
    score_systems: Callable[[TestSet], Given],
) -> Metric:
    """A metric that has scores of systems only."""
    how: Any = {"bounds": family.bounds, "score_systems": score_systems}
    facts = name, label, family.unit, family.higher_is_better
    return Metric(*facts, (), signature_of(parts), None, **how)


def _digest(paths: list[Path]) -> str:
    """8 hex digits of the sha256 of some files, in any order."""
    each = sorted(sha256(read_bytes(path)).hexdigest() for path in paths)
    return (each[0] if len(each) == 1 else sha256("".join(each).encode()).hexdigest())[:8]


# -- stored scores -----------------------------------------------------------------------------------------------------


def _stored(name: str, kind: str, place: str) -> Metric:
    """The scores of one metric in a folder or table."""
    place, _, called = place.rpartition("#")
    path = find_file(place) if place in SETS else Path(place)
    if not (place.strip() and called.strip() and path.exists()):
        raise DataError(f"got '{name}', expected stored:PLACE#METRIC of an existing place.")
    table = not path.is_dir()
    called, family = _said(path, called) if table else (called, None)
    family = family or Family.of(called) or (Family("as stored") if is_mme(path) else None)
    if family is None:
        raise DataError(f"no direction. Ask for '#{called} (lower is better)', or higher.", path)
    files = [path] if table else _files(path, called)

    def score_systems(test: TestSet) -> Given:
        scores = read_scores(path, test, called) if table else _of_folder(path, called, test)
        found = _joined(test, scores, called, path)
        return found._replace(values=_own_direction(found.values, family, called, path))

    where = place if place in SETS else path.name
    parts = {"stored": None, "metric": called, "from": where, "sha256": _digest(files)}
    return _metric(name, f"{_bare(called)}, stored", family, parts, score_systems)


def _bare(name: str) -> str:
    """A name without its direction."""
    return _WAY.sub(r"\g<name>", name)


def _said(path: Path, asked: str) -> tuple[str, Family | None]:
    """The full name of a table's metric; its direction and unit, in that name or in a column unit."""
    table = read_table(path, {})
    checks.some(np.ones(len(table), bool), f"{path}: got no rows of scores.")
    if not ({"system", "segment"} <= {*table} or _TEXTS & {*table}):
        return asked, Family("as stored")  # which `read_scores` refuses
    own = {*table} - {"system", "segment", "doc", "document", "lp", "rater", "unit", *_TEXTS}
    own = {asked} if {*table} & {"value", "score", "raw", "points"} else own
    own = {*table.get("metric", own)}
    names = [asked, _bare(asked), *(one for one in own if _bare(one) == asked)]
    called = next((one for one in names if one in own), asked)
    checks.one_of(called, own, f"metric of {path.name}")
    table = table[table.metric == called] if "metric" in table else table
    units = sorted({*table.get("unit", ())} - {""})
    told = f"{path}: {called}: got units {', '.join(units):.60}, expected one."
    checks.some(np.array([len(units) < 2]), told)
    match = _WAY.fullmatch(units[0] if units else called) or _WAY.fullmatch(asked)
    if match is None:
        return called, None
    known, higher = Family.of(called), match["way"] == "higher"
    unit = match["unit"] or (match["name"] if units else "as stored")
    same = known is not None and known.higher_is_better == higher
    return called, known if same else Family(unit, higher_is_better=higher)


def _joined(test: TestSet, scores: pd.DataFrame, label: str, place: Path) -> Given:
    """Return the (N, systems) mean scores of outputs over raters; nan if missing.

    Parameters
    ----------
    scores : DataFrame
        system, segment, value; other columns are ignored.
    label, place : str, Path
        Name and origin of the scores, for messages.

    Raises
    ------
    DataError : no score is of a translation of this test set.
    """
    systems = list(test.systems)
    values = np.full((len(test), len(systems)), np.nan)
    scores = scores[scores.system.isin(systems)].dropna(subset=["value"])
    if scores.empty:
        raise DataError(f"none of the {label} scores fits a translation in {test.name}.", place)
    mean = scores.groupby(["segment", "system"])["value"].mean()
    columns = [systems.index(system) for system in mean.index.get_level_values(1)]
    values[mean.index.get_level_values(0), columns] = mean
    there = ~np.isnan(values)
    rated = int(there.any(0).sum())
    n, of = int(there.sum()), len(test) * rated
    told = f"{n:,} of {of:,} outputs of {counted(rated, 'system')} have a score"
    return Given(values, (f"{label}: {told}.",))


def _files(path: Path, called: str) -> list[Path]:
    """The files of a folder that hold the scores."""
    if (path / "automatic_scores").is_dir():
        return sorted(path.glob("automatic_scores/*.jsonl"))
    human = sorted(path.glob(f"human-scores/*.{called}.seg.score"))
    return human or sorted(path.glob(f"metric-scores/*/{called}.seg.score"))


def _of_folder(path: Path, called: str, test: TestSet) -> pd.DataFrame:
    """The scores of a folder for those outputs of a test set that it has."""
    if (path / "automatic_scores").is_dir():
        whole = load(path, test.lp, exclude=test.unread)
        return within(whole, test, read_wmt25_scores(path, whole, called))
    if not is_mme(path):
        raise DataError("neither a folder of WMT25 nor one of mt-metrics-eval.", path)
    stored = {one.called: one for one in mme_scores(path, test.lp) if "seg" in one.levels}
    one = stored[checks.one_of(called, stored, f"stored score of segments in {path}")]
    scores = read_mme_scores(path, test.lp, one.name, one.ref).rename(columns={"score": "value"})
    return within(load(path, test.lp, exclude=test.unread), test, scores)


def _own_direction(values: np.ndarray, family: Family, called: str, path: Path) -> np.ndarray:
    """The scores in the metric's own direction; files often hold negated ones."""
    low, high = family.bounds
    if not family.higher_is_better and np.nanmax(values) <= 1e-6:
        values = -values
    if np.nanmin(values) < low - 1e-6 or np.nanmax(values) > high + 1e-6:
        seen = f"{np.nanmin(values):.4g} to {np.nanmax(values):.4g}"
        raise DataError(f"{called}: got scores of {seen}, expected {family.unit}.", path)
    return np.clip(values, low, high)


# -- ratings -----------------------------------------------------------------------------------------------------------


def _rating_files(place: str) -> list[Path]:
    """Return the files of a data set of ratings, a folder, or paths with commas."""
    # wmt24/en-cs: the ratings of these texts
    of_texts = f"esa/{place.partition('/')[0]}"
    for name in (place, of_texts if place in SETS else ""):
        if name.startswith("esa/") and name in SETS:
            return [find_file(name)]
    if Path(place).is_dir():
        paths = sorted(Path(place).glob("*.csv"))
    else:
        paths = [Path(one) for one in ([place] if Path(place).exists() else place.split(","))]
    if not paths or not all(path.is_file() for path in paths):
        raise DataError("no ratings. Give CSV files, a folder, or esa/… of anhelpers data.", place)
    return paths


def _human(name: str, kind: str, place: str) -> Metric:
    """Human ratings from 0 to 100 points, or in standard deviations of a rater."""
    paths = _rating_files(place)
    family = Family(POINTS, (0.0, 100.0))
    if not is_export(paths[0]):
        names = ("raw", "score", "value", "points")
        table = read_table(paths[0], dict.fromkeys(names, float), optional=names)
        values = next((table[name].dropna() for name in names if name in table), pd.Series())
        if values.min() < 0 and values.abs().max() <= _FARTHEST:
            family = Family("standard deviations of a rater")
        elif len(values) > 9 and values.isin(range(7)).all():
            family = SQM

    def score_systems(test: TestSet) -> Given:
        found = _joined(test, read_ratings_of(test, paths, kind, family), kind.upper(), paths[0])
        return found._replace(values=_own_direction(found.values, family, kind.upper(), paths[0]))

    files = ",".join(path.name for path in paths)
    parts = {kind: None, "mean": "segments-of-raters", "files": files, "sha256": _digest(paths)}
    return _metric(name, kind.upper(), family, parts, score_systems)


def _mqm(name: str, kind: str, place: str) -> Metric:
    """Mean MQM points of an output, under the default scheme and weights."""
    path = ratings_file(place) or Path(place)
    if not path.is_file():
        raise DataError("neither a file nor a data set with MQM ratings.", path)
    ratings, scores = _scored(str(path), path.stat().st_mtime_ns)

    def score_systems(test: TestSet) -> Given:
        join = join_ratings(test, ratings)
        used = score_ratings(join.ratings, choose_scheme(ratings)).matrix(_MQM[kind])
        names = np.array([join.names.get(system) for system in used.systems], dtype=object)
        i, j = np.nonzero(~np.isnan(used.values))
        columns = {"system": names[j], "segment": join.rows[i], "value": used.values[i, j]}
        docs = np.full(len(test), "", dtype=object)
        docs[join.rows[join.rows >= 0]] = np.array(scores.docs, dtype=object)[join.rows >= 0]
        found = _joined(test, pd.DataFrame(columns), kind, path)
        notes = (*scores.notes, *join.report, *found.notes)
        return Given(found.values, notes, tuple(docs))

    family = Family("points per segment", (0.0, np.inf), False)
    parts = {scores.signature: None, "kind": _MQM[kind], "sha256": _digest([path])}
    return _metric(name, f"MQM {_MQM[kind]}", family, parts, score_systems)


@lru_cache(maxsize=2)
def _scored(path: str, changed: int) -> tuple[Ratings, MqmScores]:
    """Ratings with their texts, and their penalties; read once for both axes."""
    ratings = read_ratings(path, texts=True)
    return ratings, score_ratings(ratings, choose_scheme(ratings))
