"""What the widgets for any page ship, and show without scripts."""

import altair as alt
import numpy as np
import pandas as pd
import pytest

from anhelpers.errors import DataError, UnknownName
from anhelpers.widgets import drag_points, flipbook, guess

SYSTEMS = pd.DataFrame(
    {"system": list("abcd"), "naturalness": [1, 2, 3, 4], "accuracy": [2, 3, 5, 0]}
)


def line(k):
    scale = alt.Scale(domain=[0, 9])
    chart = alt.Chart(pd.DataFrame({"x": [0, k], "y": [0, k]}))
    return chart.mark_line().encode(x=alt.X("x", scale=scale), y=alt.Y("y", scale=scale))


def test_frames_share_what_is_the_same_and_each_is_whole():
    charts = [line(1 + k % 4) for k in range(4)]
    frames = [(charts[k % 4], f"**{k}** <b>") for k in range(40)]
    widget = flipbook(frames, range(40), start=5)
    data = widget.data
    assert (len(data["pictures"]), data["charts"][:6]) == (4, [0, 1, 2, 3, 0, 1])
    assert repr(widget) == "Flipbook(K = 5, 40 frames)"
    assert len(widget.fragment()) < 100_000
    shown = widget.static_html()
    assert shown.count("<img") == 1
    assert shown.count("<li>") == 40
    assert "<li><b>K = 7</b> <b>7</b> &lt;b&gt;</li>" in shown
    two = flipbook(
        {(i, j): f"{i}{j}" for i in (0, 1) for j in (0, 1)}, {"p": "ab", "q": "cd"}, start=(1, 0)
    )
    assert "p = b, q = c</p><p>10</p>" in two.static_html()
    for wrong in (
        {"frames": frames[1:], "values": range(40)},
        {"frames": ["a"], "values": [1], "start": 1},
    ):
        with pytest.raises((DataError, UnknownName)):
            flipbook(**wrong)


def test_a_guess_ships_its_answer_and_an_export_is_unanswered():
    widget = guess(
        "How much <b>?", (17.5, "**So** & so."), range=(0, 100), unit="points", after=line(2)
    )
    assert (widget.data["step"], widget.data["shown"]) == (1, "17.5")
    widget.guess = 20
    assert widget.blank() == {"guess": None}
    before, after = widget.static_html().split("<details>")
    assert "17.5" not in before
    assert "17.5\u00a0points. <b>So</b> &amp; so.</p><img" in after
    assert guess("?", (0.37, ""), range=(-1, 1)).data["shown"] == "0.37"
    assert guess("?", (56, ""), range=(0, 100, 1, 80)).data["start"] == [80]
    assert "<li>x</li>" in guess("?", ("x", ""), choices=["x", "y"]).static_html()
    for wrong in ({}, {"choices": ["y"]}, {"range": (0, np.inf)}):
        with pytest.raises((DataError, UnknownName)):
            guess("?", ("x", ""), **wrong)


def test_points_have_a_plane_and_a_picture():
    widget = drag_points(SYSTEMS, draggable=["d"], names=("N", "A"), ranges=((0, 5), (-1, 6)))
    assert widget.data["box"] == [0, 5, -1, 6, 460, 360]
    assert (widget.data["moved"], widget.data["places"]) == (["d"], [[4, 0]])
    assert "d (4, 0)" in widget.static_html()
    assert repr(widget) == "DragPoints(1 to drag, 3 fixed)"
    assert len(drag_points(SYSTEMS, draggable=["d"], hollow=["a"]).data["others"]) == 2
    for wrong in (
        {"draggable": ["e"]},
        {"draggable": ["a"], "readout": "tau"},
        {"draggable": ["a"], "x": "z"},
    ):
        with pytest.raises((DataError, UnknownName)):
            drag_points(SYSTEMS, **wrong)
