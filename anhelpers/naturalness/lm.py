"""Log-probabilities of texts under a causal language model of transformers: Γ(y) of AN §5.1."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..data.catalog import bundled
from ..errors import AnhelpersError, DataError, need
from ..metric import Metric
from ..progress import progress

__all__ = ["LanguageModel", "TextLogProbs", "load_lm", "lpp_metric", "score_texts"]

TOKENS_PER_BATCH = {"cpu": 2048, "cuda": 16384}  # on a CPU more leaves the cache and is slower
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
    context_token : id placed once before every text and never scored (BOS, or EOS in models without BOS such as GPT-2);
        None where the model has neither: then the first token of each text is not scored.
    max_tokens : the longest input the model takes, context token included.
    language : the only language it knows, where its folder says so (facts.json); None for no restriction.
    training_lines : `lpp.line_fingerprints` of what it was trained on, where its folder has them; None: unknown.
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

    @cached_property
    def hidden_states_suffice(self) -> bool:
        """Whether the output layer on the last hidden states gives the model's own logits (not with soft-capping)."""
        torch = need("torch", "language-model scoring")
        head = self.model.get_output_embeddings()
        if head is None or self.model.base_model is self.model:
            return False
        x = torch.arange(3, 19, device=self.device)[None] % self.model.config.get_text_config().vocab_size
        with torch.inference_mode():
            own = self.model(input_ids=x, use_cache=False).logits.float()
            ours = head(self.model.base_model(input_ids=x, use_cache=False)[0]).float()
        return own.shape == ours.shape and torch.allclose(own, ours, rtol=0, atol=1e-5)

    def signature(self, eos: bool) -> str:
        """Everything that decides a score, in sacreBLEU's key:value style."""
        context = "none" if self.context_token is None else self.tokenizer.convert_ids_to_tokens(self.context_token)
        version = need("transformers", "language-model scoring").__version__
        parts = {
            "lpp": None, "model": self.name, "rev": self.revision, "dtype": self.dtype, "bos": context,
            "eos": "yes" if eos else "no", "max": self.max_tokens, "long": "windows", "transformers": version,
        }  # fmt: skip
        return "|".join(k if v is None else f"{k}:{v}" for k, v in parts.items())


@dataclass(frozen=True)
class TextLogProbs:
    """Per text: summed log-probability and the number of scored tokens; texts without a scored token are nan, never 0.

    Parameters
    ----------
    total : (n,) log Γ(y) in nats, nan for an empty text.
    tokens : (n,) number of scored tokens |y|.
    windowed : (n,) bool: longer than the model's context, so scored in half-overlapping windows.
    """

    total: np.ndarray
    tokens: np.ndarray
    windowed: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """(n,) log Γ(y) / |y| in nats per token (AN eq. 5), nan for an empty text."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.tokens > 0, self.total / self.tokens, np.nan)

    @property
    def notes(self) -> list[str]:
        """What a reader of the scores must know: how many texts were empty or longer than the model's context."""
        empty, long = int((self.tokens == 0).sum()), int(self.windowed.sum())
        said = [(empty, "without a scored token: excluded (nan)"), (long, "longer than the context: scored in windows")]
        return [f"{n} of {len(self.tokens)} texts {what}." for n, what in said if n]


def load_lm(
    name: str | Path, revision: str | None = None, device: str | None = None, dtype: str = "float32"
) -> LanguageModel:
    """A causal language model: a bundled one, a local folder, or from the hub (or its cache) by id and revision.

    Parameters
    ----------
    name : "de-tiny", a folder with a config.json, or a hub id such as "google/gemma-2-2b", optionally "id@revision".
    revision : hub commit, tag or branch; not for folders.
    device : "cpu", "cuda", "cuda:1"; None takes the GPU if there is one.
    dtype : "float32" (default), "bfloat16" or "float16".
    """
    torch = need("torch", "language-model scoring")
    transformers = need("transformers", "language-model scoring")
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    place, revision = _place(name, revision)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, revision=revision)
        model = transformers.AutoModelForCausalLM.from_pretrained(place, revision=revision, dtype=getattr(torch, dtype))
    except (OSError, ValueError) as error:
        raise AnhelpersError(_why_not_loaded(str(name), revision, error)) from error
    context = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    config = model.config.get_text_config()
    limits = (getattr(config, "max_position_embeddings", None), tokenizer.model_max_length, 4096)
    longest = min(int(limit) for limit in limits if limit and limit > 1) // 2 * 2  # even: windows overlap by half
    commit = getattr(config, "_commit_hash", None) or revision or "unknown"
    said, language, lines = str(name).partition("@")[0], None, None
    if (folder := Path(place)).is_dir():
        commit, said = _weights_hash(folder), folder.resolve().name
        facts = folder / "facts.json"
        language = json.loads(facts.read_text(encoding="utf-8")).get("language") if facts.is_file() else None
        lines = np.load(folder / "train_lines.npy") if (folder / "train_lines.npy").is_file() else None
    model = model.eval().to(device)
    return LanguageModel(model, tokenizer, said, commit[:12], dtype, device, context, longest, language, lines)


