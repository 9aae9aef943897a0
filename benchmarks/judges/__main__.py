"""Write the tables of docs/judges.md: `python -m benchmarks.judges [PART …]`; without PART, of the teaching sets.

wmt23 and wmt24 need ANHELPERS_DATA, and an hour each if the log-probabilities of their texts are not cached.
"""

import re
import sys
from pathlib import Path

from .page import gate_page, judge_page
from .table import QUESTIONS, judge_table, judged

PAGE = Path(__file__).parents[2] / "docs" / "judges.md"
PARTS = {
    "": ("teaching", tuple(QUESTIONS)),
    "_en": ("teaching/de-en", tuple(QUESTIONS)),
    "wmt23": ("wmt23/en-de", ("mqm",)),
    "wmt24": ("wmt24/en-de", ("ranking", "systems")),
}


def written(text: str, new: dict[str, str]) -> str:
    """A page with new text between its comments "made: PART" and "end"."""
    made = re.compile(r"(?<=<!-- made: )(\w+)( -->\n).*?(?=<!-- end -->)", re.S)
    return made.sub(lambda m: f"{m[1]}{m[2]}\n{new[m[1]]}\n" if m[1] in new else m[0], text)


def main() -> None:
    new = {}
    for part in sys.argv[1:] or ["", "_en"]:
        data, questions = PARTS[part]
        table = judge_table(judged(data), questions)
        if part.startswith("wmt"):
            new[part] = judge_page(table)
        else:
            new |= {f"figures{part}": judge_page(table), f"gates{part}": gate_page(table)}
    PAGE.write_text(written(PAGE.read_text("utf-8"), new), "utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
