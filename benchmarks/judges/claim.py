"""Write docs/claim.tsv and the tables of docs/claim.md: `python -m benchmarks.judges.claim [SET …]`.

Without a SET, all sets, and how many halves chance alone decides (15 minutes once the scores are cached).
Sets of WMT need ANHELPERS_DATA, and up to three hours of CPU each for scores that are not cached; a GPU takes a minute.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd

import anhelpers as an
from anhelpers import plane as planes
from anhelpers.frontier import OracleCurve
from anhelpers.metrics import Metric
from anhelpers.plane import OracleStudy, Plane
from anhelpers.plane.local import (
    RELIABLE,
    _Case,
    _claim_halves,
    _ends,
    _half,
    _permuted,
    _two_sided,
)
from anhelpers.plane.scores import _stored_axis
from anhelpers.stats import pearson

from .known import keep_known
from .page import markdown_table, written

Placed: TypeAlias = "tuple[str, str, Plane, OracleCurve | None]"
DOCS = Path(__file__).parents[2] / "docs"
TABLE, PAGE = DOCS / "claim.tsv", DOCS / "claim.md"
SEED, N_DRAWS = 13, 1000
WORLDS = 400
COLUMNS = ["data", "accuracy", "judge", "half", "n_systems", "of", "segments", "docs"]
WORDS = ["verdict", "why", "by_seed", "broken", "verdict_rest"]
NUMBERS = [
    "r",
    "low",
    "high",
    "without_low",
    "without_high",
    "alone_low",
    "alone_high",
    "p",
    "reliability",
    "r_rest",
]
NAMES = {
    "n": "segments",
    "n_docs": "docs",
    "pearson": "r",
    "pearson_low": "low",
    "pearson_high": "high",
    "least": "without_low",
    "greatest": "without_high",
    "selection_low": "alone_low",
    "selection_high": "alone_high",
    "selection_p": "p",
}
"""Columns of `_claim_halves` -> those of docs/claim.tsv."""
TRAINED = ("native", "lpp", "critic")


@dataclass(frozen=True)
class ClaimSet:
    """A data set and the metrics of its systems.

    Parameters
    ----------
    data : its name.
    accuracies, judges : names of metrics.
    per_system : name of a data set with one score per system.
    """

    data: str
    accuracies: tuple[str, ...]
    judges: tuple[str, ...] = TRAINED
    per_system: str = ""


STORED = ("XCOMET-XL", "MetricX-24-Hybrid-XL", "CometKiwi-XL", "GEMBA-ESA-CMDA", "GEMBA-ESA-GPT4.1")
SETS = {
    "teaching": ClaimSet("teaching", ("chrf", "rated-accuracy"), (*TRAINED, "rated-naturalness")),
    "teaching_en": ClaimSet(
        "teaching/de-en", ("chrf", "rated-accuracy"), (*TRAINED, "rated-naturalness")
    ),
    "ted": ClaimSet(
        "ted/en-de", ("chrf", "mqm-accuracy:mqm/ted-ende"), (*TRAINED, "mqm-fluency:mqm/ted-ende")
    ),
    "wmt23": ClaimSet(
        "wmt23/en-de",
        ("chrf", "bleu", "mqm-accuracy:mqm/wmt23-ende-sxs"),
        (*TRAINED, "mqm-fluency:mqm/wmt23-ende-sxs"),
    ),
    "wmt24": ClaimSet("wmt24/en-de", ("chrf", "bleu"), TRAINED, "wmt24/autoscores"),
    "wmt24_cs": ClaimSet("wmt24/en-cs", ("chrf", "esa:esa/wmt24"), ("lpp",)),
    "wmt24_zh": ClaimSet("wmt24/ja-zh", ("chrf",), ("lpp",), "wmt24/autoscores"),
    "wmt25": ClaimSet("wmt25/cs-de", tuple(f"stored:wmt25/cs-de#{name}" for name in STORED)),
}
"""Name on the command line -> data set and metrics."""


def texts_of(data: str) -> an.TestSet:
    """A test set with its human references as systems."""
    if data != "ted/en-de":
        return planes.with_human_points(an.load(data))
    test = an.data.rated_texts(
        an.read_ratings(an.data.ratings_file(data), texts=True), "en-de", "ref"
    )
    kinds = an.system_categories("wmt21-ted")
    return replace(test, categories={s: kinds.get(s, "unknown") for s in test.systems})


def compared(chosen: ClaimSet) -> Iterator[tuple[str, str, Plane | OracleStudy]]:
    """(accuracy, judge, the systems): a study if the accuracy metric scores any text, else their plane."""
    test = texts_of(chosen.data)
    lm = an.load_lm()
    texts = (text for outputs in test.systems.values() for text in outputs)
    keep_known(lm, [*candidates_of(test, chosen.data).texts, *texts])
    for name in chosen.judges:
        judge = an.metric(name, test, lm=lm)
        for accuracy in (an.metric(one, test) for one in chosen.accuracies):
            short = judge.name.partition(":")[0]
            yield accuracy.label, short, _together(test, accuracy, judge, chosen.data)
        if chosen.per_system:
            yield from _per_system(chosen, test, judge)


def _per_system(
    chosen: ClaimSet, test: an.TestSet, judge: Metric
) -> Iterator[tuple[str, str, Plane]]:
    """The systems by each metric of which only a score per system, over the whole set, is published."""
    table = an.data.read_system_scores(an.data.find_file(chosen.per_system), test.lp)
    for name, rows in table.groupby("metric"):
        sign = 1 if rows.higher_is_better.iloc[0] else -1
        values = dict(zip(rows.system, sign * rows.value, strict=True))
        axis = planes.metric_axis(test, judge)
        column = [values.get(system, np.nan) for system in test.systems]
        there = axis.there & ~np.isnan(column)
        stored = _stored_axis(str(name), str(name), "stored", column, there)
        yield f"{name} †", judge.name, planes.plane_of(test, stored, axis)


def _together(test: an.TestSet, accuracy: Metric, judge: Metric, data: str) -> Plane | OracleStudy:
    """A study if both metrics score any text, else the plane of the systems that have scores."""
    if not (accuracy.score_segments and judge.score_segments):
        return planes.system_plane(test, accuracy, judge)
    return planes.oracle_study(test, candidates_of(test, data), accuracy, judge)


def candidates_of(test: an.TestSet, data: str) -> an.CandidateSet:
    """Those of a teaching set; of other sets the outputs of the systems."""
    own = data.startswith("teaching")
    return an.load_candidates(data) if own else an.data.from_systems(test)


def planes_of(chosen: ClaimSet) -> list[Placed]:
    """(accuracy, judge, plane of the different systems that are compared, oracle curve or None)."""
    found = []
    for accuracy, judge, each in compared(chosen):
        plane, curve = (each.plane, each.curve) if isinstance(each, OracleStudy) else (each, None)
        plane = plane.only([name for name in plane.systems if name not in plane.outside])
        found.append((accuracy, judge, plane.only(plane.distinct()), curve))
    return found


def rows_of(data: str, placed: list[Placed]) -> pd.DataFrame:
    """The rows of docs/claim.tsv of a set: one per accuracy metric, naturalness metric and half."""
    found = []
    for accuracy, judge, plane, curve in placed:
        rng = np.random.default_rng(SEED)
        table = planes.local_correlation(plane, rng, curve=curve, n_draws=N_DRAWS)
        halves, (broken, *_) = _claim_halves(table), [*{*table.without} - {""}, ""]
        rest = _claim_halves(table, broken) if broken else halves.iloc[:0]
        halves["r_rest"], halves["verdict_rest"] = rest.pearson, rest.verdict
        halves = halves.rename_axis("half").reset_index()
        found.append(halves.assign(data=data, accuracy=accuracy, judge=judge, broken=broken))
    rows = pd.concat(found, ignore_index=True).rename(columns=NAMES)
    rows["docs"] = rows.docs.where(rows.docs < rows.segments, "")
    rows["reliability"] = rows.reliability.where(rows.reliability < RELIABLE)
    for name in ("verdict", "verdict_rest"):
        rows[name] = rows[name].fillna("").str.removeprefix("is ")
    rows["by_seed"] = np.where(rows.by_seed.astype(bool), "yes", "")
    for name in NUMBERS:
        digits = "{:.3f}" if name == "p" else "{:z.2f}"
        rows[name] = rows[name].map(digits.format).replace("nan", "")
    return rows[[*COLUMNS, *NUMBERS, *WORDS]]


def by_chance(placed: list[Placed], worlds: int = WORLDS) -> list[int]:
    """Halves decided in worlds without any effect.

    A world deals the naturalness of the systems to other systems, by one order of their names for all data sets,
    metrics and judges, so that tests which share systems or scores stay dependent.
    """
    rng, counts = np.random.default_rng(SEED), []
    nulls = [_permuted(plane.scores(), curve, rng, N_DRAWS) for *_, plane, curve in placed]
    names = sorted({name for *_, plane, _ in placed for name in plane.systems})
    for world in range(worlds):
        place, decided = dict(zip(names, rng.permutation(len(names)), strict=True)), 0
        for (*_, plane, curve), null in zip(placed, nulls, strict=True):
            dealt = np.argsort([place[name] for name in plane.systems])
            other = plane.naturalness.take(np.arange(len(plane)), dealt)
            one, own = replace(plane, naturalness=other), np.random.default_rng([SEED, world])
            if _likely(one, curve, null, rng):
                table = planes.local_correlation(one, own, curve=curve, n_draws=N_DRAWS // 2)
                decided += int((_claim_halves(table).verdict != "is undecided").sum())
        counts.append(decided)
    return counts


def _likely(
    plane: Plane,
    curve: OracleCurve | None,
    null: tuple[np.ndarray, np.ndarray],
    rng: np.random.Generator,
) -> bool:
    """Whether p of a half is near 0.05 or below, also without each of its systems: else nothing is decided."""

    scores = plane.scores()

    def p_of(case: _Case, null: tuple[np.ndarray, np.ndarray]) -> float:
        (*_, cut, some), (dealt, order) = case, null
        dealt = np.take_along_axis(dealt, order[:, None, cut], axis=2)
        return _two_sided(float(pearson(*scores[:, some])), pearson(dealt[:, 0], dealt[:, 1]))

    for half in _ends(k := len(plane.systems), None):
        cases = _half(plane, curve, np.arange(k), half)
        if p_of(next(cases), null) < 0.08 and all(
            p_of(one, _permuted(scores[:, one[2]], curve, rng, N_DRAWS // 2)) < 0.12
            for one in cases
        ):
            return True
    return False


def page_of(rows: pd.DataFrame) -> str:
    """docs/claim.md's table: verdicts and the range of r per data set, naturalness metric and half."""
    lines = []
    for (data, judge), part in rows.groupby(["data", "judge"], sort=False):
        cells = [_cell(part[part.half == half]) for half in ("near", "far")]
        lines.append([data, f"`{judge}`", *cells])
    head = ["data", "naturalness", "near the frontier", "far from it"]
    return markdown_table(head, lines)


