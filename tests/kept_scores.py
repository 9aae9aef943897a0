"""Make data/scores.sqlite, the scores that come with the package: `python -m tests.kept_scores CACHE`.

CACHE is a cache file (ANHELPERS_STORE), new or of a run of all notebooks on a CPU. Log-probabilities under the default
model, without and with the end of text, and by both heads, of the texts of the teaching sets are added; then the
store is all that CACHE has with these signatures.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import anhelpers as an
from anhelpers.data.fetch import bundled
from anhelpers.naturalness.lm import STORE
from anhelpers.naturalness.native import _head_scores, load_heads
from anhelpers.scoring.cache import TABLES

SETS = ("teaching/en-de", "teaching/de-en")


def bundled_texts(data: str) -> list[str]:
    """Candidates, systems, references and monolingual texts of a teaching set."""
    test, cands = an.load(data), an.load_candidates(data)
    lists = [cands.texts, *test.systems.values(), *test.refs.values(), an.load_mono(data)]
    return [text for one in lists for text in one]


def write(signatures: Iterable[str], cache: Path, file: Path) -> None:
    """Copy the scores with these signatures into a new file."""
    file.unlink(missing_ok=True)
    with closing(sqlite3.connect(file)) as db:
        db.executescript(TABLES)
        db.execute("ATTACH ? AS cache", (str(cache),))
        for number, signature in enumerate(signatures, 1):
            db.execute("INSERT INTO signature VALUES (?, ?)", (number, signature))
            db.execute(
                """INSERT INTO score SELECT ?, key, value FROM cache.score WHERE signature =
                   (SELECT id FROM cache.signature WHERE text = ?) ORDER BY key""",
                (number, signature),
            )
        db.commit()


def main(cache: str) -> None:
    os.environ["ANHELPERS_STORE"] = cache
    store = bundled(STORE)
    write((), Path(cache), store)  # nothing is taken from the store before
    lm = an.load_lm(device="cpu")
    signatures = [lm.signature(eos) for eos in (False, True)]
    for data in SETS:
        texts, heads = bundled_texts(data), load_heads(an.load(data).trg_lang)
        _head_scores(heads, texts, lm)
        for eos in (False, True):
            an.score_texts(lm, texts, eos)
        signatures.append(heads.signature)
    write(signatures, Path(cache), store)


if __name__ == "__main__":
    main(sys.argv[1])
