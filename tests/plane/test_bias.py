"""Where metrics stand between accuracy and fluency: on paper, on made marks whose answer is known, against scipy."""

import re
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from anhelpers import plane
from anhelpers.data import join_ratings, rated_texts, read_ratings
from anhelpers.errors import DataError, UnknownName
from anhelpers.mqm import choose_scheme, score_ratings
from anhelpers.plane import metric_bias, soft_pairwise_accuracy, source_correlations, within_sources
from anhelpers.plane.agreement import _swap_p, _swap_signs, _tie_threshold
from anhelpers.plane.ratings import _RatedMetrics
from anhelpers.scoring.lookup import metric as metric_of
from anhelpers.stats import pearson

EASY, HARD = [-1, -2, -3], [-7, -8, -9]
PAPER = np.array([EASY, HARD], dtype=float), np.array([EASY[::-1], HARD[::-1]], dtype=float)


def rng(seed=0):
    return np.random.default_rng(seed)


def some_marks(seed=0, n=60, k=6, n_docs=12, ties=3):
    """(n, k) whole numbers with many ties, another row of them, and documents."""
    draw = rng(seed)
    return (
        -draw.integers(0, ties, (n, k)).astype(float),
        -draw.integers(0, ties, (n, k)).astype(float),
        np.sort(draw.integers(0, n_docs, n)),
    )


def a_set(seed=0, **more):
    accuracy, fluency, docs = some_marks(seed, **more)
    noise = rng(seed + 1).normal(size=(2, *accuracy.shape))
    metrics = {"sees accuracy": accuracy + 0.3 * noise[0], "sees fluency": fluency + 0.3 * noise[1]}
    return _RatedMetrics(accuracy, fluency, metrics, docs)


@pytest.mark.verifies("Correlation within sources", by="hand")
def test_two_sources_on_paper_and_the_paradox():
    accuracy, fluency = PAPER
    assert source_correlations(accuracy, fluency).tolist() == [-1, -1]
    assert float(pearson(accuracy.ravel(), fluency.ravel())) == pytest.approx(50 / 58)
    one, other = [[-1, -2, -6]], [[8, 6, 7]]
    assert source_correlations(one, other)[0] == pytest.approx(3 / 252**0.5)
    assert source_correlations(one, other, "kendall")[0] == pytest.approx(1 / 3)


@pytest.mark.verifies("Correlation within sources", by="foreign", of="scipy")
@pytest.mark.parametrize(
    ("kind", "theirs"), [("pearson", stats.pearsonr), ("kendall", stats.kendalltau)]
)
def test_each_source_is_scipys(kind, theirs):
    x, y, _ = some_marks(3, n=80)
    x[rng(1).random(x.shape) < 0.2] = np.nan
    for a, b, found in zip(x, y, source_correlations(x, y, kind), strict=True):
        there = ~np.isnan(a)
        a, b = a[there], b[there]
        if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
            assert np.isnan(found)
        else:
            assert found == pytest.approx(theirs(a, b).statistic, abs=1e-12)


@pytest.mark.verifies("Correlation within sources", by="property")
@given(st.integers(0, 10**6), st.floats(1e-3, 1e3), st.floats(-100, 100))
def test_what_all_systems_share_on_a_source_has_no_part_in_it(seed, scale, shift):
    draw = rng(seed)
    x, y = draw.normal(size=(2, 4, 5))
    hard = draw.normal(size=(4, 1)) * 50
    for kind in ("pearson", "kendall"):
        before = source_correlations(x, y, kind)
        after = source_correlations(scale * x + hard + shift, y - hard, kind)
        assert before == pytest.approx(after, abs=1e-6)
        assert source_correlations(-x, y, kind) == pytest.approx(-before)


