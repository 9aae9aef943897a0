"""The exact tradeoff explorer: drag N and watch A(N), and what the most accurate translator that is so natural says.

Such a translator is a table, Q(y|x). Python ships those at the vertices of the curve once; tradeoff.js mixes the two
neighbours, so no kernel is needed later.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import traitlets

from ..charts.frame import axis_ranges, digits_of, number
from ..charts.tradeoff import between_ends, plot_tradeoff
from ..errors import DataError
from .base import Markup, Widget, drawn, html_lang, module, plain_table, static_page, styles

if TYPE_CHECKING:
    from ..exact import ExactCurve

__all__ = [
    "OTHERS",
    "TradeoffExplorer",
    "TradeoffView",
    "columns",
    "mixture",
    "shown_probability",
    "signed",
    "static_tradeoff",
    "tradeoff_explorer",
]

OTHERS = "others"


def tradeoff_explorer(
    curve: ExactCurve,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    start: float | None = None,
    **options: Any,
) -> TradeoffExplorer:
    """A slider over the naturalness N beside A(N) and the table Q(y|x) of the best translator that is so natural.

    Parameters
    ----------
    curve : from `exact.solve_curve`: X sources, Y targets.
    sources, targets : X and Y names.
    start : the N at which the slider starts, between the ends of the curve; by default in their middle.
    options : title : the claim. names : how accuracy and naturalness are called in the readout, ("A(N)", "N").
        langs : language codes of sources and targets. show : how many targets get a column, those with the largest
        probability anywhere; the rest is added up as "others". accuracy_title, naturalness_title, size : as in
        `charts.tradeoff.plot_tradeoff`.

    Returns
    -------
    TradeoffExplorer; its `naturalness` follows the page and can be set. Where the environment has ANX_MODE=static it
    shows itself as HTML that works without a kernel.

    Raises
    ------
    DataError where the names do not fit the curve, or N is beyond its ends.
    """
    n = curve.naturalness
    start = float(n[0] + n[-1]) / 2 if start is None else start
    data, chart = _shaped(curve, sources, targets, point=start, **options)
    return TradeoffExplorer.of(chart, data=data, naturalness=start)


class TradeoffExplorer(Widget):
    """The widget that `tradeoff_explorer` makes; `naturalness` and `scale` follow the page and can be set.

    scale : what the slider moves, "naturalness" or "beta" (then it jumps from vertex to vertex).
    """

    _esm = module("tradeoff.js")
    _css = styles("tradeoff.css")
    noun = "A(N) explorer"
    naturalness = traitlets.Float(0.0).tag(sync=True)
    scale = traitlets.Enum(["naturalness", "beta"], "naturalness").tag(sync=True)

    @traitlets.validate("naturalness")
    def _valid_naturalness(self, proposal: Any) -> Any:
        return between_ends(proposal["value"], self.data.get("naturalness", [proposal["value"]]))

    def __repr__(self) -> str:
        accuracy, (x, y) = mixture(self.data, self.naturalness)[0], np.shape(self.data["q"])[1:]
        return (
            f"TradeoffExplorer(N = {self.naturalness:.4g}, A(N) = {accuracy:.4g}, {x} sources, {y} "
            "columns)"
        )

    def static_html(self) -> str:
        return _static_html(self.data, _three(self.data["naturalness"]))


def static_tradeoff(
    curve: ExactCurve,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    at: Sequence[float] | None = None,
    **options: Any,
) -> TradeoffView:
    """The chart of `tradeoff_explorer` and the table Q(y|x) at a few N, for print and headless runs.

    Its `chart` is an Altair chart, its `table` a data frame; `at` are values of N, by default both ends and the
    middle. Other arguments as above.

    Parameters
    ----------
    sources, targets : texts of the X sources and the Y targets.
    """
    n = curve.naturalness
    at = _three(n) if at is None else tuple(between_ends(value, n) for value in at)
    data, chart = _shaped(curve, sources, targets, at=at, **options)
    return TradeoffView(data, chart, at)


@dataclass(frozen=True, repr=False)
class TradeoffView:
    """A chart and the best translators at a few N; shown as one picture with alt text and one plain table for each."""

    data: dict
    chart: Any
    at: tuple[float, ...]

    @property
    def table(self) -> pd.DataFrame:
        """naturalness, accuracy, source, p (of the source), target, q: a row per N, source and shown target."""
        rows = []
        for n in self.at:
            accuracy, q = mixture(self.data, n)
            names = self.data["targets"] + ([OTHERS] if self.data["others"] else [])
            for x, (source, p) in enumerate(zip(self.data["sources"], self.data["p"], strict=True)):
                rows += [
                    (n, accuracy, source, p, y, float(v)) for y, v in zip(names, q[x], strict=True)
                ]
        return pd.DataFrame(rows, columns=["naturalness", "accuracy", "source", "p", "target", "q"])

    def __repr__(self) -> str:
        return (
            f"TradeoffView(N = {', '.join(f'{n:.3g}' for n in self.at)}; "
            f"{len(self.data['sources'])} sources)"
        )

    def _repr_html_(self) -> str:
        return _static_html(self.data, self.at)


def _three(n: np.ndarray) -> tuple[float, ...]:
    """Both ends of a curve and the middle; one value where the ends are one."""
    return tuple(dict.fromkeys([float(n[0]), float(n[0] + n[-1]) / 2, float(n[-1])]))


def _shaped(
    curve: ExactCurve,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    title: str = "",
    names: tuple[str, str] = ("A(N)", "N"),
    langs: tuple[str, str] = ("", ""),
    show: int = 6,
    point: float | None = None,
    at: Sequence[float] = (),
    **settings: Any,
) -> tuple[dict, Any]:
    """(data, chart); arguments as in `tradeoff_explorer`, `at` are the labelled N."""
    sources, targets = list(map(str, sources)), list(map(str, targets))
    _, n_sources, n_targets = curve.translators.shape
    if (len(sources), len(targets)) != (n_sources, n_targets):
        seen = f"{len(sources)} sources and {len(targets)} targets"
        raise DataError(
            f"{seen} are named, the curve is over {n_sources} and {n_targets}; name each once."
        )
    if show < 1:
        raise DataError(f"show must be at least 1, got {show}: one target needs a column.")
    settings = {"size": (430, 340)} | settings
    chart = plot_tradeoff(curve, point=point, at=at, **settings)
    kept, q, r = columns(curve, int(show))
    data = {
        "title": title,
        "names": list(names),
        "langs": [*map(html_lang, langs)],
        "box": [v for span in axis_ranges([curve]) for v in span] + list(settings["size"]),
        "sources": sources,
        "targets": [targets[y] for y in kept],
        "others": n_targets - len(kept),
        "p": curve.problem.p_x.tolist(),
        "digits": [digits_of(curve.accuracy), digits_of(curve.naturalness)],
        "q": q.tolist(),
        "r": r.tolist(),
        "exact": bool(curve.exact),
        "gap": float(curve.gap),
    }
    data |= {name: getattr(curve, name).tolist() for name in ("naturalness", "accuracy", "beta")}
    return data | drawn(chart), chart


def columns(curve: ExactCurve, show: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(K,) shown targets in their order; (V, X, C) Q(y|x) and (C,) R(y) of these and, where some are left, of others.

    C is K, or K + 1 with others. Shown are the targets with the largest Q(y) at any vertex, or R(y).

    Parameters
    ----------
    show : K, the most targets with a column of their own.
    """
    q, p, r = curve.translators, curve.problem.p_x, curve.problem.reference
    n = q.shape[2]
    mass = np.maximum(np.einsum("x,vxy->vy", p, q).max(axis=0), r)
    kept = np.arange(n) if n <= show else np.sort(np.argsort(-mass, kind="stable")[:show])
    rest = np.setdiff1d(np.arange(n), kept)
    more = (
        (q[:, :, rest].sum(axis=2, keepdims=True), [r[rest].sum()])
        if rest.size
        else (q[:, :, :0], [])
    )
    q, r = np.concatenate([q[:, :, kept], more[0]], axis=2), np.concatenate([r[kept], more[1]])
    return kept, q.round(6) + 0.0, r


