"""The opening: a guess, a slider from faithful to natural, the answer at its end, and a switch that changes it."""

import pytest

from anhelpers.widgets.explorer import _opening

SETUP = """import anhelpers as an
test, cands = an.load("teaching/de-en"), an.load_candidates("teaching/de-en")
study = an.oracle_study(test, cands, "rated-accuracy", "rated-naturalness")"""
SHOW = 'w = an.explore(study, view="hero", segments=[5], aside="unrelated-fluent", title="A <claim>")\nw'
NUMBERS = [("31 of its 98", "17.5"), ("95 of its 98", "72.5")]


@pytest.fixture(scope="module")
def made():
    names = {}
    exec(f"{SETUP}\n{SHOW}", names)
    return names["w"], names["study"]


def test_the_choices_are_those_of_the_curves(made):
    widget, study = made
    data = widget.data
    assert [data["texts"][i] for i in data["ways"][1]] == [
        study.cands.texts[i] for i in study.curve.chain_candidate[study.curve.chain_segment == 5]
    ]
    assert data["ways"][1][:-1] == data["ways"][0]
    assert data["paid"][1] == pytest.approx(
        study.curve.accuracy[0] - study.curve.accuracy[-1], abs=0.01
    )
    plain = _opening(study, [5], "no such tag")
    assert plain.data["ways"] == data["ways"][1:]


@pytest.mark.parametrize("width", [1280, 390])
def test_dragging_and_a_guess_show_plane_and_answer_and_the_switch_changes_it(
    made, page, tmp_path, width
):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(made[0].save(tmp_path / "hero.html").as_uri())
    root, slider, data = page.locator(".anx"), page.get_by_role("slider"), made[0].data
    text, plane, answer = (
        root.locator(".anx-stack .anx-on"),
        root.locator(".anx-plane"),
        root.get_by_role("status"),
    )
    switch, guess = page.get_by_role("checkbox"), page.get_by_role("button", name="20")
    assert not any(part.is_visible() for part in (plane, switch, guess))
    assert "Drag towards natural" in root.inner_text()
    high = root.locator(".anx-track").bounding_box()["y"]
    slider.focus()
    for k, place in enumerate(data["ways"][0]):
        assert text.inner_text() == slider.get_attribute("aria-valuetext") == data["texts"][place]
        assert plane.is_visible() == (k == len(data["ways"][0]) - 1)  # and after a guess
        assert guess.is_visible() == (k > 0)
        assert root.locator(".anx-track").bounding_box()["y"] == high  # longer texts do not move it
        if k == 1:
            guess.click()
            slider.focus()
        page.keyboard.press("ArrowRight")
    for on, (lost, mean) in enumerate(NUMBERS):
        switch.set_checked(bool(on))
        assert text.inner_text() == data["texts"][data["ways"][on][-1]]
        assert all(said in answer.inner_text() for said in (lost, mean, "You guessed 20"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.reload()  # by hand, to the end
    box = slider.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2, steps=20)
    page.mouse.up()
    assert not any(part.is_visible() for part in (plane, switch))
    assert answer.inner_text() == ""
    guess.click()
    assert NUMBERS[0][0] in answer.inner_text()
    root.locator(".anx-over").nth(2).hover(force=True)
    assert root.locator(".anx-seen span").first.inner_text() in data["texts"]
