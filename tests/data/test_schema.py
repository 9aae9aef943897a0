import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.data import CandidateSet, TestSet
from anhelpers.errors import AnhelpersError, DataError, UnknownName


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


def test_a_test_set_holds_tuples(three):
    assert (len(three), three.src_lang, three.trg_lang, three.reference) == (3, "en", "de", "refA")
    assert three.categories == {"X": "unknown", "Y": "LLM"}
    assert three.refs["refB"] == ("A2", "B2", "C2")
    assert three.blanks == {"X": 2, "Y": 1}
    assert pickle.loads(pickle.dumps(three)) == three
    with pytest.raises(FrozenInstanceError):
        three.lp = "de-en"
    bare = TestSet("tiny", "en-de", ["a", "b"])
    assert (bare.docs, bare.domains, bare.reference) == (("0", "1"), ("all", "all"), None)


def test_missing_references_are_counted():
    refs = {"A": ("x", None, ""), "B": (" ", "[No translation supplied]", "z")}
    test = TestSet(
        "t", "en-de", ("a", "", "c"), refs, {"X": ("NO TRANSLATION AVAILABLE", "y", "z")}
    )
    assert (test.refs, test.n_refs) == ({"A": ("x", "", ""), "B": ("", "", "z")}, 1)
    assert test.streams == [["x", None, None], [None, None, "z"]]
    assert test.referenced.tolist() == [True, False, True]
    assert test.blanks == {"X": 1}
    assert TestSet("t", "en-de", ("a", "b"), {"A": ("x", "y"), "B": ("", "z")}).n_refs == "var"
    assert TestSet("t", "en-de", ("a",), {"A": ("",)}).n_refs == 0


def test_copies_of_a_reference_are_human():
    refs = {"refA": list("abcd"), "refB": list("efgh"), "none": [""] * 4}
    systems = {"copy": [" a", "b", "c ", "d"], "refB": list("efgx"), "refA": list("qrst")}
    test = TestSet("t", "en-de", list("1234"), refs, {**systems, "blank": [""] * 4})
    assert test.copies == {"copy": "refA", "refB": "refB"}
    assert {s for s, kind in test.categories.items() if kind == "human"} == {"copy", "refB"}


@pytest.mark.parametrize("index", [[2, 0], np.array([2, 0]), slice(None, None, -2)])
def test_a_subset_keeps_the_order_asked_for(three, index):
    part = three.subset(index)
    assert (part.srcs, part.refs["refA"], part.systems["X"]) == (("c", "a"), ("C", "A"), (" ", "x"))
    assert (part.docs, part.domains) == (("d2", "d1"), ("social", "news"))


def test_masks_and_empty_indices(three):
    assert three.subset([True, False, True]).srcs == ("a", "c")
    assert len(three.subset([])) == 0
    for index in ([3], [True, False], [0.5]):
        with pytest.raises(IndexError):
            three.subset(index)


def test_another_reference_comes_to_the_front(three):
    assert list(three.with_reference("refB").refs) == ["refB", "refA"]
    assert list(three.one_reference().refs) == ["refA"]
    assert list(three.without(["X"]).systems) == ["Y"]
    for call in (three.with_reference, lambda name: three.without([name])):
        with pytest.raises(UnknownName):
            call("refC")


@pytest.mark.parametrize(
    "change",
    [
        {"lp": "en-qq"},
        {"refs": {"refA": ["A"]}},
        {"srcs": ["a", 1, "c"]},
        {"docs": ["d"]},
        {"categories": {"X": "llm"}},
        {"categories": {"Z": "MT"}},
    ],
)
def test_an_undefined_test_set_is_refused(three, change):
    with pytest.raises(AnhelpersError):
        replace(three, **change)


def test_candidates_are_flat_and_may_be_ragged(cands):
    assert cands.segment.dtype == np.int64
    assert not cands.segment.flags.writeable
    assert (len(cands), cands.n_segments, cands.n_candidates.tolist()) == (5, 2, [2, 3])
    assert list(cands.by_source()) == [("a", "b"), ("a", "b", "a")]
    assert cands == pickle.loads(pickle.dumps(cands))
    assert cands != replace(cands, tags=["s"] * 5)
    assert (CandidateSet([0], ["a"]).tags, len(CandidateSet([], []))) == (("",), 0)
    assert cands.require(2) is cands
    for n in (1, 3):
        with pytest.raises(DataError):
            cands.require(n)


@pytest.mark.parametrize(
    "change",
    [
        {"segment": [0, 1, 0, 1, 1]},
        {"segment": [0, 0, 2, 2, 2]},
        {"texts": ["a"]},
        {"texts": ["a", "b", 3, "d", "e"]},
        {"ids": list("vwxyw")},
        {"multiplicity": [1, 2, 0, 1, 1]},
        {"logprob": [-1.0, 0.1, -1, -1, -1]},
    ],
)
def test_an_undefined_candidate_set_is_refused(cands, change):
    with pytest.raises(DataError):
        replace(cands, **change)


def test_candidates_are_taken_by_position_mask_tag_or_text():
    cands = CandidateSet([0, 0, 1], ["a", " ", "b"], ["X", "X | Y", ""])
    assert cands.take(np.array([True, False, True])).texts == ("a", "b")
    assert cands.take([2, 0]).texts == cands.without_blanks().texts == ("a", "b")
    assert cands.without(["X"]).texts == (" ", "b")
    assert cands.without(["Z"]) is cands
    for call in (lambda: cands.take([0, 1]), lambda: cands.without(["X", "Y"])):
        with pytest.raises(DataError):
            call()


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.integers(1, 3))
def test_repeating_keeps_how_often_a_text_occurs(multiplicity, n_segments):
    n = len(multiplicity)
    segment = np.sort(np.arange(n) % min(n, n_segments))
    texts, logprob = [str(i) for i in range(n)], -np.arange(n) / 2
    cands = CandidateSet(segment, texts, ["t"] * n, None, (), multiplicity, logprob)
    long = cands.repeated()
    assert (long.multiplicity == 1).all()
    assert np.bincount(long.segment).tolist() == np.bincount(segment, multiplicity).tolist()
    assert long.repeated() is long


TEXT = st.text(max_size=3)
SOURCES = st.lists(st.lists(TEXT, min_size=1, max_size=4), min_size=1, max_size=4)


@given(SOURCES, st.data())
def test_the_id_depends_on_the_distinct_texts_of_each_source_alone(sources, data):
    def flat(given):
        segment = np.repeat(np.arange(len(given)), [len(own) for own in given])
        return CandidateSet(segment, [text for own in given for text in own])

    cands = flat(sources)
    assert cands.id == flat([data.draw(st.permutations([*own, own[0]])) for own in sources]).id
    other = flat([[*sources[0], "another text"], *sources[1:]])
    assert cands.id != other.id
