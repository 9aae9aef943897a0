"""Samples of one source, token by token: what precedes them is computed once, and finished ones leave the batch.

All samples of a source have what precedes them in common, so there is no padding and no mask. Batches hold samples of
one source only and depend on nothing else: that makes a source's samples the same bit for bit, in whatever order and
process it is drawn.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import hub
from ..errors import DataError, need
from ..naturalness.load import LanguageModel
from ..translation.load import TranslationModel
from .drawing import Start
from .sampling import Numbers, Sampling, choose, levels, probabilities

__all__ = ["Sample", "sample"]

# of keys and values alone, so that rows can be repeated and dropped
CACHES = ("DynamicCache", "EncoderDecoderCache")
Step = Callable[[Any, Any], tuple[Any, Any]]
PER_PART = 2**22  # probabilities at a time: 32 MiB of float64


@dataclass(frozen=True)
class Sample:
    """One sample: its tokens with the one that ended it, log q(y | x), and whether it ended.

    Parameters
    ----------
    logprob : nats, of all its tokens under the whole model at temperature 1, whatever part was drawn from.
    ended : by an end token or the stop text; otherwise the limit cut it.
    ids : tokens, the end included where it was reached.
    """

    ids: tuple[int, ...]
    logprob: float
    ended: bool


def sample(
    model: TranslationModel | LanguageModel,
    begin: Start,
    sampling: Sampling,
    k: int,
    *,
    numbers: Numbers,
    batch: int,
    ended: Callable[[Sequence[int]], bool],
) -> list[Sample]:
    """K samples of one source, `batch` at a time.

    Parameters
    ----------
    begin : the tokens of the source, or of the prompt, and the limit.
    sampling : method and temperature. k : samples.
    numbers : of the source, from `sampling.numbers`.
    ended : the tokens so far -> whether the last of them ends the sample.
    """
    torch = need("torch", "drawing candidates")
    samples = []
    with torch.inference_mode():
        sampler = _Sampler(model, _stepper(model, begin), sampling, ended)
        logits, cache = sampler.step(None, None)
        for first in range(0, k, batch):
            rows = range(first, min(first + batch, k))
            mine = copy.deepcopy(cache)
            mine.batch_repeat_interleave(len(rows))
            u = (numbers(t, rows, levels(logits.shape[1])) for t in range(begin.limit))
            samples += sampler.batch(logits, mine, u)
    return samples


@dataclass(frozen=True)
class _Sampler:
    """How the samples of one source are drawn: the model and its step, the method, and whether a sample has ended."""

    model: TranslationModel | LanguageModel
    step: Step
    sampling: Sampling
    ended: Callable[[Sequence[int]], bool]

    def batch(self, logits: Any, cache: Any, numbers: Iterator[np.ndarray]) -> list[Sample]:
        """One batch to its end: `numbers` gives (b, levels) numbers per step, and stops at the limit."""
        u = next(numbers)
        ids: list[list[int]] = [[] for _ in u]
        logprob = np.zeros(len(u))
        live, going = np.arange(len(u)), np.ones(len(u), bool)  # who is in the batch; who goes on
        while True:
            tokens, logprobs = self._next(logits, u[live])
            for i, token, value in zip(live, tokens.tolist(), logprobs, strict=True):
                if going[i]:
                    ids[i].append(token)
                    logprob[i] += value
                    going[i] = not self.ended(ids[i])
            u = next(numbers, None)
            if u is None or not going.any():
                return [
                    Sample(tuple(i), float(p), not on)
                    for i, p, on in zip(ids, logprob, going, strict=True)
                ]
            if 2 * going.sum() <= len(live):
                kept = np.flatnonzero(going[live])
                cache.batch_select_indices(tokens.new_tensor(kept, device=logits.device))
                live, tokens = live[kept], tokens[kept]
            logits, cache = self.step(tokens.to(logits.device)[:, None], cache)

    def _next(self, logits: Any, u: np.ndarray) -> tuple[Any, np.ndarray]:
        """(b,) tokens, on the CPU, and the log-probability of each under the whole model, from (b or 1, V) logits."""
        torch = need("torch", "drawing candidates")
        u = torch.as_tensor(u, device=logits.device)
        rows = max(1, PER_PART // logits.shape[1]) if len(logits) > 1 else len(u)
        tokens, values = [], []
        for part, v in zip(logits.split(rows), u.split(rows), strict=True):
            own, p = probabilities(part, self.sampling)
            # nan in one is nan in all
            hub.finite(own[:, 0].cpu().numpy(), self.model.model, self.model.name)
            tokens.append(choose(p, v))
            values.append(own.expand(len(v), -1).gather(1, tokens[-1][:, None])[:, 0].log())
        return torch.cat(tokens).cpu(), torch.cat(values).cpu().numpy()


def _stepper(model: TranslationModel | LanguageModel, begin: Start) -> Step:
    """A function ((b, 1) tokens, cache) -> ((b, V) logits, cache); (None, None) for the beginning, with one row."""
    torch = need("torch", "drawing candidates")
    given, before = {}, torch.tensor([begin.prefix], device=model.device)
    if begin.source is None:
        name = "input_ids"
        if "logits_to_keep" in inspect.signature(model.model.forward).parameters:
            given["logits_to_keep"] = 1
    else:
        name = "decoder_input_ids"
        outputs = need("transformers", "drawing candidates").modeling_outputs
        hidden = model.model.get_encoder()(
            input_ids=torch.tensor([begin.source], device=model.device)
        )[0]

    def step(tokens: Any, cache: Any) -> tuple[Any, Any]:
        tokens = before if tokens is None else tokens
        # nothing is padded, but some models warn of it where no mask says so
        if begin.source is None:
            n = tokens.shape[1] + (0 if cache is None else cache.get_seq_length())
            given["attention_mask"] = torch.ones(
                len(tokens), n, dtype=torch.long, device=model.device
            )
        else:
            given["encoder_outputs"] = outputs.BaseModelOutput(
                last_hidden_state=hidden.expand(len(tokens), -1, -1)
            )
        out = model.model(**{name: tokens}, **given, past_key_values=cache, use_cache=True)
        if type(getattr(out, "past_key_values", None)).__name__ not in CACHES:
            kind = model.model.config.model_type
            raise DataError(
                f"{model.name} ({kind}) keeps more of its past than keys and values, so it cannot "
                "be drawn from here; name another model."
            )
        logits = out.logits[:, -1]
        if model.never:
            logits[:, list(model.never)] = -torch.inf
        return logits, out.past_key_values

    return step
