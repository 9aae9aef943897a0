"""Language identification: which language texts are in, compared with the pair that they are said to have.

A wrong pair gives wrong numbers without an error: BLEU cuts Chinese as if it had spaces, a German model reads Spanish.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from ..errors import LanguageConflict
from .languages import NAMES, UNDETERMINED, short_code, split_pair
from .schema import TestSet

__all__ = [
    "UNKNOWN",
    "check_language",
    "foreign_lines",
    "language_votes",
    "strange_systems",
    "strange_texts",
    "two_languages",
    "untranslated",
    "with_languages",
]

SAMPLE_BYTES = 200
"""Letters in a sample, in bytes of UTF-8. Of samples of this size from WMT24 and the XMI paper's outputs (400 each of
bg, cs, de, el, en, es, fi, ja, lt, zh) 0.1 % were taken for another language; of 60 bytes, 2 %."""
SAMPLES, MOST_CHARS = 50, 10_000
"""Samples of one file, spread evenly over it; and the characters of one sample, however long its texts are (py3langid
counts up to 65,535 of a feature)."""
FEWEST = 3
"""Samples from which texts may contradict what somebody says; below, they can only tell what nobody said."""
LINE_BYTES = 60
"""Letters, in bytes, from which a single line is read by itself: 2 % of such lines are taken for another language, and
far fewer for one certain other language."""
UNTRANSLATED, MOST_UNTRANSLATED = 30, 0.03
"""Letters, in bytes, of a source that is no name or address; the share of outputs that may be their sources: of WMT23's
and WMT24's systems 0.017 at most."""
MOST_OWN, LEAST_OTHER = 0.1, 0.5
"""Texts contradict a language where at most this share of their samples is in it, and this share in another one."""
ALIKE = "bs hr sh sr, da nb nn no, id jv ms, cs sk, gl pt, an es, ca oc, xh zu, hi mr ne, af nl"
RELATED = [frozenset(group.split()) for group in ALIKE.split(",")]
"""Languages that short texts do not tell apart: neither contradicts the others."""
LOOKED_UP = 4096
"""Samples whose language is kept: a set is read again for its candidates and its ratings."""
UNKNOWN = UNDETERMINED.partition("-")[0]


def language_votes(texts: Sequence[Any], read: Callable[[Any], str] = str) -> Counter[str]:
    """ISO 639-1 code -> how many samples of the texts are in that language (py3langid; Lui and Baldwin 2012).

    Empty where there are fewer than SAMPLE_BYTES of letters: too little to tell.

    Parameters
    ----------
    read : what makes a text of one of `texts`; called for those in a sample alone.

    >>> language_votes(["Wer das liest, der versteht vermutlich auch Deutsch, denn so ist es geschrieben."] * 5)
    Counter({'de': 1})
    """
    classify, _ = _identifier()
    return Counter(map(classify, _samples(texts, read)))


def check_language(
    texts: Sequence[Any], code: str, what: str, read: Callable[[Any], str] = str
) -> str:
    """The language of texts: `code`, if nothing contradicts it; for "und" what most samples say, or "und" again.

    Parameters
    ----------
    code : the language that they are said to be in, also as models write it (deu_Latn, >>deu<<), or "und".
    what : they are, as the subject of a sentence. read : as in `language_votes`.

    Raises
    ------
    LanguageConflict where hardly any sample is in that language, and most are in another one.
    """
    votes, code = language_votes(texts, read), code.strip("<>")
    if code == UNKNOWN:
        return next(
            (lang for lang, k in votes.most_common(1) if k >= LEAST_OTHER * votes.total()), UNKNOWN
        )
    if other := _other(votes, code):
        raise LanguageConflict(f"{what} read as {other}, and not as {_named(code)}.")
    return code


