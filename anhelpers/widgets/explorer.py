"""The β explorer: drag the weight of naturalness and watch the oracle's translations and its point on the curve change.

Python shapes what `frontier` computed and ships it once; explorer.js only looks a β up, so no kernel is needed later.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import traitlets

from .. import checks
from ..charts.curve import beta_label
from ..frontier import OracleCurve
from .base import Widget, module, styles, without_kernel
from .shape import ALL, choice, shaped, static_html

__all__ = ["BetaExplorer", "StaticView", "beta_explorer", "static_view"]


def beta_explorer(
    curve: OracleCurve,
    srcs: Sequence[str],
    refs: Sequence[str],
    texts: Sequence[str],
    *,
    beta: float = 1.0,
    **options: Any,
) -> BetaExplorer:
    """A slider over β beside the curve and a table of the translations that the oracle chooses at that β.

    Parameters
    ----------
    curve : over all S segments, from `frontier.oracle_curve(segment, accuracy, naturalness)`.
    srcs, refs : S sources and S references (one stream).
    texts : n candidate translations.
    beta : where the slider starts, in [0, ∞].
    options : segment, accuracy, naturalness : (n,) as given to `frontier.oracle_curve`; needed.
        tags : n labels of the candidates, e.g. their system. domains : S names; each gets a curve over its segments.
        systems : the table of `charts.curve.plot_curve`, drawn with all segments; or one per domain, "all" among them,
        as a mapping or a function of the name.
        segments : those whose texts are shipped, by default all (1,000 of 250 characters are some 1.5 MB); curve,
        point and means are always over all. show : rows per page, 6.
        names : short names of the two scores. langs : language codes of source and target. title : the claim.
        accuracy_title, naturalness_title, size : as in `plot_curve`.

    Returns
    -------
    BetaExplorer. Where the environment has ANX_MODE=static it shows itself as HTML that works without a kernel.
    """
    data, chart = shaped(curve, srcs, refs, texts, point=beta, **options)
    widget = BetaExplorer(data=data, beta=beta, **without_kernel())
    widget.chart = chart
    return widget


def static_view(
    curve: OracleCurve,
    srcs: Sequence[str],
    refs: Sequence[str],
    texts: Sequence[str],
    *,
    betas: Sequence[float] = (0, 1, 10, math.inf),
    **options: Any,
) -> StaticView:
    """The chart of `beta_explorer` and a table of the translations chosen at a few β, for print and headless runs.

    Its `chart` is an Altair chart, its `table` a data frame with one row per segment and β. Arguments as above.
    """
    betas = tuple(checks.non_negative("betas", b) for b in betas)
    return StaticView(*shaped(curve, srcs, refs, texts, marked=betas, **options), betas)


@dataclass(frozen=True, repr=False)
class StaticView:
    """A chart and the translations chosen at a few β; shown as one picture with alt text and one plain table."""

    data: dict
    chart: Any
    betas: tuple[float, ...]

    @property
    def table(self) -> pd.DataFrame:
        """segment, domain, beta, source, reference, tag, accuracy, naturalness, translation of `show` rows."""
        rows = self.data["rows"][: self.data["show"]]
        return pd.DataFrame([choice(row, beta) for row in rows for beta in self.betas])

    def __repr__(self) -> str:
        return f"StaticView({', '.join(map(beta_label, self.betas))}; {len(self.data['rows'])} segments)"

    def _repr_html_(self) -> str:
        return static_html(self.data, self.betas)


class BetaExplorer(Widget):
    """The widget that `beta_explorer` makes; `beta`, `domain`, `page` and `order` follow the page and can be set."""

    _esm = module("explorer.js")
    _css = styles("explorer.css")
    noun = "β explorer"
    beta = traitlets.Float(1.0).tag(
        sync=True, to_json=lambda b, _: "inf" if math.isinf(b) else b, from_json=lambda b, _: float(b)
    )
    domain = traitlets.Unicode(ALL).tag(sync=True)
    page = traitlets.Int(1).tag(sync=True)
    order = traitlets.Enum(["document", "changes"], "document").tag(sync=True)

    @traitlets.validate("beta")
    def _valid_beta(self, proposal: Any) -> Any:
        return checks.non_negative("beta", proposal["value"])

    @traitlets.validate("domain")
    def _valid_domain(self, proposal: Any) -> Any:
        names = [c["name"] for c in self.data.get("choices", [{"name": ALL}])]
        return checks.one_of(proposal["value"], names, "domain")

    def __repr__(self) -> str:
        return f"BetaExplorer({beta_label(self.beta)}, domain {self.domain!r}, {len(self.data['rows'])} segments)"

    def static_html(self) -> str:
        return static_html(self.data)
