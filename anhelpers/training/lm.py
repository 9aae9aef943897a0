"""Train a very small causal language model from plain text: how those in ``data/lm`` were made.

The point is a model that a classroom can carry: a few megabytes, offline, honest about what it is. The recipe is a
GPT-2 shape with byte-level BPE, one sentence per training example, BOS before and EOS after each.
"""

from __future__ import annotations

import json
import math
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks, eight_bits, hub
from ..data.writing import replace_folder, unwritable, write_text
from ..errors import AnhelpersError, DataError, need
from ..naturalness.prints import line_fingerprints, write_training_lines
from ..progress import progress, time_left
from ..provenance import made_by
from .recipe import (
    WRITTEN,
    LmRecipe,
    encoded,
    examples,
    model_card,
    n_predicted,
    split_lines,
    training_batches,
)
from .state import alone, read_state, write_state

__all__ = ["LmRecipe", "train_lm", "warm_cosine"]

WHY = "training a language model"
EPOCHS_DIFFER = 1.02
"""Shuffled epochs differ by some batches, and the learning rate must not reach the end of its cosine before they do."""

SAVED_EVERY = 200
"""Steps between two saves of the state, which is saved after each epoch as well."""

WARM_UP = {"cuda": 10}
"""Steps of a trial that do not count, by kind of device: the first ones of a GPU load what the others use."""

TRIAL = 5.0
"""Seconds of steps on a copy of the model, by which is planned how many fit into a budget of time."""


def train_tokenizer(lines: Sequence[str], vocab_size: int, max_tokens: int) -> Any:
    """A byte-level BPE tokenizer with <s>, </s> and <pad>: any text can be encoded, no special token is added."""
    tokenizers = need("tokenizers", WHY)
    transformers = need("transformers", WHY)
    bpe = tokenizers.ByteLevelBPETokenizer(add_prefix_space=True)
    bpe.train_from_iterator(
        lines,
        vocab_size=vocab_size,
        min_frequency=2,
        special_tokens=["<s>", "</s>", "<pad>"],
        show_progress=False,
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=bpe._tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        model_max_length=max_tokens,
    )


def _loss(model: Any, batch: list[list[int]]) -> Any:
    """Summed negative log-likelihood in nats and the number of predicted tokens (EOS included, BOS and padding not)."""
    torch = need("torch", WHY)
    pad, longest = model.config.pad_token_id, max(map(len, batch))
    x = torch.tensor([i + [pad] * (longest - len(i)) for i in batch], device=model.device)
    # pads warn, and no token that counts reads them
    read = x.masked_fill(x == pad, model.config.eos_token_id)
    with torch.autocast("cuda", torch.bfloat16, enabled=model.training and x.is_cuda):
        logits = model(input_ids=read).logits[:, :-1].float()
    nll = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), x[:, 1:].flatten(), ignore_index=pad, reduction="sum"
    )
    if not nll.isfinite():
        raise AnhelpersError(
            "the training has failed: the loss is no number any more. Train with other options, "
            "such as a lower learning rate, or other text."
        )
    return nll, sum(len(i) - 1 for i in batch)


def _held_out_loss(model: Any, ids: list[list[int]], recipe: LmRecipe) -> float:
    """Nats per token on the held-out lines, EOS included: total over total, as language modelling reports it."""
    torch = need("torch", WHY)
    model.eval()
    with torch.inference_mode():
        parts = [_loss(model, batch) for batch in training_batches(ids, recipe, None)]
    model.train()
    return float(sum(p[0] for p in parts)) / sum(p[1] for p in parts)


def _new_model(tokenizer: Any, recipe: LmRecipe) -> Any:
    transformers = need("transformers", WHY)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=recipe.max_tokens,
        n_embd=recipe.width,
        n_layer=recipe.layers,
        n_head=recipe.heads,
        resid_pdrop=recipe.dropout,
        embd_pdrop=recipe.dropout,
        attn_pdrop=recipe.dropout,
        activation_function="gelu_pytorch_tanh",  # GPT-2's own function, in one fused kernel
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return transformers.GPT2LMHeadModel(config)


def _optimizer(model: Any, recipe: LmRecipe, steps: int) -> Any:
    """AdamW with decay on matrices only; 5 % linear warm-up, then a cosine to zero."""
    torch = need("torch", WHY)
    decayed = [p for p in model.parameters() if p.ndim >= 2]
    plain = [p for p in model.parameters() if p.ndim < 2]
    groups = [
        {"params": decayed, "weight_decay": recipe.weight_decay},
        {"params": plain, "weight_decay": 0.0},
    ]
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
    return (
        (step + 1) / warm
        if step < warm
        else 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))
    )


