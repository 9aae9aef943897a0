"""Raters as critics: the fluency penalties that each gives to each system, and D₁ of AN eq. 4 between systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .. import checks
from ..divergences.processes import folded_norm
from ..divergences.samples import along_a_line
from ..errors import DataError
from ..intervals import bootstrap_means, few_clusters
from ..stats import clusters_of
from .scores import KINDS, MqmScores

__all__ = ["RaterCritics", "rater_critics", "rating_human"]

NO_POINTS = 1e-12  # a mean penalty below it is 0
ENDS = (0.025, 0.975)


@dataclass(frozen=True, eq=False, repr=False)
class RaterCritics:
    """What each rater who saw every system gives to each of them, and how that scatters when documents are resampled.

    Parameters
    ----------
    raters, systems : K and S names. left_out : raters who did not see every system. human : the system that is R.
    mean : (K, S) points per segment, lower is better. draws : (B, K, S) of resampled documents.
    low, high : (K, S) studentised intervals of `mean`, not below 0. counts, marked : (K, S) segments that the rater saw
        of the system, and the share of them with a mark. segments : (S,) how many segments of each system were rated.
    n_segments, n_clusters, n_effective : rows that were resampled, their clusters, and how many of these count.
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
        sizes = (
            f"{k} critics, {s} systems, {self.n_segments} segments in {self.n_clusters} clusters"
        )
        few = few_clusters(self.n_clusters, "clusters", self.n_effective)
        left = f"; left out: {', '.join(self.left_out)}" if self.left_out else ""
        return f"RaterCritics({sizes}{left})" + (f" {few}" if few else "")

    def of_the_human(self) -> pd.DataFrame:
        """critic, points, low, high, marked (share of segments), n: what each critic gives to the human system."""
        h = self.systems.index(self.human)
        columns = {"points": self.mean, "low": self.low, "high": self.high, "marked": self.marked}
        table = pd.DataFrame({name: values[:, h] for name, values in columns.items()})
        table.insert(0, "critic", self.raters)
        return table.assign(n=self.counts[:, h])

    def gaps(self) -> tuple[np.ndarray, np.ndarray]:
        """(K, S) points above the human's, critic by critic, and (B, K, S) of the resamples."""
        h = [self.systems.index(self.human)]
        return self.mean - self.mean[:, h], self.draws - self.draws[:, :, h]

    def sizes(self) -> np.ndarray:
        """(B, S) D₁ to the human in each resample."""
        return np.nanmean(np.abs(self.gaps()[1]), 1)

    def table(self) -> pd.DataFrame:
        """A row per system, the lowest average first: average, signed, D1 and lost, each with low and high; and more.

        average : the plain mean of all critics' points. signed : the mean of their differences to the human. D1 : the
        mean size of these. lost : D1 less the size of `signed`, what pooling the critics first would lose.
        noise alone : D1 that chance alone would give. opposed : one critic puts the system above the human, another one
        below. n : rated segments. The interval of D1 is measured against chance; the others are percentiles.
        """
        gap, moved = self.gaps()
        measured = {"average": (self.mean.mean(0), np.nanmean(self.draws, 1))}
        measured["signed"] = (gap.mean(0), np.nanmean(moved, 1))
        size, pooled = self.sizes(), np.abs(measured["signed"][1])
        measured["D1"] = (np.abs(gap).mean(0), size)
        measured["lost"] = (measured["D1"][0] - np.abs(gap.mean(0)), size - pooled)
        table = pd.DataFrame({"system": self.systems, "n": self.segments})
        for name, (value, drawn) in measured.items():
            low, high = np.nanquantile(drawn, ENDS, axis=0) if name != "D1" else self._chance()
            table = table.assign(**{name: value, f"{name}_low": low, f"{name}_high": high})
        noise = [np.mean([folded_norm(0, se) for se in part]) for part in np.nanstd(moved, 0).T]
        opposed = (gap > 0).any(0) & (gap < 0).any(0)
        table = table.assign(**{"noise alone": noise, "opposed": opposed})
        return table.sort_values("average", kind="stable").reset_index(drop=True)

    def overstated(self) -> tuple[float, float, float]:
        """By how much the average exceeds D₁, over all systems but the human, and its 95 % interval, in points."""
        others = [s for s, name in enumerate(self.systems) if name != self.human]
        size = np.abs(self.gaps()[0]).mean(0)
        drawn = np.nanmean(self.draws, 1) - self.sizes()
        low, high = np.nanquantile(drawn[:, others].mean(1), ENDS)
        return float(np.mean((self.mean.mean(0) - size)[others])), float(low), float(high)

    def _chance(self) -> tuple[list[float], list[float]]:
        """(S,) ends of the intervals of D₁: where chance alone gives as much, they begin at 0."""
        gap, moved = self.gaps()
        found = []
        for s in range(gap.shape[1]):
            noise = moved[:, :, s]
            noise = noise[~np.isnan(noise).any(1)] - gap[:, s]
            line = along_a_line(lambda g: np.abs(g).mean(-1), gap[:, s], noise, n=self.n_effective)
            found.append(line[0])
        return [one.low for one in found], [one.high for one in found]


