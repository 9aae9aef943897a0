"""What would be drawn of XMI: bars that add up, points against BLEU, and tables that are no such thing."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anhelpers.charts.directions import ALL, checked_directions, checked_split
from anhelpers.charts.lines import INKS
from anhelpers.charts.offline import to_svg
from anhelpers.charts.xmi_bars import LEFT, SAVED, WORSE, plot_xmi_bars
from anhelpers.charts.xmi_bleu import plot_xmi_bleu
from anhelpers.errors import DataError, UnknownName
from anhelpers.stats import correlation_interval, pearson
from anhelpers.xmi.published import published_table


@pytest.fixture
def table():
    rows = [
        ("en-fi", 160.0, 60.0, 100.0, 30.0),
        ("fi-en", 150.0, 58.0, 92.0, 38.0),
        ("en-xx", 40.0, 46.0, -6.0, 1.0),
    ]
    return pd.DataFrame(rows, columns=["direction", "h_lm", "h_mt", "xmi", "bleu"])


def layers(chart):
    """name -> (encoding, rows) of every layer."""
    spec = chart.to_dict()
    return {
        a["name"]: (a["encoding"], spec["datasets"][a["data"]["name"]])
        for a in spec["layer"]
        if "name" in a
    }


def texts_of(chart):
    return [
        row for name, (_, rows) in layers(chart).items() if name.startswith("texts") for row in rows
    ]


# ---- directions


def test_directions_have_names_sides_and_reverses(table):
    rows = checked_split(table)
    assert rows["label"].tolist() == ["English → Finnish", "Finnish → English", "English → xx"]
    assert rows["side"].tolist() == ["out of English", "into English", "out of English"]
    assert rows["other"].tolist() == ["fi", "fi", "xx"]
    assert rows["reverse"].tolist() == ["fi-en", "en-fi", ""]


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
    assert (
        checked_directions(pd.DataFrame({"direction": names, "xmi": 1.0}), ["xmi"])["side"].tolist()
        == sides
    )


def test_columns_src_and_trg_name_what_a_direction_does_not():
    frame = pd.DataFrame(
        {"direction": ["a", "b"], "src": ["zh-Hans", "en"], "trg": ["en", "zh-Hans"], "xmi": 1.0}
    )
    rows = checked_directions(frame, ["xmi"])
    assert rows["reverse"].tolist() == ["b", "a"]
    assert rows["label"].tolist() == ["zh-Hans → English", "English → zh-Hans"]
    joined = checked_directions(
        pd.concat([frame, pd.DataFrame({"direction": ["en-fi"], "xmi": 1.0})]), ["xmi"]
    )
    assert joined["label"].tolist()[-1] == "English → Finnish"
    assert joined["reverse"].tolist() == ["b", "a", ""]
    twice = checked_directions(frame.assign(src="en", trg="de"), ["xmi"])
    assert twice["label"].tolist() == ["a", "b"]  # two systems of one direction stay apart


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.drop(columns="xmi"), "no column xmi; it has direction, h_lm, h_mt, bleu"),
        (lambda t: pd.concat([t, t]), "direction en-fi comes twice"),
        (lambda t: t.assign(h_mt=[60, np.inf, 46]), "h_mt of 'fi-en' is inf"),
        (lambda t: t.assign(bleu="30,1"), "bleu of 'en-fi' is 30,1 in the table of directions"),
        (lambda t: t.assign(xmi=np.nan), "no direction has all of h_lm, h_mt, xmi"),
        (
            lambda t: t.assign(h_mt=[60, 58, -1]),
            "h_mt of en-xx is -1; the bits of a text are never negative",
        ),
        (
            lambda t: t.assign(xmi=[100, 95, -6]),
            r"fi-en: h_lm - h_mt is 150 - 58 = 92, but xmi is 95",
        ),
    ],
)
def test_tables_that_cannot_be_bars_are_refused(table, change, words):
    with pytest.raises(DataError, match=words):
        plot_xmi_bars(change(table))


def test_a_pivot_that_not_all_share_is_refused(table):
    with pytest.raises(DataError, match="direction en-fi is neither into nor out of 'xx'"):
        plot_xmi_bars(table, pivot="xx")
    assert checked_split(table, pivot="")["side"].unique().tolist() == [ALL]


# ---- bars


def test_a_bar_is_xmi_and_then_what_is_left_over(table):
    encoding, rows = layers(plot_xmi_bars(table))["bars"]
    pieces = {(r["direction"], r["part"]): (r["from"], r["to"]) for r in rows}
    assert pieces["en-fi", "saved"] == (0, 100)
    assert pieces["en-fi", "left"] == (100, 160)
    assert pieces["fi-en", "saved"] == (0, 92)
    scale = encoding["fill"]["scale"]
    assert dict(
        zip([name.split(" (")[0] for name in scale["domain"]], scale["range"], strict=True)
    ) == {
        "saved by the source": SAVED,
        "left over": LEFT,
        "made worse": WORSE,
    }


def test_a_negative_xmi_goes_left_of_0_and_a_tick_marks_h_lm(table):
    chart = plot_xmi_bars(table)
    encoding, rows = layers(chart)["bars"]
    pieces = {r["part"]: (r["from"], r["to"]) for r in rows if r["direction"] == "en-xx"}
    assert pieces == {"worse": (-6, 0), "left": (0, 46)}
    assert encoding["x"]["scale"]["domain"] == [-6, 160]
    assert [r["from"] for r in layers(chart)["ticks"][1]] == [40]
    assert "40.0 (XMI −6.0)" in [r["text"] for r in texts_of(chart)]
    assert "the tick marks H_LM" in " ".join(chart.to_dict()["title"]["subtitle"])
    assert "ticks" not in layers(plot_xmi_bars(table[:2]))


def test_every_number_is_written_once_and_inside_only_where_it_fits(table):
    chart = plot_xmi_bars(table[:2])
    texts = texts_of(chart)
    assert sorted(r["text"] for r in texts if r["align"] == "center") == [
        "100.0",
        "58.0",
        "60.0",
        "92.0",
    ]
    assert [r["text"] for r in texts if r["align"] == "left"] == ["160.0", "150.0"]
    narrow = plot_xmi_bars(
        pd.DataFrame({"direction": ["en-fi"], "h_lm": [150.0], "h_mt": [145.0], "xmi": [5.0]})
    )
    assert [r["text"] for r in texts_of(narrow) if r["align"] == "left"] == ["150.0 (XMI 5.0)"]
    assert [r["text"] for r in texts_of(narrow) if r["align"] == "center"] == ["145.0"]


@pytest.mark.parametrize(
    ("order", "paired", "first"),
    [
        ("xmi", True, ["en-fi", "fi-en", "en-xx"]),
        ("h_lm", True, ["en-xx", "en-fi", "fi-en"]),
        ("h_lm", False, ["en-xx", "fi-en", "en-fi"]),
        ("bleu", False, ["fi-en", "en-fi", "en-xx"]),
        ("name", False, ["en-fi", "en-xx", "fi-en"]),
        ("given", False, ["en-fi", "fi-en", "en-xx"]),
    ],
)
def test_bars_stand_in_the_order_asked_for(table, order, paired, first):
    rows = layers(plot_xmi_bars(table, order=order, paired=paired))["bars"][1]
    drawn = sorted({(r["place"], r["direction"]) for r in rows})
    assert [name for _, name in drawn] == first
    places = np.array([place for place, _ in drawn])
    assert (np.diff(places) >= 1).all()
    assert (np.diff(places) > 1.2).any() == paired  # a gap between two languages


def test_a_direction_stands_beside_its_reverse_where_no_language_is_in_all():
    names = ["de-fr", "de-it", "fr-de", "it-fr", "it-de", "fr-it"]
    table = pd.DataFrame({"direction": names, "h_lm": 100.0, "h_mt": [50.0, 40, 45, 70, 60, 55]})
    for order in ("xmi", "name", "given"):
        rows = layers(plot_xmi_bars(table.assign(xmi=table["h_lm"] - table["h_mt"]), order=order))[
            "bars"
        ][1]
        places = {row["direction"]: row["place"] for row in rows}
        assert all(abs(places[name] - places[name[3:] + "-" + name[:2]]) == 1 for name in names), (
            order
        )


def test_an_order_by_numbers_that_are_not_there_is_refused(table):
    with pytest.raises(DataError, match="no column bleu"):
        plot_xmi_bars(table.drop(columns="bleu"), order="bleu")


def test_intervals_are_drawn_where_they_are_known(table):
    known = table.assign(
        xmi_low=[98, np.nan, -7], xmi_high=[103.0, np.nan, -5], h_lm_low=150.0, h_lm_high=170.0
    )
    found = layers(plot_xmi_bars(known))
    assert sorted((r["xmi_low"], r["xmi_high"]) for r in found["xmi_interval"][1]) == [
        (-7, -5),
        (98, 103),
    ]
    assert len(found["h_lm_interval"][1]) == 3
    assert found["bars"][0]["x"]["scale"]["domain"] == [-7, 170]
    assert "xmi_interval" not in layers(plot_xmi_bars(table))
    one = plot_xmi_bars(known.drop(columns=["xmi_low", "xmi_high"])).to_dict()["title"]["subtitle"]
    assert "Thin lines: 95 % intervals of H_LM (lower)." in one


def test_a_direction_that_misses_a_number_is_told(table):
    chart = plot_xmi_bars(table.assign(h_mt=[60, np.nan, 46]))
    assert {r["direction"] for r in layers(chart)["bars"][1]} == {"en-fi", "en-xx"}
    assert "Not drawn, for a number is missing: fi-en." in chart.to_dict()["title"]["subtitle"]
    # also where there is no title
    assert ">Not drawn, for a number is missing: fi-en.<" in to_svg(chart)


def test_the_picture_of_the_published_table_says_all_its_numbers():
    table = published_table()
    chart = plot_xmi_bars(table, title="A claim")
    assert len(layers(chart)["bars"][1]) == 80
    words = chart.to_dict()["description"]
    assert words.startswith("A claim: Bits per sentence, H_LM = XMI + H_MT; into English: ")
    assert "English → Romanian 160.5 = 112.4 + 48.1" in words
    assert words.count(" = ") == 41
    assert to_svg(chart).count(">English → ") == 20


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(0, 300), st.floats(0, 300)), min_size=1, max_size=6))
def test_pieces_are_as_long_as_their_numbers(pairs):
    h_lm, h_mt = np.array(pairs).T
    names = [f"en-x{i}" for i in range(len(pairs))]
    table = pd.DataFrame({"direction": names, "h_lm": h_lm, "h_mt": h_mt, "xmi": h_lm - h_mt})
    encoding, rows = layers(plot_xmi_bars(table))["bars"]
    low, high = encoding["x"]["scale"]["domain"]
    for row in rows:
        want = abs(row["xmi"]) if row["part"] != "left" else row["h_mt"]
        assert row["to"] - row["from"] == pytest.approx(want, abs=1e-9)
        assert low <= row["from"] <= row["to"] <= high


# ---- BLEU


def test_points_lines_and_r_of_each_side():
    table = published_table()
    chart = plot_xmi_bleu(table, named=["en-fi", "fi-en"], title="A claim")
    found = layers(chart)
    encoding, rows = found["points"]
    assert {(r["direction"], r["x"], r["y"]) for r in rows} == set(
        table[["direction", "xmi", "bleu"]].itertuples(index=False, name=None)
    )
    assert encoding["shape"]["scale"]["domain"] == [
        "into English: r = 0.96 (0.90 to 0.98), n = 20",
        "out of English: r = 0.65 (0.28 to 0.85), n = 20",
    ]
    for k, side in enumerate((table["trg"] == "en", table["src"] == "en")):
        own, ends = table[side], found[f"fit_{k}"][1]
        slope = pearson(own["xmi"], own["bleu"]) * own["bleu"].std() / own["xmi"].std()
        assert [e["x"] for e in ends] == [own["xmi"].min(), own["xmi"].max()]
        for end in ends:
            assert end["y"] == pytest.approx(
                own["bleu"].mean() + slope * (end["x"] - own["xmi"].mean())
            )
    drawn = to_svg(chart)
    assert ">into English: r = 0.96 (0.90 to 0.98), n = 20<" in drawn
    assert "en-ro (112.4, 44.2)" in chart.to_dict()["description"]


def test_all_names_find_a_place_and_those_asked_for_are_bold():
    chart = plot_xmi_bleu(published_table(), named=["en-fi", "fi-en"])
    spec = chart.to_dict()
    # without halos
    texts = [a for a in spec["layer"] if a["mark"]["type"] == "text" and "stroke" not in a["mark"]]
    names = [
        (r["label"], r["ink"], a["mark"].get("fontWeight") == "bold")
        for a in texts
        for r in spec["datasets"][a["data"]["name"]]
    ]
    assert len(names) == 40
    assert sorted(name[:2] for name in names if name[2]) == [
        ("fi", ink) for ink in sorted(INKS[:2])
    ]


def test_without_lines_with_intervals_and_few_directions(table):
    known = table.assign(xmi_low=table["xmi"] - 1, xmi_high=[101.0, np.nan, -5])
    found = layers(plot_xmi_bleu(known, lines=False))
    assert [r["xmi_low"] for k in (0, 1) for r in found.get(f"intervals_{k}", (0, []))[1]] == [
        99,
        -7,
    ]
    assert not any(name.startswith("fit") for name in found)
    assert found["points"][0]["shape"]["scale"]["domain"] == [
        "into English: n = 1",
        "out of English: n = 2",
    ]
    assert not any(name.startswith("fit") for name in layers(plot_xmi_bleu(table)))
    with pytest.raises(UnknownName, match="direction 'fi-xx'"):
        plot_xmi_bleu(table, named=["fi-xx"])


def test_a_direction_without_bleu_is_told(table):
    chart = plot_xmi_bleu(table.assign(bleu=[30.0, np.nan, 1]))
    assert "Not drawn, for a number is missing: fi-en" in chart.to_dict()["description"]


# ---- the interval of a correlation


def test_fishers_interval_is_scipys():
    from scipy import stats

    rng = np.random.default_rng(5)
    for n in (4, 7, 20, 200):
        x, y = rng.normal(size=(2, n))
        theirs = stats.pearsonr(x, y).confidence_interval(0.95)
        assert correlation_interval(pearson(x, y), n) == pytest.approx(
            (theirs.low, theirs.high), abs=1e-12
        )
    assert np.isnan(correlation_interval(0.5, 3)).all()
    assert [float(end) for end in correlation_interval(1.0, 9)] == [1, 1]
