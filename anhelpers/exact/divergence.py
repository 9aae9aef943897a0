"""The divergences D(Q, R) that the AN function can be solved for: how each is written for a solver.

A polyhedral one (total variation, Wasserstein-1, a mean over critics) is a linear program; a convex one goes to a cone
solver. All are written for the first slot, Q, with R fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .. import checks
from ..divergences import pmf
from ..divergences.critics import critic_distance
from ..errors import DataError


@dataclass(frozen=True)
class Polyhedron:
    """D(q, r) = min weights·u over u >= 0 with upper_q q + upper_u u <= upper and equal_q q + equal_u u = equal."""

    weights: np.ndarray
    upper_q: sparse.sparray
    upper_u: sparse.sparray
    upper: np.ndarray
    equal_q: sparse.sparray
    equal_u: sparse.sparray
    equal: np.ndarray


@dataclass(frozen=True)
class Ball:
    """D(q, r) <= d as `expression` <= bound(d) under `constraints`; `slope` is the derivative of `bound`."""

    expression: Any
    constraints: list
    bound: Callable[[float], float] = lambda d: d
    slope: Callable[[float], float] = lambda d: 1.0


Near = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""r -> (root, price), (k, Y) and (Y,): D(q, r) is |root @ (q - r)|² + price @ q to second order, for q close to r."""


@dataclass(frozen=True)
class Divergence:
    """A D(Q, R) with its name, and how a solver reads it.

    Parameters
    ----------
    name, label, unit : "tv", "total variation", "probability".
    value : (q, r) -> D.
    convex : whether D is convex in Q, which is what part 2 of Theorem 3.1 asks. Where it is not, A(N) is still solved
        exactly if {D <= d} is a convex set, but need not be concave.
    polyhedron : r -> Polyhedron, or None.
    ground : Y -> (Y, Y) cost of moving probability, or None. Where there is one, a step along the curve is a small
        transport problem.
    ball : (cvxpy, q, r, there) -> Ball, or None; `there` are the targets that can be said, q is 0 at the others.
    absolute : Q must be absolutely continuous with respect to R: D is infinite where Q says what R never says.
    apart : (M, Y) matrix, D = 0 exactly where apart @ q = apart @ r; None: only where q = r.
    near : what takes the place of `ball` where D is so small that a cone solver's tolerance would decide; see `Near`.
    plain : for a D in any unit: (Y,) typical probabilities -> the same D with their spread as its unit, and that spread
        in the unit of D. Solvers see the plain one only; None: D has a size of its own.
    """

    name: str
    label: str
    unit: str
    value: Callable[[np.ndarray, np.ndarray], float] = field(repr=False)
    convex: bool = True
    polyhedron: Callable[[np.ndarray], Polyhedron] | None = field(default=None, repr=False)
    ground: Callable[[int], np.ndarray] | None = field(default=None, repr=False)
    ball: Callable[[Any, Any, np.ndarray, np.ndarray], Ball] | None = field(
        default=None, repr=False
    )
    absolute: bool = False
    apart: np.ndarray | None = field(default=None, repr=False)
    near: Near | None = field(default=None, repr=False)
    plain: Callable[[np.ndarray], tuple[Divergence, float]] | None = field(default=None, repr=False)


def divergence_of(divergence: str | Divergence) -> Divergence:
    """A Divergence by its name (one of NAMED), or as it is."""
    return (
        NAMED[checks.one_of(divergence, NAMED, "divergence")]
        if isinstance(divergence, str)
        else divergence
    )


def wasserstein_ball(ground: ArrayLike, unit: str = "unit of the ground cost") -> Divergence:
    """Wasserstein-1 as the constraint D(Q, R) <= d of `solve`: the cheapest way to turn Q into R.

    Parameters
    ----------
    ground : (Y, Y) cost of moving a unit of probability, or (Y,) positions on a line. unit : of the cost.
    """
    flat = np.ndim(ground) == 1
    ground = checks.held_range(
        "ground", checks.finite("ground", ground, (None,) if flat else (None, None))
    )
    ground = np.abs(ground[:, None] - ground) if flat else ground
    if ground.shape[0] != ground.shape[1] or ground.min() < 0:
        raise DataError(
            f"a ground cost is (Y, Y) and not negative, got shape {ground.shape}, from "
            f"{ground.min():g} on."
        )
    if np.diag(ground).any():
        raise DataError("moving nothing costs nothing: the diagonal of a ground cost must be 0.")

    def sized(n: int) -> np.ndarray:
        if len(ground) != n:
            raise DataError(f"the ground cost is for {len(ground)} targets, the world has {n}.")
        return ground

    def plain(typical: np.ndarray) -> tuple[Divergence, float]:
        spread = float(typical @ sized(len(typical)) @ typical) or 1.0
        return wasserstein_ball(ground / spread), spread

    value, polyhedron = partial(pmf.wasserstein, ground=ground), partial(_transport, sized)
    return Divergence(
        "w1", "Wasserstein-1", unit, value, polyhedron=polyhedron, ground=sized, plain=plain
    )


