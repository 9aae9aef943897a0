"""Values of a wrong kind are refused where they are given."""

import anhelpers as an


def test_an_estimate_without_n_is_not_called_exact():
    assert an.Estimate("x", 1.5).text() == "x 1.5, no interval (n not given)"
    known = an.Estimate("D", 0.5, bias="no sample, no bias")
    assert known.text() == "D 0.5, no interval (exact q and r; no sample, no bias)"
