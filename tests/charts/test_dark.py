"""Charts in the dark: every colour that a chart uses stays readable, and in the light nothing changes."""

import base64
import re
from pathlib import Path

import altair as alt
import pandas as pd
import pytest

from anhelpers.charts import dark, lines, marks, offline, words, xmi_bars

COLOURS = sorted(
    {
        colour
        for module in (lines, marks, words, xmi_bars)
        for colour in re.findall(r"#[0-9A-F]{6}", Path(module.__file__).read_text("utf-8"))
    }
)


def parts(colour):
    return tuple(int(colour[k : k + 2], 16) for k in (1, 3, 5))


def is_grey(colour):
    return max(parts(colour)) - min(parts(colour)) < 8


@pytest.mark.parametrize("colour", COLOURS)
def test_a_colour_of_a_chart_can_be_told_from_a_dark_page_as_from_a_light_one(colour):
    seen = dark.contrast(parts(dark.turned(colour)))
    if is_grey(colour):
        assert seen == pytest.approx(dark.contrast(parts(colour), (255, 255, 255)), rel=0.5)
    else:
        assert seen >= 4.5


def test_colours_that_differ_still_differ():
    told = [dark.turned(colour) for colour in COLOURS]
    assert len({*told}) == len(COLOURS)


@pytest.mark.parametrize("share", [0.1, 0.5, 1])
@pytest.mark.parametrize("end", [words.BELOW, words.ABOVE])
def test_letters_on_a_tint_are_readable(end, share):
    tint = tuple(255 + (part - 255) * share for part in parts(end))
    shown = dark.turned(f"rgb({', '.join(str(round(part)) for part in tint)})")
    assert dark.contrast((241, 241, 241), parts(shown)) >= 4.5


def test_a_chart_in_a_page_gets_a_style_sheet_and_keeps_its_drawing():
    frame = pd.DataFrame({"x": [1, 2], "y": [1, 2]})
    shown = offline.picture(alt.Chart(frame).mark_point(color="#0072B2").encode(x="x", y="y"))
    (before, after) = (
        base64.b64decode(re.search(r"base64,([^\"]+)", page)[1]).decode()
        for page in (shown, dark.with_dark_charts(shown))
    )
    added = re.search(r"<style>@media \(prefers-color-scheme: dark\)\{.*?</style>", after)[0]
    assert after.replace(added, "") == before
    assert '[stroke="#0072B2"]{stroke:' in added
    assert re.sub('base64,[^"]+', "", dark.with_dark_charts(shown)) == re.sub(
        'base64,[^"]+', "", shown
    )


def test_a_drawing_of_somebody_else_stays_as_it_is():
    other = '<svg xmlns="http://www.w3.org/2000/svg"><text fill="#000">a</text></svg>'
    assert dark.in_the_dark(other) == other
