"""Planes → tidy tables: systems with intervals on both axes, distances to the curve, and slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from ..bootstrap import (
    FEWEST,
    Resamples,
    cluster_sums,
    effective,
    few_clusters,
    resamples,
    score_intervals,
    student,
)
from ..errors import DataError
from ..estimate import digits_of
from ..frontier import OracleCurve
from ..stats import pearson
from .scores import AXES, Plane

if TYPE_CHECKING:
    import pandas as pd


_NAMES = {
    "system": "system",
    "category": "kind",
    "accuracy": "accuracy",
    "naturalness": "naturalness",
    "accuracy_gap": "accuracy gap",
    "naturalness_gap": "naturalness gap",
    "pareto_probability": "Pareto prob.",
    "lpp_gap": "LPP(Q) − LPP(R)",
    "minus_lpp_distance": "N(Q) = −|LPP(Q) − LPP(R)|",
    "accuracy_rank_low": "accuracy ranks",
    "accuracy_cluster": "accuracy cluster",
    "naturalness_rank_low": "naturalness ranks",
    "naturalness_cluster": "naturalness cluster",
    "n": "n",
}
"""Column of a table of systems → its heading."""

LENGTHS = ("short", "middle", "long")


def systems_table(
    plane: Plane, rng: np.random.Generator, n_draws: int = 1000, curve: OracleCurve | None = None
) -> pd.DataFrame:
    """A row per system: scores on both axes with 95 % intervals, whether it is Pareto-optimal, its gap to the curve.

    Documents are resampled jointly for all systems and both axes (segments, where there is one document; a single
    segment has no interval, nan).

    Parameters
    ----------
    plane : as `system_plane` gives it; that of an oracle study is `study.plane`.
    curve : an oracle curve over the same segments and the same two metrics, both at segment-mean level.

    Returns
    -------
    system, category; accuracy and naturalness, each with _low, _high, _se (`bootstrap.score_intervals`, the ends cut
    off at what is possible: `Axis.bounds`, in `attrs["bounds"]` too, for the ellipses); correlation : of the two in
    the draws; n (segments), n_docs and n_effective (`bootstrap.effective`) of this system, so that these give the
    error ellipse; resampled : "documents", or "segments" where there is one document, or none is known; outside :
    "", or why it is not compared (`Plane.outside`); pareto : no compared system is at least as good on both axes
    and better on one (never for a control or a near-copy); pareto_probability : share of the draws in which this
    holds (nan for a control or a near-copy, of which it is not asked); with a curve accuracy_gap, naturalness_gap,
    each with _low and _high, in the unit of its axis, and above_curve; of each axis _title (with its unit and
    direction), _level and _signature. A stored axis has no draws, so all that needs them is nan.
    """
    checks.a_kind(plane, Plane, "plane is a Plane, such as system_plane() gives or study.plane")
    checks.a_kind(rng, np.random.Generator, "rng is a generator, such as np.random.default_rng(0)")
    import pandas as pd

    scores = plane.scores()
    low, high, errors, draws, resampled = _resampled(plane, rng, n_draws)
    columns: dict[str, object] = {"system": plane.systems, "category": plane.categories}
    for i, axis in enumerate(AXES):
        columns |= {
            axis: scores[i],
            f"{axis}_low": low[i],
            f"{axis}_high": high[i],
            f"{axis}_se": errors[i],
        }
    columns["correlation"] = pearson(draws[:, 0].T, draws[:, 1].T)
    columns |= {
        "n": plane.there.sum(0),
        "n_docs": [len(set(plane.docs[seen].tolist())) for seen in plane.there.T],
        "resampled": plane.unit,
    }
    columns["n_effective"] = counting = _effective(plane)
    columns["outside"] = [plane.outside.get(system, "") for system in plane.systems]
    best = _share(_best(plane, draws), draws)
    columns |= {
        "pareto": _best(plane, scores),
        "pareto_probability": np.where(_on_frontier(plane), best, np.nan),
    }
    if curve is not None:
        columns |= _gaps(plane, curve, scores, draws, resampled=resampled, counting=counting)
    for name, axis in zip(AXES, plane.axes, strict=True):
        columns |= {f"{name}_title": axis.title, f"{name}_level": axis.level}
        columns[f"{name}_signature"] = axis.signature
    table = pd.DataFrame(columns)
    table.attrs["bounds"] = {name: axis.bounds for name, axis in zip(AXES, plane.axes, strict=True)}
    return table


def pareto(scores: np.ndarray, among: np.ndarray | None = None) -> np.ndarray:
    """(..., k) bool of (..., 2, k) scores: no other system is at least as good on both axes and better on one.

    Parameters
    ----------
    among : (k,) bool, the only systems that may be better than another; None: all.

    >>> pareto(np.array([[3.0, 2, 1, 2], [1.0, 2, 1, 2]])).tolist()
    [True, True, False, True]
    """
    mine = scores[..., :, None]
    other = (scores if among is None else scores[..., among])[..., None, :]
    dominated = ((other >= mine).all(-3) & (other > mine).any(-3)).any(-1)
    return ~dominated & ~np.isnan(scores).any(-2)


def leaders(table: pd.DataFrame) -> dict[str, str]:
    """Who leads in a table of systems: the most accurate, the most natural, and the Pareto set.

    Parameters
    ----------
    table : from `systems_table`.

    Returns
    -------
    accuracy, naturalness : the first system with the highest mean on the axis; frontier : the systems of the Pareto set
    in the order of the table, joined by commas. On a plane of ratings, naturalness is MQM fluency.
    """
    first = {axis: str(table.system[table[axis].idxmax()]) for axis in AXES}
    return first | {"frontier": ", ".join(table.system[table.pareto])}


def _best(plane: Plane, scores: np.ndarray) -> np.ndarray:
    """(..., k) `pareto` among the systems that are compared; a control and a near-copy are not on the frontier."""
    return pareto(scores, plane.compared) & _on_frontier(plane)


def _on_frontier(plane: Plane) -> np.ndarray:
    """(k,) bool: who may be on the frontier."""
    why = [plane.outside.get(system, "") for system in plane.systems]
    return np.isin(why, ("", "human", "added"))


def slices(plane: Plane, by: str) -> Iterator[tuple[str, Plane]]:
    """(name, plane) for each domain, or for the short, middle and long third of the sources.

    Parameters
    ----------
    by : "domain" or "length".

    Raises
    ------
    DataError for an axis that is known for the whole test set only, and for lengths of unknown sources.
    """
    checks.one_of(by, ("domain", "length"), "slice")
    for axis in plane.axes:
        if axis.level == "stored":
            raise DataError(
                f"{axis.name} is known for the whole test set only, so {plane.name} has no slices."
            )
    if by == "domain":
        for name in dict.fromkeys(plane.domains.tolist()):
            yield name, plane.subset(plane.domains == name)
        return
    if not plane.lengths.any():
        raise DataError(
            f"the sources of {plane.name} are not known, so there are no lengths; slice by domain."
        )
    rank = np.argsort(np.argsort(plane.lengths, kind="stable"), kind="stable")
    for third, name in enumerate(LENGTHS):
        rows = rank * 3 // max(len(plane), 1) == third
        if rows.any():
            low, high = plane.lengths[rows].min(), plane.lengths[rows].max()
            yield f"{name} ({low} to {high} characters)", plane.subset(rows)


def sliced_table(
    plane: Plane, rng: np.random.Generator, by: str, n_draws: int = 1000
) -> pd.DataFrame:
    """`systems_table` of every slice, with a column slice in front.

    Parameters
    ----------
    by : "domain" or "length".
    """
    import pandas as pd

    frames = [(name, systems_table(part, rng, n_draws)) for name, part in slices(plane, by)]
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
    """What the curve has more on either axis: Student's interval, with the spread of the draws as standard error."""
    if any(axis.level != "segment-mean" for axis in plane.axes):
        raise DataError(
            "the oracle curve is over means of segment scores; use level segment-mean to compare "
            "with it."
        )
    if curve.n_segments != len(plane):
        raise DataError(
            f"the curve is over {curve.n_segments} segments and the systems are over {len(plane)}."
        )
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
        columns |= {
            f"{axis}_gap": gaps[i],
            f"{axis}_gap_low": low[i],
            f"{axis}_gap_high": high[i],
        }
    known = ~np.isnan(scores).any(0)
    return columns | {"above_curve": known & ~(gaps >= -1e-9).all(0)}


