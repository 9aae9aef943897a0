"""The bootstrap over documents: its draws, its studentised interval, its standard error."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from anhelpers.accuracy.surface import surface_metric
from anhelpers.bootstrap import (
    FEWEST,
    Resamples,
    _resampled_sums,
    bootstrap_means,
    cluster_sums,
    effective,
    few_clusters,
    moves_variance,
    score_intervals,
)
from anhelpers.errors import DataError
from anhelpers.plane import few_documents


def test_each_resample_draws_as_many_clusters_as_there_are():
    drawn = Resamples(["b", "a", "b"], 50, np.random.default_rng(0))
    ((_, counts),) = drawn.blocks()
    assert counts.shape == (50, 2)
    assert (counts.sum(1) == 2).all()
    assert drawn.index.tolist() == [1, 0, 1]


@pytest.mark.verifies("Bootstrap over documents", by="hand")
def test_draws_are_the_means_of_resampled_documents():
    x = np.array([[1.0, 10], [3, 30], [100, 7]])
    docs = np.array([0, 0, 1])
    m = bootstrap_means(x, docs, np.random.default_rng(1), n_draws=200)
    possible = {tuple(x[rows].mean(0)) for rows in ([0, 1], [2], [0, 1, 2])}
    possible |= {tuple(x[[0, 1, 0, 1]].mean(0)), tuple(x[[2, 2]].mean(0))}
    assert all(any(np.allclose(d, p) for p in possible) for d in m.draws)
    assert (m.n.tolist(), m.n_clusters) == ([3, 3], 2)
    np.testing.assert_allclose(m.mean, x.mean(0))


@pytest.mark.verifies("Bootstrap over documents", by="property")
def test_the_interval_covers_the_mean_about_95_times_in_100():
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(300):
        m = bootstrap_means(rng.normal(5, 2, (60, 1)), range(60), rng, n_draws=300)
        hits += m.low[0] <= 5 <= m.high[0]
    assert 0.90 <= hits / 300 <= 0.98


@pytest.mark.verifies("Bootstrap over documents", by="property")
def test_columns_of_a_draw_are_paired():
    x = np.random.default_rng(3).normal(size=(40, 1))
    m = bootstrap_means(np.hstack([x, x + 1]), range(40), np.random.default_rng(4))
    np.testing.assert_allclose(m.draws[:, 1] - m.draws[:, 0], 1)


@pytest.mark.parametrize(
    ("x", "docs"),
    [
        ([[1.0], [np.inf]], [0, 1]),
        ([[1.0], [2.0]], [0, 0]),
        ([[1.0]], [0, 1]),
        ([[np.nan]] * 2, [0, 1]),
    ],
    ids=["infinite", "one cluster", "lengths", "missing"],
)
def test_bad_input(x, docs):
    with pytest.raises(DataError):
        bootstrap_means(x, docs, np.random.default_rng(0))


NAMED = [("news", i // 2) for i in range(12)]


@pytest.mark.parametrize("form", [list, tuple, np.array, pd.DataFrame, pd.MultiIndex.from_tuples])
def test_documents_of_several_parts_are_resampled_as_named_ones(form):
    x, docs = np.random.default_rng(0).normal(size=12), [str(name) for name in NAMED]
    one, other = (
        (bootstrap_means(x, names, np.random.default_rng(1)), moves_variance(x - x.mean(), names))
        for names in (docs, form(NAMED))
    )
    assert (one[0].draws == other[0].draws).all()
    assert one[1] == other[1]
    with pytest.raises(DataError):
        bootstrap_means([1.0, np.nan, 3.0], range(3), np.random.default_rng(0), of=lambda m: m)


def test_a_missing_value_is_left_out_of_its_own_column():
    x = np.array([[1.0, 5.0], [3.0, np.nan], [5.0, 1.0]])
    m = bootstrap_means(x, range(3), np.random.default_rng(0), 400)
    assert m.mean.tolist() == [3.0, 3.0]
    assert m.n.tolist() == [3, 2]
    assert "(n = 2 segments). only 2 segments:" in m.text(column=1)
    alone = {tuple(v) for v in m.draws.round(9).tolist()}
    assert all(b in (5.0, 1.0) or 1 < b < 5 or np.isnan(b) for _, b in alone)
    assert (m.low <= m.mean).all()


def test_one_cluster_behind_a_column_gives_no_interval():
    x = np.array([[1.0, 1.0], [3.0, 3.0], [5.0, np.nan]])
    m = bootstrap_means(x, ["a", "a", "b"], np.random.default_rng(0))
    assert m.mean.tolist() == [3.0, 2.0]
    assert np.isfinite([m.low[0], m.high[0], m.se[0]]).all()
    assert np.isnan([m.low[1], m.high[1], m.se[1]]).all()


@pytest.mark.parametrize("largest", [9, 2**21])
def test_sums_of_whole_numbers_are_exact_whatever_their_size(largest):
    rng = np.random.default_rng(0)
    counts, sums = rng.integers(0, 4, (5, 40)), rng.integers(0, largest, (40, 3))
    whole, share = _resampled_sums(counts, sums, sums / 7)
    assert (whole == counts @ sums).all()
    np.testing.assert_allclose(share, counts @ sums / 7)


@pytest.mark.verifies("Bootstrap over documents", by="hand")
def test_the_interval_is_the_studentised_one_step_by_step():
    """Each draw's mean in its own standard error, by loops; the ends are quantiles of these, times the error."""
    rng = np.random.default_rng(5)
    docs = np.repeat(np.arange(12), rng.integers(1, 7, 12))
    x = rng.normal(3, 1, len(docs)) + rng.normal(0, 2, 12)[docs]
    found = bootstrap_means(x, docs, np.random.default_rng(6), 500)
    ((_, counts),) = Resamples(docs, 500, np.random.default_rng(6)).blocks()

    def mean_and_error(times):
        sums = [
            (float(x[docs == d].sum()), int((docs == d).sum()))
            for d in range(12)
            for _ in range(times[d])
        ]
        total, size = sum(s for s, _ in sums), sum(n for _, n in sums)
        away = [(s - total / size * n) / size for s, n in sums]
        return total / size, (12 / 11 * sum(e * e for e in away)) ** 0.5

    mean, error = mean_and_error([1] * 12)
    t = np.sort([(m - mean) / e for m, e in map(mean_and_error, counts.tolist())])
    assert found.n_effective[0] >= FEWEST
    assert found.se[0] == pytest.approx(error, rel=1e-7)
    assert found.low[0] == pytest.approx(mean - t[int(0.975 * 499)] * error, rel=1e-6)
    assert found.high[0] == pytest.approx(mean - t[int(np.ceil(0.025 * 499))] * error, rel=1e-6)


