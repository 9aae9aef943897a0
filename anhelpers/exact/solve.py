"""A(N) for one N and as a whole curve, and Theorem 3.1 as a check of both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from .. import checks
from ..errors import DataError
from .convex import cone_solver, refine
from .divergence import Divergence, divergence_of
from .linear import best_targets, solve_point, solve_vertices
from .problem import SLACK, ExactCurve, Problem, Solution, asked

__all__ = ["Theorem31", "check_theorem", "solve", "solve_curve"]


def solve(problem: Problem, naturalness: float, divergence: str | Divergence = "tv") -> Solution:
    """The most accurate translator with N(Q) = -D(Q, R) >= N: AN eq. 3, solved.

    Parameters
    ----------
    problem : X sources, Y targets; 20 x 200 take well under a second, or a few for a Wasserstein distance.
    naturalness : N in [-∞, 0].
    divergence : "tv", "kl", "js", "chi2", or `wasserstein(ground)`, `renyi(order)`, `mmd_squared(kernel)`,
        `critics(values)`.

    Returns
    -------
    Solution; a linear program by HiGHS where D is polyhedral, else a cone program by Clarabel.

    Raises
    ------
    DataError for N > 0, which is infeasible; MissingExtra where a cone program is wanted and cvxpy is not installed.

    >>> world = Problem([[0.75, 0.25]], [[0, 1], [1, 0]], [0.2, 0.8])
    >>> solve(world, -0.2).marginal.round(2), round(solve(world, -0.2).accuracy, 2), round(solve(world, 0).accuracy, 2)
    (array([0.4, 0.6]), -0.55, -0.65)
    """
    divergence, n = divergence_of(divergence), asked(naturalness)
    if divergence.polyhedron is not None:
        return _solution(problem, divergence, *solve_point(problem, divergence, -n))
    if n == -np.inf and divergence.absolute and not _sayable(problem):
        return _solution(problem, divergence, best_targets(problem.cost).astype(float), 0.0, np.inf)
    at = cone_solver(problem, divergence)
    best = _solution(problem, divergence, *at(np.inf))
    return best if best.naturalness >= n else _at(problem, divergence, at, n)


def solve_curve(
    problem: Problem, divergence: str | Divergence = "tv", *, tolerance: float = 5e-3, most: int = 80
) -> ExactCurve:
    """The whole AN function: every vertex where D is polyhedral, else points until the curve is known to `tolerance`.

    Parameters
    ----------
    problem, divergence : as in `solve`.
    tolerance, most : of a smooth curve only: the largest `gap` as a share of the curve's range in accuracy, and the
        largest number of points; the gap that was reached is in the result.

    Raises
    ------
    DataError where D is not convex in its first slot: then tangents bound nothing; solve single N instead.
    """
    divergence = divergence_of(divergence)
    if divergence.polyhedron is not None:
        vertices = solve_vertices(problem, divergence)
        return _curve(problem, [_solution(problem, divergence, mass, np.nan, d) for d, _, mass in vertices], exact=True)
    if not divergence.convex:
        raise DataError(f"{divergence.label} is not convex in Q, so its curve need not be concave; solve single N.")
    at = cone_solver(problem, divergence)
    first, last = (_solution(problem, divergence, *at(limit)) for limit in (np.inf, 0.0))
    if np.isinf(first.naturalness):
        raise DataError("no most accurate translator says anything that R says, so the curve begins at N = -∞; solve "
                        "single N.")  # fmt: skip
    fall = first.accuracy - last.accuracy
    if -first.naturalness <= SLACK or fall <= SLACK:
        return _curve(problem, [last], exact=True)
    point = partial(_at, problem, divergence, at)
    points, gap = refine(first, last, point, tolerance=tolerance * fall, most=most)
    return _curve(problem, points, exact=False, gap=gap)


@dataclass(frozen=True)
class Theorem31:
    """What Theorem 3.1 claims, on points (N, A): the largest violations, in units of accuracy (0: none).

    `rise` is the largest growth of A between neighbouring N, `dent` how far A lies below the chord of its neighbours.

    Parameters
    ----------
    n : points looked at. convex_divergence : whether D is convex in Q, without which nothing is claimed about `dent`.
    """

    n: int
    rise: float
    dent: float
    convex_divergence: bool

    def holds(self, tolerance: float = 1e-6) -> bool:
        """Non-increasing, and concave where D is convex in its first slot."""
        return self.rise <= tolerance and (self.dent <= tolerance or not self.convex_divergence)


def check_theorem(problem: Problem, divergence: str | Divergence, naturalness: np.ndarray) -> Theorem31:
    """Theorem 3.1 on values of A(N) that are solved one by one: a traced curve would be concave by construction.

    Parameters
    ----------
    naturalness : at least 3 different finite N <= 0.
    """
    divergence = divergence_of(divergence)
    n = np.unique(checks.finite("naturalness", naturalness))
    if len(n) < 3:
        raise DataError(f"a check of concavity needs at least 3 different N, got {len(n)}.")
    a = np.array([solve(problem, value, divergence).accuracy for value in n])
    share = (n[1:-1] - n[:-2]) / (n[2:] - n[:-2])
    chord = (1 - share) * a[:-2] + share * a[2:]
    rise, dent = (float(np.maximum(0.0, v).max()) for v in (np.diff(a), chord - a[1:-1]))  # nan, if any, stays nan
    return Theorem31(len(n), rise, dent, divergence.convex)


def _sayable(problem: Problem) -> bool:
    """Whether some most accurate translator says only what R says as well."""
    return bool((best_targets(problem.cost) & (problem.reference > 0)).any(1).all())


def _solution(
    problem: Problem, divergence: Divergence, mass: np.ndarray, beta: float, d: float | None = None
) -> Solution:
    """What (X, Y) mass P(x) Q(y|x) amounts to, computed from the translator itself; D too where it is not given."""
    silent = mass.sum(1) == 0  # a source rarer than the solver's tolerance
    if silent.any():
        mass = np.where(silent[:, None], best_targets(problem.cost), mass)
    translator = mass / mass.sum(1, keepdims=True)
    q = problem.marginal(translator)
    d = divergence.value(q / q.sum(), problem.reference) if d is None else d
    return Solution(translator, q, problem.accuracy(translator), -max(0.0, d) + 0.0, beta, divergence)


def _at(problem: Problem, divergence: Divergence, at: Callable, naturalness: float) -> Solution:
    """A cone program's solution at this N, moved towards R just so far that rounding does not break the constraint.

    At N = 0 only Q = R would do, which rounding never reaches: the solution stays as it is.
    """
    mass, beta = at(-naturalness)
    found = _solution(problem, divergence, mass, beta)
    same = problem.p_x[:, None] * problem.reference
    share = 1e-10
    while found.naturalness < naturalness < 0 and share < 0.1:
        found = _solution(problem, divergence, (1 - share) * mass + share * same, beta)
        share *= 1.5
    return found


def _curve(problem: Problem, points: Sequence[Solution], *, exact: bool, gap: float = 0.0) -> ExactCurve:
    n, a = (np.array([getattr(s, axis) for s in points]) for axis in ("naturalness", "accuracy"))
    beta = np.concatenate([[0.0], -np.diff(a) / np.diff(n)])
    translators = np.stack([s.translator for s in points])
    return ExactCurve(problem, points[0].divergence, n, a, beta, translators, exact, gap)
