"""What the score store costs per score, beside scoring anew: the bundled language model, segment chrF and BLEU.

A million distinct texts (the teaching set's candidates, numbered) are kept, and found ("all known"), through `memo`:
keys, SQLite and commits included. "resumed" finds half of them and keeps the other half; "missed" is the bare look-up
of as many that are not there. The scorers run on a sample without a store. A ratio is the scorer's time by the store's:
above 1 the store saves time.

    python -m benchmarks store [--quick]
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

import anhelpers as an
from anhelpers.scoring.memo import memo
from anhelpers.scoring.store import Store, key

from .table import Row, beside, interleaved, seconds_of

WIDTH = 3
"""Numbers per score, as the language model's."""

AT_ONCE = 10_000
GOALS = {"de-small": "> 20"}
USES = ("all known", "kept", "missed", "resumed")


def texts_of(n: int) -> list[str]:
    """n distinct texts of the length of sentences."""
    some = an.load_candidates("teaching").texts
    return [f"{some[i % len(some)]} {i}" for i in range(n)]


def stored(n: int, folder: Path) -> dict[str, float]:
    """Seconds per score for each of USES; whether all came back as they were; bytes per score."""
    texts, scores = texts_of(n), np.random.default_rng(0).normal(size=(n, WIDTH))
    store = Store(folder / "scores.sqlite")

    def plan(missing: np.ndarray) -> list[np.ndarray]:
        return [missing[i : i + AT_ONCE] for i in range(0, len(missing), AT_ONCE)]

    def go(signature: str, some: list[str]) -> float:
        return seconds_of(
            lambda: memo(
                signature, some, lambda i: scores[i], width=WIDTH, groups=plan, store=store
            )
        )[0]

    times = {"kept": go("other", texts), "half": go("m", texts[: n // 2])}
    times["resumed"] = go("m", texts)
    times["all known"] = go("m", texts)
    unknown = [key("other", text) for text in texts]
    times["missed"], (_, found) = seconds_of(lambda: store.get("m", unknown, WIDTH))
    times["same"] = (
        not found.any() and (memo("m", texts, None, width=WIDTH, store=store) == scores).all()
    )
    store.close()
    size = store.path.stat().st_size / (2 * n)
    return {what: times[what] / n for what in USES} | {"same": bool(times["same"]), "bytes": size}


def _scorers(quick: bool) -> dict[str, list[float]]:
    """Seconds per text of the scorers themselves, one a round."""
    lm = an.load_lm("de-small", device="cpu")
    test = an.load("teaching")
    cands = an.load_candidates("teaching")
    refs = list(test.refs.values())
    surface = {
        metric.label: metric
        for metric in (
            an.accuracy.surface.surface_metric(name, "de", len(refs)) for name in ("chrf", "bleu")
        )
    }
    texts = list(dict.fromkeys(cands.texts))[: 200 if quick else 400]
    score = {
        name: partial(m.score_segments, cands.texts, refs=refs, segment=cands.segment)
        for name, m in surface.items()
    }
    programs = {"de-small": (partial(an.score_texts, lm, texts), len(texts))}
    programs |= {name: (program, len(cands.texts)) for name, program in score.items()}
    for program, _ in programs.values():
        program()
    times, _ = interleaved([program for program, _ in programs.values()], 3 if quick else 11)
    return {
        name: [seconds / n for seconds in column]
        for (name, (_, n)), column in zip(programs.items(), zip(*times, strict=True), strict=True)
    }


def rows(quick: bool) -> Iterator[Row]:
    """One row per scorer and use of the store."""
    n = 50_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        ours = stored(n, Path(folder))
    told = f"all come back to the bit; {ours['bytes']:.0f} bytes per score of {WIDTH} numbers"
    for scorer, theirs in _scorers(quick).items():
        for what in USES if scorer in GOALS else USES[:1]:
            yield beside(
                f"score store, {n:,} scores, {what}",
                f"scoring by {scorer}",
                [(one, ours[what]) for one in theirs],
                goal=GOALS.get(scorer, ""),
                agree=told,
                agrees=ours["same"],
                show=lambda s: f"{s * 1e6:.3g} µs a text",
            )
