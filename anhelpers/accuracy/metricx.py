"""MetricX-23 and MetricX-24: mT5 models whose first predicted logit is an error score from 0 to 25."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks, models
from ..errors import DataError, need
from ..metrics import Asked, Metric, signature_of
from ..models import batches, padded
from .learned import Learned, learned_metric, short_name, token_budget

NOUN = "MetricX model"
SCORE_ID = 250089
"""The token <extra_id_10> of mT5, whose logit is the score."""

MOST = 25.0
TOKENIZER = "google/mt5-xl"
"""Google's MetricX repositories hold no tokenizer; the mT5 models of all sizes share one vocabulary."""

DTYPES = ("float32", "bfloat16")  # mT5 overflows in float16


@dataclass(frozen=True)
class Variant:
    """A way to write an input: its template, what it reads in the order of the template's names, its longest input."""

    template: str
    reads: tuple[str, ...]
    longest: int


VARIANTS = {
    "metricx23": Variant("candidate: {hyp} reference: {ref}", ("hyp", "ref"), 1024),
    "metricx23-qe": Variant("candidate: {hyp} source: {src}", ("hyp", "src"), 1024),
    "metricx24": Variant(
        "source: {src} candidate: {hyp} reference: {ref}", ("src", "hyp", "ref"), 1536
    ),
    "metricx24-qe": Variant("source: {src} candidate: {hyp}", ("src", "hyp"), 1536),
}


@dataclass(frozen=True)
class MetricX:
    """A loaded model with all that its signature must say.

    Parameters
    ----------
    model, tokenizer : of transformers, the model in evaluation mode, of its output layer only the score's row.
    variant : one of VARIANTS.
    name, revision : hub id or folder name; hub commit, or sha256 over a local folder, 12 hex digits.
    tokenizer_name : name and revision on the hub of a tokenizer that does not lie beside the model; else None.
    dtype, device : as in `load_metricx`.
    """

    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    variant: str
    name: str
    revision: str
    tokenizer_name: str | None
    dtype: str
    device: str

    @property
    def signature(self) -> str:
        """Everything that decides a score, in sacreBLEU's key:value style."""
        variant = VARIANTS[self.variant]
        parts: dict[str, object] = {
            self.variant: None,
            "model": self.name,
            "rev": self.revision,
            "reads": "+".join(variant.reads),
        }
        parts |= {"tok": self.tokenizer_name} if self.tokenizer_name else {}
        parts |= {
            "dtype": self.dtype,
            "max": variant.longest,
            "clip": "0-25",
            "transformers": need("transformers", "MetricX").__version__,
        }
        return signature_of(parts)


def load_metricx(
    name: str | Path,
    variant: str | None = None,
    revision: str | None = None,
    *,
    device: str | None = None,
    dtype: str = "float32",
) -> MetricX:
    """A MetricX model: a folder (with its own tokenizer, or with mT5's from the hub), or a hub id.

    Parameters
    ----------
    name : e.g. "google/metricx-24-hybrid-xl-v2p6", optionally "id@revision".
    variant : one of VARIANTS; None: what the name says ("metricx-23", "-qe-"; a hybrid model reads the reference).
    revision : hub commit, tag or branch.
    device : "cpu", "cuda", "cuda:1"; None takes the GPU if there is one.
    dtype : "float32" (default) or "bfloat16".

    Raises
    ------
    AnhelpersError in one sentence where it cannot be loaded; DataError where it is no mT5 with MetricX' vocabulary, or
    the name does not say which variant it is.
    """
    place = models.find(name, revision)
    variant = checks.one_of(variant or _variant(place), VARIANTS, "variant of MetricX")
    checks.one_of(dtype, DTYPES, "dtype")
    config = models.load_config(place)
    if config.model_type != "mt5" or config.vocab_size <= SCORE_ID:
        raise DataError(
            f"{place} is no MetricX: it is a {config.model_type} with "
            f"{getattr(config, 'vocab_size', 0):,} tokens, and MetricX is an mt5 with more than "
            f"{SCORE_ID:,}."
        )
    own = place.folder is not None and any(
        (place.folder / f).is_file() for f in ("tokenizer.json", "spiece.model")
    )
    pieces = place if own else models.find(TOKENIZER)
    commit = None if own else getattr(models.load_config(pieces), "_commit_hash", None)
    tokenizer = models.load_tokenizer(pieces)
    model = _one_logit(models.load_network(place, "MT5ForConditionalGeneration", dtype, False))
    device = models.device(device)
    return MetricX(
        model=model.eval().to(device),
        tokenizer=tokenizer,
        variant=variant,
        name=place.name,
        revision=models.revision_of(place, model),
        tokenizer_name=None if own else f"{pieces.name}@{(commit or 'unknown')[:12]}",
        dtype=dtype,
        device=device,
    )


