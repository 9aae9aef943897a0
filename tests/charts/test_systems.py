"""What would be drawn of systems: ellipses against their covariance, the Pareto set, ranges, words."""

import os
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f

from anhelpers.charts import systems as charts
from anhelpers.charts.ellipses import error_ellipses, has_ellipse, radii
from anhelpers.charts.frame import COLUMN
from anhelpers.charts.offline import to_svg
from anhelpers.errors import DataError, UnknownName
from anhelpers.estimate import Estimate
from anhelpers.frontier import oracle_curve

CHI2 = 5.991464547107979  # the 95 % quantile of χ² with 2 degrees of freedom


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"system": [f"System-{i}" for i in range(n)], "category": (["LLM", "MT", "online"] * n)[:n]}
    )
    frame["accuracy"], frame["naturalness"] = rng.normal(60, 3, n), rng.normal(-3, 0.2, n)
    for axis, se in (("accuracy", 0.5), ("naturalness", 0.03)):
        frame[f"{axis}_se"] = se
        frame[f"{axis}_low"], frame[f"{axis}_high"] = frame[axis] - 2 * se, frame[axis] + 2 * se
    return frame.assign(correlation=0.3, n=90, pareto_probability=0.5, accuracy_gap=1.0)


def drawn(chart):
    """(mark, encoding, rows) of every layer."""
    spec = chart.to_dict()
    return [
        (layer["mark"], layer["encoding"], spec["datasets"][layer["data"]["name"]])
        for layer in spec["layer"]
    ]


def rows_of(chart, **mark):
    return [
        row
        for m, _, rows in drawn(chart)
        for row in rows
        if all(m.get(k) == v for k, v in mark.items())
    ]


@given(st.floats(0.01, 5), st.floats(0.01, 5), st.floats(-1, 1))
def test_an_ellipse_holds_95_percent_of_the_normal_with_its_covariance(sx, sy, r):
    frame = table(1).assign(naturalness_se=sx, accuracy_se=sy, correlation=r)
    outline = error_ellipses(frame, n_points=64)
    x = (
        outline[["naturalness", "accuracy"]]
        - frame.loc[0, ["naturalness", "accuracy"]].astype(float)
    ).to_numpy()
    assert (x.max(axis=0) <= np.array([sx, sy]) * CHI2**0.5 * (1 + 1e-9)).all()
    assert x.T @ x / 64 == pytest.approx(
        CHI2 / 2 * np.array([[sx**2, r * sx * sy], [r * sx * sy, sy**2]]), abs=1e-9
    )
    if abs(r) < 0.99:
        inverse = np.linalg.inv([[sx**2, r * sx * sy], [r * sx * sy, sy**2]])
        assert np.einsum("ni,ij,nj->n", x, inverse, x) == pytest.approx(CHI2, rel=1e-6)


def test_an_ellipse_needs_its_columns_and_a_nan_has_none():
    frame = table(3)
    frame.loc[1, "correlation"] = np.nan
    assert set(error_ellipses(frame)["system"]) == {"System-0", "System-2"}
    assert (
        len(rows_of(charts.plot_systems(frame), type="line", interpolate="linear-closed")) == 2 * 64
    )
    with pytest.raises(DataError, match="no column correlation"):
        charts.plot_systems(frame.drop(columns="correlation"))


def test_the_steps_enclose_every_system_and_touch_the_pareto_set():
    frame = table(20, seed=4)
    chart = charts.plot_systems(frame)
    best = {r["system"] for r in rows_of(chart, size=420)}
    at = frame[["naturalness", "accuracy"]].to_numpy()
    beaten = [((at >= one).all(axis=1) & (at > one).any(axis=1)).any() for one in at]
    assert best == set(frame["system"][~np.array(beaten)])
    steps = rows_of(chart, type="line", strokeDash=[6, 4])
    corners = {(r["naturalness"], r["accuracy"]) for r in steps}
    assert {tuple(p) for p in at[~np.array(beaten)]} <= corners
    for x, y in at:
        assert max(s["accuracy"] for s in steps if s["naturalness"] >= x) >= y
    assert {r["label"] for r in rows_of(chart, fontWeight="bold")} == best
    assert not rows_of(charts.plot_systems(frame, pareto=False), size=420)


