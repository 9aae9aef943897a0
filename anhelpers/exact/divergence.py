"""Divergences D(Q, R) of the AN function, in the form that a solver needs.

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


def _held_range(name: str, values: np.ndarray) -> np.ndarray:
    """The same finite numbers, whose range must be a normal float64."""
    low, high = float(values.min()), float(values.max())
    if not (low == high or checks.LEAST_RANGE <= high - low < np.inf):
        raise DataError(f"{name}: the range {low:g} to {high:g} does not fit a float64. Scale it.")
    return values


@dataclass(frozen=True)
class _Polyhedron:
    """D(q, r) = min weights·u over u >= 0 with upper_q q + upper_u u <= upper and equal_q q + equal_u u = equal."""

    weights: np.ndarray
    upper_q: sparse.sparray
    upper_u: sparse.sparray
    upper: np.ndarray
    equal_q: sparse.sparray
    equal_u: sparse.sparray
    equal: np.ndarray


@dataclass(frozen=True)
class _Ball:
    """D(q, r) <= d as `expression` <= bound(d) under `constraints`; `slope` is the derivative of `bound`."""

    expression: Any
    constraints: list
    bound: Callable[[float], float] = lambda d: d
    slope: Callable[[float], float] = lambda d: 1.0


# r -> (root, price), (k, Y) and (Y,): D(q, r) is |root @ (q - r)|² + price @ q to second order, for q close to r.
Near = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Divergence:
    """A D(Q, R) with its name, and how a solver reads it.

    Parameters
    ----------
    name, label, unit : str
        "tv", "total variation", "probability".
    value : callable
        (q, r) -> D.
    convex : bool
        Whether D is convex in Q, as part 2 of Theorem 3.1 needs. If not, A(N) is still solved exactly if {D <= d} is a
        convex set, but need not be concave.
    polyhedron : callable, optional
        r -> Polyhedron.
    ground : callable, optional
        Y -> (Y, Y) cost of moving probability; then a step along the curve is a small transport problem.
    ball : callable, optional
        (cvxpy, q, r, there) -> Ball; `there` are the possible targets, q is 0 at the others.
    absolute : bool
        Whether D is infinite unless Q is absolutely continuous with respect to R.
    apart : array, optional
        (M, Y) matrix: D = 0 if and only if apart @ q = apart @ r (default: only if q = r).
    near : callable, optional
        Replaces `ball` if D is below a cone solver's tolerance; see `Near`.
    plain : callable, optional
        For a D in any unit: (Y,) typical probabilities -> the same D in units of their spread, which solvers read, and
        that spread in the unit of D.
    """

    name: str
    label: str
    unit: str
    value: Callable[[np.ndarray, np.ndarray], float] = field(repr=False)
    convex: bool = True
    polyhedron: Callable[[np.ndarray], _Polyhedron] | None = field(default=None, repr=False)
    ground: Callable[[int], np.ndarray] | None = field(default=None, repr=False)
    ball: Callable[..., _Ball] | None = field(default=None, repr=False)
    absolute: bool = False
    apart: np.ndarray | None = field(default=None, repr=False)
    near: Near | None = field(default=None, repr=False)
    plain: Callable[[np.ndarray], tuple[Divergence, float]] | None = field(default=None, repr=False)


def _divergence_of(divergence: str | Divergence) -> Divergence:
    """A Divergence by its name (one of NAMED), or as given."""
    if not isinstance(divergence, str):
        return divergence
    return NAMED[checks.one_of(divergence, NAMED, "divergence")]


def wasserstein_ball(ground: ArrayLike, unit: str = "unit of the ground cost") -> Divergence:
    """Wasserstein-1 as the constraint D(Q, R) <= d of `solve`.

    Parameters
    ----------
    ground : array_like
        (Y, Y) cost of moving a unit of probability, or (Y,) positions on a line.
    unit : str
        Of the cost.
    """
    shape = (None,) * min(2, max(1, np.ndim(ground)))
    ground = _held_range("ground", checks.finite("ground", ground, shape))
    ground = np.abs(ground[:, None] - ground) if ground.ndim == 1 else ground
    if ground.shape[0] != ground.shape[1] or ground.min() < 0 or np.diag(ground).any():
        raise DataError(f"ground must be (Y, Y), ≥ 0, with diagonal 0; got shape {ground.shape}.")

    def sized(n: int) -> np.ndarray:
        checks.same_length(ground=ground, targets=range(n))
        return ground

    def plain(typical: np.ndarray) -> tuple[Divergence, float]:
        spread = float(typical @ sized(len(typical)) @ typical) or 1.0
        return wasserstein_ball(ground / spread), spread

    value, polyhedron = partial(pmf.wasserstein, ground=ground), partial(_transport, sized)
    forms: dict[str, Any] = {"polyhedron": polyhedron, "ground": sized, "plain": plain}
    return Divergence("w1", "Wasserstein-1", unit, value, **forms)


def critic_ball(values: ArrayLike, unit: str = "unit of the critics") -> Divergence:
    """Mean over critics of |E_Q f - E_R f|, D_1 of AN eq. 4, as the constraint D(Q, R) <= d of `solve`.

    With the one critic f(y) = log-probability per token it is |LPP(Q) - LPP(R)| of AN §5.1.

    Parameters
    ----------
    values : array_like
        (K, Y) f(y) of each of K critics, or (Y,) of one.
    unit : str
        Of f.
    """
    values = checks.finite("values", np.atleast_2d(values), (None, None))
    values = _held_range("values", values)
    # D is independent of an offset, whose digits would be lost
    values = values - np.median(values, axis=1, keepdims=True)

    def plain(typical: np.ndarray) -> tuple[Divergence, float]:
        checks.same_length(critics=values.T, targets=typical)
        spread = float((np.abs(values - (values @ typical)[:, None]) @ typical).mean()) or 1.0
        return critic_ball(values / spread), spread

    label = f"mean over {len(values)} critic{'s' * (len(values) > 1)}"
    value, polyhedron = partial(critic_distance, critics=values), partial(_critics, values)
    return Divergence("critics", label, unit, value, polyhedron=polyhedron, plain=plain)


def renyi_ball(order: float) -> Divergence:
    """Rényi's divergence of this order as the constraint D(Q, R) <= d of `solve`.

    It is convex in Q for an order in (0, 1), but not above 1.
    """
    order = float(order)
    if not 0 < order < np.inf or order == 1:
        raise DataError(f"got order {order:g}, expected (0, 1) or above 1; order 1 is 'kl'.")
    value, ball = partial(pmf.renyi, order=order), partial(_renyi_cone, order=order)
    names = f"renyi{order:g}", f"Rényi of order {order:g}", "nats"
    near = partial(_curved, order / 2, order / (1 - order) if order < 1 else 0.0)
    return Divergence(*names, value, order < 1, ball=ball, absolute=order > 1, near=near)


def mmd_ball(kernel: ArrayLike) -> Divergence:
    """Squared maximum mean discrepancy as the constraint D(Q, R) <= d of `solve`.

    Parameters
    ----------
    kernel : array_like
        (Y, Y) symmetric, positive semidefinite.
    """
    kernel = _held_range("kernel", checks.symmetric("kernel", kernel))
    # D is independent of an offset, and of constants added to a row and its column
    kernel = kernel - kernel.min()
    mean = kernel.mean(0)
    kernel = kernel - mean[:, None] - mean + mean.mean()
    kernel = (kernel + kernel.T) / 2
    top = float(np.abs(kernel).max()) or 1.0
    values, vectors = np.linalg.eigh(kernel / top)
    if values[0] < -1e-9 * max(1.0, values[-1]):
        raise DataError(f"kernel: got eigenvalue {top * values[0]:.3g}, expected none below 0.")
    kept = values > 1e-12 * max(values[-1], 1e-300)
    root = np.sqrt(top) * np.sqrt(values[kept])[:, None] * vectors[:, kept].T

    def plain(typical: np.ndarray) -> tuple[Divergence, float]:
        checks.same_length(kernel=root.T, targets=typical)
        spread = float(((root - (root @ typical)[:, None]) ** 2 @ typical).sum()) or 1.0
        return mmd_ball(kernel / spread), spread

    value, ball = partial(pmf.mmd_squared, kernel=kernel), partial(_mmd_cone, root=root)
    near: Near = lambda r: (root, np.zeros(len(r)))  # noqa: E731
    names = "mmd2", "squared MMD", "unit of the kernel"
    return Divergence(*names, value, ball=ball, apart=root, near=near, plain=plain)


def _empty(n: int) -> sparse.sparray:
    return sparse.csr_array((0, n))


def _total_variation(r: np.ndarray) -> _Polyhedron:
    """u >= q - r, and D = Σ u: both sum to 1, so the excess over r equals the deficit."""
    n, one = len(r), sparse.eye_array(len(r), format="csr")
    return _Polyhedron(np.ones(n), one, -one, r, _empty(n), _empty(n), np.empty(0))


def _transport(sized: Callable[[int], np.ndarray], r: np.ndarray) -> _Polyhedron:
    """u(y, y') is moved from y to y': Σ_y' u(y, y') = q(y), Σ_y u(y, y') = r(y')."""
    n = len(r)
    leave = sparse.kron(sparse.eye_array(n), np.ones((1, n)))
    arrive = sparse.kron(np.ones((1, n)), sparse.eye_array(n))
    equal_q = sparse.vstack([-sparse.eye_array(n), sparse.csr_array((n, n))])
    equal = np.concatenate([np.zeros(n), r])
    upper, equal_u = (_empty(n), _empty(n * n), np.empty(0)), sparse.vstack([leave, arrive])
    return _Polyhedron(sized(n).ravel(), *upper, equal_q, equal_u, equal)


def _critics(values: np.ndarray, r: np.ndarray) -> _Polyhedron:
    """u_k >= ±(E_q f_k - E_r f_k), and D is their mean."""
    k, one = len(values), sparse.eye_array(len(values))
    both, mean = np.concatenate([values, -values]), values @ r
    upper = sparse.csr_array(both), sparse.vstack([-one, -one]), np.concatenate([mean, -mean])
    return _Polyhedron(np.full(k, 1 / k), *upper, _empty(len(r)), _empty(k), np.empty(0))


def _curved(half: float, price: float, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`Near` of an f-divergence: half · (q - r)² / r, and the price of targets with R = 0; 0 if that is infinite."""
    there = r > 0
    root = np.sqrt(half / r[there])[:, None] * np.eye(len(r))[there]
    return root, np.where(there, 0.0, price)


