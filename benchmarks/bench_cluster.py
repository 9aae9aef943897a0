"""Two Dask workers beside one, on log-probabilities of texts.

python -m benchmarks cluster [--quick]
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial

import distributed
import numpy as np

import anhelpers as an
from anhelpers.provenance import environment
from anhelpers.scoring.cluster import connect

from .table import Row, beside, interleaved, within


def rows(quick: bool) -> Iterator[Row]:
    """One row: `lpp` under the default model, with one thread a worker."""
    test, lm = an.load("teaching"), an.load_lm(device="cpu")
    texts = [text for hyps in test.systems.values() for text in hyps][: 64 if quick else 256]
    how = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.ERROR}

    def scored(workers: int) -> np.ndarray:
        with distributed.LocalCluster(workers, **how) as cluster, connect(cluster):
            an.score_texts(lm, texts[:64])  # starts the workers
            return an.score_texts(lm, texts).total

    with environment(OMP_NUM_THREADS="1", ANHELPERS_STORE="off"):
        programs = [partial(scored, 1), partial(scored, 2)]
        times, (one, two) = interleaved(programs, 1)
    workload = f"lpp of {len(texts):,} texts, two Dask workers"
    told = within(two, one, 1e-3, "nats")
    yield beside(workload, "one Dask worker", times, goal=">= 1.8", **told)
