"""Two workers beside one, and what it costs to go on: the bundled language model on the teaching set's candidates.

Workers are processes of one thread; they and the model are there before the clock starts. "resumed" has half of the
scores in the store. The ratio of "2 workers" is speed by that of one worker; of "resumed" the time by that of the half
that is computed, scored alone. µs are processor time of this process for a text: tokens, keys,
scheduler, answers, store.

    python -m benchmarks.bench_cluster [--quick]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from anhelpers.data import load_candidates
from anhelpers.naturalness.lm import LanguageModel, load_lm, score_texts
from anhelpers.scoring.cluster import connect
from anhelpers.scoring.memo import STORE
from anhelpers.scoring.worker import answer, loaded_recipe


def _seconds(lm: LanguageModel, texts: Sequence[str], store: str | Path) -> tuple[float, float, np.ndarray]:
    """Seconds, those of this process' processor, and the log-probabilities."""
    os.environ[STORE] = str(store)
    start, busy = time.perf_counter(), time.process_time()
    total = score_texts(lm, texts).total
    return time.perf_counter() - start, time.process_time() - busy, total


def rows(quick: bool) -> list[dict]:
    """One row for two workers and one for a resumed run: workload, baseline, ours, ratio, goal, agree."""
    lm, texts = load_lm("de-tiny", device="cpu"), list(dict.fromkeys(load_candidates("teaching").texts))
    texts = texts[: 600 if quick else len(texts)]
    half, times, totals = len(texts) // 2, {}, []
    with tempfile.TemporaryDirectory() as folder:
        for workers in (1, 2):
            with connect(f"local:{workers}") as cluster:
                _seconds(lm, ["Das Haus."], "off")
                made = loaded_recipe("lm", lm, eos=False, share_prefixes=None)
                cluster.client.run(partial(answer, made, lm.signature(False), [(texts[:64], None)]))
                times[workers], _, total = _seconds(lm, texts, "off")
                totals.append(total)
                if workers == 2:
                    store = Path(folder, "scores.sqlite")
                    _, busy, _ = _seconds(lm, texts[:half], store)
                    times["rest"], _, _ = _seconds(lm, texts[half:], "off")
                    times["resumed"], _, total = _seconds(lm, texts, store)
    apart = float(np.nanmax(np.abs(totals[0] - totals[1])))
    work = f"{len(texts):,} texts under de-tiny"
    return [
        {"workload": f"{work}, 2 workers, client {1e6 * busy / half:.0f} µs a text",
         "baseline": f"1 worker {len(texts) / times[1]:,.0f} texts/s",
         "ours": f"{len(texts) / times[2]:,.0f} texts/s", "ratio": round(times[1] / times[2], 2), "goal": "> 1.8",
         "agree": f"{apart:.1e} nats"},
        {"workload": f"{work}, half of them known", "baseline": f"that half alone {times['rest']:.2f} s",
         "ours": f"{times['resumed']:.2f} s", "ratio": round(times["resumed"] / times["rest"], 2), "goal": "< 1.1",
         "agree": f"{float(np.nanmax(np.abs(total - totals[1]))):.1e} nats"},
    ]  # fmt: skip


if __name__ == "__main__":
    for row in rows("--quick" in sys.argv):
        print(row)
