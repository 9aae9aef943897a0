"""The β explorer: drag the weight of naturalness and watch the oracle's translations and its point on the curve change.

Python shapes what `frontier` computed and ships it once; explorer.js only looks a β up, so no kernel is needed later.
"""

from __future__ import annotations

import html
import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import anywidget
import comm
import ipywidgets
import pandas as pd
import traitlets

from .. import checks
from ..charts.curve import beta_label
from ..frontier import OracleCurve
from .shape import ALL, choice, shaped, static_html

__all__ = ["BetaExplorer", "StaticView", "beta_explorer", "static_view"]

HERE = Path(__file__).parent


def beta_explorer(
    curve: OracleCurve, srcs: Sequence[str], refs: Sequence[str], texts: Sequence[str], *, beta: float = 1.0, **options
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
    silent = {}
    if _is_static():  # and then leaves no widget state in the notebook, for which an export would load a script
        silent = {"comm": comm.DummyComm(), "layout": ipywidgets.Layout(comm=comm.DummyComm())}
    widget = BetaExplorer(data=data, beta=beta, **silent)
    widget.chart = chart
    return widget


def static_view(
    curve: OracleCurve,
    srcs: Sequence[str],
    refs: Sequence[str],
    texts: Sequence[str],
    *,
    betas: Sequence[float] = (0, 1, 10, math.inf),
    **options,
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


class BetaExplorer(anywidget.AnyWidget):
    """The widget that `beta_explorer` makes; `beta`, `domain`, `page` and `order` follow the page and can be set."""

    _esm = HERE / "explorer.js"
    _css = HERE / "explorer.css"
    data = traitlets.Dict().tag(sync=True)
    beta = traitlets.Float(1.0).tag(
        sync=True, to_json=lambda b, _: "inf" if math.isinf(b) else b, from_json=lambda b, _: float(b)
    )
    domain = traitlets.Unicode(ALL).tag(sync=True)
    page = traitlets.Int(1).tag(sync=True)
    order = traitlets.Enum(["document", "changes"], "document").tag(sync=True)

    @traitlets.validate("beta")
    def _valid_beta(self, proposal):
        return checks.non_negative("beta", proposal["value"])

    @traitlets.validate("domain")
    def _valid_domain(self, proposal):
        names = [c["name"] for c in self.data.get("choices", [{"name": ALL}])]
        return checks.one_of(proposal["value"], names, "domain")

    def __repr__(self) -> str:
        return f"BetaExplorer({beta_label(self.beta)}, domain {self.domain!r}, {len(self.data['rows'])} segments)"

    def _repr_mimebundle_(self, **kwargs):
        shown = {"text/plain": repr(self), "text/html": self.fragment()}
        if _is_static():
            return shown
        bundle, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return bundle | shown, metadata

    def fragment(self) -> str:
        """HTML for a notebook's output: a picture and a table, which a script, where one may run, makes interactive."""
        state = {"data": self.data, "beta": "inf" if math.isinf(self.beta) else self.beta}
        state |= {"domain": self.domain, "page": self.page, "order": self.order}
        render = f"render({{ model: fakeModel({_script_json(state)}), el: box }});"
        script = (
            "(() => {\nconst host = document.currentScript.parentElement;\n"
            + (HERE / "explorer.js").read_text(encoding="utf-8").replace("export default { render };", "")
            + "const box = make('div'), css = make('style');\n"
            + f"css.textContent = {_script_json((HERE / 'explorer.css').read_text(encoding='utf-8'))};\n"
            + f"{render}\nhost.replaceChildren(css, box);\n}})();"
        )
        return f'<div class="anx-host">{static_html(self.data)}<script>{script}</script></div>'

    def to_html(self) -> str:
        """A page of its own that needs neither kernel nor network."""
        head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        title = html.escape(self.data["title"] or "β explorer")
        body = f'<body class="anx-page">{self.fragment()}</body>'
        return f'<!doctype html><html lang="en"><head>{head}<title>{title}</title></head>{body}</html>\n'

    def save(self, path: str | PathLike) -> Path:
        """Write `to_html()` to a file, to hand out; returns the path."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.to_html(), encoding="utf-8")
        return path


def _is_static() -> bool:
    return os.environ.get("ANX_MODE") == "static"


def _script_json(value: Any) -> str:
    """JSON that cannot end the script element around it."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
