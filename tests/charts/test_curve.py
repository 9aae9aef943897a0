"""What would be drawn: the data, scales and labels of the chart, not its pixels."""

import math

import numpy as np
import pandas as pd
import pytest

from anhelpers.charts import curve as charts
from anhelpers.charts import frame as axes
from anhelpers.charts.lines import compare_curves
from anhelpers.charts.offline import to_svg
from anhelpers.charts.optimism import plot_optimism
from anhelpers.errors import DataError, UnknownName
from anhelpers.frontier import oracle_curve


@pytest.fixture(scope="module")
def curve():
    rng = np.random.default_rng(3)
    return oracle_curve(
        np.repeat(np.arange(50), 8), 60 + 9 * rng.normal(size=400), -3 + rng.normal(size=400) / 2
    )


@pytest.fixture
def systems():
    frame = pd.DataFrame({"system": ["A", "B", "C <1>"], "category": ["LLM", "human", "MT"]})
    frame["accuracy"], frame["naturalness"] = [50.0, 52.0, np.nan], [-3.2, -3.1, -3.0]
    return frame.assign(
        accuracy_low=frame["accuracy"] - 1, accuracy_high=frame["accuracy"] + 1, n=50
    )


def drawn(chart):
    """(mark type, encoding, rows) of every layer."""
    spec = chart.to_dict()
    return [
        (layer["mark"]["type"], layer["encoding"], spec["datasets"][layer["data"]["name"]])
        for layer in spec["layer"]
    ]


def test_the_line_is_the_curve(curve):
    kind, _, rows = drawn(charts.plot_curve(curve))[0]
    assert kind == "line"
    assert [(r["naturalness"], r["accuracy"]) for r in rows] == list(
        zip(curve.naturalness, curve.accuracy, strict=True)
    )


def test_a_system_without_a_number_is_named(curve, systems):
    assert (
        "Not drawn, for a number is missing: C <1>."
        in charts.plot_curve(curve, systems).title.subtitle
    )


@pytest.mark.parametrize(
    ("wrong", "seen"), [("98,1", "accuracy of 'A' is 98,1"), (math.inf, "accuracy of 'A' is inf")]
)
def test_what_is_no_number_is_told(curve, systems, wrong, seen):
    with pytest.raises(DataError, match=f"{seen} in the table of systems; give a number"):
        charts.plot_curve(curve, systems.assign(accuracy=[wrong, 52.0, np.nan]))


def test_up_and_right_are_better_and_nothing_falls_outside(curve, systems):
    chart = charts.plot_curve(curve, systems, accuracy_title="chrF (points, higher is better)")
    for _, encoding, rows in drawn(chart):
        for channel, column in (("x", "naturalness"), ("y", "accuracy")):
            low, high = encoding[channel]["scale"]["domain"]
            assert low < high
            assert all(low < r[column] < high for r in rows if column in r)
    assert encoding["y"]["axis"]["title"] == ["chrF (points, higher is better)"]
    assert encoding["x"]["axis"]["labelFontSize"] >= 16


@pytest.mark.parametrize(
    ("title", "length", "lines"),
    [
        (
            "chrF (points, 0 to 100, higher is better)",
            330,
            ["chrF (points, 0 to 100,", "higher is better)"],
        ),
        (
            "chrF (points, 0 to 100, higher is better)",
            400,
            ["chrF (points, 0 to 100, higher is better)"],
        ),
        ("accuracy (minus the share of errors)", 260, ["accuracy (minus the", "share of errors)"]),
        ("Donaudampfschifffahrtsgesellschaft", 200, ["Donaudampfschifffahrts", "gesellschaft"]),
        ("", 200, []),
    ],
)
def test_lines_of_an_axis_title_are_of_like_length(title, length, lines):
    assert axes.axis_of(title, length).title == lines


def test_ends_and_chosen_betas_are_marked_and_named(curve):
    chart = charts.plot_curve(curve, betas=(0, 10, math.inf))
    rows = next(
        rows for kind, encoding, rows in drawn(chart) if kind == "point" and "label" in rows[0]
    )
    assert [r["label"] for r in rows] == ["β = 0", "β = 10", "β = ∞"]
    assert [r["accuracy"] for r in rows] == [
        curve.accuracy[curve.vertex(b)] for b in (0, 10, math.inf)
    ]
    assert {"β = 0", "β = 10", "β = ∞"} <= set(texts(chart))


def texts(chart):
    return [r["label"] for kind, _, rows in drawn(chart) for r in rows if kind == "text"]


