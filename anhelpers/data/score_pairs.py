"""Two files of scores of the same sentences, brought into one order: by their ids, else line by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike

import numpy as np

from ..errors import DataError
from .numbers import FEW, WHOLE, repeated_value
from .score_labels import Labels, same_texts
from .token_scores import NATS, TokenScores, read_token_scores

__all__ = [
    "APART",
    "docs_of",
    "lengths_of",
    "paired",
    "read_score_pair",
    "reading_notes",
    "tokenizer_notes",
]

ALIKE = 0.005  # relative: what rounding to three significant digits changes

BY_LINE, BY_ID = "paired by line", "paired by id"
BY_NUMBER = "paired by line, fairseq's ids as lines from 0"
APART = "paired by id, in the order of the first file"
"""How two files were paired whose rows stand in different orders that no number tells: lines of others do not fit."""


def read_score_pair(
    mt: str | PathLike, lm: str | PathLike, unit: str | None = None
) -> tuple[TokenScores, TokenScores, str]:
    """The scores of a translation model and of a language model for the same sentences, in the same order.

    Parameters
    ----------
    mt, lm : their files, as in `read_token_scores`. unit : of both.

    Returns
    -------
    Both, and how they were paired, for the signature.

    Raises
    ------
    DataError as in `read_token_scores` and `paired`.
    """
    return paired(read_token_scores(mt, unit), read_token_scores(lm, unit))


def paired(mt: TokenScores, lm: TokenScores) -> tuple[TokenScores, TokenScores, str]:
    """The two in one order: that of the ids where they number the sentences, else that of the first.

    Line by line where neither file has ids, and where one is fairseq's output, whose ids are numbers of lines (from 0),
    and the other has none.

    Parameters
    ----------
    mt, lm : scores of the same sentences.

    Returns
    -------
    Both, and how they were paired.

    Raises
    ------
    DataError where they are not of the same sentences: another number of them, ids in one file only, other ids, other
    documents or texts under an id; where both hold the same scores, up to rounding, or the one those of the other per
    token or in another unit, so that one model was given twice; where all scores of one are 0; and where sentences come
    again, ten in a row or each at once.
    """
    how = BY_NUMBER if "fairseq" in (mt.layout, lm.layout) else BY_LINE
    if mt.labels.ids and lm.labels.ids:
        mt, lm, how = _by_id(mt, lm)
    elif (mt.labels.ids or lm.labels.ids) and "fairseq" not in (mt.layout, lm.layout):
        bare, other = (mt, lm) if lm.labels.ids else (lm, mt)
        raise DataError(
            f"has no ids, and {other.path} has; give both files the same ids, or neither.",
            bare.path,
        )
    if len(mt) != len(lm):
        raise DataError(
            f"has {len(lm)} sentences, and {mt.path} has {len(mt)}; they must be the same.", lm.path
        )
    _agree("of document ", mt.labels.docs, lm.labels.docs, (mt, lm))
    if "fairseq" in (mt.layout, lm.layout):  # whose texts are of another tokenizer
        told = same_texts(mt.labels.texts, lm.labels.texts, mt.path, lm.path)
        lm = replace(lm, notes=(*lm.notes, *told))
    else:
        _agree("", mt.labels.texts, lm.labels.texts, (mt, lm))
    _two_models(mt, lm)
    _once(mt, lm)
    return mt, lm, how


def docs_of(mt: TokenScores, lm: TokenScores) -> tuple[str, ...] | None:
    """The document of each sentence, as the files name it; None where neither does.

    Parameters
    ----------
    mt, lm : in one order, as `paired` gives them.
    """
    return mt.labels.docs or lm.labels.docs


def lengths_of(mt: TokenScores, lm: TokenScores) -> list[int | None]:
    """The number of tokens of each sentence, from its scores, else from a key such as n_tokens, of either file.

    Parameters
    ----------
    mt, lm : in one order, as `paired` gives them.
    """
    unknown: tuple[None, ...] = (None,) * len(mt)
    sides = [
        side for scores in (mt, lm) for side in (scores.counts, scores.labels.lengths or unknown)
    ]
    return [next((n for n in told if n is not None), None) for told in zip(*sides, strict=True)]


def reading_notes(
    mt: TokenScores, lm: TokenScores, texts: Sequence[str] | None = None
) -> list[str]:
    """What the files do not say themselves, such as their unit, and scores that are odd.

    Parameters
    ----------
    mt, lm : in one order, as `paired` gives them. texts : (N,) of the sentences; None: unknown.
    """
    named = [("mt", mt), ("lm", lm)]
    assumed = [(name, scores.unit) for name, scores in named if scores.source == "assumed"]
    move = "nothing in a number shows its unit, --unit decides (log10 for KenLM and SRILM)"
    notes = [f"the {name} scores are taken as {unit}; {move}." for name, unit in assumed]
    if assumed and mt.unit != lm.unit:
        notes.append(
            f"mt is in {mt.unit}, lm in {lm.unit}: where both are in one unit, name it by --unit."
        )
    if not (mt.labels.ids and lm.labels.ids):
        fairseq = "fairseq" in (mt.layout, lm.layout)
        line = (
            "fairseq's sentence 0 is taken for the first line"
            if fairseq
            else "each line is taken for the same line"
        )
        notes.append(f"the files do not both have ids: {line} of the other.")
    for name, scores in named:
        odd = repeated_value(scores.logprobs / NATS[scores.unit], texts)
        notes += [f"{name}: {note}" for note in (*scores.notes, *odd)]
    return notes


def tokenizer_notes(mt: TokenScores, lm: TokenScores) -> tuple[str, ...]:
    """Notes where nothing shows that both models cut sentences into the same tokens, or n_tokens shows the contrary.

    Numbers of tokens that all differ by 1 tell nothing: the end may be counted in one file only.

    Parameters
    ----------
    mt, lm : in one order, as `paired` gives them.
    """
    if any(
        a is not None and b is not None for a, b in zip(mt.sequences(), lm.sequences(), strict=True)
    ):
        return ()  # these are compared, and refused where they differ
    notes = [
        "the files have no scores per token, so it was not checked that both models share a "
        "tokenizer."
    ]
    both = list(zip(mt.labels.lengths or (), lm.labels.lengths or (), strict=False))
    apart = [(i, a, b) for i, (a, b) in enumerate(both, 1) if a and b and a != b]
    if apart and not ({a - b for _, a, b in apart} in ({1}, {-1}) and len(apart) == len(both)):
        i, a, b = apart[0]
        told = (
            f"sentence {i} has {a} tokens in {mt.path} and {b} in {lm.path} ({len(apart)} of "
            f"{len(both)} differ)"
        )
        notes.append(f"{told}: XMI per sentence needs one tokenizer; --per-char is for two.")
    return tuple(notes)


def _by_id(mt: TokenScores, lm: TokenScores) -> tuple[TokenScores, TokenScores, str]:
    """Both in one order, and how it was found."""
    ours, theirs = mt.labels.ids or (), lm.labels.ids or ()
    _same_ids(mt, lm)
    first = _numbered(ours)
    how = BY_ID if first is not None or ours == theirs else APART
    order = (
        sorted(range(len(ours)), key=lambda k: int(ours[k]))
        if first is not None
        else list(range(len(ours)))
    )
    place = {name: k for k, name in enumerate(theirs)}
    return _taken(mt, order), _taken(lm, [place[ours[k]] for k in order]), how


def _numbered(ids: Sequence[str]) -> int | None:
    """0 or 1 where the ids number n sentences from there, without a gap; else None."""
    if not all(name.isascii() and name.isdigit() for name in ids):
        return None
    numbers = sorted(map(int, ids))
    return next(
        (start for start in (0, 1) if numbers == list(range(start, start + len(ids)))), None
    )


def _same_ids(mt: TokenScores, lm: TokenScores) -> None:
    """A DataError names an id that only one of them has."""
    ours, theirs = mt.labels.ids or (), lm.labels.ids or ()
    for a, b, names in ((lm, mt, ours), (mt, lm, theirs)):
        known = set(a.labels.ids or ())
        lacking = [name for name in names if name not in known]
        if not lacking:
            continue
        starts = _numbered(ours), _numbered(theirs)
        told = f"has no sentence with the id {lacking[0]}, which {b.path} has"
        more = f" ({len(lacking)} of its {len(names)} ids)" if len(lacking) > 1 else ""
        move = (
            "write null or nan where a score is missing, so that both files name the same sentences"
        )
        if None not in starts and starts[0] != starts[1]:
            move = (
                f"{mt.path} counts from {starts[0]}, {lm.path} from {starts[1]}: number both alike"
            )
        raise DataError(f"{told}{more}; {move}.", a.path)


def _taken(scores: TokenScores, order: Sequence[int]) -> TokenScores:
    """The sentences in this order."""
    labels = scores.labels
    ids, docs, texts = (
        v and tuple(v[k] for k in order) for v in (labels.ids, labels.docs, labels.texts)
    )
    lengths = labels.lengths and tuple(labels.lengths[k] for k in order)
    counts, tokens = tuple(scores.counts[k] for k in order), tuple(scores.tokens[k] for k in order)
    logprobs = scores.logprobs[np.asarray(order, dtype=np.int64)]
    labels = Labels(ids, docs, texts, lengths, labels.keys)
    return replace(scores, logprobs=logprobs, counts=counts, tokens=tokens, labels=labels)


def _agree(
    what: str,
    ours: Sequence[str] | None,
    theirs: Sequence[str] | None,
    both: tuple[TokenScores, TokenScores],
) -> None:
    """A DataError for a sentence of which the two files say different things."""
    if ours is None or theirs is None:
        return
    odd = next((k for k, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b), None)
    if odd is None:
        return
    mt, lm = both
    name = mt.labels.ids[odd] if mt.labels.ids else odd + 1
    told = f"sentence {name} is {what}'{theirs[odd]:.60}', and {what}'{ours[odd]:.60}' in {mt.path}"
    move = "pair the same sentences, or leave that key out where it says something else"
    raise DataError(f"{told}; {move}.", lm.path)


def _two_models(mt: TokenScores, lm: TokenScores) -> None:
    """A DataError where both files are of one model: XMI of a model with itself is 0 and says nothing."""
    for scores in (mt, lm):
        known = scores.logprobs[~np.isnan(scores.logprobs)]
        if known.size and not known.any():
            told = f"all {known.size} scores are 0, which would be a probability of 1"
            raise DataError(
                f"{told}; give a model's log-probabilities, and nan where one is missing.",
                scores.path,
            )
    some = not np.isnan(mt.logprobs).all()
    if some and np.array_equal(np.sort(mt.logprobs), np.sort(lm.logprobs), equal_nan=True):
        told = (
            f"holds the same {len(lm)} scores as {mt.path}: one model was given twice, and its XMI "
            "would be 0"
        )
        raise DataError(f"{told}; name the scores of the other model.", lm.path)
    if told := _in_one_ratio(mt, lm):
        raise DataError(
            f"{told}: one model was given twice; name the scores of the other model.", lm.path
        )


def _once(mt: TokenScores, lm: TokenScores) -> None:
    """A DataError where sentences come again with the same scores in both files: FEW in a row, or each one at once.

    In 125 texts of WMT23, WMT24 and Europarl no 3 lines in a row come again (but for 3 equal ones).
    """
    move = "give each sentence once, or its standard error is too small"
    pairs, times_there = _numbers_of_pairs(mt.logprobs, lm.logprobs)
    runs: dict[tuple, int] = {}
    again: dict[int, int] = {}  # a sentence that comes again -> its first place
    for k in _runs(times_there > 1):
        run = tuple(pairs[k : k + FEW].tolist())
        start = runs.setdefault(run, k) if len(set(run)) == FEW else k
        if start < k:
            again |= {k + i: start + i for i in range(FEW)}
    if again:
        told = (
            f"{len(again)} of {len(pairs)} sentences come again with the same scores, in {mt.path} "
            "too"
        )
        k = min(again)
        raise DataError(
            f"{told}: sentences {k + 1}, {k + 2} … are {again[k] + 1}, {again[k] + 2} …; {move}.",
            lm.path,
        )
    for times in (k for k in range(2, len(pairs) // FEW + 1) if len(pairs) % k == 0):
        each = pairs.reshape(-1, times)
        if (each == each[:, :1]).all() and len(np.unique(each[:, 0])) >= FEW:
            told = (
                f"each of {len(each)} sentences comes {times} times in a row with the same scores, "
                f"in {mt.path} too"
            )
            raise DataError(f"{told}; {move}.", lm.path)


def _numbers_of_pairs(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n,) a number for each pair of scores, equal for equal ones, and (n,) how many pairs are equal to it."""
    (_, first), (known, second) = (np.unique(v, return_inverse=True) for v in (a, b))
    _, pairs, times = np.unique(
        first * len(known) + second, return_inverse=True, return_counts=True
    )
    return pairs, times[pairs]


