"""One frozen value per metric: its name, unit, direction, what it needs, its signature, and how to score."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .errors import DataError

__all__ = ["LPP_DISTANCE", "Asked", "Given", "Metric", "fitting_metrics", "signature_of"]

LPP_DISTANCE = "lpp-distance"
"""The metric of a whole corpus that needs R: its name is asked for before anything that computes it is loaded."""


def signature_of(parts: Mapping[str, object]) -> str:
    """Everything that decides a score in sacreBLEU's key:value style; a part without a value is its name alone.

    >>> signature_of({"lpp": None, "model": "de-small", "max": 256})
    'lpp|model:de-small|max:256'
    """
    return "|".join(key if value is None else f"{key}:{value}" for key, value in parts.items())


class Given(NamedTuple):
    """Scores that were given to the outputs of a test set's systems before, by people or by a metric.

    Parameters
    ----------
    values : (N, k) of N segments and k systems, in the metric's own direction; nan where there is none.
    notes : sentences that the user should see: what has no score, and what was left out or averaged.
    docs : N documents as the raters had them, "" where nothing was rated; () where they are not known.
    """

    values: np.ndarray
    notes: tuple[str, ...] = ()
    docs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Metric:
    """A segment-level score, its corpus-level sibling, or both: as far as the field defines them.

    Parameters
    ----------
    name : as typed on the command line, e.g. "chrf".
    label : as printed on an axis, e.g. "chrF".
    unit : e.g. "points, 0 to 100" or "nats per token".
    higher_is_better : the direction; `oriented` turns every score to higher is better.
    needs : of "refs" and "srcs", those that scoring needs.
    signature : options, library version and model revision, in sacreBLEU's key:value style.
    score_segments : (hyps, refs=, srcs=, segment=) -> (n,) float64, one score per hypothesis. `hyps` are n texts,
        `refs` a list of R streams of N texts (None where a reference is missing), `srcs` N texts, `segment` the (n,)
        index of each hypothesis' source, by default 0..n-1. nan where the stated policy gives no score, as without any
        reference. None for a measure of whole corpora.
    score_corpus : (hyps, refs=, srcs=) -> float, or None where only the mean of segment scores is defined.
    corpus_signature : the signature of `score_corpus` where it differs; None: it is `signature`.
    count, score_count : where the corpus score is a function of sums: (hyps, refs, segment) -> (n, S) counts, and
        (..., S) their sums over any segments -> (...) corpus scores. A resample never touches text again. A segment
        without any reference has counts of 0.
    skips_blank : blank hypotheses have no part in the corpus score either, so they are left out of its n.
    praise : what the better direction is: "better", or for a lexical measure "more diverse".
    bounds : the least and the largest possible score, infinite where there is none; an interval ends there at the
        latest.
    lang : the only language that it knows, where a part of it was trained on one; None for no restriction.
    score_systems : (test set) -> Given: where scores were given to the outputs of systems and to no other text, as by
        raters; then `score_segments` and `score_corpus` are None, and candidates have no score.
    """

    name: str
    label: str
    unit: str
    higher_is_better: bool
    needs: tuple[str, ...]
    signature: str
    score_segments: Callable[..., np.ndarray] | None = field(repr=False)
    score_corpus: Callable[..., float] | None = field(default=None, repr=False)
    corpus_signature: str | None = None
    count: Callable[..., np.ndarray] | None = field(default=None, repr=False)
    score_count: Callable[[np.ndarray], np.ndarray] | None = field(default=None, repr=False)
    skips_blank: bool = False
    praise: str = "better"
    bounds: tuple[float, float] = (-np.inf, np.inf)
    lang: str | None = None
    score_systems: Callable[..., Given] | None = field(default=None, repr=False)

    @property
    def of_segments(self) -> bool:
        """Whether each segment of a system has a score, which can be averaged and resampled."""
        return self.score_segments is not None or self.score_systems is not None

    def oriented(self, scores: np.ndarray) -> np.ndarray:
        """The scores turned so that higher is better: accuracy (AN eq. 1), or the mean log-probability of eq. 5."""
        return scores if self.higher_is_better else -scores

    @property
    def oriented_bounds(self) -> tuple[float, float]:
        """The least and the largest possible oriented score."""
        low, high = self.bounds
        return (low, high) if self.higher_is_better else (-high, -low)

    @property
    def oriented_title(self) -> str:
        """Label and unit of the oriented score, which is negated where the metric itself is lower-is-better."""
        if self.higher_is_better:
            return f"{self.label} ({self.unit}, higher is {self.praise})"
        unit = re.sub(r"\b0 to (\d+)", r"−\1 to 0", self.unit)
        return f"−{self.label} ({unit}, higher is {self.praise})"

    @property
    def scale(self) -> str:
        """Unit and direction, e.g. "edits per 100 reference words (lower is better)": no score leaves without."""
        return f"{self.unit} ({'higher' if self.higher_is_better else 'lower'} is {self.praise})"


@dataclass(frozen=True)
class Asked:
    """What the maker of a metric is given, whichever it is; it takes of it what it needs (see `scoring.lookup`).

    Parameters
    ----------
    name : as typed, such as "comet:my/folder". model : what stands behind its colon, else its model on the hub, or "".
    sees : as in the table of metrics. lang : of the translations.
    n_refs : how many references every segment that has any will have, or "var".
    lm, mono : the language model, and R; None where there is none.
    options : keywords of a learned metric's loader, such as `device`.
    """

    name: str
    model: str = ""
    sees: tuple[str, ...] = ()
    lang: str = ""
    n_refs: int | str = 1
    lm: Any = None
    mono: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def called(self) -> str | None:
        """The name that the metric keeps; None if a custom model changes it."""
        return None if ":" in self.name else self.name


def fitting_metrics(
    axis: str, names: Iterable[str], make: Callable[[str], Metric]
) -> tuple[dict[str, Metric], tuple[str, ...]]:
    """Of some metrics by name those that fit, each once, and a sentence for each other one.

    Parameters
    ----------
    axis : what they measure, accuracy or naturalness, for the sentences.
    make : name -> metric, or a DataError where it does not fit texts or model.

    >>> def make(name):
    ...     raise DataError("it reads Czech.")
    >>> fitting_metrics("naturalness", ["critic"], make)
    ({}, ('naturalness by critic is missing: it reads Czech.',))
    """
    metrics, missing = {}, []
    for name in dict.fromkeys(names):
        try:
            metrics[name] = make(name)
        except DataError as error:
            missing.append(f"{axis} by {name} is missing: {error}")
    return metrics, tuple(missing)