@dataclass(frozen=True)
class _Job:
    """What is trained, where it goes, and the folder of its state meanwhile."""

    recipe: LmRecipe
    out: Path
    partial: Path
    device: str
    say: Callable[[str], None]
    minutes: float | None
    began: float = field(default_factory=time.monotonic)


@dataclass
class _Place:
    """Where a training stands: finished epochs, of the next one the batches and their loss, steps and tokens in all."""

    epoch: int = 0
    batch: int = 0
    nll: float = 0.0
    tokens: int = 0
    step: int = 0
    seen: int = 0


@dataclass(frozen=True)
class _Training:
    """A model in training, with all that the next step reads. `belongs` is what its state must say besides."""

    job: _Job
    recipe: LmRecipe  # that of the job, with the steps that its budget of time allows
    model: Any
    optimizer: Any
    schedule: Any
    ids: list[list[int]]
    of: np.ndarray  # the number of each line's text
    held_ids: list[list[int]]
    belongs: dict[str, Any]
    place: _Place
    steps: int  # about, in all
    first: int  # the step at which this run began
    begin: float = field(default_factory=time.monotonic)

    @property
    def last(self) -> int:
        """The step after which nothing comes."""
        return self.recipe.steps or sys.maxsize


def train_lm(
    lines: Sequence[str],
    out: Path,
    recipe: LmRecipe,
    *,
    of: Sequence[int] | np.ndarray | None = None,
    minutes: float | None = None,
    device: str = "cpu",
    say: Callable[[str], None] = print,
) -> dict:
    """Train on `lines`, write a folder that ``AutoModelForCausalLM.from_pretrained(out)`` loads, return its facts.

    Interrupt it when you like: its state is saved in ``OUT.partial`` every 200 steps and after every epoch, and the
    next call goes on from there, to the same bits. Weights are stored in half precision or in eight bits; the facts
    (tokens, held-out perplexity, recipe) are measured as stored. A GPU computes the steps in bfloat16.

    Parameters
    ----------
    of : (lines,) the number of the text that each line is of, from 0, as in the recipe's `weights`; None: all of one.
    minutes : a budget of time, about. After some steps of trial it is planned how many fit; the learning rate follows
        the plan, which facts and state keep as the recipe's `steps`, so that the same model can be had without a clock.

    Raises
    ------
    DataError : too little text; no such device; a folder OUT that holds other things than an older model; a state that
        is damaged, or of another training; a budget too small for a step. AnhelpersError : the loss becomes nan or
        infinite.
    """
    out = Path(out)
    if (
        out.is_dir()
        and not (out / "facts.json").is_file()
        and any(path.suffix != ".md" for path in out.iterdir())
    ):
        raise DataError(
            "is a folder with other things in it, which the model would replace; name a new "
            "folder.",
            out,
        )
    if minutes is not None and not 0 < minutes < math.inf:
        raise DataError(f"minutes is {minutes}; give a number above 0.")
    of = np.zeros(len(lines), np.int64) if of is None else np.asarray(of)
    checks.same_length(lines=lines, of=of)
    if len(lines) and of.max() + 1 != len(recipe.weights):
        raise DataError(
            f"there are {of.max() + 1} texts and {len(recipe.weights)} weights; give one for each "
            "text."
        )
    job = _Job(recipe, out, Path(f"{out}.partial"), hub.device(device), say, minutes)
    chosen, held = split_lines(lines, recipe.held_out, recipe.seed)
    left_out = len(lines) - len(chosen) - len(held)
    try:
        with alone(job.partial):
            say(
                f"{len(chosen):,} lines to learn from, {len(held):,} held out; {left_out:,} blank "
                "or repeated left out"
            )
            train, measuring = ([lines[k].strip() for k in numbers] for numbers in (chosen, held))
            return _train(job, train, of[chosen], measuring)
    except OSError as error:
        raise unwritable(error, job.partial) from error


