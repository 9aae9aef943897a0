"""A finite world of translation, read from three small CSV files."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np

from .._lazy import pd
from ..checks import one_of, some
from ..errors import DataError
from ..exact import Problem
from .fetch import bundled
from .io import _refuse, read_table


@dataclass(frozen=True)
class _World:
    """X sources and Y targets with their names, and the Problem that `exact` solves.

    Parameters
    ----------
    sources, targets : tuple of str
        X source texts, and Y target texts, which are references and candidates alike.
    problem : Problem
        P(x, y), Δ and R over them.
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    problem: Problem = field(repr=False)

    def logprob_per_word(self) -> np.ndarray:
        """Return (Y,) log R(y) / |y| in nats per word; -inf where R(y) = 0."""
        words = [max(1, len(text.split())) for text in self.targets]
        with np.errstate(divide="ignore"):
            return np.log(self.problem.reference) / words


def load_world(name: str | PathLike) -> _World:
    """Load a bundled world ("teacher"), or a folder of three CSV files.

    They are pairs.csv, targets.csv and distortion.csv. A candidate that equals the reference costs 0. For others the
    first row of distortion.csv that matches decides; ``*`` matches any text.

    Raises
    ------
    DataError : with file and line, for a malformed or negative number, a repeated row, or a text that targets.csv
        lacks; for a pair without a distortion.

    >>> world = load_world("teacher")
    >>> len(world.sources), world.targets[0], round(float(world.problem.p_x[0]), 9)
    (5, 'My teacher is nice.', 0.3)
    """
    if not (folder := Path(name)).is_dir():
        one_of(str(name), ["teacher"], "world", "Or name a folder with pairs.csv.")
        folder = bundled(f"worlds/{name}")
    targets = _read(folder / "targets.csv", ["target"], "count")
    pairs = _read(folder / "pairs.csv", ["source", "reference"], "count")
    rows = _read(folder / "distortion.csv", ["source", "reference", "candidate"], "distortion")
    texts, sources = tuple(targets.target), tuple(dict.fromkeys(pairs.source))
    _known(pairs, "reference", texts, folder / "pairs.csv")
    for column, known in (("source", sources), ("reference", texts), ("candidate", texts)):
        _known(rows, column, (*known, "*"), folder / "distortion.csv")
    joint = np.zeros((len(sources), len(texts)))
    joint[pairs.source.map(sources.index), pairs.reference.map(texts.index)] = pairs["count"]
    delta = np.full((len(sources), len(texts), len(texts)), np.nan)
    # first row wins
    for source, reference, candidate, value in rows[::-1].itertuples(index=False):
        at = zip((sources, texts, texts), (source, reference, candidate), strict=True)
        delta[tuple(slice(None) if t == "*" else known.index(t) for known, t in at)] = value
    delta[:, np.arange(len(texts)), np.arange(len(texts))] = 0
    for x, z, y in np.argwhere(np.isnan(delta)):
        what = f"'{texts[y]:.30}' for '{sources[x]:.30}' ('{texts[z]:.30}')"
        raise DataError(f"no distortion of {what}. Add *,*,*,1.", folder / "distortion.csv")
    r = targets["count"].to_numpy()
    return _World(sources, texts, Problem(joint / joint.sum(), delta, r / r.sum()))


def _read(path: Path, texts: list[str], number: str) -> pd.DataFrame:
    """Read the columns of one file: distinct texts, and a number ≥ 0."""
    columns = {**dict.fromkeys(texts, str), number: float}
    table = read_table(path, columns, keys=texts)[[*columns]]
    if number == "count":
        some(table[number].to_numpy() > 0, f"{path}: got no {number} above 0.")
    _refuse(~(table[number] >= 0), f"{number}: expected at least 0", path, table[number])
    return table


def _known(table: pd.DataFrame, column: str, known: tuple[str, ...], path: Path) -> None:
    """Raise a DataError for a text that is not among the known ones."""
    said = f"{column}: expected one of {', '.join(known):.60}"
    _refuse(~table[column].isin(known), said, path, table[column])
