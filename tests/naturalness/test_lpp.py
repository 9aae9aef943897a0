import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from anhelpers.errors import DataError
from anhelpers.naturalness.lpp import line_fingerprints, lpp, lpp_distance, shared_lines


@pytest.mark.verifies("LPP", by="hand")
def test_the_mean_is_over_sentences_not_tokens_and_missing_is_left_out():
    value, se, n = lpp([-1.0, -2.0, np.nan, -6.0])
    assert (value, n) == (3.0, 3)
    assert se == pytest.approx(np.std([1, 2, 6], ddof=1) / np.sqrt(3))


@pytest.mark.verifies("LPP distance", by="hand")
def test_a_system_more_probable_than_the_reference_is_warned_of():
    d = lpp_distance([-2.0, -2.0, np.nan], [-3.0, -3.0])
    assert (d.distance, d.gap, d.n_q, d.excluded_q) == (1.0, -1.0, 2, 1)
    assert "LESS natural" in d.warning
    assert lpp_distance([-4.0, -4.2], [-3.0, -3.1]).warning is None


@pytest.mark.verifies("LPP distance", by="property")
def test_the_interval_covers_the_true_gap_about_95_times_in_100():
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(400):
        low, high = lpp_distance(-rng.gamma(4, 1, 80), -rng.gamma(3, 1, 120)).interval
        hits += low <= 1 <= high
    assert 0.91 <= hits / 400 <= 0.985


def test_too_few_texts_are_an_error():
    with pytest.raises(DataError, match="at least 2"):
        lpp([-1.0, np.nan])


def test_shared_lines_are_found_whatever_their_spacing_in_texts_and_in_fingerprints():
    for others in (["a b", " d "], line_fingerprints(["a   b", "d"])):
        assert shared_lines(["a  b", "c", "d"], others) == ["a  b", "d"]
    assert shared_lines(["c"], []) == []


LOGPROBS = st.lists(st.floats(-20, 0), min_size=2, max_size=30)


@pytest.mark.verifies("LPP", "LPP distance", by="property")
@given(LOGPROBS, LOGPROBS, st.floats(-5, 0))
def test_what_adds_to_all_texts_alike_moves_lpp_and_no_distance(q, r, shift):
    value, se, _ = lpp(q)
    moved, same, _ = lpp(np.array(q) + shift)
    assert (moved, same) == pytest.approx((value - shift, se), abs=1e-9)
    there, back = lpp_distance(q, r), lpp_distance(r, q)
    assert (there.distance, there.gap) == (back.distance, -back.gap)
    assert lpp_distance(np.array(q) + shift, np.array(r) + shift).gap == pytest.approx(there.gap, abs=1e-9)
    assert lpp_distance(q, q).distance == 0


@pytest.mark.verifies("LPP", "LPP distance", by="foreign", of="scipy")
def test_errors_are_scipys():
    """The standard error of a mean, and that of Welch's test for the distance."""
    q, r = -np.random.default_rng(0).gamma(4, 1, (2, 40))[:, :35]
    value, se, _ = lpp(q)
    assert (value, se) == pytest.approx((stats.tmean(-q), stats.sem(-q)), rel=1e-12)
    found = lpp_distance(q, r[:20])
    assert found.gap / found.se == pytest.approx(stats.ttest_ind(-q, -r[:20], equal_var=False).statistic, rel=1e-10)
