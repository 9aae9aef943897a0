import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.data import CandidateSet, TestSet
from anhelpers.errors import DataError, UnknownName


@pytest.fixture
def three():
    return TestSet(
        "tiny",
        "en-de",
        ["a", "b", "c"],
        refs={"refA": ["A", "B", "C"], "refB": ["A2", "B2", "C2"]},
        systems={"X": ["x", "", " "], "Y": ["y", "y", ""]},
        docs=["d1", "d1", "d2"],
        domains=["news", "news", "social"],
        categories={"Y": "LLM"},
        notes=["Hello."],
    )


@pytest.fixture
def cands():
    return CandidateSet([0, 0, 1, 1, 1], list("ababa"), ["s", "t", "s", "", "u"], ids=list("vwxyz"))


def test_a_test_set_says_what_it_holds(three):
    assert (len(three), three.src_lang, three.trg_lang, three.reference) == (3, "en", "de", "refA")
    assert repr(three) == "TestSet(tiny, en-de: 3 segments, 2 systems, references: refA, refB)"
    assert three.categories == {"X": "unknown", "Y": "LLM"}
    assert three.refs["refB"] == ("A2", "B2", "C2")
    assert three.blanks == {"X": 2, "Y": 1}
    assert three.notes == ("Hello.", "X: 2 blank hypotheses of 3.", "Y: 1 blank hypothesis of 3.")
    assert pickle.loads(pickle.dumps(three)) == three
    with pytest.raises(FrozenInstanceError):
        three.lp = "de-en"


def test_without_documents_each_segment_is_its_own():
    test = TestSet("tiny", "en-de", ["a", "b"])
    assert (test.docs, test.domains, test.refs, test.reference) == (
        ("0", "1"),
        ("all", "all"),
        {},
        None,
    )
    assert repr(test) == "TestSet(tiny, en-de: 2 segments, 0 systems, references: none)"


@pytest.mark.parametrize("index", [[2, 0], np.array([2, 0]), slice(None, None, -2)])
def test_a_subset_keeps_the_order_asked_for_and_recounts_blanks(three, index):
    part = three.subset(index)
    assert (part.srcs, part.refs["refA"], part.systems["X"]) == (("c", "a"), ("C", "A"), (" ", "x"))
    assert (part.docs, part.domains) == (("d2", "d1"), ("social", "news"))
    assert part.notes == ("Hello.", "X: 1 blank hypothesis of 2.", "Y: 1 blank hypothesis of 2.")


def test_a_mask_and_an_empty_index_are_indices(three):
    assert three.subset([True, False, True]).srcs == ("a", "c")
    assert len(three.subset([])) == 0
    for index in ([3], [True, False], [0.5]):
        with pytest.raises(DataError, match="there are 0 to 2"):
            three.subset(index)


def test_another_reference_comes_to_the_front(three):
    assert list(three.with_reference("refB").refs) == ["refB", "refA"]
    with pytest.raises(UnknownName, match="unknown reference 'refC'; did you mean"):
        three.with_reference("refC")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"lp": "en-qq"}, "unknown language pair 'en-qq'"),
        ({"refs": {"refA": ["A"]}}, "refs refA has 1 entries, but there are 3"),
        ({"systems": {"X": ["x"] * 4}}, "systems X has 4 entries"),
        ({"systems": {"X": "abc"}}, "systems X is one text"),
        ({"srcs": ["a", None, "c"]}, "text 1 of srcs is None, not a text"),
        ({"docs": ["d"]}, "docs has 1 entries"),
    ],
)
def test_a_bad_test_set_is_told(three, change, sentence):
    with pytest.raises(DataError, match=sentence):
        replace(three, **change)


def test_categories_are_known_and_of_known_systems(three):
    with pytest.raises(UnknownName, match="unknown category 'llm'"):
        replace(three, categories={"X": "llm"})
    with pytest.raises(UnknownName, match="unknown system 'Z'"):
        replace(three, categories={"Z": "MT"})


def test_candidates_are_flat_and_may_be_ragged(cands):
    assert cands.segment.dtype == np.int64
    assert not cands.segment.flags.writeable
    assert (len(cands), cands.n_segments, cands.n_candidates.tolist()) == (5, 2, [2, 3])
    assert repr(cands) == "CandidateSet(5 candidates for 2 sources (2 to 3 each))"
    assert cands == pickle.loads(pickle.dumps(cands))
    assert cands != replace(cands, tags=["s"] * 5)
    assert CandidateSet([0], ["a"]).tags == ("",)
    assert repr(CandidateSet([], [])) == "CandidateSet(0 candidates for 0 sources)"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"segment": [0, 1, 0, 1, 1]}, "candidate 2 is for segment 0, after one for 1; sort them"),
        ({"segment": [0, 0, 2, 2, 2]}, r"source 1 has no candidate \(1 such of 3\)"),
        ({"segment": [1, 1, 1, 1, 1]}, "source 0 has no candidate"),
        ({"segment": [0, 0, 0, 0, 10**15]}, "source 1 has no candidate"),
        ({"segment": [-1, 0, 0, 0, 0]}, "candidate 0 names segment -1"),
        ({"segment": [0.0] * 5}, "flat array of integers"),
        ({"texts": ["a"]}, "texts has 1 entries, but there are 5"),
        ({"texts": ["a", "b", 3, "d", "e"]}, "text 2 of texts is 3, not a text"),
        ({"ids": list("vwxyw")}, "candidate id 'w' is used twice"),
        (
            {"multiplicity": [1, 2, 0, 1, 1]},
            "multiplicity of candidate 2 is 0; what was drawn, was at least once",
        ),
        (
            {"multiplicity": [1, 2]},
            r"multiplicity must be 5 whole numbers, got shape \(2,\) of int64",
        ),
        ({"multiplicity": [1.0] * 5}, r"got shape \(5,\) of float64"),
        (
            {"logprob": [-1.0, 0.1, -1, -1, -1]},
            "logprob of candidate 1 is 0.1; a log-probability is at most 0, or nan",
        ),
        ({"logprob": [-np.inf] * 5}, "logprob of candidate 0 is -inf"),
        ({"logprob": [-1.0]}, r"logprob must be 5 numbers, got shape \(1,\)"),
    ],
)
def test_a_bad_candidate_set_is_told(cands, change, sentence):
    with pytest.raises(DataError, match=sentence):
        replace(cands, **change)