def _place(name: str | Path, revision: str | None) -> tuple[str, str | None]:
    """Where to load from: a folder as it is, else a bundled model, else hub id and revision."""
    if Path(name).is_dir():
        return str(name), revision
    tiny = bundled("teaching").parent / "lm" / Path(name).name
    if tiny.is_dir() and str(name) == tiny.name:
        return str(tiny), None
    hub_id, _, inline = str(name).partition("@")
    return hub_id, revision or inline or None


def _why_not_loaded(name: str, revision: str | None, error: Exception) -> str:
    """One sentence for the usual reasons: wrong path, gated, absent, no network, full disk."""
    text = str(error)
    at = f"{name}@{revision}" if revision else name
    if "gated" in text or "401" in text or "403" in text:
        return f"the language model {at} is gated: accept its licence at huggingface.co/{name}, then `hf auth login`."
    if "No space left" in text:
        return f"the disk is full while fetching {at}: free some space, or set HF_HOME to a larger disk, and run again."
    absent = ("not a valid model identifier", "404", "does not appear to have", "Unrecognized model", "no file named")
    if any(word in text for word in absent):
        return f"no language model at {at}: give a folder with config.json and weights, or a hub id (owner/model)."
    if "offline" in text or "connect" in text.lower() or "couldn't" in text.lower():
        return f"the language model {at} is not cached and the hub is out of reach: connect, or name a folder."
    return f"the language model {at} could not be loaded: {text.splitlines()[0][:200]}"


def _weights_hash(folder: Path) -> str:
    """sha256 over the weight and tokenizer files of a local model: its revision."""
    digest = hashlib.sha256()
    for path in sorted(
        p for p in folder.iterdir() if p.suffix in {".safetensors", ".bin", ".model"} or p.name == "tokenizer.json"
    ):
        digest.update(path.name.encode())
        with path.open("rb") as file:
            for block in iter(lambda: file.read(1 << 20), b""):
                digest.update(block)
    return digest.hexdigest()


def score_texts(
    lm: LanguageModel, texts: Sequence[str], eos: bool = False, tokens_per_batch: int | None = None
) -> TextLogProbs:
    """log Γ(y) and |y| of every text; equal texts are scored once, and a batch of 1 equals a batch of 32.

    Parameters
    ----------
    texts : n target texts; a blank one gets total nan and 0 tokens.
    eos : whether the end-of-sequence token is scored (and counted) as well.
    tokens_per_batch : padded tokens per forward pass; the default suits the device.

    Raises
    ------
    DataError where a text is not a string, or `eos` is asked of a model that has no such token.
    """
    distinct = list(dict.fromkeys(texts))
    for bad in (t for t in distinct if not isinstance(t, str)):
        raise DataError(f"text {list(texts).index(bad)} is {bad!r}, not a string.")
    if eos and lm.tokenizer.eos_token_id is None:
        raise DataError(f"{lm.name} has no end-of-sequence token; leave eos=False.")
    ids = _token_ids(lm, distinct, eos)
    windows = list(_windows(ids, lm.max_tokens))
    total, tokens, pieces = (
        np.zeros(len(distinct)),
        np.zeros(len(distinct), np.int64),
        np.zeros(len(distinct), np.int64),
    )
    with progress(sum(len(w) for _, w, _ in windows), f"log-probabilities under {lm.name}", "tokens") as step:
        for batch in _batches(windows, tokens_per_batch or TOKENS_PER_BATCH["cuda" if "cuda" in lm.device else "cpu"]):
            for (owner, window, skip), logprobs in zip(batch, _forward(lm, [w for _, w, _ in batch]), strict=True):
                total[owner] += logprobs[skip:].sum()
                tokens[owner] += len(window) - 1 - skip
                pieces[owner] += 1
                step(len(window))
    total[tokens == 0] = np.nan
    where = {text: i for i, text in enumerate(distinct)}
    back = np.array([where[t] for t in texts], dtype=np.int64)
    return TextLogProbs(total[back], tokens[back], pieces[back] > 1)


