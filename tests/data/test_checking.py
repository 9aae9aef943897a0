import os
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.data import TestSet, check, load


@given(st.integers(0, 38), st.sampled_from([1, 2, 3]), st.booleans())
def test_a_lost_or_added_line_is_found(where, lost, added):
    test = load("teaching")
    hyps = test.systems["MT-Tuned"]
    gap = ("",) * lost
    one, other = hyps[:where] + gap + hyps[where:-lost], hyps[:where] + hyps[where + lost :] + gap
    moved = one if added else other
    found = check(replace(test, systems={"mine": moved}, categories={}))
    assert "fit" in found[0]
    assert f"{lost} {'earlier' if added else 'later'}" in found[0]


def test_a_shifted_reference_and_shuffled_lines_are_told_apart():
    test = load("teaching")
    refs, hyps = test.refs[test.reference], test.systems["MT-Tuned"]
    shifted = check(replace(test, refs={"ref": (*refs[1:], refs[0])}))
    assert len(shifted) == 1
    assert "8 of 8 systems" in shifted[0]
    [shuffled] = check(replace(test, systems={**test.systems, "X": hyps[::-1]}))
    assert shuffled.startswith("X does not fit")
    many = TestSet("t", "en-de", test.srcs * 8, {"ref": refs * 8}, {"X": hyps * 3 + hyps[::-1] * 5})
    assert "lines match the reference no better" in check(many)[0]


def test_other_languages_equal_systems_and_blank_texts_are_reported():
    test = load("teaching")
    [told] = check(replace(test, lp="en-de", refs={**test.refs, "refC": test.srcs}))
    assert "refC" in told
    assert "English" in told
    assert len(check(replace(test, lp="en-fr"))) == len(test.refs) + len(test.systems)
    twin = replace(test, systems={**test.systems, "twin": test.systems["Online-P"]})
    assert check(twin) == ["Online-P and twin have the same texts throughout."]
    blank = replace(test, srcs=("", *test.srcs[1:]))
    assert check(blank) == ["the sources: 1 of 52 texts blank, first in line 1."]
    looped = replace(test, systems={**test.systems, "loop": ("so " * 9999, *test.srcs[1:])})
    assert "loop: line 1 has 29,997 characters" in check(looped)[-1]


@pytest.mark.parametrize("mark", "\u202e\u202b\u200f\u2066\u200b\ufeff\u00ad")
def test_invisible_characters_are_counted(mark):
    test = load("teaching")
    hyps = [hyp + mark * (i in (3, 7)) for i, hyp in enumerate(test.refs["refB"])]
    told = f"X: 2 of 52 texts with invisible characters, first U+{ord(mark):04X} in line 4."
    assert told in check(replace(test, systems={"X": hyps}, categories={}))
    joined = [hyp.replace("e", "e\u200c\u200d") for hyp in hyps[:3]]  # as in Persian or emoji
    assert check(TestSet("t", "en-fa", joined, {}, {"X": joined})) == []


@pytest.mark.parametrize("name", ["teaching/en-de", "teaching/de-en"])
def test_good_texts_give_no_warning(name):
    test = load(name)
    assert check(test) == check(test.subset(slice(10))) == check(replace(test, refs={})) == []
    assert check(TestSet("t", "en-de", ("a",), {"r": ("b",)}, {"A": ("c",)})) == []


@pytest.mark.real
@pytest.mark.skipif("ANHELPERS_DATA" not in os.environ, reason="set ANHELPERS_DATA")
@pytest.mark.parametrize("name", ["wmt23/en-de", "wmt24/en-de", "wmt24/ja-zh"])
def test_no_system_of_wmt_is_called_shifted_or_foreign(name):
    found = [one for one in check(load(name)) if not {"blank,", "invisible"} & {*one.split()}]
    assert found == (
        ["CycleL and CycleL2 have the same texts throughout."]
        * (name[-5:] == "en-de" and "24" in name)
    )
