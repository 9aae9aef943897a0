"""MetricX-23 and MetricX-24: mT5 models whose first predicted logit is an error score from 0 to 25."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks, models
from ..errors import DataError, need
from ..metrics import Asked, Metric, signature_of
from ..models import batches, padded
from .comet import _learned_metric, _short_name, _token_budget

# the token <extra_id_10> of mT5, whose logit is the score
_SCORE_ID = 250089
_MOST = 25.0
# Google's MetricX repositories have none; all sizes of mT5 share one
_TOKENIZER = "google/mt5-xl"
_DTYPES = ("float32", "bfloat16")  # mT5 overflows in float16

# variant -> (template of the input, longest input in tokens); it reads the texts in the template's order
VARIANTS = {
    "metricx23": ("candidate: {hyp} reference: {ref}", 1024),
    "metricx23-qe": ("candidate: {hyp} source: {src}", 1024),
    "metricx24": ("source: {src} candidate: {hyp} reference: {ref}", 1536),
    "metricx24-qe": ("source: {src} candidate: {hyp}", 1536),
}


def _inputs(variant: str) -> tuple[str, ...]:
    """Texts of an input in the order of its template, of "src", "hyp" and "ref"."""
    return tuple(re.findall(r"{(\w+)}", VARIANTS[variant][0]))


@dataclass(frozen=True)
class _MetricX:
    """A loaded model with all that its signature contains.

    Parameters
    ----------
    model, tokenizer : Any
        Of transformers; the output layer of the model has only the score's row.
    variant : one of VARIANTS
    name, revision : str
        Hub id or name of the folder; hub commit, or sha256 of a local folder, 12 hex digits.
    tokenizer_name : str or None
        Name and revision of a tokenizer from the hub.
    dtype, device : str
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
        parts: dict[str, object] = {self.variant: None, "model": self.name, "rev": self.revision}
        parts["reads"] = "+".join(_inputs(self.variant))
        parts |= {"tok": self.tokenizer_name} if self.tokenizer_name else {}
        parts |= {"dtype": self.dtype, "max": VARIANTS[self.variant][1], "clip": "0-25"}
        return signature_of(parts | {"transformers": need("transformers", "MetricX").__version__})


def _load_metricx(
    name: str | Path,
    variant: str | None = None,
    *,
    device: str | None = None,
    dtype: str = "float32",
) -> _MetricX:
    """Load a MetricX model from a folder or the hub; without a tokenizer of its own, with mT5's from the hub.

    Parameters
    ----------
    name : str or Path
        E.g. "google/metricx-24-hybrid-xl-v2p6", optionally "id@revision".
    variant : str, optional
        One of VARIANTS; by default from the name ("metricx-23", "-qe-"; a hybrid model reads the reference).
    device : str, optional
        "cpu", "cuda", "cuda:1"; by default a GPU if there is one.
    dtype : {"float32", "bfloat16"}

    Raises
    ------
    UnknownName : the variant is not known, or not in the name. DataError : no mT5 with MetricX' vocabulary.
    AnhelpersError : it cannot be loaded.
    """
    place = models.find(name)
    year = re.search(r"metricx-?(23|24)(-qe\b)?", place.name.lower())
    variant = variant or (year[0].replace("metricx-", "metricx") if year else place.name)
    checks.one_of(variant, VARIANTS, "variant of MetricX")
    checks.one_of(dtype, _DTYPES, "dtype")
    config = place.load_config()
    if config.model_type != "mt5" or config.vocab_size <= _SCORE_ID:
        raise DataError(f"{place}: got {config.model_type}, expected mt5 of MetricX's size.")
    names = ("tokenizer.json", "spiece.model")
    own = place.folder is not None and any((place.folder / name).is_file() for name in names)
    pieces = place if own else models.find(_TOKENIZER)
    commit = None if own else getattr(pieces.load_config(), "_commit_hash", None)
    model = _one_logit(place.load_network("MT5ForConditionalGeneration", dtype, False))
    device = models.device(device)
    of = None if own else f"{pieces.name}@{(commit or 'unknown')[:12]}"
    both = model.eval().to(device), pieces.load_tokenizer()
    return _MetricX(*both, variant, place.name, place.revision_of(model), of, dtype, device)


