"""Systems on the plane (AN Figures 2 and 3), such planes above each other for print, gaps, and moves."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from .. import checks
from ..estimate import Estimate, digits_of
from ..frontier import OracleCurve, pareto_mask
from ..plane.scores import OF_REFERENCE
from . import frame as fr
from .curve import _curve_layers, _curve_notes, _curve_text
from .frame import QUIET, _checked, _checked_systems, _Frame, _Layer, _system_marks, _systems_text
from .labels import _HALO, _label_layers, _rule_layers

_AROUND = 64  # points of an ellipse
_ELLIPSE = ["naturalness_se", "accuracy_se", "correlation"]
_GAPS = ("accuracy_gap", "naturalness_gap")
_GAP_SIZE = (270, 22)  # width of a panel, height of a row
_RULER = 40  # px of the ruler of N(Q) above a plane


@dataclass(frozen=True)
class Panel:
    """Systems on one plane, and how to draw them.

    Parameters
    ----------
    table : a row per system, as for `plot_systems`
    title : of the axis of accuracy, in `plot_panels`
    curve, uncertainty, pareto, origin, named, mono : as for `plot_systems`
    """

    table: pd.DataFrame
    title: str = ""
    curve: OracleCurve | None = None
    uncertainty: str = "ellipse"
    pareto: bool = True
    origin: str = ""
    named: Sequence[str] = ()
    mono: Estimate | None = None
    systems: pd.DataFrame = field(init=False, repr=False)

    def __post_init__(self) -> None:
        checks.one_of(self.uncertainty, ("ellipse", "chosen", "cross", "none"), "uncertainty")
        object.__setattr__(self, "systems", _ranked(self.table))

    @property
    def ranges(self) -> fr.Ranges:
        """Ranges of systems, intervals, curve, R and origin; controls and copies stretch no axis."""
        systems = self.systems[_stretching(self.systems)]
        frame = systems[["accuracy", "naturalness"]]
        for axis in ("accuracy", "naturalness"):
            if self.uncertainty == "ellipse":
                reach = _radii(systems) * systems[f"{axis}_se"].where(_has_ellipse(systems))
                possible = systems.attrs.get("bounds", {}).get(axis, (-np.inf, np.inf))
                ends = {"low": systems[axis] - reach, "high": systems[axis] + reach}
                ends = {f"{axis}_{end}": v.clip(*possible) for end, v in ends.items()}
                frame = frame.assign(**ends)
            elif self.uncertainty == "cross":
                ends = [c for c in (f"{axis}_low", f"{axis}_high") if c in systems]
                frame = frame.assign(**systems[ends])
        more = [pd.DataFrame({"accuracy": [0.0], "naturalness": [0.0]})] if self.origin else []
        if (r := self.mono) is not None:
            more.append(pd.DataFrame({"naturalness": [r.low, r.value, r.high]}))
        return fr.axis_ranges(
            [] if self.curve is None else [self.curve], [pd.concat([frame, *more])]
        )


def plot_systems(
    table: pd.DataFrame,
    *,
    curve: OracleCurve | None = None,
    uncertainty: str = "ellipse",
    pareto: bool = True,
    origin: str = "",
    named: Sequence[str] = (),
    mono: Estimate | None = None,
    **look: Any,
) -> alt.LayerChart:
    """Systems with 95 % regions on the plane; Pareto-optimal ones are ringed and named in bold.

    Parameters
    ----------
    table : DataFrame
        A row per system: system, category (a key of `frame.CATEGORIES`), accuracy, naturalness; for
        ellipses accuracy_se, naturalness_se, correlation, n_effective; for crosses accuracy_low,
        accuracy_high, naturalness_low, naturalness_high; optional pareto (else computed), n, n_docs,
        outside. A system with a nan is not drawn; a note names it.
    curve : OracleCurve, optional
        Drawn behind the systems.
    uncertainty : "ellipse", "chosen", "cross" or "none"
        "chosen": the ellipse of the system picked in a list or clicked, on an interactive chart.
    pareto : bool
        Mark the Pareto set.
    origin : str
        Name of a mark at (0, 0), such as "no errors" for negated penalties.
    named : sequence of str
        Systems with thick outlines whose labels come first.
    mono : Estimate, optional
        Naturalness of R, monolingual text, from `plane.with_mono`: a rule with its interval.
    **look : title, axis titles, ranges, size
        As in `frame.Look`.
    """
    panel = Panel(table, "", curve, uncertainty, pareto, origin, named, mono)
    plane = _Frame.plane(panel.ranges, **look)
    layers, words, notes, unnamed = _drawn(panel, plane)
    return plane.finished(layers, [*words, fr._unnamed(unnamed)], notes)


def _drawn(panel: Panel, plane: _Frame, **legend: Any) -> tuple[list, list[str], list[str], list]:
    """Layers from back to front, words for the alt text, notes, and the labels without room."""
    systems, curve, mono = panel.systems, panel.curve, panel.mono
    shown = systems[plane.holds(systems)]
    shown = shown.iloc[np.argsort(~shown["system"].isin(panel.named), kind="stable")]
    mine, best = shown["system"].isin(panel.named), shown["pareto"].astype(bool) & panel.pareto
    layers, lines, marks = _curve_layers(curve, plane) if curve else ([], [], None)
    if mono is not None:
        across, drawn = _mono_layers(mono, [*lines, plane.at(shown)], plane)
        layers, lines = [*across, *layers], [*lines, *drawn]
    edge = systems[systems["pareto"].astype(bool) & (systems.get("outside", "") == "")]
    if panel.pareto and len(edge):
        steps = _staircase(edge, plane.ranges)
        look = {"color": "#000000", "strokeWidth": 1.5, "strokeDash": [6, 4], **plane.cut(steps)}
        stairs = _Layer(steps).mark_line(**look).encode(**plane.channels, order="step:Q")
        layers, lines = [*layers, stairs], [*lines, plane.at(steps)]
    choice = _choice(shown, best) if panel.uncertainty == "chosen" else None
    if choice or panel.uncertainty == "ellipse":
        layers = [*layers, *_ellipses(shown, plane, choice)]
    elif panel.uncertainty == "cross":
        bars, ends = plane.bars(shown)
        layers, lines = [*layers, *bars], [*lines, *ends]
    zero = pd.DataFrame({"label": [panel.origin], "naturalness": [0.0], "accuracy": [0.0]})
    if panel.origin and plane.holds(zero).all():
        layers, marks = [*layers, plane.plus()], pd.concat([marks, zero])
    leaders, texts, unnamed = _label_layers(shown.assign(bold=best | mine), plane, lines, marks)
    points = _system_marks(shown, plane.channels, plane.tips, own=panel.named, **legend)
    ringed = [plane.rings(shown[best])] if best.any() else []
    if choice:
        ringed, points = [plane.rings(shown).transform_filter(choice)], points.add_params(choice)
    notes = [
        " ".join(
            [f"{'Bold' if choice else 'Rings'}: no counted system is better on both."]
            * panel.pareto
            + _uncertain(panel.uncertainty, shown)
        ),
        *_mono_note(mono, plane),
        *fr._not_drawn(panel.table, systems, plane),
        *_curve_notes(curve, panel.table, plane),
        f"Thick outlines: {', '.join(shown['system'][mine])}." if mine.any() else "",
        f"Names left out, as there is no room: {len(unnamed)}." if unnamed else "",
    ]
    first = ", ".join(systems["system"][systems["pareto"].astype(bool)].astype(str))
    first = f"on the Pareto frontier: {first}" if panel.pareto and first else ""
    words = [_systems_text(systems), first, _curve_text(curve, panel.table)]
    return [*layers, *leaders, *ringed, points, *texts], words, [*filter(None, notes)], unnamed


def plot_panels(
    panels: Sequence[Panel],
    naturalness_title: str,
    *,
    ruler: bool = False,
    size: fr.Size = fr.COLUMN,
    beside: bool = False,
) -> tuple[alt.VConcatChart | alt.HConcatChart, list[list[str]], list[str]]:
    """Planes above each other over one axis of naturalness, for print: notes go into the caption.

    Parameters
    ----------
    panels : one for each metric of accuracy
    ruler : draw N(Q), the distance from R, above the first plane; for log-probabilities only
    size : (width, height) of each plane in pixels
    beside : draw them side by side

    Returns
    -------
    chart; notes of each panel; systems without a name in some panel
    """
    spans = [panel.ranges for panel in panels]
    wide = min(x[0] for x, _ in spans), max(x[1] for x, _ in spans)
    kinds = dict.fromkeys(kind for panel in panels for kind in panel.systems["category"])
    above = _RULER if ruler and panels[0].mono is not None else 0
    parts, words, notes, unnamed = [], [], [], []
    for k, (panel, (_, high)) in enumerate(zip(panels, spans, strict=True)):
        plane = _Frame((wide, high), size, (naturalness_title, panel.title))
        _short_axes(plane, last=beside or k == len(panels) - 1)
        layers, said, own, lost = _drawn(
            panel, plane, kinds=kinds, offset=None if k else 34 + above
        )
        if above and not k and panel.mono is not None:
            layers += _ruler(panel.mono, plane)
        for layer in layers:
            # views of one name would share their data
            layer.name = alt.Undefined
        parts.append(alt.layer(*layers).properties(width=size[0], height=size[1]))
        words.append(f"{panel.title}: {fr._alt_words('', [*said, *own])}")
        notes.append(own)
        unnamed += lost
    joined = alt.hconcat if beside else alt.vconcat
    chart = joined(*parts, spacing=14, description=" ".join(words))
    chart = chart.resolve_scale(fill="independent", shape="independent", x="independent")
    return chart, notes, list(dict.fromkeys(unnamed))


def _error_ellipses(systems: pd.DataFrame) -> pd.DataFrame:
    """Outlines of the regions that hold a system's two means with 95 %, were the means normal.

    Parameters
    ----------
    systems : DataFrame
        system, category, naturalness, accuracy, naturalness_se, accuracy_se, correlation of the two
        means, and n_effective where known. A row without them has no ellipse; a standard error of 0
        gives a line or a point. `attrs["bounds"]` has the possible range of each axis.

    Returns
    -------
    A row per system and point: system, category, naturalness, accuracy, step along the outline.

    References
    ----------
    Hotelling 1931, Annals of Mathematical Statistics 2.
    """
    known = systems[_has_ellipse(systems)]
    sx, sy, r = (known[c].to_numpy(dtype=float)[:, None] for c in _ELLIPSE)
    r = np.where((sx == 0) | (sy == 0), 0.0, r)
    radius, angle = _radii(known)[:, None], np.linspace(0, 2 * np.pi, _AROUND, endpoint=False)
    # the Cholesky root [[sx, 0], [r·sy, √(1-r²)·sy]] of the covariance, times the unit circle
    dx = radius * sx * np.cos(angle)
    dy = radius * sy * (r * np.cos(angle) + np.sqrt(np.clip(1 - r**2, 0, None)) * np.sin(angle))
    outline = known.loc[known.index.repeat(_AROUND), ["system", "category"]].reset_index(drop=True)
    for axis, away in (("naturalness", dx), ("accuracy", dy)):
        at = (known[axis].to_numpy(dtype=float)[:, None] + away).ravel()
        outline[axis] = at.clip(*systems.attrs.get("bounds", {}).get(axis, (-np.inf, np.inf)))
    return outline.assign(step=np.tile(np.arange(_AROUND), len(known)))


def _has_ellipse(systems: pd.DataFrame) -> pd.Series:
    _checked(systems, [], _ELLIPSE)
    sx, sy, r = (systems[c] for c in _ELLIPSE)
    known = sx.notna() & sy.notna() & (r.notna() | (sx == 0) | (sy == 0))
    return known & ~np.isnan(_radii(systems))


def _radii(systems: pd.DataFrame) -> np.ndarray:
    """Standard errors that an ellipse reaches: Hotelling's √(2 (m − 1) / (m − 2) F), F of 2 and m − 2.

    m is n_effective, √χ² of 2 degrees of freedom without it; nan for m ≤ 2.
    """
    from scipy.special import fdtri

    m = systems.get("n_effective", pd.Series(np.inf, systems.index)).fillna(np.inf).to_numpy(float)
    some, ends = np.isfinite(m) & (m > 2), np.where(m > 2, 5.991464547107979**0.5, np.nan)
    ends[some] = np.sqrt(2 * (m[some] - 1) / (m[some] - 2) * fdtri(2, m[some] - 2, 0.95))
    return ends


def _choice(shown: pd.DataFrame, best: pd.Series) -> alt.Parameter:
    """Choice of one system, from a list or by a click; at first one of the best."""
    first = [{"system": shown["system"].iloc[int(np.argmax(best))]}]
    listed = alt.binding_select(options=sorted(shown["system"]), name="Choose a system: ")
    look: Any = {"value": first, "bind": listed, "on": "click", "clear": False, "empty": False}
    return alt.selection_point(name="chosen", fields=["system"], **look)


def _ellipses(shown: pd.DataFrame, plane: _Frame, choice: alt.Parameter | None) -> list[alt.Chart]:
    """Outlines, of all systems or of the chosen one."""
    outlines = _error_ellipses(shown)
    look: Any = {"interpolate": "linear-closed", "stroke": QUIET, "strokeWidth": 1.5}
    plain = _Layer(outlines).mark_line(**look, **plane.cut(outlines))
    layer = plain.encode(**plane.channels, detail="system:N", order="step:Q")
    return [layer.transform_filter(choice) if choice else layer] if len(outlines) else []


def _ranked(table: pd.DataFrame) -> pd.DataFrame:
    """Systems with a column pareto, computed where it is missing."""
    systems = _checked_systems(table)
    if "pareto" in systems:
        return systems
    one = np.zeros(len(systems), dtype=int)
    return systems.assign(pareto=pareto_mask(one, systems["accuracy"], systems["naturalness"]))


def _stretching(systems: pd.DataFrame) -> np.ndarray:
    """(n,) bool: neither a control nor a copy of a reference, or all."""
    why = systems.get("outside", pd.Series("", systems.index)).astype(str)
    real = ~(why.eq("control") | why.str.startswith(OF_REFERENCE)).to_numpy()
    return real if real.any() else ~real


def _staircase(best: pd.DataFrame, ranges: fr.Ranges) -> pd.DataFrame:
    """Edge of the region that the best systems beat, from the left to the bottom."""
    best = best.sort_values(["naturalness", "accuracy"], ascending=[True, False])
    x, y = best["naturalness"].to_numpy(dtype=float), best["accuracy"].to_numpy(dtype=float)
    left, bottom = min(ranges[0][0], x[0]), min(ranges[1][0], y[-1])
    x, y = np.r_[left, np.repeat(x, 2)], np.r_[np.repeat(y, 2), bottom]
    return pd.DataFrame({"naturalness": x, "accuracy": y, "step": np.arange(len(x))})


def _uncertain(uncertainty: str, shown: pd.DataFrame) -> list[str]:
    """Meaning of the ellipses, crosses or bars, and systems without."""
    if uncertainty == "none":
        return []
    if uncertainty in ("ellipse", "chosen"):
        known, text = _has_ellipse(shown), "Ellipses: 95 % of the means."
    else:
        ends = shown.reindex(columns=["accuracy_low", "naturalness_low"]).notna()
        known, has = ends.any(axis=1), [c.removesuffix("_low") for c in ends if ends[c].any()]
        both = len(has) == 2
        text = "Crosses: 95 % of each mean." if both else f"Bars: 95 % of the mean {''.join(has)}."
    without = ", ".join(shown["system"][~known].astype(str))
    more = [f"No interval: {without}."] if without else []
    return [text, *more] if known.any() else []


def _mono_layers(mono: Estimate, paths: list[np.ndarray], plane: _Frame) -> tuple[list, list]:
    """R: its interval as a band and its mean as a rule, inside the plane."""
    start, end = plane.ranges[0]
    band = {"low": max(mono.low, start), "high": min(mono.high, end)}
    layers = []
    if band["low"] < band["high"]:
        shade = _Layer(pd.DataFrame([band]), name="mono").mark_rect(color=QUIET, opacity=0.2)
        layers.append(shade.encode(x=plane.on("x", "low"), x2="high:Q"))
    rules = [("x", mono.value, "R")] if start <= mono.value <= end else []
    across, drawn = _rule_layers(rules, paths, plane)
    return [*layers, *across], drawn


def _mono_note(mono: Estimate | None, plane: _Frame) -> list[str]:
    if mono is None:
        return []
    digits, (start, end) = digits_of(plane.ranges[0]), plane.ranges[0]
    value, low, high = (fr.number(at, digits) for at in (mono.value, mono.low, mono.high))
    around = f"{value} (band: 95 %, {low} to {high})" if mono.low < mono.high else f"{mono.value:g}"
    where = "" if start <= mono.value <= end else ", outside the picture"
    return [f"R (dashed): {mono.n} texts written in the language, {around}{where}."]


def _short_axes(plane: _Frame, last: bool) -> None:
    """Set one-line axis titles, with an arrow for the direction; only the last plane numbers its x axis."""
    for k, (axis, room) in enumerate((("x", 40), ("y", 0))):
        plain, directed, _ = plane.titles[k].rpartition(", higher is ")
        text = f"{plain}) →" if directed else plane.titles[k]
        if len(text) * 0.53 * fr.FONT > plane.size[0] + room:
            text = text.partition(" (")[0] + " →" * bool(directed)
        shown = axis == "y" or last
        look = plane.channels[axis]["axis"]
        look.title, look.labels = (text if shown else None), shown


def _ruler(mono: Estimate, plane: _Frame) -> list[alt.Chart]:
    """AN's N(Q) above the plane: 0 at R, and negative on both sides."""
    at, (start, end) = mono.value, plane.ranges[0]
    steps = [m * 10.0**e for e in range(-4, 4) for m in (1, 2, 5)]
    step = next((one for one in steps if (end - start) / one <= 6), end - start)
    away = np.arange(np.ceil((start - at) / step), np.floor((end - at) / step) + 1) * step
    digits = max(0, -int(np.floor(np.log10(step))))
    labels = [fr.number(-abs(one), digits) if one else "0" for one in away]
    base = _Layer(pd.DataFrame({"naturalness": at + away, "label": labels}))
    look: dict[str, Any] = {"fontSize": fr.FONT, "baseline": "bottom", "color": QUIET}
    title = _Layer(pd.DataFrame({"label": ["N(Q) = −|LPP(Q) − LPP(R)|"]})).mark_text(**look)
    x, above = plane.channels["x"], alt.value(plane.size[0] / 2)
    return [
        base.mark_rule(color=QUIET).encode(x=x, y=alt.value(-5), y2=alt.value(0)),
        base.mark_text(**look).encode(x=x, y=alt.value(-7), text="label:N"),
        title.encode(x=above, y=alt.value(-26), text="label:N"),
    ]


