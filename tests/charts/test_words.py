"""Texts word by word: where each box stands, what is printed in it, and what the chart says in words."""

import math

import pandas as pd
import pytest

from anhelpers.charts.offline import to_svg
from anhelpers.charts.words import BASE, _laid, plot_words
from anhelpers.errors import DataError

WORDS = pd.DataFrame(
    [
        ("free", "", -0.1),
        ("free", "Na", 0.36),
        ("free", "klar", 0.27),
        ("literal", "", -0.1),
        ("literal", ",", -0.004),
    ],
    columns=["text", "token", "value"],
)


def test_each_text_begins_a_line_and_boxes_of_a_line_do_not_touch():
    rows = _laid(WORDS, 760)
    assert rows["left"].eq(0).tolist() == [True, False, False, True, False]
    assert rows["top"].nunique() == 2
    for _, line in rows.groupby("top"):
        assert (line["left"].iloc[1:].to_numpy() > line["right"].iloc[:-1].to_numpy()).all()


def test_a_line_ends_at_the_width_and_a_longer_word_stands_alone():
    rows = _laid(WORDS.assign(token=["", "Na", "klar" * 30, "", ","]), 200)
    assert rows["right"].drop(2).max() <= 200
    assert rows["left"][2] == 0
    assert (
        plot_words(WORDS.assign(token=["", "Na", "klar" * 30, "", ","]), size=200).width
        == rows["right"][2]
    )


def test_signs_are_printed_and_every_number_is_in_the_alt_text():
    chart = plot_words(WORDS, title="A claim")
    said = chart.to_dict()["description"]
    assert said.startswith(
        f"A claim: free: +0.53 nats: {BASE} −0.10, Na +0.36, klar +0.27; literal: −0.10 nats: "
    )
    assert ", 0.00" in said  # no sign before a zero
    svg = to_svg(chart)
    assert all(word in svg for word in ("klar", "+0.27", "−0.10", "literal: −0.10 nats"))


def test_colour_is_white_at_zero_and_equal_on_both_sides():
    scale = plot_words(WORDS).to_dict()["layer"][0]["encoding"]["fill"]["scale"]
    assert scale["domain"] == [-0.36, 0, 0.36]
    assert scale["range"][1] == "#FFFFFF"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (WORDS.drop(columns="value"), "the table of words has no column value"),
        (WORDS.iloc[:0], "no words to draw"),
        (
            WORDS.assign(text=["free", "free", "literal", "literal", "free"]),
            "words of 'free' stand in two places",
        ),
        (WORDS.assign(value=math.nan), "a word has no value"),
        (WORDS.assign(value=math.inf), "value of '' is inf in the table of words"),
    ],
)
def test_what_cannot_be_drawn_is_said(table, said):
    with pytest.raises(DataError, match=said):
        plot_words(table)
