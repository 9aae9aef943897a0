"""Files of log-probabilities of given sentences, per token or summed, in the formats that scorers write."""

from __future__ import annotations

import math
import re
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from .. import checks
from ..checks import LEAST_TOKEN, LEAST_TOTAL, ROUNDING, too_low
from ..errors import DataError
from .lines import json_value, numbered, table_lines
from .numbers import columns_doubt, far_out, number_in
from .records import unread
from .score_labels import Labels, labels_of, other_lengths, scored_texts

__all__ = ["NATS", "TokenScores", "read_token_scores"]

NATS = {"nats": 1.0, "bits": math.log(2), "log10": math.log(10)}  # nats in one of each
NAMES = {  # the name of a column or a key -> the unit that it declares; None: none
    "logprobs": None,
    "token_logprobs": None,
    "logprob": None,
    "logprobs_nats": "nats",
    "logprob_nats": "nats",
    "lnprob": "nats",
    "lnprobs": "nats",
    "logprobs_bits": "bits",
    "logprob_bits": "bits",
    "log2prob": "bits",
    "log2probs": "bits",
    "logprobs_log10": "log10",
    "logprob_log10": "log10",
    "log10prob": "log10",
    "log10probs": "log10",
}
ALIASES = {
    "nats": "nats",
    "nat": "nats",
    "ln": "nats",
    "e": "nats",
    "bits": "bits",
    "bit": "bits",
    "log2": "bits",
    "2": "bits",
    "log10": "log10",
    "10": "log10",
}
FAIRSEQ = re.compile(r"([STHDPA])-(\d{1,18})\t(.*)", re.DOTALL | re.ASCII)
MOST_LEFT_OUT = 1_000_000  # ids of fairseq's output, at which an id is rather wrong


@dataclass(frozen=True)
class TokenScores:
    """Log-probabilities of N sentences as a file gives them.

    Parameters
    ----------
    logprobs : (N,) summed over the tokens of each sentence, in nats, at most 0; nan where it is missing.
    counts : per sentence the number of scored tokens; None where the file has sums only.
    tokens : per sentence its tokens; None where the file does not tell them.
    unit : of the numbers in the file, "nats", "bits" or "log10"; source: "declared" by the file, "given", or "assumed".
    layout : "jsonl", "fairseq" or "numbers".
    labels : ids, documents, texts and lengths, as far as the file has them. path : of the file.
    notes : scores that are odd, and no error; keys that are not read; blank lines at the end, left out.
    """

    logprobs: np.ndarray
    counts: tuple[int | None, ...]
    tokens: tuple[tuple[str, ...] | None, ...]
    unit: str
    source: str
    layout: str
    labels: Labels = field(default_factory=Labels)
    path: str = ""
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.logprobs)

    def sequences(self) -> list[int | tuple[str, ...] | None]:
        """What is known of each sentence's tokens: the tokens, else their number, else None."""
        return [c if t is None else t for t, c in zip(self.tokens, self.counts, strict=True)]


@dataclass(frozen=True, slots=True)
class _Row:
    """One sentence of a file: its line, its scores in the file's unit, whether they are of tokens."""

    line: int
    scores: Sequence[float] | None
    per_token: bool
    tokens: tuple[str, ...] | None = None
    unit: str | None = None


def read_token_scores(path: str | PathLike, unit: str | None = None) -> TokenScores:
    r"""Summed log-probabilities in nats, with tokens or their numbers where the file has them.

    Three layouts, told apart by what the file holds:

    - JSONL, an object per sentence with `logprobs` or `token_logprobs` (a list, or one sum; null: missing) and perhaps
      `tokens` and `unit`; `logprobs_nats`, `lnprobs`, `log2probs`, `logprobs_bits`, `log10probs` name the unit in the
      key; ids, documents and texts of the sentences as in `labels_of`;
    - the output of fairseq-generate with --score-reference, whose lines ``P-<id>\t...`` hold a score per token; the
      sentences come in the order of their ids, and an id that is left out is missing (nan); the texts that were scored
      (H-) must be the references (T-), as far as the file has both;
    - numbers, a line per sentence: one sum, or the scores of its tokens; "nan" is a missing one; a first line such as
      ``logprob_nats``, ``log2prob`` or ``log10prob`` declares the unit; blank lines at the end are left out.

    Parameters
    ----------
    unit : "nats", "bits" or "log10" (KenLM, SRILM). None: what the file declares, else nats, but bits for fairseq,
        whose newer versions write base-2 logarithms; its old ones (0.6) write natural ones and need unit="nats".

    Raises
    ------
    DataError with file and line for what cannot be read, a positive or infinite score or one lower than any model gives
    (`checks.too_low`), a token without a score, a sum and its mean in place of tokens, a declared unit that contradicts
    `unit`, or, without `unit`, one that only some of the rows declare.
    """
    if unit is not None:
        checks.one_of(unit, NATS, "unit")
    lines = table_lines(path)
    layout, rows, labels, notes = _rows(lines, path)
    found, source = _unit(rows, unit, "bits" if layout == "fairseq" else "nats", path)
    sums = np.array([_sum(row, found, path) for row in rows], dtype=np.float64) * NATS[found]
    counts = tuple(
        len(row.scores) if row.per_token and row.scores is not None else None for row in rows
    )
    bare = [row.scores for row in rows if row.scores and row.per_token and row.tokens is None]
    odd = columns_doubt(bare, path) if layout != "fairseq" else ()
    tokens = tuple(row.tokens for row in rows)
    notes = (*notes, *odd, *other_lengths(labels, counts), *far_out(sums))
    return TokenScores(sums, counts, tokens, found, source, layout, labels, str(path), notes)


