"""Joint resampling, distances to the curve, Pareto sets and paired tests, each against the plain way."""

import itertools
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sacrebleu.significance import PairedTest
from scipy.stats import multivariate_normal

from anhelpers import bootstrap
from anhelpers import plane as planes
from anhelpers.accuracy.surface import surface_metric
from anhelpers.charts.systems import _error_ellipses
from anhelpers.data import TestSet
from anhelpers.errors import DataError, UnknownName
from anhelpers.frontier import oracle_curve
from anhelpers.plane import paired_tests, plane_of, scores, sliced_table, systems_table, table
from anhelpers.plane.scores import _stored_axis
from anhelpers.stats import holm, p_value

TEXT = (
    "der die das ein Haus Hund Baum Tag geht steht liegt heute morgen nicht sehr alt neu groß und"
)
WORDS = TEXT.split()


def corpus(seed=1, size=30, k=3) -> TestSet:
    rng = np.random.default_rng(seed)
    refs = [" ".join(rng.choice(WORDS, rng.integers(4, 12))) + "." for _ in range(size)]
    systems = {}
    for j in range(k):
        noisy = (
            " ".join(w if rng.random() > 0.1 + 0.1 * j else rng.choice(WORDS) for w in r.split())
            for r in refs
        )
        systems[f"S{j}"] = tuple(noisy)
    return TestSet("t", "en-de", tuple(map(str, range(size))), {"ref": tuple(refs)}, systems)


@pytest.mark.verifies("Bootstrap over documents", by="property")
def test_both_axes_and_all_systems_share_the_resampled_documents(random_plane):
    plane = random_plane()
    draws, drawn = plane.draws(np.random.default_rng(5), 60)
    weights = np.concatenate([block for _, block in drawn.by_segment()])
    for b in range(60):
        rows = np.repeat(np.arange(len(plane)), weights[b])
        np.testing.assert_allclose(draws[b, 0], plane.accuracy.values[rows].mean(0))
        np.testing.assert_allclose(draws[b, 1], plane.naturalness.values[rows].mean(0))
    by_doc = {doc: weights[:, plane.docs == doc] for doc in set(plane.docs.tolist())}
    assert all((w == w[:, :1]).all() for w in by_doc.values())


def test_draws_in_blocks_give_the_table_of_all_draws_at_once(random_plane, monkeypatch):
    """What is too large for memory is made a few draws at a time, and the numbers stay the same."""
    plane, n = random_plane(), 300
    monkeypatch.setattr(bootstrap, "BLOCK", 64)
    few = bootstrap.Resamples(plane.clusters, n, np.random.default_rng(1))
    assert len([*few.blocks()]) > 10
    kept = np.concatenate([block for _, block in few.blocks()])
    assert (kept.sum(1) == few.n_clusters).all()
    whole = copy(few)
    whole._kept = kept
    values = plane.accuracy.values, plane.naturalness.values
    segment = np.repeat(np.arange(len(plane)), len(plane.systems))
    curve = oracle_curve(segment, *(v.ravel() for v in values))
    tables = []
    for drawn in (few, whole):
        for module in (table, scores):
            monkeypatch.setattr(module, "Resamples", lambda *_, drawn=drawn: drawn)
        tables.append(systems_table(plane, np.random.default_rng(0), n, curve=curve))
        tables[-1].attrs["draws"] = plane.draws(np.random.default_rng(0), n)[0]
    pd.testing.assert_frame_equal(*tables, rtol=1e-12)
    np.testing.assert_allclose(*(t.attrs["draws"] for t in tables), rtol=1e-12)


@pytest.mark.verifies("BLEU", "chrF", by="foreign", of="sacreBLEU")
@pytest.mark.parametrize(
    ("name", "oracle"), [("chrf", sacrebleu.CHRF()), ("bleu", sacrebleu.BLEU())]
)
def test_a_corpus_score_of_a_resample_is_that_of_the_resampled_texts(name, oracle):
    test = corpus()
    axis = planes.metric_axis(test, surface_metric(name, "de"), "corpus")
    plane = plane_of(test, axis, planes.mean_axis("n", "n", "n", np.zeros((len(test), 3))))
    draws, drawn = plane.draws(np.random.default_rng(2), 8)
    ((_, weights),) = drawn.by_segment()
    for b, j in itertools.product(range(8), range(3)):
        rows = np.repeat(np.arange(len(test)), weights[b])
        hyps, refs = (
            [texts[i] for i in rows] for texts in (test.systems[f"S{j}"], test.refs["ref"])
        )
        assert draws[b, 0, j] == pytest.approx(oracle.corpus_score(hyps, [refs]).score, abs=1e-9)
    whole = [
        oracle.corpus_score(list(h), [list(test.refs["ref"])]).score for h in test.systems.values()
    ]
    np.testing.assert_allclose(plane.scores()[0], whole, atol=1e-12)


