"""What runs on the workers of a cluster: a model is made once per process from its recipe, then given texts."""

from __future__ import annotations

import functools
import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from .. import checks, models
from ..errors import AnhelpersError

__all__ = ["Failed", "Made", "Recipe", "answer", "loaded_recipe", "recipe"]

MODELS = 2
"""Kept in a process; a run uses one after the other."""
PACKAGE = __name__.partition(".")[0]


@dataclass(frozen=True)
class Recipe:
    """How any process makes the same model: the address of a maker and its options; hashable, and small to send.

    Parameters
    ----------
    maker : module of this package and function, such as "naturalness.lm:made"; it takes the options and gives a `Made`.
    device : such as "cuda:1", of the model in the process that asks. On workers with another kind of device, a chunk is
        scored in batches of the worker's own size.
    """

    maker: str
    options: tuple[tuple[str, Any], ...]
    device: str

    def here(self) -> Recipe:
        """The same for workers on this machine: they take the device of the process that asks."""
        return replace(
            self, options=tuple(sorted({**dict(self.options), "device": self.device}.items()))
        )


class Made(NamedTuple):
    """A model on a worker.

    Parameters
    ----------
    signature : of what it computes. device : of the model.
    compute : (inputs, detail or None) -> a result for each input.
    each : whether the calls of a chunk are answered one by one whatever the device, and not as one batch.
    """

    signature: str
    device: str
    compute: Callable[..., Any]
    each: bool = False


@dataclass(frozen=True)
class Failed:
    """A sentence instead of a result: exceptions of foreign libraries cannot always be sent."""

    sentence: str


def recipe(maker: str, here: str, /, **options: Any) -> Recipe:
    """The recipe of a model that is on the device `here`; a `name` that is a file or folder becomes its whole path.

    Parameters
    ----------
    maker : address of the function that makes it.
    """
    if (name := options.get("name")) is not None:
        path = checks.local_path(name)
        options["name"] = str(path.absolute()) if path.exists() else str(name)
    return Recipe(maker, tuple(sorted(options.items())), here)


def loaded_recipe(maker: str, loaded: Any, **options: Any) -> Recipe | None:
    """The recipe of a model of `load_lm` or `load_mt`; None for a model that was made in this process.

    Parameters
    ----------
    maker : address of the function that makes it. loaded : the model.
    """
    from .memo import IN_MEMORY

    name = getattr(loaded.model, "name_or_path", "")
    commit = getattr(loaded.model.config, "_commit_hash", None)
    if loaded.revision == IN_MEMORY or not name:
        return None
    # transformers reads one from a folder of the hub's cache too
    commit = None if models.find(name).folder else commit
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
            return Failed(
                f"a {host} has another model or other versions of the libraries: its scores would "
                f"be of {made.signature}, and here they are of {signature}; install the same "
                "there."
            )
        if made.each or made.device == made_from.device.split(":")[0]:
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
    module, function = made_from.maker.split(":")
    maker: Callable[..., Made] = getattr(import_module(f"{PACKAGE}.{module}"), function)
    made = maker(**dict(made_from.options))
    return made._replace(device=made.device.split(":")[0])
