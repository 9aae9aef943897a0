"""XMI: bars that add up, a chosen direction, points against BLEU."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anhelpers.charts.frame import INKS
from anhelpers.charts.offline import _to_svg
from anhelpers.charts.xmi import _directions, plot_pieces, plot_xmi_bars, plot_xmi_bleu
from anhelpers.errors import DataError, UnknownName
from anhelpers.stats import pearson
from anhelpers.xmi.published import published_table

from .drawn import encoding_of, layers, rows_of

ALL = "all directions"
LEFT = "left over (H_MT)"


@pytest.fixture
def table():
    rows = [
        ("en-fi", 160.0, 60.0, 100.0, 30.0),
        ("fi-en", 150.0, 58.0, 92.0, 38.0),
        ("en-xx", 40.0, 46.0, -6.0, 1.0),
    ]
    return pd.DataFrame(rows, columns=["direction", "h_lm", "h_mt", "xmi", "bleu"])


def texts_of(chart, align):
    return [r["text"] for r in rows_of(chart, type="text", align=align)]


def test_directions_have_names_sides_and_reverses(table):
    rows = _directions(table, ["xmi"])
    assert rows["label"].tolist() == ["English → Finnish", "Finnish → English", "English → xx"]
    assert rows["side"].tolist() == ["out of English", "into English", "out of English"]
    assert rows["other"].tolist() == ["fi", "fi", "xx"]
    assert rows["reverse"].tolist() == ["fi-en", "en-fi", ""]
    some = table.assign(src=["en", "fi", None], trg=["fi", "en", None])  # the name has the rest
    assert _directions(some, ["xmi"])["label"].tolist() == rows["label"].tolist()


@pytest.mark.parametrize(
    ("names", "sides"),
    [
        (["de-fr", "fr-de"], ["out of German", "into German"]),
        (["fr-de", "de-es", "it-de"], ["into German", "out of German", "into German"]),
        (["de-en", "en-de"], ["into English", "out of English"]),
        (["de-fr", "es-it"], [ALL, ALL]),
        (["mine", "de-fr"], [ALL, ALL]),
        (["zh-Hans-en", "en-zh-Hans"], [ALL, ALL]),
    ],
)
def test_the_side_is_of_the_language_that_all_share(names, sides):
    frame = pd.DataFrame({"direction": names, "xmi": 1.0})
    assert _directions(frame, ["xmi"])["side"].tolist() == sides


def test_columns_src_and_trg_name_what_a_direction_does_not():
    frame = pd.DataFrame({"direction": ["a", "b"], "xmi": 1.0})
    rows = _directions(frame.assign(src=["zh-Hans", "en"], trg=["en", "zh-Hans"]), ["xmi"])
    assert rows["reverse"].tolist() == ["b", "a"]
    assert rows["label"].tolist() == ["zh-Hans → English", "English → zh-Hans"]
    twice = _directions(frame.assign(src="en", trg="de"), ["xmi"])
    assert twice["label"].tolist() == ["a", "b"]  # two systems of one direction stay apart


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.drop(columns="xmi"),
        lambda t: pd.concat([t, t]),
        lambda t: t.assign(h_mt=[60, np.inf, 46]),
        lambda t: t.assign(bleu="30,1"),
        lambda t: t.assign(xmi=np.nan),
        lambda t: t.assign(xmi=[100, 95, -6]),
    ],
)
def test_tables_that_cannot_be_bars_are_refused(table, change):
    with pytest.raises(DataError):
        plot_xmi_bars(change(table))


def test_a_negative_xmi_goes_left_of_0_and_a_tick_marks_h_lm(table):
    chart = plot_xmi_bars(table)
    rows = [r for r in rows_of(chart, name="bars") if r["direction"] == "en-xx"]
    assert {(r["meaning"] == LEFT, r["from"], r["to"]) for r in rows} == {
        (False, -6, 0),
        (True, 0, 46),
    }
    assert encoding_of(chart, name="bars")["x"]["scale"]["domain"] == [-6, 160]
    assert [r["h_lm"] for r in rows_of(chart, name="ticks")] == [40]
    assert "40.0 (XMI −6.0)" in texts_of(chart, "left")
    assert not rows_of(plot_xmi_bars(table[:2]), name="ticks")


@pytest.mark.parametrize(
    ("order", "first"),
    [("h_lm", ["en-xx", "en-fi", "fi-en"]), ("name", ["en-fi", "fi-en", "en-xx"])],
)
def test_bars_have_the_given_order(table, order, first):
    rows = rows_of(plot_xmi_bars(table, order=order), name="bars")
    drawn = sorted({(r["place"], r["direction"]) for r in rows})
    assert [name for _, name in drawn] == first
    places = np.array([place for place, _ in drawn])
    assert (np.diff(places) >= 1).all()
    assert (np.diff(places) > 1.2).any()  # a gap between two languages


def test_intervals_are_drawn_where_they_are_known(table):
    ends = {"xmi_low": [98, np.nan, -7], "xmi_high": [103.0, np.nan, -5]}
    chart = plot_xmi_bars(table.assign(**ends, h_lm_low=150.0, h_lm_high=170.0))
    drawn = [
        {(r[e["x"]["field"]], r[e["x2"]["field"]]) for r in rows}
        for m, e, rows in layers(chart)
        if m["type"] == "rule" and "x2" in e
    ]
    assert drawn == [{(98, 103), (-7, -5)}] * 2 + [{(150, 170)}] * 2
    assert encoding_of(chart, name="bars")["x"]["scale"]["domain"] == [-7, 170]


def test_a_direction_without_a_number_is_named(table):
    chart = plot_xmi_bars(table.assign(h_mt=[60, np.nan, 46]))
    assert {r["direction"] for r in rows_of(chart, name="bars")} == {"en-fi", "en-xx"}
    assert ">Not drawn, for a number is missing: fi-en.<" in _to_svg(chart)


@settings(max_examples=8)
@given(st.lists(st.tuples(st.floats(0, 300), st.floats(0, 300)), min_size=1, max_size=6))
def test_pieces_are_as_long_as_their_numbers(pairs):
    h_lm, h_mt = np.array(pairs).T
    names = [f"en-x{i}" for i in range(len(pairs))]
    table = pd.DataFrame({"direction": names, "h_lm": h_lm, "h_mt": h_mt, "xmi": h_lm - h_mt})
    chart = plot_xmi_bars(table)
    low, high = encoding_of(chart, name="bars")["x"]["scale"]["domain"]
    for row in rows_of(chart, name="bars"):
        want = row["h_mt"] if row["meaning"] == LEFT else abs(row["xmi"])
        assert row["to"] - row["from"] == pytest.approx(want, abs=1e-9)
        assert low <= row["from"] <= row["to"] <= high


def test_pieces_lie_end_to_end_and_a_shared_one_under_itself():
    rows = [
        ("H(S)", "own", 1.0, 0),
        ("H(S)", "both", 6.0, 0),
        ("H(T)", "both", 6.0, 1),
        ("H(T)", "own", 0.02, 1),
    ]
    pieces = pd.DataFrame(rows, columns=["bar", "part", "value", "start"])
    chart = plot_pieces(pieces, title="A claim")
    spans = [(r["from"], r["to"]) for r in rows_of(chart, name="pieces")]
    assert spans == [(0, 1), (1, 7), (1, 7), (7, pytest.approx(7.02))]
    plain = rows_of(plot_pieces(pieces.drop(columns="start")), name="pieces")
    assert [(r["from"], r["to"]) for r in plain][2] == (0, 6)
    turned = encoding_of(plot_pieces(pieces, parts=["both"]), name="pieces")["fill"]["scale"]
    assert turned["domain"] == ["both", "own"]
    assert [r["text"] for r in rows_of(chart, name="texts")] == ["1.00", "6.00", "6.00"]
    assert "H(T): both 6.00, own 0.02" in chart.to_dict()["description"]
    assert _to_svg(chart).count(">6.00<") == 2
    five = pd.DataFrame({"bar": "b", "part": list("abcde"), "value": 1.0})
    for wrong in (five, pieces.assign(value="1,5"), pieces.drop(columns="part"), pieces[:0]):
        with pytest.raises(DataError):
            plot_pieces(wrong)


def test_points_lines_and_r_of_each_side():
    table = published_table()
    chart = plot_xmi_bleu(table, named=["en-fi", "fi-en"], title="A claim")
    drawn = {(r["direction"], r["x"], r["y"]) for r in rows_of(chart, name="points")}
    assert drawn == set(table[["direction", "xmi", "bleu"]].itertuples(index=False, name=None))
    assert encoding_of(chart, name="points")["shape"]["scale"]["domain"] == [
        "into English: r = 0.96 (0.90 to 0.98), n = 20",
        "out of English: r = 0.65 (0.28 to 0.85), n = 20",
    ]
    for k, side in enumerate((table["trg"] == "en", table["src"] == "en")):
        own, ends = table[side], rows_of(chart, name=f"fit_{k}")
        slope = pearson(own["xmi"], own["bleu"]) * own["bleu"].std() / own["xmi"].std()
        assert [e["x"] for e in ends] == [own["xmi"].min(), own["xmi"].max()]
        level = [own["bleu"].mean() + slope * (e["x"] - own["xmi"].mean()) for e in ends]
        assert [e["y"] for e in ends] == pytest.approx(level)
    names = {(r["label"], r["ink"]) for r in rows_of(chart, type="text", fontWeight="bold")}
    assert names == {("fi", ink) for ink in INKS[:2]}
    assert len({(r["label"], r["ink"]) for r in rows_of(chart, type="text")}) == 40
    assert "en-ro (112.4, 44.2)" in chart.to_dict()["description"]


def test_without_lines_with_intervals_and_few_directions(table):
    known = table.assign(xmi_low=table["xmi"] - 1, xmi_high=[101.0, np.nan, -5])
    chart = plot_xmi_bleu(known)
    drawn = [r["xmi_low"] for k in (0, 1) for r in rows_of(chart, name=f"intervals_{k}")]
    assert drawn == [99, -7]
    sides = encoding_of(chart, name="points")["shape"]["scale"]["domain"]
    assert sides == ["into English: n = 1", "out of English: n = 2"]
    assert not any((m["name"] or "").startswith("fit") for m, _, _ in layers(plot_xmi_bleu(table)))
    with pytest.raises(UnknownName):
        plot_xmi_bleu(table, named=["fi-xx"])
