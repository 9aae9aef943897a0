"""Cross-mutual information of texts under two models of transformers: q_MT and q_LM score the same sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import checks, models
from ..errors import DataError
from ..naturalness.lm import LanguageModel, TextLogProbs, lm_tokens, load_lm, score_texts
from ..translation import (
    PairLogProbs,
    TranslationModel,
    known_languages,
    score_pairs,
    target_tokens,
    translation_model,
)
from .measure import characters, per_character, xmi
from .results import Xmi, XmiPerChar
from .scores import same_tokens


@dataclass(frozen=True)
class ModelXmi:
    """What two models say of N sentence pairs.

    Parameters
    ----------
    found : `Xmi`, or `XmiPerChar`; its signatures name both models.
    mt_logprobs, lm_logprobs : (N,) log q_MT(t | s) and log q_LM(t) in nats, end of sentence included; nan: no score.
    mt_tokens, lm_tokens : (N,) numbers of scored tokens.
    notes : what a reader must know: sentences left out, unknown tokens, an encoder-decoder used without sources.
    """

    found: Xmi | XmiPerChar
    mt_logprobs: np.ndarray
    lm_logprobs: np.ndarray
    mt_tokens: np.ndarray
    lm_tokens: np.ndarray
    notes: tuple[str, ...]


def xmi_from_models(
    mt: TranslationModel,
    lm: LanguageModel | TranslationModel,
    srcs: Sequence[str],
    trgs: Sequence[str],
    *,
    docs: Sequence | None = None,
    rng: np.random.Generator,
    n_draws: int = 1000,
    per_char: bool = False,
    count: str = "all",
    tokens_per_batch: int | None = None,
) -> ModelXmi:
    """XMI(S → T) = H_LM(T) - H_MT(T | S) of sentence pairs, in bits per sentence, or per character.

    Parameters
    ----------
    lm : a causal language model, or an encoder-decoder trained without source, which is given empty sources.
    srcs, trgs : N sources and N targets; blank targets, and pairs longer than the model takes, are left out.
    docs, rng, n_draws : as in `xmi`.
    per_char : bits per character of the targets, white space at both ends aside: for two different tokenizers.
    count : as in `xmi`; not with `per_char`.

    Raises
    ------
    DataError before anything is scored: different numbers of sentences, a blank source, targets that all are copies of
        their sources, different tokens of the two models (not with `per_char`).

    References
    ----------
    Bugliarello et al. 2020, eqs. 1 to 3.
    """
    checks.same_length(srcs=srcs, trgs=trgs, **({} if docs is None else {"docs": docs}))
    _sources_there(srcs, trgs)
    told = _texts_fit(srcs, trgs)
    if not per_char:
        _tokens_agree(mt, lm, trgs)
    given = score_pairs(mt, srcs, trgs, tokens_per_batch)
    alone = _without_source(lm, trgs, tokens_per_batch)
    options: dict[str, Any] = {"docs": docs, "rng": rng, "n_draws": n_draws}
    if per_char:
        found = per_character(given.total, alone.total, characters(trgs), **options)
    else:
        n_tokens = given.tokens.tolist(), alone.tokens.tolist()
        found = xmi(given.total, alone.total, tokens=n_tokens, count=count, **options)
    found = replace(found, why=_lacking(given, alone))
    found = _signed(found, f"; {mt.signature()}; {_lm_signature(lm)}")
    notes = (*told, *_notes(given, alone, lm))
    return ModelXmi(found, given.total, alone.total, given.tokens, alone.tokens, notes)


def load_q_lm(
    name: str,
    *,
    src_lang: str | None = None,
    trg_lang: str | None = None,
    device: str | None = None,
) -> LanguageModel | TranslationModel:
    """A model for q_LM(t): a causal language model, or an encoder-decoder for use with empty sources.

    Parameters
    ----------
    name, device : as in `load_lm`. src_lang, trg_lang : for an encoder-decoder of many languages.
    """
    place = models.find(name)
    if not models.load_config(place).is_encoder_decoder:
        return load_lm(name, device=device)
    tokenizer = models.load_tokenizer(place)
    model = models.load_network(place, "AutoModelForSeq2SeqLM")
    codes: dict[str, Any] = (
        {"src_lang": src_lang, "trg_lang": trg_lang} if known_languages(tokenizer) else {}
    )
    return translation_model(
        model,
        tokenizer,
        name=place.name,
        revision=models.revision_of(place, model),
        device=device,
        **codes,
    )


def _sources_there(srcs: Sequence[str], trgs: Sequence[str]) -> None:
    """A DataError for a target whose source is blank: the lines may be shifted."""
    for i, (src, trg) in enumerate(zip(srcs, trgs, strict=True), 1):
        if isinstance(src, str) and isinstance(trg, str) and trg.strip() and not src.strip():
            raise DataError(
                f"sentence {i} has a target and a blank source; are the two texts shifted?"
            )


def _texts_fit(srcs: Sequence[str], trgs: Sequence[str]) -> tuple[str, ...]:
    """Return notes on targets that copy their sources; raise DataError where all of them do."""
    srcs, trgs = checks.texts("srcs", srcs), checks.texts("trgs", trgs)
    copies = sum(src.strip() == trg.strip() != "" for src, trg in zip(srcs, trgs, strict=True))
    n = sum(map(bool, map(str.strip, trgs)))
    if copies == n >= 2:
        raise DataError(
            f"all {n} targets are copies of their sources; give the translations as targets."
        )
    notes = [f"{copies} of {n} targets are copies of their sources."] if 2 * copies > n else []
    return tuple(notes)


def _tokens_agree(
    mt: TranslationModel, lm: LanguageModel | TranslationModel, trgs: Sequence[str]
) -> None:
    """Both models cut the targets alike; a DataError names the first that they do not."""
    ours = target_tokens(mt, trgs)
    theirs = target_tokens(lm, trgs) if isinstance(lm, TranslationModel) else lm_tokens(lm, trgs)
    same_tokens(ours, theirs, np.ones(len(trgs), bool))


def _without_source(
    lm: LanguageModel | TranslationModel, trgs: Sequence[str], tokens_per_batch: int | None
) -> PairLogProbs | TextLogProbs:
    if isinstance(lm, TranslationModel):
        return score_pairs(lm, [""] * len(trgs), trgs, tokens_per_batch)
    return score_texts(lm, trgs, eos=True, tokens_per_batch=tokens_per_batch, share_prefixes=False)


def _lm_signature(lm: LanguageModel | TranslationModel) -> str:
    return (
        lm.signature(empty_source=True)
        if isinstance(lm, TranslationModel)
        else lm.signature(eos=True)
    )


def _signed(found: Xmi | XmiPerChar, models: str) -> Xmi | XmiPerChar:
    """The same numbers, whose signatures name the models."""
    signed: dict[str, Any] = {
        b.name: replace(b, signature=b.signature + models) for b in found.bits
    }
    return replace(found, **signed)


def _lacking(given: PairLogProbs, alone: PairLogProbs | TextLogProbs) -> str:
    """Why pairs have no score, with how many of each kind; a pair counts once, for the first reason that holds."""
    blank = given.tokens == 0
    long = ~blank & np.isnan(given.total) & given.too_long
    long_lm = ~blank & ~np.isnan(given.total) & np.isnan(alone.total)
    said = [
        (blank, "blank target"),
        (long, "longer than the translation model takes"),
        (long_lm, "no score of the language model"),
    ]
    return ", ".join(f"{what} ({int(some.sum())})" for some, what in said if some.any())


def _notes(
    given: PairLogProbs, alone: PairLogProbs | TextLogProbs, lm: LanguageModel | TranslationModel
) -> tuple:
    """What the scores do not show."""
    notes = [f"mt: {note}" for note in given.notes] + [f"lm: {note}" for note in alone.notes]
    if isinstance(lm, TranslationModel):
        notes.append(
            f"{lm.name} is an encoder-decoder and is given empty sources: a language model only "
            "if it was trained so."
        )
    elif lm.language:
        notes.append(f"{lm.name} is a language model for '{lm.language}' only.")
    return tuple(notes)