def plot_gap(
    table: pd.DataFrame,
    *,
    accuracy_title: str = "Accuracy gap at equal naturalness",
    naturalness_title: str = "Naturalness gap at equal accuracy",
    title: str = "",
) -> alt.HConcatChart:
    """Gap of each system to the oracle curve on both axes, the smallest accuracy gap on top.

    Parameters
    ----------
    table : system, category, accuracy_gap, naturalness_gap, where known each with _low and _high;
        nan where the curve has no point to compare with
    accuracy_title, naturalness_title : with units
    """
    ends = [f"{gap}{end}" for gap in _GAPS for end in ("_low", "_high")]
    rows = _checked(table, ["category"], [*_GAPS, *ends]).sort_values(_GAPS[0], kind="stable")
    _checked(rows, [_GAPS[0] if rows[_GAPS[0]].notna().any() else _GAPS[1]])
    titles = zip(_GAPS, (accuracy_title, naturalness_title), strict=True)
    panels = [_gap_panel(rows, column, text) for column, text in titles]
    values = rows[[*_GAPS]].to_numpy(dtype=float)
    notes = ["Bars: 95 % intervals."] if {*ends} & {*rows} else []
    notes += ["Below 0: above the curve."] if (values < -1e-9).any() else []
    if np.isnan(values).any():
        notes.append("A missing mark: there is no score, or no point of the curve to compare with.")
    words = [f"{accuracy_title} and {naturalness_title}", _systems_text(rows, _GAPS)]
    chart = alt.hconcat(*panels, spacing=20).resolve_scale(y="shared")
    return fr._framed(chart, title, words, notes, width=2 * _GAP_SIZE[0] + 120)


