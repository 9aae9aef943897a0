"""Ratings joined to texts, and on the plane."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from anhelpers.accuracy.surface import surface_metric
from anhelpers.data import join_ratings, load, ratings_file, read_ratings
from anhelpers.errors import DataError
from anhelpers.mqm import score_ratings
from anhelpers.plane import (
    fluency_rows,
    fluency_summary,
    local_correlation,
    metric_against,
    paired_tests,
    rated_plane,
    sliced_table,
    stored_against,
    systems_table,
)
from anhelpers.plane.local import _claim_halves

CHRF = surface_metric("chrf", "de")


@pytest.fixture(scope="module")
def rated():
    """The teaching set with one reference, its ratings and their scores."""
    ratings = read_ratings(ratings_file("teaching"), texts=True)
    return load("teaching").one_reference(), ratings, score_ratings(ratings)


@given(st.permutations(range(52)))
def test_segments_in_another_order_are_found_by_their_text(order):
    test = load("teaching").one_reference()
    join = join_ratings(test.subset(order), read_ratings(ratings_file("teaching"), texts=True))
    assert np.array(order)[join.rows].tolist() == list(range(52))
    assert join.same.all()


def test_a_segment_that_is_not_there_and_one_that_stands_twice_are_counted(rated):
    test, ratings, scores = rated
    part = test.subset([3, 3, *range(10, 52)])
    join = join_ratings(part, ratings)
    assert (join.rows >= 0).sum() == 43
    assert join.rows[3] == 0
    assert "43 of 52 rated segments" in join.report[0]
    assert "1 of its 44 segments are not rated" in join.report[0]
    assert len(metric_against(part, CHRF, scores, join)) == 43


def test_a_translation_with_another_text_is_left_out_not_compared(rated):
    test, ratings, scores = rated
    hyps = test.systems["MT-Base"]
    shifted = replace(test, systems={**test.systems, "MT-Base": hyps[1:] + hyps[:1]})
    join = join_ratings(shifted, ratings)
    assert join.same.sum() == 416 - 52
    assert (
        "364 of 416 rated translations are the texts of teaching; the others are left out."
        in join.report
    )
    assert "MT-Base" not in metric_against(shifted, CHRF, scores, join).systems


def test_the_plane_of_ratings_is_the_negated_penalty_of_each_segment(rated):
    test, _, scores = rated
    plane = rated_plane(scores, "teaching", test.categories)
    table = systems_table(plane, np.random.default_rng(0)).set_index("system")
    by = scores.by("system").set_index("system")
    pd.testing.assert_series_equal(table.accuracy, -by.accuracy[table.index], check_names=False)
    pd.testing.assert_series_equal(table.naturalness, -by.fluency[table.index], check_names=False)
    assert table.category.to_dict() == dict(test.categories)
    assert plane.naturalness.title == "−MQM fluency (points per segment, higher is better)"
    sliced = sliced_table(plane, np.random.default_rng(0), "domain", 20)
    assert sliced.slice.unique().tolist() == list(dict.fromkeys(test.domains))
    with pytest.raises(DataError):
        sliced_table(plane, np.random.default_rng(0), "length")


def test_a_metric_stands_against_fluency_with_its_own_scores(rated):
    test, ratings, scores = rated
    join = join_ratings(test, ratings)
    ter = surface_metric("ter", "de")
    planes = {
        "chrF": metric_against(test, CHRF, scores, join),
        "−TER": metric_against(test, ter, scores, join),
    }
    rows = fluency_rows(planes, np.random.default_rng(0), 200)
    assert rows.groupby("metric").size().to_dict() == {"chrF": 8, "−TER": 8}
    own = {
        s: CHRF.score_segments(h, refs=[test.refs["refB"]]).mean() for s, h in test.systems.items()
    }
    chrf = rows[rows.metric == "chrF"].set_index("system")
    assert chrf.score.to_dict() == pytest.approx(own)
    assert (rows[rows.metric == "−TER"].score <= 0).all()
    assert chrf.pearson.iloc[0] == pytest.approx(chrf.score.corr(chrf.fluency))
    assert ((rows.pearson_low <= rows.pearson) & (rows.pearson <= rows.pearson_high)).all()


def test_a_score_per_system_has_no_interval_of_its_own(rated):
    test, ratings, scores = rated
    join = join_ratings(test, ratings)
    values = {system: float(i) for i, system in enumerate(test.systems) if system != "LLM-Free"}
    plane = stored_against(test, values, ("m", "m (higher is better)", "m|table"), scores, join)
    table = systems_table(plane, np.random.default_rng(0)).set_index("system")
    assert table.accuracy.to_dict() == values
    assert table.accuracy_low.isna().all()
    assert table.naturalness_low.notna().all()
    assert plane.naturalness.name == "mqm-fluency"
    tests = paired_tests(plane, np.random.default_rng(0), 200).set_index("axis")
    assert tests.loc["accuracy", ["p", "p_holm"]].isna().all(axis=None)
    assert tests.loc["naturalness", "p_holm"].notna().all()
    local = local_correlation(plane, np.random.default_rng(0), n_draws=50)
    assert "near" in _claim_halves(local).index


def test_a_summary_has_a_row_per_metric_and_leaves_out_who_has_no_score(rated):
    test, ratings, scores = rated
    planes = {"chrF": metric_against(test, CHRF, scores, join_ratings(test, ratings))}
    rows = fluency_rows(planes, np.random.default_rng(0), 200)
    table = fluency_summary(rows)
    chrf = table.loc["chrF"]
    assert (chrf.r, chrf.low, chrf.high) == tuple(
        rows.loc[0, ["pearson", "pearson_low", "pearson_high"]]
    )
    assert (chrf.systems, chrf.n) == (8, 52)
    assert chrf.p == pytest.approx(pearsonr(rows.score, rows.fluency).pvalue)
    assert chrf.shown == (chrf.low > 0 and chrf.p < 0.05)
    assert fluency_summary(rows.assign(score=rows.score.where(rows.index > 0))).systems.item() == 7
