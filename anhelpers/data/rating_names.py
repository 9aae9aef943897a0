"""Names in ratings: when two spellings are one, and what the name of a document or of a system says."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = [
    "DOMAINS",
    "SEVERITIES",
    "base_system",
    "category_key",
    "column_key",
    "domain_of",
    "natural_key",
    "visible",
    "without_side",
]

SEVERITIES = ("No-error", "Neutral", "Minor", "Major", "Critical")
"""Severities from harmless to grave; Critical is in files of 2024 and of other corpora alone."""

DOMAINS = ("conversation", "ecommerce", "literary", "manuals", "mastodon", "news", "social", "speech", "talk")
"""First words of the document names of WMT, from 2022 on, and of TED."""

_SIDE = re.compile(r" ?\(translation ?\d*\)$", re.IGNORECASE)  # side by side, which of the two an omission is in
_DIGITS = re.compile(r"(\d+)")
_FLUFF = re.compile(r"[\s_!-]")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")  # soft hyphens, zero-width and direction marks


@lru_cache(4096)
def category_key(category: str) -> str:
    """What two spellings of one category share.

    >>> category_key("Accuracy/Omission (Translation 2)") == category_key("accuracy/omission")
    True
    >>> category_key("Do not translate"), category_key("do_not_translate"), category_key("No-error")
    ('donottranslate', 'donottranslate', 'noerror')
    """
    return _FLUFF.sub("", without_side(category.lower()))


def without_side(category: str) -> str:
    """A category without the "(Translation 2)" behind it that side by side ratings have."""
    return _SIDE.sub("", category)


def column_key(name: str) -> str:
    """What two spellings of a column's name share.

    >>> column_key("Error Category") == column_key("error_category")
    True
    """
    return name.lower().replace("_", "").replace(" ", "")


def visible(text: str) -> str:
    """A text as an eye sees it: one form of each letter (NFC), one space for any white space, nothing invisible.

    >>> visible("rater\\u00a01\\u200b ") == "rater 1"
    True
    """
    if text.isascii():
        return " ".join(text.split())
    return " ".join(_UNSEEN.sub("", unicodedata.normalize("NFC", text)).split())


def domain_of(doc: str) -> str:
    """The domain that a document's name opens with, else "unknown" (as in WMT20 and WMT21, where all is news).

    >>> [domain_of(doc) for doc in ("news_sky.com.32794:en-de", "test-en-literary_b.7", "talk.1", "sky.158")]
    ['news', 'literary', 'talk', 'unknown']
    """
    match = re.match(r"(?:test-[a-z]+-)?([a-z]*)", doc.lower())
    return match[1] if match and match[1] in DOMAINS else "unknown"


def base_system(system: str) -> str:
    """The system whose output was rated side by side with another.

    >>> base_system("GPT4-5shot_with_refA")
    'GPT4-5shot'
    """
    return system.partition("_with_")[0]


@lru_cache(4096)
def natural_key(name: str) -> tuple[str | int, ...]:
    """A sort key by which "rater2" comes before "rater10"."""
    return tuple(int(part[:4000]) if part.isdecimal() else part for part in _DIGITS.split(name))  # int takes no more
