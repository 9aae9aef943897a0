"""WMT25 cs-de under each judge of naturalness: `python -m tests.judges_wmt25`, with ANHELPERS_DATA set.

Its files have neither sources nor references, so accuracy is what the organisers stored: a score for each paragraph.
Of an_5_2_systems, "Does the claim depend on the judge?" quotes what is printed here.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from anhelpers.data import load
from anhelpers.naturalness.lm import load_lm
from anhelpers.plane import correlations, local_correlation, metric_axis, plane_of
from anhelpers.scoring import lookup

SET, JUDGES, SEED = "wmt25/cs-de", ("lpp", "critic", "critic+lpp"), 13
STORED = ("CometKiwi-XL", "GEMBA-ESA-CMDA", "GEMBA-ESA-GPT4.1", "MetricX-24-Hybrid-XL", "XCOMET-XL")


if __name__ == "__main__":
    test, lm = load(SET), load_lm("de-small")
    axes = {name: metric_axis(test, lookup.naturalness_metric(name, "de", lm)) for name in JUDGES}
    print(f"{len(test)} paragraphs in {len(set(test.docs))} documents, {len(test.systems)} systems")
    for name, stored in product(axes, STORED):
        plane = plane_of(
            test, metric_axis(test, lookup.metric(f"stored:{SET}#{stored}", test)), axes[name]
        )
        (r, low, high), *_ = correlations(
            plane, np.random.default_rng(SEED), [range(len(plane.systems))]
        )
        p = local_correlation(plane, np.random.default_rng(SEED)).iloc[-1].selection_p
        order = sorted(zip(-plane.scores()[1], plane.systems, strict=True))
        print(
            f"{name} with {stored}: r = {r:.2f} ({low:.2f} to {high:.2f}), p = {p:.3f}; {[s for _, s in order]}"
        )
