"""The kernels against slow and obvious counting: no outside program, odd sizes, and the limits of the tables."""

import os
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anhelpers._numba import compiled, cores
from anhelpers.accuracy import encode, ngrams, words
from anhelpers.accuracy.surface import surface
from anhelpers.accuracy.words import Vocabulary
from anhelpers.errors import DataError

SYMBOLS = st.lists(st.integers(0, 4) | st.sampled_from([70, 0x3000, 0x1F600]), max_size=30)


def flat(texts):
    starts = np.cumsum([0, *map(len, texts)])
    symbols = np.array([s for text in texts for s in text], dtype=np.uint32)
    symbols.flags.writeable = False
    return symbols, starts


def ngram_counts(text, n):
    return Counter(tuple(text[i : i + n]) for i in range(len(text) - n + 1))


def by_counting(hyp, refs, order):
    """Count with dictionaries, straight from the definition: clip by the largest count in any one reference."""
    matches = []
    for n in range(1, order + 1):
        limit = Counter()
        for ref in refs:
            limit |= ngram_counts(ref, n)
        matches.append((ngram_counts(hyp, n) & limit).total())
    return matches


@pytest.mark.verifies("chrF", "chrF++", "BLEU", by="property")
@given(
    st.lists(st.tuples(st.lists(SYMBOLS, max_size=6), st.tuples(SYMBOLS, SYMBOLS)), max_size=4),
    st.integers(1, 2),
    st.integers(1, 6),
)
@settings(deadline=None)  # the first call compiles
def test_matches_equal_counting(segments, n_refs, order):
    skipped = np.array([3], dtype=np.uint32)
    hyps = [hyp for group, _ in segments for hyp in group]
    refs = [ref for _, two in segments for ref in two[:n_refs]]
    groups = np.cumsum([0, *(len(group) for group, _ in segments)])
    lengths, ref_lengths, matches = ngrams.clipped_matches(
        flat(hyps), flat(refs), groups, skipped=skipped, order=order
    )
    kept = [[s for s in hyp if s != 3] for hyp in hyps]
    kept_refs = [[s for s in ref if s != 3] for ref in refs]
    assert lengths.tolist() == [len(hyp) for hyp in kept]
    assert ref_lengths.tolist() == [len(ref) for ref in kept_refs]
    of_group = np.repeat(np.arange(len(segments)), np.diff(groups))
    for i, g in enumerate(of_group):
        assert matches[i].tolist() == by_counting(
            kept[i], kept_refs[g * n_refs : (g + 1) * n_refs], order
        )


@given(SYMBOLS, st.lists(SYMBOLS, min_size=1, max_size=3), st.integers(1, 6))
@settings(deadline=None)
def test_sorting_equals_counting(hyp, refs, order):
    texts = [np.array(text, dtype=np.uint32) for text in (hyp, *refs)]
    assert ngrams.matches_by_sorting(texts, order) == by_counting(hyp, refs, order)


def test_more_candidates_than_lanes(rng):
    refs = [rng.integers(0, 5, 40).tolist()]
    hyps = [rng.integers(0, 6, rng.integers(0, 50)).tolist() for _ in range(150)]
    _, _, matches = ngrams.clipped_matches(
        flat(hyps), flat(refs), np.array([0, 150]), skipped=np.empty(0, np.uint32), order=6
    )
    assert matches.tolist() == [by_counting(hyp, refs, 6) for hyp in hyps]


@pytest.mark.parametrize(
    ("hyp", "ref"),
    [
        pytest.param([7] * 70_000, [7] * 70_000, id="counts beyond int16"),
        pytest.param([1, 2] * 20_000, [1, 2, 3], id="only the candidate is long"),
        pytest.param([1, 2, 3], [*range(70_000)], id="more symbols than uint16 can name"),
        pytest.param([5, 6, 7], [*range(12_000)], id="more states than uint16 can name"),
    ],
)
def test_texts_beyond_the_tables(hyp, ref):
    groups, skipped = np.array([0, 2]), np.empty(0, np.uint32)
    lengths, ref_lengths, matches = ngrams.clipped_matches(
        flat([hyp, [1]]), flat([ref]), groups, skipped=skipped, order=6
    )
    assert lengths.tolist() == [len(hyp), 1]
    assert ref_lengths.tolist() == [len(ref)]
    assert matches.tolist() == [by_counting(hyp, [ref], 6), by_counting([1], [ref], 6)]


def test_white_space_is_that_of_split():
    assert encode.WHITESPACE.tolist() == [c for c in range(0x110000) if not chr(c).split()]


