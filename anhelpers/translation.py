"""Translation models as probabilities: log q_MT(t | s) of given translations under encoder-decoders of transformers.

Multilingual models have their own language codes; a plain one such as "de" is accepted if only one matches.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from . import checks, models
from .data.languages import MEMBERS, base
from .errors import DataError, need
from .metrics import signature_of
from .scoring.cache import cached, groups

_CODE = re.compile(r"[a-z]{2,3}_[A-Za-z]{2,4}")  # de_DE, en_XX, deu_Latn
# 64 MiB and 2 GiB of float32
LOGITS_PER_BATCH = {"cpu": 2**24, "cuda": 2**29}
# of log-softmax at a time: on a CPU they stay in its cache
ROWS = {"cpu": 64, "cuda": 1024}

Pair = tuple[Sequence[int], Sequence[int]]


@dataclass(frozen=True)
class TranslationModel:
    """A loaded encoder-decoder with everything that its signature reports.

    Parameters
    ----------
    model, tokenizer : of transformers, the model in evaluation mode.
    name, revision, dtype, device : as in `LanguageModel`.
    src_lang, trg_lang : str or None
        Codes of the model's own tokenizer, such as "deu_Latn"; None for a model of one pair. In Marian trg_lang is
        ">>deu<<", placed before the source.
    prefix : tuple of int
        Ids at the start of the decoder, which are not scored: its start token, then the target language's.
    task : str
        Text before every source, such as T5's "translate English to German: ".
    max_tokens : int
        The longest input of the encoder, and of the decoder.
    never : tuple of int
        Ids of tokens with probability 0 (`models.forbidden`).
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
        """Everything that decides a score, in sacreBLEU's key:value style."""
        parts = {"mt": None} | self.parts() | ({"source": "empty"} if empty_source else {})
        most = f"{self.max_tokens}/{self.max_tokens}"
        parts |= {"given": self._tokens(self.prefix), "eos": "yes", "max": most}
        parts |= {"never": self._tokens(self.never)} if self.never else {}
        parts["transformers"] = need("transformers", "scoring translations").__version__
        return signature_of(parts)

    def parts(self) -> dict[str, object]:
        """The parts of a signature that identify the model."""
        parts: dict[str, object] = {"model": self.name, "rev": self.revision, "dtype": self.dtype}
        parts |= {"src": self.src_lang} if self.src_lang else {}
        parts |= {"trg": self.trg_lang} if self.trg_lang else {}
        return parts | ({"task": repr(self.task)} if self.task else {})

    def source_ids(self, srcs: Sequence[str]) -> list[list[int]]:
        """The encoder's input: language code and task, the text, and the tokenizer's special tokens."""
        marian = hasattr(self.tokenizer, "spm_target")
        before = f"{self.trg_lang} {self.task}" if marian and self.trg_lang else self.task
        texts = [
            " " + s if marian and not before and s.startswith(">>") else before + s for s in srcs
        ]
        return models.encode(self._ready(), texts)

    def target_ids(self, trgs: Sequence[str]) -> list[list[int]]:
        """The tokens of each target and one EOS; none for a blank target."""
        ids, end = models.plain_ids(self._ready(), trgs), self.tokenizer.eos_token_id
        return [[*i, end] if t.strip() else [] for t, i in zip(trgs, ids, strict=True)]

    def target_tokens(self, trgs: Sequence[str]) -> list[tuple[str, ...]]:
        """The tokens of each target that `score_pairs` scores; none for a blank target."""
        checks.texts("trgs", trgs)
        return [tuple(self.tokenizer.convert_ids_to_tokens(ids)) for ids in self.target_ids(trgs)]

    def logprobs_of(
        self, source: list[int], before: Sequence[int], ids: Sequence[Sequence[int]]
    ) -> np.ndarray:
        """(n,) log q of targets given as tokens, for one source, in nats."""
        return _scores(self, [(source, one) for one in ids], models.budget(self.device))[:, 0]

    def _ready(self) -> Any:
        """The tokenizer set to this model's languages; it may be shared."""
        if self.trg_lang and self.src_lang:
            self.tokenizer.src_lang, self.tokenizer.tgt_lang = self.src_lang, self.trg_lang
        return self.tokenizer

    def _tokens(self, ids: tuple[int, ...]) -> str:
        return " ".join(self.tokenizer.convert_ids_to_tokens(list(ids)))


