"""Directories of mt-metrics-eval: the texts of a metrics task, with the scores of people and of metrics.

``sources/LP.txt  references/LP.REF.txt  system-outputs/LP/SYSTEM.txt  documents/LP.docs`` as in WMT's layout of 2024,
``metric-scores/LP/METRIC-REF.LEVEL.score  human-scores/LP.NAME.LEVEL.score`` with one ``system<TAB>score`` per line;
the n-th line of a system at level "seg" is its score for the n-th line of the sources.
The layout is described in https://github.com/google-research/mt-metrics-eval (README, "File organization").
"""

from __future__ import annotations

import math
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from .. import checks
from ..errors import DataError, UnknownName, nearest
from .languages import split_pair
from .lines import read_lines
from .plain import is_canary, read_parallel
from .schema import TestSet
from .wmt import find_2024, with_default_reference

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["is_mme", "read_mme", "read_mme_scores"]


def is_mme(folder: str | PathLike) -> bool:
    """Whether a folder looks like a test set of mt-metrics-eval: texts beside folders of scores."""
    folder = Path(folder)
    scores = (folder / "metric-scores").is_dir() or (folder / "human-scores").is_dir()
    return scores and (folder / "sources").is_dir()


def read_mme(folder: str | PathLike, lp: str, *, reference: str | None = None) -> TestSet:
    """The test set of one language pair; systems that are copies of references have the category "human"."""
    split_pair(lp)
    folder = Path(folder)
    files = find_2024(folder, lp)
    if not files.src.exists():
        raise UnknownName("language pair", lp, (path.stem for path in (folder / "sources").glob("*.txt")))
    return with_default_reference(read_parallel(f"{folder.resolve().name}/{lp}", lp, files), reference)


def read_mme_scores(
    folder: str | PathLike, lp: str, metric: str, ref: str | None = None, level: str = "seg"
) -> pd.DataFrame:
    """The scores that one metric, or people, gave to the systems.

    Parameters
    ----------
    metric : e.g. "chrF"; with ``ref=None`` a human score, e.g. "mqm".
    ref : the reference(s) that the metric saw: "refA", "src" for none, "all"; None for human scores.
    level : "seg" (a score per segment) or "sys" (a score per system).

    Returns
    -------
    Tidy table system, segment, score (without `segment` at level "sys"), in the order of the file, in the metric's
    own unit and direction; nan where the file says None. A canary's score is left out.
    """
    import pandas as pd

    checks.one_of(level, ("seg", "sys"), "level")
    folder = Path(folder)
    path, files = _score_file(folder, lp, metric, ref, level), find_2024(folder, lp)
    sources = read_lines(files.src)
    wanted, start = (len(sources), int(is_canary(sources))) if level == "seg" else (1, 0)
    rows = []
    for system, scores in _read_scores(path, list(files.systems)).items():
        if len(scores) != wanted:
            per = f"one per line of {files.src}" if level == "seg" else "one per system"
            raise DataError(f"system '{system}' has {len(scores)} scores, expected {wanted}, {per}.", path)
        rows += [(system, segment, score) for segment, score in enumerate(scores[start:])]
    table = pd.DataFrame(rows, columns=["system", "segment", "score"]).astype({"segment": "int64", "score": "float64"})
    return table if level == "seg" else table.drop(columns="segment")


def _score_file(folder: Path, lp: str, metric: str, ref: str | None, level: str) -> Path:
    """The file of these scores; UnknownName lists those that are there."""
    split_pair(lp)
    where = folder / "human-scores" if ref is None else folder / "metric-scores" / lp
    prefix, name = (f"{lp}.", metric) if ref is None else ("", f"{metric}-{ref}")
    path = where / f"{prefix}{name}.{level}.score"
    if not path.exists():
        ending = f".{level}.score"
        known = [p.name[len(prefix) : -len(ending)] for p in where.glob(f"{prefix}*{ending}")]
        raise UnknownName(f"{'human' if ref is None else 'metric'} score at level {level}", name, known)
    return path


def _read_scores(path: Path, systems: list[str]) -> dict[str, list[float]]:
    """System -> its scores, in the order of the file."""
    scores: dict[str, list[float]] = {}
    for number, line in enumerate(read_lines(path), 1):
        system, *value = line.rsplit(None, 1) or [""]
        if len(value) != 1:
            raise DataError(f"'{line}' is no line of the form system<TAB>score.", path, number)
        if system not in systems:
            hint = nearest(system, systems) or f"; known: {', '.join(systems) or 'none'}."
            raise DataError(f"unknown system '{system}'{hint}", path, number)
        scores.setdefault(system, []).append(_score(value[0], path, number))
    return scores


def _score(text: str, path: Path, line: int) -> float:
    """A finite number, or nan for None."""
    try:
        score = math.nan if text == "None" else float(text)
    except ValueError:
        raise DataError(f"score '{text}' is neither a number nor None.", path, line) from None
    if math.isinf(score):
        raise DataError(f"score '{text}' is infinite; write None where there is no score.", path, line)
    return score
