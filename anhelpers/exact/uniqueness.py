"""Theorem B.1 on finite spaces: whose most accurate translator speaks like R, and how a small change of P ends that."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from .. import checks
from ..errors import DataError
from .linear import best_targets
from .problem import Problem, joint_of
from .solve import solve


def conditional_entropy(joint: ArrayLike) -> float:
    """H[y | x] of a joint (X, Z) P(x, y), in nats: 0 exactly where every source has one translation.

    >>> round(conditional_entropy([[0.5, 0.0], [0.25, 0.25]]), 4)  # half the time, log 2
    0.3466
    """
    joint = joint_of(joint)
    return -float(rel_entr(joint, joint.sum(1, keepdims=True)).sum()) + 0.0  # no term is above 0


@dataclass(frozen=True)
class Minimisers:
    """All translators of least expected distortion, and how close one of them comes to R.

    Parameters
    ----------
    targets : (X, Y) bool, the targets that a most accurate translator may say for each source: ties are all here.
    translator : (X, Y) the one of them whose marginal is closest to R.
    distance : total variation between that marginal and R, in [0, 1].
    """

    targets: np.ndarray
    translator: np.ndarray
    distance: float

    @property
    def unique(self) -> bool:
        """One target per source: there is a single most accurate translator, and it is deterministic."""
        return bool((self.targets.sum(1) == 1).all())

    def preserving(self, tolerance: float = 1e-9) -> bool:
        """Whether some most accurate translator has the marginal R: Definition B.1, read for at least one of them."""
        return self.distance <= tolerance


def minimisers(problem: Problem) -> Minimisers:
    """Who maximises AN eq. 1 alone, and whether any of them is distribution preserving (Definition B.1).

    >>> minimisers(Problem([[0.5, 0.5]], [[0, 1], [1, 0]], [0.9, 0.1])).distance
    0.0
    """
    best = solve(problem, -np.inf, "tv")
    distance = 0.0 if best.naturalness > -1e-12 else -best.naturalness
    return Minimisers(best_targets(problem.excess), best.translator, distance)


def perturbed(problem: Problem, source: int, share: float, own_reference: bool = True) -> Problem:
    """The same conditionals P(y|x), but one source is heard more often: P(x) becomes (1-ε) P(x) + ε 1[x = source].

    The joint moves by at most ε in total variation (Fact 2 in the proof of Theorem B.1).

    Parameters
    ----------
    share : ε in [0, 1).
    own_reference : R follows P(y), as in Theorem B.1; False: it stays, as in AN §3. True needs references and
        candidates that are the same texts in the same order.
    """
    if not 0 <= share < 1:
        raise DataError(f"the share must be in [0, 1), got {share}.")
    if not 0 <= source < len(problem.p_x):
        raise DataError(f"there is no source {source}; there are 0 to {len(problem.p_x) - 1}.")
    p_x = (1 - share) * problem.p_x
    p_x[source] += share
    joint = problem.joint / problem.p_x[:, None] * p_x[:, None]
    moved = replace(problem, joint=joint)
    return own_p_y(moved) if own_reference else moved


def own_p_y(problem: Problem) -> Problem:
    """The same world with R = P(y)."""
    checks.same_length(references=problem.p_y, candidates=problem.reference)
    return replace(problem, reference=problem.p_y)


def stability(problem: Problem, shares: ArrayLike, own_reference: bool = True) -> np.ndarray:
    """(X, E) how far the nearest most accurate translator is from R after each source is heard more often by each ε.

    A row that leaves 0 shows that Δ is not stably distribution preserving (Definition B.2). Where the most accurate
    translator is not unique, the nearest may stay at 0 for every ε: Theorem B.1 is about every one of them.

    Parameters
    ----------
    shares : (E,) values of ε in [0, 1). Others as in `perturbed`.
    own_reference : as in `perturbed`.
    """
    shares = np.atleast_1d(np.asarray(shares, dtype=np.float64))
    sources = range(len(problem.p_x))
    return np.array(
        [
            [minimisers(perturbed(problem, x, e, own_reference)).distance for e in shares]
            for x in sources
        ]
    )