def test_systems_have_marks_by_category_bars_labels_and_tooltips(curve, systems):
    layers = drawn(charts.plot_curve(curve, systems))
    encoding, rows = next((e, r) for kind, e, r in layers if "shape" in e)
    assert [r["system"] for r in rows] == ["A", "B"]  # C has no accuracy: not drawn, not zero
    assert encoding["shape"]["scale"] == {
        "domain": ["LLM", "human"],
        "range": ["circle", "diamond"],
    }
    assert {"accuracy_low", "n", "category"} <= {t["field"] for t in encoding["tooltip"]}
    # accuracy has intervals, naturalness has none
    assert sum(kind == "rule" for kind, _, _ in layers) == 1
    assert {"A", "B"} <= set(texts(charts.plot_curve(curve, systems)))


def test_a_wrong_table_of_systems_is_told(curve, systems):
    with pytest.raises(DataError, match="no column category"):
        charts.plot_curve(curve, systems.drop(columns="category"))
    with pytest.raises(UnknownName, match="did you mean 'human'"):
        charts.plot_curve(curve, systems.assign(category="humans"))


def test_many_vertices_are_thinned_by_less_than_half_a_pixel():
    rng = np.random.default_rng(1)
    n = 60_000
    big = oracle_curve(np.repeat(np.arange(n // 6), 6), rng.normal(size=n), rng.normal(size=n))
    assert len(big.beta) > 10_000
    rows = drawn(charts.plot_curve(big))[0][2]
    assert len(rows) <= 5000
    x, y = (
        axes.plane_axes(charts.axis_ranges([big]), (620, 420), "", "")
        .pixels(big.naturalness, big.accuracy)
        .T
    )
    before = np.array([r["order"] for r in rows])[
        np.searchsorted([r["order"] for r in rows], range(len(x)), "right") - 1
    ]
    assert np.hypot(x - x[before], y - y[before]).max() < 0.5
    assert (rows[0]["accuracy"], rows[-1]["accuracy"]) == (big.accuracy[0], big.accuracy[-1])


def test_a_curve_of_one_vertex_and_a_moving_point(curve):
    flat = oracle_curve([0, 1], [50.0, 60], [-3.0, -2])
    assert "bxpoint_marks" in to_svg(charts.plot_curve(flat, point=1.0))
    assert "bxpoint" not in to_svg(charts.plot_curve(curve))


def test_layers_can_be_added_and_the_picture_describes_itself(curve, systems):
    chart = charts.plot_curve(curve, systems, title="A claim")
    assert len((chart + charts.plot_curve(curve)).to_dict()["layer"]) > 3
    assert chart.to_dict()["description"].startswith("A claim: oracle curve from accuracy")
    assert "B (52, -3.1)" in chart.to_dict()["description"]


def test_several_curves_are_told_apart_and_described(curve):
    chart = compare_curves({"real": curve, "shuffled": curve}, title="A claim").to_dict()
    line = next(layer for layer in chart["layer"] if layer.get("name") == "lines")
    assert line["encoding"]["strokeDash"]["scale"]["domain"] == ["real", "shuffled"]
    assert "; real: line from (" in chart["description"]
    assert "; shuffled: line from (" in chart["description"]


def test_more_vertices_than_a_layer_can_have_are_drawn_all_the_same():
    rng = np.random.default_rng(1)
    curves = {}
    for k in range(6):
        curves[f"number {k}"] = oracle_curve(
            np.repeat(np.arange(10_000), 6), *rng.normal(k, 1, (2, 60_000))
        )
    assert min(len(one.beta) for one in curves.values()) > 10_000
    for chart in (
        compare_curves(curves),
        plot_optimism(curves),
        charts.plot_curve(curves["number 0"], size=(3000, 2000)),
    ):
        assert max(map(len, chart.to_dict()["datasets"].values())) <= 5000


def test_systems_outside_given_ranges_are_named_not_drawn(curve, systems):
    ranges = ((-3.15, float(curve.naturalness.mean())), (40.0, 80.0))
    chart = charts.plot_curve(curve, systems, ranges=ranges)
    assert [r["system"] for _, e, rows in drawn(chart) if "shape" in e for r in rows] == ["B"]
    assert "Outside the picture: 1 of 2 systems (A)" in chart.description
    assert drawn(chart)[0][0] == "line"
    assert chart.to_dict()["layer"][0]["mark"]["clip"]
    assert "clip" not in charts.plot_curve(curve).to_dict()["layer"][0]["mark"]
