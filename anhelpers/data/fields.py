"""The fields of the schema's frozen sets: each checked as it is set, or a DataError that says what was seen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import LEAST_TOTAL, ROUNDING, too_low
from ..errors import DataError

__all__ = [
    "CATEGORIES",
    "NO_TRANSLATION",
    "agreed",
    "blanks",
    "categories",
    "check_names",
    "first_repeat",
    "frozen",
    "logprobs",
    "multiplicities",
    "pick",
    "put",
    "reference_counts",
    "references",
    "rows",
    "supplied",
    "text_tuple",
    "with_blank_notes",
]

CATEGORIES = ("LLM", "MT", "online", "human", "control", "unknown")
"""What kind of translator a system is."""

NO_TRANSLATION = "[No translation supplied]"
"""The line that mt-metrics-eval reads as a missing text (its data.py), and writes for one."""

# the second: unwrap.py of wmt-format-tools, of WMT since 2021
_MARKS = (NO_TRANSLATION, "NO TRANSLATION AVAILABLE")


# what tables write where there is nothing
_NOTHING = {"null", "none", "na", "n/a", "nan", "#n/a", "-", "--"}
_STANDS = "scored as it stands; where a text is missing, leave its line blank."

_BLANK_NOTE = re.compile(
    r".+: \d+ blank (hypothes[ie]s of \d+|references? of \d+, taken as missing)\.|\d+ blank sources? of \d+\."
    r"|\d+ of \d+ segments (has|have) no reference: metrics that read one give no score there\."
    rf"|.+: \d+ texts? (is|are) '.+', {re.escape(_STANDS)}",
    re.DOTALL,
)
"""The notes of `with_blank_notes`, which a part of a test set makes anew."""


def put(value: object, name: str, content: object) -> None:
    """Set a field of a frozen dataclass while it is being made.

    Parameters
    ----------
    value : the instance. content : of its field.
    """
    object.__setattr__(value, name, content)


def frozen(values: np.ndarray) -> np.ndarray:
    """The array, which can no longer be written to.

    Parameters
    ----------
    values : (n,) or of any other shape.
    """
    values.flags.writeable = False
    return values


def multiplicities(given: ArrayLike | None, n: int) -> np.ndarray:
    """(n,) whole numbers >= 1, or a DataError.

    Parameters
    ----------
    given : n numbers; None: 1 each.
    """
    if given is None:
        return np.ones(n, np.int64)
    values = np.asarray(given)
    if values.shape != (n,) or (n and not np.issubdtype(values.dtype, np.integer)):
        raise DataError(
            f"multiplicity must be {n} whole numbers, got shape {values.shape} of {values.dtype}."
        )
    if (bad := np.flatnonzero(values < 1)).size:
        raise DataError(
            f"multiplicity of candidate {bad[0]} is {values[bad[0]]}; what was drawn, was at least "
            "once."
        )
    return values.astype(np.int64)


def logprobs(given: ArrayLike | None, n: int) -> np.ndarray:
    """(n,) numbers that are at most 0, but for rounding, and that a model may give, or nan; else a DataError.

    Parameters
    ----------
    given : n numbers; None: nan each.
    """
    if given is None:
        return np.full(n, np.nan)
    values = np.array(given, dtype=np.float64)
    if values.shape != (n,):
        raise DataError(f"logprob must be {n} numbers, got shape {values.shape}.")
    if (bad := np.flatnonzero((values > ROUNDING) | np.isinf(values))).size:
        raise DataError(
            f"logprob of candidate {bad[0]} is {values[bad[0]]}; a log-probability is at most 0, "
            "or nan."
        )
    if (bad := np.flatnonzero(values < LEAST_TOTAL)).size:
        raise DataError(
            f"logprob of candidate {bad[0]} is {values[bad[0]]:.10g}, which "
            f"{too_low(values[bad[0]])}"
        )
    return values


def agreed(values: np.ndarray) -> float:
    """The value that all known entries share; nan where they differ or none is known.

    Parameters
    ----------
    values : (n,) numbers, nan where unknown.
    """
    distinct = np.unique(values[~np.isnan(values)])
    return float(distinct[0]) if len(distinct) == 1 else np.nan


def pick(texts: Sequence[str], rows: np.ndarray) -> tuple[str, ...]:
    """The texts at these positions.

    Parameters
    ----------
    rows : (k,) positions.
    """
    return tuple(texts[i] for i in rows)


def text_tuple(name: str, values: Iterable[str], n: int) -> tuple[str, ...]:
    """A tuple of n strings, or a DataError naming what was seen.

    Parameters
    ----------
    values : to be checked. n : how many are wanted.
    """
    if isinstance(values, str):
        raise DataError(f"{name} is one text, and a sequence of {n} is wanted.")
    texts = tuple(values)
    if len(texts) != n:
        raise DataError(f"{name} has {len(texts)} entries, but there are {n}; they must align.")
    checks.texts(name, texts)
    return texts


def supplied(what: str, given: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts, "" for each that is but a mark of a missing one, such as NO_TRANSLATION; a note that counts these.

    Parameters
    ----------
    what : whose texts they are, for the note. given : the texts.

    >>> supplied("refA", ("Ja.", "[No translation supplied]"))
    (('Ja.', ''), ("refA: 1 text is '[No translation supplied]', taken as missing.",))
    """
    found = Counter(
        text.rstrip() for text in given if text.startswith(_MARKS) and text.rstrip() in _MARKS
    )
    if not found:
        return given, ()
    notes = (
        f"{what}: {k} text{' is' if k == 1 else 's are'} '{mark}', taken as missing."
        for mark, k in found.items()
    )
    return tuple("" if text.rstrip() in found else text for text in given), tuple(notes)


