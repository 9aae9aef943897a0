"""One source's candidates on the plane: what would be drawn."""

import pandas as pd

from anhelpers.charts.one_source import plot_one_source


def test_every_candidate_is_a_circle_and_the_line_joins_those_that_win():
    accuracy, naturalness = [80, 60, 30, 50], [-4, -1, 0, -3.5]
    spec = plot_one_source(accuracy, naturalness, ((-5, 1), (20, 90))).to_dict()
    layers = {
        name: [layer for layer in spec["layer"] if layer["mark"]["type"] == name]
        for name in ("line", "point")
    }
    (line,), *_ = layers.values()
    drawn = pd.DataFrame(spec["datasets"][line["data"]["name"]])
    assert drawn[["naturalness", "accuracy"]].to_numpy().tolist() == [[-4, 80], [-1, 60], [0, 30]]
    circles = pd.DataFrame(spec["datasets"][layers["point"][-1]["data"]["name"]])
    assert circles.accuracy.tolist() == accuracy
    assert circles.naturalness.tolist() == naturalness
    assert "oracle curve from accuracy 80" in spec["description"]
