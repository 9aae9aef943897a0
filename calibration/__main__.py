"""`make calibrate`: how often each interval covers and each test rejects, where the truth is known.

    python -m calibration [--worlds N] [--only TEXT] [--quick]

Every row is simulated in N worlds with a seed of its own, so that the same N gives the same numbers; rows that are done
are kept in build/calibration and not made again. With N as it is by default, docs/calibration.md is written anew. The
exit status is 1 where a row lies outside of its tolerance.
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
from pathlib import Path

import numpy as np

from anhelpers import __version__
from anhelpers.progress import progress

from .row import Row
from .rows import rows

WORLDS, QUICK = 1000, 60
BUILD, PAGE = Path("build/calibration"), Path("docs/calibration.md")
SLACK = 2.5
"""Monte Carlo standard errors by which a rate may lie outside of its tolerance: of so many true rows some do."""
KINDS = """\
- **normal**: normal scores; segments of a document are alike (correlation 0.2).
- **MQM-like**: two thirds of the segments have no error, the others 1 to 25 points; some documents are harder.
- **tied to length**: normal scores that rise with the logarithm of the document's length.
- **equal sizes**, **skewed sizes**: 8 segments a document; or lognormal, with a median of 7 and one in twenty above 32.
- **corpus score**: F1 of n-grams that are summed over all segments.
- **no difference**: systems with the same true score; what is hard is hard for all of them.
- **Pareto-optimal in truth**: random true scores of three systems; of those told to be Pareto-optimal with a
  probability of 0.6 to 0.9, the share that are by their true scores; their mean probability is about 0.76. The
  same for 0.97 or more: where true scores differ less than here, by a quarter of a segment's spread, 0.93 to 0.96 are.
- **oracle curve**: candidates with independent accuracy and naturalness; sources of a document are alike.
- **systems held fixed**: true scores correlated by about 0.7, and only documents drawn; *differ by 6 errors*: their
  standard deviation is 6 standard errors of a system.
- **the claim**: that accuracy and naturalness go against each other near the frontier and together far from it; *no
  relation*: independent true scores; *built in*: half of the systems lie along a frontier, half on a line behind it;
  *equal systems*: all have the same true scores; *r = 0.8 throughout*: so correlated, near and far alike.
- **severities**: *multiplicative*: a strict rater gives more points for everything (lognormal: standard deviation of
  the logarithm 0.4); *additive*: marks more errors anywhere; *equal*: raters differ by chance alone. Scores are
  MQM-like, sizes skewed.
- **raters who agree well, by chance, nearly always the same**: they see much of what a translation is worth, nothing
  of it, or translations that hardly differ.
- **plane of a class**: ratings 1 to 5 by raters of different leniency.
- **MQM-like marks of 8 systems**: hard sources have more errors of accuracy and of fluency; the metric is a mixture of
  both with noise; sizes are skewed. The intervals of soft pairwise accuracy hold too often rather than too rarely.
- **correlation inside**: of log-probabilities within a document of skewed size; the true gap of LPP is 0.
- **words by topic**: a third of a document's words are from 100 of its own, the others by Zipf's law.
- **q = r, near, apart**: the system and the reference have the same law, one a little away, and one far away.
- **trainings**: models that differ by their seed, scored on the same 300 sentences; part of a sentence's luck is of all
  trainings, part of each.
- **XMI**: sentences whose language model needs 4 bits a token and whose translation model 1.5, some documents harder.
"""
COLUMNS = ["quantity", "setting", "nominal", "measured", "error", "worlds"]


def measured(row: Row, worlds: int) -> dict[str, object]:
    """A line of the table: how often the statement held, with the standard error of that share."""
    seed = zlib.crc32(f"{row.quantity}|{row.setting}".encode())
    held = [
        np.atleast_1d(row.once(np.random.default_rng([seed, world]))) for world in range(worlds)
    ]
    told, true = (np.array([f(one) for one in held], dtype=float) for f in (len, np.sum))
    rate = float(true.sum() / told.sum()) if told.any() else np.nan
    spread = (
        np.sum((true - rate * told) ** 2) if rate not in (0, 1) else 1.0
    )  # of worlds: the answers in one go together
    error = float(np.sqrt(spread) / told.sum())
    return dict(
        zip(COLUMNS, (row.quantity, row.setting, row.nominal, rate, error, worlds), strict=True)
    )


def inside(row: Row, found: dict) -> bool:
    """Whether the rate lies within the tolerance, or no farther from it than SLACK of its errors."""
    if row.least is None or row.most is None:
        return True
    slack = SLACK * found["error"]
    return row.least - slack <= found["measured"] <= row.most + slack


def page(table: Sequence[tuple[Row, dict]]) -> str:
    """docs/calibration.md: the table, and how to read it."""
    lines = [
        "# Calibration",
        "",
        "How often intervals cover and tests reject in simulated worlds whose truth is known. Written by "
        "`make calibrate`; a small part of it runs with the tests.",
        "",
        f"anhelpers {__version__}; {table[0][1]['worlds']} worlds a row, seeds fixed. *Measured* comes with its Monte "
        "Carlo standard error. A row without a tolerance is of so few documents, or of documents so unequal, that the "
        "package says so beside the interval; or it shows how often a verdict finds what is there.",
        "",
        f"A row holds where its rate lies in the tolerance, or beyond it by at most {SLACK:g} of its standard errors, "
        "as some of so many rows do by chance. These are marked *.",
        "",
        "Kinds of worlds:",
        "",
        KINDS,
        "| quantity | setting | nominal | measured | tolerance |",
        "|---|---|---|---|---|",
    ]
    for row, found in table:
        tolerance = "" if row.least is None else f"{row.least:.2f} to {row.most:.2f}"
        tolerance += " *" * (
            row.least is not None and not row.least <= round(found["measured"], 3) <= row.most
        )
        rate = f"{found['measured']:.3f} ± {found['error']:.3f}"
        lines.append(
            f"| {row.quantity} | {row.setting} | {row.nominal:.2f} | {rate} | {tolerance} |"
        )
    return "\n".join(lines) + "\n"


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
        help="only rows in whose quantity or setting this stands",
    )
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK} worlds per row: whether it runs"
    )
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
    with (BUILD / "calibration.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(found for _, found in table)
    if worlds == WORLDS and not args.only:
        PAGE.write_text(page(table), encoding="utf-8")
    outside = [(row, found) for row, found in table if not inside(row, found)]
    for row, found in outside:
        print(
            f"OUTSIDE: {row.quantity}, {row.setting}: {found['measured']:.3f}, wanted {row.least} to {row.most}"
        )
    print(
        f"{len(table) - len(outside)} of {len(table)} rows within their tolerance, {worlds} worlds each"
    )
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
