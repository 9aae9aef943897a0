"""Lexical measures against the library lexicalrichness, by hand and by properties."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lexicalrichness import LexicalRichness
from scipy import stats

from anhelpers.accuracy.surface import surface_metric
from anhelpers.data.schema import TestSet
from anhelpers.errors import DataError, UnknownName
from anhelpers.naturalness import lexical
from anhelpers.naturalness.lexical import MEASURES, _lexical_metric, _words
from anhelpers.plane import metric_axis
from anhelpers.scoring import segment_rows, system_rows

TOKENS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=80)
FEW_TYPES = _words("The cat sat on the mat, and the dog sat on the cat.")


def foreign(tokens):
    return LexicalRichness(list(tokens), preprocessor=None, tokenizer=None)


@pytest.mark.verifies(
    "Type-token ratio",
    "MATTR",
    "MTLD",
    "Yule's I",
    "Yule's K",
    "Simpson's index",
    by="foreign",
    of="lexicalrichness",
)
@given(TOKENS, st.integers(1, 20), st.sampled_from([0.5, 0.66, 0.72, 0.9]))
def test_every_measure_agrees_with_lexicalrichness(tokens, window, threshold):
    theirs, repeated = foreign(tokens), len(set(tokens)) < len(tokens)
    assert lexical._ttr(tokens) == theirs.ttr
    if window <= len(tokens):
        assert lexical._mattr(tokens, window) == pytest.approx(theirs.mattr(window), rel=1e-14)
    if repeated:  # else theirs takes one factor, and a division by 0
        assert lexical._mtld(tokens, threshold) == pytest.approx(theirs.mtld(threshold), rel=1e-14)
        assert lexical._yules_i(tokens) == pytest.approx(theirs.yulei, rel=1e-14)
    assert lexical._yules_k(tokens) == pytest.approx(theirs.yulek, rel=1e-12, abs=1e-9)
    if len(tokens) > 1:  # theirs draws two tokens without replacement
        n, drawn = len(tokens), 1 - lexical._simpson(tokens)
        assert (n * drawn - 1) / (n - 1) == pytest.approx(theirs.simpsond, abs=1e-14)


@pytest.mark.verifies(
    "Type-token ratio",
    "MATTR",
    "MTLD",
    "Yule's I",
    "Yule's K",
    "Shannon entropy of words",
    "Simpson's index",
    by="property",
)
@given(TOKENS)
def test_bounds_and_a_new_name_for_every_word_changes_nothing(tokens):
    types = len(set(tokens))
    assert 0 < lexical._ttr(tokens) <= 1
    assert 0 <= lexical._simpson(tokens) <= 1 - 1 / types + 1e-15
    assert 0 <= lexical._shannon(tokens) <= math.log(types) + 1e-14
    assert lexical._yules_k(tokens) >= 0
    renamed, as_numbers = [f"new {t}" for t in tokens], np.array([ord(t) for t in tokens])
    for measure in MEASURES.values():
        values = [measure.of(t) for t in (tokens, renamed, as_numbers)]
        np.testing.assert_array_equal(values[1:], [values[0]] * 2)
    share = np.bincount([ord(t) for t in tokens]) / len(tokens)
    share = share[share > 0]
    assert lexical._shannon(tokens) == pytest.approx(-(share * np.log(share)).sum(), abs=1e-14)


@pytest.mark.verifies(
    "Type-token ratio",
    "MATTR",
    "Yule's I",
    "Yule's K",
    "Shannon entropy of words",
    "Simpson's index",
    by="hand",
)
def test_by_hand():
    """the 4, cat sat on 2, mat and dog 1: N = 13, V = 7, Σ f² = 16 + 12 + 3 = 31."""
    assert lexical._ttr(FEW_TYPES) == 7 / 13
    assert lexical._yules_i(FEW_TYPES) == 49 / 24
    assert lexical._yules_k(FEW_TYPES) == pytest.approx(1e4 * 18 / 169, rel=1e-15)
    assert lexical._simpson(FEW_TYPES) == pytest.approx(1 - 31 / 169, rel=1e-15)
    entropy = math.log(13) - (4 * math.log(4) + 6 * math.log(2)) / 13
    assert lexical._shannon(FEW_TYPES) == pytest.approx(entropy, rel=1e-15)
    assert lexical._mattr(list("aabc"), 3) == pytest.approx((2 / 3 + 3 / 3) / 2, rel=1e-15)


@pytest.mark.verifies("MTLD", by="hand")
def test_mtld_by_hand():
    """Forward a a (1/2) | b c d c (3/4, half a factor): 6 / 1.5. Backward c d c b a a (4/6, 2/3 of a factor): 9."""
    assert lexical._mtld(list("aabcdc"), 0.5) == pytest.approx((4 + 9) / 2, rel=1e-15)


@pytest.mark.verifies(
    "MTLD", by="foreign", of="lexicalrichness, where a ratio is the threshold itself"
)
def test_a_factor_of_mtld_ends_at_the_threshold_and_not_only_below_it():
    """18 words, the last of them 7 times more: 18/25 is 0.72. By ≤ each such run is a factor; by < reading goes on."""
    tokens = [word for k in (0, 18) for word in [*range(k, k + 18), *[k + 17] * 7]]
    assert lexical._mtld(tokens) == foreign(tokens).mtld()
    assert lexical._mtld(tokens) != lexical._mtld(tokens, np.nextafter(lexical.THRESHOLD, 0))
    assert _lexical_metric("mtld", "de").signature.startswith("mtld|threshold:≤0.72|tok:")


def test_what_is_not_defined_is_nan():
    for tokens in ([], np.array([], dtype=int)):
        assert all(np.isnan(measure.of(tokens)) for measure in MEASURES.values())
    distinct = list("abc")
    assert np.isnan(
        [lexical._mtld(distinct), lexical._yules_i(distinct), lexical._mattr(distinct, 4)]
    ).all()
    assert (lexical._yules_k(distinct), lexical._ttr(distinct), lexical._shannon(["a"])) == (
        0,
        1,
        0,
    )


def test_wrong_arguments_are_refused():
    for call in (
        lambda: lexical._mattr(["a"], 0),
        lambda: _lexical_metric("ttr", "th"),
        lambda: _lexical_metric("matr", "de"),
    ):
        with pytest.raises((DataError, UnknownName)):
            call()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Die U-Bahn, 3,5 km; snake_case!", ["die", "u", "bahn", "3", "5", "km", "snake", "case"]),
        ("d’Été l'été 'n' rock'n'roll", ["d'été", "l'été", "n", "rock'n'roll"]),
        ("e\u0301te\u0301", ["été"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("漢字・カナ々 ok 𠀀", ["漢", "字", "カ", "ナ", "々", "ok", "𠀀"]),
        ("🙂 — … ¿?", []),
    ],
)
def test_words(text, expected):
    assert _words(text) == expected


@given(st.text(max_size=40), st.text(max_size=40))
def test_words_of_two_lines_are_those_of_each(one, other):
    assert _words(f"{one}\n{other}") == _words(one) + _words(other)


def corpus(lp="en-de", docs=("x", "x", "y", "y")):
    texts = {
        "A": ("Das Haus, das Haus.", "Ein Hund.", "", "Das Haus."),
        "B": ("Eins zwei.", "drei", "vier", "fünf"),
    }
    return TestSet("t", lp, ("a", "b", "c", "d"), {}, texts, docs)


def test_a_metric_of_a_corpus_has_rows_of_systems_and_one_point_on_the_plane():
    metric = _lexical_metric("ttr", "de")
    for level in ("corpus", "segment-mean", "both"):
        table = system_rows(corpus(), [metric], level)
        assert table[["system", "level", "value", "n"]].values.tolist() == [
            ["A", "corpus", 0.5, 3],
            ["B", "corpus", 1, 4],
        ]
        assert table.unit[0] == "types per token (higher is more diverse)"
    for refused in (
        lambda: segment_rows(corpus(), [metric]),
        lambda: metric_axis(corpus(), metric),
    ):
        with pytest.raises(DataError, match=r"^ttr: "):
            refused()
    axis = metric_axis(corpus(), metric, "corpus")
    rows = axis.there.all(1)  # the segments for which both have text
    wanted = [
        metric.score_corpus([hyps[i] for i in np.flatnonzero(rows)])
        for hyps in corpus().systems.values()
    ]
    assert axis.level == "stored"
    assert axis.score(axis.counts[rows].sum(0)).tolist() == pytest.approx(wanted)
    assert not axis.there[~rows].any()
    assert surface_metric("chrf", "de").scale.endswith("(higher is better)")


@pytest.mark.verifies("Shannon entropy of words", by="foreign", of="scipy")
@given(TOKENS)
def test_entropies_are_scipys(tokens):
    wanted = stats.entropy(list(Counter(tokens).values()))
    assert lexical._shannon(tokens) == pytest.approx(wanted, abs=1e-14)
