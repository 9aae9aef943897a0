"""What N translations take on a cluster, from rates: tables for docs/cluster.md.

    python -m benchmarks.cluster_plan [--texts N] [--price PRICE] [--rates RATE ...] [--workers W ...]
    python -m benchmarks.cluster_plan --rehearse N

A rate is translations per second of one worker, as `python -m benchmarks cluster` or a trial of some thousand
texts tells it. A rehearsal makes the plan of N texts from a trial, scores them on two workers here, one of which is
killed on the way, and prints what was planned beside what was measured.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import numpy as np

from anhelpers.naturalness.lm import LanguageModel, load_lm
from anhelpers.scoring.cluster import Cluster, connect

from .bench_cluster import scored_in

MICROSECONDS_PER_SCORE = 220.0
"""Of one core of the client for a text: tokens for the plan, keys, scheduler, answers, store; measured by `python -m
benchmarks cluster`."""

BYTES_PER_SCORE = 63
"""Of the store's file, a score of 3 numbers kept as workers answer; 56 in large pieces (`benchmarks store`)."""

BYTES_PER_TEXT = 3600
"""Of the command's memory, for a text of some 30 characters: it, its tokens, its place in a batch, its score."""

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


TRIAL = 5000
"""Texts from which a rehearsal takes its rates."""


def row(
    texts: float,
    rate: float,
    workers: int,
    price: float,
    seconds: float = MICROSECONDS_PER_SCORE * 1e-6,
) -> tuple[float, float, float, float]:
    """Days, worker hours, cost, and the part of its time in which the client is busy.

    With N texts, R texts per second of a worker, W workers and c seconds of the client for a text: busy = R W c,
    hours = N / (3600 R), days = hours / (24 W), cost = price · hours. Where busy is above 1 the client is the limit,
    and the others are busy times as much.

    >>> [round(x, 3) for x in row(1e9, 100, 64, 2.0)]
    [2.546, 3911.111, 7822.222, 1.408]
    """
    hours, busy = texts / (3600 * rate), rate * workers * seconds
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


def rehearse(n: int, workers: int = 2) -> Iterator[str]:
    """Lines of markdown: the plan of n texts, and what two workers did, one of them killed after a third."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lm = _tiny(folder / "lm")
        texts = [f"Das Haus {i} ist {i % 97} Jahre alt." for i in range(n + 2 * TRIAL)]
        trial, more, texts = texts[:TRIAL], texts[TRIAL : 2 * TRIAL], texts[2 * TRIAL :]
        scored_in(lm, trial[:100], "off")
        rate = TRIAL / scored_in(lm, trial, "off")[1]
        with connect(f"local:{workers}") as cluster:
            scored_in(lm, trial, folder / "warm.sqlite")
            client = scored_in(lm, more, folder / "trial.sqlite")[1] / TRIAL
            killer = threading.Thread(
                target=_kills, args=(cluster, folder / "scores.sqlite", n // 3), daemon=True
            )
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            killer.start()
            took, busy, totals = scored_in(lm, texts, folder / "scores.sqlite")
        memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        with closing(sqlite3.connect(folder / "scores.sqlite")) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            (kept,) = connection.execute("SELECT COUNT(*) FROM score").fetchone()
        size = (folder / "scores.sqlite").stat().st_size / kept
        some = np.arange(0, n, max(1, n // 1000))
        alone = scored_in(lm, [texts[i] for i in some], "off")[2]
    days, _, _, share = row(n, rate, workers, 0.0, client)
    yield f"{n:,} texts, {workers} workers, {os.cpu_count()} cores, load {os.getloadavg()[2]:.0f}:"
    yield ""
    yield "| | planned | measured |"
    yield "| --- | ---: | ---: |"
    yield f"| texts a second of a worker | {rate:,.0f} (trial) | {n / took / workers:,.0f} |"
    yield f"| µs of the command for a text | {client * 1e6:.0f} (trial) | {busy / n * 1e6:.0f} |"
    yield f"| busy share of the command | {share:.0%} | {busy / took:.0%} |"
    yield f"| seconds | {days * 86400:,.0f} | {took:,.0f} |"
    yield f"| bytes of the store for a score | {BYTES_PER_SCORE} | {size:.0f} |"
    yield f"| bytes of memory for a text | {BYTES_PER_TEXT:,} | {memory / n:,.0f} |"
    yield f"| scores in the store | {n:,} | {kept:,} |"
    yield ""
    apart = np.abs(totals[some] - alone).max()
    yield f"Workers killed: {int(not killer.is_alive())}."
    yield f"{len(some):,} scores beside those of one process: at most {apart:.1g} nats apart."


def _tiny(folder: Path) -> LanguageModel:
    """A random GPT-2 of width 16, saved, so that workers can load it."""
    import torch
    import transformers

    from anhelpers.training.lm import train_tokenizer

    torch.set_num_threads(1)  # as a worker has
    torch.manual_seed(0)
    tokenizer = train_tokenizer(
        ["Das Haus ist alt und klein.", "Der Hund ist 97 Jahre alt."] * 4, 300, 64
    )
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=64, n_embd=16, n_layer=1, n_head=1
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load_lm(folder, device="cpu")


def _kills(cluster: Cluster, store: Path, after: int) -> None:
    """Kill a worker once the store has so many scores."""
    pid = next(iter(cluster.client.run(os.getpid).values()))
    kept = 0
    while kept < after:
        time.sleep(0.5)
        with (
            suppress(sqlite3.Error),
            closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection,
        ):
            (kept,) = connection.execute("SELECT COUNT(*) FROM score").fetchone()
    os.kill(pid, signal.SIGKILL)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=float, default=1e9)
    parser.add_argument("--price", type=float, default=2.0)
    parser.add_argument("--rates", type=float, nargs="+", default=RATES)
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS)
    parser.add_argument(
        "--rehearse", type=int, metavar="N", help="score N texts here, on two workers"
    )
    args = parser.parse_args()
    if args.rehearse:
        for line in rehearse(args.rehearse):
            print(line, flush=True)
        return
    print(*table(args.texts, args.price, args.rates, args.workers), sep="\n")


if __name__ == "__main__":
    main()