def _one_logit(model: Any) -> Any:
    """The model with one output, the score's; the other 250,000 rows of the layer take memory only."""
    torch = need("torch", "MetricX")
    row = model.get_output_embeddings().weight[_SCORE_ID : _SCORE_ID + 1].detach().clone()
    head = torch.nn.Linear(row.shape[1], 1, bias=False, dtype=row.dtype)
    head.weight = torch.nn.Parameter(row)
    model.set_output_embeddings(head)
    return model


def _metricx_metric(
    name: str | Path, n_refs: int | str = 1, *, called: str | None = None, **options: Any
) -> Metric:
    """Return MetricX as a metric: predicted error points per segment, 0 to 25, lower is better.

    The input is one text, such as "source: … candidate: … reference: …" (MetricX-24), without the end-of-sequence
    token; the decoder gets the single token 0, and the score is the first logit of <extra_id_10>, clipped to [0, 25].

    Parameters
    ----------
    name : str or Path
        Folder, or hub id such as "google/metricx-24-hybrid-large-v2p6".
    n_refs : int or "var"
        References of every segment.
    called : str, optional
        Name of the Metric; by default the variant, a colon and the model's own name.
    options
        variant (of `VARIANTS`), revision (hub commit), device ("cpu", "cuda"), dtype.

    References
    ----------
    Juraska et al. 2023, 2024; github.com/google-research/metricx, metricx23/models.py and metricx24/predict.py.
    """
    metricx = _load_metricx(name, **options)
    short, read = _short_name(metricx.name), _inputs(metricx.variant)
    without = "" if "ref" in read else " without reference"
    name, label = f"{metricx.variant}:{short}", f"MetricX {short.removeprefix('metricx-')}{without}"
    limit = f"{VARIANTS[metricx.variant][1]} tokens in all"
    facts, scores = (
        (called or name, label, "points, 0 to 25", False),
        partial(_metricx_scores, metricx),
    )
    return _learned_metric(facts, metricx.signature, n_refs, read, limit, scores)


def _named(asked: Asked) -> Metric:
    """Return the MetricX of a row of the table of metrics; "metricx:MODEL" takes the variant of the model's name."""
    family = asked.name.partition(":")[0]
    how = {"variant": family if family in VARIANTS else None, **asked.options}
    return _metricx_metric(asked.model, asked.n_refs, called=asked.called, **how)


def _metricx_scores(
    metricx: _MetricX, rows: Sequence[tuple[str, ...]], tokens_per_batch: int | None = None
) -> np.ndarray:
    """Return (m, 2): the score of each tuple of texts, in the template's order; and 1 if the input was cut.

    Raises
    ------
    AnhelpersError : the model returns nan.
    """
    template, longest = VARIANTS[metricx.variant]
    out, budget = np.empty((len(rows), 2)), tokens_per_batch or _token_budget(metricx.device)
    if not len(rows):
        return out
    names = _inputs(metricx.variant)
    texts = [template.format(**dict(zip(names, row, strict=True))) for row in rows]
    # "</s>" in a text is the end of the sequence, as in Google's code
    ids = metricx.tokenizer(texts, verbose=False)["input_ids"]
    out[:, 1] = [len(one) > longest for one in ids]
    # without the end of the sequence
    ids = [one[: min(len(one), longest) - 1] for one in ids]
    with need("torch", "MetricX").inference_mode():
        for batch in batches([*map(len, ids)], budget):
            out[batch, 0] = _forward(metricx, [ids[i] for i in batch])
    return out


def _forward(metricx: _MetricX, batch: Sequence[list[int]]) -> np.ndarray:
    """The scores of inputs; nan and infinity are refused before they are clipped."""
    ids, real = padded(batch, 0, metricx.device)
    logits = metricx.model(
        input_ids=ids,
        attention_mask=real.long(),
        decoder_input_ids=ids.new_zeros((len(batch), 1)),
        use_cache=False,
    ).logits
    scores = models.finite_output(logits[:, 0, 0].float().cpu().numpy(), metricx.name)
    return np.clip(scores, 0, _MOST)
