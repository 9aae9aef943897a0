"""The sentences for a paper's appendix: what was measured, how, and with what caution it is to be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from . import __version__
from .errors import DataError
from .intervals import FEW_DRAWS, FEWEST
from .plane import Plane, few_documents
from .plane.paired import ALPHA
from .plane.scores import COPY, OF_REFERENCE
from .provenance import made_by

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "HEADINGS",
    "appendix_sentences",
    "appendix_text",
    "cautions",
    "computed",
    "few_slices",
    "one_document",
    "uncounted",
]

HEADINGS = ("Systems", "Measures", "Intervals", "Tests", "Claim", "Notes")
"""Of the paragraphs of an appendix, in their order."""
WITH = {
    "systems": "",
    "added": " with added ones",
    "human": " with people",
    "copy": " with near-copies",
    "control": " with controls",
}
TRANSLATIONESE = (
    "The critic tells originals from translations; a text with words lost or out of order may "
    "seem as original to it as a sound one, so that it does not measure fluency."
)
RANKS = (
    "Ranks 1–5 say that a system may be the best and may be the fifth, by the differences with p "
    f"< {ALPHA} after Holm's correction (level 5 %); a cluster ends only where every system above "
    "is significantly better than each one below."
)
BOTH = "all systems and both axes"
WORDS = {
    "all",
    "compared",
    "cut",
    "each",
    "every",
    "fewer",
    "in",
    "left",
    "natural",
    "no",
    "none",
    "of",
    "rated",
    "some",
    "source",
    "the",
    "zip",
    "zip's",
}
"""With which notes begin, other than with a name, which keeps its letters."""
OPTIONS = re.compile(r"; [^;]*(?<![\w-])--?[a-z][^;]*\.$")
"""The end of a note that names an option: in a paper nobody can type it."""
ADVICE = re.compile(r"; (?:compare|take) [^;]*?(?:segments|documents)\.")
"""The end of the sentences of `plane.cannot_decide`."""


def computed() -> str:
    """The last sentence of an appendix: by what it was computed."""
    return f"Computed with anhelpers {__version__} ({made_by()})."


def appendix_sentences(
    plane: Plane,
    table: pd.DataFrame,
    n_draws: int,
    seed: int,
    *,
    tests: pd.DataFrame | None = None,
    doubts: Iterable[str] = (),
    claim: str = "",
) -> dict[str, list[str]]:
    """What was measured, over what, how, with all signatures: sentences by heading (`HEADINGS`), those that there are.

    Parameters
    ----------
    table : of `systems_table` or `with_ranks`. tests : of `paired_tests`; None: none were made. doubts : sentences on
        what these cannot decide. claim : the verdict.

    Raises
    ------
    DataError where no system has a score.
    """
    accuracy, naturalness = plane.axes
    levels = {"segment-mean": "the mean of segment scores"}
    what, whose = (levels.get(axis.level, "the corpus score") for axis in plane.axes)
    scored, without = table[table.n > 0], ", ".join(table.system[table.n == 0])
    if scored.empty:
        raise DataError(f"{plane.name} has no system with a score on both axes; add one.")
    unit = plane.unit
    among = f" in {_span(scored.n_docs)} documents" if unit == "documents" else ""
    n = int((scored.outside == "").sum())
    systems = [
        f"Data set {plane.name}: {n} system{'s' * (n != 1)}, {_span(scored.n)} segments{among}.",
        uncounted(plane),
        f"Without a score: {without}." if without else "",
    ]
    measures = [
        f"Accuracy is {accuracy.title}, {what} (signature {accuracy.signature}).",
        f"Naturalness is {naturalness.title}, {whose} (signature {naturalness.signature}).",
        TRANSLATIONESE if naturalness.name == "critic" else "",
    ]
    intervals = []
    if len(plane) > 1:
        drawn = "all systems" if "stored" in (accuracy.level, naturalness.level) else BOTH
        intervals = [
            f"Intervals are 95 % studentised bootstrap intervals from {n_draws:,} resamples of "
            f"{unit}, drawn jointly for {drawn} (seed {seed}), cut off at what is possible.",
            f"With fewer than {FEWEST} effective {unit} (as many of equal size would say as "
            "much), each end is the farther one of that and of Student's t, and at most twice as "
            "far as Student's."
            if (scored.n_effective < FEWEST).any()
            else "",
            *cautions(plane, scored, n_draws),
        ]
    if scored.pareto_probability.notna().any():
        intervals += [
            "The Pareto probability is the share of the resamples in which no counted system is "
            "at least as good on both axes and better on one.",
        ]
    if naturalness.level == "stored":
        intervals.append("The naturalness is known per system only and has no interval.")
    if "accuracy_gap" in table:
        over = table.candidates.iloc[0] if "candidates" in table else "the candidates"
        intervals.append(
            f"Gaps are distances to the exact oracle curve over {over}, redrawn in each "
            "resample; their intervals are Student's t with the spread of the resamples as "
            "standard error."
        )
    of_pairs = [_of_tests(tests[tests.p.notna()], unit)] if tests is not None else []
    of_pairs += [RANKS] if "accuracy_rank_low" in table else []
    of_pairs += [ADVICE.sub(".", doubt) for doubt in doubts]
    notes = [_begun(OPTIONS.sub(".", note), plane.systems) for note in plane.notes]
    parts = (systems, measures, intervals, of_pairs, [claim], notes)
    told = {head: [*filter(None, part)] for head, part in zip(HEADINGS, parts, strict=True)}
    return {head: part for head, part in told.items() if part}


def appendix_text(found: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """An appendix of one or several planes of the same systems: a paragraph by heading, what all share told once.

    Parameters
    ----------
    found : of `appendix_sentences`, by the label of the metric of accuracy.
    """
    every, paragraphs = list(found.values()), []
    for head in HEADINGS:
        here = [parts.get(head, ()) for parts in every]
        shared = [one for one in here[0] if all(one in other for other in here)]
        told = list(shared)
        for label, part in zip(found, here, strict=True):
            own = [one for one in part if one not in shared]
            told += [f"By {label}: {' '.join(own)}"] if own else []
        paragraphs += [f"{head}. {' '.join(told)}"] if told else []
    return "\n\n".join([*paragraphs, computed()]) + "\n"


def _begun(note: str, names: Iterable[str]) -> str:
    """A note as a sentence: with a capital, but for the name of a system, even of one that is not compared."""
    several = note.partition(":")[0].split(", ")
    if len(several) > 1 and {*several} <= {*names}:
        return f"The systems {note}"
    first = re.match(r"[^\s,:]*", note)[0]  # type: ignore[index]  # it matches every text
    if first in names and note[:1].islower():
        return f"The system {note}"
    return note[:1].upper() + note[1:] if first in WORDS else note


def cautions(plane: Plane, table: pd.DataFrame, n_draws: int) -> list[str]:
    """Sentences on why the intervals are to be read with caution: few documents, unknown ones, few draws.

    Parameters
    ----------
    table : of `systems_table`. n_draws : resamples.
    """
    draws = (
        f"{n_draws} resamples are too few for the ends of 95 % intervals and for a verdict from "
        "them."
    )
    told = (
        few_documents(table, plane.unit),
        one_document(plane),
        draws if n_draws < FEW_DRAWS else "",
    )
    return list(filter(None, told)) if len(plane) > 1 else []


def few_slices(table: pd.DataFrame, what: str = "documents") -> str:
    """One sentence on the slices with few documents, else an empty text.

    Parameters
    ----------
    table : of `sliced_table`. what : as for `few_documents`.
    """
    parts = [part for _, part in table.groupby("slice", sort=False) if few_documents(part, what)]
    if not parts:
        return ""
    names = ", ".join(str(part.slice.iloc[0]) for part in parts)
    return (
        f"Slices of few {what} ({names}), the fewest: "
        f"{few_documents(min(parts, key=_fewest), what)}"
    )


def _fewest(table: pd.DataFrame) -> float:
    return float(table.n_effective[table.n_effective > 1].min())


def _of_tests(tests: pd.DataFrame, unit: str) -> str:
    """How p-values were made: of those that there are."""
    if tests.empty:
        return ""
    axes = list(dict.fromkeys(tests.axis))
    families = tests.family[tests.axis == axes[0]].value_counts().to_dict()
    told = [
        f"{n} pair{'s' * (n > 1)}{whose}" for f, whose in WITH.items() if (n := families.get(f, 0))
    ]
    pairs = ", ".join(told)
    if "systems" in families and len(told) > 1:
        pairs = f"{told[0]} and, by themselves, {', '.join(told[1:])}"
    drawn = tests.n_swaps[~tests.exact.astype(bool)]
    random = f"{_span(drawn)} random" if len(drawn) else ""
    ways = " or ".join(filter(None, ["all" if tests.exact.any() else "", random]))
    where = "each axis" if len(axes) > 1 else f"{axes[0]} alone"
    apart = (
        " A verdict or rank of one of these families does not compare with that of another, which "
        "is corrected for another number of pairs."
    )
    return (
        f"The p-values are from paired randomisation over {unit} ({ways} ways to swap them), with "
        f"Holm's correction on {where} for {pairs}.{apart * (len(told) > 1)}"
    )


def uncounted(plane: Plane) -> str:
    """A sentence on who is measured and drawn, but not counted among the systems; an empty text without such."""
    told = ", ".join(f"{system} ({why})" for system, why in plane.outside.items())
    copies = any(
        why.startswith(COPY) and not why.startswith(OF_REFERENCE) for why in plane.outside.values()
    )
    first = " Of near-copies, the one given first counts." if copies else ""
    return f"Not counted among the systems: {told}.{first}" if told else ""


def one_document(plane: Plane) -> str:
    """A sentence where all segments are of one document, or of documents that nobody named, else an empty text."""
    docs = set(plane.docs.tolist())
    if len(plane) < 2:
        return ""
    # as segments without documents are named
    if len(docs) == len(plane) and all(str(doc).isdigit() for doc in docs):
        return (
            "Documents are not known: segments count as independent, and intervals may be too "
            "short."
        )
    if len(docs) > 1:
        return ""
    return (
        "All segments are of one document, and resampled as if they were independent: intervals "
        "may be too short."
    )


def _span(counts: pd.Series) -> str:
    """ "52", or "50 to 52"."""
    return " to ".join(f"{n:,}" for n in sorted({int(counts.min()), int(counts.max())}))
