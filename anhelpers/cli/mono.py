"""--mono: R, text that people wrote in the target language, which `plane` and `score` hold systems against."""

from __future__ import annotations

import argparse
from itertools import chain
from statistics import median
from typing import TYPE_CHECKING

from ..errors import DataError
from ..metrics import LPP_DISTANCE

if TYPE_CHECKING:
    import pandas as pd

    from ..data import TestSet
    from ..estimate import Estimate
    from ..frontier import OracleCurve
    from ..metrics import Metric
    from ..naturalness.lm import LanguageModel
    from ..naturalness.lpp import Mono
    from ..plane import Plane

__all__ = ["about_distance", "given_mono", "held_against", "option"]


def option(parser: argparse.ArgumentParser, what: str) -> None:
    """--mono FILE, or --mono alone for the data set's own.

    Parameters
    ----------
    what : R is used for, for the help.
    """
    parser.add_argument(
        "--mono",
        nargs="?",
        const=True,
        metavar="FILE",
        help=f"R, texts that people wrote in the target language, a line each: {what}; without "
        "FILE that of the data set, for German and English else a teaching set's",
    )


def given_mono(
    args: argparse.Namespace, test: TestSet, lm: LanguageModel | None
) -> tuple[Mono, list[str]]:
    """R and what to know of it: where it is from, lines that the model was trained on, lines that are translations.

    Parameters
    ----------
    lm : the model that will score R, if any does.

    Raises
    ------
    DataError where there is none, or where its texts read as another language.
    """
    from ..data import mono_for
    from ..naturalness.lpp import Mono

    file = args.mono if isinstance(args.mono, str) else None
    texts, origin = mono_for(args.data or "these texts", test.trg_lang, file)
    if not texts and file is None:
        raise DataError(f"R is {origin} (--mono FILE).")
    mono = Mono(texts, origin)
    told = [
        f"R is {origin} ({len(texts)} texts, {mono.signature}); they count as independent, for "
        "their documents are not known."
    ]
    ours, theirs = (
        f"{median(map(len, those)):.0f}" for those in (texts, chain(*test.systems.values()))
    )
    told[0] += (
        f" They have {ours} characters (median), the outputs {theirs}: other lengths and topics "
        "count in a gap, too."
    )
    return mono, told


def held_against(
    mono: Mono | None,
    table: pd.DataFrame,
    plane: Plane,
    metric: Metric,
    *,
    lm: LanguageModel | None,
    curve: OracleCurve | None,
) -> tuple[pd.DataFrame, Estimate | None, list[str]]:
    """The table with what R says of the systems, where R stands, and that in words; as it was where R says nothing.

    Parameters
    ----------
    mono : R; None: nobody asked. metric : scores texts as the axis of naturalness does.
    lm : of this metric, if it has one. curve : if one is drawn.
    """
    from ..plane import overshoot, with_mono

    if mono is None:
        return table, None, []
    if why := _not_comparable(plane, metric):
        return table, None, [f"R is not drawn: {why}; lpp, bpb and critic can be compared with R."]
    table, r = with_mono(table, plane, metric, mono)
    folded = plane.naturalness.name == LPP_DISTANCE
    where = (
        f"R stands at {r.value:+.4g}, 95 % interval {r.low:+.4g} to {r.high:+.4g} (n = {r.n} "
        "texts)."
    )
    caution = [r.caution] * bool(r.caution)
    return (
        table,
        r,
        [
            *[where] * (not folded),
            *caution,
            *([overshoot(table, curve)] if metric.name == "lpp" else []),
        ],
    )


def _not_comparable(plane: Plane, metric: Metric) -> str:
    """Why the mean score of R's texts has no place on the axis; "" where it has one."""
    from ..naturalness.compression import COMPRESSION

    if plane.naturalness.name == LPP_DISTANCE:
        return ""
    if metric.score_systems is not None:
        return f"{metric.name} was given to outputs of systems, and R has none"
    if metric.score_segments is None or plane.naturalness.level != "segment-mean":
        return f"{metric.name} is measured over a whole corpus and follows its size"
    if metric.needs:
        return f"{metric.name} needs {' and '.join(metric.needs)}, and R is no translation"
    return (
        f"{metric.name} of single texts mostly follows their length"
        if metric.name in ("zip", COMPRESSION)
        else ""
    )


def about_distance(args: argparse.Namespace) -> list[str]:
    """What a reader of a plane with N(Q) as naturalness must know: no curve, no slices, which intervals are whose."""
    told = (
        "N(Q) = −|LPP(Q) − LPP(R)| is of a system's mean and not a mean over segments: there is no "
        "oracle curve."
    )
    spread = (
        "Intervals of N(Q) are Student's t over documents of Q and texts of R; p-values, ranks "
        "and Pareto probabilities take LPP(R) as it is."
    )
    return [told, spread, *[f"no slices by {args.by}: R is not divided by it."] * bool(args.by)]