def _train(job: _Job, train: list[str], of: np.ndarray, held: list[str]) -> dict:
    torch, recipe = need("torch", WHY), job.recipe
    belongs = {"recipe": asdict(recipe), "minutes": job.minutes, "text": _text_id(train)}
    state = read_state(job.partial, belongs)
    torch.manual_seed(recipe.seed)
    # it plans anew for every width of a batch, longer than it computes
    torch.backends.cuda.enable_cudnn_sdp(False)
    tokenizer = train_tokenizer(train, recipe.vocab_size, recipe.max_tokens)
    ids, n_cut = encoded(tokenizer, train, recipe)
    held_ids, _ = encoded(tokenizer, held, recipe)
    _say_limits(job, len(tokenizer), n_cut)
    model = _new_model(tokenizer, recipe).to(job.device).train()
    run = _run_epochs(_started(job, model, ids, of, held_ids, state, belongs))
    if recipe.stored == "int8":
        model.load_state_dict(eight_bits.restored(eight_bits.rounded(model)), strict=False)
    else:
        model.half().float()
    loss = _held_out_loss(model, held_ids, recipe)
    facts = {
        "language": recipe.language,
        "recipe": asdict(run.recipe),
        **({} if job.minutes is None else {"minutes": job.minutes}),
        "steps_done": run.place.step,
        "epochs_done": round(run.place.seen / n_predicted(examples(ids, of, recipe, 0)), 2),
        "vocabulary": len(tokenizer),
        "train_lines": len(train),
        "train_tokens": n_predicted(ids),
        "lines_cut": n_cut,
        "held_out_lines": len(held),
        "held_out_tokens": n_predicted(held_ids),
        "held_out_bytes": sum(len(line.encode()) for line in held),
        "parameters": sum(p.numel() for p in model.parameters()),
        "held_out_nats_per_token": round(loss, 4),
        "held_out_perplexity": round(math.exp(loss), 2),
        "made_by": made_by(),
    }
    _write(model, tokenizer, facts, line_fingerprints(train), job)
    return facts


def _text_id(train: list[str]) -> str:
    """Of the training lines in their order: a state of other text must not be gone on with."""
    return sha256("\n".join(train).encode("utf-8", "surrogatepass")).hexdigest()


def _say_limits(job: _Job, n_pieces: int, n_cut: int) -> None:
    """What the text is too short or too long for."""
    recipe = job.recipe
    if n_pieces < recipe.vocab_size:
        job.say(
            f"the text repeats itself enough for {n_pieces:,} of the {recipe.vocab_size:,} pieces "
            "asked for"
        )
    if n_cut:
        job.say(f"{n_cut:,} lines are longer than {recipe.max_tokens} pieces, and cut there")


def _started(
    job: _Job,
    model: Any,
    ids: list[list[int]],
    of: np.ndarray,
    held_ids: list[list[int]],
    state: dict,
    belongs: dict,
) -> _Training:
    """The training at its beginning, or where the state of an interrupted one left it."""
    torch = need("torch", WHY)
    first = examples(ids, of, job.recipe, 0)
    per_epoch = sum(1 for _ in training_batches(first, job.recipe, np.random.default_rng(0)))
    longest = int(per_epoch * job.recipe.epochs * EPOCHS_DIFFER)
    limit = job.recipe.steps
    if state:
        limit = state["steps"]
    elif job.minutes is not None:
        fit = _steps_that_fit(job, model, first, held_ids, per_epoch)
        limit = limit if fit >= min(limit or longest, longest) else fit
    recipe = replace(job.recipe, steps=limit)
    optimizer, schedule = _optimizer(model, recipe, min(limit or longest, longest))
    place = _Place(**state.get("place", {}))
    if state:
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        torch.set_rng_state(state["rng"])
        job.say(f"resumed after step {place.step:,}, in epoch {place.epoch + 1} of {recipe.epochs}")
    steps = min(limit or longest, per_epoch * recipe.epochs)
    return _Training(
        job,
        recipe,
        model,
        optimizer,
        schedule,
        ids,
        of,
        held_ids,
        belongs,
        place,
        steps,
        place.step,
    )


def _steps_that_fit(
    job: _Job, model: Any, ids: list[list[int]], held_ids: list[list[int]], per_epoch: int
) -> int:
    """How many steps the budget of time has room for, with the measuring after each epoch: tried out on a copy."""
    assert job.minutes is not None
    # a run with these steps and no budget draws the same numbers
    with need("torch", WHY).random.fork_rng(devices=[]):
        twin = deepcopy(model)
        optimizer, schedule = _optimizer(twin, job.recipe, per_epoch)
        begin = time.monotonic()
        _held_out_loss(twin, held_ids, job.recipe)
        measuring, begin, tried = time.monotonic() - begin, time.monotonic(), 0
        for batch in training_batches(ids, job.recipe, np.random.default_rng([job.recipe.seed, 0])):
            _step(twin, optimizer, schedule, batch)
            tried += 1
            if tried <= WARM_UP.get(twin.device.type, 0):
                begin = time.monotonic()
            elif (spent := time.monotonic() - begin) > TRIAL:
                break
    each = spent / (tried - WARM_UP.get(twin.device.type, 0)) + measuring / per_epoch
    steps = int((60 * job.minutes - (time.monotonic() - job.began) - 2 * measuring) / each)
    if steps < 1:
        raise DataError(
            f"{job.minutes:g} minutes are too few: a step takes {each:.2g} seconds, and preparing "
            "and measuring come first; give more time, or a smaller model."
        )
    job.say(f"{job.minutes:g} minutes have room for about {steps:,} steps of {each:.2g} seconds")
    return steps