def load_mt(
    name: str | Path,
    *,
    src_lang: str | None = None,
    trg_lang: str | None = None,
    task: str = "",
    device: str | None = None,
    dtype: str = "float32",
) -> TranslationModel:
    """Load a translation model (Marian, M2M100, NLLB, T5, mT5, mBART, BART).

    Parameters
    ----------
    name, device, dtype : as in `load_lm`.
    src_lang, trg_lang : str or None
        For multilingual models: their own codes, or such as "de" where that fits one only.
    task : str
        Text before every source; T5 was trained with "translate English to German: ".

    Raises
    ------
    DataError : a language model; a language that is missing, unknown or cannot be chosen.
    AnhelpersError : the model cannot be loaded.
    """
    place, more = models.find(name), {"src_lang": src_lang, "trg_lang": trg_lang, "task": task}
    config = place.load_config()
    # the tokenizer of FSMT cannot encode targets where the two vocabularies differ
    if not config.is_encoder_decoder or config.model_type == "fsmt":
        raise DataError(f"{place}: got {config.model_type}, expected an encoder-decoder. Try T5.")
    model = place.load_network("AutoModelForSeq2SeqLM", dtype)
    how: dict[str, Any] = {"dtype": dtype, "device": device, "revision": place.revision_of(model)}
    return translation_model(model, place.load_tokenizer(), name=place.name, **how, **more)


def translation_model(
    model: Any,
    tokenizer: Any,
    *,
    name: str,
    device: str | None = None,
    src_lang: str | None = None,
    trg_lang: str | None = None,
    **others: Any,
) -> TranslationModel:
    """A `TranslationModel` of a model and tokenizer in memory; parameters as in `load_mt`."""
    device = models.device(device)
    src_lang, trg_lang = _languages(tokenizer, name, src_lang, trg_lang)
    known: dict[str, Any] = {"name": name, "dtype": "float32", "device": device, "task": ""}
    known |= {"src_lang": src_lang, "trg_lang": trg_lang, "never": models.forbidden(model)}
    known["prefix"] = _prefix(model, tokenizer, trg_lang, name)
    known["max_tokens"] = models.longest(model, tokenizer)
    return TranslationModel(model.eval().to(device), tokenizer, **(known | others))


def known_languages(tokenizer: Any) -> list[str]:
    """The language codes for which a tokenizer has a token; none for a model of one pair."""
    # Marian's separate vocabularies hide them
    if hasattr(tokenizer, "supported_language_codes"):
        return sorted(t for t in tokenizer.encoder if t.startswith(">>") and t.endswith("<<"))
    if hasattr(tokenizer, "lang_code_to_token"):  # M2M100
        return sorted(tokenizer.lang_code_to_token)
    if hasattr(tokenizer, "tgt_lang"):  # NLLB, mBART
        return sorted(t for t in tokenizer.additional_special_tokens if _CODE.fullmatch(t))
    return []


def _choose_language(code: str | None, known: Sequence[str], what: str) -> str:
    """The model's own code for a language: as given, or the only match for "de" or "deu".

    >>> _choose_language("de", ["deu_Latn", "eng_Latn"], "target language of nllb")
    'deu_Latn'
    """
    if code is not None and code in known:
        return code
    wanted = {code, *MEMBERS.get(code or "", [])}
    wanted |= {two for two, three in MEMBERS.items() if code in three}
    hits = [own for own in known if base(own.strip("<>")) in wanted]
    if len(hits) != 1:
        raise DataError(f"{what}: got {code!r}, expected one of {', '.join(hits or known)[:80]}.")
    return hits[0]


def _languages(
    tokenizer: Any, name: str, src_lang: str | None, trg_lang: str | None
) -> tuple[str | None, str | None]:
    """The model's own codes of the two languages; None where it has no token for them."""
    if known := known_languages(tokenizer):
        trg_lang = _choose_language(trg_lang, known, f"target language of {name}")
        if hasattr(tokenizer, "spm_target"):
            return None, trg_lang
        return _choose_language(src_lang, known, f"source language of {name}"), trg_lang
    own = getattr(tokenizer, "source_lang", None), getattr(tokenizer, "target_lang", None)
    for code, language in zip((src_lang, trg_lang), own, strict=True):
        if code is not None:
            _choose_language(code, [language] if language else [], f"language of {name}")
    return None, None