def _kl_cone(cp: Any, q: Any, r: np.ndarray, there: np.ndarray) -> _Ball:
    # each term is q log(q / r) - q + r, which is not negative
    unsaid = r.sum() - r[there].sum()
    return _Ball(cp.sum(cp.kl_div(q[there], r[there])) + unsaid, [])


def _chi_cone(cp: Any, q: Any, r: np.ndarray, there: np.ndarray) -> _Ball:
    unsaid = r.sum() - r[there].sum()  # (0 - r)² / r
    scaled = cp.multiply(q[there] - r[there], 1 / np.sqrt(r[there]))
    return _Ball(cp.sum_squares(scaled) + unsaid, [])


def _js_cone(cp: Any, q: Any, r: np.ndarray, there: np.ndarray) -> _Ball:
    # r log(r / (r / 2))
    q, r, unsaid = q[there], r[there], (r.sum() - r[there].sum()) * np.log(2)
    middle = (q + r) / 2
    return _Ball((cp.sum(cp.kl_div(q, middle)) + cp.sum(cp.kl_div(r, middle)) + unsaid) / 2, [])


def _mmd_cone(cp: Any, q: Any, r: np.ndarray, there: np.ndarray, *, root: np.ndarray) -> _Ball:
    return _Ball(cp.sum_squares(root @ (q - r)), [])


