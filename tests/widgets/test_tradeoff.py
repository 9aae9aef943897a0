"""What the A(N) explorer ships is what the curve has."""

import numpy as np
import pytest
import traitlets

from anhelpers.errors import DataError
from anhelpers.exact import Problem, solve_curve
from anhelpers.widgets import tradeoff
from anhelpers.widgets.tradeoff import tradeoff_explorer

SOURCES, TARGETS = ["he runs", "she ran"], ["läuft", "lief", "rannte"]


def world(n_sources, n_targets, seed=0):
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.ones(n_sources * n_targets) * 0.4).reshape(n_sources, n_targets)
    return Problem(joint, 1 - np.eye(n_targets), rng.dirichlet(np.ones(n_targets)))


@pytest.fixture(scope="module")
def curve():
    """On paper: both sources are certain, and R says the third target half of the time."""
    joint = [[0.75, 0, 0], [0, 0.25, 0]]
    return solve_curve(Problem(joint, 1 - np.eye(3), [0.25, 0.25, 0.5]), "tv")


def test_the_hand_worked_world(curve):
    widget = tradeoff_explorer(curve, SOURCES, TARGETS)
    assert (curve.naturalness.tolist(), curve.accuracy.tolist()) == ([-0.5, 0], [0, -0.5])
    assert repr(widget) == "TradeoffExplorer(N = -0.25, A(N) = -0.25, 2 sources, 3 columns)"
    accuracy, q = tradeoff._mixture(widget.data, -0.25)
    assert accuracy == pytest.approx(-0.25)
    assert q.ravel().tolist() == pytest.approx([2 / 3, 0, 1 / 3, 0, 1, 0], abs=1e-6)
    assert "66.7\u00a0%</td>" in widget.static_html()


def test_the_mixture_is_that_of_the_curve():
    for seed in range(8):
        solved = solve_curve(world(4, 5, seed), "tv")
        widget, rng = (
            tradeoff_explorer(solved, list("abcd"), list("vwxyz")),
            np.random.default_rng(seed),
        )
        inside = rng.uniform(solved.naturalness[0], solved.naturalness[-1], 20)
        for n in [*inside, *solved.naturalness]:
            accuracy, q = tradeoff._mixture(widget.data, n)
            assert accuracy == pytest.approx(solved.accuracy_at(n))
            assert q == pytest.approx(solved.translator_at(n), abs=2e-6)


def test_many_targets_become_others_and_nothing_is_lost():
    solved = solve_curve(world(3, 40), "tv")
    kept, q, r = tradeoff._columns(solved, 5)
    assert q.shape == (len(solved.beta), 3, 6)
    assert q.sum(axis=2) == pytest.approx(1, abs=1e-5)
    assert r.sum() == pytest.approx(1)
    marginals = np.einsum("x,vxy->vy", solved.problem.p_x, solved.translators)
    mass = np.maximum(marginals.max(axis=0), solved.problem.reference)
    assert mass[kept].min() >= np.delete(mass, kept).max()
    data = tradeoff_explorer(solved, list("abc"), [f"t{y}" for y in range(40)], show=5).data
    assert data["targets"] == [f"t{y}" for y in kept]
    assert data["others"] == 35
    kept, q, r = tradeoff._columns(solved, 40)
    assert (kept.tolist(), q.shape[2], len(r)) == (list(range(40)), 40, 40)


@pytest.mark.parametrize(
    "change",
    [{"sources": ["one"]}, {"start": -0.6}, {"start": 0.1}, {"start": np.nan}, {"show": 0}],
)
def test_input_that_does_not_fit_is_refused(curve, change):
    with pytest.raises(DataError):
        tradeoff_explorer(curve, **{"sources": SOURCES, "targets": TARGETS} | change)


def test_traits_refuse_what_is_undefined(curve):
    widget = tradeoff_explorer(curve, SOURCES, TARGETS, langs=("und", "pt_BR"))
    assert widget.data["langs"] == ["", "pt-BR"]
    with pytest.raises(DataError):
        widget.naturalness = 0.5
    with pytest.raises(traitlets.TraitError):
        widget.scale = "N"
    widget.naturalness = 1e-12  # rounding of a page
    assert widget.naturalness == 0


def test_a_curve_that_is_not_exact_says_so():
    pytest.importorskip("cvxpy", reason="needs anhelpers[theory]")
    solved = solve_curve(world(2, 3), "chi2")
    data = tradeoff_explorer(solved, ["a", "b"], list("xyz")).data
    assert not data["exact"]
    assert data["gap"] == solved.gap > 0