def test_a_mean_that_never_varies_has_a_line_for_an_ellipse():
    frame = table(3)
    frame.loc[1, ["naturalness_se", "correlation"]] = 0.0, np.nan
    own = error_ellipses(frame).query("system == 'System-1'")
    assert own["naturalness"].nunique() == 1
    assert np.ptp(own["accuracy"]) == pytest.approx(2 * 0.5 * CHI2**0.5, rel=0.01)
    frame.loc[1, "accuracy_se"] = 9.0
    y = drawn(charts.plot_systems(frame))[0][1]["y"]["scale"]["domain"]
    assert y[1] - y[0] > 2 * 9 * CHI2**0.5  # it lies in the picture


def test_an_uncertainty_is_named_only_where_it_is_drawn():
    frame = table(3).assign(
        naturalness_se=np.nan, correlation=np.nan, naturalness_low=np.nan, naturalness_high=np.nan
    )
    assert "Ellipses" not in charts.plot_systems(frame).description
    cross = charts.plot_systems(frame, uncertainty="cross")
    assert "Bars: 95 % of the mean accuracy." in " ".join(cross.title.subtitle)
    assert len(rows_of(cross, type="rule")) == 3
    some = table(3)
    some.loc[2, "naturalness_se"] = np.nan
    assert "Ellipses: 95 % of the means. No ellipse, for an interval is missing: System-2" in (
        " ".join(charts.plot_systems(some).title.subtitle)
    )


@pytest.mark.parametrize("focus", [0, []])
def test_a_focus_on_nobody_is_refused(focus):
    with pytest.raises(DataError, match="give how many systems, at least 1"):
        charts.focus_ranges(table(3), focus)


def test_a_given_pareto_column_decides():
    frame = table(4).assign(pareto=[False, True, False, False])
    assert [r["system"] for r in rows_of(charts.plot_systems(frame), size=420)] == ["System-1"]
    assert "on the Pareto frontier: System-1;" in charts.plot_systems(frame).description
    nobody = charts.plot_systems(frame.assign(pareto=False))
    assert not rows_of(nobody, strokeDash=[6, 4])
    assert "on the Pareto frontier" not in nobody.description


def test_marks_tooltips_and_ways_to_draw_uncertainty():
    frame = table(3).drop(columns=["correlation"])
    layers = drawn(charts.plot_systems(frame, uncertainty="cross"))
    fields = {t["field"] for _, e, _ in layers if "shape" in e for t in e["tooltip"]}
    assert {
        "system",
        "category",
        "accuracy_low",
        "naturalness_high",
        "n",
        "pareto_probability",
        "accuracy_gap",
    } <= fields
    assert sum(mark["type"] == "rule" for mark, _, _ in layers) == 2
    plain = drawn(charts.plot_systems(frame, uncertainty="none", pareto=False))
    assert {mark["type"] for mark, _, _ in plain} == {"point", "text"}
    with pytest.raises(UnknownName, match="did you mean 'ellipse'"):
        charts.plot_systems(frame, uncertainty="elipse")


def test_a_few_bad_systems_stretch_nothing_and_are_told():
    frame = table(12)
    frame.loc[[3, 7], "accuracy"] = [15.0, 20.0]
    ranges = charts.focus_ranges(frame, 10)
    assert ranges[1][0] > 40
    chart = charts.plot_systems(frame, ranges=ranges, title="A claim")
    assert "System-3" not in {r["system"] for r in rows_of(chart, size=160)}
    note = " ".join(chart.to_dict()["title"]["subtitle"])
    assert "Outside the picture: 2 of 12 systems (System-3, System-7)." in note
    assert "System-3 (15," in chart.description
    near = frame[frame["system"].isin(["System-1", "System-2"])]
    low, high = charts.focus_ranges(frame, ["System-1", "System-2"])[1]
    assert low < near["accuracy"].min() < near["accuracy"].max() < high
    with pytest.raises(UnknownName, match="unknown system 'System-99'"):
        charts.focus_ranges(frame, ["System-99"])
    with pytest.raises(DataError, match="no system lies in the picture"):
        charts.plot_systems(frame, ranges=((0, 1), (0, 1)))


