"""`make calibrate`: how often intervals cover and tests reject, where the truth is known.

    python -m calibration [--worlds N] [--only TEXT] [--quick]

Each row is simulated in N worlds with its own seed, so that the same N gives the same numbers. Finished rows are kept
in build/calibration and reused. A run of all rows with the default N rewrites docs/calibration.tsv and
docs/calibration.md. The exit status is 1 if a row is outside its tolerance.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import zlib
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import groupby
from pathlib import Path

import numpy as np

from anhelpers.progress import progress

from .row import Row
from .rows import rows
from .scores import NOTE

WORLDS, QUICK = 1000, 60
BUILD, TABLE, PAGE = (
    Path(name) for name in ("build/calibration", "docs/calibration.tsv", "docs/calibration.md")
)
SLACK = 2.5
"""Monte Carlo standard errors by which a rate may miss its tolerance: some rows do by chance."""
INTRO = """\
# Calibration

How often do intervals cover and tests reject in simulated worlds whose truth is known? `make calibrate` measures it and
writes this page and [calibration.tsv](calibration.tsv), which has a line per row, with the Monte Carlo standard error.
Each row has {worlds:,} worlds with a fixed seed.

**{inside} of {held} rows are inside their tolerance.** Another {near} miss it by at most {slack:g} standard errors.
The other {shown} rows have no tolerance: they show how often something is found (a note, systems
that are not exchangeable, the power of a test), or intervals beside which the package prints a note. It does so for
fewer than 8 (effective) documents, segments or raters, fewer than 4 different ratings, and **uneven** documents: the
skewness of their M means is above 1 and 0.28 √M, or the means correlate with their size (p < 0.05).

Share of means of 12, 20 and 40 documents with this note: normal {normal} (skewed sizes: {sizes}), MQM-like {mqm},
tied to length {tied}, lognormal {lognormal}, skewed differences {skewed}. It cannot show what a sample lacks: of one
catastrophe in ten documents, 28 % of samples of 12 have none (note: {rare}; heavy tails: {heavy}). Use more documents,
and look at the score of each.

| quantity | nominal | rows | measured | tolerance | rows without tolerance |
|---|---|---|---|---|---|
"""
KINDS = """
## The worlds

- **Scores**: normal (correlation 0.2 within a document), MQM-like (two thirds of the segments without an error, the
  others with 1 to 25 points), or rising with the length of the document. Documents have 8 segments each, or skewed
  sizes (lognormal, median 7, one in twenty above 32). A corpus score is the F1 of summed n-gram counts. Hard ones:
  lognormal documents (σ = 1.5), differences of two systems that are (1.3), one document in ten 40 points lower, and
  Student's t with 2.1 degrees of freedom. Shares: a beta distribution over documents.
- **Systems**: with equal true scores (tests), random ones or on a line (Pareto front), or fixed ones correlated by 0.7
  (interval of r). For the claim of AN §5.2, the true scores are unrelated, equal, correlated by 0.8, or half along a
  frontier and half behind it.
- **Not exchangeable**: the difference of two systems is lognormal, or falls by 10 in a tenth of the documents, or rises
  with their length; its mean is 0.
- **Oracle curve**: candidates with independent accuracy and naturalness.
- **Raters**: a strict rater multiplies all points (lognormal, 0.4), marks additional errors, or differs by chance. For
  Krippendorff's α, raters agree well, by chance, or nearly always.
- **Metrics against MQM**: eight systems; hard sources have more errors of both kinds. Intervals of soft pairwise
  accuracy are conservative.
- **Divergences**: the system's distribution is equal, near or far from the reference. The true LPP distance is 0, and
  log-probabilities are correlated within documents. A third of the words of a document occur only there.
- **XMI**: 4 bits per token under the language model and 1.5 under the translation model. Trainings differ by their seed
  and are scored on the same 300 sentences.
