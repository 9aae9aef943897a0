"""COMET beside comet's own predict in batches of 16: random models, K candidates for each of N sources, no store.

The checkpoints are regression models with XLM-R encoders of 0.03 and 1.8 million parameters (embeddings not counted),
with a tokenizer trained on the teaching set; random weights tell speed and agreement, and nothing about translations.
Candidates are those of the teaching set with a span exchanged between two of the same source.

On paper, for a large encoder, whose passes are all that counts: comet's predict encodes 3 K texts for a source, we
K + 2, which is 2.9 times fewer at K = 64, times what repeated texts save (4.0 where 28 % of the candidates repeat).

    python -m benchmarks.bench_comet [--quick]
"""

from __future__ import annotations

import logging
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from anhelpers.accuracy.comet import Comet, comet_scores, load_comet
from anhelpers.data import load, load_candidates

SHAPES = {"0.03 M": (32, 2), "1.8 M": (192, 4)}
"""Millions of parameters: width and layers."""

REPEATED = 0.35
"""Share of candidates taken as they are: with 64 of a source, about an eighth of them repeats another."""


def _encoder(folder: Path, width: int, layers: int) -> Path:
    """Configuration and tokenizer of an XLM-R."""
    import tokenizers
    import transformers

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pieces = tokenizers.Tokenizer(tokenizers.models.Unigram())
    pieces.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    trainer = tokenizers.trainers.UnigramTrainer(
        vocab_size=4000, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    pieces.train_from_iterator([*load("teaching").srcs, *load_candidates("teaching").texts], trainer)
    ends = [("<s>", 0), ("</s>", 2)]
    pieces.post_processor = tokenizers.processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    tokenizer = transformers.XLMRobertaTokenizerFast(tokenizer_object=pieces)
    tokenizer.save_pretrained(folder)
    transformers.XLMRobertaConfig(
        vocab_size=len(tokenizer), hidden_size=width, num_hidden_layers=layers, num_attention_heads=max(2, width // 64),
        intermediate_size=4 * width, max_position_embeddings=514, pad_token_id=1, type_vocab_size=1,
    ).save_pretrained(folder)  # fmt: skip
    return folder


def _checkpoint(folder: Path, width: int, layers: int) -> Path:
    """A regression model with random weights in comet's layout."""
    import comet
    import pytorch_lightning
    import torch
    import yaml

    torch.manual_seed(0)
    model = comet.models.RegressionMetric(
        encoder_model="XLM-RoBERTa", pretrained_model=str(_encoder(folder / "encoder", width, layers)),
        load_pretrained_weights=False, hidden_sizes=[64, 32],
    )  # fmt: skip
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, parameter.shape[1] ** -0.5)
    (folder / "checkpoints").mkdir()
    state = {"state_dict": model.state_dict(), "hyper_parameters": dict(model.hparams), "epoch": 0, "global_step": 0,
             "pytorch-lightning_version": pytorch_lightning.__version__, "loops": None}  # fmt: skip
    torch.save(state, folder / "checkpoints" / "model.ckpt")
    (folder / "hparams.yaml").write_text(yaml.safe_dump(dict(model.hparams)), encoding="utf-8")
    return folder


def _rows(n: int, k: int) -> list[tuple[str, str, str]]:
    """k candidates of each of n sources as (source, candidate, reference)."""
    rng, test, cands = np.random.default_rng(0), load("teaching"), load_candidates("teaching")
    refs, rows = test.refs[test.reference], []
    for i in range(n):
        own = [text.split(" ") for text, s in zip(cands.texts, cands.segment, strict=True) if s == i]
        for _ in range(k):
            a, b = (own[j] for j in rng.integers(0, len(own), 2))
            start, length = rng.integers(0, len(a)), rng.integers(1, 8) * (rng.random() > REPEATED)
            rows.append((test.srcs[i], " ".join(a[:start] + b[start : start + length] + a[start + length :]), refs[i]))
    return rows


def _seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = function()
    return time.perf_counter() - start, found


def _row(size: str, comet: Comet, rows: list[tuple[str, str, str]], n: int, rounds: int) -> dict:
    data = [dict(zip(("src", "mt", "ref"), row, strict=True)) for row in rows]
    options = {"batch_size": 16, "gpus": int("cuda" in comet.device), "num_workers": 0, "progress_bar": False}
    programs = [lambda: comet_scores(comet, rows)[:, 0], lambda: np.array(comet.model.predict(data, **options).scores)]
    comet_scores(comet, rows[:50])
    times: list[list[float]] = []
    for r in range(rounds):
        done = {i: _seconds(programs[i]) for i in ((0, 1), (1, 0))[r % 2]}
        times.append([done[i][0] for i in (0, 1)])
        ours, theirs = (done[i][1].reshape(n, -1) for i in (0, 1))
    texts = np.array([row[1] for row in rows]).reshape(n, -1)
    best = [texts[np.arange(n), scores.argmax(1)] for scores in (ours, theirs)]
    seconds = [statistics.median(column) for column in zip(*times, strict=True)]
    distinct = len(set(rows)) / len(rows)
    return {
        "workload": f"COMET {size}, {n} sources x {len(rows) // n} candidates, {distinct:.0%} distinct",
        "baseline": f"comet.predict {len(rows) / seconds[1]:,.0f}/s", "ours": f"{len(rows) / seconds[0]:,.0f}/s",
        "ratio": round(statistics.median(theirs / ours for ours, theirs in times), 2), "goal": ">= 3.2",
        "agree": f"within {np.abs(ours - theirs).max():.0e} of scores that spread {theirs.std():.2f}, same best "
                 f"candidate for {int((best[0] == best[1]).sum())} of {n}",
    }  # fmt: skip


def rows(quick: bool) -> list[dict]:
    """One row per model: workload, baseline, ours, ratio, goal, agree."""
    n, k, rounds = (6, 16, 1) if quick else (50, 64, 3)
    found = []
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        for size, shape in SHAPES.items():
            comet = load_comet(_checkpoint(Path(folder) / size, *shape))
            for name in ("pytorch_lightning", "lightning", "comet"):
                logging.getLogger(name).setLevel(logging.ERROR)
            found.append(_row(size, comet, _rows(n, k), n, rounds))
    return found


if __name__ == "__main__":
    for row in rows("--quick" in sys.argv):
        print(" | ".join(f"{key} {value}" for key, value in row.items()))
