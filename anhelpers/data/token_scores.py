"""Files of log-probabilities of sentences, per token or summed."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import PurePath
from typing import Any

import numpy as np

from .. import checks
from ..checks import ROUNDING
from ..errors import DataError, counted
from ..progress import note
from .io import _ints, parse_json, read_lines

# Unit -> nats in one of it.
NATS = {"nats": 1.0, "bits": math.log(2), "log10": math.log(10)}
# of a JSON key, or a header
_NAME = re.compile(r"(?:token_)?logprobs?(?:_(nats|bits|log10))?")
_FAIRSEQ = re.compile(r"([THP])-(\d{1,9})\t(.*)", re.DOTALL | re.ASCII)
_KEYS = {
    "ids": ("id", "segment_id", "sentence_id"),
    "docs": ("doc", "document"),
    "texts": ("text", "target"),
}


@dataclass(frozen=True)
class _TokenScores:
    """Log-probabilities of N sentences.

    Parameters
    ----------
    logprobs : (N,) array
        Sums over the tokens of each sentence, in nats, at most 0; nan if missing.
    firsts : (N,) array
        Scores of the first tokens, in nats; nan for a sum.
    tokens : tuple
        Per sentence its tokens, or only their number; None for a sum.
    ids, docs, texts : tuple of str, optional
        Ids, documents and texts of the sentences, if the file has them for all.
    unit, layout : str
        Unit of the numbers in the file; "jsonl", "fairseq" or "numbers".
    """

    logprobs: np.ndarray
    firsts: np.ndarray
    tokens: tuple[tuple[str, ...] | int | None, ...]
    ids: tuple[str, ...] | None = None
    docs: tuple[str, ...] | None = None
    texts: tuple[str, ...] | None = None
    unit: str = "nats"
    layout: str = "numbers"

    def __len__(self) -> int:
        return len(self.logprobs)

    @property
    def n_tokens(self) -> np.ndarray:
        """(N,) number of tokens; nan for a sum."""
        return np.array([len(t) if isinstance(t, tuple) else t for t in self.tokens], float)

    @property
    def starts_unscored(self) -> bool:
        """Whether all first tokens have the score 0, which some programs write for a token without context."""
        return {*self.firsts[~np.isnan(self.firsts)].tolist()} == {0.0}

    def without_first(self) -> _TokenScores:
        """Return the sentences without their first tokens; nan for a sentence of one token."""
        rest = np.where(self.n_tokens > 1, self.logprobs - self.firsts, np.nan)
        tokens = (t[1:] if isinstance(t, tuple) else t and t - 1 for t in self.tokens)
        return replace(self, logprobs=rest, tokens=tuple(tokens))

    def take(self, order: Sequence[int]) -> _TokenScores:
        """Return the sentences at these positions."""
        columns: dict[str, Any] = {
            name: tuple(column[k] for k in order)
            for name in ("tokens", *_KEYS)
            if (column := getattr(self, name)) is not None
        }
        sums, firsts = (column[list(order)] for column in (self.logprobs, self.firsts))
        return replace(self, logprobs=sums, firsts=firsts, **columns)


def _read_token_scores(path: str | PathLike, unit: str | None = None) -> _TokenScores:
    r"""Read log-probabilities of sentences in one of three layouts.

    - JSONL: an object per sentence with ``logprobs`` (or ``token_logprobs``: a list of token scores; or one sum; null
      if missing), and possibly ``tokens``, ``id``, ``doc``, ``text``.
    - Output of fairseq-generate --score-reference: lines ``P-<id>\t...`` with a score per token; missing ids are nan.
    - Numbers: a line per sentence with its sum or the scores of its tokens; "nan" if missing.

    A key or header such as ``logprobs_bits``, or a key ``unit``, declares the unit.

    Parameters
    ----------
    unit : str, optional
        "nats", "bits" or "log10" (KenLM, SRILM). By default what the file declares, else nats, or bits for fairseq
        (its version 0.6 wrote nats).

    Raises
    ------
    DataError : with file and line, for malformed, positive or infinite scores, a token without a score, and a declared
        unit that contradicts `unit` or another line.
    """
    if unit is not None:
        checks.one_of(unit, NATS, "unit")
    lines = read_lines(path)
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith("{"):
        found = _jsonl(lines, path, unit)
    elif any(_FAIRSEQ.match(line) for line in lines):
        found = _fairseq(lines, path, unit or "bits")
    else:
        found = _numbers(lines, path, unit)
    nats = NATS[found.unit]
    return replace(found, logprobs=found.logprobs * nats, firsts=found.firsts * nats)


def read_score_pair(
    mt: str | PathLike, lm: str | PathLike, unit: str | None = None, *, same_tokens: bool = True
) -> tuple[_TokenScores, _TokenScores, str]:
    """Read the scores of two models for the same sentences.

    Parameters
    ----------
    mt, lm : path
        Files of a translation model and a language model: JSONL, output of fairseq-generate, or a line of numbers per
        sentence (docs/input.md).
    same_tokens : bool
        Whether both models have the same tokens. If so, first tokens that one of them did not score (all 0, as from
        minicons) are left out of both files, with a note.

    Returns
    -------
    Both in one order, and how they were paired: by id if both files have ids, otherwise by line. The order is that of
    the ids if these are the numbers of the lines (from 0 or 1), else that of the first file.

    Raises
    ------
    DataError : mismatched ids, or a different order of numbers that are not those of the lines; a different number of
        sentences, or a different text of a sentence; first tokens that are not scored, if tokens differ.
    """
    ours, theirs = _read_token_scores(mt, unit), _read_token_scores(lm, unit)
    how, wrong = "paired by line", ""
    if ours.ids and theirs.ids and (lacking := sorted({*ours.ids} ^ {*theirs.ids})):
        wrong = f"id {lacking[0]:.40} is in one of the two files only"
    elif ours.ids and theirs.ids:
        how = "paired by id"
        place = {name: k for k, name in enumerate(theirs.ids)}
        numbers, n = _ints(ours.ids), len(ours)
        if numbers and {*numbers} in ({*range(n)}, {*range(1, n + 1)}):
            if numbers != sorted(numbers):
                note(f"{PurePath(mt).name}: sentences are taken in the order of their ids.")
            ours = ours.take(sorted(range(n), key=numbers.__getitem__))
        theirs = theirs.take([place[name] for name in ours.ids or ()])
    if len(ours) != len(theirs):
        wrong = wrong or f"got {counted(len(theirs), 'sentence')}, expected {len(ours)}"
    elif "fairseq" not in (ours.layout, theirs.layout):  # whose texts are tokenized
        pairs = enumerate(zip(ours.texts or (), theirs.texts or (), strict=False), 1)
        odd = next((k for k, (a, b) in pairs if a != b), None)
        wrong = wrong or (f"sentence {odd} has a different text" if odd else "")
    files = ((mt, ours), (lm, theirs))
    unscored = " and ".join(PurePath(path).name for path, one in files if one.starts_unscored)
    if unscored and not wrong:
        scored = ~np.isnan(ours.logprobs + theirs.logprobs)
        if same_tokens and (ours.n_tokens == theirs.n_tokens)[scored].all():
            ours, theirs = ours.without_first(), theirs.without_first()
            note(f"{unscored}: first tokens have no score (0); both files count without them.")
        else:
            why = "and the tokens differ" if same_tokens else "needed per character"
            wrong = f"first tokens of {unscored} have no score (0), {why}"
    if wrong:
        raise DataError(f"{wrong}, compared with {PurePath(mt).name}.", lm)
    if ours.unit != theirs.unit:
        units = " and ".join(f"{PurePath(path).name} in {one.unit}" for path, one in files)
        note(f"{units}: all scores are converted to nats. Choose one unit with --unit.")
    return ours, theirs, how


def _total(
    scores: Sequence[Any], per_token: bool, path: str | PathLike, line: int, n: int | None = None
) -> tuple[float, float]:
    """The sum of a sentence's scores and that of its first token, in the file's unit; nan if missing.

    Parameters
    ----------
    n : int, optional
        The number of tokens.
    """

    def fits(score: Any) -> bool:
        if isinstance(score, bool) or not isinstance(score, int | float):
            return False
        return checks.LEAST_LOGPROB <= score <= ROUNDING or (math.isnan(score) and not per_token)

    wrong = [score for score in scores if not fits(score)]
    if wrong or n not in (None, len(scores)):
        got = f"{wrong[0]!r:.40}" if wrong else counted(len(scores), "score")
        raise DataError(f"got {got}, expected a log-probability ≤ 0 for each.", path, line)
    if not scores:
        return math.nan, math.nan
    return min(math.fsum(scores), 0.0), scores[0] if per_token else math.nan


def _columns(totals: Sequence[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    """(N,) sums and (N,) scores of first tokens, from `_total` of each sentence."""
    sums, firsts = np.array(totals).reshape(-1, 2).T
    return sums, firsts


def _one_unit(said: Sequence[tuple[int, str]], unit: str | None, path: str | PathLike) -> str:
    """The unit of a file, from its lines ("" for none) and from the user."""
    found = unit or next((name for _, name in said if name), "nats")
    for line, name in said:
        if (name or unit or "nats") not in {found} & {*NATS}:
            raise DataError(f"unit: got {name or 'none'}, expected {found}.", path, line)
    return found


def _jsonl(lines: Sequence[str], path: str | PathLike, unit: str | None) -> _TokenScores:
    """Scores of a JSONL file."""
    sums, tokens, declared, records = [], [], [], []
    for line, text in enumerate(lines, 1):
        row = parse_json(text, path, line)
        names = [name for name in row if _NAME.fullmatch(name)]
        if len(names) != 1:
            raise DataError(f"got {len(names)} keys of scores, expected one: logprobs.", path, line)
        value, words = row.pop(names[0]), row.pop("tokens", None)
        if value is not None:
            units = {str(row.get("unit", "")), _NAME.fullmatch(names[0])[1] or ""}  # type: ignore[index]
            declared += [(line, name) for name in units - {""} or {""}]
        per_token = isinstance(value, list)
        scores = value if per_token else [] if value is None else [value]
        labelled = per_token and isinstance(words, list)
        n = max(1, len(words if labelled else scores)) if per_token else None
        sums.append(_total(scores, per_token, path, line, n))
        named = tuple(sys.intern(str(word)) for word in words) if labelled else None
        tokens.append(named or (len(scores) if per_token else None))
        records.append(row)
    labels: dict[str, Any] = {name: _label(records, keys) for name, keys in _KEYS.items()}
    labels["ids"] = _distinct(labels["ids"], labels["docs"], path)
    labels |= {"unit": _one_unit(declared, unit, path), "layout": "jsonl"}
    return _TokenScores(*_columns(sums), tuple(tokens), **labels)


def _label(records: Sequence[dict[str, Any]], keys: Sequence[str]) -> tuple[str, ...] | None:
    """The values of the first key that all records have, as texts."""
    for key in keys:
        if all(isinstance(row.get(key), str | int) for row in records):
            return tuple(str(row[key]).strip() for row in records)
    return None


def _distinct(
    ids: tuple[str, ...] | None, docs: tuple[str, ...] | None, path: str | PathLike
) -> tuple[str, ...] | None:
    """The ids, together with their documents if they repeat."""
    if ids and docs and len({*ids}) < len(ids):
        ids = tuple(f"{doc}:{name}" for doc, name in zip(docs, ids, strict=True))
    if ids and len({*ids}) < len(ids):
        k = next(k for k, name in enumerate(ids) if name in ids[:k])
        raise DataError(f"id {ids[k]:.60} is repeated.", path, k + 1)
    return ids


def _fairseq(lines: Sequence[str], path: str | PathLike, unit: str) -> _TokenScores:
    """Scores of fairseq's output in the order of its ids; tokens from H if they fit."""
    found: dict[str, dict[int, tuple[int, str]]] = {"T": {}, "H": {}, "P": {}}
    for line, text in enumerate(lines, 1):
        if match := _FAIRSEQ.fullmatch(text):
            kind, key = match[1], int(match[2])
            if kind == "P" and key in found["P"]:
                raise DataError(f"sentence {key} has two scores: expected one run.", path, line)
            found[kind][key] = line, match[3]
    if not found["P"] or max(found["P"]) > 1_000_000 + 2 * len(found["P"]):
        raise DataError("no lines P-<id> with scores, or an id is malformed.", path)
    sums, tokens = [], []
    for key in range(max(found["P"]) + 1):
        line, text = found["P"].get(key, (0, ""))
        scores = list(_floats(text)) if line else []
        words = found["H"].get(key, (0, ""))[1].split("\t")[-1].split()
        sums.append(_total(scores, True, path, line))
        fits = words and len(words) + 1 == len(scores)
        tokens.append((*map(sys.intern, words), "</s>") if fits else len(scores) or None)
    n = range(len(sums))
    texts = tuple(found["T"].get(k, (0, ""))[1] for k in n) if found["T"] else None
    ids, columns = tuple(map(str, n)), _columns(sums)
    return _TokenScores(*columns, tuple(tokens), ids, None, texts, unit, "fairseq")


def _numbers(lines: Sequence[str], path: str | PathLike, unit: str | None) -> _TokenScores:
    """Scores of a file of numbers, possibly with a header that declares their unit."""
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    header = _NAME.fullmatch(lines[0].strip()) if lines else None
    declared = [(1, header[1])] if header and header[1] else []
    start = 1 if header else 0
    rows = [list(_floats(text)) for text in lines[start:]]
    rows = [row if len(row) > 1 or row[0] == row[0] else [] for row in rows]  # nan: missing
    lengths = [len(row) for row in rows if row]
    each = 2 * sum(n > 1 for n in lengths) >= len(lengths) > 0  # else sums, and perhaps odd lines
    lines_of = enumerate(rows, start + 1)
    sums = [_total(row, each, path, i, None if each or not row else 1) for i, row in lines_of]
    tokens, unit = (
        tuple((each and len(row)) or None for row in rows),
        _one_unit(declared, unit, path),
    )
    return _TokenScores(*_columns(sums), tokens, unit=unit)


def _floats(text: str) -> Iterator[float | str]:
    """The numbers of a line; a word that is none is left to `_total`."""
    for word in text.split() or [""]:
        try:
            yield float(word)
        except ValueError:
            yield word