def test_sources_without_a_correlation_are_nan_and_never_0():
    x = [[1, 2, np.nan], [1, 1, 1], [1, 2, 3]]
    y = [[1, 2, 3], [1, 2, 3], [2, 2, 2]]
    assert np.isnan(source_correlations(x, y)).all()
    assert np.isnan(plane.pair_accuracy(x[:1], y[:1])).all()
    assert source_correlations([[1e-200, 2e-200, 4e-200]], [[1, 2, 4]])[0] == pytest.approx(1)
    with pytest.raises(DataError):
        source_correlations([[1, 2, 3]], [[1, 2]])
    with pytest.raises(DataError):
        source_correlations([[1, 2, np.inf]], [[1, 2, 3]])


@pytest.mark.verifies("Rank correlation within sources", by="hand")
def test_within_sources_by_hand():
    """ρ is 1, −1 and 1/2; the fourth source does not vary, and the fifth has one candidate with both scores."""
    segment = [0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4]
    x, y = [1, 2, 1, 2, 1, 2, 3, 5, 5, 1, 2], [10, 20, 9, 8, 1, 3, 2, 1, 2, 1, np.nan]
    found = within_sources(segment, x, y, list("abcde"), rng=rng(1))
    assert found.value == pytest.approx((1 - 1 + 0.5) / 3)
    assert found.n == 3
    assert -1 <= found.low <= found.value <= found.high <= 1