def _rows(
    lines: Sequence[str], path: str | PathLike
) -> tuple[str, list[_Row], Labels, tuple[str, ...]]:
    """The layout, the sentences, what is known of them, and what was not read."""
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        raise DataError("this file is empty; give a line per sentence.", path)
    if first.lstrip().startswith("{"):
        rows, records = [], []
        for i, line in numbered(lines, path):
            if line.strip():
                record = json_value(line, path, i)
                rows.append(_object(record, path, i))
                records.append((i, _without_scores(record)))
        labels = labels_of(records, path)
        known = {*NAMES, "tokens", "unit", *labels.keys}
        notes = unread(
            [row for _, row in records], lambda k, told: DataError(told, path, records[k][0]), known
        )
        return "jsonl", rows, labels, notes
    if any(FAIRSEQ.match(line) for line in lines):
        texts: dict[str, dict[int, str]] = {"T": {}, "H": {}, "D": {}}
        rows = list(_fairseq(lines, texts, path))
        return "fairseq", rows, *scored_texts(texts, len(rows), path)
    n = max(k for k, line in enumerate(lines, 1) if line.strip())
    blank = len(lines) - n
    notes = (f"{blank} blank line{'s' if blank > 1 else ''} at the end left out.",) if blank else ()
    return "numbers", list(_numbers(lines[:n], path)), Labels(), notes


def _without_scores(record: dict[str, Any]) -> dict[str, Any]:
    """What else a row says, its keys held once for all rows: of a million sentences the scores would fill gigabytes."""
    return {
        sys.intern(key): None if key in NAMES or key == "tokens" else value
        for key, value in record.items()
    }


def _packed(scores: Iterable[float]) -> array[float]:
    """Scores of 8 bytes each; a tuple takes 32."""
    return array("d", list(scores))  # of a list it takes no more room than it needs


def _interned(tokens: Iterable[str]) -> tuple[str, ...]:
    """Tokens, each held once however often it comes."""
    return tuple(map(sys.intern, tokens))


def _unit(
    rows: Sequence[_Row], unit: str | None, usual: str, path: str | PathLike
) -> tuple[str, str]:
    """The unit of all numbers of the file, and how it is known."""
    found, source = (unit, "given") if unit else (None, "assumed")
    for row in rows:
        if row.unit is None:
            continue
        if found is None:
            found = row.unit
        elif row.unit != found:
            other = "you say" if source == "given" else "the lines above say"
            raise DataError(
                f"these scores are declared as {row.unit}, and {other} {found}.", path, row.line
            )
        source = "declared" if source == "assumed" else source
    if source == "declared" and (
        bare := [row.line for row in rows if row.unit is None and row.scores is not None]
    ):
        first = next(row for row in rows if row.unit is not None)
        told = f"these scores declare no unit, and line {first.line} declares {first.unit}"
        raise DataError(
            f"{told}; declare it in all lines, or say which unit the file is in.", path, bare[0]
        )
    return found or usual, source


def _sum(row: _Row, unit: str, path: str | PathLike) -> float:
    """The sum of a sentence's scores, in the file's unit; nan where they are missing."""
    if row.scores is None:
        return math.nan
    for k, score in enumerate(row.scores, 1):
        where = f"token {k}: " if row.per_token else ""
        if math.isinf(score) or (math.isnan(score) and row.per_token):
            raise DataError(f"{where}'{score:g}' is no finite number.", path, row.line)
        if score > ROUNDING:
            sentence = (
                "is a probability above 1; are these negative log-probabilities? Turn their sign."
            )
            if row.per_token and score == round(score) and min(row.scores) <= 0:
                sentence = (
                    "is a probability above 1; an id, or a number of tokens? Give "
                    "log-probabilities only."
                )
            raise DataError(f"{where}{score:g} {sentence}", path, row.line)
        if told := too_low(score * NATS[unit], LEAST_TOKEN if row.per_token else LEAST_TOTAL):
            raise DataError(f"{where}{score:.10g} {told}", path, row.line)
    return min(0.0, math.fsum(row.scores))


