"""Two Dask workers beside one, on log-probabilities of texts.

python -m benchmarks cluster [--quick]
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack
from time import perf_counter

import distributed
import numpy as np

import anhelpers as an
from anhelpers.provenance import environment
from anhelpers.scoring.cluster import connect

from .table import Row, beside, within


def rows(quick: bool) -> Iterator[Row]:
    """One row: `lpp` under the default model, with one thread a worker, after the model was sent."""
    test, lm = an.load("teaching"), an.load_lm(device="cpu")
    texts = list(dict.fromkeys(text for hyps in test.systems.values() for text in hyps))
    texts = texts[: 64 if quick else 256]
    how = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.ERROR}
    with ExitStack() as stack:
        stack.enter_context(environment(OMP_NUM_THREADS="1", ANHELPERS_STORE="off"))
        clusters = [
            stack.enter_context(distributed.LocalCluster(n_workers=n, **how)) for n in (1, 2)
        ]

        def scored(cluster: distributed.LocalCluster) -> tuple[float, np.ndarray]:
            with connect(cluster):
                an.score_texts(lm, texts[:64])  # sends the model
                start = perf_counter()
                found = an.score_texts(lm, texts).total
                return perf_counter() - start, found

        (one, alone), (two, shared) = (scored(cluster) for cluster in clusters)
    workload = f"lpp of {len(texts):,} texts, two Dask workers"
    told = within(shared, alone, 1e-3, "nats")
    yield beside(workload, "one Dask worker", [(one, two)], goal=">= 1.8", **told)
