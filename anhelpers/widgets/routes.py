"""Paths of a distribution away from R, and every divergence on a grid of places along them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..divergences import pmf
from ..errors import DataError

__all__ = ["Route", "along", "divergences_of", "kernel_of", "three_routes"]

STEPS = 200  # between the ends of a path, at least


@dataclass(frozen=True, eq=False)
class Route:
    """Stops of a distribution on its way, and what happens there in words. stops : (m, Y), m >= 2; text : sentences."""

    stops: np.ndarray | Sequence[Any]
    text: str = ""


def three_routes(
    r: ArrayLike, names: Sequence[str], *, ground: ArrayLike | None = None, share: float = 0.1
) -> dict[str, Route]:
    """Three ways away from R: lose its rarest outcome, invent one that it lacks, shift one to another place.

    Parameters
    ----------
    r : (Y,) the reference. names : of the Y outcomes. ground : as in `pmf.wasserstein`, by default the order of names.
    share : the probability that is invented or shifted, in (0, 1); the most probable outcome gives at most all of its.

    Returns
    -------
    Name → route; without the second where R has no outcome of probability 0, without the third where it has fewer than
    three at different places.
    """
    r, cost = checks.pmf("r", r), costs_of(ground, len(r))
    checks.same_length(r=r, names=names)
    if not 0 < share < 1 or (r > 0).sum() < 2:
        raise DataError(
            f"share is {share}, R has {(r > 0).sum()} outcomes: give a share in (0, 1) and at "
            "least two."
        )
    one, rare, main = np.eye(len(r)), int(np.where(r > 0, r, 2).argmin()), int(r.argmax())
    kept = np.where(np.arange(len(r)) == rare, 0, r)
    text = (
        f"R says “{names[rare]}” in {_share(r[rare])} of the texts. Q says it less and less, and "
        "at the end never."
    )
    routes = {"lose the rare word": Route([r, kept / kept.sum()], text)}
    if (r == 0).any():
        new = int((r == 0).argmax())
        text = (
            f"R never says “{names[new]}”. Q says it more and more, at the end in {_share(share)} "
            "of the texts."
        )
        routes["invent a word"] = Route([r, (1 - share) * r + share * one[new]], text)
    there = [y for y in np.argsort(cost[main], kind="stable") if r[y] > 0 and cost[main, y] > 0]
    if there and cost[main, there[0]] < cost[main, there[-1]]:
        near, far, share = there[0], there[-1], min(share, float(r[main]))
        taken = r - share * one[main]
        text = (
            f"First {_share(share)} of the texts go from “{names[main]}” to “{names[near]}” (t up "
            f"to 0.5), then the same ones go on to “{names[far]}”."
        )
        stops = [r, taken + share * one[near], taken + share * one[far]]
        routes["shift to a neighbour, then far"] = Route(stops, text)
    return routes


def _share(p: float) -> str:
    return f"{100 * p:.3g} %"


def costs_of(ground: ArrayLike | None, n: int) -> np.ndarray:
    """(Y, Y) costs of moves between outcomes."""
    ground = np.arange(n) if ground is None else np.asarray(ground, dtype=float)
    if ground.shape not in ((n,), (n, n)):
        raise DataError(
            f"ground has shape {ground.shape}: give ({n},) positions or ({n}, {n}) costs."
        )
    return np.abs(ground[:, None] - ground) if ground.ndim == 1 else ground


def kernel_of(kernel: ArrayLike | None, ground: ArrayLike | None, n: int) -> tuple[np.ndarray, str]:
    """(Y, Y) similarities, and what is said of them.

    Parameters
    ----------
    kernel : (Y, Y), or None: made of `ground`. n : outcomes Y.
    """
    if kernel is not None:
        return np.asarray(kernel, dtype=float), "unit of the kernel"
    cost = costs_of(ground, n)
    if (ground is not None and np.ndim(ground) == 2) or not cost.any():
        return np.eye(n), "kernel: the same or not"
    scale = float(np.median(cost[cost > 0]))
    return np.exp(-cost / scale), f"kernel exp(−d/{scale:.3g})"


def divergences_of(
    r: np.ndarray, ground: ArrayLike, kernel: np.ndarray, orders: Sequence[float]
) -> dict[str, Callable]:
    """Key → divergence of q from r.

    Parameters
    ----------
    r : (Y,). ground, kernel : as in `costs_of` and `kernel_of`. orders : Rényi's α.
    """
    return {
        "total_variation": lambda q: pmf.total_variation(q, r),
        "wasserstein": lambda q: pmf.wasserstein(q, r, ground),
        "kl": lambda q: pmf.kl(q, r),
        "kl_reversed": lambda q: pmf.kl(r, q),
        "jensen_shannon": lambda q: pmf.jensen_shannon(q, r),
        "chi_squared": lambda q: pmf.chi_squared(q, r),
        "mmd_squared": lambda q: pmf.mmd_squared(q, r, kernel),
    } | {
        f"renyi {k}": lambda q, order=order: pmf.renyi(q, r, order)
        for k, order in enumerate(orders)
    }


def along(name: str, route: Route, r: np.ndarray, each: Mapping[str, Callable]) -> dict[str, Any]:
    """The distributions on a path's grid, the divergences there (None: infinite), and where its stops lie.

    Parameters
    ----------
    r : (Y,). route : of the system. each : key -> divergence of q from r.
    """
    stops = [checks.pmf(f"stop {k} of path '{name}'", q) for k, q in enumerate(route.stops)]
    sizes = sorted({len(q) for q in stops})
    if len(stops) < 2 or sizes != [len(r)]:
        seen = f"{len(stops)} stops over {', '.join(map(str, sizes)) or 'no'} outcomes"
        raise DataError(f"path '{name}' has {seen}; give at least 2 stops over {len(r)} outcomes.")
    per = math.ceil(STEPS / (len(stops) - 1))
    share = np.linspace(0, 1, per + 1)[:-1, None]
    q = np.concatenate([*((1 - share) * a + share * b for a, b in pairwise(stops)), stops[-1:]])
    values = {key: np.array([divergence(row) for row in q]) for key, divergence in each.items()}
    return {
        "name": name,
        "text": route.text,
        "stops": (per * np.arange(len(stops))).tolist(),
        "q": q.tolist(),
        "values": {
            key: [None if math.isinf(v) else v for v in column.tolist()]
            for key, column in values.items()
        },
        "largest": {
            key: float(column[np.isfinite(column)].max(initial=0)) for key, column in values.items()
        },
    }
