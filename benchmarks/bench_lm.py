"""Log-probabilities beside the same model one text at a time, the bare forward pass, minicons and lmppl.

The bare forward pass is what cannot be avoided: the same batches through the model, logits and nothing else. Texts are
candidates of the teaching set, the model is Gemma 3 270M; all programs use the same threads. minicons and lmppl get the
batch size, 1 or 16, at which they are faster here. The judge (`native`) reads nine of the model's layers and no logits.

N x K candidates are read with each distinct prefix once (`naturalness.packed`), beside the bare forward pass over all
of them. Both ways round differently in float32. They agree if shared prefixes are at most twice as far from float64 as
single texts are, for every sixteenth text, and at most three times as far from single texts, for all. The candidates
are German sentences that branch: every candidate of a source leaves an earlier one after a word drawn at random and
goes on as another sentence, as in samples; and every sixth is an earlier one again, as among the candidates of the
bench of COMET.

    python -m benchmarks lm [--quick]
"""

import json
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
import transformers

import anhelpers as an
from anhelpers.models import TOKENS_PER_BATCH, batches
from anhelpers.naturalness.lm import _token_ids, _windows, load_lm, score_texts
from anhelpers.naturalness.native import _mean_states
from anhelpers.naturalness.packed import _packs, _tree

from .peers import NEEDS, PeerMissing, ask, peer
from .table import Row, beside, interleaved, not_measured, within

HF = f"transformers {transformers.__version__}"
PER_TOKEN = "nats a token"
OTHERS = 1e-4  # a log-softmax in float32 over all 262,144 columns is off by 6e-5
REPEATED = 0.16


def one_by_one(lm, texts: list[str]) -> np.ndarray:
    """The obvious loop: one text per call, softmax over all logits."""
    means = []
    for text in texts:
        (ids,) = _token_ids(lm, [text], False)
        with torch.inference_mode():
            logits = lm.model(input_ids=torch.tensor([ids])).logits[0, :-1]
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
            # faster than without a mask
            lm.model(input_ids=x, attention_mask=torch.ones_like(x), use_cache=False)


def _whole(lm, quick: bool) -> Iterator[Row]:
    rng = np.random.default_rng(3)
    distinct = list(dict.fromkeys(an.load_candidates("teaching").texts))
    texts = [distinct[i] for i in rng.permutation(len(distinct))[: 24 if quick else 48]]
    ids = _token_ids(lm, texts, False)
    tokens = sum(len(i) - 1 for i in ids)
    ours = partial(score_texts, lm, texts, share_prefixes=False)
    judge = partial(_mean_states, lm, texts, (9,))
    times, (wanted, found, _) = interleaved([lambda: one_by_one(lm, texts), ours, judge], 3)
    workload = f"log-probabilities, {lm.name}, {tokens:,} tokens"
    show = lambda s: f"{tokens / s:,.0f} tokens/s"  # noqa: E731 (a name of its own would only be longer)
    told = within(found.mean, wanted, OTHERS, PER_TOKEN)
    pairs = [(theirs, ours) for theirs, ours, _ in times]
    yield beside(workload, HF + ", one by one", pairs, goal=">= 1.5", show=show, **told)
    judged = workload.replace("log-probabilities", "states of layer 9")
    pairs = [(theirs, states) for theirs, _, states in times]
    yield beside(judged, HF + ", log-probabilities one by one", pairs, goal=">= 5", show=show)
    for name in ("minicons", "lmppl"):
        yield _beside_peer(name, workload, (lm, texts), 1 if quick else 2, show)