def _prefix(model: Any, tokenizer: Any, trg_lang: str | None, name: str) -> tuple[int, ...]:
    """The decoder's ids before the first word.

    Marian, T5: pad. M2M100, NLLB, mBART-50: </s>, language. BART: </s> <s>. mBART-25: the language alone, as its
    training moved it from the end of "X </s> language" to the start.
    """
    language = None
    if trg_lang and not hasattr(tokenizer, "spm_target"):
        by_code = getattr(tokenizer, "get_lang_id", tokenizer.convert_tokens_to_ids)
        language = by_code(trg_lang)
    alone = language is not None and type(tokenizer).__name__.startswith("MBartTokenizer")
    start = language if alone else model.config.decoder_start_token_id
    if start is None or tokenizer.eos_token_id is None:
        raise DataError(f"{name}: has no decoder_start_token_id or no end-of-sequence token.")
    if alone:
        return (start,)
    if language is not None:
        return start, language
    own = tokenizer(text_target=" ", return_attention_mask=False)["input_ids"]
    first = tokenizer.bos_token_id
    twice = first is not None and own[:1] == [first] and first != start
    return (start, first) if twice else (start,)


@dataclass(frozen=True)
class PairLogProbs:
    """Log-probabilities of pairs, and why some are nan.

    Parameters
    ----------
    total : (n,) float
        log q(t | s) in nats, over the target's tokens and one end-of-sequence token; nan for a blank target, and where
        source or target are longer than the model takes.
    tokens : (n,) int
        Target tokens, end of sequence included; 0 for a blank target.
    too_long : (n,) bool
        Source or target are longer than the model takes.
    unknown : (n,) int
        Target tokens scored as the tokenizer's unknown token.
    """

    total: np.ndarray
    tokens: np.ndarray
    too_long: np.ndarray
    unknown: np.ndarray

    @property
    def notes(self) -> list[str]:
        """How many targets are blank, too long, or have unknown tokens."""
        said = [
            (int((self.tokens == 0).sum()), "have a blank target: excluded (nan)"),
            (int(self.too_long.sum()), "are longer than the model takes: excluded (nan)"),
            (int((self.unknown > 0).sum()), "have tokens that the model does not know"),
        ]
        return [f"{n} of {len(self.tokens)} pairs {what}." for n, what in said if n]


def score_pairs(
    mt: TranslationModel,
    srcs: Sequence[str],
    trgs: Sequence[str],
    tokens_per_batch: int | None = None,
) -> PairLogProbs:
    """Log-probability of each translation given its source, the end of the sentence included.

    Equal pairs are scored once, a source with many targets is encoded once, and cached scores are reused. The size of
    a batch moves a score by at most 2e-6 nats per token.

    Parameters
    ----------
    srcs, trgs : n sources and n targets; "" is the source of a model trained without sources.
    tokens_per_batch : int or None
        Padded tokens in a forward pass; the default depends on the device.

    Raises
    ------
    DataError : different lengths, or a value that is not a text.
    AnhelpersError : the model returns nan.
    """
    checks.texts("srcs", srcs)
    checks.texts("trgs", trgs)
    checks.same_length(srcs=srcs, trgs=trgs)
    pairs, what = list(zip(srcs, trgs, strict=True)), f"log-probabilities under {mt.name}"
    compute = partial(_computed, mt, tokens_per_batch or models.budget(mt.device))
    how: dict[str, Any] = {"width": 4, "batches": groups(itemgetter(0)), "what": what}
    total, tokens, too_long, unknown = cached(mt.signature(), pairs, compute, **how).T
    return PairLogProbs(total, tokens.astype(np.int64), too_long > 0, unknown.astype(np.int64))


