"""Log-probabilities beside the same model called on one text at a time, and beside the bare forward pass.

The bare forward pass is what cannot be avoided: the same batches through the model, logits and nothing else. Texts are
the candidates of the teaching set, the model is de-tiny; both programs use the same threads.
"""

import statistics
import time

import numpy as np
import torch

from anhelpers.data import load_candidates
from anhelpers.naturalness.lm import TOKENS_PER_BATCH, _batches, _token_ids, _windows, load_lm, score_texts


def one_by_one(lm, texts: list[str]) -> np.ndarray:
    """The obvious loop: one text per call, softmax over all logits."""
    means = []
    for text in texts:
        (ids,) = _token_ids(lm, [text], False)
        with torch.inference_mode():
            logits = lm.model(input_ids=torch.tensor([ids])).logits[0, :-1].float()
        logp = torch.log_softmax(logits, -1)[range(len(ids) - 1), ids[1:]]
        means.append(float(logp.double().mean()))
    return np.array(means)


def bare_forward(lm, texts: list[str]) -> None:
    """The same padded batches through the model; the logits are thrown away. Tokenising is not counted here."""
    for batch in _batches(list(_windows(texts, lm.max_tokens)), TOKENS_PER_BATCH["cpu"]):
        longest = max(len(w) for _, w, _ in batch)
        x = torch.tensor([[*w, *[0] * (longest - len(w))] for _, w, _ in batch])
        with torch.inference_mode():
            lm.model(input_ids=x, use_cache=False)


def _seconds(function) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def rows(quick: bool) -> list[dict]:
    """One row per baseline: workload, baseline, ours, ratio, goal, agree."""
    lm = load_lm("de-tiny", device="cpu")
    rng = np.random.default_rng(3)
    distinct = list(dict.fromkeys(load_candidates("teaching").texts))
    texts = [distinct[i] for i in rng.permutation(len(distinct))[: 200 if quick else 1000]]
    ids = _token_ids(lm, texts, False)
    tokens = sum(len(i) - 1 for i in ids)
    worst = np.abs(score_texts(lm, texts).mean - one_by_one(lm, texts)).max()
    programs = lambda: score_texts(lm, texts), lambda: one_by_one(lm, texts), lambda: bare_forward(lm, ids)
    rounds = [[_seconds(work) for work in programs] for _ in range(3 if quick else 5)]
    ours, naive, bare = (statistics.median(r[i] for r in rounds) for i in range(3))
    workload, speed = f"log-probabilities, {len(texts)} texts, {tokens:,} tokens", f"{tokens / ours:,.0f} tokens/s"
    return [
        {"workload": workload, "baseline": f"one by one {tokens / naive:,.0f} tokens/s", "ours": speed,
         "ratio": round(statistics.median(r[1] / r[0] for r in rounds), 2), "goal": "> 1",
         "agree": f"within {worst:.0e} nats/token"},
        {"workload": workload, "baseline": f"bare forward pass {tokens / bare:,.0f} tokens/s", "ours": speed,
         "ratio": round(statistics.median(r[2] / r[0] for r in rounds), 2), "goal": ">= 0.95", "agree": ""},
    ]  # fmt: skip


if __name__ == "__main__":
    for row in rows(False):
        print(row)