def rater_critics(
    scores: MqmScores, human: str, rng: np.random.Generator, n_draws: int = 1000
) -> RaterCritics:
    """The raters who saw every system as critics of their fluency, with resamples of whole documents.

    Parameters
    ----------
    scores : of `score_ratings`. human : the rated system that stands for R. n_draws : resamples.

    Raises
    ------
    UnknownName for a human who was not rated; DataError if no rater saw every system.
    """
    human = checks.one_of(human, scores.systems, "rated system")
    units = pd.DataFrame(
        {"segment": scores.segment, "rater": scores.rater, "system": scores.system}
    )
    units["fluency"] = scores.values[:, KINDS.index("fluency")]
    saw = units.groupby("rater")["system"].nunique()
    raters = saw.index[saw == len(scores.systems)]
    if not len(raters):
        raise DataError("no rater saw all systems, so none can be a critic of them all.")
    shape = len(raters), len(scores.systems)
    columns = [(k, s) for k in raters for s in range(shape[1])]
    wide = units.pivot(index="segment", columns=["rater", "system"], values="fluency")[columns]
    clusters = clusters_of(np.array(scores.docs, dtype=object)[wide.index])
    found = bootstrap_means(wide, clusters, rng, n_draws)
    left = saw.index.difference(raters)
    return RaterCritics(
        raters=tuple(scores.raters[k] for k in raters),
        left_out=tuple(scores.raters[k] for k in left),
        systems=scores.systems,
        human=human,
        mean=found.mean.reshape(shape),
        draws=found.draws.reshape(-1, *shape),
        low=np.maximum(0, found.low.reshape(shape)),  # no penalty is below 0
        high=np.maximum(0, found.high.reshape(shape)),
        counts=wide.notna().sum().to_numpy().reshape(shape),
        marked=(wide > 0).sum().to_numpy().reshape(shape)
        / wide.notna().sum().to_numpy().reshape(shape),
        segments=units.groupby("system")["segment"].nunique().to_numpy(),
        n_segments=len(wide),
        n_clusters=found.n_clusters,
        n_effective=float(found.n_effective.min()),
    )


def rating_human(
    systems: tuple[str, ...], kinds: Mapping[str, str], named: str | None = None
) -> str:
    """The rated system that stands for R: the one named, else the first that is known as human.

    Parameters
    ----------
    systems : that were rated. kinds : system → "human", "MT", … named : a system's name, or None.
    """
    people = [name for name in systems if kinds.get(name) == "human"]
    if not (named or people):
        known = ", ".join(systems)
        raise DataError(f"no rated system is known as human; name one as human: {known}.")
    return checks.one_of(named or people[0], systems, "rated system")