def _gap_panel(rows: pd.DataFrame, column: str, title: str) -> alt.LayerChart:
    names: dict[str, Any] = {"labelFontSize": fr.FONT, "labelLimit": 240, "labelPadding": 10}
    axis = alt.Axis(**names, labels=column == _GAPS[0], ticks=False, grid=True)
    y = alt.Y("system:N", sort=rows["system"].tolist(), title=None, axis=axis)
    x = alt.X(f"{column}:Q", axis=fr._axis_of(title, _GAP_SIZE[0], tickCount=4))
    low, high = ends = [f"{column}_low", f"{column}_high"]
    known = rows.dropna(subset=[column])
    channels = {"x": x, "y": y}
    layers = [_system_marks(known, channels, [fr._tip(column, title)], kinds=rows["category"])]
    if {*ends} <= {*rows}:
        bar = _Layer(rows.dropna(subset=ends)).mark_rule(color=fr.BARS, strokeWidth=2)
        layers.insert(0, bar.encode(x=f"{low}:Q", x2=f"{high}:Q", y=y))
    return alt.layer(*layers).properties(width=_GAP_SIZE[0], height=_GAP_SIZE[1] * len(rows))


def plot_moves(table: pd.DataFrame) -> alt.LayerChart:
    """Systems by two negated penalties, for a script to move; (0, 0) is no errors.

    Layers whose names begin with bx have a mark for each system, in the order of the table: its place, a ring, a label,
    and a line from its start.

    Parameters
    ----------
    table : system, category, accuracy and naturalness ≤ 0
    """
    systems = _checked_systems(table)
    worst = [float(-systems[c].min()) or 1.0 for c in ("naturalness", "accuracy")]
    across, up = ((-1.1 * one, one / 200) for one in worst)
    titles = [f"−MQM {of} (points per segment, higher is better)" for of in ("fluency", "accuracy")]
    plane = _Frame((across, up), (440, 420), (titles[0], titles[1]), root=(True, True))
    axes, to = plane.channels, {"x2": alt.X2("naturalness:Q"), "y2": alt.Y2("accuracy:Q")}
    trace, leader = (_Layer(systems, name=f"bx{name}") for name in ("trace", "leader"))
    layers = [
        plane.plus(),
        trace.mark_rule(color=QUIET, strokeWidth=2, strokeDash=[5, 3]).encode(**axes, **to),
        plane.rings(systems, "bxstart", stroke=QUIET, size=50),
        plane.rings(systems, "bxring"),
        _system_marks(systems, axes, plane.tips, name="bxsystem"),
        leader.mark_rule(color="#444444", strokeWidth=1).encode(**axes, **to),
    ]
    text = {"align": "left", "dx": 14, "fontSize": fr.FONT, "baseline": "middle"}
    for name, more in (("bxhalo", _HALO), ("bxlabel", {})):
        mark = _Layer(systems, name=name).mark_text(**text, color="#000000", **more)
        layers.append(mark.encode(**axes, text="system:N"))
    return plane.finished(layers, [f"penalties on accuracy and fluency: {_systems_text(systems)}"])
