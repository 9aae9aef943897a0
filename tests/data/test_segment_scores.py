"""Scores of segments that somebody stored: where they belong, and which way is better."""

from dataclasses import replace

import numpy as np
import pytest

from anhelpers.data import TestSet, read_mme, write_mme, write_mme_scores
from anhelpers.data.segment_scores import family_of, stored_metric
from anhelpers.errors import DataError, UnknownName
from anhelpers.plane import metric_axis, system_plane
from anhelpers.scoring import lookup, segment_rows, system_scores

TEST = TestSet(
    "set",
    "en-de",
    srcs=("One.", "One.", "Two."),
    refs={"refA": ("Eins.", "Eins.", "Zwei.")},
    systems={"A": ("Ein.", "Einer.", "Zwo."), "B": ("1", "2", "3")},
    docs=("d1", "d1", "d2"),
)


@pytest.fixture
def folder(tmp_path):
    """A folder of mt-metrics-eval with a human score, a score of MetricX and one of an unknown metric."""
    place = write_mme(TEST, tmp_path / "mme")
    both = {"systems": ["A", "B"]}
    write_mme_scores(place, "en-de", "mqm", [[-1, -2], [np.nan, -4], [0, -25]], **both)
    write_mme_scores(place, "en-de", "MetricX-24", -np.arange(6).reshape(3, 2), ref="src", **both)
    write_mme_scores(place, "en-de", "mine", [[1, 5], [2, 6], [3, 7]], ref="refA", **both)
    return place


@pytest.mark.verifies("Stored scores of segments", by="hand")
def test_human_scores_of_mt_metrics_eval_are_an_axis(folder):
    test = read_mme(folder, "en-de")
    metric = stored_metric(f"stored:{folder}#mqm")
    assert (metric.unit, metric.higher_is_better, metric.bounds) == (
        "MQM points",
        False,
        (0, np.inf),
    )
    found = metric.score_systems(test)
    np.testing.assert_array_equal(found.values, [[1, 2], [np.nan, 4], [0, 25]])
    assert (
        "mqm is stored negated (-25.00 to 0.00); its own scores are the other way round, lower is better, and axes "
        "and tables say which they show." in found.notes
    )
    assert "mqm: 5 of 6 translations of 2 systems have a score" in found.notes[0]
    axis = metric_axis(test, metric)
    assert axis.title == "−mqm, stored (MQM points, higher is better)"
    np.testing.assert_array_equal(axis.values[:, 1], [-2, -4, -25])
    plane = system_plane(test, metric, lookup.metric("chrf", test))
    assert len(plane) == 2
    np.testing.assert_allclose(plane.scores()[0], [-0.5, -13.5])


def test_metrics_are_turned_by_what_is_known_of_them(folder):
    test = read_mme(folder, "en-de")
    metricx = stored_metric(f"stored:{folder}#MetricX-24-src")
    assert not metricx.higher_is_better
    np.testing.assert_array_equal(system_scores(test, metricx), np.arange(6).reshape(3, 2))
    mine = stored_metric(f"stored:{folder}#mine-refA")
    assert (mine.unit, mine.higher_is_better) == ("as stored", True)
    np.testing.assert_array_equal(system_scores(test, mine)[:, 0], [1, 2, 3])
    with pytest.raises(UnknownName, match="'mine-refB'; did you mean 'mine-refA'"):
        system_scores(test, stored_metric(f"stored:{folder}#mine-refB"))


@pytest.mark.verifies("Stored scores of segments", by="property")
def test_scores_stay_with_their_texts(folder):
    test = read_mme(folder, "en-de")
    metric = stored_metric(f"stored:{folder}#mine-refA")
    np.testing.assert_array_equal(system_scores(test.subset([2, 0]), metric), [[3, 7], [1, 5]])
    other = replace(test, systems={"A": test.systems["A"], "B": ("1", "x", "3")})
    found = metric.score_systems(other)
    np.testing.assert_array_equal(found.values, [[1, 5], [np.nan, np.nan], [3, 7]])
    assert "2 outputs are not those that were scored, and have no score." in found.notes
    strangers = replace(test, systems={"C": ("a", "b", "c")}, categories={})
    with pytest.raises(DataError, match="no mine-refA score is of a translation of"):
        metric.score_systems(strangers)


