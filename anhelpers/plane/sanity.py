"""Systems whose place on the plane is known beforehand: a picture that puts them elsewhere is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from .. import checks
from ..data.languages import spaced
from ..data.schema import TestSet
from ..errors import DataError

__all__ = ["with_sanity_systems"]


def with_sanity_systems(test: TestSet, rng: np.random.Generator, shuffle: str | None = None) -> TestSet:
    """The test set with four more systems, none of which is a translation.

    "source copied": the source itself. "references shuffled": every first reference under another source, as natural
    as references are and with hardly any accuracy; no text where there is no reference. "words shuffled (NAME)": the
    words of one system in random order (its characters, where the language writes no spaces), with its accuracy in part
    and no naturalness. "empty": no text, so that a surface metric gives 0 and a language model nothing.

    Parameters
    ----------
    shuffle : the system whose words are shuffled; by default the first.
    """
    if not test.refs or not test.systems:
        raise DataError(f"{test.name} has no {'system' if test.refs else 'reference'} to shuffle; give one.")
    name = checks.one_of(shuffle or next(iter(test.systems)), test.systems, "system")
    texts = [next(filter(None, of_segment), "") for of_segment in zip(*test.refs.values(), strict=True)]
    given = np.flatnonzero([bool(text) for text in texts])
    moved = dict(zip(given.tolist(), given[_derangement(len(given), rng)].tolist(), strict=True))
    shuffled = f"words shuffled ({name})"
    added = {
        "source copied": test.srcs,
        "references shuffled": tuple(texts[moved[i]] if i in moved else "" for i in range(len(test))),
        shuffled: tuple(_shuffled(test.systems[name], test.trg_lang, rng)),
        "empty": ("",) * len(test),
    }
    categories = {**test.categories, **dict.fromkeys(added, "unknown")}
    same = added[shuffled] == test.systems[name]
    note = [f"{shuffled} is {name} itself: none of its texts has two different words to change places."] if same else []
    return replace(test, systems={**test.systems, **added}, categories=categories, notes=(*test.notes, *note))


def _derangement(n: int, rng: np.random.Generator) -> np.ndarray:
    """(n,) a random order in which nothing stays in its place (for n > 1): one random cycle."""
    cycle = rng.permutation(n)
    moved = np.empty(n, dtype=np.int64)
    moved[cycle] = np.roll(cycle, 1)
    return moved


def _shuffled(texts: Iterable[str], lang: str, rng: np.random.Generator) -> Iterable[str]:
    joint = " " if spaced(lang) else ""
    for text in texts:
        words = text.split() if joint else list(text)
        yield joint.join(words[i] for i in rng.permutation(len(words)))
