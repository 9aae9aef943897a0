"""What a critic reads of a text: its tokens, and n-grams of them at two grains, in which content is masked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data.languages import short_code

__all__ = ["Grams", "Hits", "Shape", "critic_tokens", "ngrams"]

MOST_SEEN = 2**17  # tokens of earlier texts whose forms are kept
START, END = "<s>", "</s>"  # no token of a text has two signs, unless it is a word
SAME_SIGNS = [  # marks in pairs first: two ` are one quotation mark
    (re.compile("[„“”«»‟\"]|[’‘‚`´']{2}"), '"'),
    (re.compile("[’‘‚`´]"), "'"),
    (re.compile("…"), "..."),
    (re.compile("(?:^|\\s)[–—−-]+(?=\\s|$)|--+|—"), " - "),
]
"""Quotes, dashes and dots betray who typed a text and not how it is put, so all forms of one sign become one."""
ODD_SIGN = re.compile("[„“”«»‟’‘‚`´…–—−]")
ODD_PAIRS = "--", "''"  # without these and those, the tokens are those of the text as it is
TOKEN = re.compile(r"#[A-Z_\-]+#|\d+(?:[.,:]\d+)*|\w+(?:['-]\w+)*|\.\.+|[^\w\s]")
LAST = frozenset((".", "!", "?", "...", '"'))
"""Signs at the end of a text are not read: whether a line is a sentence or a headline is no matter of naturalness."""


@dataclass(frozen=True)
class Shape:
    """What of a text the critic reads: n-grams at two grains, once with masked words bare, once with their outline.

    Parameters
    ----------
    order : tokens of the longest n-gram.
    lengths : ascending numbers of letters; the outline of a masked word says how many of them it exceeds.
    ending : last letters that the outline of a masked word in lower case shows, where it is longer than 4.
    """

    order: int = 2
    lengths: tuple[int, ...] = (5, 8, 12)
    ending: int = 2


def critic_tokens(text: str, language: str) -> list[str]:
    """Words, numbers and signs of a text; forms of one sign are made the same, in German ß and ss as well.

    Parameters
    ----------
    language : of the text, an ISO 639 code.

    >>> critic_tokens("„Daß“ – na ja…", "de")
    ['"', 'Dass', '"', '-', 'na', 'ja', '...']
    """
    text = unicodedata.normalize("NFC", text)
    if ODD_SIGN.search(text) or any(pair in text for pair in ODD_PAIRS):
        for form, sign in SAME_SIGNS:
            text = form.sub(sign, text)
    return TOKEN.findall(text.replace("ß", "ss") if short_code(language) == "de" else text)


def ngrams(
    tokens: Sequence[str], words: frozenset[str], shape: Shape
) -> Iterator[tuple[str, range]]:
    """Each n-gram of a text as the critic reads it, and the tokens that it stands on.

    A word that is not kept becomes N if capitalised and x if not, a number 0. The second grain gives what is new with
    the outlines of masked words. The signs that end the text are not read; its start and its end are.

    Parameters
    ----------
    tokens : of `critic_tokens`. words : those that are kept. shape : of the n-grams.

    >>> [gram for gram, _ in ngrams(["Das", "Rechnen", "lernte", "er"], frozenset({"das", "er"}), Shape())][:5]
    ['das', 'N', 'x', 'er', '<s> das']
    """
    inner = tokens[: _read(tokens)]
    forms = [(START, START), *(_masked(token, words, shape) for token in inner), (END, END)]
    for grain in (0, 1):
        for k in range(1, shape.order + 1):
            # a start or an end alone is none
            for i in range(len(forms) - k + 1) if k > 1 else range(1, len(forms) - 1):
                coarse, gram = (" ".join(form[g] for form in forms[i : i + k]) for g in (0, grain))
                if grain == 0 or coarse != gram:
                    yield gram, range(max(i - 1, 0), min(i + k - 1, len(inner)))


def _read(tokens: Sequence[str]) -> int:
    """How many tokens are read: all but the signs at the end."""
    n = len(tokens)
    while n and tokens[n - 1] in LAST:
        n -= 1
    return n


def _masked(token: str, words: frozenset[str], shape: Shape) -> tuple[str, str]:
    """A token at both grains."""
    first = token[0]
    if first.isdigit():
        return "0", "0"
    if not first.isalpha():
        return ("N", "N") if first == "#" and len(token) > 1 else (token, token)
    lower = token.lower()
    if lower in words:
        return lower, lower
    bare = "N" if first.isupper() else "x"
    ending = f"-{lower[-shape.ending :]}" if bare == "x" and shape.ending and len(token) > 4 else ""
    return bare, f"{bare}{sum(len(token) > most for most in shape.lengths)}{ending}"


class Hits(NamedTuple):
    """Known n-grams in texts, each once: (n,) its text, ascending, its number and how often it stands there; (texts,)
    whether the text has a word.
    """

    text: np.ndarray
    gram: np.ndarray
    times: np.ndarray
    worded: np.ndarray


class Grams:
    """Known n-grams, which are looked up in many texts at once.

    Parameters
    ----------
    known : n-grams of at most `shape.order` tokens, at least one; their numbers are their places here.
    words, shape : as in `ngrams`.
    """

    _seen: _Numbers
    _tokens: np.ndarray  # (len(_seen) or more, 4), of `_told`

    def __init__(self, known: Collection[str], words: frozenset[str], shape: Shape):
        self._words, self._shape = words, shape
        self._form: dict[str, int] = {}  # of a token -> its number
        # how an n-gram begins, and a form -> how it begins with this as well; which n-gram a beginning is
        after: dict[tuple[int, int], int] = {}
        whole = {}
        for number, gram in enumerate(known):
            beginning = 0
            for token in gram.split(" "):
                form = self._form.setdefault(token, len(self._form))
                beginning = after.setdefault((beginning, form), len(after) + 1)
            whole[beginning] = number
        self._size = len(known)
        self._whole = np.array([whole.get(i, -1) for i in range(len(after) + 1)])
        edges = np.array([self._edge(*edge) for edge in after])
        order = np.argsort(edges)
        self._edges, self._after = edges[order], np.array([*after.values()])[order]
        self._forget()

    def find(self, texts: Sequence[Sequence[str]]) -> Hits:
        """The known ones among the `ngrams` of each text.

        Parameters
        ----------
        texts : `critic_tokens` of each.
        """
        if len(self._seen) > MOST_SEEN:
            self._forget()
        tokens: list[int] = []
        stops = [0]
        for text in texts:
            tokens += (0, *map(self._seen.__getitem__, text[: _read(text)]), 1)
            stops.append(len(tokens))
        told = np.array([*map(self._told, self._seen.new)], np.int64).reshape(-1, 4)
        self._seen.new.clear()
        if (n := len(self._seen)) > len(self._tokens):
            self._tokens = np.concatenate([self._tokens, np.empty((n, 4), np.int64)])
        self._tokens[n - len(told) : n] = told
        coarse, fine, masked, word = self._tokens[tokens].T
        text, inner = np.repeat(np.arange(len(texts)), np.diff(stops)), np.array(tokens) > 1
        found = [
            *self._grain(coarse, np.ones_like(masked), text, inner),
            *self._grain(fine, masked, text, inner),
        ]
        pairs, times = np.unique(np.concatenate(found), return_counts=True)
        return Hits(*np.divmod(pairs, self._size), times, np.bincount(text, word, len(texts)) > 0)

    def _grain(
        self, form: np.ndarray, new: np.ndarray, text: np.ndarray, inner: np.ndarray
    ) -> Iterator[np.ndarray]:
        """One grain's known n-grams with a token that is `new` in it, a length at a time: text * known + number."""
        first, beginning, told = np.arange(len(form)), np.zeros_like(form), np.zeros_like(new)
        for k in range(self._shape.order):
            last = first + k
            there = last < len(form)
            there[there] = text[first[there]] == text[last[there]]
            first, last, beginning, told = (a[there] for a in (first, last, beginning, told))
            beginning, told = self._next(beginning, form[last]), told | new[last]
            there = beginning >= 0
            first, beginning, told = (a[there] for a in (first, beginning, told))
            gram = self._whole[beginning]
            hit = (gram >= 0) & (told > 0)
            if k == 0:  # a start or an end alone is none
                hit &= inner[first]
            yield text[first[hit]] * self._size + gram[hit]

    def _next(self, beginning: np.ndarray, form: np.ndarray) -> np.ndarray:
        """The beginnings of n-grams with one more token; -1 where no n-gram begins so."""
        edge = self._edge(beginning, form)
        place = np.minimum(np.searchsorted(self._edges, edge), len(self._edges) - 1)
        return np.where((form >= 0) & (self._edges[place] == edge), self._after[place], -1)

    def _edge(self, beginning: Any, form: Any) -> Any:
        return beginning * len(self._form) + form

    def _forget(self) -> None:
        """Forget the tokens of earlier texts, but for the start and the end of a text, which are 0 and 1."""
        self._seen, self._tokens = _Numbers(), np.empty((0, 4), np.int64)

    def _told(self, token: str) -> tuple[int, int, bool, bool]:
        """The forms of a token at both grains (-1: in no known n-gram), whether they differ, whether it is a word."""
        coarse, fine = _masked(token, self._words, self._shape)
        number = self._form.get
        return number(coarse, -1), number(fine, -1), coarse != fine, token[0].isalpha()


class _Numbers(dict[str, int]):
    """Token -> its number, in the order in which they are met; `new` are those that were not yet told."""

    def __init__(self) -> None:
        super().__init__({START: 0, END: 1})
        self.new = [*self]

    def __missing__(self, token: str) -> int:
        self.new.append(token)
        self[token] = number = len(self)
        return number
