"""The three numbers that judges are measured by."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, spearmanr

from anhelpers.errors import DataError
from anhelpers.judges import rank_agreement, win_share, within_sources
from anhelpers.plane import Plane, mean_axis
from anhelpers.stats import share_interval

NUMBERS = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=30)


def rng():
    return np.random.default_rng(1)


def plane(a, n, docs=None):
    """(segments, systems) scores on two axes."""
    size, k = np.shape(a)
    axes = (mean_axis(name, name, name, values) for name, values in (("a", a), ("n", n)))
    docs = np.array(docs if docs is not None else range(size), dtype=object)
    names = tuple(f"S{j}" for j in range(k))
    return Plane(
        "made up", names, ("MT",) * k, *axes, docs, np.array(["all"] * size), np.arange(size)
    )


def numbers(found):
    return found.value, *found.interval, found.n


@pytest.mark.verifies("Share of pairs that a judge orders", by="hand")
def test_wins_by_hand():
    """Two wins, a tie, a loss, and a pair that lacks a score: 2.5 of 4."""
    found = win_share([1, 1, 0, 0, np.nan], [0, 0, 0, 1, 1])
    assert (found.value, found.n) == (2.5 / 4, 4)
    assert (found.low, found.high) == share_interval(2.5, 4)


@pytest.mark.verifies("Share of pairs that a judge orders", by="foreign", of="scipy's binomtest")
@pytest.mark.parametrize(("hits", "n"), [(0, 1), (0, 52), (27, 52), (52, 52), (84, 155)])
def test_the_interval_is_scipys(hits, n):
    told = binomtest(hits, n).proportion_ci(method="wilson")
    np.testing.assert_allclose(share_interval(hits, n), told, atol=1e-12)


@pytest.mark.verifies("Share of pairs that a judge orders", by="property")
@given(NUMBERS)
def test_both_sides_of_a_pair_share_it(pairs):
    first, second = np.array(pairs, dtype=float).T
    one, other = win_share(first, second), win_share(second, first)
    assert one.value + other.value == pytest.approx(1)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low))
    assert 0 <= one.low <= one.value <= one.high <= 1


def test_no_pair_has_no_share():
    found = win_share([np.nan], [1.0])
    assert found.n == 0
    assert np.isnan([found.value, *found.interval]).all()
    with pytest.raises(DataError):
        win_share([1.0, 2.0], [1.0])


@pytest.mark.verifies("Rank correlation within sources", by="hand")
def test_within_sources_by_hand():
    """ρ is 1, −1 and 1/2; the fourth source does not vary, and the fifth has one candidate with both scores."""
    segment = [0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4]
    x, y = [1, 2, 1, 2, 1, 2, 3, 5, 5, 1, 2], [10, 20, 9, 8, 1, 3, 2, 1, 2, 1, np.nan]
    found = within_sources(segment, x, y, list("abcde"), rng=rng())
    assert found.value == pytest.approx((1 - 1 + 0.5) / 3)
    assert found.n == 3
    assert -1 <= found.low <= found.value <= found.high <= 1


@pytest.mark.verifies("Rank correlation within sources", by="foreign", of="scipy, pandas")
def test_within_sources_is_scipys_ties_as_well():
    random = np.random.default_rng(3)
    segment = np.repeat(np.arange(12), 7)
    x, y = random.integers(0, 5, (2, len(segment)))
    table = pd.DataFrame({"segment": segment, "x": x, "y": y})
    wanted = [spearmanr(part.x, part.y).statistic for _, part in table.groupby("segment")]
    found = within_sources(segment, x, y, np.arange(12) // 3, rng=rng())
    assert found.value == pytest.approx(np.mean(wanted))
    ranks = table[["x", "y"]].groupby(table.segment).rank().groupby(table.segment)
    assert found.value == pytest.approx(ranks.corr().unstack()["x", "y"].mean())


@pytest.mark.verifies("Rank correlation within sources", by="property")
@given(st.integers(0, 99))
def test_what_differs_between_sources_has_no_part(seed):
    random = np.random.default_rng(seed)
    segment = np.repeat(np.arange(6), 5)
    x, y = random.normal(size=(2, 30))
    plain = within_sources(segment, x, y, np.arange(6), rng=rng(), n_draws=300)
    moved = within_sources(
        segment, np.exp(x) + 100 * segment, y - 50 * segment, np.arange(6), rng=rng(), n_draws=300
    )
    np.testing.assert_allclose(numbers(moved), numbers(plain))
    turned = within_sources(segment, -x, y, np.arange(6), rng=rng(), n_draws=300)
    assert turned.value == pytest.approx(-plain.value)


def test_one_source_has_a_correlation_and_no_interval():
    found = within_sources([0, 0], [1, 2], [1, 2], ["a"], rng=rng())
    assert (found.value, found.n) == (1.0, 1)
    assert np.isnan([found.low, found.high]).all()
    assert within_sources([0], [1], [1], ["a"], rng=rng()).n == 0


@pytest.mark.verifies("Agreement of two rankings of systems", by="hand")
def test_rankings_by_hand():
    """Means 1, 2, 3 and 10, 30, 20: ρ is 1/2; and each resample gives the same places."""
    found = rank_agreement(plane([[1, 2, 3]] * 3, [[10, 30, 20]] * 3), rng(), 300)
    assert numbers(found) == (0.5, 0.5, 0.5, 3)


@pytest.mark.verifies("Agreement of two rankings of systems", by="foreign", of="scipy")
def test_rankings_are_scipys():
    random = np.random.default_rng(5)
    a, n = random.normal(size=(2, 40, 9))
    found = rank_agreement(plane(a, n, np.arange(40) // 4), rng(), 300)
    assert found.value == pytest.approx(spearmanr(a.mean(0), n.mean(0)).statistic)
    assert -1 <= found.low <= found.value <= found.high <= 1


@pytest.mark.verifies("Agreement of two rankings of systems", by="property")
@given(st.integers(0, 99))
def test_places_alone_count_and_order_does_not(seed):
    random = np.random.default_rng(seed)
    a, n = random.normal(size=(2, 8, 5))
    one, other = (rank_agreement(plane(*axes), rng(), 300) for axes in ((a, 7 * n + 1), (n, a)))
    assert numbers(one) == pytest.approx(numbers(other))
    assert numbers(rank_agreement(plane(a, 2 * a), rng(), 300)) == pytest.approx((1, 1, 1, 5))


def test_a_system_without_scores_and_one_sent_in_twice_take_no_part():
    a = np.array([[1, 2, 3, 3, np.nan]] * 4)
    assert rank_agreement(plane(a, a), rng(), 300).n == 3
    alone = rank_agreement(plane([[1, 2, 3]], [[1, 3, 2]]), rng(), 300)
    assert alone.value == pytest.approx(0.5)
    assert np.isnan(alone.low)