def _runs(some: np.ndarray) -> list[int]:
    """Where FEW in a row begin of which all are true."""
    if len(some) < FEW:
        return []
    return np.flatnonzero(np.lib.stride_tricks.sliding_window_view(some, FEW).all(axis=1)).tolist()


def _in_one_ratio(mt: TokenScores, lm: TokenScores) -> str:
    """How each score of the one file follows from that of the other, as scores of one model do; "" where it does not.

    Equal up to rounding (3 sentences or more), or, in FEW sentences or more, in the ratio of two units, or in ratios
    that are whole numbers and differ, as a sum and a mean per token are.
    """
    there = (mt.logprobs < 0) & (lm.logprobs < 0)  # nan is neither
    a, b, n = mt.logprobs[there], lm.logprobs[there], int(there.sum())
    if n < 3 or n < (~np.isnan(mt.logprobs + lm.logprobs)).sum():
        return ""
    if _alike(a, b):
        return f"holds the {n} scores of {mt.path} but for their rounding"
    units = [one / other for one in NATS.values() for other in NATS.values() if one != other]
    if n >= FEW and any(_alike(a * ratio, b) for ratio in units):
        return f"holds the {n} scores of {mt.path} in another unit, times {np.median(b / a):.3f}"
    sums, means = f"per token of what {mt.path} sums", f"summed of what {mt.path} has per token"
    for ratio, what in ((a / b, sums), (b / a, means)):
        tokens = np.round(ratio)
        if (
            n >= FEW
            and len(set(tokens)) >= 3
            and tokens.min() >= 1
            and (np.abs(ratio - tokens) <= WHOLE).all()
        ):
            return f"holds the {n} scores {what} (sentence 1: {ratio[0]:.4g} times as much)"
    return ""


def _alike(a: np.ndarray, b: np.ndarray) -> bool:
    return bool((np.abs(a / b - 1) <= ALIKE).all())