def _renyi_cone(cp: Any, q: Any, r: np.ndarray, there: np.ndarray, *, order: float) -> _Ball:
    """D <= d where (Σ q^a r^(1-a) - 1) / (a - 1) <= (e^((a-1)d) - 1) / (a - 1): each term is a power cone."""
    there = there[r[there] > 0]
    q, r, t = q[there], r[there], cp.Variable(len(there), nonneg=True)

    def bound(d: float) -> float:
        return np.expm1((order - 1) * d) / (order - 1)

    def slope(d: float) -> float:
        return np.exp((order - 1) * d)

    cone = (q, r, t) if order < 1 else (t, r, q)
    power = min(order, 1 / order)  # cvxpy needs a number for one triple
    alone = len(r) == 1
    triples = (*(side[0] for side in cone), power) if alone else (*cone, np.full(len(r), power))
    return _Ball((cp.sum(t) - 1) / (order - 1), [cp.constraints.PowCone3D(*triples)], bound, slope)


# solver forms of pmf.DIVERGENCES
_TV: Any = {"polyhedron": _total_variation, "ground": lambda n: 1 - np.eye(n)}
_KL: Any = {"ball": _kl_cone, "absolute": True, "near": partial(_curved, 1 / 2, 0.0)}
_JS: Any = {"ball": _js_cone, "near": partial(_curved, 1 / 8, np.log(2) / 2)}
_CHI: Any = {"ball": _chi_cone, "absolute": True, "near": partial(_curved, 1.0, 0.0)}
NAMED = {
    name: Divergence(name, label, unit, pmf.DIVERGENCES[name], **solver)
    for name, label, unit, solver in (
        ("tv", "total variation", "probability", _TV),
        ("kl", "Kullback-Leibler", "nats", _KL),
        ("js", "Jensen-Shannon", "nats", _JS),
        ("chi2", "χ²", "no unit", _CHI),
    )
}
