"""Theorem B.1 on finite spaces: most accurate translators with the marginal R, and small changes of P."""

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
    """H[y | x] of a joint (X, Z) P(x, y), in nats: 0 if and only if every source has one translation.

    >>> round(conditional_entropy([[0.5, 0.0], [0.25, 0.25]]), 4)  # half the time, log 2
    0.3466
    """
    joint = joint_of(joint)
    return -float(rel_entr(joint, joint.sum(1, keepdims=True)).sum()) + 0.0  # no term is above 0


@dataclass(frozen=True)
class Minimisers:
    """All translators of least expected distortion, and the one closest to R.

    Parameters
    ----------
    targets : array
        (X, Y) bool, the best targets of each source, ties included.
    translator : array
        (X, Y) the one of them whose marginal is closest to R.
    distance : float
        Total variation between that marginal and R, in [0, 1].
    """

    targets: np.ndarray
    translator: np.ndarray
    distance: float

    @property
    def unique(self) -> bool:
        """Whether there is a single most accurate translator, which is then deterministic."""
        return bool((self.targets.sum(1) == 1).all())

    def preserving(self, tolerance: float = 1e-9) -> bool:
        """Whether some most accurate translator has the marginal R: Definition B.1 for at least one of them."""
        return self.distance <= tolerance


def minimisers(problem: Problem) -> Minimisers:
    """Translators that maximise AN eq. 1 alone, to be tested for Definition B.1.

    >>> minimisers(Problem([[0.5, 0.5]], [[0, 1], [1, 0]], [0.9, 0.1])).distance
    0.0
    """
    best = solve(problem, -np.inf, "tv")
    distance = 0.0 if best.naturalness > -1e-12 else -best.naturalness
    return Minimisers(best_targets(problem.excess), best.translator, distance)


def perturbed(problem: Problem, source: int, share: float, own_reference: bool = True) -> Problem:
    """The same P(y|x) with one more frequent source: P(x) becomes (1-ε) P(x) + ε 1[x = source].

    The joint moves by at most ε in total variation (Fact 2 in the proof of Theorem B.1).

    Parameters
    ----------
    problem : Problem
        The world.
    source : int
        The source.
    share : float
        ε in [0, 1).
    own_reference : bool
        Whether R follows P(y), as in Theorem B.1, or stays, as in AN §3. True needs references and candidates that are
        the same texts in the same order.
    """
    if not 0 <= share < 1 or not 0 <= source < len(problem.p_x):
        known = len(problem.p_x) - 1
        raise DataError(f"got source {source}, share {share}; expected 0 to {known}, [0, 1).")
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
    """(X, E) distance to R of the nearest most accurate translator if each source is more frequent by each ε.

    A row that leaves 0 shows that Δ is not stably distribution preserving (Definition B.2). If the most accurate
    translator is not unique, the nearest may stay at 0 for every ε: Theorem B.1 is about all of them.

    Parameters
    ----------
    problem, own_reference : Problem, bool
        As in `perturbed`.
    shares : array_like
        (E,) values of ε in [0, 1).
    """
    shares = np.atleast_1d(np.asarray(shares, dtype=np.float64))

    def distance(source: int, share: float) -> float:
        return minimisers(perturbed(problem, source, share, own_reference)).distance

    return np.array([[distance(x, e) for e in shares] for x in range(len(problem.p_x))])
