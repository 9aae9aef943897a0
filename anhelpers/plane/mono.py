"""Systems compared with R, text that people wrote in the language: the signed gap and N(Q)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..estimate import Estimate
from ..frontier import OracleCurve
from ..metrics import LPP_DISTANCE, Metric
from ..naturalness.lpp import LppDistance, Mono, lpp_gaps, score_mono
from .scores import Plane

if TYPE_CHECKING:
    import pandas as pd

_ENDS = ("", "_low", "_high")


def with_mono(
    table: pd.DataFrame, plane: Plane, metric: Metric, mono: Mono
) -> tuple[pd.DataFrame, Estimate]:
    """Add the columns of R to the table of systems, and return R's place on the axis of naturalness.

    Parameters
    ----------
    table : of `systems_table`, a row per system of the plane.
    plane : Plane
        Its naturalness is the mean of the metric's segment scores, or the lpp-distance; then the metric is lpp.
    metric : Metric
        Scores single texts; with lpp the table gets AN's columns.

    Returns
    -------
    The table with mono, mono_low, mono_high (`score_mono`), mono_n and mono_signature; with lpp also lpp_q, lpp_r,
    lpp_gap = LPP(Q) - LPP(R) and minus_lpp_distance = N(Q) = -|lpp_gap|, both with _low and _high, nats per token, from
    `lpp_distance`. On the axis of lpp-distance, naturalness is N(Q) and gets this interval, and R is at 0. A system
    without 2 scored outputs has nan.

    References
    ----------
    Flamich et al. 2025, §5.1: D(Q, R) = |LPP(Q) - LPP(R)|, N(Q) = -D(Q, R).
    """
    (r, scores), folded = score_mono(metric, mono), plane.naturalness.name == LPP_DISTANCE
    columns: dict[str, object] = {"mono_n": r.n, "mono_signature": mono.signature}
    if not folded:
        columns = {"mono": r.value, "mono_low": r.low, "mono_high": r.high} | columns
    table = table.assign(**columns)
    if metric.name != "lpp":
        return table, r
    axis = plane.naturalness
    logprobs = np.where(axis.there, axis.counts[..., 0], np.nan)  # oriented, so higher is better
    gaps = lpp_gaps(logprobs, plane.systems, scores, plane.clusters)
    rows = [_numbers(gaps[system]) if system in gaps else [np.nan] * 9 for system in table.system]
    *found, n_q, n_low, n_high, se = np.array(rows, dtype=float).T
    names = ["lpp_q", "lpp_r", *(f"lpp_gap{end}" for end in _ENDS)]
    table = table.assign(**dict(zip(names, found, strict=True)))
    if not folded:
        ends = zip(_ENDS, (n_q, n_low, n_high), strict=True)
        return table.assign(**{f"minus_lpp_distance{end}": values for end, values in ends}), r
    table = table.assign(naturalness_low=n_low, naturalness_high=n_high, naturalness_se=se)
    return table, replace(r, value=0.0, se=np.nan, low=np.nan, high=np.nan)


def _numbers(found: LppDistance) -> list[float]:
    gap, d = found.gap, found.distance
    turned = (0.0 - number for number in (d.value, d.high, d.low))
    return [found.lpp_q, found.lpp_r, gap.value, *gap.interval, *turned, gap.se]


def overshoot(table: pd.DataFrame, curve: OracleCurve | None = None) -> str:
    """Name the systems that are more probable than R, where more probable is less natural by N(Q).

    Parameters
    ----------
    table : of `with_mono` with lpp; controls are left out.
    curve : OracleCurve or None
        Over candidates with lpp, to be compared with R too.
    """
    real = table[table.outside != "control"] if "outside" in table else table
    known = real[real.lpp_gap.notna()]
    if known.empty:
        return "No system has 2 scored outputs to compare with R."
    r = float(known.lpp_r.iloc[0])
    names = [*known.system[known.lpp_gap < 0]]
    names += ["the oracle curve"] if curve is not None and curve.naturalness.max() > -r else []
    return (
        f"More probable than R, LPP(R) = {r:.3f} nats per token: {', '.join(names) or 'none'}. "
        "Where LPP is below LPP(R), more probable is less natural by N(Q) = −|LPP(Q) − LPP(R)|."
    )
