"""A causal language model of transformers: bundled, from a folder or from the hub, and what its signature says."""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..data.catalog import bundled
from ..errors import AnhelpersError, need

__all__ = ["LanguageModel", "load_lm"]


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
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    place, revision = _place(name, revision)
    tokenizer, model = _from_pretrained(place, revision, getattr(torch, dtype))
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


def _from_pretrained(place: str, revision: str | None, dtype: Any) -> tuple[Any, Any]:
    """Tokenizer and model: from the folder or the hub's cache if there, so that no network is asked in vain."""
    transformers = need("transformers", "language-model scoring")
    hub = logging.getLogger("huggingface_hub")
    level = hub.level
    hub.setLevel(logging.ERROR)  # its retries would print a screen of tracebacks; we say it in one sentence
    try:
        for local in [True] if Path(place).is_dir() else [True, False]:
            options = {"revision": revision, "local_files_only": local}
            try:
                tokenizer = transformers.AutoTokenizer.from_pretrained(place, **options)
                return tokenizer, transformers.AutoModelForCausalLM.from_pretrained(place, dtype=dtype, **options)
            except (OSError, ValueError) as error:
                last = error
    finally:
        hub.setLevel(level)
    raise AnhelpersError(_why_not_loaded(place, revision, last)) from last


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