def critic_ball(values: ArrayLike, unit: str = "unit of the critics") -> Divergence:
    """The mean over critics of |E_Q f - E_R f|, D_1 of AN eq. 4, as the constraint D(Q, R) <= d of `solve`.

    With the one critic f(y) = log-probability per token it is |LPP(Q) - LPP(R)| of AN §5.1.

    Parameters
    ----------
    values : (K, Y) f(y) of each of K critics, or (Y,) of one. unit : of f.
    """
    values = checks.held_range(
        "values", checks.finite("values", np.atleast_2d(values), (None, None))
    )
    # D knows no offset, and its digits would be lost
    values = values - np.median(values, axis=1, keepdims=True)

    def plain(typical: np.ndarray) -> tuple[Divergence, float]:
        _of_the_world(values, typical)
        spread = float((np.abs(values - (values @ typical)[:, None]) @ typical).mean()) or 1.0
        return critic_ball(values / spread), spread

    return Divergence(
        "critics",
        f"mean over {len(values)} critic{'s' * (len(values) > 1)}",
        unit,
        partial(critic_distance, critics=values),
        polyhedron=partial(_critics, values),
        plain=plain,
    )


def renyi_ball(order: float) -> Divergence:
    """Rényi's divergence of this order as the constraint D(Q, R) <= d of `solve`.

    It is convex in Q for an order in (0, 1); above 1 it is not, and the result says so.
    """
    order = float(order)
    if not 0 < order < np.inf or order == 1:
        raise DataError(
            f"Rényi's order must be in (0, 1) or above 1, got {order:g}; order 1 is 'kl'."
        )
    value, ball = partial(pmf.renyi, order=order), partial(_renyi_cone, order=order)
    names = f"renyi{order:g}", f"Rényi of order {order:g}", "nats"
    near = partial(_curved, order / 2, order / (1 - order) if order < 1 else 0.0)
    return Divergence(*names, value, order < 1, ball=ball, absolute=order > 1, near=near)


def mmd_ball(kernel: ArrayLike) -> Divergence:
    """Squared maximum mean discrepancy as the constraint D(Q, R) <= d of `solve`.

    Parameters
    ----------
    kernel : (Y, Y) matrix, symmetric and positive semidefinite.
    """
    kernel = checks.held_range("kernel", checks.symmetric("kernel", kernel))
    kernel = kernel - kernel.min()  # D knows no offset, nor what is added to a row and its column
    mean = kernel.mean(0)
    kernel = kernel - mean[:, None] - mean + mean.mean()
    kernel = (kernel + kernel.T) / 2
    top = float(np.abs(kernel).max()) or 1.0
    values, vectors = np.linalg.eigh(kernel / top)
    if values[0] < -1e-9 * max(1.0, values[-1]):
        low = top * values[0]
        raise DataError(
            f"the kernel has the eigenvalue {low:.3g}: with it D is not convex; use one without."
        )
    kept = values > 1e-12 * max(values[-1], 1e-300)
    root = np.sqrt(top) * np.sqrt(values[kept])[:, None] * vectors[:, kept].T

    def plain(typical: np.ndarray) -> tuple[Divergence, float]:
        _of_the_world(root, typical, "the kernel is for")
        spread = float(((root - (root @ typical)[:, None]) ** 2 @ typical).sum()) or 1.0
        return mmd_ball(kernel / spread), spread

    return Divergence(
        "mmd2",
        "squared MMD",
        "unit of the kernel",
        partial(pmf.mmd_squared, kernel=kernel),
        ball=partial(_mmd_cone, root=root),
        apart=root,
        near=lambda r: (root, np.zeros(len(r))),
        plain=plain,
    )


def _of_the_world(values: np.ndarray, typical: np.ndarray, say: str = "the critics score") -> None:
    """A DataError where the columns of values are not the targets of the world."""
    if values.shape[1] != len(typical):
        raise DataError(f"{say} {values.shape[1]} targets, the world has {len(typical)}.")


def _empty(n: int) -> sparse.sparray:
    return sparse.csr_array((0, n))


def _total_variation(r: np.ndarray) -> Polyhedron:
    """u >= q - r, and D = Σ u: both sum to 1, so what lies above r equals what lies below."""
    n, one = len(r), sparse.eye_array(len(r), format="csr")
    return Polyhedron(np.ones(n), one, -one, r, _empty(n), _empty(n), np.empty(0))


