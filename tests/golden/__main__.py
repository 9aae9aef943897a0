"""Record the goldens: ``python -m tests.golden [NAME ...]``; ``python -m tests.golden notebooks FOLDER``."""

import gzip
import json
import sys
import tempfile
from pathlib import Path

from .cases import CASES, REAL, SHARED, executed

HERE = Path(__file__).parent


def record(name: str, numbers: object) -> None:
    text = json.dumps(numbers, separators=(",", ":"), sort_keys=True)
    (HERE / f"{name}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def main(*names: str) -> None:
    if names[:1] == ("notebooks",):
        record("notebooks", {p.stem: executed(p) for p in sorted(Path(names[1]).glob("*.ipynb"))})
        return
    for name in names or CASES:
        if name in REAL and not SHARED:
            print(f"skipped {name}: ANHELPERS_DATA is not set")
            continue
        with tempfile.TemporaryDirectory() as folder:
            record(name, CASES[name](Path(folder)))
        print(name)


if __name__ == "__main__":
    main(*sys.argv[1:])