def foreign_lines(texts: Sequence[str], code: str, other: str) -> list[int]:
    """The positions of single texts that read as `other` and should be in `code`; short ones are not looked at.

    Parameters
    ----------
    code, other : two languages; of such as short texts do not tell apart none is named.

    >>> line = "Whoever reads this sentence to its end understands English, for it is written in that."
    >>> foreign_lines(["Hm.", line], "de", "en")
    [1]
    """
    own, wrong = short_code(code), short_code(other)
    if own == wrong or any({own, wrong} <= group for group in RELATED):
        return []
    classify, _ = _identifier()
    return [
        i
        for i, text in enumerate(texts)
        if _letters(text) >= LINE_BYTES and classify(text) == wrong
    ]


def two_languages(texts: Sequence[Any], read: Callable[[Any], str] = str) -> str:
    """The two languages of texts that are in two, in words; "" where they are in one, or are too little to tell.

    In two where at least FEWEST samples, and a quarter of all, are in a language unlike the most frequent one.

    Parameters
    ----------
    read : as in `language_votes`.
    """
    return _mixed(language_votes(texts, read))


def _mixed(votes: Counter[str]) -> str:
    (first, _), *others = votes.most_common() or [("", 0)]
    alike = next((group for group in RELATED if first in group), {first})
    least = max(FEWEST, votes.total() / 4)
    second = next((lang for lang, k in others if lang not in alike and k >= least), None)
    return f"{_named(first)} and {_named(second)}" if second else ""


def with_languages(test: TestSet) -> TestSet:
    """The test set with its languages: those that it names, or where it names none ("und"), those of its texts.

    A note says what was told from the texts, where there was too little text to tell, which texts read as two
    languages, and which systems as another language than the target's.

    Raises
    ------
    LanguageConflict where sources, references, or without references all systems together read as another language,
    or where no pair is said and both sides read as the same one.
    """
    said = split_pair(test.lp)
    src_lang, trg_lang = _told(test, said)
    if src_lang == trg_lang != UNKNOWN and UNKNOWN in said:
        raise LanguageConflict(
            f"{test.name}: the sources and the translations both read as {_named(src_lang)}; say "
            "the pair by -l, such as en-de (in Python: lp), or give the right files."
        )
    whole = {
        "the sources": test.srcs,
        **{f"the texts of reference {name}": ref for name, ref in test.refs.items()},
    }
    notes = [
        f"{what} read as {mixed}."
        for what, texts in whole.items()
        if (mixed := two_languages(texts))
    ]
    if told := [
        code for code, before in ((src_lang, said[0]), (trg_lang, said[1])) if code != before
    ]:
        names = " and ".join(_named(code) for code in dict.fromkeys(told))
        notes.append(
            f"the languages are taken as {src_lang}-{trg_lang}: the texts read as {names}; "
            "say another pair by -l (in Python: lp)."
        )
    if unsaid := [
        side for side, code in (("source", src_lang), ("target", trg_lang)) if code == UNKNOWN
    ]:
        notes.append(
            f"there is too little text to tell the {' and the '.join(unsaid)} language (a sample "
            f"takes {SAMPLE_BYTES} letters); say the pair by -l, such as en-de (in Python: lp)."
        )
    test = replace(test, lp=f"{src_lang}-{trg_lang}", notes=(*test.notes, *notes))
    strange = strange_systems(test, test.systems)
    if test.refs and set(said) == {UNKNOWN} and 0 < len(strange) == len(test.systems):
        votes = language_votes([text for hyps in test.systems.values() for text in hyps])
        if _other(votes, trg_lang) and votes.most_common(1)[0][0] == src_lang:
            raise LanguageConflict(
                f"{test.name}: all system outputs read as {_named(src_lang)}, like the sources, and "
                f"the references as {_named(trg_lang)}: give sources and references in their own "
                "places, or say the pair by -l (in Python: lp)."
            )
    return replace(test, notes=(*test.notes, *strange, *untranslated(test, test.systems)))


def strange_systems(test: TestSet, systems: Iterable[str]) -> list[str]:
    """A note for each of these systems of a test set that reads as another language than the target's, or as two."""
    found = (
        strange_texts(f"{name}: its outputs", test.systems[name], test.trg_lang) for name in systems
    )
    return [note for note in found if note]


