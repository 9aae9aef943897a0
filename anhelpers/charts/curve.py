"""Oracle curves and the exact curve on the plane, one or several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import checks
from ..fan import ExpectedCurves
from ..frontier import OracleCurve
from . import frame as fr
from .frame import LINE, _checked_systems, _Frame, _Layer, _system_marks, _systems_text, axis_ranges
from .labels import _drawn_labels, _label_layers, _name_lines, _place_labels

if TYPE_CHECKING:
    from ..exact import ExactCurve

_FAN, _FAN_INK = "#9A9A9A", "#666666"
# the first curve, the oracle's, in ink
_LINES, _NAMES = ([c[4], *c[1:4], c[0], *c[5:]] for c in (fr.COLOURS, fr.INKS))
_MOST_MARKS = 60  # vertices; more would run together
_Path = tuple[np.ndarray, np.ndarray]


def plot_curve(
    curve: OracleCurve,
    systems: pd.DataFrame | None = None,
    *,
    betas: Sequence[float] = (0, math.inf),
    point: float | None = None,
    **look: Any,
) -> alt.LayerChart:
    """Oracle curve on the plane of naturalness (x) and accuracy (y), with systems.

    Parameters
    ----------
    curve : OracleCurve
    systems : DataFrame, optional
        A row per system: system, category (a key of `frame.CATEGORIES`), accuracy, naturalness, and
        where known accuracy_low, accuracy_high, naturalness_low, naturalness_high, n.
    betas : β whose vertices are marked and labelled
    point : β with the large mark named ``bxpoint``, which the β explorer moves; the line is coarser
    **look : title, axis titles, ranges, size
        As in `frame.Look`.
    """
    table, systems = systems, _checked_systems(systems, least=0)
    plane = _Frame.plane(axis_ranges([curve], [systems]), **look)
    shown, most = systems[plane.holds(systems)], 5000 if point is None else 400
    layers, lines, marks = _curve_layers(curve, plane, betas=betas, most=most)
    bars, ends = plane.bars(shown)
    leaders, texts, _ = _label_layers(shown, plane, [*lines, *ends], marks)
    points = [_system_marks(shown, plane.channels, plane.tips)] if len(shown) else []
    layers = [layers[0], *leaders, *bars, *points, *layers[1:], *texts]
    if point is not None:
        layers.append(plane.moving_point(_vertices(curve, [curve.vertex(point)])))
    words = [_curve_text(curve, table), _systems_text(systems)]
    notes = [*fr._not_drawn(table, systems, plane), *_curve_notes(curve, table, plane)]
    return plane.finished(layers, words, notes)


def _curve_layers(
    curve: OracleCurve, plane: _Frame, *, betas: Sequence[float] = (0, math.inf), most: int = 5000
) -> tuple[list[alt.Chart], list[np.ndarray], pd.DataFrame]:
    """Line named ``bxline`` and marks at some β, (V, 2) pixels, and the marks' table with labels."""
    path = plane.pixels(curve.naturalness, curve.accuracy)
    kept = np.flatnonzero(plane.thinned(path, most=most))
    line = _vertices(curve, kept)
    mark = _Layer(line, name="bxline").mark_line(color=LINE, strokeWidth=3, **plane.cut(line))
    marks = _vertices(curve, [curve.vertex(b) for b in betas])
    marks = marks.assign(label=[fr.beta_label(b) for b in betas])[plane.holds(marks)]
    tips = [alt.Tooltip("label:N", title="oracle"), *plane.tips]
    ends = fr._dots(marks, fill=LINE, size=110).encode(**plane.channels, tooltip=tips)
    return [mark.encode(**plane.channels, order="order:Q"), ends], [path[kept]], marks


def _curve_notes(curve: OracleCurve | None, table: pd.DataFrame | None, plane: _Frame) -> list[str]:
    """Notes on a curve outside the plane, and on systems above it that are not candidates."""
    if curve is None:
        return []
    at = pd.DataFrame({"naturalness": curve.naturalness, "accuracy": curve.accuracy})
    notes = [] if plane.holds(at).any() else ["The oracle curve lies outside the picture."]
    if table is not None and {"above_curve", "among_candidates"} <= set(table):
        above = table["above_curve"].astype(bool) & ~table["among_candidates"].astype(bool)
        names = table["system"][above].astype(str)
        listed = ", ".join(names[:5]) + ", …" * (len(names) > 5)
        note = f"Not among the oracle's candidates, so they can be above its curve: {listed}."
        notes += [note] if len(names) else []
    return notes


def _curve_text(curve: OracleCurve | None, table: pd.DataFrame | None = None) -> str:
    """Ends of a curve in words, and its candidates where the table has them; empty for no curve."""
    if curve is None:
        return ""
    known = table is not None and "candidates" in table and table["candidates"].nunique() == 1
    over = f", over {table['candidates'].iloc[0]}" if known and table is not None else ""
    a, n = curve.accuracy, curve.naturalness
    return (
        f"oracle curve from accuracy {a[0]:.4g}, naturalness {n[0]:.4g} at β = 0 "
        f"to {a[-1]:.4g}, {n[-1]:.4g} at β = ∞{over}"
    )


