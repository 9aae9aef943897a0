"""Systems on the plane: ellipses against their covariance, the Pareto set, ranges, panels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f

from anhelpers.charts import systems as charts
from anhelpers.charts.systems import Panel, _error_ellipses, plot_systems
from anhelpers.errors import DataError, UnknownName
from anhelpers.estimate import Estimate

from .drawn import layers, rows_of, table, texts

CHI2 = 5.991464547107979  # the 95 % quantile of χ² with 2 degrees of freedom
OUTLINE = {"interpolate": "linear-closed"}


@given(st.floats(0.01, 5), st.floats(0.01, 5), st.floats(-1, 1))
def test_an_ellipse_holds_95_percent_of_the_normal_with_its_covariance(sx, sy, r):
    frame = table(1).assign(naturalness_se=sx, accuracy_se=sy, correlation=r)
    outline = _error_ellipses(frame)[["naturalness", "accuracy"]]
    x = (outline - frame.loc[0, ["naturalness", "accuracy"]].astype(float)).to_numpy()
    covariance = np.array([[sx**2, r * sx * sy], [r * sx * sy, sy**2]])
    assert (x.max(axis=0) <= np.array([sx, sy]) * CHI2**0.5 * (1 + 1e-9)).all()
    assert x.T @ x / 64 == pytest.approx(CHI2 / 2 * covariance, abs=1e-9)
    if abs(r) < 0.99:
        found = np.einsum("ni,ij,nj->n", x, np.linalg.inv(covariance), x)
        assert found == pytest.approx(CHI2, rel=1e-6)


def test_an_ellipse_of_few_documents_reaches_as_far_as_hotelling_says():
    frame = table(4).assign(n_effective=[2.0, 6.0, 40.0, np.nan])
    reach = charts._radii(frame)
    assert np.isnan(reach[0])
    expected = [(2 * (m - 1) / (m - 2) * f.ppf(0.95, 2, m - 2)) ** 0.5 for m in (6, 40)]
    assert reach[1:3] == pytest.approx(expected)
    assert reach[3] == pytest.approx(CHI2**0.5)
    assert _error_ellipses(frame)["system"].nunique() == 3


def test_a_missing_correlation_has_no_ellipse_and_a_constant_mean_a_line():
    frame = table(3)
    frame.loc[1, "correlation"] = np.nan
    assert {*_error_ellipses(frame)["system"]} == {"System-0", "System-2"}
    assert len(rows_of(plot_systems(frame), **OUTLINE)) == 2 * 64
    frame.loc[1, ["naturalness_se", "accuracy_se"]] = 0.0, 9.0
    own = _error_ellipses(frame).query("system == 'System-1'")
    assert own["naturalness"].nunique() == 1
    assert np.ptp(own["accuracy"]) == pytest.approx(2 * 9 * CHI2**0.5, rel=0.01)
    low, high = layers(plot_systems(frame))[0][1]["y"]["scale"]["domain"]
    assert high - low > 2 * 9 * CHI2**0.5


def test_the_steps_enclose_every_system_and_touch_the_pareto_set():
    frame = table(20, seed=4)
    chart = plot_systems(frame)
    best = {r["system"] for r in rows_of(chart, size=420)}
    at = frame[["naturalness", "accuracy"]].to_numpy()
    beaten = np.array([((at >= one).all(axis=1) & (at > one).any(axis=1)).any() for one in at])
    assert best == set(frame["system"][~beaten])
    steps = rows_of(chart, strokeDash=[6, 4])
    corners = {(r["naturalness"], r["accuracy"]) for r in steps}
    assert {tuple(p) for p in at[~beaten]} <= corners
    for x, y in at:
        assert max(s["accuracy"] for s in steps if s["naturalness"] >= x) >= y
    assert {r["label"] for r in rows_of(chart, fontWeight="bold")} == best
    assert not rows_of(plot_systems(frame, pareto=False), size=420)


def test_a_given_pareto_column_decides():
    frame = table(4).assign(pareto=[False, True, False, False])
    assert [r["system"] for r in rows_of(plot_systems(frame), size=420)] == ["System-1"]
    assert not rows_of(plot_systems(frame.assign(pareto=False)), strokeDash=[6, 4])


def test_marks_tooltips_and_ways_to_draw_uncertainty():
    frame = table(3).drop(columns=["correlation"])
    drawn = layers(plot_systems(frame, uncertainty="cross"))
    tips = {t["field"] for _, e, _ in drawn if "shape" in e for t in e["tooltip"]}
    assert {"system", "category", "accuracy_low", "naturalness_high", "n", "accuracy_gap"} <= tips
    assert sum(mark["type"] == "rule" for mark, _, _ in drawn) == 2
    chosen = plot_systems(table(3), uncertainty="chosen", pareto=False).to_dict()
    assert chosen["params"][0]["bind"]["options"] == sorted(frame["system"])
    plain = layers(plot_systems(frame, uncertainty="none", pareto=False))
    assert {mark["type"] for mark, _, _ in plain} <= {"point", "text", "rule"}
    with pytest.raises(UnknownName):
        plot_systems(frame, uncertainty="elipse")


def test_bars_are_drawn_on_the_axis_that_has_intervals():
    unknown = dict.fromkeys(("naturalness_se", "naturalness_low", "naturalness_high"), np.nan)
    chart = plot_systems(table(3).assign(**unknown), uncertainty="cross")
    bars = [
        row for m, e, rows in layers(chart) if "y2" in e and m["type"] == "rule" for row in rows
    ]
    assert {row["system"] for row in bars if "system" in row} == {f"System-{i}" for i in range(3)}
    assert not rows_of(plot_systems(table(3).assign(**unknown)), **OUTLINE)


def test_systems_outside_the_picture_are_noted():
    frame = table(12)
    frame.loc[[3, 7], "accuracy"] = [15.0, 20.0]
    chart = plot_systems(frame, ranges=((-10, 0), (40, 100)))
    assert "System-3" not in {r["system"] for r in rows_of(chart, size=160)}
    assert "System-3, System-7" in " ".join(chart.to_dict()["title"]["subtitle"])
    assert "System-3 (15," in chart.description


def test_the_origin_is_named_where_the_plane_holds_it():
    frame = table(5).assign(accuracy=[-1.0, -2, -3, -4, -5], naturalness=[-2.0, -1, -3, -2, -3])
    assert "no errors" in texts(plot_systems(frame, origin="no errors"))
    near = ((-3.5, -0.5), (-5.5, -1.5))
    assert "no errors" not in texts(plot_systems(frame, origin="no errors", ranges=near))


def test_every_system_has_a_label_or_is_named_in_words():
    frame = table(30)
    frame.loc[:20, ["accuracy", "naturalness"]] = [60.0, -3.0]
    frame.loc[29, "accuracy"] = np.nan
    words = plot_systems(frame).description
    assert "System-29" in words.partition("Not drawn")[2]
    unnamed = words.split("for want of space: ")[1].split(";")[0].split(", ")
    labelled = set(texts(plot_systems(frame)))
    assert labelled | set(unnamed) == set(frame["system"][:29])
    assert not labelled & set(unnamed)
    with pytest.raises(DataError):
        plot_systems(frame.assign(accuracy=np.nan))


def test_r_is_a_rule_with_its_interval_as_a_band():
    r = Estimate("R", -2.2, low=-2.3, high=-2.1, n=40)
    chart = plot_systems(table(6), mono=r)
    assert rows_of(chart, name="mono") == [{"low": -2.3, "high": -2.1}]
    assert rows_of(chart, type="rule", strokeDash=[4, 4]) == [{"naturalness": -2.2}]
    assert "R" in texts(chart)
    (low, high), _ = Panel(table(6), mono=r).ranges
    assert low < -2.3
    assert high > -2.1
    outside = plot_systems(table(6), mono=r, ranges=((-4.0, -2.5), (40.0, 80.0)))
    assert not rows_of(outside, name="mono")
    assert "outside the picture" in outside.description
    assert not rows_of(plot_systems(table(6), mono=Estimate("R", 0.0, n=40)), name="mono")


def test_planes_side_by_side_share_the_range_of_naturalness_and_number_it_each():
    panels = [Panel(table(5, seed), name) for seed, name in enumerate(("chrF", "CometKiwi"))]
    beside, above = (
        charts.plot_panels(panels, "N", beside=way)[0].to_dict() for way in (True, False)
    )
    parts = [beside["hconcat"], above["vconcat"]]
    shown = [[p["layer"][-1]["encoding"]["x"] for p in side] for side in parts]
    domains = {tuple(x["scale"]["domain"]) for side in shown for x in side}
    assert len(domains) == 1
    assert [[x["axis"]["labels"] for x in side] for side in shown] == [[True, True], [False, True]]
