"""Lines of several series and rules; the placement of labels."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anhelpers.charts import labels
from anhelpers.charts.frame import COLOURS, DASHES, INKS, QUIET, SHAPES, _axis_of, _Frame
from anhelpers.charts.lines import plot_lines
from anhelpers.errors import DataError, UnknownName

from .drawn import encoding_of, rows_of, texts

TITLES = {"x_title": "order p", "y_title": "D (nats)"}


def tidy(**series):
    parts = [pd.DataFrame({"series": name, "x": x, "y": y}) for name, (x, y) in series.items()]
    return pd.concat(parts)


@pytest.fixture
def lines():
    x = np.linspace(1, 5, 9)
    return tidy(upper=(x, 2 * x), lower=(x, x))


@pytest.fixture
def points():
    frame = tidy(lower=([1, 3, 5], [1.1, np.nan, 4.8]))
    return frame.assign(low=frame["y"] - 0.2, high=frame["y"] + 0.3)


def contrast(colour):
    """Contrast with white (WCAG 2)."""
    v = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    v = np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)
    return 1.05 / (v @ [0.2126, 0.7152, 0.0722] + 0.05)


def test_each_series_has_its_own_colour_dashes_and_shape_dark_enough_on_white():
    for codes in (COLOURS, [tuple(d) for d in DASHES], SHAPES, INKS):
        assert len(set(codes)) == 8
    assert min(map(contrast, COLOURS)) >= 3
    assert min(map(contrast, [*INKS, QUIET])) >= 4.5


def test_lines_and_points_are_those_given(lines, points):
    chart = plot_lines(lines, points, title="Twice", rules=[("y", 3, "three")], **TITLES)
    drawn = [(r["series"], r["x"], r["y"]) for r in rows_of(chart, name="lines")]
    assert drawn == list(lines.itertuples(index=False, name=None))
    encoding = encoding_of(chart, name="lines")
    assert encoding["color"]["scale"] == {"domain": ["upper", "lower"], "range": COLOURS[:2]}
    assert encoding["strokeDash"]["scale"]["range"] == DASHES[:2]
    assert [(r["x"], r["y"]) for r in rows_of(chart, name="points")] == [(1, 1.1), (5, 4.8)]
    assert encoding_of(chart, name="points")["shape"]["scale"]["range"] == SHAPES[:2]
    assert [r["low"] for r in rows_of(chart, name="intervals")] == pytest.approx([0.9, 4.6])
    assert {"upper", "lower", "three"} <= {*texts(chart)}
    assert chart.to_dict()["description"] == (
        "Twice: D (nats) by order p; upper: line from (1, 2) to (5, 10); lower: line from (1, 1) to (5, 5); "
        "lower: 2 points with intervals from (1, 1.1) to (5, 4.8); y = 3: three."
    )


def test_everything_is_inside_the_plane(lines, points):
    rules = [("y", 12.5, "bound"), ("x", -1, "start")]
    encoding = encoding_of(plot_lines(lines, points, rules=rules, **TITLES), name="lines")
    (x0, x1), (y0, y1) = (encoding[c]["scale"]["domain"] for c in "xy")
    assert x0 < -1 < 5 < x1
    assert y0 < 0.9 < 12.5 < y1


def test_a_gap_stays_a_gap_and_a_loop_stays_a_loop():
    rows = rows_of(
        plot_lines(tidy(a=([0, 1, 2, 1, 0], [0, 1, np.nan, 2, 0])), **TITLES), name="lines"
    )
    assert [r["y"] for r in rows] == [0, 1, None, 2, 0]
    assert [r["order"] for r in rows] == [0, 1, 2, 3, 4]


def test_many_vertices_are_thinned_unseen():
    x = np.linspace(0, 20, 30_000)
    chart = plot_lines(tidy(a=(x, np.sin(x)), b=(x, np.cos(x))), **TITLES)
    rows = pd.DataFrame(rows_of(chart, name="lines"))
    assert len(rows) <= 4000
    for name, of in (("a", np.sin), ("b", np.cos)):
        own = rows[rows["series"] == name]
        assert (own["x"].iloc[0], own["x"].iloc[-1]) == (0, 20)
        away = np.abs(np.interp(x, own["x"], own["y"]) - of(x)).max()
        assert away * 420 / 2.28 < 1  # px


def test_logarithmic_axes():
    n = np.logspace(1, 6, 6)
    encoding = encoding_of(plot_lines(tidy(a=(n, 1 / n)), log="xy", **TITLES), name="lines")
    x, y = (encoding[c] for c in "xy")
    assert x["scale"]["type"] == y["scale"]["type"] == "log"
    assert x["axis"]["values"] == [10, 100, 1000, 10000, 100000, 1000000]


@pytest.mark.parametrize(
    ("lines", "more", "error"),
    [
        (pd.DataFrame({"series": ["a"], "x": [1]}), {}, DataError),
        (tidy(a=([1, 2], [1, np.inf])), {}, DataError),
        (tidy(a=([1, 2], ["1", "98,1"])), {}, DataError),
        (tidy(a=([1, 2], [np.nan, np.nan])), {}, DataError),
        (tidy(**{str(i): ([1, 2], [1, 2]) for i in range(9)}), {}, DataError),
        (None, {}, DataError),
        (tidy(a=([0, 1], [1, 2])), {"log": "x"}, DataError),
        (tidy(a=([0, 1], [1, 2])), {"rules": [("z", 1, "?")]}, UnknownName),
    ],
)
def test_undefined_charts_are_refused(lines, more, error):
    with pytest.raises(error):
        plot_lines(lines, **TITLES, **more)


@pytest.mark.parametrize("log", [(False, False), (True, False), (False, True)])
def test_values_and_pixels_are_inverse(log):
    plane = _Frame.over([1, 50], [0.2, 7], ("a", "b"), log=log, size=(620, 420))
    x, y = np.array([1, 3, 50.0]), np.array([0.2, 1, 7.0])
    at = plane.pixels(x, y)
    assert (at > 0).all()
    assert (at < [620, 420]).all()
    assert np.array(plane.values(at)) == pytest.approx(np.array([x, y]))


def test_long_axis_titles_have_even_lines():
    lines = _axis_of("chrF (points, 0 to 100, higher is better)", 330).title
    assert len(lines) == 2
    assert max(map(len, lines)) - min(map(len, lines)) < 12
    assert _axis_of("", 200).title == []


# --- placement

INSIDE = st.tuples(st.floats(0, 300), st.floats(0, 300))  # px


def apart(boxes):
    return all(
        (np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]) <= 1e-6).any()
        for i, a in enumerate(boxes)
        for b in boxes[:i]
    )


@settings(max_examples=25, deadline=None)
@given(st.lists(INSIDE, min_size=1, max_size=14), st.integers(1, 16), st.booleans())
def test_labels_are_inside_and_cover_no_label_and_no_other_point(at, length, bold):
    points, names = np.array(at), ["n" * length] * len(at)
    placed = labels._place_labels(points, names, [], (300, 300), bold=[bold] * len(at))
    shown = [(own, one) for own, one in zip(points, placed, strict=True) if one]
    assert apart([one.box for _, one in shown])
    for own, one in shown:
        left, _, _, low = one.box
        assert left >= 0
        assert low <= 300
        assert one.led in (None, tuple(own))
        others = points[np.hypot(*(points - own).T) > 2]
        assert not ((others > one.box[:2]) & (others < one.box[2:])).all(axis=1).any()


def test_a_crowd_loses_labels_rather_than_overprinting_them():
    points = np.full((40, 2), 200.0) + np.random.default_rng(2).normal(size=(40, 2))
    names = [f"system-{i}" for i in range(40)]
    placed = labels._place_labels(points, names, [], (620, 420))
    assert sum(map(bool, placed)) < 40
    bold = labels._place_labels(points, names, [], (620, 420), bold=[True] * 40)
    assert bold[0]
    assert 40 > sum(map(bool, bold)) > sum(map(bool, placed))
    assert apart([one.box for one in bold if one])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(INSIDE, min_size=1, max_size=5), min_size=1, max_size=8))
def test_each_name_is_nearest_to_its_line_or_led_to_it(paths):
    paths = [np.array(sorted(path)) for path in paths]
    names = [f"series {i}" for i in range(len(paths))]
    found = labels._name_lines(names, paths, (300, 300))
    assert [one.text for one in found] == names
    assert apart([one.box for one in found])
    dense = [labels._densely(path) for path in paths]
    for i, one in enumerate(found):
        if one.beside:
            assert one.led == tuple(paths[i][-1])
            continue
        low, high = one.box[:2], one.box[2:]
        gaps = [np.hypot(*np.clip(np.maximum(low - p, p - high), 0, None).T).min() for p in dense]
        assert gaps[i] == min(gaps)
        assert 0 < gaps[i] < 20


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 400), st.floats(10, 60)), min_size=1, max_size=6))
def test_spread_boxes_do_not_overlap_and_stay_in_place_where_there_is_room(given_boxes):
    at, tall = map(np.array, zip(*sorted(given_boxes), strict=True))
    found = labels._spread(at, tall, 420.0)
    room = (tall[1:] + tall[:-1]) / 2
    assert (np.diff(found) >= room - 1e-6).all()
    assert found[0] - tall[0] / 2 >= -1e-6
    if tall.sum() <= 420:
        assert found[-1] + tall[-1] / 2 <= 420 + 1e-6
    inside = at[0] >= tall[0] / 2 and at[-1] <= 420 - tall[-1] / 2
    if inside and (np.diff(at) >= room).all():
        assert found == pytest.approx(at)


def test_the_label_of_a_rule_avoids_the_lines():
    low = [np.array([[0.0, 95], [620, 95]])]
    place = labels._rule_label("bound", "y", np.array([0.0, 100]), (620, 420), low)
    assert place.y > 100
    edge = labels._rule_label("start", "x", np.array([600.0, 0]), (620, 420), [])
    assert edge.x < 600
