"""The joint bootstrap of the plane, on all systems of WMT24 en-de: 1,000 resamples of 997 segments.

The first rows start from counts that both have extracted and draw the same resamples as sacreBLEU (seed 12345,
segments): ours resamples a second axis of means in the same time.
The last rows are end to end, texts included, beside its paired bootstrap test. Ratios are medians over rounds of
the time on the clock: processor time would count a thread of numpy's products that waits for the other one.

    ANHELPERS_DATA=... python -m benchmarks bootstrap [--quick]
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import sacrebleu
from sacrebleu.significance import PairedTest, _bootstrap_resample

import anhelpers as an

from .table import Row, beside, interleaved

GOALS = {"bleu": ">= 70", "chrf": ">= 100"}
ORACLES = {"bleu": sacrebleu.BLEU, "chrf": sacrebleu.CHRF}
N_DRAWS, SEED = 1000, 12345  # sacreBLEU's own
SACREBLEU = f"sacreBLEU {sacrebleu.__version__}"


def _plane(test: an.TestSet, name: str) -> an.plane.Plane:
    """Corpus scores as accuracy, and numbers in the place of log-probabilities; each segment by itself."""
    values = np.random.default_rng(0).normal(size=(len(test), len(test.systems)))
    axes = (
        an.plane.metric_axis(test, an.accuracy.surface.surface_metric(name, "de"), "corpus"),
        an.plane.mean_axis("n", "n", "n", values),
    )
    return an.plane.plane_of(test, *axes)


def _by_segment(test: an.TestSet) -> an.TestSet:
    """One document, so that segments are resampled, in their order as sacreBLEU does."""
    return an.TestSet(
        "by segment", test.lp, test.srcs, test.refs, test.systems, docs=("one",) * len(test)
    )


def _from_counts(test: an.TestSet, name: str, repeats: int) -> Row:
    plane, oracle = _plane(test, name), ORACLES[name]()
    stats = [
        oracle._extract_corpus_statistics(hyps, [list(test.refs["refB"])])
        for hyps in test.systems.values()
    ]
    programs = [
        lambda: [_bootstrap_resample(s, oracle, N_DRAWS)[1] for s in stats],
        lambda: plane.draws(np.random.default_rng(SEED), N_DRAWS),
    ]
    times, (drawn, (draws, _)) = interleaved(programs, repeats + 1)
    wanted = np.array([[score.score for score in system] for system in drawn]).T
    workload = f"{N_DRAWS} resamples of corpus {name} and a mean, {len(stats)} systems, from counts"
    apart = np.abs(draws[:, 0] - wanted).max()
    return _row(workload, f"{SACREBLEU}, the score alone", times[1:], GOALS[name], apart, 1e-5)


def _end_to_end(test: an.TestSet, name: str, repeats: int) -> Row:
    named = [(system, list(hyps)) for system, hyps in test.systems.items()]
    refs = [list(test.refs["refB"])]
    programs = [
        lambda: PairedTest(named, {name: ORACLES[name]()}, refs, test_type="bs")(),
        lambda: _ours(test, name),
    ]
    times, ((_, found), (scores, _)) = interleaved(programs, repeats)
    wanted = [
        result.score for key, results in found.items() if key != "System" for result in results
    ]
    workload = f"corpus {name} from texts: intervals and paired tests with the first of {len(named)} systems"
    return _row(
        workload, f"{SACREBLEU} PairedTest", times, ">= 50", np.abs(scores - wanted).max(), 1e-9
    )


def _ours(test: an.TestSet, name: str) -> tuple[np.ndarray, object]:
    plane = _plane(test, name)
    plane.draws(np.random.default_rng(SEED), N_DRAWS)
    tests = an.paired_tests(plane, np.random.default_rng(SEED), N_DRAWS, against=plane.systems[0])
    return plane.scores()[0], tests


def _row(
    workload: str, peer: str, times: list[tuple[float, float]], goal: str, apart: float, most: float
) -> Row:
    told = {"agree": f"apart by at most {apart:.0e}", "agrees": apart <= most}
    return beside(workload, peer, times, goal=goal, show=lambda s: f"{s * 1e3:.3g} ms", **told)


def rows(quick: bool) -> Iterator[Row]:
    """Corpus scores from counts, and from texts."""
    test = _by_segment(an.load("wmt24/en-de").one_reference())
    repeats = 1 if quick else 3
    yield from (_from_counts(test, name, 3 * repeats) for name in GOALS)
    yield _end_to_end(test, "chrf", repeats)