def untranslated(test: TestSet, systems: Iterable[str]) -> list[str]:
    """A note for each of these systems of a test set whose outputs are their own sources more often than names are."""
    notes = []
    for name in systems:
        hyps = test.systems[name]
        same = sum(
            src.split() == hyp.split() and _letters(src) >= UNTRANSLATED
            for src, hyp in zip(test.srcs, hyps, strict=True)
        )
        if same >= max(FEWEST, MOST_UNTRANSLATED * len(hyps)):
            told = f"{name}: {same:,} of its {len(hyps):,} outputs are their source, untranslated."
            notes.append(told)
    return notes


def strange_texts(what: str, texts: Sequence[str], trg_lang: str) -> str:
    """A note where texts read as another language than they should be in, or as two; else "".

    Parameters
    ----------
    what : they are, as the subject of the sentence. trg_lang : "und" where it is not known.
    """
    votes = language_votes(texts)
    if trg_lang != UNKNOWN and (other := _other(votes, trg_lang)):
        return f"{what} read as {other}, and the target language is '{trg_lang}'."
    return f"{what} read as {mixed}." if (mixed := _mixed(votes)) else ""


def _told(test: TestSet, said: tuple[str, str]) -> tuple[str, str]:
    """The languages of the sources and of the target texts; a LanguageConflict names the pair that is said."""
    targets = {f"the texts of reference {name}": texts for name, texts in test.refs.items()}
    targets = targets or {"the system outputs": tuple(chain.from_iterable(test.systems.values()))}
    try:
        src_lang, trg_lang = check_language(test.srcs, said[0], "the sources"), said[1]
        for what, texts in targets.items():
            trg_lang = check_language(texts, trg_lang, what)
    except LanguageConflict as error:
        pair = "like the other texts" if test.lp == UNDETERMINED else f"as the pair {test.lp} says"
        move = "say the right pair by -l (in Python: lp), or give the right files"
        raise LanguageConflict(
            f"{test.name}: {str(error).removesuffix('.')}, {pair}; {move}."
        ) from None
    return src_lang, trg_lang


def _other(votes: Counter[str], code: str) -> str:
    """The language that contradicts `code`, in words; "" where none does, or where the identifier does not know it."""
    n, own = votes.total(), short_code(code)
    alike = next((group for group in RELATED if own in group), {own})
    if (
        n < FEWEST
        or own not in _identifier()[1]
        or sum(votes[lang] for lang in alike) > MOST_OWN * n
    ):
        return ""
    [(lang, k)] = votes.most_common(1)
    return f"{_named(lang)} ({k} of {n} samples)" if k >= LEAST_OTHER * n else ""


def _named(code: str) -> str:
    return f"{NAMES[code]} ('{code}')" if code in NAMES else f"'{code}'"


@functools.cache
def _identifier() -> tuple[Callable[[str], str], frozenset[str]]:
    """A function from a text to its most probable language, and the languages that it knows."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    model = LanguageIdentifier.from_pickled_model(MODEL_FILE)

    @functools.lru_cache(LOOKED_UP)
    def classify(text: str) -> str:
        return short_code(model.classify(text)[0])

    return classify, frozenset(map(short_code, model.nb_classes))


def _letters(text: str) -> int:
    """Its letters, in bytes of UTF-8."""
    return len("".join(filter(str.isalpha, text)).encode("utf-8", "replace"))


def _samples(texts: Sequence[Any], read: Callable[[Any], str]) -> Iterable[str]:
    """Up to SAMPLES pieces of SAMPLE_BYTES of letters or more, each of neighbouring texts."""
    step = max(1, len(texts) // SAMPLES)
    held, size = [], 0
    for start in range(0, len(texts), step):
        for text in map(read, texts[start : start + step]):
            held.append(text)
            size += _letters(text)
            if size >= SAMPLE_BYTES:
                joint = " ".join(held)[:MOST_CHARS]
                # the identifier knows few texts in capitals
                yield joint.lower() if joint.isupper() else joint
                held, size = [], 0
                break
