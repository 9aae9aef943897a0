"""Scores of segments that somebody stored, and at other segments or systems: refused, where chrF can tell."""

import itertools

import numpy as np
import pytest
from anhelpers.accuracy.given import check_scores
from hypothesis import given, settings
from hypothesis import strategies as st

import anhelpers as an
from anhelpers import scoring
from anhelpers.errors import DataError

WORDS = np.array(
    [
        "river",
        "stone",
        "morning",
        "letter",
        "garden",
        "winter",
        "bridge",
        "window",
        "paper",
        "mountain",
    ]
)


def shifted(values, by):
    """(N, k) the scores of the segments `by` rows further down."""
    return np.roll(values, -by, axis=0)


def exchanged(values, one, other):
    """(N, k) with the scores of two systems at each other's place."""
    order = np.arange(values.shape[1])
    order[[one, other]] = other, one
    return values[:, order]


def made(n=200, k=2):
    """A test set whose segments are easy or hard for all systems, and (n, k) how many words each got right."""
    rng = np.random.default_rng(3)
    words = rng.choice(WORDS, (n, 12))
    right = rng.random((k, n, 12)) < rng.uniform(0.2, 1, (n, 1))
    ref, *outputs = (
        [" ".join(row) for row in np.where(kept, words, "wrong")] for kept in (True, *right)
    )
    systems = dict(zip("abcdef"[:k], outputs, strict=True))
    test = an.TestSet("made", "de-en", [f"Quelle {i}" for i in range(n)], {"refA": ref}, systems)
    return test, right.sum(2).T.astype(float)


@pytest.mark.parametrize(("by", "where"), [(1, "1 segment later"), (-2, "2 segments earlier")])
def test_stored_scores_of_shifted_rows_are_refused(by, where):
    test, values = made()
    check_scores(test, values, "words")
    with pytest.raises(DataError, match=f"words: these scores fit the outputs {where}"):
        check_scores(test, shifted(values, by), "words")
    # scores that fall where a text is better, and that are not there for all
    values[::7] = np.nan
    check_scores(test, -values, "errors")
    with pytest.raises(DataError, match="rows are shifted"):
        check_scores(test, shifted(-values, by), "errors")


@pytest.mark.parametrize("k", [3, 6])
def test_scores_of_two_exchanged_systems_are_refused(k):
    test, values = made(k=k)
    check_scores(test, values, "words")
    for sign in (1, -1):  # scores of what is right, and of errors
        with pytest.raises(DataError, match="words: the scores of a fit the outputs of c and the"):
            check_scores(test, exchanged(sign * values, 0, 2), "words")


def test_of_two_systems_alone_nobody_can_say_which_name_is_whose():
    test, values = made()
    check_scores(test, exchanged(values, 0, 1), "words")


@pytest.mark.parametrize("k", [2, 6])
def test_a_single_system_s_shifted_rows_are_refused_by_its_name(k):
    test, values = made(k=k)
    values[:, 1] = shifted(values[:, 1], 1)
    with pytest.raises(DataError, match="words: the scores of b fit the outputs 1 segment later"):
        check_scores(test, values, "words")


@pytest.mark.parametrize("factor", [0.01, 100])
def test_a_single_system_on_another_scale_is_refused_by_its_name(factor):
    test, values = made(k=4)
    check_scores(test, values, "words", bounded=True)
    values[:, 2] *= factor
    with pytest.raises(
        DataError, match=r"words: the scores of c go up to .*: they are on another scale"
    ):
        check_scores(test, values, "words", bounded=True)
    check_scores(test, values, "penalties")  # of which a good system may have next to none


def test_constant_and_copied_scores_and_a_set_without_reference_are_told():
    test, values = made(k=4)
    values[:, 0], values[:, 2] = 0.0, values[:, 3]
    told = check_scores(test, values, "words")
    assert told == (
        "words: a has 0 at all 200 segments.",
        "words: c and d have the same score at all 188 segments where their texts differ; is one a copy of the "
        "other?",
    )
    (told,) = check_scores(
        an.TestSet("bare", "de-en", test.srcs, {}, test.systems), made(k=4)[1], "words"
    )
    assert told.startswith("words: without a reference, nothing tells whether scores stand")


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000))
def test_scores_that_follow_nothing_are_let_through(seed):
    test = an.load("teaching")
    values = np.random.default_rng(seed).normal(size=(len(test), len(test.systems)))
    check_scores(test, values, "noise")


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "metric", "told", "apart"),
    [
        ("wmt23/en-de", "mqm:wmt23/en-de", False, False),  # 104 segments, which hardly follow chrF
        ("wmt23/en-de", "bleu", True, True),
        ("wmt24/en-cs", "esa:esa/wmt24", True, False),  # few pairs of systems were rated together
    ],
)
def test_ratings_and_scores_of_real_sets_stand_where_they_belong(name, metric, told, apart):
    test = an.load(name)
    values = scoring.system_scores(test, an.metric(metric, test))
    check_scores(test, values, metric)
    if told:
        with pytest.raises(DataError, match="rows are shifted"):
            check_scores(test, shifted(values, 1), metric)
    if apart:
        for one, other in [*itertools.combinations(range(len(test.systems)), 2)][::20]:
            with pytest.raises(DataError, match="the names are exchanged"):
                check_scores(test, exchanged(values, one, other), metric)
