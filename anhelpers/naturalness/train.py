"""Train a very small causal language model from plain text: how ``data/lm/de-tiny`` was made.

The point is a model that a classroom can carry: a few megabytes, offline, honest about what it is. The recipe is a
GPT-2 shape with byte-level BPE, one sentence per training example, BOS before and EOS after each.
"""

from __future__ import annotations

import io
import json
import math
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from .. import hub
from ..data.writing import lock, make_folder, replace_folder, still_at, unwritable, write_bytes, write_text
from ..errors import AnhelpersError, DataError, need
from ..provenance import made_by
from .lpp import line_fingerprints

__all__ = ["Recipe", "split_lines", "train_lm", "warm_cosine"]

WHY = "training a language model"
STATE = "state.pt"
EPOCHS_DIFFER = 1.02
"""Shuffled epochs differ by some batches, and the learning rate must not reach the end of its cosine before they do."""


@dataclass(frozen=True)
class Recipe:
    """Everything that decides the result: the same recipe, text and thread count give the same model on a CPU.

    On a GPU the order of sums is not fixed, and what dropout leaves out after a resume is another choice.

    Parameters
    ----------
    vocab_size : pieces of the tokenizer. width, layers, heads : of the GPT-2.
    max_tokens : of a text; longer ones are cut.
    dropout, epochs, learning_rate, weight_decay : of the training.
    held_out : lines that only measure, at least 1. language : code of the text's language.
    """

    vocab_size: int = 4096
    width: int = 192
    layers: int = 4
    heads: int = 6
    max_tokens: int = 256  # longer lines are cut, and counted in the model card
    dropout: float = 0.15
    epochs: int = 18
    tokens_per_batch: int = 1536
    learning_rate: float = 2e-3
    weight_decay: float = 0.1
    held_out: int = 500  # lines
    seed: int = 13
    language: str = "de"


def split_lines(lines: Sequence[str], held_out: int, seed: int) -> tuple[list[str], list[str]]:
    """Distinct non-blank lines in a seeded order, cut into (training, held-out); no line is in both.

    Parameters
    ----------
    held_out : how many lines, at least 1.
    """
    if held_out < 1:
        raise DataError(f"held_out is {held_out}; hold out at least 1 line, by which the model is measured.")
    distinct = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if len(distinct) < 2 * held_out:
        raise DataError(f"only {len(distinct)} distinct lines, too few to hold out {held_out}; give more text.")
    order = np.random.default_rng(seed).permutation(len(distinct))
    shuffled = [distinct[i] for i in order]
    return shuffled[held_out:], shuffled[:held_out]


def train_tokenizer(lines: Sequence[str], vocab_size: int, max_tokens: int) -> Any:
    """A byte-level BPE tokenizer with <s>, </s> and <pad>: any text can be encoded, no special token is added."""
    tokenizers = need("tokenizers", WHY)
    transformers = need("transformers", WHY)
    bpe = tokenizers.ByteLevelBPETokenizer(add_prefix_space=True)
    bpe.train_from_iterator(
        lines, vocab_size=vocab_size, min_frequency=2, special_tokens=["<s>", "</s>", "<pad>"], show_progress=False
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=bpe._tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        model_max_length=max_tokens,
    )


def _encode(tokenizer: Any, lines: Sequence[str], recipe: Recipe) -> tuple[list[list[int]], int]:
    """Token ids with BOS and EOS, and how many lines had to be cut."""
    ids = hub.plain_ids(tokenizer, lines)
    cut = sum(len(i) + 2 > recipe.max_tokens for i in ids)
    return [[tokenizer.bos_token_id, *i, tokenizer.eos_token_id][: recipe.max_tokens] for i in ids], cut


def _batches(ids: list[list[int]], recipe: Recipe, rng: np.random.Generator | None) -> Iterator[list[list[int]]]:
    """Batches of similar length within the token budget; shuffled when `rng` is given."""
    noise = rng.uniform(0.8, 1.25, len(ids)) if rng is not None else np.ones(len(ids))
    order = np.argsort(np.array([len(i) for i in ids]) * noise, kind="stable")
    batches: list[list[list[int]]] = []
    batch: list[list[int]] = []
    longest = 0
    for i in order:
        longest = max(longest, len(ids[i]))
        if batch and longest * (len(batch) + 1) > recipe.tokens_per_batch:
            batches.append(batch)
            batch, longest = [], len(ids[i])
        batch.append(ids[i])
    batches.append(batch)
    if rng is not None:
        rng.shuffle(batches)
    yield from batches