def _cell(rows: pd.DataFrame) -> str:
    """The range of r; of decided halves, their number and the range of r without one of their systems."""
    if rows.empty:
        return "–"
    cells = [_span(rows[["r"]])]
    for name, text in {"holds": "hold", "false": "false"}.items():
        some = rows[rows.verdict == name]
        if len(some):
            without = _span(some[["without_low", "without_high"]])
            cells.append(f"{len(some)} {text} ({without})")
    return ", ".join(cells)


def _span(values: pd.DataFrame) -> str:
    ends = (f"{v:z.2f}".replace("-", "−") for v in (values.min().min(), values.max().max()))
    return " to ".join(dict.fromkeys(ends))


def told_of(counts: list[int], halves: int) -> str:
    """The sentence on chance of docs/claim.md."""
    least = int(np.quantile(counts, 0.95, method="inverted_cdf"))
    return (
        f"In {len(counts)} simulations without any effect, with the same systems and metrics, {np.mean(counts):.1f} of "
        f"{halves} halves\nwere decided on average, and at most {least} in 19 of 20.\n"
    )


if __name__ == "__main__":
    kept = pd.read_csv(TABLE, sep="\t", dtype=str, keep_default_na=False)
    every: list[Placed] = []
    for name in sys.argv[1:] or SETS:
        every += (placed := planes_of(SETS[name]))
        new = rows_of(SETS[name].data, placed).to_csv(sep="\t", index=False)
        own = pd.read_csv(StringIO(new), sep="\t", dtype=str, keep_default_na=False)
        kept = pd.concat([kept[kept.data != SETS[name].data], own])[[*own]]
        kept.to_csv(TABLE, sep="\t", index=False)
        print(f"wrote {name} into {TABLE}")
    rows = pd.read_csv(TABLE, sep="\t")
    parts = {"claim": page_of(rows)}
    if not sys.argv[1:]:
        parts["chance"] = told_of(by_chance(every), len(rows))
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), parts), encoding="utf-8")