def _token_ids(lm: LanguageModel, texts: Sequence[str], eos: bool) -> list[list[int]]:
    """Context token once, the text as text (a literal "</s>" in it is no special token), EOS if asked; blank: []."""
    ids = lm.tokenizer(
        list(texts), add_special_tokens=False, split_special_tokens=True, return_attention_mask=False, verbose=False
    )["input_ids"] if len(texts) else []  # fmt: skip
    before = [] if lm.context_token is None else [lm.context_token]
    after = [lm.tokenizer.eos_token_id] if eos else []
    return [[*before, *i, *after] if text.strip() else [] for text, i in zip(texts, ids, strict=True)]


def _windows(ids: Sequence[Sequence[int]], longest: int) -> Iterator[tuple[int, Sequence[int], int]]:
    """(text, ids, predictions to skip): whole texts, or windows overlapping by half; each token is scored once."""
    half = longest // 2
    for owner, sequence in enumerate(ids):
        if len(sequence) > 1:
            yield owner, sequence[:longest], 0
        for start in range(longest - half, len(sequence) - half, half):
            yield owner, sequence[start : start + longest], half - 1


def _batches(windows: list, budget: int) -> Iterator[list]:
    """Longest first, so that padding is small and memory runs out at once or never."""
    batch: list = []
    for window in sorted(windows, key=lambda w: -len(w[1])):
        if batch and len(batch[0][1]) * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


def _forward(lm: LanguageModel, batch: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """Log-probability of every token after the first, per sequence, float64 values of a float32 log-softmax.

    Padding stands on the right and attention is causal, so no mask is needed; logits are made for real positions only.
    """
    torch = need("torch", "language-model scoring")
    lengths = [len(s) for s in batch]
    fill = 1 if lm.tokenizer.pad_token_id == 0 else 0
    x = torch.tensor([[*s, *[fill] * (lengths[0] - len(s))] for s in batch])
    real = torch.arange(lengths[0] - 1)[None] < torch.tensor(lengths)[:, None] - 1
    targets = x[:, 1:][real].to(lm.device)
    real, x = real.to(lm.device), x.to(lm.device)
    with torch.inference_mode():
        if lm.hidden_states_suffice:
            hidden = lm.model.base_model(input_ids=x, use_cache=False)[0][:, :-1][real]
            head = lm.model.get_output_embeddings()
        else:
            hidden, head = lm.model(input_ids=x, use_cache=False).logits[:, :-1][real], torch.nn.Identity()
        rows = max(64, LOGITS_PER_CHUNK // lm.model.config.get_text_config().vocab_size)
        chunks = zip(hidden.split(rows), targets.split(rows), strict=True)
        # not logsumexp: a process' first torch.exp on a large CPU tensor can be off by 1e-4 (torch 2.13, MKL)
        parts = [head(h).float().log_softmax(1).gather(1, t[:, None])[:, 0] for h, t in chunks]
        flat = torch.cat(parts).double().cpu().numpy()
    return np.split(flat, np.cumsum(np.array(lengths[:-1]) - 1))


def lpp_metric(lm: LanguageModel, eos: bool = False, trg_lang: str | None = None) -> Metric:
    """-log Γ(y)/|y| in nats per token as a metric: lower is more natural (AN §5.1); blank texts are nan.

    How many texts were blank or longer than the model's context is told on stderr. `trg_lang` is the language of the
    texts: a DataError where the model is known to know another one only.
    """
    if lm.language and trg_lang not in (None, "und", lm.language):
        raise DataError(
            f"{lm.name} knows only '{lm.language}' and the texts are '{trg_lang}'; name another language model."
        )

    def score_segments(hyps, refs=None, srcs=None, segment=None) -> np.ndarray:
        scores = score_texts(lm, hyps, eos)
        for note in scores.notes:
            print(f"note: log-perplexity under {lm.name}: {note}", file=sys.stderr)
        return -scores.mean

    return Metric(
        "lpp", f"log-perplexity under {lm.name}", "nats per token", False, (), lm.signature(eos), score_segments
    )