def test_a_scale_that_cannot_be_is_refused(tmp_path):
    path = tmp_path / "scores.tsv"

    def stored(metric, *values):
        rows = "".join(f"A\t{i}\t{value}\n" for i, value in enumerate(values))
        path.write_text(f"system\tsegment\tscore\n{rows}", encoding="utf-8")
        return stored_metric(f"stored:{path}#{metric}").score_systems(TEST)

    np.testing.assert_array_equal(stored("MetricX-23", 3, 0, 25).values[:, 0], [3, 0, 25])
    np.testing.assert_array_equal(stored("MetricX-23", -3, 0, -25).values[:, 0], [3, 0, 25])
    with pytest.raises(
        DataError, match="MetricX-23 goes from -3 to 4, and its scores are MQM points, 0 to 25"
    ):
        stored("MetricX-23", -3, 4)
    with pytest.raises(
        DataError, match=r"XCOMET-XL goes from 0\.5 to 80, and its scores are 0 to 1"
    ):
        stored("XCOMET-XL", 0.5, 80)
    with pytest.raises(DataError, match="whether higher is better for 'mine' is not known"):
        stored("mine", 1)
    with pytest.raises(
        DataError, match="found by the number of the segment, which nothing else checks"
    ):
        raise DataError(" ".join(stored("chrF", 1).notes))
    for name in ("stored:x", "stored:#x", "stored:x#"):
        with pytest.raises(DataError, match="is no stored:PLACE#METRIC"):
            stored_metric(name)
    with pytest.raises(DataError, match=r"neither a folder of WMT25 .* nor one of mt-metrics-eval"):
        stored_metric(f"stored:{tmp_path}#chrF")
    assert family_of("CometKiwi-XL").higher_is_better


def test_a_metric_gives_a_translation_one_score_and_raters_several(tmp_path):
    path = tmp_path / "scores.tsv"

    def scored(head, *rows):
        path.write_text("\n".join(["system\tsegment\tscore" + head, *rows, ""]), encoding="utf-8")
        return stored_metric(f"stored:{path}#COMET").score_systems(TEST).values[:, 0].tolist()

    again = "A\t0\t0.9"
    with pytest.raises(
        DataError,
        match=r"line 4: system 'A' has a second COMET for segment 0: 0\.9, and 0\.7 on line 2",
    ):
        scored("", "A\t0\t0.7", "A\t1\t0.5", again)
    assert scored("", again, again)[0] == 0.9
    assert scored("", again, "A\t0\t0.90001")[0] == pytest.approx(0.9, abs=1e-5)
    assert scored("\trater", "A\t0\t0.7\tr1", again + "\tr2")[0] == pytest.approx(0.8)


@pytest.mark.verifies(
    "Stored scores of segments", by="foreign", of="sacreBLEU, stored and read back"
)
def test_what_the_command_score_writes_is_read_back(tmp_path):
    metrics = [lookup.metric("chrf", TEST), lookup.metric("ter", TEST)]
    path = tmp_path / "scores.csv"
    segment_rows(TEST, metrics).to_csv(path, index=False)
    for metric in metrics:
        stored = stored_metric(f"stored:{path}#{metric.name}")
        assert stored.higher_is_better == metric.higher_is_better
        assert stored.unit == metric.unit
        np.testing.assert_allclose(system_scores(TEST, stored), system_scores(TEST, metric))
    with pytest.raises(UnknownName, match=r"unknown metric of scores\.csv 'bleu'"):
        stored_metric(f"stored:{path}#bleu")
    shifted = replace(TEST, docs=("d1", "d2", "d2"))
    with pytest.raises(
        DataError,
        match=r"segment 1 is of document 'd1' here, and in set of 'd2': lines are shifted",
    ):
        system_scores(shifted, stored_metric(f"stored:{path}#ter"))
