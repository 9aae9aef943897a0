"""The candidates under one pair of judges, an accuracy and a naturalness: curves, charts and chains as JSON values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import checks
from ..charts.curve import axis_ranges, plot_curve
from ..charts.frame import ACCURACY_TITLE, NATURALNESS_TITLE, digits_of
from ..charts.offline import alt_text, spec_of, to_svg_later, unchecked
from ..errors import DataError
from ..frontier import OracleCurve, oracle_curve

__all__ = ["ALL", "Judged", "Systems", "judged_data", "settle"]

ALL = "all"
Systems: TypeAlias = (
    pd.DataFrame | Mapping[str, pd.DataFrame] | Callable[[str], pd.DataFrame | None] | None
)
ENDS = [f"{axis}_{end}" for axis in ("accuracy", "naturalness") for end in ("low", "high")]
"""Columns of the ends of the systems' intervals."""
TAG = re.compile(r'<[a-z]\w*(?: [\w:-]+="[^"]*")*/?>', re.I)
UNSEEN = re.compile(
    r' (?:aria-[\w-]+|role|pointer-events|font-family)="[^"]*"| (?:fill-|stroke-)?opacity="1"'
)
LONG = re.compile(r"(?<=\d\.\d\d)\d+")
EMPTY = (' d=""', ' d="M0,0h0v0h0Z"')


@dataclass(frozen=True)
class Judged:
    """The n candidates of S sources as one accuracy and one naturalness score them.

    Parameters
    ----------
    curve : over all S sources, of these scores.
    systems : the table of `charts.curve.plot_curve`, drawn with all segments; or one per domain, "all" among them, as a
        mapping or a function of the name.
    judges : (accuracy, naturalness), as they are named in code. labels : the same as the page lists them.
    names : short names of the two scores. accuracy_title, naturalness_title : of the axes.
    """

    curve: OracleCurve
    accuracy: ArrayLike
    naturalness: ArrayLike
    systems: Systems = None
    judges: tuple[str, str] = ("accuracy", "naturalness")
    labels: tuple[str, str] = ("accuracy", "naturalness")
    names: tuple[str, str] = ("accuracy", "log-prob.")
    accuracy_title: str = ACCURACY_TITLE
    naturalness_title: str = NATURALNESS_TITLE


def judged_data(
    one: Judged, segment: np.ndarray, domains: Sequence[str], **chart: Any
) -> tuple[dict, Any]:
    """(what the page needs of one pair of judges besides texts, chart over all segments); drawings until `settle`.

    Parameters
    ----------
    segment : (n,) checked. domains : S names, "" for none.
    chart : arguments of `charts.curve.plot_curve`.
    """
    accuracy, naturalness = (np.asarray(v, dtype=float) for v in (one.accuracy, one.naturalness))
    checks.same_length(
        curve=range(one.curve.n_candidates),
        segment=segment,
        accuracy=accuracy,
        naturalness=naturalness,
    )
    checks.same_length(curve=range(one.curve.n_segments), domains=domains)
    curves = _curves(one.curve, segment, accuracy, naturalness, np.array(domains, dtype=object))
    tables = {name: _systems_of(one.systems, name) for name in curves}
    settings: dict[str, Any] = {
        "ranges": axis_ranges(curves.values(), [tables[ALL], *map(_points, tables.values())]),
        "size": (430, 340),
        "max_vertices": 400,
        "accuracy_title": one.accuracy_title,
        "naturalness_title": one.naturalness_title,
    } | chart
    inside = {name: _clipped(table, settings["ranges"]) for name, table in tables.items()}
    with unchecked():  # these are all alike
        charts = {
            name: plot_curve(curve, inside[name], **settings) for name, curve in curves.items()
        }
    digits = [digits_of(v[one.curve.chain_candidate]) for v in (accuracy, naturalness)]
    data = {
        "judges": list(one.judges),
        "labels": list(one.labels),
        "names": list(one.names),
        "digits": digits,
        "box": [*settings["ranges"][0], *settings["ranges"][1], *settings["size"]],
        "choices": [_picked(name, curve, charts[name], digits) for name, curve in curves.items()],
    }
    return data, charts[ALL]


def _curves(
    curve: Any, segment: Any, accuracy: Any, naturalness: Any, domains: Any
) -> dict[str, OracleCurve]:
    """The given curve as "all", and one for the segments of each domain."""
    named = [name for name in dict.fromkeys(domains) if name]
    if ALL in named:
        raise DataError(f"a domain is named '{ALL}', which stands for all segments; rename it.")
    curves = {ALL: curve}
    for name in named:
        inside = (domains == name)[segment]
        ids = np.unique(segment[inside], return_inverse=True)[1]
        curves[str(name)] = oracle_curve(ids, accuracy[inside], naturalness[inside])
    return curves


def _systems_of(systems: Systems, name: str) -> pd.DataFrame | None:
    if isinstance(systems, pd.DataFrame):
        return systems if name == ALL else None
    return systems(name) if callable(systems) else (systems or {}).get(name)


def _points(systems: pd.DataFrame | None) -> pd.DataFrame | None:
    """The systems without their intervals: those of a domain of three documents would stretch the axes of all."""
    return None if systems is None else systems.drop(columns=[c for c in ENDS if c in systems])


def _clipped(systems: pd.DataFrame | None, ranges: Any) -> pd.DataFrame | None:
    """The systems with intervals that end where the picture does."""
    if systems is None:
        return None
    spans = dict(zip(("naturalness", "accuracy"), ranges, strict=True))
    ends = {c: systems[c].clip(*spans[c.split("_")[0]]) for c in ENDS if c in systems}
    return systems.assign(**ends)


def _picked(name: str, curve: OracleCurve, chart: Any, digits: list[int]) -> dict:
    """One choice of the domain list: its chart, that others are made beside, and where the point goes."""
    spec = spec_of(chart, validate=False)  # which is half of the time, and these are all alike
    return {
        "name": name,
        "count": curve.n_segments,
        "svg": to_svg_later(spec),
        "alt": alt_text(spec),
        "beta": curve.beta.tolist(),
        "accuracy": curve.accuracy.round(digits[0] + 3).tolist(),
        "naturalness": curve.naturalness.round(digits[1] + 3).tolist(),
    }


def settle(views: Iterable[dict]) -> None:
    """Put the drawings of all choices into their place, as texts.

    Parameters
    ----------
    views : of `judged_data`.
    """
    for choice in (choice for view in views for choice in view["choices"]):
        choice["svg"] = TAG.sub(_lean, choice["svg"].result().decode())


def _lean(tag: re.Match) -> str:
    """A tag of a drawing without words that its own description replaces, and without decimals that nobody sees."""
    if tag[0].startswith("<path") and any(shape in tag[0] for shape in EMPTY):
        return ""
    short = LONG.sub("", UNSEEN.sub("", tag[0]))
    return short.replace("<svg ", '<svg font-family="sans-serif" ', 1)
