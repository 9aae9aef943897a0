"""A finite world of translation, and what solving it returns: everything that AN eq. 3 speaks of, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from ..frontier import vertex_at
from .divergence import Divergence

SLACK = 1e-9  # of a difference that is a solver's, relative to the size of the numbers
SUMMED = 1e-12  # relative rounding of a sum over thousands of references
EPS = np.finfo(np.float64).eps


@dataclass(frozen=True)
class Problem:
    """Who says what (P), what an error costs (Δ) and what the target language is like (R), on finite spaces.

    Parameters
    ----------
    joint : (X, Z) probabilities P(x, y_ref) of X sources and Z references; every source has some.
    distortion : (Z, Y) Δ(y_ref, y) of Y candidates, or (X, Z, Y) where it depends on the source as well; finite, lower
        is better. Any unit and offset, as far as float64 holds them: beside an offset of 1e8 times the range of Δ,
        about 8 digits of that range are left.
    reference : (Y,) probabilities R(y) of text that was written in the target language.

    Raises
    ------
    DataError where the shapes do not fit, a number is not finite, the range of Δ is not, or a source has probability 0.

    >>> world = Problem([[0.5, 0.5]], [[0, 1], [1, 0]], [0.9, 0.1])
    >>> world.accuracy([[1, 0]]), world.marginal([[0.2, 0.8]])
    (-0.5, array([0.2, 0.8]))
    """

    joint: np.ndarray
    distortion: np.ndarray
    reference: np.ndarray

    def __post_init__(self) -> None:
        joint = joint_of(self.joint)
        reference = checks.pmf("reference", self.reference)
        distortion = np.asarray(self.distortion, dtype=np.float64)
        wanted = (joint.shape[1], len(reference))
        if distortion.shape not in (wanted, (len(joint), *wanted)):
            shapes = (
                f"{wanted} (references, candidates) or {(len(joint), *wanted)} with sources first"
            )
            raise DataError(f"the distortion must have shape {shapes}, got {distortion.shape}.")
        if not np.isfinite(distortion).all():
            raise DataError(
                "the distortion must be finite; give a large number to what must never be said."
            )
        checks.held_range("the distortion", distortion)
        silent = np.flatnonzero(joint.sum(1) == 0)
        if silent.size:
            raise DataError(
                f"source {silent[0]} has probability 0 ({silent.size} such); leave it out."
            )
        for name, value in (("joint", joint), ("reference", reference), ("distortion", distortion)):
            object.__setattr__(self, name, value)

    @cached_property
    def p_x(self) -> np.ndarray:
        """(X,) P(x)."""
        return self.joint.sum(1)

    @cached_property
    def p_y(self) -> np.ndarray:
        """(Z,) P(y), how often each reference is the right one: what Theorem B.1 takes for R."""
        return self.joint.sum(0)

    @cached_property
    def cost(self) -> np.ndarray:
        """(X, Y) the expected distortion E[Δ | x, y] of saying y for x."""
        return self._expected(self.distortion)

    @cached_property
    def excess(self) -> np.ndarray:
        """(X, Y) by how much y costs x more than the best target does, in `unit`: 0 for the best and its ties.

        Every solver reads this, so neither the unit nor an offset of Δ meets the solver's tolerances. Two targets are
        tied where their costs differ by rounding: of Δ as it was given, or of the sum over the references.
        """
        return self._excess_and_unit[0]

    @property
    def unit(self) -> float:
        """What saying R whatever the source costs more than the most accurate translator: above the range of A(N).

        In the unit of Δ; where that costs nothing, 1.
        """
        return self._excess_and_unit[1]

    @cached_property
    def _excess_and_unit(self) -> tuple[np.ndarray, float]:
        # at first, so that an offset costs no digits
        above = self.distortion - self.distortion.min(-1, keepdims=True)
        widest = float(above.max()) or 1.0
        cost = self._expected(above / widest)
        ulps = self._expected(4 * EPS * np.abs(self.distortion)) / widest
        best = cost.argmin(1)[:, None]
        least = np.take_along_axis(cost, best, 1)
        excess = cost - least
        excess[excess <= SUMMED * least + ulps + np.take_along_axis(ulps, best, 1)] = 0.0
        of_r = float(self.p_x @ excess @ self.reference)
        return (excess / of_r, widest * of_r) if of_r else (excess, 1.0)

    def _expected(self, values: np.ndarray) -> np.ndarray:
        """(X, Y) the mean over the references of values (Z, Y) or (X, Z, Y), given the source."""
        weighed = "xz,zy->xy" if values.ndim == 2 else "xz,xzy->xy"
        return np.einsum(weighed, self.joint / self.p_x[:, None], values)

    def accuracy(self, translator: ArrayLike) -> float:
        """A(Q) of AN eq. 1: minus the expected distortion of (X, Y) probabilities Q(y|x)."""
        return -float(self.p_x @ (self.cost * np.asarray(translator)).sum(1))

    def marginal(self, translator: ArrayLike) -> np.ndarray:
        """(Y,) Q(y) = Σ_x P(x) Q(y|x)."""
        return self.p_x @ np.asarray(translator)

    def informed(self) -> Problem:
        """The same world for a translator that has seen the reference: each pair (x, y_ref) is a source of its own.

        Its A(N) is what an oracle over ever more candidates tends to (AN Appendix F): at least the true A(N).
        """
        x, z = np.nonzero(self.joint)
        joint = np.zeros((len(x), self.joint.shape[1]))
        joint[np.arange(len(x)), z] = self.joint[x, z]
        return Problem(
            joint,
            self.distortion if self.distortion.ndim == 2 else self.distortion[x],
            self.reference,
        )


@dataclass(frozen=True)
class Solution:
    """The most accurate translator among those at least as natural as was asked (AN eq. 3).

    Parameters
    ----------
    translator : (X, Y) Q(y|x); rows sum to 1.
    marginal : (Y,) Q(y).
    accuracy, naturalness : A(Q) and N(Q) = -D(Q, R) of this translator, higher is better; the naturalness may be more
        than was asked, where asking for less buys no accuracy.
    beta : the weight of naturalness in eq. 5 for which this translator is best: what one more unit of naturalness
        costs in accuracy. 0 where the constraint costs nothing; ∞ at N = 0 for a divergence that is smooth there.
    divergence : D.
    """

    translator: np.ndarray
    marginal: np.ndarray
    accuracy: float
    naturalness: float
    beta: float
    divergence: Divergence


@dataclass(frozen=True)
class ExactCurve:
    """The whole AN function A(N), from the most accurate translator to the most natural one.

    Vertex v is best for β in [beta[v], beta[v+1]). Between two vertices the mixture of their translators is best where
    the curve is exact, and within `gap` of the best where it is not.

    Parameters
    ----------
    problem, divergence : what was solved.
    naturalness, accuracy : (V,) N = -D(Q, R), rising to 0, and A(N), falling.
    beta : (V,) beta[0] == 0; minus the slope of the line from vertex v-1 to v.
    translators : (V, X, Y) the best Q(y|x) at each vertex.
    exact : True: every vertex of a piecewise linear curve is here (up to rounding). False: points on a smooth curve.
    gap : how far above the drawn line the true curve can be, in units of accuracy: by its tangents at the points.
    """

    problem: Problem
    divergence: Divergence
    naturalness: np.ndarray
    accuracy: np.ndarray
    beta: np.ndarray
    translators: np.ndarray = field(repr=False)
    exact: bool
    gap: float

    def accuracy_at(self, naturalness: ArrayLike) -> np.ndarray:
        """A(N), linear between the vertices; nan for N > 0, which nobody reaches."""
        n = np.asarray(naturalness, dtype=np.float64)
        return np.where(n <= 0, np.interp(n, self.naturalness, self.accuracy), np.nan)

    def translator_at(self, naturalness: float) -> np.ndarray:
        """(X, Y) Q(y|x) at this N in (-∞, 0]: the mixture of the two neighbouring vertices."""
        n = asked(naturalness)
        v = int(np.searchsorted(self.naturalness, n))
        if v == 0 or v == len(self.naturalness):
            return self.translators[min(v, len(self.naturalness) - 1)]
        share = (n - self.naturalness[v - 1]) / (self.naturalness[v] - self.naturalness[v - 1])
        return (1 - share) * self.translators[v - 1] + share * self.translators[v]

    def vertex(self, beta: float) -> int:
        """Index of the vertex that is best at this β in [0, ∞]."""
        return vertex_at(self.beta, beta)


def joint_of(joint: ArrayLike) -> np.ndarray:
    """(X, Z) probabilities of sources and references, checked; a DataError for anything else."""
    joint = np.asarray(joint, dtype=np.float64)
    if joint.ndim != 2:
        raise DataError(
            f"the joint P(x, y) must be (sources, references), got shape {joint.shape}."
        )
    return checks.pmf("joint", joint.ravel()).reshape(joint.shape)


def asked(naturalness: float) -> float:
    """N in [-∞, 0]; a DataError above 0, which no translator reaches."""
    n = float(naturalness)
    if not n <= 0:
        raise DataError(
            f"no translator has naturalness {naturalness}: N = -D(Q, R) is at most 0, where Q is "
            "R; ask for N <= 0."
        )
    return n
