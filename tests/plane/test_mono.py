"""Systems against R: gaps, N(Q), who is beyond R; in tables and in words."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anhelpers.data import TestSet
from anhelpers.frontier import oracle_curve
from anhelpers.metrics import Metric
from anhelpers.naturalness.lpp import Mono, lpp_distance
from anhelpers.plane import metric_axis, overshoot, systems_table, with_mono

R = Mono(("eins", "zwei", "drei"))
LPP_R = np.array([3.0, 4.0, 5.0])


def metric(name="lpp"):
    return Metric(name, name, "nats per token", False, (), f"{name}|v:1", lambda hyps: LPP_R)


@pytest.fixture
def plane(plane_from):
    """A is less probable than R, B more; two segments in each of four documents."""
    rng = np.random.default_rng(3)
    naturalness = np.stack([rng.normal(-6, 0.3, 8), rng.normal(-2, 0.3, 8)], axis=1)
    return plane_from(
        rng.normal(50, 5, (8, 2)), naturalness, docs=np.repeat(list("abcd"), 2), systems=["A", "B"]
    )


@pytest.mark.verifies("LPP distance", by="hand")
def test_the_table_has_an_s_columns(plane):
    table, r = with_mono(systems_table(plane, np.random.default_rng(0), 200), plane, metric(), R)
    assert (r.value, r.n) == (-4.0, 3)
    assert table.mono.eq(-4).all()
    assert table.mono_n.eq(3).all()
    assert table.lpp_r.tolist() == [4, 4]
    assert table.lpp_q.tolist() == pytest.approx((-table.naturalness).tolist())
    assert table.lpp_gap.tolist() == pytest.approx((table.lpp_q - 4).tolist())
    assert table.minus_lpp_distance.tolist() == pytest.approx([-abs(gap) for gap in table.lpp_gap])
    for j, row in enumerate(table.itertuples()):
        own = lpp_distance(plane.naturalness.values[:, j], -LPP_R, docs_q=plane.docs)
        assert (row.lpp_gap_low, row.lpp_gap_high) == pytest.approx(own.gap.interval)
        low, high = own.distance.interval
        assert (row.minus_lpp_distance_low, row.minus_lpp_distance_high) == pytest.approx(
            (-high, -low)
        )


@pytest.mark.verifies("LPP distance", by="property")
def test_on_the_axis_of_n_of_q_the_intervals_are_those_of_both_samples(plane):
    axis = replace(
        plane.naturalness,
        name="lpp-distance",
        level="corpus",
        score=lambda sums: -np.abs(-sums[..., 0] / sums[..., 1] - 4),
        bounds=(-np.inf, 0),
    )
    folded = replace(plane, naturalness=axis)
    before = systems_table(folded, np.random.default_rng(0), 200)
    table, r = with_mono(before, folded, metric(), R)
    assert (r.value, np.isnan(r.low)) == (0, True)
    assert "minus_lpp_distance" not in table
    straight, _ = with_mono(systems_table(plane, np.random.default_rng(0), 200), plane, metric(), R)
    for end in ("", "_low", "_high"):
        assert table[f"naturalness{end}"].tolist() == pytest.approx(
            straight[f"minus_lpp_distance{end}"].tolist()
        )
    assert (table.naturalness_se > before.naturalness_se).all()  # R varies too
    assert (table.naturalness_high <= 0).all()


def test_systems_beyond_r_are_named():
    rows = [
        ("A", 1.0, 2.0, ""),
        ("B", -1.0, -0.5, ""),
        ("C", -0.2, 0.4, "human"),
        ("D", -3.0, -2.0, "control"),
    ]
    table = pd.DataFrame(rows, columns=["system", "lpp_gap", "lpp_gap_high", "outside"]).assign(
        lpp_r=4.0
    )
    assert "LPP(R) = 4.000 nats per token: B, C." in overshoot(table)
    assert ": none." in overshoot(table[:1])
    curve = oracle_curve([0, 0], [50.0, 40.0], [-5.0, -3.0])
    assert "the oracle curve" in overshoot(table[:1], curve)
    assert "curve" not in overshoot(table[:1], oracle_curve([0, 0], [50.0, 40.0], [-5.0, -4.5]))
    assert "No system" in overshoot(table.assign(lpp_gap=np.nan))


def test_a_blank_output_has_no_part_in_a_corpus_score_that_skips_blanks():
    counting = Metric(
        "m",
        "m",
        "",
        True,
        (),
        "",
        None,
        lambda hyps, **_: 0.0,
        skips_blank=True,
        count=lambda hyps, **_: np.array([[len(x), 1.0 * bool(x)] for x in hyps]),
        score_count=lambda sums: sums[..., 0] / sums[..., 1],
    )
    test = TestSet("s", "en-de", srcs=("x", "y"), systems={"A": ("ab", ""), "B": ("a", "b")})
    assert metric_axis(test, counting, "corpus").there.tolist() == [[True, True], [False, True]]
