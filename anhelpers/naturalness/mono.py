"""R, text that people wrote in the target language: its score, and AN's own N(Q) = -|LPP(Q) - LPP(R)| (AN §5.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..data.schema import TestSet
from ..errors import DataError
from ..estimate import Estimate
from ..intervals import few_clusters, moves_variance, student
from ..metrics import LPP_DISTANCE, Asked, Metric
from ..stats import clusters_of
from .lpp import LppDistance, lpp, lpp_distance
from .prints import shared_lines

if TYPE_CHECKING:
    from .lm import LanguageModel

__all__ = [
    "Mono",
    "leaks",
    "lpp_distance_metric",
    "lpp_gaps",
    "named",
    "score_mono",
    "system_distances",
]

WANTED = (
    f"{LPP_DISTANCE} compares with text R that people wrote in the target language; give it, a "
    "line each (--mono FILE of score and plane, or mono=Mono(texts))."
)


@dataclass(frozen=True)
class Mono:
    """R: a sample of texts that people wrote in the target language, translations of nothing.

    Parameters
    ----------
    texts : M texts, at least 2. origin : where they are from, as a note tells it.
    """

    texts: tuple[str, ...]
    origin: str = "given"

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", tuple(checks.texts("texts of R", self.texts)))
        if len(self.texts) < 2:
            raise DataError(
                f"R ({self.origin}) has {len(self.texts)} line{'s' * (len(self.texts) != 1)} of "
                "text; a mean with an interval takes at least 2."
            )

    @property
    def signature(self) -> str:
        """Which texts these are, in sacreBLEU's key:value style: 12 hex digits of their sha256, and how many."""
        listed = "\n".join(self.texts).encode("utf-8", "surrogatepass")
        return f"R:{sha256(listed).hexdigest()[:12]}|lines:{len(self.texts)}"


def score_mono(metric: Metric, mono: Mono) -> tuple[Estimate, np.ndarray]:
    """Where R stands on the axis of a metric, the mean score of its texts with a 95 % interval; and the (M,) scores.

    Scores are turned to higher is better; nan: none. The interval is Student's t over the texts, which count as
    independent, for their documents are not known.

    Parameters
    ----------
    metric : scores texts one by one and needs neither sources nor references. mono : R.

    Raises
    ------
    DataError for a metric without segment scores, and where fewer than 2 texts have a score.
    """
    if metric.score_segments is None or metric.needs:
        needs = f" without {' and '.join(metric.needs)}" if metric.needs else ""
        raise DataError(
            f"{metric.name} has no score of a single text{needs}, and so none of the texts of R."
        )
    scores = metric.oriented(metric.score_segments(mono.texts))
    there = scores[~np.isnan(scores)]
    if len(there) < 2:
        raise DataError(
            f"R ({mono.origin}) has {len(there)} texts with a score of {metric.name}; it takes at "
            "least 2."
        )
    mean, n = float(there.mean()), len(there)
    variance, counting = moves_variance((there - mean) / n, np.arange(n))
    low, high = np.clip(student(mean, variance**0.5, counting), *metric.oriented_bounds).tolist()
    estimate = Estimate(
        "R",
        mean,
        low=low,
        high=high,
        se=variance**0.5,
        n=n,
        of="texts",
        n_effective=counting,
        left_out=len(scores) - n,
        unit=metric.unit,
        signature=f"{metric.signature}|{mono.signature}",
        bias="unbiased",
        caution=few_clusters(n, "texts"),
    )
    return estimate, scores


def lpp_gaps(
    logprobs: np.ndarray,
    systems: Sequence[str],
    r_mean_logprobs: ArrayLike,
    docs: Sequence | np.ndarray,
) -> dict[str, LppDistance]:
    """System -> D(Q, R) of those with scored texts in at least 2 of what is resampled; the others have none.

    Parameters
    ----------
    logprobs : (N, k) mean log-probability per token of each output, nats; nan: not scored.
    r_mean_logprobs : (M,) of the texts of R, taken as independent. docs : (N,) what is resampled, `stats.clusters_of`.
    """
    docs, found = np.asarray(docs), {}
    for system, column in zip(systems, logprobs.T, strict=True):
        if len(set(docs[~np.isnan(column)].tolist())) > 1:
            found[system] = lpp_distance(column, r_mean_logprobs, docs_q=docs)
    return found


