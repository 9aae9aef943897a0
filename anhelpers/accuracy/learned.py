"""Learned metrics as `Metric`: the texts they read, several references, the score store, and what the user is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from ..metric import Metric
from ..progress import note
from ..scoring.memo import memo
from ..scoring.worker import Recipe

__all__ = ["Learned", "learned_metric"]

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
    recipe : how a worker of a cluster makes the same; None: it cannot.
    """

    name: str
    label: str
    unit: str
    higher_is_better: bool
    signature: str
    reads: tuple[str, ...]
    limit: str
    score: Callable[[list[tuple[str, ...]]], np.ndarray] = field(repr=False)
    recipe: Recipe | None = field(default=None, repr=False)


def learned_metric(model: Learned, n_refs: int = 1) -> Metric:
    """A learned metric ready to score; scores that the store knows are not computed again.

    Several references: the mean of the scores with each, which the signature says. A blank hypothesis is scored as any
    text, as the models' own programs do; how many there were, and how many inputs were cut, is told on stderr. The
    corpus score is the mean of the segments.

    Parameters
    ----------
    n_refs : how many references every segment will have; of no account for a model that reads none.

    Raises
    ------
    DataError for n_refs < 1; the Metric's function raises it for sources or references that are missing, texts that
    do not align, and what is no text.
    """
    with_refs = "ref" in model.reads
    if with_refs and n_refs < 1:
        raise DataError(f"{model.label} needs at least one reference per segment, got n_refs={n_refs}.")

    def score_segments(hyps: Sequence[str], refs: Any = None, srcs: Any = None, segment: Any = None) -> np.ndarray:
        rows, of = _rows(model, hyps, [*(refs or ())] if with_refs else None, srcs, segment, n_refs)
        values = memo(
            model.signature, rows, lambda at: model.score([rows[i] for i in at]),
            width=2, groups=of, what=model.label, recipe=model.recipe,
        ).reshape(n_refs if with_refs else 1, len(hyps), 2)  # fmt: skip
        _tell(model, hyps, int((values[:, :, 1] > 0).any(0).sum()))
        return values[:, :, 0].mean(0)

    refs_too = f"|nrefs:{n_refs}" + ("|refs:mean" if n_refs > 1 else "") if with_refs else ""
    return Metric(
        model.name, model.label, model.unit, model.higher_is_better,
        tuple(NEEDS[kind] for kind in model.reads if kind in NEEDS), model.signature + refs_too, score_segments,
    )  # fmt: skip


def _rows(
    model: Learned,
    hyps: Sequence[str],
    refs: list[Sequence[str]] | None,
    srcs: Sequence[str] | None,
    segment: ArrayLike | None,
    n_refs: int,
) -> tuple[list[tuple[str, ...]], list[int]]:
    """What the model is given for every hypothesis, one reference after the other, and the segment of each."""
    if refs is not None and len(refs) != n_refs:
        raise DataError(f"this {model.label} was made for {n_refs} reference(s) per segment, but refs holds "
                        f"{len(refs)} streams.")  # fmt: skip
    if "src" in model.reads and (
        srcs is None or (len(srcs) and not any(s.strip() for s in checks.texts("srcs", srcs)))
    ):
        raise DataError(f"{model.label} reads the source of each segment, and there is none: give the sources.")
    given = {f"refs {i}": texts for i, texts in enumerate(refs or ())}
    srcs = srcs if "src" in model.reads else None
    given |= {} if srcs is None else {"srcs": srcs}
    n = checks.same_length(**{name: checks.texts(name, texts) for name, texts in given.items()})
    if segment is None:
        segment = np.arange(checks.same_length(hyps=hyps, **given))
    of = checks.segment_ids(segment, n).tolist()
    checks.same_length(hyps=checks.texts("hyps", hyps), segment=of)
    columns: dict[str, Any] = {"hyp": hyps, "src": None if srcs is None else [srcs[i] for i in of]}
    rows: list[tuple[str, ...]] = []
    for stream in [None] if refs is None else refs:
        columns["ref"] = None if stream is None else [stream[i] for i in of]
        rows += zip(*(columns[kind] for kind in model.reads), strict=True)
    return rows, of * (len(rows) // max(1, len(of)))


def _tell(model: Learned, hyps: Sequence[str], cut: int) -> None:
    """Notes on stderr: inputs that were cut, blank hypotheses."""
    blank = sum(not hyp.strip() for hyp in hyps)
    said = [(cut, f"make an input longer than the model takes ({model.limit}): its end was cut"),
            (blank, "are blank: scored as any text")]  # fmt: skip
    for n, what in said:
        if n:
            note(f"{model.label}: {n} of {len(hyps)} hypotheses {what}.")
