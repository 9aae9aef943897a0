"""What would be drawn: every line, band, fan and system, and that no name hides another."""

import numpy as np
import pandas as pd
import pytest

from anhelpers.charts.offline import to_svg
from anhelpers.charts.optimism import plot_optimism
from anhelpers.errors import DataError, UnknownName
from anhelpers.fan import expected_curves
from anhelpers.frontier import oracle_curve


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(3)
    return (
        np.repeat(np.arange(60), 12),
        60 + 9 * rng.normal(size=720),
        -3 + rng.normal(size=720) / 2,
    )


@pytest.fixture(scope="module")
def fan(problem):
    return expected_curves(*problem, [1, 2, 4])


@pytest.fixture(scope="module")
def curves(problem):
    curve = oracle_curve(*problem)
    lower = (
        np.zeros(3, int),
        curve.accuracy.max() - np.array([12.0, 13, 20]),
        np.array([-2.9, -2.8, -2.2]),
    )
    return {"oracle": curve, "without a reference": oracle_curve(*lower)}


@pytest.fixture
def systems():
    frame = pd.DataFrame({"system": ["A", "B", "far", "refA", "gone"]})
    frame["category"] = ["LLM", "MT", "MT", "human", "human"]
    frame["accuracy"], frame["naturalness"] = [58.0, 59, 5, 57, np.nan], [-3.1, -3.0, -9, -3.2, -3]
    return frame


def layers(chart):
    """(name, mark type, encoding, rows) of every layer."""
    spec = chart.to_dict()
    return [
        (a.get("name", ""), a["mark"]["type"], a["encoding"], spec["datasets"][a["data"]["name"]])
        for a in spec["layer"]
    ]


def rows_of(chart, name):
    return next(pd.DataFrame(rows) for found, _, _, rows in layers(chart) if found == name)


def names_in(chart):
    return [r["label"] for _, kind, _, rows in layers(chart) if kind == "text" for r in rows]


def test_lines_run_from_end_to_end_and_stay_within_half_a_pixel(curves):
    chart = plot_optimism(curves)
    drawn = rows_of(chart, "curves")
    for name, curve in curves.items():
        own = drawn[drawn["series"] == name]
        ends = own[["naturalness", "accuracy"]].iloc[[0, -1]].to_numpy()
        wanted = np.stack([curve.naturalness, curve.accuracy], 1)[[0, -1]]
        np.testing.assert_allclose(ends, wanted, rtol=1e-9)
        per_pixel = (np.ptp(drawn["accuracy"]) * 1.14) / 520
        away = np.interp(curve.naturalness, own["naturalness"], own["accuracy"]) - curve.accuracy
        assert np.abs(away).max() <= per_pixel
    assert list(dict.fromkeys(drawn["series"])) == list(curves)


def test_the_fan_is_thin_and_named_by_its_k(curves, fan):
    chart = plot_optimism(curves, fan=fan)
    drawn = rows_of(chart, "fan")
    for k, column in zip(fan.ks, range(3), strict=True):
        own = drawn[drawn["series"] == f"K = {k}"]
        ends = [fan.naturalness[[0, -1], column], fan.accuracy[[0, -1], column]]
        np.testing.assert_allclose(
            own[["naturalness", "accuracy"]].iloc[[0, -1]].to_numpy().T, ends, rtol=1e-9
        )
    assert {"K = 1", "K = 2", "K = 4", *curves} <= set(names_in(chart))
    (dot,) = [rows for _, kind, _, rows in layers(chart) if kind == "point"]
    assert [row["series"] for row in dot] == ["K = 1"]  # nothing to choose
    words = chart.to_dict()["description"]
    assert f"K = 4: {fan.accuracy[0, 2]:.4g}" in words
    assert "expected" in " ".join(chart.to_dict()["title"]["subtitle"])


def test_a_band_is_drawn_where_it_is_known(curves):
    x = np.linspace(-3, -2, 5)
    chart = plot_optimism(curves, bands={"oracle": [x, x + 70, [80, 81, np.nan, 83, 84]]})
    (band,) = [pd.DataFrame(rows) for _, kind, _, rows in layers(chart) if kind == "area"]
    assert band["naturalness"].tolist() == x[[0, 1, 3, 4]].tolist()
    assert band["high"].tolist() == [80, 81, 83, 84]
    assert "95 %" in " ".join(chart.to_dict()["title"]["subtitle"])


def test_people_and_named_systems_have_labels_and_who_is_outside_is_told(curves, systems):
    chart = plot_optimism(curves, systems=systems, named=["A"])
    marks = next(
        rows for _, kind, encoding, rows in layers(chart) if kind == "point" and "shape" in encoding
    )
    assert [row["system"] for row in marks] == ["A", "B", "refA"]
    assert {"A", "refA"} <= set(names_in(chart))
    assert not {"B", "far", "gone"} & set(names_in(chart))
    assert "Outside the picture: 1 of 4 systems (far)." in chart.to_dict()["title"]["subtitle"]
    assert "Not drawn, for a number is missing: gone." in chart.to_dict()["title"]["subtitle"]
    assert "far (5, -9)" in chart.to_dict()["description"]


def test_all_of_it_is_drawn_at_once(curves, fan, systems):
    svg = to_svg(plot_optimism(curves, fan=fan, systems=systems, title="A claim", size=(500, 380)))
    assert "A claim" in svg


def test_a_curve_of_one_point_is_a_dot(curves):
    chart = plot_optimism(curves | {"only": oracle_curve([0], [55.0], [-2.5])})
    dots = [row for _, kind, _, rows in layers(chart) if kind == "point" for row in rows]
    assert [row["series"] for row in dots] == ["only"]


def test_what_cannot_be_drawn_is_told(curves, systems):
    with pytest.raises(DataError, match="0 curves; between 1 and 6"):
        plot_optimism({})
    with pytest.raises(UnknownName, match="curve of a band 'orcale'; did you mean 'oracle'"):
        plot_optimism(curves, bands={"orcale": [[0], [1], [2]]})
    with pytest.raises(DataError, match="band of oracle must be naturalness, low and high"):
        plot_optimism(curves, bands={"oracle": [[0], [1]]})
    with pytest.raises(UnknownName, match="system 'C'"):
        plot_optimism(curves, systems=systems, named=["C"])
