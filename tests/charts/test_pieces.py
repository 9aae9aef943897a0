"""What would be drawn of bars made of pieces."""

import pandas as pd
import pytest

from anhelpers.charts.offline import to_svg
from anhelpers.charts.xmi_bars import COLOURS, plot_pieces
from anhelpers.errors import DataError


@pytest.fixture
def pieces():
    rows = [
        ("H(S)", "left", 1.0, 0),
        ("H(S)", "shared", 6.0, 0),
        ("H(T)", "shared", 6.0, 1),
        ("H(T)", "left", 0.02, 1),
    ]
    return pd.DataFrame(rows, columns=["bar", "part", "value", "start"])


def rows_of(chart, name):
    spec = chart.to_dict()
    return next(spec["datasets"][a["data"]["name"]] for a in spec["layer"] if a.get("name") == name)


def test_pieces_lie_end_to_end_and_a_shared_one_under_itself(pieces):
    drawn = rows_of(plot_pieces(pieces), "pieces")
    assert [(r["from"], r["to"]) for r in drawn] == [
        (0, 1),
        (1, 7),
        (1, 7),
        (7, pytest.approx(7.02)),
    ]
    without = rows_of(plot_pieces(pieces.drop(columns="start")), "pieces")
    assert [(r["from"], r["to"]) for r in without][2:] == [(0, 6), (6, pytest.approx(6.02))]


def test_each_part_has_its_colour_and_what_has_no_room_has_no_number(pieces):
    chart = plot_pieces(pieces, title="A claim")
    scale = chart.to_dict()["layer"][0]["encoding"]["fill"]["scale"]
    assert scale == {"domain": ["left", "shared"], "range": list(COLOURS)[:2]}
    turned = plot_pieces(pieces, parts=["shared"]).to_dict()["layer"][0]["encoding"]["fill"][
        "scale"
    ]["domain"]
    assert turned == ["shared", "left"]
    assert [r["text"] for r in rows_of(chart, "texts")] == ["1.00", "6.00", "6.00"]
    assert "H(T): shared 6.00, left 0.02" in chart.to_dict()["description"]
    assert to_svg(chart).count(">6.00<") == 2


def test_the_bars_stand_in_the_order_given(pieces):
    chart = plot_pieces(pieces.iloc[::-1])
    assert chart.to_dict()["layer"][0]["encoding"]["y"]["sort"] == ["H(T)", "H(S)"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"value": -1.0},
            "'left' of 'H.S.' is -1: a piece of a bar has a length and a start of at least 0",
        ),
        ({"start": -2.0}, "is said to start at -2: a piece of a bar"),
        ({"start": float("inf")}, "start of 'H.S.' is inf"),
        ({"value": "1,5"}, "value of 'H.S.' is 1,5 in the table of pieces"),
        ({"value": float("nan")}, "is nan"),
        ({"part": list("abcd")}, None),
        ({"part": ["a", "b", "c", "d"], "more": True}, "5 kinds of pieces; between 1 and 4"),
    ],
)
def test_what_cannot_be_drawn_is_told(pieces, change, words):
    more = change.pop("more", False)
    table = pieces.assign(**change)
    table = pd.concat([table, table.iloc[:1].assign(part="e")]) if more else table
    if words is None:
        assert len(rows_of(plot_pieces(table), "pieces")) == 4
        return
    with pytest.raises(DataError, match=words):
        plot_pieces(table)
    with pytest.raises(DataError, match="no column part"):
        plot_pieces(table.drop(columns="part"))
    with pytest.raises(DataError, match="0 kinds"):
        plot_pieces(table[:0])
