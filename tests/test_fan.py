"""The expected curve over subsets against all subsets, exact fractions, simulation, and the oracle curve itself."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from anhelpers.errors import DataError
from anhelpers.fan import expected_at, expected_curves, rank_weights
from anhelpers.frontier import oracle_curve

finite = st.floats(-1e6, 1e6, allow_nan=False, width=32)
small = st.integers(-4, 4).map(float)
# no binary fractions: equal slopes differ in the last bit
tenths = st.integers(-4, 4).map(lambda i: i * 0.1)


@st.composite
def problems(draw, score, most=6):
    counts = draw(st.lists(st.integers(1, most), min_size=1, max_size=4))
    n = sum(counts)
    segment = draw(st.permutations(np.repeat(np.arange(len(counts)), counts).tolist()))
    return np.array(segment), *(
        np.array(draw(st.lists(score, min_size=n, max_size=n))) for _ in range(2)
    )


anything = problems(finite) | problems(small) | problems(tenths)


def best(rows, accuracy, naturalness, beta):
    """The candidate that wins at β: exactly, of equals the more natural, then the more accurate."""
    if np.isinf(beta):
        return max(rows, key=lambda i: (naturalness[i], accuracy[i]))
    score = lambda i: Fraction(accuracy[i]) + Fraction(beta) * Fraction(naturalness[i])  # noqa: E731
    return max(rows, key=lambda i: (score(i), naturalness[i], accuracy[i]))


def by_all_subsets(problem, beta, k):
    """Per source, the mean accuracy and naturalness of the winners of all subsets of k (of fewer, if there are)."""
    segment, accuracy, naturalness = problem
    out = []
    for s in range(segment.max() + 1):
        rows = np.flatnonzero(segment == s)
        chosen = [
            best(c, accuracy, naturalness, beta) for c in combinations(rows, min(k, len(rows)))
        ]
        out.append((accuracy[chosen].mean(), naturalness[chosen].mean()))
    return np.array(out).T


def between(beta):
    """A β inside each step of the curve."""
    return np.append((beta[:-1] + beta[1:]) / 2, beta[-1] * 2 + 1)


@pytest.mark.verifies("Expected oracle curve for K candidates", by="property")
@given(anything)
@settings(max_examples=100)
def test_each_vertex_is_the_mean_over_all_subsets(problem):
    ks = np.arange(1, 7)
    fan = expected_curves(*problem, ks, cap=True)
    scale = 1e-12 * (1 + np.abs(problem[1:]).max())
    probes = [
        b
        for lo, hi, b in zip(fan.beta, [*fan.beta[1:], np.inf], between(fan.beta), strict=True)
        if lo < b < hi
    ]
    for beta in [0.0, *probes[:8], np.inf]:
        v = fan.vertex(beta)
        at = expected_at(*problem, [beta], ks, cap=True)
        for m, k in enumerate(ks):
            wanted = by_all_subsets(problem, beta, k)
            np.testing.assert_allclose(
                [fan.accuracy[v, m], fan.naturalness[v, m]], wanted.mean(1), atol=scale
            )
            if len(fan.beta) < 2 or beta == 0 or min(abs(fan.beta - beta)) > 1e-9 * beta:
                np.testing.assert_allclose(at[:, :, 0, m], wanted, atol=scale)


@pytest.mark.verifies("Expected oracle curve for K candidates", by="property")
@given(anything)
@settings(max_examples=100)
def test_with_all_candidates_it_is_the_oracle_curve(problem):
    most = int(np.bincount(problem[0]).max())
    fan, curve = expected_curves(*problem, [most], cap=True), oracle_curve(*problem)
    scale = 1e-12 * (1 + np.abs(problem[1:]).max())
    # of β within rounding one vertex is kept
    apart = np.append(np.diff(curve.beta) > 1e-14 * curve.beta[1:], True)
    assert len(fan.beta) == apart.sum()
    np.testing.assert_allclose(fan.beta, curve.beta[apart], rtol=1e-14)
    np.testing.assert_allclose(fan.accuracy[:, 0], curve.accuracy[apart], atol=scale)
    np.testing.assert_allclose(fan.naturalness[:, 0], curve.naturalness[apart], atol=scale)


@given(problems(small | finite), st.lists(st.integers(1, 3), min_size=24, max_size=24))
@settings(max_examples=100)
def test_counts_are_repeated_candidates(problem, counts):
    counts = np.array(counts[: len(problem[0])])
    repeated = [np.repeat(v, counts) for v in problem]
    one = expected_curves(*problem, [1, 2, 4], counts=counts, cap=True)
    other = expected_curves(*repeated, [1, 2, 4], cap=True)
    assert (one.accuracy == other.accuracy).all()
    assert (one.n_capped == other.n_capped).all()
    betas = [0, 1, np.inf]
    at = expected_at(*problem, betas, [1, 2, 4], counts=counts, cap=True)
    assert (at == expected_at(*repeated, betas, [1, 2, 4], cap=True)).all()


@given(problems(tenths, most=9))
@settings(max_examples=100)
def test_three_lines_through_one_point_leave_no_vertex_behind(problem):
    """Equal slopes of decimal fractions differ in the last bit, and between them ranks would be counted twice."""
    fan = expected_curves(*problem, [1, 2, 3, 9], cap=True)
    assert (fan.beta[1:] > fan.beta[:-1] * (1 + 1e-15)).all()
    for beta in between(fan.beta):
        at = expected_at(*problem, [beta], fan.ks, cap=True).mean(1)[:, 0]
        v = fan.vertex(beta)
        np.testing.assert_allclose([fan.accuracy[v], fan.naturalness[v]], at, atol=1e-13)


def test_weights_of_thousands_add_up():
    weights = rank_weights(5000, [1, 2, 70, 2500, 4999, 5000, 9999])
    np.testing.assert_allclose(weights.sum(0), 1, rtol=1e-12)
    j = 1 + np.arange(5000)
    np.testing.assert_allclose(
        weights.T @ j, 5001 / (np.array([1, 2, 70, 2500, 4999, 5000, 5000]) + 1), rtol=1e-11
    )
    assert (weights >= 0).all()


@pytest.mark.verifies("Expected oracle curve for K candidates", by="hand")
def test_a_three_number_example():
    fan = expected_curves([0, 0, 0], [80.0, 50, 60], [-4.0, -1, -2], [2])
    # pairs at β = 0: 80 of two pairs, 60 of one; at 10 all three meet; then 50 twice, 60 once
    assert fan.beta.tolist() == [0, 10]
    np.testing.assert_allclose(fan.accuracy[:, 0], [220 / 3, 160 / 3])
    np.testing.assert_allclose(fan.naturalness[:, 0], [-10 / 3, -4 / 3])
    np.testing.assert_allclose(
        fan.accuracy_at([-9, -10 / 3, -7 / 3])[0], [220 / 3, 220 / 3, 190 / 3]
    )
    assert np.isnan(fan.accuracy_at(-1)[0])
    assert fan.n_segments == 1
    assert fan.vertex(9.99) == 0
    assert fan.vertex(10) == fan.vertex(np.inf) == 1


def test_ends_of_floating_point():
    with pytest.raises(DataError):
        expected_curves([0, 0, 0], [1e300, 0, 1], [0, 5e-324, 0], [1, 2, 3])
    fan = expected_curves([0, 0, 0], [1e300, 0, 1], [0, 1e-5, 0], [1, 2, 3])
    assert fan.beta[-1] == pytest.approx(1e305)
    assert fan.accuracy[[0, -1], 2].tolist() == [1e300, 0]
    far = expected_at([0, 0, 0], [0, 1, 2], [3e300, 2e300, 1e300], [1e8, 1e250], [1, 3])
    assert far[1, 0] == pytest.approx(np.array([[2e300, 3e300]] * 2))
    assert len(expected_curves([0, 0], [1.0, 1.0], [2.0, 2.0], [1, 2]).beta) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"ks": [1, 3]},
        {"ks": [0, 1]},
        {"ks": [1.5]},
        {"ks": []},
        {"accuracy": [1, np.nan, 2, 3]},
        {"naturalness": [0, 0, 0]},
        {"segment": [0, 0, 0, 2]},
        {"segment": [], "accuracy": [], "naturalness": []},
        {"counts": [1, 1, 0, 1]},
        {"counts": [1, 1]},
    ],
)
def test_bad_input_is_refused(change):
    given_ = {
        "segment": [0, 0, 0, 1],
        "accuracy": [1, 2, 3, 4],
        "naturalness": [4, 3, 2, 1],
        "ks": [1],
    } | change
    for ask in (expected_curves, lambda **all_: expected_at(betas=[0], **all_)):
        with pytest.raises(DataError):
            ask(**given_)


def test_what_is_too_large_names_the_other_way():
    segment, scores = np.repeat(np.arange(2), 6000), np.arange(12000.0)
    with pytest.raises(DataError):
        expected_curves(segment, scores, -scores, [1, 2])
    with pytest.raises(DataError):
        expected_at(segment, scores, -scores, [-1.0], [1])


def test_a_short_source_gives_all_it_has():
    problem = np.array([0, 0, 0, 1]), np.array([1.0, 2, 3, 9]), np.zeros(4)
    fan = expected_curves(*problem, [1, 2, 3], cap=True)
    assert fan.n_capped.tolist() == [0, 1, 1]
    np.testing.assert_allclose(fan.accuracy[0], [(2 + 9) / 2, (8 / 3 + 9) / 2, (3 + 9) / 2])


@pytest.mark.verifies(
    "Expected oracle curve for K candidates", by="foreign", of="pass@k of Chen et al. 2021, scipy"
)
def test_of_right_and_wrong_candidates_the_best_of_k_is_the_published_pass_at_k():
    """Chen et al. 2021: of n candidates c are right; 1 − C(n − c, K) / C(n, K), by scipy's hypergeometric law."""
    n, right, ks = 20, (0, 1, 4, 20), [1, 2, 5, 19, 20]
    accuracy = np.concatenate([np.arange(n) < c for c in right]).astype(float)
    fan = expected_curves(np.repeat(np.arange(4), n), accuracy, np.zeros(4 * n), ks)
    wanted = [np.mean([1 - hypergeom.pmf(0, n, c, k) for c in right]) for k in ks]
    np.testing.assert_allclose(fan.accuracy[0], wanted, rtol=1e-12)
    # none of the j best is among the K
    none_better = hypergeom.pmf(0, n, np.arange(n + 1)[:, None], ks)
    np.testing.assert_allclose(rank_weights(n, ks), -np.diff(none_better, axis=0), atol=1e-13)
