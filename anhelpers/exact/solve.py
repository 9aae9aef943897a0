"""A(N) for one N and as a whole curve, Theorem 3.1 as a check of both, and Theorem B.1 on finite spaces."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from .. import checks
from ..errors import DataError
from .divergence import Divergence, _divergence_of
from .problem import SLACK, ExactCurve, Problem, _asked, _joint_of, _Solution
from .solvers import _best_targets, _cone_solver, _refine, _solve_point, _solve_vertices

# cap of excess costs in `Problem.unit`: R has at most 1e-12 of costlier targets
_FORBIDDEN = 1e12


def solve(problem: Problem, naturalness: float, divergence: str | Divergence = "tv") -> _Solution:
    """The most accurate translator with N(Q) = -D(Q, R) >= N: AN eq. 3, solved.

    Parameters
    ----------
    problem : Problem
        X sources, Y targets; 20 x 200 take well under a second, or a few for a Wasserstein distance.
    naturalness : float
        N in [-∞, 0].
    divergence : str or Divergence
        "tv", "kl", "js", "chi2", or `wasserstein_ball(ground)`, `renyi_ball(order)`, `mmd_ball(kernel)`,
        `critic_ball(values)`.

    Returns
    -------
    The solution, by a linear program (HiGHS) if D is polyhedral, else by a cone program (Clarabel, which needs cvxpy).

    >>> world = Problem([[0.75, 0.25]], [[0, 1], [1, 0]], [0.2, 0.8])
    >>> solve(world, -0.2).marginal.round(2), round(solve(world, -0.2).accuracy, 2), round(solve(world, 0).accuracy, 2)
    (array([0.4, 0.6]), -0.55, -0.65)
    """
    divergence, n = _divergence_of(divergence), _asked(naturalness)
    targets = _best_targets(problem.excess)
    # whether some most accurate translator is absolutely continuous with respect to R
    sayable = (targets & (problem.reference > 0)).any(1).all()
    if n == -np.inf and divergence.absolute and not sayable:
        return _solution(problem, divergence, targets.astype(float), 0.0, np.inf)
    at = _solver(problem, divergence)
    if divergence.polyhedron is not None:
        return at(n)
    best = at(-np.inf)
    return best if best.naturalness >= n else at(n)


def solve_curve(
    problem: Problem, divergence: str | Divergence = "tv", *, tolerance: float = 5e-3
) -> ExactCurve:
    """The whole AN function: every vertex where D is polyhedral, else points until the curve is known to `tolerance`.

    Parameters
    ----------
    problem, divergence : Problem, str or Divergence
        As in `solve`; D must be convex in its first slot.
    tolerance : float
        Of a smooth curve: the largest `gap` as a share of the curve's range in accuracy. It has at most 80 points.
    """
    divergence = _divergence_of(divergence)
    if divergence.polyhedron is not None:
        world, plain, spread = _plain_world(problem, divergence)
        vertices = [
            _solution(problem, divergence, mass, np.nan, d * spread)
            for d, _, mass in _solve_vertices(world, plain)
        ]
        return _curve(problem, vertices, exact=True)
    at = _solver(problem, divergence)
    first, last = at(-np.inf), at(0.0)
    if np.isinf(first.naturalness) or not divergence.convex:
        raise DataError(f"{divergence.label}: not convex in Q, or infinite. Solve single N.")
    fall, spread = first.accuracy - last.accuracy, _plain_world(problem, divergence)[2]
    if -first.naturalness <= SLACK * spread or fall <= SLACK * problem.unit:
        return _curve(problem, [last], exact=True)
    points, gap = _refine(first, last, at, tolerance * fall)
    return _curve(problem, points, exact=False, gap=gap)


@dataclass(frozen=True)
class _Theorem31:
    """Largest violations of Theorem 3.1 on points (N, A), in units of accuracy (0: none).

    Parameters
    ----------
    n : int
        Number of points.
    rise, dent : float
        Largest growth of A between neighbouring N, and largest depth of A below the chord of its neighbours.
    convex_divergence : bool
        Whether D is convex in Q; if not, the theorem makes no claim about `dent`.
    unit : float
        `Problem.unit`, the scale of violations.
    """

    n: int
    rise: float
    dent: float
    convex_divergence: bool
    unit: float = 1.0

    def holds(self, tolerance: float = 1e-6) -> bool:
        """Whether A is non-increasing, and concave if D is convex in Q, up to this share of `unit`."""
        worst = max(self.rise, self.dent) if self.convex_divergence else self.rise
        return worst <= tolerance * self.unit


def check_theorem(
    problem: Problem, divergence: str | Divergence, naturalness: np.ndarray
) -> _Theorem31:
    """Check Theorem 3.1 at 3 or more finite N <= 0, solved one by one: a traced curve is concave by construction."""
    divergence = _divergence_of(divergence)
    n = np.unique(checks.finite("naturalness", naturalness))
    checks.whole("number of different N", len(n), 3)
    a = np.array([solve(problem, value, divergence).accuracy for value in n])
    share = (n[1:-1] - n[:-2]) / (n[2:] - n[:-2])
    chord = (1 - share) * a[:-2] + share * a[2:]
    rise, dent = (float(np.maximum(0.0, v).max()) for v in (np.diff(a), chord - a[1:-1]))
    return _Theorem31(len(n), rise, dent, divergence.convex, problem.unit)


def conditional_entropy(joint: ArrayLike) -> float:
    """H[y | x] of a joint (X, Z) P(x, y), in nats: 0 if and only if every source has one translation.

    >>> round(conditional_entropy([[0.5, 0.0], [0.25, 0.25]]), 4)  # half the time, log 2
    0.3466
    """
    joint = _joint_of(joint)
    # no term is above 0
    return -float(rel_entr(joint, joint.sum(1, keepdims=True)).sum()) + 0.0


@dataclass(frozen=True)
class _Minimisers:
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


def minimisers(problem: Problem) -> _Minimisers:
    """Translators that maximise AN eq. 1 alone, to be tested for Definition B.1.

    >>> minimisers(Problem([[0.5, 0.5]], [[0, 1], [1, 0]], [0.9, 0.1])).distance
    0.0
    """
    best = solve(problem, -np.inf, "tv")
    distance = 0.0 if best.naturalness > -1e-12 else -best.naturalness
    return _Minimisers(_best_targets(problem.excess), best.translator, distance)


def perturbed(problem: Problem, source: int, share: float) -> Problem:
    """The same P(y|x) with one more frequent source: P(x) becomes (1-ε) P(x) + ε 1[x = source].

    The joint moves by at most ε in total variation (Fact 2 in the proof of Theorem B.1). R is the new P(y).

    Parameters
    ----------
    problem : Problem
        A world whose references and candidates are the same texts in the same order.
    source : int
        The source.
    share : float
        ε in [0, 1).
    """
    checks.whole("source", source, 0, len(problem.p_x) - 1)
    # a share of 1 or more leaves the other sources no probability, which `Problem` refuses
    p_x = (1 - checks.non_negative("share", share)) * problem.p_x
    p_x[source] += share
    joint = problem.joint / problem.p_x[:, None] * p_x[:, None]
    reference = joint.sum(0)
    checks.same_length(references=reference, candidates=problem.reference)
    return replace(problem, joint=joint, reference=reference)


def stability(problem: Problem, shares: ArrayLike) -> np.ndarray:
    """(X, E) distance to R of the nearest most accurate translator if each source is more frequent by each ε.

    A row that leaves 0 shows that Δ is not stably distribution preserving (Definition B.2). If the most accurate
    translator is not unique, the nearest may stay at 0 for every ε: Theorem B.1 is about all of them.

    Parameters
    ----------
    problem : Problem
        As in `perturbed`.
    shares : array_like
        (E,) values of ε in [0, 1).
    """
    each = np.atleast_1d(np.asarray(shares, dtype=np.float64))
    worlds = [[perturbed(problem, x, e) for e in each] for x in range(len(problem.p_x))]
    return np.array([[minimisers(world).distance for world in row] for row in worlds])


def _plain_world(problem: Problem, divergence: Divergence) -> tuple[Problem, Divergence, float]:
    """(world, D, spread): the same world without units, for solvers have absolute tolerances.

    Its costs are `problem.excess`: multiply accuracy and β by `problem.unit`. Its D is in units of `spread`: multiply D
    by it, and divide β.
    """
    excess = np.minimum(problem.excess, _FORBIDDEN)
    world = Problem(problem.p_x[:, None], excess[:, None], problem.reference)
    if divergence.plain is None:
        return world, divergence, 1.0
    best = _best_targets(excess)
    said = problem.p_x @ (best / best.sum(1, keepdims=True))
    return world, *divergence.plain((said + problem.reference) / 2)


def _solver(problem: Problem, divergence: Divergence) -> Callable[[float], _Solution]:
    """N -> solution, by the solver that fits D."""
    world, plain, spread = _plain_world(problem, divergence)
    linear = plain.polyhedron is not None
    at = partial(_solve_point, world, plain) if linear else _cone_solver(world, plain)

    def solution(naturalness: float) -> _Solution:
        mass, beta, *d = at(-naturalness / spread)
        if not np.isinf(beta):
            beta = _held(np.multiply, beta, _held(np.divide, problem.unit, spread))
        return _solution(problem, divergence, mass, float(beta), d[0] * spread if d else None)

    return solution


def _solution(
    problem: Problem, divergence: Divergence, mass: np.ndarray, beta: float, d: float | None = None
) -> _Solution:
    """The solution of (X, Y) mass P(x) Q(y|x), computed from the translator; D too unless it is given."""
    silent = mass.sum(1) == 0  # a source rarer than the solver's tolerance
    mass = np.where(silent[:, None], _best_targets(problem.excess), mass)
    translator = mass / mass.sum(1, keepdims=True)
    q = problem.marginal(translator)
    d = divergence.value(q / q.sum(), problem.reference) if d is None else d
    accuracy = problem.accuracy(translator)
    return _Solution(translator, q, accuracy, -max(0.0, d) + 0.0, beta, divergence)


def _curve(
    problem: Problem, points: Sequence[_Solution], *, exact: bool, gap: float = 0.0
) -> ExactCurve:
    n, a = (np.array([getattr(s, axis) for s in points]) for axis in ("naturalness", "accuracy"))
    translators = np.stack([s.translator for s in points])
    # an offset of Δ would cost A(N) these digits
    lost = problem.p_x @ (problem.excess * translators).sum(2).T
    slopes = _held(np.divide, np.diff(lost), np.diff(n))
    beta = np.concatenate([[0.0], _held(np.multiply, slopes, problem.unit)])
    return ExactCurve(problem, points[0].divergence, n, a, beta, translators, exact, gap)


def _held(operation: np.ufunc, a: Any, b: Any) -> Any:
    """A step of computing β, which must not overflow or underflow."""
    with np.errstate(over="ignore"):
        value = operation(a, b)
    if not (np.isfinite(value) & ((value != 0) | (np.asarray(a) == 0))).all():
        raise DataError("a β does not fit a float64. Change the unit of Δ or of D.")
    return value
