"""Labels: inside the plane, none over another, none that reads as another point's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.charts import labels as charts


def test_labels_do_not_collide():
    rng = np.random.default_rng(0)
    points = np.stack([rng.uniform(60, 480, 14), rng.uniform(160, 380, 14)], axis=1)
    names = [f"system-{i}" for i in range(14)]
    placed = charts.place_labels(
        points, names, [np.array([[50.0, 20], [300, 40], [560, 300]])], (620, 420)
    )
    left = {"left": 0.0, "center": 0.5, "right": 1.0}
    boxes = [
        (one.x - left[one.align] * 8 * len(n), one.y, 8 * len(n))
        for one, n in zip(placed, names, strict=True)
    ]
    for i, (x, y, w) in enumerate(boxes):
        assert 0 <= x <= 620 - w
        assert all(abs(y - y2) >= 14 or x + w <= x2 or x2 + w2 <= x for x2, y2, w2 in boxes[:i])
    again = charts.place_labels(
        points, names, [np.array([[50.0, 20], [300, 40], [560, 300]])], (620, 420)
    )
    assert placed == again


def test_in_a_crowd_labels_are_left_out_rather_than_printed_over_each_other():
    points = np.full((40, 2), 200.0) + np.random.default_rng(2).normal(size=(40, 2))
    placed = charts.place_labels(
        points, [f"system-{i}" for i in range(40)], [np.array([[0.0, 0], [1, 1]])], (620, 420)
    )
    shown = [p for p in placed if p]
    assert placed[0]
    assert 3 <= len(shown) < 40


@given(
    st.lists(st.tuples(st.floats(0, 300), st.floats(0, 300)), min_size=1, max_size=14),
    st.integers(1, 16),
    st.booleans(),
)
def test_a_label_is_nearer_to_its_own_point_or_has_a_line_to_it(at, length, bold):
    points, size, texts = np.array(at), (300, 300), ["n" * length] * len(at)
    placed = charts.place_labels(points, texts, [], size, bold=[bold] * len(at))
    for own, place in enumerate(placed):
        if place is None:
            continue
        box = place.box
        assert box[0] >= 0  # where an axis has its numbers
        assert box[3] <= 300
        width = charts.width("n" * length, bold)
        assert box[2:] - box[:2] == pytest.approx([width, 19.2])
        left = place.x - {"left": 0.0, "center": 0.5, "right": 1.0}[place.align] * width
        assert box[:2] == pytest.approx([left, place.y - 9.6])
        low, high = box[:2], box[2:]
        away = np.hypot(*np.clip(np.maximum(low - points, points - high), 0, None).T)
        others = away[np.hypot(*(points - points[own]).T) > 2].min(initial=99)
        assert place.led in (None, tuple(points[own]))
        assert others >= (charts.CLEAR if place.led else away[own] + charts.CLOSER) - 1e-9
        assert 0 < away[own] <= (300 if bold else 60)


def test_the_first_label_has_the_choice_and_widths_are_those_of_its_letters():
    pair = np.array([[100.0, 100], [103, 100]])
    one, other = charts.place_labels(pair, ["ABC", "DEF"], [], (300, 300))
    assert one
    assert other is None or (other.x, other.y) != (one.x, one.y)
    assert charts.width("MMM", False) > charts.width("iii", False)
    assert charts.width("译文", False) == 2 * 16


def test_the_engine_takes_the_cheapest_place_that_is_free():
    def found(xs, **given):
        places = [charts.Label("nnn", x, 50.0, "left") for x in xs]
        best = charts.best_place(places, (200, 100), **given)
        return best and best.x

    here, there = np.array([[15.0, 50.0]]), np.array([[110.0, 50.0]])
    assert found([10, 100]) == 10  # the first of equal ones
    assert found([-1, 190, 100]) == 100  # inside the frame
    assert found([-1], edge=1) is None  # where an axis has its numbers
    assert found([176], edge=8) == 176
    assert found([10, 100], off=[(here, 0)]) == 100
    assert found([10, 100], off=[(here, 0), (there, 0)]) is None
    assert found([20, 100], off=[(here, 4)]) == 20
    assert found([20, 100], off=[(here, 6)]) == 100
    assert found([10, 100], boxes=[charts.Label("n", 12.0, 50.0, "center").box]) == 100
    assert found([10, 100], hides=(np.repeat(here, 2, axis=0), 0)) == 100
    assert found([10, 100], hides=(np.concatenate([here, there, there]), 0)) == 10
    assert found([10, 100], cost=lambda place: 1 if place.x == 10 else 0) == 100
    assert found([10], cost=lambda place: np.inf) is None
    assert found([]) is None
