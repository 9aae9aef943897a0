"""Make the scores that come with the bundled models: `python -m tests.kept_scores CACHE`.

CACHE is the cache file (ANHELPERS_STORE) of a run of all notebooks on a CPU, made after the scores.sqlite of the models
were deleted. Scores of the bundled texts are added to it; then each model gets those with its signatures.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import anhelpers as an
from anhelpers.data.fetch import bundled
from anhelpers.naturalness.lm import LanguageModel
from anhelpers.scoring.cache import TABLES


def bundled_texts(data: str) -> list[str]:
    """The texts of a teaching set."""
    test, cands = an.load(data), an.load_candidates(data)
    lists = [cands.texts, *test.systems.values(), *test.refs.values(), an.load_mono(data)]
    return [text for one in lists for text in one]


def write(lm: LanguageModel, cache: Path, file: Path) -> None:
    """Copy the scores under a model's two signatures."""
    file.unlink(missing_ok=True)
    with closing(sqlite3.connect(file)) as db:
        db.executescript(TABLES)
        db.execute("ATTACH ? AS cache", (str(cache),))
        for number, eos in enumerate((False, True), 1):
            db.execute("INSERT INTO signature VALUES (?, ?)", (number, lm.signature(eos)))
            db.execute(
                """INSERT INTO score SELECT ?, key, value FROM cache.score WHERE signature =
                   (SELECT id FROM cache.signature WHERE text = ?) ORDER BY key""",
                (number, lm.signature(eos)),
            )
        db.commit()


def main(cache: str) -> None:
    os.environ["ANHELPERS_STORE"] = cache
    for data, name in {"teaching": "de-small", "teaching/de-en": "en-small"}.items():
        lm = an.load_lm(name, device="cpu")
        for eos in (False, True):
            an.score_texts(lm, bundled_texts(data), eos)
        write(lm, Path(cache), bundled(f"lm/{name}") / "scores.sqlite")


if __name__ == "__main__":
    main(sys.argv[1])
