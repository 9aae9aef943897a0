"""MQM: the penalties of translations, segments, documents and systems.

A rater's penalty for a translation is the sum of the weights of the errors marked in it. A segment's penalty is the
mean over its raters, a system's the mean over its segments: MQM points per segment, 0 is perfect, lower is better.
The tables in ``data/mqm`` define the weight of each error and the axis of each category.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from .. import __version__, checks
from .._lazy import pd
from ..data.mqm_tables import Scheme, Weights, load_scheme, load_weights
from ..data.mqm_tables import choose_scheme as choose_scheme
from ..data.ratings import Ratings
from ..data.ratings import base_system as base_system
from ..errors import DataError
from ..progress import note

KINDS = ("penalty", "accuracy", "fluency")
"""The penalty counts every error that has a weight; accuracy and fluency count those of their own categories."""

DOMAINS = (
    "conversation", "ecommerce", "literary", "manuals", "mastodon", "news", "social", "speech", "talk",
)  # fmt: skip
"""First words of the document names of WMT, from 2022 on, and of TED."""

_LEVELS = {
    "system": (),
    "rater": (),
    "domain": (),
    "doc": ("domain",),
    "segment": ("doc", "domain"),
}
"""Level of aggregation -> columns that are constant within its groups."""


class _Matrix(NamedTuple):
    """Penalties of S systems for n segments.

    Parameters
    ----------
    values : (n, S) array
        MQM points, mean over raters; nan where no rater saw the translation.
    segments, docs, domains : tuple of str
        n names each.
    systems : tuple of str
        S names.
    """

    values: np.ndarray
    segments: tuple[str, ...]
    docs: tuple[str, ...]
    domains: tuple[str, ...]
    systems: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class MqmScores:
    """The penalty of every rated unit (system, segment, rater); MQM points ≥ 0, lower is better.

    Parameters
    ----------
    systems, raters : tuple of str
        Names.
    segments, docs, domains : tuple of str
        n names each, in reading order.
    system, segment, rater : (U,) int array
        The positions of each unit's names.
    values : (U, 3) array
        Penalty, accuracy and fluency of each unit.
    signature : str
        Scheme, weights, averaging, files and version.
    severity : (R, 3) array, optional
        The severity of each rater relative to an average one, after `adjust_raters`; then a value may be negative.
    severity_error : (3,) array, optional
        Relative standard error of the severity of an average rater.
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
    severity: np.ndarray | None = None
    severity_error: np.ndarray | None = None

    def __repr__(self) -> str:
        n, m, k = map(len, (self.systems, self.segments, self.raters))
        return f"MqmScores({n} systems, {m} segments, {k} raters; {self.signature})"

    def matrix(self, which: str = "penalty") -> _Matrix:
        """Segments by systems, one of `KINDS`."""
        column = KINDS.index(checks.one_of(which, KINDS, "MQM score"))
        shape = len(self.segments), len(self.systems)
        cell = np.ravel_multi_index((self.segment, self.system), shape)
        sums = np.bincount(cell, self.values[:, column], minlength=shape[0] * shape[1])
        raters = np.bincount(cell, minlength=shape[0] * shape[1])
        with np.errstate(invalid="ignore"):
            values = (sums / raters).reshape(shape)
        return _Matrix(values, self.segments, self.docs, self.domains, self.systems)

    def by(self, level: str = "system") -> pd.DataFrame:
        """Mean penalty, accuracy and fluency of each system by "system", "rater", "doc", "domain" or "segment".

        A segment is the mean over its raters; a doc, domain or system the mean over its segments; a rater the mean
        over the segments that this rater saw of the system.

        Returns
        -------
        DataFrame of system, the level, n_segments (not of a segment), n_raters, penalty, accuracy, fluency.
        """
        units = self._units()
        keys = [*dict.fromkeys(["system", checks.one_of(level, _LEVELS, "level")])]
        cell = ["system", "segment", "doc", "domain", *(["rater"] if level == "rater" else [])]
        means = units.groupby(cell, observed=True)[list(KINDS)].mean().reset_index()
        groups = means.groupby(keys, observed=True)
        table = groups[list(_LEVELS[level])].first()
        if level != "segment":
            table["n_segments"] = groups.size()
        table["n_raters"] = units.groupby(keys, observed=True)["rater"].nunique()
        table[list(KINDS)] = groups[list(KINDS)].mean()
        table = table.reset_index()
        return table.astype(dict.fromkeys(table.select_dtypes("category"), object))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on unequal coverage, unequal raters, adjusted severities and left-out rows; empty without any."""
        lost = "Every rated translation has errors. Those without need rows of No-error to count."
        lost *= len(self.values) > 9 and bool((self.values[:, 0] > 0).all())
        return tuple(filter(None, (lost, self.coverage, self.crews, self._severities())))

    @property
    def coverage(self) -> str:
        """A sentence if systems were rated on different segments, else ""."""
        rated = ~np.isnan(self.matrix().values)
        rated = rated[rated.any(1)]
        if rated.all():
            return ""
        n = rated.sum(0)
        told = f"{self.systems[n.argmin()]:.20} on {n.min()} of {len(rated)}"
        return f"Systems were rated on different segments: {told}; {rated.all(1).sum()} for every system."

    @property
    def crews(self) -> str:
        """A sentence if systems of one segment were rated by different raters, else ""."""
        shape = len(self.segments), len(self.raters)
        pairs = np.ravel_multi_index((self.segment, self.rater), shape)
        saw = np.bincount(pairs, minlength=shape[0] * shape[1]).reshape(shape)
        of = (~np.isnan(self.matrix().values)).sum(1, keepdims=True)
        # a rater who saw some systems of a segment, and not all
        apart = ((saw > 0) & (saw < of)).any(1)
        mean = self._units().groupby("rater", observed=True).penalty.mean()
        if self.severity is not None or not apart.any() or mean.min() == mean.max():
            return ""
        return (
            f"In {apart.sum()} of {len(apart)} segments systems have different raters, whose mean penalties "
            f"range from {mean.min():.2f} ({mean.idxmin():.20}) to {mean.max():.2f} "
            f"({mean.idxmax():.20})."
        )

    def _severities(self) -> str:
        if self.severity is None:
            return ""
        listed = zip(self.raters, self.severity[:, 0], strict=True)
        return (
            "Severities of the raters, relative to an average rater, are removed from the penalties: "
            f"{', '.join(f'{name} {value:.2f}' for name, value in listed)}."
        )

    def shared(self) -> MqmScores:
        """Return the scores of the segments that were rated for every system; a DataError if there are none.

        Means over different segments compare segments, too. The signature records that segments were left out.
        """
        everywhere = ~np.isnan(self.matrix().values).any(1)
        if everywhere.all():
            return self
        checks.some(everywhere, "no segment was rated for every system. Leave out sparse systems.")
        kept, here = np.flatnonzero(everywhere), everywhere[self.segment]
        changed: dict[str, Any] = {
            name: tuple(getattr(self, name)[i] for i in kept)
            for name in ("segments", "docs", "domains")
        }
        changed |= {name: getattr(self, name)[here] for name in ("system", "rater", "values")}
        changed["segment"] = np.searchsorted(kept, self.segment[here])
        return replace(self, **changed, signature=f"{self.signature}|segments:shared")

    def _units(self) -> pd.DataFrame:
        """A row per unit: its names, in the order of this object, and its scores."""
        docs, domains = (np.array(n, object)[self.segment] for n in (self.docs, self.domains))
        named = pd.Categorical.from_codes
        names = {
            "system": named(self.system, self.systems),
            "segment": named(self.segment, self.segments),
            "rater": named(self.rater, self.raters),
            "doc": pd.Categorical(docs, dict.fromkeys(self.docs)),
            "domain": pd.Categorical(domains, dict.fromkeys(self.domains)),
        }
        return pd.DataFrame(names | dict(zip(KINDS, self.values.T, strict=True)))


def score_ratings(
    ratings: Ratings,
    scheme: str | Scheme = "wmt",
    weights: str | Weights = "freitag2021",
    *,
    unclassified: str = "error",
) -> MqmScores:
    """MQM penalty, accuracy and fluency of every (system, segment, rater), from the errors that experts marked.

    Parameters
    ----------
    ratings : Ratings
        From `data.read_ratings`.
    scheme, weights : str, path, Scheme or Weights
        Bundled names, CSV files, or the tables of `load_scheme` and `load_weights`.
    unclassified : {"error", "ignore"}
        "ignore": categories without a row of the scheme count in the penalty alone.

    Raises
    ------
    DataError : a category without a row of the scheme, or a severity without a row of the weights.

    References
    ----------
    Freitag et al. 2021, §3; AN Appendix D.
    """
    scheme, weights = load_scheme(scheme), load_weights(weights)
    checks.one_of(unclassified, ("error", "ignore"), "treatment of unclassified categories")
    weight, dimension = _weights(ratings, weights), _dimensions(ratings, scheme, unclassified)
    shape = len(ratings.systems), len(ratings.segments), len(ratings.raters)
    codes = np.ravel_multi_index((ratings.system, ratings.segment, ratings.rater), shape)
    units, unit = np.unique(codes, return_inverse=True)
    counted = (weight, weight * (dimension == "accuracy"), weight * (dimension == "fluency"))
    values = np.stack([np.bincount(unit, column, minlength=len(units)) for column in counted], 1)
    system, segment, rater = map(np.asarray, np.unravel_index(units, shape))
    docs = tuple(one.doc for one in ratings.segments)
    files = ",".join(PurePath(path).name for path in ratings.paths)
    return MqmScores(
        ratings.systems,
        ratings.raters,
        ratings.segment_names,
        docs,
        tuple(map(_domain_of, docs)),
        system,
        segment,
        rater,
        values,
        f"mqm|scheme:{scheme.name}|weights:{weights.name}|mean:segments-of-raters|files:{files}"
        f"|version:{__version__}",
    )


def _dimensions(ratings: Ratings, scheme: Scheme, unclassified: str) -> np.ndarray:
    """(n,) the axis of each rating; categories without a row raise a DataError, or are "ignored" with a note."""
    dimensions = [scheme.dimension(category) for category in ratings.categories]
    each = np.array([dimension or "" for dimension in dimensions])[ratings.category]
    missing = [
        name for name, known in zip(ratings.categories, dimensions, strict=True) if not known
    ]
    if missing:
        named = f"no row for category {', '.join(map(repr, missing))}"
        if unclassified == "error":
            told = f"scheme {scheme.name}: {named:.80}. Add rows, or use unclassified='ignore'."
            raise DataError(told, *_first(ratings, each == ""))
        note(f"scheme {scheme.name}: {named}; they count in the penalty alone.")
    return each


def _weights(ratings: Ratings, weights: Weights) -> np.ndarray:
    """(n,) the weight of each rating; a DataError if the weights have no row for a severity and category."""
    pair = ratings.severity * len(ratings.categories) + ratings.category
    pairs, place = np.unique(pair, return_inverse=True)
    severity, category = divmod(pairs, len(ratings.categories))
    kinds = [
        (ratings.severities[s], ratings.categories[c])
        for s, c in zip(severity, category, strict=True)
    ]
    weight = np.array([weights.weight(*kind) for kind in kinds])[place]
    if np.isnan(weight).any():
        row = int(np.isnan(weight).argmax())
        kind = " ".join(kinds[place[row]])
        hint = ", or take weights wmt24" * ("Critical" in kind)
        told = f"weights {weights.name}: no row for {kind:.60}. Add one to a copy{hint}."
        raise DataError(told, *_first(ratings, np.isnan(weight)))
    return weight


def _first(ratings: Ratings, where: np.ndarray) -> tuple[str, int]:
    """File and line of the first rating of a mask."""
    row = int(where.argmax())
    return ratings.paths[ratings.file[row]], int(ratings.line[row])


def _domain_of(doc: str) -> str:
    """The domain with which a document's name begins, else "unknown" (as in WMT20 and WMT21, all news).

    >>> [_domain_of(doc) for doc in ("news_sky.com.32794:en-de", "test-en-literary_b.7", "talk.1", "sky.158")]
    ['news', 'literary', 'talk', 'unknown']
    """
    match = re.match(r"(?:test-[a-z]+-)?([a-z]*)", doc.lower())
    return match[1] if match and match[1] in DOMAINS else "unknown"
