"""The divergence explorer: move a distribution Q along a path away from R, and watch which distances see it.

Python computes every divergence on a grid of places along each path once; divergences.js only looks them up, so no
kernel is needed later.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import traitlets
from numpy.typing import ArrayLike

from .. import checks
from ..charts.divergences import (
    COLOURS,
    height_of,
    percent,
    plot_bars,
    plot_divergences,
    plot_trace,
)
from ..charts.frame import number
from ..divergences import pmf
from ..errors import DataError
from .base import Widget, drawn, module, plain_table, static_page, styles

__all__ = [
    "DivergenceExplorer",
    "Route",
    "along",
    "divergence_explorer",
    "three_routes",
]

STEPS = 200  # between the ends of a path, at least
ORDERS = (0, 0.5, 1, 2, math.inf)
TRACE, BARS = (230, 36), 290  # pixels: of a panel, of the longest bar
NAMES = {
    "total_variation": "Total variation",
    "wasserstein": "Wasserstein-1",
    "kl": "KL(Q, R)",
    "kl_reversed": "KL(R, Q)",
    "jensen_shannon": "Jensen-Shannon",
    "chi_squared": "χ²(Q, R)",
    "renyi": "Rényi",
    "mmd_squared": "MMD²",
}


@dataclass(frozen=True, eq=False)
class Route:
    """Stops of a distribution on its way, and what happens there in words. stops : (m, Y), m >= 2; text : sentences."""

    stops: np.ndarray | Sequence[Any]
    text: str = ""


def divergence_explorer(
    r: ArrayLike,
    qs: Sequence[Any] | np.ndarray | Mapping[str, Sequence[Any] | np.ndarray | Route] | None = None,
    *,
    names: Sequence[str],
    ground: ArrayLike | None = None,
    unit: str = "steps",
    kernel: ArrayLike | None = None,
    orders: Sequence[float] = ORDERS,
    title: str = "",
) -> DivergenceExplorer:
    """A slider along a path of distributions Q, its bars beside those of R, and eight divergences of Q from R.

    Parameters
    ----------
    r : (Y,) the reference. names : of the Y outcomes, in an order.
    qs : (m, Y) the stops of one path; or name → stops or Route, up to 4 paths; by default `three_routes`. Between two
        stops Q is their mixture.
    ground : (Y,) positions or (Y, Y) costs, as in `pmf.wasserstein`; by default 0, 1, 2, ... unit : of the ground.
    kernel : (Y, Y) of MMD²; by default exp(−d/s) of the positions, s the median distance of two that differ, and for
        costs 1 for equal outcomes and 0 for others.
    orders : of Rényi's divergence, to choose from. title : the claim.

    Returns
    -------
    DivergenceExplorer; its `t`, `path` and `order` follow the page and can be set. Where the environment has
    ANX_MODE=static it shows itself as HTML that works without a kernel.

    Raises
    ------
    DataError for what is no distribution over these outcomes, fewer than 2 stops, no path or more than 4.
    """
    r, names = checks.pmf("r", r), [str(name) for name in checks.texts("names", names)]
    checks.same_length(r=r, names=names)
    if not isinstance(qs, Mapping):
        qs = three_routes(r, names, ground=ground) if qs is None else {"the path": qs}
    routes = {str(name): q if isinstance(q, Route) else Route(q) for name, q in qs.items()}
    if not 1 <= len(routes) <= len(COLOURS):
        raise DataError(
            f"{len(routes)} paths; between 1 and {len(COLOURS)} can be told apart in one picture."
        )
    orders = [checks.non_negative("order", order) for order in dict.fromkeys(orders)]
    if not orders:
        raise DataError("orders is empty: Rényi's divergence needs at least one.")
    kernel, of_kernel = _kernel_of(kernel, ground, len(r))
    each = _divergences_of(r, np.arange(len(r)) if ground is None else ground, kernel, orders)
    paths = [along(name, route, r, each) for name, route in routes.items()]
    units = {"total_variation": "0 to 1", "wasserstein": unit, "chi_squared": "no unit"}
    data = {
        "title": title,
        "names": names,
        "r": r.tolist(),
        "units": dict.fromkeys(NAMES, "nats") | units | {"mmd_squared": of_kernel},
        "labels": NAMES,
        "orders": [["inf" if math.isinf(o) else o, _order(o)] for o in orders],
        "paths": paths,
        "digits": {key: _digits(paths, key) for key in each},
    }
    data |= {"panels": {key: _panel(data, key) for key in each}, "bars": _bars(data)}
    order = 0.5 if 0.5 in orders else orders[0]
    chart = plot_divergences(_frame(data, _keys(data, order)), title=title)
    widget = DivergenceExplorer.of(chart, data=data, path=paths[0]["name"], order=order)
    widget.drawn = drawn(chart)
    return widget


class DivergenceExplorer(Widget):
    """The widget that `divergence_explorer` makes.

    t : in [0, 1], the place on the path; what is shown is that of the nearest place on the path's grid.
    path : its name. order : of Rényi's divergence, one of those given. All follow the page and can be set.
    """

    _esm = module("divergences.js")
    _css = styles("divergences.css")
    noun = "divergence explorer"
    drawn: Mapping[str, str] = MappingProxyType({"svg": "", "alt": ""})
    t = traitlets.Float(0.0).tag(sync=True)
    path = traitlets.Unicode("").tag(sync=True)
    order = traitlets.Float(0.5).tag(
        sync=True,
        to_json=lambda o, _: "inf" if math.isinf(o) else o,
        from_json=lambda o, _: float(o),
    )

    @traitlets.validate("t")
    def _valid_t(self, proposal: Any) -> Any:
        t = float(proposal["value"])
        if not 0 <= t <= 1:
            raise DataError(
                f"t must be in [0, 1], from the start to the end of the path, got {t:g}."
            )
        return t

    @traitlets.validate("path")
    def _valid_path(self, proposal: Any) -> Any:
        known = [path["name"] for path in self.data.get("paths", [])]
        return checks.one_of(proposal["value"], known, "path") if known else proposal["value"]

    @traitlets.validate("order")
    def _valid_order(self, proposal: Any) -> Any:
        known = [float(value) for value, _ in self.data.get("orders", [])]
        if known and proposal["value"] not in known:
            raise DataError(
                f"order {proposal['value']:g} was not computed; those at hand are {known}."
            )
        return proposal["value"]

    def values(self) -> pd.DataFrame:
        """divergence, name, unit, value, largest (finite one on this path): the numbers of t, path and order.

        `attrs` hold the q of these numbers and its place t on the grid.
        """
        path = self._path()
        i = math.floor(self.t * (len(path["q"]) - 1) + 0.5)
        labels, units = self.data["labels"], self.data["units"]
        rows = [
            (kind, labels[kind], units[kind], _number(path["values"][key][i]), path["largest"][key])
            for kind, key in zip(NAMES, _keys(self.data, self.order), strict=True)
        ]
        frame = pd.DataFrame(rows, columns=["divergence", "name", "unit", "value", "largest"])
        frame.attrs = {"q": path["q"][i], "t": i / (len(path["q"]) - 1)}
        return frame

    def _path(self) -> dict:
        return next(path for path in self.data["paths"] if path["name"] == self.path)

    def __repr__(self) -> str:
        total, moved = self.values()["value"].iloc[:2]
        unit = self.data["units"]["wasserstein"]
        here = (
            f"t = {self.t:g} on “{self.path}”: total variation {total:.4g}, Wasserstein-1 "
            f"{moved:.4g} {unit}"
        )
        return f"DivergenceExplorer({here}; {len(self.data['paths'])} paths)"

    def static_html(self) -> str:
        paths = self.data["paths"]
        words = [(f"{path['name']}.", path["text"]) for path in paths if path["text"]]
        return static_page(self.drawn, _static_tables(self.data, self.order), words=words)


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
    r, cost = checks.pmf("r", r), _costs_of(ground, len(r))
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
    finite = {key: column[np.isfinite(column)] for key, column in values.items()}
    return {
        "name": name,
        "text": route.text,
        "stops": (per * np.arange(len(stops))).tolist(),
        "q": q.tolist(),
        "values": {
            key: [None if math.isinf(v) else v for v in column.tolist()]
            for key, column in values.items()
        },
        "largest": {key: float(some.max(initial=0)) for key, some in finite.items()},
    }


def _divergences_of(
    r: np.ndarray, ground: ArrayLike, kernel: np.ndarray, orders: Sequence[float]
) -> dict[str, Callable]:
    """Key → divergence of q from r.

    Parameters
    ----------
    r : (Y,). ground, kernel : as in `_costs_of` and `_kernel_of`. orders : Rényi's α.
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


