"""Scores of segments that somebody stored, and that stand at other segments: refused, where chrF can tell."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anhelpers as an
from anhelpers import scoring
from anhelpers.accuracy.align import check_scores
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


def made(n=200):
    """A test set whose segments are easy or hard for both systems, and (n, 2) how many words each got right."""
    rng = np.random.default_rng(3)
    words = rng.choice(WORDS, (n, 12))
    right = rng.random((2, n, 12)) < rng.uniform(0.2, 1, (n, 1))
    ref, *outputs = (
        [" ".join(row) for row in np.where(kept, words, "wrong")] for kept in (True, *right)
    )
    systems = dict(zip("ab", outputs, strict=True))
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


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000))
def test_scores_that_follow_nothing_are_let_through(seed):
    test = an.load("teaching")
    values = np.random.default_rng(seed).normal(size=(len(test), len(test.systems)))
    check_scores(test, values, "noise")


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "metric", "told"),
    [
        ("wmt23/en-de", "mqm:wmt23/en-de", False),  # 104 segments, which hardly follow chrF
        ("wmt23/en-de", "bleu", True),
        ("wmt24/en-cs", "esa:esa/wmt24", True),
    ],
)
def test_ratings_and_scores_of_real_sets_stand_where_they_belong(name, metric, told):
    test = an.load(name)
    values = scoring.system_scores(test, an.metric(metric, test))
    check_scores(test, values, metric)
    if told:
        with pytest.raises(DataError, match="rows are shifted"):
            check_scores(test, shifted(values, 1), metric)