@pytest.mark.verifies("Bootstrap over documents", by="foreign", of="scipy")
def test_the_standard_error_is_scipys():
    """Sums and sizes of 40 documents, resampled together; of documents of one size it is that of their means."""
    rng = np.random.default_rng(5)
    docs = np.repeat(np.arange(40), rng.integers(1, 7, 40))
    x = rng.normal(3, 1, len(docs)) + rng.normal(0, 2, 40)[docs]
    theirs = stats.bootstrap(
        (np.bincount(docs, x), np.bincount(docs)),
        lambda s, n, axis: s.sum(axis) / n.sum(axis),
        paired=True,
        n_resamples=5_000,
        rng=np.random.default_rng(7),
    )
    assert bootstrap_means(x, docs, rng, 200).se[0] == pytest.approx(
        theirs.standard_error, rel=0.05
    )
    even = rng.normal(size=(9, 4)) + rng.normal(size=(9, 1))
    found = bootstrap_means(even.ravel(), np.repeat(np.arange(9), 4), rng, 200)
    assert found.se[0] == pytest.approx(stats.sem(even.mean(1)), rel=1e-9)
    assert found.n_effective[0] == 9


@pytest.mark.verifies("Bootstrap over documents", by="foreign", of="scipy")
@pytest.mark.parametrize("m", [2, 3, 5, 7])
def test_few_documents_reach_at_least_as_far_as_students_interval(m):
    x = np.random.default_rng(m).normal(size=m)
    found = bootstrap_means(x, range(m), np.random.default_rng(0), 500)
    low, high = stats.t.interval(0.95, m - 1, x.mean(), stats.sem(x))
    assert found.low[0] <= low + 1e-9
    assert found.high[0] >= high - 1e-9
    if m < 4:  # so many draws hold one document only that studentising them says nothing
        np.testing.assert_allclose([found.low[0], found.high[0]], [low, high])


def test_a_column_of_three_documents_among_five_has_an_interval_of_its_own_size():
    """Draws that hold only one of its documents have no spread, however much rounding says so."""
    x = np.array([3.3, 2.1, 4.7, np.nan, np.nan])
    found = bootstrap_means(
        np.stack([x, [1.2, 2.3, 3.1, 4.4, 5.2]], 1), range(5), np.random.default_rng(0), 300
    )
    low, high = stats.t.interval(0.95, 2, np.nanmean(x), stats.sem(x[:3]))
    assert found.low[0] == pytest.approx(low, abs=1e-6)
    assert found.high[0] == pytest.approx(high, abs=1e-6)


def test_an_end_from_few_documents_is_once_to_twice_as_far_as_students():
    """Five documents, four of them alike: the far draws are one document over and over, with hardly an error."""
    x = [1.76, 1.13, 2.40, 1.21, 1.17]
    found = bootstrap_means(x, range(5), np.random.default_rng(0), 2000)
    low, high = stats.t.interval(0.95, 4, np.mean(x), stats.sem(x))
    assert found.high[0] == pytest.approx(np.mean(x) + 2 * (high - np.mean(x)), rel=1e-6)
    assert found.low[0] == pytest.approx(low, rel=1e-6)


