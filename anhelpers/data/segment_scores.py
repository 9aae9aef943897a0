"""Scores of segments that a metric gave to systems elsewhere and somebody stored: WMT25, mt-metrics-eval, tables.

What is measured is told from the metric's name (`FAMILIES`), the direction too: where lower is better, files often hold
the negated score, and that is told from its sign and turned back.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from ..errors import DataError, UnknownName
from ..metrics import Asked, Given, Metric, signature_of
from .given import covered, digest_of, need_some, rows_within, same_outputs
from .mme import is_mme, mme_scores, read_mme, read_mme_scores, score_path, scores_matrix
from .schema import TestSet
from .score_table import read_score_table
from .sets import SETS, find_file
from .wmt25 import SCORES, is_wmt25, read_wmt25, read_wmt25_scores

__all__ = ["FAMILIES", "Family", "family_of", "named", "stored_metric"]

POINTS = "points, 0 to 100"


@dataclass(frozen=True)
class Family:
    """What the scores of metrics of one name are.

    Parameters
    ----------
    unit : e.g. "0 to 1". bounds : of a score. higher_is_better : the direction of the metric itself.
    """

    unit: str
    bounds: tuple[float, float] = (-np.inf, np.inf)
    higher_is_better: bool = True


FAMILIES = {
    r"xcomet.*": Family("0 to 1", (0.0, 1.0)),
    r"cometkiwi.*|wmt\d\d-cometkiwi.*": Family("about 0 to 1"),
    r"comet.*": Family("no fixed bounds"),
    r"metricx.*": Family("MQM points, 0 to 25", (0.0, 25.0), False),
    r"gemba-esa.*|esa.*": Family(POINTS, (0.0, 100.0)),
    r"bleu(-.*)?|sentbleu.*|chrf.*": Family(POINTS, (0.0, 100.0)),
    r"mqm.*": Family("MQM points", (0.0, np.inf), False),
    r"bleurt.*": Family("no fixed bounds"),
}
"""What a metric's name in small letters looks like -> what its scores are."""

LEAST = 1e-6
"""By how much a score may be beyond a bound, for rounding."""


def family_of(name: str) -> Family | None:
    """What the scores of a metric are, by its name; None where nothing tells.

    >>> family_of("MetricX-24-Hybrid-XL").higher_is_better, family_of("my-metric")
    (False, None)
    """
    return next(
        (family for form, family in FAMILIES.items() if re.fullmatch(form, name.lower())), None
    )


def stored_metric(name: str) -> Metric:
    """The metric whose score of a system's segment is what a file says, found by number, documents and texts.

    Parameters
    ----------
    name : "stored:PLACE#METRIC". PLACE is a folder of WMT25 or of mt-metrics-eval, the name of a data set that is one,
        or a table of `score_table`; METRIC what it calls the metric (in mt-metrics-eval with the reference,
        "chrF-refA", or a human score, "mqm").

    Raises
    ------
    UnknownName, DataError : no such metric there; one whose direction is not known; when it scores, a metric of other
        texts, or scores beyond the metric's bounds.
    """
    place, metric = _parts(name)
    path = find_file(place) if place in SETS else Path(place)
    if not os.path.lexists(path):
        raise DataError("no such folder or table of scores.", path)
    table = read_score_table(path).of_metric(metric) if not path.is_dir() else None
    family = family_of(metric)
    if table is not None and "unit" in table.columns:
        family = _said(table.columns["unit"], family)
    if family is None and not is_mme(path):
        known = "XCOMET, CometKiwi, COMET, MetricX, GEMBA-ESA, chrF, BLEU, BLEURT, MQM, ESA"
        raise DataError(
            f"whether higher is better for '{metric}' is not known; known are names that begin with {known}, and in a "
            'table a column unit says it, as in "points (higher is better)".',
            path,
        )
    family = family or Family("as stored")
    files = _files(path, metric)

    def score_systems(test: TestSet) -> Given:
        found = table.given(test, metric, once=True) if table else _of_folder(path, metric, test)
        need_some(found, test, metric, path)
        values, turned = _own_direction(found.values, family, metric, path)
        return Given(values, (*found.notes, *turned))

    said = {"stored": None, "metric": metric, "from": place if place in SETS else path.name}
    return Metric(
        name,
        f"{metric}, stored",
        family.unit,
        family.higher_is_better,
        (),
        signature_of({**said, "sha256": digest_of(files)}),
        None,
        bounds=family.bounds,
        score_systems=score_systems,
    )


