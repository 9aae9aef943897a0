"""The tags of the teaching sets' candidates."""

from __future__ import annotations

from .fetch import bundled
from .io import read_lines


def tag_meanings() -> dict[str, str]:
    """Return tag -> the sentence that says what it means of a candidate."""
    return dict(line.split("\t", 1) for line in read_lines(bundled("teaching/tags.tsv")))
