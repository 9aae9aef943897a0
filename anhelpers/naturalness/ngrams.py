"""Divergence of a system and text of the language: MMD² of n-grams."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from .. import checks
from ..divergences.mmd import linear, mmd2
from ..estimate import Estimate

# Lengths of the n-grams: from characters to about a word.
ORDERS = (1, 2, 3, 4, 5)


def ngram_features(
    texts: Sequence[str], orders: Sequence[int] = ORDERS, *, normalise: bool = True
) -> sparse.csr_array:
    """Counts of the character n-grams of texts, so that x · y is the similarity of two texts.

    Case and punctuation count; white space becomes one space, and is removed at both ends.

    Parameters
    ----------
    texts : N texts. Give those to be compared in one call: the columns are the n-grams of these texts.
    orders : distinct lengths of the n-grams, from 1.
    normalise : bool
        Scale each order's counts, then the row, to unit length, so that x · y is the mean over orders of the cosine of
        two texts' counts, in [0, 1]; otherwise the frequent short n-grams would decide. False: the counts.

    Returns
    -------
    (N, F) float64 CSR, order after order. A text without an n-gram has an empty row.

    References
    ----------
    Leslie et al. 2002 for the spectrum kernel; its features have a linear kernel, so MMD compares mean profiles.

    >>> ngram_features(["aba", "ba"], [2], normalise=False).toarray().tolist()  # ab, ba
    [[1.0, 1.0], [0.0, 1.0]]
    """
    orders = [checks.whole("orders", n) for n in orders]
    symbols, row, left = _symbols([" ".join(text.split()) for text in texts])
    alphabet = int(symbols.max(initial=-1)) + 1
    at, grams, blocks = np.arange(len(symbols)), symbols, {}
    for n in range(1, max(orders) + 1):
        names, grams = np.unique(grams, return_inverse=True)
        if n in orders:
            cells = (np.ones(len(at)), (row[at], grams))
            counts = sparse.coo_array(cells, shape=(len(texts), len(names))).tocsr()
            blocks[n] = _unit_rows(counts) if normalise else counts
        # a longer n-gram is this one and the next symbol
        longer = np.flatnonzero(left[at] > n)
        at = at[longer]
        grams = grams[longer] * alphabet + symbols[at + n]
    features = sparse.hstack([blocks[n] for n in orders], format="csr")
    return _unit_rows(features) if normalise else features


def text_mmd(hyps: Sequence[str], mono: Sequence[str], orders: Sequence[int] = ORDERS) -> Estimate:
    """MMD² of a system's outputs and text of the language under the kernel of character n-grams.

    It is the squared distance of the mean profiles of n-grams, so it measures spelling, words and short phrases, not
    longer order or meaning. Topic and sentence length change it too: compare a system with the human reference of the
    same sources against the same `mono`.

    Parameters
    ----------
    hyps, mono : texts of the system (q) and of the reference (r), at least 2 of each with an n-gram; others are left
        out and counted.
    orders : as in `ngram_features`.

    Returns
    -------
    Estimate without unit, unbiased, so it may be negative, with the error and interval of `divergences.mmd.mmd2`,
    which takes texts as independent.

    References
    ----------
    Flamich et al. 2025, §4.1 and eq. 38; Gretton et al. 2012.
    """
    features = ngram_features([*hyps, *mono], orders)
    there = np.diff(features.indptr) > 0
    x, y = features[: len(hyps)][there[: len(hyps)]], features[len(hyps) :][there[len(hyps) :]]
    estimate = mmd2(x, y, linear())
    parts = f"chars:{'+'.join(map(str, orders))}|case:mixed|space:folded|norm:order+text"
    signature = f"{parts}|{estimate.signature}"
    left_out = int((~there).sum())
    return replace(estimate, name="MMD² of n-grams", signature=signature, left_out=left_out)


def _symbols(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every character of all texts: its number, its text, and the characters left from it on."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    symbols = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(codes))
    return symbols, np.repeat(np.arange(len(texts)), lengths), left


def _unit_rows(features: sparse.csr_array) -> sparse.csr_array:
    """The rows scaled to unit length, in place; empty rows stay empty."""
    lengths = np.sqrt(np.asarray(features.multiply(features).sum(1)).ravel())
    features.data /= np.repeat(lengths, np.diff(features.indptr))
    return features
