import numpy as np
import pytest

from anhelpers.errors import DataError
from anhelpers.naturalness.lpp import line_fingerprints, lpp, lpp_distance, shared_lines


def test_the_mean_is_over_sentences_not_tokens_and_missing_is_left_out():
    value, se, n = lpp([-1.0, -2.0, np.nan, -6.0])
    assert (value, n) == (3.0, 3)
    assert se == pytest.approx(np.std([1, 2, 6], ddof=1) / np.sqrt(3))


def test_a_system_more_probable_than_the_reference_is_warned_of():
    d = lpp_distance([-2.0, -2.0, np.nan], [-3.0, -3.0])
    assert (d.distance, d.gap, d.n_q, d.excluded_q) == (1.0, -1.0, 2, 1)
    assert "LESS natural" in d.warning
    assert lpp_distance([-4.0, -4.2], [-3.0, -3.1]).warning is None


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
