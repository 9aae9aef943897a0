"""Human ratings from 0 to 100 points: exports of Appraise, and tables.

An export is CSV without a header, 12 cells a rating for ESA and 11 (without spans) for direct assessment.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError
from .external import read_scores, within
from .io import read_lines, read_table
from .languages import known_code, short_code
from .schema import TestSet
from .sets import SETS, find_file, load, whereabouts

if TYPE_CHECKING:
    import pandas as pd

KINDS = {"esa": 12, "da": 11}
"""How outputs were rated -> cells of a row of an export."""
_CELLS = (
    "rater",
    "system",
    "line",
    "type",
    "src",
    "trg",
    "value",
    "doc",
    "whole",
    "spans",
    "t0",
    "t1",
)
_CONTROLS = r"-tutorial|#(?:bad|dup|incomplete)$"  # in the name of a document


def rating_files(place: str) -> list[Path]:
    """Return the files of a data set of ratings, a folder, or paths with commas."""
    of_texts = f"esa/{place.partition('/')[0]}"  # wmt24/en-cs: the ratings of these texts
    for name in (place, of_texts if place in SETS else ""):
        if name.startswith("esa/") and name in SETS:
            return [find_file(name)]
    if Path(place).is_dir():
        paths = sorted(Path(place).glob("*.csv"))
    else:
        paths = [Path(one) for one in ([place] if Path(place).exists() else place.split(","))]
    if not paths or not all(path.is_file() for path in paths):
        known = ", ".join(name for name in SETS if name.startswith("esa/"))
        raise DataError(f"no file of ratings. Give CSV files, a folder, or {known}.", place)
    return paths


def is_export(path: str | PathLike) -> bool:
    """Whether a file is an export of Appraise: its third cell is a number."""
    cells = next(iter(read_lines(path)), "").split(",")
    return len(cells) >= min(KINDS.values()) and cells[2].strip().isdigit()


def read_ratings_of(test: TestSet, paths: Sequence[Path], kind: str) -> pd.DataFrame:
    """Read human ratings of a test set: system, segment, value, rater (if known).

    Parameters
    ----------
    paths : sequence of path
        Exports of Appraise, or one table as `external.read_scores` reads it.
    kind : str
        One of KINDS, for exports.

    Raises
    ------
    DataError : with file and line, for a malformed row, points outside 0 to 100, and lines of other documents.
    """
    import pandas as pd

    if not is_export(paths[0]):
        return pd.concat([read_scores(path, test) for path in paths])
    named = test.name in SETS and whereabouts(test.name) is not None
    whole = load(test.name) if named else test
    ratings = pd.concat(
        [_with_segments(_read_export(path, kind, test.lp), whole, path) for path in paths]
    )
    return within(whole, test, ratings[["system", "segment", "value", "rater"]])


def _read_export(path: str | PathLike, kind: str, lp: str) -> pd.DataFrame:
    """Read the ratings of one language pair from an export of Appraise.

    Controls, tutorials, ratings of whole documents and repeated rows are left out. The index counts rows from 0.

    Returns
    -------
    DataFrame rater, system, line, value (points, 0 to 100), doc.
    """
    names = [name for name in _CELLS if kind == "esa" or name != "spans"]
    kinds: dict[str, Any] = {"line": int, "value": float}
    table = read_table(path, kinds, names=names).drop_duplicates()
    bad = ~table.value.between(0, 100)
    if bad.any():
        row = int(bad.idxmax())
        raise DataError(f"points: got {table.value[row]:g}, expected 0 to 100.", path, row + 1)
    codes = {code: short_code(known_code(code.strip())) for code in {*table.src, *table.trg}}
    pair = table.src.map(codes) + "-" + table.trg.map(codes)
    rated = (table.type == "TGT") & (table.whole.str.strip().str.lower() != "true")
    found = table[(pair == lp) & rated & ~table.doc.str.contains(_CONTROLS)]
    if found.empty:
        raise DataError(f"no rating of {lp}; language pairs: {', '.join({*pair})}.", path)
    return found


def _with_segments(ratings: pd.DataFrame, whole: TestSet, path: Path) -> pd.DataFrame:
    """Add segments to lines that count from 0, 1 or 2; the documents decide."""
    docs = np.array([*whole.docs, None, None], dtype=object)
    fits = {}
    for start in (1, 0, 2):
        segment = (ratings.line - start).where(
            ratings.line.between(start, len(whole) - 1 + start), -1
        )
        fits[start] = (ratings.doc == docs[segment]).to_numpy()
    starts = [start for start, fit in fits.items() if fit.all()]
    if len(starts) != 1:
        best = max(fits.values(), key=np.sum)
        row = int(ratings.index[best.argmin()]) + 1
        raise DataError(
            f"lines and documents fit {len(starts)} numberings of {whole.name}.", path, row
        )
    return ratings.assign(segment=ratings.line - starts[0])
