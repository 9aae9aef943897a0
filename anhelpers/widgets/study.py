"""The β explorer of a whole study: candidates, systems with intervals, domains and titles, taken from its parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..metric import Metric
from ..plane import OracleStudy
from .explorer import BetaExplorer, StaticView, beta_explorer, static_view
from .shape import ALL

__all__ = ["explore", "preview"]


def _arguments(study: OracleStudy, rng: np.random.Generator | None, segments: Sequence[int] | None) -> dict:
    """What the explorer needs, from the study: `rng` draws the intervals of the systems."""
    test, cands, (accuracy, naturalness) = study.test, study.cands, study.metrics
    rng = rng or np.random.default_rng(0)
    domains = test.domains if len(set(test.domains)) > 1 else None

    def systems(name: str) -> Any:
        return (study if name == ALL else study.domain(name)).systems(rng) if test.systems else None

    refs = [""] * len(test) if test.reference is None else test.refs[test.reference]
    return {
        "curve": study.curve, "srcs": test.srcs, "refs": refs,
        "texts": cands.texts, "tags": cands.tags, "segment": cands.segment, "accuracy": study.accuracy,
        "naturalness": study.naturalness, "domains": domains, "systems": systems, "segments": segments,
        "names": (_short(accuracy), _short(naturalness)), "langs": (test.src_lang, test.trg_lang),
        "accuracy_title": accuracy.oriented_title, "naturalness_title": naturalness.oriented_title,
    }  # fmt: skip


def _short(metric: Metric) -> str:
    """How the readout calls the oriented score."""
    sign = "" if metric.higher_is_better else "−"
    return "log-prob." if metric.name == "lpp" else f"{sign}{metric.label}"


def explore(
    study: OracleStudy, *, beta: float = 1.0, title: str = "", rng: np.random.Generator | None = None,
    segments: Sequence[int] | None = None, show: int = 6,
) -> BetaExplorer:  # fmt: skip
    """The β explorer of a study; `segments` are those whose texts are shipped (default: all), the curve is over all.

    Parameters
    ----------
    show : rows, one per segment, on a page.
    """
    return beta_explorer(**_arguments(study, rng, segments), beta=beta, title=title, show=show)


def preview(
    study: OracleStudy, *, betas: Sequence[float] = (0, 1, 10, math.inf), title: str = "",
    rng: np.random.Generator | None = None, segments: Sequence[int] | None = None,
) -> StaticView:  # fmt: skip
    """The same picture and a table of the choices at a few β, without a slider: for print and headless runs.

    Parameters
    ----------
    segments : those whose texts are shown.
    """
    return static_view(**_arguments(study, rng, segments), betas=betas, title=title)
