"""Cross-mutual information of texts under two models of transformers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import checks, models, translation
from ..naturalness.lm import LanguageModel, TextLogProbs, lm_tokens, load_lm, score_texts
from ..progress import note
from ..translation import TranslationModel, known_languages, score_pairs, translation_model
from .measure import Xmi, _same_tokens, characters, per_character, xmi


@dataclass(frozen=True)
class _ModelXmi:
    """XMI of N sentence pairs under two models, and their scores.

    Parameters
    ----------
    found : Xmi
        Its signatures name both models.
    mt_logprobs, lm_logprobs : (N,) array
        log q_MT(t | s) and log q_LM(t) in nats, end of sentence included; nan: no score.
    """

    found: Xmi
    mt_logprobs: np.ndarray
    lm_logprobs: np.ndarray


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
) -> _ModelXmi:
    """XMI(S → T) = H_LM(T) - H_MT(T | S) of sentence pairs, in bits per sentence or character.

    Parameters
    ----------
    lm : LanguageModel or TranslationModel
        An encoder-decoder is a language model if it was trained on empty sources.
    srcs, trgs : sequence of str
        N sources and N targets. Blank targets, and pairs longer than a model takes, are left out.
    docs, rng, n_draws, count : as in `xmi`; no count with `per_char`
    per_char : bool
        Bits per character of the targets: for two different tokenizers.

    Raises
    ------
    DataError : different numbers of sentences, or different tokens of the two models (not with
        `per_char`); before any is scored.

    References
    ----------
    Bugliarello et al. 2020, eqs. 1 to 3.
    """
    checks.same_length(srcs=srcs, trgs=trgs, docs=trgs if docs is None else docs)
    if not per_char:
        theirs = lm.target_tokens(trgs) if isinstance(lm, TranslationModel) else lm_tokens(lm, trgs)
        _same_tokens(mt.target_tokens(trgs), theirs, np.ones(len(trgs), bool))
    given = score_pairs(mt, srcs, trgs)
    alone: translation.PairLogProbs | TextLogProbs
    if isinstance(lm, TranslationModel):
        alone, signature = score_pairs(lm, [""] * len(trgs), trgs), lm.signature(empty_source=True)
    else:
        alone = score_texts(lm, trgs, eos=True, share_prefixes=False)
        signature = lm.signature(eos=True)
    for name, scores in (("mt", given), ("lm", alone)):
        for text in scores.notes:
            note(f"{name}: {text}")
    options: dict[str, Any] = {"docs": docs, "rng": rng, "n_draws": n_draws}
    if per_char:
        found = per_character(given.total, alone.total, characters(trgs), **options)
    else:
        tokens = given.tokens.tolist(), alone.tokens.tolist()
        found = xmi(given.total, alone.total, tokens=tokens, count=count, **options)
    signed: dict[str, Any] = {
        name: replace(one, signature=f"{one.signature}; {mt.signature()}; {signature}")
        for name, one in zip(("h_lm", "h_mt", "xmi"), found.bits, strict=True)
    }
    return _ModelXmi(replace(found, **signed), given.total, alone.total)


def load_q_lm(
    name: str,
    *,
    src_lang: str | None = None,
    trg_lang: str | None = None,
    device: str | None = None,
) -> LanguageModel | TranslationModel:
    """Load a model for q_LM(t): a causal model, or an encoder-decoder for empty sources.

    Parameters
    ----------
    name, device : as in `load_lm`
    src_lang, trg_lang : str, optional
        For an encoder-decoder of many languages.
    """
    place = models.find(name)
    if not place.load_config().is_encoder_decoder:
        return load_lm(name, device=device)
    tokenizer = place.load_tokenizer()
    model = place.load_network("AutoModelForSeq2SeqLM")
    how: dict[str, Any] = {"name": place.name, "revision": place.revision_of(model)}
    how |= {"src_lang": src_lang, "trg_lang": trg_lang} if known_languages(tokenizer) else {}
    return translation_model(model, tokenizer, device=device, **how)