def references(name: str, values: Iterable[str | None], n: int) -> tuple[str, ...]:
    """A tuple of n references, "" for each that is None or blank: it is missing; a DataError for what is no text.

    Parameters
    ----------
    values : to be checked. n : how many are wanted.
    """
    given = values if isinstance(values, str) else ["" if text is None else text for text in values]
    return tuple(text if text.strip() else "" for text in text_tuple(name, given, n))


def check_names(kind: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names; a DataError where one is blank: segments without a name would count as one document.

    Parameters
    ----------
    kind : what they name, for the error. names : one of each segment.
    """
    for segment, name in enumerate(names):
        if not name.strip():
            raise DataError(
                f"{kind} of segment {segment} is blank; give every segment a name, or none of them."
            )
    return names


def blanks(texts: Iterable[str]) -> int:
    """How many texts are empty or only white space."""
    return sum(not text.strip() for text in texts)


def reference_counts(refs: Mapping[str, Sequence[str]], n: int) -> np.ndarray:
    """(N,) how many references each segment has.

    Parameters
    ----------
    refs : name -> N texts, "" where the reference is missing. n : N.
    """
    there = [[bool(text) for text in texts] for texts in refs.values()]
    return np.array(there, dtype=np.int64).reshape(len(refs), n).sum(0)


def _doubtful(what: str, given: Sequence[str], srcs: Sequence[str]) -> tuple[str, ...]:
    """A note where texts are but what tables write for nothing, such as NA, and their source says something else.

    Parameters
    ----------
    what : whose texts they are. given, srcs : N texts, N sources.

    >>> _doubtful("refA", ["NA", "Ja.", "-"], ["Good morning.", "Yes.", "-"])
    ("refA: 1 text is 'NA', scored as it stands; where a text is missing, leave its line blank.",)
    """
    seen = Counter(
        text.strip()
        for text, src in zip(given, srcs, strict=True)
        if len(text) < 9 and text.strip().casefold() in _NOTHING and text.strip() != src.strip()
    )
    return tuple(
        f"{what}: {k} text{' is' if k == 1 else 's are'} '{word}', {_STANDS}"
        for word, k in seen.items()
    )


def with_blank_notes(
    notes: Iterable[str],
    srcs: Sequence[str],
    refs: Mapping[str, Sequence[str]],
    systems: Mapping[str, Sequence[str]],
) -> tuple[str, ...]:
    """The notes, those on blank and doubtful texts made anew from the texts of a test set.

    Parameters
    ----------
    refs, systems : name -> N texts.
    """
    n = len(srcs)
    sources = blanks(srcs)
    told = [note for note in notes if not _BLANK_NOTE.fullmatch(note)]
    for name, given in (*refs.items(), *systems.items()):
        told += _doubtful(name, given, srcs)
    for name, hyps in systems.items():
        if k := blanks(hyps):
            told.append(f"{name}: {k} blank hypothes{'i' if k == 1 else 'e'}s of {n}.")
    for name, found in refs.items():
        if k := blanks(found):
            told.append(f"{name}: {k} blank reference{'s' * (k > 1)} of {n}, taken as missing.")
    if refs and (bare := int((reference_counts(refs, n) == 0).sum())):
        have = "has" if bare == 1 else "have"
        told.append(
            f"{bare} of {n} segments {have} no reference: metrics that read one give no score "
            "there."
        )
    return (
        (*told, f"{sources} blank source{'s' * (sources > 1)} of {n}.") if sources else tuple(told)
    )


def categories(given: Mapping[str, str], systems: Iterable[str]) -> dict[str, str]:
    """The category of each system, in the order of the systems.

    Parameters
    ----------
    given : name -> category; who is not in it is "unknown".
    """
    systems = list(systems)
    for name, category in given.items():
        checks.one_of(name, systems, "system")
        checks.one_of(category, CATEGORIES, "category")
    return {name: given.get(name, "unknown") for name in systems}


def rows(index: ArrayLike | slice, n: int, what: str = "segments") -> np.ndarray:
    """Positions of an index into n segments, or others.

    Parameters
    ----------
    index : (k,) positions, a mask (n,), or a slice. what : is indexed, for the error.
    """
    if not isinstance(index, slice):
        index = np.asarray(index)
        index = index if index.size else index.astype(np.int64)
    try:
        return np.atleast_1d(np.arange(n)[index])
    except IndexError as error:
        raise DataError(f"no such {what}, there are 0 to {n - 1} ({error}).", "index") from None


def first_repeat(ids: Iterable[str]) -> str:
    """The first id that came before."""
    seen: set[str] = set()
    for i in ids:
        if i in seen:
            return i
        seen.add(i)
    raise ValueError("no id comes twice")
