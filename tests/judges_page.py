"""The tables of docs/judges.md: `python -m tests.judges_page` makes them anew, and with the word `wmt24` that one too.

That of WMT24 needs the shared data sets, and an hour where the log-probabilities of its texts are not stored.
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


def figures(data: str = "teaching", names: list[str] | None = None, lm: str | None = LM):
    """The table of `anhelpers judge` for a data set."""
    texts, model = judges.load_texts(data), load_lm(lm) if lm else None
    found, _ = judges.load_judges(names, "de", model, data)
    judged = judges.judge_texts(texts, found, data, model)
    return judges.judge_table(judged, accuracy_metric("chrf", "de", 1), np.random.default_rng(SEED))[0]


def parts(table) -> dict[str, str]:
    """All parts but that of WMT24, from the table of the teaching set; those of WMT23 are on the card of the critic."""
    card = (bundled("critic/de") / "README.md").read_text(encoding="utf-8")
    return {
        "figures": judges.judge_page(table), "gates": judges.gate_page(judges.gate_table(table)),
        "wmt23": re.search(r"^\| WMT23 \|.*?\n(?=\n)", card, re.M | re.S)[0],
    }  # fmt: skip


def wmt24() -> dict[str, str]:
    """The part of WMT24: agreement of the rankings, and the systems."""
    table = figures("wmt24/en-de")
    return {"wmt24": judges.judge_page(table[table.question.isin(["ranking", "systems"])])}


def made(text: str, new: dict[str, str]) -> str:
    """The page with these parts anew, and the others as they are."""
    return MADE.sub(lambda part: part[1] + part[2] + new[part[1]] if part[1] in new else part[0], text)


if __name__ == "__main__":
    new = parts(figures()) | (wmt24() if "wmt24" in sys.argv[1:] else {})
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8"), new), encoding="utf-8")
    print(f"wrote {PAGE}")
