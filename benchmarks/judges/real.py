"""Figures of naturalness metrics on WMT23 and WMT24 en-de, in the columns of `table.judge_table`."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import anhelpers as an
from anhelpers.estimate import Estimate
from anhelpers.naturalness.critic import auc
from tests.naturalness.test_critic_wmt23 import FIRST, sentences

from .claim import SETS, part_of
from .known import keep_known

SAMPLE, BLOCK, N_DRAWS = 400, 10, 200


def wmt23_sentences() -> dict[str, list[str]]:
    """Sentences of the originals, of refA, and 400 of each system."""
    test, draw = an.load("wmt23/en-de"), random.Random(5)
    folder = Path(os.environ["ANHELPERS_DATA"])
    texts = {
        "originals": sentences(an.data.read_lines(folder / "mono" / "de.original.txt")[FIRST:]),
        "refA": sentences(test.refs["refA"]),
    }
    for name in sorted(test.systems):
        own = sentences(test.systems[name])
        texts[name] = [own[i] for i in sorted(draw.sample(range(len(own)), SAMPLE))]
    return texts


def aucs(judge: str, lm: object, rng: np.random.Generator) -> Iterator[tuple[str, Estimate]]:
    """AUC of originals against systems (mean over systems) and refA; blocks of ten sentences are resampled."""
    texts = wmt23_sentences()
    keep_known(lm, [one for own in texts.values() for one in own])
    metric = an.metric(judge, "de", lm=lm)
    scores = {name: metric.oriented(metric.score_segments(own)) for name, own in texts.items()}
    systems = [name for name in texts if name not in ("originals", "refA")]

    def resampled(values: np.ndarray) -> np.ndarray:
        starts = rng.integers(len(values) - BLOCK + 1, size=len(values) // BLOCK)
        return values[(starts[:, None] + np.arange(BLOCK)).ravel()]

    for others, said in ((systems, "12 systems"), (["refA"], "the human reference")):
        draws = []
        for _ in range(N_DRAWS):
            r = resampled(scores["originals"])
            draws.append(np.mean([auc(r, resampled(scores[one])) for one in others]))
        value = float(np.mean([auc(scores["originals"], scores[one]) for one in others]))
        low, high = np.quantile(draws, [0.025, 0.975])
        n = len(scores["originals"])
        figure = Estimate("AUC", value, low=low, high=high, n=n, of="originals")
        yield f"AUC, WMT23: originals against {said}", figure


def ranks(judge: str, lm: object, rng: np.random.Generator) -> Iterator[tuple[str, Estimate]]:
    """Ranks of the human references and of CycleL among 28 (1: most natural); documents are resampled."""
    test, parts = an.load("wmt24/en-de"), SETS["wmt24"].parts
    test = part_of(test, parts[judge]) if judge in parts else test
    texts = {**test.systems, **test.refs}
    keep_known(lm, [one for own in texts.values() for one in own])
    metric = an.metric(judge, test, lm=lm)
    scores = metric.oriented(metric.score_segments([one for own in texts.values() for one in own]))
    scores = scores.reshape(len(texts), -1)
    doc = np.unique(test.docs, return_inverse=True)[1]
    members = [np.flatnonzero(doc == k) for k in range(doc.max() + 1)]

    def ranked(columns: np.ndarray) -> np.ndarray:
        means = np.nanmean(scores[:, columns], 1)
        return (-means).argsort().argsort() + 1

    whole = ranked(np.arange(len(test)))
    picked = rng.integers(len(members), size=(N_DRAWS, len(members)))
    draws = np.array([ranked(np.concatenate([members[k] for k in row])) for row in picked])
    for name in ("refA", "refB", "CycleL", "CycleL2", "TSU-HITs", "MSLC"):
        k = [*texts].index(name)
        low, high = np.quantile(draws[:, k], [0.025, 0.975])
        figure = Estimate("rank", int(whole[k]), low=low, high=high, n=len(test), of="segments")
        yield f"WMT24 en-de: rank of {name} of {len(texts)}", figure


def real_table(names: Sequence[str]) -> pd.DataFrame:
    """The rows of all metrics."""
    lm, rows = an.load_lm(), []
    for figures in (aucs, ranks):
        for judge in names:
            for item, figure in figures(judge, lm, np.random.default_rng(0)):
                row = {name: getattr(figure, name) for name in ("value", "low", "high", "n")}
                row |= {"n_of": figure.of, "unit": figure.unit or figure.name}
                rows.append({"judge": judge, "item": item, **row})
    return pd.DataFrame(rows)
