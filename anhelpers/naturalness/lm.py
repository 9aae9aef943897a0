"""Log-probabilities of texts under a causal language model of transformers: Γ(y) of AN §5.1."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from .. import checks, models
from ..data.fetch import bundled
from ..errors import AnhelpersError, DataError, MissingExtra, need
from ..gguf import PACKAGED, converted
from ..metrics import Asked, Metric, check_language, signature_of
from ..progress import note
from ..scoring.cache import _chunks, cached, signatures
from . import packed

DEFAULT = "gemma-3-270m"
# The bundled cache file: scores of the bundled texts under the default model and by its heads.
STORE = "scores.sqlite"
# 1024 texts between two commits of the cache; those that begin alike share prefixes
_BATCHES = partial(_chunks, size=1024)
# Logits and columns at once: 4 MiB of float32 stay in a CPU's cache, a GPU needs few large products.
_CPU_BLOCK, _GPU_BLOCK = (2**20, 2**11), (2**27, 2**20)


@dataclass(frozen=True)
class LanguageModel:
    """A loaded model with everything that its signature reports.

    Parameters
    ----------
    model, tokenizer : of transformers, the model in evaluation mode.
    name, revision : str
        Hub id or folder name; hub commit, or the first 12 hex digits of the sha256 of the local files.
    dtype : str
        Of the weights; log-softmax is always float32, sums over tokens float64.
    device : str
        "cpu" or "cuda[:i]".
    context_token : int or None
        Id placed once before every text and never scored: BOS, else the decoder's start token, else EOS. None where the
        model has none of them; then the first token of each text is not scored.
    max_tokens : int
        The longest input, context token included.
    language : str or None
        The only language it knows.
    never : tuple of int
        Ids of tokens with probability 0 (`models.forbidden`).

    Attributes
    ----------
    prefilled : the bundled score cache; the model is loaded only for scores that are not in it. A copy made with
        `dataclasses.replace` has none.
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
    never: tuple[int, ...] = ()
    prefilled: ClassVar[Path | None] = None

    def __getattr__(self, name: str) -> Any:
        """Load the model at the first access to what the bundled scores do not tell."""
        load: Callable[[], LanguageModel] | None = self.__dict__.get("load")
        if load is None or name not in self.__dataclass_fields__:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        self.__dict__.update(vars(load()) | self.__dict__)
        return self.__dict__[name]

    @property
    def ends(self) -> bool:
        """Whether it has a token that ends a text, which can be scored too."""
        return self.prefilled is not None or self.tokenizer.eos_token_id is not None

    @property
    def _network(self) -> Any:
        """The layers without the output layer, or the model itself if it has no such part."""
        base = self.model.base_model
        # transformers 4.57 does not find that of Gemma 3 by its name
        return getattr(self.model, "model", base) if base is self.model else base

    @property
    def _block(self) -> tuple[int, int]:
        return _CPU_BLOCK if self.device == "cpu" else _GPU_BLOCK

    @cached_property
    def _head_suffices(self) -> bool:
        """Whether the output layer on the last hidden states gives the logits (not with soft-capping)."""
        torch = need("torch", "language-model scoring")
        head = self.model.get_output_embeddings()
        if type(head) is not torch.nn.Linear or self._network is self.model:
            return False
        n_vocab = self.model.config.get_text_config().vocab_size
        x = torch.arange(3, 19, device=self.device)[None] % n_vocab
        with torch.inference_mode():
            own = self.model(input_ids=x, use_cache=False).logits.float()
            ours = head(self._network(input_ids=x, use_cache=False)[0]).float()
        return own.shape == ours.shape and torch.allclose(own, ours, rtol=0, atol=1e-5)

    def log_probs(
        self, inputs: Any, at: Any, targets: Any, after: np.ndarray | None = None, **given: Any
    ) -> np.ndarray:
        """Log-probabilities of tokens after places of the inputs: float64 of a float32 log-softmax.

        Parameters
        ----------
        inputs : (rows, width) token ids, on the model's device.
        at : (rows, width) bool, the places after which a token is predicted; only they get logits.
        targets : (m,) the tokens predicted, place by place.
        after : (m,) ascending, the place of each target among those of `at`; by default one target per place.
        given : further arguments of the model, such as attention_mask and position_ids.

        Raises
        ------
        AnhelpersError : a value is nan or infinite.
        """
        torch = need("torch", "language-model scoring")
        at, targets = at.to(self.device), targets.to(self.device)
        # transformers would build a mask in every call, most of a small model's time
        given = {"attention_mask": torch.ones_like(inputs), "use_cache": False} | given
        head, n_vocab = None, self.model.config.get_text_config().vocab_size
        with torch.inference_mode():
            if self._head_suffices:
                hidden = self._network(input_ids=inputs, **given)[0][at]
                head = self.model.get_output_embeddings()
            else:
                hidden = self.model(input_ids=inputs, **given).logits[at]
            after = np.arange(len(hidden)) if after is None else after
            n_logits, columns = self._block
            rows = n_logits // min(n_vocab, columns)
            bounds = np.searchsorted(after, np.arange(0, len(hidden) + rows, rows))
            places, parts = torch.from_numpy(after).to(self.device), []
            for k, (low, high) in enumerate(pairwise(bounds)):
                some, at = hidden[k * rows : (k + 1) * rows], places[low:high] - k * rows
                parts.append(self._picked(head, some, at, targets[low:high]))
            values, wanted = torch.cat(parts).double().cpu().numpy(), targets.cpu().numpy()
        return models.finite_output(values, self.name, np.isin(wanted, self.never))

    def _picked(self, head: Any, hidden: Any, rows: Any, targets: Any) -> Any:
        """Log-probabilities of tokens, each after a row of hidden states (of logits where `head` is None).

        A large vocabulary is read in blocks: their logits stay in a CPU's cache, and a float32 sum over all 262,144
        columns would be off by 5e-5 nats.
        """
        torch = need("torch", "language-model scoring")
        n, (_, columns) = len(hidden[0]) if head is None else len(head.weight), self._block

        def logits(v: int) -> Any:
            block = slice(v, v + columns)
            if head is None:
                found = hidden[:, block].float()
            else:
                bias = None if head.bias is None else head.bias[block]
                found = torch.nn.functional.linear(hidden, head.weight[block], bias).float()
            found[:, [i - v for i in self.never if 0 <= i - v < found.shape[1]]] = -np.inf
            return found

        if n <= columns:
            return logits(0).log_softmax(1)[rows, targets]
        picked, totals = torch.empty(len(rows), device=hidden.device), []
        for v in range(0, n, columns):
            found = logits(v)
            here = (v <= targets) & (targets < v + found.shape[1])
            picked[here] = found[rows[here], targets[here] - v]
            totals.append(_log_sum_exp(found))
        return picked - _log_sum_exp(torch.stack(totals, 1))[rows]

    def signature(self, eos: bool) -> str:
        """Everything that decides a score, in sacreBLEU's key:value style."""
        if self.prefilled is not None:
            end = f"|eos:{'yes' if eos else 'no'}|"
            model = f"|model:{self.name}|rev:{self.revision}|"
            mine = (one for one in signatures(self.prefilled) if model in one)
            return next(one for one in mine if one.startswith("lpp|") and end in one)
        start = self.context_token
        context = "none" if start is None else self.tokenizer.convert_ids_to_tokens(start)
        parts = {"lpp": None} | self.parts() | {"bos": context, "eos": "yes" if eos else "no"}
        parts |= {"max": self.max_tokens, "long": "windows"}
        if self.never:
            parts["never"] = " ".join(self.tokenizer.convert_ids_to_tokens(list(self.never)))
        version = need("transformers", "language-model scoring").__version__
        return signature_of(parts | {"transformers": version})

    def parts(self) -> dict[str, object]:
        """The parts of a signature that identify the model."""
        return {"model": self.name, "rev": self.revision, "dtype": self.dtype}

    def logprobs_of(
        self, source: list[int], before: Sequence[int], ids: Sequence[Sequence[int]]
    ) -> np.ndarray:
        """(n,) log-probability of tokens after the tokens `before`, in nats; `source` is empty."""
        found, n = np.empty(len(ids)), len(before)
        rows = [[*before, *one] for one in ids]
        for batch in models.batches([*map(len, rows)], models.budget(self.device)):
            scored = _forward(self, [rows[i] for i in batch])
            found[batch] = [values[n - 1 :].sum() for values in scored]
        return found


