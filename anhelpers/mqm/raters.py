"""Raters and their marks: a row per mark, category or rater, and raters as critics of fluency (AN eq. 4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import checks
from ..bootstrap import bootstrap_means, clusters_of
from ..data.mqm_tables import Scheme, Weights
from ..data.ratings import Ratings
from ..divergences.processes import folded_norm
from ..divergences.samples import along_a_line
from ..errors import DataError
from .scores import KINDS, MqmScores

_ENDS = (0.025, 0.975)


class _MarkedTranslation(NamedTuple):
    """A translation with its source and its marks, rows of `marks_table`."""

    source: str
    translation: str
    marks: pd.DataFrame


def marks_table(ratings: Ratings, scheme: Scheme, weights: Weights) -> pd.DataFrame:
    """Every mark of every rater, with its axis and its weight; a rating without an error is a row, too.

    Returns
    -------
    DataFrame of system, segment, rater, category, severity, span (the marked words, "" if read without texts),
    dimension ("accuracy", "fluency", "ignored", "none"; None for a category without a row of the scheme), points (MQM
    points ≥ 0; nan without a row of the weights).
    """
    table = ratings.frame()[["system", "segment", "rater", "category", "severity"]]
    table["span"] = list(ratings.spans) or ""
    table["dimension"] = table.category.map({c: scheme.dimension(c) for c in ratings.categories})
    kinds = zip(table.severity, table.category, strict=True)
    table["points"] = [weights.weight(*kind) for kind in kinds]
    return table


def category_table(marks: pd.DataFrame) -> pd.DataFrame:
    """Number of marks and sum of points of each category, the most expensive first.

    Parameters
    ----------
    marks : DataFrame
        From `marks_table`.

    Returns
    -------
    DataFrame by category: dimension; ratings (their number); points (sum, MQM points); share (of all points, 0 to 1);
    a column per severity with the number of its marks.
    """
    aggregates = {"dimension": ("dimension", "first"), "ratings": ("points", "size")}
    table = marks.groupby("category").agg(**aggregates, points=("points", "sum"))
    table["share"] = table.points / table.points.sum()
    table = table.join(pd.crosstab(marks.category, marks.severity))
    return table.sort_values("points", ascending=False, kind="stable")


def marked_example(
    ratings: Ratings, marks: pd.DataFrame, n_characters: int = 100
) -> _MarkedTranslation:
    """An example by rule: of the translations with errors on most axes, the one nearest to a length.

    Parameters
    ----------
    ratings : Ratings
        Read with texts=True.
    marks : DataFrame
        From `marks_table`.
    n_characters : int
        The length; of two translations that are equally near, the first by system and segment.
    """
    if not ratings.targets:
        raise DataError("got ratings without texts. Read them by read_ratings(path, texts=True).")
    segment = dict(zip(ratings.segment_names, ratings.segments, strict=True))
    counted = marks.dimension.where(marks.dimension.isin(KINDS))
    kinds = counted.groupby([marks.system, marks.segment]).nunique()
    texts = {unit: ratings.targets[unit[0], segment[unit[1]]] for unit in kinds.index}
    most = kinds.index[kinds == kinds.max()]
    system, name = min(most, key=lambda unit: abs(len(texts[unit]) - n_characters))
    own = marks[(marks.system == system) & (marks.segment == name)].reset_index(drop=True)
    return _MarkedTranslation(ratings.sources[segment[name]], texts[system, name], own)


def rater_table(scores: MqmScores, rng: np.random.Generator, n_draws: int = 1000) -> pd.DataFrame:
    """Mean penalty, accuracy and fluency of each rater, over the translations that this rater saw.

    Raters may have seen other segments: a high mean may be due to hard segments and not to a strict rater.

    Parameters
    ----------
    rng, n_draws : Generator, int
        Of the intervals, which resample documents (segments of a single document).

    Returns
    -------
    DataFrame of rater, n (translations); penalty, penalty_low, penalty_high and so on, MQM points per segment, lower
    is better.

    Raises
    ------
    DataError : ratings of a single segment, which has no interval.
    """
    n_segments, n_systems = len(scores.segments), len(scores.systems)
    cell = np.ravel_multi_index((scores.segment, scores.system), (n_segments, n_systems))
    docs = np.repeat(clusters_of(np.array(scores.docs)), n_systems)
    columns = {"rater": scores.raters, "n": np.bincount(scores.rater, minlength=len(scores.raters))}
    for k, kind in enumerate(KINDS):
        values = np.full((n_segments * n_systems, len(scores.raters)), np.nan)
        values[cell, scores.rater] = scores.values[:, k]
        found = bootstrap_means(values, docs, rng, n_draws)
        columns |= {kind: found.mean, f"{kind}_low": found.low, f"{kind}_high": found.high}
    return pd.DataFrame(columns)


@dataclass(frozen=True, eq=False, repr=False)
class _RaterCritics:
    """The fluency penalties of each rater who saw every system, with resampled documents.

    Parameters
    ----------
    raters, systems : tuple of str
        K and S names.
    left_out : tuple of str
        Raters who did not see every system.
    human : str
        The system that serves as the reference r.
    mean, low, high : (K, S) array
        Points per segment, lower is better, and studentised intervals, not below 0.
    draws : (B, K, S) array
        Means of resampled documents.
    counts, marked : (K, S) array
        Segments that the rater saw of the system, and the share of them with a mark.
    segments : (S,) array
        Rated segments of each system.
    n_segments, n_clusters, n_effective : int, int, float
        Resampled rows, their clusters, and the number of clusters of equal size.
    """

    raters: tuple[str, ...]
    left_out: tuple[str, ...]
    systems: tuple[str, ...]
    human: str
    mean: np.ndarray
    draws: np.ndarray
    low: np.ndarray
    high: np.ndarray
    counts: np.ndarray
    marked: np.ndarray
    segments: np.ndarray
    n_segments: int
    n_clusters: int
    n_effective: float

    def __repr__(self) -> str:
        k, s = self.mean.shape
        sizes = f"{k} critics, {s} systems, {self.n_segments} segments, {self.n_clusters} clusters"
        return f"RaterCritics({sizes}; left out: {', '.join(self.left_out) or 'none'})"

    def of_the_human(self) -> pd.DataFrame:
        """critic, points, low, high, marked (share of segments), n: the scores of the human system by critic."""
        h = self.systems.index(self.human)
        columns = {"points": self.mean, "low": self.low, "high": self.high, "marked": self.marked}
        table = pd.DataFrame({name: values[:, h] for name, values in columns.items()})
        table.insert(0, "critic", self.raters)
        return table.assign(n=self.counts[:, h])

    def _gaps(self) -> tuple[np.ndarray, np.ndarray]:
        """(K, S) points above the human's, critic by critic, and (B, K, S) of the resamples."""
        h = [self.systems.index(self.human)]
        return self.mean - self.mean[:, h], self.draws - self.draws[:, :, h]

    def sizes(self) -> np.ndarray:
        """(B, S) D₁ to the human in each resample."""
        return np.nanmean(np.abs(self._gaps()[1]), 1)

    def table(self) -> pd.DataFrame:
        """average, signed, D1 and lost of each system, each with low and high; the lowest average first.

        average : mean of all critics' points. signed : mean of their differences to the human. D1 : mean size of these
        differences. lost : D1 less the size of `signed`, the loss if critics are pooled first. noise alone : expected
        D1 of equal systems. opposed : critics disagree in direction. n : rated segments. The interval of D1 is measured
        against chance; the others are percentiles.
        """
        gap, moved = self._gaps()
        size, pooled = self.sizes(), np.abs(np.nanmean(moved, 1))
        distance = np.abs(gap).mean(0)
        measured = {
            "average": (self.mean.mean(0), np.nanmean(self.draws, 1)),
            "signed": (gap.mean(0), np.nanmean(moved, 1)),
            "D1": (distance, size),
            "lost": (distance - np.abs(gap.mean(0)), size - pooled),
        }
        table = pd.DataFrame({"system": self.systems, "n": self.segments})
        for name, (value, drawn) in measured.items():
            low, high = np.nanquantile(drawn, _ENDS, axis=0) if name != "D1" else self._chance()
            table = table.assign(**{name: value, f"{name}_low": low, f"{name}_high": high})
        noise = [np.mean([folded_norm(0, se) for se in part]) for part in np.nanstd(moved, 0).T]
        opposed = (gap > 0).any(0) & (gap < 0).any(0)
        table = table.assign(**{"noise alone": noise, "opposed": opposed})
        return table.sort_values("average", kind="stable").reset_index(drop=True)

    def overstated(self) -> tuple[float, float, float]:
        """Mean excess of the average over D₁, over all systems but the human, and its 95 % interval, in points."""
        others = [s for s, name in enumerate(self.systems) if name != self.human]
        size = np.abs(self._gaps()[0]).mean(0)
        drawn = np.nanmean(self.draws, 1) - self.sizes()
        low, high = np.nanquantile(drawn[:, others].mean(1), _ENDS)
        return float(np.mean((self.mean.mean(0) - size)[others])), float(low), float(high)

    def _chance(self) -> np.ndarray:
        """(2, S) ends of the intervals of D₁, which begin at 0 if chance alone gives as much."""
        gap, moved = self._gaps()
        ends = []
        for s in range(gap.shape[1]):
            noise = moved[:, :, s]
            noise = noise[~np.isnan(noise).any(1)] - gap[:, s]
            line = along_a_line(lambda g: np.abs(g).mean(-1), gap[:, s], noise, n=self.n_effective)
            ends.append((line[0].low, line[0].high))
        return np.array(ends).T


