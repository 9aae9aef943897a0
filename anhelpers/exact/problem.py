"""Finite worlds of translation, the solutions of AN eq. 3 in them, and the oracle that samples them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import DataError
from ..frontier import OracleCurve, oracle_curve, vertex_at
from .divergence import Divergence, _held_range

# of a difference that is a solver's, relative to the size of the numbers
SLACK = 1e-9
SUMMED = 1e-12  # relative rounding of a sum over thousands of references
EPS = np.finfo(np.float64).eps


@dataclass(frozen=True)
class Problem:
    """A finite world: the data distribution P, the distortion Δ and the natural language R.

    Parameters
    ----------
    joint : array_like
        (X, Z) probabilities P(x, y_ref) of X sources and Z references; no source has probability 0.
    distortion : array_like
        (Z, Y) Δ(y_ref, y) of Y candidates, or (X, Z, Y) if it depends on the source as well; finite, lower is better,
        any unit. An offset of 1e8 times the range of Δ leaves about 8 digits of that range.
    reference : array_like
        (Y,) probabilities R(y) of text written in the target language.

    >>> world = Problem([[0.5, 0.5]], [[0, 1], [1, 0]], [0.9, 0.1])
    >>> world.accuracy([[1, 0]]), world.marginal([[0.2, 0.8]])
    (-0.5, array([0.2, 0.8]))
    """

    joint: np.ndarray
    distortion: np.ndarray
    reference: np.ndarray

    def __post_init__(self) -> None:
        joint = _joint_of(self.joint)
        reference = checks.pmf("reference", self.reference)
        distortion = np.asarray(self.distortion, dtype=np.float64)
        wanted = (joint.shape[1], len(reference))
        if distortion.shape not in (wanted, (len(joint), *wanted)):
            shapes = f"{wanted} or {(len(joint), *wanted)}"
            raise DataError(f"distortion must have shape {shapes}, got {distortion.shape}.")
        _held_range("distortion", checks.finite("distortion", distortion, distortion.shape))
        if (silent := np.flatnonzero(joint.sum(1) == 0)).size:
            raise DataError(f"source {silent[0]} has probability 0 ({silent.size} in total).")
        for name, value in (("joint", joint), ("reference", reference), ("distortion", distortion)):
            object.__setattr__(self, name, value)

    @cached_property
    def p_x(self) -> np.ndarray:
        """(X,) P(x)."""
        return self.joint.sum(1)

    @cached_property
    def p_y(self) -> np.ndarray:
        """(Z,) P(y) of the references: R in Theorem B.1."""
        return self.joint.sum(0)

    @cached_property
    def cost(self) -> np.ndarray:
        """(X, Y) expected distortion E[Δ | x, y] of the translation y of x."""
        return self._expected(self.distortion)

    @cached_property
    def excess(self) -> np.ndarray:
        """(X, Y) cost above that of the best target, in `unit`: 0 for the best and its ties.

        Solvers read this, so their tolerances are independent of the unit and the offset of Δ. Two targets are tied if
        their costs differ by rounding only: of Δ, or of the sum over the references.
        """
        return self._excess_and_unit[0]

    @property
    def unit(self) -> float:
        """Excess cost of R for every source, an upper bound of the range of A(N), in the unit of Δ; 1 if it is 0."""
        return self._excess_and_unit[1]

    @cached_property
    def _excess_and_unit(self) -> tuple[np.ndarray, float]:
        # first, so that an offset costs no digits
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
        """(X, Y) means over the references of values (Z, Y) or (X, Z, Y), given the source."""
        weighed = "xz,zy->xy" if values.ndim == 2 else "xz,xzy->xy"
        return np.einsum(weighed, self.joint / self.p_x[:, None], values)

    def accuracy(self, translator: ArrayLike) -> float:
        """A(Q) of AN eq. 1: minus the expected distortion of (X, Y) probabilities Q(y|x)."""
        return -float(self.p_x @ (self.cost * np.asarray(translator)).sum(1))

    def marginal(self, translator: ArrayLike) -> np.ndarray:
        """(Y,) Q(y) = Σ_x P(x) Q(y|x)."""
        return self.p_x @ np.asarray(translator)

    def informed(self) -> Problem:
        """The same world for a translator that knows the reference: each pair (x, y_ref) is a source.

        Its A(N) is the limit of an oracle over more and more candidates (AN Appendix F): at least the true A(N).
        """
        x, z = np.nonzero(self.joint)
        joint = np.zeros((len(x), self.joint.shape[1]))
        joint[np.arange(len(x)), z] = self.joint[x, z]
        distortion = self.distortion if self.distortion.ndim == 2 else self.distortion[x]
        return Problem(joint, distortion, self.reference)


@dataclass(frozen=True)
class _Solution:
    """The most accurate translator of at least the given naturalness (AN eq. 3).

    Parameters
    ----------
    translator : array
        (X, Y) Q(y|x); rows sum to 1.
    marginal : array
        (Y,) Q(y).
    accuracy, naturalness : float
        A(Q) and N(Q) = -D(Q, R) of this translator, higher is better; N may exceed the bound if that costs nothing.
    beta : float
        Weight of naturalness in eq. 5 for which this translator is best: the price in accuracy of one unit of
        naturalness. 0 if the constraint costs nothing; ∞ at N = 0 for a divergence that is smooth there.
    divergence : Divergence
        D.
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

    Vertex v is best for β in [beta[v], beta[v+1]). Between two vertices the mixture of their translators is best, or
    within `gap` of the best if the curve is not exact.

    Parameters
    ----------
    problem, divergence : Problem, Divergence
        The world and D.
    naturalness, accuracy : array
        (V,) N = -D(Q, R), rising to 0, and A(N), falling.
    beta : array
        (V,) beta[0] == 0; minus the slope of the line from vertex v-1 to v.
    translators : array
        (V, X, Y) best Q(y|x) at each vertex.
    exact : bool
        Whether these are all vertices of a piecewise linear curve (up to rounding), or points on a smooth one.
    gap : float
        Upper bound of the true curve minus the line, in units of accuracy, from the tangents at the points.
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
        """A(N), linear between the vertices; nan for N > 0."""
        n = np.asarray(naturalness, dtype=np.float64)
        return np.where(n <= 0, np.interp(n, self.naturalness, self.accuracy), np.nan)

    def translator_at(self, naturalness: float) -> np.ndarray:
        """(X, Y) Q(y|x) at this N in (-∞, 0]: the mixture of the two neighbouring vertices."""
        n = _asked(naturalness)
        v = int(np.searchsorted(self.naturalness, n))
        if v == 0 or v == len(self.naturalness):
            return self.translators[min(v, len(self.naturalness) - 1)]
        share = (n - self.naturalness[v - 1]) / (self.naturalness[v] - self.naturalness[v - 1])
        return (1 - share) * self.translators[v - 1] + share * self.translators[v]

    def vertex(self, beta: float) -> int:
        """Index of the vertex that is best at this β in [0, ∞]."""
        return vertex_at(self.beta, beta)


