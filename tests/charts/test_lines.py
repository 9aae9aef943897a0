"""Lines of several series and rules; the placement of labels."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.charts import labels
from anhelpers.charts.frame import COLOURS, DASHES, SHAPES, _Frame
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


def test_a_gap_stays_a_gap_and_a_loop_stays_a_loop():
    rows = rows_of(
        plot_lines(tidy(a=([0, 1, 2, 1, 0], [0, 1, np.nan, 2, 0])), **TITLES), name="lines"
    )
    assert [r["y"] for r in rows] == [0, 1, None, 2, 0]
    assert [r["order"] for r in rows] == [0, 1, 2, 3, 4]


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


# --- placement

INSIDE = st.tuples(st.floats(0, 300), st.floats(0, 300))  # px


def apart(boxes):
    return all(
        (np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]) <= 1e-6).any()
        for i, a in enumerate(boxes)
        for b in boxes[:i]
    )


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