@pytest.mark.verifies("Rank correlation within sources", by="foreign", of="scipy, pandas")
def test_within_sources_is_scipys_ties_as_well():
    random = np.random.default_rng(3)
    segment = np.repeat(np.arange(12), 7)
    x, y = random.integers(0, 5, (2, len(segment)))
    table = pd.DataFrame({"segment": segment, "x": x, "y": y})
    wanted = [stats.spearmanr(part.x, part.y).statistic for _, part in table.groupby("segment")]
    found = within_sources(segment, x, y, np.arange(12) // 3, rng=rng(1))
    assert found.value == pytest.approx(np.mean(wanted))
    ranks = table[["x", "y"]].groupby(table.segment).rank().groupby(table.segment)
    assert found.value == pytest.approx(ranks.corr().unstack()["x", "y"].mean())


@pytest.mark.verifies("Rank correlation within sources", by="property")
@given(st.integers(0, 99))
def test_what_differs_between_sources_has_no_part(seed):
    random = np.random.default_rng(seed)
    segment = np.repeat(np.arange(6), 5)
    x, y = random.normal(size=(2, 30))
    plain = within_sources(segment, x, y, np.arange(6), rng=rng(1), n_draws=300)
    moved = within_sources(
        segment, np.exp(x) + 100 * segment, y - 50 * segment, np.arange(6), rng=rng(1), n_draws=300
    )
    np.testing.assert_allclose([moved.value, *moved.interval], [plain.value, *plain.interval])
    turned = within_sources(segment, -x, y, np.arange(6), rng=rng(1), n_draws=300)
    assert turned.value == pytest.approx(-plain.value)


def test_one_source_has_a_correlation_and_no_interval():
    found = within_sources([0, 0], [1, 2], [1, 2], ["a"], rng=rng(1))
    assert (found.value, found.n) == (1.0, 1)
    assert np.isnan([found.low, found.high]).all()
    assert within_sources([0], [1], [1], ["a"], rng=rng(1)).n == 0


@pytest.mark.verifies("Pairwise accuracy with ties", by="hand")
def test_three_pairs_on_paper():
    # people: A = B < C; the metric: 1, 2, 9; without ties it misses the tie, with ties up to 1 it misses nothing
    assert plane.pair_accuracy([[1, 2, 9]], [[0, 0, 1]])[0] == pytest.approx(2 / 3)
    assert _tie_threshold([[1, 2, 9]], [[0, 0, 1]]) == 1
    assert plane.pair_accuracy([[1, 2, 9]], [[0, 0, 1]], 8)[0] == pytest.approx(1 / 3)


@pytest.mark.verifies("Pairwise accuracy with ties", by="foreign", of="all thresholds, one by one")
@pytest.mark.parametrize("seed", range(5))
def test_the_threshold_is_the_best_of_all(seed):
    human, _, _ = some_marks(seed, n=12, k=4)
    score = np.round(human + rng(seed).normal(size=human.shape), 1)
    score[0, 0] = np.nan
    sizes = {0.0} | {
        abs(row[i] - row[j]) for row in score for i, j in combinations(range(4), 2)
    } - {np.nan}
    means = {t: np.nanmean(plane.pair_accuracy(score, human, t)) for t in sizes if t == t}
    best = _tie_threshold(score, human)
    assert np.nanmean(plane.pair_accuracy(score, human, best)) == pytest.approx(max(means.values()))
    assert best == min(t for t, mean in means.items() if mean > max(means.values()) - 1e-12)


@pytest.mark.verifies("Pairwise accuracy with ties", by="property")
def test_people_agree_with_themselves_and_a_constant_gets_the_share_of_ties():
    human, _, _ = some_marks()
    assert (plane.pair_accuracy(human, human) == 1).all()
    still = plane.pair_accuracy(np.zeros_like(human), human)
    equal = np.mean([human[:, i] == human[:, j] for i, j in combinations(range(6), 2)], axis=0)
    assert still == pytest.approx(equal)
    assert _tie_threshold(np.full((2, 4), np.nan), np.zeros((2, 4))) == 0


def brute(human, metric):
    """SPA by all ways to swap, one by one."""

    def p(d):
        sums = [
            sum(s * x for s, x in zip(signs, d, strict=True))
            for signs in product((1, -1), repeat=len(d))
        ]
        return (
            np.mean([s > sum(d) + 1e-9 for s in sums])
            + np.mean([abs(s - sum(d)) < 1e-9 for s in sums]) / 2
        )

    pairs = combinations(range(human.shape[1]), 2)
    return np.mean(
        [1 - abs(p(human[:, i] - human[:, j]) - p(metric[:, i] - metric[:, j])) for i, j in pairs]
    )


@pytest.mark.verifies("Soft pairwise accuracy", by="hand")
def test_one_pair_on_three_sources_on_paper():
    pair = [np.stack([d, np.zeros(3)], axis=1) for d in ([1, 1, 1], [2, 1, -1])]
    found = soft_pairwise_accuracy(*pair, ["a", "b", "c"], rng())
    assert found.value == 13 / 16
    assert (found.n, found.n_docs, found.signature) == (1, 3, "swaps:8")


@pytest.mark.verifies(
    "Soft pairwise accuracy", by="foreign", of="an enumeration of all permutations"
)
def test_it_is_that_of_all_permutations():
    human, metric = rng(5).integers(0, 4, (2, 7, 4)).astype(float)
    found = soft_pairwise_accuracy(human, metric, range(7), rng())
    assert found.value == pytest.approx(brute(human, metric), abs=1e-12)
    drawn = [
        soft_pairwise_accuracy(human, metric, range(7), rng(i), n_swaps=100) for i in range(40)
    ]
    assert np.mean([one.value for one in drawn]) == pytest.approx(found.value, abs=0.03)


@pytest.mark.verifies("Soft pairwise accuracy", by="property")
def test_it_is_1_for_people_themselves_and_does_not_depend_on_the_order_of_systems():
    human, metric = rng(2).normal(size=(2, 40, 5)) + np.arange(5)
    docs = np.repeat(np.arange(8), 5)
    assert soft_pairwise_accuracy(human, human, docs, rng()).value == 1
    found = soft_pairwise_accuracy(human, metric, docs, rng())
    turned = soft_pairwise_accuracy(human[:, ::-1], metric[:, ::-1], docs, rng())
    assert found.value == pytest.approx(turned.value)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert soft_pairwise_accuracy(human, -human, docs, rng()).value < 0.2
    alone = soft_pairwise_accuracy(human[:1], metric[:1], ["a"], rng())
    assert np.isnan(alone.high)


def test_p_without_a_document_is_that_of_the_others():
    scores, index = rng(1).normal(size=(6, 3)), np.array([0, 0, 1, 1, 2, 2])
    signs = _swap_signs(6, rng())
    assert len(signs) == 64
    found = _swap_p(scores, signs, index)
    rest = _swap_p(scores[2:], _swap_signs(4, rng()))
    np.testing.assert_allclose(found[1], rest[0])
    np.testing.assert_allclose(_swap_p(scores, signs)[0], found[0])


def test_a_source_without_all_systems_is_left_out_of_soft_pairwise_accuracy_and_counted():
    human = rng(2).normal(size=(9, 3))
    human[4, 1] = np.nan
    found = soft_pairwise_accuracy(human, human, range(9), rng())
    assert found.left_out == 1
    with pytest.raises(DataError):
        soft_pairwise_accuracy(np.full((3, 3), np.nan), np.zeros((3, 3)), range(3), rng())
    with pytest.raises(DataError):
        soft_pairwise_accuracy(np.zeros((3, 1)), np.zeros((3, 1)), range(3), rng())


@pytest.mark.verifies("Lean of a metric", by="hand")
def test_people_as_metrics_stand_in_the_corners():
    rated = a_set()
    table = metric_bias(replace(rated, metrics={}), rng(), 50, 20)
    people = table[table.statistic == "pearson"].set_index(["level", "metric"])
    for level in (plane.WITHIN, plane.BETWEEN):
        a, f = (people.loc[level, f"human {kind}"] for kind in ("accuracy", "fluency"))
        assert a.with_accuracy == f.with_fluency == 1
        assert a.with_fluency == pytest.approx(f.with_accuracy)
        assert a.lean == pytest.approx(1 - a.with_fluency)
        assert a.lean == pytest.approx(-f.lean)


@pytest.mark.verifies("Lean of a metric", by="property")
def test_a_metric_that_sees_one_rating_leans_to_it_surely():
    rated = a_set(n=120, n_docs=30)
    apart = np.array([[3, -1, 2, 0, -3, 1], [1, 2, -3, -1, 0, 3]])
    rated = _RatedMetrics(
        rated.accuracy + apart[0],
        rated.fluency + apart[1],
        {name: v + one for (name, v), one in zip(rated.metrics.items(), apart, strict=True)},
        rated.docs,
    )
    table = metric_bias(rated, rng(), 200, 40)
    for level, statistic in (
        (plane.WITHIN, "pearson"),
        (plane.WITHIN, "kendall"),
        (plane.BETWEEN, "pearson"),
    ):
        rows = table[(table.level == level) & (table.statistic == statistic)].set_index("metric")
        assert rows.lean_low["sees accuracy"] > 0 > rows.lean_high["sees fluency"]
        claim = plane.bias_claim(table, level, statistic)
        assert re.search("sees accuracy .*to accuracy, .*sees fluency .*to fluency", claim)
    swapped = replace(rated, accuracy=rated.fluency, fluency=rated.accuracy)
    other = metric_bias(swapped, rng(), 200, 40)
    np.testing.assert_allclose(other.lean[:2], -table.lean[:2])


@pytest.mark.verifies("Lean of a metric", by="foreign", of="scipy, source by source")
def test_the_mean_over_sources_is_that_of_scipys_correlations():
    rated = a_set(4)
    rows = metric_bias(rated, rng(), 20, 10).query(
        "level == 'within sources' and statistic == 'kendall'"
    )
    each = [
        [stats.kendalltau(m, h).statistic for h in (a, f)]
        for m, a, f in zip(
            rated.metrics["sees fluency"], rated.accuracy, rated.fluency, strict=True
        )
        if np.ptp(a) > 0 and np.ptp(f) > 0
    ]
    a, f = np.mean(each, axis=0)
    row = rows.set_index("metric").loc["sees fluency"]
    assert (row.with_accuracy, row.with_fluency) == (pytest.approx(a), pytest.approx(f))
    assert row.lean == pytest.approx(a - f)
    assert (row.n, row.n + row.left_out) == (len(each), 60)


def test_noise_lies_where_chance_says_and_nothing_is_claimed_of_it():
    rated = a_set()
    rated = replace(rated, metrics={"noise": rng(9).normal(size=rated.accuracy.shape)})
    table = metric_bias(rated, rng(), 200, 100)
    row = table[table.metric == "noise"].set_index("statistic").loc["kendall"]
    assert row.chance_accuracy_low < row.with_accuracy < row.chance_accuracy_high
    assert row.chance_accuracy_low < 0 < row.chance_accuracy_high
    assert "no metric" in plane.bias_claim(table)


def test_metrics_are_compared_on_the_same_translations_and_what_is_missing_is_counted():
    rated = a_set()
    sparse = {name: values.copy() for name, values in rated.metrics.items()}
    sparse["sees fluency"][:30] = np.nan
    table = metric_bias(replace(rated, metrics=sparse), rng(), 50, 10)
    half = _RatedMetrics(
        *(v[30:] for v in (rated.accuracy, rated.fluency)),
        {name: values[30:] for name, values in rated.metrics.items()},
        rated.docs[30:],
    )
    again = metric_bias(half, rng(), 50, 10)
    np.testing.assert_allclose(table.with_accuracy, again.with_accuracy, atol=1e-12)
    assert table.n.tolist() == again.n.tolist()


def test_nothing_in_common_is_refused():
    rated = a_set()
    with pytest.raises(DataError):
        metric_bias(replace(rated, metrics={"m": np.full((60, 6), np.nan)}), rng())
    holes = rated.accuracy.copy()
    holes[np.arange(60), np.arange(60) % 6] = np.nan
    with pytest.raises(DataError):
        metric_bias(replace(rated, accuracy=holes), rng(), 20, 10)


@pytest.mark.verifies("Mixtures of accuracy and fluency", by="property")
def test_mixtures_lie_on_the_ellipse_and_no_metric_between_systems_beyond_it():
    rated = a_set(3)
    arc = plane.mixture_arc(rated, 9)
    own = arc[arc.level == plane.BETWEEN]
    x, y = own.with_accuracy, own.with_fluency
    rho = float(pearson(rated.accuracy.mean(0), rated.fluency.mean(0)))
    np.testing.assert_allclose(x**2 - 2 * rho * x * y + y**2, 1 - rho**2, atol=1e-9)
    table = metric_bias(rated, rng(), 20, 10)
    rows = table[(table.level == plane.BETWEEN) & (table.statistic == "pearson")]
    x, y = rows.with_accuracy, rows.with_fluency
    assert (x**2 - 2 * rho * x * y + y**2 <= 1 - rho**2 + 1e-9).all()


@pytest.mark.verifies("Mixtures of accuracy and fluency", by="hand")
def test_a_mixture_of_equal_parts_agrees_with_both_alike():
    accuracy, fluency = (np.column_stack([one, one.mean(1)]) for one in PAPER)
    fluency[:, 0] -= 1
    arc = plane.mixture_arc(_RatedMetrics(accuracy, fluency, {}, np.arange(2)), 3)
    for _, rows in arc.groupby("level"):
        ends = rows[["with_accuracy", "with_fluency"]].to_numpy()
        assert ends[0, 0] == pytest.approx(1)
        assert ends[2, 1] == pytest.approx(1)
        assert ends[1, 0] == pytest.approx(ends[1, 1])


@pytest.mark.verifies("Mixtures of accuracy and fluency", by="foreign", of="scipy")
def test_a_mixture_between_systems_is_scipys():
    rated = a_set(5)
    arc = plane.mixture_arc(rated, 5)
    row = arc[(arc.level == plane.BETWEEN) & (arc.share == 0.25)].iloc[0]
    a, f = (stats.zscore(v.mean(0)) for v in (rated.accuracy, rated.fluency))
    assert row.with_fluency == pytest.approx(stats.pearsonr(0.75 * a + 0.25 * f, f).statistic)


def ratings_file(path, marks):
    """An MQM file of rows system, segment, rater, category, severity."""
    head = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    rows = [
        f"{system}\td{n // 2}\t1\t{n}\t{rater}\tsource {n}\t{system} says {n}\t{category}\t{severity}\n"
        for system, n, rater, category, severity in marks
    ]
    path.write_text(head + "".join(rows), encoding="utf-8")
    return path


@pytest.fixture
def rated_file(tmp_path):
    """Five systems and a reference, six segments, two raters who agree about accuracy and not about fluency."""
    draw, marks = rng(3), []
    for system, segment in product(("ref", *"ABCDE"), range(1, 7)):
        wrong = draw.random() < 0.5
        for rater in ("r1", "r2"):
            kind = ("Accuracy/Mistranslation", "Major") if wrong else ("No-error", "No-error")
            marks.append((system, segment, rater, *kind))
            if draw.random() < 0.5:
                marks.append((system, segment, rater, "Fluency/Grammar", "Minor"))
    return ratings_file(tmp_path / "rated.tsv", marks)


@pytest.mark.verifies("One rater as a metric", by="property")
def test_raters_who_agree_about_accuracy_alone_are_seen_so(rated_file):
    ratings = read_ratings(rated_file, texts=True)
    scores = score_ratings(ratings, choose_scheme(ratings))
    table = plane.rater_bias(scores, rng(), 100, [s for s in scores.systems if s != "ref"])
    rows = table[table.statistic == "pearson"].set_index("metric")
    assert rows.with_accuracy["one rater, accuracy"] == pytest.approx(1)
    assert abs(rows.with_fluency["one rater, fluency"]) < 0.8
    assert (table.kind == "rater").all()
    assert (table.n_systems == 5).all()


@pytest.mark.filterwarnings("ignore:.*duplicate row")
@pytest.mark.verifies("One rater as a metric", by="hand")
def test_two_raters_are_held_against_each_other(tmp_path):
    points = {"r1": (0, 1, 2, 6), "r2": (2, 0, 1, 5)}
    marks = [
        (system, 1, rater, f"{kind}/Grammar" if kind == "Fluency" else "Accuracy/Omission", "Minor")
        for rater, counts in points.items()
        for system, n in zip("ABCD", counts, strict=True)
        for kind in ("Accuracy", "Fluency")
        for _ in range(n)
    ]
    marks += [("A", 1, "r1", "No-error", "No-error"), ("B", 1, "r2", "No-error", "No-error")]
    ratings = read_ratings(ratings_file(tmp_path / "two.tsv", marks), texts=True)
    table = plane.rater_bias(score_ratings(ratings, choose_scheme(ratings)), rng(), 20)
    right = stats.pearsonr(points["r1"], points["r2"]).statistic
    rows = table[table.statistic == "pearson"]
    assert rows[["with_accuracy", "with_fluency"]].to_numpy() == pytest.approx(right)
    assert np.isnan(rows.lean_low).all()


@pytest.mark.verifies("One rater as a metric", by="foreign", of="scipy, rater by rater")
def test_the_mean_over_raters_is_that_of_scipys(rated_file):
    ratings = read_ratings(rated_file, texts=True)
    scores = score_ratings(ratings, choose_scheme(ratings))
    points = {}
    for system, segment, rater, values in zip(
        scores.system, scores.segment, scores.rater, scores.values, strict=True
    ):
        points[rater, segment, system] = values
    each = []
    for segment in range(len(scores.segments)):
        one, other = (
            np.array([points[r, segment, s] for s in range(len(scores.systems))]) for r in (0, 1)
        )
        with np.errstate(all="ignore"):
            pairs = [
                [stats.kendalltau(x[:, 1], y[:, axis]).statistic for axis in (1, 2)]
                for x, y in ((one, other), (other, one))
            ]
        good = [p for p in pairs if not np.isnan(p).any()]
        if good:
            each.append(np.mean(good, axis=0))
    row = plane.rater_bias(scores, rng(), 20).query("statistic == 'kendall'").set_index("metric")
    found = row.loc["one rater, accuracy", ["with_accuracy", "with_fluency"]].to_list()
    assert found == pytest.approx(np.mean(each, axis=0).tolist())


def test_a_reference_is_left_out_for_all_metrics_and_a_system_rated_twice_is_one(rated_file):
    text = rated_file.read_text("utf-8")
    again = [
        line.replace("A\t", "A_with_ref\t", 1)
        for line in text.splitlines(True)
        if line[:2] == "A\t"
    ]
    rated_file.write_text(text + "".join(again), encoding="utf-8")
    ratings = read_ratings(rated_file, texts=True)
    test = rated_texts(ratings, "en-de", "ref")
    test = test.without(["A_with_ref"])
    scores, join = score_ratings(ratings, choose_scheme(ratings)), join_ratings(test, ratings)
    rated = plane.rated_metrics(
        test, [metric_of("chrf", test), metric_of("ter", test)], scores, join
    )
    assert rated.systems == tuple("ABCDE")
    assert repr(rated) == "RatedMetrics(chrF, TER: 5 systems on 6 sources)"
    assert "averaged over repeated ratings: A." in rated.notes
    assert "references left out: ref." in rated.notes
    ters = rated.metrics["TER"]
    assert (ters <= 0).all()  # turned: higher is better
    assert rated.titles["TER"].startswith("−TER (")


def named_set(seed=0):
    some = a_set(seed)
    return replace(
        some,
        systems=tuple("ABCDEF"),
        accuracy=np.where(some.docs[:, None] == 3, np.nan, some.accuracy),
    )


@given(st.integers(0, 99), st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_a_mixture_takes_the_same_segments_of_two_systems_for_all_scores(seed, shares):
    rated = named_set()
    mixed = plane.mixed_systems(rated, ("B", "E"), shares, rng(seed))
    known = rated.docs != 3
    assert mixed.docs.tolist() == rated.docs[known].tolist()
    assert len(mixed.systems) == len(shares)
    of_b = np.isclose(mixed.metrics["sees accuracy"], rated.metrics["sees accuracy"][known, 1:2])
    assert (np.abs(of_b.sum(0) - np.array(shares) * known.sum()) < 1).all()
    for name, values in rated._columns.items():
        b, e = values[known][:, [1, 4]].T[:, :, None]
        assert np.array_equal(mixed._columns[name], np.where(of_b, b, e))
    again = plane.mixed_systems(rated, ("B", "E"), shares, rng(seed))
    assert np.array_equal(again.accuracy, mixed.accuracy)


def test_the_mean_of_a_mixture_is_linear_in_its_share_and_wrong_ones_are_refused():
    rated, shares = named_set(), [0, 0.3, 0.75, 1]
    drawn = [plane.mixed_systems(rated, ("A", "C"), shares, rng(seed)) for seed in range(800)]
    for axis in ("accuracy", "fluency"):
        means = np.array([getattr(one, axis).mean(0) for one in drawn])
        a, c = np.nanmean(rated.scores[axis][:, [0, 2]], axis=0)
        assert np.array_equal(means[:, [0, 3]], np.broadcast_to([c, a], (800, 2)))
        error = means.std(0) / 800**0.5
        assert (np.abs(means.mean(0) - (c + np.array(shares) * (a - c))) <= 4 * error + 1e-12).all()
    for share in (-0.1, 1.1):
        with pytest.raises(DataError, match="shares: got"):
            plane.mixed_systems(rated, ("A", "C"), [share], rng())
    with pytest.raises(UnknownName, match="unknown system 'Z'"):
        plane.mixed_systems(rated, ("A", "Z"), [0.5], rng())