def lpp_distance_metric(
    lm: LanguageModel, mono: Mono | None, trg_lang: str | None = None
) -> Metric:
    """D(Q, R) = |LPP(Q) - LPP(R)| as a metric of whole corpora; oriented it is AN's N(Q) = -D, 0 at best.

    R decides the score, so it stands in the signature. Resampling the outputs alone takes LPP(R) as it is; an interval
    for both samples is that of `lpp.lpp_distance` (`system_distances`, `plane.with_mono`).

    Parameters
    ----------
    mono : R; None is a DataError. trg_lang : language of the texts, as in `lm.lpp_metric`.

    References
    ----------
    Flamich et al. 2025, §5.1: D(Q, R) and N(Q) = -D(Q, R), eq. 2.
    """
    from .lm import lpp_metric

    if mono is None:
        raise DataError(WANTED)
    of_text, texts = _log_probabilities(lm, trg_lang), mono.texts

    @cache
    def lpp_r() -> float:
        return lpp(of_text(texts))[0]

    def count(hyps: Sequence[str], refs: Any = None, segment: Any = None) -> np.ndarray:
        logprobs = of_text(hyps)
        there = ~np.isnan(logprobs)
        return np.stack([np.where(there, logprobs, 0.0), there], 1)

    def score_count(counts: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.abs(-counts[..., 0] / counts[..., 1] - lpp_r())

    signature = f"{lpp_metric(lm, trg_lang=trg_lang).signature}|{mono.signature}"
    return Metric(
        LPP_DISTANCE,
        f"|LPP(Q) − LPP(R)| under {lm.name}",
        "nats per token",
        False,
        (),
        signature.replace("lpp|", f"{LPP_DISTANCE}|", 1),
        None,
        lambda hyps, refs=None, srcs=None: float(score_count(count(hyps).sum(0))),
        count=count,
        score_count=score_count,
        skips_blank=True,
        praise="nearer to R",
        bounds=(0.0, np.inf),
    )


def named(asked: Asked) -> Metric:
    """`lpp_distance_metric` as the table of metrics asks for it."""
    return lpp_distance_metric(asked.lm, asked.mono, asked.lang)


def _log_probabilities(
    lm: LanguageModel, trg_lang: str | None
) -> Callable[[Sequence[str]], np.ndarray]:
    """n texts -> (n,) mean log-probability per token, nats; nan for a blank one."""
    from .lm import lpp_metric

    score: Any = lpp_metric(lm, trg_lang=trg_lang).score_segments
    return lambda texts: -score(texts)


def system_distances(test: TestSet, lm: LanguageModel, mono: Mono) -> dict[str, Estimate]:
    """System -> D(Q, R) in nats per token, with the interval that resamples documents of Q and texts of R.

    nan where a system has fewer than 2 scored outputs.

    Parameters
    ----------
    test : its systems' outputs. mono : R.

    References
    ----------
    Flamich et al. 2025, §5.1.
    """
    signature = lpp_distance_metric(lm, mono, test.trg_lang).signature
    of_text = _log_probabilities(lm, test.trg_lang)
    scores = of_text([*mono.texts, *(text for hyps in test.systems.values() for text in hyps)])
    r_scores = scores[: len(mono.texts)]
    logprobs = scores[len(mono.texts) :].reshape(len(test.systems), -1).T
    gaps = lpp_gaps(logprobs, list(test.systems), r_scores, clusters_of(test.docs))
    said = {
        system: int((~np.isnan(column)).sum())
        for system, column in zip(test.systems, logprobs.T, strict=True)
    }
    return {
        system: replace(gaps[system].distance, signature=signature)
        if system in gaps
        else Estimate(
            LPP_DISTANCE,
            np.nan,
            n=n,
            bias="needs 2 scored outputs",
            unit="nats per token",
            signature=signature,
        )
        for system, n in said.items()
    }


def leaks(mono: Mono, test: TestSet) -> list[str]:
    """A sentence where lines of R are outputs or references too: R is to be new to systems, and nobody's translation.

    Parameters
    ----------
    mono : R.
    """
    others = {**{f"reference {name}": texts for name, texts in test.refs.items()}, **test.systems}
    shared = {
        name: len(shared_lines(mono.texts, filter(str.strip, texts)))
        for name, texts in others.items()
    }
    told = ", ".join(f"{name} {k}" for name, k in shared.items() if k)
    if not told:
        return []
    return [
        f"R shares lines with translations (of its {len(mono.texts)} lines: {told}): those are no "
        "text that people wrote in the language, and draw R to the systems; leave them out of R."
    ]
