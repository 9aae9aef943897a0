"""Tables of a plane: systems with intervals on both axes, gaps to the curve, slices, and comparison with R."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .. import checks
from .._lazy import pd
from ..bootstrap import (
    FEWEST,
    Resamples,
    cluster_sums,
    effective,
    few_clusters,
    score_intervals,
    student,
)
from ..errors import DataError
from ..estimate import Estimate, digits_of
from ..frontier import OracleCurve
from ..metrics import LPP_DISTANCE, Metric
from ..naturalness.lpp import Mono, lpp_gaps, score_mono
from ..stats import pearson
from .scores import AXES, Plane

_ENDS = ("", "_low", "_high")
# Column of a table of systems → its heading.
_NAMES = {
    "system": "system",
    "category": "kind",
    "accuracy": "accuracy",
    "naturalness": "naturalness",
    "accuracy_gap": "accuracy gap",
    "naturalness_gap": "naturalness gap",
    "pareto_share": "Pareto share",
    "lpp_gap": "LPP(Q) − LPP(R)",
    "minus_lpp_distance": "N(Q) = −|LPP(Q) − LPP(R)|",
    "accuracy_rank_low": "accuracy ranks",
    "accuracy_cluster": "accuracy cluster",
    "naturalness_rank_low": "naturalness ranks",
    "naturalness_cluster": "naturalness cluster",
    "n": "n",
}

_LENGTHS = ("short", "middle", "long")


def systems_table(
    plane: Plane, rng: np.random.Generator, n_draws: int = 1000, curve: OracleCurve | None = None
) -> pd.DataFrame:
    """Return a row per system: scores with 95 % intervals, Pareto-optimality and gaps to the curve.

    Documents are resampled jointly for all systems and both axes; with one document, segments. A single segment has no
    interval, nan.

    Parameters
    ----------
    plane : Plane
        From `system_plane`, or `study.plane`.
    curve : OracleCurve, optional
        Over the same segments and metrics, both at level segment-mean.

    Returns
    -------
    DataFrame with system, category; accuracy and naturalness, each with _low, _high, _se (`bootstrap.score_intervals`,
    clipped to the `bounds` of an axis, in `attrs["bounds"]`); correlation : of both axes in the draws; n (segments),
    n_docs, n_effective (`bootstrap.effective`) of this system, uneven : whether they are so on an axis
    (`bootstrap.score_intervals`); resampled : "documents" or "segments"; outside : "", or why it is not compared;
    pareto : no compared system is at least as good on both axes and better on one (False for
    controls and near-copies); pareto_share : share of resamples in which it is (nan for these). It is not a
    probability: in simulated tradeoffs of 12 to 24 systems, 45 to 62 % of those with a share below 0.05 are in truth
    optimal, and 76 to 90 % of those from 0.95 (`docs/calibration.md`). With a curve, accuracy_gap, naturalness_gap,
    each with _low and _high, and above_curve; _title, _level and _signature of each
    axis. A stored axis has no draws, so what needs them is nan.
    """
    scores = plane.scores()
    low, high, errors, draws, uneven, resampled = _resampled(plane, rng, n_draws)
    columns: dict[str, object] = {"system": plane.systems, "category": plane.categories}
    for i, axis in enumerate(AXES):
        columns |= {axis: scores[i], f"{axis}_low": low[i], f"{axis}_high": high[i]}
        columns[f"{axis}_se"] = errors[i]
    columns["correlation"] = pearson(draws[:, 0].T, draws[:, 1].T)
    columns["n"] = plane.there.sum(0)
    columns["n_docs"] = [len(set(plane.docs[seen].tolist())) for seen in plane.there.T]
    columns["resampled"] = plane.unit
    index = np.unique(plane.clusters, return_inverse=True)[1]
    sizes = cluster_sums(plane.there.astype(np.float64), index)
    columns["n_effective"], columns["uneven"] = (counting := effective(sizes)), uneven.any(0)
    columns["outside"] = [plane.outside.get(system, "") for system in plane.systems]
    drawn = _on_frontier(plane) & ~np.isnan(draws).any((0, 1))
    columns["pareto"] = _best(plane, scores)
    columns["pareto_share"] = np.where(drawn, _best(plane, draws).mean(0), np.nan)
    if curve is not None:
        columns |= _gaps(plane, curve, scores, draws, resampled=resampled, counting=counting)
    for name, axis in zip(AXES, plane.axes, strict=True):
        columns |= {f"{name}_title": axis.title, f"{name}_level": axis.level}
        columns[f"{name}_signature"] = axis.signature
    table = pd.DataFrame(columns)
    table.attrs["bounds"] = {name: getattr(plane, name).bounds for name in AXES}
    return table


def pareto(scores: np.ndarray, among: np.ndarray | None = None) -> np.ndarray:
    """(..., k) bool of (..., 2, k) scores: no other system is at least as good on both axes and better on one.

    Parameters
    ----------
    among : (k,) bool array, optional
        Systems that may beat others; default: all.

    >>> pareto(np.array([[3.0, 2, 1, 2], [1.0, 2, 1, 2]])).tolist()
    [True, True, False, True]
    """
    mine = scores[..., :, None]
    other = (scores if among is None else scores[..., among])[..., None, :]
    dominated = ((other >= mine).all(-3) & (other > mine).any(-3)).any(-1)
    return ~dominated & ~np.isnan(scores).any(-2)


def leaders(table: pd.DataFrame) -> dict[str, str]:
    """Return the best system by each axis and, as "frontier", the names of the Pareto set.

    Parameters
    ----------
    table : DataFrame
        From `systems_table`.
    """
    first = {axis: str(table.system[table[axis].idxmax()]) for axis in AXES}
    return first | {"frontier": ", ".join(table.system[table.pareto])}


def _best(plane: Plane, scores: np.ndarray) -> np.ndarray:
    """(..., k) `pareto` among the compared systems, without controls and near-copies."""
    return pareto(scores, plane.compared) & _on_frontier(plane)


def _on_frontier(plane: Plane) -> np.ndarray:
    """(k,) bool: systems that may be on the frontier."""
    why = [plane.outside.get(system, "") for system in plane.systems]
    return np.isin(why, ("", "human", "added"))


def _slices(plane: Plane, by: str) -> Iterator[tuple[str, Plane]]:
    """Yield the name and plane of each domain, or of the short, middle and long third of the sources."""
    checks.one_of(by, ("domain", "length"), "slice")
    for axis in plane.axes:
        if axis.level == "stored":
            raise DataError(f"{axis.name}: got one score per system, expected segment scores.")
    if by == "domain":
        for name in dict.fromkeys(plane.domains.tolist()):
            yield name, plane.subset(plane.domains == name)
        return
    checks.some(plane.lengths > 0, f"{plane.name}: sources are unknown. Slice by domain.")
    rank = np.argsort(np.argsort(plane.lengths, kind="stable"), kind="stable")
    for third, name in enumerate(_LENGTHS):
        rows = rank * 3 // max(len(plane), 1) == third
        if rows.any():
            low, high = plane.lengths[rows].min(), plane.lengths[rows].max()
            yield f"{name} ({low} to {high} characters)", plane.subset(rows)


def sliced_table(
    plane: Plane, rng: np.random.Generator, by: str, n_draws: int = 1000
) -> pd.DataFrame:
    """Return `systems_table` of each slice, with a first column slice.

    Parameters
    ----------
    by : str
        "domain" or "length" (thirds of the sources). A stored axis and unknown sources are a DataError.
    """
    frames = [(name, systems_table(part, rng, n_draws)) for name, part in _slices(plane, by)]
    for name, table in frames:
        table.insert(0, "slice", name)
    return pd.concat([table for _, table in frames], ignore_index=True)


def _gaps(
    plane: Plane,
    curve: OracleCurve,
    scores: np.ndarray,
    draws: np.ndarray,
    *,
    resampled: Resamples | None,
    counting: np.ndarray,
) -> dict[str, np.ndarray]:
    """Gaps to the curve on both axes, with Student's interval from the spread of the draws."""
    levels = {axis.level for axis in plane.axes}
    if curve.n_segments != len(plane) or levels != {"segment-mean"}:
        raise DataError(f"curve: expected {len(plane)} segments, and axes of level segment-mean.")
    gaps = curve.gaps(*scores)
    most = np.array([[np.subtract(*axis.bounds[::-1])] for axis in plane.axes])
    drawn = np.full_like(draws, np.nan)
    for rows, weights in resampled.by_segment() if resampled else ():
        drawn[rows] = curve.resampled_gaps(weights, draws[rows, 0], draws[rows, 1])
    m = len(set(plane.clusters.tolist()))
    spread = drawn.std(0, ddof=1) * np.sqrt(m / (m - 1)) if m > 1 else drawn[0]
    low, high = student(gaps, spread, counting)
    high = np.minimum(high, most)  # no gap is larger than the scale
    columns: dict[str, Any] = {}
    for i, axis in enumerate(AXES):
        ends = zip(_ENDS, (gaps[i], low[i], high[i]), strict=True)
        columns |= {f"{axis}_gap{end}": values for end, values in ends}
    known = ~np.isnan(scores).any(0)
    return columns | {"above_curve": known & ~(gaps >= -1e-9).all(0)}


