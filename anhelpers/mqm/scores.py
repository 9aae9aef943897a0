"""MQM: what expert ratings weigh, and the penalties of translations, segments, documents and systems.

A rater's penalty for a translation is the sum of the weights of the errors marked in it; a segment's is the mean over
its raters, a system's the mean over its segments: MQM points per segment, 0 is perfect, lower is better. Which error
weighs what, and which category is accuracy and which fluency, is said by the tables in ``data/mqm``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import __version__, checks
from ..data.mqm_tables import Scheme, Weights, choose_scheme, load_scheme, load_weights, table_notes
from ..data.rating_checks import odd_weights, without_clean
from ..data.rating_names import DOMAINS, base_system, domain_of, spelled_twice
from ..data.ratings import Ratings
from ..errors import DataError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "DOMAINS",
    "KINDS",
    "LEVELS",
    "Matrix",
    "MqmScores",
    "Scheme",
    "Weights",
    "base_system",
    "choose_scheme",
    "domain_of",
    "load_scheme",
    "load_weights",
    "score_ratings",
]

KINDS = ("penalty", "accuracy", "fluency")
"""The penalty counts every error that has a weight; accuracy and fluency count those of their own categories."""

LEVELS = {"system": (), "rater": (), "domain": (), "doc": ("domain",), "segment": ("doc", "domain")}
"""Level of aggregation -> columns that are constant within its groups and are shown beside it."""


class Matrix(NamedTuple):
    """Penalties of S systems for n segments.

    Parameters
    ----------
    values : (n, S) MQM points, mean over raters; nan where no rater saw the translation.
    segments, docs, domains : n names each. systems : S names.
    """

    values: np.ndarray
    segments: tuple[str, ...]
    docs: tuple[str, ...]
    domains: tuple[str, ...]
    systems: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class MqmScores:
    """The penalty of every rated (system, segment, rater), a unit; MQM points ≥ 0, lower is better.

    Parameters
    ----------
    systems, raters : names. segments, docs, domains : n names each, in reading order.
    system, segment, rater : (U,) the position of each unit's names.
    values : (U, 3) its penalty, accuracy and fluency.
    signature : scheme, weights, averaging, version, files.
    notes : sentences that the user should see.
    severity : (R, 3) how many times the penalty of an average rater each rater gives, where `adjust_raters` has taken
        that out (then a single value may be below 0); None: values are as rated. severity_error : (3,) the standard
        error of the severity of an average rater, as a share of it: other raters would have another.
    """

    systems: tuple[str, ...]
    raters: tuple[str, ...]
    segments: tuple[str, ...]
    docs: tuple[str, ...]
    domains: tuple[str, ...]
    system: np.ndarray
    segment: np.ndarray
    rater: np.ndarray
    values: np.ndarray
    signature: str
    notes: tuple[str, ...] = ()
    severity: np.ndarray | None = None
    severity_error: np.ndarray | None = None

    def __repr__(self) -> str:
        sizes = (
            f"{len(self.systems)} systems, {len(self.segments)} segments, {len(self.raters)} raters"
        )
        return f"MqmScores({sizes}; {self.signature})"

    def matrix(self, which: str = "penalty") -> Matrix:
        """Segments by systems, one of KINDS."""
        column = KINDS.index(checks.one_of(which, KINDS, "MQM score"))
        shape = len(self.segments), len(self.systems)
        cell = np.ravel_multi_index((self.segment, self.system), shape)
        sums = np.bincount(cell, self.values[:, column], minlength=shape[0] * shape[1])
        raters = np.bincount(cell, minlength=shape[0] * shape[1])
        with np.errstate(invalid="ignore"):
            values = (sums / raters).reshape(shape)
        return Matrix(values, self.segments, self.docs, self.domains, self.systems)

    def by(self, level: str = "system") -> pd.DataFrame:
        """system, what the level names, n_segments, n_raters, penalty, accuracy, fluency: a tidy row per group.

        A "segment" is the mean over its raters (and has no n_segments); a "doc", "domain" or "system" the mean over its
        segments; a "rater" the mean over the segments that this rater saw of the system.
        """
        units = self._units()
        keys = (
            ["system"] if checks.one_of(level, LEVELS, "level") == "system" else ["system", level]
        )
        cell = ["system", "segment", "doc", "domain", *(["rater"] if level == "rater" else [])]
        groups = units.groupby(cell)[list(KINDS)].mean().reset_index().groupby(keys)
        table = groups[list(LEVELS[level])].first()
        table["n_segments"] = groups.size()
        table["n_raters"] = units.groupby(keys)["rater"].nunique()
        table[list(KINDS)] = groups[list(KINDS)].mean()
        return self._named(
            table.drop(columns="n_segments" if level == "segment" else []).reset_index()
        )

    @property
    def coverage(self) -> str:
        """A note where systems were rated on different segments; "" where all were on the same."""
        rated = ~np.isnan(self.matrix().values)
        if rated.all():
            return ""
        n, fewest = rated.sum(0), np.argsort(rated.sum(0), kind="stable")[:5]
        listed = ", ".join(f"{self.systems[i]} on {n[i]}" for i in fewest) + (
            ", …" if len(n) > 5 else ""
        )
        told = (
            f"systems were rated on different segments, of {len(rated)} in all: {listed}; "
            f"{rated.all(1).sum()} for "
        )
        return (
            f"{told}every system. Their means differ by the segments, too: --shared compares over "
            "those that all have."
        )

    @property
    def crews(self) -> str:
        """A note where systems were rated by other raters in the same segment; "" where all by the same."""
        shape = len(self.segments), len(self.raters)
        saw = np.bincount(
            np.ravel_multi_index((self.segment, self.rater), shape), minlength=shape[0] * shape[1]
        )
        saw, of = saw.reshape(shape), (~np.isnan(self.matrix().values)).sum(1, keepdims=True)
        # a rater who saw some systems of a segment, and not all
        apart = ((saw > 0) & (saw < of)).any(1)
        mean = self._units().groupby("rater").penalty.mean()
        if self.severity is not None or not apart.any() or mean.min() == mean.max():
            return ""
        told = (
            f"in {apart.sum()} of {len(apart)} segments systems were rated by different raters, "
            f"whose mean penalties range from {mean.min():.2f} ({self.raters[mean.idxmin()]}) to "
            f"{mean.max():.2f} ({self.raters[mean.idxmax()]})"
        )
        return (
            f"{told}: part of a difference may be theirs; --adjust-raters takes their severity out."
        )

    def shared(self) -> MqmScores:
        """Only the segments that were rated for every system; a DataError where there is none.

        Means over different segments compare segments, too. The signature says so where segments are left out.
        """
        everywhere = ~np.isnan(self.matrix().values).any(1)
        if everywhere.all():
            return self
        if not everywhere.any():
            raise DataError(
                "no segment was rated for every system; leave the systems out that have few."
            )
        kept, here = np.flatnonzero(everywhere), everywhere[self.segment]
        names: dict[str, Any] = {
            name: tuple(getattr(self, name)[i] for i in kept)
            for name in ("segments", "docs", "domains")
        }
        codes: dict[str, Any] = {
            name: getattr(self, name)[here] for name in ("system", "rater", "values")
        }
        codes["segment"] = np.searchsorted(kept, self.segment[here])
        left = (
            f"{int((~everywhere).sum())} of {len(everywhere)} segments are left out: not rated for "
            "every system."
        )
        notes = (*(note for note in self.notes if note not in (self.coverage, self.crews)), left)
        here = replace(
            self, **names, **codes, signature=f"{self.signature}|segments:shared", notes=notes
        )
        return replace(here, notes=(*notes, *filter(None, [here.crews])))

    def _units(self) -> pd.DataFrame:
        """A row per unit: the positions of its names, and what it scored."""
        import pandas as pd

        places = {
            "doc": _places(self.docs)[self.segment],
            "domain": _places(self.domains)[self.segment],
        }
        codes = {"system": self.system, "segment": self.segment, "rater": self.rater} | places
        return pd.DataFrame(codes | {kind: self.values[:, i] for i, kind in enumerate(KINDS)})

    def _named(self, table: pd.DataFrame) -> pd.DataFrame:
        """A table with names for positions."""
        names = {
            "system": self.systems,
            "segment": self.segments,
            "rater": self.raters,
            "doc": list(dict.fromkeys(self.docs)),
            "domain": list(dict.fromkeys(self.domains)),
        }
        return table.assign(
            **{c: np.array(n, dtype=object)[table[c]] for c, n in names.items() if c in table}
        )


def _places(names: tuple[str, ...]) -> np.ndarray:
    """(n,) which of the distinct names, in order of first appearance, each one is."""
    order = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return np.array([order[name] for name in names])


def score_ratings(
    ratings: Ratings,
    scheme: str | Scheme = "wmt",
    weights: str | Weights = "freitag2021",
    *,
    unclassified: str = "error",
    domains: Mapping[str, str] | None = None,
) -> MqmScores:
    """MQM penalty, accuracy and fluency of every (system, segment, rater), from the errors that experts marked.

    Parameters
    ----------
    ratings : from `data.read_ratings`.
    scheme, weights : bundled names, paths of CSV files, or what `load_scheme` and `load_weights` gave.
    unclassified : "error", or "ignore": categories that no row of the scheme covers count in the penalty alone.
    domains : document -> domain; by default `domain_of`.

    Raises
    ------
    DataError : a category that the scheme does not cover, or a severity that the weights do not.

    References
    ----------
    Freitag et al. 2021, §3; AN Appendix D.
    """
    scheme, weights = load_scheme(scheme), load_weights(weights)
    checks.one_of(unclassified, ("error", "ignore"), "way with unclassified categories")
    weight = _weights(ratings, weights)
    (dimension, waived) = _dimensions(ratings, scheme, unclassified)
    shape = len(ratings.systems), len(ratings.segments), len(ratings.raters)
    units, unit = np.unique(ratings.units(), return_inverse=True)
    counted = (weight, weight * (dimension == "accuracy"), weight * (dimension == "fluency"))
    values = np.stack(
        [np.bincount(unit, column, minlength=len(units)) for column in counted], axis=1
    )
    docs = tuple(segment.doc for segment in ratings.segments)
    named = tuple((domains or {}).get(doc) or domain_of(doc) for doc in docs)
    system, segment, rater = map(np.asarray, np.unravel_index(units, shape))
    missing, twice = without_clean(ratings), spelled_twice(ratings)
    notes = (
        *ratings.notes,
        *waived,
        *table_notes(ratings, scheme, weights),
        *odd_weights(ratings, weight),
        *missing,
        *twice.values(),
    )
    signature = _signature(ratings, scheme, weights) + "|segments:with-errors" * bool(missing)
    signature += "".join(f"|{what}:spelled-twice" for what in twice)
    scores = MqmScores(
        ratings.systems,
        ratings.raters,
        ratings.segment_names,
        docs,
        named,
        system,
        segment,
        rater,
        values,
        signature,
        notes,
    )
    return replace(scores, notes=(*scores.notes, *filter(None, [scores.coverage, scores.crews])))


def _dimensions(
    ratings: Ratings, scheme: Scheme, unclassified: str
) -> tuple[np.ndarray, tuple[str, ...]]:
    """(n,) what each rating counts for, and a note on categories without a row; a DataError unless they are waived."""
    dimensions = [scheme.dimension(category) for category in ratings.categories]
    missing = [i for i, dimension in enumerate(dimensions) if dimension is None]
    each = np.array([dimension or "ignored" for dimension in dimensions])[ratings.category]
    if not missing:
        return each, ()
    seen = _seen(ratings, [(f"'{ratings.categories[i]}'", ratings.category == i) for i in missing])
    if unclassified == "error":
        what = (
            f"scheme {scheme.name} has no row for {seen}; add rows to a copy, or ignore them "
            "(--ignore-unclassified)."
        )
        raise DataError(what, ", ".join(ratings.paths))
    return each, (f"Counted in the penalty alone, as scheme {scheme.name} has no row for {seen}.",)


def _weights(ratings: Ratings, weights: Weights) -> np.ndarray:
    """(n,) what each rating weighs; a DataError where the weights have no row for a severity and category."""
    pair = ratings.severity * len(ratings.categories) + ratings.category
    pairs, place = np.unique(pair, return_inverse=True)
    kinds = [
        (
            ratings.severities[p // len(ratings.categories)],
            ratings.categories[p % len(ratings.categories)],
        )
        for p in pairs
    ]
    weight = np.array([weights.weight(*kind) for kind in kinds])
    missing = [
        (f"{kinds[i][0]} '{kinds[i][1]}'", place == i) for i in np.flatnonzero(np.isnan(weight))
    ]
    if missing:
        what = (
            f"weights {weights.name} have no row for {_seen(ratings, missing)}; take others, or "
            "add rows."
        )
        if any(kinds[i][0] == "Critical" for i in np.flatnonzero(np.isnan(weight))):
            what += (
                " Say what Critical counts as: weights with a row for it (--weights wmt24 has 5, "
                "as for Major; or a CSV file), or a mapping with the row severity,Critical,Major "
                "(--map)."
            )
        raise DataError(what, ", ".join(ratings.paths))
    return weight[place]


def _seen(ratings: Ratings, what: list[tuple[str, np.ndarray]]) -> str:
    """ "'Odd' (3 ratings, first at line 7), …" for what was found where the masks say."""
    parts = []
    for name, mask in what:
        row, n = int(np.argmax(mask)), int(mask.sum())
        where = f"line {ratings.line[row]}"
        where = f"{ratings.paths[ratings.file[row]]}, {where}" if len(ratings.paths) > 1 else where
        parts.append(f"{name} ({n} rating{'s' * (n != 1)}, first at {where})")
    return ", ".join(parts)


def _signature(ratings: Ratings, scheme: Scheme, weights: Weights) -> str:
    files = ",".join(PurePath(path).name for path in ratings.paths)
    made = [
        f"scheme:{scheme.name}",
        f"weights:{weights.name}",
        "mean:segments-of-raters",
        *ratings.reading,
    ]
    return "|".join(["mqm", *made, f"files:{files}", f"version:{__version__}"])
