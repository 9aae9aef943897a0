"""Log-probabilities beside the same model called on one text at a time, and beside the bare forward pass.

The bare forward pass is what cannot be avoided: the same batches through the model, logits and nothing else. Texts are
the candidates of the teaching set, the model is de-tiny; both programs use the same threads.

N x K candidates are read with each distinct prefix once (`naturalness.packed`), beside each text whole and beside the
bare forward pass over all of them. They are German sentences that branch: every candidate of a source leaves an earlier
one after a word drawn at random and goes on as another sentence, which saves about half the tokens, as in samples.
"""

import statistics
import sys
import time
from dataclasses import replace
from functools import partial

import numpy as np
import torch
import transformers

from anhelpers.data import load_candidates
from anhelpers.data.catalog import bundled
from anhelpers.naturalness.lm import TOKENS_PER_BATCH, _token_ids, _windows, load_lm, score_texts
from anhelpers.naturalness.packed import _tree, packs
from anhelpers.scoring.batches import batches


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
    windows = [window for _, window, _ in _windows(texts, lm.max_tokens)]
    for rows in batches([len(window) for window in windows], TOKENS_PER_BATCH["cpu"]):
        longest = max(len(windows[row]) for row in rows)
        x = torch.tensor([[*windows[row], *[0] * (longest - len(windows[row]))] for row in rows])
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
    return [row for one in (lm, larger(lm)) for row in [*_rows(one, quick), *_shared_rows(one, quick)]]


def _rows(lm, quick: bool) -> list[dict]:
    rng = np.random.default_rng(3)
    distinct = list(dict.fromkeys(load_candidates("teaching").texts))
    texts = [distinct[i] for i in rng.permutation(len(distinct))[: 200 if quick else 400]]
    ids = _token_ids(lm, texts, False)
    tokens = sum(len(i) - 1 for i in ids)
    worst = np.abs(score_texts(lm, texts, share_prefixes=False).mean - one_by_one(lm, texts)).max()
    ours = partial(score_texts, lm, texts, share_prefixes=False)
    programs = ours, lambda: one_by_one(lm, texts), lambda: bare_forward(lm, ids)
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


def candidates(n: int, k: int) -> list[str]:
    """k texts for each of n sources; every one but the first leaves an earlier one after a random word."""
    rng = np.random.default_rng(4)
    lines = (bundled("teaching").parent / "teaching" / "mono.de.txt").read_text(encoding="utf-8").splitlines()
    words = [line.split() for line in lines if len(line.split()) > 5]
    texts = []
    for _ in range(n):
        own = [words[rng.integers(len(words))]]
        while len(own) < k:
            before, other = own[rng.integers(len(own))], words[rng.integers(len(words))]
            at = rng.integers(len(before))
            own.append([*before[:at], *other[min(at, len(other) - 1) :]])
        texts += [" ".join(one) for one in own]
    return texts


def saved(lm, ids: list[list[int]]) -> float:
    """The share of all tokens that are not read, by the packs as they are made."""
    rows = [row for pack in packs(lm, dict(enumerate(ids)), TOKENS_PER_BATCH["cpu"]) for row in pack]
    packed = sum(len(ids[i]) - 1 for row in rows for i in row)
    read = sum(len(_tree([ids[i] for i in row]).tokens) for row in rows)
    return (packed - read) / sum(len(i) - 1 for i in ids)


def _shared_rows(lm, quick: bool) -> list[dict]:
    table = []
    for n, k in ((16, 8), (4, 32)) if quick else ((64, 8), (16, 128)):
        texts = list(dict.fromkeys(candidates(n, k)))
        ids = _token_ids(lm, texts, False)
        whole, shared = (score_texts(lm, texts, share_prefixes=choice) for choice in (False, None))
        worst = np.abs(whole.mean - shared.mean).max()
        programs = (
            lambda texts=texts: score_texts(lm, texts),
            lambda texts=texts: score_texts(lm, texts, share_prefixes=False),
            lambda ids=ids: bare_forward(lm, ids),
        )
        rounds = []
        for r in range(3):
            order = [(r + i) % 3 for i in range(3)]
            seconds = {i: _seconds(programs[i]) for i in order}
            rounds.append([seconds[i] for i in range(3)])
        ours, plain, bare = (statistics.median(r[i] for r in rounds) for i in range(3))
        workload = f"log-probabilities, {lm.name}, {n} x {k} candidates, {saved(lm, ids):.0%} of the tokens shared"
        for other, i, seconds, goal in (("bare forward pass", 2, bare, ">= 1.6"), ("each text whole", 1, plain, "> 1")):
            table.append({
                "workload": workload, "baseline": f"{other} {seconds:.1f} s", "ours": f"{ours:.1f} s",
                "ratio": round(statistics.median(r[i] / r[0] for r in rounds), 2), "goal": goal,
                "agree": f"within {worst:.0e} nats/token",
            })  # fmt: skip
    return table


if __name__ == "__main__":
    for row in rows("--quick" in sys.argv):
        print(row)