def _log_sum_exp(logits: Any) -> Any:
    """(n,) log of the sum of exp over the columns.

    Not `logsumexp`: a process' first torch.exp can be off by 1e-4 (torch 2.13, MKL).
    """
    most, at = logits.max(1, keepdim=True)
    return (most - logits.log_softmax(1).gather(1, at))[:, 0]


def load_lm(
    name: str | Path = DEFAULT, device: str | None = None, dtype: str = "float32"
) -> LanguageModel:
    """Load a causal language model: one of the package index, a local folder, or one of the hub.

    Parameters
    ----------
    name : str or Path
        "gemma-3-270m" (many languages), "smollm2-135m" (English), a folder with config.json and .safetensors, or a hub
        id such as "google/gemma-2-2b", optionally "id@revision". If the first two are not installed but in the cache of
        the hub, that is loaded; the revision of the signature tells them apart.
    device : str or None
        "cpu", "cuda", "cuda:1"; None takes the GPU if there is one.
    dtype : {"float32", "bfloat16", "float16"}

    Raises
    ------
    AnhelpersError : it cannot be loaded.
    DataError : an encoder-decoder, or a damaged file.
    MissingExtra : a model of the package index is not installed, and the hub has not sent it either.
    """
    known = None if device or dtype != "float32" else PACKAGED.get(str(name))
    if known and (known.installed or not known.on_disk):
        store = bundled(STORE)
        start = f"lpp|model:{name}|rev:{known.revision}|"
        ours = [one for one in signatures(store) if one.startswith(start)]
        if ours and _fits(ours):
            lm = object.__new__(LanguageModel)
            facts = {"name": str(name), "revision": known.revision, "dtype": dtype}
            load = partial(_installed, str(name))
            lm.__dict__.update(facts, prefilled=store, load=load, language=known.language)
            return lm
    return _loaded(name, device, dtype)


