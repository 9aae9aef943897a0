"""Metrics as frozen values: name, unit, direction, inputs, signature and scoring functions."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .data.languages import short_code
from .errors import DataError

# Name of the corpus metric that needs R, for callers that have not loaded the module that computes it.
LPP_DISTANCE = "lpp-distance"


def signature_of(parts: Mapping[str, object]) -> str:
    """Join the settings that determine a score, in sacreBLEU's key:value style; None: the key alone.

    >>> signature_of({"lpp": None, "model": "gemma-3-270m", "max": 256})
    'lpp|model:gemma-3-270m|max:256'
    """
    return "|".join(key if value is None else f"{key}:{value}" for key, value in parts.items())


class Given(NamedTuple):
    """Existing scores of the outputs of a test set's systems, by raters or by a metric.

    Parameters
    ----------
    values : (N, k) array, or (k,)
        Of N segments and k systems, or one score of each system; in the metric's own direction; nan if missing.
    notes : tuple of str
        Sentences for the user: missing scores, and rows left out or averaged.
    docs : tuple of str
        The document of each of the N segments according to the raters, "" if not rated; () if unknown.
    """

    values: np.ndarray
    notes: tuple[str, ...] = ()
    docs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Metric:
    """A metric: its scores of segments, its corpus score, or both.

    Parameters
    ----------
    name : str
        As typed on the command line, e.g. "chrf".
    label : str
        As printed on an axis, e.g. "chrF".
    unit : str
        E.g. "points, 0 to 100" or "nats per token".
    higher_is_better : bool
        Direction of the score; `oriented` turns every score to higher is better.
    needs : tuple of str
        "refs", "srcs" or both, if scoring needs them.
    signature : str
        Options, library version and model revision, in sacreBLEU's key:value style.
    score_segments : callable or None
        (hyps, refs=, srcs=, segment=) -> (n,) float64, one score per hypothesis. `hyps` are n texts, `refs` a list of R
        streams of N texts (None if a reference is missing), `srcs` N texts, and `segment` the (n,) index of each
        hypothesis' source, by default 0..n-1. nan without any reference. None for a metric of whole corpora.
    score_corpus : callable or None
        (hyps, refs=, srcs=) -> float. None if only the mean of segment scores is defined.
    corpus_signature : str or None
        The signature of `score_corpus`. None: `signature`.
    count, score_count : callable or None
        For a corpus score that is a function of sums: (hyps, refs, segment) -> (n, S) counts, and (..., S) sums of
        counts over segments -> (...) corpus scores. Resampling reads no text again. A segment without any reference
        has counts of 0.
    skips_blank : bool
        The corpus score ignores blank hypotheses; they are not in its n.
    praise : str
        The better direction: "better", or for a lexical measure "more diverse".
    bounds : (float, float)
        The smallest and the largest possible score; intervals are cut off there.
    lang : str or None
        The only language of a metric trained on one. None: no restriction.
    score_systems : callable or None
        (test set) -> Given, if only outputs of systems have scores, as with raters. Then `score_segments` and
        `score_corpus` are None, and candidates have no score.
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
        """Whether segments have scores, which can be averaged and resampled."""
        return self.score_segments is not None or self.score_systems is not None

    def oriented(self, scores: np.ndarray) -> np.ndarray:
        """Scores with the sign for which higher is better (AN eqs. 1 and 5)."""
        return scores if self.higher_is_better else -scores

    @property
    def oriented_bounds(self) -> tuple[float, float]:
        """The smallest and the largest possible oriented score."""
        low, high = self.bounds
        return (low, high) if self.higher_is_better else (-high, -low)

    @property
    def oriented_title(self) -> str:
        """Label and unit of the oriented score; negated if lower is better in the metric itself."""
        if self.higher_is_better:
            return f"{self.label} ({self.unit}, higher is {self.praise})"
        unit = re.sub(r"\b0 to (\d+)", r"−\1 to 0", self.unit)
        return f"−{self.label} ({unit}, higher is {self.praise})"

    @property
    def scale(self) -> str:
        """Unit and direction, e.g. "edits per 100 reference words (lower is better)"."""
        return f"{self.unit} ({'higher' if self.higher_is_better else 'lower'} is {self.praise})"


def check_language(trg_lang: str | None, known: str | None, name: str) -> None:
    """Raise a DataError if texts are not in the only language of a metric."""
    if known and short_code(trg_lang or "und") not in ("und", short_code(known)):
        raise DataError(f"target language: got '{trg_lang}', expected {known}, as for {name}.")


@dataclass(frozen=True)
class Asked:
    """Arguments of a maker of metrics (see `scoring.lookup`); each maker uses some of them.

    Parameters
    ----------
    name : str
        As typed, such as "comet:my/folder".
    model : str
        The part after the colon, else the metric's model on the hub, or "".
    sees : tuple of str
        Inputs, as in the table of metrics.
    lang : str
        Language of the translations.
    n_refs : int or str
        Number of references of every segment that has any, or "var".
    lm, mono : LanguageModel, Mono or None
        The language model, and R.
    options : mapping
        Keyword arguments of a learned metric's loader, such as `device`.
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
        """The name of the metric, or None if a custom model changes it."""
        return None if ":" in self.name else self.name


def fitting_metrics(
    axis: str, names: Iterable[str], make: Callable[[str], Metric]
) -> tuple[dict[str, Metric], tuple[str, ...]]:
    """Make the metrics that fit the texts, each once; return them and a sentence for each other one.

    Parameters
    ----------
    axis : str
        "accuracy" or "naturalness", for the sentences.
    names : iterable of str
    make : callable
        Name -> metric; raises DataError if the metric does not fit the texts or the model.

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