def _object(row: Any, path: str | PathLike, number: int) -> _Row:
    """A sentence of a JSONL file."""
    keys = [key for key in NAMES if isinstance(row, dict) and key in row]
    if len(keys) != 1:
        seen = f"has {' and '.join(keys)}" if keys else f"has none of {', '.join(NAMES)}"
        raise DataError(f"{seen}; one of them is wanted.", path, number)
    value, tokens = row[keys[0]], row.get("tokens")
    unit = _declared(keys[0], row.get("unit"), path, number)
    if value is None:
        return _Row(number, None, False, None, unit)
    if not isinstance(value, list):
        scores = _packed([_score(value, path, number, "")])
        return _Row(number, None if math.isnan(scores[0]) else scores, False, None, unit)
    scores = _packed(_score(v, path, number, f"token {k}: ") for k, v in enumerate(value, 1))
    if not scores:
        raise DataError(
            "there is no token, and at least the end of the sentence has a score.", path, number
        )
    if tokens is not None and (not isinstance(tokens, list) or len(tokens) != len(scores)):
        n = len(tokens) if isinstance(tokens, list) else "no list of"
        raise DataError(
            f"{n} tokens and {len(scores)} log-probabilities; each token needs one.", path, number
        )
    named = None if tokens is None else _interned(map(str, tokens))
    return _Row(number, scores, True, named, unit)


def _declared(key: str, unit: object, path: str | PathLike, line: int) -> str | None:
    """The unit that a key, a column or a "unit" declares."""
    if unit is None:
        return NAMES[key]
    named = ALIASES.get(str(unit).lower())
    if named is None:
        raise DataError(f"unknown unit '{unit}'; known: {', '.join(NATS)}.", path, line)
    if NAMES[key] not in (None, named):
        raise DataError(f"{key} are {NAMES[key]}, and unit says {named}.", path, line)
    return named


def _score(value: object, path: str | PathLike, line: int, where: str) -> float:
    """A number of a JSON object; a token that the model did not predict is an error."""
    if value is None:
        raise DataError(
            f"{where}null; a sentence's first token needs a score too: put a start token before "
            "it.",
            path,
            line,
        )
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"{where}{value!r} is no number.", path, line)
    try:
        return float(value)
    except OverflowError:
        raise DataError(
            f"{where}a number of {len(str(value))} digits is no log-probability.", path, line
        ) from None


def _fairseq(
    lines: Sequence[str], texts: dict[str, dict[int, str]], path: str | PathLike
) -> Iterator[_Row]:
    """The sentences of a fairseq-generate output, by their ids, with tokens from H where they fit; fills `texts`."""
    scores: dict[int, tuple[int, Sequence[float]]] = {}
    for number, line in enumerate(lines, 1):
        found = FAIRSEQ.fullmatch(line)
        if not found:
            if re.match(r"P-\d{19}", line):
                raise DataError(f"'{line:.30}…' has an id of too many digits.", path, number)
            continue
        kind, key, rest = found[1], int(found[2]), found[3]
        if kind in texts:
            texts[kind][key] = rest if kind == "T" else rest.split("\t", 1)[-1]
        if kind == "P" and key in scores:
            told = (
                f"sentence {key} has a second hypothesis, or is of a second log (the first: line "
                f"{scores[key][0]})"
            )
            raise DataError(
                f"{told}; score one text each (--score-reference), give a single log.", path, number
            )
        if kind == "P" and not rest.split():
            raise DataError(
                f"sentence {key} has no score; at least the end of the sentence has one.",
                path,
                number,
            )
        if kind == "P":
            scores[key] = number, _packed(number_in(word, path, number) for word in rest.split())
    if not scores:
        raise DataError(
            "fairseq's output without lines of P-<id>, the scores per token; do not use --quiet.",
            path,
        )
    if max(scores) >= MOST_LEFT_OUT + 2 * len(scores):
        raise DataError(
            f"sentence {max(scores)} of only {len(scores)} sentences; is an id wrong?",
            path,
            scores[max(scores)][0],
        )
    for key in range(max(scores) + 1):
        number, values = scores.get(key, (0, None))
        words = texts["H"].get(key, "").split()
        whole = (
            None
            if values is None or not words or len(words) + 1 != len(values)
            else _interned((*words, "</s>"))
        )
        yield _Row(number, values, values is not None, whole)


def _numbers(lines: Sequence[str], path: str | PathLike) -> Iterator[_Row]:
    """The sentences of a file of numbers, perhaps below a header that declares their unit."""
    name = lines[0].strip().lower()
    each = any(len(line.split(maxsplit=1)) > 1 for line in lines)
    for number, line in enumerate(lines, 1):
        words = line.split()
        if number == 1 and name in NAMES:
            continue
        if not words:
            raise DataError("'' is no number; write nan where there is none.", path, number)
        values = _packed(number_in(word, path, number) for word in words)
        missing = len(values) == 1 and math.isnan(values[0])
        yield _Row(number, None if missing else values, each, None, NAMES.get(name))
