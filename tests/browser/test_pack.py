"""The slides in a browser: keys, sheets of paper, nothing below the edge of a projector's screen."""

import re

from anhelpers.classroom import pack


def test_slides_turn_by_keys_and_print_ten_sheets_and_the_handout_two_sides(
    as_if_executed, tmp_path, page
):
    slides, handout, _ = pack.write_pack(as_if_executed, tmp_path)
    page.goto(slides.as_uri())
    shown = page.locator("section:visible")
    for key, k in [
        ("ArrowRight", 2),
        ("PageDown", 3),
        ("ArrowLeft", 2),
        ("End", 10),
        ("ArrowRight", 10),
        ("Home", 1),
    ]:
        page.keyboard.press(key)
        assert shown.count() == 1
        assert shown.get_attribute("aria-label") == f"slide {k} of 10"
    page.set_viewport_size({"width": 1280, "height": 720})
    for k in range(1, 11):
        assert page.evaluate("document.documentElement.scrollHeight") <= 720, k
        page.keyboard.press("ArrowRight")
    for path, sheets in ((slides, 10), (handout, 2)):
        page.goto(path.as_uri())
        printed = page.pdf(prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) == sheets
