"""Learned metrics as `Metric`: the texts they read, several references, the score store, and notes for the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import AnhelpersError, DataError
from ..metrics import Metric
from ..progress import note
from ..scoring.cache import cached, groups
from .surface import check_number, streams

NEEDS = {"src": "srcs", "ref": "refs"}


@dataclass(frozen=True)
class Learned:
    """A model that gives a number to a hypothesis with its source, one reference, or both.

    Parameters
    ----------
    name, label, unit, higher_is_better, signature : as in Metric, for one reference.
    reads : of "src", "hyp" and "ref", what the model sees, in the order in which `score` is given it.
    limit : its longest input, such as "1536 tokens", for the note on inputs that were cut.
    score : m tuples of texts -> (m, 2): the score, and 1 where the input was longer than the model takes and was cut.
    """

    name: str
    label: str
    unit: str
    higher_is_better: bool
    signature: str
    reads: tuple[str, ...]
    limit: str
    score: Callable[[list[tuple[str, ...]]], np.ndarray] = field(repr=False)


def learned_metric(model: Learned, n_refs: int | str = 1) -> Metric:
    """A learned metric ready to score; scores that the store knows are not computed again.

    Several references: the mean of the scores with each that is not missing (None), which the signature says. Without
    any reference, and where the source is blank, a model that reads it gives no score (nan). A blank hypothesis is
    scored as any text, as the models' own programs do; their number and the number of cut inputs are printed on
    stderr. There is no corpus score; of a system one reports the mean of its segments.

    Parameters
    ----------
    n_refs : how many references every segment that has any will have, or "var" where they differ; of no account for a
        model that reads none.

    Raises
    ------
    DataError for n_refs < 1; the Metric's function raises it for sources or references that are missing, texts that
    do not align, and what is no text; AnhelpersError where the model gives nan.
    """
    with_refs = "ref" in model.reads
    if with_refs:
        check_number(n_refs)

    def score_segments(
        hyps: Sequence[str], refs: Any = None, srcs: Any = None, segment: Any = None
    ) -> np.ndarray:
        given = {"src": _sources(model.label, srcs)} if "src" in model.reads else {}
        found = streams(refs, model.label, n_refs) if with_refs else []
        passes = [given | {"ref": one} for one in found] or [given]
        rows, there = _rows(model.reads, hyps, passes, segment)
        values = np.zeros((*there.shape, 2))
        values[there] = cached(
            model.signature,
            rows,
            partial(_finite_scores, model),
            width=2,
            batches=groups(partial(_without, model.reads.index("hyp"))),
            what=model.label,
        )
        _tell(model, hyps, int((values[:, :, 1] > 0).any(0).sum()))
        total, n = values[:, :, 0].sum(0), there.sum(0)
        return np.divide(total, n, out=np.full(len(hyps), np.nan), where=n > 0)

    refs_too = f"|nrefs:{n_refs}" + ("" if n_refs == 1 else "|refs:mean") if with_refs else ""
    return Metric(
        name=model.name,
        label=model.label,
        unit=model.unit,
        higher_is_better=model.higher_is_better,
        needs=tuple(NEEDS[kind] for kind in model.reads if kind in NEEDS),
        signature=model.signature + refs_too,
        score_segments=score_segments,
    )


def _finite_scores(model: Learned, rows: list[tuple[str, ...]]) -> np.ndarray:
    """The scores of a batch; an AnhelpersError if the model returns nan."""
    scores = model.score(rows)
    if not np.isfinite(scores).all():
        raise AnhelpersError(f"{model.label} returned nan: the model is broken. Download it again.")
    return scores


def _without(place: int, row: tuple[str, ...]) -> tuple[str, ...]:
    """The texts of an input that its batch shares: all but the hypothesis."""
    return row[:place] + row[place + 1 :]


def token_budget(device: str) -> int:
    """Padded tokens of a forward pass; metrics need no logits of every token, so a GPU takes more of them."""
    return 2048 if device == "cpu" else 32768


def short_name(name: str) -> str:
    """A model's name without its owner and without spaces, as a metric's name has it.

    >>> short_name("Unbabel/wmt22-comet-da")
    'wmt22-comet-da'
    """
    return "_".join(name.rsplit("/", 1)[-1].split())


def _sources(label: str, srcs: Sequence[str] | None) -> list[str | None]:
    """The sources, None for a blank one; a DataError where there are none, or only blank ones."""
    given = [
        src if src.strip() else None for src in checks.texts("srcs", () if srcs is None else srcs)
    ]
    if srcs is None or (given and not any(given)):
        raise DataError(
            f"{label} reads the source of each segment, and there is none: give the sources."
        )
    return given


def _rows(
    reads: Sequence[str],
    hyps: Sequence[str],
    passes: Sequence[Mapping[str, Sequence[str | None]]],
    segment: ArrayLike | None,
) -> tuple[list[tuple[str, ...]], np.ndarray]:
    """What the model is given, pass (one reference) after pass; (passes, n) whether it is there.

    A pass has the N texts of each kind that is read besides the hypothesis. A hypothesis with which one of them is
    missing is not given.
    """
    named = {NEEDS[kind]: texts for kind, texts in passes[0].items()}
    n = checks.same_length(**named)
    ids = np.arange(checks.same_length(hyps=hyps, **named)) if segment is None else segment
    of = checks.segment_ids(ids, n).tolist()
    checks.same_length(hyps=checks.texts("hyps", hyps), segment=of)
    rows: list[tuple] = []
    for texts in passes:
        columns = {"hyp": hyps} | {kind: [column[i] for i in of] for kind, column in texts.items()}
        rows += zip(*(columns[kind] for kind in reads), strict=True)
    there = np.array([None not in row for row in rows], dtype=bool)
    kept = [row for row, known in zip(rows, there, strict=True) if known]
    return kept, there.reshape(len(passes), len(hyps))


def _tell(model: Learned, hyps: Sequence[str], cut: int) -> None:
    """Notes on stderr: inputs that were cut, blank hypotheses."""
    blank = sum(not hyp.strip() for hyp in hyps)
    said = [
        (cut, f"make an input longer than the model takes ({model.limit}): its end was cut"),
        (blank, "are blank: scored as any text"),
    ]
    for n, what in said:
        if n:
            note(f"{model.label}: {n} of {len(hyps)} hypotheses {what}.")
