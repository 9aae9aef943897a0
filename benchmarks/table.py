"""One row of the table: a ratio to a named peer, measured side by side, with agreement in the same row."""

from __future__ import annotations

import operator
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

__all__ = [
    "POINTS",
    "Row",
    "beside",
    "exponent",
    "interleaved",
    "limited",
    "not_measured",
    "peak_bytes",
    "peak_gib",
    "seconds_of",
    "within",
]

POINTS: list[dict] = []
"""What the growth chart is drawn from: workload, along ("N" or "K"), size, seconds."""

SIGNS = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}
Clock = Callable[[], float]


@dataclass(frozen=True)
class Row:
    """What was measured: ratio, low and high are the median and the ends of the rounds; nan where there is none."""

    workload: str
    peer: str
    theirs: str
    ours: str
    ratio: float
    low: float
    high: float
    rounds: int
    goal: str
    agree: str
    agrees: bool | None = None

    @property
    def met(self) -> str:
        """ "yes" or "MISSED", "not measured" without a ratio, and an empty text where no goal is set.

        >>> Row("w", "peer", "3 s", "1 s", 3.0, 3, 3, 1, ">= 4", "").met
        'MISSED'
        """
        if self.ratio != self.ratio:
            return "not measured"
        if not self.goal:
            return ""
        sign, number = self.goal.split()
        return "yes" if SIGNS[sign](self.ratio, float(number)) else "MISSED"

    def record(self) -> dict[str, Any]:
        """The row as a line of the CSV file."""
        agrees = {None: "", True: "yes", False: "NO"}[self.agrees]
        return asdict(self) | {"met": self.met, "agrees": agrees}

    def __str__(self) -> str:
        ratio = (
            "-"
            if self.ratio != self.ratio
            else f"{self.ratio:.3g} ({self.low:.3g} to {self.high:.3g})"
        )
        beside = f"{self.peer} {self.theirs}, ours {self.ours}, ratio {ratio}"
        agree = f"{self.agree}{' DISAGREES' if self.agrees is False else ''}"
        goal = f"goal {self.goal}: {self.met}" if self.goal else ""
        return " | ".join(filter(None, [self.workload, beside, goal, agree]))


def interleaved(
    programs: Sequence[Callable[[], Any]],
    rounds: int,
    clock: Clock = time.perf_counter,
    first: int = 0,
) -> tuple[list[tuple[float, ...]], list[Any]]:
    """Seconds of every program in every round, and their last results.

    In each round another program goes first (at the start the one numbered `first`), so that none always follows the
    same neighbour.
    """
    times, results = [], [None] * len(programs)
    for r in range(first, first + rounds):
        seconds = [0.0] * len(programs)
        for i in ((r + k) % len(programs) for k in range(len(programs))):
            seconds[i], results[i] = seconds_of(programs[i], clock)
        times.append(tuple(seconds))
    return times, results


def seconds_of(program: Callable[[], Any], clock: Clock = time.perf_counter) -> tuple[float, Any]:
    """How long one call takes, and what it returns."""
    start = clock()
    result = program()
    return clock() - start, result


def peak_bytes(program: Callable[[], Any]) -> int:
    """The most that a call allocates at once, as Python and numpy report it."""
    tracemalloc.start()
    try:
        program()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# A process starts with the peak of the one that starts it, so a small one does.
_PEAK = """import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(done.returncode)"""


def peak_gib(*command: Any, **how: Any) -> float:
    """The largest resident size of a command, as Linux counts it."""
    words = [sys.executable, "-c", _PEAK, *map(str, command)]
    done = subprocess.run(words, check=True, capture_output=True, text=True, **how)
    return int(done.stdout) / 2**20


def within(found: np.ndarray, wanted: np.ndarray, most: float, unit: str) -> dict[str, Any]:
    """For a row: how far two arrays are apart, and whether that is at most `most`; nan in one place is in both."""
    apart = float(np.nanmax(np.abs(found - wanted)))
    same = bool((np.isnan(found) == np.isnan(wanted)).all())
    return {"agree": f"apart by at most {apart:.0e} {unit}", "agrees": same and apart <= most}


def beside(
    workload: str,
    peer: str,
    times: Iterable[tuple[float, float]],
    *,
    goal: str = "",
    agree: str = "",
    agrees: bool | None = None,
    show: Callable[[float], str] = lambda s: f"{s:.3g} s",
) -> Row:
    """A row from pairs (theirs, ours) of seconds, one a round.

    A goal with ">" is how many times faster we are, theirs over ours; one with "<" is our overhead, ours over theirs.
    """
    times = list(times)
    theirs, ours = (statistics.median(side) for side in zip(*times, strict=True))
    ratios = [b / a if goal.startswith("<") else a / b for a, b in times]
    ends = statistics.median(ratios), min(ratios), max(ratios)
    return Row(workload, peer, show(theirs), show(ours), *ends, len(times), goal, agree, agrees)


def limited(
    workload: str, ours: Sequence[float], limit: float, show: Callable[[float], str], **told: Any
) -> Row:
    """A row beside a number of its own, such as 10 ms: the ratio is our share of it and shall be at most 1."""
    ratios = [one / limit for one in ours]
    ends = statistics.median(ratios), min(ratios), max(ratios)
    return Row(
        workload,
        "the limit",
        show(limit),
        show(statistics.median(ours)),
        *ends,
        len(ratios),
        "<= 1",
        told.get("agree", ""),
        told.get("agrees"),
    )


def not_measured(workload: str, peer: str, why: str, goal: str = "") -> Row:
    """A row that says why it could not be measured here."""
    nan = float("nan")
    return Row(workload, peer, "", "", nan, nan, nan, 0, goal, f"not measured: {why}")


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The slope of the logarithms.

    >>> round(exponent((1, 2, 4), [3.0, 6.0, 12.0]), 6)
    1.0
    """
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
