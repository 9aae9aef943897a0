"""Values of a wrong kind are refused where they are given."""

import pytest

import anhelpers as an


@pytest.mark.parametrize("facts", [{"low": 2, "high": 0}, {"p": 3}, {"n": -3}], ids=str)
def test_an_estimate_that_cannot_be(facts):
    with pytest.raises(an.DataError):
        an.Estimate("x", 1.0, **facts)


def test_an_estimate_without_n_is_not_called_exact():
    assert an.Estimate("x", 1.5).text() == "x 1.5, no interval (n not given)"
    known = an.Estimate("D", 0.5, bias="no sample, no bias")
    assert known.text() == "D 0.5, no interval (exact q and r; no sample, no bias)"
