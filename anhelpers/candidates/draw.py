"""K candidate translations of every source, drawn from a translation model or a language model of transformers.

The candidates of Flamich et al. 2025 (§5.1: 1024 for each source of WMT24 en-de) are samples of Gemini 1.5 Flash, a
closed model whose versions come and go. The paper gives neither the prompt nor the temperature (it refers to Appendix
F, which has none of it) and names no place where the candidates can be had: they cannot be drawn again. So the points
of its Figure 1 cannot be recomputed. With candidates of another model one gets another curve of the same kind, to
examine the paper's statements on its shape, not its values.

Samples of one source are drawn token by token: what precedes them is computed once, so there is no padding and no
mask, and finished ones leave the batch. A batch holds samples of one source and depends on nothing else; so they are
the same bit for bit, in whatever order and process they are drawn.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import checks, hub
from ..data.schema import CandidateSet
from ..errors import DataError, need
from ..naturalness.load import LanguageModel
from ..progress import progress
from ..scoring.worker import Made
from ..translation.load import TranslationModel
from .drawing import (
    MOST_TOKENS,
    Drawing,
    Numbers,
    Sampling,
    Start,
    choose,
    levels,
    load_drawer,
    numbers,
    probabilities,
    read_method,
)
from .prompts import Prompt

__all__ = [
    "Sample",
    "SourceDraws",
    "check_sources",
    "draw",
    "draw_source",
    "drawn_set",
    "made",
    "sample",
]

# of keys and values alone, so that rows can be repeated and dropped
CACHES = ("DynamicCache", "EncoderDecoderCache")
Step = Callable[[Any, Any], tuple[Any, Any]]
MOST_CANDIDATES = 10**9  # of all sources: years of drawing
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
            hub.finite_output(own[:, 0].cpu().numpy(), self.model.model, self.model.name)
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


@dataclass(frozen=True)
class SourceDraws:
    """The distinct texts among the K samples of one source, in the order in which they first came.

    Parameters
    ----------
    segment : number of the source.
    count : (n,) how often each text was drawn; the sum is K.
    logprob : (n,) log q(y | x) in nats under the whole model at temperature 1; of the tokens drawn, so that it is a
        lower bound where other tokens spell the same text; the distinct spellings drawn are added up. nan for texts
        that were only cut.
    cut : how many samples reached the limit before they ended.
    respelt : how many texts a translation model drew only as tokens other than its tokenizer makes of them, which
        `score_pairs` scores.
    several : how many it drew as the tokenizer's tokens and as others too.
    """

    segment: int
    texts: tuple[str, ...]
    count: tuple[int, ...]
    logprob: tuple[float, ...]
    cut: int
    respelt: int
    several: int


def draw(
    model: TranslationModel | LanguageModel,
    srcs: Sequence[str],
    k: int,
    *,
    method: str = "ancestral",
    temperature: float = 1.0,
    seed: int = 0,
    max_tokens: int = MOST_TOKENS,
    batch: int | None = None,
    prompt: Prompt | None = None,
) -> CandidateSet:
    """K samples of every source: its distinct texts with their multiplicities, which add up to K, and log q(y | x).

    A source's samples depend on its number, its text and the seed alone (see `draw_source`), and the first of them not
    on K: a larger k adds samples. The model's own generation settings (top-k, repetition penalty, forced tokens) are
    not used, but tokens that it never generates are never drawn. Only "ancestral" at temperature 1 gives samples of
    q(y | x) itself, of which the mean of logprob estimates the negative entropy.

    Parameters
    ----------
    srcs : N source texts, none of them blank.
    method : "ancestral", "epsilon:0.02", "top-p:0.9" or "top-k:50"; see `Sampling`.
    the others : see `Drawing`.
    max_tokens : a sample that is longer is cut there, and counted as cut.

    Returns
    -------
    CandidateSet; its notes give the signature, and how many samples were cut, blank or spelt in other tokens.

    Raises
    ------
    DataError : a blank source or one that is longer than the model takes, a parameter out of its range, a language
        model without prompt.
    """
    drawing = Drawing(model, k, read_method(method, temperature), seed, max_tokens, batch, prompt)
    check_sources(drawing, srcs)
    with progress(len(srcs), f"candidates of {model.name}", "sources") as step:
        return drawn_set(
            drawing, _counted(step, (draw_source(drawing, i, src) for i, src in enumerate(srcs)))
        )


def check_sources(drawing: Drawing, srcs: Sequence[str], path: str | None = None) -> None:
    """A DataError for the first source that cannot be drawn for: before hours of drawing, not after them."""
    if not len(checks.texts("srcs", srcs)):
        raise DataError("there are no sources.", path)
    if (asked := drawing.k * len(srcs)) > MOST_CANDIDATES:
        raise DataError(
            f"{drawing.k:,} samples of each of {len(srcs):,} sources are {asked:,} candidates; at "
            f"most {MOST_CANDIDATES:,} are drawn in one go: take fewer samples, or fewer sources.",
            path,
        )
    for i, src in enumerate(srcs):
        try:
            drawing.start(i, src)
        except DataError as error:
            raise (DataError(str(error), path, i + 1) if path else error) from None


def draw_source(drawing: Drawing, segment: int, src: str) -> SourceDraws:
    """The samples of one source, a function of the arguments alone, so that any process may draw any source.

    On one machine and with one number of threads the result is the same bit for bit. Elsewhere the model's float32
    logits may differ by about 1e-6, and one token in about a million turns (see `sampling.choose`).
    """
    samples = sample(
        drawing.model,
        drawing.start(segment, src),
        drawing.sampling,
        drawing.k,
        numbers=numbers(drawing.seed, segment, src),
        batch=drawing.batch or 1,
        ended=drawing.ended,
    )
    groups: dict[str, list[Sample]] = {}
    texts = {one.ids: drawing.text(one.ids) for one in samples}
    for one in samples:
        groups.setdefault(texts[one.ids], []).append(one)
    respelt = several = 0
    if isinstance(drawing.model, TranslationModel):
        own = hub.plain_ids(drawing.model.tokenizer, list(groups))
        spellings = [{one.ids[:-1] for one in group if one.ended} for group in groups.values()]
        as_own = [tuple(ids) in drawn for ids, drawn in zip(own, spellings, strict=True)]
        respelt = sum(
            bool(drawn) and not same for drawn, same in zip(spellings, as_own, strict=True)
        )
        several = sum(
            len(drawn) > 1 and same for drawn, same in zip(spellings, as_own, strict=True)
        )
    return SourceDraws(
        segment=segment,
        texts=tuple(groups),
        count=tuple(map(len, groups.values())),
        logprob=tuple(map(_logprob, groups.values())),
        cut=sum(not one.ended for one in samples),
        respelt=respelt,
        several=several,
    )


def made(name: str, drawing: tuple[tuple[str, Any], ...], **options: Any) -> Made:
    """What `draw_source` draws on a worker, as its recipe says.

    Parameters
    ----------
    name, options : as in `drawing.load_drawer`. drawing : fields of a `Drawing`, all but the model.
    """
    one = Drawing(load_drawer(name, **options), **dict(drawing))

    def compute(sources: list[tuple[int, str]], detail: None) -> list:
        return [draw_source(one, i, src) for i, src in sources]

    return Made(one.signature, one.model.device, compute, each=True)


def drawn_set(drawing: Drawing, draws: Iterable[SourceDraws]) -> CandidateSet:
    """The candidates of all sources as a set, with what its reader must know as notes.

    Parameters
    ----------
    draws : one per source, in any order.
    """
    draws = sorted(draws, key=lambda one: one.segment)
    segment = np.repeat([one.segment for one in draws], [len(one.texts) for one in draws])
    return CandidateSet(
        segment,
        tuple(text for one in draws for text in one.texts),
        (drawing.tag,) * len(segment),
        notes=_notes(drawing, draws),
        multiplicity=np.array([c for one in draws for c in one.count]),
        logprob=np.array([p for one in draws for p in one.logprob]),
    )


def _notes(drawing: Drawing, draws: Sequence[SourceDraws]) -> tuple[str, ...]:
    n, distinct = drawing.k * len(draws), sum(len(one.texts) for one in draws)
    blank = sum(
        c for one in draws for text, c in zip(one.texts, one.count, strict=True) if not text.strip()
    )
    limit = f"the limit of {drawing.max_tokens} tokens, or what {drawing.model.name} takes"
    said = [
        (blank, n, "samples are blank."),
        (sum(one.cut for one in draws), n, f"samples reached {limit}, and were cut there."),
        (
            sum(one.respelt for one in draws),
            distinct,
            "texts were drawn as other tokens than the tokenizer makes of "
            "them, so their log-probability is not that of score_pairs.",
        ),
        (
            sum(one.several for one in draws),
            distinct,
            "texts were drawn in several spellings, whose probabilities are "
            "added up, so their log-probability is above that of score_pairs.",
        ),
    ]
    first = (
        f"{distinct} distinct candidates in {n} samples of {len(draws)} sources: "
        f"{drawing.signature}."
    )
    return (first, *(f"{count} of {of} {what}" for count, of, what in said if count))


def _logprob(group: Sequence[Sample]) -> float:
    """log of the summed probabilities of the distinct spellings among the samples that ended; nan without any."""
    spellings = {one.ids: one.logprob for one in reversed(group) if one.ended}
    return (
        min(float(np.logaddexp.reduce(list(spellings.values()))), 0.0)
        if spellings
        else float("nan")
    )


def _counted(step: Callable[[int], None], draws: Iterator[SourceDraws]) -> Iterator[SourceDraws]:
    for one in draws:
        yield one
        step(1)