def _vertices(curve: OracleCurve, index: ArrayLike) -> pd.DataFrame:
    at = np.asarray(index, dtype=int)
    columns = {"naturalness": curve.naturalness[at], "accuracy": curve.accuracy[at]}
    return pd.DataFrame({"order": at, **columns})


def plot_tradeoff(curve: ExactCurve, *, point: float | None = None, **look: Any) -> alt.LayerChart:
    """Best accuracy A(N) that naturalness N allows, with vertices marked and both ends named.

    Parameters
    ----------
    curve : ExactCurve
        From `exact.solve_curve`.
    point : an N with the large mark named ``bxpoint``, which the tradeoff explorer moves
    **look : title, axis titles, ranges, size
        As in `frame.Look`; the x axis names the divergence.
    """
    of = curve.divergence
    default: Any = {
        "accuracy_title": "Accuracy A(N) (higher is better)",
        "naturalness_title": f"Naturalness N = −D(Q, R) ({of.label}, {of.unit}; higher is more natural)",
    }
    plane = _Frame.plane(axis_ranges([curve]), **{**default, **look})

    def rows(naturalness: ArrayLike, **more: Any) -> pd.DataFrame:
        n = np.asarray(naturalness, dtype=float)
        columns = {"naturalness": n, "accuracy": curve.accuracy_at(n)}
        return pd.DataFrame(columns, dtype=float).assign(**more)

    line = rows(curve.naturalness, beta=curve.beta)
    few = curve.exact and len(line) <= _MOST_MARKS
    corners = line if few else line.iloc[sorted({0, len(line) - 1})]
    tips = [fr._tip("naturalness"), fr._tip("accuracy"), fr._tip("beta", "β from")]
    path = _Layer(line, name="bxline").mark_line(color=LINE, strokeWidth=3)
    layers = [
        path.encode(**plane.channels, order="naturalness:Q"),
        fr._dots(corners, "vertices", size=60, fill=LINE).encode(**plane.channels, tooltip=tips),
    ]
    ends = rows(curve.naturalness[:1], label="no tradeoff")
    if len(line) > 1:
        ends = rows(curve.naturalness[[0, -1]], label=["most accurate", "most natural"])
    leaders, texts, _ = _label_layers(ends, plane, [plane.at(line)])
    layers = [*leaders, *layers, *texts]
    if point is not None:
        layers.append(plane.moving_point(rows([point])))
    n, a = (values.round(9) + 0.0 for values in (curve.naturalness, curve.accuracy))
    kind = f"{len(n)} vertices"
    if not curve.exact:
        kind = f"{len(n)} points, at most {curve.gap:.2g} below the true curve"
    words = (
        f"A(N) under {of.label} from accuracy {a[0]:.4g} at naturalness {n[0]:.4g} "
        f"to {a[-1]:.4g} at {n[-1]:.4g}"
    )
    return plane.finished(layers, [words, kind])


