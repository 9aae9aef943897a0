"""Expert ratings as a metric: the penalties of the very texts, at the segments of a test set."""

import csv
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anhelpers.accuracy.external import _external_metric as mqm_metric
from anhelpers.cli import main
from anhelpers.data import TestSet, find_file, load, rated_texts, ratings_file, read_ratings
from anhelpers.data.ratings import join_ratings
from anhelpers.errors import DataError
from anhelpers.mqm import score_ratings
from anhelpers.plane import rated_plane, system_plane, systems_table
from anhelpers.scoring import system_scores

TEST = TestSet(
    "mine",
    "en-de",
    srcs=("The dog.", "A cat."),
    systems={"A": ("Der Hund.", "Eine Katze."), "B": ("Die Hund.", "Ein Katze."), "C": ("x", "y")},
)
HEAD = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")


def rows(*given):
    """(system, segment from 1, rater, category, severity) -> rows with texts."""
    texts = {"A": TEST.systems["A"], "B": TEST.systems["B"]}
    return [(s, "d", i, i, r, TEST.srcs[i - 1], texts[s][i - 1], c, v) for s, i, r, c, v in given]


ROWS = rows(
    ("A", 1, "r1", "Accuracy/Mistranslation", "Major"),
    ("A", 1, "r2", "No-error", "No-error"),
    ("A", 2, "r1", "Fluency/Grammar", "Minor"),
    ("B", 1, "r1", "Fluency/Punctuation", "Minor"),
    ("B", 1, "r2", "Style/Awkward", "Minor"),
    ("B", 1, "r2", "Accuracy/Omission", "Minor"),
)


@pytest.fixture
def file(tmp_path):
    def write(given=ROWS, name="mqm.tsv", head=HEAD):
        lines = ["\t".join(map(str, row)) + "\n" for row in [head, *given]]
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")
        return tmp_path / name

    return write


def given(kind, path, test=TEST):
    return mqm_metric(f"{kind}:{path}").score_systems(test)


@pytest.mark.verifies("MQM of rated translations", by="hand")
def test_penalties_stand_at_their_texts_and_raters_are_averaged(file):
    path = file()
    nan = np.nan
    np.testing.assert_allclose(given("mqm", path).values, [[2.5, 1.05, nan], [1, nan, nan]])
    np.testing.assert_allclose(given("mqm-accuracy", path).values, [[2.5, 0.5, nan], [0, nan, nan]])
    np.testing.assert_allclose(given("mqm-fluency", path).values, [[0, 0.55, nan], [1, nan, nan]])
    assert given("mqm", path).docs == ("d", "d")
    metric = mqm_metric(f"mqm:{path}")
    assert (metric.unit, metric.higher_is_better) == ("points per segment", False)
    assert metric.signature.endswith("|kind:penalty|sha256:" + metric.signature[-8:])
    plane = system_plane(
        TEST, mqm_metric(f"mqm-accuracy:{path}"), mqm_metric(f"mqm-fluency:{path}")
    )
    assert plane.systems == ("A", "B")
    assert any(note.startswith("C: left out") for note in plane.notes)
    assert any(note.startswith("Both axes are of the same ratings") for note in plane.notes)
    np.testing.assert_allclose(plane.scores(), [[-2.5, -0.5], [0, -0.55]])


@pytest.mark.verifies("MQM of rated translations", by="property")
def test_neither_the_order_of_rows_nor_that_of_segments_matters(file):
    expected = given("mqm", file()).values
    for seed in range(3):
        rng = np.random.default_rng(seed)
        shuffled = file([ROWS[i] for i in rng.permutation(len(ROWS))], name=f"{seed}.tsv")
        np.testing.assert_allclose(given("mqm", shuffled).values, expected)
    np.testing.assert_allclose(given("mqm", file(), TEST.subset([1, 0])).values, expected[::-1])
    np.testing.assert_allclose(
        given("mqm-accuracy", file()).values + given("mqm-fluency", file()).values, expected
    )


@pytest.mark.verifies("MQM of rated translations", by="hand")
@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (1, 2, 4, 0, 3)])
def test_ratings_of_an_edited_text_are_left_out_in_any_order(file, order):
    """A: r1 5 of the output and 1 of an edited text, r2 5 of an edited text, r3 1: (5 + 1) / 2."""
    texts = "<v>Der</v> Hund.", "Der Hunde.", "Ein Hund.", "Der  Hund.", "Die Hund."
    marks = "A r1 Major", "A r1 Minor", "A r2 Major", "A r3 Minor", "B r2 Minor"
    said = [(*mark.split(), text) for mark, text in zip(marks, texts, strict=True)]
    lines = [(s, "d", 1, 1, r, "The dog.", t, "Fluency/Grammar", v) for s, r, v, t in said]
    path = file([lines[i] for i in order])
    found = given("mqm-fluency", path)
    np.testing.assert_allclose(found.values[0], [3, 1, np.nan])
    assert "2 of 5 ratings of mine are of another text, perhaps edited" in " ".join(found.notes)
    ratings = read_ratings(path, texts=True)
    assert score_ratings(ratings).by().penalty.tolist() == [4, 1]  # all rows: (6 + 5 + 1) / 3
    own = join_ratings(TEST, ratings).ratings
    assert score_ratings(own).by().penalty.tolist() == [3, 1]