def _installed(name: str) -> LanguageModel:
    """The model of the package index, whatever the hub has."""
    converted(name)
    return _loaded(name, None, "float32")


def _fits(ours: list[str]) -> bool:
    """Whether stored scores are of the installed transformers, or none is installed."""
    with suppress(PackageNotFoundError):
        return all(f"transformers:{version('transformers')}" in one.split("|") for one in ours)
    return True


def _loaded(name: str | Path, device: str | None, dtype: str) -> LanguageModel:
    """The model; parameters as in `load_lm`."""
    known = PACKAGED.get(str(name))
    place = models.find(name)
    try:
        if place.load_config().is_encoder_decoder:
            raise DataError(f"{place}: got an encoder-decoder, expected a causal language model.")
        model = place.load_network("AutoModelForCausalLM", dtype)
    except AnhelpersError as error:
        if known and place.folder is None:
            raise MissingExtra(f"{name} is not installed. Install it: {known.remedy}") from error
        raise
    how: dict[str, Any] = {"name": place.name, "revision": place.revision_of(model), "dtype": dtype}
    how |= {"device": device, "language": known.language if known else None}
    return language_model(model, place.load_tokenizer(), **how)


def language_model(
    model: Any, tokenizer: Any, *, device: str | None = None, **others: Any
) -> LanguageModel:
    """A `LanguageModel` of a model and tokenizer in memory, with its limits.

    Parameters
    ----------
    others : name, revision and further fields of `LanguageModel`.
    """
    device = models.device(device)
    start = getattr(model.config, "decoder_start_token_id", None)
    starts = (tokenizer.bos_token_id, start, tokenizer.eos_token_id)
    known: dict[str, Any] = {"device": device, "dtype": "float32"}
    known["context_token"] = next((one for one in starts if one is not None), None)
    # even: windows overlap by half
    known["max_tokens"] = models.longest(model, tokenizer) // 2 * 2
    known["never"] = models.forbidden(model)
    return LanguageModel(model.eval().to(device), tokenizer, **(known | others))


