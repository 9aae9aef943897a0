"""The form of a text, apart from what it says: marks, line ends, decomposed letters, markup."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "decomposed",
    "document_told",
    "form_notes",
    "habits",
    "is_markup",
    "json_told",
    "letters",
]

OPENING = re.compile(r"<[!?a-zA-Z]")
PROLOG = re.compile(
    r"<(\?xml|!doctype|html|srcset|refset|tstset|mteval|dataset|tmx|xliff)\b", re.IGNORECASE
)
TAGGED = re.compile(r"^<[!?/]?[a-zA-Z][^<>]*>.*>$|^<[!?/]?[a-zA-Z-][^<>]*>$|</\w+>$")
"""How markup begins; how it begins beyond doubt; a line of it: a tag alone, or a text between tags."""


HABITS = {
    "hold a tab": r".*\t",
    "hold '|||'": r".*\|\|\|",
    "begin with a number or an id": r"\s*(?:\d+\s?[.):]\s|\d+\t|[HDTS]-\d+\s)",
    "are in quotation marks": r"""\s*["'„“”«»].*["'„“”«»]\s*$""",
    "hold Markdown": r"(?:.*(?:\*\*|```))|#+ |[-*] ",
    "hold entities of HTML": r".*&(?:[a-zA-Z]{2,8}|#\d{1,6});",
    "hold escaped characters": r".*(?:\\n|\\u[0-9a-f]{4}|\\\")",
    "hold tags": r".*<(?:/?[a-zA-Z][\w-]*|\|[\w ]+\|)\s*/?>",
    "begin with a code of a language": r"(?:__\w+__|<2\w+>|>>\w+<<|\[?[a-z]{3}_[A-Z][a-z]{3}\]?)\s",
    "hold marks of sub-words": r".*(?:▁|@@(?: |$)|(?:^| )(?:##|_)\w)",
    "hold question marks within words": r".*[^\W\d_]\?[^\W\d_]",
    "hold letters that were decoded wrongly": r".*(?:[ÃÂ][\u0080-\u00bf\u0152-\u0178\u2013-\u2122]|â€|\ufffd)",
    "hold invisible characters": r".*[\u200b\u2060\ufeff]",
    "have spaces before their punctuation": r".*\w [.,;:!?](?: |$)",
    "have no capital letter": r"(?=(?:.*[a-z]){3})(?!.*[A-ZÀ-ÖØ-Þ])",
    "have no small letter": r"(?=(?:.*[A-ZÀ-ÖØ-Þ]){3})(?!.*[a-zß-ÿ])",
}
"""What a line may have that belongs to its file and not to its text: what is said of it -> how it begins (regex)."""

LOOKED_AT, UNLIKE, ALIKE = 200, 0.2, 12
"""Lines of a text that are looked at, evenly spread; how much larger than elsewhere the share of a habit must be to be
told (at most 0.1 among the systems of WMT23 and WMT24, but for one that writes tags); characters of a beginning."""


def habits(
    texts: Mapping[str, Sequence[str]], refs: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """A note for each habit in the form of a text's lines that no reference has: a prompt, numbers, marks, no capitals.

    Parameters
    ----------
    texts : name -> lines, of the target side. refs : those to compare with; a text is not compared with itself, and
        without others with all of `texts`.
    """
    shares = {name: _shares(lines) for name, lines in {**refs, **texts}.items()}
    notes = []
    for name in texts:
        others = [shares[other] for other in refs if other != name] or [
            shares[o] for o in shares if o != name
        ]
        for told, (share, example) in shares[name].items():
            if share < UNLIKE + (
                min(other.get(told, (0.0, ""))[0] for other in others) if others else 0.0
            ):
                continue
            first = f" ({example})" if example else ""
            notes.append(
                f"{name}: {share:.0%} of its lines {told}{first}, and those that it is compared "
                "with do not; nothing was changed."
            )
    return tuple(notes)


def _shares(lines: Sequence[str]) -> dict[str, tuple[float, str]]:
    """Habit -> the share of lines that have it, and an example."""
    some = [line for line in lines[:: max(1, len(lines) // LOOKED_AT)] if line.strip()][
        : 2 * LOOKED_AT
    ]
    if len(some) < 10:
        return {}
    found = {
        told: [held for line in some if (held := re.match(pattern, line))]
        for told, pattern in HABITS.items()
    }
    shares = {
        told: (len(held) / len(some), repr(held[0][0][-30:]))
        for told, held in found.items()
        if held
    }
    alike = {
        "begin alike": Counter(line[:ALIKE] for line in some if len(line) > ALIKE),
        "are the same": Counter(some),
        "have the same length, as if they were cut": Counter(
            f"{len(line)} characters" for line in some if len(line) > 20
        ),
    }
    for told, counts in alike.items():
        (text, k), *_ = counts.most_common(1) or [("", 0)]
        shares[told] = (k / len(some), repr(text[:30]))
    return shares


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
            f"{name} starts with a byte-order mark, which is left out; sacreBLEU counts it as a "
            "character of the first segment, so that its scores may differ a little."
        )
    ends, both = text.count("\n"), text.count("\r\n")
    if 0 < both < ends:
        notes.append(
            f"{name}: {both} of {ends} lines end in CR LF, the others in LF; both are taken as "
            "line ends, and no carriage return as text."
        )
    if "\ufeff" in text:
        inside = [i for i, line in enumerate(lines, 1) if line.startswith("\ufeff")]
        if inside:
            more = f" ({len(inside)} such)" if len(inside) > 1 else ""
            notes.append(
                f"{name}: line {inside[0]} starts with a byte-order mark{more}, which is left in "
                "as text; were files joined?"
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
    return (sure or len(filled) > 1) and 2 * sum(map(bool, map(TAGGED.search, filled))) > len(
        filled
    )


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
    there = (
        read
        if {"candidates", "text"} & record.keys()
        else f"the first has the keys {', '.join(record)[:200]}"
    )
    return (
        "its lines are JSON objects, and a text is wanted, a line per segment; take the texts out "
        f"of it ({there})."
    )


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
        "paragraphs of the hypotheses, which empty lines part, into a text, a line each and in the "
        "order of your "
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
    told = (
        f"Decomposed letters (an accent apart from its letter, Unicode's NFD) stand in {named}, "
        "and fewer or none in"
    )
    why = (
        "chrF, BLEU and language models count code points, so that the same word written in both "
        "ways differs"
    )
    return (f"{told} the others: {why}; nothing was changed.",)