def _resampled(
    plane: Plane, rng: np.random.Generator, n_draws: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Resamples | None]:
    """Ends and standard errors (2, k) of the scores, their draws (B, 2, k), and the resamples.

    All nan, and no resamples, where there is one segment; a stored axis is nan, for its sampling error is not known.
    """
    k = len(plane.systems)
    if len(plane) < 2:
        nothing = np.full((2, k), np.nan)
        return nothing, nothing, nothing, nothing[None], None
    drawn = resamples(plane.clusters, n_draws, rng)
    sizes = cluster_sums(plane.there.astype(np.float64), drawn.index)
    found = [
        score_intervals(axis.score, cluster_sums(axis.counts, drawn.index), drawn, sizes=sizes)
        for axis in plane.axes
    ]
    low, high, errors, draws = (np.stack(part, axis=-2) for part in zip(*found, strict=True))
    least, most = np.array([axis.bounds for axis in plane.axes]).T[:, :, None]
    low, high = np.clip(low, least, most) + 0.0, np.clip(high, least, most) + 0.0
    stored = [axis.level == "stored" for axis in plane.axes]
    for part in (low, high, errors, draws):
        part[..., stored, :] = np.nan
    return low, high, errors, draws, drawn


def _effective(plane: Plane) -> np.ndarray:
    """(k,) `effective` documents behind the scores of each system."""
    _, index = np.unique(plane.clusters, return_inverse=True)
    return effective(cluster_sums(plane.there.astype(np.float64), index))


