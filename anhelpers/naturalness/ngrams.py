"""A kernel for texts, the cosine of their character n-grams, and MMD² between a system's outputs and human text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from ..divergences.kernels import linear
from ..divergences.mmd import mmd2
from ..errors import DataError
from ..estimate import Estimate

__all__ = ["ORDERS", "ngram_features", "ngram_signature", "text_mmd"]

ORDERS = (1, 2, 3, 4, 5)
"""Lengths of the n-grams: from characters to about a word."""


def ngram_features(
    texts: Sequence[str], orders: Sequence[int] = ORDERS, *, normalise: bool = True
) -> sparse.csr_array:
    """Each text as the counts of its character n-grams, exact and not hashed, so that x · y is how alike two texts are.

    Case and punctuation count; white space is folded to one space, and none stands at the ends.

    Parameters
    ----------
    texts : N texts. Those to be compared must be given in one call: the columns are the n-grams of these texts.
    orders : lengths of the n-grams, each at least 1.
    normalise : each order's counts are scaled to unit length and then the whole row, so that x · y is the mean over
        orders of the cosine of two texts' counts, in [0, 1]; without it the frequent short n-grams would decide alone.
        (A text shorter than n has no n-gram of order n, and the orders that it has count more.) False: the counts.

    Returns
    -------
    (N, F) float64 CSR of F different n-grams, order after order. A text without any n-gram, such as a blank one, has
    an empty row.

    Raises
    ------
    DataError for orders that are not distinct whole numbers from 1.

    References
    ----------
    Leslie et al. 2002 for the spectrum kernel; its features have a linear kernel, so MMD compares mean profiles.

    >>> ngram_features(["aba", "ba"], [2], normalise=False).toarray().tolist()  # ab, ba
    [[1.0, 1.0], [0.0, 1.0]]
    """
    _check_orders(orders)
    symbols, row, left = _symbols([" ".join(text.split()) for text in texts])
    alphabet = int(symbols.max(initial=-1)) + 1
    at, grams, blocks = np.arange(len(symbols)), symbols, {}
    for n in range(1, max(orders) + 1):
        names, grams = np.unique(grams, return_inverse=True)
        if n in orders:
            blocks[n] = _counts(row[at], grams, (len(texts), len(names)), unit=normalise)
        longer = np.flatnonzero(left[at] > n)  # a longer n-gram is this one and the symbol after it
        at = at[longer]
        grams = grams[longer] * alphabet + symbols[at + n]
    features = sparse.hstack([blocks[n] for n in orders], format="csr")
    return _unit_rows(features) if normalise else features


def ngram_signature(orders: Sequence[int] = ORDERS) -> str:
    """What `ngram_features` does, for signatures."""
    return f"chars:{'+'.join(map(str, orders))}|case:mixed|space:folded|norm:order+text"


def text_mmd(hyps: Sequence[str], mono: Sequence[str], orders: Sequence[int] = ORDERS) -> Estimate:
    """MMD² of a system's outputs and text of the language under the kernel of character n-grams.

    It is the squared distance of the mean profiles of n-grams, 0 for equal means, so it sees spelling, words and short
    phrases, and neither longer order nor meaning. Topic and sentence length set it apart from 0 as well: compare a
    system with the human reference of the same sources against the same `mono`.

    Parameters
    ----------
    hyps, mono : texts of the system (q) and of the reference (r), at least 2 of each with an n-gram; others are left
        out and counted.
    orders : as in `ngram_features`.

    Returns
    -------
    Estimate without unit, in about [0, 2], unbiased: it may be negative and stays so. Its error and interval are those
    of `divergences.mmd.mmd2`, which takes texts as independent; `permutation_test` on the rows of
    `ngram_features([*hyps, *mono])` adds an exact p-value.

    References
    ----------
    Flamich et al. 2025, §4.1 and eq. 38; Gretton et al. 2012.
    """
    features = ngram_features([*hyps, *mono], orders)
    there = np.diff(features.indptr) > 0
    x, y = features[: len(hyps)][there[: len(hyps)]], features[len(hyps) :][there[len(hyps) :]]
    if min(x.shape[0], y.shape[0]) < 2:
        raise DataError(
            f"{x.shape[0]} texts of the system and {y.shape[0]} of the reference; at least 2 are "
            "needed."
        )
    estimate = mmd2(x, y, linear())
    parts = f"{ngram_signature(orders)}|{estimate.signature}"
    return replace(estimate, name="MMD² of n-grams", signature=parts, left_out=int((~there).sum()))


def _check_orders(orders: Sequence[int]) -> None:
    if not orders or len(set(orders)) < len(orders) or any(n != int(n) or n < 1 for n in orders):
        raise DataError(f"orders are {tuple(orders)}: give distinct whole numbers from 1.")


def _symbols(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every character of all texts in a row: its number, the text it is in, and how many are left from it on."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    symbols = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(codes))
    return symbols, np.repeat(np.arange(len(texts)), lengths), left


def _counts(
    row: np.ndarray, column: np.ndarray, shape: tuple[int, int], unit: bool
) -> sparse.csr_array:
    """How often each column occurs in each row; equal pairs are added up."""
    counts = sparse.coo_array((np.ones(len(row)), (row, column)), shape=shape).tocsr()
    return _unit_rows(counts) if unit else counts


def _unit_rows(features: sparse.csr_array) -> sparse.csr_array:
    """The rows scaled to unit length, in place; empty rows stay empty."""
    lengths = np.sqrt(np.asarray(features.multiply(features).sum(1)).ravel())
    features.data /= np.repeat(lengths, np.diff(features.indptr))
    return features