@pytest.mark.verifies("Gap of a system to the curve", by="property")
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_a_resampled_curve_is_the_curve_of_the_resampled_sources(seed, k):
    rng = np.random.default_rng(seed)
    segment = np.repeat(np.arange(5), k)
    a, n = rng.integers(0, 9, (2, 5 * k)).astype(float)
    weights = rng.multinomial(5, [0.2] * 5, size=3)
    at_a, at_n = rng.uniform(0, 9, (2, 3, 4))
    fast = oracle_curve(segment, a, n).resampled_gaps(weights, at_a, at_n)
    for b in range(3):
        sources = np.repeat(np.arange(5), weights[b])
        rows = np.concatenate([np.flatnonzero(segment == s) for s in sources])
        again = oracle_curve(np.repeat(np.arange(5), k), a[rows], n[rows])
        np.testing.assert_allclose(fast[b], again.gaps(at_a[b], at_n[b]), atol=1e-9)


@pytest.mark.verifies("Gap of a system to the curve", by="hand")
def test_gaps_are_zero_on_the_curve_and_a_point_above_it_is_told(plane_from):
    segment, a, n = [0, 0, 0], [10.0, 8.0, 0.0], [0.0, 2.0, 4.0]
    curve = oracle_curve(segment, a, n)
    np.testing.assert_allclose(
        curve.gaps([10, 8, 0, 7], [0, 2, 4, 2]), [[0, 0, 0, 1], [0, 0, 0, 0.25]]
    )
    plane = plane_from(
        [[8.0, 9.5, 1.0, 7.0]], [[2.0, 2.0, 4.5, -1.0]], systems=["on", "over", "beyond", "below"]
    )
    table = systems_table(plane, np.random.default_rng(0), curve=curve).set_index("system")
    assert table.above_curve.to_dict() == {
        "on": False,
        "over": True,
        "beyond": True,
        "below": False,
    }
    assert np.isnan(table.accuracy_gap["beyond"])
    assert table.naturalness_gap["below"] == pytest.approx(3.25)


def test_a_curve_of_other_segments_or_another_level_is_refused(random_plane):
    plane, curve = random_plane(), oracle_curve([0], [1.0], [1.0])
    with pytest.raises(DataError):
        systems_table(plane, np.random.default_rng(0), curve=curve)
    test = corpus(size=1)
    axis = planes.metric_axis(test, surface_metric("chrf", "de"), "corpus")
    with pytest.raises(DataError):
        systems_table(plane_of(test, axis, axis), np.random.default_rng(0), curve=curve)


@pytest.mark.verifies("Pareto set", by="property")
@given(arrays(float, (2, 6), elements=st.integers(0, 4).map(float)))
def test_pareto_is_not_beaten_by_any_other(scores):
    wanted = [
        not any(
            (scores[:, o] >= scores[:, i]).all() and (scores[:, o] > scores[:, i]).any()
            for o in range(6)
        )
        for i in range(6)
    ]
    assert planes.pareto(scores).tolist() == wanted


@pytest.mark.verifies("Share of resamples on the Pareto front", by="property")
def test_the_table_has_ellipses_and_a_probability_of_being_pareto_optimal(plane_from):
    rng = np.random.default_rng(3)
    shared = rng.normal(size=(200, 1))
    a = 50 + shared + 0.1 * rng.normal(size=(200, 3))
    n = -5 + shared + 0.1 * rng.normal(size=(200, 3))
    a[:, 2] -= 5
    n[:, 2] -= 5
    table = systems_table(plane_from(a, n), rng)
    assert (table.correlation > 0.9).all()
    np.testing.assert_allclose(table.accuracy_se, a.std(0, ddof=1) / np.sqrt(200), rtol=0.15)
    assert table.pareto_share[2] == 0
    assert table.pareto.tolist()[2] is False
    assert 0 < table.pareto_share[:2].max() <= 1


