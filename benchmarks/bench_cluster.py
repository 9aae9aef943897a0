"""Two workers beside one, and what it costs to go on: the bundled language model on the teaching set's candidates.

Workers are processes of one thread; they and the model are there before the clock starts. "resumed" has half of the
scores in the store. The ratio of "2 workers" is speed by that of one worker; of "resumed" the time by that of the half
that is computed, scored alone. µs are processor time of this process for a text: tokens, keys,
scheduler, answers, store.

    python -m benchmarks cluster [--quick]
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

import anhelpers as an
from anhelpers.naturalness.lm import LanguageModel, load_lm, score_texts
from anhelpers.provenance import environment
from anhelpers.scoring.cluster import connect
from anhelpers.scoring.memo import STORE
from anhelpers.scoring.worker import answer, loaded_recipe

from .table import Row, beside, within

TOLERANCE = 1e-4  # nats a text: 2e-6 a token, by which the other texts of a batch may move a score


def scored_in(
    lm: LanguageModel, texts: Sequence[str], store: str | Path
) -> tuple[float, float, np.ndarray]:
    """Seconds, those of this process' processor, and the log-probabilities."""
    # the benchmarks that follow time scoring, and no store
    with environment(**{STORE: str(store)}):
        start, busy = time.perf_counter(), time.process_time()
        total = score_texts(lm, texts).total
        return time.perf_counter() - start, time.process_time() - busy, total


def rows(quick: bool) -> Iterator[Row]:
    """One row for two workers and one for a resumed run."""
    lm = load_lm("de-small", device="cpu")
    texts = list(dict.fromkeys(an.load_candidates("teaching").texts))
    texts = texts[: 600 if quick else len(texts)]
    half, times, totals = len(texts) // 2, {}, []
    with tempfile.TemporaryDirectory() as folder:
        for workers in (1, 2):
            with connect(f"local:{workers}") as cluster:
                scored_in(lm, ["Das Haus."], "off")
                made = loaded_recipe("lm", lm, eos=False, share_prefixes=None).here()
                cluster.client.run(partial(answer, made, lm.signature(False), [(texts[:64], None)]))
                times[workers], _, total = scored_in(lm, texts, "off")
                totals.append(total)
                if workers == 2:
                    store = Path(folder, "scores.sqlite")
                    _, busy, _ = scored_in(lm, texts[:half], store)
                    times["rest"], _, _ = scored_in(lm, texts[half:], "off")
                    times["resumed"], _, total = scored_in(lm, texts, store)
    work = f"{len(texts):,} texts under de-small"
    peer = "our own 1 worker"
    yield beside(
        f"{work}, 2 workers, client {1e6 * busy / half:.0f} µs a text",
        peer,
        [(times[1], times[2])],
        goal="> 1.8",
        **within(totals[0], totals[1], 0.0, "nats"),
    )
    yield beside(
        f"{work}, half of them known",
        "our own run of the other half",
        [(times["rest"], times["resumed"])],
        goal="< 1.1",
        **within(total, totals[1], TOLERANCE, "nats"),
    )
