"""The correction explorer: drag α and watch which p-values three rules call significant.

Python ships the p-values once, each with Holm's adjusted one; decisions.js compares them with α and α/m, so no kernel
is needed later. On a logarithmic axis another α moves every threshold equally far, so the drawn ones only slide.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import traitlets

from .. import checks
from ..charts.decisions import decided, decision_plane, plot_decisions
from ..errors import DataError
from .base import Widget, drawn, module, plain_table, static_page, styles

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LEAST", "MOST", "CorrectionExplorer", "correction_explorer"]

LEAST, MOST = 0.001, 0.2  # ends of the slider, which moves by LEAST
# rule: the highest level of `decided` that it rejects
RULES = {"uncorrected": 2, "Holm": 1, "Bonferroni": 0}


def correction_explorer(
    table: pd.DataFrame,
    alpha: float = 0.05,
    *,
    names: Mapping[str, str] | None = None,
    title: str = "",
    width: int = 230,
) -> CorrectionExplorer:
    """A slider over α beside all p-values, three thresholds, and the features that each rule calls significant.

    Parameters
    ----------
    table : as `xmi.features` makes it: feature, method, r, p, p_holm; a nan p is no test.
    alpha : where the slider starts, in [0.001, 0.2].
    names : feature → how it is called. title : the claim. width : of each plane in pixels.

    Returns
    -------
    CorrectionExplorer; its `alpha` follows the page and can be set. Where the environment has ANX_MODE=static it shows
    itself as HTML that works without a kernel.

    Raises
    ------
    DataError as `charts.decisions.decided` does, and for an alpha beyond the ends.
    """
    alpha, names = _inside(alpha), dict(names or {})
    rows = decided(table, alpha)
    chart = plot_decisions(
        table, alpha, names=names, title="", notes=False, least=LEAST, width=width
    )
    gone = dict.fromkeys(table.feature[table.p.isna()])
    data = {
        "title": title,
        "start": alpha,
        "ends": [LEAST, MOST],
        "span": [*decision_plane(rows, LEAST, width).ranges[0], width],
        "methods": _methods(rows, names),
        "rules": RULES,
        "note": _note([names.get(name, str(name)) for name in gone]),
    }
    return CorrectionExplorer.of(chart, data=data | drawn(chart), alpha=alpha)


class CorrectionExplorer(Widget):
    """The widget that `correction_explorer` makes; `alpha` follows the page and can be set, in [0.001, 0.2]."""

    _esm = module("decisions.js")
    _css = styles("decisions.css")
    noun = "correction explorer"
    alpha = traitlets.Float(0.05).tag(sync=True)

    @traitlets.validate("alpha")
    def _valid_alpha(self, proposal: Any) -> Any:
        return _inside(proposal["value"])

    def significant(self, rule: str, alpha: float | None = None) -> dict[str, list[str]]:
        """Method → the features that a rule ("uncorrected", "Holm", "Bonferroni") calls significant at alpha."""
        level = RULES[checks.one_of(rule, RULES, "rule")]
        return _significant(self.data, level, self.alpha if alpha is None else _inside(alpha))

    def __repr__(self) -> str:
        counts = (f"{rule} {sum(map(len, self.significant(rule).values()))}" for rule in RULES)
        m = sum(method["m"] for method in self.data["methods"])
        return f"CorrectionExplorer(α = {self.alpha:g}: {', '.join(counts)} of {m} significant)"

    def static_html(self) -> str:
        data = self.data
        tables = (_static_table(data, alpha) for alpha in sorted({0.01, data["start"], 0.1}))
        note = f"<p>In the picture, α = {data['start']:g}. {html.escape(data['note'])}</p>"
        return static_page(data, *tables, note, title=data["title"])


def _inside(alpha: float) -> float:
    alpha = float(alpha)
    if not LEAST <= alpha <= MOST:
        raise DataError(
            f"alpha must be in [{LEAST:g}, {MOST:g}], the ends of the slider, got {alpha:g}."
        )
    return alpha


def _methods(rows: pd.DataFrame, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """A method's name, how many tests it has, and these from the smallest p-value to the largest."""
    return [
        {
            "name": str(method).capitalize(),
            "m": len(tests),
            "features": [names.get(name, str(name)) for name in tests.feature],
            "p": tests.p.tolist(),
            "p_holm": tests.p_holm.tolist(),
        }
        for method, tests in rows.groupby("method", sort=False)
    ]


def _levels(method: Mapping, alpha: float) -> list[int]:
    """The level of each test, by the comparisons of `charts.decisions.decided`, as decisions.js makes them."""
    pairs = zip(method["p"], method["p_holm"], strict=True)
    return [
        0 if p < alpha / method["m"] else 1 if holm < alpha else 2 if p < alpha else 3
        for p, holm in pairs
    ]


def _significant(data: Mapping, level: int, alpha: float) -> dict[str, list[str]]:
    """Method → the features whose level is at most this one."""
    return {
        method["name"]: [
            name
            for name, k in zip(method["features"], _levels(method, alpha), strict=True)
            if k <= level
        ]
        for method in data["methods"]
    }


def _static_table(data: Mapping, alpha: float) -> str:
    """The features that each rule calls significant at one alpha."""
    methods, rows = data["methods"], []
    for rule, level in data["rules"].items():
        found = zip(_significant(data, level, alpha).values(), methods, strict=True)
        rows.append([rule, *(_named(names, method["m"]) for names, method in found)])
    heads = ["significant", *(method["name"] for method in methods)]
    return plain_table(f"α = {alpha:g}. {_expected(data, alpha)}", heads, rows)


def _named(names: Sequence[str], m: int) -> str:
    """ "2 of 17: source TTR, TTR distance", as decisions.js prints it."""
    return f"{len(names)} of {m}" + (f": {', '.join(names)}" if names else "")


def _expected(data: Mapping, alpha: float) -> str:
    """How many false alarms to expect without a correction if nothing is related, method by method."""
    counts = ", ".join(
        f"{method['m'] * alpha:.3g} for {method['name']}" for method in data["methods"]
    )
    return f"False alarms expected without a correction if nothing is related: {counts}."


def _note(gone: Sequence[str]) -> str:
    without = f" Without a p-value: {', '.join(gone)}." if gone else ""
    return f"The p-values take the pairs of values behind each r as independent.{without}"
