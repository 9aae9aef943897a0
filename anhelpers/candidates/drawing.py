"""A model with all that decides which candidates it draws: method, seed, prompt, limits, and their signature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .. import hub
from ..errors import DataError, need
from ..metrics import signature_of
from ..naturalness.load import LanguageModel, load_lm
from ..translation.load import TranslationModel, load_mt
from ..translation.score import source_ids
from .prompts import Prompt, special_in
from .sampling import Sampling

__all__ = ["MOST_TOKENS", "Drawing", "Start", "load_drawer", "translates"]

BATCH = {"cpu": 64, "cuda": 256}  # samples at a time
MOST_TOKENS = 512


@dataclass(frozen=True)
class Start:
    """A source up to its first token: what the model is given, and the most tokens a sample may have.

    Parameters
    ----------
    source : ids for the encoder; None for a language model.
    prefix : ids for the decoder.
    limit : tokens, the one that ends the sample included.
    """

    source: list[int] | None
    prefix: list[int]
    limit: int


@dataclass(frozen=True)
class Drawing:
    """Everything that decides which candidates are drawn, but the sources.

    Parameters
    ----------
    model : of `load_mt`, `load_lm` or `load_drawer`.
    k : samples per source.
    seed : in [0, 2^64).
    max_tokens : at which a sample is cut; the model's own limit may be lower.
    batch : samples at a time; None: 64, on a GPU 256. Part of what decides: another batch may turn the last bit of a
        probability, and with it, very rarely, a token.
    prompt : for a language model, and only there.
    sampling : method and temperature.
    """

    model: Any = field(repr=False)  # TranslationModel | LanguageModel
    k: int
    sampling: Sampling = Sampling()  # noqa: RUF009
    seed: int = 0
    max_tokens: int = MOST_TOKENS
    batch: int | None = None
    prompt: Prompt | None = None

    def __post_init__(self) -> None:
        if self.k < 1:
            raise DataError(f"k must be at least 1 sample per source, got {self.k}.")
        if not 0 <= self.seed < 2**64:
            raise DataError(f"seed must be a whole number from 0 to 2^64 - 1, got {self.seed}.")
        for name in ("max_tokens", "batch"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise DataError(f"{name} must be at least 1, got {value}.")
        object.__setattr__(self, "batch", self.batch or BATCH[hub.kind(self.model.device)])
        name, asked = self.model.name, isinstance(self.model, LanguageModel)
        if asked and self.prompt is None:
            raise DataError(f"{name} is a language model: give it a prompt.")
        if not asked and self.prompt is not None:
            raise DataError(f"{name} is a translation model, which takes no prompt; leave it out.")
        if self.prompt is not None:
            object.__setattr__(self, "prompt", self.prompt.settled(self.model))
            if not self.ends and self.prompt.stop is None:
                raise DataError(
                    f"{name} has no end-of-sequence token, so its answers have no end; name a stop "
                    "text."
                )

    @property
    def tag(self) -> str:
        """What the candidates are called: the model and the method."""
        name = f"{self.model.name} {self.sampling.name}"
        return (
            name if self.sampling.temperature == 1 else f"{name} t:{self.sampling.temperature:.15g}"
        )

    @cached_property
    def signature(self) -> str:
        """All of it in key:value style."""
        model = self.model
        parts: dict[str, Any] = {"draw": None} | model.parts()
        parts |= {"prompt": self.prompt.hash(model)} if self.prompt else {}
        parts |= model.never_part()
        parts |= {
            "method": self.sampling.name,
            "temperature": f"{self.sampling.temperature:.15g}",
            "k": self.k,
        }
        parts |= {
            "seed": self.seed,
            "max": self.max_tokens,
            "batch": self.batch,
            "device": hub.kind(model.device),
        }
        parts["transformers"] = need("transformers", "drawing candidates").__version__
        return signature_of(parts)

    @cached_property
    def ends(self) -> frozenset[int]:
        """The tokens that end a text."""
        return _ends(self.model, self.prompt)

    @cached_property
    def stoppers(self) -> np.ndarray:
        """(V,) bool, the tokens that can complete the prompt's stop text."""
        n_vocab = self.model.model.get_output_embeddings().weight.shape[0]
        assert self.prompt is not None  # `ended` asks only where there is a stop text
        assert self.prompt.stop is not None
        return _stoppers(self.model.tokenizer, self.prompt.stop, n_vocab)

    def start(self, segment: int, src: str) -> Start:
        """What the model is given for a source; a DataError if it does not fit."""
        return _start(self, src, f"source {segment}")

    def ended(self, ids: Sequence[int]) -> bool:
        """Whether the last of these tokens ends the sample."""
        if ids[-1] in self.ends:
            return True
        if self.prompt is None or self.prompt.stop is None or not self.stoppers[ids[-1]]:
            return False
        return self.prompt.stop in self._spelt(ids)

    def text(self, ids: Sequence[int]) -> str:
        """The candidate that a sample spells: its tokens as text, without the prompt's separator and stop text."""
        spelt = self._spelt(ids[:-1] if ids[-1] in self.ends else ids)
        return (
            spelt
            if self.prompt is None or self.prompt.stop is None
            else spelt.split(self.prompt.stop)[0]
        )

    def _spelt(self, ids: Sequence[int]) -> str:
        text = self.model.tokenizer.decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text if self.prompt is None else text.removeprefix(self.prompt.separator)


