"""MQM: what expert ratings weigh, and the penalties of translations, segments, documents and systems.

A rater's penalty for a translation is the sum of the weights of the errors marked in it; a segment's is the mean over
its raters, a system's the mean over its segments: MQM points per segment, 0 is perfect, lower is better. Which error
weighs what, and which category is accuracy and which fluency, is said by the tables in ``data/mqm``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import __version__, checks
from .data.mqm_tables import Scheme, Weights, load_scheme, load_weights
from .data.ratings import Ratings
from .errors import DataError
from .stats import bootstrap_means, clusters_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "DOMAINS", "KINDS", "LEVELS", "Matrix", "MqmScores", "Scheme", "Weights", "base_system", "choose_scheme",
    "domain_of", "load_scheme", "load_weights", "score_ratings", "system_table",
]  # fmt: skip

KINDS = ("penalty", "accuracy", "fluency")
"""The penalty counts every error that has a weight; accuracy and fluency count those of their own categories."""

LEVELS = {"system": (), "rater": (), "domain": (), "doc": ("domain",), "segment": ("doc", "domain")}
"""Level of aggregation -> columns that are constant within its groups and are shown beside it."""

DOMAINS = ("conversation", "ecommerce", "literary", "manuals", "mastodon", "news", "social", "speech", "talk")
"""First words of the document names of WMT, from 2022 on, and of TED."""


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

    def __repr__(self) -> str:
        sizes = f"{len(self.systems)} systems, {len(self.segments)} segments, {len(self.raters)} raters"
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
        keys = ["system"] if checks.one_of(level, LEVELS, "level") == "system" else ["system", level]
        cell = ["system", "segment", "doc", "domain", *(["rater"] if level == "rater" else [])]
        groups = units.groupby(cell)[list(KINDS)].mean().reset_index().groupby(keys)
        table = groups[list(LEVELS[level])].first()
        table["n_segments"] = groups.size()
        table["n_raters"] = units.groupby(keys)["rater"].nunique()
        table[list(KINDS)] = groups[list(KINDS)].mean()
        return self._named(table.drop(columns="n_segments" if level == "segment" else []).reset_index())

    def _units(self) -> pd.DataFrame:
        """A row per unit: the positions of its names, and what it scored."""
        import pandas as pd

        places = {"doc": _places(self.docs)[self.segment], "domain": _places(self.domains)[self.segment]}
        codes = {"system": self.system, "segment": self.segment, "rater": self.rater} | places
        return pd.DataFrame(codes | {kind: self.values[:, i] for i, kind in enumerate(KINDS)})

    def _named(self, table: pd.DataFrame) -> pd.DataFrame:
        """A table with names for positions."""
        names = {
            "system": self.systems, "segment": self.segments, "rater": self.raters,
            "doc": list(dict.fromkeys(self.docs)), "domain": list(dict.fromkeys(self.domains)),
        }  # fmt: skip
        return table.assign(**{c: np.array(n, dtype=object)[table[c]] for c, n in names.items() if c in table})


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
    """Ratings → the penalty, accuracy and fluency of every (system, segment, rater).

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
    dimension, waived = _dimensions(ratings, scheme, unclassified)
    shape = len(ratings.systems), len(ratings.segments), len(ratings.raters)
    cell = np.ravel_multi_index((ratings.system, ratings.segment, ratings.rater), shape)
    units, unit = np.unique(cell, return_inverse=True)
    counted = (weight, weight * (dimension == "accuracy"), weight * (dimension == "fluency"))
    values = np.stack([np.bincount(unit, column, minlength=len(units)) for column in counted], axis=1)
    docs = tuple(segment.doc for segment in ratings.segments)
    named = tuple((domains or {}).get(doc) or domain_of(doc) for doc in docs)
    system, segment, rater = np.unravel_index(units, shape)
    return MqmScores(
        ratings.systems, ratings.raters, ratings.segment_names, docs, named, system, segment, rater,
        values, _signature(ratings, scheme, weights), ratings.notes + waived,
    )  # fmt: skip