def test_a_score_of_sums_has_the_error_that_leaving_out_documents_gives():
    """chrF of a corpus of 30 documents: the linear error and the jackknife's agree."""
    words = ["der", "die", "das", "ein", "Haus", "Hund", "Katze", "sieht", "hört", "alt", "neu"]
    rng = np.random.default_rng(1)
    refs = [" ".join(rng.choice(words, 9)) for _ in range(90)]
    hyps = [
        " ".join(w if rng.random() < 0.7 else rng.choice(words) for w in ref.split())
        for ref in refs
    ]
    chrf = surface_metric("chrf")
    sums = cluster_sums(
        chrf.count(hyps, refs=[refs], segment=np.arange(90)), np.repeat(np.arange(30), 3)
    )[:, None]
    counts = Resamples(range(30), 300, rng)
    low, high, se, draws, uneven = score_intervals(
        chrf.score_count, sums, counts, sizes=np.full((30, 1), 3)
    )
    without = chrf.score_count(sums.sum(0) - sums)[:, 0]
    jackknife = np.sqrt(29 / 30 * ((without - without.mean()) ** 2).sum())
    assert se[0] == pytest.approx(jackknife, rel=0.03)
    assert draws.std() == pytest.approx(jackknife, rel=0.15)
    assert low[0] < chrf.score_corpus(hyps, refs=[refs]) < high[0]
    assert not uneven[0]


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(8, 20), st.integers(0, 99))
def test_an_interval_moves_with_its_unit(shift, scale, m, seed):
    x = np.random.default_rng(seed).normal(size=m)
    one, other = (
        bootstrap_means(v, range(m), np.random.default_rng(0), 200) for v in (x, shift + scale * x)
    )
    slack = 1e-7 * (abs(shift) + scale)
    for end in ("low", "high"):
        assert getattr(other, end)[0] == pytest.approx(
            shift + scale * getattr(one, end)[0], rel=1e-6, abs=slack
        )


def test_numbers_made_of_means_are_resampled_as_such():
    rng = np.random.default_rng(3)
    docs, chars = np.repeat(np.arange(15), 4), rng.integers(20, 90, 60)
    bits = 2.0 * chars + rng.normal(0, 20, 60)
    ratio = lambda means: means[..., :1] / means[..., 1:]  # noqa: E731
    found = bootstrap_means(
        np.stack([bits, chars], 1), docs, np.random.default_rng(0), 400, of=ratio
    )
    drawn = Resamples(docs, 400, np.random.default_rng(0))
    ((_, (sums,)),) = drawn.sums(cluster_sums(np.stack([bits, chars], 1), drawn.index))
    expected = sums[:, 0] / sums[:, 1]
    np.testing.assert_allclose(found.draws[:, 0], expected)
    assert found.mean[0] == pytest.approx(bits.sum() / chars.sum())
    assert found.low[0] < 2 < found.high[0]


def test_what_does_not_vary_has_an_interval_of_no_width():
    found = bootstrap_means(np.ones(9), range(9), np.random.default_rng(0))
    assert (found.low[0], found.high[0], found.se[0]) == (1, 1, 0)


def test_one_long_document_counts_for_nearly_all():
    assert effective([97, 1, 1, 1]) == pytest.approx(100**2 / (97**2 + 3))
    assert few_clusters(8) == ""
    assert "1.5" in few_clusters(20, counting=float(effective([80, *[1] * 19])))
    assert "2.5" in few_clusters(4, "raters", 2.5)


@pytest.mark.parametrize("offset", [0, 1e6])
def test_skewed_documents_and_those_tied_to_their_size_are_told(offset):
    """By scipy's skewness and correlation of the documents' means, in any unit."""
    rng, docs = np.random.default_rng(3), np.repeat(range(12), range(1, 13))
    level = rng.permutation(stats.norm.ppf((np.arange(12) + 0.5) / 12))
    for mean, uneven in ((level, False), (np.exp(1.5 * level), True), (np.arange(12), True)):
        size = np.bincount(docs)
        tied = stats.pearsonr(size, mean).pvalue < 0.05
        assert uneven == (tied or abs(stats.skew(mean)) > 1)
        found = bootstrap_means(offset + np.stack([mean[docs], 0 * docs], 1), docs, rng, 200)
        assert found.uneven.tolist() == [uneven, False]
        assert ("skewed" in found.text()) == uneven
        few = pd.DataFrame({"system": ["a", "b"], "n_docs": 12, "uneven": [uneven, False]})
        assert few_documents(few).startswith("a: the scores of the documents") == uneven
    assert moves_variance(mean[docs] - mean[docs].mean(), docs)[2]


def test_many_segments_take_no_more_memory_than_a_block_of_draws():
    """Draws × segments are never all in memory: here they would be 400 MB."""
    x = np.random.default_rng(0).normal(size=50_000)
    tracemalloc.start()
    found = bootstrap_means(x, range(len(x)), np.random.default_rng(1), 1000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 300e6
    assert found.se[0] == pytest.approx(x.std(ddof=1) / np.sqrt(len(x)), rel=1e-6)
    assert found.draws[:, 0].std() == pytest.approx(found.se[0], rel=0.08)
    one, other = (bootstrap_means(x[:9], range(9), np.random.default_rng(1), n) for n in (20, 20.0))
    assert one.draws.tobytes() == other.draws.tobytes()
