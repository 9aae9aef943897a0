"""The references of a metric: streams of texts, as many as the metric was made for."""

from __future__ import annotations

from collections.abc import Sequence

from .. import checks
from ..errors import DataError

__all__ = ["at_least_one", "streams"]


def at_least_one(label: str, n_refs: int) -> None:
    """A DataError where a metric that reads references is made for none.

    Parameters
    ----------
    label : of the metric. n_refs : how many references every segment will have.
    """
    if n_refs < 1:
        raise DataError(f"{label} needs at least one reference per segment, got n_refs={n_refs}.")


def streams(refs: Sequence[Sequence[str]] | None, label: str = "", n_refs: int | None = None) -> list[list[str]]:
    """R lists of N texts, one per reference; a DataError for anything else.

    Parameters
    ----------
    label : of the metric, for the error. n_refs : the R for which it was made; None: any.
    """
    if refs is None or isinstance(refs, str) or not len(refs) or any(isinstance(stream, str) for stream in refs):
        raise DataError("refs must be a list of streams, one list of N texts per reference, e.g. refs=[texts].")
    if n_refs is not None and len(refs) != n_refs:
        raise DataError(
            f"this {label} was made for {n_refs} reference(s) per segment, but refs holds {len(refs)} streams."
        )
    named = {f"reference stream {r}": list(stream) for r, stream in enumerate(refs)}
    checks.same_length(**named)
    for name, stream in named.items():
        checks.texts(name, stream)
    return list(named.values())
