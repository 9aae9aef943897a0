"""What the plane of metrics draws."""

import numpy as np
import pandas as pd
import pytest

from anhelpers.charts import plot_bias
from anhelpers.errors import DataError


def row(name, kind, accuracy, fluency, **more):
    cells = {"metric": name, "kind": kind, "level": "within sources", "statistic": "pearson"}
    for column, value in (("with_accuracy", accuracy), ("with_fluency", fluency)):
        cells |= {column: value, f"{column}_low": value - 0.1, f"{column}_high": value + 0.1}
    return cells | more


CHANCE = {
    "chance_accuracy_low": -0.05,
    "chance_accuracy_high": 0.06,
    "chance_fluency_low": -0.07,
    "chance_fluency_high": 0.08,
}
TABLE = pd.DataFrame(
    [
        row("chrF", "metric", 0.5, 0.2, **CHANCE),
        row("one rater, fluency", "rater", 0.1, 0.3),
        row("human accuracy", "human", 1.0, 0.2, **CHANCE),
        row("human fluency", "human", 0.2, 1.0, **CHANCE),
        row("flat", "metric", np.nan, np.nan, **CHANCE),
    ]
)
ARC = pd.DataFrame(
    {
        "level": "within sources",
        "statistic": "pearson",
        "share": [0, 0.5, 1],
        "with_accuracy": [1, 0.77, 0.2],
        "with_fluency": [0.2, 0.77, 1],
    }
)


def test_marks_crosses_the_field_of_noise_the_diagonal_and_the_arc_are_drawn():
    spec = plot_bias(TABLE, arc=ARC, title="A claim").to_dict()
    kinds = [layer["mark"]["type"] for layer in spec["layer"]]
    assert kinds.count("rect") == 1
    assert kinds.count("line") == 2
    assert kinds.count("rule") >= 2
    data = spec["datasets"]
    (box,) = (rows for rows in data.values() if rows and "x2" in rows[0] and "y2" in rows[0])
    assert box == [{"naturalness": -0.07, "accuracy": -0.05, "x2": 0.08, "y2": 0.06}]
    (marks,) = (rows for rows in data.values() if rows and "kind" in rows[0] and len(rows) == 4)
    assert {one["system"]: (one["accuracy"], one["naturalness"]) for one in marks}["chrF"] == (
        0.5,
        0.2,
    )
    assert spec["description"].startswith("A claim: ")
    assert "chrF: 0.50 with accuracy, 0.20 with fluency" in spec["description"]
    assert "flat" not in spec["description"]
    assert "Grey: metrics of noise. Blue: exact mixtures" in spec["description"]
    x, y = (spec["layer"][-1]["encoding"][c]["axis"]["title"] for c in "xy")
    assert " ".join(x) == "Pearson's r with human fluency (within sources)"
    assert " ".join(y) == "Pearson's r with human accuracy (within sources)"


def test_without_noise_and_arc_neither_is_drawn_nor_told():
    bare = TABLE.drop(columns=list(CHANCE))
    spec = plot_bias(bare).to_dict()
    kinds = [layer["mark"]["type"] for layer in spec["layer"]]
    assert "rect" not in kinds
    assert kinds.count("line") == 1
    assert "Grey" not in spec["description"]


def test_what_cannot_be_drawn_is_told():
    with pytest.raises(DataError, match="no metric has kendall within sources"):
        plot_bias(TABLE, statistic="kendall")
    with pytest.raises(DataError, match="the table of metrics has no column kind"):
        plot_bias(TABLE.drop(columns="kind"))
