from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from scipy.spatial.distance import cdist, pdist

from anhelpers.divergences import pmf, samples
from anhelpers.divergences.mmd import _labels, linear, median_bandwidth, mmd2, permutation_test, rbf
from anhelpers.divergences.samples import _pair_interval
from anhelpers.errors import DataError

KERNELS = [rbf(1.3), linear()]


def in_tiles(block, function, *given):
    """The result with tiles of so many rows and columns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samples, "_BLOCK", block)
        return function(*given)


def seeded(seed=0):
    return np.random.default_rng(seed)


def matrix(kernel, x, y):
    """The definition, one pair at a time, in float64."""
    similarity = {
        "rbf": lambda a, b: np.exp(-((a - b) ** 2).sum() / (2 * kernel.bandwidth**2)),
        "linear": lambda a, b: a @ b,
    }[kernel.name]
    return np.array([[similarity(a, b) for b in y.astype(float)] for a in x.astype(float)])


def centred(c, n, inside):
    """(N, M) C less what either point says by itself; inside a sample, pairs of a point with itself do not count."""
    if not inside:
        return c - c.mean(1, keepdims=True) - c.mean(0) + c.mean()
    rows = c.sum(1)
    out = c - (rows[:, None] + rows) / (n - 2) + c.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(out, 0)
    return out


def by_definition(kernel, x, y):
    """MMD² and its standard error from the full matrices."""
    n, m = len(x), len(y)
    xx, yy, xy = matrix(kernel, x, x), matrix(kernel, y, y), matrix(kernel, x, y)
    np.fill_diagonal(xx, 0)
    np.fill_diagonal(yy, 0)
    a = xx.sum(1) / (n - 1) - xy.mean(1)
    b = yy.sum(1) / (m - 1) - xy.mean(0)
    value = xx.sum() / (n * (n - 1)) + yy.sum() / (m * (m - 1)) - 2 * xy.mean()
    if min(n, m) < 4:
        return value, np.nan
    linear = 4 * (a.var(ddof=1) / n + b.var(ddof=1) / m)
    second = sum(
        2 / (k * (k - 1)) * (centred(c, k, True) ** 2).sum() / (k * (k - 3))
        for c, k in ((xx, n), (yy, m))
    ) + 4 / (n * m) * (centred(xy, n, False) ** 2).sum() / ((n - 1) * (m - 1))
    second = max(0, second)
    return value, np.sqrt(max(linear - second, second))


# --- kernels -------------------------------------------------------------------------------------------------------


@pytest.mark.verifies("Kernels of vectors", by="property")
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_kernels_are_their_formulas_also_far_from_the_origin(kernel):
    x, y = seeded(1).normal(size=(5, 3)), seeded(2).normal(size=(4, 3))
    np.testing.assert_allclose(kernel.matrix(x, y), matrix(kernel, x, y), rtol=1e-13, atol=1e-15)
    if kernel.name != "linear":
        np.testing.assert_allclose(kernel.matrix(x + 1e4, y + 1e4), kernel.matrix(x, y), rtol=1e-10)


def test_a_kernel_tells_its_name_and_bandwidth():
    assert [k.signature for k in KERNELS] == ["rbf|bandwidth:1.3", "linear"]
    for bad in (0, -1, np.nan, np.inf):
        with pytest.raises(DataError):
            rbf(bad)


@pytest.mark.verifies("Median bandwidth", by="hand")
def test_the_median_bandwidth_is_the_median_distance():
    x, y = np.array([[0.0], [1.0]]), np.array([[3.0], [7.0]])  # distances 1 2 3 4 6 7
    assert median_bandwidth(x, y, seeded()) == 3.5
    many = seeded(1).normal(size=(3000, 2))
    assert median_bandwidth(many, many, seeded(2), n=500) == median_bandwidth(
        many, many, seeded(2), n=500
    )
    assert median_bandwidth(many, many, seeded(3), n=800) == pytest.approx(
        np.sqrt(4 * np.log(2)), rel=0.05
    )
    with pytest.raises(DataError):
        median_bandwidth(np.zeros((5, 2)), np.ones((1, 2)), seeded())
    thin = sparse.csr_array(x)
    for call in (
        lambda: median_bandwidth([0.0, 1.0], [3.0], seeded()),
        lambda: median_bandwidth(thin, thin, seeded()),
        lambda: linear().matrix(thin, y),
        lambda: rbf(1.0).matrix([0.0, 1.0], [3.0]),
    ):
        with pytest.raises(DataError):
            call()


# --- the estimate --------------------------------------------------------------------------------------------------


@pytest.mark.verifies("MMD² of two samples", "Kernels of vectors", by="hand")
def test_two_and_two_points_by_hand():
    x, y = np.array([[0.0], [2.0]]), np.array([[1.0], [1.0]])
    k1, k2 = np.exp(-0.5), np.exp(-2.0)  # distances 1 and 2
    assert mmd2(x, y, rbf(1)).value == pytest.approx(k2 + 1 - 2 * k1, rel=1e-14)
    assert mmd2(x, y, linear()).value == 0 * 2 + 1 * 1 - 2 * 1


@pytest.mark.verifies("MMD² of two samples", by="property")
@given(
    st.sampled_from(KERNELS),
    st.integers(2, 23),
    st.integers(2, 19),
    st.integers(1, 4),
    st.integers(1, 9),
    st.integers(0, 10**6),
)
def test_float64_is_the_definition_in_tiles_of_any_size(kernel, n, m, d, block, seed):
    rng = seeded(seed)
    x, y = rng.normal(size=(n, d)), rng.normal(0.3, 1, size=(m, d))
    value, se = by_definition(kernel, x, y)
    estimate = in_tiles(block, mmd2, x, y, kernel)
    assert estimate.value == pytest.approx(value, rel=1e-11, abs=1e-13)
    assert estimate.se == pytest.approx(se, rel=1e-6, abs=1e-9, nan_ok=True)
    assert (estimate.n_q, estimate.n_r, estimate.bias) == (n, m, "unbiased")


@given(
    st.integers(2, 60),
    st.integers(2, 50),
    st.integers(1, 40),
    st.integers(0, 10**6),
    st.floats(0.1, 30),
)
def test_float32_is_the_definition_to_what_float32_holds(n, m, block, seed, bandwidth):
    rng = seeded(seed)
    x, y = (rng.normal(size=(k, 3)).astype(np.float32) for k in (n, m))
    value, se = by_definition(rbf(bandwidth), x, y)
    estimate = in_tiles(block, mmd2, x, y, rbf(bandwidth))
    rounding = 1.5e-6 * (1 + max((x**2).sum(1).max(), (y**2).sum(1).max()) / bandwidth**2)
    assert estimate.value == pytest.approx(value, abs=rounding)
    assert estimate.se == pytest.approx(se, abs=10 * rounding, nan_ok=True)
    assert estimate.signature == f"rbf|bandwidth:{bandwidth:.6g}|U-statistic|float32"


def test_float32_agrees_to_1e_6_of_a_small_value():
    rng = seeded(0)
    x, y = rng.normal(size=(1500, 96)), rng.normal(size=(1400, 96))
    y[:, 0] += 0.5
    x, y = (v.astype(np.float32) / np.float32(10) for v in (x, y))
    exact = mmd2(x.astype(float), y.astype(float), rbf(1.4))
    assert exact.value < 2e-3
    assert mmd2(x, y, rbf(1.4)).value == pytest.approx(exact.value, rel=1e-6)
    assert mmd2(x, y, rbf(1.4)).se == pytest.approx(exact.se, rel=1e-6)
    far = (v + np.float32(8) for v in (x, y))  # every text vector has a large common part
    # float32 has already lost the rest
    assert mmd2(*far, rbf(1.4)).value == pytest.approx(exact.value, rel=2e-4)


def test_float32_powers_stay_small_and_finite_where_points_are_far_apart():
    x = np.array([[0.0], [1e4]], dtype=np.float32)
    assert mmd2(x, x, rbf(1e-2)).value == pytest.approx(-1.0, abs=1e-6)  # 0 + 0 - 2 · (2/4)


@pytest.mark.verifies("MMD² of two samples", by="property")
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_unbiased_over_every_pair_of_samples(kernel):
    points = np.array([[0.0, 1.0], [2.0, 0.5], [-1.0, 3.0]])
    q, r = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.3, 0.6])
    mean = 0.0
    for x in product(range(3), repeat=3):
        for y in product(range(3), repeat=2):
            p = np.prod(q[list(x)]) * np.prod(r[list(y)])
            mean += p * mmd2(points[list(x)], points[list(y)], kernel).value
    assert mean == pytest.approx(pmf.mmd_squared(q, r, matrix(kernel, points, points)), rel=1e-12)


@pytest.mark.verifies("MMD² of two samples", by="property")
def test_the_error_is_the_spread_of_new_samples_and_the_interval_holds_0_where_q_is_r():
    """The linear term has no error there, the pairs have one; the error said is no smaller, and a little larger."""
    rng = seeded(6)
    runs = [mmd2(rng.normal(size=(25, 2)), rng.normal(size=(40, 2)), rbf(1.0)) for _ in range(600)]
    spread = np.std([e.value for e in runs], ddof=1)
    assert spread < np.sqrt(np.mean([e.se**2 for e in runs])) < 1.35 * spread
    assert np.mean([e.low > 0 for e in runs]) < 0.08
    assert all(e.high >= 0 for e in runs)


@given(st.floats(-1, 3), st.floats(1e-6, 0.5), st.floats(1e-6, 0.5), st.integers(4, 500))
def test_the_interval_is_the_distances_from_which_the_estimate_is_not_far(value, linear, second, n):
    low, high = _pair_interval(value, linear, second, n)
    reach, slope = stats.t.ppf(0.975, n - 1) ** 2, linear / (max(value, 0) + np.sqrt(second))
    inside = np.linspace(max(low, 0), high, 50)[1:-1]
    # else 0 is too far, and distances between are inside all the same
    if value >= -np.sqrt(reach * second):
        assert ((value - inside) ** 2 <= reach * (second + slope * inside) + 1e-9).all()
    assert (value - (high + 1e-3)) ** 2 > reach * (second + slope * (high + 1e-3))
    assert (low <= 0) == (value <= np.sqrt(reach * second))
    assert low <= value or value < 0


@given(st.integers(2, 30), st.integers(2, 30), st.integers(0, 10**6))
def test_sparse_rows_are_the_dense_ones(n, m, seed):
    rng = seeded(seed)
    x, y = ((rng.random((k, 40)) < 0.1) * rng.integers(1, 5, (k, 40)) for k in (n, m))
    dense, thin = mmd2(x, y, linear()), mmd2(sparse.csr_matrix(x), sparse.csr_array(y), linear())
    value, se = by_definition(linear(), x, y)
    for estimate in (dense, thin):
        assert estimate.value == pytest.approx(value, rel=1e-11, abs=1e-12)
        assert estimate.se == pytest.approx(se, rel=1e-6, abs=1e-9, nan_ok=True)


# --- the permutation test ------------------------------------------------------------------------------------------


@pytest.mark.verifies("Permutation test of MMD²", by="property")
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
@pytest.mark.parametrize(("n", "m"), [(9, 9), (7, 12), (2, 3)])
def test_the_null_is_that_of_dealing_the_points_out_anew(kernel, n, m):
    z = seeded(4).normal(size=(n + m, 3))
    found = in_tiles(5, permutation_test, z[:n], z[n:], kernel, seeded(5), 40)
    labels = _labels(n, m, 40, seeded(5))
    anew = [mmd2(z[e > 0], z[e < 0], kernel).value for e in labels.T]
    np.testing.assert_allclose(found.null, anew[1:], rtol=1e-10, atol=1e-13)
    assert found.statistic.value == pytest.approx(mmd2(z[:n], z[n:], kernel).value, rel=1e-10)
    assert found.statistic.se == pytest.approx(
        mmd2(z[:n], z[n:], kernel).se, rel=1e-10, nan_ok=True
    )
    assert found.statistic.p == found.p_value
    assert (labels > 0).sum(0).tolist() == [n] * 41


def test_the_null_in_float32_and_on_sparse_rows():
    z = seeded(6).normal(size=(2400, 6)).astype(np.float32)
    found = in_tiles(700, permutation_test, z[:1000], z[1000:], rbf(3), seeded(7), 5)
    labels = _labels(1000, 1400, 5, seeded(7))
    anew = [mmd2(z[e > 0].astype(float), z[e < 0].astype(float), rbf(3)).value for e in labels.T]
    np.testing.assert_allclose(found.null, anew[1:], rtol=0, atol=1e-8)
    assert found.statistic.value == pytest.approx(anew[0], rel=1e-6)
    counts = seeded(8).poisson(0.1, size=(20, 5000)).astype(float)
    thin = permutation_test(
        *(sparse.csr_array(v) for v in (counts[:8], counts[8:])), linear(), seeded(9), 30
    )
    dense = permutation_test(counts[:8], counts[8:], linear(), seeded(9), 30)
    np.testing.assert_allclose(thin.null, dense.null, rtol=1e-11)
    assert thin.p_value == dense.p_value


def test_equal_values_are_ties_however_they_are_rounded():
    for seed in range(10):  # few distinct points, so that many labellings have the same MMD²
        z = seeded(seed).integers(0, 3, (9, 1)) * 0.7
        found = permutation_test(z[:4], z[4:], rbf(1), seeded(seed), 200)
        as_far = (found.null >= found.statistic.value - 1e-9).sum()
        assert found.p_value == (1 + as_far) / 201


@pytest.mark.verifies("Permutation test of MMD²", by="property")
def test_under_the_null_p_below_alpha_comes_at_most_about_alpha_often():
    rng = seeded(11)
    p = [
        permutation_test(
            rng.normal(size=(12, 2)), rng.normal(size=(10, 2)), rbf(1), rng, 99
        ).p_value
        for _ in range(600)
    ]
    for alpha in (0.05, 0.2):
        share, error = np.mean(np.array(p) <= alpha), np.sqrt(alpha * (1 - alpha) / 600)
        assert abs(share - alpha) < 3.5 * error
    assert min(p) >= 0.01


@pytest.mark.parametrize(
    ("x", "y", "kernel"),
    [
        (np.zeros((1, 2)), np.zeros((3, 2)), rbf(1)),
        (np.zeros((3, 2)), np.zeros((3, 1)), rbf(1)),
        (np.zeros(3), np.zeros(3), rbf(1)),
        (np.full((2, 1), np.nan), np.zeros((3, 1)), rbf(1)),
        (np.zeros((2, 1)), np.array([[np.inf], [0]]), linear()),
        (sparse.eye_array(3), sparse.eye_array(3), rbf(1)),
        (sparse.eye_array(3), np.eye(3), linear()),
    ],
)
def test_bad_samples_are_refused(x, y, kernel):
    for call in (mmd2, lambda *a: permutation_test(*a, seeded())):
        with pytest.raises(DataError):
            call(x, y, kernel)


# --- other programs -------------------------------------------------------------------------------------------------


@pytest.mark.verifies("Kernels of vectors", "Median bandwidth", by="foreign", of="scipy")
@pytest.mark.verifies("Median bandwidth", by="property")
def test_kernels_and_the_median_are_those_of_scipys_distances():
    x, y = seeded(1).normal(size=(7, 3)), seeded(2).normal(size=(4, 3))
    np.testing.assert_allclose(
        rbf(1.3).matrix(x, y), np.exp(-cdist(x, y, "sqeuclidean") / (2 * 1.3**2)), rtol=1e-13
    )
    np.testing.assert_allclose(linear().matrix(x, y), x @ y.T, rtol=1e-13, atol=1e-15)
    found = median_bandwidth(x, y, seeded())
    assert found == pytest.approx(np.median(pdist(np.concatenate([x, y]))), rel=1e-13)
    assert median_bandwidth(3 * x + 5, 3 * y + 5, seeded()) == pytest.approx(3 * found, rel=1e-12)


@pytest.mark.verifies("MMD² of two samples", by="foreign", of="torchmetrics")
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_the_estimate_is_that_of_torchmetrics(kernel, torchmetrics_mmd):
    x, y = seeded(3).normal(size=(12, 2)), seeded(4).normal(0.5, 1, size=(12, 2))
    theirs = torchmetrics_mmd(kernel.matrix(x, x), kernel.matrix(x, y), kernel.matrix(y, y))
    assert mmd2(x, y, kernel).value == pytest.approx(theirs, rel=1e-11)


@pytest.mark.verifies("Permutation test of MMD²", by="hand")
def test_the_p_value_by_hand():
    """Two points near 0, two near 9: of the 6 ways to deal out labels 2 separate them, the true one and its mirror."""
    p = permutation_test(
        np.array([[0.0], [1]]), np.array([[9.0], [10]]), rbf(1), seeded(1), 20_000
    ).p_value
    assert abs(p - 1 / 3) < 4 * np.sqrt(2 / 9 / 20_000)


@pytest.mark.verifies("Permutation test of MMD²", by="foreign", of="scipy, every split")
def test_the_p_value_is_scipys_exact_one():
    x, y = seeded(5).normal(size=(5, 1)), seeded(6).normal(0.8, 1, size=(4, 1))
    exact = stats.permutation_test(
        (x[:, 0], y[:, 0]),
        lambda a, b: by_definition(rbf(1), a[:, None], b[:, None])[0],
        n_resamples=np.inf,
        alternative="greater",
        vectorized=False,
    ).pvalue
    p = permutation_test(x, y, rbf(1), seeded(7), 20_000).p_value
    assert 0.02 < exact < 0.98
    assert abs(p - exact) < 4 * np.sqrt(exact * (1 - exact) / 20_000)