def _joint_of(joint: ArrayLike) -> np.ndarray:
    """(X, Z) probabilities of sources and references, checked."""
    shape = checks.finite("joint", joint, (None, None)).shape
    return checks.pmf("joint", np.ravel(joint)).reshape(shape)


def _asked(naturalness: float) -> float:
    """N in [-∞, 0], checked."""
    n = float(naturalness)
    if not n <= 0:
        raise DataError(f"got naturalness {naturalness}, expected N = -D(Q, R) ≤ 0.")
    return n


def sampled_oracle(
    problem: Problem,
    scores: ArrayLike,
    *,
    n_segments: int,
    n_candidates: int,
    rng: np.random.Generator,
) -> OracleCurve:
    """The oracle of AN §5.1 in a finite world: K candidates per segment, chosen by the reference (eq. 5).

    With more segments and candidates it tends to the exact curve of `problem.informed()` for the one critic `scores`,
    not to A(N) of the problem, for no translator knows the reference.

    Parameters
    ----------
    problem : Problem
        The world.
    scores : array_like
        (Y,) naturalness of every target, such as its log-probability per token; higher is better.
    n_segments, n_candidates : int
        N pairs (x, y_ref) ~ P, and K candidates each, drawn with replacement, each target as often.
    rng : Generator
        Randomness.
    """
    n_y = len(problem.reference)
    scores = checks.finite("scores", scores, (n_y,))
    n_segments = checks.whole("n_segments", n_segments)
    n_candidates = checks.whole("n_candidates", n_candidates)
    pair = rng.choice(problem.joint.size, size=n_segments, p=problem.joint.ravel())
    x, z = np.unravel_index(pair, problem.joint.shape)
    cands = (rng.random((n_segments, n_candidates)) * n_y).astype(np.int64)
    at = (z[:, None], cands) if problem.distortion.ndim == 2 else (x[:, None], z[:, None], cands)
    delta = problem.distortion[at]
    segment = np.repeat(np.arange(n_segments), n_candidates)
    return oracle_curve(segment, -delta.ravel(), scores[cands.ravel()])
