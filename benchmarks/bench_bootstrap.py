"""The joint bootstrap of the plane, on all systems of WMT24 en-de: 1,000 resamples of 997 segments.

From texts to paired tests, beside sacreBLEU's paired bootstrap test with its resamples (seed 12345, segments); ours
resamples a second axis of means in the same time. Ratios are medians over rounds of the time on the clock: processor
time would count a thread of numpy's products that waits for the other one.

    ANHELPERS_DATA=... python -m benchmarks bootstrap [--quick]
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import sacrebleu
from sacrebleu.significance import PairedTest

import anhelpers as an

from .table import Row, beside, interleaved

N_DRAWS, SEED = 1000, 12345  # sacreBLEU's own


def _by_segment(test: an.TestSet) -> an.TestSet:
    """One document, so that segments are resampled, in their order as sacreBLEU does."""
    return an.TestSet(
        "by segment", test.lp, test.srcs, test.refs, test.systems, docs=("one",) * len(test)
    )


def _ours(test: an.TestSet) -> np.ndarray:
    """Corpus scores as accuracy, and numbers in the place of log-probabilities: scores, resamples, paired tests."""
    values = np.random.default_rng(0).normal(size=(len(test), len(test.systems)))
    axes = (
        an.plane.metric_axis(test, an.accuracy.surface.surface_metric("chrf", "de"), "corpus"),
        an.plane.mean_axis("n", "n", "n", values),
    )
    plane = an.plane.plane_of(test, *axes)
    plane.draws(np.random.default_rng(SEED), N_DRAWS)
    an.paired_tests(plane, np.random.default_rng(SEED), N_DRAWS, against=plane.systems[0])
    return plane.scores()[0]


def rows(quick: bool) -> Iterator[Row]:
    """Corpus chrF from texts."""
    test = _by_segment(an.load("wmt24/en-de").one_reference())
    named = [(system, list(hyps)) for system, hyps in test.systems.items()]
    refs = [list(test.refs["refB"])]
    programs = [
        lambda: PairedTest(named, {"chrf": sacrebleu.CHRF()}, refs, test_type="bs")(),
        lambda: _ours(test),
    ]
    times, ((_, found), scores) = interleaved(programs, 1 if quick else 3)
    wanted = [
        result.score for key, results in found.items() if key != "System" for result in results
    ]
    apart = np.abs(scores - wanted).max()
    yield beside(
        f"intervals and paired tests of {len(named)} systems, corpus chrF from texts",
        f"sacreBLEU {sacrebleu.__version__} PairedTest",
        times,
        goal=">= 50",
        agree=f"apart by at most {apart:.0e}",
        agrees=apart <= 1e-9,
        show=lambda s: f"{s * 1e3:.3g} ms",
    )
