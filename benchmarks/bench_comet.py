"""COMET beside comet's own predict and mbrs, in batches of 16: random models, K candidates of N sources, no store.

The checkpoint is a regression model with an XLM-R encoder of 1.8 million parameters (embeddings not counted), with a
tokenizer trained on the teaching set; random weights tell speed and agreement, and nothing about translations.
Candidates are those of the teaching set with a span exchanged between two of the same source.

On paper, for a large encoder, whose passes are all that counts: comet's predict encodes 3 K texts for a source, we
K + 2, which is 2.9 times fewer at K = 64, times what repeated texts save (4.0 where 28 % of the candidates repeat).

    python -m benchmarks comet [--quick]
"""

from __future__ import annotations

import json
import logging
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path

import numpy as np

import anhelpers as an
from anhelpers.accuracy.comet import _comet_scores, _load_comet

from .peers import NEEDS, PeerMissing, ask, peer
from .table import Row, beside, interleaved, not_measured

SIZE, WIDTH, LAYERS = "1.8 M", 192, 4  # parameters of the encoder

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
    pieces.train_from_iterator(
        [*an.load("teaching").srcs, *an.load_candidates("teaching").texts], trainer
    )
    ends = [("<s>", 0), ("</s>", 2)]
    pieces.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=ends
    )
    tokenizer = transformers.XLMRobertaTokenizerFast(tokenizer_object=pieces)
    tokenizer.save_pretrained(folder)
    transformers.XLMRobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=max(2, width // 64),
        intermediate_size=4 * width,
        max_position_embeddings=514,
        pad_token_id=1,
        type_vocab_size=1,
    ).save_pretrained(folder)
    return folder


def _checkpoint(folder: Path, width: int, layers: int) -> Path:
    """A regression model with random weights in comet's layout."""
    import comet
    import pytorch_lightning
    import torch
    import yaml

    torch.manual_seed(0)
    model = comet.models.RegressionMetric(
        encoder_model="XLM-RoBERTa",
        pretrained_model=str(_encoder(folder / "encoder", width, layers)),
        load_pretrained_weights=False,
        hidden_sizes=[64, 32],
    )
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, parameter.shape[1] ** -0.5)
    (folder / "checkpoints").mkdir()
    state = {
        "state_dict": model.state_dict(),
        "hyper_parameters": dict(model.hparams),
        "epoch": 0,
        "global_step": 0,
        "pytorch-lightning_version": pytorch_lightning.__version__,
        "loops": None,
    }
    torch.save(state, folder / "checkpoints" / "model.ckpt")
    (folder / "hparams.yaml").write_text(yaml.safe_dump(dict(model.hparams)), encoding="utf-8")
    return folder


def _rows(n: int, k: int) -> list[tuple[str, str, str]]:
    """k candidates of each of n sources as (source, candidate, reference)."""
    rng, test, cands = np.random.default_rng(0), an.load("teaching"), an.load_candidates("teaching")
    refs, rows = test.refs[test.reference], []
    for i in range(n):
        own = [
            text.split(" ") for text, s in zip(cands.texts, cands.segment, strict=True) if s == i
        ]
        for _ in range(k):
            a, b = (own[j] for j in rng.integers(0, len(own), 2))
            start, length = rng.integers(0, len(a)), rng.integers(1, 8) * (rng.random() > REPEATED)
            rows.append(
                (
                    test.srcs[i],
                    " ".join(a[:start] + b[start : start + length] + a[start + length :]),
                    refs[i],
                )
            )
    return rows


def _beside(size: str, folder: Path, n: int, k: int, rounds: int) -> Iterator[Row]:
    comet, rows = _load_comet(folder), _rows(n, k)
    data = [dict(zip(("src", "mt", "ref"), row, strict=True)) for row in rows]
    options = {
        "batch_size": 16,
        "gpus": int("cuda" in comet.device),
        "num_workers": 0,
        "progress_bar": False,
    }
    programs = [
        lambda: np.array(comet.model.predict(data, **options).scores),
        lambda: _comet_scores(comet, rows)[:, 0],
    ]
    asked, answers, why = [row[0] for row in rows[::k]], [], ""
    with ExitStack() as stack:
        try:
            of_source = [
                (src, [r[1] for r in rows[i * k : i * k + k]], rows[i * k][2])
                for i, src in enumerate(asked)
            ]
            file = folder / "sources.json"
            file.write_text(json.dumps(of_source), encoding="utf-8")
            checkpoint = folder / "checkpoints" / "model.ckpt"
            process = stack.enter_context(peer("mbrs", checkpoint, file, _threads()))
            ask(process)  # so that it is there when the clock starts
            programs.append(lambda: answers.append(ask(process)) or np.ravel(answers[-1]["scores"]))
        except PeerMissing as error:
            why = str(error)
        _comet_scores(comet, rows[:50])
        times, results = interleaved(programs, rounds)
    workload = (
        f"COMET {size}, {n} sources x {k} candidates, {len(set(rows)) / len(rows):.0%} distinct"
    )
    texts = np.array([row[1] for row in rows]).reshape(n, k)
    told = _agreement(results[1], results[0], texts, 1e-5)
    name = f"comet {version('unbabel-comet')} predict"
    yield beside(workload, name, [(a, b) for a, b, *_ in times], goal=">= 3.2", **told)
    name = NEEDS["mbrs"][0].replace("==", " ")
    if why:
        yield not_measured(workload, name, why, ">= 1.5")
    else:
        pairs = [
            (answer["seconds"], ours) for answer, (_, ours, _) in zip(answers, times, strict=True)
        ]
        yield beside(
            workload, name, pairs, goal=">= 1.5", **_agreement(results[1], results[2], texts, 1e-5)
        )


def _threads() -> int:
    import torch

    return torch.get_num_threads()


def _agreement(ours: np.ndarray, theirs: np.ndarray, texts: np.ndarray, most: float) -> dict:
    """How far apart the scores are, and for how many sources the same text is best."""
    n, apart = len(texts), np.abs(ours - theirs).max()
    best = [texts[np.arange(n), scores.reshape(n, -1).argmax(1)] for scores in (ours, theirs)]
    same = int((best[0] == best[1]).sum())
    agree = f"apart by at most {apart:.0e}, scores spread {theirs.std():.2f}; the same best for {same} of {n}"
    return {"agree": agree, "agrees": bool(apart <= most and same == n)}


def rows(quick: bool) -> Iterator[Row]:
    """Two rows: beside comet and mbrs."""
    n, k, rounds = (6, 16, 1) if quick else (50, 64, 2)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        checkpoint = _checkpoint(Path(folder), WIDTH, LAYERS)
        for name in ("pytorch_lightning", "lightning", "comet"):
            logging.getLogger(name).setLevel(logging.ERROR)
        yield from _beside(SIZE, checkpoint, n, k, rounds)
