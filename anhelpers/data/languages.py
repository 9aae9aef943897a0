"""Languages of machine translation: codes, names, and pairs such as "en-de".

The table is ``languages.csv`` beside this file.
"""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ..errors import DataError, nearest
from ..progress import note

with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
    _TABLE = [*csv.DictReader(file)]

# Two-letter and three-letter code of a language -> its English name.
NAMES = {
    row[code]: row["name"]
    for row in _TABLE
    for code in ("iso639_1", "iso639_3")
    if row["name"] and row[code]
}

# ISO 639-1 -> ISO 639-3 codes of a language and of its members that models distinguish.
MEMBERS = {
    row["iso639_1"]: [row["iso639_3"], *row["members"].split()] for row in _TABLE if row["iso639_1"]
}

_OTHERS = [row["iso639_3"] for row in _TABLE if not row["iso639_1"]]
CODES = frozenset([*MEMBERS, *(code for codes in MEMBERS.values() for code in codes), *_OTHERS])

_UNSPACED = {row["iso639_1"] or row["iso639_3"] for row in _TABLE if row["spaced"] == "no"}

# pt_BR, es_419, eng_Latn
_LANGUAGE = re.compile(r"([a-z]{2,3})(?:_(?:[A-Z]{2}|[0-9]{3}|[A-Z][a-z]{3}))?")


def base(code: str) -> str:
    """Return the language of a code without its region or script, in lower case.

    >>> base("pt_BR"), base("zh-Hans"), base("eng_Latn")
    ('pt', 'zh', 'eng')
    """
    return re.split("[-_]", code, maxsplit=1)[0].lower()


@cache
def short_code(code: str) -> str:
    """Return the ISO 639-1 code of a language or its macrolanguage; else its code without region.

    >>> short_code("zho_Hans"), short_code("yue"), short_code("pt-BR"), short_code("gsw")
    ('zh', 'zh', 'pt', 'gsw')
    """
    language = base(code)
    own = [two for two, codes in MEMBERS.items() if language in (two, codes[0])]
    return next(iter(own or [two for two, codes in MEMBERS.items() if language in codes]), language)


def _language_votes(texts: Sequence[str]) -> Counter[str]:
    """Return ISO 639-1 code -> how many samples of 200 letters (in bytes) are in that language, by py3langid.

    At most 50 samples of neighbouring texts, spread evenly; of texts in WMT's languages, 0.1 % are misclassified.

    >>> _language_votes(["Wer das liest, der versteht vermutlich auch Deutsch."] * 8)
    Counter({'de': 1})
    """
    votes: Counter[str] = Counter()
    step = max(1, len(texts) // 50)
    held, letters = "", 0
    for start in range(0, len(texts), step):
        for text in texts[start : start + step]:
            held += text[:10_000] + " "
            letters += len("".join(filter(str.isalpha, text[:10_000])).encode("utf-8", "replace"))
            if letters >= 200:
                votes[_language(held.lower() if held.isupper() else held)] += 1
                held, letters = "", 0
                break
    return votes


@lru_cache(4096)
def _language(text: str) -> str:
    """Return the most probable language of a text."""
    return short_code(_identifier().classify(text)[0])


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_pickled_model(MODEL_FILE)


def _guess_language(texts: Sequence[str]) -> str:
    """Return the ISO 639-1 code of most samples of texts; "und" for too little or mixed text."""
    votes = _language_votes(texts)
    return next((code for code, k in votes.most_common(1) if 2 * k > votes.total()), "und")


def _infer_pair(lp: str | None, srcs: Sequence[str], trgs: Sequence[str | None]) -> str:
    """Return a language pair, by default that of the texts; "und" where they are too short.

    Parameters
    ----------
    srcs, trgs : sequences of str
        Sources; references or translations.
    """
    if lp:
        return lp
    pair = f"{_guess_language(srcs)}-{_guess_language([text for text in trgs if text])}"
    note(f"language pair inferred from the texts: {pair}; choose another with -l (lp in Python).")
    return pair


def spaced(code: str) -> bool:
    """Whether texts in a language have spaces between their words.

    >>> spaced("de_AT"), spaced("zho_Hans"), spaced("tha")
    (True, False, False)
    """
    return short_code(code) not in _UNSPACED


def known_code(code: str) -> str:
    """Return a language code with "_" before its region; a DataError for an unknown language.

    >>> known_code("pt-BR")
    'pt_BR'
    """
    match = _LANGUAGE.fullmatch(code.replace("-", "_"))
    if not match or match[1] not in CODES:
        hint = nearest(code.lower(), CODES) or ", expected an ISO 639 code such as de or pt_BR."
        raise DataError(f"language: got '{code:.40}'{hint}")
    return match[0]


def _split_pair(lp: str) -> tuple[str, str]:
    """Return the source and the target language of a pair; a DataError for anything else.

    >>> _split_pair("en-pt_BR")
    ('en', 'pt_BR')
    """
    parts = lp.split("-") if isinstance(lp, str) else []
    if len(parts) != 2:
        raise DataError(f"language pair: got {lp!r:.40}, expected source-target, such as en-de.")
    return known_code(parts[0]), known_code(parts[1])
