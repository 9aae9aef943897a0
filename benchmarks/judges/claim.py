"""Write docs/claim.tsv and the table of docs/claim.md: `python -m benchmarks.judges.claim [SET …]` (default: all sets).

Sets of WMT need ANHELPERS_DATA, and up to three hours of CPU each for scores that are not cached; a GPU takes a minute.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd

import anhelpers as an
from anhelpers import plane as planes
from anhelpers.metrics import Metric
from anhelpers.plane import OracleStudy, Plane
from anhelpers.plane.local import RELIABLE, _claim_halves
from anhelpers.plane.scores import _stored_axis

from .known import keep_known
from .page import markdown_table, written

DOCS = Path(__file__).parents[2] / "docs"
TABLE, PAGE = DOCS / "claim.tsv", DOCS / "claim.md"
SEED, N_DRAWS = 13, 1000
COLUMNS = ["data", "accuracy", "judge", "half", "n_systems", "of", "segments", "docs"]
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
]
NAMES = {
    "n": "segments",
    "n_docs": "docs",
    "pearson": "r",
    "pearson_low": "low",
    "pearson_high": "high",
    "selection_low": "alone_low",
    "selection_high": "alone_high",
    "selection_p": "p",
}
"""Columns of `claim_halves` -> those of docs/claim.tsv."""
SHOWN = {"holds": "hold", "false": "false"}
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


def rows_of(chosen: ClaimSet) -> pd.DataFrame:
    """The rows of docs/claim.tsv of a set: one per accuracy metric, naturalness metric and half."""
    found = []
    for accuracy, judge, each in compared(chosen):
        plane, curve = (each.plane, each.curve) if isinstance(each, OracleStudy) else (each, None)
        plane = plane.only([name for name in plane.systems if name not in plane.outside])
        table = planes.local_correlation(
            plane, np.random.default_rng(SEED), curve=curve, n_draws=N_DRAWS
        )
        of = table[table.window == "nearest"].iloc[-1].n_systems
        halves = _claim_halves(table).rename_axis("half").reset_index()
        ranges = [without_one(plane, names.split(", ")) for names in halves.systems]
        halves[["without_low", "without_high"]] = ranges
        found.append(halves.assign(data=chosen.data, accuracy=accuracy, judge=judge, of=of))
    rows = pd.concat(found, ignore_index=True).rename(columns=NAMES)
    rows["docs"] = rows.docs.where(rows.docs < rows.segments, "")
    rows["reliability"] = rows.reliability.where(rows.reliability < RELIABLE)
    rows["verdict"] = rows.verdict.str.removeprefix("is ")
    rows["by_seed"] = np.where(rows.by_seed, "yes", "")
    for name in NUMBERS:
        digits = "{:.3f}" if name == "p" else "{:z.2f}"
        rows[name] = rows[name].map(digits.format).replace("nan", "")
    return rows[[*COLUMNS, *NUMBERS, "verdict", "by_seed"]]


def without_one(plane: Plane, systems: list[str]) -> tuple[float, float]:
    """The least and the greatest r of these systems without one of them."""
    scores = plane.only(systems).scores()
    r = [np.corrcoef(np.delete(scores, k, 1))[0, 1] for k in range(len(systems))]
    return min(r), max(r)


def page_of(rows: pd.DataFrame) -> str:
    """docs/claim.md's table: verdicts and the range of r per data set, naturalness metric and half."""
    lines = []
    for (data, judge), part in rows.groupby(["data", "judge"], sort=False):
        cells = [_half(part[part.half == half]) for half in ("near", "far")]
        lines.append([data, f"`{judge}`", *cells])
    head = ["data", "naturalness", "near the frontier", "far from it"]
    return markdown_table(head, lines)


def _half(rows: pd.DataFrame) -> str:
    if rows.empty:
        return "–"
    low, high = (f"{value:z.2f}".replace("-", "−") for value in (rows.r.min(), rows.r.max()))
    counts = rows.verdict.value_counts()
    verdicts = [f"**{counts[name]} {text}**" for name, text in SHOWN.items() if name in counts]
    return ", ".join([low if low == high else f"{low} to {high}", *verdicts])


if __name__ == "__main__":
    kept = pd.read_csv(TABLE, sep="\t", dtype=str, keep_default_na=False)
    for name in sys.argv[1:] or SETS:
        new = rows_of(SETS[name]).to_csv(sep="\t", index=False)
        own = pd.read_csv(StringIO(new), sep="\t", dtype=str, keep_default_na=False)
        kept = pd.concat([kept[kept.data != SETS[name].data], own])
        kept.to_csv(TABLE, sep="\t", index=False)
        print(f"wrote {name} into {TABLE}")
    table = page_of(pd.read_csv(TABLE, sep="\t"))
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), {"claim": table}), encoding="utf-8")
