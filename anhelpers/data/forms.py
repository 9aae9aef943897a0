"""The form of a text, apart from what it says: marks, line ends, decomposed letters, markup."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

__all__ = ["decomposed", "document_told", "form_notes", "is_markup", "json_told", "letters"]

OPENING = re.compile(r"<[!?a-zA-Z]")
PROLOG = re.compile(r"<(\?xml|!doctype|html|srcset|refset|tstset|mteval|dataset|tmx|xliff)\b", re.IGNORECASE)
TAGGED = re.compile(r"^<[!?/]?[a-zA-Z][^<>]*>.*>$|^<[!?/]?[a-zA-Z-][^<>]*>$|</\w+>$")
"""How markup begins; how it begins beyond doubt; a line of it: a tag alone, or a text between tags."""


def form_notes(marked: bool, text: str, lines: Sequence[str], name: str) -> tuple[str, ...]:
    """Sentences on the ends of lines and the byte order marks of a text, where a user should know of them.

    Parameters
    ----------
    marked : whether it starts with a byte order mark, which is no longer in `text`. text, lines : the same, whole and
        in lines. name : of the file.
    """
    notes = []
    if marked:
        notes.append(
            f"{name} starts with a byte-order mark, which is left out; sacreBLEU counts it as a character of "
            "the first segment, so that its scores may differ a little."
        )
    ends, both = text.count("\n"), text.count("\r\n")
    if 0 < both < ends:
        notes.append(
            f"{name}: {both} of {ends} lines end in CR LF, the others in LF; both are taken as line ends, and "
            "no carriage return as text."
        )
    if "\ufeff" in text:
        inside = [i for i, line in enumerate(lines, 1) if line.startswith("\ufeff")]
        if inside:
            more = f" ({len(inside)} such)" if len(inside) > 1 else ""
            notes.append(
                f"{name}: line {inside[0]} starts with a byte-order mark{more}, which is left in as text; were "
                "files joined?"
            )
    return tuple(notes)


def is_markup(lines: Sequence[str]) -> bool:
    """Whether the first line looks like XML, HTML or SGML, and most lines are tags or stand between two.

    Parameters
    ----------
    lines : of the file.
    """
    filled = [line.strip() for line in lines[:1000] if line.strip()]
    if not filled or not OPENING.match(filled[0]):
        return False
    sure = PROLOG.match(filled[0]) is not None
    return (sure or len(filled) > 1) and 2 * sum(map(bool, map(TAGGED.search, filled))) > len(filled)


def json_told(lines: Sequence[str]) -> str:
    """What is wrong with a text whose first line that is not blank is a JSON object, and what to do; "" for others.

    Parameters
    ----------
    lines : of the file.
    """
    first = next((line.strip() for line in lines if line.strip()), "")
    if not (first.startswith('{"') and first.endswith("}")):
        return ""
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        return ""
    if told := document_told(record):
        return f"its lines are JSON objects; {told}"
    read = "candidates in JSONL are read by anhelpers curve, and by --data"
    there = read if {"candidates", "text"} & record.keys() else f"the first has the keys {', '.join(record)[:200]}"
    return f"its lines are JSON objects, and a text is wanted, a line per segment; take the texts out of it ({there})."


def document_told(record: Mapping[str, object]) -> str:
    """What an object of WMT25's system outputs is, and what to do with such a file; "" for other objects.

    Parameters
    ----------
    record : an object of the file. A hypothesis has as many paragraphs as the published scores of its document have
        numbers (562 of 562 documents of SRPOL, 587 of 587 of Laniqo); an empty line parts them.
    """
    if not {"doc_id", "hypothesis"} <= record.keys():
        return ""
    pair = str(record["doc_id"]).partition("_#_")[0]
    return (
        'an object with "doc_id" and "hypothesis" is a document as a system of WMT25 translated it: write the '
        "paragraphs of the hypotheses, which empty lines part, into a text, a line each and in the order of your "
        f'sources, for one language pair ("doc_id" begins with it, here {pair:.40}), and give that to score or plane '
        "by -t."
    )


def decomposed(lines: Iterable[str]) -> int:
    """How many lines are not in Unicode's composed form, NFC.

    Parameters
    ----------
    lines : of a text.
    """
    return sum(not unicodedata.is_normalized("NFC", line) for line in lines)


def letters(texts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """A note where some of these texts hold decomposed letters (Unicode's NFD) and others do not, or not as many.

    Parameters
    ----------
    texts : name -> lines, of the target side.
    """
    counts = {name: decomposed(lines) for name, lines in texts.items()}
    if len(set(counts.values())) < 2:
        return ()
    apart = [f"{name} ({k} of {len(texts[name])} lines)" for name, k in counts.items() if k]
    named = ", ".join(apart[:8]) + (f" and {len(apart) - 8} more" if len(apart) > 8 else "")
    told = f"Decomposed letters (an accent apart from its letter, Unicode's NFD) stand in {named}, and fewer or none in"
    why = "chrF, BLEU and language models count code points, so that the same word written in both ways differs"
    return (f"{told} the others: {why}; nothing was changed.",)