@dataclass(frozen=True)
class TextLogProbs:
    """Summed log-probability and number of scored tokens per text.

    Parameters
    ----------
    total : (n,) float
        log Γ(y) in nats; nan, never 0, for a text without a scored token.
    tokens : (n,) int
        Scored tokens |y|.
    windowed : (n,) bool
        Longer than the model's context, so scored in half-overlapping windows.
    """

    total: np.ndarray
    tokens: np.ndarray
    windowed: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """(n,) log Γ(y) / |y| in nats per token (AN eq. 5)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.tokens > 0, self.total / self.tokens, np.nan)

    @property
    def notes(self) -> list[str]:
        """How many texts are empty or longer than the model's context."""
        said = [
            (int((self.tokens == 0).sum()), "without a scored token: excluded (nan)"),
            (int(self.windowed.sum()), "longer than the context: scored in windows"),
        ]
        return [f"{n} of {len(self.tokens)} texts {what}." for n, what in said if n]


def score_texts(
    lm: LanguageModel,
    texts: Sequence[str],
    eos: bool = False,
    tokens_per_batch: int | None = None,
    *,
    share_prefixes: bool | None = None,
) -> TextLogProbs:
    """Log-probability log Γ(y) and number of tokens |y| of every text.

    Equal texts are scored once, cached scores are reused, and of texts that begin alike each distinct prefix is read
    once (`packed`). The other texts in a batch move a score by up to 3e-6 nats per token.

    Parameters
    ----------
    texts : n target texts; a blank one gets total nan and 0 tokens.
    eos : bool
        Whether the end-of-sequence token is scored and counted as well.
    tokens_per_batch : int or None
        Padded tokens in a forward pass; by default what suits the device.
    share_prefixes : bool or None
        None shares where it pays, True wherever possible, False never.

    Raises
    ------
    DataError : a value that is not a text, or `eos` for a model without such a token.
    AnhelpersError : the model returns nan.
    """
    _check(lm, texts, eos)
    compute = partial(_computed, lm, eos, tokens_per_batch, share_prefixes)
    how: dict[str, Any] = {"width": 3, "batches": _BATCHES, "bundled": lm.prefilled}
    how["what"] = f"log-probabilities under {lm.name}"
    rows = cached(lm.signature(eos), texts, compute, **how)
    return TextLogProbs(rows[:, 0], rows[:, 1].astype(np.int64), rows[:, 2] > 0)


def _computed(
    lm: LanguageModel, eos: bool, budget: int | None, share: bool | None, texts: list[str]
) -> np.ndarray:
    """(m, 3) per text: log-probability, scored tokens, whether in windows."""
    budget = budget or models.budget(lm.device)
    found = np.empty((len(texts), 3))
    with models.failing_as(lm.name):
        ids = _token_ids(lm, texts, eos)
        alone = set(range(len(ids)))
        for rows in packed._packs(lm, ids, budget, share):
            pack = [i for row in rows for i in row]
            scored = packed._forward(lm, [[ids[i] for i in row] for row in rows])
            found[pack] = [(one.sum(), len(one), 0) for one in scored]
            alone.difference_update(pack)
        rest = sorted(alone)
        found[rest] = _scores(lm, [ids[i] for i in rest], budget)
    return found


def _check(lm: LanguageModel, texts: Sequence[str], eos: bool) -> None:
    checks.texts("texts", texts)
    if eos and not lm.ends:
        raise DataError(f"eos: {lm.name} has no end-of-sequence token.")


def _scores(lm: LanguageModel, ids: Sequence[Sequence[int]], budget: int) -> np.ndarray:
    """(m, 3) for the texts of a batch: log-probability, scored tokens, whether in windows."""
    total, tokens, windows = np.zeros((3, len(ids)))
    parts = list(_windows(ids, lm.max_tokens))
    for rows in models.batches([len(window) for _, window, _ in parts], budget):
        scored = _forward(lm, [parts[row][1] for row in rows])
        for row, logprobs in zip(rows, scored, strict=True):
            owner, window, skip = parts[row]
            total[owner] += logprobs[skip:].sum()
            tokens[owner] += len(window) - 1 - skip
            windows[owner] += 1
    total[tokens == 0] = np.nan
    return np.stack([total, tokens, windows > 1], 1)


def lm_tokens(lm: LanguageModel, texts: Sequence[str], eos: bool = True) -> list[tuple[str, ...]]:
    """The tokens of each text that `score_texts` scores; none for a blank text."""
    _check(lm, texts, eos)
    ids = _token_ids(lm, texts, eos)
    return [tuple(lm.tokenizer.convert_ids_to_tokens(one[1:])) for one in ids]


