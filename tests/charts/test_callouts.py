"""Curves side by side with one sentence's translations: what would be drawn, and what is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anhelpers.charts.callouts import plot_callouts
from anhelpers.data.schema import CandidateSet, TestSet
from anhelpers.errors import DataError
from anhelpers.metrics import Metric
from anhelpers.plane import oracle_studies

SRCS = ("A source of some length that nobody follows.", "Three ways.", "One.")
SCORES = {  # text -> accuracy, accuracy by another measure, naturalness
    "long and exact": (9, 5, 0),
    "another": (1, 9, 1),
    "right": (9, 8, 0),
    "so so": (7, 7, 4),
    "smooth": (1, 2, 6),
    "only": (5, 5, 5),
}


def metric(name, column):
    def score(hyps, refs=None, srcs=None, segment=None):
        return np.array([SCORES[text][column] for text in hyps], dtype=float)

    return Metric(name, name, "points", True, (), name, score)


@pytest.fixture
def studies():
    test = TestSet("made", "en-de", SRCS, systems={"S": ("another", "right", "only")})
    cands = CandidateSet(np.array([0, 0, 1, 1, 1, 2]), tuple(SCORES))
    return oracle_studies(
        test, cands, [metric("first", 0), metric("second", 1)], [metric("smoothness", 2)]
    )


def texts_of(spec):
    """What stands below each panel."""
    below = [panel["vconcat"][1] for panel in spec["hconcat"]]
    return [[row["line"] for row in spec["datasets"][one["data"]["name"]]] for one in below]


def test_a_panel_for_each_study_and_below_it_the_three_translations_of_a_sentence(studies):
    spec = plot_callouts(studies, title="A claim").to_dict()
    assert len(spec["hconcat"]) == 2
    three = ["1 right", " ", "2 so so", " ", "3 smooth"]
    assert [[" ".join(line.split()) or " " for line in panel] for panel in texts_of(spec)] == [
        three,
        three,
    ]
    assert spec["title"]["subtitle"] == ["The sentence: “Three ways.”"]
    assert spec["description"].startswith("A claim: first: oracle curve from accuracy")
    assert "2  so so" in spec["description"]


def test_the_marks_lie_on_their_own_curve(studies):
    spec = plot_callouts(studies).to_dict()
    for panel, study in zip(spec["hconcat"], studies, strict=True):
        layers = panel["vconcat"][0]["layer"]
        (dots,) = (one for one in layers if one["mark"]["type"] == "point")
        (line,) = (one for one in layers if one["mark"]["type"] == "line")
        marks, path = (pd.DataFrame(spec["datasets"][one["data"]["name"]]) for one in (dots, line))
        assert path.accuracy.tolist() == study.curve.accuracy.tolist()
        assert set(marks.accuracy) <= set(path.accuracy)
        assert marks.label.iloc[[0, -1]].tolist() == ["β = 0", "β = ∞"]
        assert len(marks) == 3
    # a view's name is also that of its data, so that panels of one name would show one curve
    names = [one.get("name") for panel in spec["hconcat"] for one in panel["vconcat"][0]["layer"]]
    assert names.count("bxline") == 0


def test_a_source_can_be_named_and_may_have_fewer_translations(studies):
    spec = plot_callouts(studies[:1], segment=2).to_dict()
    (lines,) = texts_of(spec)
    assert [" ".join(line.split()) for line in lines if line.strip()] == ["1 only", "2 only"]


def test_what_does_not_fit_is_refused_in_a_sentence(studies):
    with pytest.raises(DataError, match="0 studies; one to three"):
        plot_callouts([])
    with pytest.raises(DataError, match="segment"):
        plot_callouts(studies, segment=3)
    other = replace(studies[1], test=replace(studies[1].test, srcs=("a", "b", "c")))
    with pytest.raises(DataError, match="over different sources"):
        plot_callouts([studies[0], other])
