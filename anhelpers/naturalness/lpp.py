"""LPP(Q), its distance to LPP(R) of text written in the language, and R itself (AN §5.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..bootstrap import _n_documents, clusters_of, few_clusters, moves_variance, student
from ..data.schema import TestSet
from ..errors import DataError
from ..estimate import Estimate
from ..metrics import LPP_DISTANCE, Asked, Metric

if TYPE_CHECKING:
    from .lm import LanguageModel


@dataclass(frozen=True)
class _LppDistance:
    """D(Q, R) = |LPP(Q) - LPP(R)| in nats per token, with 95 % intervals; N(Q) = -D(Q, R).

    Parameters
    ----------
    lpp_q, lpp_r : float
        Mean negative log-probability per token, nats.
    gap : Estimate
        LPP(Q) - LPP(R) with its sign; where it is negative, a lower perplexity is LESS natural by this D. n and n_docs
        count texts and documents of Q, n_r and docs_r those of R; 0 documents: texts are taken as independent.
    """

    lpp_q: float
    lpp_r: float
    gap: Estimate

    @property
    def distance(self) -> Estimate:
        """The distance D = |gap|.

        Its interval holds the absolute values of all gaps in the gap's interval, so its coverage is at least as high.
        """
        low, high = self.gap.interval
        signed = f"signed gap {self.gap.value:+.3f}"
        signed += ", more probable than R" if self.gap.value < 0 else ""
        return replace(
            self.gap,
            name=LPP_DISTANCE,
            value=abs(self.gap.value),
            low=0.0 if low < 0 < high else min(abs(low), abs(high)),
            high=max(abs(low), abs(high)),
            bias=f"{signed}; biased upwards near 0",
        )

    @property
    def row(self) -> list[float]:
        """LPP(Q), LPP(R), the gap and N(Q) = -D with their intervals, and the standard error of the gap."""
        gap, d = self.gap, self.distance
        turned = (0.0 - number for number in (d.value, d.high, d.low))
        return [self.lpp_q, self.lpp_r, gap.value, *gap.interval, *turned, gap.se]

    def __str__(self) -> str:
        means = f"LPP(Q) {self.lpp_q:.3f}, LPP(R) {self.lpp_r:.3f}"
        return f"{means}, D = {abs(self.gap.value):.3f}, {self.gap.text(3)}"


def _lpp(mean_logprobs: ArrayLike) -> tuple[float, float, int]:
    """(LPP, standard error, n): the mean over sentences of -log Γ(y)/|y|, in nats per token.

    Parameters
    ----------
    mean_logprobs : (N,) log-probability per token of each text; nan is left out of n.

    >>> _lpp([-2.0, -4.0])
    (3.0, 1.0, 2)
    """
    values = -checks.logprobs("LPP", mean_logprobs)
    values = values[~np.isnan(values)]
    n = checks.whole("LPP's number of scored texts", len(values), 2)
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(n)), n


def lpp_distance(
    q_mean_logprobs: ArrayLike,
    r_mean_logprobs: ArrayLike,
    *,
    docs_q: Sequence | np.ndarray | None = None,
    docs_r: Sequence | np.ndarray | None = None,
    paired: bool = False,
) -> _LppDistance:
    """D(Q, R) = |LPP(Q) - LPP(R)| of a system's outputs and monolingual text.

    The error is that of the documents' sums (linearised), since texts of a document share topic and style; the interval
    is Student's t with Welch's degrees of freedom in `bootstrap.effective` documents.

    Parameters
    ----------
    q_mean_logprobs, r_mean_logprobs : (N,) and (M,)
        Mean log-probability per token of each text, nats; nan: not scored.
    docs_q, docs_r : (N,) and (M,)
        Document of each text. None takes texts as independent, and the interval is too short where they are not.
    paired : bool
        R translates the sources of Q: documents of the same name are the same in both, and what one adds to both means
        cancels.

    Raises
    ------
    DataError : a positive or infinite score, fewer than 2 scored texts or documents on a side, or paired texts without
        common documents.

    >>> d = lpp_distance([-2.0, -4.0], [-5.0, -5.0])
    >>> d.distance.value, d.gap.value
    (2.0, -2.0)
    >>> two = lpp_distance([-2.0, -2.2, -4.0, -4.4], [-5.0, -5.0], docs_q=["a", "a", "b", "b"])
    >>> round(two.gap.se, 3), two.gap.n_docs, two.gap.docs_r  # half the difference of two means
    (1.05, 2, 0)
    """
    lpp_q, moves_q, of_q = _moves(q_mean_logprobs, docs_q, "docs_q", paired)
    lpp_r, moves_r, of_r = _moves(r_mean_logprobs, docs_r, "docs_r", paired)
    sides = [(moves_q, of_q), (moves_r, of_r)]
    if paired:
        checks.some(np.isin(of_q, of_r), "docs_q, docs_r: no common document. Omit paired=True.")
        sides = [(np.concatenate([moves_q, -moves_r]), np.concatenate([of_q, of_r]))]
    variance, counting, uneven = np.array([moves_variance(*side) for side in sides]).T
    se, gap = math.sqrt(variance.sum()), lpp_q - lpp_r
    share = variance / variance.sum() if se else np.ones_like(variance)
    freedom = 1 / float((share**2 / np.maximum(1.0, counting - 1)).sum())
    low, high = (float(end) for end in student(gap, se, 1 + freedom))
    n_q, n_r = len(of_q), len(of_r)
    m_q, m_r = (_n_documents(of) for of in (of_q, of_r))
    fewest = float(counting.min())
    few = min((m, "documents") if m else (n, "texts") for n, m in ((n_q, m_q), (n_r, m_r)))
    facts: dict = {"n": n_q, "n_docs": m_q, "n_r": n_r, "docs_r": m_r, "n_effective": fewest}
    facts["left_out"] = np.size(q_mean_logprobs) + np.size(r_mean_logprobs) - n_q - n_r
    facts |= {"se": se, "unit": "nats per token", "bias": "unbiased"}
    facts["caution"] = few_clusters(*few, fewest, uneven=bool(uneven.any()))
    signed = Estimate("signed gap LPP(Q) − LPP(R)", gap, low=low, high=high, **facts)
    return _LppDistance(lpp_q, lpp_r, signed)


def _moves(
    mean_logprobs: ArrayLike, docs: Sequence | np.ndarray | None, name: str, paired: bool
) -> tuple[float, np.ndarray, np.ndarray]:
    """(LPP, how far each scored text moves it, the document of each scored text)."""
    value, _, n = _lpp(mean_logprobs)
    values = -np.asarray(mean_logprobs, dtype=np.float64)
    of = np.arange(len(values)) if docs is None else checks._names(docs)
    checks.same_length(**{"log-probabilities": values, name: of})
    there = ~np.isnan(values)
    if (n_docs := 0 if docs is None else len(set(of[there].tolist()))) < 2 and (paired or n_docs):
        raise DataError(f"{name}: got {n_docs} documents, expected 2 (omit for single texts).")
    return value, (values[there] - value) / n, of[there]


@dataclass(frozen=True)
class Mono:
    """R: texts that people wrote in the target language, not translations.

    Parameters
    ----------
    texts : at least 2 texts, for a mean with an error.
    origin : str
        Where they are from.
    stored : str
        The signature of the texts, if labels take their place.
    """

    texts: tuple[str, ...]
    origin: str = "given"
    stored: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", tuple(checks.texts("texts of R", self.texts)))

    @property
    def signature(self) -> str:
        """12 hex digits of the texts' sha256, and their number."""
        if self.stored:
            return self.stored
        listed = "\n".join(self.texts).encode("utf-8", "surrogatepass")
        return f"R:{sha256(listed).hexdigest()[:12]}|lines:{len(self.texts)}"


