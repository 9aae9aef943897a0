"""Two linear heads on a language model: whether a text was written in its language, and whether it is fluent.

The best critic between texts Q of a system and texts R of the language is the likelihood ratio (AN §4.1, E.1). Here
logistic regressions on the mean hidden state of a text estimate two of them: texts written in the language against
translations into it (native), and texts against the same texts damaged by rule (fluent).
"""

import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks, models
from ..data.fetch import bundled
from ..data.io import parse_json, read_bytes
from ..data.languages import short_code
from ..errors import DataError, UnknownName, need
from ..metrics import Asked, Metric, signature_of
from ..progress import note
from ..scoring.cache import cached
from .critic import _same_signs
from .lm import _BATCHES, STORE, LanguageModel, _token_ids, load_lm

_HEADS = ("native", "fluent")


@dataclass(frozen=True)
class _Heads:
    """The heads of one language: scale · (native + fluent_weight · fluent) + shift, in NATS.

    Parameters
    ----------
    language : str
        ISO 639 code of the texts on which they were fitted.
    model, revision : str
        Of the language model, as in `load_lm`.
    layers : tuple of int
        Ascending; the hidden states after these layers are concatenated.
    weights : (2, d)
        Of the mean state of a text: native, fluent.
    intercepts : (2,)
    fluent_weight, scale, shift : float
        With scale and shift the score is calibrated: the log-odds at equal priors.
    digest : str
        12 hex digits of the sha256 of what decides a score.
    """

    language: str
    model: str
    revision: str
    layers: tuple[int, ...]
    weights: np.ndarray = field(repr=False)
    intercepts: np.ndarray
    fluent_weight: float
    scale: float
    shift: float
    digest: str

    @property
    def signature(self) -> str:
        """Everything that decides a score, in sacreBLEU's key:value style."""
        parts = {"native": None, "heads": self.language, "sha": self.digest, "model": self.model}
        return signature_of(parts | {"rev": self.revision, "dtype": "float32"})

    def score(self, heads: np.ndarray) -> np.ndarray:
        """(n,) scores of (n, 2) log-odds of both heads."""
        native, fluent = heads.T
        return self.scale * (native + self.fluent_weight * fluent) + self.shift


def load_heads(name: str | Path) -> _Heads:
    """The heads of a language such as "de", or of a file that `tools/train/heads.py` wrote.

    Raises
    ------
    DataError : no heads for this language, or a damaged file.
    """
    path = Path(name).expanduser()
    if not path.is_file():
        try:
            path = bundled(f"native/{short_code(str(name))}.json")
        except (UnknownName, DataError):
            known = ", ".join(sorted(one.stem for one in bundled("native").glob("*.json")))
            hint = "Use lpp, or native:LANGUAGE to apply other heads."
            raise DataError(f"native: got '{name}', expected a file or {known}. {hint}") from None
    facts = parse_json(read_bytes(path), path)
    try:
        weights = np.array([facts["weights"][head] for head in _HEADS], np.float64)
        intercepts = np.array([facts["intercepts"][head] for head in _HEADS], np.float64)
        weight, scale, shift = (float(facts[key]) for key in ("fluent_weight", "scale", "shift"))
        layers = tuple(sorted(map(int, facts["layers"])))
        checks.finite("heads", [*weights.ravel(), *intercepts, weight, scale, shift])
        language, model, revision = (str(facts[k]) for k in ("language", "model", "revision"))
        weights.reshape(len(_HEADS), len(layers), -1)  # raises where they do not fit
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"cannot be read as heads: {error!r:.80}.", path) from None
    rest = (weight, scale, shift)
    deciding = [layers, weights.tolist(), intercepts.tolist(), *rest]
    digest = sha256(json.dumps(deciding).encode()).hexdigest()[:12]
    return _Heads(language, model, revision, layers, weights, intercepts, *rest, digest)


