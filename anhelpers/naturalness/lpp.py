"""From log-probabilities to naturalness: LPP(Q), and its distance to text written in the language (AN §5.1)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from ..intervals import few_clusters, moves_variance, student

__all__ = [
    "LppDistance",
    "lengthened_prints",
    "line_fingerprints",
    "lines_by_chance",
    "lpp",
    "lpp_distance",
    "seen_lines",
    "shared_lines",
    "shortened_prints",
]


@dataclass(frozen=True)
class LppDistance:
    """D(Q,R) = |LPP(Q) - LPP(R)| in nats per token, with a 95 % interval; N(Q) = -D(Q,R).

    `gap` is LPP(Q) - LPP(R) with its sign: where it is negative, a lower perplexity makes a system LESS natural by
    this D.

    Parameters
    ----------
    lpp_q, lpp_r : mean negative log-probability per token, nats.
    se : standard error of their difference, over documents.
    interval : 95 % interval of the signed gap.
    n_q, n_r : texts in each mean. excluded_q, excluded_r : texts without a score, left out.
    docs_q, docs_r : documents of these texts; None where they are not known, or hold one text each, and texts were
        taken as independent.
    n_effective : `intervals.effective` documents (or texts) on the side that has fewer.
    """

    lpp_q: float
    lpp_r: float
    se: float
    interval: tuple[float, float]
    n_q: int
    n_r: int
    excluded_q: int
    excluded_r: int
    docs_q: int | None
    docs_r: int | None
    n_effective: float

    @property
    def gap(self) -> float:
        return self.lpp_q - self.lpp_r

    @property
    def distance(self) -> float:
        return abs(self.gap)

    @property
    def distance_interval(self) -> tuple[float, float]:
        """95 % interval of D: the |gap| of all gaps in theirs, so that it covers at least as often."""
        low, high = self.interval
        return 0.0 if low < 0 < high else min(abs(low), abs(high)), max(abs(low), abs(high))

    def __str__(self) -> str:
        low, high = self.interval
        q = f"LPP(Q) {self.lpp_q:.3f} ({_behind(self.n_q, self.docs_q)})"
        r = f"LPP(R) {self.lpp_r:.3f} ({_behind(self.n_r, self.docs_r)})"
        gap = f"signed gap {self.gap:+.3f}, 95 % interval {low:+.3f} to {high:+.3f}"
        return (
            f"{q}, {r}, D = {self.distance:.3f}, {gap}{'. ' + self.caution if self.caution else ''}"
        )

    @property
    def caution(self) -> str:
        """A sentence where few documents stand behind one of the means, else an empty text."""
        sides = ((self.n_q, self.docs_q), (self.n_r, self.docs_r))
        n, what = min((n, "texts") if docs is None else (docs, "documents") for n, docs in sides)
        return few_clusters(n, what, self.n_effective)

    @property
    def warning(self) -> str | None:
        """A plain sentence where LPP(Q) < LPP(R), else None."""
        if self.gap >= 0:
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
    >>> d.distance, d.gap
    (2.0, -2.0)
    >>> two = lpp_distance([-2.0, -2.2, -4.0, -4.4], [-5.0, -5.0], docs_q=["a", "a", "b", "b"])
    >>> round(two.se, 3), two.docs_q, two.docs_r  # two documents, so half the difference of their means
    (1.05, 2, None)
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
    excluded = np.size(q_mean_logprobs) - n_q, np.size(r_mean_logprobs) - n_r
    fewest = float(counting.min())
    return LppDistance(lpp_q, lpp_r, se, (low, high), n_q, n_r, *excluded, m_q, m_r, fewest)


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


def _n_documents(of: np.ndarray) -> int | None:
    """None where each text is a document by itself, and so taken as independent."""
    n = len(np.unique(of))
    return None if n == len(of) else n


def _behind(n: int, docs: int | None) -> str:
    return f"n = {n} in {docs} documents" if docs is not None else f"n = {n}, taken as independent"


def line_fingerprints(lines: Iterable[str]) -> np.ndarray:
    """Sorted distinct 64-bit hashes of lines, white space folded: enough to recognise a line, not to read it.

    Parameters
    ----------
    lines : texts; the hashes are (n,) uint64.
    """
    digests = {hashlib.sha256(" ".join(line.split()).encode()).digest()[:8] for line in lines}
    return np.sort(np.frombuffer(b"".join(digests), dtype="<u8"))


def shared_lines(reference: Sequence[str], others: Iterable[str] | np.ndarray) -> list[str]:
    """Lines of R that also stand elsewhere: R must be unseen by the language model, and by the systems.

    Parameters
    ----------
    reference : texts of R.
    others : texts, or the (n,) `line_fingerprints` of a model's training lines. Of shortened ones (`shortened_prints`)
        one line in 2,000 is taken for one of theirs by chance (`lines_by_chance`).
    """
    known = others if isinstance(others, np.ndarray) else line_fingerprints(others)
    seen, lowest = set(known.tolist()), _lowest_bit(known)
    return [line for line in reference if line_fingerprints([line])[0].item() & -lowest in seen]


def lines_by_chance(n: int, prints: np.ndarray) -> float:
    """How many of `n` lines that stand nowhere else `shared_lines` takes for one of these: about 0 for whole prints.

    Parameters
    ----------
    prints : (m,) uint64, whole or shortened.
    """
    return n * len(prints) * _lowest_bit(prints) / 2**64


def seen_lines(reference: Sequence[str], prints: np.ndarray | None) -> str:
    """How many lines of R a model was trained on, with what chance alone gives where prints are shortened.

    Parameters
    ----------
    reference : texts of R.
    prints : (m,) uint64, of the lines of training; None: not known.

    >>> seen_lines(["a", "b"], line_fingerprints(["b", "c"])), seen_lines(["a"], None)
    ('1', 'unknown')
    """
    if prints is None:
        return "unknown"
    chance = lines_by_chance(len(reference), prints)
    return f"{len(shared_lines(reference, prints))}{f' ({chance:.1f} by chance)' if chance > 0.01 else ''}"


def _lowest_bit(prints: np.ndarray) -> int:
    """Of all that were kept, as a number; 0 for no prints."""
    some = int(np.bitwise_or.reduce(prints)) if len(prints) else 0
    return some & -some


def shortened_prints(prints: np.ndarray) -> tuple[np.ndarray, int]:
    """The gaps between the first bits of sorted fingerprints, in two bytes each, and how many bits were kept.

    Parameters
    ----------
    prints : (n,) uint64, sorted, as of `line_fingerprints`.
    """
    bits = len(prints).bit_length() + 10
    first = np.unique(prints >> np.uint64(64 - bits))
    return np.diff(first, prepend=np.uint64(0)).astype(np.uint16), bits


def lengthened_prints(gaps: np.ndarray, bits: int) -> np.ndarray:
    """(n,) uint64: the fingerprints whose first bits `shortened_prints` kept, their other bits 0.

    Parameters
    ----------
    gaps : (n,) uint16. bits : how many were kept, 1 to 63; a ValueError for others.
    """
    if gaps.dtype != np.uint16 or not 0 < bits < 64:
        raise ValueError(f"{bits} bits, gaps of {gaps.dtype}")
    return np.cumsum(gaps.astype(np.uint64)) << np.uint64(64 - bits)
