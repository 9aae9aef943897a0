"""The kernels against slow and obvious counting: no outside program, odd sizes, and the limits of the tables."""

import os
from collections import Counter
from itertools import product

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from anhelpers._lazy import compiled, cores
from anhelpers.accuracy import bleu, chrf, surface

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
def test_matches_equal_counting(segments, n_refs, order):
    skipped = np.array([3], dtype=np.uint32)
    hyps = [hyp for group, _ in segments for hyp in group]
    refs = [ref for _, two in segments for ref in two[:n_refs]]
    groups = np.cumsum([0, *(len(group) for group, _ in segments)])
    lengths, ref_lengths, matches = chrf._clipped_matches(
        flat(hyps), flat(refs), groups, order, skipped
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


def test_more_candidates_than_lanes(rng):
    refs = [rng.integers(0, 5, 40).tolist()]
    hyps = [rng.integers(0, 6, rng.integers(0, 50)).tolist() for _ in range(150)]
    _, _, matches = chrf._clipped_matches(flat(hyps), flat(refs), np.array([0, 150]), 6)
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
    lengths, ref_lengths, matches = chrf._clipped_matches(
        flat([hyp, [1]]), flat([ref]), groups, 6, skipped
    )
    assert lengths.tolist() == [len(hyp), 1]
    assert ref_lengths.tolist() == [len(ref)]
    assert matches.tolist() == [by_counting(hyp, [ref], 6), by_counting([1], [ref], 6)]


def test_white_space_is_that_of_split():
    assert chrf._WHITESPACE.tolist() == [c for c in range(0x110000) if not chr(c).split()]


_BLEU, _CHRF = sacrebleu.BLEU(), sacrebleu.CHRF(word_order=2)


def _words(texts, split):
    symbols, at = chrf._words(chrf._characters(texts), split)
    return symbols.tolist(), np.diff(at).tolist()


@given(st.lists(st.one_of(st.text(), st.text(alphabet="ab ,.1-/&;<\u3000\x1c")), max_size=9))
def test_words_are_equal_exactly_if_their_numbers_are(texts):
    for split, tokenise in (
        (bleu._split_nothing, str.split),
        (chrf._split_edges, _CHRF._remove_punctuation),
        (bleu._split_13a, lambda text: _BLEU.tokenizer(text).split()),
    ):
        cleaned = [bleu._clean(text) for text in texts] if split is bleu._split_13a else texts
        tokens = [tokenise(text) for text in texts]
        numbers, lengths = _words(cleaned, split)
        assert lengths == [len(of_text) for of_text in tokens]
        pairs = set(zip([t for of_text in tokens for t in of_text], numbers, strict=True))
        assert len(pairs) == len({t for t, _ in pairs}) == len({n for _, n in pairs})


def test_marks_are_split_off_as_by_sacrebleu():
    """All texts of up to 5 of the characters that 13a looks at, and of chrF++'s marks."""
    texts = ["".join(of) for n in range(1, 6) for of in product(".,1a- ", repeat=n)]
    _, lengths = _words(texts, bleu._split_13a)
    assert lengths == [len(_BLEU.tokenizer(text).split()) for text in texts]
    _, lengths = _words(texts, chrf._split_edges)
    remove = _CHRF._remove_punctuation
    assert lengths == [len(remove(text)) for text in texts]


def test_batches_bring_every_hypothesis_back_to_its_row(rng):
    segment = rng.integers(0, 9, 200)
    hyps = [f"{i}" * int(rng.integers(0, 5)) for i in range(200)]
    refs = [[f"a{s}" for s in range(9)], [f"b{s}" for s in range(9)]]
    seen = np.zeros(200, dtype=int)
    for batch in surface._batches(hyps, refs, segment, characters=40):
        for g, (a, b) in enumerate(zip(*batch.refs, strict=True)):
            for i in range(batch.groups[g], batch.groups[g + 1]):
                row = batch.rows[i]
                assert (batch.hyps[i], a, b) == (hyps[row], f"a{segment[row]}", f"b{segment[row]}")
                seen[row] += 1
    assert (seen == 1).all()


@pytest.mark.parametrize("name", ["chrf", "chrf++", "bleu"])
def test_threads_give_the_bits_of_one(name, rng):
    vocabulary = ["alt,", "Haus", "das", "3.5", "schön", "😀", "-", "(ja)"]
    texts = [" ".join(rng.choice(vocabulary, int(rng.integers(0, 9)))) for _ in range(300)]
    segment, refs = rng.integers(0, 40, 260), [texts[:40], texts[20:60]]
    found = []
    for n in (1, 3):
        counts = surface._functions(name, "de")[2]()
        batches = list(surface._batches(texts[40:], refs, segment, characters=200))
        found.append(surface._gather(counts, batches, n))
    assert (found[0] == found[1]).all()


@pytest.mark.parametrize(("said", "most"), [("1", 1), ("", 10**6), ("lots", 10**6), ("0", 1)])
def test_processors_are_those_given_or_fewer_where_that_is_said(said, most, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert 1 <= cores() <= min(most, os.cpu_count())


def test_without_a_cache_folder_kernels_still_compile():
    names = {}
    # code without a file is code that numba cannot cache
    exec("def twice(x):\n    return 2 * x", names)
    assert compiled(names["twice"])(21) == 42


@pytest.fixture
def rng():
    return np.random.default_rng(20241120)