def named(asked: Asked) -> Metric:
    """The stored scores of a row of the table of metrics."""
    return stored_metric(asked.name)


def _parts(name: str) -> tuple[str, str]:
    """The place and the metric of "stored:PLACE#METRIC"."""
    place, _, metric = name.partition(":")[2].rpartition("#")
    if not (place.strip() and metric.strip()):
        raise DataError(
            f"'{name}' is no stored:PLACE#METRIC, such as stored:wmt25/cs-de#XCOMET-XL."
        )
    return place, metric


def _said(units: tuple[str, ...], family: Family | None) -> Family | None:
    """The unit and direction that a table's column says, such as "edits (lower is better)"."""
    match = re.fullmatch(r"(?P<unit>.*) \((?P<way>higher|lower) is .*\)", units[0])
    if match is None or len(set(units)) > 1:
        return family
    higher = match["way"] == "higher"
    same = family is not None and family.higher_is_better == higher
    return family if same else Family(match["unit"], higher_is_better=higher)


def _files(path: Path, metric: str) -> list[Path]:
    """The files in which the scores stand."""
    if not path.is_dir():
        return [path]
    if is_wmt25(path):
        if files := sorted((path / SCORES).glob("*.jsonl")):
            return files
        raise DataError(f"has no folder {SCORES} with SYSTEM.jsonl.", path)
    if is_mme(path):
        human = sorted((path / "human-scores").glob(f"*.{metric}.seg.score"))
        return human or sorted((path / "metric-scores").glob(f"*/{metric}.seg.score"))
    raise DataError(
        "is neither a folder of WMT25 (systems, automatic_scores) nor one of mt-metrics-eval (sources, metric-scores, "
        "human-scores).",
        path,
    )


def _of_folder(path: Path, metric: str, test: TestSet) -> Given:
    """The scores of a folder at the segments of a test set, where the folder has the same output."""
    if is_wmt25(path):
        whole = read_wmt25(path, test.lp)
        values = read_wmt25_scores(path, whole, metric)
    else:
        whole = read_mme(path, test.lp)
        values = _mme_values(path, metric, whole)
    rows = rows_within(whole, test)
    same = same_outputs(whole, test, rows)
    found = np.full(same.shape, np.nan)
    for j, system in enumerate(test.systems):
        if system in whole.systems:
            column = values[:, list(whole.systems).index(system)]
            found[:, j] = np.where(same[:, j], column[rows], np.nan)
    there = np.array([system in whole.systems for system in test.systems])
    notes = [covered(test, found, metric)]
    if other := int((~same[:, there]).sum()):
        notes.append(f"{other:,} outputs are not those that were scored, and have no score.")
    return Given(found, tuple(notes))


def _mme_values(path: Path, metric: str, whole: TestSet) -> np.ndarray:
    """(N, k) scores of a folder of mt-metrics-eval, higher is better, by a human score's or a metric's name."""
    name, _, ref = metric.rpartition("-")
    human = score_path(path, whole.lp, metric).exists()
    if not human and not (name and score_path(path, whole.lp, name, ref).exists()):
        stored = [one for one in mme_scores(path, whole.lp) if "seg" in one.levels]
        known = (one.name if one.ref is None else f"{one.name}-{one.ref}" for one in stored)
        raise UnknownName(f"stored score of segments in {path}", metric, known)
    table = (
        read_mme_scores(path, whole.lp, metric)
        if human
        else read_mme_scores(path, whole.lp, name, ref)
    )
    return scores_matrix(table, list(whole.systems), len(whole))[0]


def _own_direction(
    values: np.ndarray, family: Family, metric: str, path: str | PathLike
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The scores in the metric's own direction, and a sentence where they had been negated; checked by its bounds."""
    known, notes = values[~np.isnan(values)], ()
    negated = not family.higher_is_better and (known <= LEAST).all() and known.any()
    if negated:
        notes = (
            f"{metric} is stored negated ({known.min():.2f} to {known.max():.2f}); its own scores are the other way "
            "round, lower is better, and axes and tables say which they show.",
        )
        values, known = -values, -known
    low, high = family.bounds
    if known.min() < low - LEAST or known.max() > high + LEAST:
        raise DataError(
            f"{metric} goes from {known.min():.4g} to {known.max():.4g}, and its scores are {family.unit}: it is "
            "another metric, on another scale, or in a direction of its own.",
            path,
        )
    return np.clip(values, low, high), notes