def test_only_shared_segments_count_unless_asked_otherwise(plane_from):
    a, n = np.arange(8.0).reshape(4, 2), np.zeros((4, 2))
    n[1, 0] = np.nan
    plane = plane_from(
        np.c_[a, np.zeros(4)], np.c_[n, np.full(4, np.nan)], systems=["A", "B", "empty"]
    )
    shared = plane.shared()
    assert len(shared) == 3
    assert shared.notes == ("1 of 4 segments are left out: a score is missing, most often for A.",)
    table = systems_table(shared, np.random.default_rng(0))
    assert table.n.tolist() == [3, 3, 0]
    assert np.isnan(table.naturalness[2])
    assert table.accuracy[2] == 0
    own = systems_table(plane.own(), np.random.default_rng(0))
    assert own.n.tolist() == [3, 4, 0]
    assert own.naturalness[0] == 0
    assert own.accuracy[0] == a[[0, 2, 3], 0].mean()
    assert own.accuracy[2] == 0
    with pytest.raises(DataError):
        paired_tests(plane, np.random.default_rng(0))


@pytest.mark.verifies("Paired randomisation test", by="foreign", of="sacreBLEU")
@pytest.mark.parametrize("name", ["chrf", "bleu"])
def test_paired_tests_agree_with_sacrebleu_s_approximate_randomisation(name):
    test, metric = corpus(size=60), surface_metric(name, "de")
    axis = planes.metric_axis(test, metric, "corpus")
    table = paired_tests(plane_of(test, axis, axis), np.random.default_rng(0), 4000, against="S0")
    named = [(s, list(h)) for s, h in test.systems.items()]
    oracle = {
        "chrf": sacrebleu.CHRF(references=[list(test.refs["ref"])]),
        "bleu": sacrebleu.BLEU(references=[list(test.refs["ref"])]),
    }[name]
    _, results = PairedTest(named, {name: oracle}, None, test_type="ar", n_samples=4000)()
    theirs = [r.p_value for r in next(v for k, v in results.items() if k != "System")][1:]
    np.testing.assert_allclose(table[table.axis == "accuracy"].p, theirs, atol=0.03)


@pytest.mark.verifies("Paired randomisation test", by="property")
def test_paired_tests_enumerate_all_swaps_of_documents(random_plane):
    plane = random_plane(seed=4, size=16, k=2, n_docs=6)
    d = plane.accuracy.values[:, 0] - plane.accuracy.values[:, 1]
    sums = [d[plane.docs == doc].sum() for doc in sorted(set(plane.docs.tolist()))]
    every = [abs(np.dot(s, sums)) for s in itertools.product((-1, 1), repeat=len(sums))]
    exact = np.mean(np.array(every) >= abs(d.sum()) - 1e-9)
    row = paired_tests(plane, np.random.default_rng(0), 20_000).iloc[0]
    assert row.p == pytest.approx(exact, abs=0.015)
    assert row.difference == pytest.approx(d.mean())
    assert (row.n, row.n_docs) == (16, len(sums))


def test_equal_systems_never_differ_and_the_family_is_the_pairs_of_an_axis(
    plane_from, random_plane
):
    plane = random_plane()
    twin = plane_from(plane.accuracy.values[:, [0, 0, 1]], plane.naturalness.values[:, [0, 0, 1]])
    table = paired_tests(twin, np.random.default_rng(0), 500)
    same = table[(table.system_a == "S0") & (table.system_b == "S1")]
    assert same.p.eq(1).all()
    np.testing.assert_allclose(
        table[table.axis == "accuracy"].p_holm, holm(table[table.axis == "accuracy"].p)
    )
    with pytest.raises(UnknownName, match="did you mean 'S1'"):
        paired_tests(twin, np.random.default_rng(0), against="S11")


@pytest.mark.verifies("Holm and Bonferroni", by="property")
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_between_the_raw_and_bonferroni_and_keeps_the_order(p):
    p, adjusted = np.array(p), holm(p)
    assert (adjusted >= p).all()
    assert (adjusted <= np.minimum(1, p * len(p)) + 1e-12).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


