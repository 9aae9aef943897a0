"""The β explorer of one or more studies: candidates, systems with intervals, domains and titles, taken from them."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from IPython.display import HTML

from .. import checks
from ..data.schema import CandidateSet, TestSet
from ..data.teaching_tags import tag_meanings
from ..data.text_ratings import RATED
from ..errors import DataError
from ..metrics import Metric
from ..plane import OracleStudy
from .base import html_lang
from .explorer import BetaExplorer, StaticView, beta_explorer, static_explorer
from .judged import ALL, Judged

__all__ = ["explore", "one_source", "planes", "preview"]

SHORT = {
    "lpp": ("log-probability", "log-prob."),
    "critic": ("critic", "critic"),
}
"""Metric -> how a list calls the oriented score, and how the readout does."""


def _arguments(
    studies: Sequence[OracleStudy], rng: np.random.Generator | None, segments: Sequence[int] | None
) -> dict:
    """What the explorer needs, from studies of the same texts: `rng` draws the intervals of the systems."""
    if not studies:
        raise DataError("there is no study to explore; give at least one.")
    test, cands = studies[0].test, studies[0].cands
    for one in studies[1:]:
        if (one.test.srcs, one.test.systems) != (test.srcs, test.systems):
            raise DataError(
                f"the studies are of different tests: {one.test} and {test}; make them together "
                "(plane.oracle_studies)."
            )
        if one.cands.texts != cands.texts or not np.array_equal(one.cands.segment, cands.segment):
            raise DataError(
                f"the studies choose from different candidates, {one.cands.id} and {cands.id}; "
                "make them together (plane.oracle_studies)."
            )
    rng = rng or np.random.default_rng(0)
    refs = [""] * len(test) if test.reference is None else test.refs[test.reference]
    return {
        "curve": [_judged(one, rng) for one in studies],
        "srcs": test.srcs,
        "refs": refs,
        "texts": cands.texts,
        "tags": cands.tags,
        "meanings": tag_meanings(),
        "segment": cands.segment,
        "segments": segments,
        "langs": (test.src_lang, test.trg_lang),
        "glosses": test.glosses,
        "domains": test.domains if len(set(test.domains)) > 1 else None,
    }


def _judged(study: OracleStudy, rng: np.random.Generator) -> Judged:
    """A study as one pair of judges."""
    accuracy, naturalness = study.metrics
    (a_label, a_name), (n_label, n_name) = _said(accuracy), _said(naturalness)

    def systems(name: str) -> Any:
        return (
            (study if name == ALL else study.domain(name)).systems(rng)
            if study.test.systems
            else None
        )

    return Judged(
        study.curve,
        study.accuracy,
        study.naturalness,
        systems,
        (accuracy.name, naturalness.name),
        (a_label, n_label),
        (a_name, n_name),
        *(_axis_title(metric) for metric in study.metrics),
    )


def _said(metric: Metric) -> tuple[str, str]:
    """How a list calls the oriented score, and how the readout does."""
    if metric.name in RATED.values():
        return "ratings", metric.label
    sign = "" if metric.higher_is_better else "−"
    return SHORT.get(metric.name, (f"{sign}{metric.label}",) * 2)


def _axis_title(metric: Metric) -> str:
    """Of an axis: what the list calls the score, its unit and its direction."""
    if metric.name not in SHORT:
        return metric.oriented_title
    return f"{SHORT[metric.name][0]} ({metric.unit}, higher is {metric.praise})"


def explore(
    *studies: OracleStudy,
    beta: float = 1.0,
    title: str = "",
    rng: np.random.Generator | None = None,
    segments: Sequence[int] | None = None,
    show: int = 6,
    view: str = "table",
    by_domain: bool = True,
) -> BetaExplorer:
    """Drag the weight β of naturalness and see which candidates the oracle chooses, by one judge or a choice of them.

    A step of the slider is one change of what is shown.

    Parameters
    ----------
    studies : as `plane.oracle_studies` makes them; the page starts with the first.
    segments : those whose texts are shipped (default: all); the curves are over all.
    show : rows, one per segment, on a page. view : what is seen first, "one" sentence or the "table" of all.
    by_domain : whether a domain can be chosen, which takes time and space for a chart by domain and pair of judges.
    """
    given = _arguments(studies, rng, segments) | {"by_domain": by_domain}
    return beta_explorer(**given, beta=beta, title=title, show=show, view=view)


def planes(
    *studies: OracleStudy,
    beta: float = 1.0,
    title: str = "",
    rng: np.random.Generator | None = None,
) -> BetaExplorer:
    """The picture of `explore` without its table: systems and oracle curve on the plane, with a choice of judges.

    It is of all segments, without a list of domains: each would be one more picture per pair of judges.

    Parameters
    ----------
    studies : as in `explore`.
    """
    given = _arguments(studies, rng, ()) | {"by_domain": False}
    return beta_explorer(**given, beta=beta, title=title, show=0, size=(620, 420))


def preview(
    *studies: OracleStudy,
    betas: Sequence[float] = (0, 1, 10, math.inf),
    title: str = "",
    rng: np.random.Generator | None = None,
    segments: Sequence[int] | None = None,
) -> StaticView:
    """`explore` without a slider: the picture and a table of the choices at a few β, for print and headless runs.

    Of several studies it shows the first, and how often the judges of the others choose otherwise.

    Parameters
    ----------
    segments : those whose texts are shown.
    """
    return static_explorer(**_arguments(studies, rng, segments), betas=betas, title=title)


def one_source(test: TestSet, cands: CandidateSet, segment: int = 0, most: int = 8) -> HTML:
    """A source, its gloss where there is one, and its first candidates with numbers from 0, to read in a notebook.

    Parameters
    ----------
    segment : in [0, number of sources). most : how many candidates, at least 1.
    """
    segment = checks.whole("segment", segment, 0, len(test) - 1)
    texts = [
        cands.texts[i]
        for i in np.flatnonzero(cands.segment == segment)[: checks.whole("most", most, 1)]
    ]
    source, target = (
        f'dir="auto" lang="{html.escape(html_lang(code))}"'
        for code in (test.src_lang, test.trg_lang)
    )
    gloss = "".join(
        f'<br><small lang="en">word for word: {html.escape(line)}</small>'
        for line in test.glosses[segment : segment + 1]
    )
    items = "".join(f"<li {target}>{html.escape(text)}</li>" for text in texts)
    return HTML(
        f'<p {source}>{html.escape(test.srcs[segment])}{gloss}</p><ol start="0">{items}</ol>'
    )
