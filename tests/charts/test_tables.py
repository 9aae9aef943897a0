"""Correlations, metrics against fluency and between the axes, words, the exact curve, divergences, moves."""

import numpy as np
import pandas as pd
import pytest

from anhelpers.charts.correlation import plot_bias, plot_local_correlation
from anhelpers.errors import DataError, UnknownName

from .drawn import layers, rows_of


@pytest.fixture
def windows():
    kinds = [("nearest", m, m / 10) for m in (4, 5, 6)] + [("sliding", 5, d) for d in (0.2, 0.4)]
    frame = pd.DataFrame(kinds, columns=["window", "n_systems", "distance"])
    frame = frame.assign(pearson=[-0.5, -0.2, 0.1, -0.4, 0.6], selection_pearson=-0.3, systems="A")
    frame = frame.assign(selection_low=-0.9, selection_high=0.4, spearman=0.0)
    return frame.assign(pearson_low=frame["pearson"] - 0.3, pearson_high=frame["pearson"] + 0.3)


def test_a_panel_for_each_kind_of_window_on_one_scale(windows):
    chart = plot_local_correlation(windows, "A claim")
    drawn = layers(chart)
    (_, encoding, rows), (_, other, _) = (one for one in drawn if one[0]["type"] == "point")
    assert (encoding["x"]["field"], other["x"]["field"]) == ("n_systems", "distance")
    assert [r["pearson"] for r in rows] == [-0.5, -0.2, 0.1]
    assert encoding["y"]["scale"]["domain"] == other["y"]["scale"]["domain"]
    assert {"n_systems", "pearson_low", "systems"} <= {t["field"] for t in encoding["tooltip"]}
    fields = {(e["y"]["field"], e.get("y2", {}).get("field")) for _, e, _ in drawn}
    assert {("pearson_low", "pearson_high"), ("selection_low", "selection_high")} <= fields
    assert "5 systems each" in " ".join(other["x"]["axis"]["title"])
    assert "4 systems at 0.4 SD: r = -0.50 (-0.80 to -0.20)" in chart.description


def test_a_window_without_an_interval_or_without_r(windows):
    windows.loc[0, ["pearson_low", "pearson_high"]] = np.nan
    windows.loc[1, "pearson"] = np.nan
    chart = plot_local_correlation(windows[:3])
    assert [r["n_systems"] for r in rows_of(chart, type="point")] == [4, 6]
    assert [r["n_systems"] for r in rows_of(chart, type="rule") if "n_systems" in r] == [5, 6] or (
        [r["n_systems"] for r in rows_of(chart, type="rule") if "n_systems" in r] == [6]
    )
    assert "r = -0.50," in chart.description
    for wrong, error in (
        (windows.assign(pearson=np.nan), DataError),
        (windows.assign(window="nearby"), UnknownName),
    ):
        with pytest.raises(error):
            plot_local_correlation(wrong)


def _agreement(name, kind, accuracy, fluency, **more):
    cells = {"metric": name, "kind": kind, "level": "within sources", "statistic": "pearson"}
    for column, value in (("with_accuracy", accuracy), ("with_fluency", fluency)):
        cells |= {column: value, f"{column}_low": value - 0.1, f"{column}_high": value + 0.1}
    return cells | more


def test_metrics_between_the_axes_with_noise_diagonal_and_mixtures():
    chance = {"chance_accuracy_low": -0.05, "chance_accuracy_high": 0.06}
    chance |= {"chance_fluency_low": -0.07, "chance_fluency_high": 0.08}
    rows = [
        _agreement("chrF", "metric", 0.5, 0.2, **chance),
        _agreement("one rater, fluency", "rater", 0.1, 0.3),
        _agreement("human fluency", "human", 0.2, 1.0, **chance),
        _agreement("flat", "metric", np.nan, np.nan, **chance),
    ]
    table = pd.DataFrame(rows)
    arc = pd.DataFrame({"level": "within sources", "statistic": "pearson", "share": [0, 0.5, 1]})
    arc = arc.assign(with_accuracy=[1, 0.77, 0.2], with_fluency=[0.2, 0.77, 1])
    chart = plot_bias(table, arc=arc, title="A claim")
    assert rows_of(chart, type="rect") == [
        {"naturalness": -0.07, "accuracy": -0.05, "x2": 0.08, "y2": 0.06}
    ]
    assert [r["accuracy"] for r in rows_of(chart, type="line", strokeWidth=2.5)] == [1, 0.77, 0.2]
    marks = next(rows for _, e, rows in layers(chart) if "shape" in e)
    first = {one["system"]: (one["accuracy"], one["naturalness"]) for one in marks}["chrF"]
    assert first == (0.5, 0.2)
    assert "chrF: 0.50 with accuracy, 0.20 with fluency" in chart.to_dict()["description"]
    assert "flat" not in chart.description
    bare = plot_bias(table.drop(columns=[*chance]))
    assert not rows_of(bare, type="rect")
    assert not rows_of(bare, type="line", strokeWidth=2.5)
    with pytest.raises(DataError):
        plot_bias(table, level="between")
