"""Corpus features: by hand, by their laws, and against the published columns."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.errors import DataError
from anhelpers.xmi.features import corpus_features, ttr_distance, type_token_ratio
from anhelpers.xmi.published import read_features

WORDS = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=8).map(" ".join)
TEXTS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=6).map(
    lambda pairs: tuple(zip(*pairs, strict=True))
)


@pytest.mark.verifies("Features of a corpus", by="hand")
def test_by_hand():
    """Source: 6 tokens, 4 types (a b c d); target: 4 tokens, 3 types (a b x); shared: a, b."""
    found = corpus_features(["a b a", "c d a"], ["a b", "x a"])
    assert (found.src_ttr, found.trg_ttr) == (4 / 6, 3 / 4)
    assert found.ttr_distance == pytest.approx((1 / 9) ** 2, rel=1e-12)
    assert found.word_overlap == 2 / 7
    assert found.token_ratio == 6 / 4
    assert found.n == 2


@pytest.mark.verifies("Features of a corpus", by="property")
@given(TEXTS)
def test_turning_the_direction_around(texts):
    src, trg = texts
    there, back = corpus_features(src, trg), corpus_features(trg, src)
    assert there.word_overlap == back.word_overlap
    assert there.token_ratio * back.token_ratio == pytest.approx(1, rel=1e-12)
    assert (there.src_ttr, there.trg_ttr) == (back.trg_ttr, back.src_ttr)
    assert np.isclose(
        abs(1 - there.src_ttr / there.trg_ttr), np.sqrt(there.ttr_distance), rtol=0, atol=1e-12
    )


@pytest.mark.verifies("Features of a corpus", by="property")
@given(TEXTS)
def test_a_corpus_twice_has_half_the_ratio(texts):
    assert type_token_ratio(texts[0] * 2) == pytest.approx(
        type_token_ratio(texts[0]) / 2, rel=1e-12
    )


@pytest.mark.parametrize(
    ("src", "trg"), [("a b", ["a"]), (["a"], ["", " "]), ([], []), (["a", "b"], ["a"])]
)
def test_what_is_refused(src, trg):
    with pytest.raises(DataError):
        corpus_features(src, trg)


@pytest.mark.verifies("Features of a corpus", by="foreign", of="the authors' feature table")
def test_the_bundled_distances_are_ours_of_the_bundled_ratios():
    """To the six decimals of the ratios and of the distance; a copy of the source on both sides has distance 0."""
    table = read_features()
    ours = ttr_distance(table.src_ttr, table.trg_ttr)
    # of the root
    change = 5e-7 * (1 / table.src_ttr + 1 / table.trg_ttr) * table.src_ttr / table.trg_ttr
    assert (abs(np.sqrt(ours) - np.sqrt(table.ttr_distance)) <= change + 5e-6).all()
    assert (ttr_distance(table.src_ttr, table.src_ttr) == 0).all()


# ---- real data


@pytest.fixture(scope="module")
def data() -> Path:
    if not os.environ.get("ANHELPERS_DATA"):
        pytest.skip("set ANHELPERS_DATA to the folder of the shared data sets to run this test.")
    return Path(os.environ["ANHELPERS_DATA"])


@pytest.mark.verifies("Features of a corpus", by="foreign", of="the authors' feature file")
@pytest.mark.real
def test_the_published_distance_is_ours_of_the_published_ratios(data):
    """Within what the six decimals of the ratios and of the distance leave open, for its root (0.09 to 5.3)."""
    table = read_features(data / "xmi/results")
    ours = np.sqrt(ttr_distance(table.src_ttr, table.trg_ttr))
    rounding = 5e-7 * (1 / table.src_ttr + 1 / table.trg_ttr) * table.src_ttr / table.trg_ttr
    assert (abs(ours - np.sqrt(table.ttr_distance)) <= rounding + 5e-6).all()
    assert rounding.max() < 5e-4