def test_the_number_of_sources_can_be_required(cands):
    assert cands.require(2) is cands
    with pytest.raises(DataError, match="source 2 has no candidate"):
        cands.require(3)
    with pytest.raises(DataError, match="segments 0 to 0"):
        cands.require(1)


def test_duplicates_are_merged_and_keep_all_tags(cands):
    once = cands.deduplicated()
    assert once.texts == ("a", "b", "a", "b")
    assert once.segment.tolist() == [0, 0, 1, 1]
    assert once.tags == ("s", "t", "s | u", "")
    assert once.ids == ("v", "w", "x", "y")
    assert once.notes == ("1 of 5 candidates repeats an earlier one of its source.",)
    assert once.deduplicated() is once
    joined = CandidateSet([0, 0], ["a", "a"], ["A | B", "B"]).deduplicated()
    assert joined.tags == ("A | B",)


def test_a_mask_takes_what_it_marks():
    cands = CandidateSet([0, 0, 0], ["a", "b", "c"])
    assert cands.take(np.array([True, False, True])).texts == ("a", "c")
    assert cands.take([2, 0]).texts == ("a", "c")
    for rows in ([3], [0.9], [True, False]):
        with pytest.raises(DataError, match="no such candidates, there are 0 to 2"):
            cands.take(rows)


def test_how_often_and_how_probable_belong_to_a_candidate(cands):
    assert cands.multiplicity.tolist() == [1] * 5
    assert np.isnan(cands.logprob).all()
    drawn = replace(cands, multiplicity=[3, 1, 2, 1, 4], logprob=[-1.0, -2.0, -3.0, np.nan, -3.0])
    assert not drawn.multiplicity.flags.writeable
    assert drawn == pickle.loads(pickle.dumps(drawn))
    assert drawn != replace(drawn, multiplicity=[3, 1, 2, 1, 5])
    assert drawn != replace(drawn, logprob=[-1.0, -2.0, -3.0, -4.0, -3.0])
    some = drawn.take([0, 3, 4])
    assert (some.multiplicity.tolist(), some.logprob[[0, 2]].tolist()) == ([3, 1, 4], [-1, -3])
    once = drawn.deduplicated()
    assert (once.texts, once.multiplicity.tolist()) == (("a", "b", "a", "b"), [3, 1, 6, 1])
    assert once.logprob[:3].tolist() == [-1, -2, -3]
    assert np.isnan(once.logprob[3])
    both = drawn.merge(CandidateSet([0, 1], ["p", "q"], multiplicity=[7, 8], logprob=[-5.0, -6.0]))
    assert both.multiplicity.tolist() == [3, 1, 7, 2, 1, 4, 8]
    assert both.logprob[[2, 6]].tolist() == [-5, -6]


def test_copies_of_a_text_keep_a_log_probability_that_they_agree_on():
    def merged(*logprobs):
        return (
            CandidateSet([0] * len(logprobs), ["a"] * len(logprobs), logprob=logprobs)
            .deduplicated()
            .logprob[0]
        )

    assert merged(-1.0, np.nan, -1.0) == -1
    assert np.isnan(merged(-1.0, -2.0))
    assert np.isnan(merged(np.nan, np.nan))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.integers(1, 3))
def test_repeating_and_merging_undo_each_other(multiplicity, n_segments):
    n = len(multiplicity)
    segment = np.sort(np.arange(n) % min(n, n_segments))
    cands = CandidateSet(
        segment, [str(i) for i in range(n)], ["t"] * n, None, (), multiplicity, -np.arange(n) / 2
    )
    long = cands.repeated()
    assert len(long) == sum(multiplicity)
    assert (long.multiplicity == 1).all()
    assert np.bincount(long.segment).tolist() == np.bincount(segment, multiplicity).tolist()
    assert long.deduplicated() == cands
    assert long.repeated() is long


def test_merging_keeps_sources_together(cands):
    other = CandidateSet([0, 1], ["p", "q"], ["new", "new"], notes=["From elsewhere."])
    both = cands.merge(other)
    assert both.texts == ("a", "b", "p", "a", "b", "a", "q")
    assert both.segment.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert (both.ids, both.notes) == (None, ("From elsewhere.",))
    with pytest.raises(DataError, match="for 2 sources and the other for 1"):
        cands.merge(CandidateSet([0], ["p"]))
    with pytest.raises(DataError, match="'v' is used twice"):
        cands.merge(cands)


def test_blanks_can_be_left_out():
    cands = CandidateSet([0, 0, 1], ["a", " ", "b"])
    assert cands.without_blanks().texts == ("a", "b")
    assert cands.without_blanks().notes == ("1 blank candidate of 3 left out.",)
    with pytest.raises(DataError, match="source 1 is left without a candidate"):
        replace(cands, texts=["a", "b", ""]).without_blanks()