def score_mono(metric: Metric, mono: Mono) -> tuple[Estimate, np.ndarray]:
    """The mean score of R with a 95 % interval, and the (M,) scores; higher is better.

    The interval is Student's t over the texts, taken as independent.

    Parameters
    ----------
    metric : Metric
        With segment scores, and without sources or references.

    Raises
    ------
    DataError : a different kind of metric, or fewer than 2 texts with a score.
    """
    if metric.score_segments is None or metric.needs:
        raise DataError(f"R: got {metric.name}, expected a metric that scores a text by itself.")
    scores = metric.oriented(metric.score_segments(mono.texts))
    there = scores[~np.isnan(scores)]
    n = checks.whole(f"R ({mono.origin}): number of texts with a score", len(there), 2)
    mean = float(there.mean())
    variance, counting, uneven = moves_variance((there - mean) / n, np.arange(n))
    low, high = np.clip(student(mean, variance**0.5, counting), *metric.oriented_bounds).tolist()
    facts: dict = {"se": variance**0.5, "n": n, "of": "texts", "n_effective": counting}
    facts |= {"left_out": len(scores) - n, "unit": metric.unit, "bias": "unbiased"}
    facts["signature"] = f"{metric.signature}|{mono.signature}"
    facts["caution"] = few_clusters(n, "texts", uneven=uneven)
    return Estimate("R", mean, low=low, high=high, **facts), scores


