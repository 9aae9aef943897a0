"""From log-probabilities to naturalness: LPP(Q), and its distance to text written in the language (AN §5.1)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import DataError
from ..stats import Z95

__all__ = ["LppDistance", "line_fingerprints", "lpp", "lpp_distance", "shared_lines"]


@dataclass(frozen=True)
class LppDistance:
    """D(Q,R) = |LPP(Q) - LPP(R)| in nats per token, with a 95 % interval; N(Q) = -D(Q,R).

    `gap` is LPP(Q) - LPP(R) with its sign: where it is negative, a lower perplexity makes a system LESS natural by
    this D.

    Parameters
    ----------
    lpp_q, lpp_r : mean negative log-probability per token, nats.
    se : standard error of their difference, with texts taken as independent (elsewhere documents are resampled).
    n_q, n_r : texts in each mean. excluded_q, excluded_r : texts without a score, left out.
    """

    lpp_q: float
    lpp_r: float
    se: float
    n_q: int
    n_r: int
    excluded_q: int
    excluded_r: int

    @property
    def gap(self) -> float:
        return self.lpp_q - self.lpp_r

    @property
    def distance(self) -> float:
        return abs(self.gap)

    @property
    def interval(self) -> tuple[float, float]:
        """95 % normal interval of the signed gap."""
        return self.gap - Z95 * self.se, self.gap + Z95 * self.se

    def __str__(self) -> str:
        low, high = self.interval
        q, r = f"LPP(Q) {self.lpp_q:.3f} (n = {self.n_q})", f"LPP(R) {self.lpp_r:.3f} (n = {self.n_r})"
        return f"{q}, {r}, D = {self.distance:.3f}, signed gap {self.gap:+.3f} ({low:+.3f} to {high:+.3f})"

    @property
    def warning(self) -> str | None:
        """A plain sentence where LPP(Q) < LPP(R), else None."""
        if self.gap >= 0:
            return None
        return (
            f"LPP(Q) = {self.lpp_q:.3f} is below LPP(R) = {self.lpp_r:.3f} nats per token: under this D a still lower "
            "perplexity is LESS natural, and the most probable candidates are not the most natural ones."
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


def lpp_distance(q_mean_logprobs: ArrayLike, r_mean_logprobs: ArrayLike) -> LppDistance:
    """D(Q,R) from the per-sentence mean log-probabilities of a system's outputs and of monolingual reference text.

    Parameters
    ----------
    q_mean_logprobs, r_mean_logprobs : (N,) and (M,) mean log-probability per token of each text, nats; nan: not scored.

    >>> d = lpp_distance([-2.0, -4.0], [-5.0, -5.0])
    >>> d.distance, d.gap
    (2.0, -2.0)
    """
    (lpp_q, se_q, n_q), (lpp_r, se_r, n_r) = lpp(q_mean_logprobs), lpp(r_mean_logprobs)
    excluded = np.size(q_mean_logprobs) - n_q, np.size(r_mean_logprobs) - n_r
    return LppDistance(lpp_q, lpp_r, float(np.hypot(se_q, se_r)), n_q, n_r, *excluded)


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

    `others` are texts, or the `line_fingerprints` of a model's training lines.

    Parameters
    ----------
    reference : texts of R.
    others : texts, or (n,) hashes.
    """
    known = set((others if isinstance(others, np.ndarray) else line_fingerprints(others)).tolist())
    return [line for line in reference if line_fingerprints([line])[0].item() in known]
