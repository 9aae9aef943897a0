"""Train a very small translation model, and its decoder alone as a language model, on a toy pair or on real text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks, hub
from ..errors import AnhelpersError, DataError, need
from ..naturalness.load import LanguageModel, language_model
from ..progress import progress
from ..scoring.memo import IN_MEMORY
from ..training.lm import warm_cosine
from ..translation import TranslationModel, translation_model
from .toy import ToyPair

BATCH, WARM_UP = 64, 0.1
# Marian's 0.02 suits a width of 512; a narrow model that starts with it looks at the source late
INIT_STD = 0.1
LONGEST = 64  # tokens of a sentence of a toy pair
WHY = "training a translation model"

Ids = list[list[int]]


@dataclass(frozen=True)
class _Recipe:
    """What decides a training besides texts and seed; names as in `train_texts`."""

    steps: int
    width: int
    layers: int
    smoothing: float
    rate: float = 8e-3
    dropout: float = 0.0
    scaled: bool = False
    every: int = 0
    batch: int = BATCH
    longest: int = LONGEST


def train_pair(
    pair: ToyPair,
    *,
    rng: np.random.Generator,
    n_train: int = 20_000,
    steps: int = 250,
    width: int = 32,
    layers: int = 1,
    smoothing: float = 0.0,
) -> tuple[TranslationModel, LanguageModel]:
    """q_MT and q_LM of XMI for a toy pair: a Marian transformer, and the same decoder trained without a source.

    Both see the same target sentences in the same order, cut into the same tokens (words, and one for the end). The
    loss is cross-entropy.

    Parameters
    ----------
    rng : decides sentences, weights and order: the same state gives the same models on the same machine.
    n_train : sentence pairs, drawn from `pair`; where `steps` batches of 64 need more, they are seen again.
    steps : of the optimiser for each model; 250 take some 3 seconds on one core of a laptop.
    width, layers : of the encoder and of the decoder; width is a multiple of 4, one head for each quarter.
    smoothing : label smoothing, the share of the target's probability that is spread over the vocabulary, in [0, 1).
        Models trained so say probabilities that are too even; 0 for models that are to say what they know.

    Returns
    -------
    TranslationModel, LanguageModel: as loaded ones, on the CPU; `save_pair` writes them.

    Raises
    ------
    DataError for a number below 1, a width that 4 heads cannot share, smoothing outside [0, 1), sentences of 64 words
    or more; MissingExtra without torch and transformers; AnhelpersError where the loss becomes nan.
    """
    recipe = _Recipe(steps, width, layers, smoothing)
    _check(recipe, n_train)
    if len(pair.lengths) >= LONGEST:
        raise DataError(
            f"sentences of '{pair.name}' have up to {len(pair.lengths)} words; these models take "
            f"{LONGEST - 1}: give shorter lengths."
        )
    srcs, trgs = pair.sample(n_train, rng)
    tokenizer = _words([*pair.sources, *pair.targets])
    number, end = tokenizer.get_vocab(), tokenizer.eos_token_id
    ids = tuple(
        [[*(number[w] for w in text.split()), end] for text in texts] for texts in (srcs, trgs)
    )
    return _trained(f"toy {pair.name}", tokenizer, ids, None, recipe, rng)


def train_texts(
    srcs: Sequence[str],
    trgs: Sequence[str],
    held_out: tuple[Sequence[str], Sequence[str]],
    *,
    rng: np.random.Generator,
    steps: int = 400,
    vocab_size: int = 1000,
    width: int = 64,
    layers: int = 1,
    dropout: float = 0.1,
    smoothing: float = 0.0,
) -> tuple[TranslationModel, LanguageModel]:
    """q_MT and q_LM of XMI for a parallel text: a very small Marian transformer, and its decoder trained alone.

    As in the paper both share one vocabulary, learned from both languages, see the same targets, and are kept at
    the step where they predict held-out sentences best. All else is far smaller: see `steps` and `width`.

    Parameters
    ----------
    srcs, trgs : N sentence pairs to learn from. held_out : (sources, targets) that choose the step, every 50 steps.
    rng : decides weights, order and dropout: the same state gives the same models on the same machine.
    steps : of the optimiser for each model, 16 sentences each. vocab_size : pieces of the joint byte-level BPE, which
        is learned from srcs and trgs alone, at least 260.
    width, layers : of the encoder and of the decoder; width is a multiple of 4. dropout : share of activations that
        are left out in training, in [0, 1). smoothing : as in `train_pair`.

    Raises
    ------
    As `train_pair`, for N below 1, and for held-out texts of different numbers.
    """
    recipe = _Recipe(steps, width, layers, smoothing, 1e-2, dropout, True, 50, 16)
    n = checks.same_length(srcs=srcs, trgs=trgs)
    _check(recipe, min(n, checks.same_length(sources=held_out[0], targets=held_out[1])))
    tokenizer = _pieces([*srcs, *trgs], vocab_size)
    cut = [tokenizer(list(texts))["input_ids"] for texts in (srcs, trgs, *held_out)]
    recipe = replace(recipe, longest=max(len(row) for rows in cut for row in rows) + 32)
    return _trained(f"{n} sentences", tokenizer, cut[:2], cut[2:], recipe, rng)


def save_pair(folder: str | PathLike, mt: TranslationModel, lm: LanguageModel) -> tuple[Path, Path]:
    """Write the folders "mt" and "lm", which `load_mt` and `load_lm`, or ``anhelpers xmi --mt --lm``, read."""
    places = Path(folder) / "mt", Path(folder) / "lm"
    for place, model, tokenizer in zip(
        places, (mt.model, lm.model), (mt.tokenizer, lm.tokenizer), strict=True
    ):
        hub.save_model(model, tokenizer, place)
    return places


def _check(recipe: _Recipe, n_train: int) -> None:
    """A DataError for sizes that cannot be."""
    steps, width, layers = recipe.steps, recipe.width, recipe.layers
    if min(n_train, steps, layers) < 1 or width < 4 or width % 4:
        raise DataError(
            "n_train, steps and layers must be at least 1 and the width a multiple of 4; got "
            f"{n_train}, {steps}, {layers} and {width}."
        )
    for name in ("smoothing", "dropout"):
        if not 0 <= (share := getattr(recipe, name)) < 1:
            raise DataError(f"{name} is {share:g}; give a share of at least 0 and below 1.")


def _trained(
    name: str,
    tokenizer: Any,
    ids: Sequence[Ids],
    held: Sequence[Ids] | None,
    recipe: _Recipe,
    rng: np.random.Generator,
) -> tuple[TranslationModel, LanguageModel]:
    """Both models, trained on (sources, targets) in the same order, and kept at their best step on held-out pairs."""
    with _own_seed(int(rng.integers(2**31))):
        mt, lm = _new_models(tokenizer, recipe)
        order = rng.permutation(len(ids[0]))
        with progress(2 * recipe.steps, f"training {name}", "steps") as step:
            for model in (mt, lm):
                _train(model, ids, held, order, recipe, step)
    smooth = f", label smoothing {recipe.smoothing:g}" if recipe.smoothing else ""
    named = {
        "name": f"{name}, {recipe.steps} steps{smooth}",
        "revision": IN_MEMORY,
        "device": "cpu",
    }
    return translation_model(mt, tokenizer, **named), language_model(lm, tokenizer, **named)


@contextmanager
def _own_seed(seed: int) -> Iterator[None]:
    """One thread and a random state of its own, both given back: the result depends on nothing else."""
    torch = need("torch", WHY)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # also the fastest for models this small
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(threads)


def _words(words: Sequence[str]) -> Any:
    """One token per word of either language, and the end of every sentence, as Marian's own tokenizers do it."""
    tokenizers = need("tokenizers", WHY)
    vocabulary = ["</s>", "<unk>", *dict.fromkeys(words), "<pad>"]
    level = tokenizers.models.WordLevel({w: i for i, w in enumerate(vocabulary)}, unk_token="<unk>")
    tokenizer = tokenizers.Tokenizer(level)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return _with_end(tokenizer, LONGEST)