def translates(name: str | Path, revision: str | None = None) -> bool:
    """Whether an encoder-decoder lies there; False for a causal language model, a DataError for anything else."""
    modeling = need("transformers", "drawing candidates").models.auto.modeling_auto
    place = hub.find(name, revision)
    config = hub.load_config(place, "translation or language model")
    kind = config.model_type
    if config.is_encoder_decoder and kind in modeling.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES:
        return True
    fills_gaps = kind in modeling.MODEL_FOR_MASKED_LM_MAPPING_NAMES and not getattr(
        config, "is_decoder", False
    )
    if (
        config.is_encoder_decoder
        or fills_gaps
        or kind not in modeling.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    ):
        raise DataError(
            f"{place} ({kind}) neither translates nor continues a text: name an encoder-decoder "
            "such as Marian or T5, or a causal language model."
        )
    return False


def load_drawer(
    name: str | Path,
    revision: str | None = None,
    *,
    device: str | None = None,
    dtype: str = "float32",
    **languages: Any,
) -> TranslationModel | LanguageModel:
    """A translation model or a causal language model, whichever lies there.

    Parameters
    ----------
    languages : src_lang, trg_lang and task as in `load_mt`; a language model is told them by its prompt.

    Raises
    ------
    DataError : it is neither, or a language model with `languages`. AnhelpersError : it cannot be loaded.
    """
    if translates(name, revision):
        return load_mt(name, revision, device=device, dtype=dtype, **languages)
    if languages:
        raise DataError(
            f"{name} is a language model, which is told {' and '.join(languages)} by its prompt."
        )
    return load_lm(name, revision, device, dtype)


def _start(drawing: Drawing, src: str, where: str) -> Start:
    model, prompt = drawing.model, drawing.prompt
    if not src.strip():
        raise DataError(f"{where} is blank, and a blank has no candidates; leave it out.")
    if prompt is None:
        ids, before, most = source_ids(model, [src])[0], list(model.prefix), model.max_tokens
        n, what, limit = len(ids), "tokens", most - len(before) + 1
    else:
        _check_source(model, prompt, src, where)
        ids, before, most = None, prompt.ids(model, src), model.max_tokens
        n, what, limit = len(before), "tokens with its prompt", most - len(before) + 1
    if n > most or limit < 2:
        raise DataError(
            f"{where} has {n} {what}, and {model.name} takes {most} in all; shorten it or leave it "
            "out."
        )
    return Start(ids, before, min(limit, drawing.max_tokens))


def _check_source(model: LanguageModel, prompt: Prompt, src: str, where: str) -> None:
    """A DataError for a source that this prompt cannot hold."""
    if prompt.stop is not None and prompt.stop in src:
        raise DataError(
            f"{where} holds the stop text {prompt.stop!r}, which would cut its translation; choose "
            "another, or none."
        )
    if prompt.chat and (special := special_in(model, src)):
        raise DataError(
            f"{where} holds {special!r}, which {model.name} takes for a mark of the chat; remove "
            "it."
        )


def _ends(model: TranslationModel | LanguageModel, prompt: Prompt | None) -> frozenset[int]:
    """The end token of the tokenizer; of a language model also those of its settings, as chats have them."""
    found = {model.tokenizer.eos_token_id}
    if prompt is not None:
        more = (getattr(model.model, "generation_config", None) or model.model.config).eos_token_id
        found |= set(more if isinstance(more, (list, tuple)) else [more])
    return frozenset(found - {None})


def _stoppers(tokenizer: Any, stop: str, n_vocab: int) -> np.ndarray:
    """(V,) bool, the tokens that can complete the stop text."""
    # its last character may be spread over several tokens, or be a space that a token decoded by itself loses
    if not stop.isascii() or stop.endswith(" "):
        return np.ones(n_vocab, bool)
    known = min(n_vocab, len(tokenizer))
    pieces = tokenizer.batch_decode([[i] for i in range(known)], clean_up_tokenization_spaces=False)
    return np.array([stop[-1] in piece for piece in pieces] + [False] * (n_vocab - known), bool)
