"""The tables of docs/judges.md: `python -m tests.judges_page` makes them anew, with `wmt23` and `wmt24` theirs as well.

These need the shared data sets, and an hour each where the log-probabilities of their texts are not stored.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np

from anhelpers import judges
from anhelpers.data import bundled
from anhelpers.naturalness.lm import load_lm
from anhelpers.scoring.lookup import accuracy_metric

PAGE = Path(__file__).parents[1] / "docs" / "judges.md"
LM, SEED = "bundled", 0
MADE = re.compile(r"(?<=<!-- made: )(\w+)( -->\n).*?(?=<!-- end -->)", re.S)
"""A part of the page that is written here; the prose around it is written there."""


REAL = {"wmt23": ("wmt23/en-de", ["mqm"]), "wmt24": ("wmt24/en-de", ["ranking", "systems"])}
"""Parts that are of other sets: which, and what is asked of them."""


def figures(data: str = "teaching", names: list[str] | None = None, lm: str | None = LM):
    """The table of `anhelpers judge` for a data set."""
    texts = judges.load_texts(data)
    lang = texts[0].trg_lang
    model = load_lm(lm, lang=lang) if lm else None
    found, _ = judges.load_judges(names, lang, model, data)
    judged = judges.judge_texts(texts, found, data, model)
    return judges.judge_table(
        judged, accuracy_metric("chrf", lang, 1), np.random.default_rng(SEED)
    )[0]


SETS = {"": "teaching", "_en": "teaching/de-en"}
"""Ends of the names of parts -> teaching set."""


def parts(tables) -> dict[str, str]:
    """The parts of the teaching sets, from their tables, and what stands on the cards of the critics.

    Parameters
    ----------
    tables : end in SETS -> table.
    """
    new = {}
    for end, table in tables.items():
        card = (bundled(f"critic/{end[1:] or 'de'}") / "README.md").read_text(encoding="utf-8")
        new |= {
            f"figures{end}": judges.judge_page(table),
            f"gates{end}": judges.gate_page(judges.gate_table(table)),
            f"card{end}": re.search(r"^\| (?:WMT23|AUC) \|.*?\n(?=\n)", card, re.M | re.S)[0],
        }
    return new


def of_real(part: str, names: list[str] | None = None, lm: str | None = LM) -> dict[str, str]:
    """A part of REAL."""
    data, asked = REAL[part]
    table = figures(data, names, lm)
    return {part: judges.judge_page(table[table.question.isin(asked)])}


def made(text: str, new: dict[str, str]) -> str:
    """The page with these parts anew, and the others as they are."""
    return MADE.sub(
        lambda part: f"{part[1]}{part[2]}\n{new[part[1]]}\n" if part[1] in new else part[0], text
    )


if __name__ == "__main__":
    new = parts({end: figures(data) for end, data in SETS.items()})
    for part in sys.argv[1:]:
        new |= of_real(part)
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8"), new), encoding="utf-8")
    print(f"wrote {PAGE}")