def _one_logit(model: Any) -> Any:
    """The model with one output, the score's: the other 250,000 rows of the layer would only take memory."""
    torch = need("torch", "MetricX")
    row = model.get_output_embeddings().weight[SCORE_ID : SCORE_ID + 1].detach().clone()
    head = torch.nn.Linear(row.shape[1], 1, bias=False, dtype=row.dtype)
    head.weight = torch.nn.Parameter(row)
    model.set_output_embeddings(head)
    return model


def _variant(place: models.Place) -> str:
    """What the name says, as Google's names do."""
    year = re.search(r"metricx-?(23|24)(-qe\b)?", place.name.lower())
    if year is None:
        raise DataError(
            f"'{place.name}' does not say which MetricX it is; write metricx23:, metricx23-qe:, "
            "metricx24: or metricx24-qe: before it."
        )
    return year[0].replace("metricx-", "metricx")


def metricx_metric(
    name: str | Path, n_refs: int | str = 1, *, called: str | None = None, **options: Any
) -> Metric:
    """MetricX as a metric: predicted error points of each segment, 0 to 25, lower is better; of a system their mean.

    The input is one text, such as "source: … candidate: … reference: …" (MetricX-24); the encoder reads it without the
    end-of-sequence token, the decoder gets the single token 0, and the score is the first logit of <extra_id_10>,
    clipped to [0, 25]. Inputs beyond 1024 (23) or 1536 tokens (24) lose their end, which is counted in a note. Several
    references, which MetricX does not know: the mean of the scores with each that is not missing.

    Parameters
    ----------
    name : folder or hub id, as in `load_metricx`.
    n_refs : how many references every segment will have, or "var".
    called : name of the Metric; by default the variant, a colon and the model's own name.
    options : variant, revision, device, dtype of `load_metricx`.

    References
    ----------
    Juraska et al. 2023, 2024; github.com/google-research/metricx, metricx23/models.py and metricx24/predict.py.
    """
    metricx = load_metricx(name, **options)
    short, variant = short_name(metricx.name), VARIANTS[metricx.variant]
    learned = Learned(
        name=called or f"{metricx.variant}:{short}",
        label=f"MetricX {short.removeprefix('metricx-')}"
        + ("" if "ref" in variant.reads else " without reference"),
        unit="points, 0 to 25",
        higher_is_better=False,
        signature=metricx.signature,
        reads=variant.reads,
        limit=f"{variant.longest} tokens in all",
        score=lambda rows: metricx_scores(metricx, rows),
    )
    return learned_metric(learned, n_refs)


def named(asked: Asked) -> Metric:
    """The MetricX of a row of the table of metrics; of "metricx:MODEL" the model says which."""
    family = asked.name.partition(":")[0]
    variant = family if family in VARIANTS else None
    return metricx_metric(
        asked.model, asked.n_refs, variant=variant, called=asked.called, **asked.options
    )


def metricx_scores(
    metricx: MetricX, rows: Sequence[tuple[str, ...]], tokens_per_batch: int | None = None
) -> np.ndarray:
    """(m, 2): the score of each tuple of texts, in the order of the variant's `reads`; 1 where the input was cut.

    Parameters
    ----------
    metricx : a loaded model.

    Raises
    ------
    AnhelpersError where the model gives nan.
    """
    torch, variant = need("torch", "MetricX"), VARIANTS[metricx.variant]
    out = np.empty((len(rows), 2))
    if not len(rows):
        return out
    texts = [variant.template.format(**dict(zip(variant.reads, row, strict=True))) for row in rows]
    # a literal "</s>" in a text is one, as in Google's
    ids = metricx.tokenizer(texts, verbose=False)["input_ids"]
    out[:, 1] = [len(one) > variant.longest for one in ids]
    # the last is the end of the sequence
    ids = [one[: min(len(one), variant.longest) - 1] for one in ids]
    budget = tokens_per_batch or token_budget(metricx.device)
    with torch.inference_mode():
        for batch in batches([len(one) for one in ids], budget):
            out[batch, 0] = _forward(metricx, [ids[i] for i in batch])
    return out


def _forward(metricx: MetricX, batch: Sequence[list[int]]) -> np.ndarray:
    """The scores of inputs."""
    torch = need("torch", "MetricX")
    ids, real = padded(batch, 0, metricx.device)
    start = torch.zeros((len(batch), 1), dtype=torch.long, device=metricx.device)
    logits = metricx.model(
        input_ids=ids, attention_mask=real.long(), decoder_input_ids=start, use_cache=False
    ).logits
    score = logits[:, 0, 0].float()
    # before it is clipped: infinity would be 25 points
    models.finite_output(score.cpu().numpy(), metricx.name)
    return score.clamp(0.0, MOST).double().cpu().numpy()
