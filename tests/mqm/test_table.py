"""Systems with intervals for other documents and raters, and penalties of an average rater."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import rankdata

from anhelpers.bootstrap import bootstrap_means
from anhelpers.data.ratings import read_ratings
from anhelpers.errors import DataError
from anhelpers.mqm import KINDS, MqmScores, adjust_raters, rater_notes, score_ratings, system_table
from anhelpers.mqm.table import _scaled
from anhelpers.plane import rated_plane

SHARED = os.environ.get("ANHELPERS_DATA")


def of(units, docs=None):
    """MqmScores of rows (system, segment, rater, penalty); accuracy and fluency are the same."""
    system, segment, rater, y = (np.array(column) for column in zip(*units, strict=True))
    n = int(segment.max()) + 1
    systems, raters = (
        tuple(f"{a}{i}" for i in range(int(c.max()) + 1)) for a, c in (("s", system), ("r", rater))
    )
    docs = tuple(f"d{i}" for i in (range(n) if docs is None else docs))
    return MqmScores(
        systems,
        raters,
        tuple(map(str, range(n))),
        docs,
        ("x",) * n,
        system,
        segment,
        rater,
        np.stack([y.astype(float)] * 3, axis=1),
        "simulated",
    )


def rng():
    return np.random.default_rng(3)


def test_intervals_are_of_documents_drawn_once_for_all_systems():
    docs = [g // 4 for g in range(36)]
    units = [(s, g, 0, 5 if docs[g] % 3 == 0 else 1) for s in range(2) for g in range(36)]
    scores = of([*units, (2, 4, 0, 1)], docs)
    table = system_table(scores, rng())
    values, _, names, _, _ = scores.matrix()
    drawn = bootstrap_means(values, names, rng())
    bounds = table.sort_values("system")[["penalty_low", "penalty_high"]].T
    assert np.array_equal(bounds, [drawn.low, drawn.high], equal_nan=True)
    assert table["system"].tolist() == ["s2", "s0", "s1"]
    a, b, c = (table.set_index("system").loc[name] for name in ("s0", "s1", "s2"))
    assert a.equals(b)  # equal scores, the same draws
    assert a["penalty"] == pytest.approx(7 / 3)
    assert a["penalty_low"] < 7 / 3 < a["penalty_high"]
    assert (a["n_docs"], c["n_docs"], c["n_segments"]) == (9, 1, 1)
    assert c["penalty"] == 1
    # one document says nothing about others
    assert np.isnan([c["penalty_low"], c["penalty_high"]]).all()
    # segments of a single document are drawn
    one = system_table(of([(0, g, 0, 1 + 4 * (g % 2)) for g in range(40)], [0] * 40), rng()).iloc[0]
    assert one.penalty_low < 3 < one.penalty_high
    single = system_table(of([(0, 0, 0, 1)]), rng()).iloc[0]
    assert (single.penalty, single.resampled) == (1, "")
    assert np.isnan(single.penalty_low)


# ---- intervals for other raters


def test_the_interval_of_three_raters_by_hand():
    """They give 1, 2 and 3 points everywhere: 2 ± 4.3027 · 1 / √3, Student's t with 2 degrees of freedom."""
    scores = of(
        [(0, g, r, r + 1) for g in range(27) for r in range(3)], docs=[g // 3 for g in range(27)]
    )
    row = system_table(scores, rng(), 200).iloc[0]
    assert (row.penalty_low_same_raters, row.penalty_high_same_raters) == (2, 2)
    assert row.penalty_high == pytest.approx(2 + 4.302653 / np.sqrt(3), abs=1e-6)
    assert row.penalty_low == 0  # no penalty is below 0
    assert row.resampled == "documents and raters"
    assert row.n_effective_raters == pytest.approx(3)


def test_one_rater_says_nothing_of_others():
    units = [(0, g, 0, g % 5) for g in range(20)] + [(1, g, g % 2, g % 3) for g in range(20)]
    table = system_table(of(units), rng(), 200).set_index("system")
    assert table.resampled.to_dict() == {"s0": "documents", "s1": "documents and raters"}
    alone = bootstrap_means(of(units).matrix().values[:, 0], of(units).docs, rng(), 200).high[0]
    assert table.loc["s0", ["penalty_high", "penalty_high_same_raters"]].tolist() == [alone, alone]
    few, one = rater_notes(table.reset_index())
    assert few.startswith("only 2 raters")
    assert "of s0;" in one
    thirds = of([(s, g, 0, g % 5) for s in range(2) for g in range(49)])  # 49 times 1 / 49 is not 1
    table = system_table(thirds, rng(), 200)
    assert table.n_effective_raters.tolist() == [1, 1]
    assert "each system" in rater_notes(table)[0]
    assert rater_notes(system_table(of(units[:1]), rng(), 200)) == []


@given(seed=st.integers(0, 10**6), raters=st.integers(2, 5), each=st.integers(1, 3))
def test_other_raters_never_make_an_interval_narrower(seed, raters, each):
    g = np.random.default_rng(seed)
    crews = [g.permutation(raters)[:each] for _ in range(24)]
    units = [(s, k, r, g.poisson(2)) for s in range(2) for k in range(24) for r in crews[k]]
    _, codes = np.unique([u[2] for u in units], return_inverse=True)
    units = [(s, k, int(r), y) for (s, k, _, y), r in zip(units, codes, strict=True)]
    table = system_table(of(units, docs=[k // 2 for k in range(24)]), rng(), 200)
    for kind in KINDS:
        assert (table[f"{kind}_low"] <= table[f"{kind}_low_same_raters"] + 1e-12).all()
        assert (table[f"{kind}_high"] >= table[f"{kind}_high_same_raters"] - 1e-12).all()


# ---- severity taken out

STRICT = [
    (s, g, (s + g) % 2, (s + 1) * (g + 2) * (0.5, 1.5)[(s + g) % 2])
    for s in range(3)
    for g in range(12)
]


@pytest.mark.verifies("Rater-adjusted MQM penalty", by="hand")
def test_a_rater_who_gives_three_times_the_points_is_found_out():
    """r1 gives 3 points where r0 gives 1: severities 1.5 and 0.5; system s has s + 1 times the points of s0."""
    found = adjust_raters(of(STRICT))
    assert found.severity[:, 0] == pytest.approx([0.5, 1.5])
    assert found.values[:, 0] == pytest.approx([(s + 1) * (g + 2) for s, g, *_ in STRICT])
    assert found.by().penalty.tolist() == pytest.approx([7.5, 15, 22.5])
    assert found.signature == "simulated|raters:adjusted"
    assert "r0 0.50, r1 1.50" in found.notes[-1]
    assert found.crews == ""


@pytest.mark.verifies("Rater-adjusted MQM penalty", by="property")
@given(seed=st.integers(0, 10**6), by=st.floats(0.1, 10))
def test_a_unit_scales_and_a_fair_design_keeps_its_order(seed, by):
    g = np.random.default_rng(seed)
    fair = [
        (s, k, r, float(g.poisson(3 * (r + 1))))
        for s in range(4)
        for k in range(15)
        for r in range(3)
    ]
    raw, found = of(fair), adjust_raters(of(fair))
    ratio = found.by().penalty / raw.by().penalty
    assert np.allclose(ratio, ratio[0], rtol=1e-5)
    assert found.severity.mean(0) == pytest.approx([1, 1, 1])
    scaled = adjust_raters(replace(raw, values=by * raw.values))
    assert np.allclose(scaled.values, by * found.values, atol=1e-5 * by)
    turned = g.permutation(len(fair))
    again = adjust_raters(of([fair[i] for i in turned]))
    assert np.allclose(again.values, found.values[turned], atol=1e-6)


@pytest.mark.verifies(
    "Rater-adjusted MQM penalty", by="foreign", of="SciPy's maximum of the Poisson likelihood"
)
def test_severities_are_those_of_greatest_likelihood():
    g = np.random.default_rng(1)
    units = [
        (
            s,
            k,
            (s * 7 + k * k) % 3,
            float(g.poisson((s + 1) * (1 + k % 4) * (0.6, 1, 1.4)[(s * 7 + k * k) % 3])),
        )
        for s in range(4)
        for k in range(14)
    ]
    scores = of(units)
    y = scores.values[:, 0]

    def parts(x):
        return x[scores.system] + x[4 + scores.segment] + x[18 + scores.rater]

    def loss(x):
        m = np.exp(parts(x))
        slope = np.zeros_like(x)
        for start, code in ((0, scores.system), (4, scores.segment), (18, scores.rater)):
            np.add.at(slope, start + code, m - y)
        return m.sum() - y @ parts(x) + 1e-9 * x @ x, slope + 2e-9 * x

    best = np.exp(
        minimize(loss, np.zeros(21), jac=True, method="BFGS", options={"gtol": 1e-7}).x[18:]
    )
    assert _scaled(scores, y, None)[0] == pytest.approx(best / best.mean(), rel=1e-4)


def test_raters_who_differ_by_chance_alone_change_nothing():
    g = np.random.default_rng(0)
    units = [(s, k, int(g.integers(4)), float(g.poisson(3))) for s in range(3) for k in range(60)]
    scores = of(units)
    same = 0
    for seed in range(12):
        y = np.random.default_rng(seed).poisson(3.0, len(units)).astype(float)
        found = adjust_raters(replace(scores, values=np.stack([y] * 3, axis=1)))
        same += np.array_equal(found.severity[:, 0], np.ones(4))
        assert abs(found.severity[:, 0] - 1).max() < 0.25
    assert same >= 4


@pytest.mark.parametrize(
    "units",
    [
        [(s, g, 0, 1) for s in range(2) for g in range(9)],  # one rater
        [(s, g, g % 2, 1 + g) for s in range(2) for g in range(9)],  # no segment in common
        [(s, g, s, 1 + g) for s in range(2) for g in range(9)],  # no system in common
        [
            (s, g, (s + g) % 2 + 2 * (g > 5), 1 + g) for s in range(2) for g in range(12)
        ],  # two groups
    ],
)
def test_severities_that_are_not_identified_are_refused(units):
    with pytest.raises(DataError):
        adjust_raters(of(units))


def test_severity_is_taken_out_once_and_odd_ratings_do_no_harm():
    found = adjust_raters(of(STRICT))
    with pytest.raises(DataError, match="already"):
        adjust_raters(found)
    clean = adjust_raters(of([(*unit[:3], 0) for unit in STRICT]))
    assert not clean.values.any()
    assert (clean.severity == 1).all()
    alone = [(s, 12 + s, 2, 0) for s in range(3)]  # r2 saw what no other saw, and marked nothing
    blind = adjust_raters(of([*STRICT, *alone]))
    assert np.isfinite(blind.values).all()
    # r2 marks nothing
    kind = adjust_raters(of([*STRICT, *((s, g, 2, 0) for s in range(3) for g in range(12))]))
    assert np.isfinite(kind.values).all()
    assert kind.severity[2, 0] < 0.5


def test_adjusted_and_rated_penalties_never_look_alike():
    raw, found = of(STRICT), adjust_raters(of(STRICT))
    assert "r0" in raw.crews
    assert "12 of 12 segments" in raw.crews
    planes = [rated_plane(one, "x") for one in (raw, found)]
    for one, other in zip(*(plane.axes for plane in planes), strict=True):
        assert (one.name, one.title, one.signature) != (other.name, other.title, other.signature)
        assert "rater-adjusted" in other.title
    few = found.shared()
    assert few.severity is found.severity
    row = system_table(found, rng(), 200).iloc[0]
    error = np.std([0.5, 1.5], ddof=1) / np.sqrt(2)
    assert found.severity_error == pytest.approx([error] * 3)
    # two raters: next to nothing is known
    assert row.penalty_high - row.penalty >= 12.706 * 0.99 * error * row.penalty


def test_other_systems_by_other_raters_are_noted_only_where_it_matters():
    fair = [(s, g, r, r + g) for s in range(2) for g in range(9) for r in range(2)]
    assert of(fair).crews == ""
    # both give the same on average
    assert of([(s, g, s, 1) for s in range(2) for g in range(9)]).crews == ""
    wrong = of([(s, g, s, 1 + s) for s in range(2) for g in range(9)])
    told = wrong.crews
    assert "No-error to count" in wrong.notes[0]
    assert "whose mean penalties range from 1.00 (r0) to 2.00 (r1)" in told


@pytest.mark.real
def test_ted_has_one_rater_a_translation_and_the_strictest_counts_most():
    scores = score_ratings(read_ratings(Path(SHARED, "mqm/mqm_ted_ende.tsv")))
    assert "range from 0.93 (rater1) to 2.17 (rater4)" in scores.crews
    found = adjust_raters(scores)
    assert found.severity[:, 0] == pytest.approx([0.68, 0.82, 0.87, 1.62], abs=0.02)
    ranks = [
        dict(zip(one.systems, rankdata(one.by().penalty), strict=True)) for one in (scores, found)
    ]
    assert [each["metricsystem5"] for each in ranks] == [10, 7]
    assert [each["UEdin"] for each in ranks] == [11, 14]


@pytest.mark.real
def test_one_rating_of_three_says_more_of_wmt23_once_severity_is_taken_out():
    """Its systems have the same three raters in every segment; one of them is kept, at random for each translation."""
    path = Path(SHARED, "mqm/sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv.tar.gz")
    scores = score_ratings(read_ratings(path))
    truth = scores.by().penalty.to_numpy()
    far = []
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(len(scores.values))
        cell = (scores.segment * len(scores.systems) + scores.system)[order]
        kept = order[np.unique(cell, return_index=True)[1]]
        codes = {
            name: getattr(scores, name)[kept] for name in ("system", "segment", "rater", "values")
        }
        one = replace(scores, **codes)
        means = [each.by().penalty.to_numpy() for each in (one, adjust_raters(one))]
        far.append([np.std(found / found.mean() - truth / truth.mean()) for found in means])
    raw, adjusted = np.mean(far, axis=0)
    assert adjusted < 0.85 * raw
