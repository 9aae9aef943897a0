"""A finite world of translation as three small CSV files: who says what, what the language says, what errors cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np

from ..errors import DataError, nearest
from ..exact import Problem
from .fetch import bundled
from .lines import csv_number, csv_rows

__all__ = ["World", "load_world"]


@dataclass(frozen=True)
class World:
    """X sources and Y targets with their names, and the Problem that `exact` solves.

    Parameters
    ----------
    name : of the folder.
    sources, targets : X source texts; Y target texts, which are references and candidates alike.
    problem : P(x, y), Δ and R over them.
    """

    name: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    problem: Problem = field(repr=False)

    def logprob_per_word(self) -> np.ndarray:
        """(Y,) log R(y) / |y| in nats per word: what a perfect language model would say; -inf where R(y) = 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.problem.reference) / [
                max(1, len(text.split())) for text in self.targets
            ]


def load_world(name: str | PathLike) -> World:
    """A bundled world ("teacher"), or a folder with pairs.csv, targets.csv and distortion.csv.

    A candidate that equals the reference costs 0; for others the first row of distortion.csv that fits decides, where
    ``*`` stands for anything.

    Raises
    ------
    DataError naming file and line: a count that is no number ≥ 0, a text that targets.csv does not have, a pair that no
    row of distortion.csv covers.

    >>> world = load_world("teacher")
    >>> len(world.sources), world.targets[0], round(float(world.problem.p_x[0]), 9)
    (5, 'My teacher is nice.', 0.3)
    """
    folder = Path(name) if Path(name).is_dir() else bundled(f"worlds/{name}")
    targets = _counts(folder / "targets.csv", ("target", "count"))
    pairs = _counts(folder / "pairs.csv", ("source", "reference", "count"))
    sources = tuple(dict.fromkeys(source for source, _ in pairs))
    texts = tuple(text for (text,) in targets)
    joint = np.zeros((len(sources), len(texts)))
    for (source, reference), (line, count) in pairs.items():
        if (reference,) not in targets:
            raise DataError(
                f"no row of targets.csv is '{reference}'{nearest(reference, texts)}; add it there, "
                "with count 0 if nobody writes it.",
                folder / "pairs.csv",
                line,
            )
        joint[sources.index(source), texts.index(reference)] = count
    reference = np.array([count for _, count in targets.values()])
    distortion = _distortion(folder / "distortion.csv", sources, texts)
    problem = Problem(joint / joint.sum(), distortion, reference / reference.sum())
    return World(folder.name, sources, texts, problem)


def _counts(path: Path, header: tuple[str, ...]) -> dict[tuple[str, ...], tuple[int, float]]:
    """Names -> (line, count) of a table whose last column is a count."""
    table: dict[tuple[str, ...], tuple[int, float]] = {}
    for line, (*names, cell) in csv_rows(path, header):
        if tuple(names) in table:
            raise DataError(
                f"'{names[-1]}' stands here a second time; the first is line "
                f"{table[tuple(names)][0]}.",
                path,
                line,
            )
        table[tuple(names)] = line, csv_number(cell, "count", path, line)
    if not 0 < sum(count for _, count in table.values()) < np.inf:
        raise DataError("no row has a count above 0, or they are too large to be summed.", path)
    return table


def _distortion(path: Path, sources: tuple[str, ...], texts: tuple[str, ...]) -> np.ndarray:
    """(X, Y, Y) Δ(source, reference, candidate)."""
    known = (set(sources), set(texts), set(texts))
    rows: list[tuple] = []
    for line, (*names, cell) in csv_rows(path, ("source", "reference", "candidate", "distortion")):
        for column, text, here in zip(
            ("source", "reference", "candidate"), names, known, strict=True
        ):
            if text != "*" and text not in here:
                raise DataError(f"unknown {column} '{text}'{nearest(text, here)}.", path, line)
        rows.append((*names, csv_number(cell, "distortion", path, line)))
    delta = np.full((len(sources), len(texts), len(texts)), np.nan)
    # the first row that fits has the last word
    for source, reference, candidate, value in reversed(rows):
        at = (
            _at(name, names)
            for name, names in ((source, sources), (reference, texts), (candidate, texts))
        )
        delta[np.ix_(*at)] = value
    same = np.arange(len(texts))
    delta[:, same, same] = 0
    open_ = np.argwhere(np.isnan(delta))
    if len(open_):
        x, z, y = open_[0]
        raise DataError(
            f"no row says what '{texts[y]}' costs for '{sources[x]}' where '{texts[z]}' was "
            f"right ({len(open_)} such); add a row, e.g. *,*,*,1 at the end.",
            path,
        )
    return delta


def _at(name: str, names: tuple[str, ...]) -> np.ndarray:
    return np.arange(len(names)) if name == "*" else np.array([names.index(name)])