def rater_critics(
    scores: MqmScores, human: str, rng: np.random.Generator, n_draws: int = 1000
) -> _RaterCritics:
    """The raters who saw every system as critics of fluency, with resamples of whole documents.

    Parameters
    ----------
    human : str
        The rated system that serves as the reference r.
    rng, n_draws : Generator, int
        Of the resamples.

    Raises
    ------
    UnknownName : a human who was not rated. DataError : no rater saw every system.
    """
    human = checks.one_of(human, scores.systems, "rated system")
    names = {"segment": scores.segment, "rater": scores.rater, "system": scores.system}
    units = pd.DataFrame(names | {"fluency": scores.values[:, KINDS.index("fluency")]})
    saw = units.groupby("rater")["system"].nunique()
    raters = saw.index[saw == len(scores.systems)]
    checks.whole("number of raters of every system", len(raters))
    shape = len(raters), len(scores.systems)
    columns = [(k, s) for k in raters for s in range(shape[1])]
    wide = units.pivot(index="segment", columns=["rater", "system"], values="fluency")[columns]
    clusters = clusters_of(np.array(scores.docs, dtype=object)[wide.index])
    found = bootstrap_means(wide, clusters, rng, n_draws)
    counts = wide.notna().sum().to_numpy().reshape(shape)
    return _RaterCritics(
        raters=tuple(scores.raters[k] for k in raters),
        left_out=tuple(scores.raters[k] for k in saw.index.difference(raters)),
        systems=scores.systems,
        human=human,
        mean=found.mean.reshape(shape),
        draws=found.draws.reshape(-1, *shape),
        low=np.maximum(0, found.low.reshape(shape)),  # no penalty is below 0
        high=np.maximum(0, found.high.reshape(shape)),
        counts=counts,
        marked=(wide > 0).sum().to_numpy().reshape(shape) / counts,
        segments=units.groupby("system")["segment"].nunique().to_numpy(),
        n_segments=len(wide),
        n_clusters=found.n_clusters,
        n_effective=float(found.n_effective.min()),
    )


def rating_human(
    systems: tuple[str, ...], kinds: Mapping[str, str], named: str | None = None
) -> str:
    """The rated system that serves as the reference: the named one, else the first human one.

    Parameters
    ----------
    kinds : mapping
        System to "human", "MT", …
    named : str, optional
        A system.
    """
    people = [name for name in systems if kinds.get(name) == "human"]
    return checks.one_of(named or (people or ["human"])[0], systems, "rated system")
