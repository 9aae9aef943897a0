"""What runs on the workers of a cluster: a model is made once per process from its recipe, then given texts."""

from __future__ import annotations

import functools
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .. import checks, hub
from ..errors import AnhelpersError

__all__ = ["Failed", "Recipe", "answer", "loaded_recipe", "recipe"]

MODELS = 2
"""Kept in a process; a run uses one after the other."""


@dataclass(frozen=True)
class Recipe:
    """How any process makes the same model: a maker of MAKERS and its options; hashable, and small to send.

    Parameters
    ----------
    device : such as "cuda:1", of the model in the process that asks. On workers with another kind of device, a chunk is
        scored in batches of the worker's own size.
    """

    maker: str
    options: tuple[tuple[str, Any], ...]
    device: str

    def here(self) -> Recipe:
        """The same for workers on this machine: they take the device of the process that asks."""
        return replace(self, options=tuple(sorted({**dict(self.options), "device": self.device}.items())))


class Made(NamedTuple):
    """A model on a worker: the signature of what it computes, its device, and the function (inputs, detail or None)."""

    signature: str
    device: str
    compute: Callable[..., Any]


@dataclass(frozen=True)
class Failed:
    """A sentence instead of a result: exceptions of foreign libraries cannot always be sent."""

    sentence: str


def recipe(maker: str, here: str, /, **options: Any) -> Recipe:
    """The recipe of a model that is on the device `here`; a `name` that is a file or folder becomes its whole path.

    Parameters
    ----------
    maker : name of the function here that makes it.
    """
    if (name := options.get("name")) is not None:
        path = checks.local_path(name)
        options["name"] = str(path.absolute()) if path.exists() else str(name)
    return Recipe(maker, tuple(sorted(options.items())), here)


def loaded_recipe(maker: str, loaded: Any, **options: Any) -> Recipe | None:
    """The recipe of a model of `load_lm` or `load_mt`; None for a model that was made in this process.

    Parameters
    ----------
    maker : name of the function here that makes it. loaded : the model.
    """
    from .memo import IN_MEMORY

    name, commit = getattr(loaded.model, "name_or_path", ""), getattr(loaded.model.config, "_commit_hash", None)
    if loaded.revision == IN_MEMORY or not name:
        return None
    commit = None if hub.find(name).folder else commit  # transformers reads one from a folder of the hub's cache too
    return recipe(maker, loaded.device, name=name, revision=commit, dtype=loaded.dtype, **options)


def answer(made_from: Recipe, signature: str, calls: Sequence[tuple[list, Any]]) -> list | Failed:
    """The result of every call (inputs, detail) of a chunk, or a sentence where one fails.

    Parameters
    ----------
    made_from : by which the model is loaded. calls : of the chunk.
    """
    host = f"worker on {socket.gethostname()}"
    os.environ["ANHELPERS_STORE"] = "off"  # the client keeps what comes back
    try:
        made = _made(made_from)
        if made.signature != signature:
            return Failed(f"a {host} has another model or other versions of the libraries: its scores would be of "
                          f"{made.signature}, and here they are of {signature}; install the same there.")  # fmt: skip
        if made.device == hub.kind(made_from.device) or made_from.maker == "drawer":
            return [made.compute(*call) for call in calls]
        values = made.compute([one for inputs, _ in calls for one in inputs], None)
        return np.split(values, np.cumsum([len(inputs) for inputs, _ in calls])[:-1])
    except AnhelpersError as error:
        return Failed(f"a {host} failed: {error}")
    except Exception as error:  # whatever a model raises: told here, the worker lives on
        lines = str(error).strip().splitlines() or ["no message"]
        return Failed(f"a {host} failed: {type(error).__name__}: {lines[0]}")


@functools.lru_cache(MODELS)
def _made(made_from: Recipe) -> Made:
    made = MAKERS[made_from.maker](**dict(made_from.options))
    return made._replace(device=hub.kind(made.device))


def _lm(name: str, revision: str | None, eos: bool, share_prefixes: bool | None, **options: Any) -> Made:
    from ..naturalness.lm import load_lm, score_call, score_texts

    lm = load_lm(name, revision, **options)

    def compute(texts: list[str], detail: Any) -> np.ndarray:
        if detail is not None:
            return score_call(lm, texts, eos, *detail)
        scores = score_texts(lm, texts, eos, share_prefixes=share_prefixes)
        return np.stack([scores.total, scores.tokens, scores.windowed], 1)

    return Made(lm.signature(eos), lm.device, compute)


def _mt(name: str, revision: str | None, **options: Any) -> Made:
    from ..translation import load_mt
    from ..translation.score import score_call, score_pairs

    mt = load_mt(name, revision, **options)

    def compute(pairs: list[tuple[str, str]], detail: Any) -> np.ndarray:
        if detail is not None:
            return score_call(mt, pairs, detail)
        srcs, hyps = zip(*pairs, strict=True)
        scores = score_pairs(mt, srcs, hyps)
        return np.stack([scores.total, scores.tokens, scores.too_long, scores.unknown], 1)

    return Made(mt.signature(), mt.device, compute)


def _comet(name: str, **options: Any) -> Made:
    from ..accuracy.comet import comet_scores, load_comet

    comet = load_comet(name, **options)
    return Made(comet.signature, comet.device, lambda rows, detail: comet_scores(comet, rows))


def _metricx(name: str, **options: Any) -> Made:
    from ..accuracy.metricx import load_metricx, metricx_scores

    metricx = load_metricx(name, **options)
    return Made(metricx.signature, metricx.device, lambda rows, detail: metricx_scores(metricx, rows))


def _drawer(name: str, drawing: tuple[tuple[str, Any], ...], **options: Any) -> Made:
    from ..candidates.draw import draw_source
    from ..candidates.drawing import Drawing, load_drawer

    made = Drawing(load_drawer(name, **options), **dict(drawing))

    def compute(sources: list[tuple[int, str]], detail: None) -> list:
        return [draw_source(made, i, src) for i, src in sources]

    return Made(made.signature, made.model.device, compute)


MAKERS: Mapping[str, Callable[..., Made]] = {
    "lm": _lm, "mt": _mt, "comet": _comet, "metricx": _metricx, "drawer": _drawer,
}  # fmt: skip
