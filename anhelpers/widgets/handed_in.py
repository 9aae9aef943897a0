"""What people hand in from a page: the pseudonym that they choose, and their sentences as a file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

import numpy as np

from ..data.lines import guarded

__all__ = ["BAD_NAME", "NAME", "NO_NAME", "SENTENCE_COLUMNS", "sentences_csv"]

NAME = re.compile(r"""[^=+\-@'\s",;\x00-\x1f\x7f-\x9f][^",;\x00-\x1f\x7f-\x9f]{0,39}""")
NO_NAME = "Enter a pseudonym before you save; no real name is needed."
BAD_NAME = (
    "This pseudonym cannot be written: at most 40 characters without quotes, commas and "
    "semicolons, and none of = + - @ ' at the start."
)
SENTENCE_COLUMNS = ("who", "task", "segment", "text", "chrf", "critic", "version")
"""The header of a file of sentences, a row for each; the scores and the version may be missing."""


def sentences_csv(rows: Iterable[tuple]) -> str:
    """The text of a file of sentences, from rows in the order of SENTENCE_COLUMNS.

    >>> print(sentences_csv([("Mo", "4b54", 2, 'Yes, she said.', 61.25, -0.5, "0.1")]))
    who,task,segment,text,chrf,critic,version
    Mo,4b54,2,"Yes, she said.",61.2500,-0.5000,0.1
    <BLANKLINE>
    """
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n")
    write.writerow(SENTENCE_COLUMNS)
    for who, task, segment, sentence, chrf, critic, version in rows:
        scores = ("" if np.isnan(score) else f"{score:.4f}" for score in (chrf, critic))
        write.writerow((who, task, segment, guarded(sentence), *scores, version))
    return text.getvalue()
