"""What a critic reads of a text: its tokens, and n-grams of them at two grains, in which content is masked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..data.languages import short_code

__all__ = ["Shape", "critic_tokens", "grains", "joined", "ngrams"]

START, END = "<s>", "</s>"  # no token of a text has two signs, unless it is a word
SAME_SIGNS = [  # marks in pairs first: two ` are one quotation mark
    (re.compile("[„“”«»‟\"]|[’‘‚`´']{2}"), '"'),
    (re.compile("[’‘‚`´]"), "'"),
    (re.compile("…"), "..."),
    (re.compile("(?:^|\\s)[–—−-]+(?=\\s|$)|--+|—"), " - "),
]
"""Quotes, dashes and dots betray who typed a text and not how it is put, so all forms of one sign become one."""
ODD_SIGN = re.compile(
    "[„“”«»‟’‘‚`´…–—−]|--|''"
)  # without one, the tokens are those of the text as it is
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
    if ODD_SIGN.search(text):
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
    coarse, fine = grains(tokens, words, shape, {})
    n, orders = len(coarse) - 2, range(1, shape.order + 1)
    pairs = [list(zip(joined(coarse, k), joined(fine, k), strict=True)) for k in orders]
    for grain in (0, 1):
        for k, some in zip(orders, pairs, strict=True):
            for i, pair in enumerate(some, start=int(k == 1)):
                if grain == 0 or pair[0] != pair[1]:
                    yield pair[grain], range(max(i - 1, 0), min(i + k - 1, n))


def grains(
    tokens: Sequence[str], words: frozenset[str], shape: Shape, seen: dict[str, tuple[str, str]]
) -> tuple[list[str], list[str]]:
    """The text at both grains, between its start and its end.

    Parameters
    ----------
    tokens, words, shape : as in `ngrams`. seen : token -> its two forms, kept for the next text.
    """
    n = len(tokens)
    while n and tokens[n - 1] in LAST:
        n -= 1
    coarse, fine = [START], [START]
    for token in tokens[:n]:
        forms = seen.get(token)
        if forms is None:
            forms = seen[token] = _masked(token, words, shape)
        coarse.append(forms[0])
        fine.append(forms[1])
    coarse.append(END)
    fine.append(END)
    return coarse, fine


def joined(grain: Sequence[str], k: int) -> list[str]:
    """The n-grams of one grain; a start or an end alone is none.

    Parameters
    ----------
    grain : of `grains`. k : their length, at least 1.
    """
    if k == 1:
        return [*grain[1:-1]]
    return [*map(" ".join, zip(*(grain[i:] for i in range(k)), strict=False))]


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
