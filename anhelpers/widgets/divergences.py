"""The divergence explorer: move a distribution Q away from R and see which distances notice.

Python computes every divergence on a grid along each path once; divergences.js looks them up, so no
kernel is needed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import traitlets
from numpy.typing import ArrayLike

from .. import checks
from ..charts.frame import number
from ..charts.lines import plot_bars, plot_trace
from ..charts.offline import drawn
from ..divergences import pmf
from ..errors import DataError
from .base import Widget, _plain_table, _static_page, _unbounded

_STEPS = 200  # between the ends of a path, at least
# of Rényi's
_ORDERS: list[list[Any]] = [[0, "0"], [0.5, "0.5"], [1, "1"], [2, "2"], ["inf", "∞"]]
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
    qs: Sequence[Any] | np.ndarray | Mapping[str, Any] | None = None,
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
        Stops of one path, or name → stops of up to 4; by default `three_routes`. Between two stops Q
        is their mixture.
    names : (Y,) outcomes
    ground : (Y,) positions, optional
        By default 0, 1, 2, …; `unit` is their unit. The kernel of MMD² is exp(−d/s), where s is the
        median distance of two outcomes that differ.
    """
    r, names = checks.pmf("r", r), [str(name) for name in names]
    checks.same_length(r=r, names=names)
    if not isinstance(qs, Mapping):
        qs = three_routes(r, names, ground=ground) if qs is None else {"the path": qs}
    paths, places = [], np.arange(len(r)) if ground is None else np.asarray(ground, dtype=float)
    apart = _apart(places)
    scale = float(np.median(apart[apart > 0])) if apart.any() else 1.0
    kernel = np.exp(-apart / scale)
    for name, given in qs.items():
        route = given if isinstance(given, _Route) else _Route(given)
        stops = [checks.pmf(f"stop {k} of path '{name}'", q) for k, q in enumerate(route.stops)]
        if len(stops) < 2 or {len(q) for q in stops} != {len(r)}:
            got = [len(q) for q in stops]
            raise DataError(f"path '{name}': got stops of {got}, expected two or more of {len(r)}.")
        paths.append({"name": str(name), "text": route.text} | _along(stops, r, places, kernel))
    units = {"total_variation": "0 to 1", "wasserstein": unit, "chi_squared": "no unit"}
    data: dict[str, Any] = {
        "title": title,
        "names": names,
        "r": r.tolist(),
        "units": dict.fromkeys(_NAMES, "nats")
        | units
        | {"mmd_squared": f"0 to 2, kernel exp(−d/{scale:.3g})"},
        "labels": _NAMES,
        "orders": _ORDERS,
        "paths": paths,
        "panels": {},
        "digits": {},
    }
    for key in paths[0]["values"]:
        # four digits of it
        most = max(path["largest"][key] for path in paths)
        data["digits"][key] = min(6, max(0, 3 - math.floor(math.log10(most)))) if most else 2
        panel = drawn(plot_trace(_frame(data, key)))
        endless = any(None in path["values"][key] for path in paths)
        data["panels"][key] = panel | {"infinite": panel["box"][3] * 7 / 8 if endless else None}
    top = max(max(data["r"]), *(max(q) for path in paths for q in path["q"]))
    bars = drawn(plot_bars(data["r"], paths[0]["q"][0], names, top))
    data["bars"] = bars | {"one": bars.pop("box")[4] / top}
    return _DivergenceExplorer.of(data=data, path=paths[0]["name"])


