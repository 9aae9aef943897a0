"""What would be drawn of correlations, of metrics against fluency, and of the gaps to the curve."""

import numpy as np
import pandas as pd
import pytest

from anhelpers.charts.correlation import plot_against_fluency, plot_local_correlation
from anhelpers.charts.curve import plot_gap
from anhelpers.charts.offline import to_svg
from anhelpers.errors import DataError, UnknownName


@pytest.fixture
def windows():
    kinds = [("nearest", m, m / 10) for m in (4, 5, 6)] + [("sliding", 5, d) for d in (0.2, 0.4)]
    frame = pd.DataFrame(kinds, columns=["window", "n_systems", "distance"])
    frame = frame.assign(
        pearson=[-0.5, -0.2, 0.1, -0.4, 0.6], selection_pearson=-0.3, systems="A, B", spearman=0.0
    )
    frame = frame.assign(selection_low=-0.9, selection_high=0.4)
    return frame.assign(pearson_low=frame["pearson"] - 0.3, pearson_high=frame["pearson"] + 0.3)


@pytest.fixture
def metrics():
    rows = [
        {
            "metric": m,
            "system": s,
            "category": c,
            "score": k * 10.0 + i,
            "fluency": -1.0 - i + k / 3,
            "score_low": np.nan,
        }
        for k, m in enumerate(["chrF", "TER", "COMET"])
        for i, (s, c) in enumerate([("A", "LLM"), ("B", "MT"), ("C", "human")])
    ]
    frame = pd.DataFrame(rows).assign(score_low=np.nan, score_high=np.nan, n=40)
    return frame.assign(fluency_low=frame["fluency"] - 0.2, fluency_high=frame["fluency"] + 0.2)


def panels(chart):
    """The panels of a chart, each a list of (mark type, encoding, rows)."""
    spec = chart.to_dict()
    return [
        [
            (
                x["mark"]["type"],
                x["encoding"],
                spec["datasets"][x.get("data", p.get("data"))["name"]],
            )
            for x in p["layer"]
        ]
        for p in spec.get("concat") or spec["hconcat"]
    ]


def test_a_panel_per_kind_of_window_on_one_scale(windows):
    nearest, sliding = panels(plot_local_correlation(windows, "A claim"))
    (_, encoding, rows), (_, other, _) = (
        next(x for x in p if x[0] == "point") for p in (nearest, sliding)
    )
    assert encoding["x"]["field"] == "n_systems"
    assert other["x"]["field"] == "distance"
    assert [r["pearson"] for r in rows] == [-0.5, -0.2, 0.1]
    assert encoding["y"]["scale"]["domain"] == other["y"]["scale"]["domain"]
    assert {"n_systems", "pearson_low", "systems"} <= {t["field"] for t in encoding["tooltip"]}
    bar = next(x for x in nearest if x[0] == "rule" and "y2" in x[1])
    assert (bar[1]["y"]["field"], bar[1]["y2"]["field"], len(bar[2])) == (
        "pearson_low",
        "pearson_high",
        3,
    )
    assert any(kind == "line" and e["y"]["field"] == "selection_pearson" for kind, e, _ in nearest)
    assert [r["label"] for kind, _, rows in sliding for r in rows if kind == "text"] == [
        "5 systems each"
    ]
    assert (
        "4 systems at 0.4 SD: r = -0.50 (-0.80 to -0.20)"
        in plot_local_correlation(windows).description
    )


def test_windows_of_different_sizes_say_how_many(windows):
    windows.loc[4, "n_systems"] = 7
    (sliding,) = panels(plot_local_correlation(windows[3:]))
    assert [r["label"] for kind, _, rows in sliding for r in rows if kind == "text"] == ["5", "7"]


