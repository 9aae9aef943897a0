"""Folders of mt-metrics-eval: texts with the scores of people and metrics.

Texts are in WMT's layout of 2024. ``metric-scores/LP/METRIC-REF.LEVEL.score`` and ``human-scores/LP.NAME.LEVEL.score``
have a line ``system<TAB>score`` per segment (level "seg") or system ("sys"). Higher is better in all of them: MQM
points are negated. See https://github.com/google-research/mt-metrics-eval. The optional ``systems.tsv``
(``system<TAB>category``) is an addition of this package.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from .io import read_lines, write_atomic
from .plain import is_canary
from .schema import NO_TRANSLATION, TestSet
from .wmt import find_2024, read_categories, read_wmt

if TYPE_CHECKING:
    import pandas as pd

_LEVELS = ("sys", "domain", "doc", "seg")  # of these "seg" and "sys" are read and written
_METRIC_FILE = re.compile(rf"(?P<name>.+)-(?P<ref>[^-]+)\.(?P<level>{'|'.join(_LEVELS)})\.score")
_HUMAN_FILE = re.compile(rf"[^.]+\.(?P<name>.+)\.(?P<level>{'|'.join(_LEVELS)})\.score")
_NAME = re.compile(r"[^\s/\0.][^\s/\0]*")
_REFERENCE = re.compile(r"(?!(?:all|src)$)[^\s/\0.-]+")  # reserved words, and no dots or dashes
_UNWRITABLE = re.compile("[\0\n\r]")


class StoredScores(NamedTuple):
    """Scores in a folder, by the names with which `read_mme_scores` reads them.

    Parameters
    ----------
    kind : str
        "metric" or "human".
    name : str
        Such as "chrF" or "mqm".
    ref : str, optional
        References that a metric compares with: "refA", "refA.refB", "all", "src" for none; None for human scores.
    levels : tuple of str
        Of "sys", "domain", "doc", "seg".
    """

    kind: str
    name: str
    ref: str | None
    levels: tuple[str, ...]


def is_mme(folder: str | PathLike) -> bool:
    """Whether a folder has sources beside folders of scores."""
    scores = any(Path(folder, name).is_dir() for name in ("metric-scores", "human-scores"))
    return scores and Path(folder, "sources").is_dir()


def read_mme(folder: str | PathLike, lp: str, *, reference: str | None = None) -> TestSet:
    """Read the test set of one language pair.

    Parameters
    ----------
    reference : str, optional
        The default reference; by default that of the task, or the first by name.
    """
    name = f"{Path(folder).resolve().name}/{lp}"
    return read_wmt(folder, lp, year=2024, reference=reference, name=name)


def mme_scores(folder: str | PathLike, lp: str) -> list[StoredScores]:
    """Return the stored scores of one language pair: of metrics, then of people."""
    levels: dict[tuple[str, str, str | None], set[str]] = defaultdict(set)
    for kind, pattern, form in (
        ("metric", f"metric-scores/{lp}/*.score", _METRIC_FILE),
        ("human", f"human-scores/{lp}.*.score", _HUMAN_FILE),
    ):
        for path in sorted(Path(folder).glob(pattern)):
            if match := form.fullmatch(path.name):
                levels[kind, match["name"], match.groupdict().get("ref")].add(match["level"])
    return [
        StoredScores(kind, name, ref, tuple(level for level in _LEVELS if level in found))
        for (kind, name, ref), found in levels.items()
    ]


def read_mme_scores(
    folder: str | PathLike, lp: str, metric: str, ref: str | None = None, level: str = "seg"
) -> pd.DataFrame:
    """Read the scores of one metric, or of people.

    Parameters
    ----------
    metric : str
        Such as "chrF"; with ``ref=None`` a human score, such as "mqm".
    ref, level : str
        As in `StoredScores`; "seg" or "sys".

    Returns
    -------
    DataFrame system, segment (not at level "sys"), score: as stored, higher is better; nan for None. The line of a
    canary has no score.
    """
    import pandas as pd

    checks.one_of(level, ("seg", "sys"), "level")
    path, files = _score_path(folder, lp, metric, ref, level), find_2024(Path(folder), lp)
    if not path.is_file():
        kind = "human" if ref is None else "metric"
        stored = [s for s in mme_scores(folder, lp) if s.kind == kind and level in s.levels]
        known = [s.name if s.ref is None else f"{s.name}-{s.ref}" for s in stored]
        checks.one_of(f"{metric}-{ref}" if ref else metric, known, f"{kind} score")
    scores: dict[str, list[float]] = {}
    for number, line in enumerate(read_lines(path), 1):
        system, *value = line.rsplit(None, 1) or [""]
        score = np.nan if value == ["None"] else _number(value)
        if system not in files.systems or score is None:
            raise DataError(f"got '{line:.60}', expected system<TAB>score.", path, number)
        scores.setdefault(system, []).append(score)
    sources = read_lines(files.src)
    n, start = (len(sources), int(is_canary(sources))) if level == "seg" else (1, 0)
    for system, own in scores.items():
        if len(own) != n:
            raise DataError(f"{system}: got {len(own)} scores, expected {n}.", path)
    rows = [(s, i, x) for s, own in scores.items() for i, x in enumerate(own[start:])]
    table = pd.DataFrame(rows, columns=["system", "segment", "score"])
    return table if level == "seg" else table.drop(columns="segment")


def _number(value: list[str]) -> float | None:
    """A finite number; None for anything else."""
    try:
        score = float(*value)
    except (ValueError, TypeError):
        return None
    return score if value and np.isfinite(score) else None


def _score_path(folder: str | PathLike, lp: str, metric: str, ref: str | None, level: str) -> Path:
    """The file of some scores."""
    if ref is None:
        return Path(folder, "human-scores", f"{lp}.{metric}.{level}.score")
    return Path(folder, "metric-scores", lp, f"{metric}-{ref}.{level}.score")


def write_mme(test: TestSet, folder: str | PathLike) -> Path:
    """Write a test set as one language pair of a folder, and return the folder.

    `read_mme(folder, test.lp, reference=test.reference)` returns it, with its categories. Sources are written last, so
    that an interrupted call leaves no test set. An equal set is left alone. A missing reference is written as
    NO_TRANSLATION.

    Raises
    ------
    DataError : the folder has another test set of this pair, or its layout cannot hold this one: a line end in a
        text, white space in a name, "." or "-" in the name of a reference.
    """
    folder, lp = Path(folder), test.lp
    if find_2024(folder, lp).src.exists():
        stored = read_mme(folder, lp)
        for kind in ("srcs", "refs", "systems", "docs", "domains", "categories"):
            if getattr(stored, kind) != getattr(test, kind):
                raise DataError(f"has another {lp} (other {kind}). Write to a new folder.", folder)
        return folder
    _check_names(_REFERENCE, test.refs)
    _check_names(_NAME, (*test.systems, *test.docs, *test.domains, *lp.split("-")))
    docs = [f"{domain}\t{doc}" for domain, doc in zip(test.domains, test.docs, strict=True)]
    files: dict[str, Sequence[str]] = {
        f"references/{lp}.{ref}.txt": [text or NO_TRANSLATION for text in texts]
        for ref, texts in test.refs.items()
    }
    files |= {f"system-outputs/{lp}/{s}.txt": texts for s, texts in test.systems.items()}
    files |= {f"documents/{lp}.docs": docs, f"sources/{lp}.txt": test.srcs}
    for name, lines in files.items():
        for segment, line in enumerate(lines):
            if _UNWRITABLE.search(line):
                raise DataError(f"segment {segment} has a line end or NUL.", name)
    table = folder / "systems.tsv"
    known = read_categories(table) if table.exists() else {}
    known |= {
        s: c for s, c in test.categories.items() if c != ("human" if s in test.refs else "unknown")
    }
    if known:
        rows = ("\t".join(row) for row in {"system": "category", **known}.items())
        files = {"systems.tsv": tuple(rows), **files}
    for name, lines in files.items():
        _write(folder / name, lines)
    return folder


def write_mme_scores(
    folder: str | PathLike,
    lp: str,
    metric: str,
    scores: ArrayLike,
    *,
    systems: Sequence[str],
    ref: str | None = None,
    level: str = "seg",
) -> Path:
    """Write the scores of one metric, or of people; return the file.

    Parameters
    ----------
    scores : array
        (N, systems) at level "seg", (systems,) at "sys"; higher is better (`Metric.oriented`). nan is written as None,
        which mt-metrics-eval accepts in human scores only.
    metric, ref, level : str
        As in `read_mme_scores`.

    Raises
    ------
    UnknownName : no such language pair, system or level. DataError : another shape, an infinite score.
    """
    checks.one_of(level, ("seg", "sys"), "level")
    files, values = find_2024(Path(folder), lp), np.asarray(scores, dtype=np.float64)
    for system in systems:
        checks.one_of(system, files.systems, "system")
    sources = read_lines(files.src)
    above = [np.nan] * is_canary(sources) if level == "seg" else []  # a canary has a line, no score
    shape = (len(sources) - len(above), len(systems)) if level == "seg" else (len(systems),)
    if values.shape != shape or np.isinf(values).any() or len({*systems}) < len(systems):
        raise DataError(f"{metric}: got shape {values.shape}, expected finite scores {shape}.")
    _check_names(_NAME, [metric])
    columns = zip(systems, values.T.reshape(len(systems), -1).tolist(), strict=True)
    rows = [(system, x) for system, column in columns for x in [*above, *column]]
    lines = [f"{system}\t{'None' if np.isnan(x) else repr(x)}" for system, x in rows]
    return _write(_score_path(folder, lp, metric, ref, level), lines)


def _check_names(form: re.Pattern[str], names: Iterable[str]) -> None:
    """Raise a DataError for a name that the layout cannot hold."""
    if bad := next((name for name in names if not form.fullmatch(name) or name == "und"), None):
        raise DataError(f"name '{bad}' is not possible in mt-metrics-eval. Rename it.")


def _write(path: Path, lines: Sequence[str]) -> Path:
    """Write lines to a file, and make its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_atomic(path, "".join(f"{line}\n" for line in lines))
