"""Words as integers: a vocabulary that grows with the texts, and the tokens of each of its words.

Where a tokenizer commutes with splitting at white space, each distinct word is tokenised once, however often it occurs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._numba import compiled
from .encode import WHITESPACE, code_points

# its last entry stands for every code point beyond
SPACE = np.isin(np.arange(WHITESPACE.max() + 2), WHITESPACE)


class Vocabulary:
    """Every distinct word seen so far as a number; equal numbers mean words that are equal character by character.

    Parameters
    ----------
    split : (pool, begin, words) -> texts with spaces between the tokens of each of the words, as encode.code_points has
        them; word w is pool[begin[w]:begin[w + 1]]. None: every word is its own token.
    marks : ASCII characters; only a word with one of them is given to `split`, any other is its own token.
    """

    def __init__(self, split: Callable | None = None, marks: str = ""):
        self._split = split
        # the last entry: no ASCII
        self._marks = np.isin(np.arange(129), [ord(mark) for mark in marks])
        self._slots = np.full(2**12, -1, dtype=np.int32)
        self._begin = np.zeros(2**11 + 1, dtype=np.int64)
        self._pool = np.empty(2**14, dtype=np.uint32)
        self._size = 0
        self._tokens = np.empty(0, dtype=np.uint32)
        # of word w: _tokens[_token_begin[w]:_token_begin[w + 1]]
        self._token_begin = np.zeros(1, dtype=np.int64)

    def tokens(self, texts: list[str], joined: str | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The tokens of all texts as one read-only uint32 array, and the (n+1,) int64 offsets of the texts in it.

        `joined` is "".join(texts), where the caller has it already.
        """
        ids, starts = self._words(*code_points(texts, joined))
        if self._split is not None:
            # tokens are words too, and some of them new
            while len(self._token_begin) <= self._size:
                self._learn()
            ids, starts = _expand(ids, starts, self._tokens, self._token_begin)
        ids.flags.writeable = False
        return ids, starts

    def _words(self, codes: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        known = (self._slots, self._begin, self._pool, self._size)
        ids, starts, self._slots, self._begin, self._pool, self._size = _scan(
            codes, starts, SPACE, *known
        )
        return ids, starts

    def _learn(self) -> None:
        """Find the tokens of all words that came since the last time."""
        low, high = len(self._token_begin) - 1, self._size
        marked = _marked(self._pool, self._begin, low, high, self._marks)
        # a vocabulary without rules of splitting has nothing to learn
        assert self._split is not None
        codes, starts = self._split(self._pool, self._begin, low + np.flatnonzero(marked))
        codes.flags.writeable = False
        tokens, starts = self._words(codes, starts)
        counts = np.ones(high - low, dtype=np.int64)
        counts[marked] = np.diff(starts)
        new = np.repeat(np.arange(low, high, dtype=np.uint32), counts)
        new[np.repeat(marked, counts)] = tokens
        self._token_begin = np.append(self._token_begin, self._token_begin[-1] + np.cumsum(counts))
        self._tokens = np.append(self._tokens, new)


@compiled
def _scan(codes, starts, space, slots, begin, pool, size):
    """Split every text at white space and look each word up, or add it; return numbers and the vocabulary's arrays."""
    ids = np.empty((codes.size + starts.size) // 2 + 1, np.uint32)
    word_starts = np.zeros(starts.size, np.int64)
    n = np.int64(0)
    for i in range(starts.size - 1):
        length = starts[i + 1] - starts[i]
        most = size + length // 2 + 1  # words, if all in this text were new
        if most + 1 > begin.size:
            begin = _longer(begin, most)
        if begin[size] + length > pool.size:
            pool = _longer(pool, pool.size + length)
        if 2 * most > slots.size:
            slots = _slots(most, begin, pool, size)
        n, size = _scan_text(
            codes, starts[i], starts[i + 1], space, slots, begin, pool, size, ids, word_starts[i]
        )
        word_starts[i + 1] = n
    return ids[:n], word_starts, slots, begin, pool, size


@compiled
def _longer(array, more):
    """A copy with room for more entries."""
    out = np.empty(array.size + more, array.dtype)
    for i in range(array.size):
        out[i] = array[i]
    return out


@compiled
def _scan_text(codes, begin_text, end_text, space, slots, begin, pool, size, ids, n):
    """Write the numbers of one text's words to ids[n:]; return the next n, and the vocabulary's size."""
    last = np.uint32(space.size - 1)
    one = np.uint64(1)
    j, end = np.uint64(begin_text), np.uint64(end_text)
    n = np.uint64(n)
    while True:
        while j < end and space[min(codes[j], last)]:
            j += one
        if j >= end:
            break
        first, key = j, np.uint64(0)
        while j < end and not space[min(codes[j], last)]:
            key = (key ^ np.uint64(codes[j])) * np.uint64(0x9E3779B97F4A7C15)
            j += one
        slot = _find(key, codes, first, j, slots, begin, pool)
        if slots[slot] < 0:
            slots[slot] = size
            at = begin[size]
            for k in range(j - first):
                pool[at + k] = codes[first + k]
            size += 1
            begin[size] = at + np.int64(j - first)
        ids[n] = slots[slot]
        n += one
    return np.int64(n), size


@compiled
def _find(key, codes, first, end, slots, begin, pool):
    """The slot of the word codes[first:end], or the empty slot where it belongs."""
    mask = np.uint64(slots.size - 1)
    slot = (key >> np.uint64(32)) & mask
    length = end - first
    while True:
        word = np.int64(slots[slot])
        if word < 0:
            return slot
        at = np.uint64(begin[np.uint64(word)])
        if np.uint64(begin[np.uint64(word + 1)]) - at == length:
            different = np.uint32(0)
            for k in range(length):
                different |= pool[at + k] ^ codes[first + k]
            if different == 0:
                return slot
        slot = (slot + np.uint64(1)) & mask


@compiled
def _slots(most, begin, pool, size):
    """Four slots, at least, for each of `most` words, with every word in its place."""
    n = 1
    while n < 4 * most:
        n *= 2
    slots = np.full(n, -1, np.int32)
    for word in range(size):
        key = np.uint64(0)
        for k in range(begin[word], begin[word + 1]):
            key = (key ^ np.uint64(pool[k])) * np.uint64(0x9E3779B97F4A7C15)
        first, end = np.uint64(begin[word]), np.uint64(begin[word + 1])
        slots[_find(key, pool, first, end, slots, begin, pool)] = word
    return slots


@compiled
def _marked(pool, begin, low, high, marks):
    """Which of the words low to high hold one of the marks."""
    found = np.zeros(high - low, np.bool_)
    last = np.uint32(marks.size - 1)
    for word in range(low, high):
        for k in range(begin[word], begin[word + 1]):
            found[word - low] |= marks[min(pool[k], last)]
    return found


@compiled
def _expand(words, starts, tokens, token_begin):
    """Replace every word by its tokens."""
    n = 0
    for word in words:
        n += token_begin[word + 1] - token_begin[word]
    out, out_starts = np.empty(n, np.uint32), np.zeros(starts.size, np.int64)
    n = 0
    for i in range(starts.size - 1):
        for j in range(starts[i], starts[i + 1]):
            for k in range(token_begin[words[j]], token_begin[words[j] + 1]):
                out[n] = tokens[k]
                n += 1
        out_starts[i + 1] = n
    return out, out_starts