def test_ones_own_systems_lie_above_the_others_and_stand_out():
    frame = table(12)
    chart = charts.plot_systems(frame, named=["System-4", "System-2"])
    rows = [row for m, e, rows in drawn(chart) for row in rows if "shape" in e and "outline" in row]
    assert [row["system"] for row in rows[-2:]] == ["System-2", "System-4"]  # drawn last
    assert [row["outline"] > 1 for row in rows] == [False] * 10 + [True] * 2
    assert [row["area"] > 160 for row in rows] == [False] * 10 + [True] * 2
    assert "Thick outlines: System-4, System-2." in " ".join(chart.title.subtitle) or (
        "Thick outlines: System-2, System-4." in " ".join(chart.title.subtitle)
    )
    assert 'stroke-width="3"' in to_svg(chart)
    assert "Thick outlines" not in charts.plot_systems(frame).description
    assert 'stroke-width="3"' not in to_svg(charts.plot_systems(frame))


def test_who_is_not_counted_lies_below_and_a_ring_is_clear_of_an_own_mark():
    frame = table(6).assign(outside=["", "copy of System-0", "", "", "human", "added"])
    frame["pareto"] = [True, False, False, False, False, True]
    chart = charts.plot_systems(frame, named=["System-5"])
    marks = next(rows for _, e, rows in drawn(chart) if "shape" in e)
    assert [row["system"] for row in marks] == [f"System-{i}" for i in (1, 4, 0, 2, 3, 5)]
    assert [row["system"] for row in rows_of(chart, size=420)] == ["System-0"]
    assert [row["system"] for row in rows_of(chart, size=900)] == ["System-5"]


def test_what_lies_inside_the_default_ranges():
    frame = table(6)
    curve = oracle_curve([0, 0, 1, 1], [70.0, 60, 68, 66], [-3.0, -2, -2.5, -2])
    chart = charts.plot_systems(frame, curve=curve)
    for mark, encoding, rows in drawn(chart):
        for channel, column in (("x", "naturalness"), ("y", "accuracy")):
            low, high = encoding[channel]["scale"]["domain"]
            assert all(low <= r[column] <= high for r in rows if column in r), mark
    assert {"β = 0", "β = ∞"} <= {r.get("label") for r in rows_of(chart, type="text")}
    hidden = charts.plot_systems(
        frame, curve=curve, ranges=charts.focus_ranges(frame, ["System-1", "System-2"])
    )
    assert "The oracle curve lies outside the picture" in hidden.description


def test_human_ratings_show_the_origin_where_it_has_a_name():
    frame = table(5).assign(accuracy=[-1.0, -2, -3, -4, -5], naturalness=[-2.0, -1, -3, -2, -3])
    assert "no errors" in {
        r["label"] for r in rows_of(charts.plot_systems(frame, origin="no errors"), type="text")
    }
    near = charts.focus_ranges(frame, ["System-2", "System-4"])
    away = charts.plot_systems(frame, origin="no errors", ranges=near)
    assert "no errors" not in {r["label"] for r in rows_of(away, type="text")}


def test_who_has_no_score_or_no_label_is_named_in_words():
    frame = table(30)
    frame.loc[:20, ["accuracy", "naturalness"]] = [60.0, -3.0]
    frame.loc[29, "accuracy"] = np.nan
    words = charts.plot_systems(frame).description
    assert "Not drawn, for a number is missing: System-29" in words
    unnamed = words.split("without a label for want of space: ")[1].rstrip(".").split(", ")
    labelled = {r["label"] for r in rows_of(charts.plot_systems(frame), type="text")}
    assert labelled | set(unnamed) == set(frame["system"][:29])
    assert not labelled & set(unnamed)
    with pytest.raises(DataError, match="no system to draw"):
        charts.plot_systems(frame.assign(accuracy=np.nan))