def _resampled(
    plane: Plane, rng: np.random.Generator, n_draws: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, Resamples | None]:
    """(2, k) ends and standard errors of the scores, (B, 2, k) draws, (2, k) uneven, and the resamples.

    All nan and None for one segment; nan for a stored axis.
    """
    k = len(plane.systems)
    if len(plane) < 2:
        nothing = np.full((2, k), np.nan)
        return nothing, nothing, nothing, nothing[None], np.zeros((2, k), dtype=bool), None
    drawn = Resamples(plane.clusters, n_draws, rng)
    sizes = cluster_sums(plane.there.astype(np.float64), drawn.index)
    found = [
        score_intervals(axis.score, cluster_sums(axis.counts, drawn.index), drawn, sizes=sizes)
        for axis in plane.axes
    ]
    parts = zip(*found, strict=True)
    low, high, errors, draws, uneven = (np.stack(part, axis=-2) for part in parts)
    least, most = np.array([axis.bounds for axis in plane.axes]).T[:, :, None]
    low, high = np.clip(low, least, most) + 0.0, np.clip(high, least, most) + 0.0
    stored = [axis.level == "stored" for axis in plane.axes]
    for part in (low, high, errors, draws):
        part[..., stored, :] = np.nan
    return low, high, errors, draws, uneven, drawn


