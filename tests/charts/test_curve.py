"""Oracle curves: vertices, marks, several curves and gaps."""

import math

import numpy as np
import pandas as pd
import pytest

from anhelpers.charts.curve import plot_curve, plot_optimism
from anhelpers.charts.frame import _Frame, axis_ranges
from anhelpers.charts.offline import _to_svg
from anhelpers.charts.systems import plot_gap
from anhelpers.errors import DataError, UnknownName
from anhelpers.fan import expected_curves
from anhelpers.frontier import oracle_curve

from .drawn import encoding_of, layers, rows_of, texts


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(3)
    segment = np.repeat(np.arange(60), 12)
    return segment, 60 + 9 * rng.normal(size=720), -3 + rng.normal(size=720) / 2


@pytest.fixture(scope="module")
def curve(problem):
    return oracle_curve(*problem)


@pytest.fixture(scope="module")
def curves(curve):
    lower = curve.accuracy.max() - np.array([12.0, 13, 20]), np.array([-2.9, -2.8, -2.2])
    return {"oracle": curve, "without a reference": oracle_curve(np.zeros(3, int), *lower)}


@pytest.fixture
def systems():
    frame = pd.DataFrame({"system": ["A", "B", "C <1>"], "category": ["LLM", "human", "MT"]})
    frame["accuracy"], frame["naturalness"] = [50.0, 52.0, np.nan], [-3.2, -3.1, -3.0]
    ends = {"accuracy_low": frame["accuracy"] - 1, "accuracy_high": frame["accuracy"] + 1}
    return frame.assign(**ends, n=50)


def test_the_line_is_the_curve_inside_the_axes(curve, systems):
    chart = plot_curve(curve, systems, accuracy_title="chrF (points, higher is better)")
    line = rows_of(chart, name="bxline")
    assert [r["naturalness"] for r in line] == curve.naturalness.tolist()
    assert [r["accuracy"] for r in line] == curve.accuracy.tolist()
    for _, encoding, rows in layers(chart):
        for channel, column in (("x", "naturalness"), ("y", "accuracy")):
            low, high = encoding[channel]["scale"]["domain"]
            assert all(low < r[column] < high for r in rows if column in r)
    assert encoding["y"]["axis"]["title"] == ["chrF (points, higher\u00a0is\u00a0better)"]
    assert encoding["x"]["axis"]["labelFontSize"] >= 14


def test_chosen_betas_are_marked_and_named(curve):
    betas = (0, 10, math.inf)
    chart = plot_curve(curve, betas=betas)
    rows = rows_of(chart, size=110)
    assert [r["label"] for r in rows] == ["β = 0", "β = 10", "β = ∞"]
    assert [r["accuracy"] for r in rows] == [curve.accuracy[curve.vertex(b)] for b in betas]
    assert {"β = 0", "β = 10", "β = ∞"} <= {*texts(chart)}


def test_systems_have_marks_by_category_bars_labels_and_tooltips(curve, systems):
    chart = plot_curve(curve, systems, title="A claim")
    encoding, rows = next((e, r) for _, e, r in layers(chart) if "shape" in e)
    assert [r["system"] for r in rows] == ["A", "B"]  # C has no accuracy: not drawn, not zero
    looks = {"domain": ["LLM", "human"], "range": ["circle", "diamond"]}
    assert encoding["shape"]["scale"] == looks
    assert {"accuracy_low", "n", "category"} <= {t["field"] for t in encoding["tooltip"]}
    assert [m["type"] for m, e, _ in layers(chart) if "y2" in e or "x2" in e] == ["rule"]
    assert {"A", "B"} <= {*texts(chart)}
    assert "C <1>" in " ".join(chart.to_dict()["title"]["subtitle"])
    assert chart.to_dict()["description"].startswith("A claim: oracle curve from accuracy")
    assert "B (52, -3.1)" in chart.description


def test_systems_outside_given_ranges_are_named_not_drawn(curve, systems):
    ranges = ((-3.15, float(curve.naturalness.mean())), (40.0, 80.0))
    chart = plot_curve(curve, systems, ranges=ranges)
    assert [r["system"] for _, e, rows in layers(chart) if "shape" in e for r in rows] == ["B"]
    assert "1 of 2 systems (A)" in chart.description
    assert layers(chart)[0][0]["clip"]
    assert "clip" not in layers(plot_curve(curve))[0][0]
    away = plot_curve(curve, ranges=((0.0, 1.0), (0.0, 1.0)))
    assert "outside the picture" in away.description