def _computed(mt: TranslationModel, budget: int, pairs: list[tuple[str, str]]) -> np.ndarray:
    """(m, 4) per pair: log-probability, target tokens, whether too long, unknown target tokens."""
    sources, targets = (list(dict.fromkeys(side)) for side in zip(*pairs, strict=True))
    with models.failing_as(mt.name):
        of_src = dict(zip(sources, mt.source_ids(sources), strict=True))
        of_trg = dict(zip(targets, mt.target_ids(targets), strict=True))
        return _scores(mt, [(of_src[src], of_trg[trg]) for src, trg in pairs], budget)


def _scores(mt: TranslationModel, ids: Sequence[Pair], budget: int) -> np.ndarray:
    """(m, 4) as in `_computed`, of pairs of token ids; a source is encoded once."""
    unknown, before = mt.tokenizer.unk_token_id, len(mt.prefix) - 1
    scores = np.full((len(ids), 4), np.nan)
    of_source: dict[tuple[int, ...], list[int]] = {}
    for i, (src, trg) in enumerate(ids):
        long = len(trg) > 0 and max(len(src), len(trg) + before) > mt.max_tokens
        scores[i, 1:] = len(trg), long, list(trg).count(unknown)
        if len(trg) and not long:
            of_source.setdefault(tuple(src), []).append(i)
    sources, kind = list(of_source), mt.device.split(":")[0]
    n_vocab = mt.model.get_output_embeddings().weight.shape[0]
    rows = min(budget, max(1, LOGITS_PER_BATCH.get(kind, 2**24) // n_vocab))
    for call in models.batches([*map(len, sources)], budget):
        hidden, mask = _encode(mt, [sources[k] for k in call])
        owned = [(row, i) for row, k in enumerate(call) for i in of_source[sources[k]]]
        # targets beside sources of this length
        most = max(1, budget // hidden.shape[1])
        for batch in models.batches([before + len(ids[i][1]) for _, i in owned], rows, most):
            owner, part = (list(side) for side in zip(*(owned[k] for k in batch), strict=True))
            targets = [ids[i][1] for i in part]
            scores[part, 0] = _decode(mt, hidden[owner], mask[owner], targets)
    return scores


def _encode(mt: TranslationModel, sources: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """(b, length, width) hidden states and the (b, length) mask of real positions."""
    torch = need("torch", "scoring translations")
    x, real = models.padded(sources, mt.tokenizer.pad_token_id or 0, mt.device)
    with torch.inference_mode():
        return mt.model.get_encoder()(input_ids=x, attention_mask=real.long())[0], real.long()


def _decode(
    mt: TranslationModel, hidden: Any, mask: Any, targets: Sequence[Sequence[int]]
) -> np.ndarray:
    """(b,) the log-probability of each target: float64 sums of a float32 log-softmax.

    The decoder is causal and padded on the right, so it needs no mask.
    """
    torch = need("torch", "scoring translations")
    outputs = need("transformers", "scoring translations").modeling_outputs
    source = int(mask.sum(1).max())
    y, real = models.padded(targets, mt.tokenizer.eos_token_id, mt.device)
    given = torch.tensor([mt.prefix] * len(targets), device=mt.device)
    with torch.inference_mode():
        logits = mt.model(
            encoder_outputs=outputs.BaseModelOutput(last_hidden_state=hidden[:, :source]),
            attention_mask=mask[:, :source],
            decoder_input_ids=torch.cat([given, y[:, :-1]], 1),
            use_cache=False,
        ).logits[:, len(mt.prefix) - 1 :]
        if mt.never:
            logits[..., list(mt.never)] = -torch.inf
        flat, y = logits.flatten(0, 1), y.flatten()
        each = torch.zeros(real.numel(), dtype=torch.float64, device=mt.device)
        # not logsumexp: a process' first torch.exp can be off by 1e-4 (torch 2.13, MKL)
        for k in real.flatten().nonzero()[:, 0].split(ROWS.get(mt.device.split(":")[0], 64)):
            each[k] = flat[k].float().log_softmax(1).gather(1, y[k, None])[:, 0].double()
        totals = each.view_as(real).sum(1).cpu().numpy()
    impossible = np.array([not set(mt.never).isdisjoint(one) for one in targets])
    return models.finite_output(totals, mt.name, impossible)