"""
KIND_OF = {
    "normal": "normal, equal",
    "sizes": "normal, skewed",
    "mqm": "MQM-like",
    "tied": "tied",
    "lognormal": "lognormal",
    "skewed": "skewed differences",
    "rare": "rare",
    "heavy": "heavy",
}
COLUMNS = ["quantity", "setting", "nominal", "measured", "error", "worlds"]
SAVED = ["quantity", "setting", "nominal", "measured", "error", "least", "most"]


def measured(row: Row, worlds: int) -> dict[str, object]:
    """How often the statement of a row holds, with the standard error of that share."""
    seed = zlib.crc32(f"{row.quantity}|{row.setting}".encode())
    held = [
        np.atleast_1d(row.once(np.random.default_rng([seed, world]))) for world in range(worlds)
    ]
    counts, true = (np.array([f(one) for one in held], dtype=float) for f in (len, np.sum))
    rate = float(true.sum() / counts.sum()) if counts.any() else np.nan
    spread = (
        np.sum((true - rate * counts) ** 2) if rate not in (0, 1) else 1.0
    )  # over worlds: the answers within one are dependent
    error = float(np.sqrt(spread) / counts.sum())
    return dict(
        zip(COLUMNS, (row.quantity, row.setting, row.nominal, rate, error, worlds), strict=True)
    )


def inside(row: Row, found: dict) -> bool:
    """Whether the rate is within its tolerance, or at most SLACK standard errors outside."""
    if row.least is None or row.most is None:
        return True
    slack = SLACK * found["error"]
    return row.least - slack <= found["measured"] <= row.most + slack


def lines_of(table: Sequence[tuple[Row, dict]]) -> list[dict[str, str]]:
    """The lines of docs/calibration.tsv; least and most are empty where a row has no tolerance."""
    return [
        {name: row.quantity if name == "quantity" else row.setting for name in SAVED[:2]}
        | {"nominal": f"{row.nominal:.2f}"}
        | {name: f"{found[name]:.3f}" for name in ("measured", "error")}
        | {
            n: "" if v is None else f"{v:.2f}"
            for n, v in zip(SAVED[5:], (row.least, row.most), strict=True)
        }
        for row, found in table
    ]


def write_table(path: Path, lines: Sequence[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, SAVED, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def read_table(path: Path = TABLE) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def page(lines: Sequence[dict[str, str]]) -> str:
    """docs/calibration.md: how to read the table, and its summary by quantity."""
    held = [one for one in lines if one["least"]]
    inside = [
        one for one in held if float(one["least"]) <= float(one["measured"]) <= float(one["most"])
    ]
    counts = {"held": len(held), "inside": len(inside), "near": len(held) - len(inside)}
    shown = len(lines) - len(held)
    noted = {
        name: _range([one for one in notes if one["setting"].startswith(kind)], "measured")
        for notes in [[one for one in lines if one["quantity"] == NOTE]]
        for name, kind in KIND_OF.items()
    }
    text = [INTRO.format(worlds=WORLDS, slack=SLACK, shown=shown, **counts, **noted)]
    ordered = sorted(lines, key=lambda one: one["quantity"].lower())
    for quantity, group in groupby(ordered, lambda one: one["quantity"]):
        every = list(group)
        known = [one for one in every if one["least"]]
        free = [one for one in every if not one["least"]]
        cells = [quantity, _range(every, "nominal"), str(len(every)), _range(known, "measured")]
        cells += [
            _range(known, "least", "most"),
            f"{len(free)}: {_range(free, 'measured')}" * bool(free),
        ]
        text.append(f"| {' | '.join(cells)} |\n")
    return "".join([*text, KINDS])


def _range(lines: Sequence[dict[str, str]], *names: str) -> str:
    values = sorted(one[name] for one in lines for name in names)
    return " to ".join(dict.fromkeys(values[:1] + values[-1:]))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m calibration", description="How often statements hold."
    )
    parser.add_argument(
        "--worlds", type=int, default=WORLDS, help=f"simulated worlds per row (default: {WORLDS})"
    )
    parser.add_argument(
        "--only",
        default="",
        metavar="TEXT",
        help="only rows whose quantity or setting contains TEXT",
    )
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} worlds per row, as a trial")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="processes (default: one per core)"
    )
    args = parser.parse_args()
    worlds = QUICK if args.quick else args.worlds
    wanted = [row for row in rows() if args.only in f"{row.quantity}, {row.setting}"]
    BUILD.mkdir(parents=True, exist_ok=True)
    kept = BUILD / f"rows_{worlds}.jsonl"
    known = (
        [json.loads(line) for line in kept.read_text("utf-8").splitlines()] if kept.exists() else []
    )
    done = {(found["quantity"], found["setting"]): found for found in known}
    missing = [row for row in wanted if (row.quantity, row.setting) not in done]
    with (
        progress(len(missing), "calibrating", "rows") as step,
        ProcessPoolExecutor(args.jobs) as pool,
    ):
        for future in as_completed([pool.submit(measured, row, worlds) for row in missing]):
            found = future.result()
            done[found["quantity"], found["setting"]] = found
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
            step(1)
    table = [(row, done[row.quantity, row.setting]) for row in wanted]
    lines = lines_of(table)
    write_table(BUILD / TABLE.name, lines)
    if worlds == WORLDS and not args.only:
        write_table(TABLE, lines)
        PAGE.write_text(page(lines), encoding="utf-8")
    outside = [(row, found) for row, found in table if not inside(row, found)]
    for row, found in outside:
        print(
            f"OUTSIDE: {row.quantity}, {row.setting}: {found['measured']:.3f}, expected {row.least} to {row.most}"
        )
    print(
        f"{len(table) - len(outside)} of {len(table)} rows within their tolerance, {worlds} worlds each"
    )
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
