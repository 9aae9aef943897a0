"""Train a very small translation model, and its decoder alone as a language model, on a toy language pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .. import hub
from ..errors import AnhelpersError, DataError, need
from ..naturalness.load import LanguageModel, language_model
from ..progress import progress
from ..scoring.memo import IN_MEMORY
from ..training.lm import warm_cosine
from ..translation import TranslationModel, translation_model
from .toy import ToyPair

__all__ = ["save_pair", "train_pair"]

BATCH, LEARNING_RATE, WARM_UP = 64, 8e-3, 0.1
# Marian's 0.02 suits a width of 512; a narrow model that starts with it looks at the source late
INIT_STD = 0.1
LONGEST = 64  # tokens of a sentence
WHY = "training a toy pair"


def train_pair(
    pair: ToyPair,
    *,
    rng: np.random.Generator,
    n_train: int = 20_000,
    steps: int = 250,
    width: int = 32,
    layers: int = 1,
) -> tuple[TranslationModel, LanguageModel]:
    """q_MT and q_LM of XMI for a toy pair: a Marian transformer, and the same decoder trained without a source.

    Both see the same target sentences in the same order, cut into the same tokens (words, and one for the end). The
    loss is cross-entropy, without label smoothing: the models are to say probabilities.

    Parameters
    ----------
    rng : decides sentences, weights and order: the same state gives the same models on the same machine.
    n_train : sentence pairs, drawn from `pair`; where `steps` batches of 64 need more, they are seen again.
    steps : of the optimiser for each model; 250 take some 3 seconds on one core of a laptop.
    width, layers : of the encoder and of the decoder; width is a multiple of 4, one head for each quarter.

    Returns
    -------
    TranslationModel, LanguageModel: as loaded ones, on the CPU; `save_pair` writes them.

    Raises
    ------
    DataError for a number below 1, a width that 4 heads cannot share, sentences of 64 words or more; MissingExtra
    without torch and transformers; AnhelpersError where the loss becomes nan.
    """
    if min(n_train, steps, layers) < 1 or width < 4 or width % 4:
        raise DataError(
            "n_train, steps and layers must be at least 1 and the width a multiple of 4; got "
            f"{n_train}, {steps}, {layers} and {width}."
        )
    if len(pair.lengths) >= LONGEST:
        raise DataError(
            f"sentences of '{pair.name}' have up to {len(pair.lengths)} words; these models take "
            f"{LONGEST - 1}: give shorter lengths."
        )
    srcs, trgs = pair.sample(n_train, rng)
    tokenizer = _tokenizer([*pair.sources, *pair.targets])
    with _own_seed(int(rng.integers(2**31))):
        mt, lm = _new_models(tokenizer, width, layers)
        number, end = tokenizer.get_vocab(), tokenizer.eos_token_id
        src_ids, trg_ids = (
            [[*(number[w] for w in text.split()), end] for text in texts] for texts in (srcs, trgs)
        )
        order = rng.permutation(n_train)
        with progress(2 * steps, f"training {pair.name}", "steps") as step:
            for model in (mt, lm):
                _train(model, src_ids, trg_ids, order, steps, step)
    named = {"name": f"toy {pair.name}, {steps} steps", "revision": IN_MEMORY, "device": "cpu"}
    return translation_model(mt, tokenizer, **named), language_model(lm, tokenizer, **named)


def save_pair(folder: str | PathLike, mt: TranslationModel, lm: LanguageModel) -> tuple[Path, Path]:
    """Write the folders "mt" and "lm", which `load_mt` and `load_lm`, or ``anhelpers xmi --mt --lm``, read."""
    places = Path(folder) / "mt", Path(folder) / "lm"
    for place, model, tokenizer in zip(
        places, (mt.model, lm.model), (mt.tokenizer, lm.tokenizer), strict=True
    ):
        hub.save_model(model, tokenizer, place)
    return places


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


def _tokenizer(words: Sequence[str]) -> Any:
    """One token per word of either language, and the end of every sentence, as Marian's own tokenizers do it."""
    tokenizers, transformers = need("tokenizers", WHY), need("transformers", WHY)
    vocabulary = ["</s>", "<unk>", *dict.fromkeys(words), "<pad>"]
    level = tokenizers.models.WordLevel({w: i for i, w in enumerate(vocabulary)}, unk_token="<unk>")
    tokenizer = tokenizers.Tokenizer(level)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A </s>", pair="$A $B </s>", special_tokens=[("</s>", 0)]
    )
    special = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=LONGEST, **special
    )


def _new_models(tokenizer: Any, width: int, layers: int) -> tuple[Any, Any]:
    """An encoder-decoder, and a decoder of the same shape."""
    transformers = need("transformers", WHY)
    both = {
        f"{side}_{what}": n
        for side in ("encoder", "decoder")
        for what, n in (("layers", layers), ("attention_heads", 4), ("ffn_dim", 2 * width))
    }
    shape = both | {
        "vocab_size": len(tokenizer),
        "d_model": width,
        "max_position_embeddings": LONGEST,
        "init_std": INIT_STD,
        "dropout": 0.0,
        "scale_embedding": False,
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
    srcs: list[list[int]],
    trgs: list[list[int]],
    order: np.ndarray,
    steps: int,
    step: Callable[..., None],
) -> None:
    """Adam with a linear warm-up and a cosine to zero, on the sentences in this order, again and again."""
    torch = need("torch", WHY)
    optimizer = torch.optim.AdamW(
        model.parameters(), LEARNING_RATE, (0.9, 0.98), weight_decay=0.01, fused=True
    )
    rate = partial(warm_cosine, warm=max(1, round(WARM_UP * steps)), steps=steps)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    for k in range(steps):
        batch = order[np.arange(k * BATCH, (k + 1) * BATCH) % len(order)]
        loss = _loss(model, *([ids[i] for i in batch] for ids in (srcs, trgs)))
        if not loss.isfinite():
            raise AnhelpersError(
                f"the training has failed: after {k} steps the loss is no number any more; give "
                "other sizes, or another seed."
            )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        step(1)


def _loss(model: Any, srcs: list[list[int]], trgs: list[list[int]]) -> Any:
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
    logits = said.logits.flatten(0, 1)
    total = torch.nn.functional.cross_entropy(
        logits, target.flatten(), ignore_index=pad, reduction="sum"
    )
    return total / len(trgs)


def _padded(rows: list[list[int]], pad: int) -> Any:
    torch = need("torch", WHY)
    longest = max(map(len, rows))
    return torch.tensor([row + [pad] * (longest - len(row)) for row in rows])
