"""The divergence explorer: move a distribution Q away from R and see which distances notice.

Python computes every divergence on a grid along each path once; divergences.js looks them up, so no
kernel is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import traitlets
from numpy.typing import ArrayLike

from .. import checks
from ..charts.divergences import height_of, percent, plot_bars, plot_divergences, plot_trace
from ..charts.frame import number
from ..divergences import pmf
from ..errors import DataError
from .base import Widget, drawn, module, plain_table, static_page, styles

_STEPS = 200  # between the ends of a path, at least
_ORDERS: list[list[Any]] = [
    [0, "0"],
    [0.5, "0.5"],
    [1, "1"],
    [2, "2"],
    ["inf", "∞"],
]  # of Rényi's divergence
_TRACE, _BARS = (230, 36), 290  # pixels: of a panel, of the longest bar
_NAMES = {
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
class _Route:
    """(m, Y) stops of a distribution on its way, m ≥ 2, and a text about it."""

    stops: np.ndarray | Sequence[Any]
    text: str = ""


def divergence_explorer(
    r: ArrayLike,
    qs: Sequence[Any]
    | np.ndarray
    | Mapping[str, Sequence[Any] | np.ndarray | _Route]
    | None = None,
    *,
    names: Sequence[str],
    ground: ArrayLike | None = None,
    unit: str = "steps",
    title: str = "",
) -> _DivergenceExplorer:
    """Make a slider along a path of distributions Q, with eight divergences of Q from R.

    Parameters
    ----------
    r : (Y,) probabilities
        The reference.
    qs : (m, Y) array or mapping, optional
        Stops of one path, or name → stops or _Route of up to 4; by default `three_routes`. Between
        two stops Q is their mixture.
    names : (Y,) outcomes
    ground : (Y,) positions or (Y, Y) costs, optional
        As in `pmf.wasserstein`; by default 0, 1, 2, ... `unit` is its unit.
        MMD² has the kernel exp(−d/s) of the positions, s the median distance of two that differ;
        of costs the identity.
    """
    r, names = checks.pmf("r", r), [str(name) for name in names]
    checks.same_length(r=r, names=names)
    if not isinstance(qs, Mapping):
        qs = three_routes(r, names, ground=ground) if qs is None else {"the path": qs}
    routes = {str(name): q if isinstance(q, _Route) else _Route(q) for name, q in qs.items()}
    if not 1 <= len(routes) <= 4:
        raise DataError(f"divergences: got {len(routes)} paths, expected 1 to 4.")
    cost = _costs_of(ground, len(r))
    kernel, of_kernel = np.eye(len(r)), "kernel: the same or not"
    if (ground is None or np.ndim(ground) < 2) and cost.any():
        scale = float(np.median(cost[cost > 0]))
        kernel, of_kernel = np.exp(-cost / scale), f"kernel exp(−d/{scale:.3g})"
    each = _divergences_of(r, np.arange(len(r)) if ground is None else ground, kernel)
    paths = [_along(name, route, r, each) for name, route in routes.items()]
    units = {"total_variation": "0 to 1", "wasserstein": unit, "chi_squared": "no unit"}
    data = {
        "title": title,
        "names": names,
        "r": r.tolist(),
        "units": dict.fromkeys(_NAMES, "nats") | units | {"mmd_squared": of_kernel},
        "labels": _NAMES,
        "orders": _ORDERS,
        "paths": paths,
        "digits": {key: _digits(paths, key) for key in each},
    }
    data |= {"panels": {key: _panel(data, key) for key in each}, "bars": _bars(data)}
    chart = plot_divergences(_frame(data, _keys(0.5)), title=title)
    return _DivergenceExplorer.of(chart, data=data, path=paths[0]["name"])


class _DivergenceExplorer(Widget):
    """The widget that `divergence_explorer` makes; its traits follow the page.

    Attributes
    ----------
    t : float
        In [0, 1], the place on the path; the nearest place of its grid is shown.
    path : str
    order : float
        Of Rényi's divergence: 0, 0.5, 1, 2 or inf.
    """

    _esm = module("divergences.js")
    _css = styles("divergences.css")
    noun = "divergence explorer"
    t = traitlets.Float(0.0, min=0, max=1).tag(sync=True)
    path = traitlets.Unicode("").tag(sync=True)
    order = traitlets.Float(0.5).tag(
        sync=True,
        to_json=lambda o, _: "inf" if math.isinf(o) else o,
        from_json=lambda o, _: float(o),
    )

    @traitlets.validate("path", "order")
    def _valid(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        paths, orders = [p["name"] for p in self.data["paths"]], [float(o) for o, _ in _ORDERS]
        if value not in (known := paths if name == "path" else orders):
            raise DataError(f"{name}: got {value}, expected one of {known}.")
        return value

    def values(self) -> pd.DataFrame:
        """divergence, name, unit, value, largest (finite on this path) at the present place.

        `attrs` holds the q of these numbers and its place t on the grid.
        """
        path = next(path for path in self.data["paths"] if path["name"] == self.path)
        i = math.floor(self.t * (len(path["q"]) - 1) + 0.5)
        labels, units = self.data["labels"], self.data["units"]
        rows = [
            (kind, labels[kind], units[kind], _number(path["values"][key][i]), path["largest"][key])
            for kind, key in zip(_NAMES, _keys(self.order), strict=True)
        ]
        frame = pd.DataFrame(rows, columns=["divergence", "name", "unit", "value", "largest"])
        frame.attrs = {"q": path["q"][i], "t": i / (len(path["q"]) - 1)}
        return frame

    def __repr__(self) -> str:
        total, moved = self.values()["value"].iloc[:2]
        moved = f"Wasserstein-1 {moved:.4g} {self.data['units']['wasserstein']}"
        here = f"t = {self.t:g} on “{self.path}”: total variation {total:.4g}, {moved}"
        return f"DivergenceExplorer({here}; {len(self.data['paths'])} paths)"

    def static_html(self) -> str:
        words = [(f"{path['name']}.", path["text"]) for path in self.data["paths"] if path["text"]]
        return static_page(self.chart, _static_tables(self.data, self.order), words=words)


def three_routes(
    r: ArrayLike, names: Sequence[str], *, ground: ArrayLike | None = None, share: float = 0.1
) -> dict[str, _Route]:
    """Three ways away from R: lose its rarest outcome, invent a missing one, shift one.

    Parameters
    ----------
    r : (Y,) probabilities
    names : (Y,) outcomes
    ground : optional
        As in `pmf.wasserstein`, by default the order of names.
    share : float
        Probability that is invented or shifted, in (0, 1), at most that of the most probable outcome.

    Returns
    -------
    dict of str to _Route
        Without the second where R has no outcome of probability 0, without the third where it has
        fewer than three at different places.
    """
    r, cost = checks.pmf("r", r), _costs_of(ground, len(r))
    one, rare, main = np.eye(len(r)), int(np.where(r > 0, r, 2).argmin()), int(r.argmax())
    kept = np.where(np.arange(len(r)) == rare, 0, r)
    text = (
        f"R says “{names[rare]}” in {100 * r[rare]:.3g} % of the texts. Q says it less and less, "
        "and at the end never."
    )
    routes = {"lose the rare word": _Route([r, kept / kept.sum()], text)}
    if (r == 0).any():
        new = int((r == 0).argmax())
        text = (
            f"R never says “{names[new]}”. Q says it more and more, at the end in "
            f"{100 * share:.3g} % of the texts."
        )
        routes["invent a word"] = _Route([r, (1 - share) * r + share * one[new]], text)
    there = [y for y in np.argsort(cost[main], kind="stable") if r[y] > 0 and cost[main, y] > 0]
    if there and cost[main, there[0]] < cost[main, there[-1]]:
        near, far, share = there[0], there[-1], min(share, float(r[main]))
        taken = r - share * one[main]
        text = (
            f"First {100 * share:.3g} % of the texts go from “{names[main]}” to “{names[near]}” (t "
            f"up to 0.5), then the same ones go on to “{names[far]}”."
        )
        stops = [r, taken + share * one[near], taken + share * one[far]]
        routes["shift to a neighbour, then far"] = _Route(stops, text)
    return routes


def _along(name: str, route: _Route, r: np.ndarray, each: Mapping[str, Callable]) -> dict[str, Any]:
    """The distributions on a path's grid, the divergences there (None: infinite), its stops."""
    stops = [checks.pmf(f"stop {k} of path '{name}'", q) for k, q in enumerate(route.stops)]
    if len(stops) < 2 or {len(q) for q in stops} != {len(r)}:
        got = [len(q) for q in stops]
        raise DataError(f"path '{name}': got stops of {got}, expected two or more of {len(r)}.")
    per = math.ceil(_STEPS / (len(stops) - 1))
    share = np.linspace(0, 1, per + 1)[:-1, None]
    q = np.concatenate([*((1 - share) * a + share * b for a, b in pairwise(stops)), stops[-1:]])
    values = {key: np.array([divergence(row) for row in q]) for key, divergence in each.items()}
    return {
        "name": name,
        "text": route.text,
        "stops": (per * np.arange(len(stops))).tolist(),
        "q": q.tolist(),
        "values": {
            k: [None if math.isinf(v) else v for v in c.tolist()] for k, c in values.items()
        },
        "largest": {k: float(c[np.isfinite(c)].max(initial=0)) for k, c in values.items()},
    }


