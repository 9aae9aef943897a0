"""Train a very small translation model, and its decoder alone as a language model, on a toy pair."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import checks
from ..errors import AnhelpersError, DataError, need
from ..naturalness.lm import LanguageModel, language_model
from ..progress import progress
from ..scoring.cache import IN_MEMORY
from ..translation import TranslationModel, translation_model
from .toy import ToyPair

_BATCH, _LONGEST = 64, 64  # sentences of a step; tokens of a sentence
_RATE, _WARM_UP = 8e-3, 0.1  # of Adam; share of the steps in which the rate rises
_WIDTH, _INIT_STD = (
    32,
    0.1,
)  # Marian's 0.02 suits a width of 512; with it a narrow model ignores its source for long
_WHY = "training a translation model"

Ids = list[list[int]]


def train_pair(
    pair: ToyPair,
    *,
    rng: np.random.Generator,
    n_train: int = 20_000,
    steps: int = 250,
    smoothing: float = 0.0,
) -> tuple[TranslationModel, LanguageModel]:
    """Train q_MT and q_LM for a toy pair: a Marian transformer, and its decoder without a source.

    Both see the same target sentences in the same order, with the same tokens (words, and one for the end). The loss
    is cross-entropy.

    Parameters
    ----------
    rng : decides sentences, weights and order: the same state gives the same models on the same machine.
    n_train : sentence pairs, drawn from `pair`; they are repeated if `steps` batches of 64 need more.
    steps : of the optimiser for each model; 250 take some 3 seconds on one core of a laptop.
    smoothing : label smoothing in [0, 1): the share of the target's probability that is spread over the vocabulary.

    Returns
    -------
    TranslationModel, LanguageModel: as loaded ones, on the CPU.

    Raises
    ------
    DataError for a number out of range, and for sentences of 64 words or more; MissingExtra without torch and
    transformers; AnhelpersError if the loss becomes nan.
    """
    checks.whole("n_train", n_train, least=1)
    checks.whole("steps", steps, least=1)
    if not 0 <= smoothing < 1 or len(pair.lengths) >= _LONGEST:
        raise DataError(
            f"got smoothing {smoothing:g} and {len(pair.lengths)} words, expected less than 1 and {_LONGEST}."
        )
    srcs, trgs = pair.sample(n_train, rng)
    tokenizer = _tokenizer([*pair.sources, *pair.targets])
    number, end = tokenizer.get_vocab(), tokenizer.eos_token_id
    ids = [[[*(number[w] for w in text.split()), end] for text in texts] for texts in (srcs, trgs)]
    with _own_seed(int(rng.integers(2**31))):
        both = _new_models(tokenizer)
        order = rng.permutation(n_train)
        with progress(2 * steps, f"training toy {pair.name}", "steps") as step:
            for model in both:
                _train(model, ids, order, steps, smoothing, step)
    smooth = f", label smoothing {smoothing:g}" if smoothing else ""
    name = f"toy {pair.name}, {steps} steps{smooth}"
    mt, lm = both
    named = {"name": name, "revision": IN_MEMORY, "device": "cpu"}
    return translation_model(mt, tokenizer, **named), language_model(lm, tokenizer, **named)


@contextmanager
def _own_seed(seed: int) -> Iterator[None]:
    """One thread and a separate random state, so that the result depends on nothing else."""
    torch = need("torch", _WHY)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # also the fastest for models this small
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(threads)


def _tokenizer(words: Sequence[str]) -> Any:
    """One token per word of either language, and one for the end of every sentence."""
    tokenizers, transformers = need("tokenizers", _WHY), need("transformers", _WHY)
    vocabulary = ["</s>", "<unk>", *dict.fromkeys(words), "<pad>"]
    level = tokenizers.models.WordLevel({w: i for i, w in enumerate(vocabulary)}, unk_token="<unk>")
    tokenizer = tokenizers.Tokenizer(level)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A </s>", pair="$A $B </s>", special_tokens=[("</s>", 0)]
    )
    special = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=_LONGEST, **special
    )


def _new_models(tokenizer: Any) -> tuple[Any, Any]:
    """An encoder-decoder, and a decoder of the same shape."""
    transformers = need("transformers", _WHY)
    shape: dict[str, Any] = {
        f"{side}_{what}": n
        for side in ("encoder", "decoder")
        for what, n in (("layers", 1), ("attention_heads", 4), ("ffn_dim", 2 * _WIDTH))
    }
    shape |= {
        "vocab_size": len(tokenizer),
        "d_model": _WIDTH,
        "max_position_embeddings": _LONGEST,
        "init_std": _INIT_STD,
        "dropout": 0.0,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": None,
        "eos_token_id": tokenizer.eos_token_id,
        "decoder_start_token_id": tokenizer.pad_token_id,
        "forced_eos_token_id": None,
    }
    alone = transformers.MarianConfig(**shape, is_decoder=True, is_encoder_decoder=False)
    mt = transformers.MarianMTModel(transformers.MarianConfig(**shape))
    return mt, transformers.MarianForCausalLM(alone)


def _train(
    model: Any,
    ids: Sequence[Ids],
    order: np.ndarray,
    steps: int,
    smoothing: float,
    step: Callable[..., None],
) -> None:
    """Adam with a linear warm-up and a cosine to zero, over the sentences in this order, repeatedly."""
    torch = need("torch", _WHY)
    weights, warm = [*model.parameters()], max(1, round(_WARM_UP * steps))
    optimizer = torch.optim.AdamW(weights, _RATE, (0.9, 0.98), weight_decay=0.01, fused=True)

    def rate(k: int) -> float:
        cosine = (1 + math.cos(math.pi * (k - warm) / max(1, steps - warm))) / 2
        return (k + 1) / warm if k < warm else cosine

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    for k in range(steps):
        batch = order[np.arange(k * _BATCH, (k + 1) * _BATCH) % len(order)]
        loss = _loss(model, *([rows[i] for i in batch] for rows in ids), smoothing)
        if not loss.isfinite():
            raise AnhelpersError(f"the training failed: the loss is not finite after {k} steps.")
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        step(1)


def _loss(model: Any, srcs: Ids, trgs: Ids, smoothing: float) -> Any:
    """Mean over sentences of -ln q, summed over the tokens of the target and its end."""
    torch = need("torch", _WHY)
    pad = model.config.pad_token_id
    source, target = (
        torch.tensor([row + [pad] * (max(map(len, rows)) - len(row)) for row in rows])
        for rows in (srcs, trgs)
    )
    # pad is the start of a sentence as well
    before = torch.nn.functional.pad(target[:, :-1], (1, 0), value=pad)
    if model.config.is_encoder_decoder:
        read = {"input_ids": source, "attention_mask": source != pad, "decoder_input_ids": before}
    else:
        read = {"input_ids": before}
    total = torch.nn.functional.cross_entropy(
        model(**read, use_cache=False).logits.flatten(0, 1),
        target.flatten(),
        ignore_index=pad,
        reduction="sum",
        label_smoothing=smoothing,
    )
    return total / len(trgs)
