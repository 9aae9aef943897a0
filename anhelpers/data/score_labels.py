"""What files of scores say of their sentences besides the score: id, document, text, length; whether texts agree."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from ..errors import DataError

__all__ = ["Labels", "labels_of", "other_lengths", "same_texts", "scored_texts"]

# Keys are compared without underscores, hyphens and capitals; where a row has several, the first of the list counts.
IDS = (
    "id",
    "sentenceid",
    "segmentid",
    "globalsegid",
    "sentid",
    "segid",
    "sentence",
    "segment",
    "index",
    "idx",
    "line",
)
DOCS = ("doc", "document", "docid", "documentid", "docname")
TEXTS = ("text", "target", "trg", "hypothesis", "hyp", "sentence", "segment")
LENGTHS = ("ntokens", "numtokens", "tokencount")
MOST_APART = 0.05  # of the sentences may have another text by what a tokenizer or a normaliser does

Record = tuple[int, dict[str, Any]]


@dataclass(frozen=True)
class Labels:
    """Id, document, text and length of each of N sentences, as far as a file has them.

    Parameters
    ----------
    ids : each different; None where the file has none.
    docs : the document of each sentence; None where the file has none.
    texts : the target sentences; None where the file does not tell them.
    lengths : numbers of tokens, as a key such as n_tokens tells them, the end included or not: they only help to see
        what the scores are; None for what is no whole number above 0, and where the file has none.
    keys : of the rows, those that the four are from.
    """

    ids: tuple[str, ...] | None = None
    docs: tuple[str, ...] | None = None
    texts: tuple[str, ...] | None = None
    lengths: tuple[int | None, ...] | None = None
    keys: tuple[str, ...] = ()


def labels_of(records: Sequence[Record], path: str | PathLike) -> Labels:
    """Ids, documents, texts and lengths of the rows of a file, each where all rows have it.

    An id is a whole number or a text without white space, under `id`, `sentence`, `segment`, `index`, `line` and their
    like; `sentence` and `segment` may hold the sentence instead. Where ids repeat and each row names its document, as
    segments numbered anew in each document do, an id is that of both.

    Parameters
    ----------
    records : (line, JSON object) of each sentence.

    Raises
    ------
    DataError with the line of an id or document that is missing in some rows only, is no number or text, or repeats.
    """
    docs_key, text_key = _key(records, DOCS), _key(records, TEXTS, texts=True)
    ids_key = _key(records, IDS, texts=False)
    docs = _column(records, docs_key, path)
    texts, lengths, length_key = None, None, _key(records, LENGTHS)
    if text_key and all(isinstance(row.get(text_key), str) for _, row in records):
        texts = tuple(row[text_key].strip() for _, row in records)
    else:
        text_key = None
    if length_key:
        told = [row.get(length_key) for _, row in records]
        lengths = tuple(n if type(n) is int and n > 0 else None for n in told)
    keys = tuple(key for key in (ids_key, docs_key, text_key, length_key) if key)
    ids = _distinct(_column(records, ids_key, path), docs, (records, ids_key or "", path))
    return Labels(ids, docs, texts, lengths, keys)


def other_lengths(labels: Labels, counts: Sequence[int | None]) -> tuple[str, ...]:
    """A note where a key such as n_tokens tells other lengths than the scores have, the end of a sentence aside.

    Parameters
    ----------
    labels : of the file. counts : per sentence the number of its scores; None where it has a sum.
    """
    both = zip(labels.lengths or (), counts, strict=False)
    odd = [
        (i, said, k) for i, (said, k) in enumerate(both, 1) if said and k and said not in (k, k - 1)
    ]
    if not odd:
        return ()
    i, said, k = odd[0]
    told = f"sentence {i} says that it has {said} tokens, and has {k} scores"
    return (
        f"{told} ({len(odd)} of {len(counts)} sentences are so): are scores missing, or of another "
        "text?",
    )


def scored_texts(
    said: Mapping[str, Mapping[int, str]], n: int, path: str | PathLike
) -> tuple[Labels, tuple[str, ...]]:
    """Ids and texts of n sentences of fairseq's output, whose scores must be those of the references.

    Parameters
    ----------
    said : kind of line -> id -> text: "T" the reference, "H" what was scored, "D" the same, detokenised.

    Returns
    -------
    Ids from 0 and texts ("" where there is none), and a note where the log does not show that references were scored.

    Raises
    ------
    DataError where H and D are not T in more than 1 of 20 sentences: fairseq-generate scored what it wrote itself.
    """
    columns = {kind: [texts.get(key, "") for key in range(n)] for kind, texts in said.items()}
    refs, hyps, detokenised = (columns[kind] for kind in "THD")
    both = [k for k in range(n) if refs[k] and (hyps[k] or detokenised[k])]
    odd = [
        k for k in both if all(_apart(refs[k], text) for text in (hyps[k], detokenised[k]) if text)
    ]
    if len(odd) > MOST_APART * len(both):
        k = odd[0]
        seen = (
            f"'{hyps[k] or detokenised[k]:.60}' (H-{k}), and the reference is '{refs[k]:.60}' "
            f"(T-{k})"
        )
        told = (
            f"scores of other texts than the references, in {len(odd)} of {len(both)} sentences: "
            f"of {seen}"
        )
        raise DataError(f"{told}; run fairseq-generate with --score-reference.", path)
    told = (
        "T- or H- lines are lacking, so it was not checked that the references were scored "
        "(--score-reference)."
    )
    notes = (
        (told,)
        if not both
        else _few_apart(odd, len(both), "are not the references", str(odd and odd[0]))
    )
    texts = tuple(t or d or h for t, d, h in zip(refs, detokenised, hyps, strict=True))
    return Labels(tuple(map(str, range(n))), None, texts if any(texts) else None), notes


def same_texts(
    ours: Sequence[str] | None, theirs: Sequence[str] | None, our_path: str, path: str | PathLike
) -> tuple[str, ...]:
    """A note that counts the sentences of which two files have different texts; () where there are none.

    Only letters and digits are compared, not spacing, case and punctuation, which tokenizers change; nor is a text
    that is blank or has an unknown token.

    Parameters
    ----------
    ours, theirs : N texts of each file; None: it has none. our_path, path : of the two files.

    Raises
    ------
    DataError, of `path`, where more than 1 of 20 differ.
    """
    both = list(zip(ours or (), theirs or (), strict=False))
    odd = [k for k, (a, b) in enumerate(both) if _apart(a, b)]
    if len(odd) <= MOST_APART * len(both):
        return _few_apart(
            odd, len(both), f"are others in {path} than in {our_path}", str(odd and odd[0] + 1)
        )
    a, b = both[odd[0]]
    told = (
        f"sentence {odd[0] + 1} is '{b:.60}', and '{a:.60}' in {our_path} ({len(odd)} of "
        f"{len(both)} texts differ)"
    )
    raise DataError(f"{told}; give the texts that were scored, in the same order.", path)


def _few_apart(odd: Sequence[int], n: int, what: str, first: str) -> tuple[str, ...]:
    return (f"{len(odd)} of {n} texts {what}, first that of sentence {first}.",) if odd else ()


def _apart(a: str, b: str) -> bool:
    """Whether two texts differ in their letters or digits; not where one is blank or has an unknown token."""
    return bool(a.strip() and b.strip()) and "<unk>" not in a + b and _letters(a) != _letters(b)


def _letters(text: str) -> str:
    return "".join(
        filter(str.isalnum, unicodedata.normalize("NFKC", html.unescape(text)).casefold())
    )


def _key(records: Sequence[Record], names: Sequence[str], texts: bool | None = None) -> str | None:
    """The first of these names that any row has; `texts`: whether it must, or must not, hold sentences."""
    keys = {_plain(key): key for _, row in records for key in row}
    for name in names:
        if name not in keys:
            continue
        sentences = any(
            isinstance(v := row.get(keys[name]), str) and len(v.split()) > 1 for _, row in records
        )
        # `sentence` is a number in some files, and the sentence in others
        both = name in IDS and name in TEXTS
        if texts is None or not both or sentences == texts:
            return keys[name]
    return None


def _plain(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")


def _column(
    records: Sequence[Record], key: str | None, path: str | PathLike
) -> tuple[str, ...] | None:
    """The values of a key, as texts; a DataError where a row has none."""
    if key is None:
        return None
    for line, row in records:
        value = row.get(key)
        if value is None:
            told = f'there is no "{key}", which other lines have'
            raise DataError(f"{told}; name it in all lines, or in none.", path, line)
        whole = isinstance(value, str) or (isinstance(value, int | float) and value == value // 1)
        if isinstance(value, bool) or not whole or value == "":
            raise DataError(
                f'"{key}" is {value!r:.60}; a whole number or a text is wanted.', path, line
            )
    return tuple(
        value if isinstance(value := row[key], str) else str(int(value)) for _, row in records
    )


def _distinct(
    ids: tuple[str, ...] | None,
    docs: tuple[str, ...] | None,
    where: tuple[Sequence[Record], str, str | PathLike],
) -> tuple[str, ...] | None:
    """The ids, with their documents where they repeat; a DataError where they repeat all the same."""
    if ids is None or len(set(ids)) == len(ids):
        return ids
    if docs is not None:
        ids = tuple(f"{doc}:{i}" for doc, i in zip(docs, ids, strict=True))
    if len(set(ids)) == len(ids):
        return ids
    again = next(k for k, name in enumerate(ids) if ids.index(name) < k)
    records, key, path = where
    told = f'"{key}" {ids[again]} stands in line {records[ids.index(ids[again])][0]} too'
    raise DataError(
        f"{told}; give each sentence an id of its own, also in files that are joined.",
        path,
        records[again][0],
    )
