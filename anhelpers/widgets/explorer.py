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
from ..errors import DataError
from ..frontier import OracleCurve
from .base import Widget, module, styles
from .judged import ALL, Judged
from .shape import choice, shaped, static_html

__all__ = ["BetaExplorer", "StaticView", "beta_explorer", "static_explorer"]

VIEWS = ["one", "table"]
OF_ONE = ("accuracy", "naturalness", "systems", "names", "accuracy_title", "naturalness_title")


def beta_explorer(
    curve: OracleCurve | Sequence[Judged],
    srcs: Sequence[str],
    refs: Sequence[str],
    texts: Sequence[str],
    *,
    beta: float = 1.0,
    view: str = "table",
    **options: Any,
) -> BetaExplorer:
    """A slider over β, and the translations that the oracle chooses at that β: of one sentence, or of all in a table.

    A step of the slider is one change of what is shown: it stands at β = 0 first, and at ∞ last.

    Parameters
    ----------
    curve : over all S segments, from `frontier.oracle_curve(segment, accuracy, naturalness)`. Or several `Judged`: then
        the page lets its reader choose among these pairs of judges, and starts with the first.
    srcs, refs : S sources and S references (one stream).
    texts : n candidate translations.
    beta : where the slider starts, in [0, ∞].
    view : what is seen first, and can be changed in the page: "one" sentence in large letters, with the words that
        were struck out and those that came, beside its candidates as points; or the "table" beside the curve of all.
    options : segment, accuracy, naturalness : (n,) as given to `frontier.oracle_curve`; needed (of several `Judged`,
        segment alone: these have their own scores, systems, names and titles).
        tags : n labels of the candidates, e.g. their system. domains : S names; each gets a curve over its segments,
        if by_domain, which takes a chart for each pair of judges (default: True).
        systems : the table of `charts.curve.plot_curve`, drawn with all segments; or one per domain, "all" among them,
        as a mapping or a function of the name.
        segments : those whose texts are shipped, by default all (1,000 of 250 characters are some 1.5 MB); curve,
        point and means are always over all. show : rows per page, 6; 0 shows the chart without a table.
        glosses : S lines of plain English for the sources, shown on demand. meanings : tag -> what it says of a
        candidate, in a sentence. names : short names of the two scores.
        langs : language codes of source and target. title : the claim.
        accuracy_title, naturalness_title, size : as in `plot_curve`.

    Returns
    -------
    BetaExplorer. Where the environment has ANX_MODE=static it shows itself as HTML that works without a kernel.
    """
    checks.one_of(view, VIEWS, "view")
    judged = _judged(curve, options)
    data, chart = shaped(judged, srcs, refs, texts, point=beta, **options)
    first = dict(zip(("accuracy", "naturalness"), judged[0].judges, strict=True))
    ids = [row["id"] for row in data["rows"]]
    seen = {"view": view if ids else "table", "sentence": ids[0] if ids else 0}
    return BetaExplorer.of(chart, data=data, beta=beta, **seen, **first)


def _judged(curve: OracleCurve | Sequence[Judged], options: dict) -> Sequence[Judged]:
    """The pairs of judges; the one of a single curve takes its scores out of the options."""
    if not isinstance(curve, OracleCurve):
        return curve
    return [Judged(curve, **{name: options.pop(name) for name in OF_ONE if name in options})]


def static_explorer(
    curve: OracleCurve | Sequence[Judged],
    srcs: Sequence[str],
    refs: Sequence[str],
    texts: Sequence[str],
    *,
    betas: Sequence[float] = (0, 1, 10, math.inf),
    **options: Any,
) -> StaticView:
    """The chart of `beta_explorer` and a table of the translations chosen at a few β, for print and headless runs.

    Its `chart` is an Altair chart, its `table` a data frame with one row per segment and β. Arguments as above. Of
    several `Judged` both show the first; a second table says what the others cost, and how often they choose otherwise.
    """
    betas = tuple(checks.non_negative("betas", b) for b in betas)
    return StaticView(
        *shaped(_judged(curve, options), srcs, refs, texts, marked=betas, **options), betas
    )


