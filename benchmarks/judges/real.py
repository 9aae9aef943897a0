"""Figures of naturalness metrics on WMT23 and WMT24 en-de, in the columns of `table.judge_table`."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import anhelpers as an
from anhelpers.estimate import Estimate
from anhelpers.naturalness.critic import auc
from anhelpers.naturalness.lm import LanguageModel
from tools.train.wmt23 import FIRST, rows

from .known import keep_known

Figures = Iterator[tuple[str, Estimate]]
N_DRAWS = 200


def wmt23_texts() -> dict[str, dict[str, list[str]]]:
    """Paragraphs and sentences of WMT23: those of originals, of refA and of each system (sentences: 400)."""
    data = Path(os.environ["ANHELPERS_DATA"])
    test = an.load("wmt23/en-de")
    originals = an.data.read_lines(data / "mono" / "de.original.txt")[FIRST:]
    parts = {"paragraphs": {"originals": originals, **test.refs, **test.systems}}
    parts["sentences"] = defaultdict(list)
    for side, origin, text in rows("de", data):
        parts["sentences"]["originals" if side == "native" else origin].append(text)
    return parts


def aucs(judge: str, lm: LanguageModel, rng: np.random.Generator) -> Figures:
    """AUC of originals against systems (mean over systems) and refA; texts are resampled."""
    for of, texts in wmt23_texts().items():
        keep_known(lm, [one for own in texts.values() for one in own])
        metric = an.metric(judge, "de", lm=lm)
        scores = {k: metric.oriented(metric.score_segments(own)) for k, own in texts.items()}
        scores = {k: own[~np.isnan(own)] for k, own in scores.items()}
        systems = [name for name in texts if name not in ("originals", "refA")]
        for others, said in ((systems, f"{len(systems)} systems"), (["refA"], "refA")):
            draws = []
            for _ in range(N_DRAWS):
                drawn = {name: rng.choice(own, len(own)) for name, own in scores.items()}
                draws.append(np.mean([auc(drawn["originals"], drawn[one]) for one in others]))
            value = float(np.mean([auc(scores["originals"], scores[one]) for one in others]))
            low, high = np.quantile(draws, [0.025, 0.975])
            n = sum(len(texts[one]) for one in ["originals", *others])
            figure = Estimate("AUC", value, low=low, high=high, n=n, of=of)
            yield f"AUC of {of} against {said}", figure


def ranks(judge: str, lm: LanguageModel, rng: np.random.Generator) -> Figures:
    """Ranks of the human references and of CycleL among 28 (1: most natural); documents are resampled."""
    test = an.load("wmt24/en-de")
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
    lm, found = an.load_lm(), []
    for figures in (aucs, ranks):
        for judge in names:
            for item, figure in figures(judge, lm, np.random.default_rng(0)):
                row = {name: getattr(figure, name) for name in ("value", "low", "high", "n")}
                row |= {"n_of": figure.of, "unit": figure.unit or figure.name}
                found.append({"judge": judge, "item": item, **row})
    return pd.DataFrame(found)