def test_another_text_has_no_rating(file):
    other = replace(TEST, systems={**TEST.systems, "A": ("Der Hund!", "Eine Katze.")})
    assert np.isnan(given("mqm", file(), other).values[0, 0])
    with pytest.raises(DataError, match="no rating is of mine"):
        given("mqm", file(), replace(TEST, srcs=("x", "y")))
    with pytest.raises(DataError, match=r"no/such\.tsv"):
        mqm_metric("mqm:no/such.tsv")
    with pytest.raises(DataError, match="esa/wmt24"):
        mqm_metric("mqm:esa/wmt24")


def test_a_system_rated_beside_two_others_has_the_mean_of_both(file):
    twice = [("A_with_B", *row[1:]) for row in ROWS[:3]] + [
        ("A_with_C", *row[1:]) for row in ROWS[1:2]
    ]
    found = given("mqm", file([*twice, *ROWS[3:]]))
    assert found.values[0, 0] == pytest.approx((2.5 + 0) / 2)


def test_the_command_has_human_axes_without_a_curve(tmp_path, capsys, undrawn):
    axes = ["-m", "mqm-accuracy:teaching", "--naturalness", "mqm-fluency:teaching"]
    said = ["plane", "--data", "teaching", *axes]
    assert main([*said, "-o", str(tmp_path / "out")]) == 0
    out, err = capsys.readouterr()
    assert "No oracle curve" in err
    assert "compared with the reference" not in err
    assert not (tmp_path / "out" / "curve.csv").exists()
    table = pd.read_csv(tmp_path / "out" / "systems.csv")
    assert {"accuracy_low", "accuracy_high", "naturalness_low"} <= {*table}
    assert not table.accuracy_low.isna().any()
    assert "gap" not in out
    assert main(["curve", "teaching", "-m", "mqm:teaching", "-o", str(tmp_path / "c.csv")]) == 2
    assert "not single texts" in capsys.readouterr().err


@pytest.mark.verifies("MQM of rated translations", by="foreign", of="the plane of ratings")
def test_the_teaching_set_has_the_penalties_of_its_table():
    test, ratings = load("teaching"), read_ratings(ratings_file("teaching"), texts=True)
    plane = rated_plane(score_ratings(ratings), "x")
    for kind, axis in (("accuracy", plane.accuracy), ("fluency", plane.naturalness)):
        mine = np.nanmean(system_scores(test, mqm_metric(f"mqm-{kind}:teaching")), axis=0)
        theirs = dict(zip(plane.systems, -axis.score(axis.counts.sum(0)), strict=True))
        assert dict(zip(test.systems, mine, strict=True)) == pytest.approx(
            {s: theirs[s] for s in test.systems}
        )


REAL = pytest.mark.skipif(not os.environ.get("ANHELPERS_DATA"), reason="ANHELPERS_DATA is not set")


@REAL
@pytest.mark.real
@pytest.mark.verifies(
    "MQM of rated translations", by="foreign", of="the published segment averages"
)
def test_ted_is_as_published():
    path = find_file("mqm/ted-ende")
    test = rated_texts(read_ratings(path, texts=True), "en-de", "ref")
    values = system_scores(test, mqm_metric("mqm:mqm/ted-ende"))
    published = pd.read_csv(path.with_suffix(".avg_seg_scores.tsv"), sep=r"\s+", na_values="None")
    means = -published.groupby("system").mqm_avg_score.mean()
    mine = dict(zip(test.systems, np.nanmean(values, axis=0), strict=True))
    assert len(mine) == 13
    for system, value in mine.items():
        assert value == pytest.approx(means[system], abs=1e-6)
    assert round(mine["Facebook-AI"], 2) == 1.06
    assert round(mine["Nemo"], 2) == 2.14


@REAL
@pytest.mark.real
def test_wmt23_by_hand_and_with_the_documents_of_the_raters():
    test = load("wmt23/en-de")
    accuracy, fluency = (mqm_metric(f"mqm-{kind}:wmt23/en-de") for kind in ("accuracy", "fluency"))
    plane = system_plane(test, accuracy, fluency)
    assert (len(plane.systems), len(plane), len(set(plane.docs))) == (9, 103, 30)
    assert plane.outside == {"refA": "human"}
    assert "Documents are those of the ratings." in plane.notes
    frame = score_ratings(read_ratings(find_file("mqm/wmt23-ende-sxs"))).by("segment")
    for system in ("ONLINE-W", "Lan-BridgeMT"):
        of = frame[frame.system == system]
        values = system_scores(test, accuracy)[:, list(test.systems).index(system)]
        assert sorted(values[~np.isnan(values)]) == pytest.approx(sorted(of.accuracy))
    table = systems_table(plane, np.random.default_rng(0), 300).set_index("system")
    assert (
        table.accuracy_low["ONLINE-W"]
        < table.accuracy["ONLINE-W"]
        < table.accuracy_high["ONLINE-W"]
        <= 0
    )
    assert not table[["accuracy_low", "naturalness_high"]].isna().any().any()


def test_flat_categories_of_wmt24_en_es_are_read_beside_a_column_of_json(file, capsys):
    """B: (1 + 2) / 2; A: (5 / 2 + 1) / 2."""
    flat = ["mistranslation", "no-error", "grammar", "punctuation", "unnatural_flow", "omission"]
    pairs = zip(ROWS, flat, strict=True)
    rich = [(*row[:7], name, row[8].lower(), '{"note": "a, ""b"""}') for row, name in pairs]
    assert main(["mqm", str(file(rich, "flat.tsv", (*HEAD, "metadata")))]) == 0
    rows = csv.DictReader(capsys.readouterr().out.splitlines())
    assert [float(row["penalty"]) for row in rows] == [1.5, 1.75]
