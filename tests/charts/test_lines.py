"""Lines of several series: what would be drawn, and that names neither overlap nor go astray."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from anhelpers.charts import labels
from anhelpers.charts.frame import frame_of
from anhelpers.charts.lines import COLOURS, DASHES, INKS, QUIET, SHAPES, plot_lines
from anhelpers.charts.offline import to_svg
from anhelpers.errors import DataError, UnknownName

TITLES = {"x_title": "order p", "y_title": "D (nats)"}


def tidy(**series):
    return pd.concat(
        [pd.DataFrame({"series": name, "x": x, "y": y}) for name, (x, y) in series.items()]
    )


@pytest.fixture
def lines():
    x = np.linspace(1, 5, 9)
    return tidy(upper=(x, 2 * x), lower=(x, x))


@pytest.fixture
def points():
    frame = tidy(lower=([1, 3, 5], [1.1, np.nan, 4.8]))
    return frame.assign(low=frame["y"] - 0.2, high=frame["y"] + 0.3)


def drawn(chart):
    """(name or "", mark type, encoding, rows) of every layer."""
    spec = chart.to_dict()
    rows = [spec["datasets"][layer["data"]["name"]] for layer in spec["layer"]]
    return [
        (a.get("name", ""), a["mark"]["type"], a["encoding"], r)
        for a, r in zip(spec["layer"], rows, strict=True)
    ]


def layer(chart, name):
    return next((encoding, rows) for found, _, encoding, rows in drawn(chart) if found == name)


def contrast(colour):
    """Contrast with white, as WCAG defines it."""
    v = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return 1.05 / (
        np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]
        + 0.05
    )


def test_each_series_has_its_own_colour_dashes_and_shape_dark_enough_on_white():
    for codes in (COLOURS, [tuple(d) for d in DASHES], SHAPES, INKS):
        assert len(set(codes)) == 8
    assert min(map(contrast, COLOURS)) >= 3
    assert min(map(contrast, [*INKS, QUIET])) >= 4.5


def test_lines_and_points_are_those_given(lines, points):
    chart = plot_lines(lines, points, **TITLES)
    encoding, rows = layer(chart, "lines")
    assert [(r["series"], r["x"], r["y"]) for r in rows] == list(
        lines.itertuples(index=False, name=None)
    )
    assert encoding["color"]["scale"] == {"domain": ["upper", "lower"], "range": COLOURS[:2]}
    assert encoding["strokeDash"]["scale"]["range"] == DASHES[:2]
    assert encoding["x"]["axis"]["labelFontSize"] >= 16
    encoding, rows = layer(chart, "points")
    assert [(r["x"], r["y"]) for r in rows] == [(1, 1.1), (5, 4.8)]
    assert encoding["shape"]["scale"] == {"domain": ["upper", "lower"], "range": SHAPES[:2]}
    assert [r["low"] for r in layer(chart, "intervals")[1]] == pytest.approx([0.9, 4.6])
    assert [r["high"] for r in layer(chart, "intervals")[1]] == pytest.approx([1.4, 5.1])
    assert "<svg" in to_svg(chart)


def test_everything_is_inside_the_plane(lines, points):
    chart = plot_lines(lines, points, rules=[("y", 12.5, "bound"), ("x", -1, "start")], **TITLES)
    x, y = (layer(chart, "lines")[0][c]["scale"]["domain"] for c in "xy")
    assert x[0] < -1
    assert x[1] > 5
    assert y[0] < 0.9
    assert y[1] > 12.5


def test_the_picture_says_its_numbers(lines, points):
    chart = plot_lines(lines, points, title="Twice", rules=[("y", 3, "three")], **TITLES)
    assert chart.to_dict()["description"] == (
        "Twice: D (nats) by order p; upper: line from (1, 2) to (5, 10); lower: line from (1, 1) to (5, 5); "
        "lower: 2 points with intervals from (1, 1.1) to (5, 4.8); y = 3: three."
    )


def test_names_stand_at_the_ends_and_their_title_above(lines):
    chart = plot_lines(lines, series_title="what", **TITLES)
    texts = {r["label"]: r for _, kind, _, rows in drawn(chart) if kind == "text" for r in rows}
    assert list(texts) == ["upper", "lower", "what"]
    assert [texts[n]["y"] for n in ("upper", "lower")] == pytest.approx([10, 5])
    assert all(r["x"] > 5 for r in texts.values())
    assert texts["what"]["y"] > 10


def test_a_gap_stays_a_gap_and_a_loop_stays_a_loop():
    frame = tidy(a=([0, 1, 2, 1, 0], [0, 1, np.nan, 2, 0]))
    rows = layer(plot_lines(frame, **TITLES), "lines")[1]
    assert [r["y"] for r in rows] == [0, 1, None, 2, 0]
    assert [r["order"] for r in rows] == [0, 1, 2, 3, 4]


def test_many_vertices_are_thinned_unseen():
    x = np.linspace(0, 20, 30_000)
    frame = tidy(a=(x, np.sin(x)), b=(x, np.cos(x)))
    rows = pd.DataFrame(layer(plot_lines(frame, **TITLES), "lines")[1])
    assert len(rows) <= 4000
    for name, of in (("a", np.sin), ("b", np.cos)):
        own = rows[rows["series"] == name]
        assert (own["x"].iloc[0], own["x"].iloc[-1]) == (0, 20)
        # of 420 pixels
        assert np.abs(np.interp(x, own["x"], own["y"]) - of(x)).max() * 420 / 2.28 < 1


def test_logarithmic_axes():
    n = np.logspace(1, 6, 6)
    x, y = (
        layer(plot_lines(tidy(a=(n, 1 / n)), log_x=True, log_y=True, **TITLES), "lines")[0][c]
        for c in "xy"
    )
    assert x["scale"]["type"] == y["scale"]["type"] == "log"
    assert x["axis"]["values"] == [10, 100, 1000, 10000, 100000, 1000000]
    with pytest.raises(DataError, match="x has the value 0, which a logarithmic axis"):
        plot_lines(tidy(a=([0, 1], [1, 2])), log_x=True, **TITLES)


@pytest.mark.parametrize("log", [(False, False), (True, False), (False, True)])
def test_values_and_pixels_are_inverse(log):
    plane = frame_of([1, 50], [0.2, 7], ("a", "b"), log=log, size=(620, 420))
    x, y = np.array([1, 3, 50.0]), np.array([0.2, 1, 7.0])
    at = plane.pixels(x, y)
    assert (at > 0).all()
    assert (at < [620, 420]).all()
    assert plane.values(*at.T)[0] == pytest.approx(x)
    assert plane.values(*at.T)[1] == pytest.approx(y)


@pytest.mark.parametrize(
    ("lines", "more", "sentence"),
    [
        (pd.DataFrame({"series": ["a"], "x": [1]}), {}, "table of lines has no column y"),
        (tidy(a=([1, 2], [1, np.inf])), {}, "y of 'a' is inf in the table of lines"),
        (
            tidy(a=([1, 2], ["1", "98,1"])),
            {},
            "y of 'a' is 98,1 in the table of lines; give a number",
        ),
        (
            tidy(a=(np.arange(1e4), np.tile([1, 2, np.nan, 3], 2500))),
            {},
            "more than 4000 can be drawn: there are too many",
        ),
        (tidy(a=([1, 2], [np.nan, np.nan])), {}, "nothing of column x can be drawn"),
        (tidy(a=([1, 2], [1, 2]), b=([1], [np.nan])), {}, "series 'b' has no row with both"),
        (tidy(**{str(i): ([1, 2], [1, 2]) for i in range(9)}), {}, "9 series; between 1 and 8"),
        (None, {}, "0 series"),
        (None, {"points": tidy(a=([1], [1])).assign(low=0)}, "table of points has no column high"),
    ],
)
def test_what_cannot_be_drawn_is_told(lines, more, sentence):
    with pytest.raises(DataError, match=sentence):
        plot_lines(lines, **TITLES, **more)


def test_a_rule_has_an_axis(lines):
    with pytest.raises(UnknownName, match="axis of a rule"):
        plot_lines(lines, rules=[("z", 1, "?")], **TITLES)


INSIDE = st.tuples(st.floats(0, 620), st.floats(0, 420))  # pixels


def boxes_of(found):
    """(left, upper, right, lower) of every line of every name."""
    for end in found:
        lines = end.text.split("\n")
        for k, line in enumerate(lines):
            y = end.y + labels.LINE_HEIGHT * (k - (len(lines) - 1) / 2)
            yield replace(end, text=line, y=y).box


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(INSIDE, min_size=1, max_size=5), min_size=1, max_size=8))
def test_no_name_is_printed_over_another_and_each_is_nearest_to_its_line_or_led_to_it(paths):
    paths = [np.array(sorted(path)) for path in paths]
    names = [f"series {i}" + " with a very long name" * (i % 3 == 1) for i in range(len(paths))]
    found = labels.name_lines(names, paths, (620, 420))
    boxes = list(boxes_of(found))
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert (np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]) <= 1e-6).any()
    dense = [labels.densely(p) if len(p) > 1 else p for p in paths]
    for i, end in enumerate(found):
        assert end.text.replace("\n", " ") == names[i]
        if end.beside:
            assert end.led == tuple(paths[i][-1])
            continue
        box = end.box
        away = [
            np.hypot(*np.clip(np.maximum(box[:2] - p, p - box[2:]), 0, None).T).min() for p in dense
        ]
        assert away[i] < min([a for j, a in enumerate(away) if j != i], default=99)
        assert 0 < away[i] < 20


heights = st.lists(st.tuples(st.floats(0, 400), st.floats(10, 60)), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(heights)
def test_spread_moves_as_little_as_an_optimiser(given_heights):
    at, tall = map(np.array, zip(*sorted(given_heights), strict=True))
    found = labels.spread(at, tall, (0.0, 420.0))
    apart = (tall[1:] + tall[:-1]) / 2
    assert (np.diff(found) >= apart - 1e-6).all()
    assert found[0] - tall[0] / 2 >= -1e-6
    if tall.sum() > 420:
        return
    assert found[-1] + tall[-1] / 2 <= 420 + 1e-6
    limits = [{"type": "ineq", "fun": lambda v: np.diff(v) - apart}] if len(at) > 1 else []
    bounds = [(tall[0] / 2, None), *[(None, None)] * (len(at) - 2), (None, 420 - tall[-1] / 2)]
    bounds = bounds if len(at) > 1 else [(tall[0] / 2, 420 - tall[0] / 2)]
    best = minimize(
        lambda v: ((v - at) ** 2).sum() / 100, found * 0.9 + 20, constraints=limits, bounds=bounds
    ).fun
    assert ((found - at) ** 2).sum() / 100 <= best + 1e-3 * (1 + best)


def test_the_label_of_a_rule_avoids_the_lines():
    low = [np.array([[0.0, 95], [620, 95]])]
    place = labels.free_place("bound", "y", (0, 100), (620, 420), low)
    assert (place.x, place.align) == (614, "right")
    assert place.y > 100
    first = [np.array([[0.0, 10], [1, 10]])]
    place = labels.free_place("start", "x", (600, 0), (620, 420), first)
    assert place.align == "right"
    assert place.x < 600
    tight = labels.free_place("no room for this", "x", (10, 0), (20, 20), first)
    assert tight.x in (3, 17)


def test_a_name_keeps_off_the_interval_of_its_own_point():
    points = pd.DataFrame(
        {"series": ["LLM-Free"], "x": [0.5], "y": [0.1], "low": [0.05], "high": [0.95]}
    )
    line = pd.DataFrame({"series": "all", "x": [0.0, 1.0], "y": [0.9, 1.0]})
    spec = plot_lines(line, points, x_title="x", y_title="y").to_dict()
    places = {
        row["x"]
        for rows in spec["datasets"].values()
        for row in rows
        if row.get("label") == "LLM-Free" and "ink" in row
    }
    assert places
    assert all(abs(x - 0.5) > 0.005 for x in places)  # beside the bar, not centred on it