def _dimensions(ratings: Ratings, scheme: Scheme, unclassified: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """(n,) what each rating counts for, and a note on categories without a row; a DataError unless they are waived."""
    dimensions = [scheme.dimension(category) for category in ratings.categories]
    missing = [i for i, dimension in enumerate(dimensions) if dimension is None]
    each = np.array([dimension or "ignored" for dimension in dimensions])[ratings.category]
    if not missing:
        return each, ()
    seen = _seen(ratings, [(f"'{ratings.categories[i]}'", ratings.category == i) for i in missing])
    if unclassified == "error":
        what = (
            f"scheme {scheme.name} has no row for {seen}; add rows to a copy, or ignore them (--ignore-unclassified)."
        )
        raise DataError(what, ", ".join(ratings.paths))
    return each, (f"Counted in the penalty alone, as scheme {scheme.name} has no row for {seen}.",)


def _weights(ratings: Ratings, weights: Weights) -> np.ndarray:
    """(n,) what each rating weighs; a DataError where the weights have no row for a severity and category."""
    pair = ratings.severity * len(ratings.categories) + ratings.category
    pairs, place = np.unique(pair, return_inverse=True)
    kinds = [(ratings.severities[p // len(ratings.categories)], ratings.categories[p % len(ratings.categories)])
             for p in pairs]  # fmt: skip
    weight = np.array([weights.weight(*kind) for kind in kinds])
    missing = [(f"{kinds[i][0]} '{kinds[i][1]}'", place == i) for i in np.flatnonzero(np.isnan(weight))]
    if missing:
        what = f"weights {weights.name} have no row for {_seen(ratings, missing)}; take others, or add rows."
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
    means = "segments-of-raters"
    return f"mqm|scheme:{scheme.name}|weights:{weights.name}|mean:{means}|files:{files}|version:{__version__}"


def choose_scheme(ratings: Ratings) -> str:
    """The bundled scheme that covers most of the ratings: en-es where categories have no slash, else wmt."""
    n = np.bincount(ratings.category, minlength=len(ratings.categories))
    schemes = {name: load_scheme(name) for name in ("wmt", "en-es")}
    covered = {name: sum(n[i] for i, category in enumerate(ratings.categories) if scheme.dimension(category))
               for name, scheme in schemes.items()}  # fmt: skip
    return max(covered, key=covered.__getitem__)


def domain_of(doc: str) -> str:
    """The domain that a document's name opens with, else "unknown" (as in WMT20 and WMT21, where all is news).

    >>> [domain_of(doc) for doc in ("news_sky.com.32794:en-de", "test-en-literary_b.7", "talk.1", "sky.158")]
    ['news', 'literary', 'talk', 'unknown']
    """
    match = re.match(r"(?:test-[a-z]+-)?([a-z]*)", doc.lower())
    return match[1] if match and match[1] in DOMAINS else "unknown"


def base_system(system: str) -> str:
    """The system whose output was rated side by side with another.

    >>> base_system("GPT4-5shot_with_refA")
    'GPT4-5shot'
    """
    return system.partition("_with_")[0]


def system_table(scores: MqmScores, rng: np.random.Generator, n_draws: int = 1000) -> pd.DataFrame:
    """A row per system, the best first: its mean penalty, accuracy and fluency, each with a 95 % interval.

    Documents are resampled, once for all systems (segments, where there is one document). Columns: system, n_segments,
    n_raters, n_docs; then penalty, penalty_low, penalty_high and so on, MQM points per segment, lower is better;
    signature. Each system is averaged over the segments that were rated for it; where these are of one document among
    several, there is no interval (nan).
    """
    table = scores.by("system").set_index("system")
    matrices = [scores.matrix(kind) for kind in KINDS]
    rated = ~np.isnan(matrices[0].values)
    docs = np.array(scores.docs)
    table["n_docs"] = [len(set(docs[seen])) for seen in rated.T]
    clusters = clusters_of(docs)
    for_all = np.concatenate([matrix.values for matrix in matrices], axis=1)
    if len(clusters) > 1:
        found = bootstrap_means(for_all, clusters, rng, n_draws)
        low, high = (bound.reshape(len(KINDS), -1) for bound in (found.low, found.high))
    else:
        low = high = np.full((len(KINDS), len(scores.systems)), np.nan)  # one segment has no interval
    for i, kind in enumerate(KINDS):
        table[f"{kind}_low"], table[f"{kind}_high"] = low[i], high[i]
    bounds = [column for kind in KINDS for column in (kind, f"{kind}_low", f"{kind}_high")]
    table["signature"] = scores.signature
    table = table[["n_segments", "n_raters", "n_docs", *bounds, "signature"]]
    return table.sort_values("penalty", kind="stable").reset_index()
