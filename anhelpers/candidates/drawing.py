"""A model with all that decides which candidates it draws: method, seed, prompt, limits, and their signature.

A token is drawn from all of the model's distribution, or from its likelier part, by a number in [0, 1). The numbers
depend on the seed, the source, the sample and the step alone, so a source's samples are the same in
whatever order, process or company they are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks, hub
from ..errors import DataError, need
from ..metrics import signature_of
from ..naturalness.load import LanguageModel, load_lm
from ..translation.load import TranslationModel, load_mt
from ..translation.score import source_ids
from .prompts import Prompt, special_in

__all__ = [
    "METHODS",
    "MOST_TOKENS",
    "Drawing",
    "Numbers",
    "Sampling",
    "Start",
    "choose",
    "least",
    "levels",
    "load_drawer",
    "numbers",
    "probabilities",
    "read_method",
    "translates",
]

Numbers = Callable[[int, range, int], np.ndarray]

METHODS = {  # name -> its parameter's range, in words
    "ancestral": None,
    "epsilon": "a probability in (0, 1)",
    "top-p": "a probability in (0, 1]",
    "top-k": "a whole number >= 1",
}
FIRST_TRY = 64  # tokens among which the top-p set is sought first


@dataclass(frozen=True)
class Sampling:
    """One method with its parameter, applied to the model's probabilities after the temperature.

    Parameters
    ----------
    method : "ancestral" draws from all tokens; "epsilon" from those with probability >= `value` (Hewitt et al. 2022);
        "top-p" from the smallest set of most probable ones that has probability >= `value` (Holtzman et al. 2020);
        "top-k" from the `value` most probable ones. The most probable token always stays, and tokens that are exactly
        as probable as the last one kept stay as well.
    value : the parameter; None for "ancestral".
    temperature : > 0; the probabilities are proportional to the model's to the power 1 / temperature.
    """

    method: str = "ancestral"
    value: float | None = None
    temperature: float = 1.0

    def __post_init__(self) -> None:
        wanted = METHODS[checks.one_of(self.method, METHODS, "method")]
        if wanted is None and self.value is not None:
            raise DataError(f"{self.method} takes no parameter, got {self.value:g}.")
        if wanted is not None and not _in_range(self.method, self.value):
            raise DataError(
                f"{self.method} takes {wanted}, got {_said(self.value)}; write "
                f"{self.method}:NUMBER."
            )
        if not 0 < self.temperature < math.inf:
            raise DataError(f"temperature must be a number above 0, got {self.temperature}.")

    @property
    def name(self) -> str:
        """The method as `read_method` reads it."""
        return self.method if self.value is None else f"{self.method}:{self.value:.15g}"


def read_method(text: str, temperature: float = 1.0) -> Sampling:
    """A method with its parameter from text such as "ancestral", "epsilon:0.02", "top-p:0.9", "top-k:50".

    >>> read_method("epsilon:0.02")
    Sampling(method='epsilon', value=0.02, temperature=1.0)
    """
    name, colon, given = text.partition(":")
    checks.one_of(name, METHODS, "method")
    try:
        value = float(given) if colon else None
    except ValueError:
        raise DataError(f"the parameter of '{text}' is no number; write {name}:NUMBER.") from None
    return Sampling(name, value, temperature)


def numbers(seed: int, segment: int, src: str) -> Numbers:
    """A function (step, samples, n) -> (len(samples), n) numbers in [0, 1), those of each sample its own.

    Philox (Salmon et al. 2011) with the key (seed, hash of the source's number and text), counter (sample, step).
    """
    source = blake2b(f"{segment}:{src}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    key = np.array([seed, int.from_bytes(source, "little")], np.uint64)

    def drawn(step: int, samples: range, n: int) -> np.ndarray:
        blocks = -(-n // 4)  # of four numbers, which share a counter
        counter = np.array([samples.start * blocks, step, 0, 0], np.uint64)
        bits = np.random.Philox(key=key, counter=counter).random_raw(len(samples) * blocks * 4)
        return (bits.reshape(len(samples), -1)[:, :n] >> np.uint64(11)) * 2.0**-53

    return drawn


def probabilities(logits: Any, sampling: Sampling) -> tuple[Any, Any]:
    """(b, V) float64 probabilities of the model itself, and, not normalised, of what is drawn from.

    Parameters
    ----------
    logits : (b, V) tensor of the model's logits, -inf where it never generates a token.
    sampling : method and temperature.
    """
    logits = logits.double()
    own = logits.softmax(1)
    if sampling.temperature == 1:
        p = own
    else:  # the largest less itself is 0, and stays so at the lowest temperatures
        p = ((logits - logits.amax(1, keepdim=True)) / sampling.temperature).softmax(1)
    if sampling.method == "ancestral":
        return own, p
    return own, p.masked_fill(p < least(p, sampling), 0)


def least(p: Any, sampling: Sampling) -> Any:
    """(b, 1) the least probability that a token must have to be drawn.

    Parameters
    ----------
    p : (b, V) tensor of probabilities.
    sampling : method and temperature.
    """
    if sampling.method == "epsilon":
        return p.max(1, keepdim=True).values.clamp(max=sampling.value)
    if sampling.method == "top-k":
        return p.topk(min(int(sampling.value or 0), p.shape[1])).values[:, -1:]
    n = FIRST_TRY
    while True:
        top = p.topk(min(n, p.shape[1])).values
        reached = top.cumsum(1) >= sampling.value
        if n >= p.shape[1] or reached[:, -1].all():
            # rounding may leave the sum below 1
            last = (~reached).sum(1, keepdim=True).clamp(max=top.shape[1] - 1)
            return top.gather(1, last)
        n *= FIRST_TRY


def choose(p: Any, u: Any) -> Any:
    """(b,) tokens, token v with probability p_v / Σ p: down a binary tree over the tokens, by one number per level.

    Where two machines differ by ε in the logarithms of p, they choose different tokens about once in 1/ε times or less,
    whatever the size of the vocabulary. (One number and the distribution function: hundreds of times as often.)

    Parameters
    ----------
    p : (b, V) float64 tensor, not negative, not all 0; or (1, V) for all.
    u : (b, levels(V)) float64 tensor in [0, 1).
    """
    torch = need("torch", "drawing candidates")
    sums = [torch.nn.functional.pad(p, (0, 2 ** u.shape[1] - p.shape[1]))]
    while sums[-1].shape[1] > 2:
        sums.append(sums[-1].unflatten(1, (-1, 2)).sum(2))
    at = torch.zeros(len(u), 1, dtype=torch.long, device=p.device)
    for level, both in enumerate(reversed(sums)):
        both = both.expand(len(u), -1)
        left, right = both.gather(1, 2 * at), both.gather(1, 2 * at + 1)
        at = 2 * at + (u[:, level, None] * (left + right) >= left)
    return at[:, 0]


def levels(n_vocab: int) -> int:
    """How many numbers `choose` takes for a vocabulary of this size."""
    return max(1, (n_vocab - 1).bit_length())


def _in_range(method: str, value: float | None) -> bool:
    if value is None or not math.isfinite(value):
        return False
    if method == "top-k":
        return value >= 1 and value == int(value)
    return 0 < value < 1 or (method == "top-p" and value == 1)


def _said(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


BATCH = {"cpu": 64, "cuda": 256}  # samples at a time
MOST_TOKENS = 512
MOST_SAMPLES = 10**6  # of a source


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
    sampling: Sampling = Sampling()
    seed: int = 0
    max_tokens: int = MOST_TOKENS
    batch: int | None = None
    prompt: Prompt | None = None

    def __post_init__(self) -> None:
        checks.whole("k (samples per source)", self.k, 1, MOST_SAMPLES)
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