def _pieces(texts: Sequence[str], vocab_size: int) -> Any:
    """A joint byte-level BPE of both languages, with the end of every sentence."""
    tokenizers = need("tokenizers", WHY)
    bpe = tokenizers.ByteLevelBPETokenizer(add_prefix_space=True)
    special = ["</s>", "<unk>", "<pad>"]
    bpe.train_from_iterator(texts, vocab_size, 2, show_progress=False, special_tokens=special)
    return _with_end(bpe._tokenizer, 1024)


def _with_end(tokenizer: Any, longest: int) -> Any:
    """A tokenizer of transformers that closes every text, and pads it, as Marian's own do."""
    tokenizers, transformers = need("tokenizers", WHY), need("transformers", WHY)
    end = tokenizer.token_to_id("</s>")
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A </s>", pair="$A $B </s>", special_tokens=[("</s>", end)]
    )
    special = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=longest, **special
    )


def _new_models(tokenizer: Any, recipe: _Recipe) -> tuple[Any, Any]:
    """An encoder-decoder, and a decoder of the same shape."""
    transformers = need("transformers", WHY)
    both = {
        f"{side}_{what}": n
        for side in ("encoder", "decoder")
        for what, n in (
            ("layers", recipe.layers),
            ("attention_heads", 4),
            ("ffn_dim", 2 * recipe.width),
        )
    }
    shape = both | {
        "vocab_size": len(tokenizer),
        "d_model": recipe.width,
        "max_position_embeddings": recipe.longest,
        "init_std": INIT_STD,
        "dropout": recipe.dropout,
        "scale_embedding": recipe.scaled,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": None,
        "eos_token_id": tokenizer.eos_token_id,
        "decoder_start_token_id": tokenizer.pad_token_id,
        "forced_eos_token_id": None,
    }
    alone = transformers.MarianConfig(**shape, is_decoder=True, is_encoder_decoder=False)
    return transformers.MarianMTModel(
        transformers.MarianConfig(**shape)
    ), transformers.MarianForCausalLM(alone)


