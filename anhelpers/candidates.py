"""Candidate translations: sampled from a model of transformers, and their MBR utility.

The candidates of Flamich et al. 2025 (Gemini 1.5 Flash, 1,024 per source of WMT24 en-de) cannot be sampled again: the
model has changed, and the paper gives neither prompt nor temperature. Candidates of a different model give a
different curve of the same kind.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from . import checks
from .data.io import parse_json
from .data.languages import NAMES, base
from .data.schema import CandidateSet
from .errors import DataError, need
from .metrics import Metric, signature_of
from .models import failing_as, plain_ids
from .naturalness.lm import LanguageModel
from .progress import progress
from .translation import TranslationModel

# How tokens are drawn, and the parameter of transformers: Holtzman et al. 2020, Hewitt et al. 2022.
METHODS = {"ancestral": "", "epsilon": "epsilon_cutoff", "top-p": "top_p", "top-k": "top_k"}
PLAIN = "{src_lang}: {src}\n{trg_lang}:"
CHAT = (
    "Translate the following text from {src_lang} into {trg_lang}. Give the translation "
    "only.\n\n{src}"
)
STOP = "\n"  # ends an answer of a language model
BATCH = {"cpu": 64, "cuda": 256}  # samples at a time


@dataclass(frozen=True)
class Sampler:
    """A model with all settings of sampling.

    Parameters
    ----------
    model : TranslationModel or LanguageModel
    k : int
        Samples per source.
    method : str
        "ancestral", "epsilon:0.02", "top-p:0.9" or "top-k:50", after the temperature.
    temperature : float
        Above 0; probabilities are proportional to the model's to the power 1 / temperature.
    seed : int
        Each source has its own random state, derived from this seed and its index.
    max_tokens : int
        Longer samples are truncated.
    template : str
        Prompt of a language model with {src}, {src_lang}, {trg_lang}; "": `CHAT` or `PLAIN`.
    lp : str
        Languages in the prompt, such as "en-de".
    """

    model: Any = field(repr=False)
    k: int = 16
    method: str = "ancestral"
    temperature: float = 1.0
    seed: int = 0
    max_tokens: int = 512
    template: str = ""
    lp: str = ""

    def __post_init__(self) -> None:
        for name in ("k", "max_tokens"):
            checks.whole(name, getattr(self, name))
        checks.whole("seed", self.seed, 0, checks.LARGEST_SEED)
        _ = self.options
        if isinstance(self.model, LanguageModel):
            if not self.template:
                chat = getattr(self.model.tokenizer, "chat_template", None)
                object.__setattr__(self, "template", CHAT if chat else PLAIN)
            if "{src}" not in self.template:
                raise DataError("template: got no {src}, so the model would not see the source.")

    @cached_property
    def options(self) -> dict[str, float]:
        """The arguments of transformers' `generate` for the method."""
        name, _, given = self.method.partition(":")
        key = METHODS[checks.one_of(name, METHODS, "method")]
        plain = {"top_k": 0, "top_p": 1.0, "temperature": float(self.temperature)}
        if not key:
            return plain
        try:
            value = int(given) if key == "top_k" else float(given)
        except ValueError:
            value = 0
        if not 0 < value < (np.inf if key == "top_k" else 1):
            raise DataError(f"method: got '{self.method}', expected top-k:50, top-p:0.9, …")
        return plain | {key: value}

    @property
    def tag(self) -> str:
        """The label of the candidates: model, method and temperature."""
        warm = "" if self.temperature == 1 else f" t:{self.temperature:g}"
        return f"{self.model.name} {self.method}{warm}"

    @cached_property
    def signature(self) -> str:
        """Everything that decides the candidates, in sacreBLEU's key:value style."""
        parts: dict[str, object] = {"draw": None} | self.model.parts()
        if isinstance(self.model, LanguageModel):
            parts |= {"template": repr(self.template), "lp": self.lp}
        parts |= {"method": self.method, "temperature": f"{self.temperature:g}", "k": self.k}
        parts |= {"seed": self.seed, "max": self.max_tokens}
        version = need("transformers", "drawing candidates").__version__
        return signature_of(parts | {"transformers": version})

    def start(self, i: int, src: str) -> tuple[list[int], list[int], int]:
        """Encoder ids ([] for a language model), decoder ids and the most new tokens for a source."""
        model = self.model
        if isinstance(model, LanguageModel):
            ids, before = [], _prompt(model, self.template, self.lp, src)
        else:
            ids, before = model.source_ids([src])[0], list(model.prefix)
        room = model.max_tokens - len(before) + 1
        if not src.strip() or len(ids) > model.max_tokens or room < 2:
            seen = f"{len(ids) or len(before)} tokens" if src.strip() else "a blank text"
            raise DataError(f"source {i}: got {seen}, expected 1 to {model.max_tokens} tokens.")
        return ids, before, min(room, self.max_tokens)


