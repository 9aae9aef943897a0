"""Words of running text for lexical measures: lower-cased, without punctuation, in any script that separates them."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from ..data.languages import short_code, spaced
from ..errors import DataError

__all__ = ["TOKENIZER", "check_words", "words"]

TOKENIZER = "tok:nfc-lower-words-cjkchars"
"""What `words` does, for signatures."""

BY_CHARACTER = ("ja", "zh")
"""Languages written without spaces between words, each of whose characters counts as a word."""

CJK = "\u3005\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
JOINERS = "\u200c\u200d"  # within words of Persian and of the scripts of India
LAST_MARK = 0xE01EF  # the last code point of category M


def words(text: str) -> list[str]:
    """The words of a text, lower-cased: runs of letters, digits and marks; an apostrophe between two of them stays.

    In NFC, with ’ as '. A Chinese character or a kana is a word by itself. Hyphens, underscores and all other signs
    separate words and are left out.

    >>> words("Wie geht's, Herr O’Neill? 3-mal gut.")
    ['wie', "geht's", 'herr', "o'neill", '3', 'mal', 'gut']
    >>> words("今日は good")
    ['今', '日', 'は', 'good']
    """
    return _pattern().findall(unicodedata.normalize("NFC", text).lower().replace("’", "'"))


def check_words(trg_lang: str) -> None:
    """A DataError for a language whose words this module cannot tell apart."""
    if not spaced(trg_lang) and short_code(trg_lang) not in BY_CHARACTER:
        raise DataError(
            f"'{trg_lang}' has no spaces between words: lexical measures need its texts as words; "
            "segment them, and give lists of words to the functions of "
            "anhelpers.naturalness.lexical."
        )


@cache
def _pattern() -> re.Pattern[str]:
    """A CJK letter, or a run of other letters, digits, marks and joiners with apostrophes inside."""
    letter = f"[^\\W_{CJK}]"
    inside = f"(?:{letter}|[{_marks()}{JOINERS}])"
    return re.compile(f"(?=\\w)[{CJK}]|{letter}{inside}*(?:'{letter}{inside}*)*")


def _marks() -> str:
    """All characters of category M, as ranges for a character class: `re` does not count them as letters."""
    codes = [c for c in range(0x300, LAST_MARK + 1) if unicodedata.category(chr(c))[0] == "M"]
    starts = [c for i, c in enumerate(codes) if i == 0 or codes[i - 1] != c - 1]
    ends = [c for i, c in enumerate(codes) if i + 1 == len(codes) or codes[i + 1] != c + 1]
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in zip(starts, ends, strict=True))
