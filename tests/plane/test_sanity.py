"""Rows whose place is known, and lines that do not belong to their segments."""

import os
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anhelpers.accuracy.align import check_alignment
from anhelpers.accuracy.surface import surface_metric
from anhelpers.data import TestSet, load
from anhelpers.errors import DataError, UnknownName
from anhelpers.plane import metric_axis, with_sanity_systems


def test_sanity_systems_are_what_they_are_called():
    test = load("teaching")
    more = with_sanity_systems(test, np.random.default_rng(0), "MT-Base")
    added = [s for s in more.systems if s not in test.systems]
    assert added == ["source copied", "references shuffled", "words shuffled (MT-Base)", "empty"]
    assert more.systems["source copied"] == test.srcs
    shuffled, refs = more.systems["references shuffled"], test.refs[test.reference]
    assert Counter(shuffled) == Counter(refs)
    assert not any(a == b for a, b in zip(shuffled, refs, strict=True))
    words = zip(more.systems["words shuffled (MT-Base)"], test.systems["MT-Base"], strict=True)
    assert all(sorted(a.split()) == sorted(b.split()) for a, b in words)
    axis = metric_axis(more, surface_metric("chrf", "de", len(test.refs)))
    means = dict(zip(more.systems, axis.score(axis.counts.sum(0)), strict=True))
    assert (
        means["empty"]
        == 0
        < means["source copied"]
        < means["references shuffled"]
        < means["MT-Base"]
    )
    assert {more.categories[s] for s in added} == {"control"}


def test_characters_are_shuffled_where_words_are_not_spaced():
    test = TestSet("t", "en-zh", ("a",), {"r": ("甲乙丙丁",)}, {"A": ("甲乙丙丁",)})
    text = with_sanity_systems(test, np.random.default_rng(0)).systems["words shuffled (A)"][0]
    assert sorted(text) == sorted("甲乙丙丁")
    for lp in ("en-zh_CN", "en-jpn", "en-lo"):
        regional = with_sanity_systems(replace(test, lp=lp), np.random.default_rng(0))
        assert regional.systems["words shuffled (A)"][0] == text
        assert not any("is A itself" in note for note in regional.notes)
    one_word = with_sanity_systems(replace(test, lp="zh-en"), np.random.default_rng(0))
    assert (
        "words shuffled (A) is A itself: none of its texts has two different words to change places."
        in one_word.notes
    )
    with pytest.raises(UnknownName, match="unknown system 'B'"):
        with_sanity_systems(test, np.random.default_rng(0), "B")
    with pytest.raises(DataError, match="t has no reference to shuffle"):
        with_sanity_systems(replace(test, refs={}), np.random.default_rng(0))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 38), st.sampled_from([1, 2, 3]), st.booleans())
def test_a_lost_or_added_line_is_found(where, lost, added):
    test = load("teaching")
    hyps = test.systems["MT-Tuned"]
    gap = ("",) * lost
    moved = (
        hyps[:where] + gap + hyps[where:-lost]
        if added
        else hyps[:where] + hyps[where + lost :] + gap
    )
    with pytest.raises(DataError, match=r"mine, from segment \d+: \d+ lines fit the reference"):
        check_alignment(replace(test, systems={"mine": moved}, categories={}))


def test_the_place_and_the_way_of_a_shift_are_told():
    test = load("teaching")
    hyps = test.systems["MT-Tuned"]
    moved = hyps[:20] + hyps[21:] + ("",)
    with pytest.raises(
        DataError, match=r"from segment 2[012]: \d+ lines fit the reference 1 segment later"
    ):
        check_alignment(replace(test, systems={"mine": moved}, categories={}))


def test_a_few_lines_that_repeat_do_not_hide_a_shift():
    refs = tuple(" ".join(f"{chr(97 + i % 26)}{i}{k}" for k in range(8)) for i in range(30))
    half = [ref[: len(ref) // 2] for ref in refs]
    # 8 lines fit the next, 4 the second last
    hyps = [*refs[:5], *half[6:14], *refs[13:20], *refs[18:22], *refs[24:]]
    test = TestSet("t", "en-de", ("",) * 30, {"r": refs}, {"A": tuple(hyps)})
    with pytest.raises(
        DataError, match=r"A, from segment 6: 8 lines fit the reference 1 segment later"
    ):
        check_alignment(test)


def test_good_files_and_files_without_a_reference_pass():
    test = load("teaching")
    assert check_alignment(test) is test
    assert check_alignment(replace(test, refs={})).refs == {}


@pytest.mark.real
@pytest.mark.skipif(
    "ANHELPERS_DATA" not in os.environ, reason="set ANHELPERS_DATA to the shared data sets"
)
@pytest.mark.parametrize("name", ["wmt23/en-de", "wmt24/en-de", "wmt24/ja-zh"])
def test_no_real_system_is_called_shifted(name):
    test = load(name)
    assert check_alignment(test) is test
