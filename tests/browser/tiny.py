"""A made-up data set for the browser tests; their notebooks import it too, so both sides see the same numbers."""

import numpy as np
import pandas as pd

from anhelpers.frontier import oracle_curve
from anhelpers.widgets.explorer import _Judged

SOURCE = (
    "the old house stands near a quiet river where people walk and children play under tall trees"
)
TARGET = "das alte Haus steht am stillen Fluss wo Leute gehen und Kinder unter hohen Bäumen <b>spielen</b> & lachen"


def corpus(n_segments=24, n_candidates=6, words=9, seed=7):
    """(curve, srcs, refs, texts, options) for beta_explorer: two domains, five systems; scores near an arc."""
    rng = np.random.default_rng(seed)
    n = n_segments * n_candidates
    segment = np.repeat(np.arange(n_segments), n_candidates)
    angle, radius = rng.uniform(0, np.pi / 2, n), rng.uniform(0.85, 1, n)
    accuracy = 40 + 30 * radius * np.sin(angle)
    naturalness = -4 + 2 * radius * np.cos(angle) + rng.normal(size=n) / 20
    srcs = [" ".join(rng.choice(SOURCE.split(), words)) for _ in range(n_segments)]
    refs = [" ".join(rng.choice(TARGET.split(), words)) for _ in range(n_segments)]
    texts = [_edited(refs[s].split(), rng) for s in segment]
    domains = ["news" if s % 3 else "literary" for s in range(n_segments)]
    options = {
        "segment": segment,
        "accuracy": accuracy,
        "naturalness": naturalness,
        "domains": domains,
    }
    options |= {"tags": [f"sample {i % n_candidates}" for i in range(n)], "systems": systems(rng)}
    options |= {
        "names": ("chrF", "log-prob."),
        "langs": ("en", "de"),
        "title": "Every step costs accuracy",
    }
    return oracle_curve(segment, accuracy, naturalness), srcs, refs, texts, options


def judged(**sizes):
    """([chrf × lpp, chrf × critic, people × critic], srcs, refs, texts, options): the corpus under three pairs."""
    _, srcs, refs, texts, options = corpus(**sizes)
    rng, segment = np.random.default_rng(3), options["segment"]
    chrf, lpp = options.pop("accuracy"), options.pop("naturalness")
    critic = rng.normal(size=len(lpp))
    people = (5 * chrf + 40 * rng.normal(size=len(chrf))).clip(0, 100)
    table = options.pop("systems")
    del options["names"]

    def pair(accuracy, naturalness, judges, labels, names):
        one = oracle_curve(segment, accuracy, naturalness)
        named = {"judges": judges, "labels": labels, "names": names}
        return _Judged(
            one, accuracy, naturalness, table if judges == ("chrf", "lpp") else None, **named
        )

    pairs = [
        pair(chrf, lpp, ("chrf", "lpp"), ("chrF", "log-probability"), ("chrF", "log-prob.")),
        pair(chrf, critic, ("chrf", "critic"), ("chrF", "critic <b>"), ("chrF", "critic <b>")),
        pair(
            people, critic, ("people", "critic"), ("people", "critic <b>"), ("rated", "critic <b>")
        ),
    ]
    return pairs, srcs, refs, texts, options


def systems(rng):
    names = {
        "Alpha": "LLM",
        "Beta MT": "MT",
        "Gamma": "online",
        "human A": "human",
        "Delta": "unknown",
    }
    frame = pd.DataFrame({"system": list(names), "category": list(names.values())})
    frame["accuracy"] = 54 + 2 * rng.normal(size=5)
    frame["naturalness"] = -3.1 + 0.1 * rng.normal(size=5)
    return frame.assign(accuracy_low=frame["accuracy"] - 0.8, accuracy_high=frame["accuracy"] + 0.8)


def _edited(words, rng):
    words = list(words)
    for place in rng.integers(0, len(words), 2):
        words[place] = str(rng.choice(TARGET.split()))
    return " ".join(words)
