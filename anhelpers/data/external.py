"""Scores from elsewhere: tidy frames joined to a test set.

A frame has system, segment, value and possibly rater. A segment's id is its number in the test set, from 0.
Scores without ids are found by their texts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from .._lazy import pd
from ..errors import DataError
from ..progress import note
from .io import _plain, _read_jsonl, _refuse, _stem_of, _value_of, read_table
from .languages import _split_pair, known_code, short_code
from .schema import TestSet
from .wmt import _pair_2025


class Family(NamedTuple):
    """Unit, bounds and direction of the scores of metrics with similar names."""

    unit: str
    bounds: tuple[float, float] = (-np.inf, np.inf)
    higher_is_better: bool = True

    @classmethod
    def of(cls, metric: str) -> Family | None:
        """Return unit, bounds and direction of a metric by its name; None if unknown.

        >>> Family.of("MetricX-24-Hybrid-XL").higher_is_better, Family.of("my-metric")
        (False, None)
        """
        return next((f for form, f in _FAMILIES.items() if re.match(form, metric.lower())), None)


POINTS, SQM = "points, 0 to 100", Family("points, 0 to 6", (0.0, 6.0))
_FAMILIES = {  # what a metric's name in lower case begins with
    "xcomet": Family("0 to 1", (0.0, 1.0)),
    r"(wmt\d\d-)?cometkiwi": Family("about 0 to 1"),
    "comet|bleurt": Family("no fixed bounds"),
    "metricx": Family("MQM points, 0 to 25", (0.0, 25.0), False),
    "gemba-esa|esa|bleu|sentbleu|chrf": Family(POINTS, (0.0, 100.0)),
    "mqm": Family("MQM points", (0.0, np.inf), False),
    "p?sqm": SQM,
    r"(sum_)?log_?prob": Family("nats, at most 0", (-np.inf, 0.0)),
}


# -- the join ----------------------------------------------------------------------------------------------------------


def _find_segments(test: TestSet, scores: pd.DataFrame) -> pd.DataFrame:
    """Return scores with the system and segment of every output that has their text.

    Parameters
    ----------
    scores : DataFrame
        text, value, and any of system, src, doc: those that the test set has as well must be equal.
    """
    srcs = [*map(_plain, test.srcs)]
    rows = [
        (system, segment, _plain(text), src, doc)
        for system, texts in test.systems.items()
        for segment, (text, src, doc) in enumerate(zip(texts, srcs, test.docs, strict=True))
    ]
    own = pd.DataFrame(rows, columns=["system", "segment", "text", "src", "doc"])
    keys = ["text", *(["system"] if "system" in scores else [])]
    keys += ["src"] if "src" in scores and any(srcs) else []
    keys += ["doc"] if "doc" in scores and set(scores.doc) & set(test.docs) else []
    found = scores.drop(columns=[c for c in own if c in scores and c not in keys])
    for name in {"text", "src"} & set(keys):
        found[name] = found[name].map(_plain)
    return found.merge(own, on=keys)


def within(whole: TestSet, test: TestSet, scores: pd.DataFrame) -> pd.DataFrame:
    """Return scores of one test set as scores of another, for equal outputs.

    Sources and documents must be equal as well.

    Parameters
    ----------
    whole, test : TestSet
        The set that the scores are of, and another one, such as a part of it.
    """
    free: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row, (doc, src) in enumerate(zip(whole.docs, whole.srcs, strict=True)):
        free[doc, _plain(src)].append(row)
    shared = [system for system in test.systems if system in whole.systems]
    found: dict[int, int] = {}  # segment of the whole set -> of the other one
    for segment, (doc, src) in enumerate(zip(test.docs, test.srcs, strict=True)):
        if rows := free.get((doc, _plain(src))):
            alike = [
                sum(whole.systems[s][k] == test.systems[s][segment] for s in shared) for k in rows
            ]
            found[rows.pop(alike.index(max(alike)))] = segment
    texts = {**whole.refs, **whole.systems}
    same = [
        k in found
        and s in test.systems
        and _plain(texts[s][k]) == _plain(test.systems[s][found[k]])
        for s, k in zip(scores.system, scores.segment, strict=True)
    ]
    scores = scores[same]
    return scores.assign(segment=scores.segment.map(found))


# -- tables of segments ------------------------------------------------------------------------------------------------

_ALIASES = {
    **dict.fromkeys(("raw", "score", "points"), "value"),
    "source": "src",
    **dict.fromkeys(("mt", "target", "hyp", "translation"), "text"),
    "annotator": "rater",
    "document": "doc",
}
_NUMBERS = {"raw": float, "score": float, "value": float, "points": float, "segment": int}


def read_scores(
    path: str | PathLike, test: TestSet, metric: str | None = None, *, family: Family | None = None
) -> pd.DataFrame:
    """Read a table of segment scores: system, segment, value, other columns.

    Parameters
    ----------
    path : path
        CSV or TSV with ``value`` (or ``score``; ``raw`` comes first), and ``segment`` (from 0) and ``system``, or
        ``text`` and possibly ``src``; optional: ``rater``, ``doc``, ``lp``, ``metric``, ``unit``.
        ``anhelpers score --segments`` writes such a table.
    metric : str, optional
        Read the rows of one metric only.
    family : Family, optional
        Its unit and bounds; by default those of a known metric.

    Raises
    ------
    UnknownName : no such metric or language pair. DataError : with file and line, for a missing column, a segment
        out of range or of a different document, and a second score by the same rater.
    """
    kinds = {metric or "value": float} | _NUMBERS
    table = read_table(path, kinds, optional=tuple(kinds))
    if "raw" in table:
        table = table.drop(columns=["score", "value"], errors="ignore")
    elif metric in table and not {"value", "score", "points"} & {*table}:
        table = table.rename(columns={metric: "value"})
    table = table.rename(columns=_ALIASES)
    numbered = {"system", "segment"} <= set(table)
    if "value" not in table or not (numbered or "text" in table):
        got = ", ".join(filter(None, table))
        raise DataError(f"got {got:.60}; expected system, segment, value; or text, value.", path, 1)
    if "lp" in table:
        pairs = {
            lp: "-".join(short_code(known_code(c)) for c in lp.split("-")) for lp in {*table.lp}
        }
        table = _chosen(table, table.lp.map(pairs), test.lp, f"language pair of {path}")
    if numbered:
        table = _from_zero(table, len(test), path)
    if metric is not None and "metric" in table:
        table = _chosen(table, table.metric, metric, f"metric of {Path(path).name}")
    table = table.dropna(subset=["value"])
    family = family or Family.of(metric or "")
    if family and family.higher_is_better:  # scores of the others are often negated
        low, high = family.bounds
        outside = ~table.value.between(low - 1e-6, high + 1e-6)
        _refuse(outside, f"{metric or 'score'}: expected {family.unit}", path, table.value)
    return _checked(table, test, path) if numbered else _find_segments(test, table)


def _chosen(table: pd.DataFrame, names: pd.Series, wanted: str, kind: str) -> pd.DataFrame:
    """The rows with one name; UnknownName lists the others."""
    return table[names == checks.one_of(wanted, {*names}, kind)]


def _from_zero(table: pd.DataFrame, n: int, path: str | PathLike) -> pd.DataFrame:
    """The table, its segments from 0: they count from 1 if the last of n is there, and no 0; blank values count."""
    low, high = table.segment.min(), table.segment.max()
    if low < 1 or high > n or not len(table):
        return table
    if high < n:
        told = f"segment: got {low} to {high}, expected 0 or {n} among them, to count from 0 or 1"
        raise DataError(f"{told}. Add a row without a value.", path, table.index[0])
    note(f"{Path(path).name}: segments count from 1.")
    return table.assign(segment=table.segment - 1)


def _checked(table: pd.DataFrame, test: TestSet, path: str | PathLike) -> pd.DataFrame:
    """The table; a DataError for a repeated row, or one of a different test set."""
    outside = ~table.segment.between(0, len(test) - 1)
    _refuse(outside, f"segment: expected 0 to {len(test) - 1}", path, table.segment)
    if "doc" in table:
        docs = np.array(test.docs, dtype=object)[table.segment]
        _refuse(table.doc != docs, "doc: expected that of the segment", path, table.doc)
    key = [c for c in ("system", "segment", "rater", "metric") if c in table]
    _refuse(table.duplicated(key), "a second score of a segment", path, table[key])
    return table


# -- scores of whole systems -------------------------------------------------------------------------------------------

_WIDE = {"metricx": "MetricX-23-XL", "cometkiwi": "CometKiwi-XL"}  # columns of WMT24's table
_FOOTNOTE = "$\\dagger$"


def read_system_scores(path: str | PathLike, lp: str) -> pd.DataFrame:
    """Read the organisers' scores of the systems of one language pair.

    Parameters
    ----------
    path : path
        WMT24's table ``lp system metricx cometkiwi`` or WMT23's ``pair system metric score``.
    lp : str
        Language pair, such as "en-de".

    Returns
    -------
    DataFrame system, metric, value, unit, higher_is_better, source; values in each metric's own direction.

    Raises
    ------
    UnknownName : no such language pair. DataError : wrong columns, an unknown metric, a second value.
    """
    _split_pair(lp)
    kinds: dict[str, Any] = {"pair": str, "system": str, "metric": str, "score": float}
    if "pair" in read_table(path, {}):
        table = read_table(path, kinds)
        table = table.rename(columns={"pair": "lp", "metric": "called", "score": "value"})
    else:
        kinds = {"lp": str, "system": str, **dict.fromkeys(_WIDE, float)}
        table = read_table(path, kinds)
        table = table.melt(["lp", "system"], [*_WIDE], "called", "value", ignore_index=False)
        table = table.sort_index(kind="stable")
    table = _chosen(table, table.lp, lp, "language pair")
    metric = table.called.map(lambda name: _WIDE.get(name, name))
    families = [Family.of(name) for name in metric]
    _refuse(metric.map(Family.of).isna(), "metric: expected a known one", path, metric)
    found = table.assign(
        system=table.system.str.replace(_FOOTNOTE, "").str.strip(),
        metric=metric,
        unit=[family.unit for family in families if family],
        higher_is_better=[family.higher_is_better for family in families if family],
        source=f"{Path(path).name}: " + table.called,
    )
    columns = ["system", "metric", "value", "unit", "higher_is_better", "source"]
    _refuse(found.value.isna(), "value: expected a number", path, found[columns[:3]])
    _refuse(found.duplicated(columns[:2]), "a second value", path, found[columns[:3]])
    return found[columns].reset_index(drop=True)


# -- WMT25 -------------------------------------------------------------------------------------------------------------


def read_wmt25_scores(folder: str | PathLike, test: TestSet, metric: str) -> pd.DataFrame:
    """Read stored scores for a test set of WMT25: system, segment, value.

    Raises
    ------
    UnknownName : no such metric. DataError : the numbers of scores and paragraphs of a document differ.
    """
    at: dict[str, list[int]] = {}
    for segment, doc in enumerate(test.docs):
        at.setdefault(doc, []).append(segment)
    rows: list[tuple[str, int, float | None]] = []
    paths = sorted(Path(folder, "automatic_scores").glob("*.jsonl"))
    for path in (path for path in paths if _stem_of(path) not in test.unread):
        for line, row in enumerate(_read_jsonl(path), 1):
            doc = "_#_".join(
                _value_of(row, k, str, path, line)
                for k in ("language_pair", "domain", "document_id")
            )
            if _pair_2025(doc) != test.lp:
                continue
            stored, n = row.get("metric_scores", {}), len(at.get(doc, ()))
            values = stored[checks.one_of(metric, stored, f"metric of {path.name}")]
            values = values if isinstance(values, list) else [values]
            there = [value for value in values if value is not None]
            numbers = all(isinstance(one, int | float) and abs(one) != np.inf for one in there)
            if len(values) != n or not numbers:
                raise DataError(f"got {values!s:.40}, expected {n} finite scores.", path, line)
            rows += zip([_stem_of(path)] * len(values), at[doc], values, strict=True)
    return pd.DataFrame(rows, columns=["system", "segment", "value"]).astype({"value": float})