def lpp_gaps(
    logprobs: np.ndarray,
    systems: Sequence[str],
    r_mean_logprobs: ArrayLike,
    docs: Sequence | np.ndarray,
) -> dict[str, _LppDistance]:
    """System -> D(Q, R) of those with scored texts in at least 2 documents.

    Parameters
    ----------
    logprobs : (N, k) mean log-probability per token of each output, nats; nan: not scored.
    r_mean_logprobs : (M,) of the texts of R, taken as independent.
    docs : (N,) what is resampled, `stats.clusters_of`.
    """
    docs, found = checks._names(docs), {}
    for system, column in zip(systems, logprobs.T, strict=True):
        if len(set(docs[~np.isnan(column)].tolist())) > 1:
            found[system] = lpp_distance(column, r_mean_logprobs, docs_q=docs)
    return found


def lpp_distance_metric(metric: Metric, mono: Mono) -> Metric:
    """D(Q, R) = |LPP(Q) - LPP(R)| as a metric of whole corpora; oriented it is AN's N(Q) = -D.

    Resampling outputs takes LPP(R) as fixed; `system_distances` and `plane.with_mono` resample R as well.

    Parameters
    ----------
    metric : Metric
        Of log-perplexity, such as `lm.lpp_metric`.

    References
    ----------
    Flamich et al. 2025, §5.1, eq. 2.
    """
    of_text: Any = metric.score_segments

    @cache
    def lpp_r() -> float:
        return _lpp(-of_text(mono.texts))[0]

    def count(hyps: Sequence[str], refs: Any = None, segment: Any = None) -> np.ndarray:
        logprobs = -of_text(hyps)
        there = ~np.isnan(logprobs)
        return np.stack([np.where(there, logprobs, 0.0), there], 1)

    def score_count(counts: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.abs(-counts[..., 0] / counts[..., 1] - lpp_r())

    label = metric.label.replace("log-perplexity", "|LPP(Q) − LPP(R)|")
    signature = f"{metric.signature}|{mono.signature}".replace("lpp|", f"{LPP_DISTANCE}|", 1)
    facts = LPP_DISTANCE, label, "nats per token", False, (), signature, None
    return Metric(
        *facts,
        lambda hyps, refs=None, srcs=None: float(score_count(count(hyps).sum(0))),
        count=count,
        score_count=score_count,
        skips_blank=True,
        praise="nearer to R",
        bounds=(0.0, np.inf),
    )


def _named(asked: Asked) -> Metric:
    """The maker of `lpp_distance_metric` in the table of metrics."""
    from .lm import lpp_metric

    return lpp_distance_metric(lpp_metric(asked.lm, trg_lang=asked.lang), asked.mono)


def system_distances(test: TestSet, lm: LanguageModel, mono: Mono) -> dict[str, Estimate]:
    """System -> D(Q, R) in nats per token; the interval resamples documents of Q and texts of R.

    nan for a system with fewer than 2 scored outputs.

    References
    ----------
    Flamich et al. 2025, §5.1.
    """
    from .lm import lpp_metric

    metric = lpp_metric(lm, trg_lang=test.trg_lang)
    signature, score = lpp_distance_metric(metric, mono).signature, cast(Any, metric.score_segments)
    texts = [*mono.texts, *(text for hyps in test.systems.values() for text in hyps)]
    of_r, of_q = np.split(-score(texts), [len(mono.texts)])
    columns = of_q.reshape(len(test.systems), -1)
    gaps = lpp_gaps(columns.T, list(test.systems), of_r, clusters_of(test.docs))
    found = {}
    for system, column in zip(test.systems, columns, strict=True):
        facts: dict = {"unit": "nats per token", "bias": "needs 2 scored outputs"}
        lacking = Estimate(LPP_DISTANCE, np.nan, n=int((~np.isnan(column)).sum()), **facts)
        of = gaps[system].distance if system in gaps else lacking
        found[system] = replace(of, signature=signature)
    return found