def _mean_states(lm: LanguageModel, texts: Sequence[str], layers: Sequence[int]) -> np.ndarray:
    """The mean hidden state of each text after some layers, over its tokens without the context token.

    The network is cut after the last of these layers. A text longer than the window is read in consecutive windows.
    Quotes, dashes and dots have one form each, as they depend on who typed a text.

    Parameters
    ----------
    texts : n texts.
    layers : k layers, from 1.

    Returns
    -------
    (n, k · width) float32; nan for a text without a token.

    Raises
    ------
    DataError : a layer that the model does not have.
    AnhelpersError : a state is nan or infinite.
    """
    torch = need("torch", "the metric native")
    network = _cut(lm._network, max(layers))
    first = 0 if lm.context_token is None else 1
    room, windows = lm.max_tokens - first, []
    plain = [_same_signs(text) for text in checks.texts("texts", texts)]
    for owner, ids in enumerate(_token_ids(lm, plain, False)):
        for start in range(first, len(ids), room):
            windows.append((owner, [*ids[:first], *ids[start : start + room]]))
    width = lm.model.config.get_text_config().hidden_size
    total, tokens = np.zeros((len(texts), len(layers) * width)), np.zeros(len(texts))
    for batch in models.batches([len(ids) for _, ids in windows], models.budget(lm.device)):
        x, real = models.padded([windows[i][1] for i in batch], 0, lm.device)
        real[:, :first] = False
        with torch.inference_mode():
            # causal, with padding on the right: no mask is needed
            given = {"attention_mask": torch.ones_like(x), "use_cache": False}
            states = network(input_ids=x, output_hidden_states=True, **given).hidden_states
            sums = torch.cat([(states[k] * real[..., None]).sum(1) for k in layers], 1)
        owners = [windows[i][0] for i in batch]
        np.add.at(total, owners, models.finite_output(sums.double().cpu().numpy(), lm.name))
        np.add.at(tokens, owners, real.sum(1).cpu().numpy())
    with np.errstate(invalid="ignore"):
        return (total / tokens[:, None]).astype(np.float32)


def _cut(network: Any, n: int) -> Any:
    """The first n layers of a decoder, without its last normalisation; the weights are shared."""
    torch = need("torch", "the metric native")
    checks.whole("layer", n, 1, len(network.layers))
    cut = copy.copy(network)
    cut._modules = network._modules | {"layers": network.layers[:n], "norm": torch.nn.Identity()}
    return cut


@cache
def _model(name: str, revision: str) -> LanguageModel:
    """The language model of some heads, loaded once."""
    lm = load_lm(name)
    if lm.revision != revision:
        raise DataError(f"{name}: got revision {lm.revision}, expected {revision}, of the heads.")
    return lm


def _head_scores(
    heads: _Heads, texts: Sequence[str], lm: LanguageModel | None = None
) -> np.ndarray:
    """(n, 2) log-odds of both heads, native and fluent; nan for a text without a token.

    Parameters
    ----------
    texts : n texts; equal ones are scored once, and kept in the cache.
    lm : the model of the heads, if it is loaded already.
    """

    def compute(some: list[str]) -> np.ndarray:
        model = _model(heads.model, heads.revision) if lm is None else lm
        with models.failing_as(model.name):
            states = _mean_states(model, some, heads.layers)
        if (n := states.shape[1]) != (m := heads.weights.shape[1]):
            raise DataError(f"heads: got {m} weights, expected {n} for layers {heads.layers}.")
        return states.astype(np.float64) @ heads.weights.T + heads.intercepts

    texts, what = checks.texts("texts", texts), f"native under {heads.model}"
    how: dict[str, Any] = {"width": 2, "batches": _BATCHES, "bundled": bundled(STORE)}
    return cached(heads.signature, texts, compute, **how, what=what)


def native_metric(heads: _Heads, trg_lang: str | None = None) -> Metric:
    """The log-odds of both heads as a metric: nats per text, higher is more natural.

    Blank texts are nan. For texts in another language than that of the heads, a note says so; made for their language,
    the metric refuses a test set in another.

    Parameters
    ----------
    trg_lang : str or None
        Language of the texts.
    """
    if (lang := short_code(trg_lang or "und")) not in ("und", heads.language):
        note(f"native: the heads were fitted on '{heads.language}', the texts are '{lang}'.")

    def score_segments(hyps: Sequence[str], **others: Any) -> np.ndarray:
        scores = heads.score(_head_scores(heads, hyps))
        if n := int(np.isnan(scores).sum()):
            note(f"native: {n} of {len(hyps)} texts without a token: excluded (nan).")
        return scores

    label = f"log-odds of being native and fluent under {heads.model}"
    facts, lang = ("native", label, "nats per text", True), lang if lang == heads.language else None
    return Metric(*facts, (), heads.signature, score_segments, lang=lang)


def _named(asked: Asked) -> Metric:
    """The maker of `native_metric` in the table of metrics."""
    return native_metric(load_heads(asked.model or asked.lang), asked.lang)
