"""The bundled critic on 10,000 texts of the length of sentences, on one processor.

It has seen none of them, nor any of their words.

    python -m benchmarks critic [--quick]
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import anhelpers as an
from anhelpers.naturalness.critic import critic_metric, load_critic, score_critic

from .table import Row, limited, seconds_of

LEAST = 20_000  # texts a second


def texts_of(n: int) -> list[str]:
    """n distinct texts of the length of sentences."""
    some = an.load_candidates("teaching").texts
    return [f"{some[i % len(some)]} {i}" for i in range(n)]


def rows(quick: bool) -> Iterator[Row]:
    """One row."""
    n = 1_000 if quick else 10_000
    texts, seconds = texts_of(n), []
    for _ in range(3 if quick else 5):
        critic = load_critic("de")  # forgets the words that it has seen
        score = critic_metric(critic, "de").score_segments
        taken, found = seconds_of(lambda score=score: score(texts), time.process_time)
        seconds.append(taken)
    some = range(0, n, 50)
    same = all(found[i] == score_critic(critic, texts[i]) for i in some)
    agree = f"{len(some)} of {len(some)} equal to a text by itself" if same else "not so by itself"
    show = lambda s: f"{n / s:,.0f} texts/s"  # noqa: E731
    yield limited(f"critic, {n:,} texts", seconds, n / LEAST, show, agree=agree, agrees=same)