def mixture(data: dict, naturalness: float) -> tuple[float, np.ndarray]:
    """(A(N), (X, C) Q(y|x)) between two vertices: both are linear in N there, as in tradeoff.js."""
    n, q = np.array(data["naturalness"]), np.array(data["q"])
    v = min(int(np.searchsorted(n, naturalness, side="right")) - 1, len(n) - 2)
    if v < 0:
        return float(data["accuracy"][0]), q[0]
    share = (naturalness - n[v]) / (n[v + 1] - n[v])
    accuracy = np.interp(naturalness, n, data["accuracy"])
    return float(accuracy), (1 - share) * q[v] + share * q[v + 1]


def _static_html(data: dict, at: Sequence[float]) -> str:
    """Title, chart and one table for each N, of elements that JupyterLab keeps in a notebook it does not trust.

    Parameters
    ----------
    at : values of N.
    """
    note = (
        "<p>Rows: Q(y|x), what the best translator says for each source. Bold: the most probable "
        "target.</p>"
    )
    return static_page(data, *(_static_table(data, n) for n in at), note, title=data["title"])


def _static_table(data: dict, naturalness: float) -> str:
    accuracy, q = mixture(data, naturalness)
    (a_digits, n_digits), (a_name, n_name) = data["digits"], data["names"]
    said = f"{n_name} = {number(naturalness, n_digits)}, {a_name} = {number(accuracy, a_digits)}"
    others = [Markup(f"<i>{OTHERS} ({data['others']})</i>")] if data["others"] else []
    rows = [
        [source, shown_probability(p), *_chosen(row, len(data["targets"]))]
        for source, p, row in zip(data["sources"], data["p"], q, strict=True)
    ]
    marginal, r = np.array(data["p"]) @ q, np.array(data["r"])
    foot = [
        ["marginal Q(y)", "", *map(shown_probability, marginal)],
        ["reference R(y)", "", *map(shown_probability, r)],
        ["difference, points", "", *map(signed, marginal - r)],
    ]
    heads = ["source", "P(x)", *data["targets"], *others]
    return plain_table(said, heads, rows, "right", foot=foot)