def test_holm_ignores_missing_tests_and_p_is_never_zero():
    np.testing.assert_array_equal(holm([0.02, np.nan, 0.5]), [0.04, np.nan, 0.5])
    assert p_value(9.0, np.zeros((99, 1))).tolist() == [0.01]
    assert np.isnan(p_value([np.nan, 1.0], [[0.0, np.nan]])).all()


def test_slices_cut_the_segments_into_parts(plane_from):
    plane = plane_from(np.ones((7, 2)), np.ones((7, 2)), domains=list("aabbbbc"))
    lengths = sliced_table(plane, np.random.default_rng(0), "length", 50)
    sizes = lengths.groupby("slice", sort=False).n.first()
    assert [name.split()[0] for name in sizes.index] == ["short", "middle", "long"]
    assert sizes.tolist() == [3, 2, 2]
    table = sliced_table(plane, np.random.default_rng(0), "domain", 50)
    assert table.columns[0] == "slice"
    assert table.groupby("slice").n.first().to_dict() == {"a": 2, "b": 4, "c": 1}
    assert table[table.slice == "c"].accuracy_low.isna().all()
    with pytest.raises(UnknownName, match="slice"):
        sliced_table(plane, np.random.default_rng(0), "colour")


def test_systems_are_compared_on_the_segments_of_the_test_set():
    test, axis = corpus(), planes.mean_axis("n", "n", "n", np.zeros((2, 3)))
    with pytest.raises(DataError):
        plane_of(test, axis, axis)
    plane = planes.system_plane(test, surface_metric("chrf", "de"), surface_metric("bleu", "de"))
    assert plane.only(["S2", "S0"]).systems == ("S2", "S0")


@pytest.mark.verifies("Paired randomisation test", by="hand")
def test_paired_tests_by_hand(plane_from):
    """Three segments, A ahead by 1 in each: of the 8 ways to swap only none and all are as far apart, so p = 1/4."""
    plane = plane_from([[2.0, 1], [5, 4], [3, 2]], [[0.0, 1], [1, 0], [1, 1]])
    accuracy, naturalness = paired_tests(plane, np.random.default_rng(0), 20_000).itertuples()
    assert (accuracy.difference, naturalness.difference, naturalness.p) == (1, 0, 1)
    assert abs(accuracy.p - 1 / 4) < 4 * np.sqrt(3 / 16 / 20_000)


@pytest.mark.verifies("Share of resamples on the Pareto front", by="hand")
def test_the_pareto_share_by_hand(plane_from):
    """A is ahead on both axes in segment 1 and behind in 2: B is beaten if segment 1 is drawn twice, so in 1/4."""
    plane = plane_from([[1.0, 0], [0, 1]], [[1.0, 0], [0, 1]])
    table = systems_table(plane, np.random.default_rng(0), n_draws=20_000)
    np.testing.assert_allclose(table.pareto_share, 3 / 4, atol=4 * np.sqrt(3 / 16 / 20_000))


@pytest.mark.verifies("Share of resamples on the Pareto front", by="foreign", of="scipy")
def test_the_pareto_share_is_that_of_scipys_normal(plane_from):
    """Many segments: A is Pareto-optimal unless both mean differences, two correlated normal numbers, are below 0."""
    rng = np.random.default_rng(1)
    d = rng.multivariate_normal([0.03, 0.02], [[1, 0.5], [0.5, 1]], 600)
    zero = np.zeros(600)
    table = systems_table(
        plane_from(np.c_[d[:, 0], zero], np.c_[d[:, 1], zero]), rng, n_draws=20_000
    )
    law = multivariate_normal(d.mean(0), np.cov(d.T, ddof=0) / 600)
    # A is behind on one axis at least
    b_wins = law.cdf([0, np.inf]) + law.cdf([np.inf, 0]) - law.cdf([0, 0])
    np.testing.assert_allclose(table.pareto_share, [1 - law.cdf([0, 0]), b_wins], atol=0.012)


