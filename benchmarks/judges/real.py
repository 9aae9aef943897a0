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
from anhelpers.naturalness.lm import LanguageModel

from .claim import SETS, part_of
from .known import keep_known

Figures = Iterator[tuple[str, Estimate]]
FIRST = 1958  # line of de.original.txt, from 0, at which the originals of WMT23 begin
SAMPLES = {"originals": 300, "refA": 200}
OF_A_SYSTEM, N_DRAWS = 40, 200


def wmt23_paragraphs() -> dict[str, list[str]]:
    """Paragraphs of originals, of refA and of each system, drawn at random."""
    test, draw = an.load("wmt23/en-de"), random.Random(4)
    path = Path(os.environ["ANHELPERS_DATA"], "mono", "de.original.txt")
    texts = {"originals": an.data.read_lines(path)[FIRST:], "refA": test.refs["refA"]}
    texts |= {name: test.systems[name] for name in sorted(test.systems)}
    return {
        name: [own[i] for i in sorted(draw.sample(range(len(own)), SAMPLES.get(name, OF_A_SYSTEM)))]
        for name, own in texts.items()
    }


def aucs(judge: str, lm: LanguageModel, rng: np.random.Generator) -> Figures:
    """AUC of originals against systems (mean over systems) and refA; paragraphs are resampled."""
    texts = wmt23_paragraphs()
    keep_known(lm, [one for own in texts.values() for one in own])
    metric = an.metric(judge, "de", lm=lm)
    scores = {name: metric.oriented(metric.score_segments(own)) for name, own in texts.items()}
    systems = [name for name in texts if name not in SAMPLES]
    for others, said in ((systems, f"{len(systems)} systems"), (["refA"], "refA")):
        draws = []
        for _ in range(N_DRAWS):
            drawn = {name: rng.choice(scores[name], len(scores[name])) for name in texts}
            draws.append(np.mean([auc(drawn["originals"], drawn[one]) for one in others]))
        value = float(np.mean([auc(scores["originals"], scores[one]) for one in others]))
        low, high = np.quantile(draws, [0.025, 0.975])
        n = sum(len(texts[one]) for one in ["originals", *others])
        figure = Estimate("AUC", value, low=low, high=high, n=n, of="paragraphs")
        yield f"AUC against {said}", figure


def ranks(judge: str, lm: LanguageModel, rng: np.random.Generator) -> Figures:
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
        yield f"rank of {name}", figure


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