def test_at_the_width_of_a_column_the_smallest_text_has_7_points():
    svg = to_svg(
        charts.plot_systems(
            table(12), size=COLUMN, title="A claim that is long enough for two lines of text"
        )
    )
    width = float(re.search(r'width="([\d.]+)"', svg).group(1))
    smallest = min(float(size) for size in re.findall(r'font-size="([\d.]+)px', svg))
    assert smallest * 72 * 3.3 / width >= 7


@pytest.mark.real
@pytest.mark.skipif(
    "ANHELPERS_DATA" not in os.environ, reason="set ANHELPERS_DATA to the shared data sets"
)
def test_every_wmt24_system_has_a_label_or_is_named():
    from anhelpers.data import load

    test = load("wmt24/en-de")
    frame = table(len(test.systems)).assign(
        system=list(test.systems), category=[*map(test.categories.get, test.systems)]
    )
    chart = charts.plot_systems(frame)
    assert len(frame) == 26
    for name in test.systems:
        assert (
            name in {r["label"] for r in rows_of(chart, type="text")}
            or name in chart.description.split("want of")[1]
        )


def test_one_s_own_system_has_a_label_in_any_crowd():
    crowd = table(28).assign(accuracy=60.0, naturalness=np.linspace(-3, -2.99, 28))
    labels = {row["label"] for row in rows_of(charts.plot_systems(crowd), type="text")}
    mine = sorted(set(crowd.system) - labels)[0]
    assert mine in {
        row["label"] for row in rows_of(charts.plot_systems(crowd, named=[mine]), type="text")
    }


def test_an_ellipse_of_few_documents_reaches_as_far_as_hotelling_says():
    frame = table(4).assign(n_effective=[2.0, 6.0, 40.0, np.nan])
    reach = radii(frame)
    assert np.isnan(reach[0])
    expected = [(2 * (m - 1) / (m - 2) * f.ppf(0.95, 2, m - 2)) ** 0.5 for m in (6, 40)]
    assert reach[1:3] == pytest.approx(expected)
    assert reach[3] == pytest.approx(CHI2**0.5)
    assert has_ellipse(frame).tolist() == [False, True, True, True]


def test_r_is_a_rule_with_its_interval_as_a_band_in_picture_and_words():
    r = Estimate("R", -2.2, low=-2.3, high=-2.1, n=40)
    chart = charts.plot_systems(table(6), mono=r)
    bands = [rows for mark, _, rows in drawn(chart) if mark["type"] == "rect"]
    assert bands == [[{"low": -2.3, "high": -2.1}]]
    assert [
        rows
        for mark, _, rows in drawn(chart)
        if mark["type"] == "rule" and rows == [{"naturalness": -2.2}]
    ]
    assert "R" in {row["label"] for row in rows_of(chart, type="text")}
    said = (
        "R (dashed), 40 texts written in the language, stands at −2.20 (band: 95 %, −2.30 to −2.10)"
    )
    assert said in chart.to_dict()["description"]
    (low, high), _ = charts.systems_ranges(table(6), uncertainty="none", mono=r)
    assert low < -2.3
    assert high > -2.1
    outside = charts.plot_systems(table(6), mono=r, ranges=((-4.0, -2.5), (40.0, 80.0))).to_dict()
    assert "outside the picture" in outside["description"]
    assert not [layer for layer in outside["layer"] if layer["mark"]["type"] == "rect"]
    at_0 = charts.plot_systems(table(6), mono=Estimate("R", 0.0, n=40))
    assert "stands at 0." in at_0.to_dict()["description"]
    assert not [mark for mark, _, _ in drawn(at_0) if mark["type"] == "rect"]


def test_people_beyond_the_systems_do_not_bend_the_edge():
    frame = table(3).assign(
        accuracy=[62.0, 33.0, 56.0],
        naturalness=[-0.5, -0.2, -0.1],
        outside=["", "", "human"],
        pareto=True,
    )
    edge = charts._staircase(charts._edge(frame), ((-1.0, 0.0), (30.0, 70.0)))
    assert (np.diff(edge["accuracy"]) <= 0).all()
    assert edge["naturalness"].max() == -0.2