class _DivergenceExplorer(Widget, files="divergences.js divergences.css"):
    """The widget that `divergence_explorer` makes; its traits follow the page.

    Attributes
    ----------
    t : float
        In [0, 1], the place on the path; the nearest place of its grid is shown.
    path : str
    order : float
        Of Rényi's divergence: 0, 0.5, 1, 2 or inf.
    """

    noun = "divergence explorer"
    t = traitlets.Float(0.0, min=0, max=1).tag(sync=True)
    path = traitlets.Unicode("").tag(sync=True)
    order = _unbounded(0.5)

    @traitlets.validate("path", "order")
    def _valid(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        paths, orders = (path["name"] for path in self.data["paths"]), (o for o, _ in _ORDERS)
        known = paths if name == "path" else (str(float(order)) for order in orders)
        checks.one_of(str(value), known, name)
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
        """R and Q at the start, and the divergences at the stops of the paths where Q is not R."""
        data, stops = self.data, []
        for path in data["paths"]:
            q = path["q"]
            stops += [(path, i) for i in path["stops"] if not np.allclose(q[i], data["r"])]
        at = [(path["name"], i / (len(path["q"]) - 1)) for path, i in stops]
        heads = [f"{name}, t\u00a0=\u00a0{t:.3g}" for name, t in at]
        rows = []
        for key in _keys(self.order):
            values = [(path["values"][key][i], data["digits"][key]) for path, i in stops]
            texts = ["∞" if v is None else number(v, digits) if v else "0" for v, digits in values]
            rows.append([_label(data, key), *texts])
        tables = _plain_table("Divergences of Q from R", ["", *heads], rows)
        words = [(f"{path['name']}.", path["text"]) for path in data["paths"] if path["text"]]
        return _static_page(data["bars"], tables, title=data["title"], words=words)


def three_routes(
    r: ArrayLike, names: Sequence[str], *, ground: ArrayLike | None = None
) -> dict[str, _Route]:
    """Three ways away from R: lose its rarest outcome, invent a missing one, shift one.

    At most 10 % of the texts are invented or shifted, at most those of the most probable outcome.

    Parameters
    ----------
    r : (Y,) probabilities
    names : (Y,) outcomes
    ground : (Y,) positions, optional
        By default the order of names.

    Returns
    -------
    dict of str to route, whose `stops` are (m, Y)
        Without the second where R has no outcome of probability 0, without the third where it has
        fewer than three at different places.
    """
    r, share = checks.pmf("r", r), 0.1
    cost = _apart(np.arange(len(r)) if ground is None else np.asarray(ground, dtype=float))
    one, rare, main = np.eye(len(r)), int(np.where(r > 0, r, 2).argmin()), int(r.argmax())
    kept = np.where(np.arange(len(r)) == rare, 0, r)
    text = f"R says “{names[rare]}” in {100 * r[rare]:.3g} % of the texts. "
    text += "Q says it less and less often, and never at the end."
    routes = {"lose the rare word": _Route([r, kept / kept.sum()], text)}
    if (r == 0).any():
        new = int((r == 0).argmax())
        text = f"R never says “{names[new]}”. Q says it more and more often, and at the end in "
        stops = [r, (1 - share) * r + share * one[new]]
        routes["invent a word"] = _Route(stops, f"{text}{100 * share:.3g} % of the texts.")
    there = [y for y in np.argsort(cost[main], kind="stable") if r[y] > 0 and cost[main, y] > 0]
    if there and cost[main, there[0]] < cost[main, there[-1]]:
        near, far, share = there[0], there[-1], min(share, float(r[main]))
        taken = r - share * one[main]
        text = f"First {100 * share:.3g} % of the texts go from “{names[main]}” to “{names[near]}” "
        text += f"(t up to 0.5), then the same texts move on to “{names[far]}”."
        stops = [r, taken + share * one[near], taken + share * one[far]]
        routes["shift to a neighbour, then far"] = _Route(stops, text)
    return routes


def _along(
    stops: list[np.ndarray], r: np.ndarray, ground: ArrayLike, kernel: np.ndarray
) -> dict[str, Any]:
    """The distributions on a path's grid, the divergences there (None: infinite), its stops."""
    per = math.ceil(_STEPS / (len(stops) - 1))
    share = np.linspace(0, 1, per + 1)[:-1, None]
    qs = np.concatenate([*((1 - share) * a + share * b for a, b in pairwise(stops)), stops[-1:]])
    rows = []
    for q in qs:
        row = {
            "total_variation": pmf.total_variation(q, r),
            "wasserstein": pmf.wasserstein(q, r, ground),
            "kl": pmf.kl(q, r),
            "kl_reversed": pmf.kl(r, q),
            "jensen_shannon": pmf.jensen_shannon(q, r),
            "chi_squared": pmf.chi_squared(q, r),
            "mmd_squared": pmf.mmd_squared(q, r, kernel),
        }
        row |= {f"renyi {k}": pmf.renyi(q, r, float(o)) for k, (o, _) in enumerate(_ORDERS)}
        rows.append(row)
    values = pd.DataFrame(rows)
    found = {k: [None if math.isinf(v) else v for v in c] for k, c in values.items()}
    largest = values.replace(np.inf, 0).max().clip(lower=0)
    at = (per * np.arange(len(stops))).tolist()
    return {"stops": at, "q": qs.tolist(), "values": found, "largest": largest.to_dict()}


def _apart(places: np.ndarray) -> np.ndarray:
    """(Y, Y) distances of (Y,) positions."""
    return np.abs(places[:, None] - places)


def _number(value: float | None) -> float:
    return math.inf if value is None else value


def _keys(order: float) -> list[str]:
    """The divergences that are shown, with Rényi's of one order."""
    k = [float(value) for value, _ in _ORDERS].index(order)
    return [f"renyi {k}" if key == "renyi" else key for key in _NAMES]


def _label(data: Mapping, key: str) -> str:
    """ "KL(Q, R) (nats)"; of Rényi's with its order."""
    kind, _, k = key.partition(" ")
    name = data["labels"][kind] + (f", order {_ORDERS[int(k)][1]}" if k else "")
    return name if kind == "total_variation" else f"{name} ({data['units'][kind]})"


def _frame(data: Mapping, key: str) -> pd.DataFrame:
    """divergence, path, t, value, as `plot_trace` draws them."""
    rows = [
        (_label(data, key), path["name"], i / (len(path["q"]) - 1), _number(value))
        for path in data["paths"]
        for i, value in enumerate(path["values"][key])
    ]
    return pd.DataFrame(rows, columns=["divergence", "path", "t", "value"])