def _beside_peer(name: str, workload: str, scored: tuple, rounds: int, show) -> Row:
    lm, texts = scored
    label = next(need for need in NEEDS["lm"] if need.startswith(name)).replace("==", " ")
    ours = partial(score_texts, lm, texts, share_prefixes=False)
    with tempfile.TemporaryDirectory() as folder:
        lm.model.save_pretrained(folder)
        lm.tokenizer.save_pretrained(folder)
        file = Path(folder, "texts.json")
        file.write_text(json.dumps(texts), encoding="utf-8")
        try:
            with peer("lm", name, folder, file, torch.get_num_threads()) as process:
                size = min((1, 16), key=lambda size: ask(process, batch=size)["seconds"])
                answers: list[dict] = []
                times, (_, found) = interleaved(
                    [lambda: answers.append(ask(process, batch=size)), ours], rounds
                )
        except PeerMissing as error:
            return not_measured(workload, label, str(error), ">= 2")
    pairs = [
        (answer["seconds"], seconds) for answer, (_, seconds) in zip(answers, times, strict=True)
    ]
    told = within(found.mean, np.array(answers[-1]["means"]), OTHERS, PER_TOKEN)
    return beside(workload, f"{label}, batches of {size}", pairs, goal=">= 2", show=show, **told)


def candidates(n: int, k: int) -> list[str]:
    """k texts for each of n sources; each leaves an earlier one after a random word, or (REPEATED) is one again."""
    rng = np.random.default_rng(4)
    lines = an.data.bundled("teaching/en-de/mono.de.txt").read_text(encoding="utf-8").splitlines()
    words = [line.split() for line in lines if len(line.split()) > 5]
    texts = []
    for _ in range(n):
        own = [words[rng.integers(len(words))]]
        while len(own) < k:
            if rng.random() < REPEATED:
                own.append(own[rng.integers(len(own))])
                continue
            before, other = own[rng.integers(len(own))], words[rng.integers(len(words))]
            at = rng.integers(len(before))
            own.append([*before[:at], *other[min(at, len(other) - 1) :]])
        texts += [" ".join(one) for one in own]
    return texts


def saved(lm, ids: list[list[int]]) -> float:
    """The share of all tokens that are not read: those of repeats, and those that the packs of the others share."""
    distinct = [list(own) for own in dict.fromkeys(map(tuple, ids))]
    made = _packs(lm, distinct, TOKENS_PER_BATCH["cpu"])
    rows = [row for pack in made for row in pack]
    packed = sum(len(distinct[i]) - 1 for row in rows for i in row)
    read = sum(len(_tree([distinct[i] for i in row]).tokens) for row in rows)
    alone = sum(len(own) - 1 for own in distinct)
    return 1 - (alone - packed + read) / sum(len(own) - 1 for own in ids)


def _shared(lm, quick: bool) -> Iterator[Row]:
    n, k = (4, 8) if quick else (8, 64)
    texts = candidates(n, k)
    ids = _token_ids(lm, texts, False)
    programs = [partial(bare_forward, lm, ids), partial(score_texts, lm, texts)]
    score_texts(lm, texts[:k])  # tries once whether this model can share
    times, (_, shared) = interleaved(programs, 2)
    whole = score_texts(lm, texts, share_prefixes=False)
    some = slice(None, None, len(texts) // 32)  # float64 takes 0.3 s a text
    exact = one_by_one(replace(lm, model=deepcopy(lm.model).double()), texts[some])
    error = np.abs(whole.mean[some] - exact).max()
    workload = f"log-probabilities, {lm.name}, {n} x {k} candidates, {saved(lm, ids):.0%} of the tokens shared"
    told = within(shared.mean[some], exact, 2 * error, f"{PER_TOKEN} from float64")
    told["agrees"] &= within(shared.mean, whole.mean, 3 * error, PER_TOKEN)[
        "agrees"
    ]  # and of all texts
    bare = HF + ", the bare forward pass over each text"
    yield beside(workload, bare, times, goal=">= 1.8", **told)


def rows(quick: bool) -> Iterator[Row]:
    """Texts by themselves and candidates with common prefixes."""
    lm = load_lm(device="cpu")
    yield from _whole(lm, quick)
    yield from _shared(lm, quick)