def _loss(model: Any, batch: list[list[int]]) -> Any:
    """Summed negative log-likelihood in nats and the number of predicted tokens (EOS included, BOS and padding not)."""
    torch = need("torch", WHY)
    pad, longest = model.config.pad_token_id, max(map(len, batch))
    x = torch.tensor([i + [pad] * (longest - len(i)) for i in batch], device=model.device)
    logits = model(input_ids=x).logits[:, :-1].float()
    nll = torch.nn.functional.cross_entropy(logits.flatten(0, 1), x[:, 1:].flatten(), ignore_index=pad, reduction="sum")
    if not nll.isfinite():
        raise AnhelpersError("the training has failed: the loss is no number any more. Train with other options, such "
                             "as a lower learning rate, or other text.")  # fmt: skip
    return nll, sum(len(i) - 1 for i in batch)


def _held_out_loss(model: Any, ids: list[list[int]], recipe: Recipe) -> float:
    """Nats per token on the held-out lines, EOS included: total over total, as language modelling reports it."""
    torch = need("torch", WHY)
    model.eval()
    with torch.inference_mode():
        parts = [_loss(model, batch) for batch in _batches(ids, recipe, None)]
    model.train()
    return float(sum(p[0] for p in parts)) / sum(p[1] for p in parts)


def _new_model(tokenizer: Any, recipe: Recipe) -> Any:
    transformers = need("transformers", WHY)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=recipe.max_tokens, n_embd=recipe.width, n_layer=recipe.layers,
        n_head=recipe.heads, resid_pdrop=recipe.dropout, embd_pdrop=recipe.dropout, attn_pdrop=recipe.dropout,
        activation_function="gelu_pytorch_tanh",  # GPT-2's own function, in one fused kernel
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    return transformers.GPT2LMHeadModel(config)


def _optimizer(model: Any, recipe: Recipe, steps: int) -> Any:
    """AdamW with decay on matrices only; 5 % linear warm-up, then a cosine to zero."""
    torch = need("torch", WHY)
    decayed = [p for p in model.parameters() if p.ndim >= 2]
    plain = [p for p in model.parameters() if p.ndim < 2]
    groups = [{"params": decayed, "weight_decay": recipe.weight_decay}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=recipe.learning_rate, betas=(0.9, 0.98))
    rate = partial(warm_cosine, warm=max(1, steps // 20), steps=steps)
    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, rate)


def warm_cosine(step: int, warm: int, steps: int) -> float:
    """The share of the learning rate at a step from 0: it rises in a line, then falls as a cosine to 0.

    Parameters
    ----------
    warm : steps of the rise, at least 1. steps : of the whole training.

    >>> [warm_cosine(step, 2, 6) for step in (0, 1, 4, 6)]
    [0.5, 1.0, 0.5, 0.0]
    """
    return (step + 1) / warm if step < warm else 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))


@dataclass(frozen=True)
class _Job:
    """What is trained, where it goes, and the folder of its state meanwhile."""

    recipe: Recipe
    out: Path
    partial: Path
    device: str
    say: Callable[[str], None]


def train_lm(
    lines: Sequence[str],
    out: Path,
    recipe: Recipe = Recipe(),
    *,
    device: str = "cpu",
    say: Callable[[str], None] = print,
) -> dict:
    """Train on `lines`, write a folder that ``AutoModelForCausalLM.from_pretrained(out)`` loads, return its facts.

    Interrupt it when you like: the state after every epoch is kept in ``OUT.partial`` and the next call resumes there.
    Weights are stored in half precision; the facts (tokens, held-out perplexity, recipe) are measured as stored.

    Raises
    ------
    DataError : no such device; a folder OUT that holds other things than an older model; a state of another training,
        or a damaged one. AnhelpersError : the loss becomes nan or infinite.
    """
    out = Path(out)
    if out.is_dir() and not (out / "facts.json").is_file() and any(path.suffix != ".md" for path in out.iterdir()):
        raise DataError("is a folder with other things in it, which the model would replace; name a new folder.", out)
    job = _Job(recipe, out, Path(f"{out}.partial"), hub.device(device), say)
    train, held = split_lines(lines, recipe.held_out, recipe.seed)
    try:
        with _alone(job.partial):
            return _train(job, train, held)
    except OSError as error:
        raise unwritable(error, job.partial) from error


@contextmanager
def _alone(partial: Path) -> Iterator[None]:
    """Inside, the folder of the training state is there, and no other process trains into it."""
    while True:
        descriptor = os.open(make_folder(partial), os.O_RDONLY) if os.name == "posix" else None
        try:
            if descriptor is not None and not lock(descriptor):
                raise DataError("another process is training into it; wait for it, or name another folder.", partial)
            if descriptor is None or still_at(partial, descriptor):  # else another run ended just now
                yield
                return
        finally:
            if descriptor is not None:
                os.close(descriptor)


