"""Ratings of single texts, joined by id, and the two metrics whose scores they are."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anhelpers.data import TestSet, load, load_candidates, load_ratings
from anhelpers.data.human import _rated_metric, ratings_beside
from anhelpers.errors import DataError, UnknownName
from anhelpers.scoring import score_all, system_rows
from anhelpers.scoring.lookup import accuracy_metric, naturalness_metric, row_of

HEAD = "segment\tid\tpass\tnaturalness\taccuracy"
SET = [
    {
        "src": "The dog barks.",
        "refs": ["Der Hund bellt."],
        "lp": "en-de",
        "candidates": [
            {"text": "Der Hund bellt laut.", "id": "a"},
            {"text": "Hund bellt.", "id": "b"},
        ],
    },
    {
        "src": "It is late.",
        "refs": ["Es ist spät."],
        "lp": "en-de",
        "candidates": [{"text": "Spät ist es.", "id": "a2"}],
    },
]
ROWS = [
    "0\ta\tx\t90\t60",
    "0\ta\ty\t80\t70",
    "0\tb\tx\t20\t95",
    "0\tb\ty\t30.5\t90",
    "1\ta2\tx\t70\t100",
    "1\ta2\ty\t71\t98",
]


@pytest.fixture
def own(tmp_path):
    """Writes a set of two sources and its ratings; returns the path of the set."""

    def write(rows=ROWS, head=HEAD, objects=SET):
        lines = "".join(json.dumps(one) + "\n" for one in objects)
        (tmp_path / "mine.jsonl").write_text(lines, encoding="utf-8")
        (tmp_path / "ratings.tsv").write_text(
            "".join(f"{row}\n" for row in [head, *rows]), encoding="utf-8"
        )
        return tmp_path / "mine.jsonl"

    return write


@pytest.mark.verifies("Rated accuracy, rated naturalness", by="foreign", of="pandas")
@pytest.mark.parametrize("name", ["teaching", "teaching/de-en"])
def test_the_teaching_ratings_equal_the_means_of_the_file(name):
    test, cands, found = load(name), load_candidates(name), load_ratings(name)
    assert found.passes == ("pass1", "pass2")
    assert found.ids[: found.n_candidates] == cands.ids
    assert found.texts == (*cands.texts, *test.refs["refB"], *test.refs["refA"])
    np.testing.assert_array_equal(found.segment, [*cands.segment, *range(52), *range(52)])
    table = pd.read_csv(ratings_beside(name), sep="\t")
    means = table.groupby(["segment", "id"])[["naturalness", "accuracy"]].mean()
    assert len(found.ids) == len(means) == len(cands) + 104
    for axis in ("naturalness", "accuracy"):
        wanted = means.loc[list(zip(found.segment, found.ids, strict=True)), axis]
        np.testing.assert_array_equal(found.mean(axis), wanted)
        of_cands, of_systems = score_all(test, _rated_metric(f"rated-{axis}", test.trg_lang), cands)
        np.testing.assert_array_equal(of_cands, wanted[: len(cands)])
        assert not np.isnan(of_systems).any()
    assert naturalness_metric("rated-naturalness", test.trg_lang).signature == (
        f"rated-naturalness|set:{name}|passes:pass1+pass2|n:{len(found.ids)}|sha256:{found.digest}"
    )


@pytest.mark.verifies("Rated accuracy, rated naturalness", by="hand")
def test_a_text_scores_the_mean_of_its_passes(own, capsys):
    path = own()
    found = load_ratings(path)
    assert found.mean("naturalness").tolist() == [85, 25.25, 70.5]
    assert found.accuracy.tolist() == [[60, 70], [95, 90], [100, 98]]
    metric = accuracy_metric(f"rated-accuracy:{path}", "de")
    srcs = ["It is late.", "The dog barks."]
    scores = metric.score_segments(
        ["Spät ist es.", " Hund bellt.", "Der Hund bellt.", ""], srcs=srcs, segment=[0, 1, 1, 1]
    )
    np.testing.assert_array_equal(scores, [99, 92.5, np.nan, np.nan])
    assert "1 of 4 texts have no rating" in capsys.readouterr().err
    with pytest.raises(UnknownName, match="axis"):
        found.mean("fluency")


@pytest.mark.verifies("Rated accuracy, rated naturalness", by="property")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(ROWS[0::2]), st.permutations(ROWS[1::2]))
def test_the_order_of_the_rows_decides_nothing(own, first, second):
    path, other = own(), load_ratings(own([*first, *second]))
    found = load_ratings(own())
    assert (found.ids, found.texts) == (other.ids, other.texts)
    for axis in ("naturalness", "accuracy"):
        np.testing.assert_array_equal(getattr(found, axis), getattr(other, axis))
        assert (getattr(found, axis).min(1) <= found.mean(axis)).all()
        assert (found.mean(axis) <= getattr(found, axis).max(1)).all()
    assert path.name == other.name


def test_rated_references_join_by_their_name(own):
    name = next(iter(load(own()).refs))
    found = load_ratings(
        own([*ROWS, *(f"{i}\tx/{name}\t{p}\t88\t99" for i in (0, 1) for p in "xy")])
    )
    assert (len(found.ids), found.n_candidates) == (5, 3)
    assert found.texts[3:] == ("Der Hund bellt.", "Es ist spät.")
    assert found.mean("accuracy").tolist()[3:] == [99, 99]


@pytest.mark.parametrize(
    ("rows", "head", "line"),
    [
        (ROWS[:-1], HEAD, None),
        ([*ROWS, "1\tz\tx\t1\t2"], HEAD, 8),
        ([*ROWS, "0\ta\tx\t1\t2"], HEAD, 8),
        ([*ROWS[1:], "0\ta\tx\t1\t101"], HEAD, 7),
        ([*ROWS[1:], "²\ta\tx\t1\t10"], HEAD, 7),
        (ROWS, HEAD.replace("pass", "rater"), 1),
    ],
)
def test_a_bad_table_is_refused(own, rows, head, line):
    with pytest.raises(DataError, match=r"ratings\.tsv" + (f", line {line}:" if line else ":")):
        load_ratings(own(rows, head))


def test_ratings_need_texts_with_ids(own, tmp_path):
    for name in ("wmt24/en-de", tmp_path / "x.jsonl", own([])):
        with pytest.raises(DataError):
            load_ratings(name)
    for objects in ([one | {"candidates": ["Ja.", "Nein."]} for one in SET], SET[:1]):
        with pytest.raises(DataError):
            load_ratings(own(objects=objects))


def test_texts_of_another_set_are_refused():
    with pytest.raises(DataError, match="rated-naturalness:FOLDER"):
        _rated_metric("rated-naturalness").score_segments(["Ja."], srcs=["Yes."])
    assert row_of("rated-accuracy:x").axis == "accuracy"
    with pytest.raises(UnknownName):
        row_of("rated-accuracyx")


def test_a_domain_keeps_its_ratings_and_a_shuffled_reference_has_none():
    test, metric = load("teaching"), _rated_metric("rated-accuracy")
    part = test.subset(np.array(test.domains) == "speech")
    whole = system_rows(test, [metric]).value
    assert system_rows(part, [metric]).n.tolist() == [13] * 8
    assert (whole > 70).all()
    moved = TestSet(
        "moved", "en-de", test.srcs, {}, {"shuffled": test.refs["refA"][1:] + test.refs["refA"][:1]}
    )
    assert np.isnan(score_all(moved, metric)[1]).all()
