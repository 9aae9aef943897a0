"""Segment scores of metrics that were computed elsewhere: what is read, and what is refused in a sentence."""

import numpy as np
import pytest

from anhelpers.data import TestSet, read_segment_scores
from anhelpers.errors import DataError
from anhelpers.scoring.lookup import metric
from anhelpers.scoring.tables import segment_rows

HEAD = "system,segment,metric,value,unit"
SET = TestSet(
    "made up",
    "en-de",
    ("one", "two", "three"),
    {"ref": ("eins", "zwei", "drei")},
    {"A": ("eins", "zwo", "drei"), "B": ("ein", "zwei", "vier")},
    docs=("d1", "d1", "d2"),
)


def written(path, *rows, head=HEAD):
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


def test_what_score_writes_is_read_back_with_higher_is_better(tmp_path):
    table = segment_rows(SET, [metric("chrf", "de"), metric("ter", "de")])
    table.to_csv(tmp_path / "scores.csv", index=False)
    found = read_segment_scores(tmp_path / "scores.csv", SET)
    assert found.attrs["notes"] == ()
    for name, sign in (("chrf", 1), ("ter", -1)):
        np.testing.assert_allclose(
            found.score[found.metric == name], sign * table.value[table.metric == name]
        )
    assert found.unit[found.metric == "ter"].iloc[0].endswith("(negated: higher is better)")


def test_columns_in_any_order_and_what_is_missing_is_counted(tmp_path):
    rows = ['0.5,A,0,m,"0 to 1, higher is better"', ',A,1,m,"0 to 1, higher is better"']
    path = written(tmp_path / "a.csv", *rows, head="value,system,segment,metric,unit")
    found = read_segment_scores(path, SET)
    assert found.score.tolist() == [0.5]
    assert found.attrs["notes"] == (
        "scores are matched to segments by number alone; with a column doc shifted rows would be "
        "seen.",
        "not all segments have a stored score; fewest: m of A, 1 of 3.",
    )


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["A,0,m,1"], "line 2: has 4 fields, and the header 5"),
        (
            ["A,3,m,1,higher is better"],
            "line 2: segment '3' is none of made up, whose 3 segments count from 0",
        ),
        (["A,-1,m,1,higher is better"], "segment '-1' is none of"),
        (["A,1.0,m,1,higher is better"], "segment '1.0' is none of"),
        (["C,0,m,1,higher is better"], "has scores of no system of made up"),
        (["A,0,,1,higher is better"], "there is no metric's name"),
        (["A,0,m,x,higher is better"], "score 'x' is no finite number"),
        (["A,0,m,nan,higher is better"], "this table has no score"),
        (["A,0,m,1,points"], "the unit 'points' of m does not say the direction"),
        (
            ["A,0,m,1,higher is better", "A,0,m,2,higher is better"],
            "line 3: system 'A' has a second m for segment 0",
        ),
        (
            ["A,0,m,1,higher is better", "A,1,m,2,lower is better"],
            "m has the unit 'lower is better' here",
        ),
        ([], "this table has no score"),
    ],
)
def test_what_cannot_be_right_is_refused_in_a_sentence(rows, said, tmp_path):
    with pytest.raises(DataError, match=said) as told:
        read_segment_scores(written(tmp_path / "s.csv", *rows), SET)
    assert "s.csv" in str(told.value)
    assert "\n" not in str(told.value)


def test_shifted_rows_are_seen_by_their_documents(tmp_path):
    path = written(tmp_path / "s.csv", "A,1,m,1,higher is better,d2", head=f"{HEAD},doc")
    with pytest.raises(
        DataError, match=r"segment 1 is of document 'd2' here, and in made up of 'd1'"
    ):
        read_segment_scores(path, SET)


def test_another_header_is_told_with_the_columns_that_are_wanted(tmp_path):
    path = written(tmp_path / "s.csv", "A,0,1", head="system,segment,score")
    with pytest.raises(
        DataError, match="no column metric, unit; value and system, segment, metric, unit are"
    ):
        read_segment_scores(path, SET)
    with pytest.raises(DataError, match="columns 1 and 2 are both called 'system'"):
        read_segment_scores(written(tmp_path / "t.csv", head="system,system"), SET)


def test_a_system_that_the_set_lacks_is_named_and_left_out(tmp_path):
    path = written(tmp_path / "s.csv", "A,0,m,1,higher is better", "Other,0,m,1,higher is better")
    found = read_segment_scores(path, SET)
    assert found.system.tolist() == ["A"]
    assert "not in made up, and left out: Other." in found.attrs["notes"]
