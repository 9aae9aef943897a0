import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from anhelpers.errors import DataError
from anhelpers.naturalness.lpp import _lpp, lpp_distance


@pytest.mark.verifies("LPP", by="hand")
def test_the_mean_is_over_sentences_not_tokens_and_missing_is_left_out():
    value, se, n = _lpp([-1.0, -2.0, np.nan, -6.0])
    assert (value, n) == (3.0, 3)
    assert se == pytest.approx(np.std([1, 2, 6], ddof=1) / np.sqrt(3))


@pytest.mark.verifies("LPP distance", by="hand")
def test_a_system_may_be_more_probable_than_the_reference():
    d = lpp_distance([-2.0, -2.0, np.nan], [-3.0, -3.0])
    assert (d.distance.value, d.gap.value, d.gap.n_q, d.gap.left_out) == (1.0, -1.0, 2, 1)
    assert "more probable than R" in d.distance.bias


@pytest.mark.verifies("LPP distance", by="property")
def test_the_interval_covers_the_true_gap_about_95_times_in_100():
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(400):
        low, high = lpp_distance(-rng.gamma(4, 1, 80), -rng.gamma(3, 1, 120)).gap.interval
        hits += low <= 1 <= high
    assert 0.91 <= hits / 400 <= 0.985


def test_too_few_texts_or_documents_and_numbers_that_are_no_logprobs_are_refused():
    two = [-1.0, -2.0]
    for call in (
        lambda: _lpp([-1.0, np.nan]),
        lambda: lpp_distance(two, two, docs_q=["a", "a"]),
        lambda: lpp_distance(two, two, docs_q=["a", "b"], paired=True),
        lambda: lpp_distance(two, two, docs_q=["a", "b", "c"]),
        lambda: lpp_distance(two, two, docs_q=[*"ab"], docs_r=[*"cd"], paired=True),
        lambda: lpp_distance([80.0, 120.0], two),  # perplexities
        lambda: lpp_distance(two, [-np.inf, -1.0]),
        lambda: lpp_distance([-1e308, -1.0], two),
    ):
        with pytest.raises(DataError):
            call()


def documents(rng, m=20, n=8, level=None):
    """Scores of n texts in each of m documents, which are alike inside a document (correlation 0.5), and documents."""
    level = rng.normal(size=m) if level is None else level
    return -(9 + np.repeat(level, n) + rng.normal(size=m * n)), np.repeat(np.arange(m), n)


@pytest.mark.verifies("LPP distance", by="property")
def test_texts_of_a_document_are_drawn_together():
    """The error of means of documents, and a coverage that independent texts do not have."""
    rng, hits = np.random.default_rng(8), np.zeros(3)
    for _ in range(300):
        level = rng.normal(size=20)
        (q, docs) = documents(rng, level=level)
        (r, _) = documents(rng, level=level)
        (mono, _) = documents(rng)
        apart = lpp_distance(q, mono, docs_q=docs, docs_r=docs)
        together = lpp_distance(q, r, docs_q=docs, docs_r=docs, paired=True)
        plain = lpp_distance(q, mono)
        hits += [
            low <= 0 <= high
            for low, high in (found.gap.interval for found in (apart, together, plain))
        ]
    assert 0.91 <= hits[0] / 300 <= 0.985
    assert 0.91 <= hits[1] / 300 <= 0.985
    assert hits[2] / 300 < 0.75
    means = [stats.sem(-v.reshape(20, 8).mean(1)) for v in (q, mono)]
    assert apart.gap.se == pytest.approx(np.hypot(*means), rel=1e-12)
    assert together.gap.se == pytest.approx(stats.sem((r - q).reshape(20, 8).mean(1)), rel=1e-12)
    assert together.gap.se < 0.6 * lpp_distance(q, r, docs_q=docs, docs_r=docs).gap.se


def test_the_counts_of_the_gap():
    q, docs = documents(np.random.default_rng(0), 5)
    gap = lpp_distance(q, [-3.0, -4.0, -2.0] * 5, docs_q=docs).gap
    assert (gap.n, gap.n_docs, gap.n_r, gap.docs_r) == (40, 5, 15, 0)
    assert lpp_distance(q, q, docs_q=range(40), docs_r=docs).gap.n_docs == 0
    assert gap.caution
    assert not lpp_distance([-1.0, -2.0] * 10, [-1.0, -3.0] * 10).gap.caution
    assert lpp_distance([-2.0, -2.0], [-3.0, -3.0]).gap.interval == (-1, -1)


LOGPROBS = st.lists(st.floats(-20, 0), min_size=2, max_size=30)


@pytest.mark.verifies("LPP", "LPP distance", by="property")
@given(LOGPROBS, LOGPROBS, st.floats(-5, 0))
def test_what_adds_to_all_texts_alike_moves_lpp_and_no_distance(q, r, shift):
    value, se, _ = _lpp(q)
    moved, same, _ = _lpp(np.array(q) + shift)
    assert (moved, same) == pytest.approx((value - shift, se), abs=1e-9)
    there, back = lpp_distance(q, r), lpp_distance(r, q)
    assert (there.distance.value, there.gap.value) == (back.distance.value, -back.gap.value)
    assert lpp_distance(np.array(q) + shift, np.array(r) + shift).gap.value == pytest.approx(
        there.gap.value, abs=1e-9
    )
    assert lpp_distance(q, q).distance.value == 0


@pytest.mark.verifies("LPP", "LPP distance", by="foreign", of="scipy")
def test_errors_are_scipys():
    """The standard error of a mean, and that of Welch's test for the distance."""
    q, r = -np.random.default_rng(0).gamma(4, 1, (2, 40))[:, :35]
    value, se, _ = _lpp(q)
    assert (value, se) == pytest.approx((stats.tmean(-q), stats.sem(-q)), rel=1e-12)
    found = lpp_distance(q, r[:20])
    welch = stats.ttest_ind(-q, -r[:20], equal_var=False)
    assert found.gap.value / found.gap.se == pytest.approx(welch.statistic, rel=1e-10)
    assert found.gap.interval == pytest.approx(tuple(welch.confidence_interval(0.95)), rel=1e-10)
