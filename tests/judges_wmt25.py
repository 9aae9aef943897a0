"""WMT25 cs-de under each judge of naturalness: `python -m tests.judges_wmt25`, with ANHELPERS_DATA set.

Its files have neither sources nor references, so accuracy is what the organisers stored: a score for each paragraph.
Of an_5_2_systems, "Does the claim depend on the judge?" quotes what is printed here.
"""

from __future__ import annotations

import json
import os
from itertools import product
from pathlib import Path

import numpy as np

from anhelpers.data import TestSet
from anhelpers.naturalness.lm import load_lm
from anhelpers.plane import correlations, local_correlation, mean_axis, metric_axis, plane_of
from anhelpers.scoring.lookup import naturalness_metric

PAIR, JUDGES, SEED = "cs-de_DE", ("lpp", "critic", "critic+lpp"), 13


def read_wmt25(folder: Path) -> tuple[TestSet, dict[str, np.ndarray]]:
    """The paragraphs of all systems, and metric -> (N, k) stored scores, higher is better (MetricX is negated)."""
    texts: dict[str, dict[str, list[str]]] = {}
    scores: dict[str, dict[str, dict[str, list[float]]]] = {}
    for path in sorted((folder / "systems").glob("*.jsonl")):
        lines, stored = (
            file.read_text(encoding="utf-8").splitlines()
            for file in (path, folder / "automatic_scores" / path.name)
        )
        texts[path.stem] = {
            doc["doc_id"].replace("_#_vid_", "_#_"): doc["hypothesis"].split("\n\n")
            for doc in map(json.loads, lines)
            if doc["doc_id"].startswith(PAIR)
        }
        scores[path.stem] = {
            "_#_".join((doc["language_pair"], doc["domain"], doc["document_id"])): doc[
                "metric_scores"
            ]
            for doc in map(json.loads, stored)
            if doc["language_pair"] == PAIR
        }
    docs = sorted(next(iter(texts.values())))
    of = [(doc, i) for doc in docs for i in range(len(next(iter(texts.values()))[doc]))]
    systems = {system: tuple(found[doc][i] for doc, i in of) for system, found in texts.items()}
    test = TestSet(
        "wmt25/cs-de",
        "cs-de",
        srcs=("",) * len(of),
        systems=systems,
        docs=tuple(doc for doc, _ in of),
    )
    metrics = next(iter(scores[next(iter(scores))].values()))
    values = {
        m: np.array([[scores[s][doc][m][i] for s in systems] for doc, i in of], dtype=float)
        for m in metrics
    }
    return test, values


if __name__ == "__main__":
    test, stored = read_wmt25(Path(os.environ["ANHELPERS_DATA"]) / "wmt25" / "data")
    lm = load_lm("de-small")
    axes = {name: metric_axis(test, naturalness_metric(name, "de", lm)) for name in JUDGES}
    print(f"{len(test)} paragraphs in {len(set(test.docs))} documents, {len(test.systems)} systems")
    for name, (metric, values) in product(axes, stored.items()):
        plane = plane_of(test, mean_axis(metric, metric, "stored", values), axes[name])
        (r, low, high), *_ = correlations(
            plane, np.random.default_rng(SEED), [range(len(plane.systems))]
        )
        p = local_correlation(plane, np.random.default_rng(SEED)).iloc[-1].selection_p
        order = sorted(zip(-plane.scores()[1], plane.systems, strict=True))
        print(
            f"{name} with {metric}: r = {r:.2f} ({low:.2f} to {high:.2f}), p = {p:.3f}; {[s for _, s in order]}"
        )