def test_many_vertices_are_thinned_by_less_than_half_a_pixel():
    rng = np.random.default_rng(1)
    n = 60_000
    big = oracle_curve(np.repeat(np.arange(n // 6), 6), rng.normal(size=n), rng.normal(size=n))
    assert len(big.beta) > 10_000
    rows = rows_of(plot_curve(big), name="bxline")
    assert len(rows) <= 5000
    x, y = _Frame.plane(axis_ranges([big])).pixels(big.naturalness, big.accuracy).T
    order = [r["order"] for r in rows]
    before = np.array(order)[np.searchsorted(order, range(len(x)), "right") - 1]
    assert np.hypot(x - x[before], y - y[before]).max() < 0.5
    assert (rows[0]["accuracy"], rows[-1]["accuracy"]) == (big.accuracy[0], big.accuracy[-1])
    several = plot_optimism({str(k): big for k in range(6)}).to_dict()
    assert max(map(len, several["datasets"].values())) <= 5000


def test_several_curves_run_from_end_to_end_and_are_named(curves):
    chart = plot_optimism(curves)
    drawn = pd.DataFrame(rows_of(chart, name="curves"))
    for name, curve in curves.items():
        own = drawn[drawn["series"] == name][["naturalness", "accuracy"]]
        whole = np.stack([curve.naturalness, curve.accuracy], 1)
        np.testing.assert_allclose(own.iloc[[0, -1]], whole[[0, -1]], rtol=1e-9)
    assert encoding_of(chart, name="curves")["strokeDash"]["scale"]["domain"] == list(curves)
    assert {*curves} <= {*texts(chart)}
    assert "; without a reference: from accuracy" in chart.description
    dot = plot_optimism(curves | {"only": oracle_curve([0], [55.0], [-2.5])})
    assert [row["series"] for row in rows_of(dot, type="point")] == ["only"]


def test_the_fan_is_thin_and_named_by_its_k(curves, problem):
    fan = expected_curves(*(column[:120] for column in problem), [1, 2, 4])
    chart = plot_optimism(curves, fan=fan)
    drawn = pd.DataFrame(rows_of(chart, name="fan"))
    for j, k in enumerate(fan.ks):
        own = drawn[drawn["series"] == f"K = {k}"]
        ends = np.array([fan.naturalness[[0, -1], j], fan.accuracy[[0, -1], j]])
        np.testing.assert_allclose(own[["naturalness", "accuracy"]].iloc[[0, -1]].T, ends)
    assert {"K = 1", "K = 2", "K = 4", *curves} <= {*texts(chart)}
    assert [row["series"] for row in rows_of(chart, type="point")] == ["K = 1"]
    assert f"K = 4: {fan.accuracy[0, 2]:.4g}" in chart.description
    assert "<svg" in _to_svg(chart)


def test_a_band_is_drawn_where_it_is_known(curves):
    x = np.linspace(-3, -2, 5)
    chart = plot_optimism(curves, bands={"oracle": [x, x + 70, [80, 81, np.nan, 83, 84]]})
    band = pd.DataFrame(rows_of(chart, type="area"))
    assert band["naturalness"].tolist() == x[[0, 1, 3, 4]].tolist()
    assert band["high"].tolist() == [80, 81, 83, 84]
    with pytest.raises(UnknownName):
        plot_optimism(curves, bands={"orcale": [[0], [1], [2]]})


def test_humans_and_named_systems_have_labels(curves):
    frame = pd.DataFrame({"system": ["A", "B", "far", "refA", "gone"]})
    frame["category"] = ["LLM", "MT", "MT", "human", "human"]
    frame["accuracy"], frame["naturalness"] = [58.0, 59, 5, 57, np.nan], [-3.1, -3.0, -9, -3.2, -3]
    chart = plot_optimism(curves, systems=frame, named=["A"])
    marks = next(rows for _, e, rows in layers(chart) if "shape" in e)
    assert [row["system"] for row in marks] == ["A", "B", "refA"]
    assert {"A", "refA"} <= {*texts(chart)}
    assert not {"B", "far", "gone"} & {*texts(chart)}
    assert "far (5, -9)" in chart.description
    with pytest.raises(UnknownName):
        plot_optimism(curves, systems=frame, named=["C"])


def test_gaps_in_two_panels_sorted_by_accuracy():
    frame = pd.DataFrame({"system": ["A", "B", "C"], "category": ["LLM", "MT", "human"]})
    ends = {"accuracy_gap_low": [2.0, 0.5, 1], "accuracy_gap_high": [4.0, 2, 3]}
    frame = frame.assign(accuracy_gap=[3.0, 1, 2], naturalness_gap=[0.1, np.nan, 0.3], **ends)
    chart = plot_gap(frame)
    bars, left, right = layers(chart)
    assert left[1]["y"]["sort"] == ["B", "C", "A"]
    assert [mark["type"] for mark in (bars[0], left[0])] == ["rule", "point"]
    assert [r["system"] for r in right[2]] == ["A", "C"]  # nan: the oracle has no point there
    assert "B (1, nan)" in chart.description
    for wrong in (
        frame.assign(accuracy_gap=np.nan, naturalness_gap=np.nan),
        frame.drop(columns="accuracy_gap"),
    ):
        with pytest.raises((DataError, KeyError)):
            plot_gap(wrong)
