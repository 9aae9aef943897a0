"""Warnings of what is unlikely in a test set: shifted lines, other languages, equal systems, odd texts."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from .languages import NAMES, _language_votes, _split_pair, short_code
from .schema import TestSet

_LAGS = (-3, -2, -1, 1, 2, 3)
_CHARS = 150  # of each text, from its start, that are compared
_SHORTEST = 10  # distinct trigrams; shorter texts fit too many others
# the longest such run of 68 systems of WMT23 and WMT24 has 2 segments
_RUN, _GAIN = 5, 0.03
_CLOSE = 0.4  # similarity from which a line is taken to be in place
# own similarity over that of neighbours where it is not close: 1.77 or more for systems of WMT23, and 1.07 or less if
# half of the lines are shuffled
_CHANCE, _MANY = 1.15, 0.2
# languages that short texts do not separate
_ALIKE = "bs hr sh sr, da nb nn no, id jv ms, cs sk, gl pt, an es, ca oc, xh zu, hi mr ne, af nl"
# samples of 200 letters, from which texts may contradict the language pair
_FEWEST = 3
_ENDLESS = 20  # times the longest source
_ODD = {
    "blank": re.compile(r"\A\s*\Z"),
    # marks of direction and of no width, without the joiners of Persian, Hindi and emoji
    "with invisible characters": re.compile(
        "[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
    ),
}


def check(test: TestSet) -> list[str]:
    """Return warnings about suspicious properties of a test set, one sentence each.

    A system whose lines fit the first reference better a few lines further up or down; texts in another language or
    script than the pair's; systems with equal outputs; blank and endless texts; marks of direction or of no width,
    which change scores unseen. None of them is removed.
    """
    return [*_shifted(test), *_languages(test), *_equal(test), *_odd(test)]


def _shifted(test: TestSet) -> list[str]:
    """Warn of systems whose lines are not in the order of the first reference."""
    if test.reference is None or len(test) < 2 * _RUN:
        return []
    texts = test.refs[test.reference]
    # trigrams of a longer set take too much memory
    of_ref = lru_cache(5000)(lambda i: _trigrams(texts[i]))
    found = {name: _misfit(hyps, of_ref) for name, hyps in test.systems.items()}
    bad = {name: why for name, why in found.items() if why}
    if len(bad) > max(1, 0.75 * len(found)):
        name, why = next(iter(bad.items()))
        return [
            f"{len(bad)} of {len(found)} systems, such as {name} ({why}), do not fit the reference "
            f"{test.reference}: check the order of its lines."
        ]
    return [f"{name} does not fit reference {test.reference}: {why}." for name, why in bad.items()]


def _trigrams(text: str) -> frozenset[str]:
    """Return the distinct character trigrams at the start of a text."""
    text = text[:_CHARS].casefold()
    return frozenset(text[i : i + 3] for i in range(len(text) - 2))


def _misfit(hyps: Sequence[str], of_ref: Callable[[int], frozenset[str]]) -> str:
    """Describe how lines are displaced against a reference; "" for lines in place.

    The similarity of two texts is Dice's coefficient of their trigrams.

    Parameters
    ----------
    of_ref : callable
        The trigrams of a line of the reference.
    """
    n = len(hyps)
    dice = np.full((1 + len(_LAGS), n), np.nan)
    for i in range(n):
        own = _trigrams(hyps[i])
        dice[0, i] = _dice(own, of_ref(i))
        if dice[0, i] < _CLOSE:
            dice[1:, i] = [_dice(own, of_ref(i + k)) if 0 <= i + k < n else np.nan for k in _LAGS]
    low = ~np.isnan(dice[0]) & (np.nan_to_num(dice[0]) < _CLOSE)
    if low.sum() < _RUN:
        return ""
    gains = dice[1:] - dice[0] - _GAIN
    each = zip(gains, _LAGS, strict=True)
    length, start, lag = max((*_best_run(gain), lag) for gain, lag in each)
    known = int((~np.isnan(dice[0])).sum())
    chance = np.nanmean(dice[0][low]) <= _CHANCE * np.nanmean(dice[1:][:, low])
    if low.sum() > _MANY * known and chance and length < 0.1 * known:
        return f"{low.sum()} lines match the reference no better than neighbouring lines do"
    if length < _RUN:
        return ""
    where = "earlier" if lag < 0 else "later"
    better = f"{length} lines match the reference better"
    return f"from segment {start + 1} on, {better} when compared with the line {abs(lag)} {where}"


def _dice(a: frozenset[str], b: frozenset[str]) -> float:
    """Return Dice's coefficient of two sets; nan where one is too small."""
    if min(len(a), len(b)) < _SHORTEST:
        return np.nan
    return 2 * len(a & b) / (len(a) + len(b))


def _best_run(gain: np.ndarray) -> tuple[int, int]:
    """Return length and start of the contiguous run with the largest sum; missing gains count 0."""
    total = np.concatenate([[0.0], np.cumsum(np.nan_to_num(gain))])
    stop = int(np.argmax(total - np.minimum.accumulate(total)))
    start = stop - int(np.argmin(total[stop::-1]))
    return int((~np.isnan(gain[start:stop])).sum()), start


def _languages(test: TestSet) -> list[str]:
    """Warn of texts most of whose samples are in a different language, and hardly any in the expected one."""
    source, target = _split_pair(test.lp)
    sides = {"the sources": (test.srcs, source)}
    sides |= {f"reference {name}": (texts, target) for name, texts in test.refs.items()}
    sides |= {name: (texts, target) for name, texts in test.systems.items()}
    groups = [set(group.split()) for group in _ALIKE.split(",")]
    found = []
    for what, (texts, code) in sides.items():
        votes, own = _language_votes(texts), short_code(code)
        alike = next((group for group in groups if own in group), {own})
        if own == "und" or votes.total() < _FEWEST:
            continue
        [(other, k)] = votes.most_common(1)
        if sum(votes[one] for one in alike) <= 0.1 * votes.total() and k >= 0.5 * votes.total():
            found.append(
                f"{what}: {k} of {votes.total()} samples read as {NAMES.get(other, other)}, "
                f"expected {NAMES.get(own, own)}. Check the language pair (-l)."
            )
    return found


def _equal(test: TestSet) -> list[str]:
    """Warn of systems, and of references, with the same texts throughout."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for kind in (test.refs, test.systems):
        for name, texts in kind.items():
            groups.setdefault(tuple(map(str.strip, texts)), []).append(name)
    return [
        f"{' and '.join(names)} have the same texts throughout."
        for names in groups.values()
        if len(set(names)) > 1
    ]


def _odd(test: TestSet) -> list[str]:
    """Warn of blank and endless texts, and of invisible characters, in sources, references and hypotheses."""
    found, longest = [], max(map(len, test.srcs), default=0)
    for name, texts in {"the sources": test.srcs, **test.refs, **test.systems}.items():
        size, line = max(((len(text), i) for i, text in enumerate(texts, 1)), default=(0, 0))
        if size > max(_ENDLESS * longest, 10_000):
            why = f"the longest source {longest:,}: scoring may take long"
            found.append(f"{name}: line {line} has {size:,} characters, {why}.")
        for what, form in _ODD.items():
            at = [(i, seen[0]) for i, text in enumerate(texts, 1) if (seen := form.search(text))]
            if at:
                line, mark = at[0]
                first = f"{f'U+{ord(mark):04X} ' if mark.strip() else ''}in line {line}"
                found.append(f"{name}: {len(at)} of {len(test)} texts {what}, first {first}.")
    return found
