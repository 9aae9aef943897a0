"""K candidate translations of every source, drawn from a translation model or a language model of transformers.

The candidates of Flamich et al. 2025 (§5.1: 1024 for each source of WMT24 en-de) are samples of Gemini 1.5 Flash, a
closed model whose versions come and go. The paper gives neither the prompt nor the temperature (it refers to Appendix
F, which has none of it) and names no place where the candidates can be had: they cannot be drawn again. So the points
of its Figure 1 cannot be recomputed. With candidates of another model one gets another curve of the same kind, to
examine the paper's statements on its shape, not its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import checks, hub
from ..data.schema import CandidateSet
from ..errors import DataError
from ..naturalness.load import LanguageModel
from ..progress import progress
from ..scoring.worker import Made
from ..translation.load import TranslationModel
from .decode import Sample, sample
from .drawing import MOST_TOKENS, Drawing, load_drawer
from .prompts import Prompt
from .sampling import numbers, read_method

__all__ = ["SourceDraws", "check_sources", "draw", "draw_source", "made", "together"]


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
        return together(
            drawing, _counted(step, (draw_source(drawing, i, src) for i, src in enumerate(srcs)))
        )


def check_sources(drawing: Drawing, srcs: Sequence[str], path: str | None = None) -> None:
    """A DataError for the first source that cannot be drawn for: before hours of drawing, not after them."""
    if not len(checks.texts("srcs", srcs)):
        raise DataError("there are no sources.", path)
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


def together(drawing: Drawing, draws: Iterable[SourceDraws]) -> CandidateSet:
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