def _train(
    model: Any,
    ids: Sequence[Ids],
    held: Sequence[Ids] | None,
    order: np.ndarray,
    recipe: _Recipe,
    step: Callable[..., None],
) -> None:
    """Adam with a linear warm-up and a cosine to zero, on the sentences in this order, again and again."""
    torch = need("torch", WHY)
    weights = [*model.parameters()]
    optimizer = torch.optim.AdamW(weights, recipe.rate, (0.9, 0.98), weight_decay=0.01, fused=True)
    rate = partial(warm_cosine, warm=max(1, round(WARM_UP * recipe.steps)), steps=recipe.steps)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    best = (np.inf, model.state_dict())
    for k in range(recipe.steps):
        batch = order[np.arange(k * recipe.batch, (k + 1) * recipe.batch) % len(order)]
        srcs, trgs = ([rows[i] for i in batch] for rows in ids)
        loss = _loss(model, srcs, trgs, recipe.smoothing)
        if not loss.isfinite():
            raise AnhelpersError(
                f"the training has failed: after {k} steps the loss is no number any more; give "
                "other sizes, or another seed."
            )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        step(1)
        if held and ((k + 1) % recipe.every == 0 or k + 1 == recipe.steps):
            now = _held_out_loss(model, held)
            best = (now, deepcopy(model.state_dict())) if now < best[0] else best
    model.load_state_dict(best[1])


def _held_out_loss(model: Any, held: Sequence[Ids]) -> float:
    """Mean over the held-out sentences of -ln q, without label smoothing."""
    torch = need("torch", WHY)
    model.eval()
    with torch.inference_mode():
        total = 0.0
        for k in range(0, len(held[0]), BATCH):
            srcs, trgs = (rows[k : k + BATCH] for rows in held)
            total += float(_loss(model, srcs, trgs)) * len(srcs)
    model.train()
    return total / len(held[0])


def _loss(model: Any, srcs: Ids, trgs: Ids, smoothing: float = 0.0) -> Any:
    """Mean over sentences of -ln q, summed over the tokens of the target and its end; padding is no target."""
    torch = need("torch", WHY)
    pad = model.config.pad_token_id
    source, target = _padded(srcs, pad), _padded(trgs, pad)
    # pad is the start of a sentence as well
    given = torch.nn.functional.pad(target[:, :-1], (1, 0), value=pad)
    if model.config.is_encoder_decoder:
        said = model(
            input_ids=source, attention_mask=source != pad, decoder_input_ids=given, use_cache=False
        )
    else:
        said = model(input_ids=given, use_cache=False)
    total = torch.nn.functional.cross_entropy(
        said.logits.flatten(0, 1),
        target.flatten(),
        ignore_index=pad,
        reduction="sum",
        label_smoothing=smoothing,
    )
    return total / len(trgs)


def _padded(rows: list[list[int]], pad: int) -> Any:
    torch = need("torch", WHY)
    longest = max(map(len, rows))
    return torch.tensor([row + [pad] * (longest - len(row)) for row in rows])
