"""The widgets for any page: frames, a guess, points to drag."""

import json

import pytest

SETUP = """import altair as alt, pandas as pd
from anhelpers.widgets import drag_points, flipbook, guess
def bars(k):
    scale = alt.Scale(domain=[0, 9])
    chart = alt.Chart(pd.DataFrame({"x": [k], "y": ["K"]})).mark_bar()
    return chart.encode(x=alt.X("x", scale=scale), y="y").properties(width=300, height=60, description=f"{k} of 9")
frames = [(bars(k), f"**{k}** <i>words</i>") for k in range(8)]
names = ["A", "B", "C", "<i>D</i>"]
systems = pd.DataFrame({"system": names, "naturalness": [1, 2, 3, 4], "accuracy": [2, 3, 5, 0]})"""
SHOWS = {
    "flipbook": "w = flipbook(frames, range(1, 9), title='A <claim>', start=2, button='once more')",
    "guess": "w = guess('How **much**?', (17.5, 'So **it** is.'), range=(0, 100), unit='points', after=bars(3))",
    "drag_points": "w = drag_points(systems, draggable=['<i>D</i>'], title='A <claim>')",
}


@pytest.fixture
def show(page, tmp_path):
    """A function that makes a widget and opens its page."""

    def opened(code):
        names = {}
        exec(f"{SETUP}\n{code}", names)
        page.goto(names["w"].save(tmp_path / "w.html").as_uri())
        page.locator(".anx").wait_for()
        return names["w"]

    return opened


def test_frames_follow_the_slider_the_keys_and_the_button(show, page, drag):
    show(SHOWS["flipbook"])
    slider, root, chart = page.get_by_role("slider"), page.locator(".anx"), page.get_by_role("img")
    drawings = set()
    for keys, k in (
        ("Home", 0),
        ("ArrowRight", 1),
        (" ", 2),
        ("Enter", 3),
        ("End", 7),
        ("Enter", 7),
    ):
        slider.press(keys)
        assert root.get_attribute("data-at") == str(k)
        assert slider.get_attribute("aria-valuetext") == f"K = {k + 1}"
        assert page.locator(".anx-now").inner_text() == f"{k} <i>words</i>"
        assert chart.get_attribute("aria-label") == f"{k} of 9"
        drawings.add(chart.inner_html())
    assert len(drawings) == 5
    again = page.get_by_role("button", name="once more")
    assert again.get_attribute("aria-disabled") == "true"
    slider.press("Home")
    again.click()
    again.press("Enter")
    assert root.get_attribute("data-at") == "2"
    assert drag(slider, "at") >= 2
    assert root.get_attribute("data-at") == "5"

    two = "{'p': [0, 1], 'q': 'uvwxyz'}, start=(1, 0)"
    show(f"w = flipbook({{(i, j): f'{{i}}{{j}}' for i in range(2) for j in range(6)}}, {two})")
    page.get_by_label("q", exact=True).press("End")
    page.get_by_role("group", name="p").get_by_role("button", name="0").press("Enter")
    assert page.locator("[aria-pressed=true]").inner_text() == "0"
    assert page.locator(".anx-now").inner_text() == "05"
    assert not chart.is_visible()

    dot = "alt.Chart(pd.DataFrame({'t': ['a <b>']})).mark_circle(size=900, ariaRoleDescription='sentence')"
    show(f"w = flipbook([{dot}.encode(description='t')], [1])")
    page.locator("[aria-roledescription=sentence]").hover()
    assert page.locator(".anx-readout").inner_text() == "a <b>"


def test_an_answer_follows_a_guess(show, page):
    show(SHOWS["guess"])
    slider, root = page.get_by_role("slider"), page.locator(".anx")
    assert "17.5" not in root.inner_text()
    slider.press("Home")
    for _ in range(20):
        slider.press("ArrowRight")
    page.get_by_role("button", name="Guess").click()
    assert "You guessed 20; it is 17.5\u00a0points. So it is." in root.inner_text()
    assert page.get_by_role("img").get_attribute("aria-label") == "3 of 9"
    slider.press("End")
    assert (slider.input_value(), root.get_attribute("data-done")) == ("20", "true")

    for choice, said in (("<b>x</b>", "Right. Because."), ("y", "No: <b>x</b>. Because.")):
        show("w = guess('Which?', ('<b>x</b>', 'Because.'), choices=['<b>x</b>', 'y'])")
        assert "Because" not in root.inner_text()
        page.get_by_role("button", name=choice).press("Enter")
        page.get_by_role("button", name="y").click(force=True)  # too late
        assert said in root.inner_text()


def test_points_are_dragged_and_compared(show, page):
    def pull(name, x, y):
        box = page.get_by_role("slider", name=name).locator("circle").last.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + x, box["y"] + y, steps=8)
        page.mouse.up()

    show(SHOWS["drag_points"])
    root, dot, said = page.locator(".anx"), page.get_by_role("slider"), page.locator(".anx-readout")
    assert said.inner_text() == "r = −0.25 over all 4; r = 0.98 without <i>D</i>."
    assert dot.get_attribute("aria-label") == "<i>D</i>: naturalness 4.00, accuracy 0"
    for _ in range(200):
        dot.press("ArrowUp")
    x, y = json.loads(root.get_attribute("data-places"))["<i>D</i>"]
    assert (x, y) == (4, 5.75)
    assert said.inner_text().startswith("r = 0.99 over")
    pull("<i>D</i>", -200, 100)
    moved = json.loads(root.get_attribute("data-places"))["<i>D</i>"]
    assert moved[0] < 3
    assert moved[1] < 5

    show("w = drag_points(systems, draggable=['A', 'B'], readout='hidden')")
    compare = page.get_by_role("button", name="Compare")
    assert compare.get_attribute("aria-disabled") == "true"
    pull("A: not yet placed", -300, 20)
    compare.click()
    assert said.inner_text() == "A ring is the true place, a dot your guess."
    assert page.locator(".anx .anx-truth line").count() == 1
    assert page.locator(".anx .anx-truth text").text_content() == "A"
