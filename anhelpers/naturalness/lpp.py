"""From log-probabilities to naturalness: LPP(Q), and its distance to text written in the language (AN §5.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from ..estimate import Estimate
from ..intervals import few_clusters, moves_variance, student
from ..metrics import LPP_DISTANCE

__all__ = [
    "LppDistance",
    "lpp",
    "lpp_distance",
]


@dataclass(frozen=True)
class LppDistance:
    """D(Q,R) = |LPP(Q) - LPP(R)| in nats per token, with 95 % intervals; N(Q) = -D(Q,R).

    Parameters
    ----------
    lpp_q, lpp_r : mean negative log-probability per token, nats.
    gap : LPP(Q) - LPP(R) with its sign: where it is negative, a lower perplexity makes a system LESS natural by this D.
        Its n are texts of Q, its n_r texts of R; n_docs and docs_r their documents, 0 where they are not known, or hold
        one text each, and texts were taken as independent. n_effective is of the side that has fewer.
    """

    lpp_q: float
    lpp_r: float
    gap: Estimate

    @property
    def distance(self) -> Estimate:
        """D, whose interval is the |gap| of all gaps in theirs, so that it covers at least as often."""
        low, high = self.gap.interval
        nearest = 0.0 if low < 0 < high else min(abs(low), abs(high))
        signed = f"signed gap {self.gap.value:+.3f}"
        signed += ", more probable than R" if self.gap.value < 0 else ""
        return replace(
            self.gap,
            name=LPP_DISTANCE,
            value=abs(self.gap.value),
            low=nearest,
            high=max(abs(low), abs(high)),
            bias=f"{signed}; biased upwards near 0",
        )

    def __str__(self) -> str:
        means = f"LPP(Q) {self.lpp_q:.3f}, LPP(R) {self.lpp_r:.3f}"
        return f"{means}, D = {abs(self.gap.value):.3f}, {self.gap.text(3)}"

    @property
    def warning(self) -> str | None:
        """A plain sentence where LPP(Q) < LPP(R), else None."""
        if self.gap.value >= 0:
            return None
        return (
            f"LPP(Q) = {self.lpp_q:.3f} is below LPP(R) = {self.lpp_r:.3f} nats per token: under "
            "this D a still lower perplexity is LESS natural, and the most probable candidates "
            "are not the most natural ones."
        )


def lpp(mean_logprobs: ArrayLike) -> tuple[float, float, int]:
    """(LPP, standard error, n): the mean over sentences of -log Γ(y)/|y|, in nats per token; nan is left out of n.

    >>> lpp([-2.0, -4.0])
    (3.0, 1.0, 2)
    """
    values = -np.asarray(mean_logprobs, dtype=np.float64)
    values = values[~np.isnan(values)]
    if len(values) < 2:
        raise DataError(f"LPP needs at least 2 scored texts, got {len(values)}.")
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))), len(values)


def lpp_distance(
    q_mean_logprobs: ArrayLike,
    r_mean_logprobs: ArrayLike,
    *,
    docs_q: Sequence | np.ndarray | None = None,
    docs_r: Sequence | np.ndarray | None = None,
    paired: bool = False,
) -> LppDistance:
    """D(Q, R) = |LPP(Q) - LPP(R)| of a system's outputs and monolingual text, from each text's mean log-probability.

    The texts of a document share topic and style, so the error is that of the documents' sums (linearised), and the
    interval Student's t with Welch's degrees of freedom in `intervals.effective` documents. R is a sample, too.

    Parameters
    ----------
    q_mean_logprobs, r_mean_logprobs : (N,) and (M,) mean log-probability per token of each text, nats; nan: not scored.
    docs_q, docs_r : (N,) and (M,) document of each text; None: not known. Then the texts count as independent, which
        makes the interval too short where they are not.
    paired : R translates the sources of Q, such as a human reference: a document of the same name is the same one in
        both, and what it adds to both means cancels. False: the two are samples by themselves.

    Raises
    ------
    DataError for fewer than 2 scored texts or documents on a side, or paired texts without their documents.

    >>> d = lpp_distance([-2.0, -4.0], [-5.0, -5.0])
    >>> d.distance.value, d.gap.value
    (2.0, -2.0)
    >>> two = lpp_distance([-2.0, -2.2, -4.0, -4.4], [-5.0, -5.0], docs_q=["a", "a", "b", "b"])
    >>> round(two.gap.se, 3), two.gap.n_docs, two.gap.docs_r  # two documents: half the difference of their means
    (1.05, 2, 0)
    """
    if paired and (docs_q is None or docs_r is None):
        raise DataError("paired texts need the documents of both sides: give docs_q and docs_r.")
    lpp_q, moves_q, of_q = _moves(q_mean_logprobs, docs_q, "docs_q")
    lpp_r, moves_r, of_r = _moves(r_mean_logprobs, docs_r, "docs_r")
    both = [(np.concatenate([moves_q, -moves_r]), np.concatenate([of_q, of_r]))] if paired else []
    variance, counting = np.array(
        [moves_variance(*side) for side in both or [(moves_q, of_q), (moves_r, of_r)]]
    ).T
    se, gap = math.sqrt(variance.sum()), lpp_q - lpp_r
    share = variance / variance.sum() if se else np.ones_like(variance)
    freedom = 1 / float((share**2 / np.maximum(1.0, counting - 1)).sum())
    low, high = (float(end) for end in student(gap, se, 1 + freedom))
    n_q, n_r = len(of_q), len(of_r)
    m_q, m_r = (_n_documents(of) for of in (of_q, of_r))
    fewest = float(counting.min())
    sides = ((n_q, m_q), (n_r, m_r))
    few = min((m, "documents") if m else (n, "texts") for n, m in sides)
    signed = Estimate(
        "signed gap LPP(Q) − LPP(R)",
        gap,
        low=low,
        high=high,
        se=se,
        n=n_q,
        n_docs=m_q,
        n_r=n_r,
        docs_r=m_r,
        n_effective=fewest,
        left_out=np.size(q_mean_logprobs) + np.size(r_mean_logprobs) - n_q - n_r,
        unit="nats per token",
        caution=few_clusters(*few, fewest),
        bias="unbiased",
    )
    return LppDistance(lpp_q, lpp_r, signed)


def _moves(
    mean_logprobs: ArrayLike, docs: Sequence | np.ndarray | None, name: str
) -> tuple[float, np.ndarray, np.ndarray]:
    """(LPP, how far each scored text moves it, the document of each scored text: itself where none is known)."""
    value, _, n = lpp(mean_logprobs)
    values = -np.asarray(mean_logprobs, dtype=np.float64)
    of = np.arange(len(values)) if docs is None else np.asarray(docs)
    checks.same_length(**{"log-probabilities": values, name: of})
    there = ~np.isnan(values)
    if len(set(of[there].tolist())) < 2:
        raise DataError(
            f"{name} names one document, and an interval needs at least 2: without it, texts count "
            "as independent."
        )
    return value, (values[there] - value) / n, of[there]


def _n_documents(of: np.ndarray) -> int:
    """0 where each text is a document by itself, and so taken as independent."""
    n = len(np.unique(of))
    return 0 if n == len(of) else n
