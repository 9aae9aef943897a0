"""A translation cut into the words that it shares with another one and those that it does not."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate, groupby, pairwise
from typing import Any

__all__ = ["bounds", "cut", "word_parts"]

# scripts without spaces: each character counts as a word
CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
WORD = re.compile(f"[{CJK}]|[^\\s{CJK}]+")


def word_parts(text: str, base: str) -> list[str]:
    """`text` cut into parts that are in turn shared with `base` and not, by a longest common subsequence of words.

    >>> word_parts("the small dog barks", "the dog barks loudly")
    ['the ', 'small', ' dog barks']
    >>> word_parts("a cat", "the dog")
    ['', 'a cat']
    """
    words = list(WORD.finditer(text))
    shared = _in_common([w.group() for w in words], WORD.findall(base))
    parts, at = [""], 0
    for same, run in groupby(range(len(words)), key=shared.__contains__):
        run = list(run)
        if not same:
            parts[-1] += text[at : words[run[0]].start()]
            at = words[run[-1]].end()
            parts += [text[words[run[0]].start() : at], ""]
    parts[-1] += text[at:]
    return parts if parts[-1] or len(parts) == 1 else parts[:-1]


def _in_common(a: list[str], b: list[str]) -> set[int]:
    """Indices of the words of `a` in a longest common subsequence of `a` and `b` (Hunt and Szymanski 1977)."""
    where = defaultdict(list)
    for j in range(len(b) - 1, -1, -1):
        where[b[j]].append(j)
    ends: list[int] = []  # of the common subsequences of k + 1 words: the earliest end in b
    chains: list[Any] = []  # and the one that has it
    for i, word in enumerate(a):
        for j in where.get(word, ()):
            k = bisect_left(ends, j)
            ends[k : k + 1], chains[k : k + 1] = [j], [(i, chains[k - 1] if k else None)]
    shared, chain = set(), chains[-1] if chains else None
    while chain:
        i, chain = chain
        shared.add(i)
    return shared


def bounds(parts: Sequence[str]) -> list[int]:
    """Where the parts of a text meet, counted in UTF-16 units as JavaScript does; one part has no such place.

    >>> bounds(["the ", "small", " dog barks"])
    [4, 9]
    """
    return [end // 2 for end in accumulate(len(part.encode("utf-16-le")) for part in parts[:-1])]


def cut(text: str, bounds: Sequence[int]) -> list[str]:
    """The parts that meet at these places.

    Parameters
    ----------
    bounds : of the function of that name.

    >>> cut("the small dog barks", [4, 9])
    ['the ', 'small', ' dog barks']
    """
    units, ends = text.encode("utf-16-le"), [0, *bounds, len(text) * 2]
    return [units[2 * low : 2 * high].decode("utf-16-le") for low, high in pairwise(ends)]
