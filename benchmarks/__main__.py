"""`make bench`: every benchmark, a row as it comes; all of them in build/bench as CSV files and one page.

    python -m benchmarks [NAME ...] [--quick]

NAME is that of a file bench_NAME.py; without names, all are run. A row that misses its goal says so, and so does one
whose peer could not be had. The exit status is 1 where a row disagrees with its peer or a benchmark breaks.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Iterator

from .page import write_results
from .peers import PeerMissing
from .table import Row, not_measured

BENCHMARKS = {  # name -> needs ANHELPERS_DATA
    "commands": True,
    "surface": True,
    "bootstrap": True,
    "mqm": True,
    "frontier": False,
    "notebooks": False,
    "mmd": False,
    "growth": True,
    "cluster": False,
    "comet": False,
    "lm": False,
}


def rows_of(name: str, quick: bool) -> Iterator[Row]:
    """The rows of a benchmark; one row with the reason where it cannot be run."""
    if BENCHMARKS[name] and "ANHELPERS_DATA" not in os.environ:
        yield not_measured(
            name, "its peers", "set ANHELPERS_DATA to a folder with the shared data sets"
        )
        return
    try:
        yield from importlib.import_module(f"benchmarks.bench_{name}").rows(quick)
    except (PeerMissing, ImportError) as error:
        yield not_measured(name, "its peers", str(error))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Speed beside named peers."
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"some of: {', '.join(BENCHMARKS)}"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="smaller workloads: whether it runs, not how fast it is",
    )
    args = parser.parse_args()
    if unknown := set(args.names) - set(BENCHMARKS):
        parser.error(
            f"unknown benchmark {', '.join(sorted(unknown))}; known: {', '.join(BENCHMARKS)}"
        )
    table, broken, paths = [], [], []
    for name in args.names or BENCHMARKS:
        try:
            for row in rows_of(name, args.quick):
                table.append(row)
                print(row, flush=True)
        except Exception:  # the rows of the others are still wanted
            traceback.print_exc()
            broken.append(name)
        # what is measured is kept, also where the rest is interrupted
        paths = write_results(table, args.quick)
    for path in paths:
        print(f"wrote {path}")
    told = [sum(row.met == met for row in table) for met in ("yes", "MISSED", "not measured")]
    print("{} goals met, {} missed, {} rows not measured".format(*told))
    if disagree := [row.workload for row in table if row.agrees is False]:
        print(f"disagree: {'; '.join(disagree)}", file=sys.stderr)
    if broken:
        print(f"broke: {', '.join(broken)}", file=sys.stderr)
    return 1 if broken or disagree else 0


if __name__ == "__main__":
    sys.exit(main())
