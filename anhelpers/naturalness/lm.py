"""Log-probabilities of texts under a causal language model of transformers: Γ(y) of AN §5.1."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import DataError, need
from ..metric import Metric
from ..progress import progress
from .load import LanguageModel, load_lm

__all__ = ["LanguageModel", "TextLogProbs", "load_lm", "lpp_metric", "score_texts"]

TOKENS_PER_BATCH = {"cpu": 2048, "cuda": 16384}  # on a CPU more leaves the cache and is slower
LOGITS_PER_CHUNK = 2**20  # 4 MiB of float32 logits at a time stay in a CPU's cache


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
