"""The tables of docs/judges.md: `python -m tests.judges_page` makes them anew, with `wmt23` and `wmt24` theirs as well.

These need the shared data sets, and an hour each where the log-probabilities of their texts are not stored.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np

from anhelpers import judges
from anhelpers.accuracy.registry import accuracy_metric
from anhelpers.data import bundled
from anhelpers.naturalness.lm import load_lm

PAGE = Path(__file__).parents[1] / "docs" / "judges.md"
LM, SEED = "de-small", 0
MADE = re.compile(r"(?<=<!-- made: )(\w+)( -->\n).*?(?=<!-- end -->)", re.S)
"""A part of the page that is written here; the prose around it is written there."""


REAL = {"wmt23": ("wmt23/en-de", ["mqm"]), "wmt24": ("wmt24/en-de", ["ranking", "systems"])}
"""Parts that are of other sets: which, and what is asked of them."""


def figures(data: str = "teaching", names: list[str] | None = None, lm: str | None = LM):
    """The table of `anhelpers judge` for a data set."""
    texts, model = judges.load_texts(data), load_lm(lm) if lm else None
    found, _ = judges.load_judges(names, "de", model, data)
    judged = judges.judge_texts(texts, found, data, model)
    return judges.judge_table(judged, accuracy_metric("chrf", "de", 1), np.random.default_rng(SEED))[0]


def parts(table) -> dict[str, str]:
    """The parts of the teaching set, from its table, and what stands on the card of the critic."""
    card = (bundled("critic/de") / "README.md").read_text(encoding="utf-8")
    return {
        "figures": judges.judge_page(table), "gates": judges.gate_page(judges.gate_table(table)),
        "card": re.search(r"^\| WMT23 \|.*?\n(?=\n)", card, re.M | re.S)[0],
    }  # fmt: skip


def of_real(part: str, names: list[str] | None = None, lm: str | None = LM) -> dict[str, str]:
    """A part of REAL."""
    data, asked = REAL[part]
    table = figures(data, names, lm)
    return {part: judges.judge_page(table[table.question.isin(asked)])}


def made(text: str, new: dict[str, str]) -> str:
    """The page with these parts anew, and the others as they are."""
    return MADE.sub(lambda part: f"{part[1]}{part[2]}\n{new[part[1]]}\n" if part[1] in new else part[0], text)


if __name__ == "__main__":
    new = parts(figures())
    for part in sys.argv[1:]:
        new |= of_real(part)
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8"), new), encoding="utf-8")
    print(f"wrote {PAGE}")