def test_a_window_without_an_interval_or_without_r(windows):
    windows.loc[0, ["pearson_low", "pearson_high"]] = np.nan
    windows.loc[1, "pearson"] = np.nan
    chart = plot_local_correlation(windows)
    counts = {
        kind: len(rows)
        for kind, e, rows in panels(chart)[0]
        if kind == "point" or (kind == "rule" and "y2" in e)
    }
    assert counts == {"point": 2, "rule": 1}
    assert "r = -0.50," in chart.description
    with pytest.raises(DataError, match="every pearson is nan"):
        plot_local_correlation(windows.assign(pearson=np.nan))
    with pytest.raises(UnknownName, match="kind of window 'near'"):
        plot_local_correlation(windows.assign(window="near"))
    with pytest.raises(DataError, match="no column selection_pearson"):
        plot_local_correlation(windows.drop(columns="selection_pearson"))


def test_a_panel_per_metric_with_its_title_note_and_labels(metrics):
    metrics.loc[0, "score"] = np.nan
    titles = {"TER": "TER (edits per 100 words, lower is better)"}
    notes = {"TER": "r = 0.50 (0.10 to 0.80)"}
    chart = plot_against_fluency(
        metrics, metric_titles=titles, notes=notes, title="A claim", columns=2
    )
    spec = chart.to_dict()
    assert [p["title"]["text"] for p in spec["concat"]] == ["chrF", titles["TER"], "COMET"]
    assert spec["concat"][0]["title"]["subtitle"] == ["Not drawn, for a number is missing: A."]
    assert spec["concat"][1]["title"]["subtitle"] == [notes["TER"]]
    found = panels(chart)
    marks = [next(x for x in p if "shape" in x[1]) for p in found]
    # a system without a score is not drawn, not zero
    assert [len(rows) for _, _, rows in marks] == [2, 3, 3]
    assert len({tuple(e["y"]["scale"]["domain"]) for _, e, _ in marks}) == 3
    assert {tuple(e["shape"]["scale"]["domain"]) for _, e, _ in marks} == {("LLM", "MT", "human")}
    assert [{r["label"] for kind, _, rows in p for r in rows if kind == "text"} for p in found][
        1
    ] == {"A", "B", "C"}
    assert [bool(e["x"]["axis"]["title"]) for _, e, _ in marks] == [False, True, True]
    assert f"{titles['TER']}: {notes['TER']}; systems: A (10, -0.6667)" in chart.description
    assert to_svg(chart).count(">human<") == 1  # one legend for all


def test_a_metric_without_a_system_is_told(metrics):
    with pytest.raises(DataError, match="both a score and a fluency for TER"):
        plot_against_fluency(
            metrics.assign(score=metrics["score"].where(metrics["metric"] != "TER"))
        )


def test_gaps_in_two_panels_sorted_by_accuracy():
    frame = pd.DataFrame({"system": ["A", "B", "C"], "category": ["LLM", "MT", "human"]})
    frame = frame.assign(
        accuracy_gap=[3.0, 1, 2], accuracy_gap_low=[2.0, 0.5, 1], accuracy_gap_high=[4.0, 2, 3]
    )
    frame["naturalness_gap"] = [0.1, np.nan, 0.3]
    chart = plot_gap(frame, accuracy_title="chrF points below the curve", title="A claim")
    left, right = panels(chart)
    assert left[-1][1]["y"]["sort"] == ["B", "C", "A"]
    assert [kind for kind, _, _ in left] == ["rule", "point"]
    assert [r["system"] for r in right[0][2]] == ["C", "A"]  # nan: the oracle has no point there
    assert "B (1, nan)" in chart.description
    assert to_svg(chart).index(">B<") < to_svg(chart).index(">C<") < to_svg(chart).index(">A<")
    with pytest.raises(DataError, match="to draw"):
        plot_gap(frame.assign(accuracy_gap=np.nan, naturalness_gap=np.nan))
    with pytest.raises(DataError, match="accuracy_gap"):  # as a table of version 0.1 has none
        plot_gap(frame.rename(columns=lambda name: name.replace("_gap", "_lack")))
