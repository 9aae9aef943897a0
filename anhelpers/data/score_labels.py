"""What the rows of a JSONL file of scores say of their sentences besides the score: id, document, text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from ..errors import DataError

__all__ = ["Labels", "labels_of"]

# Keys are compared without underscores, hyphens and capitals; where a row has several, the first of the list counts.
IDS = ("id", "sentenceid", "segmentid", "globalsegid", "sentid", "segid", "sentence", "segment", "index", "idx", "line")
DOCS = ("doc", "document", "docid", "documentid", "docname")
TEXTS = ("text", "target", "trg", "hypothesis", "hyp", "sentence", "segment")

Record = tuple[int, dict[str, Any]]


@dataclass(frozen=True)
class Labels:
    """Id, document and text of each of N sentences, as far as a file has them.

    Parameters
    ----------
    ids : each different; None where the file has none.
    docs : the document of each sentence; None where the file has none.
    texts : the target sentences; None where the file does not tell them.
    """

    ids: tuple[str, ...] | None = None
    docs: tuple[str, ...] | None = None
    texts: tuple[str, ...] | None = None


def labels_of(records: Sequence[Record], path: str | PathLike) -> Labels:
    """Ids, documents and texts of the rows of a file, each where all rows have it.

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
    texts = None
    if text_key and all(isinstance(row.get(text_key), str) for _, row in records):
        texts = tuple(row[text_key].strip() for _, row in records)
    return Labels(_distinct(_column(records, ids_key, path), docs, (records, ids_key or "", path)), docs, texts)


def _key(records: Sequence[Record], names: Sequence[str], texts: bool | None = None) -> str | None:
    """The first of these names that any row has; `texts`: whether it must, or must not, hold sentences."""
    keys = {_plain(key): key for _, row in records for key in row}
    for name in names:
        if name not in keys:
            continue
        sentences = any(isinstance(v := row.get(keys[name]), str) and len(v.split()) > 1 for _, row in records)
        both = name in IDS and name in TEXTS  # `sentence` is a number in some files, and the sentence in others
        if texts is None or not both or sentences == texts:
            return keys[name]
    return None


def _plain(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")


def _column(records: Sequence[Record], key: str | None, path: str | PathLike) -> tuple[str, ...] | None:
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
            raise DataError(f'"{key}" is {value!r:.60}; a whole number or a text is wanted.', path, line)
    return tuple(value if isinstance(value := row[key], str) else str(int(value)) for _, row in records)


def _distinct(
    ids: tuple[str, ...] | None, docs: tuple[str, ...] | None, where: tuple[Sequence[Record], str, str | PathLike]
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
    raise DataError(f"{told}; give each sentence an id of its own, or none.", path, records[again][0])