def _divergences_of(r: np.ndarray, ground: ArrayLike, kernel: np.ndarray) -> dict[str, Callable]:
    """Key → divergence of q from r."""
    return {
        "total_variation": lambda q: pmf.total_variation(q, r),
        "wasserstein": lambda q: pmf.wasserstein(q, r, ground),
        "kl": lambda q: pmf.kl(q, r),
        "kl_reversed": lambda q: pmf.kl(r, q),
        "jensen_shannon": lambda q: pmf.jensen_shannon(q, r),
        "chi_squared": lambda q: pmf.chi_squared(q, r),
        "mmd_squared": lambda q: pmf.mmd_squared(q, r, kernel),
    } | {
        f"renyi {k}": lambda q, order=float(o): pmf.renyi(q, r, order)
        for k, (o, _) in enumerate(_ORDERS)
    }


def _costs_of(ground: ArrayLike | None, n: int) -> np.ndarray:
    """(Y, Y) costs of moves between outcomes."""
    ground = np.arange(n) if ground is None else np.asarray(ground, dtype=float)
    if ground.shape not in ((n,), (n, n)):
        raise DataError(f"ground: got shape {ground.shape}, expected ({n},) or ({n}, {n}).")
    return np.abs(ground[:, None] - ground) if ground.ndim == 1 else ground


