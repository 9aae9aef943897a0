"""An encoder-decoder of transformers as a translation model: what it is given, what it predicts, and its signature.

Multilingual models have language codes of their own; a plain one such as "de" stands for them here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import hub
from ..data.languages import MEMBERS, base
from ..errors import DataError, nearest, need
from ..metrics import signature_of

__all__ = ["TranslationModel", "choose_language", "known_languages", "load_mt", "translation_model"]

CODE = re.compile(r"[a-z]{2,3}_[A-Za-z]{2,4}")  # de_DE, en_XX, deu_Latn


def known_languages(tokenizer: Any) -> list[str]:
    """The codes that this tokenizer has a token for, as it writes them; none for a model of one language pair."""
    # Marian, whose separate vocabularies hide them
    if hasattr(tokenizer, "supported_language_codes"):
        return sorted(
            piece for piece in tokenizer.encoder if piece.startswith(">>") and piece.endswith("<<")
        )
    if hasattr(tokenizer, "lang_code_to_token"):  # M2M100
        return sorted(tokenizer.lang_code_to_token)
    if hasattr(tokenizer, "tgt_lang"):  # NLLB, mBART
        return sorted(
            token for token in tokenizer.additional_special_tokens if CODE.fullmatch(token)
        )
    return []


def choose_language(code: str | None, known: Sequence[str], what: str, name: str) -> str:
    """The model's own code for a language: as given, or the only one that "de" or "deu" may stand for.

    Parameters
    ----------
    code : given by the user. known : the model's codes. what, name : "source language", the model, for the error.

    Raises
    ------
    DataError : none given, none that fits, or several.

    >>> choose_language("de", ["deu_Latn", "eng_Latn"], "target language", "nllb")
    'deu_Latn'
    """
    if code is None:
        raise DataError(
            f"{name} translates between many languages: name the {what}, such as {_some(known)}."
        )
    if code in known:
        return code
    wanted = {
        code,
        *MEMBERS.get(code, []),
        *(two for two, three in MEMBERS.items() if code in three),
    }
    hits = [own for own in known if base(own.strip("<>")) in wanted]
    if len(hits) == 1:
        return hits[0]
    if hits:
        raise DataError(
            f"the {what} '{code}' of {name} may be {' or '.join(hits)}; name one of them."
        )
    raise DataError(
        f"{name} has no {what} '{code}'{nearest(code, known)}; it knows {_some(known)}."
    )


def _some(known: Sequence[str]) -> str:
    """All codes if they are few, else the first well-known ones and how many there are."""
    if len(known) <= 8:
        return ", ".join(known)
    common = {form for two in ("de", "en", "fr", "zh") for form in (two, *MEMBERS[two])}
    shown = [own for own in known if base(own.strip("<>")) in common][:5] or list(known[:5])
    return f"{', '.join(shown)} ({len(known)} in all)"


# its tokenizer cannot encode targets where the two vocabularies differ
WITHOUT_TARGET_SIDE = {"fsmt"}


@dataclass(frozen=True)
class TranslationModel:
    """A loaded model with all that its signature must say.

    Parameters
    ----------
    model, tokenizer : of transformers, the model in evaluation mode.
    name, revision, dtype, device : as in `LanguageModel`.
    src_lang, trg_lang : codes of the model's own tokenizer, such as "deu_Latn"; None where it knows one pair only. In
        Marian trg_lang is ">>deu<<" and stands before the source.
    prefix : ids that the decoder is given, which are never scored: its start token and, in multilingual models, the
        token of the target language.
    task : text put before every source, such as T5's "translate English to German: ".
    max_tokens : the most that the encoder takes, and the decoder, special ones included.
    never : ids of tokens that the model never generates (`hub.forbidden`), without probability.
    """

    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    name: str
    revision: str
    dtype: str
    device: str
    src_lang: str | None
    trg_lang: str | None
    prefix: tuple[int, ...]
    task: str
    max_tokens: int
    never: tuple[int, ...] = ()

    def signature(self, empty_source: bool = False) -> str:
        """Everything that decides a score, in sacreBLEU's key:value style; `source:empty` for use without sources."""
        parts = {"mt": None} | self.parts() | ({"source": "empty"} if empty_source else {})
        parts |= {
            "given": self._tokens(self.prefix),
            "eos": "yes",
            "max": f"{self.max_tokens}/{self.max_tokens}",
        }
        parts |= self.never_part()
        parts["transformers"] = need("transformers", "scoring translations").__version__
        return signature_of(parts)

    def parts(self) -> dict[str, object]:
        """What says which model it is and how it was loaded, as every signature with it begins."""
        parts: dict[str, object] = {"model": self.name, "rev": self.revision, "dtype": self.dtype}
        parts |= {"src": self.src_lang} if self.src_lang else {}
        parts |= {"trg": self.trg_lang} if self.trg_lang else {}
        return parts | ({"task": repr(self.task)} if self.task else {})

    def never_part(self) -> dict[str, object]:
        """The tokens that it never generates, as a part of a signature where there are any."""
        return {"never": self._tokens(self.never)} if self.never else {}

    def _tokens(self, ids: tuple[int, ...]) -> str:
        return " ".join(self.tokenizer.convert_ids_to_tokens(list(ids)))