def _kernel_of(
    kernel: ArrayLike | None, ground: ArrayLike | None, n: int
) -> tuple[np.ndarray, str]:
    """(Y, Y) similarities, and what is said of them.

    Parameters
    ----------
    kernel : (Y, Y), or None: made of `ground`. n : outcomes Y.
    """
    if kernel is not None:
        return np.asarray(kernel, dtype=float), "unit of the kernel"
    cost = _costs_of(ground, n)
    if (ground is not None and np.ndim(ground) == 2) or not cost.any():
        return np.eye(n), "kernel: the same or not"
    scale = float(np.median(cost[cost > 0]))
    return np.exp(-cost / scale), f"kernel exp(−d/{scale:.3g})"


def _costs_of(ground: ArrayLike | None, n: int) -> np.ndarray:
    """(Y, Y) costs of moves between outcomes."""
    ground = np.arange(n) if ground is None else np.asarray(ground, dtype=float)
    if ground.shape not in ((n,), (n, n)):
        raise DataError(
            f"ground has shape {ground.shape}: give ({n},) positions or ({n}, {n}) costs."
        )
    return np.abs(ground[:, None] - ground) if ground.ndim == 1 else ground


def _number(value: float | None) -> float:
    return math.inf if value is None else value


def _keys(data: Mapping, order: float) -> list[str]:
    """The divergences that are shown: Rényi's of one order."""
    k = [float(value) for value, _ in data["orders"]].index(order)
    return [f"renyi {k}" if key == "renyi" else key for key in NAMES]