def language_name(code_or_name: str) -> str:
    """The English name of a language code; a name with a capital letter is returned unchanged.

    >>> language_name("de"), language_name("Low German")
    ('German', 'Low German')
    """
    if code_or_name[:1].isupper():
        return code_or_name
    return NAMES[checks.one_of(base(code_or_name), NAMES, "language")]


def _prompt(lm: LanguageModel, template: str, lp: str, src: str) -> list[int]:
    """The tokens before the answer; braces and special tokens in the source are text."""
    text = template
    for name, code in zip(("{src_lang}", "{trg_lang}"), (lp + "-").split("-"), strict=False):
        if name in template:
            text = text.replace(name, language_name(code))
    text = text.replace("{src}", src)
    if not getattr(lm.tokenizer, "chat_template", None):
        before = [] if lm.context_token is None else [lm.context_token]
        return before + plain_ids(lm.tokenizer, [text])[0]
    if special := [token for token in lm.tokenizer.all_special_tokens if token in src]:
        raise DataError(f"source: got the special token {special[0]!r} of {lm.name}. Remove it.")
    turn = [{"role": "user", "content": text}]
    return lm.tokenizer.apply_chat_template(turn, add_generation_prompt=True, return_dict=False)


def generate(
    sampler: Sampler, srcs: Sequence[str], output: str | PathLike | None = None
) -> CandidateSet:
    """Draw K samples of every source; return distinct texts with multiplicities and log q(y | x).

    Samples of a source depend on its index, its text and the sampler alone. The model's own generation settings are
    ignored, except for tokens that it never generates. Only "ancestral" at temperature 1 samples q(y | x) itself.

    Parameters
    ----------
    srcs : N source texts, none blank.
    output : path or None
        A .jsonl file to which every finished source is appended; an interrupted run resumes from it.

    Returns
    -------
    CandidateSet
        Its logprob is in nats, under the whole model at temperature 1, summed over the spellings of a text that were
        drawn; nan for a text that was only cut.

    Raises
    ------
    DataError : a blank or too long source, or a file with candidates of other sources or options.
    """
    starts = [sampler.start(i, src) for i, src in enumerate(checks.texts("srcs", srcs))]
    records = [] if output is None else _finished(Path(output), sampler.signature, srcs)
    with progress(len(srcs), f"candidates of {sampler.model.name}", "sources") as step:
        step(len(records))
        for i in range(len(records), len(srcs)):
            record = {"segment": i, "src": srcs[i], **_drawn(sampler, i, *starts[i])}
            records.append(record | {"signature": sampler.signature})
            if output is not None:
                with Path(output).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(records[-1], ensure_ascii=False) + "\n")
            step(1)
    rows = [(one["segment"], c) for one in records for c in one["candidates"]]
    blank = sum(c["count"] for _, c in rows if not c["text"].strip())
    found = [(sum(one["cut"] for one in records), "were cut"), (blank, "are blank")]
    n = sampler.k * len(srcs)
    return CandidateSet(
        np.array([i for i, _ in rows]),
        tuple(c["text"] for _, c in rows),
        tuple(c["tag"] for _, c in rows),
        notes=tuple(f"{count} of {n} samples {what}." for count, what in found if count),
        multiplicity=np.array([c["count"] for _, c in rows]),
        logprob=np.array([c.get("logprob", np.nan) for _, c in rows]),
    )


def _finished(path: Path, signature: str, srcs: Sequence[str]) -> list[dict]:
    """The records in the file, whose line i belongs to source i; a torn last line is removed."""
    data = path.read_bytes() if path.is_file() else b""
    whole = data[: data.rfind(b"\n") + 1]
    try:
        records = [parse_json(line, path, i) for i, line in enumerate(whole.splitlines(), 1)]
        of = [(one["signature"], one["src"]) for one in records]
    except (DataError, KeyError):
        of, records = [("", "")], []
    if of != [(signature, src) for src in srcs[: len(of)]]:
        raise DataError("contains candidates of other sources or options. Use a new file.", path)
    if len(whole) < len(data):
        os.truncate(path, len(whole))
    return records


def _drawn(sampler: Sampler, i: int, source: list[int], before: list[int], most: int) -> dict:
    """The distinct texts of a source's samples in order of appearance, and how many were cut."""
    model, asked = sampler.model, isinstance(sampler.model, LanguageModel)
    tokenizer = model.tokenizer
    ends = _ends(model)
    samples: Counter[tuple[str, tuple[int, ...], bool]] = Counter()
    for row in _rows(sampler, i, source, before, most):
        n = next((k for k, token in enumerate(row) if token in ends), len(row))
        text = tokenizer.decode(row[:n], skip_special_tokens=True)
        stopped = asked and STOP in text
        ids = row[:n] if stopped else row[: n + 1]
        text = text.split(STOP)[0].strip() if asked else text
        samples[text, tuple(ids), stopped or n < len(row)] += 1
    ended = [(text, ids) for text, ids, whole in samples if whole]
    logprobs = model.logprobs_of(source, before, [ids for _, ids in ended]) if ended else []
    total: dict[str, float] = {}
    for (text, _), logprob in zip(ended, logprobs, strict=True):
        total[text] = float(np.logaddexp(total.get(text, -np.inf), logprob))
    counts: Counter[str] = Counter()
    for (text, _, _), count in samples.items():
        counts[text] += count
    candidates = [
        {"text": text, "tag": sampler.tag, "count": count}
        | ({"logprob": min(total[text], 0.0)} if text in total else {})
        for text, count in counts.items()
    ]
    cut = sum(count for (_, _, whole), count in samples.items() if not whole)
    return {"candidates": candidates, "cut": cut}