def _run_epochs(run: _Training) -> _Training:
    """Train to the last epoch or step from wherever it stands, and return it."""
    while run.place.epoch < run.recipe.epochs and run.place.step < run.last:
        _run_epoch(run)
    return run


def _run_epoch(run: _Training) -> None:
    """The rest of an epoch, its state saved every so many steps and at its end; nothing more where steps run out."""
    place, recipe, title = run.place, run.recipe, f"epoch {run.place.epoch + 1}/{run.recipe.epochs}"
    read = examples(run.ids, run.of, recipe, place.epoch)
    steps = list(training_batches(read, recipe, np.random.default_rng([recipe.seed, place.epoch])))
    steps = steps[place.batch : place.batch + run.last - place.step]
    with progress(len(steps), title, "steps") as step:
        for batch in steps:
            nll, n = _step(run.model, run.optimizer, run.schedule, batch)
            place.batch, place.step, place.seen = place.batch + 1, place.step + 1, place.seen + n
            place.nll, place.tokens = place.nll + nll, place.tokens + n
            step(1, f"loss {place.nll / place.tokens:.3f}{_left(run)}")
            if place.step % (SAVED_EVERY * (10 if run.model.device.type == "cuda" else 1)) == 0:
                _save(run)
    held = _held_out_loss(run.model, run.held_ids, recipe)
    loss = f"training {place.nll / place.tokens:.3f}, held out {held:.3f} nats per token"
    run.job.say(f"{title}: {loss} ({place.step:,} steps{_left(run)})")
    place.epoch, place.batch, place.nll, place.tokens = place.epoch + 1, 0, 0.0, 0
    _save(run)


def _step(model: Any, optimizer: Any, schedule: Any, batch: list[list[int]]) -> tuple[float, int]:
    """One step of the optimiser: the summed loss of the batch in nats before it, and its predicted tokens."""
    nll, n = _loss(model, batch)
    (nll / n).backward()
    need("torch", WHY).nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad(set_to_none=True)
    return nll.item(), n


def _left(run: _Training) -> str:
    """How long it may still take, at the pace since this run began or was resumed."""
    pace = (
        (time.monotonic() - run.begin) / (run.place.step - run.first)
        if run.place.step > run.first
        else 0.0
    )
    left = time_left(pace * max(0, run.steps - run.place.step))
    return f", {left}" if left else ""


def _save(run: _Training) -> None:
    """The whole state: resumed from it, the same numbers come as if nothing had happened."""
    state = {
        "place": asdict(run.place),
        "steps": run.recipe.steps,
        "model": run.model.state_dict(),
        "optimizer": run.optimizer.state_dict(),
        "schedule": run.schedule.state_dict(),
        "rng": need("torch", WHY).get_rng_state(),
    }
    write_state(run.job.partial, state | run.belongs)


def _write(model: Any, tokenizer: Any, facts: dict, lines: np.ndarray, job: _Job) -> None:
    """The finished folder appears in one step, and the training state goes."""
    fresh = job.partial / "model"
    try:
        eight = eight_bits.rounded(model) if job.recipe.stored == "int8" else None
        hub.save_model(model.half(), tokenizer, fresh)
        if eight is not None:
            eight_bits.write(eight, fresh)
    except OSError:
        raise
    except Exception as error:  # the libraries' own names for a full disk
        raise DataError(
            f"the model cannot be written ({error}); free some space and run again: its training "
            "is kept.",
            job.partial,
        ) from error
    write_text(fresh / "facts.json", json.dumps(facts, indent=1) + "\n")
    if eight is None:
        np.save(fresh / "train_lines.npy", lines)
    else:
        write_training_lines(fresh, lines)
    write_text(fresh / "README.md", model_card(facts))
    for kept in job.out.glob("*.md"):
        if not kept.read_text("utf-8", "replace").startswith(WRITTEN):
            shutil.copy(kept, fresh / kept.name)
    replace_folder(fresh, job.out)
    shutil.rmtree(job.partial)
