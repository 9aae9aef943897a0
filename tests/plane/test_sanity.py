"""Systems whose place on the plane is known."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

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
    with pytest.raises(UnknownName, match="unknown system 'B'"):
        with_sanity_systems(test, np.random.default_rng(0), "B")
    with pytest.raises(DataError, match="reference"):
        with_sanity_systems(replace(test, refs={}), np.random.default_rng(0))
