"""Write the tables of docs/judges.md and build/judges.csv: `python -m benchmarks.judges`."""

import re
from pathlib import Path

import pandas as pd

from .page import judge_page
from .table import judge_table, judged

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "judges.md"
PARTS = {"de": "teaching", "en": "teaching/de-en"}


def written(text: str, new: dict[str, str]) -> str:
    """A page with new text between its comments "made: PART" and "end"."""
    made = re.compile(r"(?<=<!-- made: )(\w+)( -->\n).*?(?=<!-- end -->)", re.S)
    return made.sub(lambda m: f"{m[1]}{m[2]}{new[m[1]]}" if m[1] in new else m[0], text)


def main() -> None:
    tables = {part: judge_table(judged(data)) for part, data in PARTS.items()}
    new = {part: judge_page(table) for part, table in tables.items()}
    PAGE.write_text(written(PAGE.read_text("utf-8"), new), "utf-8")
    out = ROOT / "build" / "judges.csv"
    out.parent.mkdir(exist_ok=True)
    pd.concat(tables, names=["language", None]).droplevel(1).to_csv(out)
    print(f"wrote {PAGE} and {out}")


if __name__ == "__main__":
    main()
