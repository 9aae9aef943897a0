"""What N translations take on a cluster, from rates: a table for docs/cluster.md.

    python -m benchmarks.cluster_plan [--texts N] [--price PRICE] [--rates RATE ...] [--workers W ...]

A rate is translations per second of one worker, as `python -m benchmarks cluster` or a trial of some thousand
texts tells it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

MICROSECONDS_PER_SCORE = 220.0
"""Of one core of the client for a text: tokens for the plan, keys, scheduler, answers, store; measured by `python -m
benchmarks cluster`."""

BYTES_PER_SCORE = 56
"""Of the store's file, a score of 3 numbers (`python -m benchmarks store`)."""

RATES = (30, 580, 1000)
WORKERS = (1, 8, 64)
COLUMNS = (
    "rate of a worker",
    "workers",
    "days",
    "worker hours",
    "cost at {price:g} an hour",
    "busy client",
)


def row(texts: float, rate: float, workers: int, price: float) -> tuple[float, float, float, float]:
    """Days, worker hours, cost, and the part of its time in which the client is busy.

    With N texts, R texts per second of a worker, W workers and c seconds of the client for a text: busy = R W c,
    hours = N / (3600 R), days = hours / (24 W), cost = price · hours. Where busy is above 1 the client is the limit,
    and the others are busy times as much.

    >>> [round(x, 3) for x in row(1e9, 100, 64, 2.0)]
    [2.546, 3911.111, 7822.222, 1.408]
    """
    hours, busy = texts / (3600 * rate), rate * workers * MICROSECONDS_PER_SCORE * 1e-6
    return (
        hours / (24 * workers) * max(1.0, busy),
        hours * max(1.0, busy),
        price * hours * max(1.0, busy),
        busy,
    )


def table(
    texts: float, price: float, rates: Sequence[float], workers: Sequence[int]
) -> Iterator[str]:
    """Lines of markdown."""
    yield "| " + " | ".join(COLUMNS).format(price=price) + " |"
    yield "|" + " ---: |" * len(COLUMNS)
    for rate in rates:
        for w in workers:
            days, hours, cost, busy = row(texts, rate, w, price)
            yield f"| {rate:,.0f}/s | {w} | {days:,.2f} | {hours:,.0f} | {cost:,.0f} | {busy:.0%} |"
    yield ""
    yield f"{texts:,.0f} scores of 3 numbers take {texts * BYTES_PER_SCORE / 1e9:,.0f} GB in the store."


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=float, default=1e9)
    parser.add_argument("--price", type=float, default=2.0)
    parser.add_argument("--rates", type=float, nargs="+", default=RATES)
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS)
    args = parser.parse_args()
    print(*table(args.texts, args.price, args.rates, args.workers), sep="\n")


if __name__ == "__main__":
    main()