def _ends(model: TranslationModel | LanguageModel) -> list[int]:
    """The tokens that end a text; those of a language model's settings are included."""
    more: Any = ()
    if isinstance(model, LanguageModel):
        more = (getattr(model.model, "generation_config", None) or model.model.config).eos_token_id
    more = more if isinstance(more, (list, tuple)) else [more]
    return sorted({model.tokenizer.eos_token_id, *more} - {None})


def _rows(
    sampler: Sampler, i: int, source: list[int], before: list[int], most: int
) -> Iterator[list[int]]:
    """The new tokens of each sample of a source, padded after its end."""
    torch, transformers = (need(name, "drawing candidates") for name in ("torch", "transformers"))
    model, ends = sampler.model, _ends(sampler.model)
    settings = transformers.GenerationConfig(
        do_sample=True,
        max_new_tokens=most,
        bad_words_ids=[[token] for token in model.never] or None,
        eos_token_id=ends or None,
        pad_token_id=ends[0] if ends else 0,
        decoder_start_token_id=before[0] if before else None,
        stop_strings=None if source else [STOP],
        **sampler.options,
    )
    prefix = torch.tensor([before], device=model.device)
    given: dict[str, Any] = {"input_ids": prefix, "tokenizer": model.tokenizer}
    if source:
        given = {"input_ids": torch.tensor([source], device=model.device)}
        given["decoder_input_ids"] = prefix
    given["attention_mask"] = torch.ones_like(given["input_ids"])
    given |= {"generation_config": settings, "use_model_defaults": False}
    seed = int(np.random.SeedSequence([sampler.seed, i]).generate_state(1, np.uint64)[0])
    batch = BATCH.get(model.device.split(":")[0], 64)
    with torch.random.fork_rng(), torch.inference_mode(), failing_as(model.name):
        torch.manual_seed(seed % 2**63)
        for first in range(0, sampler.k, batch):
            settings.num_return_sequences = min(batch, sampler.k - first)
            yield from model.model.generate(**given)[:, len(before) :].tolist()


def mbr_utility(
    metric: Metric, cands: CandidateSet, srcs: Sequence[str] | None = None
) -> np.ndarray:
    """Mean score of a candidate against each other candidate of its source.

    Minimum Bayes risk decoding maximises it without a reference. A text that occurs c times among n candidates counts
    c times, less once for itself. The work grows with the square of the distinct candidates.

    Parameters
    ----------
    metric : Metric
        For one reference per segment, e.g. `an.metric("chrf", "de")`; either direction.
    cands : CandidateSet
        At least two candidates for every source.
    srcs : N sources, if the metric needs them.

    Returns
    -------
    (n,) utilities in the unit of the metric, higher is better; nan where the metric gives no score.

    Raises
    ------
    DataError : a source with one candidate, a metric without references or segment scores, missing sources.

    References
    ----------
    Eikema and Aziz 2020.

    >>> from .accuracy.surface import surface_metric
    >>> cands = CandidateSet(np.zeros(3, int), ("abc", "abc", "xyz"))
    >>> mbr_utility(surface_metric("chrf"), cands)
    array([50., 50.,  0.])
    """
    if "refs" not in metric.needs or metric.score_segments is None:
        raise DataError(f"metric: got {metric.name}, expected segment scores against a reference.")
    if "srcs" in metric.needs:
        checks.same_length(sources=() if srcs is None else srcs, candidates=cands.n_candidates)
    if (alone := np.flatnonzero(np.bincount(cands.segment, cands.multiplicity) == 1)).size:
        raise DataError(f"source {alone[0]}: got one candidate, expected two. Leave it out.")
    found = np.empty(len(cands))
    ends = np.cumsum([0, *cands.n_candidates])
    for s, (start, end) in enumerate(pairwise(ends)):
        copies: Counter[str] = Counter()
        own = cands.texts[start:end]
        for text, times in zip(own, cands.multiplicity[start:end].tolist(), strict=True):
            copies[text] += times
        texts, m = list(copies), len(copies)
        beside: Any = {"refs": [texts], "srcs": None if srcs is None else [srcs[s]] * m}
        scores = metric.score_segments(texts * m, segment=np.repeat(np.arange(m), m), **beside)
        # (pseudo-reference, hypothesis)
        table = metric.oriented(scores).reshape(m, m)
        total = np.array(list(copies.values())) @ table - np.diagonal(table)
        utility = dict(zip(texts, total / (copies.total() - 1), strict=True))
        found[start:end] = [utility[text] for text in own]
    return found