def _order(order: float) -> str:
    return "∞" if math.isinf(order) else f"{order:g}"


def _digits(paths: list[dict], key: str) -> int:
    """Decimals with which the largest value of all paths has four digits."""
    most = max(path["largest"][key] for path in paths)
    return min(6, max(0, 3 - math.floor(math.log10(most)))) if most else 2


def _label(data: Mapping, key: str) -> str:
    """ "KL(Q, R) (nats)"; of Rényi's with its order."""
    kind, _, k = key.partition(" ")
    name = data["labels"][kind] + (f", order {data['orders'][int(k)][1]}" if k else "")
    return name if kind == "total_variation" else f"{name} ({data['units'][kind]})"


def _frame(data: Mapping, keys: Sequence[str]) -> pd.DataFrame:
    """divergence, path, t, value, as `charts.divergences` draws them."""
    rows = [
        (_label(data, key), path["name"], i / (len(path["q"]) - 1), _number(value))
        for key in keys
        for path in data["paths"]
        for i, value in enumerate(path["values"][key])
    ]
    return pd.DataFrame(rows, columns=["divergence", "path", "t", "value"])


def _panel(data: Mapping, key: str) -> dict[str, Any]:
    """A panel, its plane as movePoint takes it, and where it draws what is infinite."""
    frame = _frame(data, [key])
    height = height_of(frame["value"])
    start = _number(data["paths"][0]["values"][key][0])
    infinite = None if math.isnan(height.infinite) else height.infinite
    return drawn(plot_trace(frame, point=(0.0, start), size=TRACE)) | {
        "box": [0, 1, height.low, height.high, *TRACE],
        "infinite": infinite,
    }


def _bars(data: Mapping) -> dict[str, Any]:
    """The bars at the start of the first path, and how many pixels a probability of 1 takes."""
    top = max(max(data["r"]), *(max(q) for path in data["paths"] for q in path["q"]))
    first = data["paths"][0]["q"][0]
    chart = plot_bars(data["r"], first, data["names"], top=top, width=BARS)
    return drawn(chart) | {"one": BARS / top}


def _static_tables(data: Mapping, order: float) -> str:
    """Q, and all divergences, at the stops of the paths where Q is not R."""
    at = [
        (path, i)
        for path in data["paths"]
        for i in path["stops"]
        if not np.allclose(path["q"][i], data["r"])
    ]
    heads = [f"{path['name']}, t\u00a0=\u00a0{i / (len(path['q']) - 1):.3g}" for path, i in at]
    rows = [
        [name, percent(data["r"][y]), *(percent(path["q"][i][y]) for path, i in at)]
        for y, name in enumerate(data["names"])
    ]
    first = plain_table("Probabilities", ["", "R", *heads], rows)
    keys = _keys(data, order)
    rows = [[_label(data, key), *(_said(data, path, key, i) for path, i in at)] for key in keys]
    return first + plain_table("Divergences of Q from R", ["", *heads], rows)


def _said(data: Mapping, path: Mapping, key: str, i: int) -> str:
    """A value, or ∞ and why, as divergences.js prints them."""
    value = path["values"][key][i]
    if value is not None:
        return number(value, data["digits"][key]) if value else "0"
    return f"∞: {_why(data, path['q'][i], key)}"


def _why(data: Mapping, q: Sequence[float], key: str) -> str:
    kind, _, k = key.partition(" ")
    if k and float(data["orders"][int(k)][0]) < 1:
        return "no outcome in common"
    never, says = ("Q", "R") if kind == "kl_reversed" else ("R", "Q")
    p = {"Q": q, "R": data["r"]}
    gone = [
        f"“{name}”"
        for name, a, b in zip(data["names"], p[never], p[says], strict=True)
        if a == 0 and b > 0
    ]
    return f"{never} never says {', '.join(gone)}"