def load_mt(
    name: str | Path,
    revision: str | None = None,
    *,
    src_lang: str | None = None,
    trg_lang: str | None = None,
    task: str = "",
    device: str | None = None,
    dtype: str = "float32",
) -> TranslationModel:
    """A translation model (Marian, M2M100, NLLB, T5, mT5, mBART, BART) from a local folder, the hub or its cache.

    Parameters
    ----------
    name, revision, device, dtype : as in `load_lm`.
    src_lang, trg_lang : wanted by multilingual models: their own codes, or such as "de" where that fits one only.
    task : text put before every source; T5 was trained with "translate English to German: ".

    Raises
    ------
    DataError : a language model, a language that is missing, unknown or of no use.
    AnhelpersError : in one sentence where it cannot be loaded.
    """
    place, device = hub.find(name, revision), hub.device(device)
    config = hub.load_config(place, "translation model")
    if not config.is_encoder_decoder or config.model_type in WITHOUT_TARGET_SIDE:
        why = (
            "has a tokenizer that cannot encode targets"
            if config.is_encoder_decoder
            else "is a language model, which sees no source"
        )
        raise DataError(
            f"{place} ({config.model_type}) {why}: name an encoder-decoder, such as Marian, M2M100 "
            "or T5."
        )
    tokenizer, model = hub.load_model(place, "translation model", "AutoModelForSeq2SeqLM", dtype)
    return translation_model(
        model,
        tokenizer,
        name=place.name,
        revision=hub.revision_of(place, model),
        dtype=dtype,
        device=device,
        src_lang=src_lang,
        trg_lang=trg_lang,
        task=task,
    )


def translation_model(
    model: Any,
    tokenizer: Any,
    *,
    name: str,
    revision: str,
    dtype: str = "float32",
    device: str | None = None,
    src_lang: str | None = None,
    trg_lang: str | None = None,
    task: str = "",
) -> TranslationModel:
    """A model and tokenizer in memory as a `TranslationModel`: in evaluation mode, its languages and limits found.

    Parameters
    ----------
    task : text put before every source, as in `load_mt`.
    """
    device = hub.device(device)
    if tokenizer.eos_token_id is None:
        raise DataError(
            f"the tokenizer of {name} has no end-of-sequence token, so no sentence has a "
            "probability."
        )
    src_lang, trg_lang = _languages(tokenizer, name, src_lang, trg_lang)
    with hub.usable(name, "translation model"):
        mt = TranslationModel(
            model=model.eval().to(device),
            tokenizer=tokenizer,
            name=name,
            revision=revision,
            dtype=dtype,
            device=device,
            src_lang=src_lang,
            trg_lang=trg_lang,
            prefix=_prefix(model, tokenizer, trg_lang, name),
            task=task,
            max_tokens=hub.longest(model, tokenizer),
            never=hub.forbidden(model),
        )
        _first_pass(mt)
    return mt


def _first_pass(mt: TranslationModel) -> None:
    """A pass over an empty source, in which settings that do not fit the weights show themselves."""
    torch = need("torch", "scoring translations")
    source, before = ([list(ids)] for ids in ((mt.tokenizer.eos_token_id,), mt.prefix))
    hub.known_ids([*source, *before], mt.model.get_output_embeddings().weight.shape[0], mt.name)
    with torch.inference_mode():
        mt.model(
            input_ids=torch.tensor(source, device=mt.device),
            decoder_input_ids=torch.tensor(before, device=mt.device),
        )


def _languages(
    tokenizer: Any, name: str, src_lang: str | None, trg_lang: str | None
) -> tuple[str | None, str | None]:
    """The model's own codes; a DataError where one is missing, unknown, or asked of a model that takes none."""
    known = known_languages(tokenizer)
    if not known and hasattr(tokenizer, "tgt_lang"):
        raise DataError(
            f"the language tokens of {name} ({type(tokenizer).__name__}) are not of a kind known "
            "here."
        )
    if known:
        trg_lang = choose_language(trg_lang, known, "target language", name)
        if hasattr(tokenizer, "spm_target"):
            return None, trg_lang
        return choose_language(src_lang, known, "source language", name), trg_lang
    own = getattr(tokenizer, "source_lang", None), getattr(tokenizer, "target_lang", None)
    for what, code, language in zip(("source", "target"), (src_lang, trg_lang), own, strict=True):
        if code is not None and code != language:
            pair = f"translates {own[0]} to {own[1]}" if all(own) else "has no language tokens"
            raise DataError(
                f"{name} {pair}, so {what} language '{code}' cannot be chosen: leave it out."
            )
    return None, None


def _prefix(model: Any, tokenizer: Any, trg_lang: str | None, name: str) -> tuple[int, ...]:
    """What the decoder is given before the first word: Marian, T5: pad; M2M100, NLLB, mBART-50: </s>, language.

    mBART-25: the language alone, as its training turned "X </s> language" round; BART: </s> <s>.
    """
    language = None
    if trg_lang and not hasattr(tokenizer, "spm_target"):
        by_code = hasattr(tokenizer, "get_lang_id")
        language = (
            tokenizer.get_lang_id(trg_lang)
            if by_code
            else tokenizer.convert_tokens_to_ids(trg_lang)
        )
    if language is not None and type(tokenizer).__name__.startswith("MBartTokenizer"):
        return (language,)
    start = model.config.decoder_start_token_id
    if start is None:
        raise DataError(
            f"the configuration of {name} does not say with which token its decoder starts."
        )
    if language is not None:
        return start, language
    own = tokenizer(text_target=" ", return_attention_mask=False)["input_ids"]
    first = tokenizer.bos_token_id
    return (
        (start, first) if first is not None and own[:1] == [first] and first != start else (start,)
    )
