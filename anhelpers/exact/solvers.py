"""A(N) by linear programs for a polyhedral D, and by cone programs for another convex D.

For a polyhedral D: a linear program for one N, and every vertex of the whole curve.

For a weight β the Lagrangian -A(Q) + β D(Q, R) has a vertex of the curve as its solution. Two known vertices give the
slope of the line between them; the Lagrangian at that slope either finds a vertex above the line or proves that there
is none. So a curve of V vertices takes about 2V small programs, and no grid (Eisner and Severance 1976).

Costs and D come in units of their own size (`solve._plain_world`): tolerances here are absolute.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from heapq import heappop, heappush
from itertools import count
from typing import Any
from warnings import catch_warnings

import numpy as np
from scipy import sparse
from scipy.optimize import OptimizeResult, linprog

from ..divergences.pmf import TOLERANCE
from ..errors import AnhelpersError, need
from .divergence import Divergence, _Ball, _Polyhedron
from .problem import SLACK, SUMMED, Problem, _Solution

# (tolerance, step towards the cones' boundary) for Clarabel; its defaults are the second.
_TRIES = ((1e-9, 0.99), (1e-8, 0.99), (1e-8, 0.8), (1e-7, 0.5), (1e-6, 0.5))
# D below which `_near` is tried too: there the two agree to 1e-6 of the range of A
_NEAR = 2e-5
# D below which only `_near` is used: the tolerance of the cone program is as large as D
_CLOSE = 1e-8
# cost from which targets with R = 0 are excluded: their share would be below 1e-8
_NEVER = 1e8
_UNHEARD = 1e-28  # the D of rounding of the probabilities alone
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
        program = {"A_eq": self.equal, "b_eq": self.equal_to, "options": TOLERANCE}
        result = _solved(linprog(h.ravel(), **program, method="highs-ds"))
        plan = np.maximum(result.x, 0).reshape(h.shape)
        mass = np.zeros_like(plan)
        np.add.at(mass, (np.broadcast_to(rows, via.shape), via), plan)
        d = float((plan * self.ground[via, np.arange(len(moved))]).sum())
        return d, float((mass * self.problem.cost).sum()), mass


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


# ---- convex D: a cone program for one N, and the curve between its tangents


def _cone_solver(
    problem: Problem, divergence: Divergence
) -> Callable[[float], tuple[np.ndarray, float, float]]:
    """A function limit -> (mass, β, D) that reuses one compiled cone program; ∞ returns the most natural of the best.

    If D is infinite outside R's support, targets with R = 0 are excluded. Costs and D are in units of their own size:
    the tolerances are absolute.
    """
    cp = need("cvxpy", f"the exact curve for {divergence.label}")
    r = problem.reference
    cells = np.broadcast_to(r > 0 if divergence.absolute else True, problem.cost.shape)
    cells = cells & ((problem.cost < _NEVER) | (r > 0))
    mass, ball, rows = _mass(cp, problem, divergence, cells)
    same = problem.p_x[:, None] * r
    # so that a small D is as exact as a large one
    scale = cp.Parameter(nonneg=True)
    within = scale * ball.expression <= 1
    program = cp.Problem(cp.Minimize(problem.cost[cells] @ mass), [within, *rows])

    def far(limit: float) -> tuple[np.ndarray, float, float]:
        scale.value = 1 / float(ball.bound(limit))
        _run(program)
        beta = max(0.0, float(np.squeeze(within.dual_value)))
        beta = beta * scale.value * float(ball.slope(limit))
        found, d = _inside(problem, divergence, _cleaned(mass.value, cells, problem), same, limit)
        return found, beta, d

    def at(limit: float) -> tuple[np.ndarray, float, float]:
        if limit == np.inf:
            found = _most_natural_of_the_best(cp, problem, divergence, cells)
            return found, 0.0, _distance(problem, divergence, found)
        if limit == 0:
            found = _equal(problem, divergence)
            return found, np.inf, _distance(problem, divergence, found)
        if limit >= _NEAR:
            return far(limit)
        if limit < _CLOSE:
            return _near(cp, problem, divergence, cells, limit)
        tried = []
        for solve in (far, partial(_near, cp, problem, divergence, cells)):
            with suppress(AnhelpersError):
                tried.append(solve(limit))
        if not tried:
            return far(limit)
        return min(tried, key=lambda found: float((problem.cost * found[0]).sum()))

    return at


def _equal(problem: Problem, divergence: Divergence) -> np.ndarray:
    apart = np.eye(len(problem.reference)) if divergence.apart is None else divergence.apart
    return _solve_equal(problem, apart)


def _near(
    cp: Any, problem: Problem, divergence: Divergence, cells: np.ndarray, limit: float
) -> tuple[np.ndarray, float, float]:
    """(mass, β, D) for a D next to 0: a step of size √D from the best translator with D = 0.

    In units of that step D is a sum of squares of size 1, far above the tolerances. Targets with R = 0 add D itself and
    no square: their step is D.
    """
    root, price = divergence.near(problem.reference)  # type: ignore[misc]  # all that have a ball have it
    start, size = _equal(problem, divergence), np.sqrt(limit)
    (said, spoken), new = _cell_sums(cells), price[np.nonzero(cells)[1]]
    step = np.where(new > 0, limit, size)
    there = start[cells]
    length = cp.Variable(len(step))
    moved = cp.multiply(step / size, length)
    within = cp.sum_squares(root @ (said @ moved)) + new @ length <= 1
    # no step is that long
    rows = [spoken @ moved == 0, length >= -np.minimum(there / step, 1e6)]
    program = cp.Problem(cp.Minimize(problem.cost[cells] @ moved), [within, *rows])
    _run(program)
    if new.any() and program.value > -1e-6:
        raise AnhelpersError(f"D ≤ {limit:.3g} is too close to 0. Use N = 0 or N <= {-_CLOSE:g}.")
    beta = max(0.0, float(np.squeeze(within.dual_value))) / size
    if limit < _UNHEARD:
        return start, beta, limit
    share = 1.0
    # D is not quite that sum: find the step with the wanted D
    for _ in range(4):
        moved = np.where(new > 0, share, 1.0) * share * step * length.value
        found = _cleaned(there + moved, cells, problem)
        d = _distance(problem, divergence, found, limit)
        share *= np.sqrt(limit / d) if d else 1.0
    found, d = _inside(problem, divergence, found, start, limit)
    return found, beta, d


def _inside(
    problem: Problem, divergence: Divergence, mass: np.ndarray, same: np.ndarray, limit: float
) -> tuple[np.ndarray, float]:
    """(mass, D), moved towards `same`, with D = 0, until rounding does not break the constraint."""
    found, share = mass, 1e-10
    while (d := _distance(problem, divergence, found, limit)) > limit and share < 0.1:
        found = (1 - share) * mass + share * same
        share *= 1.5
    return found, d


def _distance(
    problem: Problem, divergence: Divergence, mass: np.ndarray, limit: float = np.inf
) -> float:
    """D of the marginal; next to 0 to second order, for the exact formula subtracts numbers near 1."""
    q, r = mass.sum(0) / mass.sum(), problem.reference
    if limit >= 1e-12:
        return float(divergence.value(q, r))
    root, price = divergence.near(r)  # type: ignore[misc]  # all that have a ball have it
    return float(((root @ (q - r)) ** 2).sum() + price @ q)


def _cell_sums(cells: np.ndarray) -> tuple[sparse.sparray, sparse.sparray]:
    """(Y, n) and (X, n): said @ f is Q(y), spoken @ f is Σ_y f(x, y), for f of the n allowed cells."""
    (x, y), n = np.nonzero(cells), int(cells.sum())
    each = np.ones(n), np.arange(n)
    said = sparse.csr_array((each[0], (y, each[1])), shape=(cells.shape[1], n))
    return said, sparse.csr_array((each[0], (x, each[1])), shape=(cells.shape[0], n))


def _mass(
    cp: Any, problem: Problem, divergence: Divergence, cells: np.ndarray
) -> tuple[Any, _Ball, list]:
    """The variable mass f(x, y) of the allowed cells, the ball of D, and the constraints Σ_y f(x, y) = P(x)."""
    said, spoken = _cell_sums(cells)
    mass, there = cp.Variable(said.shape[1], nonneg=True), np.flatnonzero(cells.any(0))
    ball = divergence.ball(cp, said @ mass, problem.reference, there)  # type: ignore[misc]  # `solve` asks first
    return mass, ball, [spoken @ mass == problem.p_x, *ball.constraints]


def _most_natural_of_the_best(
    cp: Any, problem: Problem, divergence: Divergence, cells: np.ndarray
) -> np.ndarray:
    best = cells & _best_targets(np.where(cells, problem.cost, np.inf))
    # no choice, or no relevant one
    if (best.sum(1) == 1).all() or not (best & (problem.reference > 0)).any():
        return problem.p_x[:, None] * best / best.sum(1, keepdims=True)
    # one of them has D = 0 exactly
    if not ((equal := _equal(problem, divergence)) * ~best).any():
        return equal
    mass, ball, rows = _mass(cp, problem, divergence, best)
    _run(cp.Problem(cp.Minimize(ball.expression), rows))
    return _cleaned(mass.value, best, problem)


def _refine(
    first: _Solution, last: _Solution, at: Callable[[float], _Solution], tolerance: float
) -> tuple[list[_Solution], float]:
    """(points, gap): add points at the largest gap, until gap <= tolerance or there are 80.

    Parameters
    ----------
    first, last : _Solution
        The ends, the most accurate and the most natural translator.
    at : callable
        N -> the best translator there.
    """
    order, stuck = count(), 0.0  # the count decides between equal gaps
    done, todo = [first, last], [(-_gap(first, last), next(order), first, last)]
    while todo and -todo[0][0] > tolerance and len(done) < 80:
        gap, _, left, right = heappop(todo)
        middle = _between(left, right, at)
        if middle is None:  # this piece remains, with its gap
            stuck = max(stuck, -gap)
            continue
        done.append(middle)
        for a, b in ((left, middle), (middle, right)):
            heappush(todo, (-_gap(a, b), next(order), a, b))
    return sorted(done, key=lambda s: s.naturalness), max(stuck, -todo[0][0] if todo else 0.0)


def _between(
    left: _Solution, right: _Solution, at: Callable[[float], _Solution]
) -> _Solution | None:
    """The best translator somewhere between two, or None if three places fail: too close to D = 0."""
    # vertical ends bend most there
    for share in (0.75, 0.6, 0.85) if np.isinf(right.beta) else (0.5, 0.4, 0.6):
        with suppress(AnhelpersError):
            return at(left.naturalness + share * (right.naturalness - left.naturalness))
    return None


def _gap(left: _Solution, right: _Solution) -> float:
    """Largest height of the concave curve above the chord of two points: where their tangents meet."""
    width = right.naturalness - left.naturalness
    if width <= 0:
        return 0.0
    chord = (left.accuracy - right.accuracy) / width
    if not left.beta < chord < right.beta:
        return 0.0
    if np.isinf(right.beta):
        return (chord - left.beta) * width
    return (chord - left.beta) * (width * (right.beta - chord) / (right.beta - left.beta))


def _run(program: Any) -> None:
    """Solve it by Clarabel, if necessary with larger tolerances."""
    cp = need("cvxpy", "a convex program")
    for tolerance, step in _TRIES:
        exactness = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
        with suppress(cp.error.SolverError), catch_warnings(action="ignore"):
            program.solve(solver="CLARABEL", **exactness, max_step_fraction=step)
            if program.status == "optimal":
                return
    raise AnhelpersError(f"Clarabel failed ({program.status}). Use a lower naturalness.")


def _cleaned(mass: np.ndarray, cells: np.ndarray, problem: Problem) -> np.ndarray:
    """(X, Y) mass of the n allowed cells without rounding: no negative entry, rows that sum to P(x)."""
    found = np.zeros(cells.shape)
    found[cells] = np.maximum(mass, 0)
    # a source rarer than the solver's tolerance
    silent = found.sum(1) == 0
    found[silent] = _best_targets(np.where(cells, problem.cost, np.inf))[silent]
    return found / found.sum(1, keepdims=True) * problem.p_x[:, None]
