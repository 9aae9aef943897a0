"""Texts damaged by rule: a word in another form, out of place, missing or doubled, as no native writer has it.

The rules know no language: other forms of a word are the words of the texts that share its beginning. They hit case,
agreement and word order in most languages with spaces, and now and then leave a text that is as good as before.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping

import numpy as np

__all__ = ["damaged", "other_forms"]

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
FRAMED = re.compile(rf"(\W*)({WORD.pattern})(\W*)")
"""A word and the signs around it, which stay in their place."""
ENDING = 2
"""Letters at the end in which two forms of a word may differ."""
FARTHEST = 6
"""Places that a word moves at most."""
TRIES = 20
N_ERRORS = {1: 0.5, 2: 0.25, 3: 0.15, 4: 0.1}
"""Errors in a text, with their probabilities."""

Forms = Mapping[str, tuple[list[str], np.ndarray]]


def other_forms(texts: Iterable[str]) -> Forms:
    """Word -> (words that differ from it only in the last two letters, their (n,) probabilities, by frequency).

    At least half of a word, and two letters of it, stay.

    Parameters
    ----------
    texts : of the language.

    >>> forms = other_forms(["dem Haus das", "das Haus den den"])
    >>> forms["dem"][0], "Haus" in forms
    (['den'], False)
    """
    counts = Counter(word for text in texts for word in WORD.findall(text))
    alike: dict[str, list[str]] = defaultdict(list)
    for word in sorted(counts):
        for stem in _stems(word):
            alike[stem].append(word)
    forms = {}
    for word in counts:
        others = sorted({other for stem in _stems(word) for other in alike[stem]} - {word})
        if others:
            n = np.array([counts[other] for other in others], dtype=np.float64)
            forms[word] = others, n / n.sum()
    return forms


def _stems(word: str) -> list[str]:
    return [
        word[: len(word) - cut]
        for cut in range(ENDING + 1)
        if len(word) - cut >= max(2, len(word) / 2)
    ]


def damaged(text: str, forms: Forms, rng: np.random.Generator) -> str | None:
    """The text with 1 to 4 errors (one in half of the cases); None where no rule can change it.

    Parameters
    ----------
    forms : of `other_forms`.
    rng : decides how many errors, which and where.
    """
    words = text.split(" ")
    wanted = rng.choice(list(N_ERRORS), p=list(N_ERRORS.values()))
    for _ in range(TRIES):
        rule = RULES[rng.choice(len(RULES), p=SHARES)]
        places = [i for i, word in enumerate(words) if FRAMED.fullmatch(word)]
        if len(places) < 3:
            break
        new = rule(words, int(rng.choice(places)), forms, rng)
        if new is not None and new != words:
            words, wanted = new, wanted - 1
        if not wanted:
            break
    changed = " ".join(words)
    return None if changed == text else changed


def _other_form(
    words: list[str], i: int, forms: Forms, rng: np.random.Generator
) -> list[str] | None:
    """Another form of the word: mostly a false case, number or person."""
    before, word, after = _parts(words[i])
    if word not in forms:
        return None
    others, p = forms[word]
    return [*words[:i], before + others[rng.choice(len(others), p=p)] + after, *words[i + 1 :]]


def _moved(words: list[str], i: int, forms: Forms, rng: np.random.Generator) -> list[str] | None:
    """The word a few places further, not beyond a sign; the first word of the text keeps its capital."""
    j = i + int(rng.integers(1, FARTHEST + 1)) * int(rng.choice([-1, 1]))
    low, high = min(i, j), max(i, j)
    if low < 0 or high >= len(words):
        return None
    parts = [FRAMED.fullmatch(word) for word in words[low : high + 1]]
    if not all(parts) or any(p[1] for p in parts[1:] if p) or any(p[3] for p in parts[:-1] if p):
        return None
    bare = [p[2] for p in parts if p]
    order = [*bare[1:], bare[0]] if j > i else [bare[-1], *bare[:-1]]
    if not low and bare[0][:1].isupper() and order[0] != bare[0]:
        order = [order[0][:1].upper() + order[0][1:], *order[1:]]
    order = [_parts(words[low])[0] + order[0], *order[1:]]
    order[-1] += _parts(words[high])[2]
    return [*words[:low], *order, *words[high + 1 :]]


def _dropped(words: list[str], i: int, forms: Forms, rng: np.random.Generator) -> list[str] | None:
    """Without the word; one beside a sign stays."""
    before, _, after = _parts(words[i])
    return None if before or after else [*words[:i], *words[i + 1 :]]


def _doubled(words: list[str], i: int, forms: Forms, rng: np.random.Generator) -> list[str] | None:
    """The word twice."""
    before, word, _ = _parts(words[i])
    return [*words[:i], before + word, words[i][len(before) :], *words[i + 1 :]]


def _parts(word: str) -> tuple[str, str, str]:
    """Signs before, the word, signs after."""
    found = FRAMED.fullmatch(word)
    return (found[1], found[2], found[3]) if found else ("", word, "")


RULES: tuple[Callable[[list[str], int, Forms, np.random.Generator], list[str] | None], ...] = (
    _other_form,
    _moved,
    _dropped,
    _doubled,
)
SHARES = (0.45, 0.35, 0.1, 0.1)
