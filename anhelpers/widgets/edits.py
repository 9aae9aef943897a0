"""What was struck out of one translation, and what came in its place, to make another: words that are not in both.

Words are aligned by a longest common subsequence. The pages get places in the two texts, counted as JavaScript counts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

__all__ = ["ALMOST_ALL", "Edit", "in_utf16", "pieces", "word_edits"]

Edit: TypeAlias = tuple[int, int, int, int]
"""From where to where in the old text, and from where to where in the new one."""
ALMOST_ALL = 0.5
"""Above this share of changed words, marks say less than the two texts, one above the other."""
# scripts without spaces: each character counts as a word
CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
WORD = re.compile(f"[{CJK}—–]|[^\\s{CJK}—–]+")  # a dash without spaces parts two words


def word_edits(old: str, new: str) -> list[Edit] | None:
    """Where words of `old` were struck out and words of `new` came in; None where almost all of them changed.

    Changed are the words outside a longest common subsequence; a share above ALMOST_ALL of the words of both is
    almost all. In scripts without spaces each character is a word.

    >>> word_edits("the dog barks loudly", "the small dog barks")
    [(4, 4, 4, 9), (14, 20, 19, 19)]
    >>> word_edits("the dog", "a cat") is None
    True
    """
    a, b = list(WORD.finditer(old)), list(WORD.finditer(new))
    shared = _in_common([word.group() for word in a], [word.group() for word in b])
    if len(a) + len(b) - 2 * len(shared) > ALMOST_ALL * (len(a) + len(b)):
        return None
    edits, i, j = [], 0, 0
    for at, to in [*shared, (len(a), len(b))]:
        if at > i or to > j:
            edits.append((*_span(a, i, at, len(old)), *_span(b, j, to, len(new))))
        i, j = at + 1, to + 1
    return edits


def _span(words: Sequence[re.Match], first: int, end: int, length: int) -> tuple[int, int]:
    """From the first to the last of some words; of none, twice where the next one begins."""
    if first < end:
        return words[first].start(), words[end - 1].end()
    return (words[first].start(),) * 2 if first < len(words) else (length,) * 2


def _in_common(a: list[str], b: list[str]) -> list[tuple[int, int]]:
    """Places in `a` and `b` of a longest common subsequence (Hunt and Szymanski 1977)."""
    where = defaultdict(list)
    for j in range(len(b) - 1, -1, -1):
        where[b[j]].append(j)
    ends: list[int] = []  # of the common subsequences of k + 1 words: the earliest end in b
    chains: list[Any] = []  # and the one that has it
    for i, word in enumerate(a):
        for j in where.get(word, ()):
            k = bisect_left(ends, j)
            ends[k : k + 1], chains[k : k + 1] = [j], [(i, j, chains[k - 1] if k else None)]
    shared, chain = [], chains[-1] if chains else None
    while chain:
        *pair, chain = chain
        shared.append(tuple(pair))
    return shared[::-1]


def pieces(old: str, new: str, edits: Sequence[Edit]) -> Iterator[tuple[str, str]]:
    """("same", "gone" or "came", text) of all parts of both texts, in reading order.

    Parameters
    ----------
    old, new, edits : as of `word_edits`.

    >>> list(pieces("a dog", "a cat", [(2, 5, 2, 5)]))
    [('same', 'a '), ('gone', 'dog'), ('came', 'cat')]
    """
    at = 0
    for low, high, start, end in edits:
        for kind, part in (
            ("same", new[at:start]),
            ("gone", old[low:high]),
            ("came", new[start:end]),
        ):
            if part:
                yield kind, part
        at = end
    if at < len(new):
        yield "same", new[at:]


def in_utf16(old: str, new: str, edits: Sequence[Edit]) -> list[int]:
    """The four places of every edit one after the other, counted in UTF-16 units as JavaScript does.

    Parameters
    ----------
    old, new, edits : as of `word_edits`.

    >>> in_utf16("🐕 barks", "🐈 barks", [(0, 1, 0, 1)])
    [0, 2, 0, 2]
    """
    return [
        len(text[:place].encode("utf-16-le")) // 2
        for edit in edits
        for text, place in zip((old, old, new, new), edit, strict=True)
    ]
