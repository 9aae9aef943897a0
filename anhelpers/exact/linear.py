"""A(N) for a polyhedral D: a linear program for one N, and every vertex of the whole curve.

For a weight β the Lagrangian -A(Q) + β D(Q, R) has a vertex of the curve as its solution. Two known vertices give the
slope of the line between them; the Lagrangian at that slope either finds a vertex above the line or proves that there
is none. So a curve of V vertices takes about 2V small programs, and no grid (Eisner and Severance 1976).

Costs and D come in units of their own size (`solve._plain_world`): tolerances here are absolute.
"""

from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import OptimizeResult, linprog

from ..divergences.pmf import TOLERANCE
from ..errors import AnhelpersError
from .divergence import Divergence, _Polyhedron
from .problem import SLACK, SUMMED, Problem

# entries up to which matrices are dense: sparse ones take longer to build than to solve
_SMALL = 20_000

# D, cost, and (X, Y) mass P(x) Q(y|x).
_Vertex = tuple[float, float, np.ndarray]


def _solve_point(
    problem: Problem, divergence: Divergence, limit: float
) -> tuple[np.ndarray, float]:
    """(X, Y) mass and β of the best translator with D <= limit: a linear program by HiGHS, and its multiplier."""
    program = _Program(problem, divergence.polyhedron(problem.reference))  # type: ignore[misc]  # `solve` asks first
    if not np.isfinite(limit):
        return program.most_natural_of_the_most_accurate()[2], 0.0
    return program.within(limit)


def _solve_equal(problem: Problem, apart: np.ndarray) -> np.ndarray:
    """(X, Y) mass of the best translator with apart @ q = apart @ R, for D = 0; apart is (k, Y)."""
    x, y = problem.cost.shape
    said, spoken = _sums(x, y)
    equal = sparse.vstack([spoken, sparse.csr_array(apart) @ said], format="csr")
    to = np.concatenate([problem.p_x, apart @ problem.reference])
    program = {"A_eq": equal, "b_eq": to, "options": TOLERANCE}
    result = _solved(linprog(problem.cost.ravel(), **program, method="highs"))
    return np.maximum(result.x, 0).reshape(x, y)


def _solve_vertices(problem: Problem, divergence: Divergence) -> list[_Vertex]:
    """All vertices of the curve, from the most accurate to the most natural."""
    n = len(problem.reference)
    if divergence.ground is not None:
        steps = _Transport(problem, divergence.ground(n))
    else:
        steps = _Program(problem, divergence.polyhedron(problem.reference))  # type: ignore[misc]  # `solve` asks first
    first = steps.most_natural_of_the_most_accurate()
    last = steps.most_accurate_of_the_most_natural()
    costs_nothing = last[1] - first[1] <= SLACK * max(1.0, abs(last[1]))
    if costs_nothing or first[0] - last[0] <= SLACK:
        return [last if costs_nothing else first]
    done, todo = [first], [last]
    while todo:
        (d0, c0, _), (d1, c1, _) = done[-1], todo[-1]
        beta = (c1 - c0) / (d0 - d1)
        found = steps.lagrangian(beta)
        between = d1 + SLACK * first[0] < found[0] < d0 - SLACK * first[0]
        gain = c0 + beta * d0 - (found[1] + beta * found[0])
        if between and gain > SLACK * max(last[1] - first[1], SLACK):
            todo.append(found)
        else:
            done.append(todo.pop())
    return done


class _Program:
    """The variables are the mass f(x, y) = P(x) Q(y|x) and the u of the divergence."""

    def __init__(self, problem: Problem, d: _Polyhedron) -> None:
        self.shape = x, y = problem.cost.shape
        self.cost = problem.cost.ravel()
        self.weights = d.weights
        n_u = len(d.weights)
        none = sparse.csr_array((x, n_u))
        parts: list[Any] = [*_sums(x, y), none, d.equal_q, d.equal_u, d.upper_q, d.upper_u]
        blocks: Any = partial(sparse.block_array, format="csr")
        if (x + len(d.equal) + len(d.upper)) * (x * y + n_u) <= _SMALL:
            parts, blocks = [one.toarray() for one in parts], np.block
        said, spoken, none, equal_q, equal_u, upper_q, upper_u = parts
        self.equal = blocks([[spoken, none], [equal_q @ said, equal_u]])
        self.equal_to = np.concatenate([problem.p_x, d.equal])
        self.upper = blocks([[upper_q @ said, upper_u]])
        self.upper_to = d.upper

    def within(self, limit: float) -> tuple[np.ndarray, float]:
        costs = np.concatenate([np.zeros(len(self.cost)), self.weights])
        if isinstance(self.upper, np.ndarray):
            upper = np.vstack([self.upper, costs])
        else:
            upper = sparse.vstack([self.upper, sparse.csr_array(costs[None])], format="csr")
        result = self._solve(self._objective(0.0), upper, np.append(self.upper_to, limit))
        return self._mass(result), max(0.0, -float(result.ineqlin.marginals[-1]))

    def lagrangian(self, beta: float) -> _Vertex:
        return self._vertex(self._solve(self._objective(beta), self.upper, self.upper_to))

    def most_natural_of_the_most_accurate(self) -> _Vertex:
        cost = self.cost.reshape(self.shape)
        allowed = _best_targets(cost).ravel()
        objective = np.concatenate([np.zeros(len(self.cost)), self.weights])
        top = np.concatenate([np.where(allowed, np.inf, 0.0), np.full(len(self.weights), np.inf)])
        return self._vertex(self._solve(objective, self.upper, self.upper_to, top))

    def most_accurate_of_the_most_natural(self) -> _Vertex:
        mass, _ = self.within(0.0)
        return 0.0, float(self.cost @ mass.ravel()), mass

    def _objective(self, beta: float) -> np.ndarray:
        return np.concatenate([self.cost, beta * self.weights])

    def _solve(self, objective: Any, upper: Any, to: Any, top: Any = np.inf) -> OptimizeResult:
        bounds = np.stack([np.zeros(len(objective)), np.broadcast_to(top, len(objective))], axis=1)
        there = {"A_ub": upper, "b_ub": to} if upper.shape[0] else {}
        there |= {"A_eq": self.equal, "b_eq": self.equal_to, "bounds": bounds}
        return _solved(linprog(objective, **there, method="highs", options=TOLERANCE))

    def _mass(self, result: OptimizeResult) -> np.ndarray:
        return np.maximum(result.x[: len(self.cost)], 0).reshape(self.shape)

    def _vertex(self, result: OptimizeResult) -> _Vertex:
        mass = self._mass(result)
        d = float(self.weights @ result.x[len(self.cost) :])
        return d, float(self.cost @ mass.ravel()), mass


