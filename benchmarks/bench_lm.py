"""Log-probabilities beside the same model called on one text at a time, and beside the bare forward pass.

The bare forward pass is what cannot be avoided: the same batches through the model, logits and nothing else. Texts are
the candidates of the teaching set, the model is de-tiny; both programs use the same threads.
"""

import statistics
import time
from dataclasses import replace

import numpy as np
import torch
import transformers

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


def larger(lm):
    """A random GPT-2 of 5.4 million parameters with 8,192 tokens, read through de-tiny's tokenizer: speed only."""
    config = transformers.GPT2Config(vocab_size=8192, n_embd=256, n_layer=4, n_head=8, n_positions=512, bos_token_id=0)
    config.activation_function = "gelu_pytorch_tanh"
    return replace(lm, model=transformers.GPT2LMHeadModel(config).eval(), name="random 5.4 M", max_tokens=512)


def rows(quick: bool) -> list[dict]:
    """One row per model and baseline: workload, baseline, ours, ratio, goal, agree."""
    lm = load_lm("de-tiny", device="cpu")
    return [row for one in (lm, larger(lm)) for row in _rows(one, quick)]


def _rows(lm, quick: bool) -> list[dict]:
    rng = np.random.default_rng(3)
    distinct = list(dict.fromkeys(load_candidates("teaching").texts))
    texts = [distinct[i] for i in rng.permutation(len(distinct))[: 200 if quick else 400]]
    ids = _token_ids(lm, texts, False)
    tokens = sum(len(i) - 1 for i in ids)
    worst = np.abs(score_texts(lm, texts).mean - one_by_one(lm, texts)).max()
    programs = lambda: score_texts(lm, texts), lambda: one_by_one(lm, texts), lambda: bare_forward(lm, ids)
    rounds = []
    for r in range(5 if quick else 11):  # in turning order, so that no program always follows the same neighbour
        order = [(r + i) % 3 for i in range(3)]
        seconds = {i: _seconds(programs[i]) for i in order}
        rounds.append([seconds[i] for i in range(3)])
    ours, naive, bare = (statistics.median(r[i] for r in rounds) for i in range(3))
    workload, speed = f"log-probabilities, {lm.name}, {tokens:,} tokens", f"{tokens / ours:,.0f} tokens/s"
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
