"""The n-gram kernel against dictionaries, and MMD² against the definition of the U-statistic."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.errors import DataError
from anhelpers.naturalness.ngrams import ORDERS, ngram_features, text_mmd

TEXTS = st.lists(st.text(alphabet="ab ä🙂", max_size=12), min_size=1, max_size=6)
SOME_ORDERS = st.lists(st.integers(1, 4), min_size=1, max_size=3, unique=True)


def counts(text, n):
    text = " ".join(text.split())
    return Counter(text[i : i + n] for i in range(len(text) - n + 1))


def kernel(one, other, orders):
    """The mean cosine over the orders; a text without some order is scaled by those that it has."""
    dot, mine, yours = 0.0, 0, 0
    for n in orders:
        a, b = counts(one, n), counts(other, n)
        mine, yours = mine + bool(a), yours + bool(b)
        if a and b:
            lengths = math.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))
            dot += sum(v * b[g] for g, v in a.items()) / lengths
    return dot / math.sqrt(mine * yours) if mine and yours else 0.0


@pytest.mark.verifies("n-gram kernel and MMD² of texts", by="property")
@given(TEXTS, SOME_ORDERS)
def test_the_linear_kernel_of_the_rows_is_the_mean_cosine_of_counts(texts, orders):
    x = ngram_features(texts, orders)
    wanted = [[kernel(a, b, orders) for b in texts] for a in texts]
    np.testing.assert_allclose((x @ x.T).toarray(), wanted, atol=1e-14)


@given(TEXTS, SOME_ORDERS)
def test_raw_features_are_the_counts_and_every_column_is_used(texts, orders):
    x = ngram_features(texts, orders, normalise=False).toarray()
    dots = [
        [sum(v * counts(b, n)[g] for n in orders for g, v in counts(a, n).items()) for b in texts]
        for a in texts
    ]
    assert (x @ x.T).tolist() == dots
    assert x.shape[1] == sum(len({g for text in texts for g in counts(text, n)}) for n in orders)
    assert (x.sum(0) > 0).all()


@pytest.mark.verifies("n-gram kernel and MMD² of texts", by="hand")
def test_by_hand():
    """ab|ba of "aba" and "bab": the same bigrams; letters 2:1 and 1:2, cosine 4/5."""
    x = ngram_features(["aba", "bab"], (1, 2))
    assert float((x[[0]] @ x[[1]].T).toarray()[0, 0]) == pytest.approx((0.8 + 1) / 2, abs=1e-15)


def test_no_ngram_crosses_two_texts_and_space_is_folded():
    assert ngram_features(["ab", "cd"], [2], normalise=False).toarray().tolist() == [[1, 0], [0, 1]]
    assert ngram_features([" a \n b "], [3], normalise=False).shape == (1, 1)
    assert ngram_features(["", "a", " "], [2, 3]).nnz == 0
    assert ngram_features([], [2]).shape == (0, 0)


@pytest.mark.verifies("n-gram kernel and MMD² of texts", by="property")
def test_mmd_is_the_u_statistic_without_the_blank_texts():
    hyps, mono = ["aba", "", "abba", "bab a"], ["ccb", "abc", " ", "ca", "bcb"]
    said, written = [t for t in hyps if t], [t for t in mono if t.strip()]
    n, m = len(said), len(written)

    def total(some, others):
        return sum(
            kernel(a, b, ORDERS)
            for i, a in enumerate(some)
            for j, b in enumerate(others)
            if some is not others or i != j
        )

    wanted = total(said, said) / (n * (n - 1)) + total(written, written) / (m * (m - 1))
    wanted -= 2 * total(said, written) / (n * m)
    estimate = text_mmd(hyps, mono)
    assert estimate.value == pytest.approx(wanted, abs=1e-14)
    assert (estimate.n_q, estimate.n_r, estimate.left_out) == (3, 4, 2)
    assert estimate.signature.startswith(
        "chars:1+2+3+4+5|case:mixed|space:folded|norm:order+text|linear|U-statistic"
    )
    with pytest.raises(DataError):
        text_mmd(["a", ""], mono)


@pytest.mark.verifies("n-gram kernel and MMD² of texts", by="foreign", of="nltk, scipy")
@given(
    st.text(alphabet="abä🙂", min_size=3, max_size=12),
    st.text(alphabet="abä🙂", min_size=3, max_size=12),
)
def test_the_kernel_is_that_of_nltks_ngrams_and_scipys_cosine(one, other):
    nltk = pytest.importorskip("nltk", reason="pip install nltk")
    from scipy.spatial.distance import cosine

    wanted = []
    for n in (1, 2, 3):
        grams = [Counter(nltk.ngrams(text, n)) for text in (one, other)]
        names = sorted(set().union(*grams))
        wanted.append(1 - cosine(*([c[name] for name in names] for c in grams)))
    x = ngram_features([one, other], (1, 2, 3))
    assert float((x[[0]] @ x[[1]].T).toarray()[0, 0]) == pytest.approx(np.mean(wanted), abs=1e-12)
