"""The one number with an interval: its sentence, its page, its row; and that every kind of number makes the same."""

import math

import numpy as np
import pandas as pd
import pytest

import anhelpers as an
from anhelpers import classroom
from anhelpers.divergences.samples import plug_in
from anhelpers.errors import DataError
from anhelpers.xmi import sentence_cross_entropy


def rng():
    return np.random.default_rng(0)


def full(**more):
    given = {"low": 49.0, "high": 54.0, "se": 1.2, "n": 52, "of": "segments", "n_docs": 12}
    return an.Estimate("chrF", 51.5, **given | {"unit": "points", "signature": "v:1"} | more)


def test_the_sentence_has_name_value_unit_interval_and_n():
    assert str(full()) == (
        "chrF 51.5 points, 95 % interval 49 to 54 (n = 52 segments in 12 documents)"
    )
    assert full().text(2).startswith("chrF 51.50 points, 95 % interval 49.00 to 54.00 (n = 52 ")


def test_nothing_that_is_known_is_left_unsaid():
    given = {"left_out": 2, "bias": "unbiased", "chance": 0.5, "p": 0.04, "caution": "Few."}
    assert str(full(**given)).endswith(
        "documents, 2 missing; unbiased). Where q = r, chance alone gives 0.5 on average, and as "
        "much as here with p = 0.04. Few."
    )
    nothing = an.Estimate("α", math.nan, n=2, of="texts", n_docs=2)
    assert str(nothing) == "α is not defined (n = 2 texts)"
    assert "51.5 points, no interval (" in str(full(low=math.nan, high=math.nan))


def test_its_row():
    columns = ["name", "value", "low", "high", "se", "n", "unit", "signature"]
    assert list(full().row().items()) == list(
        zip(columns, ("chrF", 51.5, 49.0, 54.0, 1.2, 52, "points", "v:1"), strict=True)
    )
    assert an.Estimate("D", 1.0).row()["n"] == 0


def test_a_column_of_means_is_an_estimate():
    means = an.bootstrap_means([[1.0, 5], [3, 6], [8, 7]], ["a", "a", "b"], rng(), 300)
    one = means.estimate(1, "length", "words", of="texts", signature="v:2")
    assert (one.value, one.n, one.n_docs, one.unit) == (6.0, 3, 2, "words")
    assert one.interval == (means.low[1], means.high[1])
    assert (one.se, one.n_effective) == (means.se[1], means.n_effective[1])
    assert "(n = 3 texts in 2 documents). only 2 documents: the" in str(one)
    assert means.text("words", 1) == means.estimate(1, unit="words").text(2)


def test_every_kind_of_number_is_one():
    rated = {"rater": [*"aabb"], "segment": [0, 1] * 2, "rating": [1, 2, 1, 3]}
    ratings = classroom.ClassRatings(pd.DataFrame(rated).assign(candidate=0, criterion="accuracy"))
    d = an.lpp_distance([-2.0, -4.0, np.nan], [-5.0, -5.0])
    every = [
        classroom.agreement(ratings, "accuracy", rng(), 50),
        sentence_cross_entropy([-2.0, -4.0], unit="bits", rng=rng()),
        plug_in("kl", [*"aab"], [*"abb"], rng=rng()),
        d.gap,
        d.distance,
    ]
    assert {type(one) for one in every} == {an.Estimate}
    assert (d.gap.value, d.distance.value, d.gap.left_out) == (-2.0, 2.0, 1)
    assert "signed gap -2.000, more probable than R; biased upwards near 0" in str(d.distance)


def test_the_difference_of_independent_estimates_has_the_interval_of_both():
    one, other = full(), an.Estimate("other", 50.5, low=46.5, high=52.5, n=40, unit="points")
    found = one.minus(other)
    assert found.value == 1
    assert np.allclose(found.interval, [1 - math.hypot(2.5, 2.0), 1 + math.hypot(2.5, 4.0)])
    assert np.allclose(other.minus(one).interval, [-found.high, -found.low])
    assert (found.n, found.n_r, found.unit) == (52, 40, "points")
    assert math.isnan(one.minus(an.Estimate("exact", 1.0, unit="points")).low)
    with pytest.raises(DataError):
        one.minus(an.Estimate("bits", 1.0, unit="bits"))