@dataclass(frozen=True, repr=False)
class StaticView:
    """A chart and the translations chosen at a few β; shown as one picture with alt text and one plain table."""

    data: dict
    chart: Any
    betas: tuple[float, ...]

    @property
    def table(self) -> pd.DataFrame:
        """segment, domain, beta, source, reference, tag, accuracy, naturalness, translation of `show` rows."""
        rows = range(min(self.data["show"], len(self.data["rows"])))
        return pd.DataFrame([choice(self.data, i, beta) for i in rows for beta in self.betas])

    def __repr__(self) -> str:
        return (
            f"StaticView({', '.join(map(beta_label, self.betas))}; {len(self.data['rows'])} "
            "segments)"
        )

    def _repr_html_(self) -> str:
        return static_html(self.data, self.betas)


class BetaExplorer(Widget):
    """The widget that `beta_explorer` makes; its traits follow the page and can be set.

    `view` is "one" or "table"; `sentence` is the number of the segment that is seen alone. `accuracy` and
    `naturalness` name the judges, as the metrics are named. In the page β keeps its place along the curve when they
    change, as its unit is another one then; when they are set from Python, β stays as it is. `observe` them to hear
    what is dragged, and ask `values()` for what is chosen there.
    """

    _esm = module("sentence.js", "explorer.js")
    _css = styles("explorer.css")
    noun = "β explorer"
    beta = traitlets.Float(1.0).tag(
        sync=True,
        to_json=lambda b, _: "inf" if math.isinf(b) else b,
        from_json=lambda b, _: float(b),
    )
    accuracy = traitlets.Unicode().tag(sync=True)
    naturalness = traitlets.Unicode().tag(sync=True)
    domain = traitlets.Unicode(ALL).tag(sync=True)
    page = traitlets.Int(1).tag(sync=True)
    view = traitlets.Enum(VIEWS, "table").tag(sync=True)
    sentence = traitlets.Int().tag(sync=True)
    order = traitlets.Enum(["document", "changes"], "document").tag(sync=True)

    @property
    def _pairs(self) -> list[tuple[str, str]]:
        return [tuple(one["judges"]) for one in self.data["judged"]]

    @traitlets.validate("beta")
    def _valid_beta(self, proposal: Any) -> Any:
        return checks.non_negative("beta", proposal["value"])

    @traitlets.validate("accuracy")
    def _valid_accuracy(self, proposal: Any) -> Any:
        return checks.one_of(proposal["value"], [a for a, _ in self._pairs], "accuracy")

    @traitlets.observe("accuracy")
    def _pair_with_accuracy(self, change: Any) -> None:
        beside = [n for a, n in self._pairs if a == change["new"]]
        if self.naturalness not in beside:
            self.naturalness = beside[0]

    @traitlets.validate("naturalness")
    def _valid_naturalness(self, proposal: Any) -> Any:
        beside = [n for a, n in self._pairs if a == self.accuracy]
        return checks.one_of(proposal["value"], beside, f"naturalness beside {self.accuracy}")

    @traitlets.validate("sentence")
    def _valid_sentence(self, proposal: Any) -> Any:
        ids = [row["id"] for row in self.data["rows"]]
        if ids and proposal["value"] not in ids:
            some = ", ".join(map(str, ids[:8])) + (" …" if len(ids) > 8 else "")
            raise DataError(
                f"sentence is {proposal['value']}, but the page has those of segments {some}."
            )
        return proposal["value"]

    @traitlets.validate("domain")
    def _valid_domain(self, proposal: Any) -> Any:
        names = [c["name"] for c in self.data["judged"][0]["choices"]]
        return checks.one_of(proposal["value"], names, "domain")

    def values(self) -> pd.DataFrame:
        """What is chosen at the present β by the present judges: a row for each segment of the page.

        segment, domain, beta, source, reference, translation, tag, accuracy, naturalness; the scores higher is better.
        """
        judged = self._pairs.index((self.accuracy, self.naturalness))
        rows = range(len(self.data["rows"]))
        return pd.DataFrame([choice(self.data, i, self.beta, judged) for i in rows])

    def __repr__(self) -> str:
        judges = f"{self.accuracy} × {self.naturalness}, " if len(self._pairs) > 1 else ""
        rows = len(self.data["rows"])
        return (
            f"BetaExplorer({judges}{beta_label(self.beta)}, domain {self.domain!r}, {rows} "
            "segments)"
        )

    def static_html(self) -> str:
        return static_html(self.data)