def _token_ids(lm: LanguageModel, texts: Sequence[str], eos: bool) -> list[list[int]]:
    """Context token, the text, EOS if scored; a literal "</s>" is text; none for a blank text."""
    ids = models.plain_ids(lm.tokenizer, texts)
    before = [] if lm.context_token is None else [lm.context_token]
    after = [lm.tokenizer.eos_token_id] if eos else []
    return [
        [*before, *i, *after] if text.strip() else [] for text, i in zip(texts, ids, strict=True)
    ]


def _windows(
    ids: Sequence[Sequence[int]], longest: int
) -> Iterator[tuple[int, Sequence[int], int]]:
    """(text, ids, predictions to skip): whole texts, or windows overlapping by half."""
    half = longest // 2
    for owner, sequence in enumerate(ids):
        if len(sequence) > 1:
            yield owner, sequence[:longest], 0
        for start in range(longest - half, len(sequence) - half, half):
            yield owner, sequence[start : start + longest], half - 1


def _forward(lm: LanguageModel, batch: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """Log-probability of every token after the first, per sequence.

    Attention is causal and padding is on the right, so no mask is needed.
    """
    # some models hide their pad token themselves
    fill = 1 if lm.tokenizer.pad_token_id == 0 else 0
    x, real = models.padded(batch, fill, lm.device)
    flat = lm.log_probs(x[:, :-1], real[:, 1:], x[:, 1:][real[:, 1:]])
    return np.split(flat, np.cumsum([len(one) - 1 for one in batch[:-1]]))


def _bits_per_byte_metric(lm: LanguageModel, trg_lang: str | None = None) -> Metric:
    """-log2 Γ(y) over the bytes of y in UTF-8, end of text included: lower is more natural.

    Comparable between models of different tokens. A corpus has all its bits over all its bytes; blank texts are nan.
    `trg_lang` as in `lpp_metric`.
    """
    eos = lm.ends
    signature = f"bpb|{lpp_metric(lm, eos, trg_lang).signature.removeprefix('lpp|')}"

    def count(hyps: Sequence[str], refs: Any = None, segment: Any = None) -> np.ndarray:
        bits = -score_texts(lm, hyps, eos).total / np.log(2)
        sizes = np.array([len(text.encode("utf-8", "surrogatepass")) for text in hyps], float)
        return np.where(np.isnan(bits)[:, None], 0.0, np.stack([bits, sizes], 1))

    def score_count(counts: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return counts[..., 0] / counts[..., 1]

    facts = "bpb", f"bits per byte under {lm.name}", "bits per byte of UTF-8", False, (), signature
    return Metric(
        *facts,
        lambda hyps, refs=None, srcs=None, segment=None: score_count(count(hyps)),
        lambda hyps, refs=None, srcs=None: float(score_count(count(hyps).sum(0))),
        count=count,
        score_count=score_count,
        skips_blank=True,
        bounds=(0.0, np.inf),
        lang=lm.language,
    )


def lpp_metric(lm: LanguageModel, eos: bool = False, trg_lang: str | None = None) -> Metric:
    """-log Γ(y)/|y| in nats per token as a metric: lower is more natural (AN §5.1).

    Blank texts are nan; their number, and that of texts scored in windows, is noted on stderr.

    Parameters
    ----------
    trg_lang : str or None
        Language of the texts; a DataError if the model is for a different one only.
    """
    check_language(trg_lang, lm.language, lm.name)

    def score_segments(hyps: Sequence[str], **others: Any) -> np.ndarray:
        scores = score_texts(lm, hyps, eos)
        for sentence in scores.notes:
            note(f"log-perplexity under {lm.name}: {sentence}")
        return -scores.mean

    facts = "lpp", f"log-perplexity under {lm.name}", "nats per token", False, (), lm.signature(eos)
    return Metric(*facts, score_segments, bounds=(0.0, np.inf), lang=lm.language)


def _named_lpp(asked: Asked) -> Metric:
    """The maker of `lpp_metric` in the table of metrics."""
    return lpp_metric(asked.lm, trg_lang=asked.lang)


def _named_bpb(asked: Asked) -> Metric:
    """The maker of `_bits_per_byte_metric` in the table of metrics."""
    return _bits_per_byte_metric(asked.lm, asked.lang)