@given(
    st.lists(st.text(), max_size=6),
    st.lists(st.text(alphabet="ab ,. \u3000\x1c", max_size=20), max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_words_are_equal_exactly_where_their_numbers_are(some, more):
    vocabulary = Vocabulary()
    parts = [vocabulary.tokens(texts) for texts in (some, more, some)]
    words = [word for texts in (some, more, some) for text in texts for word in text.split()]
    numbers = np.concatenate([ids for ids, _ in parts]).tolist()
    assert len(numbers) == len(words)
    assert len(set(zip(words, numbers, strict=True))) == len(set(words)) == len(set(numbers))
    assert np.diff(parts[1][1]).tolist() == [len(text.split()) for text in more]


def test_a_kernel_without_texts_is_python_too():
    # as with NUMBA_DISABLE_JIT=1
    known = (np.full(8, -1, np.int32), np.zeros(3, np.int64), np.empty(8, np.uint32))
    found = words._scan.py_func(
        np.empty(0, np.uint32), np.zeros(1, np.int64), words.SPACE, *known, 0
    )
    assert found[0].tolist() == []
    assert found[-1] == 0


def test_a_growing_vocabulary_keeps_its_numbers():
    vocabulary = Vocabulary()
    first, _ = vocabulary.tokens([" ".join(f"w{i}" for i in range(20_000))])
    again, _ = vocabulary.tokens([f"w{i}" for i in range(20_000)])
    assert first.tolist() == again.tolist() == list(range(20_000))


def test_batches_bring_every_hypothesis_back_to_its_row(rng):
    segment = rng.integers(0, 9, 200)
    hyps = [f"{i}" * int(rng.integers(0, 5)) for i in range(200)]
    refs = [[f"a{s}" for s in range(9)], [f"b{s}" for s in range(9)]]
    seen = np.zeros(200, dtype=int)
    for batch in encode.segment_batches(hyps, refs, segment, characters=40):
        for g, (a, b) in enumerate(zip(*batch.refs, strict=True)):
            for i in range(batch.groups[g], batch.groups[g + 1]):
                row = batch.rows[i]
                assert (batch.hyps[i], a, b) == (hyps[row], f"a{segment[row]}", f"b{segment[row]}")
                seen[row] += 1
    assert (seen == 1).all()


@pytest.mark.parametrize("name", ["chrf", "chrf++", "bleu", "ter"])
def test_threads_give_the_bits_of_one(name, rng, monkeypatch):
    vocabulary = ["alt,", "Haus", "das", "3.5", "schön", "😀", "-", "(ja)"]
    texts = [" ".join(rng.choice(vocabulary, int(rng.integers(0, 9)))) for _ in range(300)]
    segment, refs = rng.integers(0, 40, 260), [texts[:40], texts[20:60]]
    small = partial(encode.segment_batches, characters=200)
    monkeypatch.setattr(encode, "segment_batches", small)
    found, made = [], []
    for n in (1, 3):
        monkeypatch.setattr("anhelpers.accuracy.encode.cores", lambda n=n: n)
        definition = surface(name)

        def counter(make=definition.counter):
            made.append(name)
            return make()

        definition = replace(definition, counter=counter)
        found.append(definition.statistics(texts[40:], refs, segment))
    assert len(made) == 2 if name == "ter" else len(made) >= 2
    assert (found[0] == found[1]).all()


def test_threads_stop_where_a_batch_fails():
    begun = []

    def fail(item):
        begun.append(item)
        raise ValueError(item)

    with pytest.raises(ValueError, match="0"):
        list(encode._threaded(lambda: fail, range(10_000)))
    assert len(begun) < 10_000


@pytest.mark.parametrize(("said", "most"), [("1", 1), ("", 10**6), ("lots", 10**6), ("0", 1)])
def test_processors_are_those_given_or_fewer_where_that_is_said(said, most, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert 1 <= cores() <= min(most, os.cpu_count())


@pytest.mark.parametrize(
    ("hyps", "refs", "segment", "said"),
    [
        (["a"], [["a", "b"]], None, "lengths differ: hyps has 1, refs has 2"),
        (["a"], ["a"], None, "list of streams"),
        (["a"], [], None, "list of streams"),
        (["a", float("nan")], [["a", "b"]], None, "text 1 of hyps is nan, not a text"),
        (["a", "b"], [["a", 7]], None, "text 1 of reference stream 0 is 7"),
        (["a", "b"], [[None, 7]], None, "text 1 of reference stream 0 is 7"),
        (["a", "b"], [["a", "b"], ["a"]], None, "reference stream 1 has 1"),
        (["a"], [["a"]], [1], "candidate 0 names segment 1"),
    ],
)
def test_what_does_not_align_is_told(hyps, refs, segment, said):
    with pytest.raises(DataError, match=said):
        list(encode.segment_batches(hyps, refs, segment))


def test_without_a_cache_folder_kernels_still_compile():
    names = {}
    # code without a file is code that numba cannot cache
    exec("def twice(x):\n    return 2 * x", names)
    assert compiled(names["twice"])(21) == 42


@pytest.fixture
def rng():
    return np.random.default_rng(20241120)
