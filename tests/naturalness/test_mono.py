"""R, text written in the language: where it stands, D(Q, R) as a metric, and what makes it unfit."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import t, ttest_1samp

from anhelpers.data import TestSet
from anhelpers.errors import DataError
from anhelpers.estimate import Estimate
from anhelpers.metrics import Metric
from anhelpers.naturalness.lpp import Mono, _LppDistance, lpp_gaps, score_mono
from anhelpers.scoring.lookup import naturalness_metric

LENGTH = Metric(
    "length",
    "length",
    "letters",
    True,
    (),
    "length|v:1",
    lambda hyps: np.array([len(x) for x in hyps]),
)


def found(interval):
    low, high = interval
    middle = (low + high) / 2
    return _LppDistance(3.0, 3.0 - middle, Estimate("gap", middle, low=low, high=high, n=9, n_r=9))


@pytest.mark.verifies("Where R stands", by="hand")
def test_r_stands_at_the_mean_of_its_texts_with_student_s_interval():
    r, scores = score_mono(LENGTH, Mono(("a", "bbb")))
    assert (r.value, r.se, r.n, scores.tolist()) == (2.0, 1.0, 2, [1, 3])
    assert r.interval == pytest.approx((2 - t.ppf(0.975, 1), 2 + t.ppf(0.975, 1)))
    assert r.signature.startswith("length|v:1|R:")
    assert "only 2 texts" in r.caution
    bounded = Metric(
        "length", "length", "letters", False, (), "", LENGTH.score_segments, bounds=(0.0, np.inf)
    )
    assert score_mono(bounded, Mono(("a", "bbb")))[0].interval == pytest.approx(
        (-2 - t.ppf(0.975, 1), 0)
    )


@pytest.mark.verifies("Where R stands", by="foreign", of="scipy")
@pytest.mark.verifies("Where R stands", by="property")
@given(st.lists(st.floats(-9, 9), min_size=2, max_size=30), st.floats(-5, 5))
def test_the_interval_of_r_is_scipys_and_moves_with_the_scores(scores, shift):
    def of(values):
        metric = Metric("m", "m", "", True, (), "", lambda hyps: np.array([*values, np.nan]))
        return score_mono(metric, Mono(("a",) * (len(values) + 1)))[0]

    assume(np.ptp(scores) > 1e-3)
    r, moved = of(scores), of(np.array(scores) + shift)
    assert r.interval == pytest.approx(
        tuple(ttest_1samp(scores, 0).confidence_interval()), abs=1e-9
    )
    assert (r.n, r.left_out) == (len(scores), 1)
    assert (moved.value - shift, *moved.interval) == pytest.approx(
        (r.value, r.low + shift, r.high + shift), abs=1e-9
    )


def test_what_r_must_be():
    mono = Mono(("a", "b"))
    assert mono.signature == Mono(("a", "b"), "elsewhere").signature != Mono(("a", "c")).signature
    missing = Metric("m", "m", "", True, (), "", lambda hyps: np.array([np.nan, 1.0]))
    for metric in (missing, Metric("m", "m", "", True, ("srcs",), "", LENGTH.score_segments)):
        with pytest.raises(DataError):
            score_mono(metric, mono)


@pytest.mark.verifies("LPP distance", by="hand")
def test_the_interval_of_the_distance_is_that_of_the_gap_folded_at_0():
    folded = {(-1, 3): (0, 3), (-3, -1): (1, 3), (1, 3): (1, 3), (0, 3): (0, 3)}
    assert {gap: found(gap).distance.interval for gap in folded} == folded


@pytest.mark.verifies("LPP distance", by="property")
@given(st.floats(-5, 5), st.floats(-5, 5), st.floats(0, 1))
def test_where_the_gap_is_covered_the_distance_is(one, other, share):
    low, high = sorted((one, other))
    assume(high - low > 1e-9)
    truth = low + share * (high - low)
    nearest, farthest = found((low, high)).distance.interval
    assert nearest - 1e-9 <= abs(truth) <= farthest + 1e-9
    assert farthest in (abs(low), abs(high))
    assert nearest in (0, abs(low), abs(high))


@pytest.mark.verifies("LPP distance", by="hand")
def test_gaps_of_systems_by_hand():
    logprobs = np.array([[-2.0, -6, np.nan], [-4, np.nan, np.nan], [-3, -8, -1]])
    gaps = lpp_gaps(logprobs, ["A", "B", "C"], [-5.0, -5, np.nan], [0, 1, 2])
    assert list(gaps) == ["A", "B"]  # C has one scored text
    assert (gaps["A"].gap.value, gaps["B"].gap.value, gaps["B"].gap.n_q, gaps["B"].gap.n_r) == (
        -2,
        2,
        2,
        2,
    )


@pytest.mark.neural
@pytest.mark.verifies("LPP distance", by="property")
def test_the_metric_is_the_distance_of_the_two_means(tiny_lm):
    from anhelpers.naturalness.lm import load_lm, score_texts
    from anhelpers.naturalness.lpp import system_distances

    lm, mono = load_lm(str(tiny_lm)), Mono(("Der Hund bellt.", "Das Haus ist alt.", "Ja."))
    metric = naturalness_metric("lpp-distance", "de", lm, mono=mono)
    hyps = ("Das Haus.", "", "Der Hund bellt nicht, und das Haus ist klein.")
    lpp_q, lpp_r = (np.nanmean(-score_texts(lm, texts).mean) for texts in (hyps, mono.texts))
    assert metric.score_corpus(hyps) == pytest.approx(abs(lpp_q - lpp_r))
    assert metric.score_corpus(mono.texts) == pytest.approx(0, abs=1e-9)
    assert (metric.higher_is_better, metric.score_segments) == (False, None)
    assert metric.signature.endswith(f"|{mono.signature}")
    test = TestSet("s", "en-de", srcs=("x", "y", "z"), systems={"A": hyps, "B": ("Ja.", "", "")})
    estimates = system_distances(test, lm, mono)
    assert estimates["A"].value == pytest.approx(metric.score_corpus(hyps))
    assert (estimates["A"].n_q, estimates["A"].n_r, estimates["A"].signature) == (
        2,
        3,
        metric.signature,
    )
    assert estimates["A"].low <= estimates["A"].value <= estimates["A"].high
    assert np.isnan(estimates["B"].value)
    for options in ({"lm": lm}, {"mono": mono}):
        with pytest.raises(DataError):
            naturalness_metric("lpp-distance", "de", **options)