def plot_optimism(
    curves: Mapping[str, OracleCurve],
    *,
    fan: ExpectedCurves | None = None,
    bands: Mapping[str, ArrayLike] | None = None,
    systems: pd.DataFrame | None = None,
    named: Sequence[str] = (),
    **look: Any,
) -> alt.LayerChart:
    """Several curves on one plane, each named at its line, with bands, systems and fewer candidates.

    Parameters
    ----------
    curves : name → OracleCurve, at most 8
        For a chooser that does not see the reference, the upper hull of its points:
        ``oracle_curve(np.zeros(k, int), accuracy, naturalness)``.
    fan : ExpectedCurves, optional
        Thin lines for several K; K = 1 is a point.
    bands : name of a curve → (3, m) naturalness, low and high of the accuracy there; nan: not drawn
    systems : system, category, accuracy, naturalness
    named : systems with a label; humans always have one
    **look : title, axis titles, ranges, size
        As in `frame.Look`.
    """
    drawn = {}
    for name, given in (bands or {}).items():
        band = np.asarray(given, dtype=float)
        drawn[checks.one_of(name, curves, "curve of a band")] = band[:, np.isfinite(band).all(0)]
    table, systems = systems, _checked_systems(systems, least=0)
    for name in named:
        checks.one_of(name, systems["system"], "system")
    rows = systems[systems["system"].isin(named) | (systems["category"] == "human")]
    extent = [rows[["accuracy", "naturalness"]]]
    columns = ["naturalness", "accuracy", "accuracy_high"]
    extent += [pd.DataFrame(band.T, columns=columns) for band in drawn.values()]
    if fan is not None:
        ends = {c: getattr(fan, c)[[0, -1]].ravel() for c in ("naturalness", "accuracy")}
        extent.append(pd.DataFrame(ends))
    plane = _Frame.plane(axis_ranges(curves.values(), extent), **{"size": (760, 520)} | look)
    paths, frame = _paths({n: (c.naturalness, c.accuracy) for n, c in curves.items()}, plane)
    layers = _bands(drawn, [*curves], plane)
    thin: dict[str, np.ndarray] = {}
    if fan is not None:
        each = zip(fan.ks.tolist(), fan.naturalness.T, fan.accuracy.T, strict=True)
        thin, lines = _paths({f"K = {k}": (n, a) for k, n, a in each}, plane)
        grey = {"color": alt.value(_FAN), "detail": "series:N"}
        layers += _strokes(lines, plane, "fan", grey, 1.5 if len(thin) > 1 else 3)
    shown = systems[plane.holds(systems)]
    marks = plane.at(shown)
    last = np.array([p[-1] for p in thin.values()] or np.empty((0, 2)))
    avoided, inks = [*paths.values(), *marks[:, None]], [_FAN_INK] * len(thin)
    near = _place_labels(last, [*thin], avoided, plane.size, inks=inks)
    fans = [label for label in near if label]
    obstacles = [*thin.values(), *(label.outline for label in fans), *marks[:, None]]
    names = _name_lines([*curves], [*paths.values()], plane.size, obstacles, _NAMES)
    looks = fr._told_apart("series", curves, color=_LINES, strokeDash=fr.DASHES)
    layers += _strokes(frame, plane, "curves", looks, 3)
    lines = [*paths.values(), *obstacles, *(one.outline for one in names if not one.beside)]
    leaders, texts, _ = _label_layers(shown[shown.index.isin(rows.index)], plane, lines)
    layers += leaders
    if len(shown):
        layers.append(_system_marks(shown, plane.channels, plane.tips))
    for own, of in ((names, "leaders"), (fans, "")):
        led, written = _drawn_labels(own, plane, of)
        layers += [*led, *written]
    around = "Bands: 95 % intervals of the accuracy at this naturalness, documents resampled."
    notes = [around] * bool(drawn)
    notes += ["Grey lines: the oracle with K random candidates per source, expected."] * bool(thin)
    notes += fr._not_drawn(table, systems, plane)
    words = [
        f"{name}: {_curve_text(c).removeprefix('oracle curve ')}" for name, c in curves.items()
    ]
    if fan is not None:
        tops = zip(fan.ks.tolist(), fan.accuracy[0], strict=True)
        words.append(f"expected at β = 0, {', '.join(f'K = {k}: {a:.4g}' for k, a in tops)}")
    words.append(_systems_text(systems))
    return plane.finished([*layers, *texts], words, notes)


def _paths(lines: Mapping[str, _Path], plane: _Frame) -> tuple[dict[str, np.ndarray], pd.DataFrame]:
    """(V, 2) pixels of each (naturalness, accuracy), thinned together, and series, values, order."""
    x, y = (np.concatenate([line[k] for line in lines.values()]) for k in (0, 1))
    frame = pd.DataFrame({"series": np.repeat([*lines], [len(n) for n, _ in lines.values()])})
    frame = frame.assign(naturalness=x, accuracy=y, order=range(len(x)))
    path = plane.pixels(x, y)
    kept = plane.thinned(path, pd.factorize(frame["series"])[0])
    path, frame = path[kept], frame[kept]
    return {name: path[(frame["series"] == name).to_numpy()] for name in lines}, frame


def _strokes(
    frame: pd.DataFrame, plane: _Frame, name: str, looks: dict, wide: float
) -> list[alt.Chart]:
    """Lines, and a dot where one is a single point."""
    look: Any = {"strokeWidth": wide, "strokeJoin": "round", **plane.cut(frame)}
    mark = _Layer(frame, name=name).mark_line(**look)
    layers = [mark.encode(**plane.channels, **looks, order="order:Q")]
    spans = frame.groupby("series")[["naturalness", "accuracy"]].transform(np.ptp).to_numpy()
    single = frame[(spans == 0).all(axis=1)].drop_duplicates("series")
    if len(single):
        dot = _Layer(single).mark_point(filled=True, size=40 * wide, opacity=1)
        layers.append(dot.encode(**plane.channels, color=looks["color"]))
    return layers


def _bands(bands: Mapping[str, np.ndarray], names: list[str], plane: _Frame) -> list[alt.Chart]:
    layers = []
    for name, (x, low, high) in bands.items():
        frame = pd.DataFrame({"naturalness": x, "accuracy": low, "high": high})
        cut = plane.cut(frame) | plane.cut(frame.assign(accuracy=high))
        area = _Layer(frame).mark_area(color=_LINES[names.index(name)], opacity=0.16, **cut)
        layers.append(area.encode(**plane.channels, y2="high:Q"))
    return layers
