"""The A(N) explorer: drag the naturalness N and see A(N) and the best translator that is so natural.

A translator is a table Q(y|x). Python ships those at the vertices of the curve once; tradeoff.js mixes
two neighbours, so no kernel is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from ..charts.curve import plot_tradeoff
from ..charts.frame import number
from ..charts.offline import drawn
from ..errors import DataError
from ..estimate import digits_of
from .base import Widget, _plain_table, _static_page, html_lang

if TYPE_CHECKING:
    from ..exact import ExactCurve


def tradeoff_explorer(
    curve: ExactCurve,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    start: float | None = None,
    title: str = "",
    names: tuple[str, str] = ("A(N)", "N"),
    langs: tuple[str, str] = ("", ""),
    show: int = 6,
    **look: Any,
) -> _TradeoffExplorer:
    """Make a slider over the naturalness N beside A(N) and Q(y|x) of the best translator.

    Parameters
    ----------
    curve : ExactCurve
        From `exact.solve_curve`: X sources, Y targets.
    sources, targets : (X,) and (Y,) texts
    start : float, optional
        Initial N, by default the middle of the curve.
    names : (str, str)
        Names of accuracy and naturalness in the readout.
    langs : (str, str)
        Language codes of sources and targets.
    show : int
        Number of targets with a column, the most probable first; the others are summed.
    **look
        accuracy_title, naturalness_title, size as in `charts.plot_tradeoff`.
    """
    sources, targets = list(map(str, sources)), list(map(str, targets))
    shape = curve.translators.shape[1:]
    if (len(sources), len(targets)) != shape or show < 1:
        got = f"{len(sources)} sources, {len(targets)} targets, show={show}"
        raise DataError(f"tradeoff: got {got}, expected {shape[0]} and {shape[1]}, show ≥ 1.")
    look = {"size": (370, 300)} | look
    start = float(curve.naturalness[[0, -1]].mean()) if start is None else start
    chart = plot_tradeoff(curve, point=_between_ends(start, curve.naturalness), **look)
    kept, q, r = _columns(curve, show)
    data = {
        "title": title,
        "names": list(names),
        "langs": [*map(html_lang, langs)],
        "sources": sources,
        "targets": [targets[y] for y in kept],
        "others": len(targets) - len(kept),
        "p": curve.problem.p_x.tolist(),
        "digits": [digits_of(curve.accuracy), digits_of(curve.naturalness)],
        "q": q.tolist(),
        "r": r.tolist(),
        "exact": bool(curve.exact),
        "gap": float(curve.gap),
    }
    data |= {name: getattr(curve, name).tolist() for name in ("naturalness", "accuracy", "beta")}
    return _TradeoffExplorer.of(chart, data=data | drawn(chart), naturalness=start)


class _TradeoffExplorer(Widget, files="tradeoff.js tradeoff.css"):
    """The widget that `tradeoff_explorer` makes; `naturalness` and `scale` follow the page.

    Attributes
    ----------
    naturalness : float
        Between the ends of the curve.
    scale : {"naturalness", "beta"}
        What the slider moves; by β it jumps from vertex to vertex.
    """

    noun = "A(N) explorer"
    naturalness = traitlets.Float(0.0).tag(sync=True)
    scale = traitlets.Enum(["naturalness", "beta"], "naturalness").tag(sync=True)

    @traitlets.validate("naturalness")
    def _valid_naturalness(self, proposal: Any) -> Any:
        return _between_ends(proposal["value"], self.data.get("naturalness", [proposal["value"]]))

    def __repr__(self) -> str:
        accuracy, (x, y) = _mixture(self.data, self.naturalness)[0], np.shape(self.data["q"])[1:]
        here = f"N = {self.naturalness:.4g}, A(N) = {accuracy:.4g}"
        return f"TradeoffExplorer({here}, {x} sources, {y} columns)"

    def static_html(self) -> str:
        low, high = self.data["naturalness"][0], self.data["naturalness"][-1]
        at = dict.fromkeys([low, (low + high) / 2, high])
        tables = (_static_table(self.data, n) for n in at)
        return _static_page(self.data, *tables, title=self.data["title"])


def _between_ends(value: float, naturalness: Any) -> float:
    """N between the ends of a curve of (V,) vertices; one that misses them by rounding is moved."""
    value, low, high = float(value), float(naturalness[0]), float(naturalness[-1])
    room = 1e-9 * max(1.0, high - low)
    if not low - room <= value <= high + room:
        raise DataError(f"naturalness: got {value}, expected {low:.6g} to {high:.6g}.")
    return min(max(value, low), high)


def _columns(curve: ExactCurve, show: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(K,) shown targets; (V, X, C) Q(y|x) and (C,) R(y) of these and the sum of all others."""
    q, p, r = curve.translators, curve.problem.p_x, curve.problem.reference
    mass = np.maximum(np.einsum("x,vxy->vy", p, q).max(axis=0), r)
    kept = np.sort(np.argsort(-mass, kind="stable")[:show])
    rest = np.setdiff1d(np.arange(q.shape[2]), kept)
    more = [some[..., rest].sum(axis=-1, keepdims=True)[..., : len(rest)] for some in (q, r)]
    both = zip((q, r), more, strict=True)
    q, r = (np.concatenate([some[..., kept], m], axis=-1) for some, m in both)
    return kept, q.round(6) + 0.0, r


def _mixture(data: dict, naturalness: float) -> tuple[float, np.ndarray]:
    """(A(N), (X, C) Q(y|x)) between two vertices: both are linear in N there."""
    n, q = np.array(data["naturalness"]), np.array(data["q"])
    v = min(int(np.searchsorted(n, naturalness, side="right")) - 1, len(n) - 2)
    if v < 0:
        return float(data["accuracy"][0]), q[0]
    share = (naturalness - n[v]) / (n[v + 1] - n[v])
    accuracy = np.interp(naturalness, n, data["accuracy"])
    return float(accuracy), (1 - share) * q[v] + share * q[v + 1]


def _static_table(data: dict, naturalness: float) -> str:
    accuracy, q = _mixture(data, naturalness)
    (a_digits, n_digits), (a_name, n_name) = data["digits"], data["names"]
    said = f"{n_name} = {number(naturalness, n_digits)}, {a_name} = {number(accuracy, a_digits)}"
    others = [f"others ({data['others']})"] if data["others"] else []
    three = zip(data["sources"], data["p"], q, strict=True)
    rows = [[source, _percent(p), *map(_percent, row)] for source, p, row in three]
    rows.append(["all together", "", *map(_percent, np.array(data["p"]) @ q)])
    rows.append(["native writers", "", *map(_percent, data["r"])])
    return _plain_table(said, ["source", "share", *data["targets"], *others], rows, "right")


def _percent(share: float) -> str:
    """A probability as a percentage, as tradeoff.js prints it.

    >>> [_percent(v).replace(chr(160), " ") for v in (0, 1e-5, 0.125, 1)]
    ['·', '< 0.1 %', '12.5 %', '100 %']
    """
    if share < 5e-7:
        return "·"
    if share < 5e-4:
        return "<\u00a00.1\u00a0%"
    return f"{100 * share:.{0 if share > 1 - 5e-7 else 1}f}\u00a0%"