def _transport(sized: Callable[[int], np.ndarray], r: np.ndarray) -> Polyhedron:
    """u(y, y') is moved from y to y': Σ_y' u(y, y') = q(y), Σ_y u(y, y') = r(y')."""
    n = len(r)
    leave = sparse.kron(sparse.eye_array(n), np.ones((1, n)))
    arrive = sparse.kron(np.ones((1, n)), sparse.eye_array(n))
    equal_q = sparse.vstack([-sparse.eye_array(n), sparse.csr_array((n, n))])
    equal = np.concatenate([np.zeros(n), r])
    return Polyhedron(
        sized(n).ravel(),
        _empty(n),
        _empty(n * n),
        np.empty(0),
        equal_q,
        sparse.vstack([leave, arrive]),
        equal,
    )


def _critics(values: np.ndarray, r: np.ndarray) -> Polyhedron:
    """u_k >= ±(E_q f_k - E_r f_k), and D is their mean."""
    k, one = len(values), sparse.eye_array(len(values))
    both, mean = np.concatenate([values, -values]), values @ r
    upper = np.concatenate([mean, -mean])
    none = _empty(len(r)), _empty(k), np.empty(0)
    return Polyhedron(
        np.full(k, 1 / k), sparse.csr_array(both), sparse.vstack([-one, -one]), upper, *none
    )


def _curved(half: float, price: float, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`Near` of an f-divergence: half · (q - r)² / r, and the price of what R never says; 0 where that is infinite."""
    there = r > 0
    root = np.sqrt(half / r[there])[:, None] * np.eye(len(r))[there]
    return root, np.where(there, 0.0, price)


def _kl_cone(cp: Any, q: Any, r: np.ndarray, there: np.ndarray) -> Ball:
    unsaid = r.sum() - r[there].sum()  # each term is q log(q / r) - q + r, which is not negative
    return Ball(cp.sum(cp.kl_div(q[there], r[there])) + unsaid, [])


def _chi_cone(cp: Any, q: Any, r: np.ndarray, there: np.ndarray) -> Ball:
    unsaid = r.sum() - r[there].sum()  # (0 - r)² / r
    return Ball(
        cp.sum_squares(cp.multiply(q[there] - r[there], 1 / np.sqrt(r[there]))) + unsaid, []
    )


def _js_cone(cp: Any, q: Any, r: np.ndarray, there: np.ndarray) -> Ball:
    q, r, unsaid = q[there], r[there], (r.sum() - r[there].sum()) * np.log(2)  # r log(r / (r / 2))
    middle = (q + r) / 2
    return Ball((cp.sum(cp.kl_div(q, middle)) + cp.sum(cp.kl_div(r, middle)) + unsaid) / 2, [])


def _mmd_cone(cp: Any, q: Any, r: np.ndarray, there: np.ndarray, *, root: np.ndarray) -> Ball:
    return Ball(cp.sum_squares(root @ (q - r)), [])


def _renyi_cone(cp: Any, q: Any, r: np.ndarray, there: np.ndarray, *, order: float) -> Ball:
    """D <= d where (Σ q^a r^(1-a) - 1) / (a - 1) <= (e^((a-1)d) - 1) / (a - 1): each term is a power cone."""
    there = there[r[there] > 0]
    q, r, t = q[there], r[there], cp.Variable(len(there), nonneg=True)

    def bound(d: float) -> float:
        return np.expm1((order - 1) * d) / (order - 1)

    def slope(d: float) -> float:
        return np.exp((order - 1) * d)

    cone = (q, r, t) if order < 1 else (t, r, q)
    power = min(order, 1 / order)  # of one triple a number, as cvxpy wants it
    triples = (
        (*cone, np.full(len(r), power)) if len(r) > 1 else (*(side[0] for side in cone), power)
    )
    return Ball((cp.sum(t) - 1) / (order - 1), [cp.constraints.PowCone3D(*triples)], bound, slope)


_READ: dict[str, dict[str, Any]] = {  # how a solver reads those of pmf.DIVERGENCES
    "tv": {"polyhedron": _total_variation, "ground": lambda n: 1 - np.eye(n)},
    "kl": {"ball": _kl_cone, "absolute": True, "near": partial(_curved, 1 / 2, 0.0)},
    "js": {"ball": _js_cone, "near": partial(_curved, 1 / 8, np.log(2) / 2)},
    "chi2": {"ball": _chi_cone, "absolute": True, "near": partial(_curved, 1.0, 0.0)},
}
NAMED = {
    name: Divergence(name, d.label, d.unit or "no unit", d.value, **_READ[name])
    for name, d in pmf.DIVERGENCES.items()
}
