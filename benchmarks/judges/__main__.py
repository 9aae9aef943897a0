"""Write the tables of docs/judges.md and build/judges.csv: `python -m benchmarks.judges`."""

from pathlib import Path

import pandas as pd

from .page import judge_page, written
from .real import real_table
from .table import DEFAULT, PEOPLE, judge_table, judged

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "judges.md"
PARTS = {"de": "teaching", "en": "teaching/de-en"}


def main() -> None:
    tables = {part: judge_table(judged(data)) for part, data in PARTS.items()}
    tables["real"] = real_table([name for name in DEFAULT if name != PEOPLE])
    new = {part: judge_page(table) for part, table in tables.items()}
    PAGE.write_text(written(PAGE.read_text("utf-8"), new), "utf-8")
    out = ROOT / "build" / "judges.csv"
    out.parent.mkdir(exist_ok=True)
    pd.concat(tables, names=["part", None]).droplevel(1).to_csv(out)
    print(f"wrote {PAGE} and {out}")


if __name__ == "__main__":
    main()
