"""A(N) where D is convex but not polyhedral: a cone program for one N, and the curve between its tangents."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from heapq import heappop, heappush
from itertools import count
from typing import Any
from warnings import catch_warnings

import numpy as np
from scipy import sparse

from ..errors import AnhelpersError, need
from .divergence import Ball, Divergence
from .linear import best_targets, solve_equal
from .problem import Problem, Solution

__all__ = ["cone_solver", "refine"]

TRIES = ((1e-8, 0.99), (1e-8, 0.8), (1e-7, 0.5), (1e-6, 0.5))
"""(relative tolerance, step towards the cones' boundary) for Clarabel, its own values first."""


def cone_solver(problem: Problem, divergence: Divergence) -> Callable[[float], tuple[np.ndarray, float]]:
    """A function limit -> (mass, β) that reuses one compiled cone program; ∞ gives the most natural of the best.

    Where D is infinite outside R's support, what R never says is never said.
    """
    cp = need("cvxpy", f"the exact curve for {divergence.label}")
    r = problem.reference
    cells = np.broadcast_to(r > 0 if divergence.absolute else True, problem.cost.shape)
    mass, ball, rows = _mass(cp, problem, divergence, cells)
    scale = cp.Parameter(nonneg=True)  # so that a small D is as exact as a large one
    within = scale * ball.expression <= 1
    program = cp.Problem(cp.Minimize(problem.cost[cells] @ mass), [within, *rows])

    def at(limit: float) -> tuple[np.ndarray, float]:
        if limit == np.inf:
            return _most_natural_of_the_best(cp, problem, divergence, cells), 0.0
        if limit == 0:
            return solve_equal(problem, np.eye(len(r)) if divergence.apart is None else divergence.apart), np.inf
        scale.value = 1 / float(ball.bound(limit))
        found = _solve(program, mass, cells, problem)
        return found, max(0.0, float(np.squeeze(within.dual_value))) * scale.value * float(ball.slope(limit))

    return at


def _mass(cp: Any, problem: Problem, divergence: Divergence, cells: np.ndarray) -> tuple[Any, Ball, list]:
    """The mass f(x, y) of the allowed cells as a variable, D's ball around it, and Σ_y f(x, y) = P(x)."""
    x, y = np.nonzero(cells)
    mass, each = cp.Variable(len(x), nonneg=True), (np.ones(len(x)), np.arange(len(x)))
    said = sparse.csr_array((each[0], (y, each[1])), shape=(cells.shape[1], len(x)))
    spoken = sparse.csr_array((each[0], (x, each[1])), shape=(cells.shape[0], len(x)))
    there = np.flatnonzero(cells.any(0))
    ball = divergence.ball(cp, said @ mass, problem.reference, there)  # type: ignore[misc]  # `solve` asks first
    return mass, ball, [spoken @ mass == problem.p_x, *ball.constraints]


def _most_natural_of_the_best(cp: Any, problem: Problem, divergence: Divergence, cells: np.ndarray) -> np.ndarray:
    best = cells & best_targets(np.where(cells, problem.cost, np.inf))
    if (best.sum(1) == 1).all() or not (best & (problem.reference > 0)).any():  # no choice, or none that matters
        return problem.p_x[:, None] * best / best.sum(1, keepdims=True)
    mass, ball, rows = _mass(cp, problem, divergence, best)
    return _solve(cp.Problem(cp.Minimize(ball.expression), rows), mass, best, problem)


def refine(
    first: Solution, last: Solution, at: Callable[[float], Solution], *, tolerance: float, most: int
) -> tuple[list[Solution], float]:
    """(points, gap): points are added where the curve is known worst, until gap <= tolerance or there are `most`.

    Parameters
    ----------
    first, last : the ends, the most accurate and the most natural translator.
    at : N -> the best translator there.
    """
    order, stuck = count(), 0.0  # the count decides between equal gaps
    done, todo = [first, last], [(-_gap(first, last), next(order), first, last)]
    while todo and -todo[0][0] > tolerance and len(done) < most:
        gap, _, left, right = heappop(todo)
        middle = _between(left, right, at)
        if middle is None:  # this piece stays as it is, and its gap is told
            stuck = max(stuck, -gap)
            continue
        done.append(middle)
        for a, b in ((left, middle), (middle, right)):
            heappush(todo, (-_gap(a, b), next(order), a, b))
    return sorted(done, key=lambda s: s.naturalness), max(stuck, -todo[0][0] if todo else 0.0)


def _between(left: Solution, right: Solution, at: Callable[[float], Solution]) -> Solution | None:
    """The best translator somewhere between two, or None where it fails at three places: too close to D = 0."""
    for share in (0.75, 0.6, 0.85) if np.isinf(right.beta) else (0.5, 0.4, 0.6):  # upright ends bend most there
        with suppress(AnhelpersError):
            return at(left.naturalness + share * (right.naturalness - left.naturalness))
    return None


def _gap(left: Solution, right: Solution) -> float:
    """How far the concave curve can rise above the chord of two points: to where their tangents meet."""
    width = right.naturalness - left.naturalness
    if width <= 0:
        return 0.0
    chord = (left.accuracy - right.accuracy) / width
    if not left.beta < chord < right.beta:
        return 0.0
    meet = width if np.isinf(right.beta) else width * (right.beta - chord) / (right.beta - left.beta)
    return (chord - left.beta) * meet


def _solve(program: Any, mass: Any, cells: np.ndarray, problem: Problem) -> np.ndarray:
    """(X, Y) the optimal mass, cleaned of rounding: no negative entry, rows that sum to P(x)."""
    cp = need("cvxpy", "a convex program")
    for tolerance, step in TRIES:
        exactness = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
        with suppress(cp.error.SolverError), catch_warnings(action="ignore"):
            program.solve(solver="CLARABEL", **exactness, max_step_fraction=step)
            if program.status == "optimal":
                break
    else:
        raise AnhelpersError(f"Clarabel did not solve the convex program ({program.status}); ask for a larger D.")
    found = np.zeros(cells.shape)
    found[cells] = np.maximum(mass.value, 0)
    silent = found.sum(1) == 0  # a source rarer than the solver's tolerance
    found[silent] = best_targets(np.where(cells, problem.cost, np.inf))[silent]
    return found / found.sum(1, keepdims=True) * problem.p_x[:, None]
