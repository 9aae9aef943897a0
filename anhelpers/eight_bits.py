"""Weights of a language model in eight bits: half the size of half precision, for models that a repository carries.

Each row of a matrix is kept as whole numbers from -127 to 127 and a factor; vectors are kept in half precision. The
file has another name than that of transformers, which refuses the folder instead of reading numbers without factors.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from .errors import need

__all__ = ["FILE", "filled", "read", "restored", "rounded", "write"]

FILE = "weights.int8.safetensors"
FACTOR = ".factor"
WHY = "a language model in eight bits"


def rounded(model: Any) -> dict[str, Any]:
    """The tensors that are stored, by name; a matrix has its factors, a number per row, beside it.

    Parameters
    ----------
    model : of torch; weights that two of its parts share are there once.
    """
    torch = need("torch", WHY)
    tensors: dict[str, Any] = {}
    for name, weights in model.named_parameters():
        weights = weights.detach().float().cpu()
        if weights.ndim < 2:
            tensors[name] = weights.half()
            continue
        factor = weights.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / 127
        tensors[name] = (weights / factor).round().to(torch.int8)
        tensors[name + FACTOR] = factor
    return tensors


def restored(tensors: dict[str, Any]) -> dict[str, Any]:
    """The weights by name, in float32, as `rounded` left them; a ValueError where numbers and factors do not pair."""
    named = [name for name in tensors if not name.endswith(FACTOR)]
    if {name + FACTOR for name in named if tensors[name].ndim > 1} != set(tensors) - set(named):
        raise ValueError("some weights have no factors, or factors no weights")
    return {name: tensors[name].float() * tensors.get(name + FACTOR, 1.0) for name in named}


def write(tensors: dict[str, Any], folder: Path) -> None:
    """Put weights that are `rounded` tensors into the folder of a model in place of those in half precision."""
    need("safetensors.torch", WHY).save_file(tensors, folder / FILE)
    exact = folder / "model.safetensors"
    shutil.copymode(exact, folder / FILE)
    exact.unlink()


def read(folder: Path) -> dict[str, Any] | None:
    """The weights of a model's folder by name, in float32; None where it has none in eight bits."""
    path = folder / FILE
    return restored(need("safetensors.torch", WHY).load_file(path)) if path.is_file() else None


def filled(
    auto: Any, config: Any, weights: dict[str, Any], dtype: Any
) -> tuple[Any, dict[str, list[str]]]:
    """A model with these weights, and what `from_pretrained` tells of its loading: which are missing, which spare.

    Parameters
    ----------
    auto : a class of transformers that makes models. config : of the model. dtype : of torch, of the weights in memory.
    """
    with need("torch", WHY).random.fork_rng(devices=[]):  # the weights of a new model are drawn
        model = auto.from_config(config).to(dtype)
    spare = model.load_state_dict(weights, strict=False).unexpected_keys
    missing = [name for name, _ in model.named_parameters() if name not in weights]
    return model, {"missing_keys": missing, "unexpected_keys": list(spare)}
