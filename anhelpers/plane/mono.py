"""Systems held against R, text that people wrote in the language: AN's signed gap, N(Q), and who is beyond R."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..estimate import Estimate
from ..frontier import OracleCurve
from ..metrics import LPP_DISTANCE, Metric
from ..naturalness.lpp import LppDistance
from ..naturalness.mono import Mono, lpp_gaps, score_mono
from .scores import Plane

if TYPE_CHECKING:
    import pandas as pd


ENDS = ("", "_low", "_high")
N_OF_Q = "N(Q) = −|LPP(Q) − LPP(R)|"


def with_mono(
    table: pd.DataFrame, plane: Plane, metric: Metric, mono: Mono
) -> tuple[pd.DataFrame, Estimate]:
    """The table of systems with what R says of them, and where R stands on the axis of naturalness.

    Parameters
    ----------
    table : of `systems_table`, a row per system of the plane.
    plane : its naturalness is the mean of the metric's segment scores; or the lpp-distance, then the metric is lpp.
    metric : scores single texts; with lpp the table has AN's columns. mono : R.

    Returns
    -------
    The table with mono, mono_low, mono_high (`score_mono`, R on the axis), mono_n and mono_signature; with lpp also
    lpp_q, lpp_r, lpp_gap = LPP(Q) - LPP(R) with _low and _high, and minus_lpp_distance = N(Q) = -|lpp_gap| with _low
    and _high, nats per token, from `lpp_distance` over documents of Q and texts of R. On the axis of lpp-distance,
    naturalness is N(Q) itself and gets this interval and standard error, R stands at 0, and minus_lpp_distance is left
    out. A system without 2 scored outputs has nan.

    References
    ----------
    Flamich et al. 2025, §5.1: D(Q, R) = |LPP(Q) - LPP(R)|, N(Q) = -D(Q, R).
    """
    (r, scores), folded = score_mono(metric, mono), plane.naturalness.name == LPP_DISTANCE
    columns: dict[str, object] = {"mono_n": r.n, "mono_signature": mono.signature}
    if not folded:
        columns = (
            dict(zip([f"mono{end}" for end in ENDS], (r.value, r.low, r.high), strict=True))
            | columns
        )
    table = table.assign(**columns)
    if metric.name != "lpp":
        return table, r
    axis = plane.naturalness
    logprobs = np.where(axis.there, axis.counts[..., 0], np.nan)  # oriented, so higher is better
    gaps = lpp_gaps(logprobs, plane.systems, scores, plane.clusters)
    rows = [_numbers(gaps[system]) if system in gaps else [np.nan] * 9 for system in table.system]
    *found, n_q, n_low, n_high, se = np.array(rows, dtype=float).T
    table = table.assign(
        **dict(zip(["lpp_q", "lpp_r", *(f"lpp_gap{end}" for end in ENDS)], found, strict=True))
    )
    ends = dict(zip(ENDS, (n_q, n_low, n_high), strict=True))
    if not folded:
        return table.assign(
            **{f"minus_lpp_distance{end}": values for end, values in ends.items()}
        ), r
    table = table.assign(naturalness_low=n_low, naturalness_high=n_high, naturalness_se=se)
    return table, replace(r, value=0.0, se=np.nan, low=np.nan, high=np.nan)


def _numbers(found: LppDistance) -> list[float]:
    gap, d = found.gap, found.distance
    turned = (0.0 - number for number in (d.value, d.high, d.low))
    return [found.lpp_q, found.lpp_r, gap.value, *gap.interval, *turned, gap.se]


def overshoot(table: pd.DataFrame, curve: OracleCurve | None = None) -> str:
    """A sentence on who is more probable than R, LPP(Q) < LPP(R), where more probable is less natural by AN's N(Q).

    Controls are no systems and are left out.

    Parameters
    ----------
    table : of `with_mono` with lpp. curve : over candidates with lpp; a sentence more where it goes beyond R.
    """
    real = table[table.outside != "control"] if "outside" in table else table
    known = real[real.lpp_gap.notna()]
    if known.empty:
        return "No system has 2 scored outputs to compare with R."
    beyond, r = known[known.lpp_gap < 0], float(known.lpp_r.iloc[0])
    told = (
        f"None of {len(known)} systems is more probable than R, LPP(R) = {r:.3f} nats per token: "
        f"among them more probable is more natural by AN's own {N_OF_Q}, too."
    )
    if len(beyond):
        clear = beyond.lpp_gap_high < 0
        parts = [
            (clear, "the 95 % interval of the gap is below 0"),
            (~clear, "its interval reaches 0"),
        ]
        names = " and ".join(
            f"{', '.join(beyond.system[those])} ({why})" for those, why in parts if those.any()
        )
        told = (
            f"More probable than R, LPP(Q) < LPP(R) = {r:.3f} nats per token: {names}. By AN's "
            f"own {N_OF_Q} more probable is LESS natural there, so a higher mean log-probability "
            "is no praise."
        )
    if curve is not None and (most := float(curve.naturalness.max())) > -r:
        told += (
            f" The oracle curve goes beyond R, to LPP {-most:.3f}: there a larger β is less "
            "natural by N(Q)."
        )
    return told