def _train(job: _Job, train: list[str], held: list[str]) -> dict:
    torch, recipe = need("torch", WHY), job.recipe
    belongs = {"recipe": asdict(recipe), "text": _text_id(train)}
    state = _earlier(job, belongs)
    torch.manual_seed(recipe.seed)
    tokenizer = train_tokenizer(train, recipe.vocab_size, recipe.max_tokens)
    ids, n_cut = _encode(tokenizer, train, recipe)
    held_ids, _ = _encode(tokenizer, held, recipe)
    model = _new_model(tokenizer, recipe).to(job.device).train()
    _run_epochs(model, ids, held_ids, job, state | belongs)
    facts = {
        "language": recipe.language, "recipe": asdict(recipe),
        "train_lines": len(train), "train_tokens": sum(len(i) - 1 for i in ids),
        "lines_cut": n_cut, "held_out_lines": len(held), "held_out_tokens": sum(len(i) - 1 for i in held_ids),
        "held_out_bytes": sum(len(line.encode()) for line in held),
        "parameters": sum(p.numel() for p in model.parameters()),
    }  # fmt: skip
    model.half().float()
    loss = _held_out_loss(model, held_ids, recipe)
    facts |= {"held_out_nats_per_token": round(loss, 4), "held_out_perplexity": round(math.exp(loss), 2)}
    facts["made_by"] = made_by()
    _write(model, tokenizer, facts, line_fingerprints(train), job)
    return facts


def _text_id(train: list[str]) -> str:
    """Of the training lines in their order: a state of other text must not be gone on with."""
    return sha256("\n".join(train).encode("utf-8", "surrogatepass")).hexdigest()


def _earlier(job: _Job, belongs: dict[str, Any]) -> dict[str, Any]:
    """The state that an interrupted training of the same recipe and text left; empty where there is none."""
    if not (file := job.partial / STATE).exists():
        return {}
    state = _read_state(file)
    if any(state.get(name) != value for name, value in belongs.items()):
        raise DataError("holds the state of other text or options; delete it, or name another folder.", job.partial)
    return state


def _run_epochs(model: Any, ids: list[list[int]], held_ids: list[list[int]], job: _Job, state: dict[str, Any]) -> None:
    """Train to the last epoch, from the state of an earlier one where there is such; the state is kept after each."""
    torch, recipe = need("torch", WHY), job.recipe
    per_epoch = sum(1 for _ in _batches(ids, recipe, np.random.default_rng(0)))
    optimizer, schedule = _optimizer(model, recipe, int(per_epoch * recipe.epochs * EPOCHS_DIFFER))
    if first := state.get("epoch", 0):
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        torch.set_rng_state(state["rng"])
        job.say(f"resumed after epoch {first} of {recipe.epochs}")
    for epoch in range(first, recipe.epochs):
        total = count = 0.0
        for batch in _batches(ids, recipe, np.random.default_rng([recipe.seed, epoch])):
            nll, n = _loss(model, batch)
            (nll / n).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad(set_to_none=True)
            total, count = total + nll.item(), count + n
        held = _held_out_loss(model, held_ids, recipe)
        job.say(f"epoch {epoch + 1}/{recipe.epochs}: training {total / count:.3f}, held out {held:.3f} nats per token")
        state |= {
            "epoch": epoch + 1, "model": model.state_dict(), "rng": torch.get_rng_state(),
            "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict(),
        }  # fmt: skip
        torch.save(state, buffer := io.BytesIO())
        write_bytes(job.partial / STATE, buffer.getvalue())


def _read_state(path: Path) -> dict:
    """What the last finished epoch left: numbers, and nothing that could run."""
    torch = need("torch", WHY)
    try:
        with zipfile.ZipFile(path) as archive:
            if damaged := archive.testzip():  # torch compares no checksums
                raise zipfile.BadZipFile(damaged)
        return dict(torch.load(path, weights_only=True, map_location="cpu"))
    except OSError:
        raise
    except Exception as error:  # a zip or a pickle that is cut off fails in many ways
        raise DataError("is damaged, so training cannot go on from it; delete it to begin anew.", path) from error


def _write(model: Any, tokenizer: Any, facts: dict, lines: np.ndarray, job: _Job) -> None:
    """The finished folder appears in one step, and the training state goes."""
    fresh = job.partial / "model"
    try:
        model.half().save_pretrained(fresh)
        tokenizer.save_pretrained(fresh)
    except OSError:
        raise
    except Exception as error:  # the libraries' own names for a full disk
        raise DataError(f"the model cannot be written ({error}); free some space and run again: its training is kept.",
                        job.partial) from error  # fmt: skip
    write_text(fresh / "facts.json", json.dumps(facts, indent=1) + "\n")
    np.save(fresh / "train_lines.npy", lines)
    for kept in job.out.glob("*.md"):
        shutil.copy(kept, fresh / kept.name)
    replace_folder(fresh, job.out)
    shutil.rmtree(job.partial)
