"""Scores and curves of whole test sets, with metrics whose values are known."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from anhelpers.accuracy.surface import surface_metric
from anhelpers.data import CandidateSet, TestSet, from_systems
from anhelpers.errors import DataError, UnknownName
from anhelpers.frontier import oracle_curve
from anhelpers.metrics import Metric
from anhelpers.plane import (
    half_gain_prices,
    judged_studies,
    oracle_studies,
    oracle_study,
    system_plane,
    systems_table,
    with_human_points,
    without_sparse,
)


def length_metric(higher: bool = True) -> Metric:
    """Number of words; nan for a blank text. Reads no reference, so it stands in for a naturalness measure."""

    def score(hyps, refs=None, srcs=None, segment=None):
        return np.array([float(len(h.split())) if h.strip() else np.nan for h in hyps])

    return Metric("words", "words", "words", higher, (), "words|v:1", score)


TWO_REFS = TestSet(
    "t",
    "en-de",
    ("a", "b", "c", "d"),
    {"ref": ("ein Haus", "zwei", "drei drei", "x"), "other": ("Haus", "zwo", "drei", "y")},
    {"A": ("ein Haus", "zwei", "", "x y z"), "B": ("Haus", "zwei zwei", "drei", "x")},
    docs=("1", "1", "2", "2"),
    domains=("n", "n", "m", "m"),
    categories={"A": "MT", "B": "LLM"},
)
TEST = TWO_REFS.one_reference()
CHRF = surface_metric("chrf", "de")


@pytest.mark.parametrize(("data", "n"), [("wmt23/en-de", 1), ("wmt24/en-de", 0)])
def test_a_judge_names_the_data_that_chose_it(data, n):
    test, judge = replace(TEST, name=data), replace(length_metric(), name="native")
    study = oracle_study(test, from_systems(test), CHRF, judge)
    for notes in (study.notes, system_plane(test, CHRF, judge).notes):
        assert sum(note.startswith(f"native was chosen on {data}") for note in notes) == n


def test_a_blank_output_removes_its_segment_for_all_and_is_told():
    study = oracle_study(
        with_human_points(TWO_REFS), from_systems(TEST), CHRF, length_metric(False)
    )
    assert len(study.test) == 3
    assert any("1 of 4 segments are left out" in note for note in study.notes)
    assert list(study.test.systems) == ["A", "B", "other"]
    assert study.plane.accuracy.values.shape == (3, 3)
    table = study.systems(np.random.default_rng(0))
    assert table.n.tolist() == [3, 3, 3]
    assert table.category.tolist() == ["MT", "LLM", "human"]
    np.testing.assert_allclose(table.accuracy, study.plane.accuracy.values.mean(0))
    assert (table.accuracy_low <= table.accuracy).all()
    assert (table.naturalness <= table.naturalness_high).all()


def test_sparse_systems_can_be_left_out_by_their_share_of_blanks():
    study = oracle_study(without_sparse(TEST, 0.2), from_systems(TEST), CHRF, length_metric())
    assert list(study.test.systems) == ["B"]
    assert len(study.test) == 4
    assert any(note.startswith("A: left out") for note in study.notes)


def test_direction_is_turned_once():
    low, high = (
        oracle_study(TEST, from_systems(TEST), CHRF, length_metric(h)) for h in (False, True)
    )
    assert (low.naturalness == -high.naturalness).all()
    ter = oracle_study(TEST, from_systems(TEST), surface_metric("ter", "de"), length_metric())
    assert ter.accuracy.max() == 0  # a perfect copy needs no edit, and is the best there is
    assert ter.plane.accuracy.values.max() == 0


def test_the_curve_is_that_of_the_kept_candidates_and_no_system_lies_above_it():
    study = oracle_study(TEST, from_systems(TEST), CHRF, length_metric())
    again = oracle_curve(study.cands.segment, study.accuracy, study.naturalness)
    assert (again.accuracy == study.curve.accuracy).all()
    table = study.systems(np.random.default_rng(0))
    assert (table.accuracy <= study.curve.accuracy_at(table.naturalness) + 1e-9).all()
    rows = study.vertices()
    assert " ".join(rows) == (
        "beta accuracy naturalness n accuracy_signature naturalness_signature candidates"
    )
    assert rows.n.eq(3).all()


def test_the_gap_of_who_is_among_the_candidates_is_at_least_0():
    table = oracle_study(TEST, from_systems(TEST), CHRF, length_metric()).systems(
        np.random.default_rng(0)
    )
    assert table.among_candidates.all()
    gaps = table.filter(regex="^(accuracy|naturalness)_gap")
    assert (gaps >= 0).all(axis=None)
    assert not np.signbit(gaps).any(axis=None)
    free = oracle_study(TEST, from_systems(TEST, ["A", "B"]), CHRF, length_metric())
    wide = systems_table(free.plane, np.random.default_rng(0), curve=free.curve)
    assert (wide.accuracy_gap_low < 0).any()


def test_a_domain_is_the_study_of_its_segments():
    study = oracle_study(TEST, from_systems(TEST), CHRF, length_metric()).domain("n")
    assert study.test.srcs == ("a", "b")
    assert set(study.cands.segment) == {0, 1}
    with pytest.raises(UnknownName):
        study.domain("z")


def test_a_domain_keeps_how_often_its_candidates_were_drawn():
    drawn = from_systems(TEST)
    n = len(drawn.texts)
    drawn = replace(drawn, multiplicity=np.arange(1, n + 1), logprob=-np.arange(n, dtype=float))
    part = oracle_study(TEST, drawn, CHRF, length_metric()).domain("n").cands
    there = [
        (text, count, -logprob + 1)
        for text, count, logprob in zip(part.texts, part.multiplicity, part.logprob, strict=True)
    ]
    assert there == [(drawn.texts[count - 1], count, count) for count in part.multiplicity]
    assert 0 < len(there) < n


def test_a_candidate_without_a_score_is_left_out_and_told():
    """Segment 2 is left out, for A is blank there; of segment 3, the second of the three given has no score."""
    cands = CandidateSet(np.array([0, 1, 2, 3, 3, 3]), ("ein", "zwei", "drei", "", "?", "x"))
    words = length_metric()

    def score(hyps, **context):
        return np.where([h == "?" for h in hyps], np.nan, words.score_segments(hyps, **context))

    study = oracle_study(TEST, cands, CHRF, replace(words, score_segments=score))
    assert study.cands.texts == ("ein", "zwei", "x")
    assert len(study.accuracy) == len(study.naturalness) == 3
    assert "1 of 5 candidates have no score (first: source 4)." in study.notes
    only = CandidateSet(np.array([0, 1, 2, 3, 3]), ("ein", "?", "drei", "x", "y"))
    study = oracle_study(TEST, only, CHRF, replace(words, score_segments=score))
    assert study.cands.texts == ("ein", "x", "y")
    assert "1 of 4 segments are left out: no candidate has a score." in study.notes

    def infinite(hyps, **context):
        return np.where([h == "?" for h in hyps], np.inf, words.score_segments(hyps, **context))

    with pytest.raises(DataError, match=r"naturalness of segment 2 .* is inf"):
        oracle_study(TEST, cands, CHRF, replace(words, score_segments=infinite))


def test_no_common_segment_is_an_error():
    blank = TestSet(
        "t", "en-de", ("a", "b"), systems={"A": ("", "x"), "B": ("x", "")}, refs={"r": ("x", "x")}
    )
    with pytest.raises(DataError, match="no segment has a score from every system"):
        oracle_study(blank, from_systems(blank), CHRF, length_metric())
    half = replace(TEST, refs={"ref": ("ein Haus", " ", "", "x")}, systems={}, categories={})
    study = oracle_study(half, from_systems(TEST), CHRF, length_metric())
    assert "2 of 4 segments left out without source or reference, first in line 2." in study.notes


def test_without_systems_there_is_a_curve_and_an_empty_table():
    bare = TestSet("bare", "en-de", ("a",), {"r": ("x y",)})
    study = oracle_study(
        bare, CandidateSet(np.array([0, 0]), ("x", "x y z")), CHRF, length_metric()
    )
    assert len(study.curve.beta) >= 1
    assert study.systems(np.random.default_rng(0)).empty


def test_one_segment_has_scores_and_no_interval():
    one = oracle_study(TEST, from_systems(TEST), CHRF, length_metric()).domain("m")
    assert len(one.test) == 1
    table = one.systems(np.random.default_rng(0))
    assert table.n.tolist() == table.n_docs.tolist() == [1, 1]
    assert table.accuracy.notna().all()
    assert table[["accuracy_low", "naturalness_high"]].isna().all(axis=None)


def test_several_judges_are_the_single_studies_and_each_scores_once():
    calls = []

    def counting(metric):
        def score(*args, **kwargs):
            calls.append(metric.name)
            return metric.score_segments(*args, **kwargs)

        return replace(metric, score_segments=score)

    metrics = [CHRF, surface_metric("bleu", "de")], [length_metric(), length_metric(False)]
    together = oracle_studies(
        TEST, from_systems(TEST), *[list(map(counting, axis)) for axis in metrics]
    )
    assert calls == ["chrf", "bleu", "words", "words"]
    alone = [oracle_study(TEST, from_systems(TEST), a, n) for a in metrics[0] for n in metrics[1]]
    for one, other in zip(together, alone, strict=True):
        assert [m.name for m in one.metrics] == [m.name for m in other.metrics]
        assert one.curve.beta.tolist() == other.curve.beta.tolist()
        assert (one.accuracy.tolist(), one.naturalness.tolist()) == (
            other.accuracy.tolist(),
            other.naturalness.tolist(),
        )
        assert (one.cands.id, one.notes) == (other.cands.id, other.notes)


def test_several_judges_are_on_the_segments_that_all_share():
    holes = replace(
        length_metric(),
        name="holes",
        score_segments=lambda hyps, segment, **_: np.where(
            segment == 0, np.nan, [len(hyp.split()) for hyp in hyps]
        ),
    )
    only = oracle_studies(TEST, from_systems(TEST), [CHRF], [length_metric(), holes])
    assert [len(one.test) for one in only] == [2, 2]  # the second one has a blank output, too
    assert any("1 of" in note and "left out" in note for note in only[0].notes)


def test_a_candidate_that_one_of_several_judges_cannot_score_leaves_its_segment_out_for_all():
    def score(hyps, **_):
        return np.array([np.nan if hyp == "zwo" else float(len(hyp)) for hyp in hyps])

    picky = replace(length_metric(), name="picky", score_segments=score)
    cands = CandidateSet(np.array([0, 1, 1, 2, 3]), ("ein", "zwei", "zwo", "drei", "vier"))
    bare = replace(TEST, systems={}, categories={})
    only = oracle_studies(bare, cands, [CHRF], [length_metric(), picky])
    assert [one.test.srcs for one in only] == [("a", "c", "d")] * 2
    assert only[0].notes[-1] == "1 of 4 segments are left out: picky does not score a candidate."
    with pytest.raises(DataError, match="no segment has candidates"):
        oracle_studies(
            bare, CandidateSet(np.arange(4), ("zwo",) * 4), [CHRF], [length_metric(), picky]
        )


def test_missing_judges_are_told_and_the_others_stay():
    cands = from_systems(TEST)
    studies, missing = judged_studies(
        TEST, cands, ["chrf", "rated-accuracy", "chrf"], ["critic:nowhere", "compression"]
    )
    assert [[m.name for m in one.metrics] for one in studies] == [["chrf", "compression"]]
    assert [sentence.partition(": ")[0] for sentence in missing] == [
        "accuracy by rated-accuracy is missing",
        "naturalness by critic:nowhere is missing",
    ]
    assert "'nowhere'" in missing[1]
    with pytest.raises(DataError, match="accuracy by rated-accuracy is missing"):
        judged_studies(TEST, cands, ["rated-accuracy"], ["compression"])
    with pytest.raises(DataError, match="naturalness: got no metric"):
        judged_studies(TEST, cands, ["chrf"], [])


@pytest.mark.verifies("Price of half the naturalness", by="hand")
@pytest.mark.verifies("Price of half the naturalness", by="property")
@pytest.mark.verifies("Price of half the naturalness", by="foreign", of="scipy")
def test_the_price_of_half_the_gain_depends_on_no_unit_and_on_the_drawn_documents():
    """Two sources, each with a hull of three points; the second source again gives the curve of a draw."""
    a, n = [10.0, 9, 4, 10, 8, 6], [0.0, 2, 4, 0, 1, 4]
    texts = tuple("abcdef")
    test = TestSet("t", "en-de", ("s", "t"), {"r": ("x", "y")}, {"A": ("a", "d")}, docs=("1", "2"))
    cands = CandidateSet([0, 0, 0, 1, 1, 1], texts, ("A",) * 6)

    def study(per_point, per_nat, judge="judge"):
        def metric(name, values):
            of = dict(zip(texts, values, strict=True))
            return Metric(
                name, name, "", True, (), name, lambda hyps, **_: np.array([of[t] for t in hyps])
            )

        return oracle_study(
            test,
            cands,
            metric("accuracy", np.multiply(per_point, a)),
            metric(judge, np.multiply(per_nat, n)),
        )

    table = half_gain_prices([study(1, 1), study(7, 0.1)], np.random.default_rng(0), 200)
    one = oracle_curve(cands.segment, a, n)
    half = (one.naturalness[0] + one.naturalness[-1]) / 2
    by_hand = (one.accuracy[0] - one.accuracy_at(half)) / np.ptp(one.accuracy)
    assert np.allclose(table.price, by_hand)
    each = np.kron(np.eye(2), np.ones(3))  # a linear program over mixtures of a source's candidates
    most = linprog(np.divide(a, -2), [np.divide(n, -2)], [-half], each, [1, 1])
    assert np.allclose(table.price, (one.accuracy[0] + most.fun) / np.ptp(one.accuracy))
    alone = []
    for rows in ([0, 1, 2], [3, 4, 5]):
        line = oracle_curve(np.zeros(3, int), *np.take([a, n], rows, axis=1))
        at = line.accuracy_at(np.ptp(line.naturalness) / 2)
        alone.append((line.accuracy[0] - at) / np.ptp(line.accuracy))
    assert np.allclose(table[["low", "high"]], sorted(alone))
    with pytest.raises(DataError, match="2 judges"):
        half_gain_prices([study(1, 1), study(1, 1, "other")], np.random.default_rng(0))