@pytest.mark.verifies("Gap of a system to the curve", by="foreign", of="numpy")
def test_the_gap_of_a_system_is_numpys_interpolation():
    curve = oracle_curve(np.repeat([0, 1], 5), *np.random.default_rng(2).normal(size=(2, 10)))
    n = np.linspace(curve.naturalness[0], curve.naturalness[-1], 9)
    a = np.interp(n, curve.naturalness, curve.accuracy) - 0.25
    gaps = curve.gaps(a, n)
    np.testing.assert_allclose(gaps[0], 0.25, rtol=1e-12)
    np.testing.assert_allclose(
        gaps[1], np.interp(-a, -curve.accuracy, curve.naturalness) - n, atol=1e-12
    )


def stored(plane_from):
    """Accuracy per segment, and 0.1 as the naturalness of all systems, known for the whole test set only."""
    plane = plane_from(
        np.random.default_rng(0).normal(size=(30, 3)), np.zeros((30, 3)), domains=["a", "b"] * 15
    )
    return replace(
        plane,
        naturalness=_stored_axis("n", "n (higher is better)", "n|v:1", [0.1] * 3, plane.there),
    )


def test_a_stored_score_says_nothing_that_needs_draws_and_has_no_slices(plane_from):
    plane = stored(plane_from)
    table = systems_table(plane, np.random.default_rng(0), n_draws=50)
    drawn = ["correlation", "pareto_share", "naturalness_se", "naturalness_low", "naturalness_high"]
    assert table[drawn].isna().all(axis=None)
    assert table[["accuracy_se", "accuracy_low"]].notna().all(axis=None)
    with pytest.raises(DataError):
        sliced_table(plane, np.random.default_rng(0), "domain")


def test_no_gap_is_larger_than_the_scale(plane_from):
    plane = plane_from([[0.0], [90.0], [1.0]], [[0.0], [1.0], [2.0]])
    plane = replace(plane, accuracy=replace(plane.accuracy, bounds=(0.0, 100.0)))
    curve = oracle_curve([0, 1, 2], [95.0, 95, 95], [3.0, 3, 3])
    table = systems_table(plane, np.random.default_rng(0), 200, curve)
    assert table.accuracy_gap_high.tolist() == [100.0]
    free = replace(plane, accuracy=replace(plane.accuracy, bounds=(-np.inf, np.inf)))
    assert systems_table(free, np.random.default_rng(0), 200, curve).accuracy_gap_high[0] > 100


def test_documents_are_counted_for_each_system(plane_from):
    a = np.ones((4, 3))
    a[1:, 0] = a[:, 2] = np.nan
    table = systems_table(
        plane_from(a, a, docs=["x", "x", "y", "z"]).own(), np.random.default_rng(0), n_draws=20
    )
    assert table[["n", "n_docs"]].to_numpy().tolist() == [[1, 1], [4, 3], [0, 0]]


def test_intervals_and_ellipses_end_at_what_is_possible(plane_from):
    errors = np.random.default_rng(0).exponential(2, (6, 4))
    far = plane_from(100 - errors, -errors)
    wide = systems_table(far, np.random.default_rng(1))
    assert (wide.accuracy_high > 100).any()
    assert (wide.naturalness_high > 0).any()
    accuracy = replace(far.accuracy, bounds=(0, 100))
    naturalness = replace(far.naturalness, bounds=(-np.inf, 0))
    cut = systems_table(
        replace(far, accuracy=accuracy, naturalness=naturalness), np.random.default_rng(1)
    )
    assert cut.accuracy_high.tolist() == np.minimum(wide.accuracy_high, 100).tolist()
    assert cut.naturalness_high.tolist() == np.minimum(wide.naturalness_high, 0).tolist()
    assert cut.accuracy_low.tolist() == wide.accuracy_low.tolist()
    outlines = _error_ellipses(cut)
    assert outlines.accuracy.max() == 100
    assert outlines.naturalness.max() == 0


@pytest.mark.parametrize(
    ("n_docs", "counting", "told"),
    [
        (1, 40, "All segments are of one document"),
        (40, 40, ""),
        (1, 1, ""),
        (6, 5.5, "only 6 doc"),
        (1, 4, "only 4 segments: "),
    ],
)
def test_a_caution_names_one_document_and_few(n_docs, counting, told):
    rows = pd.DataFrame({"system": ["A"], "n_docs": n_docs, "n_effective": counting})
    if n_docs == 1:
        rows = rows.assign(n_segments=counting, resampled="segments and raters")
    assert planes.few_documents(rows)[: len(told) or None] == told