def _share(mask: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """(k,) share of the draws in which something holds; nan without draws."""
    return np.where(np.isnan(draws).any((0, 1)), np.nan, mask.mean(0))


def few_documents(table: pd.DataFrame, what: str = "documents") -> str:
    """A sentence on the systems that are on few documents, or on few that count, else an empty text.

    Parameters
    ----------
    table : columns system, n_docs and, where known, n_effective; a system on one document has no interval. what : is
        resampled, in the plural.
    """
    effective = table["n_effective" if "n_effective" in table else "n_docs"]
    few = table[(effective > 1) & (effective < FEWEST)]
    if few.empty:
        return ""
    counted = few["n"] if what == "segments" and "n" in few else few["n_docs"]
    listed = ", ".join(few.system[:5]) + ", …" * (len(few) > 5)
    who = f"{listed}: " if len(few) < len(table) else ""
    return who + few_clusters(
        int(counted.min()), what, float(effective[few.index].min()), int(counted.max())
    )


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """A table of systems for people: intervals in the cell of their value, headings in words.

    Any other table: 4 significant digits, 2 of a p-value.
    """
    import pandas as pd

    if not {"accuracy_low", "accuracy_rank_low", "naturalness_rank_low"} & {*table}:
        short = {"p": 2, "p_holm": 2}
        floats = table.select_dtypes("float")
        return table.assign(
            **{c: [_significant(v, short.get(c, 4)) for v in floats[c]] for c in floats}
        )
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
        value, low, high = (
            f"{row[name]:z.{digits[column]}f}"
            for name in (column, f"{column}_low", f"{column}_high")
        )
        return value if np.isnan(row[f"{column}_low"]) else f"{value} {interval.format(low, high)}"
    if column.endswith("_rank_low"):
        ends = value, row[column.replace("_low", "_high")]
        return "–" if not isinstance(value, int) else "–".join(map(str, dict.fromkeys(ends)))
    if column.endswith("_cluster"):
        return str(value) if isinstance(value, int) else "–"
    if isinstance(value, float):
        return "–" if np.isnan(value) else f"{value:.2f}"
    return str(value)
