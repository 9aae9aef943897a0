"""Write the tables of docs/claim.md: `python -m benchmarks.judges.claim [SET …]`; without SET, of all sets.

Sets of WMT need ANHELPERS_DATA, and an hour each if the log-probabilities of their texts are not cached.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

import anhelpers as an
from anhelpers import plane as planes
from anhelpers.metrics import Metric
from anhelpers.plane import OracleStudy, Plane
from anhelpers.plane.local import RELIABLE

from .__main__ import written
from .page import markdown_table

PAGE = Path(__file__).parents[2] / "docs" / "claim.md"
SEED, N_DRAWS = 13, 1000
EVERY, ERRORS = "all systems", "reliability"
"""Why a half cannot be decided: it has all systems, or its differences are only errors."""
TRAINED = ("lpp", "critic", "critic+lpp")


@dataclass(frozen=True)
class ClaimSet:
    """A data set and the metrics of its systems.

    Parameters
    ----------
    data : its name. accuracies, judges : names of metrics. per_system : where scores per system are.
    """

    data: str
    accuracies: tuple[str, ...]
    judges: tuple[str, ...] = TRAINED
    per_system: str = ""


STORED = (
    "XCOMET-XL",
    "MetricX-24-Hybrid-XL",
    "CometKiwi-XL",
    "GEMBA-ESA-CMDA",
    "GEMBA-ESA-GPT4.1",
)
SETS = {
    "teaching": ClaimSet("teaching", ("chrf", "rated-accuracy"), (*TRAINED, "rated-naturalness")),
    "teaching_en": ClaimSet(
        "teaching/de-en", ("chrf", "rated-accuracy"), (*TRAINED, "rated-naturalness")
    ),
    "ted": ClaimSet(
        "ted/en-de",
        ("chrf", "mqm-accuracy:mqm/ted-ende"),
        (*TRAINED, "mqm-fluency:mqm/ted-ende"),
    ),
    "wmt23": ClaimSet(
        "wmt23/en-de",
        ("chrf", "bleu", "mqm-accuracy:mqm/wmt23-ende-sxs"),
        (*TRAINED, "mqm-fluency:mqm/wmt23-ende-sxs"),
    ),
    "wmt24": ClaimSet("wmt24/en-de", ("chrf", "bleu"), per_system="wmt24/autoscores"),
    "wmt24_cs": ClaimSet("wmt24/en-cs", ("chrf", "esa:esa/wmt24"), ("compression",)),
    "wmt24_zh": ClaimSet("wmt24/ja-zh", ("chrf",), ("compression",), "wmt24/autoscores"),
    "wmt25": ClaimSet("wmt25/cs-de", tuple(f"stored:wmt25/cs-de#{name}" for name in STORED)),
}
"""Part of the page -> its data set and metrics."""


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
    lm = an.load_lm("bundled", lang=test.trg_lang) if "lpp" in chosen.judges else None
    judges = {name: an.metric(name, test, lm=lm) for name in chosen.judges}
    for name in chosen.accuracies:
        accuracy = an.metric(name, test)
        for judge in judges.values():
            yield (
                accuracy.label,
                judge.name.partition(":")[0],
                _together(test, accuracy, judge, chosen.data),
            )
    if chosen.per_system:
        table = an.data.read_system_scores(an.data.find_file(chosen.per_system), test.lp)
        for name, rows in table.groupby("metric"):
            sign = 1 if rows.higher_is_better.iloc[0] else -1
            values = dict(zip(rows.system, sign * rows.value, strict=True))
            for judge in judges.values():
                axis = planes.metric_axis(test, judge)
                column = [values.get(system, np.nan) for system in test.systems]
                there = axis.there & ~np.isnan(column)
                stored = planes.stored_axis(str(name), str(name), "stored", column, there)
                yield f"{name} †", judge.name, planes.plane_of(test, stored, axis)


def _together(test: an.TestSet, accuracy: Metric, judge: Metric, data: str) -> Plane | OracleStudy:
    """A study if both metrics score any text, else the plane of the systems that have scores."""
    if not (accuracy.score_segments and judge.score_segments):
        return planes.system_plane(test, accuracy, judge)
    cands = an.data.from_systems(test) if data == "ted/en-de" else an.load_candidates(data)
    return planes.oracle_study(test, cands, accuracy, judge)


def rows_of(chosen: ClaimSet) -> pd.DataFrame:
    """A row per accuracy, judge and half: `claim_halves`, the counts, and r over all systems."""
    found = []
    for accuracy, judge, each in compared(chosen):
        plane, curve = (each.plane, each.curve) if isinstance(each, OracleStudy) else (each, None)
        plane = plane.only([name for name in plane.systems if name not in plane.outside])
        table = planes.local_correlation(
            plane, np.random.default_rng(SEED), curve=curve, n_draws=N_DRAWS
        )
        whole = table[table.window == "nearest"].iloc[-1]
        halves = planes.claim_halves(table).rename_axis("half").reset_index()
        told = {"accuracy": accuracy, "judge": judge, "all": whole.n_systems, "r": whole.pearson}
        found.append(halves.assign(**told, r_low=whole.pearson_low, r_high=whole.pearson_high))
    return pd.concat(found, ignore_index=True)


def page_of(rows: pd.DataFrame) -> str:
    """The rows of a set as a table in Markdown, a line per accuracy and judge."""
    head = ["accuracy", "judge", "systems", "segments", "near", "far", "all systems: r"]
    lines = []
    for (accuracy, judge), pair in rows.groupby(["accuracy", "judge"], sort=False):
        halves, one = pair.set_index("half"), pair.iloc[0]
        cells = [
            _cell(halves.loc[half]) if half in halves.index else "–" for half in ("near", "far")
        ]
        sizes = [str(n) for n in (one["all"], *halves.n_systems)]
        # where each segment is by itself, documents are not known
        docs = f" in {one.n_docs} documents" if one.n_docs < one.n else ", documents unknown"
        counts = [": ".join([sizes[0], " + ".join(sizes[1:])]), f"{one.n}{docs}"]
        whole = _interval(one.r, one.r_low, one.r_high)
        lines.append([accuracy, judge, *counts, *cells, whole])
    return "\n".join(markdown_table(head, lines)) + "\n"


def _cell(row: pd.Series) -> str:
    said = row.verdict.removeprefix("is ")
    said = said if said == "undecided" else f"**{said}**{' (by seed)' if row.by_seed else ''}"
    alone = (
        f"alone {row.selection_low:z.2f} to {row.selection_high:z.2f}, p = {row.selection_p:.3f}"
    )
    bars = f", {EVERY}" if row.n_systems == row["all"] else ""
    bars += "" if row.reliability >= RELIABLE else f", {ERRORS} {row.reliability:.2f}"
    cell = f"{said}: {_interval(row.pearson, row.pearson_low, row.pearson_high)}; {alone}{bars}"
    return cell.replace("-", "−")


def _interval(r: float, low: float, high: float) -> str:
    return f"{r:z.2f} ({low:z.2f} to {high:z.2f})".replace("-", "−")


def counted(page: str) -> str:
    """How many halves in the tables of the page are decided, and how many would be by chance."""
    cells = re.findall(r"\| (?:\*\*)?(undecided|holds|false)\b([^|]*)", page)
    words = [word for word, _ in cells]
    could = sum(EVERY not in rest and ERRORS not in rest for _, rest in cells)
    return (
        f"{len(cells)} halves: {words.count('holds')} hold, {words.count('false')} are false, "
        f"{words.count('undecided')} are undecided. {could} of them have systems enough, which differ by more "
        f"than their errors; were nothing there, about {round(0.05 * could)} of these would be decided, and at most "
        f"{round(0.07 * could)}."
    )


if __name__ == "__main__":
    for name in sys.argv[1:] or SETS:
        part = {name: page_of(rows_of(SETS[name]))}
        page = written(PAGE.read_text(encoding="utf-8"), part)
        PAGE.write_text(written(page, {"count": counted(page)}), encoding="utf-8")
        print(f"wrote {name} into {PAGE}")