class _Transport:
    """For a D that moves probability at a ground cost: y' is the translation of x and moves to y, by the best y'.

    So a Lagrangian step is one transport of P(x) to R(y) at the cost h(x, y) = min_y' [cost(x, y') + β ground(y', y)].
    """

    def __init__(self, problem: Problem, ground: np.ndarray) -> None:
        self.problem, self.ground = problem, ground
        x, y = problem.cost.shape
        arrives, spoken = _sums(x, y)
        self.equal = sparse.vstack([spoken, arrives], format="csc")
        self.equal_to = np.concatenate([problem.p_x, problem.reference])
        # those of the last solution and its near ties
        self.columns = np.arange(x * y)

    def lagrangian(self, beta: float) -> _Vertex:
        return self._step(self.problem.cost, beta)

    def most_natural_of_the_most_accurate(self) -> _Vertex:
        return self._step(np.where(_best_targets(self.problem.cost), 0.0, np.inf), 1.0)

    def most_accurate_of_the_most_natural(self) -> _Vertex:
        through = np.where(self.ground == 0, 0.0, np.inf)
        return self._step(self.problem.cost, 1.0, through)

    def _step(self, cost: np.ndarray, beta: float, ground: np.ndarray | None = None) -> _Vertex:
        moved = beta * (self.ground if ground is None else ground)
        via = np.stack([(row[:, None] + moved).argmin(0) for row in cost])
        rows = np.arange(len(cost))[:, None]
        h = cost[rows, via] + moved[via, np.arange(len(moved))]
        plan = self._plan(h.ravel()).reshape(h.shape)
        mass = np.zeros_like(plan)
        np.add.at(mass, (np.broadcast_to(rows, via.shape), via), plan)
        d = float((plan * self.ground[via, np.arange(len(moved))]).sum())
        return d, float((mass * self.problem.cost).sum()), mass

    def _plan(self, h: np.ndarray) -> np.ndarray:
        """The cheapest transport, from few pairs; its duals show whether one is missing."""
        columns, rounding = self.columns, 1e-11 * (1 + np.abs(h))
        while True:
            program = {"A_eq": self.equal[:, columns], "b_eq": self.equal_to, "options": TOLERANCE}
            result = _solved(linprog(h[columns], **program, method="highs-ds"))
            reduced = h - self.equal.T @ result.eqlin.marginals
            missed = np.setdiff1d(np.flatnonzero(reduced < -rounding), columns)
            if not missed.size:
                break
            columns = np.union1d(columns, missed)
        plan = np.zeros(len(h))
        plan[columns] = np.maximum(result.x, 0)
        near = np.argsort(reduced, kind="stable")[: 2 * self.equal.shape[0]]
        self.columns = np.union1d(np.flatnonzero(plan), near)
        return plan


@lru_cache(16)
def _sums(x: int, y: int) -> tuple[sparse.sparray, sparse.sparray]:
    """(Y, XY) and (X, XY): said @ f is Q(y) = Σ_x f(x, y), spoken @ f is Σ_y f(x, y), for f of (X, Y) in a row."""
    said = sparse.kron(np.ones((1, x)), sparse.eye_array(y))
    return said, sparse.kron(sparse.eye_array(x), np.ones((1, y)))


def _best_targets(excess: np.ndarray) -> np.ndarray:
    """(X, Y) bool: the best targets of each source, of `Problem.excess`, ties up to rounding included."""
    least = excess.min(1, keepdims=True)
    # relative, for costs in any unit
    return excess <= least * (1 + SUMMED)


def _solved(result: OptimizeResult) -> OptimizeResult:
    if result.status != 0:
        raise AnhelpersError(f"HiGHS did not solve the linear program: {result.message}")
    return result
