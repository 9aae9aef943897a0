"""A causal language model of transformers: bundled, from a folder or from the hub, and what its signature says."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from .. import hub
from ..data.fetch import bundled
from ..data.languages import SAY_THE_PAIR, known_code, short_code
from ..errors import DataError, need
from ..metrics import signature_of
from .kept import Kept, read_kept
from .prints import training_lines

__all__ = [
    "BUNDLED",
    "LanguageModel",
    "bundled_lm",
    "language_model",
    "load_lm",
    "stated_language",
]

BUNDLED = "bundled"
"""What a model is called that the language of the texts decides."""
LOGITS_PER_CHUNK = 2**20  # 4 MiB of float32 logits at a time stay in a CPU's cache


@dataclass(frozen=True)
class LanguageModel:
    """A loaded model with all that its signature must say.

    Parameters
    ----------
    model, tokenizer : of transformers, the model in evaluation mode.
    name, revision : hub id or folder name; hub commit, or the first 12 hex digits of the sha256 of the local weights.
    dtype : of the weights in memory; log-softmax is always float32, sums over tokens float64.
    device : "cpu" or "cuda[:i]".
    context_token : id placed once before every text and never scored (BOS; in models without BOS the decoder's start
        token, as in the decoders of translation models, else EOS, as in GPT-2); None where the model has none of them:
        then the first token of each text is not scored.
    max_tokens : the longest input the model takes, context token included.
    language : the only language it knows, where its folder says so (facts.json); None for no restriction.
    training_lines : (n,) `prints.line_fingerprints` of what it was trained on, where its folder has them, perhaps
        shortened; None: unknown.
    never : ids of tokens that the model never generates (`hub.forbidden`), without probability.

    Attributes
    ----------
    kept : scores that lie beside a bundled model, which is loaded when something else is asked of it; a copy that
        `dataclasses.replace` makes, perhaps with other weights, has none.
    """

    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    name: str
    revision: str
    dtype: str
    device: str
    context_token: int | None
    max_tokens: int
    language: str | None = None
    training_lines: np.ndarray | None = field(default=None, repr=False)
    never: tuple[int, ...] = ()
    kept: ClassVar[Kept | None] = None

    def __getattr__(self, name: str) -> Any:
        """What only the loaded model knows, the first time that it is asked for."""
        load: Callable[[], LanguageModel] | None = self.__dict__.get("load")
        if load is None or name not in self.__dataclass_fields__:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        self.__dict__.update(vars(load()) | self.__dict__)
        return self.__dict__[name]

    @property
    def ends(self) -> bool:
        """Whether it has a token that ends a text, which can be scored too."""
        return self.kept is not None or self.tokenizer.eos_token_id is not None

    @cached_property
    def hidden_states_suffice(self) -> bool:
        """Whether the output layer on the last hidden states gives the model's own logits (not with soft-capping)."""
        torch = need("torch", "language-model scoring")
        head = self.model.get_output_embeddings()
        if head is None or self.model.base_model is self.model:
            return False
        x = (
            torch.arange(3, 19, device=self.device)[None]
            % self.model.config.get_text_config().vocab_size
        )
        with torch.inference_mode():
            own = self.model(input_ids=x, use_cache=False).logits.float()
            ours = head(self.model.base_model(input_ids=x, use_cache=False)[0]).float()
        return own.shape == ours.shape and torch.allclose(own, ours, rtol=0, atol=1e-5)

    def log_probs(
        self, inputs: Any, at: Any, targets: Any, after: np.ndarray | None = None, **given: Any
    ) -> np.ndarray:
        """Log-probabilities of tokens after places of the inputs: float64 values of a float32 log-softmax.

        Parameters
        ----------
        inputs : (rows, width) token ids, on the model's device.
        at : (rows, width) bool, the places after which something is predicted; only for them are logits made.
        targets : (m,) the tokens predicted, place by place.
        after : (m,) ascending, per target its place among those of `at`; by default one target for each place.
        given : more arguments of the model, such as attention_mask and position_ids.

        Raises
        ------
        AnhelpersError where they are no numbers (`hub.finite_output`).
        """
        torch = need("torch", "language-model scoring")
        at, targets = at.to(self.device), targets.to(self.device)
        # without one, transformers builds a mask anew in every call, which takes most of a small model's time
        given = {"attention_mask": torch.ones_like(inputs)} | given
        with torch.inference_mode():
            if self.hidden_states_suffice:
                hidden = self.model.base_model(input_ids=inputs, use_cache=False, **given)[0][at]
                head = self.model.get_output_embeddings()
            else:
                hidden = self.model(input_ids=inputs, use_cache=False, **given).logits[at]
                head = torch.nn.Identity()
            after = np.arange(len(hidden)) if after is None else after
            rows = max(64, LOGITS_PER_CHUNK // self.model.config.get_text_config().vocab_size)
            bounds = np.searchsorted(after, np.arange(0, len(hidden) + rows, rows))
            places, parts = torch.from_numpy(after).to(self.device), []
            for k, (low, high) in enumerate(pairwise(bounds)):
                logits = head(hidden[k * rows : (k + 1) * rows]).float()
                if self.never:
                    logits[:, list(self.never)] = -np.inf
                # not logsumexp: a process' first torch.exp on a large CPU tensor can be off by 1e-4 (torch 2.13, MKL)
                parts.append(logits.log_softmax(1)[places[low:high] - k * rows, targets[low:high]])
            values, wanted = torch.cat(parts).double().cpu().numpy(), targets.cpu().numpy()
            return hub.finite_output(values, self.model, self.name, np.isin(wanted, self.never))

    def signature(self, eos: bool) -> str:
        """Everything that decides a score, in sacreBLEU's key:value style."""
        if self.kept is not None:
            return self.kept.signatures[int(eos)]
        context = (
            "none"
            if self.context_token is None
            else self.tokenizer.convert_ids_to_tokens(self.context_token)
        )
        version = need("transformers", "language-model scoring").__version__
        parts = {"lpp": None} | self.parts()
        parts |= {
            "bos": context,
            "eos": "yes" if eos else "no",
            "max": self.max_tokens,
            "long": "windows",
        }
        return signature_of(parts | self.never_part() | {"transformers": version})

    def parts(self) -> dict[str, object]:
        """What says which model it is and how it was loaded, as every signature with it begins."""
        return {"model": self.name, "rev": self.revision, "dtype": self.dtype}

    def never_part(self) -> dict[str, object]:
        """The tokens that it never generates, as a part of a signature where there are any."""
        return (
            {"never": " ".join(self.tokenizer.convert_ids_to_tokens(list(self.never)))}
            if self.never
            else {}
        )


def load_lm(
    name: str | Path,
    revision: str | None = None,
    device: str | None = None,
    dtype: str = "float32",
    *,
    lang: str | None = None,
) -> LanguageModel:
    """A causal language model: a bundled one, a local folder, or from the hub (or its cache) by id and revision.

    Parameters
    ----------
    name : "bundled" for the one of `lang`, "de-small", "en-small", a folder with a config.json, or a hub id such as
        "google/gemma-2-2b", optionally "id@revision".
    revision : hub commit, tag or branch; not for folders.
    device : "cpu", "cuda", "cuda:1"; None takes the GPU if there is one.
    dtype : "float32" (default), "bfloat16" or "float16".
    lang : of the texts, for "bundled" alone.

    Raises
    ------
    AnhelpersError in one sentence where it cannot be loaded; DataError for an encoder-decoder.
    """
    place = hub.find(bundled(f"lm/{bundled_lm(lang)}") if str(name) == BUNDLED else name, revision)
    if place.folder is not None and device is None and dtype == "float32":
        commit = hub.revision_of(place)
        if (kept := read_kept(place.folder, commit)) is not None:
            return _loaded_later(place, commit, kept)
    return _loaded(place, device, dtype)


def _loaded_later(place: hub.Place, commit: str, kept: Kept) -> LanguageModel:
    """The model whose scores of some texts lie beside it, loaded when anything else is asked of it."""
    lm = object.__new__(LanguageModel)
    language, lines = _facts(Path(place.address))
    lm.__dict__.update(
        load=partial(_loaded, place, None, "float32"),
        name=place.name,
        revision=commit,
        dtype="float32",
        language=language,
        training_lines=lines,
        kept=kept,
    )
    return lm


def _loaded(place: hub.Place, device: str | None, dtype: str) -> LanguageModel:
    """The model that lies there; parameters as in `load_lm`."""
    device = hub.device(device)
    if hub.load_config(place, "language model").is_encoder_decoder:
        raise DataError(
            f"{place} is an encoder-decoder, which has no probability for a text by itself: name "
            "a causal language model, or the decoder alone, trained without source."
        )
    tokenizer, model = hub.load_model(place, "language model", "AutoModelForCausalLM", dtype)
    language, lines = (None, None) if place.folder is None else _facts(place.folder)
    named = {
        "name": place.name,
        "revision": hub.revision_of(place, model),
        "dtype": dtype,
        "device": device,
    }
    with hub.usable(place, "language model"):
        lm = language_model(model, tokenizer, **named, language=language, training_lines=lines)
        _ = lm.hidden_states_suffice  # a first pass: settings that do not fit show themselves here
    return lm


def bundled_lm(lang: str | None) -> str:
    """The name of the bundled model of a language; a DataError says what to do where there is none.

    >>> bundled_lm("deu"), bundled_lm("en_GB")
    ('de-small', 'en-small')
    """
    known = sorted(path.name for path in bundled("lm").iterdir() if path.is_dir())
    name = f"{short_code(lang or 'und')}-small"
    if name == "und-small":
        raise DataError(SAY_THE_PAIR)
    if name not in known:
        raise DataError(
            f"no language model is bundled for '{lang or 'und'}' (there are {', '.join(known)}): "
            "name one (--lm MODEL, or -p lm MODEL for a notebook), train one (anhelpers "
            "train-lm), or take a measure that needs none, such as compression."
        )
    return name


def stated_language(name: str | Path) -> str | None:
    """The only language that a model knows, where its folder says so, without loading it; None elsewhere."""
    place = hub.find(name, None)
    return None if place.folder is None else _facts(place.folder)[0]


def _facts(folder: Path) -> tuple[str | None, np.ndarray | None]:
    """What training left beside a model: the language, and the prints of the lines it has seen."""
    facts = folder / "facts.json"
    try:
        language = (
            json.loads(facts.read_text(encoding="utf-8")).get("language")
            if facts.is_file()
            else None
        )
    except (ValueError, AttributeError, RecursionError, OSError):
        raise DataError(
            "is no JSON object of facts; delete it, or train the model anew.", facts
        ) from None
    if not (language is None or isinstance(language, str)):
        raise DataError(
            f'"language" is {language!r:.60}, and a code such as "de" is wanted; mend or delete it.',
            facts,
        )
    if language is not None:
        try:
            language = known_code(language)
        except DataError as error:
            raise DataError(f"the model's language is unknown: {error}", facts) from None
    return None if language == "und" else language, training_lines(folder)


def language_model(
    model: Any,
    tokenizer: Any,
    *,
    name: str,
    revision: str,
    device: str | None = None,
    **others: Any,
) -> LanguageModel:
    """A model and tokenizer in memory as a `LanguageModel`: in evaluation mode, on its device, with its limits.

    Parameters
    ----------
    others : further fields of `LanguageModel`.
    """
    device = hub.device(device)
    starts = (
        tokenizer.bos_token_id,
        getattr(model.config, "decoder_start_token_id", None),
        tokenizer.eos_token_id,
    )
    known: dict[str, Any] = {
        "name": name,
        "revision": revision,
        "device": device,
        "dtype": "float32",
        "context_token": next((start for start in starts if start is not None), None),
        "max_tokens": hub.longest(model, tokenizer) // 2 * 2,  # even: windows overlap by half
        "never": hub.forbidden(model),
    }
    return LanguageModel(model.eval().to(device), tokenizer, **(known | others))