def _chosen(row: np.ndarray, named: int) -> list[str]:
    """The cells of one source, the most probable of the named targets in bold."""
    best = max(row[:named].max() - 1e-6, 5e-7)
    return [
        Markup(f"<b>{html.escape(shown_probability(v))}</b>")
        if k < named and v >= best
        else shown_probability(v)
        for k, v in enumerate(row)
    ]


def shown_probability(share: float) -> str:
    """A probability as a percentage, as tradeoff.js prints it.

    >>> [shown_probability(v).replace(chr(160), " ") for v in (0, 1e-5, 0.125, 1)]
    ['·', '< 0.1 %', '12.5 %', '100 %']
    """
    if share < 5e-7:
        return "·"
    if share < 5e-4:
        return "<\u00a00.1\u00a0%"
    return f"{100 * share:.{0 if share > 1 - 5e-7 else 1}f}\u00a0%"


def signed(difference: float) -> str:
    """A difference of probabilities in percentage points, with a sign that is more than a colour.

    >>> [signed(d).replace(chr(160), " ") for d in (0.031, -0.2, 1e-5)]
    ['▲ +3.1', '▼ −20.0', '0.0']
    """
    points = round(100 * difference, 1) + 0.0
    return (
        "0.0"
        if points == 0
        else f"▲\u00a0+{points:.1f}"
        if points > 0
        else f"▼\u00a0−{-points:.1f}"
    )