def few_documents(table: pd.DataFrame) -> str:
    """Name systems on few (effective) or uneven documents, whose intervals are not reliable; "" for others.

    Parameters
    ----------
    table : DataFrame
        With columns system, n_docs and, optionally, n_effective and uneven.
    """
    counting = table["n_effective" if "n_effective" in table else "n_docs"]
    few, told = (counting > 1) & (counting < FEWEST), []
    uneven = table.get("uneven", False) & ~few
    for part in (table[few], table[uneven]):
        if part.empty:
            continue
        what = "documents" if "resampled" not in part else str(part.resampled.iloc[0])
        what = what.partition(" ")[0]  # not "and raters"
        counted = part["n_docs" if what == "documents" else "n" if "n" in part else "n_segments"]
        names = ", ".join(part.system[:5]) + ", …" * (len(part) > 5)
        counts = int(counted.min()), what, float(counting[part.index].min()), counted.max()
        text = few_clusters(*counts, uneven=bool(uneven[part.index].any()))
        told.append(f"{names}: {text}" if len(part) < len(table) else text)
    one = "All segments are of one document and are resampled as independent: intervals may be too short."
    told += [one] * bool(((table.n_docs == 1) & (counting > 1)).all())
    return " ".join(told)


def with_mono(
    table: pd.DataFrame, plane: Plane, metric: Metric, mono: Mono
) -> tuple[pd.DataFrame, Estimate]:
    """Add columns of R, monolingual text, to the table of systems; return R's place on the axis too.

    Parameters
    ----------
    table : DataFrame
        From `systems_table`, a row per system of the plane.
    plane : Plane
        Naturalness is the mean of the metric's segment scores, or lpp-distance (then the metric is lpp).
    metric : Metric
        Scores single texts; with lpp the table has AN's columns.

    Returns
    -------
    The table with mono, mono_low, mono_high (`score_mono`), mono_n and mono_signature; with lpp also lpp_q, lpp_r,
    lpp_gap = LPP(Q) - LPP(R) and minus_lpp_distance = N(Q) = -|lpp_gap|, both with _low and _high, nats per token
    (`lpp_gaps`). On the axis of lpp-distance, naturalness is N(Q) with this interval, and R is at 0. A system
    with fewer than 2 scored outputs has nan.

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
    # oriented, so higher is better
    logprobs = np.where(axis.there, axis.counts[..., 0], np.nan)
    gaps = lpp_gaps(logprobs, plane.systems, scores, plane.clusters)
    rows = [gaps[system].row if system in gaps else [np.nan] * 9 for system in table.system]
    *found, n_q, n_low, n_high, se = np.array(rows, dtype=float).T
    names = ["lpp_q", "lpp_r", *(f"lpp_gap{end}" for end in _ENDS)]
    table = table.assign(**dict(zip(names, found, strict=True)))
    if not folded:
        ends = zip(_ENDS, (n_q, n_low, n_high), strict=True)
        return table.assign(**{f"minus_lpp_distance{end}": values for end, values in ends}), r
    table = table.assign(naturalness_low=n_low, naturalness_high=n_high, naturalness_se=se)
    return table, replace(r, value=0.0, se=np.nan, low=np.nan, high=np.nan)


def overshoot(table: pd.DataFrame, curve: OracleCurve | None = None) -> str:
    """Name systems more probable than R, for which a higher probability is less natural by N(Q).

    Parameters
    ----------
    table : DataFrame
        From `with_mono` with lpp; controls are left out.
    curve : OracleCurve, optional
        Over candidates with lpp, also compared with R.
    """
    known = table[(table.outside != "control") & table.lpp_gap.notna()]
    if known.empty:
        return "No system has 2 scored outputs to compare with R."
    r = float(known.lpp_r.iloc[0])
    names = [*known.system[known.lpp_gap < 0]]
    names += ["the oracle curve"] if curve is not None and curve.naturalness.max() > -r else []
    return (
        f"More probable than R, LPP(R) = {r:.3f} nats per token: {', '.join(names) or 'none'}. "
        "Where LPP is below LPP(R), more probable is less natural by N(Q) = −|LPP(Q) − LPP(R)|."
    )


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """A table of systems for people: intervals in the cell of their value, headings in words.

    Any other table: 4 significant digits, 2 of a p-value.
    """
    if not {"accuracy_low", "accuracy_rank_low", "naturalness_rank_low"} & {*table}:
        short = {"p": 2, "p_holm": 2}
        floats = table.select_dtypes("float")
        texts = {c: [_significant(v, short.get(c, 4)) for v in floats[c]] for c in floats}
        return table.assign(**texts)
    digits = decimals(table)
    columns = [c for c in ("slice", *_NAMES) if c in table] + ["n_docs"] * ("slice" in table)
    rows = [
        [cell_text(row, c, "({} to {})", digits) for c in columns]
        for row in table.to_dict("records")
    ]
    return pd.DataFrame(rows, columns=[_NAMES.get(c, c) for c in columns])


def in_one_cell(table: pd.DataFrame, digits: int = 2) -> pd.DataFrame:
    """A table whose columns X, X_low and X_high become one of text: "1.78 (1.25 to 2.40)".

    Parameters
    ----------
    digits : int
        Decimals. A value without an interval stays alone, a missing one is "–".

    >>> import pandas as pd
    >>> in_one_cell(pd.DataFrame({"r": [0.5], "r_low": [0.25], "r_high": [0.75]}))["r"][0]
    '0.50 (0.25 to 0.75)'
    """
    whole = [c for c in table if {f"{c}_low", f"{c}_high"} <= {*table}]
    sizes, rows = dict.fromkeys(whole, digits), table.to_dict("records")
    cells = {c: [cell_text(row, c, "({} to {})", sizes) for row in rows] for c in whole}
    return table.assign(**cells).drop(columns=[c + end for c in whole for end in ("_low", "_high")])


def _significant(value: float, digits: int) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def decimals(table: pd.DataFrame) -> dict[str, int]:
    """Decimals of each column with an interval; a gap has those of its axis."""
    if "accuracy_low" not in table:
        return {}
    digits = {}
    for axis in ("accuracy", "naturalness"):
        values = table[[axis, f"{axis}_low", f"{axis}_high"]].to_numpy(dtype=float)
        known = values[np.isfinite(values)]
        digits[axis] = digits[f"{axis}_gap"] = digits_of(known) if len(known) else 0
    return digits | dict.fromkeys(("lpp_gap", "minus_lpp_distance"), digits["naturalness"])


def cell_text(row: Mapping, column: str, interval: str, digits: Mapping[str, int]) -> str:
    """One value as text, with its interval if the column has one; "–" if it is missing."""
    value = row.get(column, np.nan)
    if column in digits:
        if not np.isfinite(value):
            return "–"
        three = (column, f"{column}_low", f"{column}_high")
        value, low, high = (f"{row[name]:z.{digits[column]}f}" for name in three)
        return value if np.isnan(row[f"{column}_low"]) else f"{value} {interval.format(low, high)}"
    if column.endswith("_rank_low"):
        ends = value, row[column.replace("_low", "_high")]
        return "–" if not isinstance(value, int) else "–".join(map(str, dict.fromkeys(ends)))
    if column.endswith("_cluster"):
        return str(value) if isinstance(value, int) else "–"
    if isinstance(value, float):
        return "–" if np.isnan(value) else f"{value:.2f}"
    return str(value)