def _number(value: float | None) -> float:
    return math.inf if value is None else value


def _keys(order: float) -> list[str]:
    """The divergences that are shown, with Rényi's of one order."""
    k = [float(value) for value, _ in _ORDERS].index(order)
    return [f"renyi {k}" if key == "renyi" else key for key in _NAMES]


def _digits(paths: list[dict], key: str) -> int:
    """Decimals with which the largest value of all paths has four digits."""
    most = max(path["largest"][key] for path in paths)
    return min(6, max(0, 3 - math.floor(math.log10(most)))) if most else 2


def _label(data: Mapping, key: str) -> str:
    """ "KL(Q, R) (nats)"; of Rényi's with its order."""
    kind, _, k = key.partition(" ")
    name = data["labels"][kind] + (f", order {_ORDERS[int(k)][1]}" if k else "")
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
    """A panel, its plane, and the height at which what is infinite is drawn."""
    frame = _frame(data, [key])
    height = height_of(frame["value"])
    start = _number(data["paths"][0]["values"][key][0])
    infinite = None if math.isnan(height.infinite) else height.infinite
    box = [0, 1, height.low, height.high, *_TRACE]
    return drawn(plot_trace(frame, point=(0.0, start), size=_TRACE)) | {
        "box": box,
        "infinite": infinite,
    }


def _bars(data: Mapping) -> dict[str, Any]:
    """The bars at the start of the first path, and the pixels of a probability of 1."""
    top = max(max(data["r"]), *(max(q) for path in data["paths"] for q in path["q"]))
    first = data["paths"][0]["q"][0]
    chart = plot_bars(data["r"], first, data["names"], top=top, width=_BARS)
    return drawn(chart) | {"one": _BARS / top}


def _static_tables(data: Mapping, order: float) -> str:
    """Q, and all divergences, at the stops of the paths where Q is not R."""
    stops = [(path, i) for path in data["paths"] for i in path["stops"]]
    at = [(path, i) for path, i in stops if not np.allclose(path["q"][i], data["r"])]
    heads = [f"{path['name']}, t\u00a0=\u00a0{i / (len(path['q']) - 1):.3g}" for path, i in at]
    rows = [
        [name, percent(data["r"][y]), *(percent(path["q"][i][y]) for path, i in at)]
        for y, name in enumerate(data["names"])
    ]
    first = plain_table("Probabilities", ["", "R", *heads], rows)
    keys = _keys(order)
    rows = [[_label(data, key), *(_said(data, path, key, i) for path, i in at)] for key in keys]
    return first + plain_table("Divergences of Q from R", ["", *heads], rows)


def _said(data: Mapping, path: Mapping, key: str, i: int) -> str:
    value = path["values"][key][i]
    return "∞" if value is None else number(value, data["digits"][key]) if value else "0"
